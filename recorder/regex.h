/* regex.h - tells if an extended regular expression matches a whole name. */
/* SPDX-License-Identifier: MIT */
/*
    recorder_regex_match_("(net|disk)_.*", "NET_rx")     // true
    recorder_regex_check_("(net")                        // "missing )"

    regcomp() allocates memory. This one is for signal handlers and for machines
    without a libc.

PROMISES (each begins the names of its tests)
    same_as_regcomp     for patterns that POSIX defines, the same answer as
                        regcomp("^(pattern)$", REG_EXTENDED | REG_ICASE)
                        -> tests/inside/regex.c
    hostile_ends        any pattern is done in about a millisecond; one that
                        would need longer matches nothing
                        -> tests/inside/regex.c
    check_says_why      a wrong regular expression is refused, in words
                        -> tests/inside/regex.c

LIMITS
    * A name has at most 63 bytes, as C promises to tell identifiers apart; a
      longer one never matches. Groups nest at most 6 deep.
    * Case is ignored for ASCII letters. Every other byte is a character.
    * No [. .] and [= =], no \1, \w and the like; no repeat of a repeat.

    There is no backtracking: each part of the pattern maps the set of places
    in the name where it may begin to the set of places where it may end. A set
    is one 64-bit word; a repeat ends when it finds no new place.
*/
#ifndef RECORDER_REGEX_H_
#define RECORDER_REGEX_H_

#include "language.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------- machinery -- */

/* The state of a match. */
struct recorder_regex_ {
    const char *at; /* in the pattern; at an empty string after an error */
    const char *name;
    unsigned length; /* of the name */
    unsigned depth;  /* groups around `at` */
    unsigned steps;
    const char *error;
};

#define RECORDER_REGEX_LENGTH_MAX_ 63 /* a set has a bit more */
#define RECORDER_REGEX_DEPTH_MAX_ 6   /* bounds the recursion, so the stack */
#define RECORDER_REGEX_STEPS_MAX_ 100000
#define RECORDER_REGEX_REPEATS_MAX_ 255 /* POSIX wants no more */

RECORDER_PROTOTYPE_ uint64_t recorder_regex_group_(struct recorder_regex_ *r,
                                                   uint64_t from);

RECORDER_SELDOM_ const char *
recorder_regex_run_(struct recorder_regex_ *r, const char *regex, uint64_t *set)
{
    r->at = regex;
    r->depth = r->steps = 0;
    r->error = NULL;
    *set = recorder_regex_group_(r, *set);
    return *r->at ? "missing (" : r->error;
}

/* Returns null if the regex is well-formed, else what is wrong with it. */
RECORDER_SELDOM_ const char *recorder_regex_check_(const char *regex)
{
    struct recorder_regex_ r;
    uint64_t nowhere = 0;
    r.name = "";
    r.length = 0;
    return recorder_regex_run_(&r, regex, &nowhere);
}

/* True if the regex matches the whole name; false if it is not well-formed. */
RECORDER_SELDOM_ bool recorder_regex_match_(const char *regex, const char *name)
{
    struct recorder_regex_ r;
    uint64_t set = 1;
    r.name = name;
    for (r.length = 0; name[r.length]; r.length++)
        if (r.length == RECORDER_REGEX_LENGTH_MAX_)
            return false;
    return !recorder_regex_run_(&r, regex, &set) && (set >> r.length & 1);
}

RECORDER_SELDOM_ void recorder_regex_fail_(struct recorder_regex_ *r,
                                           const char *error)
{
    if (!r->error)
        r->error = error;
    r->at = "";
}

/* Counts steps, so that every pattern comes to an end. */
RECORDER_SELDOM_ void recorder_regex_step_(struct recorder_regex_ *r)
{
    if (r->steps++ == RECORDER_REGEX_STEPS_MAX_)
        recorder_regex_fail_(r, "too complicated");
}

RECORDER_SELDOM_ bool recorder_regex_within_(unsigned char c, unsigned char low,
                                             unsigned char high)
{
    return c >= low && c <= high;
}

RECORDER_SELDOM_ unsigned char recorder_regex_lower_(unsigned char c)
{
    return recorder_regex_within_(c, 'A', 'Z') ? (unsigned char)(c | 0x20) : c;
}

