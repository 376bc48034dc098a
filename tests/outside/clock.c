/* Orders by the clock: all readers, and modules that do not have it. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(clock_order, .init = build_begin, .fini = build_end, .timeout = 300);

/* Compiles with orders by the clock, and for a machine whose Linux lives by the
 * clock of its processors, whatever this one's does. */
#define CLOCK "-DRECORDER_CLOCK_ORDER -DRECORDER_CLOCK_SOURCE_=\\\"tsc\\\" "
#define PROGRAM BUILD_PROGRAMS "/clock.c"
#define CHECK "python3 " BUILD_PROGRAMS "/clock.py"
#define WITH BUILD_WARNINGS BUILD_INCLUDE

/* Skips the test if the processor lacks the clock. */
static void clock_begin(void)
{
    pid_t pid;
    build_must("echo tsc >tsc");
    build_once("gcc -O1 " WITH CLOCK "-o plain " PROGRAM " -lpthread -ldl");
    pid = command_start("./plain");
    command_must("list %d", pid);
    command_stop(pid);
    if (strstr(build_text, "Orders are by the counter: this machine's clock"))
        cr_skip_test("this machine's clock cannot be trusted");
    cr_assert(strstr(build_text, "Orders are by the clock.\n") == build_text,
              "%s", build_text);
}

/* The dump must have ascending orders, and for each part the numbers of its
 * row, up to the last. */
static void must_be_in_order(const char *source)
{
    build_must(RECORDER " dump --json --names \"whole|part.*\" %s >events",
               source);
    build_must(CHECK " row");
}

/* Goal: all readers of a program agree: of the process, of its saved recording,
 * of a core file, and of its recording after a kill. Method: the program's own
 * dump, byte for byte. */
Test(clock_order, all_sources)
{
    char text[32];
    pid_t pid;
    clock_begin();
    command_build("command", "gcc -O2 " CLOCK);
    pid = command_start("./command everything in.txt");
    sprintf(text, "%d", pid);
    command_must_dump(text, "the process");
    command_must("save %d -o saved", pid);
    command_must_dump("saved", "what was saved");
    command_stop(pid);
    command_must("list saved");
    cr_assert(strstr(build_text, "Orders are by the clock.\n"), "%s",
              build_text);
    command_core("./command", "in.txt");
    command_must_dump("core", "a core file");
    build_must("rm -f in.txt");
    pid = command_start("env RECORDER_FILE=killed ./command everything in.txt");
    command_stop(pid);
    build_must(
        "grep -o \"^[0-9]* .[0-9.]*\" in.txt >in && " RECORDER
        " dump killed | grep -o \"^[0-9]* .[0-9.]*\" >out && cmp in out");
    command_must("list killed");
    cr_assert(strstr(build_text, "Orders are by the clock.\n"), "%s",
              build_text);
}

/* Goal: a follower shows each record once and in order, and a clearing hides
 * what was there and nothing else. Method: numbered records; two followers of
 * which one begins in the middle; `clear` and `dump --clear`. */
Test(clock_order, follow_and_clear)
{
    pid_t pid;
    clock_begin();
    command_build("command", "gcc -O2 " CLOCK);
    pid = command_start("./command count 400 2000");
    build_must("timeout 30 " RECORDER " follow --json %d >followed & f=$!; "
               "until test -e last; do sleep 0.05; done; sleep 1; "
               "kill -INT $f; wait $f || true",
               pid);
    build_must(CHECK " followed");
    command_stop(pid);
    pid = command_start("./command quiet");
    command_must("dump --clear %d | wc -l", pid);
    cr_assert(atoi(build_text) > 2, "%s", build_text);
    command_must("dump --json %d | wc -l", pid);
    cr_assert_eq(atoi(build_text), 0, "%s", build_text);
    command_stop(pid);
    pid = command_start("./command quiet");
    command_must("set %d clear", pid);
    command_must("dump --json %d | wc -l", pid);
    cr_assert_eq(atoi(build_text), 0, "%s", build_text);
    command_stop(pid);
}

/* Goal: the program falls back to the counter if it must, and reports the
 * reason. Method: Linux with another clock, or an unknown one; a program of 32
 * bits, which has no clock orders, like other processors; a file without the
 * macro, before the others or after, in C and C++. */
