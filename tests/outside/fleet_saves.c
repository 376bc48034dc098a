/* recorder-fleet: how an agent saves, and how often of itself. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Makes ./save, in the place of the recorder command of an agent: it runs some
 * lines before and after that command. $2 is the process, $4 the file to write. */
static void save_make(const char *before, const char *after)
{
    build_must("cat >save <<\\END\n#!/bin/sh\n%s\n" RECORDER
               " \"$@\"\nstatus=$?\n%s\nexit $status\nEND\nchmod +x save",
               before, after);
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

/* Goal: triggers and deaths of all hosts share one budget, which `who` shows; a
 * refusal is logged; a person may always freeze; when the time is over, they may
 * again; while the hub is away, an agent has a limit. Method: two in an hour of
 * two hosts, so the third is refused; then one in a second. */
Test(fleet, one_budget_for_all, .init = build_long)
{
    hub_start("");
    build_must(FLEET
               " bucket shop --max 50M --age 1d --automatic 2 --join 1 " HUB);
    program_start("here/command words");
    agent_start("web1", "--trigger sm.ll");
    agent_start("web2", "--trigger none");
    for (int i = 1; i <= 2; i++) {
        command_goes();
        build_must(UNTIL(FLEET " list shop " HUB ">list; test $(grep -c \" 2  "
                               "*2 .*sm.ll of command\" list) = %d"),
                   i);
        build_must("sleep 1.1");
    }
    build_must(FLEET " who shop " HUB ">said; cat said; grep -q \"^of triggers "
                     "and deaths: 2 of 2 snapshots in 3600 s\" said");
    command_goes();
    build_must(UNTIL("grep -q \"as many snapshots as the budget allows\" "
                     "web1.log"));
    cr_assert_eq(freeze("person"), 0, "%s", build_text);
    build_must("test $(grep -c ^2 list) = 3");
    build_must(FLEET
               " bucket shop --max 50M --age 1d --automatic 1/1 --join 1 " HUB);
    build_must(UNTIL("touch go; sleep 0.5; " FLEET " list shop " HUB
                     ">list; test $(grep -c ^2 list) -ge 5"));
}

/* Goal: a normal end takes no snapshot, and uses no budget; a death does.
 * Method: programs end in each way; one dies last, so that all were seen. A shell
 * has its background jobs ignore SIGINT: they take it back. */
Test(fleet, a_normal_exit_is_no_death, .init = build_long)
{
    bucket_make();
    build_must("cat >ends.c <<END\n#include \"recorder_dump.h\"\n"
               "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
               "#include <unistd.h>\nRECORDER(ends, 16)\n"
               "int main(int c, char **v)\n{ int how = atoi(v[1]);\n"
               "record(ends, \"%%d\", how); while (access(\"go\", 0)) "
               "usleep(10000);\nif (how > 99) { signal(how - 100, SIG_DFL);\n"
               "kill(getpid(), how - 100); }\n"
               "return how; }\nEND\ngcc -O1 " BUILD_INCLUDE
               "ends.c -o here/ends -lpthread");
    build_must("for i in 0 0 115 102; do RECORDER_FILE=n$i-$RANDOM.rec "
               "here/ends $i >/dev/null 2>&1 & echo $! >>pids; done");
    agent_start("web1", "");
    build_must(UNTIL(FLEET " who shop " HUB "| grep \"^web1  *4 \""));
    build_must(
        "touch go; " UNTIL(FLEET " who shop " HUB "| grep \"^web1  *0 \""));
    build_must("set -e; " FLEET " who shop " HUB "| grep \"deaths: 0 of 12 \"; rm go; "
                     "RECORDER_FILE=d.rec here/ends 3 >/dev/null 2>&1 & echo "
                     "$! >>pids");
    build_must(UNTIL(FLEET " who shop " HUB "| grep \"^web1  *1 \""));
    build_must("touch go; " UNTIL(FLEET " list shop -v " HUB
                                        ">list; grep -q ends.*-ended list"));
    build_must("cat list; test $(grep -c -e -ended list) = 1 && grep "
               "\"ends.[0-9]*: EXIT with status 3\" list");
}

/* Goal: a hang freezes, once, with the words of recorder watch; with --hang 0
 * none does. Method: a thread waits for its own mutex. */
Test(fleet, a_hang_freezes, .init = build_long)
{
    bucket_make();
    build_must("cat >stuck.c <<END\n#include \"recorder_dump.h\"\n"
               "#include <pthread.h>\n#include <stdio.h>\n"
               "#include <unistd.h>\nRECORDER(stuck, 16)\n"
               "static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;\n"
               "int main(void)\n{ printf(\"PID %%d\\n\", (int)getpid()); "
               "fflush(stdout);\nrecord(stuck, \"last\"); sleep(3);\n"
               "pthread_mutex_lock(&table); pthread_mutex_lock(&table);\n"
               "return 0; }\nEND\ngcc -g -O1 " BUILD_INCLUDE
               "stuck.c -o here/stuck -lpthread");
    program_start("here/stuck");
    agent_start("web1", "--hang 2");
    agent_start("web2", "--hang 0");
    build_must(UNTIL(FLEET " list shop -v " HUB
                           ">list; test $(grep -c web[12] list) = 2"));
    build_must("sleep 8; " FLEET " list shop -v " HUB
               ">list; cat list web1.log;"
               " test $(grep -c ^2 list) = 1 && grep \"stuck.[0-9]*: DEADLOCK "
               "of 1 .*mutex table\" list && ! grep DEADLOCK web2.log");
}

/* Goal: people's freezes have a limit, too, and a refusal is told. */
Test(fleet, a_flood_of_freezes_is_refused, .init = build_long)
{
    bucket_make();
    agent_start("web1", "");
    build_must("for i in $(seq 70); do " CLIENT(
        "reply", "recorder.freeze.shop") " \"{\\\"id\\\":\\\"f$i\\\"}\" x; "
                                         "done");
    cr_assert_eq(freeze("x"), 1, "%s", build_text);
    build_must("set -e; cat said; grep -q \"web1: refuses\" said; ls spool-web1 | wc "
               "-l >count; test $(cat count) -le 60");
}

/* Goal: --host freezes some hosts; others neither answer nor are missed. */
Test(fleet, a_freeze_of_some_hosts, .init = build_long)
{
    bucket_make();
    program_start("here/command quiet");
    agent_start("web1", "");
    agent_start("db1", "");
    build_must(FLEET " freeze shop --host \"web.*\" " HUB
                     ">said; cat said; grep -q \"1 of 1 agents .* 1 processes; "
                     "1 stored\" said");
    cr_assert_eq(freeze("all"), 0, "%s", build_text);
    build_must("grep -q \"2 of 2 agents\" said");
}

/* Goal: a recording of a container is saved by its file, also when the container
 * is gone, and never a file of the same path on the host. Method: a program in a
 * mount namespace with its own tmpfs; the host has a recording at that path. */
Test(fleet, a_recording_of_a_container, .init = build_long)
{
    if (build_run("unshare -m true") != 0)
        build_skip("no right to make a mount namespace");
    bucket_make();
    build_must("mkdir box && cat >deny.c <<END\n#include <errno.h>\n"
               "#include <sys/types.h>\n"
               "ssize_t process_vm_readv(void) { errno = EPERM; return -1; }\n"
               "END\ngcc -shared -fPIC -O1 deny.c -o deny.so");
    build_must("RECORDER_FILE=$PWD/box/a.rec timeout 5 here/command "
               "everything in.txt >/dev/null 2>&1; ls box/a.rec; cp box/a.rec "
               "host.rec");
    build_must("unshare -m sh -c \"mount -t tmpfs none box && cp here/command "
               "box/inside && RECORDER_FILE=$PWD/box/a.rec exec box/inside "
               "quiet\" >inside.out 2>&1 & echo $! >inside; cat inside "
               ">>pids; " UNTIL("grep -q PID inside.out"));
    build_must(
        "LD_PRELOAD=./deny.so " FLEET " agent --service shop --host web1 "
        "--spool spool-web1 --match \".*/inside\" " HUB
        ">web1.log 2>&1 & echo $! >>pids; " UNTIL("grep -q \"agent of shop on "
                                                  "web1: 1 \" web1.log"));
    cr_assert_eq(freeze("x"), 0, "%s", build_text);
    build_must("set -e; kill -9 $(cat inside); cmp box/a.rec host.rec; " UNTIL(
        FLEET " list shop -v " HUB ">list; grep -q \"inside.*-ended\" list"));
    build_must("for i in $(grep -o ^2[^\\ ]* list); do " FLEET
               " fetch shop $i -o in-$i " HUB "|| exit 1; done; ls in-*; for i "
               "in in-*/*.rec; do " RECORDER
               " dump $i | grep -q \"main: third\" || exit 1; done; ls in-*/*-"
               "ended.rec");
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
        "set -e; cat list; grep \" 6 processes; [1-5] stored\" said; test $(grep -c "
        "\"command[.]\" list) = 6; for i in $(cat killed); do grep -q "
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
    build_must("set -e; " CLIENT(
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
