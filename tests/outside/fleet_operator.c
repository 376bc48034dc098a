/* recorder-fleet: an agent's figures for Prometheus, and systemd's watchdog. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Waits until a figure of the agent has a value. */
static void figure_is(const char *name, const char *value)
{
    build_must(UNTIL("grep -qx \"recorder_fleet_%s{service=\\\"shop\\\","
                     "host=\\\"web1\\\"} %s\" web1.prom")
               " || { cat web1.prom; exit 1; }",
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
    build_must("cat >systemd.py <<\\END\nimport socket\n"
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
