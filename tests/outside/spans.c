/* RECORDER_SPAN: its records and its price; recorder spans. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

TestSuite(spans, .init = build_begin, .fini = build_end, .timeout = 300);

#define COMMAND TEST_ROOT "/build/recorder "
#define PROGRAM BUILD_PROGRAMS "/spans.c"

/* ----------------------------------------------------------------- macro -- */

static const char in_both[] = "net: > returns 1\n"
                              "net: < returns 1 result=10\n"
                              "net: > returns 2\n"
                              "net: > early\n"
                              "disk: > two in a block\n"
                              "disk: < two in a block result=-2\n"
                              "net: < early\n"
                              "net: < returns 2\n"
                              "net: > loop 0\n"
                              "net: < loop 0\n"
                              "net: > loop 1\n"
                              "net: < loop 1\n"
                              "net: > breaks\n"
                              "net: < breaks\n"
                              "net: > 1 literal array\n"
                              "net: > eleven 1 2 3 4 5 6 7 8 9.5 10 2\n"
                              "net: < eleven 1 2 3 4 5 6 7 8 9.5 10 2 "
                              "result=-1\n"
                              "net: > four 1 2 3 4\n"
                              "net: < four 1 2 3 4 result=0\n"
                              "net: < 1 literal array result=1\n"
                              "disk: > closed while off\n";
static const char in_cxx[] = "net: > try\n"
                             "net: > throws 1\n"
                             "net: > throws 0\n"
                             "net: < throws 0\n"
                             "net: < throws 1\n"
                             "net: < try\n"
                             "net: > caught\n"
                             "net: < caught\n"
                             "net: > member m\n"
                             "net: > lambda 7\n"
                             "net: < lambda 7\n"
                             "net: < member m\n"
                             "net: > template\n"
                             "net: < template result=21\n";
static const char at_end[] = "net: > cancelled\n"
                             "net: > sleeps\n"
                             "net: < sleeps\n"
                             "net: < cancelled\n";

static void closes(const char *compiler)
{
    static const char *const ways[] = {"-O0", "-O2"};
    bool cxx = strstr(compiler, "++") != NULL;
    char *expected;
    cr_assert(
        asprintf(&expected, "%s%s%s", in_both, cxx ? in_cxx : "", at_end) > 0);
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!sampled(i))
            continue;
        build_must("%s %s -fexceptions " BUILD_WARNINGS BUILD_INCLUDE
                   "-o spans " PROGRAM " -lpthread && "
                   "RECORDER_LINE=\"{recorder}: {message}\" ./spans 2>&1 | "
                   "grep -E \"^(net|disk): \"",
                   compiler, ways[i]);
        cr_expect_str_eq(build_text, expected, "%s %s:\n%s", compiler, ways[i],
                         build_text);
    }
    build_must("%s -O2 -DRECORDER_OFF " BUILD_WARNINGS BUILD_INCLUDE
               "-o off " PROGRAM " -lpthread && { ./off; test $? = 1; } && "
               "! nm off | grep recorder_",
               compiler);
    free(expected);
}

/* Goal: however a block is left, its span is closed, with the arguments of its
 * head, which were evaluated once, and with its result; a recorder that is off
 * opens none; with RECORDER_OFF there is no code. */
Test(spans, closed_however_the_block_is_left)
{
    static const char *const compilers[] = {
        "gcc -std=gnu11", "g++ -x c++ -std=c++11", "clang",
        "clang++ -x c++ -std=c++20", "g++ -x c++ -std=c++20"};
    for (unsigned i = 0; i < sizeof compilers / sizeof *compilers; i++)
        if (build_has(i < 2 || i == 4 ? "gcc" : "clang") &&
            (i < 2 || sampled(i)))
            closes(compilers[i]);
}

/* Goal: what is wrong is refused in words. */
Test(spans, mistakes_are_refused)
{
    static const struct {
        const char *body, *said;
    } mistakes[] = {
        {"RECORDER_SPAN(net, \"%d\", 1); RECORDER_SPAN_RESULT(net, 0.5);",
         "a result is an integer, an enum or a pointer"},
        {"RECORDER_SPAN(net, \"x\", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);",
         "at most 11 arguments"},
        {"RECORDER_SPAN(net, \"%s\", 1);", "format"},
        {"const char *f = \"\"; RECORDER_SPAN(net, f);",
         "the format must be a string literal"},
        {"RECORDER_SPAN(net, \"%d: %m\", 1);", "RECORDER_SPAN: no %m"},
        {"record(net, \"%d %d %d %d %d %d %d %d %d %d %d %d: %m\", 1, 2, 3, 4, "
         "5, 6, 7, 8, 9, 10, 11, 12);",
         "at most 11 arguments with %m"}};
    static const char *const compilers[] = {"gcc", "g++ -x c++"};
    for (unsigned i = 0; i < 2 * sizeof mistakes / sizeof *mistakes; i++) {
        FILE *file;
        char path[128];
        snprintf(path, sizeof path, "%s/wrong.c", build_folder);
        file = fopen(path, "w");
        cr_assert(file);
        fprintf(file,
                "#include \"recorder.h\"\nRECORDER(net, 16)\n"
                "int main(void) { %s return 0; }\n",
                mistakes[i / 2].body);
        fclose(file);
        cr_assert(build_run("%s -O2 " BUILD_WARNINGS BUILD_INCLUDE "-c wrong.c",
                            compilers[i % 2]) != 0);
        cr_expect(strstr(build_text, mistakes[i / 2].said), "%s: %s",
                  compilers[i % 2], build_text);
    }
    build_must("printf \"#include \\\"recorder_dump.h\\\"\nRECORDER(net, 64);\n"
               "int main(void) { { RECORDER_SPAN(net, \\\"open: %%%%9m\\\"); } "
               "recorder_dump_fd(1); return 0; }\" | gcc -O0 " BUILD_INCLUDE
               "-x c -o no_errno - && ./no_errno | grep -c \"[<>] open: <no errno>$\"");
    cr_expect_str_eq(build_text, "2\n");
}

