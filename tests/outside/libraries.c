/* One registry, one counter and one list for all files and libraries. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#include <string.h>

#define HOST BUILD_PROGRAMS "/host.c"
#define PART BUILD_PROGRAMS "/part.c"
#define DECLARED BUILD_PROGRAMS "/declared.c"
#define SELFTEST BUILD_PROGRAMS "/selftest.c"
#define WITH BUILD_WARNINGS BUILD_INCLUDE
#define LIBRARY WITH "-O2 -fPIC -shared "

TestSuite(libraries, .init = build_begin, .fini = build_end);

/* A command that must print "ok" and nothing else. */
#define must_say_ok(...)                                                       \
    do {                                                                       \
        int said_ = build_run(__VA_ARGS__);                                    \
        cr_expect(said_ == 0 && strcmp(build_text, "ok\n") == 0,               \
                  "status %d of: %s\n%s", said_, build_command, build_text);   \
    } while (0)

/* Each compiler as C and, the second two, as C++. */
static const struct {
    const char *command, *as;
} compilers[] = {{"gcc", "gcc"},
                 {"clang", "clang"},
                 {"g++", "g++ -x c++"},
                 {"clang++", "clang++ -x c++"}};
enum { COMPILERS = sizeof compilers / sizeof compilers[0] };

/* Goal: the files of a program share one registry, with any compilers. Method:
 * a part by each compiler, linked with a program in C and one in C++; each part
 * must return the next order, see the thread's number and find the others'
 * records. */
Test(libraries, files_of_many_compilers, .init = build_long)
{
    char parts[256] = "", objects[256] = "";
    unsigned i;
    for (i = 0; i < COMPILERS; i++) {
        if (!build_has(compilers[i].command))
            continue;
        build_must("%s -O2 " WITH "-DPART=p%u -c -o p%u.o " PART,
                   compilers[i].as, i, i);
        sprintf(parts + strlen(parts), "X(p%u) ", i);
        sprintf(objects + strlen(objects), "p%u.o ", i);
    }
    for (i = 0; i < COMPILERS; i++) {
        if (!build_has(compilers[i].command))
            continue;
        build_must("%s -O2 " WITH "-c -o host.o \"-DPARTS=%s\" " HOST,
                   compilers[i].as, parts);
        build_must("g++ -o host host.o %s -lpthread -ldl", objects);
        must_say_ok("./host");
        must_say_ok("./host fork");
    }
}

/* Goal: the same for libraries that are linked at start. Method: the same
 * parts as shared libraries, one of them with its symbols hidden. */
Test(libraries, linked_at_start)
{
    char parts[256] = "", libraries[256] = "";
    unsigned i;
    for (i = 0; i < COMPILERS; i++) {
        if (!build_has(compilers[i].command))
            continue;
        build_must("%s " LIBRARY "%s -DPART=p%u -o libp%u.so " PART,
                   compilers[i].as, i % 2 ? "-fvisibility=hidden" : "", i, i);
        sprintf(parts + strlen(parts), "X(p%u) ", i);
        sprintf(libraries + strlen(libraries), "-lp%u ", i);
    }
    for (i = 0; i < COMPILERS; i++) {
        if (!build_has(compilers[i].command))
            continue;
        build_must("%s " WITH "-O2 -o host \"-DPARTS=%s\" " HOST
                   " -L. -Wl,-rpath,. %s -lpthread -ldl",
                   compilers[i].as, parts, libraries);
        must_say_ok("./host");
        must_say_ok("./host fork");
    }
}

/* Builds a library by each compiler, half of them hidden. Returns in `open`
 * what host.c takes to open them, in two modes. */
