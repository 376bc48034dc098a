/* A small M:N scheduler of its own: tasks for recorder tasks, and for gdb. */
/* SPDX-License-Identifier: MIT */
/*
    ./tasks_fibers COUNT MODE WORKERS [STACK]

    COUNT tasks T0, T1, ... of the group user stand in f() four deep. Of MODE,
    which has words with commas:
    locks   left and right wait for each other's lock
    spin    a task runs and never yields
    walk    a task steps through steps() when the others stand
    mixed   a task and a thread wait for each other's mutex, and a task for the
            former; another one for a lock that a thread holds
    parked  a task that has left its worker holds a mutex for which a thread
            waits, and waits for a lock of that thread
    crash   a task ends the program by a signal
    late    a task stays on its worker, with its next state, as if the worker
            had lost its processor before the task's context is saved
    busy    tasks yield at full speed, from one of five depths
    still   says PID only when all tasks stand still
    plain   tasks have no numbers
    bench   switches COUNT tasks, prints ns a switch, and ends
    wild, ring, hole, name, escape, many, owner, descriptor, chain
            damages the descriptions
*/
#include "recorder_dump.h"
#include "recorder_tasks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

RECORDER(work, 1024, "What tasks do")

enum state { READY, RUNNING, WAITING, DEAD };
struct group {
    const char *name;
};
struct fiber;
struct lock {
    struct fiber *owner, *waiters;
    pthread_mutex_t mutex; /* for threads */
};
struct fiber {
    void *sp; /* saved by fiber_switch() */
    struct fiber *all_next, *all_previous, *queue_next;
    uintptr_t since; /* its state is what it is */
    int id;
    enum state state;
    char name[16];
    struct lock *waits;
    const char *why;
    struct group *group;
    int worker;
    unsigned number;
    char *stack;
    size_t stack_bytes;
    void (*main)(struct fiber *);
    int argument;
};

struct fiber *all_fibers;
struct lock A, B;
struct group user = {"userCluster"}, internal = {"systemCluster"};

/* clang-format off */
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl fiber_switch\n"
        ".type fiber_switch,@function\n"
        "fiber_switch:\n"
        ".cfi_startproc\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n"
        "push %r15\n"
        "mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size fiber_switch,.-fiber_switch\n");
#define WORDS "\17\16\15\14\3\6\20"
enum { WORDS_COUNT = 7, PC_AT = 6 };
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl fiber_switch\n"
        ".type fiber_switch,@function\n"
        "fiber_switch:\n"
        "sub sp,sp,#112\n"
        "stp x19,x20,[sp]\n stp x21,x22,[sp,16]\n stp x23,x24,[sp,32]\n"
        "stp x25,x26,[sp,48]\n stp x27,x28,[sp,64]\n stp x29,x30,[sp,80]\n"
        "str x30,[sp,96]\n"
        "mov x2,sp\n str x2,[x0]\n mov sp,x1\n"
        "ldp x19,x20,[sp]\n ldp x21,x22,[sp,16]\n ldp x23,x24,[sp,32]\n"
        "ldp x25,x26,[sp,48]\n ldp x27,x28,[sp,64]\n ldp x29,x30,[sp,80]\n"
        "ldr x2,[sp,96]\n add sp,sp,#112\n br x2\n"
        ".size fiber_switch,.-fiber_switch\n");
#define WORDS "\23\24\25\26\27\30\31\32\33\34\35\36\40\377"
enum { WORDS_COUNT = 14, PC_AT = 12 };
#endif
/* clang-format on */
void fiber_switch(void **save, void *to);

