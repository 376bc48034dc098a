/* span.c - records the calls of chosen functions: recorder run --span. */
/* SPDX-License-Identifier: MIT */
/*
   The command has read the code of a function, and has translated the first
   instructions for another place. Here a jump replaces them:

       function   jmp island
       island     jmp *gate               within 2 GB of the function
                  the first instructions; jmp to the rest of the function
       gate       records the call, calls the island's copy, records the return

   The gate is a function with unwind tables. No return address is
   replaced, so exceptions, longjmp(), stacks and shadow stacks work as ever. The
   gate passes registers on, and no arguments on the stack: the command refuses
   functions that have any. A caller may rely on registers that the function
   leaves alone (gcc -fipa-ra), so the gate keeps all registers, and this file
   is compiled for general registers only.

   The hash of the function's code must be the command's: children of another
   program have the same environment.
*/
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("general-regs-only"))),     \
                             apply_to = function)
#elif defined(__x86_64__)
#pragma GCC target("general-regs-only")
#endif
#include "run.h"

#if !defined(__x86_64__) || defined(__ILP32__)
bool run_spans_begin(const char *text)
{
    (void)text;
    return false;
}
#else
#include "recorder/functions.h"
#include "spans.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    SLOTS = 2048,
    LANES = 32,
    GATE = 64, /* bytes of one */
    ISLAND = 2 * RUN_PAGE,
    PROGRAM = 256
};

#define TRAPS 0xccccccccu /* four breakpoints */

static struct {
    struct recorder_ring ring;
    struct recorder_record records[SLOTS];
    uintptr_t commit[SLOTS];
    struct recorder_turn turns[SLOTS];
} __attribute__((aligned(RECORDER_RING_ALIGN_))) rings[LANES];
static struct recorder recorder_for_functions =
    RECORDER_INIT_("functions", "Calls of functions (--span)", &rings[0].ring,
                   sizeof rings[0], SLOTS, LANES);

static uintptr_t functions[RUN_SPANS]; /* of as many gates as are below */
static unsigned spans_count;

/* ----------------------------------------------------------------- gates -- */

extern const char run_span_gates[] RECORDER_HIDDEN_;
uintptr_t run_span_bodies[RUN_SPANS] RECORDER_HIDDEN_ __attribute__((used));
void run_span_note(unsigned call, uintptr_t frame) RECORDER_HIDDEN_;

/* `call` is twice the number of the function, + 1: it returns. */
__attribute__((used)) void run_span_note(unsigned call, uintptr_t frame)
{
    const struct run_thread *t = &run_self;
    if (t->lane && !t->inside && !recorder_get_(&run_sandboxed))
        recorder_call_note_(&recorder_for_functions, recorder_call_format_,
                            functions[call / 2], frame,
                            call % 2 ? RECORDER_CALL_RETURNS_ : 0);
}

/* clang-format off */
#define PUSH(name) "push %" #name "\n .cfi_adjust_cfa_offset 8\n"
#define POP(name) "pop %" #name "\n .cfi_adjust_cfa_offset -8\n"
__asm__(".pushsection .text\n"
        ".type run_span_keep, @function\n"
        "run_span_keep:\n"
        ".cfi_startproc\n"
        PUSH(rax) PUSH(rcx) PUSH(rdx) PUSH(rsi) PUSH(rdi)
        PUSH(r8) PUSH(r9) PUSH(r10) PUSH(r11)
        "mov 80(%rsp), %edi\n"
        "lea 80(%rsp), %rsi\n"
        "call run_span_note\n"
        POP(r11) POP(r10) POP(r9) POP(r8)
        POP(rdi) POP(rsi) POP(rdx) POP(rcx) POP(rax)
        "ret\n"
        ".cfi_endproc\n"
        ".size run_span_keep, . - run_span_keep\n"
        ".balign 64\n"
        ".hidden run_span_gates\n"
        ".type run_span_gates, @function\n"
        "run_span_gates:\n"
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        ".balign 64\n"
        ".cfi_startproc\n"
        "sub $24, %rsp\n"
        ".cfi_def_cfa_offset 32\n"
        "movl $2 * \\i, (%rsp)\n"
        "call run_span_keep\n"
        "call *run_span_bodies + 8 * \\i(%rip)\n"
        "movl $2 * \\i + 1, (%rsp)\n"
        "call run_span_keep\n"
        "add $24, %rsp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".endr\n"
        ".size run_span_gates, . - run_span_gates\n"
        ".popsection\n");
/* clang-format on */

/* ---------------------------------------------------------------- islands -- */

/* A function as the command describes it. */
struct function {
    uintptr_t address, bytes, hash;
    const char *code, *fixes, *name;
    size_t code_bytes, name_size;
    const char *program; /* the executable's path */
    uintptr_t bias;      /* of its module */
};

/* Returns 1, for dl_iterate_phdr(), if a module has the function. */
static int module_look(struct dl_phdr_info *info, size_t size, void *of)
{
    struct function *f = of;
    const char *path = *info->dlpi_name ? info->dlpi_name : f->program;
    const size_t length = strlen(path), folder = length - f->name_size;
    (void)size;
    if (length < f->name_size ||
        memcmp(path + folder, f->name, f->name_size) != 0 ||
        (folder && path[folder - 1] != '/'))
        return 0;
    f->bias = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t from = f->address - p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && from < p->p_memsz &&
            f->bytes <= p->p_memsz - from)
            return run_code_hash((const unsigned char *)f->bias + f->address,
                                 f->bytes) == f->hash;
    }
    return 0;
}