static void build_libraries(char *open_local, char *open_mixed)
{
    unsigned i, hidden;
    open_local[0] = open_mixed[0] = '\0';
    for (i = 0; i < COMPILERS; i++) {
        if (!build_has(compilers[i].command))
            continue;
        for (hidden = 0; hidden < 2; hidden++) {
            build_must("%s " LIBRARY "%s -DPART=p%u%u -o p%u%u.so " PART,
                       compilers[i].as, hidden ? "-fvisibility=hidden" : "", i,
                       hidden, i, hidden);
            sprintf(open_local + strlen(open_local), "./p%u%u.so:p%u%u:l ", i,
                    hidden, i, hidden);
            sprintf(open_mixed + strlen(open_mixed), "./p%u%u.so:p%u%u:%c ", i,
                    hidden, i, hidden, i % 2 ? 'l' : 'g');
        }
    }
}

/* Goal: libraries opened by dlopen() share the program's registry and thread
 * numbers; closed, their recorders are gone; opened again, they are back; and
 * so in the child of a fork(). Method: programs that export their symbols and
 * programs that do not, of each kind, open a library of each compiler. */
Test(libraries, opened_later, .init = build_long)
{
    static const char *const programs[] = {
        "gcc -O2",
        "gcc -O2 -rdynamic",
        "gcc -O2 -fvisibility=hidden",
        "gcc -O0 -no-pie -fno-pie",
        "gcc -O2 -fPIE -pie -Wl,-z,now",
        "gcc -O2 -s",
        "gcc -O2 -flto",
        "g++ -O2 -x c++",
        "g++ -O2 -x c++ -rdynamic",
        "clang -O2",
        "clang -O2 -rdynamic -no-pie",
        "clang++ -O2 -x c++ -fvisibility=hidden"};
    char local[512], mixed[512], compiler[16];
    unsigned i;
    build_libraries(local, mixed);
    for (i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        sscanf(programs[i], "%15s", compiler);
        if (!sampled(i) || !build_has(compiler))
            continue;
        build_once("%s " WITH "-o host " HOST " -lpthread -ldl", programs[i]);
        must_say_ok("./host open %s # %s", local, programs[i]);
        must_say_ok("./host open %s # %s", mixed, programs[i]);
        must_say_ok("./host fork %s # %s", local, programs[i]);
        must_say_ok("./host fork %s # %s", mixed, programs[i]);
    }
}

/* Goal: a library that starts before the program, which does not export its
 * registry, shares it and the numbers of threads all the same; a second one
 * does, too. Method: libraries that record are preloaded. */
Test(libraries, preloaded, .init = build_long)
{
    static const char *const programs[] = {"gcc -O2", "gcc -O2 -rdynamic",
                                           "clang -O0 -no-pie -fno-pie",
                                           "g++ -O2 -x c++ -s"};
    unsigned i;
    build_must("gcc " LIBRARY "-DPART=one -o one.so " PART);
    build_must("g++ -x c++ " LIBRARY
               "-fvisibility=hidden -DPART=two -o two.so " PART);
    for (i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (strncmp(programs[i], "clang", 5) == 0 && !build_has("clang"))
            continue;
        build_once("%s " WITH "-o host " HOST " -lpthread -ldl", programs[i]);
        must_say_ok("LD_PRELOAD=./one.so ./host preloaded ./one.so:one:l # %s",
                    programs[i]);
        must_say_ok("LD_PRELOAD=\"./one.so ./two.so\" ./host preloaded "
                    "./one.so:one:l ./two.so:two:l # %s",
                    programs[i]);
    }
}

/* Goal: a library that gave threads their numbers may be closed, and another
 * one gives them. Method: a program that has a registry and records nothing. */
Test(libraries, numbers_of_a_closed_library)
{
    build_must("gcc " LIBRARY "-DPART=one -o one.so " PART);
    build_must("gcc " LIBRARY "-DPART=one -o other.so " PART);
    build_must("gcc -O2 " WITH "-o bystander " BUILD_PROGRAMS
               "/bystander.c -ldl");
    must_say_ok("./bystander ./one.so ./other.so ./one.so");
}

