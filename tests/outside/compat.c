/* Programs in the words of recorder 1.x, and their output. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#include <unistd.h>

TestSuite(compat, .init = build_begin, .fini = build_end, .timeout = 400);

#define COMPAT BUILD_PROGRAMS "/compat_"
#define INCLUDE "-I" TEST_ROOT "/compat "
#define WARNINGS "-Wall -Wextra -Wundef -Wshadow -Werror -Wno-error=attributes "

/* The functions of -DRECORDER_COMPILE_ONCE, once for all programs of a test. */
static void build_library(void)
{
    build_once("gcc -std=c11 -O1 " WARNINGS INCLUDE "-c " TEST_ROOT
               "/compat/recorder/recorder.c");
}

/* Figures that no two runs share become T; a location loses its folders. */
#define MASK                                                                   \
    " 2>&1 | sed -E \"s/[0-9]+\\.[0-9]{3,}/T/g; s|/[^ ]*/||g\""

static void output_must_be(const char *must)
{
    const char *is = build_text;
    unsigned line = 1;
    if (strcmp(is, must) == 0)
        return;
    for (; *is == *must; is++, must++)
        line += *is == '\n';
    cr_assert_fail("line %u is ...%.80s\nmust be ...%.80s\nof:\n%s", line, is,
                   must, build_text);
}

/* -------------------------------------------------------------- everything --
 */

static const char everything[] =
    "-- dump\n"
    "recorder_traces: Setting traces to recorder_order=0 recorder_reltime=0 "
    "/recorder.*\n"
    "MyRec: once 1\n"
    "MyRec: int -1 long -2 unsigned 3 hex 0x40\n"
    "MyRec: double 2.50 float 0.5 char x percent %\n"
    "MyRec: dropped newline\n"
    "MyRec: string a and b\n"
    "MyRec: width    42|ab    |cd|   T\n"
    "MyRec: in\n"
    " MyRec: deeper\n"
    "  MyRec: at 2\n"
    " MyRec: out\n"
    "MyRec: none\n"
    "Other: 5 1 2 3 4 5\n"
    "Other: 8 1 2 3 4 5 6 7 8\n"
    "Other: 12 1 2 3 4 5 6 7 8 9 10 11 12\n"
    "sized_one: kept\n"
    "MyRec: {%t} and <tree> and {%5t}\n"
    "-- again, two of them\n"
    "Other: 5 1 2 3 4 5\n"
    "Other: 8 1 2 3 4 5 6 7 8\n"
    "Other: 12 1 2 3 4 5 6 7 8 9 10 11 12\n"
    "sized_one: kept\n"
    "-- show\n"
    "output|sized_one: kept|\n"
    "output|MyRec 1 1 1 (0) compat_everything.c:133:once 1|\n"
    "output|MyRec 1 1 1 (0) compat_everything.c:60:int -1 long -2 unsigned 3 "
    "hex 0x40|\n"
    "output|MyRec 1 1 1 (0) compat_everything.c:61:double 2.50 float 0.5 char "
    "x "
    "percent %|\n"
    "output|MyRec 1 1 1 (0) compat_everything.c:62:dropped newline|\n"
    "output|MyRec 1 1 1 (0) compat_everything.c:63:string a and b|\n"
    "output|MyRec 1 1 1 (0) compat_everything.c:64:width    42|ab    |cd|   "
    "T|\n"
    "output|MyRec 1 1 1 (0) compat_everything.c:65:in|\n"
    "output|MyRec 1 1 1 (1) compat_everything.c:66:deeper|\n"
    "output|MyRec 1 1 1 (2) compat_everything.c:67:at 2|\n"
    "output|MyRec 1 1 1 (1) compat_everything.c:68:out|\n"
    "output|MyRec 1 1 1 (0) compat_everything.c:69:none|\n"
    "output|MyRec 1 1 1 (0) compat_everything.c:171:{%t} and <tree> and "
    "{%5t}|\n"
    "sorted|sized_one 1 1 1 (0) compat_everything.c:75:kept|\n"
    "sorted|sized_one: kept|\n"
    "-- trace\n"
    "MyRec: traced <tree>\n"
    "compat_part.c:9:[26] part_rec: limit 8\n"
    "-- timing\n"
    "MyRec: once 1\n"
    "MyRec: int -1 long -2 unsigned 3 hex 0x40\n"
    "MyRec: double 2.50 float 0.5 char x percent %\n"
    "MyRec: dropped newline\n"
    "MyRec: string a and b\n"
    "MyRec: width    42|ab    |cd|   T\n"
    "MyRec: in\n"
    " MyRec: deeper\n"
    "  MyRec: at 2\n"
    " MyRec: out\n"
    "MyRec: none\n"
    "MyRec: {%t} and <tree> and {%5t}\n"
    "MyRec: traced {%t}\n"
    "MyRec: from the part\n"
    "MyRec: Turned 200.00 wheels/s, total 2, 100.00 loops/s, avg duration "
    "10000.00 us, \n"
    "MyRec: Turned 100.00 wheels/s, total 4, 50.00 loops/s, avg duration "
    "10000.00 us, \n"
    "MyRec: Turned 100.00 wheels/s, total 6, 50.00 loops/s, avg duration "
    "10000.00 us, \n";

