/* text.c - events as text for other programs: UTF-8, JSON, CSV. */
/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/text.h"

/* ----------------------------------------------------------------- UTF-8 -- */

size_t text_character(const char *at, size_t size)
{
    const unsigned char *byte = (const unsigned char *)at;
    uint32_t character, least;
    size_t length, i;
    if (size == 0)
        return 0;
    if (byte[0] < 0x80)
        return 1;
    length = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
    if (byte[0] < 0xc2 || byte[0] > 0xf4 || length > size)
        return 0;
    character = byte[0] & (0x7fu >> length);
    for (i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (byte[i] & 0x3f);
    }
    least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
    if (character < least || character > 0x10ffff ||
        (character >= 0xd800 && character <= 0xdfff))
        return 0;
    return length;
}

const char *text_repaired(const char *text, size_t *size)
{
    static char *copy;
    static size_t copy_max;
    size_t from, to = 0, length;
    for (from = 0; from < *size; from += length)
        if (!(length = text_character(text + from, *size - from)))
            break;
    if (from == *size)
        return text;
    if (copy_max < *size * 3 + 1)
        copy = need(realloc(copy, copy_max = *size * 3 + 1));
    for (from = 0; from < *size;) {
        length = text_character(text + from, *size - from);
        if (length)
            memcpy(copy + to, text + from, length);
        else
            memcpy(copy + to, TEXT_REPLACEMENT, 3);
        to += length ? length : 3;
        from += length ? length : 1;
    }
    copy[to] = '\0';
    *size = to;
    return copy;
}

/* -------------------------------------------------------------- elements -- */

void text_real(char to[32], double real)
{
    int digits = 15;
    if (isnan(real)) { /* without the sign that printf gives some of them */
        strcpy(to, "nan");
        return;
    }
    do
        snprintf(to, 32, "%.*g", digits, real);
    while (strtod(to, NULL) != real && digits++ < 17);
    if (to[strspn(to, "-0123456789")] == '\0')
        strcat(to, ".0");
}

/* ------------------------------------------------------------------ JSON -- */

