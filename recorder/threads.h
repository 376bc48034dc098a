/* threads.h - numbers and names of threads. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_THREADS_H_
#define RECORDER_THREADS_H_

#include "clock.h"
#include "lane.h"
#include "order.h"
#include "os.h"
#include "ring.h"

RECORDER_C_BEGIN_

/* --------------------------------------------------------------- threads --
 *
 * A thread gets a number and a row of the table at its first record. A row names
 * the thread of its records, so another thread gets the row of a dead thread only
 * when the table is full. All is safe in a signal handler: at worst the handler
 * takes a second row.
 *
 * A thread also gets a lane of each recorder with enough lanes, while one is
 * free; others share lane 0. A lane is owned by a thread of the kernel, not by
 * a row: when this thread has ended, after its last instruction, destructors of
 * thread-local variables included, the next that looks there takes it (O1 to O5
 * in lane.h).
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
/* True if the program's thread of this kernel id has ended. It asks about the
 * process that has the registry: in a child of vfork(), its parent. */
RECORDER_SELDOM_ bool recorder_thread_ended_(uintptr_t id)
{
    return recorder_os_thread_ended_(recorder_home_.registry->pid, (int32_t)id);
}
/* Lanes that a thread looks at, at most: a system call for each. */
#define RECORDER_OWNERS_TRIED_ 64
#define RECORDER_THREAD() (recorder_self_() & RECORDER_THREAD_SHARED)

/* The thread as a writer: its number, 0 before its first record, and its lane;
 * `kept` holds the lane during fork(). Both declarations have the attribute, or
 * gcc ignores it. */
#ifdef RECORDER_OS_OWN_
#define recorder_thread_self_ (*recorder_os_own_(0))
#define recorder_thread_kept_ (*recorder_os_own_(1))
RECORDER_ASSERT_(RECORDER_OS_SHARED_ == RECORDER_THREAD_SHARED,
                 "a number that threads share");
#else
extern RECORDER_PROGRAM_ __thread unsigned recorder_thread_self_
    RECORDER_THREAD_LOCAL_;
__thread unsigned recorder_thread_self_ RECORDER_THREAD_LOCAL_ = 0;
extern RECORDER_PROGRAM_ __thread unsigned recorder_thread_kept_
    RECORDER_THREAD_LOCAL_;
__thread unsigned recorder_thread_kept_ RECORDER_THREAD_LOCAL_ = 0;
#endif

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
 * RECORDER_THREAD_SHARED if there is none. The search continues after the last
 * row found: later rows have been dead for longest, and earlier threads need no
 * second check. */
RECORDER_SELDOM_ unsigned
recorder_thread_reuse_(const struct recorder_registry *registry)
{
    static uintptr_t recorder_row_next_;
    uintptr_t max = recorder_get_(&registry->threads_max), tries;
    for (tries = 0; tries < max; tries++) {
        unsigned i = (unsigned)(recorder_add_(&recorder_row_next_, 1) % max);
        struct recorder_thread_row *row = &recorder_thread_rows_()[i];
        uint16_t state = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE);
        if (state != RECORDER_ROW_DEAD_ &&
            !(state == RECORDER_ROW_ALIVE_ &&
              recorder_thread_ended_(
                  (uintptr_t)__atomic_load_n(&row->id, __ATOMIC_RELAXED))))
            continue;
        if (!recorder_row_take_(row, state))
            continue;
        /* A living thread may have taken it between the look and the swap. */
        if (state == RECORDER_ROW_DEAD_ ||
            recorder_thread_ended_((uintptr_t)row->id))
            return i + 1;
        __atomic_store_n(&row->state, RECORDER_ROW_ALIVE_, __ATOMIC_RELEASE);
    }
    return RECORDER_THREAD_SHARED;
}

/* Maps a table, unless another thread has. Returns it; null if memory is
 * exhausted. Its pages are allocated at their first use. */
