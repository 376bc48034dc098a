/* Trace events of QNX, and files of formats for their codes. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#define QNX TEST_ROOT "/compat/qnx"
#define PROGRAM                                                                \
    "-DRECORDER_TRACE_SIZE=16384 -I" QNX " " BUILD_PROGRAMS "/qnx.c " QNX      \
    "/trace.c"
#define COUNT(array) (sizeof(array) / sizeof *(array))
/* The records of a dump, without what is in front of their messages. */
#define MESSAGES " | grep -a -v -e ^FLIGHT -e ^DUMPING"

TestSuite(qnx, .init = build_begin, .fini = build_end, .timeout = 300);

static void compile(void)
{
    build_once("gcc " BUILD_WARNINGS "-D_GNU_SOURCE " BUILD_INCLUDE
               "-o program " PROGRAM);
}

/* ----------------------------------------------------------------- words -- */

/* Goal: what is recorded is what was given, as each reader shows it: every
 * Trace with and without a buffer, every number of arguments, buffers up to
 * 4096 bytes with zeros. Method: the program says what its lines must be. */
Test(qnx, words)
{
    pid_t pid;
    compile();
    pid = command_start("./program");
    build_must("test $(wc -l <must.txt) -gt 150 && tail -n +3 in.txt | "
               "cmp - must.txt");
    build_must(RECORDER " dump %d " MESSAGES " | cmp - must.txt", (int)pid);
    build_must(RECORDER " save %d -o saved", (int)pid);
    command_stop(pid);
    build_must(RECORDER
               " dump saved " MESSAGES " | cmp - must.txt && "
               "gdb -nx -q -batch -ex \"set may-call-functions off\" -ex "
               "\"source " TEST_ROOT
               "/gdb/recorder-gdb.py\" ./program -c saved "
               "-ex \"pipe recorder dump | cat >gdb.txt\" && "
               "tail -n +3 gdb.txt | cmp - must.txt");
    build_must(RECORDER " dump saved --severity sw2 " MESSAGES " >is; "
                        "grep \"^SW[23]\" must.txt | cmp - is && test -s is");
}

/* Goal: programs with the names of QNX compile, without a word, as C and
 * C++. */
Test(qnx, compiles)
{
    static const char *const compilers[] = {
        "gcc -std=c11 -xc", "g++ -std=c++11 -xc++", "clang -std=c11 -xc",
        "clang++ -std=c++11 -xc++"};
    for (size_t i = 0; i < COUNT(compilers); i++)
        if (sampled((unsigned)i) && build_has(compilers[i]))
            build_must("%s -D_GNU_SOURCE " BUILD_WARNINGS BUILD_INCLUDE
                       "-o program " PROGRAM,
                       compilers[i]);
    build_must("echo \"#include <sys/trace.h>\" | gcc -I" QNX
               " -fsyntax-only -Wall -Wextra -Werror -xc -");
}

/* Goal: a program that includes only trace.h makes a recording. */
Test(qnx, recording)
{
    build_must("printf \"#include <sys/trace.h>\\nint main(void) { return "
               "Trace1(0x123401, _TRACE_HW_SEVERITY2, 7); }\\n\" >one.c && "
               "gcc -I" QNX " -o one one.c " QNX "/trace.c && "
               "RECORDER_FILE=one.rec ./one && " RECORDER
               " dump one.rec" MESSAGES " | grep \"001234:01 7$\"");
}

/* Goal: events and commands of QNX 6 and later record what the documentation of
 * QNX says, a code out of bounds is refused, and RECORDER_FILE keeps it all. */
Test(qnx, user_events)
{
    build_must("gcc " BUILD_WARNINGS "-I" QNX " -o user " BUILD_PROGRAMS
               "/qnx_user.c " QNX "/trace.c && RECORDER_FILE=user.rec ./user");
    build_must(RECORDER " dump user.rec --line \"{message}\"" MESSAGES);
    cr_assert_str_eq(build_text, "user 0: 0x3 0x5\n"
                                 "user 1: Hello 3\n"
                                 "user 2: Hel\n"
                                 "user 3: 01 00 00 00 02 00\n"
                                 "user 111: 0x1 0xb\n"
                                 "user 222: 01 00 00 00 02 00 00 00 03 03 03 03\n"
                                 "user 1023: Hello world\n"
                                 "event 0x10 at 20: 0x1e 0x28\n"
                                 "001234:01 7\n"
                                 "user 1023: 0 0xffffffff\n");
}

