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

enum {
    NULL_MOST = 65536,
    PAGE = 4096,
    NEAR = 1 << 20,
    FAR = 1 << 30,
    RED_ZONE = 128 /* below the stack pointer, of x86-64 */
};

static bool has_memory(struct explain *x, uint64_t address)
{
    unsigned char byte;
    return x->memory->read(x->memory, address, &byte, 1) == 1;
}

/* ----------------------------------------------------------------- abort -- */

/* Reads the text at an address, up to a line's end. False: there is none. */
static bool text_read(struct explain *x, uint64_t address, char to[MESSAGE_MAX])
{
    struct memory *m = x->memory;
    size_t size = address ? m->read(m, address, to, MESSAGE_MAX - 1) : 0;
    to[size] = '\0';
    to[strcspn(to, "\n")] = '\0';
    return *to;
}

void ending_message(struct explain *x)
{
    enum { WORDS = 64 };
    struct memory *m = x->memory;
    uint64_t word = place_libc_symbol(&x->threads, "__abort_msg"), size;
    if (word && bytes_read_word(m, word, &word) && word) {
        text_read(x, word + 4, x->message);
        return;
    }
    /* A recording has not the variable, but the stack of abort() has the address:
     * the size is a number of whole pages, from a page's start on. */
    for (unsigned i = 0; i < WORDS; i++)
        if (bytes_read_word(m, x->sp + i * m->word_bytes, &word) && word &&
            word % PAGE == 0 && bytes_read_number(m, word, 4, &size) && size &&
            size % PAGE == 0 && text_read(x, word + 4, x->message) &&
            (unsigned char)*x->message >= ' ')
            return;
    *x->message = '\0';
}

/* Writes the type and text of the exception that no function caught:
 * std::terminate() and its callers keep the address of its header on the stack.
 * False: there is none. */
static bool exception_text(FILE *to, struct explain *x)
{
    enum { WORDS = 2048 };
    struct memory *m = x->memory;
    char symbol[MESSAGE_MAX + 4] = "_ZTI", name[DEMANGLED_MAX];
    char what[MESSAGE_MAX] = "";
    uint64_t header, at;
    for (unsigned i = 0; m->word_bytes == 8 && i < WORDS &&
                         bytes_read_word(m, x->sp + 8 * i, &header);
         i++) {
        if (header < NULL_MOST || header % 8 ||
            !bytes_read_word(m, header, &at) ||
            at >> 8 != UINT64_C(0x474e5543432b2b) /* "GNUCC++" */ ||
            !bytes_read_word(m, header - 80, &at) ||
            !bytes_read_word(m, at + 8, &at) || !text_read(x, at, symbol + 4) ||
            !source_demangle(symbol, name))
            continue;
        /* The text of a std::runtime_error follows the pointer to its class. */
        if (bytes_read_word(m, header + 32 + 8, &at) && text_read(x, at, what))
            for (size_t k = 0; what[k]; k++)
                if ((unsigned char)what[k] < ' ')
                    *what = '\0';
        fprintf(to, "uncaught exception of type %.300s%s%.300s",
                name + (strncmp(name, "typeinfo for ", 13) ? 0 : 13),
                *what ? ": " : "", what);
        return true;
    }
    return false;
}

static void abort_text(FILE *to, struct explain *x)
{
    static const char *const kinds[][2] = {
        {"double free or corruption", "double free or damaged heap"},
        {"double free", "double free"},
        {"stack smashing", "stack buffer overflow"},
        {"Assertion", "failed assertion"},
        {"invalid pointer",
         "an address was freed that malloc() did not return"},
        {NULL, NULL}};
    const char *const(*kind)[2] = kinds;
    bool thrown = false, panics = false;
    fputs(": ", to);
    for (unsigned i = x->first; i < x->thread->frames_count; i++) {
        const char *function = crash_function(x, i);
        thrown |= strstr(function, "terminate") != NULL;
        panics |= strstr(function, "rust_begin_unwind") != NULL;
    }
    while ((*kind)[0] && !strstr(x->message, (*kind)[0]))
        kind++;
    if (thrown && !exception_text(to, x))
        fputs("std::terminate() was called", to);
    else if (!thrown && *x->message)
        fprintf(to, "%s: %s",
                (*kind)[0]   ? (*kind)[1]
                : x->in_heap ? "damaged heap"
                             : "abort in the C library",
                x->message);
    else if (!thrown)
        fputs(x->exception ? "damaged heap"
              : x->code == SI_USER && x->threads.source->signal
                  ? "it was sent, by kill()"
              : panics ? "a panic of Rust, with its message on stderr"
                       : "abort() was called",
              to);
}

/* ---------------------------------------------------------------- memory -- */

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
    uint64_t at = x->has_address         ? x->address
                  : has_memory(x, x->sp) ? x->sp - PAGE
                                         : x->sp;
    if ((!x->has_address && x->memory->stale_order) || at == x->pc ||
        at + NEAR < x->sp || has_memory(x, at))
        return false;
    *end = memory_after(x, at + PAGE, at + 2 * NEAR);
    if (at + RED_ZONE >= x->sp && at < x->frame_end &&
        x->frame_end - x->sp < FAR) {
        *end = *end ? *end : memory_after(x, at + PAGE, x->frame_end);
        return true;
    }
    return at <= x->sp + PAGE && *end;
}

