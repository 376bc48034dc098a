/* examples/pipeline on Linux: a frame is encoded or dropped; some are late. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(pipeline, .init = build_begin, .fini = build_end, .timeout = 300);

/* Goal: what docs/pipeline.md shows of a Cortex-M3 holds for threads, too. In
 * 40 frames the bug strikes once, unless one was dropped before, as it was
 * late: however busy the machine is, some frame is. Nothing more is said of times. */
Test(pipeline, late)
{
    unsigned pairs, dropped, ran;
    build_must("gcc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 " BUILD_WARNINGS
               "-Wstrict-prototypes " BUILD_INCLUDE
               "-DFRAMES=40 -o pipeline " TEST_ROOT
               "/examples/pipeline/pipeline.c -lpthread && "
               "RECORDER_FILE=rec ./pipeline 2>said");
    cr_assert_eq(build_run(RECORDER
                           " latency rec --from \"frame .* from the sensor\" "
                           "--to \"< encode frame .*\" --by 1 --deadline "
                           "16.6ms --most 1 >latency"),
                 1, "%s", build_text);
    build_must("sed -n \"s/ pairs, 0 without an end;.*//p\" latency");
    pairs = (unsigned)atoi(build_text);
    build_must("grep -c \"^late by .* from the sensor, .* < encode frame\" "
               "latency");
    build_must(RECORDER
               " dump rec --severity sw2 | grep -c \" dropped$\" || :");
    dropped = (unsigned)atoi(build_text);
    cr_expect_eq(pairs + dropped, 40, "%u encoded and %u dropped", pairs,
                 dropped);
    cr_expect_gt(pairs, 0);
    /* What the threads did, where the kernel tells. */
    build_must("cat said");
    if (*build_text) {
        fprintf(stderr, "left out: %s", build_text);
        return;
    }
    build_must(RECORDER " sched rec --json | grep -c -E \"^.*."
                        "(sensor|filter|encoder|statistics).*.runs.:[1-9]\" "
                        "|| :");
    ran = (unsigned)atoi(build_text);
    cr_expect_eq(ran, 4, "%u of the threads ran", ran);
}
