/* export.c - recorder export: all events in a format of other tools. */
/* SPDX-License-Identifier: MIT */
#include "export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- shared -- */

static void buffer_need(struct buffer *buffer, size_t size)
{
    if (buffer->max - buffer->size >= size)
        return;
    buffer->max = (buffer->size + size) * 2;
    buffer->at = need(realloc(buffer->at, buffer->max));
}

void buffer_add(struct buffer *buffer, const void *from, size_t size)
{
    buffer_need(buffer, size);
    if (size)
        memcpy(buffer->at + buffer->size, from, size);
    buffer->size += size;
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    int size;
    va_start(arguments, format);
    size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    buffer_need(buffer, (size_t)size + 1);
    va_start(arguments, format);
    vsnprintf((char *)buffer->at + buffer->size, (size_t)size + 1, format,
              arguments);
    va_end(arguments);
    buffer->size += (size_t)size;
}

/* Where a key stands, or would. Number 0 is kept as 1: 0 means free. */
static struct id *ids_find(const struct ids *ids, const uint64_t key[3])
{
    uint64_t hash = key[0];
    size_t at;
    for (int i = 1; i < 3; i++)
        hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15) + key[i];
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    for (at = (size_t)(hash >> 20);; at++) {
        struct id *id = &ids->at[at & (ids->max - 1)];
        if (!id->number || memcmp(id->key, key, sizeof id->key) == 0)
            return id;
    }
}

size_t ids_of(struct ids *ids, uint64_t a, uint64_t b, uint64_t c, bool *is_new)
{
    uint64_t key[3] = {a, b, c};
    struct id *id;
    if (ids->count * 2 >= ids->max) {
        struct ids more = {.count = ids->count,
                           .max = ids->max ? ids->max * 2 : 256};
        more.at = need(calloc(more.max, sizeof *more.at));
        for (size_t i = 0; i < ids->max; i++)
            if (ids->at[i].number)
                *ids_find(&more, ids->at[i].key) = ids->at[i];
        free(ids->at);
        *ids = more;
    }
    id = ids_find(ids, key);
    *is_new = !id->number;
    if (*is_new) {
        memcpy(id->key, key, sizeof id->key);
        id->number = ++ids->count;
    }
    return id->number - 1;
}

void ids_free(struct ids *ids)
{
    free(ids->at);
    *ids = (struct ids){0};
}

const char *export_gap(const struct timeline *t, size_t recorder, uint64_t *ns)
{
    static char text[80];
    const struct reader_recorder *of = t->call->reader.recorders[recorder];
    const struct recorder_figures *figures = &of->figures;
    size_t size = 0;
    if (!of->chosen || (!figures->overwritten && !figures->lost))
        return NULL;
    *ns = 0;
    if (of->oldest_ns > t->start_ns)
        *ns = (uint64_t)of->oldest_ns - (uint64_t)t->start_ns;
    if (*ns > t->length_ns)
        *ns = t->length_ns;
    if (figures->overwritten)
        size = (size_t)sprintf(text, "%" PRIu64 " records overwritten",
                               figures->overwritten);
    if (figures->lost)
        sprintf(text + size,
                size ? ", %" PRIu64 " lost" : "%" PRIu64 " records lost",
                figures->lost);
    return text;
}

/* ----------------------------------------------------------- text, lines -- */

static void export_lines(struct call *call, const char *path, bool csv)
{
    struct reader_event e;
    struct output out;
    uint64_t done = 0;
    output_open(&out, call, path);
    if (csv)
        csv_head(out.file);
    while (reader_next(&call->reader, &e)) {
        progress(call, done++, call->reader.taken);
        if (csv) {
            csv_event(out.file, call, &e);
        } else {
            json_event(out.file, call, &e);
            putc('\n', out.file);
        }
        output_check(&out);
    }
    progress(call, 1, 1);
    output_close(&out);
}
static void export_json(struct call *call, const char *path)
{
    export_lines(call, path, false);
}
static void export_csv(struct call *call, const char *path)
{
    export_lines(call, path, true);
}

/* ------------------------------------------------------------------ verb -- */

static const struct {
    const char *name;
    void (*write)(struct call *, const char *path);
    bool is_folder;
} formats[] = {{"perfetto", export_perfetto, false},
               {"chrome", export_chrome, false},
               {"speedscope", export_speedscope, false},
               {"ctf", export_ctf, true},
               {"vcd", export_vcd, false},
               {"sqlite", export_sqlite, false},
               {"json", export_json, false},
               {"csv", export_csv, false}};

static const struct option_row rows[] = {
    {'o', "output", "FILE", "where to; - is standard output"},
    {EXPORT_VALUE, "value", "RECORDER:N=NAME",
     "plot argument N of the recorders that match"},
    {EXPORT_MESSAGES, "messages", NULL,
     "name events by their messages, not formats (perfetto, chrome)"},
    {EXPORT_PLAIN, "plain", NULL, "wires only, as sigrok takes them (vcd)"},
    {0, NULL, NULL, NULL}};

static const char help[] =
    "FORMAT is perfetto (for ui.perfetto.dev and trace_processor), chrome "
    "(Chrome's trace JSON, which Perfetto reads, too), speedscope (the same of "
    "spans only), ctf (CTF 1.8, a folder, for babeltrace2 and Trace Compass), "
    "vcd (waveforms for gtkwave -S FILE.tcl FILE.vcd and, with --plain, for "
    "sigrok), sqlite (a database: select * from log), json (one object a line, "
    "as dump --json) or csv (RFC 4180). A record whose format starts with > "
    "opens a span of its thread; the next of the same thread and recorder that "
    "starts with < closes it. --value 'net:2=bytes' makes a plot of the second "
    "argument of what net recorded; it may be given again. FILE gets its name "
    "only when it is whole.";

static int run(struct call *call)
{
    const char *path = call_option(call, 'o');
    size_t i = 0, count = sizeof formats / sizeof *formats;
    if (call->arguments_count != 2)
        misuse(call, "it takes a FORMAT and a SOURCE");
    while (i < count && strcmp(call->arguments[0], formats[i].name) != 0)
        i++;
    if (i == count)
        misuse(call, "%s is no format", call->arguments[0]);
    if (formats[i].is_folder && (!path || strcmp(path, "-") == 0))
        misuse(call, "%s is a folder, so it needs -o FOLDER", formats[i].name);
    if (!path && isatty(1))
        misuse(call, "it would fill this terminal: -o FILE, or -o - if you "
                     "want that");
    call_open(call, 1);
    call_take(call);
    reader_count(&call->reader);
    for (size_t n = 0; n < call->reader.recorders_count; n++)
        if (call->reader.recorders[n]->wrong)
            warn(call, "recorder %s: %s", call->reader.recorders[n]->name,
                 call->reader.recorders[n]->wrong);
    formats[i].write(call, path ? path : "-");
    return 0;
}

const struct verb verb_export = {
    .name = "export",
    .arguments = "FORMAT SOURCE",
    .summary = "writes a file for perfetto, gtkwave, babeltrace2, sqlite3 ...",
    .help = help,
    .rows = rows,
    .selects = true,
    .run = run};
