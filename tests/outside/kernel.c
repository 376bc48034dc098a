/* Switches by the kernel: all of them, in time, and no harm where it refuses. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#include "harness/random.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs run as root and as the user "nobody", both with the same rights: a
 * separate user for each case, because locked rings count by user. */
static char nobody[80];
static const char *const users[] = {"", nobody};

/* Compiles programs/kernel.c as ./kernel. Skips the test if this machine hides
 * switches, with the program's message. */
static int sysctl_lock; /* alone, as it changes the kernel's settings */
static void kernel_begin(void)
{
    sysctl_lock = open(TEST_ROOT "/build/kernel.lock",
                       O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cr_assert(sysctl_lock >= 0 && flock(sysctl_lock, LOCK_SH) == 0);
    build_begin();
    snprintf(nobody, sizeof nobody,
             "setpriv --reuid %d --regid 65534 --clear-groups ",
             100000 + (int)getpid());
    cr_assert_eq(chmod(build_folder, 0755), 0);
    build_once("gcc " BUILD_INCLUDE BUILD_WARNINGS
               "-o kernel " BUILD_PROGRAMS "/kernel.c -lpthread");
    build_must("./kernel same");
    if (build_run("./kernel switches") != 0)
        build_skip("%s", build_text);
}
TestSuite(kernel, .init = kernel_begin, .fini = build_end, .timeout = 300);

static bool is_user(size_t i)
{
    if (i == 0 || (geteuid() == 0 && build_run("%strue", users[i]) == 0))
        return true;
    fprintf(stderr, "left out: nobody cannot run here\n");
    return false;
}
/* Runs a case as root and as the user "nobody". */
static void each_user(const char *what)
{
    for (size_t i = 0; i < 2; i++)
        if (is_user(i))
            build_must("%s./kernel %s", users[i], what);
}

/* Goal: exact. Method: five kinds of threads, in a parent and its child; the
 * counts equal /proc/self/task/TID/status and schedstat, to the unit. */
Test(kernel, counts_are_those_of_proc)
{
    each_user("counts");
}
Test(kernel, threads_that_are_there_already, .init = build_long)
{
    each_user("before");
}

/* Goal: poured + overwritten are all, with losses, dumps, and reads from
 * outside at the same time. */
Test(kernel, overwritten_is_counted)
{
    each_user("full");
}

/* Goal: a switch that the kernel overwrote before a dump is LOST, in a dump
 * from outside, and once in the program's own one after that. */
Test(kernel, overwritten_is_lost)
{
    unsigned long kept[2], lost[2];
    pid_t pid = command_start("./kernel lost 2>1");
    command_rests(pid);
    command_must("list %d | awk \"/^switches / { n = \\$5 + \\$7 } END { exit "
                 "n < 2000 }\"",
                 pid);
    command_must("dump %d >0", pid);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 2; i++) {
        build_must("sed -n \"s/.* switches SIZE [0-9]*, \\([0-9]*\\) ENTRIES.* "
                   "\\([0-9]*\\) LOST.*/\\1 \\2/p\" %d",
                   i);
        cr_assert_eq(sscanf(build_text, "%lu %lu", &kept[i], &lost[i]), 2, "%s",
                     build_text);
    }
    cr_assert(lost[0] >= 1000 && kept[0] + lost[0] >= 2000 &&
                  lost[1] >= lost[0] &&
                  kept[1] + lost[1] - kept[0] - lost[0] < 1000,
              "%lu kept, %lu lost, then %lu kept, %lu lost", kept[0], lost[0],
              kept[1], lost[1]);
}

/* Goal: in_time. Method: a thread that blocks in read() alone does so between
 * the records around it; mutants, late or early by a little more than the nearest
 * switches are from their records, must fail. */
