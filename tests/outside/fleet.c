/* recorder-fleet, against real servers: what is frozen is stored whole. */
/* SPDX-License-Identifier: MIT */
#define BUILD_SECONDS 100
#include "harness/command.h"

#define FLEET TEST_ROOT "/build/recorder-fleet"
#define HUB "--server nats://127.0.0.1:$(cat port) "
#define CLIENT(what, subject)                                                  \
    "./fleet " what " nats://127.0.0.1:$(cat port) " subject
/* Until a command succeeds; 40 s are for a machine that has much to do. */
#define UNTIL(...)                                                             \
    "( end=$(($(date +%%s) + 40)); until " __VA_ARGS__                         \
    "; do test $(date +%%s) -le $end || exit 1; sleep 0.05; done )"

/* Writes a port that nobody has into a file that is not there yet. Nobody may
 * get it while its server is down: it is below those that the kernel gives to
 * who connects. */
static void port_make(const char *file)
{
    build_must("until test -s %s; do python3 -c \"import random, socket; s = "
               "socket.socket(); s.bind((\\\"127.0.0.1\\\", "
               "random.randrange(10000, 32000))); "
               "print(s.getsockname()[1])\" >%s 2>said; done",
               file, file);
}

#define LISTENS(port)                                                          \
    UNTIL("python3 -c \"import socket; "                                       \
          "socket.create_connection((\\\"127.0.0.1\\\", $(cat " port           \
          ")))\" 2>said")

/* Waits until nobody listens at the ports of some files: a server that was
 * killed may hold them for a moment still, and the next one would not start. */
#define FREE(files)                                                            \
    UNTIL("! python3 -c \"import socket, sys; [i for i in sys.argv[1:] if "    \
          "socket.socket().connect_ex((\\\"127.0.0.1\\\", int(i))) == 0] or "  \
          "sys.exit(1)\" $(cat " files ")")

/* Starts a server. What is started here ends with the test: their ids are in
 * the file `pids`. */
static void hub_start(const char *more)
{
    port_make("port");
    build_must(
        "printf \"listen: 127.0.0.1:%%s\\njetstream { store_dir: "
        "\\\"$PWD/js\\\", max_file: 200M }\\n%%s\\n\" $(cat port) \"%s\" "
        ">hub.conf",
        more);
    build_must(FREE("port"));
    build_must("nats-server -c hub.conf >>hub.log 2>&1 & echo $! >hub; cat hub "
               ">>pids; " LISTENS("port"));
}

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

/* Starts all three. Their URLs are where that of a server stands otherwise. */
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

static void fleet_begin(void)
{
    build_begin();
    command_build("command", "gcc -O2");
    build_once("gcc -O1 -o fleet " BUILD_PROGRAMS "/fleet.c -lnats");
    build_must("mkdir -p here && mv command here/ && touch pids");
}
static void fleet_end(void)
{
    if (build_folder[0])
        build_run("kill -9 $(cat pids) 2>&1; sleep 0.1; umount -l js full "
                  "spool-web1 2>&1");
    build_end();
}
TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Starts an agent of a host; it watches the programs of this test's folder. */
static void agent_start(const char *host, const char *more)
{
    build_must("rm -f %s.log; %s " FLEET
               " agent --service shop --host %s --spool spool-%s "
               "--match \"$PWD/here/.*\" " HUB "%s >>%s.log 2>&1 & echo $! "
               ">%s.pid; cat %s.pid >>pids; " UNTIL("grep -q \"agent of\" "
                                                    "%s.log"),
               host, strchr(more, '=') ? more : "", host, host,
               strchr(more, '=') ? "" : more, host, host, host, host);
}

static pid_t program_start(const char *what)
{
    char line[256];
    pid_t pid;
    snprintf(line, sizeof line, "%s", what);
    pid = command_start(line);
    build_must("echo %d >>pids", pid);
    return pid;
}

/* Makes the bucket, two agents and two programs. */
static void fleet_start(void)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    program_start("here/command quiet");
    program_start("env RECORDER_FILE=b.rec here/command quiet");
    agent_start("web1", "");
}

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

/* Goal: an agent of a hundred processes has below 10 MB, and needs less than
 * 0.5 % of a core. Method: 20 s of its threads' time on a processor. */
