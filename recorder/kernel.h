/* kernel.h - records the context switches that the kernel's rings hold. */
/* SPDX-License-Identifier: MIT */
/*
    The kernel writes a ring for each processor, downwards: `head` is the place of
    its newest switch, and falls by one switch at a time. A ring is read at a
    dump or another request only: then the switches from `done` down to `head`
    are recorded, of all rings by ascending time, and `done` becomes that head.

        address ──► page    head                        done
                            │ newest ... oldest new one │ poured before
        data   ... ─────────┴───────────────────────────┴──────────── ...
                  ◄── the kernel writes this way, and over the oldest

    A switch is copied, and counts if the head, read again after a fence, says
    that the kernel has not come round to it. All other switches between `done`
    and the head count as overwritten: poured + overwritten is the number of all
    switches. Dumps and tools show them as LOST.
*/
#ifndef RECORDER_KERNEL_H_
#define RECORDER_KERNEL_H_

#include "arguments.h"
#include "define.h"
#include "os_linux_kernel.h"
#include "record.h"
#include "registry.h"

RECORDER_C_BEGIN_

/* -------------------------------------------------------------- recorder -- */

/* The recorder `switches`, weak: a program may define one elsewhere. */
#ifndef RECORDER_KERNEL_SLOTS
#define RECORDER_KERNEL_SLOTS 8192
#endif
RECORDER_ASSERT_(RECORDER_KERNEL_SLOTS >= 4 &&
                     RECORDER_KERNEL_SLOTS <= RECORDER_SIZE_MAX_,
                 "RECORDER_KERNEL_SLOTS: at least 4, at most 2^30 (32-bit: "
                 "2^16)");
struct recorder_kernel_slots_ {
    struct recorder_ring ring;
    struct recorder_record records[RECORDER_SLOTS_(RECORDER_KERNEL_SLOTS)];
    uintptr_t commit[RECORDER_SLOTS_(RECORDER_KERNEL_SLOTS)];
    struct recorder_turn turns[RECORDER_SLOTS_(RECORDER_KERNEL_SLOTS)];
} __attribute__((aligned(RECORDER_RING_ALIGN_)));
static struct recorder_kernel_slots_ recorder_kernel_slots_;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls" /* recorder_switch.h */
#ifdef __cplusplus
extern "C++" { /* as RECORDER_DECLARE() says */
#endif
extern RECORDER_PROGRAM_ struct recorder recorder_for_switches;
struct recorder recorder_for_switches =
    RECORDER_INIT_("switches", "Switches of threads, by the kernel",
                   &recorder_kernel_slots_.ring, sizeof recorder_kernel_slots_,
                   RECORDER_SLOTS_(RECORDER_KERNEL_SLOTS), 1);
#ifdef __cplusplus
}
#endif
#pragma GCC diagnostic pop
RECORDER_UNSEEN_ __attribute__((constructor(101))) static void
recorder_enter_switches_(void)
{
    recorder_enter(&recorder_for_switches);
}

/* ----------------------------------------------------------------- state -- */

enum {
    RECORDER_KERNEL_KNOWN_ = 256,  /* threads that are found at once */
    RECORDER_KERNEL_FAULTS_ = 32,  /* page faults of memory for each record */
    RECORDER_KERNEL_IN_FLIGHT_ = 2 /* switches that the kernel may be writing */
};
/* The events of RECORDER_SWITCHES=64,why. They have separate rings, after the
 * rings of switches: neither overwrites the other's records. */
enum {
    RECORDER_KERNEL_MEMORY_, /* page faults without a disk */
    RECORDER_KERNEL_DISK_,
    RECORDER_KERNEL_STOP_, /* precedes its switch */
    RECORDER_KERNEL_OTHERS_
};
/* A ring, and how far a pour that is under way has come. */
struct recorder_kernel_ring_ {
    struct recorder_kernel_ring shown;
    uint64_t ids[RECORDER_KERNEL_OTHERS_]; /* of its events; 0: none */
    uintptr_t next, end; /* of this pour: the next, and the newest */
    struct recorder_perf_switch_ at; /* the next, copied */
    bool more;
};
struct recorder_kernel_ {
    struct recorder_kernel_rings shown;
    struct recorder_kernel_ring_ *rings;
    uintptr_t rings_count; /* shown.count, of switches, and of other events */
    intptr_t pid;          /* whose rings these are; 0: there are none */
    int32_t pouring;       /* id of the thread that pours; 0: none does */
    uint64_t ticks_per_ns; /* in 1/2^32, as measured over 100 ms or more */
    struct {
        int32_t id;
        unsigned number;
        bool stops; /* its next switch is a stop */
    } known[RECORDER_KERNEL_KNOWN_];
    /* A bit for each row that a pour made and whose thread did not claim it. */
    uintptr_t made[RECORDER_THREADS / RECORDER_WORD_BITS_ + 1];
    /* The settings with which it was opened, for the child of fork(). */
    unsigned kib, ms;
    int32_t *extra; /* descriptors for threads that were there before */
    uintptr_t extra_count;
    uintptr_t thread;  /* that pours; 0: none */
    uintptr_t closing; /* the thread is to end */
    bool asked, forks, others;
};
RECORDER_PROGRAM_ struct recorder_kernel_ recorder_kernel_;

