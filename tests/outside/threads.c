/* Threads and locks of programs that know no recorder: waits, holders,
 * stacks. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"
#include "harness/shown.h"

#include <sys/resource.h>

TestSuite(threads, .init = build_begin, .fini = build_end, .timeout = 300);

#define PROGRAM BUILD_PROGRAMS "/threads.c"

static void build_threads(const char *compiler)
{
    build_once("%s -o threads " PROGRAM " -lpthread", compiler);
}
static pid_t start(const char *arguments)
{
    char line[128];
    snprintf(line, sizeof line, "./threads %s", arguments);
    return command_start(line);
}
/* Runs a verb until it says something: threads take their time to begin to
 * wait. A minute guards against a hang. */
static void until(const char *verb, const char *source, const char *says)
{
    for (double limit = seconds_now() + 60; seconds_now() < limit;) {
        command_must("%s %s", verb, source);
        if (strstr(build_text, says))
            return;
        usleep(50000);
    }
    cr_assert_fail("%s does not say \"%s\" but\n%s", verb, says, build_text);
}
static void until_pid(const char *verb, pid_t pid, const char *says)
{
    char source[16];
    snprintf(source, sizeof source, "%d", (int)pid);
    until(verb, source, says);
}

/* ------------------------------------------------------------- deadlocks -- */

/* Threads that wait for each other, their number, and the wait of each. */
static const struct deadlock {
    const char *arguments;
    int threads;
    const char *first, *second;
} deadlocks[] = {
    {"two", 2, "deposit waits for mutex bank of",
     "withdraw waits for mutex cash of"},
    {"circle 3", 3, "circle waits for mutex ring of",
     "circle waits for mutex ring+0x50 of"},
    {"self", 1, "self waits for mutex cash of", "at again threads.c:"},
    {"rwlocks", 2, "reads waits for rwlock pages to read of",
     "writes waits for rwlock table to write of"},
    {"joining", 2, "first waits for the end of thread",
     "second waits for the end of thread"},
    {"join_and_lock", 2, "joins waits for the end of thread",
     "wants waits for mutex cash of"}};
enum { DEADLOCKS = sizeof deadlocks / sizeof *deadlocks };

/* True if the deadlock is the first in the output, and whole. */
static void must_name(const struct deadlock *d, bool has_names)
{
    char head[64];
    snprintf(head, sizeof head, "DEADLOCK of %d thread%s: ", d->threads,
             d->threads == 1 ? "" : "s");
    cr_assert_eq(strncmp(build_text, head, strlen(head)), 0, "%s: %s",
                 d->arguments, build_text);
    cr_assert_null(strstr(build_text + 1, "DEADLOCK"), "%s", build_text);
    /* A core file has no names of threads. */
    cr_assert(
        strstr(build_text, has_names ? d->first : strstr(d->first, " waits")),
        "%s: %s", d->arguments, build_text);
    cr_assert(strstr(build_text, has_names || !strstr(d->second, " waits")
                                     ? d->second
                                     : strstr(d->second, " waits")),
              "%s: %s", d->arguments, build_text);
}

/* Goal: a deadlock of a running process is named first, by both verbs. */
Test(threads, deadlocks_are_named)
{
    build_threads("gcc -O2 -g");
    for (int i = 0; i < DEADLOCKS; i++) {
        pid_t pid = start(deadlocks[i].arguments);
        until_pid("threads", pid, "DEADLOCK");
        must_name(&deadlocks[i], true);
        command_must("threads --locks %d", pid);
        must_name(&deadlocks[i], true);
        command_must("threads --stop %d", pid);
        must_name(&deadlocks[i], true);
        cr_assert_eq(command("threads --check %d", pid), 3);
        command_must("threads --locks --json %d >json", pid);
        build_must("head -n 1 json | grep -o \"\\\"thread\\\":\" | wc -l");
        cr_assert_eq(atoi(build_text), deadlocks[i].threads, "%s: %s",
                     deadlocks[i].arguments, build_text);
        build_must("python3 -c \"import json; [json.loads(l) for l in "
                   "open(\\\"json\\\")]\"");
        command_must("threads --dot %d | grep -c color=red", pid);
        command_stop(pid);
    }
}

