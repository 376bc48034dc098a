/* sched.c - recorder sched: running times, waits and interrupts. */
/* SPDX-License-Identifier: MIT */
#include "kernel.h"
#include "print.h"
#include "switches.h"

enum { OPTION_FOR = OPTION_OWN };

/* ------------------------------------------------------------------ rows -- */

/* The shown threads, by their running times. */
struct shown {
    const struct switches *s;
    struct switches_thread **threads;
    size_t count;
};

static int threads_compare(const void *a, const void *b)
{
    const struct switches_thread *left = *(struct switches_thread *const *)a;
    const struct switches_thread *right = *(struct switches_thread *const *)b;
    return array_order(right->ns[SWITCHES_RUNNING], left->ns[SWITCHES_RUNNING],
                       array_order(left->index, right->index, 0));
}

static void shown_open(struct shown *shown, const struct switches *s,
                       const char *wanted)
{
    *shown = (struct shown){.s = s};
    shown->threads = need(calloc(s->threads_count + 1, sizeof(void *)));
    for (size_t i = 0; i < s->threads_count; i++) {
        struct switches_thread *t = s->threads[i];
        if (!wanted ||
            reader_thread_is(wanted, t->number ? t->number : UINT64_MAX,
                             (int64_t)t->id, t->name))
            shown->threads[shown->count++] = t;
    }
    qsort(shown->threads, shown->count, sizeof(void *), threads_compare);
}

static uint64_t unknown_ns(const struct switches *s,
                           const struct switches_thread *thread)
{
    uint64_t known = 0;
    for (int i = SWITCHES_RUNNING; i < SWITCHES_STATES; i++)
        known += thread->ns[i];
    return s->end_ns - s->begin_ns - known;
}

/* ---------------------------------------------------------------- tables -- */

static void put_time(uint64_t ns, bool known, int width)
{
    char text[32];
    printf(" %*s", width, known ? table_time(ns, text) : "-");
}

static void put_percent(const struct switches *s, uint64_t ns, bool known,
                        int width)
{
    uint64_t span = s->end_ns - s->begin_ns;
    char text[32] = "-";
    if (known && span)
        snprintf(text, sizeof text, "%.2f%%",
                 100.0 * (double)ns / (double)span);
    printf(" %*s", width, text);
}

static void table_threads_shown(const struct shown *shown)
{
    int width = 10;
    for (size_t i = 0; i < shown->count; i++)
        width = table_width(shown->threads[i]->shown, width);
    printf("%-*s %8s %10s %7s %8s %9s %11s %10s %10s %10s %10s\n", width,
           "THREAD", "RUNS", "RUNNING", "CPU", "BLOCKED", "PREEMPTED",
           "LONGEST RUN", "WAITED", "LONGEST", "AFTER WAKE", "UNKNOWN");
    for (size_t i = 0; i < shown->count; i++) {
        const struct switches_thread *t = shown->threads[i];
        uint64_t unknown = unknown_ns(shown->s, t);
        text_put(stdout, "%-*s %8" PRIu64, width, t->shown, t->runs);
        put_time(t->ns[SWITCHES_RUNNING], true, 10);
        put_percent(shown->s, t->ns[SWITCHES_RUNNING], true, 7);
        printf(" %8" PRIu64 " %9" PRIu64, t->blocked, t->preempted);
        put_time(t->longest_run, t->ns[SWITCHES_RUNNING], 11);
        put_time(t->ns[SWITCHES_READY], t->longest_wait, 10);
        put_time(t->longest_wait, t->longest_wait, 10);
        put_time(t->longest_wake, t->longest_wake, 10);
        put_time(unknown, unknown, 10);
        putchar('\n');
    }
}

