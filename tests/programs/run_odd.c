/* What programs do to themselves and to their children, for recorder run. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *locks(void *of)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return of;
}
static void two(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, locks, NULL);
    pthread_create(&other, NULL, locks, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
static void in_thread(void *(*run)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
}
static void ended(const char *how, pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
    printf("%s: %d\n", how, WEXITSTATUS(status));
    fflush(stdout);
}

/* closes: all descriptors, whosever they are, before and behind threads. */
static int closes(void)
{
    for (int i = 3; i < 256; i++)
        close(i);
    two();
    for (int i = 0; i < 256; i++)
        close(i);
    two();
    _exit(count == 400 ? 9 : 1);
}
/* forks: from a thread, of which the child makes more. */
static void *forks(void *of)
{
    pid_t pid = fork();
    if (pid == 0) {
        two();
        _exit(5);
    }
    ended("fork", pid);
    return of;
}
/* spawns: by posix_spawn() and vfork(), from threads, too. */
static void *spawns(void *of)
{
    char shell[] = "sh", option[] = "-c", text[] = "echo spawned; exit 4";
    char *arguments[] = {shell, option, text, NULL};
    pid_t pid = 0;
    posix_spawnp(&pid, shell, NULL, NULL, arguments, environ);
    ended("spawn", pid);
    pid = vfork();
    if (pid == 0)
        _exit(6);
    ended("vfork", pid);
    pid = vfork();
    if (pid == 0) {
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    ended("vfork, exec", pid);
    return of;
}
/* opens FILE: a library whose threads lock its own mutex, and closes it. */
static int opens(const char *file)
{
    void (*run)(void);
    for (int i = 0; i < 20; i++) {
        void *library = dlopen(file, RTLD_NOW), *symbol;
        symbol = library ? dlsym(library, "plugin_runs") : NULL;
        if (!symbol)
            return 1;
        memcpy(&run, &symbol, sizeof run);
        run();
        dlclose(library);
    }
    return 3;
}
/* Compiled into a library, too. */
void plugin_runs(void);
void plugin_runs(void)
{
    two();
}
/* exits: main ends in front of a thread, which ends the process. */
static void *last(void *of)
{
    usleep(20000);
    puts("the last");
    return of;
}
static int exits(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, last, NULL);
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "closes") == 0)
        return closes();
    if (strcmp(mode, "exits") == 0)
        return exits();
    if (strcmp(mode, "opens") == 0)
        return opens(argv[2]);
    if (strcmp(mode, "forks") == 0) {
        in_thread(forks);
        in_thread(forks);
    } else {
        spawns(NULL);
        in_thread(spawns);
    }
    two();
    if (strcmp(mode, "aborts") == 0)
        abort();
    return 3;
}
