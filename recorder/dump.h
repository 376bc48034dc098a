/* dump.h - shows what was recorded as text. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_DUMP_H_
#define RECORDER_DUMP_H_

#include "format.h"
#include "output.h"
#include "strings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ line -- */

/* The row of the thread that made an event; null where it is another's now. */
RECORDER_INLINE_ const struct recorder_thread *
recorder_event_row(const struct recorder_event *event)
{
    const struct recorder_registry *registry = recorder_home.registry;
    const struct recorder_thread *row =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    if (!row || event->thread == 0 || event->thread > registry->threads_max)
        return NULL;
    row += event->thread - 1;
    return (intptr_t)((uintptr_t)event->order - recorder_get(&row->first)) < 0
               ? NULL
               : row;
}

/* False: no text is marked as one that may have changed; for compat/. */
#ifndef RECORDER_MARKS_
#define RECORDER_MARKS_ true
#endif

/* The message of an event, from the batch that the scratch holds. */
RECORDER_FUNCTION_ size_t recorder_message(struct recorder_scratch *s,
                                           const struct recorder_event *event,
                                           char *to, size_t size,
                                           const char **location)
{
    struct recorder_text_context context;
    struct recorder_arguments arguments;
    const char *format = recorder_format_of(s, event->format, location);
    context.scratch = s;
    context.event = event;
    context.token = 0;
    context.read = 0;
    arguments.word = event->argument;
    arguments.count = 12;
    arguments.lost = event->lost;
    arguments.word_bytes = sizeof(uintptr_t);
    arguments.text = recorder_text;
    arguments.context = &context;
    arguments.types = recorder_home.registry->types;
    arguments.trace = s->trace;
    /* A record that prints at once shows what it was given. */
    arguments.changes =
        RECORDER_MARKS_ && !s->trace ? recorder_text_changes : NULL;
    if (format)
        return recorder_format(to, size, format, &arguments);
    /* What is known all the same. */
    {
        struct recorder_string string;
        unsigned i;
        string = recorder_string_at(to, size ? size - 1 : 0);
        recorder_add_string(&string, "<format at 0x");
        recorder_add_number(&string, event->format, 16, 1);
        recorder_add_string(&string, ">");
        for (i = 0; i < 12 && !(event->lost >> i & 1); i++) {
            recorder_add_string(&string, " 0x");
            recorder_add_number(&string, event->argument[i], 16, 1);
        }
        if (size)
            to[string.size < string.max ? string.size : string.max] = '\0';
        return string.size;
    }
}

/* What a line shows of the event that the scratch is at. */
RECORDER_FUNCTION_ void recorder_show(struct recorder_scratch *s,
                                      const struct recorder_clock *clock,
                                      const struct recorder_event *event,
                                      struct recorder_shown *shown)
{
    const struct recorder_thread *row = recorder_event_row(event);
    const struct recorder_fetched *name;
    /* Without a table, a number says all that there is to know. */
    bool numbered = !recorder_home.registry->threads &&
                    event->thread != RECORDER_THREAD_NONE;
    shown->event = event;
    shown->ns = recorder_clock_time(clock, event->time);
    shown->realtime_ns = clock->start.realtime_ns;
    shown->thread = row ? row->name : numbered ? "?" : NULL;
    shown->message = s->message;
    shown->message_max = s->line_max - 1;
    shown->message_size =
        recorder_message(s, event, s->message, s->line_max, &shown->location);
    name = recorder_fetch(s, (uintptr_t)event->name);
    shown->name = name ? name->bytes : NULL;
    shown->name_size = name ? name->size : 0;
}

/* Writes the line of the event that the scratch is at, with its final newline,
 * into scratch->line. Returns its size. */
RECORDER_FUNCTION_ size_t recorder_line_of(struct recorder_scratch *s,
                                           const struct recorder_clock *clock,
                                           const struct recorder_event *event,
                                           const char *line)
{
    struct recorder_shown shown;
    struct recorder_string to;
    recorder_show(s, clock, event, &shown);
    to = recorder_string_at(s->line, s->line_max - 1);
    recorder_add_line(&to, line, &shown);
    recorder_end_line(&to);
    return to.size;
}

/* The line that is set, as far as it can be read, in `to`. */
RECORDER_FUNCTION_ const char *recorder_line_set(struct recorder_scratch *s,
                                                 char *to, size_t max)
{
    const char *line =
        __atomic_load_n(&recorder_home.registry->line, __ATOMIC_ACQUIRE);
    ptrdiff_t size =
        line ? recorder_memory_copy(&s->memory, (uintptr_t)line, to, max - 1)
             : -1;
    if (size <= 0)
        return RECORDER_LINE_DEFAULT;
    to[size] = '\0';
    return to;
}

