/* condition.h - which records are wanted, and how that is written. */
/* SPDX-License-Identifier: MIT */
/*
    disk|net: "latency" sw2 bytes>1k 2&0x80 peer=alpha 10x1s after=20ms: freeze

Triggers, `recorder watch` and --where have this one language. FIELD OP VALUE
compares an argument by its conversion: %d by its length and with a sign; %u,
%x and %p without; %f as a double, where words have 4 bytes as a float; %s as a
text; %c as a number or a text. FIELD is the name that a format gives an
argument, "bytes=%d", or its place, 1 to 12; of a format that gives the name id
to several, the second is id_2. %m is an argument named errno, after the others.
OP is one of > < >= <= = == != & (one of these bits is set) and ~ or =~ (a
regular expression; not in the program).
VALUE is a number (number.h) or a text, which may be in quotes. A condition
never holds for a record without such an argument, or whose argument is no
number where VALUE is one.

NAMES end at the first ':' that is in no [:class:], the conditions at the next.
In --where NAMES may be missing, texts may hold ':', and there is neither
COUNTxTIME nor after=TIME.
*/
#ifndef RECORDER_CONDITION_H_
#define RECORDER_CONDITION_H_

#include "format.h"
#include "heading.h"
#include "number.h"
#include "regex.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------- condition -- */

enum {
    RECORDER_CONDITION_MAX_ = 256, /* bytes of a text, with its NUL */
    RECORDER_CONDITION_TESTS_ = 8  /* FIELD OP VALUE */
};
/* Of COUNTxTIME; a trigger remembers twice as many times. */
#define RECORDER_CONDITION_COUNT_MAX_ RECORDER_HOSTED_OR_(512, 16)
#define RECORDER_CONDITION_COUNTS_ RECORDER_HOSTED_OR_("2 to 512", "2 to 16")

/* Compares an argument. */
struct recorder_condition_test_ {
    const char *field; /* a name; null: by its place */
    const char *value;
    struct recorder_number_ number; /* of the value, if is_number */
    unsigned char argument;         /* from 0 */
    char how;                       /* > < = ! & ~, and G, L for >= and <= */
    bool is_number;
};

struct recorder_condition_ {
    const char
        *names; /* a regular expression; null: any. Texts are in `text` */
    const char *begins;  /* how a format's text begins; null: as it likes */
    const char *actions; /* the text after the second ':'; null: none */
    uint64_t within_ns;  /* of COUNTxTIME */
    uint64_t after_ns;
    unsigned severities; /* as recorder_severities_() says; 0: any or none */
    unsigned count;      /* of COUNTxTIME; 1: each record */
    unsigned tests_count;
    struct recorder_condition_test_ tests[RECORDER_CONDITION_TESTS_];
    char text[RECORDER_CONDITION_MAX_];
};

/* Compares a word: 'd' is an int64_t, 'u' and 'c' are a uint64_t, 'f' and 'F'
 * the bits of a double and of a float. */
RECORDER_INLINE_ bool
recorder_condition_number_is_(const struct recorder_condition_test_ *test,
                              char kind, uint64_t word)
{
    const struct recorder_number_ *n = &test->number;
    bool negative = kind == 'd' && word >> 63;
    int is;
    if (!test->is_number)
        return false;
    if (test->how == '&')
        return (kind | 0x20) != 'f' &&
               (word & (n->negative ? 0 - n->size : n->size)) != 0;
    is =
        kind == 'f' ? recorder_number_real_(word, n->real)
        : kind == 'F'
            ? recorder_number_real_(recorder_format_widen_((uint32_t)word),
                                    recorder_format_widen_(n->single))
            : recorder_number_compare_(n, negative, negative ? 0 - word : word);
    switch (test->how) {
    case '>': return is == 1;
    case '<': return is == -1;
    case 'G': return is == 0 || is == 1;
    case 'L': return is == 0 || is == -1;
    case '=': return is == 0;
    case '!': return is != 0;
    default: return false;
    }
}