RECORDER_INLINE_ void *recorder_map_once_(void *where, size_t bytes)
{
    typedef void *__attribute__((may_alias)) any;
    any *at = (any *)where;
    void *table = __atomic_load_n(at, __ATOMIC_ACQUIRE), *mine;
    if (table)
        return table;
    mine = recorder_os_memory_(bytes);
    if (!mine ||
        __atomic_compare_exchange_n(at, &table, mine, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return mine;
    recorder_os_unmap_(mine, bytes);
    return table;
}

/* Claims a row for a new thread or task. Returns its number, or
 * RECORDER_THREAD_SHARED if the table is full or there is no memory for it. */
RECORDER_SELDOM_ unsigned
recorder_row_claim_(struct recorder_registry *registry)
{
    uintptr_t max;
    unsigned number = RECORDER_THREAD_SHARED;
    if (!__atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE))
        recorder_put_(&registry->threads_max, RECORDER_THREADS);
    if (!recorder_map_once_(&registry->threads,
                            RECORDER_THREADS *
                                sizeof(struct recorder_thread_row)))
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
    struct recorder_thread_row *row = &recorder_thread_rows_()[number - 1];
    __atomic_store_n(&row->id, id, __ATOMIC_RELAXED);
    recorder_put_(&row->first, recorder_order_now_());
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

/* Gives an unused row back, or says that it is its thread's. */
RECORDER_SELDOM_ void recorder_thread_settle_row_(unsigned number, bool back)
{
    struct recorder_thread_row *row = &recorder_thread_rows_()[number - 1];
    if (back)
        __atomic_store_n(&row->id, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&row->state,
                     (uint16_t)(back ? RECORDER_ROW_DEAD_ : RECORDER_ROW_ALIVE_),
                     __ATOMIC_RELEASE);
}

/* Returns the row that kernel.h made for a thread that had not recorded; 0:
 * none. */
RECORDER_SELDOM_ unsigned recorder_thread_claim_(int32_t id)
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
 * kernel.h may have made a row since the first: see recorder_kernel_row_().
 * Until then its own row does not count as the thread's. */
RECORDER_FUNCTION_ unsigned recorder_thread_take_row_(void)
{
    int32_t id = recorder_os_thread_();
    unsigned claimed = recorder_thread_claim_(id), number;
    char name[16] = "";
    if (claimed)
        return claimed;
    recorder_os_get_thread_name_(name);
    number = recorder_thread_take_row_of_(id, name, RECORDER_ROW_TAKEN_);
    claimed = recorder_thread_claim_(id);
    if (number != RECORDER_THREAD_SHARED)
        recorder_thread_settle_row_(number, claimed != 0);
    return claimed ? claimed : number;
}

/* Returns the owners of lanes; null if there is no memory. */
RECORDER_SELDOM_ struct recorder_owner *
recorder_thread_owners_(struct recorder_registry *registry)
{
    return (struct recorder_owner *)recorder_map_once_(
        &registry->owners,
        RECORDER_OWNERS_MAX_ * sizeof(struct recorder_owner));
}
/* Takes one of the lanes from `first` up to `end`, as in a writer's word. */
RECORDER_SELDOM_ unsigned
recorder_thread_try_lanes_(uintptr_t first, uintptr_t end, uintptr_t me)
{
    struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t count = end - first, tries;
    struct recorder_owner *owners;
    if (count == 0)
        return 0;
    owners = recorder_thread_owners_(registry);
    for (tries = 0; owners && tries < count && tries < RECORDER_OWNERS_TRIED_;
         tries++) {
        uintptr_t lane =
            first + recorder_add_(&registry->owners_next, 1) % count;
        if (recorder_owner_take_(&owners[lane].id, me, recorder_thread_ended_))
            return (unsigned)lane << RECORDER_WRITER_LANE_;
    }
    return 0;
}

/* Takes a lane for the calling thread, or the one that it kept over fork().
 * Returns it as in a writer's word, 0 if it found none that is free.
 * A child of vfork(), or of a clone() that runs no handlers, gets none: it may
 * share this memory, and does not see which of its threads have ended. */
RECORDER_SELDOM_ unsigned recorder_thread_take_lane_(unsigned kept)
{
    struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t me = (uintptr_t)recorder_os_thread_();
    uintptr_t most = recorder_get_(&registry->lanes_most);
    if (kept) {
        recorder_put_(&registry->owners[recorder_writer_lane_(kept)].id, me);
        return kept;
    }
    if (most > RECORDER_OWNERS_MAX_)
        most = RECORDER_OWNERS_MAX_;
    if (registry->pid != recorder_os_process_())
        return 0;
    /* Orders by the clock distinguish the first lanes only: threads take those
     * first, and a lane that no recorder has still gives orders. */
    if (recorder_order_is_clocked_()) {
        uintptr_t apart = RECORDER_UNIT_LANES_;
        uintptr_t first = most < apart ? most : apart;
        unsigned lane = recorder_thread_try_lanes_(1, first, me);
        return lane ? lane
                    : recorder_thread_try_lanes_(
                          first, most < apart ? apart : most, me);
    }
    return recorder_thread_try_lanes_(1, most, me);
}

/* Returns the calling thread's word, by the module that started first: a
 * preloaded library, else the program. All others ask it, since each module has
 * its own `recorder_thread_self_` if the program exports no symbols. */
RECORDER_SELDOM_ unsigned
recorder_thread_ask_(struct recorder_registry *registry)
{
    unsigned (*thread)(void) = NULL, (*lane)(unsigned), self;
    __atomic_fetch_add(&registry->readers, 1, __ATOMIC_SEQ_CST);
    if (!recorder_home_.numbers)
        thread = __atomic_load_n(&registry->thread, __ATOMIC_SEQ_CST);
    if (thread)
        self = thread();
    else {
        self = recorder_thread_self_; /* its lane is kept over fork() */
        lane = __atomic_load_n(&registry->lane, __ATOMIC_SEQ_CST);
        if (!self && lane)
            self = lane(0);
        self |= recorder_thread_take_row_();
    }
    __atomic_fetch_sub(&registry->readers, 1, __ATOMIC_SEQ_CST);
    return self;
}

RECORDER_APART_ unsigned recorder_thread_enter_(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    int *error = recorder_os_errno_(), kept = *error;
    unsigned self = recorder_thread_ask_(registry);
    unsigned number = recorder_writer_thread_(self);
    if (recorder_writer_thread_(recorder_thread_self_) == 0)
        recorder_thread_self_ = self;
    else if (number != recorder_writer_thread_(recorder_thread_self_) &&
             number != RECORDER_THREAD_SHARED)
        /* A handler came in between and took a row: ours is free again. */
        recorder_thread_rows_()[number - 1].state = RECORDER_ROW_DEAD_;
    *error = kept;
    return recorder_thread_self_;
}

/* Returns the calling thread's number and lane. */
RECORDER_INLINE_ unsigned recorder_self_(void)
{
    unsigned self = recorder_thread_self_;
    return RECORDER_UNLIKELY_(recorder_writer_thread_(self) == 0)
               ? recorder_thread_enter_()
               : self;
}
RECORDER_SELDOM_ unsigned recorder_thread_here_(void)
{
    return recorder_self_();
}
#else
RECORDER_INLINE_ unsigned recorder_self_(void)
{
    return RECORDER_THREAD();
}
#endif

/* Sets the calling thread's name, of which 15 bytes are kept. */
RECORDER_CALLED_ void recorder_thread_name(const char *name)
{
    unsigned number = RECORDER_THREAD();
    struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_thread_row *row;
    if (number == 0 || number > recorder_get_(&registry->threads_max))
        return;
    row = &recorder_thread_rows_()[number - 1];
    __atomic_store_n(&row->named, 1, __ATOMIC_RELAXED);
    recorder_thread_set_name_(row, name);
}

RECORDER_C_END_
#endif