RECORDER_TASKS(fibers, "Fibers of the test", &all_fibers,
               RECORDER_TASK(NEXT, struct fiber, all_next),
               RECORDER_TASK(ID, struct fiber, id),
               RECORDER_TASK(NAME, struct fiber, name),
               RECORDER_TASK_STATES(struct fiber, state,
                                    "ready\0running\0waiting\0dead\0"),
               RECORDER_TASK_WORDS(struct fiber, sp, WORDS),
               RECORDER_TASK(WAITS, struct fiber, waits),
               RECORDER_TASK(WHY_AT, struct fiber, why),
               RECORDER_TASK(OWNER, struct lock, owner),
#ifndef UNDESCRIBED
               RECORDER_TASK(FUTEX, struct lock, mutex),
#endif
               RECORDER_TASK(GROUP, struct fiber, group),
               RECORDER_TASK(GROUP_NAME_AT, struct group, name),
#ifndef NOWHERE
               RECORDER_TASK(WORKER, struct fiber, worker),
#endif
#ifndef UNNUMBERED
               RECORDER_TASK(NUMBER, struct fiber, number),
#endif
               RECORDER_TASK(PREVIOUS, struct fiber, all_previous),
               RECORDER_TASK(SINCE, struct fiber, since))

/* ------------------------------------------------------------- scheduler -- */

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static struct fiber *queue, **queue_end = &queue;
static __thread struct fiber *current;
static __thread void *worker_sp;
static int living, ids;
static unsigned switches, standing;
static bool numbers = true;
static size_t stack_bytes = 65536;
volatile int go;

static void enqueue(struct fiber *fiber)
{
    fiber->queue_next = NULL;
    *queue_end = fiber;
    queue_end = &fiber->queue_next;
}

/* Another thread may run the fiber when fiber_switch() returns. */
__attribute__((noinline)) static struct fiber *self(void)
{
    struct fiber *fiber = current;
    __asm__ volatile("" : "+r"(fiber));
    return fiber;
}
__attribute__((noinline)) static void *worker_of(void)
{
    return worker_sp;
}

static struct fiber *volatile stays; /* it comes to fiber_switch() never */

/* Leaves to the worker; `big` is held, and released by the next. */
static void leave(enum state state)
{
    struct fiber *fiber = self();
    fiber->state = state;
    fiber->since = RECORDER_TIME();
    while (fiber == stays)
        pause();
    fiber_switch(&fiber->sp, worker_of());
    pthread_mutex_unlock(&big);
}
__attribute__((noinline)) void yield(void)
{
    pthread_mutex_lock(&big);
    leave(READY);
}
__attribute__((noinline)) void lock_take(struct lock *lock)
{
    pthread_mutex_lock(&big);
    while (lock->owner) {
        struct fiber *fiber = self();
        fiber->waits = lock;
        fiber->why = "lock";
        fiber->queue_next = lock->waiters;
        lock->waiters = fiber;
        leave(WAITING);
        pthread_mutex_lock(&big);
    }
    self()->waits = NULL;
    self()->why = NULL;
    lock->owner = self();
    pthread_mutex_unlock(&big);
}
__attribute__((noinline)) void lock_give(struct lock *lock)
{
    struct fiber *fiber;
    pthread_mutex_lock(&big);
    lock->owner = NULL;
    fiber = lock->waiters;
    if (fiber) {
        lock->waiters = fiber->queue_next;
        fiber->state = READY;
        fiber->since = RECORDER_TIME();
        enqueue(fiber);
    }
    pthread_mutex_unlock(&big);
}

static void begin(void)
{
    pthread_mutex_unlock(&big);
    self()->main(self());
    pthread_mutex_lock(&big);
    recorder_task_end(self()->number);
    living--;
    leave(DEAD);
    abort();
}

static struct fiber *spawn(const char *name, void (*function)(struct fiber *),
                           int argument, struct group *group)
{
    struct fiber *fiber = calloc(1, sizeof *fiber);
    void **top;
    fiber->stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber->stack == MAP_FAILED)
        abort();
    fiber->stack_bytes = stack_bytes;
    snprintf(fiber->name, sizeof fiber->name, "%s", name);
    fiber->main = function;
    fiber->argument = argument;
    fiber->group = group;
    fiber->number = numbers ? recorder_task_begin(name) : 0;
    top = (void **)(void *)(fiber->stack + stack_bytes - 64);
    *--top = NULL; /* where a caller would have its return address */
