/* Opens libraries, of which each takes the place of the one before. */
/* SPDX-License-Identifier: MIT */
/*
   -DPART: the library; records FORMAT " %d of %s" with TEXT, into the program's
   recorder. Otherwise: the program. It opens the libraries of its arguments one
   after the other, dumps, and waits.
*/
#ifdef PART
#include "recorder.h"

RECORDER_DECLARE_SHARED(net)
void work(int number);
void work(int number)
{
    record(net, FORMAT " %d of %s", number, TEXT);
}
#else
#include "recorder_dump.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

RECORDER_DECLARE_SHARED(net)
RECORDER(net, 64, "What libraries record")

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        void *library = dlopen(arguments[i], RTLD_NOW);
        void (*work)(int) = (void (*)(int))dlsym(library, "work");
        work(i);
        if (i + 1 < count)
            dlclose(library);
    }
    recorder_dump();
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pause();
    return 0;
}
#endif
