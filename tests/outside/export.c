/* The files of recorder export, read by other people's tools. */
/* SPDX-License-Identifier: MIT */
#define BUILD_SECONDS 150 /* gtkwave, on a busy machine */
#include "harness/build.h"

#define RECORDER TEST_ROOT "/build/recorder"
#define VALUES "--value net:1=bytes --value net:3=load --value numbers:1=number"
#define EXPORT RECORDER " export " VALUES " "

/* Runs tests/programs/export.c, and dumps it to `dump`; ./source is its id. */
static void begin(void)
{
    build_begin();
    build_once("gcc -O1 -g " BUILD_WARNINGS BUILD_INCLUDE
               "-o program " BUILD_PROGRAMS "/export.c -lpthread");
    build_must("./program </dev/null >ready 2>&1 & echo $! >source");
    build_must("for i in $(seq 600); do grep -q ready ready && exit 0; "
               "sleep 0.1; done; exit 1");
    build_must(RECORDER " dump --json $(cat source) >dump");
}
static void end(void)
{
    build_run("kill $(cat source)");
    build_end();
}
TestSuite(export, .init = begin, .fini = end, .timeout = 400);

static const char *const formats[] = {"perfetto", "vcd", "sqlite", "json",
                                      "csv",      "ctf", NULL};
enum { FILES = 5, FORMATS = 6 }; /* all but the last are one file */

static void export_as(const char *format)
{
    bool rows = strcmp(format, "csv") == 0 || strcmp(format, "json") == 0;
    const char *must = rows ? "has no use for --value\n"
                            : "1 of 190 records have no known time: they get "
                              "the time of the record before\n";
    build_must(EXPORT "%s $(cat source) -o out.%s", format, format);
    cr_assert_not_null(strstr(build_text, must), "%s: %s", format, build_text);
}
/* A tool's view of it, or the file itself, must agree with the dump. */
static void must_agree(const char *format, const char *file)
{
    build_must("python3 " BUILD_PROGRAMS "/export.py %s %s dump", format, file);
}

/* Goal: the comparison below can fail. Method: one digit changed in the dump; a
 * record left out. */
Test(export, comparison_sees_a_digit)
{
    export_as("csv");
    must_agree("csv", "out.csv");
    build_must("sed -i \"s/tock 28 29/tock 28 28/\" dump");
    cr_assert_eq(
        build_run("python3 " BUILD_PROGRAMS "/export.py csv out.csv dump"), 1);
    cr_assert_not_null(strstr(build_text, "tock 28 28"), "%s", build_text);
    build_must("sed -i \"s/tock 28 28/tock 28 29/; 100d\" dump");
    cr_assert_eq(
        build_run("python3 " BUILD_PROGRAMS "/export.py csv out.csv dump"), 1);
}

/* Goal: the dump itself has all that the program recorded, exact. */
Test(export, dump_is_json)
{
    static const char *const must[] = {
        "\"arguments\":[-9223372036854775808,9223372036854775807,"
        "18446744073709551615]",
        "\"arguments\":[\"nan\"]",
        "\"arguments\":[\"-inf\"]",
        "\"arguments\":[0.1],\"may_have_changed\":[],\"message\":\"real 0.1\"",
        "\"arguments\":[0.3333333333333333]",
        "\"arguments\":[-0.0]",
        "\"arguments\":[4.94065645841247e-324]",
        "\"arguments\":[123456789.125]",
        "\"arguments\":[1,-2,3,-4,5,-6,7,-8,9,-10,11,-12]",
        "\"arguments\":[\"two\\nlines\\r\\n\\tand a tab\"]",
        "\"arguments\":[\"not UTF-8: \\ufffd\\ufffd \\ufffd( "
        "\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\\ufffd "
        "\\ufffd\\ufffd\"]",
        "\"arguments\":[\"0x1234abcd\",\"0x0\"]",
        "\"location\":\"export.c:",
        "\"file\":\"" BUILD_PROGRAMS "/export.c\"",
        "\"thread\":1,\"thread_name\":\"main\",\"tid\":",
        "\"thread_name\":\"w\\\"\xc3\xa9 <2>\""};
    build_must("cat dump");
    for (size_t i = 0; i < sizeof must / sizeof *must; i++)
        cr_expect_not_null(strstr(build_text, must[i]), "%s", must[i]);
    build_must(EXPORT "json $(cat source) -o out.json && cmp out.json dump");
}