Test(kernel, switches_lie_in_their_calls)
{
    long behind, before;
    each_user("times");
    build_must("./kernel times");
    cr_assert(sscanf(build_text, "%*d inside, %*d outside, at least %ld ns "
                                 "behind and %ld before",
                     &behind, &before) == 2 &&
                  behind < 20000 && before < 20000,
              "%s", build_text);
    build_must("cp -r " TEST_ROOT "/recorder " TEST_ROOT "/recorder*.h . && "
               "sed -i \"s/return clock->start.monotonic_ns +/& "
               "recorder_kernel_late_() +/\" recorder/kernel.h && "
               "grep -q late_ recorder/kernel.h");
    for (int i = 0; i < 2; i++) {
        long late = i ? before / 1000 + 2 : -behind / 1000 - 2;
        /* In ticks. */
        build_must(
            "printf \"#include \\\"recorder.h\\\"\\n#include "
            "\\\"recorder/clock.h\\\"\\n__attribute__((unused)) static "
            "uint64_t recorder_kernel_late_(void) { struct recorder_clock_ c; "
            "recorder_clock_open_(&c); return (uint64_t)(%ld * (int64_t)"
            "((UINT64_C(1000) << 32) / c.ns_per_tick)); }\\n\" >late.h && "
            "gcc -w -D_GNU_SOURCE -I. -include late.h -o late " BUILD_PROGRAMS
            "/kernel.c -lpthread",
            late);
        cr_assert_eq(build_run("./late times"), 3, "%ld us late: %s", late,
                     build_text);
    }
}

/* Goal: one row a thread, whoever makes it; ended threads have one, too. */
Test(kernel, threads_come_and_go)
{
    for (unsigned i = 0; i < scaled(20) + 1; i++)
        build_must("./kernel threads");
    if (is_user(1))
        build_must("%s./kernel threads", nobody);
}

/* Goal: the same where a thread and a pour make a row at once. Method: threads
 * wait before they take their row and before they give it back; a pour looks
 * for the row at each switch. */
Test(kernel, a_row_is_made_by_two)
{
    build_must(
        "cp -r " TEST_ROOT "/recorder " TEST_ROOT "/recorder*.h . && sed -i "
        "\"/number = recorder_thread_take_row_of_(id, name/i "
        "recorder_os_poll_(NULL, 0, 1);\ns/recorder_thread_settle_row_(number, "
        "c/if (claimed) recorder_os_poll_(NULL, 0, 1); &/\" "
        "recorder/threads.h && sed -i "
        "\"s/KNOWN_ = 256/KNOWN_ = 1/\" recorder/kernel.h && grep -c poll_ "
        "recorder/threads.h | grep -x 2 && grep -q \"KNOWN_ = 1,\" "
        "recorder/kernel.h && gcc -w -D_GNU_SOURCE -I. -o two " BUILD_PROGRAMS
        "/kernel.c -lpthread && for i in 1 2 3 4 5; do ./two threads || exit; "
        "done");
}
Test(kernel, rows_are_reused)
{
    build_must("gcc -DRECORDER_THREADS=64 " BUILD_INCLUDE BUILD_WARNINGS
               "-o reused " BUILD_PROGRAMS "/kernel.c -lpthread && ./reused "
               "reused");
}

/* Goal: fork, exec and a program that closes all that it finds open. */
Test(kernel, descriptors_may_be_closed)
{
    each_user("closed");
}

Test(kernel, freeze_keeps_what_led_to_it)
{
    build_must("./kernel freeze");
}

/* Goal: a library that has the header comes and goes, with its thread. */
Test(kernel, library_comes_and_goes)
{
    build_must(
        "printf \"#include \\\"recorder_dump.h\\\"\\n#include "
        "\\\"recorder_kernel.h\\\"\\n#include <poll.h>\\nvoid go(void) { "
        "recorder_kernel(64, 2); for (int i = 0; i < 5; i++) poll(0, 0, 3); "
        "recorder_dump_for(\\\"switches\\\"); }\\n\" >library.c && "
        "printf \"#include <dlfcn.h>\\n#include <poll.h>\\nint main(void) { "
        "for (int i = 0; i < 10; i++) { void *l = dlopen(\\\"./library.so\\\", "
        "RTLD_NOW); ((void (*)(void))dlsym(l, \\\"go\\\"))(); dlclose(l); "
        "poll(0, 0, 2); } return 7; }\\n\" >host.c && gcc -w -fPIC -shared "
        BUILD_INCLUDE "-o library.so library.c -lpthread && gcc -o host host.c "
        "-ldl");
    cr_assert_eq(build_run("./host 2>out"), 7, "%s", build_text);
    build_must("grep -c \"switches: thread\" out");
    cr_assert_geq(atoi(build_text), 100);
}

