/* recorder.h under all compilers: their warnings and their code. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#include <string.h>

#define EVERYTHING BUILD_PROGRAMS "/everything.c"
#define SYMBOLS BUILD_PROGRAMS "/symbols.c"

TestSuite(languages, .init = build_begin, .fini = build_end);

/* Compiles everything.c and headers.c as the n-th language, in three ways, and
 * runs them. */
static void speak(const char *compiler, const char *language, unsigned n)
{
    static const char *const ways[] = {
        "-O2", "-O2 -DRECORDER_OFF -DSTDIO_FIRST", "-O0 -DSTDIO_FIRST"};
    unsigned i;
    for (i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int status;
        if (!sampled(3 * n + i))
            continue;
        status = build_run("%s %s %s " BUILD_WARNINGS BUILD_INCLUDE
                           "-o everything " EVERYTHING " -lpthread",
                           compiler, language, ways[i]);
        cr_assert_eq(status, 0, "%s\n%s", build_command, build_text);
        status = build_run("./everything");
        cr_expect(status == 0 && strcmp(build_text, "ok\n") == 0,
                  "%s %s %s: status %d\n%s", compiler, language, ways[i],
                  status, build_text);
        status = build_run("%s %s %s " BUILD_WARNINGS BUILD_INCLUDE
                           "-o headers " BUILD_PROGRAMS "/headers.c && "
                           "./headers 2>&1",
                           compiler, language, ways[i]);
        cr_expect(status == 0 && strstr(build_text, "ok\n"),
                  "%s %s %s: status %d\n%s", compiler, language, ways[i],
                  status, build_text);
    }
}

static void speak_c(const char *compiler)
{
    static const char *const standards[] = {"c11", "c17", "c2x", "gnu11"};
    char language[64];
    unsigned i;
    build_needs(compiler);
    for (i = 0; i < sizeof standards / sizeof standards[0]; i++) {
        sprintf(language, "-std=%s -Wstrict-prototypes", standards[i]);
        speak(compiler, language, i);
    }
}

static void speak_cxx(const char *compiler)
{
    static const char *const standards[] = {"11", "14", "17", "20"};
    char language[64];
    unsigned i;
    build_needs(compiler);
    for (i = 0; i < sizeof standards / sizeof standards[0]; i++) {
        sprintf(language, "-x c++ -std=c++%s", standards[i]);
        speak(compiler, language, i);
    }
}

/* Goal: no compiler has a word to say, in no language, and the words kept are
 * the values, bit for bit. Method: a program that says all that can be said,
 * under all the warnings that we know, as errors; then it is run. */
Test(languages, gcc) { speak_c("gcc"); }
Test(languages, clang, .init = build_long)
{
    speak_c("clang");
}
Test(languages, gxx, .init = build_long) { speak_cxx("g++"); }
Test(languages, clangxx, .init = build_long)
{
    speak_cxx("clang++");
}

/* Runs `visit` for each compiler, as C and as C++; for gcc and clang++ where
 * little is run. */
static void each_compiler(void (*visit)(const char *compiler))
{
    static const char *const compilers[][2] = {{"gcc", "gcc"},
                                               {"clang", "clang"},
                                               {"g++", "g++ -x c++"},
                                               {"clang++", "clang++ -x c++"}};
    unsigned i;
    for (i = 0; i < sizeof compilers / sizeof compilers[0]; i++)
        if ((test_scale() >= 1 || i == 0 || i == 3) &&
            build_has(compilers[i][0]))
            visit(compilers[i][1]);
}

/* Goal: any header may be included first, and brings all that it needs. A file
 * of another system is not among them. */
static void headers_alone(const char *compiler)
{
    build_must("for header in " TEST_ROOT "/recorder*.h " TEST_ROOT
               "/recorder/*.h; do case $header in "
               "*/os_posix.h | */os_none.h | */resume.h) continue ;; esac; "
               "echo \"#include \\\"$header\\\"\" >alone.c; "
               "%s " BUILD_WARNINGS "-fsyntax-only alone.c || exit; done",
               compiler);
}
Test(languages, any_header_first, .init = build_long)
{
    each_compiler(headers_alone);
}

