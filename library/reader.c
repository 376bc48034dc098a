/* reader.c - sources, records, recorders and threads, as C functions. */
/* SPDX-License-Identifier: MIT */
#include "filters.h"
#include "print.h"
#define RECORDER_OFF /* for its version only */
#include "recorder.h"

#include "handle.h"
#include "labels.h"

#include <pthread.h>

enum { OPTION_BY_TIME = OPTION_OWN, OPTION_FOLLOW };

static const struct option_row rows[] = {
    {OPTION_BY_TIME, "by-time", NULL, "by ascending times, not by orders"},
    {OPTION_FOLLOW, "follow", NULL, "each record once, when it is whole"},
    {0, NULL, NULL, NULL}};
static const struct verb reading = {.name = "reader",
                                    .arguments = "SOURCE",
                                    .rows = rows,
                                    .selects = true,
                                    .kernel = true};
/* A library of the program may bring recorders that are named. */
static const struct verb following = {.name = "reader",
                                      .arguments = "SOURCE",
                                      .rows = rows,
                                      .selects = true,
                                      .follows = true};

const char *recorder_reader_version(void)
{
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
    return TEXT(RECORDER_VERSION_MAJOR) "." TEXT(
        RECORDER_VERSION_MINOR) "." TEXT(RECORDER_VERSION_PATCH);
}

/* ------------------------------------------------------------ in and out -- */

static pthread_mutex_t in = PTHREAD_MUTEX_INITIALIZER;

/* The tools keep texts that they return in variables of the process. */
void library_enter(struct recorder_reader *r)
{
    pthread_mutex_lock(&in);
    call_host = &r->host;
    cut_watch(&r->cut);
}

bool library_leave(struct recorder_reader *r)
{
    if (r->cut)
        snprintf(r->said, sizeof r->said, "%s: was cut off while it was read",
                 r->call.name);
    cut_watch(NULL);
    call_host = NULL;
    pthread_mutex_unlock(&in);
    return !r->cut;
}

/* The error that the call left: the host's stream, without the newline. */
static void error_keep(struct recorder_reader *r)
{
    if (fflush(r->host.error) != 0 || !r->error)
        return;
    r->error[strcspn(r->error, "\n")] = '\0';
    snprintf(r->said, sizeof r->said, "%s", r->error);
    rewind(r->host.error);
}

void library_fail(struct recorder_reader *r)
{
    error_keep(r);
    r->failed = true;
    library_leave(r);
}

/* ------------------------------------------------------------------ open -- */

static char *string_keep(struct recorder_reader *r, const char *string)
{
    return r->strings[r->strings_count++] = need(strdup(string));
}

/* Adds an option by its name, as the command line would have it. */
static void option_add(struct recorder_reader *r, const char *name,
                       const char *value)
{
    const struct option_row *all[ROWS_MAX];
    struct call *call = &r->call;
    int count = rows_of(call->verb, all), i = 0;
    while (i < count && strcmp(all[i]->name, name) != 0)
        i++;
    if (i == count || all[i]->key == 'h')
        misuse(call, "%s: unknown option", name);
    if (call->options_count == 64)
        misuse(call, "too many options");
    call->options[call->options_count].key = all[i]->key;
    call->options[call->options_count++].value = string_keep(r, value);
}

static void open_all(struct recorder_reader *r, const char *source,
                     const char *const *options)
{
    struct call *call = &r->call;
    call->verb = &reading;
    for (const char *const *o = options; o && *o && o[1]; o += 2)
        if (strcmp(*o, "follow") == 0)
            call->verb = &following;
    for (const char *const *o = options; o && *o && o[1]; o += 2)
        option_add(r, *o, o[1]);
    call->arguments = &r->strings[r->strings_count];
    call->arguments_count = 1;
    string_keep(r, source);
    selection_parse(call);
    call_open(call, 0);
    call->reader.by_time = call_option(call, OPTION_BY_TIME);
    call->reader.follows = call_option(call, OPTION_FOLLOW);
    call_take(call);
    reader_count(&call->reader);
}

static void reader_free(struct recorder_reader *r)
{
    reader_close(&r->call.reader);
    source_close(&r->call.source);
    codes_free(r->call.codes);
    filters_free(r->call.selection.filters);
    labels_free(&r->call);
    for (size_t i = 0; i < r->strings_count; i++)
        free(r->strings[i]);
    if (r->host.error)
        fclose(r->host.error);
    if (r->host.warnings)
        fclose(r->host.warnings);
    free(r->error);
    free(r->warnings);
    texts_free(&r->texts);
    free(r);
}

