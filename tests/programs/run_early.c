/* A library that locks and makes a thread before the program begins. */
/* SPDX-License-Identifier: MIT */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int begun;

static void *runs(void *of)
{
    pthread_mutex_lock(&mutex);
    begun++;
    pthread_mutex_unlock(&mutex);
    return of;
}
__attribute__((constructor)) static void early(void)
{
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, 0, runs, 0);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
}
int early_begun(void);
int early_begun(void)
{
    return begun;
}
