/* logs.c - lines of text with wall times, among the events of a program. */
/* SPDX-License-Identifier: MIT */
#include "logs.h"
#include "array.h"
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    HEAD_MAX = 128, /* bytes of a line that are looked at for its time */
    PARTS = 3,      /* of a line's text: identifier, process, message */
    OFFSET_BITS = 48
};
/* Addresses of texts: the log's number, from 1, and an offset in its file. No
 * processor has memory there. */
static const uint64_t LOG_TEXTS = UINT64_C(1) << 63;

struct log_line {
    int64_t ns; /* since the program's start */
    uint64_t offset;
    struct log_part {
        uint32_t at, size; /* from the offset on */
    } part[PARTS];
};

struct reader_log {
    FILE *file;
    struct reader_recorder *recorder;
    struct log_line *lines; /* by time */
    size_t count, max, next;
    uint64_t format[PARTS]; /* by how many parts a line has, less 1 */
};

/* ------------------------------------------------------------------ time -- */

/* Reads so many digits, and what stands behind them, if not 0. */
static bool digits(const char **at, int count, char behind, int *to)
{
    for (*to = 0; count--; ++*at) {
        if (**at < '0' || **at > '9')
            return false;
        *to = *to * 10 + (**at - '0');
    }
    return !behind || *(*at)++ == behind;
}

/* Reads "09:50:00" and a fraction. */
static bool clock_read(const char **at, struct tm *date, int64_t *ns)
{
    int64_t unit = 100000000;
    if (!digits(at, 2, ':', &date->tm_hour) ||
        !digits(at, 2, ':', &date->tm_min) ||
        !digits(at, 2, 0, &date->tm_sec) || date->tm_hour > 23 ||
        date->tm_min > 59 || date->tm_sec > 60)
        return false;
    *ns = 0;
    if ((**at == '.' || **at == ',') && (*at)[1] >= '0' && (*at)[1] <= '9')
        for (++*at; **at >= '0' && **at <= '9'; ++*at, unit /= 10)
            *ns += unit * (**at - '0');
    return true;
}

/* Reads "Z", "+0100", "+01:00", " +01", and how far it is from UTC. False:
 * there is no zone. */
static bool zone_read(const char **at, int *seconds)
{
    const char *from = *at + (**at == ' ' && strchr("+-", (*at)[1]));
    int hours, minutes = 0;
    bool apart = from > *at; /* then "-10 items" is none: four digits */
    *seconds = 0;
    if (*from == 'Z' || *from == 'z') {
        *at = from + 1;
        return true;
    }
    if (!*from || !strchr("+-", *from++) || !digits(&from, 2, 0, &hours))
        return false;
    *seconds = from[-3] == '-' ? -1 : 1;
    if (*from == ':')
        from++;
    if ((apart || (*from >= '0' && *from <= '9')) &&
        !digits(&from, 2, 0, &minutes))
        return false;
    *seconds *= 60 * (60 * hours + minutes);
    *at = from;
    return hours < 24 && minutes < 60;
}

/* True if a date is in the calendar, and its seconds since 1970. */
static bool date_seconds(const struct tm *date, bool local, time_t *seconds)
{
    struct tm is = *date;
    is.tm_isdst = -1;
    *seconds = local ? mktime(&is) : timegm(&is);
    return is.tm_mon == date->tm_mon && is.tm_mday == date->tm_mday &&
           *seconds >= 0 && *seconds < INT64_MAX / 1000000000 - 86400;
}

/* Reads "2026-11-22T09:50:00.5+01:00". */
static bool iso_read(const char **at, int64_t *realtime_ns,
                     struct reader_log_found *found)
{
    struct tm date = {0};
    time_t seconds;
    int64_t ns;
    int east;
    bool zone;
    if (!digits(at, 4, '-', &date.tm_year) ||
        !digits(at, 2, '-', &date.tm_mon) || !digits(at, 2, 0, &date.tm_mday) ||
        !**at || !strchr("Tt _", *(*at)++) || !clock_read(at, &date, &ns))
        return false;
    date.tm_year -= 1900;
    date.tm_mon--;
    zone = zone_read(at, &east);
    if (!date_seconds(&date, !zone, &seconds))
        return false;
    found->no_zone |= !zone;
    *realtime_ns = ((int64_t)seconds - east) * 1000000000 + ns;
    return true;
}

