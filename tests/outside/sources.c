/* The command reads every kind of program, running or dead, or says why not. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(sources, .init = build_begin, .fini = build_end, .timeout = 300);

/* ----------------------------------------------------------- executables -- */

/* Goal: for any kind of executable and any width of words, the command shows
 * the program's own dump. Method: a program dumps all kinds of records, then
 * waits, or leaves a core file; the command's dump of either is compared with
 * its dump, byte for byte. */
static void executable_core(const char *compiler, const char *core)
{
    char text[64];
    pid_t pid;
    build_needs_flags(strncmp(compiler, "g++", 3) == 0     ? "g++"
                      : strncmp(compiler, "clang", 5) == 0 ? "clang"
                                                           : "gcc",
                      strstr(compiler, "-m32") ? "-m32" : "");
    command_build("program", compiler);
    command_core("./program", "in.txt");
    command_must_dump(core, compiler);
    pid = command_start("./program everything in.txt");
    snprintf(text, sizeof text, "%d", (int)pid);
    command_must_dump(text, compiler);
    command_stop(pid);
}
static void executable(const char *compiler)
{
    executable_core(compiler, "core");
}
Test(sources, position_independent, .init = build_long) { executable("gcc -O2 -g -fPIE -pie"); }
Test(sources, at_a_fixed_address, .init = build_long)
{
    executable("gcc -O2 -fno-pie -no-pie");
}
Test(sources, static_, .init = build_long) { executable("gcc -O2 -static"); }
Test(sources, static_pie, .init = build_long)
{
    executable("gcc -O2 -static-pie -fPIE");
}
Test(sources, stripped, .init = build_long) { executable("gcc -O2 -s"); }
Test(sources, stripped_static, .init = build_long)
{
    executable("gcc -O2 -s -static");
}
Test(sources, without_debug_information, .init = build_long)
{
    executable("gcc -O0 -g0");
}
/* Nothing proves that the file is the program: the user names it. */
Test(sources, without_build_id, .init = build_long)
{
    executable_core("gcc -O2 -Wl,--build-id=none",
                    "core --executable program");
}
Test(sources, optimized_as_one, .init = build_long)
{
    executable("gcc -O3 -flto -Wl,-z,now");
}
Test(sources, hidden, .init = build_long)
{
    executable("gcc -O2 -fvisibility=hidden");
}
Test(sources, clang, .init = build_long) { executable("clang -O2"); }
Test(sources, cxx, .init = build_long)
{
    executable("g++ -O2 -x c++ -std=c++11");
}
Test(sources, words_of_32_bits, .init = build_long) { executable("gcc -m32 -O2"); }
Test(sources, words_of_32_bits_static, .init = build_long)
{
    executable("gcc -m32 -s -static");
}

/* Goal: cores of other machines, of either byte order and word size. Method:
 * clang compiles for them, an emulator runs the program and leaves its core. */
static void machine(const char *target, const char *emulator, const char *more)
{
    static const char flags[] =
        "-static -O1 -isystem /usr/$t/include -L/usr/$t/lib -B/usr/$t/lib "
        "-L/usr/lib/gcc-cross/$t/12 -B/usr/lib/gcc-cross/$t/12 "
        "--ld-path=/usr/bin/$t-ld";
    build_needs("clang", emulator);
    if (build_run("t=%s && echo \"int main(void) { return 0; }\" >can.c && "
                  "clang --target=$t %s %s -o can can.c -lpthread && %s ./can",
                  target, flags, more, emulator) != 0)
        build_skip("clang --target=%s builds nothing here", target);
    build_must("t=%s && clang --target=$t %s %s " BUILD_INCLUDE
               "-o program " BUILD_PROGRAMS "/command.c -lpthread",
               target, flags, more);
    build_run("ulimit -c unlimited && %s ./program core in.txt", emulator);
    build_must("mv qemu_*.core core");
    command_must_dump("core --executable program", target);
}
Test(sources, mips, .init = build_long)
{
    machine("mips-linux-gnu", "qemu-mips", "");
}
Test(sources, powerpc, .init = build_long)
{
    machine("powerpc-linux-gnu", "qemu-ppc", "");
}
Test(sources, arm, .init = build_long)
{
    machine("arm-linux-gnueabihf", "qemu-arm", "");
}
Test(sources, aarch64, .init = build_long)
{
    machine("aarch64-linux-gnu", "qemu-aarch64", "");
}
Test(sources, s390x, .init = build_long)
{
    machine("s390x-linux-gnu", "qemu-s390x", "-march=z10");
}