/* ----------------------------------------------------------- environment -- */

/* One line is printed, and status and output are as they were. */
static void must_refuse(const char *user, const char *how, const char *what,
                        const char *says)
{
    int status = build_run("%s%s ./kernel %s >said 2>refused", user, how, what);
    if (status == 77) {
        build_leaves_out("such an environment cannot be made here");
        return;
    }
    cr_assert_eq(status, 7, "%s %s: status %d, %s", how, what, status,
                 build_text);
    build_must("cat refused");
    cr_assert_eq(strncmp(build_text, "recorder: ", 10), 0, "%s %s: %s", how,
                 what, build_text);
    cr_assert(strstr(build_text, says), "%s %s: %s", how, what, build_text);
    cr_assert_eq(strchr(build_text, '\n'), strrchr(build_text, '\n'),
                 "%s %s: more than a line: %s", how, what, build_text);
}
Test(kernel, refusals_are_said_and_harm_nothing)
{
    const char *as = is_user(1) ? nobody : "";
    must_refuse(as, "", "sandbox 1", "seccomp profile");
    must_refuse(as, "", "sandbox 13", "seccomp profile");
    must_refuse(as, "", "sandbox 38", "no perf events");
    must_refuse(as, "", "sandbox 7", "by error 7");
    must_refuse(as, "", "sandbox 19", "none of its processors");
    must_refuse(as, "", "sandbox 24", "no descriptor left");
    must_refuse(as, "", "thread 1", "a sandbox refuses");
    must_refuse(as, "", "thread 24", "descriptors are few");
    must_refuse(as, "", "descriptors", "no descriptor left");
    must_refuse(as, "", "locked", "locked memory is used up");
}
/* Goal: a processor that is off is no refusal: of the others there are rings. */
Test(kernel, processors_may_be_off)
{
    int status = build_run("./kernel off");
    if (status == 77)
        build_skip("there is one processor, or no sandbox");
    cr_assert_eq(status, 0, "%s", build_text);
    cr_assert_str_eq(build_text, "");
}
/* kernel.perf_event_paranoid is the machine's: as root, where it may be set. */
Test(kernel, paranoid_is_named)
{
    cr_assert_eq(flock(sysctl_lock, LOCK_EX), 0);
    if (!is_user(1) ||
        build_run("cd /proc/sys/kernel && was=$(cat perf_event_paranoid) && "
                  "echo 3 >perf_event_paranoid && cat perf_event_paranoid && "
                  "echo $was >perf_event_paranoid") != 0)
        build_skip("kernel.perf_event_paranoid cannot be set here");
    build_must("cd /proc/sys/kernel && was=$(cat perf_event_paranoid); "
               "echo 3 >perf_event_paranoid; "
               "(cd %s; %s./kernel end >said 2>refused; echo $? "
               ">status); echo $was >/proc/sys/kernel/perf_event_paranoid",
               build_folder, nobody);
    build_must("cat status refused");
    if (strcmp(build_text, "7\n") == 0)
        build_skip("this kernel allows it at 3, too");
    cr_assert_eq(strncmp(build_text, "7\nrecorder: ", 12), 0, "%s", build_text);
    cr_assert(strstr(build_text, "perf_event_paranoid is 3: "), "%s",
              build_text);
}

