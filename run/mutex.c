/* mutex.c - pthread_mutex_*, and the locks of streams: flockfile(). */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

static int lock_real(pthread_mutex_t *m, const struct run_limit *l)
{
    return RUN_WAITS(l, pthread_mutex_lock, pthread_mutex_timedlock,
                     pthread_mutex_clocklock, m);
}

/* Takes a lock that is free. EBUSY: it is not, or may not be. ThreadSanitizer
 * learns nothing about orders of locks from a try: there the lock is looked at,
 * and taken as the program would. */
RUN_INLINE int lock_free(pthread_mutex_t *m, const struct run_limit *l)
{
    if (RUN_LIKELY(!run_has_tsan) || l->how != RUN_FOREVER)
        return run_real.pthread_mutex_trylock(m);
    if (__atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED) &&
        m->__data.__owner != (int)recorder_os_thread_())
        return EBUSY;
    return run_real.pthread_mutex_lock(m);
}

/* Returns who has a lock. Of a robust one that its holder's end left, glibc
 * notes that in its place, 2^31 - 1 or 2^31 - 2; the futex has who took it. */
static uintptr_t owner(const pthread_mutex_t *m)
{
    unsigned id = (unsigned)m->__data.__owner;
    return id < INT32_MAX - 1
               ? id
               : (unsigned)m->__data.__lock & 0x3fffffff; /* FUTEX_TID_MASK */
}

/* The real function waits, and finds more than a try: EDEADLK, the
 * inheritance of priorities, a time limit that is wrong. */
__attribute__((noinline)) static int lock_waits(struct run_thread *t,
                                                pthread_mutex_t *m,
                                                const struct run_limit *l,
                                                struct run_call from)
{
    int result;
    {
        RUN_WAIT(wait);
        run_wait_begin(&wait, t,
                       l->how == RUN_FOREVER ? &run_mutex : &run_mutex_until, m,
                       owner(m), from);
        result = lock_real(m, l);
        wait.result = (uintptr_t)(unsigned)result;
    }
    if (result == 0 || result == EOWNERDEAD)
        run_took(t, m, RUN_WRITE, run_mutex.total, from);
    return result;
}

/* Waits if a try found the lock busy, and notes a lock that was taken. */
RUN_INLINE int lock_ends(struct run_thread *t, pthread_mutex_t *m,
                         const struct run_limit *l, int result,
                         struct run_call from)
{
    if (RUN_UNLIKELY(result == EBUSY))
        return lock_waits(t, m, l, from);
    if (RUN_LIKELY(result == 0 || result == EOWNERDEAD))
        run_took(t, m, RUN_WRITE, run_mutex.total, from);
    return result;
}
int run_mutex_lock(pthread_mutex_t *m, const struct run_limit *l,
                   struct run_call from)
{
    struct run_thread *t = run_thread();
    if (!t)
        return lock_real(m, l);
    run_count(t);
    if (l->how == RUN_CLOCK && !run_limit_is_valid(l))
        return lock_real(m, l);
    return lock_ends(t, m, l, lock_free(m, l), from);
}

int run_mutex_trylock(pthread_mutex_t *m, struct run_call from)
{
    struct run_thread *t = run_thread();
    int result = run_real.pthread_mutex_trylock(m);
    run_tried(t, result == 0 || result == EOWNERDEAD, m, RUN_WRITE,
              run_mutex.total, from);
    return result;
}

RUN_EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
    struct run_thread *t = &run_self;
    int result;
    if (RUN_UNLIKELY(!run_is_outside(t) || run_has_tsan))
        return run_mutex_lock(m, RUN_ALWAYS, RUN_CALL);
    run_count(t);
    result = run_real.pthread_mutex_trylock(m);
    if (RUN_LIKELY(result == 0 && run_took_again(t, (uintptr_t)m, RUN_CALL)))
        return 0;
    return lock_ends(t, m, RUN_ALWAYS, result, RUN_CALL);
}
RUN_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m,
                                       const struct timespec *until)
{
    return run_mutex_lock(m, RUN_AT(until), RUN_CALL);
}
RUN_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
                                       const struct timespec *until)
{
    return run_mutex_lock(m, RUN_BY(clock, until), RUN_CALL);
}
RUN_EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
    return run_mutex_trylock(m, RUN_CALL);
}
RUN_SELDOM int run_mutex_unlock(pthread_mutex_t *m, uintptr_t site)
{
    run_unlocks(m, site);
    return run_real.pthread_mutex_unlock(m);
}
RUN_EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
    struct run_thread *t = &run_self;
    if (RUN_LIKELY(run_is_outside(t) && !recorder_get_(&run_waiting) &&
                   run_held_last(t, (uintptr_t)m)))
        return run_real.pthread_mutex_unlock(m);
    return run_mutex_unlock(m, RUN_SITE);
}
RUN_EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
    int result;
    run_bind();
    result = run_real.pthread_mutex_destroy(m);
    if (result == 0)
        run_object_forget(m, false);
    return result;
}

/* --------------------------------------------------------------- streams --
 *
 * No order of them is kept: a stream that is opened may have the address of one
 * that was closed.
 */

RUN_EXPORT void flockfile(FILE *f)
{
    struct run_thread *t = run_thread();
    if (!t) {
        run_real.flockfile(f);
        return;
    }
    if (run_real.ftrylockfile(f) != 0) {
        RUN_WAIT(wait);
        run_wait_begin(&wait, t, &run_stream, f, 0, RUN_CALL);
        run_real.flockfile(f);
        wait.result = 0;
    }
    run_took(t, f, RUN_TRIED, run_stream.total, RUN_CALL);
}
RUN_EXPORT int ftrylockfile(FILE *f)
{
    struct run_thread *t = run_thread();
    int result = run_real.ftrylockfile(f);
    run_tried(t, result == 0, f, RUN_WRITE, run_stream.total, RUN_CALL);
    return result;
}
RUN_EXPORT void funlockfile(FILE *f)
{
    run_unlocks(f, RUN_SITE);
    run_real.funlockfile(f);
}
