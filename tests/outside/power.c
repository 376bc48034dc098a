/* A ring of RECORDER_AT in memory that keeps its bytes without power. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

TestSuite(power, .init = build_begin, .fini = build_end, .timeout = 300);

#define BUILD                                                                  \
    "gcc -std=gnu11 -O2 -no-pie %s -o power " BUILD_PROGRAMS "/power.c"

/* Goal: the power may be cut between any two instructions of a record and of
 * recorder_resume(): no record is torn, and each one that was made is there until
 * its slot is used again. Method: single steps, then SIGKILL; without W4 of the
 * ring the same must fail. */
Test(power, cuts)
{
    for (int seed = 1; seed <= 2; seed++) {
        if (seed == 2 && !build_can("gcc", "-m32"))
            continue;
        build_must(BUILD, seed == 1 ? BUILD_WARNINGS BUILD_INCLUDE
                                    : "-m32 " BUILD_WARNINGS BUILD_INCLUDE);
        build_must("truncate -s 0 memory; truncate -s 8192 memory; "
                   "./power memory %u %d",
                   (unsigned)scaled(1000), seed);
        cr_expect_not_null(strstr(build_text, " 0 ended"), "%s", build_text);
    }
    build_must("mkdir broken; cp -r " TEST_ROOT "/recorder* broken; "
               "sed -i s/.*RECORDER_STEP_.W4.*// broken/recorder/ring.h");
    build_must(BUILD, "-Ibroken -w");
    build_must("truncate -s 0 memory; truncate -s 8192 memory");
    cr_expect_eq(build_run("./power memory 1000 1"), 1);
    cr_expect_not_null(strstr(build_text, "torn: "), "%s", build_text);
}