/* Goal: an argument that is a wide character or text equals the message's text,
 * in UTF-8; a precision counts its bytes. */
Test(export, wide_characters_are_whole)
{
    build_must(
        "cat >wide.c <<X\n"
        "#include \"recorder_dump.h\"\n"
        "#include <wchar.h>\n"
        "RECORDER(net, 16)\n"
        "int main(void)\n"
        "{\n"
        "    record(net, \"a=%%lc b=%%ls c=%%.4ls d=%%.3ls|%%c\",\n"
        "           (wint_t)0x20ac, L\"w\\u20ac\", L\"w\\u20acx\",\n"
        "           L\"w\\u20ac\", 233);\n"
        "}\nX\n"
        "gcc " BUILD_INCLUDE "-o wide wide.c && RECORDER_FILE=wide.rec ./wide");
    build_must(RECORDER " dump wide.rec --json --where \"net: a=€ b=w€\" | "
               "grep -o \"\\\"arguments.*]\"");
    cr_assert_str_eq(build_text,
                     "\"arguments\":[8364,\"w€\",\"w€\",\"w\",233],"
                     "\"may_have_changed\":[]\n");
}

Test(export, csv_reads_back)
{
    export_as("csv");
    must_agree("csv", "out.csv");
}

/* Goal: a program's records belong to its user alone, in each kind of file:
 * other users of the machine may not read them. */
Test(export, files_are_for_their_owner)
{
    build_must("umask 000; for i in perfetto vcd sqlite json csv ctf; do "
               RECORDER " export $i $(cat source) -o own.$i || exit 1; done; "
               RECORDER " view $(cat source) --no-open -o own.html && " RECORDER
               " save $(cat source) -o own.rec && test $(find own* -type d -printf "
               "%%m) = 700 && ! find own* -type f -not -perm 600 | grep . && "
               "test $(find own* -type f | wc -l) -gt 9");
    if (geteuid() != 0)
        build_skip("only root becomes another user");
    /* A file that another user left there does not say who may read ours. */
    build_must("chmod 777 . && setpriv --reuid 65534 --clear-groups sh -c "
               "\"umask 0; : >trap\" && " RECORDER
               " export json $(cat source) -o trap && test $(stat -c %%a trap) "
               "= 600");
}

/* Goal: a waveform has integers exactly, which doubles have up to 2^53 only. */
Test(export, vcd_has_exact_integers)
{
    static const char *const must[] = {
        /* 2^53 + 1, -2^63, 2^64 - 1 */
        "b100000000000000000000000000000000000000000000000000001 ",
        "b1000000000000000000000000000000000000000000000000000000000000000 ",
        "b1111111111111111111111111111111111111111111111111111111111111111 ",
        "integer 64 ( words_small", "reg 64 ) words_large",
        "real 64 * words_real", "r0.5 *"};
    build_must("cat >words.c <<X\n"
               "#include \"recorder_dump.h\"\n"
               "RECORDER(words, 16, \"\");\n"
               "int main(void)\n"
               "{\n"
               "    record(words, \"%%lld %%llu %%g\", (1LL << 53) + 1, 7ULL, 0.5);\n"
               "    record(words, \"%%lld %%llu %%d\", -1LL - 0x7fffffffffffffff, "
               "~0ULL, 3);\n"
               "}\nX\n"
               "gcc " BUILD_INCLUDE "-o words words.c && "
               "RECORDER_FILE=words.rec ./words && " RECORDER
               " export vcd words.rec -o - --value words:1=small --value "
               "words:2=large --value words:3=real");
    for (size_t i = 0; i < sizeof must / sizeof *must; i++)
        cr_assert(strstr(build_text, must[i]), "%s: %s", must[i], build_text);
}

/* Goal: a spreadsheet shows texts of a program as text, and numbers as numbers,
 * whatever the texts begin with. */
