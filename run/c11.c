/* c11.c - mtx_* and cnd_*: glibc's are its pthread_*, with other results. */
/* SPDX-License-Identifier: MIT */
#include "real.h"

int run_c11_of(int result)
{
    switch (result) {
    case 0: return thrd_success;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
    case EBUSY: return thrd_busy;
    default: return thrd_error;
    }
}

RUN_EXPORT int mtx_lock(mtx_t *m)
{
    static const struct run_limit forever = {.how = RUN_FOREVER};
    return run_c11_of(
        run_mutex_lock((pthread_mutex_t *)m, &forever, RUN_SITE, RUN_CFA));
}
RUN_EXPORT int mtx_timedlock(mtx_t *restrict m,
                             const struct timespec *restrict until)
{
    const struct run_limit limit = {.how = RUN_TIMED, .until = until};
    return run_c11_of(
        run_mutex_lock((pthread_mutex_t *)m, &limit, RUN_SITE, RUN_CFA));
}
RUN_EXPORT int mtx_trylock(mtx_t *m)
{
    return run_c11_of(
        run_mutex_trylock((pthread_mutex_t *)m, RUN_SITE, RUN_CFA));
}
RUN_EXPORT int mtx_unlock(mtx_t *m)
{
    return run_c11_of(run_mutex_unlock((pthread_mutex_t *)m, RUN_SITE));
}
RUN_EXPORT int mtx_init(mtx_t *m, int type)
{
    run_object_forget(m);
    return run_real.mtx_init(m, type);
}
RUN_EXPORT void mtx_destroy(mtx_t *m)
{
    run_object_forget(m);
    run_real.mtx_destroy(m);
}

RUN_EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
    static const struct run_limit forever = {.how = RUN_FOREVER};
    return run_c11_of(run_cond_wait(&run_cond_new, (pthread_cond_t *)c,
                                    (pthread_mutex_t *)m, &forever, RUN_SITE,
                                    RUN_CFA));
}
RUN_EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
                             const struct timespec *restrict until)
{
    const struct run_limit limit = {.how = RUN_TIMED, .until = until};
    return run_c11_of(run_cond_wait(&run_cond_new, (pthread_cond_t *)c,
                                    (pthread_mutex_t *)m, &limit, RUN_SITE,
                                    RUN_CFA));
}
RUN_EXPORT int cnd_signal(cnd_t *c)
{
    return run_c11_of(run_cond_signal(&run_cond_new, (pthread_cond_t *)c));
}
RUN_EXPORT int cnd_broadcast(cnd_t *c)
{
    return run_c11_of(run_cond_broadcast(&run_cond_new, (pthread_cond_t *)c));
}
RUN_EXPORT int cnd_init(cnd_t *c)
{
    run_object_forget(c);
    return run_real.cnd_init(c);
}
RUN_EXPORT void cnd_destroy(cnd_t *c)
{
    run_object_forget(c);
    run_real.cnd_destroy(c);
}
