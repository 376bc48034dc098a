/* switches_follow.c - states of threads, of a reader that follows. */
/* SPDX-License-Identifier: MIT */
#include "switches_inside.h"

#include "array.h"

/* A copy of a record's words: its event is gone when its turn comes. */
struct switches_heard {
    struct switches_told told;
    uint64_t sequence;
    char name[SWITCHES_NAME_MAX];
};

enum { CUT_NS = 250000000 }; /* the page shows a lasting state this late */

void switches_follow(struct switches *s, struct reader *reader)
{
    *s = (struct switches){
        .reader = reader, .until_ns = UINT64_MAX, .keeps = true};
}

void switches_hear(struct switches *s, const struct reader_event *e,
                   uint32_t row)
{
    struct switches_heard *add;
    struct switches_told told;
    if (e->ns < 0)
        return;
    if ((uint64_t)e->ns > s->newest)
        s->newest = (uint64_t)e->ns;
    if (!switches_told(&told, e, (uint64_t)e->ns))
        return;
    if (!s->newest_before && e->recorder->complete_ns > s->complete)
        s->complete = e->recorder->complete_ns;
    add = array_add(s->heard, s->heard_count, s->heard_max);
    *add = (struct switches_heard){.told = told, .sequence = s->heard_count};
    switches_name_read(s, &told, add->name);
    if (told.kind == KIND_ON)
        add->told.off_ns = switches_ticks_ns(s, &told);
    if (told.number && e->thread && e->thread->number == told.number)
        add->told.row = row;
    add->told.event = NULL;
}

static int heard_compare(const void *a, const void *b)
{
    const struct switches_heard *left = a, *right = b;
    return array_order(left->told.ns, right->told.ns,
                       array_order(left->sequence, right->sequence, 0));
}

/* Ends the slices of lasting states; `forget`: they become unknown. */
static void cut_all(struct switches *s, bool forget)
{
    for (size_t i = 0; i < s->threads_count; i++) {
        struct switches_thread *thread = s->threads[i];
        enum switches_state state = thread->state;
        if (forget || (thread->since < s->now && state != SWITCHES_UNKNOWN &&
                       state != SWITCHES_ENDED))
            switches_state_set(s, thread, state,
                               forget ? SWITCHES_UNKNOWN : state);
    }
    for (unsigned i = 0; forget && i < SWITCHES_CPUS; i++)
        if (s->cpus[i]) {
            s->cpus[i]->runs = NULL;
            s->cpus[i]->depth = 0;
            s->cpus[i]->asleep = s->cpus[i]->off = false;
        }
}

/* Reads the copied records up to a time. */
static void heard_read(struct switches *s, uint64_t until)
{
    size_t i;
    array_sort(s->heard, s->heard_count, heard_compare);
    for (i = 0; i < s->heard_count && s->heard[i].told.ns <= until; i++) {
        struct switches_told *told = &s->heard[i].told;
        told->name = s->heard[i].name;
        if ((int64_t)told->ns < s->complete)
            continue;
        if (!s->any) { /* the known time begins here */
            s->any = true;
            s->begin_ns = s->now = told->ns;
        }
        if (told->ns < s->now)
            told->ns = s->now;
        if (told->kind == KIND_OFF || told->kind == KIND_ON)
            switches_take_off(s, told);
        else
            switches_take(s, told);
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
        switches_names(s);
    s->named = s->threads_count;
    array_sort(s->slices, s->slices_count, switches_slices_compare);
    s->newest_before = s->newest;
}
