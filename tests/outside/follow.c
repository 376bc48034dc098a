/* recorder follow: each record once, in order; it counts what is lost. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#include <inttypes.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

static void follow_begin(void)
{
    build_begin();
    command_build("program", "gcc -O2");
}
TestSuite(follow, .init = follow_begin, .fini = build_end, .timeout = 300);

/* ------------------------------------------------------------- followers -- */

static FILE *opened(const char *name)
{
    char path[128];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    return file;
}

/* Starts a follower, which writes into NAME and NAME.err. */
static pid_t follower(const char *name, const char *options, const char *of)
{
    char command_line[512];
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(command_line, sizeof command_line,
                 "cd %s && exec " RECORDER " follow %s %s >%s 2>%s.err",
                 build_folder, options, of, name, name);
        execl("/bin/sh", "sh", "-c", command_line, (char *)NULL);
        _exit(127);
    }
    return pid;
}
static pid_t follower_of(const char *name, const char *options, pid_t of)
{
    char text[16];
    snprintf(text, sizeof text, "%d", (int)of);
    return follower(name, options, text);
}

/* A field of a process from the system; "": none. */
static const char *process_says(pid_t pid, const char *what)
{
    static char text[8192];
    char path[64];
    size_t size = 0;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    file = fopen(path, "r");
    if (file) {
        size = fread(text, 1, sizeof text - 1, file);
        fclose(file);
    }
    text[size] = '\0';
    return text;
}

/* True while a follower waits for its next look; and the number of its
 * sleeps. */
static bool is_asleep(pid_t pid)
{
    return atoi(process_says(pid, "syscall")) == SYS_ppoll;
}
static unsigned long sleeps(pid_t pid)
{
    static const char name[] = "\nvoluntary_ctxt_switches:";
    const char *at = strstr(process_says(pid, "status"), name);
    return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

/* Waits, as long as it takes, until a follower has begun. False: this system
 * does not tell. */
static bool has_begun(pid_t pid)
{
    double limit = seconds_now() + 60;
    if (!*process_says(getpid(), "syscall")) {
        usleep(500000);
        return false;
    }
    for (; !is_asleep(pid); usleep(1000))
        cr_assert(seconds_now() < limit, "it does not begin");
    return true;
}

/* Waits until the follower has seen all earlier records: it sleeps, and falls
 * asleep twice more, as it may have been in the middle of a look. */
static void has_looked(pid_t pid)
{
    double limit = seconds_now() + 60;
    unsigned long before;
    if (!has_begun(pid))
        return;
    before = sleeps(pid);
    for (; sleeps(pid) < before + 3 || !is_asleep(pid); usleep(1000))
        cr_assert(seconds_now() < limit, "it does not look");
}

static void follower_ends(pid_t pid)
{
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x",
              (unsigned)status);
}

/* The follower's stderr: the number of missed records; and that the program is
 * gone, and no more. */
static uint64_t missed(const char *name)
{
    char text[64], line[256];
    FILE *file;
    uint64_t all = 0, some;
    bool gone = false;
    snprintf(text, sizeof text, "%s.err", name);
    file = opened(text);
    while (fgets(line, sizeof line, file)) {
        cr_assert(!gone, "%s", line);
        char *estimate = strstr(line, ": ~");
        if (estimate)
            estimate[2] = ' ';
        if (sscanf(line, "recorder: %*d: %" SCNu64 " records missed", &some) == 1)
            all += some;
        else
            gone = strstr(line, ": the program is gone\n") != NULL;
        cr_assert(gone || strstr(line, " missed\n"), "%s", line);
    }
    fclose(file);
    cr_assert(gone);
    return all;
}

/* The number of self-checking records in its output: each is whole, and follows
 * the one before. */
