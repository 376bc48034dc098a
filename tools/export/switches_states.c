/* switches_states.c - the state machine: records change states. */
/* SPDX-License-Identifier: MIT */
#include "switches_inside.h"

#include "array.h"

/* ---------------------------------------------------------------- slices -- */

/* The part of a time, in ns, that is in the window. */
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
    *array_add(s->slices, s->slices_count, s->slices_max) = slice;
}

int switches_slices_compare(const void *a, const void *b)
{
    const struct switches_slice *left = a, *right = b;
    int last = array_order(left->depth, right->depth,
                           array_order(left->sequence, right->sequence, 0));
    return array_order(left->begin, right->begin,
                       array_order(left->what, right->what, last));
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
    thread->id = id;
    thread->index = s->threads_count;
    thread->since = s->begin_ns;
    *array_add(s->threads, s->threads_count, s->threads_max) = thread;
    return thread;
}

/* The thread that has an id now. */
static struct switches_thread **thread_of(struct switches *s, uint64_t id)
{
    bool is_new;
    struct switches_thread **thread =
        array_at_key(s->latest, &s->ids, s->latest_max, id, 0, 0, &is_new);
    if (is_new)
        *thread = thread_add(s, id);
    return thread;
}

void switches_name_read(struct switches *s, const struct switches_told *told,
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
                                       const struct switches_told *told)
{
    struct switches_thread **at = thread_of(s, told->id), *thread = *at;
    char name[SWITCHES_NAME_MAX];
    if (told->number)
        thread->number = told->number;
    if (told->row)
        thread->row = told->row;
    if (told->event && told->event->thread)
        thread->gone =
            told->event->thread->known && !told->event->thread->alive;
    if (told->named && told->named == thread->named)
        return thread;
    switches_name_read(s, told, name);
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

void switches_state_set(struct switches *s, struct switches_thread *thread,
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
                                         .stopped = thread->stopped,
                                         .cpu = thread->cpu});
    thread->stopped = false;
    thread->state = state;
    thread->since = s->now;
}

/* A processor is not where a thread ran last: when it left is unknown. */
static void run_forget(struct switches *s, struct switches_cpu *cpu)
{
    if (cpu->runs)
        switches_state_set(s, cpu->runs, SWITCHES_UNKNOWN, SWITCHES_UNKNOWN);
    cpu->runs = NULL;
}

void switches_sleep_end(struct switches *s, struct switches_cpu *cpu,
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
    switches_sleep_end(s, cpu, number);
    if (cpu->runs == thread)
        return;
    if (cpu->runs && cpu->runs->told)
        run_forget(s, cpu);
    else if (cpu->runs)
        switches_state_set(s, cpu->runs, SWITCHES_RUNNING, SWITCHES_UNKNOWN);
    if (thread->state == SWITCHES_RUNNING)
        run_forget(s, cpu_of(s, thread->cpu));
    switches_state_set(s, thread, thread->state, SWITCHES_RUNNING);
    thread->cpu = number;
    cpu->runs = thread;
    thread->runs += is_inside(s, s->now);
}

static void leave(struct switches *s, struct switches_thread *thread,
                  unsigned number, char why)
{
    struct switches_cpu *cpu = cpu_of(s, number);
    bool stops = why == 's';
    enum switches_state state = why == 'b' || stops ? SWITCHES_BLOCKED
                                : why == 'p'        ? SWITCHES_READY
                                : why == 'e'        ? SWITCHES_ENDED
                                                    : SWITCHES_UNKNOWN;
    if (cpu->runs == thread) {
        switches_state_set(s, thread, SWITCHES_RUNNING, state);
        cpu->runs = NULL;
    } else if (thread->state == state) {
        return; /* a repeated record */
    } else {
        run_forget(s, cpu);
        if (thread->state == SWITCHES_RUNNING)
            run_forget(s, cpu_of(s, thread->cpu));
        switches_state_set(s, thread,
                           thread->state == SWITCHES_ENDED ? SWITCHES_ENDED
                                                           : SWITCHES_UNKNOWN,
                           state);
    }
    if (state == SWITCHES_ENDED)
        thread->ended = s->now;
    thread->woken = false;
    thread->stopped = stops;
    thread->blocked += state == SWITCHES_BLOCKED && is_inside(s, s->now);
    thread->preempted += why == 'p' && is_inside(s, s->now);
}

static void make_ready(struct switches *s, struct switches_thread *thread)
{
    if (thread->state == SWITCHES_RUNNING || thread->state == SWITCHES_READY)
        return;
    switches_state_set(s, thread, thread->state, SWITCHES_READY);
    thread->woken = true;
}

/* ------------------------------------------------------------ interrupts -- */

static size_t interrupt_of(struct switches *s, const struct switches_told *told)
{
    bool is_new;
    size_t i = ids_add(&s->vectors, told->id, 0, 0, &is_new);
    struct switches_interrupt *interrupt;
    ARRAY_NEED(s->interrupts, s->vectors.count, s->interrupts_max);
    interrupt = &s->interrupts[i];
    if (is_new)
        *interrupt = (struct switches_interrupt){.id = told->id};
    s->interrupts_count = s->vectors.count;
    if (told->named && told->named != interrupt->named) {
        switches_name_read(s, told, interrupt->name);
        interrupt->named = told->named;
    }
    return i;
}

void switches_nested_end(struct switches *s, struct switches_cpu *cpu,
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

static void interrupt_enter(struct switches *s,
                            const struct switches_told *told)
{
    struct switches_cpu *cpu = cpu_of(s, told->cpu);
    size_t i = interrupt_of(s, told);
    switches_sleep_end(s, cpu, told->cpu);
    s->interrupts[i].count += is_inside(s, s->now);
    if (cpu->depth == SWITCHES_NESTED_MAX)
        memmove(cpu->nested, cpu->nested + 1,
                --cpu->depth * sizeof *cpu->nested);
    cpu->nested[cpu->depth++] =
        (struct switches_nested){.interrupt = i, .since = s->now};
}

static void interrupt_exit(struct switches *s, const struct switches_told *told)
{
    struct switches_cpu *cpu = cpu_of(s, told->cpu);
    size_t i = interrupt_of(s, told);
    unsigned at = cpu->depth;
    while (at && cpu->nested[at - 1].interrupt != i)
        at--;
    if (!at)
        return;
    while (cpu->depth > at)
        switches_nested_end(s, cpu, told->cpu, false);
    switches_nested_end(s, cpu, told->cpu, true);
}

/* ------------------------------------------------------- interrupts off -- */

uint64_t switches_ticks_ns(const struct switches *s,
                           const struct switches_told *told)
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
                          const struct switches_told *told)
{
    uint64_t begin = told->ns, ns;
    uint64_t ticks = told->name ? told->off_ns : switches_ticks_ns(s, told);
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

void switches_take_off(struct switches *s, const struct switches_told *told)
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

void switches_take(struct switches *s, const struct switches_told *told)
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
        thread->told = told->how == 'k';
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
    case KIND_WAKE: switches_sleep_end(s, cpu, told->cpu); break;
    case KIND_ENTER: interrupt_enter(s, told); break;
    case KIND_EXIT: interrupt_exit(s, told); break;
    default: break;
    }
}

bool switches_told(struct switches_told *told, const struct reader_event *e,
                   uint64_t ns)
{
    const uint64_t *word = e->event.argument;
    if (!e->kind)
        return false;
    *told = (struct switches_told){.event = e, .ns = ns};
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
