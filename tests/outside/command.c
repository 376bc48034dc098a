/* The recorder command, verb by verb, as a user meets it. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

static void command_begin(void)
{
    build_begin();
    command_build("program", "gcc -O2");
}
TestSuite(command, .init = command_begin, .fini = build_end, .timeout = 300);

/* A shell command's whole output must be this. */
#define SAYS(text, ...)                                                        \
    do {                                                                       \
        build_must(__VA_ARGS__);                                               \
        cr_assert_str_eq(build_text, text, "%s\nsaid:\n%s", build_command,     \
                         build_text);                                          \
    } while (0)
/* And this status, with these first words. */
#define REFUSES(status, text, ...)                                             \
    do {                                                                       \
        int status_ = command(__VA_ARGS__);                                    \
        cr_assert_eq(status_, status, "%d: %s: %s", status_, build_command,    \
                     build_text);                                              \
        cr_assert(strncmp(build_text, text, strlen(text)) == 0,                \
                  "%s\nsaid:\n%s", build_command, build_text);                 \
    } while (0)
/* The command fails with 1, and says of a process this and no more. */
static void fails_for(int pid, const char *text, const char *format, ...)
{
    char line[256], must[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    snprintf(must, sizeof must, "recorder: %d: %s\n", pid, text);
    cr_assert_eq(command("%s %d", line, pid), 1, "%s: %s", line, build_text);
    cr_assert_str_eq(build_text, must, "%s:\n%s", line, build_text);
}
/* Times and addresses differ from run to run. */
#define SAME " | sed -e \"s/[0-9]*\\.[0-9]\\{6,9\\}/0/; s/0x[0-9a-f]*/0x/g\""

/* ------------------------------------------------------------------ dump -- */

/* A time of 800 seconds ago and one in 800 seconds, as `date` writes them in a
 * zone, enclose all records; no record is before the first. */
static void times_choose(int pid, const char *format, const char *zone)
{
    build_must(
        "export TZ=%s; then=\"$(date -d \"800 seconds ago\" \"+%s\")\"; "
        "soon=\"$(date -d \"800 seconds\" \"+%s\")\"; " RECORDER
        " dump %d --since \"$then\" --until \"$soon\" --json | wc -l; " RECORDER
        " dump %d --until \"$then\" --json | wc -l; " RECORDER
        " dump %d --since \"$soon\" --json 2>said | wc -l; "
        "grep -q \"the last record is at 0\\.\" said",
        zone, format, format, pid, pid, pid);
    cr_assert_str_eq(build_text, "3\n0\n0\n", "%s: %s", format, build_text);
}

/* Goal: each option does its work. Method: three records of a program that
 * waits, whole outputs. */
Test(command, dump_options)
{
    int pid = (int)command_start("./program quiet");
    char all[256];
    build_must("grep -n \"first %%d\" " BUILD_PROGRAMS "/command.c");
    snprintf(all, sizeof all,
             "1 [0 command.c:%d T1] main: first 1\n"
             "2 [0 command.c:%d T1] small: second two\n"
             "3 [0 command.c:%d T1] main: third\n",
             atoi(build_text), atoi(build_text) + 1, atoi(build_text) + 2);
#define LINES(text, options)                                                   \
    SAYS(text, RECORDER " dump %d %s | grep \"^[0-9]\"" SAME, pid, options)
#define MESSAGES(text, options)                                                \
    SAYS(text,                                                                 \
         RECORDER " dump %d --line \"{message}\" %s | "                        \
                  "grep -v -e ^FLIGHT -e ^DUMPING",                            \
         pid, options)
    LINES(all, "");
    MESSAGES("first 1\nsecond two\nthird\n", "");
    MESSAGES("first 1\nthird\n", "--names main");
    MESSAGES("first 1\nthird\n", "-n MA..");
    MESSAGES("second two\nthird\n", "--last 2");
    MESSAGES("third\n", "-l 1 --names=main");
    MESSAGES("second two\nthird\n", "--since 2");
    MESSAGES("first 1\nsecond two\n", "--until 2");
    MESSAGES("second two\n", "--since 2 --until 2");
    MESSAGES("first 1\nsecond two\nthird\n", "--since 0s --until 100s");
    MESSAGES("first 1\nsecond two\nthird\n", "--since -600s");
    /* Those before it may have the same time, but for the first. */
    MESSAGES("third\n", "--since -0ns --names main");
    MESSAGES("first 1\nsecond two\nthird\n", "--since 2001-01-01T00:00:00Z");
    MESSAGES("first 1\nsecond two\nthird\n",
             "--until \"2999-12-31 23:59:59.5\"");
    MESSAGES("first 1\nsecond two\nthird\n", "--since -2m --until now");
    MESSAGES("first 1\nsecond two\nthird\n", "--since -1.5h --until now+1d");
    MESSAGES("first 1\nsecond two\nthird\n", "--since now-5min");
    MESSAGES("first 1\nsecond two\nthird\n", "--since 2001-01-01");
    MESSAGES("first 1\nsecond two\nthird\n", "--until 2999-01-01+09:30");
    MESSAGES("first 1\nsecond two\nthird\n",
             "--since \"$(date -u -d "
             "\"1000 seconds ago\" +%F\\ %T)\" --until \"$(date -u -d "
             "\"1000 seconds\" +%F\\ %T)\"");
    /* One moment, said in four ways, chooses alike; an hour on, it does not. */
    times_choose(pid, "%F %T", "UTC0");
    times_choose(pid, "%FT%TZ", "UTC0");
    times_choose(pid, "%F %T local", "XXX-5:30");
    times_choose(pid, "%F %T +05:30", "XXX-5:30");
    times_choose(pid, "%F %T-03:00", "XXX3");
    times_choose(pid, "%F %H:%M local", "XXX3");
    REFUSES(2, "recorder: ", "dump --since 20:25.9e300 %d", pid);
    REFUSES(2, "recorder: ", "dump --since=-9e300s %d", pid);
    MESSAGES("first 1\nsecond two\nthird\n", "-t program");
    MESSAGES("first 1\nsecond two\nthird\n", "-t T1");
    fails_for(pid, "no thread is 2; there are: T1 program",
              "dump --thread 2");
    build_must("! " RECORDER " dump %d --until 2001-01-01T00:00:00 | "
               "grep \"^[0-9]\"",
               pid);
    /* Each verb that chooses reports missing things. */
    static const char *const choosing[] = {
        "dump",         "dump --json",        "list",
        "list --rates", "export json -o out", "view -o out"};
    for (size_t i = 0; i < sizeof choosing / sizeof *choosing; i++)
        fails_for(pid,
                  "no recorder is named nothing; there are: main, small, "
                  "laned, texts, cut_texts, silent, empty, flood",
                  "%s --names nothing", choosing[i]);
    fails_for(pid, "no thread is bla; there are: T1 program",
              "dump --names main --thread bla");
    build_must("! test -e out");
    SAYS("   third|T1 program|main  |{|3\n",
         RECORDER
         " dump %d -l 1 -L \"{message:8}|T{thread} {name}|{recorder:-6}"
         "|{{|{order}\" | tail -n 1",
         pid);
    build_must(RECORDER " dump %d --function -l 1 | grep "
                        "\"main: third (main+0x[0-9a-f]*)\"",
               pid);
    /* Colours, and none. */
    SAYS("\033[2m3\033[0m \033[32mmain\033[0m: third\n",
         RECORDER " dump %d -l 1 --color=always --line "
                  "\"{order} {recorder}: {message}\" | tail -n 1",
         pid);
    SAYS("3\n", RECORDER " dump %d -l 1 --line \"{order}\" | tail -n 1", pid);
    SAYS("{\"order\":2,\"ns\":N,\"wall_ns\":N,\"recorder\":\"small\","
         "\"severity\":null,\"severity_text\":null,\"kind\":null,"
         "\"thread\":1,\"thread_name\":\"program\",\"tid\":N,"
         "\"location\":\"command.c:N\",\"file\":\"F\",\"line\":N,"
         "\"caller\":\"C\",\"format\":\"second %s\",\"arguments\":[\"two\"],"
         "\"may_have_changed\":[],\"message\":\"second two\"}\n",
         RECORDER " dump %d --json -n small | sed -e "
                  "\"s/\\(ns\\|tid\\|line\\)\\\":[0-9]*/\\1\\\":N/g; "
                  "s/c:[0-9]*/c:N/; s/file\\\":\\\"[^\\\"]*/file\\\":\\\"F/; "
                  "s/0x[0-9a-f]*/C/\"",
         pid);
    build_must(RECORDER
               " dump %d --csv >csv && head -n 1 csv | "
               "grep \"^order,ns,wall_ns,recorder,\" && test $(wc -l <csv) = 4",
               pid);
    command_stop(pid);
}

/* Goal: a text that may have changed since it was recorded is never shown as if
 * it were right: a ~ precedes it, and JSON names the arguments. Method: three
 * names that were in one buffer, read from a process and from its saved
 * recording. */
Test(command, texts_that_may_have_changed)
{
    int pid = (int)command_start("./program names");
    char live[16];
    const char *sources[] = {live, "names.rec"};
    sprintf(live, "%d", pid);
    build_must(RECORDER " save %d -o names.rec", pid);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        SAYS("a login ~eve alice\na login ~eve bob\na login ~eve eve\n",
             RECORDER " dump %s --line \"{message}\" | grep login", sources[i]);
        SAYS("\"arguments\":[\"a\",\"eve\",\"bob\"],"
             "\"may_have_changed\":[2],\"message\":\"a login ~eve bob\"}\n",
             RECORDER
             " dump %s --json | grep bob | sed \"s/.*\\(.argum\\)/\\1/\"",
             sources[i]);
    }
    command_stop(pid);
}