static uint64_t shown(const char *name, bool as_json)
{
    char line[1024];
    FILE *file = opened(name);
    uint64_t count = 0, before = 0, order;
    while (fgets(line, sizeof line, file)) {
        unsigned long n, by_3, by_5, xored;
        const char *message = strstr(line, as_json ? "\"message\":\"" : "flood: ");
        cr_assert(message, "%s", line);
        message += as_json ? 11 : 7;
        cr_assert_eq(sscanf(line, as_json ? "{\"order\":%" SCNu64
                                          : "%" SCNu64,
                            &order),
                     1, "%s", line);
        cr_assert_gt(order, before, "%s", line);
        before = order;
        cr_assert_eq(sscanf(message, "%lu %lu %lu %lu", &n, &by_3, &by_5,
                            &xored),
                     4, "%s", line);
        cr_assert(by_3 == n * 3 && by_5 == n * 5 && xored == (n ^ 0x5a), "%s",
                  line);
        count++;
    }
    fclose(file);
    return count;
}

/* Goal: no record is invented, shown twice or out of order, and each missing
 * one is counted: shown + missed = recorded, exactly. Method: followers start;
 * then 4 threads record, at full speed or slowly, some times. */
static uint64_t burst(uint64_t each, int us, unsigned times)
{
    static const struct {
        const char *name, *options;
        bool as_json;
    } followers[] = {{"often", "--last 0 --interval 1", false},
                     {"text", "-l 0", false},
                     {"json", "--json --last=0", true},
                     {"seldom", "--last 0 --interval 100", false}};
    enum { COUNT = sizeof followers / sizeof *followers };
    pid_t pids[COUNT], program;
    uint64_t all = 0;
    char line[128];
    snprintf(line, sizeof line, "./program burst 4 %" PRIu64 " %d", each, us);
    program = command_start(line);
    for (int i = 0; i < COUNT; i++)
        pids[i] = follower_of(followers[i].name, followers[i].options, program);
    for (int i = 0; i < COUNT; i++)
        has_begun(pids[i]);
    for (unsigned n = 0; n < times; n++) {
        command_goes();
        for (int i = 0; i < COUNT; i++)
            has_looked(pids[i]);
    }
    build_must("touch end");
    for (int i = 0; i < COUNT; i++) {
        uint64_t is, was;
        follower_ends(pids[i]);
        is = shown(followers[i].name, followers[i].as_json);
        was = missed(followers[i].name);
        cr_assert_eq(is + was, 4 * each * times,
                     "%s: %" PRIu64 " shown, %" PRIu64 " missed",
                     followers[i].name, is, was);
        cr_assert_gt(is, 0);
        all += is;
    }
    return all;
}
Test(follow, at_full_speed) { burst(2000000, 0, 1); }
/* Each time at most one ring of records: a late follower misses none. */
Test(follow, slowly)
{
    cr_assert_eq(burst(250, 1000, 3), 4 * 4 * 250 * 3, "some were missed");
}

/* ------------------------------------------------------------------ ends -- */

/* The counting program records slowly, at most one ring at a time. */
#define COUNTS "./program count 1000 20000"

static int last_recorded(void)
{
    FILE *file = opened("last");
    int last = 0;
    if (fread(&last, sizeof last, 1, file) != 1)
        last = 0; /* none yet */
    fclose(file);
    return last;
}

/* Waits until `more` numbers have been counted; returns the last. */
static int counted(int more)
{
    int last = last_recorded() + more;
    while (last_recorded() < last)
        usleep(1000);
    return last;
}

/* The first and the last number; each follows the one before. */
static void numbers(const char *name, int *first, int *last)
{
    char line[256];
    FILE *file = opened(name);
    *first = *last = 0;
    while (fgets(line, sizeof line, file)) {
        int number;
        const char *at = strstr(line, "flood: number ");
        cr_assert(at && sscanf(at, "flood: number %d", &number) == 1, "%s",
                  line);
        cr_assert(*last == 0 || number == *last + 1, "%s behind %d", line,
                  *last);
        if (!*first)
            *first = number;
        *last = number;
    }
    fclose(file);
}

/* Goal: it ends when the program does, in any way, and shows the records up to
 * an interval before the end; --last 10 is its start. */
