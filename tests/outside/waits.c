/* Recorded threads and locks: deadlocks, orders, makers of threads. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(waits, .init = build_begin, .fini = build_end, .timeout = 300);

static void build_waits(void)
{
    build_once("gcc -g " BUILD_INCLUDE "-o waits " BUILD_PROGRAMS
               "/waits.c -lpthread");
}
static pid_t start(const char *arguments)
{
    char line[128];
    snprintf(line, sizeof line, "env RECORDER_FILE=rec ./waits %s", arguments);
    return command_start(line);
}
/* Runs a verb until it says something: threads take their time to wait. A minute
 * guards against a hang. */
static void until(const char *verb, const char *source, const char *says)
{
    for (double limit = seconds_now() + 60; seconds_now() < limit;) {
        command("%s %s", verb, source);
        if (strstr(build_text, says))
            return;
        usleep(50000);
    }
    cr_assert_fail("%s %s does not say \"%s\" but\n%s", verb, source, says,
                   build_text);
}
/* Waits until the recording has `count` ended waits. */
static void until_waited(int count)
{
    build_must("until test $(" RECORDER " threads --locks --json rec | sed -n "
               "\"s/.*\\\"waited\\\":\\([0-9]*\\).*/\\1/p\" | "
               "awk \"{ n += \\$1 } END { print n + 0 }\") -ge %d; do "
               "sleep 0.05; done",
               count);
}
static void must_say(const char *what)
{
    cr_assert(strstr(build_text, what), "no \"%s\" in\n%s", what, build_text);
}
static void must_not_say(const char *what)
{
    cr_assert_null(strstr(build_text, what), "%s", build_text);
}
static int said(const char *what)
{
    int count = 0;
    for (const char *at = build_text; (at = strstr(at, what)); at++)
        count++;
    return count;
}

/* ------------------------------------------------------------- deadlocks -- */

static const struct deadlock {
    const char *arguments;
    int threads;
    const char *holds, *waits;
} deadlocks[] = {
    {"two", 2, "deposit holds cash, taken at transfer waits.c:",
     "waits for mutex bank of T"},
    {"self", 1,
     "self holds cash, taken at again waits.c:", "waits for mutex cash of T"},
    {"circle 3", 3, "circle holds ring+0x50, taken at around waits.c:",
     "waits for mutex ring of T"},
    {"joining", 2, " waits waits for the end of thread T",
     "joins_main waits for the end of thread T"},
    {"join_and_lock", 2, "joins holds cash, taken at joins_wanting waits.c:",
     "waits for the end of thread T"},
    {"rwlocks", 2, "writes holds pages to read, taken at writes waits.c:",
     "waits for rwlock table to write of T"}};
enum { DEADLOCKS = sizeof deadlocks / sizeof *deadlocks };

static void must_name(const struct deadlock *d, const char *verb,
                      const char *source)
{
    char head[64];
    command_must("%s %s", verb, source);
    snprintf(head, sizeof head, "DEADLOCK of %d thread%s: ", d->threads,
             d->threads == 1 ? "" : "s");
    cr_assert_eq(strncmp(build_text, head, strlen(head)), 0, "%s of %s: %s",
                 verb, d->arguments, build_text);
    cr_assert_eq(said("DEADLOCK"), 1, "%s", build_text);
    must_say(d->holds);
    must_say(d->waits);
}

/* Goal: a deadlock is named with each thread's locks and the places where it
 * took them: of the running process, from the recording of a killed one, and,
 * if that is rare, from a core file. */
Test(waits, deadlocks_are_named)
{
    build_waits();
    for (int i = 0; i < DEADLOCKS; i++) {
        const struct deadlock *d = &deadlocks[i];
        pid_t pid = start(d->arguments);
        char source[16];
        snprintf(source, sizeof source, "%d", (int)pid);
        until("threads", source, "DEADLOCK");
        must_name(d, "threads", source);
        must_name(d, "threads --locks", source);
        must_name(d, "threads", "rec");
        if (i == 0 || sampled(4)) {
            build_must("gdb -p %d --batch -ex \"generate-core-file core\"",
                       pid);
            must_name(d, "threads", "core");
            must_name(d, "threads --locks", "core");
        }
        command_stop(pid);
        must_name(d, "threads", "rec");
        must_name(d, "threads --locks", "rec");
        cr_assert_eq(command("threads --check rec"), 3, "%s", d->arguments);
    }
}