/* Goal: output without a reader ends in peace; output that cannot be written is
 * an error. */
Test(command, output_that_fails)
{
    static const char *const verbs[] = {"dump",         "list",
                                        "list --rates", "dump --json",
                                        "dump --csv",   "list --json"};
    command_core("./program", "in.txt");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        cr_assert_eq(command("%s core >/dev/full", verbs[i]), 1, "%s",
                     verbs[i]);
        cr_assert_str_eq(strstr(build_text, "stdout: "),
                         "stdout: No space left on device\n", "%s: %s",
                         verbs[i], build_text);
        build_must(RECORDER " %s core | head -n 1 >first && test -s first",
                   verbs[i]);
        cr_assert_str_eq(build_text, "", "%s: %s", verbs[i], build_text);
    }
}

/* Goal: on a terminal there are colours and a pager, with NO_COLOR none. */
Test(command, terminal)
{
    build_needs("script");
    command_core("./program", "in.txt");
    build_must("PAGER=\"sed s/^/paged:/\" TERM=xterm script -qec \"" RECORDER
               " dump core -l 1\" /dev/null");
    cr_assert(strstr(build_text, "paged:") && strstr(build_text, "\033["), "%s",
              build_text);
    build_must("NO_COLOR=1 TERM=xterm script -qec \"" RECORDER
               " dump --no-pager core -l 1\" /dev/null");
    cr_assert(!strstr(build_text, "\033[") && strstr(build_text, "RECORDS"),
              "%s", build_text);
    build_must("PAGER=true TERM=xterm script -qec \"" RECORDER
               " dump core\" /dev/null");
}