/* Parses the name of a class after "[:". True if c belongs to it. */
RECORDER_SELDOM_ bool recorder_regex_class_(struct recorder_regex_ *r,
                                            unsigned char c)
{
    /* name, and pairs of lowest and highest characters */
    static const char classes[][16] = {
        "alpha:azAZ",   "upper:azAZ",   "lower:azAZ",
        "digit:09",     "alnum:azAZ09", "xdigit:09afAF",
        "space:\t\r  ", "blank:\t\t  ", "punct:!/:@[`{~",
        "print: ~",     "graph:!~",     "cntrl:\1\37\177\177"};
    for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++) {
        const char *class_name = classes[i], *pair = class_name;
        const char *at = r->at;
        bool found = false;
        while (*pair == *at && *pair != ':') {
            pair++;
            at++;
        }
        if (*pair != ':' || at[0] != ':' || at[1] != ']')
            continue;
        r->at = at + 2;
        for (pair++; *pair; pair += 2)
            found |= c >= pair[0] && c <= pair[1];
        return found;
    }
    recorder_regex_fail_(r, "unknown [:class:]");
    return false;
}

/* Parses an element of a bracket expression: a class, a range or a character,
   and says whether c is in it. */
RECORDER_SELDOM_ bool recorder_regex_element_(struct recorder_regex_ *r,
                                              bool first, unsigned char c)
{
    unsigned char lower = recorder_regex_lower_(c), upper = c;
    unsigned char low = (unsigned char)*r->at++, high = low;
    if (recorder_regex_within_(lower, 'a', 'z'))
        upper = (unsigned char)(lower ^ 0x20);
    if (low == '[' && *r->at == ':') {
        r->at++;
        return recorder_regex_class_(r, c);
    }
    if (low == '[' && (*r->at == '.' || *r->at == '='))
        recorder_regex_fail_(r, "[. and [= are not supported");
    else if (low == '-' && !first && *r->at && *r->at != ']')
        recorder_regex_fail_(r, "- must come first or last");
    if (r->at[0] == '-' && r->at[1] && r->at[1] != ']') {
        high = (unsigned char)r->at[1];
        r->at += 2;
        if (low > high ||
            (high == '[' && (*r->at == ':' || *r->at == '.' || *r->at == '=')))
            recorder_regex_fail_(r, "range out of order");
    }
    return recorder_regex_within_(lower, low, high) ||
           recorder_regex_within_(upper, low, high);
}

/* Parses a bracket expression after its "[". True if it has c. */
RECORDER_SELDOM_ bool recorder_regex_bracket_(struct recorder_regex_ *r,
                                              unsigned char c)
{
    bool negated = *r->at == '^', found = false, first = true;
    r->at += negated;
    while (*r->at && (first || *r->at != ']')) {
        recorder_regex_step_(r);
        found |= *r->at && recorder_regex_element_(r, first, c);
        first = false;
    }
    if (*r->at == ']')
        r->at++;
    else
        recorder_regex_fail_(r, "missing ]");
    return found != negated;
}

/* Parses an element that matches one character. True if it matches c. */
RECORDER_SELDOM_ bool recorder_regex_character_(struct recorder_regex_ *r,
                                                unsigned char c)
{
    unsigned char want = (unsigned char)*r->at++;
    recorder_regex_step_(r);
    if (want == '[')
        return recorder_regex_bracket_(r, c);
    if (want == '\\') {
        want = (unsigned char)*r->at;
        if (!want)
            recorder_regex_fail_(r, "nothing after \\");
        else if (recorder_regex_within_(recorder_regex_lower_(want), 'a',
                                        'z') ||
                 recorder_regex_within_(want, '0', '9'))
            recorder_regex_fail_(r, "unknown escape");
        else
            r->at++;
    } else if (want == '.') {
        return true;
    }
    return recorder_regex_lower_(c) == recorder_regex_lower_(want);
}

RECORDER_SELDOM_ bool recorder_regex_repeats_(char c)
{
    return c == '*' || c == '+' || c == '?' || c == '{';
}

/* Parses a character, an anchor or a group; where it ends if it begins at one
   of the places in from. */
