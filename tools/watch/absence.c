/* absence.c - silence, open spans, rates; and figures of a process. */
/* SPDX-License-Identifier: MIT */
#include "absence.h"
#include "proc.h"
#include "spans.h"

#include "recorder/number.h"

static const char *blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Reads ">10/s" or "<3/5s". Returns its end, or null. */
static const char *rate_read(struct absence *a, const char *at)
{
    struct recorder_number_ number;
    bool more = *at == '>';
    const char *end = recorder_number_read_(&number, blanks(at + 1)), *unit;
    char time[16] = "1";
    if (!end || *end != '/' || number.negative || number.more)
        return NULL;
    unit = end + 1;
    snprintf(time + !recorder_is_digit_(*unit), 14, "%.12s", unit);
    end = recorder_number_time_(time, &a->ns);
    if (!end)
        return NULL;
    a->kind = more ? ABSENCE_MORE : ABSENCE_FEWER;
    a->limit = number.size;
    return unit + (end - time) - !recorder_is_digit_(*unit);
}

/* Reads a word of absence. Returns its end; null: it is another word. */
static const char *word_read(struct absence *a, const char *at)
{
    const char *end = NULL;
    if (*at == '>' || *at == '<')
        return rate_read(a, at);
    if (strncmp(at, "silent", 6) == 0 && strchr(" =", at[6]) && at[6]) {
        end = recorder_number_time_(blanks(at + 7), &a->ns);
        a->kind = end ? ABSENCE_SILENT : a->kind;
    } else if (strncmp(at, "for ", 4) == 0) {
        end = recorder_number_time_(blanks(at + 4), &a->for_ns);
    } else if (strncmp(at, "open", 4) == 0 && *blanks(at + 4) == '>') {
        end = recorder_number_time_(blanks(blanks(at + 4) + 1), &a->ns);
        a->kind = end ? ABSENCE_OPEN : a->kind;
    }
    return end;
}

const char *absence_read(struct absence *a, char *text, uint64_t now)
{
    char *at = strchr(text, ':'), *end, quote = '\0';
    *a = (struct absence){.begun_ns = now};
    for (; at && *at; at++) {
        if (quote ? *at == quote : *at == '"' || *at == '\'')
            quote = quote ? '\0' : *at;
        if (quote || !strchr(": \t", *at) || !at[1] || strchr(" \t", at[1]))
            continue;
        end = (char *)(uintptr_t)word_read(a, at + 1);
        if (!end)
            continue;
        if (*end && !strchr(" \t", *end))
            return "a blank is missing after silent, open, for or a rate";
        memset(at + 1, ' ', (size_t)(end - at - 1));
        at = end - 1;
    }
    if (a->for_ns && (a->kind == ABSENCE_SILENT || a->kind == ABSENCE_OPEN))
        return "silent and open have their own time";
    if (a->for_ns && !a->kind)
        a->kind = ABSENCE_HOLDS;
    return NULL;
}

/* Finds the open span that a record ends; SIZE_MAX: none. */
static size_t open_of(const struct absence *a, const char *format, uint64_t id,
                      const struct reader_recorder *recorder)
{
    size_t size, other, i;
    const char *name = spans_name(format, &size), *was;
    for (i = a->opens_count; i-- > 0;) {
        const struct open *o = &a->opens[i];
        was = spans_name(o->format, &other);
        if (o->recorder == recorder && o->id == id &&
            (o->format[1] == '>') == (format[1] == '<') &&
            spans_match(was, other, name, size))
            return i;
    }
    return SIZE_MAX;
}

/* Notes if the condition holds: it did not before, or does no more. */
static void holds_note(struct absence *a, bool holds, uint64_t since)
{
    a->since_ns = !holds ? 0 : a->since_ns ? a->since_ns : since;
    a->said &= holds;
}

/* True once, when it has held for the time of `for`. */
static bool holds_due(struct absence *a, uint64_t now)
{
    bool due = a->since_ns && !a->said && now - a->since_ns >= a->for_ns;
    a->said |= due;
    return due;
}