/* ------------------------------------------------------------------ list -- */

/* Goal: figures count records, as the lines of a dump do; for records of
 * several slots, the overwritten ones are an estimate, marked as one. Method:
 * records of 1 slot, and of 4: two with the arguments, two with a text. */
Test(command, figures_are_records)
{
    build_must("gcc -O1 -w " BUILD_INCLUDE "-o last " BUILD_PROGRAMS "/last.c; "
               "ulimit -c 0; RECORDER_DUMP=last=all RECORDER_FILE=last.rec "
               "./last crash 2>said; grep DUMPING said");
    cr_expect_str_eq(
        build_text,
        "DUMPING large SIZE 16384, 16384 ENTRIES, 3616 OVERWRITTEN, 0 LOST\n"
        "DUMPING mixed SIZE 4096, 1024 ENTRIES IN 4096 SLOTS, ~976 "
        "OVERWRITTEN, 0 LOST\n"
        "DUMPING lanes SIZE 4 x 1024, 1000 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
        "DUMPING small SIZE 64, 2 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
        "DUMPING unused SIZE 64, 0 ENTRIES, 0 OVERWRITTEN, 0 LOST\n",
        "%s", build_text);
    build_must("set -e; grep DUMPING said >1; " RECORDER " dump last.rec >2; "
               "grep DUMPING 2 | diff 1 - && test $(grep -c mixed: 2) = 1024 "
               "&& grep -o [0-9]*.RECORDS said 2");
    cr_expect_str_eq(build_text, "said:18410 RECORDS\n2:18410 RECORDS\n");
    command_must("list --slots last.rec | head -6");
    cr_expect_str_eq(
        build_text,
        "RECORDER     SIZE LANES   EACH    SLOTS     KEPT OVERWRITTEN   LOST  STATE   "
        "DESCRIPTION\n"
        "large       16384     1  1409K    16384    16384        3616      0  on      "
        "Much\n"
        "mixed        4096     1   353K     4096     1024        ~976      0  on      "
        "Long records and texts\n"
        "lanes        1024     4    89K     1000     1000           0      0  on      "
        "Of several rings\n"
        "small          64     1     6K        2        2           0      0  on      "
        "Little\n"
        "unused         64     1     6K        0        0           0      0  on      "
        "Nothing\n",
        "%s", build_text);
    /* The slots for a minute follow from slots and times: for `large`, whose
     * records take one slot each, from its first and last record. */
    command_must("list --sizes last.rec >sizes; " RECORDER
                 " dump last.rec --names large --json >large; "
                 "python3 " BUILD_PROGRAMS "/list_sizes.py && "
                 "grep \"^unused\" sizes");
    cr_expect_str_eq(build_text,
                     "unused           64          6          0            -    "
                     "        -             -             -\n",
                     "%s", build_text);
    command_must("list --json last.rec | grep mixed");
    cr_expect_not_null(strstr(build_text,
                              "\"kept\":1024,\"overwritten\":976,\"estimated\":"
                              "true,\"slots_kept\":4096,\"slots_overwritten\":"
                              "3904,"),
                       "%s", build_text);
    command_must(
        "list --rates last.rec | awk \"{ print \\$1, \\$3, \\$6 }\" | grep "
        "mixed");
    cr_expect_str_eq(build_text, "mixed 1024 ~976\n");
    command_must(
        "export sqlite last.rec -o last.db && sqlite3 last.db \"select "
        "name, overwritten, estimated from recorder where "
        "overwritten\"");
    cr_expect_str_eq(build_text, "large|3616|0\nmixed|976|1\n", "%s",
                     build_text);
    command_must("export ctf last.rec -o ctf && grep estimated ctf/metadata");
    cr_expect_str_eq(build_text, "    discarded_estimated = \"mixed\";\n");
    command_must(
        "export perfetto last.rec -o - | grep -ao \"~976 records overwritten\"");
    cr_expect_str_eq(build_text, "~976 records overwritten\n");
    command_must("view --no-open -o page.html last.rec && grep -o "
                 "'.1024.,.976.,.0.,1,' page.html");
}

