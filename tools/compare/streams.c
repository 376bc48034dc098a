/* streams.c - sequences of threads, as far as both sources kept them. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <stdlib.h>

#include "array.h"
#include "buffer.h"

enum { SETTLED = 8 }; /* records in a row that the other source knows */

/* The order from which on all rings of a thread have all that it recorded:
 * where it has less than a whole one, from the ring's oldest record on. */
static uint64_t *complete_from(const struct compare *c, enum compare_side side)
{
    const struct history *h = &c->of[side];
    uint64_t *from = need(calloc(h->threads_count + 1, sizeof *from));
    struct ids pairs = {0};
    bool is_new;
    for (size_t i = 0; i < h->count; i++) {
        const struct compare_event *e = &h->events[i];
        size_t recorder = c->formats[e->format].recorder;
        if (!c->recorders[recorder].cut[side])
            continue;
        ids_of(&pairs, e->thread, e->ring, 0, &is_new);
        if (is_new && h->oldest[e->ring] > from[e->thread])
            from[e->thread] = h->oldest[e->ring];
    }
    ids_free(&pairs);
    return from;
}

static void stream_add(struct compare *c, enum compare_side side,
                       struct ids *ids, size_t kind, size_t event)
{
    struct streams *streams = &c->streams[side];
    size_t thread = c->of[side].events[event].thread, i;
    struct stream *s;
    bool is_new;
    i = ids_of(ids, kind, thread, 0, &is_new);
    streams->all = need(array_room(streams->all, &streams->max, ids->count,
                                   sizeof *streams->all));
    streams->count = ids->count;
    s = &streams->all[i];
    if (is_new)
        *s = (struct stream){.kind = kind, .thread = thread};
    s->events =
        need(array_room(s->events, &s->max, s->count + 1, sizeof *s->events));
    s->events[s->count++] = (uint32_t)event;
}

static void make(struct compare *c, enum compare_side side)
{
    const struct history *h = &c->of[side];
    uint64_t *from = complete_from(c, side);
    struct ids ids = {0};
    for (size_t i = 0; i < h->count; i++) {
        const struct compare_event *e = &h->events[i];
        if (e->order >= from[e->thread])
            stream_add(c, side, &ids, 0, i);
        if (c->apart)
            stream_add(c, side, &ids, 1 + c->formats[e->format].recorder, i);
    }
    ids_free(&ids);
    free(from);
}

/* Drops the beginning of a stream until it settles. */
static void settle(const struct compare *c, enum compare_side side,
                   struct stream *s)
{
    size_t known = 0, i;
    bool other_cut =
        s->kind ? c->recorders[s->kind - 1].cut[!side] : c->of[!side].cut;
    if (!other_cut)
        return;
    for (i = 0; i < s->count && known < SETTLED; i++) {
        const struct compare_event *e = &c->of[side].events[s->events[i]];
        known = c->formats[e->format].kept[!side] ? known + 1 : 0;
    }
    if (i == known) /* it began so */
        return;
    i = known < SETTLED ? s->count : i - SETTLED;
    for (size_t to = 0; i + to < s->count; to++)
        s->events[to] = s->events[i + to];
    s->count -= i;
}

/* Counts the watched events: in recorders' own streams if they exist. */
static void watch(struct compare *c, enum compare_side side)
{
    const struct history *h = &c->of[side];
    for (size_t i = 0; i < c->streams[side].count; i++) {
        const struct stream *s = &c->streams[side].all[i];
        if (!s->kind == c->apart)
            continue;
        for (size_t k = 0; k < s->count; k++) {
            const struct compare_event *e = &h->events[s->events[k]];
            struct compare_format *f = &c->formats[e->format];
            struct compare_recorder *r = &c->recorders[f->recorder];
            if (!f->watched[side]++ || s->events[k] < f->first[side])
                f->first[side] = s->events[k];
            if (!r->last_ns[side] || e->ns < r->first_ns[side])
                r->first_ns[side] = e->ns;
            if (e->ns >= r->last_ns[side])
                r->last_ns[side] = e->ns + 1;
        }
    }
}

/* Lists them by format, in the order of time. */
static void list(struct compare *c, enum compare_side side)
{
    const struct history *h = &c->of[side];
    size_t *at = need(calloc(c->formats_count + 2, sizeof *at));
    bool *watched = need(calloc(h->count + 1, sizeof *watched));
    size_t total = 0, i, count;
    for (i = 0; i < c->formats_count; i++) {
        count = (size_t)c->formats[i].watched[side];
        at[i] = total;
        total += count;
    }
    at[i] = total;
    c->listed[side] = need(malloc((total + 1) * sizeof(uint32_t)));
    c->listed_at[side] = at;
    for (i = 0; i < c->streams[side].count; i++) {
        const struct stream *s = &c->streams[side].all[i];
        for (size_t k = 0; !s->kind != c->apart && k < s->count; k++)
            watched[s->events[k]] = true;
    }
    for (i = 0; i < h->count; i++)
        if (watched[i])
            c->listed[side][at[h->events[i].format]++] = (uint32_t)i;
    for (i = c->formats_count; i > 0; i--) /* each was moved to the next */
        at[i] = at[i - 1];
    at[0] = 0;
    free(watched);
}

void streams_make(struct compare *c)
{
    size_t cut = 0;
    for (size_t i = 0; i < c->recorders_count; i++)
        cut += c->recorders[i].cut[GOOD] || c->recorders[i].cut[BAD];
    c->apart = cut && c->recorders_count > 1;
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        make(c, side);
        for (size_t i = 0; i < c->streams[side].count; i++)
            settle(c, side, &c->streams[side].all[i]);
        watch(c, side);
        list(c, side);
    }
}

void streams_free(struct compare *c)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        for (size_t i = 0; i < c->streams[side].count; i++)
            free(c->streams[side].all[i].events);
        free(c->streams[side].all);
        free(c->listed[side]);
        free(c->listed_at[side]);
    }
}
