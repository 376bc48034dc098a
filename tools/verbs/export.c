/* export.c - recorder export: all events in a format of other tools. */
/* SPDX-License-Identifier: MIT */
#include "export.h"
#include "labels.h"
#include "print.h"
#include "sources.h"

/* ----------------------------------------------------------- text, lines -- */

static void export_lines(struct call *calls, const char *path, bool csv)
{
    struct reader_event e;
    struct merge merge;
    struct output out;
    struct call *of;
    uint64_t done = 0, all = 0;
    output_open(&out, calls, path);
    for (of = calls; of; of = of->next)
        all += of->reader.taken;
    if (csv)
        csv_head(out.file, calls);
    merge_begin(&merge, calls);
    while ((of = merge_next(&merge, &e))) {
        progress(calls, done++, all);
        if (csv) {
            csv_event(out.file, calls, of, &e);
        } else {
            json_event(out.file, of, &e);
            putc('\n', out.file);
        }
        output_check(&out);
    }
    merge_end(&merge);
    progress(calls, 1, 1);
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

/* Options that a format takes, by bits. */
#define USES(key) (1u << ((key)-OPTION_OWN))
enum {
    VALUES = USES(EXPORT_VALUE),
    MESSAGES = USES(EXPORT_MESSAGES),
    PLAIN = USES(EXPORT_PLAIN)
};

static const struct {
    const char *name;
    void (*write)(struct call *, const char *path);
    unsigned uses;
    bool is_folder;
} formats[] = {{"perfetto", export_perfetto, VALUES | MESSAGES, false},
               {"ctf", export_ctf, VALUES, true},
               {"vcd", export_vcd, VALUES | PLAIN, false},
               {"sqlite", export_sqlite, VALUES, false},
               {"json", export_json, 0, false},
               {"csv", export_csv, 0, false}};

static const struct option_row rows[] = {
    {'o', "output", "FILE", "where to; - is standard output"},
    {EXPORT_VALUE, "value", "RECORDER:N=NAME",
     "plot argument N of the matching recorders; RECORDER:bytes plots the "
     "argument of \"bytes=%d\" in formats"},
    ROW_LABEL,
    {EXPORT_MESSAGES, "messages", NULL,
     "name events by their messages, not formats (perfetto)"},
    {EXPORT_PLAIN, "plain", NULL, "wires only, for sigrok (vcd)"},
    {0, NULL, NULL, NULL}};

static const char help[] =
    "FORMAT is perfetto (for ui.perfetto.dev and trace_processor), ctf (CTF "
    "1.8, a folder, for babeltrace2 and Trace Compass), vcd (waveforms for "
    "gtkwave -S FILE.tcl FILE.vcd and, with --plain, for sigrok), sqlite (a "
    "database: select * from log), json (one object a line, as dump --json) "
    "or csv (RFC 4180).\n\n"
    "A record whose format starts with > opens a span of its thread; one that "
    "starts with < closes the innermost span of the same thread, recorder and "
    "name. The name is the text before the first conversion. >> opens a span "
    "whose first argument is its id; => continues it and << closes it in any "
    "thread: perfetto draws it on a separate line, with arrows through its "
    "records.\n\n"
    "--value 'net:2=bytes' plots the second argument of net's records, "
    "--value net:bytes the argument of \"bytes=%d\" in formats; it may be "
    "repeated. These names are keys and columns of the other formats, too. "
    "From records of switches (recorder_switch.h), vcd has wires, and "
    "perfetto its tables of threads and processors (unknown states: stopped). "
    "FILE gets its name only when it is whole.\n\n"
    "Several SOURCES share one time axis: perfetto has a process for each, "
    "sqlite a table of them and a column source; json and csv are merged by "
    "wall-clock time, with columns of the sources' labels; ctf has a folder "
    "for each in FOLDER, which babeltrace2 and Trace Compass open as one; vcd "
    "has a scope for each; perfetto's tables of threads have each as a "
    "machine.";

enum { FORMATS = sizeof formats / sizeof *formats };

/* Returns the format that was asked for, before the SOURCE. */
static size_t format_of(struct call *call)
{
    const char *name = call->arguments_count ? call->arguments[0] : "";
    char all[128];
    size_t i, at = 0;
    for (i = 0; i < FORMATS; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "",
                               formats[i].name);
    for (i = 0; i < FORMATS && strcmp(name, formats[i].name) != 0; i++)
        ;
    if (!*name)
        misuse(call, "FORMAT and SOURCE are missing; formats are %s", all);
    if (i == FORMATS)
        misuse(call, "%s is no format; there are %s", name, all);
    return i;
}

static int run(struct call *call)
{
    const char *path = call_option(call, 'o');
    size_t i = format_of(call);
    struct call *calls;
    if (formats[i].is_folder && (!path || strcmp(path, "-") == 0))
        misuse(call, "%s is a folder, so it needs -o FOLDER", formats[i].name);
    if (!path && isatty(1))
        misuse(call, "it would fill this terminal: -o FILE, or -o - if you "
                     "want that");
    for (const struct option_row *row = rows + 1; row->name; row++)
        if (row->key >= OPTION_OWN && call_option(call, row->key) &&
            !(formats[i].uses & USES(row->key)))
            warn(call, "%s has no use for --%s", formats[i].name, row->name);
    calls = sources_open(call, 1);
    sources_take(calls);
    for (struct call *c = calls; c; c = c->next)
        reader_count(&c->reader);
    sources_warn(calls);
    formats[i].write(calls, path ? path : "-");
    return sources_close(calls);
}

const struct verb verb_export = {
    .name = "export",
    .arguments = "FORMAT SOURCE...",
    .summary = "writes a file for perfetto, gtkwave, babeltrace2, sqlite3 ...",
    .help = help,
    .for_people = true,
    .rows = rows,
    .selects = true,
    .calls = true,
    .run = run,
    .kernel = true,
    .words = "perfetto ctf vcd sqlite json csv"};
