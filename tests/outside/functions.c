/* recorder_functions.h, recorder functions: calls nest as they did. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

TestSuite(functions, .init = build_begin, .fini = build_end, .timeout = 600);

#define RECORDER TEST_ROOT "/build/recorder "
#define PROGRAM BUILD_PROGRAMS "/functions.c"
#define FLAGS "-D_GNU_SOURCE -g -finstrument-functions -Wno-infinite-recursion "
/* The rows without times, a dot for each level. */
#define ROWS " | sed -n \"s/^.\\{26\\}//p\" | sed \"s/  /./g\" | grep -v CALL"

static void program_build(const char *compiler)
{
    build_must("%s " FLAGS "-DHOOKS " BUILD_INCLUDE "-o program " PROGRAM
               " -lpthread",
               compiler);
}

/* Goal: the tree is that of the calls. Method: programs that nest in ten ways;
 * uftrace, where it is installed, reads the same calls, of the same source. */
Test(functions, trees_are_those_of_uftrace)
{
    static const char *const compilers[] = {"gcc -O2", "gcc -O0", "clang -O1"};
    if (build_run("command -v uftrace") != 0)
        build_lacks("uftrace");
    build_needs("uftrace");
    for (unsigned i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        if (!sampled(i) || !build_has(i < 2 ? "gcc" : "clang"))
            continue;
        program_build(compilers[i]);
        build_must("%s " FLAGS "-o plain " PROGRAM " -lpthread", compilers[i]);
        for (int kind = 0; kind <= 10; kind++) {
            build_must(
                "set -e; rm -rf a.rec theirs; RECORDER_FILE=a.rec ./program %d; " RECORDER
                "functions a.rec -j | sed \"s/.*\\\"depth\\\":\\([0-9]*"
                "\\).*\\\"function\\\":\\\"\\([^\\\"]*\\)\\\".*/\\1 \\2/\" "
                ">ours;"
                "uftrace record --no-libcall --no-event -d theirs ./plain %d "
                ">/dev/null 2>&1; uftrace replay -d theirs -f none "
                "--no-comment "
                "2>/dev/null | awk \"/^ *}/ { d--; next } { n = \\$0; "
                "sub(/^ +/, \\\"\\\", n); c = n; sub(/[(].*/, \\\"\\\", c) } "
                "c != \\\"\\\" && c !~ /linux:/ { print d + 0, c; "
                "d += n ~ /{ *\\$/ }\" >uftrace; diff ours uftrace && "
                "test -s ours",
                kind, kind);
        }
    }
}

static const char odd[] = "main()\n"
                          ".odd()\n"
                          "..catches()\n"
                          "...jumps(), left without a return\n"
                          "....jumps(), left without a return\n"
                          ".....jumps(), left without a return\n"
                          "......net: caught\n"
                          "..catches()\n"
                          "...jumps(), left without a return\n"
                          "....jumps(), left without a return\n"
                          ".....jumps(), left without a return\n"
                          "......net: caught\n"
                          "..on_signal()\n"
                          "...leaf()\n"
                          "..net: a signal came\n"
                          "..leaf()\n"
                          "thread()\n"
                          ".leaf()\n"
                          "cancelled(), not returned\n"
                          ".waits(), not returned\n"
                          "..leaf()\n";

/* Goal: longjmp(), a handler on its own stack, a cancelled thread and fork()
 * cross no calls: each thread's tree is right, or marked. */
Test(functions, calls_that_are_left_are_marked)
{
    program_build("gcc -O2");
    build_must("RECORDER_FILE=p%%p.rec ./program 20 && " RECORDER
               "functions $(ls p*.rec | head -1)" ROWS);
    cr_expect_str_eq(build_text, odd, "%s", build_text);
    build_must(RECORDER "functions $(ls p*.rec | tail -1)" ROWS
                        " | grep -c \"leaf()$\"");
    cr_expect_str_eq(build_text, "4\n", "of the child: %s", build_text);
}

/* Goal: the calls of tasks that take turns nest in each task's own tree. */
Test(functions, tasks_have_trees_of_their_own)
{
#define TREE "outer()\n.inner()\n.inner()\nouter()\n.inner()\n.inner()\n"
    build_must("gcc -O1 -g -finstrument-functions " BUILD_INCLUDE
               "-o program " BUILD_PROGRAMS "/functions_tasks.c && "
               "RECORDER_FILE=a.rec ./program && " RECORDER
               "functions a.rec" ROWS);
    cr_expect_str_eq(build_text, TREE TREE, "%s", build_text);
}

/* Goal: exceptions, and names of C++: with gcc each function returns, with
 * clang those that were left are marked. */
