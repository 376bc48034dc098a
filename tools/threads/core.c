/* core.c - the threads of a core file: the registers in its notes. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "threads.h"

/* struct elf_prstatus: the id, three more, four times of two words, registers.
 * The signal and two words come before the id. */
static unsigned status_id(const struct memory *m)
{
    return 16 + 2 * m->word_bytes;
}
static unsigned status_registers(const struct memory *m)
{
    return status_id(m) + 4 * 4 + 4 * 2 * m->word_bytes;
}

/* The result of a call that a signal, a stop or the dump interrupted: the
 * kernel's ERESTARTSYS to ERESTART_RESTARTBLOCK, or EINTR. */
static bool is_interrupted(int64_t result)
{
    return (result >= -516 && result <= -512) || result == -4;
}

/* True if a system call instruction begins at a thread's pc, or ends there. */
enum call_is { AT_PC, BEFORE_PC };
static bool is_system_call(const struct threads *threads,
                           const struct thread *thread, enum call_is where)
{
    static const struct {
        unsigned machine, size;
        unsigned char bytes[4];
    } calls[] = {{EM_ARM, 2, {0x00, 0xdf}},
                 {EM_ARM, 4, {0x00, 0x00, 0x00, 0xef}},
                 {EM_AARCH64, 4, {0x01, 0x00, 0x00, 0xd4}},
                 {EM_RISCV, 4, {0x73, 0x00, 0x00, 0x00}},
                 {EM_MIPS, 4, {0x00, 0x00, 0x00, 0x0c}},
                 {EM_X86_64, 2, {0x0f, 0x05}}};
    struct memory *m = threads->source->memory;
    const struct unwind_machine *machine = &threads->machine->unwind;
    uint64_t pc = thread->registers.value[machine->pc] & ~machine->no_address;
    unsigned char code[4];
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].machine == m->machine &&
            bytes_read(m, pc - (where == BEFORE_PC ? calls[i].size : 0), code,
                       calls[i].size) &&
            memcmp(code, calls[i].bytes, calls[i].size) == 0)
            return true;
    return false;
}

enum { STATUS_CPSR = 16 }; /* of ARM */

void core_registers(const struct threads *threads, struct thread *thread,
                    const unsigned char *from, size_t size)
{
    const struct machine *machine = threads->machine;
    const struct memory *m = threads->source->memory;
    uint64_t value[sizeof machine->status] = {0};
    unsigned word = machine->word_bytes;
    if (size / word < machine->status_count)
        return;
    for (unsigned i = 0; i < machine->status_count; i++) {
        int which = machine->status[i];
        value[i] = bytes_word(m, from + i * word);
        if (which < 0)
            continue;
        thread->registers.value[which] = value[i];
        thread->registers.known[which] = true;
    }
    if (m->machine == EM_ARM && value[STATUS_CPSR] >> 5 & 1)
        thread->registers.value[machine->unwind.pc] |= 1; /* as Thumb */
    thread->has_registers = true;
    thread->call = word_signed(m, value[machine->call]);
    for (unsigned i = 0; i < 6; i++)
        thread->arguments[i] = value[machine->arguments[i]];
    if (thread->call < 0)
        return;
    thread->in_call = is_interrupted(word_signed(m, value[machine->result]));
    thread->argument_lost = thread->in_call && machine->loses_argument;
    /* Linux on ARM, aarch64 and RISC-V makes a thread ready to call again before
     * it stops it or dumps it: with the arguments that it called with. */
    thread->in_call |= is_system_call(threads, thread, AT_PC);
}

const char *core_threads(struct threads *threads)
{
    const struct source *source = threads->source;
    const struct memory *m = source->memory;
    unsigned at = status_registers(m);
    for (size_t i = 0; i < source->threads_count; i++) {
        const struct source_thread *from = &source->threads[i];
        struct thread *thread = threads_add(threads);
        if (!thread)
            break;
        thread->id = thread->inside = from->id;
        thread->state = '?';
        if (from->size > at)
            core_registers(threads, thread, from->status + at, from->size - at);
        /* An emulator notes the registers that a call began with. */
        if (source->linked && thread->has_registers && thread->call >= 0)
            thread->in_call = is_system_call(threads, thread, BEFORE_PC) ||
                              is_system_call(threads, thread, AT_PC);
    }
    return threads->count
               ? NULL
               : threads_wrong(threads, "has no threads: it is no core file "
                                        "that a process left");
}

size_t core_status(const struct machine *machine, const struct memory *m,
                   int32_t id, const struct registers *registers,
                   unsigned char *to, size_t max)
{
    unsigned word = machine->word_bytes, at = status_registers(m);
    size_t size = at + machine->status_count * word + word; /* pr_fpvalid */
    if (size > max)
        return 0;
    memset(to, 0, size);
    bytes_put(m, to + status_id(m), (uint32_t)id, 4);
    for (unsigned i = 0; i < machine->status_count; i++) {
        int which = machine->status[i];
        if (which >= 0 && registers->known[which])
            bytes_put_word(m, to + at + i * word, registers->value[which]);
    }
    return size;
}
