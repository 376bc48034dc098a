/* The commands of gdb print the same as the recorder command, for all
 * sources. */
/* SPDX-License-Identifier: MIT */
/*
 * Real gdb in batch mode, on processes, core files, recordings and gdbserver.
 * Its functions may not be called: `recorder` runs no code of the program.
 */
#include "harness/command.h"

#define SCRIPT TEST_ROOT "/gdb/recorder-gdb.py"
#define GDB                                                                    \
    "gdb -nx -q -batch -ex \"set may-call-functions off\" -ex \"set "          \
    "remotetimeout 60\" -ex \"source " SCRIPT "\" "
#define WITH BUILD_WARNINGS BUILD_INCLUDE
#define PROGRAM BUILD_PROGRAMS "/gdb.c"
#define LIBRARY BUILD_PROGRAMS "/gdb_library.c"
/* The program links one library, and opens another. */
#define LINK "-Wl,--no-as-needed -L. -llinked -Wl,-rpath,. -lpthread -ldl"

TestSuite(gdb, .init = build_begin, .fini = build_end);

/* Compiles the program and its libraries. */
static void compile(const char *flags, bool alone)
{
    if (alone) {
        build_must("gcc %s " WITH "-DALONE -o program " PROGRAM " -lpthread",
                   flags);
        return;
    }
    build_must("gcc %s " WITH "-DNAME=linked -fPIC -shared -o liblinked.so "
               LIBRARY, flags);
    build_must("gcc %s " WITH "-DNAME=opened -fPIC -shared -o libopened.so "
               LIBRARY, flags);
    build_must("gcc %s " WITH "-o program " PROGRAM " " LINK, flags);
}

/* Starts the program; its id is in the file `pid`, and is returned. */
static int start(const char *how)
{
    int pid;
    build_must("rm -f ready; %s >output 2>&1 & echo $! >pid; "
               "until test -e ready; do sleep 0.01; kill -0 $!; done; cat pid",
               how);
    pid = atoi(build_text);
    command_rests(pid);
    return pid;
}

static void stop(int pid)
{
    build_must("kill -9 %d; while kill -0 %d && ! grep -q \"^State:.Z\" "
               "/proc/%d/status; do sleep 0.01; done 2>&-", pid, pid, pid);
}

/* The program's core file. */
static void leave_core(const char *how)
{
    build_must("rm -f core*; ulimit -c unlimited; %s >output 2>&1; "
               "mv core* core; test -s core", how);
}

/* The whole of `list` and `dump` and parts of the last must be the same in gdb
 * as of the command; the time in the first line of a dump is left out, and how
 * the program of a recording ended. So must `threads`, but for how they were
 * read; of a recording, which has no stacks, and after a stub, it is the list's
 * part. */
static void must_agree(const char *gdb, const char *source)
{
    const char *verb = strstr(gdb, "remote") ? "list" : "threads";
    build_must(GDB "%s "
               "-ex \"pipe recorder list | cat >gdb.list\" "
               "-ex \"pipe recorder dump | cat >gdb.dump\" "
               "-ex \"pipe -d @ recorder dump n.*|OPENED last 4 @ "
               "cat >gdb.last\" "
               "-ex \"pipe recorder threads | cat >gdb.threads\"", gdb);
    build_must("set -e; " RECORDER " list %s | sed \"/^ENDED/d\" >list; "
               RECORDER " dump %s >dump; "
               RECORDER " dump -n \"n.*|OPENED\" --last 4 %s >last; "
               "sed -n \"/^THREAD/,/^\\$/{/./p}\" list >threads; "
               RECORDER " %s %s >told 2>&- && "
               "grep -q \"different stack\" told; mv told threads; "
               "sed -i \"/different stack/s/Read .*//\" threads gdb.threads; "
               "sed -i \"1s/AT .* UTC//\" *dump *last; "
               "test -s list && test -s dump && for part in list dump last "
               "threads; do diff $part gdb.$part || exit; done",
               source, source, source, verb, source);
}

