/* recorder list tells how the program of a recording ended. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"
#include "recorder/layout.h"

TestSuite(ended, .init = build_begin, .fini = build_end, .timeout = 300);

#define NOT_NOTED                                                              \
    "ENDED without a note: SIGKILL, another signal, _exit(), exec() or power; or" \
    " this is a copy from before"

static void ended_build(const char *compiler)
{
    build_once("%s " BUILD_INCLUDE "-o ended " BUILD_PROGRAMS
               "/ended.c -lpthread",
               compiler);
}

/* The last line of recorder list of the file must be the text, or, if that is
 * null, no line may be of the end. */
static void must_list(const char *file, const char *text, const char *what)
{
    const char *line;
    command_must("list %s 2>/dev/null", file);
    line = strstr(build_text, "ENDED");
    if (!text)
        cr_assert_null(line, "%s: %s", what, line);
    else
        cr_assert(line && strncmp(line, text, strlen(text)) == 0 &&
                      line[strlen(text)] == '\n',
                  "%s: %s instead of %s", what, line ? line : build_text, text);
}

/* Runs the program; it must end with the status. */
static void run_ended(const char *by, const char *how, int status)
{
    const int is = build_run("rm -f file; %s ./ended %s 2>/dev/null", by, how);
    cr_assert_eq(is, status, "%s %s: %d", by, how, is);
}

struct ending {
    const char *how;
    int status;
    const char *text, *text_of_run; /* the latter of recorder run; or null */
};

/* Goal: the noted status is that of the program, which it keeps, and its threads
 * have ended; without a note, nothing is made up. Method: ways to end, of programs of several compilers and
 * libraries, and under recorder run. */
Test(ended, is_the_programs_end)
{
    static const char *const compilers[] = {"gcc -g", "gcc -g -fPIC -O2",
                                            "g++ -g -x c++", "clang -g"};
    static const struct ending endings[] = {
        {"exit", 3, "ENDED exited 3", NULL},
        {"returns", 7, "ENDED exited 7", NULL},
        {"filters", 7, "ENDED exited 7", NULL},
        {"_exit", 4, NOT_NOTED, "ENDED exited 4"},
        {"quick_exit", 5, NOT_NOTED, "ENDED exited 5"},
        {"late", 6, NOT_NOTED, "ENDED exited 6"},
        {"SIGKILL", 128 + SIGKILL, NOT_NOTED, NOT_NOTED},
        {"fork", 128 + SIGKILL, NOT_NOTED, NOT_NOTED},
        {"vfork", 128 + SIGKILL, NOT_NOTED, NOT_NOTED}};
    build_needs("gcc", "g++", "clang");
    for (unsigned c = 0; c < sizeof compilers / sizeof *compilers; c++) {
        ended_build(compilers[c]);
        for (unsigned i = 0; i < sizeof endings / sizeof *endings; i++) {
            const struct ending *e = &endings[i];
            if (c > 0 && i > 2)
                break;
            run_ended("RECORDER_FILE=file", e->how, e->status);
            must_list("file", e->text, e->how);
            if (strcmp(e->text, NOT_NOTED) != 0)
                command_must("list file | grep \"^1 .* ended$\"");
            if (c > 0)
                continue;
            run_ended(RECORDER " run -q -o file", e->how, e->status);
            must_list("file", e->text_of_run ? e->text_of_run : e->text,
                      e->how);
        }
    }
}

/* Goal: the recording of a program that exited fixes its times, so that all
 * readers print the same ones. Method: three readings, apart in time, to the
 * nanosecond. */
Test(ended, fixes_the_times)
{
    build_needs("gcc");
    ended_build("gcc");
    run_ended("RECORDER_FILE=file", "exit", 3);
    build_must("set -e; for i in 1 2 3; do " RECORDER " dump --line {seconds} file |"
               " tail -n +3 >times$i; sleep 0.3; done; test -s times1;"
               " cmp times1 times2; cmp times1 times3");
    build_must("test $(stat -c %%Y file) -lt $(date +%%s) || sleep 1;" RECORDER
               " dump --line {seconds} file | tail -n +3 | cmp - times1");
}

/* Goal: without on_exit(), an end by exit() has no status, and no other is made
 * up. Method: a program that is linked statically lacks that function. */