/* Reads "Nov 22 09:50:00": of the year in which it is not later than `last`. */
static bool month_read(const char **at, int64_t last_ns, int64_t *realtime_ns,
                       struct reader_log_found *found)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const int64_t day = INT64_C(86400) * 1000000000;
    time_t end = (time_t)(last_ns / 1000000000), seconds;
    struct tm date = {0}, now;
    int64_t ns;
    int month = 0;
    while (month < 12 && strncmp(*at, months + 3 * month, 3) != 0)
        month++;
    if (month == 12 || (*at)[3] != ' ')
        return false;
    *at += (*at)[4] == ' ' ? 5 : 4;
    if (!digits(at, (*at)[-1] == (*at)[-2] ? 1 : 2, ' ', &date.tm_mday) ||
        !clock_read(at, &date, &ns))
        return false;
    localtime_r(&end, &now);
    date.tm_mon = month;
    for (int back = -1; back < 9; back++) { /* February 29 */
        date.tm_year = now.tm_year - back;
        if (!date_seconds(&date, true, &seconds))
            continue;
        *realtime_ns = (int64_t)seconds * 1000000000 + ns;
        if (*realtime_ns <= last_ns + day) {
            found->no_year = found->no_zone = true;
            return true;
        }
    }
    return false;
}

/* Reads the time at the begin of a line. Returns where the text behind it
 * begins; null: there is no time. */
