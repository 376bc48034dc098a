/* format.h - printf for recorded words: no libc, no memory. */
/* SPDX-License-Identifier: MIT */
/*
    char line[80];
    uint64_t word[] = {42, 0x1000};
    struct recorder_arguments_ arguments = {word, 2,    0, 8,   NULL,
                                           NULL, NULL, 0, NULL};

    recorder_format_(line, sizeof line, "%d bytes from %s\n", &arguments);
    // line is now: 42 bytes from 0x1000

PROMISES (each begins the names of its tests)
    same_as_snprintf    numbers, flags, widths, precisions and positions come
                        out as from glibc's snprintf in the C locale, byte for
                        byte; floats exact to the last digit at any precision
                        -> tests/inside/format.c
    always_one_line     bytes that move the cursor, turn the direction of text
                        or are no UTF-8 are escaped, as \n, \t, \r or \x1b;
                        other UTF-8 stays as it is -> tests/inside/format.c
    bad_strings_shown   a string that cannot be read prints its address; one
                        that becomes unreadable prints what was read and "..."
                        -> tests/inside/format.c
    never_beyond        no string is read beyond its precision, no buffer is
                        written beyond its size, whatever the format says
                        -> tests/inside/format.c
    lost_is_said        a word that was lost or never recorded prints <lost>
                        -> tests/inside/format.c
    changes_are_marked  a string that may be another than the one recorded
                        prints with a ~ before it -> tests/inside/format.c

    It calls nothing but the functions that it is given, does no
    floating-point arithmetic, needs about 1 KiB of stack and may run
    anywhere: in signal handlers, in interrupts.

LIMITS
    * %n prints as it is written, as nothing is stored. So does a conversion
      that is unknown or cut off by the end. %m is <no errno> where none was
      recorded (compat, a span, a port).
    * %#g keeps its zeros, as C wants, also where rounding yields a power of
      ten: %#.5g of 99999.95 is 1.0000e+05, in glibc 2.36 it is 1.e+05.
    * %#s prints a copied text as bytes in hexadecimal.
    * %c of 0 prints \x00. Widths count bytes, those of escapes too. A number
      above 2147483647 in the format counts as 2147483647.
    * Strings end after 64 KiB, with "...". %ls takes wchar_t for 32 bits in
      the byte order of the machine that formats.
    * Where words have 4 bytes, %lld takes one word too. On 32-bit machines
      the compiler's own 64-bit division (libgcc) is called.
*/
#ifndef RECORDER_FORMAT_H_
#define RECORDER_FORMAT_H_

#include "reals.h"

RECORDER_C_BEGIN_

RECORDER_PROTOTYPE_ void recorder_format_parse_(struct recorder_formatter_ *f);
RECORDER_LOCAL_ void recorder_format_reset_(struct recorder_formatter_ *f);
RECORDER_LOCAL_ uint64_t recorder_format_word_(struct recorder_formatter_ *f,
                                               unsigned i);
RECORDER_LOCAL_ void recorder_format_convert_(struct recorder_formatter_ *f);
RECORDER_PROTOTYPE_ void recorder_format_own_(struct recorder_formatter_ *f);
RECORDER_PROTOTYPE_ void
recorder_format_integer_(struct recorder_formatter_ *f);
RECORDER_LOCAL_ void recorder_format_plain_(struct recorder_formatter_ *f);
RECORDER_LOCAL_ void recorder_format_character_(struct recorder_formatter_ *f);
RECORDER_PROTOTYPE_ void recorder_format_string_(struct recorder_formatter_ *f);

/* size_t recorder_format_(char *to, size_t size, const char *format,
                          const struct recorder_arguments_ *arguments)
   Like snprintf: writes at most size - 1 bytes and a NUL, returns the length
   that the whole text has: it was cut if that is size or more. One newline at
   the end of the format is dropped.

   unsigned recorder_format_count_(const char *format)
   How many argument words the format consumes; may be more than 12. */

/* Returns the end of the format, or the newline that is dropped before it. */
RECORDER_LOCAL_ bool recorder_format_ended_(const char *s)
{
    return !s[0] || (s[0] == '\n' && !s[1]);
}

/* Keeps the part of a format that ends at f->at, if there is room and other
   words need no other parsing. */