/* ------------------------------------------------------------- libraries -- */

static void build_parts(void)
{
    static const char *const parts[] = {"one", "two"};
    for (int i = 0; i < 2; i++)
        build_must("gcc -O2 -fPIC -shared " BUILD_INCLUDE
                   "-DPART=%s -o lib%s.so " BUILD_PROGRAMS "/command_part.c",
                   parts[i], parts[i]);
    build_must("gcc -O2 " BUILD_INCLUDE "-DOWN -o host " BUILD_PROGRAMS
               "/command_host.c -ldl -lpthread");
    build_must("gcc -O2 " BUILD_INCLUDE "-o bare " BUILD_PROGRAMS
               "/command_host.c -ldl -lpthread");
    build_must("gcc -O2 " BUILD_INCLUDE "-DLINKED=one_work -o linked "
               BUILD_PROGRAMS "/command_host.c -ldl -lpthread "
               "-L. -lone -Wl,-rpath,.");
}

/* Dumps without the parts that differ from run to run; the rest must be
 * this. */
#define SHOWS(source, ...)                                                     \
    do {                                                                       \
        build_must(RECORDER " dump %s 2>&1 | sed -e \"s/ AT .*UTC, PROGRAM .*, PID .*,/,/" \
                            "; s/[0-9]*\\.[0-9]\\{6,9\\}/0/; s/0x[0-9a-f]*/0x/g" \
                            "; s/^recorder: [^ ]*/recorder:/\"",               \
                   source);                                                    \
        cr_assert_str_eq(build_text, __VA_ARGS__, "%s", build_text);           \
    } while (0)
#define OF_PART(first, second, third, part)                                    \
    first " [0 command_part.c:19 T1] " part ": library says, 1\n"              \
    second " [0 command_part.c:19 T1] " part ": library says, 2\n"             \
    third " [0 command_part.c:19 T1] " part ": library says, 3\n"
#define TWO_PROGRAMS                                                           \
    "recorder: 2 programs in one: libraries that do not share their "          \
    "recorders; this is the first, at 0x; --registry (in gdb: set "            \
    "recorder-registry) shows another: 0x\n"

/* Goal: recorders in libraries are found: linked, opened later, in a program
 * with recorders and in one without. */
Test(sources, libraries, .init = build_long)
{
    char text[128], address[32], *at;
    pid_t pid;
    build_parts();
    pid = command_start("./host ./libone.so:one ./libtwo.so:two");
    snprintf(text, sizeof text, "%d", (int)pid);
    SHOWS(text, "FLIGHT RECORDER DUMP, 7 RECORDS\n"
                "DUMPING own SIZE 64, 1 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
                "DUMPING one SIZE 64, 3 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
                "DUMPING two SIZE 64, 3 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
                "1 [0 command_host.c:90 T1] own: begins\n"
                OF_PART("2", "3", "4", "one") OF_PART("5", "6", "7", "two"));
    command_stop(pid);
    pid = command_start("./linked ./libtwo.so:two");
    snprintf(text, sizeof text, "%d", (int)pid);
    SHOWS(text, "FLIGHT RECORDER DUMP, 6 RECORDS\n"
                "DUMPING one SIZE 64, 3 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
                "DUMPING two SIZE 64, 3 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
                OF_PART("1", "2", "3", "one") OF_PART("4", "5", "6", "two"));
    command_stop(pid);
    /* Two programs in one process: a line names both, and either can be
     * chosen. */
    pid = command_start("./bare ./libone.so:one ./libtwo.so:two");
    snprintf(text, sizeof text, "%d", (int)pid);
    command_must("list %s", text);
    at = strstr(build_text, "another: ");
    cr_assert(at && sscanf(at, "another: %31s", address) == 1, "%s",
              build_text);
    snprintf(text, sizeof text, "--registry %s %d", address, (int)pid);
    SHOWS(text, "FLIGHT RECORDER DUMP, 3 RECORDS\n"
                "DUMPING one SIZE 64, 3 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
                OF_PART("1", "2", "3", "one"));
    snprintf(text, sizeof text, "%d", (int)pid);
    SHOWS(text, TWO_PROGRAMS "FLIGHT RECORDER DUMP, 3 RECORDS\n"
                "DUMPING two SIZE 64, 3 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
                OF_PART("1", "2", "3", "two"));
    command_stop(pid);
}