/* Goal: and so it is from a core file, of the kernel and of gdb. */
Test(threads, deadlocks_are_named_from_core_files)
{
    build_threads("gcc -O2 -g");
    for (int i = 0; i < DEADLOCKS; i++) {
        const struct deadlock *d = &deadlocks[i];
        pid_t pid;
        if (i && !sampled(2))
            continue;
        pid = start(d->arguments);
        until_pid("threads", pid, "DEADLOCK");
        build_must("gdb -p %d --batch -ex \"generate-core-file gdb.core\"",
                   pid);
        command_stop(pid);
        command_must("threads gdb.core");
        must_name(d, false);
        cr_assert_eq(command("threads --check gdb.core"), 3);
    }
    if (build_run("read pattern </proc/sys/kernel/core_pattern &&"
                  " test \"$pattern\" = core") != 0) {
        build_leaves_out("the kernel writes no core file here");
        return;
    }
    build_run("ulimit -c unlimited; ./threads two 1 core");
    command_must("threads core");
    must_name(&deadlocks[0], false);
}

/* Goal: 500 threads in one circle are one deadlock. */
Test(threads, a_deadlock_of_500)
{
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("circle 500");
    until_pid("threads --locks", pid, "DEADLOCK of 500 threads");
    command_must("threads --locks --json %d | head -n 1 >json", pid);
    build_must("grep -o \"\\\"thread\\\":[0-9]*\" json | sort -u | wc -l");
    cr_assert_eq(atoi(build_text), 500);
    command_stop(pid);
}

/* Goal: running threads are never reported as a deadlock. Method: threads take
 * locks as fast as they can, in an order that allows none; to a single look,
 * they often seem to wait in a circle. */
Test(threads, a_busy_program_has_no_deadlock)
{
    int looks = scaled(500) < 50 ? 50 : (int)scaled(500), waited = 0;
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("busy 8");
    for (int i = 0; i < looks || (waited <= looks / 4 && i < 50 * looks); i++) {
        cr_assert_eq(command("threads --check %d", pid), 0, "%s", build_text);
        cr_assert_null(strstr(build_text, "DEADLOCK"), "%s", build_text);
        waited += strstr(build_text, "mutex ") != NULL;
    }
    cr_assert_gt(waited, looks / 4, "only %d looks saw a wait", waited);
    command_stop(pid);
}

/* Goal: a thread that waits for an ended thread is shown with it, even if that
 * is the first of its process. */
Test(threads, holders_may_have_ended)
{
    char source[64];
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("ended");
    until_pid("threads", pid, "wants_cash waits");
    cr_assert_null(strstr(build_text, "DEADLOCK"), "%s", build_text);
    cr_assert(strstr(strstr(build_text, "wants_bank waits for mutex bank of "),
                     ", which has ended; no thread can release it\n"),
              "%s", build_text);
    snprintf(source, sizeof source,
             "cash of %d threads, which has ended; no thread can release it\n",
             (int)pid);
    cr_assert(strstr(build_text, source), "no %s in\n%s", source, build_text);
    cr_assert(strstr(build_text, "    wants_cash "), "%s", build_text);
    command_stop(pid);
}

/* Goal: who waits for a robust lock, whose first holder has ended, waits for
 * the thread that has it now: in the process, in its recording and its records.
 */
Test(threads, robust_locks_are_held_by_who_recovers)
{
    static const char waits[] = " recovers\n";
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("recovered");
    until_pid("threads", pid, "wants_robust waits for mutex robust of ");
    cr_assert(strstr(build_text, waits), "%s", build_text);
    command_stop(pid);
    pid = command_start(RECORDER " run -q -o rec ./threads recovered");
    until("threads", "rec", "wants_robust  waits for mutex robust of T");
    cr_assert(strstr(build_text, waits), "%s", build_text);
    command_stop(pid);
    command_must("threads rec");
    cr_assert(strstr(build_text, waits), "%s", build_text);
    command_must("threads --check rec");
    command_must("dump rec");
    cr_assert_null(strstr(build_text, "2147483647"), "%s", build_text);
}

/* Goal: a lock held by another process is shown with it; a futex without a
 * waiting function of the libc is named by its variable, and by its waiters. */
