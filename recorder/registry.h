/* registry.h - recorders enter the registry, leave it, and are listed. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_REGISTRY_H_
#define RECORDER_REGISTRY_H_

#include "clock.h"
#include "threads.h"

RECORDER_C_BEGIN_

/* -------------------------------------------------------------- registry --
 *
 * A recorder enters the registry in a constructor, before any of the program's
 * own, and leaves it in a destructor when its library is closed. The loader
 * runs constructors and destructors one at a time: only readers are concurrent
 * with them.
 */
#ifdef RECORDER_HOSTED_
/* Returns a number that grows when a library is opened or closed. */
RECORDER_SELDOM_ uintptr_t recorder_lives_changed_(void)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    return registry->lives
               ? __atomic_load_n(&registry->lives_changes, __ATOMIC_SEQ_CST)
               : 0;
}

/* False if the bytes at an address belong to another library than at the time
 * of this record. */
RECORDER_SELDOM_ bool recorder_life_is_(uint64_t address, uint64_t order)
{
    const struct recorder_life *lives = recorder_home_.registry->lives;
    uintptr_t last = 0, until = 0;
    bool found = false;
    unsigned i;
    for (i = 0; lives && i < RECORDER_LIVES_; i++) {
        uintptr_t bytes = __atomic_load_n(&lives[i].bytes, __ATOMIC_ACQUIRE);
        uintptr_t from = recorder_get_(&lives[i].from);
        if ((uintptr_t)address - recorder_get_(&lives[i].start) >= bytes ||
            (found && (intptr_t)(from - last) < 0))
            continue;
        found = true;
        last = from;
        until = recorder_get_(&lives[i].until);
    }
    return !found ||
           recorder_life_fits_(last == RECORDER_LIFE_EVER_
                                   ? 0
                                   : (intptr_t)((uintptr_t)order - last),
                               (intptr_t)((uintptr_t)order - until), until == 0,
                               false);
}
#else
RECORDER_INLINE_ uintptr_t recorder_lives_changed_(void)
{
    return 0;
}
RECORDER_INLINE_ bool recorder_life_is_(uint64_t address, uint64_t order)
{
    (void)address, (void)order;
    return true;
}
#endif

#if defined(RECORDER_IN_LIBRARY_) && defined(RECORDER_LINUX_)
/* The linker's: the ELF header of this library. */
extern const char recorder_image_[] __asm__("__ehdr_start")
    __attribute__((visibility("hidden")));

/* Returns how many bytes the segments of this library take. */
RECORDER_SELDOM_ uintptr_t recorder_image_bytes_(void)
{
    struct recorder_os_headers_ headers =
        recorder_os_headers_of_(recorder_image_);
    struct recorder_os_segment_ segment;
    uintptr_t bytes = 0;
    while (recorder_os_next_segment_(&headers, &segment))
        if (segment.at + segment.bytes - headers.bias > bytes)
            bytes = segment.at + segment.bytes - headers.bias;
    return bytes;
}

/* Returns a row for a new life: a free one, else the row of the library that
 * was closed first; null: all are open. */
RECORDER_SELDOM_ struct recorder_life *
recorder_life_row_(struct recorder_life *lives)
{
    struct recorder_life *row = NULL;
    unsigned i;
    for (i = 0; i < RECORDER_LIVES_; i++) {
        if (!lives[i].bytes)
            return &lives[i];
        if (lives[i].until &&
            (!row || (intptr_t)(lives[i].until - row->until) < 0))
            row = &lives[i];
    }
    return row;
}

/* Notes that this library is at its addresses from now on, or `ever` since the
 * process began: its functions may have recorded before its constructor. Rows
 * of closed ones that were there become free when its own is in the table. */
