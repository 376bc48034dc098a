/* A child that waits for what its parent holds, and for a futex of its own. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int word = 7;

__attribute__((noinline)) static void *waits_raw(void *of)
{
    while (of)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 7, NULL, NULL, 0);
    return of;
}

/* Says "PID n" of the child; ends when that does. */
int main(void)
{
    pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attribute;
    pthread_t thread;
    pthread_mutexattr_init(&attribute);
    pthread_mutexattr_setpshared(&attribute, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex, &attribute);
    pthread_mutex_lock(mutex);
    if (fork() != 0)
        return wait(NULL) < 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_create(&thread, NULL, waits_raw, &word);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    return pthread_mutex_lock(mutex);
}
