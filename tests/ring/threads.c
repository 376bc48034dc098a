/* Threads: their numbers and rows, how they end, and what fork() leaves. */
/* SPDX-License-Identifier: MIT */
/*
    Each test runs in a process of its own, where no other thread has recorded
    before.
*/
#include "harness/build.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Where a thread is in a record, and where it is to end. */
enum end { LIVES, CANCELS_ITSELF, CANCELS_ITSELF_LATER, JUMPS, IS_CANCELLED };
struct life {
    const char *volatile at; /* the last step of a record that it passed */
    const char *ends_at;     /* a step, or null */
    unsigned ends_in;        /* at that step of this record, counted down */
    enum end end;
    sigjmp_buf back;
    pthread_t thread;
};
static __thread struct life *life;

static inline void step(const char *where)
{
    if (!life)
        return;
    life->at = where;
    if (!life->ends_at || strcmp(life->ends_at, where) != 0 ||
        --life->ends_in > 0)
        return;
    life->ends_at = NULL;
    if (life->end == CANCELS_ITSELF)
        pthread_cancel(pthread_self());
    else
        raise(SIGUSR1);
}
#define RECORDER_STEP_(label) step(#label)
#include "recorder.h"

#include "programs/read.h"

RECORDER(numbers, 1024, "Who has which number")
RECORDER(churn, 1 << (sizeof(void *) == 8 ? 17 : 16), "Threads that end at a known step, or at none")
RECORDER(cancelled, 1 << 14, "Threads that are cancelled anywhere")
RECORDER(forked, 64, "Four writers and a fork")

static unsigned thread_of(uintptr_t order)
{
    struct recorder_record found;
    uintptr_t commit = read_order(order, &found);
    MUST(commit);
    return recorder_commit_thread_(commit);
}

/* The slots that nobody can write any more, found by writing all of them twice.
 * Nobody else may write meanwhile. */
static unsigned slots_lost(struct recorder *recorder)
{
    struct recorder_ring *ring = recorder->rings;
    uintptr_t size = recorder->mask + 1, begin = ring->write + size, slot;
    unsigned lost = 0;
    while (ring->write + size < begin + 2 * size)
        recorder_record_few_(recorder, "sweep\0:0", 0, 0, 0, 0);
    for (slot = 0; slot < size; slot++) {
        uintptr_t commit = recorder_commits_(ring, recorder->mask)[slot];
        uintptr_t position = (commit >> RECORDER_THREAD_BITS_) + slot;
        lost += (commit & RECORDER_BUSY_) || position < begin;
    }
    return lost;
}

/* ------------------------------------------------------- numbers and rows --
 */

enum { CROWD = 32 };
static pthread_barrier_t gate;
static unsigned crowd_numbers[CROWD];

static void *one_of_crowd(void *at)
{
    uintptr_t order;
    pthread_barrier_wait(&gate);
    order = record(numbers, "%s", "here");
    *(unsigned *)at = RECORDER_THREAD();
    MUST(thread_of(order) == *(unsigned *)at);
    pthread_barrier_wait(&gate); /* all live until all have recorded */
    return NULL;
}

/* Goal: numbers start at 1 and no two living threads have the same. Method:
 * main, then 32 threads at once, many times; the table does not fill up. */
Test(threads, numbers_are_unique)
{
    unsigned rounds = scaled(100), i, j;
    uintptr_t order = record(numbers, "first");
    cr_assert_eq(thread_of(order), 1);
    cr_assert_eq(RECORDER_THREAD(), 1);
    pthread_barrier_init(&gate, NULL, CROWD);
    while (rounds-- > 0) {
        pthread_t threads[CROWD];
        for (i = 0; i < CROWD; i++)
            cr_assert_eq(pthread_create(&threads[i], NULL, one_of_crowd,
                                        &crowd_numbers[i]),
                         0);
        for (i = 0; i < CROWD; i++)
            pthread_join(threads[i], NULL);
        for (i = 0; i < CROWD; i++) {
            cr_assert_geq(crowd_numbers[i], 2);
            cr_assert_leq(crowd_numbers[i], RECORDER_THREADS);
            for (j = 0; j < i; j++)
                cr_assert_neq(crowd_numbers[i], crowd_numbers[j]);
        }
    }
}

