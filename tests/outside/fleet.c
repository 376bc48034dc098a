/* recorder-fleet, against real servers: what is frozen is stored whole. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Goal: who freezes gets what each process held, whole, once for each agent,
 * and with the clocks' difference; the processes go on as before. Method: one
 * of two agents lives 2 s in the future; what is fetched is compared with dumps
 * of the processes. */
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
        "for name, ahead in ((\\\"one\\\", 0), (\\\"two\\\", -2e9)):\n"
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
    build_must(FLEET
               " fetch shop $(cut -d \" \" -f 2 said | tr -d :) -o in " HUB
               "&& for i in in/*.rec; do " RECORDER
               " dump $i | grep -q \"main: third\" || exit 1; done; ls in "
               "| wc -l | grep -x 2");
}

/* Goal: the layout is that of NATS' object store: names, base64url, digest. */
Test(fleet, the_layout_is_the_object_stores)
{
    fleet_start();
    build_must(FLEET " freeze shop --why x " HUB ">said");
    build_must(CLIENT(
        "read",
        "OBJ_recordings-shop") " >all; python3 -c \"\n"
                               "import base64, json\n"
                               "chunks, metas = {}, []\n"
                               "for line in open(\\\"all\\\"):\n"
                               " subject, size, rest = line.split(\\\" \\\", "
                               "2)\n"
                               " kind, last = subject.split(\\\".\\\", 3)[2:]\n"
                               " if kind == \\\"C\\\":\n"
                               "  chunks.setdefault(last, "
                               "[]).append((int(size), rest))\n"
                               " else:\n"
                               "  o = "
                               "json.loads(rest[rest.index(\\\"{\\\"):])\n"
                               "  name = "
                               "base64.urlsafe_b64decode(last).decode()\n"
                               "  assert name == o[\\\"name\\\"] and len(last) "
                               "%% 4 == 0\n"
                               "  assert \\\"Nats-Rollup\\\" not in rest, "
                               "rest\n"
                               "  assert "
                               "name.startswith(\\\"web1/command.\\\"), name\n"
                               "  assert o[\\\"bucket\\\"] == "
                               "\\\"recordings-shop\\\"\n"
                               "  metas.append(o)\n"
                               "assert len(metas) == len(chunks) == 2\n"
                               "for o in metas:\n"
                               " mine = chunks[o[\\\"nuid\\\"]]\n"
                               " assert len(mine) == o[\\\"chunks\\\"]\n"
                               " assert sum(c[0] for c in mine) == "
                               "o[\\\"size\\\"]\n"
                               " top = "
                               "o[\\\"options\\\"][\\\"max_chunk_size\\\"]\n"
                               " assert all(c[0] <= top for c in mine)\n"
                               " for i, c in enumerate(mine):\n"
                               "  assert \\\"Nats-Msg-Id=%%s.%%d\\\" %% "
                               "(o[\\\"nuid\\\"], i) in "
                               "c[1]\n"
                               " d = o[\\\"digest\\\"]\n"
                               " assert d.startswith(\\\"SHA-256=\\\") and "
                               "len(d) == 52\n"
                               "\"");
}

/* Goal: fetch writes over no recording of another process, or of another
 * snapshot. Method: an object gets two more names, of which hosts and programs
 * make one file's name; another snapshot is fetched into the same folder. */
Test(fleet, fetch_writes_over_nothing, .init = build_long)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    program_start("here/command quiet");
    agent_start("web1", "");
    build_must("for i in 1 2; do " FLEET " freeze shop --why x " HUB
               "| cut -d \" \" -f 2 | tr -d : >>ids || exit 1; done");
    build_must("name() { echo -n $1/$2/$(head -n 1 ids).rec.zst; }; " CLIENT(
        "read", "OBJ_recordings-shop") " | sed -n "
                                       "\"s/^[^ ]*[.]M[.][^{]*//p\" "
                                       "| grep $(head -n 1 ids) >meta; "
                                       "for i in 1 2; do test $i = 1 && "
                                       "name=$(name a b-shop.1) || "
                                       "name=$(name a-b shop.1); " CLIENT(
                                           "put",
                                           "\\$O.recordings-shop.M.$(echo "
                                           "-n $name | base64 -w 0 | tr +/ "
                                           "-_)") " \"$(sed "
                                                  "\"s,\\\"name\\\":\\\"[^"
                                                  "\\\"]*\\\",\\\"name\\\":"
                                                  "\\\"$name\\\",\" meta)"
                                                  "\" || exit 1; done");
    build_must(FLEET
               " fetch shop $(head -n 1 ids) -o in " HUB
               ">said; cat said; ls in; test $(ls in | wc -l) = 3 && sort "
               "-u said | wc -l | grep -x 3 && ls in/a-b-shop.1.rec "
               "in/a-b-shop.1-2.rec && for i in in/*; do " RECORDER
               " dump $i | grep -q \"main: third\" || exit 1; done");
    build_must("cat in/web1* >before; " FLEET
               " fetch shop $(tail -n 1 ids) -o in " HUB
               "2>said; test $? = 1 && grep -q \"is of another snapshot\" said "
               "&& cat in/web1* | cmp - before");
    build_must(FLEET " fetch shop $(head -n 1 ids) -o in " HUB); /* again */
    cr_assert_eq(build_run(FLEET " fetch shop none -o none " HUB), 1);
    build_must("test ! -e none");
}
