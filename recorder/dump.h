/* dump.h - shows records as text. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_DUMP_H_
#define RECORDER_DUMP_H_

#include "decode.h"
#include "format.h"
#include "output.h"
#include "strings.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------------ line -- */

/* Returns the row of the thread that made an event, or null if another thread
 * has the row now. */
RECORDER_INLINE_ const struct recorder_thread_row *
recorder_event_row_(const struct recorder_event *event)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    const struct recorder_thread_row *row =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    if (!row || event->thread == 0 ||
        event->thread > recorder_get_(&registry->threads_max))
        return NULL;
    row += event->thread - 1;
    return (intptr_t)((uintptr_t)event->order - recorder_get_(&row->first)) < 0
               ? NULL
               : row;
}

/* The program's own conversions, or null. Entry 0 proves that this is their
 * table: the registry's word may have been overwritten. */
RECORDER_INLINE_ recorder_type *const *recorder_types_of_program_(void)
{
    recorder_type *const *types = recorder_home_.registry->types;
    return types && (uintptr_t)types[0] == ~(uintptr_t)types ? types : NULL;
}

/* Like recorder_event_text(), but copied texts come from the scratch's
 * batch. */
RECORDER_FUNCTION_ size_t recorder_message_(struct recorder_scratch_ *s,
                                            const struct recorder_event *event,
                                            char *to, size_t size,
                                            const char **location)
{
    struct recorder_text_context_ context;
    struct recorder_arguments_ arguments;
    struct recorder_string_ string;
    const char *format = recorder_format_of_(s, event, location);
    struct recorder_decoded_ decoded;
    context.scratch = s;
    context.event = event;
    context.token = 0;
    context.read = 0;
    arguments.word = event->argument;
    arguments.count = 12;
    arguments.missing = event->missing_arguments;
    arguments.word_bytes = sizeof(uintptr_t);
    arguments.text = recorder_text_;
    arguments.context = &context;
    arguments.types = recorder_types_of_program_();
    arguments.trace = s->trace;
    arguments.changes = recorder_text_changes_;
    if (format && recorder_decode_is_(&s->heading) &&
        recorder_decode_(event, s->heading.severity, s->heading.hardware,
                         &decoded)) {
        s->heading.severity = decoded.severity;
        s->heading.hardware = decoded.hardware;
        arguments.word = decoded.argument;
        arguments.missing = decoded.missing;
        format = decoded.format;
        s->plan = NULL;
    }
    if (format)
        return recorder_format_planned_(to, size, format, &arguments, s->plan);
    string = recorder_string_at_(to, size ? size - 1 : 0);
    recorder_add_unreadable_(&string, event,
                             !recorder_life_is_(event->format, event->order));
    if (size)
        to[string.size < string.max ? string.size : string.max] = '\0';
    return string.size;
}

/* Fills in the fields of a line for the event that the scratch is at. */
RECORDER_FUNCTION_ void recorder_show_(struct recorder_scratch_ *s,
                                       const struct recorder_clock_ *clock,
                                       const struct recorder_event *event,
                                       struct recorder_shown_ *shown)
{
    const struct recorder_thread_row *row = recorder_event_row_(event);
    const struct recorder_fetched_ *name;
    /* Without a thread table, only the number is known. */
    bool numbered = !recorder_thread_rows_() &&
                    event->thread != RECORDER_THREAD_SHARED;
    shown->event = event;
    shown->ns = recorder_clock_time_(clock, event->time);
    shown->realtime_ns = clock->start.realtime_ns;
    shown->digits = recorder_clock_digits_(clock);
    shown->thread = row ? row->name : numbered ? "?" : NULL;
    shown->message = s->message;
    shown->message_max = s->line_max - 1;
    shown->message_size =
        recorder_message_(s, event, s->message, s->line_max, &shown->location);
    shown->severity = s->heading.severity;
    shown->hardware = s->heading.hardware;
    name = recorder_fetch_(s, (uintptr_t)event->name);
    if (!recorder_life_is_((uintptr_t)event->name, event->order))
        name = NULL;
    shown->name = name ? name->bytes : NULL;
    shown->name_size = name ? name->size : 0;
}

