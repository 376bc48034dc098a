/* recorder-fleet: how an agent saves, and how often of itself. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Makes ./save, in the place of the recorder command of an agent: before and
 * behind that, it runs some lines. $2 is the process that is to be saved, $4 the
 * file to write. */
static void save_make(const char *before, const char *behind)
{
    build_must("cat >save <<\\END\n#!/bin/sh\n%s\n" RECORDER
               " \"$@\"\nstatus=$?\n%s\nexit $status\nEND\nchmod +x save",
               before, behind);
}

static void bucket_make(void)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
}

/* Freezes, and waits for what there is to wait for; its output is in ./said. */
static int freeze(const char *why)
{
    int status =
        build_run(FLEET " freeze shop --why %s " HUB ">said 2>&1", why);
    build_must("cat said; " FLEET " list shop -v " HUB ">list; cat list");
    return status;
}

/* Goal: triggers and deaths make no more snapshots than --automatic allows,
 * which is said; a person may always; when the time is over, they may again.
 * Method: of two in an hour, the third is refused; of one in a second, there are
 * soon two. */
Test(fleet, automatic_ones_are_limited, .init = build_long)
{
    bucket_make();
    program_start("here/command words");
    agent_start("web1", "--trigger sm.ll --join 0 --automatic 2");
    for (int i = 1; i <= 2; i++) {
        command_goes();
        build_must(UNTIL("test $(ls spool-web1/*/about | wc -l) = %d"), i);
    }
    command_goes();
    build_must(UNTIL("grep -q \"there were 2 automatic snapshots in 3600 s\" "
                     "web1.log"));
    cr_assert_eq(freeze("person"), 0, "%s", build_text);
    build_must(UNTIL(FLEET " list shop " HUB ">list; test $(grep -c ^2 list) = "
                           "3") "; grep -c \"sm.ll of command\" list | grep -x "
                                "2");
    build_must("kill -9 $(cat web1.pid); rm -r spool-web1");
    agent_start("web1", "--trigger sm.ll --join 0 --automatic 1/1");
    build_must(UNTIL("touch go; sleep 0.5; test $(ls spool-web1/*/about | wc "
                     "-l) -ge 2"));
}

/* Goal: a save that hangs is ended, it is said, nothing of it stays, and others
 * are saved. */
Test(fleet, a_save_that_hangs_is_ended, .init = build_long)
{
    pid_t pid;
    bucket_make();
    program_start("here/command quiet");
    pid = program_start("here/command quiet");
    save_make("if test -e hangs && test $2 = $(cat hangs); then "
              "echo part >${4%/*}/.recorder-x; kill -STOP $$; fi",
              "");
    build_must("echo %d >hangs", pid);
    agent_start("web1", "--recorder ./save --save-limit 1");
    cr_assert_eq(freeze("x"), 1, "%s", build_text);
    build_must(
        "grep -q \"1 of 1 agents .* 2 processes; 1 stored\" said && grep "
        "-q \"command.%d is not saved: recorder save took more than 1 "
        "s\" said && grep -q \"command.%d  *recorder save took\" list",
        pid, pid);
    build_must(UNTIL("test $(ls -A spool-web1/* | grep -c rec) = 0"));
    build_must("rm hangs");
    cr_assert_eq(freeze("y"), 0, "%s", build_text);
}

/* Goal: two processes are saved at a time, the smallest first, and one of more
 * than 64 MB while no other is. Method: a save of a small one waits until two
 * have begun; what saves of large ones note has nobody else in between. */