static const char everything_cxx[] = "0 0\n"
                                     "1 7\n"
                                     "part_rec: limit 8\n"
                                     "cxx: overloads 1 1 1.23\n"
                                     "cxx: POINTER\n"
                                     "cxx: pointer 0\n"
                                     "cxx: strings std::string std::string "
                                     "literal\n"
                                     "cxx: enums 3 1 bool 1 null (nil)\n"
                                     "cxx: constant 42 bits 17 char c\n"
                                     "cxx: reals 1.5 2.5 wide -1\n"
                                     "cxx: method of 4, lambda 5\n"
                                     "cxx: template 8 x\n"
                                     "cxx: twelve 1 2 3 4 5 6 7 8 9 10 11 12\n"
                                     "10\n";

/* Goal: a program that uses every name has the same output, line by line, with
 * nothing to link. */
static void check_c(const char *compiler)
{
    build_must("%s " WARNINGS INCLUDE "-o x " COMPAT "everything.c " COMPAT
               "part.c",
               compiler);
    cr_assert_eq(build_run("./x" MASK), 0);
    output_must_be(everything);
}
Test(compat, everything_gcc)
{
    check_c("gcc -std=c11 -Wstrict-prototypes");
}
Test(compat, everything_clang)
{
    if (build_has("clang"))
        check_c("clang -std=c2x");
}

static void check_cxx(const char *compiler)
{
    build_must("%s " WARNINGS INCLUDE "-o x " COMPAT
               "everything.cc -x c++ " COMPAT "part.c",
               compiler);
    cr_assert_eq(build_run("./x 2>&1 | sed -E \"s/0x.*/POINTER/\""), 0);
    output_must_be(everything_cxx);
}
Test(compat, everything_gxx) { check_cxx("g++ -std=c++17"); }
Test(compat, everything_clangxx, .init = build_long)
{
    if (build_has("clang++"))
        check_cxx("clang++ -std=c++20");
}

/* Goal: the same with the functions in a library, whatever the language, and no
 * word from the compiler in any standard. */
Test(compat, everything_library, .init = build_long)
{
    static const char *const c[] = {"gcc -std=c11 -O2", "gcc -std=gnu17",
                                    "gcc -std=c2x -O2", "clang -std=c11 -O2"};
    static const char *const cxx[] = {"g++ -std=c++11 -O2", "g++ -std=c++14",
                                      "g++ -std=c++17", "g++ -std=c++20 -O2",
                                      "clang++ -std=c++11"};
    size_t i;
    build_library();
    for (i = 0; i < sizeof c / sizeof *c; i++) {
        if (strncmp(c[i], "clang", 5) == 0 && !build_has("clang"))
            continue;
        build_must("%s -DRECORDER_COMPILE_ONCE " WARNINGS INCLUDE "-o x " COMPAT
                   "everything.c " COMPAT "part.c recorder.o",
                   c[i]);
        cr_assert_eq(build_run("./x" MASK), 0);
        output_must_be(everything);
    }
    for (i = 0; i < sizeof cxx / sizeof *cxx; i++) {
        if (strncmp(cxx[i], "clang", 5) == 0 && !build_has("clang++"))
            continue;
        build_must("%s -DRECORDER_COMPILE_ONCE " WARNINGS INCLUDE "-c " COMPAT
                   "everything.cc -x c++ " COMPAT "part.c && %s -o x "
                   "compat_everything.o compat_part.o recorder.o",
                   cxx[i], cxx[i]);
        cr_assert_eq(build_run("./x 2>&1 | sed -E \"s/0x.*/POINTER/\""), 0);
        output_must_be(everything_cxx);
    }
}