/* Compares a text of this size. */
RECORDER_INLINE_ bool
recorder_condition_text_is_(const struct recorder_condition_test_ *test,
                            const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && test->value[i] && test->value[i] == text[i])
        i++;
    return (test->how == '=' || test->how == '!') &&
           (i == size && !test->value[i]) == (test->how == '=');
}

/* Compares a character: with a text if the value is no number. */
RECORDER_INLINE_ bool
recorder_condition_character_is_(const struct recorder_condition_test_ *test,
                                 uint32_t character, bool wide)
{
    char text[4] = {(char)character};
    if (test->is_number)
        return recorder_condition_number_is_(test, 'c', character);
    return recorder_condition_text_is_(
        test, text,
        wide ? recorder_format_utf8_(text, character) : !!character);
}

/* True if the text of a format, without its heading, begins as it should. */
RECORDER_INLINE_ bool
recorder_condition_begins_(const struct recorder_condition_ *condition,
                           const char *text)
{
    return !condition->begins || recorder_past_(text, condition->begins);
}

/* ----------------------------------------------------------------- types -- */

/* Returns where the name of a conversion begins, "bytes" of "bytes=%d", and its
 * size, or null. Quotes, brackets and 0x may be between. */
RECORDER_SELDOM_ const char *
recorder_condition_name_(const char *format, const char *percent, size_t *size)
{
    const char *at = percent, *end;
    if (at - format > 2 && (at[-1] | 0x20) == 'x' && at[-2] == '0')
        at -= 2;
    while (at > format && (at[-1] == '"' || at[-1] == '\'' || at[-1] == '(' ||
                           at[-1] == '[' || at[-1] == '{' || at[-1] == '<'))
        at--;
    if (at == format || *--at != '=')
        return NULL;
    end = at;
    while (at > format && (recorder_is_letter_(at[-1]) ||
                           recorder_is_digit_(at[-1]) || at[-1] == '_'))
        at--;
    *size = (size_t)(end - at);
    return *size && *size < 64 && !recorder_is_digit_(*at) ? at : NULL;
}

/* Returns of which argument of its name a field is, by the text after that name:
 * "" is 1, "_2" is 2; 0: of none. */
RECORDER_SELDOM_ unsigned recorder_condition_nth_(const char *rest)
{
    unsigned nth = 0;
    if (!*rest)
        return 1;
    if (rest[0] != '_' || rest[1] == '0')
        return 0;
    while (recorder_is_digit_(*++rest) && nth < 100)
        nth = 10 * nth + (unsigned)(*rest - '0');
    return *rest || nth < 2 ? 0 : nth;
}

/* A format gives the argument of a test an index, 15 if there is none, and a
 * kind times 16: 0 to 3 is 'd', 4 to 7 is 'u', by the length, then these. */
enum {
    RECORDER_TYPE_REAL_ = 8,
    RECORDER_TYPE_CHARACTER_,
    RECORDER_TYPE_WIDE_,
    RECORDER_TYPE_TEXT_,
    RECORDER_TYPE_ERROR_,
    RECORDER_TYPE_NONE_ = 15
};
RECORDER_SELDOM_ unsigned
recorder_condition_type_(const struct recorder_formatter_ *f)
{
    unsigned length = f->how.bits == 64   ? 3
                      : f->how.bits == 32 ? 2
                      : f->how.bits == 16 ? 1
                                          : 0;
    switch (f->how.kind) {
    case 'f': return RECORDER_TYPE_REAL_;
    case 's': return RECORDER_TYPE_TEXT_;
    case 'c':
        return f->how.wide ? RECORDER_TYPE_WIDE_ : RECORDER_TYPE_CHARACTER_;
    case 'u': return 4 + (f->how.conversion == 'p' ? 3 : length);
    default: return length;
    }
}

