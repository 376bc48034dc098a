/* functions.c - recorder functions: the last calls of each thread. */
/* SPDX-License-Identifier: MIT */
#include "print.h"
#include "tree.h"

enum { OPTION_COUNTS = OPTION_OWN };

static int run(struct call *call)
{
    const struct reader *reader = &call->reader;
    bool any;
    call_open(call, 0);
    call_take(call);
    any = tree_show(call, call_option(call, OPTION_COUNTS),
                    call_option(call, 'j'));
    reader_count(&call->reader);
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->chosen &&
            strcmp(reader->recorders[i]->name, "functions") == 0)
            call_warn_lacking(call, reader->recorders[i]);
    if (!any)
        warn(call, call_selects(call)
                       ? "no call is chosen"
                       : "no calls: the program includes recorder_functions.h "
                         "in one file and is compiled with "
                         "-finstrument-functions");
    return 0;
}

static const struct option_row rows[] = {
    {OPTION_COUNTS, "counts", NULL,
     "calls, total and own time by thread and function"},
    {'j', "json", NULL, "one JSON object a line, times in nanoseconds"},
    {0, NULL, NULL, NULL}};

const struct verb verb_functions = {
    .name = "functions",
    .arguments = "SOURCE",
    .summary = "the last calls of each thread, with its records, as a tree",
    .help =
        "Of a program that is compiled with -finstrument-functions and "
        "includes recorder_functions.h in one file. TIME counts from the "
        "program's start; LENGTH is the time from the call to its return. "
        "Records appear among the calls, by time.\n\n"
        "began earlier: the call itself was overwritten, or not recorded. left "
        "without a return: longjmp() or an exception left the function; only a "
        "later call of the thread shows that, and calls until then appear "
        "inside of the function. not returned: the function ran at the end. "
        "Functions that the compiler merged into others, or compiled without "
        "-finstrument-functions, are not shown.\n\n"
        "--counts: TOTAL is the time in a function and in all that it called, "
        "counted once where it called itself; OWN is TOTAL without the called "
        "functions. Only calls that are kept and that returned have times.",
    .rows = rows,
    .selects = true,
    .for_people = true,
    .calls = true,
    .run = run};
