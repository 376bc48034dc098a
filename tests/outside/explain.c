/* recorder explain: how programs crashed, and the records with the cause. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

static void begin(void)
{
    build_begin();
    build_needs("gcc", "gdb");
    build_once("gcc -g " BUILD_WARNINGS BUILD_INCLUDE "-fstack-protector-all -w "
               "-o plain " BUILD_PROGRAMS "/explain.c -lpthread");
    build_once("gcc -O2 " BUILD_WARNINGS BUILD_INCLUDE "-g -fstack-protector-all"
               " -w -o fast " BUILD_PROGRAMS "/explain.c -lpthread");
}
TestSuite(explain, .init = begin, .fini = build_end, .timeout = 600);

/* Makes ./core of a program that crashes, by the kernel, where it leaves cores
 * in the folder of the program, else by gdb; and ./rec, of a program that
 * dumps. */
static void crash(const char *program)
{
    build_must("rm -f core rec");
    if (build_run("read pattern </proc/sys/kernel/core_pattern &&"
                  " test \"$pattern\" = core") == 0)
        build_run("ulimit -c unlimited && RECORDER_FILE=rec %s >out.txt 2>&1",
                  program);
    else
        build_run("RECORDER_FILE=rec gdb -q --batch -ex run "
                  "-ex \"generate-core-file core\" -ex continue "
                  "--args %s >out.txt 2>&1",
                  program);
    build_must("test -s core");
}

/* The stack of a file, by gdb, in ./stack. */
static void backtrace(const char *program, const char *file)
{
    build_must("gdb -q --batch -ex \"set print frame-arguments none\" "
               "-ex \"bt 60\" ./%.*s %s 2>err.txt | grep \"^#\" | sed 1d "
               ">stack.%s; test -s stack.%s",
               (int)strcspn(program + 2, " "), program + 2, file, file, file);
}

/* Goal: the recording of a program that crashed says the same as its core: gdb
 * shows the same stack, explain the same words and cause, dump the stack after
 * the records, if it shows all. Method: ./core and ./rec of one process. */
static void recording_must(const char *program, const char *ended)
{
    backtrace(program, "core");
    backtrace(program, "rec");
    build_must("diff stack.core stack.rec || (echo \"%s\"; exit 1)", program);
    command_must("explain rec");
    cr_expect_not_null(strstr(build_text, ended), "%s: %s", program,
                       build_text);
}

/* A kind of crash: words of the first line, and of a record that is among the
 * first three with values of the crash; null: none is. */
