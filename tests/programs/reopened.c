/* Opens and closes libraries all the time, from several threads. */
/* SPDX-License-Identifier: MIT */
/*
   -DPART: the library; records " %s %d" twice with TEXT, into a recorder of its
   own. Otherwise: the program. THREADS OPENS LIBRARIES: each thread opens the
   libraries lib0.so, lib1.so and so on in turn, OPENS times, and records after
   each "closed COUNT"; then the program waits. With 0 THREADS, it opens the
   libraries whose numbers it reads, closes each when it opens the next, and
   prints "ok". A library records numbers that are its own modulo LIBRARIES.
*/
#ifdef PART
#include "recorder.h"

RECORDER(PART, 64, "Of a library")
void work(int number);
void work(int number)
{
    record(PART, TEXT " %d of %s", number, TEXT);
}
#else
#include "recorder_dump.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

RECORDER(net, 64, "The program")

static int opens, libraries;

/* Opens the library of a number, and lets it record the number. */
static void *opened(int number)
{
    char path[32];
    void *library;
    void (*work)(int);
    snprintf(path, sizeof path, "./lib%d.so", number % libraries);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        abort();
    work = (void (*)(int))dlsym(library, "work");
    for (int k = 0; k < 5; k++)
        work(number);
    return library;
}

static void *opener(void *argument)
{
    int first = (int)(size_t)argument;
    for (int i = 0; i < opens; i++) {
        dlclose(opened(first + i));
        record(net, "closed %d %s", i, "of the program");
    }
    return NULL;
}

static void steps(void)
{
    void *library = NULL;
    int number;
    while (scanf("%d", &number) == 1) {
        if (library)
            dlclose(library);
        library = opened(number);
        fprintf(stderr, "ok\n");
    }
}

int main(int count, char **arguments)
{
    pthread_t threads[8];
    int all = count > 3 ? atoi(arguments[1]) : 0;
    opens = count > 3 ? atoi(arguments[2]) : 0;
    libraries = count > 3 ? atoi(arguments[3]) : 1;
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    if (!all)
        steps();
    for (int i = 0; i < all; i++)
        pthread_create(&threads[i], NULL, opener, (void *)(size_t)i);
    for (int i = 0; i < all; i++)
        pthread_join(threads[i], NULL);
    record(net, "end");
    pause();
    return 0;
}
#endif
