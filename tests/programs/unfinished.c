/* unfinished.c - a thread stops at each step of a record, and its ring is read. */
/* SPDX-License-Identifier: MIT */
/*
    ./unfinished COMMAND  records 9 times into `few` and 39 times into `many`, rings of
                    16 slots; at each step of the next record of each, says how
                    many records are whole, shows its own dump, and runs COMMAND
                    with its process id as $1
*/
static void at_step(const char *label);
#define RECORDER_STEP_(label) at_step(#label)
#include "recorder_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RECORDER(few, 16, "Not full");
RECORDER(many, 16, "Full");

static const char *command, *ring;
static int whole;

static void at_step(const char *label)
{
    char line[256];
    const char *name = ring;
    if (!name)
        return;
    ring = NULL;
    printf("at %s, %s has %d\n", label, name,
           whole + (strcmp(label, "W7") == 0));
    fflush(stdout);
    recorder_dump_for(name);
    snprintf(line, sizeof line, "set -- %d %s; %s", (int)getpid(), name,
             command);
    if (system(line) != 0)
        exit(1);
    ring = name;
}

int main(int argc, char **argv)
{
    command = argc > 1 ? argv[1] : ":";
    dup2(1, 2); /* the dump's */
    for (int i = 0; i < 9; i++)
        record(few, "record %d", i);
    for (int i = 0; i < 39; i++)
        record(many, "record %d", i);
    ring = "few";
    whole = 9;
    record(few, "record %d", 9);
    ring = "many";
    whole = 39;
    record(many, "record %d", 39);
    ring = NULL;
    return 0;
}