/* Returns the number after a dump's first or last record of the program that
 * comes and goes: the nth is "opened n/2" or "closed n/2", after "begins". */
static unsigned long own_number(const char *which)
{
    char what = 0;
    unsigned long number = 0;
    build_must("grep \" own: \" out.txt | %s -n 1 | sed \"s/.* own: //\"",
               which);
    sscanf(build_text, "%c%*s %lu", &what, &number);
    return what == 'b' ? 1 : 2 * number + (what == 'c');
}

/* Returns how many records of the program a dump's heading says are that. */
static unsigned long own_count(const char *what)
{
    build_run("grep \"^DUMPING own SIZE 64, \" out.txt | "
              "grep -o \"[0-9]* %s\"", what);
    return strtoul(build_text, NULL, 10);
}

/* The heading of a dump counts the program's records that it lacks: those that
 * were overwritten before the read, and those during it (MISSED), which may be
 * newer than the oldest that was read. */
static void own_must_be_counted(void)
{
    unsigned long first = own_number("head"), last = own_number("tail");
    unsigned long kept = own_count("ENTRIES"), missed = own_count("MISSED");
    if (kept == 0) { /* a reader that waited for a CPU has missed all slots */
        cr_expect_eq(missed, 64, "%lu", missed);
        return;
    }
    cr_expect(last - first + 1 - kept <= missed, "%lu and %lu: %lu to %lu",
              kept, missed, first, last);
    cr_expect_eq(own_count("OVERWRITTEN") + missed + kept, last,
                 "%lu and %lu of %lu", kept, missed, last);
    /* The oldest record's slot may be that of one that was begun. */
    cr_expect(last < 64 || kept + missed == 64 || kept + missed == 63,
              "%lu and %lu", kept, missed);
}

/* Goal: a library that is closed and opened all the time harms no reader.
 * Method: 100 readers look at a program that does nothing else. */
Test(sources, library_that_comes_and_goes, .init = build_long)
{
    pid_t pid;
    build_parts();
    pid = command_start("./host churn ./libone.so:one");
    for (int i = 0; i < 50; i++) {
        command_must("dump %d >out.txt", pid);
        command_must("list %d >list.txt", pid);
        build_must("! grep -v -e \"^FLIGHT\" -e \"^DUMPING o[nw][en] SIZE 64\" "
                   "-e \" own: opened\" -e \" own: closed\" -e \" own: begins\""
                   " -e \" one: library says, [1-5]$\" "
                   "-e \" one: <format of a closed library at 0x[0-9a-f]*>\" out.txt");
        own_must_be_counted();
        build_must("! grep -v -e \"^RECORDER \" -e \"^own \" -e \"^one \" -e "
                   "\"^THREAD\" -e \"^1 .* host \" -e \"^$\" -e \"^TWEAK \" "
                   "-e \"^one_depth  *3  Of a library\" "
                   "-e \"^o[nw][en]: [0-9]* slots missed$\" list.txt");
        /* Of a full ring, the program overwrites while it is read. */
        build_must("awk \"/^own .* [1-9][0-9]* +0 +on / { full = "
                   "\\$6 > 0; n += \\$5 } /^own: / { n += \\$2 } "
                   "END { exit full && n != 64 }\" list.txt");
        /* It has recorded less than when the interval began. */
        command_must("list --interval 0.01 %d >stat.txt", pid);
        build_must("! grep \"[0-9]\\{10\\}\" stat.txt");
    }
    command_stop(pid);
}

/* ----------------------------------------------------------------- files -- */

/* The command must fail with 1, and say this and no more. */
#define FAILS(line, ...)                                                       \
    do {                                                                       \
        int failed_ = command("%s", line);                                     \
        cr_assert_eq(failed_, 1, "%s: status %d: %s", line, failed_,           \
                     build_text);                                              \
        cr_assert_str_eq(build_text, __VA_ARGS__, "%s: %s", line, build_text); \
    } while (0)

/* Goal: a program of 32 bits has its times, no matter which reader comes
 * first. */
Test(sources, times_of_32_bits, .init = build_long)
{
    pid_t pid;
    build_needs_flags("gcc", "-m32");
    command_build("program", "gcc -O2 -m32");
    pid = command_start("./program quiet");
    build_must(RECORDER " dump %d >out && " RECORDER " save %d -o saved", pid,
               pid);
    command_stop(pid);
    build_must(RECORDER " dump saved >again && for i in out again; do "
               "grep -c \"^[1-3] .[0-9]*[.][0-9]\\{6,9\\} \" $i | grep -x 3; "
               "done");
}

