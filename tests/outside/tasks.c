/* Tasks of schedulers: descriptions, lists, stacks, waits, in all sources. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(tasks, .init = build_begin, .fini = build_end, .timeout = 300);

#define FIBERS BUILD_PROGRAMS "/tasks_fibers.c"
#define NUMBERS BUILD_PROGRAMS "/tasks_numbers.c"

/* ---------------------------------------------------------------- header -- */

static const char *const languages[] = {
    "gcc -std=gnu11", "g++ -std=c++11 -xc++", "clang -std=gnu11",
    "clang++ -std=c++11 -xc++"};

/* Goal: the header is silent in C and C++, and nothing is left of it with
 * -DRECORDER_OFF. */
Test(tasks, the_header_compiles, .init = build_long)
{
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (i > 1 && !sampled(2)) /* one of C, one of C++ */
            continue;
        build_must("%s -O2 " BUILD_WARNINGS BUILD_INCLUDE NUMBERS
                   " -o on -lpthread && ./on && ./on table",
                   languages[i]);
        build_must("%s -O2 -DRECORDER_OFF " BUILD_WARNINGS BUILD_INCLUDE NUMBERS
                   " -o off -lpthread && ./off && nm off >names",
                   languages[i]);
        cr_assert_neq(build_run("grep -i recorder names"), 0, "%s", build_text);
    }
    if (build_can("gcc", "-m32"))
        build_must("gcc -O2 -m32 " BUILD_WARNINGS BUILD_INCLUDE NUMBERS
                   " -o on -lpthread && ./on table && ./on scarce");
}

/* Goal: a task's records have its name, on any thread, and so have the records
 * of its copy in a child of fork(). */
Test(tasks, records_bear_the_name_of_their_task)
{
    static const char *const lines[] = {"worker: of the worker\n",
                                        "one: of one\n",
                                        "two: of two\n",
                                        "two: of two again\n",
                                        "worker: of the worker again\n",
                                        "two: of two in the child\n",
                                        "row one 3\n",
                                        "row two 4\n"};
    build_must("gcc -O2 " BUILD_INCLUDE NUMBERS
               " -o numbers -lpthread && ./numbers named");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_assert(strstr(build_text, lines[i]), "no %s in %s", lines[i],
                  build_text);
}

/* Goal: a task that finds no row has no number, and the next one to find a row
 * has the number of one that ended. */
Test(tasks, numbers_may_be_used_up, .init = build_long)
{
    build_must("gcc -O2 " BUILD_INCLUDE NUMBERS
               " -o numbers -lpthread && ./numbers scarce");
}

/* Goal: two switches of numbers, to a task and back, cost at most 1 ns: half a
 * nanosecond each. */
Test(tasks, a_number_costs_one_store, .init = build_long)
{
    double least = 1e9;
    build_must("gcc -O2 " BUILD_INCLUDE NUMBERS " -o numbers -lpthread");
    for (int i = 0; i < 5 && least > 1; i++) {
        build_must("./numbers cost");
        if (atof(build_text) < least)
            least = atof(build_text);
    }
    cr_assert_leq(least, 1.0, "%.3f ns", least);
}

/* ---------------------------------------------------------------- fibers -- */

static void build_fibers(const char *options)
{
    build_once("gcc %s -D_GNU_SOURCE " BUILD_INCLUDE FIBERS
               " -o fibers -lpthread",
               options);
}
static pid_t start(const char *arguments)
{
    char line[128];
    snprintf(line, sizeof line, "./fibers %s", arguments);
    return command_start(line);
}
/* Makes a file of a process, which continues. After gdb its threads run for a
 * moment, until they wait again. */
static void core_of(pid_t pid)
{
    build_must("gdb -p %d --batch -ex \"generate-core-file core\"; for i in "
               "$(seq 200); do grep -q \") [RTt] \" /proc/%d/task/*/stat || "
               "break; sleep 0.01; done; test -s core",
               pid, pid);
}

