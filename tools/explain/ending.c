/* ending.c - the way in which a program ended, in words. */
/* SPDX-License-Identifier: MIT */
/*
   sigaction(2) has the codes of signals. glibc keeps the message of abort() in
   __abort_msg: its size as a word of 4 bytes, then the text. The exceptions of
   C++ are in memory as the Itanium C++ ABI, "Exception Handling", section 2.2,
   lays them out.
*/
#include "bytes.h"
#include "explain.h"

#include <signal.h>
#include <string.h>

enum {
    NULL_MOST = 65536,
    PAGE = 4096,
    NEAR = 1 << 20,
    FAR = 1 << 30,
    RED_ZONE = 128, /* below the stack pointer, of x86-64 */
    TEXT_MAX = 400
};

static bool has_memory(struct explain *x, uint64_t address)
{
    unsigned char byte;
    struct memory *m = x->threads.source->memory;
    return m->read(m, address, &byte, 1) == 1;
}

static uint64_t register_of(const struct explain *x, unsigned number)
{
    return x->registers[x->first].known[number]
               ? x->registers[x->first].value[number]
               : 0;
}

/* ----------------------------------------------------------------- abort -- */

/* Reads the text at an address, up to a line's end. False: there is none. */
static bool text_read(struct explain *x, uint64_t address, char to[TEXT_MAX])
{
    struct memory *m = x->threads.source->memory;
    size_t size = address ? m->read(m, address, to, TEXT_MAX - 1) : 0;
    to[size] = '\0';
    to[strcspn(to, "\n")] = '\0';
    return *to;
}

/* Finds the message from the stack of abort(), where a recording has not the
 * variable: its size is a number of whole pages, from a page's start on. */
static bool message_find(struct explain *x, char to[TEXT_MAX])
{
    enum { WORDS = 64 };
    struct memory *m = x->threads.source->memory;
    uint64_t sp = register_of(x, x->threads.machine->unwind.sp), word, size;
    for (unsigned i = 0; i < WORDS; i++)
        if (bytes_read_word(m, sp + i * m->word_bytes, &word) && word &&
            word % PAGE == 0 && bytes_read_number(m, word, 4, &size) && size &&
            size % PAGE == 0 && text_read(x, word + 4, to) &&
            (unsigned char)*to >= ' ')
            return true;
    return false;
}

static bool abort_message(struct explain *x, char to[TEXT_MAX])
{
    uint64_t at = place_libc_symbol(&x->threads, "__abort_msg");
    if (at && bytes_read_word(x->threads.source->memory, at, &at) && at)
        return text_read(x, at + 4, to);
    return message_find(x, to);
}

bool ending_is_double_free(struct explain *x)
{
    char message[TEXT_MAX];
    return x->signal == SIGABRT && abort_message(x, message) &&
           strstr(message, "double free");
}

/* Reads the type and text of the exception whose header has its class at
 * `class_at`. False: it is none. */
static bool exception_read(struct explain *x, uint64_t class_at, char *to,
                           size_t max)
{
    struct memory *m = x->threads.source->memory;
    char symbol[TEXT_MAX + 4] = "_ZTI", plain[DEMANGLED_MAX];
    char what[TEXT_MAX] = "";
    const char *name = plain;
    uint64_t type, at;
    if (!bytes_read_word(m, class_at - 80, &type) ||
        !bytes_read_word(m, type + 8, &at) || !text_read(x, at, symbol + 4))
        return false;
    if (!source_demangle(symbol, plain))
        return false;
    if (strncmp(name, "typeinfo for ", 13) == 0)
        name += 13;
    /* The text of a std::runtime_error follows the pointer to its class. */
    if (bytes_read_word(m, class_at + 32 + 8, &at) && text_read(x, at, what))
        for (size_t i = 0; what[i]; i++)
            if ((unsigned char)what[i] < ' ')
                *what = '\0';
    snprintf(to, max, "uncaught exception of type %.300s%s%.300s", name,
             *what ? ": " : "", what);
    return true;
}

/* Finds the exception that no function caught, from the stack of the thread:
 * std::terminate() and its callers keep the address of its header. */
static bool exception_text(struct explain *x, char *to, size_t max)
{
    enum { WORDS = 2048 };
    struct memory *m = x->threads.source->memory;
    uint64_t sp = register_of(x, x->threads.machine->unwind.sp), word, is;
    if (m->word_bytes != 8)
        return false;
    for (unsigned i = 0; i < WORDS; i++) {
        if (!bytes_read_word(m, sp + 8 * i, &word))
            return false;
        if (word >= NULL_MOST && word % 8 == 0 &&
            bytes_read_word(m, word, &is) &&
            is >> 8 == UINT64_C(0x474e5543432b2b) /* "GNUCC++" */ &&
            exception_read(x, word, to, max))
            return true;
    }
    return false;
}