RECORDER_SELDOM_ void recorder_life_begin_(bool ever)
{
    struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_life *lives = registry->lives, *row;
    uintptr_t start = (uintptr_t)recorder_image_, from = recorder_order_now_();
    uintptr_t bytes = recorder_image_bytes_();
    unsigned i;
    if (!lives)
        return;
    for (i = 0; i < RECORDER_LIVES_; i++)
        if (lives[i].bytes && lives[i].until &&
            (lives[i].start - start < bytes ||
             start - lives[i].start < lives[i].bytes) &&
            (intptr_t)(lives[i].until - from) > 0)
            from = lives[i].until + 1;
    if (ever)
        from = RECORDER_LIFE_EVER_;
    else if (from == RECORDER_LIFE_EVER_)
        from++;
    row = recorder_life_row_(lives);
    if (!row)
        return;
    __atomic_store_n(&row->bytes, 0, __ATOMIC_SEQ_CST);
    recorder_put_(&row->start, start);
    recorder_put_(&row->from, from);
    recorder_put_(&row->until, 0);
    __atomic_store_n(&row->bytes, bytes, __ATOMIC_SEQ_CST);
    for (i = 0; i < RECORDER_LIVES_; i++)
        if (lives[i].until && lives[i].start - start < bytes &&
            lives[i].start - start + lives[i].bytes <= bytes)
            __atomic_store_n(&lives[i].bytes, 0, __ATOMIC_RELEASE);
    __atomic_fetch_add(&registry->lives_changes, 1, __ATOMIC_SEQ_CST);
}

/* Notes that this library is about to be closed. */
RECORDER_SELDOM_ void recorder_life_end_(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_life *lives = registry->lives;
    uintptr_t end = recorder_order_end_() - 1;
    unsigned i;
    for (i = 0; lives && i < RECORDER_LIVES_; i++)
        if (lives[i].start == (uintptr_t)recorder_image_ && lives[i].bytes &&
            !lives[i].until)
            recorder_put_(&lives[i].until, end ? end : UINTPTR_MAX);
    if (lives)
        __atomic_fetch_add(&registry->lives_changes, 1, __ATOMIC_SEQ_CST);
}
#else
RECORDER_INLINE_ void recorder_life_begin_(bool ever)
{
    (void)ever;
}
RECORDER_INLINE_ void recorder_life_end_(void)
{
}
#endif

#ifdef RECORDER_HOSTED_
/* Runs before fork(): for recordings; and the child may share the memory of a
 * recording until its handler runs, so that a signal handler that records there
 * must not take its lane for its own. */
RECORDER_SELDOM_ void recorder_forks_(void)
{
    unsigned number = recorder_writer_thread_(recorder_thread_self_);
    recorder_file_tell_(RECORDER_FILE_FORKS_, NULL);
    recorder_thread_kept_ = recorder_thread_self_ - number;
    recorder_thread_self_ = number;
}
/* Runs in the parent after fork(). */
RECORDER_SELDOM_ void recorder_has_forked_(void)
{
    recorder_thread_self_ |= recorder_thread_kept_;
}
/* Runs in the child of fork(). Its one thread takes a new row at its next
 * record; the rows of the parent's threads stay, dead, for the records they
 * made. Tasks are memory, and so the child's, too. */
RECORDER_SELDOM_ void recorder_forked_(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t i, rows;
    recorder_thread_self_ = recorder_thread_kept_;
    if (registry->pid == recorder_os_process_())
        return;         /* another module's handler has done all this */
    if (registry->file) /* first: the lines below must not write to its file */
        registry->file(RECORDER_FILE_FORKED_, NULL);
    /* Later rows are free: reading them would fault a page in for each page. */
    rows = registry->threads_count < registry->threads_max
               ? registry->threads_count
               : registry->threads_max;
    for (i = 0; i < rows; i++) {
        struct recorder_thread_row *row = &registry->threads[i];
        if (row->state != RECORDER_ROW_FREE_ &&
            row->state != RECORDER_ROW_TASK_)
            row->state = RECORDER_ROW_DEAD_;
    }
    /* The thread keeps its lane: fork() may have been called by a handler that
     * interrupted a record, which continues there. Other owners have ended. */
    if (registry->lane) /* takes no other while `pid` is the parent's */
        registry->lane(recorder_thread_self_);
    registry->readers = 0;
    registry->dumping = 0; /* the thread that dumped is the parent's */
    registry->pid = recorder_os_process_();
}

/* Finds the main program's registry by its magic in the program's data: a
 * program that does not export its symbols hides it from the libraries that it
 * opens. Returns `own` where that is the program's, or where there is none. */
