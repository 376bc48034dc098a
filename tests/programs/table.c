/* The thread table when it is full, and when it is interrupted. */
/* SPDX-License-Identifier: MIT */
/*
    Compiled with -DRECORDER_THREADS=8.

    table full          rows of dead threads are given away, of living never
    table steal         a thread is stopped between its look at a dead row and
                        its grasp at it, while another one takes that row
    table rush TIMES    many threads grasp at the rows of the dead at once
    table interrupt     a signal handler records in each step of the first
                        record of its thread
*/
#define _GNU_SOURCE
#include "read.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

RECORDER(table, 256, "Who was here");

enum { ROWS = RECORDER_THREADS, CREW = 32, NO_ERRNO = 4711 };
typedef char must_be_8_rows[ROWS == 8 ? 1 : -1];

/* ---- The system calls of the header, which a test may interrupt ---- */

static __thread void (*after_call)(long number, long result);

long syscall(long number, ...)
{
    static long (*real)(long number, ...);
    void (*after)(long number, long result) = after_call;
    long a, b, c, d, result;
    va_list rest;
    int error;
    va_start(rest, number);
    a = va_arg(rest, long);
    b = va_arg(rest, long);
    c = va_arg(rest, long);
    d = va_arg(rest, long);
    va_end(rest);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    result = real(number, a, b, c, d);
    error = errno;
    if (after)
        after(number, result);
    errno = error;
    return result;
}

/* ---- Threads that come, record and stay until they are sent away ---- */

static struct member {
    pthread_t thread;
    unsigned number;
    int32_t id;
    uintptr_t order, last; /* of its first and its last record */
    void (*after_call)(long number, long result);
    sem_t arrived, leave;
} crew[CREW];

static unsigned thread_of(uintptr_t order)
{
    struct recorder_record found;
    uintptr_t commit = read_order(order, &found);
    MUST(commit);
    return recorder_commit_thread_(commit);
}
static struct recorder_thread_row *row_of(unsigned number)
{
    MUST(number >= 1 && number <= ROWS);
    return &recorder_home_.registry->threads[number - 1];
}

static void *stay(void *member)
{
    struct member *m = (struct member *)member;
    after_call = m->after_call;
    errno = NO_ERRNO;
    m->order = record(table, "here");
    MUST(errno == NO_ERRNO);
    after_call = NULL;
    m->number = RECORDER_THREAD();
    m->id = (int32_t)gettid();
    MUST(thread_of(m->order) == m->number);
    sem_post(&m->arrived);
    while (sem_wait(&m->leave) != 0)
        ;
    m->last = record(table, "gone");
    MUST(RECORDER_THREAD() == m->number);
    MUST(thread_of(m->last) == m->number);
    return NULL;
}
static struct member *start(unsigned at)
{
    struct member *m = &crew[at];
    m->number = 0;
    sem_init(&m->arrived, 0, 0);
    sem_init(&m->leave, 0, 0);
    MUST(pthread_create(&m->thread, NULL, stay, m) == 0);
    return m;
}
static void arrive(struct member *m)
{
    while (sem_wait(&m->arrived) != 0)
        ;
}
static struct member *hire(unsigned at)
{
    struct member *m = start(at);
    arrive(m);
    return m;
}
static void dismiss(struct member *m)
{
    sem_post(&m->leave);
    MUST(pthread_join(m->thread, NULL) == 0);
    while (tgkill(getpid(), m->id, 0) == 0) /* joined is not yet ended */
        sched_yield();
}

/* A living thread's row is its own, and says who it is. */
static void must_own(const struct member *m)
{
    const struct recorder_thread_row *row = row_of(m->number);
    MUST(row->state == RECORDER_ROW_ALIVE_);
    MUST(row->id == m->id);
    MUST(row->first <= m->order);
}

static void do_full(void)
{
    struct member *m;
    unsigned i, j, dead[3];
    uintptr_t last;
    MUST(record(table, "main") && RECORDER_THREAD() == 1);
    for (i = 0; i < 3; i++) { /* no row is reused while there are free ones */
        m = hire(i);
        MUST(m->number == i + 2);
        dismiss(m);
        dead[i] = m->number;
        MUST(row_of(m->number)->id == m->id);
    }
    for (i = 3; i < 7; i++)
        MUST(hire(i)->number == i + 2);
    for (i = 7; i < 10; i++) { /* now they are */
        last = crew[i - 7].last;
        m = hire(i);
        MUST(m->number == dead[i - 7]);
        MUST(row_of(m->number)->first > last);
        must_own(m);
    }
    for (i = 3; i < 10; i++) /* 8 living, main among them */
        for (j = 3; j < i; j++)
            MUST(crew[i].number != crew[j].number);
    for (i = 10; i < 14; i++) /* no row is left, and they record all the same */
        MUST(hire(i)->number == RECORDER_THREAD_SHARED);
    for (i = 3; i < 10; i++)
        must_own(&crew[i]);
    dismiss(&crew[5]);
    m = hire(14);
    MUST(m->number == crew[5].number &&
         row_of(m->number)->first > crew[5].last);
    must_own(m);
    for (i = 10; i < 14; i++) { /* who has no row gets none by waiting */
        dismiss(&crew[i]);
        MUST(crew[i].number == RECORDER_THREAD_SHARED);
    }
    recorder_thread_name("main is 1");
    MUST(strcmp(row_of(1)->name, "main is 1") == 0);
    for (i = 3; i < 15; i++)
        if (i != 5 && (i < 10 || i == 14))
            dismiss(&crew[i]);
    /* Rows are given away in turn: each keeps its name as long as any. */
    for (i = 15; i < 15 + ROWS - 1; i++) {
        m = hire(i);
        dismiss(m);
        for (j = 15; j < i; j++)
            MUST(crew[j].number != m->number);
    }
    MUST(recorder_home_.registry->threads_max == ROWS);
}