Test(command, list)
{
    int pid = (int)command_start("./program quiet");
    char wanted[2048];
    snprintf(wanted, sizeof wanted,
             "RECORDER      SIZE LANES   EACH     KEPT OVERWRITTEN   LOST  STATE   "
             "DESCRIPTION\n"
             "main          4096     1   353K        2           0      0  on      "
             "All kinds of arguments\n"
             "small            8     1     1K        1           0      0  on      "
             "Keeps 8\n"
             "laned           64     4     6K        0           0      0  on      "
             "In four rings\n"
             "texts         4096     1   353K        0           0      0  on      "
             "Copied \"texts\", and <more>\\n\n"
             "cut_texts       32     1     3K        0           0      0  on      \n"
             "silent          16     1     2K        0           0      0  on      "
             "Is off\n"
             "empty            4     1     1K        0           0      0  on      \n"
             "flood         1024     1    89K        0           0      0  on      "
             "At full speed\n"
             "\nTHREAD       ID  NAME            STATE\n"
             "1      %8d  program         alive\n"
             "\nTWEAK       VALUE  DESCRIPTION\n"
             "retries         3  How often to try again\n",
             pid);
    SAYS(wanted, RECORDER " list %d", pid);
    build_must(RECORDER " list -n \"m.*|laned\" %d | sed -n \"2,/^$/p\" | "
                        "cut -c 1-5",
               pid);
    cr_assert_str_eq(build_text, "main \nlaned\n\n", "%s", build_text);
    command_stop(pid);
    REFUSES(1, "recorder: ", "list %d", pid);
}

/* Goal: a program without recorders is distinguished from a quiet one. Method:
 * one that was built with -DRECORDER_OFF, and one that only reads. */
