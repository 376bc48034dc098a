/* recorder-fleet: killed servers and agents, and all that may be full. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Starts one of the three servers of a cluster. */
static void cluster_server(int i)
{
    build_must(FREE("port%d route%d health%d"), i, i, i);
    build_must(
        "printf \"listen: 127.0.0.1:%%s\\nserver_name: s%d\\njetstream { "
        "store_dir: \\\"$PWD/js%d\\\", max_file: 200M }\\ncluster { name: "
        "hub, listen: 127.0.0.1:%%s, routes: [nats://127.0.0.1:%%s, "
        "nats://127.0.0.1:%%s, nats://127.0.0.1:%%s] }\\nhttp: "
        "127.0.0.1:%%s\\n\" $(cat port%d "
        "route%d route1 route2 route3 health%d) >hub%d.conf; nats-server -c "
        "hub%d.conf >>hub%d.log 2>&1 & echo $! >hub%d; cat hub%d "
        ">>pids; " LISTENS("port%d"),
        i, i, i, i, i, i, i, i, i, i, i);
}

/* Waits until a server has all that the others have: before that, another one
 * must not be taken away. */
static void cluster_whole(int i)
{
    build_must(UNTIL("python3 -c \"import urllib.request as u; "
                     "u.urlopen(\\\"http://127.0.0.1:$(cat "
                     "health%d)/healthz\\\").read()\" 2>said"),
               i);
}

/* Starts all three. Their URLs are where that of a server is otherwise. */
static void cluster_start(void)
{
    static const char *const files[] = {"port1",   "port2",   "port3",
                                        "route1",  "route2",  "route3",
                                        "health1", "health2", "health3"};
    for (int i = 0; i < 9; i++)
        port_make(files[i]);
    build_must("echo $(cat port1),nats://127.0.0.1:$(cat port2),nats://127.0.0."
               "1:$(cat port3) >port");
    for (int i = 1; i <= 3; i++)
        cluster_server(i);
}

/* Goal: what cannot be stored stays, and is stored once when it can be: without
 * a server, after the agent was killed, with a full bucket. */
Test(fleet, nothing_is_lost_or_doubled, .init = build_long)
{
    pid_t pid;
    fleet_start();
    pid = program_start("env RECORDER_FILE=c.rec here/command quiet");
    build_must(UNTIL(FLEET " who shop " HUB "| grep -q \"^web1  *3 \""));
    build_must("kill -9 $(cat hub)");
    kill(pid, SIGKILL); /* which freezes */
    build_must(UNTIL("test $(ls spool-web1/*/*.rec* 2>/dev/null | wc -l) = 3"));
    build_must("kill -9 $(cat web1.pid); ls spool-web1/*");
    hub_start("");
    build_must(FLEET " list shop " HUB "| wc -l | grep -x 1");
    agent_start("web1", "");
    build_must(UNTIL(FLEET " list shop -v " HUB
                           ">list; grep -c \"^ .*web1\" list "
                           "| grep -qx 3"));
    build_must("grep -q \"command[.0-9]*-ended\" list && " FLEET
               " fetch shop $(awk "
               "\"NR == 2 { print \\$1 }\" list) -o in " HUB);
    build_must("for i in in/*.rec; do " RECORDER " dump $i | tail -n 1 | grep "
               "\"main: third\" || exit 1; done; ls in | wc -l | grep -x 3");
}

/* Puts messages into a bucket until it takes no more. */
static void bucket_fill(const char *service)
{
    build_must(
        "for size in 100000 2000; do for i in $(seq 80); do " CLIENT(
            "put", "recorder.store.%s.x.data.x") " \"$(head -c $size "
                                                 "/dev/zero | tr \"\\0\" "
                                                 "x)\" >said || break; done; "
                                                 "done; cat said; test -s "
                                                 "said",
        service);
}

/* Goal: who freezes hears the end of the line, also if the hub goes away while
 * it waits; and at once if there is no bucket. */
