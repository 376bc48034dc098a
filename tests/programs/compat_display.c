/* compat_display.c - how a display library in C uses recorder 1.x. */
/* SPDX-License-Identifier: MIT */
/*
    -DOTHER_FILE    the other file of it
*/
#include "recorder/recorder.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a header of the library says. */
RECORDER_DECLARE(channel);
RECORDER_DECLARE(frames);
RECORDER_TWEAK_DECLARE(streams);
#define debug(format, ...) record(frames, format, ##__VA_ARGS__)
static inline int helped(int number)
{
    record(frames, "helped %d", number);
    return number;
}
extern int other_file(int number, const char *text);

#ifdef OTHER_FILE
int other_file(int number, const char *text)
{
    static int calls;
    calls++;
    record(channel, "other file %d %s", number, text);
    return helped(number) + (int)RECORDER_TWEAK(streams) - calls;
}
#else
RECORDER(channel, 32, "Channel");
RECORDER_DEFINE(frames, 8 * 4,
                "Frames "
                "of the display");
RECORDER(speed, 32, "Speed");
RECORDER_TWEAK_DEFINE(streams, 3, "Streams");
RECORDER_TWEAK_DEFINE(target_fps, 0x1E, "Frames in a second")

static RECORDER_CONSTRUCTOR void early(void)
{
    recorder_trace_set("recorder_order=0 recorder_reltime=0 /recorder.*");
    recorder_trace_set(getenv("DISPLAY_TRACES"));
    record(channel, "constructor");
}

enum kind { kind_a, kind_b };
struct bits {
    unsigned a : 3;
};

static void arguments(void)
{
    static char buffer[8] = "buffer";
    static const char *const names[] = {"zero", "one"};
    const volatile int constant = 3;
    enum kind kind = kind_b;
    struct bits bits = {5};
    void (*function)(void) = NULL;
    uint8_t small = 255;
    int8_t negative = -1;
    _Bool yes = 1;
    record(channel, "%d %s %s %u %u", constant, buffer, names[1], kind, bits.a);
    record(channel, "%p %u %d %" PRIu64, function, small, negative,
           (uint64_t)1 << 40);
    record(channel, "%d %zu %g %c", yes, sizeof buffer, 1.5f, 'c');
    record(channel, "%d %d %p", arguments == function, names[0] != buffer,
           NULL);
    record(channel, "%ld %hhd %x", -1L, (signed char)-3, ~0u);
    record(channel, "%d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7,
           8, 9, 10, 11, 12);
    record(channel, "%s %s", __func__, (char *)NULL);
}

static void statements(int count)
{
    int i = 1;
    record(channel, "%d %d", count > 5 ? 1 : 2, (i++, i));
    debug("none");
    debug("one %d", 1);
    if (RECORDER_TRACE(channel) > 1000)
        record(channel, "traced");
    else
        record_fast(channel, "not traced");
    if (RECORDER_TWEAK(streams) > 2 && (RECORDER_TWEAK(target_fps) & 0x10))
        record(channel, "twice %ld", RECORDER_TWEAK(streams) * 2);
    while (!record(channel, "in while"))
        ;
    {
        RECORD_TIMING_BEGIN(speed);
        helped(3);
        RECORD_TIMING_END(speed, "Helped", "helps", count);
    }
}

static unsigned show(const char *text, size_t size, void *output)
{
    return (unsigned)fprintf((FILE *)output, "shown %.*s\n", (int)size, text);
}

int main(int argc, char **argv)
{
    uintptr_t order = recorder_order;
    recorder_info *info;
    recorder_show_fn before;
    int i;
    for (i = 1; i < argc; i++)
        if (recorder_trace_set(argv[i]) != RECORDER_TRACE_OK)
            return 2;
    recorder_dump_on_common_signals(1u << SIGTERM, 1u << SIGUSR2);
    recorder_dump_on_signal(SIGUSR1);
    arguments();
    statements(argc);
    for (info = recorder_list(); info; info = info->next)
        if (!info->name || !info->description)
            return 3;
    before = recorder_configure_show(show);
    recorder_configure_output(stderr);
    if (recorder_dump_for("speed") != 1)
        return 4;
    recorder_configure_show(before);
    i = other_file(1, "text");
    return recorder_dump_for("channel|frames") != 17 ||
           recorder_order - order != 20 || i != 3;
}
#endif
