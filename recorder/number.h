/* number.h - the numbers and times that conditions are written with. */
/* SPDX-License-Identifier: MIT */
/*
    1000  -5  0x1f  1.5  2e-3  10k  inf  nan         20ms  1.5s  5min

Zeros in front do not make a number octal. k, M and G are 10^3, 10^6 and 10^9;
times have a unit: ns, us, ms, s, m or min, h, d. Nothing here computes with
floating point, so that it works in programs and kernels without.
*/
#ifndef RECORDER_NUMBER_H_
#define RECORDER_NUMBER_H_

#include "reals.h"

RECORDER_C_BEGIN_

/* A number as a text has it, in the forms that arguments are compared in. */
struct recorder_number_ {
    uint64_t size;   /* without sign and fraction; UINT64_MAX if it is larger */
    uint64_t real;   /* bits of the nearest double */
    uint32_t single; /* bits of the float that is nearest to that double */
    bool negative;
    bool more; /* the number has a fraction, is larger than `size` or NaN */
    bool nan;
};

/* The digits of a number, a point among them, that is times 10^exponent. */
struct recorder_digits_ {
    const char *first, *end;
    int before;   /* digits before the point */
    int exponent; /* -9999 to 9999 */
};

RECORDER_INLINE_ bool recorder_is_digit_(char c)
{
    return c >= '0' && c <= '9';
}
RECORDER_INLINE_ bool recorder_is_letter_(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Returns the end of `word` if `text` begins with it in any case, else null. */
RECORDER_SELDOM_ const char *recorder_number_word_(const char *text,
                                                   const char *word)
{
    for (; *word; text++, word++)
        if ((*text | 0x20) != *word)
            return NULL;
    return text;
}

/* Reads "1.5e3". Returns its end, or null if there is no digit or there are
 * more than 60. */
RECORDER_SELDOM_ const char *recorder_digits_read_(const char *at,
                                                   struct recorder_digits_ *to)
{
    int digits = 0, exponent = 0, sign;
    bool point = false;
    to->first = at;
    to->before = 0;
    for (; recorder_is_digit_(*at) || (*at == '.' && !point); at++) {
        point |= *at == '.';
        digits += *at != '.';
        to->before += !point;
    }
    to->end = at;
    to->exponent = 0;
    if (!digits || digits > 60)
        return NULL;
    if ((*at | 0x20) != 'e')
        return at;
    at++;
    sign = *at == '-' ? -1 : 1;
    at += *at == '-' || *at == '+';
    if (!recorder_is_digit_(*at))
        return to->end; /* the letter belongs to something else */
    for (; recorder_is_digit_(*at); at++)
        if (exponent < 1000)
            exponent = exponent * 10 + (*at - '0');
    to->exponent = sign * exponent;
    return at;
}

/* Sets *size to the number without its fraction, at most UINT64_MAX. Returns
 * true if that is not the whole number. */
RECORDER_SELDOM_ bool recorder_digits_whole_(const struct recorder_digits_ *d,
                                             uint64_t *size)
{
    int left = d->before + d->exponent;
    const char *at = d->first;
    bool fraction = false;
    *size = 0;
    for (; at < d->end || (left > 0 && *size); at++) {
        unsigned digit = at < d->end ? (unsigned)(*at - '0') : 0;
        if (at < d->end && *at == '.')
            continue;
        if (left-- <= 0) {
            fraction |= digit != 0;
        } else if (*size > (UINT64_MAX - digit) / 10) {
            *size = UINT64_MAX;
            return true;
        } else {
            *size = *size * 10 + digit;
        }
    }
    return fraction;
}

/* ----------------------------------------------------------------- round -- */

/* Compares digits with mantissa * 2^exponent: -1, 0 or 1. */
RECORDER_SELDOM_ int recorder_digits_compare_(const struct recorder_digits_ *d,
                                              uint64_t mantissa, int exponent)
{
    struct recorder_decimal_ with;
    int lead = 9 * RECORDER_DECIMAL_POINT_ - d->before - d->exponent, i;
    const char *at = d->first;
    recorder_decimal_set_(&with, mantissa, exponent);
    for (i = lead < 0 ? lead : 0; at < d->end || i < 9 * (int)with.end; i++) {
        uint32_t left = 0, right = 0, k;
        at += at < d->end && *at == '.';
        if (at < d->end && i >= lead)
            left = (uint32_t)(*at++ - '0');
        if (i >= 9 * (int)with.first && i < 9 * (int)with.end) {
            right = with.word[i / 9];
            for (k = 8 - (uint32_t)i % 9; k; k--)
                right /= 10;
            right %= 10;
        }
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}

/* Compares digits with a double of these bits, or, `half`, with the number in
 * the middle between it and the next. */
RECORDER_SELDOM_ int recorder_digits_beside_(const struct recorder_digits_ *d,
                                             uint64_t bits, bool half)
{
    int exponent = (int)(bits >> 52);
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    mantissa |= exponent ? (uint64_t)1 << 52 : 0;
    exponent = (exponent ? exponent : 1) - 1075 - half;
    return recorder_digits_compare_(d, half ? 2 * mantissa + 1 : mantissa,
                                    exponent);
}

/* Returns the bits of the nearest double, a tie to the even one, infinity if
 * the number is larger than any: finds the largest double that is not above the
 * number, bit by bit. */
RECORDER_SELDOM_ uint64_t
recorder_digits_round_(const struct recorder_digits_ *d)
{
    const uint64_t infinite = (uint64_t)0x7ff << 52;
    uint64_t bits = 0, bit;
    const char *at = d->first;
    int lead = d->before + d->exponent, is;
    for (; at < d->end && (*at == '0' || *at == '.'); at++)
        lead -= *at == '0';
    if (at == d->end || lead < -330)
        return 0;
    if (lead > 310)
        return infinite;
    for (bit = (uint64_t)1 << 62; bit; bit >>= 1)
        if ((bits | bit) < infinite &&
            recorder_digits_beside_(d, bits | bit, false) >= 0)
            bits |= bit;
    is = recorder_digits_beside_(d, bits, true);
    return bits + (is > 0 || (is == 0 && (bits & 1)));
}

/* Returns the bits of the double that is nearest to a whole number. */
RECORDER_SELDOM_ uint64_t recorder_number_whole_(uint64_t size)
{
    int top = 63, rest;
    uint64_t bits;
    while (top && !(size >> top))
        top--;
    rest = top - 52; /* bits that a double has no room for */
    bits = rest > 0 ? size >> rest : size << -rest;
    if (rest > 0) {
        uint64_t half = (uint64_t)1 << (rest - 1), cut = size & (2 * half - 1);
        bits += cut > half || (cut == half && (bits & 1));
    }
    return size ? ((uint64_t)(top + 1022) << 52) + bits : 0;
}

/* Rounds the bits of a double, a sign apart, to the nearest float's. */
RECORDER_SELDOM_ uint32_t recorder_number_single_(uint64_t real)
{
    int exponent = (int)(real >> 52) - 1023 + 127, drop = 29;
    uint64_t mantissa = real & (((uint64_t)1 << 52) - 1), half, rest, bits;
    if (exponent > 254) /* NaN stays one */
        return 0x7f800000u | (mantissa && real >> 52 == 0x7ff);
    mantissa |= (uint64_t)1 << 52;
    if (exponent < 1)
        drop += 1 - exponent;
    if (drop > 54)
        return 0;
    half = (uint64_t)1 << (drop - 1);
    rest = mantissa & (2 * half - 1);
    bits = mantissa >> drop;
    bits += rest > half || (rest == half && (bits & 1));
    return (uint32_t)((exponent < 1 ? 0 : (uint64_t)(exponent - 1) << 23) +
                      bits);
}

/* ------------------------------------------------------------------ read -- */

/* Reads hexadecimal digits. Returns their end, or null if there is none or
 * there are more than 64 bits. */
RECORDER_SELDOM_ const char *recorder_number_hex_(struct recorder_number_ *to,
                                                  const char *at)
{
    const char *first = at;
    for (; recorder_is_digit_(*at) ||
           ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'f');
         at++) {
        if (to->size >> 60)
            return NULL;
        to->size = to->size << 4 | (recorder_is_digit_(*at)
                                        ? (unsigned)(*at - '0')
                                        : (unsigned)((*at | 0x20) - 'a') + 10);
    }
    return at == first ? NULL : at;
}

/* Reads digits and a unit. Returns their end, or null if there is none or the
 * number is too large. */
RECORDER_SELDOM_ const char *
recorder_number_decimal_(struct recorder_number_ *to, const char *at)
{
    static const char units[] = "kMG";
    struct recorder_digits_ d;
    const char *end = recorder_digits_read_(at, &d);
    unsigned i = 0;
    bool plain;
    if (!end)
        return NULL;
    while (units[i] && units[i] != *end)
        i++;
    plain = end - at == d.before && i == 3;
    d.exponent += i < 3 ? 3 * (int)(i + 1) : 0;
    to->more = recorder_digits_whole_(&d, &to->size);
    if (to->more)
        to->real = recorder_digits_round_(&d);
    return to->real >> 52 == 0x7ff || (plain && to->more) ? NULL
                                                          : end + (i < 3);
}

/* Reads a number. Returns its end, or null if there is none or it is too
 * large. */
RECORDER_SELDOM_ const char *recorder_number_read_(struct recorder_number_ *to,
                                                   const char *at)
{
    const char *end;
    recorder_zero_(to, sizeof *to);
    to->negative = *at == '-';
    at += *at == '-' || *at == '+';
    end = recorder_number_word_(at, "inf");
    if (end) {
        to->real = (uint64_t)0x7ff << 52;
        to->size = UINT64_MAX;
        to->more = true;
        at = recorder_number_word_(end, "inity");
        end = at ? at : end;
    } else if ((end = recorder_number_word_(at, "nan")) != NULL) {
        to->real = (uint64_t)0x7ff8 << 48;
        to->nan = to->more = true;
    } else if (at[0] == '0' && (at[1] | 0x20) == 'x') {
        end = recorder_number_hex_(to, at + 2);
    } else {
        end = recorder_number_decimal_(to, at);
    }
    if (!to->more)
        to->real = recorder_number_whole_(to->size);
    to->single = recorder_number_single_(to->real);
    if (to->negative) {
        to->real |= (uint64_t)1 << 63;
        to->single |= (uint32_t)1 << 31;
        to->negative = to->size || to->more; /* -0 is 0 */
    }
    return end;
}

/* Reads "20ms", at most 292 years. Returns its end, or null. */
RECORDER_SELDOM_ const char *recorder_number_time_(const char *at, uint64_t *ns)
{
    static const struct {
        char name[4];
        uint16_t times, exponent; /* times * 10^exponent ns */
    } units[] = {{"ns", 1, 0},   {"us", 1, 3}, {"ms", 1, 6},  {"s", 1, 9},
                 {"min", 6, 10}, {"m", 6, 10}, {"h", 36, 11}, {"d", 864, 11}};
    struct recorder_digits_ d;
    unsigned i, k;
    at = recorder_digits_read_(at, &d);
    for (i = 0; at && i < sizeof units / sizeof *units; i++) {
        for (k = 0; units[i].name[k] && units[i].name[k] == at[k]; k++)
            ;
        if (units[i].name[k] || recorder_is_letter_(at[k]))
            continue;
        d.exponent += units[i].exponent;
        recorder_digits_whole_(&d, ns);
        if (*ns > (uint64_t)INT64_MAX / units[i].times)
            return NULL;
        *ns *= units[i].times;
        return at + k;
    }
    return NULL;
}

/* --------------------------------------------------------------- compare -- */

/* Compare an argument with a number: -1, 0, 1, or 2 where one of them is NaN,
 * which is not equal, and neither less nor greater. */
RECORDER_INLINE_ int recorder_number_compare_(const struct recorder_number_ *n,
                                              bool negative, uint64_t size)
{
    int is = size < n->size ? -1 : size > n->size ? 1 : n->more ? -1 : 0;
    if (n->nan)
        return 2;
    if (negative != n->negative)
        return negative ? -1 : 1;
    return negative ? -is : is;
}
RECORDER_INLINE_ int recorder_number_real_(uint64_t real, uint64_t with)
{
    const uint64_t sign = (uint64_t)1 << 63, infinite = (uint64_t)0x7ff << 52;
    uint64_t a = real & ~sign, b = with & ~sign;
    int64_t left = real & sign ? -(int64_t)a : (int64_t)a;
    int64_t right = with & sign ? -(int64_t)b : (int64_t)b;
    return a > infinite || b > infinite ? 2 : (left > right) - (left < right);
}

RECORDER_C_END_
#endif