/* ------------------------------------------------------------------ time -- */

/* Opens a clock that makes ticks of RAW, around now. Its rate is measured since
 * the rings were opened; but if the machine slept in between, when ticks may
 * run and RAW does not, the rate measured before. */
RECORDER_FUNCTION_ void recorder_kernel_clock_(struct recorder_kernel_ *k,
                                               struct recorder_clock_ *clock)
{
    struct recorder_moment now = recorder_raw_now_(), from, to;
    struct recorder_clock_ known = {{0, 0, 0}, 0};
    from.ticks = k->shown.opened_ns; /* they change places */
    from.monotonic_ns = k->shown.opened_ticks;
    to.ticks = now.monotonic_ns;
    to.monotonic_ns = now.ticks;
    from.realtime_ns = to.realtime_ns = 0;
    recorder_clock_set_(clock, &from, &to);
    clock->start = to;
    known.ns_per_tick = k->ticks_per_ns;
    if (known.ns_per_tick && !recorder_clock_agrees_(clock, &known, 1000)) {
        clock->ns_per_tick = known.ns_per_tick;
        k->shown.opened_ticks = now.ticks;
        k->shown.opened_ns = now.monotonic_ns;
    } else if (to.ticks - from.ticks >= 100000000u) {
        k->ticks_per_ns = clock->ns_per_tick;
    }
}

/* Returns the ticks of a moment of RAW. */
RECORDER_INLINE_ uint64_t
recorder_kernel_ticks_(const struct recorder_clock_ *clock, uint64_t ns)
{
    int64_t ticks = recorder_clock_time_(clock, ns);
    return clock->start.monotonic_ns +
           (ticks == RECORDER_TIME_UNKNOWN_ ? 0 : (uint64_t)ticks);
}

/* --------------------------------------------------------------- threads -- */

/* The place of a row's mark for "made by a pour". */
RECORDER_INLINE_ uintptr_t *recorder_kernel_made_(unsigned number)
{
    return &recorder_kernel_.made[(number - 1) / RECORDER_WORD_BITS_];
}
RECORDER_INLINE_ uintptr_t recorder_kernel_bit_(unsigned number)
{
    return (uintptr_t)1 << (number - 1) % RECORDER_WORD_BITS_;
}

/* Returns the row of a thread in a state from `first` to `last`, one with a mark
 * or else the newest; 0: none. */
RECORDER_SELDOM_ unsigned recorder_kernel_find_(int32_t id, unsigned first,
                                                unsigned last, unsigned except)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    const struct recorder_thread_row *rows =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    uintptr_t i = recorder_get_(&registry->threads_count);
    unsigned found = 0;
    if (!rows)
        return 0;
    if (i > recorder_get_(&registry->threads_max))
        i = recorder_get_(&registry->threads_max);
    if (i > RECORDER_THREADS) /* of a table that another module made */
        i = RECORDER_THREADS;
    for (; i > 0; i--) {
        unsigned number = (unsigned)i;
        unsigned state = __atomic_load_n(&rows[i - 1].state, __ATOMIC_SEQ_CST);
        if (state < first || state > last ||
            __atomic_load_n(&rows[i - 1].id, __ATOMIC_RELAXED) != id ||
            number == except)
            continue;
        if (__atomic_load_n(recorder_kernel_made_(number), __ATOMIC_SEQ_CST) &
            recorder_kernel_bit_(number))
            return number;
        found = found ? found : number;
    }
    return found;
}

/* Takes off the mark that a pour made a row; false: there is none. */
RECORDER_SELDOM_ bool recorder_kernel_unmark_(unsigned number)
{
    uintptr_t bit = recorder_kernel_bit_(number);
    return __atomic_fetch_and(recorder_kernel_made_(number), ~bit,
                              __ATOMIC_SEQ_CST) &
           bit;
}

/* The registry's `claim`: gives the calling thread the row that a pour made for
 * it; 0: there is none. */
