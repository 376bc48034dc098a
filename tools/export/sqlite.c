/* sqlite.c - a database: every field a column, and a view to read. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "export.h"
#include "labels.h"
#include "print.h"
#include "sources.h"

#include <math.h>
#include <sqlite3.h>

#define SEVERITY_TEXT                                                          \
    "case substr(severity, 3) when '0' then 'info' when '1' then 'notice' "    \
    "when '2' then 'warning' when '3' then 'error' end as severity_text"

/* The columns of arguments have no type: each value keeps its own. Values
 * without an integer or real of SQLite are text: 2^63 and above, nan, inf,
 * pointers. */
static const char schema[] =
    "create table source (%sname text, program text, pid integer,%s"
    " end_wall_ns integer, read_wall_ns integer);"
    "create table recorder (id integer primary key, name text,"
    " description text, size integer, lanes integer, overwritten integer,"
    " lost integer, missed integer, estimated integer%s);"
    "create table thread (id integer primary key, number integer,"
    " tid integer, name text%s);"
    "create table format (id integer primary key, format text, file text,"
    " line integer, arguments integer);"
    "create table event (ord integer%s, ns integer, wall_ns integer,"
    " recorder integer references recorder, thread integer references thread,"
    " format integer references format, caller text, severity text,"
    " kind text, message text, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8,"
    " arg9, arg10, arg11, arg12%s%s);"
    "create table span (opened integer%s, closed integer%s,"
    " thread integer references thread, depth integer,"
    " name text, start_ns integer, length_ns integer%s);"
    "create table value (ord integer%s, ns integer, name text,"
    " value%s);";

/* Completes it for one source or for several, of which each row names its own;
 * `merged_ns` is the largest wall-clock time of its source up to an event: sorted
 * by it, events of a source stay in their order. Labels are more columns of
 * `source`. The caller frees it. */
static char *schema_of(bool many)
{
    const char *of = many ? ", source integer references source" : "";
    const char *event = many ? "" : " references event";
    return need_text(
        schema, many ? "id integer primary key, source text unique, " : "",
        many ? " offset_ns integer, error_ns integer," : "", of, of,
        many ? "" : " primary key", of,
        many ? ", merged_ns integer, primary key (source, ord)" : "", event,
        event, of, event, of);
}

/* The view to read, of one source or of several; the columns that formats name
 * come between its two parts. */
#define LOG_WALL                                                               \
    " strftime('%Y-%m-%d %H:%M:%S', wall_ns / 1000000000, 'unixepoch') ||"     \
    " printf('.%09d', wall_ns % 1000000000) as wall,"                          \
    " file || ':' || line as location, thread.name as thread,"                 \
    " recorder.name as recorder, severity, " SEVERITY_TEXT ", kind, message"
#define LOG_FROM                                                               \
    " from event join recorder on recorder.id = event.recorder"                \
    " join format on format.id = event.format"                                 \
    " left join thread on thread.id = event.thread"
static const char *const log_begins[] = {
    "create view log as select ord, ns / 1e9 as seconds," LOG_WALL,
    "create view log as select source.source as source, ord, "
    "wall_ns," LOG_WALL};
static const char *const log_ends[] = {
    LOG_FROM " order by ord",
    LOG_FROM " join source on source.id = event.source"
             " order by merged_ns, event.source, ord"};

struct sqlite {
    struct timeline *timeline; /* of the source that is being written */
    const struct call *calls;
    struct output out;
    sqlite3 *db;
    sqlite3_stmt *event, *format, *span, *late, *value;
    struct ids formats;
    int64_t source;             /* from 1; 0: there is only one */
    int64_t recorders, threads; /* ids of earlier sources; and of formats: */
    int64_t formats_before;
    struct merged {
        uint64_t order, wall_ns;
    } * merged; /* of several sources: the keys of this one's events */
    size_t merged_count, merged_max;
    struct names named;
};
enum { EVENT_COLUMNS = 22 };

static void check(struct sqlite *s, int status)
{
    if (status != SQLITE_OK && status != SQLITE_DONE)
        fail(s->out.call, "%s: %s", s->out.path,
             status == SQLITE_FULL ? "No space left on device"
                                   : sqlite3_errmsg(s->db));
}

