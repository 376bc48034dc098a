/* Threads that wait in calls that wake others: each for good, in a condition
 * variable whose words say that a waiter has not gone yet, or that another
 * thread is in it. */
/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* As glibc 2.25 to 2.40 has them: one waiter in the first group, which does not
 * leave; the internal lock, taken; a waiter that does not go. */
static pthread_cond_t
    leaving = {.__data = {.__wseq = {2}, .__g_refs = {0, 2}, .__wrefs = 8}},
    locked = {.__data = {.__g1_orig_size = 2, .__wrefs = 8}},
    used = {.__data = {.__wrefs = 8}};

static void *signals(void *none)
{
    pthread_cond_signal(&leaving);
    return none;
}
static void *broadcasts(void *none)
{
    pthread_cond_broadcast(&locked);
    return none;
}
static void *destroys(void *none)
{
    pthread_cond_destroy(&used);
    return none;
}

int main(void)
{
    pthread_t all[3];
    pthread_create(&all[0], NULL, signals, NULL);
    pthread_create(&all[1], NULL, broadcasts, NULL);
    pthread_create(&all[2], NULL, destroys, NULL);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}
