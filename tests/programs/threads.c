/* threads.c - waits of every kind, in a program that knows no recorder. */
/* SPDX-License-Identifier: MIT */
/*
    ./threads WAIT [N]     says "PID n" when its threads are about to wait, or
    ./threads WAIT N core  aborts a little later: it leaves a core file
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { MUTEXES = 512 };
pthread_mutex_t cash = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t bank = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t ring[MUTEXES];
pthread_mutex_t recursive;
pthread_mutex_t inheriting;
pthread_mutex_t robust;
mtx_t plain;
pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t pages = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
pthread_mutex_t ready_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t late_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t gate;
pthread_once_t setup = PTHREAD_ONCE_INIT;
sem_t items;
static pthread_barrier_t both;
static long count = 1;

static void nap(void)
{
    for (;;)
        pause();
}
static pthread_t thread(const char *name, void *(*run)(void *), void *with)
{
    pthread_t made;
    if (pthread_create(&made, NULL, run, with) != 0)
        exit(1);
    pthread_setname_np(made, name);
    return made;
}
/* Does another thread run? */
static int others_run(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    int run = 0;
    while (tasks && (entry = readdir(tasks))) {
        char path[300], text[128] = "";
        FILE *stat;
        if (*entry->d_name == '.' || atoi(entry->d_name) == (int)gettid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
        stat = fopen(path, "r");
        if (stat && fread(text, 1, sizeof text - 1, stat) > 0)
            run |= strstr(text, ") R ") != NULL;
        if (stat)
            fclose(stat);
    }
    if (tasks)
        closedir(tasks);
    return run;
}
/* Waits until all threads but this one do, or for so many ms. */
static void settle(int ms)
{
    do
        usleep(1000);
    while (others_run() && --ms > 0);
}
/* So that a thread which is named later waits later, too. */
static pthread_t after(const char *name, void *(*run)(void *), void *with)
{
    pthread_t made = thread(name, run, with);
    settle(5000);
    return made;
}

/* ------------------------------------------------------------- deadlocks -- */

/* Takes a lock, waits until the others have theirs, and wants the next. */
__attribute__((noinline)) static void transfer(pthread_mutex_t *from,
                                               pthread_mutex_t *to)
{
    pthread_mutex_lock(from);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(to); /* waits here */
    pthread_mutex_unlock(to);
    pthread_mutex_unlock(from);
}
static void *deposit(void *with)
{
    transfer(&cash, &bank);
    return with;
}
static void *withdraw(void *with)
{
    transfer(&bank, &cash);
    return with;
}
static void *in_circle(void *with)
{
    size_t i = (size_t)with;
    transfer(&ring[i], &ring[(i + 1) % (size_t)count]);
    return with;
}
static void two(void)
{
    pthread_barrier_init(&both, NULL, 2);
    thread("deposit", deposit, NULL);
    thread("withdraw", withdraw, NULL);
}
static void circle(void)
{
    pthread_barrier_init(&both, NULL, (unsigned)count);
    for (long i = 0; i < count; i++) {
        pthread_mutex_init(&ring[i], NULL);
        thread("circle", in_circle, (void *)i);
    }
}
static void *again(void *with)
{
    pthread_mutex_lock(&cash);
    pthread_mutex_lock(&cash);
    return with;
}
static void self(void)
{
    thread("self", again, NULL);
}

static void *reads_pages(void *with)
{
    pthread_rwlock_wrlock(&table);
    pthread_barrier_wait(&both);
    pthread_rwlock_rdlock(&pages);
    return with;
}
static void *writes_table(void *with)
{
    pthread_rwlock_wrlock(&pages);
    pthread_barrier_wait(&both);
    pthread_rwlock_wrlock(&table);
    return with;
}
static void rwlocks(void)
{
    pthread_barrier_init(&both, NULL, 2);
    thread("reads", reads_pages, NULL);
    thread("writes", writes_table, NULL);
}

static pthread_t partner[2];
static void *joins(void *with)
{
    pthread_barrier_wait(&both);
    pthread_join(partner[(size_t)with], NULL);
    return with;
}
static void joining(void)
{
    pthread_barrier_init(&both, NULL, 3);
    partner[0] = thread("first", joins, (void *)1);
    partner[1] = thread("second", joins, (void *)0);
    pthread_barrier_wait(&both);
}
/* One waits for the other's end, who waits for a lock of the first. */
static void *wants_cash(void *with)
{
    pthread_mutex_lock(&cash);
    return with;
}
static void *joins_holding(void *with)
{
    pthread_mutex_lock(&cash);
    pthread_join(after("wants", wants_cash, NULL), NULL);
    return with;
}
static void join_and_lock(void)
{
    thread("joins", joins_holding, NULL);
}

/* A thread that has ended keeps its lock; so does the first one. */
static void *keeps_bank(void *with)
{
    pthread_mutex_lock(&bank);
    return with;
}
static void *wants_bank(void *with)
{
    pthread_mutex_lock(&bank);
    return with;
}
static void ended(void)
{
    pthread_mutex_lock(&cash);
    after("keeps", keeps_bank, NULL);
    after("wants_bank", wants_bank, NULL);
    after("wants_cash", wants_cash, NULL);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pthread_exit(NULL);
}

/* A robust lock, left by a thread that has ended: the next one has it, and did
 * not say yet that what it guards is well again. */
static void *leaves(void *with)
{
    pthread_mutex_lock(&robust);
    return with;
}
static void *recovers(void *with)
{
    if (pthread_mutex_lock(&robust) != EOWNERDEAD)
        exit(1);
    nap();
    return with;
}
static void *wants_robust(void *with)
{
    pthread_mutex_lock(&robust);
    return with;
}
static void recovered(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &kind);
    pthread_join(thread("leaves", leaves, NULL), NULL);
    after("recovers", recovers, NULL);
    after("wants_robust", wants_robust, NULL);
}