/* Writes the line of the event that the scratch is at, with its final newline,
 * into scratch->line. Returns its size. */
RECORDER_INLINE_ size_t recorder_line_of_(struct recorder_scratch_ *s,
                                          const struct recorder_clock_ *clock,
                                          const struct recorder_event *event,
                                          const struct recorder_line_ *line)
{
    struct recorder_shown_ shown;
    struct recorder_string_ to;
    recorder_show_(s, clock, event, &shown);
    to = recorder_string_at_(s->line, s->line_max - 1);
    recorder_add_line_(&to, line, &shown);
    recorder_end_line_(&to);
    return to.size;
}

/* Reads the current line format, copied to `to`; the default if none is set or
 * it cannot be read. */
RECORDER_SELDOM_ void recorder_line_current_(struct recorder_scratch_ *s,
                                             char *to, size_t max,
                                             struct recorder_line_ *read)
{
    const char *line =
        __atomic_load_n(&recorder_home_.registry->line, __ATOMIC_ACQUIRE);
    ptrdiff_t size =
        line ? recorder_memory_copy_(&s->memory, (uintptr_t)line, to, max - 1)
             : -1;
    to[size > 0 ? size : 0] = '\0';
    recorder_line_read_(read, size > 0 ? to : RECORDER_LINE_DEFAULT_);
}

/* Updates the names of threads that the program did not name itself: a thread
 * is often named by another, after its first record. */
RECORDER_SELDOM_ void recorder_threads_refresh_(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_thread_row *rows =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    uintptr_t i, count = recorder_get_(&registry->threads_count);
    if (!RECORDER_OS_NAMES_ || !rows)
        return;
    if (count > RECORDER_THREAD_SHARED)
        return; /* it was overwritten */
    for (i = 0; i < count && i < recorder_get_(&registry->threads_max); i++) {
        struct recorder_thread_row *row = &rows[i];
        char name[16];
        if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) ==
                RECORDER_ROW_ALIVE_ &&
            !__atomic_load_n(&row->named, __ATOMIC_RELAXED) &&
            recorder_os_get_name_of_(row->id, name) &&
            !__atomic_load_n(&row->named, __ATOMIC_RELAXED))
            recorder_thread_set_name_(row, name);
    }
}

RECORDER_SELDOM_ void
recorder_dump_summary_(struct recorder_scratch_ *s,
                       struct recorder_output_ *out,
                       const struct recorder_summary_ *summary)
{
    const struct recorder_fetched_ *name =
        recorder_fetch_(s, (uintptr_t)summary->name);
    struct recorder_string_ to;
    to = recorder_string_at_(s->line, s->line_max);
    recorder_add_summary_(&to, name ? name->bytes : NULL, name ? name->size : 0,
                          &summary->figures, summary->trace);
    recorder_output_line_(out, s->line, to.size < to.max ? to.size : to.max);
}

/* The choice of a dump. */
struct recorder_choice_ {
    const char *regex; /* of the recorders; null: all */
    size_t last;       /* number of newest events of each; 0: all */
    size_t lines_max;  /* as many events of each as fit; 0: no limit */
    uint64_t until_ns; /* as a batch has it */
};

/* Counts the events of the chosen recorders: of each, `max` at most. */
RECORDER_SELDOM_ size_t
recorder_choice_events_(struct recorder_batch_ *batch, size_t max)
{
    uintptr_t from = recorder_batch_from_(batch);
    struct recorder_walk_ walk;
    const struct recorder *recorder = recorder_walk_begin_(&walk);
    size_t count = 0;
    for (; from && recorder; recorder = recorder_walk_next_(&walk))
        if (recorder_chosen_(recorder, batch->regex))
            count += recorder_events_from_(batch, recorder, from, max);
    recorder_readers_leave_();
    return count;
}

