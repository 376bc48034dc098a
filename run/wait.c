/* wait.c - a wait: its kinds, how it begins, how it ends. */
/* SPDX-License-Identifier: MIT */
#include "run.h"

#define GIVEN ", given %u ticks before, first %u"
/* `word` is the kind in events.h; `what` names the second word of a wait and
 * ends in front of "stack": the holder of the mutex, the mutex of a condition,
 * or %.0d, which shows nothing for 0. */
#define KIND(name, word, kind, what, ...)                                      \
    const struct run_kind name = {                                             \
        RUN_FORMAT("begins " word,                                             \
                   ">" kind " %p" what "stack %u, holding %u"),                \
        RUN_FORMAT("waits " word, kind " %p" what "stack %u, until %u"),       \
        RUN_FORMAT("ends " word, "<" kind " %p: %d, by T%u"),                  \
        RUN_FORMAT("ends " word, "<" kind " %p: %d, by T%u, on cpu %u"),       \
        RUN_FORMAT("ends " word, "<" kind " %p: %d, by T%u%.0d" GIVEN),        \
        RUN_FORMAT("ends " word, "<" kind " %p: %d, by T%u, on cpu %u" GIVEN), \
        RUN_FORMAT("total " word, kind " %p: taken %u, waited %u times, %u "   \
                                       "ticks, longest %u from %p" HIGH),      \
        __VA_ARGS__}
