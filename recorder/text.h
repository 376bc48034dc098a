/* text.h - an event as a line of text, the same from every reader. */
/* SPDX-License-Identifier: MIT */
/*
    struct recorder_string_ to = recorder_string_at_(text, sizeof text);
    recorder_line_read_(&line, RECORDER_LINE_DEFAULT_);
    recorder_add_line_(&to, &line, &shown);

PROMISES
    * No memory, no library call, safe in signal handlers.
      -> tests/inside/line.c
    * Bytes that do not fit are counted in `size`, never written.
      -> tests/inside/line.c
*/
#ifndef RECORDER_TEXT_H_
#define RECORDER_TEXT_H_

#include "clock.h"
#include "event.h"
#include "format.h"
#include "heading.h"

RECORDER_C_BEGIN_

#define RECORDER_LINE_DEFAULT_                                                 \
    "{order} [{seconds} {location} T{thread}] {recorder}: {severity}{message}"
#define RECORDER_TEXT_LINE_MAX_ 4096
#define RECORDER_PROGRAM_MAX_ 64 /* bytes of a program's name, with its NUL */

RECORDER_FUNCTION_ size_t recorder_length_(const char *text, size_t max)
{
    size_t length = 0;
    while (length < max && text[length])
        length++;
    return length;
}

/* ---------------------------------------------------------------- string -- */

RECORDER_INLINE_ struct recorder_string_ recorder_string_at_(char *to,
                                                             size_t max)
{
    struct recorder_string_ empty = {to, max, 0};
    return empty;
}

RECORDER_SELDOM_ void recorder_add_string_(struct recorder_string_ *s,
                                           const char *text)
{
    recorder_add_text_(s, text,
                       recorder_length_(text, RECORDER_TEXT_LINE_MAX_));
}
/* Adds a number, with at least `digits` digits. */
RECORDER_SELDOM_ void recorder_add_number_(struct recorder_string_ *s,
                                             uint64_t number, unsigned base,
                                             unsigned digits)
{
    char text[20], *end = text + sizeof text;
    const char *from =
        base == 16 ? recorder_format_digits_(end, number, 4, false, digits)
                   : recorder_format_whole_(end, number, digits);
    recorder_add_text_(s, from, (size_t)(end - from));
}
/* Adds a text, then a decimal number. */
RECORDER_SELDOM_ void recorder_add_behind_(struct recorder_string_ *s,
                                           const char *before, uint64_t number,
                                           unsigned digits)
{
    recorder_add_string_(s, before);
    recorder_add_number_(s, number, 10, digits);
}

/* True of a character of ASCII that is shown as it is. */
RECORDER_INLINE_ bool recorder_text_is_plain_(char c)
{
    return c >= ' ' && c < 0x7f;
}
/* Returns the length of the character at s[0..size) if it is shown as it is; 0
 * if it is escaped, as it is no text or controls the terminal. */
RECORDER_SELDOM_ size_t recorder_text_shown_(const char *s, size_t size)
{
    size_t length = 1;
    if (!recorder_text_is_plain_(*s))
        length = recorder_format_sequence_(s, size);
    return length <= size ? length : 0;
}

/* Adds a name, escaped like the text of messages. */
RECORDER_SELDOM_ void recorder_add_name_(struct recorder_string_ *s,
                                           const char *name, size_t max)
{
    struct recorder_formatter_ f;
    size_t i = 0, have, shown, size;
    char c[4], escape[5];
    for (;; i += shown ? shown : 1) {
        char *to = s->to;
        for (size = s->size; i < max; i++, size++) {
            c[0] = __atomic_load_n(&name[i], __ATOMIC_RELAXED);
            if (!recorder_text_is_plain_(c[0]))
                break;
            if (size < s->max)
                to[size] = c[0];
        }
        s->size = size;
        if (i < max && !c[0])
            return;
        for (have = 0; have < sizeof c && i + have < max; have++) {
            c[have] = __atomic_load_n(&name[i + have], __ATOMIC_RELAXED);
            if (!c[have])
                break;
        }
        if (!have)
            return;
        shown = recorder_text_shown_(c, have);
        f.text = recorder_string_at_(escape, sizeof escape - 1);
        if (!shown)
            recorder_format_escape_(&f, c, 1, true);
        recorder_add_text_(s, shown ? c : escape, shown ? shown : f.text.size);
    }
}

