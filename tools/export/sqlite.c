/* sqlite.c - a database: every field a column, and a view to read. */
/* SPDX-License-Identifier: MIT */
#include "export.h"
#include "names.h"
#include "shown.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* The columns of arguments have no type: each value keeps its own. Values
 * without an integer or real of SQLite are text: 2^63 and above, nan, inf,
 * pointers. */
/* Lines of logs have no order, which is then no key. */
#define SCHEMA(key, by)                                                        \
    "create table source (name text, program text, pid integer,"               \
    " end_wall_ns integer, read_wall_ns integer);"                             \
    "create table recorder (id integer primary key, name text, description "   \
    "text,"                                                                    \
    " size integer, lanes integer, overwritten integer, lost integer,"         \
    " estimated integer);"                                                     \
    "create table thread (id integer primary key, number integer, tid "        \
    "integer,"                                                                 \
    " name text);"                                                             \
    "create table format (id integer primary key, format text, file text,"     \
    " line integer, arguments integer);"                                       \
    "create table event (ord integer " key ", ns integer, wall_ns integer,"    \
    " recorder integer references recorder, thread integer references thread," \
    " format integer references format, caller text, severity text,"           \
    " kind text,"                                                              \
    " message text,"                                                           \
    " arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11,"     \
    " arg12);"                                                                 \
    "create table span (opened integer references event, closed integer"       \
    " references event, thread integer references thread, depth integer,"      \
    " name text, start_ns integer, length_ns integer);"                        \
    "create table value (ord integer references event, ns integer, name text," \
    " value);"                                                                 \
    "create view log as select ord, ns / 1e9 as seconds,"                      \
    " strftime('%Y-%m-%d %H:%M:%S', wall_ns / 1000000000, 'unixepoch') ||"     \
    " printf('.%06d', wall_ns / 1000 % 1000000) as wall,"                      \
    " file || ':' || line as location, thread.name as thread,"                 \
    " recorder.name as recorder, severity, kind, message"                      \
    " from event join recorder on recorder.id = event.recorder"                \
    " join format on format.id = event.format"                                 \
    " left join thread on thread.id = event.thread order by " by ";"

struct sqlite {
    struct timeline timeline;
    struct output out;
    sqlite3 *db;
    sqlite3_stmt *event, *format, *span, *late, *value;
    struct ids formats;
    struct names named;
};
enum { EVENT_COLUMNS = 22 };