/* Returns the number of events of each recorder that fit into `lines_max`
 * lines: 1 at least. Each chosen recorder has a head line, the dump 3 more. */
RECORDER_SELDOM_ size_t
recorder_choice_fit_(struct recorder_batch_ *batch, size_t lines_max)
{
    struct recorder_walk_ walk;
    const struct recorder *recorder = recorder_walk_begin_(&walk);
    size_t low = 1, high = lines_max, lines = 3;
    for (; recorder; recorder = recorder_walk_next_(&walk))
        lines += recorder_chosen_(recorder, batch->regex);
    recorder_readers_leave_();
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (lines + recorder_choice_events_(batch, middle) > lines_max)
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}

/* Says how many events a dump left out, and how to see them. */
RECORDER_SELDOM_ void recorder_choice_say_(struct recorder_scratch_ *s,
                                           struct recorder_output_ *out,
                                           size_t left_out)
{
    struct recorder_string_ to = recorder_string_at_(s->line, s->line_max);
    recorder_add_behind_(&to, "recorder: ", left_out, 1);
    recorder_add_string_(&to, " older records are left out: `recorder dump` "
                              "shows them, of the process or its core file, or "
                              "set RECORDER_DUMP=last=all\n");
    recorder_output_line_(out, s->line, to.size);
}

/* Returns how many slots the chosen recorders have: a dump in one pass holds as
 * many records. */
RECORDER_SELDOM_ size_t recorder_slots_(const char *regex)
{
    struct recorder_walk_ walk;
    const struct recorder *recorder = recorder_walk_begin_(&walk);
    size_t count = 0;
    for (; recorder; recorder = recorder_walk_next_(&walk))
        if (recorder_chosen_(recorder, regex))
            count += (recorder->mask + 1) * (recorder->lanes_mask + 1);
    recorder_readers_leave_();
    return count;
}

#define RECORDER_ENDS_EARLY_ "this dump ends early: "
/* Bytes of a crash dump's setting, and of its path. */
enum { RECORDER_CRASH_MAX_ = 256 };
/* Says "recorder: FIRST PATH LAST". */
RECORDER_SELDOM_ void recorder_dump_say_(struct recorder_output_ *out,
                                           const char *first, const char *path,
                                           const char *last)
{
    struct recorder_string_ say;
    char text[RECORDER_CRASH_MAX_ + 100];
    say = recorder_string_at_(text, sizeof text);
    recorder_add_string_(&say, "recorder: ");
    recorder_add_string_(&say, first);
    recorder_add_name_(&say, path, RECORDER_CRASH_MAX_);
    recorder_add_string_(&say, last);
    recorder_add_string_(&say, "\n");
    recorder_output_line_(out, text, say.size);
}

/* Returns how many events the batch holds. */
RECORDER_INLINE_ size_t recorder_batch_events_(const struct recorder_batch_ *b)
{
    size_t count = 0, i;
    for (i = 0; i < b->count; i++)
        count += recorder_is_head_(recorder_batch_at_(b, i)->record.format);
    return count;
}

RECORDER_APART_ void recorder_dump_head_(struct recorder_scratch_ *s,
                                          struct recorder_output_ *out)
{
    struct recorder_summary_ summary;
    struct recorder_string_ to;
    size_t i;
    to = recorder_string_at_(s->line, s->line_max);
    recorder_add_head_(&to, recorder_clock_realtime_(), 0,
                       recorder_home_.registry->program,
                       (uint64_t)recorder_os_process_(), s->batch.more,
                       recorder_batch_events_(&s->batch));
    recorder_output_line_(out, s->line, to.size);
    for (i = 0; recorder_summary_at_(i, &s->batch, &summary); i++)
        recorder_dump_summary_(s, out, &summary);
    if (i == 0 && s->batch.regex && !s->batch.late)
        recorder_dump_say_(out, "no recorder is named ", s->batch.regex, "");
}

/* Each line adds this to the time limit of a crash's dump: a line takes some
 * microseconds, and last=all may show millions. */
enum { RECORDER_LINE_NS_ = 20000 };

