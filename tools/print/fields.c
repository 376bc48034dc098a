/* fields.c - an event as one row of named values. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

#include "recorder/text.h"

static struct reader_argument number(uint64_t value)
{
    return (struct reader_argument){.kind = READER_UNSIGNED, .word = value};
}

static struct reader_argument integer(int64_t value)
{
    return (struct reader_argument){.kind = READER_SIGNED, .integer = value};
}

static struct reader_argument text(const char *text, size_t size)
{
    return (struct reader_argument){
        .kind = READER_STRING, .text = text, .text_size = size};
}

const char *event_severity(const struct recorder_event *event)
{
    static const char texts[8][4] = {"hw0", "hw1", "hw2", "hw3",
                                     "sw0", "sw1", "sw2", "sw3"};
    return event->severity < 0
               ? NULL
               : texts[event->severity + (event->hardware ? 0 : 4)];
}

/* By severity. docs/command.md has the table. */
static const char levels[4][8] = {"info", "notice", "warning", "error"};

const char *event_severity_text(const struct recorder_event *event)
{
    return event->severity < 0 ? NULL : levels[event->severity];
}

int severity_of_text(const char *text, size_t size)
{
    for (int i = 0; i < 4; i++)
        if (strlen(levels[i]) == size &&
            strncasecmp(text, levels[i], size) == 0)
            return i;
    return -1;
}

void fields_of(struct reader *reader, const struct reader_event *e,
               struct reader_argument to[FIELDS])
{
    const struct reader_argument unknown = {.kind = READER_LOST};
    const struct reader_thread *thread = e->thread;
    const char *location, *message, *name;
    const char *severity = event_severity(&e->event);
    const char *level = event_severity_text(&e->event);
    const char *format = reader_format(reader, &e->event, &location);
    bool timed = e->ns != RECORDER_TIME_UNKNOWN_;
    size_t file_size, size;
    unsigned line = reader_location(location, &file_size);
    name = recorder_location_name_(location);
    message = reader_message(reader, e, &size);
    *to++ = number(e->event.order);
    *to++ = timed ? integer(e->ns) : unknown;
    *to++ = timed && e->realtime_ns ? number(e->realtime_ns) : unknown;
    *to++ = text(e->recorder->shown, strlen(e->recorder->shown));
    *to++ = severity ? text(severity, 3) : unknown;
    *to++ = level ? text(level, strlen(level)) : unknown;
    *to++ = e->kind ? text(e->kind, strlen(e->kind)) : unknown;
    *to++ = thread ? number(thread->number) : unknown;
    *to++ = thread ? text(thread->name, strlen(thread->name)) : unknown;
    *to++ = thread ? integer(thread->id) : unknown;
    *to++ = text(name, strlen(name));
    *to++ = line ? text(location, file_size) : unknown;
    *to++ = line ? number(line) : unknown;
    *to = number(e->event.caller);
    to->kind = READER_POINTER;
    to++;
    *to++ = format ? text(format, strlen(format)) : unknown;
    *to++ = text(message, size);
}
