/* reals.h - %f, %e, %g and %a, exact to the last digit. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_REALS_H_
#define RECORDER_REALS_H_

#include "formatter.h"

RECORDER_C_BEGIN_

/* ----------------------------------------------------------------- reals -- */

/* A number with 324 digits before the point and 1080 after it, which
   holds every double exactly. Digit i, counted from the very first, is one of
   the 9 digits of word[i / 9]. */
#define RECORDER_DECIMAL_POINT_ 36 /* words in front of the point */
#define RECORDER_DECIMAL_WORDS_ 156
#define RECORDER_DECIMAL_BASE_ 1000000000U

struct recorder_decimal_ {
    unsigned first, end; /* words outside [first, end) count as 0 */
    uint32_t word[RECORDER_DECIMAL_WORDS_];
};

/* Multiplies a number without fraction by 2^shift, shift <= 32. */
RECORDER_SELDOM_ void recorder_decimal_multiply_(struct recorder_decimal_ *d,
                                                 unsigned shift)
{
    uint64_t carry = 0;
    for (unsigned i = d->end; i-- > d->first;) {
        carry += (uint64_t)d->word[i] << shift;
        d->word[i] = (uint32_t)(carry % RECORDER_DECIMAL_BASE_);
        carry /= RECORDER_DECIMAL_BASE_;
    }
    for (; carry; carry /= RECORDER_DECIMAL_BASE_)
        d->word[--d->first] = (uint32_t)(carry % RECORDER_DECIMAL_BASE_);
}

/* Divides by 2^shift, shift <= 32. */
RECORDER_SELDOM_ void recorder_decimal_divide_(struct recorder_decimal_ *d,
                                               unsigned shift)
{
    uint64_t rest = 0;
    unsigned i = d->first;
    for (; i < d->end || rest; i++) {
        rest = rest * RECORDER_DECIMAL_BASE_ + (i < d->end ? d->word[i] : 0);
        d->word[i] = (uint32_t)(rest >> shift);
        rest &= ((uint64_t)1 << shift) - 1;
    }
    d->end = i;
    while (d->first < d->end && !d->word[d->first])
        d->first++;
}

/* Sets a decimal to mantissa * 2^exponent, mantissa < 10^18. */
RECORDER_SELDOM_ void recorder_decimal_set_(struct recorder_decimal_ *d,
                                            uint64_t mantissa, int exponent)
{
    d->first = RECORDER_DECIMAL_POINT_ - 2;
    d->end = RECORDER_DECIMAL_POINT_;
    d->word[d->first] = (uint32_t)(mantissa / RECORDER_DECIMAL_BASE_);
    d->word[d->first + 1] = (uint32_t)(mantissa % RECORDER_DECIMAL_BASE_);
    while (exponent) {
        int step = exponent > 32 ? 32 : exponent < -32 ? -32 : exponent;
        if (step > 0)
            recorder_decimal_multiply_(d, (unsigned)step);
        else
            recorder_decimal_divide_(d, (unsigned)-step);
        exponent -= step;
    }
}

/* Returns the index of the first digit that is not 0; for 0, of the units. */
RECORDER_SELDOM_ unsigned
recorder_decimal_lead_(const struct recorder_decimal_ *d)
{
    unsigned i = d->first, lead;
    while (i < d->end && !d->word[i])
        i++;
    if (i == d->end)
        return RECORDER_DECIMAL_POINT_ * 9 - 1;
    lead = i * 9 + 8;
    for (uint32_t word = d->word[i]; word >= 10; word /= 10)
        lead--;
    return lead;
}

/* Returns the index after the last digit that is not 0; for 0, 0. */
RECORDER_SELDOM_ unsigned
recorder_decimal_tail_(const struct recorder_decimal_ *d)
{
    unsigned i = d->end, tail;
    while (i > d->first && !d->word[i - 1])
        i--;
    if (i == d->first)
        return 0;
    tail = i * 9;
    for (uint32_t word = d->word[i - 1]; word % 10 == 0; word /= 10)
        tail--;
    return tail;
}