static const char *time_read(const char *line, int64_t last_ns,
                             int64_t *realtime_ns,
                             struct reader_log_found *found)
{
    const char *at = line;
    bool bracket;
    if (strncmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;      /* what editors of Windows begin a file with */
    if (*at == '<') { /* syslog's <30> and <30>1 */
        for (at++; *at >= '0' && *at <= '9'; at++)
            ;
        if (*at++ != '>')
            return NULL;
        at += at[0] == '1' && at[1] == ' ' ? 2 : 0;
    }
    bracket = *at == '[';
    at += bracket;
    line = at;
    if (!iso_read(&at, realtime_ns, found)) {
        at = line;
        if (!month_read(&at, last_ns, realtime_ns, found))
            return NULL;
    }
    at += bracket && *at == ']';
    at += *at == ':';
    if (*at && *at != ' ' && *at != '\t')
        return NULL; /* a word that only begins like a time */
    return at + strspn(at, " \t");
}

/* ----------------------------------------------------------------- lines -- */

static bool line_add(struct reader_log *log, const struct log_line *line)
{
    struct log_line *lines =
        array_room(log->lines, &log->max, log->count + 1, sizeof *lines);
    if (!lines)
        return false;
    log->lines = lines;
    lines[log->count++] = *line;
    return true;
}

/* Adds a line if it is between two times, else counts it. */
static bool line_found(struct reader *reader, struct reader_log *log,
                       struct log_line *line, int64_t realtime_ns,
                       int64_t from_ns, int64_t to_ns,
                       struct reader_log_found *found)
{
    line->ns = realtime_ns - (int64_t)reader->clock.start.realtime_ns;
    found->before += line->ns < from_ns;
    found->behind += line->ns > to_ns;
    return line->ns < from_ns || line->ns > to_ns || line_add(log, line);
}

/* The bounds of a read. */
struct log_read {
    struct reader *reader;
    struct reader_log *log;
    struct reader_log_found *found;
    int64_t from_ns, to_ns, last_ns;
    uint64_t offset;      /* of the next byte */
    struct log_line line; /* that is read */
    int64_t realtime_ns;
    bool timed;
};

static bool entry_end(struct log_read *r)
{
    bool added =
        !r->timed || line_found(r->reader, r->log, &r->line, r->realtime_ns,
                                r->from_ns, r->to_ns, r->found);
    r->timed = false;
    memset(&r->line, 0, sizeof r->line);
    return added;
}

/* Takes a line's first bytes; where it ends, r->offset. */
static bool line_take(struct log_read *r, const char *head, uint64_t begin,
                      uint64_t size)
{
    int64_t realtime_ns;
    const char *text = time_read(head, r->last_ns, &realtime_ns, r->found);
    struct log_part *part = &r->line.part[0];
    if (text) {
        size_t skip = (size_t)(text - head);
        if (!entry_end(r))
            return false;
        r->timed = true;
        r->realtime_ns = realtime_ns;
        r->line.offset = begin;
        part->at = (uint32_t)skip;
        part->size =
            size - skip > UINT32_MAX ? UINT32_MAX : (uint32_t)(size - skip);
    } else if (r->timed) { /* it goes on */
        uint64_t whole = begin + size - r->line.offset - part->at;
        if (size)
            part->size = whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
    } else if (size) {
        r->found->untimed++;
    }
    return true;
}

static bool lines_read(struct log_read *r)
{
    FILE *file = r->log->file;
    char head[HEAD_MAX + 1];
    int c = 0, last = 0;
    while (c != EOF) {
        uint64_t begin = r->offset, size = 0;
        for (; (c = getc_unlocked(file)) != EOF && c != '\n'; last = c) {
            if (size < HEAD_MAX)
                head[size] = (char)c;
            size++;
        }
        r->offset += size + 1;
        size -= size && last == '\r';
        head[size < HEAD_MAX ? size : HEAD_MAX] = '\0';
        if (!line_take(r, head, begin, size))
            return false;
    }
    return entry_end(r);
}

/* --------------------------------------------------------------- journal -- */

/* Takes a field of an entry of journalctl -o export. */
static void field_take(struct log_read *r, const char *name, uint64_t begin,
                       uint64_t size, const char *number)
{
    static const char *const names[PARTS] = {"SYSLOG_IDENTIFIER", "_PID",
                                             "MESSAGE"};
    bool source = strcmp(name, "_SOURCE_REALTIME_TIMESTAMP") == 0;
    if (source || (strcmp(name, "__REALTIME_TIMESTAMP") == 0 && !r->timed)) {
        uint64_t us = strtoull(number, NULL, 10);
        if (us && us < INT64_MAX / 2000) {
            r->realtime_ns = (int64_t)us * 1000;
            r->timed = true;
        }
    }
    for (int i = 0; i < PARTS; i++)
        if (strcmp(name, names[i]) == 0 && begin - r->line.offset <= UINT32_MAX)
            r->line.part[i] = (struct log_part){
                (uint32_t)(begin - r->line.offset),
                size > UINT32_MAX ? UINT32_MAX : (uint32_t)size};
}

/* Reads 8 bytes, the lowest first; false: the file ends. */
static bool size_read(struct log_read *r, uint64_t *size)
{
    *size = 0;
    for (int i = 0; i < 8; i++) {
        int c = getc_unlocked(r->log->file);
        if (c == EOF)
            return false;
        *size |= (uint64_t)c << 8 * i;
    }
    r->offset += 8;
    return true;
}

static bool journal_read(struct log_read *r)
{
    FILE *file = r->log->file;
    char name[64], number[24];
    int c = 0;
    while (c != EOF) {
        size_t length = 0, kept = 0;
        uint64_t begin = r->offset, size = 0, bytes = UINT64_MAX;
        while ((c = getc_unlocked(file)) != EOF && c != '\n' && c != '=') {
            if (length < sizeof name - 1)
                name[length] = (char)c;
            length++;
        }
        r->offset += length + (c != EOF);
        name[length < sizeof name ? length : sizeof name - 1] = '\0';
        if (!length) { /* an empty line ends the entry */
            if (!entry_end(r))
                return false;
            r->line.offset = r->offset;
            continue;
        }
        if (c == '\n' && !size_read(r, &bytes))
            break;
        begin = r->offset;
        while (size < bytes && (c = getc_unlocked(file)) != EOF &&
               (bytes != UINT64_MAX || c != '\n')) {
            if (kept < sizeof number - 1)
                number[kept++] = (char)c;
            size++;
        }
        number[kept] = '\0';
        r->offset += size;
        if (c != EOF || bytes == UINT64_MAX)
            field_take(r, name, begin, size, number);
        if (bytes != UINT64_MAX && c != EOF)
            c = getc_unlocked(file); /* the newline behind it */
        r->offset += c != EOF;
    }
    return entry_end(r);
}

/* ------------------------------------------------------------------ open -- */

/* Opens a file; what cannot be read twice is copied first. */
static FILE *file_open(const char *path)
{
    FILE *from = strcmp(path, "-") == 0 ? stdin : fopen(path, "re"), *to;
    char bytes[1 << 16];
    struct stat is;
    size_t got;
    if (!from || fstat(fileno(from), &is) != 0)
        return NULL;
    if (S_ISREG(is.st_mode) && from != stdin)
        return from;
    to = S_ISDIR(is.st_mode) ? (errno = EISDIR, NULL) : tmpfile();
    while (to && (got = fread(bytes, 1, sizeof bytes, from)) > 0)
        if (fwrite(bytes, 1, got, to) != got) {
            fclose(to);
            to = NULL;
        }
    if (from != stdin)
        fclose(from);
    if (to)
        rewind(to);
    return to;
}

static bool is_journal(FILE *file)
{
    static const char begin[] = "__";
    char head[sizeof begin] = "";
    bool is = fread(head, 1, sizeof begin - 1, file) == sizeof begin - 1 &&
              strcmp(head, begin) == 0;
    rewind(file);
    return is;
}

static int lines_compare(const void *a, const void *b)
{
    const struct log_line *left = a, *right = b;
    if (left->ns != right->ns)
        return left->ns < right->ns ? -1 : 1;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* Adds the recorder of a log, and its formats. */
static bool recorder_add(struct reader *reader, struct reader_log *log,
                         const char *path)
{
    static const char *const formats[PARTS] = {"%s", "%s: %s", "%s[%s]: %s"};
    const char *name = strrchr(path, '/');
    struct reader_recorder *r = list_recorder_new(reader);
    if (!r)
        return false;
    r->name = strdup(name ? name + 1 : strcmp(path, "-") ? path : "stdin");
    r->description = strdup("Lines of a log");
    r->address =
        LOG_TEXTS + ((uint64_t)(reader->inside->logs_count + 1) << OFFSET_BITS);
    log->recorder = r;
    list_recorder_add(reader, r);
    for (uint64_t i = 0; r->name && i < PARTS; i++) {
        log->format[i] =
            format_made(reader, r->address + i, formats[i], r->name);
        if (!log->format[i])
            return false;
    }
    return r->name && r->description;
}

const char *reader_log_add(struct reader *reader, const char *path,
                           int64_t from_ns, int64_t to_ns,
                           struct reader_log_found *found)
{
    struct reader_inside *inside = reader->inside;
    struct reader_log log = {.file = file_open(path)}, *logs;
    struct log_read r = {.reader = reader,
                         .log = &log,
                         .found = found,
                         .from_ns = from_ns,
                         .to_ns = to_ns};
    uint64_t read_ns, start = reader->clock.start.realtime_ns;
    bool whole;
    *found = (struct reader_log_found){0};
    if (!log.file)
        return strerror(errno);
    if (!start) {
        fclose(log.file);
        return "the program's clock has no date, so that no line has a place";
    }
    r.last_ns = (int64_t)reader_end_realtime(reader, &read_ns);
    if (!read_ns) /* it runs */
        r.last_ns = (int64_t)reader_realtime(reader);
    if (r.last_ns < (int64_t)start)
        r.last_ns = (int64_t)start;
    whole = is_journal(log.file) ? journal_read(&r) : lines_read(&r);
    logs = realloc(inside->logs, (inside->logs_count + 1) * sizeof *logs);
    if (logs)
        inside->logs = logs;
    if (!whole || !logs || inside->logs_count == 255 ||
        !recorder_add(reader, &log, path)) {
        fclose(log.file);
        free(log.lines);
        return "there is no memory for it";
    }
    for (size_t i = 1; i < log.count; i++)
        if (log.lines[i].ns < log.lines[i - 1].ns) {
            qsort(log.lines, log.count, sizeof *log.lines, lines_compare);
            break;
        }
    found->lines = log.count;
    log.recorder->figures.size = log.recorder->figures.kept = log.count;
    log.recorder->figures.lanes = 1;
    logs[inside->logs_count++] = log;
    return NULL;
}

void logs_close(struct reader *reader)
{
    for (size_t i = 0; i < reader->inside->logs_count; i++) {
        fclose(reader->inside->logs[i].file);
        free(reader->inside->logs[i].lines);
    }
    free(reader->inside->logs);
}

/* ---------------------------------------------------------------- events -- */

void logs_rewind(struct reader *reader)
{
    for (size_t i = 0; i < reader->inside->logs_count; i++)
        reader->inside->logs[i].next = 0;
}

/* Makes the event of a line, behind the record of an order. */
static void line_event(const struct reader *reader,
                       const struct reader_log *log, size_t line,
                       uint64_t order, struct reader_event *to)
{
    const struct log_line *l = &log->lines[line];
    struct recorder_event *event = &to->event;
    unsigned parts = 0;
    memset(to, 0, sizeof *to);
    for (unsigned i = 0; i < PARTS; i++) {
        if (!l->part[i].size && (i < PARTS - 1 || parts))
            continue;
        /* its size stands where no conversion looks */
        event->argument[parts] =
            log->recorder->address + l->offset + l->part[i].at;
        event->argument[PARTS + parts++] = l->part[i].size;
    }
    event->missing_arguments = ~0u << parts;
    event->order = order;
    event->severity = -1;
    event->format = log->format[parts - 1];
    event->name = log->recorder->name;
    to->raw = *event;
    to->outside = true;
    to->recorder = log->recorder;
    to->ns = l->ns;
    to->realtime_ns = reader_start_realtime(reader) + (uint64_t)l->ns;
}

bool logs_next(struct reader *reader, int64_t until_ns, uint64_t order,
               struct reader_event *to)
{
    struct reader_log *first = NULL;
    for (size_t i = 0; i < reader->inside->logs_count; i++) {
        struct reader_log *log = &reader->inside->logs[i];
        if (log->next < log->count && log->lines[log->next].ns <= until_ns &&
            (!first || log->lines[log->next].ns < first->lines[first->next].ns))
            first = log;
    }
    if (!first)
        return false;
    line_event(reader, first, first->next++, order, to);
    return true;
}

/* The log that a text of an event is of, or null. */
static const struct reader_log *log_of(const struct reader *reader,
                                       const struct recorder_event *event,
                                       uint64_t address)
{
    const struct reader_inside *inside = reader->inside;
    size_t number = (size_t)((address & ~LOG_TEXTS) >> OFFSET_BITS) - 1;
    const struct reader_log *log = inside->logs;
    if (!(address & LOG_TEXTS) || number >= inside->logs_count)
        return NULL;
    log += number;
    return event->format >= log->format[0] &&
                   event->format <= log->format[PARTS - 1]
               ? log
               : NULL;
}

bool logs_have(const struct reader *reader, const struct recorder_event *event,
               uint64_t address)
{
    return log_of(reader, event, address) != NULL;
}

size_t logs_text(const struct reader *reader,
                 const struct recorder_event *event, uint64_t address, char *to,
                 size_t size)
{
    const struct reader_log *log = log_of(reader, event, address);
    uint64_t left = 0;
    ssize_t got;
    size_t some, want;
    for (unsigned i = 0; i < PARTS; i++)
        if (address - event->argument[i] <= event->argument[PARTS + i])
            left = event->argument[i] + event->argument[PARTS + i] - address;
    want = left < size ? (size_t)left : size;
    got = pread(fileno(log->file), to, want,
                (off_t)(address - log->recorder->address));
    some = got < 0 ? 0 : (size_t)got;
    for (size_t i = 0; i < some; i++)
        to[i] = to[i] ? to[i] : '\x1a';
    if (some < size) /* its end, or the file was cut */
        to[some++] = '\0';
    return some;
}
