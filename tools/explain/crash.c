/* crash.c - the values of a crash: registers, variables and their targets. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "bytes.h"
#include "explain.h"

#include <elf.h>
#include <signal.h>

enum {
    ADDRESS_LEAST = 65536, /* no system maps memory below */
    VALUES_MAX = 400,
    TEXT_LEAST = 3, /* shorter ones are everywhere */
    WORDS_MAX = 1024,
    SMALL = 16,
    TABLE = 256,        /* bytes of a table of virtual functions */
    CALLERS = 2,        /* frames after the site whose variables count */
    HANDLER_FRAMES = 16 /* of a handler that raised the signal again */
};

/* ---------------------------------------------------------------- signal -- */

/* Reads NT_SIGINFO, or the signal in the thread's NT_PRSTATUS. */
static void signal_read(struct explain *x)
{
    const struct source *source = x->threads.source;
    const struct memory *m = x->memory;
    const unsigned char *info = source->signal;
    for (size_t i = 0; i < source->threads_count && !info; i++)
        if (source->threads[i].id == source->crashed)
            x->signal = (int)bytes_number(m, source->threads[i].status + 12, 2);
    if (!info)
        return;
    x->signal = (int)bytes_number(m, info, 4);
    x->code = (int)(int32_t)bytes_number(m, info + 8, 4);
    x->exception = (uint32_t)bytes_number(m, info + 4, 4); /* si_errno */
    x->exception *= x->exception >> 31;
    x->has_address = (x->signal == SIGSEGV || x->signal == SIGBUS) &&
                     x->code > 0 && x->code != SI_KERNEL;
    x->address = bytes_word(m, info + (m->word_bytes == 8 ? 16 : 12));
}

/* The stack pointer of a frame; of the one after the last, where it is known. */
static uint64_t sp_of(const struct explain *x, unsigned frame)
{
    return x->registers[frame].value[x->threads.machine->unwind.sp];
}

/* Walks the crashed thread again, for the registers of its frames. A handler
 * may have raised the signal again: its frames do not count. */
static void frames_read(struct explain *x)
{
    struct threads *threads = &x->threads;
    const unsigned count = x->thread->frames_count;
    threads->unwind.each = x->registers;
    threads_walk(threads, x->thread);
    threads->unwind.each = NULL;
    for (unsigned i = 0; i < count && i < HANDLER_FRAMES; i++) {
        const struct row *row = cfi_row(&threads->unwind, x->thread->frames[i]);
        if (row && row->signal && i + 1 < count)
            x->first = i + 1;
    }
    for (x->site = x->first; x->site + 1 < count; x->site++) {
        const struct place *p = place_of(threads, x->thread->frames[x->site]);
        if (p && p->module && !show_is_system(p))
            break;
    }
    x->pc = x->registers[x->first].value[threads->machine->unwind.pc];
    x->sp = sp_of(x, x->first);
    x->site_sp = sp_of(x, x->site);
    x->frame_end = sp_of(x, x->first + 1);
}

/* ----------------------------------------------------------------- crash -- */

/* Adds a value; a value that is known gets its other name, too. Without room, it
 * takes the place of the last one. */
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
        free(x->values[--x->values_count].text);
    v = array_add(x->values, x->values_count, x->values_max);
    *v = (struct value){.kind = kind, .word = word, .weight = weight};
    snprintf(v->name, sizeof v->name, "%s", name);
    if (kind == VALUE_ADDRESS && !heap_block(x->memory, word, &v->block))
        v->block = (struct block){0};
    return v;
}

static void register_add(struct explain *x, int number, bool used)
{
    static const char x86[16][4] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                    "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                    "r12", "r13", "r14", "r15"};
    const struct registers *r = &x->registers[x->first];
    const bool is_x86 = x->memory->machine == EM_X86_64;
    char name[24];
    if (number < 0 || (is_x86 && number > 15) || !r->known[number] ||
        r->value[number] < ADDRESS_LEAST ||
        number == (int)x->threads.machine->unwind.sp)
        return;
    snprintf(name, sizeof name, "register %d", number);
    value_add(x, VALUE_ADDRESS, is_x86 ? x86[number] : name, r->value[number],
              used ? WEIGHT_HOLDER : WEIGHT_REGISTER)
        ->used |= used;
}

bool crash_letters(const struct explain *x, uint64_t address, char to[9])
{
    size_t count = 0;
    if (x->memory->word_bytes != 8)
        return false;
    bytes_put_word(x->memory, to, address);
    while (count < 8 && to[count] >= ' ' && to[count] <= '~')
        count++;
    to[8] = '\0';
    return count == 8;
}

static void text_add(struct explain *x, const struct variable *v,
                     unsigned weight)
{
    char text[VARIABLE_TEXT_MAX];
    size_t size = 0;
    if (!variable_text(x->memory, v, text))
        return;
    while ((unsigned char)text[size] >= ' ' && text[size] != 127)
        size++;
    text[size] = '\0';
    for (size_t i = 0; i < x->values_count; i++)
        if (x->values[i].text && strcmp(x->values[i].text, text) == 0)
            return;
    if (size >= TEXT_LEAST)
        value_add(x, VALUE_TEXT, v->name, 0, weight)->text = need(strdup(text));
}