static void table_interrupts(const struct switches *s)
{
    int width = 10;
    char name[64];
    if (!s->interrupts_count)
        return;
    for (size_t i = 0; i < s->interrupts_count; i++)
        width = table_width(
            switches_name(s->interrupts[i].name, s->interrupts[i].id, name),
            width);
    printf("\n%-*s %8s %10s %7s %11s %10s\n", width, "INTERRUPT", "COUNT",
           "TIME", "CPU", "LONGEST", "UNKNOWN");
    for (size_t i = 0; i < s->interrupts_count; i++) {
        const struct switches_interrupt *t = &s->interrupts[i];
        text_put(stdout, "%-*s %8" PRIu64, width,
                 switches_name(t->name, t->id, name), t->count);
        put_time(t->ns, true, 10);
        put_percent(s, t->ns, true, 7);
        put_time(t->longest, t->longest, 11);
        put_time(t->unknown_ns, t->unknown_ns, 10);
        putchar('\n');
    }
}

/* Where interrupts were off for longest: a function, or a place in the source;
 * null: nowhere. */
static const char *off_where(struct call *call, const struct switches_cpu *cpu)
{
    const char *function;
    if (!cpu->off_longest)
        return NULL;
    function = source_function(&call->source, cpu->off_caller);
    return function ? function : recorder_location_name_(cpu->off_location);
}

static void table_cpus(struct call *call, const struct switches *s)
{
    bool offs = false;
    char span[32];
    for (size_t i = 0; i < SWITCHES_CPUS; i++)
        offs |= s->cpus[i] && s->cpus[i]->offs;
    printf("\n%-6s %14s %7s %10s %7s", "CPU", "SPAN", "THREADS", "INTERRUPTS",
           "IDLE");
    puts(offs ? "     OFF    LONGEST WHERE" : "");
    for (size_t i = 0; i < SWITCHES_CPUS; i++) {
        const struct switches_cpu *cpu = s->cpus[i];
        const char *where;
        if (!cpu)
            continue;
        printf("%-6zu %14s", i, table_time(s->end_ns - s->begin_ns, span));
        put_percent(s, cpu->threads_ns, true, 7);
        put_percent(s, cpu->interrupts_ns, s->interrupts_count, 10);
        put_percent(s, cpu->idle_ns, cpu->sleeps, 7);
        if (offs) {
            put_percent(s, cpu->off_ns, cpu->offs, 7);
            put_time(cpu->off_longest, cpu->off_longest, 10);
            where = off_where(call, cpu);
            text_put(stdout, " %s", where ? where : "-");
        }
        putchar('\n');
    }
}

/* ------------------------------------------------------------------ json -- */

static void json_threads(const struct shown *shown)
{
    static const char *const states[SWITCHES_STATES] = {
        "unknown", "running", "ready", "blocked", "ended"};
    for (size_t i = 0; i < shown->count; i++) {
        const struct switches_thread *t = shown->threads[i];
        json_put(stdout, "{'thread':%s", t->name);
        json_count("id", t->id, true);
        json_count("number", t->number, t->number);
        json_count("runs", t->runs, true);
        json_count("running_ns", t->ns[SWITCHES_RUNNING], true);
        json_count("ready_ns", t->ns[SWITCHES_READY], true);
        json_count("blocked_ns", t->ns[SWITCHES_BLOCKED], true);
        json_count("ended_ns", t->ns[SWITCHES_ENDED], true);
        json_count("unknown_ns", unknown_ns(shown->s, t), true);
        json_count("blocked", t->blocked, true);
        json_count("preempted", t->preempted, true);
        json_count("longest_run_ns", t->longest_run, t->ns[SWITCHES_RUNNING]);
        json_count("longest_wait_ns", t->longest_wait, t->waited);
        json_count("longest_wait_after_wake_ns", t->longest_wake, t->wakes);
        json_put(stdout, ",'state':%s}\n", states[t->state]);
    }
}