/* The last output of gdb must contain each of these lines. */
static void said(const char *texts)
{
    char text[256];
    int size;
    for (; *texts; texts += size + 1) {
        cr_assert_eq(sscanf(texts, "%255[^\n]%n", text, &size), 1);
        cr_expect(strstr(build_text, text), "not \"%s\" of: %s\n%s", text,
                  build_command, build_text);
    }
}

/* Goal: list, dump and threads are the text of the recorder command, of a
 * process, a core file, a recording that was saved and one that the program
 * kept. Method: programs of each kind, each in all these states. */
static void everywhere(const char *flags, bool alone)
{
    const char *how = alone ? "./program" : "./program wait ./libopened.so";
    char source[64], attach[64];
    int pid;
    compile(flags, alone);
    pid = start(how);
    sprintf(source, "%d", pid);
    sprintf(attach, "-p %d", pid);
    must_agree(attach, source);
    build_must(RECORDER " save %d -o saved", pid);
    stop(pid);
    must_agree("./program saved", "saved");
    must_agree("-c saved", "saved");
    leave_core(alone ? "./program abort" : "./program abort ./libopened.so");
    must_agree("./program core", "core");
    build_must("rm -f kept");
    sprintf(source, "RECORDER_FILE=kept %s", how);
    stop(start(source));
    must_agree("./program kept", "kept");
    build_must("rm -f kept");
    leave_core("RECORDER_FILE=kept ./program abort");
    must_agree("./program core", "core");
    build_must("mv kept away"); /* gdb shows zeros for missing memory */
    build_must(GDB "./program core -ex \"pipe recorder list | cat >gdb.list\"; "
               RECORDER " list core | diff - gdb.list && "
               "grep \"its rings are not in there\" gdb.list");
}
Test(gdb, position_independent, .init = build_long) { everywhere("-g -fPIE -pie", false); }
Test(gdb, at_a_fixed_address, .init = build_long)
{
    everywhere("-g0 -no-pie -fno-pie", false);
}
Test(gdb, stripped, .init = build_long) { everywhere("-O2 -s", false); }
Test(gdb, stripped_and_static, .init = build_long)
{
    everywhere("-s -static", true);
}
/* A core file as QEMU writes it: without a list of files, and without their
 * contents. The formats follow a gap between sections. */
Test(gdb, core_without_files, .init = build_long)
{
    compile("-static -Wl,-z,noseparate-code", true);
    leave_core("./program abort");
    build_must("sed -i \"s/ELIF/NONE/\" core");
    must_agree("./program core", "-e ./program core");
}
Test(gdb, of_32_bits, .init = build_long)
{
    if (build_can("gcc", "-m32"))
        everywhere("-g -m32", false);
}

/* Goal: the same by gdbserver. Method: as above, with and without symbols. */
Test(gdb, remote, .init = build_long)
{
    static const char *const flags[] = {"-g", "-s"};
    char source[64], target[256];
    for (int i = 0; i < 2; i++) {
        int pid;
        compile(flags[i], false);
        pid = start("./program wait ./libopened.so");
        sprintf(source, "%d", pid);
        sprintf(target,
                "-ex \"target remote | gdbserver --once --attach - %d\"", pid);
        must_agree(target, source);
        stop(pid);
    }
}

/* Goal: `recorder at` shows the record, its place, and selects its thread.
 * Method: the kernel ids of the threads are in the table; gdb tells which it
 * has selected. Order 8 is the second record of `reader`, in line 44. */
