/* Locks of files, mutexes that processes share, and locks within libraries. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(peers, .init = build_begin, .fini = build_end, .timeout = 300);

static pid_t start(const char *way)
{
    char line[64];
    build_once("gcc -O1 -g -o peers " BUILD_PROGRAMS "/peers.c -lpthread");
    snprintf(line, sizeof line, "./peers %s", way);
    return command_start(line);
}
/* Looks at a process until the output has a text, for at most a minute. */
static void until(pid_t pid, const char *says)
{
    for (double limit = seconds_now() + 20; seconds_now() < limit;) {
        command("threads --check %d", pid);
        if (strstr(build_text, says))
            return;
        usleep(50000);
    }
    cr_assert_fail("no \"%s\" in\n%s", says, build_text);
}
static pid_t child_of(pid_t pid)
{
    build_must("cat /proc/%d/task/%d/children", pid, pid);
    return (pid_t)atoi(build_text);
}

/* Goal: processes that wait for each other in a circle are a deadlock, whichever
 * of them is looked at, and a thread of each is named. The list of all locks of
 * the machine changes during each look. */
Test(peers, a_deadlock_of_processes)
{
    static const char *const ways[][2] = {
        {"flock",
         " waits for flock %s/file_b of process %d peers, at by_flock"},
        {"range",
         " waits for file lock %s/file_a of process %d peers, at range_lock"},
        {"mutex", " waits for mutex %.0s0x"}};
    pid_t changes = start("changes processes");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char line[64], says[512];
        pid_t pid, child;
        snprintf(line, sizeof line, "%s processes", ways[i][0]);
        pid = start(line);
        until(pid, "DEADLOCK of 2 threads of several processes: ");
        child = child_of(pid);
        build_must("true");
        snprintf(says, sizeof says, ways[i][1], build_folder, (int)child);
        for (int look = 0; look < 10; look++) {
            cr_assert_eq(command("threads --check %d", pid), 3, "%s",
                         build_text);
            cr_assert(strstr(build_text, says), "no %s in\n%s", says,
                      build_text);
        }
        cr_assert_eq(command("threads --check %d", child), 3, "%s", build_text);
        cr_assert(strstr(build_text, "DEADLOCK of 2"), "%s", build_text);
        command_must("threads --locks --json %d", pid);
        snprintf(says, sizeof says, "\"process\":%d", (int)child);
        cr_assert(strstr(build_text, says), "no %s in\n%s", says, build_text);
        command_must("threads %d", pid);
        cr_assert(strstr(build_text, "1 thread, 1 different stack"), "%s",
                  build_text);
        command_stop(pid);
    }
    command_stop(changes);
}

/* Goal: a lock of a file is one of its process: a deadlock of two threads is
 * said if no other thread of the process goes on, and only then. */
Test(peers, file_locks_are_those_of_a_process)
{
    pid_t pid = start("flock threads");
    until(pid, "DEADLOCK of 2 threads: ");
    command_stop(pid);
    pid = start("flock idle");
    until(pid, "/file_b  process");
    cr_assert_eq(command("threads --check %d", pid), 0, "%s", build_text);
    cr_assert_null(strstr(build_text, "DEADLOCK"), "%s", build_text);
    command_stop(pid);
}

/* Goal: the process that holds a file's lock and goes on is named, and nothing
 * is called a deadlock. */
Test(peers, the_holder_of_a_file_lock)
{
    static const char *const ways[] = {"holder processes", "lockf processes"};
    for (int i = 0; i < 2; i++) {
        char says[64];
        pid_t pid = start(ways[i]);
        snprintf(says, sizeof says, "/file_a  process %d peers  ",
                 (int)child_of(pid));
        until(pid, says);
        cr_assert_eq(command("threads --check %d", pid), 0, "%s", build_text);
        cr_assert_null(strstr(build_text, "DEADLOCK"), "%s", build_text);
        command_stop(pid);
    }
}

/* Goal: locks within libc and libstdc++ have holders, too: a FILE notes it; of
 * malloc's locks and a static variable, the stacks tell it. */
Test(peers, locks_within_libraries)
{
    pid_t pid = start("stream threads");
    until(pid, "DEADLOCK of 2 threads: ");
    cr_assert(strstr(build_text, " waits for stream "), "%s", build_text);
    command_stop(pid);
    pid = start("malloc");
    if (!pid)
        build_skip("no signal came while malloc had its lock");
    until(pid, "DEADLOCK of 1 thread: ");
    cr_assert(strstr(build_text, " waits for malloc lock "), "%s", build_text);
    command_stop(pid);
    build_must("g++ -O1 -g -o static " BUILD_PROGRAMS
               "/lock_guard.cc -lpthread");
    pid = command_start("./static");
    until(pid, "DEADLOCK of 2 threads: ");
    cr_assert(strstr(build_text, "for only()::it of "), "%s", build_text);
    cr_assert(strstr(build_text, " waits for mutex guarded of "), "%s",
              build_text);
    command_stop(pid);
}
