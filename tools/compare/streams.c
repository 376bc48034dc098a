/* streams.c - sequences of threads, as far as both sides kept them. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

enum { SETTLED = 8 }; /* records in a row that the other side knows */

/* Returns for each thread the order from which on its rings lack no record: of
 * the program, and in the next place, of recorder run. */
static uint64_t *complete_from(const struct compare *c, enum compare_side side)
{
    const struct history *h = &c->of[side];
    uint64_t *from = need(calloc(2 * h->threads_count + 1, sizeof *from));
    struct ids pairs = {0};
    bool is_new;
    for (size_t i = 0; i < h->count; i++) {
        const struct compare_event *e = &h->events[i];
        const struct compare_format *f = &c->formats[e->format];
        size_t at = 2 * (size_t)e->thread + f->scheduler;
        if (!c->recorders[f->recorder].cut[side])
            continue;
        ids_add(&pairs, e->thread, e->ring, 0, &is_new);
        if (is_new && h->oldest[e->ring] > from[at])
            from[at] = h->oldest[e->ring];
    }
    ids_free(&pairs);
    return from;
}

/* The end of a chain, while it is made. */
struct end {
    uint32_t last;  /* event, or CHAIN_END */
    unsigned known; /* records in a row */
};

/* Adds an event to its chain, unless the other side may have lost its like. */
static void chain_add(struct compare *c, enum compare_side side,
                      struct end *end, size_t event, enum chained chain)
{
    struct compare_event *e = &c->of[side].events[event];
    const struct compare_format *f = &c->formats[e->format];
    bool cut = chain == CHAIN_OWN ? c->recorders[f->recorder].cut[!side]
                                  : c->of[!side].cut;
    e->before = end->last;
    if (cut && end->known < SETTLED && !f->kept[!side]) {
        *end = (struct end){CHAIN_END, 0};
        return;
    }
    if (end->last != CHAIN_END)
        c->of[side].events[end->last].next = e->format;
    end->known++;
    end->last = (uint32_t)event;
    e->chain = (uint8_t)chain;
}

/* The ends of chains: of a thread, a recorder or none, and a name or none. */
struct ends {
    struct ids ids;
    struct end *at;
    size_t max;
};

static struct end *end_of(struct ends *ends, size_t thread, size_t recorder,
                          uint64_t name)
{
    bool is_new;
    struct end *end = array_at_key(ends->at, &ends->ids, ends->max, thread,
                                   recorder, name, &is_new);
    if (is_new)
        end->last = CHAIN_END;
    return end;
}

/* Links an event with the last one of its thread that has its first name. */
static void name_link(struct compare *c, enum compare_side side, size_t event,
                      struct ends *ends)
{
    struct history *h = &c->of[side];
    struct compare_event *e = &h->events[event];
    struct end *end;
    unsigned k = 0;
    while (k < e->count && value_naming(c, side, event, k) != NAMING_NAME)
        k++;
    e->named = CHAIN_END;
    if (e->chain != CHAIN_ALL || k == e->count ||
        c->formats[e->format].scheduler)
        return;
    end = end_of(ends, e->thread, SIZE_MAX, h->values[e->values + k].word);
    e->named = end->last;
    end->last = (uint32_t)event;
}

static void make(struct compare *c, enum compare_side side)
{
    struct history *h = &c->of[side];
    uint64_t *from = complete_from(c, side);
    struct ends ends = {0};
    for (size_t i = 0; i < h->count; i++) {
        const struct compare_event *e = &h->events[i];
        const struct compare_format *f = &c->formats[e->format];
        bool all = e->order >= from[2 * (size_t)e->thread + f->scheduler];
        size_t recorder = !all ? 1 + f->recorder : f->scheduler ? SIZE_MAX : 0;
        chain_add(c, side, end_of(&ends, e->thread, recorder, 0), i,
                  all ? CHAIN_ALL : CHAIN_OWN);
    }
    ids_free(&ends.ids);
    free(ends.at);
    free(from);
}

/* Lists the watched events by format, in the order of time. */
static void list(struct compare *c, enum compare_side side)
{
    const struct history *h = &c->of[side];
    size_t *at = need(calloc(c->formats_count + 2, sizeof *at));
    size_t total = 0, i;
    for (i = 0; i < h->count; i++) {
        const struct compare_event *e = &h->events[i];
        struct compare_format *f = &c->formats[e->format];
        if (e->chain && !f->watched[side]++)
            f->first[side] = i;
    }
    for (i = 0; i < c->formats_count; i++)
        at[i] = total += (size_t)c->formats[i].watched[side];
    at[i] = total;
    c->listed[side] = need(malloc((total + 1) * sizeof(uint32_t)));
    c->listed_at[side] = at;
    for (i = h->count; i-- > 0;) /* from a format's end to its begin */
        if (h->events[i].chain)
            c->listed[side][--at[h->events[i].format]] = (uint32_t)i;
}

void streams_make(struct compare *c)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        make(c, side);
        list(c, side);
    }
    naming_find_handles(c);
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        struct ends ends = {0};
        for (size_t i = 0; i < c->of[side].count; i++)
            name_link(c, side, i, &ends);
        ids_free(&ends.ids);
        free(ends.at);
    }
}