RECORDER_SELDOM_ unsigned recorder_kernel_claim_(int32_t id)
{
    unsigned number = recorder_kernel_find_(id, RECORDER_ROW_ALIVE_,
                                            RECORDER_ROW_ALIVE_, 0);
    return number && recorder_kernel_unmark_(number) ? number : 0;
}

/* Makes a row for a thread that has not recorded. The thread may take one at
 * the same time: it publishes its row as taken, then looks for ours; we publish
 * ours, then look for its. At least one of us finds the other's, and the one
 * that removes the mark decides: the thread continues with our row, or we with
 * its row, which is alive only after that. */
RECORDER_SELDOM_ unsigned recorder_kernel_row_(int32_t id, bool ended)
{
    unsigned number, other;
    char name[16] = "";
    if (!ended && !recorder_os_get_name_of_(id, name))
        ended = true;
    number = recorder_thread_take_row_of_(
        id, name, ended ? RECORDER_ROW_DEAD_ : RECORDER_ROW_ALIVE_);
    if (number > RECORDER_THREADS) /* RECORDER_THREAD_SHARED, or no mark */
        return number;
    if (!ended)
        __atomic_fetch_or(recorder_kernel_made_(number),
                          recorder_kernel_bit_(number), __ATOMIC_SEQ_CST);
    other = recorder_kernel_find_(id, RECORDER_ROW_TAKEN_, RECORDER_ROW_ALIVE_,
                                  number);
    if (!other || (!ended && !recorder_kernel_unmark_(number)))
        return number;
    recorder_thread_settle_row_(number, true);
    return other;
}

/* Returns a thread's number, and makes it a row if it has none. */
RECORDER_FUNCTION_ unsigned recorder_kernel_number_(struct recorder_kernel_ *k,
                                                    int32_t id)
{
    unsigned at = (unsigned)id % RECORDER_KERNEL_KNOWN_;
    unsigned number = k->known[at].number;
    const struct recorder_thread_row *rows = recorder_thread_rows_();
    bool ended;
    if (k->known[at].id == id && number &&
        (number == RECORDER_THREAD_SHARED ||
         __atomic_load_n(&rows[number - 1].id, __ATOMIC_RELAXED) == id))
        return number;
    ended = recorder_os_thread_ended_(recorder_os_process_(), id);
    number = recorder_kernel_find_(id, RECORDER_ROW_ALIVE_, RECORDER_ROW_ALIVE_,
                                   0);
    if (!number && ended) /* else the row belongs to an earlier thread */
        number = recorder_kernel_find_(id, RECORDER_ROW_DEAD_,
                                       RECORDER_ROW_DEAD_, 0);
    if (!number)
        number = recorder_kernel_row_(id, ended);
    k->known[at].id = id;
    k->known[at].number = number;
    k->known[at].stops = false;
    return number;
}

/* ------------------------------------------------------------------ pour -- */

RECORDER_INLINE_ uintptr_t
recorder_kernel_head_(const struct recorder_kernel_ring_ *ring)
{
    const char *page = (const char *)(uintptr_t)ring->shown.address;
    /* Of 64 bits; a word's are enough, as they wrap alike. */
    page += RECORDER_PERF_HEAD_;
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        page += 8 - sizeof(uintptr_t);
    return __atomic_load_n((const uintptr_t *)(const void *)page,
                           __ATOMIC_ACQUIRE);
}

/* Returns how many switches a ring holds that the kernel is not writing. */
RECORDER_INLINE_ uintptr_t
recorder_kernel_room_(const struct recorder_kernel_ *k)
{
    return (uintptr_t)(k->shown.bytes - k->shown.page_bytes) /
               sizeof(struct recorder_perf_switch_) -
           RECORDER_KERNEL_IN_FLIGHT_;
}

/* Counts events of a ring that cannot be recorded. */
RECORDER_INLINE_ void
recorder_kernel_lost_(struct recorder_kernel_ *k,
                      const struct recorder_kernel_ring_ *ring, uintptr_t count)
{
    if (ring < k->rings + k->shown.count)
        k->shown.overwritten += count;
    recorder_add_(&recorder_lane_(&recorder_for_switches, 0)->lost, count);
}

/* Copies the next switch of a ring; skips and counts overwritten ones. `more`
 * becomes false at the newest. */
