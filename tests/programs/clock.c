/* A program, or part of one, whose modules may order by the clock or not. */
/* SPDX-License-Identifier: MIT */
/*
    clock                records, and waits
    clock LIBRARY        opens a library in between; compiled with -DPART=name,
                         this file is a library, or a file of the program
                         (-DWITH_PART calls it)
    It says "PID N" once all is recorded; each record says which it is.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder_dump.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef PART
RECORDER(part, 1024, "Of a part");
extern void PART(int number);
void PART(int number)
{
    char text[200];
    int i;
    for (i = 0; i < 199; i++)
        text[i] = (char)('a' + i % 26);
    text[199] = '\0';
    record(part, "%d %s", number, text);
}
#else
RECORDER(whole, 64, "Of the program");
RECORDER_LANES(lanes, 64, 4, "Of its threads");
extern void part(int number);

static void *thread(void *unused)
{
    int i;
    for (i = 0; i < 100; i++)
        record(lanes, "%d of a thread", i);
    return unused;
}

int main(int count, char **arguments)
{
    int number = 0;
    pthread_t threads[6];
    for (; number < 3; number++)
        record(whole, "%d", number);
#ifdef WITH_PART
    part(number++);
#endif
    if (count > 1) {
        void *library = dlopen(arguments[1], RTLD_NOW);
        void *symbol = library ? dlsym(library, "part") : NULL;
        void (*call)(int) = NULL;
        if (symbol)
            memcpy(&call, &symbol, sizeof call);
        if (!call) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        for (; number < 40; number++)
            if (number % 2)
                record(whole, "%d", number);
            else
                call(number);
    }
    record(whole, "%d last", number);
    for (count = 0; count < 6; count++)
        pthread_create(&threads[count], NULL, thread, NULL);
    for (count = 0; count < 6; count++)
        pthread_join(threads[count], NULL);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    sleep(300);
    return 0;
}
#endif