Test(fleet, a_freeze_ends_its_line, .init = build_long)
{
    hub_start("");
    program_start("here/command quiet");
    agent_start("web1", "");
    cr_assert_eq(build_run(FLEET " freeze shop --why x " HUB), 1);
    cr_assert_neq(strstr(build_text,
                         "1 processes; the stored recordings are unknown"
                         "\n"),
                  NULL, "%s", build_text);
    build_must(FLEET " bucket shop --max 1M --age 1d " HUB);
    bucket_fill("shop");
    build_must(
        "(" FLEET " freeze shop --why x --wait 4 " HUB ">out 2>err; "
        "echo $? >status) & " UNTIL(
            "grep -q processes out") "; kill -9 "
                                     "$(cat hub); wait; cat out err status; "
                                     "grep -q \"; 0 stored, .* "
                                     "s\\$\" out && test $(cat status) = 1");
}

Test(fleet, a_full_bucket_is_said, .init = build_long)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 1M --age 1d " HUB);
    bucket_fill("shop");
    program_start("here/command quiet");
    agent_start("web1", "");
    build_must("set -e; " FLEET " freeze shop --why x --wait 3 " HUB ">said || test $? = 1; "
                     "grep -q \" 0 stored\" said || { cat said; false; }");
    build_must(UNTIL("grep -q \"recordings stay in spool-web1: the bucket is "
                     "full\" web1.log"));
    build_must(FLEET " who shop " HUB "| grep -q \"[1-9][0-9.]* kB\"");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB "&& " UNTIL(
        FLEET " list shop -v " HUB "| grep -q command"));
}

/* Goal: the limits of an account and of a hub are said as such, and nothing is
 * lost. Method: another bucket uses all up; then the limit gets higher. */
static void limit_try(const char *low, const char *high, const char *said)
{
    hub_start(low);
    build_must(FLEET " bucket shop --max 1M --age 1d " HUB "&& " FLEET
                     " bucket other --max 0M --age 1d " HUB);
    bucket_fill("other");
    program_start("here/command quiet");
    agent_start("web1", "");
    cr_assert_eq(build_run(FLEET " freeze shop --why x --wait 2 " HUB), 1);
    cr_assert_neq(strstr(build_text, "; 0 stored"), NULL, "%s", build_text);
    build_must(UNTIL("grep -q \"recordings stay in spool-web1: %s\" web1.log"),
               said);
    build_must("kill -9 $(cat hub)");
    hub_start(high);
    build_must(UNTIL(FLEET " list shop -v " HUB ">list; grep -q command list"));
    build_must("grep -c command list | grep -x 1");
}
#define ACCOUNT(max)                                                           \
    "accounts { A { jetstream { max_file: " max " }, users: [ {user: a, "      \
    "password: a} ] } }\nno_auth_user: a"
Test(fleet, a_full_account_is_said, .init = build_long)
{
    limit_try(ACCOUNT("2M"), ACCOUNT("20M"),
              "the hub.s limit of our account is reached");
}
#define SERVER(max) "jetstream { store_dir: $PWD/js, max_file: " max " }"
Test(fleet, a_full_hub_is_said, .init = build_long)
{
    limit_try(SERVER("2M"), SERVER("20M"), "the hub is full: its max_file");
}

/* Goal: a hub whose disk is full answers nothing; who freezes hears that, and
 * what was saved is stored once when the hub is back with room. Method: its
 * folder is a file system of 4 MB. */
Test(fleet, a_hub_with_a_full_disk_loses_nothing, .init = build_long)
{
    pid_t pid;
    if (build_run("mkdir js && mount -t tmpfs -o size=4m none js") != 0)
        build_skip("this user may not mount");
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    pid = program_start("here/command quiet");
    agent_start("web1", "");
    build_must(FLEET " freeze shop --why before " HUB);
    build_run("dd if=/dev/zero of=js/filler bs=4k 2>said");
    cr_assert_eq(
        build_run(FLEET " freeze shop --why full --wait 1 " HUB "2>&1"), 1);
    cr_assert_neq(strstr(build_text, "; 0 stored"), NULL, "%s", build_text);
    build_must("ls spool-web1/*/*.rec* | wc -l | grep -x 1");
    build_must("kill -9 $(cat hub); rm js/filler");
    hub_start("");
    build_must(UNTIL("test $(ls spool-web1/*/*.rec* 2>/dev/null | wc -l) = 0"));
    build_must(FLEET
               " list shop -v " HUB
               ">list; cat list; grep -q \" 1 .* before\\$\" list && grep "
               "-q \" 1 .* full\\$\" list && test $(wc -l <list) = 5");
    build_must(RECORDER " dump %d | tail -n 3 >live; for i in $(grep -o "
                        "\"^2[^ ]*\" list); do " FLEET
                        " fetch shop $i -o in-$i " HUB "&& " RECORDER
                        " dump in-$i/*.rec | tail -n 3 | cmp - live || exit 1; "
                        "done",
               pid);
}

