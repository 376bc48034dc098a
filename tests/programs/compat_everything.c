/* compat_everything.c - every name of recorder 1.x, as programs use it. */
/* SPDX-License-Identifier: MIT */
#include "compat_everything.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

RECORDER(MyRec, 32, "My recorder");
RECORDER_DEFINE(Other, 10, "Not a power of two");
RECORDER(sized_one, 1, "One record");
RECORDER_TWEAK_DEFINE(my_limit, 7, "A limit")
RECORDER_TWEAK_DEFINE(my_bits, 0x30, "Bits");

/* Says what is not so. */
#define MUST_BE(is, must)                                                      \
    do {                                                                       \
        long is_ = (long)(is);                                                 \
        if (is_ != (must))                                                     \
            fprintf(stderr, "%s:%d: is %ld\n", __FILE__, __LINE__, is_);       \
    } while (0)
#define MUST(condition) MUST_BE(!!(condition), 1)

static int evaluated;
static int evaluate(void)
{
    return ++evaluated;
}

static size_t show_tree(intptr_t trace, const char *format, char *buffer,
                        size_t size, uintptr_t data)
{
    const char *text = (const char *)data;
    if (trace)
        return (size_t)snprintf(buffer, size, "<%s>", text);
    return (size_t)snprintf(buffer, size, "{%s}", format);
}

static unsigned show(const char *text, size_t size, void *output)
{
    fprintf(stderr, "%s|%.*s|\n", (const char *)output, (int)size, text);
    return 1;
}
static void format(recorder_show_fn write_it, void *output, const char *label,
                   const char *location, uintptr_t order, uintptr_t timestamp,
                   const char *message)
{
    char text[200];
    const char *at = strrchr(message, '/');
    int size = snprintf(text, sizeof text, "%s %d %d %d (%u) %s", label,
                        strncmp(location, "0x", 2) == 0, order > 0,
                        timestamp < 100000000, recorder_indent(),
                        at ? at + 1 : message);
    write_it(text, (size_t)size, output);
}

