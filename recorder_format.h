/* recorder_format.h - printf for recorded words: no libc, no memory. */
/* SPDX-License-Identifier: MIT */
/*
    char line[80];
    uint64_t word[] = {42, 0x1000};
    struct recorder_arguments arguments = {word, 2, 0, 8, NULL, NULL,
                                           NULL, 0};

    recorder_format(line, sizeof line, "%d bytes from %s\n", &arguments);
    // line is now: 42 bytes from 0x1000

PROMISES (each begins the names of its tests)
    same_as_snprintf    numbers, flags, widths, precisions and positions come
                        out as from glibc's snprintf in the C locale, byte for
                        byte; floats exact to the last digit at any precision
    always_one_line     what moves the cursor or is no text is escaped, as \n,
                        \t, \r or \x1b; valid UTF-8 stays as it is
    bad_strings_shown   a string that cannot be read prints its address; one
                        that becomes unreadable prints what was read and "..."
    never_beyond        no string is read beyond its precision, no buffer is
                        written beyond its size, whatever the format says
    lost_is_said        a word that was lost or never recorded prints <lost>

    It calls nothing but the functions that it is given, does no
    floating-point arithmetic, needs about 1 KiB of stack and may run
    anywhere: in signal handlers, in interrupts.

LIMITS
    * %n and %m print as they stand: nothing is stored, no errno was recorded.
      So do conversions that are unknown or cut off by the end.
    * %#g keeps its zeros, as C wants, also where rounding yields a power of
      ten: %#.5g of 99999.95 is 1.0000e+05, in glibc 2.36 it is 1.e+05.
    * %c of 0 prints \x00. Widths count bytes, those of escapes too. A number
      above 2147483647 in the format counts as 2147483647.
    * Strings end after 64 KiB, with "...". %ls takes wchar_t for 32 bits in
      the byte order of the machine that formats.
    * Where words have 4 bytes, %lld takes one word too. On 32-bit machines
      the compiler's own 64-bit division (libgcc) is called.

CONTENTS
    interface   arguments, recorder_format, recorder_format_count
    format      what stands behind a %
    convert     one conversion, padded to its width
    own         conversions of the program's own
    integers    %d %u %o %x %b %p
    reals       %f %e %g %a, on a decimal number of 1400 digits
    strings     %s %c, read in pieces, escaped
    output      a buffer that counts on when it is full
*/
#ifndef RECORDER_FORMAT_H
#define RECORDER_FORMAT_H

#include "recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- interface -- */

/* The words that the conversions of a format consume, in order. A double is
   its bits, or those of a float where words have 4 bytes. */
struct recorder_arguments {
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
};

/* size_t recorder_format(char *to, size_t size, const char *format,
                          const struct recorder_arguments *arguments)
   Like snprintf: writes at most size - 1 bytes and a NUL, returns the length
   that the whole text has: it was cut if that is size or more. One newline at
   the end of the format is dropped.

   unsigned recorder_format_count(const char *format)
   How many argument words the format consumes; may be more than 12. */

/* ---------------------------------------------------------------- format -- */