/* Threads for the row's test: named by the system, by us, by too long a name,
 * or after they recorded. */
struct named {
    const char *system, *ours, *expected;
    unsigned number;
    int32_t id;
    uintptr_t order;
};
static void *be_named(void *named)
{
    struct named *n = (struct named *)named;
    if (n->system)
        pthread_setname_np(pthread_self(), n->system);
    if (n->ours)
        recorder_thread_name(n->ours);
    n->order = record(numbers, "named");
    n->number = RECORDER_THREAD();
    n->id = (int32_t)gettid();
    return NULL;
}

/* Goal: a row says which thread it is, what it is called, and from which order
 * on. Method: threads named in different ways; their rows stay when they end.
 */
Test(threads, rows_say_who)
{
    struct named all[] = {
        {"from-system", NULL, "from-system", 0, 0, 0},
        {NULL, "io", "io", 0, 0, 0},
        {"system", "ours", "ours", 0, 0, 0},
        {NULL, "sixteen letters!", "sixteen letters", 0, 0, 0},
        {"before", "a name far longer than 15 bytes", "a name far long", 0, 0,
         0},
        {"again", "", "", 0, 0, 0}};
    const struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t last = record(numbers, "main");
    char own[16] = "";
    unsigned i;
    prctl(PR_GET_NAME, own);
    cr_assert_str_eq(registry->threads[0].name, own);
    cr_assert_eq(registry->threads[0].id, gettid());
    cr_assert_eq(registry->threads[0].state, RECORDER_ROW_ALIVE_);
    for (i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct recorder_thread_row *row;
        pthread_t thread;
        pthread_create(&thread, NULL, be_named, &all[i]);
        pthread_join(thread, NULL);
        cr_assert_eq(all[i].number, i + 2);
        row = &registry->threads[all[i].number - 1];
        cr_expect_eq(row->id, all[i].id);
        cr_expect_str_eq(row->name, all[i].expected);
        cr_expect_gt(row->first, last);
        cr_expect_leq(row->first, all[i].order);
        last = all[i].order;
    }
    cr_assert_eq(registry->threads_count, 1 + sizeof all / sizeof all[0]);
}

static void *keep_errno(void *none)
{
    unsigned i;
    for (i = 0; i < 3; i++) {
        errno = 4711;
        record(numbers, "%d %s", 1, RECORDER_COPY(numbers, "text"));
        MUST(errno == 4711);
        record(numbers, "%d %d %d %d %d", 1, 2, 3, 4, 5);
        MUST(errno == 4711);
        recorder_thread_name("errno");
        MUST(errno == 4711);
    }
    return none;
}

/* Goal: record() leaves errno alone, a thread's first too. (That it does when
 * the table is full, table.c checks.) */
Test(threads, errno_is_kept)
{
    pthread_t thread;
    keep_errno(NULL);
    pthread_create(&thread, NULL, keep_errno, NULL);
    pthread_join(thread, NULL);
}

static volatile uintptr_t handler_order;
static void record_in_handler(int signal)
{
    handler_order = record(numbers, "signal %d", signal);
}
static void *first_in_handler(void *number)
{
    uintptr_t order;
    raise(SIGUSR2);
    order = record(numbers, "behind the handler");
    MUST(handler_order != 0 && order == handler_order + 1);
    MUST(thread_of(handler_order) == thread_of(order));
    *(unsigned *)number = RECORDER_THREAD();
    return NULL;
}

/* Goal: a thread's first record may be made in a signal handler. */
Test(threads, first_record_in_a_handler)
{
    unsigned number = 0;
    pthread_t thread;
    record(numbers, "main");
    signal(SIGUSR2, record_in_handler);
    pthread_create(&thread, NULL, first_in_handler, &number);
    pthread_join(thread, NULL);
    cr_assert_eq(number, 2);
    cr_assert_eq(recorder_home_.registry->threads_count, 2);
}

static void table(const char *order)
{
    build_begin();
    build_must("gcc -O2 -DRECORDER_THREADS=8 " BUILD_WARNINGS BUILD_INCLUDE
               "-o table " BUILD_PROGRAMS "/table.c -lpthread -ldl");
    cr_expect_eq(build_run("./table %s", order), 0, "./table %s: %s", order,
                 build_text);
    build_end();
}

