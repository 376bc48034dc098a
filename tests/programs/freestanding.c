/* freestanding.c - all that a machine without an operating system may use. */
/* SPDX-License-Identifier: MIT */
/*
 * Built for several processors by tests/outside/freestanding.c, never run. The macros
 * are what a port has to say; here everything is a variable.
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
extern volatile uintptr_t free_clock, free_high, free_context, free_mask;
void free_write(const char *text, unsigned long size);
#ifdef __cplusplus
}
#endif

#define RECORDER_TIME() free_clock
#define RECORDER_TIME_HZ 1000000
#define RECORDER_THREAD() ((unsigned)free_context)
#ifdef NO_ATOMICS
#define RECORDER_ENTER() free_mask++
#define RECORDER_LEAVE(before) (free_mask = (before))
#endif
#ifdef EVERYTHING
#define RECORDER_THREADS 4
#define RECORDER_CACHE_LINE 64
#if __SIZEOF_POINTER__ == 4
#define RECORDER_TIME_HIGH() free_high
#endif
#endif
#ifdef DUMPS
#define RECORDER_READABLE(address) ((address)-0x1000u < 0x100000u)
#define RECORDER_WRITE(text, size) free_write(text, (unsigned long)(size))
#include "recorder_trigger.h"
#else
#ifdef EVERYTHING
#define RECORDER_HOOKS
#endif
#include "recorder.h"
#endif

RECORDER(net, 16, "Network traffic");
#ifdef EVERYTHING
RECORDER_LANES(disk, 16, 2);
#else
RECORDER(disk, 16);
#endif
RECORDER_AT(kept, 16, 0x20000, "At an address");
RECORDER_DECLARE(net);

#ifdef DUMPS
static void free_seen(void *context, const struct recorder_seen *seen)
{
    (void)context;
    free_write(seen->format, seen->words_count);
}
#endif

int main(void);
int main(void)
{
    size_t x = free_clock;
    record(net, "no argument");
    record(net, "four %d %u %p %s", -1, 2u, (void *)&x, "text");
    record(disk, "reals %f %g", 1.5f, 2.5);
    record(disk, "five %zu %zu %zu %zu %zu", x, x, x, x, x);
    record(disk, "twelve %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu", x, x,
           x, x, x, x, x, x, x, x, x, x);
    record(kept, "%p", (void *)x);
    record(net, "copy %s", RECORDER_COPY(net, (const char *)x));
    RECORDER_TRACE(disk) = 1;
    recorder_thread_name("main");
#ifdef DUMPS
    {
        static struct recorder_cursor cursor;
        struct recorder_event event;
        char text[80];
        while (recorder_next(&cursor, &event))
            recorder_event_text(&event, text, sizeof text);
    }
    recorder_trigger("net: \"four\" sw2 1>5 10x1s after=1ms: freeze,dump,again");
    recorder_trigger_call("net:", free_seen, NULL);
    recorder_trigger_arm();
    recorder_trigger_thaw();
    recorder_line("{seconds} {thread} {message}");
    recorder_dump_for("net.*");
    return (int)recorder_dump();
#else
    return 0;
#endif
}
