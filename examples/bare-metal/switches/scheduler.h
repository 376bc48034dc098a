/* scheduler.h - a small preemptive scheduler that records its actions. */
/* SPDX-License-Identifier: MIT */
/*
 * Fixed priorities, tasks that wait in queues or for a tick, and interrupts
 * that nest. The scheduler counts its switches and their times, so that tests
 * can compare its counts with the records.
 */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include "port.h"

/* Tasks are threads of the recorder from 20 on; other contexts have the numbers
 * that the board gives them, which is 1 in tasks. */
static inline unsigned board_thread(void)
{
    return RECORDER_THREAD();
}
#define RECORDER_THREADS 32 /* have names */
#undef RECORDER_THREAD
#define RECORDER_THREAD() scheduler_thread()
#define RECORDER_SWITCH_NUMBER(id) ((const struct task *)(id))->number
static inline unsigned scheduler_thread(void);

/* With SCHEDULER_EXACT the time of a record is the number that the scheduler
 * counts with: microseconds, from 100 ms before a wrap of the low word. */
#ifdef SCHEDULER_EXACT
#undef RECORDER_TIME
#undef RECORDER_TIME_HZ
#define RECORDER_TIME() ((uintptr_t)scheduler_now)
#define RECORDER_TIME_HIGH() ((uintptr_t)(scheduler_now >> 32))
#define RECORDER_TIME_HZ 1000000
#endif
extern volatile uint64_t scheduler_now;

#include "recorder_dump.h"
#include "recorder_switch.h"

/* How many microseconds a tick takes, and how many ticks an image takes. */
#ifndef SCHEDULER_TICK
#define SCHEDULER_TICK 1000
#define SCHEDULER_SENSOR 5
#endif

/* ----------------------------------------------------------------- tasks -- */

enum task_state { TASK_READY, TASK_BLOCKED, TASK_ENDED, TASK_RUNS, TASK_NEW };

/* The scheduler's own figures of a task, in microseconds. */
struct task_counts {
    unsigned runs, blocked, preempted;
    uint64_t spent[TASK_NEW + 1]; /* by the next reason */
    uint64_t longest_run, longest_wait, longest_wake;
    enum task_state does; /* and since when: */
    uint64_t since;
    bool woken; /* ready since it was woken, not since it was preempted */
};

/* More urgent tasks come first in the list. */
struct task {
    uintptr_t *stack; /* while it does not run: where its registers are */
    const char *name;
    void (*function)(void);
    struct task *next;
    unsigned number;
    enum task_state state; /* READY: also of the one that runs */
    struct task_counts counts;
    uintptr_t room[1024]; /* its stack: enough to record, not to dump */
};

/* static struct queue raw = QUEUE(2): of up to 2 words, at most 8. */
struct queue {
    struct task *waits; /* the task that waits for a word, or null */
    unsigned size, count, first;
    uintptr_t words[8];
};
#define QUEUE(words)                                                           \
    {                                                                          \
        .size = (words)                                                        \
    }

extern struct task *volatile scheduler_current;

static inline unsigned scheduler_thread(void)
{
    unsigned thread = board_thread();
    return thread == 1 && scheduler_current ? scheduler_current->number
                                            : thread;
}

/* main() calls this for each task, then scheduler_run(), which makes main the
 * idle task, and returns when all others have ended. */
void scheduler_add(struct task *task, const char *name, void (*function)(void));
void scheduler_run(void);

/* Of tasks: waits for a word, or for the next tick of the sensor. One task at a
 * time waits in a queue. */
uintptr_t queue_get(struct queue *queue);
void scheduler_wait_for_tick(void);
/* Of tasks and interrupts. False: the queue is full. */
bool queue_put(struct queue *queue, uintptr_t word);

/* Uses the processor for some microseconds, not counting other tasks' time. */
void work(unsigned microseconds);

/* Masks interrupts, and says how it was; as they were. They record it. */
uintptr_t scheduler_mask(void);
void scheduler_unmask(uintptr_t was);

/* ------------------------------------------------------------ interrupts -- */

struct interrupt_counts {
    const char *name;
    unsigned count;
    uint64_t spent; /* without those nested in it */
    uint64_t longest;
};
extern struct interrupt_counts scheduler_tick, scheduler_line;
extern struct processor_counts {
    uint64_t idle, interrupts, off, off_longest;
    unsigned off_count;
    uint64_t begin, end;
} scheduler_counts;
extern struct task *scheduler_tasks; /* the idle task is the last */

/* ------------------------------------------------------------------ port --
 *
 * A board has these for the scheduler, and calls the functions below them.
 */

/* Masks interrupts, and says how it was; as they were. */
uintptr_t board_mask(void);
void board_unmask(uintptr_t was);
/* Ticks of a counter of 32 bits, and how many are a microsecond. */
uint32_t board_ticks(void);
extern const uint32_t board_microsecond;
/* Makes the first registers of a task: it begins in scheduler_begin(). */
uintptr_t *board_stack(uintptr_t *end);
/* The words of a saved stack, by DWARF number, as in RECORDER_TASK_WORDS: of
 * MIPS, s0 to s8, ra, which becomes pc, and Status; of a Cortex-M, r4 to r11,
 * EXC_RETURN, r0 to r3, r12, lr, pc, psr. */
#ifdef __mips__
#define BOARD_WORDS "\20\21\22\23\24\25\26\27\36\100\377\377"
#else
#define BOARD_WORDS "\4\5\6\7\10\11\12\13\375\0\1\2\3\14\16\17\376"
#endif
/* Starts to switch and to call scheduler_on_tick(). */
void board_run(void);
/* Interrupts are masked: lets scheduler_next() say who runs, now or as soon as
 * nothing is masked and no interrupt runs. */
void board_switch(void);
void board_sleep(void);
/* An interrupt more urgent than the tick: calls scheduler_on_line(). */
void board_line(void);

void scheduler_begin(void);
struct task *scheduler_next(void);
void scheduler_on_tick(uintptr_t pc);
void scheduler_on_line(uintptr_t pc);

#endif
