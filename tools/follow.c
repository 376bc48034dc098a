/* follow.c - recorder follow: prints what is recorded, as it is. */
/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "line.h"

enum { OPTION_COLOR = OPTION_OWN, OPTION_INTERVAL };

static void show(struct call *call, bool in_color)
{
    struct reader_event event;
    bool as_json = call_option(call, 'j');
    while (reader_next(&call->reader, &event))
        if (as_json) {
            json_event(stdout, call, &event);
            putchar('\n');
        } else {
            line_print(call, &event, in_color, false);
        }
    if (fflush(stdout) != 0)
        fail(call, "stdout cannot be written");
}

/* Says what was overwritten before it was seen. */
static void say_missed(struct call *call, uint64_t *said)
{
    if (call->reader.missed == *said)
        return;
    warn(call, "%llu records missed",
         (unsigned long long)(call->reader.missed - *said));
    *said = call->reader.missed;
}

/* Has the program ended whose recording this is? Of a process, its memory
 * tells. */
static bool is_gone(const struct call *call)
{
    return !call->source.pid && kill((pid_t)call->reader.pid, 0) != 0 &&
           errno == ESRCH;
}

/* Waits for an interval, and ten times as long as the last look took: while
 * large rings are copied, the program has less of the memory's speed. */
static void wait_after(uint64_t interval_ns, uint64_t taking_ns)
{
    uint64_t ns = 10 * taking_ns > interval_ns ? 10 * taking_ns : interval_ns;
    struct timespec wait = {(time_t)(ns / 1000000000u),
                            (long)(ns % 1000000000u)};
    nanosleep(&wait, NULL);
}

static int follow(struct call *call)
{
    const char *interval = call_option(call, OPTION_INTERVAL);
    const char *last = call_option(call, 'l'), *wrong;
    bool in_color = line_color(call, call_option(call, OPTION_COLOR));
    uint64_t wait_ns = 10000000;
    uint64_t said = 0, taking_ns = 0;
    if (call->arguments_count > 1)
        misuse(call, "one SOURCE");
    if (interval) {
        unsigned ms;
        char more;
        if (sscanf(interval, "%u%c", &ms, &more) != 1 || ms < 1 || ms > 60000)
            misuse(call, "--interval %s: 1 to 60000 milliseconds", interval);
        wait_ns = (uint64_t)ms * 1000000;
    }
    if (!last)
        call->selection.last = 10;
    call_open(call, 0);
    if (!call->source.pid && !call->source.memory->live)
        fail(call, "is a core file: nothing is added to it; use recorder dump");
    call->reader.follows = true;
    call_take(call);
    call->reader.missed = 0; /* what was gone before is not missed */
    if (!last || call->selection.last)
        show(call, in_color);
    call->selection.last = 0;
    reader_select(&call->reader, &call->selection);
    do {
        bool ended = is_gone(call);
        wait_after(wait_ns, taking_ns);
        taking_ns = recorder_clock_ns(RECORDER_MONOTONIC_);
        wrong = reader_take(&call->reader);
        taking_ns = recorder_clock_ns(RECORDER_MONOTONIC_) - taking_ns;
        show(call, in_color);
        if (ended && !wrong) { /* what was held back */
            wrong = "the program is gone";
            reader_take(&call->reader);
            show(call, in_color);
        }
        say_missed(call, &said);
    } while (!wrong);
    warn(call, "%s", wrong);
    return strcmp(wrong, "the program is gone") == 0 ? 0 : 1;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line"},
    {OPTION_INTERVAL, "interval", "MS", "look every so many milliseconds: 10"},
    {OPTION_COLOR, "color", "WHEN",
     "always, never, or auto: on a terminal, unless NO_COLOR is set"},
    {0, NULL, NULL, NULL}};

const struct verb verb_follow = {
    "follow",
    "SOURCE",
    "prints the last records, and further ones as they are made",
    "Any number of them may follow one program; each has its own place, and "
    "says on stderr how many records it missed. It ends when the program does, "
    "with its last records: all of them where the program has a recording "
    "(RECORDER_FILE), else those made up to one interval before its end. "
    "--last is 10 here; 0 shows only what comes.",
    rows,
    true,
    follow};