/* Goal: 500 threads in one circle are one deadlock, also after their death. */
Test(waits, a_deadlock_of_500, .init = build_long)
{
    pid_t pid;
    build_waits();
    pid = start("circle 500");
    until("threads --locks", "rec", "DEADLOCK of 500 threads");
    command_stop(pid);
    command_must("threads --locks --json rec | head -n 1 >json");
    build_must("grep -o \"\\\"thread\\\":[0-9]*\" json | sort -u | wc -l");
    cr_assert_eq(atoi(build_text), 500);
}

/* Goal: running threads are never reported as a deadlock, nor is their order of
 * locks a circle. Method: threads take locks as fast as they can in the order
 * of their addresses; looks at the process and at its recording while it runs;
 * and recordings of processes that were killed at any time. */
Test(waits, a_busy_program_has_no_deadlock)
{
    int looks = scaled(200) < 20 ? 20 : (int)scaled(200), waited = 0;
    pid_t pid;
    build_waits();
    pid = start("busy 8");
    for (int i = 0; i < looks || (waited <= looks / 4 && i < 50 * looks); i++) {
        cr_assert_eq(i % 2 ? command("threads --check rec")
                           : command("threads --check %d", pid),
                     0, "%s", build_text);
        waited += strstr(build_text, " works, at works waits.c:") != NULL;
    }
    cr_assert_gt(waited, looks / 4, "only %d looks saw a wait", waited);
    command_stop(pid);
    for (int i = 0; i < looks / 5; i++) {
        pid = start("busy 8");
        command_stop(pid);
        cr_assert_eq(command("threads --check rec"), 0, "%s", build_text);
        must_not_say("LOCK ORDER");
    }
}

/* --------------------------------------------------------------- holders -- */

/* Goal: a thread that waits for an ended one is shown with it; and it is no
 * deadlock if one thread releases another's lock and takes it again. */
Test(waits, holders_may_have_ended)
{
    pid_t pid;
    build_waits();
    pid = start("ended");
    until("threads", "rec", "wants_cash  waits");
    must_not_say("DEADLOCK");
    must_say("waits for mutex cash of T");
    must_say(" takes, which has ended; no thread can release it");
    command_stop(pid);
    command_must("threads --locks rec");
    must_say(" takes, which has ended; no thread can release it");
    pid = start("foreign");
    until("threads", "rec", "locks_twice  waits for mutex cash of T");
    must_not_say("DEADLOCK");
    command_stop(pid);
    command_must("threads rec");
    must_not_say("DEADLOCK");
}

/* Goal: in the child of fork() a lock that another thread of the parent held
 * has no holder that could release it. */
Test(waits, a_lock_held_over_fork_is_held_by_nobody)
{
    char source[16];
    pid_t pid;
    build_waits();
    pid = start("forked"); /* of the child */
    snprintf(source, sizeof source, "%d", (int)pid);
    until("threads", source, "wants_cash  waits for mutex cash of T");
    must_say(" holds, which has ended; no thread can release it");
    must_not_say("DEADLOCK");
    kill(pid, SIGKILL);
    build_must("pkill -KILL -P $PPID waits || true");
}

/* --------------------------------------------------------------- threads -- */

/* Goal: each thread is below the one that made it, with its number, kernel id,
 * name, function, and the place where it was made; equal ones are shown once. */