/* False: something is wrong, and kept in `said`. */
static bool opened(struct recorder_reader *r, const char *source,
                   const char *const *options)
{
    if (setjmp(r->host.end) == 0) {
        open_all(r, source, options);
        return !r->cut;
    }
    error_keep(r);
    return false;
}

struct recorder_reader *recorder_reader_open(const char *source,
                                             const char *const *options,
                                             char *why, size_t why_size)
{
    struct recorder_reader *r = calloc(1, sizeof *r);
    bool done;
    if (r) {
        r->host.error = open_memstream(&r->error, &r->error_size);
        r->host.warnings = open_memstream(&r->warnings, &r->warnings_size);
    }
    if (!r || !r->host.error || !r->host.warnings) {
        snprintf(why, why_size, "there is no memory left");
        if (r)
            reader_free(r);
        return NULL;
    }
    library_enter(r);
    cut_begin();
    done = opened(r, source, options);
    if (!done)
        cut_end();
    library_leave(r);
    if (done)
        return r;
    snprintf(why, why_size, "%s", r->said);
    reader_free(r);
    return NULL;
}

void recorder_reader_close(struct recorder_reader *r)
{
    if (!r)
        return;
    library_enter(r);
    cut_end();
    library_leave(r);
    reader_free(r);
}

const char *recorder_reader_error(const struct recorder_reader *r)
{
    return r->said;
}

const char *recorder_reader_warnings(struct recorder_reader *r)
{
    const struct reader *reader = &r->call.reader;
    long end;
    LIBRARY_ENTER(r, "");
    end = ftell(r->host.warnings);
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->wrong)
            warn(&r->call, "recorder %s: %s", reader->recorders[i]->name,
                 reader->recorders[i]->wrong);
    call_warn_missing(&r->call);
    fflush(r->host.warnings);
    fseek(r->host.warnings, end, SEEK_SET); /* the rings report these again */
    library_leave(r);
    return r->warnings ? r->warnings : "";
}

/* --------------------------------------------------------------- records -- */

bool library_next(struct recorder_reader *r, struct reader_argument *fields)
{
    if (r->cut || !reader_next(&r->call.reader, &r->event))
        return false;
    fields_of(&r->call.reader, &r->event, fields);
    return true;
}

static unsigned arguments_make(struct recorder_reader *r)
{
    struct reader_argument from[12];
    unsigned count = reader_arguments(&r->call.reader, &r->event, from);
    reader_unmark(from, count);
    for (unsigned i = 0; i < count; i++)
        r->arguments[i] = (struct recorder_reader_argument){
            .word = from[i].word,
            .integer = from[i].integer,
            .real = from[i].real,
            .text = from[i].kind == READER_STRING ? from[i].text : NULL,
            .text_size = from[i].text_size,
            .kind = from[i].kind,
            .may_have_changed = from[i].changes,
            .name = from[i].name};
    return count;
}

static const char *text_of(const struct reader_argument *field)
{
    return field->kind == READER_STRING ? field->text : NULL;
}

static void event_make(struct recorder_reader *r,
                       const struct reader_argument *f,
                       struct recorder_reader_event *to)
{
    const struct reader_event *e = &r->event;
    bool timed = f[FIELD_NS].kind != READER_LOST;
    bool dated = f[FIELD_WALL_NS].kind != READER_LOST;
    *to = (struct recorder_reader_event){
        .order = f[FIELD_ORDER].word,
        .ns = timed ? e->ns : RECORDER_READER_UNKNOWN,
        .wall_ns = dated ? (int64_t)e->realtime_ns : RECORDER_READER_UNKNOWN,
        .caller = f[FIELD_CALLER].word,
        .thread = e->thread ? e->thread->number : 0,
        .tid = e->thread ? e->thread->id : 0,
        .line = (uint32_t)f[FIELD_LINE].word,
        .argument_bytes = sizeof *r->arguments,
        .arguments = r->arguments,
        .recorder = f[FIELD_RECORDER].text,
        .severity = text_of(&f[FIELD_SEVERITY]),
        .thread_name = text_of(&f[FIELD_THREAD_NAME]),
        .location = f[FIELD_LOCATION].text,
        .format = text_of(&f[FIELD_FORMAT]),
        .message = f[FIELD_MESSAGE].text,
        .message_size = f[FIELD_MESSAGE].text_size};
    if (f[FIELD_FILE].kind == READER_STRING) {
        snprintf(r->file, sizeof r->file, "%.*s",
                 (int)(f[FIELD_FILE].text_size % sizeof r->file),
                 f[FIELD_FILE].text);
        to->file = r->file;
    }
}