/* The first line of JSON has a deadlock of these kinds, sorted. */
static void deadlock_is_of(const char *source, const char *kinds)
{
    command_must("tasks %s --json >json", source);
    build_must("python3 -c \"import json; r = [json.loads(l) for l in "
               "open(\\\"json\\\")]; print(sorted(list(x)[0] for x in "
               "r[0][\\\"deadlock\\\"]))\"");
    cr_assert_str_eq(build_text, kinds);
}

static void must_say(const char *text)
{
    cr_assert(strstr(build_text, text), "no \"%s\" in\n%s", text, build_text);
}
/* Another line must follow a line with this text. */
static void must_say_on_line(const char *text, const char *then)
{
    const char *at = strstr(build_text, text);
    const char *found = at ? strstr(at, then) : NULL;
    cr_assert(found && found < at + strcspn(at, "\n"), "no \"%s...%s\" in\n%s",
              text, then, build_text);
}
/* The full output for ./fibers 3 locks,spin,still, for each kind of source. */
static void must_show(const char *source)
{
    command_must("tasks %s --stacks", source);
    cr_assert_eq(strncmp(build_text, "DEADLOCK of 2 tasks: ", 21), 0, "%s",
                 build_text);
    must_say("  task left waits for lock B of task right, at leave "
             "tasks_fibers.c:");
    must_say("  task right waits for lock A of task left, at leave "
             "tasks_fibers.c:");
    must_say("\nuserCluster        1  T0     waiting  ");
    must_say("work: 2 in f, example ");
    must_say("held by right  work: left wants the other ");
    must_say_on_line("  spin   running  ", "  thread ");
    must_say("\n3 tasks: T0, T1, T2\n    leave tasks_fibers.c:");
    must_say(" < stand tasks_fibers.c:");
    must_say(" < f tasks_fibers.c:");
    must_say(" < plain tasks_fibers.c:");
    must_say("\n6 tasks; --all shows");
    cr_assert_null(strstr(build_text, "idle"), "%s", build_text);
    command_must("tasks --tree %s", source);
    must_say("    right waits for lock A  (deadlock)\n");
    command_must("tasks --all --group \"SYSTEM.*\" %s", source);
    must_say("\nsystemCluster     -1  idle  waiting  ");
    cr_assert_null(strstr(build_text, " T0 "), "%s", build_text);
    command_must("tasks --json --stacks %s >json", source);
    build_must(
        "python3 -c \"import json; r = [json.loads(l) for l in "
        "open(\\\"json\\\")]; print(len(r), len(r[0][\\\"deadlock\\\"]), "
        "r[1][\\\"name\\\"], len(r[1][\\\"stack\\\"]))\"");
    cr_assert_str_eq(build_text, "7 2 T0 8\n");
}

/* Goal: a running process that is not stopped, one that is, and a core file are
 * all shown alike: states, waits, last records, stacks, a deadlock. */
Test(tasks, all_sources_show_them, .init = build_long)
{
    char source[16];
    pid_t pid;
    build_fibers("-O0 -g");
    pid = start("3 locks,spin,still");
    snprintf(source, sizeof source, "%d", (int)pid);
    must_show(source);
    kill(pid, SIGSTOP);
    must_show(source);
    kill(pid, SIGCONT);
    core_of(pid);
    command_must("save %d -o x.rec", pid);
    command_must("save %d -o none.rec --no-stacks", pid);
    command_stop(pid);
    must_show("core");
    must_show("x.rec");
    build_must("eu-readelf -n x.rec | grep -c \"CORE .*PRSTATUS\"");
    cr_assert_eq(atoi(build_text), 3 + 6); /* three threads; spin runs */
    build_must("eu-readelf -n none.rec | grep -c \"CORE .*PRSTATUS\"");
    cr_assert_eq(atoi(build_text), 1);
}