Test(threads, holders_may_be_of_another_process)
{
    char holds[64];
    pid_t pid;
    build_must("gcc -O1 -g -o shared " BUILD_PROGRAMS "/shared.c -lpthread");
    pid = command_start("./shared");
    build_must("cut -d \" \" -f 4 /proc/%d/stat", pid); /* its parent */
    snprintf(holds, sizeof holds, " of %d shared, of another process",
             atoi(build_text));
    until_pid("threads", pid, " shared waits for futex word\n");
    until_pid("threads", pid, holds);
    until_pid("threads --locks", pid, " shared, at waits_raw shared.c:");
    cr_assert_null(strstr(build_text, "DEADLOCK"), "%s", build_text);
    command_stop(pid);
}

/* Goal: a thread that waits within a call that wakes others waits for the
 * condition, not for a mutex, of which some word would name a holder. */
Test(threads, signals_wait_for_their_condition)
{
    pid_t pid;
    if (build_run("gcc -O1 -g -o signals " BUILD_PROGRAMS
                  "/signals_wait.c -lpthread"))
        build_skip("this libc has other condition variables");
    pid = command_start("./signals");
    until_pid("threads", pid, " signals waits for condition leaving\n");
    until_pid("threads", pid, " signals waits for condition locked\n");
    until_pid("threads", pid, " signals waits for condition used\n");
    cr_assert_null(strstr(build_text, "mutex"), "%s", build_text);
    command_stop(pid);
}

/* Goal: a wait for a condition is distinguished from one for its mutex, even if
 * both are the same command to the kernel, as in glibc 2.31. */
Test(threads, conditions_of_older_libcs)
{
    char holder[64];
    pid_t pid;
    build_must("gcc -O1 -g -static -o old " BUILD_PROGRAMS
               "/old_condition.c -lpthread");
    pid = command_start("./old");
    snprintf(holder, sizeof holder, " old waits for mutex taken of %d old\n",
             (int)pid);
    until_pid("threads", pid, " old waits for condition ready\n");
    until_pid("threads", pid, " old waits for condition group\n");
    until_pid("threads", pid, holder);
    cr_assert_null(strstr(build_text, "mutex ready"), "%s", build_text);
    command_stop(pid);
}

/* Goal: a place is one of the program's own code, not of a header of C++; names
 * of Go, which have dots, are whole. */
Test(threads, places_are_those_of_the_program)
{
    static const char *const flags[] = {"-O0", "-O2"};
    for (int i = 0; i < 2; i++) {
        pid_t pid;
        build_must("g++ %s -g -o guarded " BUILD_PROGRAMS
                   "/lock_guard.cc -lpthread",
                   flags[i]);
        pid = command_start("./guarded");
        until_pid("threads --locks", pid,
                  " lock_guard.cc:14 < only lock_guard.cc:");
        cr_assert_null(strstr(build_text, "gthr"), "%s", build_text);
        command_stop(pid);
    }
    build_must("gcc -g -o go " BUILD_PROGRAMS "/go_name.c");
    until_pid("threads", command_start("./go"), "main.server.handle.func1 ");
}

/* ----------------------------------------------------------------- waits -- */