static void json_rest(struct call *call, const struct switches *s)
{
    for (size_t i = 0; i < s->interrupts_count; i++) {
        const struct switches_interrupt *t = &s->interrupts[i];
        json_put(stdout, "{'interrupt':%s", t->name);
        json_count("id", t->id, true);
        json_count("count", t->count, true);
        json_count("ns", t->ns, true);
        json_count("longest_ns", t->longest, t->longest);
        json_count("unknown_ns", t->unknown_ns, true);
        puts("}");
    }
    for (unsigned i = 0; i < SWITCHES_CPUS; i++) {
        const struct switches_cpu *cpu = s->cpus[i];
        if (!cpu)
            continue;
        printf("{\"cpu\":%u", i);
        json_count("span_ns", s->end_ns - s->begin_ns, true);
        json_count("threads_ns", cpu->threads_ns, true);
        json_count("interrupts_ns", cpu->interrupts_ns, true);
        json_count("idle_ns", cpu->idle_ns, cpu->sleeps);
        json_count("off_count", cpu->off_count, cpu->offs);
        json_count("off_ns", cpu->off_ns, cpu->offs);
        json_count("off_longest_ns", cpu->off_longest, cpu->offs);
        json_put(stdout, ",'off_where':%s}\n", off_where(call, cpu));
    }
}

/* ------------------------------------------------------------------ show -- */

/* Turns --since and --until into a window; earlier records determine the states
 * at its start. Then all events are chosen. */
static void window_of(struct call *call, uint64_t *since_order,
                      uint64_t *until_order, int64_t *since, int64_t *until)
{
    struct reader_selection *selection = &call->selection;
    *since_order = selection->since_order;
    *until_order = selection->until_order;
    *since = selection->since_set ? selection->since_ns : INT64_MIN;
    *until = selection->until_set ? selection->until_ns : INT64_MAX;
    selection->since_order = selection->until_order = 0;
    selection->since_set = selection->until_set = false;
    reader_select(&call->reader, selection);
    reader_rewind(&call->reader);
}

/* The times of the first and last order that are chosen. */
static void window_orders(struct call *call, uint64_t since_order,
                          uint64_t until_order, int64_t *since, int64_t *until)
{
    struct reader_event e;
    bool begun = !since_order;
    int64_t last = INT64_MIN;
    if (!since_order && !until_order)
        return;
    if (!begun)
        *since = INT64_MAX;
    while (reader_next(&call->reader, &e)) {
        if (e.ns == RECORDER_TIME_UNKNOWN_)
            continue;
        if (!begun && (int64_t)(e.event.order - since_order) >= 0) {
            begun = true;
            *since = e.ns;
        }
        if (until_order && (int64_t)(e.event.order - until_order) <= 0)
            last = e.ns;
    }
    if (until_order)
        *until = last;
    reader_rewind(&call->reader);
}

static uint64_t relative(const struct timeline *t, int64_t ns)
{
    if (ns <= t->start_ns)
        return 0;
    return (uint64_t)ns - (uint64_t)t->start_ns;
}

/* Prints the figures of all taken events; `thread`: only of that one, or null.
 * Ends the command if there are no switches. */
static void switches_show(struct call *call, const char *thread)
{
    struct timeline timeline;
    struct switches s = {.timeline = &timeline};
    struct shown shown;
    uint64_t since_order, until_order;
    int64_t since, until;
    window_of(call, &since_order, &until_order, &since, &until);
    window_orders(call, since_order, until_order, &since, &until);
    reader_count(&call->reader);
    timeline_open(&timeline, call, TIMELINE_PLAIN);
    s.since_ns = relative(&timeline, since);
    s.until_ns = relative(&timeline, until);
    switches_read(&s);
    if (!s.any)
        fail(call, "no records of switches: recorder_switch.h and "
                   "recorder_kernel.h make them");
    shown_open(&shown, &s, thread);
    if (thread && !shown.count)
        fail(call, "no record says when a thread %s ran", thread);
    for (size_t i = 0; i < call->reader.recorders_count; i++)
        if (timeline_says(&timeline, i))
            call_warn_lacking(call, call->reader.recorders[i]);
    if (call_option(call, 'j')) {
        json_threads(&shown);
        if (!thread)
            json_rest(call, &s);
    } else {
        table_threads_shown(&shown);
        if (!thread) {
            table_interrupts(&s);
            table_cpus(call, &s);
        }
    }
    free(shown.threads);
    switches_free(&s);
    timeline_close(&timeline);
}