RECORDER_INLINE_ void recorder_kernel_copy_(struct recorder_kernel_ *k,
                                            struct recorder_kernel_ring_ *ring)
{
    const uintptr_t one = sizeof ring->at;
    const uintptr_t bytes = (uintptr_t)(k->shown.bytes - k->shown.page_bytes);
    const uintptr_t room = recorder_kernel_room_(k) * one;
    const char *data = (const char *)(uintptr_t)ring->shown.address +
                       (uintptr_t)k->shown.page_bytes;
    for (;;) {
        uintptr_t head, oldest;
        ring->more = (intptr_t)(ring->next - ring->end) >= 0;
        if (!ring->more)
            return;
        __builtin_memcpy(&ring->at, data + (ring->next & (bytes - 1)), one);
        recorder_fence_acquire_();
        head = recorder_kernel_head_(ring);
        if (ring->next - head < room)
            return;
        oldest = head + room - one;
        if ((intptr_t)(oldest - ring->end) < 0)
            oldest = ring->end - one;
        recorder_kernel_lost_(k, ring, (ring->next - oldest) / one);
        ring->next = oldest;
        ring->shown.done = ring->next + one;
    }
}

/* Returns the format of a record; 0: it has none. *faults: how many there
 * were. */
RECORDER_INLINE_ uintptr_t recorder_kernel_format_(
    struct recorder_kernel_ *k, const struct recorder_kernel_ring_ *ring,
    const struct recorder_perf_switch_ *at, uintptr_t *faults)
{
    unsigned slot = at->thread % RECORDER_KERNEL_KNOWN_;
    bool stops = k->known[slot].stops;
    if (at->type == RECORDER_PERF_SWITCH_) {
        k->known[slot].stops = false;
        if (!(at->misc & RECORDER_PERF_OUT_))
            return (uintptr_t)k->shown.formats[0];
        if (stops)
            return (uintptr_t)RECORDER_FORMAT_(
                "\1out s\2%.0sthread %d leaves cpu %hhu: stopped");
        return (uintptr_t)
            k->shown.formats[at->misc & RECORDER_PERF_PREEMPTED_ ? 2 : 1];
    }
    if (at->of.id == ring->ids[RECORDER_KERNEL_STOP_])
        k->known[slot].stops = true;
    *faults = at->of.id == ring->ids[RECORDER_KERNEL_DISK_]
                  ? 1
                  : RECORDER_KERNEL_FAULTS_;
    if (*faults == 1)
        return (uintptr_t)RECORDER_FORMAT_(
            "\1faults d\2%.0sthread %d on cpu %hhu: a page came from a file or "
            "a disk");
    return at->of.id == ring->ids[RECORDER_KERNEL_MEMORY_]
               ? (uintptr_t)RECORDER_FORMAT_("\1faults m\2%.0sthread %d on cpu "
                                             "%hhu: %lu page faults of memory")
               : 0;
}

/* Records the copied events of a ring. Returns false if it is none of ours. */
RECORDER_INLINE_ bool
recorder_kernel_record_(struct recorder_kernel_ *k,
                        const struct recorder_kernel_ring_ *from,
                        const struct recorder_clock_ *clock)
{
    const struct recorder_perf_switch_ *at = &from->at;
    const struct recorder *recorder = &recorder_for_switches;
    struct recorder_record r = {0, 0, 0, 0, {0, 0, 0, 0}};
    struct recorder_ring *ring;
    uint64_t ticks;
    unsigned number;
    if (at->type != (from < k->rings + k->shown.count
                         ? RECORDER_PERF_SWITCH_
                         : RECORDER_PERF_SAMPLE_) ||
        at->size != sizeof *at || at->process != (uint32_t)k->pid)
        return false;
    ticks = recorder_kernel_ticks_(clock, at->ns);
    if (sizeof(uintptr_t) < 8 && (clock->start.monotonic_ns - ticks) >> 31) {
        recorder_kernel_lost_(k, from, 1); /* a word cannot hold its time */
        return false;
    }
    number = recorder_kernel_number_(k, (int32_t)at->thread);
    r.format = recorder_kernel_format_(k, from, at, &r.argument[3]);
    if (!r.format)
        return true;
    r.time = (uintptr_t)ticks;
    r.argument[1] = at->thread;
    r.argument[2] = (uintptr_t)(from->shown.cpu < 255 ? from->shown.cpu : 255) |
                    (uintptr_t)number << 8;
    r.order = recorder_order_new_(recorder_time_now_(), 1);
    ring = recorder_lane_(recorder, 0); /* other lanes have owners */
    recorder_write_(ring, recorder->mask, recorder_positions_(ring, 1, number),
                    number, &r, NULL);
    if (__atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) > 0 &&
        recorder_home_.registry->hook)
        recorder_home_.registry->hook(recorder, number, &r, 1);
    k->shown.poured += at->type == RECORDER_PERF_SWITCH_;
    return true;
}