Test(follow, ends_with_the_program)
{
    for (int killed = 0; killed < 2; killed++) {
        pid_t program = command_start(COUNTS);
        pid_t pid;
        int first, last, is, before, begun, seen;
        before = counted(15);
        pid = follower_of("out", "", program);
        has_begun(pid);
        begun = last_recorded() + 1;
        seen = counted(15);
        has_looked(pid);
        if (killed)
            command_stop(program);
        else
            build_must("touch end");
        follower_ends(pid);
        cr_assert_eq(missed("out"), 0);
        numbers("out", &first, &last);
        is = last_recorded();
        cr_assert(first >= before - 9 && first <= begun - 9 && last >= seen &&
                      last <= is + 1,
                  "%d to %d of %d; it began behind %d and saw %d", first, last,
                  is, before, seen);
        build_must("rm -f end");
    }
}

/* Goal: seen records are shown with their formats and strings, even if the
 * program has ended since. Method: it ends between two looks that are far
 * apart, after the look that saw its last words. */
Test(follow, last_words)
{
    for (int i = 0; i < 6; i++) {
        pid_t program = command_start("./program words");
        pid_t pid =
            follower_of("out", "--interval 200 --line \"{message}\"", program);
        has_begun(pid);
        command_goes();
        has_looked(pid);
        if (i % 2)
            command_stop(program);
        else
            build_must("touch end");
        follower_ends(pid);
        command_stop(program);
        build_must("rm -f end; cat out");
        cr_assert_str_eq(build_text, "before\nlast words are these\n", "%s",
                         build_text);
    }
}

/* Goal: a program that becomes another by exec is gone; nothing is read of the
 * other. Method: it runs itself, at the same addresses and at others. */
Test(follow, ends_with_exec)
{
    static const char *const kinds[] = {"gcc -static -no-pie",
                                        "gcc -pie -fPIE"};
    for (int i = 0; i < 2; i++) {
        pid_t program, pid;
        command_build("becomes", kinds[i]);
        program = command_start("./becomes becomes");
        pid = follower_of("out", "--line \"{message}\"", program);
        has_begun(pid);
        command_goes();
        follower_ends(pid);
        cr_assert_eq(missed("out"), 0);
        command_stop(program);
        build_must("cat out");
        cr_assert_str_eq(build_text, "one 1\nand 2\n", "%s", build_text);
    }
}

/* Goal: for records of several slots, the missed count is in records, as an
 * estimate. Method: a follower is stopped while 5000 of two slots come. */
Test(follow, missed_are_records)
{
    pid_t program = command_start("./program copies 5000"), pid;
    uint64_t is;
    pid = follower_of("out", "-l 0", program);
    has_begun(pid);
    kill(pid, SIGSTOP);
    command_goes();
    kill(pid, SIGCONT);
    has_looked(pid);
    build_must("touch end");
    follower_ends(pid);
    build_must("set -e; grep -c \": ~[0-9]* records missed\" out.err; wc -l <out");
    cr_assert_eq(sscanf(build_text, "%*d %" SCNu64, &is), 1);
    cr_assert(is >= 500 && is + missed("out") == 5000, "%" PRIu64 " + %" PRIu64,
              is, missed("out"));
}

/* Goal: a recording is followed until no process writes it, even if the program
 * had another process id in its namespace. Method: in a namespace, with id 1 or
 * 2. */
Test(follow, a_recording_of_another_namespace)
{
    int first, last, status;
    pid_t pid;
    if (build_run("unshare -pf true && test $(stat -f -c %%T .) != overlayfs"))
        build_skip("no namespaces, or no leases");
    build_must("unshare -pf --kill-child env RECORDER_FILE=recording " COUNTS
               " >said 2>&1 & echo $! >pid; "
               "until test -s said; do sleep 0.01; done");
    counted(15);
    pid = follower("out", "", "recording");
    has_begun(pid);
    counted(15);
    has_looked(pid);
    cr_assert_eq(waitpid(pid, &status, WNOHANG), 0, "it ended too early");
    build_must("kill -9 $(cat pid)");
    follower_ends(pid);
    numbers("out", &first, &last);
    cr_assert(last >= last_recorded() && last <= last_recorded() + 1,
              "%d of %d", last, last_recorded());
}

