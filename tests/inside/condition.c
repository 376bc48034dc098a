/* Conditions: numbers as the C library reads them, arguments compared as C and
 * arithmetic without bounds compare them. */
/* SPDX-License-Identifier: MIT */
#include "harness/capture.h"

#include "recorder_trigger.h"

#include <math.h>
#include <wchar.h>

RECORDER(disk, 256, "Disk operations");

static int errors; /* what was written to stderr */
static uint64_t random_seed, random_state;
static void begin(void)
{
    random_seed = random_state = seed_of("condition");
    errors = redirect(2);
}
TestSuite(condition, .init = begin, .timeout = 240);

static uint64_t random_word(void)
{
    return random_of(&random_state);
}
static unsigned one_of(unsigned count)
{
    return (unsigned)(random_word() % count);
}

static unsigned seen;
static void see(void *context, const struct recorder_seen *what)
{
    (void)context, (void)what;
    seen++;
}
/* Sets one trigger, and no other. */
static bool set(const char *text)
{
    memset(recorder_triggers_.all, 0, sizeof recorder_triggers_.all);
    recorder_triggers_.used = 0;
    seen = 0;
    return recorder_trigger_call(text, see, NULL);
}

/* -------------------------------------------------------------- numbers -- */

static uint64_t bits_of(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Goal: a decimal number is rounded as strtod() rounds, and to a float as C
 * converts that double. Method: random digits, points and exponents; doubles
 * with all their digits, and the decimals halfway between two of them. */
Test(condition, numbers_as_strtod)
{
    unsigned i, n = scaled(100000);
    for (i = 0; i < n; i++) {
        struct recorder_number_ number;
        char text[80];
        const char *end;
        double real;
        float single;
        uint32_t bits;
        if (i % 3 == 0) {
            uint64_t word = random_word();
            memcpy(&real, &word, sizeof real);
            sprintf(text, i % 2 ? "%.17g" : "%.40e", real);
        } else if (i % 3 == 1) {
            sprintf(text, "%llu.%llue%d", (unsigned long long)random_word(),
                    (unsigned long long)random_word(), (int)one_of(700) - 360);
        } else { /* between two floats, and between two doubles */
            uint64_t word = random_word() % ((uint64_t)1 << 25);
            sprintf(text, i % 2 ? "%.1f" : "9007199254740%.0f",
                    i % 2 ? (double)word + 0.5 : (double)(word % 1000));
        }
        real = strtod(text, NULL);
        end = recorder_number_read_(&number, text);
        if (isinf(real) && !strstr(text, "inf")) {
            cr_assert_null(end, "%s", text);
            continue;
        }
        cr_assert(end && !*end, "%s: seed %" PRIu64, text, random_seed);
        if (isnan(real)) {
            cr_assert(number.nan, "%s", text);
            continue;
        }
        cr_assert_eq(number.real, bits_of(real), "%s: %a, seed %" PRIu64, text,
                     real, random_seed);
        single = (float)real;
        memcpy(&bits, &single, sizeof bits);
        cr_assert_eq(number.single, bits, "%s: %a, seed %" PRIu64, text,
                     (double)single, random_seed);
    }
}

/* Goal: times are exact, with each unit and with fractions. */
Test(condition, times)
{
    static const struct {
        const char *text;
        uint64_t ns; /* 0: refused */
    } cases[] = {{"20ms", 20000000},
                 {"5min", 300000000000},
                 {"5m", 300000000000},
                 {"1.5s", 1500000000},
                 {"0.003971005s", 3971005},
                 {"7ns", 7},
                 {"3us", 3000},
                 {"2h", 7200000000000},
                 {"1d", 86400000000000},
                 {"106751d", 9223286400000000000},
                 {"1e3s", 1000000000000},
                 {"106752d", 0},
                 {"1", 0},
                 {"s", 0},
                 {"1sec", 0},
                 {"1k", 0},
                 {"99999999999999999999s", 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t ns = 0;
        const char *end = recorder_number_time_(cases[i].text, &ns);
        cr_expect_eq(end ? ns : 0, cases[i].ns, "%s: %" PRIu64, cases[i].text,
                     ns);
    }
}

/* ----------------------------------------------------------- comparisons -- */

/* An argument: its conversion, and its value as a number. */
struct made {
    const char *format;
    bool is_real;
    long double value; /* x87: 64 bits of mantissa, so all integers are exact */
    double real;
};

static uint64_t edge(void)
{
    static const uint64_t edges[] = {
        0,          1,         2,          50,         127,
        128,        255,       256,        32767,      32768,
        65535,      65536,     INT32_MAX,  1u << 31,   UINT32_MAX,
        UINT64_MAX, INT64_MAX, 1ull << 63, 1ull << 53, 1ull << 52};
    uint64_t word = edges[one_of(COUNT(edges))] + one_of(3) - 1;
    return one_of(2) ? word : 0 - word;
}

static double real_edge(void)
{
    static const double edges[] = {
        0.0, 0.1,   0.5,    1.5,   1e-308, 4.94e-324, 1e308, 9007199254740993.0,
        90,  1e307, 0x1p63, 0x1p64};
    double real = one_of(12)  ? edges[one_of(COUNT(edges))]
                  : one_of(2) ? (double)NAN
                              : (double)INFINITY;
    return one_of(2) ? -real : real;
}

/* Records one argument of a random type. */
static struct made made_record(void)
{
    uint64_t w = edge();
    struct made made = {.value = 0};
    switch (one_of(14)) {
#define MADE(index, text, type)                                                \
    case index:                                                                \
        made.format = text;                                                    \
        made.value = (type)w;                                                  \
        record(disk, "n=" text, (type)w);                                      \
        break
        MADE(0, "%d", int);
        MADE(1, "%u", unsigned);
        MADE(2, "%hd", short);
        MADE(3, "%hhu", unsigned char);
        MADE(4, "%zu", size_t);
        MADE(5, "%ld", long);
        MADE(6, "%lx", unsigned long);
        MADE(7, "%hhd", signed char);
        MADE(8, "%hx", unsigned short);
        MADE(9, "%c", unsigned char);
        MADE(10, "%zd", ssize_t);
#undef MADE
    case 11:
        made.format = "%p";
        made.value = (uintptr_t)w;
        record(disk, "n=%p", (void *)(uintptr_t)w);
        break;
    default:
        made.format = "%g";
        made.is_real = true;
        made.real = real_edge();
        if (sizeof(void *) == 4)
            made.real = (float)made.real;
        record(disk, "n=%g", made.real);
    }
    return made;
}

/* Writes a number; returns false if it is to be refused. */
static bool made_number(char *text, long double *value, double *real)
{
    static const char *const written[] = {"0.5",
                                          "-0.5",
                                          "1.5e3",
                                          "-0",
                                          "+7",
                                          "0.1",
                                          "inf",
                                          "-inf",
                                          "nan",
                                          "9e18",
                                          "1e-400",
                                          "1.25k",
                                          "3M",
                                          "-2G",
                                          "1e400",
                                          "018446744073709551615",
                                          "18446744073709551616",
                                          "0x10000000000000000",
                                          "0x1F"};
    uint64_t w = edge();
    const char *at = written[one_of(COUNT(written))];
    long double factor = 1;
    char *end;
    switch (one_of(4)) {
    case 0: sprintf(text, "%" PRId64, (int64_t)w); break;
    case 1: sprintf(text, "%" PRIu64, w); break;
    case 2: sprintf(text, "0x%" PRIx64, w); break;
    default: strcpy(text, at);
    }
    *value = strtold(text, &end);
    *real = strtod(text, NULL);
    factor = *end == 'k' ? 1e3L : *end == 'M' ? 1e6L : *end == 'G' ? 1e9L : 1;
    *value *= factor;
    *real *= (double)factor;
    if (sizeof(void *) == 4)
        *real = (float)*real;
    return strcmp(text, "1e400") != 0 && strcmp(text, "18446744073709551616") &&
           strcmp(text, "0x10000000000000000") != 0;
}

#define COMPARES(left, how, right)                                             \
    (strcmp(how, ">") == 0    ? (left) > (right)                               \
     : strcmp(how, "<") == 0  ? (left) < (right)                               \
     : strcmp(how, ">=") == 0 ? (left) >= (right)                              \
     : strcmp(how, "<=") == 0 ? (left) <= (right)                              \
     : *(how) == '='          ? (left) == (right)                              \
                              : (left) != (right))

/* Goal: each argument is compared with each number as arithmetic has it, by the
 * type of its conversion. Method: random types, operators and edges; doubles by
 * C, integers exactly. */
Test(condition, compares_by_type)
{
    static const char how[][3] = {">", "<", ">=", "<=", "=", "==", "!="};
    unsigned i, n = rounds(100000), met = 0, refused = 0;
    for (i = 0; i < n; i++) {
        char number[64], text[128];
        const char *by = how[one_of(COUNT(how))];
        long double value;
        double real;
        struct made made;
        bool good = made_number(number, &value, &real), is;
        sprintf(text, "disk: %s%s%s", one_of(2) ? "1" : "n", by, number);
        cr_assert_eq(set(text), good, "%s: seed %" PRIu64, text, random_seed);
        refused += !good;
        if (!good)
            continue;
        made = made_record();
        is = made.is_real ? COMPARES(made.real, by, real)
                          : COMPARES(made.value, by, value);
        cr_assert_eq(seen, is, "%s: %s is %Lg or %g, seed %" PRIu64, text,
                     made.format, made.value, made.real, random_seed);
        met += is;
    }
    cr_assert(met > n / 10 && met < n - n / 10 && refused > n / 100);
}

/* Goal: texts are compared by their bytes, as far as the conversion shows them;
 * what has no such argument, or is of another kind, is not met. */
Test(condition, texts_and_others)
{
    static const struct {
        const char *condition, *met; /* by the letters below */
    } cases[] = {
        {"peer=alpha", "ab"}, {"peer!=alpha", "cd"}, {"1=\"alpha\"", "abe"},
        {"peer='al'", "c"},   {"peer=5", "d"},       {"peer>5", ""},
        {"id=5", "fg"},       {"id=x", "h"},         {"id!=5", "h"},
        {"id&4", "fg"},       {"2=5", "i"},          {"2=alpha", ""},
        {"id=0x78", "h"},     {"nothing!=5", ""},    {"id=\"5\"", "g"}};
    static const char shown[] = "alpha and beta";
    char copied[] = "alpha";
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[64], met[16];
        unsigned count = 0;
        sprintf(text, "disk: %s: again", cases[i].condition);
        cr_assert(set(text), "%s", text);
#define MAKE(letter, ...)                                                      \
    do {                                                                       \
        unsigned before = seen;                                                \
        record(disk, __VA_ARGS__);                                             \
        if (seen != before)                                                    \
            met[count++] = letter;                                             \
    } while (0)
        MAKE('a', "peer=%s", copied);
        MAKE('b', "peer=%.5s", shown);
        MAKE('c', "peer=\"%.*s\"", 2, shown);
        MAKE('d', "peer=%s", "5");
        MAKE('e', "of %s", "alpha");
        MAKE('f', "id=%d", 5);
        MAKE('g', "id=%c", '5' - 48);
        MAKE('h', "id=%c", 'x');
        MAKE('i', "%s %d", "beta", 5);
        met[count] = '\0';
        if (strcmp(cases[i].condition, "id=\"5\"") == 0)
            continue; /* a character of code 5 is not '5' */
        cr_assert_str_eq(met, cases[i].met, "%s: %s", text, met);
    }
}