RECORDER_LOCAL_ void recorder_plan_add_(struct recorder_plan_ *plan,
                                        const struct recorder_formatter_ *f,
                                        const char *format, const char *literal,
                                        size_t size)
{
    struct recorder_planned_ *part = &plan->part[plan->count];
    if (plan->count == sizeof plan->part / sizeof *part || f->varies ||
        f->how.kind == '*' || (uintptr_t)(f->at - format) > UINT16_MAX)
        return;
    part->literal = (uint16_t)(literal - format);
    part->size = (uint16_t)size;
    part->end = (uint16_t)(f->at - format);
    part->how = f->how;
    plan->count++;
}

/* Writes the text up to the next conversion and parses that; kind is 0 at the
   format's end. Text that is no conversion stays with the literal text around
   it, because an odd '%' must not tear a UTF-8 sequence. */
RECORDER_APART_ void recorder_format_next_(struct recorder_formatter_ *f,
                                            const char *format,
                                            struct recorder_plan_ *plan)
{
    const char *literal = f->at, *s = literal, *end;
    bool plain = true; /* literal[0..s) needs no escape */
    for (;;) {
        while (*s >= 0x20 && *s < 0x7f && *s != '%')
            s++;
        f->at = end = s;
        if (recorder_format_ended_(s)) {
            recorder_format_reset_(f);
            break;
        }
        s++;
        if (*end == '%') {
            f->at = s;
            recorder_format_parse_(f);
            if (f->how.kind)
                break;
            s = f->at;
        }
        plain = false; /* also of a conversion, whose last byte is any */
    }
    if (!plain) {
        recorder_format_escape_(f, literal, (size_t)(end - literal), true);
        return;
    }
    if (plan)
        recorder_plan_add_(plan, f, format, literal, (size_t)(end - literal));
    recorder_format_put_(f, literal, (size_t)(end - literal));
}

/* The plan, unless it is null, is of this format and these words' size: it was
   filled by calls before, or is empty. */
RECORDER_FUNCTION_ size_t recorder_format_planned_(
    char *to, size_t size, const char *format,
    const struct recorder_arguments_ *arguments, struct recorder_plan_ *plan)
{
    struct recorder_formatter_ f;
    unsigned i;
    f.arguments = arguments;
    f.next = f.used = 0;
    f.at = format;
    f.text.to = to;
    f.text.max = size ? size - 1 : 0;
    f.text.size = 0;
    for (i = 0;; i++) {
        if (plan && i < plan->count) {
            const struct recorder_planned_ *part = &plan->part[i];
            recorder_format_put_(&f, format + part->literal, part->size);
            f.at = format + part->end;
            f.how = part->how;
            f.missing = false;
            if (f.how.kind && f.how.kind != '%')
                f.word = recorder_format_word_(&f, f.next++);
        } else {
            recorder_format_next_(&f, format,
                                  plan && i == plan->count ? plan : NULL);
        }
        if (!f.how.kind)
            break;
        recorder_format_convert_(&f);
    }
    if (size)
        to[f.text.size < f.text.max ? f.text.size : f.text.max] = '\0';
    return f.text.size;
}
RECORDER_INLINE_ size_t
recorder_format_(char *to, size_t size, const char *format,
                 const struct recorder_arguments_ *arguments)
{
    return recorder_format_planned_(to, size, format, arguments, NULL);
}

/* The same of a whole format, at a place where it has consumed `used` words, of
   which `next` is the next one. */
RECORDER_SELDOM_ unsigned recorder_format_used_(const char *at, unsigned next,
                                                unsigned used)
{
    struct recorder_formatter_ f;
    f.arguments = NULL;
    f.next = next;
    f.used = next > used ? next : used;
    for (f.at = at; !recorder_format_ended_(f.at);)
        if (*f.at++ == '%')
            recorder_format_parse_(&f);
    return f.used;
}
RECORDER_INLINE_ unsigned recorder_format_count_(const char *format)
{
    return recorder_format_used_(format, 0, 0);
}

