/* rwlock.c - pthread_rwlock_* and pthread_spin_*. */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

/* ---------------------------------------------------------------- rwlock -- */

static int lock_real(pthread_rwlock_t *l, bool writes,
                     const struct run_limit *limit)
{
    return writes ? RUN_WAITS(limit, pthread_rwlock_wrlock,
                              pthread_rwlock_timedwrlock,
                              pthread_rwlock_clockwrlock, l)
                  : RUN_WAITS(limit, pthread_rwlock_rdlock,
                              pthread_rwlock_timedrdlock,
                              pthread_rwlock_clockrdlock, l);
}

int run_rwlock_lock(pthread_rwlock_t *l, bool writes,
                    const struct run_limit *limit, struct run_call from)
{
    static const struct run_kind *const kinds[2][2] = {
        {&run_read, &run_read_until}, {&run_write, &run_write_until}};
    struct run_thread *t = run_thread();
    int result;
    if (!t)
        return lock_real(l, writes, limit);
    run_count(t);
    if (!run_limit_is_valid(limit))
        return lock_real(l, writes, limit);
    if (RUN_UNLIKELY(run_has_tsan))
        result = lock_real(l, writes, limit); /* which sees no try as a lock */
    else
        result = writes ? run_real.pthread_rwlock_trywrlock(l)
                        : run_real.pthread_rwlock_tryrdlock(l);
    if (result == EBUSY) {
        RUN_WAIT(wait);
        run_wait_begin(&wait, t, kinds[writes][limit->how != RUN_FOREVER], l,
                       (uintptr_t)(unsigned)l->__data.__cur_writer, from);
        result = lock_real(l, writes, limit);
        wait.result = (uintptr_t)(unsigned)result;
    }
    if (result == 0)
        run_took(t, l, writes ? RUN_WRITE : RUN_READ, run_write.total, from);
    return result;
}
static int try(pthread_rwlock_t *l, bool writes, struct run_call from)
{
    struct run_thread *t = run_thread();
    int result = writes ? run_real.pthread_rwlock_trywrlock(l)
                        : run_real.pthread_rwlock_tryrdlock(l);
    run_tried(t, result == 0, l, writes ? RUN_WRITE : RUN_READ, run_write.total,
              from);
    return result;
}

#define LOCKS(kind, writes)                                                    \
    RUN_EXPORT int pthread_rwlock_##kind(pthread_rwlock_t *l)                  \
    {                                                                          \
        return run_rwlock_lock(l, writes, RUN_ALWAYS, RUN_CALL);               \
    }                                                                          \
    RUN_EXPORT int pthread_rwlock_timed##kind(pthread_rwlock_t *l,             \
                                              const struct timespec *until)    \
    {                                                                          \
        return run_rwlock_lock(l, writes, RUN_AT(until), RUN_CALL);            \
    }                                                                          \
    RUN_EXPORT int pthread_rwlock_clock##kind(                                 \
        pthread_rwlock_t *l, clockid_t clock, const struct timespec *until)    \
    {                                                                          \
        return run_rwlock_lock(l, writes, RUN_BY(clock, until), RUN_CALL);     \
    }                                                                          \
    RUN_EXPORT int pthread_rwlock_try##kind(pthread_rwlock_t *l)               \
    {                                                                          \
        return try(l, writes, RUN_CALL);                                       \
    }
LOCKS(rdlock, false)
LOCKS(wrlock, true)
RUN_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    run_unlocks(l, RUN_SITE);
    return run_real.pthread_rwlock_unlock(l);
}

/* ------------------------------------------------------------------ spin -- */

RUN_EXPORT int pthread_spin_lock(pthread_spinlock_t *l)
{
    struct run_thread *t = run_thread();
    int result;
    if (!t)
        return run_real.pthread_spin_lock(l);
    run_count(t);
    result = run_real.pthread_spin_trylock(l);
    if (result == EBUSY) {
        RUN_WAIT(wait);
        run_wait_begin(&wait, t, &run_spin, l, 0, RUN_CALL);
        result = run_real.pthread_spin_lock(l);
        wait.result = (uintptr_t)(unsigned)result;
    }
    if (result == 0)
        run_took(t, l, RUN_WRITE, run_spin.total, RUN_CALL);
    return result;
}
RUN_EXPORT int pthread_spin_trylock(pthread_spinlock_t *l)
{
    struct run_thread *t = run_thread();
    int result = run_real.pthread_spin_trylock(l);
    run_tried(t, result == 0, l, RUN_WRITE, run_spin.total, RUN_CALL);
    return result;
}
RUN_EXPORT int pthread_spin_unlock(pthread_spinlock_t *l)
{
    run_unlocks(l, RUN_SITE);
    return run_real.pthread_spin_unlock(l);
}