/* ------------------------------------------------------------------ verb -- */

/* --for: the switches of a process, whatever it records itself. */
static void record_for(struct call *call, const char *text)
{
    char *end;
    const char *name = call->arguments_count ? call->arguments[0] : "", *wrong;
    long pid = strtol(name, &end, 10);
    int64_t ns;
    int named = 0;
    if (*end) { /* of a program */
        wrong = source_named(&call->source, name, true, &named);
        if (wrong)
            fail(NULL, "%s: %s", name, wrong);
        pid = named;
    }
    if (pid <= 0 || pid > INT32_MAX)
        misuse(call, "--for needs the id of a running process");
    if (!span_of(text, &ns) || ns <= 0)
        misuse(call, "--for %s: is no time like 5s or 200ms", text);
    call->name = call->arguments[0];
    if (kernel_record(call, (int)pid, (uint64_t)ns)) {
        if (!call->reader.taken)
            fail(call, "none of its threads came or went in that time");
        return;
    }
    warn(call, "so these are the system's counts of that time, without the "
               "threads that ended");
    kernel_counts(call, (int)pid, (uint64_t)ns, call_option(call, 'j'));
    exit(ferror(stdout) ? 1 : 0);
}

static int run(struct call *call)
{
    const char *thread = call->selection.thread;
    const char *time = call_option(call, OPTION_FOR);
    call->selection.thread = NULL; /* of the rows, not of the records */
    if (time) {
        record_for(call, time);
        switches_show(call, thread);
        return 0;
    }
    call_open(call, 0);
    if (!call->source.registry)
        fail(call, call->source.pid
                       ? "no recorder in it; --for 5s has the kernel record "
                         "its switches"
                       : "no recorder in it");
    call_take(call);
    switches_show(call, thread);
    return 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line, times in nanoseconds"},
    {OPTION_FOR, "for", "TIME",
     "of a running process that records no switches (Linux): has the kernel "
     "record them for this time, 5s or 200ms; Ctrl-C shows the records until "
     "then"},
    ROW_NAMES,
    {OPTION_SINCE, "since", "WHEN", "only from then on: see dump"},
    {OPTION_UNTIL, "until", "WHEN", "up to then, the same"},
    {'t', "thread", "THREAD", "only that thread: number, id or name"},
    {0, NULL, NULL, NULL}};

const struct verb verb_sched = {
    .name = "sched",
    .arguments = "SOURCE",
    .summary = "shows running times, waits and interrupts",
    .help =
        "Reads the records of recorder_switch.h and recorder_kernel.h. "
        "THREAD: number of runs, running time, its share of the time; how "
        "often the thread left to wait, and how often it was preempted; the "
        "time that it was ready and did not run, the longest of these, and "
        "the longest after a wake-up. INTERRUPT: TIME excludes nested "
        "interrupts, LONGEST includes them. CPU: the length of known time, "
        "and the shares of threads, interrupts and sleep; if the program "
        "records that interrupts are off, their time, and the longest place. "
        "RUNNING includes interrupts.\n\n"
        "Nothing is guessed: after a missing record, a state is unknown until "
        "the next record of it, and all time before a thread's first record "
        "is unknown, too: it counts as UNKNOWN. There is no --grep and no "
        "--where: a time is the distance of two records, and leaving one out "
        "would change it. A - means none, or not recorded. Times end at the "
        "last switch.",
    .rows = rows,
    .run = run,
    .kernel = true,
    .unprepared = true};
