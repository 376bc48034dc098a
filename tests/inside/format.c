/* recorder/format.h against snprintf, bad strings, fuzz. */
/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "harness/random.h"
#include "recorder.h"
#include "recorder/format.h"
#include "recorder/heading.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Random numbers that can be repeated ---- */

static uint64_t seed, state;

static void random_start(void)
{
    seed = seed_of("format");
    state = seed;
}

static uint64_t random_word(void)
{
    return random_of(&state);
}

static unsigned random_below(unsigned n)
{
    return (unsigned)(random_word() % n);
}

/* ---- The oracle ---- */

/* The C type that a conversion takes. */
enum type { INT, LONG, LONG_LONG, POINTER, DOUBLE, LONG_DOUBLE };

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define PRINT(value)                                                           \
    (stars == 0   ? snprintf(to, size, format, value)                          \
     : stars == 1 ? snprintf(to, size, format, star[0], value)                 \
                  : snprintf(to, size, format, star[0], star[1], value))

/* snprintf with a value of that type after up to two int. */
static int oracle(char *to, size_t size, const char *format, unsigned stars,
                  const int *star, enum type type, uint64_t word)
{
    switch (type) {
    case INT: return PRINT((int)word);
    case LONG: return PRINT((long)word);
    case LONG_LONG: return PRINT((long long)word);
    case POINTER: return PRINT((void *)(uintptr_t)word);
    case DOUBLE: return PRINT(double_of(word));
    default: return PRINT((long double)double_of(word));
    }
}

/* glibc 2.36 prints %#.5g of 99999.95 as 1.e+05, where C wants 1.0000e+05: it
   forgets the zeros if rounding yields a power of ten. That is not ours. */
static bool glibc_forgot_zeros(const char *format, const char *theirs)
{
    return strchr(format, '#') && strpbrk(format, "gG") &&
           (strstr(theirs, "1.e+") || strstr(theirs, "1.E+"));
}

/* Fails unless each heading comes off this format. */
static void without_heading(const char *format)
{
    static const char *const headings[] = {
        "",           RECORDER_HW0, RECORDER_HW1,  RECORDER_HW2,
        RECORDER_HW3, RECORDER_SW0, RECORDER_SW1,  RECORDER_SW2,
        RECORDER_SW3, "\1event\2",  "\1in\2\1s1\2"};
    static char text[4096];
    for (unsigned i = 0; i < COUNT(headings); i++) {
        struct recorder_headed_ headed;
        stpcpy(stpcpy(text, headings[i]), format);
        cr_assert_str_eq(recorder_heading_(text, &headed), format);
        cr_assert_eq(headed.severity, i == 0   ? -1
                                      : i < 9  ? (int)(i - 1) % 4
                                      : i == 9 ? -1
                                               : 1);
    }
}

/* Fails unless recorder_format_ and snprintf agree at that buffer size. */
static void same_at(size_t size, const char *format, unsigned stars,
                    const int *star, enum type type, uint64_t word)
{
    static char ours[4096], theirs[4096];
    uint64_t words[3];
    struct recorder_arguments_ arguments = {words, stars + 1, 0, 8,   NULL,
                                            NULL,  NULL,      0, NULL};
    size_t length;
    int expected;
    for (unsigned i = 0; i < stars; i++)
        words[i] = (uint64_t)star[i];
    words[stars] = word;
    if (type == LONG)
        arguments.word_bytes = sizeof(long);
    if (type == POINTER)
        arguments.word_bytes = sizeof(void *);
    without_heading(format);
    strcpy(ours, "untouched");
    strcpy(theirs, "untouched");
    length = recorder_format_(ours, size, format, &arguments);
    expected = oracle(theirs, size, format, stars, star, type, word);
    if ((length != (size_t)expected || strcmp(ours, theirs)) &&
        !glibc_forgot_zeros(format, theirs))
        cr_assert_fail("SEED=%llu: \"%s\" of %llx (* %d %d), size %zu:\n"
                       "%zu [%s], but snprintf %d [%s]",
                       (unsigned long long)seed, format,
                       (unsigned long long)word, stars > 0 ? star[0] : 0,
                       stars > 1 ? star[1] : 0, size, length, ours, expected,
                       theirs);
}

static void same(const char *format, enum type type, uint64_t word)
{
    same_at(4096, format, 0, NULL, type, word);
}

/* Calls same_at for every combination of flags, widths and precisions; where
   code is slow, for one of seven: others with the next value. */
