/* Opens and closes libraries all the time, from several threads. */
/* SPDX-License-Identifier: MIT */
/*
   -DPART: the library; records " %s %d" twice with TEXT, into a recorder of its
   own. Otherwise: the program. THREADS OPENS LIBRARIES: each thread opens the
   libraries lib0.so, lib1.so and so on in turn, OPENS times, and records after
   each "closed COUNT"; then the program waits.
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

static void *opener(void *argument)
{
    int first = (int)(size_t)argument;
    for (int i = 0; i < opens; i++) {
        char path[32];
        void *library;
        void (*work)(int);
        snprintf(path, sizeof path, "./lib%d.so", (first + i) % libraries);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            abort();
        work = (void (*)(int))dlsym(library, "work");
        for (int k = 0; k < 5; k++)
            work(i);
        dlclose(library);
        record(net, "closed %d %s", i, "of the program");
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[8];
    int all = count > 3 ? atoi(arguments[1]) : 0;
    opens = count > 3 ? atoi(arguments[2]) : 0;
    libraries = count > 3 ? atoi(arguments[3]) : 1;
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (int i = 0; i < all; i++)
        pthread_create(&threads[i], NULL, opener, (void *)(size_t)i);
    for (int i = 0; i < all; i++)
        pthread_join(threads[i], NULL);
    record(net, "end");
    pause();
    return 0;
}
#endif
