/* scheduler.c - tasks, queues, interrupts, and where they are recorded. */
/* SPDX-License-Identifier: MIT */
#include "scheduler.h"

#include "recorder_tasks.h"

#ifndef SCHEDULER_SWITCHES
#define SCHEDULER_SWITCHES 8192
#define SCHEDULER_INTERRUPTS 4096
#endif
RECORDER(switches, SCHEDULER_SWITCHES, "Which task ran, which interrupt");
RECORDER(interrupts, SCHEDULER_INTERRUPTS, "Where they were masked");

volatile uint64_t scheduler_now;
struct task *volatile scheduler_current;
struct interrupt_counts scheduler_tick = {.name = "tick"},
                        scheduler_line = {.name = "line"};
struct processor_counts scheduler_counts;

enum { VECTOR_TICK = 15, VECTOR_LINE = 16 };
static struct task *waits_for_tick;
static struct task idle;
struct task *scheduler_tasks = &idle;

/* For `recorder tasks`: where a task has what; names by enum task_state. */
RECORDER_TASKS(scheduler, "Tasks of the scheduler", &scheduler_tasks,
               RECORDER_TASK(NEXT, struct task, next),
               RECORDER_TASK(ID, struct task, number),
               RECORDER_TASK(NAME_AT, struct task, name),
               RECORDER_TASK(NUMBER, struct task, number),
               RECORDER_TASK_STATES(struct task, counts.does,
                                    "ready\0blocked\0dead\0running\0new\0"),
               RECORDER_TASK_WORDS(struct task, stack, BOARD_WORDS))

/* -------------------------------------------------------------- counting -- */

/* Comes before each record: reads the clock, which is then the record's time.
 * Interrupts are masked until note_end(), so that none changes it in between.
 * Records need none of this. */
#ifdef SCHEDULER_EXACT
static uintptr_t note(void)
{
    static uint32_t last, rest;
    uintptr_t was = board_mask();
    uint32_t ticks = board_ticks();
    rest = scheduler_now ? rest + (ticks - last) : 0;
    last = ticks;
    if (scheduler_now == 0)
        scheduler_now = 0x100000000u - 100000;
    scheduler_now += rest / board_microsecond;
    rest %= board_microsecond;
    return was;
}
static void note_end(uintptr_t was)
{
    board_unmask(was);
}
#else
static uintptr_t note(void)
{
    return 0;
}
static void note_end(uintptr_t was)
{
    (void)was;
}
#endif