static void same_for_all(const char *modifier, char conversion, enum type type,
                         uint64_t word)
{
    static const char flags[] = "-+ #0'";
    static const struct {
        const char *text;
        int star;
    } widths[] = {{"", 0}, {"1", 0}, {"7", 0}, {"20", 0}, {"*", 9}, {"*", -9}},
      precisions[] = {{"", 0},   {".0", 0},  {".", 0},  {".1", 0},
                      {".5", 0}, {".20", 0}, {".*", 3}, {".*", -1}};
    static unsigned turn;
    const unsigned step = instrumented() ? 7 : 1;
    for (unsigned set = 0; set < 64; set++)
        for (unsigned w = 0; w < COUNT(widths); w++)
            for (unsigned p = 0; p < COUNT(precisions); p++) {
                char format[32] = "%", *to = format + 1;
                unsigned stars = 0;
                int star[2];
                if (turn++ % step)
                    continue;
                for (unsigned i = 0; i < 6; i++)
                    if (set >> i & 1)
                        *to++ = flags[i];
                to = stpcpy(stpcpy(to, widths[w].text), precisions[p].text);
                to = stpcpy(to, modifier);
                *to++ = conversion;
                stpcpy(to, "|");
                if (widths[w].star)
                    star[stars++] = widths[w].star;
                if (precisions[p].star)
                    star[stars++] = precisions[p].star;
                same_at(4096, format, stars, star, type, word);
            }
}

/* ---- Numbers ---- */

/* Goal: integers print as by snprintf. Method: every conversion, subset of the
   flags, kind of width and precision, modifier, and value at a border. */
Test(format, same_as_snprintf)
{
    static const struct {
        const char *text;
        enum type type;
    } modifiers[] = {{"", INT},        {"hh", INT},       {"h", INT},
                     {"l", LONG},      {"ll", LONG_LONG}, {"j", LONG_LONG},
                     {"q", LONG_LONG}, {"L", LONG_LONG},  {"z", LONG},
                     {"t", LONG}};
    static const uint64_t values[] = {0,
                                      1,
                                      9,
                                      10,
                                      0x7f,
                                      0x80,
                                      01234,
                                      0x8000,
                                      0x80000000,
                                      0xffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff};
    for (const char *c = "diuoxXbB"; *c; c++)
        for (unsigned m = 0; m < COUNT(modifiers); m++)
            for (unsigned v = 0; v < COUNT(values); v++)
                if (m == 0 || v >= 4)
                    same_for_all(modifiers[m].text, *c, modifiers[m].type,
                                 values[v]);
}

/* Goal: pointers and characters print as by snprintf, null as (nil). */
Test(format, same_as_snprintf_pointers)
{
    static const uint64_t values[] = {0, 1, 0x7f001234, UINTPTR_MAX};
    for (unsigned v = 0; v < COUNT(values); v++)
        same_for_all("", 'p', POINTER, values[v]);
    same_for_all("", 'c', INT, 'x');
    same_for_all("l", 'c', INT, 'y');
    same_for_all("", 'C', INT, '~');
}

static const double doubles[] = {0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.5,
                                 1.5,
                                 2.5,
                                 9.5,
                                 9.9999999,
                                 99999.95,
                                 999999.5,
                                 0.1,
                                 1e-4,
                                 9.99995e-5,
                                 123456,
                                 1e15,
                                 1e22,
                                 1.7976931348623157e308,
                                 5e-324,
                                 2.2250738585072014e-308,
                                 2.225073858507201e-308,
                                 0.000123456789,
                                 4503599627370496.5,
                                 0x1.fffffffffffffp0,
                                 0x1.08p0,
                                 0x1.18p0,
                                 0x1p-1022};

/* Goal: reals print as by snprintf. Method: as for integers; ties, borders of
   %g, denormals, infinities, NaN. */
Test(format, same_as_snprintf_reals)
{
    for (const char *c = "eEfFgGaA"; *c; c++) {
        for (unsigned v = 0; v < COUNT(doubles); v++)
            same_for_all("", *c, DOUBLE, bits_of(doubles[v]));
        same_for_all("l", *c, DOUBLE, bits_of((double)INFINITY));
        same_for_all("", *c, DOUBLE, bits_of((double)-INFINITY));
        same_for_all("", *c, DOUBLE, bits_of((double)NAN));
        same_for_all("", *c, DOUBLE, bits_of(-(double)NAN));
    }
    for (const char *c = "eEfFgG"; *c; c++)
        same_for_all("L", *c, LONG_DOUBLE, bits_of(-3.25));
}

/* Goal: every digit of every double is exact. Method: the largest, the
   smallest and others with all their digits and more. */
Test(format, same_as_snprintf_to_the_last_digit)
{
    static const char *formats[] = {
        "%.1100f", "%.1100e",     "%.1100g",      "%#.1100g",
        "%.1100a", "%.1074f",     "%.767e",       "%.766e",
        "%.1073f", "%2000.1100f", "%-2000.900e|", "%02000.324f"};
    static const double more[] = {
        DBL_MAX,    DBL_MIN, DBL_TRUE_MIN, 1 / 3.0, 0x1.fffffffffffffp-1022,
        DBL_MAX / 3};
    for (unsigned f = 0; f < COUNT(formats); f++) {
        for (unsigned v = 0; v < COUNT(doubles); v++)
            same(formats[f], DOUBLE, bits_of(doubles[v]));
        for (unsigned v = 0; v < COUNT(more); v++)
            same(formats[f], DOUBLE, bits_of(more[v]));
    }
}