/* Writes "stack overflow of thread main, 8 MiB: f calls itself again and again":
 * the memory of the stack, down to its end, of which a recording has only a
 * part. */
static void overflow_text(FILE *to, struct explain *x, uint64_t end)
{
    const char *function = crash_function(x, x->site);
    unsigned count = 0;
    uint64_t at = end, frame = x->frame_end - x->sp;
    for (unsigned i = x->site; *function && i < x->thread->frames_count; i++)
        count += strcmp(crash_function(x, i), function) == 0;
    while (end && at - end < FAR && has_memory(x, at) &&
           !module_at(x->threads.source, at))
        at += PAGE;
    at = (at - end) >> 10;
    fprintf(to, "stack overflow of %s%s",
            *x->thread->name ? "thread " : "the thread", x->thread->name);
    if (frame >= NEAR && frame < FAR)
        fprintf(to, ": a frame of %u MiB", (unsigned)(frame >> 20));
    else if (end && !x->memory->stale_order)
        fprintf(to, at < 1024 ? ", %llu KiB" : ", %llu MiB",
                (unsigned long long)(at < 1024 ? at : (at + 512) >> 10));
    if (count > 3)
        fprintf(to, ": %s calls itself again and again", function);
}

/* The names of pointers that may be the null pointer. */
enum { NULLS_MAX = 16 };
struct nulls {
    uint64_t offset; /* of the fault */
    bool calls;      /* of a function that a pointer should have had */
    unsigned count;
    uint64_t addresses[NULLS_MAX]; /* of the pointers that are in memory */
    char text[4 * VARIABLE_NAME_MAX];
    char line[512]; /* of the source: only names in it count; "": all do */
};

/* Reads the words of the crash's source line, a space before and after each; "" if
 * its file is not here. */
static void line_read(struct explain *x, char *line, int max)
{
    const struct place *p = place_of(&x->threads, x->thread->frames[x->site]);
    FILE *from = p && p->file ? text_open(p->file) : NULL;
    for (int i = 0; from && i < p->line; i++)
        *line = fgets(line + 1, max - 1, from) ? ' ' : '\0';
    for (; *line; line++)
        if (!isalnum((unsigned char)*line) && *line != '_')
            *line = ' ';
    if (from)
        fclose(from);
}

/* True if a line has all words of a name: node and next of "node->next". */
static bool line_has(const char *line, const char *name)
{
    static const char marks[] = "->.*[]()";
    char word[VARIABLE_NAME_MAX + 2];
    for (size_t size; *(name += strspn(name, marks)); name += size) {
        size = strcspn(name, marks);
        snprintf(word, sizeof word, " %.*s ", (int)size, name);
        if (!strstr(line, word))
            return false;
    }
    return true;
}

/* Adds the name of a pointer with the value null, if a member of its target has
 * the offset, or with an unknown value, if a member begins there. */
static void null_add(struct nulls *n, const struct variable *v)
{
    struct variable member;
    const char *name = v->name;
    size_t at = strlen(n->text);
    if (!v->is_pointer || !*v->name || (v->known && v->value) ||
        v->to_function != n->calls)
        return;
    for (unsigned i = 0; i < n->count && i < NULLS_MAX; i++)
        if (v->address && n->addresses[i] == v->address)
            return; /* by another name */
    if (variable_member(v, n->offset, &member))
        name = strstr(member.name, "->_vptr") ? name : member.name;
    else if (n->offset)
        return;
    if (n->count < NULLS_MAX)
        n->addresses[n->count] = v->address;
    n->count++;
    if ((!n->offset || v->known || v->address || member.address == n->offset) &&
        !strstr(n->text, name) && (!*n->line || line_has(n->line, name)))
        snprintf(n->text + at, sizeof n->text - at, "%s%s", at ? " or " : "",
                 name);
}

/* Finds the pointers that may be the null pointer. */
static void nulls_find(struct explain *x, struct nulls *n)
{
    static struct variable members[VARIABLES_MAX];
    n->count = 0;
    for (size_t i = 0; i < x->variables_count; i++)
        if (x->variables[i].known || n->offset)
            null_add(n, &x->variables[i]);
        else
            n->count += x->variables[i].is_pointer &&
                        x->variables[i].to_function == n->calls;
    for (size_t i = 0; i < x->variables_count; i++) {
        const struct variable *v = &x->variables[i];
        size_t count = 0;
        if (v->is_struct ||
            (v->is_pointer && v->known && v->value >= NULL_MOST))
            count = variable_members(x->memory, v, members);
        for (size_t k = 0; k < count; k++)
            null_add(n, &members[k]);
    }
}

/* Writes "offset 8 of a null pointer: node->next". If several pointers are
 * possible, or a pointer has no known value, or the address was in a register,
 * writes "perhaps", and only the pointers in the source line, if the file is here
 * and its line has any. A pointer with the address of the fault is the one. */