/* Writes a source's times into a file: here, or with shifted clocks of the
 * machine. */
static void times_of(const char *source, const char *where, const char *file)
{
    build_must("%s " RECORDER " dump --line \"{seconds} {message}\" %s "
               ">text && grep number text >%s",
               where, source, file);
}
/* They must be as they were, to 100 microseconds. */
static void times_match(const char *source, const char *where)
{
    times_of(source, where, "there");
    build_must("paste -d \" \" here there | awk \"{ n++; d = \\$1 - \\$4; "
               "if (d > 0.0001 || d < -0.0001 || \\$3 != \\$6) { print; "
               "exit 1 } } END { exit n != 20 }\"");
}

/* Goal: a program's times are known wherever it, or its recording, is read:
 * after the machine was restarted or slept, or when its clock was set. Method:
 * a time namespace, where CLOCK_MONOTONIC is days ahead; the program records
 * for 400 ms. A recording saved there is read here, too. */
static void times_elsewhere(const char *compiler)
{
    static const char there[] = "unshare -T --monotonic 500000 -f";
    char pid_text[16];
    pid_t pid;
    if (build_run("%s true", there) != 0)
        build_skip("unshare -T makes no time namespace here");
    command_build("program", compiler);
    pid = command_start("env RECORDER_FILE=recording sh -c \"ulimit -c "
                        "unlimited; exec ./program count 20 20000\"");
    build_must("until " RECORDER " dump %d | grep -q \"number 20\"; do "
               "sleep 0.05; done",
               pid);
    snprintf(pid_text, sizeof pid_text, "%d", (int)pid);
    times_of(pid_text, "", "here");
    times_match(pid_text, there);
    times_match("recording", there);
    command_must("save %d -o saved", pid);
    times_match("saved", "");
    times_match("saved", there);
    build_must("%s " RECORDER " save %d -o saved.there", there, pid);
    times_match("saved.there", "");
    times_match("saved.there", there);
    command_stop(pid);
    times_match("recording", "");
    times_match("recording", there);
    /* Of one without a recording and without a reader, a core is all. */
    pid = command_start("sh -c \"ulimit -c unlimited; exec ./program count 20 "
                        "20000\"");
    build_must("until test $(od -An -td4 last) -eq 20; do sleep 0.05; done");
    snprintf(pid_text, sizeof pid_text, "%d", (int)pid);
    times_of(pid_text, "", "here");
    if (build_run("grep -x core /proc/sys/kernel/core_pattern") == 0)
        kill(pid, SIGQUIT), waitpid(pid, NULL, 0);
    else
        build_must("gdb -p %d --batch -ex \"generate-core-file core\"", pid);
    times_match("core", "");
    times_match("core", there);
    command_must("save core -o saved");
    times_match("saved", there);
    command_stop(pid);
}
Test(sources, times_elsewhere) { times_elsewhere("gcc -O2"); }
Test(sources, times_elsewhere_32, .init = build_long)
{
    if (build_can("gcc", "-m32"))
        times_elsewhere("gcc -O2 -m32");
}

/* Goal: a dump says whose it is and when its records end and, where that was
 * before, when it was read. Method: a file that is a second old. */
Test(sources, heads_tell_program_and_times)
{
    static const char *const files[] = {"core", "saved", "recording"};
    double ends, end_of_file, read;
    char name[64];
    pid_t pid;
    command_build("server", "gcc -O2");
    command_core("env RECORDER_FILE=recording ./server", "in.txt");
    build_must("head -n 1 in.txt | grep \"^FLIGHT RECORDER DUMP AT [-0-9]* "
               "[0-9:.]* UTC, PROGRAM server, PID [0-9]*, [0-9]* RECORDS$\"");
    command_must("save core -o saved; mkdir links; ln -s ../server links/other");
    sleep(1);
    for (int i = 0; i < 3; i++) {
        command_must("dump %s | sed -n \"1{s/.* AT \\(.*\\) UTC, READ AT "
                     "\\(.*\\) UTC, PROGRAM server, PID [0-9]*, .*/\\1\\n\\2/p"
                     "};\\$p\" >head && { head -n 2 head; dump=1; date -u -d "
                     "@$(stat -c %%Y in.txt) +%%F\\ %%T; } | while read t; do "
                     "date -u -d \"$t\" +%%s.%%N; done",
                     files[i]);
        cr_assert_eq(sscanf(build_text, "%lf %lf %lf", &ends, &read,
                            &end_of_file), 3, "%s: %s", files[i], build_text);
        cr_assert(read - ends > 0.9 && read - ends < 60, "%s", build_text);
        cr_assert(ends > end_of_file - 5 && ends < end_of_file + 2, "%s",
                  build_text);
    }
    /* The running program ends now; its name is the one at its start. */
    pid = command_start("./links/other quiet");
    command_must("dump %d", pid);
    cr_assert(sscanf(build_text, "FLIGHT RECORDER DUMP AT %*s %*s UTC, PROGRAM "
                                 "%63[^,], PID ", name) == 1 &&
                  strcmp(name, "other") == 0,
              "%s", build_text);
    command_stop(pid);
}