Test(functions, exceptions_and_demangled_names)
{
    build_must("g++ -g -O1 -finstrument-functions " BUILD_INCLUDE
               "-o program " BUILD_PROGRAMS "/functions.cc && "
               "RECORDER_FILE=a.rec ./program && " RECORDER
               "functions a.rec" ROWS " | grep -E \"throws|catches|twice\"");
    cr_expect_str_eq(build_text,
                     ".app::catches()\n..app::throws()\n...app::throws()\n"
                     "....app::throws()\n..app::twice<double>()\n"
                     ".app::catches()\n..app::throws()\n...app::throws()\n"
                     "....app::throws()\n..app::twice<double>()\n"
                     ".app::twice<int>()\n",
                     "%s", build_text);
    build_must(RECORDER "spans a.rec | grep -c \"app::throws *6 \"");
    if (!build_has("clang"))
        return;
    build_must("clang++ -g -O1 -finstrument-functions " BUILD_INCLUDE
               "-o program " BUILD_PROGRAMS "/functions.cc && "
               "RECORDER_FILE=b.rec ./program && " RECORDER
               "functions b.rec" ROWS " | grep -c \"throws(), left\"");
    cr_expect_str_eq(build_text, "6\n", "%s", build_text);
}

/* Goal: whatever instruction SIGKILL comes at, what is left is a whole tree, up
 * to the last calls, also of a running program. Method: each call has the only
 * parent that it can have; a handler interrupts calls all the time. */
Test(functions, kills_leave_whole_trees)
{
    static const char check[] =
        "awk -F\\\" \"{ d = \\$0; sub(/.*depth\\\":/, \\\"\\\", d); d += 0; "
        "f = \\$(NF - 1); at[d] = f; p = d ? at[d - 1] : \\\"\\\"; n++ } "
        "f == \\\"second\\\" && p && p != \\\"first\\\" || "
        "f == \\\"third\\\" && p && p != \\\"second\\\" && p != "
        "\\\"on_alarm\\\" "
        "|| f == \\\"first\\\" && p && p != \\\"for_ever\\\" || "
        "\\$0 ~ /\\\"left\\\"|\\\"late\\\"/ { print NR, \\$0; bad = 1 } "
        "END { exit bad || n < 1000 }\"";
    program_build("gcc -O1");
    for (unsigned i = 0; i < scaled(100); i++)
        build_must(
            "rm -f a.rec said; RECORDER_FILE=a.rec ./program 30 >said & p=$!;"
            "until grep -qs ready said; do sleep 0.02; done; "
            "sleep 0.%03u; %s kill -9 $p; wait $p; " RECORDER
            "functions -j a.rec | %s",
            20 + i * 37 % 90, i % 8 ? "" : RECORDER "functions -j $p >live;",
            check);
}

/* Goal: --counts adds up; exports and copies have the calls, too; with
 * RECORDER_OFF there are none. */
Test(functions, counts_spans_and_off)
{
    program_build("gcc -O2");
    build_must("RECORDER_FILE=a.rec ./program 1 && " RECORDER
               "functions --counts -j a.rec | grep fib | "
               "sed \"s/.*calls\\\":\\([0-9]*\\).*returned\\\":\\([0-9]*\\).*/"
               "\\1 \\2/\"");
    cr_expect_str_eq(build_text, "109 109\n", "%s", build_text);
    build_must(RECORDER "export sqlite -o a.db a.rec && sqlite3 a.db "
                        "\"select count(*), max(depth) from span where name = "
                        "\\\"fib\\\"\"");
    cr_expect_str_eq(build_text, "109|9\n", "%s", build_text);
    build_must(RECORDER "save a.rec -o b.rec && " RECORDER
                        "functions b.rec | grep -c \"fib()\"");
    cr_expect_str_eq(build_text, "109\n", "%s", build_text);
    build_must(RECORDER "run -q --always -o r.rec ./program 1 && " RECORDER
                        "functions r.rec | grep -c thread_ || :; " RECORDER
                        "functions --internal r.rec | grep -c thread_self");
    cr_expect_str_eq(build_text, "0\n1\n", "%s", build_text);
    build_must("gcc -O2 -DRECORDER_OFF -DHOOKS " FLAGS BUILD_INCLUDE
               "-o off " PROGRAM " -lpthread && ./off 1");
}

/* Goal: words that no hook writes harm no reader. Method: words of a recording
 * that are not 0 become random, which spares the empty lanes. */
Test(functions, damaged_slots_are_read)
{
    uint64_t random = seed_of("damaged_slots"), word;
    static uint64_t words[1 << 21];
    static size_t used[1 << 21], count;
    char path[100];
    size_t size;
    FILE *file;
    program_build("gcc -O2");
    build_must("RECORDER_FILE=a.rec ./program 8");
    snprintf(path, sizeof path, "%s/a.rec", build_folder);
    file = fopen(path, "r+");
    cr_assert(file);
    size = fread(words, sizeof *words, sizeof words / sizeof *words, file);
    for (size_t i = 1024; i < size; i++) /* after the headers */
        if (words[i])
            used[count++] = i * sizeof *words;
    cr_assert_gt(count, 1000);
    for (unsigned i = 0; i < scaled(100); i++) {
        for (unsigned k = 0; k < 20; k++) {
            word = random_of(&random) >> random_of(&random) % 64;
            fseek(file, (long)used[random_of(&random) % count], SEEK_SET);
            fwrite(&word, sizeof word, 1, file);
        }
        fflush(file);
        cr_assert(build_run(RECORDER "functions a.rec >out") < 3, "%s",
                  build_text);
        cr_assert(build_run(RECORDER "functions --counts a.rec >out") < 3, "%s",
                  build_text);
    }
    fclose(file);
}