/* ----------------------------------------------------------- no deadlock -- */

static struct timespec in_an_hour(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 3600;
    return time;
}
/* Three locks in a circle. Of those who take the first pair, `recorder run` tells
 * two, who take the other pairs, too. */
static void *takes_pairs(void *pairs)
{
    for (const char *pair = pairs; *pair; pair += 2) {
        pthread_mutex_lock(&ring[pair[0] - '0']);
        pthread_mutex_lock(&ring[pair[1] - '0']);
        pthread_mutex_unlock(&ring[pair[1] - '0']);
        pthread_mutex_unlock(&ring[pair[0] - '0']);
    }
    nap();
    return NULL;
}
static void third(void)
{
    after("first", takes_pairs, "0120");
    after("second", takes_pairs, "0112");
    after("third", takes_pairs, "01");
}
/* Two mutexes that inherit priorities: the kernel refuses whoever comes last. */
static void *wants_other(void *own)
{
    pthread_mutex_lock(&ring[own != NULL]);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&ring[own == NULL]);
    return own;
}
static void refused(void)
{
    pthread_mutexattr_t inherit;
    pthread_mutexattr_init(&inherit);
    pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
    for (int i = 0; i < 2; i++)
        pthread_mutex_init(&ring[i], &inherit);
    pthread_barrier_init(&both, NULL, 2);
    thread("inherits", wants_other, NULL);
    thread("inherits", wants_other, &ring);
}
/* Locks of a thread each, in the same memory, the other way round. */
static pthread_mutex_t *lent;
static void *takes_lent(void *first)
{
    int at = first != NULL;
    pthread_mutex_lock(&lent[at]);
    pthread_mutex_lock(&lent[!at]);
    pthread_mutex_unlock(&lent[!at]);
    pthread_mutex_unlock(&lent[at]);
    return NULL;
}
static void lends(void)
{
    if (!(lent = calloc(2, sizeof *lent)))
        exit(1);
    after("lent", takes_lent, NULL);
    after("lent_again", takes_lent, lent);
}
static void *timed(void *with)
{
    struct timespec time = in_an_hour();
    pthread_mutex_timedlock(&cash, &time);
    return with;
}
static void *lock_recursive(void *with)
{
    pthread_mutex_lock(&recursive);
    return with;
}
static void *lock_inheriting(void *with)
{
    pthread_mutex_lock(&inheriting);
    return with;
}
static void *lock_plain(void *with)
{
    mtx_lock(&plain);
    return with;
}
static void *wait_ready(void *with)
{
    pthread_mutex_lock(&ready_mutex);
    pthread_cond_wait(&ready, &ready_mutex);
    return with;
}
static void *wait_timed(void *with)
{
    struct timespec time = in_an_hour();
    pthread_mutex_lock(&ready_mutex);
    pthread_cond_timedwait(&ready, &ready_mutex, &time);
    return with;
}
/* Was woken, and cannot have its mutex back. */
static pthread_cond_t late = PTHREAD_COND_INITIALIZER;
static bool late_waits;
static void *wait_late(void *with)
{
    pthread_mutex_lock(&late_mutex);
    late_waits = true;
    pthread_cond_wait(&late, &late_mutex);
    return with;
}
static void *read_table(void *with)
{
    pthread_rwlock_rdlock(&table);
    return with;
}
static void *write_table(void *with)
{
    pthread_rwlock_wrlock(&table);
    return with;
}
static void *hold_pages(void *with)
{
    pthread_rwlock_rdlock(&pages);
    ppoll(NULL, 0, NULL, NULL); /* so is pause() where the kernel has none */
    return with;
}
static void *write_pages(void *with)
{
    pthread_rwlock_wrlock(&pages);
    return with;
}
static void *take_item(void *with)
{
    sem_wait(&items);
    return with;
}
static void *at_gate(void *with)
{
    pthread_barrier_wait(&gate);
    return with;
}
static void *set_up(void *with)
{
    pthread_once(&setup, nap);
    return with;
}
static void *sleeper(void *with)
{
    sleep(3600);
    return with;
}
static void *reader(void *with)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0 || read(ends[0], &byte, 1) < 0)
        exit(1);
    return with;
}
static volatile unsigned long turns;
static void *spinner(void *with)
{
    for (;;)
        turns++;
    return with;
}
static void kinds(void)
{
    pthread_mutexattr_t inherit, more;
    pthread_mutexattr_init(&more);
    pthread_mutexattr_settype(&more, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &more);
    pthread_mutexattr_init(&inherit);
    pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inheriting, &inherit);
    mtx_init(&plain, mtx_plain);
    sem_init(&items, 0, 0);
    pthread_barrier_init(&gate, NULL, 2);
    after("late", wait_late, NULL);
    pthread_mutex_lock(&cash);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&inheriting);
    pthread_mutex_lock(&late_mutex);
    while (!late_waits) { /* it has the mutex until it waits */
        pthread_mutex_unlock(&late_mutex);
        usleep(1000);
        pthread_mutex_lock(&late_mutex);
    }
    pthread_cond_signal(&late);
    mtx_lock(&plain);
    pthread_rwlock_wrlock(&table);
    after("mutex", wants_cash, NULL);
    after("timed", timed, NULL);
    after("recursive", lock_recursive, NULL);
    after("inheriting", lock_inheriting, NULL);
    after("plain", lock_plain, NULL);
    after("condition", wait_ready, NULL);
    after("cond_timed", wait_timed, NULL);
    after("to_read", read_table, NULL);
    after("to_write", write_table, NULL);
    after("holds_pages", hold_pages, NULL);
    after("behind", write_pages, NULL);
    after("semaphore", take_item, NULL);
    after("barrier", at_gate, NULL);
    after("once_first", set_up, NULL);
    after("once", set_up, NULL);
    after("sleeper", sleeper, NULL);
    after("reader", reader, NULL);
}
static void running(void)
{
    thread("spinner", spinner, NULL);
}
static void pool(void)
{
    for (long i = 0; i < count; i++)
        thread("worker", wait_ready, NULL);
}

