/* print.h - events and numbers as text, JSON and CSV; tables; whole files. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"
#include "offer.h"

/* ------------------------------------------------------------------ text.c -- */

/* Escapes a text of a source as in messages: bytes that are no UTF-8, control a
 * terminal (C0, DEL, C1), end a line or turn the direction of text become \n,
 * \x1b and so on. The command prints each text of a source by this function or,
 * in lines, by recorder_add_name_() and recorder_format_(), which agree; JSON
 * writes the same characters as \u2028. Valid until the next call. */
const char *text_shown(const char *text, size_t *size);

/* Returns the length of the UTF-8 character at `at`; 0: there is none. */
size_t text_character(const char *at, size_t size);
/* Cuts a text to whole characters of at most `most` bytes; returns its size. */
size_t text_cut(const char *text, size_t size, size_t most);
/* Returns a text with U+FFFD for bytes that are no UTF-8; the same text if
 * there are none. Valid until the next call. */
const char *text_repaired(const char *text, size_t *size);
#define TEXT_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Makes the shortest text that reads back as the same number, and as no
 * integer: 1.0; "nan", "inf". */
void text_real(char to[32], double real);

/* ---------------------------------------------------------------- fields.c -- */

/* The fields, in their order; the arguments of an event come besides. */
#define FIELD_LIST(FIELD)                                                      \
    FIELD(ORDER, "order")                                                      \
    FIELD(NS, "ns")                                                            \
    FIELD(WALL_NS, "wall_ns")                                                  \
    FIELD(RECORDER, "recorder")                                                \
    FIELD(SEVERITY, "severity")                                                \
    FIELD(SEVERITY_TEXT, "severity_text")                                      \
    FIELD(KIND, "kind")                                                        \
    FIELD(THREAD, "thread")                                                    \
    FIELD(THREAD_NAME, "thread_name")                                          \
    FIELD(TID, "tid")                                                          \
    FIELD(LOCATION, "location")                                                \
    FIELD(FILE, "file")                                                        \
    FIELD(LINE, "line")                                                        \
    FIELD(CALLER, "caller")                                                    \
    FIELD(FORMAT, "format")                                                    \
    FIELD(MESSAGE, "message")
#define FIELD_NUMBER(id, name) FIELD_##id,
enum { FIELD_LIST(FIELD_NUMBER) FIELDS };
/* Their names, for an array. */
#define FIELD_NAME(id, name) name,
#define FIELD_NAMES FIELD_LIST(FIELD_NAME)

/* "sw2", and its level in syslog and OpenTelemetry, "warning"; or null: the
 * event has no severity. */
const char *event_severity(const struct recorder_event *);
const char *event_severity_text(const struct recorder_event *);
/* Returns the severity of a level's name, in any case; -1: it is none. */
int severity_of_text(const char *text, size_t size);

/* Makes the values, in the form of arguments: READER_LOST is unknown. Valid
 * until the next message is made. */
void fields_of(struct reader *, const struct reader_event *,
               struct reader_argument to[FIELDS]);

/* ------------------------------------------------------------------ json.c -- */

/* Prints JSON by a format of printf(), in which ' is a quotation mark, %s a
 * string, or null, and %hhd true or false. */
#define json_put(file, ...) put_to(file, PUT_JSON, __VA_ARGS__)
/* Prints by a format of printf() whose texts, %s, %8s or %-*s, are escaped. */
#define text_put(file, ...) put_to(file, PUT_SHOWN, __VA_ARGS__)
enum put { PUT_JSON, PUT_HTML /* JSON in a page */, PUT_SHOWN };
__attribute__((format(printf, 3, 4))) void put_to(FILE *, enum put,
                                                  const char *format, ...);
/* Prints a member of stdout: `,"name":12`; null if the number is unknown. */
void json_count(const char *name, uint64_t number, bool known);
/* Prints an argument: a number, a string or null. */
void json_argument(FILE *, const struct reader_argument *);
/* Begins an object with name, labels, process and clock of a source, each with
 * a comma after it; with none if it is the only source and has no labels. */
void json_source(FILE *, const struct call *);
/* Prints an event as an object, as `dump --json` does, without a newline. */
void json_event(FILE *, struct call *, const struct reader_event *);

/* ------------------------------------------------------------------- csv.c -- */

/* Print one line with its CRLF: the names of the columns, with one source also
 * the names that formats give arguments; an event. The head reads all events,
 * from the first. `calls`: of these sources it is one (sources.h). */
void csv_head(FILE *, struct call *calls);
void csv_event(FILE *, const struct call *calls, struct call *,
               const struct reader_event *);

/* ------------------------------------------------------------------ line.c -- */