static void at_selects(const char *gdb, bool lines)
{
    char id[64];
    build_must("sed -n \"s/^3 *\\([0-9]*\\) *reader .*/\\1/p\" list");
    sprintf(id, "%d)", atoi(build_text));
    cr_assert_str_neq(id, "0)");
    build_must(GDB "%s -ex \"recorder at 8\" -ex \"echo >\\n\" -ex thread "
               "-ex \"recorder at 2\"", gdb);
    said("8 [\n T3] io: load 0.25, 1 2 3 4 \nIts thread, short (\n"
         "), has ended.\n");
    said(lines ? "44\t    record(io, \"load %.2f\n" : "/gdb.c:44\n");
    cr_assert(strstr(strstr(build_text, "\n>"), id), "%s is not selected:\n%s",
              id, build_text);
}
Test(gdb, at_selects_the_thread_that_wrote, .init = build_long)
{
    static const char *const flags[] = {"-g -O2", "-g0 -s"};
    for (int i = 0; i < 2; i++) {
        char source[64], gdb[128];
        int pid;
        compile(flags[i], true);
        pid = start("./program");
        sprintf(source, "%d", pid);
        sprintf(gdb, "-p %d", pid);
        must_agree(gdb, source);
        at_selects(gdb, i == 0);
        sprintf(gdb, "-ex \"target remote | gdbserver --once --attach - %d\"",
                pid);
        at_selects(gdb, i == 0);
        stop(pid);
        leave_core("./program abort");
        must_agree("./program core", "core");
        at_selects("./program core", i == 0);
    }
    stop(start("RECORDER_FILE=kept ./program"));
    build_must(GDB "./program kept -ex \"recorder at 8\"");
    said("Its thread was reader (\n; a recording has no stacks.\n");
    cr_assert_not_null(strstr(build_text, "this recording holds no crash"), "%s",
                       build_text);
}

/* Goal: it shows the program's source, even if code of the recorder comes last
 * before the call returns, for example the conversion of an integer to a
 * double; with -flto no function has a file. */
Test(gdb, at_shows_source_of_the_program, .init = build_long)
{
    static const char *const flags[] = {"-O1", "-O2 -flto=1"};
    build_must("cat >at.c <<X\n"
               "#include \"recorder_dump.h\"\n"
               "#include <stdlib.h>\n"
               "RECORDER(net, 64)\n"
               "int main(void)\n"
               "{\n"
               "    char text[] = \"text\";\n"
               "    for (int i = 0; i < 5; i++)\n"
               "        record(net, \"%%d %%s %%f\", i, text, i * .5);\n"
               "    abort();\n"
               "}\nX\n");
    for (int i = 0; i < 2; i++) {
        build_must("gcc -g %s " WITH "-o at at.c && " GDB "./at -ex run "
                   "-ex \"recorder dump last 1\" -ex \"recorder at 2\"",
                   flags[i]);
        cr_expect_not_null(strstr(build_text, "\n8\t        record(net, \"%d"),
                           "%s", build_text);
        cr_expect_null(strstr(build_text, "arguments.h"), "%s", build_text);
    }
}

/* Goal: `recorder set` changes and clears the running program, or does nothing.
 * Method: the recorder command shows the results. */
Test(gdb, set_and_clear)
{
    int pid;
    compile("-g0", true);
    pid = start("./program");
    build_must(GDB "-p %d -ex \"recorder set net=trace i.*=off retries=-7\" "
               "-ex \"recorder set net=on nut=on\" -ex \"recorder set net=of\" "
               "-ex \"recorder set n[=on\" -ex \"recorder set\" || :", pid);
    said("recorder: no recorder is named nut; nothing was changed\n"
         "recorder: net=of: on, off, trace, freeze, thaw or a number\n"
         "recorder: n[: missing ]\n"
         "recorder: NAME=VALUE is missing\n");
    build_must(RECORDER " list %d | grep -e \" trace  *Bytes\" "
               "-e \" off  *Reads\" -e \"retries  *-7 \" | wc -l | grep 3",
               pid);
    build_must(RECORDER " dump %d | grep \" 11 RECORDS\"", pid);
    build_must(GDB "-p %d -ex \"recorder set clear\"", pid);
    build_must(RECORDER " dump %d | grep \" 0 RECORDS\"", pid);
    stop(pid);
    leave_core("./program abort");
    build_must(GDB "./program core -ex \"recorder set net=on\" "
               "-ex \"echo >\\n\" -ex \"recorder set clear\" || :");
    said(">\nrecorder: this is no running process: nothing there can be set\n");
    cr_assert(strstr(strchr(build_text, '>'), "no running process"));
}