/* Goal: libraries of a program that exports nothing have their events decoded,
 * and a closed one's decoder is not called. */
Test(qnx, closed)
{
    build_must("gcc " BUILD_WARNINGS "-shared -fPIC -DLIBRARY -I" QNX
               " -o a.so " BUILD_PROGRAMS "/qnx_closed.c " QNX "/trace.c && "
               "cp a.so b.so && gcc " BUILD_INCLUDE "-o closed " BUILD_PROGRAMS
               "/qnx_closed.c -ldl && ./closed" MESSAGES
               " | sed \"s/.*trace: //\"");
    cr_assert_str_eq(build_text, "HW2 001234:01 1\nHW2 001234:01 2\n"
                                 "HW2 001234:01 2\nHW2 001234:01 3\n");
}

/* Goal: a masked opcode records nothing, all others do; by the program, and by
 * `recorder set`. */
Test(qnx, masked)
{
    pid_t pid;
    compile();
    pid = command_start("./program");
#define COUNT_MUST_BE(expected, pattern)                                       \
    do {                                                                       \
        build_must(RECORDER " dump %d | grep -c \"" pattern "\" || true",      \
                   (int)pid);                                                  \
        cr_assert_eq(atoi(build_text), expected, "%s", build_text);            \
    } while (0)
    command_must("set %d clear && touch mask", (int)pid);
    command_goes();
    COUNT_MUST_BE(224, "beef");
    COUNT_MUST_BE(0, "opcode 0x[12]");
    command_must("set %d clear && rm mask", (int)pid);
    command_goes();
    COUNT_MUST_BE(256, "beef");
    command_must("set %d clear && " RECORDER " set %d trace_mask_7=0x0000ffff",
                 (int)pid, (int)pid);
    command_goes();
    COUNT_MUST_BE(240, "beef");
    COUNT_MUST_BE(0, "opcode 0xf");
    command_must("set %d clear && " RECORDER " set %d trace=off", (int)pid,
                 (int)pid);
    command_goes();
    COUNT_MUST_BE(0, "beef");
    command_stop(pid);
}

/* --------------------------------------------------------------- formats -- */

/* A file with these lines; no quote ' may be among them. */
static void file_write(const char *name, const char *lines)
{
    char path[256];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(lines, file);
    fclose(file);
}

/* Goal: texts of files stand for codes; of two for one the first counts, and a
 * warning names both files; a broken line costs that line; a format that wants
 * more than there is, or what is no text, harms nobody. */