static const char compiler_shows[] =
    "types: static 1\n"
    "options: 1 is -trecorder_order=0:recorder_reltime=0:/recorder.*\n"
    "types: main 0\n"
    "gc: New for tree 2\n"
    "types: tree 2 tree 2 tree 2 (nil)\n"
    "types: 1 -1 5 -3 9\n"
    "types: 3 1 3 0\n"
    "types: abc abc abc buffer constants\n"
    "types: (nil) 1 7 3\n"
    "types: 1 -1 -2 0\n"
    "types: a b c 1.5 2.500000\n"
    "types:    yes\n"
    "gc: lambda 2 in record\n"
    "types: value of a lambda 2\n"
    "types: std::function\n"
    "types: Visit tree 2 with 2 arguments, value 3\n"
    "types: Twice 7 of 8 bytes\n"
    "gc: Timed\n"
    "types: log one 1\n"
    "gc: none\n"
    "gc: two 1 2\n"
    "gc: else\n"
    "gc: in for 0\n"
    "gc: in for 1\n"
    "types: last\n";
static const char display_shows[] =
    "frames: none\n"
    "frames: one 1\n"
    "frames: helped 3\n"
    "shown speed: Helped\n"
    "frames: helped 1\n"
    "channel: constructor\n"
    "channel: 3 buffer one 1 5\n"
    "channel: (nil) 255 -1 1099511627776\n"
    "channel: 1 8 1.5 c\n"
    "channel: 0 1 (nil)\n"
    "channel: -1 -3 ffffffff\n"
    "channel: 1 2 3 4 5 6 7 8 9 10 11 12\n"
    "channel: arguments (null)\n"
    "channel: 2 2\n"
    "frames: none\n"
    "frames: one 1\n"
    "channel: not traced\n"
    "channel: twice 6\n"
    "channel: in while\n"
    "frames: helped 3\n"
    "channel: other file 1 text\n"
    "frames: helped 1\n";

/* Goal: programs of the kinds that use recorder 1.x, of several files each,
 * compile without a word and show their records. */
Test(compat, compiler, .init = build_long)
{
    static const char *const compilers[] = {
        "g++ -std=c++14", "g++ -std=c++20 -O2", "clang++ -std=c++17"};
    size_t i;
    build_library();
    for (i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        if (strncmp(compilers[i], "clang", 5) == 0 && !build_has("clang++"))
            continue;
        build_must(
            "%s " WARNINGS "-Wredundant-decls -DRECORDER_COMPILE_ONCE " INCLUDE
            "-DOTHER_FILE -c -o other.o " COMPAT "compiler.cc && "
            "%s " WARNINGS "-Wredundant-decls -DRECORDER_COMPILE_ONCE " INCLUDE
            "-o x " COMPAT "compiler.cc other.o recorder.o",
            compilers[i], compilers[i]);
        build_must("./x -trecorder_order=0:recorder_reltime=0:/recorder.* 2>&1 "
                   "| sed -E \"s/^(gc: Timed).*/\\1/\"");
        output_must_be(compiler_shows);
    }
}