/* Copies a structure into one of another size, of an older or newer caller. */
static void copy_sized(void *to, size_t to_size, const void *from, size_t size)
{
    memcpy(to, from, size < to_size ? size : to_size);
    if (size < to_size)
        memset((char *)to + size, 0, to_size - size);
}

int recorder_reader_next(struct recorder_reader *r,
                         struct recorder_reader_event *to, size_t size)
{
    struct reader_argument fields[FIELDS];
    struct recorder_reader_event event;
    LIBRARY_ENTER(r, -1);
    r->has_event = library_next(r, fields);
    if (r->has_event) {
        event_make(r, fields, &event);
        event.arguments_count = arguments_make(r);
        copy_sized(to, size, &event, sizeof event);
    }
    return library_leave(r) ? r->has_event : -1;
}

const char *recorder_reader_line(struct recorder_reader *r)
{
    const char *line;
    LIBRARY_ENTER(r, "");
    line = r->has_event
               ? reader_line(&r->call.reader, &r->event, r->call.line, NULL)
               : "";
    library_leave(r);
    return line;
}

int recorder_reader_rewind(struct recorder_reader *r)
{
    LIBRARY_ENTER(r, -1);
    r->has_event = false;
    reader_rewind(&r->call.reader);
    return library_leave(r) ? 0 : -1;
}

int recorder_reader_take(struct recorder_reader *r)
{
    struct reader *reader = &r->call.reader;
    const char *wrong;
    LIBRARY_ENTER(r, -1);
    r->has_event = false;
    wrong = reader_take(reader);
    if (wrong)
        snprintf(r->said, sizeof r->said, "%s: %s", r->call.name, wrong);
    else
        reader_count(reader);
    return library_leave(r) && !wrong ? 0 : -1;
}

uint64_t recorder_reader_missed(const struct recorder_reader *r)
{
    return r->call.reader.missed;
}

/* ------------------------------------------------------------------ what -- */

int recorder_reader_get_recorder(struct recorder_reader *r, size_t i,
                                 struct recorder_reader_recorder *to,
                                 size_t size)
{
    const struct reader *reader = &r->call.reader;
    const struct reader_recorder *from;
    struct recorder_reader_recorder recorder;
    if (i >= reader->recorders_count)
        return 0;
    from = reader->recorders[i];
    recorder = (struct recorder_reader_recorder){
        .name = from->shown,
        .description = from->description,
        .wrong = from->wrong,
        .trace = from->trace,
        .slots = from->figures.size,
        .lanes = from->figures.lanes,
        .kept = from->figures.kept,
        .overwritten = from->figures.overwritten,
        .lost = from->figures.lost,
        .oldest_ns = from->oldest_ns == RECORDER_TIME_UNKNOWN_
                         ? RECORDER_READER_UNKNOWN
                         : from->oldest_ns,
        .newest_ns = from->newest_ns == RECORDER_TIME_UNKNOWN_
                         ? RECORDER_READER_UNKNOWN
                         : from->newest_ns,
        .missed = from->figures.missed};
    copy_sized(to, size, &recorder, sizeof recorder);
    return 1;
}

int recorder_reader_get_thread(struct recorder_reader *r, size_t i,
                               struct recorder_reader_thread *to, size_t size)
{
    const struct reader *reader = &r->call.reader;
    const struct reader_thread *from;
    struct recorder_reader_thread thread;
    if (i >= reader->threads_count)
        return 0;
    from = &reader->threads[i];
    thread =
        (struct recorder_reader_thread){.name = from->name,
                                        .number = from->number,
                                        .id = from->id,
                                        .alive = from->known ? from->alive : -1,
                                        .is_task = from->is_task};
    copy_sized(to, size, &thread, sizeof thread);
    return 1;
}

void recorder_reader_get_program(struct recorder_reader *r,
                                 struct recorder_reader_program *to,
                                 size_t size)
{
    const struct reader *reader = &r->call.reader;
    const struct recorder_reader_program program = {
        .name = reader->program,
        .pid = reader->pid,
        .start_wall_ns = (int64_t)reader->clock.start.realtime_ns,
        .live = r->call.source.pid != 0,
        .word_bytes = (int32_t)reader->memory->word_bytes};
    copy_sized(to, size, &program, sizeof program);
}
