/* command.h - what every verb of the recorder command is made of. */
/* SPDX-License-Identifier: MIT */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdarg.h>
#include <stdio.h>

#include "reader.h"
#include "source.h"

/* An option of a verb; help, man page and completion are made of these. */
struct option_row {
    int key;              /* its letter, or 256 and up where it has none */
    const char *name;     /* --name */
    const char *argument; /* "FILE", or null: it takes none */
    const char *help;
};

/* Of verbs that show recorders. */
#define ROW_NAMES                                                              \
    {                                                                          \
        'n', "names", "REGEX",                                                 \
            "only recorders whose whole name matches: extended syntax, any "   \
            "case"                                                             \
    }

struct call;

struct verb {
    const char *name;
    const char *arguments;         /* "SOURCE" or "PID SETTINGS" */
    const char *summary;           /* one line */
    const char *help;              /* paragraphs, or null */
    const struct option_row *rows; /* ends with a row without name; or null */
    bool selects; /* takes the options that choose events, too */
    int (*run)(struct call *);
};

/* One file a verb. */
extern const struct verb verb_list, verb_dump, verb_follow, verb_stat, verb_set,
    verb_clear, verb_save, verb_export, verb_view;

struct call_option {
    int key;
    const char *value; /* "" where it takes none */
};

/* A verb as it was called: its options and arguments, all strings of argv. */
struct call {
    const struct verb *verb;
    const char *name; /* of the source, argument 0 */
    char **arguments;
    int arguments_count;
    struct call_option options[64];
    int options_count;
    struct source source;
    struct reader reader;
    struct reader_selection selection;
    const char *line;       /* --line, or null */
    const char *images[16]; /* --memory */
};

/* The value of an option, the last if it was given more than once; null: it
 * was not given. */
const char *call_option(const struct call *, int key);
/* Options without a letter that more than one verb has. */
enum {
    OPTION_SINCE = 1000,
    OPTION_UNTIL,
    OPTION_REGISTRY,
    OPTION_MEMORY,
    OPTION_ELF,
    OPTION_OWN
};

/* Opens argument `i` as the call's source and reader and applies the selection;
 * says what is wrong and exits with 1. */
void call_open(struct call *, int i);
/* reader_take(), and what of the selection needs times: --since -1s. Fails if
 * that does. */
void call_take(struct call *);
void call_close(struct call *);

/* Says `recorder: SOURCE: what is wrong` on stderr and exits with 1. */
_Noreturn void fail(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Says it, with what --help says of the usage, and exits with 2. */
_Noreturn void misuse(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A word on stderr; the call goes on. */
void warn(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* memory that is there, or the end */
void *need(void *memory);

/* ---------------------------------------------------------------- output -- */

/* A file that appears under its name only when it is whole: written beside it
 * under another name, and renamed. "-" is stdout. Fails by fail(). */
struct output {
    struct call *call;
    const char *path;
    char *temporary; /* null: stdout */
    FILE *file;
};
void output_open(struct output *, struct call *, const char *path);
void output_close(struct output *); /* checks for a full disk, and renames */

/* Shows how far a verb is, on a terminal, after half a second. */
void progress(struct call *, uint64_t done, uint64_t of);

/* A JSON string, quoted; bytes that are no UTF-8 become U+FFFD, `<`, `>` and
 * `&` are escaped where it will stand in HTML. */
void json_string(FILE *, const char *text, size_t size, bool in_html);
/* One event as an object, as `dump --json` prints it, without a newline. */
void json_event(FILE *, struct call *, const struct reader_event *);

#endif