#ifdef __aarch64__
    top--;
#endif
    top -= WORDS_COUNT;
    top[PC_AT] = (void *)(uintptr_t)begin;
    fiber->sp = top;
    pthread_mutex_lock(&big);
    fiber->id = group == &internal ? -1 : ++ids;
    fiber->since = RECORDER_TIME();
    fiber->all_next = all_fibers;
    if (all_fibers) { /* of the first, it is the last */
        fiber->all_previous = all_fibers->all_previous;
        all_fibers->all_previous = fiber;
    } else {
        fiber->all_previous = fiber;
    }
    all_fibers = fiber;
    living++;
    enqueue(fiber);
    pthread_mutex_unlock(&big);
    return fiber;
}

static void *work_on(void *argument)
{
    char name[16];
    unsigned mine, count = 0;
    snprintf(name, sizeof name, "worker%d", (int)(intptr_t)argument);
    pthread_setname_np(pthread_self(), name);
    mine = recorder_task_worker();
    for (;;) {
        struct fiber *fiber;
        pthread_mutex_lock(&big);
        fiber = queue;
        if (!living || !fiber) {
            pthread_mutex_unlock(&big);
            if (!living)
                break;
            usleep(1000);
            continue;
        }
        queue = fiber->queue_next;
        queue_end = queue ? queue_end : &queue;
        fiber->state = RUNNING;
        fiber->since = RECORDER_TIME();
        fiber->worker = (int)syscall(SYS_gettid);
        current = fiber;
        recorder_task_switch(fiber->number);
        fiber_switch(&worker_sp, fiber->sp);
        recorder_task_switch(mine);
        count++;
        fiber->worker = 0;
        current = NULL;
        if (fiber->state == READY)
            enqueue(fiber);
        pthread_mutex_unlock(&big);
    }
    __atomic_fetch_add(&switches, count, __ATOMIC_RELAXED);
    return NULL;
}

/* ----------------------------------------------------------------- tasks -- */

/* Takes the fiber out of turn for good. */
__attribute__((noinline)) void stand(void)
{
    pthread_mutex_lock(&big);
    __atomic_fetch_add(&standing, 1, __ATOMIC_RELAXED);
    leave(WAITING);
}
__attribute__((noinline)) int f(struct fiber *fiber, int depth)
{
    volatile int x = 3;
    const char *volatile y = "example";
    if (depth)
        return f(fiber, depth - 1) + x;
    record(work, "%d in f, %s", fiber->argument, y);
    stand();
    return x;
}
static void plain(struct fiber *fiber)
{
    f(fiber, 3);
}
__attribute__((noinline)) static void
take_both(struct fiber *fiber, struct lock *first, struct lock *second)
{
    lock_take(first);
    record(work, "%s has one", RECORDER_COPY(work, fiber->name));
    for (int i = 0; i < 10; i++)
        yield();
    record(work, "%s wants the other", RECORDER_COPY(work, fiber->name));
    __atomic_fetch_add(&standing, 1, __ATOMIC_RELAXED);
    lock_take(second);
    lock_give(second);
}
static void left(struct fiber *fiber)
{
    take_both(fiber, &A, &B);
}
static void right(struct fiber *fiber)
{
    take_both(fiber, &B, &A);
}
__attribute__((noinline)) static void spin(struct fiber *fiber)
{
    record(work, "spin %d", fiber->argument);
    for (volatile long i = 0; !go; i++)
        continue;
}
/* Have left and right gone, if they run at all? A worker holds `big` until one
 * has. */