#ifdef RECORDER_LINUX_
/* The name that the system knows a thread by now, for rows not named by the
 * program: a thread is often named by another, after its first record. */
RECORDER_FUNCTION_ void recorder_threads_refresh(void)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_thread *rows =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    uintptr_t i, count = recorder_get(&registry->threads_count);
    for (i = 0; rows && i < count && i < registry->threads_max; i++) {
        struct recorder_thread *row = &rows[i];
        struct recorder_string path;
        char text[40], name[17];
        long size;
        int fd;
        if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) !=
                RECORDER_ROW_ALIVE ||
            __atomic_load_n(&row->named, __ATOMIC_RELAXED))
            continue;
        path = recorder_string_at(text, sizeof text - 1);
        recorder_add_string(&path, "/proc/self/task/");
        recorder_add_number(&path, (uint64_t)row->id, 10, 1);
        recorder_add_text(&path, "/comm", 6);
        fd = (int)recorder_syscall(SYS_openat, -100L /* AT_FDCWD */, text,
                                   02000000L /* O_CLOEXEC */);
        if (fd < 0)
            continue;
        size = recorder_os_read(fd, name, 16);
        recorder_os_close(fd);
        if (size <= 0 || __atomic_load_n(&row->named, __ATOMIC_RELAXED))
            continue;
        name[size - 1] = '\0'; /* a newline */
        recorder_thread_set_name(row, name);
    }
}
#else
RECORDER_INLINE_ void recorder_threads_refresh(void)
{
}
#endif

RECORDER_FUNCTION_ void recorder_dump_summary(
    struct recorder_scratch *s, struct recorder_output *out,
    const struct recorder_summary *summary)
{
    const struct recorder_fetched *name =
        recorder_fetch(s, (uintptr_t)summary->name);
    struct recorder_string to;
    to = recorder_string_at(s->line, s->line_max);
    recorder_add_summary(&to, name ? name->bytes : NULL, name ? name->size : 0,
                         &summary->figures);
    recorder_output_line(out, s->line, to.size < to.max ? to.size : to.max);
}

/* How many slots there are to sort: what a dump in one pass has to hold. */
RECORDER_FUNCTION_ size_t recorder_slots(const char *regex)
{
    const struct recorder *recorder = recorder_walk();
    size_t count = 0;
    for (; recorder; recorder = recorder_walk_on(recorder))
        if (recorder_chosen(recorder, regex))
            count += (recorder->mask + 1) * (recorder->lanes_mask + 1);
    recorder_unwalk();
    return count;
}

/* How many events the batch holds. */
RECORDER_INLINE_ size_t recorder_batch_events(const struct recorder_batch *b)
{
    size_t count = 0, i;
    for (i = 0; i < b->count; i++)
        count += recorder_batch_at(b, i)->record.format >= RECORDER_TEXT_END;
    return count;
}

RECORDER_FUNCTION_ void recorder_dump_head(struct recorder_scratch *s,
                                           struct recorder_output *out)
{
    struct recorder_summary summary;
    struct recorder_string to;
    size_t i;
    to = recorder_string_at(s->line, s->line_max);
    recorder_add_head(&to, recorder_clock_realtime(),
                      (uint64_t)recorder_os_process(), s->batch.more,
                      recorder_batch_events(&s->batch));
    recorder_output_line(out, s->line, to.size);
    for (i = 0; recorder_summary_at(i, s->batch.regex, s->batch.end, &summary);
         i++)
        recorder_dump_summary(s, out, &summary);
}

/* Shows the event that the scratch is at, in place of our own lines; a dump has
 * no head then. Its state stands behind it, in a structure that begins so. */
struct recorder_lines {
    void (*show)(const struct recorder_lines *lines, struct recorder_scratch *s,
                 const struct recorder_clock *clock,
                 const struct recorder_event *event,
                 struct recorder_output *out);
};

/* Shows an event by `lines`, or where that is null, by the line `format`. */
RECORDER_FUNCTION_ void recorder_dump_event(const struct recorder_lines *lines,
                                            const char *format,
                                            struct recorder_scratch *s,
                                            const struct recorder_clock *clock,
                                            const struct recorder_event *event,
                                            struct recorder_output *out)
{
    size_t size;
    if (lines) {
        lines->show(lines, s, clock, event, out);
        return;
    }
    size = recorder_line_of(s, clock, event, format);
    recorder_output_line(out, s->line, size);
}

/* Dumps all that `regex` chooses, null: all. A pass takes the smallest orders
 * above those shown, as many as there is memory for: usually all of them. */
