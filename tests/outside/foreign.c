/* Programs in Rust and Go record by the C ABI: the examples, as users build them. */
/* SPDX-License-Identifier: MIT */
#define BUILD_SECONDS 200
#include "harness/command.h"

#include <string.h>

/* Debian's compilers, whatever else is in the PATH. */
#define CARGO                                                                  \
    "CARGO_HOME=$PWD/home RUSTC=/usr/bin/rustc RECORDER_INCLUDE=" TEST_ROOT    \
    " /usr/bin/cargo build --quiet --offline --locked "
#define GO                                                                     \
    "HOME=$PWD GOCACHE=$PWD/cache GOPROXY=off GOFLAGS=-buildvcs=false "        \
    "CGO_CFLAGS=-I" TEST_ROOT " /usr/bin/go build "

TestSuite(foreign, .init = build_begin, .fini = build_end, .timeout = 400);

static void said(const char *text)
{
    cr_expect(strstr(build_text, text), "no \"%s\" in:\n%s", text, build_text);
}

/* Each program records the same trips; file and lines are its own. */
static void trips_are_seen(const char *leave, const char *seat,
                           const char *arrive)
{
    char text[128];
    for (int boat = 1; boat <= 3; boat++) {
        sprintf(text, "] trips: > boat %d leaves with %d\n", boat, boat);
        said(text);
        sprintf(text, "] trips: < boat %d: %.2f hours\n", boat,
                0.25 * (1 + boat));
        said(text);
    }
    said("] tickets: seat 0: Ada\n");
    said("] tickets: seat 1: Grace\n");
    said("] tickets: seat 2: Zo\xc3\xab\n");
    said(leave);
    said(seat);
    said(arrive);
}

/* Goal: what ./ferry recorded is read while it runs, and after kill -9 from the
 * file that it left, with its texts and its places in the language's files. */
static void read_alive_and_dead(const char *leave, const char *seat,
                                const char *arrive)
{
    pid_t pid = command_start("env RECORDER_FILE=ferry.rec ./ferry hang");
    command_must("dump %d", pid);
    trips_are_seen(leave, seat, arrive);
    command_stop(pid);
    build_must("mv ferry moved && " RECORDER " dump ferry.rec");
    trips_are_seen(leave, seat, arrive);
    said("DUMPING tickets SIZE 64, 6 ENTRIES IN 12 SLOTS, 0 OVERWRITTEN, 0 LOST\n");
}

Test(foreign, rust, .init = build_long)
{
    if (build_run("test -x /usr/bin/cargo -a -x /usr/bin/rustc") != 0)
        build_skip("no rustc and cargo of Debian here");
    build_must("cp -r " TEST_ROOT "/examples/rust . && cd rust && " CARGO
               "--target-dir ../made && cp ../made/debug/ferry ..");
    cr_expect_str_empty(build_text, "%s", build_text);
    build_must("./ferry dump");
    trips_are_seen(" main.rs:9 ", " main.rs:11 ", " main.rs:14 ");
    said("] trips: 3 boats, 2.25 hours: -1 2 3 4 5 6 F ten words\n");
    build_must("RECORDER_FILE=off.rec ./ferry && " RECORDER
               " dump off.rec --function --names trips");
    said("(ferry::trip+0x");
    read_alive_and_dead(" main.rs:9 ", " main.rs:11 ", " main.rs:14 ");
}

Test(foreign, go, .init = build_long)
{
    if (build_run("test -x /usr/bin/go") != 0)
        build_skip("no go of Debian here");
    build_must("cp -r " TEST_ROOT "/examples/go . && cd go && " GO
               "-o ../ferry .");
    cr_expect_str_empty(build_text, "%s", build_text);
    read_alive_and_dead(" main.go:20 ", " main.go:28 ", " main.go:24 ");
}
