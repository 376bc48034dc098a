/* exact.c - the first record by which deterministic runs differ. */
/* SPDX-License-Identifier: MIT */
/*
   The sequences of two threads of a role are compared record by record, from
   their beginnings to the first difference. It is a finding if the records
   before are too many to be the same by chance: if they have surprises. A
   record is a surprise if it is not like the record that came after the same
   three formats before: so predicts Bloom's LZP, a method of data compression.
   Arguments that are not the same from the start on (times, names, numbers of
   the run) are left out.
*/
#include "compare.h"

enum {
    SAME = 8,         /* times that an argument is the same before it counts */
    RESYNC = 400,     /* records that one side may have more */
    AFTER = 6,        /* records that must be the same then */
    PART = 4,         /* the same records are at least 1 / PART of a thread's */
    PRICE = 10,       /* surprises that make up for a departure */
    ALIKE = 2,        /* good runs like the first: no surprise is needed, */
    ALIKE_LEAST = 100 /* if a run has this number of records */
};

struct sequence {
    uint32_t *events;
    size_t count, max;
};

/* An argument of a format, in both. */
struct same {
    unsigned times;      /* it was the same */
    bool chance, varies; /* it differs from the start on; in good runs */
    uint64_t by;         /* more than in the record whose like was expected */
};

/* The arguments of a format: as many as a record has at most. */
struct same_format {
    struct same of[12];
};

struct exact {
    struct compare *c;
    struct sequence of[SIDES];
    struct same_format *same; /* by format */
    enum compare_side with;   /* the second's side: BAD, or GOOD, where a
                                     * good run is compared with another */
    size_t thread[SIDES];
    double known;           /* surprises in the records that are the same */
    struct ids ids;         /* three formats, and values */
    size_t *last, last_max; /* where they came last, from 1; 0: nowhere */
    size_t expected;        /* the place whose like is to come, from 1 */
};

static void sequence_make(struct exact *x, enum compare_side side)
{
    const struct history *h = &x->c->of[side ? x->with : GOOD];
    const struct compare_thread *t = &h->threads[x->thread[side]];
    struct sequence *s = &x->of[side];
    s->count = 0;
    for (size_t i = t->first; i <= t->last; i++)
        if (h->events[i].thread == x->thread[side] &&
            h->events[i].chain == CHAIN_ALL &&
            !x->c->formats[h->events[i].format].scheduler)
            *array_add(s->events, s->count, s->max) = (uint32_t)i;
}

static const struct compare_value *value_of(const struct exact *x,
                                            enum compare_side side,
                                            size_t event, unsigned argument)
{
    return history_value(&x->c->of[side ? x->with : GOOD], event, argument);
}

/* Is an argument the same in two records? Names are, unless one is null. */
static bool is_same(const struct exact *x, size_t good, size_t bad,
                    unsigned argument)
{
    const struct compare_value *a = value_of(x, GOOD, good, argument);
    const struct compare_value *b = value_of(x, BAD, bad, argument);
    enum naming in_good = value_naming(x->c, GOOD, good, argument);
    enum naming in_bad = value_naming(x->c, x->with, bad, argument);
    if (a->kind == READER_LOST || b->kind == READER_LOST ||
        in_good == NAMING_CHANCE || (a->kind == b->kind && a->word == b->word))
        return true;
    return in_good != NAMING_NONE && in_good == in_bad;
}

/* The first argument by which two records of one format differ; -1: none.
 * `learn`: counts how often each is the same. */
static int differs(struct exact *x, size_t good, size_t bad, bool learn)
{
    const struct compare_event *a = &x->c->of[GOOD].events[good];
    const struct compare_event *b = &x->c->of[x->with].events[bad];
    int first = -1;
    for (unsigned i = 0; a->format == b->format && i < a->count && i < b->count;
         i++) {
        struct same *same = &x->same[a->format].of[i];
        if (same->chance)
            continue;
        if (is_same(x, good, bad, i))
            same->times += learn;
        else if (!learn || same->times >= SAME ||
                 (x->c->exact && x->with == BAD))
            first = first < 0 ? (int)i : first;
        else
            same->chance = true;
        same->varies |= same->chance && x->with == GOOD;
    }
    return first;
}