static void execute(struct sqlite *s, const char *sql)
{
    check(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}

static sqlite3_stmt *prepare(struct sqlite *s, const char *sql)
{
    sqlite3_stmt *statement;
    check(s, sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL));
    return statement;
}

static void step(struct sqlite *s, sqlite3_stmt *statement)
{
    check(s, sqlite3_step(statement));
    check(s, sqlite3_reset(statement));
    check(s, sqlite3_clear_bindings(statement));
}

/* Columns that are not bound are null. */
static void bind_integer(sqlite3_stmt *to, int column, int64_t value)
{
    sqlite3_bind_int64(to, column, value);
}
static void bind_text(sqlite3_stmt *to, int column, const char *text,
                      size_t size)
{
    text = text_repaired(text, &size);
    if (memchr(text, 0, size)) /* would end it for many of SQLite's functions */
        text = text_shown(text, &size);
    sqlite3_bind_text(to, column, text, (int)size, SQLITE_TRANSIENT);
}
static void bind_string(sqlite3_stmt *to, int column, const char *text)
{
    if (text)
        bind_text(to, column, text, strlen(text));
}
static void bind_hexadecimal(sqlite3_stmt *to, int column, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, value);
    bind_string(to, column, text);
}

static void bind_argument(sqlite3_stmt *to, int column,
                          const struct reader_argument *argument)
{
    char text[32];
    switch (argument->kind) {
    case READER_SIGNED:
    case READER_CHARACTER: bind_integer(to, column, argument->integer); break;
    case READER_UNSIGNED:
        snprintf(text, sizeof text, "%" PRIu64, argument->word);
        if (argument->word > INT64_MAX)
            bind_string(to, column, text);
        else
            bind_integer(to, column, (int64_t)argument->word);
        break;
    case READER_REAL:
        text_real(text, argument->real);
        if (isfinite(argument->real))
            sqlite3_bind_double(to, column, argument->real);
        else
            bind_string(to, column, text);
        break;
    case READER_STRING:
        bind_text(to, column, argument->text, argument->text_size);
        break;
    case READER_POINTER: bind_hexadecimal(to, column, argument->word); break;
    default: break;
    }
}

/* ------------------------------------------------------------------ rows -- */

/* Prepares an insertion of `columns`, and of `more` with several sources. */
static sqlite3_stmt *prepare_rows(struct sqlite *s, const char *table,
                                  unsigned columns, unsigned more)
{
    char sql[3 * (NAMES_MAX + EVENT_COLUMNS) + 64];
    int at = snprintf(sql, sizeof sql, "insert into %s values (?", table);
    columns += s->source ? more : 0;
    while (--columns)
        at += snprintf(sql + at, sizeof sql - (size_t)at, ", ?");
    snprintf(sql + at, sizeof sql - (size_t)at, ")");
    return prepare(s, sql);
}

static void bind_source(const struct sqlite *s, sqlite3_stmt *to, int column)
{
    if (s->source)
        bind_integer(to, column, s->source);
}

static void put_recorders(struct sqlite *s)
{
    const struct reader *reader = &s->timeline->call->reader;
    sqlite3_stmt *to = prepare_rows(s, "recorder", 9, 1);
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *recorder = reader->recorders[i];
        bind_integer(to, 1, s->recorders + (int64_t)i + 1);
        bind_string(to, 2, recorder->shown);
        bind_string(to, 3, recorder->description);
        bind_integer(to, 4, (int64_t)recorder->figures.size);
        bind_integer(to, 5, (int64_t)recorder->figures.lanes);
        bind_integer(to, 6, (int64_t)recorder->figures.overwritten);
        bind_integer(to, 7, (int64_t)recorder->figures.lost);
        bind_integer(to, 8, (int64_t)recorder->figures.missed);
        bind_integer(to, 9, recorder->figures.estimated != 0);
        bind_source(s, to, 10);
        step(s, to);
    }
    sqlite3_finalize(to);
}

static void put_threads(struct sqlite *s)
{
    const struct timeline *t = s->timeline;
    sqlite3_stmt *to = prepare_rows(s, "thread", 4, 1);
    for (size_t i = 0; i < t->lanes_count; i++) {
        const struct reader_thread *thread = t->lanes[i]->thread;
        if (!thread)
            continue;
        bind_integer(to, 1, s->threads + (int64_t)i + 1);
        bind_integer(to, 2, thread->number);
        bind_integer(to, 3, thread->id);
        bind_string(to, 4, thread->name);
        bind_source(s, to, 5);
        step(s, to);
    }
    sqlite3_finalize(to);
}

