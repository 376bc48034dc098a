/* recorder-fleet, against real servers: what is frozen is stored whole. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Goal: a freeze stores the records of each process, whole, once for each agent,
 * and with the clocks' difference; the processes continue as before. Method: the
 * wall clock of one of two agents is 2 s ahead, which must not count; all
 * fetched recordings are compared with dumps of the processes. */
Test(fleet, a_snapshot_has_all_that_was_there)
{
    pid_t pid;
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    pid = program_start("here/command quiet");
    build_must("cat >ahead.c <<END\n"
               "#define _GNU_SOURCE\n#include <time.h>\n"
               "#include <sys/syscall.h>\n#include <unistd.h>\n"
               "int clock_gettime(clockid_t c, struct timespec *t)\n"
               "{ int r = (int)syscall(SYS_clock_gettime, c, t);\n"
               "if (c == CLOCK_REALTIME) t->tv_sec += 2; return r; }\nEND\n"
               "gcc -shared -fPIC -O1 ahead.c -o ahead.so");
    agent_start("web1", "");
    agent_start("web2", "LD_PRELOAD=./ahead.so");
    build_must(
        UNTIL(FLEET " who shop " HUB ">who; grep -q \"^web1  *1 \" who &&"
                    " grep -q \"^web2  *1 .*+[12][0-9][0-9][0-9]\\.\" "
                    "who") " || "
                           "{ cat who; false; }");
    build_must(FLEET " freeze shop --why \"p99 went up\" " HUB ">said");
    build_must("grep -q \"^snapshot 2.*: 2 of 2 agents within .* ms, 2 "
               "processes; 2 stored, .* kB, .* s\\$\" said || { cat said; "
               "false; }");
    build_must(FLEET " list shop -v " HUB ">list; cat list; test $(wc -l <list)"
                     " = 4 && grep -q \"2         2 .* p99 went up\\$\" list");
    build_must(FLEET
               " fetch shop $(cut -d \" \" -f 2 said | tr -d :) -o in " HUB);
    build_must("test $(stat -c %%a in/*.rec | sort -u) = 600");
    build_must(RECORDER
               " dump %d | tail -n 3 >live; for i in in/*.rec; do " RECORDER
               " dump $i | grep CLOCK; " RECORDER " dump $i | tail -n "
               "3 | cmp - live || exit 1; done",
               pid);
    /* CLOCK -2.001 s, +-1.93 ms: wrong by no more than it says */
    build_must(
        RECORDER
        " export json in/web1*.rec -o - | head -n 1 >one; " RECORDER
        " export json in/web2*.rec -o - | head -n 1 >two; "
        "python3 -c \"\nimport json\n"
        "for name, ahead in ((\\\"one\\\", 0), (\\\"two\\\", 0)):\n"
        " e = json.load(open(name))\n"
        " assert e[\\\"service\\\"] == \\\"shop\\\", e\n"
        " assert abs(e[\\\"offset_ns\\\"] - ahead) <= e[\\\"error_ns\\\"]"
        ", e\n\"");
    build_must(RECORDER " list %d | grep -q \"small .* on \"", pid);
    build_must("ls spool-web1/*/*.rec* 2>&1 | grep -q \"No such\"");
}

/* Goal: a new record of a trigger's ring, and the death of a process with a
 * recording, freeze the service; at one moment they are one snapshot. */
Test(fleet, triggers_and_deaths_freeze)
{
    pid_t pid;
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    program_start("here/command count 2 1");
    pid = program_start("env RECORDER_FILE=b.rec here/command words");
    agent_start("web1", "--trigger \"sm.ll\"");
    agent_start("web2", "--trigger \"sm.ll\"");
    build_must("sleep 1; " FLEET " list shop " HUB "| wc -l | grep -x 1");
    build_must("touch go"); /* its last words trigger at both agents */
    build_must(UNTIL(FLEET " list shop -v " HUB ">list; grep -q web2 list && "
                           "grep -q web1 list"));
    build_must("sleep 2; " FLEET " list shop -v " HUB ">list; cat list; test "
               "$(grep -c ^2 list) = 1");
    build_must("grep -q \"sm.ll of command\" list");
    kill(pid, SIGKILL);
    build_must(
        UNTIL(FLEET " list shop -v " HUB "| grep -q \"command.*-ended\""));
    /* It joined the one of the moment before. */
    build_must(FLEET " list shop -v " HUB "| grep -c ^2 | grep -x 1");
}

/* Goal: agents count processes that have recorders, as long as they have them:
 * not each other, nor what has become another program by exec(). */