static const struct kind {
    const char *name, *ended, *record;
} kinds[] = {
    {"null_member", "SIGSEGV: write to address 0x14: offset 20 of a null",
     "store: cut item="},
    {"use_after_free", "SIGSEGV: read of ", "store: drop item="},
    {"call_after_free", "SIGSEGV: call of ", "store: drop item="},
    {"double_free", "SIGABRT: double free: ", "store: release table="},
    {"heap_overflow", "SIGSEGV: write to ", "store: fill table="},
    {"stack_smash", "SIGABRT: stack buffer overflow: ", NULL},
    {"uninitialised", "SIGSEGV: read of ", "store: reuse item="},
    {"wrong_index", "SIGSEGV: write to ", "store: put table="},
    {"bad_cast", "SIGSEGV: call of ", "store: handle object="},
    {"race", "SIGSEGV: read of ", "store: reap item="},
    {"division", "SIGFPE: integer division by zero", "store: mean item="},
    {"assertion", "SIGABRT: failed assertion: ", "store: check item="},
    {"libc_abort", "SIGABRT: ",
     "store: forget item="},
    {"illegal", "SIGILL: illegal instruction", "store: state item="},
    {"bus", "SIGBUS: read of ", "store: map text="},
    {"recursion", "SIGSEGV: stack overflow of thread worker",
     "store: deeper item="}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* True if a text is in build_text after the heading of records, before its
 * fourth line. */
static bool is_among_first(const char *record)
{
    const char *at = strstr(build_text, "the most telling first:\n");
    for (int line = 0; at && line < 4; line++) {
        const char *end = strchr(at, '\n');
        const char *found = strstr(at, record);
        if (found && end && found < end)
            return true;
        at = end ? end + 1 : NULL;
    }
    return false;
}

static unsigned lines_count(void)
{
    unsigned count = 0;
    for (const char *at = build_text; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

/* Goal: a block that was freed twice is named also if the first free() put it into
 * no cache of a thread, with its variable if that has a value. */
Test(explain, freed_twice)
{
    static const char *const levels[] = {"-O0", "-O2"};
    for (size_t i = 0; i < 2; i++) {
        build_must("gcc -g %s -w " BUILD_INCLUDE "-o twice " BUILD_PROGRAMS
                   "/explain_twice.c",
                   levels[i]);
        crash("./twice");
        build_must("eu-stack --core=rec -e ./twice | grep \" main$\"");
        for (int k = 0; k < 2; k++) {
            command_must("explain %s | grep \"number=9 .*freed$\"",
                         k ? "rec" : "core");
            cr_expect_not_null(strstr(build_text, "take job="), "%s", build_text);
            cr_expect_not_null(strstr(build_text, "drop job="), "%s", build_text);
            cr_expect(i == 1 || strstr(build_text, " <- jobs = 0x"), "%s",
                      build_text);
        }
    }
}

/* Goal: the way in which a program ended is right, and the record with the
 * cause is among the first three. Method: sixteen kinds, as compiled for a
 * debugger, in a thread and with a handler that dumps. */
Test(explain, kinds_of_crash)
{
    static const char *const how[] = {"-", "t", "h", "th"};
    for (size_t i = 0; i < KINDS; i++)
        for (size_t k = 0; k < 4; k++) {
            char program[100];
            if (k != i % 4 && !sampled((unsigned)(4 * i + k)))
                continue;
            snprintf(program, sizeof program, "./plain %s %s", kinds[i].name,
                     how[k]);
            crash(program);
            command_must("explain core");
            cr_expect_not_null(strstr(build_text, kinds[i].ended), "%s: %s",
                               program, build_text);
            cr_expect(lines_count() <= 30, "%s: %s", program, build_text);
            if (kinds[i].record)
                cr_expect(is_among_first(kinds[i].record), "%s: %s", program,
                          build_text);
        }
}

Test(explain, recordings)
{
    for (size_t i = 0; i < KINDS; i++) {
        char program[100];
        /* A thread without an alternate stack has no room for a handler. */
        bool in_thread = i % 2 && strcmp(kinds[i].name, "recursion") != 0;
        if (!sampled((unsigned)i))
            continue;
        snprintf(program, sizeof program, "./plain %s %s", kinds[i].name,
                 in_thread ? "th" : "h");
        crash(program);
        recording_must(program, kinds[i].ended);
        if (kinds[i].record)
            cr_expect(is_among_first(kinds[i].record), "%s: %s", program,
                      build_text);
        command_must("dump rec");
        cr_expect_not_null(strstr(build_text, "\nCRASH SIG"), "%s: %s", program,
                           build_text);
        command_must("dump rec --last 1");
        cr_expect_null(strstr(build_text, "CRASH"), "%s: %s", program,
                       build_text);
        command_must("save rec -o saved");
        cr_expect_eq(build_run(RECORDER " explain saved"), 1);
    }
}

/* Goal: RECORDER_DUMP keeps the crash out, or shortens it; a signal that
 * a handler of the program survives is no crash. */
Test(explain, recording_without_a_crash)
{
    build_must("export RECORDER_FILE=rec; ulimit -c 0;"
               "RECORDER_DUMP=crash=0 ./plain illegal h 2>said; "
               "test $(grep -c . said) -lt 4");
    cr_assert_eq(build_run(RECORDER " explain rec"), 1);
    cr_assert_not_null(strstr(build_text, "rec: holds no crash"), "%s",
                       build_text);
    build_must("export RECORDER_FILE=rec; ulimit -c 0;"
               "RECORDER_DUMP=crash=64 ./plain illegal h 2>said; true");
    command_must("explain rec");
    cr_assert_not_null(strstr(build_text, "SIGILL: illegal instruction"));
    cr_assert_not_null(strstr(build_text, "  ...\n"), "%s", build_text);
    build_must("RECORDER_FILE=rec ./plain survives -");
    cr_assert_eq(build_run(RECORDER " explain rec"), 1);
}

/* Goal: optimized code is explained, too; a program without debug information
 * has its signal and stack. */
Test(explain, optimized)
{
    static const char *const names[] = {"call_after_free", "double_free",
                                        "null_member", "bus"};
    for (size_t i = 0; i < 4; i++) {
        char program[100];
        const struct kind *kind = kinds;
        while (strcmp(kind->name, names[i]) != 0)
            kind++;
        snprintf(program, sizeof program, "./fast %s t", names[i]);
        crash(program);
        command_must("explain core");
        cr_expect_not_null(strstr(build_text, "SIG"), "%s", build_text);
        cr_expect(is_among_first(kind->record), "%s: %s", program, build_text);
    }
    build_must("strip -o bare plain");
    crash("./bare call_after_free -");
    command_must("explain core");
    cr_assert_not_null(strstr(build_text, "SIGSEGV: call of "), "%s",
                       build_text);
    cr_assert(is_among_first("store: drop item="), "%s", build_text);
}

/* Goal: the record of the object that was freed and then used is the cause, not
 * perhaps. */
Test(explain, freed_is_sure)
{
    static const char *const names[] = {"use_after_free", "call_after_free",
                                        "double_free"};
    for (size_t i = 0; i < 3; i++) {
        char program[100];
        snprintf(program, sizeof program, "./plain %s h", names[i]);
        crash(program);
        build_must(RECORDER
                   " explain core | grep \"store: .* <- [^p]\" && " RECORDER
                   " explain rec | grep \"store: .* <- [^p]\"");
    }
}

/* Goal: a crash that no record concerns accuses none for sure. */
Test(explain, unrelated_is_perhaps)
{
    static const char *const programs[] = {"./plain unrelated -",
                                           "./fast unrelated th"};
    for (size_t i = 0; i < 2; i++) {
        const char *at;
        crash(programs[i]);
        command_must("explain core");
        cr_assert_not_null(strstr(build_text, "SIGSEGV: write to address 0x0: "
                                              "a null pointer"),
                           "%s", build_text);
        for (at = build_text; (at = strstr(at, "   <- ")); at += 6)
            cr_assert_eq(strncmp(at, "   <- perhaps ", 14), 0, "%s",
                         build_text);
    }
}

/* Goal: the same of 17 programs that use addresses and numbers again, each
 * crashing in two ways that no record concerns; the end is right. */
static void unrelated_must(unsigned optimized)
{
    build_needs("g++");
    build_must("ls " BUILD_PROGRAMS "/unrelated/*.c* >sources");
    build_must("gcc -g -O%u -DRECORDER_COMPILE_HERE " BUILD_INCLUDE
               "-include recorder_dump.h -x c -c /dev/null -o body.o",
               optimized);
    for (unsigned i = 0; i < 17; i++) {
        if (!sampled(i))
            continue;
        build_must(
            "source=$(sed -n %up sources); case $source in *cc) "
            "compiler=g++;; *) compiler=gcc;; esac; "
            "$compiler -g -w -O%u -fstack-protector-strong "
            "-DRECORDER_COMPILE_ONCE " BUILD_INCLUDE
            "-o other $source body.o -lpthread; for end in a b; do sed -n "
            "\"s|^/[*] $end: \\(.*\\) [*]/|\\1|p\" $source >end_$end; "
            "test -s end_$end || exit 1; done",
            i + 1, optimized);
        for (unsigned k = 0; k < 4; k++) {
            const char *crashes = k & 2 ? "b" : "a";
            char program[20];
            snprintf(program, sizeof program, "./other %s", crashes);
            if (!(k & 1))
                crash(program);
            command_must("explain %s >said; head -1 said | grep -E -f end_%s",
                         k & 1 ? "rec" : "core", crashes);
            build_must(
                "! grep \"<- [^p]\" said || (sed -n %up sources; exit 1)",
                i + 1);
        }
    }
}

Test(explain, unrelated_programs)
{
    unrelated_must(0);
}
Test(explain, unrelated_optimized)
{
    unrelated_must(2);
}

/* Goal: of several pointers that may be the null pointer none is named for
 * sure, also where the recording lacks the memory of a member; the variables of
 * an inlined function are in its line. With the source, only those of its line
 * are named. Method: core and recording of a program with a local null pointer
 * that the fault did not use; then its source is gone. */
Test(explain, which_null)
{
    static const char *const files[] = {"core", "rec"};
    build_must("cp " BUILD_PROGRAMS "/null.c . && gcc -g " BUILD_WARNINGS
               BUILD_INCLUDE "-o null null.c");
    build_once("gcc -g -O1 " BUILD_INCLUDE "-o null1 " BUILD_PROGRAMS
               "/null.c");
    crash("./null1");
    command_must("explain core");
    cr_expect_not_null(strstr(build_text, ": a null pointer, perhaps name"),
                       "%s", build_text);
    crash("./null");
    for (size_t i = 0; i < 4; i++) {
        if (i == 2)
            build_must("mv null.c other.c && mkfifo null.c");
        command_must("explain %s", files[i % 2]);
        cr_expect_not_null(
            strstr(build_text,
                   i < 2 ? ": a null pointer, perhaps of->next->length\n"
                         : ": a null pointer, perhaps name or "
                           "of->next->length\n"),
            "%s", build_text);
        cr_expect(strstr(build_text, "  cut null.c:18 of=0x") &&
                      strstr(build_text, " name=0x0\n") &&
                      strstr(build_text, "  main null.c:27 outer=77\n"),
                  "%s", build_text);
    }
}

/* Goal: a pointer with the address of the fault is named, or the member whose
 * address it was, and no null pointer whose member has that offset. */
Test(explain, the_address_of_a_null_member)
{
    for (int i = 0; i < 3; i++) {
        build_must("gcc -g -O%d " BUILD_WARNINGS BUILD_INCLUDE
                   "-o member " BUILD_PROGRAMS "/null_member.c",
                   i);
        crash("./member");
        for (int k = 0; k < 2; k++) {
            command_must("explain %s", k ? "rec" : "core");
            cr_expect_not_null(strstr(build_text,
                                      i < 2 ? "0x8: the value of name, offset "
                                              "8 of a null pointer\n"
                                            : "0x8: offset 8 of a null "
                                              "pointer, perhaps none->name\n"),
                               "-O%d: %s", i, build_text);
        }
    }
}

/* Goal: a stack shows the texts and first members that pointers have, escaped and
 * bounded, none that a recording lacks; an address of letters is also a text. A
 * null pointer is no number 0, and a number id may be of the null pointer's
 * struct; another thread's later record comes before older ones. */
Test(explain, values_shown)
{
    build_once("gcc -g -w " BUILD_INCLUDE "-o shown " BUILD_PROGRAMS
               "/explain_shown.c -lpthread");
    crash("./shown text");
    build_must("for file in core rec; do " RECORDER " explain $file >said; "
               "cat said; grep \"^shown: SIGSEGV: call of an address that "
               "cannot exist: 0x6262626262626262 .bbbbbbbb.$\" said && "
               "grep \"  serve .* s=0x[0-9a-f]* {user=0x[0-9a-f]* "
               ".alice.x1b.1m. in.name=.inner. in.number=-3 "
               "serve=0x6262626262626262 .bbbbbbbb. ...} text=0x[0-9a-f]* "
               ".a constant text, of which forty bytes ar.... changed=0x\" said"
               " || exit; done; ! grep \"text of the start\" said");
    crash("./shown null");
    build_must(RECORDER " explain rec >said; cat said; "
               "! grep \"item=0 .*<- perhaps item\" said && "
               "grep \"item=(nil) .*<- perhaps item\" said && "
               "grep \"item=3 is off .*<- perhaps id\" said");
    crash("./shown late");
    command_must("explain rec | grep -A1 \"most telling first\"");
    cr_expect_not_null(strstr(build_text, "net: closes s="), "%s", build_text);
}

/* Goal: an exception's type and text; cores of programs without recorders; a
 * process that runs. */
Test(explain, others)
{
    if (build_has("g++")) {
        build_must("g++ -g " BUILD_INCLUDE "-o thrown " BUILD_PROGRAMS
                   "/explain.cc -lpthread");
        crash("./thrown");
        for (int i = 0; i < 2; i++) {
            command_must("explain %s", i ? "rec" : "core");
            cr_assert_not_null(strstr(build_text,
                                      "SIGABRT: uncaught exception of type "
                                      "bad_line: no # is allowed\n"),
                               "%s", build_text);
        }
        crash("./thrown client");
        command_must("explain core");
        cr_assert(is_among_first("clients: close client="), "%s", build_text);
        crash("./thrown null last");
        command_must("explain core");
        cr_assert_not_null(strstr(build_text, "a null pointer, perhaps last\n"),
                           "%s", build_text);
    }
    build_must("echo \"int main(void) { return *(volatile int *)4; }\" >n.c && "
               "gcc -g -o none n.c");
    crash("./none");
    command_must("explain core");
    cr_assert_not_null(strstr(build_text, "SIGSEGV: read of address 0x4: "
                                          "offset 4 of a null pointer"),
                       "%s", build_text);
    cr_assert_not_null(strstr(build_text, "  main n.c:1"), "%s", build_text);
    build_must("sleep 100 >out.txt 2>&1 & pid=$! && "
               "until grep -q sleep /proc/$pid/comm; do sleep 0.1; done && " RECORDER
               " explain $pid && kill $pid");
    cr_assert_not_null(strstr(build_text, "no thread crashed"), "%s",
                       build_text);
}

/* Goal: variables of functions in namespaces, also by clang, which writes no table
 * of units; the stack below a handler on another stack. */
Test(explain, other_compilers)
{
    static const char *const compilers[] = {"g++", "clang++"};
    for (int i = 0; i < 2; i++) {
        if (!build_has(compilers[i]))
            continue;
        build_must("%s -g -O1 " BUILD_INCLUDE "-o other " BUILD_PROGRAMS
                   "/explain_other.cc -lpthread",
                   compilers[i]);
        crash("./other null");
        command_must("explain core");
        cr_expect(strstr(build_text, "a null pointer: of->next->id\n") &&
                      strstr(build_text, "of=0x") &&
                      strstr(build_text, " {id=2 next=0x0}"),
                  "%s: %s", compilers[i], build_text);
        crash("./other stack");
        command_must("explain core");
        cr_expect(strstr(build_text, "SIGABRT: stack overflow of ") &&
                      strstr(build_text,
                             " KiB: deeper calls itself again and again\n"),
                  "%s: %s", compilers[i], build_text);
    }
}

/* Goal: a panic of Rust is named, and its stack begins in the program's code. */
Test(explain, rust)
{
    build_needs("rustc");
    build_must("cat >panic.rs <<X\n"
               "fn price(of: &[u32], which: usize) -> u32 { of[which] }\n"
               "fn main() {\n"
               "    let n = std::env::args().count() + 5;\n"
               "    println!(\"{}\", price(&[1, 2, 3], n));\n"
               "}\n"
               "X\n"
               "rustc -g -C panic=abort panic.rs");
    crash("./panic");
    command_must("explain core");
    cr_expect(strstr(build_text, "SIGABRT: a panic of Rust, with its message on "
                                 "stderr\n") &&
                  strstr(build_text, "  panic::price panic.rs:1 ") &&
                  strstr(build_text, " which=6") &&
                  strstr(build_text, "  panic::main panic.rs:4"),
              "%s", build_text);
}

/* Goal: a frame that is larger than the rest of the stack is a stack overflow,
 * with the size of the stack in the core; gdb's stacks are equal. */
Test(explain, large_frame)
{
    build_must("gcc -g -w " BUILD_INCLUDE "-o frame " BUILD_PROGRAMS
               "/explain_frame.c -lpthread");
    crash("./frame");
    command_must("explain core");
    cr_expect_not_null(strstr(build_text,
                              "SIGSEGV: stack overflow of thread frame: a "
                              "frame of "),
                       "%s", build_text);
    cr_expect(is_among_first("images: blur width=9000"), "%s", build_text);
    recording_must("./frame", "SIGSEGV: stack overflow of thread frame: a frame"
                              " of ");
    build_must("gcc -O2 -g -w " BUILD_INCLUDE "-o sorted " BUILD_PROGRAMS
               "/unrelated/sorted.c -lpthread");
    crash("./sorted b");
    recording_must("./sorted", "SIGSEGV: stack overflow of thread sorted: a "
                               "frame of 11 MiB");
}

/* Goal: of a process that hangs, the answer has the deadlock, a thread of it
 * and its records; so has a core without a signal. A stopped one is said to be
 * stopped. */
Test(explain, hangs)
{
    build_must("gcc -g -w " BUILD_INCLUDE "-o frame " BUILD_PROGRAMS
               "/explain_frame.c -lpthread");
    build_must("./frame hangs >out.txt 2>&1 & pid=$!; echo $pid >pid; sleep 2; "
               RECORDER " explain $pid");
    cr_expect_not_null(strstr(build_text, "frame: DEADLOCK of 2 threads"),
                       "%s", build_text);
    cr_expect(strstr(build_text, "; holds mutex ") &&
                  strstr(build_text, "images: locks ") &&
                  strstr(build_text, "DEADLOCK of 2 threads: each waits"),
              "%s", build_text);
    build_must("./frame joins >out.txt 2>&1 & pid=$!; sleep 2; " RECORDER
               " explain $pid; kill $pid");
    cr_expect(strstr(build_text, "frame; holds mutex ") &&
                  strstr(build_text, "  both explain_frame.c:"),
              "main is in no deadlock: %s", build_text);
    build_must("gcore -o still $(cat pid) >out.txt 2>&1; " RECORDER
               " explain still.$(cat pid)");
    cr_expect_not_null(strstr(build_text, "frame: DEADLOCK of 2 threads"),
                       "%s", build_text);
    build_must("kill -STOP $(cat pid); " RECORDER
               " explain $(cat pid); kill -9 $(cat pid)");
    cr_expect_not_null(strstr(build_text, "frame: STOPPED for "), "%s",
                       build_text);
}

/* Goal: of a hang that nothing proves, the answer has the waits, the last records
 * and a pipe whose bytes wait; a recording of recorder run has its deadlock, or
 * its waits; one of a program that exited has none. */
Test(explain, hangs_without_proof)
{
    build_must("gcc -g -w " BUILD_INCLUDE "-o frame " BUILD_PROGRAMS
               "/explain_frame.c -lpthread");
    build_must("./frame waits >out.txt 2>&1 & pid=$!; sleep 2; " RECORDER
               " explain $pid; kill $pid");
    cr_expect(strstr(build_text, "frame: no thread crashed, and in 4 s nothing "
                                 "proved a hang\n\nLast records:\n  1 [") &&
                  strstr(build_text, "frame waits for condition never"),
              "%s", build_text);
    build_must("(echo x; exec sleep 20 2>said) | sleep 20 & sleep 1; " RECORDER
               " explain $!; kill $!");
    cr_expect(strstr(build_text, "a hang, but 2 bytes wait in pipe ") &&
                  strstr(build_text, " (descriptor 0)\n"),
              "%s", build_text);
    build_must("for how in hangs waits; do " RECORDER
               " run -q -o $how.rec ./frame $how >out.txt 2>&1 & sleep 3; "
               "kill -9 $(pgrep -P $!) $!; "
               "done; true");
    command_must("explain hangs.rec");
    cr_expect(strstr(build_text, "frame: DEADLOCK of 2 threads, no crash: ") &&
                  strstr(build_text, "\n\nLast records:\n  ") &&
                  strstr(build_text, "\nDEADLOCK of 2 threads: each waits"),
              "%s", build_text);
    command_must("explain waits.rec");
    cr_expect(strstr(build_text, "frame: no crash: without a note") &&
                  strstr(build_text, "waits for condition never"),
              "%s", build_text);
    if (build_has("python3"))
        build_must("for how in hangs waits; do " RECORDER " explain --json "
                   "$how.rec >$how.json && python3 " BUILD_PROGRAMS
                   "/explain.py $how $how.json || exit; done");
    build_must(RECORDER " run -q --always -o exits.rec true");
    cr_expect_eq(build_run(RECORDER " explain exits.rec"), 1);
}

/* Goal: coredump:PID asks coredumpctl. Method: another one in its place. */
Test(explain, coredumpctl)
{
    crash("./plain illegal -");
    build_must("mkdir bin; echo \"test \\\"\\$*\\\" = \\\"--quiet dump 4711\\\" "
               "&& cat core\" >bin/coredumpctl; chmod +x bin/coredumpctl");
    build_must("PATH=$PWD/bin:$PATH " RECORDER " explain coredump:4711");
    cr_assert_not_null(strstr(build_text, "SIGILL: illegal instruction\n"),
                       "%s", build_text);
    cr_assert_eq(build_run("PATH=$PWD/bin:$PATH " RECORDER
                           " explain coredump:4712"), 1);
}

/* Goal: a recording whose program the kernel killed for memory says so. */
Test(explain, out_of_memory)
{
    const char *const group = "/sys/fs/cgroup/memory/explain";
    if (geteuid() != 0 || access("/sys/fs/cgroup/memory/tasks", W_OK) != 0 ||
        access("/dev/kmsg", R_OK) != 0) {
        build_skip("no control group limits memory");
        return;
    }
    build_must("gcc -g -w " BUILD_INCLUDE "-o frame " BUILD_PROGRAMS
               "/explain_frame.c -lpthread");
    build_run("mkdir %s; echo 30M >%s/memory.limit_in_bytes; "
              "sh -c \"echo \\$\\$ >%s/cgroup.procs; RECORDER_FILE=rec exec "
              "./frame eats\" >out.txt 2>&1; rmdir %s; true",
              group, group, group, group);
    cr_assert_eq(build_run(RECORDER " explain rec"), 1);
    cr_assert_not_null(
        strstr(build_text, "rec: holds no crash: SIGKILL: the memory limit of "
                           "its control group was reached: "),
        "%s", build_text);
    command_must("list rec | grep \"^ENDED SIGKILL: the memory limit\"");
}

/* Goal: --json is one object, with the same records, and no waits of a crash. */
Test(explain, json)
{
    build_needs("python3");
    crash("./plain double_free -");
    command_must("explain --json core >out.json");
    build_must("python3 " BUILD_PROGRAMS "/explain.py json out.json");
}

/* Goal: `explain` finds the cause in records of programs of four styles, and
 * blames none that has nothing to do with the crash. Method: each 15th of the 60
 * crashes of `make crashes`. */
Test(explain, seeded_crashes)
{
    build_needs("python3", "g++");
    build_must("SAMPLE=%d python3 " BUILD_PROGRAMS "/seeded/seeded.py " RECORDER
               " seeded 1", 15);
}

/* Goal: explain shows the stack of a crash by the text of its dump as by its
 * core, also of a log with a text before each line, of a moved program, but not
 * of another build. Method: all kinds, not optimized and optimized. */
Test(explain, texts)
{
    build_needs("python3");
    setenv("RECORDER_DUMP", "to=text", 1);
    for (unsigned i = 0; i < KINDS; i++) {
        char program[100];
        if (!sampled(i))
            continue;
        snprintf(program, sizeof program, "./%s %s %s",
                 i % 3 == 2 ? "fast" : "plain", kinds[i].name,
                 i == KINDS - 1 ? "h" : "th"); /* recursion */
        build_must("rm -f text");
        crash(program);
        command_must("explain --json core >core.json");
        command_must("explain --json text >text.json");
        build_must("python3 " BUILD_PROGRAMS "/explain.py stacks core.json "
                   "text.json || { echo %s; cat text; exit 1; }",
                   program);
    }
    build_must("rm text");
    crash("./plain division th");
    build_must("sed \"s/^/Nov 27 12:00:00 host app[9]: /\" text >log; "
               "mv plain moved");
    command_must("explain log");
    cr_expect_null(strstr(build_text, "  division "), "%s", build_text);
    command_must("explain -e fast log 2>&1");
    cr_expect_not_null(strstr(build_text, "of another build-id"), "%s",
                       build_text);
    command_must("explain -e moved log");
    cr_expect(strstr(build_text, "explain.c:") &&
                  strstr(build_text, "\nThe last records of the text:\n"),
              "%s", build_text);
}

/* Goal: damaged cores and texts neither crash nor hang it. Method: words all over
 * a file are overwritten by chance, and files are cut. */
Test(explain, hostile)
{
    build_needs("python3");
    setenv("RECORDER_DUMP", "to=text", 1);
    crash("./plain use_after_free th");
    for (unsigned i = 0; i < scaled(60); i++) {
        int status;
        build_must("python3 " BUILD_PROGRAMS "/explain.py damage core bad %u",
                   i);
        status = build_run("timeout 60 " RECORDER " explain bad >out.txt 2>&1");
        cr_assert(status == 0 || status == 1, "%u: status %d", i, status);
        build_must("python3 " BUILD_PROGRAMS "/explain.py damage rec bad %u",
                   i);
        status = build_run("timeout 60 " RECORDER " explain bad >out.txt 2>&1; "
                           "one=$?; timeout 60 " RECORDER
                           " dump bad >out.txt 2>&1 || test $? = 1 && exit $one");
        cr_assert(status == 0 || status == 1, "%u: status %d", i, status);
        build_must("python3 " BUILD_PROGRAMS "/explain.py damage text bad %u",
                   i);
        status = build_run("timeout 60 " RECORDER " explain bad >out.txt 2>&1");
        cr_assert(status == 0 || status == 1, "%u: status %d", i, status);
    }
}
