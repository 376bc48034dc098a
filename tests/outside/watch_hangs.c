/* recorder watch: hangs and deaths of programs that know nothing of it. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#include <signal.h>
#include <sys/wait.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void hangs_begin(void)
{
    build_begin();
    build_once("gcc -g -O1 -o hangs " BUILD_PROGRAMS
               "/watch_hangs.c -lpthread");
    build_once("gcc -g -O0 " BUILD_INCLUDE "-o deaths " BUILD_PROGRAMS
               "/watch_deaths.c -lpthread");
}
static void hangs_long(void)
{
    build_long();
    hangs_begin();
}
TestSuite(watch_hangs, .init = hangs_begin, .fini = build_end, .timeout = 300);

/* Starts a watch of some processes, as its output is in ./out. */
static pid_t watch_start(const char *arguments)
{
    pid_t watch = fork();
    if (watch == 0) {
        char line[4096];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(line, sizeof line,
                 "exec " RECORDER " watch %s -o incidents >out 2>err",
                 arguments);
        if (chdir(build_folder) == 0)
            execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    return watch;
}

/* Waits until a line of the process in ./out contains a text; its whole line is
 * then build_text. A minute guards against a watch that notices nothing. */
static void noticed(pid_t pid, const char *what)
{
    for (double limit = seconds_now() + 60; seconds_now() < limit;) {
        if (build_run("grep -E \" %d: .*%s\" out", (int)pid, what) == 0)
            return;
        usleep(50000);
    }
    build_run("cat out err");
    cr_assert_fail("%d: no \"%s\" in\n%s", (int)pid, what, build_text);
}

static const struct kind {
    const char *name, *says;
} kinds[] = {{"mutexes", "DEADLOCK of 2"},
             {"self", "DEADLOCK of 1"},
             {"rwlocks", "DEADLOCK of 2"},
             {"ended_holder",
              "DEADLOCK: .*waits for .*which has ended; no thread can release"},
             {"join_lock", "DEADLOCK of 2"},
             {"flocks", "DEADLOCK of 2 threads of several processes"},
             {"held", "HANG.*mutex first"},
             {"held_ticking", "HANG.*mutex first"},
             /* On a busy machine the thread that ticks wants a processor. */
             {"idle_pool", "HANG.*bytes wait.*, but take nothing"},
             {"accepts", "HANG.*bytes wait.*condition came"},
             {"spinlock", "(HANG|SPIN)"},
             {"lost_wakeup", "HANG.*waits for condition came"},
             {"semaphore", "HANG.*waits for semaphore tokens"},
             {"barrier", "HANG.*waits for barrier"},
             {"pool", "HANG.*waits for semaphore tokens"},
             {"fifo", "HANG.*waits in openat"},
             {"pipe_full", "HANG.*waits in write"},
             {"pipe_cycle", "HANG.*waits in write"},
             {"socket_cycle", "HANG.*waits in read"},
             {"sleeps", "HANG.*sleeps"},
             {"spinning", "(HANG|SPIN)"},
             {"livelock", "(HANG|SPIN)"},
             {"polls", "PERHAPS SPIN"},
             {"vforks", "D STATE.*vfork"},
             {"stops", "STOPPED"}};

/* Goal: each kind of hang is noticed, and the holder of a lock named; a program
 * that works on is not. Each program works for a second, then hangs. */
Test(watch_hangs, each_kind, .init = hangs_long)
{
    char pids[1024] = "--hang 2s", text[128];
    pid_t all[COUNT(kinds) + 1], watch;
    for (size_t i = 0; i <= COUNT(kinds); i++) {
        snprintf(text, sizeof text, "./hangs %s",
                 i < COUNT(kinds) ? kinds[i].name : "works");
        all[i] = command_start(text);
        snprintf(pids + strlen(pids), sizeof pids - strlen(pids), " %d",
                 (int)all[i]);
    }
    watch = watch_start(pids);
    for (size_t i = 0; i < COUNT(kinds); i++)
        noticed(all[i], kinds[i].says);
    build_run("grep \" %d: [A-Z]\" out", (int)all[COUNT(kinds)]);
    cr_assert_str_empty(build_text, "%s", build_text);
    for (size_t i = 0; i <= COUNT(kinds); i++)
        command_stop(all[i]);
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
    cr_assert_neq(build_run("grep \"find.*polling\" incidents/*/README"), 0,
                  "%s", build_text);
    /* The first line of a README is the verdict; explain shows the rest. */
    build_must("for i in incidents/*; do head -n 1 $i/README; done | sort "
               "| uniq -c");
    command_must("explain $(grep -l \"^DEADLOCK of 2\" incidents/*/README | "
                 "head -n 1 | xargs dirname)");
    cr_assert_not_null(strstr(build_text, "waits for mutex"), "%s", build_text);
}

/* Goal: a watch that was late does not take a hang for an idle place, of which
 * it has seen too little. */
Test(watch_hangs, late_looks)
{
    pid_t pid = command_start("./hangs semaphore"), watch;
    char arguments[64];
    snprintf(arguments, sizeof arguments, "--hang 1s %d", (int)pid);
    watch = watch_start(arguments);
    noticed(pid, "is watched");
    usleep(1500000); /* it hangs, for less than a second */
    kill(watch, SIGSTOP);
    sleep(13);
    kill(watch, SIGCONT);
    noticed(pid, "HANG.*waits for semaphore tokens");
    cr_assert_null(strstr(build_text, "PERHAPS"), "%s", build_text);
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
    command_stop(pid);
}

/* Goal: a thread that computes in many functions is not said to be in one, and
 * the function that calls them is named. Method: all looks differ in the
 * innermost function, and `recorder run` puts a stack in one line. */
Test(watch_hangs, a_thread_that_computes)
{
    static const char *const starts[] = {
        "./hangs computes",
        RECORDER " run --always -q -o computes.rec ./hangs computes"};
    pid_t all[COUNT(starts)], watch;
    char pids[64];
    for (size_t i = 0; i < COUNT(starts); i++)
        all[i] = command_start(starts[i]);
    snprintf(pids, sizeof pids, "--hang 2s %d %d", (int)all[0], (int)all[1]);
    watch = watch_start(pids);
    for (size_t i = 0; i < COUNT(starts); i++)
        noticed(all[i],
                "PERHAPS SPIN.* runs in computes watch_hangs.c:[0-9]* < main");
    for (size_t i = 0; i < COUNT(starts); i++)
        command_stop(all[i]);
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
}

/* Goal: a program whose control group is frozen is named so, in a nap, too, which
 * Linux may freeze in place and shows as state D. */
Test(watch_hangs, a_frozen_group)
{
    static const struct {
        const char *folder, *file, *freeze, *thaw;
    } groups[] = {{"/sys/fs/cgroup/freezer", "freezer.state", "FROZEN",
                   "THAWED"},
                  {"/sys/fs/cgroup", "cgroup.freeze", "1", "0"}};
    char arguments[64], group[64];
    pid_t pid, watch;
    size_t i = 0;
    for (; i < COUNT(groups); i++) {
        snprintf(group, sizeof group, "%s/recorder-%d", groups[i].folder,
                 (int)getpid());
        if (build_run("mkdir %s; test -w %s/%s || { rmdir %s; false; }", group,
                      group, groups[i].file, group) == 0)
            break;
    }
    if (i == COUNT(groups))
        build_skip("no control group may be made here");
    pid = command_start("./hangs works");
    build_must("echo %d >%s/cgroup.procs", (int)pid, group);
    snprintf(arguments, sizeof arguments, "--hang 2s %d", (int)pid);
    watch = watch_start(arguments);
    noticed(pid, "is watched");
    build_must("echo %s >%s/%s", groups[i].freeze, group, groups[i].file);
    noticed(pid, "STOPPED: its control group is frozen");
    build_must("echo %s >%s/%s", groups[i].thaw, group, groups[i].file);
    noticed(pid, "continues after");
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
    command_stop(pid);
    build_must("rmdir %s", group);
}

/* Goal: a watch that was killed and starts again keeps no second incident of the
 * same hang, and sees its end. */
Test(watch_hangs, one_incident_for_a_hang, .init = hangs_long)
{
    static const char *const names[] = {"mutexes", "semaphore", "stops",
                                        "spinning"};
    enum { ALL = COUNT(names) };
    char arguments[256] = "--hang 2s", text[64];
    pid_t all[ALL], watch;
    for (int i = 0; i < ALL; i++) {
        snprintf(text, sizeof text, "./hangs %s", names[i]);
        all[i] = command_start(text);
        snprintf(arguments + strlen(arguments),
                 sizeof arguments - strlen(arguments), " %d", (int)all[i]);
    }
    watch = watch_start(arguments);
    for (int i = 0; i < ALL; i++) {
        noticed(all[i], "(DEADLOCK|HANG|STOPPED|SPIN)");
        build_must("until grep -q hang incidents/2*-%d/README; do sleep 0.1; "
                   "done",
                   (int)all[i]);
    }
    kill(watch, SIGKILL);
    waitpid(watch, NULL, 0);
    watch = watch_start(arguments);
    sleep(10);
    build_run("grep \": [A-Z]\" out; ls incidents | wc -l");
    cr_assert_str_eq(build_text, "4\n", "%s", build_text);
    kill(all[1], SIGUSR1);
    kill(all[2], SIGCONT);
    noticed(all[1], "continues after");
    noticed(all[2], "continues after");
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
    for (int i = 0; i < ALL; i++)
        command_stop(all[i]);
}

/* Goal: each bad end is an incident with its status or signal, and no other is;
 * the rings of a killed program are kept. */
Test(watch_hangs, deaths)
{
    static const char *const ends[][2] = {
        {"e1", "EXIT with status 1"},   {"e42", "EXIT with status 42"},
        {"s6", "CRASH by SIGABRT"},     {"s8", "CRASH by SIGFPE"},
        {"s13", "CRASH by SIGPIPE"},    {"null", "CRASH by SIGSEGV"},
        {"thread", "CRASH by SIGSEGV"}, {"killed", "KILLED by SIGKILL"},
        {"cpu", "KILLED by SIGKILL of (the kernel|an unknown sender)"},
        {"e0", "ended with status 0"},  {"s15", "ended by SIGTERM"},
        {"e143", "ended by SIGTERM, with status 143"}};
    enum { GOOD = 3, ENDS = COUNT(ends) };
    char pids[1024] = "--hang 1s", text[128];
    pid_t all[ENDS], watch;
    int status;
    for (size_t i = 0; i < ENDS; i++) {
        snprintf(text, sizeof text, "env RECORDER_FILE=%s.rec ./deaths %s no",
                 ends[i][0], ends[i][0]);
        all[i] = command_start(text);
        snprintf(pids + strlen(pids), sizeof pids - strlen(pids), " %d",
                 (int)all[i]);
    }
    watch = watch_start(pids);
    for (size_t i = 0; i < ENDS; i++)
        noticed(all[i], "is watched");
    for (size_t i = 0; i < ENDS; i++) {
        kill(all[i], strcmp(ends[i][0], "killed") ? SIGUSR2 : SIGKILL);
        waitpid(all[i], NULL, 0);
    }
    waitpid(watch, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3, "%x", status);
    for (size_t i = 0; i < ENDS; i++)
        noticed(all[i], ends[i][1]);
    build_must("ls -d incidents/2*-deaths-* | wc -l");
    cr_assert_eq(atoi(build_text), ENDS - GOOD, "%s", build_text);
    command_must("dump incidents/*-%d", (int)all[7]);
    cr_assert_not_null(strstr(build_text, "work: step 99"), "%s", build_text);
}

/* Goal: a name is followed over restarts, and old incidents make room. */
Test(watch_hangs, restarts)
{
    pid_t pid = 0, watch;
    build_must("cp deaths restarting");
    watch = watch_start("restarting --hang 1s --keep 3");
    for (int i = 0; i < 5; i++) {
        pid = command_start("./restarting e1 no");
        noticed(pid, "is watched");
        kill(pid, SIGUSR2);
        waitpid(pid, NULL, 0);
        noticed(pid, "EXIT with status 1");
    }
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
    build_must("ls incidents | wc -l; ls incidents | tail -n 1");
    cr_assert_eq(atoi(build_text), 3, "%s", build_text);
    build_must("test -d incidents/*-restarting-%d", (int)pid);
}

/* Goal: of two incidents in one second, none is lost. */
Test(watch_hangs, one_second)
{
    pid_t watch = watch_start("deaths --hang 1s"),
          pid = command_start("./deaths e1 no");
    noticed(pid, "is watched");
    build_must("now=$(date +%%s); for s in 0 1 2 3 4 5 6 7 8 9; do mkdir -p "
               "incidents/$(date -d @$((now + s)) +%%Y%%m%%d-%%H%%M%%S)-deaths-%d"
               "; done",
               pid);
    kill(pid, SIGUSR2);
    waitpid(pid, NULL, 0);
    noticed(pid, "EXIT with status 1");
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
    build_must("grep -q \"^EXIT\" incidents/*-deaths-%d-2/README", pid);
    watch = watch_start("deaths --hang 1s");
    pid = command_start("./deaths e1 no");
    noticed(pid, "is watched");
    build_must("rm -r incidents && echo >incidents");
    kill(pid, SIGUSR2);
    waitpid(pid, NULL, 0);
    noticed(pid, "no incident could be kept: Not a directory");
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
    cr_assert_eq(command("watch deaths -o incidents"), 1);
    cr_assert_not_null(strstr(build_text, "incidents: Not a directory"), "%s",
                       build_text);
}

/* Goal: silence, open spans, rates and figures of a process are conditions. */
Test(watch_hangs, absence)
{
    static const struct {
        const char *condition, *says;
    } cases[] = {{"net: silent 200ms", "net: silent 200ms: 0 records\n"},
                 {"http: open>200ms", "http: > request id=50\n"},
                 {"http: id=50 open>150ms", "http: > request id=50\n"},
                 {"net: >5/s", "net: >5/s: "},
                 {"net: 1<=50 for 200ms", "net: packet "}, /* which: by the load */
                 {"net: \"never\" <1/100ms for 300ms", "300ms: 0 records\n"},
                 {"net: \"never\" <1/s", "<1/s: 0 records\n"}};
    pid_t pid, watch;
    char arguments[128];
    build_once("gcc -O1 " BUILD_INCLUDE "-o absence " BUILD_PROGRAMS
               "/watch_absence.c");
    pid = command_start("./absence");
    for (size_t i = 0; i < COUNT(cases); i++) {
        setenv("CONDITION", cases[i].condition, 1);
        command_must("watch %d --when \"$CONDITION\"", pid);
        cr_assert_not_null(strstr(build_text, cases[i].says), "%s: %s",
                           cases[i].condition, build_text);
    }
    /* Packet 41 ends it. */
    cr_assert_eq(build_run("timeout 4 " RECORDER
                           " watch %d --when \"net: 1<=40 for 2s\"",
                           (int)pid),
                 124);
    cr_assert_eq(command("watch %d --when \"net: silent 5\"", pid), 2);
    cr_assert_eq(command("watch %d --when \"net: silent 5s for 1s\"", pid), 2);
    cr_assert_eq(command("watch %d -o x --when \"process: rss>\"", pid), 2);
    snprintf(arguments, sizeof arguments,
             "%d --hang 1s --when \"process: descriptors>2 for 1s\"", (int)pid);
    watch = watch_start(arguments);
    noticed(pid, "CONDITION met: process: descriptors>2 for 1s");
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
    command_stop(pid);
}

/* Starts logs of all processes of a name. */
static pid_t logs_start(const char *name)
{
    pid_t log = fork();
    if (log == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (chdir(build_folder) == 0)
            execl(RECORDER, "recorder", "log", name, "--restarts", "-o", "logs",
                  (char *)NULL);
        _exit(127);
    }
    return log;
}

/* Goal: a log of a name has a folder for each of its processes. */
Test(watch_hangs, log_restarts)
{
    pid_t log, pid;
    build_once("gcc -O1 " BUILD_INCLUDE "-o logged_again " BUILD_PROGRAMS
               "/watch_absence.c");
    log = logs_start("logged_again");
    for (int i = 0; i < 2; i++) {
        pid = command_start("./logged_again");
        build_must("until test -s logs/*-logged_again-%d/000001.part; do "
                   "sleep 0.05; done",
                   pid);
        command_stop(pid);
        build_must("until test -s logs/*-logged_again-%d/000001.rec; do "
                   "sleep 0.05; done",
                   pid);
        command_must("dump logs/*-%d", pid);
        cr_assert_not_null(strstr(build_text, "net: packet 0"), "%s",
                           build_text);
    }
    kill(log, SIGTERM);
    waitpid(log, NULL, 0);
}

/* Goal: a process that is seen before it has recorders is logged and watched as
 * soon as it has some, under the name that it has then. */
Test(watch_hangs, seen_before_it_records)
{
    pid_t log, watch, pid;
    build_once("gcc -O1 " BUILD_INCLUDE "-o late " BUILD_PROGRAMS
               "/watch_absence.c");
    build_must("ln -s /bin/sh early");
    log = logs_start("early");
    watch = watch_start("early --when \"net: 1=20\"");
    pid = command_start("env RECORDER_FILE=late.rec ./early -c "
                        "\"sleep 2; exec ./late with its arguments\"");
    build_must("until test -s logs/*-late-%d/000001.part; do sleep 0.05; done",
               pid);
    noticed(pid, "CONDITION met: .*packet 20");
    command_stop(pid);
    noticed(pid, "KILLED by SIGKILL");
    kill(watch, SIGTERM);
    waitpid(watch, NULL, 0);
    command_must("dump $(dirname $(grep -l ^KILLED incidents/*/README))");
    cr_assert_not_null(strstr(build_text, "net: packet 20"), "%s", build_text);
    build_must("cat incidents/*-late-%d/README", pid);
    cr_assert_not_null(strstr(build_text, "./late with its arguments"), "%s",
                       build_text);
    kill(log, SIGTERM);
    waitpid(log, NULL, 0);
    command_must("dump logs/*-late-%d", pid);
    cr_assert_not_null(strstr(build_text, "net: packet 0"), "%s", build_text);
    cr_assert_eq(command("log 999999999 999999998 -o none"), 1);
    cr_assert_not_null(strstr(build_text, "999999998: no such process"),
                       "%s", build_text);
}
