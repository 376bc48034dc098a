/* formatter.h - a conversion at work: its words, its flags, its text. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FORMATTER_H_
#define RECORDER_FORMATTER_H_

#include "layout.h"
#include "os.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------- interface -- */

/* How long a copied text is; SIZE_MAX: not known. */
struct recorder_sizes_ {
    size_t kept, shown; /* without the mark of a cut, and with it */
};

/* The words that the conversions of a format consume, in order. A double is
   its bits, or a float's if words have 4 bytes. */
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

/* A text that grows up to `max` bytes; also counts the bytes beyond them. */
struct recorder_string_ {
    char *to;
    size_t max, size;
};

/* How a conversion is written. */
struct recorder_conversion_ {
    unsigned flags;
    unsigned width;
    int precision;   /* negative: none was given */
    unsigned bits;   /* how much of the word an integer conversion looks at */
    char conversion; /* as written */
    char kind;       /* the function it needs; 0: it prints unchanged */
    bool wide;       /* %ls, %lc */
    bool plain;      /* %d or %u of any size, without flags and precision */
};

/* A part of a format: text that needs no escape, and the next conversion,
   which consumes the next word. Kind 0: there the format ends. */
struct recorder_planned_ {
    uint16_t literal, size, end; /* the text; where the part ends */
    struct recorder_conversion_ how;
};
/* The first parts of a format that is shown again and again. */
struct recorder_plan_ {
    unsigned count;
    struct recorder_planned_ part[6];
};

/* A format being worked on. */
struct recorder_formatter_ {
    const char *at;                              /* in the format */
    const struct recorder_arguments_ *arguments; /* null: only count them */
    unsigned next; /* index of the word to consume next */
    unsigned used; /* one more than the highest index that was consumed */

    struct recorder_string_ text; /* with room for a NUL after it */

    /* the conversion at hand */
    const char *start; /* after its '%' */
    uint64_t word;
    struct recorder_conversion_ how;
    unsigned prefix; /* length of the sign and 0x, before padding zeros */
    bool varies;     /* its words are not just the next one */
    bool missing;    /* this word, or the word of a *, was lost */
};

/* flags: bit i is set if the format has character i of "-+ #0'I"; the C locale
   ignores the last two characters */
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

/* Adds as much of a text as there is room for, and counts all of it. */
RECORDER_SELDOM_ void recorder_add_cut_(struct recorder_string_ *s,
                                        const char *text, size_t size)
{
    size_t at = s->size;
    if (at < s->max)
        recorder_bytes_(s->to + at, text, s->max - at);
    s->size = size > SIZE_MAX - at ? SIZE_MAX : at + size;
}
RECORDER_FUNCTION_ void recorder_add_text_(struct recorder_string_ *s,
                                           const char *text, size_t size)
{
    size_t at = s->size;
    if (at > s->max || size > s->max - at) {
        recorder_add_cut_(s, text, size);
        return;
    }
    s->size = at + size;
    recorder_bytes_short_(s->to + at, text, size);
}
RECORDER_INLINE_ void recorder_format_put_(struct recorder_formatter_ *f,
                                           const char *s, size_t n)
{
    recorder_add_text_(&f->text, s, n);
}

/* Inserts `fill` n times. Takes time by the bytes that have room, not by n. */
RECORDER_SELDOM_ void recorder_format_insert_(struct recorder_formatter_ *f,
                                              size_t at, char fill, size_t n)
{
    size_t size = f->text.size;
    size_t length = n > SIZE_MAX - size ? SIZE_MAX : size + n;
    size_t end = length < f->text.max ? length : f->text.max;
    size_t gap = at < end && n < end - at ? at + n : end;
    f->text.size = length;
    for (size_t i = end; i > gap; i--) {
        RECORDER_FORMAT_LOOP_(i);
        f->text.to[i - 1] = f->text.to[i - 1 - n];
    }
    for (size_t i = at; i < gap; i++) {
        RECORDER_FORMAT_LOOP_(i);
        f->text.to[i] = fill;
    }
}

/* Writes `value` in decimal before `end`, with `least` digits or more. Returns
   its begin. */
RECORDER_FUNCTION_ char *recorder_format_whole_(char *end, uint64_t value,
                                                unsigned least)
{
    const char *last = end - least;
    uint32_t low, two, tens;
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
/* The same of another base: a digit has `shift` bits; 0 is decimal. */
RECORDER_SELDOM_ char *recorder_format_digits_(char *end, uint64_t value,
                                               unsigned shift, bool upper,
                                               unsigned least)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    const char *last = end - least;
    if (!shift)
        return recorder_format_whole_(end, value, least);
    for (; value || end > last; value >>= shift)
        *--end = digits[value & ((1U << shift) - 1)];
    return end;
}