bool crash_is_bad(const struct explain *x, const struct variable *v)
{
    struct variable member;
    if (!x->has_bad || !v->is_pointer ||
        /* A recording has not the value of a static variable. */
        (v->known ? v->value != x->bad : x->bad || !v->address))
        return false;
    return x->bad || (v->known && !x->address) ||
           variable_member(v, x->address, &member);
}

/* True if a value is one of some words, or less than `within` bytes after it. */
static bool words_have(struct explain *x, uint64_t at, uint64_t end,
                       uint64_t value, uint64_t within)
{
    struct memory *m = x->memory;
    uint64_t word;
    for (unsigned i = 0; at < end && i < WORDS_MAX; i++, at += m->word_bytes)
        if (bytes_read_word(m, at, &word) && value - word < within)
            return true;
    return false;
}

/* Adds the value of a variable, and, to a depth, the members of its target.
 * `holder`: the pointer to the struct that it is in, or null. */
static void variable_add(struct explain *x, const struct variable *v,
                         const struct variable *holder, unsigned weight,
                         unsigned depth)
{
    struct variable *members;
    struct value none = {0}, *value = &none;
    const char *type = holder ? holder->type : v->type;
    bool bad = crash_is_bad(x, v);
    size_t count;
    if (v->is_text)
        text_add(x, v, weight);
    if (bad && holder && holder->is_pointer)
        value_add(x, VALUE_ADDRESS, holder->name, holder->value, WEIGHT_HOLDER);
    if (v->known && v->is_pointer && v->value >= ADDRESS_LEAST) {
        value = value_add(x, VALUE_ADDRESS, v->name, v->value, weight);
        type = v->type;
        /* The bad address is in a freed block, or near a word of the block: the
         * address of a table of virtual functions. */
        value->used |= value->block.freed && x->has_bad &&
                       (x->bad - v->value < value->block.size ||
                        (x->bad >= ADDRESS_LEAST &&
                         words_have(x, v->value, v->value + value->block.size,
                                    x->bad, TABLE)));
    } else if (v->is_pointer && bad) { /* "next=(nil)" */
        value = value_add(x, VALUE_NUMBER, v->name, 0, WEIGHT_HOLDER);
        value->is_null = true;
    } else if (v->known && !v->is_pointer) { /* small numbers are everywhere */
        unsigned part = x->signal == SIGFPE && !v->value ? 1
                        : v->value < 2                   ? 4
                        : v->value < SMALL               ? 2
                                                         : 1;
        if (part > 1 && holder && strstr(holder->name, "->"))
            return; /* through two pointers, they say nothing */
        value = value_add(x, VALUE_NUMBER, v->name, v->value, weight / part);
        value->used |=
            x->access.index >= 0 && v->value > 9 &&
            x->registers[x->first].value[x->access.index] == v->value;
    }
    if (type && !*value->type)
        snprintf(value->type, sizeof value->type, "%s", type);
    if (!depth || v->is_text || (!v->is_struct && v->value < ADDRESS_LEAST))
        return;
    if (v->is_pointer && v->to_pointer) {
        struct variable to = {.is_pointer = true};
        snprintf(to.name, sizeof to.name, "*%.60s", v->name);
        to.known = bytes_read_word(x->memory, v->value, &to.value);
        variable_add(x, &to, v, weight, 0);
        return;
    }
    members = need(malloc(VARIABLES_MAX * sizeof *members));
    count = variable_members(x->memory, v, members);
    for (size_t i = 0; i < count; i++)
        variable_add(x, &members[i], v->is_struct && holder ? holder : v,
                     v->is_struct ? weight : weight * 2 / 3,
                     depth - (v->is_struct ? 0 : 1));
    free(members);
}

/* Adds the block that was freed twice: free() has the address of the word before
 * it, with which its header begins, and no other function has. If free() has also
 * the address of the block itself, it was freed before, perhaps into a list that
 * heap_block() does not know. */
static void given_add(struct explain *x)
{
    const unsigned word = x->memory->word_bytes;
    struct value *v;
    struct block b;
    uint64_t at = x->sp, start;
    for (unsigned i = 0; at < x->site_sp && i < WORDS_MAX; i++, at += word)
        if (bytes_read_word(x->memory, at, &start) &&
            heap_block(x->memory, start += 2 * word, &b) &&
            (b.freed || words_have(x, x->sp, x->site_sp, start, 1))) {
            v = value_add(x, VALUE_ADDRESS, "", start, WEIGHT_SITE);
            v->used = v->block.freed = true;
            if (!*v->name)
                strcpy(v->name, "the block");
            return;
        }
}