/* Returns the first 3, 6 or 9 digits of a fraction of a second. */
RECORDER_INLINE_ uint64_t recorder_fraction_(uint64_t ns, unsigned digits)
{
    ns %= 1000000000u;
    return digits == 9 ? ns : digits == 6 ? ns / 1000 : ns / 1000000;
}

/* Adds "2026-11-20 20:25:11.123456", UTC. Years count from March, so that the
 * leap day comes last: 153 days are 5 months, 1461 days 4 years, 146097 days
 * 400. */
RECORDER_SELDOM_ void recorder_add_wall_(struct recorder_string_ *s,
                                         uint64_t realtime_ns, unsigned digits)
{
    uint64_t seconds = realtime_ns / 1000000000u;
    uint64_t days = seconds / 86400 + 719468; /* from March 1st of year 0 */
    uint64_t era = days / 146097, day = days % 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    uint64_t of_year = day - (365 * year + year / 4 - year / 100);
    uint64_t month = (5 * of_year + 2) / 153;
    uint64_t number = month < 10 ? month + 3 : month - 9;
    recorder_add_number_(s, year + era * 400 + (number <= 2), 10, 4);
    recorder_add_behind_(s, "-", number, 2);
    recorder_add_behind_(s, "-", of_year - (153 * month + 2) / 5 + 1, 2);
    recorder_add_behind_(s, " ", seconds / 3600 % 24, 2);
    recorder_add_behind_(s, ":", seconds / 60 % 60, 2);
    recorder_add_behind_(s, ":", seconds % 60, 2);
    recorder_add_behind_(s, ".", recorder_fraction_(realtime_ns, digits),
                         digits);
}

RECORDER_SELDOM_ void recorder_add_seconds_(struct recorder_string_ *s,
                                              int64_t ns, unsigned digits)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    char text[24], *end = text + sizeof text;
    char *from =
        recorder_format_whole_(end, recorder_fraction_(size, digits), digits);
    *--from = '.';
    from = recorder_format_whole_(from, size / 1000000000u, 1);
    if (ns < 0)
        *--from = '-';
    recorder_add_text_(s, from, (size_t)(end - from));
}

/* ---------------------------------------------------------------- format -- */

/* Terminates a format of which `size` bytes were read; marks it by "..." if its
 * end is not among them. `bytes` has room for one more, and for 4 in all.
 * Returns the format's length, `size` if it is marked. */
RECORDER_INLINE_ size_t recorder_format_end_(char *bytes, size_t size)
{
    size_t length = recorder_length_(bytes, size);
    bytes[size] = '\0';
    if (length == size)
        recorder_bytes_(bytes + (size > 3 ? size - 3 : 0), "...", 4);
    return length;
}

/* Is shown in place of a text whose library was closed since. */
#define RECORDER_TEXT_UNKNOWN_ "<text of a closed library>"

/* Adds the message of an event whose format cannot be read: its address, and
 * the words of the arguments that were found. `closed`: so was its library. */
RECORDER_SELDOM_ void
recorder_add_unreadable_(struct recorder_string_ *to,
                         const struct recorder_event *event, bool closed)
{
    unsigned i;
    recorder_add_string_(to, closed ? "<format of a closed library at 0x"
                                    : "<format at 0x");
    recorder_add_number_(to, event->format, 16, 1);
    recorder_add_string_(to, ">");
    for (i = 0; i < 12 && !(event->missing_arguments >> i & 1); i++) {
        recorder_add_string_(to, " 0x");
        recorder_add_number_(to, event->argument[i], 16, 1);
    }
}

/* ------------------------------------------------------------------ line -- */

/* Returns "file.c:12" of "dir/file.c:12", or "?" if the location holds control
 * characters; and the name's size. */
RECORDER_FUNCTION_ const char *recorder_location_sized_(const char *location,
                                                        size_t *size)
{
    const char *name = location, *at = location;
    size_t shown;
    for (;;) {
        while (recorder_text_is_plain_(*at))
            if (*at++ == '/')
                name = at;
        if (!*at)
            break;
        shown = recorder_text_shown_(at, recorder_length_(at, 4));
        if (!shown) {
            *size = 1;
            return "?";
        }
        at += shown;
    }
    *size = (size_t)(at - name);
    return name;
}
RECORDER_INLINE_ const char *recorder_location_name_(const char *location)
{
    size_t size;
    return recorder_location_sized_(location, &size);
}

