/* Waits for a condition as glibc 2.31 does: by FUTEX_WAIT, which newer ones use
 * for the mutex alone. To be linked statically, in place of glibc's own. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

pthread_mutex_t given = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t group = PTHREAD_COND_INITIALIZER; /* the second of its two */
pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

/* Without a signal a group's word is 0; a mutex that is waited for has 2. */
int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    char *word = m == &taken   ? (char *)m
                 : c == &group ? (char *)c + 44
                               : (char *)c + 40;
    int value = m == &taken ? 2 : 0;
    return (int)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL) - 1;
}

static void *waits(void *c)
{
    pthread_cond_wait(c, &given);
    return c;
}
static void *takes(void *c)
{
    pthread_cond_wait(c, &taken);
    return c;
}

int main(void)
{
    pthread_t all[3];
    pthread_mutex_lock(&taken);
    taken.__data.__lock = 2;
    pthread_create(&all[0], NULL, waits, &ready);
    pthread_create(&all[1], NULL, waits, &group);
    pthread_create(&all[2], NULL, takes, &ready);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}
