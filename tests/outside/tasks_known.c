/* Tasks of libraries and kernels that are known; of ucontext; live, in core files
 * and memory images. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(tasks_known, .init = build_begin, .fini = build_end, .timeout = 300);

static void must_say(const char *text)
{
    cr_assert(strstr(build_text, text), "no \"%s\" in\n%s", text, build_text);
}

/* ------------------------------------------------------------------- Pth -- */

static void must_show_pth(const char *source)
{
    static const char *const lines[] = {
        "  joins        waiting  end of left\n",
        "  conditional  waiting  condition condition\n",
        "  sleeps       waiting  time\n",
        "  left         waiting  mutex B, held by right\n",
        "  right        waiting  mutex A, held by left\n",
        "  patient      waiting  mutex D, held by hurried\n",
        "  hurried      waiting  mutex C, held by patient, for a time\n",
        "  yields       ready",
        "  main         running",
        "\n1 task: conditional\n    pth_yield < pth_wait < pth_cond_await < "
        "conditional tasks_pth.c:",
        " < take tasks_pth.c:",
        " < joins tasks_pth.c:"};
    command_must("tasks %s --stacks", source);
    cr_assert_eq(strncmp(build_text, "DEADLOCK of 2 tasks: ", 21), 0, "%s",
                 build_text);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        must_say(lines[i]);
    cr_assert_null(strstr(build_text + 1, "DEADLOCK"), "%s", build_text);
}

/* Goal: names and states equal Pth's own, live and from a core file, and waits
 * and stacks are the threads' own. */
Test(tasks_known, pth)
{
    char source[16];
    pid_t pid;
    build_must("gcc -g " BUILD_PROGRAMS "/tasks_pth.c -o program -lpth");
    pid = command_start("./program");
    snprintf(source, sizeof source, "%d", (int)pid);
    must_show_pth(source);
    command_must("tasks %s --json >json", source);
    build_must("python3 " BUILD_PROGRAMS "/tasks_pth.py");
    build_must("gdb -q --batch -p %d -ex \"generate-core-file core\" -ex "
               "\"source " TEST_ROOT "/gdb/recorder-gdb.py\" -ex \"recorder "
               "task joins\" -ex bt -ex \"recorder reset\" 2>&1",
               pid);
    command_stop(pid);
    must_say(" in joins (argument=0x0) at ");
    must_say("\n#0  ");
    must_show_pth("core");
}

/* Goal: a debugger without our help finds the libraries in a recording, and
 * through their functions the program's. */
Test(tasks_known, other_tools_see_saved_threads_of_pth)
{
    pid_t pid;
    build_must("gcc -g -DRECORDED " BUILD_INCLUDE BUILD_PROGRAMS
               "/tasks_pth.c -o program -lpth");
    pid = command_start("./program");
    command_must("save %d -o x.rec", pid);
    command_stop(pid);
    must_show_pth("x.rec");
    build_must("gdb -nx -q --batch -ex \"thread apply all bt\" ./program -c "
               "x.rec 2>&1");
    must_say(" in pth_cond_await () from ");
    must_say(" in conditional (argument=0x0) at ");
    must_say(" in joins (argument=0x0) at ");
    build_run("eu-stack --core=x.rec -e ./program 2>/dev/null >stacks");
    build_must("grep -c \" take$\" stacks");
    cr_assert_eq(atoi(build_text), 3);
}

/* ----------------------------------------------------------------- Boost -- */

static void must_show_boost(const char *source)
{
    command_must("tasks %s --stacks --all 2>&1", source);
    cr_assert_eq(strncmp(build_text, "DEADLOCK of 2 tasks: ", 21), 0, "%s",
                 build_text);
    must_say(" waits for A of task 0x");
    must_say(" waits for B of task 0x");
    must_say(", at boost::fibers::context::resume < boost::fibers::mutex::lock "
             "< take");
    must_say("  condition\n");
    must_say("end of 0x");
    must_say("  waiting  ");
    must_say(" < conditional tasks_boost.cc:");
    must_say(" < main tasks_boost.cc:");
    must_say("  C, held by 0x");
    must_say("  D, held by 0x");
    must_say(", for a time\n");
    cr_assert_null(strstr(build_text + 1, "DEADLOCK"), "%s", build_text);
    must_say("\n10 tasks");
}