/* Goal: the same on a 32-bit machine. */
Test(libraries, opened_later_32, .init = build_long)
{
    static const char *const exports[] = {"", "-rdynamic"};
    unsigned i;
    build_needs_flags("gcc", "-m32");
    build_must("gcc -m32 " LIBRARY "-DPART=one -o one.so " PART);
    for (i = 0; i < 2; i++) {
        build_once("gcc -m32 -O2 %s " WITH "-o host " HOST " -lpthread -ldl",
                   exports[i]);
        must_say_ok("./host open ./one.so:one:l # -m32 %s", exports[i]);
        must_say_ok("./host fork ./one.so:one:g # -m32 %s", exports[i]);
        must_say_ok("./host storm %u ./one.so:one:l # -m32 %s",
                    scaled(500), exports[i]);
    }
}

/* Goal: in a program without a recorder, libraries that are opened for all to
 * see share the registry of the first. */
Test(libraries, program_without_a_recorder)
{
    build_must("gcc " LIBRARY "-DPART=one -o one.so " PART);
    build_must("gcc " LIBRARY "-fvisibility=hidden -DPART=two -o two.so " PART);
    build_must("gcc -O2 -o bare " BUILD_PROGRAMS "/bare.c -ldl");
    must_say_ok("./bare ./one.so one ./two.so two");
}

/* Goal: a library may record into the program's recorder. Method: the part has
 * RECORDER_DECLARE_SHARED(host), the program exports it. */
Test(libraries, recorder_of_the_program)
{
    build_must(
        "gcc " LIBRARY
        "-DPART=guest -DPART_KEEPS=host -DPART_BORROWS -o guest.so " PART);
    build_once("gcc -O2 -rdynamic " WITH "-DPART=own -o host " HOST
               " -lpthread -ldl");
    build_must("gcc " LIBRARY "-DPART=other -o other.so " PART);
    must_say_ok("./host borrow ./other.so:other:l ./guest.so:guest:l");
    must_say_ok("./host borrow ./other.so:other:g ./guest.so:guest:g");
}

/* Goal: a library may record into another library's recorder, with the
 * program's orders, even if it has no recorder. */
Test(libraries, recorder_of_another_library, .init = build_long)
{
    static const char *const exports[] = {"", "-rdynamic"};
    unsigned i;
    build_must("gcc " LIBRARY "-DPART=one -DPART_SHARES -o one.so " PART);
    build_must(
        "gcc " LIBRARY
        "-DPART=guest -DPART_KEEPS=one -DPART_BORROWS -o guest.so " PART);
    for (i = 0; i < 2; i++) {
        build_once("gcc -O2 %s " WITH "-o host " HOST " -lpthread -ldl",
                   exports[i]);
        must_say_ok("./host borrow ./one.so:one:g ./guest.so:guest:l # %s",
                    exports[i]);
        must_say_ok("./host borrow ./one.so:one:g ./guest.so:guest:g # %s",
                    exports[i]);
    }
}

/* Goal: two libraries that define a recorder of the same name have a ring each,
 * and do no harm to each other, not even when one of them is closed. */
Test(libraries, same_name_twice, .init = build_long)
{
    static const char *const exports[] = {"", "-rdynamic"};
    unsigned i;
    build_must("gcc " LIBRARY "-DPART=a -DPART_KEEPS=twin -o a.so " PART);
    build_must("gcc " LIBRARY "-DPART=b -DPART_KEEPS=twin -o b.so " PART);
    for (i = 0; i < 2; i++) {
        build_once("gcc -O2 %s " WITH "-o host " HOST " -lpthread -ldl",
                   exports[i]);
        must_say_ok("./host twins ./a.so:a:l ./b.so:b:l # %s", exports[i]);
        must_say_ok("./host twins ./a.so:a:g ./b.so:b:g # %s", exports[i]);
        must_say_ok("./host twins ./a.so:a:g ./b.so:b:l # %s", exports[i]);
    }
}

/* Goal: all outputs say which library a recorder is of, where another has the
 * same name; `static` in front of RECORDER is permitted. */