static bool is_equal(struct exact *x, size_t i, size_t k, bool learn)
{
    size_t good = x->of[GOOD].events[i], bad = x->of[BAD].events[k];
    return x->c->of[GOOD].events[good].format ==
               x->c->of[x->with].events[bad].format &&
           differs(x, good, bad, learn) < 0;
}

/* Where the format of a record came last after the two before; from 1. With
 * `values`, also its arguments were the same. */
static size_t *last_of(struct exact *x, size_t place, bool values)
{
    const struct compare_event *all = x->c->of[GOOD].events;
    const uint32_t *at = &x->of[GOOD].events[place];
    const struct compare_event *e = &all[*at];
    uint64_t digest = values, before = UINT64_MAX;
    bool is_new;
    for (unsigned i = 0; values && i < e->count; i++)
        if (!x->same[e->format].of[i].chance &&
            value_naming(x->c, GOOD, *at, i) == NAMING_NONE)
            digest = (digest + value_of(x, GOOD, *at, i)->word) *
                     0x9e3779b97f4a7c15u;
    if (place > 1)
        before = (uint64_t)all[at[-1]].format << 32 | all[at[-2]].format;
    return array_at_key(x->last, &x->ids, x->last_max, e->format, before,
                        digest, &is_new);
}

/* Counts the surprises of an equal record: its format, or arguments that are
 * not as in the record whose like is expected, nor differ as those before. */
static double surprises(struct exact *x, size_t place)
{
    const uint32_t *events = x->of[GOOD].events;
    const struct compare_event *all = x->c->of[GOOD].events;
    const struct compare_event *e = &all[events[place]];
    size_t like = x->expected == COMPARE_NONE ? 0 : x->expected, *last;
    double count;
    if (like && all[events[like - 1]].format != e->format)
        like = 0;
    count = !like && x->expected != COMPARE_NONE;
    for (unsigned i = 0; like && i < e->count; i++) {
        struct same *same = &x->same[e->format].of[i];
        uint64_t by = value_of(x, GOOD, events[place], i)->word -
                      value_of(x, GOOD, events[like - 1], i)->word;
        if (same->chance ||
            value_naming(x->c, GOOD, events[place], i) != NAMING_NONE)
            continue;
        count += by && by != same->by;
        same->by = by;
    }
    x->expected = count > 0 ? 0 : like + 1;
    for (int values = 1; values >= 0; values--) {
        last = last_of(x, place, values);
        if (!x->expected && *last)
            x->expected = *last + 1;
        *last = place + 1;
    }
    return count;
}

/* Finds after how few records of each side they are the same again. */
static bool resync(struct exact *x, size_t i, size_t k, size_t skips[SIDES])
{
    for (size_t sum = 1; sum <= RESYNC; sum++)
        for (size_t in_good = 0; in_good <= sum; in_good++) {
            size_t a = i + in_good, b = k + sum - in_good, same = 0;
            while (same < AFTER && a + same < x->of[GOOD].count &&
                   b + same < x->of[BAD].count &&
                   is_equal(x, a + same, b + same, false))
                same++;
            if (same < AFTER &&
                (a + same < x->of[GOOD].count || b + same < x->of[BAD].count))
                continue;
            skips[GOOD] = in_good;
            skips[BAD] = sum - in_good;
            return true;
        }
    return false;
}

