/* diff.c - a server of requests, with bugs to choose: for outside/diff.c. */
/* SPDX-License-Identifier: MIT */
/*
    RECORDER_FILE=x.rec ./diff BUG SEED [TIMES [stay]]      BUG 0: none

   TIMES: of the usual number of requests; stay: says its id and waits, at the
   end.
   Each run differs from the next without any bug: in how many requests there
   are, what they ask for and how large it is, what is cached, which worker
   takes which request and when, and by the addresses of it all.
*/
#include "recorder_dump.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef SLOTS
#define SLOTS 16384
#endif
RECORDER(net, SLOTS, "Requests and replies")
RECORDER(pool, SLOTS, "Buffers and locks")
RECORDER(disk, SLOTS, "Files")
RECORDER(main, 256, "Start, stop, heartbeat")

enum { WORKERS = 3, CLIENTS = 5, TABLE = 16, CHUNKS = 8 };

enum bug {
    NONE,
    UNLOCK,   /* a lock is kept where nothing was found */
    STATUS,   /* a wrong status */
    SLOW,     /* a checksum takes 2 ms */
    RETRIES,  /* more of them */
    CHECKSUM, /* an error, once */
    REORDER,  /* committed before it is flushed */
    SHORT,    /* the last chunk is left out */
    WAKEUP,   /* a signal is lost now and then */
    LEAK,     /* buffers are not given back */
    STOPS,    /* the heartbeat ends early */
    EXTRA,    /* a thread more */
    NULLED,   /* a session that is not found */
    TWICE,    /* a file is closed twice, and the process crashes */
    CLOSE,    /* files are left open */
    SIZE      /* a length that wrapped */
};

static enum bug bug;
static unsigned requests, in_use;
static bool stops, once;
static char table[TABLE];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static pthread_cond_t less = PTHREAD_COND_INITIALIZER;
static unsigned queued, taken;
static pthread_barrier_t all;

static unsigned chance(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static void pause_us(long us)
{
    struct timespec t = {0, us * 1000};
    nanosleep(&t, NULL);
}

/* ---------------------------------------------------------------- worker -- */

static void lock(void)
{
    record(pool, "lock table");
}
static void unlock(void)
{
    record(pool, "unlock table");
}
static void flush(void)
{
    record(disk, "flush journal");
}
static void commit(void)
{
    record(disk, "commit journal");
}
static void close_file(unsigned fd)
{
    record(disk, "close %u", fd);
}

static void file_read(unsigned *state, unsigned request, bool last)
{
    static const char *const files[] = {"index", "photo", "style", "script"};
    unsigned fd = 3 + chance(state, 4), i;
    unsigned chunks = bug == SHORT ? CHUNKS - 1 : CHUNKS;
    record(disk, "open %s as %u", files[chance(state, 4)], fd);
    for (i = 1; i <= chunks; i++) {
        record(disk, "chunk %u of %u", i, (unsigned)CHUNKS);
        while (chance(state, 100) < (bug == RETRIES ? 30u : 4u))
            record(disk, "retry chunk %u", i);
    }
    if (bug == CHECKSUM && last && !__atomic_exchange_n(&once, true, 5))
        record(disk, "checksum of chunk %u is wrong", 3u);
    if (bug == SLOW)
        pause_us(2000);
    record(disk, "checksum %#x", chance(state, 1u << 24));
    if (bug != CLOSE || request % 8 != 5)
        close_file(fd);
    if (bug == TWICE && last) {
        close_file(fd);
        raise(SIGKILL);
    }
}

static void store(void)
{
    if (bug == REORDER)
        commit();
    flush();
    if (bug != REORDER)
        commit();
}

static void buffer_use(unsigned *state, unsigned size)
{
    unsigned now = __atomic_add_fetch(&in_use, 1, 5);
    record(pool, "take a buffer of %u, %u in use", size, now);
    if (chance(state, 3) == 0)
        record(pool, "buffer grows to %u", size * 2);
    if (bug != LEAK || chance(state, 4))
        now = __atomic_sub_fetch(&in_use, 1, 5);
    record(pool, "give it back, %u in use", now);
}

static void request_serve(unsigned *state, unsigned request)
{
    static const char *const clients[CLIENTS] = {"ann", "bob", "cid", "dee",
                                                 "eve"};
    unsigned size = 64 + chance(state, 4000) * (1 + chance(state, 4));
    bool found = chance(state, 3) > 0, last = request > requests / 2;
    char *session = &table[chance(state, TABLE)];
    int status = 200;
    record(net, ">request %u", request);
    if (bug == NULLED && chance(state, 30) == 0)
        session = NULL;
    record(net, "session %p of %s", (void *)session,
           clients[chance(state, CLIENTS)]);
    lock();
    if (found)
        record(pool, "found %u", request);
    else
        record(pool, "not found %u", request);
    if (bug != UNLOCK || found || chance(state, 8))
        unlock();
    if (!found) {
        file_read(state, request, last);
        buffer_use(state, size);
    }
    if (chance(state, 10) == 0)
        status = 304;
    else if (chance(state, 5) == 0)
        store();
    if (bug == STATUS && chance(state, 40) == 0)
        status = 206;
    if (bug == SIZE && chance(state, 60) == 0)
        size = 0u - size;
    record(net, "reply %d with %u bytes", status, size);
    record(net, "<request");
}

static void *worker(void *argument)
{
    unsigned state = *(unsigned *)argument, mine;
    recorder_thread_name("worker");
    pthread_barrier_wait(&all);
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (taken == queued && !stops) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += 120000000;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            record(net, "sleeps");
            pthread_cond_timedwait(&more, &mutex, &until);
            record(net, "woken, %u wait", queued - taken);
        }
        if (taken == queued) {
            pthread_mutex_unlock(&mutex);
            break;
        }
        mine = taken++;
        pthread_cond_signal(&less);
        pthread_mutex_unlock(&mutex);
        request_serve(&state, mine);
    }
    record(net, "worker ends");
    return NULL;
}

