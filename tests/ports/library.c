/* library.c - a library that is opened records into the program's registry. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#ifdef LIBRARY
RECORDER(library, 16, "Of the library");
uintptr_t library_record(void);
uintptr_t library_record(void) { return record(library, "in the library"); }
#else
#include <dlfcn.h>
#include <stdio.h>

RECORDER(program, 16, "Of the program");

int main(int count, char **arguments)
{
    void *handle = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    uintptr_t first = record(program, "before"), (*call)(void), i;
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&call = dlsym(handle, "library_record");
    for (i = 1; i < 10; i++)
        if (call() != first + 2 * i - 1 ||
            record(program, "%d", (int)i) != first + 2 * i) {
            fprintf(stderr, "the orders are two rows\n");
            return 1;
        }
    if (!recorder_registry.first->next || recorder_dump_fd(1) != 19)
        return 1;
    dlclose(handle);
    return recorder_registry.first->next != NULL;
}
#endif
