/* The needs of the headers without an operating system. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#define PROGRAM BUILD_PROGRAMS "/freestanding.c"

TestSuite(freestanding, .init = build_begin, .fini = build_end, .timeout = 300);

/* True if a word is in a list, which begins and ends with a space. */
static bool is_in(const char *list, const char *word)
{
    char spaced[300];
    cr_assert_lt(strlen(word), sizeof spaced - 2);
    sprintf(spaced, " %s ", word);
    return strstr(list, spaced) != NULL;
}

/* The compilers' own functions for missing instructions. */
static const char arithmetic[] =
    " __aeabi_d2f __aeabi_idiv __aeabi_idivmod __aeabi_lasr __aeabi_ldivmod "
    "__aeabi_llsl __aeabi_llsr __aeabi_lmul __aeabi_uidiv __aeabi_uidivmod "
    "__aeabi_uldivmod __ashldi3 __divdi3 __gnu_thumb1_case_shi "
    "__gnu_thumb1_case_sqi __gnu_thumb1_case_uhi __gnu_thumb1_case_uqi "
    "__lshrdi3 __moddi3 __truncdfsf2 __udivdi3 __umoddi3 ";
/* The functions that they may call unasked; a dump copies structures. */
static const char memory[] =
    " memcpy memset memmove memcmp __aeabi_memcpy __aeabi_memcpy4 "
    "__aeabi_memcpy8 __aeabi_memclr __aeabi_memclr4 __aeabi_memclr8 ";

/* Only headers that come with the compiler. */
#define GCC_HEADERS "-nostdinc -isystem $(%s -print-file-name=include) "
#define CLANG_HEADERS "-nostdinc -isystem $(%s -print-resource-dir)/include "

/* Compiles the program in all ways, and looks at its undefined symbols. */
static void needs_nothing(const char *compiler, const char *headers,
                          const char *options)
{
    static const char *const levels[] = {"-O0", "-Os", "-O2"};
    static const char *const parts[] = {"", "-DEVERYTHING ",
                                        "-DEVERYTHING -DDUMPS "};
    char where[200];
    unsigned i, j;
    if (!build_has(compiler))
        return;
    sprintf(where, headers, compiler);
    for (i = 0; i < sizeof levels / sizeof levels[0]; i++)
        for (j = 0; j < sizeof parts / sizeof parts[0]; j++) {
            char *symbol;
            unsigned own = 0;
            if (!sampled(i + 4 * j)) /* of each level and part, one */
                continue;
            build_must("%s %s %s %s %s -ffreestanding -nostdlib " BUILD_WARNINGS
                           BUILD_INCLUDE "-c -o free.o " PROGRAM,
                       compiler, options, levels[i], parts[j], where);
            build_must("nm -u free.o");
            for (symbol = strtok(build_text, " \n"); symbol;
                 symbol = strtok(NULL, " \n")) {
                bool allowed = is_in(arithmetic, symbol);
                if (strcmp(symbol, "U") == 0)
                    continue;
                if (strncmp(symbol, "free_", 5) == 0) {
                    own++;
                    continue;
                }
                if (is_in(memory, symbol))
                    allowed = i == 0 || j == 2; /* optimized, no record does */
                cr_expect(allowed, "%s %s %s %s needs %s", compiler, options,
                          levels[i], parts[j], symbol);
            }
            cr_expect_geq(own, 2, "the port's own symbols are not seen");
        }
}

/* Goal: the headers call only functions of the port, need no thread-local
 * storage and no atomic that is a call, and include only the compiler's
 * headers; recording needs not even memcpy. Method: the undefined symbols of a
 * program that uses all of the interface. */
Test(freestanding, native, .init = build_long)
{
    needs_nothing("gcc", GCC_HEADERS, "-std=c11");
    needs_nothing("clang", CLANG_HEADERS, "-std=c11");
    needs_nothing("g++", GCC_HEADERS, "-x c++ -std=c++11");
}
Test(freestanding, cortex_m3)
{
    needs_nothing("arm-none-eabi-gcc", GCC_HEADERS,
                  "-std=c11 -mcpu=cortex-m3 -mthumb");
    needs_nothing("clang", CLANG_HEADERS, "-std=c11 --target=armv7m-none-eabi");
}
Test(freestanding, cortex_m4f, .init = build_long)
{
    build_needs("arm-none-eabi-gcc");
    needs_nothing("arm-none-eabi-gcc", GCC_HEADERS,
                  "-std=c11 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard");
}
Test(freestanding, cortex_m0_without_atomics, .init = build_long)
{
    build_needs("arm-none-eabi-gcc");
    needs_nothing("arm-none-eabi-gcc", GCC_HEADERS,
                  "-std=c11 -mcpu=cortex-m0 -mthumb -DNO_ATOMICS");
}
Test(freestanding, mips_big_endian)
{
    needs_nothing("mips-linux-gnu-gcc", GCC_HEADERS,
                  "-std=c11 -march=mips32r2 -mno-abicalls -fno-pic -G0");
    needs_nothing("clang", CLANG_HEADERS,
                  "-std=c11 --target=mips-linux-gnu -march=mips32r2 "
                  "-mno-abicalls -fno-pic -G0");
}