Test(fleet, agents_count_who_records, .init = build_long)
{
    hub_start("");
    build_must(
        "cat >turn.c <<END\n#include \"recorder_dump.h\"\n"
        "#include <stdio.h>\n#include <unistd.h>\nRECORDER(turn, 16)\n"
        "int main(void)\n{ record(turn, \"here\");\n"
        "printf(\"PID %%d\\n\", (int)getpid()); fflush(stdout);\n"
        "while (access(\"go\", 0)) usleep(10000);\n"
        "execl(\"here/sleep\", \"sleep\", \"100\", (char *)0); return 1; }\n"
        "END\ngcc -O1 " BUILD_INCLUDE "turn.c -o here/turn -lpthread && cp "
        "/bin/sleep here/");
    program_start("here/turn");
    for (int i = 1; i <= 2; i++) {
        char host[8];
        snprintf(host, sizeof host, "web%d", i);
        agent_start(host, "--match \"$PWD/here/.*|.*/recorder-fleet\"");
    }
    build_must(UNTIL(FLEET " who shop " HUB
                           ">who; grep -q \"^web1  *1 \" who && grep -q "
                           "\"^web2  *1 \" who") " || { cat who; false; }");
    build_must("touch go; " UNTIL(
        FLEET " who shop " HUB ">who; grep -q \"^web1  *0 \" who && grep -q "
              "\"^web2  *0 \" who"));
}

/* Goal: who may not read a process has its recording still: it is found, saved
 * while it runs, and when it ends. Method: reading is refused, as yama does. */
Test(fleet, a_recording_is_enough)
{
    pid_t pid;
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    build_must("cat >deny.c <<END\n#include <errno.h>\n#include <sys/types.h>\n"
               "ssize_t process_vm_readv(void) { errno = EPERM; return -1; }\n"
               "END\ngcc -shared -fPIC -O1 deny.c -o deny.so");
    program_start("here/command quiet");
    pid = program_start("env RECORDER_FILE=b.rec here/command quiet");
    agent_start("web1", "LD_PRELOAD=./deny.so");
    build_must("grep -q \"command.%d may not be read: its recording is saved\" "
               "web1.log",
               pid);
    build_must(FLEET
               " freeze shop --why x " HUB
               ">said; cat said; grep -q \" 1 processes; 1 stored\" said");
    kill(pid, SIGKILL);
    build_must(UNTIL(FLEET " list shop -v " HUB
                           ">list; grep -q \"command.%d-ended\" list"),
               pid);
    build_must("set -e; " FLEET
               " fetch shop $(cut -d \" \" -f 2 said | tr -d :) -o in " HUB
               "; for i in in/*.rec; do " RECORDER
               " dump $i | grep -q \"main: third\" || exit 1; done; ls in "
               "| wc -l | grep -x 2");
}

/* Goal: setting the time moves no record, before the program begins, before the
 * freeze, or before sending. Method: a program lives 2 s in the future; its
 * agent's clock is right, then set by an hour while there is no bucket. */
Test(fleet, setting_the_time_moves_no_record, .init = build_long)
{
    hub_start("");
    build_must("cat >ahead.c <<END\n"
               "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <time.h>\n"
               "#include <sys/syscall.h>\n#include <unistd.h>\n"
               "int clock_gettime(clockid_t c, struct timespec *t)\n"
               "{ int r = (int)syscall(SYS_clock_gettime, c, t);\n"
               "if (c == CLOCK_REALTIME && !access(getenv(\"AHEAD\"), 0)) "
               "t->tv_sec += "
               "atoi(getenv(\"SECONDS_AHEAD\")); return r; }\nEND\n"
               "gcc -shared -fPIC -O1 ahead.c -o ahead.so");
    program_start("env LD_PRELOAD=./ahead.so AHEAD=/ SECONDS_AHEAD=2 "
                  "here/command quiet");
    agent_start("web1", "LD_PRELOAD=./ahead.so AHEAD=set SECONDS_AHEAD=3600");
    cr_assert_eq(build_run(FLEET " freeze shop --why x --wait 1 " HUB), 1);
    build_must(UNTIL("ls spool-web1/*/*.rec* 2>/dev/null") "; touch set; " FLEET
                                                           " bucket shop --max "
                                                           "50M --age 1d " HUB);
    build_must(UNTIL(FLEET " list shop -v " HUB ">list; grep -q command list"));
    build_must("set -e; " FLEET
                     " fetch shop $(awk \"NR == 2 { print \\$1 }\" list) -o "
                     "in " HUB "; " RECORDER
                     " export json in/*.rec -o - | head -n 1 >one; python3 -c "
                     "\"\nimport json\n"
                     "e = json.load(open(\\\"one\\\"))\nprint(e)\n"
                     "assert 0 < e[\\\"error_ns\\\"] < 1.9e9\n"
                     "assert abs(e[\\\"offset_ns\\\"] + 2e9) <= "
                     "e[\\\"error_ns\\\"], e\n\"");
    fputs(build_text, stderr);
}

