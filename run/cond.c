/* cond.c - pthread_cond_*, in both versions. */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

static int wait_real(const struct run_cond_real *real, pthread_cond_t *c,
                     pthread_mutex_t *m, const struct run_limit *l)
{
    switch (l->how) {
    case RUN_TIMED:
        return RUN_WIDE(l, pthread_cond_timedwait, real->timedwait)(c, m,
                                                                    l->until);
    case RUN_CLOCK:
        return RUN_LIMITED(l, pthread_cond_clockwait)(c, m, l->clock, l->until);
    default: return real->wait(c, m);
    }
}

int run_cond_wait(const struct run_cond_real *real, pthread_cond_t *c,
                  pthread_mutex_t *m, const struct run_limit *l,
                  struct run_call from)
{
    struct run_thread *t = run_thread();
    bool held;
    int result;
    if (!t)
        return wait_real(real, c, m, l);
    held = run_gave(t, m, from.site);
    RUN_WAIT(wait);
    run_wait_begin(&wait, t,
                   l->how == RUN_FOREVER ? &run_cond : &run_cond_until, c,
                   (uintptr_t)m, from);
    wait.mutex = m; /* also where the thread is cancelled */
    result = wait_real(real, c, m, l);
    wait.result = (uintptr_t)(unsigned)result;
    if (result == ENOTRECOVERABLE ||
        (!held && result != 0 && result != ETIMEDOUT))
        wait.mutex = NULL; /* an error: it has no mutex */
    return result;
}

/* The signalling thread is noted: a record would cost more than all waits. */
int run_cond_signal(const struct run_cond_real *real, pthread_cond_t *c)
{
    run_gives(c);
    return real->signal(c);
}
int run_cond_broadcast(const struct run_cond_real *real, pthread_cond_t *c)
{
    run_gives(c);
    return real->broadcast(c);
}

/* The functions of one version, by their names. With two versions, names
 * without a version are hidden (versions.map). */
#define CONDS(real, WAIT, TIMEDWAIT, SIGNAL, BROADCAST, INIT, DESTROY)         \
    RUN_EXPORT int WAIT(pthread_cond_t *c, pthread_mutex_t *m)                 \
    {                                                                          \
        return run_cond_wait(&real, c, m, RUN_ALWAYS, RUN_CALL);               \
    }                                                                          \
    RUN_EXPORT int TIMEDWAIT(pthread_cond_t *c, pthread_mutex_t *m,            \
                             const struct timespec *until)                     \
    {                                                                          \
        return run_cond_wait(&real, c, m, RUN_AT(until), RUN_CALL);            \
    }                                                                          \
    RUN_EXPORT int SIGNAL(pthread_cond_t *c)                                   \
    {                                                                          \
        return run_cond_signal(&real, c);                                      \
    }                                                                          \
    RUN_EXPORT int BROADCAST(pthread_cond_t *c)                                \
    {                                                                          \
        return run_cond_broadcast(&real, c);                                   \
    }                                                                          \
    RUN_EXPORT int INIT(pthread_cond_t *c, const pthread_condattr_t *a)        \
    {                                                                          \
        run_object_forget(c, false);                                           \
        return real.init(c, a);                                                \
    }                                                                          \
    RUN_EXPORT int DESTROY(pthread_cond_t *c)                                  \
    {                                                                          \
        run_object_forget(c, false);                                           \
        return real.destroy(c);                                                \
    }
#ifdef RUN_VERSIONS
CONDS(run_cond_new, new_wait, new_timedwait, new_signal, new_broadcast,
      new_init, new_destroy)
CONDS(run_cond_old, old_wait, old_timedwait, old_signal, old_broadcast,
      old_init, old_destroy)
#define VERSION(name)                                                          \
    __asm__(".symver new_" #name ", pthread_cond_" #name "@@" RUN_COND_NEW);   \
    __asm__(".symver old_" #name ", pthread_cond_" #name "@" RUN_COND_OLD);
VERSION(wait)
VERSION(timedwait)
VERSION(signal)
VERSION(broadcast)
VERSION(init)
VERSION(destroy)
#else
CONDS(run_cond_new, pthread_cond_wait, pthread_cond_timedwait,
      pthread_cond_signal, pthread_cond_broadcast, pthread_cond_init,
      pthread_cond_destroy)
#endif

RUN_EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m,
                                      clockid_t clock,
                                      const struct timespec *until)
{
    return run_cond_wait(&run_cond_new, c, m, RUN_BY(clock, until), RUN_CALL);
}