enum recorder_field_ {
    RECORDER_ORDER_,
    RECORDER_SECONDS_,
    RECORDER_WALL_,
    RECORDER_LOCATION_,
    RECORDER_CALLER_,
    RECORDER_THREAD_NUMBER_,
    RECORDER_THREAD_NAME_,
    RECORDER_NAME_,
    RECORDER_SEVERITY_,
    RECORDER_MESSAGE_,
    RECORDER_FIELDS_
};

/* Reads a field after its brace. Returns its kind, RECORDER_FIELDS_ for an
 * unknown field; sets its width (below 0: filled from the left) and end. */
RECORDER_SELDOM_ enum recorder_field_
recorder_field_(const char *at, const char **end, int *width)
{
    static const char names[RECORDER_FIELDS_][12] = {
        "order",  "seconds", "wall",     "location", "caller",
        "thread", "name",    "recorder", "severity", "message"};
    unsigned field, i;
    bool left;
    for (field = i = 0; field < RECORDER_FIELDS_; field++) {
        if (*at != names[field][0])
            continue;
        for (i = 1; names[field][i] && at[i] == names[field][i]; i++)
            ;
        if (!names[field][i] && (at[i] == '}' || at[i] == ':'))
            break;
    }
    *width = 0;
    if (field == RECORDER_FIELDS_)
        return RECORDER_FIELDS_;
    at += i;
    if (*at == ':') {
        left = *++at == '-';
        for (at += left; *at >= '0' && *at <= '9' && *width < 1000; at++)
            *width = *width * 10 + (*at - '0');
        if (left)
            *width = -*width;
    }
    *end = at + 1;
    return *at == '}' ? (enum recorder_field_)field : RECORDER_FIELDS_;
}

/* An event and the values of its fields, ready to print. */
struct recorder_shown_ {
    const struct recorder_event *event;
    int64_t ns;           /* since the start; RECORDER_TIME_UNKNOWN_ */
    uint64_t realtime_ns; /* of the start, since 1970; 0: unknown */
    unsigned digits;      /* of times, after the point */
    const char *location; /* "dir/file.c:12" */
    const char *thread;   /* its name, 15 bytes; null: thread unknown */
    const char *name;     /* of the recorder; null: unknown */
    size_t name_size;     /* bytes that may be read, NUL or not */
    int severity;         /* as in recorder_headed_; -1: none */
    bool hardware;
    const char *message;
    size_t message_size; /* of the whole */
    size_t message_max;  /* bytes of it that can be read */
};

RECORDER_INLINE_ void recorder_add_field_(struct recorder_string_ *to,
                                          const struct recorder_shown_ *shown,
                                          enum recorder_field_ field)
{
    const struct recorder_event *event = shown->event;
    bool timed = shown->ns != RECORDER_TIME_UNKNOWN_;
    size_t size = shown->message_size, max = shown->message_max;
    const char *location;
    switch (field) {
    case RECORDER_ORDER_: recorder_add_number_(to, event->order, 10, 1); break;
    case RECORDER_SECONDS_:
        if (timed)
            recorder_add_seconds_(to, shown->ns, shown->digits);
        else
            recorder_add_string_(to, "?");
        break;
    case RECORDER_WALL_:
        if (timed && shown->realtime_ns)
            recorder_add_wall_(to, shown->realtime_ns + (uint64_t)shown->ns,
                               shown->digits);
        else
            recorder_add_string_(to, "?");
        break;
    case RECORDER_LOCATION_:
        location = recorder_location_sized_(shown->location, &size);
        recorder_add_text_(to, location, size);
        break;
    case RECORDER_CALLER_:
        recorder_add_string_(to, "0x");
        recorder_add_number_(to, event->caller, 16, 1);
        break;
    case RECORDER_THREAD_NUMBER_:
        if (shown->thread)
            recorder_add_number_(to, event->thread, 10, 1);
        else
            recorder_add_string_(to, "?");
        break;
    case RECORDER_THREAD_NAME_:
        recorder_add_name_(to, shown->thread ? shown->thread : "?", 16);
        break;
    case RECORDER_NAME_:
        recorder_add_name_(to, shown->name ? shown->name : "?",
                           shown->name ? shown->name_size : 1);
        break;
    case RECORDER_SEVERITY_:
        if (shown->severity >= 0)
            recorder_add_string_(
                to, recorder_severity_text_(shown->severity, shown->hardware));
        break;
    default:
        recorder_add_text_(to, shown->message, size < max ? size : max);
        if (size > max)
            to->size += size - max;
    }
}

