/* recorder serve, and the source http://HOST:PORT/: good and hostile ends. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(serve, .init = build_begin, .fini = build_end, .timeout = 300);

#define PYTHON                                                                 \
    "XDG_CACHE_HOME=$PWD/cache timeout 100 python3 " BUILD_PROGRAMS "/serve."  \
                                                                    "py "

#define LINE                                                                   \
    "--line \"{seconds}s {order} {location} T{thread} {recorder}: {message}\""

static char url[64];

/* Serves a program, or a file; its server, which ends with the test. */
static pid_t serve(const char *source)
{
    pid_t server;
    build_must("rm -f url");
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (chdir(build_folder) == 0 && freopen("url.new", "w", stdout))
            execl(RECORDER, RECORDER, "serve", source, (char *)NULL);
        _exit(127);
    }
    build_must("until grep -qs / url.new; do sleep 0.05; done; mv url.new url;"
               " cat url");
    cr_assert_eq(sscanf(build_text, "%63s", url), 1);
    return server;
}

static pid_t serve_program(pid_t *pid)
{
    char source[16];
    command_build("command", "gcc -O1 -w");
    *pid = command_start("./command quiet");
    snprintf(source, sizeof source, "%d", (int)*pid);
    return serve(source);
}

/* Goal: a server is a source as good as what it serves, with the files of the
 * program, which are kept. */
Test(serve, what_is_served_is_a_source)
{
    pid_t pid, server = serve_program(&pid);
    /* The clock's rate is measured anew for each: times may differ by that. */
    command_must("dump %d " LINE " | tail -n +2 >here", pid);
    command_must("dump %s " LINE " | tail -n +2 >there", url);
    build_must("for i in here there; do sed \"s/^[0-9.]*s //\" $i >$i.rest; "
               "sed -n \"s/^\\([0-9.]*\\)s .*/\\1/p\" $i >$i.times; done; "
               "cmp here.rest there.rest && paste here.times there.times | "
               "awk \"{ n++; d = \\$1 - \\$2; if (d > 0.0001 || d < -0.0001) "
               "bad++ } END { exit bad || n != 3 }\" || "
               "{ paste here there; false; }");
    command_must("list %s", url);
    command_must("export json %s -o out.json", url);
    command_must("save %s -o out.rec && " RECORDER " dump out.rec", url);
    /* The program's file is nowhere else. */
    build_must("cp command moved; rm command");
    build_must("XDG_CACHE_HOME=$PWD/cache " RECORDER " dump --function %s",
               url);
    cr_assert(strstr(build_text, "third (main+"), "%s", build_text);
    build_must("ls cache/recorder");
    cr_assert_eq(strspn(build_text, "0123456789abcdef"), 40u, "%s", build_text);
    build_must("cmp cache/recorder/* moved");
    /* It is taken from there, if it is what it should be. */
    build_must("echo >cache/recorder/$(ls cache/recorder)");
    build_must("XDG_CACHE_HOME=$PWD/cache " RECORDER " dump --function %s",
               url);
    cr_assert(strstr(build_text, "third (main+"), "%s", build_text);
    build_must("rm cache/recorder/*; " PYTHON "proxy " RECORDER " %s /bin/sh",
               url);
    command_stop(pid);
    cr_assert_eq(waitpid(server, NULL, 0), server); /* it ends, too */
    cr_assert_eq(command("list %s", url), 1);
    cr_assert(strstr(build_text, "Connection refused"), "%s", build_text);
}

/* Goal: whatever a client sends, nothing else is served, and nobody waits. */
Test(serve, hostile_clients)
{
    pid_t pid, server = serve_program(&pid);
    int port;
    cr_assert_eq(sscanf(url, "http://127.0.0.1:%d/", &port), 1);
    build_must(PYTHON "clients %d", port);
    command_stop(pid);
    waitpid(server, NULL, 0);
    command_must("serve --help");
    cr_assert_eq(command("serve --listen nonsense 1"), 2);
    cr_assert_eq(command("serve 999999999"), 1);
}

/* Goal: whatever a server answers, the command says what is wrong and ends. */
Test(serve, hostile_servers)
{
    build_must(PYTHON "servers " RECORDER);
}
Test(serve, slow_servers, .init = build_long)
{
    build_must(PYTHON "slow " RECORDER);
}