/* Many threads take two of a few locks, always in the same order, all the time:
 * each waits for another, but never in a circle. */
static void *hammers(void *with)
{
    unsigned seed = (unsigned)(size_t)with;
    for (;;) {
        size_t a = (size_t)rand_r(&seed) % 4,
               b = a + 1 + (size_t)rand_r(&seed) % 3;
        pthread_mutex_lock(&ring[a]);
        pthread_mutex_lock(&ring[b]);
        for (int i = 0; i < 100; i++)
            turns++;
        pthread_mutex_unlock(&ring[b]);
        pthread_mutex_unlock(&ring[a]);
    }
    return with;
}
static void busy(void)
{
    for (long i = 0; i < count; i++)
        thread("busy", hammers, (void *)i);
}

/* ---------------------------------------------------------------- stacks -- */

/* A frame whose size only a frame pointer tells. */
__attribute__((noinline)) static void grown(size_t bytes)
{
    volatile char *room = __builtin_alloca(bytes);
    room[0] = 1;
    sem_wait(&items);
    room[bytes - 1] = 1;
}
__attribute__((noinline)) static void deep(int levels)
{
    if (levels > 0)
        deep(levels - 1);
    else
        grown((size_t)turns + 1000);
    turns++;
}
static void *through_pointer(void *with)
{
    void (*volatile to)(int) = deep;
    to(5);
    return with;
}
static void frames(void)
{
    sem_init(&items, 0, 0);
    thread("frames", through_pointer, NULL);
}
static void unreadable(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    two();
}

