/* Names that formats give their arguments, and choices of records by them. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#define COMMAND TEST_ROOT "/build/recorder "

static void begin(void)
{
    build_begin();
    build_once("gcc -O1 -g " BUILD_WARNINGS BUILD_INCLUDE
               "-o named " BUILD_PROGRAMS "/named.c && ./named rec");
}
TestSuite(names, .init = begin, .fini = build_end, .timeout = 300);

/* The last command printed these lines. */
static void said(const char *wanted)
{
    cr_expect_str_eq(build_text, wanted, "%s:\n%s", build_command, build_text);
}

/* ----------------------------------------------------------------- names -- */

/* Goal: "bytes=%d" names its argument, with or without quotes and 0x between;
 * other texts are no names. */
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
                       "select sum(bytes) from event where recorder = 1; "
                       "select bytes, peer from log where ord = 1\"");
    said("-500|alpha|65261|0.0|||\n1||||0||\n|||||0|0\n||||||\n4500\n"
         "-500|alpha\n");
    build_must(COMMAND "export sqlite rec rec -o db && sqlite3 db \"select "
                       "sum(bytes) from log where recorder = char(110,101,116) "
                       "group by source\"");
    said("4500\n4500\n");
}

/* Goal: an overwritten text is no value: null in exports, chosen by no --where;
 * diff takes neither it nor a text whose rest is missing for a new value. Method:
 * a small ring, in which each record has one slot for its text, or 3. */
Test(names, lost_texts_are_no_values)
{
    build_must("cat >lost.c <<X\n#include \"recorder_dump.h\"\n"
               "#include <string.h>\nRECORDER(net, 64, \"\")\n"
               "int main(int argc, char **argv) { char verb[96] = \"GET\";\n"
               "if (argc > 2) memset(verb, 120, 80);\n"
               "for (int i = 0; i < 40; i++) record(net, \"verb=%%s\", verb);\n"
               "for (int i = 0; i < argc - 1; i++) record(net, \"end\"); }\nX\n"
               "gcc " BUILD_INCLUDE
               "-o lost lost.c && RECORDER_FILE=a ./lost && "
               "RECORDER_FILE=b ./lost 1 && RECORDER_FILE=c ./lost 1 2 && "
               "RECORDER_FILE=d ./lost 1 2 3");
    build_must(COMMAND
               "dump b | grep -c \"verb=<lost>\"; " COMMAND
               "dump --json b | head -n 1 | grep -o \"\\[null\\]\"; " COMMAND
               "export sqlite b -o db && sqlite3 db \"select "
               "count(*) from event where verb is null; select "
               "distinct verb from event where verb not null\"");
    said("1\n[null]\n2\nGET\n");
    build_must(COMMAND "dump --where \"verb=<lost>\" b");
    cr_assert(!strstr(build_text, "verb="), "%s", build_text);
    build_run(COMMAND "diff a b; " COMMAND "diff c d");
    cr_assert(!strstr(build_text, "value: ") && !strstr(build_text, "verb of"),
              "%s", build_text);
}

/* Goal: the head of a dump has the recorders that --where lets pass. */
Test(names, head_has_chosen_recorders)
{
    build_must(COMMAND "dump --where \"net: bytes>1000\" rec | grep DUMPING | "
                       "cut -d \" \" -f 2 && " COMMAND
                       "dump --where \"bytes>1000\" rec | grep -c DUMPING && "
                       COMMAND "list rec | grep -c \" on \"");
    cr_expect(strncmp(build_text, "net\n", 4) == 0 &&
                  build_text[4] == build_text[6],
              "%s", build_text);
}

