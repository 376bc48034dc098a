/* peers.c - locks of files, shared mutexes and locks within libraries. */
/* SPDX-License-Identifier: MIT */
/*
    ./peers WAY     says "PID n" and waits; a child process does, too
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
    pthread_mutex_t mutex[2];
    pthread_barrier_t both;
} * shared;
static FILE *stream[2];

static void begin(void)
{
    pthread_mutexattr_t mutex;
    pthread_barrierattr_t barrier;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&shared->mutex[i], &mutex);
        stream[i] = fopen("/dev/null", "w");
    }
    pthread_barrier_init(&shared->both, &barrier, 2);
}

/* Takes the i-th lock, waits for the other thread or process, takes the other
 * lock. */
static void by_flock(int i)
{
    int file[] = {open("file_a", O_CREAT | O_RDWR, 0600),
                  open("file_b", O_CREAT | O_RDWR, 0600)};
    flock(file[i], LOCK_EX);
    pthread_barrier_wait(&shared->both);
    flock(file[!i], LOCK_EX);
}
static void range_lock(int file, int at)
{
    struct flock range = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    fcntl(file, F_OFD_SETLKW, &range);
}
static void by_range(int i)
{
    int file = open("file_a", O_CREAT | O_RDWR, 0600);
    range_lock(file, i);
    pthread_barrier_wait(&shared->both);
    range_lock(file, !i);
}
static void by_mutex(int i)
{
    pthread_mutex_lock(&shared->mutex[i]);
    pthread_barrier_wait(&shared->both);
    pthread_mutex_lock(&shared->mutex[!i]);
}
static void by_stream(int i)
{
    flockfile(stream[i]);
    pthread_barrier_wait(&shared->both);
    fputs("x", stream[!i]);
}
/* One holds the lock and goes on. */
static void by_holder(int i)
{
    int file = open("file_a", O_CREAT | O_RDWR, 0600);
    if (i)
        flock(file, LOCK_EX);
    pthread_barrier_wait(&shared->both);
    while (i)
        pause();
    flock(file, LOCK_EX);
}
static void by_lockf(int i)
{
    int file = open("file_a", O_CREAT | O_RDWR, 0600);
    if (i && lockf(file, F_LOCK, 0) != 0)
        exit(1);
    pthread_barrier_wait(&shared->both);
    while (i)
        pause();
    if (lockf(file, F_LOCK, 0) != 0)
        exit(1);
}

/* Takes locks of other files and gives them back, all the time. */
static void by_changes(int i)
{
    int file[8];
    char name[8];
    for (int k = 0; k < 8; k++) {
        snprintf(name, sizeof name, "file_%d", 8 * i + k);
        file[k] = open(name, O_CREAT | O_RDWR, 0600);
    }
    for (;; usleep(50))
        for (int k = 0; k < 16; k++)
            flock(file[k & 7], k < 8 ? LOCK_EX : LOCK_UN);
}

static void (*way)(int);
static void *other(void *unused)
{
    way(1);
    return unused;
}
static void *one(void *unused)
{
    way(0);
    return unused;
}
static void *idle(void *unused)
{
    for (;;)
        pause();
    return unused;
}
static void said(void)
{
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
}
static void as_processes(void)
{
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        way(1);
        _exit(0);
    }
    said();
    way(0);
}
static void as_threads(int is_idle)
{
    pthread_t thread[2];
    if (is_idle)
        pthread_create(&thread[0], NULL, idle, NULL);
    pthread_create(&thread[0], NULL, one, NULL);
    pthread_create(&thread[1], NULL, other, NULL);
    said();
    pthread_join(thread[0], NULL);
}

/* A signal's handler allocates while malloc works, sooner or later. */
static volatile unsigned long turns;
static void handler(int signal)
{
    void *volatile made = malloc(100000 + (size_t)signal);
    free(made);
}
/* Says "PID 0" if that has not happened in half a minute. */
static void *watches(void *unused)
{
    sigset_t all;
    int same = 0, times = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (; same < 10 && times < 300; times++) {
        unsigned long seen = turns;
        usleep(100000);
        same = seen == turns ? same + 1 : 0;
    }
    printf("PID %d\n", same < 10 ? 0 : (int)getpid());
    fflush(stdout);
    return idle(unused);
}
static void in_malloc(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}};
    pthread_t thread;
    pthread_create(&thread, NULL, watches, NULL);
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, NULL);
    for (;; turns++) {
        void *all[50];
        for (size_t i = 0; i < 50; i++)
            all[i] = malloc(2000 + i * 100);
        for (size_t i = 0; i < 50; i++)
            free(all[i]);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*way)(int);
    } ways[] = {{"flock", by_flock},   {"range", by_range},
                {"mutex", by_mutex},   {"stream", by_stream},
                {"holder", by_holder}, {"lockf", by_lockf},
                {"changes", by_changes}};
    begin();
    for (size_t i = 0; i < sizeof ways / sizeof *ways && argc > 2; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            way = ways[i].way;
    if (!way)
        in_malloc();
    else if (strcmp(argv[2], "processes") == 0)
        as_processes();
    else
        as_threads(strcmp(argv[2], "idle") == 0);
}
