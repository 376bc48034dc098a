/* Names that formats give their arguments, and what chooses records by them. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#define COMMAND TEST_ROOT "/build/recorder "

static void begin(void)
{
    build_begin();
    build_must("gcc -O1 -g " BUILD_WARNINGS BUILD_INCLUDE
               "-o named " BUILD_PROGRAMS "/named.c && ./named rec");
}
TestSuite(names, .init = begin, .fini = build_end, .timeout = 120);

/* The last command said so, line by line. */
static void said(const char *wanted)
{
    cr_expect_str_eq(build_text, wanted, "%s:\n%s", build_command, build_text);
}

/* ----------------------------------------------------------------- names -- */

/* Goal: "bytes=%d" names its argument, quotes and 0x between or not; what is no
 * name is none. */
Test(names, in_json)
{
    build_must(COMMAND "dump --json rec >all && sed -n \"1p;2p;4p;25p\" all | "
                       "sed \"s/.*may_have_changed...[^,]*,//; "
                       "s/,.message.*//\"");
    said("\"named\":{\"bytes\":-500,\"peer\":\"alpha\",\"addr\":65261,"
         "\"load\":0.0}\n"
         "\"named\":{\"bytes\":1,\"thread\":0}\n"
         "\"named\":{\"id\":0,\"result\":0}\n"
         "\"named\":{\"x\":4,\"X\":5,\"width\":7}\n");
    build_must("python3 -c \"import json; [json.loads(l) for l in "
               "open(\\\"all\\\")]\"");
}

/* Goal: each name is a column; one that is something else already has a _. */
Test(names, are_columns)
{
    build_must(COMMAND "export csv rec -o csv && python3 -c \"import csv; "
                       "rows = list(csv.DictReader(open(\\\"csv\\\")))\n"
                       "for i in 0, 1, 3, 24: print(*[rows[i][c] for c in "
                       "\\\"bytes peer addr load thread_ id result x\\\""
                       ".split()], sep=\\\"|\\\")\"");
    said("-500|alpha|65261|0.0||||\n"
         "1||||0|||\n"
         "|||||0|0|\n"
         "|||||||4\n");
    build_must(COMMAND "dump --csv rec | cmp - csv && " COMMAND
                       "export sqlite rec -o db && sqlite3 db \"select bytes, "
                       "peer, addr, load, thread_, id, result from event where "
                       "ord in (1, 2, 4) or x is not null; "
                       "select sum(bytes) from event where recorder = 1\"");
    said("-500|alpha|65261|0.0|||\n1||||0||\n|||||0|0\n||||||\n4500\n");
}

/* Goal: timelines and traces have them, and --value takes them. */
Test(names, in_traces)
{
    build_must(COMMAND "export perfetto rec -o p --value net:bytes && protoc "
                       "--decode=Trace -I" BUILD_PROGRAMS " perfetto.proto <p "
                       ">text && grep -c \"name: .bytes.\" text && "
                       "grep -c COUNTER text");
    cr_expect_eq(build_text[strlen(build_text) - 2], '6', "%s", build_text);
    build_must(COMMAND "export chrome rec --value net:bytes=B >json && grep -o "
                       "\"args.:{.B.:[-0-9]*\" json | tail -1 && "
                       "grep -c \"peer.:.alpha\" json");
    said("args\":{\"B\":2000\n2\n");
    build_must(COMMAND "export vcd rec -o v.vcd --value disk:bytes 2>&1 && "
                       "grep -c \"real.*disk_bytes\" v.vcd && " COMMAND
                       "view rec -o v.html --value net:load");
    cr_assert_eq(build_run(COMMAND "export vcd rec --value net:9x -o v"), 2);
    cr_expect(strstr(build_text, "or RECORDER:FIELD, of \"FIELD=%d\""), "%s",
              build_text);
    build_must(COMMAND "export vcd rec -o v.vcd --value net:nothing 2>&1");
    cr_expect(strstr(build_text, "net has no number nothing: no value"), "%s",
              build_text);
}