static void check(struct sqlite *s, int status)
{
    if (status != SQLITE_OK && status != SQLITE_DONE)
        fail(s->timeline.call, "%s: %s", s->out.path,
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

static void put_recorders(struct sqlite *s)
{
    const struct reader *reader = &s->timeline.call->reader;
    sqlite3_stmt *to =
        prepare(s, "insert into recorder values (?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *recorder = reader->recorders[i];
        bind_integer(to, 1, (int64_t)i + 1);
        bind_string(to, 2, recorder->name);
        bind_string(to, 3, recorder->description);
        bind_integer(to, 4, (int64_t)recorder->figures.size);
        bind_integer(to, 5, (int64_t)recorder->figures.lanes);
        bind_integer(to, 6, (int64_t)recorder->figures.overwritten);
        bind_integer(to, 7, (int64_t)recorder->figures.lost);
        bind_integer(to, 8, recorder->figures.estimated != 0);
        step(s, to);
    }
    sqlite3_finalize(to);
}

static void put_threads(struct sqlite *s)
{
    const struct timeline *t = &s->timeline;
    sqlite3_stmt *to = prepare(s, "insert into thread values (?, ?, ?, ?)");
    for (size_t i = 0; i < t->lanes_count; i++) {
        const struct reader_thread *thread = t->lanes[i]->thread;
        if (!thread)
            continue;
        bind_integer(to, 1, (int64_t)i + 1);
        bind_integer(to, 2, thread->number);
        bind_integer(to, 3, thread->id);
        bind_string(to, 4, thread->name);
        step(s, to);
    }
    sqlite3_finalize(to);
}

static int64_t format_of(struct sqlite *s, const struct timeline_event *e)
{
    bool is_new;
    int64_t id =
        (int64_t)ids_of(&s->formats, e->read.event.format, 0, 0, &is_new) + 1;
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

static void put_event(struct sqlite *s, const struct timeline_event *e)
{
    const struct reader_event *read = &e->read;
    int64_t format = format_of(s, e);
    const char *message;
    size_t size;
    if (!read->outside)
        bind_integer(s->event, 1, (int64_t)read->event.order);
    if (read->ns != RECORDER_TIME_UNKNOWN_) {
        bind_integer(s->event, 2, read->ns);
        if (read->realtime_ns)
            bind_integer(s->event, 3, (int64_t)read->realtime_ns);
    }
    bind_integer(s->event, 4, (int64_t)e->recorder + 1);
    if (read->thread)
        bind_integer(s->event, 5, (int64_t)e->lane->index + 1);
    bind_integer(s->event, 6, format);
    if (!read->outside)
        bind_hexadecimal(s->event, 7, read->event.caller);
    bind_string(s->event, 8, event_severity(&read->event));
    message = reader_message(&s->timeline.call->reader, read, &size);
    bind_string(s->event, 9, read->kind);
    bind_text(s->event, 10, message, size);
    for (unsigned i = 0; i < e->arguments_count; i++)
        bind_argument(s->event, 11 + (int)i, &e->arguments[i]);
    for (size_t i = 0; i < s->named.count; i++) {
        const struct reader_argument *of =
            names_find(s->named.at[i], e->arguments, e->arguments_count);
        if (of)
            bind_argument(s->event, EVENT_COLUMNS + 1 + (int)i, of);
    }
    step(s, s->event);
}

/* Ends the spans from `depth` on: of those that an event ends, the first is its
 * own, and the others are closed by nobody. Null: they never ended. */
static void put_spans(struct sqlite *s, const struct timeline_lane *lane,
                      size_t depth, size_t count,
                      const struct timeline_event *closer)
{
    for (size_t i = 0; i < count; i++, depth++) {
        const struct timeline_span *span = &lane->spans[depth];
        bind_integer(s->span, 1, (int64_t)span->order);
        if (closer && i == 0)
            bind_integer(s->span, 2, (int64_t)closer->read.event.order);
        if (closer)
            bind_integer(s->span, 7, (int64_t)(closer->ns - span->ns));
        bind_integer(s->span, 3, (int64_t)lane->index + 1);
        bind_integer(s->span, 4, (int64_t)depth);
        bind_string(s->span, 5, span->name);
        bind_integer(s->span, 6, s->timeline.start_ns + (int64_t)span->ns);
        step(s, s->span);
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
    step(s, s->late);
}

/* A row of an asynchronous span: it has no thread and no depth. */
static void put_async(struct sqlite *s, const struct spans_async *async,
                      const struct timeline_event *closer)
{
    char *name = need(strndup(async->name, async->name_size));
    bind_integer(s->span, 1, (int64_t)async->order);
    if (closer) {
        bind_integer(s->span, 2, (int64_t)closer->read.event.order);
        bind_integer(s->span, 7, (int64_t)(closer->ns - async->ns));
    }
    bind_string(s->span, 5, name);
    bind_integer(s->span, 6, s->timeline.start_ns + (int64_t)async->ns);
    step(s, s->span);
    free(name);
}

static void put_values(struct sqlite *s, const struct timeline_event *e)
{
    for (size_t i = 0; i < s->timeline.values_count; i++) {
        const struct timeline_value *value = &s->timeline.values[i];
        const struct reader_argument *argument = timeline_value(value, e);
        if (!argument)
            continue;
        bind_integer(s->value, 1, (int64_t)e->read.event.order);
        bind_integer(s->value, 2, s->timeline.start_ns + (int64_t)e->ns);
        bind_string(s->value, 3, value->label);
        bind_argument(s->value, 4, argument);
        step(s, s->value);
    }
}

/* ------------------------------------------------------------------- all -- */

/* Adds a column for each name that formats give an argument. */
static sqlite3_stmt *event_prepare(struct sqlite *s)
{
    char sql[2 * (NAMES_MAX + EVENT_COLUMNS) + 64], text[512];
    size_t at = (size_t)sprintf(sql, "insert into event values (?");
    for (size_t i = 0; i < s->named.count; i++) {
        snprintf(text, sizeof text, "alter table event add column \"%s\"",
                 s->named.columns[i]);
        execute(s, text);
    }
    for (size_t i = 1; i < EVENT_COLUMNS + s->named.count; i++)
        at += (size_t)snprintf(sql + at, sizeof sql - at, ",?");
    snprintf(sql + at, sizeof sql - at, ")");
    return prepare(s, sql);
}

/* The file is thrown away if it does not become whole: it needs no journal. */
static void begin(struct sqlite *s)
{
    int status =
        sqlite3_open(s->out.temporary ? s->out.temporary : ":memory:", &s->db);
    check(s, status);
    execute(s, "pragma journal_mode = off; pragma synchronous = off; begin");
    execute(s, s->timeline.outside ? SCHEMA("unique", "event.rowid")
                                   : SCHEMA("primary key", "ord"));
    s->event = event_prepare(s);
    s->format = prepare(s, "insert into format values (?, ?, ?, ?, ?)");
    s->span = prepare(s, "insert into span values (?, ?, ?, ?, ?, ?, ?)");
    s->late = prepare(s, "update span set closed = ?, length_ns = ?"
                         " where opened = ?");
    s->value = prepare(s, "insert into value values (?, ?, ?, ?)");
}

static void put_source(struct sqlite *s)
{
    const struct call *call = s->timeline.call;
    sqlite3_stmt *statement =
        prepare(s, "insert into source values (?, ?, ?, ?, ?)");
    uint64_t ends, read;
    ends = reader_end_realtime(&call->reader, &read);
    sqlite3_bind_text(statement, 1, call->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, call_program(call), -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, (sqlite3_int64)call->reader.pid);
    if (ends)
        sqlite3_bind_int64(statement, 4, (sqlite3_int64)ends);
    if (read)
        sqlite3_bind_int64(statement, 5, (sqlite3_int64)read);
    step(s, statement);
    sqlite3_finalize(statement);
}

static void end(struct sqlite *s)
{
    sqlite3_finalize(s->event);
    sqlite3_finalize(s->format);
    sqlite3_finalize(s->span);
    sqlite3_finalize(s->late);
    sqlite3_finalize(s->value);
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

void export_sqlite(struct call *call, const char *path)
{
    struct sqlite s = {0};
    struct timeline *t = &s.timeline;
    struct timeline_event e;
    output_open(&s.out, call, path);
    names_read(&s.named, call);
    timeline_open(t, call, EXPORT_VALUE);
    begin(&s);
    put_source(&s);
    put_recorders(&s);
    put_threads(&s);
    while (timeline_next(t, &e)) {
        put_spans(&s, e.lane, e.lane->depth, e.closed, &e);
        put_late_end(&s, &e);
        if (e.step == SPANS_CLOSES && e.was_open)
            put_async(&s, &e.async, &e);
        put_event(&s, &e);
        put_values(&s, &e);
    }
    for (size_t i = 0; i < t->lanes_count; i++)
        put_spans(&s, t->lanes[i], 0, t->lanes[i]->depth, NULL);
    for (size_t i = 0; i < t->asyncs.count; i++)
        if (t->asyncs.at[i].open)
            put_async(&s, &t->asyncs.at[i], NULL);
    end(&s);
    timeline_close(t);
    output_close(&s.out);
    ids_free(&s.formats);
    names_close(&s.named);
}
