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

#ifdef RECORDER_HOSTED_
#define RECORDER_THREAD() recorder_thread_number()
#endif

/* --------------------------------------------------------------- threads --
 *
 * A thread gets a number and a row of the table at its first record; the row of
 * a dead thread is given away only when the table is full. All of it is safe in
 * a signal handler: at worst a handler that interrupts it takes a row more.
 */
#ifdef RECORDER_HOSTED_
extern RECORDER_PROGRAM_ __thread unsigned recorder_thread
    RECORDER_THREAD_LOCAL_;
__thread unsigned recorder_thread RECORDER_THREAD_LOCAL_ =
    0; /* said twice, or gcc forgets it; 0: has not recorded yet */
#endif

RECORDER_FUNCTION_ void recorder_thread_set_name(struct recorder_thread *row,
                                                 const char *name)
{
    unsigned i;
    for (i = 0; i < sizeof row->name - 1 && name[i]; i++)
        __atomic_store_n(&row->name[i], name[i], __ATOMIC_RELAXED);
    for (; i < sizeof row->name; i++)
        __atomic_store_n(&row->name[i], '\0', __ATOMIC_RELAXED);
}

#ifdef RECORDER_HOSTED_
/* From a state to RECORDER_ROW_TAKEN, at one stroke. With the 2 bytes beside
 * it, since riscv64 has no compare-and-swap of fewer than 4. */
RECORDER_INLINE_ bool recorder_row_take(struct recorder_thread *row,
                                        uint16_t state)
{
    typedef uint32_t __attribute__((may_alias)) both;
    struct {
        uint16_t state, named;
    } from, to;
    uint32_t seen, taken;
    from.state = state;
    from.named = to.named = __atomic_load_n(&row->named, __ATOMIC_RELAXED);
    to.state = RECORDER_ROW_TAKEN;
    __builtin_memcpy(&seen, &from, sizeof seen);
    __builtin_memcpy(&taken, &to, sizeof taken);
    return __atomic_compare_exchange_n((both *)(void *)&row->state, &seen,
                                       taken, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}
/* Gives a row that is dead, or whose thread has ended, to the caller; its
 * number, or RECORDER_THREAD_NONE. */
RECORDER_FUNCTION_ unsigned recorder_thread_reuse(
    const struct recorder_registry *registry)
{
    unsigned i;
    for (i = 0; i < registry->threads_max; i++) {
        struct recorder_thread *row = &registry->threads[i];
        uint16_t state = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE);
        if (state != RECORDER_ROW_DEAD &&
            !(state == RECORDER_ROW_ALIVE &&
              recorder_os_thread_ended(
                  __atomic_load_n(&row->id, __ATOMIC_RELAXED))))
            continue;
        if (!recorder_row_take(row, state))
            continue;
        /* Between the look and the grasp a living thread may have taken it. */
        if (state == RECORDER_ROW_DEAD || recorder_os_thread_ended(row->id))
            return i + 1;
        __atomic_store_n(&row->state, RECORDER_ROW_ALIVE, __ATOMIC_RELEASE);
    }
    return RECORDER_THREAD_NONE;
}

/* The table, mapped at the first call; null where there is no memory. */
RECORDER_FUNCTION_ struct recorder_thread *
recorder_thread_table(struct recorder_registry *registry)
{
    struct recorder_thread *table =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    size_t bytes = RECORDER_THREADS * sizeof *table;
    struct recorder_thread *mine;
    if (table)
        return table;
    mine = (struct recorder_thread *)recorder_os_memory(bytes);
    if (!mine)
        return NULL;
    recorder_put(&registry->threads_max, RECORDER_THREADS);
    if (__atomic_compare_exchange_n(&registry->threads, &table, mine, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return mine;
    recorder_munmap(mine, bytes);
    return table;
}

/* Takes a row for the calling thread and returns its number. */
RECORDER_FUNCTION_ unsigned recorder_thread_row(void)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_thread *table = recorder_thread_table(registry), *row;
    unsigned number = RECORDER_THREAD_NONE;
    char name[16] = "";
    if (!table)
        return number;
    if (recorder_get(&registry->threads_count) < registry->threads_max)
        number = (unsigned)recorder_add(&registry->threads_count, 1) + 1;
    if (number > registry->threads_max)
        number = recorder_thread_reuse(registry);
    if (number == RECORDER_THREAD_NONE)
        return number;
    row = &table[number - 1];
    __atomic_store_n(&row->id, recorder_os_thread(), __ATOMIC_RELAXED);
    recorder_put(&row->first, recorder_get(registry->order));
    recorder_os_thread_name(name);
    __atomic_store_n(&row->named, 0, __ATOMIC_RELAXED);
    recorder_thread_set_name(row, name);
    __atomic_store_n(&row->state, RECORDER_ROW_ALIVE, __ATOMIC_RELEASE);
    if (registry->image)
        recorder_put(&registry->image->threads_count,
                     recorder_get(&registry->threads_count));
    recorder_clock_note();
    return number;
}

RECORDER_FUNCTION_ unsigned recorder_thread_enter(void)
{
    struct recorder_registry *registry = recorder_home.registry;
    int *error = recorder_errno(), kept = *error;
    /* In a library that found the program's registry, the program counts. */
    unsigned number = registry != &recorder_registry && registry->thread
                          ? registry->thread()
                          : recorder_thread_row();
    if (recorder_thread == 0)
        recorder_thread = number;
    else if (number != recorder_thread && number != RECORDER_THREAD_NONE)
        registry->threads[number - 1].state = RECORDER_ROW_DEAD; /* see above */
    *error = kept;
    return recorder_thread;
}

RECORDER_INLINE_ unsigned recorder_thread_number(void)
{
    unsigned number = recorder_thread;
    return RECORDER_UNLIKELY_(number == 0) ? recorder_thread_enter() : number;
}
RECORDER_FUNCTION_ unsigned recorder_thread_here(void)
{
    return recorder_thread_number();
}
#endif

/* Names the calling thread in what is read from now on: 15 bytes of it. */
#ifndef RECORDER_OFF
RECORDER_CALLED_ void recorder_thread_name(const char *name)
{
    unsigned number = RECORDER_THREAD();
    struct recorder_registry *registry = recorder_home.registry;
    if (number == 0 || number > registry->threads_max)
        return;
    __atomic_store_n(&registry->threads[number - 1].named, 1, __ATOMIC_RELAXED);
    recorder_thread_set_name(&registry->threads[number - 1], name);
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