Test(ended, has_no_status_without_on_exit)
{
    build_needs("gcc");
    ended_build("gcc -static");
    run_ended("RECORDER_FILE=file", "exit", 3);
    must_list("file", "ENDED by exit()", "-static");
}

/* Goal: of a library, which may be closed before the program ends, nothing is
 * said. */
Test(ended, is_unknown_of_a_library)
{
    build_needs("gcc");
    build_must("gcc -g -shared -fPIC -Dmain=run " BUILD_INCLUDE
               "-o libended.so " BUILD_PROGRAMS "/ended.c -lpthread;"
               "echo \"int run(int, char **); int main(int n, char **a)"
               " { return run(n, a); }\" >main.c; gcc -o ended main.c -L. -lended"
               " -Wl,-rpath,.");
    run_ended("RECORDER_FILE=file", "exit", 3);
    must_list("file", NULL, "a library");
}

/* Goal: a crash is named with its place, also in JSON. */
Test(ended, is_a_crash)
{
    build_needs("gcc");
    ended_build("gcc -g");
    run_ended("RECORDER_FILE=file", "SIGSEGV", 128 + SIGSEGV);
    command_must("list file | grep \"^ENDED SIGSEGV: write to address 0x0: a "
                 "null pointer; thread T1 [0-9]* ended at main ended.c:[0-9]*$\"");
    command_must("list --json file | grep \"^{.ended.:.crash.,.text.:.SIGSEGV: "
                 ".* ended.c:[0-9]*.}$\"");
    run_ended("RECORDER_FILE=file", "exit", 3);
    command_must("list --json file | grep -x \"{.ended.:.exit.,.text.:.exited "
                 "3.,.status.:3}\"");
}

/* Goal: a program that runs has not ended; one that called exec() is gone,
 * although the process is the same. */
Test(ended, is_not_yet)
{
    char text[80];
    pid_t pid;
    int tries = 0;
    build_needs("gcc");
    ended_build("gcc -g");
    pid = command_start("env RECORDER_FILE=file ./ended waits");
    snprintf(text, sizeof text, "ENDED not yet: process %d still runs", pid);
    must_list("file", text, "runs");
    build_must("cp file copy; gzip -k file");
    command_must("save %d -o saved", pid);
    must_list("saved", NULL, "recorder save");
    command_stop(pid);
    must_list("file", NOT_NOTED, "killed");
    must_list("copy", NOT_NOTED, "a copy");
    must_list("file.gz", NOT_NOTED, "packed");
    pid = command_start("env RECORDER_FILE=executes ./ended exec");
    while (build_run("grep -q sleep /proc/%d/comm", pid) != 0)
        cr_assert_lt(tries++, 1000);
    must_list("executes", NOT_NOTED, "exec()");
    command_stop(pid);
}

/* Goal: of a recording of an older header, and of a file that was cut off,
 * nothing false is said. Method: the registry's size is made that of a
 * registry without the word; and each seventh of a file that exited. */
Test(ended, is_unknown_of_other_files)
{
    static const unsigned char magic[16] = RECORDER_MAGIC;
    static char bytes[1 << 22];
    const uint32_t older = offsetof(struct recorder_registry, ended);
    char path[120];
    size_t size, found = 0;
    FILE *file;
    build_needs("gcc");
    ended_build("gcc -g");
    run_ended("RECORDER_FILE=file", "exit", 3);
    snprintf(path, sizeof path, "%s/file", build_folder);
    file = fopen(path, "r+");
    cr_assert_not_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    for (size_t i = 0; i + sizeof(struct recorder_registry) <= size; i += 8) {
        if (memcmp(bytes + i, magic, sizeof magic) != 0)
            continue;
        fseek(file, (long)(i + offsetof(struct recorder_registry, bytes)),
              SEEK_SET);
        found += fwrite(&older, sizeof older, 1, file);
    }
    cr_assert_eq(fclose(file), 0);
    cr_assert_gt(found, 0);
    must_list("file", NULL, "older");
    run_ended("RECORDER_FILE=file", "exit", 3);
    for (size_t cut = size / 7; cut < size; cut += size / 7) {
        build_must("head -c %zu file >cut", cut);
        if (command("list cut") == 0)
            cr_assert(!strstr(build_text, "ENDED") ||
                          strstr(build_text, "ENDED exited 3\n"),
                      "%zu: %s", cut, build_text);
    }
}
