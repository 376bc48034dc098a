/* Records all that a reader has to show, or at full speed, for the command. */
/* SPDX-License-Identifier: MIT */
/*
    command everything FILE   dumps into FILE, says so, and waits
    command core FILE         dumps into FILE, and leaves a core file
    command flood THREADS     records that check themselves, until it is killed
    command count N US        N records with their number, US microseconds
                              apart; the last number is kept in the file `last`
    command burst THREADS N US   N such records a thread, US microseconds
                              apart, each time that it is told to go
    command quiet             three records, and waits
    command names             three names from one buffer, and waits
    command words             its last words, when it is told to go
    command becomes           two records; when it is told to go, it runs
                              itself with other words, and waits

    All but the second say "PID N", and last for five minutes at most; count,
    burst and words until there is a file `end`. Go: there is a file `go`, which
    is removed; when that is done, one `done` is made.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder_dump.h"
#include "recorder_set.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

RECORDER(main, 4096, "All kinds of arguments");
RECORDER(small, 8, "Keeps 8");
RECORDER_LANES(laned, 64, 4, "In four rings");
RECORDER(texts, 4096, "Copied \"texts\", and <more>\n");
RECORDER(cut_texts, 32);
RECORDER(silent, 16, "Is off");
RECORDER(empty, 1);
RECORDER(flood, 1024, "At full speed");
RECORDER_TWEAK_DEFINE(retries, 3, "How often to try again");

#define FIFTY "fifty bytes of text in a format that never ends .."
#define LONG FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY
#define LONGER LONG LONG LONG LONG

static void numbers(void)
{
    record(main, "none");
    record(main, "%d %u %x %o %c", -1, 2u, 0xabcu, 8u, 'c');
    record(main, "%hhd %hd %ld %zu %#x", (signed char)44, (short)4464, -5L, (size_t)7, 255u);
    record(main, "%f %e %g %.3f", 1.5, 2e10, -0.1, 3.14159);
    record(main, "%8d|%-8d|%08d|%+d", 1, 2, 3, 4);
    record(main, "%*d|%-*d|%.*f", 6, 1, 6, 2, 2, 2.71828);
    record(main, "%d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8,
           9, 10, 11, 12);
    record(main, "%d %g %s %c %d %g", 1, 2.5, "three", '4', 5, 6.5);
    record(main, "100%% %p", (void *)0x1234);
}

static void strings(void)
{
    long page = sysconf(_SC_PAGESIZE);
    char *end = (char *)mmap(NULL, (size_t)(2 * page), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *heap = strdup("from the heap");
    static char fixed[] = "from the data\twith\n\"marks\" \x01\xff";
    char *stack = strcpy((char *)malloc(5000), "");
    memset(stack, 'l', 4999);
    stack[4999] = '\0';
    munmap(end + page, (size_t)page);
    memset(end, 'e', (size_t)page);
    record(main, "%s, %10.4s, %s", "a literal", "another",
           RECORDER_ADDRESS(heap));
    record(main, "%s", fixed);
    record(main, "%d %s %s", 1, RECORDER_ADDRESS(strerror(1)),
           RECORDER_ADDRESS(&fixed[0]));
    record(main, "long: %s", RECORDER_ADDRESS(stack));
    record(main, "no end: %.30s and %s", RECORDER_ADDRESS(end + page - 20),
           RECORDER_ADDRESS(end + page - 40));
    record(main, "bad: %s %s %s %s", RECORDER_ADDRESS((char *)1),
           (char *)NULL, RECORDER_ADDRESS((char *)(intptr_t)-4096),
           RECORDER_ADDRESS(end + page));
    record(main, LONG "%d", 1);
    record(main, LONGER "%d", 2);
}

static void copies(void)
{
    static char text[1300];
    unsigned length;
    for (length = 0; length <= 1200; length += length < 70 ? 1 : 113) {
        memset(text, 'a' + (int)(length % 26), length);
        text[length] = '\0';
        record(texts, "%u: %s|", length, RECORDER_COPY(texts, text));
    }
    record(texts, "%s %s %s", RECORDER_COPY(texts, "one"),
           RECORDER_COPY(small, "two"), RECORDER_COPY(laned, "three"));
    /* The first pieces are overwritten by what comes after. */
    memset(text, 'x', 600);
    text[600] = '\0';
    record(main, "cut: %s", RECORDER_COPY(cut_texts, text));
    for (length = 0; length < 20; length++)
        record(cut_texts, "over it %u", length);
    record(main, "kept: %s", RECORDER_COPY(cut_texts, text + 500));
}

static void *thread(void *number)
{
    char name[16];
    int i;
    snprintf(name, sizeof name, "worker %d", *(int *)number);
    if (*(int *)number % 2)
        recorder_thread_name(name);
    else
        pthread_setname_np(pthread_self(), name);
    for (i = 0; i < 100; i++) {
        record(laned, "%d of %d", i, *(int *)number);
        record(small, "%d", i);
    }
    return NULL;
}