/* Goal: as above. Method: 2^e and its neighbours for every exponent e. */
Test(format, same_as_snprintf_for_every_exponent)
{
    static const char *formats[] = {"%.17g", "%.0f", "%.3e", "%a", "%.1074f"};
    for (uint64_t e = 0; e < 0x7ff; e++)
        for (unsigned f = 0; f < COUNT(formats); f++)
            for (uint64_t v = 0; v < 3; v++)
                same(formats[f], DOUBLE, (e << 52) + v - (e && 1));
}

/* Goal: as above. Method: a million doubles of random bits and of few decimal
   digits, through all conversions with random precisions. */
Test(format, same_as_snprintf_random_reals)
{
    static const char *formats[] = {"%.*e", "%.*f", "%.*g", "%.*a", "%#.*g"};
    random_start();
    for (unsigned i = 0, end = rounds(1000000); i < end; i++) {
        uint64_t word = random_word();
        unsigned f = random_below(COUNT(formats) + 1);
        int precision = (int)random_below(20);
        if (i % 2) {
            double nice = (double)random_below(10000000);
            for (unsigned n = random_below(12); n; n--)
                nice /= 10;
            word = bits_of(nice);
        }
        if (i % 16 == 0)
            word &= 0x800fffffffffffff; /* denormal */
        if (f == COUNT(formats))
            same("%.17g", DOUBLE, word);
        else
            same_at(4096, formats[f], 1, &precision, DOUBLE, word);
    }
}

/* Goal: as above for integers. Method: a million, of random lengths. */
Test(format, same_as_snprintf_random_integers)
{
    static const struct {
        const char *text;
        enum type type;
    } formats[] = {
        {"%lld", LONG_LONG},  {"%llu", LONG_LONG}, {"%llx", LONG_LONG},
        {"%#llo", LONG_LONG}, {"%llb", LONG_LONG}, {"%d", INT},
        {"%+012ld", LONG},    {"%hhu", INT},       {"%-20.14zu|", LONG}};
    random_start();
    for (unsigned i = 0, end = rounds(1000000); i < end; i++) {
        unsigned f = random_below(COUNT(formats));
        same(formats[f].text, formats[f].type,
             random_word() >> random_below(64));
    }
}

/* Goal: positions, several arguments, literal text, the I flag, malformed
   conversions, as by snprintf. Method: a table; int arguments only. */
Test(format, same_as_snprintf_positions)
{
    static const char *formats[] = {"%2$d %1$d",
                                    "%1$*2$d|",
                                    "%1$-*2$d|",
                                    "%3$.*2$d|",
                                    "%1$05d %% %2$x",
                                    "%d%%%d%5%%d",
                                    "%1$d %1$d %1$d",
                                    "%*2$d|",
                                    "a%1$-5db%2$+dc",
                                    "%Id",
                                    "%-*d|%d",
                                    "%.*d|%d",
                                    "%*.*d|",
                                    "100%% of %d",
                                    "%",
                                    "%0$d|",
                                    "%5-d|",
                                    "%.3+d|",
                                    "%+1$d|",
                                    "%00002$d",
                                    "plain",
                                    "",
                                    "%d|%*2$.*1$d"};
    const uint64_t words[] = {5, 7, 3, 4};
    struct recorder_arguments_ arguments = {words, 4,    0, 8,   NULL,
                                            NULL,  NULL, 0, NULL};
    for (unsigned i = 0; i < COUNT(formats); i++) {
        char ours[100], theirs[100] = "%";
        size_t length =
            recorder_format_(ours, sizeof ours, formats[i], &arguments);
        if (strcmp(formats[i], "%"))
            snprintf(theirs, sizeof theirs, formats[i], 5, 7, 3, 4);
        cr_assert_str_eq(ours, theirs, "%s: [%s] [%s]", formats[i], ours,
                         theirs);
        cr_assert_eq(length, strlen(theirs));
    }
}

/* Goal: floats of 32-bit programs print as the doubles they equal. */
Test(format, same_as_snprintf_float_words)
{
    random_start();
    for (unsigned i = 0, end = rounds(300000); i < end; i++) {
        uint32_t bits = (uint32_t)random_word();
        uint64_t words[] = {0xdeadbeef00000000 | bits};
        struct recorder_arguments_ arguments = {words, 1,    0, 4,   NULL,
                                                NULL,  NULL, 0, NULL};
        const char *format = i & 1 ? "%.9g" : i & 2 ? "%a" : "%.3e";
        char ours[100], theirs[100];
        float value;
        if (i % 8 == 0)
            words[0] = bits &= 0x807fffff; /* denormal */
        memcpy(&value, &bits, sizeof value);
        recorder_format_(ours, sizeof ours, format, &arguments);
        snprintf(theirs, sizeof theirs, format, (double)value);
        cr_assert(!strcmp(ours, theirs), "SEED=%llu: %x: [%s] [%s]",
                  (unsigned long long)seed, bits, ours, theirs);
    }
}