static void abort_text(struct explain *x, char *to, size_t max)
{
    char message[TEXT_MAX];
    bool has = abort_message(x, message), thrown = false;
    for (unsigned i = x->first; i < x->thread->frames_count; i++) {
        const struct place *p = place_of(&x->threads, x->thread->frames[i]);
        thrown |= p && p->function && strstr(p->function, "terminate");
    }
    if (thrown && exception_text(x, to, max))
        return;
    if (thrown)
        snprintf(to, max, "std::terminate() was called");
    else if (has && strstr(message, "double free"))
        snprintf(to, max, "double free%s: %s",
                 strstr(message, "corruption") ? " or damaged heap" : "",
                 message);
    else if (has && strstr(message, "stack smashing"))
        snprintf(to, max, "stack buffer overflow: %s", message);
    else if (has && strstr(message, "Assertion"))
        snprintf(to, max, "failed assertion: %s", message);
    else if (has && strstr(message, "invalid pointer"))
        snprintf(to, max,
                 "an address was freed that malloc() did not return: %s",
                 message);
    else if (has)
        snprintf(to, max, "%s: %s",
                 x->in_heap ? "damaged heap" : "abort in the C library",
                 message);
    else
        snprintf(to, max,
                 x->code == SI_USER && x->threads.source->signal
                     ? "it was sent, by kill()"
                     : "abort() was called");
}

/* ---------------------------------------------------------------- memory -- */

/* How often the first function of the program's own is in the stack. */
static unsigned recursion(struct explain *x, const char **function)
{
    const struct place *p = place_of(&x->threads, x->thread->frames[x->site]);
    unsigned count = 0;
    *function = p ? p->function : NULL;
    for (unsigned i = x->site; *function && i < x->thread->frames_count; i++) {
        p = place_of(&x->threads, x->thread->frames[i]);
        count += p && p->function && strcmp(p->function, *function) == 0;
    }
    return count;
}

static bool is_recording(const struct explain *x)
{
    return x->threads.source->memory->stale_order;
}

/* The first address with memory from this one on, up to a bound; 0: none. */
static uint64_t memory_after(struct explain *x, uint64_t at, uint64_t bound)
{
    for (at &= ~(uint64_t)(PAGE - 1); at < bound; at += PAGE)
        if (has_memory(x, at))
            return at;
    return 0;
}

/* Did the stack end at the faulting address? It is in the frame, or the stack
 * pointer is near and memory is above. Where a handler has no room on that stack,
 * the kernel tells no address. *end: the lowest address with memory; 0: unknown. */
static bool is_stack_overflow(struct explain *x, uint64_t *end)
{
    uint64_t sp = register_of(x, x->threads.machine->unwind.sp);
    uint64_t pc = register_of(x, x->threads.machine->unwind.pc);
    uint64_t at = x->has_address      ? x->address
                  : has_memory(x, sp) ? sp - PAGE
                                      : sp;
    if ((!x->has_address && (x->code != SI_KERNEL || is_recording(x))) ||
        at == pc || at + NEAR < sp || has_memory(x, at))
        return false;
    *end = memory_after(x, at + PAGE, at + 2 * NEAR);
    if (at + RED_ZONE >= sp && at < x->frame_end && x->frame_end - sp < FAR) {
        *end = *end ? *end : memory_after(x, at + PAGE, x->frame_end);
        return true;
    }
    return at <= sp + PAGE && *end;
}

/* Writes ", 8 MiB": the memory of the stack, down to its end. A recording has
 * only a part. */
static void size_text(struct explain *x, uint64_t end, char to[32])
{
    uint64_t at = end;
    while (end && at - end < FAR && has_memory(x, at) &&
           !module_at(x->threads.source, at))
        at += PAGE;
    at = (at - end) >> 10;
    *to = '\0';
    if (end && !is_recording(x))
        snprintf(to, 32, ", %llu %s",
                 (unsigned long long)(at < 1024 ? at : (at + 512) >> 10),
                 at < 1024 ? "KiB" : "MiB");
}

