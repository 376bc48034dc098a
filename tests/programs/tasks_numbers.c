/* Tasks with numbers, tables of tasks, and none of it with -DRECORDER_OFF. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include "recorder_tasks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

RECORDER(work, 64, "What tasks do")

struct job {
    struct job *next;
    const char *name;
    int id;
    unsigned number;
};
struct job *jobs;
RECORDER_TASKS_DECLARE(jobs)
RECORDER_TASKS(jobs, "Jobs", &jobs, RECORDER_TASK(NEXT, struct job, next),
               RECORDER_TASK(ID, struct job, id),
               RECORDER_TASK(NAME_AT, struct job, name),
               RECORDER_TASK(NUMBER, struct job, number))
RECORDER_TASKS_TABLE(free_jobs, "Jobs in no list", 1000,
                     RECORDER_TASK(ID, struct job, id));

#ifndef RECORDER_OFF
#define MUST(x)                                                                \
    if (!(x)) {                                                                \
        printf("%s:%d: %s\n", __FILE__, __LINE__, #x);                         \
        exit(1);                                                               \
    }

/* Four threads enter and leave: all that stays is in the table, once. */
static struct job many[4][200];
static void *enters(void *of)
{
    struct job *mine = (struct job *)of;
    for (int round = 0; round < 100; round++)
        for (int i = 0; i < 200; i++) {
            MUST(recorder_task_enter(&recorder_tasks_free_jobs, &mine[i]));
            if (round < 99)
                recorder_task_leave(&recorder_tasks_free_jobs, &mine[i]);
        }
    return NULL;
}
static void table(void)
{
    pthread_t threads[4];
    unsigned found = 0;
    struct job one = {NULL, "", 0, 0};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, enters, many[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 800; i++)
        for (unsigned k = 0; k < 1000; k++)
            found += recorder_tasks_free_jobs.table[k] == &many[0][i];
    MUST(found == 800);
    for (int i = 0; i < 200; i++)
        MUST(recorder_task_enter(&recorder_tasks_free_jobs, &one));
    MUST(!recorder_task_enter(&recorder_tasks_free_jobs, &one)); /* full */
}

/* What a switch with a number costs over one without, in ns. */
static double ns_of(const unsigned *number, unsigned mine)
{
    struct timespec from, to;
    unsigned count = 20000000;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (unsigned i = 0; i < count; i++) {
        __asm__ volatile("" : "+r"(number) : : "memory");
        if (number) {
            recorder_task_switch(number[i & 1]);
            __asm__ volatile("" : : : "memory");
            recorder_task_switch(mine);
        }
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 +
            (double)(to.tv_nsec - from.tv_nsec)) /
           count;
}
static void cost(void)
{
    unsigned mine = recorder_task_worker();
    const unsigned numbers[2] = {recorder_task_begin("one"),
                                 recorder_task_begin("two")};
    double least = 1e9;
    for (int i = 0; i < 5; i++) {
        double with = ns_of(numbers, mine), without = ns_of(NULL, mine);
        least = with - without < least ? with - without : least;
    }
    printf("%.3f\n", least);
}

static void named(void)
{
    struct job one = {NULL, "one", 1, recorder_task_begin("one")};
    struct job two = {&one, "two", 2, recorder_task_begin("two")};
    unsigned mine = recorder_task_worker();
    jobs = &two;
    recorder_thread_name("worker");
    record(work, "of the worker");
    recorder_task_switch(one.number);
    record(work, "of one");
    recorder_task_switch(two.number);
    record(work, "of two");
    recorder_task_switch(0);
    record(work, "of two again");
    recorder_task_switch(mine);
    record(work, "of the worker again");
    recorder_task_end(one.number);
    if (fork() == 0) { /* tasks are the child's, too */
        recorder_task_switch(two.number);
        record(work, "of two in the child");
    } else {
        wait(NULL);
    }
    recorder_line("{name}: {message}");
    recorder_dump_fd(1);
    for (unsigned i = 0; i < recorder_registry.threads_count; i++)
        printf("row %s %d\n", recorder_registry.threads[i].name,
               recorder_registry.threads[i].state);
}

/* When all rows are taken, a task has no number, until one ends. */
static void scarce(void)
{
    unsigned last = 0, count = 0, number;
    recorder_task_worker();
    while ((number = recorder_task_begin("many")) != 0) {
        last = number;
        count++;
    }
    MUST(count == recorder_registry.threads_max - 1);
    recorder_task_switch(0);
    record(work, "as before");
    recorder_task_end(last);
    MUST(recorder_task_begin("again") == last);
    MUST(recorder_task_begin("full") == 0);
}
#endif

int main(int argc, char **argv)
{
    unsigned mine = recorder_task_worker();
    struct job job = {NULL, "job", 1, recorder_task_begin("job")};
    recorder_tasks_enter(&recorder_tasks_jobs);
    recorder_task_switch(job.number);
    recorder_task_switch(mine);
    if (!recorder_task_enter(&recorder_tasks_free_jobs, &job))
        return 1;
    recorder_task_leave(&recorder_tasks_free_jobs, &job);
    recorder_task_end(job.number);
#ifndef RECORDER_OFF
    if (argc > 1 && strcmp(argv[1], "cost") == 0)
        cost();
    if (argc > 1 && strcmp(argv[1], "table") == 0)
        table();
    if (argc > 1 && strcmp(argv[1], "named") == 0)
        named();
    if (argc > 1 && strcmp(argv[1], "scarce") == 0)
        scarce();
#endif
    return argc > 9 ? argv[0][0] : 0;
}