/* Goal: the streams hold the documented layout: chunks below the host, ids,
 * sizes, digests, and one index entry for a snapshot and host. */
Test(fleet, the_layout_is_the_manuals)
{
    fleet_start();
    build_must(FLEET " freeze shop --why x " HUB ">said");
    build_must(CLIENT("read", "recorder-data-shop") " >all; " CLIENT(
        "read",
        "recorder-index-shop") " >>all; cat all; cat >check.py <<END\n"
                               "import json\n"
                               "chunks, entries = {}, []\n"
                               "for line in open('all'):\n"
                               "    subject, size, rest = "
                               "line.rstrip('\\n').split(' ', 2) + ['']"
                               " if line.count(' ') < 2 else "
                               "line.rstrip('\\n').split(' ', 2)\n"
                               "    part = subject.split('.')\n"
                               "    assert part[:4] == ['recorder', 'store', "
                               "'shop', 'web1'], part\n"
                               "    if part[4] == 'data':\n"
                               "        chunks.setdefault(part[5], "
                               "[]).append((int(size), rest))\n"
                               "    elif part[4] == 'index':\n"
                               "        e = "
                               "json.loads(rest[rest.index('{'):])\n"
                               "        assert e['snapshot'] == part[5] and "
                               "e['host'] == 'web1', e\n"
                               "        assert e['processes'] == 2 and "
                               "'Nats-Rollup' not in rest\n"
                               "        entries.append(e)\n"
                               "assert len(entries) == 1 and len(chunks) == 2\n"
                               "for r in entries[0]['recordings']:\n"
                               "    mine = chunks[r['nuid']]\n"
                               "    assert len(mine) == r['chunks']\n"
                               "    assert sum(c[0] for c in mine) == "
                               "r['size'] < r['bytes']\n"
                               "    for i, c in enumerate(mine):\n"
                               "        assert 'Nats-Msg-Id=%%s.%%d' %% "
                               "(r['nuid'], i) in c[1]\n"
                               "    assert len(r['digest']) == 48\n"
                               "END\npython3 check.py");
}

/* Goal: fetch writes over no recording of another process, or of another
 * snapshot. Method: two hosts and programs whose names together are alike; then
 * another snapshot into the same folder. */
Test(fleet, fetch_writes_over_nothing, .init = build_long)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    build_must("cp here/command here/b-shop && mv here/command here/shop");
    program_start("here/shop quiet");
    agent_start("a-b", "");
    build_must("for i in 1 2; do " FLEET " freeze shop --why x " HUB
               "| cut -d \" \" -f 2 | tr -d : >>ids || exit 1; done");
    /* The entry of shop.PID is stored again, as b-shop.PID of host a. */
    build_must(CLIENT(
        "read",
        "recorder-index-shop") " | grep $(head -n 1 ids) "
                               "| sed \"s/^[^{]*//; "
                               "s/\\\"host\\\":\\\"a-b\\\"/\\\"host\\\":"
                               "\\\"a\\\"/; "
                               "s/\\\"process\\\":\\\"shop/\\\"process\\\":"
                               "\\\"b-shop/\" >entry; cat entry; " CLIENT(
                                   "put", "recorder.store.shop.a.index.$(head "
                                          "-n 1 ids)") " \"$(cat "
                                                       "entry)\"");
    cr_assert_eq(
        build_run(FLEET " fetch shop $(head -n 1 ids) -o in " HUB "2>&1"), 1);
    /* Its chunks are not below host a. */
    cr_assert_neq(strstr(build_text, "a/b-shop"), NULL, "%s", build_text);
    cr_assert_neq(strstr(build_text, "chunk 1 of"), NULL, "%s", build_text);
    build_must("ls in | grep a-b-shop.*-2.rec && rm -r in && " FLEET
               " fetch shop $(head -n 1 ids) -o in --host a-b " HUB
               "&& cat in/a-b-shop* >before");
    cr_assert_eq(
        build_run(FLEET " fetch shop $(tail -n 1 ids) -o in " HUB "2>&1"), 1);
    cr_assert_neq(strstr(build_text, "is of another snapshot"), NULL, "%s",
                  build_text);
    build_must("cat in/a-b-shop* | cmp - before && " FLEET
               " fetch shop $(head -n 1 ids) -o in --host a-b " HUB);
    cr_assert_eq(build_run(FLEET " fetch shop none -o none " HUB), 1);
    build_must("test ! -e none");
}
