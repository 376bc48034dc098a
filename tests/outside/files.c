/* A program of several files: one dumps, the others record. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#define SIX BUILD_PROGRAMS "/six.c"

TestSuite(files, .init = build_begin, .fini = build_end, .timeout = 300);

/* Compiles file `number` of six.c; no path of this checkout, which a record
 * holds as its file's name, adds to its size. */
static void compile(const char *as, const char *with, unsigned number)
{
    build_must("%s %s " BUILD_INCLUDE "-Wall -Wextra -Werror "
               "-ffile-prefix-map=" TEST_ROOT "=. "
               "-DFILE_NUMBER=%u -c -o %u.o " SIX,
               as, with, number, number);
}
static void must_dump(const char *how)
{
    build_must("./six | grep -c \"\\] six_.: part ., here$\"");
    cr_expect_str_eq(build_text, "6\n", "%s: %s lines", how, build_text);
}
/* Returns how many bytes of text `size` counts in a file. */
static long text_of(const char *file)
{
    build_must("size %s | awk \"NR == 2 { print \\$1 }\"", file);
    return atol(build_text);
}

/* Goal: each further C file that records costs at most 6 KB, and a program of
 * six files at most 97 KB; 82.5 KB where the functions are compiled once, as they
 * are in C++. A second file that dumps costs its code and does no harm. */
Test(files, sizes)
{
    static const struct {
        const char *as, *with, *here;
        long most, file_most;
    } kinds[] = {{"gcc", "-O2", "", 99600, 5100},
                 {"gcc", "-O2 -DRECORDER_COMPILE_ONCE",
                  " -DRECORDER_COMPILE_HERE", 85500, 1000},
                 {"g++", "-O2 -x c++", "", 81800, 1000}};
    unsigned i, k;
    build_needs("gcc", "g++", "size");
#ifndef __x86_64__
    build_skip("measured on x86-64 only");
#endif
    for (k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const char *as = kinds[k].as;
        char last[100];
        long with, without, five;
        for (i = 1; i <= 5; i++)
            compile(as, kinds[k].with, i);
        snprintf(last, sizeof last, "%s%s", kinds[k].with, kinds[k].here);
        compile(as, last, 6);
        build_must("%s -o six ?.o", as);
        must_dump(as);
        with = text_of("six");
        build_must("%s -w -o six 1.o 2.o 3.o 4.o 6.o "
                   "-Wl,--defsym=part_5=part_4",
                   as);
        five = text_of("six");
        for (i = 1; i <= 6; i++)
            compile(as, "-O2 -DNOTHING", i);
        build_must("gcc -o six ?.o");
        without = text_of("six");
        cr_log_info("%s: %ld bytes, a further file %ld", last, with - without,
                    with - five);
        cr_expect(with - without <= kinds[k].most, "%s: %ld bytes", last,
                  with - without);
        cr_expect(with - five <= kinds[k].file_most, "%s: a file takes %ld",
                  last, with - five);
    }
}

/* Goal: files of all compilers and options make one program, a second file that
 * dumps does no harm, and without one the linker names the function. Method:
 * each file by another compiler or with other switches. */
Test(files, any_mixture_links)
{
    static const char *const as[] = {"gcc", "g++ -x c++", "clang",
                                     "clang++ -Wno-deprecated -x c++"};
    static const char *const with[] = {"-O2",
                                       "-O0",
                                       "-O2 -DRECORDER_CLOCK_ORDER",
                                       "-O2 -march=native -fPIC",
                                       "-O3 -DRECORDER_NO_FILE",
                                       "-Os -ffunction-sections"};
    unsigned i, round;
    build_needs("gcc", "g++", "clang", "clang++");
    for (round = 0; round < 4; round++) {
        if (!sampled(round))
            continue;
        for (i = 1; i <= 6; i++)
            compile(as[(i + round) % 4], with[(i + round) % 6], i);
        build_must("gcc -O2 " BUILD_INCLUDE "-include recorder_dump.h -x c -c "
                   "-o second.o /dev/null");
        build_must("gcc -o six ?.o second.o -Wl,--gc-sections");
        must_dump("mixed");
        build_must("gcc -o six second.o ?.o");
        must_dump("mixed, the other first");
    }
    cr_expect_neq(build_run("gcc -o six 1.o 2.o 3.o 4.o 5.o"), 0);
    cr_expect_not_null(strstr(build_text, "recorder_dump_fd"), "%s",
                       build_text);
}

/* Goal: files with and without -flto make one program in any order of the
 * files, and a second file that dumps does no harm. */
Test(files, some_with_lto)
{
    static const char *const with[] = {"-O2", "-O2 -flto"};
    unsigned i, round;
    build_needs("gcc");
    if (build_run("gcc -flto -x c -c -o none.o /dev/null") != 0)
        build_skip("gcc has no -flto");
    for (round = 0; round < 2; round++) {
        for (i = 1; i <= 6; i++)
            compile("gcc", with[(i + round) % 2], i);
        build_must("gcc %s " BUILD_INCLUDE "-include recorder_dump.h -x c -c "
                   "-o second.o /dev/null",
                   with[round]);
        build_must("gcc -O2 -o six 1.o 2.o 3.o 4.o 5.o 6.o");
        must_dump("6 last");
        build_must("gcc -O2 -o six 6.o 5.o 4.o 3.o 2.o 1.o");
        must_dump("6 first");
        build_must("gcc -O2 -o six second.o 1.o 2.o 3.o 4.o 5.o 6.o");
        must_dump("two dump");
    }
}