/* Adds the record in which the two depart: place i of GOOD, k of BAD. */
static void departure_add(struct exact *x, size_t i, size_t k, double size)
{
    struct compare *c = x->c;
    size_t good = x->of[GOOD].events[i], bad = x->of[BAD].events[k];
    size_t formats[SIDES] = {c->of[GOOD].events[good].format,
                             c->of[BAD].events[bad].format};
    struct finding f = finding_of(c, RULE_EXACT, size, formats[BAD], 0, 0);
    bool again = resync(x, i, k, f.skips);
    const char *subject = finding_site(c, formats[BAD]);
    const char *how;
    f.event[GOOD] = good;
    f.event[BAD] = bad;
    f.other = formats[GOOD];
    if (again && (!f.skips[GOOD] || !f.skips[BAD])) {
        enum compare_side has = f.skips[GOOD] ? GOOD : BAD;
        f.format = formats[has];
        subject = finding_site(c, f.format);
        how = finding_text("comes in %s, %zu record%s %s", has ? "BAD" : "GOOD",
                           f.skips[has], f.skips[has] == 1 ? "" : "s",
                           has ? "more" : "that BAD lacks");
    } else if ((f.argument = differs(x, good, bad, false)) >= 0) {
        unsigned argument = (unsigned)f.argument;
        subject = finding_argument(c, formats[BAD], argument);
        how = finding_text("is %s in BAD, %s in GOOD%s",
                           finding_value(c, value_of(x, BAD, bad, argument)),
                           finding_value(c, value_of(x, GOOD, good, argument)),
                           again ? "" : ", and all differs from there on");
    } else {
        how = finding_text("comes in BAD where %s comes in GOOD",
                           finding_site(c, formats[GOOD]));
    }
    finding_add(c, f, subject, how, (double)i,
                finding_name(c->of[BAD].threads[x->thread[BAD]].name));
}

/* A record that is made once, or twice, and is not the same. Where the runs are
 * deterministic, that is a difference; else it may be one of their cause. */
static void once_find(struct exact *x, size_t count, bool is_exact)
{
    struct compare *c = x->c;
    for (size_t i = 0; i < count; i++) {
        size_t good = x->of[GOOD].events[i], bad = x->of[BAD].events[i];
        const struct compare_event *e = &c->of[GOOD].events[good];
        const struct compare_format *f = &c->formats[e->format];
        if (f->watched[GOOD] > 2 * c->of[GOOD].runs_count ||
            f->watched[BAD] > 2)
            continue;
        for (unsigned k = 0; k < e->count; k++) {
            struct finding n = finding_of(c, RULE_ONCE, 1, e->format, 0, 0);
            if (is_same(x, good, bad, k) || x->same[e->format].of[k].varies)
                continue;
            n.argument = (int)k;
            n.weak = !is_exact && c->of[GOOD].runs_count < 3;
            n.score -= 40 * (double)i / (double)x->of[GOOD].count;
            n.event[GOOD] = good;
            n.event[BAD] = bad;
            finding_add(c, n, finding_argument(c, e->format, k),
                        finding_value(c, value_of(x, BAD, bad, k)),
                        finding_value(c, value_of(x, GOOD, good, k)));
        }
    }
}

/* Counts the records from the beginning that are the same in both. */
static size_t same_count(struct exact *x)
{
    size_t i = 0;
    sequence_make(x, GOOD);
    sequence_make(x, BAD);
    x->known = 0;
    x->expected = 0;
    ids_free(&x->ids);
    for (; i < x->of[GOOD].count && i < x->of[BAD].count &&
           is_equal(x, i, i, true);
         i++)
        x->known += surprises(x, i);
    return i;
}

/* Are both the same again after each record in which they depart, the first
 * being `i`, and is that seldom? Adds their surprises. */
static bool departs_seldom(struct exact *x, size_t i)
{
    size_t at[SIDES] = {i, i}, skips[SIDES], apart = 0;
    x->expected = COMPARE_NONE;
    while (at[GOOD] < x->of[GOOD].count && at[BAD] < x->of[BAD].count) {
        bool same = is_equal(x, at[GOOD], at[BAD], false);
        if (same)
            x->known += surprises(x, at[GOOD]);
        else if (!resync(x, at[GOOD], at[BAD], skips))
            return false;
        apart += !same;
        at[GOOD] += same ? 1 : skips[GOOD];
        at[BAD] += same ? 1 : skips[BAD];
        x->expected = same ? x->expected : COMPARE_NONE;
    }
    x->known -= PRICE * (double)apart;
    return true;
}

