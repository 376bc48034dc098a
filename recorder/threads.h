/* threads.h - numbers and names of threads. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_THREADS_H_
#define RECORDER_THREADS_H_

#include "clock.h"
#include "os.h"
#include "ring.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- threads --
 *
 * A thread gets a number and a row of the table at its first record; the row of
 * a dead thread is given away only when the table is full. All of it is safe in
 * a signal handler: at worst the handler takes a second row.
 */

/* Sets the name in a row, while readers may look at it. */
RECORDER_SELDOM_ void recorder_thread_set_name_(struct recorder_thread_row *row,
                                                const char *name)
{
    unsigned i;
    for (i = 0; i < sizeof row->name - 1 && name[i]; i++)
        __atomic_store_n(&row->name[i], name[i], __ATOMIC_RELAXED);
    for (; i < sizeof row->name; i++)
        __atomic_store_n(&row->name[i], '\0', __ATOMIC_RELAXED);
}

#ifdef RECORDER_HOSTED_
#define RECORDER_THREAD() recorder_thread_number_()

extern RECORDER_PROGRAM_ __thread unsigned recorder_thread_self_
    RECORDER_THREAD_LOCAL_;
__thread unsigned recorder_thread_self_ RECORDER_THREAD_LOCAL_ =
    0; /* 0: the thread has not recorded yet. The attribute stands at both, or
        * gcc ignores it. */

/* Changes a row's state to RECORDER_ROW_TAKEN_ by compare-and-swap; false: it
 * had another state. It swaps 4 bytes, `named` too, as riscv64 cannot swap
 * fewer. */
RECORDER_INLINE_ bool recorder_row_take_(struct recorder_thread_row *row,
                                         uint16_t state)
{
    typedef uint32_t __attribute__((may_alias)) both;
    struct {
        uint16_t state, named;
    } from, to;
    uint32_t seen, taken;
    from.state = state;
    from.named = to.named = __atomic_load_n(&row->named, __ATOMIC_RELAXED);
    to.state = RECORDER_ROW_TAKEN_;
    __builtin_memcpy(&seen, &from, sizeof seen);
    __builtin_memcpy(&taken, &to, sizeof taken);
    return __atomic_compare_exchange_n((both *)(void *)&row->state, &seen,
                                       taken, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}
/* Takes a row that is dead or whose thread has ended. Returns its number, or
 * RECORDER_THREAD_SHARED if there is none. */
RECORDER_SELDOM_ unsigned
recorder_thread_reuse_(const struct recorder_registry *registry)
{
    unsigned i;
    for (i = 0; i < recorder_get_(&registry->threads_max); i++) {
        struct recorder_thread_row *row = &registry->threads[i];
        uint16_t state = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE);
        if (state != RECORDER_ROW_DEAD_ &&
            !(state == RECORDER_ROW_ALIVE_ &&
              recorder_os_thread_ended_(
                  __atomic_load_n(&row->id, __ATOMIC_RELAXED))))
            continue;
        if (!recorder_row_take_(row, state))
            continue;
        /* A living thread may have taken it between the look and the swap. */
        if (state == RECORDER_ROW_DEAD_ || recorder_os_thread_ended_(row->id))
            return i + 1;
        __atomic_store_n(&row->state, RECORDER_ROW_ALIVE_, __ATOMIC_RELEASE);
    }
    return RECORDER_THREAD_SHARED;
}

