/* Severities: no byte of code, the same from every reader, chosen, left out. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#define PROGRAM BUILD_PROGRAMS "/severity.c"
#define WITH BUILD_WARNINGS "-Wformat=2 " BUILD_INCLUDE
#define GDB                                                                    \
    "gdb -nx -q -batch -ex \"set may-call-functions off\" -ex "                \
    "\"source " TEST_ROOT "/gdb/recorder-gdb.py\" "

TestSuite(severity, .init = build_begin, .fini = build_end, .timeout = 300);

static const char *const compilers[] = {"gcc", "clang", "g++ -x c++",
                                        "clang++ -x c++"};
static const char *const headings[] = {
    "RECORDER_HW0", "RECORDER_HW1", "RECORDER_HW2", "RECORDER_HW3",
    "RECORDER_SW0", "RECORDER_SW1", "RECORDER_SW2", "RECORDER_SW3"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ------------------------------------------------------------- call site -- */

/* Goal: a severity costs a record nothing. Method: the disassembly of call
 * sites with each severity is that without, byte for byte; the texts differ. */
Test(severity, call_sites_are_the_same, .init = build_long)
{
    static const char *const levels[] = {"-O2", "-O0", "-Os"};
    for (size_t i = 0; i < 3 * COUNT(compilers); i++) {
        const char *compiler = compilers[i % COUNT(compilers)];
        const char *level = levels[i / COUNT(compilers)];
        if ((i >= COUNT(compilers) && !sampled((unsigned)i)) ||
            !build_has(compiler))
            continue;
        build_must("%s %s " WITH "-DSITE=\"\\\"\\\"\" -c -o none.o " PROGRAM
                   " && objdump -d none.o | tail -n +4 >none.s && "
                   "grep -q four none.s",
                   compiler, level);
        for (size_t h = 0; h < COUNT(headings); h++)
            if (h == i % COUNT(headings) || sampled((unsigned)(8 * i + h)))
                build_must("%s %s " WITH "-DSITE=%s -c -o with.o " PROGRAM
                           " && objdump -d with.o | tail -n +4 >with.s && "
                           "cmp none.s with.s && ! cmp -s none.o with.o",
                           compiler, level, headings[h]);
    }
}

/* Goal: RECORDER_SEVERITY_LEAST leaves no code and no text of what is below,
 * and all of the rest. Method: strings(1) of object files; what it records. */
Test(severity, least_is_compiled_away, .init = build_long)
{
    for (size_t i = 0; i < COUNT(compilers); i++) {
        const char *level = strncmp(compilers[i], "clang", 5) ? "-O1" : "-O0";
        if (!build_has(compilers[i]))
            continue;
        for (size_t h = 0; h < COUNT(headings); h++)
            for (size_t least = 0; least <= 4; least++) {
                bool stays = h % 4 >= least;
                if (!sampled((unsigned)(i + h + least)))
                    continue;
                build_must("%s %s " WITH "-DRECORDER_SEVERITY_LEAST=%zu "
                           "-DSITE=%s -c -o it.o " PROGRAM
                           " && strings it.o | grep -c \"site of\" || true",
                           compilers[i], level, least, headings[h]);
                cr_expect_eq(atoi(build_text), stays ? 2 : 0,
                             "%s, %s, least %zu: %s", compilers[i], headings[h],
                             least, build_text);
            }
        build_must("%s %s " WITH "-DRECORDER_SEVERITY_LEAST=4 -DSITE="
                   "\"\\\"\\\"\" -c -o it.o " PROGRAM
                   " && strings it.o | grep -q \"site of none\"",
                   compilers[i], level); /* without a severity: it stays */
    }
    /* The rest is recorded as before. A severity that is not the first word of
     * its heading stays, too. */
    build_must("gcc " WITH "-DRECORDER_SEVERITY_LEAST=2 -o program " PROGRAM
               " && ./program end >end && grep \" two \" in.txt | "
               "sed \"s/.*] //\" | sort | uniq -c | tr -s \" \"");
    cr_assert_str_eq(build_text,
                     " 1 disk: HW2 two 0 words\n 1 disk: HW2 two 1 words\n"
                     " 1 disk: HW2 two 2 words\n 1 disk: HW3 two 0 words\n"
                     " 1 disk: HW3 two 1 words\n 1 disk: HW3 two 2 words\n"
                     " 1 disk: two 0 words\n 1 disk: two 1 words\n"
                     " 1 disk: two 2 words\n 1 net: SW1 two 0 words\n"
                     " 1 net: SW1 two 1 words\n 1 net: SW1 two 2 words\n"
                     " 1 net: SW2 two 0 words\n 1 net: SW2 two 1 words\n"
                     " 1 net: SW2 two 2 words\n 1 net: SW3 two 0 words\n"
                     " 1 net: SW3 two 1 words\n 1 net: SW3 two 2 words\n"
                     " 1 net: two 0 words\n 1 net: two 1 words\n"
                     " 1 net: two 2 words\n");
}

/* --------------------------------------------------------------- readers -- */

/* Goal: the program's dump, the command and gdb say the same of each heading,
 * hostile ones included; of a process, what was saved of it, its core file. */