/* Returns word i. */
RECORDER_LOCAL_ uint64_t recorder_format_word_(struct recorder_formatter_ *f,
                                               unsigned i)
{
    const struct recorder_arguments_ *a = f->arguments;
    if (!a || i >= a->count || (i < 32 && (a->missing >> i & 1))) {
        f->missing = true;
        return 0;
    }
    return a->word_bytes == 4 ? (uint32_t)a->word[i] : a->word[i];
}
/* Consumes the word at `position`, which counts from 1; 0: the next word. */
RECORDER_SELDOM_ uint64_t recorder_format_take_(struct recorder_formatter_ *f,
                                                unsigned position)
{
    unsigned i = position ? position - 1 : f->next++;
    if (i >= f->used)
        f->used = i + 1;
    return recorder_format_word_(f, i);
}

RECORDER_SELDOM_ unsigned recorder_format_number_(const char **s)
{
    unsigned n = 0, most = RECORDER_FORMAT_MOST_;
    for (; **s >= '0' && **s <= '9'; ++*s) {
        unsigned digit = (unsigned)(**s - '0');
        n = n > (most - digit) / 10 ? most : n * 10 + digit;
    }
    return n;
}

/* Returns the n of n$ and skips both; returns 0 and skips nothing if there is
   none. */
RECORDER_LOCAL_ unsigned
recorder_format_position_(struct recorder_formatter_ *f)
{
    const char *s = f->at;
    unsigned n = recorder_format_number_(&s);
    if (!n || *s != '$')
        return 0;
    f->varies = true;
    f->at = s + 1;
    return n;
}

/* Returns a width or a precision: a number, or the int that a * consumes. */
RECORDER_SELDOM_ int64_t recorder_format_size_(struct recorder_formatter_ *f)
{
    if (*f->at != '*')
        return recorder_format_number_(&f->at);
    f->varies = true;
    f->at++;
    return (int32_t)recorder_format_take_(f, recorder_format_position_(f));
}

/* Returns the index of c in a list of characters, or the list's length. */
RECORDER_LOCAL_ unsigned recorder_format_index_(const char *list, char c)
{
    unsigned i = 0;
    while (list[i] && list[i] != c)
        i++;
    return i;
}

RECORDER_LOCAL_ bool recorder_format_is_modifier_(char c)
{
    switch (c) {
    case 'h':
    case 'l':
    case 'q':
    case 'j':
    case 'z':
    case 't':
    case 'L': return true;
    default: return false;
    }
}

/* Reads the length modifier, which says how many bits an integer has. */
RECORDER_LOCAL_ void recorder_format_modifier_(struct recorder_formatter_ *f)
{
    const struct recorder_arguments_ *a = f->arguments;
    char c = *f->at;
    bool twice = (c == 'h' || c == 'l') && f->at[1] == c;
    f->how.wide = c == 'l';
    f->how.bits = 32;
    if (!recorder_format_is_modifier_(c))
        return;
    f->at += 1 + twice;
    if (c == 'h')
        f->how.bits = twice ? 8 : 16;
    else if (!a || a->word_bytes != 4)
        f->how.bits = 64;
}

/* True if this character is a conversion of the program's own. */
RECORDER_SELDOM_ bool
recorder_format_is_own_(const struct recorder_formatter_ *f)
{
    return !recorder_format_ended_(f->at) && *f->at != '%' &&
           f->arguments->types[(unsigned char)*f->at];
}

/* Parses position, flags, width and precision; most conversions have none.
   Returns the position. */
RECORDER_SELDOM_ unsigned recorder_format_fields_(struct recorder_formatter_ *f)
{
    unsigned position = recorder_format_position_(f), flag;
    int64_t width;
    f->start = f->at;
    for (; *f->at <= '0' || *f->at == 'I'; f->at++) {
        flag = recorder_format_index_("-+ #0'I", *f->at);
        if (flag == 7)
            break;
        f->how.flags |= 1U << flag;
    }
    width = recorder_format_size_(f);
    if (width < 0)
        f->how.flags |= RECORDER_FORMAT_LEFT_;
    f->how.width = (unsigned)(width < 0 ? -width : width);
    if (*f->at == '.') {
        f->at++;
        f->how.precision = (int)recorder_format_size_(f);
    }
    return position;
}

RECORDER_LOCAL_ void recorder_format_reset_(struct recorder_formatter_ *f)
{
    struct recorder_conversion_ none = {0, 0, -1, 0, '\0', '\0', false, false};
    f->how = none;
    f->varies = false;
}