static void overflow_text(struct explain *x, uint64_t end, char *to, size_t max)
{
    const char *function = NULL;
    unsigned count = recursion(x, &function);
    uint64_t frame =
        x->frame_end - register_of(x, x->threads.machine->unwind.sp);
    char bytes[32];
    size_text(x, end, bytes);
    if (frame >= NEAR && frame < FAR)
        snprintf(bytes, sizeof bytes, ": a frame of %u MiB",
                 (unsigned)(frame >> 20));
    snprintf(to, max, "stack overflow of thread %s%s%s%s%s", x->thread->name,
             bytes, count > 3 ? ": " : "", count > 3 ? function : "",
             count > 3 ? " calls itself again and again" : "");
}

/* True if there is no code at the address that was called. */
static bool is_call(const struct explain *x)
{
    return x->has_address &&
           x->address == register_of(x, x->threads.machine->unwind.pc);
}

/* The names of pointers that may be the null pointer. */
enum { NULLS_MAX = 16 };
struct nulls {
    uint64_t offset; /* of the fault */
    bool calls;      /* of a function that a pointer should have had */
    unsigned count;
    uint64_t addresses[NULLS_MAX]; /* of the pointers that are in memory */
    char text[4 * VARIABLE_NAME_MAX];
};

/* Adds the name of a pointer with the value null, if a member of its target has
 * the offset, or with an unknown value, if a member begins there. */
static void null_add(struct nulls *n, const struct variable *v)
{
    struct variable member;
    const char *name = v->name;
    size_t at = strlen(n->text);
    if (!v->is_pointer || !*v->name || (v->known && v->value) ||
        variable_is_function(v) != n->calls)
        return;
    for (unsigned i = 0; i < n->count && i < NULLS_MAX; i++)
        if (v->address && n->addresses[i] == v->address)
            return; /* by another name */
    if (variable_member(v, n->offset, &member))
        name = member.name;
    else if (n->offset)
        return;
    n->count++;
    if (n->offset && !v->known && !v->address && member.address != n->offset)
        return;
    if (!strstr(n->text, name))
        snprintf(n->text + at, sizeof n->text - at, "%s%s", at ? " or " : "",
                 name);
    if (n->count <= NULLS_MAX)
        n->addresses[n->count - 1] = v->address;
}

/* "offset 8 of a null pointer: node->next"; of several pointers,
 * or if a pointer has no known value, `perhaps`. */
static void null_text(struct explain *x, uint64_t offset, char *to, size_t max)
{
    static struct variable members[VARIABLES_MAX];
    struct nulls n = {.offset = offset, .calls = is_call(x)};
    size_t at = 0;
    if (offset)
        at = (size_t)snprintf(to, max, "offset %llu of a null pointer",
                              (unsigned long long)offset);
    else
        at = (size_t)snprintf(to, max, "a null pointer");
    for (size_t i = 0; i < x->variables_count; i++)
        if (x->variables[i].known || offset)
            null_add(&n, &x->variables[i]);
        else if (x->variables[i].is_pointer &&
                 variable_is_function(&x->variables[i]) == n.calls)
            n.count++;
    for (size_t i = 0; i < x->variables_count; i++) {
        const struct variable *v = &x->variables[i];
        size_t count = 0;
        if (v->is_struct ||
            (v->is_pointer && v->known && v->value >= NULL_MOST))
            count = variable_members(x->threads.source->memory, v, members);
        for (size_t k = 0; k < count; k++)
            null_add(&n, &members[k]);
    }
    if (*n.text)
        snprintf(to + at, max - at, "%s%s", n.count > 1 ? ", perhaps " : ": ",
                 n.text);
}

/* The freed block that the faulting instruction, or a variable, points to. */
static const struct value *freed_value(const struct explain *x)
{
    for (size_t i = 0; i < x->values_count; i++)
        if (x->values[i].used && x->values[i].block.freed)
            return &x->values[i];
    return NULL;
}

/* The block whose address the instruction used, if it ends before the faulting
 * address. */
static void block_text(struct explain *x, char *to, size_t max)
{
    const struct value *nearest = NULL;
    for (size_t i = 0; i < x->values_count; i++) {
        const struct value *v = &x->values[i];
        if (v->used && v->block.size && x->address - v->word < FAR &&
            (!nearest || v->word > nearest->word))
            nearest = v;
    }
    if (nearest && x->address - nearest->word >= nearest->block.size)
        snprintf(to, max, ", %llu bytes from %s, which has %llu",
                 (unsigned long long)(x->address - nearest->word),
                 nearest->name, (unsigned long long)nearest->block.size);
}

