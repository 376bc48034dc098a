/* diffs.c - small programs with bugs to choose: for outside/diff.c. */
/* SPDX-License-Identifier: MIT */
/*
    RECORDER_FILE=x.rec ./diffs PROGRAM BUG SEED [SIGMAS]     BUG 0: none

   tokens: a parser of a fixed text, the same in each run but for its addresses
   and durations. sensor: numbers by chance. frames: spans and steps. sessions:
   they take turns. bank: threads that race. handles: numbers
   that are used again. units: threads that do not race. flushes: they take
   long now and then. The runs of one program differ by SEED without any bug.
*/
#include "recorder_dump.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

RECORDER(work, 32768, "What it does")
RECORDER(cash, 32768, "Transfers")
RECORDER(main, 64, "Start and end")

static int bug;
static double sigmas;
static unsigned seed;

static unsigned chance(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void spin(double ns)
{
    double end = now_ns() + ns;
    while (now_ns() < end)
        ;
}

/* ---------------------------------------------------------------- tokens -- */

static void tokens(void)
{
    unsigned state = 42;
    double start = now_ns();
    record(main, "parse %s flags=%d", "input.txt", bug == 4 ? 3 : 1);
    for (int i = 1; i <= 1500; i++) {
        int value = (int)chance(&state, 1000);
        char *node = malloc(16 + chance(&state, 64));
        if (i == (bug == 1 ? 1000 : bug == 5 ? 100 : 0))
            value++;
        if (bug == 6 && i > 60 && i % 20 == 0)
            value += 1000;
        if (bug != 2 || i != 1000)
            record(work, "token %d value=%d", i, value);
        if (bug == 3 && i == 1000)
            record(work, "token %d value=%d", i, value);
        if (value % 3 == 0)
            record(work, "node %p size=%d", (void *)node, value / 3);
        if (chance(&state, 2))
            free(node);
    }
    record(main, "done in %.0f ns", now_ns() - start);
}

/* ---------------------------------------------------------------- sensor -- */

/* The temperature: 1: drifts by SIGMAS. 2: is NAN. 3: is stuck. 4: varies more.
 * 5: is larger. 6: the mode varies. */
static void sensor(void)
{
    unsigned state = seed;
    double last = 0;
    for (int i = 0; i < 3000; i++) {
        double sum = -6, x;
        for (int k = 0; k < 12; k++)
            sum += chance(&state, 10000) / 10000.0;
        x = 20 + sum;
        if (bug == 1)
            x += sigmas * i / 3000;
        if (bug == 2 && i % 5 < 2)
            x = NAN;
        if (bug == 3 && i > 1500)
            x = last;
        if (bug == 4)
            x = 20 + 2 * sum;
        if (bug == 5)
            x += 1;
        last = x;
        record(work, "temp=%.3f mode=%d", x, bug == 6 && i % 50 == 7 ? 2 : 1);
    }
}

/* ---------------------------------------------------------------- frames -- */

/* 1: everything takes 10 times longer. 2: one step 3 times. 3: stalls of
 * 300 us, 20 in 1,900. 4: the second half takes longer. */
static void frames(void)
{
    unsigned state = seed;
    double all = bug == 1 ? 10 : 1;
    for (int i = 0; i < 1900; i++) {
        double each = 1 + chance(&state, 1000) / 1000.0;
        RECORDER_SPAN(work, "frame %d", i);
        spin(all * each * 2000);
        record(work, "decode");
        spin(all * each * (bug == 2 ? 18000 : 6000));
        record(work, "scale");
        if (bug == 3 && i % 95 == 50)
            spin(300000);
        spin(all * each * 1500);
        record(work, "mix");
        spin(all * each * 4000 * (bug == 4 && i > 950 ? 3 : 1));
    }
}

/* -------------------------------------------------------------- sessions -- */

/* Sessions take turns by chance; jobs have kinds, and slots other numbers in each
 * run. 1: some sessions get no key. 2: some mails are sent as news are. 3: a
 * size is at most 3,000. 4: more retries. */
static void sessions(void)
{
    unsigned state = seed, step[16] = {0};
    for (int i = 0; i < 6000; i++) {
        unsigned id = chance(&state, 16), luck = chance(&state, 1000);
        unsigned size = 100 + chance(&state, 4000);
        bool mail = chance(&state, 2);
        if (step[id] == 0) {
            record(work, "opens session=%u", id);
            if (bug == 1 && luck < 50)
                step[id]++;
        } else if (step[id] == 1) {
            record(work, "has the key session=%u", id);
        } else if (step[id] < 6) {
            record(work, "job kind=%s", mail ? "mail" : "news");
            if (bug == 2 ? mail && luck >= 50 : mail)
                record(work, "sends by smtp");
            else
                record(work, "sends by nntp");
            if (luck >= (bug == 4 ? 950 : 990))
                record(work, "tries again");
            record(work, "size %u", bug == 3 && size > 3000 ? 3000 : size);
            record(work, "fills slot %u",
                   chance(&state, 7) ? chance(&state, 64) : seed / 64 % 64);
        } else {
            record(work, "closes session=%u", id);
        }
        step[id] = (step[id] + 1) % 7;
    }
}

/* ------------------------------------------------------------------ bank -- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* 1: more misses. 2: no lock, now and then. 3: leaks. 4: one thread has a
 * status that no other has. 5: its arguments are logged; 6: now and then. */
static void *clerk(void *argument)
{
    int number = *(int *)argument;
    unsigned state = seed + (unsigned)number * 7919;
    for (unsigned i = 0; i < 800 + seed % 200; i++) {
        bool hit = chance(&state, 100) < (bug == 1 ? 60u : 90u);
        bool locks = bug != 2 || chance(&state, 100) > 0;
        void *note = malloc(32 + chance(&state, 100));
        record(cash, "> transfer from=%u amount=%u", chance(&state, 8),
               1 + chance(&state, 100));
        if (hit)
            record(work, "hit");
        else
            record(work, "miss");
        if (locks) {
            pthread_mutex_lock(&mutex);
            record(cash, "locked");
        }
        if (locks) {
            record(cash, "unlock");
            pthread_mutex_unlock(&mutex);
        }
        record(work, "note %p", note);
        if (bug != 3 || chance(&state, 20))
            record(work, "forget %p", note);
        if (bug >= 5 && i == 700 && (bug == 5 || number == 0))
            record(work, "audit");
        free(note);
        record(cash, "< transfer status=%d",
               bug == 4 && number == 3 && i % 16 == 0 ? 3 : 0);
    }
    return NULL;
}

/* --------------------------------------------------------------- handles -- */

/* The lowest handle that is free, as descriptors are; more are open in some runs.
 * 1: some are not drained. 2: the limit of all is another. */
static void handles(void)
{
    unsigned state = seed, most = 8 + seed % 3;
    char open[16] = {0}, name[] = "/tmp/diffsXXXXXX";
    if (mkstemp(name) < 0)
        exit(1);
    unlink(name);
    record(main, "spools to %s, limit=%d", name, bug == 2 ? 9 : 10);
    for (int i = 0; i < 6000; i++) {
        unsigned at = 0, any = chance(&state, most);
        while (open[at])
            at++;
        if (at < most && chance(&state, 3)) {
            open[at] = 1;
            record(work, "accept %d", (int)at);
        } else if (open[any] == 1) {
            record(work, "%d bytes for %d", (int)(100 + chance(&state, 900)),
                   (int)any);
            open[any] = 2;
        } else if (open[any] == 2) {
            if (bug != 1 || chance(&state, 30))
                record(work, "drain %d", (int)any);
            record(work, "shut %d", (int)any);
            open[any] = 0;
        }
    }
}

/* ----------------------------------------------------------------- units -- */

/* Threads that each do the same in all runs, and begin in any order. 1: one of
 * them lacks a record. */
static void *unit(void *argument)
{
    int number = *(int *)argument;
    unsigned state = (unsigned)number + 7;
    struct timespec some = {0, (long)(seed >> number * 4 & 7) * 1000000};
    nanosleep(&some, NULL);
    for (int i = 0; i < 500; i++) {
        unsigned op = chance(&state, 9), of = chance(&state, 64);
        if (bug != 1 || number != 2 || i != 300)
            record(work, "op %u of %u", op, of);
        if (op == 7)
            record(work, "spill %u", chance(&state, 256));
    }
    return NULL;
}

/* --------------------------------------------------------------- flushes -- */

/* Times from 20 ms on, a third of them twice as long, a third of these again. 1: all
 * are 8 times as long. 2: a limit is smaller. */
static void flushes(void)
{
    unsigned state = seed;
    for (int i = 0; i < 400; i++) {
        record(work, "waits at most %d ms", bug == 2 ? 50 : 500);
        double ms = (bug == 1 ? 8 : 1) * (20 + chance(&state, 100) / 100.0);
        while (chance(&state, 3) == 0)
            ms *= 2;
        record(work, "flush %d took=%.2f ms", i, ms);
    }
}

static void in_threads(void *(*runs)(void *))
{
    pthread_t threads[4];
    int numbers[4];
    for (int i = 0; i < 4; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, runs, &numbers[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void bank(void)
{
    record(main, "opens with %d clerks", 4);
    in_threads(clerk);
    record(main, "closes");
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    bug = atoi(argv[2]);
    seed = (unsigned)atoi(argv[3]) * 2654435761u;
    sigmas = argc > 4 ? atof(argv[4]) : 0;
    if (strcmp(argv[1], "tokens") == 0)
        tokens();
    else if (strcmp(argv[1], "sensor") == 0)
        sensor();
    else if (strcmp(argv[1], "frames") == 0)
        frames();
    else if (strcmp(argv[1], "sessions") == 0)
        sessions();
    else if (strcmp(argv[1], "handles") == 0)
        handles();
    else if (strcmp(argv[1], "units") == 0)
        in_threads(unit);
    else if (strcmp(argv[1], "flushes") == 0)
        flushes();
    else
        bank();
    return 0;
}
