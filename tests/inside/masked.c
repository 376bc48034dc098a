/* recorder_functions.h: a port that masks interrupts crosses no call. */
/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>

/* The port: one processor with tasks and interrupts, which come at each step of
 * a hook unless they are masked. */
static void masked_step(const char *where);
static uintptr_t masked_enter(void);
static void masked_leave(uintptr_t was);
static unsigned context; /* the number of the task or interrupt that runs */
#define RECORDER_STEP_(label) masked_step(#label)
#define RECORDER_THREAD() context
#define RECORDER_TIME() ((uintptr_t)1) /* no slot is left because it is old */
#define RECORDER_ONE_PROCESSOR
#define RECORDER_FUNCTIONS_ENTER() masked_enter()
#define RECORDER_FUNCTIONS_LEAVE(was) masked_leave(was)
#define RECORDER_FUNCTIONS_SIZE 4 /* so that others soon come round */
#include "recorder_functions.h"

#include "harness/random.h"
#include <criterion/criterion.h>
#include <pthread.h>

TestSuite(masked, .timeout = 300);

/* A call is known by its number: it is the function's address. Two of the
 * tasks have the number that all share for which there is no other. */
enum { SLOTS = 4, CALLS = 400000, ADDRESS = 0x10000, TASKS = 4, NESTED = 2 };
static const unsigned task_numbers[TASKS] = {1, 2, RECORDER_THREAD_SHARED,
                                             RECORDER_THREAD_SHARED};
static unsigned short owner[CALLS]; /* of each call */
static unsigned calls, most_calls, nested, ended, faults, appended;
static bool masks, masked;
static const char *fault;
static uintptr_t state;

static unsigned below(unsigned limit)
{
    state = state * 1103515245u + 12345u;
    return (unsigned)(state >> 16 & 0x7fff) % limit;
}
static void found(const char *what)
{
    faults++;
    fault = what;
}

/* -------------------------------------------------------------- processor -- */

static pthread_mutex_t baton = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static unsigned running; /* which task has the processor; TASKS: the test */

static void wait_for(unsigned task)
{
    while (running != task)
        pthread_cond_wait(&passed, &baton);
}
static void pass_to(unsigned task)
{
    running = task;
    pthread_cond_broadcast(&passed);
}

static void make_calls(unsigned count);

/* After each step another task may run, or an interrupt makes calls, up to two
 * and a half laps; at its steps another one does. */
static void masked_step(const char *where)
{
    unsigned was = context, task = running;
    (void)where;
    if (masked)
        return;
    if (nested < NESTED && below(12) == 0) {
        nested++;
        context = 15 + nested;
        make_calls(1 + below(below(4) ? 3 : 40));
        context = was;
        nested--;
    }
    if (nested == 0 && task < TASKS && calls < most_calls && below(10) == 0) {
        pass_to(below(TASKS));
        wait_for(task);
        context = was;
    }
}
static uintptr_t masked_enter(void)
{
    bool was = masked;
    masked_step("before the mask");
    masked = masks;
    return was;
}
static void masked_leave(uintptr_t was)
{
    masked = was;
    masked_step("after the mask");
}

/* ----------------------------------------------------------------- slots -- */

/* Reads the calls of a slot. Returns how many; each must be whole. */
static unsigned slot_calls(const struct recorder_record *r, uintptr_t to[4])
{
    unsigned i, count = 0;
    for (i = 0; i < RECORDER_CALLS_MAX_; i++) {
#if __SIZEOF_POINTER__ == 8
        uintptr_t info = r->argument[i];
        uintptr_t function =
            r->caller + (i ? (uintptr_t)((intptr_t)info >> 32) : 0);
#else
        uintptr_t info = r->argument[2 * i + 1];
        uintptr_t function = r->argument[2 * i];
        if (!info != !function)
            found("half of a call");
#endif
        uintptr_t call = (function - ADDRESS) / 16;
        if (!info)
            continue;
        if (!(info & 1) || function % 16 || call >= calls)
            found("a call that was not made");
        else if (i != count)
            found("a call after the end");
        else
            to[count++] = call;
    }
    return count;
}

/* How often a call is in the ring. Each slot has calls of one thread, in the
 * order that it made them. */
static unsigned times_there(unsigned call)
{
    const struct recorder_ring *ring = recorder_for_functions.rings;
    unsigned slot, i, times = 0;
    for (slot = 0; slot < SLOTS; slot++) {
        struct recorder_record r;
        uintptr_t of[4], commit = recorder_look_(ring, SLOTS - 1, slot, &r);
        unsigned count = commit ? slot_calls(&r, of) : 0;
        for (i = 0; i < count; i++) {
            times += of[i] == call;
            if (owner[of[i]] != recorder_commit_thread_(commit))
                found("a call in a slot of another thread");
            if (i && of[i] <= of[i - 1] &&
                owner[of[i]] != RECORDER_THREAD_SHARED)
                found("a call before an earlier one");
        }
    }
    return times;
}

/* Each call is there once when its hook returns, unless others came round. */
static void make_calls(unsigned count)
{
    const struct recorder_ring *ring = recorder_for_functions.rings;
    while (count-- && calls < most_calls) {
        unsigned call = calls++, times;
        uintptr_t write = ring->write;
        bool was = masked;
        owner[call] = (unsigned short)context;
        recorder_call_note_(&recorder_for_functions, recorder_call_format_,
                            ADDRESS + 16 * (uintptr_t)call, 0x7000000, 0);
        masked = true; /* nothing comes while the test looks */
        times = times_there(call);
        appended += ring->write == write;
        if (times > 1)
            found("a call is there twice");
        if (times == 0 && ring->write - write < SLOTS)
            found("a call is lost");
        masked = was;
    }
}

static void *task(void *number)
{
    unsigned me = (unsigned)(uintptr_t)number;
    pthread_mutex_lock(&baton);
    wait_for(me);
    context = task_numbers[me];
    while (calls < most_calls) {
        make_calls(1);
        masked_step("between two calls");
    }
    if (me != ended) { /* they end in order, and then the test goes on */
        pass_to(ended);
        wait_for(me);
    }
    pass_to(++ended);
    pthread_mutex_unlock(&baton);
    return NULL;
}

/* Runs all tasks until there are so many calls; what was wrong is in `fault`. */
static void run(unsigned count, bool with_masks)
{
    pthread_t threads[TASKS];
    uintptr_t i;
    masks = with_masks;
    most_calls = count;
    pthread_mutex_lock(&baton);
    for (i = 0; i < TASKS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, task, (void *)i), 0);
    pass_to(0);
    wait_for(TASKS);
    pthread_mutex_unlock(&baton);
    for (i = 0; i < TASKS; i++)
        pthread_join(threads[i], NULL);
}

/* Goal: no call is torn, lost, there twice or in a slot of another thread or
 * lap, whatever interrupts come and however tasks are switched. */
Test(masked, tasks_and_interrupts_at_each_step_cross_no_call)
{
    unsigned count = (unsigned)scaled(CALLS);
    run(count, true);
    cr_assert_eq(faults, 0, "%u faults, the last: %s", faults, fault);
    cr_assert_gt(appended, count / 20, "%u of %u calls are appended", appended,
                 count);
}

/* Interrupts come between the words of a call and of the newest slot. */
Test(masked, without_masks_calls_are_crossed)
{
    run((unsigned)scaled(CALLS), false);
    cr_assert_gt(faults, 0, "what the masks are for was not seen");
}
