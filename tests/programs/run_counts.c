/* Calls known numbers of times, and says how often: in the order of "ended". */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 8 };
static int rounds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER,
                       kept = PTHREAD_MUTEX_INITIALIZER,
                       again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem;
static long guarded[4];

static void *works(void *of)
{
    struct timespec past = {1, 0};
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        guarded[0]++;
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        if (i % 16)
            continue;
        pthread_rwlock_wrlock(&rwlock);
        guarded[1]++;
        pthread_rwlock_unlock(&rwlock);
        pthread_spin_lock(&spin);
        guarded[2]++;
        pthread_spin_unlock(&spin);
        pthread_mutex_lock(&again);
        pthread_mutex_lock(&again);
        guarded[3]++;
        pthread_mutex_unlock(&again);
        pthread_mutex_unlock(&again);
        sem_wait(&sem);
        sem_post(&sem);
    }
    for (int i = 0; i < 10; i++)
        pthread_barrier_wait(&barrier);
    for (int i = 0; i < 5; i++) {
        pthread_mutex_timedlock(&kept, &past);
        pthread_mutex_trylock(&kept);
    }
    return of;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    long few;
    rounds = argc > 1 ? atoi(argv[1]) : 1600;
    few = (rounds + 15) / 16;
    pthread_mutex_lock(&kept);
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, THREADS);
    sem_init(&sem, 0, 2);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, works, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (guarded[0] != THREADS * rounds || guarded[1] != THREADS * few ||
        guarded[2] != guarded[1] || guarded[3] != guarded[1])
        return 1;
    printf("locks %ld\n",
           THREADS * (rounds + 3 * few + 5L) + THREADS * (rounds + few));
    return 0;
}
