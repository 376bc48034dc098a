/* switches.c - what ran, waited and was interrupted, of records that say so. */
/* SPDX-License-Identifier: MIT */
#include "switches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "buffer.h"

/* Of a record, what the machine needs. */
struct told {
    const struct reader_event *event;
    uint64_t ns;
    enum kind kind;
    char how;
    uint64_t id, more;
    unsigned cpu, number;
    uint64_t named;
    const char *name; /* null: the event has it */
    uint64_t off_ns;
    uint32_t row;
};
/* The same, of an event that is gone when its time comes. */
struct switches_heard {
    struct told told;
    uint64_t sequence;
    char name[SWITCHES_NAME_MAX];
};

/* ---------------------------------------------------------------- slices -- */

/* How much of a time lies in the window. */
static uint64_t in_window(const struct switches *s, uint64_t begin,
                          uint64_t end)
{
    if (begin < s->begin_ns)
        begin = s->begin_ns;
    if (end > s->until_ns)
        end = s->until_ns;
    return end > begin ? end - begin : 0;
}
static bool is_inside(const struct switches *s, uint64_t ns)
{
    return ns >= s->begin_ns && ns <= s->until_ns;
}

static void slice_add(struct switches *s, struct switches_slice slice)
{
    if (!s->keeps || slice.end < s->begin_ns || slice.begin > s->until_ns)
        return;
    if (slice.begin < s->begin_ns)
        slice.begin = s->begin_ns;
    if (slice.end > s->until_ns)
        slice.end = s->until_ns;
    slice.sequence = s->slices_count;
    s->slices = need(array_room(s->slices, &s->slices_max, s->slices_count + 1,
                                sizeof *s->slices));
    s->slices[s->slices_count++] = slice;
}

static int slices_compare(const void *a, const void *b)
{
    const struct switches_slice *left = a, *right = b;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    if (left->what != right->what)
        return left->what < right->what ? -1 : 1;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    return left->sequence < right->sequence ? -1
                                            : left->sequence > right->sequence;
}

static void raise_to(uint64_t *most, uint64_t ns)
{
    if (ns > *most)
        *most = ns;
}

/* --------------------------------------------------------------- threads -- */

static struct switches_cpu *cpu_of(struct switches *s, unsigned number)
{
    struct switches_cpu **cpu = &s->cpus[number % SWITCHES_CPUS];
    if (!*cpu)
        *cpu = need(calloc(1, sizeof **cpu));
    return *cpu;
}

static struct switches_thread *thread_add(struct switches *s, uint64_t id)
{
    struct switches_thread *thread = need(calloc(1, sizeof *thread));
    s->threads = need(array_room(s->threads, &s->threads_max,
                                 s->threads_count + 1, sizeof *s->threads));
    thread->id = id;
    thread->index = s->threads_count;
    thread->since = s->begin_ns;
    s->threads[s->threads_count++] = thread;
    return thread;
}

/* The thread that has an id now. */
static struct switches_thread **thread_of(struct switches *s, uint64_t id)
{
    bool is_new;
    size_t i = ids_of(&s->ids, id, 0, 0, &is_new);
    s->latest = need(
        array_room(s->latest, &s->latest_max, s->ids.count, sizeof *s->latest));
    if (is_new)
        s->latest[i] = thread_add(s, id);
    return &s->latest[i];
}

/* Copies a name as far as it is text. */
static void name_read(struct switches *s, const struct told *told,
                      char to[SWITCHES_NAME_MAX])
{
    const struct reader_thread *thread;
    size_t i = 0;
    if (told->name) {
        strcpy(to, told->name);
        return;
    }
    thread = told->event->thread;
    if (told->named)
        reader_word_text(s->reader, told->event, 0, to, SWITCHES_NAME_MAX);
    else
        snprintf(to, SWITCHES_NAME_MAX, "%s", thread ? thread->name : "");
    while ((unsigned char)to[i] >= ' ' && to[i] != 0x7f)
        i++;
    to[i] = '\0';
}