/* Begins a number by its sign and 0x or the like; padding zeros follow both. */
RECORDER_SELDOM_ void recorder_format_begin_(struct recorder_formatter_ *f,
                                             bool negative, char base)
{
    char prefix[3];
    unsigned n = 0;
    if (negative)
        prefix[n++] = '-';
    else if (f->how.flags & RECORDER_FORMAT_PLUS_)
        prefix[n++] = '+';
    else if (f->how.flags & RECORDER_FORMAT_SPACE_)
        prefix[n++] = ' ';
    if (base) {
        prefix[n++] = '0';
        prefix[n++] = base;
    }
    recorder_format_put_(f, prefix, n);
    f->prefix = n;
}

/* ---------------------------------------------------------------- escape -- */

/* Writes a character as UTF-8, U+FFFD if it is none. Returns its length. */
RECORDER_SELDOM_ unsigned recorder_format_utf8_(char *to, uint32_t character)
{
    unsigned length;
    if (character > 0x10ffff || character >> 11 == 0xd800 >> 11)
        character = 0xfffd;
    length = character < 0x80      ? 1
             : character < 0x800   ? 2
             : character < 0x10000 ? 3
                                   : 4;
    for (unsigned i = length; --i; character >>= 6)
        to[i] = (char)(0x80 | (character & 0x3f));
    to[0] = (char)((length == 1 ? 0 : 0xf00U >> length & 0xff) | character);
    return length;
}

/* Returns the length of the UTF-8 sequence, ASCII apart, at s[0..n): more than
   n if the sequence lacks its end; 0 for bytes that are no UTF-8, for control
   characters, and for characters that end a line or turn the direction of text:
   U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
RECORDER_SELDOM_ size_t recorder_format_sequence_(const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];
    unsigned low = c == 0xe0 || c == 0xc2 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    unsigned high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    size_t length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    for (size_t i = 1; i < length && i < n; i++) {
        unsigned char next = (unsigned char)s[i];
        if (next < low || next > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    if (n >= 2 && c == 0xd8 && s[1] == '\x9c')
        return 0;
    if (n >= 3 && c == 0xe2) {
        unsigned last = (unsigned char)s[2];
        if (s[1] == '\x80' &&
            (last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae)))
            return 0;
        if (s[1] == '\x81' && last >= 0xa6 && last <= 0xa9)
            return 0;
    }
    return length;
}

/* Writes s[0..n), escaped. Returns how many bytes it took: n, or less if not
   `whole` and s ends within a UTF-8 sequence. */
RECORDER_FUNCTION_ size_t recorder_format_escape_(struct recorder_formatter_ *f,
                                                  const char *s, size_t n,
                                                  bool whole)
{
    const char *hex = "0123456789abcdef";
    size_t from = 0, i = 0; /* s[from..i) is plain and not yet written */
    for (;;) {
        unsigned char c;
        size_t length;
        while (i < n && s[i] >= 0x20 && s[i] < 0x7f)
            i++;
        if (i == n)
            break;
        c = (unsigned char)s[i];
        length = recorder_format_sequence_(s + i, n - i);
        if (length > n - i && !whole)
            break;
        if (length && length <= n - i) {
            i += length;
            continue;
        }
        char escape[4] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
        if (c == '\n' || c == '\t' || c == '\r')
            escape[1] = c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
        recorder_format_put_(f, s + from, i - from);
        recorder_format_put_(f, escape, escape[1] == 'x' ? 4 : 2);
        from = ++i;
    }
    recorder_format_put_(f, s + from, i - from);
    return i;
}

/* -------------------------------------------------------------- errors -- */

/* Writes the text of errno; where that is not known, "errno 110". Numbers up to
   34 but 11 are the same on all systems. */
RECORDER_SELDOM_ void recorder_format_error_(struct recorder_formatter_ *f)
{
    const bool is_short = recorder_is_error_(f->word >> 12);
    const int error = recorder_error_of_(f->word);
    const char *text = NULL;
    char digit[24], *end = digit + sizeof digit, *start;
    if (f->word == UINT64_MAX)
        text = "<no errno>";
    else if (f->word >> 12 == RECORDER_ERROR_OF_LINUX_ ||
        (is_short && error <= 34 && error != 11))
        text = recorder_os_error_text_(error);
    if (text) {
        size_t size = 0, most = f->how.precision < 0 || f->how.precision > 255
                                    ? 255
                                    : (size_t)f->how.precision;
        while (size < most && text[size]) /* no idiom of strlen() */
            size++;
        recorder_format_put_(f, text, size);
        return;
    }
    start = recorder_format_whole_(
        end, error < 0 ? 0u - (unsigned)error : (unsigned)error, 1);
    if (error < 0)
        *--start = '-';
    recorder_format_put_(f, "errno ", 6);
    recorder_format_put_(f, start, (size_t)(end - start));
}

RECORDER_C_END_
#endif