/* Finds the argument of a test in a format whose words have this size. Returns
 * it as above; *found gets the conversion. */
RECORDER_SELDOM_ unsigned
recorder_condition_find_(const struct recorder_condition_test_ *test,
                         const char *format, unsigned word_bytes,
                         struct recorder_formatter_ *found)
{
    static const uint64_t index[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct recorder_arguments_ arguments = {index, 12,   0, 0,   NULL,
                                            NULL,  NULL, 0, NULL};
    struct recorder_formatter_ f;
    unsigned type = RECORDER_TYPE_NONE_, wanted = test->argument;
    unsigned nth, count = 0, seen = 0; /* of a name; bits of their words */
    bool error = false;
    const char *rest;
    arguments.word_bytes = word_bytes;
    f.arguments = &arguments;
    f.next = f.used = 0;
    for (f.at = format; !recorder_format_ended_(f.at);) {
        const char *percent = f.at, *name;
        size_t size = 0, i = 0;
        if (*f.at++ != '%')
            continue;
        recorder_format_parse_(&f);
        error |= f.how.kind == 'm';
        if (!f.how.kind || f.how.kind == '%' || f.missing || f.word >= 12)
            continue;
        if (test->field && wanted == 12) {
            name = recorder_condition_name_(format, percent, &size);
            while (name && i < size && test->field[i] == name[i])
                i++;
            nth = name && i == size && !(seen >> f.word & 1)
                      ? recorder_condition_nth_(test->field + i)
                      : 0;
            seen |= (nth ? 1u : 0u) << f.word;
            if (nth == 1 || (nth && ++count == nth))
                wanted = (unsigned)f.word;
        }
        if (f.word == wanted && type >> 4 != RECORDER_TYPE_TEXT_) {
            type = wanted | recorder_condition_type_(&f) << 4;
            *found = f;
        }
    }
    if (error && wanted == 12 && (rest = recorder_past_(test->field, "errno")))
        wanted = *rest ? 12 : f.used;
    if (error && wanted == f.used && wanted < 12)
        return wanted | RECORDER_TYPE_ERROR_ << 4;
    /* A word that only a `*` takes is an int. */
    return type == RECORDER_TYPE_NONE_ && wanted < f.used && wanted < 12
               ? wanted | 2 << 4
               : type;
}

/* ----------------------------------------------------------------- parse -- */

#define RECORDER_CONDITION_IS_                                                 \
    "it should be FIELD OP VALUE: the name that a format gives an argument "   \
    "or its place, 1 to 12; > < >= <= = != & or ~; a number or a text; or "    \
    "\"TEXT\" or a severity; triggers have COUNTxTIME and after=TIME, too"

RECORDER_INLINE_ bool recorder_condition_blank_(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}
/* True of a character that ends a word; ':' is one in triggers. */
RECORDER_INLINE_ bool recorder_condition_ends_(char c, bool where)
{
    return !c || recorder_condition_blank_(c) || (c == ':' && !where);
}

/* Reads the text between two quotes, which moves to its begin; \" and \\ are "
 * and \. Returns the end, or null if there is none. */
RECORDER_SELDOM_ char *recorder_condition_quoted_(char *at)
{
    char quote = *at, *to = ++at;
    for (; *at && *at != quote; at++) {
        if (*at == '\\' && (at[1] == quote || at[1] == '\\'))
            at++;
        *to++ = *at;
    }
    if (!*at)
        return NULL;
    *to = '\0';
    return at + 1;
}

/* Reads a VALUE. Sets *at to its end; returns null, or what is wrong. */
RECORDER_SELDOM_ const char *
recorder_condition_value_(struct recorder_condition_test_ *test, char **at,
                          bool where)
{
    char *first = *at, *end = first;
    bool quoted = *first == '"' || *first == '\'';
    bool digit = recorder_is_digit_(first[*first == '-' || *first == '+']);
    const char *rest = NULL;
    test->value = first + quoted;
    if (quoted) {
        end = recorder_condition_quoted_(first);
    } else {
        while (!recorder_condition_ends_(*end, where))
            end++;
        rest = recorder_number_read_(&test->number, first);
    }
    if (!end)
        return "a quote has no end";
    *at = end;
    test->is_number = rest && rest == end;
    if (digit && !rest)
        return "the number is too large, or is none: whole ones have at most "
               "64 bits, others 60 digits and 1.7e308";
    while (rest && rest < end && recorder_is_letter_(*rest))
        rest++;
    if (digit && !test->is_number && rest == end)
        return "unknown unit: a number may have k, M or G; a text that begins "
               "with a digit is written in quotes";
    if (test->how == '~' || ((test->how == '=' || test->how == '!') &&
                             (test->is_number || end > first)))
        return NULL;
    if (!test->is_number)
        return "is compared with no number";
    return test->how == '&' && test->number.more ? "& takes an integer" : NULL;
}

/* Reads the OP after a FIELD. Returns its end, or null if there is none. */
RECORDER_SELDOM_ char *recorder_condition_operator_(char *at, bool where,
                                                    char *how)
{
    while (*at == ' ')
        at++;
    *how = *at;
    switch (*at++) {
    case '>': *how = *at == '=' ? 'G' : '>'; break;
    case '<': *how = *at == '=' ? 'L' : '<'; break;
    case '!':
        if (where && *at != '=')
            return NULL;
        break;
    case '=':
    case '&':
    case '~': break;
    default: return NULL;
    }
    if (at[-1] == '=' && *at == '~')
        *how = *at++;
    at += *at == '=' && *how != '&' && *how != '~';
    while (*at == ' ')
        at++;
    return at;
}

/* Reads FIELD OP VALUE, of which FIELD ends at `end` and OP at `at`. Sets *next
 * to the end; returns null, or what is wrong. */
RECORDER_SELDOM_ const char *
recorder_condition_test_read_(struct recorder_condition_ *to, char **next,
                              char *end, char *at, char how, bool where)
{
    struct recorder_condition_test_ *test = &to->tests[to->tests_count];
    unsigned place = 0;
    const char *digit = *next;
    if (to->tests_count == RECORDER_CONDITION_TESTS_)
        return "at most 8 arguments are compared";
    to->tests_count++;
    test->how = how;
    test->argument = 12;
    if (recorder_is_digit_(*digit)) {
        for (; recorder_is_digit_(*digit); digit++)
            if (place < 100)
                place = place * 10 + (unsigned)(*digit - '0');
        if (digit != end || place < 1 || place > 12)
            return where ? RECORDER_CONDITION_IS_
                         : "arguments have the numbers 1 to 12";
        test->argument = (unsigned char)(place - 1);
    } else {
        test->field = *next;
        *end = '\0';
    }
    *next = at;
    return recorder_condition_value_(test, next, where);
}

/* Reads COUNTxTIME, whose COUNT ends at `end`. */
RECORDER_SELDOM_ const char *
recorder_condition_rate_(struct recorder_condition_ *to, char **next, char *end)
{
    const char *digit = *next;
    unsigned count = 0;
    for (; digit < end; digit++)
        if (count < 100000)
            count = count * 10 + (unsigned)(*digit - '0');
    if (count < 2 || count > RECORDER_CONDITION_COUNT_MAX_ || to->count > 1)
        return "COUNTxTIME, once, with a COUNT "
               "from " RECORDER_CONDITION_COUNTS_;
    to->count = count;
    digit = recorder_number_time_(end + 1, &to->within_ns);
    if (!digit)
        return "COUNTxTIME has a time like 20ms, 1s or 5min";
    *next += digit - *next;
    return NULL;
}

/* Reads one word of a condition. Sets *next to its end; returns null, or what
 * is wrong. */
RECORDER_SELDOM_ const char *
recorder_condition_word_(struct recorder_condition_ *to, char **next,
                         bool where)
{
    char *first = *next, *end = first, *at, how = 0;
    const char *time = recorder_past_(first, "after="), *after = NULL;
    if (*first == '"') {
        to->begins = to->begins ? NULL : first + 1;
        *next = to->begins ? recorder_condition_quoted_(first) : NULL;
        return *next ? NULL : "the text has no end, or is the second";
    }
    while (recorder_is_digit_(*end))
        end++;
    if (end > first && *end == 'x' && !where)
        return recorder_condition_rate_(to, next, end);
    if (time && !where) {
        after = recorder_number_time_(time, &to->after_ns);
        *next += after ? after - first : 0;
        return after ? NULL : "after= has a time like 20ms, 1s or 5min";
    }
    while (recorder_is_letter_(*end) || recorder_is_digit_(*end) || *end == '_')
        end++;
    at = end > first ? recorder_condition_operator_(end, where, &how) : NULL;
    if (at)
        return recorder_condition_test_read_(to, next, end, at, how, where);
    if ((*first | 0x20) == 'h' || (*first | 0x20) == 's')
        to->severities = recorder_severities_(first, &after);
    *next += to->severities && after ? after - first : 0;
    if (to->severities && after)
        return NULL;
    return RECORDER_CONDITION_IS_;
}

/* Finds the ':' at which NAMES end, which is no part of a [:class:]: the first,
 * in --where the last before a condition. Null: there is none. */
RECORDER_SELDOM_ char *recorder_condition_names_(char *at, bool where)
{
    char *found = NULL;
    for (; *at && (where || !found); at++) {
        if (where && (*at == '"' || *at == '\'' || *at == '&' || *at == '~' ||
                      (*at >= '<' && *at <= '>')))
            break;
        if (*at == ':' && at[1] == ':' && at[2] == ']')
            at++; /* ends no class */
        else if (*at == '[' && at[1] == ':')
            at++;
        else if (*at == ':' && at[1] != ']')
            found = at;
    }
    return found;
}

/* Reads a condition from `size` bytes; `where`: of --where. Returns null, or
 * what is wrong with it, in words, and as *at its place in `text`. */
RECORDER_SELDOM_ const char *
recorder_condition_parse_(struct recorder_condition_ *to, const char *text,
                          size_t size, bool where, const char **at)
{
    char *next = to->text, *end;
    const char *wrong = NULL;
    recorder_zero_(to, sizeof *to);
    to->count = 1;
    *at = text;
    if (size >= sizeof to->text)
        return "longer than 255 bytes";
    recorder_bytes_(to->text, text, size);
    while (recorder_condition_blank_(*next))
        next++;
    end = recorder_condition_names_(next, where);
    if (!where && (!end || end == next))
        return "NAMES of recorders and a ':' come first";
    if (end) {
        to->names = next;
        next = end + 1;
        while (end > to->names && recorder_condition_blank_(end[-1]))
            end--;
        *end = '\0';
        wrong = recorder_regex_check_(to->names);
    }
    while (!wrong) {
        while (recorder_condition_blank_(*next))
            next++;
        if (*next == ':' && !where)
            to->actions = next + 1;
        if (!*next || to->actions)
            break;
        *at = text + (next - to->text);
        wrong = recorder_condition_word_(to, &next, where);
        if (!wrong && !recorder_condition_ends_(*next, where))
            wrong = "a blank is missing after a condition";
        if (!wrong && *next == ':')
            to->actions = next + 1;
        if (!wrong && *next)
            *next++ = '\0'; /* ends a VALUE */
    }
    if (!wrong && where && !to->tests_count && !to->begins && !to->severities) {
        *at = text + (next - to->text);
        wrong = RECORDER_CONDITION_IS_;
    }
    return wrong;
}

RECORDER_C_END_
#endif