static void must_show_ring(const char *source)
{
    static const char *const stacks[] = {
        "1 task: T0\n    f tasks_ring.c:", "1 task: T1\n    f tasks_ring.c:",
        "1 task: T2\n    f tasks_ring.c:"};
    command_must("tasks --stacks %s | sed 's/c:[0-9]*/c:/g'", source);
    for (size_t i = 0; i < 3; i++) {
        const char *at = strstr(build_text, stacks[i]);
        cr_assert(at, "%s: no %s in\n%s", source, stacks[i], build_text);
        at += strlen(stacks[i]);
        for (size_t k = 0; k < i; k++, at += strlen(" < f tasks_ring.c:"))
            cr_assert_eq(strncmp(at, " < f tasks_ring.c:", 18), 0, "%s", at);
        cr_assert_eq(strncmp(at, " < invoke tasks_ring.c: < ended\n", 32), 0,
                     "%s", at);
    }
    cr_assert(strstr(build_text, "userCluster         T0    blocked\n"), "%s",
              build_text);
    cr_assert(strstr(build_text, "T2    blocked  monitor, held by T0\n"), "%s",
              build_text);
    cr_assert(strstr(build_text, "\n3 tasks. "), "%s", build_text);
    cr_assert(!strstr(build_text, "circle"), "%s", build_text);
}

/* Goal: tasks in a ring of nodes without a head, with the address of their
 * stack pointer and frame pointer, as in uC++, are found with their stacks:
 * with and without frame pointers, live, in cores and recordings. */
Test(tasks, a_ring_of_nodes_with_contexts_elsewhere)
{
    static const char *const options[] = {"-O0 -g", "-O2 -g"};
    char source[16];
    for (size_t i = 0; i < 2; i++) {
        pid_t pid;
        build_must("gcc %s " BUILD_WARNINGS BUILD_INCLUDE BUILD_PROGRAMS
                   "/tasks_ring.c -o ring",
                   options[i]);
        pid = command_start("./ring 3");
        snprintf(source, sizeof source, "%d", (int)pid);
        must_show_ring(source);
        core_of(pid);
        command_must("save %d -o ring.rec", pid);
        command_stop(pid);
        must_show_ring("core");
        must_show_ring("ring.rec");
    }
    for (int count = 0; count < 2; count++) {
        char line[16];
        pid_t pid;
        snprintf(line, sizeof line, "./ring %d", count);
        pid = command_start(line);
        command_must("tasks %d", pid);
        command_stop(pid);
        snprintf(line, sizeof line, "\n%d task%s. ", count,
                 count == 1 ? "" : "s");
        cr_assert(strstr(build_text, line), "%s", build_text);
        cr_assert(!strstr(build_text, "list of"), "%s", build_text);
    }
}

/* Goal: tools that know nothing of this see each task of a recording as a thread
 * with its stack: gdb without a script of ours, and eu-stack. */
Test(tasks, other_tools_see_saved_tasks, .init = build_long)
{
    pid_t pid;
    build_fibers("-O0 -g");
    pid = start("3 locks,still");
    command_must("save %d -o x.rec", pid);
    command_stop(pid);
    build_must("gdb -nx -q --batch -ex \"thread apply all bt\" ./fibers -c "
               "x.rec 2>&1 | grep -c \" plain (fiber=\"");
    cr_assert_eq(atoi(build_text), 4); /* with idle */
    /* Variables on a stack are not kept, and read 0: READY. */
    build_must("gdb -nx -q --batch -ex \"info threads\" ./fibers -c x.rec "
               "2>&1 | grep -c \"LWP 50000.. *leave (state=READY)\"");
    cr_assert_eq(atoi(build_text), 6);
    build_run("eu-stack --core=x.rec -e ./fibers 2>/dev/null >stacks");
    build_must("grep -c \"^TID 500000\" stacks");
    cr_assert_eq(atoi(build_text), 6);
    build_must("grep -c \" plain$\" stacks");
    cr_assert_eq(atoi(build_text), 4);
    build_must("grep -c \" take_both$\" stacks");
    cr_assert_eq(atoi(build_text), 2);
    /* With another alignment libdwfl reads one piece of memory as another. */
    build_run("readelf -lW x.rec | grep LOAD | "
              "grep -vc \"LOAD *0x\\w*\\(.\\) 0x\\w*\\1 .*0x8$\"");
    cr_assert_eq(atoi(build_text), 0);
}