/* Goal: help, and completion of commands, names and values. */
Test(gdb, help_and_completion)
{
    compile("-g", true);
    leave_core("./program abort");
    build_must(GDB "./program core -ex \"help recorder\" "
               "-ex \"help recorder dump\" "
               "-ex \"complete recorder d\" -ex \"complete recorder dump n\" "
               "-ex \"complete recorder dump io \" "
               "-ex \"complete recorder set net\" "
               "-ex \"complete recorder set io=o\" "
               "-ex \"complete recorder set io=on ret\"");
    said("recorder list -- Show the recorders\nrecorder dump -- Print\n"
         "recorder threads -- Show\nrecorder at -- Show one record\n"
         "recorder set -- Turn\n"
         "Usage: recorder dump [REGEX] [last N]\n");
    cr_assert(strstr(build_text, "\nrecorder dump\n"
                                 "recorder dump net\n"
                                 "recorder dump io last\n"
                                 "recorder set net=freeze\n"
                                 "recorder set net=off\n"
                                 "recorder set net=on\n"
                                 "recorder set net=thaw\n"
                                 "recorder set net=trace\n"
                                 "recorder set io=off\n"
                                 "recorder set io=on\n"
                                 "recorder set io=on retries=freeze\n"
                                 "recorder set io=on retries=off\n"
                                 "recorder set io=on retries=on\n"
                                 "recorder set io=on retries=thaw\n"
                                 "recorder set io=on retries=trace\n"),
              "%s", build_text);
}

/* The program has measured no rate of its ticks: each reader measures it
 * again. */
#define NO_TIMES " | sed \"s/^\\([0-9]* \\[\\)[0-9]*[.][0-9]*/\\1/\" "

/* Goal: each of several libraries that share nothing can be chosen, as the
 * command does by --registry; a line reports that there are several. */
Test(gdb, several_registries, .init = build_long)
{
    char gdb[64], address[32], *at;
    int pid;
    compile("-g", false);
    build_must("gcc " WITH "-o host " BUILD_PROGRAMS "/command_host.c -ldl && "
               "for i in one two; do gcc -O2 -fPIC -shared " WITH
               "-DPART=$i -o $i.so " BUILD_PROGRAMS "/command_part.c; done");
    build_must("./host ./one.so:one ./two.so:two >output 2>&1 & echo $! >pid; "
               "until test -s output; do sleep 0.01; done; cat pid");
    pid = atoi(build_text);
    sprintf(gdb, "-p %d", pid);
    build_must(GDB "%s -ex \"recorder list\" -ex \"recorder dump\"", gdb);
    at = strstr(build_text, "shows another: ");
    cr_assert(at && sscanf(at, "shows another: %31s", address) == 1, "%s",
              build_text);
    cr_assert(strstr(at + 1, "shows another: "), "%s", build_text);
    build_must("set -e; " RECORDER " dump %d 2>&1 | grep -v ^FLIGHT" NO_TIMES
               ">dump; " GDB "%s -ex \"recorder dump\" 2>&1 | "
               "sed -n \"/^DUMP/,/another:/p\"" NO_TIMES "| sort >gdb.dump; "
               "sed \"s/^recorder: [0-9]*: //\" dump | sort | diff - gdb.dump",
               pid, gdb);
    build_must(RECORDER " dump --registry %s %d | tail -n +2" NO_TIMES
               ">dump && " GDB "%s -ex \"set recorder-registry %s\" "
               "-ex \"recorder dump\" 2>&1 | sed -n \"/^DUMP/,/3$/p\"" NO_TIMES
               "| diff dump -", address, pid, gdb, address);
    build_must(GDB "%s -ex \"set recorder-registry nothing\" "
               "-ex \"show recorder-registry\" "
               "-ex \"set recorder-registry 16\" -ex \"recorder list\" || :",
               gdb);
    said("recorder: nothing: No symbol\nthat is read: 0.\n"
         "recorder: no recorder in it\n");
    stop(pid);
}

