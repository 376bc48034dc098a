/* leaks.c - locks whose holder has ended, and kernel ids that come again. */
/* SPDX-License-Identifier: MIT */
/*
    ./leaks ended     a thread ends holding `gone`; another waits for it
    ./leaks soon      then its kernel id goes to a thread that wants `other`,
    ./leaks late      or goes there half a second after the wait began
    ./leaks wrapped   ids came again, and two threads are in a real deadlock
   Says "PID n" when all wait, "PID 0" if ids cannot be chosen here.
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t gone = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pid_t id;
static useconds_t wait_us; /* before the victim wants what is gone */

static pthread_t make(void *(*run)(void *), void *with)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, with) != 0)
        exit(1);
    return thread;
}
static void *leak(void *unused)
{
    id = gettid();
    pthread_mutex_lock(&gone);
    return unused;
}
static void *note(void *unused)
{
    id = gettid();
    return unused;
}
static void *victim(void *unused)
{
    pthread_setname_np(pthread_self(), "victim");
    pthread_mutex_lock(&other);
    usleep(wait_us);
    pthread_mutex_lock(&gone);
    return unused;
}
static bool has_come; /* the id, again */
static void *innocent(void *unused)
{
    if (gettid() != id)
        return unused;
    has_come = true;
    pthread_setname_np(pthread_self(), "innocent");
    usleep(200000);
    pthread_mutex_lock(&other);
    return unused;
}
static void *guilty(void *unused)
{
    if (gettid() == id)
        pthread_mutex_lock(&gone);
    return innocent(unused);
}
/* Makes a thread that gets the id of the one that ended. */
static void make_again(void *(*run)(void *))
{
    for (int i = 0; i < 1000 && !has_come; i++) {
        char text[16];
        int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
        int size = snprintf(text, sizeof text, "%d", (int)id - 1);
        if (file < 0 || write(file, text, (size_t)size) != size)
            break;
        close(file);
        make(run, NULL);
        usleep(1000);
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    bool is_real = strcmp(way, "wrapped") == 0;
    wait_us = is_real ? 100000 : 0;
    pthread_join(make(is_real ? note : leak, NULL), NULL);
    make(victim, NULL);
    if (strcmp(way, "late") == 0)
        usleep(500000);
    if (strcmp(way, "ended") == 0)
        has_come = true;
    else
        make_again(is_real ? guilty : innocent);
    usleep(500000);
    printf("PID %d\n", has_come ? (int)getpid() : 0);
    fflush(stdout);
    pause();
}