Test(export, csv_has_no_formulas)
{
    static const char *const must[] = {
        "\"'=1+1,-5,-2.5,-x\"", ",'=1+1,-5,-2.5,'-x,", "'+2 is a message,'+2,",
        "'@SUM(A1) is", "\\t=3 is", "\\r=4 is", "'-7 is a message,'-7,"};
    build_must("cat >cells.c <<X\n"
               "#include \"recorder_dump.h\"\n"
               "RECORDER(cells, 16, \"\");\n"
               "int main(void)\n"
               "{\n"
               "    static const char *const t[] = {\"+2\", \"@SUM(A1)\",\n"
               "        \"\\t=3\", \"\\r=4\", \"-7\"};\n"
               "    record(cells, \"%%s,%%d,%%.1f,%%s\", \"=1+1\", -5, -2.5, "
               "\"-x\");\n"
               "    for (int i = 0; i < 5; i++)\n"
               "        record(cells, \"%%s is a message\", t[i]);\n"
               "}\nX\n"
               "gcc " BUILD_INCLUDE "-o cells cells.c && "
               "RECORDER_FILE=cells.rec ./cells && " RECORDER
               " dump --csv cells.rec >out.csv && " RECORDER
               " export csv cells.rec -o - | cmp - out.csv && cat out.csv");
    for (size_t i = 0; i < sizeof must / sizeof *must; i++)
        cr_assert(strstr(build_text, must[i]), "%s: %s", must[i], build_text);
}

/* Goal: an export says which program it is of and when its records end. */
Test(export, tells_program_and_times)
{
    static const char *const must[] = {
        "out.ctf/metadata", "procname = .program.;",
        "out.ctf/metadata", "end_wall_ns = [1-9][0-9]*;",
        "out.vcd", "[$]comment program program [$]end",
        "out.perfetto", "program"};
    static const char *const of[] = {"ctf", "vcd", "perfetto"};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        build_must(EXPORT "%s $(cat source) -o out.%s", of[i], of[i]);
    for (size_t i = 0; i < sizeof must / sizeof *must; i += 2)
        build_must("grep -a \"%s\" %s", must[i + 1], must[i]);
}

Test(export, perfetto_reads_back)
{
    export_as("perfetto");
    build_must("protoc --decode=Trace -I" BUILD_PROGRAMS " perfetto.proto "
               "<out.perfetto >text");
    must_agree("perfetto", "text");
}

/* Goal: babeltrace2 prints every record and warns of nothing but the records
 * that were overwritten, which it counts. */
Test(export, ctf_reads_back)
{
    export_as("ctf");
    build_must("babeltrace2 --clock-seconds out.ctf 2>warnings >text");
    must_agree("ctf", "text");
    build_must("cat warnings");
    cr_assert_not_null(strstr(build_text, "Tracer discarded 52 events"), "%s",
                       build_text);
    build_must("grep -v \"^WARNING: Tracer discarded 52 events\" warnings | "
               "wc -l");
    cr_assert_eq(atoi(build_text), 0, "%s", build_text);
    build_must("set -e; babeltrace2 --fields=loglevel out.ctf 2>warnings | "
               "grep -c \"TRACE_NOTICE (5) disk:at %%u\"; "
               "grep -A 3 \":%%d, late\" out.ctf/metadata");
    cr_assert_not_null(strstr(build_text, "4\n"), "%s", build_text);
    cr_assert_not_null(strstr(build_text, "loglevel = 4;"), "%s", build_text);
}

/* Goal: values whose names are one, as far as CTF allows names, are two. */
Test(export, ctf_fields_have_names_of_their_own)
{
    build_must(RECORDER
               " export ctf $(cat source) -o out --value numbers:1=a-b "
               "--value numbers:2=a_b --value numbers:3=\"a b\" && "
               "babeltrace2 out 2>warnings | grep \"order = 43,\"");
    cr_assert_not_null(strstr(build_text, "{ a_b = 0, arg2 = -1, arg3 = -2147"),
                       "%s", build_text);
}

/* Goal: gtkwave shows the records, at their times. Method: its script shows all
 * signals; another prints the values in the window; and its other reader, which
 * converts files. */
Test(export, vcd_reads_back)
{
    build_must(EXPORT "vcd $(cat source) -o out.vcd");
    build_must("timeout 140 xvfb-run -a gtkwave -S " TEST_ROOT
               "/tests/view/gtkwave.tcl out.vcd >text");
    must_agree("gtkwave", "text");
    build_must("vcd2fst out.vcd out.fst && fst2vcd out.fst >text");
    must_agree("vcd", "text");
}

/* Goal: sigrok, which knows wires only, reads them without a warning. */
Test(export, plain_vcd_is_for_sigrok)
{
    build_must(EXPORT "vcd --plain $(cat source) -o out.vcd");
    build_must("grep -q \"timescale 10 ns\" out.vcd"); /* of 5 ms */
    build_must("sigrok-cli -i out.vcd -I vcd -O vcd -o text");
    cr_assert_null(strstr(build_text, "gnor"), "%s", build_text);
    must_agree("sigrok", "text");
    cr_assert_eq(build_run("ls out.tcl"), 2, "wires need no script");
}