Test(compat, display, .init = build_long)
{
    static const char *const compilers[] = {"gcc -std=gnu99",
                                            "gcc -std=gnu17 -O2",
                                            "clang -std=gnu11"};
    size_t i;
    build_library();
    for (i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        if (strncmp(compilers[i], "clang", 5) == 0 && !build_has("clang"))
            continue;
        build_must(
            "warnings=\"" WARNINGS
            "-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition "
            "-Wredundant-decls -Wnested-externs -Wwrite-strings\"; "
            "%s $warnings -DRECORDER_COMPILE_ONCE " INCLUDE
            "-DOTHER_FILE -c -o other.o " COMPAT "display.c && "
            "%s $warnings -DRECORDER_COMPILE_ONCE " INCLUDE "-o x " COMPAT
            "display.c other.o recorder.o",
            compilers[i], compilers[i]);
        build_must("./x frames 2>log; status=$?; "
                   "sed -E \"s/^(shown speed: Helped).*/\\1/\" log; "
                   "exit $status");
        output_must_be(display_shows);
    }
}

/* Goal: recorders and tweaks of one name, in namespaces and outside of them,
 * are different ones; outside, a C file and a C++ file see the same. */
Test(compat, namespaces)
{
    build_library();
    build_must(
        "gcc -std=c11 -DCOMPAT -DOTHER_FILE -DRECORDER_COMPILE_ONCE " WARNINGS
            INCLUDE "-c -o other.o -x c " BUILD_PROGRAMS "/namespaces.cc");
    build_must(
        "g++ -std=c++11 -DCOMPAT -DRECORDER_COMPILE_ONCE " WARNINGS INCLUDE
        "-o x " BUILD_PROGRAMS "/namespaces.cc other.o recorder.o");
    build_must("./x 2>&1 | sed \"s/.*] //\"");
    output_must_be("shared: other file\n"
                   "net: outside, limit 1\n"
                   "net: app 7, limit 2\n"
                   "net: inner, limit 5\n"
                   "shared: inner\n"
                   "shared_by_all: inner\n"
                   "hidden: hidden\n"
                   "net: main, limit 1\n");
}

/* Goal: a traced line is as long as a dumped one, and the same. */
Test(compat, long_lines)
{
    build_library();
    build_must("gcc -std=c11 -DRECORDER_COMPILE_ONCE " WARNINGS INCLUDE
               "-o x " COMPAT "long.c recorder.o");
    build_must("./x >/dev/null 2>log; wc -l <log; sort log | uniq -u");
    output_must_be("16\n");
}

/* Goal: programs that include recorder_ring.h for its atomic operations compile
 * and get the values of 1.x. */
Test(compat, ring_operations)
{
    build_must("gcc -std=gnu11 " WARNINGS "-I" TEST_ROOT
               "/compat/recorder -o ring " COMPAT "ring.c && ./ring && "
               "g++ -std=c++11 -xc++ " WARNINGS "-I" TEST_ROOT
               "/compat/recorder -o ring " COMPAT "ring.c && ./ring");
}

/* Goal: errors at build time are reported in words. */
Test(compat, refused)
{
    static const struct {
        const char *call, *says;
    } wrong[] = {
        {"record(r, \"%d\", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)",
         "at most 12 arguments"},
        {"record(r, \"%Lf\", 1.0L)", "long double|long_double|cast_it_to"},
        {"record(r, text)", "expected"},
        {"record(nobody, \"text\")", "recorder_for_nobody"},
    };
    static const char *const compilers[] = {
        "gcc -std=c11", "g++ -std=c++17 -x c++", "clang -std=c11",
        "clang++ -std=c++17 -x c++"};
    size_t i, j;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        FILE *file;
        char path[100];
        sprintf(path, "%s/x.c", build_folder);
        file = fopen(path, "w");
        cr_assert_not_null(file);
        fprintf(file,
                "#include \"recorder/recorder.h\"\n"
                "RECORDER(r, 8, \"\");\n"
                "void f(const char *text);\n"
                "void f(const char *text) { (void)text; %s; }\n",
                wrong[i].call);
        fclose(file);
        for (j = 0; j < sizeof compilers / sizeof *compilers; j++) {
            char name[8];
            sscanf(compilers[j], "%7s", name);
            if (!build_has(name))
                continue;
            cr_assert_neq(
                build_run("%s -fsyntax-only -DRECORDER_COMPILE_ONCE " INCLUDE
                          "x.c >log 2>&1",
                          compilers[j]),
                0, "%s: %s", compilers[j], wrong[i].call);
            build_must("grep -E \"%s\" log", wrong[i].says);
        }
    }
}