Test(command, no_recorders)
{
    static const char *const verbs[] = {"list", "dump", "list --rates",
                                        "export json"};
    int pid;
    for (int i = 0; i < 2; i++) {
        build_must("gcc %s " BUILD_INCLUDE "-o off " BUILD_PROGRAMS "/off.c",
                   i ? "-DRECORDER_OFF" : "");
        pid = (int)command_start("./off 2>&-");
        for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++) {
            cr_assert_eq(command("%s %d", verbs[k], pid), 1, "%s", build_text);
            cr_assert(strstr(build_text, "has no recorders: ") ||
                          (i && strstr(build_text, "no recorder in it")),
                      "%s", build_text);
        }
        command_stop(pid);
    }
}

/* Goal: the threads of a program in a container are known. Method: one whose
 * ids are 1 and up; ours of it is the child of unshare. */
Test(command, list_of_another_namespace)
{
    if (build_run("unshare -pf true") != 0)
        build_skip("no namespaces");
    build_must("unshare -pf --kill-child ./program quiet >said & echo $! >pid; "
               "until test -s said; do sleep 0.01; done; " RECORDER
               " list $(cat /proc/$(cat pid)/task/*/children) | "
               "grep -A 1 ^THREAD | tail -n 1; kill -9 $(cat pid)");
    cr_assert_str_eq(build_text, "1             1  program         alive\n",
                     "%s", build_text);
}

/* The last number of ./program count. */
static int counted(void)
{
    build_must("od -An -td4 last");
    return atoi(build_text);
}

/* Goal: the rate is the program's. Method: the program prints its progress
 * before and after; if the machine stalls, once more. An interval is never
 * shorter than requested: that bounds the rate. */
Test(command, stat)
{
    int pid = (int)command_start("./program count 1000000 1000"), lines;
    double rate, pace, began;
    int tries = 0;
    build_must("until test -s last; do sleep 0.01; done");
    do {
        int before = counted(), count;
        char *at;
        began = seconds_now();
        command_must("list --interval 0.5 %d", pid);
        pace = 1 / (seconds_now() - began);
        at = strstr(build_text, "\nflood ");
        cr_assert(at && sscanf(at, " flood %lf", &rate) == 1, "%s", build_text);
        cr_assert(strncmp(build_text, "RECORDER     RECORDS/S ", 23) == 0);
        count = counted() - before;
        cr_assert(rate <= (count + 2) / 0.5, "%f a second of %d", rate, count);
        pace *= count;
    } while (!(rate > pace / 2 && rate < pace * 2) && ++tries < 30);
    cr_assert_lt(tries, 30, "%f a second, not %f", rate, pace);
    began = seconds_now();
    build_must(": >watched; " RECORDER
               " list --rates -w --interval 0.1 %d >watched & "
               "until test $(grep -c ^RECORDER watched) -ge 3; do sleep 0.01; "
               "done; kill $!; grep -c ^RECORDER watched",
               pid);
    lines = atoi(build_text);
    cr_assert(lines >= 3 && lines <= (seconds_now() - began) / 0.1, "%d",
              lines);
    command_stop(pid);
}

/* A copied text has no time: as the oldest kept record, it does not count as
 * the start of the machine. */
Test(command, span_of_copied_texts)
{
    double seconds;
    char unit[8];
    build_must("gcc " BUILD_INCLUDE "-o texts " BUILD_PROGRAMS "/texts.c && "
               "RECORDER_FILE=texts.rec ./texts");
    command_must("list --rates texts.rec >stat && tail -n 1 stat");
    cr_assert_eq(sscanf(build_text, "texts %*s %*s %lf %7s", &seconds, unit), 2,
                 "%s", build_text);
    cr_expect(strcmp(unit, "us") == 0 || strcmp(unit, "ms") == 0 ||
                  (strcmp(unit, "s") == 0 && seconds < 60),
              "%s", build_text);
}

/* If the time of the oldest record is unknown, for example from before the last
 * wraps of a 32-bit clock, there is no span. */
Test(command, span_without_a_beginning)
{
    build_must(
        "cat >unknown.c <<X\n"
        "#include \"recorder_dump.h\"\n"
        "RECORDER(net, 16, \"Network\")\n"
        "int main(void)\n"
        "{\n"
        "    record(net, \"one\");\n"
        "    record(net, \"two\");\n"
        "    recorder_records_((struct recorder_ring *)recorder_for_net.rings)"
        "->time = (uintptr_t)RECORDER_TICKS_UNKNOWN_;\n"
        "}\nX\n"
        "gcc " BUILD_INCLUDE "-o unknown unknown.c && "
        "RECORDER_FILE=unknown.rec ./unknown");
    command_must("list --rates unknown.rec >said && " RECORDER
                 " list --sizes unknown.rec >>said && grep ^net said | "
                 "tr -s [:blank:] :");
    cr_assert_str_eq(build_text, "net:-:2:-:0:0\n"
                                 "net:16:2:2:-:-:-:-\n");
}