/* A wait without and with a limit of time. */
#define KINDS(name, word, kind, what, other, ...)                              \
    KIND(name, word, kind, what ", " other, __VA_ARGS__);                      \
    KIND(name##_until, word " until", kind, what " until, " other, __VA_ARGS__)
/* With words of 4 bytes, the high word of the ticks follows. */
#if __SIZEOF_POINTER__ == 4
#define HIGH "%.0u"
#else
#define HIGH ""
#endif
KIND(run_mutex, "mutex", "mutex", " of %d, ", true, RUN_LAST);
KIND(run_mutex_until, "mutex until", "mutex", " until, of %d, ", true,
     RUN_LAST);
KIND(run_cond, "cond", "cond", " mutex %p, ", false, RUN_EACH);
KIND(run_cond_until, "cond until", "cond", " until, mutex %p, ", false,
     RUN_EACH);
KINDS(run_read, "read", "rwlock", " to read", "writer %d, ", true, RUN_FIRST);
KINDS(run_write, "write", "rwlock", " to write", "writer %d, ", true, RUN_LAST);
KINDS(run_sem, "sem", "sem", "", "%.0d", false, RUN_EACH);
KINDS(run_futex, "futex", "futex", "", "%.0d", false, RUN_LAST);
KINDS(run_join, "thread", "thread", "", "%.0d", false, RUN_LAST);
KIND(run_spin, "spin", "spin", ", %.0d", true, RUN_LAST);
KIND(run_barrier, "barrier", "barrier", ", %.0d", false, RUN_LAST);
KIND(run_once_kind, "once", "once", ", %.0d", true, RUN_LAST);
KIND(run_stream, "stream", "stream", ", %.0d", true, RUN_LAST);

/* Where a wait's end is put: the last word of its record in thread_now. */
static uintptr_t *now_until(const struct run_thread *t)
{
    const struct recorder *r = &recorder_for_thread_now;
    char *ring = (char *)r->rings + (t->lane - 1) * r->ring_bytes;
    return &recorder_records_((struct recorder_ring *)(void *)ring)
                ->argument[3];
}

void run_wait_begin(struct run_wait *wait, struct run_thread *t,
                    const struct run_kind *kind, const volatile void *object,
                    uintptr_t other, struct run_call from)
{
    uintptr_t words[4] = {(uintptr_t)object, other, 0, 0};
    RUN_INSIDE(t);
    run_file_due();
    words[2] = run_stack(from, false);
    wait->thread = t;
    t->waits = true;
    wait->kind = kind;
    wait->address = (uintptr_t)object;
    wait->from = from;
    wait->result = UINTPTR_MAX; /* cancelled, unless the call returns */
    if (kind != &run_join && kind != &run_join_until)
        wait->object =
            run_object_make((uintptr_t)object, kind->total, from.site);
    if (wait->object) {
        wait->gives = recorder_get_(&wait->object->gives);
        recorder_add_(&wait->object->waiters, 1);
    }
    if (kind->lock)
        recorder_add_(&run_waiting, 1);
    run_cell_write(&recorder_for_thread_now, t->lane - 1, kind->now, from.site,
                   words, 1);
    words[3] = t->depth;
    run_record(&recorder_for_lock_wait, kind->begin, from.site, words, 1);
    wait->ticks = recorder_ticks_();
}

/* Adds to a sum of two words, of which on 64 bits one is used. */
static void add_ticks(const struct run_object *o, uint64_t ticks)
{
    uintptr_t low = (uintptr_t)ticks;
    uintptr_t was = recorder_add_(run_object_word(o, 3), low);
    if (sizeof low == 4)
        recorder_add_(run_object_word(o, 6),
                      (uintptr_t)(ticks >> 32) + (was + low < was));
}

static void add_to_total(const struct run_wait *wait, uint64_t ticks)
{
    const struct run_object *o = wait->object;
    uintptr_t *longest = run_object_word(o, 4), was = recorder_get_(longest);
    uintptr_t lasted = ticks > UINTPTR_MAX ? UINTPTR_MAX : (uintptr_t)ticks;
    recorder_add_(run_object_word(o, 2), 1);
    add_ticks(o, ticks);
    while (lasted > was)
        if (__atomic_compare_exchange_n(longest, &was, lasted, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            recorder_put_(run_object_word(o, 5), wait->from.site);
            break;
        }
}

/* Returns the thread that ended a wait, and when the object was first given since
 * the wait began, 0: unknown. */
static struct run_give given_by(const struct run_wait *wait, uintptr_t *first)
{
    struct run_object *o = wait->object;
    const uintptr_t gives = __atomic_load_n(&o->gives, __ATOMIC_ACQUIRE);
    const struct run_give none = {0, 0};
    uintptr_t i = wait->gives, taken;
    if (gives == i)
        return none;
    *first = gives - i <= RUN_GIVES ? o->last[i % RUN_GIVES].time : 0;
    switch (wait->kind->ended_by) {
    case RUN_LAST: i = gives - 1; break;
    case RUN_FIRST: break;
    case RUN_EACH:
        taken = recorder_get_(&o->taken);
        i = taken > i ? taken : i;
        i = i < gives ? i : gives - 1;
        if (wait->result == 0)
            recorder_put_(&o->taken, i + 1);
        break;
    }
    return gives - i <= RUN_GIVES ? o->last[i % RUN_GIVES] : none;
}

void run_wait_end(struct run_wait *wait)
{
    struct run_thread *t = wait->thread;
    struct run_give give = {wait->by, 0};
    uintptr_t now, first = 0, given; /* ticks since the thread acted */
    uint64_t ticks;
    int cpu = run_cpu();
    if (!t)
        return;
    RUN_INSIDE(t);
    t->waits = false;
    now = recorder_time_();
    recorder_put_(now_until(t), now ? now : 1);
    ticks = recorder_ticks_() - wait->ticks;
    if (wait->kind->lock)
        recorder_add_(&run_waiting, (uintptr_t)-1);
    if (wait->object) {
        give = given_by(wait, &first);
        recorder_add_(&wait->object->waiters, (uintptr_t)-1);
        add_to_total(wait, ticks);
    }
    given = give.time ? now - give.time : 0;
    run_record(&recorder_for_lock_wait,
               given     ? cpu < 0 ? wait->kind->given : wait->kind->given_cpu
               : cpu < 0 ? wait->kind->end
                         : wait->kind->end_cpu,
               wait->from.site,
               RUN_WORDS(wait->address, wait->result, give.by,
                         cpu < 0 ? 0 : (uintptr_t)cpu, given,
                         first ? now - first : 0),
               given ? 2 : 1);
    if (wait->mutex)
        run_took(t, wait->mutex, RUN_WRITE, run_mutex.total, wait->from);
}
