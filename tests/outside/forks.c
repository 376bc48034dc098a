/* forks.c - fork() in a handler that interrupted record(), with a recording. */
/* SPDX-License-Identifier: MIT */
static void step(const char *where);
#define RECORDER_STEP_(label) step(#label)
#include "recorder_dump.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child before recorder.h's own handler, since it is registered
 * first: the constructors of recorders have priority 101, too, but come
 * later. */
static void wait_for_parent(void);
__attribute__((constructor(101))) static void wait_in_child(void)
{
    pthread_atfork(NULL, NULL, wait_for_parent);
}

enum { SLOTS = 8 };
RECORDER(forked, SLOTS, "Its writer is interrupted");

static const char *fork_at; /* null: it has forked */
static bool child, parent_first;
static int go_on[2];

/* In the programs of this test, which are not Criterion's. */
static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    _exit(2);
}

static void one(uintptr_t i)
{
    record(forked, "%zu %zu %zu %zu", i, 3 * i, 5 * i, 7 * i);
}

/* Simulates a handler that interrupts record() at a step: the child records
 * there for laps, and only then continues the interrupted record. */
static void step(const char *where)
{
    uintptr_t i;
    if (!fork_at || strcmp(where, fork_at) != 0)
        return;
    fork_at = NULL;
    if (fork() != 0)
        return;
    child = true;
    for (i = 1000; i < 1000 + 5 * SLOTS; i++)
        one(i);
}

/* The child's copy is made in a handler of fork(): here, before it, the parent
 * continues to record for laps, if told to. */
static void wait_for_parent(void)
{
    char byte;
    if (!parent_first)
        return;
    must(recorder_registry.pid != getpid(), "the copy is made already");
    must(read(go_on[0], &byte, 1) == 1, "no word from the parent");
}

/* Null, or what is wrong in the child. */
static const char *fault(void)
{
    struct recorder_ring *ring = recorder_for_forked.rings;
    uintptr_t slot, i, given_up;
    for (slot = 0; slot < SLOTS; slot++) {
        struct recorder_record r;
        const uintptr_t *a = r.argument;
        if (recorder_look_(ring, SLOTS - 1, slot, &r) &&
            (a[1] != 3 * a[0] || a[2] != 5 * a[0] || a[3] != 7 * a[0]))
            return "a slot mixes two records";
    }
    for (i = 0; i < 2 * SLOTS; i++)
        one(i);
    given_up = ring->given_up;
    for (i = 0; i < SLOTS; i++)
        one(i);
    return ring->given_up == given_up ? NULL : "a slot has not come back";
}

/* Returns whether the child found a fault. */
static bool fork_in_record(const char *where)
{
    int status;
    uintptr_t i;
    for (i = 0; i < 20; i++)
        one(i);
    fork_at = where;
    one(77);
    if (child) {
        const char *wrong = fault();
        if (wrong)
            fprintf(stderr, "%s, the parent %s: %s\n", where,
                    parent_first ? "is first" : "is not waited for", wrong);
        _exit(wrong != NULL);
    }
    for (i = 0; i < 3 * SLOTS; i++)
        one(i);
    must(!parent_first || write(go_on[1], "", 1) == 1, "pipe");
    must(wait(&status) > 0, "wait");
    return status != 0;
}

/* The program: one thread, and a recording. */
static void program(const char *path)
{
    static const char *const steps[] = {"W1", "W2", "W3",     "W4",
                                        "W5", "W6", "W6_end", "W7"};
    unsigned i, first, faults = 0;
    must(pipe(go_on) == 0 && recorder_file(path), path);
    for (first = 0; first < 2; first++)
        for (i = 0; i < sizeof steps / sizeof *steps; i++) {
            parent_first = first;
            faults += fork_in_record(steps[i]);
        }
    _exit(faults != 0);
}

/* Goal: whole; a record that a handler interrupted, and that the child of a
 * fork() in this handler continues, mixes with no other, and its slot comes
 * back. Method: fork at each step of a record, in programs whose children have
 * no file, or their own; the child copies its parent's rings at once, or when
 * the parent has overwritten them. */
static void fork_at_each_step(const char *name)
{
    char folder[] = "/tmp/recorder-forks-XXXXXX", path[100], command[120];
    int status;
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (fork() == 0)
        program(path);
    cr_assert(wait(&status) > 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert(system(command) == 0);
    cr_assert(status == 0);
}
Test(forks, into_no_file)
{
    fork_at_each_step("parent.rec");
}
Test(forks, into_a_file_of_its_own)
{
    fork_at_each_step("%p.rec");
}
