/* json_event.c - sources and events as JSON. */
/* SPDX-License-Identifier: MIT */
#include "labels.h"
#include "print.h"
#include "sources.h"

void json_source(FILE *file, const struct call *call)
{
    const struct source_note *note = &call->source.note;
    putc_unlocked('{', file);
    if (!sources_labelled(call))
        return;
    json_put(file, "'source':%s", call->title ? call->title : call->name);
    for (size_t i = 0; i < call->labels_count; i++)
        json_put(file, ",%s:%s", call->labels[i].name, call->labels[i].value);
    json_put(file, ",'pid':%" PRIu64 ",'program':%s,'offset_ns':%" PRId64,
             call->reader.pid, call_program(call), note->offset_ns);
    if (note->error_ns)
        fprintf(file, ",\"error_ns\":%" PRId64, note->error_ns);
    putc_unlocked(',', file);
}

void json_event(FILE *file, struct call *call, const struct reader_event *e)
{
#define KEY(id, name) ",\"" name "\":",
    static const char *const keys[FIELDS] = {FIELD_LIST(KEY)};
    struct reader_argument fields[FIELDS], arguments[12];
    unsigned count, first = 0, i;
    fields_of(&call->reader, e, fields);
    json_source(file, call);
    for (i = 0; i < FIELD_MESSAGE; i++) {
        fputs_unlocked(keys[i] + (i == 0), file); /* no comma yet */
        json_argument(file, &fields[i]);
    }
    fputs_unlocked(",\"arguments\":[", file);
    count = reader_arguments(&call->reader, e, arguments);
    reader_unmark(arguments, count);
    for (i = 0; i < count; i++) {
        if (i)
            putc_unlocked(',', file);
        json_argument(file, &arguments[i]);
    }
    fputs_unlocked("],\"may_have_changed\":[", file);
    for (i = 0; i < count; i++)
        if (arguments[i].changes)
            fprintf(file, "%s%u", first++ ? "," : "", i + 1);
    putc_unlocked(']', file);
    for (i = first = 0; i < count; i++)
        if (arguments[i].name) {
            fprintf(file, "%s\"%s\":", first++ ? "," : ",\"named\":{",
                    arguments[i].name);
            json_argument(file, &arguments[i]);
        }
    if (first)
        putc_unlocked('}', file);
    fputs_unlocked(keys[FIELD_MESSAGE], file);
    json_argument(file, &fields[FIELD_MESSAGE]);
    putc_unlocked('}', file);
}
