/* Requests that are slow for causes of many kinds, for tests/outside/why.sh. */
/* SPDX-License-Identifier: MIT */
/*
    ./why SEED COUNT CAUSES

Runs COUNT requests; each is healthy, or slow for one of the first CAUSES
causes. Prints for each request: number, cause, nanoseconds that it lasted.
*/
#define _GNU_SOURCE
#include "recorder_dump.h"
#include "recorder_kernel.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef RECORDER_KERNEL_SLOTS
#error "compile with -DRECORDER_KERNEL_SLOTS=65536"
#endif
RECORDER(app, 4096, "Requests")

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inverted = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t arena = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t chain[3] = {PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue = PTHREAD_COND_INITIALIZER;
static bool queued;
static sem_t tokens, begun, ready;
static int sockets[2];
static volatile bool enough;
static long strength_us; /* of the request that runs */
static uint64_t syncs;   /* of that request */
static uint64_t *stops;  /* when another process stopped this one, until when */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static void burn(long us)
{
    uint64_t until = now_ns() + (uint64_t)us * 1000;
    while (now_ns() < until)
        ;
}
static uint64_t worked_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
/* Burns processor time, without the time of other threads. */
static void work(long us)
{
    uint64_t until = worked_ns() + (uint64_t)us * 1000;
    while (worked_ns() < until)
        ;
}
static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (cpu < 0 || i == (size_t)cpu)
            CPU_SET(i, &set);
    sched_setaffinity(0, sizeof set, &set);
}
/* The processor that the calling thread runs on. */
static int home;

/* ------------------------------------------------------------- helpers -- */

/* A thread says that it is ready, and waits until the request is about to
 * begin. */
static void name(const char *of)
{
    pthread_setname_np(pthread_self(), of);
    recorder_thread_name(of);
}
static void *holder(void *lock)
{
    name("holder");
    pthread_mutex_lock(lock);
    sem_post(&ready);
    sem_wait(&begun);
    usleep((unsigned)strength_us);
    pthread_mutex_unlock(lock);
    return NULL;
}
static void *link_of(void *index)
{
    intptr_t i = (intptr_t)index;
    char of[8];
    snprintf(of, sizeof of, "link%d", (int)i);
    name(of);
    pthread_mutex_lock(&chain[i]);
    sem_post(&ready);
    if (i < 2)
        pthread_mutex_lock(&chain[i + 1]);
    else {
        sem_wait(&begun);
        usleep((unsigned)strength_us);
    }
    if (i < 2)
        pthread_mutex_unlock(&chain[i + 1]);
    pthread_mutex_unlock(&chain[i]);
    return NULL;
}
static void *spinner(void *unused)
{
    name("spinner");
    pin(home);
    sem_post(&ready);
    sem_wait(&begun);
    while (!enough)
        ;
    return unused;
}
/* Holds the lock while it works, on a processor where others spin. */
static void *inverts(void *unused)
{
    name("holder");
    pin(home);
    pthread_mutex_lock(&inverted);
    sem_post(&ready);
    sem_wait(&begun);
    work(strength_us / 4);
    pthread_mutex_unlock(&inverted);
    return unused;
}
static void *signaller(void *unused)
{
    name("signaller");
    sem_post(&ready);
    sem_wait(&begun);
    usleep((unsigned)strength_us);
    pthread_mutex_lock(&queue_lock);
    queued = true;
    pthread_cond_signal(&queue);
    pthread_mutex_unlock(&queue_lock);
    return unused;
}
static void *child(void *unused)
{
    name("child");
    sem_post(&ready);
    sem_wait(&begun);
    usleep((unsigned)strength_us);
    return unused;
}
static void *poster(void *unused)
{
    name("poster");
    sem_post(&ready);
    sem_wait(&begun);
    usleep((unsigned)strength_us);
    sem_post(&tokens);
    return unused;
}
/* Writes a byte into a descriptor. */
static void *writer(void *fd)
{
    name("writer");
    sem_post(&ready);
    sem_wait(&begun);
    usleep((unsigned)strength_us);
    return write((int)(intptr_t)fd, "x", 1) == 1 ? NULL : fd;
}
/* Lives as long as the program, so that a stop is seen in two threads. */
static void *ticker(void *unused)
{
    name("ticker");
    for (;;)
        usleep(300000);
    return unused;
}

/* -------------------------------------------------------------- causes -- */

enum {
    LOCK,
    CHAIN,
    STARVED,
    INVERSION,
    CONDITION,
    JOIN,
    SEMAPHORE,
    ARENA,
    SLEEP,
    FIFO,
    SOCKET,
    FSYNC,
    FAULTS,
    STOP,
    CAUSES,
    HEALTHY = CAUSES
};
static const char *const names[] = {
    "lock",   "chain",     "starved", "inversion", "condition",
    "join",   "semaphore", "arena",   "sleep",     "fifo",
    "socket", "fsync",     "faults",  "stop",      "healthy"};

enum { THREADS = 4, PAGES = 4096 };
static pthread_t threads[THREADS];
static int count, fifo, file;
static char *pages;