/* Goal: a clock that is set back keeps nothing from the hub, and one spool has
 * one agent. Method: the clock is an hour ahead until a trigger's snapshot has
 * begun, with no bucket; then it goes back, and there is one. */
Test(fleet, a_clock_set_back_delays_nothing, .init = build_long)
{
    pid_t pid;
    hub_start("");
    build_must("cat >ahead.c <<END\n"
               "#define _GNU_SOURCE\n#include <time.h>\n"
               "#include <sys/syscall.h>\n#include <unistd.h>\n"
               "int clock_gettime(clockid_t c, struct timespec *t)\n"
               "{ int r = (int)syscall(SYS_clock_gettime, c, t);\n"
               "if (c == CLOCK_REALTIME && !access(\"ahead\", 0)) t->tv_sec += "
               "3600; return r; }\nEND\n"
               "gcc -shared -fPIC -O1 ahead.c -o ahead.so; touch ahead");
    pid = program_start("env RECORDER_FILE=b.rec here/command quiet");
    agent_start("web1", "LD_PRELOAD=./ahead.so");
    cr_assert_eq(
        build_run(FLEET " agent --service shop --spool spool-web1 " HUB "2>&1"),
        1);
    cr_assert_neq(strstr(build_text, "is the spool of an agent"), NULL, "%s",
                  build_text);
    kill(pid, SIGKILL);
    build_must(UNTIL("ls spool-web1/*/*.rec* 2>said"));
    build_must("rm ahead; " FLEET " bucket shop --max 50M --age 1d " HUB);
    build_must(UNTIL(FLEET " list shop -v " HUB ">list; grep -q command list"));
}

/* Goal: a spool that is too full loses automatic snapshots first, the oldest of
 * them, and what persons asked for last; a disk that is full loses nothing that
 * was there. Method: no hub; a spool of 30 KB; a file system of 60 KB. */
Test(fleet, a_full_spool_keeps_what_persons_asked_for)
{
    build_must(
        "echo 1 >port; mkdir -p spool-web1/old-auto spool-web1/old-hand "
        "spool-web1/new-auto; for i in auto hand; do echo "
        "\"{\\\"ship_ns\\\":0,\\\"when_ns\\\":1,\\\"why\\\":\\\"x\\\","
        "\\\"by\\\":\\\"y\\\",\\\"automatic\\\":$(test $i = auto && echo 1 "
        "|| echo 0)}\" >spool-web1/old-$i/about; head -c 20000 /dev/zero "
        ">spool-web1/old-$i/p.1.rec.zst; done; sed s/:1,/:2,/ "
        "spool-web1/old-auto/about >spool-web1/new-auto/about; head -c "
        "9000 /dev/zero >spool-web1/new-auto/p.1.rec.zst");
    agent_start("web1", "--keep 30K");
    build_must(UNTIL("test ! -e spool-web1/old-auto/p.1.rec.zst"));
    build_must("sleep 1; test -e spool-web1/old-hand/p.1.rec.zst && test -e "
               "spool-web1/new-auto/p.1.rec.zst && grep -q \"old-auto/p.1.rec."
               "zst is thrown away\" web1.log");
}

/* Goal: what waits is packed before any is thrown away. Method: no hub; three
 * recordings that are much smaller when they are packed. */
