/* text.h - an event as a line of text, the same from every reader. */
/* SPDX-License-Identifier: MIT */
/*
    struct recorder_string to = recorder_string_at(text, sizeof text);
    recorder_add_line(&to, RECORDER_LINE_DEFAULT, &shown);

PROMISES
    * No memory, no library call, safe in signal handlers.
    * What does not fit is counted in `size`, never written.
*/
#ifndef RECORDER_TEXT_H_
#define RECORDER_TEXT_H_

#include "clock.h"
#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RECORDER_LINE_DEFAULT                                                  \
    "{order} [{seconds} {location} T{thread}] {recorder}: {message}"
#define RECORDER_LINE_MAX 4096

RECORDER_INLINE_ size_t recorder_length(const char *text, size_t max)
{
    size_t length = 0;
    while (length < max && text[length])
        length++;
    return length;
}

/* ---------------------------------------------------------------- string -- */

/* A text that grows up to `max` bytes; `size` counts those that did not fit,
 * too. */
struct recorder_string {
    char *to;
    size_t max, size;
};

RECORDER_INLINE_ struct recorder_string recorder_string_at(char *to, size_t max)
{
    struct recorder_string empty = {to, max, 0};
    return empty;
}

RECORDER_FUNCTION_ void recorder_add_text(struct recorder_string *s,
                                          const char *text, size_t size)
{
    size_t i;
    for (i = 0; i < size && s->size + i < s->max; i++)
        s->to[s->size + i] = text[i];
    s->size += size;
}
RECORDER_INLINE_ void recorder_add_string(struct recorder_string *s,
                                          const char *text)
{
    recorder_add_text(s, text, recorder_length(text, RECORDER_LINE_MAX));
}
/* Adds a number, with at least `digits` digits. */
RECORDER_FUNCTION_ void recorder_add_number(struct recorder_string *s,
                                            uint64_t number, unsigned base,
                                            unsigned digits)
{
    char text[20];
    unsigned at = sizeof text;
    do {
        text[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (at > 0 && (number || sizeof text - at < digits));
    recorder_add_text(s, text + at, sizeof text - at);
}

/* Adds a name; control characters become '?', so that it breaks no line. */
RECORDER_FUNCTION_ void recorder_add_name(struct recorder_string *s,
                                          const char *name, size_t max)
{
    size_t i;
    for (i = 0; i < max; i++) {
        char c = __atomic_load_n(&name[i], __ATOMIC_RELAXED);
        if (!c)
            return;
        recorder_add_text(s, (unsigned char)c < ' ' || c == 0x7f ? "?" : &c, 1);
    }
}

/* "2026-11-20 20:25:11.123456", UTC. Years count from March, so that the leap
 * day comes last: 153 days are 5 months, 1461 days 4 years, 146097 days 400. */
RECORDER_FUNCTION_ void recorder_add_wall(struct recorder_string *s,
                                          uint64_t realtime_ns)
{
    uint64_t seconds = realtime_ns / 1000000000u;
    uint64_t days = seconds / 86400 + 719468; /* from March 1st of year 0 */
    uint64_t era = days / 146097, day = days % 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    uint64_t of_year = day - (365 * year + year / 4 - year / 100);
    uint64_t month = (5 * of_year + 2) / 153;
    uint64_t number = month < 10 ? month + 3 : month - 9;
    recorder_add_number(s, year + era * 400 + (number <= 2), 10, 4);
    recorder_add_string(s, "-");
    recorder_add_number(s, number, 10, 2);
    recorder_add_string(s, "-");
    recorder_add_number(s, of_year - (153 * month + 2) / 5 + 1, 10, 2);
    recorder_add_string(s, " ");
    recorder_add_number(s, seconds / 3600 % 24, 10, 2);
    recorder_add_string(s, ":");
    recorder_add_number(s, seconds / 60 % 60, 10, 2);
    recorder_add_string(s, ":");
    recorder_add_number(s, seconds % 60, 10, 2);
    recorder_add_string(s, ".");
    recorder_add_number(s, realtime_ns / 1000 % 1000000, 10, 6);
}

RECORDER_FUNCTION_ void recorder_add_seconds(struct recorder_string *s,
                                             int64_t ns)
{
    uint64_t us = (uint64_t)(ns < 0 ? -ns : ns) / 1000;
    if (ns < 0)
        recorder_add_string(s, "-");
    recorder_add_number(s, us / 1000000, 10, 1);
    recorder_add_string(s, ".");
    recorder_add_number(s, us % 1000000, 10, 6);
}

/* ---------------------------------------------------------------- format -- */

/* Ends the `size` bytes that were read of a format, and marks it by "..." where
 * its own end is not among them; `bytes` has room for 1 more, and for 4 in all.
 * Returns the length of the format, `size` where it is marked. */
RECORDER_INLINE_ size_t recorder_format_end(char *bytes, size_t size)
{
    size_t length = recorder_length(bytes, size);
    bytes[size] = '\0';
    if (length == size)
        recorder_bytes(bytes + (size > 3 ? size - 3 : 0), "...", 4);
    return length;
}

/* Adds the message of an event whose format cannot be read: its address, and
 * the words of the arguments that were found. */
RECORDER_FUNCTION_ void recorder_add_unreadable(
    struct recorder_string *to, const struct recorder_event *event)
{
    unsigned i;
    recorder_add_string(to, "<format at 0x");
    recorder_add_number(to, event->format, 16, 1);
    recorder_add_string(to, ">");
    for (i = 0; i < 12 && !(event->lost >> i & 1); i++) {
        recorder_add_string(to, " 0x");
        recorder_add_number(to, event->argument[i], 16, 1);
    }
}

/* ------------------------------------------------------------------ line -- */

/* Returns "file.c:12" of "dir/file.c:12", or "?" if the location holds control
 * characters. */
RECORDER_INLINE_ const char *recorder_location_name(const char *location)
{
    const char *name = location, *at = location;
    for (; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return "?";
        if (*at == '/')
            name = at + 1;
    }
    return name;
}

enum recorder_field {
    RECORDER_ORDER,
    RECORDER_SECONDS,
    RECORDER_WALL,
    RECORDER_LOCATION,
    RECORDER_CALLER,
    RECORDER_THREAD_NUMBER,
    RECORDER_THREAD_NAME,
    RECORDER_NAME,
    RECORDER_MESSAGE,
    RECORDER_FIELDS
};

/* Reads a field from behind its brace: returns its kind, and sets its width
 * (below 0: filled from the left) and its end. RECORDER_FIELDS: no such field.
 */
RECORDER_FUNCTION_ enum recorder_field
recorder_field(const char *at, const char **end, int *width)
{
    static const char names[RECORDER_FIELDS][12] = {
        "order",  "seconds", "wall",     "location", "caller",
        "thread", "name",    "recorder", "message"};
    unsigned field, i;
    bool left;
    for (field = 0; field < RECORDER_FIELDS; field++) {
        for (i = 0; names[field][i] && at[i] == names[field][i]; i++)
            ;
        if (!names[field][i] && (at[i] == '}' || at[i] == ':'))
            break;
    }
    *width = 0;
    if (field == RECORDER_FIELDS)
        return RECORDER_FIELDS;
    at += i;
    if (*at == ':') {
        left = *++at == '-';
        for (at += left; *at >= '0' && *at <= '9' && *width < 1000; at++)
            *width = *width * 10 + (*at - '0');
        if (left)
            *width = -*width;
    }
    *end = at + 1;
    return *at == '}' ? (enum recorder_field)field : RECORDER_FIELDS;
}

/* An event and the values of its fields, ready to print. */
struct recorder_shown {
    const struct recorder_event *event;
    int64_t ns;             /* since the start; RECORDER_TIME_UNKNOWN */
    uint64_t realtime_ns;   /* of the start, since 1970; 0: unknown */
    const char *location;   /* "dir/file.c:12" */
    const char *thread;     /* its name, 15 bytes; null: thread unknown */
    const char *name;       /* of the recorder; null: unknown */
    size_t name_size;       /* bytes that may be read, NUL or not */
    const char *message;
    size_t message_size;    /* of the whole */
    size_t message_max;     /* bytes of it that can be read */
};

RECORDER_FUNCTION_ void recorder_add_field(struct recorder_string *to,
                                           const struct recorder_shown *shown,
                                           enum recorder_field field)
{
    const struct recorder_event *event = shown->event;
    bool timed = shown->ns != RECORDER_TIME_UNKNOWN;
    size_t size = shown->message_size, max = shown->message_max;
    switch (field) {
    case RECORDER_ORDER: recorder_add_number(to, event->order, 10, 1); break;
    case RECORDER_SECONDS:
        if (timed)
            recorder_add_seconds(to, shown->ns);
        else
            recorder_add_string(to, "?");
        break;
    case RECORDER_WALL:
        if (timed && shown->realtime_ns)
            recorder_add_wall(to, shown->realtime_ns + (uint64_t)shown->ns);
        else
            recorder_add_string(to, "?");
        break;
    case RECORDER_LOCATION:
        recorder_add_string(to, recorder_location_name(shown->location));
        break;
    case RECORDER_CALLER:
        recorder_add_string(to, "0x");
        recorder_add_number(to, event->caller, 16, 1);
        break;
    case RECORDER_THREAD_NUMBER:
        if (shown->thread)
            recorder_add_number(to, event->thread, 10, 1);
        else
            recorder_add_string(to, "?");
        break;
    case RECORDER_THREAD_NAME:
        recorder_add_name(to, shown->thread ? shown->thread : "?", 16);
        break;
    case RECORDER_NAME:
        recorder_add_name(to, shown->name ? shown->name : "?",
                          shown->name ? shown->name_size : 1);
        break;
    default:
        recorder_add_text(to, shown->message, size < max ? size : max);
        if (size > max)
            to->size += size - max;
    }
}

/* Adds a field, filled with blanks to its width. */
RECORDER_FUNCTION_ void recorder_add_column(struct recorder_string *to,
                                            const struct recorder_shown *shown,
                                            enum recorder_field field,
                                            int width)
{
    size_t start = to->size, columns = (size_t)(width < 0 ? -width : width);
    size_t length, blanks, i;
    recorder_add_field(to, shown, field);
    length = to->size - start;
    if (length >= columns || start + columns > to->max)
        return;
    blanks = columns - length;
    to->size += blanks;
    for (i = length; width > 0 && i-- > 0;)
        to->to[start + blanks + i] = to->to[start + i];
    for (i = 0; i < blanks; i++)
        to->to[start + (width > 0 ? i : length + i)] = ' ';
}

/* Returns the first unknown field of a line format, from behind its brace, or
 * null if all fields are known. */
RECORDER_FUNCTION_ const char *recorder_line_check(const char *line)
{
    const char *end;
    int width;
    for (; *line; line++) {
        if (*line != '{')
            continue;
        if (line[1] == '{')
            line++;
        else if (recorder_field(line + 1, &end, &width) == RECORDER_FIELDS)
            return line + 1;
    }
    return NULL;
}
#define RECORDER_LINE_FIELDS                                                   \
    "{order} {seconds} {wall} {location} {caller} {thread} {name} {recorder} " \
    "{message}"

/* Adds the line of an event, by a format such as RECORDER_LINE_DEFAULT. */
RECORDER_FUNCTION_ void recorder_add_line(struct recorder_string *to,
                                          const char *line,
                                          const struct recorder_shown *shown)
{
    const char *end;
    int width;
    while (*line) {
        enum recorder_field field = RECORDER_FIELDS;
        if (*line == '{')
            field = recorder_field(line + 1, &end, &width);
        if (*line == '{' && line[1] == '{')
            line++;
        if (field == RECORDER_FIELDS) {
            recorder_add_text(to, line++, 1);
            continue;
        }
        recorder_add_column(to, shown, field, width);
        line = end;
    }
}

/* Ends a line by a newline, and marks it if it was cut; `to` must have room for
 * a byte more than `max`. */
RECORDER_FUNCTION_ void recorder_end_line(struct recorder_string *to)
{
    static const char cut[] = "...[cut]";
    if (to->size > to->max) {
        to->size = to->max - (sizeof cut - 1);
        recorder_add_text(to, cut, sizeof cut - 1);
    }
    to->to[to->size++] = '\n';
}

/* ------------------------------------------------------------------ head -- */

/* Adds "FLIGHT RECORDER DUMP AT 2026-11-20 20:25:11.417324 UTC, PID 4711, 258
 * RECORDS"; without a clock that knows the date, and without processes, only
 * "FLIGHT RECORDER DUMP, 258 RECORDS". */
RECORDER_FUNCTION_ void recorder_add_head(struct recorder_string *to,
                                          uint64_t realtime_ns, uint64_t pid,
                                          bool more, uint64_t records)
{
    recorder_add_string(to, "FLIGHT RECORDER DUMP");
    if (realtime_ns) {
        recorder_add_string(to, " AT ");
        recorder_add_wall(to, realtime_ns);
        recorder_add_string(to, " UTC");
    }
    if (pid) {
        recorder_add_string(to, ", PID ");
        recorder_add_number(to, pid, 10, 1);
    }
    recorder_add_string(to, ", ");
    if (more)
        recorder_add_string(to, "MORE THAN ");
    recorder_add_number(to, records, 10, 1);
    recorder_add_string(to, " RECORDS\n");
}

/* Adds "DUMPING net SIZE 256, 256 ENTRIES, 1744 OVERWRITTEN, 2 LOST". Entries
 * are records; "~1744" is an estimate. */
RECORDER_FUNCTION_ void recorder_add_summary(
    struct recorder_string *to, const char *name, size_t name_size,
    const struct recorder_figures *figures)
{
    recorder_add_string(to, "DUMPING ");
    if (name)
        recorder_add_text(to, name, recorder_length(name, name_size));
    recorder_add_string(to, " SIZE ");
    if (figures->lanes > 1) {
        recorder_add_number(to, figures->lanes, 10, 1);
        recorder_add_string(to, " x ");
    }
    recorder_add_number(to, figures->size, 10, 1);
    recorder_add_string(to, ", ");
    recorder_add_number(to, figures->kept, 10, 1);
    recorder_add_string(to, " ENTRIES");
    if (figures->overwritten) {
        recorder_add_string(to, figures->estimated ? ", ~" : ", ");
        recorder_add_number(to, figures->overwritten, 10, 1);
        recorder_add_string(to, " OVERWRITTEN");
    }
    if (figures->lost) {
        recorder_add_string(to, ", ");
        recorder_add_number(to, figures->lost, 10, 1);
        recorder_add_string(to, " LOST");
    }
    recorder_add_string(to, "\n");
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
