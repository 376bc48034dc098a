/* hooks/ with simulated kernels, and the price of recorder_switch.h when
 * unused. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(hooks, .init = build_begin, .fini = build_end, .timeout = 300);

#define HOOKS TEST_ROOT "/tests/hooks/"

/* The recorder and the kernel, which runs now, have the same counts. */
static void counts_agree(const char *name, const char *how, unsigned ended)
{
    char *counted;
    build_must("./kernel \"" RECORDER " sched \\$PID --json >json\" | "
               "sort");
    counted = strdup(build_text);
    build_must(
        "sed -n \"s/^{.thread.:.\\([^\\\"]*\\).*.runs.:\\([0-9]*\\).*"
        ".blocked.:\\([0-9]*\\),.preempted.:\\([0-9]*\\).*/"
        "\\1 \\2 \\3 \\4/p; s/^{.interrupt.:.\\([^\\\"]*\\).*"
        ".count.:\\([0-9]*\\).*/\\1 \\2/p\" json | sort");
    cr_expect(strlen(counted) > 50 && strcmp(build_text, counted) == 0,
              "%s, %s: the recorder says\n%s and the kernel\n%s", name, how,
              build_text, counted);
    free(counted);
    build_must("grep -c \"\\\"state\\\":\\\"ended\\\"\" json");
    cr_expect_eq((unsigned)atoi(build_text), ended, "%s: %s", name,
                 build_text);
}

/* Goal: `recorder sched` agrees with the kernel's own counts of threads and
 * interrupts. Method: our simulation, with the names that the hooks need,
 * chooses threads by chance, 3,000 times; it is read while it lives, because
 * the names of threads are in its memory. */
static void kernel(const char *name, const char *files, unsigned ended)
{
    static const char *const compilers[] = {
        "gcc -std=gnu11 -O2", "gcc -std=gnu11 -O0", "clang -std=gnu11 -O2"};
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        if (!sampled((unsigned)i) || (i == 2 && !build_has("clang")))
            continue;
        build_must("cd " HOOKS "%s && %s " BUILD_WARNINGS BUILD_INCLUDE
                   "-I" TEST_ROOT "/hooks -I. %s -o $OLDPWD/kernel",
                   name, compilers[i], files);
        counts_agree(name, compilers[i], ended);
    }
}

Test(hooks, freertos)
{
    kernel("freertos", "tasks.c", 2);
    kernel("freertos",
           "-DESP_PLATFORM -DRECORDER_FREERTOS_CORES=2 "
           "\"-DRECORDER_FREERTOS_CURRENT=pxCurrentTCBs[1]\" tasks.c",
           2);
}
Test(hooks, threadx)
{
    kernel("threadx", "kernel.c hooks.c", 2);
}
Test(hooks, nuttx)
{
    kernel("nuttx", "kernel.c hooks.c", 2);
}
Test(hooks, rtthread)
{
    kernel("rtthread", "kernel.c hooks.c", 2);
    kernel("rtthread", "-DOLD kernel.c hooks.c", 2);
}
Test(hooks, embassy)
{
    build_needs("rustc");
    build_must("gcc -O2 " BUILD_WARNINGS BUILD_INCLUDE "-I" TEST_ROOT "/hooks "
               "-c " HOOKS "embassy/hooks.c && "
               "awk \"/^\\140\\140\\140/ { on = /rust/; next } on\" " TEST_ROOT
               "/hooks/embassy.md >trace.rs && PWD=$PWD rustc -O -D warnings "
               "-C link-arg=hooks.o -o kernel " HOOKS "embassy/executor.rs");
    counts_agree("embassy", "rustc", 2);
}
Test(hooks, zephyr)
{
    kernel("zephyr", "kernel.c hooks.c", 2);
    kernel("zephyr", "-DRECORDER_ZEPHYR_ARGUMENTS kernel.c hooks.c", 2);
}

/* Goal: a program that includes recorder_switch.h and says nothing of it has
 * not a byte more; one that says all of it has none more with RECORDER_OFF. */
static void no_byte(const char *compiler)
{
    build_must(
        "cat >all.c <<EOF\n"
        "#include \"recorder.h\"\n"
        "#ifdef WITH\n#include \"recorder_switch.h\"\n#endif\n"
        "RECORDER(net, 64);\n"
        "int main(void)\n{\n    record(net, \"%%d\", 1);\n"
        "#if defined(WITH) && defined(RECORDER_OFF)\n"
        "    recorder_switch(1, \"a\", 2, RECORDER_BLOCKED);\n"
        "    recorder_switch_in(1, \"a\");\n"
        "    recorder_switch_out(1, \"a\", RECORDER_ENDED);\n"
        "    recorder_switch_ready(1, \"a\");\n"
        "    recorder_switch_sleep();\n    recorder_switch_wake();\n"
        "    recorder_switch_enter(1, \"a\", 0);\n"
        "    recorder_switch_exit(1, \"a\");\n"
        "    recorder_switch_off(0);\n    recorder_switch_on(0);\n"
        "    recorder_switch_start();\n"
        "#endif\n    return 0;\n}\nEOF\n"
        "for how in -O2 -Os \"-O2 -DRECORDER_SWITCH_ONCE\" "
        "\"-O2 -DRECORDER_OFF\"; do "
        "for with in -DNONE -DWITH; do %s $how $with " BUILD_INCLUDE
        "-c all.c -o all$with.o || exit; "
        "size all$with.o | awk \"NR == 2 { print \\$1, \\$2, \\$3 }\" "
        ">size$with; done; "
        "diff size-DNONE size-DWITH || { echo \"with $how\"; exit 1; }; done",
        compiler);
}
Test(hooks, unused_is_no_byte, .init = build_long)
{
    no_byte("gcc");
    no_byte("g++ -x c++");
    if (build_has("clang"))
        no_byte("clang");
    if (build_has("clang++"))
        no_byte("clang++ -x c++");
}