/* ------------------------------------------------------------------ corpus --
 */

/* How many record statements have how many arguments: XL, DB48X. */
static const unsigned corpus[2][10] = {{24, 82, 112, 86, 41, 1, 0, 0, 0, 0},
                                       {47, 80, 93, 76, 47, 9, 4, 2, 1, 1}};

/* One statement of n arguments, and its output; one in five is a string. */
static void corpus_statement(FILE *program, FILE *shows, unsigned id,
                             unsigned n)
{
    static const struct {
        const char *conversion, *argument, *text;
    } kinds[] = {{"%d", "-7", "-7"},
                 {"%s", "\"text\"", "text"},
                 {"%u", "7u", "7"},
                 {"%#lx", "255ul", "0xff"},
                 {"%.3g", "0.25", "0.25"},
                 {"%p", "(void *)16", "0x10"},
                 {"%c", "(char)65", "A"},
                 {"%+s", "\"kept\"", "kept"},
                 {"%lld", "(long long)-1", "-1"},
                 {"%5hhd", "(short)257", "    1"}};
    unsigned i;
    fprintf(program, "    record(rec_%u, \"%u:", id % 100, id);
    for (i = 0; i < n; i++)
        fprintf(program, " %s", kinds[(id + i) % 10].conversion);
    fprintf(program, "\"");
    for (i = 0; i < n; i++)
        fprintf(program, ", %s", kinds[(id + i) % 10].argument);
    fprintf(program, ");\n");
    fprintf(shows, "rec_%u: %u:", id % 100, id);
    for (i = 0; i < n; i++)
        fprintf(shows, " %s", kinds[(id + i) % 10].text);
    fprintf(shows, "\n");
}

static FILE *open_here(const char *name)
{
    char path[128];
    FILE *file;
    sprintf(path, "%s/%s", build_folder, name);
    file = fopen(path, "w");
    cr_assert_not_null(file);
    return file;
}

/* Goal: as many statements of as many arguments as XL and DB48X have, over 100
 * recorders, show all of them, in order. */
static void check_corpus(const char *compiler, const char *extension)
{
    unsigned which, n, i, id = 0;
    char name[20];
    FILE *program, *shows;
    sprintf(name, "x.%s", extension);
    program = open_here(name);
    shows = open_here("shows");
    fprintf(program, "#include \"recorder/recorder.h\"\n");
    for (i = 0; i < 100; i++)
        fprintf(program, "RECORDER(rec_%u, 16, \"Recorder %u\");\n", i, i);
    fprintf(program, "int main(void)\n{\n    recorder_trace_set("
                     "\"recorder_order=0:recorder_reltime=0\");\n");
    for (which = 0; which < 2; which++)
        for (n = 0; n < 10; n++)
            for (i = 0; i < corpus[which][n]; i++)
                corpus_statement(program, shows, id++, n);
    fprintf(program, "    return recorder_dump_for(\"rec_.*\") != %u;\n}\n",
            id);
    fclose(program);
    fclose(shows);
    build_must("%s -O0 -DRECORDER_COMPILE_ONCE " WARNINGS INCLUDE
               "-c -o x.o x.%s && "
               "%s -o x x.o recorder.o && ./x 2>is && cmp is shows",
               compiler, extension, compiler);
}
Test(compat, corpus, .init = build_long)
{
    build_library();
    check_corpus("gcc -std=c11", "c");
    check_corpus("g++ -std=c++17", "cc");
}

/* ----------------------------------------------------------------- signals --
 */

/* Goal: the variables are read by recorder_dump_on_common_signals(); a crash
 * shows the lines of 1.x and ends the program by its signal; a background dump
 * shows each record once. */