Test(waits, threads_stand_below_their_makers)
{
    pid_t pid;
    build_waits();
    pid = start("pool 20");
    until("threads", "rec", "  20 threads: T");
    command_stop(pid);
    command_must("threads rec");
    must_say(" worker  waits for condition ready\n");
    must_say("      at waits_for_work waits.c:");
    must_say("      waits_for_work(0x0) and the like, made by T1, the first ");
    must_say(" < pool waits.c:");
    must_say(" < main waits.c:");
    must_say("threads: 21 now, 20 made, 21 at most\n");
    command_must("threads --thread T3 rec");
    cr_assert_eq(said("waits for condition ready"), 1, "%s", build_text);
    must_say("T3 ");
    pid = start("join_and_lock");
    until("threads", "rec", "wants  waits");
    command_stop(pid);
    command_must("threads rec");
    must_say("\n    T3 "); /* below T2, which made it */
    must_say("made by T2 ");
    command_must("threads --json rec >json");
    build_must(
        "python3 -c \"\n"
        "import json\n"
        "all = [json.loads(l) for l in open(\\\"json\\\")]\n"
        "by = {t[\\\"number\\\"]: t for t in all if \\\"thread\\\" in t}\n"
        "assert by[3][\\\"maker\\\"] == 2 and by[1][\\\"maker\\\"] is None\n"
        "assert by[3][\\\"start\\\"] == \\\"wants_cash\\\"\n"
        "assert by[2][\\\"held\\\"][0][\\\"symbol\\\"] == \\\"cash\\\"\n"
        "assert by[2][\\\"made_at\\\"][0][\\\"line\\\"] > 0\n\"");
}

/* ----------------------------------------------------------------- locks -- */

/* Goal: of nine pairs of locks that are taken in both orders, the four that can
 * deadlock are named, and no other. */
Test(waits, locks_taken_in_a_circle_are_named)
{
    static const char *const circles[] = {
        "real_a and real_b are", "rw_a and rw_b are",
        "ring_a, ring_b and ring_c are", "half_a and half_b are"};
    pid_t pid;
    build_waits();
    pid = start("order");
    command_stop(pid);
    cr_assert_eq(command("threads --check rec"), 3, "%s", build_text);
    for (int i = 0; i < 4; i++)
        must_say(circles[i]);
    cr_assert_eq(said("LOCK ORDER"), 4, "%s", build_text);
    must_say(" real_1 took real_b at ");
    must_say(", holding real_a, taken at ");
    must_say("rw_1 took rw_b at ");
    must_say(", holding rw_a to read, taken at ");
    command_must("threads --ignore \"^(ring|half)_a\" --ignore ^rw_ rec");
    cr_assert_eq(said("LOCK ORDER"), 1, "%s", build_text);
    must_say("3 circles of locks are ignored");
    cr_assert_eq(command("threads --check --ignore waits[.]c rec"), 0, "%s",
                 build_text);
    command_must("threads --locks --json rec");
    cr_assert_eq(said("{\"circle\":["), 4, "%s", build_text);
    command_must("threads --order --json rec");
    cr_assert_eq(said("{\"circle\":["), 4, "%s", build_text);
    command_must("threads --order rec");
    cr_assert_eq(said("LOCK ORDER"), 4, "%s", build_text);
}

/* Goal: a circle of locks that are no variables has a note that other locks may
 * have had their memory; a circle of variables has none. */
Test(waits, circles_of_memory_say_that_it_may_be_used_again)
{
    pid_t pid;
    build_once("gcc -g -o threads " BUILD_PROGRAMS "/threads.c -lpthread");
    pid = command_start(RECORDER " run -q -o rec ./threads lends");
    command_stop(pid);
    cr_assert_eq(command("threads --check rec"), 3, "%s", build_text);
    cr_assert_eq(said("LOCK ORDER"), 1, "%s", build_text);
    must_say("  False if memory was used for another lock in between");
    build_waits();
    pid = start("order");
    command_stop(pid);
    command_must("threads --locks rec");
    cr_assert_eq(said("LOCK ORDER"), 4, "%s", build_text);
    must_not_say("False if memory");
}

/* Goal: a thread that ended with a lock still holds it where another thread has
 * its lane and its pthread_t since. */
Test(waits, an_ended_thread_keeps_its_lock)
{
    build_must("cat >leak.c <<X\n"
               "#include <pthread.h>\n"
               "pthread_mutex_t lost = PTHREAD_MUTEX_INITIALIZER;\n"
               "void *keep(void *p) { pthread_mutex_lock(&lost); return p; }\n"
               "void *none(void *p) { return p; }\n"
               "int main(void) { pthread_t t; pthread_create(&t, 0, keep, 0);\n"
               "pthread_join(t, 0); for (int i = 0; i < 3; i++) {\n"
               "pthread_create(&t, 0, none, 0); pthread_join(t, 0); }\n"
               "return pthread_mutex_lock(&lost); }\nX\n"
               "gcc -g -o leak leak.c -lpthread; timeout -s KILL 1 " RECORDER
               " run -q -o rec ./leak; true");
    cr_assert_eq(command("threads --check rec"), 3, "%s", build_text);
    must_say("; no thread can release it");
    command_must("threads rec");
    must_say("waits for mutex lost of T2 ");
    must_say("still holds lost, taken at keep leak.c:3");
}