Test(fleet, a_large_process_is_saved_alone, .init = build_long)
{
    bucket_make();
    build_must(
        "cat >big.c <<END\n#include \"recorder_dump.h\"\n#include <stdio.h>\n"
        "#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
        "RECORDER(big, 16)\nint main(void)\n{ char *m = malloc(80000000);\n"
        "memset(m, 1, 80000000); record(big, \"%%p\", m);\n"
        "printf(\"PID %%d\\n\", (int)getpid()); fflush(stdout);\n"
        "sleep(300); return m[1]; }\nEND\n"
        "gcc -O1 " BUILD_INCLUDE "big.c -o here/big -lpthread");
    save_make("what=$(cat /proc/$2/comm)\necho + $what >>order\n"
              "test $what = big && sleep 0.5 || until test $(grep -c \"+ "
              "command\" order) -ge 2; do sleep 0.05; done",
              "echo - $what >>order");
    for (int i = 0; i < 2; i++) {
        program_start("here/big");
        program_start("here/command quiet");
    }
    agent_start("web1", "--recorder ./save");
    cr_assert_eq(freeze("x"), 0, "%s", build_text);
    build_must("cat order; tr \"\\n\" \" \" <order | grep -x \"+ command + "
               "command - command - command + big - big + big - big \"");
}

/* Goal: a process that ends while it is saved, or between an answer and that, is
 * in the snapshot with the reason, unless it was saved whole; nothing hangs, and
 * the exit status tells. Method: some are killed before their saves, and at some
 * moments in them; the last one by the answer. */
Test(fleet, who_ends_meanwhile_is_said, .init = build_long)
{
    static const char *const delays[] = {"0", "0.002", "0.005", "0.010",
                                         "0.020"};
    pid_t pid;
    int status;
    bucket_make();
    save_make("test -e $2 || exec " RECORDER " \"$@\"\nread delay <$2\n"
              "(sleep $delay; kill -9 $2) &\ntest $delay = 0 && wait",
              "wait");
    for (int i = 0; i < 5; i++) {
        pid = program_start("here/command quiet");
        build_must("echo %s >%d; echo %d >>killed", delays[i], pid, pid);
    }
    pid = program_start("here/command quiet");
    agent_start("web1", "--recorder ./save");
    status = freeze("x");
    cr_assert_eq(status, 1, "%s", build_text);
    build_must(
        "cat list; grep \" 6 processes; [1-5] stored\" said; test $(grep -c "
        "\"command[.]\" list) = 6 && for i in $(cat killed); do grep -q "
        "\"command.$i  *[0-9.]* kB\" list || grep -q \"command.$i is not "
        "saved: .*[a-z]\" said || exit 1; done; grep -q "
        "\"command.$(head -n 1 killed) is not saved\" said");
    build_must("(" CLIENT("kill",
                          "recorder.freeze.shop") " \"{\\\"id\\\":\\\"k\\\"}\" "
                                                  "%d >said & echo $! >>pids)",
               pid);
    build_must(UNTIL(FLEET " list shop -v " HUB ">list; grep -A 1 \"^k \" list "
                           "| grep -q command.%d"),
               pid);
}

/* Goal: what an agent promised to save, and did not, as it was killed, is told by
 * the next; what it had saved is stored once. Method: one of two saves hangs. */
Test(fleet, an_agent_tells_what_the_last_one_owes, .init = build_long)
{
    pid_t pid;
    bucket_make();
    program_start("here/command quiet");
    pid = program_start("here/command quiet");
    save_make("test $2 != $(cat hangs) || { echo $$ >>pids; kill -STOP $$; }",
              "");
    build_must("echo %d >hangs", pid);
    agent_start("web1", "--recorder ./save");
    build_must(CLIENT(
        "request", "recorder.freeze.shop") " \"{\\\"id\\\":\\\"k\\\"}\";"
                                           " " UNTIL(FLEET
                                                     " list shop -v " HUB
                                                     ">list; grep -q command "
                                                     "list") "; kill -9 $(cat "
                                                             "web1.pid); cat "
                                                             "list");
    agent_start("web1", "");
    build_must(UNTIL(FLEET " list shop -v " HUB ">list; grep -q \"command.%d  "
                           "*the agent ended before it was saved\" list"),
               pid);
    build_must(
        "cat list; grep -q \"^k .* 1  *2 .*(1 not saved)\" list && " UNTIL(
            "test $(ls -A "
            "spool-web1/* | grep -c \"rec\\|begun\") = 0"));
    cr_assert_eq(freeze("x"), 0, "%s", build_text);
}