/* ------------------------------------------------------------------ cost -- */

/* Goal: a span costs its two records and nothing else: no call, and no code
 * without RECORDER_SPAN. Method: the size of a function with a span beside that
 * of one with two records, and the list of functions. */
Test(spans, cost_two_records)
{
    unsigned long span, two;
    build_must("printf \"#include \\\"recorder.h\\\"\nRECORDER(net, 16)\n"
               "void work(void);\nvoid span(int i);\nvoid two(int i);\n"
               "void span(int i) { RECORDER_SPAN(net, \\\"a %%%%d\\\", i); "
               "work(); }\nvoid two(int i) { record(net, \\\"> a %%%%d\\\", i);"
               " work(); record(net, \\\"< a %%%%d\\\", i); }\n\" >cost.c && "
               "gcc -O2 " BUILD_WARNINGS BUILD_INCLUDE "-c cost.c && "
               "nm cost.o | grep -c span && nm -S cost.o | "
               "sed -n \"s/^[^ ]* \\([^ ]*\\) T [st].*/\\1/p\"");
    cr_assert(sscanf(build_text, "1 %lx %lx", &span, &two) == 2, "%s",
              build_text);
    cr_log_info("%lu bytes, two records %lu", span, two);
    cr_assert(span <= two + 16, "a span has %lu bytes, two records %lu", span,
              two);
}

/* ---------------------------------------------------------- asynchronous -- */

static void async_recording(void)
{
    build_must("gcc -O1 -g " BUILD_WARNINGS BUILD_INCLUDE
               "-o async " BUILD_PROGRAMS "/async.c -lpthread && "
               "./async async.rec");
}

/* Goal: a span that begins in one thread ends in another, by its id; arrows
 * follow its records; a span without an end, or without a beginning, harms
 * none. Method: each export, read by another program. */
Test(spans, across_threads_in_exports, .init = build_long)
{
    static const char *const formats[] = {"perfetto", "sqlite"};
    async_recording();
    for (unsigned i = 0; i < 2; i++) {
        build_must(COMMAND "export %s async.rec -o out.%s", formats[i],
                   formats[i]);
        if (i == 0)
            build_must("protoc --decode=Trace -I" BUILD_PROGRAMS
                       " perfetto.proto <out.perfetto >text && "
                       "mv text out.perfetto");
        build_must("python3 " BUILD_PROGRAMS "/async.py %s out.%s", formats[i],
                   formats[i]);
    }
}

/* ------------------------------------------------------------------ verb -- */

/* Goal: recorder spans counts each span once, with its own time, even among
 * forgotten, crossing or never begun ones. Method: random spans, compared with
 * sums over the records of the dump. */
Test(spans, all_are_counted, .init = build_long)
{
    uint64_t random = seed_of("all_are_counted");
    build_must("gcc -O1 -g " BUILD_WARNINGS BUILD_INCLUDE
               "-o random " BUILD_PROGRAMS "/spans_random.c -lpthread");
    for (unsigned i = 0; i < scaled(20); i++)
        build_must("rm -f r.rec && ./random r.rec %" PRIu64 " && " COMMAND
                   "dump --json r.rec >out.dump && " COMMAND
                   "spans --json r.rec >out && " COMMAND
                   "spans --histogram r.rec >text && "
                   "python3 " BUILD_PROGRAMS "/async.py spans out",
                   random_of(&random));
}

/* Goal: a newcomer sees the spans, and the errors. */
Test(spans, table)
{
    static const char *const must[] = {
        "^SPAN  *COUNT  *TOTAL  *MEDIAN  *99%  *LONGEST  *AT  *OPEN$",
        "^net: request (by id)  *4 .* 1$",
        "^net: named (by id)  *1 .* 0$",
        "^net: serve  *4  *[0-9.]* ms  *[0-9.]* ms  *[0-9.]* ms  *[0-9.]* ms "
        ".* 0$",
        "^net: forgotten  *0  *-  *-  *-  *-  *-  *1$",
        "^recorder: async.rec: 1 record closes a span without a beginning, "
        "overwritten or of another name; the first is 5 of net$"};
    async_recording();
    build_must(COMMAND "spans async.rec >table 2>&1");
    for (size_t i = 0; i < sizeof must / sizeof *must; i++)
        cr_expect_eq(
            build_run("grep -e \"%s\" table || { cat table; false; }", must[i]),
            0, "%s\n%s", must[i], build_text);
    build_must(COMMAND "spans --last 1 async.rec 2>&1");
    cr_expect_not_null(strstr(build_text, "there is no span"), "%s",
                       build_text);
}