/* The subject of a record, by the name that it gives. */
static struct switches_thread *subject(struct switches *s,
                                       const struct told *told)
{
    struct switches_thread **at = thread_of(s, told->id), *thread = *at;
    char name[SWITCHES_NAME_MAX];
    if (told->number)
        thread->number = told->number;
    if (told->row)
        thread->row = told->row;
    if (told->named && told->named == thread->named)
        return thread;
    name_read(s, told, name);
    if (thread->state == SWITCHES_ENDED && *thread->name && *name &&
        strcmp(thread->name, name) != 0) {
        thread = thread_add(s, told->id);
        thread->number = told->number;
        thread->row = told->row;
        *thread_of(s, told->id) = thread;
    }
    if (*name)
        strcpy(thread->name, name);
    thread->named = told->named;
    return thread;
}

/* Ends what a thread did; it was that, or, as is known only now, unknown. */
static void state_set(struct switches *s, struct switches_thread *thread,
                      enum switches_state was, enum switches_state state)
{
    uint64_t ns = in_window(s, thread->since, s->now);
    thread->ns[was] += ns;
    if (was == SWITCHES_RUNNING) {
        raise_to(&thread->longest_run, ns);
        cpu_of(s, thread->cpu)->threads_ns += ns;
    }
    if (was == SWITCHES_READY) {
        raise_to(&thread->longest_wait, ns);
        thread->waited = true;
        if (thread->woken)
            raise_to(&thread->longest_wake, ns);
        thread->wakes |= thread->woken;
    }
    slice_add(s, (struct switches_slice){.what = SWITCHES_THREAD,
                                         .begin = thread->since,
                                         .end = s->now,
                                         .of = thread->index,
                                         .state = was,
                                         .cpu = thread->cpu});
    thread->state = state;
    thread->since = s->now;
}

/* A processor is not where a thread ran last: when it left is unknown. */
static void run_forget(struct switches *s, struct switches_cpu *cpu)
{
    if (cpu->runs)
        state_set(s, cpu->runs, SWITCHES_UNKNOWN, SWITCHES_UNKNOWN);
    cpu->runs = NULL;
}

static void sleep_end(struct switches *s, struct switches_cpu *cpu,
                      unsigned number)
{
    if (!cpu->asleep)
        return;
    cpu->asleep = false;
    cpu->idle_ns += in_window(s, cpu->asleep_since, s->now);
    slice_add(s, (struct switches_slice){.what = SWITCHES_IDLE,
                                         .begin = cpu->asleep_since,
                                         .end = s->now,
                                         .cpu = number});
}

static void run(struct switches *s, struct switches_thread *thread,
                unsigned number)
{
    struct switches_cpu *cpu = cpu_of(s, number);
    sleep_end(s, cpu, number);
    if (cpu->runs == thread)
        return;
    if (cpu->runs)
        state_set(s, cpu->runs, SWITCHES_RUNNING, SWITCHES_UNKNOWN);
    if (thread->state == SWITCHES_RUNNING)
        run_forget(s, cpu_of(s, thread->cpu));
    state_set(s, thread, thread->state, SWITCHES_RUNNING);
    thread->cpu = number;
    cpu->runs = thread;
    thread->runs += is_inside(s, s->now);
}

static void leave(struct switches *s, struct switches_thread *thread,
                  unsigned number, char why)
{
    struct switches_cpu *cpu = cpu_of(s, number);
    enum switches_state state = why == 'b'   ? SWITCHES_BLOCKED
                                : why == 'p' ? SWITCHES_READY
                                : why == 'e' ? SWITCHES_ENDED
                                             : SWITCHES_UNKNOWN;
    if (cpu->runs == thread) {
        state_set(s, thread, SWITCHES_RUNNING, state);
        cpu->runs = NULL;
    } else if (thread->state == state) {
        return; /* it was said before */
    } else {
        run_forget(s, cpu);
        if (thread->state == SWITCHES_RUNNING)
            run_forget(s, cpu_of(s, thread->cpu));
        state_set(s, thread,
                  thread->state == SWITCHES_ENDED ? SWITCHES_ENDED
                                                  : SWITCHES_UNKNOWN,
                  state);
    }
    if (state == SWITCHES_ENDED)
        thread->ended = s->now;
    thread->woken = false;
    thread->blocked += why == 'b' && is_inside(s, s->now);
    thread->preempted += why == 'p' && is_inside(s, s->now);
}

