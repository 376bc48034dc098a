/* formatter.h - a conversion at work: its words, its flags, its text. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FORMATTER_H_
#define RECORDER_FORMATTER_H_

#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- interface -- */

/* How long a copied text is; SIZE_MAX: not known. */
struct recorder_sizes_ {
    size_t kept, shown; /* without what says that it was cut, and with that */
};

/* The words that the conversions of a format consume, in order. A double is
   its bits, or those of a float if words have 4 bytes. */
struct recorder_arguments_ {
    const uint64_t *word;
    unsigned count;
    uint32_t missing;    /* bit i: word i was lost */
    unsigned word_bytes; /* 4 or 8: the recorded program's word */
    /* Copies bytes at an address, at most `size`, which is at most 64. Returns
       how many; 0 or less: it is not readable. Null: no string is. */
    ptrdiff_t (*text)(void *context, uint64_t address, char *to, size_t size);
    void *context;
    /* The program's own conversions, by character: 256 functions or nulls. Each
       overrides the meaning of its character, a length modifier's too. Null:
       there are none. */
    recorder_type *const *types;
    intptr_t trace; /* passed to them; a '+' sets bit 0, too */
    /* True if the text at an address may have changed since it was recorded:
       then RECORDER_FORMAT_CHANGES_ marks it. Sets the sizes if they are known
       and no NUL ends the text. Null: none has changed. */
    bool (*changes)(void *context, uint64_t address,
                    struct recorder_sizes_ *sizes);
};
#define RECORDER_FORMAT_CHANGES_ "~"

/* A format being worked on. */
struct recorder_formatter_ {
    const char *at;                              /* in the format */
    const struct recorder_arguments_ *arguments; /* null: only count them */
    unsigned next; /* index of the word to consume next */
    unsigned used; /* one more than the highest index that was consumed */

    char *to; /* the text: `room` bytes, and one for the NUL */
    size_t room;
    size_t length; /* of the whole text, with the bytes that found no room */

    /* the conversion at hand */
    const char *start; /* behind its '%' */
    uint64_t word;
    unsigned flags;
    unsigned width;
    int precision;   /* negative: none was given */
    unsigned bits;   /* how much of the word an integer conversion looks at */
    unsigned prefix; /* length of the sign and 0x, before padding zeros */
    bool wide;       /* %ls, %lc */
    bool missing;    /* this word, or that of a *, was lost */
    char conversion; /* as written */
    char kind;       /* the function it needs; 0: it prints as it stands */
};

/* flags: bit i stands for character i of "-+ #0'I", of which the C locale
   ignores the last two */
#define RECORDER_FORMAT_LEFT_ 1U
#define RECORDER_FORMAT_PLUS_ 2U
#define RECORDER_FORMAT_SPACE_ 4U
#define RECORDER_FORMAT_ALTERNATE_ 8U
#define RECORDER_FORMAT_ZERO_ 16U

#define RECORDER_FORMAT_MOST_ 2147483647U /* largest width or precision */

/* Prevents that the compiler makes a call of memcpy or memset of a loop over
   bytes: bare metal may not have them. */
#define RECORDER_FORMAT_LOOP_(i) __asm__("" : "+r"(i))

/* ---------------------------------------------------------------- output -- */

/* Appends s[0..n). */
RECORDER_FUNCTION_ void recorder_format_put_(struct recorder_formatter_ *f,
                                             const char *s, size_t n)
{
    size_t at = f->length;
    size_t room = at < f->room ? f->room - at : 0;
    size_t fit = n < room ? n : room;
    if (fit)
        recorder_bytes_(f->to + at, s, fit);
    f->length = n > SIZE_MAX - at ? SIZE_MAX : at + n;
}

/* Inserts `fill` n times. Takes time by the bytes that have room, not by n. */
RECORDER_FUNCTION_ void recorder_format_insert_(struct recorder_formatter_ *f,
                                                size_t at, char fill, size_t n)
{
    size_t length = n > SIZE_MAX - f->length ? SIZE_MAX : f->length + n;
    size_t end = length < f->room ? length : f->room;
    size_t gap = at < end && n < end - at ? at + n : end;
    f->length = length;
    for (size_t i = end; i > gap; i--) {
        RECORDER_FORMAT_LOOP_(i);
        f->to[i - 1] = f->to[i - 1 - n];
    }
    for (size_t i = at; i < gap; i++) {
        RECORDER_FORMAT_LOOP_(i);
        f->to[i] = fill;
    }
}

/* Writes `value` before `end`, with `least` digits or more. Returns its begin.
   Shift 0 is decimal; otherwise a digit has `shift` bits. */
RECORDER_FUNCTION_ char *recorder_format_digits_(char *end, uint64_t value,
                                                 unsigned shift, bool upper,
                                                 unsigned least)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    const char *last = end - least;
    uint32_t low, two, tens;
    for (; shift && value; value >>= shift)
        *--end = digits[value & ((1U << shift) - 1)];
    for (; value > UINT32_MAX; value /= 10)
        *--end = (char)('0' + value % 10);
    for (low = (uint32_t)value; low > 9; low /= 100) {
        two = low % 100;
        tens = two * 103 >> 10; /* two / 10 */
        *--end = (char)('0' + two - 10 * tens);
        *--end = (char)('0' + tens);
    }
    if (low)
        *--end = (char)('0' + low);
    while (end > last) {
        RECORDER_FORMAT_LOOP_(end);
        *--end = '0';
    }
    return end;
}

/* Begins a number by its sign and 0x or the like; padding zeros follow both. */
RECORDER_FUNCTION_ void recorder_format_begin_(struct recorder_formatter_ *f,
                                               bool negative, char base)
{
    char prefix[3];
    unsigned n = 0;
    if (negative)
        prefix[n++] = '-';
    else if (f->flags & RECORDER_FORMAT_PLUS_)
        prefix[n++] = '+';
    else if (f->flags & RECORDER_FORMAT_SPACE_)
        prefix[n++] = ' ';
    if (base) {
        prefix[n++] = '0';
        prefix[n++] = base;
    }
    recorder_format_put_(f, prefix, n);
    f->prefix = n;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