/* Returns the table, which the first call maps; null if there is no memory. */
RECORDER_SELDOM_ struct recorder_thread_row *
recorder_thread_table_(struct recorder_registry *registry)
{
    struct recorder_thread_row *table =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    size_t bytes = RECORDER_THREADS * sizeof *table;
    struct recorder_thread_row *mine;
    if (table)
        return table;
    mine = (struct recorder_thread_row *)recorder_os_memory_(bytes);
    if (!mine)
        return NULL;
    recorder_put_(&registry->threads_max, RECORDER_THREADS);
    if (__atomic_compare_exchange_n(&registry->threads, &table, mine, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return mine;
    recorder_os_unmap_(mine, bytes);
    return table;
}

/* Claims a row for somebody new. Returns its number, or RECORDER_THREAD_SHARED
 * if the table is full or there is no memory for it. */
RECORDER_SELDOM_ unsigned
recorder_row_claim_(struct recorder_registry *registry)
{
    uintptr_t max;
    unsigned number = RECORDER_THREAD_SHARED;
    if (!recorder_thread_table_(registry))
        return number;
    max = recorder_get_(&registry->threads_max);
    if (recorder_get_(&registry->threads_count) < max)
        number = (unsigned)recorder_add_(&registry->threads_count, 1) + 1;
    if (number > max)
        number = recorder_thread_reuse_(registry);
    return number;
}
/* Fills a claimed row, and shows it to readers. */
RECORDER_SELDOM_ void recorder_row_fill_(struct recorder_registry *registry,
                                         unsigned number, int32_t id,
                                         const char *name, uint16_t named,
                                         uint16_t state)
{
    struct recorder_thread_row *row = &registry->threads[number - 1];
    __atomic_store_n(&row->id, id, __ATOMIC_RELAXED);
    recorder_put_(&row->first, recorder_get_(registry->order));
    __atomic_store_n(&row->named, named, __ATOMIC_RELAXED);
    recorder_thread_set_name_(row, name);
    __atomic_store_n(&row->state, state, __ATOMIC_RELEASE);
    if (registry->image)
        recorder_put_(&registry->image->threads_count,
                      recorder_get_(&registry->threads_count));
}

/* Takes a row for a thread. Returns its number, or RECORDER_THREAD_SHARED if
 * there is none. */
RECORDER_FUNCTION_ unsigned
recorder_thread_take_row_of_(int32_t id, const char *name, uint16_t state)
{
    struct recorder_registry *registry = recorder_home_.registry;
    unsigned number = recorder_row_claim_(registry);
    if (number == RECORDER_THREAD_SHARED)
        return number;
    recorder_row_fill_(registry, number, id, name, 0, state);
    recorder_clock_note_();
    return number;
}

/* Gives a row back that nobody has used. */
RECORDER_SELDOM_ void recorder_thread_drop_row_(unsigned number)
{
    struct recorder_thread_row *row =
        &recorder_home_.registry->threads[number - 1];
    __atomic_store_n(&row->id, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&row->state, (uint16_t)RECORDER_ROW_DEAD_,
                     __ATOMIC_RELEASE);
}

/* Returns the row that kernel.h made for a thread that had not recorded; 0:
 * none. */
RECORDER_INLINE_ unsigned recorder_thread_claim_(int32_t id)
{
    uintptr_t *readers = &recorder_home_.registry->readers;
    const struct recorder_kernel_rings *kernel;
    unsigned number;
    if (!recorder_kernel_of_program_())
        return 0;
    __atomic_fetch_add(readers, 1, __ATOMIC_SEQ_CST);
    kernel = recorder_kernel_of_program_();
    number = kernel ? kernel->claim(id) : 0;
    __atomic_fetch_sub(readers, 1, __ATOMIC_SEQ_CST);
    return number;
}

/* Takes a row for the calling thread. Returns its number, or
 * RECORDER_THREAD_SHARED if the table is full. It claims a second time, as
 * kernel.h may have made a row since the first: see recorder_kernel_row_(). */
RECORDER_FUNCTION_ unsigned recorder_thread_take_row_(void)
{
    int32_t id = recorder_os_thread_();
    unsigned claimed = recorder_thread_claim_(id), number;
    char name[16] = "";
    if (claimed)
        return claimed;
    recorder_os_get_thread_name_(name);
    number = recorder_thread_take_row_of_(id, name, RECORDER_ROW_ALIVE_);
    claimed = recorder_thread_claim_(id);
    if (claimed && number != RECORDER_THREAD_SHARED)
        recorder_thread_drop_row_(number);
    return claimed ? claimed : number;
}

/* Returns the calling thread's number, by the module that started first: a
 * preloaded library, else the program. All others ask it, since each module has
 * its own `recorder_thread_self_` if the program exports no symbols. */
RECORDER_SELDOM_ unsigned
recorder_thread_ask_(struct recorder_registry *registry)
{
    unsigned (*thread)(void), number = 0;
    if (recorder_home_.numbers)
        return recorder_thread_take_row_();
    __atomic_fetch_add(&registry->readers, 1, __ATOMIC_SEQ_CST);
    thread = __atomic_load_n(&registry->thread, __ATOMIC_SEQ_CST);
    if (thread)
        number = thread();
    __atomic_fetch_sub(&registry->readers, 1, __ATOMIC_SEQ_CST);
    return thread ? number : recorder_thread_take_row_();
}

RECORDER_FUNCTION_ unsigned recorder_thread_enter_(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    int *error = recorder_os_errno_(), kept = *error;
    unsigned number = recorder_thread_ask_(registry);
    if (recorder_thread_self_ == 0)
        recorder_thread_self_ = number;
    else if (number != recorder_thread_self_ &&
             number != RECORDER_THREAD_SHARED)
        /* A handler came in between and took a row: ours is free again. */
        registry->threads[number - 1].state = RECORDER_ROW_DEAD_;
    *error = kept;
    return recorder_thread_self_;
}

RECORDER_INLINE_ unsigned recorder_thread_number_(void)
{
    unsigned number = recorder_thread_self_;
    return RECORDER_UNLIKELY_(number == 0) ? recorder_thread_enter_() : number;
}
RECORDER_FUNCTION_ unsigned recorder_thread_here_(void)
{
    return recorder_thread_number_();
}
#endif

/* Sets the calling thread's name, of which 15 bytes are kept. */
RECORDER_CALLED_ void recorder_thread_name(const char *name)
{
    unsigned number = RECORDER_THREAD();
    struct recorder_registry *registry = recorder_home_.registry;
    if (number == 0 || number > recorder_get_(&registry->threads_max))
        return;
    __atomic_store_n(&registry->threads[number - 1].named, 1, __ATOMIC_RELAXED);
    recorder_thread_set_name_(&registry->threads[number - 1], name);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
