/* cond.c - pthread_cond_*. */
/* SPDX-License-Identifier: MIT */
#include "real.h"

int run_cond_wait(pthread_cond_t *c, pthread_mutex_t *m,
                  int (*real)(void *, pthread_cond_t *, pthread_mutex_t *),
                  void *of, bool until, uintptr_t site, uintptr_t cfa)
{
    struct run_thread *t = run_thread();
    bool held;
    int result;
    if (!t)
        return real(of, c, m);
    run_count(t, RUN_COND);
    held = run_gave(t, m, site);
    {
        RUN_WAIT(wait);
        run_wait_begin(&wait, t, until ? &run_cond_until : &run_cond, c,
                       (uintptr_t)m, site, cfa);
        wait.mutex = m; /* also where the thread is cancelled */
        result = real(of, c, m);
        wait.result = (uintptr_t)(unsigned)result;
        if (result == ENOTRECOVERABLE ||
            (!held && result != 0 && result != ETIMEDOUT))
            wait.mutex = NULL; /* an error: it has no mutex */
    }
    return result;
}

static int wait_forever(void *of, pthread_cond_t *c, pthread_mutex_t *m)
{
    (void)of;
    return run_real.pthread_cond_wait(c, m);
}
static int wait_until(void *of, pthread_cond_t *c, pthread_mutex_t *m)
{
    const struct run_limit *l = of;
    return l->how == RUN_TIMED
               ? run_real.pthread_cond_timedwait(c, m, l->until)
               : run_real.pthread_cond_clockwait(c, m, l->clock, l->until);
}

/* Notes who signals. A record for each would cost more than all waits. */
void run_signals(const void *object)
{
    struct run_thread *t = run_thread();
    if (!t)
        return;
    run_count(t, RUN_SIGNAL);
    run_object_gives(t, (uintptr_t)object);
}

RUN_EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    if (!RUN_HAS(pthread_cond_wait))
        return ENOSYS;
    return run_cond_wait(c, m, wait_forever, NULL, false, RUN_SITE, RUN_CFA);
}
RUN_EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                      const struct timespec *until)
{
    struct run_limit limit = {.how = RUN_TIMED, .until = until};
    if (!RUN_HAS(pthread_cond_timedwait))
        return ENOSYS;
    return run_cond_wait(c, m, wait_until, &limit, true, RUN_SITE, RUN_CFA);
}
RUN_EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m,
                                      clockid_t clock,
                                      const struct timespec *until)
{
    struct run_limit limit = {RUN_CLOCK, clock, until};
    if (!RUN_HAS(pthread_cond_clockwait))
        return ENOSYS;
    return run_cond_wait(c, m, wait_until, &limit, true, RUN_SITE, RUN_CFA);
}
RUN_EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
    if (!RUN_HAS(pthread_cond_signal))
        return ENOSYS;
    run_signals(c);
    return run_real.pthread_cond_signal(c);
}
RUN_EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
    if (!RUN_HAS(pthread_cond_broadcast))
        return ENOSYS;
    run_signals(c);
    return run_real.pthread_cond_broadcast(c);
}
RUN_EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a)
{
    if (!RUN_HAS(pthread_cond_init))
        return ENOSYS;
    run_object_forget(c);
    return run_real.pthread_cond_init(c, a);
}
/* Waits for those who have been woken and still use it. */
RUN_EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
    if (!RUN_HAS(pthread_cond_destroy))
        return ENOSYS;
    run_object_forget(c);
    return run_real.pthread_cond_destroy(c);
}