/* Adds the registers that the faulting instruction used: its operand's, or the
 * first argument of a call of an address without code. */
static void used_add(struct explain *x)
{
    const struct registers *r = &x->registers[x->first];
    const int argument = x->memory->machine == EM_X86_64 ? 5 : 0;
    struct access *a = &x->access;
    bool calls, uses; /* the address in a register; a register or memory */
    *a = (struct access){.base = -1, .index = -1};
    if (!x->has_address && x->code != SI_KERNEL)
        return;
    if (x->has_address && x->pc == x->address) { /* there is no code */
        a->calls = true;
        register_add(x, argument, true);
        x->bad = x->pc;
        x->has_bad = true;
        return;
    }
    *a = access_at(x->memory, x->pc);
    calls = a->calls && !a->known;
    uses = calls || a->known;
    register_add(x, !uses ? -1 : calls ? argument : a->base, true);
    register_add(x, a->known ? a->index : -1, true);
    if (uses && a->base >= 0 && r->known[a->base]) {
        x->bad = r->value[a->base];
        x->has_bad = a->base != (int)x->threads.machine->unwind.sp;
    } else if (x->has_address && x->address < ADDRESS_LEAST) {
        x->has_bad = true; /* a null pointer */
    }
}

static void frame_add(struct explain *x, unsigned frame)
{
    struct variable others[VARIABLES_MAX];
    const bool is_site = frame == x->site;
    struct variable *to = is_site ? x->variables : others;
    uint64_t pc = x->thread->frames[frame];
    size_t locals = variables_of(&x->threads, pc, &x->registers[frame],
                                 sp_of(x, frame + 1), to);
    size_t count =
        is_site ? variables_static(&x->threads, pc, to, locals) : locals;
    for (size_t i = 0; i < count; i++)
        variable_add(x, &to[i], NULL,
                     !is_site     ? WEIGHT_CALLER
                     : i < locals ? WEIGHT_SITE
                                  : WEIGHT_STATIC,
                     is_site ? 2 : 1);
    if (is_site) {
        x->statics_at = locals;
        x->variables_count = count;
    }
}

/* A thread waits for a lock that no thread can release. */
static void lost_hung(struct explain *x)
{
    struct threads *threads = &x->threads;
    char name[64], words[1024];
    size_t i = 0;
    while (i < threads->count && !threads->all[i].wait.lost)
        i++;
    if (i == threads->count)
        return;
    show_name(threads, i, name);
    show_wait(threads, &threads->all[i], words);
    snprintf(x->verdict, sizeof x->verdict, "DEADLOCK: %s %.900s", name, words);
    x->hung = threads->all[i].id;
}

void crash_hung(struct explain *x)
{
    const struct threads *threads = &x->threads;
    const struct cycle *first = threads->cycles;
    if (x->signal && x->signal != SIGSTOP)
        return;
    if (!threads->cycles_count && !x->hung)
        lost_hung(x);
    if (!threads->cycles_count)
        return;
    if (!x->hung)
        snprintf(x->verdict, sizeof x->verdict, "%sDEADLOCK of %zu threads",
                 first->perhaps ? "perhaps " : "", first->count);
    x->hung = threads->all[first->threads[0]].id;
}

/* A number "id" may be of the struct that the bad pointer should have had. */
static void ids_name(struct explain *x)
{
    size_t bad = 0;
    while (bad < x->values_count &&
           !(x->values[bad].is_null && *x->values[bad].type))
        bad++;
    for (size_t i = 0; bad < x->values_count && i < x->values_count; i++) {
        struct value *v = &x->values[i];
        if (v->kind == VALUE_NUMBER && !*v->type && strcmp(v->name, "id") == 0)
            memcpy(v->type, x->values[bad].type, sizeof v->type);
    }
}

const char *crash_function(struct explain *x, unsigned frame)
{
    const struct place *p = place_of(&x->threads, x->thread->frames[frame]);
    return p && p->function ? p->function : "";
}

void crash_find(struct explain *x)
{
    struct threads *threads = &x->threads;
    x->memory = threads->source->memory;
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
    for (unsigned i = x->first; i < x->site; i++) {
        /* A block may be damaged by a write past the end of the one before. */
        const char *name = crash_function(x, i);
        x->in_heap |= strstr(name, "free") || strstr(name, "alloc") ||
                      strstr(name, "delete");
    }
    if (x->signal == SIGABRT)
        ending_message(x);
    used_add(x);
    for (unsigned i = x->site;
         i <= x->site + CALLERS && i < x->thread->frames_count; i++)
        frame_add(x, i);
    if (x->in_heap && strstr(x->message, "double free"))
        given_add(x);
    ids_name(x);
    if (x->has_address && x->address >= ADDRESS_LEAST && x->address != x->pc)
        value_add(x, VALUE_ADDRESS, "the address", x->address, WEIGHT_SITE)
            ->used = true;
    for (unsigned i = 0; i < threads->machine->unwind.count; i++)
        register_add(x, (int)i, false);
}