/* %m shows the word after the last argument, which should be errno. */
RECORDER_SELDOM_ void recorder_format_parse_error_(struct recorder_formatter_ *f)
{
    uint64_t word;
    f->varies = true;
    if (!f->arguments)
        return;
    word = recorder_format_word_(
        f, recorder_format_used_(f->at, f->next, f->used));
    if (!recorder_has_error_(word, f->arguments->word_bytes))
        word = UINT64_MAX;
    f->how.kind = 'm';
    f->word = word;
}

/* Parses the conversion after a '%' and consumes its words. */
RECORDER_SELDOM_ void recorder_format_parse_(struct recorder_formatter_ *f)
{
    static const char conversions[] = "dsuxp%cfgeioXFGEaAbBCS";
    static const char kinds[] = "dsuuu%cfffduufffffuucs";
    unsigned position = 0;
    bool types = f->arguments && f->arguments->types, own;
    f->start = f->at;
    f->missing = false;
    recorder_format_reset_(f);
    if (*f->at <= '9' || *f->at == 'I')
        position = recorder_format_fields_(f);
    own = types && recorder_format_is_own_(f);
    if (!own)
        recorder_format_modifier_(f);
    if (recorder_format_ended_(f->at))
        return;
    own = own || (types && recorder_format_is_own_(f));
    f->how.conversion = *f->at++;
    f->how.kind = kinds[recorder_format_index_(conversions, f->how.conversion)];
    if (own)
        f->how.kind = '*';
    else if (f->how.conversion == 'C' || f->how.conversion == 'S')
        f->how.wide = true;
    else if (f->how.conversion == 'd' || f->how.conversion == 'u')
        f->how.plain = !f->how.flags && f->how.precision < 0;
    if (f->how.conversion == 'm')
        recorder_format_parse_error_(f);
    else if (f->how.conversion != '%')
        f->word = recorder_format_take_(f, position);
}

/* --------------------------------------------------------------- convert -- */

/* Pads the text from `start` on to its width: in front, at its end, or after
   the sign and the 0x. */
RECORDER_APART_ void recorder_format_pad_(struct recorder_formatter_ *f,
                                           size_t start)
{
    size_t pad = f->how.width - (f->text.size - start);
    if (f->how.flags & RECORDER_FORMAT_LEFT_)
        recorder_format_insert_(f, f->text.size, ' ', pad);
    else if (f->how.flags & RECORDER_FORMAT_ZERO_)
        recorder_format_insert_(f, start + f->prefix, '0', pad);
    else
        recorder_format_insert_(f, start, ' ', pad);
}

RECORDER_APART_ void recorder_format_rare_(struct recorder_formatter_ *f)
{
    f->prefix = 0;
    if (f->how.kind == '%' || f->missing || f->how.kind == '*')
        f->how.width = 0;
    if (f->how.kind == '%')
        recorder_format_put_(f, "%", 1);
    else if (f->missing)
        recorder_format_put_(f, "<lost>", 6);
    else if (f->how.kind == '*')
        recorder_format_own_(f);
    else if (f->how.kind == 'c')
        recorder_format_character_(f);
    else if (f->how.kind == 'f')
        recorder_format_real_(f);
    else if (f->how.kind == 'm')
        recorder_format_error_(f);
    else
        recorder_format_integer_(f);
}

/* Every conversion writes its text without regard to the width. */
RECORDER_LOCAL_ void recorder_format_convert_(struct recorder_formatter_ *f)
{
    size_t start = f->text.size;
    if (f->how.plain && !f->missing)
        recorder_format_plain_(f);
    else if (f->how.kind == 's' && !f->missing)
        recorder_format_string_(f);
    else
        recorder_format_rare_(f);
    if (f->text.size - start < f->how.width)
        recorder_format_pad_(f, start);
}

/* ------------------------------------------------------------------- own -- */

/* Writes the text of the program's own function, escaped like any string. The
   function gets the conversion as written; width and precision are its task. */
RECORDER_SELDOM_ void recorder_format_own_(struct recorder_formatter_ *f)
{
    const struct recorder_arguments_ *a = f->arguments;
    char text[512], format[32];
    size_t n = (size_t)(f->at - f->start), length;
    intptr_t plus = f->how.flags & RECORDER_FORMAT_PLUS_ ? 1 : 0;
    n = n < sizeof format - 2 ? n : 0;
    format[0] = '%';
    for (size_t i = 0; i < n; i++) {
        RECORDER_FORMAT_LOOP_(i);
        format[i + 1] = f->start[i];
    }
    format[n + 1] = '\0';
    length = a->types[(unsigned char)f->how.conversion](
        a->trace | plus, format, text, sizeof text, (uintptr_t)f->word);
    n = length < sizeof text ? length : sizeof text - 1;
    recorder_format_escape_(f, text, n, true);
    if (n < length)
        recorder_format_put_(f, "...", 3);
}

