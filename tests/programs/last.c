/* last.c - records much, and dies of SIGSEGV; or is asked for a dump. */
/* SPDX-License-Identifier: MIT */
/*
    ./last MODE [SETTING]    SETTING: for recorder_dump_set()

    crash    dies            asked    dumps for SIGUSR1, twice, and ends well
    poor     dies when it can have no memory
    refused  ends with status 0 if the setting was refused
*/
#include "recorder_dump.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

RECORDER(large, 16384, "Much")
RECORDER(mixed, 4096, "Long records and texts")
RECORDER_LANES(lanes, 1024, 4, "Of several rings")
RECORDER(small, 64, "Little")
RECORDER(unused, 64, "Nothing")

int main(int count, char **arguments)
{
    char text[100];
    int i;
    recorder_dump_on_common_signals(0, 0);
    if (count > 2 && !recorder_dump_set(arguments[2]))
        return strcmp(arguments[1], "refused") != 0;
    record(small, "first %d", 0);
    for (i = 1; i <= 20000; i++) {
        record(large, "large %d", i);
        if (i % 10 == 0) {
            sprintf(text, "a text of its own, longer than a record, %d", i);
            record(mixed, "mixed %d: %d %d %d %d %s", i, 1, 2, 3, 4,
                   RECORDER_COPY(mixed, text));
        }
        if (i % 20 == 0)
            record(lanes, "lanes %d", i);
    }
    record(small, "last words");
    if (strcmp(arguments[1], "asked") == 0) {
        raise(SIGUSR1);
        raise(SIGUSR1);
        return 0;
    }
    if (strcmp(arguments[1], "poor") == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_AS, &none);
    }
    *(volatile int *)0 = 1;
    return 1;
}