/* Rounds to the digits before index `keep`, a tie to the even digit. */
RECORDER_SELDOM_ void recorder_decimal_round_(struct recorder_decimal_ *d,
                                              unsigned keep)
{
    unsigned i = keep / 9;
    uint32_t unit = RECORDER_DECIMAL_BASE_, rest, odd;
    if (i >= d->end)
        return;
    if (i < d->first) {
        d->end = d->first;
        return;
    }
    for (unsigned n = keep % 9; n; n--)
        unit /= 10;
    rest = d->word[i] % unit;
    odd = d->word[i] / unit;
    if (keep % 9 == 0 && i > d->first)
        odd = d->word[i - 1];
    if (rest == unit / 2 && recorder_decimal_tail_(d) > i * 9 + 9)
        odd = 1; /* more than a tie */
    d->word[i] -= rest;
    d->end = i + 1;
    if (rest < unit / 2 || (rest == unit / 2 && odd % 2 == 0))
        return;
    d->word[i] += unit;
    while (d->word[i] == RECORDER_DECIMAL_BASE_) {
        d->word[i] = 0;
        if (i == d->first)
            d->word[--d->first] = 0;
        d->word[--i]++;
    }
}

/* Writes n digits, from index `from` on. */
RECORDER_SELDOM_ void recorder_decimal_put_(struct recorder_formatter_ *f,
                                            const struct recorder_decimal_ *d,
                                            unsigned from, unsigned n)
{
    while (n && from < d->end * 9) {
        unsigned i = from / 9, skip = from % 9, count = 9 - skip;
        uint32_t word = i < d->first ? 0 : d->word[i];
        char digit[9];
        for (unsigned k = 9; k--; word /= 10)
            digit[k] = (char)('0' + word % 10);
        count = n < count ? n : count;
        recorder_format_put_(f, digit + skip, count);
        from += count;
        n -= count;
    }
    recorder_format_insert_(f, f->text.size, '0', n);
}

/* Writes an exponent like e+07, with `least` digits or more. */
RECORDER_SELDOM_ void recorder_format_exponent_(struct recorder_formatter_ *f,
                                                char letter, int exponent,
                                                unsigned least)
{
    char part[8], *end = part + sizeof part, *start;
    unsigned value = (unsigned)(exponent < 0 ? -exponent : exponent);
    start = recorder_format_whole_(end, value, least);
    *--start = exponent < 0 ? '-' : '+';
    *--start = letter;
    recorder_format_put_(f, start, (size_t)(end - start));
}

/* Writes mantissa * 2^exponent as %f, %e or %g does. */
RECORDER_SELDOM_ void recorder_format_decimal_(struct recorder_formatter_ *f,
                                               uint64_t mantissa, int exponent)
{
    const unsigned point = RECORDER_DECIMAL_POINT_ * 9;
    bool alternate = f->how.flags & RECORDER_FORMAT_ALTERNATE_;
    char letter = f->how.conversion, style = (char)(letter | 0x20);
    unsigned precision = f->how.precision < 0 ? 6 : (unsigned)f->how.precision;
    unsigned lead, tail, whole;
    struct recorder_decimal_ d;
    recorder_decimal_set_(&d, mantissa, exponent);
    if (style == 'g' && precision)
        precision--; /* from now on: digits after the first, as for %e */
    lead = recorder_decimal_lead_(&d);
    recorder_decimal_round_(&d, precision + (style == 'f' ? point : lead + 1));
    lead = recorder_decimal_lead_(&d);
    exponent = (int)point - 1 - (int)lead;
    if (style == 'g') {
        letter = (char)(letter - 2); /* g becomes e */
        style = exponent < -4 || exponent > (int)precision ? 'e' : 'f';
        if (style == 'f')
            precision -= (unsigned)exponent;
        whole = style == 'e' ? lead + 1 : point;
        tail = recorder_decimal_tail_(&d);
        if (!alternate && tail < whole + precision)
            precision = tail > whole ? tail - whole : 0;
    }
    if (style == 'f' && lead >= point)
        lead = point - 1;
    whole = style == 'f' ? point - lead : 1;
    recorder_decimal_put_(f, &d, lead, whole);
    recorder_format_put_(f, ".", precision || alternate);
    recorder_decimal_put_(f, &d, lead + whole, precision);
    if (style == 'e')
        recorder_format_exponent_(f, letter, exponent, 2);
}