/* Goal: it ends when its output has no reader, even without new records. */
Test(follow, ends_with_its_reader)
{
    pid_t program = command_start("./program quiet");
    build_must("{ timeout 50 " RECORDER
               " follow %d 2>err; echo $? >status; } | "
               "head -n 1 >out && test -s out && ! test -s err && "
               "until test -s status; do sleep 0.01; done && "
               "test $(cat status) != 124", program);
    cr_assert_eq(kill(program, 0), 0);
    command_stop(program);
}

/* Goal: with a recording, the last records are all there. */
Test(follow, a_recording_to_the_end)
{
    pid_t program = command_start("env RECORDER_FILE=recording " COUNTS), pid;
    int first, last;
    counted(15);
    pid = follower_of("out", "", program);
    has_begun(pid);
    counted(15);
    command_stop(program);
    follower_ends(pid);
    cr_assert_eq(missed("out"), 0);
    numbers("out", &first, &last);
    cr_assert(last == last_recorded() || last == last_recorded() + 1,
              "%d of %d", last, last_recorded());
}

/* Goal: later threads and libraries are followed, too. Method: a thread starts,
 * and a library is opened; all records of one program, in order, none
 * missing. */
Test(follow, later_threads_and_libraries, .init = build_long)
{
    char line[256];
    int wanted = 1, order, lines[3] = {0};
    pid_t program, pid;
    FILE *file;
    build_must("gcc -O2 -fPIC -shared " BUILD_INCLUDE
               "-DPART=one -o one.so " BUILD_PROGRAMS "/command_part.c && "
               "gcc -O2 " BUILD_INCLUDE "-DOWN -DSLOTS=1024 -o host "
               BUILD_PROGRAMS "/command_host.c -ldl -lpthread");
    program = command_start("./host late ./one.so:one");
    pid = follower_of("out", "--last 1000", program);
    has_begun(pid);
    build_must("touch go; until grep -q \" own: own 400$\" out; do sleep 0.01; "
               "done; touch end");
    follower_ends(pid);
    cr_assert_eq(missed("out"), 0);
    file = opened("out");
    while (fgets(line, sizeof line, file)) {
        cr_assert(sscanf(line, "%d", &order) == 1 && order == wanted++, "%s",
                  line);
        lines[0] += strstr(line, " T1] own: own ") != NULL;
        lines[1] += strstr(line, " T2] own: thread ") != NULL;
        lines[2] += strstr(line, " T1] one: library says, ") != NULL;
    }
    fclose(file);
    cr_assert(lines[0] == 400 && lines[1] == 20 && lines[2] == 20, "%d, %d, %d",
              lines[0], lines[1], lines[2]);
}

/* Goal: it refuses sources that cannot grow. */
Test(follow, refuses)
{
    command_core("./program", "in.txt");
    cr_assert_eq(command("follow core"), 1);
    cr_assert_str_eq(build_text, "recorder: core: is a core file: nothing is "
                                 "added to it; use recorder dump\n");
    cr_assert_eq(command("follow --interval 0 core"), 2);
    cr_assert_eq(command("follow"), 2);
}

/* ---------------------------------------------------------- live readers -- */

/* Goal: a reader of a program that records at full speed never sees half a
 * record. Method: dumps of a ring that 4 threads fill, all the time. */
Test(follow, live_dumps_are_whole)
{
    pid_t program = command_start("./program flood 4");
    uint64_t count = 0;
    /* A ring may be lapped before it is read: then no record from the start of
     * the dump is left. The frequency depends on the machine. */
    for (int i = 0; i < 15 || (count < 1000 && i < 1000); i++) {
        command_must("dump %d | { grep \"^[0-9]\" || true; } >out", program);
        count += shown("out", false);
        command_must("list %d >/dev/null", program);
    }
    cr_assert_geq(count, 1000);
    command_must("list --interval 0.05 %d", program);
    command_stop(program);
}
