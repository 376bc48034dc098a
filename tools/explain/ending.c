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

enum { NULL_MOST = 65536, NEAR = 1 << 20, FAR = 1 << 30, TEXT_MAX = 400 };

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

/* The address of a variable of a library; 0: it has none. */
struct wanted {
    const char *name;
    uint64_t address;
};
static int symbol_find(Dwfl_Module *module, void **data, const char *name,
                       Dwarf_Addr start, void *context)
{
    struct wanted *wanted = context;
    int count = dwfl_module_getsymtab(module);
    size_t size = strlen(wanted->name);
    (void)data;
    (void)name;
    (void)start;
    for (int i = 0; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *is = dwfl_module_getsym_info(module, i, &symbol, &address,
                                                 NULL, NULL, NULL);
        if (!is || strncmp(is, wanted->name, size) != 0 ||
            (is[size] && is[size] != '@') || symbol.st_shndx == SHN_UNDEF)
            continue;
        wanted->address = address;
        return DWARF_CB_ABORT;
    }
    return DWARF_CB_OK;
}

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
    enum { WORDS = 64, PAGE = 4096 };
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
    struct wanted wanted = {"__abort_msg", 0};
    uint64_t at;
    dwfl_getmodules(x->threads.unwind.dwfl, symbol_find, &wanted, 0);
    if (wanted.address &&
        bytes_read_word(x->threads.source->memory, wanted.address, &at) && at)
        return text_read(x, at + 4, to);
    return message_find(x, to);
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
    static const char class[] = "GNUCC++";
    struct memory *m = x->threads.source->memory;
    uint64_t sp = register_of(x, x->threads.machine->unwind.sp), word;
    if (m->word_bytes != 8)
        return false;
    for (unsigned i = 0; i < WORDS; i++) {
        char is[8];
        if (!bytes_read_word(m, sp + 8 * i, &word))
            return false;
        if (word < NULL_MOST || word % 8 || !bytes_read(m, word, is, 8))
            continue;
        for (unsigned k = 0; k < 8 / 2; k++) { /* of either byte order */
            char last = is[k];
            is[k] = is[7 - k];
            is[7 - k] = last;
        }
        if (memcmp(is, class, 7) == 0 && exception_read(x, word, to, max))
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
        snprintf(to, max, "abort in the C library: %s", message);
    else
        snprintf(to, max, "abort() was called");
}

/* ---------------------------------------------------------------- memory -- */

/* The function that is most often in the stack, and how often. */
static unsigned recursion(struct explain *x, const char **function)
{
    unsigned most = 0;
    for (unsigned i = x->first; i < x->thread->frames_count; i++) {
        const struct place *p = place_of(&x->threads, x->thread->frames[i]);
        unsigned count = 0;
        for (unsigned k = i; p && p->function && k < x->thread->frames_count;
             k++) {
            const struct place *q = place_of(&x->threads, x->thread->frames[k]);
            count += q && q->function && strcmp(p->function, q->function) == 0;
        }
        if (count <= most)
            continue;
        most = count;
        *function = p->function;
    }
    return most;
}

static bool is_recording(const struct explain *x)
{
    return x->threads.source->memory->stale_order;
}

/* Did the stack end at the faulting address? It has memory above, and the stack
 * pointer is near. Where a handler has no room on that stack, the kernel tells
 * no address. */
static bool is_stack_overflow(struct explain *x)
{
    enum { PAGE = 4096 };
    uint64_t sp = register_of(x, x->threads.machine->unwind.sp);
    uint64_t pc = register_of(x, x->threads.machine->unwind.pc);
    uint64_t at = x->has_address      ? x->address
                  : has_memory(x, sp) ? sp - PAGE
                                      : sp;
    uint64_t up = PAGE;
    if ((!x->has_address && (x->code != SI_KERNEL || is_recording(x))) ||
        at == pc || at + NEAR < sp || at > sp + PAGE || has_memory(x, at))
        return false;
    while (up <= 2 * NEAR && !has_memory(x, (at & ~(uint64_t)(PAGE - 1)) + up))
        up += PAGE;
    return up <= 2 * NEAR;
}

