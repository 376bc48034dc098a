/* crash.c - the values of a crash: registers, variables and their targets. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "bytes.h"
#include "explain.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    ADDRESS_LEAST = 65536, /* no system maps memory below */
    VALUES_MAX = 400,
    TEXT_LEAST = 3, /* shorter ones are everywhere */
    WORDS_MAX = 1024,
    SMALL = 16,
    CALLERS = 2,        /* frames after the site whose variables count */
    HANDLER_FRAMES = 16 /* of a handler that raised the signal again */
};

/* ---------------------------------------------------------------- signal -- */

/* Reads NT_SIGINFO, or the signal in the thread's NT_PRSTATUS. */
static void signal_read(struct explain *x)
{
    const struct source *source = x->threads.source;
    const struct memory *m = source->memory;
    const unsigned char *info = source->signal;
    for (size_t i = 0; i < source->threads_count && !info; i++)
        if (source->threads[i].id == source->crashed)
            x->signal = (int)bytes_number(m, source->threads[i].status + 12, 2);
    if (!info)
        return;
    x->signal = (int)bytes_number(m, info, 4);
    x->code = (int)(int32_t)bytes_number(m, info + 8, 4);
    x->has_address = (x->signal == SIGSEGV || x->signal == SIGBUS) &&
                     x->code > 0 && x->code != SI_KERNEL;
    x->address = bytes_word(m, info + (m->word_bytes == 8 ? 16 : 12));
}

/* Walks the crashed thread again, for the registers of its frames. A handler
 * may have raised the signal again: its frames do not count. */
static void frames_read(struct explain *x)
{
    struct threads *threads = &x->threads;
    struct registers registers = x->thread->registers;
    uint64_t frames[FRAMES_MAX];
    size_t count;
    bool whole;
    threads->unwind.each = x->registers;
    count = unwind(&threads->unwind, &registers, frames, &whole);
    threads->unwind.each = NULL;
    for (unsigned i = 0; i < count && i < HANDLER_FRAMES; i++) {
        const struct row *row = cfi_row(&threads->unwind, frames[i]);
        if (row && row->signal && i + 1 < count)
            x->first = i + 1;
    }
    for (x->site = x->first; x->site + 1 < x->thread->frames_count; x->site++) {
        const struct place *p = place_of(threads, x->thread->frames[x->site]);
        if (p && p->module && !show_is_system(p))
            break;
    }
}

/* ----------------------------------------------------------------- crash -- */