Test(qnx, formats)
{
    compile();
    build_must("mkdir a b c c/folder.fmt && mkfifo c/fifo.fmt && "
               "RECORDER_FILE=kept ./program end");
    file_write("a/disk.fmt", "# comment\n"
                             "major 0x00abcd \"100% disk\"\r\n"
                             "minor 0x00 \"one %d two %x\" # behind\n"
                             "minor nonsense\n"
                             "\tminor 1   \"\\\"quoted\\\" \\\\ %d\"\n"
                             "minor 0x100 \"too large\"\n"
                             "minor 2 \"open\n"
                             "minor 5");
    file_write("a/none.txt", "major 0xabcd \"no\"\nminor 6 \"no .fmt\"\n");
    file_write("b/other.fmt", "minor 1 \"of nobody\"\nmajor 0xabcd \"other\"\n"
                              "minor 0 \"of b\"\n"
                              "minor 3 \"%s|%n|%6d|%5$s|\x1b[31m\"\n"
                              "minor 4 \"%u bytes: %s\"\n");
    file_write("c/third.fmt", "major 0xabcd \"third\"\nminor 7 \"of c\"\n");
    build_must("RECORDER_FORMATS=nowhere:c " RECORDER
               " dump kept --formats a --formats b >out 2>err; cat err");
    cr_assert_str_eq(
        build_text,
        "recorder: kept: a/disk.fmt:4: is no `major 0x001234 \"name\"` or "
        "`minor 0x01 \"text\"`\n"
        "recorder: kept: a/disk.fmt:6: is no `major 0x001234 \"name\"` or "
        "`minor 0x01 \"text\"`\n"
        "recorder: kept: a/disk.fmt:7: the text does not end\n"
        "recorder: kept: a/disk.fmt:8: is no `major 0x001234 \"name\"` or "
        "`minor 0x01 \"text\"`\n"
        "recorder: kept: b/other.fmt:1: no major precedes it\n"
        "recorder: kept: b/other.fmt:3: the code has a text already, by "
        "a/disk.fmt\n"
        "recorder: kept: RECORDER_FORMATS: nowhere: No such file or directory\n"
        "recorder: kept: c/fifo.fmt:0: is no file\n"
        "recorder: kept: c/folder.fmt:0: is no file\n",
        "%s", build_text);
    build_must(
        "grep -a -e disk: -e other: -e third: out | sed \"s/.*trace: //\""
        " | sort | uniq -c | sed \"s/^ *//\"");
    cr_assert_str_eq(
        build_text,
        "1 HW0 100% disk: one 1 two <lost>\n"
        "1 HW0 100% disk: one 1 two <lost> [7 bytes] 00 07 0e 00 1c 23 00\n"
        "5 HW0 100% disk: one 1 two fffffffe\n"
        "5 HW0 100% disk: one 1 two fffffffe [7 bytes] 00 07 0e 00 1c 23 00\n"
        "1 HW0 100% disk: one <lost> two <lost>\n"
        "1 HW0 100% disk: one <lost> two <lost> [7 bytes] 00 07 0e 00 1c 23 "
        "00\n"
        "6 HW1 100% disk: \"quoted\" \\ 1\n"
        "6 HW1 100% disk: \"quoted\" \\ 1 [7 bytes] 00 07 0e 00 1c 23 00\n"
        "1 HW1 100% disk: \"quoted\" \\ <lost>\n"
        "1 HW1 100% disk: \"quoted\" \\ <lost> [7 bytes] 00 07 0e 00 1c 23 00\n"
        "2 HW3 other: 0x1|%n|     3|0x5|\\x1b[31m\n"
        "2 HW3 other: 0x1|%n|     3|0x5|\\x1b[31m [7 bytes] 00 07 0e 00 1c 23 "
        "00\n"
        "2 HW3 other: 0x1|%n|     3|<lost>|\\x1b[31m\n"
        "1 HW3 other: 0x1|%n|     3|<lost>|\\x1b[31m [7 bytes] 00 07 0e 00 1c "
        "23 00\n"
        "1 HW3 other: 0x1|%n|     3|\\x00\\x07\\x0e\\x00\\x1c#\\x00|\\x1b[31m\n"
        "2 HW3 other: 0x1|%n|<lost>|<lost>|\\x1b[31m\n"
        "2 HW3 other: 0x1|%n|<lost>|<lost>|\\x1b[31m [7 bytes] 00 07 0e 00 1c "
        "23 00\n"
        "1 HW3 other: <lost>|%n|<lost>|<lost>|\\x1b[31m\n"
        "1 HW3 other: <lost>|%n|<lost>|<lost>|\\x1b[31m [7 bytes] 00 07 0e 00 "
        "1c 23 00\n"
        "5 SW0 other: 1 bytes: 0xfffffffe\n"
        "5 SW0 other: 1 bytes: 0xfffffffe [7 bytes] 00 07 0e 00 1c 23 00\n"
        "1 SW0 other: 1 bytes: <lost>\n"
        "1 SW0 other: 1 bytes: <lost> [7 bytes] 00 07 0e 00 1c 23 00\n"
        "1 SW0 other: 7 bytes: \\x00\\x07\\x0e\\x00\\x1c#\\x00\n"
        "1 SW0 other: <lost> bytes: <lost>\n"
        "7 SW3 third: of c\n"
        "7 SW3 third: of c [7 bytes] 00 07 0e 00 1c 23 00\n",
        "%s", build_text);
    cr_assert_eq(command("dump kept --formats nowhere"), 1);
    cr_assert_str_eq(build_text, "recorder: kept: --formats nowhere: No such "
                                 "file or directory\n");
}