static void make_ready(struct switches *s, struct switches_thread *thread)
{
    if (thread->state == SWITCHES_RUNNING || thread->state == SWITCHES_READY)
        return;
    state_set(s, thread, thread->state, SWITCHES_READY);
    thread->woken = true;
}

/* ------------------------------------------------------------ interrupts -- */

static size_t interrupt_of(struct switches *s, const struct told *told)
{
    bool is_new;
    size_t i = ids_of(&s->vectors, told->id, 0, 0, &is_new);
    struct switches_interrupt *interrupt;
    s->interrupts = need(array_room(s->interrupts, &s->interrupts_max,
                                    s->vectors.count, sizeof *s->interrupts));
    interrupt = &s->interrupts[i];
    if (is_new)
        *interrupt = (struct switches_interrupt){.id = told->id};
    s->interrupts_count = s->vectors.count;
    if (told->named && told->named != interrupt->named) {
        name_read(s, told, interrupt->name);
        interrupt->named = told->named;
    }
    return i;
}

/* Takes the innermost interrupt off; `known`: it ends now. */
static void nested_end(struct switches *s, struct switches_cpu *cpu,
                       unsigned number, bool known)
{
    const struct switches_nested *nested = &cpu->nested[--cpu->depth];
    struct switches_interrupt *interrupt = &s->interrupts[nested->interrupt];
    uint64_t ns = in_window(s, nested->since, s->now);
    uint64_t own = ns > nested->inside ? ns - nested->inside : 0;
    if (known) {
        interrupt->ns += own;
        cpu->interrupts_ns += own;
        raise_to(&interrupt->longest, ns);
    } else {
        interrupt->unknown_ns += own;
    }
    if (cpu->depth)
        cpu->nested[cpu->depth - 1].inside += ns;
    slice_add(s, (struct switches_slice){.what = SWITCHES_INTERRUPT,
                                         .begin = nested->since,
                                         .end = s->now,
                                         .of = nested->interrupt,
                                         .state = known ? SWITCHES_RUNNING
                                                        : SWITCHES_UNKNOWN,
                                         .cpu = number,
                                         .depth = cpu->depth});
}

static void interrupt_enter(struct switches *s, const struct told *told)
{
    struct switches_cpu *cpu = cpu_of(s, told->cpu);
    size_t i = interrupt_of(s, told);
    sleep_end(s, cpu, told->cpu);
    s->interrupts[i].count += is_inside(s, s->now);
    if (cpu->depth == SWITCHES_NESTED_MAX)
        memmove(cpu->nested, cpu->nested + 1,
                --cpu->depth * sizeof *cpu->nested);
    cpu->nested[cpu->depth++] =
        (struct switches_nested){.interrupt = i, .since = s->now};
}

static void interrupt_exit(struct switches *s, const struct told *told)
{
    struct switches_cpu *cpu = cpu_of(s, told->cpu);
    size_t i = interrupt_of(s, told);
    unsigned at = cpu->depth;
    while (at && cpu->nested[at - 1].interrupt != i)
        at--;
    if (!at)
        return;
    while (cpu->depth > at)
        nested_end(s, cpu, told->cpu, false);
    nested_end(s, cpu, told->cpu, true);
}

/* ------------------------------------------------------- interrupts off -- */

/* Nanoseconds of the ticks before a record. */
static uint64_t ticks_ns(const struct switches *s, const struct told *told)
{
    const struct recorder_clock_ *clock = &s->reader->clock;
    uint64_t time = told->event->event.time;
    int64_t end = recorder_clock_time_(clock, time);
    int64_t begin = recorder_clock_time_(clock, time - told->more);
    if (end == RECORDER_TIME_UNKNOWN_ || begin == RECORDER_TIME_UNKNOWN_ ||
        begin > end)
        return 0;
    return (uint64_t)end - (uint64_t)begin;
}

