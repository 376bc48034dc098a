// Routines of pthread_once() that throw, are cancelled, call it again, fork.
// With an argument, ends with one thread in a routine and one that waits for it.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

pthread_once_t tries = PTHREAD_ONCE_INIT, ends = PTHREAD_ONCE_INIT,
               nested = PTHREAD_ONCE_INIT, copies = PTHREAD_ONCE_INIT,
               stays = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static sem_t begun;
static int tries_count, ends_count;

static void throws()
{
    if (tries_count++ == 0)
        throw 1;
}
static void sleeps()
{
    sem_post(&begun);
    for (;;)
        pause();
}
static void ends_second()
{
    if (ends_count++ == 0)
        sleeps();
}
static void inner()
{
    puts("inner");
}
static void outer()
{
    pthread_once(&nested, inner);
    puts("outer");
}
static void forks()
{
    pid_t child;
    int status;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        pthread_once(&nested, inner);
        _exit(5);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
}
static void *calls_ends(void *p)
{
    pthread_once(&ends, ends_second);
    return p;
}
static void *calls_stays(void *p)
{
    pthread_once(&stays, sleeps);
    return p;
}

int main(int count, char **)
{
    pthread_t first, second;
    if (count > 1) {
        signal(SIGPIPE, SIG_IGN); // only this line is read
        printf("PID %d\n", (int)getpid());
        fflush(stdout);
    }
    sem_init(&begun, 0, 0);
    try {
        pthread_once(&tries, throws);
    } catch (int) {
        puts("caught");
    }
    pthread_once(&tries, throws);
    pthread_create(&first, NULL, calls_ends, NULL);
    sem_wait(&begun);
    pthread_create(&second, NULL, calls_ends, NULL);
    pthread_cancel(first);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    call_once(&flag, outer);
    pthread_once(&copies, forks);
    printf("%d tries, %d ends\n", tries_count, ends_count);
    fflush(stdout);
    if (count == 1)
        return 9;
    pthread_create(&first, NULL, calls_stays, NULL);
    sem_wait(&begun);
    pthread_create(&second, NULL, calls_stays, NULL);
    pthread_join(second, NULL);
}
