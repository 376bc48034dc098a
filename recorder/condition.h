/* condition.h - which records a trigger watches for, and how that is
 * written. */
/* SPDX-License-Identifier: MIT */
/*
    disk|net: "latency" sw2 1>50 2&0x80 10x1s after=20ms: freeze,dump

A condition ends at the second ':' or where the text ends; what stands behind
the ':' is the reader's. recorder_trigger.h says what each word means. The
program and `recorder watch` read it by the same function.
*/
#ifndef RECORDER_CONDITION_H_
#define RECORDER_CONDITION_H_

#include "heading.h"
#include "regex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- condition -- */

enum {
    RECORDER_CONDITION_MAX_ = 256, /* bytes of a text, with its NUL */
    RECORDER_CONDITION_TESTS_ = 8  /* N OP VALUE */
};
/* Of COUNTxTIME; a trigger remembers twice as many times. */
#ifdef RECORDER_HOSTED_
#define RECORDER_CONDITION_COUNT_MAX_ 512
#define RECORDER_CONDITION_COUNTS_ "2 to 512"
#else
#define RECORDER_CONDITION_COUNT_MAX_ 16
#define RECORDER_CONDITION_COUNTS_ "2 to 16"
#endif

/* Compares an argument. */
struct recorder_condition_test_ {
    int64_t value;
    unsigned argument; /* from 0 */
    char how;          /* > < = ! & */
};

struct recorder_condition_ {
    const char *names;   /* a regular expression; all texts stand in `text` */
    const char *begins;  /* how a format's text begins; null: as it likes */
    const char *actions; /* what stands behind the second ':'; null: none */
    uint64_t within_ns;  /* of COUNTxTIME */
    uint64_t after_ns;
    unsigned severities; /* as recorder_severities_() says; 0: any or none */
    unsigned count;      /* of COUNTxTIME; 1: each record */
    unsigned tests_count;
    struct recorder_condition_test_ tests[RECORDER_CONDITION_TESTS_];
    char text[RECORDER_CONDITION_MAX_];
};

RECORDER_INLINE_ bool
recorder_condition_compares_(const struct recorder_condition_test_ *test,
                             int64_t word)
{
    switch (test->how) {
    case '>': return word > test->value;
    case '<': return word < test->value;
    case '=': return word == test->value;
    case '!': return word != test->value;
    default: return (word & test->value) != 0;
    }
}

/* True if the text of a format, without its heading, begins as it should. */
RECORDER_INLINE_ bool
recorder_condition_begins_(const struct recorder_condition_ *condition,
                           const char *text)
{
    return !condition->begins || recorder_behind_(text, condition->begins);
}

/* ----------------------------------------------------------------- parse -- */

