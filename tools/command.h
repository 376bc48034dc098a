/* command.h - verbs, their options, and the call of one: for all of tools. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <setjmp.h>
#include <signal.h>

#include "array.h"
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

/* Rows of verbs that show or count records. */
#define ROW_GREP                                                               \
    {                                                                          \
        OPTION_GREP, "grep", "REGEX",                                          \
            "only records whose message matches: extended syntax, any case "   \
            "unless a letter is a capital; of several, all"                    \
    }
#define ROW_WHERE                                                              \
    {                                                                          \
        OPTION_WHERE, "where", "CONDITION",                                    \
            "only records whose arguments meet it: 'net: bytes>1000 "          \
            "peer=alpha', for recorders named net, with \"bytes=%d\" and "     \
            "\"peer=%s\" in their formats; or by place: '2>=0.5'; > < >= "     \
            "<= = != & (a bit is set) ~ (a text has the REGEX). Of several, "  \
            "any"                                                              \
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
    bool follows;    /* --last 0 says something */
    bool unprepared; /* of programs without recorders, too */
    bool calls;      /* shows calls one by one: recorder_functions.h */
    bool kernel;     /* shows switches that the kernel has, too */
    bool starts;     /* a program, whose arguments are no options of the verb */
    int trouble;     /* exit status for trouble; 0: 1 */
    bool registries; /* takes --registry all */
    bool for_people; /* heeds --internal */
    const char *words; /* that its first argument is one of; null: any */
};

/* One file a verb, in verbs/. */
extern const struct verb verb_list, verb_dump, verb_follow, verb_set, verb_save,
    verb_log, verb_watch, verb_export, verb_view, verb_diff, verb_explain,
    verb_threads, verb_tasks, verb_sched, verb_latency, verb_spans, verb_run,
    verb_ps, verb_why, verb_trace, verb_functions;

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
    struct call *next;    /* of several SOURCES (sources.h); or null */
    char *title;          /* names one of several; null: it is the only one */
    uint64_t pid_shown;   /* of several: one that no other has */
    struct label *labels; /* labels.h */
    size_t labels_count;
    const char *line;       /* --line, or null */
    const char *images[16]; /* --memory */
    struct codes *codes;    /* --formats */
};

/* The value of an option, the last if it was given more than once; null: it
 * was not given. */
const char *call_option(const struct call *, int key);
/* The name of the first option that chooses among events; null: there is none. */
const char *call_selects(const struct call *);
/* Options without a letter that more than one verb has. */
enum {
    OPTION_SINCE = 1000,
    OPTION_UNTIL,
    OPTION_REGISTRY,
    OPTION_MEMORY,
    OPTION_ELF,
    OPTION_SYSROOT,
    OPTION_SEVERITY,
    OPTION_FORMATS,
    OPTION_LABEL,
    OPTION_GREP,
    OPTION_WHERE,
    OPTION_REQUEST,
    OPTION_INTERNAL,
    OPTION_OWN
};

/* --------------------------------------------------------------- options -- */

/* The options of all verbs, and the options that choose among events. */
extern const struct option_row common_rows[], selection_rows[];
enum { ROWS_MAX = 64 };
/* Lists all rows of a verb, its own first. Returns how many. */
int rows_of(const struct verb *, const struct option_row *to[ROWS_MAX]);

/* Parses a command line. Returns false if it asks for help. */
bool parse(struct call *, int argc, char **argv);
/* Takes over the options that choose events, without --since and --until, whose
 * times call_take() reads. */
void selection_parse(struct call *);

/* Reads a number up to `most` of an option `what`, or ends the command. */
uint64_t number_of(const struct call *, const char *text, const char *what,
                   uint64_t most);
/* Reads "1.5s", "20ms", "-2m", "1h" as nanoseconds. False: it is none. */
bool span_of(const char *text, int64_t *ns);
/* Reads "64M", "2G" as bytes. 0: it is none. */
uint64_t size_of(const char *text);

/* Opens argument `i` as the call's source and reader, and applies the
 * selection. On failure, says why and exits with 1. */
void call_open(struct call *, int i);
/* Opens a reader of its source, with its selection; ends the command if that
 * fails. */
void call_reader_open(struct call *);
/* Takes, then applies --since and --until, which may be relative. Ends the
 * command if the take fails. */
void call_take(struct call *);
void call_close(struct call *);
/* Calls does() for one of several SOURCES. False: it failed, and said why.
 * does() may call fail(), but not misuse(), which ends the command. */
bool call_try(struct call *, void (*does)(struct call *));
/* Takes, and warns of switches that cannot be read; no more. */
void call_take_all(struct call *);
/* Reads a WHEN; true: it is a time, else an order. */
bool call_when(struct call *, const char *text, uint64_t *order, int64_t *ns);
/* Returns the time of the newest kept record, or 0. */
int64_t call_newest_ns(struct call *);
/* End the command if the selection's names are of no recorder of these sources;
 * if it, too, has a thread or a --where that none of them has. `follow` only
 * warns. */
void call_names_check(const struct call *);
void call_selection_check(struct call *);
/* Ends the command if a --where matches no record of these sources, and could
 * match none. */
void call_filters_check(const struct call *);
/* Warns of files that were not opened, whose bytes are missing. */
void call_warn_missing(const struct call *);
/* Warns if a recorder lacks records in places that are not known. */
void call_warn_lacking(const struct call *, const struct reader_recorder *);
/* The name of the source's program, or of the source where that is unknown. */
const char *call_program(const struct call *);

/* Replaces stderr and exit() for a call by the library, inside a user's
 * process: see library/. Null in the command. */
struct call_host {
    FILE *error, *warnings; /* without `recorder: `, and usage; or null */
    jmp_buf end;
};
extern _Thread_local struct call_host *call_host;

/* The exit status of fail() from now on; it begins with 1. */
void trouble_set(int status);
/* Says `recorder: SOURCE: what is wrong` on stderr and exits with 1, or as
 * trouble_set() says. */
_Noreturn void fail(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns 0 if all of stdout was written, else fails. */
int stdout_flush(const struct call *);
/* Says what is wrong, then the usage as --help does, and exits with 2. */
_Noreturn void misuse(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Warns on stderr; the call continues. */
void warn(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, of a source that is damaged: the command then ends with the status
 * for trouble, which trouble_or() returns in place of 0. */
void damage(const struct call *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int trouble_or(int status);

/* From the call on, Ctrl-C, SIGTERM and SIGHUP set this, and do no more. */
extern volatile sig_atomic_t command_stopped;
void command_stops(void);

/* One line of how a verb, or the command if null, is called. */
void usage(FILE *, const struct verb *);

/* ------------------------------------------------------------------ help -- */

/* Returns the verb of a name, or null. */
const struct verb *help_verb(const char *name);
/* "list, dump, ...": all of them. */
const char *help_verbs(void);
/* Print the help of a verb, of "options" or, null, of all; and the texts made of
 * it. */
void help_show(const char *of);
void help_man_page(void);
void help_completion(void);