/* Goal: in 4-byte words, long and long long have 32 bits. */
Test(format, short_words_have_short_integers)
{
    const uint64_t words[] = {0xffffffff, 0xffffffff, UINT64_MAX, 0xffffffff};
    struct recorder_arguments_ arguments = {words, 4,    0, 4,   NULL,
                                            NULL,  NULL, 0, NULL};
    char line[80];
    recorder_format_(line, sizeof line, "%ld %lld %p %zx", &arguments);
    cr_assert_str_eq(line, "-1 -1 0xffffffff ffffffff");
}

/* ---- Sizes ---- */

/* Goal: cut text is the begin of the whole text, the length that of the whole.
   Method: snprintf at every buffer size from 0 to 40. */
Test(format, never_beyond_the_buffer)
{
    static const struct {
        const char *text;
        enum type type;
        double value;
    } formats[] = {{"%-30d|", INT, 0},         {"ab%030dcd", INT, 0},
                   {"%30.20d", INT, 0},        {"%#30.20x", INT, 0},
                   {"%-#30.20o|", INT, 0},     {"plain text, %d", INT, 0},
                   {"%030.10f", DOUBLE, -1.5}, {"%30.10e|", DOUBLE, 1e300},
                   {"%-30g|", DOUBLE, 1e5},    {"%030a", DOUBLE, 0.1},
                   {"%.40f", DOUBLE, 1e-30},   {"%30.3p|", POINTER, 0}};
    for (size_t size = 0; size <= 40; size++)
        for (unsigned f = 0; f < COUNT(formats); f++)
            same_at(size, formats[f].text, 0, NULL, formats[f].type,
                    formats[f].type == DOUBLE ? bits_of(formats[f].value)
                                              : 0xfffffffffffffffb);
}

/* Goal: where glibc is wrong we are right. */
Test(format, zeros_of_the_alternate_form)
{
    uint64_t words[] = {bits_of(99999.95), bits_of(9.96)};
    struct recorder_arguments_ arguments = {words, 2,    0, 8,   NULL,
                                            NULL,  NULL, 0, NULL};
    char line[40];
    recorder_format_(line, sizeof line, "%#.5g %#.2g", &arguments);
    cr_assert_str_eq(line, "1.0000e+05 10.");
}

/* Goal: huge widths and precisions cost time for the buffer only, are counted
   right, and clamped where snprintf gives up. */
Test(format, never_beyond_the_largest_width)
{
    static const char *formats[] = {"%200000d",        "%-200000d|",
                                    "%.200000d",       "%0200000x",
                                    "%200000.199999d", "%#200000.199990e",
                                    "%#.200000g",      "%-200000.50000a|"};
    static const struct {
        const char *text;
        size_t length;
    } clamped[] = {{"%2147483640d", 2147483640},
                   {"%-2147483640d|", 2147483641},
                   {"%02147483640.2147483639f", 2147483642},
                   {"%99999999999d", INT_MAX},
                   {"%.99999999999d", INT_MAX},
                   {"%99999999999999999999999$d|%1$d", 8}, /* <lost>|0 */
                   {"%.2147483647f", (size_t)INT_MAX + 3},
                   {"%.2147483647e", (size_t)INT_MAX + 6},
                   {"%#.2147483647g", (size_t)INT_MAX + 1},
                   {"%.2147483647a", (size_t)INT_MAX + 7},
                   {"%.2147483647g", 4}};
    const uint64_t words[] = {bits_of(42.5)};
    struct recorder_arguments_ arguments = {words, 1,    0, 8,   NULL,
                                            NULL,  NULL, 0, NULL};
    char line[20];
    for (unsigned i = 0; i < COUNT(formats); i++)
        same_at(40, formats[i], 0, NULL, i < 5 ? INT : DOUBLE, words[0]);
    for (unsigned i = 0; i < COUNT(clamped); i++) {
        size_t length =
            recorder_format_(line, sizeof line, clamped[i].text, &arguments);
        cr_assert_eq(length, clamped[i].length, "%s: %zu [%s]", clamped[i].text,
                     length, line);
    }
}

/* ---- Text ---- */

/* A memory for tests: one text at TEXT, of which only size bytes can be read,
   at most step of them at a time. It notes how far it was asked. */
#define TEXT 0x10000u

struct memory {
    const void *text;
    size_t size;
    size_t step;
    size_t reached; /* the furthest offset after a byte that was asked for */
};