static bool locks_stand(void)
{
    bool stand;
    pthread_mutex_lock(&big);
    stand = !A.owner || (A.waiters && B.waiters);
    pthread_mutex_unlock(&big);
    return stand;
}
__attribute__((noinline)) static void crash(struct fiber *fiber)
{
    /* One more than was started for the user: the scheduler's own counts, too. */
    while (standing <= (unsigned)fiber->argument || !locks_stand())
        yield();
    record(work, "about to crash %d", fiber->argument);
    *(volatile int *)0 = 1;
}
/* A task that waits in the kernel, with its worker; and a thread of no task. */
static pthread_mutex_t of_task = PTHREAD_MUTEX_INITIALIZER,
                       of_thread = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static struct lock threads_own;
static volatile bool mixed_waits;
__attribute__((noinline)) static void mixes(struct fiber *fiber)
{
    (void)fiber;
    lock_take(&A);
    pthread_mutex_lock(&of_task);
    pthread_barrier_wait(&both);
    mixed_waits = true;
    pthread_mutex_lock(&of_thread);
}
__attribute__((noinline)) static void hangs(struct fiber *fiber)
{
    (void)fiber;
    while (!mixed_waits)
        yield();
    __atomic_fetch_add(&standing, 1, __ATOMIC_RELAXED);
    lock_take(&A);
}
__attribute__((noinline)) static void asks(struct fiber *fiber)
{
    (void)fiber;
    __atomic_fetch_add(&standing, 1, __ATOMIC_RELAXED);
    lock_take(&threads_own);
}
static void *plain_thread(void *argument)
{
    pthread_setname_np(pthread_self(), "plain");
    pthread_mutex_lock(&of_thread);
    threads_own.owner = (struct fiber *)(intptr_t)syscall(SYS_gettid);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&of_task);
    return argument;
}

/* A task that is parked with a mutex; and a thread of no task. */
static struct lock shared = {.mutex = PTHREAD_MUTEX_INITIALIZER};
__attribute__((noinline)) static void parks(struct fiber *fiber)
{
    pthread_mutex_lock(&shared.mutex);
    shared.owner = fiber;
    __atomic_fetch_add(&standing, 1, __ATOMIC_RELAXED);
    lock_take(&threads_own);
}
static void *mutex_thread(void *argument)
{
    pthread_setname_np(pthread_self(), "plain");
    threads_own.owner = (struct fiber *)(intptr_t)syscall(SYS_gettid);
    while (!*(struct fiber *volatile *)&shared.owner)
        usleep(1000);
    pthread_mutex_lock(&shared.mutex);
    return argument;
}

/* For a debugger to go on in. */
static volatile int counter;
__attribute__((noinline)) void step_in(void)
{
    counter++;
    counter++;
}
__attribute__((noinline)) void steps(struct fiber *fiber)
{
    counter = fiber->argument;
    step_in();
    counter += 2;
    counter += 3; /* there */
    step_in();
    counter += 4;
}
__attribute__((noinline)) static void walk(struct fiber *fiber)
{
    while (standing <= (unsigned)fiber->argument)
        yield();
    steps(fiber);
    step_in();
    stand();
}
static void hops(struct fiber *fiber)
{
    for (int i = 0; i < fiber->argument; i++)
        yield();
}
/* One of five stacks: yield() < busy_deep() * 0 to 4 < busy(). */
__attribute__((noinline)) int busy_deep(int depth)
{
    volatile int below = depth;
    if (below)
        return busy_deep(depth - 1) + below;
    yield();
    return below;
}
__attribute__((noinline)) static void busy(struct fiber *fiber)
{
    for (unsigned i = (unsigned)fiber->argument; !go; i += 7)
        busy_deep((int)(i % 5));
}

/* Its context is that of many calls deep, and it is in few. */
static void late(struct fiber *fiber)
{
    while (standing < (unsigned)fiber->argument)
        yield();
    busy_deep(30);
    __atomic_fetch_add(&standing, 1, __ATOMIC_RELAXED);
    stays = fiber;
    yield();
}

