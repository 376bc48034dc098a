/* real_functions.h - the functions that the library interposes, as others define them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"
#include "run.h"

/* clang-format off: columns */
#define RUN_REALS(X)                                                           \
    X(pthread_create) X(pthread_join) X(pthread_timedjoin_np)                  \
    X(pthread_clockjoin_np) X(pthread_tryjoin_np) X(pthread_detach)            \
    X(pthread_cancel) X(pthread_setname_np) X(pthread_mutex_lock)              \
    X(pthread_mutex_trylock) X(pthread_mutex_timedlock)                        \
    X(pthread_mutex_clocklock) X(pthread_mutex_unlock) X(pthread_mutex_init)   \
    X(pthread_mutex_destroy) X(pthread_cond_clockwait)                         \
    X(pthread_rwlock_rdlock) X(pthread_rwlock_timedrdlock)                     \
    X(pthread_rwlock_clockrdlock) X(pthread_rwlock_tryrdlock)                  \
    X(pthread_rwlock_wrlock) X(pthread_rwlock_timedwrlock)                     \
    X(pthread_rwlock_clockwrlock) X(pthread_rwlock_trywrlock)                  \
    X(pthread_rwlock_unlock) X(pthread_rwlock_init) X(pthread_rwlock_destroy)  \
    X(pthread_spin_lock) X(pthread_spin_trylock) X(pthread_spin_unlock)        \
    X(pthread_spin_init) X(pthread_spin_destroy) X(pthread_barrier_wait)       \
    X(pthread_barrier_init) X(pthread_barrier_destroy) X(pthread_once)         \
    X(flockfile) X(ftrylockfile) X(funlockfile) X(sem_wait) X(sem_timedwait)   \
    X(sem_clockwait) X(sem_trywait) X(sem_post) X(sem_init) X(sem_destroy)     \
    X(thrd_create) X(thrd_detach) X(mtx_init) X(mtx_destroy) X(cnd_init)       \
    X(cnd_destroy) X(_exit) X(_Exit) X(quick_exit)
/* clang-format on */

#pragma GCC visibility push(hidden)

struct run_real {
#define RUN_REAL_MEMBER_(name) __typeof__(&name) name;
    RUN_REALS(RUN_REAL_MEMBER_)
};
extern struct run_real run_real;
#ifdef RUN_TIME64
/* clang-format off: columns */
#define RUN_WIDES(X)                                                           \
    X(pthread_timedjoin_np) X(pthread_clockjoin_np)                            \
    X(pthread_mutex_timedlock) X(pthread_mutex_clocklock)                      \
    X(pthread_cond_timedwait) X(pthread_cond_clockwait)                        \
    X(pthread_rwlock_timedrdlock) X(pthread_rwlock_timedwrlock)                \
    X(pthread_rwlock_clockrdlock) X(pthread_rwlock_clockwrlock)                \
    X(sem_timedwait) X(sem_clockwait)
/* clang-format on */
/* Of the same types, but for the times that the pointers lead to. */
struct run_wide {
    RUN_WIDES(RUN_REAL_MEMBER_)
};
extern struct run_wide run_wide;
#define RUN_WIDE(limit, name, usual) ((limit)->wide ? run_wide.name : (usual))
#else
#define RUN_WIDE(limit, name, usual) (usual)
#endif
#define RUN_LIMITED(limit, name) RUN_WIDE(limit, name, run_real.name)
#undef RUN_REAL_MEMBER_
/* Calls the real function of a wait: the one without a limit, the one until a
 * time, or the one until a time of a clock. */
#define RUN_WAITS(l, plain, timed, clocked, ...)                               \
    ((l)->how == RUN_TIMED   ? RUN_LIMITED(l, timed)(__VA_ARGS__, (l)->until)  \
     : (l)->how == RUN_CLOCK ? RUN_LIMITED(l, clocked)(                        \
                                   __VA_ARGS__, (l)->clock, (l)->until)        \
                             : run_real.plain(__VA_ARGS__))
extern bool run_has_tsan; /* ThreadSanitizer is part of the program */

/* Functions of conditions, in two versions on some machines: the old one has
 * another struct, for programs of 2002. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define RUN_COND_NEW "GLIBC_2.3.2"
#define RUN_COND_OLD "GLIBC_2.2.5"
#elif defined(__i386__)
#define RUN_COND_NEW "GLIBC_2.3.2"
#define RUN_COND_OLD "GLIBC_2.0"
#endif
struct run_cond_real {
    __typeof__(&pthread_cond_wait) wait;
    __typeof__(&pthread_cond_timedwait) timedwait;
    __typeof__(&pthread_cond_signal) signal;
    __typeof__(&pthread_cond_broadcast) broadcast;
    __typeof__(&pthread_cond_init) init;
    __typeof__(&pthread_cond_destroy) destroy;
};
extern struct run_cond_real run_cond_new, run_cond_old;

/* Finds a function by its name, in libc or after this library. */
typedef void *run_find(const char *name);
/* Stores a function that was found; else does nothing. */
void run_put_found(void *to, void *found);
#define RUN_FIND(to, find, name) run_put_found(&(to), find(name))
void run_sandbox_bind(run_find *);
void run_guards_bind(run_find *);
void run_calls_bind(run_find *);
/* Binds all of them. Returns false in a thread that is about to, which has
 * libc's until then. */
RUN_SELDOM bool run_bind_all(void);
extern bool run_is_bound;
/* Runs in front of the first use; run_thread() does it, too. */
RUN_INLINE bool run_bind(void)
{
    return RUN_LIKELY(run_is_bound) || run_bind_all();
}

/* Waits for a condition, or signals it, by the functions of one version. */
int run_cond_wait(const struct run_cond_real *, pthread_cond_t *,
                  pthread_mutex_t *, const struct run_limit *,
                  struct run_call from);
int run_cond_signal(const struct run_cond_real *, pthread_cond_t *);
int run_cond_broadcast(const struct run_cond_real *, pthread_cond_t *);

#pragma GCC visibility pop