/* Goal: errors are reported, and nothing is guessed. */
Test(gdb, errors, .init = build_long)
{
    compile("-g", true);
    leave_core("./program abort");
    build_must(GDB "./program core -ex \"recorder dump n[\" "
               "-ex \"recorder dump net io\" -ex \"recorder dump net last\" "
               "-ex \"recorder dump last -1\" -ex \"recorder at\" "
               "-ex \"recorder at x1\" -ex \"recorder at 99999\" "
               "-ex \"recorder at 0\" -ex \"recorder at 4\" "
               "-ex \"recorder dmup\" -ex \"recorder list net\" || :");
    said("recorder: n[: missing ]\n"
         "recorder: io: only one regular expression\n"
         "Usage: recorder dump [REGEX] [last N]\n"
         "recorder: the last how many?\n"
         "recorder: -1 is no number\n"
         "recorder: one order\n"
         "Usage: recorder at ORDER\n"
         "recorder: x1 is no number\n"
         "recorder: no record has order 99999: none was given it yet\n"
         "recorder: no record has order 0: it was overwritten\n"
         "recorder: no record has order 4: it was overwritten or cleared, or "
         "is part of the one before it\n"
         "recorder: there is no command dmup\n"
         "recorder: net is not taken\n");
    build_must(GDB "./program -ex \"recorder dump\" || :");
    said("recorder: no program runs here, and no core file or recording\n");
    build_must(GDB "sleep -ex starti -ex \"recorder dump\" || :");
    said("recorder: no recorder in it\n");
    build_must("RECORDER_LIBRARY=/nowhere " GDB
               "-ex \"recorder dump\" || :");
    said("recorder: no librecorder.so.1: \nlooked for /nowhere\n");
    build_must("RECORDER_LIBRARY=/etc/passwd " GDB "-ex \"recorder dump\" "
               "|| :");
    said("recorder: /etc/passwd: \n");
    build_must(GDB "./program -ex \"break abort\" -ex \"run abort\" "
               "-ex \"set var *(int *)((char *)&recorder_registry + 24) = 99\" "
               "-ex \"recorder dump\" || :");
    said("recorder: was written by another version of recorder.h (layout 99\n");
}

/* Goal: a large dump takes seconds, of a core file and by gdbserver. */
Test(gdb, speed, .init = build_long)
{
    int pid;
    compile("-O2 -DSLOTS=131072", true);
    pid = start("./program 100000");
    build_must("set -e; timeout 200 " GDB
               "-ex \"target remote | gdbserver --once --attach - %d\" "
               "-ex \"pipe recorder dump | cat >gdb.dump\"; "
               RECORDER " dump %d >dump; "
               "sed -i \"1s/AT .* UTC//\" *dump; cmp dump gdb.dump; "
               "grep -c \"io: record \" dump | grep -x 100000", pid, pid);
    stop(pid);
}

/* -------------------------------------------------------------- threads -- */

/* Runs gdb until it says something: threads take their time to wait. */
static void until(const char *gdb, const char *says)
{
    for (int i = 0; i < 50; i++) {
        build_must(GDB "%s", gdb);
        if (strstr(build_text, says))
            return;
    }
    cr_assert_fail("not \"%s\" of: %s\n%s", says, build_command, build_text);
}
/* Both commands of gdb, and a deadlock as each must tell it. */
static void must_name(const char *source, const char *head, const char *texts)
{
    static const char *const verbs[] = {"threads", "threads --locks"};
    for (int i = 0; i < 2; i++) {
        const char *at;
        char gdb[256];
        snprintf(gdb, sizeof gdb, "%s -ex \"echo >\\n\" -ex \"recorder %s\"",
                 source, verbs[i]);
        until(gdb, head);
        at = strstr(build_text, "\n>\n");
        cr_assert(at && strncmp(at + 3, head, strlen(head)) == 0, "%s: %s",
                  verbs[i], build_text);
        said(texts);
    }
}
/* A program with a deadlock, alive and from its core file. */
static void deadlock(const char *line, const char *texts, const char *dead)
{
    char gdb[256];
    pid_t pid = command_start(line);
    snprintf(gdb, sizeof gdb, "-p %d", (int)pid);
    must_name(gdb, "DEADLOCK of 2 threads: each waits for the next",
              texts);
    build_must("gdb -p %d --batch -ex \"generate-core-file core\"", (int)pid);
    must_name("-c core", "DEADLOCK of 2 threads: ", dead);
    if (strstr(line, "/recorder run")) {
        command_stop(pid);
        must_name("-c rec", "DEADLOCK of 2 threads: ", texts);
    }
}