/* Goal: a header declares a recorder or a tweak, a file that includes it
 * defines it, and no compiler says a word, though it be asked to (memcached:
 * -Wredundant-decls), with and without a semicolon; as the last thing in a C file,
 * with one. */
static void declared_and_defined(const char *compiler)
{
    build_must(
        "echo \"#include \\\"recorder_set.h\\\"\nRECORDER_DECLARE(net);\n"
        "RECORDER_TWEAK_DECLARE(limit);\nRECORDER(net, 16)\n"
        "RECORDER_TWEAK_DEFINE(limit, 1, \\\"\\\");\n"
        "#ifdef __cplusplus\nnamespace shop {\nstatic RECORDER(cart, 64)\n}\n"
        "RECORDER(book, 64);\nnamespace music {\nRECORDER_DECLARE(cd)\n}\n"
        "extern \\\"C\\\" {\nRECORDER_LANES(disk, 16, 2)\n}\n#endif\n"
        "RECORDER_DECLARE(last);\nstatic RECORDER(last, 16)\n#ifndef "
        "__cplusplus\n;\n#endif\n\""
        " >declared.c && case \"%s\" in clang*) more=\"-Weverything "
        "-Wno-c++98-compat-pedantic\";; "
        "g++*) more=-Wextra-semi;; esac; for off in \"\" "
        "-DRECORDER_OFF; do %s " BUILD_WARNINGS
        "-Wredundant-decls $more -isystem " TEST_ROOT
        " $off -fsyntax-only declared.c || exit; done",
        compiler, compiler);
}
Test(languages, declared_in_a_header) { each_compiler(declared_and_defined); }

/* Goal: in C++, strings and arrays of char are copied; numbers and pointers
 * come as they are, be they bit-fields or constants without a definition. */
static void strings_of(const char *compiler)
{
    static const char *const standards[] = {"11", "14", "17"};
    for (unsigned i = 0; i < sizeof standards / sizeof *standards; i++) {
        if (!sampled(i))
            continue;
        build_must("%s -O%d -std=c++%s " BUILD_WARNINGS BUILD_INCLUDE
                   "-o strings "
                   BUILD_PROGRAMS "/strings.cc && ./strings 2>&1 | "
                   "grep -v -e ^FLIGHT -e ^DUMPING",
                   compiler, (int)i % 2 * 2, standards[i]);
        cr_assert_str_eq(build_text,
                         "example.org temporary 1\nhost host vvv ab\n"
                         "literal pointer 80 5 1\n"
                         "example.org1234567890example.org\nview||\n",
                         "%s", build_text);
    }
}
Test(languages, strings, .init = build_long)
{
    strings_of("g++");
    if (build_has("clang++"))
        strings_of("clang++");
}

/* Goal: an enum class is its integer, and a type of the program's own is the
 * result of its recorder_argument(); a parameter pack and other structs are
 * refused in words. */
static void types_of(const char *compiler)
{
    static const char *const standards[] = {"11", "17", "20"};
    for (unsigned i = 0; i < sizeof standards / sizeof *standards; i++) {
        if (!sampled(i))
            continue;
        build_must("%s -std=c++%s " BUILD_WARNINGS BUILD_INCLUDE
                   "-o types " BUILD_PROGRAMS "/types.cc && "
                   "RECORDER_LINE=\"{message}\" ./types 2>&1 | tail -5",
                   compiler, standards[i]);
        cr_expect_str_eq(build_text,
                         "4 3 1\nat (1,2) busy 2.5\npack 7\ntext\n"
                         "> span idle\n",
                         "%s", build_text);
    }
    build_must("printf \"#include \\\"recorder.h\\\"\nRECORDER(net, 16)\n"
               "template <class... A> void f(A... a) { record(net, "
               "\\\"%%%%d %%%%d\\\", a...); }\nint main() { f(1, 2); }\n\" "
               ">pack.cc && ! %s " BUILD_INCLUDE "-c pack.cc",
               compiler);
    cr_expect(strstr(build_text, "a parameter pack is no list of arguments"),
              "%s", build_text);
}
Test(languages, types_of_a_program)
{
    types_of("g++");
    if (build_has("clang++"))
        types_of("clang++");
}

/* Goal: programs that ask for more warnings get none from us: neither from the
 * headers, nor from expanded macros. */
