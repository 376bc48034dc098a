/* All that can be said with recorder.h, in C and in C++: not a warning. */
/* SPDX-License-Identifier: MIT */
/*
    Compiled by tests/outside/languages.c in every language there is, with RECORDER_OFF
    and without; run, it checks that what was recorded is what was meant.
*/
/* clang-format off: what is here twice, or on one line, is meant so */
#ifdef STDIO_FIRST
#include <stdio.h>
#endif
#include "recorder.h"
#include "recorder.h"

#include "read.h"

#include <limits.h>
#include <wchar.h>

/* With and without: semicolon, description, lanes. */
RECORDER(net, 256, "Network traffic");
RECORDER(disk, 100, "Disk")
RECORDER(cpu, 1)
RECORDER(memory, (1 << 4) + 1);
RECORDER_LANES(lanes, 16, 4, "Four lanes");
RECORDER_LANES(two, 16, 2)
RECORDER_DECLARE(net);
RECORDER_DECLARE(disk)
RECORDER_DECLARE(nowhere)
RECORDER(context, 16)

/* What may follow a recorder without a semicolon. */
RECORDER(f_static, 1) static int counted;
RECORDER(f_typedef, 1) typedef int number;
RECORDER(f_struct, 1) struct point { number x, y; };
RECORDER(f_enum, 1) enum colour { RED, GREEN = 7, BLUE = 4000000000u };
RECORDER(f_attribute, 1) __attribute__((unused)) static int unused;
RECORDER(f_extern, 1) extern int outside;
RECORDER(f_recorder, 1) RECORDER(f_function, 1)
static int next(void)
{
    return ++counted;
}
enum below { MINUS = -5, PLUS = 5 };

#ifdef RECORDER_OFF
static void must_be_off(uintptr_t order)
{
    MUST(order == 0);
}
#define KEEPS(call, ...) must_be_off(call)
#else
/* Records, and checks the words. */
#define KEEPS(call, ...)                                                       \
    do {                                                                       \
        uintptr_t order_ = call;                                               \
        const uintptr_t words_[] = {__VA_ARGS__};                              \
        MUST(order_ != 0);                                                     \
        read_must_be(__LINE__, order_, words_,                                 \
                     (unsigned)(sizeof words_ / sizeof words_[0]));            \
    } while (0)
#endif

static inline uintptr_t bits(double value)
{
    uintptr_t word = 0;
#if __SIZEOF_POINTER__ == 8
    memcpy(&word, &value, sizeof value);
#else
    float single = (float)value;
    memcpy(&word, &single, sizeof single);
#endif
    return word;
}

struct fields {
    unsigned one : 1;
    unsigned many : 31;
    int sign : 5;
    unsigned short small : 9;
    bool flag : 1;
};