RECORDER_FUNCTION_ size_t recorder_dump_passes(
    struct recorder_scratch *s, struct recorder_output *out,
    const struct recorder_lines *lines)
{
    struct recorder_clock clock;
    struct recorder_event event;
    char line[256];
    const char *format = recorder_line_set(s, line, sizeof line);
    size_t shown = 0;
    bool first = true;
    recorder_clock_open(&clock);
    recorder_threads_refresh();
    s->batch.end = __atomic_load_n(recorder_home.order, __ATOMIC_ACQUIRE);
    do {
        recorder_batch_fill(&s->batch);
        if (first && !lines)
            recorder_dump_head(s, out);
        first = false;
        for (; s->at = s->batch.next,
               recorder_batch_take(&s->batch, &event, NULL) && !out->failed;
             shown++) {
            while (recorder_batch_at(&s->batch, s->at)->record.order !=
                   event.order)
                s->at++;
            recorder_dump_event(lines, format, s, &clock, &event, out);
        }
    } while (s->batch.more && !out->failed);
    return shown;
}

RECORDER_FUNCTION_ bool recorder_line(const char *line)
{
    struct recorder_string say;
    const char *wrong = NULL;
    char text[200];
    say = recorder_string_at(text, sizeof text);
    if (line && !*line)
        line = NULL;
    if (line)
        wrong = recorder_line_check(line);
    if (wrong) {
        recorder_add_string(&say, "recorder: line: no such field: {");
        recorder_add_text(&say, wrong, recorder_length(wrong, 24));
        recorder_add_string(&say, "\nrecorder: line: there are "
                                  RECORDER_LINE_FIELDS "\n");
        recorder_say(&say);
        return false;
    }
    if (line && recorder_length(line, RECORDER_STACK_LINE) >=
                    RECORDER_STACK_LINE) {
        recorder_add_string(&say, "recorder: line: more than 255 bytes\n");
        recorder_say(&say);
        return false;
    }
    __atomic_store_n(&recorder_home.registry->line, line, __ATOMIC_RELEASE);
    return true;
}

RECORDER_FUNCTION_ size_t recorder_dump_with(
    struct recorder_scratch *scratch, const char *regex,
    struct recorder_output *out, const struct recorder_lines *lines)
{
    size_t shown;
    scratch->batch.regex = regex;
    out->gathered = scratch->out;
    out->gathered_max = scratch->out_max;
    out->gathered_size = 0;
    shown = recorder_dump_passes(scratch, out, lines);
    recorder_output_flush(out);
    recorder_scratch_close(scratch);
    return shown;
}
/* A function of its own, so that its memory is on the stack only if needed. */
RECORDER_FUNCTION_ size_t recorder_dump_unmapped(
    struct recorder_scratch *scratch, const char *regex,
    struct recorder_output *out, const struct recorder_lines *lines)
{
    char stack[RECORDER_SCRATCH_STACK] __attribute__((aligned(16)));
    recorder_scratch_open(scratch, 0, stack);
    return recorder_dump_with(scratch, regex, out, lines);
}
RECORDER_FUNCTION_ size_t recorder_dump_out(const char *regex,
                                            struct recorder_output *out,
                                            const struct recorder_lines *lines)
{
    struct recorder_scratch scratch;
    struct recorder_held held;
    size_t shown;
    recorder_signals_hold(&held);
    if (recorder_scratch_map(&scratch, recorder_slots(regex)))
        shown = recorder_dump_with(&scratch, regex, out, lines);
    else
        shown = recorder_dump_unmapped(&scratch, regex, out, lines);
    recorder_signals_release(&held);
    return shown;
}

RECORDER_FUNCTION_ size_t recorder_dump_to(recorder_sink *sink, void *context)
{
    struct recorder_output out = {sink, context, -1, 0, 0, 0, false, 0};
    return recorder_dump_out(NULL, &out, NULL);
}
#ifdef RECORDER_HOSTED_
RECORDER_FUNCTION_ size_t recorder_dump_fd(int fd)
{
    struct recorder_output out = {0, 0, fd, 0, 0, 0, false, 0};
    return recorder_dump_out(NULL, &out, NULL);
}
#endif
RECORDER_FUNCTION_ size_t recorder_dump(void)
{
    struct recorder_output out = {0, 0, recorder_output_fd, 0, 0, 0, false, 0};
    return recorder_dump_out(NULL, &out, NULL);
}
RECORDER_FUNCTION_ size_t recorder_dump_for(const char *regex)
{
    struct recorder_output out = {0, 0, recorder_output_fd, 0, 0, 0, false, 0};
    const char *wrong = recorder_regex_check(regex);
    struct recorder_string say;
    char text[200];
    if (!wrong)
        return recorder_dump_out(regex, &out, NULL);
    say = recorder_string_at(text, sizeof text);
    recorder_add_string(&say, "recorder: ");
    recorder_add_text(&say, regex, recorder_length(regex, 80));
    recorder_add_string(&say, ": ");
    recorder_add_string(&say, wrong);
    recorder_add_string(&say, "\n");
    recorder_say(&say);
    return 0;
}