/* Goal: a row is given away only when the table is full and its thread is dead;
 * whoever finds none has RECORDER_THREAD_SHARED and records all the same.
 * Method: a table of 8 rows; threads come and go one by one. */
Test(threads, rows_of_the_dead_are_reused) { table("full"); }

/* Goal: two threads never get the row of the same dead one. Method: one thread
 * is stopped after its look at the row until another one has taken it. */
Test(threads, rows_are_not_stolen) { table("steal"); }

/* Goal: the same, by chance. Method: 8 threads at once, 1 + 8 rows too few. */
Test(threads, rows_are_not_stolen_in_a_rush)
{
    char order[32];
    sprintf(order, "rush %u", scaled(1000));
    table(order);
}

/* Goal: a handler that records in the midst of its thread's first record leaves
 * the thread with one number and one row. */
Test(threads, first_record_interrupted) { table("interrupt"); }

/* ----------------------------------------------------------------- churn -- */

/* AddressSanitizer does not know of stacks that pthread_cancel() unwinds. */
#if defined(__SANITIZE_ADDRESS__)
#define CANCELS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CANCELS 0
#endif
#endif
#ifndef CANCELS
#define CANCELS 1
#endif

enum { BATCH = 16 };
static const char *const steps[] = {"W1", "W2", "W3",     "W4",
                                    "W5", "W6", "W6_end", "W7"};
enum { STEPS = sizeof steps / sizeof steps[0] };

/* Has a position and has not done with it: from W2 on, to W7. */
static bool is_inside(const char *at)
{
    return at && strcmp(at, "W1") != 0 && strcmp(at, "W7") != 0;
}
/* Has a slot: from W4 on. Before, it may be one that is lost already. */
static bool is_writing(const char *at)
{
    return is_inside(at) && (at[0] == 'W' && at[1] > '3');
}

static void jump(int signal)
{
    (void)signal;
    siglongjmp(life->back, 1);
}

static void *live(void *given)
{
    unsigned i;
    int old;
    life = (struct life *)given;
    life->thread = pthread_self();
    if (life->end == CANCELS_ITSELF || life->end == IS_CANCELLED)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    if (life->end == CANCELS_ITSELF_LATER)
        pthread_cancel(pthread_self());
    if (life->end == JUMPS && sigsetjmp(life->back, 1))
        return NULL;
    for (i = 1; life->end == IS_CANCELLED; i++) {
        record(cancelled, "%s", "on and on");
        if (i % 1024 == 0)
            sched_yield(); /* lets the one who cancels come to it */
    }
    for (i = 0; i < 10; i++)
        record(churn, "%u %s", i, "of ten");
    pthread_testcancel();
    return NULL;
}

/* Goal: a thread that dies inside record() costs its ring one slot, one that
 * dies elsewhere none, however they die; numbers never run out. Method: 100,000
 * threads of 10 records: half of them live to their end, the others are
 * cancelled (deferred; at once, by themselves, at each step of a record; at
 * once, by another thread, anywhere) or leave by siglongjmp() out of a handler
 * at each step. The rings are then written twice: the slots that stay behind
 * must be as many as threads died between W4 and W7, and at most those more
 * that died between W2 and W4, who may have met a slot that was lost before;
 * where another thread cancelled, as many as died there at most. */
