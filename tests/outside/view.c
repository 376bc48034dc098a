/* The timeline of recorder view, driven in Chromium by tests/view/drive.mjs. */
/* SPDX-License-Identifier: MIT */
#define BUILD_SECONDS 200 /* Chromium, on a busy machine */
#include "harness/browser.h"

static void drive(const char *test, const char *flags)
{
    browser_needed();
    build_once("gcc -std=gnu11 -O2 " BUILD_INCLUDE BUILD_WARNINGS
               "%s " BUILD_PROGRAMS "/view.c -o program -lpthread -lm",
               flags);
    build_must("node " TEST_ROOT "/tests/view/drive.mjs %s " TEST_ROOT
               "/build/recorder ./program " BROWSER_MODULES " .",
               test);
    fputs(build_text, stderr);
}

TestSuite(view, .init = build_begin, .fini = build_end, .timeout = 400);

/* A promise is a function of drive.mjs, where its steps are. */
#define PROMISE(test, flags)                                                   \
    Test(view, test)                                                           \
    {                                                                          \
        drive(#test, flags);                                                   \
    }
#define LONG_PROMISE(test, flags)                                              \
    Test(view, test, .init = build_long)                                       \
    {                                                                          \
        drive(#test, flags);                                                   \
    }

/* The page contains `dump --json`'s fields, event by event. */
PROMISE(round_trip, "")
/* The strip of the whole recording; a span zoomed to, threads pinned, arguments
 * plotted, spans added up. */
PROMISE(overview, "")
/* States: a strip below each thread, a lane for each processor. */
Test(view, switches, .init = build_long)
{
    static const char script[] = "0 in - 1 sensor 0 0 0\n"
                                 "20000 switch b 2 encoder 0 0 1\n"
                                 "24000 enter - 9 tick 0 0 0\n"
                                 "25000 enter - 8 uart 0 0 0\n"
                                 "26000 exit - 8 uart 0 0 0\n"
                                 "27000 off - 0 - 0 0 0\n"
                                 "29000 on - 0 - 0 0 2000\n"
                                 "30000 exit - 9 tick 0 0 0\n"
                                 "30000 ready - 1 sensor 0 0 0\n"
                                 "35000 ready - 3 sensor 0 0 0\n"
                                 "40000 switch p 1 sensor 0 0 2\n"
                                 "60000 switch b 2 encoder 0 0 1\n"
                                 "60000 sleep - 0 - 0 0 0\n"
                                 "80000 wake - 0 - 0 0 0\n";
    browser_needed();
    build_once("gcc -O1 " BUILD_INCLUDE "-o it " BUILD_PROGRAMS "/switches.c");
    build_must("echo \"%s\" | ./it \"" TEST_ROOT
               "/build/recorder save \\$PID -o rec\"",
               script);
    build_must("node " TEST_ROOT "/tests/view/drive.mjs switches " TEST_ROOT
               "/build/recorder rec " BROWSER_MODULES " .");
}
/* Waits of threads are bars, with arrows from who released them. */
Test(view, waits)
{
    browser_needed();
    build_must("gcc -g -fPIC -shared -DPLUGIN -DWAITS=waits -DWORKS=works -o "
               "one.so " BUILD_PROGRAMS "/run_plugin.c -lpthread; gcc -g -o "
               "plugin " BUILD_PROGRAMS "/run_plugin.c -lpthread -ldl; "
               TEST_ROOT "/build/recorder run -q -o rec ./plugin ./one.so");
    build_must("node " TEST_ROOT "/tests/view/drive.mjs waits " TEST_ROOT
               "/build/recorder rec " BROWSER_MODULES " .");
}
/* No recorded text is taken for HTML or script; the page asks for nothing. */
LONG_PROMISE(hostile, "")
/* A click in the timeline or the table shows the whole record. */
PROMISE(click, "")
/* Spans are paired by thread and recorder, and nest. */
LONG_PROMISE(spans, "")
/* Spans by name and by id: their lanes, arrows and figures. */
Test(view, spans_by_name, .init = build_long)
{
    browser_needed();
    build_must("gcc -O1 -g " BUILD_INCLUDE "-o async " BUILD_PROGRAMS
               "/async.c -lpthread && ./async - \"node " TEST_ROOT
               "/tests/view/drive.mjs spans_by_name " TEST_ROOT
               "/build/recorder \\$PID " BROWSER_MODULES " .\"");
}
/* Wheel, drag and keys move the view; the table follows; a span is measured. */
PROMISE(zoom, "")
/* A regular expression finds the right events, marked, in lanes and in
 * order. */
LONG_PROMISE(search, "")
/* A severity is shown in its colour, marked, and chosen by. */
LONG_PROMISE(severity, "")
/* The address holds time range, selection, hidden recorders and search. */
LONG_PROMISE(link, "")
/* Without a mouse: keys do all its work. */
LONG_PROMISE(keys, "")
/* A screen reader has a tree of lanes, a table, and the selection. */
LONG_PROMISE(access, "")
/* On a phone, fingers move and zoom, and nothing is cut off. */
LONG_PROMISE(phone, "")
/* Nothing is cut off or covered in a narrow window. */
LONG_PROMISE(narrow, "")
/* 32 recorders are distinguishable; a name has its colour in all pages. */
LONG_PROMISE(colours, "")
/* Times of day agree with the records, and the zone is shown. */
LONG_PROMISE(clock, "")
/* Waits have a message: a large page, a program, a browser too old. */
LONG_PROMISE(loading, "")
/* The page's filter shows what --where and --grep choose. */
LONG_PROMISE(filter, "")
/* 500 threads are put in order, filtered, and folded: a click opens a fold. */
LONG_PROMISE(lanes, "-DMANY")
/* Overwritten records are a gap with their number; values are as recorded. */
LONG_PROMISE(gaps, "")
/* New events arrive in several browsers, whatever strangers send, and the page
 * says that the program has ended. */
LONG_PROMISE(live, "")
/* Switches come, too, if the kernel has them: strips and processors. */
LONG_PROMISE(live_switches, "-include " TEST_ROOT "/recorder_kernel.h")
/* A record whose time is not known is in the table. */
LONG_PROMISE(timeless, "-DTIMELESS")
/* A million events fit, load and move; prints figures. */
LONG_PROMISE(million, "-DMILLION")