/* Goal: a deadlock of tasks and threads is named with both: a task holds a mutex
 * that a thread waits for, and that thread one that the task waits for, in the
 * kernel, with its worker. `recorder threads` tells the same of the threads. */
Test(tasks, deadlocks_of_tasks_and_threads)
{
    char sources[2][16] = {"", "core"};
    pid_t pid;
    build_fibers("-O0 -g");
    pid = start("3 mixed,still");
    snprintf(sources[0], sizeof sources[0], "%d", (int)pid);
    command_rests(pid); /* threads take their time to wait */
    command_must("threads %d", pid);
    cr_assert_eq(strncmp(build_text, "DEADLOCK of 2 threads: ", 23), 0, "%s",
                 build_text);
    core_of(pid);
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            command_stop(pid);
        command_must("tasks %s", sources[i]);
        cr_assert_eq(strncmp(build_text,
                             "DEADLOCK of 1 task and 2 threads: each "
                             "waits for the next, the last for the "
                             "first\n",
                             82),
                     0, "%s", build_text);
        must_say("\n  task mixes runs on thread ");
        must_say(" waits for mutex of_thread of ");
        must_say(" waits for mutex of_task of ");
        must_say_on_line("  hangs  waiting  ", "  lock A, held by mixes ");
        must_say_on_line("  asks   waiting  ",
                         "  lock threads_own, held by thread ");
        deadlock_is_of(sources[i], "['task', 'thread', 'thread']\n");
    }
}

/* Goal: a running task that names no worker runs on the thread whose stack
 * pointer is in its stack's part of memory. */
Test(tasks, who_runs_is_found_by_stack_pointers, .init = build_long)
{
    char sources[2][16] = {"", "core"};
    pid_t pid;
    build_fibers("-O0 -g -DNOWHERE");
    pid = start("3 mixed,still");
    snprintf(sources[0], sizeof sources[0], "%d", (int)pid);
    core_of(pid);
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            command_stop(pid);
        command_must("tasks %s", sources[i]);
        cr_assert_eq(
            strncmp(build_text, "DEADLOCK of 1 task and 2 threads: ", 34), 0,
            "%s", build_text);
        must_say("\n  task mixes runs on thread ");
        must_say_on_line("  mixes  running  ", "  thread ");
    }
}

/* Goal: a mutex whose structure names its task is held by that, not by the
 * thread that locked it, which has left the task: a deadlock through it is
 * named. Where the structure is not described, nothing is guessed. */
Test(tasks, a_mutex_of_a_parked_task, .init = build_long)
{
    char sources[2][16] = {"", "core"};
    pid_t pid;
    build_fibers("-O0 -g");
    pid = start("3 parked,still");
    snprintf(sources[0], sizeof sources[0], "%d", (int)pid);
    build_must("timeout 60 sh -c \"until " RECORDER " threads %d | grep -q "
               "plain.*shared; do sleep 0.1; done\"",
               pid);
    core_of(pid);
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            command_stop(pid);
        command_must("tasks %s", sources[i]);
        cr_assert_eq(strncmp(build_text,
                             "DEADLOCK of 1 task and 1 thread: each waits "
                             "for the next\n",
                             57),
                     0, "%s", build_text);
        must_say("\n  task parks waits for lock threads_own of thread ");
        must_say(" waits for mutex shared+0x10 of task parks, at ");
        must_say("\n4 tasks");
        must_say(" waits for mutex shared+0x10 of task parks\n");
        must_say_on_line("  parks  waiting  ",
                         "  lock threads_own, held by thread ");
        deadlock_is_of(sources[i], "['task', 'thread']\n");
    }
    if (!sampled(2))
        return;
    build_fibers("-O0 -g -DUNDESCRIBED");
    pid = start("3 parked,still");
    command_must("tasks %d", pid);
    command_stop(pid);
    cr_assert_null(strstr(build_text, "DEADLOCK"), "%s", build_text);
}