/* ----------------------------------------------------------------- trace -- */

RECORDER_INLINE_ void recorder_batch_of_one(
    struct recorder_batch *batch, const struct recorder *recorder,
    unsigned thread, const struct recorder_record *records, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++) {
        struct recorder_kept *kept = &batch->kept[i];
        kept->record = records[i];
        kept->recorder = recorder;
        kept->name = recorder->name;
        kept->ring = recorder_lane(recorder, thread);
        kept->slot = 0;
        kept->thread = thread;
        batch->keys[i].index = i;
        batch->keys[i].order = records[i].order;
    }
    batch->count = count;
}

RECORDER_FUNCTION_ void recorder_print_with(
    struct recorder_scratch *s, const struct recorder *recorder,
    unsigned thread, const struct recorder_record *records, unsigned count,
    const struct recorder_lines *lines)
{
    struct recorder_output out = {0, 0, recorder_output_fd, 0, 0, 0, false, 0};
    struct recorder_clock clock;
    struct recorder_event event;
    char line[RECORDER_STACK_LINE];
    const char *format;
    s->trace = recorder->trace;
    recorder_batch_of_one(&s->batch, recorder, thread, records, count);
    recorder_event_of(&s->batch, 0, count, &event);
    recorder_clock_open(&clock);
    format = recorder_line_set(s, line, sizeof line);
    recorder_dump_event(lines, format, s, &clock, &event, &out);
    recorder_scratch_close(s);
}
RECORDER_FUNCTION_ void recorder_print_unspared(
    struct recorder_scratch *s, const struct recorder *recorder,
    unsigned thread, const struct recorder_record *records, unsigned count,
    const struct recorder_lines *lines)
{
    char stack[RECORDER_SCRATCH_STACK] __attribute__((aligned(16)));
    recorder_scratch_open(s, 0, stack);
    recorder_print_with(s, recorder, thread, records, count, lines);
}

/* Prints one record at once, with one write. */
RECORDER_FUNCTION_ void recorder_print_lines(
    const struct recorder *recorder, unsigned thread,
    const struct recorder_record *records, unsigned count,
    const struct recorder_lines *lines)
{
    struct recorder_scratch s;
    struct recorder_held held;
    recorder_signals_hold(&held);
    if (recorder_scratch_spare(&s))
        recorder_print_with(&s, recorder, thread, records, count, lines);
    else
        recorder_print_unspared(&s, recorder, thread, records, count, lines);
    recorder_signals_release(&held);
}
/* The registry's hook. */
RECORDER_FUNCTION_ void recorder_print(const struct recorder *recorder,
                                       unsigned thread,
                                       const struct recorder_record *records,
                                       unsigned count)
{
    recorder_print_lines(recorder, thread, records, count, NULL);
}

/* The message of an event, as snprintf would write it: at most size - 1 bytes
 * and a NUL. Returns the length of the whole. */
RECORDER_FUNCTION_ size_t
recorder_event_text(const struct recorder_event *event, char *to, size_t size)
{
    char stack[RECORDER_SCRATCH_STACK] __attribute__((aligned(16)));
    struct recorder_scratch s;
    const char *location;
    size_t length;
    recorder_scratch_open(&s, 0, stack);
    /* No line is made here: its room goes to long formats and texts. */
    s.format = (char *)(s.fetched + 1);
    s.format_max = RECORDER_FORMAT_MAX;
    s.text = s.format + s.format_max;
    s.text_max = RECORDER_TEXT_MAX;
    length = recorder_message(&s, event, to, size, &location);
    recorder_scratch_close(&s);
    return length;
}

__attribute__((constructor(102))) static void recorder_dump_enter(void)
{
    recorder_start();
    if (recorder_home.registry->hook)
        return;
    recorder_home.registry->hook = recorder_print;
    recorder_line(recorder_os_environment("RECORDER_LINE"));
}
#ifdef RECORDER_IN_LIBRARY_
__attribute__((destructor(102))) static void recorder_dump_leave(void)
{
    if (recorder_home.registry->hook == recorder_print)
        recorder_home.registry->hook = NULL;
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