/* Goal: set does all of its work, or none. */

/* --------------------------------------------------- set, clear and save -- */

Test(command, set)
{
    int pid = (int)command_start("./program quiet");
#define STATES(text, ...)                                                      \
    SAYS(text,                                                                 \
         RECORDER " list %d --json | grep -e \"\\\"recorder\\\"\" | sed "      \
                  "-e \"s/.*recorder\\\":\\\"\\([a-z_]*\\).*trace\\\":"        \
                  "\\([-0-9]*\\).*/\\1=\\2/\" | grep -v =0 | "                 \
                  "tr \"\\n\" \" \"",                                          \
         pid)
    command_must("set %d small=off", pid);
    STATES("small=-1 ");
    command_must("set %d small=on laned=trace", pid);
    STATES("laned=1 ");
    command_must("set %d \"laned=on,main=5 .*text.*=-7\"", pid);
    STATES("main=5 texts=-7 cut_texts=-7 ");
    command_must("set %d .*=on", pid);
    command_must("set %d retries=0x10", pid);
    build_must(RECORDER " list %d | grep \"^retries *16 \"", pid);
    /* Nothing is done where something is wrong. */
    REFUSES(1, "recorder: ", "set %d main=off nothing=on", pid);
    REFUSES(2,
            "recorder: small=loud: on, off, trace, freeze, thaw or a number\n",
            "set %d main=off small=loud", pid);
    REFUSES(2, "recorder: (: ", "set %d main=off \"(=on\"", pid);
    REFUSES(2, "recorder: small is not NAME=VALUE\n", "set %d main=off small",
            pid);
    REFUSES(2,
            "recorder: NAME=VALUE is missing, for example net=trace\n",
            "set %d", pid);
    REFUSES(2, "recorder: PID is missing: the id of a running process\n",
            "set net=on");
    build_must("! " RECORDER " list %d --json | grep \"trace\\\":[^0]\"", pid);
    command_stop(pid);
}

/* Goal: cleared records are hidden from all readers; later records are
 * shown. */
Test(command, clear)
{
    int pid = (int)command_start("./program burst 1 3 0");
    command_goes();
    build_must(RECORDER " dump --clear %d | grep -c flood:", pid);
    cr_assert_eq(atoi(build_text), 3);
    build_must("! " RECORDER " dump %d | grep flood:", pid);
    command_stop(pid);
    pid = (int)command_start("./program quiet");
    build_must(RECORDER " dump %d | grep -c \"^[0-9]\"", pid);
    command_must("set %d clear", pid);
    build_must("! " RECORDER " dump %d | grep \"^[0-9]\"", pid);
    command_stop(pid);
    command_core("./program", "in.txt");
    REFUSES(1, "recorder: core: is no running process: nothing there can be "
            "set", "set core clear");
    REFUSES(1, "recorder: core: only the records of a running process",
            "dump --clear core");
    REFUSES(1,
            "recorder: core: is no running process: nothing there can be set",
            "set core main=off");
}

/* Goal: dumps with --clear show each record exactly once, while threads record;
 * none is lost between showing and clearing. Method: threads number their
 * records; all dumps together show all numbers, each once. */
Test(command, clear_shows_what_it_clears)
{
    pid_t pid;
    build_must("gcc -D_GNU_SOURCE -O2 " BUILD_WARNINGS BUILD_INCLUDE
               "-o cleared " BUILD_PROGRAMS "/cleared.c -lpthread");
    pid = command_start("./cleared");
    for (unsigned i = 0, end = 3 + scaled(30), few = 1; i < end || few; i++) {
        command_must("dump --clear %d --line \"{message}\" >>all", (int)pid);
        few = (unsigned)build_run("for i in 0 1 2 3; do test $(grep -c "
                                  "\"thread $i\" all) -gt 501 || exit; done");
    }
    command_goes();
    command_must("dump --clear %d --line \"{message}\" >>all", (int)pid);
    build_must("set -e; " RECORDER " dump %d | grep thread && exit 1; "
               "grep thread all | sort | uniq -d | head -n 5; "
               "for i in 0 1 2 3; do grep \"thread $i\" all | "
               "cut -d \" \" -f 4 | sort -n >is; "
               "seq 0 $(tail -n 1 is) | diff is - | head -n 5; "
               "test $(wc -l <is) -gt 500 || wc -l is; done",
               (int)pid);
    cr_assert_str_eq(build_text, "");
    command_stop(pid);
    pid = command_start("./cleared 3000"); /* that is waited for too long */
    build_must("until " RECORDER " dump --clear %d 2>&1 >all | "
               "grep \" not whole for 0.7 s\"; do :; done",
               (int)pid);
    command_stop(pid);
    cr_assert_eq(command("dump --clear 1 --names a"), 2);
    cr_assert_eq(command("dump --clear 1 --last 3"), 2);
}

