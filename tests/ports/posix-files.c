/* posix-files.c - two files of one program, all of the interface, by POSIX. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include "recorder_set.h"

#ifdef __cplusplus
extern "C"
#endif
uintptr_t other_record(void);

#ifdef HERE
RECORDER(here, 16, "Of this file")
RECORDER_TWEAK_DEFINE(tweak, 1, "A number")

static void count_line(void *context, const char *line, size_t size)
{
    *(unsigned *)context += line[size - 1] == '\n';
}

int main(void)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    unsigned lines = 0, events = 0;
    uintptr_t first = record(here, "%s", RECORDER_COPY(here, "here"));
    recorder_thread_name("main");
    recorder_dump_on_common_signals(0, 0);
    if (!recorder_alt_stack() || recorder_trace_set("tweak=2") != 0 ||
        RECORDER_TWEAK(tweak) != 2 || other_record() != first + 1)
        return 1;
    while (recorder_next(&cursor, &event))
        events++;
    return recorder_dump_to(count_line, &lines) != 2 || lines != 5 ||
           events != 2 || recorder_file("none") || recorder_dump_fd(1) != 2;
}
#else
RECORDER(other, 16, "Of the other file")

uintptr_t other_record(void)
{
    return record(other, "%g", 0.5);
}
#endif