static ptrdiff_t memory_read(void *context, uint64_t address, char *to,
                             size_t size)
{
    struct memory *memory = context;
    size_t offset = (size_t)(address - TEXT);
    cr_assert(size > 0 && size <= 64, "asked for %zu bytes", size);
    if (address < TEXT || offset >= memory->size)
        return -1;
    if (memory->reached < offset + size)
        memory->reached = offset + size;
    if (size > memory->size - offset)
        size = memory->size - offset;
    if (size > memory->step)
        size = memory->step;
    memcpy(to, (const char *)memory->text + offset, size);
    return (ptrdiff_t)size;
}

/* Fails unless format, of one string in that memory, gives expected. */
static void shows(const char *expected, const char *format,
                  struct memory *memory)
{
    static char line[1 << 19];
    const uint64_t words[] = {TEXT};
    struct recorder_arguments_ arguments = {words,  1,    0, 8,   memory_read,
                                            memory, NULL, 0, NULL};
    size_t length = recorder_format_(line, sizeof line, format, &arguments);
    if (strcmp(line, expected) || length != strlen(expected))
        cr_assert_fail("SEED=%llu: %s, steps of %zu: [%s], expected [%s]",
                       (unsigned long long)seed, format, memory->step, line,
                       expected);
}

static void text_shows(const char *expected, const char *format,
                       const char *text)
{
    struct memory memory = {text, strlen(text) + 1, 64, 0};
    shows(expected, format, &memory);
}

/* Goal: a message is one line of valid UTF-8, whatever is in strings,
   characters and formats; a final newline is dropped, once. */
Test(format, always_one_line)
{
    static const struct {
        const char *format, *text, *expected;
    } lines[] = {
        {"a\nb\n", "", "a\\nb"},
        {"\n\n", "", "\\n"},
        {"\n", "", ""},
        {"%s\n", "x\n", "x\\n"},
        {"[%s]", "\t\r\n\a\x1b[0m\x7f", "[\\t\\r\\n\\x07\\x1b[0m\\x7f]"},
        {"%s", "back\\slash", "back\\slash"},
        {"%s", "gr\u00fc\u00dfe \u20ac \U0001f600",
         "gr\u00fc\u00dfe \u20ac \U0001f600"},
        {"\u00fc%s", "\xfc", "\u00fc\\xfc"},
        {"%s", "\xc2\x85|\xc2\xa0", "\\xc2\\x85|\u00a0"},
        {"%s", "\xc2\x9b|\u200d\u2010\u2027\u202f\u2065\u206a\u061d",
         "\\xc2\\x9b|\u200d\u2010\u2027\u202f\u2065\u206a\u061d"},
        {"%s", "\u2028\u2029", /* end a line */
         "\\xe2\\x80\\xa8\\xe2\\x80\\xa9"},
        {"%s", "\u061c\u200e\u200f\u202a\u202e", /* turn the direction */
         "\\xd8\\x9c\\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xe2\\x80\\xaa\\xe2\\x80"
         "\\xae"},
        {"%s", "\u2066\u2069", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
        {"%s", "\xc0\x80\xe0\x9f\xbf", "\\xc0\\x80\\xe0\\x9f\\xbf"},
        {"%s", "\xed\xa0\x80|\xf4\x90\x80\x80",
         "\\xed\\xa0\\x80|\\xf4\\x90\\x80\\x80"},
        {"%s", "\xe2\x82", "\\xe2\\x82"},
        {"%.2s|", "\u20ac", "\\xe2\\x82|"},
        {"%6s|", "\n", "    \\n|"},
        {"%-6s|", "\x01", "\\x01  |"},
        {"%6s|", "\u20ac", "   \u20ac|"},
        {"%\u20ac%s", "", "%\u20ac<lost>"},
        {"50%\n", "", "50%"},
        {"%\nx", "", "%\\nx"},
        {"%5\x01", "", "%5\\x01"}};
    for (unsigned i = 0; i < COUNT(lines); i++)
        text_shows(lines[i].expected, lines[i].format, lines[i].text);
}

/* The reference for the next tests: decodes by value instead of by range. */
static void escape(char *to, const unsigned char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t more = s[i] >= 0xf0 ? 3 : s[i] >= 0xe0 ? 2 : s[i] >= 0xc0;
        uint32_t value = more ? s[i] & (0x3fu >> more) : s[i];
        bool valid = i + more < n && s[i] < 0xf8 && (more || s[i] < 0x80);
        static const uint32_t least[] = {0x20, 0xa0, 0x800, 0x10000};
        for (size_t k = 1; valid && k <= more; k++) {
            valid = (s[i + k] & 0xc0) == 0x80;
            value = value << 6 | (s[i + k] & 0x3f);
        }
        valid = valid && value >= least[more] && value != 0x7f &&
                value <= 0x10ffff && (value < 0xd800 || value > 0xdfff) &&
                value != 0x61c && value != 0x200e && value != 0x200f &&
                (value < 0x2028 || value > 0x202e) &&
                (value < 0x2066 || value > 0x2069);
        if (valid) {
            memcpy(to, s + i, more + 1);
            to += more + 1;
            i += more + 1;
            continue;
        }
        to += s[i] == '\n'   ? sprintf(to, "\\n")
              : s[i] == '\t' ? sprintf(to, "\\t")
              : s[i] == '\r' ? sprintf(to, "\\r")
                             : sprintf(to, "\\x%02x", s[i]);
        i++;
    }
    *to = '\0';
}

