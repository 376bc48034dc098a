/* json.c - strings, arguments and events as JSON. */
/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "recorder/text.h"

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
    unsigned line, count, first = 0, i;
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
    reader_unmark(arguments, count);
    for (i = 0; i < count; i++) {
        if (i)
            putc_unlocked(',', file);
        json_argument(file, &arguments[i]);
    }
    fputs("],\"may_have_changed\":[", file);
    for (i = 0; i < count; i++)
        if (arguments[i].changes)
            fprintf(file, "%s%u", first++ ? "," : "", i);
    fputs("],\"message\":", file);
    message = reader_message(reader, e, &size);
    json_string(file, message, size, false);
    putc_unlocked('}', file);
}