/* Goal: fibers of both threads' schedulers, their waits and their stacks, live
 * and from a core file, of the release library without symbols. */
Test(tasks_known, boost_fiber, .init = build_long)
{
    char source[16];
    pid_t pid;
    build_must("g++ -g -O1 " BUILD_PROGRAMS "/tasks_boost.cc -o program "
               "-lboost_fiber -lboost_context -lpthread");
    pid = command_start("./program");
    /* One of them is on another thread, which takes its time. */
    build_must("until " RECORDER " tasks %d --stacks --all >said; "
               "grep -q ^DEADLOCK said && grep -q \"^10 tasks\" said && "
               "grep -q \"  condition$\" said; do sleep 0.05; done",
               pid);
    snprintf(source, sizeof source, "%d", (int)pid);
    must_show_boost(source);
    build_must("gdb -q --batch -p %d -ex \"generate-core-file core\" -ex "
               "\"source " TEST_ROOT "/gdb/recorder-gdb.py\" -ex \"recorder "
               "task apply all bt\" 2>&1",
               pid);
    command_stop(pid);
    must_say("boost::fibers::mutex*) (one=");
    must_say("conditional() () at ");
    must_show_boost("core");
    build_must("g++ -g -O1 -DRECORDED " BUILD_INCLUDE BUILD_PROGRAMS
               "/tasks_boost.cc -o recorded -lboost_fiber -lboost_context "
               "-lpthread");
    pid = command_start("./recorded");
    command_must("save %d -o x.rec", pid);
    command_stop(pid);
    must_show_boost("x.rec");
    build_must("stat -c %%s x.rec");
    cr_assert_lt(atoi(build_text), 1 << 21); /* not all that was searched */
    build_must("gdb -q --batch -ex \"source " TEST_ROOT
               "/gdb/recorder-gdb.py\" -ex \"break take\" -ex run -ex "
               "\"recorder tasks\" -ex kill program 2>&1"); /* a C++ frame */
    must_say("\n  Boost.Fiber  ");
}

/* -------------------------------------------------------------- ucontext -- */

/* Goal: contexts of swapcontext() have stacks, in the task or through a pointer
 * of it, and one that never ran is at its function. */
Test(tasks_known, ucontext)
{
    static const char *const kinds[] = {"", "-m32 -DPOINTERS", "-DPOINTERS",
                                        "-m32"};
    for (unsigned i = 0; i < 4; i++) {
        pid_t pid;
        if ((i > 1 && !sampled(i)) ||
            (strstr(kinds[i], "-m32") && !build_can("gcc", "-m32")))
            continue;
        build_must("gcc -g -O0 -D_GNU_SOURCE %s " BUILD_INCLUDE BUILD_PROGRAMS
                   "/tasks_ucontext.c -o program",
                   kinds[i]);
        pid = command_start("./program");
        command_rests(pid); /* else the stack of the running one is unknown */
        command_must("tasks %d --stacks", pid);
        command_stop(pid);
        must_say("2 tasks: ");
        must_say("    f tasks_ucontext.c:");
        must_say(" < run tasks_ucontext.c:");
        must_say("1 task: fresh\n    run tasks_ucontext.c:");
        if (!strstr(kinds[i], "POINTERS")) {
            must_say("  runs   running  thread "); /* there is one */
            must_say("1 task: runs\n    ");
        }
    }
}

/* --------------------------------------------------------------- kernels -- */

/* The lines in a text must follow each other, with others between them. */
static void must_say_in_order(const char *const *lines)
{
    const char *at = build_text;
    for (; *lines; lines++) {
        at = strstr(at, *lines);
        cr_assert(at, "no \"%s\" in\n%s", *lines, build_text);
    }
}
#define IN_ORDER(...)                                                          \
    must_say_in_order((const char *const[]){__VA_ARGS__, NULL})

#define KERNELS_NEED "arm-none-eabi-gcc", "qemu-system-arm", "gdb-multiarch"
/* Builds a kernel for a Cortex-M, runs it under qemu until its tasks wait, and
 * keeps its memory in ram.bin; `commands` of gdb are given then. */
