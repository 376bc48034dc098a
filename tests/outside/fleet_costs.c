/* recorder-fleet: what a freeze and an agent cost. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Goal: an agent of a hundred processes has below 10 MB, and needs less than
 * 0.5 % of a core. Method: 20 s of its threads' time on a processor. */
Test(fleet, an_agent_is_small, .init = build_long)
{
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

/* Goal: a freeze of a process with 17,700 records costs the agent and all that
 * it starts below 100 ms of processor, until it is stored. Method: the mean of
 * three, of the times of its threads, and of children that it waited for: what
 * else runs does not count, but for caches that are shared. */
Test(fleet, a_freeze_is_cheap, .init = build_long)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    many_build();
    build_must("mv many here/");
    program_start("here/many 17700 stay");
    agent_start("web1", "");
    build_must(
        "cat >used.py <<END\nimport glob, os, sys\n"
        "path = \"/proc/\" + sys.argv[1] + \"/\"\n"
        "own = sum(int(open(i).read().split()[0]) for i in "
        "glob.glob(path + \"task/*/schedstat\"))\n"
        "stat = open(path + \"stat\").read().rsplit(\")\")[1].split()\n"
        "tick = os.sysconf(\"SC_CLK_TCK\")\n"
        "print(own // 1000000, 1000 * (int(stat[13]) + int(stat[14])) // tick)"
        "\nEND\n"
        "for i in 1 2 3; do python3 used.py $(cat web1.pid) >>used; " FLEET
        " freeze shop --why x " HUB ">>said || exit 1; done; python3 used.py "
        "$(cat web1.pid) >>used; cat said used; python3 -c \"\n"
        "used = [[int(j) for j in i.split()] for i in open(\\\"used\\\")]\n"
        "agent, saves = [(b - a) / 3 for a, b in zip(used[0], used[-1])]\n"
        "print(agent, \\\"ms of the agent,\\\", saves, \\\"ms of saves\\\")\n"
        "assert 0 < agent + saves < 100\n\"");
    fputs(build_text, stderr);
    build_must(FLEET
               " fetch shop $(tail -n 1 said | cut -d \" \" -f 2 | tr -d :) "
               "-o in " HUB "&& " RECORDER
               " dump in/*.rec | grep -c \" bytes from \\| blocks$\" | grep -x "
               "17700");
}

/* Goal: a hundred agents are told at once, before any of them works, and all
 * that they save is stored and fetched: within 50 ms on an idle machine of two
 * cores. Method: the best of some freezes is compared with the best of as many
 * rounds of a hundred processes that do nothing but answer, 6 to 9 ms where
 * nothing else runs. Agents that worked after their answers took 5 to 15 times
 * as long; those that wait a moment take 1 to 2 times. */
Test(fleet, a_hundred_agents, .init = build_long)
{
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
    build_must("set -e; cat bare all; python3 -c \"\nimport re\n"
               "bare = min(int(i.split()[1]) for i in open(\\\"bare\\\"))\n"
               "told = min(int(i) for i in re.findall(\\\"within ([0-9]*)\\\""
               ", open(\\\"all\\\").read()))\n"
               "print(told, \\\"ms; bare:\\\", bare, \\\"us\\\")\n"
               "assert told * 1000 < 5 * bare\n\"");
    fputs(build_text, stderr);
    /* Also where fewer files may be open. */
    build_must("( ulimit -n 50; " FLEET
               " fetch shop $(cut -d \" \" -f 2 said | tr -d :) -o in " HUB
               ") | wc -l | grep -x 100 && " RECORDER
               " dump in/*.rec | grep -c "
               "\"main: third\" | grep -x 100");
}

/* Goal: a freeze counts hosts and processes exactly, whatever the bucket holds:
 * with light agents, of which 1,000 are in one process. Method: three freezes
 * among entries of other snapshots; then a host that is known is gone. */
static void light_agents(int hosts, int processes)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    build_once("gcc -O1 -o fleet_light " BUILD_PROGRAMS "/fleet_light.c");
    build_must(
        "./fleet_light $(cat port) %d %d >ready 2>&1 & echo $! >light; cat "
        "light >>pids; " UNTIL("grep -q ready ready"),
        hosts, processes);
    for (int i = 0; i < 3; i++)
        build_must(FLEET " freeze shop --why x --wait 60 " HUB
                         ">said; cat said; grep -q \"%d of %d agents within "
                         ".* ms, %d processes; %d stored\" said",
                   hosts, hosts, hosts * processes, hosts * processes);
    fputs(build_text, stderr);
    build_must(FLEET " list shop " HUB ">list; cat list; test $(grep -c \" %d  "
                     "*%d .*x\\$\" list) = 3",
               hosts, hosts * processes);
    build_must(
        "kill $(cat light); ./fleet_light $(cat port) %d %d >ready2 2>&1 & "
        "echo $! >>pids; " UNTIL("grep -q ready ready2"),
        hosts - 1, processes);
    cr_assert_eq(build_run(FLEET " freeze shop --why y --wait 60 " HUB), 1);
    build_must("echo \"%s\" >said; grep -q \"%d of %d agents .* %d stored.*; "
               "not heard of: h%d\\$\" said",
               build_text, hosts - 1, hosts, (hosts - 1) * processes,
               hosts - 1);
}
Test(fleet, a_hundred_light_agents)
{
    light_agents(100, 3);
}
Test(fleet, a_thousand_light_agents, .init = build_long)
{
    light_agents(1000, 10);
}
