/* context.c - the registers with which a task continues. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "tasks.h"
#include "threads.h"

/* Where a ucontext_t has its registers, as the system's headers have it: words
 * from an offset on, and which register each is; \377: none. */
static const struct ucontext {
    unsigned elf, offset, count;
    const char *words;
} ucontexts[] = {
    {EM_X86_64, 0x28, 17, "\10\11\12\13\14\15\16\17\5\4\6\3\1\0\2\7\20"},
    {EM_386, 0x24, 11, "\7\6\5\4\3\2\1\0\377\377\10"},
    {EM_AARCH64, 0xb8, 33,
     "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24\25\26\27"
     "\30\31\32\33\34\35\36\37\40"}};

static void set(struct task_context *to, unsigned which, uint64_t value)
{
    to->registers.value[which] = value;
    to->registers.known[which] = true;
}

static bool ucontext_read(struct memory *m, uint64_t at,
                          struct task_context *to)
{
    unsigned char bytes[512];
    const struct ucontext *u = NULL;
    for (size_t i = 0; i < sizeof ucontexts / sizeof *ucontexts; i++)
        if (ucontexts[i].elf == m->machine)
            u = &ucontexts[i];
    if (!u || !bytes_read(m, at, bytes, u->offset + u->count * m->word_bytes))
        return false;
    for (unsigned i = 0; i < u->count; i++)
        if ((unsigned char)u->words[i] < REGISTERS_MAX)
            set(to, (unsigned char)u->words[i],
                bytes_word(m, bytes + u->offset + i * m->word_bytes));
    return true;
}

/* ----------------------------------------------------------------- words -- */

/* Reads words from the stack pointer saved at `place` upwards; the stack
 * pointer ends after them. */
static bool words_read(struct memory *m, uint64_t place,
                       const unsigned char *words, unsigned count,
                       struct task_context *to)
{
    const struct machine *machine = machine_of(m);
    uint64_t sp, more = 0;
    if (!bytes_read_word(m, place, &sp))
        return false;
    for (unsigned i = 0; i < count; i++) {
        uint64_t value;
        if (words[i] == RECORDER_TASK_BESIDE_ && i + 1 < count &&
            words[i + 1] < REGISTERS_MAX) {
            place += m->word_bytes;
            if (!bytes_read_word(m, place, &value))
                return false;
            set(to, words[++i], value);
            continue;
        }
        if (!bytes_read_word(m, sp, &value))
            return false;
        sp += m->word_bytes;
        if (words[i] < REGISTERS_MAX) {
            set(to, words[i], value);
        } else if (words[i] == RECORDER_TASK_XPSR_) {
            if (!(value >> 24 & 1))
                return false; /* a Cortex-M has no other mode than Thumb */
            more += value >> 9 & 1 ? 4 : 0;
            to->xpsr = value;
            to->exact = true;
        } else if (words[i] == RECORDER_TASK_EXC_RETURN_) {
            if (value >> 8 != 0xffffff)
                return false;
            if (value & 16)
                continue;
            sp += 16 * (uint64_t)m->word_bytes; /* s16 to s31 */
            more += 72;                         /* s0 to s15, FPSCR, a word */
        } else if (words[i] == RECORDER_TASK_MSTATUS_) {
            if ((value & 0x180f) != 0x1800) /* MPP; MIE, and bits that M
                                             * lacks */
                return false;
            to->exact = true;
        }
    }
    if (machine->elf == EM_ARM) /* Thumb */
        to->registers.value[machine->unwind.pc] &= ~(uint64_t)1;
    set(to, machine->unwind.sp, (sp + more) & word_max(m));
    return to->registers.known[machine->unwind.pc];
}

static bool is_code(const struct tasks *tasks, uint64_t address)
{
    const struct tasks_program *program = &tasks->program;
    return !program->is_code || program->is_code(program->of, address);
}

/* The first form of this processor whose program counter points to code. */
static bool forms_read(const struct tasks *tasks, struct memory *m,
                       uint64_t place, const struct task_form *form,
                       struct task_context *to)
{
    const struct machine *machine = machine_of(m);
    for (; form->count; form++) {
        memset(to, 0, sizeof *to);
        if (form->machine == m->machine &&
            words_read(m, place, (const unsigned char *)form->words,
                       form->count, to) &&
            is_code(tasks, to->registers.value[machine->unwind.pc]))
            return true;
    }
    return false;
}

/* Boost's: mxcsr and x87's words, in later releases a guard, then r12 r13 r14
 * r15 rbx rbp rip. The right form is the one whose rip is code. */
static const struct task_form fcontext_forms[] = {
    {EM_X86_64, "\377\14\15\16\17\3\6\20", 8},
    {EM_X86_64, "\377\377\14\15\16\17\3\6\20", 9},
    {0, NULL, 0}};

/* --------------------------------------------------------------- context -- */

bool task_registers(const struct tasks *tasks, struct memory *m,
                    const struct task *task, struct task_context *to)
{
    const struct layout *layout = &tasks->layouts[task->layout];
    const struct layout_row *rows = layout->rows;
    const struct machine *machine = machine_of(m);
    uint64_t place, at;
    unsigned what =
        rows[RECORDER_TASK_WORDS_].is_set      ? RECORDER_TASK_WORDS_
        : rows[RECORDER_TASK_WORDS_AT_].is_set ? RECORDER_TASK_WORDS_AT_
        : rows[RECORDER_TASK_FCONTEXT_].is_set ? RECORDER_TASK_FCONTEXT_
                                               : RECORDER_TASK_UCONTEXT_AT_;
    memset(to, 0, sizeof *to);
    if (!machine)
        return false;
    if (rows[RECORDER_TASK_UCONTEXT_].is_set)
        return ucontext_read(
            m, task->address + rows[RECORDER_TASK_UCONTEXT_].offset, to);
    place = task->address + rows[what].offset;
    if (!rows[what].is_set || !bytes_read_word(m, place, &at))
        return false;
    if (what == RECORDER_TASK_UCONTEXT_AT_)
        return ucontext_read(m, at, to);
    if (what == RECORDER_TASK_FCONTEXT_)
        return forms_read(tasks, m, place, fcontext_forms, to);
    if (layout->traits.forms)
        return forms_read(tasks, m, place, layout->traits.forms, to);
    return words_read(m, what == RECORDER_TASK_WORDS_AT_ ? at : place,
                      layout->words, layout->words_count, to);
}