/* Goal: timelines and traces have them, and --value takes them. */
Test(names, in_traces)
{
    build_must(COMMAND "export perfetto rec -o p --value net:bytes && protoc "
                       "--decode=Trace -I" BUILD_PROGRAMS " perfetto.proto <p "
                       ">text && grep -c \"name: .bytes.\" text && "
                       "grep -c COUNTER text");
    cr_expect_eq(build_text[strlen(build_text) - 2], '6', "%s", build_text);
    build_must(COMMAND "export perfetto rec -o p --value net:bytes=B && protoc "
                       "--decode=Trace -I" BUILD_PROGRAMS " perfetto.proto <p "
                       ">text && grep counter_value text | tail -1 && "
                       "grep -c \"name: .B.\" text && "
                       "grep -c \"string_value: .alpha\" text");
    said("    counter_value: 2000\n2\n2\n");
    build_must(COMMAND "export vcd rec -o v.vcd --value disk:bytes 2>&1 && "
                       "grep -c \"integer.*disk_bytes\" v.vcd && " COMMAND
                       "view rec -o v.html --value net:load");
    cr_assert_eq(build_run(COMMAND "export vcd rec --value net:9x -o v"), 2);
    cr_expect(strstr(build_text, "or RECORDER:FIELD, of \"FIELD=%d\""), "%s",
              build_text);
    build_must(COMMAND "export vcd rec -o v.vcd --value net:nothing 2>&1");
    cr_expect(strstr(build_text, "net has no number nothing: no value"), "%s",
              build_text);
}

/* --------------------------------------------------------------- filters -- */

/* Chooses, and prints the remaining orders, with a blank after each. */
static void chosen(const char *options, const char *orders)
{
    build_must(COMMAND
               "dump --line \"{order} \" %s rec >text && "
               "sed -n \"s/^\\([0-9]*\\) $/\\1/p\" text | tr \"\\n\" \" \"",
               options);
    cr_expect_str_eq(build_text, orders, "%s: %s", options, build_text);
}

/* Goal: --where compares arguments by name or place, numbers as numbers and
 * texts as texts; --grep looks at messages; both choose with all the others. */
