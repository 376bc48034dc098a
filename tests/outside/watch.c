/* recorder watch: conditions, actions, and programs with triggers. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#include "harness/random.h"

#include <sys/stat.h>
#include <sys/wait.h>

static pid_t program;
static void watch_begin(void)
{
    build_begin();
    build_once("gcc -O1 " BUILD_INCLUDE "-o watched " BUILD_PROGRAMS
               "/watch.c");
}
TestSuite(watch, .init = watch_begin, .fini = build_end, .timeout = 300);

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void start(const char *line)
{
    program = command_start(line);
}

static size_t lines_of(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* The order at which the line that contains `what` begins; 0: there is none. */
static unsigned long order_of(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    while (at && at > text && at[-1] != '\n')
        at--;
    return at ? strtoul(at, NULL, 10) : 0;
}

/* Goal: shown records meet the condition; the number of actions is right. */
Test(watch, each_condition)
{
    static const struct {
        const char *condition;
        const char *contains; /* each line does */
    } cases[] = {{"disk: 1=50", "disk: latency 50 ms\n"},
                 {"disk: \"latency\" 1>50 1<52", "disk: latency 51 ms\n"},
                 {"net: \"late\"", "net: SW2 late "},
                 {"net: sw1", "net: SW2 late "},
                 {"net: hw1 1<0", "net: HW1 -"},
                 {"many: 12=-1", " -1\n"},
                 {"many: 12!=0 12&2", " -1\n"},
                 {"disk: 1=1 3x9s", "disk: latency 1 ms\n"},
                 {"disk: 1=7 after=5ms", "disk: latency 7 ms\n"}};
    start("./watched");
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *line;
        setenv("CONDITION", cases[i].condition, 1);
        command_must("watch %d --when \"$CONDITION\" --times 2", program);
        cr_assert_eq(lines_of(build_text), 2, "%s: %s", cases[i].condition,
                     build_text);
        for (line = build_text; *line; line = strchr(line, '\n') + 1) {
            const char *found = strstr(line, cases[i].contains);
            cr_assert(found && found < strchr(line, '\n') + 1, "%s: %s",
                      cases[i].condition, build_text);
        }
    }
    /* Of those that are chosen, and stat counts those. */
    command_must(
        "watch %d --when disk: --grep \"latency 9 ms\" --where \"1>8\" "
        "--times 3 >seen && grep -c \"disk: latency 9 ms$\" seen",
        program);
    cr_expect_str_eq(build_text, "3\n");
    build_must("rates() { " RECORDER
               " list %d --interval 0.3 $@ | tr -s \" \" | "
               "sed -n \"s/^disk ~*\\([^ ]* [^ ]*\\) .*/\\1/p\"; }; "
               "until rates --grep 9.ms --where disk:1=9 >nines; rates >all; "
               "cat nines all | tr \"\\n\" \" \" | awk \"{ print; exit !(\\$1 "
               "> 0 && \\$2 > 0 && 10 * \\$2 < \\$4) }\"; do :; done",
               program);
    /* What no record had until now is said, and waited for. */
    cr_assert_eq(
        build_run("timeout 1 " RECORDER
                  " watch %d --when \"disk: bytse>1\" --when \"net: 1=9 "
                  "5>3\" --when \"disk: \\\"latency\\\" 1=123456\" 2>&1",
                  program),
        124, "%s", build_text);
    cr_assert_not_null(strstr(build_text,
                              ": --when disk: bytse>1: until now, no record "
                              "has an argument bytse: "),
                       "%s", build_text);
    cr_assert_not_null(
        strstr(build_text, ": --when net: 1=9 5>3: until now, no "), "%s",
        build_text);
    cr_assert_eq(lines_of(build_text), 2, "%s", build_text);
    /* Any of several. */
    command_must("watch %d --when \"disk: 1=3\" --when \"net: sw2\" --times 30",
                 program);
    cr_assert_not_null(strstr(build_text, "disk: latency 3 ms\n"));
    cr_assert_not_null(strstr(build_text, "net: SW2 late"));
    command_stop(program);
}

/* Goal: freeze comes soon: the program makes 3 records a millisecond; once
 * more, if the machine let it run for a second first. thaw undoes it. */