Test(clock_order, falls_back, .init = build_long)
{
    static const struct {
        const char *why, *build, *before;
    } all[] = {{"this machine's clock cannot be trusted to keep them",
                "cp plain program", "echo hpet >tsc"},
               {"this machine's clock cannot be trusted to keep them",
                "cp plain program", "rm tsc"},
               {"this machine's clock cannot be trusted to keep them",
                "gcc -m32 -O1 " WITH CLOCK "-o program " PROGRAM
                " -lpthread -ldl",
                "true"},
               {"not all files are compiled with RECORDER_CLOCK_ORDER",
                "gcc -O2 " WITH "-DPART=part -c -o part.o " PROGRAM
                " && gcc -O1 " WITH CLOCK "-DWITH_PART -o program " PROGRAM
                " part.o -lpthread -ldl",
                "true"},
               {"not all files are compiled with RECORDER_CLOCK_ORDER",
                "gcc -O1 " WITH CLOCK "-DPART=part -c -o part.o " PROGRAM
                " && gcc -O0 " WITH "-DWITH_PART -o program part.o " PROGRAM
                " -lpthread -ldl",
                "true"},
               {"not all files are compiled with RECORDER_CLOCK_ORDER",
                "g++ -x c++ -O2 " WITH
                "-c -DPART=part -Dpart=part_cc -o part.o " PROGRAM
                " && g++ -x c++ -O2 " WITH CLOCK
                "-DWITH_PART -Dpart=part_cc -c -o main.o " PROGRAM
                " && g++ -o program main.o part.o -lpthread -ldl",
                "true"}};
    clock_begin();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[32];
        pid_t pid;
        if (strstr(all[i].build, "-m32") && !build_can("gcc", "-m32"))
            continue;
        build_must("%s", all[i].build);
        build_must("echo tsc >tsc && %s", all[i].before);
        pid = command_start("./program");
        sprintf(text, "%d", pid);
        command_must("list %d", pid);
        cr_assert(strstr(build_text, "Orders are by the counter: ") ==
                          build_text &&
                      strstr(build_text, all[i].why),
                  "%zu: %s", i, build_text);
        must_be_in_order(text);
        command_must("list --json %d", pid);
        cr_assert(strstr(build_text, "{\"orders\":\"counter\"}\n") ==
                      build_text,
                  "%s", build_text);
        command_stop(pid);
    }
}

/* Goal: libraries agree with the program. Method: one that has the macro and one
 * that has not, opened by a program that hides its symbols or exports them;
 * records of both in turn. */
Test(clock_order, libraries, .init = build_long)
{
    static const char *const exports[] = {"", "-rdynamic "};
    clock_begin();
    build_must("gcc -O2 -fPIC -shared " WITH CLOCK
               "-DPART=part -o with.so " PROGRAM);
    build_must("gcc -O2 -fPIC -shared " WITH
               "-DPART=part -o without.so " PROGRAM);
    for (int i = 0; i < 4; i++) {
        bool with = i % 2;
        char text[32];
        pid_t pid;
        build_must("gcc -O1 " WITH CLOCK "%s-o program " PROGRAM
                   " -lpthread -ldl",
                   exports[i / 2]);
        pid = command_start(with ? "./program ./with.so"
                                 : "./program ./without.so");
        sprintf(text, "%d", pid);
        command_must("list %d", pid);
        cr_assert(strstr(build_text, with ? "Orders are by the clock.\n"
                                          : "Orders are by the counter from "),
                  "%s", build_text);
        must_be_in_order(text);
        command_must("save %d -o saved", pid);
        must_be_in_order("saved");
        command_stop(pid);
    }
    /* And the other way round: a program that counts. */
    build_must("gcc -O2 " WITH "-o program " PROGRAM " -lpthread -ldl");
    command_stop(command_start("./program ./with.so"));
    build_must("true");
}

/* Goal: exports have all events, in order. Method: as many in each format that
 * is text or SQL as in a dump; gdb finds a record by its order. */
Test(clock_order, exports_and_gdb)
{
    char order[64];
    pid_t pid;
    clock_begin();
    pid = command_start("./plain");
    command_must("dump --json %d | wc -l", pid);
    cr_assert(atoi(build_text) > 60, "%s", build_text);
    command_must("dump --json %d >events", pid);
    command_must("export sqlite %d -o sqlite", pid);
    build_must(CHECK " sqlite");
    cr_assert_eq(sscanf(build_text, "%60[0-9]", order), 1, "%s", build_text);
    build_must("gdb -nx -q -batch -p %d -ex \"source " TEST_ROOT
               "/gdb/recorder-gdb.py\" -ex \"recorder list\" "
               "-ex \"recorder at %s\" 2>&1",
               pid, order);
    cr_assert(strstr(build_text, "Orders are by the clock.\n") &&
                  strstr(build_text, order),
              "%s", build_text);
    command_stop(pid);
}

/* Goal: a program that forbids itself rdtsc continues to record with the clock
 * that LIMITS of recorder.h names; without it, it dies, as they warn. */
Test(clock_order, counter_is_forbidden)
{
#ifdef __x86_64__
    static const char *const modes[] = {"seccomp", "tsc"};
    build_must("printf \"#include <sys/prctl.h>\\n#include <x86intrin.h>\\n"
               "int main(void) { prctl(PR_SET_TSC, PR_TSC_SIGSEGV); "
               "return __rdtsc() == 0; }\" >forbids.c && "
               "gcc -w -o forbids forbids.c");
    bool forbids = build_run("exec ./forbids") != 0;
    if (!forbids)
        fprintf(stderr, "left out: this machine forbids no program rdtsc\n");
    for (unsigned i = 0; i < 2; i++) {
        build_must("gcc -O2 -w " BUILD_INCLUDE BUILD_PROGRAMS
                   "/tsc.c -o tsc && gcc -O2 -w -DCOARSE " BUILD_INCLUDE
                   BUILD_PROGRAMS "/tsc.c -o coarse");
        if (forbids)
            cr_expect_eq(build_run("exec ./tsc %s", modes[i]), 128 + SIGSEGV);
        cr_expect_eq(build_run("exec ./coarse %s", modes[i]), 7);
    }
#else
    build_skip("rdtsc is an instruction of x86");
#endif
}