/* Goal: in a program that was killed in a deadlock, the unfinished waits come
 * first, marked as unfinished; a thread that is blocked without a record is not
 * shown as running. */
Test(waits, waits_that_never_ended)
{
    build_must("cat >hang.c <<X\n"
               "#include <pthread.h>\n#include <unistd.h>\n"
               "pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;\n"
               "pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;\n"
               "void *longer(void *p) { pthread_mutex_lock(&busy);\n"
               "pthread_mutex_unlock(&busy); return p; }\n"
               "void *reads(void *p) { int f[2]; pipe(f); read(*f, p, 1);\n"
               "return p; }\n"
               "int main(void) { pthread_t t; pthread_mutex_lock(&busy);\n"
               "pthread_create(&t, 0, longer, 0); usleep(100000);\n"
               "pthread_mutex_unlock(&busy); pthread_join(t, 0);\n"
               "pthread_create(&t, 0, reads, 0); pthread_mutex_lock(&a);\n"
               "return pthread_mutex_lock(&a); }\nX\n"
               "gcc -w -g -o hang hang.c -lpthread; timeout -s KILL 1 " RECORDER
               " run -q -o rec ./hang; true");
    command_must("threads --locks rec | grep ^mutex");
    cr_expect(strncmp(build_text, "mutex  a ", 9) == 0, "%s", build_text);
    must_say(" still waiting, ");
    cr_expect_eq(said("still waiting"), 1, "%s", build_text);
    command_must("threads --locks --json rec");
    cr_expect_eq(said("\"goes_on\":true"), 1, "%s", build_text);
    command_must("threads rec");
    must_say("  ran, or was blocked where nothing is recorded");
}

/* Goal: a circle that a third thread closes, with locks that two took
 * before. */
Test(waits, a_circle_by_a_third_thread_is_named)
{
    pid_t pid;
    build_once("gcc -g -o threads " BUILD_PROGRAMS "/threads.c -lpthread");
    pid = command_start(RECORDER " run -q -o rec ./threads third");
    command_stop(pid);
    cr_assert_eq(command("threads --check rec"), 3, "%s", build_text);
    cr_assert_eq(said("LOCK ORDER"), 1, "%s", build_text);
    must_say(" third took ring+0x28 at takes_pairs ");
}

/* Goal: circles of random programs are reported if threads can come to a
 * deadlock, and only then: a lock that was destroyed or initialised is a new
 * one, and a thread does nothing at once with actions before its start or after
 * its end. Method: a script makes the programs, and knows the answer by vector
 * clocks. */
Test(waits, circles_of_random_programs, .init = build_long)
{
    for (int seed = 1; seed <= 40; seed++) {
        int want, is;
        build_must("python3 " BUILD_PROGRAMS "/lock_orders.py %d random.c",
                   seed);
        want = atoi(build_text) ? 3 : 0;
        build_must("gcc -w -o random random.c -lpthread && rm -f rec && "
                   RECORDER " run -q --always -o rec ./random");
        is = command("threads --check rec");
        cr_expect_eq(is, want, "seed %d: %d, not %d\n%s", seed, is, want,
                     build_text);
    }
}

/* Goal: of thousands of locks taken at one place, the first sixteen are
 * recorded; a circle through two of them is reported as possible, and does not
 * fail a check. Locks taken in a row, each after the one before, are no
 * circle. */
Test(waits, locks_of_a_kind_are_perhaps_a_circle)
{
    pid_t pid;
    build_waits();
    pid = start("classes");
    command_stop(pid);
    cr_assert_eq(command("threads --check rec"), 0, "%s", build_text);
    cr_assert_eq(said("LOCK ORDER"), 1, "%s", build_text);
    must_say("cash");
    must_say("ring");
    must_say(" are perhaps taken in a circle");
    pid = start("hands");
    command_stop(pid);
    cr_assert_eq(command("threads --check rec"), 0, "%s", build_text);
    must_not_say("LOCK ORDER");
}