/* Goal: of a program that crashed, the task that did is found with its stack. */
Test(tasks, a_crash_is_found_in_a_core_file)
{
    build_fibers("-O0 -g");
    build_must("gdb --batch -ex run -ex \"generate-core-file core\" --args "
               "./fibers 3 crash");
    command_must("tasks core --stacks");
    must_say_on_line("  crash  running  ", "  thread ");
    must_say("work: about to crash 3 ");
    must_say("\n1 task: crash\n    crash tasks_fibers.c:");
    must_say("\n3 tasks: T0, T1, T2\n    leave ");
}

/* Goal: the same of another processor. Method: clang compiles for it, an emulator
 * runs the program and leaves its core. */
Test(tasks, aarch64)
{
    static const char flags[] =
        "-static -isystem /usr/$t/include -L/usr/$t/lib -B/usr/$t/lib "
        "-L/usr/lib/gcc-cross/$t/12 -B/usr/lib/gcc-cross/$t/12 "
        "--ld-path=/usr/bin/$t-ld -g";
    static const char *const levels[] = {"-O0", "-O2"};
    if (!build_has("clang") || !build_has("qemu-aarch64") ||
        build_run(
            "t=aarch64-linux-gnu && echo \"int main(void) { return 0; }\" "
            ">can.c && clang --target=$t %s -o can can.c -lpthread && "
            "qemu-aarch64 ./can",
            flags) != 0)
        build_skip("no program for aarch64 can be built here");
    for (unsigned i = 0; i < 2; i++) {
        if (!sampled(i))
            continue;
        build_must("t=aarch64-linux-gnu && clang --target=$t %s %s "
                   "-D_GNU_SOURCE " BUILD_INCLUDE "-o program " FIBERS
                   " -lpthread",
                   flags, levels[i]);
        /* The emulator crashes itself in one of 20 dumps of a program with
         * threads, and leaves no core file or one that is cut off: another is
         * made then. */
        build_run("ulimit -c unlimited && cd $PWD && "
                  "for i in 1 2 3 4 5 6 7 8 9 10; do rm -f core; "
                  "qemu-aarch64 ./program 3 locks,crash; mv qemu_*.core "
                  "core && " RECORDER " list core --executable program >list "
                  "2>&1 && ! grep -q \"cut off\" list && break; done");
        command_must("tasks core --executable program --stacks");
        cr_assert_eq(strncmp(build_text, "DEADLOCK of 2 tasks: ", 21), 0, "%s",
                     build_text);
        must_say("  task left waits for lock B of task right, at leave "
                 "tasks_fibers.c:");
        must_say_on_line("  crash  running  ", "  work: about to crash 5 ");
        must_say_on_line("  T1     waiting  ", "  work: 1 in f, example ");
        must_say("\n3 tasks: T0, T1, T2\n    leave tasks_fibers.c:");
        must_say(" < stand tasks_fibers.c:");
        must_say(" < f tasks_fibers.c:");
        if (i == 0) /* else it jumps to f() */
            must_say(" < plain tasks_fibers.c:");
        must_say("\n1 task: crash\n    crash tasks_fibers.c:");
    }
}

/* Goal: it works for optimized programs, and without names of functions: frames
 * are counted then. */