/* A printer of events that replaces our lines; its dump has no head. A
 * printer's state is a structure that begins with this one. */
struct recorder_lines_ {
    void (*show)(const struct recorder_lines_ *lines,
                 struct recorder_scratch_ *s,
                 const struct recorder_clock_ *clock,
                 const struct recorder_event *event,
                 struct recorder_output_ *out);
};

/* Shows an event by `lines` or, if that is null, by the line format. */
RECORDER_FUNCTION_ void recorder_dump_event_(
    const struct recorder_lines_ *lines, const struct recorder_line_ *line,
    struct recorder_scratch_ *s, const struct recorder_clock_ *clock,
    const struct recorder_event *event, struct recorder_output_ *out)
{
    size_t size;
    if (lines) {
        lines->show(lines, s, clock, event, out);
        return;
    }
    size = recorder_line_of_(s, clock, event, line);
    recorder_output_line_(out, s->line, size);
}

/* Dumps the chosen events. A pass takes the smallest orders above those shown,
 * as many as there is memory for: usually all of them. */
RECORDER_FUNCTION_ size_t recorder_dump_passes_(
    struct recorder_scratch_ *s, const struct recorder_choice_ *choice,
    struct recorder_output_ *out, const struct recorder_lines_ *lines)
{
    struct recorder_clock_ clock;
    struct recorder_event event;
    struct recorder_line_ line;
    char format[256];
    size_t shown = 0, all = 0;
    bool first = true;
    recorder_line_current_(s, format, sizeof format, &line);
    recorder_clock_open_(&clock);
    recorder_threads_refresh_();
    s->batch.end = recorder_order_end_();
    s->batch.regex = choice->regex;
    s->batch.until_ns = choice->until_ns;
    s->batch.last = choice->lines_max
                        ? recorder_choice_fit_(&s->batch, choice->lines_max)
                        : choice->last;
    if (s->batch.last)
        all = recorder_choice_events_(&s->batch, SIZE_MAX);
    do {
        recorder_batch_fill_(&s->batch);
        if (first && !lines)
            recorder_dump_head_(s, out);
        first = false;
        for (; s->at = s->batch.next,
               recorder_batch_take_(&s->batch, &event, NULL) &&
               !out->failed && !recorder_batch_is_late_(&s->batch);
             shown++) {
            while (recorder_batch_at_(&s->batch, s->at)->record.order !=
                   event.order)
                s->at++;
            recorder_dump_event_(lines, &line, s, &clock, &event, out);
            s->batch.until_ns += s->batch.until_ns ? RECORDER_LINE_NS_ : 0;
        }
    } while (s->batch.more && !out->failed && !s->batch.late);
    if (s->batch.late)
        recorder_dump_say_(out, RECORDER_ENDS_EARLY_,
                           "it took too much time of the processor", "");
    else if (all > shown)
        recorder_choice_say_(s, out, all - shown);
    return shown;
}

RECORDER_ANY_ bool recorder_line(const char *line)
{
    struct recorder_string_ say;
    const char *wrong = NULL;
    char text[200];
    say = recorder_string_at_(text, sizeof text);
    if (line && !*line)
        line = NULL;
    if (line)
        wrong = recorder_line_check_(line);
    if (wrong) {
        recorder_add_string_(&say, "recorder: line: unknown field: {");
        recorder_add_name_(&say, wrong, 24);
        recorder_add_string_(
            &say, "\nrecorder: line: there are " RECORDER_LINE_FIELDS_ "\n");
        recorder_say_(&say);
        return false;
    }
    if (line &&
        recorder_length_(line, RECORDER_STACK_LINE_) >= RECORDER_STACK_LINE_)
        return recorder_complain_("line: ", "", 0, "more than 255 bytes");
    __atomic_store_n(&recorder_home_.registry->line, line, __ATOMIC_RELEASE);
    recorder_file_tell_(RECORDER_FILE_SYNC_, NULL);
    return true;
}