static void everything(const char *path)
{
    static int numbers_of[6] = {0, 1, 2, 3, 4, 5};
    pthread_t threads[6];
    FILE *file = fopen(path, "w");
    int i;
    RECORDER_TRACE(silent) = -1;
    record(silent, "is not recorded");
    numbers();
    strings();
    copies();
    for (i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, thread, &numbers_of[i]);
    for (i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    if (getenv("CLEARED"))
        recorder_registry.cleared = 40;
    if (!file || recorder_dump_fd(fileno(file)) == 0)
        abort();
    fclose(file);
}

static int flood_count, flood_us; /* of each thread; 0: no end, no pause */

static void *flood_one(void *number)
{
    uintptr_t who = (uintptr_t)number, i;
    for (i = 0; !flood_count || i < (uintptr_t)flood_count; i++) {
        uintptr_t n = i * 4 + who;
        if (!flood_count && i % 4 == 3)
            record(flood, "%lu %lu %lu %lu %lu %lu", (unsigned long)n,
                   (unsigned long)n * 3, (unsigned long)n * 5,
                   (unsigned long)n ^ 0x5a, (unsigned long)n * 7,
                   (unsigned long)n + 9);
        else
            record(flood, "%lu %lu %lu %lu", (unsigned long)n,
                   (unsigned long)n * 3, (unsigned long)n * 5,
                   (unsigned long)n ^ 0x5a);
        if (flood_us)
            usleep((useconds_t)flood_us);
    }
    return NULL;
}

static void says(void)
{
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
}
static void waits(void)
{
    says();
    pause();
}

/* Waits until it is told to go; 0: it is told to end. */
static int told(void)
{
    while (unlink("go") != 0) {
        if (access("end", F_OK) == 0)
            return 0;
        usleep(1000);
    }
    return 1;
}
static void done(void)
{
    close(open("done", O_CREAT | O_WRONLY, 0600));
}

static void counts(int n, int us)
{
    int file = open("last", O_CREAT | O_RDWR | O_TRUNC, 0600), i;
    says();
    for (i = 1; access("end", F_OK) != 0; i++) {
        if (i <= n) {
            record(flood, "number %d", i);
            if (pwrite(file, &i, sizeof i, 0) != sizeof i)
                abort();
        }
        usleep((useconds_t)us);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t threads[16];
    int i;
    alarm(300);
    if (strcmp(what, "everything") == 0) {
        everything(argv[2]);
        waits();
    } else if (strcmp(what, "core") == 0) {
        struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
        setrlimit(RLIMIT_CORE, &all);
        everything(argv[2]);
        abort();
    } else if (strcmp(what, "quiet") == 0) {
        record(main, "first %d", 1);
        record(small, "second %s", "two");
        record(main, "third");
        waits();
    } else if (strcmp(what, "names") == 0) {
        const char *names[] = {"alice", "bob", "eve"};
        char buffer[8], *at = buffer;
        for (i = 0; i < 3; i++) {
            strcpy(at, names[i]);
            record(main, "%s login %s %s", "a", RECORDER_ADDRESS(at),
                   RECORDER_COPY(main, at));
        }
        waits();
    } else if (strcmp(what, "flood") == 0) {
        for (i = 0; i < atoi(argv[2]); i++)
            pthread_create(&threads[i], NULL, flood_one, (void *)(uintptr_t)i);
        waits();
    } else if (strcmp(what, "burst") == 0) {
        flood_count = atoi(argv[3]);
        flood_us = atoi(argv[4]);
        says();
        for (; told(); done()) {
            for (i = 0; i < atoi(argv[2]); i++)
                pthread_create(&threads[i], NULL, flood_one,
                               (void *)(uintptr_t)i);
            for (i = 0; i < atoi(argv[2]); i++)
                pthread_join(threads[i], NULL);
        }
    } else if (strcmp(what, "count") == 0) {
        counts(atoi(argv[2]), atoi(argv[3]));
    } else if (strcmp(what, "words") == 0) {
        record(main, "before");
        says();
        for (; told(); done())
            record(small, "last %s are %s", "words", "these");
    } else if (strcmp(what, "copies") == 0) {
        for (says(); told(); done())
            for (i = 0; i < atoi(argv[2]); i++)
                record(flood, "copy %d of %s", i, RECORDER_COPY(flood, what));
    } else if (strcmp(what, "becomes") == 0 && argc > 2) {
        record(small, "another %d", 2);
        done();
        pause();
    } else if (strcmp(what, "becomes") == 0) {
        record(main, "one %d", 1);
        record(main, "and %d", 2);
        says();
        if (told())
            execl("/proc/self/exe", argv[0], what, "again", (char *)NULL);
    }
    return 0;
}
