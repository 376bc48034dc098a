/* recorder_functions.h: handlers at each step of a hook cross no call. */
/* SPDX-License-Identifier: MIT */
static void functions_step(const char *where);
#define RECORDER_STEP_(label) functions_step(#label)
#define RECORDER_FUNCTIONS_SIZE 4 /* so that a handler soon comes round */
#define RECORDER_FUNCTIONS_LANES 2
#define RECORDER_TIME() 1 /* no slot is left because it is old */
#include "harness/random.h"
#include "recorder_functions.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(packed, .timeout = 300);

/* A call is known by its number: it is the function's address. Each one is
 * stored once, and those of a thread that is not interrupted ascend. */
enum { SLOTS = 4, MOST = 100000, ADDRESS = 0x10000 };

static uintptr_t next_call; /* the number of the next */
static unsigned levels;     /* of handlers that may come */
static unsigned handler_calls, countdown;

static void calls(unsigned count)
{
    while (count--)
        recorder_call_note_(&recorder_for_functions, recorder_call_format_,
                            ADDRESS + 16 * recorder_add_(&next_call, 1),
                            0x7000000, 0);
}

/* At the step that is chosen, a handler runs, with calls of its own. */
static void functions_step(const char *where)
{
    (void)where;
    if (!levels || countdown-- > 0)
        return;
    levels--;
    countdown = handler_calls % 7; /* then one interrupts that, too */
    calls(handler_calls);
}

/* Reads the calls of a slot. Returns how many; checks the words of each. */
static unsigned slot_calls(const struct recorder_record *r, uintptr_t to[4])
{
    unsigned i, count = 0;
    for (i = 0; i < 4 && r->argument[i]; i++) {
        uintptr_t word = r->argument[i];
        cr_assert(word & 1, "a call is not whole: %#lx", word);
        to[count] = (r->caller & ~RECORDER_CALL_MARK_) +
                    (i ? (uintptr_t)((intptr_t)word >> 32) : 0);
        cr_assert((to[count] - ADDRESS) % 16 == 0 &&
                      to[count] < ADDRESS + 16 * next_call,
                  "no call has the function %#lx", to[count]);
        to[count] = (to[count] - ADDRESS) / 16;
        count++;
    }
    for (; i < 4; i++)
        cr_assert_eq(r->argument[i], 0, "a call after the end");
    return count;
}

/* All calls in the ring are different; how many. `ascend`: no handler came. */
static unsigned ring_calls(bool ascend)
{
    struct recorder_ring *ring = recorder_lane_(
        &recorder_for_functions,
        recorder_writer_lane_(recorder_writer_(&recorder_for_functions)));
    struct recorder_record r;
    uintptr_t seen[4 * SLOTS], of[4];
    unsigned count = 0, i, k, slot;
    for (slot = 0; slot < SLOTS; slot++) {
        unsigned have =
            recorder_look_(ring, SLOTS - 1, slot, &r) ? slot_calls(&r, of) : 0;
        for (i = 0; i < have; i++) {
            cr_assert(i == 0 || of[i] > of[i - 1] || !ascend,
                      "call %lu is after call %lu", of[i], of[i - 1]);
            for (k = 0; k < count; k++)
                cr_assert_neq(seen[k], of[i], "call %lu is there twice", of[i]);
            seen[count++] = of[i];
        }
    }
    return count;
}

Test(packed, several_calls_are_in_a_slot)
{
    calls(1000);
    cr_assert_neq(
        recorder_writer_lane_(recorder_writer_(&recorder_for_functions)), 0,
        "this thread has no lane");
    cr_assert_geq(ring_calls(true), 4 * (SLOTS - 1) + 1,
                  "the slots are not full");
}

/* Goal: no call is torn, lost from the middle of a slot, or in a slot of
 * another lap, whatever handlers come. Method: at each step of each of 40 hooks
 * a handler makes 1 to 40 calls, up to two and a half laps, and at a step of
 * its hooks another handler does. */
Test(packed, handlers_at_each_step_cross_no_call)
{
    const uintptr_t *lost;
    for (handler_calls = 1; handler_calls <= 40; handler_calls++)
        for (unsigned depth = 1; depth <= 3; depth++)
            for (unsigned step = 0; step < 60; step++) {
                levels = depth;
                countdown = step;
                calls(6);
                levels = 0;
                ring_calls(false);
            }
    calls(64);
    cr_assert_geq(ring_calls(true), 4 * (SLOTS - 1) + 1,
                  "a slot did not come back");
    lost = &recorder_lane_(&recorder_for_functions, 1)->lost;
    cr_assert_eq(*lost, 0, "%lu calls are lost", *lost);
}

#ifndef __SANITIZE_THREAD__ /* it makes system calls of its own in the child */
/* Goal: after its first call a thread makes no system call, and errno stays.
 * Method: a child that may only exit (seccomp). */
Test(packed, no_system_call)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        calls(1);
        errno = 77;
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            _exit(1);
        calls(1000);
        syscall(SYS_exit, errno == 77 ? 42 : 2);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %#x",
              (unsigned)status);
}
#endif

/* ---------------------------------------------------------------- signals -- */

static void on_alarm(int sig)
{
    (void)sig;
    calls(3);
}

/* The same with signals that come at any instruction, while another thread
 * reads. */
static int stop;
static unsigned long torn;
static void *reads(void *count)
{
    unsigned long *rounds = count;
    struct recorder_ring *ring = recorder_lane_(&recorder_for_functions, 1);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        for (unsigned slot = 0; slot < SLOTS; slot++) {
            struct recorder_record r;
            uintptr_t first;
            if (!recorder_look_(ring, SLOTS - 1, slot, &r))
                continue;
            first = r.caller & ~RECORDER_CALL_MARK_;
            torn += (first - ADDRESS) % 16 != 0;
            for (unsigned i = 0; i < 4 && r.argument[i]; i++) {
                uintptr_t far = (uintptr_t)((intptr_t)r.argument[i] >> 32);
                torn += !(r.argument[i] & 1) || (i && far % 16 != 0) ||
                        (i && far + 16 * MOST > 32 * MOST);
            }
        }
        __atomic_fetch_add(rounds, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

Test(packed, signals_and_readers_see_whole_calls)
{
    struct sigaction act = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    unsigned long rounds = 0;
    pthread_t reader;
    sigset_t alarms;
    calls(1);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* not in the reader */
    cr_assert_eq(pthread_create(&reader, NULL, reads, &rounds), 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned long i = 0; i < scaled(3000000) ||
                              __atomic_load_n(&rounds, __ATOMIC_RELAXED) < 100;
         i++)
        calls(1);
    setitimer(ITIMER_REAL, &never, NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(reader, NULL);
    calls(64);
    cr_assert_geq(ring_calls(true), 4 * (SLOTS - 1) + 1);
    cr_assert_eq(torn, 0, "%lu calls were not whole", torn);
}