Test(severity, readers_agree, .init = build_long)
{
    static const char *const sources[] = {NULL, "saved", "core"};
    pid_t pid;
    build_must("gcc " WITH "-g -o program " PROGRAM);
    pid = command_start("./program");
    build_must(RECORDER " save %d -o saved && gdb -nx -batch -p %d "
                        "-ex \"generate-core-file core\"",
               (int)pid, (int)pid);
    for (size_t i = 0; i < COUNT(sources); i++) {
        char source[64], gdb[96];
        sprintf(source, "%d", (int)pid);
        sprintf(gdb, "-p %d", (int)pid);
        if (sources[i]) {
            strcpy(source, sources[i]);
            sprintf(gdb, "./program -c %s", source);
        }
        command_must_dump(source, "severity");
        build_must(GDB
                   "%s -ex \"pipe recorder dump | cat >gdb.txt\" && "
                   "tail -n +2 in.txt >in && tail -n +2 gdb.txt | diff -a in -",
                   gdb);
    }
    command_stop(pid);
    /* Their common answer is right. */
    build_must("grep -a f.c: in.txt | sed \"s/.*] //\"");
    cr_assert_str_eq(build_text, "net: \\x01s3 without an end\n"
                                 "net: \\x01\\x01s3\\x02twice\n"
                                 "net: SW3 1\n"
                                 "net: SW3 \\x01in\n"
                                 "net: \\x01s3\\n\\x02line\n"
                                 "net: \\x02s3\\x01text\n"
                                 "net: SW3 \\x1b[31m1\n"
                                 "net: long 1\n");
    build_must("grep -a -c \"net: SW1 copied a text that takes more than one "
               "record to keep it\" in.txt");
    cr_assert_str_eq(build_text, "6\n");
    build_must(
        "grep -a -e \"SW2 whole\" -e \"SW2 no line\" -e \"SW2 \\.\" in.txt"
        " | sed \"s/.*] //\"");
    cr_assert_str_eq(build_text,
                     "net: SW2 ...\nnet: SW2 whole 1\nnet: SW2 no line\n");
}

/* Goal: --severity chooses what it says. Method: grep of a dump of everything,
 * in each verb that chooses. */
Test(severity, chosen_as_by_grep)
{
    static const struct {
        const char *least, *pattern;
    } choices[] = {{"0", "[HS]W[0-3]"},
                   {"2", "[HS]W[23]"},
                   {"3", "[HS]W3"},
                   {"hw1", "HW[1-3]"},
                   {"sw2", "SW[23]"},
                   {"SW0", "SW[0-3]"},
                   {"error", "[HS]W3"},
                   {"Warning", "[HS]W[23]"},
                   {"hw1,sw3", "\\(HW[1-3]\\|SW3\\)"},
                   {"hw3,hw2", "HW[23]"}};
    build_must("gcc " WITH "-o program " PROGRAM
               " && RECORDER_FILE=kept ./program end && " RECORDER
               " dump kept | grep -a \"^[0-9]\" >all");
    for (size_t i = 0; i < COUNT(choices); i++) {
        build_must(
            "set -e; grep -a \": %s \" all >must; test -s must; " RECORDER
            " dump kept --severity %s >is; grep -a \"^[0-9]\" is | "
            "diff -a must -; "
            "grep -q \" $(wc -l <must) RECORDS\" is; " RECORDER
            " dump kept --last 3 --severity %s | grep -a \"^[0-9]\" >is;"
            "tail -n 3 must | diff -a - is; " RECORDER
            " follow kept --last 10000 --severity %s 2>&- | diff -a must -",
            choices[i].pattern, choices[i].least, choices[i].least,
            choices[i].least);
        cr_assert_str_eq(build_text, "", "%s: %s", choices[i].least,
                         build_text);
        build_must("set -e; cut -d \" \" -f 1 must >orders; " RECORDER
                   " dump kept --json --severity %s | "
                   "grep \"\\\"severity\\\":\\\"%s\\\"\" | "
                   "sed \"s/.*\\\"order\\\":\\([0-9]*\\).*/\\1/\" | "
                   "diff orders -; " RECORDER
                   " export csv kept -o csv --severity %s 2>&-; "
                   "tail -n +2 csv | cut -d , -f 1 | diff orders -; " RECORDER
                   " export sqlite kept -o db --severity %s; "
                   "sqlite3 db \"select ord from log where severity is not "
                   "null\" | diff orders -",
                   choices[i].least, "[hs]w[0-3]", choices[i].least,
                   choices[i].least);
        cr_assert_str_eq(build_text, "", "%s: %s", choices[i].least,
                         build_text);
    }
    build_must("! " RECORDER " dump kept --severity 2 --names disk --last 1 | "
               "grep SW");
    build_must(
        RECORDER
        " dump kept --json --severity notice | sed "
        "\"s/.*y.:.[hs]\\(w[0-3]\\).,.severity_text.:.\\([a-z]*\\).*/\\1 "
        "\\2/\" | sort -u");
    cr_assert_str_eq(build_text, "w1 notice\nw2 warning\nw3 error\n");
    cr_assert_eq(command("dump kept --severity err"), 2);
    cr_assert_eq(command("dump kept --severity 2,x"), 2);
    cr_assert(strncmp(build_text, "recorder: --severity 2,x: ", 26) == 0, "%s",
              build_text);
}

/* Goal: in colour, 3 is red, 2 yellow, and others are as without a severity. */
Test(severity, colours)
{
    build_must(
        "gcc " WITH "-o program " PROGRAM
        " && RECORDER_FILE=kept ./program end >end && for i in \"\" \"SW1 \" "
        "\"SW2 \" \"SW3 \"; do " RECORDER
        " dump kept --color=always --line \"{severity}{message}\" "
        "--names \"net|disk\" | grep -a -m 1 \"${i}.*zero\"; "
        "done");
    cr_assert_str_eq(build_text,
                     "zero\nSW1 zero\n"
                     "\033[1;33mSW2 \033[0m\033[33mzero\033[0m\n"
                     "\033[1;31mSW3 \033[0m\033[31mzero\033[0m\n",
                     "%s", build_text);
}
