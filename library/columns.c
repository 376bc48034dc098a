/* columns.c - many records at once, a column for each of their fields. */
/* SPDX-License-Identifier: MIT */
#include "handle.h"
#include "print.h"

enum { MOST = 12 }; /* arguments of a record */

static uint32_t name_of(struct recorder_reader *r,
                        const struct reader_argument *argument)
{
    return argument->name
               ? texts_add(&r->texts, argument->name, strlen(argument->name))
               : 0;
}

static void fill_arguments(struct recorder_reader *r,
                           const struct recorder_reader_columns *to,
                           uint64_t row)
{
    struct reader_argument arguments[MOST];
    unsigned count = reader_arguments(&r->call.reader, &r->event, arguments);
    uint64_t first = row * to->arguments;
    reader_unmark(arguments, count);
    for (unsigned i = 0; i < to->arguments; i++) {
        to->kind[first + i] = i < count ? (uint8_t)arguments[i].kind
                                        : (uint8_t)RECORDER_READER_LOST;
        if (to->argument_name)
            to->argument_name[first + i] =
                i < count ? name_of(r, &arguments[i]) : 0;
        if (to->argument)
            to->argument[first + i] =
                i < count ? texts_word(&r->texts, &arguments[i]) : 0;
    }
}

static void fill_text(struct recorder_reader *r, uint32_t *column, uint64_t row,
                      const struct reader_argument *field)
{
    if (column)
        column[row] = field->kind == READER_STRING
                          ? texts_add(&r->texts, field->text, field->text_size)
                          : 0;
}

static void fill_row(struct recorder_reader *r,
                     const struct recorder_reader_columns *to, uint64_t row,
                     const struct reader_argument *f)
{
    const struct reader_event *e = &r->event;
    const struct reader_thread *thread = e->thread;
    if (to->order)
        to->order[row] = f[FIELD_ORDER].word;
    if (to->ns)
        to->ns[row] =
            f[FIELD_NS].kind == READER_LOST ? RECORDER_READER_UNKNOWN : e->ns;
    if (to->wall_ns)
        to->wall_ns[row] = f[FIELD_WALL_NS].kind == READER_LOST
                               ? RECORDER_READER_UNKNOWN
                               : (int64_t)e->realtime_ns;
    if (to->caller)
        to->caller[row] = f[FIELD_CALLER].word;
    if (to->thread)
        to->thread[row] = thread ? thread->number : 0;
    if (to->tid)
        to->tid[row] = thread ? thread->id : 0;
    fill_text(r, to->recorder, row, &f[FIELD_RECORDER]);
    fill_text(r, to->severity, row, &f[FIELD_SEVERITY]);
    fill_text(r, to->thread_name, row, &f[FIELD_THREAD_NAME]);
    fill_text(r, to->location, row, &f[FIELD_LOCATION]);
    fill_text(r, to->format, row, &f[FIELD_FORMAT]);
    fill_text(r, to->message, row, &f[FIELD_MESSAGE]);
    if (to->kind && to->arguments)
        fill_arguments(r, to, row);
}

int64_t recorder_reader_fill(struct recorder_reader *r,
                             const struct recorder_reader_columns *columns,
                             size_t size)
{
    struct recorder_reader_columns to = {0};
    struct reader_argument fields[FIELDS];
    uint64_t row;
    memcpy(&to, columns, size < sizeof to ? size : sizeof to);
    if (to.arguments > MOST)
        to.arguments = MOST;
    LIBRARY_ENTER(r, -1);
    row = 0;
    while (row < to.rows && library_next(r, fields))
        fill_row(r, &to, row++, fields);
    r->has_event = false;
    return library_leave(r) ? (int64_t)row : -1;
}

const char *recorder_reader_text(const struct recorder_reader *r,
                                 uint32_t number, size_t *size)
{
    if (!number || number > r->texts.count)
        return NULL;
    if (size)
        *size = r->texts.all[number].size;
    return r->texts.all[number].at;
}