static const char *crash_register(const struct explain *x, int number)
{
    static const char *const x86[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                      "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                      "r12", "r13", "r14", "r15"};
    static char name[24];
    if (number < 0)
        return NULL;
    if (x->threads.source->memory->machine == EM_X86_64)
        return number < 16 ? x86[number] : NULL;
    snprintf(name, sizeof name, "register %d", number);
    return name;
}

/* Adds a value; a value that is known gets its other name, too. Null: there is
 * no room. */
static struct value *value_add(struct explain *x, enum value_kind kind,
                               const char *name, uint64_t word, unsigned weight)
{
    struct value *v;
    for (size_t i = 0; i < x->values_count; i++) {
        v = &x->values[i];
        if (v->word != word || v->kind != kind || kind == VALUE_TEXT ||
            (kind == VALUE_NUMBER && strcmp(v->name, name) != 0))
            continue;
        v->weight = v->weight > weight ? v->weight : weight;
        if (!strstr(v->name, name) && !strstr(name, "->") &&
            strlen(v->name) + strlen(name) + 3 < sizeof v->name)
            strcat(strcat(v->name, ", "), name);
        return v;
    }
    if (x->values_count == VALUES_MAX)
        return NULL;
    v = array_add(x->values, x->values_count, x->values_max);
    *v = (struct value){.kind = kind, .word = word, .weight = weight};
    snprintf(v->name, sizeof v->name, "%s", name);
    if (kind == VALUE_ADDRESS &&
        !heap_block(x->threads.source->memory, word, &v->block))
        v->block = (struct block){0};
    return v;
}

static void register_add(struct explain *x, int number, bool used)
{
    const struct registers *r = &x->registers[x->first];
    const char *name = crash_register(x, number);
    struct value *v;
    if (!name || !r->known[number] || r->value[number] < ADDRESS_LEAST ||
        number == (int)x->threads.machine->unwind.sp)
        return;
    v = value_add(x, VALUE_ADDRESS, name, r->value[number],
                  used ? WEIGHT_HOLDER : WEIGHT_REGISTER);
    if (v)
        v->used |= used;
}

bool crash_letters(const struct explain *x, uint64_t address, char to[9])
{
    const struct memory *m = x->threads.source->memory;
    size_t count = 0;
    if (m->word_bytes != 8)
        return false;
    bytes_put_word(m, (unsigned char *)to, address);
    while (count < 8 && to[count] >= ' ' && to[count] <= '~')
        count++;
    to[8] = '\0';
    return count == 8;
}

/* Adds a text that a variable points to, or has. */
static void text_add(struct explain *x, const struct variable *v,
                     unsigned weight)
{
    char text[VARIABLE_TEXT_MAX];
    struct value *value;
    if (!variable_text(x->threads.source->memory, v, text))
        return;
    for (size_t i = 0; text[i]; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            text[i] = '\0';
    if (strlen(text) < TEXT_LEAST)
        return;
    for (size_t i = 0; i < x->values_count; i++)
        if (x->values[i].text && strcmp(x->values[i].text, text) == 0)
            return;
    value = value_add(x, VALUE_TEXT, v->name, 0, weight);
    if (value)
        value->text = need(strdup(text));
}

/* True if the value of this pointer was used as the bad address. */
static bool is_bad(const struct explain *x, const struct variable *v)
{
    struct variable member;
    if (!x->has_bad || !v->is_pointer || (v->known && v->value != x->bad))
        return false;
    if (!v->known) /* a static variable, which a recording has not */
        return !x->bad && v->address && variable_member(v, x->address, &member);
    return x->bad || !x->address || variable_member(v, x->address, &member);
}

/* True if one of the words from an address on has a value. */
static bool words_have(struct explain *x, uint64_t at, uint64_t end,
                       uint64_t value)
{
    struct memory *m = x->threads.source->memory;
    uint64_t word;
    for (unsigned i = 0; at < end && i < WORDS_MAX; i++, at += m->word_bytes)
        if (bytes_read_word(m, at, &word) && word == value)
            return true;
    return false;
}

/* True if the system's functions that crashed have a word on the stack. */
static bool stack_has(struct explain *x, uint64_t word)
{
    const unsigned sp = x->threads.machine->unwind.sp;
    return words_have(x, x->registers[x->first].value[sp],
                      x->registers[x->site].value[sp], word);
}

/* True if free() has the address of a block's header, which no other function
 * has, in a double free. */
static bool is_given(struct explain *x, uint64_t start)
{
    return x->freed_twice &&
           stack_has(x, start - 2 * x->threads.source->memory->word_bytes);
}

/* Notes whether the crash used a freed block: the bad address is in it, or was
 * read there; or free() has it. If free() has also the address of the block
 * itself, it was freed before, perhaps into a list that heap_block() does not
 * know. */
static void freed_read(struct explain *x, struct value *v)
{
    struct block *b = &v->block;
    bool given = is_given(x, b->start);
    b->freed |= given && stack_has(x, b->start);
    v->given |= given && b->freed;
    v->used |= b->freed && x->has_bad &&
               (x->bad - b->start < b->size ||
                (x->bad >= ADDRESS_LEAST &&
                 words_have(x, b->start, b->start + b->size, x->bad)));
}

/* Adds the value of a variable, and, to a depth, the members of its target.
 * `holder`: the pointer to the struct that it is in, or null. */
static void variable_add(struct explain *x, const struct variable *v,
                         const struct variable *holder, unsigned weight,
                         unsigned depth)
{
    struct memory *m = x->threads.source->memory;
    struct variable *members;
    struct value *value = NULL;
    const char *type = variable_type(holder ? holder : v);
    int64_t number = (int64_t)v->value;
    bool bad = is_bad(x, v);
    size_t count;
    if (v->is_text)
        text_add(x, v, weight);
    if (bad && !*x->bad_name)
        snprintf(x->bad_name, sizeof x->bad_name, "%s", v->name);
    if (bad && holder && holder->is_pointer)
        value_add(x, VALUE_ADDRESS, holder->name, holder->value, WEIGHT_HOLDER);
    if (v->known && v->is_pointer && v->value >= ADDRESS_LEAST) {
        value = value_add(x, VALUE_ADDRESS, v->name, v->value, weight);
        type = variable_type(v);
        if (value && value->block.size)
            freed_read(x, value);
    } else if (v->is_pointer) {
        if (bad) /* "next=(nil)" */
            value = value_add(x, VALUE_NUMBER, v->name, 0, WEIGHT_HOLDER);
        if (value)
            value->is_null = true;
    } else if (v->known) { /* small numbers are everywhere */
        unsigned part = x->signal == SIGFPE && !number ? 1
                        : number == 0 || number == 1   ? 4
                        : number > 0 && number < SMALL ? 2
                                                       : 1;
        value = value_add(x, VALUE_NUMBER, v->name, v->value, weight / part);
        if (value && x->access.index >= 0 && (number > 9 || number < 0) &&
            x->registers[x->first].value[x->access.index] == v->value)
            value->used = true;
    }
    if (value && type && !*value->type)
        snprintf(value->type, sizeof value->type, "%s", type);
    if (!depth || v->is_text || (!v->is_struct && v->value < ADDRESS_LEAST))
        return;
    if (v->is_pointer && variable_is_of_pointer(v)) {
        struct variable to = {.is_pointer = true};
        snprintf(to.name, sizeof to.name, "*%.60s", v->name);
        to.known = bytes_read_word(m, v->value, &to.value);
        variable_add(x, &to, v, weight, 0);
        return;
    }
    members = need(malloc(VARIABLES_MAX * sizeof *members));
    count = variable_members(m, v, members);
    for (size_t i = 0; i < count; i++)
        variable_add(x, &members[i], v->is_struct && holder ? holder : v,
                     v->is_struct ? weight : weight * 2 / 3,
                     depth - (v->is_struct ? 0 : 1));
    free(members);
}

/* True if the system's functions that crashed are of the heap: a block may be
 * damaged by a write past the end of the one before. */
static bool is_in_heap(struct explain *x)
{
    for (unsigned i = x->first; i < x->site; i++) {
        const struct place *p = place_of(&x->threads, x->thread->frames[i]);
        if (p && p->function &&
            (strstr(p->function, "free") || strstr(p->function, "alloc") ||
             strstr(p->function, "delete")))
            return true;
    }
    return false;
}

/* Adds the block that was freed twice, if no variable has its address. */
static void given_add(struct explain *x)
{
    struct memory *m = x->threads.source->memory;
    const unsigned sp = x->threads.machine->unwind.sp;
    uint64_t at = x->registers[x->first].value[sp], word;
    const uint64_t end = x->registers[x->site].value[sp];
    struct value *v;
    struct block b;
    for (size_t i = 0; i < x->values_count; i++)
        if (x->values[i].given)
            return;
    for (unsigned i = 0; at < end && i < WORDS_MAX; i++, at += m->word_bytes)
        if (bytes_read_word(m, at, &word) && word >= ADDRESS_LEAST &&
            heap_block(m, word, &b) && is_given(x, word)) {
            v = value_add(x, VALUE_ADDRESS, "the block", word, WEIGHT_SITE);
            if (v)
                freed_read(x, v);
            return;
        }
}

/* Adds the registers that the faulting instruction used: its operand's, or the
 * first argument of a call of an address without code. */
static void used_add(struct explain *x)
{
    const struct unwind_machine *machine = &x->threads.machine->unwind;
    const struct registers *r = &x->registers[x->first];
    uint64_t pc = r->value[machine->pc];
    if (!x->has_address && x->code != SI_KERNEL)
        return;
    if (x->has_address && pc == x->address) {
        register_add(x, x->threads.source->memory->machine == EM_X86_64 ? 5 : 0,
                     true);
        x->bad = pc;
        x->has_bad = true;
        return;
    }
    x->access = access_at(x->threads.source->memory, pc);
    if (x->access.calls && !x->access.known && x->access.base >= 0) {
        register_add(x, 5, true); /* the first argument */
        x->bad = r->value[x->access.base];
        x->has_bad = r->known[x->access.base];
        return;
    }
    if (x->access.known) {
        register_add(x, x->access.base, true);
        register_add(x, x->access.index, true);
    }
    if (x->access.known && x->access.base >= 0 && r->known[x->access.base]) {
        x->bad = r->value[x->access.base];
        x->has_bad = x->access.base != (int)machine->sp;
    } else if (x->has_address && x->address < ADDRESS_LEAST) {
        x->has_bad = true; /* a null pointer */
    }
}

/* The stack pointer of the caller of a frame; 0: unknown. */
static uint64_t cfa_of(struct explain *x, unsigned frame)
{
    const struct unwind_machine *machine = &x->threads.machine->unwind;
    struct registers caller = x->registers[frame];
    const struct row *row;
    if (frame + 1 < FRAMES_MAX && x->registers[frame + 1].known[machine->sp])
        return x->registers[frame + 1].value[machine->sp];
    x->threads.unwind.reads_left = READS_MAX;
    row = cfi_row(&x->threads.unwind, x->thread->frames[frame]);
    return row && cfi_step(&x->threads.unwind, row, &caller) == UNWIND_NEXT
               ? caller.value[machine->sp]
               : 0;
}

static void frame_add(struct explain *x, unsigned frame)
{
    struct variable others[VARIABLES_MAX];
    bool is_site = frame == x->site;
    struct variable *to = is_site ? x->variables : others;
    unsigned weight = is_site ? WEIGHT_SITE : WEIGHT_CALLER;
    size_t count = variables_of(&x->threads, x->thread->frames[frame],
                                &x->registers[frame], cfa_of(x, frame), to);
    for (size_t i = 0; i < count; i++)
        variable_add(x, &to[i], NULL, weight, is_site ? 2 : 1);
    if (!is_site)
        return;
    x->statics_at = x->variables_count = count;
    count = variables_static(&x->threads, x->thread->frames[frame], others);
    for (size_t i = 0; i < count; i++) {
        variable_add(x, &others[i], NULL, WEIGHT_STATIC, 2);
        if (x->variables_count < VARIABLES_MAX)
            x->variables[x->variables_count++] = others[i];
    }
}

void crash_hung(struct explain *x)
{
    const struct threads *threads = &x->threads;
    const struct cycle *first = threads->cycles;
    if (!threads->cycles_count || (x->signal && x->signal != SIGSTOP))
        return;
    if (!x->hung)
        snprintf(x->verdict, sizeof x->verdict, "%sDEADLOCK of %zu threads",
                 first->perhaps ? "perhaps " : "", first->count);
    x->hung = threads->all[first->threads[0]].id;
}

/* A number "id" may be of the struct that the bad pointer should have had. */
static void ids_name(struct explain *x)
{
    const struct value *bad = NULL;
    for (size_t i = 0; i < x->values_count && !bad; i++)
        if (x->values[i].is_null && *x->values[i].type)
            bad = &x->values[i];
    for (size_t i = 0; bad && i < x->values_count; i++) {
        struct value *v = &x->values[i];
        if (v->kind == VALUE_NUMBER && !*v->type && strcmp(v->name, "id") == 0)
            memcpy(v->type, bad->type, sizeof v->type);
    }
}

void crash_find(struct explain *x)
{
    struct threads *threads = &x->threads;
    struct value *value;
    uint64_t pc;
    signal_read(x);
    crash_hung(x);
    for (size_t i = 0; i < threads->count; i++)
        if (threads->all[i].id ==
                (x->hung ? x->hung : threads->source->crashed) &&
            threads->all[i].frames_count)
            x->thread = &threads->all[i];
    if (!x->thread || (!x->signal && !x->hung))
        return;
    frames_read(x);
    x->frame_end = cfa_of(x, x->first);
    x->in_heap = is_in_heap(x);
    x->freed_twice = x->in_heap && ending_is_double_free(x);
    used_add(x);
    for (unsigned i = x->site;
         i <= x->site + CALLERS && i < x->thread->frames_count; i++)
        frame_add(x, i);
    if (x->freed_twice)
        given_add(x);
    ids_name(x);
    pc = x->registers[x->first].value[threads->machine->unwind.pc];
    if (x->has_address && x->address >= ADDRESS_LEAST && x->address != pc &&
        (value = value_add(x, VALUE_ADDRESS, "the address", x->address,
                           WEIGHT_SITE)) != NULL)
        value->used = true;
    for (unsigned i = 0; i < threads->machine->unwind.count; i++)
        register_add(x, (int)i, false);
}