/* ---------------------------------------------------------------- damage -- */

static void damage(const char *mode)
{
    struct fiber *second = all_fibers->all_next;
    if (strstr(mode, "wild"))
        second->all_next = (struct fiber *)8;
    if (strstr(mode, "ring"))
        second->all_next = all_fibers;
    if (strstr(mode, "hole"))
        second->sp = (void *)64;
    if (strstr(mode, "name"))
        memset(second->name, 'x', sizeof second->name);
    if (strstr(mode, "escape")) {
        strcpy(second->name, "\33[31mred");
        recorder_tasks_fibers.name = "fi\33[2Jbers";
        second->all_next = (struct fiber *)8;
    }
    if (strstr(mode, "owner"))
        second->waits = (struct lock *)16;
    if (strstr(mode, "many"))
        recorder_tasks_fibers.rows_count = UINTPTR_MAX;
    if (strstr(mode, "descriptor"))
        recorder_tasks_fibers.rows = (void *)24;
    if (strstr(mode, "chain"))
        recorder_tasks_fibers.next = &recorder_tasks_fibers;
}

/* ------------------------------------------------------------------ main -- */

static int bench(int count)
{
    struct timespec from, to;
    double ns;
    for (int i = 0; i < count; i++)
        spawn("hops", hops, 2000000 / count, &user);
    clock_gettime(CLOCK_MONOTONIC, &from);
    work_on(NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    ns = (double)(to.tv_sec - from.tv_sec) * 1e9 +
         (double)(to.tv_nsec - from.tv_nsec);
    printf("%.1f\n", ns / switches);
    return 0;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 5;
    const char *mode = argc > 2 ? argv[2] : "";
    intptr_t workers = argc > 3 ? atoi(argv[3]) : 2;
    unsigned still = strstr(mode, "busy") ? 0 : (unsigned)count;
    char name[16];
    if (argc > 4)
        stack_bytes = (size_t)atoi(argv[4]);
    numbers = !strstr(mode, "plain");
    if (strstr(mode, "bench"))
        return bench(count);
    spawn("idle", plain, -1, &internal);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "T%d", i);
        spawn(name, strstr(mode, "busy") ? busy : plain, i, &user);
    }
    if (strstr(mode, "locks")) {
        spawn("left", left, 1, &user);
        spawn("right", right, 2, &user);
        still += 2;
    }
    if (strstr(mode, "mixed")) {
        pthread_t thread;
        pthread_barrier_init(&both, NULL, 2);
        pthread_create(&thread, NULL, plain_thread, NULL);
        while (!*(struct fiber *volatile *)&threads_own.owner)
            usleep(1000);
        spawn("mixes", mixes, 1, &user);
        spawn("hangs", hangs, 2, &user);
        spawn("asks", asks, 3, &user);
        still += 2;
    }
    if (strstr(mode, "parked")) {
        pthread_t thread;
        pthread_create(&thread, NULL, mutex_thread, NULL);
        while (!*(struct fiber *volatile *)&threads_own.owner)
            usleep(1000);
        spawn("parks", parks, 1, &user);
        still++;
    }
    if (strstr(mode, "late"))
        spawn("late", late, (int)still + 1, &user);
    if (strstr(mode, "spin"))
        spawn("spin", spin, 7, &user);
    if (strstr(mode, "crash"))
        spawn("crash", crash, (int)still, &user);
    if (strstr(mode, "walk"))
        spawn("walk", walk, (int)still, &user);
    for (intptr_t i = 0; i < workers; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work_on, (void *)(i + 1));
    }
    still += !!still + !!strstr(mode, "late");
    while (strstr(mode, "still") &&
           __atomic_load_n(&standing, __ATOMIC_RELAXED) < still)
        usleep(1000);
    if (strstr(mode, "still"))
        usleep(50000);
    if (strstr(mode, "damage"))
        damage(mode);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}