Test(fleet, an_agent_is_small, .init = fleet_begin)
{
    if (test_scale() < 1) {
        fleet_end();
        cr_skip_test("long: RECORDER_TEST_SCALE=1 runs it");
    }
    hub_start("");
    build_must("for i in $(seq 100); do here/command quiet </dev/null >said "
               "2>&1 & echo $! "
               ">>pids; done");
    agent_start("web1", "--trigger alarm.*");
    build_must(UNTIL(FLEET " who shop " HUB "| grep -q \"^web1  *100 \""));
    build_must("python3 -c \"\nimport glob, sys, time\n"
               "def used():\n return sum(int(open(i).read().split()[0]) for i "
               "in glob.glob(sys.argv[1] + \\\"task/*/schedstat\\\"))\n"
               "first, began = used(), time.monotonic()\ntime.sleep(20)\n"
               "part = (used() - first) / (time.monotonic() - began) / 1e9\n"
               "lines = open(sys.argv[1] + \\\"status\\\").read().split("
               "\\\"\\n\\\")\n"
               "rss = [int(i.split()[1]) for i in lines if \\\"VmRSS\\\" in i]"
               "[0]\nprint(round(100 * part, 3), \\\"%% of a core,\\\", rss, "
               "\\\"kB\\\")\nassert part < 0.005 and rss < 10000\n\" "
               "/proc/$(cat web1.pid)/");
    fputs(build_text, stderr);
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
            "put", "\\$O.recordings-%s.C.x") " \"$(head -c $size "
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
    cr_assert_neq(strstr(build_text, "1 processes; what is stored is not known"
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
    build_must(FLEET " freeze shop --why x --wait 3 " HUB ">said; test $? = 1; "
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
        return; /* who may not mount cannot try it */
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    pid = program_start("here/command quiet");
    agent_start("web1", "");
    build_must(FLEET " freeze shop --why before " HUB);
    build_run("dd if=/dev/zero of=js/filler bs=4k 2>said");
    cr_assert_eq(
        build_run(FLEET " freeze shop --why full --wait 1 " HUB "2>&1"), 1);
    cr_assert_neq(strstr(build_text, "is not known"), NULL, "%s", build_text);
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
                               "  assert \\\"Nats-Rollup=sub\\\" in rest, "
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

/* Goal: nobody who may speak makes an agent or a reader write where they should
 * not, take memory, or believe what is damaged. */
Test(fleet, hostile_requests_and_objects, .init = build_long)
{
    static const char *const requests[] = {"{\\\"id\\\":\\\"../../x\\\"}",
                                           "{\\\"id\\\":\\\"a/b\\\"}",
                                           "{\\\"id\\\":\\\"..\\\"}",
                                           "{\\\"id\\\":7, \\\"why\\\":[]",
                                           "{\\\"id\\\":null}",
                                           "no json",
                                           "long",
                                           ""};
    static const struct {
        const char *name, *more, *said;
    } objects[] = {
        {"../../x/../s1.rec.zst", "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":1",
         NULL},
        {"h/../s1.rec.zst", "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":1", NULL},
        {"h/p.1/s1.rec.zst", "\\\"nuid\\\":\\\"../x\\\",\\\"chunks\\\":1",
         NULL},
        {"h/p.2/s1.rec.zst",
         "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":2147483648,\\\"size\\\":9",
         "longer than its metadata|no zstd data"},
        {"h/p.3/s1.rec.zst",
         "\\\"nuid\\\":\\\"none\\\",\\\"chunks\\\":4,\\\"size\\\":9",
         "chunk 1 of 4 is missing"},
        {"h/p.4/s1.rec.zst", "\\\"nuid\\\":\\\"x\\\",\\\"chunks\\\":0",
         "its digest is wrong"}};
    fleet_start();
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        build_must(CLIENT("request", "recorder.freeze.shop \"%s\""),
                   requests[i]);
    build_must(
        "test ! -e x && test ! -e a && ls -A spool-web1 | wc -l | grep -x"
        " 0 && kill -0 $(cat web1.pid)");
    /* The same id twice is one snapshot. */
    build_must("for i in 1 2; do " CLIENT(
        "request", "recorder.freeze.shop") " \"{\\\"id\\\":\\\"twice\\\"}\"; "
                                           "done | grep -c web1 | grep -x "
                                           "2; " UNTIL(FLEET
                                                       " list shop -v " HUB
                                                       "| grep -c command | "
                                                       "grep -x 2"));
    build_must(CLIENT("put", "\\$O.recordings-shop.C.x") " \"some bytes, not "
                                                         "packed\"");
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        build_must(
            "name=\"%s\"; " CLIENT(
                "put",
                "\\$O.recordings-shop.M.$(echo "
                "-n $name | base64 -w 0 | tr +/ -_)") " \"{\\\"name\\\":"
                                                      "\\\"$name\\\",%s,"
                                                      "\\\"digest\\\":\\\"SHA-"
                                                      "256=no\\\"}\"",
            objects[i].name, objects[i].more);
    build_must("printf \"\\033[31m\" >esc; " CLIENT(
        "put",
        "\\$O.recordings-shop.M.eA==") " \"{\\\"name\\\":\\\"h/p/"
                                       "s2.rec.zst\\\",\\\"nuid\\\":\\\"x\\\","
                                       "\\\"headers\\\":{\\\"why"
                                       "\\\":[\\\"a\\u001b[31m\\\"]}}\"; " FLEET
                                       " list shop " HUB
                                       ">list; ! grep -q \"$(printf "
                                       "\"\\033\")\" list && grep -q "
                                       "\"s2 .*a.x1b\" list");
    cr_assert_eq(build_run(FLEET " fetch shop s1 -o in " HUB "2>said"), 1);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (objects[i].said)
            build_must(
                "cat said; grep -qE \"^recorder-fleet: %s: .*(%s)\" said",
                objects[i].name, objects[i].said);
    build_must("ls -A in | wc -l | grep -x 0 && test ! -e x");
}

/* Goal: the rights of docs/fleet.md do what they say, and TLS lets in nobody
 * else. Method: certificates are made by openssl; the configuration is that of
 * the manual, word by word. */
#define CERT(name, issuer)                                                     \
    "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "          \
    "-keyout " name ".key -subj /CN=" name " -addext subjectAltName=DNS:" name \
    ",IP:127.0.0.1 -out " name ".csr "                                         \
    "2>/dev/null && openssl x509 -req -in " name ".csr -CA " issuer ".pem "    \
    "-CAkey " issuer ".key -CAcreateserial -copy_extensions copy -days 2 "     \
    "-out " name ".pem 2>/dev/null"
#define AS(name)                                                               \
    "--server tls://127.0.0.1:$(cat port) --ca ca.pem --cert " name ".pem "    \
    "--key " name ".key "
Test(fleet, rights_are_what_the_manual_says, .init = build_long)
{
    build_must("for i in ca other; do openssl req -x509 -newkey ec -pkeyopt "
               "ec_paramgen_curve:P-256 -nodes "
               "-keyout $i.key -subj /CN=$i -days 2 -out $i.pem 2>/dev/null; "
               "done");
    build_must(CERT("hub", "ca") " && " CERT("agent-shop", "ca") " && " CERT(
        "reader-shop",
        "ca") " && " CERT("operator", "ca") " && " CERT("stranger", "other"));
    port_make("port");
    build_must(
        "awk \"/^# hub.conf/ { on = 1 } /^\\`\\`\\`/ { on = 0 } "
        "on\" " TEST_ROOT "/docs/fleet.md | sed \"s,listen: .*,listen: "
        "127.0.0.1:$(cat port),; s,/var/lib/recorder-hub,$PWD/js,; "
        "s,/etc/recorder/,,g\" >hub.conf; grep -q verify_and_map hub.conf "
        "&& (nats-server -c hub.conf >hub.log 2>&1 & echo $! >>pids)");
    build_must(UNTIL("grep -q \"Server is ready\" hub.log"));
    cr_assert_eq(build_run(FLEET " bucket shop " AS("reader-shop")), 1);
    cr_assert_eq(build_run(FLEET " bucket shop " AS("agent-shop")), 1);
    build_must(FLEET " bucket shop --max 50M " AS("operator"));
    program_start("here/command quiet");
    build_must("(" FLEET " agent --service shop --host web1 --spool spool "
               "--match \"$PWD/here/.*\" " AS(
                   "agent-shop") ">web1.log 2>&1 & "
                                 "echo $! >>pids); " UNTIL(
                                     "grep -q \"agent of\" web1.log"));
    build_must(FLEET " freeze shop --why x " AS(
        "reader-shop") ">said; cat said; "
                       "grep -q \"1 stored\" said");
    build_must(FLEET
               " fetch shop $(cut -d \" \" -f 2 said | tr -d :) -o in " AS(
                   "reader-shop"));
    /* An agent reads nothing; a reader stores nothing, which is said. */
    cr_assert_eq(build_run(FLEET " list shop " AS("agent-shop")), 1);
    build_must("(" FLEET " agent --service shop --host web2 --spool spool2 "
               "--match \"$PWD/here/.*\" " AS(
                   "reader-shop") ">web2.log 2>&1 & "
                                  "echo $! >>pids); " UNTIL(
                                      "grep -qi \"permissions violation\" "
                                      "web2.log"));
    /* Another authority's certificate, none, and no TLS. */
    cr_assert_eq(build_run(FLEET " who shop " AS("stranger")), 1);
    cr_assert_eq(build_run(FLEET " who shop --server tls://127.0.0.1:$(cat "
                                 "port) --ca ca.pem"),
                 1);
    cr_assert_eq(build_run(FLEET " who shop " HUB), 1);
    /* An agent says so, and ends: what is in its spool is for the next. */
    cr_assert_eq(build_run("timeout 60 " FLEET " agent --service shop --spool "
                           "spool3 --match none " AS("stranger") "2>&1"),
                 1);
    cr_assert_neq(strstr(build_text, "is given up"), NULL, "%s", build_text);
    cr_assert_eq(build_run("timeout 60 " FLEET " agent --service shop --spool "
                           "spool3 --match none " AS(
                               "agent-shop") "--ca other.pem 2>&1"),
                 1);
    cr_assert_neq(strstr(build_text, "SSL handshake error"), NULL, "%s",
                  build_text);
    cr_assert_eq(build_run(FLEET " who shop --server nats://192.0.2.1:4222"),
                 1);
    cr_assert_neq(strstr(build_text, "without tls://"), NULL, "%s", build_text);
}

/* Starts a server with the schema of the manual. False: there is none here. */
#define CLICKHOUSE "clickhouse-client --host 127.0.0.1 --port $(cat port) "
static bool clickhouse_start(void)
{
    if (!build_has("clickhouse-server") || !build_has("clickhouse-client")) {
        fputs("clickhouse-server is not installed: not tried\n", stderr);
        return false;
    }
    port_make("port");
    port_make("http");
    build_must(
        "cat >ch.xml <<END\n<yandex><logger><level>error</level><log>"
        "ch.log</log><errorlog>ch.err</errorlog></logger><tcp_port>$(cat "
        "port)</tcp_port><http_port>$(cat http)"
        "</http_port><listen_host>127.0.0.1</listen_host><path>./ch/"
        "</path><tmp_path>./ch/tmp/</tmp_path><users_config>users.xml"
        "</users_config><default_profile>default</default_profile>"
        "<default_database>default</default_database><mark_cache_size>"
        "100000000</mark_cache_size></yandex>\nEND\n"
        "cat >users.xml <<END\n<yandex><profiles><default/></profiles>"
        "<users><default><password></password><networks><ip>::/0</ip>"
        "</networks><profile>default</profile><quota>default</quota>"
        "</default></users><quotas><default/></quotas></yandex>\nEND\n"
        "clickhouse-server --config-file=ch.xml >ch.out 2>&1 & echo $! "
        ">>pids; " UNTIL(CLICKHOUSE "-q \"select 1\" 2>said"));
    build_must("awk \"/^-- clickhouse.sql/ { on = 1 } /^\\`\\`\\`/ { on = 0 } "
               "on\" " TEST_ROOT "/docs/fleet.md | " CLICKHOUSE "--multiquery");
    return true;
}

/* Loads recordings by the line of the manual. */
static void clickhouse_load(const char *files)
{
    build_must("columns=$(" RECORDER " export csv %s -o - | head -n 1 | tr "
               "-d \"\\r\" | sed s/,order,/,ord,/); " RECORDER " export csv "
               "%s -o - | " CLICKHOUSE "-q \"insert into event ($columns) "
               "format CSVWithNames\"",
               files, files);
}

/* Goal: the schema and the line of the manual load recordings of several hosts
 * into ClickHouse, and it answers as SQLite does. Method: both are asked the
 * manual's kinds of questions. */
Test(fleet, clickhouse_answers_as_sqlite_does)
{
    pid_t pid;
    if (!clickhouse_start())
        return;
    pid = program_start("here/command everything in.txt");
    build_must(RECORDER " save %d -o a.rec --label host=web1 --label "
                        "service=shop --label error_ns=5 --label taken_ns=17",
               pid);
    pid = program_start("here/command quiet");
    build_must(RECORDER " save %d -o b.rec --label host=web2", pid);
    clickhouse_load("*.rec");
    command_must("export sqlite *.rec -o all.db");
    build_must(CLICKHOUSE
               "-q \"select host, format, count() from event group by"
               " host, format order by host, format\" | tr \"\\t\" \"|\" >one");
    build_must(
        "sqlite3 all.db \"select host, format.format, count(*) from event join "
        "source on source.id = event.source join format on format.id = "
        "event.format group by 1, 2 order by 1, 2\" >two; grep -c . two;"
        " awk -F \"|\" \"{ n += \\$NF } END { print n }\" one >count; awk "
        "-F \"|\" \"{ n += \\$NF } END { print n }\" two | cmp - count && "
        "test $(cat count) -gt 200");
    build_must(CLICKHOUSE
               "-q \"select host, ord, wall_ns from event where "
               "wall_ns between (select min(wall_ns) from event) and (select "
               "min(wall_ns) + 100000 from event) order by wall_ns, host, ord\""
               " | tr \"\\t\" \"|\" >one; sqlite3 all.db \"select host, ord, "
               "wall_ns from event join source on source.id = event.source "
               "where wall_ns between (select min(wall_ns) from event) and "
               "(select min(wall_ns) + 100000 from event) order by wall_ns, "
               "host, ord\" >two; test -s two && cmp one two");
}

/* Goal: ClickHouse takes a million rows of 60 recordings, all of them. Method:
 * counts and sums by what was recorded. The time is told. */
Test(fleet, clickhouse_takes_a_million_rows, .init = fleet_begin)
{
    if (test_scale() < 1) {
        fleet_end();
        cr_skip_test("long: RECORDER_TEST_SCALE=1 runs it");
    }
    if (!clickhouse_start())
        return;
    build_must(
        "cat >many.c <<END\n"
        "#include \"recorder_dump.h\"\n"
        "RECORDER(net, 16384)\nRECORDER(disk, 2048)\n"
        "int main(void) { for (int i = 0; i < 17500; i++)"
        " if (i %% 10) record(net, \"%%d bytes from %%s\", i, \"host\");"
        " else record(disk, \"load %%.2f, %%u blocks\", 0.75, 12u);"
        " return 0; }\nEND\n"
        "gcc -O2 " BUILD_INCLUDE "many.c -o many -lpthread && mkdir m n"
        " && for i in $(seq 60); do RECORDER_FILE=m/$i.rec ./many && " RECORDER
        " save m/$i.rec -o n/$i.rec --label service=shop "
        "--label host=web$i; done; date +%%s >began");
    clickhouse_load("n/*.rec");
    build_must("echo $(($(date +%%s) - $(cat began))) s");
    fputs(build_text, stderr);
    build_must(
        CLICKHOUSE
        "-q \"select count(), uniq(host), "
        "sum(toUInt64(argument1)) from event where length(recorder) = 3\" | "
        "tr \"\\t\" \" \" | grep -x \"945000 60 8268750000\" && " CLICKHOUSE
        "-q \"select count() from event\" | grep -x 1050000");
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
Test(fleet, a_full_disk_is_said)
{
    hub_start("");
    if (build_run("mkdir spool-web1 && mount -t tmpfs -o size=60k none "
                  "spool-web1") != 0)
        return; /* who may not mount cannot try it */
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
        "sleep 3; " UNTIL("test $(ls spool-web1/*/*.rec* 2>/dev/null | wc"
                          " -l) = 0"));
    build_must(
        "grep -l web1 answer-k* | cut -d - -f 2 >said; wc -l <said; " FLEET
        " list shop -v " HUB ">list; grep -c ^k list; for i in "
        "$(grep ^k list | cut -d \" \" -f 1); do " FLEET " fetch shop $i "
        "-o in-$i " HUB "|| exit 1; done");
    fputs(build_text, stderr);
    build_must("for i in in-*/*.rec; do " RECORDER " dump $i | grep -q \"main: "
               "third\" || exit 1; done; test $(ls in-*/*.rec | wc -l) -ge 8");
    if (server) /* an answer was a promise: the agent lived all the time */
        build_must(
            "for i in $(cat said); do test $(ls in-$i/*.rec | wc -l) = 2 "
            "|| { echo $i; exit 1; }; done");
}
Test(fleet, kills_of_the_server, .init = fleet_begin)
{
    if (test_scale() < 1) {
        fleet_end();
        cr_skip_test("long: RECORDER_TEST_SCALE=1 runs it");
    }
    kill_at_random(true);
}
Test(fleet, kills_of_the_agent, .init = fleet_begin)
{
    if (test_scale() < 1) {
        fleet_end();
        cr_skip_test("long: RECORDER_TEST_SCALE=1 runs it");
    }
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

/* Goal: --nkey and --creds say who one is, to servers that know users by their
 * keys, and by a JWT of an operator; who has none, or another, stays outside.
 * Method: keys and JWTs are made by openssl. */
Test(fleet, keys_and_credentials_let_in, .init = build_long)
{
    build_must("python3 " BUILD_PROGRAMS
               "/fleet_keys.py nkey agent && python3 " BUILD_PROGRAMS
               "/fleet_keys.py nkey other && python3 " BUILD_PROGRAMS
               "/fleet_keys.py jwt operator reader");
    hub_start("authorization { users = [ { nkey: $(cat agent.public) } ] }");
    build_must(FLEET " bucket shop --max 50M --nkey agent.seed " HUB);
    program_start("here/command quiet");
    agent_start("web1", "--nkey agent.seed");
    build_must(FLEET " freeze shop --why x --nkey agent.seed " HUB
                     "| grep \"1 stored\"");
    cr_assert_eq(build_run(FLEET " list shop " HUB), 1);
    cr_assert_eq(build_run(FLEET " list shop --nkey other.seed " HUB), 1);
    cr_assert_neq(strstr(build_text, "Authentication Violation"), NULL, "%s",
                  build_text);
    cr_assert_eq(build_run(FLEET " list shop --nkey agent.public " HUB), 1);
    cr_assert_neq(strstr(build_text, "is the seed of a key"), NULL, "%s",
                  build_text);
    build_must("kill -9 $(cat hub web1.pid); rm port; mv js js.nkey");
    hub_start("$(cat operator.conf)");
    build_must(FLEET " bucket shop --max 50M --creds operator.creds " HUB);
    agent_start("web1", "--creds operator.creds");
    build_must(FLEET " freeze shop --why x --creds reader.creds " HUB
                     "| grep \"1 stored\"");
    build_must("rm -r spool-web1; kill -9 $(cat web1.pid)");
    /* Who may not store does not, and says why. */
    agent_start("web2", "--creds reader.creds");
    build_must(FLEET " freeze shop --why y --wait 1 --creds reader.creds " HUB
                     "; " UNTIL("grep -qi \"permissions violation\" web2.log"));
    cr_assert_eq(build_run(FLEET " list shop " HUB), 1);
    cr_assert_eq(build_run(FLEET " list shop --creds agent.seed " HUB), 1);
}

/* Goal: a hundred agents are told at once, before any of them works, and all
 * that they save is stored and fetched. Method: the best of some freezes is
 * compared with the best of as many rounds of a hundred processes that do
 * nothing but answer. Agents that worked first took 60 times as long; now it is
 * 3 to 5 times, on a machine that is idle or that is not. */
Test(fleet, a_hundred_agents, .init = fleet_begin)
{
    if (test_scale() < 1) {
        fleet_end();
        cr_skip_test("long: RECORDER_TEST_SCALE=1 runs it");
    }
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    program_start("here/command quiet");
    build_must(CLIENT(
        "bare", "bare 100") " >bare.log 2>&1 & echo $! >>pids; for i in "
                            "$(seq 100); do " FLEET
                            " agent --service shop --host "
                            "h$i --spool spool-$i --match \"$PWD/here/.*\" " HUB
                            ">>all.log "
                            "2>&1 & echo $! >>pids; done; until test $(grep -c "
                            "\"agent of\" all.log) = 100; do sleep 0.1; done");
    for (int i = 0; i < 4; i++)
        build_must(
            CLIENT("told", "bare x 100") " >>bare; for i in 1 2 3; do " FLEET
                                         " freeze shop --why x --wait 60 " HUB
                                         ">said && break; done; cat "
                                         "said >>all; grep -q \"100 of 100 "
                                         "agents within [0-9]* ms, 100 "
                                         "processes; 100 stored\" said || { "
                                         "cat all; false; }");
    build_must("cat bare all; python3 -c \"\nimport re\n"
               "bare = min(int(i.split()[1]) for i in open(\\\"bare\\\"))\n"
               "told = min(int(i) for i in re.findall(\\\"within ([0-9]*)\\\""
               ", open(\\\"all\\\").read()))\n"
               "print(told, \\\"ms; bare:\\\", bare, \\\"us\\\")\n"
               "assert told * 1000 < 15 * bare\n\"");
    fputs(build_text, stderr);
    build_must(FLEET
               " fetch shop $(cut -d \" \" -f 2 said | tr -d :) -o in " HUB
               "| wc -l | grep -x 100; " RECORDER " dump in/*.rec | grep -c "
               "\"main: third\" | grep -x 100");
}