static void raise_to(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

/* A task does something else from now on. */
static void does(struct task *task, enum task_state state)
{
    struct task_counts *counts = &task->counts;
    uint64_t spent = scheduler_now - counts->since;
    counts->spent[counts->does] += spent;
    if (counts->does == TASK_RUNS)
        raise_to(&counts->longest_run, spent);
    if (counts->does == TASK_READY)
        raise_to(&counts->longest_wait, spent);
    if (counts->does == TASK_READY && counts->woken)
        raise_to(&counts->longest_wake, spent);
    counts->does = state;
    counts->since = scheduler_now;
    counts->woken = state == TASK_READY;
}

/* ------------------------------------------------------------- processor -- */

static bool asleep;
static uint64_t asleep_since, off_since;

static void woke(void)
{
    if (asleep)
        scheduler_counts.idle += scheduler_now - asleep_since;
    asleep = false;
}

uintptr_t scheduler_mask(void)
{
    uintptr_t was = board_mask(), noted = note();
    recorder_switch_off(was);
    if (!was)
        off_since = scheduler_now;
    note_end(noted);
    return was;
}
void scheduler_unmask(uintptr_t was)
{
    uintptr_t noted = note();
    recorder_switch_on(was);
    if (!was) {
        uint64_t off = scheduler_now - off_since;
        if (RECORDER_SWITCH_OFF_LIMIT == 0 || off > RECORDER_SWITCH_OFF_LIMIT) {
            scheduler_counts.off_count++;
            scheduler_counts.off += off;
            raise_to(&scheduler_counts.off_longest, off);
        }
    }
    note_end(noted);
    board_unmask(was);
}

/* ----------------------------------------------------------------- tasks -- */

static void add(struct task *task, const char *name)
{
    static unsigned number = 20;
    task->name = name;
    task->number = number++;
    task->counts.does = TASK_NEW;
    task->counts.since = scheduler_counts.begin;
}

void scheduler_add(struct task *task, const char *name, void (*function)(void))
{
    struct task **at = &scheduler_tasks;
    uintptr_t was = note();
    if (!scheduler_current) { /* main will be the idle task */
        scheduler_counts.begin = scheduler_now;
        add(&idle, "idle");
        scheduler_current = &idle;
        recorder_switch_in(&idle, idle.name);
        does(&idle, TASK_RUNS);
        idle.counts.runs++;
    }
    while (*at != &idle)
        at = &(*at)->next;
    task->next = *at;
    *at = task;
    task->function = function;
    task->stack =
        board_stack(task->room + sizeof task->room / sizeof *task->room);
    add(task, name);
    recorder_switch_ready(task, name, scheduler_current);
    does(task, TASK_READY);
    note_end(was);
}

/* The next running task: the first ready one in the list. */
struct task *scheduler_next(void)
{
    struct task *from = scheduler_current, *to = scheduler_tasks;
    uintptr_t was;
    while (to->state != TASK_READY)
        to = to->next;
    if (to == from)
        return from;
    was = note();
    recorder_switch(to, to->name, from,
                    from->state == TASK_BLOCKED ? RECORDER_BLOCKED
                    : from->state == TASK_ENDED ? RECORDER_ENDED
                                                : RECORDER_PREEMPTED);
    woke();
    does(from, from->state);
    from->counts.woken = false;
    from->counts.blocked += from->state == TASK_BLOCKED;
    from->counts.preempted += from->state == TASK_READY;
    does(to, TASK_RUNS);
    to->counts.runs++;
    scheduler_current = to;
    note_end(was);
    return to;
}

/* The running task blocks, or ends, as soon as interrupts are not masked. */
static void leave(enum task_state state)
{
    scheduler_current->state = state;
    board_switch();
}

/* A task that has not left yet, as interrupts were masked since, does not. */
static void wake(struct task *task)
{
    uintptr_t was = note();
    task->state = TASK_READY;
    recorder_switch_ready(task, task->name, scheduler_current);
    if (task != scheduler_current)
        does(task, TASK_READY);
    note_end(was);
    board_switch();
}

void scheduler_begin(void)
{
    board_unmask(0);
    recorder_thread_name(scheduler_current->name);
    scheduler_current->function();
    scheduler_mask();
    leave(TASK_ENDED);
    scheduler_unmask(0);
    for (;;)
        ; /* never */
}

/* ---------------------------------------------------------------- queues -- */

bool queue_put(struct queue *queue, uintptr_t word)
{
    uintptr_t was = scheduler_mask();
    bool room = queue->count < queue->size;
    if (room)
        queue->words[(queue->first + queue->count++) % queue->size] = word;
    if (room && queue->waits) {
        wake(queue->waits);
        queue->waits = NULL;
    }
    scheduler_unmask(was);
    return room;
}

uintptr_t queue_get(struct queue *queue)
{
    uintptr_t was = scheduler_mask(), word;
    while (queue->count == 0) {
        queue->waits = scheduler_current;
        leave(TASK_BLOCKED);
        scheduler_unmask(was);
        was = scheduler_mask();
    }
    word = queue->words[queue->first];
    queue->first = (queue->first + 1) % queue->size;
    queue->count--;
    scheduler_unmask(was);
    return word;
}

void scheduler_wait_for_tick(void)
{
    uintptr_t was = scheduler_mask();
    waits_for_tick = scheduler_current;
    leave(TASK_BLOCKED);
    scheduler_unmask(was);
}

#ifndef SCHEDULER_ROUNDS
#define SCHEDULER_ROUNDS 16 /* of this loop in a microsecond, about */
#endif
__attribute__((noinline)) void work(unsigned microseconds)
{
    unsigned rounds = microseconds * SCHEDULER_ROUNDS;
    while (rounds--)
        __asm__ volatile("");
}

/* ------------------------------------------------------------ interrupts -- */

struct nested {
    uint64_t since, inside;
    struct nested *outer;
};
static struct nested *innermost;

static void enter(struct nested *nested, struct interrupt_counts *interrupt,
                  unsigned vector, uintptr_t pc)
{
    uintptr_t was = note();
    recorder_switch_enter(vector, interrupt->name, pc);
    woke();
    nested->since = scheduler_now;
    nested->inside = 0;
    nested->outer = innermost;
    innermost = nested;
    interrupt->count++;
    note_end(was);
}
static void leave_interrupt(struct nested *nested,
                            struct interrupt_counts *interrupt, unsigned vector)
{
    uintptr_t was = note();
    uint64_t all = scheduler_now - nested->since;
    recorder_switch_exit(vector, interrupt->name);
    interrupt->spent += all - nested->inside;
    scheduler_counts.interrupts += all - nested->inside;
    raise_to(&interrupt->longest, all);
    innermost = nested->outer;
    if (innermost)
        innermost->inside += all;
    note_end(was);
}

void scheduler_on_tick(uintptr_t pc)
{
    static unsigned ticks;
    struct nested nested;
    if (scheduler_tick.count == 0)
        recorder_thread_name(scheduler_tick.name);
    enter(&nested, &scheduler_tick, VECTOR_TICK, pc);
    if (++ticks % 3 == 0)
        board_line(); /* nests */
    if (ticks % SCHEDULER_SENSOR == 0 && waits_for_tick) {
        uintptr_t was = scheduler_mask();
        wake(waits_for_tick);
        waits_for_tick = NULL;
        scheduler_unmask(was);
    }
    leave_interrupt(&nested, &scheduler_tick, VECTOR_TICK);
}

void scheduler_on_line(uintptr_t pc)
{
    struct nested nested;
    if (scheduler_line.count == 0)
        recorder_thread_name(scheduler_line.name);
    enter(&nested, &scheduler_line, VECTOR_LINE, pc);
    work(10);
    leave_interrupt(&nested, &scheduler_line, VECTOR_LINE);
}

/* ------------------------------------------------------------------ idle -- */

static bool all_ended(void)
{
    const struct task *task = scheduler_tasks;
    while (task->state == TASK_ENDED)
        task = task->next;
    return task == &idle;
}

/* Ends all times at the last record, as its readers do. */
static void finish(void)
{
    struct task *task;
    board_mask();
    note();
    recorder_switch_wake();
    woke();
    RECORDER_TRACE(switches) = -1;
    RECORDER_TRACE(interrupts) = -1;
    scheduler_counts.end = scheduler_now;
    for (task = scheduler_tasks; task; task = task->next)
        does(task, task->counts.does);
}

void scheduler_run(void)
{
    uintptr_t was;
    recorder_thread_name(idle.name);
    board_run();
    was = scheduler_mask();
    board_switch();
    scheduler_unmask(was);
    while (!all_ended()) {
        was = note();
        recorder_switch_sleep();
        if (!asleep)
            asleep_since = scheduler_now;
        asleep = true;
        note_end(was);
        board_sleep();
        was = note();
        recorder_switch_wake();
        woke();
        note_end(was);
    }
    finish();
}
