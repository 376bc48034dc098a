/* recorder why says where the time of spans went. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

#include "harness/random.h"

#define RECORDED "RECORDER_SWITCHES=256,why " RECORDER " run -q "

/* Compiles programs/why.c. Skips the test where the kernel records no switches
 * for us. */
static void why_begin(void)
{
    build_begin();
    build_once(
        "gcc -g -O1 -DRECORDER_KERNEL_SLOTS=65536 " BUILD_INCLUDE BUILD_WARNINGS
        "-o why " BUILD_PROGRAMS "/why.c -lpthread && "
        "gcc " BUILD_INCLUDE "-o kernel " BUILD_PROGRAMS "/kernel.c -lpthread");
    if (build_run("./kernel switches") != 0)
        build_skip("%s", build_text);
}
TestSuite(why, .init = why_begin, .fini = build_end, .timeout = 300);

static void must_say(const char *what)
{
    cr_assert(strstr(build_text, what), "no \"%s\" in\n%s", what, build_text);
}

/* Goal: of slow requests, the cause and its object are named, of healthy ones
 * none is; parts add up, and little is not known. Method: requests with injected
 * causes of random order and strength; the program tells which. */
Test(why, injected_causes_are_named)
{
    uint64_t seed = seed_of("why");
    unsigned count = test_scale() < 1 ? 30 : 200;
    /* The kernel describes stops to root only. */
    unsigned causes = build_run("test -r /sys/kernel/tracing/events/sched/"
                                "sched_switch/id") == 0
                          ? 14
                          : 13;
    build_must(RECORDED "-o why.rec ./why %u %u %u >oracle",
               (unsigned)(seed % 1000000), count, causes);
    command_must("why why.rec request --slowest 1000 --json >spans");
    build_must("python3 " BUILD_PROGRAMS "/why.py oracle spans");
    fputs(build_text, stderr);
}

/* Goal: the slowest spans are compared with the usual ones, and each is found
 * by the order of its first or last record, or by the options that choose. */
Test(why, spans_are_chosen_and_compared)
{
    char order[32];
    build_must(RECORDED "-o why.rec ./why 3 20 1 >oracle");
    command_must("why why.rec");
    must_say("app: request: 20 spans, usually ");
    command_must("why why.rec --slowest 20");
    must_say("waited for mutex table held by T");
    must_say(" holder, at with_lock why.c:");
    command_must("spans why.rec --names app --json | "
                 "sed \"s/.*longest_order\\\":\\([0-9]*\\).*/\\1/\"");
    snprintf(order, sizeof order, "%.*s", (int)strcspn(build_text, "\n"),
             build_text);
    command_must("why why.rec --slowest 1 >slowest");
    command_must("why why.rec --seq %s >one; cmp slowest one", order);
    command_must("why why.rec \"request 7$\" --slowest 9 | "
                 "grep -c \"^app: request\"");
    cr_assert_str_eq(build_text, "1\n");
    command_must("why why.rec --where \"app: 1<5\" --slowest 9 | "
                 "grep -c \"^app: request\"");
    cr_assert_str_eq(build_text, "5\n");
    cr_assert_eq(command("why why.rec --seq 1"), 1);
    must_say("record 1 opens and closes no span that is kept");
    cr_assert_eq(command("why why.rec nonsense"), 1);
    must_say("no span that was closed is chosen");
    cr_assert_eq(command("why why.rec --slowest 0"), 2);
    must_say("0: is no number above 0");
}

/* Goal: without switches, waits are known, and the rest is `not known`; without
 * recorder run, a blocked thread has no reason. */
Test(why, missing_records_are_said)
{
    build_must("env -u RECORDER_SWITCHES " RECORDER
               " run -q -o why.rec ./why 3 20 1 >oracle");
    command_must("why why.rec request --slowest 20");
    must_say("waited for mutex table held by T");
    must_say("not known");
    must_say("there are no records of switches");
    build_must("rm requests.fifo; RECORDER_SWITCHES=256 "
               "RECORDER_FILE=own.rec ./why 3 20 1 >oracle");
    command_must("why own.rec request --slowest 20");
    must_say("was blocked by a call, a page fault or a stop");
    must_say("there are no records of waits");
}

/* Goal: without spans of the program, the life of a thread is a span. */
Test(why, lives_of_threads_are_spans)
{
    build_must(
        "gcc -g -DWITHOUT_SPANS -DRECORDER_KERNEL_SLOTS=4096 " BUILD_INCLUDE
        "-o lives " BUILD_PROGRAMS "/why.c -lpthread && " RECORDED
        "-o why.rec ./lives 3 20 1 >oracle");
    command_must("why why.rec");
    must_say("life: thread: ");
    must_say("life: thread, T1 main: ");
}