Test(fleet, a_full_spool_packs_first)
{
    build_must(
        "echo 1 >port; mkdir -p spool-web1/old; echo "
        "\"{\\\"when_ns\\\":1,\\\"why\\\":\\\"x\\\",\\\"by\\\":\\\"y\\\","
        "\\\"automatic\\\":1}\" >spool-web1/old/about; for i in 1 2 3; "
        "do head -c 300000 /dev/zero >spool-web1/old/p.$i.rec; done");
    agent_start("web1", "--keep 400K");
    build_must(UNTIL("test $(ls spool-web1/old/*.rec.zst 2>said | wc -l) = 2"));
    build_must("sleep 1; cat web1.log; ! grep thrown web1.log && test -e "
               "spool-web1/old/p.3.rec");
}
Test(fleet, a_full_disk_is_said)
{
    if (build_run("mkdir spool-web1 && mount -t tmpfs -o size=60k none "
                  "spool-web1") != 0)
        build_skip("this user may not mount");
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    program_start("here/command quiet");
    agent_start("web1", "");
    build_run(FLEET " freeze shop --why x --wait 3 " HUB ">said 2>&1; " FLEET
                    " list shop -v " HUB ">list; cat said list web1.log");
    cr_assert_neq(strstr(build_text, "No space left"), NULL, "%s", build_text);
    /* Nor does fetch leave a part of a recording. */
    build_must("umount -l spool-web1; mkdir full && mount -t tmpfs -o size=16k "
               "none full && " FLEET " freeze shop --why y " HUB ">said");
    cr_assert_eq(build_run(FLEET " fetch shop $(cut -d \" \" -f 2 said | tr -d "
                                 ":) -o full " HUB "2>&1"),
                 1);
    cr_assert_neq(strstr(build_text, "the disk is full"), NULL, "%s",
                  build_text);
    build_must("ls -A full | wc -l | grep -x 0");
}

/* Goal: whenever the server or the agent is killed, each snapshot that was begun
 * is stored once, whole. Method: 20 times each, at random moments, while freezes
 * go on; then all that is listed is fetched and read. */
static void kill_at_random(bool server)
{
    unsigned seed = (unsigned)getpid();
    fprintf(stderr, "seed %u\n", seed);
    fleet_start();
    for (int i = 0; i < 20; i++) {
        unsigned ms = (unsigned)rand_r(&seed) % 900;
        build_run(
            CLIENT("request",
                   "recorder.freeze.shop") " \"{\\\"id\\\":\\\"k%d\\\"}\" "
                                           ">answer-k%d 2>&1 & sleep "
                                           "0.%03u; kill -9 $(cat %s); wait",
            i, i, ms, server ? "hub" : "web1.pid");
        if (server) {
            hub_start("");
            /* Else the next request finds no agent, on a fast machine. */
            build_must(UNTIL("test $(grep -c \": connected\" web1.log) -gt %d"),
                       i);
        } else {
            agent_start("web1", "");
        }
    }
    build_must(
        "sleep 3; " UNTIL("test $(ls spool-web1/*/*.[re]* 2>/dev/null | wc"
                          " -l) = 0"));
    build_must(
        "set -e; grep -l web1 answer-k* | cut -d - -f 2 >said; wc -l <said; " FLEET
        " list shop -v " HUB ">list; grep -c ^k list; for i in "
        "$(grep ^k list | cut -d \" \" -f 1); do " FLEET " fetch shop $i "
        "-o in-$i " HUB "2>said-$i || grep -q \"was not saved: the agent "
        "ended\" said-$i || exit 1; done");
    fputs(build_text, stderr);
    build_must("for i in in-*/*.rec; do " RECORDER " dump $i | grep -q \"main: "
               "third\" || exit 1; done; test $(ls in-*/*.rec | wc -l) -ge 8");
    if (server) /* an answer was a promise: the agent lived all the time */
        build_must(
            "for i in $(cat said); do test $(ls in-$i/*.rec | wc -l) = 2 "
            "|| { echo $i; exit 1; }; done");
    else /* or it is told what was not saved */
        build_must("cat list; for i in $(grep ^k list | cut -d \" \" -f 1); do "
                   "grep -q \"^$i  *[^ ]* [^ ]*  *1  *2 \" list || exit 1; "
                   "done");
}
Test(fleet, kills_of_the_server, .init = build_long)
{
    kill_at_random(true);
}
Test(fleet, kills_of_the_agent, .init = build_long)
{
    kill_at_random(false);
}

/* Goal: a cluster of three goes on without any one of its servers, and so do
 * agents: what is asked for before, while and after one is killed is stored
 * once, whole. Method: each in turn is killed while a freeze is under way, and
 * comes back when another freeze was stored without it. */