void json_string(FILE *file, const char *text, size_t size, bool in_html)
{
    static const char plain[] = "\"\\\n\t\r\b\f", escaped[] = "\"\\ntrbf";
    const char *found;
    size_t at, length;
    putc_unlocked('"', file);
    for (at = 0; at < size; at += length) {
        unsigned char c = (unsigned char)text[at];
        length = text_character(text + at, size - at);
        if (!length) {
            fputs("\\ufffd", file);
            length = 1;
        } else if (c && (found = strchr(plain, c))) {
            putc_unlocked('\\', file);
            putc_unlocked(escaped[found - plain], file);
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

static void json_text(FILE *file, const char *text)
{
    if (text)
        json_string(file, text, strlen(text), false);
    else
        fputs("null", file);
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

void json_event(FILE *file, struct call *call, const struct reader_event *e)
{
    struct reader *reader = &call->reader;
    struct reader_argument arguments[12];
    const char *location, *message;
    const char *format = reader_format(reader, &e->event, &location);
    unsigned line, count, i;
    size_t size;
    bool timed = e->ns != RECORDER_TIME_UNKNOWN;
    fprintf(file, "{\"order\":%" PRIu64 ",\"ns\":", e->event.order);
    fprintf(file, timed ? "%" PRId64 : "null", e->ns);
    fprintf(file,
            timed && e->realtime_ns ? ",\"wall_ns\":%" PRIu64
                                    : ",\"wall_ns\":null",
            e->realtime_ns);
    fputs(",\"recorder\":", file);
    json_text(file, e->recorder->name);
    if (e->thread) {
        fprintf(file, ",\"thread\":%u,\"thread_name\":", e->thread->number);
        json_text(file, e->thread->name);
        fprintf(file, ",\"tid\":%" PRId32, e->thread->id);
    } else {
        fputs(",\"thread\":null,\"thread_name\":null,\"tid\":null", file);
    }
    fputs(",\"location\":", file);
    json_text(file, recorder_location_name(location));
    line = reader_location(location, &size);
    fputs(",\"file\":", file);
    if (line)
        json_string(file, location, size, false);
    fprintf(file, line ? ",\"line\":%u" : "null,\"line\":null", line);
    fprintf(file, ",\"caller\":\"0x%" PRIx64 "\",\"format\":", e->event.caller);
    json_text(file, format);
    fputs(",\"arguments\":[", file);
    count = reader_arguments(reader, e, arguments);
    for (i = 0; i < count; i++) {
        if (i)
            putc_unlocked(',', file);
        json_argument(file, &arguments[i]);
    }
    fputs("],\"message\":", file);
    message = reader_message(reader, e, &size);
    json_string(file, message, size, false);
    putc_unlocked('}', file);
}

/* ------------------------------------------------------------------- CSV -- */

/* A field is quoted where the bare text would not come back. */
static void csv_string(FILE *file, const char *text, size_t size)
{
    size_t i;
    text = text_repaired(text, &size);
    if (size && !memchr(text, '"', size) && !memchr(text, ',', size) &&
        !memchr(text, '\n', size) && !memchr(text, '\r', size) &&
        text[0] != ' ' && text[size - 1] != ' ') {
        fwrite(text, 1, size, file);
        return;
    }
    putc_unlocked('"', file);
    for (i = 0; i < size; i++) {
        if (text[i] == '"')
            putc_unlocked('"', file);
        putc_unlocked(text[i], file);
    }
    putc_unlocked('"', file);
}

/* A text behind its comma; null is a field without even quotes. */
static void csv_text(FILE *file, const char *text)
{
    putc_unlocked(',', file);
    if (text)
        csv_string(file, text, strlen(text));
}

static void csv_argument(FILE *file, const struct reader_argument *argument)
{
    char real[32];
    switch (argument->kind) {
    case READER_STRING:
        csv_string(file, argument->text, argument->text_size);
        break;
    case READER_POINTER: fprintf(file, "0x%" PRIx64, argument->word); break;
    case READER_REAL:
        text_real(real, argument->real);
        fputs(real, file);
        break;
    case READER_LOST: break;
    default: json_argument(file, argument);
    }
}

void csv_head(FILE *file)
{
    int i;
    fputs("order,ns,wall_ns,recorder,thread,thread_name,tid,location,file,line,"
          "caller,format,message",
          file);
    for (i = 1; i <= 12; i++)
        fprintf(file, ",argument%d", i);
    fputs("\r\n", file);
}

void csv_event(FILE *file, struct call *call, const struct reader_event *e)
{
    struct reader *reader = &call->reader;
    struct reader_argument arguments[12];
    const char *location, *message;
    const char *format = reader_format(reader, &e->event, &location);
    unsigned line, count, i;
    size_t size;
    bool timed = e->ns != RECORDER_TIME_UNKNOWN;
    fprintf(file, "%" PRIu64, e->event.order);
    fprintf(file, timed ? ",%" PRId64 : ",", e->ns);
    fprintf(file, timed && e->realtime_ns ? ",%" PRIu64 : ",", e->realtime_ns);
    csv_text(file, e->recorder->name);
    fprintf(file, e->thread ? ",%u" : ",", e->thread ? e->thread->number : 0);
    csv_text(file, e->thread ? e->thread->name : NULL);
    fprintf(file, e->thread ? ",%" PRId32 : ",", e->thread ? e->thread->id : 0);
    csv_text(file, recorder_location_name(location));
    line = reader_location(location, &size);
    putc_unlocked(',', file);
    if (line)
        csv_string(file, location, size);
    fprintf(file, line ? ",%u" : ",", line);
    fprintf(file, ",0x%" PRIx64, e->event.caller);
    csv_text(file, format);
    putc_unlocked(',', file);
    message = reader_message(reader, e, &size);
    csv_string(file, message, size);
    count = reader_arguments(reader, e, arguments);
    for (i = 0; i < 12; i++) {
        putc_unlocked(',', file);
        if (i < count)
            csv_argument(file, &arguments[i]);
    }
    fputs("\r\n", file);
}