static void start(void *(*run)(void *), void *with)
{
    pthread_create(&threads[count++], NULL, run, with);
    while (sem_wait(&ready))
        ;
}
static void prepare(int cause)
{
    count = 0;
    enough = queued = false;
    switch (cause) {
    case LOCK: start(holder, &table); break;
    case ARENA: start(holder, &arena); break;
    case CHAIN:
        for (intptr_t i = 2; i >= 0; i--)
            start(link_of, (void *)i);
        usleep(1000); /* they wait for each other */
        break;
    case INVERSION:
        for (int i = 0; i < 3; i++)
            start(spinner, NULL);
        start(inverts, NULL);
        break;
    case STARVED:
        for (int i = 0; i < 3; i++)
            start(spinner, NULL);
        break;
    case CONDITION: start(signaller, NULL); break;
    case JOIN: start(child, NULL); break;
    case SEMAPHORE: start(poster, NULL); break;
    case FIFO: start(writer, (void *)(intptr_t)fifo); break;
    case SOCKET: start(writer, (void *)(intptr_t)sockets[1]); break;
    case FAULTS:
        pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        break;
    default: break;
    }
}

/* Another process stops this one. */
static void stop(void)
{
    pid_t self = getpid();
    if (fork() == 0) {
        kill(self, SIGSTOP);
        stops[0] = now_ns();
        usleep((unsigned)strength_us);
        stops[1] = now_ns();
        kill(self, SIGCONT);
        _exit(0);
    }
}

static void with_lock(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}
static void suffer(int cause)
{
    static char block[1 << 16];
    char byte;
    uint64_t until = now_ns() + (uint64_t)strength_us * 1000;
    switch (cause) {
    case LOCK: with_lock(&table); break;
    case ARENA: with_lock(&arena); break;
    case CHAIN: with_lock(&chain[0]); break;
    case INVERSION: with_lock(&inverted); break;
    case STARVED: work(strength_us); break;
    case CONDITION:
        pthread_mutex_lock(&queue_lock);
        while (!queued)
            pthread_cond_wait(&queue, &queue_lock);
        pthread_mutex_unlock(&queue_lock);
        break;
    case JOIN: pthread_join(threads[--count], NULL); break;
    case SEMAPHORE: sem_wait(&tokens); break;
    case SLEEP: usleep((unsigned)strength_us); break;
    case FIFO: byte = (char)read(fifo, block, 1); break;
    case SOCKET: byte = (char)recv(sockets[0], &byte, 1, 0); break;
    case FSYNC:
        for (; now_ns() < until; syncs++)
            if (pwrite(file, block, sizeof block, 0) < 0 || fsync(file))
                abort();
        break;
    case STOP: burn(strength_us); break;
    case FAULTS:
        for (int i = 0; i < PAGES; i++)
            pages[i * 4096] = 1;
        break;
    default: break;
    }
}

static void recover(int cause)
{
    enough = true;
    if (cause == FAULTS)
        munmap(pages, PAGES * 4096);
    while (count)
        pthread_join(threads[--count], NULL);
    while (cause == STOP && wait(NULL) > 0)
        ;
    while (sem_trywait(&begun) == 0)
        ;
    pin(-1);
}

/* On a machine with other work, a cause may be over before it is met; fsync()
 * does not block on a disk in memory. */
static bool is_weak(int cause, uint64_t begin, uint64_t ns, uint64_t worked)
{
    uint64_t from = stops[0] > begin ? stops[0] : begin;
    uint64_t until = stops[1] < begin + ns ? stops[1] : begin + ns;
    if (cause == STOP)
        return from + ns / 2 >= until;
    if (cause == INVERSION) /* the holder had its time at once */
        return ns < (uint64_t)strength_us * 750;
    if (cause == FSYNC)
        return 2 * worked > ns || ns / syncs < 200000;
    return cause != HEALTHY && ns < 1000000;
}

static void request(int number, int cause)
{
    uint64_t begin, ns, worked;
    home = cause == STARVED || cause == INVERSION ? sched_getcpu() : -1;
    prepare(cause);
    if (cause == STARVED)
        pin(home);
    stops[0] = stops[1] = 0;
    if (cause == STOP)
        stop();
    for (int i = 0; i < THREADS; i++)
        sem_post(&begun);
    syncs = 0;
    begin = now_ns();
    worked = worked_ns();
    {
#ifndef WITHOUT_SPANS
        RECORDER_SPAN(app, "request %d", number);
#endif
        work(30);
        suffer(cause);
    }
    ns = now_ns() - begin;
    worked = worked_ns() - worked;
    printf("%d %s %llu\n", number,
           is_weak(cause, begin, ns, worked) ? "weak" : names[cause],
           (unsigned long long)ns);
    recover(cause);
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int requests = argc > 2 ? atoi(argv[2]) : 20;
    int causes = argc > 3 ? atoi(argv[3]) : CAUSES;
    pthread_t ticks;
    recorder_thread_name("main");
    sem_init(&tokens, 0, 0);
    sem_init(&begun, 0, 0);
    sem_init(&ready, 0, 0);
    stops = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                 -1, 0);
    pthread_create(&ticks, NULL, ticker, NULL);
    if (mkfifo("requests.fifo", 0600) ||
        (fifo = open("requests.fifo", O_RDWR)) < 0 ||
        (file = open("wal.log", O_RDWR | O_CREAT, 0600)) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        return 1;
    for (int i = 0; i < requests; i++) {
        int cause =
            (int)((unsigned)rand_r(&seed) / 7 % (2u * (unsigned)causes));
        strength_us = 4000 + (long)((unsigned)rand_r(&seed) % 16000);
        request(i, cause < causes ? cause : HEALTHY);
    }
    recorder_kernel_pour();
    return 0;
}