Test(languages, silent_in_strict_programs)
{
    static const char *const compilers[] = {
        "g++ -std=c++11 -Wold-style-cast -Wuseless-cast "
        "-Wzero-as-null-pointer-constant",
        "clang++ -std=c++17 -Wold-style-cast -Wzero-as-null-pointer-constant",
        "gcc -x c -std=gnu99", "clang -x c -std=gnu99",
        "g++ -std=c++20 -Wold-style-cast -Wuseless-cast "
        "-Wzero-as-null-pointer-constant"};
    build_must("for h in $(cd " TEST_ROOT " && ls recorder*.h); do "
               "echo \"#include \\\"$h\\\"\"; done >strict.cc && "
               "printf \"RECORDER(net, 64, \\\"x\\\")\n"
               "RECORDER_LANES(many, 64, 4)\n"
               "int main(void) { char text[9] = \\\"abc\\\"; "
               "RECORDER_SPAN(net, \\\"a %%%%d\\\", 1); "
               "RECORDER_SPAN_RESULT(net, 5); "
               "record(many, \\\"%%%%s %%%%s %%%%d %%%%f %%%%lu\\\", text, "
               "RECORDER_COPY(net, text), 1, 2.5, 5ul); "
               "RECORDER_TRACE(net) = 0; return record(net, \\\"x\\\") == 0;"
               " }\n\" >>strict.cc");
    for (unsigned i = 0; i < sizeof compilers / sizeof *compilers; i++)
        if (sampled(i) && (build_has("clang") || i % 4 == 0 || i == 2))
            build_must("%s " BUILD_WARNINGS BUILD_INCLUDE
                       "-fsyntax-only strict.cc",
                       compilers[i]);
}

#ifdef __x86_64__
/* Goal: a program whose assembler statements are in Intel's syntax compiles, to
 * the same code. */
Test(languages, syntax_of_intel)
{
    static const char *const compilers[] = {"gcc", "clang"};
    build_must("printf \"#include \\\"recorder.h\\\"\n"
               "RECORDER_LANES(many, 64, 4)\n"
               "int main(void) { return record(many, \\\"%%%%d\\\", 1) == 0; }"
               "\n\" >intel.c");
    for (unsigned i = 0; i < 2; i++)
        if (build_has(compilers[i]))
            build_must("for s in att intel; do %s -O1 -DRECORDER_CLOCK_ORDER "
                       "-masm=$s " BUILD_INCLUDE
                       "-c intel.c -o $s.o && objdump -d $s.o | "
                       "tail -n +4 >$s.code || exit 1; done; "
                       "grep -q xadd intel.code && cmp att.code intel.code",
                       compilers[i]);
}
#endif

/* Goal: no compiler warns of a user's file, whatever the user asks for. Method:
 * a file with all macros that expand in it, also with RECORDER_OFF; the
 * headers are a system's. */
Test(languages, no_warning_in_a_users_file)
{
    static const char *const ways[][2] = {
        {"clang", "-std=c11 -Weverything"},
        {"clang", "-std=c11 -Weverything -fPIC -O2"},
        {"clang++", "-x c++ -std=c++11 -Weverything -Wno-c++98-compat "
                    "-Wno-c++98-compat-pedantic"},
        {"g++", "-x c++ -std=c++11 -O2 -Wall -Wextra -Wuseless-cast "
                "-Wold-style-cast -Wzero-as-null-pointer-constant "
                "-Wsign-conversion"},
        {"gcc", "-std=c11 -O2 -Wall -Wextra -Wconversion -Wsign-conversion "
                "-Wbad-function-cast -Wcast-qual -Wstrict-prototypes"}};
    for (size_t i = 0; i < 2 * sizeof ways / sizeof *ways; i++)
        if (build_has(ways[i / 2][0])) {
            build_must("%s %s %s -isystem " TEST_ROOT " -c -o warnings.o "
                       BUILD_PROGRAMS "/warnings.c",
                       ways[i / 2][0], ways[i / 2][1],
                       i % 2 ? "-DRECORDER_OFF" : "");
            cr_expect_null(strstr(build_text, "warning:"), "%s: %s",
                           build_command, build_text);
        }
}

/* Goal: where the macro record meets a member of that name, the compiler shows
 * the option that leaves the word alone. */
