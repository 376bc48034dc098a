/* recorder-fleet: an agent's figures for Prometheus, and systemd's watchdog. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Waits until a figure of the agent has a value. */
static void figure_is(const char *name, const char *value)
{
    build_must(
        UNTIL("grep -qx \"recorder_fleet_%s{service=\\\"shop\\\","
              "host=\\\"web1\\\"} %s\" web1.prom") " || { cat web1.prom; exit "
                                                   "1; }",
        name, value);
}

/* Goal: the figures of an agent follow what it did, and the hub's absence; each
 * has a HELP and a TYPE line, which Prometheus' text format 0.0.4 requires. Method: two
 * processes, a freeze, and a killed hub. */
Test(fleet, figures_for_prometheus)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    program_start("here/command quiet");
    program_start("here/command words");
    agent_start("web1", "--metrics web1.prom --keep 5M");
    figure_is("processes", "2");
    figure_is("connected", "1");
    figure_is("spool_limit_bytes", "5242880");
    figure_is("last_stored_timestamp_seconds", "0.000000000");
    build_must(FLEET " freeze shop --why test " HUB);
    figure_is("snapshots_total", "1");
    figure_is("stored_total", "2");
    figure_is("save_errors_total", "0");
    figure_is("last_stored_timestamp_seconds", "[1-9][0-9]*[.][0-9]*");
    figure_is("stored_bytes_total", "[1-9][0-9]*");
    build_must("awk -f " BUILD_PROGRAMS "/prometheus.awk web1.prom && "
               "test ! -e web1.prom.new");
    if (build_run("command -v promtool >said") == 0)
        build_must("promtool check metrics <web1.prom");
    build_must("kill -9 $(cat hub)");
    figure_is("connected", "0");
}

/* Goal: an agent tells systemd when it is ready, and every 5 s that it works.
 * Method: a socket in the place of systemd's. */
