/* linux.h - scheduler.h of examples/bare-metal/switches, by threads. */
/* SPDX-License-Identifier: MIT */
#ifndef PIPELINE_LINUX_H
#define PIPELINE_LINUX_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "recorder_dump.h"
#include "recorder_kernel.h"

RECORDER(vsync, 1024, "The timer's signal");

enum { PIPELINE_PERIOD = 16600 /* microseconds */ };

struct task {
    const char *name;
    void (*function)(void);
    pthread_t thread;
};
static struct task *pipeline_tasks[8];
static unsigned pipeline_count;

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    unsigned size, count, first;
    uintptr_t words[8];
};
#define QUEUE(words)                                                           \
    {                                                                          \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, words, 0, 0,      \
        {                                                                      \
            0                                                                  \
        }                                                                      \
    }

static inline bool queue_put(struct queue *queue, uintptr_t word)
{
    bool room;
    pthread_mutex_lock(&queue->mutex);
    room = queue->count < queue->size;
    if (room)
        queue->words[(queue->first + queue->count++) % queue->size] = word;
    pthread_cond_signal(&queue->more);
    pthread_mutex_unlock(&queue->mutex);
    return room;
}
static inline uintptr_t queue_get(struct queue *queue)
{
    uintptr_t word;
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0)
        pthread_cond_wait(&queue->more, &queue->mutex);
    word = queue->words[queue->first];
    queue->first = (queue->first + 1) % queue->size;
    queue->count--;
    pthread_mutex_unlock(&queue->mutex);
    return word;
}

/* Uses the processor for `microseconds`. */
static inline void work(unsigned microseconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000 +
               (now.tv_nsec - begin.tv_nsec) / 1000 <
           (long)microseconds);
}

/* A timer's signal simulates the sensor's interrupt. */
static sem_t pipeline_tick;
static void pipeline_on_timer(int sig)
{
    record(vsync, "> signal %d", sig);
    sem_post(&pipeline_tick);
    record(vsync, "< signal %d", sig);
}
static inline void scheduler_wait_for_tick(void)
{
    while (sem_wait(&pipeline_tick))
        ; /* interrupted */
}

static void *pipeline_run(void *given)
{
    const struct task *task = given;
    recorder_thread_name(task->name);
    task->function();
    return NULL;
}
static inline void scheduler_add(struct task *task, const char *name,
                                 void (*function)(void))
{
    task->name = name;
    task->function = function;
    pipeline_tasks[pipeline_count++] = task;
}
/* The signal comes to main, as the threads were made with it blocked. */
static inline void scheduler_run(void)
{
    static const struct itimerval period = {{0, PIPELINE_PERIOD},
                                            {0, PIPELINE_PERIOD}};
    struct sigaction action = {.sa_handler = pipeline_on_timer};
    sigset_t timer;
    unsigned i;
    recorder_kernel(256, 0);
    sem_init(&pipeline_tick, 0, 0);
    sigemptyset(&timer);
    sigaddset(&timer, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &timer, NULL);
    for (i = 0; i < pipeline_count; i++)
        pthread_create(&pipeline_tasks[i]->thread, NULL, pipeline_run,
                       pipeline_tasks[i]);
    sigaction(SIGALRM, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, &timer, NULL);
    setitimer(ITIMER_REAL, &period, NULL);
    for (i = 0; i < pipeline_count; i++)
        pthread_join(pipeline_tasks[i]->thread, NULL);
}

#endif