Test(compat, environment_signals_background, .init = build_long)
{
    const char *plain = "MyRec: limit 7\nMyRec: in\n Other: deeper\n";
    char must[300];
    build_library();
    build_must("gcc -std=c11 -DRECORDER_COMPILE_ONCE " WARNINGS INCLUDE
               "-o x " COMPAT "signals.c recorder.o");
    cr_assert_eq(build_run("./x"), 0);
    output_must_be("");
    cr_assert_eq(build_run("RECORDER_TRACES=MyRec ./x"), 0);
    output_must_be("MyRec: limit 7\nMyRec: in\n");
    cr_assert_eq(build_run("RECORDER_TRACES=MyRec:Other RECORDER_TWEAKS="
                           "my_limit=9:recorder_order=1 ./x"),
                 0);
    output_must_be("[6] MyRec: limit 9\n[7] MyRec: in\n[8]  Other: deeper\n");
    cr_assert_eq(build_run("ulimit -c 0; ./x crash"), 128 + SIGABRT);
    sprintf(must,
            "Other: in a constructor\n%s"
            " recorder_signals: Received signal %d, dumping\n",
            plain, SIGABRT);
    cr_assert_not_null(strstr(build_text, must), "%s", build_text);
    cr_assert_eq(strncmp(build_text, "recorder: SIGABRT", 17), 0);
    cr_assert_eq(build_run("RECORDER_DUMP=MyRec ./x stop"), 0);
    output_must_be("MyRec: limit 7\nMyRec: in\n");
    cr_assert_eq(build_run("./x background 2>&1 | grep -c not"), 0);
    output_must_be("1\n");
    /* While 1000 are recorded in a ring of 32, each is shown once, if at all.
     */
    cr_assert_eq(build_run("./x background 2>&1 | sed \"/--/,\\$d\" | "
                           "grep -E \"^ *MyRec: [0-9]+\\$\" | sort | uniq -d | "
                           "wc -l"),
                 0);
    output_must_be("0\n");
    cr_assert_eq(build_run("./x background 2>&1 | grep -c \"MyRec: 999\""), 0);
    output_must_be("2\n");
}

/* Goal: a crash shows the newest records, 1000 lines in all, or all on request;
 * its own lines on that are true here, too, if RECORDER_DUMP names recorders.
 * Method: RECORDER_DUMP with and without a setting. */
Test(compat, a_crash_shows_the_last)
{
    build_must("gcc -std=c11 " WARNINGS INCLUDE "-o x " COMPAT "signals.c");
    build_must("ulimit -c 0; ./x much >said 2>&1; awk \"/Much:/ { shown++ } "
               "/left out/ { left = \\$2 } END { print shown + left, (NR > 950 "
               "&& NR <= 1000) }\" said; grep -o \"set REC.*\" said; "
               "grep Much: said | tail -n 1");
    output_must_be("2000 1\nset RECORDER_DUMP=last=all\n Much: 1999\n");
    build_must("ulimit -c 0; RECORDER_DUMP=last=all ./x much >said 2>&1; "
               "grep -c Much: said; grep -c left.out said; "
               "RECORDER_DUMP=names=Much,last=2 ./x much >few 2>&1; "
               "grep -c Much: few");
    output_must_be("2000\n0\n2\n");
}

/* ------------------------------------------------------------------- alone --
 */

/* Goal: beside the headers of the program, only names that begin with recorder,
 * RECORD, record, ringidx and _recorder enter. Method: the macros that the
 * compiler knows with and without. */
Test(compat, names)
{
    build_must("echo \"#include <stdarg.h>\n#include <stdbool.h>\n"
               "#include <stddef.h>\n#include <stdint.h>\n"
               "#include <sys/syscall.h>\" >a.h");
    build_must("gcc -E -dM a.h | sort >without");
    build_must("(cat a.h; echo \"#include \\\"recorder/recorder.h\\\"\") >b.h");
    build_must("gcc -E -dM " INCLUDE "b.h | sort >with");
    cr_assert_eq(build_run("comm -13 without with | grep -v "
                           "\"^#define \\(RECORD\\|record\\|ringidx\\)\""),
                 1, "%s", build_text);
}