static void lines(void)
{
    record(MyRec, "int %d long %ld unsigned %u hex %#x", -1, -2L, 3u, 0x40);
    record(MyRec, "double %.2f float %g char %c percent %%", 2.5, 0.5f, 'x');
    record(MyRec, "dropped newline\n");
    record(MyRec, "string %s and %+s", "a", "b");
    record(MyRec, "width %*d|%-6s|%.2s|%*.*f", 5, 42, "ab", "cdef", 8, 3, 1.0);
    RECORD(MyRec, ">in");
    record(MyRec, ">deeper");
    RECORD_FAST(MyRec, "at %d", 2);
    record_fast(MyRec, "<out");
    record(MyRec, "=none");
    record(Other, "5 %d %d %d %d %d", 1, 2, 3, 4, 5);
    record(Other, "8 %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8);
    record(Other, "12 %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7,
           8, 9, 10, 11, 12);
    /* A ring of one slot becomes one of four: what was here would stay. */
    record(sized_one, "kept");
}

/* Which <time.h> hides from strict C11. */
extern int clock_gettime(int which, struct timespec *time);
static uintptr_t clock_ticks(void)
{
    struct timespec time;
    clock_gettime(1 /* CLOCK_MONOTONIC */, &time);
    return (uintptr_t)(time.tv_sec * RECORDER_HZ +
                       time.tv_nsec / (1000000000 / RECORDER_HZ));
}
/* Ticks are those of the system's clock, however long it takes to look. */
static void ticks(void)
{
    uintptr_t outer = clock_ticks(), first = recorder_tick();
    uintptr_t inner = clock_ticks();
    while (clock_ticks() - inner < RECORDER_HZ / 100)
        ;
    inner = clock_ticks() - inner;
    first = recorder_tick() - first;
    outer = clock_ticks() - outer;
    MUST(first + 1 >= inner && first <= outer + 1);
    MUST(recorder_tick() / RECORDER_HZ < 100);
}

static void names(void)
{
    recorder_entry entry = {"format", 1, 2, "where", {3, 4, 5, 6}};
    recorder_info *info;
    int listed = 0;
    MUST(RECORDER_CURRENT_VERSION == RECORDER_VERSION(1, 2, 3));
    MUST_BE(RECORDER_VERSION_MAJOR(RECORDER_CURRENT_VERSION), 1);
    MUST_BE(RECORDER_VERSION_MINOR(RECORDER_CURRENT_VERSION), 2);
    MUST_BE(RECORDER_VERSION_PATCH(RECORDER_CURRENT_VERSION), 3);
    MUST(RECORDER_64BIT == (sizeof(void *) == 8));
    MUST(atoi(RECORDER_STRING(__LINE__)) == __LINE__);
    MUST(strcmp(RECORDER_SOURCE_FUNCTION, "names") == 0);
    MUST(strstr(RECORDER_SOURCE_LOCATION, "compat_everything.c:") != NULL);
    MUST(sizeof entry == 8 * sizeof(uintptr_t) && entry.format[0] == 'f');
    MUST(entry.order + entry.timestamp == entry.args[0] && *entry.where == 'w');
    MUST_BE(RECORDER_TWEAK(my_limit), 7);
    MUST_BE(RECORDER_TRACE(my_limit), 7);
    MUST(RECORDER_TWEAK(my_bits) & 0x10);
    MUST(!(RECORDER_TWEAK(my_bits) & 0x40));
    MUST_BE(RECORDER_ENABLED(MyRec), 1);
    MUST_BE(strcmp(RECORDER_INFO(MyRec)->name, "MyRec"), 0);
    MUST_BE(strcmp(RECORDER_INFO(MyRec)->description, "My recorder"), 0);
    MUST_BE(RECORDER_INFO(MyRec)->trace, 0);
    for (info = recorder_list(); info; info = info->next)
        listed++;
    MUST_BE(listed, 8 + part_recorders);
    ticks();
    RECORDER_TRACE(MyRec) = -1;
    MUST_BE(RECORDER_ENABLED(MyRec), 0);
    MUST(record(MyRec, "never %d", evaluate()) == (ringidx_t)-1);
    MUST_BE(evaluated, 0);
    RECORDER_TRACE(MyRec) = 0;
    MUST(record(MyRec, "once %d", evaluate()) != (ringidx_t)-1);
    MUST_BE(evaluated, 1);
}

/* Between two looks at this clock lie 10 ms. */
static uintptr_t slow_ticks;
#define recorder_tick() (slow_ticks += RECORDER_HZ / 100)
static void timing(void)
{
    int i;
    RECORDER_TRACE(MyRec) = 0;
    for (i = 0; i < 3; i++) {
        RECORD_TIMING_BEGIN(MyRec);
        RECORD_TIMING_END(MyRec, "Turned", "wheels", 2);
    }
}
#undef recorder_tick

/* Returns a text after which there is no memory: to a show function an output
 * may be anything, not a FILE that the recorder could ask. */
static void *output_at_the_end(const char *text)
{
    enum { PAGE = 0x10000 };
    static char pages[2 * PAGE] __attribute__((aligned(PAGE)));
    MUST_BE(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
    return strcpy(pages + PAGE - strlen(text) - 1, text);
}

int main(void)
{
    char tree[] = "tree";
    void *sorted;
    const char *silent = "recorder_order=0 recorder_reltime=0 /recorder.*";
    MUST_BE(recorder_trace_set(NULL), RECORDER_TRACE_OK);
    MUST_BE(recorder_trace_set(silent), RECORDER_TRACE_OK);
    names();
    lines();
    recorder_configure_type('t', show_tree);
    record(MyRec, "%t and %+t and %5t", tree, tree, tree);
    fprintf(stderr, "-- dump\n");
    MUST_BE(recorder_dump(), 17);
    fprintf(stderr, "-- again, two of them\n");
    MUST_BE(recorder_dump_for("sized.*|OTHER"), 4);
    fprintf(stderr, "-- show\n");
    recorder_configure_output(output_at_the_end("output"));
    recorder_configure_show(show);
    recorder_dump_for("sized_one");
    recorder_configure_format(format);
    recorder_dump_for("MyRec");
    recorder_configure_format(NULL);
    recorder_configure_show(NULL);
    recorder_configure_output(NULL);
    sorted = output_at_the_end("sorted");
    MUST_BE(recorder_sort("sized_one", format, show, sorted), 1);
    MUST_BE(recorder_sort("sized_one", NULL, show, sorted), 1);
    fprintf(stderr, "-- trace\n");
    recorder_trace_set("MyRec");
    record(MyRec, "traced %t", tree);
    recorder_trace_set("-MyRec recorder_location=1:recorder_order=1 "
                       "recorder_function=0 recorder_time_precision=3");
    part();
    recorder_trace_set("recorder_location=0:recorder_order=0");
    MUST(recorder_trace_set("(") == RECORDER_TRACE_INVALID_NAME);
    MUST(recorder_trace_set("MyRec=2x") == RECORDER_TRACE_INVALID_VALUE);
    MUST(recorder_trace_set("nobody=1") == RECORDER_TRACE_OK);
    fprintf(stderr, "-- timing\n");
    timing();
    recorder_configure_output(stderr);
    recorder_trace_set("recorder_reltime=0");
    MUST_BE(recorder_dump_for("MyRec"), 17);
    return 0;
}