static sem_t looked, go_on;
static void stop_after_look(long number, long result)
{
    if (number != SYS_tgkill || result == 0)
        return;
    after_call = NULL;
    sem_post(&looked);
    while (sem_wait(&go_on) != 0)
        ;
}

static void do_steal(void)
{
    struct member *slow, *quick;
    unsigned i;
    record(table, "main");
    sem_init(&looked, 0, 0);
    sem_init(&go_on, 0, 0);
    for (i = 0; i < 7; i++)
        hire(i);
    dismiss(&crew[3]);
    crew[7].after_call = stop_after_look;
    slow = start(7);
    while (sem_wait(&looked) != 0)
        ;
    quick = hire(8); /* takes the row that the slow one just looked at */
    MUST(quick->number == crew[3].number);
    sem_post(&go_on);
    arrive(slow);
    MUST(slow->number != quick->number);
    must_own(quick);
    dismiss(slow);
    dismiss(quick);
}

static pthread_barrier_t gate;
static unsigned rush_numbers[ROWS];
static void *rush(void *at)
{
    pthread_barrier_wait(&gate);
    record(table, "rush");
    *(unsigned *)at = RECORDER_THREAD();
    pthread_barrier_wait(&gate);
    return NULL;
}
static void do_rush(unsigned times)
{
    pthread_t threads[ROWS];
    unsigned i, j, rows = 0;
    record(table, "main");
    pthread_barrier_init(&gate, NULL, ROWS);
    while (times-- > 0) {
        for (i = 0; i < ROWS; i++)
            MUST(!pthread_create(&threads[i], NULL, rush, &rush_numbers[i]));
        for (i = 0; i < ROWS; i++)
            pthread_join(threads[i], NULL);
        for (i = 0; i < ROWS; i++) {
            unsigned number = rush_numbers[i];
            rows += number != RECORDER_THREAD_SHARED;
            MUST(number != 1);
            MUST(number <= ROWS || number == RECORDER_THREAD_SHARED);
            for (j = 0; j < i && number != RECORDER_THREAD_SHARED; j++)
                MUST(number != rush_numbers[j]);
        }
    }
    MUST(rows > 0);
}

static int interrupt_at;
static uintptr_t handler_order;
static unsigned handler_number;
static void handler(int signal)
{
    (void)signal;
    handler_order = record(table, "from the handler");
    handler_number = RECORDER_THREAD();
}
static void interrupt(long number, long result)
{
    (void)number;
    (void)result;
    if (interrupt_at-- == 0) {
        after_call = NULL;
        raise(SIGUSR1);
    }
}
static void do_interrupt(void)
{
    unsigned i;
    signal(SIGUSR1, handler);
    record(table, "main");
    for (i = 0; i < 2; i++) { /* after gettid, after prctl */
        struct member *m = &crew[i];
        unsigned rows = (unsigned)recorder_home_.registry->threads_count, row;
        unsigned living = 0;
        interrupt_at = (int)i;
        handler_order = 0;
        m->after_call = interrupt;
        hire(i);
        MUST(handler_order != 0);
        MUST(handler_number == m->number);
        MUST(thread_of(handler_order) == m->number);
        MUST(m->number > rows);
        for (row = rows + 1; row <= recorder_home_.registry->threads_count;
             row++)
            living += row_of(row)->state == RECORDER_ROW_ALIVE_;
        MUST(living == 1); /* the other row is nobody's */
        must_own(m);
    }
    for (i = 0; i < 2; i++)
        dismiss(&crew[i]);
}

int main(int count, char **what)
{
    const char *order = count > 1 ? what[1] : "";
    if (strcmp(order, "full") == 0)
        do_full();
    else if (strcmp(order, "steal") == 0)
        do_steal();
    else if (strcmp(order, "rush") == 0 && count == 3)
        do_rush((unsigned)atoi(what[2]));
    else if (strcmp(order, "interrupt") == 0)
        do_interrupt();
    else
        MUST(!"an order that is known");
    puts("ok");
    return 0;
}