/* Goal: escaping follows the definition of UTF-8, and how a string is cut into
   pieces cannot be seen. Method: random strings with many sequence bytes, read
   in pieces of random size, against a second decoder; also as a format. */
Test(format, always_one_line_random)
{
    static const char borders[] = "\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xc3\xdf\xe0"
                                  "\xe1\xe2\x81\x8e\xaa\xa6\xae\xd8\x9c\xed\xee"
                                  "\xef\xf0\xf1\xf3\xf4\xf5\xff\x7f";
    random_start();
    for (unsigned i = 0, end = rounds(300000); i < end; i++) {
        char text[140], expected[600];
        size_t n = random_below(i % 4 ? 8 : 138), pad = i % 4 == 1 ? 60 : 0;
        struct memory memory = {text, n + pad + 1, 1 + random_below(64), 0};
        memset(text, 'a', pad);
        for (size_t k = 0; k < n; k++)
            text[pad + k] = i % 2 ? borders[random_below(sizeof borders - 1)]
                                  : (char)(1 + random_below(255));
        text[pad + n] = '\0';
        escape(expected, (unsigned char *)text, pad + n);
        shows(expected, "%s", &memory);
        for (size_t k = 0; k < pad + n; k++)
            if (text[k] == '%')
                text[k] = '_';
        if (n && text[pad + n - 1] == '\n')
            text[pad + n - 1] = 'x';
        escape(expected, (unsigned char *)text, pad + n);
        shows(expected, text, &memory);
    }
}

/* Goal: every character is encoded right by %lc and %ls, also where a piece
   boundary cuts it. Method: all code points; what is none shows as U+FFFD. */
Test(format, always_one_line_wide)
{
    for (uint32_t c = 1; c < 0x110400; c += c < 0x3000 ? 1 : 61) {
        uint32_t wide[] = {'a', c, 0};
        uint64_t words[] = {c};
        unsigned char bytes[8] = {'a'};
        char expected[40], line[40];
        struct memory memory = {wide, sizeof wide, 1 + c % 7, 0};
        struct recorder_arguments_ arguments = {words, 1,    0, 8,   NULL,
                                                NULL,  NULL, 0, NULL};
        uint32_t v = c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c;
        size_t n = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
        for (size_t k = n; k; k--, v >>= 6)
            bytes[k] = (unsigned char)(k > 1    ? 0x80 | (v & 0x3f)
                                       : n == 1 ? v
                                                : (0xf00u >> n & 0xff) | v);
        escape(expected, bytes, n + 1);
        shows(expected, c & 1 ? "%ls" : "%S", &memory);
        recorder_format_(line, sizeof line, c & 1 ? "%lc" : "%C", &arguments);
        cr_assert_str_eq(line, expected + 1, "U+%x", c);
    }
}

/* Goal: %.*s counts bytes read, %.*ls whole characters in bytes written, both
   as snprintf does for ASCII; null pointers as glibc. */
Test(format, same_as_snprintf_strings)
{
    static const char *formats[] = {"%s|",      "%10s|",  "%-10s|", "%.2s|",
                                    "%10.2s|",  "%010s|", "%.0s|",  "%.s|",
                                    "%-10.9s|", "%#s",    "%+.3s|", "%2s|",
                                    "%.5s",     "%.6s|",  "%1.4s"};
    for (unsigned i = 0; i < COUNT(formats); i++) {
        const uint64_t words[] = {0};
        struct recorder_arguments_ arguments = {words, 1,    0, 8,   NULL,
                                                NULL,  NULL, 0, NULL};
        uint32_t wide[] = {'h', 'e', 'l', 'l', 'o', 0};
        struct memory memory = {wide, sizeof wide, 64, 0};
        int to_s = (int)strcspn(formats[i], "s");
        char expected[100], line[100], format[20];
        snprintf(expected, sizeof expected, formats[i], "hello");
        text_shows(expected, formats[i], "hello");
        sprintf(format, "%.*sl%s", to_s, formats[i], formats[i] + to_s);
        shows(expected, format, &memory);
        snprintf(expected, sizeof expected, formats[i], (char *)NULL);
        recorder_format_(line, sizeof line, formats[i], &arguments);
        cr_assert_str_eq(line, expected, "%s: [%s]", formats[i], line);
    }
}