static void names_the_option(const char *compiler)
{
    build_must("printf \"#include <recorder.h>\nstruct disc { int (*record)(int);"
               " };\nint f(struct disc *d);\nint f(struct disc *d) "
               "{ return d->record(5); }\n\" >member.c");
    cr_assert_neq(build_run("%s -fsyntax-only " BUILD_INCLUDE "member.c",
                            compiler),
                  0);
    cr_assert_not_null(strstr(build_text, "-DRECORDER_NO_RECORD"), "%s",
                       build_text);
}
Test(languages, a_member_record) { each_compiler(names_the_option); }

/* Goal: with RECORDER_NO_RECORD the word record is the program's own. */
static void no_record(const char *compiler)
{
    build_must(
        "printf \"#include \\\"recorder_set.h\\\"\n"
        "RECORDER(net, 16)\nstatic int record(int x);\n"
        "static int record(int x) { return x; }\n"
        "struct log { int record; };\n"
        "int main(void) { struct log l = {record(1)}; "
        "return RECORDER_RECORD(net, \\\"%%%%d\\\", l.record) == 0; }"
        "\n\" >own.c && %s -DRECORDER_NO_RECORD " BUILD_WARNINGS BUILD_INCLUDE
        "-o own own.c -lpthread && ./own",
        compiler);
}
Test(languages, the_word_record_is_free)
{
    each_compiler(no_record);
}

/* Goal: recorders and tweaks of one name, in namespaces and outside of them,
 * are different ones; outside, a C file and a C++ file see the same. */
Test(languages, namespaces)
{
    static const char *const compilers[][2] = {
        {"g++", "gcc -x c -std=c11"},
        {"clang++", "clang -x c"},
        {"g++ -std=c++20", "g++"},
        {"clang++ -std=c++11", "gcc -x c"}};
    unsigned i;
    for (i = 0; i < sizeof compilers / sizeof compilers[0]; i++) {
        if (!sampled(i) ||
            (!build_has("clang++") && strstr(compilers[i][0], "clang")))
            continue;
        build_must("%s " BUILD_WARNINGS BUILD_INCLUDE
                   "-DOTHER_FILE -c -o other.o " BUILD_PROGRAMS
                   "/namespaces.cc && %s " BUILD_WARNINGS BUILD_INCLUDE
                   "-o namespaces " BUILD_PROGRAMS "/namespaces.cc other.o",
                   compilers[i][1], compilers[i][0]);
        build_must("RECORDER_LINE=\"{recorder}: {message}\" ./namespaces 2>&1 "
                   "| grep -E \"^[a-z_]+: \"");
        cr_assert_str_eq(build_text, "shared: other file\n"
                                     "net: outside, limit 1\n"
                                     "net: app 7, limit 2\n"
                                     "net: inner, limit 5\n"
                                     "shared: inner\n"
                                     "shared_by_all: inner\n"
                                     "hidden: hidden\n"
                                     "net: main, limit 1\n");
    }
}

/* Of an object, as `nm -C` prints a line: "value T name" or "U name". */
struct symbol {
    char type;
    const char *name;
};
static struct symbol symbol_of(char *line)
{
    struct symbol symbol = {'?', line};
    while (*line == ' ')
        line++;
    if (strspn(line, "0123456789abcdef") > 1)
        line += strspn(line, "0123456789abcdef");
    while (*line == ' ')
        line++;
    if (*line) {
        symbol.type = *line;
        symbol.name = line + 2;
    }
    return symbol;
}

static void check_symbols(const char *compiler)
{
    /* What the header takes from the C library and the linker; memset, memcpy
     * and memcmp are calls that a compiler may make of any code; __tls_get_addr
     * is not there, since it takes memory at a thread's first record. */
    static const char allowed[] =
        " main __errno_location clock_gettime syscall mmap munmap getauxval "
        "__register_atfork __dso_handle _GLOBAL_OFFSET_TABLE_ "
        "memcmp memset memcpy __stack_chk_fail ";
    static const char *const ways[] = {"-O0", "-O2", "-O2 -fPIC", "-Os -fPIE"};
    unsigned i;
    for (i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char *line, *rest;
        unsigned count = 0;
        build_must("%s %s " BUILD_INCLUDE "-c -o symbols.o " SYMBOLS
                   " && nm -C symbols.o",
                   compiler, ways[i]);
        for (line = strtok_r(build_text, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest)) {
            struct symbol symbol = symbol_of(line);
            char spaced[256];
            snprintf(spaced, sizeof spaced, " %s ", symbol.name);
            count++;
            cr_expect(strncmp(symbol.name, "recorder_", 9) == 0 ||
                          symbol.name[0] == '.' || strstr(allowed, spaced) ||
                          strcmp(symbol.name, "__ehdr_start") == 0 /* ld's */,
                      "%s %s: a symbol that is not ours: %s", compiler, ways[i],
                      line);
        }
        cr_expect_gt(count, 20, "nm names %u symbols", count);
    }
}