__attribute__((no_sanitize("address")))
RECORDER_SELDOM_ struct recorder_registry *
recorder_of_program_(struct recorder_registry *own)
{
    struct recorder_os_headers_ headers;
    struct recorder_os_segment_ data;
    if (!RECORDER_LIBRARY_)
        return own;
    headers = recorder_os_headers_open_();
    while (recorder_os_next_segment_(&headers, &data)) {
        uintptr_t at = (data.at + RECORDER_CACHE_LINE - 1) &
                       ~(uintptr_t)(RECORDER_CACHE_LINE - 1);
        if (!data.writable)
            continue;
        if ((uintptr_t)own - data.at < data.bytes)
            return own;
        for (; at + sizeof *own <= data.at + data.file_bytes;
             at += RECORDER_CACHE_LINE) {
            struct recorder_registry *r = (struct recorder_registry *)at;
            if (r->self == r &&
                (r->layout == RECORDER_LAYOUT ||
                 r->layout == RECORDER_LAYOUT_CLOCKED_) &&
                __builtin_memcmp(r->magic, own->magic, sizeof r->magic) == 0)
                return r;
        }
    }
    return own;
}
/* Returns true where this module is the program, which is never closed. */
RECORDER_SELDOM_ bool recorder_is_in_program_(void)
{
    struct recorder_os_headers_ headers;
    struct recorder_os_segment_ segment;
    if (!RECORDER_LIBRARY_)
        return true;
    headers = recorder_os_headers_open_();
    while (recorder_os_next_segment_(&headers, &segment))
        if ((uintptr_t)&recorder_home_ - segment.at < segment.bytes)
            return true;
    return false;
}

/* Chooses how orders are given, or finds how they are. `first`: no module has
 * started before. */
RECORDER_INLINE_ void recorder_start_order_(struct recorder_registry *registry,
                                            bool first)
{
#ifdef RECORDER_CLOCKED_
    static uintptr_t counter = 0; /* of a program that is older than orders by
                                   * the clock */
    uintptr_t *clocked = recorder_order_clocked_(registry);
    recorder_order_until_ = clocked ? clocked : &counter;
    if (&recorder_order_counts_)
        recorder_order_count_(registry);
    if (!clocked || recorder_get_(clocked) != 0)
        return;
    if (!first || &recorder_order_counts_)
        recorder_put_(clocked, RECORDER_CLOCKED_NOT_ALL_);
    else if (!recorder_order_is_trusted_() ||
             !recorder_thread_owners_(registry))
        recorder_put_(clocked, RECORDER_CLOCKED_NOT_TRUSTED_);
    else {
        registry->layout = RECORDER_LAYOUT_CLOCKED_;
        registry->lane = recorder_thread_take_lane_;
        recorder_put_(clocked, UINTPTR_MAX);
    }
#elif defined(RECORDER_ORDER_CHOICE_)
    recorder_order_count_(registry);
    (void)first;
#elif defined(RECORDER_CLOCK_ORDER)
    if (first)
        registry->clocked = RECORDER_CLOCKED_NOT_TRUSTED_;
#else
    (void)registry, (void)first;
#endif
}

/* Starts this module, once: finds the registry, and starts the registry if no
 * module has. */
RECORDER_SELDOM_ void recorder_start_(void)
{
    struct recorder_registry *registry;
    bool first;
    if (recorder_home_.started)
        return;
    recorder_home_.started = true;
    registry = recorder_of_program_(&recorder_registry);
    recorder_home_.order = registry->order;
    recorder_home_.registry = registry;
    first = !registry->start.monotonic_ns;
    if (first)
        recorder_now_(&registry->start);
    recorder_start_order_(registry, first);
    recorder_time_(); /* notes the first wrap */
    registry->pid = recorder_os_process_();
    if (!registry->program)
        registry->program = recorder_os_program_();
    if (!registry->thread) {
        recorder_home_.numbers = true;
        registry->thread = recorder_thread_here_;
    }
    recorder_os_at_fork_(recorder_forks_, recorder_has_forked_,
                         recorder_forked_);
    /* before a file shows the library's words */
    recorder_life_begin_(first || RECORDER_PRELOADED_);
    recorder_file_tell_(RECORDER_FILE_MODULE_, &recorder_home_);
}
#else
RECORDER_INLINE_ void recorder_start_(void)
{
}
#endif

