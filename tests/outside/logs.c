/* --log: lines of text logs where they belong, whatever their bytes. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#include <time.h>

#define DUMP RECORDER " dump rec --line \"{seconds} {recorder}: {message}\" "
/* What is behind the head of a dump. */
#define EVENTS " 2>&- | grep -v \"^FLIGHT\\|^DUMPING\""

/* ./rec holds main 1, main 2 and main 3, at 22:13:21, 22 and 23 on 2023-11-14,
 * UTC. */
static void logs_begin(void)
{
    build_begin();
    build_once("gcc -O1 " BUILD_INCLUDE "-o it " BUILD_PROGRAMS "/switches.c");
    build_must("for i in 1 2 3; do echo ${i}000000000 text - $i main 0 0 3; "
               "done | ./it \"" RECORDER " save \\$PID -o rec\"");
}
TestSuite(logs, .init = logs_begin, .fini = build_end, .timeout = 300);

static void log_write(const char *name, const char *text, size_t size)
{
    char path[128];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    file = fopen(path, "w");
    cr_assert_not_null(file);
    fwrite(text, 1, size, file);
    fclose(file);
}
#define LOG(name, text) log_write(name, text, sizeof(text) - 1)

/* Goal: each form of a time stands where it belongs. Method: one line each, in
 * two zones; a dump and exports have the same lines in the same order. */
Test(logs, forms_of_times)
{
    LOG("app.log", "\xef\xbb\xbf"
                   "2023-11-14T22:13:20.5Z rfc 3339\r\n"
                   "2023-11-14T23:13:21.250000+0100 short-iso-precise\n"
                   "2023-11-14T22:13:21,500000+00:00 dmesg\n"
                   "2023-11-14 22:13:22.25 +0000 with blanks\n"
                   "2023-11-14 16:43:22.5 no zone\n"
                   "[2023-11-14T22:13:22.75Z] in brackets\n"
                   "<30>1 2023-11-14T22:13:22.8Z syslog 5424\n"
                   "Nov 14 16:43:23 host syslog[7]: no year\n"
                   "2023-11-14t22:13:24z: lower case\n");
    build_must("TZ=Asia/Ceylon; export TZ; TZ=XXX+5:30 " DUMP
               "--log app.log" EVENTS);
    cr_assert_str_eq(build_text,
                     "0.500000 app.log: rfc 3339\n"
                     "1.000000 app: main 1 of 3\n"
                     "1.250000 app.log: short-iso-precise\n"
                     "1.500000 app.log: dmesg\n"
                     "2.000000 app: main 2 of 3\n"
                     "2.250000 app.log: with blanks\n"
                     "2.500000 app.log: no zone\n"
                     "2.750000 app.log: in brackets\n"
                     "2.800000 app.log: syslog 5424\n"
                     "3.000000 app.log: host syslog[7]: no year\n"
                     "3.000000 app: main 3 of 3\n"
                     "4.000000 app.log: lower case\n",
                     "%s", build_text);
    build_must("TZ=XXX+5:30; export TZ; " RECORDER
               " dump rec --log app.log --names app.*g --line \"{order} "
               "T{thread} {location}\"" EVENTS " | sort -u; " RECORDER
               " export csv rec --log app.log -o csv 2>&-; cut -d , -f 2 csv;"
               " " RECORDER " export sqlite rec --log app.log -o db 2>&-; "
               "sqlite3 db \"select count(*), count(ord) from log\"; "
               "for i in perfetto chrome ctf vcd json; do " RECORDER
               " export $i rec --log app.log -o $i 2>&- || exit; done; "
               "grep -c \"in brackets\" chrome json; "
               "protoc --decode=Trace -I" BUILD_PROGRAMS
               " perfetto.proto <perfetto | grep -c \"name: .in brackets\"; "
               "babeltrace2 ctf | grep -c app.log; " RECORDER
               " view rec --log app.log -o page 2>&- && grep -c app.log page");
    cr_assert_str_eq(build_text,
                     "- T- app.log\nns\n500000000\n1000000000\n1250000000\n"
                     "1500000000\n2000000000\n2250000000\n2500000000\n"
                     "2750000000\n2800000000\n3000000000\n3000000000\n"
                     "4000000000\n12|3\nchrome:1\njson:1\n1\n9\npage\n1\n",
                     "%s", build_text);
}

