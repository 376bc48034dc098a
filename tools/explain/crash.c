/* crash.c - the values of a crash: registers, variables and their targets. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "bytes.h"
#include "explain.h"

#include <elf.h>
#include <signal.h>
#include <string.h>

enum {
    ADDRESS_LEAST = 65536, /* no system maps memory below */
    TARGET_WORDS = 8,
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

const char *crash_register(const struct explain *x, int number)
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

/* Adds a value; a value that is known gets its other name, too. */
static void value_add(struct explain *x, const char *name, uint64_t word,
                      unsigned tier, bool used, bool number)
{
    struct memory *m = x->threads.source->memory;
    struct value *v;
    for (size_t i = 0; i < x->values_count; i++) {
        v = &x->values[i];
        if (v->word != word || v->number != number)
            continue;
        v->used |= used;
        v->tier = v->tier < tier ? v->tier : tier;
        if (!strstr(v->name, name) &&
            strlen(v->name) + strlen(name) + 3 < sizeof v->name)
            strcat(strcat(v->name, ", "), name);
        return;
    }
    x->values = need(array_room(x->values, &x->values_max, x->values_count + 1,
                                sizeof *x->values));
    v = &x->values[x->values_count++];
    *v = (struct value){
        .word = word, .tier = tier, .used = used, .number = number};
    snprintf(v->name, sizeof v->name, "%s", name);
    heap_block(m, word, &v->block);
}

static void register_add(struct explain *x, int number, bool used)
{
    const struct registers *r = &x->registers[x->first];
    const char *name = crash_register(x, number);
    if (name && r->known[number] && r->value[number] >= ADDRESS_LEAST &&
        number != (int)x->threads.machine->unwind.sp)
        value_add(x, name, r->value[number], TIER_REGISTER, used, false);
}

/* Adds the pointer that a pointer or reference points to, by its name and a *. */
static void pointed_add(struct explain *x, const struct variable *v,
                        unsigned tier)
{
    struct memory *m = x->threads.source->memory;
    struct block block;
    uint64_t word;
    char name[2 * VARIABLE_NAME_MAX];
    if (!bytes_read_word(m, v->value, &word) || !heap_block(m, word, &block))
        return;
    snprintf(name, sizeof name, "*%.60s", v->name);
    value_add(x, name, word, tier, tier == TIER_SITE && block.freed, false);
}

/* Adds the pointers in the target of a pointer, by the names of members. */
static void target_add(struct explain *x, const struct variable *v,
                       unsigned tier)
{
    struct memory *m = x->threads.source->memory;
    struct block block;
    char member[VARIABLE_NAME_MAX], name[2 * VARIABLE_NAME_MAX];
    if (variable_is_of_pointer(v)) {
        pointed_add(x, v, tier);
        return;
    }
    for (unsigned i = 0; i < TARGET_WORDS; i++) {
        uint64_t word, at = i * m->word_bytes;
        if (!variable_member(v, at, member) ||
            !bytes_read_word(m, v->value + at, &word) ||
            !heap_block(m, word, &block))
            continue;
        snprintf(name, sizeof name, "%.60s->%.60s", v->name, member);
        value_add(x, name, word, tier > TIER_TARGET ? tier : TIER_TARGET,
                  x->signal == SIGABRT && block.freed, false);
    }
}

static void variable_add(struct explain *x, const struct variable *v,
                         unsigned tier)
{
    struct memory *m = x->threads.source->memory;
    struct block block;
    int64_t number = (int64_t)v->value;
    if (!v->known)
        return;
    if (v->is_pointer && v->value >= ADDRESS_LEAST) {
        value_add(x, v->name, v->value, tier,
                  tier == TIER_SITE && heap_block(m, v->value, &block) &&
                      block.freed,
                  false);
        target_add(x, v, tier);
    } else if (!v->is_pointer && (number > 1 || number < -1)) {
        value_add(x, v->name, v->value, tier, false, true);
    }
}

/* Adds the registers that the faulting instruction used: its operand's, or the
 * first argument of a call of an address without code. */
static void used_add(struct explain *x)
{
    const struct unwind_machine *machine = &x->threads.machine->unwind;
    uint64_t pc = x->registers[x->first].value[machine->pc];
    if (!x->has_address && x->code != SI_KERNEL)
        return;
    if (x->has_address && pc == x->address)
        register_add(x, x->threads.source->memory->machine == EM_X86_64 ? 5 : 0,
                     true);
    x->access = access_at(x->threads.source->memory, pc);
    if (!x->access.known)
        return;
    register_add(x, x->access.base, true);
    register_add(x, x->access.index, true);
}

static void frame_add(struct explain *x, unsigned frame)
{
    const struct unwind_machine *machine = &x->threads.machine->unwind;
    struct variable others[VARIABLES_MAX];
    struct variable *to = frame == x->site ? x->variables : others;
    uint64_t cfa =
        frame + 1 < FRAMES_MAX && x->registers[frame + 1].known[machine->sp]
            ? x->registers[frame + 1].value[machine->sp]
            : 0;
    size_t count = variables_of(&x->threads, x->thread->frames[frame],
                                &x->registers[frame], cfa, to);
    if (frame == x->site)
        x->variables_count = count;
    for (size_t i = 0; i < count; i++)
        variable_add(x, &to[i], frame == x->site ? TIER_SITE : TIER_CALLER);
}

void crash_find(struct explain *x)
{
    struct threads *threads = &x->threads;
    uint64_t pc;
    signal_read(x);
    for (size_t i = 0; i < threads->count; i++)
        if (threads->all[i].id == threads->source->crashed &&
            threads->all[i].frames_count)
            x->thread = &threads->all[i];
    if (!x->thread || !x->signal)
        return;
    frames_read(x);
    used_add(x);
    for (unsigned i = x->site;
         i <= x->site + CALLERS && i < x->thread->frames_count; i++)
        frame_add(x, i);
    pc = x->registers[x->first].value[threads->machine->unwind.pc];
    if (x->has_address && x->address >= ADDRESS_LEAST && x->address != pc)
        value_add(x, "the address", x->address, TIER_SITE, true, false);
    for (unsigned i = 0;
         !x->variables_count && i < threads->machine->unwind.count; i++)
        register_add(x, (int)i, false);
}