Test(watch, freeze)
{
    unsigned long seen, last;
    start("./watched");
    for (int tries = 0;; tries++) {
        command_must("watch %d --when \"disk: 1=42\" --do freeze", program);
        seen = order_of(build_text, "disk: latency 42 ms\n");
        cr_assert(seen, "%s", build_text);
        command_must("list %d --json", program);
        cr_assert_eq(lines_of(build_text), 4);
        cr_assert_null(strstr(build_text, "\"frozen\":false"), "%s",
                       build_text);
        command_must("dump %d --last 1", program);
        cr_assert_not_null(strstr(build_text, ", FROZEN\n"));
        last = order_of(build_text, "] ");
        cr_assert_geq(last, seen);
        if (last < seen + 3000)
            break;
        cr_assert_lt(tries, 10, "%lu, %lu", seen, last);
        command_must("set %d \".*=thaw\"", program);
    }
    command_must("dump %d --last 1 | tail -n 1", program);
    cr_assert_eq(order_of(build_text, "] "), last);
    command_must("list %d", program);
    cr_assert_not_null(strstr(build_text, "  frozen  Latencies\n"));
    command_must("set %d \".*=thaw\"", program);
    command_must("watch %d --when \"disk: 1=42\"", program);
    command_must("list %d", program);
    cr_assert_not_null(strstr(build_text, "  on      Latencies\n"));
    command_stop(program);
}

/* Goal: save makes a recording with the record in it; a command gets its line
 * and the id; failures are reported, with status 1. */
Test(watch, actions)
{
    char path[128];
    struct stat is;
    start("./watched");
    command_must("watch %d --when \"disk: 1=42\" --do exit --times 5 "
                 "--do save=%%e.%%p.%%%%.rec "
                 "--do \"run=cat >line; echo \\$RECORDER_PID >pid\"",
                 program);
    cr_assert_eq(lines_of(build_text), 1, "%s", build_text);
    cr_assert_not_null(strstr(build_text, "disk: latency 42 ms\n"));
    snprintf(path, sizeof path, "%s/watched.%d.%%.rec", build_folder,
             (int)program);
    cr_assert(stat(path, &is) == 0, "%s", path);
    cr_assert_eq(is.st_mode & 077, 0);
    build_must("test \"$(cat pid)\" = %d && grep -q \"latency 42 ms\" line",
               program);
    /* The rate of ticks is measured at each look: nanoseconds may differ. */
    command_must("dump watched.%d.%%.rec | sed \"s/[.][0-9]*//\" | "
                 "grep -F \"$(sed \"s/[.][0-9]*//\" line)\"",
                 program);
    cr_assert_eq(
        command("watch %d --when \"disk: 1=42\" --do \"run=exit 7\"", program),
        1);
    cr_assert_not_null(strstr(build_text, "exit 7: ended with status 7\n"),
                       "%s", build_text);
    cr_assert_eq(
        command("watch %d --when \"disk: 1=42\" --do save=none/x.rec", program),
        1);
    cr_assert_not_null(strstr(build_text, "save: ended with status 1\n"), "%s",
                       build_text);
    command_stop(program);
}

/* Goal: a program that ends, another's process and what is wrong are
 * sentences. */
Test(watch, trouble)
{
    static const struct {
        const char *options, *says;
    } bad[] = {{"--hang 1ms", "--hang 1ms: is no time of 400ms"},
               {"-o x --keep x", "--keep x: is no number (50)"},
               {"--when \"disk: 1>\"", "--when 1>: is compared with no number"},
               {"--when \"disk: : freeze\"", "actions are given by --do"},
               {"--when \"disk:\" --do jump", "--do jump: there are freeze, "},
               {"--when \"disk:\" --do save=", "--do save=: there are"},
               {"--when \"disk:\" --times -1", "--times: -1 is no number"},
               {"--when \"(disk:\"", "missing )"}};
    for (int rounds = 300;; rounds *= 3) { /* it may end before it is seen */
        char line[32];
        snprintf(line, sizeof line, "./watched %d", rounds);
        start(line);
        cr_assert_eq(command("watch %d --when \"disk: 1=200\"", program), 1);
        if (strstr(build_text, "the program is gone\n"))
            break;
        cr_assert(rounds < 10000 && strstr(build_text, "has ended"), "%s",
                  build_text);
    }
    cr_assert_eq(command("watch %d --when \"disk: 1=200\"", program), 1);
    start("./watched");
    for (size_t i = 0; i < COUNT(bad); i++) {
        cr_assert_eq(command("watch %d %s", program, bad[i].options), 2, "%s",
                     bad[i].options);
        cr_assert_not_null(strstr(build_text, bad[i].says), "%s: %s",
                           bad[i].options, build_text);
    }
    command_must("save %d -o x.rec", program);
    cr_assert_eq(command("watch x.rec --when \"disk: 1=200\""), 1);
    cr_assert_not_null(strstr(build_text, "is no running process"));
    if (getuid() == 0) {
        cr_assert_eq(build_run("setpriv --reuid 65534 --regid 65534 "
                               "--clear-groups " RECORDER
                               " watch %d --when \"disk: 1=2\"",
                               program),
                     1);
        cr_assert_not_null(strstr(build_text, "may not be read by this user"),
                           "%s", build_text);
    }
    command_stop(program);
}