Test(tasks, optimized_and_stripped, .init = build_long)
{
    pid_t pid;
    build_fibers("-O2 -g");
    pid = start("3 locks,still");
    command_must("tasks %d --stacks", pid);
    must_say("DEADLOCK of 2 tasks: ");
    must_say(" < f tasks_fibers.c:");
    command_stop(pid);
    build_fibers("-O2 -s");
    pid = start("3 locks,still");
    command_must("tasks %d --json --stacks >json", pid);
    command_stop(pid);
    build_must(
        "python3 -c \"import json; r = [json.loads(l) for l in "
        "open(\\\"json\\\")]; print(len(r), len(r[0][\\\"deadlock\\\"]), "
        "r[1][\\\"name\\\"], len(r[1][\\\"stack\\\"]))\"");
    cr_assert(strncmp(build_text, "6 2 T0 ", 7) == 0 &&
                  atoi(build_text + 7) > 5,
              "%s", build_text);
}

/* Goal: lines, choices, lanes and exports name the task that recorded, not the
 * worker; of a recording, too. */
Test(tasks, a_number_names_the_task_everywhere)
{
    char sources[2][16] = {"", "x.rec"};
    pid_t pid;
    build_fibers("-O0 -g");
    pid = start("3 locks,spin,still");
    snprintf(sources[0], sizeof sources[0], "%d", (int)pid);
    command_must("save %d -o x.rec", pid);
    for (int i = 0; i < 2; i++) {
        const char *source = sources[i];
        command_must("dump %s --line \"{name}: {message}\"", source);
        must_say("\nleft: left wants the other\n");
        must_say("\nT2: 2 in f, example\n");
        command_must("dump %s --thread left --line \"{name}: {message}\"",
                     source);
        must_say("left: left wants the other\n");
        cr_assert_null(strstr(build_text, "T2"), "%s", build_text);
        command_must("list %s", source);
        must_say("        0  left            task\n");
        command_must("list --json %s", source);
        must_say("\"alive\":true,\"name\":\"left\",\"task\":true}");
        command_must("export perfetto %s -o trace", source);
        build_must("protoc --decode=Trace -I" BUILD_PROGRAMS
                   " perfetto.proto <trace | sed -n \"s/^ *thread_name: "
                   "[^a-zA-Z]\\(.*\\)[^a-zA-Z0-9]$/\\1/p\" | sort | tr \"\\n\" "
                   "\" \"");
        must_say("T0 T1 T2 idle left right spin ");
    }
    build_must("gdb -q --batch -p %d -ex \"source " TEST_ROOT
               "/gdb/recorder-gdb.py\" -ex \"recorder at 1\" -ex \"recorder "
               "list\" 2>&1",
               pid);
    command_stop(pid);
    must_say("It is of task idle: recorder task idle\n");
    must_say("        0  left            task\n");
}

/* Goal: a task without a number in its description has the last record of the
 * row with its name; a running one without a name has its worker's. */
Test(tasks, last_records_without_numbers)
{
    static const char *const modes[] = {"3 locks,spin,still",
                                        "3 plain,spin,still"};
    build_fibers("-O0 -g -DUNNUMBERED");
    for (int i = 0; i < 2; i++) {
        pid_t pid = start(modes[i]);
        command_must("tasks %d", pid);
        must_say_on_line("  spin ", "  work: spin ");
        if (i == 0)
            must_say_on_line("  T2 ", "  work: 2 in f, example ");
        else
            cr_assert_null(strstr(build_text, " in f, example"), "%s",
                           build_text);
        command_stop(pid);
    }
}

/* Goal: the length of a state is the time since its beginning, in a core file
 * up to its last record. */