static void integers(void)
{
    signed char sc = SCHAR_MIN;
    unsigned char uc = UCHAR_MAX;
    char c = 'x';
    short s = SHRT_MIN;
    unsigned short us = USHRT_MAX;
    int i = INT_MIN;
    unsigned u = UINT_MAX;
    long l = LONG_MIN;
    unsigned long ul = ULONG_MAX;
    bool b = true;
    wchar_t w = L'w';
    wint_t wi = L'x';
    const int ci = -1;
    volatile int vi = -2;
    const volatile long cvl = -3;
    struct fields f = {1, 0x7fffffff, -16, 511, true};
    enum colour colour = BLUE;
    enum below below = MINUS;
    KEEPS(record(net, "%hhd %hhu %c", sc, uc, c), (uintptr_t)(intptr_t)SCHAR_MIN,
          UCHAR_MAX, 'x');
    KEEPS(record(net, "%hd %hu", s, us), (uintptr_t)(intptr_t)SHRT_MIN,
          USHRT_MAX);
    KEEPS(record(net, "%d %u", i, u), (uintptr_t)(intptr_t)INT_MIN, UINT_MAX);
    KEEPS(record(net, "%ld %lu", l, ul), (uintptr_t)LONG_MIN, ULONG_MAX);
    KEEPS(record(net, "%d", b), 1);
    KEEPS(record(net, "%lc %lc", (wint_t)w, wi), 'w', 'x');
    KEEPS(record(net, "%x", (unsigned)w), 'w');
    KEEPS(record(net, "%d %d %ld", ci, vi, cvl), (uintptr_t)-1, (uintptr_t)-2,
          (uintptr_t)-3);
    KEEPS(record(net, "%u %u %d %u %d", f.one, f.many, f.sign,
                 (unsigned)f.small, f.flag),
          1, 0x7fffffff, (uintptr_t)-16, 511, 1);
    KEEPS(record(net, "%hu", f.small), 511);
    KEEPS(record(net, "%u %d %d", (unsigned)colour, below, (int)GREEN),
          4000000000u, (uintptr_t)-5, 7);
    KEEPS(record(net, "%zu %zd", sizeof(int), (ptrdiff_t)-9), sizeof(int),
          (uintptr_t)-9);
    KEEPS(record(net, "%td", (ptrdiff_t)-10), (uintptr_t)-10);
    KEEPS(record(net, "%d %c", 'a', 'b'), 'a', 'b');
    KEEPS(record(net, "%d%%", -100), (uintptr_t)-100);
    KEEPS(record(net, "%*d %.*f", 5, 6, 2, 1.5), 5, 6, 2, bits(1.5));
#if __SIZEOF_POINTER__ == 8
    {
        long long ll = LLONG_MIN;
        unsigned long long ull = ULLONG_MAX;
        intmax_t im = INTMAX_MIN;
        uintmax_t um = UINTMAX_MAX;
        int64_t i64 = INT64_MIN;
        KEEPS(record(net, "%lld %llu %jd %ju", ll, ull, im, um),
              (uintptr_t)LLONG_MIN, ULLONG_MAX, (uintptr_t)INTMAX_MIN,
              UINTMAX_MAX);
        KEEPS(record(net, "%lx", (unsigned long)i64), (uintptr_t)INT64_MIN);
    }
#endif
}

static void reals(void)
{
    const double values[] = {0.0, -0.0, 1.0, -1.5e300, 5e-324,
                             __builtin_inf(), -__builtin_inf(),
                             __builtin_nan("0x1234")};
    float f = 1.0f / 3.0f;
    const volatile double cvd = 2.25;
    unsigned i;
    for (i = 0; i < sizeof values / sizeof values[0]; i++)
        KEEPS(record(net, "%g", values[i]), bits(values[i]));
    KEEPS(record(net, "%f %g", (double)f, cvd), bits((double)f), bits(2.25));
    KEEPS(record(net, "%f", f), bits((double)f));
    KEEPS(record(net, "%f %d %e %d %a %d %g", 1.0, 2, 3.0, 4, 5.0, 6, 7.0),
          bits(1.0), 2, bits(3.0), 4, bits(5.0), 6, bits(7.0));
}

#ifdef __cplusplus
#define restrict __restrict
#define WORD(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define WORD(pointer) (uintptr_t)(pointer)
#endif

static void pointers(const char *restrict text, int *const constant)
{
    static int array[4];
    char letters[8] = "letters";
    struct point point = {1, 2};
    const volatile int *cv = array;
    int **pp = NULL;
    void *none = NULL;
    int (*function)(void) = next;
    const void *untyped = &point;
    KEEPS(record(net, "%s %p", RECORDER_ADDRESS(text), (void *)constant),
          WORD(text), WORD(constant));
    KEEPS(record(net, "%s %.3s", RECORDER_ADDRESS(&letters[0]),
                 RECORDER_ADDRESS(letters)),
          WORD(&letters[0]), WORD(&letters[0]));
    KEEPS(record(net, "%p %-20p %.0s", (const void *)text, (void *)letters,
                 text),
          WORD(text), WORD(&letters[0]), WORD(text));
    KEEPS(record(net, "%p", (void *)letters), WORD(&letters[0]));
    KEEPS(record(net, "%p %p %p %p", array, cv, pp, none), WORD(&array[0]),
          WORD(&array[0]), 0, 0);
    KEEPS(record(net, "%p", untyped), WORD(&point));
    KEEPS(record(net, "%p", &point), WORD(&point));
    KEEPS(record(net, "%p %p", text, &text[1]), WORD(text), WORD(&text[1]));
    KEEPS(record(net, "%p", (void *)(uintptr_t)function), WORD(next));
    KEEPS(record(net, "%#lx", (unsigned long)(uintptr_t)&array[1]),
          WORD(&array[1]));
    KEEPS(record(net, "%p", (void *)NULL), 0);
    record(net, "%s %s", "a literal", __func__);
#ifdef __cplusplus
    KEEPS(record(net, "%p %d", nullptr, 1), 0, 1);
#else
    KEEPS(record(net, "%p %d", NULL, 1), 0, 1);
#endif
}

