/* threads.c - which threads are the same, and which end before they should. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"

enum { ALIKE_MAX = 256 }; /* threads that are compared with each other */

/* ----------------------------------------------------------------- match -- */

/* The formats of each thread, as bits. */
struct sets {
    uint64_t *bits;
    size_t words;
};

static struct sets sets_of(const struct compare *c, enum compare_side side)
{
    const struct history *h = &c->of[side];
    struct sets sets = {NULL, c->formats_count / 64 + 1};
    if (h->threads_count > ALIKE_MAX || c->formats_count > 1 << 16)
        return sets;
    sets.bits = need(calloc((h->threads_count + 1) * sets.words, 8));
    for (size_t i = 0; i < h->count; i++)
        sets.bits[h->events[i].thread * sets.words +
                  h->events[i].format / 64] |= (uint64_t)1
                                               << h->events[i].format % 64;
    return sets;
}

/* Returns how many hundredths of the formats of two threads both have. */
static int alike(const struct sets sets[SIDES], size_t good, size_t bad)
{
    int both = 0, any = 0;
    if (!sets[GOOD].bits || !sets[BAD].bits)
        return 100;
    for (size_t i = 0; i < sets[GOOD].words; i++) {
        uint64_t a = sets[GOOD].bits[good * sets[GOOD].words + i];
        uint64_t b = sets[BAD].bits[bad * sets[BAD].words + i];
        both += __builtin_popcountll(a & b);
        any += __builtin_popcountll(a | b);
    }
    return any ? 100 * both / any : 100;
}

/* Pairs the most similar remaining threads, of equals the first created; if
 * `named`, only threads of one name, else threads with half of their formats in
 * common. */
static void pair(struct compare *c, const struct sets sets[SIDES], bool named)
{
    struct history *good = &c->of[GOOD], *bad = &c->of[BAD];
    bool many = !sets[GOOD].bits || !sets[BAD].bits;
    for (int least = many ? 100 : 90; least >= (named ? 0 : 50); least -= 10)
        for (size_t a = 0; a < good->threads_count; a++) {
            struct compare_thread *x = &good->threads[a];
            for (size_t b = 0; b < bad->threads_count; b++) {
                struct compare_thread *y = &bad->threads[b];
                if (x->match != COMPARE_NONE)
                    break;
                if (y->match != COMPARE_NONE || !x->count || !y->count ||
                    (named && strcmp(x->name, y->name) != 0) ||
                    alike(sets, a, b) < least)
                    continue;
                x->match = b;
                y->match = a;
            }
        }
}

void threads_match(struct compare *c)
{
    struct sets sets[SIDES] = {sets_of(c, GOOD), sets_of(c, BAD)};
    pair(c, sets, true);
    pair(c, sets, false);
    free(sets[GOOD].bits);
    free(sets[BAD].bits);
}

/* ------------------------------------------------------------------ ends -- */

static const char *name_of(const struct compare_thread *t)
{
    static char text[4][96];
    static unsigned at;
    char *to = text[at++ % 4];
    struct recorder_string_ s = recorder_string_at_(to, sizeof *text - 1);
    recorder_add_name_(&s, t->name, sizeof t->name);
    to[s.size < s.max ? s.size : s.max] = '\0';
    return to;
}

/* A thread that only one source has; where the other was cut, only one that
 * was there at the end, too. */
static void alone_add(struct compare *c, enum compare_side side,
                      const struct compare_thread *t)
{
    const struct history *h = &c->of[side];
    struct finding f = finding_of(FINDING_THREAD, side == BAD ? 57 : 50,
                                  h->events[t->first].format);
    if (c->of[!side].cut && h->events[t->last].ns < h->length_ns / 10 * 9)
        return;
    f.event[side] = t->first;
    f.good = side == GOOD ? (double)t->count : 0;
    f.bad = side == BAD ? (double)t->count : 0;
    finding_add(
        c, f,
        side == BAD ? "thread %s (T%u) is in BAD only: %.0f records, %s the "
                      "first"
                    : "thread %s (T%u) is in GOOD only: %.0f records, %s the "
                      "first",
        name_of(t), t->number, (double)t->count, finding_site(c, f.format));
}

static double silent(const struct history *h, const struct compare_thread *t)
{
    double from = (double)h->events[t->first].ns;
    double last = (double)h->events[t->last].ns, end = (double)h->length_ns;
    return end > from ? (end - last) / (end - from) : 0;
}

/* A thread that is silent at the end of BAD for longer than it ever was in
 * GOOD, and for a larger part of its life. */
static void stops_find(struct compare *c, const struct compare_thread *bad)
{
    const struct history *h = &c->of[BAD];
    const struct compare_thread *good = &c->of[GOOD].threads[bad->match];
    double is = silent(h, bad), was = silent(&c->of[GOOD], good);
    double ns = (double)(h->length_ns - h->events[bad->last].ns);
    size_t last = h->events[bad->last].format;
    bool as_before = c->of[GOOD].events[good->last].format == last;
    struct finding f = finding_of(FINDING_ENDS, as_before ? 40 : 52, last);
    if (good->count < 12 || is - was < 0.25 || ns < 1e6 ||
        ns < 4 * (double)good->longest_ns || ns < 2 * (double)bad->longest_ns)
        return;
    f.good = was;
    f.bad = is;
    f.event[BAD] = bad->last;
    f.event[GOOD] = good->last;
    finding_add(c, f,
                "thread %s (T%u) ends early: nothing in the last %s of BAD, "
                "%.0f%% of its time, after %s; in GOOD %.0f%%, its longest "
                "pause %s",
                name_of(bad), bad->number, finding_time(ns), 100 * is,
                finding_site(c, last), 100 * was,
                finding_time((double)good->longest_ns));
}

/* Reports if BAD ends with a record that never ends GOOD or one of its threads,
 * and GOOD with one that BAD lacks. */
static void end_find(struct compare *c)
{
    const struct history *good = &c->of[GOOD], *bad = &c->of[BAD];
    struct finding f = finding_of(FINDING_ENDS, 50, COMPARE_NONE);
    const struct compare_format *last;
    if (!good->count || !bad->count)
        return;
    f.event[GOOD] = good->count - 1;
    f.event[BAD] = bad->count - 1;
    f.format = bad->events[bad->count - 1].format;
    f.other = good->events[good->count - 1].format;
    last = &c->formats[f.other];
    if (last->kept[BAD] || !last->watched[GOOD] || last->watched[GOOD] > 16 ||
        bad->call->source.pid)
        return;
    for (size_t i = 0; i < good->threads_count; i++)
        if (good->threads[i].count &&
            good->events[good->threads[i].last].format == f.format)
            return;
    finding_add(c, f,
                "BAD ends with %s of thread %s; GOOD ends with %s, and no "
                "thread of it so",
                finding_site(c, f.format),
                name_of(&bad->threads[bad->events[bad->count - 1].thread]),
                finding_site(c, f.other));
}

void threads_find(struct compare *c)
{
    for (enum compare_side side = GOOD; side < SIDES; side++)
        for (size_t i = 0; i < c->of[side].threads_count; i++) {
            const struct compare_thread *t = &c->of[side].threads[i];
            if (t->count && t->match == COMPARE_NONE)
                alone_add(c, side, t);
            else if (t->count && side == BAD)
                stops_find(c, t);
        }
    end_find(c);
}
