/* tables.c - tables of numbered things, each sent to the page once: see
 * view.h. */
/* SPDX-License-Identifier: MIT */
#include "pack_inside.h"
#include "print.h"

FILE *rows_next(struct rows *rows)
{
    if (!rows->to)
        rows->to = need(open_memstream(&rows->text, &rows->size));
    else
        fputc(',', rows->to);
    return rows->to;
}

void rows_write(struct rows *rows, FILE *to, const char *name)
{
    if (!rows->to)
        return;
    need_done(fclose(rows->to) == 0);
    fprintf(to, ",\"%s\":[", name);
    fwrite(rows->text, 1, rows->size, to);
    fputc(']', to);
    free(rows->text);
    *rows = (struct rows){0};
}

/* Adds a series for each value that a new recorder has. */
static void add_series(struct view_pack *pack, uint32_t number,
                       const struct reader_recorder *recorder)
{
    size_t before = pack->series_of_count;
    pack->series_of_count = (number + 1) * pack->values_count;
    pack->series_of = need(realloc(
        pack->series_of, pack->series_of_count * sizeof *pack->series_of + 1));
    for (size_t i = 0; before + i < pack->series_of_count; i++) {
        const struct value_option *value = &pack->values[i];
        FILE *to;
        pack->series_of[before + i] = 0;
        if (!reader_is_named(recorder, value->names))
            continue;
        pack->series = need(realloc(pack->series, (pack->series_count + 1) *
                                                      sizeof *pack->series));
        pack->series[pack->series_count++] = (struct series){0};
        pack->series_of[before + i] = (uint32_t)pack->series_count;
        to = rows_next(&pack->new_series);
        pack_print(pack, to, "[%" PRIu32 ",%u,%s]", number,
                   value->field ? 0 : value->argument + 1, value->name);
    }
}

void pack_row_end(const struct view_pack *pack, FILE *to)
{
    if (pack->calls)
        fprintf(to, ",%" PRIu64, pack->source);
    fputc(']', to);
}

uint32_t pack_recorder(struct view_pack *pack,
                       const struct reader_recorder *recorder)
{
    bool new;
    uint32_t number = (uint32_t)ids_add(&pack->recorders, recorder->address,
                                        pack->source, 0, &new);
    if (new) {
        FILE *to = rows_next(&pack->new_recorders);
        pack_print(pack, to,
                   "['0x%" PRIx64 "',%s,%s,'%" PRIu64 "','%" PRIu64 "'",
                   recorder->address, recorder->shown, recorder->description,
                   recorder->figures.size, recorder->figures.lanes);
        pack_row_end(pack, to);
        add_series(pack, number, recorder);
    }
    return number;
}

/* Returns the number of the unknown thread, of which each source has one. */
static uint32_t unknown_number(struct view_pack *pack)
{
    bool new;
    uint32_t number = (uint32_t)ids_add(&pack->threads, UINT64_MAX, UINT64_MAX,
                                        pack->source, &new);
    if (new) {
        FILE *to = rows_next(&pack->new_threads);
        fprintf(to, "[%" PRIu32 ",null,0,\"T?\"", number + 1);
        pack_row_end(pack, to);
    }
    return number + 1;
}

uint32_t pack_thread(struct view_pack *pack, const struct reader_thread *thread)
{
    bool new, ended;
    uint32_t number;
    if (!thread)
        return pack->calls ? unknown_number(pack) : 0;
    number = (uint32_t)ids_add(&pack->threads, thread->number, thread->first,
                               pack->source, &new);
    if (new)
        pack->names =
            need(realloc(pack->names, pack->threads.max * sizeof *pack->names));
    ended = thread->known && !thread->alive;
    if (new || strcmp(pack->names[number], thread->name) != 0 ||
        pack->names[number][17] != ended) {
        FILE *to = rows_next(&pack->new_threads);
        strcpy(pack->names[number], thread->name);
        pack->names[number][17] = ended;
        pack_print(pack, to, "[%" PRIu32 ",%u,%" PRId32 ",%s,%" PRIu64 ",%d]",
                   number + 1, thread->number, thread->id, thread->name,
                   pack->source, ended);
    }
    return number + 1;
}

uint32_t pack_silent(struct view_pack *pack, const struct timeline_lane *lane)
{
    bool new;
    uint32_t number =
        (uint32_t)ids_add(&pack->threads, UINT64_MAX, lane->index, 0, &new);
    pack_print(pack, rows_next(&pack->new_threads),
               "[%" PRIu32 ",null,%" PRIu32 ",%s]", number + 1, lane->id,
               lane->thread_of->shown);
    return number + 1;
}

uint32_t pack_format(struct view_pack *pack, const struct recorder_event *event)
{
    bool new;
    const char *severity = event_severity(event);
    uint32_t number = (uint32_t)ids_add(
        &pack->formats, event->format,
        (uint64_t)(event->severity + 4 * event->hardware), pack->source, &new);
    if (new) {
        FILE *to = rows_next(&pack->new_formats);
        const char *location = "?";
        const char *format = reader_format(pack->reader, event, &location);
        pack_print(pack, to, severity ? "[%s,%s,%s]" : "[%s,%s]", format,
                   location, severity);
        pack->steps = need(realloc(pack->steps, pack->formats.max));
        pack->fields_known =
            need(realloc(pack->fields_known, pack->formats.max));
        pack->fields_known[number] = false;
        pack->steps[number] =
            format ? (unsigned char)spans_step(format) : SPANS_NONE;
    }
    return number;
}

static uint32_t caller_number(struct view_pack *pack, uint64_t caller)
{
    bool new;
    uint32_t number =
        (uint32_t)ids_add(&pack->callers, caller, pack->source, 0, &new);
    if (new)
        pack_print(pack, rows_next(&pack->new_callers), "['0x%" PRIx64 "',%s]",
                   caller, source_function(&pack->call->source, caller));
    return number;
}

uint32_t pack_site(struct view_pack *pack, const struct reader_event *event)
{
    uint32_t format = pack_format(pack, &event->event);
    bool new;
    uint32_t number = (uint32_t)ids_add(&pack->sites, event->recorder->address,
                                        format, event->event.caller, &new);
    if (new)
        fprintf(rows_next(&pack->new_sites),
                "[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]",
                pack_recorder(pack, event->recorder), format,
                caller_number(pack, event->event.caller));
    return number;
}