/* Goal: whatever files hold, a dump shows every record and ends well. */
Test(qnx, hostile_formats)
{
    static const char letters[] = "majorminor 0x12\"\"\"%%sdn\n\n\\\t#abcdef";
    static char text[4000];
    uint64_t seed = seed_of("hostile_formats"), state = seed;
    compile();
    build_must("mkdir a && RECORDER_FILE=kept ./program end && " RECORDER
               " dump kept | wc -l >all");
    for (unsigned i = 0, end = scaled(400); i < end; i++) {
        size_t at = 0, size = random_of(&state) % (sizeof text - 200);
        if (i % 2)
            at += (size_t)sprintf(text, "major 0xabcd \"x\"\n");
        while (at < size) {
            if (random_of(&state) % 20 == 0)
                at += (size_t)sprintf(text + at, "\nminor %u \"",
                                      (unsigned)random_of(&state) % 9);
            text[at++] = random_of(&state) % 50
                             ? letters[random_of(&state) % (sizeof letters - 1)]
                             : (char)(random_of(&state) % 255 + 1);
        }
        text[at] = '\0';
        file_write("a/a.fmt", text);
        build_must(RECORDER
                   " dump kept --formats a >out 2>err && "
                   "wc -l <out | cmp - all && "
                   "! grep -a -q -P \"[\\x00-\\x09\\x0b-\\x1f]\" out err");
    }
}

/* Goal: 10,000 codes cost a dump no more than as much again. Method: the least
 * of some runs in turns; a recording with many events. */
Test(qnx, many_codes, .init = build_long)
{
    char path[256];
    FILE *file;
    build_must("gcc -O2 " BUILD_INCLUDE "-DRECORDER_TRACE_SIZE=262144 -I" QNX
               " -include trace.h -include recorder_dump.h -xc -o program - " QNX "/trace.c <<EOF\n"
               "int main(void) { for (int i = 0; i < 200000; i++) "
               "Trace2(i %% 100 << 8 | i %% 90, i %% 8, i, 2); }\n"
               "EOF\nmkdir a && RECORDER_FILE=kept ./program");
    snprintf(path, sizeof path, "%s/a/a.fmt", build_folder);
    file = fopen(path, "w");
    for (int i = 0; i < 100; i++) {
        fprintf(file, "major %d \"part %d\"\n", i, i);
        for (int k = 0; k < 100; k++)
            fprintf(file, "minor %d \"event %d of %%d and %%d\"\n", k, k);
    }
    fclose(file);
    double without = 1e9, with = 1e9, took[2];
    int count = 0;
    for (int i = 0; i < 3 || (i < 10 && with > 2 * without); i++) {
        build_must("set -e; took() { /usr/bin/env bash -c \"TIMEFORMAT=%%U; "
                   "time \\\"\\$@\\\" >/dev/null\" - \"$@\" 2>&1; }; " RECORDER
                   " dump kept --formats a | grep -c \"part .*: event\"; took "
                   RECORDER " dump kept; took " RECORDER
                   " dump kept --formats a");
        cr_assert_eq(sscanf(build_text, "%d %lf %lf", &count, took, took + 1),
                     3, "%s", build_text);
        without = took[0] < without ? took[0] : without;
        with = took[1] < with ? took[1] : with;
    }
    fprintf(stderr, "200,000 events: %.2f s, with 10,000 codes %.2f s\n",
            without, with);
    cr_assert_eq(count, 200000);
    cr_assert_leq(with, 2 * without);
}