/* Goal: what cannot be read is shown as an address or ends in "..." and harms
   nobody. Method: a string that ends at an unmapped page, read by the kernel;
   every distance to the page end; bad pointers; no memory at all. */
static ptrdiff_t kernel_read(void *context, uint64_t address, char *to,
                             size_t size)
{
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    (void)context;
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0);
}

Test(format, bad_strings_shown)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char line[400], expected[400];
    uint64_t words[2] = {0, 7};
    struct recorder_arguments_ arguments = {words, 2,    0, 8,   kernel_read,
                                            NULL,  NULL, 0, NULL};
    cr_assert(pages != MAP_FAILED);
    munmap(pages + page, page);
    memset(pages, 'x', page);
    for (unsigned n = 0; n < 300; n++) {
        words[0] = (uintptr_t)pages + page - n;
        recorder_format_(line, sizeof line, "%s|%d", &arguments);
        memset(expected, 'x', n);
        strcpy(expected + n, "...|7");
        if (!n)
            sprintf(expected, "%p|7", (void *)(pages + page));
        cr_assert_str_eq(line, expected, "%u bytes: [%s]", n, line);
        sprintf(line, "%%.%us|%%d", n);
        recorder_format_(expected, sizeof expected, line, &arguments);
        cr_assert_eq(strlen(expected), n + 2, "precision ends the string");
        pages[page - 1] = '\0';
        if (n)
            cr_assert_eq(recorder_format_(line, 0, "%s", &arguments), n - 1);
        pages[page - 1] = 'x';
    }
    words[0] = 0x1234;
    recorder_format_(line, sizeof line, "%10s|%.1s|%-8ls|%.0s|", &arguments);
    cr_assert_str_eq(line, "    0x1234|0x7|<lost>|<lost>|");
    arguments.text = NULL;
    recorder_format_(line, sizeof line, "%1$10s|%1$.1s|%1$-8ls|%1$.0s|",
                     &arguments);
    cr_assert_str_eq(line, "    0x1234|0x1234|0x1234  ||");
    munmap(pages, page);
}

/* Goal: never a byte beyond the precision is asked for. Method: a memory that
   notes it; pieces, wide strings, and the limit of 64 KiB. */
Test(format, never_beyond_the_precision)
{
    static char text[200000], expected[70000];
    memset(text, 'y', sizeof text);
    for (size_t n = 0; n < 200; n++) {
        struct memory memory = {text, sizeof text, 1 + n % 64, 0};
        struct memory wide = {text, sizeof text, 64, 0};
        char format[20];
        memset(expected, 'y', n);
        expected[n] = '\0';
        sprintf(format, "%%.%zus", n);
        shows(expected, format, &memory);
        cr_assert_eq(memory.reached, n);
        *expected = '\0';
        for (size_t k = 0; k + 3 <= n; k += 3)
            strcat(expected, "\xef\xbf\xbd");
        sprintf(format, "%%.%zuls", n);
        shows(expected, format, &wide);
        cr_assert_leq(wide.reached, 4 * n);
    }
    struct memory endless = {text, sizeof text, 64, 0};
    memset(expected, 'y', 65536);
    strcpy(expected + 65536, "...");
    shows(expected, "%s", &endless);
    shows(expected, "%.65537s", &endless);
    expected[65536] = '\0';
    shows(expected, "%.65536s", &endless);
    cr_assert_eq(endless.reached, 65536);
    text[65535] = expected[65535] = '\0';
    shows(expected, "%s", &endless);
}

/* ---- What is not printf ---- */

/* Goal: lost words are said, not guessed, also those of a width. %n stores
   nothing. Unknown conversions stay visible and consume their word. */
Test(format, lost_is_said)
{
    static const struct {
        const char *format, *expected;
        unsigned words;
    } lines[] = {{"%d %d %d %d %d", "1 <lost> 3 4 <lost>", 5},
                 {"%s|%p|%5.1f|%c", "0x1|<lost>|  0.0|\\x04", 4},
                 {"%*d|%d", "<lost>|3", 3},
                 {"%2$*1$d|%1$*2$d|%3$d", "<lost>|<lost>|3", 3},
                 {"%.*d|%d", "<lost>|3", 3},
                 {"%*%|%d", "%|<lost>", 2},
                 {"%d%n|%d", "1%n|3", 3},
                 {"%5ln%y%-+3.4hhk%d", "%5ln%y%-+3.4hhk4", 4},
                 {"%1$n %1$d", "%1$n 1", 1},
                 {"%m %5m %d", "<lost> <lost> 1", 1},
                 {"%d %.1f %m", "1 <lost> <no errno>", 2},
                 {"%1$d %9m|%3$d", "1 <no errno>|3", 3},
                 {"%hhhd %d", "%hhhd <lost>", 2},
                 {"%d %", "1 %", 1},
                 {"%d %-5.", "1 %-5.", 1},
                 {"%d %*", "1 %*", 2},
                 {"%d %3$", "1 %3$", 1},
                 {"%40$d", "<lost>", 40},
                 {"", "", 0}};
    const uint64_t words[] = {1, 2, 3, 4};
    struct recorder_arguments_ arguments = {words, 4,    1u << 1, 8,   NULL,
                                            NULL,  NULL, 0,       NULL};
    char line[100];
    for (unsigned i = 0; i < COUNT(lines); i++) {
        recorder_format_(line, sizeof line, lines[i].format, &arguments);
        cr_assert_str_eq(line, lines[i].expected, "%s: [%s]", lines[i].format,
                         line);
        cr_assert_eq(recorder_format_count_(lines[i].format), lines[i].words,
                     "%s: %u words", lines[i].format,
                     recorder_format_count_(lines[i].format));
    }
}