Test(kernel, environment)
{
    static const char *const wrong[] = {"x",    "64x",  "64,",      "64,x",
                                        "64;1", "-64",  "64,10,10", " 64",
                                        "3",    "48",   "65537",    "131072",
                                        "64,60001", "0,10", "99999999999999",
                                        "why",  "64,wh", "64,whyx", "64,why,1"};
    static const char *const right[] = {"64,1", "64,why", "64,1,why"};
    build_must("printf \"#include \\\"recorder_kernel.h\\\"\\n#include "
               "\\\"recorder_dump.h\\\"\\nint main(void) { recorder_dump(); "
               "return 7; }\\n\" >env.c && gcc -O1 " BUILD_INCLUDE
               "-o env env.c -lpthread");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_eq(build_run("RECORDER_SWITCHES=\"%s\" ./env 2>refused",
                               wrong[i]),
                     7, "%s", wrong[i]);
        build_must("grep -c \"^recorder: .*continues without\" refused");
        cr_assert_str_eq(build_text, "1\n", "%s: %s", wrong[i], build_text);
    }
    cr_assert_eq(build_run("RECORDER_SWITCHES=0 ./env 2>refused"), 7);
    build_must("! grep -a recorder: refused");
    cr_assert_eq(build_run("RECORDER_SWITCHES=64 ./env 2>out"), 7);
    build_must("! grep -a recorder: out && grep -q switches out");
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        cr_assert_eq(build_run("RECORDER_SWITCHES=%s ./env 2>out", right[i]),
                     7);
        build_must("! grep -a recorder: out && grep -q switches out");
    }
}

/* Goal: with `why`, page faults are counted by 32, and their flood overwrites no
 * switch. Method: 8192 pages are touched, and rings have room for a quarter of
 * the records that all faults would have. */
Test(kernel, page_faults_are_counted)
{
    build_must("set -e; printf \"#include \\\"recorder_dump.h\\\"\\n#include "
               "\\\"recorder_kernel.h\\\"\\n#include <sys/mman.h>\\n"
               "#include <poll.h>\\nint main(void) { char *p = mmap(0, 8192 * "
               "4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); poll(0, 0, 20); "
               "recorder_kernel_pour(); madvise(p, 8192 * 4096, MADV_NOHUGEPAGE); for (int i = 0; i < "
               "8192; i++) p[i * 4096] = 1; recorder_dump(); }\\n\" >faults.c "
               "; gcc -w -O1 " BUILD_INCLUDE "-o faults faults.c -lpthread; "
               "RECORDER_SWITCHES=64,why ./faults 2>out; grep -q \"thread "
               "[0-9]* leaves cpu [0-9]*: blocks\" out || { grep -v \": 32 "
               "page\" out; exit 1; }; grep -c \": 32 page faults of "
               "memory\" out");
    cr_assert_geq(atoi(build_text), 250, "%s", build_text);
    cr_assert_leq(atoi(build_text), 290, "%s", build_text);
}

/* --------------------------------------------------------------- crashes -- */

/* Goal: whatever way a program dies that dumps, the switches are in the dump;
 * and its status is the same as without. Method: programs/crash.c, with the
 * header in another file of the program. */
Test(kernel, crashes_have_their_switches)
{
    char ways[4096], *way, *rest = ways;
    unsigned number = 0, dumped = 0;
    /* It sleeps once, so that there is something to show. */
    build_must("printf \"#include <poll.h>\\n#include "
               "\\\"recorder_kernel.h\\\"\\n__attribute__((constructor(1000))) "
               "static void nap(void) { poll(0, 0, 1); }\\n\" >part.c && gcc -O1 "
               "-w " BUILD_INCLUDE "-o crash " BUILD_PROGRAMS
               "/crash.c part.c -lpthread -ldl && ./crash ways");
    cr_assert_lt(strlen(build_text), sizeof ways);
    strcpy(ways, build_text);
    while ((way = strtok_r(rest, " \n", &rest)) != NULL) {
        int without, with;
        if (!sampled(number++))
            continue;
        without = build_run("ulimit -c 0; ./crash dump %s >out 2>&1", way);
        with = build_run("ulimit -c 0; RECORDER_SWITCHES=64 ./crash dump %s "
                         ">with 2>&1",
                         way);
        cr_assert_eq(with, without, "%s: %d, without switches %d", way, with,
                     without);
        if (build_run("grep -aq \"last words\" out") != 0)
            continue;
        build_must("grep -aq \"switches: thread\" with || (echo %s; head -n 20 "
                   "with; false)",
                   way);
        dumped++;
    }
    cr_assert_gt(dumped, 2);
    /* And they are in the recording, and in the core file. */
    cr_assert_eq(build_run("ulimit -c 0; RECORDER_FILE=x.rec "
                           "RECORDER_SWITCHES=64 ./crash dump null >with 2>&1"),
                 139);
    command_must("dump x.rec --names switches");
    cr_assert(strstr(build_text, "switches: thread"), "%s", build_text);
    if (build_run("read pattern </proc/sys/kernel/core_pattern && "
                  "test \"$pattern\" = core") != 0) {
        build_leaves_out("the kernel writes no core file here");
        return;
    }
    build_run("ulimit -c unlimited; RECORDER_SWITCHES=64 ./crash dump null "
              ">with 2>&1");
    command_must("dump $(ls core*) --names switches");
    cr_assert(strstr(build_text, "switches: thread"), "%s", build_text);
}