static void address_text(struct explain *x, char *to, size_t max)
{
    const struct module *module = module_at(x->threads.source, x->address);
    const struct value *freed = freed_value(x);
    size_t at = (size_t)snprintf(to, max, "address 0x%llx",
                                 (unsigned long long)x->address);
    if (x->address < NULL_MOST) {
        at += (size_t)snprintf(to + at, max - at, ": ");
        null_text(x, x->address, to + at, max - at);
    } else if (x->signal == SIGSEGV && x->code == SEGV_ACCERR && module) {
        snprintf(to + at, max - at, ", which %s maps and which may not be %s",
                 show_base(module->path),
                 x->access.writes ? "written" : "used");
    } else if (x->signal == SIGBUS && (module || x->code == BUS_ADRERR)) {
        snprintf(to + at, max - at, ": after the end of the file %s",
                 module ? module->path : "that is mapped there");
    } else if (!has_memory(x, x->address) &&
               (x->code == SEGV_MAPERR || !is_recording(x))) {
        at += (size_t)snprintf(to + at, max - at, ", which is not mapped");
    }
    at = strlen(to);
    if (!freed && x->address >= NULL_MOST)
        block_text(x, to + at, max - at);
    if (freed)
        snprintf(to + at, max - at,
                 "; %s points to freed heap memory of %llu bytes", freed->name,
                 (unsigned long long)freed->block.size);
}

/* Writes the address of a call, or the start of another address, that is a
 * text. */
static void letters_text(struct explain *x, char *to, size_t max)
{
    const struct access *a = &x->access;
    const char *from = ", from";
    uint64_t address = x->bad;
    char letters[9];
    *to = '\0';
    if (a->calls && (!a->known ||
                     (a->index < 0 &&
                      bytes_read_word(x->threads.source->memory,
                                      x->bad + (uint64_t)(int64_t)a->offset,
                                      &address))))
        from = ":";
    if (x->has_bad && crash_letters(x, address, letters))
        snprintf(to, max, "%s 0x%llx \"%s\"", from,
                 (unsigned long long)address, letters);
}

static void fault_text(struct explain *x, char *to, size_t max)
{
    const struct value *freed = freed_value(x);
    const char *does = x->access.calls    ? "call of "
                       : !x->access.known ? "access to "
                       : x->access.writes ? "write to "
                                          : "read of ";
    char letters[64];
    uint64_t end;
    size_t at;
    if (is_stack_overflow(x, &end)) {
        overflow_text(x, end, to, max);
        return;
    }
    if (x->has_address) {
        at = (size_t)snprintf(to, max, "%s", is_call(x) ? "call of " : does);
        address_text(x, to + at, max - at);
    } else if (x->code == SI_KERNEL) {
        letters_text(x, letters, sizeof letters);
        snprintf(to, max, "%san address that cannot exist%s%s%s", does, letters,
                 freed ? "; freed heap memory: " : "",
                 freed ? freed->name : "");
    } else {
        snprintf(to, max, "it was sent, by kill() or raise()");
    }
    at = strlen(to);
    if (x->in_heap && x->address >= NULL_MOST * x->has_address)
        snprintf(to + at, max - at,
                 ", in malloc() or free(): perhaps a damaged heap");
}

/* ------------------------------------------------------------------- all -- */

static void signal_text(struct explain *x, char *to, size_t max)
{
    *to = '\0';
    if (x->code <= 0 && x->signal != SIGABRT) {
        snprintf(to, max, "it was sent, by kill() or raise()");
        return;
    }
    switch (x->signal) {
    case SIGSEGV:
    case SIGBUS: fault_text(x, to, max); break;
    case SIGABRT: abort_text(x, to, max); break;
    case SIGFPE:
        snprintf(to, max, "%s",
                 x->code == FPE_INTDIV ? "integer division by zero, or its "
                                         "result is too large"
                                       : "arithmetic that traps");
        break;
    case SIGILL: snprintf(to, max, "illegal instruction"); break;
    case SIGTRAP: snprintf(to, max, "breakpoint or trap"); break;
    case SIGSYS: snprintf(to, max, "system call that a filter forbids"); break;
    default: break;
    }
}

void ending_text(struct explain *x, char to[1024])
{
    const char *name = sigabbrev_np(x->signal);
    size_t at;
    char what[800];
    if (!x->thread || !x->signal || x->hung) {
        snprintf(to, 1024, "%s",
                 *x->verdict ? x->verdict : "no thread crashed");
        return;
    }
    signal_text(x, what, sizeof what);
    at = (size_t)snprintf(to, 1024, "%s%s", name ? "SIG" : "signal ",
                          name ? name : "");
    if (!name)
        at += (size_t)snprintf(to + at, 1024 - at, "%d", x->signal);
    snprintf(to + at, 1024 - at, "%s%s", *what ? ": " : "", what);
}