/* The expected output for each thread of ./threads kinds, after its name. */
static const char *const kinds[][2] = {
    {"late", "waits for mutex late_mutex of MAIN"},
    {"mutex", "waits for mutex cash of MAIN"},
    {"timed", "waits for mutex cash of MAIN, for a time"},
    {"recursive", "waits for mutex recursive of MAIN"},
    {"inheriting", "waits for mutex inheriting of MAIN"},
    {"plain", "waits for mutex plain of MAIN"},
    {"condition", "waits for condition ready\n"},
    {"cond_timed", "waits for condition ready, for a time"},
    {"to_read", "waits for rwlock table to read of MAIN"},
    {"to_write", "waits for rwlock table to write of MAIN"},
    {"holds_pages", "waits for a signal"},
    {"behind", "waits for rwlock pages to write of 1 reader"},
    {"semaphore", "waits for semaphore items"},
    {"barrier", "waits for barrier gate"},
    {"once_first", "waits for a signal"},
    {"once", "waits for once setup"},
    {"sleeper", "sleeps for a time"},
    {"reader", "waits in read of "}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Checks the text of `threads`; with `main_thread`, the holders of the locks. */
static void must_tell_kinds(const char *what, const char *main_thread,
                            bool has_names)
{
    cr_assert_null(strstr(build_text, "DEADLOCK"), "%s: %s", what, build_text);
    cr_assert(strstr(build_text, " waits for a signal; holds mutex late_mutex, "
                                 "mutex cash, mutex recursive, mutex "
                                 "inheriting, mutex plain, rwlock table\n"),
              "%s: %s", what, build_text);
    for (int i = 0; i < KINDS; i++) {
        char line[256], *at;
        const char *does = kinds[i][1], *holder = strstr(does, "MAIN");
        snprintf(line, sizeof line, " %s%s%.*s%s%s",
                 has_names ? kinds[i][0] : "", has_names ? " " : "",
                 (int)(holder ? (size_t)(holder - does) : strlen(does)), does,
                 holder ? main_thread : "", holder ? holder + 4 : "");
        at = strstr(build_text, line);
        cr_assert(at, "%s: no \"%s\" in\n%s", what, line, build_text);
    }
}
static void kinds_live(const char *compiler)
{
    char main_thread[32];
    pid_t pid;
    build_threads(compiler);
    pid = start("kinds");
    snprintf(main_thread, sizeof main_thread, "%d threads", (int)pid);
    until_pid("threads", pid, "reader waits");
    must_tell_kinds(compiler, main_thread, true);
    build_must("gdb -p %d --batch -ex \"generate-core-file kinds.core\"", pid);
    command_stop(pid);
    snprintf(main_thread, sizeof main_thread, "%d", (int)pid);
    command_must("threads kinds.core");
    must_tell_kinds(compiler, main_thread, false);
}
Test(threads, every_kind_of_wait_is_told)
{
    kinds_live("gcc -O2 -g");
}
Test(threads, every_kind_of_wait_is_told_unoptimized, .init = build_long)
{
    kinds_live("gcc -O0 -g");
}
Test(threads, every_kind_of_wait_is_told_of_a_static_program,
     .init = build_long)
{
    kinds_live("gcc -O2 -g -static");
}
/* Goal: a thread that waits for good, because the kernel refused a deadlock of
 * mutexes that inherit priorities, is shown so; the other waits for a mutex of
 * that one. */
Test(threads, a_deadlock_that_the_kernel_refused_is_told)
{
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("refused");
    until_pid(
        "threads", pid,
        " inherits waits for mutex (which one is not told), for good: the "
        "kernel refused it as a deadlock");
    until_pid("threads", pid, " inherits waits for mutex ring");
    cr_assert_eq(build_run(RECORDER " threads --check %d", (int)pid), 3, "%s",
                 build_text);
    command_stop(pid);
}
/* Goal: without any symbol of the program, its locks have addresses. */
Test(threads, every_kind_of_wait_is_told_of_a_stripped_program)
{
    pid_t pid;
    build_threads("gcc -O2 -s");
    pid = start("kinds");
    until_pid("threads", pid, "reader waits");
    for (int i = 0; i < KINDS; i++) {
        char what[64] = " ";
        const char *of = strstr(kinds[i][1], "waits for ");
        strcat(what, kinds[i][0]);
        if (of && !strstr(of, "signal"))
            snprintf(what, sizeof what, " %s %.*s 0x", kinds[i][0],
                     (int)(strcspn(of + 10, " ") + 10), of);
        cr_assert(strstr(build_text, what), "no %s in\n%s", what, build_text);
    }
    command_stop(pid);
}
/* Goal: the names of the libc's inner functions are not needed, which only its
 * debug symbols have. */
Test(threads, every_kind_of_wait_is_told_without_symbols_of_the_libc)
{
    pid_t pid;
    if (build_run("unshare -m true") != 0)
        build_skip("only root may hide /usr/lib/debug");
    build_threads("gcc -O2 -g");
    pid = start("kinds");
    until_pid("threads", pid, "reader waits");
    if (build_run("test -e $(unshare -m cat /proc/%d/maps |"
                  " grep -o -m 1 \"/.*libc.so.6\")",
                  pid) != 0)
        build_skip("in this chroot, unshare hides the libc, too");
    build_must(
        "unshare -m sh -c \"mount -t tmpfs none /usr/lib/debug && " RECORDER
        " threads %d\"",
        pid);
    for (int i = 0; i < KINDS; i++) {
        char what[64];
        snprintf(what, sizeof what, " %s %.*s", kinds[i][0],
                 (int)strcspn(kinds[i][1], "M"), kinds[i][1]);
        if (strcmp(kinds[i][0], "timed") == 0)
            strcpy(what, " timed waits for mutex"); /* possibly a mutex */
        cr_assert(strstr(build_text, what), "no %s in\n%s", what, build_text);
    }
    command_stop(pid);
}
/* Goal: programs of 32 bits, on the same machine. */
Test(threads, deadlocks_are_named_in_words_of_32_bits)
{
    pid_t pid;
    build_needs_flags("gcc", "-m32");
    build_threads("gcc -m32 -O2 -g");
    for (int i = 0; i < DEADLOCKS; i++) {
        if (i == 1) /* ring's elements have another size */
            continue;
        pid = start(deadlocks[i].arguments);
        until_pid("threads", pid, "DEADLOCK");
        must_name(&deadlocks[i], true);
        command_stop(pid);
    }
    pid = start("kinds");
    until_pid("threads", pid, " once waits for once setup\n");
    cr_assert(strstr(build_text, " semaphore waits for semaphore items\n"),
              "%s", build_text);
    cr_assert(
        strstr(build_text, " to_write waits for rwlock table to write of "),
        "%s", build_text);
    cr_assert(strstr(build_text, " behind waits for rwlock pages to write of 1"
                                 " reader\n"),
              "%s", build_text);
    command_stop(pid);
}
/* Goal: programs of musl, whose library has no tables of its frames and notes
 * few holders: the wait of each thread, and its place. */
Test(threads, waits_of_musl)
{
    static const char *const says[] = {
        " mutex waits for mutex cash\n",
        " recursive waits for mutex recursive of ",
        " inheriting waits for mutex inheriting of ",
        " condition waits for condition (which one is not told)\n",
        " to_read waits for rwlock table to read\n",
        " to_write waits for rwlock table to write\n",
        " semaphore waits for semaphore items\n",
        " barrier waits for barrier (which one is not told)\n",
        " once waits for once setup\n",
        " reader waits in read of ",
        " (pipe:[",
        "\n    take_item  ",
        "Its libc is musl: of most locks it does not note who holds them.\n"};
    pid_t pid;
    build_needs("musl-gcc");
    build_threads("musl-gcc -O2 -g -w");
    pid = start("kinds");
    until_pid("threads", pid, says[0]);
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        cr_assert(strstr(build_text, says[i]), "no %s in\n%s", says[i],
                  build_text);
    command_must("threads --locks %d", pid);
    command_stop(pid);
}

/* ---------------------------------------------------------------- stacks -- */

/* Goal: stacks equal gdb's, which stops the process and has all registers. */
static void stacks_of(const char *compiler, const char *arguments)
{
    pid_t pid;
    build_threads(compiler);
    pid = start(arguments);
    do { /* all of its threads will wait */
        usleep(100000);
        command_must("threads %d", pid);
    } while (strstr(build_text, " runs\n") || strstr(build_text, "it may be"));
    command_must("threads --json %d >json", pid);
    build_must("gdb -p %d --batch -ex \"thread apply all bt\" >bt", pid);
    build_must("python3 " BUILD_PROGRAMS "/threads.py bt json");
    command_must("threads --stop --json %d >json", pid);
    build_must("python3 " BUILD_PROGRAMS "/threads.py bt json");
    /* With all registers, the frames of the libc, too, are the same. */
    command_must("threads %d | head -n -1 >live", pid);
    command_must("threads --stop %d | head -n -1 >stopped", pid);
    build_must("diff live stopped");
    command_stop(pid);
}
Test(threads, stacks_are_those_of_gdb)
{
    stacks_of("gcc -O2 -g", "kinds");
    stacks_of("gcc -O0 -g", "frames");
}
Test(threads, stacks_are_those_of_gdb_otherwise, .init = build_long)
{
    stacks_of("gcc -O0 -g", "kinds");
    stacks_of("gcc -O2 -g", "frames");
    stacks_of("gcc -O1 -g -fno-plt", "frames");
    stacks_of("gcc -O3 -g -static", "frames");
    stacks_of("gcc -O2 -g -fno-omit-frame-pointer", "frames");
    stacks_of("gcc -O2 -g -no-pie -fcf-protection=none", "frames");
    if (build_has("clang"))
        stacks_of("clang -O0 -g", "frames");
    if (build_can("gcc", "-m32"))
        stacks_of("gcc -m32 -O2 -g", "two");
}

/* Goal: threads that wait at one place are one stack; and 500 are listed in at
 * most 2 s of one core, the least of some. */
Test(threads, equal_stacks_are_shown_once)
{
    struct rusage before, after;
    double seconds = 2;
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("pool 500");
    until_pid("threads", pid, "500 threads: ");
    cr_assert(strstr(build_text, "501 threads, 2 different stacks"), "%s",
              build_text);
    cr_assert(strstr(build_text, " worker waits for condition ready\n"), "%s",
              build_text);
    for (int i = 0; i < 5 && seconds >= 2; i++) {
        getrusage(RUSAGE_CHILDREN, &before);
        command_must("threads %d", pid);
        getrusage(RUSAGE_CHILDREN, &after);
        seconds = (double)(after.ru_utime.tv_sec + after.ru_stime.tv_sec -
                           before.ru_utime.tv_sec - before.ru_stime.tv_sec) +
                  (double)(after.ru_utime.tv_usec + after.ru_stime.tv_usec -
                           before.ru_utime.tv_usec - before.ru_stime.tv_usec) /
                      1e6;
    }
    cr_assert_lt(seconds, 2, "%g s", seconds);
    command_stop(pid);
}

/* Goal: a running thread is stopped only on request. */
Test(threads, only_stop_shows_the_stack_of_a_thread_that_runs,
     .init = build_long)
{
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("running");
    command_must("threads %d", pid);
    cr_assert(strstr(build_text, " spinner runs\n\n"), "%s", build_text);
    cr_assert(strstr(build_text, "--stop reads it"), "%s", build_text);
    command_must("threads --stop %d", pid);
    cr_assert(strstr(build_text, " spinner runs\n    spinner "), "%s",
              build_text);
    cr_assert(strstr(build_text, "was stopped for "), "%s", build_text);
    build_must("grep -q \"^State:.[RS]\" /proc/%d/status", pid);
    command_must("threads %d", pid);
    cr_assert(strstr(build_text, " spinner runs\n\n"), "%s", build_text);
    command_stop(pid);
}

/* Goal: --stop stops no process for long, even where a thread does not stop. */
Test(threads, stop_waits_for_nobody_in_vain)
{
    double begun;
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("uninterruptible");
    until_pid("threads", pid, "DEADLOCK");
    begun = seconds_now();
    command_must("threads --stop %d", pid);
    cr_assert_lt(seconds_now() - begun, 10);
    cr_assert(strstr(build_text, "DEADLOCK of 2 threads"), "%s", build_text);
    cr_assert(strstr(build_text, " forks waits in vfork"), "%s", build_text);
    /* They sleep again. */
    build_must("until test $(grep -c \"State:.[SD]\" /proc/%d/task/*/status | "
               "grep -c :1) = 4; do sleep 0.01; done",
               pid);
    command_stop(pid);
}

/* Goal: no thread as much as wakes up because of a look. */
Test(threads, nobody_is_stopped)
{
    static const char counts[] =
        "cat /proc/%d/task/*/status | grep ctxt_switches >%s";
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("kinds");
    until_pid("threads", pid, "reader waits");
    command_rests(pid);
    build_must(counts, pid, "before");
    for (int i = 0; i < 5; i++) {
        command_must("threads %d", pid);
        command_must("threads --locks %d", pid);
    }
    build_must(counts, pid, "after");
    build_must("test -s before && diff before after");
    command_stop(pid);
}

/* ---------------------------------------------------- what cannot be read -- */

static void must_refuse(const char *source, const char *says)
{
    cr_assert_eq(command("threads %s", source), 1, "%s: %s", source,
                 build_text);
    cr_assert(strstr(build_text, says), "%s: %s", source, build_text);
    cr_assert_eq(command("threads --locks --json %s", source), 1, "%s",
                 build_text);
    cr_assert(strstr(build_text, says), "%s: %s", source, build_text);
}

/* Goal: a sentence says why, and the status is 1. */
Test(threads, what_cannot_be_read_says_why)
{
    char source[64];
    pid_t pid;
    build_threads("gcc -O2 -g");
    must_refuse("2147483647", "no such process");
    must_refuse("./threads", "is a program, no core file");
    build_must("echo text >text");
    must_refuse("text", "is no core file");
    cr_assert_eq(command("threads --json --dot 1"), 2);
    cr_assert_eq(command("threads --by site --order 1"), 2);
    cr_assert_eq(command("threads --locks --thread nobody 1"), 2);
    pid = start("two");
    snprintf(source, sizeof source, "--thread nobody %d", (int)pid);
    cr_assert_eq(command("threads %s", source), 1);
    cr_assert(strstr(build_text, "no thread is nobody"), "%s", build_text);
    cr_assert_eq(command("threads --order %d", (int)pid), 1);
    cr_assert(strstr(build_text, "recorded no locks"), "%s", build_text);
    command_stop(pid);
}

/* Goal: the same for a user who may not read a process. Method: root starts it,
 * and another user looks, also at one of his own that forbids it. */
Test(threads, what_may_not_be_read_says_so)
{
    static const char nobody[] =
        "setpriv --reuid 65534 --regid 65534 --clear-groups";
    char line[128];
    pid_t pid;
    if (build_run("%s true", nobody) != 0)
        build_skip("only root may become another user");
    build_threads("gcc -O2 -g");
    build_must("chmod 755 .");
    pid = start("two");
    cr_assert_eq(build_run("%s " RECORDER " threads %d", nobody, pid), 1);
    cr_assert(strstr(build_text, "may not be read by this user"), "%s",
              build_text);
    command_stop(pid);
    snprintf(line, sizeof line, "%s ./threads unreadable", nobody);
    pid = command_start(line);
    cr_assert_eq(build_run("%s " RECORDER " threads %d", nobody, pid), 1);
    cr_assert(strstr(build_text, "may not be read by this user"), "%s",
              build_text);
    command_stop(pid);
}

/* Goal: a process may end at any time. */
Test(threads, a_process_may_end_meanwhile)
{
    build_threads("gcc -O2 -g");
    for (unsigned i = 0; i < scaled(50); i++) {
        pid_t pid = start("pool 100");
        int status;
        status = build_run(RECORDER " threads %d >out & sleep 0.0%d; "
                                    "kill -9 %d; wait $!",
                           pid, i % 10, pid);
        cr_assert(status == 0 || status == 1, "status %d: %s", status,
                  build_text);
        waitpid(pid, NULL, 0);
    }
}

/* --------------------------------------------------------------- hostile -- */

/* Goal: stack pointers may lead anywhere. */
Test(threads, stacks_may_be_anything, .init = build_long)
{
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("scribbled");
    command_must("threads %d", pid);
    cr_assert(strstr(build_text, "10 threads"), "%s", build_text);
    build_must("gdb -p %d --batch -ex \"generate-core-file core\"", pid);
    command_stop(pid);
    command_must("threads core");
    cr_assert(strstr(build_text, "10 threads"), "%s", build_text);
}

/* Goal: a core file may be cut off anywhere, and hold anything. Method: one is
 * cut at random lengths; another has random bytes in its notes, that is in
 * registers and lists of files, and in its memory. */
Test(threads, core_files_may_be_anything, .init = build_long)
{
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("two");
    until_pid("threads", pid, "DEADLOCK");
    build_must("gdb -p %d --batch -ex \"generate-core-file whole\"", pid);
    command_stop(pid);
    for (unsigned i = 0; i < scaled(100); i++) {
        int status;
        build_must("cp --sparse=always whole bad && python3 -c \"import os, "
                   "random; r = random.Random(%u)\n"
                   "size = os.path.getsize(\\\"bad\\\")\n"
                   "n = r.choice([4096, 65536, size])\n"
                   "if %u: os.truncate(\\\"bad\\\", r.randrange(64, n))\n"
                   "else:\n"
                   "  f = open(\\\"bad\\\", \\\"r+b\\\")\n"
                   "  for i in range(r.choice([1, 10, 1000])):\n"
                   "    f.seek(r.randrange(64, n))\n"
                   "    f.write(bytes([r.randrange(256)]))\"",
                   i, i % 2);
        status = command("threads bad");
        cr_assert(status == 0 || status == 1, "seed %u: status %d: %.500s", i,
                  status, build_text);
        status = command("threads --dot bad");
        cr_assert(status == 0 || status == 1, "seed %u: status %d: %.500s", i,
                  status, build_text);
    }
}

/* Goal: names of threads control no terminal, and break no JSON. */
Test(threads, names_are_escaped)
{
    pid_t pid;
    build_threads("gcc -O2 -g");
    pid = start("named");
    command_must("threads %d", pid);
    cr_assert_null(shown_wrong(build_text, strlen(build_text)), "%s",
                   build_text);
    cr_assert(strstr(build_text, "\\x1b[31m"), "%s", build_text);
    command_must("threads --json %d >json; " RECORDER
                 " threads --locks --json %d >>json",
                 pid, pid);
    build_must("python3 -c \"import json; [json.loads(l) for l in "
               "open(\\\"json\\\")]\"");
    command_stop(pid);
}

/* Goal: threads of a program with recorders have the numbers of its records;
 * its recordings have no stacks, and a line reports that. */
Test(threads, numbers_are_those_of_the_registry, .init = build_long)
{
    pid_t pid;
    command_build("command", "gcc -O1 -g");
    pid = command_start("./command quiet");
    command_must("list --json %d | grep \\\"thread\\\" | head -n 1", pid);
    cr_assert(strstr(build_text, "\"thread\":1,"), "%s", build_text);
    command_must("threads %d", pid);
    cr_assert(strstr(build_text, "T1 "), "%s", build_text);
    command_must("threads --json --thread T1 %d", pid);
    cr_assert(strstr(build_text, "\"number\":1,"), "%s", build_text);
    command_must("save %d -o kept.rec", pid);
    command_stop(pid);
    must_refuse("kept.rec", "is a recording");
    cr_assert_eq(command("threads --stop kept.rec"), 1);
}

/* Goal: a name that recorder_thread_name() gave is shown, and chooses the thread,
 * live and in a core; a thread without one has the system's name. A deadlock
 * has the threads' numbers in records, too. */
Test(threads, names_that_the_program_gave)
{
    pid_t pid;
    char source[16];
    build_must("cat >given.c <<X\n#include <recorder.h>\n"
               "#include <pthread.h>\n#include <unistd.h>\n"
               "RECORDER(net, 16, \"\")\n"
               "static pthread_t first;\nstatic void *given(void *p) {\n"
               "pthread_setname_np(pthread_self(), p);\n"
               "recorder_thread_name(\"the_io\"); pthread_join(first, &p); return p; }\n"
               "int main(void) { pthread_t t; first = pthread_self(); "
               "record(net, \"begins\");\n"
               "pthread_create(&t, 0, given, \"system\"); usleep(100000);\n"
               "printf(\"PID %%d\\\\n\", getpid()); fflush(stdout);\n"
               "pthread_join(t, 0); }\nX\n"
               "gcc -O1 -g -D_GNU_SOURCE -include stdio.h " BUILD_INCLUDE
               "given.c -o given -lpthread");
    pid = command_start("./given");
    snprintf(source, sizeof source, "%d", (int)pid);
    build_must("gcore -o core %d >/dev/null", (int)pid);
    for (int i = 0; i < 2; i++) {
        command_must("threads -t the_io %s", source);
        cr_expect(strstr(build_text, " the_io "), "%s", build_text);
        cr_expect(!strstr(build_text, "system"), "%s", build_text);
        command_must("threads %s | sed \"s/ [0-9][0-9]* / N /g\"", source);
        cr_expect(strstr(build_text, " T1 N given waits for the end of thread "
                                     "T2 N the_io"),
                  "%s", build_text);
        snprintf(source, sizeof source, "core.%d", (int)pid);
    }
    command_stop(pid);
}
