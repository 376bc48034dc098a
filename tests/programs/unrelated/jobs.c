/* jobs.c - many threads with jobs, one context recorded at start. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: stack buffer overflow */
#include "unrelated.h"
#include <pthread.h>
RECORDER_LANES(work, 1024, 4, "Jobs")
struct context {
    int threads;
    void (*hook)(struct context *, int);
    char title[32];
};
struct job {
    int id, step;
    struct context *context;
};
static struct context *shared;
static char mode;
static pthread_barrier_t all;
static NOINLINE void finish(struct job *job)
{
    struct context *context = job->context;
    context->hook(context, job->step);
}
static NOINLINE int label(struct job *job, const char *from)
{
    char text[16];
    strcpy(text, from);
    for (int i = 0; i < 3; i++)
        job->step += text[i];
    return job->step;
}
static void *worker(void *argument)
{
    struct job job = {(int)(long)argument, 0, shared};
    for (int i = 0; i < 50; i++) {
        struct job *copy = malloc(sizeof *copy);
        *copy = job;
        record(work, "step job=%p id=%d step=%d context=%p", A(copy), copy->id,
               i, A(copy->context));
        free(copy);
    }
    record(work, "ends id=%d", job.id);
    pthread_barrier_wait(&all);
    if (job.id == 5) {
        if (mode == 'a')
            finish(&job);
        else
            label(&job, shared->title);
    }
    pause();
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t t[8];
    mode = argv[1][0];
    shared = calloc(1, sizeof *shared);
    shared->threads = 8;
    strcpy(shared->title, "a title of thirty characters");
    record(work, "start context=%p threads=%d", A(shared), shared->threads);
    pthread_barrier_init(&all, NULL, 8);
    for (long i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    pthread_join(t[0], NULL);
    return 0;
}