/* True if lines shall be in colour: "always", "never", "auto" or null. */
bool line_color(const struct call *, const char *when);
/* Writes an event's line; with `functions`, the function that recorded it. */
void line_write(FILE *, struct call *, const struct reader_event *,
                bool in_color, bool functions);

/* ----------------------------------------------------------------- names.c -- */

/* "bytes" of "bytes=%d", in the order in which they come; zeros: none. */
struct names {
    struct offer all;
    char **columns; /* unlike each other and other fields */
    size_t columns_count;
};
enum { NAMES_MAX = 256 };

/* Adds the names in the events that were taken, and rewinds the reader.
 * Columns of names that differ in case only get a _, all but the first. */
void names_read(struct names *, struct call *);
/* Returns the argument of a name, or null. */
const struct reader_argument *
names_find(const char *name, const struct reader_argument *, unsigned count);
void names_close(struct names *);

/* ------------------------------------------------------------- histogram.c -- */

/* Sorts some times, for the functions below. */
void histogram_sort(uint64_t *ns, size_t count);
/* The time within which `thousandths` of all end; `count` is at least 1. */
uint64_t histogram_within(const uint64_t *ns, size_t count, size_t thousandths);
/* Steps of 1, 2, 5, 10 ...: how many took no longer, and a bar. */
void histogram_print(const uint64_t *ns, size_t count);
/* Prints these steps as "[from,to,count]", with commas between them. */
void histogram_json(const uint64_t *ns, size_t count);
/* Prints ","p50_ns":1,"p90_ns":2" and so on, with a name for the first. */
void histogram_parts_json(const uint64_t *ns, size_t count, const char *middle);

/* ---------------------------------------------------------------- tables.c -- */

/* The recorders that are chosen, with their figures of reader_count(), threads
 * and tweaks; with a column of the slots in use. */
void tables(FILE *, const struct reader *, bool slots);
/* Prints nothing, not even a head, if there are none. */
void table_threads(FILE *, const struct reader *);

/* The width of a column that has room for a text, too. */
int table_width(const char *text, int width);
/* Writes "744", or "~744" where it is an estimate. Returns `to`. */
const char *table_count(uint64_t count, bool estimated, char to[32]);
/* Returns the width of the column with the recorders' names. */
int table_names_width(const struct reader *);

/* Makes "80.0 us", "2.74 ms", "1.059 s", "3.50 h", "4.2 d" of nanoseconds, and
 * "80.028 us", "2.741 ms" where they are compared with each other. */
const char *table_time(uint64_t ns, char to[32]);
const char *table_time_exact(uint64_t ns, char to[32]);
/* The time from the oldest to the newest record that a recorder keeps; false if
 * one of them is unknown, or if they are not in order. */
bool table_span(const struct reader_recorder *, uint64_t *ns);

/* -------------------------------------------------------------- progress.c -- */

/* Shows progress on a terminal, after half a second; done == of: the end. */
void progress(struct call *, uint64_t done, uint64_t of);

/* ---------------------------------------------------------------- output.c -- */

/* A file that appears under its name only when it is whole: the caller writes
 * another file in the same folder, which output_close() renames. Only its owner
 * may read it, as records can be secret; a file that it replaces
 * keeps its mode. "-" is stdout. Fails by fail(). */
struct output {
    struct call *call;
    const char *path;
    char *temporary;     /* null: stdout, a pipe or a device */
    FILE *file, *stream; /* `stream`: gets the bytes of `file` in the end */
};
void output_open(struct output *, struct call *, const char *path);
/* Lets the caller write at any place of `file`, also where that is a pipe: then
 * `file` becomes one without a name, which output_close() copies. */
void output_seekable(struct output *);
void output_close(struct output *); /* checks for a full disk, and renames */
/* Ends the command if a write failed. Called often, so that a full disk is
 * noticed soon. */
void output_check(struct output *);

/* Begins a folder under a temporary name, for its owner only; the folder of that
 * name must not exist, or be empty. */
void output_folder(struct output *, struct call *, const char *path);
/* Adds bytes to a file of the folder; creates it first if need be. */
void output_append(struct output *, const char *name, const void *from,
                   size_t size);
/* Makes a folder in it, of the first of these names that is free: `name`, with
 * _ for all that a file's name is better without, name-2, name-3 ... Returns
 * that, and a slash, to be freed. */
char *output_subfolder(struct output *, const char *name);
/* Gives the folder its final name. */
void output_folder_close(struct output *);

/* Makes a template for mkstemp(), of a temporary name in the folder of `path`; to
 * be freed. */
char *output_beside(const char *path);
/* Registers a path to be removed if the command ends before the rename. */
void output_temporary(const char *path);