/* Goal: what is taken for granted, or is not shown, is a line on stderr. */
Test(logs, said)
{
    LOG("app.log", "garbage\n2023-11-14T22:12:00Z before\n"
                   "2022-11-14T22:12:00Z long before\n"
                   "2023-11-14T22:13:22Z here\n  goes on\n\n\tand on\n\n"
                   "2023-13-14T22:13:22Z is no time, and goes on, too\n"
                   "2023-11-14T22:13:22Zeta, too\n"
                   "2023-11-14T22:14:24Z behind\n");
    build_must("env TZ=UTC " DUMP "--log app.log 2>&1 | grep -v \"^FL\\|^DU\"");
    cr_assert_str_eq(
        build_text,
        "recorder: rec: --log app.log: left out 2 lines before and 1 behind "
        "the time that is shown, which --since and --until choose\n"
        "recorder: rec: --log app.log: left out 1 lines before the first time\n"
        "1.000000 app: main 1 of 3\n"
        "2.000000 app.log: here\\n  goes on\\n\\n\\tand on\\n\\n"
        "2023-13-14T22:13:22Z is no time, and goes on, too\\n"
        "2023-11-14T22:13:22Zeta, too\n"
        "2.000000 app: main 2 of 3\n"
        "3.000000 app: main 3 of 3\n",
        "%s", build_text);
    build_must(DUMP "--log app.log --since -100d --until 9000s" EVENTS
                    " | cut -c -18");
    cr_assert_str_eq(build_text, "-80.000000 app.log\n1.000000 app: main\n"
                                 "2.000000 app.log: \n2.000000 app: main\n"
                                 "3.000000 app: main\n64.000000 app.log:\n");
    build_must(DUMP "--log app.log --last 2 --names app.log 2>&- | "
                    "grep -c \" app.log: \"");
    cr_assert_str_eq(build_text, "2\n");
    LOG("year", "Dec 31 23:59:59 a\nFeb 29 12:00:00 b\nFeb 30 12:00:00 c\n");
    build_must("TZ=UTC " DUMP "--log year --since -4000d "
               "2>&1 | grep -v \"^FL\\|^DU\\|main\"");
    cr_assert_str_eq(build_text,
                     "recorder: rec: --log year: times without a zone are "
                     "taken as local time, and of the last year before the "
                     "records' end\n"
                     "-117022400.000000 year: b\\nFeb 30 12:00:00 c\n"
                     "-27468801.000000 year: a\n",
                     "%s", build_text);
    static const char *const wrong[][2] = {
        {"rec --log nothing", "rec: --log nothing: No such file or directory"},
        {"rec --log .", "rec: --log .: Is a directory"},
        {"rec --log /dev/null", "rec: --log /dev/null: no line begins with a "
                                "time, as those of journalctl -o "},
        {"rec --clear --log year", "--clear does not go with --log"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char must[128];
        snprintf(must, sizeof must, "recorder: %s", wrong[i][1]);
        cr_assert_gt(command("dump %s", wrong[i][0]), 0);
        cr_assert(strncmp(build_text, must, strlen(must)) == 0, "%s",
                  build_text);
    }
    cr_assert_eq(command("view rec --live --log year"), 2);
}

/* Goal: journalctl -o export, also from a pipe: its fields, and a message with
 * newlines in it. */
Test(logs, journal)
{
    LOG("journal", "__CURSOR=s\n__REALTIME_TIMESTAMP=1700000001500000\n"
                   "SYSLOG_IDENTIFIER=sshd\n_PID=77\nMESSAGE=hello there\n\n"
                   "__CURSOR=t\n_SOURCE_REALTIME_TIMESTAMP=1700000002500000\n"
                   "__REALTIME_TIMESTAMP=1700000009500000\n"
                   "MESSAGE\n\5\0\0\0\0\0\0\0a\nb\nc\nSYSLOG_IDENTIFIER=x\n\n"
                   "__CURSOR=u\nMESSAGE=no time\n\n"
                   "__REALTIME_TIMESTAMP=1700000002600000\nMESSAGE\n"
                   "\377\377\377\377\377\377\377\177cut off");
    build_must("cat journal | " DUMP "--log - --log journal" EVENTS
               " | grep -v main");
    cr_assert_str_eq(build_text,
                     "1.500000 stdin: sshd[77]: hello there\n"
                     "1.500000 journal: sshd[77]: hello there\n"
                     "2.500000 stdin: x: a\\nb\\nc\n"
                     "2.500000 journal: x: a\\nb\\nc\n"
                     "2.600000 stdin: \n2.600000 journal: \n",
                     "%s", build_text);
}

/* Goal: a time that is told chooses its record and its line, to the nanosecond.
 * Method: one that no fraction in binary is, from both sides. */
Test(logs, chosen_to_the_nanosecond)
{
    build_must("echo 3971005 text - 4 main 0 0 3 | ./it \"" RECORDER
               " save \\$PID -o fine\"; " RECORDER " dump fine --json");
    cr_assert(strstr(build_text, "\"ns\":3971005,"), "%s", build_text);
#define CHOOSES(count, options)                                                \
    do {                                                                       \
        build_must(RECORDER " dump fine --json " options " | wc -l");          \
        cr_assert_str_eq(build_text, count "\n", options);                     \
    } while (0)
    CHOOSES("1", "--since 0.003971005s --until 0.003971005s");
    CHOOSES("1", "--since 3.971005ms --until 3971.005us");
    CHOOSES("0", "--until 0.003971004s");
    CHOOSES("0", "--since 0.003971006s");
    LOG("fine.log", "2023-11-14T22:13:20.003971005Z a line\n");
    CHOOSES("2", "--log fine.log --since 2023-11-14T22:13:20.003971005 "
                 "--until 2023-11-14T22:13:20.003971005");
}

/* Goal: hostile bytes are escaped, everywhere; no line crashes a reader. Method:
 * each byte in a line; random files made of what is nearly a log. */
Test(logs, hostile_bytes)
{
    static const char *const pieces[] = {"2023-11-14T22:13:22Z ",
                                         "2023-11-14 22:13:2",
                                         "Nov 14 22:13:22 ",
                                         "__REALTIME_TIMESTAMP=170000000",
                                         "MESSAGE\n",
                                         "\n",
                                         "\n\n",
                                         "%s%n%100d",
                                         "\xe2\x80\xae",
                                         "9999-12-31T23:59:60+23:59 ",
                                         "<30>1 ",
                                         "["};
    char line[400] = "2023-11-14T22:13:22Z ", *all;
    uint64_t random = seed_of("hostile_bytes");
    size_t size = strlen(line), most = 1 << 16;
    for (int c = 0; c < 256; c++)
        if (c != '\n')
            line[size++] = (char)c;
    line[size++] = '\n';
    log_write("bytes", line, size);
    build_must("for i in dump \"export csv -o -\"; do set -- $i; " RECORDER
               " $1 $2 rec $3 $4 --log bytes >out; grep -c \"x1b.*x7f\" out; "
               "LC_ALL=C tr -d \"\\n\\r -~\\357\\277\\275\" <out | wc -c; "
               "done; " RECORDER
               " export json rec --log bytes -o - | python3 -c \""
               "import json, sys; [json.loads(line) for line in sys.stdin]\"");
    cr_assert_str_eq(build_text, "1\n0\n1\n0\n", "%s", build_text);
    all = malloc(most + 64);
    for (size_t i = 0; i < 3 + scaled(60); i++) {
        size_t at = 0, want = random_of(&random) % most;
        while (at < want) {
            const char *piece = pieces[random_of(&random) % 12];
            if (random_of(&random) % 3) {
                memcpy(all + at, piece, strlen(piece));
                at += strlen(piece);
            } else {
                all[at++] = (char)random_of(&random);
            }
        }
        log_write("random", all, at);
        int status = build_run(DUMP "--log random --since -3650d >out 2>err");
        cr_assert_leq(status, 1, "%d", status);
        build_must("LC_ALL=C tr -d \"\\n -~\" <out | tr -d \"\\200-\\377\" | "
                   "wc -c; wc -l <err");
        cr_assert_eq(atoi(build_text), 0, "%s", build_text);
    }
    free(all);
}

/* Goal: a text is whole, whatever its length: it is read in pieces. */
Test(logs, lengths)
{
    build_must("for i in $(seq 0 700); do printf \"2023-11-14T22:13:22Z "
               "%%0${i}d.\\n\" 0; done >log; " DUMP "--log log" EVENTS
               " | sed -n \"s/.* log: //p\" >is; cut -c 22- log | diff - is");
}

/* Goal: a log that is cut while it is read is no crash; a million lines take
 * bounded memory and time. */
Test(logs, million, .init = build_long)
{
    logs_begin();
    build_must("awk \"BEGIN { for (i = 0; i < 1000000; i++) printf "
               "\\\"2023-11-14T22:13:%%02d.%%06dZ host prog: line %%d of a log "
               "with a text of usual length and some more words\\\\n\\\", "
               "20 + i / 100000 %% 10, i %% 100000 * 10, i }\" >log; "
               "test $(wc -c <log) -gt 90000000; ulimit -v 400000; " RECORDER
               " dump rec --log log | grep -c \" log: \"");
    cr_assert_str_eq(build_text, "1000000\n");
    build_must(
        "{ " RECORDER " dump rec --log log; } | { head -n 100 >out; "
        "truncate -s 1000000 log; cat >rest; }; grep -c \" log: \" rest");
    cr_assert_gt(atoi(build_text), 900000);
}
