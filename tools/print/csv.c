/* csv.c - events as comma-separated values, RFC 4180. */
/* SPDX-License-Identifier: MIT */
#include "labels.h"
#include "print.h"
#include "sources.h"

/* Writes a text, in quotes if a reader would take the bare text for another. A
 * spreadsheet would compute a text that begins with = + - or @: an apostrophe
 * prevents that. Numbers do not come here: -5 remains a number. */
static void csv_string(FILE *file, const char *text, size_t size)
{
    const char *mark;
    size_t i;
    text = text_repaired(text, &size);
    text = text_shown(text, &size);
    mark = size && strchr("=+-@", text[0]) ? "'" : "";
    if (size && !memchr(text, '"', size) && !memchr(text, ',', size) &&
        text[0] != ' ' && text[size - 1] != ' ') {
        fputs(mark, file);
        fwrite(text, 1, size, file);
        return;
    }
    putc_unlocked('"', file);
    fputs(mark, file);
    for (i = 0; i < size; i++) {
        if (text[i] == '"')
            putc_unlocked('"', file);
        putc_unlocked(text[i], file);
    }
    putc_unlocked('"', file);
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

static void csv_text(FILE *file, const char *text)
{
    csv_string(file, text, strlen(text));
}

/* Prints the columns of a source: its name, labels, process and clock. */
static void csv_source(FILE *file, const struct call *calls,
                       const struct call *call)
{
    const struct source_note *note = &call->source.note;
    const char *name, *value;
    csv_text(file, call->title ? call->title : call->name);
    for (size_t i = 0; (name = labels_name(calls, i)); i++) {
        putc_unlocked(',', file);
        value = label_of(call, name);
        if (value)
            csv_text(file, value);
    }
    fprintf(file, ",%" PRIu64 ",", call->reader.pid);
    csv_text(file, call_program(call));
    fprintf(file, ",%" PRId64 ",", note->offset_ns);
    if (note->error_ns)
        fprintf(file, "%" PRId64, note->error_ns);
    putc_unlocked(',', file);
}

static struct names named; /* columns; of several sources there are none */

void csv_head(FILE *file, struct call *calls)
{
    static const char *const names[FIELDS] = {FIELD_NAMES};
    const char *label;
    int i;
    if (sources_labelled(calls)) {
        fputs("source", file);
        for (i = 0; (label = labels_name(calls, (size_t)i)); i++)
            fprintf(file, ",%s", label);
        fputs(",pid,program,offset_ns,error_ns,", file);
    }
    for (i = 0; i < FIELDS; i++)
        fprintf(file, i ? ",%s" : "%s", names[i]);
    for (i = 1; i <= 12; i++)
        fprintf(file, ",argument%d", i);
    fputs(",may_have_changed", file);
    names_close(&named);
    if (!calls->title)
        names_read(&named, calls);
    for (size_t n = 0; n < named.all.count; n++)
        fprintf(file, ",%s", named.columns[n]);
    fputs("\r\n", file);
}

void csv_event(FILE *file, const struct call *calls, struct call *call,
               const struct reader_event *e)
{
    struct reader_argument fields[FIELDS], arguments[12];
    unsigned count, first = 0, i;
    if (sources_labelled(calls))
        csv_source(file, calls, call);
    fields_of(&call->reader, e, fields);
    for (i = 0; i < FIELDS; i++) {
        if (i)
            putc_unlocked(',', file);
        csv_argument(file, &fields[i]);
    }
    count = reader_arguments(&call->reader, e, arguments);
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
    for (size_t n = 0; n < named.all.count; n++) {
        const struct reader_argument *of =
            names_find(named.all.names[n], arguments, count);
        putc_unlocked(',', file);
        if (of)
            csv_argument(file, of);
    }
    fputs("\r\n", file);
}