static void overflow_text(struct explain *x, char *to, size_t max)
{
    const char *function = NULL;
    unsigned count = recursion(x, &function);
    snprintf(to, max, "stack overflow of thread %s%s%s%s", x->thread->name,
             count > 3 ? ": " : "", count > 3 ? function : "",
             count > 3 ? " calls itself again and again" : "");
}

/* The names of pointers that may be the null pointer. */
enum { NULLS_MAX = 16 };
struct nulls {
    uint64_t offset; /* of the fault */
    unsigned count;
    uint64_t addresses[NULLS_MAX]; /* of the pointers that are in memory */
    char text[4 * VARIABLE_NAME_MAX];
};

/* Adds the name of a pointer whose value is null or unknown, if its target
 * has such an offset. */
static void null_add(struct nulls *n, const struct variable *v)
{
    struct variable member;
    size_t at = strlen(n->text);
    if (!v->is_pointer || !*v->name || (v->known && v->value))
        return;
    for (unsigned i = 0; i < n->count && i < NULLS_MAX; i++)
        if (v->address && n->addresses[i] == v->address)
            return; /* by another name */
    if (variable_member(v, n->offset, &member))
        snprintf(n->text + at, sizeof n->text - at, "%s%s", at ? " or " : "",
                 member.name);
    else if (!n->offset)
        snprintf(n->text + at, sizeof n->text - at, "%s%s", at ? " or " : "",
                 v->name);
    else
        return;
    if (n->count < NULLS_MAX)
        n->addresses[n->count] = v->address;
    n->count++;
}

/* "offset 8 of a null pointer: node->next"; of several pointers,
 * or if a pointer has no known value, `perhaps`. */
static void null_text(struct explain *x, uint64_t offset, char *to, size_t max)
{
    static struct variable members[VARIABLES_MAX];
    struct nulls n = {.offset = offset};
    size_t at = 0;
    if (offset)
        at = (size_t)snprintf(to, max, "offset %llu of a null pointer",
                              (unsigned long long)offset);
    else
        at = (size_t)snprintf(to, max, "a null pointer");
    for (size_t i = 0; i < x->variables_count; i++)
        if (x->variables[i].known)
            null_add(&n, &x->variables[i]);
        else if (x->variables[i].is_pointer)
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

static void fault_text(struct explain *x, char *to, size_t max)
{
    uint64_t pc = register_of(x, x->threads.machine->unwind.pc);
    const struct value *freed = freed_value(x);
    const char *does = x->access.calls    ? "call of "
                       : !x->access.known ? "access to "
                       : x->access.writes ? "write to "
                                          : "read of ";
    size_t at;
    if (is_stack_overflow(x)) {
        overflow_text(x, to, max);
        return;
    }
    if (x->has_address) {
        at = (size_t)snprintf(to, max, "%s",
                              pc == x->address ? "call of " : does);
        address_text(x, to + at, max - at);
    } else if (x->code == SI_KERNEL) {
        snprintf(to, max, "%san address that cannot exist%s%s", does,
                 freed ? "; freed heap memory: " : "",
                 freed ? freed->name : "");
    } else {
        snprintf(to, max, "it was sent, by kill() or raise()");
    }
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
    if (!x->thread || !x->signal) {
        snprintf(to, 1024, "no thread crashed");
        return;
    }
    signal_text(x, what, sizeof what);
    at = (size_t)snprintf(to, 1024, "%s%s", name ? "SIG" : "signal ",
                          name ? name : "");
    if (!name)
        at += (size_t)snprintf(to + at, 1024 - at, "%d", x->signal);
    snprintf(to + at, 1024 - at, "%s%s", *what ? ": " : "", what);
}