Test(libraries, outputs_name_the_library)
{
    static const char *const outputs[][3] = {
        {"recorder list two.rec", "net of net16.so", "net of net256.so"},
        {"recorder list --rates two.rec", "net of net16.so", "net of net256.so"},
        {"recorder list --json two.rec", "\"recorder\":\"net of net16.so\"",
         "\"recorder\":\"net of net256.so\""},
        {"recorder dump two.rec", "DUMPING net of net16.so SIZE 16,",
         "DUMPING net of net256.so SIZE 256,"},
        {"recorder dump --names \"net of net16.so|net\" two.rec", "size=16\n",
         "size=256\n"},
        {"recorder dump --names \"net of net16.*\" two.rec", "size=16\n", "net:"},
        {"recorder dump --json two.rec", "\"recorder\":\"net of net16.so\"",
         "\"recorder\":\"net of net256.so\""},
        {"recorder export csv two.rec -o -", ",net of net16.so,",
         ",net of net256.so,"},
        {"recorder spans two.rec", "net of net16.so: size ",
         "net of net256.so: size "},
        {"recorder export vcd two.rec -o -", " net_of_net16_so_message ",
         " net_of_net256_so_message "},
        {"recorder export perfetto two.rec -o - | tr \"[:cntrl:]\" \"[\\n*]\"",
         "net of net16.so\n", "net of net256.so\n"},
        {"rm -f ctf/* && recorder export ctf two.rec -o ctf && cat ctf/metadata",
         "net of net16.so", "net of net256.so"},
        {"recorder export sqlite two.rec -o two.db && sqlite3 two.db "
         "\"select recorder, size from log\"",
         "net of net16.so|16\n", "net of net256.so|256\n"}};
    build_must("echo \"#include \\\"recorder.h\\\"\nstatic RECORDER(net, SIZE);\n"
               "__attribute__((constructor)) static void starts(void)\n"
               "{ record(net, \\\"> size=%%d\\\", SIZE); }\" "
               ">net.c && for size in 16 256; do gcc " LIBRARY
               "-DSIZE=$size -o net$size.so net.c; done");
    build_must("printf \"#include \\\"recorder_dump.h\\\"\nint main(void) "
               "{ return system(LIST \\\" \\$PPID\\\"); }\" | "
               "gcc -include stdlib.h " WITH "-DLIST=\\\"" TEST_ROOT
               "/build/recorder\\ list\\\" -x c -o two - -x none "
               "-Wl,--no-as-needed ./net16.so ./net256.so && ./two");
    cr_expect(strstr(build_text, "\nnet of net16.so  ") &&
                  strstr(build_text, "\nnet of net256.so "),
              "%s", build_text);
    build_must("RECORDER_FILE=two.rec ./two >live");
    for (unsigned i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        build_must("export PATH=" TEST_ROOT "/build:$PATH; %s", outputs[i][0]);
        for (unsigned k = 1; k < 3; k++)
            cr_expect(strstr(build_text, outputs[i][k]), "%s: %s", outputs[i][0],
                      build_text);
    }
}

/* Goal: modules that were compiled for tables of different sizes keep to the
 * one that there is. Method: 300 living threads, the table of the program 8
 * rows and the library's idea of it 4096, and the other way round. */
Test(libraries, tables_of_two_sizes, .init = build_long)
{
    static const char *const exports[] = {"", "-rdynamic"};
    unsigned i;
    build_must("gcc " LIBRARY "-DPART=many -o many.so " PART);
    build_must("gcc " LIBRARY
               "-DRECORDER_THREADS=8 -DPART=few -o few.so " PART);
    for (i = 0; i < 2; i++) {
        build_once("gcc -O2 -DRECORDER_THREADS=8 %s " WITH "-o host " HOST
                   " -lpthread -ldl",
                   exports[i]);
        must_say_ok("./host crowd 300 ./many.so:many:l # %s", exports[i]);
        build_once("gcc -O2 %s " WITH "-o host " HOST " -lpthread -ldl",
                   exports[i]);
        must_say_ok("./host crowd 300 ./few.so:few:l # %s", exports[i]);
    }
}