/* Goal: nothing of the header but recorder_ names meets the linker, and nothing
 * of the system but a handful of functions is needed. Method: nm of an object
 * that uses all of the interface and nothing else. */
Test(languages, symbols_are_ours, .init = build_long) { each_compiler(check_symbols); }

/* Goal: internal names end in '_', so that a program may have any other name
 * for itself, and a library exports nothing else. */
static void check_names(const char *compiler)
{
    build_must("sh " BUILD_PROGRAMS "/names.sh " TEST_ROOT " %s", compiler);
    cr_expect_str_empty(build_text, "%s: names that a program may want:\n%s",
                        compiler, build_text);
}
Test(languages, other_names_end_in_underscore) { each_compiler(check_names); }

static void check_off(const char *compiler)
{
    static const char *const never[] = {"recorder_record_", "recorder_copy_",
                                        "recorder_write_",  "recorder_rings_",
                                        "recorder_enter",   "recorder_start_",
                                        "recorder_claim",   "recorder_for_"};
    unsigned i;
    build_must("%s -O2 " BUILD_INCLUDE "-c -o symbols.o " SYMBOLS
               " && nm -C symbols.o",
               compiler);
    for (i = 0; i < 4; i++) /* the pattern is found when it is on */
        cr_expect(strstr(build_text, never[i]) || i == 2, "no %s at all",
                  never[i]);
    build_must("%s -O2 -DRECORDER_OFF " BUILD_INCLUDE "-c -o symbols.o " SYMBOLS
               " && nm -C symbols.o",
               compiler);
    for (i = 0; i < sizeof never / sizeof never[0]; i++)
        cr_expect(!strstr(build_text, never[i]),
                  "%s -DRECORDER_OFF leaves %s:\n%s", compiler, never[i],
                  build_text);
}

/* Goal: RECORDER_OFF leaves no ring and no record function. Method: nm of the
 * same object with and without it. (That arguments are not evaluated then and
 * RECORDER_TRACE stays an lvalue, everything.c checks.) */
Test(languages, off_leaves_nothing) { each_compiler(check_off); }

/* Goal: nor does it leave a dump, a handler or the reading of an environment
 * variable. Method: sections of a file that includes all headers, and of one
 * that includes none. */
static void check_off_bytes(const char *compiler)
{
    build_must("echo \"#include \\\"recorder_set.h\\\"\nRECORDER(net, 64);\" "
               ">all.c && echo \"int none;\" | sed \"s/int none;//\" >none.c && "
               "for f in all none; do %s -O2 -DRECORDER_OFF " BUILD_INCLUDE
               "-fno-asynchronous-unwind-tables -c $f.c -o $f.o && "
               "size $f.o | awk \"NR == 2 { print \\$1, \\$2, \\$3 }\"; done",
               compiler);
    cr_expect_str_eq(build_text, "0 0 0\n0 0 0\n", "%s: text, data, bss: %s",
                     compiler, build_text);
}
Test(languages, off_is_no_byte) { each_compiler(check_off_bytes); }