/* A thread that nobody can interrupt: it waits for its child of vfork(). */
static void *forks(void *with)
{
    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    return with;
}
static void uninterruptible(void)
{
    two();
    after("forks", forks, NULL);
}
static void named(void)
{
    two();
    after("\x1b[31m\"\\\n\x80", sleeper, NULL);
}
/* One holds what the others want, and their names are odd. */
static void odd(void)
{
    static const char *const names[] = {"esc\x1b[31m", "q\"uote", "back\\sl",
                                        "a&amp;b", "tab\there"};
    pthread_mutex_lock(&cash);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        thread(names[i], wants_cash, NULL);
}

/* A stack that its thread has made useless. */
static void *lost(void *with)
{
    char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < 65536; i++)
        stack[i] = (char)(i * 2654435761u >> 24);
#ifdef __x86_64__
    __asm__ volatile("mov %0, %%rsp\n1: mov $34, %%eax\nsyscall\njmp 1b"
                     :
                     : "r"(stack + (size_t)with)
                     : "rax", "rcx", "r11", "memory");
#endif
    return with;
}
static void scribbled(void)
{
    for (size_t i = 0; i < 8; i++)
        thread("lost", lost, (void *)(32768 + i * 8 * 97));
    thread("edge", lost, (void *)65536);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*start)(void);
    } waits[] = {{"two", two},
                 {"circle", circle},
                 {"self", self},
                 {"rwlocks", rwlocks},
                 {"joining", joining},
                 {"join_and_lock", join_and_lock},
                 {"kinds", kinds},
                 {"running", running},
                 {"pool", pool},
                 {"busy", busy},
                 {"frames", frames},
                 {"scribbled", scribbled},
                 {"uninterruptible", uninterruptible},
                 {"ended", ended},
                 {"recovered", recovered},
                 {"lends", lends},
                 {"third", third},
                 {"refused", refused},
                 {"named", named},
                 {"odd", odd},
                 {"unreadable", unreadable}};
    if (argc > 2)
        count = atol(argv[2]);
    for (size_t i = 0; i < sizeof waits / sizeof *waits && argc > 1; i++)
        if (strcmp(argv[1], waits[i].name) == 0)
            waits[i].start();
    /* Of these, a thread runs on. */
    settle(argc > 1 && (strcmp(argv[1], "busy") == 0 ||
                        strcmp(argv[1], "running") == 0)
               ? 500
               : 30000);
    if (argc > 3)
        abort();
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    nap();
}
