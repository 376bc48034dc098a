/* A program of parts: linked into it, linked as libraries, or opened later. */
/* SPDX-License-Identifier: MIT */
/*
    -DPARTS='X(one) X(two)'     the parts that are linked
    -DHOST=name                 the name of its own recorder

    host open LIBRARY:PART:MODE ...     MODE l or g: RTLD_LOCAL, RTLD_GLOBAL
    host fork LIBRARY:PART:MODE ...
    host preloaded LIBRARY:PART:MODE ...    as fork; they are there already
    host twins LIBRARY:PART:MODE LIBRARY:PART:MODE
    host borrow LIBRARY:PART:MODE LIBRARY:PART:MODE
    host crowd THREADS LIBRARY:PART:MODE
    host storm TIMES LIBRARY:PART:MODE

    Prints "ok" at the end, or says what is not so.
*/
#include "part.h"
#include "read.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef HOST
#define HOST host
#endif
#ifndef PARTS
#define PARTS
#endif

#define DECLARE(name) RECORDER_DECLARE_SHARED(name)
DECLARE(HOST)
RECORDER(HOST, 256, "The program's own");

#define X(which) extern const struct part part_##which;
#ifdef __cplusplus
extern "C" {
#endif
PARTS
#ifdef __cplusplus
}
#endif
#undef X

/* The parts that are there just now. */
enum { PARTS_MAX = 32 };
static struct {
    const struct part *part;
    char name[64];
    void *handle; /* null: linked */
} parts[PARTS_MAX];
static unsigned parts_count;
static bool preloaded; /* the parts' constructors were called before ours */

/* Goal: this part and the program are one. */
static void check(unsigned at)
{
    const struct part *part = parts[at].part;
    uintptr_t before = record(HOST, "before"), order = part->keep(4711);
    uintptr_t after = record(HOST, "after");
    MUST(order == before + 1);
    MUST(after == order + 1);
    MUST(part->found(order, 4711));
    MUST(part->registry() == (void *)recorder_home_.registry);
    MUST(part->thread() == RECORDER_THREAD());
}

static void *first_in_part(void *at)
{
    uintptr_t order = parts[*(unsigned *)at].part->keep(1);
    unsigned number = parts[*(unsigned *)at].part->thread();
    struct recorder_record found;
    MUST(record(HOST, "then here") == order + 1);
    MUST(RECORDER_THREAD() == number);
    MUST(recorder_commit_thread_(read_order(order, &found)) == number);
    MUST(recorder_commit_thread_(read_order(order + 1, &found)) == number);
    return NULL;
}
static void *first_in_program(void *at)
{
    uintptr_t order = record(HOST, "first here");
    unsigned number = RECORDER_THREAD();
    struct recorder_record found;
    MUST(parts[*(unsigned *)at].part->keep(1) == order + 1);
    MUST(parts[*(unsigned *)at].part->thread() == number);
    MUST(recorder_commit_thread_(read_order(order + 1, &found)) == number);
    return NULL;
}

static void check_threads(unsigned at)
{
    void *(*const ways[])(void *) = {first_in_part, first_in_program};
    unsigned i;
    for (i = 0; i < 2; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, ways[i], &at) == 0);
        MUST(pthread_join(thread, NULL) == 0);
    }
}