/* -------------------------------------------------------------- integers -- */

/* Writes a decimal number that has no flags and no precision. */
RECORDER_LOCAL_ void recorder_format_plain_(struct recorder_formatter_ *f)
{
    char digit[24], *end = digit + sizeof digit, *start;
    unsigned unused = 64 - f->how.bits;
    uint64_t value = f->word << unused;
    bool negative = f->how.conversion == 'd' && value >> 63;
    start = recorder_format_whole_(end,
                                   (negative ? 0 - value : value) >> unused, 1);
    *--start = '-';
    start += !negative;
    recorder_format_put_(f, start, (size_t)(end - start));
}

RECORDER_SELDOM_ void recorder_format_integer_(struct recorder_formatter_ *f)
{
    char digit[64], *end = digit + sizeof digit, *start;
    char c = f->how.conversion, base = 0;
    bool pointer = c == 'p', negative = false;
    bool alternate = pointer || (f->how.flags & RECORDER_FORMAT_ALTERNATE_);
    unsigned shift = c == 'o'                           ? 3
                     : c == 'b' || c == 'B'             ? 1
                     : c == 'x' || c == 'X' || c == 'p' ? 4
                                                        : 0;
    uint64_t most = UINT64_MAX >> (pointer ? 0 : 64 - f->how.bits);
    uint64_t value = f->word & most;
    size_t precision = f->how.precision < 0 ? 1 : (size_t)f->how.precision,
           count;
    if (f->how.precision >= 0 || (pointer && !value))
        f->how.flags &= ~RECORDER_FORMAT_ZERO_;
    if (pointer && !value) {
        recorder_format_put_(f, "(nil)", 5);
        return;
    }
    if (f->how.kind == 'u' && !pointer)
        f->how.flags &= ~(RECORDER_FORMAT_PLUS_ | RECORDER_FORMAT_SPACE_);
    if (f->how.kind == 'd' && value > most / 2) {
        negative = true;
        value = (0 - value) & most;
    }
    if (alternate && value && (shift == 4 || shift == 1))
        base = pointer ? 'x' : c;
    if (negative || base || f->how.flags)
        recorder_format_begin_(f, negative, base);
    start = recorder_format_digits_(end, value, shift, c == 'X', precision > 0);
    count = (size_t)(end - start);
    if (alternate && shift == 3 && (!count || *start != '0') &&
        precision <= count)
        precision = count + 1; /* an octal number begins with 0 */
    if (precision > count)
        recorder_format_insert_(f, f->text.size, '0', precision - count);
    recorder_format_put_(f, start, count);
}

/* --------------------------------------------------------------- strings -- */

/* Copies up to size bytes at address. Returns how many could be read. */
RECORDER_LOCAL_ size_t
recorder_format_read_(const struct recorder_arguments_ *a, uint64_t address,
                      char *to, size_t size)
{
    ptrdiff_t got = a->text ? a->text(a->context, address, to, size) : 0;
    return got < 0 ? 0 : (size_t)got < size ? (size_t)got : size;
}

/* Writes the bytes at *address, at most *left of them, and advances both.
   Returns true at a NUL that ends them, false if no more can or may be read. */
RECORDER_FUNCTION_ bool recorder_format_bytes_(struct recorder_formatter_ *f,
                                               uint64_t *address, size_t *left,
                                               bool nul_ends)
{
    char piece[64];
    size_t held = 0; /* bytes of a UTF-8 sequence that a piece cut */
    bool more = true;
    while (more && *left) {
        size_t room = sizeof piece - held, end = held, used;
        size_t got = recorder_format_read_(f->arguments, *address, piece + held,
                                           room < *left ? room : *left);
        if (!got)
            break;
        while (end < held + got && (piece[end] || !nul_ends))
            end++;
        more = end == held + got;
        *address += got;
        *left -= got;
        used = recorder_format_escape_(f, piece, end, false);
        held = end - used;
        for (size_t i = 0; i < held; i++)
            piece[i] = piece[used + i];
    }
    if (held)
        recorder_format_escape_(f, piece, held, true);
    return !more;
}