Test(tasks, states_have_times)
{
    static const char look[] =
        "python3 -c \"import json; r = [json.loads(l) for l in "
        "open(\\\"json\\\")]; t = [t for t in r if t.get(\\\"name\\\") == "
        "\\\"T1\\\"][0]; print(t[\\\"state_ns\\\"], t[\\\"age_ns\\\"])\"";
    double ns[3], ages[3];
    pid_t pid;
    build_fibers("-O0 -g");
    pid = start("3 locks,still");
    for (int i = 0; i < 2; i++) {
        command_must("tasks %d --json >json", pid);
        build_must(look);
        cr_assert_eq(sscanf(build_text, "%lf %lf", &ns[i], &ages[i]), 2);
        usleep(500000);
    }
    core_of(pid);
    command_stop(pid);
    command_must("tasks core --json >json");
    build_must(look);
    cr_assert_eq(sscanf(build_text, "%lf %lf", &ns[2], &ages[2]), 2);
    cr_assert(ns[0] > 0 && ns[1] > ns[0] + 0.5e9, "%f and %f", ns[0], ns[1]);
    cr_assert(ns[2] >= 0 && ns[2] < ns[0], "%f and %f", ns[0], ns[2]);
    /* So with the age of its last record. */
    cr_assert(ages[2] >= 0);
    cr_assert(ages[1] > ages[0] + 0.5e9 && ages[2] < ages[0], "%f, %f and %f",
              ages[0], ages[1], ages[2]);
    command_must("tasks core");
    must_say("  STATE ");
    must_say("  FOR  WAITS ON ");
}

/* ------------------------------------------------------------------ race -- */

/* Goal: every printed stack is one that a task had; one of 500 may be only the
 * upper part, if the task ran and returned between two looks. Method: two
 * workers switch 1000 tasks at full speed, from five depths. */
Test(tasks, stacks_of_a_busy_program_are_no_mixes, .init = build_long)
{
    int looks = scaled(100) < 5 ? 5 : (int)scaled(100);
    pid_t pid;
    build_fibers("-O0 -g");
    pid = start("1000 busy 2 16384");
    for (int i = 0; i < looks; i++) {
        if (i % 5 == 4) { /* saved stacks are no mixtures, either */
            command_must("save %d -o x.rec", pid);
            command_must("tasks x.rec --json --stacks >json");
        } else {
            command_must("tasks %d --json --stacks >json", pid);
        }
        build_must(
            "python3 -c \"import json, sys; n = 0\n"
            "for l in open(\\\"json\\\"):\n"
            "  r = json.loads(l)\n"
            "  assert \\\"deadlock\\\" not in r, l\n"
            "  if not r[\\\"stack\\\"]: continue\n"
            "  s = [f[\\\"function\\\"] for f in r[\\\"stack\\\"]]\n"
            "  n += 1; d = len(s) - 4\n"
            "  if r[\\\"running\\\"] or s == [\\\"begin\\\"]: continue\n"
            "  if d < 1 or d > 5 or s != [\\\"leave\\\", \\\"yield\\\"] + "
            "[\\\"busy_deep\\\"] * d + [\\\"busy\\\", \\\"begin\\\"]: "
            "print(s)\n"
            "assert n > 500, n\"");
        cr_assert_str_eq(build_text, "", "%s", build_text);
    }
    command_stop(pid);
}

/* Goal: a task whose worker was stopped before it saved the task's context,
 * while the state is the next one already, is not shown with its earlier stack:
 * that happened in one of 30,000 stacks of a busy machine. */
Test(tasks, a_context_that_is_not_saved_yet)
{
    pid_t pid;
    build_fibers("-O0 -g");
    pid = start("2 late,still 1");
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            command_must("tasks %d --json --stacks >json", pid);
        else
            build_must(RECORDER " save %d -o x.rec && " RECORDER
                                " tasks x.rec --json --stacks >json",
                       pid);
        build_must("grep late json");
        must_say("\"state\":\"ready\"");
        must_say("\"running\":true,\"worker\":");
        cr_assert_null(strstr(build_text, "busy_deep"), "%s", build_text);
    }
    command_stop(pid);
}

/* --------------------------------------------------------------- hostile -- */

/* Goal: damaged descriptions, lists and tasks end with a warning; undamaged
 * ones are shown. */
