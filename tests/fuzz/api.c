/* api.c - reads a hostile file through librecorder, as other languages do. */
/* SPDX-License-Identifier: MIT */
/*
   What must hold of any file: no sanitizer speaks, memory is given back, texts
   end where they say, no more is written than the caller has room for, numbers
   of texts have texts, and both ways to read give the same records, again after
   a rewind.
*/
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "recorder_reader.h"
#include "tests/harness/shown.h"

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* -------------------------------------------------------------- records -- */

static void text_check(const char *text, uint64_t size)
{
    must(text && text[size] == '\0');
}

static void event_check(struct recorder_reader *r,
                        const struct recorder_reader_event *e)
{
    const char *line = recorder_reader_line(r);
    const char *texts[] = {e->recorder,    e->location, e->message, e->severity,
                           e->thread_name, e->file,     e->format};
    uint32_t i;
    must(!shown_wrong(line, strlen(line)));
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        must(texts[i] ? strlen(texts[i]) < 1 << 20 : i > 2);
    text_check(e->message, e->message_size);
    must(e->arguments_count <= 12 &&
         e->argument_bytes == sizeof(struct recorder_reader_argument));
    for (i = 0; i < e->arguments_count; i++) {
        const struct recorder_reader_argument *a = &e->arguments[i];
        must(a->kind <= RECORDER_READER_LOST);
        must(!a->text == (a->kind != RECORDER_READER_STRING));
        if (a->text)
            text_check(a->text, a->text_size);
    }
}

/* Of a caller with an older header: it knows less of the structure. */
static uint64_t read_events(struct recorder_reader *r, size_t known)
{
    struct recorder_reader_event *e = malloc(known);
    uint64_t count = 0;
    int next;
    must(e != NULL);
    while ((next = recorder_reader_next(r, e, known)) > 0) {
        if (known == sizeof *e)
            event_check(r, e);
        count++;
    }
    must(next == 0 || *recorder_reader_error(r));
    free(e);
    return count;
}

enum { ROWS = 37, ARGUMENTS = 5 };

/* Arrays of their own, so that a sanitizer sees a row too many. */
struct room {
    struct recorder_reader_columns columns;
    void *arrays[15];
    size_t count;
};

static void *array(struct room *room, size_t bytes)
{
    void *at = malloc(bytes);
    must(at != NULL);
    return room->arrays[room->count++] = at;
}

static void room_make(struct room *room)
{
    struct recorder_reader_columns *c = &room->columns;
    *room = (struct room){.columns = {.rows = ROWS, .arguments = ARGUMENTS}};
    c->order = array(room, ROWS * sizeof *c->order);
    c->ns = array(room, ROWS * sizeof *c->ns);
    c->wall_ns = array(room, ROWS * sizeof *c->wall_ns);
    c->caller = array(room, ROWS * sizeof *c->caller);
    c->recorder = array(room, ROWS * sizeof *c->recorder);
    c->severity = array(room, ROWS * sizeof *c->severity);
    c->thread = array(room, ROWS * sizeof *c->thread);
    c->thread_name = array(room, ROWS * sizeof *c->thread_name);
    c->tid = array(room, ROWS * sizeof *c->tid);
    c->location = array(room, ROWS * sizeof *c->location);
    c->format = array(room, ROWS * sizeof *c->format);
    c->message = array(room, ROWS * sizeof *c->message);
    c->argument = array(room, ROWS * ARGUMENTS * sizeof *c->argument);
    c->kind = array(room, ROWS * ARGUMENTS * sizeof *c->kind);
    c->argument_name = array(room, ROWS * ARGUMENTS * sizeof *c->argument_name);
}

static void number_check(struct recorder_reader *r, uint32_t number)
{
    size_t size;
    const char *text = recorder_reader_text(r, number, &size);
    if (number)
        text_check(text, size);
}

static uint64_t read_columns(struct recorder_reader *r)
{
    struct room room;
    const struct recorder_reader_columns *c = &room.columns;
    uint64_t count = 0;
    int64_t filled, i, k;
    room_make(&room);
    do {
        filled = recorder_reader_fill(r, c, sizeof *c);
        must(filled <= ROWS && (filled >= 0 || *recorder_reader_error(r)));
        for (i = 0; i < filled; i++) {
            const uint32_t numbers[] = {c->recorder[i],    c->severity[i],
                                        c->thread_name[i], c->location[i],
                                        c->format[i],      c->message[i]};
            for (k = 0; k < 6; k++)
                number_check(r, numbers[k]);
            for (k = i * ARGUMENTS; k < (i + 1) * ARGUMENTS; k++) {
                must(c->kind[k] <= RECORDER_READER_LOST);
                number_check(r, c->argument_name[k]);
                if (c->kind[k] == RECORDER_READER_STRING)
                    number_check(r, (uint32_t)c->argument[k]);
            }
        }
        count += filled > 0 ? (uint64_t)filled : 0;
    } while (filled == ROWS);
    while (room.count)
        free(room.arrays[--room.count]);
    return count;
}

/* ---------------------------------------------------------------- lists -- */

static void read_lists(struct recorder_reader *r)
{
    struct recorder_reader_recorder recorder;
    struct recorder_reader_thread thread;
    struct recorder_reader_program program;
    size_t i;
    for (i = 0;
         recorder_reader_get_recorder(r, i, &recorder, sizeof recorder) > 0;
         i++)
        must(strlen(recorder.name) + strlen(recorder.description) < 1 << 20);
    for (i = 0; recorder_reader_get_thread(r, i, &thread, sizeof thread) > 0;
         i++)
        must(strlen(thread.name) < 64);
    recorder_reader_get_program(r, &program, sizeof program);
    must(strlen(program.name) < 1 << 16);
    must(program.word_bytes == 4 || program.word_bytes == 8);
    must(strlen(recorder_reader_warnings(r)) < 1 << 20);
}

bool fuzz_api(const char *path, unsigned which)
{
    static const char *const ways[][5] = {
        {NULL},
        {"names", "n.*|t.*", "last", "20", NULL},
        {"grep", "[0-9]e?", "where", "1>=0", NULL},
        {"follow", "", NULL},
        {"by-time", "", "severity", "1", NULL},
        {"since", "-1s", "until", "now", NULL},
        {"thread", "1", "line", "{wall} {name} {message}", NULL}};
    char why[256] = "";
    struct recorder_reader *r =
        recorder_reader_open(path, ways[which % 7], why, sizeof why);
    uint64_t count;
    if (!r) {
        must(*why && strlen(why) < sizeof why);
        return false;
    }
    read_lists(r);
    count = read_events(r, sizeof(struct recorder_reader_event));
    if (which % 7 != 3) { /* a follower is given each record once */
        must(recorder_reader_rewind(r) == 0);
        must(read_columns(r) == count);
        must(recorder_reader_rewind(r) == 0);
        must(read_events(r, which % 2 ? 8 : 64) == count);
    }
    must(recorder_reader_take(r) == 0 || *recorder_reader_error(r));
    read_columns(r);
    read_lists(r);
    recorder_reader_close(r);
    return true;
}
