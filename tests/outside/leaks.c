/* Locks whose holders have ended: no thread can release them, none other is
 * blamed. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(leaks, .init = build_begin, .fini = build_end, .timeout = 300);

/* Starts the program in one of its ways, below another command or none. */
static pid_t start(const char *below, const char *way)
{
    char line[600];
    pid_t pid;
    build_once("gcc -O1 -g -o leaks " BUILD_PROGRAMS "/leaks.c -lpthread");
    snprintf(line, sizeof line, "%s ./leaks %s", below, way);
    pid = command_start(line);
    if (pid == 0)
        build_skip("a thread's kernel id cannot be chosen here");
    return pid;
}
static void must_say(const char *text)
{
    cr_assert(strstr(build_text, text), "no \"%s\" in\n%s", text, build_text);
}
static void must_not_say(const char *text)
{
    cr_assert_null(strstr(build_text, text), "%s", build_text);
}

/* Goal: a lock whose holder has ended is no lock of a thread that lives, and
 * --check fails. Method: a waiter, of a process with and without recorder run;
 * the recording, too. */
Test(leaks, a_lock_of_an_ended_thread)
{
    static const char *const below[] = {"", RECORDER " run -q -o rec"};
    for (int i = 0; i < 2; i++) {
        pid_t pid = start(below[i], "ended");
        cr_assert_eq(command("threads --check %d", pid), 3, "%s", build_text);
        must_say(", which has ended; no thread can release it");
        must_not_say("DEADLOCK");
        cr_assert_eq(command("threads --locks --json %d", pid), 0);
        command_must("threads --json %d", pid);
        must_say("\"lost\":true");
        command_stop(pid);
    }
    cr_assert_eq(command("threads --check rec"), 3, "%s", build_text);
    must_say(", which has ended; no thread can release it");
}

/* Goal: if only the order of ids is known, two threads may be the holder: the
 * output is the same for the thread that leaked the lock and for one that has
 * it. */
Test(leaks, an_id_that_may_have_come_again)
{
    static const char *const ways[] = {"soon", "late", "wrapped"};
    for (int i = 0; i < 3; i++) {
        pid_t pid = start("", ways[i]);
        cr_assert_eq(command("threads --check %d", pid), 3, "%s", build_text);
        must_not_say("DEADLOCK");
        must_say("HANG of 2 threads");
        must_say(" innocent, or of an ended thread that had this kernel id "
                 "before");
        command_must("threads --locks --json %d", pid);
        must_not_say("\"deadlock\"");
        command_must("threads -t innocent %d", pid);
        must_not_say("holds mutex gone");
        command_stop(pid);
    }
}

/* Goal: recorder run knows the start of each thread and its locks: the output
 * names the thread that leaked the lock, not the one that has its id now. */
Test(leaks, an_id_that_came_again_as_recorded)
{
    pid_t pid = start(RECORDER " run -q -o rec", "soon");
    command_must("threads %d", pid);
    must_say("waits for mutex gone of T2 ");
    must_not_say("DEADLOCK");
    command_stop(pid);
    command_must("threads rec");
    must_say("waits for mutex gone of T2 ");
    must_say(", which has ended; no thread can release it");
    cr_assert_eq(command("threads --check rec"), 3, "%s", build_text);
}
