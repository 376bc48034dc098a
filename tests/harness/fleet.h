/* Hubs, agents and programs for tests of recorder-fleet. */
/* SPDX-License-Identifier: MIT */
/*
    TestSuite(fleet, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

    hub_start("");                        a server, whose port is in ./port
    build_must(FLEET " bucket shop " HUB);
    program_start("here/command quiet");  what an agent of here/ finds
    agent_start("web1", "--trigger x");   its log is web1.log, its id web1.pid
*/
#ifndef FLEET_TEST_H
#define FLEET_TEST_H

#define BUILD_SECONDS 100
#include "command.h"

#define FLEET TEST_ROOT "/build/recorder-fleet"
#define HUB "--server nats://127.0.0.1:$(cat port) "
#define CLIENT(what, subject)                                                  \
    "./fleet " what " nats://127.0.0.1:$(cat port) " subject
/* Until a command succeeds; 40 s are for a machine that has much to do. */
#define UNTIL(...)                                                             \
    "( end=$(($(date +%%s) + 40)); until " __VA_ARGS__                         \
    "; do test $(date +%%s) -le $end || exit 1; sleep 0.05; done )"

/* Writes a free port into a new file. No other program gets it while its server
 * is down: it is below the kernel's range for outgoing connections. */
__attribute__((unused)) static void port_make(const char *file)
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

/* Waits until the ports of some files are free: a killed server may hold them
 * for a moment, and the next one would not start. */
#define FREE(files)                                                            \
    UNTIL("! python3 -c \"import socket, sys; [i for i in sys.argv[1:] if "    \
          "socket.socket().connect_ex((\\\"127.0.0.1\\\", int(i))) == 0] or "  \
          "sys.exit(1)\" $(cat " files ")")

/* Starts a server. It ends with the test: all ids are in the file `pids`. */
__attribute__((unused)) static void hub_start(const char *more)
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

__attribute__((unused)) static void fleet_begin(void)
{
    build_begin();
    command_build("command", "gcc -O2");
    build_once("gcc -O1 -o fleet " BUILD_PROGRAMS "/fleet.c -lnats");
    build_must("mkdir -p here && mv command here/ && touch pids");
}
__attribute__((unused)) static void fleet_end(void)
{
    if (build_folder[0])
        build_run("kill -9 $(cat pids) 2>&1; sleep 0.1; umount -l js full "
                  "spool-web1 2>&1");
    build_end();
}
/* Starts an agent of a host; it watches the programs of this test's folder. One
 * that was killed may hold the spool for a moment still. */
__attribute__((unused)) static void agent_start(const char *host,
                                                const char *more)
{
    build_must("test ! -e spool-%s || flock -w 40 spool-%s true || exit; rm -f "
               "%s.log; %s " FLEET
               " agent --service shop --host %s --spool spool-%s "
               "--match \"$PWD/here/.*\" " HUB "%s >>%s.log 2>&1 & echo $! "
               ">%s.pid; cat %s.pid >>pids; " UNTIL("grep -q \"agent of\" "
                                                    "%s.log"),
               host, host, host, *more == '-' ? "" : more, host, host,
               *more == '-' ? more : "", host, host, host, host);
}

__attribute__((unused)) static pid_t program_start(const char *what)
{
    char line[256];
    pid_t pid;
    snprintf(line, sizeof line, "%s", what);
    pid = command_start(line);
    build_must("echo %d >>pids", pid);
    return pid;
}

/* Makes the bucket, two agents and two programs. */
__attribute__((unused)) static void fleet_start(void)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    program_start("here/command quiet");
    program_start("env RECORDER_FILE=b.rec here/command quiet");
    agent_start("web1", "");
}

#endif