/* Goal: for a program with its own clock of unmeasured rate, no times are
 * invented; with a measured rate, they are right. Method: the first reads its
 * clock only in record(); the second's runs three times as fast as real time,
 * and its own dump is the expected output. */
Test(sources, times_of_a_clock_of_its_own)
{
    pid_t pid;
    command_build("program", "gcc -D\"RECORDER_TIME()="
                             "(recorder_home_.registry->later_sequence = 0, "
                             "recorder_clock_ns_(RECORDER_MONOTONIC_))\"");
    pid = command_start("./program quiet");
    build_must(RECORDER " dump --line \"{seconds}\" %d | "
               "grep -v \"[FD][LU]\"",
               pid);
    cr_assert_str_eq(build_text, "?\n?\n?\n");
    command_stop(pid);
    command_build("program", "gcc -D\"RECORDER_TIME()="
                             "(3 * recorder_clock_ns_(RECORDER_MONOTONIC_))\"");
    command_core("./program", "in.txt");
    command_must_dump("core", "its own clock");
}

/* Goal: a wrong source is refused in words. */
Test(sources, wrong_files)
{
    build_must("mkdir folder && : >empty && echo text >text.txt &&"
               " mkfifo pipe && cp /bin/true a.program");
    FAILS("dump nothing", "recorder: nothing: No such file or directory\n");
    FAILS("dump folder", "recorder: folder: Is a directory\n");
    FAILS("dump pipe", "recorder: pipe: is no regular file\n");
    FAILS("dump empty", "recorder: empty: is empty\n");
    FAILS("dump text.txt",
          "recorder: text.txt: is no core file and no recording\n");
    FAILS("dump a.program",
          "recorder: a.program: is a program, no core file or recording\n");
}

/* Goal: a core file is read with the program that left it, at its place or
 * where --executable says, and never with another build. */
Test(sources, program_of_a_core)
{
    char text[256];
    command_build("program", "gcc -O2");
    command_build("other", "gcc -O1");
    command_core("./program", "in.txt");
    build_must("mv program moved");
    /* Without it, no text: formats are in the program. */
    command_must("dump core >/dev/null");
    snprintf(text, sizeof text,
             "recorder: core: its program %s/program is not there (No such "
             "file or directory): name it with --executable\n",
             build_folder);
    cr_assert_str_eq(build_text, text, "%s", build_text);
    command_must_dump("core -e moved", "moved");
    build_must("cp other program");
    snprintf(text, sizeof text,
             "recorder: core: %s/program is not the program that left it: "
             "their build-ids differ; name the right one with --executable\n",
             build_folder);
    FAILS("dump core", text);
    FAILS("dump core --executable other",
          "recorder: core: other is not the program that left it: their "
          "build-ids differ; name the right one with --executable\n");
    command_must_dump("--executable=moved core", "moved");
    FAILS("dump -e nothing core",
          "recorder: core: nothing: No such file or directory\n");
}

/* Goal: --function names the functions of the very build that ran, wherever its
 * file is now, or nothing. Method: a file in its place has another build ID,
 * and another name for main(); then there is none. */
