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
    bool follows; /* --last 0 says something */
};

/* One file a verb, in verbs/. */
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
/* Does an option choose among events? */
bool call_selects(const struct call *);
/* Options without a letter that more than one verb has. */
enum {
    OPTION_SINCE = 1000,
    OPTION_UNTIL,
    OPTION_REGISTRY,
    OPTION_MEMORY,
    OPTION_ELF,
    OPTION_SYSROOT,
    OPTION_SEVERITY,
    OPTION_OWN
};

/* --------------------------------------------------------------- options -- */

/* The options of all verbs, and of those that choose among events. */
extern const struct option_row common_rows[], selection_rows[];
enum { ROWS_MAX = 64 };
/* All rows of a verb, its own first; how many. */
int rows_of(const struct verb *, const struct option_row *to[ROWS_MAX]);

/* Takes a command line apart; false: it asks for help. */
bool parse(struct call *, int argc, char **argv);
/* Takes over the options that choose events, without --since and --until, whose
 * times call_take() reads. */
void selection_parse(struct call *);

/* Nanoseconds of "1.5s", "20ms", "-2m", "1h"; false: it is none. */
bool span_of(const char *text, int64_t *ns);

/* Opens argument `i` as the call's source and reader and applies the selection;
 * says what is wrong and exits with 1. */
void call_open(struct call *, int i);
/* Takes, then applies --since and --until, which may be relative. Fails if
 * that does. */
void call_take(struct call *);
void call_close(struct call *);
/* The name of the source's program, or of the source where that is unknown. */
const char *call_program(const struct call *);

/* Says `recorder: SOURCE: what is wrong` on stderr and exits with 1. */
_Noreturn void fail(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Says it, with what --help says of the usage, and exits with 2. */
_Noreturn void misuse(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A word on stderr; the call goes on. */
void warn(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One line of how a verb, or the command if null, is called. */
void usage(FILE *, const struct verb *);

/* memory that is there, or the end */
void *need(void *memory);

/* ------------------------------------------------------------------ help -- */

/* The verb of a name; null: there is none. */
const struct verb *help_verb(const char *name);
/* "list, dump, ...": all of them. */
const char *help_verbs(void);
/* The text of --help, of a verb or, if null, of all; and what is made of it. */
void help_show(const struct verb *);
void help_man_page(void);
void help_completion(void);

#endif