/* Goal: a library with three recorders may come and go while others record and
 * read: no reader meets memory that is gone, no order comes twice, and nothing
 * is left in the list. Method: 10,000 times, with 4 writers and 1 reader. */
Test(libraries, come_and_go)
{
    static const char *const exports[] = {"", "-rdynamic"};
    unsigned i;
    for (i = 0; i < 3; i++)
        build_must("gcc -O2 -fPIC " WITH "-DPART=p%u -c -o p%u.o " PART, i, i);
    build_must("gcc -shared -o p.so p0.o p1.o p2.o");
    for (i = 0; i < 2; i++) {
        build_once("gcc -O2 %s " WITH "-o host " HOST " -lpthread -ldl",
                   exports[i]);
        must_say_ok("./host storm %u ./p.so:p1:l # %s",
                    scaled(i ? 2000 : 10000), exports[i]);
    }
}

/* ThreadSanitizer fails with addresses as random as some kernels' are; each
 * start is chance, and so all run as `setarch -R` does. */
static bool build_sanitizes(const char *compiler)
{
    if (build_run("echo \"int main(void) { return 0; }\" >can.c && %s -o can "
                  "can.c && setarch -R ./can",
                  compiler) == 0)
        return true;
    fprintf(stderr, "left out: %s builds nothing that runs here\n", compiler);
    return false;
}

/* Goal: the sanitizers have nothing to say, not even where a library looks for
 * the program's registry in the program's memory. */
Test(libraries, sanitizers, .init = build_long)
{
    static const char *const ways[] = {
        "gcc -fsanitize=address", "gcc -fsanitize=thread",
        "clang -fsanitize=address", "clang -fsanitize=thread"};
    static const char *const exports[] = {"", "-rdynamic"};
    unsigned i, j;
    for (i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (!sampled(5 * i / 3) || !build_sanitizes(ways[i]))
            continue;
        build_must("%s -g -O1 -fPIC -shared " WITH "-DPART=one -o one.so " PART,
                   ways[i]);
        for (j = 0; j < 2; j++) {
            build_once("%s -g -O1 %s " WITH "-o host " HOST " -lpthread -ldl",
                       ways[i], exports[j]);
            must_say_ok("setarch -R ./host open ./one.so:one:l # %s %s",
                        ways[i], exports[j]);
            must_say_ok("setarch -R ./host fork ./one.so:one:l # %s %s",
                        ways[i], exports[j]);
            must_say_ok("setarch -R ./host storm 100 ./one.so:one:l # %s %s",
                        ways[i], exports[j]);
        }
    }
}

/* Goal: records from before main are kept, even in a recorder that is defined
 * in a later file, and records at exit, too. */
Test(libraries, before_main)
{
    unsigned i, late;
    for (i = 0; i < COMPILERS; i++) {
        static const char *const ways[] = {"-O2", "-O0 -fPIC", "-static"};
        unsigned way;
        if (!build_has(compilers[i].command))
            continue;
        for (way = 0; way < 3; way++) {
            if (!sampled(3 * i + way))
                continue;
            build_must("%s %s " WITH "-c -o early.o " BUILD_PROGRAMS "/early.c",
                       compilers[i].as, ways[way]);
            build_must("%s %s " WITH "-DPART=late -c -o late.o " PART,
                       compilers[i].as, ways[way]);
            for (late = 0; late < 2; late++) {
                build_must("g++ %s -o early %s -lpthread", ways[way],
                           late ? "early.o late.o" : "late.o early.o");
                must_say_ok("./early # %s %s", compilers[i].as, ways[way]);
            }
        }
    }
}

/* Goal: with RECORDER_COMPILE_ONCE any file calls the functions of all doors, and
 * one has them. Method: a program of three files, by each compiler and the body
 * by another, which must link, silently, and dump, crash and make a recording
 * as one file does; a file that only declares has no function of ours. */