Test(sources, functions_of_the_build_that_ran, .init = build_long)
{
    static const char *const by_now[] = {"true",
                                         "rm program && cp other program",
                                         "rm program"};
    pid_t pid;
    command_build("program", "gcc -O2");
    command_build("other", "gcc -O2 -Wl,--build-id=0x1234");
    build_must("cp program kept && objcopy --redefine-sym main=wrong other");
    command_core("./program", "in.txt");
    for (int i = 0; i < 3; i++) {
        build_must("rm -f program && cp kept program");
        pid = command_start("./program quiet");
        command_must("save %d -o saved", pid);
        build_must("%s", by_now[i]);
        command_must("dump --function %d >of.process", pid);
        command_stop(pid);
        build_must("tail -n 1 of.process | grep \" main: third (main+0x\"");
        build_must(RECORDER " dump --function -e kept core | sed -n \"s/.* ("
                   "\\([a-z_]*+0x[0-9a-f]*\\))$/\\1/p\" >functions && "
                   "test $(wc -l <functions) -gt 100 && { test -e first || "
                   "cp functions first; } && diff first functions");
        build_must(RECORDER " dump --function saved >of.recording && "
                   "grep \" main: third%s\" of.recording",
                   i ? "$" : " (main+0x");
    }
}

/* Goal: a truncated core file shows its remaining records, reports the
 * truncation, and is never taken for a whole one. Method: it is cut at 60
 * lengths. */
Test(sources, cut_off_core, .init = build_long)
{
    long size, cut;
    int shown = 0;
    command_build("program", "gcc -O2 -static");
    command_core("./program", "in.txt");
    build_must("stat -c %%s core");
    size = atol(build_text);
    for (int i = 1; i < 60; i++) {
        int status;
        cut = i < 20 ? i * i * 16 : size / 60 * i;
        build_must("head -c %ld core >cut", cut);
        status = command("dump cut >out.txt");
        cr_assert(status == 0 || status == 1, "%ld: %d: %s", cut, status,
                  build_text);
        cr_assert(strncmp(build_text, "recorder: cut: ", 15) == 0, "%ld: %s",
                  cut, build_text);
        cr_assert(status == 1 || strstr(build_text, "it is cut off"),
                  "%ld: %s", cut, build_text);
        shown += status == 0;
    }
    cr_assert(shown > 0);
    build_must("head -c 100 core >cut");
    FAILS("dump cut", "recorder: cut: it is cut off within its program "
                      "headers\n");
}

/* Goal: memory in the layout of another version of recorder.h is not guessed
 * at. Method: a header with another RECORDER_LAYOUT. */
Test(sources, other_layout, .init = build_long)
{
    char text[256];
    pid_t pid;
    build_must("cp " TEST_ROOT "/recorder*.h . && cp -r " TEST_ROOT
               "/recorder . && sed -i "
               "\"s/define RECORDER_LAYOUT .*/define RECORDER_LAYOUT 99/\" "
               "recorder/layout.h && gcc -O2 -I. -o program " BUILD_PROGRAMS
               "/command.c -lpthread");
    pid = command_start("./program quiet");
    cr_assert_eq(command("dump %d", pid), 1);
    snprintf(text, sizeof text,
             "recorder: %d: was written by another version of recorder.h "
             "(layout 99, not 2 to 3)\n",
             (int)pid);
    cr_assert_str_eq(build_text, text, "%s", build_text);
    command_stop(pid);
}

/* ------------------------------------------------------------- processes -- */

/* Goal: an unreadable process is refused, with advice. */
Test(sources, wrong_processes)
{
    char text[256];
    pid_t pid;
    FAILS("dump 0", "recorder: 0: no such process\n");
    FAILS("dump 4194305", "recorder: 4194305: no such process\n");
    FAILS("dump 99999999999999999999",
          "recorder: 99999999999999999999: no such process\n");
    if (build_run("grep kthreadd /proc/2/comm") == 0)
        FAILS("dump 2", "recorder: 2: has ended, or is of the kernel\n");
    build_must("cp /bin/sleep sleeps");
    pid = command_start("sh -c \"echo PID \\$\\$; exec ./sleeps 300\"");
    build_must("until grep -q sleeps /proc/%d/comm; do sleep 0.01; done",
               (int)pid);
    snprintf(text, sizeof text, "recorder: %d: no recorder in it\n", (int)pid);
    cr_assert_eq(command("dump %d", pid), 1);
    cr_assert_str_eq(build_text, text, "%s", build_text);
    if (getuid() == 0 && build_run("command -v setpriv") == 0) {
        build_must("chmod 755 .");
        cr_assert_eq(build_run("setpriv --reuid 65534 --clear-groups " RECORDER
                               " dump %d", pid), 1);
        snprintf(text, sizeof text,
                 "recorder: %d: may not be read by this user: run as its "
                 "owner, or as root (in a container, with CAP_SYS_PTRACE)\n",
                 (int)pid);
        cr_assert_str_eq(build_text, text, "%s", build_text);
    }
    command_stop(pid);
}