/* Opens what LIBRARY:PART:MODE says. Returns its place in the table. */
static unsigned open_part(const char *what)
{
    char library[256], symbol[80];
    const char *colon = strchr(what, ':'), *mode;
    uintptr_t before = record(HOST, "before it opens"), early;
    unsigned at = parts_count++;
    MUST(at < PARTS_MAX && colon && (mode = strchr(colon + 1, ':')) != NULL);
    mode = strchr(colon + 1, ':');
    snprintf(library, sizeof library, "%.*s", (int)(colon - what), what);
    snprintf(parts[at].name, sizeof parts[at].name, "%.*s",
             (int)(mode - colon - 1), colon + 1);
    snprintf(symbol, sizeof symbol, "part_%s", parts[at].name);
    parts[at].handle =
        dlopen(library, RTLD_NOW | (mode[1] == 'g' ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!parts[at].handle)
        fprintf(stderr, "%s\n", dlerror());
    MUST(parts[at].handle);
    parts[at].part = (const struct part *)dlsym(parts[at].handle, symbol);
    MUST(parts[at].part);
    early = parts[at].part->early(); /* its constructor found the counter */
    MUST(preloaded ? 0 < early && early < before : before < early);
    MUST(early < record(HOST, "behind that"));
    return at;
}

static void close_part(unsigned at)
{
    parts[at].part = NULL;
    MUST(dlclose(parts[at].handle) == 0);
}

/* All parts, one after the other, share orders, threads and the list. */
static void check_all(unsigned count)
{
    uintptr_t last = 0;
    unsigned i;
    for (i = 0; i < count; i++) {
        uintptr_t order;
        check(i);
        check_threads(i);
        MUST(read_listed(parts[i].name) == 1);
        MUST(parts[i].part->listed(parts[i].name) == 1);
        order = parts[i].part->keep((int)i);
        MUST(order > last);
        last = order;
    }
}

static void do_open(int count, char **what)
{
    unsigned linked = parts_count, i;
    int round;
    for (round = 0; round < 2; round++) { /* and again, after all were closed */
        for (i = 0; i < (unsigned)count; i++)
            open_part(what[i]);
        check_all(parts_count);
        for (i = linked; i < parts_count; i++)
            close_part(i);
        for (i = linked; i < parts_count; i++)
            MUST(read_listed(parts[i].name) == 0);
        parts_count = linked;
        check_all(parts_count);
    }
}

static void record_in_child(void) { record(HOST, "from a handler of fork()"); }

/* The child of a fork() has one number, and it is a new one, everywhere; a row
 * that it got in a handler of fork() stays its own. */
static void do_fork(int count, char **what)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    unsigned number, i;
    int status;
    pid_t child;
    pthread_atfork(NULL, NULL, record_in_child);
    for (i = 0; i < (unsigned)count; i++)
        open_part(what[i]);
    check_all(parts_count);
    number = RECORDER_THREAD();
    fflush(NULL);
    child = fork();
    MUST(child >= 0);
    if (child == 0) {
        for (i = 0; i < parts_count; i++) {
            struct recorder_record found;
            uintptr_t order = parts[i].part->keep(1);
            MUST(recorder_commit_thread_(read_order(order, &found)) != number);
            MUST(parts[i].part->thread() != number);
        }
        check_all(parts_count);
        MUST(registry->threads[RECORDER_THREAD() - 1].state ==
             RECORDER_ROW_ALIVE_);
        MUST(registry->pid == getpid());
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
    check_all(parts_count);
    MUST(RECORDER_THREAD() == number);
}

/* Two libraries that define a recorder of one name, "twin": both can record and
 * be read, and what is left when one is closed still is in the list. */
static void do_twins(char **what)
{
    uintptr_t one, two;
    unsigned first = open_part(what[0]), second = open_part(what[1]);
    check(first);
    check(second);
    one = parts[first].part->keep(1);
    two = parts[second].part->keep(2);
    MUST(parts[first].part->found(one, 1) && parts[first].part->found(two, 2));
    MUST(read_listed("twin") == 2);
    close_part(second);
    check(first);
    MUST(parts[first].part->found(one, 1));
    MUST(read_listed("twin") == 1);
    close_part(first);
    MUST(read_listed("twin") == 0);
}

/* The second library has no recorder, but uses one of the first. */
static void do_borrow(char **what)
{
    unsigned first = open_part(what[0]), second = open_part(what[1]);
    check(first);
    check(second);
    check_threads(second);
    MUST(parts[second].part->keep(1) + 1 == parts[first].part->keep(1));
}

/* Many living threads record in a part at once. */
static pthread_barrier_t gate;
static void *one_of_crowd(void *at)
{
    const struct part *part = parts[0].part;
    unsigned i;
    part->keep(1);
    record(HOST, "too");
    MUST(part->thread() == RECORDER_THREAD());
    *(unsigned *)at = part->thread();
    pthread_barrier_wait(&gate);
    for (i = 0; i < 10; i++)
        part->keep(2);
    pthread_barrier_wait(&gate);
    return NULL;
}
static void do_crowd(unsigned count, const char *what)
{
    pthread_t *threads = (pthread_t *)calloc(count, sizeof *threads);
    unsigned *numbers = (unsigned *)calloc(count, sizeof *numbers), i, j;
    const struct recorder_registry *registry = recorder_home_.registry;
    record(HOST, "the table is the program's");
    MUST(open_part(what) == 0);
    pthread_barrier_init(&gate, NULL, count + 1);
    for (i = 0; i < count; i++)
        MUST(pthread_create(&threads[i], NULL, one_of_crowd, &numbers[i]) == 0);
    pthread_barrier_wait(&gate);
    for (i = 0; i < count; i++) {
        MUST(numbers[i] == RECORDER_THREAD_SHARED ||
             numbers[i] <= registry->threads_max);
        for (j = 0; j < i && numbers[i] != RECORDER_THREAD_SHARED; j++)
            MUST(numbers[i] != numbers[j]);
    }
    pthread_barrier_wait(&gate);
    for (i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(numbers);
}

/* A library comes and goes while others record and somebody reads. */
static int storm_over;
static char storm_name[64]; /* of the library's recorder */
static unsigned storm_seen; /* how often a reader met it */
static void *storm_writer(void *none)
{
    uintptr_t last = 0;
    while (!__atomic_load_n(&storm_over, __ATOMIC_RELAXED)) {
        uintptr_t order = record(HOST, "%s %d", "a record", 1);
        MUST(order > last);
        last = order;
    }
    return none;
}
static void *storm_reader(void *none)
{
    while (!__atomic_load_n(&storm_over, __ATOMIC_RELAXED)) {
        const struct recorder *recorder;
        for (recorder = __atomic_load_n(&read_begin()->first, __ATOMIC_SEQ_CST);
             recorder;
             recorder = __atomic_load_n(&recorder->next, __ATOMIC_SEQ_CST)) {
            struct recorder_record found;
            uintptr_t slot;
            if (strcmp(recorder->name, storm_name) == 0) {
                __atomic_fetch_add(&storm_seen, 1, __ATOMIC_RELAXED);
                sched_yield(); /* a time to lose it */
            }
            for (slot = 0; slot <= recorder->mask; slot++)
                if (recorder_look_(recorder->rings, recorder->mask, slot,
                                   &found))
                    MUST(found.order != 0 && found.format != 0);
        }
        read_end();
        sched_yield();
    }
    return none;
}
static void do_storm(unsigned times, const char *what)
{
    pthread_t writers[4], reader;
    unsigned i;
    open_part(what);
    strcpy(storm_name, parts[0].name);
    close_part(0);
    for (i = 0; i < 4; i++)
        MUST(!pthread_create(&writers[i], NULL, storm_writer, NULL));
    MUST(!pthread_create(&reader, NULL, storm_reader, NULL));
    for (i = 0; i < times; i++) {
        uintptr_t order;
        parts_count = 0;
        open_part(what);
        order = parts[0].part->keep((int)i);
        MUST(parts[0].part->found(order, (int)i));
        if (i % 128 == 0) { /* now and then, long enough to be seen */
            unsigned before = __atomic_load_n(&storm_seen, __ATOMIC_RELAXED);
            while (__atomic_load_n(&storm_seen, __ATOMIC_RELAXED) == before)
                usleep(100);
        }
        close_part(0);
    }
    __atomic_store_n(&storm_over, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 4; i++)
        pthread_join(writers[i], NULL);
    pthread_join(reader, NULL);
    MUST(read_listed(storm_name) == 0);
    MUST(recorder_home_.registry->readers == 0);
}

int main(int count, char **what)
{
    const char *order = count > 1 ? what[1] : "";
#define X(which)                                                               \
    parts[parts_count].part = &part_##which;                                   \
    strcpy(parts[parts_count++].name, #which);
    PARTS
#undef X
    check_all(parts_count);
    preloaded = strcmp(order, "preloaded") == 0;
    if (strcmp(order, "open") == 0)
        do_open(count - 2, what + 2);
    else if (strcmp(order, "fork") == 0 || preloaded)
        do_fork(count - 2, what + 2);
    else if (strcmp(order, "twins") == 0 && count == 4)
        do_twins(what + 2);
    else if (strcmp(order, "borrow") == 0 && count == 4)
        do_borrow(what + 2);
    else if (strcmp(order, "crowd") == 0 && count == 4)
        do_crowd((unsigned)atoi(what[2]), what[3]);
    else if (strcmp(order, "storm") == 0 && count == 4)
        do_storm((unsigned)atoi(what[2]), what[3]);
    else
        MUST(count == 1);
    puts("ok");
    return 0;
}
