/* Recordings leave out a program's secrets. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(secrets, .init = build_begin, .fini = build_end, .timeout = 300);

#define ENVIRONMENT "env TOKEN=SECRET_VARIABLE_0123456789abcdef "
#define ARGUMENT " SECRET_ARGUMENT_0123456789abcdef"

static pid_t start(const char *before, const char *mode)
{
    char line[512];
    build_once("gcc -O1 -g -no-pie " BUILD_INCLUDE "-o secrets " BUILD_PROGRAMS
               "/secrets.c -lpthread");
    snprintf(line, sizeof line, ENVIRONMENT "%s./secrets %s" ARGUMENT, before,
             mode);
    return command_start(line);
}

/* No secret is in a file, as bytes or as characters of 2 or 4 bytes. */
static void must_hide(const char *file)
{
    build_must("test -s %s", file);
    build_must("cat >search.py <<END\n"
               "import sys\n"
               "bytes = open(sys.argv[1], \"rb\").read()\n"
               "for code in \"utf-8\", \"utf-16-le\", \"utf-32-le\":\n"
               "    at = bytes.find(\"SECRET_\".encode(code))\n"
               "    if at >= 0: sys.exit(\"%%s: %%s at %%d: %%s\" %% "
               "(sys.argv[1], code, at, bytes[at:at + 80]))\n"
               "END\npython3 search.py %s",
               file);
}

/* All answers about a process hold for a file, too. */
static void must_agree(pid_t pid, const char *file)
{
    static const char *const verbs[] = {"dump", "list", "dump --last 3"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        build_must("for of in %d %s; do " RECORDER " %s $of | grep -v "
                   "\"^recorder: \\|^FLIGHT\" | sed \"s/%d/PID/g; s/%s/PID/g;"
                   "s/alive/?/; s/^DUMPING .*//; s/, read .*//\" >$of.said;"
                   " done; diff %d.said %s.said",
                   pid, file, verbs[i], pid, file, pid, file);
}

/* Goal: a process's saved recording has all that its records need, and no other
 * byte of its stack, heap, data, environment and arguments. */
Test(secrets, are_not_saved)
{
    pid_t pid = start("", "quiet");
    command_must("save %d -o saved", pid);
    must_hide("saved");
    must_agree(pid, "saved");
    command_must("save %d --names texts -o chosen", pid);
    must_hide("chosen");
    command_must("save saved -o again && cmp saved again ||"
                 " " RECORDER " dump again | tail -n 11 >a &&"
                 " " RECORDER " dump saved | tail -n 11 | cmp - a");
    must_hide("again");
    build_must("gdb -q --batch -ex \"source " TEST_ROOT
               "/gdb/recorder-gdb.py\" -ex \"recorder dump\" ./secrets -c saved"
               " 2>&1 | grep -F \"bss ~bss text and tls ~tls text\"");
    command_stop(pid);
}

/* Goal: the same for a log, of which each chunk is a recording. */
Test(secrets, are_not_logged)
{
    pid_t pid = start("", "log");
    build_run("timeout -s INT 1 " RECORDER " log %d -o log", pid);
    build_must("cat log/* >all; test -s all");
    must_hide("all");
    command_must("dump log | grep \"later 9 ~heap text\"");
    command_stop(pid);
}

/* Goal: the same for a page of all events, packed and unpacked. */
Test(secrets, are_not_on_a_page)
{
    pid_t pid = start("", "quiet");
    command_must("view %d -o page.html", pid);
    must_hide("page.html");
    build_must(
        "cat >unpack.py <<END\n"
        "import re, base64, zlib\n"
        "page = open(\"page.html\").read()\n"
        "with open(\"unpacked\", \"wb\") as to:\n"
        "    to.write(b\"begin\")\n"
        "    for text in re.findall(r\"[A-Za-z0-9+/=]{64,}\", page):\n"
        "        raw = base64.b64decode(text + \"=\" * (-len(text) %% 4))\n"
        "        to.write(raw)\n"
        "        for bits in 15, 31, -15:\n"
        "            try: to.write(zlib.decompressobj(bits)"
        ".decompress(raw))\n"
        "            except zlib.error: pass\n"
        "END\npython3 unpack.py");
    must_hide("unpacked");
    command_stop(pid);
}

/* Goal: the same for the file that a program records into, while it runs and
 * after a kill. */
Test(secrets, are_not_in_a_recording)
{
    pid_t pid = start("RECORDER_FILE=recording ", "quiet");
    must_hide("recording");
    command_stop(pid);
    must_hide("recording");
    command_must("dump recording | grep \"at start 3\"");
}

/* Goal: a crash keeps the stack, but not the arguments and the environment above
 * it. */
Test(secrets, are_not_in_a_crash)
{
    build_once("gcc -O1 -g -no-pie " BUILD_INCLUDE "-o secrets " BUILD_PROGRAMS
               "/secrets.c -lpthread");
    build_run(ENVIRONMENT "RECORDER_FILE=recording ./secrets crash" ARGUMENT
              " >said 2>&1");
    command_must("explain recording");
    cr_assert(strstr(build_text, "SIGSEGV: write to address 0x8"), "%s",
              build_text);
    build_run("grep -ao \"SECRET_[AV]AR[A-Z]*\\|SECRET_ARG[A-Z]*\" recording");
    cr_assert_str_empty(build_text, "%s", build_text);
}

/* Goal: the same for what recorder run keeps of threads and of stacks, also of
 * code without tables, of which the stack itself is kept. */
Test(secrets, are_not_in_a_recording_of_run)
{
    pid_t pid;
    build_must("gcc -O1 -g -fno-asynchronous-unwind-tables " BUILD_INCLUDE
               "-o secrets " BUILD_PROGRAMS "/secrets.c -lpthread");
    pid = command_start(ENVIRONMENT RECORDER
                        " run -q -o run.rec ./secrets thread" ARGUMENT);
    command_must("dump run.rec --names call_stack | grep -c \"call_stack: snapshot\"");
    must_hide("run.rec");
    command_must("save run.rec -o saved");
    must_hide("saved");
    command_stop(pid);
}