/* Goal: a record that its thread has begun is neither kept nor overwritten, and
 * the heading counts all others. Method: a thread stops at each step of a record,
 * in a ring with room and in a full one; the program's own dump, the command and
 * a recording are read there. */
Test(command, a_record_that_was_begun)
{
    build_must("gcc -O2 " BUILD_WARNINGS BUILD_INCLUDE "-o unfinished "
               BUILD_PROGRAMS "/unfinished.c -lpthread");
    build_must("./unfinished \"" RECORDER " save \\$1 -o saved && for i in \\$1 "
               "saved; do " RECORDER " dump --names \\$2 \\$i || exit; done\" >out "
               "|| { tail -n 5 out; exit 1; }; "
               "awk \"/^at / { whole = \\$5 } /^DUMPING / { n++; sum = \\$5 + "
               "\\$7; if (sum != whole) print whole, \\$0 } END { print n }\" out");
    cr_assert_str_eq(build_text, "48\n"); /* 3 of each of 8 steps, twice */
}

/* Goal: a recording holds all that a dump of the process shows, by itself. */
Test(command, save)
{
    int pid = (int)command_start("./program everything in.txt");
    command_must("save %d -o saved", pid);
    command_stop(pid);
    build_must("stat -c %%a saved | grep -x 600"); /* as a core file */
    build_must("mv program moved");
    command_must_dump("saved", "a recording");
    command_must("save saved -o again");
    command_must_dump("again", "a recording of a recording");
    build_must("eu-readelf -n saved >notes && grep -q RECORDER notes");
    REFUSES(2, "recorder: -o FILE is missing", "save saved");
    build_must(RECORDER " save saved -o - | cmp - again");
    REFUSES(2, "recorder: -o DIR is missing\n", "log saved");
    build_must("! script -qec \"" RECORDER
               " save saved -o -\" said && grep -q \"output is a terminal\" said");
    REFUSES(1, "recorder: saved: ", "save saved -o folder/not/there");
    build_must("mkdir folder && cp saved folder/kept");
    REFUSES(1, "recorder: saved: ", "save saved -o /dev/full/saved");
    build_must("cmp saved folder/kept && test $(ls -A folder | wc -l) = 1");
    REFUSES(1,
            "recorder: saved: /dev/full: No space left on device\n",
            "save saved -o /dev/full");
    REFUSES(1,
            "recorder: saved: standard output: No space left on device\n",
            "save saved -o - >/dev/full");
    if (build_run("unshare -m mount -t tmpfs none folder") != 0)
        build_skip("no disk may be mounted here, and filled");
    /* A disk that is full is called that. */
    for (int blocks = 1; blocks < 8; blocks += 3) {
        int status = build_run(
            "unshare -m sh -c \"mount -t tmpfs -o nr_blocks=%d none folder && "
            "head -c %d /dev/zero >folder/fills; " RECORDER
            " save saved -o folder/f\"",
            blocks, (blocks - 1) * 4096 + 1);
        cr_assert_eq(status, 1, "%s", build_text);
        cr_assert_str_eq(build_text,
                         "recorder: saved: folder/f: No space left "
                         "on device\n",
                         "%s", build_text);
    }
}

/* ------------------------------------------------------------------ help -- */