RECORDER_INLINE_ bool recorder_condition_blank_(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}
RECORDER_INLINE_ bool recorder_condition_digit_(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits, decimal or behind 0x. Returns what stands behind them, or null
 * where there are none or too many. */
RECORDER_SELDOM_ const char *recorder_condition_digits_(const char *at,
                                                        uint64_t *number)
{
    unsigned base = at[0] == '0' && (at[1] | 0x20) == 'x' ? 16 : 10, digit;
    const char *first;
    *number = 0;
    at += base == 16 ? 2 : 0;
    for (first = at;; at++) {
        char c = (char)(*at | 0x20);
        if (recorder_condition_digit_(*at))
            digit = (unsigned)(*at - '0');
        else if (base == 16 && c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            break;
        if (*number > (UINT64_MAX - digit) / base)
            return NULL;
        *number = *number * base + digit;
    }
    return at == first ? NULL : at;
}

/* Reads an integer of 64 bits; one that is written as 0x... may use them all.
 * Returns what stands behind it, or null. */
RECORDER_SELDOM_ const char *recorder_condition_integer_(const char *at,
                                                         int64_t *number)
{
    bool negative = *at == '-', bits = at[0] == '0' && (at[1] | 0x20) == 'x';
    uint64_t size;
    at = recorder_condition_digits_(at + negative, &size);
    if (!at || (!bits && size > (uint64_t)INT64_MAX + negative))
        return NULL;
    *number = (int64_t)(negative ? 0 - size : size);
    return at;
}

/* Reads "20ms". Returns what stands behind it, or null. */
RECORDER_SELDOM_ const char *recorder_condition_time_(const char *at,
                                                      uint64_t *ns)
{
    static const struct {
        char name[4];
        uint64_t ns;
    } units[] = {
        {"ns", 1},          {"us", 1000},          {"ms", 1000000},
        {"s", 1000000000u}, {"min", 60000000000u}, {"h", 3600000000000u}};
    unsigned i, k;
    at = recorder_condition_digits_(at, ns);
    for (i = 0; at && i < sizeof units / sizeof *units; i++) {
        for (k = 0; units[i].name[k] && units[i].name[k] == at[k]; k++)
            ;
        if (units[i].name[k] || (at[k] >= 'a' && at[k] <= 'z'))
            continue;
        if (*ns > (uint64_t)INT64_MAX / units[i].ns)
            return NULL;
        *ns *= units[i].ns;
        return at + k;
    }
    return NULL;
}

/* Reads the text between two '"' into the condition, where it stands; \" and \\
 * stand for " and \. Returns what stands behind it, or null. */
RECORDER_SELDOM_ char *
recorder_condition_text_(struct recorder_condition_ *condition, char *at)
{
    char *to = ++at;
    if (condition->begins)
        return NULL;
    condition->begins = at;
    for (; *at && *at != '"'; at++) {
        if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
            at++;
        *to++ = *at;
    }
    if (!*at)
        return NULL;
    *to = '\0';
    return at + 1;
}

/* Reads what begins with a digit: N OP VALUE, or COUNTxTIME. Sets *at behind
 * it; returns null, or what is wrong. */
RECORDER_SELDOM_ const char *
recorder_condition_number_(struct recorder_condition_ *condition,
                           const char **at)
{
    const char *end;
    struct recorder_condition_test_ *test;
    uint64_t number = 0;
    for (end = *at; recorder_condition_digit_(*end); end++)
        if (number < 100000)
            number = number * 10 + (unsigned)(*end - '0');
    if (*end == 'x') {
        if (number < 2 || number > RECORDER_CONDITION_COUNT_MAX_ ||
            condition->count > 1)
            return "COUNTxTIME, once, with a COUNT "
                   "from " RECORDER_CONDITION_COUNTS_;
        condition->count = (unsigned)number;
        end = recorder_condition_time_(end + 1, &condition->within_ns);
        *at = end ? end : *at;
        return end ? NULL : "COUNTxTIME has a time like 20ms, 1s or 5min";
    }
    if (*end != '>' && *end != '<' && *end != '=' && *end != '!' && *end != '&')
        return "a number is followed by one of > < = != & or, as in 10x1s, x";
    if (number < 1 || number > 12)
        return "arguments have the numbers 1 to 12";
    if (condition->tests_count == RECORDER_CONDITION_TESTS_)
        return "at most 8 arguments are compared";
    test = &condition->tests[condition->tests_count++];
    test->argument = (unsigned)number - 1;
    test->how = *end++;
    end += test->how == '!' && *end == '=';
    end = recorder_condition_integer_(end, &test->value);
    *at = end ? end : *at;
    return end ? NULL : "an argument is compared with an integer of 64 bits";
}

/* Reads one word of a condition. Sets *at behind it; returns null, or what is
 * wrong. */
RECORDER_SELDOM_ const char *
recorder_condition_word_(struct recorder_condition_ *condition, char **at)
{
    const char *begin = *at, *end = NULL;
    const char *after = recorder_behind_(begin, "after=");
    const char *wrong = "no condition: there are \"TEXT\", a severity, "
                        "N>VALUE, COUNTxTIME and after=TIME";
    if (*begin == '"') {
        *at = recorder_condition_text_(condition, *at);
        return *at ? NULL : "the text has no end, or is the second";
    }
    if (recorder_condition_digit_(*begin)) {
        end = begin;
        wrong = recorder_condition_number_(condition, &end);
        if (wrong)
            return wrong;
    } else if (after) {
        end = recorder_condition_time_(after, &condition->after_ns);
        wrong = "after= has a time like 20ms, 1s or 5min";
    } else if ((*begin | 0x20) == 'h' || (*begin | 0x20) == 's') {
        condition->severities = recorder_severities_(begin, &end);
        if (!condition->severities)
            end = NULL;
    }
    if (!end)
        return wrong;
    *at += end - begin;
    return NULL;
}

/* Reads a condition from `size` bytes. Returns null, or what is wrong with it,
 * in words, and as *at its place in `text`. */
RECORDER_SELDOM_ const char *
recorder_condition_parse_(struct recorder_condition_ *to, const char *text,
                          size_t size, const char **at)
{
    char *next = to->text, *end;
    const char *wrong;
    recorder_zero_(to, sizeof *to);
    to->count = 1;
    *at = text;
    if (size >= sizeof to->text)
        return "longer than 255 bytes";
    recorder_bytes_(to->text, text, size);
    while (recorder_condition_blank_(*next))
        next++;
    to->names = next;
    while (*next && *next != ':')
        next++;
    for (end = next; end > to->names && recorder_condition_blank_(end[-1]);)
        end--;
    if (end == to->names || !*next)
        return "NAMES of recorders and a ':' come first";
    *next++ = *end = '\0';
    wrong = recorder_regex_check_(to->names);
    for (; !wrong && *next && *next != ':';) {
        *at = text + (next - to->text);
        if (recorder_condition_blank_(*next)) {
            next++;
            continue;
        }
        wrong = recorder_condition_word_(to, &next);
        if (!wrong && *next && *next != ':' &&
            !recorder_condition_blank_(*next))
            wrong = "a blank is missing behind a condition";
    }
    if (!wrong && *next == ':')
        to->actions = next + 1;
    return wrong;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
