/* recorder-fleet find: one request in a snapshot of many processes. */
/* SPDX-License-Identifier: MIT */
#include "harness/fleet.h"

TestSuite(fleet_find, .init = fleet_begin, .fini = fleet_end, .timeout = 300);

/* Goal: only the recordings that have a request are fetched, and shown as one
 * tree; an id that no recording has is reported. Method: each request goes over
 * 3 of 5 processes; a sixth names no requests. */
Test(fleet_find, a_request_is_found_in_its_recordings)
{
    hub_start("");
    build_must(FLEET " bucket shop --max 50M --age 1d " HUB);
    build_must("gcc -O2 " BUILD_INCLUDE "-o here/hops " BUILD_PROGRAMS
               "/hops.c -lpthread");
    program_start("here/command quiet");
    for (int i = 0; i < 5; i++) {
        char line[64];
        snprintf(line, sizeof line, "here/hops %d 100 5 wait", i);
        program_start(line);
    }
    agent_start("web1", "");
    build_must(UNTIL(FLEET " who shop " HUB "| grep -q \"^web1  *6 \""));
    build_must(FLEET " freeze shop --why x " HUB ">said");
    build_must("set -e; s=$(cut -d \" \" -f 2 said | tr -d :); for i in 3 77; do "
               "id=$(printf %%016x%%016x 7 $((i + 1))); rm -rf in; " FLEET
               " find shop $s $id -o in " HUB
               ">tree 2>err || { cat err; exit 1; }; cat tree err; "
               "test $(ls in | wc -l) = 3 && "
               "grep -q \"3 of 6 recordings may have $id\" err && "
               "test $(grep -c \"> serve request=$i \" tree) = 3 && "
               "test $(grep -c \"which no source\" tree) = 1 || exit 1; "
               "done; " FLEET " find shop $s $id -o in2 --otlp otlp " HUB
               "; python3 -m json.tool otlp >json; grep -c spanId json | "
               "grep -x 8; ! " FLEET " find shop $s nothing -o in3 " HUB
               "2>err && grep \"no recording of $s has nothing\" err && "
               "test ! -e in3");
}