/* Adds a recorder to the list. Returns false if it was there already. */
__attribute__((cold)) RECORDER_CALLED_ bool
recorder_enter(struct recorder *recorder)
{
    struct recorder **link;
    recorder_start_();
    for (link = &recorder_home_.registry->first; *link; link = &(*link)->next)
        if (*link == recorder) /* two libraries define this recorder */
            return false;
    recorder->next = NULL;
    __atomic_store_n(link, recorder, __ATOMIC_RELEASE);
    recorder_file_tell_(RECORDER_FILE_ENTERED_, recorder);
    return true;
}

#ifdef RECORDER_HOSTED_
/* The same for a recorder of several lanes: from now on threads take them. */
__attribute__((cold)) RECORDER_CALLED_ bool
recorder_enter_lanes_(struct recorder *recorder)
{
    struct recorder_registry *registry;
    recorder_start_();
    registry = recorder_home_.registry;
    if (recorder->lanes_mask >= recorder_get_(&registry->lanes_most))
        recorder_put_(&registry->lanes_most, recorder->lanes_mask + 1);
    if (!registry->lane)
        __atomic_store_n(&registry->lane, &recorder_thread_take_lane_,
                         __ATOMIC_SEQ_CST);
    return recorder_enter(recorder);
}
#else
RECORDER_CALLED_ bool recorder_enter_lanes_(struct recorder *recorder)
{
    return recorder_enter(recorder);
}
#endif

RECORDER_CALLED_ void recorder_tweak_enter_(struct recorder_tweak *tweak)
{
    struct recorder_tweak **link;
    recorder_start_();
    for (link = &recorder_home_.registry->tweaks; *link; link = &(*link)->next)
        if (*link == tweak)
            return;
    tweak->next = NULL;
    __atomic_store_n(link, tweak, __ATOMIC_RELEASE);
}

/* Waits for a grace period: until no reader can hold an element that was taken
 * out of a list. Read-side sections last microseconds. After a second it
 * returns anyway, since a reader may have died in one. */
RECORDER_IF_CALLED_ void recorder_readers_wait_(void)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    uint64_t start = recorder_clock_ns_(RECORDER_MONOTONIC_);
    while (__atomic_load_n(&registry->readers, __ATOMIC_SEQ_CST) != 0 &&
           recorder_clock_ns_(RECORDER_MONOTONIC_) - start < 1000000000u)
        recorder_os_yield_();
}
/* Takes a recorder out of the list, before its memory goes away. */
RECORDER_CALLED_ void recorder_leave(struct recorder *recorder)
{
    struct recorder **link = &recorder_home_.registry->first;
    while (*link && *link != recorder)
        link = &(*link)->next;
    if (!*link)
        return;
    __atomic_store_n(link, recorder->next, __ATOMIC_SEQ_CST);
    recorder_readers_wait_();
}
RECORDER_CALLED_ void recorder_tweak_leave_(struct recorder_tweak *tweak)
{
    struct recorder_tweak **link = &recorder_home_.registry->tweaks;
    while (*link && *link != tweak)
        link = &(*link)->next;
    if (!*link)
        return;
    __atomic_store_n(link, tweak->next, __ATOMIC_SEQ_CST);
    recorder_readers_wait_();
}

#ifdef RECORDER_HOSTED_
/* Starts a module that defines no recorder, too: it may use others'. */
RECORDER_AT_OPEN_(101) recorder_start_library_(void)
{
    recorder_start_();
}
/* Takes out the functions that number threads and give them lanes, if they are
 * this library's. */
RECORDER_AT_CLOSE_(101) recorder_stop_library_(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    bool numbers = recorder_home_.numbers && registry->thread;
    bool lanes = registry->lane == recorder_thread_take_lane_;
    if (numbers)
        __atomic_store_n(&registry->thread, NULL, __ATOMIC_SEQ_CST);
    if (lanes)
        __atomic_store_n(&registry->lane, NULL, __ATOMIC_SEQ_CST);
    recorder_life_end_();
    if (numbers || lanes)
        recorder_readers_wait_();
}
#endif