Test(fleet, a_cluster_goes_on_without_a_server, .init = build_long)
{
    unsigned seed = (unsigned)getpid();
    fprintf(stderr, "seed %u\n", seed);
    cluster_start();
    build_must(
        UNTIL(FLEET " bucket shop --max 50M --age 1d --replicas 3 " HUB));
    program_start("here/command quiet");
    program_start("env RECORDER_FILE=b.rec here/command quiet");
    agent_start("web1", "");
    for (int i = 1; i <= 3; i++) {
        build_run(
            CLIENT("request",
                   "recorder.freeze.shop") " \"{\\\"id\\\":\\\"k%d\\\"}\" "
                                           ">answer-k%d 2>&1 & sleep 0.%03u; "
                                           "kill -9 $(cat hub%d); wait",
            i, i, (unsigned)rand_r(&seed) % 400, i);
        build_must(UNTIL(FLEET " freeze shop --why after%d " HUB
                               ">said 2>&1; grep -q \"1 of 1 agents .* 2 "
                               "stored\" said") " || { cat said *.log; "
                                                "false; }",
                   i);
        cluster_server(i);
        cluster_whole(i);
    }
    build_must(UNTIL("test $(ls spool-web1/*/*.rec* 2>/dev/null | wc -l) = 0"));
    build_must(UNTIL(FLEET " list shop -v " HUB ">list"));
    build_must("cat list web1.log; for i in 1 2 3; do grep -q \"after$i\\$\" "
               "list && if grep -q web1 answer-k$i; then grep -q \"^k$i .* 1 "
               "*2 \" list; fi || exit 1; done; grep -q \"connection is lost\" "
               "web1.log && grep -q \": connected\" web1.log");
    fputs(build_text, stderr); /* the agent's server was among them */
    build_must("for i in $(grep -o \"^[2k][^ ]*\" list); do " FLEET
               " fetch shop $i -o in-$i " HUB "|| exit 1; done; for i in "
               "in-*/*.rec; do " RECORDER
               " dump $i | grep -q \"main: third\" || exit 1; done; "
               "test $(ls in-*/*.rec | wc -l) = $(grep -c \"^ .*web1\" list)");
}

/* Goal: an agent that was away takes each missed snapshot once, and no snapshot
 * of other agents. Method: a death, a person's freeze and a freeze of web1 alone
 * while web2 is away; then web2 comes, is killed and comes again; then it misses
 * a freeze, and comes before the hub does. */
Test(fleet, late_agents_catch_up)
{
    pid_t pid;
    fleet_start();
    pid = program_start("env RECORDER_FILE=d.rec here/command quiet");
    build_must(UNTIL(FLEET " who shop " HUB "| grep -q \"^web1  *3 \""));
    kill(pid, SIGKILL);
    build_must(UNTIL(FLEET " list shop -v " HUB ">list; grep -q ended list"));
    build_must(FLEET " freeze shop --why person " HUB "&& " FLEET
                     " freeze shop --why alone --host web1 " HUB);
    agent_start("web2", "");
    build_must(UNTIL(
        FLEET " list shop -v " HUB
              ">list; test $(grep -c \"web2 .*, [1-9][0-9]\\{0,1\\} s late\" "
              "list) = 4"));
    build_must("set -e; cat list web2.log; grep \"web1.*late\" list && exit 1; grep -c \"was "
               "missed, and is taken\" web2.log | grep -x 2; "
               "grep -A 4 alone list | grep -c web2 | grep -x 0");
    build_must("kill -9 $(cat web2.pid)");
    agent_start("web2", "");
    build_must("set -e; " FLEET " freeze shop --why both " HUB "| grep \" 2 of 2 .* 4 "
                     "stored\"; ! grep missed web2.log");
    build_must("kill -9 $(cat web2.pid); " FLEET " freeze shop --why last " HUB
               ">said; test $? = 1 && grep \"not heard of: web2\" said");
    build_must("kill -9 $(cat hub)");
    agent_start("web2", "");
    hub_start("");
    build_must(UNTIL(FLEET " list shop -v " HUB
                           ">list; grep -A 9 last list | grep -q "
                           "\"web2 .*late\""));
}