/* Writes mantissa * 2^(exponent - 52) as %a does. */
RECORDER_SELDOM_ void
recorder_format_hexadecimal_(struct recorder_formatter_ *f, uint64_t mantissa,
                             int exponent)
{
    bool upper = f->how.conversion == 'A';
    char digit[14], *end = digit + sizeof digit, *start;
    unsigned count = 13, zeros = 0; /* digits after the point */
    if (f->how.precision < 0) {
        for (; count && !(mantissa & 15); count--)
            mantissa >>= 4;
    } else if (f->how.precision < 13) {
        unsigned drop = 4 * (13 - (unsigned)f->how.precision);
        uint64_t half = (uint64_t)1 << (drop - 1);
        uint64_t rest = mantissa & (half * 2 - 1);
        count = (unsigned)f->how.precision;
        mantissa >>= drop;
        mantissa += rest > half || (rest == half && (mantissa & 1));
    } else {
        zeros = (unsigned)f->how.precision - 13;
    }
    start = recorder_format_digits_(end, mantissa, 4, upper, count + 1);
    recorder_format_put_(f, start, 1);
    recorder_format_put_(f, ".",
                         count || (f->how.flags & RECORDER_FORMAT_ALTERNATE_));
    recorder_format_put_(f, start + 1, count);
    recorder_format_insert_(f, f->text.size, '0', zeros);
    recorder_format_exponent_(f, upper ? 'P' : 'p', exponent, 1);
}

/* Returns the bits of the double that equals the float of these bits. */
RECORDER_LOCAL_ uint64_t recorder_format_widen_(uint32_t bits)
{
    uint64_t sign = (uint64_t)(bits >> 31) << 63, mantissa = bits & 0x7fffff;
    int exponent = (int)(bits >> 23 & 255);
    if (exponent == 255)
        return sign | (uint64_t)0x7ff << 52 | mantissa << 29;
    if (!exponent && !mantissa)
        return sign;
    if (!exponent) /* a denormal float is a normal double */
        for (exponent = 1; !(mantissa >> 23); exponent--)
            mantissa <<= 1;
    mantissa &= 0x7fffff;
    return sign | (uint64_t)(exponent + 1023 - 127) << 52 | mantissa << 29;
}

RECORDER_SELDOM_ void recorder_format_real_(struct recorder_formatter_ *f)
{
    const uint64_t implied = (uint64_t)1 << 52;
    bool short_word = f->arguments->word_bytes == 4;
    uint64_t bits =
        short_word ? recorder_format_widen_((uint32_t)f->word) : f->word;
    uint64_t mantissa = bits & (implied - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    bool upper = f->how.conversion < 'a', negative = bits >> 63;
    bool hexadecimal = f->how.conversion == 'a' || f->how.conversion == 'A';
    if (exponent == 0x7ff) {
        const char *names = upper ? "INFNAN" : "infnan";
        f->how.flags &= ~RECORDER_FORMAT_ZERO_;
        recorder_format_begin_(f, negative, 0);
        recorder_format_put_(f, mantissa ? names + 3 : names, 3);
        return;
    }
    if (exponent)
        mantissa |= implied;
    else
        exponent = mantissa ? 1 : 1023; /* denormal, zero */
    recorder_format_begin_(f, negative, hexadecimal ? (upper ? 'X' : 'x') : 0);
    if (hexadecimal)
        recorder_format_hexadecimal_(f, mantissa, exponent - 1023);
    else
        recorder_format_decimal_(f, mantissa, exponent - 1023 - 52);
}

RECORDER_C_END_
#endif
