/* provenance.c - the records that hold values of a crash. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "buffer.h"
#include "explain.h"
#include "line.h"

#include <stdlib.h>
#include <string.h>

enum {
    EACH = 3,             /* records of one value that are shown */
    NEAR = 1 << 20,       /* no larger block is looked for */
    NUMBER_LEAST = 65536, /* a number from here on may be an address */
    FORMATS_MAX = 1 << 16
};

/* A value's newest records. */
struct found {
    uint64_t orders[EACH], count;
    bool exact[EACH];
};
/* A format, and the first record of it. */
struct first {
    uint64_t order, place, recorder;
};

struct search {
    struct explain *x;
    struct provenance *p;
    struct found *found; /* by value */
    struct ids formats;
    struct first *firsts;
    size_t firsts_max;
};

/* ----------------------------------------------------------------- match -- */

/* Does an argument hold a value? A block's start holds each address in it. */
static bool is_held(struct search *s, const struct reader_argument *a,
                    const struct value *v, bool *exact)
{
    struct block block;
    bool address = a->kind == READER_POINTER || a->kind == READER_UNSIGNED ||
                   a->kind == READER_SIGNED;
    const char *name = v->name;
    if (v->number)
        return address && a->name && a->kind != READER_POINTER &&
               strcmp(a->name, name) == 0 && a->word == v->word;
    if (!address || a->word < NUMBER_LEAST)
        return false;
    *exact = a->word == v->word;
    return *exact ||
           (v->word - a->word < NEAR &&
            heap_block(s->x->threads.source->memory, a->word, &block) &&
            v->word - a->word < block.size);
}

static void event_match(struct search *s, const struct reader_event *e)
{
    struct reader_argument arguments[12];
    unsigned count = reader_arguments(&s->x->call->reader, e, arguments);
    for (size_t i = 0; i < s->x->values_count; i++) {
        struct found *f = &s->found[i];
        for (unsigned k = 0; k < count; k++) {
            bool exact = false;
            if (!is_held(s, &arguments[k], &s->x->values[i], &exact))
                continue;
            memmove(f->orders + 1, f->orders, sizeof f->orders - 8);
            memmove(f->exact + 1, f->exact, sizeof f->exact - 1);
            f->orders[0] = e->event.order;
            f->exact[0] = exact;
            f->count++;
            break;
        }
    }
}

/* Notes where the format of an event came first. */
static void event_first(struct search *s, const struct reader_event *e)
{
    bool is_new;
    size_t i;
    if (s->formats.count >= FORMATS_MAX)
        return;
    i = ids_of(&s->formats, e->event.format, 0, 0, &is_new);
    s->firsts = need(array_room(s->firsts, &s->firsts_max, s->formats.count,
                                sizeof *s->firsts));
    if (is_new)
        s->firsts[i] = (struct first){e->event.order, s->p->records,
                                      (uint64_t)(uintptr_t)e->recorder};
}

/* Keeps the newest records of the thread. */
static void event_last(struct search *s, const struct reader_event *e)
{
    struct provenance *p = s->p;
    if (!s->x->thread || !e->thread || e->thread->id != s->x->thread->id)
        return;
    if (p->last_count == LAST_MAX)
        memmove(p->last, p->last + 1, sizeof p->last - sizeof *p->last);
    else
        p->last_count++;
    p->last[p->last_count - 1] = (struct shown){.order = e->event.order};
}

/* ---------------------------------------------------------------- choose -- */

/* Compares two records for qsort(): the first is of a value that the faulting
 * instruction used, of a lower tier, or newer. */
static const struct explain *sorted; /* qsort() passes nothing on */
static int more_telling(const void *a, const void *b)
{
    const struct shown *left = a, *right = b;
    const struct value *of_left = &sorted->values[left->value];
    const struct value *of_right = &sorted->values[right->value];
    if (of_left->used != of_right->used)
        return of_left->used ? -1 : 1;
    if (of_left->tier != of_right->tier)
        return of_left->tier < of_right->tier ? -1 : 1;
    return left->order > right->order ? -1 : left->order < right->order;
}

/* Sorts all records that hold values, and keeps the first few, each once. */
static void lines_choose(struct search *s)
{
    struct provenance *p = s->p;
    struct shown *all =
        need(calloc(s->x->values_count * EACH + 1, sizeof *all));
    size_t count = 0;
    for (size_t i = 0; i < s->x->values_count; i++)
        for (unsigned k = 0; k < EACH && k < s->found[i].count; k++)
            all[count++] = (struct shown){.order = s->found[i].orders[k],
                                          .value = i,
                                          .count = s->found[i].count,
                                          .exact = s->found[i].exact[k]};
    sorted = s->x;
    qsort(all, count, sizeof *all, more_telling);
    for (size_t i = 0; i < count && p->lines_count < LINES_MAX; i++) {
        size_t n = 0;
        while (n < p->lines_count && p->lines[n].order != all[i].order)
            n++;
        if (n == p->lines_count)
            p->lines[p->lines_count++] = all[i];
    }
    free(all);
}

/* Formats that came for the first time in the last records, of recorders that
 * lost none before. */
static void new_choose(struct search *s)
{
    struct provenance *p = s->p;
    enum { LEAST = 100, PART = 20 };
    for (size_t i = 0; i < s->formats.count && p->records >= LEAST; i++) {
        const struct first *f = &s->firsts[i];
        const struct reader_recorder *r =
            (const struct reader_recorder *)(uintptr_t)f->recorder;
        if (f->place < p->records - p->records / PART ||
            r->figures.overwritten || p->new_count == NEW_MAX)
            continue;
        p->new[p->new_count++] = (struct shown){.order = f->order};
    }
}

/* ------------------------------------------------------------------ text -- */

static void line_keep(struct shown *of, size_t count, struct call *call,
                      const struct reader_event *e)
{
    for (size_t i = 0; i < count; i++) {
        size_t size;
        const char *line;
        if (of[i].order != e->event.order || of[i].line)
            continue;
        line = reader_line(&call->reader, e, NULL, &size);
        if (size && line[size - 1] == '\n')
            size--;
        of[i].line = need(strndup(line, size));
    }
}

void provenance_find(struct explain *x, struct provenance *p)
{
    struct search s = {.x = x, .p = p};
    struct reader *reader = &x->call->reader;
    struct reader_event e;
    *p = (struct provenance){0};
    if (!x->call->source.registry)
        return;
    s.found = need(calloc(x->values_count + 1, sizeof *s.found));
    reader_select(reader, &x->call->selection);
    call_take(x->call);
    reader_count(reader);
    for (; reader_next(reader, &e); p->records++) {
        event_match(&s, &e);
        event_first(&s, &e);
        event_last(&s, &e);
    }
    lines_choose(&s);
    new_choose(&s);
    for (reader_rewind(reader); reader_next(reader, &e);) {
        line_keep(p->lines, p->lines_count, x->call, &e);
        line_keep(p->last, p->last_count, x->call, &e);
        line_keep(p->new, p->new_count, x->call, &e);
    }
    ids_free(&s.formats);
    free(s.firsts);
    free(s.found);
}

void provenance_free(struct provenance *p)
{
    for (size_t i = 0; i < p->lines_count; i++)
        free(p->lines[i].line);
    for (size_t i = 0; i < p->last_count; i++)
        free(p->last[i].line);
    for (size_t i = 0; i < p->new_count; i++)
        free(p->new[i].line);
}
