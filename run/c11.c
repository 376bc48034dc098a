/* c11.c - mtx_* and cnd_*: glibc's are its pthread_*, with other results. */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

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

#define C11(call, name, ...)                                                   \
    RUN_EXPORT int name(__VA_ARGS__)                                           \
    {                                                                          \
        return run_c11_of(call);                                               \
    }
#define MUTEX(limit) run_mutex_lock((pthread_mutex_t *)m, limit, RUN_CALL)
#define COND(limit)                                                            \
    run_cond_wait(&run_cond_new, (pthread_cond_t *)c, (pthread_mutex_t *)m,    \
                  limit, RUN_CALL)
C11(MUTEX(RUN_ALWAYS), mtx_lock, mtx_t *m)
C11(MUTEX(RUN_AT(until)), mtx_timedlock, mtx_t *restrict m,
    const struct timespec *restrict until)
C11(run_mutex_trylock((pthread_mutex_t *)m, RUN_CALL), mtx_trylock, mtx_t *m)
C11(run_mutex_unlock((pthread_mutex_t *)m, RUN_SITE), mtx_unlock, mtx_t *m)
C11(COND(RUN_ALWAYS), cnd_wait, cnd_t *c, mtx_t *m)
C11(COND(RUN_AT(until)), cnd_timedwait, cnd_t *restrict c, mtx_t *restrict m,
    const struct timespec *restrict until)
C11(run_cond_signal(&run_cond_new, (pthread_cond_t *)c), cnd_signal, cnd_t *c)
C11(run_cond_broadcast(&run_cond_new, (pthread_cond_t *)c), cnd_broadcast,
    cnd_t *c)

RUN_EXPORT void mtx_destroy(mtx_t *m)
{
    run_object_forget(m, false);
    run_real.mtx_destroy(m);
}
RUN_EXPORT void cnd_destroy(cnd_t *c)
{
    run_object_forget(c, false);
    run_real.cnd_destroy(c);
}