void absence_note(struct absence *a, struct reader *reader,
                  struct reader_event *event, bool meets, uint64_t now)
{
    struct reader_argument arguments[12];
    const char *location;
    const char *format = reader_format(reader, &event->event, &location);
    uint64_t id;
    size_t i;
    if (a->kind == ABSENCE_HOLDS) {
        if (meets && !a->since_ns) {
            free(a->line);
            a->line = need(strdup(reader_line(reader, event, NULL, NULL)));
            a->format = format;
        }
        if (meets || (a->since_ns && format == a->format))
            holds_note(a, meets, now);
        return;
    }
    a->count += meets;
    if (meets && a->kind == ABSENCE_SILENT) {
        a->begun_ns = now;
        a->said = false;
    }
    if (a->kind != ABSENCE_OPEN || !format ||
        (*format != '<' && *format != '>'))
        return;
    id = format[0] != format[1]                       ? event->event.thread
         : reader_arguments(reader, event, arguments) ? arguments[0].word
                                                      : 0;
    if (*format == '<' &&
        (i = open_of(a, format, id, event->recorder)) != SIZE_MAX) {
        free(a->opens[i].line);
        memmove(a->opens + i, a->opens + i + 1,
                (--a->opens_count - i) * sizeof *a->opens);
    }
    if (*format == '>' && meets)
        *array_add(a->opens, a->opens_count, a->opens_max) =
            (struct open){format, id, now, event->recorder,
                          need(strdup(reader_line(reader, event, NULL, NULL)))};
}

char *absence_due(struct absence *a, const char *text, uint64_t now)
{
    char *line = NULL;
    uint64_t count = a->count;
    for (size_t i = 0; i < a->opens_count; i++)
        if (now - a->opens[i].ns > a->ns && a->opens[i].line) {
            line = a->opens[i].line;
            a->opens[i].line = NULL;
            return line;
        }
    if (a->kind == ABSENCE_HOLDS && holds_due(a, now))
        return need(strdup(a->line));
    if (a->kind == ABSENCE_OPEN || a->kind == ABSENCE_HOLDS ||
        now - a->begun_ns < a->ns)
        return NULL;
    if (a->kind == ABSENCE_SILENT) {
        if (a->said)
            return NULL;
        a->said = true;
    } else {
        holds_note(
            a, a->kind == ABSENCE_MORE ? count > a->limit : count < a->limit,
            a->begun_ns);
        a->begun_ns = now;
        a->count = 0;
        if (!holds_due(a, now))
            return NULL;
        a->said = a->for_ns; /* without `for`, each time is reported */
    }
    return need_text("%s: %" PRIu64 " records\n", text,
                     a->kind == ABSENCE_SILENT ? 0 : count);
}

/* ---------------------------------------------------------------- figures -- */

bool figure_read(struct call *call, struct figure *f, const char *text)
{
    struct recorder_number_ number = {0};
    const char *at, *end;
    if (strncmp(text, "process:", 8) != 0)
        return false;
    at = blanks(text + 8);
    *f = (struct figure){.text = text};
    snprintf(f->name, sizeof f->name, "%.*s", (int)strcspn(at, " <>"), at);
    at = blanks(at + strlen(f->name));
    f->less = *at == '<';
    end = *at ? recorder_number_read_(&number, blanks(at + 1)) : NULL;
    f->limit = number.size;
    at = end ? blanks(end) : NULL;
    if (at && strncmp(at, "for", 3) == 0 && at[3] && strchr(" =", at[3]))
        at = recorder_number_time_(blanks(at + 4), &f->for_ns);
    if (!at || *blanks(at) ||
        (strcmp(f->name, "rss") != 0 && strcmp(f->name, "threads") != 0 &&
         strcmp(f->name, "descriptors") != 0))
        misuse(call,
               "--when %s: should be process: rss>1G, threads>500 or "
               "descriptors>900, and perhaps for 1min",
               text);
    return true;
}

bool figure_is(const struct figure *f, int pid, uint64_t *value)
{
    char text[8192], path[32];
    int32_t *files;
    if (*f->name == 'd') {
        snprintf(path, sizeof path, "/proc/%d/fd", pid);
        *value = proc_ids(path, &files);
        if (!files)
            return false;
        free(files);
    } else {
        if (!proc_text(pid, 0, "status", text, sizeof text))
            return false;
        *value = *f->name == 'r' ? proc_number(text, "\nVmRSS:") * 1024
                                 : proc_number(text, "\nThreads:");
    }
    return f->less ? *value < f->limit : *value > f->limit;
}
