/* The recorder command on running programs, their core files and recordings. */
/* SPDX-License-Identifier: MIT */
/*
    command_build("command", "gcc -O2");            ./command of programs/
    pid_t pid = command_start("./command quiet");   it says "PID n" and waits
    cr_assert_eq(command("dump %d", pid), 0);       what it said is build_text
    command_stop(pid);
    command_rests(pid);              waits until all of its threads are asleep
*/
#ifndef COMMAND_TEST_H
#define COMMAND_TEST_H

#include "build.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>

#define RECORDER TEST_ROOT "/build/recorder"

/* Runs the recorder command; its status. */
#define command(...) build_run(RECORDER " " __VA_ARGS__)
#define command_must(...) build_must(RECORDER " " __VA_ARGS__)

/* Compiles programs/command.c as ./name. */
__attribute__((unused)) static void command_build(const char *name,
                                                  const char *compiler)
{
    build_once("%s " BUILD_INCLUDE "-o %s " BUILD_PROGRAMS
               "/command.c -lpthread",
               compiler, name);
}

/* Compiles programs/many.c as ./many. */
__attribute__((unused)) static void many_build(void)
{
    build_once("gcc -O2 " BUILD_INCLUDE "-o many " BUILD_PROGRAMS
               "/many.c -lpthread");
}

/* Starts a program in the test's folder; returns when it has said "PID n", its
 * process id. It is ended with the test. */
__attribute__((unused)) static pid_t command_start(const char *line)
{
    char text[4096];
    int fds[2], pid = 0;
    FILE *from;
    cr_assert_lt(snprintf(text, sizeof text, "exec %s", line),
                 (int)sizeof text);
    cr_assert_eq(pipe(fds), 0);
    fflush(NULL);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(fds[1], 1);
        close(fds[0]);
        if (chdir(build_folder) == 0)
            execl("/bin/sh", "sh", "-c", text, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    from = fdopen(fds[0], "r");
    cr_assert(fgets(text, sizeof text, from) &&
                  sscanf(text, "PID %d", &pid) == 1,
              "%s did not start", line);
    fclose(from);
    return pid;
}

__attribute__((unused)) static void command_stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* True if a thread is awake, or falling asleep. If the system shows its system
 * call, it has left its processor. */
__attribute__((unused)) static bool command_runs(pid_t pid, const char *thread)
{
    static const char *const files[] = {"stat", "syscall"};
    char path[300], text[512];
    for (int i = 0; i < 2; i++) {
        FILE *file;
        size_t size;
        snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)pid, thread,
                 files[i]);
        file = fopen(path, "r");
        size = file ? fread(text, 1, sizeof text - 1, file) : 0;
        text[size] = '\0';
        if (file)
            fclose(file);
        if (strstr(text, i ? "running" : ") R "))
            return true;
    }
    return false;
}

/* Waits until all threads of a process are asleep: a program that prints "PID
 * n" before it waits may still be on the way. */
__attribute__((unused)) static void command_rests(pid_t pid)
{
    double limit = seconds_now() + 60;
    bool runs = true;
    while (runs) {
        char path[64];
        DIR *threads;
        struct dirent *thread;
        usleep(2000);
        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        threads = opendir(path);
        cr_assert(threads && seconds_now() < limit, "it does not rest");
        for (runs = false; !runs && (thread = readdir(threads)) != NULL;)
            runs = *thread->d_name != '.' && command_runs(pid, thread->d_name);
        closedir(threads);
    }
}

/* Tells programs/command.c to go, and waits until that is done. */
__attribute__((unused)) static void command_goes(void)
{
    build_must("touch go; until test -e done; do sleep 0.01; done; rm done");
}

/* ----------------------------------------------------------------- cores -- */

/* Makes ./core: by the kernel, where it leaves cores in the folder of the
 * program, else by gdb. `what`: the arguments of ./program, of the verb
 * "core" or "everything" of programs/command.c. */
__attribute__((unused)) static void command_core(const char *program,
                                                 const char *arguments)
{
    char text[512];
    build_must("rm -f core");
    if (build_run("read pattern </proc/sys/kernel/core_pattern &&"
                  " test \"$pattern\" = core") == 0) {
        build_run("ulimit -c unlimited && %s core %s", program, arguments);
    } else {
        pid_t pid;
        snprintf(text, sizeof text, "%s everything %s", program, arguments);
        pid = command_start(text);
        build_must("gdb -p %d --batch -ex \"generate-core-file core\"", pid);
        command_stop(pid);
    }
    build_must("test -s core");
}

/* A dump by the command must equal the program's own dump in in.txt, except for
 * the date and the stack of a crash: byte for byte. */
__attribute__((unused)) static void command_must_dump(const char *source,
                                                      const char *what)
{
    cr_assert_eq(command("dump %s >out.txt", source), 0, "%s: %s", what,
                 build_text);
    cr_assert_eq(build_run("tail -n +2 in.txt >in && sed \"1d; /^CRASH SIG/,\\$d\" out.txt >out &&"
                           " test -s in && cmp in out || diff -a in out"),
                 0, "%s, %s: recorder_dump() is <, the command is >\n%.3000s",
                 what, source, build_text);
    cr_assert_eq(build_run("for i in in out; do head -n 1 $i.txt |"
                           " sed \"s/ AT .*UTC//\" >$i; done; diff in out"),
                 0, "%s: %s", what, build_text);
}

#endif
