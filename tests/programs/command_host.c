/* A program whose recorders are, all or some, in libraries. */
/* SPDX-License-Identifier: MIT */
/*
    -DOWN               with a recorder of its own, of 64 records or of -DSLOTS
    -DLINKED=one_work   calls a library that is linked

    host LIBRARY:PART ...       opens them with RTLD_LOCAL, lets them record,
                                and waits
    host abort LIBRARY:PART ... does not wait, but leaves a core file
    host churn LIBRARY:PART     opens and closes it all the time
    host late LIBRARY:PART      counts; when there is a file `go`, a thread and
                                the library begin one after the other, and it
                                counts on; it ends when there is a file `end`
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifdef OWN
#include "recorder.h"
#ifndef SLOTS
#define SLOTS 64
#endif
RECORDER(own, SLOTS, "Of the program");
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LINKED
void LINKED(int count);
#endif
#ifdef OWN
#define COUNT(...) record(own, __VA_ARGS__)
#else
#define COUNT(...) ((void)0)
#endif

static void *part_open(char *what, int count)
{
    char symbol[64], *colon = strchr(what, ':');
    void (*work)(int), *handle;
    snprintf(symbol, sizeof symbol, "%s_work", colon + 1);
    *colon = '\0';
    handle = dlopen(what, RTLD_NOW | RTLD_LOCAL);
    *colon = ':';
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&work = dlsym(handle, symbol);
    work(count);
    return handle;
}

static void *thread(void *name)
{
    int i;
    pthread_setname_np(pthread_self(), (char *)name);
    for (i = 1; i <= 20; i++)
        COUNT("thread %d", i);
    return NULL;
}

static void wait_for(const char *file)
{
    while (access(file, F_OK) != 0)
        usleep(1000);
}

static void counts(int *at, int count)
{
    while (count--) {
        ++*at;
        COUNT("own %d", *at);
        usleep(1000);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int i, at = 0;
    alarm(300); /* where the test that would end it has failed */
#ifdef LINKED
    LINKED(3);
#endif
    COUNT("begins");
    if (strcmp(what, "late") == 0) {
        pthread_t other;
        printf("PID %d\n", (int)getpid());
        fflush(stdout);
        counts(&at, 100);
        wait_for("go");
        pthread_create(&other, NULL, thread, (char *)"late thread");
        counts(&at, 100);
        part_open(argv[2], 20);
        counts(&at, 100);
        pthread_join(other, NULL);
        counts(&at, 100);
        wait_for("end");
        return 0;
    }
    if (strcmp(what, "churn") == 0) {
        printf("PID %d\n", (int)getpid());
        fflush(stdout);
        for (;;) {
            void *handle = part_open(argv[2], 5);
            COUNT("opened %d", ++at);
            dlclose(handle);
            COUNT("closed %d", at);
        }
    }
    for (i = strcmp(what, "abort") == 0 ? 2 : 1; i < argc; i++)
        part_open(argv[i], 3);
    if (strcmp(what, "abort") == 0)
        abort();
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pause();
    return 0;
}