/* Goal: a recording that is cut while gdb's library reads its threads does not
 * end gdb. Method: Python in its place, and a file that is cut and made whole
 * again and again until both were seen. */
Test(gdb, threads_of_a_file_that_is_cut)
{
    build_must("gcc -o modes " BUILD_PROGRAMS "/run_modes.c -lpthread && "
               RECORDER " run -q -o whole ./modes threads 8");
    build_must("python3 " BUILD_PROGRAMS "/gdb_cut.py whole " TEST_ROOT
               "/build/librecorder.so");
}

/* Goal: gdb tells the deadlock of a program that knows no recorder, and of one
 * that recorder run runs, with who made which thread: of the process, its core
 * file and the recording of one that was killed. */
Test(gdb, deadlocks_are_named, .init = build_long)
{
    build_must("gcc -g " BUILD_INCLUDE "-o threads " BUILD_PROGRAMS
               "/threads.c -lpthread");
    deadlock("./threads two",
             " deposit waits for mutex bank of \n withdraw waits for mutex "
             "cash of \n, at transfer threads.c:\n",
             " waits for mutex bank of \n, at transfer threads.c:\n");
    deadlock(RECORDER " run -q -o rec ./threads two",
             " deposit holds cash, taken at \n waits for mutex bank of T\n < "
             "withdraw threads.c:\n",
             " deposit holds cash, taken at \n waits for mutex bank of T\n");
}

/* Goal: a single thread is shown by number, id and name; an unknown name is
 * reported. So is a source without threads. */
Test(gdb, threads_are_chosen)
{
    pid_t pid;
    build_must("gcc -g " BUILD_INCLUDE "-o threads " BUILD_PROGRAMS
               "/threads.c -lpthread");
    pid = command_start("./threads two");
    build_must(GDB "-p %d -ex \"recorder threads withdraw\"", (int)pid);
    said(" withdraw waits \nRead while a debugger had the process stopped.\n");
    cr_assert_null(strstr(strstr(build_text, "different stack"), "deposit"));
    build_must(GDB "-p %d -ex \"recorder threads nobody\" "
                   "-ex \"recorder threads --locks too\" || :",
               (int)pid);
    said("recorder: no thread is nobody\n"
         "recorder: no thread is --locks too\n");
    build_must(GDB "-ex \"target remote | gdbserver --once --attach - %d\" "
                   "-ex \"recorder threads --locks\" || :",
               (int)pid);
    said("not through a remote stub\n");
}

/* Goal: found by itself in the places where `make install` puts it, too.
 * Method: the files at those places below another folder. */
Test(gdb, installed)
{
    compile("-g", true);
    leave_core("./program abort");
    build_must("mkdir -p usr/share/recorder usr/lib/python3/dist-packages && "
               "cp " SCRIPT " usr/share/recorder && "
               "cp -r " TEST_ROOT "/python/recorder "
               "usr/lib/python3/dist-packages && "
               "cp " TEST_ROOT "/build/librecorder.so.1 usr/lib");
    build_must("gdb -nx -q -batch ./program core "
               "-ex \"source usr/share/recorder/recorder-gdb.py\" "
               "-ex \"recorder dump\" | grep \" T1] net: all is recorded\"");
}