/* Goal: how often and how long was waited, by object, place and thread. */
Test(waits, waits_are_summed_up)
{
    pid_t pid;
    build_waits();
    pid = start("busy 4");
    until_waited(11);
    until("threads --locks", "rec", "mutex  ring+0x28 ");
    command_stop(pid);
    command_must("threads --locks rec");
    must_say("KIND   OBJECT");
    must_say("mutex  ring+0x28 ");
    command_must("threads --by site rec");
    must_say("works waits.c:");
    command_must("threads --by thread rec");
    must_say("THREAD");
    must_say(" works ");
    cr_assert_eq(command("threads --by colour rec"), 2);
    command_must("threads --order rec");
    cr_assert_eq(said("WAITED"), 0, "%s", build_text);
    command_must("threads --locks --json rec >json");
    build_must("python3 -c \"\n"
               "import json\n"
               "all = [json.loads(l) for l in open(\\\"json\\\")]\n"
               "assert sum(l[\\\"waited\\\"] for l in all) > 10, all\n"
               "for l in all: assert l[\\\"longest_ns\\\"] <= "
               "l[\\\"total_ns\\\"], l\n\"");
}

/* Goal: for a program without tables, whole stacks, from its own snapshots; not
 * those of another thread that came to the same call by another way. */
Test(waits, stacks_without_tables)
{
    pid_t pid;
    build_must("gcc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables "
               "-o untabled " BUILD_PROGRAMS "/threads.c -lpthread");
    pid = command_start(RECORDER " run -q -o untabled.rec ./untabled two");
    until("threads", "untabled.rec", "DEADLOCK");
    command_stop(pid);
    command_must("threads untabled.rec");
    build_must(RECORDER
               " threads untabled.rec | grep -A 3 \" deposit  waits \"");
    must_say("at transfer threads.c:");
    must_say(" < deposit threads.c:");
    must_say("made by T1");
    must_say(" < main threads.c:");
    build_must(RECORDER
               " threads untabled.rec | grep -A 3 \" withdraw  waits \"");
    must_say(" < withdraw threads.c:");
}

/* Goal: functions of libraries that were opened after the recording began are
 * named, of the build that ran and no other; if one library replaced another at
 * its address, no name is shown rather than a wrong one. */
Test(waits, libraries_opened_late_are_named)
{
    static const char *const builds[] = {"one", "two"};
    for (int i = 0; i < 2; i++)
        build_must("gcc -g -fPIC -shared -DPLUGIN -DWAITS=waits_in_%s "
                   "-DWORKS=works_in_%s -o %s.so " BUILD_PROGRAMS
                   "/run_plugin.c -lpthread",
                   builds[i], builds[i], builds[i]);
    build_must("gcc -g -o plugin " BUILD_PROGRAMS "/run_plugin.c -lpthread "
               "-ldl; mkdir away; cd away; " RECORDER
               " run -q -o ../late.rec ../plugin ../one.so");
    command_must("threads late.rec");
    must_say("works_in_one(0x0), made by T1 ");
    must_say("at work run_plugin.c:");
    must_say(" < main run_plugin.c:");
    command_must("threads --locks late.rec");
    must_say("waits_in_one run_plugin.c:");
    command_must("dump --internal late.rec | grep \"module 0x\"");
    must_say("/one.so, build-id of 20: 0x");
    build_must("mv one.so real.so; cp two.so one.so");
    command_must("threads late.rec");
    must_not_say("works_in_");
    build_must("mv real.so one.so; " RECORDER
               " run -q -o both.rec ./plugin ./one.so ./two.so");
    build_must(RECORDER
               " dump both.rec | grep -o \"module 0x[^ ]* to [^ ]* "
               "[^ ]*/[ot][nw][eo].so\" | cut -d \" \" -f 2 | sort -u | wc "
               "-l");
    if (atoi(build_text) != 1)
        cr_skip_test("the two were not put in one place");
    command_must("threads --locks both.rec");
    must_say("mutex ");
    must_not_say("waits_in_");
}

