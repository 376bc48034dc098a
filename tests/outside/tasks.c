/* Tasks of schedulers: descriptions, lists, stacks, waits, in all sources. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(tasks, .init = build_begin, .fini = build_end, .timeout = 120);

#define FIBERS BUILD_PROGRAMS "/tasks_fibers.c"
#define NUMBERS BUILD_PROGRAMS "/tasks_numbers.c"

/* ---------------------------------------------------------------- header -- */

static const char *const languages[] = {
    "gcc -std=gnu11", "g++ -std=c++11 -xc++", "clang -std=gnu11",
    "clang++ -std=c++11 -xc++"};

/* Goal: the header is silent in C and C++, and nothing is left of it with
 * -DRECORDER_OFF. */
Test(tasks, the_header_compiles)
{
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (i > 1 && !sampled(2)) /* one of C, one of C++ */
            continue;
        build_must("%s -O2 " BUILD_WARNINGS BUILD_INCLUDE NUMBERS
                   " -o on -lpthread && ./on && ./on table",
                   languages[i]);
        build_must("%s -O2 -DRECORDER_OFF " BUILD_WARNINGS BUILD_INCLUDE NUMBERS
                   " -o off -lpthread && ./off && nm off >names",
                   languages[i]);
        cr_assert_neq(build_run("grep -i recorder names"), 0, "%s", build_text);
    }
    build_must("gcc -O2 -m32 " BUILD_WARNINGS BUILD_INCLUDE NUMBERS
               " -o on -lpthread && ./on table && ./on scarce");
}

/* Goal: what a task records bears its name, on whatever thread, and so does what
 * its copy in a child of fork() records. */
Test(tasks, records_bear_the_name_of_their_task)
{
    static const char *const lines[] = {"worker: of the worker\n",
                                        "one: of one\n",
                                        "two: of two\n",
                                        "two: of two again\n",
                                        "worker: of the worker again\n",
                                        "two: of two in the child\n",
                                        "row one 3\n",
                                        "row two 4\n"};
    build_must("gcc -O2 " BUILD_INCLUDE NUMBERS
               " -o numbers -lpthread && ./numbers named");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_assert(strstr(build_text, lines[i]), "no %s in %s", lines[i],
                  build_text);
}

/* Goal: a task that finds no row has no number, and the next one to find a row
 * has the number of one that ended. */
Test(tasks, numbers_may_be_used_up)
{
    build_must("gcc -O2 " BUILD_INCLUDE NUMBERS
               " -o numbers -lpthread && ./numbers scarce");
}

/* Goal: two switches of numbers, to a task and back, cost at most 1 ns: half a
 * nanosecond each. */
Test(tasks, a_number_costs_one_store)
{
    double least = 1e9;
    build_must("gcc -O2 " BUILD_INCLUDE NUMBERS " -o numbers -lpthread");
    for (int i = 0; i < 5 && least > 1; i++) {
        build_must("./numbers cost");
        if (atof(build_text) < least)
            least = atof(build_text);
    }
    cr_assert_leq(least, 1.0, "%.3f ns", least);
}