/* Returns the first unknown field of a line format, from after its brace, or
 * null if all fields are known. */
RECORDER_SELDOM_ const char *recorder_line_check_(const char *line)
{
    const char *end;
    int width;
    for (; *line; line++) {
        if (*line != '{')
            continue;
        if (line[1] == '{')
            line++;
        else if (recorder_field_(line + 1, &end, &width) == RECORDER_FIELDS_)
            return line + 1;
    }
    return NULL;
}
#define RECORDER_LINE_FIELDS_                                                  \
    "{order} {seconds} {wall} {location} {caller} {thread} {name} {recorder} " \
    "{severity} {message}"

/* A part of a line format: a field, or text. */
struct recorder_piece_ {
    unsigned short at, size; /* of a text, in the line format */
    short width, field;      /* RECORDER_FIELDS_: this is text */
};

/* Reads the part at `line`, which is not empty, of a line format. Returns its
 * end. */
RECORDER_SELDOM_ const char *recorder_piece_read_(struct recorder_piece_ *part,
                                                  const char *format,
                                                  const char *line)
{
    const char *end;
    int width = 0;
    part->field = RECORDER_FIELDS_;
    part->width = 0;
    if (*line == '{')
        part->field = (short)recorder_field_(line + 1, &end, &width);
    if (part->field != RECORDER_FIELDS_) {
        part->width = (short)width;
        return end;
    }
    line += *line == '{' && line[1] == '{';
    for (end = line + 1; *end && *end != '{' && end - line < 1000; end++)
        ;
    part->at = (unsigned short)(line - format);
    part->size = (unsigned short)(end - line);
    return end;
}

/* A line format whose parts were read once, for many lines. */
struct recorder_line_ {
    const char *format, *rest; /* the parts that had no room */
    unsigned count;
    struct recorder_piece_ piece[14];
};

/* Reads a line format such as RECORDER_LINE_DEFAULT_, which must stay. */
RECORDER_SELDOM_ void recorder_line_read_(struct recorder_line_ *to,
                                          const char *line)
{
    const unsigned most = sizeof to->piece / sizeof to->piece[0];
    to->format = line;
    for (to->count = 0; *line && to->count < most; to->count++)
        line = recorder_piece_read_(&to->piece[to->count], to->format, line);
    to->rest = line;
}

RECORDER_PROTOTYPE_ void
recorder_add_line_(struct recorder_string_ *to,
                   const struct recorder_line_ *line,
                   const struct recorder_shown_ *shown);

