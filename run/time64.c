/* time64.c - the functions that take times of 64 bits where others take 32. */
/* SPDX-License-Identifier: MIT */
/*
   A program that was built with -D_TIME_BITS=64 calls these. Were they not
   interposed, a lock that is given up in a wait would be said to be held.
*/
#include "real_functions.h"

#ifdef RUN_TIME64
typedef const struct run_timespec64 *time64;
#define LIMIT(how_, clock_)                                                    \
    const struct run_limit limit = {                                           \
        how_, clock_, (const struct timespec *)(const void *)until, true}
#define WIDE(name) RUN_EXPORT int __##name##64
/* They are declared nowhere for programs with times of 32 bits. */
#define TIMED(name, call, ...)                                                 \
    WIDE(name)(__VA_ARGS__, time64);                                           \
    WIDE(name)(__VA_ARGS__, time64 until)                                      \
    {                                                                          \
        LIMIT(RUN_TIMED, CLOCK_REALTIME);                                      \
        return call;                                                           \
    }
#define CLOCKED(name, call, ...)                                               \
    WIDE(name)(__VA_ARGS__, clockid_t, time64);                                \
    WIDE(name)(__VA_ARGS__, clockid_t clock, time64 until)                     \
    {                                                                          \
        LIMIT(RUN_CLOCK, clock);                                               \
        return call;                                                           \
    }

#define MUTEX run_mutex_lock((pthread_mutex_t *)m, &limit, RUN_CALL)
TIMED(pthread_mutex_timedlock, MUTEX, pthread_mutex_t *m)
CLOCKED(pthread_mutex_clocklock, MUTEX, pthread_mutex_t *m)
TIMED(mtx_timedlock, run_c11_of(MUTEX), mtx_t *m)

#define COND                                                                   \
    run_cond_wait(&run_cond_new, (pthread_cond_t *)c, (pthread_mutex_t *)m,    \
                  &limit, RUN_CALL)
TIMED(pthread_cond_timedwait, COND, pthread_cond_t *c, pthread_mutex_t *m)
CLOCKED(pthread_cond_clockwait, COND, pthread_cond_t *c, pthread_mutex_t *m)
TIMED(cnd_timedwait, run_c11_of(COND), cnd_t *c, mtx_t *m)

#define RWLOCK(writes) run_rwlock_lock(l, writes, &limit, RUN_CALL)
TIMED(pthread_rwlock_timedrdlock, RWLOCK(false), pthread_rwlock_t *l)
TIMED(pthread_rwlock_timedwrlock, RWLOCK(true), pthread_rwlock_t *l)
CLOCKED(pthread_rwlock_clockrdlock, RWLOCK(false), pthread_rwlock_t *l)
CLOCKED(pthread_rwlock_clockwrlock, RWLOCK(true), pthread_rwlock_t *l)

#define SEM run_semaphore_wait(s, &limit, RUN_CALL)
TIMED(sem_timedwait, SEM, sem_t *s)
CLOCKED(sem_clockwait, SEM, sem_t *s)

#define JOIN run_thread_join(thread, value, &limit, RUN_CALL)
TIMED(pthread_timedjoin_np, JOIN, pthread_t thread, void **value)
CLOCKED(pthread_clockjoin_np, JOIN, pthread_t thread, void **value)

#else
typedef int run_time64_none; /* C knows no empty file */
#endif