static void check_macros(const char *compiler)
{
    static const char mine[] = "stdarg stdbool stddef stdint sys/syscall";
    char *line, *rest;
    bool found = false;
    build_must("echo \"#include \\\"recorder.h\\\"\" >with.c && "
               "for h in %s; do echo \"#include <$h.h>\"; done >without.c && "
               "for f in with without; do %s " BUILD_INCLUDE
               "-E -dM $f.c | sed \"s/^#define //; s/[ (].*//\" | sort >$f; "
               "done && comm -23 with without",
               mine, compiler);
    for (line = strtok_r(build_text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        found |= strcmp(line, "RECORDER_VERSION_MAJOR") == 0;
        cr_expect(strncmp(line, "RECORDER_", 9) == 0 ||
                      strcmp(line, "RECORDER") == 0 ||
                      strcmp(line, "record") == 0,
                  "%s: a macro that is not ours: %s", compiler, line);
    }
    cr_expect(found, "%s -E -dM shows no macro of ours", compiler);
}

/* Goal: one short macro, `record`; the others are called RECORDER_. Method: the
 * preprocessor's macros with the header and without it. */
Test(languages, macros_are_ours) { each_compiler(check_macros); }

static void check_alone(const char *compiler)
{
    build_must("echo \"#include \\\"recorder.h\\\"\" >alone.c && "
               "echo \"RECORDER(net, 16); int main(void) { return record(net, "
               "\\\"x\\\") == 0; }\" >>alone.c && "
               "%s " BUILD_WARNINGS BUILD_INCLUDE "-o alone alone.c && ./alone",
               compiler);
}

/* Goal: the header is one file that asks for no library, no feature macro and
 * no other header. Method: two lines of program, linked with nothing. */
Test(languages, header_stands_alone) { each_compiler(check_alone); }

/* Goal: gcc's analyzer finds what is wrong in a program, and nothing in the
 * headers: in a file that records, in one that dumps and leaves the code to
 * another, and, where there is time, in one that has it all. */
Test(languages, analyzed, .init = build_long)
{
    static const char *const kinds[] = {
        "-include recorder.h",
        "-include recorder_dump.h -DRECORDER_COMPILE_ONCE",
        "-include recorder_dump.h --param analyzer-bb-explosion-factor=1"};
    if (!build_has("gcc") ||
        build_run("gcc -fanalyzer -x c -c -o none.o /dev/null") != 0)
        build_skip("no gcc with -fanalyzer here");
    build_must("printf \"RECORDER(net, 64)\\nint f(int n);\\nint f(int n) "
               "{ void *p = __builtin_malloc(9); "
               "record(net, \\\"at=%%%%p\\\", p); if (n) __builtin_free(p); "
               "return 0; }\\n\" >leaks.c");
    for (unsigned i = 0; i < (test_scale() < 1 ? 2 : 3); i++) {
        build_must("gcc -std=c11 -O2 -fanalyzer " BUILD_WARNINGS BUILD_INCLUDE
                   "-Wno-error %s -c leaks.c",
                   kinds[i]);
        cr_assert(strstr(build_text, "leaks.c:3:"), "%s", build_text);
        cr_assert(strstr(build_text, "[-Wanalyzer-malloc-leak]"), "%s",
                  build_text);
        build_must("gcc -std=c11 -O2 -fanalyzer " BUILD_WARNINGS BUILD_INCLUDE
                   "%s -Wno-analyzer-malloc-leak -c leaks.c",
                   kinds[i]);
        cr_assert_str_empty(build_text, "%s", build_text);
    }
}

/* Goal: gcc for mingw knows all conversions of C, whatever its stdio is, and
 * still finds the wrong ones. */
Test(languages, mingw_formats)
{
    static const char *const stdio[] = {"", "-D__USE_MINGW_ANSI_STDIO=1",
                                        "-D__USE_MINGW_ANSI_STDIO=0"};
    if (!build_has("x86_64-w64-mingw32-gcc"))
        return;
    build_must("printf \"#include <recorder.h>\\n"
               "RECORDER(net, 64, \\\"x\\\")\\nint main(void) { record(net, "
               "\\\"%%%%zu %%%%td %%%%jd\\\", (size_t)1, (ptrdiff_t)2, "
               "(intmax_t)SECOND); return 0; }\\n\" >mingw.c");
    for (size_t i = 0; i < sizeof stdio / sizeof *stdio; i++) {
        build_must("x86_64-w64-mingw32-gcc -DSECOND=3 -Wall -Wextra -Wpedantic "
                   "-Werror %s " BUILD_INCLUDE "-c mingw.c",
                   stdio[i]);
        build_must("! x86_64-w64-mingw32-gcc -DSECOND=\"0, 4\" -Wall -Werror %s "
                   BUILD_INCLUDE "-c mingw.c 2>&1",
                   stdio[i]);
    }
}