Test(threads, churn)
{
    static const enum end ends[] = {
        CANCELS_ITSELF, JUMPS, LIVES, CANCELS_ITSELF_LATER,
        IS_CANCELLED,   LIVES, LIVES, LIVES};
    unsigned todo = scaled(100000), made = 0, i;
    unsigned inside = 0, writing = 0, outside = 0, cancelled = 0, lost,
             lost_cancelled;
    signal(SIGUSR1, jump);
    record(churn, "main");
    while (made < todo) {
        static struct life lives[BATCH];
        pthread_t threads[BATCH];
        memset(lives, 0, sizeof lives);
        for (i = 0; i < BATCH; i++, made++) {
            struct life *l = &lives[i];
            l->end = ends[i % (sizeof ends / sizeof ends[0])];
            if (!CANCELS && l->end != LIVES)
                l->end = JUMPS;
            if (l->end == CANCELS_ITSELF || l->end == JUMPS) {
                l->ends_at = steps[made / BATCH % STEPS];
                l->ends_in = 1 + made / BATCH / STEPS % 10;
            }
            cr_assert_eq(pthread_create(&threads[i], NULL, live, l), 0);
        }
        for (i = 0; i < BATCH; i++)
            if (lives[i].end == IS_CANCELLED) {
                while (!lives[i].at)
                    sched_yield();
                pthread_cancel(threads[i]);
                cancelled++;
            }
        for (i = 0; i < BATCH; i++) {
            pthread_join(threads[i], NULL);
            if (lives[i].end == IS_CANCELLED)
                continue;
            inside += is_inside(lives[i].at);
            writing += is_writing(lives[i].at);
            outside += !is_inside(lives[i].at);
        }
    }
    lost = slots_lost(&recorder_for_churn);
    lost_cancelled = slots_lost(&recorder_for_cancelled);
    fprintf(stderr,
            "churn: %u threads, %u died inside, %u slots lost; %u cancelled "
            "anywhere, %u slots lost\n",
            made, inside, lost, cancelled, lost_cancelled);
    cr_assert(writing > 0 && outside > 0 && (cancelled > 0 || !CANCELS));
    cr_expect_geq(lost, writing, "%u died in a slot", writing);
    cr_expect_leq(lost, inside);
    cr_expect_leq(lost_cancelled, cancelled);
    cr_expect_eq(recorder_for_churn.rings->lost, 0);
    cr_expect_eq(recorder_for_cancelled.rings->lost, 0);
    cr_expect_eq(RECORDER_THREAD(), 1);
}

/* ------------------------------------------------------------------ fork -- */

enum { WRITERS = 4 };
static volatile bool over;
static volatile unsigned writer_numbers[WRITERS];

static void *write_on(void *number)
{
    uintptr_t i;
    for (i = 0; !over; i++) {
        record(forked, "%lu %lu %lu", (unsigned long)i, (unsigned long)~i,
               (unsigned long)(i * 3));
        *(volatile unsigned *)number = RECORDER_THREAD();
    }
    return NULL;
}
static void start_writers(pthread_t writers[WRITERS])
{
    unsigned i;
    for (i = 0; i < WRITERS; i++)
        MUST(!pthread_create(&writers[i], NULL, write_on,
                             (void *)(uintptr_t)&writer_numbers[i]));
    for (i = 0; i < WRITERS; i++)
        while (writer_numbers[i] == 0)
            sched_yield();
}

/* No record is a mix of two. */
static void must_be_whole(void)
{
    uintptr_t slot;
    for (slot = 0; slot <= recorder_for_forked.mask; slot++) {
        struct recorder_record r;
        if (recorder_look_(recorder_for_forked.rings, recorder_for_forked.mask,
                           slot, &r) &&
            ((const char *)r.format)[0] == '%')
            MUST(r.argument[1] == ~r.argument[0] &&
                 r.argument[2] == r.argument[0] * 3);
    }
}

/* In a child: it has a row of its own, its parent's are dead. */
static void must_be_child(unsigned parent)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t order = record(forked, "%lu %lu %lu", 1ul, ~1ul, 3ul), i;
    unsigned number = RECORDER_THREAD(), writer;
    MUST(order != 0 && thread_of(order) == number);
    MUST(number != parent && number <= registry->threads_max);
    for (writer = 0; writer < WRITERS; writer++)
        MUST(number != writer_numbers[writer]);
    for (i = 0; i < registry->threads_count; i++)
        MUST(registry->threads[i].state ==
             (i + 1 == number ? RECORDER_ROW_ALIVE_ : RECORDER_ROW_DEAD_));
    MUST(registry->threads[number - 1].id == gettid());
    MUST(registry->threads[number - 1].first <= order);
    MUST(registry->pid == getpid());
    MUST(registry->readers == 0);
    MUST(record(forked, "%lu %lu %lu", 2ul, ~2ul, 6ul) == order + 1);
}

static void must_end_well(pid_t child)
{
    int status;
    MUST(child > 0);
    MUST(waitpid(child, &status, 0) == child);
    cr_assert_eq(status, 0, "a child ends with %#x", (unsigned)status);
}