Test(tasks, damage_is_told, .init = build_long)
{
    static const struct {
        const char *mode, *says;
    } damages[] = {
        {"wild", "recorder: PID: a list of fibers ends at a bad address, "},
        {"wild", "\nuserCluster        1  T0 "}, /* from its other end */
        {"ring", "\n2 tasks"},
        {"hole", " waiting  "},
        {"name", "xxxxxxxxxxxxxxxx"},
        {"owner", "0x10"},
        {"many", "the description fibers at 0x"},
        {"descriptor", "the description fibers at 0x"},
        {"chain", "the list of descriptions ends at a bad one"}};
    build_fibers("-O0 -g");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const char *says = strrchr(damages[i].says, ':');
        char arguments[64];
        pid_t pid;
        snprintf(arguments, sizeof arguments, "3 locks,still,damage,%s",
                 damages[i].mode);
        pid = start(arguments);
        command("tasks %d --stacks --all 2>&1", pid);
        must_say(says ? says + 2 : damages[i].says);
        cr_assert_null(strstr(build_text, " moving "), "%s", build_text);
        command_stop(pid);
    }
}

/* Goal: no recording crashes or hangs the reader. Method: words of a good one
 * are changed to others, also to its own words, which are addresses in it. */
Test(tasks, scribbled_recordings)
{
    static unsigned char good[1 << 20], bad[sizeof good];
    unsigned count = scaled(200) < 10 ? 10 : scaled(200);
    uint64_t seed = seed_of("scribbled_recordings");
    char path[128];
    size_t size;
    FILE *file;
    pid_t pid;
    build_fibers("-O0 -g");
    pid = start("3 locks,still");
    command_must("save %d -o x.rec", pid);
    command_stop(pid);
    snprintf(path, sizeof path, "%s/x.rec", build_folder);
    file = fopen(path, "rb");
    size = fread(good, 1, sizeof good, file);
    fclose(file);
    cr_assert(size > 4096 && size < sizeof good);
    for (unsigned i = 0; i < count; i++) {
        int status;
        memcpy(bad, good, size);
        for (uint64_t k = random_of(&seed) % 500 + 1; k; k--)
            memcpy(bad + 8 * (random_of(&seed) % (size / 8)),
                   good + 8 * (random_of(&seed) % (size / 8)), 8);
        snprintf(path, sizeof path, "%s/bad.rec", build_folder);
        file = fopen(path, "wb");
        cr_assert_eq(fwrite(bad, 1, size, file), size);
        fclose(file);
        status = command("tasks bad.rec --stacks --all >out 2>&1");
        cr_assert(status == 0 || status == 1, "status %d", status);
        status = command("tasks bad.rec --tree --json >out 2>&1");
        cr_assert(status == 0 || status == 1, "status %d", status);
    }
}

/* ----------------------------------------------------------------- large -- */

/* User and system time of a command, in seconds. */
static double seconds_of(const char *arguments, pid_t pid)
{
    double user, system;
    char *at;
    build_must("bash -c \"TIMEFORMAT=%%U+%%S=; time " RECORDER
               " tasks %d %s >out\" 2>&1",
               pid, arguments);
    at = build_text;
    user = strtod(at, &at);
    system = strtod(at + 1, &at);
    cr_assert(*at == '=', "%s", build_text);
    build_must("grep \"^100001 tasks\" out");
    return user + system;
}

/* Goal: 100,000 tasks are listed in half a second, with stacks in 5 s. */
Test(tasks, a_hundred_thousand, .init = build_long)
{
    double list = 1e9, stacks = 1e9, took;
    pid_t pid;
    build_fibers("-O2 -g");
    pid = start("100000 plain,still,spin 2 4096");
    for (int i = 0; i < 3 && (list >= 0.5 || stacks >= 5); i++) {
        took = seconds_of("", pid);
        list = took < list ? took : list;
        took = seconds_of("--stacks", pid);
        stacks = took < stacks ? took : stacks;
    }
    cr_assert_lt(list, 0.5);
    cr_assert_lt(stacks, 5.0);
    command_stop(pid);
}
