/* join.c - joins, and calls that name or cancel another thread. */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

static const char joined[] = RUN_FORMAT("joined", "joined %p: %d");
/* Records "FORMAT: thread, result". */
static void life(const char *format, pthread_t thread, int result,
                 uintptr_t site)
{
    struct run_thread *t = run_thread();
    if (!t)
        return;
    RUN_INSIDE(t);
    run_record(&recorder_for_thread_life, format, site,
               RUN_WORDS((uintptr_t)thread, (uintptr_t)(unsigned)result), 1);
    if (format == joined)
        run_order_part(t);
}
static const char detached[] = RUN_FORMAT("detached", "detached %p: %d");
static const char cancelled[] = RUN_FORMAT("cancelled", "cancelled %p: %d");

static int join_real(pthread_t thread, void **value, const struct run_limit *l)
{
    return RUN_WAITS(l, pthread_join, pthread_timedjoin_np,
                     pthread_clockjoin_np, thread, value);
}
int run_thread_join(pthread_t thread, void **value,
                    const struct run_limit *limit, struct run_call from)
{
    struct run_thread *t = run_thread();
    int result;
    if (!t)
        return join_real(thread, value, limit);
    {
        RUN_WAIT(wait);
        run_wait_begin(&wait, t,
                       limit->how == RUN_FOREVER ? &run_join : &run_join_until,
                       (const void *)thread, 0, from);
        wait.by = run_thread_number(thread);
        result = join_real(thread, value, limit);
        wait.result = (uintptr_t)(unsigned)result;
    }
    if (result == 0)
        life(joined, thread, result, from.site);
    return result;
}

RUN_EXPORT int pthread_join(pthread_t thread, void **value)
{
    return run_thread_join(thread, value, RUN_ALWAYS, RUN_CALL);
}
RUN_EXPORT int pthread_timedjoin_np(pthread_t thread, void **value,
                                    const struct timespec *until)
{
    return run_thread_join(thread, value, RUN_AT(until), RUN_CALL);
}
RUN_EXPORT int pthread_clockjoin_np(pthread_t thread, void **value,
                                    clockid_t clock,
                                    const struct timespec *until)
{
    return run_thread_join(thread, value, RUN_BY(clock, until), RUN_CALL);
}
/* As glibc's, which knows threads of C11 by the same handle. */
RUN_EXPORT int thrd_join(thrd_t thread, int *value)
{
    void *returned = NULL;
    int result = run_thread_join(thread, &returned, RUN_ALWAYS, RUN_CALL);
    if (result == 0 && value)
        *value = (int)(intptr_t)returned;
    return run_c11_of(result);
}
RUN_EXPORT int pthread_tryjoin_np(pthread_t thread, void **value)
{
    int result;
    run_bind();
    result = run_real.pthread_tryjoin_np(thread, value);
    if (result == 0)
        life(joined, thread, result, RUN_SITE);
    return result;
}
#define RECORDS(name, format)                                                  \
    RUN_EXPORT int name(pthread_t thread)                                      \
    {                                                                          \
        int result;                                                            \
        run_bind();                                                            \
        result = run_real.name(thread);                                        \
        life(format, thread, result, RUN_SITE);                                \
        return result;                                                         \
    }
RECORDS(pthread_detach, detached)
RECORDS(thrd_detach, detached)
RECORDS(pthread_cancel, cancelled)

RUN_EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
    static const char format[] = RUN_FORMAT("named", "named %s, %p");
    struct recorder_registry *registry = recorder_home_.registry;
    struct run_thread *t;
    uintptr_t number;
    int result;
    run_bind();
    result = run_real.pthread_setname_np(thread, name);
    t = run_thread();
    if (result || !t)
        return result;
    RUN_INSIDE(t);
    number = run_thread_number(thread);
    if (number && number <= recorder_get_(&registry->threads_max) &&
        !__atomic_load_n(&registry->threads[number - 1].named,
                         __ATOMIC_RELAXED))
        recorder_thread_set_name_(&registry->threads[number - 1], name);
    run_record(
        &recorder_for_thread_life, format, RUN_SITE,
        RUN_WORDS((uintptr_t)recorder_copy_(&recorder_for_thread_life, name),
                  (uintptr_t)thread),
        1);
    return result;
}