/* Goal: survives. After kill -9 all but the last milliseconds are in the
 * recording; a recording without a thread has the poured switches. Once more,
 * if the machine ran the program and not the pouring thread. */
Test(kernel, kill_leaves_them_in_the_recording)
{
    for (unsigned i = 0, tries = 0; i < scaled(10) + 1; i++) {
        pid_t pid = command_start(
            "env RECORDER_FILE=x.%p.rec RECORDER_SWITCHES=64,10 ./kernel live");
        usleep((useconds_t)(150000 + (unsigned)rand() % 100000));
        command_stop(pid);
        command_must("dump x.%d.rec --json >all && "
                     "grep -c \"\\\"recorder\\\":\\\"switches\\\"\" all",
                     pid);
        cr_assert_gt(atoi(build_text), 100, "%s", build_text);
        build_must(
            "python3 -c \"import json; r = [json.loads(l) for l in open(\\\"all"
            "\\\")]; t = lambda n: max(e[\\\"ns\\\"] for e in r if "
            "e[\\\"recorder\\\"] == n); print((t(\\\"calls\\\") - "
            "t(\\\"switches\\\")) // 1000)\"");
        if (atoi(build_text) >= 30000) {
            cr_assert_lt(++tries, 20u, "the last is %s us old", build_text);
            i--;
        }
    }
}

/* --------------------------------------------------------------- outside -- */

/* The output of dump or follow, in the file "lines". Returns the number of
 * switches. */
static int check(pid_t pid)
{
    char of[16] = "";
    if (pid)
        snprintf(of, sizeof of, "%d", pid);
    build_must("python3 " BUILD_PROGRAMS "/kernel.py lines %s", of);
    return atoi(build_text);
}

/* Goal: unrecorded switches are seen from outside: all of them, with threads
 * that have no row; and recorder_dump() would show the same. */
Test(kernel, rings_are_read_from_outside)
{
    for (size_t i = 0; i < 2; i++) {
        char line[200];
        pid_t pid;
        if (!is_user(i))
            continue;
        snprintf(line, sizeof line, "%s./kernel outside", users[i]);
        pid = command_start(line);
        command_rests(pid);
        build_must("%s" RECORDER " dump %d --json >lines", users[i], pid);
        cr_assert_gt(check(pid), 20);
        build_must("%s" RECORDER " dump %d --json --by-time >sorted && "
                   "python3 -c \"import json; r = [json.loads(l) for l in "
                   "open(\\\"sorted\\\")]; t = [e[\\\"ns\\\"] for e in r]; "
                   "assert t == sorted(t); k = lambda e: (e[\\\"order\\\"], "
                   "e[\\\"message\\\"]); assert sorted(map(k, r)) == "
                   "[k(json.loads(l)) for l in open(\\\"lines\\\")]\"",
                   users[i], pid);
        build_must("%s" RECORDER " sched %d", users[i], pid);
        cr_assert(strstr(build_text, "kernel"), "%s", build_text);
        build_must("%s" RECORDER " export json %d -o - >x.json", users[i], pid);
        build_must("%s" RECORDER " dump %d --names calls", users[i], pid);
        cr_assert(!strstr(build_text, "switches"), "%s", build_text);
        command_stop(pid);
    }
}