static void interrupts_on(struct switches *s, struct switches_cpu *cpu,
                          const struct told *told)
{
    uint64_t begin = told->ns, ns;
    uint64_t ticks = told->name ? told->off_ns : ticks_ns(s, told);
    if (cpu->off)
        begin = cpu->off_since;
    else if (ticks)
        begin = ticks < told->ns ? told->ns - ticks : 0;
    else
        return;
    cpu->off = false;
    if (begin < cpu->off_end)
        begin = cpu->off_end;
    cpu->off_end = told->ns;
    ns = in_window(s, begin, told->ns);
    cpu->off_count += is_inside(s, told->ns);
    cpu->off_ns += ns;
    if (ns > cpu->off_longest && !told->name) {
        cpu->off_longest = ns;
        cpu->off_caller = told->event->event.caller;
        reader_format(s->reader, &told->event->event, &cpu->off_location);
    }
    slice_add(s, (struct switches_slice){.what = SWITCHES_OFF,
                                         .begin = begin,
                                         .end = told->ns,
                                         .cpu = told->cpu});
}

static void take_off(struct switches *s, const struct told *told)
{
    struct switches_cpu *cpu = cpu_of(s, told->cpu);
    cpu->offs = true;
    if (told->how == '+')
        return; /* they were off before, and stay so */
    if (told->kind == KIND_ON) {
        interrupts_on(s, cpu, told);
    } else if (!cpu->off) {
        cpu->off = true;
        cpu->off_since = told->ns;
    }
}

/* ------------------------------------------------------------------ take -- */

static void take(struct switches *s, const struct told *told)
{
    struct switches_thread *thread = NULL;
    struct switches_cpu *cpu = cpu_of(s, told->cpu);
    s->now = told->ns;
    switch (told->kind) {
    case KIND_SWITCH:
        if (told->more && told->more != told->id)
            leave(s, *thread_of(s, told->more), told->cpu, told->how);
        /* fall through */
    case KIND_IN:
        thread = subject(s, told);
        run(s, thread, told->cpu);
        break;
    case KIND_OUT:
        thread = subject(s, told);
        leave(s, thread, told->cpu, told->how);
        break;
    case KIND_READY: make_ready(s, subject(s, told)); break;
    case KIND_SLEEP:
        if (!cpu->asleep)
            cpu->asleep_since = told->ns;
        cpu->asleep = cpu->sleeps = true;
        break;
    case KIND_WAKE: sleep_end(s, cpu, told->cpu); break;
    case KIND_ENTER: interrupt_enter(s, told); break;
    case KIND_EXIT: interrupt_exit(s, told); break;
    default: break;
    }
}

/* Reads the words of an event. False: it says nothing of what runs. */
static bool told_read(struct told *told, const struct reader_event *e,
                      uint64_t ns)
{
    const uint64_t *word = e->event.argument;
    if (!e->kind)
        return false;
    *told = (struct told){.event = e, .ns = ns};
    told->kind = kind_of(e->kind, &told->how);
    told->named = word[0];
    told->id = word[1];
    told->cpu = word[2] & 0xff;
    told->number = (unsigned)(word[2] >> 8) & 0x7fff;
    told->more = word[3];
    if (!told->number && !told->named && e->thread)
        told->number = e->thread->number;
    return told->kind != KIND_OTHER;
}

static void read_all(struct switches *s)
{
    struct reader_event e;
    struct told told;
    uint64_t ns, from = timeline_complete(s->timeline);
    while (timeline_read(s->timeline, &e, &ns)) {
        bool off;
        if (!told_read(&told, &e, ns))
            continue;
        off = told.kind == KIND_OFF || told.kind == KIND_ON;
        if (!off && ns < from)
            continue;
        if (!s->any) { /* what is known begins here */
            s->any = true;
            s->begin_ns = ns > s->since_ns ? ns : s->since_ns;
            s->now = s->end_ns = ns;
        }
        if (off)
            take_off(s, &told);
        else
            take(s, &told);
        if (ns > s->end_ns)
            s->end_ns = ns;
    }
}

