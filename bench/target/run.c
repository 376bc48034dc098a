/* run.c: a target for recorder run, to measure the price of its calls. */
/* SPDX-License-Identifier: MIT */
/*
   run calls: prints nanoseconds of lock and unlock, of a wait, of making and
   joining a thread, of a call that may block: the additional time of the library's functions, which take
   turns with glibc's in one process, and the time of glibc's.
   run fork: prints nanoseconds of a fork() whose child ends.
   run start: the same of the program itself, which ends at once.
*/
#define _GNU_SOURCE
#include "median.h"
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 31, PAIRS = 20000, TURNS = 300, THREADS = 50, FORKS = 40 };

static struct calls {
    int (*lock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);
    int (*wait)(sem_t *), (*post)(sem_t *);
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                  void *);
    int (*join)(pthread_t, void **);
    int (*close)(int);
} own = {pthread_mutex_lock, pthread_mutex_unlock, sem_wait, sem_post,
         pthread_create,     pthread_join,         close},
  real;

static double pairs(const struct calls *c)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    double start = now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < PAIRS; i++) {
        c->lock(&mutex);
        c->unlock(&mutex);
    }
    return (now(CLOCK_THREAD_CPUTIME_ID) - start) / PAIRS;
}

/* Two threads take turns: each turn is a wait of one of them. Their CPU time,
 * as the machine may be busy. */
static sem_t first, second;
static double other_ns;
static void *turns(void *of)
{
    const struct calls *c = of;
    double start = now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < TURNS; i++) {
        c->wait(&first);
        c->post(&second);
    }
    other_ns = now(CLOCK_THREAD_CPUTIME_ID) - start;
    return NULL;
}
static double waits(const struct calls *c)
{
    pthread_t id;
    double start, ns;
    sem_init(&first, 0, 0);
    sem_init(&second, 0, 0);
    own.create(&id, NULL, turns, (void *)c);
    start = now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < TURNS; i++) {
        c->post(&first);
        c->wait(&second);
    }
    ns = now(CLOCK_THREAD_CPUTIME_ID) - start;
    own.join(id, NULL);
    return (ns + other_ns) / (2 * TURNS);
}

static void *nothing(void *of)
{
    return of;
}
static double threads(const struct calls *c)
{
    double start = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < THREADS; i++) {
        pthread_t id;
        c->create(&id, NULL, nothing, NULL);
        c->join(id, NULL);
    }
    return (now(CLOCK_PROCESS_CPUTIME_ID) - start) / THREADS;
}

static double closes(const struct calls *c)
{
    double start = now(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < PAIRS; i++)
        c->close(-1);
    return (now(CLOCK_THREAD_CPUTIME_ID) - start) / PAIRS;
}

/* A child that ends at once; or that starts the program, to end. */
static double children(char *self)
{
    char *const line[] = {self, "end", NULL};
    double all[FORKS];
    for (int i = 0; i < FORKS; i++) {
        double start = now(CLOCK_MONOTONIC);
        pid_t child = self ? vfork() : fork();
        if (child == 0) {
            if (self)
                execv(self, line);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        all[i] = now(CLOCK_MONOTONIC) - start;
    }
    return median(all, FORKS);
}

static void measure(double (*what)(const struct calls *))
{
    double more[ROUNDS], without[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        without[i] = what(&real);
        more[i] = what(&own) - without[i];
    }
    printf("%.1f %.1f ", median(more, ROUNDS), median(without, ROUNDS));
}

static void *libc;
static void take(void *to, const char *name)
{
    void *found = dlsym(libc, name);
    if (!found)
        exit(1);
    memcpy(to, &found, sizeof found);
}

int main(int argc, char **argv)
{
    pthread_t id;
    if (argc == 2 && strcmp(argv[1], "end") == 0)
        return 0;
    if (argc == 2 && strcmp(argv[1], "start") == 0) {
        printf("%.0f\n", children(argv[0]));
        return 0;
    }
    libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (argc < 2 || !libc)
        return 2;
    take(&real.lock, "pthread_mutex_lock");
    take(&real.unlock, "pthread_mutex_unlock");
    take(&real.wait, "sem_wait");
    take(&real.post, "sem_post");
    take(&real.create, "pthread_create");
    take(&real.join, "pthread_join");
    take(&real.close, "close");
    own.create(&id, NULL, nothing, NULL); /* the recording begins */
    own.join(id, NULL);
    if (strcmp(argv[1], "fork") == 0) {
        printf("%.0f\n", children(NULL));
        return 0;
    }
    measure(pairs);
    measure(waits);
    measure(threads);
    measure(closes);
    puts("");
    return 0;
}