static void null_text(FILE *to, struct explain *x, uint64_t offset)
{
    struct nulls n = {.offset = offset,
                      .calls = x->access.calls && !x->access.known};
    bool unsure = offset && x->has_bad && x->bad == offset;
    for (size_t i = 0; i < x->variables_count && unsure; i++)
        if (*x->variables[i].name && crash_is_bad(x, &x->variables[i])) {
            fprintf(to, "the value of %s, offset %llu of a null pointer",
                    x->variables[i].name, (unsigned long long)offset);
            return;
        }
    if (offset)
        fprintf(to, "offset %llu of ", (unsigned long long)offset);
    fputs("a null pointer", to);
    line_read(x, n.line, sizeof n.line);
    nulls_find(x, &n);
    if (!*n.text && *n.line) {
        *n.line = '\0';
        nulls_find(x, &n);
        unsure = true;
    }
    if (*n.text)
        fprintf(to, "%s%s", unsure || n.count > 1 ? ", perhaps " : ": ",
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

static void address_text(FILE *to, struct explain *x)
{
    const struct module *module = module_at(x->threads.source, x->address);
    const struct value *freed = freed_value(x);
    fprintf(to, "address 0x%llx", (unsigned long long)x->address);
    if (x->address < NULL_MOST) {
        fputs(": ", to);
        null_text(to, x, x->address);
    } else if (x->signal == SIGSEGV && x->code == SEGV_ACCERR && module) {
        fprintf(to, ", which %s maps and which may not be %s",
                basename(module->path), x->access.writes ? "written" : "used");
    } else if (x->signal == SIGBUS && (module || x->code == BUS_ADRERR)) {
        fprintf(to, ": after the end of the file %s",
                module ? module->path : "that is mapped there");
    } else if (!has_memory(x, x->address) &&
               (x->code == SEGV_MAPERR || !x->memory->stale_order)) {
        fputs(", which is not mapped", to);
    }
    if (freed)
        fprintf(to, "; %s points to freed heap memory of %llu bytes",
                freed->name, (unsigned long long)freed->block.size);
}

static void fault_text(FILE *to, struct explain *x)
{
    const struct access *a = &x->access;
    const struct value *freed = freed_value(x);
    uint64_t called = x->bad;
    char letters[9];
    fputs(": ", to);
    fputs(a->calls    ? "call of "
          : !a->known ? "access to "
          : a->writes ? "write to "
                      : "read of ",
          to);
    if (x->has_address) {
        address_text(to, x);
    } else { /* of SI_KERNEL */
        /* The address of a call, or the start of another one, is a text. */
        bool is_whole =
            a->calls &&
            (!a->known ||
             (a->index < 0 &&
              bytes_read_word(x->memory, x->bad + (uint64_t)(int64_t)a->offset,
                              &called)));
        fputs("an address that cannot exist", to);
        if (x->has_bad && crash_letters(x, called, letters))
            fprintf(to, "%s 0x%llx \"%s\"", is_whole ? ":" : ", from",
                    (unsigned long long)called, letters);
        if (freed)
            fprintf(to, "; freed heap memory: %s", freed->name);
    }
    if (x->in_heap && x->address >= NULL_MOST * x->has_address)
        fputs(", in malloc() or free(): perhaps a damaged heap", to);
}

/* ------------------------------------------------------------------- all -- */

static void signal_text(FILE *to, struct explain *x)
{
    const char *name = sigabbrev_np(x->signal);
    uint64_t end = 0;
    if (name)
        fprintf(to, "SIG%s", name);
    else
        fprintf(to, "signal %d", x->signal);
    if (x->exception)
        fprintf(to, " (exception 0x%x)", x->exception);
    if (x->code <= 0 && x->signal != SIGABRT) {
        fputs(": it was sent, by kill() or raise()", to);
        return;
    }
    /* Or a handler found that, on another stack, and called abort(). */
    if (x->exception == 0xc00000fd ||
        ((x->signal == SIGSEGV || (x->signal == SIGABRT && x->first)) &&
         is_stack_overflow(x, &end))) {
        fputs(": ", to);
        overflow_text(to, x, end);
        return;
    }
    switch (x->signal) {
    case SIGSEGV:
    case SIGBUS: fault_text(to, x); break;
    case SIGABRT: abort_text(to, x); break;
    case SIGFPE:
        fputs(x->code == FPE_INTDIV ? ": integer division by zero, or its "
                                      "result is too large"
                                    : ": arithmetic that traps",
              to);
        break;
    case SIGILL: fputs(": illegal instruction", to); break;
    case SIGTRAP: fputs(": breakpoint or trap", to); break;
    case SIGSYS: fputs(": system call that a filter forbids", to); break;
    }
}

char *ending_text(struct explain *x)
{
    char *text;
    size_t size;
    FILE *to;
    if (!x->thread || !x->signal || x->hung)
        return need_text("%s", *x->verdict ? x->verdict : "no thread crashed");
    to = need(open_memstream(&text, &size));
    signal_text(to, x);
    need_done(fclose(to) == 0);
    return text;
}