RECORDER_SELDOM_ size_t recorder_dump_with_(
    struct recorder_scratch_ *scratch, const struct recorder_choice_ *choice,
    struct recorder_output_ *out, const struct recorder_lines_ *lines)
{
    size_t shown;
    out->gathered = scratch->out;
    out->gathered_max = scratch->out_max;
    out->gathered_size = 0;
    shown = recorder_dump_passes_(scratch, choice, out, lines);
    recorder_output_flush_(out);
    recorder_scratch_close_(scratch);
    return shown;
}
/* Dumps with scratch memory on the stack. It is a function, so that other dumps
 * do not take that stack. */
RECORDER_APART_ size_t recorder_dump_unmapped_(
    struct recorder_scratch_ *scratch, const struct recorder_choice_ *choice,
    struct recorder_output_ *out, const struct recorder_lines_ *lines)
{
    char stack[RECORDER_SCRATCH_STACK_] __attribute__((aligned(16)));
    recorder_scratch_open_(scratch, 0, stack);
    return recorder_dump_with_(scratch, choice, out, lines);
}
/* Calls memcpy() for 0 bytes: the loader binds it here, where the stack of a
 * signal is not yet deep, as that takes 2.5 KB. In a cold function gcc would
 * put another instruction in place of the call. */
__attribute__((hot)) RECORDER_FUNCTION_ void
recorder_dump_bind_(void *to, const void *from, size_t none)
{
    recorder_bytes_(to, from, none);
}
RECORDER_SELDOM_ size_t recorder_dump_choice_(
    const struct recorder_choice_ *choice, struct recorder_output_ *out,
    const struct recorder_lines_ *lines)
{
    struct recorder_scratch_ scratch;
    struct recorder_held_ held;
    volatile size_t none = 0;
    size_t shown;
    recorder_dump_bind_(&scratch, choice, none);
    recorder_kernel_ask_();
    recorder_os_hold_signals_(&held);
    if (recorder_scratch_map_(&scratch, recorder_slots_(choice->regex)))
        shown = recorder_dump_with_(&scratch, choice, out, lines);
    else
        shown = recorder_dump_unmapped_(&scratch, choice, out, lines);
    recorder_os_release_signals_(&held);
    return shown;
}
/* Dumps all events of the recorders that `regex` chooses; null: of all. */
RECORDER_SELDOM_ size_t recorder_dump_out_(const char *regex,
                                           struct recorder_output_ *out,
                                           const struct recorder_lines_ *lines)
{
    struct recorder_choice_ choice = {regex, 0, 0, 0};
    return recorder_dump_choice_(&choice, out, lines);
}

RECORDER_ANY_ size_t recorder_dump_to(recorder_sink *sink, void *context)
{
    struct recorder_output_ out = recorder_output_to_(-1);
    out.sink = sink;
    out.context = context;
    return recorder_dump_out_(NULL, &out, NULL);
}
#ifdef RECORDER_HOSTED_
RECORDER_ANY_ size_t recorder_dump_fd(int fd)
{
    struct recorder_output_ out = recorder_output_to_(fd);
    return recorder_dump_out_(NULL, &out, NULL);
}
#endif
RECORDER_ANY_ size_t recorder_dump(void)
{
    struct recorder_output_ out = recorder_output_to_(recorder_output_fd_);
    return recorder_dump_out_(NULL, &out, NULL);
}
RECORDER_ANY_ size_t recorder_dump_for(const char *regex)
{
    struct recorder_output_ out = recorder_output_to_(recorder_output_fd_);
    const char *wrong = recorder_regex_check_(regex);
    if (!wrong)
        return recorder_dump_out_(regex, &out, NULL);
    return recorder_complain_("", regex, 80, wrong);
}

/* ----------------------------------------------------------------- trace -- */