static void contexts(const char *text, unsigned id)
{
    static const char parent[] =
        "00-0123456789abcdef0000000000000007-00f067aa0ba902b7-01";
    char changes[] = "a text";
#if __SIZEOF_POINTER__ == 8
    KEEPS(RECORDER_CONTEXT("trace", parent), 0x0123456789abcdef, 7,
          0x00f067aa0ba902b7);
    KEEPS(RECORDER_CONTEXT_SENT("trace", &parent[0]), 0x0123456789abcdef, 7,
          0x00f067aa0ba902b7);
#else
    KEEPS(RECORDER_CONTEXT("trace", parent), 0x01234567, 0x89abcdef, 0, 7,
          0x00f067aa, 0x0ba902b7);
#endif
    KEEPS(RECORDER_CONTEXT("request", id), id);
    KEEPS(RECORDER_CONTEXT("request", -1), (uintptr_t)-1);
    RECORDER_CONTEXT("trace", text);
    RECORDER_CONTEXT("trace", changes);
    RECORDER_CONTEXT("trace", 0);
    RECORDER_CONTEXT("trace", "");
    RECORDER_CONTEXT("trace", NULL);
}

/* The number of arguments, from none to the most. */
static void counts(void)
{
    KEEPS(record(net, "none"), 0);
    KEEPS(record(net, "%d", 1), 1);
    KEEPS(record(net, "%d%d", 1, 2), 1, 2);
    KEEPS(record(net, "%d%d%d", 1, 2, 3), 1, 2, 3);
    KEEPS(record(net, "%d%d%d%d", 1, 2, 3, 4), 1, 2, 3, 4);
    KEEPS(record(net, "%d%d%d%d%d", 1, 2, 3, 4, 5), 1, 2, 3, 4, 5);
    KEEPS(record(net, "%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6), 1, 2, 3, 4, 5, 6);
    KEEPS(record(net, "%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7), 1, 2, 3, 4, 5, 6,
          7);
    KEEPS(record(net, "%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8), 1, 2, 3, 4,
          5, 6, 7, 8);
    KEEPS(record(net, "%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9), 1, 2, 3,
          4, 5, 6, 7, 8, 9);
    KEEPS(record(net, "%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 1,
          2, 3, 4, 5, 6, 7, 8, 9, 10);
    KEEPS(record(net, "%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                 11),
          1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    KEEPS(record(net, "%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                 11, 12),
          1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
}

/* Arguments are evaluated once, left to nobody's imagination; not at all where
 * the recorder is off. */
static void evaluation(void)
{
    int i = 0, before = counted;
    const char *text = "abc", *at = text;
    double real = 1.0;
    uintptr_t order;
    record(net, "%d %d", next(), next());
    record(net, "%d", i++);
    record(net, "%d%d%d%d%d", i++, 0, 0, 0, next());
    record(net, "%c%s", *at++, "");
    record(net, "%f", real *= 2);
    record(net, "%d", (i += 2, i));
    record(lanes, "%s", RECORDER_COPY(net, at++));
#ifdef RECORDER_OFF
    MUST(counted == before && i == 0 && at == text && bits(real) == bits(1.0));
#else
    MUST(counted == before + 3 && i == 4 && at == text + 2);
    MUST(bits(real) == bits(2.0));
#endif
    before = counted;
    RECORDER_TRACE(net) = -1;
    MUST(RECORDER_TRACE(net) == -1);
    order = record(net, "%d", next());
    MUST(order == 0 && counted == before);
    RECORDER_TRACE(net) = 0;
    RECORDER_TRACE(net) += 1;
    MUST(RECORDER_TRACE(net) == 1);
    RECORDER_TRACE(net) = 0;
}

/* record() stands where an expression can stand. */
static uintptr_t places(int n)
{
    uintptr_t order = 0;
    const char *name = "n";
    if (n > 2)
        record(net, "above %d", 2);
    else
        record(net, "below %d", 2);
    for (record(net, "begin"); n > 0; record(net, "step %d", n))
        n--;
    while (n < 0 && record(net, "again"))
        n++;
    order = n ? record(net, "some") : record(net, "none");
    record(net, "one"), record(net, "two");
    (void)record(net, "parentheses (%d, %d)", (n + 1) * (n - 1), (3));
    record(net, "a" " " "b" "%d", 1);
    record(net, "%s", name);
    record(disk, "x");
    record(cpu, "%d", n);
    record(memory, "%d", n);
    record(lanes, "%d", n);
    record(two, "%s", RECORDER_COPY(two, name));
    RECORDER_RECORD(net, "%d", n);
    { record(net, "%d", n); }
    switch (n) {
    case 0:
        record(net, "case");
        break;
    default:
        break;
    }
    return order ? record(net, "%lu", (unsigned long)order) : 0;
}

#ifdef __cplusplus
namespace outer {
RECORDER(in_namespace, 16, "In a namespace");
RECORDER(nested, 16) namespace inner {
void use()
{
    record(in_namespace, "%d", 1);
    record(nested, "%d", 2);
}
} // namespace inner
} // namespace outer
namespace {
RECORDER(nameless, 16, "In a nameless one");
RECORDER(c_template, 1) template <typename T> T twice(T value)
{
    record(nameless, "%p", static_cast<const void *>(&value));
    return value + value;
}
RECORDER(c_using, 1) using whole = long;
RECORDER(c_assert, 1) static_assert(true, "");
RECORDER(c_linkage, 1) extern "C" { extern int c_outside; }
RECORDER(c_constexpr, 1) constexpr int five = 5;
RECORDER(c_class, 1) class counter
{
  public:
    explicit counter(int start) : at(start)
    {
        record(nameless, "%d", start);
    }
    ~counter() { record(nameless, "%d", at); }
    counter(const counter &) = delete;
    counter &operator=(const counter &) = delete;
    void up() { at++; }
    static void count(int &n) { record(nameless, "%d", n++); }
    int at;
};
enum class grade : short { GOOD = 1, BAD = -1 };
enum class size : uintptr_t { HUGE_ONE = UINTPTR_MAX };
template <typename A, typename B> uintptr_t record_both(A a, B b)
{
    return record(net, "%d %g", a, b);
}
template <int n> struct depth {
    static void go()
    {
        record(net, "%d", n);
        depth<n - 1>::go();
    }
};
template <> struct depth<0> {
    static void go() {}
};
#if __cplusplus >= 201402L
constexpr int checked(int n)
{
    return n >= 0 ? n : (record(net, "negative: %d", n), 0);
}
static_assert(checked(3) == 3, "a constant in spite of record()");
#endif
auto lambda = [](int n) { return record(net, "%d", n); };
uintptr_t before_main = record(net, "%s", "before main");

/* How the words of a scoped enumeration come, whatever the format thinks. */
template <typename T> uintptr_t word_of(T value)
{
#ifdef RECORDER_OFF
    return static_cast<uintptr_t>(value);
#else
    return RECORDER_GIVEN_(net, value).word;
#endif
}

void in_cxx()
{
    int n = 5;
    const int &reference = n;
    intptr_t &trace = RECORDER_TRACE(net);
    auto capture = [&] { return record(net, "%d", n); };
    outer::inner::use();
    MUST(twice(2) == 4);
    counter(1).up();
    counter::count(n);
    depth<3>::go();
    KEEPS(lambda(1), 1);
    KEEPS(capture(), static_cast<uintptr_t>(n));
    KEEPS(record(net, "%d", reference), static_cast<uintptr_t>(n));
    KEEPS(record(net, "%d", static_cast<int>(grade::BAD)),
          static_cast<uintptr_t>(-1));
    KEEPS(record(net, "%d", five), 5);
    MUST(word_of(grade::BAD) == static_cast<uintptr_t>(-1));
    MUST(word_of(size::HUGE_ONE) == UINTPTR_MAX);
    record_both(1, 3.0);
    trace = -1;
    MUST(RECORDER_TRACE(net) == -1);
    trace = 0;
#ifndef RECORDER_OFF
    MUST(before_main != 0);
#endif
    (void)before_main;
}
} // namespace
#endif

int main(void)
{
    static const char text[] = "some text";
    static int constant;
    contexts("00-not a traceparent", 4711);
    integers();
    reals();
    pointers(text, &constant);
    counts();
    evaluation();
    places(3);
    unused = 0;
#ifdef __cplusplus
    in_cxx();
#endif
    puts("ok");
    return 0;
}
