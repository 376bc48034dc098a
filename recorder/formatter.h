/* formatter.h - a conversion at work: its words, its flags, its text. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FORMATTER_H_
#define RECORDER_FORMATTER_H_

#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- interface -- */

/* The words that the conversions of a format consume, in order. A double is
   its bits, or those of a float where words have 4 bytes. */
struct recorder_arguments_ {
    const uint64_t *word;
    unsigned count;
    uint32_t lost;       /* bit i: word i was lost */
    unsigned word_bytes; /* 4 or 8: the recorded program's word */
    /* Copies up to size bytes that stand at address, may copy fewer, returns
       how many; 0 or less: not readable. Null: no string can be read. It is
       asked for 64 bytes at most. */
    ptrdiff_t (*text)(void *context, uint64_t address, char *to, size_t size);
    void *context;
    /* The program's own conversions, by character: 256 of them, null for those
       it has not. Each overrides what the character means here, a length
       modifier too. Null: there are none. */
    recorder_type *const *types;
    intptr_t trace; /* what they are told; bit 0 also where a '+' stands */
    /* True if the text at an address may have changed since it was recorded:
       it is shown behind RECORDER_FORMAT_CHANGES_. Sets *size where that is
       known and no NUL ends the text. Null: none has, of no text. */
    bool (*changes)(void *context, uint64_t address, size_t *size);
};
#define RECORDER_FORMAT_CHANGES_ "~"

/* A format being worked on. */
struct recorder_formatter_ {
    const char *at;                             /* in the format */
    const struct recorder_arguments_ *arguments; /* null: only count them */
    unsigned next; /* index of the word to consume next */
    unsigned used; /* one more than the highest index that was consumed */

    char *to; /* the text: room bytes, and one for the NUL */
    size_t room;
    size_t length; /* of the whole text, also of what found no room */

    /* the conversion at hand */
    const char *start; /* behind its '%' */
    uint64_t word;
    unsigned flags;
    unsigned width;
    int precision;   /* negative: none was given */
    unsigned bits;   /* how much of the word an integer conversion looks at */
    unsigned prefix; /* length of what stays in front of padding zeros */
    bool wide;       /* %ls, %lc */
    bool lost;       /* this word, or that of a *, was lost */
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

/* Keeps the compiler from turning a loop over bytes into a call of memcpy or
   memset, which signal handlers may and bare metal may not have. */
#define RECORDER_FORMAT_LOOP_(i) __asm__("" : "+r"(i))

/* ---------------------------------------------------------------- output -- */

/* Appends s[0..n). */
static inline void recorder_format_put_(struct recorder_formatter_ *f,
                                        const char *s, size_t n)
{
    size_t at = f->length;
    size_t room = at < f->room ? f->room - at : 0;
    size_t fit = n < room ? n : room;
    char *to = f->to;
    for (size_t i = 0; i < fit; i++) {
        RECORDER_FORMAT_LOOP_(i);
        to[at + i] = s[i];
    }
    f->length = n > SIZE_MAX - at ? SIZE_MAX : at + n;
}

/* Inserts n times fill; takes time for what has room, not for n. */
static inline void recorder_format_insert_(struct recorder_formatter_ *f,
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

/* Writes value in front of end, with least digits or more, and returns where
   it begins. Shift 0 means decimal, otherwise a digit has that many bits. */
static inline char *recorder_format_digits_(char *end, uint64_t value,
                                            unsigned shift, bool upper,
                                            unsigned least)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    const char *last = end - least;
    uint32_t low;
    for (; shift && value; value >>= shift)
        *--end = digits[value & ((1U << shift) - 1)];
    for (; value > UINT32_MAX; value /= 10)
        *--end = digits[value % 10];
    for (low = (uint32_t)value; low; low /= 10)
        *--end = digits[low % 10];
    while (end > last) {
        RECORDER_FORMAT_LOOP_(end);
        *--end = '0';
    }
    return end;
}

/* Begins a number: its sign, and 0x or the like, which stay in front when it
   is padded with zeros. */
static inline void recorder_format_begin_(struct recorder_formatter_ *f,
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