/* Goal: --messages shows messages in place of formats. */
Test(export, messages_are_names)
{
    build_must(EXPORT "perfetto --messages $(cat source) -o out && "
                      "protoc --decode=Trace -I" BUILD_PROGRAMS
                      " perfetto.proto <out");
    cr_assert_not_null(strstr(build_text, "\n    name: \"level 2\"\n"));
    cr_assert_not_null(strstr(build_text, "\n    name: \"at 2\"\n"));
    cr_assert_null(strstr(build_text, "%u"));
}

Test(export, sqlite_reads_back)
{
    export_as("sqlite");
    must_agree("sqlite", "out.sqlite");
    build_must("sqlite3 out.sqlite \"pragma integrity_check\"");
    cr_assert_str_eq(build_text, "ok\n");
    build_must("sqlite3 -json out.sqlite \"select * from log where ord = 1\"");
    cr_assert_not_null(
        strstr(build_text, "\"thread\":\"main\","
                           "\"recorder\":\"disk\",\"severity\":null,"
                           "\"severity_text\":null,\"kind\":null,"
                           "\"message\":\"> level 0\""),
        "%s", build_text);
}

/* Goal: the tools read a file of one record, too, and one of none; missing
 * records are reported. */
Test(export, few_records)
{
    static const char *const select[] = {"--since 100s", "--names ui --last 1"};
    for (int i = 0; i < 2; i++) {
        build_run("rm -rf out*");
        for (const char *const *format = formats; *format; format++)
            build_must(RECORDER " export %s %s $(cat source) -o out.%s",
                       *format, select[i], *format);
        build_must("protoc --decode=Trace -I" BUILD_PROGRAMS " perfetto.proto "
                   "<out.perfetto | grep -c \"name: .order\" || true");
        cr_expect_eq(atoi(build_text), i, "perfetto: %s", build_text);
        build_must("babeltrace2 out.ctf | wc -l");
        cr_expect_eq(atoi(build_text), i, "ctf: %s", build_text);
        build_must("vcd2fst out.vcd out.fst && fst2vcd out.fst | grep -c "
                   "\"^s\" || true");
        cr_expect_eq(atoi(build_text), i, "vcd: %s", build_text);
        build_must("sqlite3 out.sqlite \"select count(*) from log\"");
        cr_expect_eq(atoi(build_text), i, "sqlite: %s", build_text);
        build_must("wc -l <out.json");
        cr_expect_eq(atoi(build_text), i, "json: %s", build_text);
        build_must("wc -l <out.csv");
        cr_expect_eq(atoi(build_text), 1 + i, "csv: %s", build_text);
    }
    build_must(RECORDER " export vcd --plain --since 100s $(cat source)");
    cr_expect_not_null(strstr(build_text, "there is no record"), "%s",
                       build_text);
}

/* Goal: the options that choose records choose here, too. */
Test(export, chooses_records)
{
    build_must(RECORDER " dump --json --names net --last 3 $(cat source) >a");
    build_must(RECORDER " export json --names net --last 3 $(cat source) >b && "
                        "cmp a b && wc -l <b");
    cr_assert_eq(atoi(build_text), 3);
    build_must(RECORDER
               " export sqlite --names net --last 3 $(cat source) "
               "-o c 2>warnings && sqlite3 c \"select count(*) from event\"");
    cr_assert_eq(atoi(build_text), 3);
}

/* ------------------------------------------------------------------ view -- */

/* Goal: a wrong value is reported, and is the status, as by export. */
Test(export, view_says_what_is_no_value)
{
    cr_assert_eq(build_run(RECORDER " view $(cat source) -o out --value "
                                    "none:1=a --value disk:2=b --value "
                                    "net:1=c"),
                 1);
    cr_expect_not_null(strstr(build_text, "none: no recorder has that name"),
                       "%s", build_text);
    cr_assert_eq(build_run(RECORDER " view $(cat source) -o out --value "
                                    "net:1=c --value disk:2=b"),
                 1);
    cr_expect_not_null(strstr(build_text, "disk has no number as argument 2"),
                       "%s", build_text);
    cr_expect_null(strstr(build_text, "net has"), "%s", build_text);
}