/* Goal: fork() at any moment leaves the child a recorder that works: what its
 * parent's threads were writing costs it a slot each at most; the parent does
 * not notice. Method: 4 writers, 300 forks; each child records at once. */
Test(threads, fork_at_any_moment)
{
    unsigned forks = scaled(300), number, i;
    pthread_t writers[WRITERS];
    record(forked, "%lu %lu %lu", 0ul, ~0ul, 0ul);
    number = RECORDER_THREAD();
    start_writers(writers);
    for (i = 0; i < forks; i++) {
        pid_t child;
        /* a reader at work; fork() must not leave the child waiting for it */
        if (i % 2)
            read_begin();
        child = fork();
        if (child == 0) {
            must_be_child(number);
            must_be_whole();
            MUST(slots_lost(&recorder_for_forked) <= WRITERS);
            MUST(recorder_for_forked.rings->lost == 0);
            _exit(0);
        }
        if (i % 2)
            read_end();
        must_end_well(child);
        MUST(RECORDER_THREAD() == number);
        MUST(recorder_home_.registry->threads[number - 1].state ==
             RECORDER_ROW_ALIVE_);
    }
    over = true;
    for (i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    must_be_whole();
    cr_expect_eq(slots_lost(&recorder_for_forked), 0);
    cr_expect_eq(recorder_for_forked.rings->lost, 0);
    cr_expect_eq(recorder_home_.registry->pid, getpid());
}

static void *record_once(void *number)
{
    record(forked, "%lu %lu %lu", 9ul, ~9ul, 27ul);
    *(unsigned *)number = RECORDER_THREAD();
    return NULL;
}

/* A family: each child has threads of its own, and children. */
static void beget(unsigned generations, unsigned children)
{
    unsigned number = RECORDER_THREAD(), i;
    for (i = 0; i < children && generations > 0; i++) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            pthread_t thread;
            unsigned its = 0;
            must_be_child(number);
            MUST(!pthread_create(&thread, NULL, record_once, &its));
            MUST(!pthread_join(thread, NULL));
            MUST(its == RECORDER_THREAD() + 1);
            beget(generations - 1, children);
            must_be_whole();
            _exit(0);
        }
        MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        MUST(RECORDER_THREAD() == number);
    }
}

/* Goal: children of children have rows of their own too. Method: 3 generations
 * of 4 children each. */
Test(threads, fork_grandchildren)
{
    record(forked, "%lu %lu %lu", 0ul, ~0ul, 0ul);
    beget(3, 4);
    cr_expect_eq(slots_lost(&recorder_for_forked), 0);
}

static pid_t vfork_and_record(void)
{
    pid_t child = vfork();
    if (child == 0) {
        recorder_record_few_(&recorder_for_forked, "vfork\0:0", 5, 0, 0, 0);
        _exit(0);
    }
    return child;
}

/* Goal: vfork() and posix_spawn(), which run no handler and borrow the parent's
 * memory, do no harm, not even when the child records. */
Test(threads, vfork_and_spawn)
{
    extern char **environ;
    char *arguments[] = {(char *)(uintptr_t) "true", NULL};
    unsigned number, i;
    pthread_t writers[WRITERS];
    uintptr_t order;
    record(forked, "%lu %lu %lu", 0ul, ~0ul, 0ul);
    number = RECORDER_THREAD();
    start_writers(writers);
    for (i = 0; i < scaled(50); i++) {
        pid_t child;
        must_end_well(vfork_and_record());
        cr_assert_eq(
            posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ),
            0);
        must_end_well(child);
        cr_assert_eq(RECORDER_THREAD(), number);
        cr_assert_eq(recorder_home_.registry->pid, getpid());
        cr_assert_eq(recorder_home_.registry->threads[number - 1].state,
                     RECORDER_ROW_ALIVE_);
        order = record(numbers, "still here");
        cr_assert_eq(thread_of(order), number);
    }
    over = true;
    for (i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    must_be_whole();
    cr_expect_eq(slots_lost(&recorder_for_forked), 0);
    cr_expect_eq(recorder_home_.registry->threads_count, 1 + WRITERS);
}
