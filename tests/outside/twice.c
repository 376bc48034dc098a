/* The file of a running program, copied twice: no slot is a mix of records. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(twice, .init = build_begin, .fini = build_end, .timeout = 300);

#define PYTHON "python3 " BUILD_PROGRAMS "/twice.py "

static pid_t fill(void)
{
    build_must("gcc -O1 -w " BUILD_INCLUDE "-o twice " BUILD_PROGRAMS
               "/twice.c -lpthread");
    return command_start("env RECORDER_FILE=t.rec ./twice");
}

/* Runs a dump through twice.py; returns its records and torn ones. */
static void check(const char *dump, unsigned long *records, unsigned long *torn)
{
    build_must("%s | " PYTHON "check", dump);
    cr_assert_eq(sscanf(build_text, "%lu %lu", records, torn), 2, "%s",
                 build_text);
}
#define DUMP(file) RECORDER " dump " file " 2>/dev/null"

/* Goal: while rings go round, no record is torn, and some are kept. Method: two
 * threads fill them as fast as they can; each argument tells the record. */
Test(twice, no_record_is_torn, .init = build_long)
{
    unsigned long records, torn;
    char dump[512];
    pid_t pid = fill();
    snprintf(dump, sizeof dump,
             "for i in $(seq %u); do cat t.rec t.rec >two.rec; " DUMP(
                 "two.rec") "; done",
             scaled(200));
    check(dump, &records, &torn);
    command_stop(pid);
    cr_assert_eq(torn, 0ul, "%lu of %lu", torn, records);
    cr_assert_gt(records, 10ul * scaled(200));
}

/* Lets the program run for a while; it then pauses. */
static void goes_on(pid_t pid, useconds_t us)
{
    int status;
    kill(pid, SIGCONT);
    usleep(us);
    kill(pid, SIGSTOP);
    cr_assert(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
}

/* Goal: slots that changed between the copies are left out, and only these.
 * Method: the program pauses while it is copied; changes by a moving ring are
 * made by hand, and show in one copy. */
Test(twice, what_changed_is_left_out)
{
    unsigned long records, all, torn;
    pid_t pid = fill();
    do { /* until the rings are full */
        goes_on(pid, 200000);
        build_must("cp t.rec a.rec");
        check(DUMP("a.rec"), &all, &torn);
        cr_assert_eq(torn, 0, "%lu, %lu", all, torn);
    } while (all <= 4000);
    build_must("cat a.rec a.rec >two.rec");
    check(DUMP("two.rec"), &records, &torn);
    cr_assert(records == all && torn == 0, "%lu of %lu", records, all);
    torn = 0;
    for (int i = 0; i < 50 && !torn; i++) { /* until it has got on */
        goes_on(pid, 2000);
        build_must("cp t.rec b.rec; " PYTHON "torn a.rec b.rec >torn.rec");
        check(DUMP("torn.rec"), &records, &torn);
    }
    cr_assert_gt(torn, 0ul); /* one copy is wrong */
    build_must("cat a.rec torn.rec >two.rec");
    check(DUMP("two.rec"), &records, &torn);
    cr_assert(torn == 0 && records < all, "%lu, %lu", records, torn);
    command_must("save two.rec -o saved.rec");
    check(DUMP("saved.rec"), &all, &torn);
    cr_assert(torn == 0 && all == records, "%lu, %lu", all, torn);
    command_stop(pid);
}

/* Goal: two files of different runs are no two copies; a copy that is cut off
 * is read as far as it goes. */
Test(twice, other_files_are_said_to_be_none)
{
    unsigned long records, torn;
    pid_t pid = fill();
    build_must("cat t.rec >a.rec");
    command_stop(pid);
    build_must("cp t.rec d.rec; rm t.rec");
    pid = command_start("env RECORDER_FILE=t.rec ./twice");
    build_must("cat d.rec t.rec >two.rec");
    command_stop(pid);
    check(DUMP("d.rec"), &records, &torn);
    /* Without times: how fast ticks run is known better with every look. */
    build_must("for i in d two; do " RECORDER
               " dump $i.rec --line \"{order} {thread} {message}\" "
               "2>/dev/null | tail -n +2 >$i.txt; done; cmp d.txt two.txt");
    build_must("cat d.rec d.rec | head -c -40000 >cut.rec");
    command("dump cut.rec >cut.txt");
    build_must(PYTHON "check <cut.txt");
    cr_assert(sscanf(build_text, "%lu %lu", &records, &torn) == 2 && !torn,
              "%s", build_text);
}