/* Goal: in a folder that others write to, too, the page follows no foreign link
 * and fills no foreign pipe. */
Test(export, view_follows_no_link)
{
    static const char *const traps[] = {"ln -s dear", "mkfifo"};
    build_must("echo dear >dear");
    for (int i = 0; i < 2; i++) {
        int status;
        build_must("%s recorder-$(cat source).html", traps[i]);
        status =
            build_run("TMPDIR=$PWD timeout 90 " RECORDER " view $(cat source)");
        cr_expect_eq(status, 1, "%s: %d", traps[i], status);
        cr_expect_not_null(strstr(build_text, "is not your file"), "%s",
                           build_text);
        build_must("rm recorder-*.html && cat dear");
        cr_expect_str_eq(build_text, "dear\n");
    }
    build_must("for i in 1 2; do TMPDIR=$PWD " RECORDER
               " view $(cat source); done && stat -c %%a recorder-*.html");
    cr_expect_not_null(strstr(build_text, "600\n"), "%s", build_text);
}

/* --------------------------------------------------------------- trouble -- */

/* Fails with 1 and this text; leaves nothing in folder `out`. */
static void must_fail(const char *format, const char *text)
{
    cr_expect_not_null(strstr(build_text, text), "%s: not \"%s\": %s", format,
                       text, build_text);
    build_must("ls -A out | wc -l");
    cr_expect_eq(atoi(build_text), 0, "%s: %s files are left", format,
                 build_text);
}

/* Goal: a full disk yields an error, and neither a file nor half of one.
 * Method: a limit for the size of files, whose signal is ignored, then not. */
Test(export, full_disk_leaves_nothing)
{
    build_must("mkdir out");
    for (int i = 0; i < FORMATS; i++) {
        int status = build_run("trap \"\" XFSZ; ulimit -f 2; " EXPORT
                               "%s $(cat source) -o out/file",
                               formats[i]);
        cr_expect_eq(status, 1, "%s: %d %s", formats[i], status, build_text);
        must_fail(formats[i], strcmp(formats[i], "sqlite") == 0
                                  ? "out/file: "
                                  : "File too large");
        status = build_run(
            "ulimit -f 2; " EXPORT "%s $(cat source) -o out/file", formats[i]);
        cr_expect_eq(status, 128 + SIGXFSZ, "%s: %d %s", formats[i], status,
                     build_text);
        must_fail(formats[i], "");
    }
    for (int i = 0; i < FILES; i++) {
        int status =
            build_run(EXPORT "%s $(cat source) >/dev/full", formats[i]);
        cr_expect_eq(status, 1, "%s: %d", formats[i], status);
        must_fail(formats[i], "standard output: No space left on device");
    }
}

/* Goal: failures to write are reported, before and after. */
Test(export, bad_places_are_said)
{
    build_must("mkdir out full && echo dear >full/file");
    for (int i = 0; i < FORMATS; i++) {
        int status =
            build_run(EXPORT "%s $(cat source) -o none/file", formats[i]);
        cr_expect_eq(status, 1, "%s: %d", formats[i], status);
        must_fail(formats[i], "none/file: No such file or directory");
        status = build_run(EXPORT "%s $(cat source) -o full", formats[i]);
        cr_expect_eq(status, 1, "%s: %d", formats[i], status);
        must_fail(formats[i],
                  i < FILES ? "full: Is a directory" : "full: File exists");
    }
    for (int i = 0; i < FILES; i++) {
        int status = build_run(EXPORT "%s $(cat source) -o - >&-", formats[i]);
        cr_expect_eq(status, 1, "%s: %d", formats[i], status);
        must_fail(formats[i], "standard output: Bad file descriptor");
    }
    build_must("cat full/file && ls -A full | wc -l");
    cr_assert_str_eq(build_text, "dear\n1\n");
}

/* Goal: an existing file is replaced as a whole, links still point to it, pipes
 * and devices stay; an empty folder is like none. */
Test(export, replaces_files_only)
{
    build_must("echo old >file && ln -s file link && mkfifo pipe && "
               "mkdir -p folder/empty");
    build_must(RECORDER
               " export json $(cat source) -o link && cmp file dump && "
               "test -L link");
    build_must("cat pipe >copy & " RECORDER " export "
               "json $(cat source) -o pipe && wait && "
               "cmp copy dump && test -p pipe");
    build_must(EXPORT "ctf $(cat source) -o folder/empty/");
    build_must("test $(babeltrace2 folder/empty 2>/dev/null | wc -l) = "
               "$(wc -l <dump)");
    /* A user who opened a file to others has opened its replacement. */
    build_must("echo old >mode && chmod 640 mode && " RECORDER
               " export json $(cat source) -o mode && stat -c %%a mode");
    cr_assert_str_eq(build_text, "640\n");
    build_must("ls -A | grep -c \"^.recorder\" || true");
    cr_assert_str_eq(build_text, "0\n");
}