/* Goal: RECORDER_TRIGGERS sets triggers; list shows the watched recorders, and
 * set and gdb keep them, over off and on, too. */
Test(watch, triggers_of_the_program)
{
    int status;
    start(
        "env RECORDER_TRIGGERS='disk: 1=1000: freeze; net: 1>1 after=2us: dump="
        "dump.txt; bad' ./watched 2>said");
    build_must("until grep -q \"net: SW2 late 10$\" dump.txt 2>&-; do "
               "sleep 0.05; done; grep -q \"trigger: bad: NAMES of\" said");
    /* One that has acted is watched no more, once its dump is done. */
    build_must("until " RECORDER
               " list %d >list; grep -q \"  on      Severities"
               "$\" list; do sleep 0.05; done; cat list",
               program);
    cr_assert_not_null(strstr(build_text, "  watched Latencies\n"), "%s",
                       build_text);
    command_must("set %d disk=off", program);
    command_must("list %d --json", program);
    cr_assert_not_null(strstr(build_text, "\"trace\":-1,\"watched\":true,"
                                          "\"frozen\":false,"));
    command_must("set %d disk=trace", program);
    command_must("list %d", program);
    cr_assert_not_null(strstr(build_text, "trace, watched"));
    build_must("until grep -q \"disk: latency\" said; do sleep 0.05; done");
    if (build_run("command -v gdb >/dev/null") == 0) {
        build_must("gdb -nx -q -batch -p %d -ex \"source " TEST_ROOT
                   "/gdb/recorder-gdb.py\" -ex \"recorder set disk=on\" "
                   "-ex \"recorder list\" 2>&1",
                   program);
        cr_assert_not_null(strstr(build_text, "  watched Latencies\n"), "%s",
                           build_text);
    }
    command_stop(program);
    /* It acts although it was set to off and on; once more, and later, where it
     * acted before that. */
    for (int times = 2, wrong = 1; wrong; times *= 2) {
        char line[96];
        cr_assert_leq(times, 16, "%s", build_text);
        snprintf(line, sizeof line,
                 "env RECORDER_TRIGGERS='disk: 1=99 %dx1h: signal=9' ./watched",
                 times);
        start(line);
        wrong = command("set %d disk=off", program) ||
                command("set %d disk=on", program);
        cr_assert(waitpid(program, &status, 0) == program);
        cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
}

/* Goal: a recording shows the frozen recorders of its program, which is
 * gone. */
Test(watch, recording_says_frozen)
{
    build_must("RECORDER_FILE=gone.rec RECORDER_TRIGGERS=\"disk: 1=9: freeze\" "
               "./watched 30 2>&1");
    command_must("list gone.rec");
    cr_assert_not_null(strstr(build_text, "  frozen  Latencies\n"), "%s",
                       build_text);
    command_must("dump gone.rec");
    cr_assert_not_null(strstr(build_text, "DUMPING disk SIZE 1024, 10 ENTRIES, "
                                          "0 OVERWRITTEN, 0 LOST, FROZEN\n"));
}

/* Goal: in a program for recorder 1.x, its traces are still printed by it. */
Test(watch, compat_is_called)
{
    build_must("gcc -I" TEST_ROOT "/compat " BUILD_INCLUDE
               "-o old " BUILD_PROGRAMS "/compat_trigger.c -lpthread");
    build_must("./old 2>&1");
    cr_assert_not_null(strstr(build_text, "said 2\n"), "%s", build_text);
    cr_assert_null(strstr(build_text, "quiet 1\n"), "%s", build_text);
    build_must("grep -q \"said 2\" dump.txt");
}