static int64_t format_of(struct sqlite *s, const struct timeline_event *e)
{
    bool is_new;
    int64_t id =
        s->formats_before + 1 +
        (int64_t)ids_add(&s->formats, e->read.event.format, 0, 0, &is_new);
    size_t size;
    unsigned line = reader_location(e->location, &size);
    if (!is_new)
        return id;
    bind_integer(s->format, 1, id);
    bind_string(s->format, 2, e->format);
    if (line) {
        bind_text(s->format, 3, e->location, size);
        bind_integer(s->format, 4, line);
    }
    bind_integer(s->format, 5, e->arguments_count);
    step(s, s->format);
    return id;
}

/* Reads the keys of a source's events, in their order. */
static void merged_read(struct sqlite *s)
{
    struct reader *reader = &s->timeline->call->reader;
    struct reader_event e;
    uint64_t wall_ns = 0;
    s->merged_count = 0;
    while (reader_next(reader, &e)) {
        ARRAY_NEED(s->merged, s->merged_count + 1, s->merged_max);
        if (e.ns != RECORDER_TIME_UNKNOWN_ && e.realtime_ns > wall_ns)
            wall_ns = e.realtime_ns;
        s->merged[s->merged_count++] = (struct merged){e.event.order, wall_ns};
    }
    timeline_rewind(s->timeline);
}

static uint64_t merged_of(const struct sqlite *s, uint64_t order)
{
    size_t after =
        array_count_to(s->merged, s->merged_count, sizeof *s->merged, order);
    return s->merged_count ? s->merged[after ? after - 1 : 0].wall_ns : 0;
}

static void put_event(struct sqlite *s, const struct timeline_event *e)
{
    const struct reader_event *read = &e->read;
    int64_t format = format_of(s, e);
    const char *message;
    size_t size;
    if (read->kind && strcmp(read->kind, "left") == 0)
        return; /* it has the number of the call that showed it */
    bind_integer(s->event, 1, (int64_t)read->event.order);
    if (read->ns != RECORDER_TIME_UNKNOWN_) {
        bind_integer(s->event, 2, read->ns);
        if (read->realtime_ns)
            bind_integer(s->event, 3, (int64_t)read->realtime_ns);
    }
    bind_integer(s->event, 4, s->recorders + (int64_t)e->recorder + 1);
    if (read->thread)
        bind_integer(s->event, 5, s->threads + (int64_t)e->lane->index + 1);
    bind_integer(s->event, 6, format);
    bind_hexadecimal(s->event, 7, read->event.caller);
    bind_string(s->event, 8, event_severity(&read->event));
    message = reader_message(&s->timeline->call->reader, read, &size);
    bind_string(s->event, 9, read->kind);
    bind_text(s->event, 10, message, size);
    for (unsigned i = 0; i < e->arguments_count; i++)
        bind_argument(s->event, 11 + (int)i, &e->arguments[i]);
    bind_source(s, s->event, 23);
    if (s->source)
        bind_integer(s->event, 24, (int64_t)merged_of(s, read->event.order));
    for (size_t i = 0; i < s->named.all.count; i++) {
        const struct reader_argument *of =
            names_find(s->named.all.names[i], e->arguments, e->arguments_count);
        if (of)
            bind_argument(s->event,
                          EVENT_COLUMNS + (s->source ? 3 : 1) + (int)i, of);
    }
    step(s, s->event);
}

/* Writes a span. `closer` closes it at its time; null: it never ended. `closes`:
 * it is the closer's own, and not cut by that. */
static void put_span(struct sqlite *s, uint64_t order, uint64_t ns,
                     const char *name, const struct timeline_event *closer,
                     bool closes)
{
    bind_integer(s->span, 1, (int64_t)order);
    if (closer && closes)
        bind_integer(s->span, 2, (int64_t)closer->read.event.order);
    bind_string(s->span, 5, name);
    bind_integer(s->span, 6, s->timeline->start_ns + (int64_t)ns);
    if (closer)
        bind_integer(s->span, 7, (int64_t)(closer->ns - ns));
    bind_source(s, s->span, 8);
    step(s, s->span);
}

/* Ends the spans from `depth` on: `closer` closes the first, and cuts the
 * others. */