RECORDER_SELDOM_ uint64_t recorder_regex_atom_(struct recorder_regex_ *r,
                                               uint64_t from)
{
    const char *start = r->at, *after;
    uint64_t to = 0;
    switch (*r->at) {
    case '(':
        r->at++;
        to = recorder_regex_group_(r, from);
        if (*r->at == ')')
            r->at++;
        else
            recorder_regex_fail_(r, "missing )");
        return to;
    case '^':
    case '$':
        to = from & (uint64_t)1 << (*r->at == '^' ? 0 : r->length);
        r->at++;
        if (recorder_regex_repeats_(*r->at)) /* undefined in POSIX */
            recorder_regex_fail_(r, "nothing to repeat");
        return to;
    default: break;
    }
    if (recorder_regex_repeats_(*r->at))
        recorder_regex_fail_(r, "nothing to repeat");
    else
        recorder_regex_character_(r, 0);
    after = r->at;
    for (unsigned i = 0; i < r->length && !r->error; i++) {
        r->at = start;
        if ((from >> i & 1) &&
            recorder_regex_character_(r, (unsigned char)r->name[i]))
            to |= (uint64_t)2 << i;
    }
    r->at = r->error ? "" : after;
    return to;
}

/* Parses a number of up to three digits. Returns `none` if there are none. */
RECORDER_SELDOM_ unsigned recorder_regex_number_(struct recorder_regex_ *r,
                                                 unsigned none)
{
    const char *start = r->at;
    unsigned n = 0;
    while (r->at - start < 3 && *r->at >= '0' && *r->at <= '9')
        n = n * 10 + (unsigned)(*r->at++ - '0');
    return r->at == start ? none : n;
}

/* Parses how often an atom is repeated: once, or by *, +, ?, {m,n}. */
RECORDER_SELDOM_ void recorder_regex_bounds_(struct recorder_regex_ *r,
                                             unsigned *least, unsigned *most)
{
    char c = *r->at;
    *least = c == '*' || c == '?' ? 0 : 1;
    *most = c == '*' || c == '+' ? UINT32_MAX : 1;
    r->at += recorder_regex_repeats_(c);
    if (c != '{')
        return;
    *least = *most = recorder_regex_number_(r, UINT32_MAX);
    if (*r->at == ',') {
        r->at++;
        *most = recorder_regex_number_(r, UINT32_MAX);
    }
    if (*r->at != '}' || *least > *most ||
        *least > RECORDER_REGEX_REPEATS_MAX_ ||
        (*most > RECORDER_REGEX_REPEATS_MAX_ && *most != UINT32_MAX))
        recorder_regex_fail_(r, "not {m}, {m,} or {m,n}");
    else
        r->at++;
}

/* Parses an atom and its bounds, and repeats it while it reaches places
   that were not reached before. */
RECORDER_SELDOM_ uint64_t recorder_regex_piece_(struct recorder_regex_ *r,
                                                uint64_t from)
{
    const char *start = r->at, *after = start;
    uint64_t set = from, last, all = 0;
    unsigned least = 1, most = 1, n = 0;
    do {
        last = set;
        r->at = start;
        set = recorder_regex_atom_(r, set);
        if (n++ == 0) {
            recorder_regex_bounds_(r, &least, &most);
            after = r->at;
            all = least ? 0 : from;
        }
        if (set == last)
            least = n; /* more repeats lead nowhere new */
        if (n >= least && n <= most) {
            set &= ~all;
            all |= set;
        }
    } while (set && n < most && !r->error);
    r->at = r->error ? "" : after;
    return all;
}

/* Parses alternatives up to a ")" or the end. */
RECORDER_SELDOM_ uint64_t recorder_regex_group_(struct recorder_regex_ *r,
                                                uint64_t from)
{
    uint64_t to = 0;
    bool more = true;
    if (r->depth++ > RECORDER_REGEX_DEPTH_MAX_)
        recorder_regex_fail_(r, "groups nested too deeply");
    while (more) {
        uint64_t set = from;
        recorder_regex_step_(r);
        while (*r->at && *r->at != '|' && *r->at != ')')
            set = recorder_regex_piece_(r, set);
        to |= set;
        more = *r->at == '|';
        r->at += more;
    }
    r->depth--;
    return to;
}

RECORDER_C_END_

#endif