/* Goal: exports have an arrow from who ended a wait to its end. */
Test(waits, exports_have_arrows)
{
    pid_t pid;
    build_waits();
    pid = start("busy 4");
    until_waited(11);
    command_stop(pid);
    command_must("export perfetto rec -o pf");
    build_must("protoc --decode=Trace -I " BUILD_PROGRAMS
               " perfetto.proto <pf >text");
    build_must(
        "python3 -c \"\n"
        "import re\n"
        "packets = open(\\\"text\\\").read().split(\\\"\\npacket {\\\")\n"
        "of = lambda name: {i[1]: re.search(r\\\"track_uuid: (.*)\\\", p)[1]\n"
        "    for p in packets for i in [re.search(name + r\\\": (.*)\\\", p)] if i}\n"
        "begin, end = of(\\\" flow_ids\\\"), of(\\\"terminating_flow_ids\\\")\n"
        "assert begin and begin.keys() == end.keys()\n"
        "assert all(begin[i] != end[i] for i in begin)\n"
        "\"");
}

/* ------------------------------------------------------------------- run -- */

/* Goal: the same of programs that know nothing of this, which recorder run
 * started: of the process, and of its recording after SIGKILL. */
Test(waits, deadlocks_of_any_program_are_named)
{
    static const struct deadlock all[] = {
        {"two", 2, "deposit holds cash, taken at transfer threads.c:",
         "waits for mutex bank of T"},
        {"self", 1, "self holds cash, taken at again threads.c:",
         "waits for mutex cash of T"},
        {"rwlocks", 2, "writes holds pages, taken at writes_table threads.c:",
         "waits for rwlock table to write of T"},
        {"joining", 2, " first waits for the end of thread T",
         " second waits for the end of thread T"},
        {"join_and_lock", 2,
         "joins holds cash, taken at joins_holding threads.c:",
         "waits for the end of thread T"}};
    build_once("gcc -g -o threads " BUILD_PROGRAMS "/threads.c -lpthread");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char line[256], source[16];
        pid_t pid;
        if (i && !sampled((unsigned)i * 4))
            continue;
        snprintf(line, sizeof line, RECORDER " run -q -o rec ./threads %s",
                 all[i].arguments);
        pid = command_start(line);
        snprintf(source, sizeof source, "%d", (int)pid);
        until("threads", source, "DEADLOCK");
        must_name(&all[i], "threads", source);
        command_stop(pid);
        must_name(&all[i], "threads", "rec");
        must_name(&all[i], "threads --locks", "rec");
        must_say("HELD BY");
    }
}

/* Goal: a busy program that takes its locks in order has no deadlock and no
 * circle, whenever it is looked at or killed. */
Test(waits, a_busy_program_that_was_run_has_no_deadlock)
{
    int looks = scaled(100) < 10 ? 10 : (int)scaled(100);
    pid_t pid;
    build_once("gcc -g -o threads " BUILD_PROGRAMS "/threads.c -lpthread");
    pid = command_start(RECORDER " run -q -o rec ./threads busy 6");
    for (int i = 0; i < looks; i++)
        cr_assert_eq(i % 2 ? command("threads --check rec")
                           : command("threads --check %d", pid),
                     0, "%s", build_text);
    until("threads --locks", "rec", " busy");
    command_stop(pid);
    cr_assert_eq(command("threads --check rec"), 0, "%s", build_text);
}

/* Goal: a program that hangs, one command, the answer: as docs tell it.
 * Method: types the lines of the page, in a folder that is empty. */
Test(waits, lines_of_docs_are_true)
{
    build_must("RECORDER=" RECORDER " python3 " BUILD_PROGRAMS
               "/typed.py " TEST_ROOT "/docs/threads.md \"A deadlock\"");
    build_must("RECORDER=" RECORDER " python3 " BUILD_PROGRAMS
               "/typed.py " TEST_ROOT "/docs/threads.md "
               "\"Recorded by recorder run\"");
}

/* Goal: a script reads --json of a process and of a recording alike, and
 * docs/threads.md explains each word of it. */