static void put_spans(struct sqlite *s, const struct timeline_lane *lane,
                      size_t depth, size_t count,
                      const struct timeline_event *closer)
{
    for (size_t i = 0; i < count; i++, depth++) {
        const struct timeline_span *span = &lane->spans[depth];
        bind_integer(s->span, 3, s->threads + (int64_t)lane->index + 1);
        bind_integer(s->span, 4, (int64_t)depth);
        put_span(s, span->order, span->ns, span->name, closer, i == 0);
    }
}

/* Corrects a span that another has cut, and its own record ends now. */
static void put_late_end(struct sqlite *s, const struct timeline_event *e)
{
    if (!e->ended || e->closed)
        return;
    bind_integer(s->late, 1, (int64_t)e->read.event.order);
    bind_integer(s->late, 2, (int64_t)(e->ns - e->ended->ns));
    bind_integer(s->late, 3, (int64_t)e->ended->order);
    bind_source(s, s->late, 4);
    step(s, s->late);
}

/* A row of an asynchronous span: it has no thread and no depth. */
static void put_async(struct sqlite *s, const struct spans_async *async,
                      const struct timeline_event *closer)
{
    char *name = need(strndup(async->name, async->name_size));
    put_span(s, async->order, async->ns, name, closer, true);
    free(name);
}

static void put_values(struct sqlite *s, const struct timeline_event *e)
{
    for (size_t i = 0; i < s->timeline->values_count; i++) {
        const struct timeline_value *value = &s->timeline->values[i];
        const struct reader_argument *argument = timeline_value(value, e);
        if (!argument)
            continue;
        bind_integer(s->value, 1, (int64_t)e->read.event.order);
        bind_integer(s->value, 2, s->timeline->start_ns + (int64_t)e->ns);
        bind_string(s->value, 3, value->label);
        bind_argument(s->value, 4, argument);
        bind_source(s, s->value, 5);
        step(s, s->value);
    }
}

/* ------------------------------------------------------------------- all -- */

/* Adds a column for each label. A name of one is a plain word (labels.c). */
static void columns_add(struct sqlite *s)
{
    const char *name;
    for (size_t i = 0; (name = labels_name(s->calls, i)); i++) {
        char *sql =
            sqlite3_mprintf("alter table source add column \"%w\" text", name);
        execute(s, need(sql));
        sqlite3_free(sql);
    }
}

/* Adds a column for each name that formats give an argument, also to the view. */
static sqlite3_stmt *event_prepare(struct sqlite *s)
{
    unsigned columns = EVENT_COLUMNS + (unsigned)s->named.all.count;
    char *view = need(strdup(log_begins[s->source != 0])), *more;
    for (size_t i = 0; i < s->named.all.count; i++) {
        const char *name = s->named.columns[i];
        more =
            need(sqlite3_mprintf("alter table event add column \"%s\"", name));
        execute(s, more);
        sqlite3_free(more);
        more = need_text("%s, event.\"%s\"", view, name);
        free(view);
        view = more;
    }
    more = need_text("%s%s", view, log_ends[s->source != 0]);
    execute(s, more);
    free(view);
    free(more);
    return prepare_rows(s, "event", columns, 2);
}

/* The file is thrown away if it does not become whole: it needs no journal. */
static void begin(struct sqlite *s)
{
    char *sql = schema_of(s->source != 0);
    int status =
        sqlite3_open(s->out.temporary ? s->out.temporary : ":memory:", &s->db);
    check(s, status);
    execute(s, "pragma journal_mode = off; pragma synchronous = off; begin");
    execute(s, sql);
    free(sql);
    if (sources_labelled(s->calls))
        columns_add(s);
    s->event = event_prepare(s);
    s->format = prepare(s, "insert into format values (?, ?, ?, ?, ?)");
    s->span = prepare_rows(s, "span", 7, 1);
    s->late = prepare(s, s->source ? "update span set closed = ?, length_ns = ?"
                                     " where opened = ? and source = ?"
                                   : "update span set closed = ?, length_ns = ?"
                                     " where opened = ?");
    s->value = prepare_rows(s, "value", 4, 1);
}