/* Writes bytes as "00 1b ff", a blank after each but the last, and moves on. */
RECORDER_SELDOM_ void recorder_format_hex_(struct recorder_formatter_ *f,
                                           uint64_t *address, size_t size)
{
    static const char hex[] = "0123456789abcdef";
    char piece[32];
    while (size) {
        size_t got =
            recorder_format_read_(f->arguments, *address, piece,
                                  size < sizeof piece ? size : sizeof piece);
        *address += got;
        size = got ? size - got : 0;
        for (size_t i = 0; i < got; i++) {
            char digits[3];
            digits[0] = hex[(unsigned char)piece[i] >> 4];
            digits[1] = hex[piece[i] & 15];
            digits[2] = ' ';
            recorder_format_put_(f, digits, size || i + 1 < got ? 3 : 2);
        }
    }
}

/* Does the same for wchar_t; here *left counts bytes of UTF-8. */
RECORDER_SELDOM_ bool recorder_format_wides_(struct recorder_formatter_ *f,
                                             uint64_t *address, size_t *left)
{
    while (*left) {
        char part[4], utf8[4];
        uint32_t character;
        size_t have = 0, got, length;
        do {
            got = recorder_format_read_(f->arguments, *address + have,
                                        part + have, sizeof part - have);
            have += got;
        } while (got && have < sizeof part);
        if (!got)
            break;
        __builtin_memcpy(&character, part, sizeof part);
        if (!character)
            return true;
        length = recorder_format_utf8_(utf8, character);
        if (length <= *left)
            recorder_format_escape_(f, utf8, length, true);
        *left -= length <= *left ? length : *left;
        *address += sizeof part;
    }
    return false;
}

RECORDER_LOCAL_ void recorder_format_character_(struct recorder_formatter_ *f)
{
    char utf8[4] = {(char)f->word};
    unsigned n = 1;
    if (f->how.wide)
        n = recorder_format_utf8_(utf8, (uint32_t)f->word);
    f->how.flags &= ~RECORDER_FORMAT_ZERO_;
    recorder_format_escape_(f, utf8, n, true);
}

RECORDER_FUNCTION_ void recorder_format_string_(struct recorder_formatter_ *f)
{
    const size_t most = 65536; /* bounds the output for a wild pointer */
    struct recorder_sizes_ sizes = {SIZE_MAX, SIZE_MAX};
    size_t precision =
        f->how.precision < 0 ? SIZE_MAX : (size_t)f->how.precision;
    size_t left = precision < most ? precision : most;
    uint64_t address = f->word;
    char digit[16], *end = digit + sizeof digit, *start;
    const struct recorder_arguments_ *a = f->arguments;
    f->how.flags &= ~RECORDER_FORMAT_ZERO_;
    if (!address) {
        recorder_format_put_(f, "(null)", precision < 6 ? 0 : 6);
        return;
    }
    if (left && a->changes && a->changes(a->context, address, &sizes) &&
        recorder_format_read_(a, address, digit, 1))
        recorder_format_put_(f, RECORDER_FORMAT_CHANGES_, 1);
    if (sizes.kept < SIZE_MAX && f->how.flags & RECORDER_FORMAT_ALTERNATE_) {
        left = sizes.kept < left ? sizes.kept : left;
        sizes.shown -= sizes.kept;
        recorder_format_hex_(f, &address, left);
        left = precision < most ? 0 : sizes.shown;
    }
    if (sizes.kept < left && !f->how.wide) /* no precision cuts the mark */
        left = sizes.shown;
    if (f->how.wide ? recorder_format_wides_(f, &address, &left)
                    : recorder_format_bytes_(f, &address, &left,
                                             sizes.shown == SIZE_MAX))
        return;
    if (!left && (precision <= most || sizes.shown < most))
        return;
    if (address != f->word) {
        recorder_format_put_(f, "...", 3);
        return;
    }
    start = recorder_format_digits_(end, address, 4, false, 1);
    recorder_format_put_(f, "0x", 2);
    recorder_format_put_(f, start, (size_t)(end - start));
}

RECORDER_C_END_
#endif
