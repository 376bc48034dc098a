/* core.c - the threads of a core file: the registers in its notes. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "threads.h"

#include <string.h>

/* struct elf_prstatus: the id, three more, four times of two words, registers.
 * In front of the id stand the signal and two words. */
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
    thread->has_registers = true;
    thread->call = word_signed(m, value[machine->call]);
    thread->in_call = thread->call >= 0 &&
                      is_interrupted(word_signed(m, value[machine->result]));
    for (unsigned i = 0; i < 6; i++)
        thread->arguments[i] = value[machine->arguments[i]];
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
    }
    return threads->count
               ? NULL
               : threads_wrong(threads, "has no threads: it is no core file "
                                        "that a process left");
}