/* Goal: each verb explains itself; misuse is 2, and says what. */
Test(command, help)
{
    static const char *const verbs[] = {"list",    "dump",  "follow", "set",
                                        "save",    "log",   "export", "view",
                                        "threads", "tasks", "sched",  "latency",
                                        "spans",   "run",   "ps",     "explain"};
    build_must(RECORDER " --help >help && ! grep -q \".\\{80\\}\" help");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        build_must("grep -q \"^  %s \" help", verbs[i]);
        build_must(RECORDER
                   " %s --help >verb && head -n 1 verb | grep -q "
                   "\"^usage: recorder %s \" && ! grep \".\\{80\\}\" verb",
                   verbs[i], verbs[i]);
        REFUSES(2, "recorder: --bogus: unknown option\nusage: recorder ",
                "%s --bogus", verbs[i]);
    }
    SAYS("LOOK: recorder dump 4711 --last 20\n"
         "KEEP AND SHOW: recorder save 4711 -o demo.rec\n"
         "WHY DID IT CRASH, OR DOES IT HANG: recorder explain core\n"
         "WHY IS IT SLOW, OR DIFFERENT: recorder diff good.rec bad.rec\n",
         "grep \"^[A-Z, ]*: \" help");
    build_must(RECORDER
               " help options | tr -s \"\\n \" \" \" >options && "
               "grep -q -e \" --since WHEN .* --sysroot DIR \" options && "
               "! " RECORDER " dump --help | grep -e --since -e --sysroot");
    SAYS("recorder 2.0.0\n", RECORDER " --version");
    SAYS("",
         "for verb in dump list; do " RECORDER " help $verb >one && " RECORDER
         " $verb --help >other && diff one other; done");
    SAYS("",
         "for i in --help \"help dump\" \"dump --help\" --version --man-page "
         "--bash-completion; do " RECORDER
         " $i >/dev/full 2>&1 && echo $i; " RECORDER
         " $i >&- 2>&1 && echo $i; done; true");
#define VERBS                                                                  \
    "there are ps, list, dump, follow, watch, set, save, log, export, view, "  \
    "explain, run, threads, tasks, latency, spans, sched, why, trace, "        \
    "functions, diff\n"
    REFUSES(2, "recorder: nothing: unknown verb; " VERBS, "help nothing");
    REFUSES(2, "recorder: VERB is missing; " VERBS "usage: recorder VERB ",
            " ");
    REFUSES(2, "recorder: frobnicate: unknown verb; " VERBS, "frobnicate");
    REFUSES(2,
            "recorder: SOURCE is missing: the id of a running process, a "
            "core file or a recording\n",
            "dump");
    REFUSES(2, "recorder: --rates takes one SOURCE: b is too much\n",
            "list --rates a b");
    REFUSES(2, "recorder: it takes one SOURCE: b is too much\n", "sched a b");
    REFUSES(2, "recorder: -l: an argument is missing\n", "dump -l");
    REFUSES(2, "recorder: --last: x is no number\n", "dump -l x a");
    REFUSES(2, "recorder: --last 0 is nothing\n", "dump -l 0 a");
    REFUSES(2, "recorder: --line: unknown field: {foo}\n",
            "dump --line \"{foo}\" a");
    REFUSES(2, "recorder: --names (: ", "dump -n \"(\" a");
    REFUSES(2, "recorder: --color x: always, never or auto\n",
            "dump --color x a");
    REFUSES(2, "recorder: --json or --csv\n", "dump --json --csv a");
    REFUSES(2, "recorder: --elf needs --memory\n", "dump --elf a");
    REFUSES(2, "recorder: --registry x: is no address\n",
            "dump --registry x a");
    REFUSES(2, "recorder: --last: unknown option\n", "list --last 2 a");
}

/* Goal: the man page is one, and the completion completes. */
Test(command, man_page_and_completion)
{
    build_must(RECORDER " --man-page >recorder.1 && head -n 1 recorder.1");
    cr_assert(strncmp(build_text, ".TH RECORDER 1", 14) == 0);
    if (build_run("command -v groff") == 0)
        SAYS("", "groff -man -ww -z -Tutf8 recorder.1");
    build_must(RECORDER " --bash-completion >complete && bash -n complete");
    SAYS("dump\n",
         "bash -c \". ./complete; COMP_WORDS=(recorder du) COMP_CWORD=1; "
         "_recorder; printf %%s\\\\\\\\n \\\"\\${COMPREPLY[@]}\\\"\"");
    SAYS("--names --no-pager\n",
         "bash -c \". ./complete; COMP_WORDS=(recorder dump --n) COMP_CWORD=2; "
         "_recorder; echo \\${COMPREPLY[@]}\" | tr \" \" \"\\n\" | sort | "
         "tr \"\\n\" \" \" | sed \"s/ $/\\n/\"");
}
