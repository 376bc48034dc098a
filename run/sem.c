/* sem.c - sem_*, barriers, pthread_once(), guards of static variables. */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

/* ------------------------------------------------------------------- sem -- */

static int wait_real(sem_t *s, const struct run_limit *l)
{
    return RUN_WAITS(l, sem_wait, sem_timedwait, sem_clockwait, s);
}
int run_semaphore_wait(sem_t *s, const struct run_limit *l,
                       struct run_call from)
{
    struct run_thread *t = run_thread();
    int result, error = errno;
    if (!t || !run_limit_is_valid(l))
        return wait_real(s, l);
    /* As the real function does, before it takes anything. */
    pthread_testcancel();
    result = run_real.sem_trywait(s);
    if (result == 0 || errno != EAGAIN)
        return result;
    errno = error;
    RUN_WAIT(wait);
    run_wait_begin(&wait, t, l->how == RUN_FOREVER ? &run_sem : &run_sem_until,
                   s, 0, from);
    result = wait_real(s, l);
    wait.result = (uintptr_t)(unsigned)(result ? errno : 0);
    return result;
}

RUN_EXPORT int sem_wait(sem_t *s)
{
    return run_semaphore_wait(s, RUN_ALWAYS, RUN_CALL);
}
RUN_EXPORT int sem_timedwait(sem_t *s, const struct timespec *until)
{
    return run_semaphore_wait(s, RUN_AT(until), RUN_CALL);
}
RUN_EXPORT int sem_clockwait(sem_t *s, clockid_t clock,
                             const struct timespec *until)
{
    return run_semaphore_wait(s, RUN_BY(clock, until), RUN_CALL);
}
/* Called in signal handlers, too. */
RUN_EXPORT int sem_post(sem_t *s)
{
    run_gives(s);
    return run_real.sem_post(s);
}

/* --------------------------------------------------------------- barrier -- */

RUN_EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
    struct run_thread *t = run_thread();
    int result;
    if (!t)
        return run_real.pthread_barrier_wait(b);
    run_object_gives(t, (uintptr_t)b); /* the last of them is who came last */
    RUN_WAIT(wait);
    run_wait_begin(&wait, t, &run_barrier, b, 0, RUN_CALL);
    result = run_real.pthread_barrier_wait(b);
    wait.result = (uintptr_t)(unsigned)result;
    return result;
}

/* ------------------------------------------------------------------ once -- */

/* glibc's once: 2 is done, 1 is being done. */
enum { ONCE_BEGUN = 1, ONCE_DONE = 2 };

/* A once whose routine the thread may run; they nest. */
struct run_once {
    struct run_once *outer;
    pthread_once_t *control;
    void (*routine)(void);
    struct run_thread *thread;
    struct run_call from;
};
static void once_leave(struct run_once **once)
{
    run_gave((*once)->thread, (*once)->control, (*once)->from.site);
}
static void once_run(void)
{
    struct run_once *once __attribute__((cleanup(once_leave))) = run_self.once;
    run_took(once->thread, once->control, RUN_TRIED, run_once_kind.total,
             once->from);
    once->routine();
}
static void once_end(struct run_once *once)
{
    if (once->thread)
        once->thread->once = once->outer;
}
static int once(pthread_once_t *control, void (*routine)(void),
                struct run_call from)
{
    int begun = __atomic_load_n((int *)control, __ATOMIC_ACQUIRE);
    struct run_once once __attribute__((cleanup(once_end))) = {0};
    struct run_thread *t;
    int result;
    run_bind();
    t = begun & ONCE_DONE ? NULL : run_thread();
    if (!t)
        return run_real.pthread_once(control, routine);
    once = (struct run_once){t->once, control, routine, t, from};
    t->once = &once;
    RUN_WAIT(wait);
    if (begun & ONCE_BEGUN)
        run_wait_begin(&wait, t, &run_once_kind, control, 0, from);
    result = run_real.pthread_once(control, once_run);
    wait.result = (uintptr_t)(unsigned)result;
    return result;
}
RUN_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    return once(control, routine, RUN_CALL);
}
RUN_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
    once((pthread_once_t *)flag, routine, RUN_CALL);
}

/* ---------------------------------------------------------------- guards --
 *
 * C++ calls these for a static variable of a function until it is made. Byte 0
 * of its guard: it is; byte 1: a thread makes it.
 */

static struct {
    int (*acquire)(char *guard);
    void (*release)(char *guard), (*abort)(char *guard);
} guards;

void run_guards_bind(run_find *find)
{
    RUN_FIND(guards.abort, find, "__cxa_guard_abort");
    RUN_FIND(guards.release, find, "__cxa_guard_release");
    RUN_FIND(guards.acquire, find, "__cxa_guard_acquire");
}

RUN_EXPORT int __cxa_guard_acquire(char *guard);
RUN_EXPORT int __cxa_guard_acquire(char *guard)
{
    struct run_thread *t = run_thread();
    int result;
    if (RUN_UNLIKELY(!guards.acquire)) /* its library was opened late */
        run_guards_bind(run_find_any);
    if (!t)
        return guards.acquire(guard);
    {
        RUN_WAIT(wait);
        if (__atomic_load_n(guard + 1, __ATOMIC_RELAXED) &&
            !__atomic_load_n(guard, __ATOMIC_RELAXED))
            run_wait_begin(&wait, t, &run_once_kind, guard, 0, RUN_CALL);
        result = guards.acquire(guard);
        wait.result = 0;
    }
    if (result)
        run_took(t, guard, RUN_TRIED, run_once_kind.total, RUN_CALL);
    return result;
}
RUN_EXPORT void __cxa_guard_release(char *guard);
RUN_EXPORT void __cxa_guard_release(char *guard)
{
    run_unlocks(guard, RUN_SITE);
    guards.release(guard);
}
RUN_EXPORT void __cxa_guard_abort(char *guard);
RUN_EXPORT void __cxa_guard_abort(char *guard)
{
    run_unlocks(guard, RUN_SITE);
    guards.abort(guard);
}