/* Changes a recorder's trace if it is still *seen. Returns false, with the new
 * trace in *seen, if another thread changed it. */
RECORDER_INLINE_ bool recorder_trace_swap_(struct recorder *recorder,
                                           intptr_t *seen, int64_t trace)
{
    uintptr_t was = (uintptr_t)*seen;
    bool done = recorder_swap_((uintptr_t *)(void *)&recorder->trace, &was,
                               (uintptr_t)trace);
    *seen = (intptr_t)was;
    return done;
}

/* Enters a read-side section, and returns the list's first recorder. Until
 * recorder_readers_leave_(), no library that holds recorders is unmapped. The
 * caller must not wait in between: a library that is closed waits for it. */
RECORDER_FUNCTION_ struct recorder *recorder_readers_enter_(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    if (RECORDER_OS_UNLOADS_)
        __atomic_fetch_add(&registry->readers, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&registry->first, RECORDER_OS_UNLOADS_
                                                 ? __ATOMIC_SEQ_CST
                                                 : __ATOMIC_ACQUIRE);
}
RECORDER_FUNCTION_ void recorder_readers_leave_(void)
{
    if (RECORDER_OS_UNLOADS_)
        __atomic_fetch_sub(&recorder_home_.registry->readers, 1,
                           __ATOMIC_SEQ_CST);
}
RECORDER_INLINE_ struct recorder *
recorder_list_next_(const struct recorder *recorder)
{
    return __atomic_load_n(&recorder->next, __ATOMIC_ACQUIRE);
}

/* A dump's way through the list. A program that crashes may have overwritten
 * the list: a circle ends, and recorders whose sizes do not fit each other are
 * passed over. */
struct recorder_walk_ {
    const struct recorder *next;
    size_t left, length; /* how many recorders follow at most, and there are */
};
/* Returns how many different recorders the list has, by Brent's algorithm:
 * `mark` waits at each power of two for `at` to come round. */
RECORDER_SELDOM_ size_t recorder_list_length_(const struct recorder *first)
{
    const struct recorder *at = first, *mark = NULL;
    size_t steps = 0, marked = 0, circle;
    for (; at && at != mark; at = recorder_list_next_(at), steps++)
        if ((steps & (steps - 1)) == 0) {
            mark = at;
            marked = steps;
        }
    if (!at)
        return steps;
    circle = steps - marked;
    for (at = first; marked < steps; marked++)
        at = recorder_list_next_(at);
    for (steps = circle, mark = first; mark != at; steps++) {
        mark = recorder_list_next_(mark);
        at = recorder_list_next_(at);
    }
    return steps;
}
/* False if a recorder was overwritten: its sizes contradict each other. */
RECORDER_SELDOM_ bool recorder_is_sound_(const struct recorder *r)
{
    uintptr_t slots = r->mask + 1, lanes = r->lanes_mask + 1;
    uintptr_t ring = sizeof(struct recorder_ring) +
                     slots * RECORDER_SLOT_WORDS_ * sizeof(uintptr_t);
    return r->rings && (uintptr_t)r->rings % sizeof(uintptr_t) == 0 &&
           r->mask < (uintptr_t)RECORDER_SIZE_MAX_ && !(slots & r->mask) &&
           r->lanes_mask < 65536 && !(lanes & r->lanes_mask) &&
           r->ring_bytes - ring < RECORDER_RING_ALIGN_;
}
RECORDER_SELDOM_ const struct recorder *
recorder_walk_next_(struct recorder_walk_ *walk)
{
    const struct recorder *recorder;
    while (walk->left && walk->next) { /* a library left the list */
        recorder = walk->next;
        walk->next = recorder_list_next_(recorder);
        walk->left--;
        if (recorder_is_sound_(recorder))
            return recorder;
    }
    return NULL;
}
/* Enters a read-side section, and returns the first recorder, or null. */
RECORDER_SELDOM_ const struct recorder *
recorder_walk_begin_(struct recorder_walk_ *walk)
{
    walk->next = recorder_readers_enter_();
    walk->left = walk->length = recorder_list_length_(walk->next);
    return recorder_walk_next_(walk);
}

RECORDER_C_END_
#endif
