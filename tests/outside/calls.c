/* recorder run records calls of libc that take long, and changes none. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(calls, .init = build_begin, .fini = build_end, .timeout = 300);

#define RUN RECORDER " run -q "

/* Goal: calls answer as without: results, errno, EINTR, cancellation, in signal
 * handlers, on small stacks, in children of fork() and vfork(), where the clock
 * may not be read; with and without _FORTIFY_SOURCE, whatever is recorded. */
Test(calls, answer_alike)
{
    static const char *const options[] = {"-D_FORTIFY_SOURCE=2", "-U_FORTIFY_"
                                                                 "SOURCE"};
    static const char *const limits[] = {"--calls 1", "--calls 0", ""};
    for (size_t i = 0; i < 2; i++) {
        build_must("gcc -O2 -g %s " BUILD_WARNINGS "-o slow " BUILD_PROGRAMS
                   "/run_slow.c -lpthread",
                   options[i]);
        build_must("./slow >without; test $? = 42");
        for (size_t k = 0; k < 3; k++) {
            build_must(RUN "%s -o slow.rec ./slow >with; test $? = 42",
                       limits[k]);
            build_must("cmp without with");
        }
    }
}

/* Goal: slow calls are spans with their names, files, results and errors; fast
 * ones and those of a higher limit are not recorded. */
Test(calls, slow_ones_are_recorded)
{
    build_must("gcc -O2 -g -D_FORTIFY_SOURCE=2 -o slow " BUILD_PROGRAMS
               "/run_slow.c -lpthread");
    build_must(RUN "-o slow.rec ./slow >said; test $? = 42");
    command_must("dump --internal -n slow_call slow.rec >lines");
    build_must("grep \">poll [0-9]* $PWD/slow.fifo, stack [1-9]\" lines && "
               "grep \"<poll [0-9]* $PWD/slow.fifo: returned 0, asked 1, errno "
               "0, after [0-9]* ticks, stack [1-9]\" lines && "
               "grep \"<recv [0-9]* socket:.*: returned -1, asked 8, errno 11,"
               "\" lines && grep \"<recv [0-9]* socket:.* 127.0.0.1:[1-9][0-9]*"
               ": returned -1, \" lines && "
               "grep \"<recv [0-9]* socket:.* slow.socket: \" lines && "
               "grep \"<recv [0-9]* socket:.* @slow[0-9]*: \" lines && "
               "{ ! grep -q \"^0*1 \" /proc/net/if_inet6 || grep \"<recv [0-9]"
               "* socket:.* \\[::1\\]:[1-9][0-9]*: \" lines; } && grep "
               "\"<usleep: returned 0, asked "
               "0,\" lines && "
               "grep \"<select: returned 0\" lines");
    command_must("dump slow.rec >words");
    build_must("grep \"waits in poll [0-9]* $PWD/slow.fifo$\" words && "
               "grep \"waited [0-9.]* ms in poll [0-9]* $PWD/slow.fifo, "
               "returned 0 of 1$\" words && grep \", returned -1 of 8, "
               "Resource temporarily unavailable$\" words");
    command_must("spans slow.rec --names slow_call");
    cr_assert(strstr(build_text, "slow_call: usleep "), "%s", build_text);
    for (int i = 0; i < 2; i++) {
        build_must(RUN "--calls %s -o slow.rec ./slow >said; test $? = 42",
                   i ? "0" : "100000000");
        command_must("dump slow.rec >lines");
        build_must("grep \"thread_life: ends\" lines && "
                   "! grep \"slow_call: \" lines");
    }
    cr_assert_eq(command("run --calls 5ms ./slow"), 2);
    cr_assert(strstr(build_text, "5ms: is no number of microseconds"), "%s",
              build_text);
}

/* Goal: the cause of a slow call quotes the records of the call. Method: of a
 * program that has just ended, each reader would measure another clock. */
Test(calls, causes_quote_their_records)
{
    for (int i = 0; i < 10; i++) {
        unsigned from, to;
        build_must(RUN "--always -o sleep.rec sleep 0.02");
        command_must(
            "why sleep.rec 2>said | sed -n \"/waited in/s/.*s  *\\([0-9]*-"
            "[0-9]*\\)  .*/\\1/p\" | tail -n 1");
        cr_assert_eq(sscanf(build_text, "%u-%u", &from, &to), 2, "%s",
                     build_text);
        cr_assert_eq(to, from + 1, "%s", build_text);
    }
}