/* Goal: triggers act by the macros of a port, with and without atomic
 * instructions; actions that need a system are refused. */
Test(freestanding, triggers, .init = build_long)
{
    static const char *const options[] = {"", "-DBARE_MASKS"};
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++) {
        build_must("gcc -std=c11 -O1 %s " BUILD_WARNINGS BUILD_INCLUDE
                   "-o bare " BUILD_PROGRAMS "/bare_trigger.c",
                   options[i]);
        build_must("./bare");
        cr_expect(
            strstr(build_text,
                   "recorder: trigger: stop: no action: there are freeze, dump "
                   "and again\n"
                   "recorder: trigger: 17x1s: COUNTxTIME, once, with a COUNT "
                   "from 2 to 16\n"
                   "recorder: trigger net: \"n\" 1>5 3x10us: freeze: record 29 "
                   "of net\n"),
            "%s", build_text);
        cr_expect(strstr(build_text, "SIZE 16, 16 ENTRIES, 13 OVERWRITTEN, "
                                     "0 LOST, FROZEN\n"));
        cr_expect(strstr(build_text, "net: n 8\n") &&
                      !strstr(build_text, "net: n 9\n"),
                  "%s", build_text);
    }
}

/* The compiler must say a text where a port is not complete. */
static void says(const char *compiler, const char *port, const char *text)
{
    if (!build_has(compiler))
        return;
    cr_expect_neq(
        build_run(
            "printf \"%s\\n\" >port.c && %s -c -ffreestanding " BUILD_INCLUDE
            "-o port.o port.c",
            port, compiler),
        0);
    cr_expect(strstr(build_text, text), "%s: not a word of \"%s\":\n%s", port,
              text, build_text);
}

/* Goal: a porter gets a message for each missing macro. */
Test(freestanding, what_is_missing_is_said)
{
    static const char ready[] = "#define RECORDER_THREAD() 1\\n"
                                "#define RECORDER_TIME() 0\\n";
    char port[400];
    says("arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb",
         "#define RECORDER_THREAD() 1\\n#include <recorder.h>",
         "define RECORDER_TIME()");
    sprintf(port, "%s#include <recorder.h>", ready);
    says("arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb", port,
         "no atomic instructions: define");
    sprintf(port, "%s#include <recorder_dump.h>", ready);
    says("gcc", port, "define RECORDER_READABLE(address)");
    sprintf(port,
            "%s#define RECORDER_READABLE(a) 1\\n"
            "#include <recorder_dump.h>",
            ready);
    says("gcc", port, "define RECORDER_WRITE(text, size)");
    sprintf(port, "%s#include <recorder.h>\\nRECORDER_LANES(a, 4, 2)", ready);
    says("gcc", port, "lanes need a port with RECORDER_CACHE_LINE");
    sprintf(port,
            "#define RECORDER_ONE_PROCESSOR\n#define RECORDER_CACHE_LINE 64\n"
            "%s#include <recorder.h>",
            ready);
    says("gcc", port, "says that there are several processors");
    says("gcc", "#define RECORDER_ONE_PROCESSOR\n#include <recorder.h>",
         "RECORDER_ONE_PROCESSOR is for ports");
}

/* Goal: a record has the processor's barriers, unless the port promises that
 * there is one processor; then it has none of them. Method: its code. */
Test(freestanding, barriers_unless_there_is_one_processor)
{
    static const char *const promises[] = {"", "-DRECORDER_ONE_PROCESSOR"};
    static const struct {
        const char *compiler, *objdump, *barrier;
        unsigned long count; /* W1 two, unless masked; W3, W5 and W7 */
    } machines[] = {
        {"arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb", "arm-none-eabi-objdump",
         "dmb", 5},
        {"arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -DNO_ATOMICS",
         "arm-none-eabi-objdump", "dmb", 3},
        {"clang --target=mips-linux-gnu -march=mips32r2 -mno-abicalls "
         "-fno-pic -G0",
         "mips-linux-gnu-objdump", "sync", 5},
    };
    unsigned seen = 0;
    for (unsigned i = 0; i < sizeof machines / sizeof *machines; i++) {
        unsigned long count[2];
        if (!build_has(machines[i].compiler) || !build_has(machines[i].objdump))
            continue;
        for (unsigned j = 0; j < 2; j++) {
            build_must("%s %s -O2 -std=c11 -ffreestanding " BUILD_INCLUDE
                       "-c -o one.o " PROGRAM " && %s -d "
                       "--disassemble=recorder_record_few_ one.o >one.s && "
                       "grep -q :$ one.s",
                       machines[i].compiler, promises[j], machines[i].objdump);
            build_run("grep -cw %s one.s", machines[i].barrier);
            count[j] = strtoul(build_text, NULL, 10);
        }
        cr_expect_eq(count[0], machines[i].count, "%s: %lu barriers",
                     machines[i].compiler, count[0]);
        cr_expect_eq(count[1], 0, "%s: %lu barriers on one processor",
                     machines[i].compiler, count[1]);
        seen++;
    }
    if (!seen)
        build_skip("no compiler and objdump of another processor here");
}