static void kernel_run(const char *name, const char *flags, const char *board,
                       const char *commands)
{
    build_must("cd " TEST_ROOT " && arm-none-eabi-gcc -g -O1 %s "
               "-mthumb -ffreestanding -nostdlib -Wall -Wextra -Werror -T "
               "tests/programs/tasks_threadx.ld tests/programs/%s "
               "-o %s/kernel",
               flags, name, build_folder);
    build_must(
        "gdb-multiarch -q --batch -ex \"set remotetimeout 60\" -ex \"target "
        "remote | exec "
        "qemu-system-arm -M %s -display none -monitor none "
        "-serial none -kernel kernel -S -gdb stdio\" -ex \"source " TEST_ROOT
        "/gdb/recorder-gdb.py\" -ex \"tbreak spin if spins "
        "== 50\" -ex continue -ex \"dump binary memory ram.bin "
        "0x20000000 0x20010000\" %s -ex kill kernel 2>&1 || :",
        board, commands);
    cr_assert_null(strstr(build_text, "circle"), "%s", build_text);
}
#define KERNEL_IMAGE "--elf kernel --memory 0x20000000:ram.bin"
#define KERNEL_TOUR                                                            \
    "-ex \"recorder tasks\" -ex \"recorder task deposit\" -ex bt -ex "         \
    "\"recorder task withdraw\" -ex stepi -ex \"printf \\\"LEVEL %d \\\", "    \
    "\\$_thread - 1\" -ex bt"

/* Goal: threads of a kernel with ThreadX's structures, on a Cortex-M3 through a
 * stub and in its memory: list, waits, stacks; and the program continues from
 * the same place. Method: qemu and our own kernel; members are found by debug
 * information. */
Test(tasks_known, threadx)
{
    build_needs(KERNELS_NEED);
    kernel_run("tasks_threadx.c", "-mcpu=cortex-m3", "mps2-an385", KERNEL_TOUR);
    IN_ORDER("* ThreadX         idle      0x",
             "  mutex      bank, held by withdraw\n",
             "  mutex      cash, held by deposit\n", "#1  ", " in yield () at ",
             " in mutex_get (mutex=", " in take (one=",
             "depth=depth@entry=2) at ", " in deposit () at ", "at tests",
             "LEVEL 0 ", "#1  ", " in idle () at ");
    command_must("tasks " KERNEL_IMAGE " --stacks");
    IN_ORDER("DEADLOCK of 2 tasks: each waits for the next\n",
             "ThreadX         idle      running",
             "mutex      bank, held by withdraw\n",
             "mutex      cash, held by deposit\n",
             "1 task: deposit\n    yield tasks_threadx.c:",
             " < mutex_get tasks_threadx.c:", " < take tasks_threadx.c:",
             " < take tasks_threadx.c:", " < take tasks_threadx.c:",
             " < deposit tasks_threadx.c:", "\n7 tasks");
    must_say("  patient   mutex      blue, held by hurried\n");
    must_say("  hurried   mutex      red, held by patient, for a time\n");
    must_say("  turns     semaphore  turn\n");
    must_say("  had       ready    \n");
    cr_assert_null(strstr(strstr(build_text, "DEADLOCK") + 1, "DEADLOCK"), "%s",
                   build_text);
    build_must("arm-none-eabi-strip -g kernel");
    cr_assert_eq(command("tasks " KERNEL_IMAGE), 1);
    must_say("it has ThreadX, but no debug information of TX_THREAD.");
}