/* Goal: a program that has closed the descriptors, and has other files there
 * now, is read as far as possible; the rest is reported. */
Test(kernel, closed_descriptors_are_said)
{
    pid_t pid = command_start("./kernel outside-closed");
    command_must("dump %d", pid);
    cr_assert(strstr(build_text, "closed their descriptors"), "%s", build_text);
    cr_assert(strstr(build_text, "they begin"), "%s", build_text);
    command_stop(pid);
}

/* Goal: for any contents in place of the rings, reading ends, and well. */
Test(kernel, hostile_rings, .init = build_long)
{
    pid_t pid = command_start("./kernel hostile");
    for (unsigned i = 0; i < scaled(400); i++) {
        cr_assert_leq(command("dump %d", pid), 1, "%s", build_text);
        cr_assert_leq(command("sched %d", pid), 1, "%s", build_text);
    }
    cr_assert_leq(build_run("timeout -s INT 1 " RECORDER " follow %d", pid), 130);
    command_stop(pid);
}

/* Goal: while the program pours, each switch is seen once: in dumps and by a
 * follower. */
Test(kernel, no_switch_is_seen_twice, .init = build_long)
{
    pid_t pid =
        command_start("env RECORDER_SWITCHES=1024,1 ./kernel live");
    for (unsigned i = 0; i < scaled(20); i++) {
        command_must("dump %d --json >lines", pid);
        check(0);
        /* Pours between a follower's first end and its first look at the rings
         * were shown twice in one of twelve. */
        build_run("timeout 0.3 " RECORDER " follow %d --json >lines", pid);
        check(0);
    }
    build_run("timeout 1 " RECORDER " follow %d --json >lines", pid);
    cr_assert_gt(check(0), 100);
    command_stop(pid);
    pid = command_start("env RECORDER_SWITCHES=64 ./kernel live");
    build_run("timeout 1 " RECORDER " follow %d --json >lines", pid);
    cr_assert_gt(check(0), 100);
    command_stop(pid);
}

/* ------------------------------------------------------------------- for -- */

/* Goal: a program that records no switches shows them, all that /proc counts.
 * Method: it works for less than it is looked at; where the machine made it work
 * for longer (77), it is looked at for longer. */
Test(kernel, program_that_records_none, .init = build_long)
{
    for (size_t i = 0; i < 2; i++) {
        char line[200];
        pid_t pid;
        if (!is_user(i))
            continue;
        snprintf(line, sizeof line, "%s./kernel bare", users[i]);
        for (int ms = 2000, status = 77; status == 77; ms *= 2) {
            cr_assert_lt(ms, 40000, "%s", build_text);
            build_must("rm -f go");
            pid = command_start(line);
            command_rests(pid);
            status = build_run("python3 " BUILD_PROGRAMS
                               "/kernel_for.py %d %d %s" RECORDER,
                               pid, ms, users[i]);
            cr_assert(status == 77 || (status == 0 && atoi(build_text) == 4),
                      "%d: %s", status, build_text);
            command_stop(pid);
        }
    }
}

/* Goal: Ctrl-C shows the switches until then, and the status is that of a
 * normal end; also if the kernel refuses. */
Test(kernel, stopped_shows_what_it_has, .init = build_long)
{
    pid_t pid = command_start("./kernel live");
    build_must("python3 " BUILD_PROGRAMS "/kernel_stop.py %d " RECORDER, pid);
    build_must("python3 " BUILD_PROGRAMS
               "/kernel_stop.py %d ./kernel sandbox 1 " RECORDER,
               pid);
    command_stop(pid);
}

/* Goal: so does the end of the program, whether or not it was waited for. */
Test(kernel, ended_shows_what_it_has)
{
    pid_t pid = command_start("./kernel bare");
    build_must("python3 " BUILD_PROGRAMS "/kernel_dies.py %d " RECORDER, pid);
    command_stop(pid);
}