/* Tells how a thread of BAD differs, after `i` records that are as in GOOD. All
 * good runs have the same first `most` records, and `alike` of them have all
 * records of the first good run. */
static void threads_compare(struct exact *x, size_t i, size_t most,
                            size_t alike)
{
    struct compare *c = x->c;
    bool ends = i == x->of[GOOD].count || i == x->of[BAD].count;
    double known = x->known, least = rule_rows[RULE_EXACT].effect;
    bool is_exact;
    if (c->threaded)
        least *= 4;
    is_exact = (known >= least && i * PART >= x->of[GOOD].count) ||
               (alike >= ALIKE && most == SIZE_MAX &&
                x->of[GOOD].count >= ALIKE_LEAST);
    once_find(x, i, is_exact && i <= most);
    if (ends && (!i || x->of[GOOD].count == x->of[BAD].count))
        return;
    if (!ends && !is_exact && i && departs_seldom(x, i))
        is_exact = x->known >= least;
    if (c->exact || (!ends && is_exact && i < most))
        departure_add(x, i - ends, i - ends, known / least);
}

/* The thread of a role in a run that was made after `which` others of it;
 * COMPARE_NONE. */
static size_t thread_of(const struct history *h, size_t run, size_t role,
                        size_t which)
{
    for (size_t i = 0; i < h->threads_count; i++)
        if (h->threads[i].run == run && h->threads[i].role == role &&
            h->threads[i].count && !which--)
            return i;
    return COMPARE_NONE;
}

/* Chooses the thread of a role in a run that is the same for longest: which is
 * made first may be chance. */
static size_t partner_of(struct exact *x, size_t run, size_t role)
{
    enum { TRIED = 8 };
    const struct history *h = &x->c->of[x->with];
    size_t best = thread_of(h, run, role, 0), most = 0;
    sequence_make(x, GOOD);
    for (size_t which = 0; which < TRIED; which++) {
        size_t i = 0;
        if ((x->thread[BAD] = thread_of(h, run, role, which)) == COMPARE_NONE)
            break;
        sequence_make(x, BAD);
        while (i < x->of[GOOD].count && i < x->of[BAD].count &&
               is_equal(x, i, i, false))
            i++;
        if (i > most) {
            most = i;
            best = x->thread[BAD];
        }
    }
    return best;
}

/* Compares a thread of the first good run with the same threads of the other
 * good runs, so that arguments that differ there are of chance; then with the
 * thread of BAD. */
static void thread_find(struct exact *x, size_t role)
{
    size_t runs = x->c->of[GOOD].runs_count, most = SIZE_MAX, alike = 0;
    x->same = need(calloc(x->c->formats_count + 1, sizeof *x->same));
    for (size_t run = 1; run <= runs; run++) {
        size_t same;
        x->with = run == runs ? BAD : GOOD;
        x->thread[BAD] = partner_of(x, x->with ? 0 : run, role);
        if (x->thread[BAD] == COMPARE_NONE)
            continue;
        same = same_count(x);
        if (x->with == BAD)
            threads_compare(x, same, most, alike);
        else if (same == x->of[GOOD].count && same == x->of[BAD].count)
            alike++;
        else if (same < most)
            most = same;
    }
    free(x->same);
}

void exact_find(struct compare *c)
{
    struct exact x = {.c = c};
    for (size_t i = 0; i < c->recorder_ids.count; i++) {
        const struct compare_recorder *r = &c->recorders[i];
        if (!r->scheduler && (r->cut[GOOD] || r->cut[BAD]))
            return;
    }
    for (size_t role = 0; role < c->roles_count; role++)
        for (size_t which = 0;; which++) {
            x.thread[GOOD] = thread_of(&c->of[GOOD], 0, role, which);
            if (x.thread[GOOD] == COMPARE_NONE)
                break;
            thread_find(&x, role);
        }
    ids_free(&x.ids);
    free(x.last);
    free(x.of[GOOD].events);
    free(x.of[BAD].events);
}
