/* body.h - the functions of recorder 1.x, made of ours. */
/* SPDX-License-Identifier: MIT */
/*
CONTENTS
    predefined  recorders and tweaks
    time        recorder_tick, timing
    line        an event in the format of 1.x
    dump        recorder_sort, the dumps made of it, recorder_configure_...
    trace       the registry's hook, recorder_trace_set
    background  a thread that dumps (background.h)
    signals     the handler, the environment, start and end
*/
#ifndef RECORDER_1X_BODY_H
#define RECORDER_1X_BODY_H

/* ------------------------------------------------------------ predefined --
 *
 * The definitions are weak: every file of a program has them.
 */
#define RECORDER_1X_DEFINE_(name, size, info)                                  \
    struct recorder_1x_rings_for_##name {                                      \
        struct recorder_ring ring;                                             \
        struct recorder_record records[size];                                  \
        uintptr_t commit[size];                                                \
        struct recorder_turn turns[size];                                      \
    } __attribute__((aligned(RECORDER_CACHE_LINE)));                           \
    extern struct recorder_1x_rings_for_##name recorder_1x_ring_for_##name;    \
    RECORDER_PROGRAM_ struct recorder_1x_rings_for_##name                      \
        recorder_1x_ring_for_##name;                                           \
    RECORDER_PROGRAM_ struct recorder recorder_for_##name =                    \
        RECORDER_INIT_(#name, info, &recorder_1x_ring_for_##name.ring,         \
                       sizeof recorder_1x_ring_for_##name, size, 1);
#define RECORDER_1X_TWEAK_DEFINE_(name, value, info)                           \
    RECORDER_PROGRAM_ struct recorder_tweak recorder_for_##name =              \
        RECORDER_TWEAK_INIT_(#name, info, value);
RECORDER_1X_RECORDERS_(RECORDER_1X_DEFINE_)
RECORDER_1X_TWEAKS_(RECORDER_1X_TWEAK_DEFINE_)

RECORDER_C_BEGIN_

#define RECORDER_1X_VALUE_(name)                                               \
    __atomic_load_n(&recorder_for_##name.value, __ATOMIC_RELAXED)

/* The settings of recorder_configure_...(). */
struct recorder_1x {
    recorder_show_fn show;     /* null: recorder_1x_write */
    recorder_format_fn format; /* null: recorder_1x_add_line */
    void *output;
    int before;           /* recorder_output_fd_ until output_open() */
    bool due;             /* the descriptor of `output` is not asked for yet */
    unsigned level;       /* of indentation, in traces */
    unsigned shown_level; /* of the line just made: recorder_indent() */
    uintptr_t background; /* the thread: 0 none, 1 runs, 2 shall end */
    char background_for[RECORDER_SET_MAX_];
};
RECORDER_PROGRAM_ struct recorder_1x recorder_1x = {0, 0, 0, 0, false,
                                                    0, 0, 0, ""};

/* ------------------------------------------------------------------ time -- */

RECORDER_INLINE_ uintptr_t recorder_1x_tick(void)
{
    uint64_t ns = recorder_clock_ns_(RECORDER_MONOTONIC_) -
                  recorder_home_.registry->start.monotonic_ns;
    return (uintptr_t)(ns / (RECORDER_64BIT ? 1000 : 1000000));
}
#ifndef recorder_tick
RECORDER_1X_ uintptr_t recorder_tick(void)
{
    return recorder_1x_tick();
}
#endif

/* Adds one pass of a timed block. True if it is time to record the figures in
 * `to`. */
RECORDER_1X_ bool recorder_timing_add(struct recorder_timing *timing,
                                      uintptr_t began, uintptr_t ended,
                                      uintptr_t hz, intptr_t trace,
                                      uintptr_t amount,
                                      struct recorder_timed *to)
{
    uintptr_t none = 0, since, value, loops, ticks;
    double seconds;
    trace = (intptr_t)recorder_trace_value_(trace);
    if (trace < 0)
        return false;
    __atomic_compare_exchange_n(&timing->since, &none, began ? began : 1, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    recorder_add_(&timing->value, amount);
    recorder_add_(&timing->total, amount);
    recorder_add_(&timing->loops, 1);
    recorder_add_(&timing->ticks, ended - began);
    since = recorder_get_(&timing->since);
    if ((double)(ended - since) / (double)hz * 1000 < (double)trace ||
        !__atomic_compare_exchange_n(&timing->since, &since, ended ? ended : 1,
                                     false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    value = __atomic_exchange_n(&timing->value, 0, __ATOMIC_RELAXED);
    loops = __atomic_exchange_n(&timing->loops, 0, __ATOMIC_RELAXED);
    ticks = __atomic_exchange_n(&timing->ticks, 0, __ATOMIC_RELAXED);
    seconds = (double)(ended > since ? ended - since : 1) / (double)hz;
    to->values_per_s = (double)value / seconds;
    to->loops_per_s = (double)loops / seconds;
    to->average_us =
        loops ? (double)ticks * 1e6 / (double)hz / (double)loops : 0;
    to->total = recorder_get_(&timing->total);
    return true;
}

/* ------------------------------------------------------------------ line -- */

/* Adds "text:", right-aligned to `tweak` columns if that is above 1. */
RECORDER_FUNCTION_ void recorder_1x_column(struct recorder_string_ *to,
                                           intptr_t tweak, const char *text)
{
    size_t length = recorder_length_(text, 256), i;
    for (i = length; tweak > 1 && i < (size_t)tweak && i < 256; i++)
        recorder_add_string_(to, " ");
    recorder_add_text_(to, text, length);
    recorder_add_string_(to, ":");
}

/* Adds the fraction of a second, ".000223", with as many digits as the tweak
 * recorder_time_precision says. */
RECORDER_FUNCTION_ void recorder_1x_fraction(struct recorder_string_ *to,
                                             uint64_t ns)
{
    intptr_t digits = RECORDER_1X_VALUE_(recorder_time_precision), i;
    uint64_t part = ns % 1000000000u;
    if (digits <= 0)
        return;
    if (digits > 9)
        digits = 9;
    for (i = digits; i < 9; i++)
        part /= 10;
    recorder_add_string_(to, ".");
    recorder_add_number_(to, part, 10, (unsigned)digits);
}

/* Adds order, time of day and time since the start, "32 09:47:59.889728
 * 0.000223", as far as the tweaks enable each. */
RECORDER_FUNCTION_ void recorder_1x_times(struct recorder_string_ *to,
                                          const struct recorder_shown_ *shown)
{
    int64_t ns = shown->ns == RECORDER_TIME_UNKNOWN_ ? 0 : shown->ns;
    uint64_t day, relative = (uint64_t)(ns < 0 ? -ns : ns);
    size_t start = to->size;
    if (RECORDER_1X_VALUE_(recorder_order))
        recorder_add_number_(to, shown->event->order, 10, 1);
    if (RECORDER_1X_VALUE_(recorder_abstime)) {
        day = (shown->realtime_ns + (uint64_t)ns) %
              ((uint64_t)86400 * 1000000000u);
        if (to->size > start)
            recorder_add_string_(to, " ");
        recorder_add_number_(to, day / 1000000000u / 3600, 10, 2);
        recorder_add_string_(to, ":");
        recorder_add_number_(to, day / 1000000000u / 60 % 60, 10, 2);
        recorder_add_string_(to, ":");
        recorder_add_number_(to, day / 1000000000u % 60, 10, 2);
        recorder_1x_fraction(to, day);
    }
    if (RECORDER_1X_VALUE_(recorder_reltime)) {
        if (to->size > start)
            recorder_add_string_(to, " ");
        if (ns < 0)
            recorder_add_string_(to, "-");
        recorder_add_number_(to, relative / 1000000000u, 10, 1);
        recorder_1x_fraction(to, relative);
    }
}

/* Sets the level of indentation and the level of this line by the first byte of
 * the format: '>' indents the lines that follow, '<' ends that from this line
 * on, '=' goes back to 0. Returns the size of the mark, 1 or 0. */
RECORDER_FUNCTION_ size_t
recorder_1x_indent(unsigned *level, const struct recorder_scratch_ *s,
                   const struct recorder_shown_ *shown)
{
    unsigned here = __atomic_load_n(level, __ATOMIC_RELAXED), next = here;
    char mark = s->message[0];
    if ((uintptr_t)shown->location - (uintptr_t)s->format >= s->format_max ||
        s->format[0] != mark)
        mark = 0; /* the format could not be read */
    if (mark == '>')
        next = here + 1;
    else if (mark == '<')
        next = here = here ? here - 1 : 0;
    else if (mark == '=')
        next = here = 0;
    __atomic_store_n(level, next, __ATOMIC_RELAXED);
    __atomic_store_n(&recorder_1x.shown_level, here, __ATOMIC_RELAXED);
    return mark == '>' || mark == '<' || mark == '=';
}

/* "file.c:12", whole; or "?" */
RECORDER_INLINE_ const char *
recorder_1x_location(const struct recorder_shown_ *shown)
{
    return recorder_location_name_(shown->location)[0] == '?' ? "?"
                                                              : shown->location;
}

/* Adds a line, from the message in the scratch after `skip`. */
RECORDER_FUNCTION_ void
recorder_1x_add_line(struct recorder_string_ *to,
                     const struct recorder_scratch_ *s,
                     const struct recorder_shown_ *shown, size_t skip)
{
    size_t max = s->line_max - 1, start;
    intptr_t location = RECORDER_1X_VALUE_(recorder_location);
    intptr_t function = RECORDER_1X_VALUE_(recorder_function);
    intptr_t most = RECORDER_1X_VALUE_(recorder_indent);
    unsigned level = recorder_1x.shown_level, i;
    struct recorder_string_ caller;
    char text[24];
    caller = recorder_string_at_(text, sizeof text - 1);
    if (location)
        recorder_1x_column(to, location, recorder_1x_location(shown));
    if (function) {
        recorder_add_string_(&caller, "0x");
        recorder_add_number_(&caller, shown->event->caller, 16, 1);
        text[caller.size] = '\0';
        recorder_1x_column(to, function, text);
    }
    start = to->size;
    recorder_add_string_(to, "[");
    recorder_1x_times(to, shown);
    if (to->size == start + 1)
        to->size = start;
    else
        recorder_add_string_(to, "] ");
    if (level >= (uintptr_t)(most < 0 ? 0 : most) && level) {
        recorder_add_string_(to, "(");
        recorder_add_number_(to, level, 10, 1);
        recorder_add_string_(to, ")");
        level = 1;
    }
    for (i = 0; i < level; i++)
        recorder_add_string_(to, " ");
    recorder_add_field_(to, shown, RECORDER_NAME_);
    recorder_add_string_(to, ": ");
    recorder_add_text_(to, s->message + skip,
                       (shown->message_size < max ? shown->message_size : max) -
                           skip);
    if (shown->message_size > max)
        to->size += shown->message_size - max;
}

RECORDER_1X_ unsigned recorder_indent(void)
{
    return __atomic_load_n(&recorder_1x.shown_level, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ dump -- */

extern int recorder_os_fileno(void *file) RECORDER_LABEL_(fileno);

RECORDER_INLINE_ int recorder_1x_fd_of(void *output)
{
    uintptr_t value = (uintptr_t)output;
    return !value ? 2 : value < 256 ? (int)value : recorder_os_fileno(output);
}
/* Asks for the configured output's descriptor, once, and not before it is
 * written to: to a show function the output may be anything. Does nothing if
 * output=path has replaced it since. */
RECORDER_FUNCTION_ void recorder_1x_output_open(void)
{
    if (!recorder_1x.due || recorder_1x.show)
        return;
    recorder_1x.due = false;
    if (recorder_output_fd_ == recorder_1x.before)
        recorder_output_fd_ = recorder_1x_fd_of(recorder_1x.output);
}
/* The descriptor of an output. The configured one may have been replaced by
 * output=path since. */
RECORDER_INLINE_ int recorder_1x_fd(void *output)
{
    recorder_1x_output_open();
    return output == recorder_1x.output && !recorder_1x.due
               ? recorder_output_fd_
               : recorder_1x_fd_of(output);
}

/* The default show function: writes the line with its newline in one call. */
RECORDER_FUNCTION_ unsigned recorder_1x_write(const char *text, size_t size,
                                              void *output)
{
    struct recorder_held_ held;
    int error = *recorder_os_errno_();
    long done;
    recorder_os_hold_signals_(&held);
    done = recorder_os_write_line_(recorder_1x_fd(output), text, size);
    recorder_os_release_signals_(&held);
    *recorder_os_errno_() = error;
    return done > 0 ? (unsigned)done : 0;
}

/* How lines are made and where they go. */
struct recorder_1x_lines {
    struct recorder_lines_
        lines; /* by which recorder_1x_show() finds the rest */
    recorder_format_fn format;
    recorder_show_fn show; /* null: to the output of the dump */
    void *output;
    unsigned *level;
    bool *cut; /* if not null, a cut line sets it and is not shown */
};

/* True if larger scratch memory would give a longer line. */
RECORDER_FUNCTION_ bool recorder_1x_is_cut(const struct recorder_scratch_ *s,
                                           const struct recorder_shown_ *shown,
                                           const struct recorder_string_ *line)
{
    /* The format and its place fill the buffer, or the place is not in it. */
    size_t at = (uintptr_t)shown->location - (uintptr_t)s->format;
    bool filled = at >= s->format_max ||
                  at + recorder_length_(shown->location, s->format_max - at) >=
                      s->format_max - 1;
    /* A copied text is cut 4 bytes before its buffer ends. */
    return filled || line->size > line->max ||
           shown->message_size + 8 > s->text_max;
}

/* As a struct recorder_lines_. */
RECORDER_FUNCTION_ void recorder_1x_show(const struct recorder_lines_ *lines,
                                         struct recorder_scratch_ *s,
                                         const struct recorder_clock_ *clock,
                                         const struct recorder_event *event,
                                         struct recorder_output_ *out)
{
    const struct recorder_1x_lines *how =
        (const struct recorder_1x_lines *)(const void *)lines;
    unsigned level = __atomic_load_n(how->level, __ATOMIC_RELAXED);
    struct recorder_shown_ shown;
    struct recorder_string_ to, caller;
    char text[24];
    size_t skip;
    recorder_show_(s, clock, event, &shown);
    skip = recorder_1x_indent(how->level, s, &shown);
    to = recorder_string_at_(s->line, s->line_max - 1);
    if (how->format) {
        recorder_add_string_(&to, recorder_1x_location(&shown));
        recorder_add_string_(&to, ":");
        recorder_add_text_(&to, s->message + skip,
                           recorder_length_(s->message + skip, s->line_max));
    } else {
        recorder_1x_add_line(&to, s, &shown, skip);
    }
    if (how->cut && recorder_1x_is_cut(s, &shown, &to)) {
        __atomic_store_n(how->level, level, __ATOMIC_RELAXED);
        *how->cut = true;
        return;
    }
    recorder_end_line_(&to);
    if (!how->format && !how->show) {
        recorder_output_line_(out, s->line, to.size);
        return;
    }
    s->line[to.size - 1] = '\0';
    if (!how->format) {
        how->show(s->line, to.size - 1, how->output);
        return;
    }
    caller = recorder_string_at_(text, sizeof text - 1);
    recorder_add_string_(&caller, "0x");
    recorder_add_number_(&caller, event->caller, 16, 1);
    text[caller.size] = '\0';
    how->format(how->show ? how->show : recorder_1x_write, how->output,
                event->name, text, (uintptr_t)event->order,
                (uintptr_t)(shown.ns / (RECORDER_64BIT ? 1000 : 1000000)),
                s->line);
}

/* The settings of recorder_configure_...(), with a level of indentation. */
RECORDER_FUNCTION_ struct recorder_1x_lines
recorder_1x_configured(unsigned *level)
{
    struct recorder_1x_lines how = {{recorder_1x_show},
                                    recorder_1x.format,
                                    recorder_1x.show,
                                    recorder_1x.output,
                                    level,
                                    NULL};
    recorder_1x_output_open();
    return how;
}

/* Dumps the recorders that match `regex`, null: all. */
RECORDER_FUNCTION_ unsigned
recorder_1x_dump_by(const char *regex, const struct recorder_1x_lines *how)
{
    struct recorder_output_ out =
        recorder_output_to_(how->show ? -1 : recorder_1x_fd(how->output));
    const char *wrong = regex ? recorder_regex_check_(regex) : NULL;
    if (!wrong)
        return (unsigned)recorder_dump_out_(regex, &out, &how->lines);
    recorder_set_warn_(regex, wrong);
    return 0;
}

RECORDER_1X_ unsigned recorder_sort(const char *regex,
                                    recorder_format_fn format,
                                    recorder_show_fn show, void *output)
{
    unsigned level = 0;
    struct recorder_1x_lines how = recorder_1x_configured(&level);
    how.format = format;
    how.show = show == recorder_1x_write ? NULL : show;
    how.output = output;
    return recorder_1x_dump_by(regex, &how);
}

/* Records our own actions in 1.x's recorders for them. */
#define RECORDER_1X_RECORD_(name, format, a, b, c, d)                          \
    (__atomic_load_n(&recorder_for_##name.trace, __ATOMIC_RELAXED) < 0         \
         ? 0                                                                   \
         : recorder_record_few_(&recorder_for_##name,                          \
                                RECORDER_FORMAT_(format), a, b, c, d))
/* The same with a text that is copied, which takes records, too. */
#define RECORDER_1X_RECORD_TEXT_(name, format, text)                           \
    RECORDER_1X_RECORD_(name, format,                                          \
                        (uintptr_t)recorder_copy_(&recorder_for_##name, text), \
                        0, 0, 0)

RECORDER_1X_ unsigned recorder_dump(void)
{
    RECORDER_1X_RECORD_(recorder, "Recorder dump", 0, 0, 0, 0);
    return recorder_sort(NULL, recorder_1x.format, recorder_1x.show,
                         recorder_1x.output);
}
RECORDER_1X_ unsigned recorder_dump_for(const char *regex)
{
    RECORDER_1X_RECORD_TEXT_(recorder, "Recorder dump for %s", regex);
    return recorder_sort(regex, recorder_1x.format, recorder_1x.show,
                         recorder_1x.output);
}

RECORDER_1X_ void *recorder_configure_output(void *output)
{
    void *before = recorder_1x.output;
    RECORDER_1X_RECORD_(recorder, "Configure output %p from %p",
                        (uintptr_t)output, (uintptr_t)before, 0, 0);
    recorder_1x.output = output;
    recorder_1x.before = recorder_output_fd_;
    recorder_1x.due = true;
    return before;
}
RECORDER_1X_ recorder_show_fn recorder_configure_show(recorder_show_fn show)
{
    recorder_show_fn before = recorder_1x.show;
    RECORDER_1X_RECORD_(recorder, "Configure show %p from %p", (uintptr_t)show,
                        (uintptr_t)before, 0, 0);
    recorder_1x.show = show == recorder_1x_write ? NULL : show;
    return before ? before : recorder_1x_write;
}
/* Null sets the default, which is no function of this kind, and is returned for
 * it. */
RECORDER_1X_ recorder_format_fn
recorder_configure_format(recorder_format_fn format)
{
    recorder_format_fn before = recorder_1x.format;
    RECORDER_1X_RECORD_(recorder, "Configure format %p from %p",
                        (uintptr_t)format, (uintptr_t)before, 0, 0);
    recorder_1x.format = format;
    return before;
}
RECORDER_1X_ recorder_type_fn recorder_configure_type(uint8_t id,
                                                      recorder_type_fn type)
{
#undef recorder_configure_type
    recorder_type_fn before = recorder_configure_type(id, type);
#define recorder_configure_type recorder_1x_configure_type
    RECORDER_1X_RECORD_(recorder, "Configure type %%%c to %p from %p", id,
                        (uintptr_t)type, (uintptr_t)before, 0);
    return before;
}

/* ----------------------------------------------------------------- trace -- */

/* The registry's hook. A line is made in the program's spare piece of memory
 * and, if it has no room there, again in mapped memory, at four times the
 * cost. */
RECORDER_FUNCTION_ void recorder_1x_print(const struct recorder *recorder,
                                          unsigned thread,
                                          const struct recorder_record *records,
                                          unsigned count)
{
    struct recorder_1x_lines how = recorder_1x_configured(&recorder_1x.level);
    struct recorder_scratch_ s;
    struct recorder_held_ held;
    bool cut = false;
    how.cut = &cut;
    recorder_print_lines_(recorder, thread, records, count, &how.lines);
    if (!cut)
        return;
    how.cut = NULL;
    recorder_os_hold_signals_(&held);
    if (recorder_scratch_open_(&s, count, NULL))
        recorder_print_with_(&s, recorder, thread, records, count, &how.lines);
    else
        recorder_print_lines_(recorder, thread, records, count, &how.lines);
    recorder_os_release_signals_(&held);
}

RECORDER_FUNCTION_ void recorder_1x_set_dump(void)
{
    recorder_dump();
}
RECORDER_FUNCTION_ void recorder_1x_warn(const char *text)
{
    RECORDER_1X_RECORD_TEXT_(recorder_warning, "%s", text);
}

RECORDER_1X_ int recorder_trace_set(const char *specification)
{
    if (!specification)
        return RECORDER_TRACE_OK;
    RECORDER_1X_RECORD_TEXT_(recorder_traces, "Setting traces to %s",
                             specification);
    recorder_1x_output_open(); /* or its warnings go where others went */
#undef recorder_trace_set
    return recorder_trace_set(specification);
#define recorder_trace_set recorder_1x_trace_set
}

RECORDER_1X_ recorder_info *recorder_list(void)
{
    return recorder_home_.registry->first;
}
RECORDER_1X_ void recorder_activate(recorder_info *recorder)
{
    recorder_enter(recorder);
}
RECORDER_1X_ void recorder_tweak_activate(recorder_tweak *tweak)
{
    recorder_tweak_enter_(tweak);
}

#include "background.h"

/* --------------------------------------------------------------- signals -- */

RECORDER_FUNCTION_ void recorder_1x_on_signal(int sig, void *info,
                                              void *context)
{
    unsigned level = 0;
    struct recorder_1x_lines how = recorder_1x_configured(&level);
    RECORDER_1X_RECORD_(recorder_signals, "Received signal %d, dumping",
                        (uintptr_t)sig, 0, 0, 0);
    recorder_signal_handle_(sig, info, context, &how.lines);
}

RECORDER_1X_ void recorder_dump_on_signal(int sig)
{
#undef recorder_dump_on_signal
    recorder_dump_on_signal(sig);
#define recorder_dump_on_signal recorder_1x_dump_on_signal
}
RECORDER_1X_ void recorder_dump_on_common_signals(unsigned add, unsigned remove)
{
    intptr_t mask;
    const char *background = recorder_os_environment_("RECORDER_DUMP"), *equal;
    recorder_trace_set(recorder_os_environment_("RECORDER_TRACES"));
    recorder_trace_set(recorder_os_environment_("RECORDER_TWEAKS"));
    for (equal = background; equal && *equal && *equal != '=';)
        equal++;
    if (equal && *equal) /* which no recorder's name has */
        recorder_dump_set(background);
    else if (background && *background)
        recorder_background_dump(background);
    mask = RECORDER_1X_VALUE_(recorder_signals_mask);
    if (mask) {
        add |= (unsigned)mask;
        remove |= ~(unsigned)mask & ~add;
    }
#undef recorder_dump_on_common_signals
    recorder_dump_on_common_signals(add, remove);
#define recorder_dump_on_common_signals recorder_1x_dump_on_common_signals
}

#define RECORDER_1X_ENTER_(name, size, info)                                   \
    recorder_enter(&recorder_for_##name);
#define RECORDER_1X_TWEAK_ENTER_(name, value, info)                            \
    recorder_tweak_enter_(&recorder_for_##name);
/* Once in a program: sets our hooks and enters the predefined recorders. A
 * library with a private registry in the program sets its own hooks only. */
__attribute__((constructor(101))) static void recorder_1x_enter(void)
{
    recorder_start_();
    recorder_set_started_ = true; /* RECORDER_TRACES is read on request */
    recorder_signal_handler_ = recorder_1x_on_signal;
    if (recorder_set_hooks_.dump)
        return;
    recorder_set_hooks_.dump = recorder_1x_set_dump;
    recorder_set_hooks_.warn = recorder_1x_warn;
    if (recorder_home_.registry != &recorder_registry)
        return;
    recorder_home_.registry->hook = recorder_1x_print;
    RECORDER_1X_RECORDERS_(RECORDER_1X_ENTER_)
    RECORDER_1X_TWEAKS_(RECORDER_1X_TWEAK_ENTER_)
}
#ifdef RECORDER_IN_LIBRARY_
#define RECORDER_1X_LEAVE_(name, size, info)                                   \
    recorder_leave(&recorder_for_##name);
#define RECORDER_1X_TWEAK_LEAVE_(name, value, info)                            \
    recorder_tweak_leave_(&recorder_for_##name);
/* dlclose() of the library whose recorders and hooks the program uses. */
__attribute__((destructor(101))) static void recorder_1x_leave(void)
{
    const struct recorder_set_hooks_ none = {0, 0};
    if (recorder_set_hooks_.dump != recorder_1x_set_dump)
        return;
    recorder_set_hooks_ = none;
    if (recorder_home_.registry->hook == recorder_1x_print)
        recorder_home_.registry->hook = NULL;
    recorder_background_dump_stop();
    RECORDER_1X_RECORDERS_(RECORDER_1X_LEAVE_)
    RECORDER_1X_TWEAKS_(RECORDER_1X_TWEAK_LEAVE_)
}
#endif

RECORDER_C_END_
#endif