static int names_compare(const void *a, const void *b)
{
    return strcmp((*(struct switches_thread *const *)a)->name,
                  (*(struct switches_thread *const *)b)->name);
}

/* Names that several threads have get their ids. */
static void names_make(struct switches *s)
{
    size_t count = s->threads_count, same;
    struct switches_thread **sorted =
        need(malloc((count + 1) * sizeof *sorted));
    char id[64];
    if (count)
        memcpy(sorted, s->threads, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, names_compare);
    for (size_t i = 0; i < count; i += same) {
        for (same = 1; i + same < count &&
                       strcmp(sorted[i]->name, sorted[i + same]->name) == 0;)
            same++;
        for (size_t k = i; k < i + same; k++) {
            struct switches_thread *t = sorted[k];
            snprintf(t->shown, sizeof t->shown, "%s%s%s", t->name,
                     same > 1 && *t->name ? " " : "",
                     same > 1 || !*t->name ? switches_name("", t->id, id) : "");
        }
    }
    free(sorted);
}

/* Ends all at the last record. */
static void finish(struct switches *s)
{
    for (size_t i = 0; i < s->threads_count; i++)
        state_set(s, s->threads[i], s->threads[i]->state, s->threads[i]->state);
    for (unsigned i = 0; i < SWITCHES_CPUS; i++) {
        struct switches_cpu *cpu = s->cpus[i];
        if (!cpu)
            continue;
        while (cpu->depth)
            nested_end(s, cpu, i, false);
        sleep_end(s, cpu, i);
    }
    names_make(s);
    if (s->end_ns > s->until_ns)
        s->end_ns = s->until_ns;
    if (s->end_ns < s->begin_ns)
        s->end_ns = s->begin_ns;
    if (s->slices_count)
        qsort(s->slices, s->slices_count, sizeof *s->slices, slices_compare);
}

void switches_read(struct switches *s)
{
    s->reader = &s->timeline->call->reader;
    read_all(s);
    finish(s);
    timeline_rewind(s->timeline);
}

void switches_lanes(struct switches *s)
{
    for (size_t i = 0; i < s->threads_count; i++) {
        struct switches_thread *thread = s->threads[i];
        thread->lane = timeline_lane(s->timeline, thread->number);
        if (!thread->lane || thread->lane->thread_of)
            thread->lane =
                timeline_lane_add(s->timeline, thread->id, thread->shown);
        thread->lane->thread_of = thread;
    }
}

void switches_export(struct switches *s, struct timeline *t)
{
    *s =
        (struct switches){.timeline = t, .until_ns = UINT64_MAX, .keeps = true};
    if (!t->switches)
        return;
    if (t->call->selection.thread) {
        warn(t->call, "what ran is not shown: --thread leaves out what says "
                      "so of others");
        return;
    }
    switches_read(s);
    switches_lanes(s);
}

const char *switches_slice_name(const struct switches *s,
                                const struct switches_slice *slice, char to[64])
{
    if (slice->what == SWITCHES_INTERRUPT)
        return switches_name(s->interrupts[slice->of].name,
                             s->interrupts[slice->of].id, to);
    return s->threads[slice->of]->shown;
}

void switches_free(struct switches *s)
{
    for (size_t i = 0; i < s->threads_count; i++)
        free(s->threads[i]);
    for (unsigned i = 0; i < SWITCHES_CPUS; i++)
        free(s->cpus[i]);
    free(s->threads);
    free(s->interrupts);
    free(s->slices);
    free(s->latest);
    free(s->heard);
    ids_free(&s->ids);
    ids_free(&s->vectors);
}

/* ---------------------------------------------------------------- follow -- */

enum { CUT_NS = 250000000 }; /* a state that goes on is shown so late */

void switches_follow(struct switches *s, struct reader *reader)
{
    *s = (struct switches){
        .reader = reader, .until_ns = UINT64_MAX, .keeps = true};
}

