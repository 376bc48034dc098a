/* Real programs under recorder run have no deadlock, no circle of locks. */
/* SPDX-License-Identifier: MIT */
/*
   Of each: the same output and status as without; nothing is said that is not
   true of its recording, and, of servers, of the process under load.
*/
#include "harness/command.h"

TestSuite(alarms, .init = build_begin, .fini = build_end, .timeout = 400);

#define RUN RECORDER " run -q "

/* Nothing is found in any recording in the folder, of which there is one. */
static void must_be_quiet(const char *of)
{
    build_must("for f in *.rec; do " RECORDER " threads --check $f >said || "
               "{ cat said; exit 1; }; " RECORDER " threads $f >said; "
               "! grep DEADLOCK said || exit 1; " RECORDER
               " threads --json --by thread $f >/dev/null || exit 1; done; "
               "test -e \"$f\" && rm *.rec # %s",
               of);
}
/* A command, without and with the library. */
static void must_be_alike(const char *line, int status)
{
    cr_assert_eq(build_run("%s >without 2>without.errors", line), status,
                 "%s: %s", line, build_text);
    cr_assert_eq(build_run(RUN "%s >with 2>with.errors", line), status,
                 "%s: %s", line, build_text);
    build_must("cmp without with && cmp without.errors with.errors");
    must_be_quiet(line);
}

/* Goal: compressors, both ways. */
Test(alarms, compressors)
{
    static const char *const lines[][3] = {
        {"pigz", "pigz -c -p 4", "pigz -d -c"},
        {"pbzip2", "pbzip2 -c -p4", "pbzip2 -d -c -p4"},
        {"lbzip2", "lbzip2 -c -n 4", "lbzip2 -d -c -n 4"},
        {"xz", "xz -0 -T 4 --block-size=200000 -c", "xz -d -T 4 -c"},
        {"zstd", "zstd -q -T4 -B200000 -c", NULL}};
    build_must("head -c %u /dev/urandom | od -x >data", scaled(2e6));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[128];
        if (!build_has(lines[i][0]))
            continue;
        snprintf(line, sizeof line, "%s <data", lines[i][1]);
        must_be_alike(line, 0);
        if (!lines[i][2] || !sampled((unsigned)i))
            continue;
        build_must("mv with packed");
        build_must("%s <packed >without", lines[i][2]);
        build_must(RUN "--always %s <packed >with", lines[i][2]);
        build_must("cmp with data && cmp with without");
        must_be_quiet(lines[i][2]);
    }
}

/* Goal: Python, with queues, conditions, pools and processes. */
Test(alarms, python)
{
    char line[512];
    snprintf(line, sizeof line, "/usr/bin/python3 " BUILD_PROGRAMS
             "/run_python.py %u", scaled(4000));
    must_be_alike(line, 6);
}

/* Goal: a server of C++ with 50 clients, every kind of lock of its library, and
 * std::lock(), which tries. Looks while it runs find nothing either. */
Test(alarms, server_of_cxx, .init = build_long)
{
    const unsigned requests = scaled(10000);
    build_must("g++ -g -o server " BUILD_PROGRAMS
               "/run_server.cc -lpthread");
    build_must("./server 50 %u >without; test $? = 7", requests);
    build_must("{ " RUN "-o s.rec ./server 50 %u >with; echo $? >status; } & "
               "while ! test -e status; do if " RECORDER
               " list s.rec >/dev/null 2>&1; then " RECORDER
               " threads --check s.rec >said || { cat said; exit 1; }; echo "
               ">>looks; fi; done; grep -qx 7 status && cmp with without && "
               "wc -l <looks",
               requests);
    cr_assert_gt(atoi(build_text), 1, "%s", build_text);
    must_be_quiet("./server");
}

/* Goal: a thread that left its wait for a lock by longjmp() is in no deadlock. */
Test(alarms, waits_that_were_left)
{
    build_must("gcc -O1 -g -o run_odd " BUILD_PROGRAMS
               "/run_odd.c -lpthread -ldl");
    build_must(
        RUN
        "-o j.rec ./run_odd jumps & pid=$!; i=0; until " RECORDER
        " threads $pid 2>&1 | grep \"waits for mutex here of\"; do "
        "i=$((i + 1)); test $i -lt 600 || exit 1; sleep 0.05; done; " RECORDER
        " threads --check $pid >said; status=$?; kill $pid; cat "
        "said; test $status = 0");
}

/* Goal: memcached and redis under load: looks at the process find nothing, and
 * clients get the same answers as without. */
static void serve(const char *program, const char *options, const char *load)
{
    build_needs(program);
    for (int with = 0; with < 2; with++)
        build_must(
            "rm -f ./sock status; %s%s %s >log 2>&1 & server=$!; i=0; "
            "while ! test -S ./sock; do i=$((i + 1)); test $i -lt 200 || exit "
            "1; sleep 0.05; done; { %s >%s 2>&1; echo $? >status; } & "
            "while ! test -e status; do " RECORDER
            " threads --check $server >said "
            "|| { cat said; exit 1; }; sleep 0.02; done; kill -TERM $server; "
            "wait $server; echo $? >>%s; grep -x 0 status",
            with ? RUN : "", program, options, load, with ? "with" : "without",
            with ? "with" : "without");
    build_must("diff with without");
    must_be_quiet(program);
}
Test(alarms, servers)
{
    char load[1024];
    snprintf(load, sizeof load,
             "for i in 1 2 3 4; do redis-benchmark -s ./sock -n %u -c 8 -P 4 "
             "--threads 2 -q set get incr lpush >/dev/null & done; wait; "
             "redis-cli -s ./sock dbsize", scaled(40000));
    serve("redis-server",
          "--port 0 --unixsocket ./sock --save \"\" --io-threads 3 "
          "--io-threads-do-reads yes --appendonly no", load);
    snprintf(load, sizeof load, "/usr/bin/python3 " BUILD_PROGRAMS
             "/run_clients.py ./sock %u", scaled(4000));
    serve("memcached", "-u root -s ./sock -t 4", load);
}
