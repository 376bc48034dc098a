/* csv.c - events as comma-separated values, RFC 4180. */
/* SPDX-License-Identifier: MIT */
#include "csv.h"
#include "json.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "recorder/text.h"

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
    fputs(",may_have_changed\r\n", file);
}

void csv_event(FILE *file, struct call *call, const struct reader_event *e)
{
    struct reader *reader = &call->reader;
    struct reader_argument arguments[12];
    const char *location, *message;
    const char *format = reader_format(reader, &e->event, &location);
    unsigned line, count, first = 0, i;
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
    reader_unmark(arguments, count);
    for (i = 0; i < 12; i++) {
        putc_unlocked(',', file);
        if (i < count)
            csv_argument(file, &arguments[i]);
    }
    putc_unlocked(',', file);
    for (i = 0; i < count; i++)
        if (arguments[i].changes)
            fprintf(file, "%s%u", first++ ? " " : "", i + 1);
    fputs("\r\n", file);
}
