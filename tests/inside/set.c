/* recorder_set.h: specifications, tweaks, own conversions. */
/* SPDX-License-Identifier: MIT */
#include "harness/capture.h"

#include "harness/build.h"
#include "recorder_set.h"

RECORDER(net, 8, "Network");
RECORDER(net_rx, 8, "Received");
RECORDER(disk, 8, "Disk");
RECORDER(dump, 8, "Has the name of a command");
RECORDER_TWEAK_DEFINE(net_retries, 3, "How often to try again");
RECORDER_TWEAK_DEFINE(limit, -5, "A limit")
RECORDER_TWEAK_DECLARE(limit);

static struct caught *caught;
static int errors;
static void begin(void)
{
    caught = catcher((size_t)1 << 20);
    errors = redirect(2);
}
TestSuite(set, .init = begin, .timeout = 240);

#define SET(specification, expected)                                           \
    cr_assert_eq(recorder_trace_set(specification), expected, "%s",            \
                 #specification)
/* The traces of net, net_rx and disk; the values of net_retries and limit. */
#define VALUES_MUST_BE(n, r, d, a, l)                                          \
    do {                                                                       \
        cr_assert_eq(RECORDER_TRACE(net), n);                                  \
        cr_assert_eq(RECORDER_TRACE(net_rx), r);                               \
        cr_assert_eq(RECORDER_TRACE(disk), d);                                 \
        cr_assert_eq(RECORDER_TWEAK(net_retries), a);                          \
        cr_assert_eq(RECORDER_TWEAK(limit), l);                                \
    } while (0)

/* Goal: every form of an item does what it says. Recorders come before tweaks,
 * and these before commands. */
Test(set, each_form)
{
    SET(NULL, RECORDER_TRACE_OK);
    SET("", RECORDER_TRACE_OK);
    SET(" :: ", RECORDER_TRACE_OK);
    VALUES_MUST_BE(0, 0, 0, 3, -5);
    SET("net", RECORDER_TRACE_OK);
    VALUES_MUST_BE(1, 0, 0, 3, -5);
    SET("net.*:-net", RECORDER_TRACE_OK);
    VALUES_MUST_BE(0, 1, 0, 3, -5);
    SET("/DISK -net_RX", RECORDER_TRACE_OK);
    VALUES_MUST_BE(0, 0, -1, 3, -5);
    SET("net=7:net_rx=0x10:disk=-3:limit=010", RECORDER_TRACE_OK);
    VALUES_MUST_BE(7, 16, -3, 3, 8);
    SET("net_retries=0", RECORDER_TRACE_OK);
    VALUES_MUST_BE(7, 16, -3, 0, 8);
    SET("net_retries limit", RECORDER_TRACE_OK);
    VALUES_MUST_BE(7, 16, -3, 1, 1);
    SET("-limit:/net_retries", RECORDER_TRACE_OK);
    VALUES_MUST_BE(7, 16, -3, -1, 0);
    SET("-all", RECORDER_TRACE_OK);
    VALUES_MUST_BE(0, 0, 0, -1, 0);
    SET("(net|disk)(_[a-z]+)?=2", RECORDER_TRACE_OK);
    VALUES_MUST_BE(2, 2, 2, -1, 0);
    SET(sizeof(void *) == 8 ? "limit=0x7fffffffffffffff" : "limit=0x7fffffff",
        RECORDER_TRACE_OK);
    cr_assert_eq(RECORDER_TWEAK(limit), INTPTR_MAX);
    SET(sizeof(void *) == 8 ? "limit=-9223372036854775808"
                            : "limit=-2147483648",
        RECORDER_TRACE_OK);
    cr_assert_eq(RECORDER_TWEAK(limit), INTPTR_MIN);
    SET(sizeof(void *) == 8 ? "limit=0xffffffffffffffff" : "limit=0xffffffff",
        RECORDER_TRACE_OK);
    cr_assert_eq(RECORDER_TWEAK(limit), -1);
    SET("dump", RECORDER_TRACE_OK); /* the recorder */
    cr_assert_eq(RECORDER_TRACE(dump), 1);
    cr_assert_str_eq(written_to(errors), "");
}

/* Goal: what is wrong is said and returned, sets nothing, and keeps none of the
 * other items from being done. */
Test(set, bad_items)
{
    static const struct {
        const char *item;
        int result;
        const char *says;
    } bad[] = {
        {"(net", RECORDER_TRACE_INVALID_NAME, "(net: missing )"},
        {"net[", RECORDER_TRACE_INVALID_NAME, "net[: missing ]"},
        {"=3", RECORDER_TRACE_INVALID_NAME, ""},
        {"net=3x", RECORDER_TRACE_INVALID_VALUE, "3x: no number"},
        {"net=0x", RECORDER_TRACE_INVALID_VALUE, "0x: no number"},
        {"net=-", RECORDER_TRACE_INVALID_VALUE, "-: no number"},
        {"net=08", RECORDER_TRACE_INVALID_VALUE, "08: no number"},
        {"net=9223372036854775808", RECORDER_TRACE_INVALID_VALUE,
         "9223372036854775808: no number"},
        {"net=0x10000000000000000", RECORDER_TRACE_INVALID_VALUE,
         "0x10000000000000000: no number"},
        {"net=", RECORDER_TRACE_INVALID_VALUE, ": no number"},
        {"limit=a", RECORDER_TRACE_INVALID_VALUE, "a: no number"},
        {"nobody", RECORDER_TRACE_OK,
         "nobody: no recorder or tweak has this name, nor a command"},
        {"output=/nowhere/at/all", RECORDER_TRACE_OK,
         "output: cannot write there"},
        {"share=/nowhere", RECORDER_TRACE_OK,
         "share: no recorder or tweak has this name, nor a command"},
    };
    size_t i;
    for (i = 0; i < COUNT(bad); i++) {
        char text[200], must[200] = "";
        sprintf(text, "net_rx=%d:%s disk=%d", 2 * (int)i + 2, bad[i].item,
                2 * (int)i + 3);
        cr_assert_eq(ftruncate(errors, 0), 0);
        lseek(errors, 0, SEEK_SET);
        SET(text, bad[i].result);
        if (bad[i].says[0])
            sprintf(must, "recorder: traces: %s\n", bad[i].says);
        cr_assert_str_eq(written_to(errors), must);
        VALUES_MUST_BE(0, 2 * (int)i + 2, 2 * (int)i + 3, 3, -5);
    }
}

/* Goal: names of arguments, which recorder 1.x exported as channels, leave the
 * recorder recording, and say what shows them now. */
Test(set, names_of_arguments)
{
    SET("net_rx=4:disk=5", RECORDER_TRACE_OK);
    SET("net_rx=bytes,packets", RECORDER_TRACE_OK);
    cr_assert_str_eq(written_to(errors),
                     "recorder: traces: bytes,packets: no number; if it names "
                     "arguments, they are recorded: recorder view --value "
                     "shows them\n");
    VALUES_MUST_BE(0, 0, 5, 3, -5);
}

/* Goal: no length of an item does harm. */
Test(set, too_long)
{
    char text[2000];
    size_t size;
    for (size = 200; size < 1900; size += 57) {
        memset(text, 'x', size);
        strcpy(text + size, ":disk=4");
        recorder_trace_set(text);
        cr_assert_eq(RECORDER_TRACE(disk), 4);
        memcpy(text, "net=", 4);
        recorder_trace_set(text);
        memset(text + 4, '1', size - 4);
        SET(text, size < 4 + RECORDER_SET_MAX_ ? RECORDER_TRACE_INVALID_VALUE
                                               : RECORDER_TRACE_INVALID_NAME);
        RECORDER_TRACE(disk) = 0;
    }
    cr_assert_eq(RECORDER_TRACE(net), 0);
}

/* Goal: the lists show all, and how it is set. */
Test(set, lists)
{
    const char *list =
        "Recorders (*: traced):\n"
        "                 net*: Network\n"
        "              net_rx : Received = 3 (0x3)\n"
        "                disk : Disk\n"
        "                dump : Has the name of a command\n"
        "Tweaks:\n"
        "         net_retries : How often to try again = 3 (0x3)\n"
        "               limit : A limit = -5 (0x%zx)\n";
    const char *traces = "Traced recorders:\n"
                         "                 net*: Network\n"
                         "              net_rx : Received = 3 (0x3)\n";
    char all[900], must[2000];
    SET("net:net_rx=3:/disk", RECORDER_TRACE_OK);
    SET("help:list:traces", RECORDER_TRACE_OK);
    sprintf(all, list, (size_t)-5);
    sprintf(must, "%s%s%s", all, all, traces);
    cr_assert_str_eq(written_to(errors), must, "%s", written_to(errors));
}

/* Goal: output= sends dumps and traces to a file, output_append= after what it
 * has; @ asks for a command where a recorder has its name. */
Test(set, output)
{
    char path[64], item[100], text[4000];
    FILE *file;
    size_t size;
    sprintf(path, "/tmp/recorder-set-%d", (int)getpid());
    recorder_line("{recorder}: {message}");
    sprintf(item, "output=%s:net", path);
    SET(item, RECORDER_TRACE_OK);
    record(net, "one %d", 1);
    SET(item, RECORDER_TRACE_OK); /* from its start */
    record(net, "two %d", 2);
    sprintf(item, "output_append=%s:@dump", path);
    SET(item, RECORDER_TRACE_OK);
    cr_assert_eq(RECORDER_TRACE(dump), 0);
    record(net, "three %d", 3);
    file = fopen(path, "r");
    cr_assert_not_null(file);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    remove(path);
    cr_assert(strncmp(text, "net: two 2\nFLIGHT RECORDER DUMP AT ", 35) == 0,
              "%s", text);
    cr_assert_not_null(strstr(text, "\nnet: one 1\nnet: two 2\nnet: three 3\n"),
                       "%s", text);
    cr_assert_str_eq(written_to(errors), "");
}

/* ------------------------------------------------------------ conversions --
 */

static size_t show_type(intptr_t trace, const char *format, char *to,
                        size_t size, uintptr_t word)
{
    return (size_t)snprintf(to, size, "<%s %ld %lu>", format, (long)trace,
                            (unsigned long)word);
}
static size_t show_long(intptr_t trace, const char *format, char *to,
                        size_t size, uintptr_t word)
{
    size_t i;
    (void)trace, (void)format;
    for (i = 0; i + 1 < size && i < word; i++)
        to[i] = i % 10 ? 'x' : '\n';
    if (size)
        to[i] = '\0';
    return word;
}

/* Goal: a conversion of the program's own overrides what the character means,
 * be it a modifier; it sees the conversion as written and its own word only. */
Test(set, own_conversions)
{
    struct recorder_arguments_ arguments;
    uint64_t word[] = {1, 2, 3, 4};
    char text[1000];
    cr_assert_null(recorder_configure_type('t', show_type));
    cr_assert_null(recorder_configure_type('d', show_type));
    cr_assert_null(recorder_configure_type('%', show_type));
    arguments.word = word;
    arguments.count = 3;
    arguments.missing = 0;
    arguments.word_bytes = sizeof(uintptr_t);
    arguments.text = NULL;
    arguments.context = NULL;
    arguments.types = recorder_registry.types;
    arguments.trace = 4;
    arguments.changes = NULL;
    recorder_format_(text, sizeof text, "%t|%+-8.3t|%lt", &arguments);
    cr_assert_str_eq(text, "<%t 4 1>|<%+-8.3t 5 2>|<%lt 4 3>");
    recorder_format_(text, sizeof text, "100%% %*d%u%t\n", &arguments);
    cr_assert_str_eq(text, "100% <%*d 4 2>3<lost>");
    recorder_format_(text, sizeof text, "%2$t %1$d %t", &arguments);
    cr_assert_str_eq(text, "<%t 4 2> <%d 4 1> <%t 4 1>");
    recorder_format_(text, sizeof text, "%", &arguments);
    cr_assert_str_eq(text, "%");
    cr_assert_eq(recorder_configure_type('t', NULL), show_type);
    cr_assert_eq(recorder_configure_type('d', NULL), show_type);
    recorder_format_(text, sizeof text, "%td %d", &arguments);
    cr_assert_str_eq(text, "1 2");
}

/* Goal: what such a function writes stays on its line, and within its room. */
Test(set, own_conversions_long)
{
    struct recorder_arguments_ arguments;
    uint64_t word[] = {0};
    char text[2000];
    recorder_configure_type('L', show_long);
    memset(&arguments, 0, sizeof arguments);
    arguments.word = word;
    arguments.count = 1;
    arguments.word_bytes = sizeof(uintptr_t);
    arguments.types = recorder_registry.types;
    for (word[0] = 0; word[0] < 600; word[0] += 7) {
        size_t kept = word[0] < 511 ? word[0] : 511;
        size_t size = recorder_format_(text, sizeof text, "%L", &arguments);
        cr_assert_null(strchr(text, '\n'));
        cr_assert_eq(size, kept + (kept + 9) / 10 + (word[0] > 511 ? 3 : 0),
                     "%zu of %zu", size, (size_t)word[0]);
    }
}

/* Goal: in a trace the function is told so; in a dump, that it is none. */
Test(set, own_conversions_trace)
{
    recorder_line("{message}");
    recorder_configure_type('t', show_type);
    RECORDER_TRACE(net) = 6;
    recorder_record_few_(&recorder_for_net, "%s %*d %t\0set.c:1",
                         (uintptr_t) "s", 2, 1, 0);
    cr_assert_str_eq(written_to(errors), "s  1 <%t 6 0>\n");
    DUMP_MUST_BE("s  1 <%t 0 0>\n");
}

/* ------------------------------------------------------------- environment --
 */

/* Goal: RECORDER_TRACES is read at the start, in C and in C++, before main().
 */
Test(set, environment, .init = build_begin, .fini = build_end, .timeout = 240)
{
    static const char *const compilers[] = {
        "gcc -std=c11 -Wstrict-prototypes", "clang -std=c2x",
        "g++ -std=c++11 -x c++", "clang++ -std=c++20 -x c++"};
    size_t i;
    for (i = 0; i < COUNT(compilers); i++) {
        char name[8];
        sscanf(compilers[i], "%7s", name);
        if (!build_has(name))
            continue;
        build_must("%s " BUILD_WARNINGS "-Wno-attributes " BUILD_INCLUDE
                   "-o x " BUILD_PROGRAMS "/compat_set.c",
                   compilers[i]);
        cr_assert_eq(build_run("./x"), 3);
        cr_assert_str_eq(build_text, "");
        cr_assert_eq(build_run("RECORDER_TRACES=net:net_retries=5 ./x"), 5);
        cr_assert_str_eq(build_text, "net: 5\n");
        cr_assert_eq(build_run("RECORDER_TRACES=\"all:/disk foo\" ./x"), 3);
        cr_assert_str_eq(build_text,
                         "recorder: traces: foo: no recorder or tweak has this "
                         "name, nor a command\nnet: 3\n");
    }
}