/* Adds a field, filled with blanks to its width. */
RECORDER_SELDOM_ void recorder_add_column_(struct recorder_string_ *to,
                                           const struct recorder_shown_ *shown,
                                           const struct recorder_piece_ *part)
{
    struct recorder_line_ field;
    int width = part->width;
    size_t start = to->size, columns = (size_t)(width < 0 ? -width : width);
    size_t length, blanks, i;
    field.rest = "";
    field.count = 1;
    field.piece[0] = *part;
    field.piece[0].width = 0;
    recorder_add_line_(to, &field, shown);
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

/* Adds the line of an event. */
RECORDER_FUNCTION_ void recorder_add_line_(struct recorder_string_ *to,
                                           const struct recorder_line_ *line,
                                           const struct recorder_shown_ *shown)
{
    struct recorder_piece_ more;
    const char *format = line->format, *rest = line->rest;
    unsigned i;
    for (i = 0; i < line->count || *rest; i++) {
        const struct recorder_piece_ *part = &more;
        if (i < line->count) {
            part = &line->piece[i];
        } else {
            format = rest;
            rest = recorder_piece_read_(&more, rest, rest);
        }
        if (part->field == RECORDER_FIELDS_)
            recorder_add_text_(to, format + part->at, part->size);
        else if (!part->width)
            recorder_add_field_(to, shown, (enum recorder_field_)part->field);
        else
            recorder_add_column_(to, shown, part);
    }
}

/* Ends a line by a newline, and marks it if it was cut; `to` must have room for
 * a byte more than `max`. */
RECORDER_FUNCTION_ void recorder_end_line_(struct recorder_string_ *to)
{
    static const char cut[] = "...[cut]";
    if (to->size > to->max) {
        to->size = to->max - (sizeof cut - 1);
        recorder_add_text_(to, cut, sizeof cut - 1);
    }
    to->to[to->size++] = '\n';
}

/* ------------------------------------------------------------------ head -- */

/* Adds "FLIGHT RECORDER DUMP AT 2026-11-20 20:25:11.417324 UTC, PROGRAM server,
 * PID 4711, 258 RECORDS". For a core file or recording the time is its last
 * record's, and `read_ns`, else 0, is now: "..., READ AT 2026-11-27 ...".
 * Without a date and without processes: "FLIGHT RECORDER DUMP, 258 RECORDS". */
RECORDER_SELDOM_ void recorder_add_head_(struct recorder_string_ *to,
                                         uint64_t realtime_ns, uint64_t read_ns,
                                         const char *program, uint64_t pid,
                                         bool more, uint64_t records)
{
    recorder_add_string_(to, "FLIGHT RECORDER DUMP");
    if (realtime_ns) {
        recorder_add_string_(to, " AT ");
        recorder_add_wall_(to, realtime_ns, 6);
        recorder_add_string_(to, " UTC");
    }
    if (read_ns) {
        recorder_add_string_(to, realtime_ns ? ", READ AT " : " READ AT ");
        recorder_add_wall_(to, read_ns, 6);
        recorder_add_string_(to, " UTC");
    }
    if (program && *program) {
        recorder_add_string_(to, ", PROGRAM ");
        recorder_add_name_(to, program, RECORDER_PROGRAM_MAX_ - 1);
    }
    if (pid)
        recorder_add_behind_(to, ", PID ", pid, 1);
    recorder_add_behind_(to, more ? ", MORE THAN " : ", ", records, 1);
    recorder_add_string_(to, " RECORDS\n");
}

/* Adds ", 12 LOST"; nothing of 0. */
RECORDER_SELDOM_ void recorder_add_counted_(struct recorder_string_ *to,
                                            const char *before, uint64_t number,
                                            const char *what)
{
    if (number) {
        recorder_add_behind_(to, before, number, 1);
        recorder_add_string_(to, what);
    }
}

/* Adds "DUMPING net SIZE 256, 200 ENTRIES IN 256 SLOTS, ~1744 OVERWRITTEN, 2
 * LOST", and ", FROZEN" or ", WATCHED" by a trigger. Entries are records; their
 * slots are named if a record takes several, as each slot has a number; "~"
 * marks an estimate. */
RECORDER_SELDOM_ void
recorder_add_summary_(struct recorder_string_ *to, const char *name,
                      size_t name_size, const struct recorder_figures_ *figures,
                      int64_t trace)
{
    recorder_add_string_(to, "DUMPING ");
    if (name)
        recorder_add_name_(to, name, name_size);
    recorder_add_string_(to, " SIZE ");
    if (figures->lanes > 1) {
        recorder_add_number_(to, figures->lanes, 10, 1);
        recorder_add_string_(to, " x ");
    }
    recorder_add_number_(to, figures->size, 10, 1);
    recorder_add_behind_(to, ", ", figures->kept, 1);
    recorder_add_string_(to, " ENTRIES");
    if (figures->slots_kept != figures->kept)
        recorder_add_counted_(to, " IN ", figures->slots_kept, " SLOTS");
    recorder_add_behind_(to, figures->estimated ? ", ~" : ", ",
                         figures->overwritten, 1);
    recorder_add_behind_(to, " OVERWRITTEN, ", figures->lost, 1);
    recorder_add_string_(to, " LOST");
    recorder_add_counted_(to, ", ", figures->missed, " MISSED");
    recorder_add_counted_(to, ", ", figures->left_out, " LEFT OUT");
    if (recorder_trace_is_frozen_(trace))
        recorder_add_string_(to, ", FROZEN");
    else if (recorder_trace_is_watched_(trace))
        recorder_add_string_(to, ", WATCHED");
    recorder_add_string_(to, "\n");
}

RECORDER_C_END_
#endif