/* ---- Fuzz ---- */

static ptrdiff_t fuzz_read(void *context, uint64_t address, char *to,
                           size_t size)
{
    static const char *table[] = {
        "", "text", "\xff\xe2\x82", "a\nb",
        "a text that needs a second piece because of euros \u20ac\u20ac\u20ac"};
    uint64_t row = address >> 8, offset = address & 255;
    const char *text = table[row % COUNT(table)];
    size_t n = 0;
    (void)context;
    if (row == 0 || row > COUNT(table) || offset > strlen(text))
        return row % 2 ? 0 : -1;
    for (n = 0; n < size && offset + n <= strlen(text); n++)
        to[n] = text[offset + n];
    return (ptrdiff_t)n;
}

/* Fails unless a format that was parsed for other words shows these as one that
   is parsed for them. */
static void same_when_planned(const char *format,
                              const struct recorder_arguments_ *arguments)
{
    struct recorder_arguments_ others = *arguments;
    struct recorder_plan_ plan = {0};
    char line[120], planned[120];
    uint64_t words[32];
    size_t length = recorder_format_(line, sizeof line, format, arguments);
    for (unsigned i = 0; i < COUNT(words); i++)
        words[i] = random_below(2) ? random_word() : 0x100;
    others.word = words;
    others.missing = random_below(3) ? 0 : (uint32_t)random_word();
    recorder_format_planned_(planned, sizeof planned, format, &others, &plan);
    if (length != recorder_format_planned_(planned, sizeof planned, format,
                                           arguments, &plan) ||
        strcmp(line, planned))
        cr_assert_fail("SEED=%llu: \"%s\": [%s], but by its %u parts [%s]",
                       (unsigned long long)seed, format, line, plan.count,
                       planned);
}

/* Goal: no format and no words can do harm. Method: a million random formats
   of characters that matter to printf; the text is one terminated line within
   its buffer, its length does not depend on the buffer, the words that
   recorder_format_count_ counts, and one for errno, are enough, and parsing once
   is enough. */
Test(format, never_beyond_fuzz)
{
    static const char letters[] = "%%%%%%%%diouxXcspeEfFgGaAnmbBlhhjztqLCSI"
                                  "-+ #0'.*$123456789 ab\n\\\xc3\xa4\x01";
    random_start();
    for (unsigned i = 0, all = rounds(1000000); i < all; i++) {
        char format[24], line[120];
        uint64_t words[32];
        struct recorder_arguments_ arguments = {
            words, 32,   0, i % 3 ? 8 : 4, i % 7 ? fuzz_read : NULL,
            NULL,  NULL, 0, NULL};
        size_t n = random_below(sizeof format), size = random_below(100);
        size_t length;
        for (size_t k = 0; k < n; k++)
            format[k] = letters[random_below(sizeof letters - 1)];
        format[n] = '\0';
        for (unsigned k = 0; k < 32; k++)
            words[k] = random_word() >> random_below(64);
        words[random_below(32)] = 0x100 + random_below(0x580);
        arguments.count = recorder_format_count_(format) + 1;
        if (arguments.count > 32)
            arguments.count = 32;
        memset(line, '\x02', sizeof line);
        length = recorder_format_(line, size, format, &arguments);
        if (i % 4 == 0)
            same_when_planned(format, &arguments);
        bool right = length == recorder_format_(NULL, 0, format, &arguments);
        for (size_t k = size; k < sizeof line; k++)
            right = right && line[k] == '\x02';
        if (size) {
            size_t end = length < size ? length : size - 1;
            right = right && line[end] == '\0' && strlen(line) == end;
            for (size_t k = 0; k < end; k++)
                right = right && (line[k] < 0 || line[k] >= ' ');
            if (recorder_format_count_(format) < 32)
                right = right && !strstr(line, "<lost>");
        }
        if (!right)
            cr_assert_fail("SEED=%llu: \"%s\", size %zu: %zu [%s]",
                           (unsigned long long)seed, format, size, length,
                           line);
    }
}