/* Maps the room of an island, whose first byte is `offset` bytes after it begins,
 * within 2 GB of a function. Null: there is no room.
 *
 * At best, each byte of the jump's distance is the one of a debugger's breakpoint:
 * then a breakpoint in the midst of the jump changes nothing. Else the
 * island is below, as above is the heap's way. */
static unsigned char *island_map(uintptr_t function, size_t *offset)
{
    for (unsigned i = 0; i < 31; i++) {
        const uintptr_t by = (uintptr_t)1 << (16 + i % 15);
        const uintptr_t at =
            i == 0   ? function + RUN_JUMP - (UINT32_MAX - TRAPS + 1)
            : i < 16 ? function - by
                     : function + by;
        void *page = (void *)(at & ~(uintptr_t)(RUN_PAGE - 1));
        void *found =
            mmap(page, ISLAND, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        *offset = i == 0 ? at & (RUN_PAGE - 1) : 0;
        if (found == page)
            return found;
        if (found != MAP_FAILED) /* Linux below 4.17 takes any place */
            munmap(found, ISLAND);
    }
    return NULL;
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10) & 15;
}
static uintptr_t number(const char **at)
{
    uintptr_t value = 0;
    for (; (**at >= '0' && **at <= '9') || (**at >= 'a' && **at <= 'f'); ++*at)
        value = value << 4 | digit(**at);
    return value;
}

/* Stores the distance from the end of a word to a target. False: it is too far. */
static bool distance_put(unsigned char *word, uintptr_t target)
{
    const intptr_t by = (intptr_t)(target - (uintptr_t)word) - 4;
    const int32_t distance = (int32_t)by;
    __builtin_memcpy(word, &distance, sizeof distance);
    return distance == by;
}

/* Writes the jump to the gate, and the function's first instructions. */
static bool island_fill(unsigned char *to, const struct function *f)
{
    const uintptr_t gate = (uintptr_t)run_span_gates + spans_count * GATE;
    static const unsigned char jump[6] = {0xff, 0x25}; /* to the next word */
    const char *at = f->fixes;
    __builtin_memcpy(to, jump, sizeof jump);
    __builtin_memcpy(to + sizeof jump, &gate, sizeof gate);
    to += sizeof jump + sizeof gate;
    for (size_t i = 0; i < f->code_bytes; i++)
        to[i] = (unsigned char)(digit(f->code[2 * i]) << 4 |
                                digit(f->code[2 * i + 1]));
    run_span_bodies[spans_count] = (uintptr_t)to;
    while (*at != ':') {
        const uintptr_t place = number(&at);
        if (*at++ != '+' || place > f->code_bytes - 4 ||
            !distance_put(to + place, f->bias + number(&at)))
            return false;
        at += *at == ',';
    }
    return true;
}

/* Replaces the function's first bytes, in the process's copy of the page, as a
 * debugger does: the page is never writable. */
static bool jump_write(unsigned char *to, uintptr_t target)
{
    unsigned char jump[RUN_JUMP] = {0xe9};
    const int32_t distance = (int32_t)(target - (uintptr_t)to - RUN_JUMP);
    const long fd =
        syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
    long written;
    __builtin_memcpy(jump + 1, &distance, sizeof distance);
    if (fd < 0)
        return false;
    written = syscall(SYS_pwrite64, fd, jump, sizeof jump, to);
    syscall(SYS_close, fd);
    return written == RUN_JUMP;
}

static void span_begin(struct function *f)
{
    unsigned char *room;
    size_t offset;
    if (spans_count == RUN_SPANS || f->bytes < RUN_JUMP ||
        f->code_bytes < RUN_JUMP || f->code_bytes > RUN_PAGE - GATE ||
        dl_iterate_phdr(module_look, f) != 1)
        return;
    if (!spans_count)
        recorder_enter_lanes_(&recorder_for_functions);
    functions[spans_count] = f->bias + f->address;
    room = island_map(functions[spans_count], &offset);
    if (!room)
        return;
    if (island_fill(room + offset, f) &&
        mprotect(room, ISLAND, PROT_READ | PROT_EXEC) == 0 &&
        jump_write((unsigned char *)functions[spans_count],
                   (uintptr_t)room + offset))
        spans_count++;
    else
        munmap(room, ISLAND);
}

bool run_spans_begin(const char *text)
{
    char program[PROGRAM];
    const ssize_t size =
        text ? readlink("/proc/self/exe", program, sizeof program - 1) : 0;
    program[size < 0 ? 0 : size] = '\0';
    while (text && *text) {
        struct function f = {.program = program};
        const char *at = text;
        uintptr_t *const numbers[] = {&f.address, &f.bytes, &f.hash};
        for (unsigned i = 0; i < 3; i++) {
            *numbers[i] = number(&at);
            if (*at++ != ':')
                return spans_count > 0;
        }
        f.code = at;
        f.fixes = strchr(at, ':');
        f.name = f.fixes ? strchr(f.fixes + 1, ':') : NULL;
        text = f.name ? strchr(f.name, ';') : NULL;
        if (!text)
            break;
        f.code_bytes = (size_t)(f.fixes++ - f.code) / 2;
        f.name++;
        f.name_size = (size_t)(text++ - f.name);
        span_begin(&f);
    }
    return spans_count > 0;
}
#endif
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