/* The output for the memory of programs/tasks_freertos.c. */
static void freertos_says(bool other)
{
    command_must("tasks " KERNEL_IMAGE " --stacks");
    must_say("  deposit   blocked    mutex the bank, held by withdraw\n");
    must_say("  withdraw  blocked    mutex cash, held by deposit\n");
    must_say("  reads     blocked    empty queue commands, for a time\n");
    must_say("  sends     blocked    full queue results\n");
    must_say("  turns     blocked    semaphore turn\n");
    must_say("  pushed    blocked    events buttons, for a time\n");
    must_say("  sleeps    blocked    time\n");
    must_say(other ? "  told      suspended\n"
                   : "  told      blocked    notification\n");
    must_say("  frozen    suspended\n");
    must_say("  gone      deleted  \n");
    must_say("  idle      running  \n");
    must_say(other ? "\nFreeRTOS         idle " : "\nFreeRTOS     11  idle ");
    must_say(
        "  task deposit waits for mutex the bank of task withdraw, at yield "
        "tasks_freertos.c:");
    IN_ORDER("1 task: deposit\n    yield tasks_freertos.c:",
             " < block tasks_freertos.c:", " < mutex_take tasks_freertos.c:",
             " < take tasks_freertos.c:", " < take tasks_freertos.c:",
             " < take tasks_freertos.c:", " < deposit tasks_freertos.c:");
    must_say("\n1 task without a stack here");
    must_say("\n11 tasks");
}

/* Goal: the same of FreeRTOS, with and without a floating-point unit, in two
 * configurations; all that a task may wait for. */
static void freertos(const char *flags, const char *board, bool other)
{
    kernel_run("tasks_freertos.c", flags, board, KERNEL_TOUR);
    must_say("* FreeRTOS     ");
    IN_ORDER("#1  ", " in yield () at ",
             " in block (state=", " in mutex_take (mutex=", " in take (one=",
             "depth=depth@entry=2) at ", " in deposit () at ", "at tests",
             "LEVEL 0 ", "#1  ", " in idle () at ");
    freertos_says(other);
}
Test(tasks_known, freertos)
{
    build_needs(KERNELS_NEED);
    freertos("-mcpu=cortex-m3", "mps2-an385", false);
    if (sampled(0))
        freertos("-mcpu=cortex-m0", "mps2-an385", false);
    if (sampled(2))
        freertos("-mcpu=cortex-m4 -mfloat-abi=hard", "mps2-an386", false);
    if (sampled(1))
        freertos("-mcpu=cortex-m4 -mfloat-abi=hard -DOTHER", "mps2-an386",
                 true);
}

/* Goal: the same in the memory of other processors, as FreeRTOS saves tasks
 * there. Method: the kernel's program runs by qemu as one of Linux. */
Test(tasks_known, freertos_on_risc_v_and_mips)
{
#define MIPS32 "-march=mips32r2 -mno-abicalls -fno-pic -G0 -msoft-float"
#define RV32 "-march=rv32imac -mabi=ilp32"
#define RV32E                                                                  \
    "-DEMBEDDED " RV32 " -ffixed-x16 -ffixed-x17 -ffixed-x18 -ffixed-x19 "     \
    "-ffixed-x20 -ffixed-x21 -ffixed-x22 -ffixed-x23 -ffixed-x24 "             \
    "-ffixed-x25 -ffixed-x26 -ffixed-x27 -ffixed-x28 -ffixed-x29 "             \
    "-ffixed-x30 -ffixed-x31"
    static const char *const targets[][3] = {
        {"riscv32", "riscv32-unknown-elf", RV32},
        {"riscv32", "riscv32-unknown-elf", RV32E},
        {"riscv64", "riscv64-unknown-elf",
         "-march=rv64imac -mabi=lp64 -mcmodel=medany"},
        {"mips", "mips-linux-gnu", MIPS32},
        {"mipsel", "mipsel-linux-gnu", MIPS32}};
    build_needs("clang", "ld.lld");
    for (unsigned i = 0; i < 2 * sizeof targets / sizeof *targets; i++) {
        const char *const *target = targets[i / 2];
        bool other = i % 2;
        char emulator[32];
        snprintf(emulator, sizeof emulator, "qemu-%s", target[0]);
        build_needs(emulator);
        build_must("cd " TEST_ROOT " && clang --target=%s %s %s -g -O1 "
                   "-ffreestanding -nostdlib -static -Wall -Wextra -Werror "
                   "-fuse-ld=lld -Wl,-T,tests/programs/tasks_user.ld "
                   "tests/programs/tasks_freertos.c -o %s/kernel && cd %s && "
                   "timeout 30 %s ./kernel >ram.bin",
                   target[1], target[2], other ? "-DOTHER" : "", build_folder,
                   build_folder, emulator);
        freertos_says(other);
    }
}
