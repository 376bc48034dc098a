/* Tasks of the shape that uC++ 7 has: a pointer to the saved stack pointer and
 * frame pointer, and a ring of nodes in the tasks. */
/* SPDX-License-Identifier: MIT */
/*
    ./tasks_ring COUNT

    A cluster holds a pointer to a ring of COUNT tasks, each parked in f() at
    another depth; the last task waits for a monitor of the first one.
*/
#include "recorder_tasks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS = 4, STACK_WORDS = 4096 };
struct node {
    struct node *next, *back;
};
struct context {
    void *sp, *fp;
};
struct cluster {
    const char *name;
    struct node *tasks;
} cluster = {"userCluster", NULL};
struct monitor {
    struct task *owner;
} monitor;
struct task {
    uintptr_t *storage;
    struct context *context;
    const char *name;
    unsigned char state;
    struct cluster *cluster;
    struct node in_cluster;
    struct monitor *waits;
    int depth;
} tasks[TASKS];

RECORDER_TASKS(ring, "Tasks of a cluster", &cluster.tasks,
               RECORDER_TASK(RING, struct task, in_cluster.next),
               RECORDER_TASK(NAME_AT, struct task, name),
               RECORDER_TASK_STATES(struct task, state,
                                    "new\0ready\0running\0blocked\0dead\0"),
               RECORDER_TASK_WORDS_AT(struct task, context,
                                      "\3\14\15\16\17\377\20\373\6"),
               RECORDER_TASK(GROUP, struct task, cluster),
               RECORDER_TASK(GROUP_NAME_AT, struct cluster, name),
               RECORDER_TASK(WAITS, struct task, waits),
               RECORDER_TASK(OWNER, struct monitor, owner))

/* Parks `from` and goes on with `to`. */
void leave(struct context *from, struct context *to);
void enter(void);
void ended(void); /* to where a task would return: no call is before it */
__asm__(".text\n"
        ".globl leave\n"
        ".type leave, @function\n"
        "leave:\n"
        "subq $8, %rsp\n"
        "stmxcsr (%rsp)\n"
        "fnstcw 4(%rsp)\n"
        "pushq %r15\n"
        "pushq %r14\n"
        "pushq %r13\n"
        "pushq %r12\n"
        "pushq %rbx\n"
        "movq %rsp, (%rdi)\n"
        "movq %rbp, 8(%rdi)\n"
        "movq (%rsi), %rsp\n"
        "movq 8(%rsi), %rbp\n"
        "popq %rbx\n"
        "popq %r12\n"
        "popq %r13\n"
        "popq %r14\n"
        "popq %r15\n"
        "fldcw 4(%rsp)\n"
        "ldmxcsr (%rsp)\n"
        "addq $8, %rsp\n"
        "ret\n"
        ".size leave, . - leave\n"
        ".globl enter\n"
        ".type enter, @function\n"
        "enter:\n"
        "movq %rbx, %rdi\n"
        "jmp *%r12\n"
        ".size enter, . - enter\n"
        ".globl ended\n"
        ".type ended, @function\n"
        "ended:\n"
        "hlt\n"
        ".size ended, . - ended\n"
        ".section .note.GNU-stack,\"\",@progbits\n"
        ".text\n");

static struct context scheduler;

__attribute__((noinline)) void f(struct task *task, int depth)
{
    volatile int x = depth;
    if (depth)
        f(task, depth - 1);
    else
        leave(task->context, &scheduler);
    (void)x;
}
__attribute__((noinline)) void invoke(struct task *task)
{
    f(task, task->depth);
    abort();
}

static void start(struct task *task, int i)
{
    static const char *const names[] = {"T0", "T1", "T2", "T3"};
    static const uint32_t modes[2] = {0x1f80, 0x37f};
    uintptr_t *top;
    task->storage = calloc(STACK_WORDS, sizeof *task->storage);
    task->context = calloc(1, sizeof *task->context);
    top = task->storage + STACK_WORDS;
    *--top = 0;
    *--top = (uintptr_t)ended;
    *--top = (uintptr_t)enter;
    *--top = modes[0] | (uintptr_t)modes[1] << 32;
    top -= 3;
    *--top = (uintptr_t)invoke; /* r12 */
    *--top = (uintptr_t)task;   /* rbx */
    task->context->sp = top;
    task->name = names[i];
    task->cluster = &cluster;
    task->depth = i;
    task->in_cluster.next = task->in_cluster.back = &task->in_cluster;
    if (cluster.tasks) {
        task->in_cluster.next = cluster.tasks;
        task->in_cluster.back = cluster.tasks->back;
        cluster.tasks->back->next = &task->in_cluster;
        cluster.tasks->back = &task->in_cluster;
    } else {
        cluster.tasks = &task->in_cluster;
    }
    task->state = 2;
    leave(&scheduler, task->context);
    task->state = 3;
}

int main(int count, char **words)
{
    int wanted = count > 1 ? atoi(words[1]) : TASKS;
    for (int i = 0; i < wanted && i < TASKS; i++)
        start(&tasks[i], i);
    monitor.owner = &tasks[0];
    if (wanted)
        tasks[wanted - 1].waits = &monitor;
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}