/* A format being worked on. */
struct recorder_formatter {
    const char *at;                             /* in the format */
    const struct recorder_arguments *arguments; /* null: only count them */
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

static inline void recorder_format_parse(struct recorder_formatter *f);
static inline void recorder_format_convert(struct recorder_formatter *f);
static inline void recorder_format_own(struct recorder_formatter *f);
static inline void recorder_format_integer(struct recorder_formatter *f);
static inline void recorder_format_real(struct recorder_formatter *f);
static inline uint64_t recorder_format_widen(uint32_t bits);
static inline void recorder_format_character(struct recorder_formatter *f);
static inline void recorder_format_string(struct recorder_formatter *f);
static inline unsigned recorder_format_utf8(char *to, uint32_t character);
static inline size_t recorder_format_escape(struct recorder_formatter *f,
                                            const char *s, size_t n,
                                            bool whole);
static inline void recorder_format_put(struct recorder_formatter *f,
                                       const char *s, size_t n);
static inline void recorder_format_insert(struct recorder_formatter *f,
                                          size_t at, char fill, size_t n);

/* The end of the format, or the newline that is dropped in front of it. */
static inline bool recorder_format_ended(const char *s)
{
    return !s[0] || (s[0] == '\n' && !s[1]);
}

/* What is no conversion stays part of the literal text around it, because an
   odd '%' must not tear a UTF-8 sequence. */
RECORDER_FUNCTION_ size_t
recorder_format(char *to, size_t size, const char *format,
                const struct recorder_arguments *arguments)
{
    struct recorder_formatter f;
    const char *literal = format, *s = format;
    f.arguments = arguments;
    f.next = f.used = 0;
    f.to = to;
    f.room = size ? size - 1 : 0;
    f.length = 0;
    while (!recorder_format_ended(s)) {
        const char *from = s++;
        if (*from != '%')
            continue;
        f.at = s;
        recorder_format_parse(&f);
        s = f.at;
        if (!f.kind)
            continue;
        recorder_format_escape(&f, literal, (size_t)(from - literal), true);
        recorder_format_convert(&f);
        literal = s;
    }
    recorder_format_escape(&f, literal, (size_t)(s - literal), true);
    if (size)
        to[f.length < f.room ? f.length : f.room] = '\0';
    return f.length;
}

RECORDER_FUNCTION_ unsigned recorder_format_count(const char *format)
{
    struct recorder_formatter f;
    f.arguments = NULL;
    f.next = f.used = 0;
    for (f.at = format; !recorder_format_ended(f.at);)
        if (*f.at++ == '%')
            recorder_format_parse(&f);
    return f.used;
}

/* Consumes the word at a position from 1, at 0 the next one. */
static inline uint64_t recorder_format_take(struct recorder_formatter *f,
                                            unsigned position)
{
    const struct recorder_arguments *a = f->arguments;
    unsigned i = position ? position - 1 : f->next++;
    if (i >= f->used)
        f->used = i + 1;
    if (!a || i >= a->count || (i < 32 && (a->lost >> i & 1))) {
        f->lost = true;
        return 0;
    }
    return a->word_bytes == 4 ? (uint32_t)a->word[i] : a->word[i];
}

static inline unsigned recorder_format_number(const char **s)
{
    unsigned n = 0, most = RECORDER_FORMAT_MOST_;
    for (; **s >= '0' && **s <= '9'; ++*s) {
        unsigned digit = (unsigned)(**s - '0');
        n = n > (most - digit) / 10 ? most : n * 10 + digit;
    }
    return n;
}

/* The n of n$; 0, and nothing is skipped, where no such thing stands. */
static inline unsigned recorder_format_position(struct recorder_formatter *f)
{
    const char *s = f->at;
    unsigned n = recorder_format_number(&s);
    if (!n || *s != '$')
        return 0;
    f->at = s + 1;
    return n;
}

/* A width or a precision: a number, or a * and the int that it consumes. */
static inline int64_t recorder_format_size(struct recorder_formatter *f)
{
    if (*f->at != '*')
        return recorder_format_number(&f->at);
    f->at++;
    return (int32_t)recorder_format_take(f, recorder_format_position(f));
}

/* The index of c in a list of characters, or the length of the list. */
static inline unsigned recorder_format_index(const char *list, char c)
{
    unsigned i = 0;
    while (list[i] && list[i] != c)
        i++;
    return i;
}

/* The length modifier, which says how many bits an integer has. */
static inline void recorder_format_modifier(struct recorder_formatter *f)
{
    const struct recorder_arguments *a = f->arguments;
    char c = *f->at;
    bool twice = (c == 'h' || c == 'l') && f->at[1] == c;
    f->wide = c == 'l';
    f->bits = 32;
    if (recorder_format_index("hlqjztL", c) == 7)
        return;
    f->at += 1 + twice;
    if (c == 'h')
        f->bits = twice ? 8 : 16;
    else if (!a || a->word_bytes != 4)
        f->bits = 64;
}

/* Does a conversion of the program's own stand here? */
static inline bool recorder_format_is_own(const struct recorder_formatter *f)
{
    const struct recorder_arguments *a = f->arguments;
    return a && a->types && !recorder_format_ended(f->at) && *f->at != '%' &&
           a->types[(unsigned char)*f->at];
}

/* Parses what stands behind a '%' and consumes its words. */
static inline void recorder_format_parse(struct recorder_formatter *f)
{
    static const char conversions[] = "dsuxp%cfgeioXFGEaAbBCS";
    static const char kinds[] = "dsuuu%cfffduufffffuucs";
    unsigned position = recorder_format_position(f), flag;
    int64_t width;
    bool own;
    f->start = f->at;
    f->lost = false;
    f->flags = 0;
    for (; (flag = recorder_format_index("-+ #0'I", *f->at)) < 7; f->at++)
        f->flags |= 1U << flag;
    width = recorder_format_size(f);
    if (width < 0)
        f->flags |= RECORDER_FORMAT_LEFT_;
    f->width = (unsigned)(width < 0 ? -width : width);
    f->precision = -1;
    if (*f->at == '.') {
        f->at++;
        f->precision = (int)recorder_format_size(f);
    }
    own = recorder_format_is_own(f);
    if (!own)
        recorder_format_modifier(f);
    f->kind = 0;
    if (recorder_format_ended(f->at))
        return;
    own = own || recorder_format_is_own(f);
    f->conversion = *f->at++;
    f->kind = kinds[recorder_format_index(conversions, f->conversion)];
    if (own)
        f->kind = '*';
    if (!own && (f->conversion == 'C' || f->conversion == 'S'))
        f->wide = true;
    if (f->conversion != '%' && f->conversion != 'm')
        f->word = recorder_format_take(f, position);
}

/* --------------------------------------------------------------- convert -- */

/* Every conversion writes its text without regard to the width; the padding is
   then inserted in front, behind, or after the sign and the 0x. */
static inline void recorder_format_convert(struct recorder_formatter *f)
{
    size_t start = f->length, pad;
    if (f->kind == '%') {
        recorder_format_put(f, "%", 1);
        return;
    }
    if (f->lost) {
        recorder_format_put(f, "<lost>", 6);
        return;
    }
    f->prefix = 0;
    if (f->kind == '*') {
        recorder_format_own(f);
        return;
    }
    if (f->kind == 's')
        recorder_format_string(f);
    else if (f->kind == 'c')
        recorder_format_character(f);
    else if (f->kind == 'f')
        recorder_format_real(f);
    else
        recorder_format_integer(f);
    if (f->length - start >= f->width)
        return;
    pad = f->width - (f->length - start);
    if (f->flags & RECORDER_FORMAT_LEFT_)
        recorder_format_insert(f, f->length, ' ', pad);
    else if (f->flags & RECORDER_FORMAT_ZERO_)
        recorder_format_insert(f, start + f->prefix, '0', pad);
    else
        recorder_format_insert(f, start, ' ', pad);
}

/* ------------------------------------------------------------------- own -- */

/* What the program's function writes, on one line as all else. The function
   gets the conversion as it was written and sees to width and precision. */
static inline void recorder_format_own(struct recorder_formatter *f)
{
    const struct recorder_arguments *a = f->arguments;
    char text[512], format[32];
    size_t n = (size_t)(f->at - f->start), length;
    intptr_t plus = f->flags & RECORDER_FORMAT_PLUS_ ? 1 : 0;
    n = n < sizeof format - 2 ? n : 0;
    format[0] = '%';
    for (size_t i = 0; i < n; i++) {
        RECORDER_FORMAT_LOOP_(i);
        format[i + 1] = f->start[i];
    }
    format[n + 1] = '\0';
    length = a->types[(unsigned char)f->conversion](
        a->trace | plus, format, text, sizeof text, (uintptr_t)f->word);
    n = length < sizeof text ? length : sizeof text - 1;
    recorder_format_escape(f, text, n, true);
    if (n < length)
        recorder_format_put(f, "...", 3);
}

/* -------------------------------------------------------------- integers -- */

/* Writes value in front of end, with least digits or more, and returns where
   it begins. Shift 0 means decimal, otherwise a digit has that many bits. */
static inline char *recorder_format_digits(char *end, uint64_t value,
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
static inline void recorder_format_begin(struct recorder_formatter *f,
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
    recorder_format_put(f, prefix, n);
    f->prefix = n;
}

static inline void recorder_format_integer(struct recorder_formatter *f)
{
    char digit[64], *end = digit + sizeof digit, *start;
    char c = f->conversion, base = 0;
    bool pointer = c == 'p', negative = false;
    bool alternate = pointer || (f->flags & RECORDER_FORMAT_ALTERNATE_);
    unsigned shift = c == 'o'                           ? 3
                     : c == 'b' || c == 'B'             ? 1
                     : c == 'x' || c == 'X' || c == 'p' ? 4
                                                        : 0;
    uint64_t most = UINT64_MAX >> (pointer ? 0 : 64 - f->bits);
    uint64_t value = f->word & most;
    size_t precision = f->precision < 0 ? 1 : (size_t)f->precision, count;
    if (f->precision >= 0 || (pointer && !value))
        f->flags &= ~RECORDER_FORMAT_ZERO_;
    if (pointer && !value) {
        recorder_format_put(f, "(nil)", 5);
        return;
    }
    if (f->kind == 'u' && !pointer)
        f->flags &= ~(RECORDER_FORMAT_PLUS_ | RECORDER_FORMAT_SPACE_);
    if (f->kind == 'd' && value > most / 2) {
        negative = true;
        value = (0 - value) & most;
    }
    if (alternate && value && (shift == 4 || shift == 1))
        base = pointer ? 'x' : c;
    recorder_format_begin(f, negative, base);
    start = recorder_format_digits(end, value, shift, c == 'X', precision > 0);
    count = (size_t)(end - start);
    if (alternate && shift == 3 && (!count || *start != '0') &&
        precision <= count)
        precision = count + 1; /* an octal number begins with 0 */
    if (precision > count)
        recorder_format_insert(f, f->length, '0', precision - count);
    recorder_format_put(f, start, count);
}

/* ----------------------------------------------------------------- reals -- */

/* A number with 324 digits in front of the point and 1080 behind it, which
   holds every double exactly. Digit i, counted from the very first, is one of
   the 9 digits of word[i / 9]. */
#define RECORDER_DECIMAL_POINT_ 36 /* words in front of the point */
#define RECORDER_DECIMAL_WORDS_ 156
#define RECORDER_DECIMAL_BASE_ 1000000000U

struct recorder_decimal {
    unsigned first, end; /* words outside [first, end) count as 0 */
    uint32_t word[RECORDER_DECIMAL_WORDS_];
};

/* Multiplies by 2^shift, shift <= 32, a number that has no fraction. */
static inline void recorder_decimal_multiply(struct recorder_decimal *d,
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
static inline void recorder_decimal_divide(struct recorder_decimal *d,
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

/* mantissa * 2^exponent, mantissa < 10^18 */
static inline void recorder_decimal_set(struct recorder_decimal *d,
                                        uint64_t mantissa, int exponent)
{
    d->first = RECORDER_DECIMAL_POINT_ - 2;
    d->end = RECORDER_DECIMAL_POINT_;
    d->word[d->first] = (uint32_t)(mantissa / RECORDER_DECIMAL_BASE_);
    d->word[d->first + 1] = (uint32_t)(mantissa % RECORDER_DECIMAL_BASE_);
    while (exponent) {
        int step = exponent > 32 ? 32 : exponent < -32 ? -32 : exponent;
        if (step > 0)
            recorder_decimal_multiply(d, (unsigned)step);
        else
            recorder_decimal_divide(d, (unsigned)-step);
        exponent -= step;
    }
}

/* The index of the first digit that is not 0; of a zero, that of the units. */
static inline unsigned recorder_decimal_lead(const struct recorder_decimal *d)
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

/* The index behind the last digit that is not 0; of a zero, 0. */
static inline unsigned recorder_decimal_tail(const struct recorder_decimal *d)
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

/* Rounds to the digits in front of index keep, a tie to the even digit. */
static inline void recorder_decimal_round(struct recorder_decimal *d,
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
    if (rest == unit / 2 && recorder_decimal_tail(d) > i * 9 + 9)
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

/* Writes n digits from index from on. */
static inline void recorder_decimal_put(struct recorder_formatter *f,
                                        const struct recorder_decimal *d,
                                        unsigned from, unsigned n)
{
    while (n && from < d->end * 9) {
        unsigned i = from / 9, skip = from % 9, count = 9 - skip;
        uint32_t word = i < d->first ? 0 : d->word[i];
        char digit[9];
        for (unsigned k = 9; k--; word /= 10)
            digit[k] = (char)('0' + word % 10);
        count = n < count ? n : count;
        recorder_format_put(f, digit + skip, count);
        from += count;
        n -= count;
    }
    recorder_format_insert(f, f->length, '0', n);
}

/* Writes e+07: a letter, a sign, and least digits or more. */
static inline void recorder_format_exponent(struct recorder_formatter *f,
                                            char letter, int exponent,
                                            unsigned least)
{
    char part[8], *end = part + sizeof part, *start;
    unsigned value = (unsigned)(exponent < 0 ? -exponent : exponent);
    start = recorder_format_digits(end, value, 0, false, least);
    *--start = exponent < 0 ? '-' : '+';
    *--start = letter;
    recorder_format_put(f, start, (size_t)(end - start));
}

/* %f, %e and %g of mantissa * 2^exponent */
static inline void recorder_format_decimal(struct recorder_formatter *f,
                                           uint64_t mantissa, int exponent)
{
    const unsigned point = RECORDER_DECIMAL_POINT_ * 9;
    bool alternate = f->flags & RECORDER_FORMAT_ALTERNATE_;
    char letter = f->conversion, style = (char)(letter | 0x20);
    unsigned precision = f->precision < 0 ? 6 : (unsigned)f->precision;
    unsigned lead, tail, whole;
    struct recorder_decimal d;
    recorder_decimal_set(&d, mantissa, exponent);
    if (style == 'g' && precision)
        precision--; /* from now on: digits behind the first, as for %e */
    lead = recorder_decimal_lead(&d);
    recorder_decimal_round(&d, precision + (style == 'f' ? point : lead + 1));
    lead = recorder_decimal_lead(&d);
    exponent = (int)point - 1 - (int)lead;
    if (style == 'g') {
        letter = (char)(letter - 2); /* g becomes e */
        style = exponent < -4 || exponent > (int)precision ? 'e' : 'f';
        if (style == 'f')
            precision -= (unsigned)exponent;
        whole = style == 'e' ? lead + 1 : point;
        tail = recorder_decimal_tail(&d);
        if (!alternate && tail < whole + precision)
            precision = tail > whole ? tail - whole : 0;
    }
    if (style == 'f' && lead >= point)
        lead = point - 1;
    whole = style == 'f' ? point - lead : 1;
    recorder_decimal_put(f, &d, lead, whole);
    recorder_format_put(f, ".", precision || alternate);
    recorder_decimal_put(f, &d, lead + whole, precision);
    if (style == 'e')
        recorder_format_exponent(f, letter, exponent, 2);
}

/* %a of mantissa * 2^(exponent - 52) */
static inline void recorder_format_hexadecimal(struct recorder_formatter *f,
                                               uint64_t mantissa, int exponent)
{
    bool upper = f->conversion == 'A';
    char digit[14], *end = digit + sizeof digit, *start;
    unsigned count = 13, zeros = 0; /* digits behind the point */
    if (f->precision < 0) {
        for (; count && !(mantissa & 15); count--)
            mantissa >>= 4;
    } else if (f->precision < 13) {
        unsigned drop = 4 * (13 - (unsigned)f->precision);
        uint64_t half = (uint64_t)1 << (drop - 1);
        uint64_t rest = mantissa & (half * 2 - 1);
        count = (unsigned)f->precision;
        mantissa >>= drop;
        mantissa += rest > half || (rest == half && (mantissa & 1));
    } else {
        zeros = (unsigned)f->precision - 13;
    }
    start = recorder_format_digits(end, mantissa, 4, upper, count + 1);
    recorder_format_put(f, start, 1);
    recorder_format_put(f, ".",
                        count || (f->flags & RECORDER_FORMAT_ALTERNATE_));
    recorder_format_put(f, start + 1, count);
    recorder_format_insert(f, f->length, '0', zeros);
    recorder_format_exponent(f, upper ? 'P' : 'p', exponent, 1);
}

static inline void recorder_format_real(struct recorder_formatter *f)
{
    const uint64_t implied = (uint64_t)1 << 52;
    bool short_word = f->arguments->word_bytes == 4;
    uint64_t bits =
        short_word ? recorder_format_widen((uint32_t)f->word) : f->word;
    uint64_t mantissa = bits & (implied - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    bool upper = f->conversion < 'a', negative = bits >> 63;
    bool hexadecimal = f->conversion == 'a' || f->conversion == 'A';
    if (exponent == 0x7ff) {
        const char *names = upper ? "INFNAN" : "infnan";
        f->flags &= ~RECORDER_FORMAT_ZERO_;
        recorder_format_begin(f, negative, 0);
        recorder_format_put(f, mantissa ? names + 3 : names, 3);
        return;
    }
    if (exponent)
        mantissa |= implied;
    else
        exponent = mantissa ? 1 : 1023; /* denormal, zero */
    recorder_format_begin(f, negative, hexadecimal ? (upper ? 'X' : 'x') : 0);
    if (hexadecimal)
        recorder_format_hexadecimal(f, mantissa, exponent - 1023);
    else
        recorder_format_decimal(f, mantissa, exponent - 1023 - 52);
}

/* The bits of the double that equals the float with these bits. */
static inline uint64_t recorder_format_widen(uint32_t bits)
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

/* --------------------------------------------------------------- strings -- */

/* Copies what can be read of size bytes at address; 0: nothing. */
static inline size_t recorder_format_read(const struct recorder_arguments *a,
                                          uint64_t address, char *to,
                                          size_t size)
{
    ptrdiff_t got = a->text ? a->text(a->context, address, to, size) : 0;
    return got < 0 ? 0 : (size_t)got < size ? (size_t)got : size;
}

/* Writes the bytes at *address, at most *left of them, and moves both on.
   True at a NUL, false where no more can be or may be read. */
static inline bool recorder_format_bytes(struct recorder_formatter *f,
                                         uint64_t *address, size_t *left)
{
    char piece[64];
    size_t held = 0; /* the begin of a UTF-8 sequence that a piece cut */
    bool more = true;
    while (more && *left) {
        size_t room = sizeof piece - held, end = held, used;
        size_t got = recorder_format_read(f->arguments, *address, piece + held,
                                          room < *left ? room : *left);
        if (!got)
            break;
        while (end < held + got && piece[end])
            end++;
        more = end == held + got;
        *address += got;
        *left -= got;
        used = recorder_format_escape(f, piece, end, false);
        held = end - used;
        for (size_t i = 0; i < held; i++)
            piece[i] = piece[used + i];
    }
    recorder_format_escape(f, piece, held, true);
    return !more;
}

/* The same for wchar_t; here *left counts the bytes of the UTF-8. */
static inline bool recorder_format_wides(struct recorder_formatter *f,
                                         uint64_t *address, size_t *left)
{
    while (*left) {
        char part[4], utf8[4];
        uint32_t character;
        size_t have = 0, got, length;
        do {
            got = recorder_format_read(f->arguments, *address + have,
                                       part + have, sizeof part - have);
            have += got;
        } while (got && have < sizeof part);
        if (!got)
            break;
        __builtin_memcpy(&character, part, sizeof part);
        if (!character)
            return true;
        length = recorder_format_utf8(utf8, character);
        if (length <= *left)
            recorder_format_escape(f, utf8, length, true);
        *left -= length <= *left ? length : *left;
        *address += sizeof part;
    }
    return false;
}

static inline void recorder_format_character(struct recorder_formatter *f)
{
    char utf8[4] = {(char)f->word};
    unsigned n = 1;
    if (f->wide)
        n = recorder_format_utf8(utf8, (uint32_t)f->word);
    f->flags &= ~RECORDER_FORMAT_ZERO_;
    recorder_format_escape(f, utf8, n, true);
}

static inline void recorder_format_string(struct recorder_formatter *f)
{
    const size_t most = 65536; /* so that a wild pointer comes to an end */
    size_t precision = f->precision < 0 ? SIZE_MAX : (size_t)f->precision;
    size_t left = precision < most ? precision : most;
    uint64_t address = f->word;
    char digit[16], *end = digit + sizeof digit, *start;
    f->flags &= ~RECORDER_FORMAT_ZERO_;
    if (!address) {
        recorder_format_put(f, "(null)", precision < 6 ? 0 : 6);
        return;
    }
    if (f->wide ? recorder_format_wides(f, &address, &left)
                : recorder_format_bytes(f, &address, &left))
        return;
    if (!left && precision <= most)
        return;
    if (address != f->word) {
        recorder_format_put(f, "...", 3);
        return;
    }
    start = recorder_format_digits(end, address, 4, false, 1);
    recorder_format_put(f, "0x", 2);
    recorder_format_put(f, start, (size_t)(end - start));
}

/* Writes a character as UTF-8, what is none as U+FFFD; returns its length. */
static inline unsigned recorder_format_utf8(char *to, uint32_t character)
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

/* The length of the UTF-8 sequence, ASCII apart, at the begin of s[0..n): more
   than n if its end is missing, 0 if it is none or a control character. */
static inline size_t recorder_format_sequence(const char *s, size_t n)
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
    return length;
}

/* Writes s[0..n), escaped, and returns n; or, if more is to come, that is if
   not whole, less: where a UTF-8 sequence begins whose end is missing. */
static inline size_t recorder_format_escape(struct recorder_formatter *f,
                                            const char *s, size_t n, bool whole)
{
    const char *hex = "0123456789abcdef";
    size_t from = 0, i = 0; /* s[from..i) is plain and not yet written */
    while (i < n) {
        unsigned char c = (unsigned char)s[i];
        bool ascii = c >= 0x20 && c < 0x7f;
        size_t length = ascii ? 1 : recorder_format_sequence(s + i, n - i);
        if (length > n - i && !whole)
            break;
        if (length && length <= n - i) {
            i += length;
            continue;
        }
        char escape[4] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
        if (c == '\n' || c == '\t' || c == '\r')
            escape[1] = c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
        recorder_format_put(f, s + from, i - from);
        recorder_format_put(f, escape, escape[1] == 'x' ? 4 : 2);
        from = ++i;
    }
    recorder_format_put(f, s + from, i - from);
    return i;
}

/* ---------------------------------------------------------------- output -- */

/* Appends s[0..n). */
static inline void recorder_format_put(struct recorder_formatter *f,
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
static inline void recorder_format_insert(struct recorder_formatter *f,
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

#ifdef __cplusplus
}
#endif

#endif