Test(names, choose_records)
{
    static const char *const some[][2] = {
        {"--where \"net: bytes>1000\"", "17 21 "},
        {"--where \"bytes>1000\"", "6 10 14 17 18 21 22 "},
        {"--where \"net: bytes>=1000\"", "13 17 21 "},
        {"--where \"net:bytes>=1k\"", "13 17 21 "},
        {"--where \"net: bytes<0\"", "1 "},
        {"--where \"net: bytes<=-0x1f4\"", "1 "},
        {"--where \"n.t|disk: bytes = 500\"", "9 "},
        {"--where \"net: bytes!=500 peer~gamma,\"", "21 "},
        {"--where \"net: bytes>0 peer!=alpha load<2.1\"", "9 17 "},
        {"--where \"peer~^.lpha\"", "1 13 "},
        {"--where \"peer=\\\"beta\\\"\"", "5 17 "},
        {"--where \"addr=0xfeee\"", "5 "},
        {"--where \"load=0.5\" --where \"load=1\"", "5 9 "},
        {"--where \"1=3 2=30\"", "16 "},
        {"--where \"disk: 2&4\"", "18 22 "},
        {"--where \"bytes>9e14\"", "22 "},
        {"--where \"bytes=1125899906842624\"", "22 "},
        {"--where \"net: \\\"sent\\\" bytes<1\"", "1 5 "},
        {"--where \"load>0.4 load<=1.0\"", "5 9 "},
        {"--where \"x=4\"", "25 "},
        {"--grep \"BLOCKS\"", ""},
        {"--grep \"blocks, thread=-[13]\"", "6 14 "},
        {"--grep \"Sent|read\" --grep \"peer|3\"", "14 "},
        {"--grep \"sent\" --where \"bytes<1\"", "1 5 "},
        {"--grep \"sent\" --last 2 --names net", "17 21 "},
        {"--grep \"request\" --since 20", "20 23 24 "}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        chosen(some[i][0], some[i][1]);
}

/* Goal: each verb that chooses takes them. */
Test(names, choose_in_every_verb)
{
    build_must(COMMAND "spans --json --where \"id<3\" rec");
    cr_expect(strstr(build_text, "\"count\":3,"), "%s", build_text);
    build_must(COMMAND "export json rec --where \"id<3\" | wc -l && " COMMAND
                       "export csv rec --where \"id<3\" | wc -l && " COMMAND
                       "save rec --where \"id<3\" -o small && " COMMAND
                       "dump --json small | wc -l && " COMMAND
                       "view rec --grep \"id=[012]\" -o v.html && "
                       "grep -o \"columns\" v.html | wc -l && " COMMAND
                       "latency rec --from \"> .*\" --to \"< .*\" --grep "
                       "\"id=[012]\" | head -1");
    cr_expect(strncmp(build_text, "6\n7\n6\n", 6) == 0, "%s", build_text);
    cr_expect(strstr(build_text, "\n3 pairs, 0 without an end"), "%s",
              build_text);
    cr_expect_eq(build_run(COMMAND "diff rec rec --where \"id<3\""), 0, "%s",
                 build_text);
    build_must(COMMAND "list rec --where \"bytes>=1000\" | sed -n 2,3p | "
                       "cut -c1-60 && " COMMAND "list rec --json --grep sent | "
                       "grep -o \"\\\"kept\\\":[0-9]*\" && " COMMAND
                       "list --rates rec --where \"net: id<2\" | tail -n 2 | "
                       "tr -s \" \" | cut -d\" \" -f1,3");
    said("net            64     1     6K        3           0      0  \n"
         "disk           64     1     6K        5           0      0  \n"
         "\"kept\":6\n\"kept\":0\nnet 4\ndisk 0\n");
    cr_expect_eq(build_run(COMMAND "list rec --sizes --grep a"), 2);
    cr_expect_eq(build_run(COMMAND "list rec --slots --where \"a=1\""), 2);
    cr_expect_eq(build_run(COMMAND "list --rates rec --where a"), 2);
}

/* Goal: errors are reported. */
Test(names, wrong_conditions)
{
    static const char *const some[][2] = {
        {"--grep \"(\"", "--grep (: Unmatched ("},
        {"--where \"\"", "nothing: it should be FIELD OP VALUE"},
        {"--where \"net: bytes\"", "bytes: it should be FIELD OP VALUE"},
        {"--where \"net: 13>1\"", "13>1: it should be FIELD OP VALUE"},
        {"--where \"bytes>x\"", "bytes>x: is compared with no number"},
        {"--where \"bytes&1.5\"", "& takes an integer"},
        {"--where \"bytes>5ms\"", "5ms: unknown unit: a number may have k"},
        {"--where \"bytes<1e400\"", "the number is too large"},
        {"--where \"(: a=1\"", "--where (: a=1: "},
        {"--where \"a=\\\"x\"", "a quote has no end"},
        {"--where \"a~(\"", "Unmatched ("}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        cr_expect_eq(build_run(COMMAND "dump rec %s", some[i][0]), 2);
        cr_expect(strstr(build_text, some[i][1]), "%s: %s", some[i][0],
                  build_text);
    }
}

/* Goal: recorders and arguments that do not exist are no empty answer. */
Test(names, conditions_that_nothing_meets)
{
    static const char *const some[][2] = {
        {"dump rec --where \"reqid=5\"", "no record has an argument reqid"},
        {"dump rec --where \"net: 12=5\"",
         "no record has an argument of place 12"},
        {"spans rec --where \"reqid=5\"", "no record has an argument reqid"},
        {"dump rec --where \"nett: bytes>1\"", "no recorder is named nett"},
        {"dump rec --where \"peer>5\"",
         "the argument peer is a text, no number"},
        {"dump rec --where \"net: bytes=many\"",
         "the argument bytes is a number, no text"},
        {"dump rec --names nett", "no recorder is named nett"},
        {"latency rec --from \"> .*\" --to \"< .*\" --by fd",
         "no record that matches has an argument fd"},
        {"latency rec --from a --to b --where \"x5=1\"",
         "no record has an argument x5"},
        {"latency rec --from \"> WORK.*\" --to \"< .*\"",
         "no record is --from > WORK"},
        {"diff rec rec --where \"x5=1\"", "no record has an argument x5"}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        cr_expect_eq(build_run(COMMAND "%s", some[i][0]),
                     *some[i][0] == 'l'                  ? 2
                     : strncmp(some[i][0], "diff", 4) ? 1
                                                      : 125,
                     "%s", some[i][0]);
        cr_expect(strstr(build_text, some[i][1]), "%s: %s", some[i][0],
                  build_text);
    }
    build_must(COMMAND "dump rec --where \"net: bytes=123456\"");
    build_must(COMMAND "spans rec --grep nothing");
    cr_expect(strstr(build_text, "no span among the chosen records"), "%s",
              build_text);
    build_must(COMMAND "latency rec --from \"> [^x].*\" --to \"< .*\"");
    build_must(COMMAND "latency rec --from \"> .*\" --to \"< .*\" --by id "
                       "| head -1");
    cr_expect(strstr(build_text, " pairs, 0 without an end"), "%s", build_text);
}