Test(waits, json_is_told_in_docs)
{
    pid_t pid;
    char source[16];
    build_waits();
    pid = start("order");
    command_stop(pid);
    command_must("threads --locks --json rec >json");
    pid = start("two");
    until("threads --locks", "rec", "DEADLOCK");
    command_stop(pid);
    command_must("threads --json rec >>json; " RECORDER
                 " threads --locks --json rec >locks; " RECORDER
                 " threads --json --by site rec >>json; " RECORDER
                 " threads --json --by thread rec >>json");
    build_once("gcc -g -o threads " BUILD_PROGRAMS "/threads.c -lpthread");
    pid = command_start("./threads two");
    snprintf(source, sizeof source, "%d", (int)pid);
    until("threads --locks", source, "DEADLOCK");
    command_must("threads --json %d >>json; " RECORDER
                 " threads --locks --json %d >live",
                 pid, pid);
    command_stop(pid);
    build_must(
        "python3 -c \"\n"
        "import json\n"
        "told = open(\\\"" TEST_ROOT "/docs/threads.md\\\").read()\n"
        "def look(at):\n"
        "    for key in at if isinstance(at, dict) else ():\n"
        "        assert chr(96) + key + chr(96) in told, key\n"
        "    for value in at.values() if isinstance(at, dict) else at:\n"
        "        if isinstance(value, (dict, list)): look(value)\n"
        "rows = {n: [json.loads(l) for l in open(n)] for n in "
        "(\\\"json\\\", \\\"locks\\\", \\\"live\\\")}\n"
        "for all in rows.values(): look(all)\n"
        "held = lambda n: {l[\\\"symbol\\\"]: type(l[\\\"holder\\\"])\n"
        "    for l in rows[n] if l.get(\\\"kind\\\") == \\\"mutex\\\"}\n"
        "assert held(\\\"locks\\\") == held(\\\"live\\\") == "
        "{\\\"cash\\\": int, \\\"bank\\\": int}, held(\\\"locks\\\")\n\"");
}

/* Goal: a picture shows any name as a terminal would; a process that a signal
 * stopped is shown as stopped. */
Test(waits, odd_names_and_a_stopped_process)
{
    pid_t pid;
    char source[16];
    build_once("gcc -g -o threads " BUILD_PROGRAMS "/threads.c -lpthread");
    pid = command_start("./threads odd");
    snprintf(source, sizeof source, "%d", (int)pid);
    until("threads --locks", source, " 5: ");
    command_must("threads --dot %d", pid);
    must_say(" esc\\\\x1b[31m\"");
    must_say(" tab\\\\there\"");
    must_say(" q\\\"uote\"");
    must_say(" back\\\\sl\"");
    must_say(" a&amp;amp;b\"");
    cr_assert_eq(kill(pid, SIGSTOP), 0);
    until("threads", source, "; is stopped");
    until("threads", source, "A signal stopped the process before: kill ");
    must_not_say("while the process ran");
    command_stop(pid);
}

/* --------------------------------------------------------------- hostile -- */

/* Goal: whatever a recording says of threads and locks, and wherever it ends,
 * reading ends, with words. */
Test(waits, hostile_recordings_harm_nobody, .init = build_long)
{
    static const char *const verbs[] = {
        "threads",           "threads --locks",
        "threads --json",    "threads --locks --json",
        "threads --by site", "threads --by thread",
        "threads --dot",     "threads --order"};
    int tries = scaled(40) < 4 ? 4 : (int)scaled(40);
    uint64_t seed = seed_of("hostile_recordings_harm_nobody");
    build_waits();
    for (int i = 0; i < tries; i++) {
        char arguments[32];
        pid_t pid;
        snprintf(arguments, sizeof arguments, "hostile %d",
                 (int)(random_of(&seed) % 100000));
        pid = start(i % 4 ? arguments : "two");
        command_stop(pid);
        if (i % 2)
            build_must("truncate -s -%d rec",
                       (int)(random_of(&seed) % (5 << 20)));
        for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++) {
            int status = command("%s rec", verbs[k]);
            cr_assert(status == 0 || (status == 1 && i % 2), "%s, %s: %d %s",
                      arguments, verbs[k], status, build_text);
        }
    }
}
