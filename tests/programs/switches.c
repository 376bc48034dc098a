/* switches.c - records what a script says, at the times that it says. */
/* SPDX-License-Identifier: MIT */
/*
    ./switches 'recorder save $PID -o x.rec' <script

    TIME WHAT HOW ID NAME CPU NUMBER MORE     a line each; HOW: a letter or -

    WHAT is a word of recorder_switch.h, or "text": then app records "> NAME ID"
    for HOW '>', "< NAME ID" for '<', else "NAME ID of MORE". NAME is one of the
    names below, "-" for none, "?" for an address of nothing. A nanosecond is a
    tick. Then it runs its argument, a shell command, and ends. -DSIZE: of rings.
*/
#include <stdint.h>
static uintptr_t script_time = 1;
#define RECORDER_TIME() script_time
#include "recorder_dump.h"
#include "recorder_switch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SIZE
#define SIZE 65536
#endif
RECORDER(switches, SIZE, "What ran");
RECORDER(interrupts, SIZE, "Interrupts off");
RECORDER(app, 4096, "The program");

static const char *const names[] = {
    "sensor",
    "encoder",
    "idle",
    "tick",
    "uart",
    "main",
    "isp",
    "a b\033[31m<&\"",
    "",
    "worker",
    "a name that is longer than any name of a task ought to be"};

static const char *name_of(const char *name)
{
    static uintptr_t nowhere = 0x10;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return names[i];
    return *name == '?'   ? (const char *)nowhere
           : *name == '-' ? NULL
                          : names[7];
}

static void text(char how, uintptr_t id, const char *name, uintptr_t more)
{
    if (how == '>')
        record(app, "> %s %lu", RECORDER_ADDRESS(name), (unsigned long)id);
    else if (how == '<')
        record(app, "< %s %lu", RECORDER_ADDRESS(name), (unsigned long)id);
    else
        record(app, "%s %lu of %lu", RECORDER_ADDRESS(name), (unsigned long)id,
               (unsigned long)more);
}

/* The formats of recorder_switch.h, and the words that the script says. */
static const char *format_of(const char *what, char how)
{
    static const char *const formats[][4] = {
        {"switch",
         "\1switch b\2%s (%p) runs on cpu %hhu; %p blocks\0switches.c:1",
         "\1switch p\2%s (%p) runs on cpu %hhu; %p is preempted\0switches.c:2",
         "\1switch e\2%s (%p) runs on cpu %hhu; %p has ended\0switches.c:3"},
        {"in", "\1in\2%s (%p) runs on cpu %hhu\0switches.c:4",
         "\1in k\2%s (%p) runs on cpu %hhu\0switches.c:19"},
        {"out", "\1out b\2%s (%p) leaves cpu %hhu: blocks\0switches.c:5",
         "\1out p\2%s (%p) leaves cpu %hhu: preempted\0switches.c:6",
         "\1out e\2%s (%p) leaves cpu %hhu: ended\0switches.c:7"},
        {"ready",
         "\1ready\2%s (%p) is ready: on cpu %hhu, by %p\0switches.c:8"},
        {"sleep",
         "\1sleep\2%.0s%.0scpu %hhu waits for an interrupt\0switches.c:9"},
        {"wake", "\1wake\2%.0s%.0scpu %hhu wakes up\0switches.c:10"},
        {"enter", "\1enter\2> %s\0switches.c:11"},
        {"exit", "\1exit\2< %s\0switches.c:12"},
        {"off", "\1off\2%.0s%.0scpu %hhu: interrupts off\0switches.c:13",
         "\1off +\2%.0s%.0scpu %hhu: interrupts off, again\0switches.c:14"},
        {"on",
         "\1on\2%.0s%.0scpu %hhu: interrupts on, off for %lu "
         "ticks\0switches.c:15",
         "\1on +\2%.0s%.0scpu %hhu: interrupts stay off\0switches.c:16"},
        {"strange", "\1strange in b x\2%s\0switches.c:17",
         "\1in b zz\2%p\0switches.c:18"}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(what, formats[i][0]) == 0)
            return formats[i][how == 'p' || how == '+' || how == 'k' ? 2
                              : how == 'e'                           ? 3
                                                                     : 1];
    return NULL;
}

int main(int count, char **arguments)
{
    char what[16], how, name[80];
    unsigned long time, id, cpu, number, more;
    /* A nanosecond is a tick, and no clock is better than that. */
    recorder_registry.start =
        (struct recorder_moment){0, 1, 1700000000000000000};
    recorder_registry.later =
        (struct recorder_moment){UINT64_C(1) << 60, (UINT64_C(1) << 60) + 1, 0};
    recorder_registry.later_sequence = 2;
    while (scanf("%lu %15s %c %lu %79s %lu %lu %lu", &time, what, &how, &id,
                 name, &cpu, &number, &more) == 8) {
        const char *format = format_of(what, how);
        bool masks = strcmp(what, "off") == 0 || strcmp(what, "on") == 0;
        script_time = time;
        if (strcmp(what, "text") == 0)
            text(how, id, name_of(name), more);
        else if (format)
            recorder_record_few_(
                masks ? &recorder_for_interrupts : &recorder_for_switches,
                format, (uintptr_t)name_of(name), id, cpu | number << 8, more);
    }
    if (count < 2)
        return 2;
    sprintf(what, "%d", (int)getpid());
    setenv("PID", what, 1);
    return system(arguments[1]) ? 1 : 0;
}