/* Notes how far each ring goes in this pour, and copies its first, if `on`. */
RECORDER_FUNCTION_ void recorder_kernel_begin_(struct recorder_kernel_ *k,
                                               bool on)
{
    const uintptr_t one = sizeof(struct recorder_perf_switch_);
    uint64_t i;
    for (i = 0; i < k->rings_count; i++) {
        struct recorder_kernel_ring_ *ring = &k->rings[i];
        ring->next = (uintptr_t)ring->shown.done - one;
        ring->end = recorder_kernel_head_(ring);
        if (on) /* if not, none is lost */
            recorder_kernel_copy_(k, ring);
    }
}

/* Returns the ring with the oldest switch; null: there is none left. */
RECORDER_INLINE_ struct recorder_kernel_ring_ *
recorder_kernel_oldest_(struct recorder_kernel_ *k)
{
    struct recorder_kernel_ring_ *oldest = NULL;
    uint64_t i;
    for (i = 0; i < k->rings_count; i++)
        if (k->rings[i].more && (!oldest || k->rings[i].at.ns < oldest->at.ns))
            oldest = &k->rings[i];
    return oldest;
}

RECORDER_FUNCTION_ void recorder_kernel_pour_all_(struct recorder_kernel_ *k)
{
    struct recorder_kernel_ring_ *ring;
    struct recorder_clock_ clock;
    uint64_t i;
    bool on =
        __atomic_load_n(&recorder_for_switches.trace, __ATOMIC_RELAXED) >= 0;
    recorder_kernel_begin_(k, on);
    recorder_kernel_clock_(k, &clock);
    recorder_time_(); /* notes a wrap, if one began */
    while (on && (ring = recorder_kernel_oldest_(k)) != NULL) {
        recorder_kernel_record_(k, ring, &clock);
        ring->shown.done = ring->next;
        ring->next -= sizeof ring->at;
        recorder_kernel_copy_(k, ring);
    }
    for (i = 0; i < k->rings_count; i++)
        k->rings[i].shown.done = k->rings[i].end;
}

/* Becomes the only one who pours. Waits for another thread for 100 ms at most;
 * takes over from one that has ended. Returns false if it cannot be. */
RECORDER_FUNCTION_ bool recorder_kernel_enter_(struct recorder_kernel_ *k)
{
    int32_t self = recorder_os_thread_(), other = 0;
    unsigned i;
    for (i = 0; i < 100; i++) {
        if (__atomic_compare_exchange_n(&k->pouring, &other, self, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
        if (other == self)
            return false;
        if (recorder_os_thread_ended_(recorder_os_process_(), other))
            continue;
        other = 0;
        recorder_os_poll_(NULL, 0, 1);
    }
    return false;
}

/* Counts the seqlock on: to an odd number while `done` and records change. */
RECORDER_INLINE_ void recorder_kernel_sequence_(struct recorder_kernel_ *k,
                                                uint64_t odd)
{
    volatile uint64_t *sequence = &k->shown.sequence;
    recorder_fence_release_();
    *sequence = odd ? *sequence | 1 : (*sequence | 1) + 1;
    recorder_fence_release_();
}

/* True if a ring has something new. */
RECORDER_INLINE_ bool recorder_kernel_is_new_(const struct recorder_kernel_ *k)
{
    uint64_t i;
    for (i = 0; i < k->rings_count; i++)
        if (recorder_kernel_head_(&k->rings[i]) !=
            (uintptr_t)k->rings[i].shown.done)
            return true;
    return false;
}

/* The registry's `pour`. Safe in signal handlers; none comes in between. */
RECORDER_SELDOM_ void recorder_kernel_pour_(void)
{
    struct recorder_kernel_ *k = &recorder_kernel_;
    struct recorder_signal_set_ before;
    int *at = recorder_os_errno_(), error = *at;
    if (k->pid != recorder_os_process_() || !recorder_kernel_is_new_(k) ||
        recorder_trace_is_frozen_(
            __atomic_load_n(&recorder_for_switches.trace, __ATOMIC_RELAXED)))
        return;
    recorder_os_block_(&before);
    if (recorder_kernel_enter_(k)) {
        recorder_kernel_sequence_(k, 1);
        recorder_kernel_pour_all_(k);
        recorder_kernel_sequence_(k, 0);
        __atomic_store_n(&k->pouring, 0, __ATOMIC_RELEASE);
    }
    recorder_os_mask_(RECORDER_SIG_SETMASK_, &before, NULL);
    *at = error;
}

RECORDER_C_END_
#endif