static void save_has_them(const char *flags)
{
    unsigned threads, lines;
    pid_t pid;
    build_must("gcc %s -O1 " BUILD_INCLUDE "-o saved " BUILD_PROGRAMS
               "/kernel.c -lpthread",
               flags);
    pid = command_start("./saved outside");
    command_rests(pid);
    build_must("(" RECORDER " save %d -o whole && " RECORDER
               " save %d --since -1h -o chosen && " RECORDER
               " save whole -o again) 2>said || { cat said; exit 1; }; cat said",
               pid, pid);
    cr_assert_str_eq(build_text, "");
    build_must("for i in %d whole chosen again; do " RECORDER
               " sched $i --json | "
               "grep thread | sed \"s/.[a-z_]*_ns.:[^,]*,//g\" | sort "
               ">counts.$i; " RECORDER " dump $i --json | sed "
               "\"s/.\\(ns\\|wall_ns\\|caller\\|alive\\).:[^,]*,//g\" "
               ">lines.$i; cmp lines.%d lines.$i && "
               "cmp counts.%d counts.$i || exit 1; done; "
               "wc -l <counts.whole; grep -c leaves lines.whole",
               pid, pid, pid);
    cr_assert(sscanf(build_text, "%u %u", &threads, &lines) == 2 &&
                  threads >= 3 && lines > 20,
              "%s", build_text);
    command_must("list whole");
    cr_assert(strstr(build_text, "had not recorded yet"), "%s",
              build_text);
    cr_assert_null(strstr(build_text, "ended"), "%s", build_text);
    command_stop(pid);
}

/* Goal: a recording of a process has its unrecorded switches, and their
 * threads. Method: lines and counts equal the program's, which waits; of a
 * selection, of all, and of their saved recordings. */
Test(kernel, save_has_them, .init = build_long)
{
    save_has_them("");
    if (build_can("gcc", "-m32"))
        save_has_them("-m32");
}

/* Goal: while the program records them, each switch is saved once, and none is
 * missing. */
Test(kernel, save_has_each_once)
{
    pid_t pid = command_start("env RECORDER_SWITCHES=1024,1 ./kernel live");
    usleep(300000); /* until there are some */
    for (unsigned i = 0; i < scaled(20) + 1; i++) {
        command_must("save %d -o x%u.rec", pid, i);
        command_must("dump x%u.rec --json >lines", i);
        cr_assert_gt(check(0), 10);
    }
    command_stop(pid);
}

/* Goal: a live page gets all switches as they come. Method: its records, too,
 * read by programs/view_live.py. */
Test(kernel, live_page_has_what_ran)
{
    build_must("python3 " BUILD_PROGRAMS "/view_live.py " RECORDER
               " ./kernel live");
    cr_assert(strstr(build_text, " threads, "), "%s", build_text);
}

/* Goal: where the kernel refuses, the command says why and counts by /proc. */
Test(kernel, counts_where_the_kernel_refuses)
{
    pid_t pid = command_start("./kernel live");
    build_must("./kernel sandbox 1 " RECORDER " sched %d --for 300ms", pid);
    cr_assert(strstr(build_text, "seccomp profile"), "%s", build_text);
    cr_assert(strstr(build_text, "THREAD"), "%s", build_text);
    cr_assert(strstr(build_text, "kernel"), "%s", build_text);
    build_must("./kernel sandbox 38 " RECORDER " sched %d --for 300ms --json "
               "2>said | python3 -c \"import json, sys; r = [json.loads(l) for l "
               "in sys.stdin]; assert len(r) == 2 and max(e[\\\"blocked\\\"] "
               "for e in r) > 10\" && grep -q \"no perf events\" said",
               pid);
    build_must("./kernel sandbox 19 " RECORDER " sched %d --for 300ms", pid);
    cr_assert(strstr(build_text, "none of its processors"), "%s", build_text);
    cr_assert(strstr(build_text, "THREAD"), "%s", build_text);
    command_stop(pid);
    cr_assert_eq(command("sched $$"), 1); /* a shell: it says how */
    cr_assert(strstr(build_text, "--for 5s"), "%s", build_text);
    cr_assert_eq(command("sched 999999999 --for 100ms"), 1);
    cr_assert_eq(command("sched 1 --for soon"), 2);
    cr_assert_eq(command("sched x --for 5s"), 2);
}
