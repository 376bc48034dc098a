/* What programs do to themselves and to their children, for recorder run. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* closes: all descriptors, whosever they are, before and after threads. */
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
/* unmaps: a thread gives back the memory that has its own pthread_t, on one
 * processor, where it may run before its maker goes on. */
static void *unmaps_own(void *page)
{
    pthread_detach(pthread_self());
    munmap(page, 4096);
    return NULL;
}
static int unmaps(void)
{
    cpu_set_t set;
    int cpu = 0;
    sched_getaffinity(0, sizeof set, &set);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    for (int i = 0; i < 3000; i++) {
        pthread_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        while (pthread_create(page + 1, NULL, unmaps_own, page) != 0)
            sched_yield();
    }
    return 3;
}
/* sandboxes HOW: a filter ends the process at calls that threads do not need;
 * before the first thread of all, or between two. */
static int sandboxes(const char *how)
{
    static const unsigned forbidden[] = {SYS_gettid,           SYS_getpid,
                                         SYS_getcwd,           SYS_openat,
                                         SYS_readlinkat,
#ifdef SYS_readlink
                                         SYS_readlink,         SYS_open,
#endif
                                         SYS_process_vm_readv, SYS_prctl};
    enum { COUNT = sizeof forbidden / sizeof *forbidden };
    struct sock_filter f[COUNT + 3] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog program = {COUNT + 3, f};
    if (strcmp(how, "late") == 0)
        two();
    for (int i = 0; i < COUNT; i++)
        f[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                forbidden[i],
                                                (unsigned char)(COUNT - i), 0);
    f[COUNT + 1] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    f[COUNT + 2] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        (strcmp(how, "first") == 0
             ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
             : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) != 0)
        return 1;
    two();
    two();
    return 3;
}
/* jumps: a signal handler leaves the wait for one of two locks that would be a
 * deadlock. */
static pthread_mutex_t here = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t there = PTHREAD_MUTEX_INITIALIZER;
static sem_t taken, jumped;
static sigjmp_buf back;
static void jump(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}
static void *waits_back(void *of)
{
    pthread_mutex_lock(&there);
    sem_post(&taken);
    sem_wait(&jumped);
    pthread_mutex_lock(&here);
    return of;
}
static int jumps(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, waits_back, NULL);
    pthread_mutex_lock(&here);
    sem_wait(&taken);
    signal(SIGALRM, jump);
    if (!sigsetjmp(back, 1)) {
        alarm(1);
        pthread_mutex_lock(&there);
    }
    sem_post(&jumped);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "jumps") == 0)
        return jumps();
    if (strcmp(mode, "unmaps") == 0)
        return unmaps();
    if (strcmp(mode, "sandboxes") == 0)
        return sandboxes(argv[2]);
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