static void put_labels(struct sqlite *s)
{
    const struct call *call = s->timeline->call;
    for (size_t i = 0; i < call->labels_count; i++) {
        char *sql = sqlite3_mprintf(
            "update source set \"%w\" = ? where rowid = %lld",
            call->labels[i].name, s->source ? (long long)s->source : 1);
        sqlite3_stmt *statement = prepare(s, need(sql));
        bind_string(statement, 1, call->labels[i].value);
        step(s, statement);
        sqlite3_finalize(statement);
        sqlite3_free(sql);
    }
}

static void put_source(struct sqlite *s)
{
    const struct call *call = s->timeline->call;
    const struct source_note *note = &call->source.note;
    sqlite3_stmt *statement = prepare(
        s, s->source ? "insert into source (name, program, pid, end_wall_ns,"
                       " read_wall_ns, id, source, offset_ns, error_ns)"
                       " values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                     : "insert into source (name, program, pid, end_wall_ns,"
                       " read_wall_ns) values (?, ?, ?, ?, ?)");
    uint64_t ends, read;
    ends = reader_end_realtime(&call->reader, &read);
    bind_string(statement, 1, call->name);
    bind_string(statement, 2, call_program(call));
    sqlite3_bind_int64(statement, 3, (sqlite3_int64)call->reader.pid);
    if (ends)
        sqlite3_bind_int64(statement, 4, (sqlite3_int64)ends);
    if (read)
        sqlite3_bind_int64(statement, 5, (sqlite3_int64)read);
    if (s->source) {
        bind_source(s, statement, 6);
        bind_string(statement, 7, call->title);
        bind_integer(statement, 8, note->offset_ns);
        if (note->error_ns)
            bind_integer(statement, 9, note->error_ns);
    }
    step(s, statement);
    sqlite3_finalize(statement);
    put_labels(s);
}

/* Writes all of a source; its ids follow the ids of the source before. */
static void put_all(struct sqlite *s)
{
    struct timeline *t = s->timeline;
    struct timeline_event e;
    put_source(s);
    put_recorders(s);
    put_threads(s);
    if (s->source)
        merged_read(s);
    while (timeline_next(t, &e)) {
        put_spans(s, e.lane, e.lane->depth, e.closed, &e);
        put_late_end(s, &e);
        if (e.step == SPANS_CLOSES && e.was_open)
            put_async(s, &e.async, &e);
        put_event(s, &e);
        put_values(s, &e);
    }
    for (size_t i = 0; i < t->lanes_count; i++)
        put_spans(s, t->lanes[i], 0, t->lanes[i]->depth, NULL);
    for (size_t i = 0; i < t->asyncs.count; i++)
        if (t->asyncs.at[i].open)
            put_async(s, &t->asyncs.at[i], NULL);
    s->recorders += (int64_t)t->call->reader.recorders_count;
    s->threads += (int64_t)t->lanes_count;
    s->formats_before += (int64_t)s->formats.count;
    ids_free(&s->formats);
    s->formats = (struct ids){0};
}

static void end(struct sqlite *s)
{
    sqlite3_finalize(s->event);
    sqlite3_finalize(s->format);
    sqlite3_finalize(s->span);
    sqlite3_finalize(s->late);
    sqlite3_finalize(s->value);
    if (s->source)
        execute(s, "create index event_merged on event (merged_ns);"
                   "create index event_wall on event (wall_ns)");
    execute(s, "create index event_recorder on event (recorder);"
               "create index event_thread on event (thread); commit");
    if (!s->out.temporary) { /* to a pipe */
        sqlite3_int64 size;
        unsigned char *all = need(sqlite3_serialize(s->db, "main", &size, 0));
        fwrite(all, 1, (size_t)size, s->out.file);
        output_check(&s->out);
        sqlite3_free(all);
    }
    check(s, sqlite3_close(s->db));
}

void export_sqlite(struct call *calls, const char *path)
{
    struct sqlite s = {.calls = calls, .source = calls->title != NULL};
    struct timeline *all;
    size_t count, i;
    output_open(&s.out, calls, path);
    for (struct call *call = calls; call; call = call->next)
        names_read(&s.named, call);
    all = timelines_open(calls, EXPORT_VALUE, &count);
    for (i = 0; i < count; i++) {
        s.timeline = &all[i];
        if (i == 0)
            begin(&s);
        put_all(&s);
        s.source += calls->title != NULL;
    }
    end(&s);
    free(s.merged);
    timelines_close(all, count);
    output_close(&s.out);
    names_close(&s.named);
}