Test(libraries, any_file_dumps)
{
    unsigned i;
    for (i = 0; i < COMPILERS; i++) {
        const char *as = compilers[i].as;
        if (!sampled(i) || !build_has(compilers[i].command))
            continue;
        build_must("%s -O1 -Wredundant-decls " WITH
                   "-DRECORDER_COMPILE_ONCE -DBODY -c -o body.o " DECLARED,
                   compilers[(i + 1) % COMPILERS].as);
        build_must("%s -O1 -Wredundant-decls " WITH
                   "-DRECORDER_COMPILE_ONCE -DMAIN -c -o main.o " DECLARED,
                   as);
        build_must("%s -O1 -Wredundant-decls " WITH
                   "-DRECORDER_COMPILE_ONCE -DOTHER -c -o other.o " DECLARED,
                   as);
        build_must("! nm other.o | grep -E \"[tTW] recorder_(dump|next|batch|"
                   "task_|trigger|format|trace)\"");
        build_must("g++ -o declared main.o other.o body.o -lpthread");
        build_must("./declared");
        cr_expect_not_null(strstr(build_text, "\nseen here\nin a job\n"
                                              "1 seen, dumped\n"),
                           "%s", build_text);
        cr_expect_not_null(strstr(build_text, " T2] disk: in a job\n"), "%s",
                           build_text);
        cr_expect_eq(build_run("ulimit -c 0; ./declared crash"), 128 + SIGSEGV);
        cr_expect_not_null(strstr(build_text, "] net: 2 arguments\n"), "%s",
                           build_text);
        build_must(
            "rm -f declared.rec; "
            "RECORDER_FILE=declared.rec ./declared >/dev/null && " TEST_ROOT
            "/build/recorder dump declared.rec | "
            "grep \" T2\\] disk: in a job\"");
    }
}

/* Builds selftest.c in one way, and runs it. */
static void selftest(const char *compiler, const char *way)
{
    if (strcmp(way, "as a library") == 0) {
        build_must("%s " LIBRARY "-DSELFTEST_LIBRARY -o selftest.so " SELFTEST
                   " -lpthread",
                   compiler);
        build_must("gcc -o load " BUILD_PROGRAMS "/load.c -ldl");
        must_say_ok("./load ./selftest.so # %s", compiler);
        return;
    }
    build_must("%s %s " WITH "-o selftest " SELFTEST " -lpthread", compiler,
               way);
    must_say_ok("./selftest # %s %s", compiler, way);
}

static void selftest_all(unsigned at)
{
    static const char *const ways[] = {
        "-O0",
        "-O1",
        "-O2",
        "-O3 -march=native",
        "-Os",
        "-O2 -flto",
        "-O2 -static",
        "-O2 -fPIE -static-pie",
        "-O2 -fPIE -pie",
        "-O2 -fno-pie -no-pie",
        "-O2 -fPIC",
        "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections",
        "-O1 -fsanitize=undefined -fno-sanitize-recover=all",
        "-O2 -m32",
        "-O2 -m32 -fPIC",
        "-O2 -m32 -static"};
    unsigned i;
    build_needs(compilers[at].command);
    for (i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        bool everywhere = !strstr(ways[i], "-m32") &&
                          !strstr(ways[i], "-static") &&
                          !strstr(ways[i], "-fsanitize");
        if (!sampled(at + i)) /* of each way, one compiler */
            continue;
        if (everywhere || build_can(compilers[at].as, ways[i]))
            selftest(compilers[at].as, ways[i]);
    }
    selftest(compilers[at].as, "as a library");
}

/* Goal: every build of a program keeps its records. Method: one program, which
 * reads back its records, in all ways to optimize and to link. */
Test(libraries, builds_by_gcc) { selftest_all(0); }
Test(libraries, builds_by_clang) { selftest_all(1); }
Test(libraries, builds_by_gxx) { selftest_all(2); }
Test(libraries, builds_by_clangxx) { selftest_all(3); }
