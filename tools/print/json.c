/* json.c - strings and arguments as JSON. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <math.h>

#include "recorder/text.h"

/* A JSON string, quoted; bytes that are no UTF-8 become U+FFFD; characters that
 * control a terminal or turn the direction of text are escaped, and so are `<`,
 * `>` and `&` if `in_html`. */
static void json_string(FILE *file, const char *text, size_t size, bool in_html)
{
    static const char plain[] = "\"\\\n\t\r\b\f", escaped[] = "\"\\ntrbf";
    const char *found;
    size_t at, length;
    putc_unlocked('"', file);
    for (at = 0; at < size; at += length) {
        unsigned char c = (unsigned char)text[at];
        length = c < 0x80 ? 1 : text_character(text + at, size - at);
        if (!length) {
            fputs("\\ufffd", file);
            length = 1;
        } else if (c && (found = strchr(plain, c))) {
            putc_unlocked('\\', file);
            putc_unlocked(escaped[found - plain], file);
        } else if (length > 1 && !recorder_text_shown_(text + at, length)) {
            unsigned character = length == 2 ? c & 0x1f : c & 0x0f;
            for (size_t i = 1; i < length; i++)
                character = character << 6 | (text[at + i] & 0x3f);
            fprintf(file, "\\u%04x", character);
        } else if (c < ' ' || c == 0x7f ||
                   (in_html && (c == '<' || c == '>' || c == '&'))) {
            fprintf(file, "\\u%04x", c);
        } else {
            for (size_t i = 0; i < length; i++)
                putc_unlocked(text[at + i], file);
        }
    }
    putc_unlocked('"', file);
}

void json_argument(FILE *file, const struct reader_argument *argument)
{
    char real[32];
    switch (argument->kind) {
    case READER_SIGNED:
    case READER_CHARACTER: fprintf(file, "%" PRId64, argument->integer); break;
    case READER_UNSIGNED: fprintf(file, "%" PRIu64, argument->word); break;
    case READER_REAL:
        text_real(real, argument->real);
        fprintf(file, isfinite(argument->real) ? "%s" : "\"%s\"", real);
        break;
    case READER_STRING:
        json_string(file, argument->text, argument->text_size, false);
        break;
    case READER_POINTER:
        fprintf(file, "\"0x%" PRIx64 "\"", argument->word);
        break;
    default: fputs("null", file);
    }
}

/* Prints the conversion at `at`, of `size` characters. */
static void json_conversion(FILE *file, const char *at, size_t size,
                            va_list *arguments)
{
    char format[16] = "";
    memcpy(format, at, size < sizeof format ? size : 0);
    if (at[size - 1] == '%')
        putc_unlocked('%', file);
    else if (strchr("aefg", at[size - 1]))
        fprintf(file, format, va_arg(*arguments, double));
    else if (at[1] == 'h')
        fputs(va_arg(*arguments, int) ? "true" : "false", file);
    else if (strstr(format, "ll"))
        fprintf(file, format, va_arg(*arguments, long long));
    else if (strpbrk(format, "lz"))
        fprintf(file, format, va_arg(*arguments, long));
    else
        fprintf(file, format, va_arg(*arguments, int));
}

/* Prints the text of the conversion at `at`, escaped. */
static void text_conversion(FILE *file, const char *at, size_t size,
                            va_list *arguments)
{
    const char *star = memchr(at, '*', size), *text;
    int width = star ? va_arg(*arguments, int) : atoi(at + 1);
    size_t length;
    text = va_arg(*arguments, const char *);
    length = strlen(text);
    text = text_shown(text, &length);
    fprintf(file, at[1] == '-' ? "%-*s" : "%*s", abs(width), text);
}

void put_to(FILE *file, enum put as, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    for (; *format; format++) {
        size_t size = 2 + strspn(format + 1, "-*0123456789.hlz");
        const char *text;
        if (*format != '%') {
            bool quotes = *format == '\'' && as != PUT_SHOWN;
            putc_unlocked(quotes ? '"' : *format, file);
            continue;
        }
        if (format[size - 1] != 's')
            json_conversion(file, format, size, &arguments);
        else if (as == PUT_SHOWN)
            text_conversion(file, format, size, &arguments);
        else if ((text = va_arg(arguments, const char *)))
            json_string(file, text, strlen(text), as == PUT_HTML);
        else
            fputs("null", file);
        format += size - 1;
    }
    va_end(arguments);
}

void json_count(const char *name, uint64_t number, bool known)
{
    printf(known ? ",\"%s\":%" PRIu64 : ",\"%s\":null", name, number);
}
