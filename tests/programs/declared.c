/* declared.c - a program of three files with RECORDER_COMPILE_ONCE: BODY has the
 * functions, MAIN and OTHER call those of all doors. */
/* SPDX-License-Identifier: MIT */
#ifdef BODY
#define RECORDER_COMPILE_HERE
#endif
#include "recorder_kernel.h"
#include "recorder_set.h"
#include "recorder_switch.h"
#include "recorder_tasks.h"
#include "recorder_trigger.h"

#ifdef __cplusplus
extern "C" {
#endif
void other(void);
void seen_here(void *context, const struct recorder_seen *seen);
void line_to(void *context, const char *text, size_t size);
#ifdef __cplusplus
}
#endif

#ifdef MAIN
#include <string.h>

RECORDER(net, 64, "Network")

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    recorder_dump_on_common_signals(0, 0);
    record(net, "%d arguments", argc);
    other();
    if (strcmp(what, "crash") == 0)
        *(volatile int *)0 = 1;
    recorder_dump_fd(1);
    return 0;
}
#endif

#ifdef OTHER
#include <stdio.h>

RECORDER(disk, 64, "Disk")

struct job {
    struct job *next;
    int id;
};
struct job *jobs_first;
RECORDER_TASKS(jobs, "jobs", &jobs_first, RECORDER_TASK(NEXT, struct job, next),
               RECORDER_TASK(ID, struct job, id))

static struct recorder_cursor cursor;
static unsigned seen_count;

void seen_here(void *context, const struct recorder_seen *seen)
{
    (void)seen;
    ++*(unsigned *)context;
}

void line_to(void *context, const char *text, size_t size)
{
    (void)text, (void)size;
    ++*(unsigned *)context;
}

void other(void)
{
    struct recorder_event event;
    char text[100];
    unsigned lines = 0, number;
    recorder_trigger_call("disk: \"seen\"", seen_here, &seen_count);
    record(disk, "seen %s", "here");
    recorder_trigger_arm();
    recorder_trace_set("disk=-1");
    record(disk, "off");
    recorder_trace_set("-disk");
    number = recorder_task_begin("job");
    recorder_task_switch(number);
    record(disk, "in a job");
    recorder_task_switch(recorder_task_worker());
    recorder_task_end(number);
    while (recorder_next(&cursor, &event)) {
        recorder_event_text(&event, text, sizeof text);
        printf("%s\n", text);
    }
    recorder_dump_to(line_to, &lines);
    recorder_kernel_pour();
    printf("%u seen, %s\n", seen_count, lines > 3 ? "dumped" : "not dumped");
    fflush(stdout);
}
#endif
