/* switches.c - states of threads and processors, from records of switches. */
/* SPDX-License-Identifier: MIT */
#include "switches_inside.h"

/* ----------------------------------------------------------------- names -- */

static int names_compare(const void *a, const void *b)
{
    return strcmp((*(struct switches_thread *const *)a)->name,
                  (*(struct switches_thread *const *)b)->name);
}

void switches_names(struct switches *s)
{
    size_t count = s->threads_count, same;
    struct switches_thread **sorted =
        need(malloc((count + 1) * sizeof *sorted));
    char id[64];
    if (count)
        memcpy(sorted, s->threads, count * sizeof *sorted);
    array_sort(sorted, count, names_compare);
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

const char *switches_name(const char *name, uint64_t id, char to[64])
{
    if (*name)
        snprintf(to, 64, "%s", name);
    else
        snprintf(to, 64, id < 1u << 22 ? "%" PRIu64 : "0x%" PRIx64, id);
    return to;
}

/* ------------------------------------------------------------------ read -- */

static void read_all(struct switches *s)
{
    struct reader_event e;
    struct switches_told told;
    uint64_t ns, from = timeline_complete(s->timeline);
    while (timeline_read(s->timeline, &e, &ns)) {
        bool off;
        if (!switches_told(&told, &e, ns))
            continue;
        off = told.kind == KIND_OFF || told.kind == KIND_ON;
        if (!off && ns < from)
            continue;
        if (!s->any) { /* the known time begins here */
            s->any = true;
            s->begin_ns = ns > s->since_ns ? ns : s->since_ns;
            s->now = s->end_ns = ns;
        }
        if (off)
            switches_take_off(s, &told);
        else
            switches_take(s, &told);
        if (ns > s->end_ns)
            s->end_ns = ns;
    }
}

/* Ends all at the last record. */
static void finish(struct switches *s)
{
    for (size_t i = 0; i < s->threads_count; i++) {
        struct switches_thread *t = s->threads[i];
        bool is_told = t->state != SWITCHES_RUNNING || !t->told || !t->gone;
        switches_state_set(s, t, is_told ? t->state : SWITCHES_UNKNOWN,
                           is_told ? t->state : SWITCHES_UNKNOWN);
    }
    for (unsigned i = 0; i < SWITCHES_CPUS; i++) {
        struct switches_cpu *cpu = s->cpus[i];
        if (!cpu)
            continue;
        while (cpu->depth)
            switches_nested_end(s, cpu, i, false);
        switches_sleep_end(s, cpu, i);
    }
    switches_names(s);
    if (s->end_ns > s->until_ns)
        s->end_ns = s->until_ns;
    if (s->end_ns < s->begin_ns)
        s->end_ns = s->begin_ns;
    array_sort(s->slices, s->slices_count, switches_slices_compare);
}

void switches_read(struct switches *s)
{
    s->reader = &s->timeline->call->reader;
    read_all(s);
    finish(s);
    timeline_rewind(s->timeline);
}

/* Gives each thread a lane of the timeline: the lane of its number, or a new
 * lane. */
static void lanes_find(struct switches *s)
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
        warn(t->call, "switches are not shown: --thread leaves out the "
                      "records of other threads");
        return;
    }
    switches_read(s);
    lanes_find(s);
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