/* ------------------------------------------------------------------ main -- */

static void *beats(void *argument)
{
    unsigned count = 0, until = *(unsigned *)argument;
    recorder_thread_name("beat");
    pthread_barrier_wait(&all);
    while (!__atomic_load_n(&stops, 5) && (bug != STOPS || count < until)) {
        record(main, "beat %u", ++count);
        pause_us(500);
    }
    return NULL;
}

static void *sweeps(void *argument)
{
    (void)argument;
    recorder_thread_name("sweep");
    pthread_barrier_wait(&all);
    while (!__atomic_load_n(&stops, 5)) {
        lock();
        unlock();
        pause_us(3000);
    }
    return NULL;
}

static void queue(unsigned *state)
{
    unsigned i;
    for (i = 0; i < requests; i++) {
        pthread_mutex_lock(&mutex);
        queued++;
        record(net, "queue %u", i);
        /* Of a lost signal, a worker finds out when its time is over. */
        if (bug != WAKEUP || i % 100 != 50)
            pthread_cond_signal(&more);
        while (taken < queued)
            pthread_cond_wait(&less, &mutex);
        record(net, "%u is taken", i);
        pthread_mutex_unlock(&mutex);
        pause_us((long)(20 + chance(state, 60)));
    }
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&stops, true, 5);
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
    pthread_t workers[WORKERS], beat, sweep;
    unsigned seeds[WORKERS], state, i, beats_max = 15;
    bug = argc > 1 ? (enum bug)atoi(argv[1]) : NONE;
    state = argc > 2 ? (unsigned)atoi(argv[2]) * 2654435761u : 1;
    requests = 400 + chance(&state, 600);
    if (argc > 3)
        requests *= (unsigned)atoi(argv[3]);
    record(main, "starts, %d workers", (int)WORKERS);
    record(main, "reads /etc/server.conf");
    record(main, "listens on port %d", 8080);
    pthread_barrier_init(&all, NULL, WORKERS + 2 + (bug == EXTRA));
    pthread_create(&beat, NULL, beats, &beats_max);
    for (i = 0; i < WORKERS; i++) {
        seeds[i] = chance(&state, 1u << 24);
        pthread_create(&workers[i], NULL, worker, &seeds[i]);
    }
    if (bug == EXTRA)
        pthread_create(&sweep, NULL, sweeps, NULL);
    pthread_barrier_wait(&all);
    queue(&state);
    for (i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    pthread_join(beat, NULL);
    if (bug == EXTRA)
        pthread_join(sweep, NULL);
    record(main, "stops after %u requests", requests);
    if (argc > 4) {
        printf("PID %d\n", (int)getpid());
        fflush(stdout);
        pause();
    }
    return 0;
}
