/* join.c - joins, and calls that name or cancel another thread. */
/* SPDX-License-Identifier: MIT */
#include "real.h"

static const char joined[] = RUN_FORMAT("joined", "joined %p: %d");
/* Records "FORMAT: thread, result". */
static void life(const char *format, pthread_t thread, int result,
                 uintptr_t site)
{
    struct run_thread *t = run_thread();
    int error = errno;
    if (!t)
        return;
    t->inside++;
    run_record(&recorder_for_thread_life, format, site,
               RUN_WORDS((uintptr_t)thread, (uintptr_t)(unsigned)result), 1);
    t->inside--;
    if (format == joined)
        run_order_part(t);
    errno = error;
}
static const char detached[] = RUN_FORMAT("detached", "detached %p: %d");
static const char cancelled[] = RUN_FORMAT("cancelled", "cancelled %p: %d");

/* A call that waits, whatever its name: of a thread, with a limit or none, or
 * C11's. */
struct join {
    pthread_t thread;
    void **value;
    int *value_c11; /* or this one */
    bool is_c11;
    struct run_limit limit;
};
static int join_real(const struct join *j)
{
    if (j->is_c11)
        return run_real.thrd_join(j->thread, j->value_c11);
    switch (j->limit.how) {
    case RUN_TIMED:
        return RUN_LIMITED(&j->limit, pthread_timedjoin_np)(j->thread, j->value,
                                                            j->limit.until);
    case RUN_CLOCK:
        return RUN_LIMITED(&j->limit, pthread_clockjoin_np)(
            j->thread, j->value, j->limit.clock, j->limit.until);
    default: return run_real.pthread_join(j->thread, j->value);
    }
}
static int join(const struct join *j, uintptr_t site, uintptr_t cfa)
{
    struct run_thread *t = run_thread();
    int result;
    if (!t)
        return join_real(j);
    run_count(t, RUN_OTHER);
    {
        RUN_WAIT(wait);
        run_wait_begin(
            &wait, t, j->limit.how == RUN_FOREVER ? &run_join : &run_join_until,
            (const void *)j->thread, 0, site, cfa);
        wait.by = run_thread_number(j->thread);
        result = join_real(j);
        wait.result = (uintptr_t)(unsigned)result;
    }
    if (result == 0)
        life(joined, j->thread, result, site);
    return result;
}

int run_thread_join(pthread_t thread, void **value,
                    const struct run_limit *limit, uintptr_t site,
                    uintptr_t cfa)
{
    const struct join j = {thread, value, NULL, false, *limit};
    return join(&j, site, cfa);
}

RUN_EXPORT int pthread_join(pthread_t thread, void **value)
{
    const struct join j = {.thread = thread, .value = value};
    return join(&j, RUN_SITE, RUN_CFA);
}
RUN_EXPORT int pthread_timedjoin_np(pthread_t thread, void **value,
                                    const struct timespec *until)
{
    return run_thread_join(thread, value, RUN_AT(until), RUN_SITE, RUN_CFA);
}
RUN_EXPORT int pthread_clockjoin_np(pthread_t thread, void **value,
                                    clockid_t clock,
                                    const struct timespec *until)
{
    return run_thread_join(thread, value, RUN_BY(clock, until), RUN_SITE,
                           RUN_CFA);
}
RUN_EXPORT int thrd_join(thrd_t thread, int *value)
{
    const struct join j = {
        .thread = thread, .value_c11 = value, .is_c11 = true};
    return join(&j, RUN_SITE, RUN_CFA);
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
    int result, error;
    run_bind();
    result = run_real.pthread_setname_np(thread, name);
    error = errno;
    t = run_thread();
    if (result || !t)
        return result;
    t->inside++;
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
    t->inside--;
    errno = error;
    return result;
}