Test(fleet, watchdog_of_systemd)
{
    hub_start("");
    build_must(
        "cat >systemd.py <<\\END\nimport socket\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "s.bind(\"notify\")\nprint(\"bound\", flush=True)\n"
        "for i in range(3):\n    print(s.recv(100).decode(), flush=True)\n"
        "END\npython3 systemd.py >said 2>&1 & echo $! >>pids; " UNTIL(
            "grep -q bound said"));
    agent_start("web1", "NOTIFY_SOCKET=notify");
    build_must(UNTIL("test $(wc -l <said) = 4") " && cat said");
    cr_assert(strstr(build_text, "bound\nREADY=1\nWATCHDOG=1\nWATCHDOG=1\n"),
              "%s", build_text);
}

/* Goal: a pinned snapshot survives its bucket's age, whole and with its clock, also
 * one that is pinned again; unpinned, it is gone. Method: the age becomes 1 s. */
Test(fleet, pinned_snapshots_survive_expiry)
{
    fleet_start();
    build_must(
        "for i in a b; do " FLEET " freeze shop --why $i " HUB
        "| tee said && cut -d \" \" -f 2 said | tr -d : >$i; done; " FLEET
        " fetch shop $(cat a) -o before " HUB "&& " FLEET
        " pin shop $(cat a) " HUB "| grep \"2 of 2 .* pinned\" && " FLEET
        " unpin shop $(cat a) " HUB "&& " FLEET " pin shop $(cat a) " HUB
        "| grep \"2 of 2 .* pinned\" && " FLEET " list shop " HUB
        ">said && cat said && test $(grep -c pinned said) = 1");
    build_must(
        "kill -9 $(cat web1.pid); cat >age.py <<\\END\n"
        "import json, sys\n"
        "c = json.load(sys.stdin)[\"config\"]\n"
        "c[\"max_age\"] = c[\"duplicate_window\"] = 1000000000\n"
        "print(json.dumps(c))\nEND\n"
        "for i in data index; do " CLIENT(
            "request",
            "\\$JS.API.STREAM.INFO.recorder-$i-shop \"\"") "| python3 age.py "
                                                           ">age || exit "
                                                           "1; " CLIENT(
                                                               "reques"
                                                               "t",
                                                               "\\$JS."
                                                               "API."
                                                               "STREAM"
                                                               ".UPDAT"
                                                               "E."
                                                               "record"
                                                               "er-$i-"
                                                               "shop "
                                                               "\"$("
                                                               "cat "
                                                               "age)"
                                                               "\"") "; done");
    build_must(UNTIL(
        FLEET
        " list shop " HUB
        ">said && test $(wc -l <said) = 2") " || { cat said; exit 1; }; grep "
                                            "\"a (pinned)\" said && " FLEET
                                            " fetch shop $(cat a) -o after " HUB
                                            "&& test $(ls after | wc -l) = 2 "
                                            "&& diff -r before after && "
                                            "! " FLEET
                                            " pin shop $(cat b) " HUB);
    build_must(FLEET " unpin shop $(cat a) " HUB "&& " FLEET " list shop " HUB
                     "| wc -l | grep -x 1 && ! " FLEET
                     " unpin shop $(cat a) " HUB);
}

/* Goal: a message of --log-json is a line of JSON that has the agent's names and
 * a level. Method: an agent begins, and loses its hub. */
Test(fleet, log_as_json)
{
    hub_start("");
    agent_start("web1", "--log-json");
    build_must(
        "python3 -c \"import json, sys; [print(*json.loads(i).values()) "
        "for i in sys.stdin]\" <web1.log >said; cat said web1.log; grep "
        "\"^20.*Z info shop web1 agent of shop on web1: 0 processes\" said && "
        "grep \"\\\"host\\\":\\\"web1\\\",\\\"message\\\":\" web1.log");
    build_must("kill $(cat hub); " UNTIL(
        "grep -q \"level.*warning.*the connection is lost\" web1.log"));
}

/* Goal: a freeze of hosts with a label counts these and waits for no other, and
 * an agent sends no faster than it may. Method: two zones; then an agent that
 * may send 512 bytes in a second has a recording of 2 KB to send, twice. */
Test(fleet, labels_and_rate)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    program_start("here/command quiet");
    agent_start("web1", "--label rack=7,zone=a");
    agent_start("web2", "--label zone=b --rate 512");
    build_must("set -e; " FLEET " freeze shop --why x --label \"zone=[ac]\" " HUB ">said; "
               "cat said; grep \" 1 of 1 agents .* 1 processes; 1 stored\" said; "
               FLEET " list shop -v " HUB "| grep web1");
    cr_assert_eq(build_run(FLEET " freeze shop --why x --label zone " HUB "2>&1"),
                 1);
    cr_assert_not_null(strstr(build_text, "has a label that matches"), "%s",
                       build_text);
    cr_assert_eq(build_run(FLEET " freeze shop --why x --label \"(\" " HUB), 2);
    build_must("for i in 1 2; do " FLEET " freeze shop --why x --wait 60 " HUB
               ">said || exit; done; cat said; sed -n \"s/.* 2 of 2 agents .* 2 "
               "stored, .* kB, \\(.*\\) s/\\1/p\" said | "
               "awk \"{ n += \\$1 > 3 } END { exit n != 1 }\"");
}

/* Goal: Alertmanager's JSON freezes, as docs/fleet-operate.md shows it. Method:
 * Debian's webhook, if it is installed, with the manual's file. */
Test(fleet, an_alert_freezes)
{
    if (build_run("command -v webhook") != 0)
        cr_skip_test("webhook is not installed");
    fleet_start();
    port_make("hook");
    build_must(
        "sed -n \"/^.\\{3\\}json/,/^.\\{3\\}$/p\" " TEST_ROOT
        "/docs/fleet-operate.md | grep -v \"^.\\{3\\}json\\|^.\\{3\\}$\" | sed "
        "\"s,/usr/bin/recorder-fleet," FLEET ",; s,:4222,:$(cat port),\" "
        ">hooks; cat hooks; webhook -verbose -hooks hooks -ip 127.0.0.1 -port "
        "$(cat hook) >hook.log 2>&1 & echo $! >>pids; " LISTENS("hook"));
    build_must(
        "cat >alert.json <<\\END\n"
        "{\"version\":\"4\",\"status\":\"firing\",\"commonLabels\":{},"
        "\"alerts\":[{\"status\":\"firing\",\"labels\":{"
        "\"alertname\":\"HighP99\"}}]}\nEND\n"
        "curl -sS -H \"Content-Type: application/json\" -d @alert.json "
        "http://127.0.0.1:$(cat hook)/hooks/freeze && " UNTIL(
            "grep -q finished hook.log") " && " FLEET " list shop " HUB
                                         "| grep HighP99"
                                         " || { cat hook.log; exit 1; }");
}