void switches_hear(struct switches *s, const struct reader_event *e,
                   uint32_t row)
{
    struct switches_heard *add;
    struct told told;
    if (e->ns < 0)
        return;
    if ((uint64_t)e->ns > s->newest)
        s->newest = (uint64_t)e->ns;
    if (!told_read(&told, e, (uint64_t)e->ns))
        return;
    if (!s->newest_before && e->recorder->complete_ns > s->complete)
        s->complete = e->recorder->complete_ns;
    s->heard = need(array_room(s->heard, &s->heard_max, s->heard_count + 1,
                               sizeof *s->heard));
    add = &s->heard[s->heard_count];
    *add = (struct switches_heard){.told = told, .sequence = s->heard_count};
    s->heard_count++;
    name_read(s, &told, add->name);
    if (told.kind == KIND_ON)
        add->told.off_ns = ticks_ns(s, &told);
    if (told.number && e->thread && e->thread->number == told.number)
        add->told.row = row;
    add->told.event = NULL;
}

static int heard_compare(const void *a, const void *b)
{
    const struct switches_heard *left = a, *right = b;
    if (left->told.ns != right->told.ns)
        return left->told.ns < right->told.ns ? -1 : 1;
    return left->sequence < right->sequence ? -1
                                            : left->sequence > right->sequence;
}

/* Ends what goes on; `forget`: what goes on from here is unknown. */
static void cut_all(struct switches *s, bool forget)
{
    for (size_t i = 0; i < s->threads_count; i++) {
        struct switches_thread *thread = s->threads[i];
        enum switches_state state = thread->state;
        if (forget || (thread->since < s->now && state != SWITCHES_UNKNOWN &&
                       state != SWITCHES_ENDED))
            state_set(s, thread, state, forget ? SWITCHES_UNKNOWN : state);
    }
    for (unsigned i = 0; forget && i < SWITCHES_CPUS; i++)
        if (s->cpus[i]) {
            s->cpus[i]->runs = NULL;
            s->cpus[i]->depth = 0;
            s->cpus[i]->asleep = s->cpus[i]->off = false;
        }
}

/* Reads what was heard up to a time. */
static void heard_read(struct switches *s, uint64_t until)
{
    size_t i;
    if (s->heard_count)
        qsort(s->heard, s->heard_count, sizeof *s->heard, heard_compare);
    for (i = 0; i < s->heard_count && s->heard[i].told.ns <= until; i++) {
        struct told *told = &s->heard[i].told;
        told->name = s->heard[i].name;
        if ((int64_t)told->ns < s->complete)
            continue;
        if (!s->any) { /* what is known begins here */
            s->any = true;
            s->begin_ns = s->now = told->ns;
        }
        if (told->ns < s->now)
            told->ns = s->now;
        if (told->kind == KIND_OFF || told->kind == KIND_ON)
            take_off(s, told);
        else
            take(s, told);
    }
    s->heard_count -= i;
    memmove(s->heard, s->heard + i, s->heard_count * sizeof *s->heard);
    for (size_t k = 0; k < s->heard_count; k++)
        s->heard[k].sequence = k;
    if (s->any && s->now < until && until != UINT64_MAX)
        s->now = until;
}

void switches_heard(struct switches *s, bool gap, bool last)
{
    heard_read(s, last ? UINT64_MAX : s->newest_before);
    if (gap || last || s->now - s->cut_ns >= CUT_NS) {
        cut_all(s, gap);
        s->cut_ns = s->now;
    }
    if (s->named != s->threads_count)
        names_make(s);
    s->named = s->threads_count;
    if (s->slices_count)
        qsort(s->slices, s->slices_count, sizeof *s->slices, slices_compare);
    s->newest_before = s->newest;
}

const char *switches_name(const char *name, uint64_t id, char to[64])
{
    if (*name)
        snprintf(to, 64, "%s", name);
    else
        snprintf(to, 64, id < 1u << 22 ? "%" PRIu64 : "0x%" PRIx64, id);
    return to;
}