/* Goal: beside a waveform, only a script of ours is replaced. Method: a
 * stranger's file, a link to one, and a script of an earlier export. */
Test(export, script_replaces_only_ours)
{
    build_must("echo precious >x.tcl && echo dear >file && ln -s file y.tcl");
    for (int i = 0; i < 2; i++) {
        build_must(RECORDER " export vcd $(cat source) -o %c.vcd", "xy"[i]);
        cr_assert_not_null(strstr(build_text, ".tcl exists and is not by "
                                              "recorder export: it stays"),
                           "%s", build_text);
    }
    build_must("cat x.tcl y.tcl && test -L y.tcl");
    cr_assert_str_eq(build_text, "precious\ndear\n");
    for (int i = 0; i < 2; i++) {
        build_must(RECORDER " export vcd $(cat source) -o z.vcd && "
                            "grep gtkwave:: z.tcl >said.tcl");
        cr_assert_null(strstr(build_text, "stays"), "%s", build_text);
        build_must("sed -i \"s/Zoom_Full//\" z.tcl");
    }
    build_must(RECORDER " export vcd $(cat source) -o z.vcd && "
                        "grep Zoom_Full z.tcl");
}

/* Goal: standard output gets the same bytes as the file. */
Test(export, streams)
{
    for (int i = 0; i < FILES; i++) {
        export_as(formats[i]);
        build_must(EXPORT "%s $(cat source) -o - >a", formats[i]);
        build_must(EXPORT "%s $(cat source) | cat >b && cmp a b", formats[i]);
        if (strcmp(formats[i], "sqlite") != 0)
            build_must("cmp a out.%s", formats[i]);
        else
            must_agree("sqlite", "a");
    }
}

/* Goal: a wrong call is reported, with status 2. */
Test(export, misuse_is_said)
{
    static const struct {
        const char *call, *text;
    } wrong[] = {
        {"xml $(cat source)",
         "xml is no format; there are perfetto, ctf, vcd, "
         "sqlite, json, csv\n"},
        {"", "FORMAT and SOURCE are missing; formats are perfetto, ctf"},
        {"$(cat source)", " is no format; there are "},
        {"json", "SOURCE is missing: the id of a running process, a core file "
                 "or a recording\n"},
        {"ctf $(cat source)", "it needs -o FOLDER"},
        {"ctf $(cat source) -o -", "it needs -o FOLDER"},
        {"perfetto --value net $(cat source)", "it should be RECORDER:N"},
        {"perfetto --value net:13=x $(cat source)", "it should be RECORDER:N"},
        {"perfetto --value net:1= $(cat source)", "it should be RECORDER:N"},
        {"perfetto --value \"(:1=x\" $(cat source)", "missing )"},
        {"perfetto --value net:1=order $(cat source)", "order is something else"},
        {"perfetto --value net:1=a --value n.*:1=b $(cat source)",
         "net has a value of that argument"},
        {"perfetto --value net:1=a --value net:2=a $(cat source)",
         "net has a value of that name"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int status = build_run(RECORDER " export %s", wrong[i].call);
        cr_expect_eq(status, 2, "%s: %d", wrong[i].call, status);
        cr_expect_not_null(strstr(build_text, wrong[i].text), "%s: %s",
                           wrong[i].call, build_text);
    }
    build_must(RECORDER " export json --plain $(cat source) -o x");
    cr_expect_not_null(strstr(build_text, "json has no use for --plain"));
    build_must(RECORDER " export vcd --plain $(cat source) -o x");
    cr_expect_null(strstr(build_text, "no use"));
    cr_assert_eq(build_run(RECORDER " export perfetto --value none:1=a --value "
                                    "ui:1=b $(cat source) -o x"),
                 1);
    cr_expect_not_null(strstr(build_text, "no recorder has that name"));
    cr_expect_null(strstr(build_text, "ui has no number as argument 1"),
                   "a character is one: %s", build_text);
}