RECORDER_INLINE_ void
recorder_batch_of_one_(struct recorder_batch_ *batch,
                       const struct recorder *recorder, unsigned thread,
                       const struct recorder_record *records, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++) {
        struct recorder_kept_ *kept = &batch->kept[i];
        kept->record = records[i];
        kept->recorder = recorder;
        kept->name = recorder->name;
        kept->ring = NULL; /* it is in no ring: no token points to it */
        kept->slot = 0;
        kept->thread = thread;
        batch->keys[i].index = i;
        batch->keys[i].order = records[i].order;
    }
    batch->count = count;
}

RECORDER_SELDOM_ void
recorder_print_with_(struct recorder_scratch_ *s,
                     const struct recorder *recorder, unsigned thread,
                     const struct recorder_record *records, unsigned count,
                     const struct recorder_lines_ *lines)
{
    struct recorder_output_ out = recorder_output_to_(recorder_output_fd_);
    struct recorder_clock_ clock;
    struct recorder_event event;
    struct recorder_line_ line;
    char format[RECORDER_STACK_LINE_];
    s->trace = (intptr_t)recorder_trace_value_(
        __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED));
    recorder_batch_of_one_(&s->batch, recorder, thread, records, count);
    recorder_event_of_(&s->batch, 0, count, &event);
    recorder_clock_open_(&clock);
    recorder_line_current_(s, format, sizeof format, &line);
    recorder_dump_event_(lines, &line, s, &clock, &event, &out);
    recorder_scratch_close_(s);
}
RECORDER_APART_ void
recorder_print_unspared_(struct recorder_scratch_ *s,
                         const struct recorder *recorder, unsigned thread,
                         const struct recorder_record *records, unsigned count,
                         const struct recorder_lines_ *lines)
{
    char stack[RECORDER_SCRATCH_STACK_] __attribute__((aligned(16)));
    recorder_scratch_open_(s, 0, stack);
    recorder_print_with_(s, recorder, thread, records, count, lines);
}

/* Prints a traced record by one write(); nothing of one that is only
 * watched. */
RECORDER_SELDOM_ void
recorder_print_lines_(const struct recorder *recorder, unsigned thread,
                      const struct recorder_record *records, unsigned count,
                      const struct recorder_lines_ *lines)
{
    struct recorder_scratch_ s;
    struct recorder_held_ held;
    if (recorder_trace_value_(
            __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED)) == 0)
        return;
    recorder_os_hold_signals_(&held);
    if (recorder_scratch_spare_(&s))
        recorder_print_with_(&s, recorder, thread, records, count, lines);
    else
        recorder_print_unspared_(&s, recorder, thread, records, count, lines);
    recorder_os_release_signals_(&held);
}
/* The registry's hook. */
RECORDER_SELDOM_ void recorder_print_(const struct recorder *recorder,
                                        unsigned thread,
                                        const struct recorder_record *records,
                                        unsigned count)
{
    recorder_print_lines_(recorder, thread, records, count, NULL);
}

RECORDER_CALLED_ size_t recorder_event_text(const struct recorder_event *event,
                                            char *to, size_t size)
{
    char stack[RECORDER_SCRATCH_STACK_] __attribute__((aligned(16)));
    struct recorder_scratch_ s;
    const char *location;
    size_t length;
    recorder_scratch_open_(&s, 0, stack);
    /* This makes no line: its memory goes to long formats and texts. */
    s.format = (char *)(s.fetched + 1);
    s.format_max = RECORDER_FORMAT_MAX_;
    s.text = s.format + s.format_max;
    s.text_max = RECORDER_TEXT_MAX_;
    length = recorder_message_(&s, event, to, size, &location);
    recorder_scratch_close_(&s);
    return length;
}

RECORDER_UNSEEN_ __attribute__((constructor(102))) static void
recorder_dump_enter_(void)
{
    recorder_start_();
    if (recorder_home_.registry->hook)
        return;
    recorder_home_.registry->hook = recorder_print_;
    recorder_line(recorder_os_environment_("RECORDER_LINE"));
}
RECORDER_AT_CLOSE_(102) recorder_dump_leave_(void)
{
    if (recorder_home_.registry->hook == recorder_print_)
        recorder_home_.registry->hook = NULL;
}

RECORDER_C_END_
#endif
