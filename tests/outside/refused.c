/* Mistakes that recorder.h must refuse at compile time, each in words. */
/* SPDX-License-Identifier: MIT */
/*
    Each file in tests/refused is wrong in one place. Its first line is

        / * expect: what the compiler must say || or what another one says * /

    and its second may be "flags:" with what to compile it with. With -DRIGHT
    the same file is right and must compile: so what is refused is the mistake
    and nothing else. A new file there is a new case.
*/
#include "harness/build.h"

#include <dirent.h>
#include <string.h>

#define REFUSED TEST_ROOT "/tests/refused"

TestSuite(refused, .init = build_begin, .fini = build_end);

/* The text between `mark` and the comment's end, of one line; or "". */
static const char *told(char *line, const char *mark)
{
    char *from = strstr(line, mark), *end;
    if (!from)
        return "";
    from += strlen(mark);
    end = strstr(from, " */");
    if (end)
        *end = '\0';
    return from;
}

/* True if an error line has one of the sentences, which " || " divides. */
static bool said(char *text, const char *sentences)
{
    char *line, *line_end;
    for (line = strtok_r(text, "\n", &line_end); line;
         line = strtok_r(NULL, "\n", &line_end)) {
        const char *from, *next;
        if (!strstr(line, "error:"))
            continue;
        for (from = sentences; from; from = next) {
            char sentence[256];
            const char *bar = strstr(from, " || ");
            size_t size = bar ? (size_t)(bar - from) : strlen(from);
            cr_assert(size > 0 && size < sizeof sentence);
            memcpy(sentence, from, size);
            sentence[size] = '\0';
            if (strstr(line, sentence))
                return true;
            next = bar ? bar + 4 : NULL;
        }
    }
    return false;
}

/* Compiles all files of a language by one compiler. Returns how many. */
static unsigned refuse_all(const char *compiler, const char *ending)
{
    DIR *folder = opendir(REFUSED);
    struct dirent *entry;
    unsigned count = 0;
    bool can_32;
    cr_assert_not_null(folder, "no " REFUSED);
    if (!build_has(compiler))
        return 0;
    can_32 = build_run("echo \"#include <stdint.h>\" >can.c && "
                       "%s -m32 -fsyntax-only can.c",
                       compiler) == 0;
    if (!can_32)
        fprintf(stderr, "left out: %s -m32 finds no headers here\n", compiler);
    while ((entry = readdir(folder))) {
        const char *name = entry->d_name, *dot = strrchr(name, '.');
        char first[512] = "", second[512] = "", path[512];
        const char *expected, *flags;
        FILE *file;
        int status;
        if (!dot || strcmp(dot, ending) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", REFUSED, name);
        file = fopen(path, "r");
        cr_assert_not_null(file, "%s", path);
        cr_assert(fgets(first, sizeof first, file) &&
                  fgets(second, sizeof second, file));
        fclose(file);
        expected = told(first, "/* expect: ");
        flags = told(second, "/* flags: ");
        cr_assert(expected[0], "%s: line 1 says not what to expect", path);
        if (!can_32 && strstr(flags, "-m32"))
            continue;
        count++;
        status = build_run("%s " BUILD_INCLUDE "-fsyntax-only %s %s", compiler,
                           flags, path);
        cr_expect_neq(status, 0, "%s lets %s pass", compiler, name);
        cr_expect(said(build_text, expected), "%s does not say of %s: %s",
                  compiler, name, expected);
        status = build_run("%s " BUILD_INCLUDE "-fsyntax-only -DRIGHT %s %s",
                           compiler, flags, path);
        cr_expect_eq(status, 0, "%s -DRIGHT refuses %s:\n%s", compiler, name,
                     build_text);
    }
    closedir(folder);
    cr_expect_gt(count, 0, "no *%s in " REFUSED, ending);
    return count;
}

/* Goal: records that cannot be made are refused at compile time, in C. Method:
 * each wrong file must fail with its expected sentence, the right one pass. */
Test(refused, in_c)
{
    cr_assert_gt(refuse_all("gcc", ".c"), 0);
    if (test_scale() >= 1)
        refuse_all("clang", ".c");
}

/* Goal and method: the same in C++. */
Test(refused, in_cxx, .init = build_long)
{
    build_needs("g++");
    refuse_all("g++", ".cc");
    if (test_scale() >= 1)
        refuse_all("clang++", ".cc");
}
