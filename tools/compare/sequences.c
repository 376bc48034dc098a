/* sequences.c - where the sequence of a thread's formats departs. */
/* SPDX-License-Identifier: MIT */
/*
   GOOD's records after each format, and after each two and three, are the
   expected ones: the n-grams of Forrest, Hofmeyr and Somayaji, "A sense of self
   for Unix processes", 1996. A sequence departs where BAD does something that
   GOOD never did after the same. An alignment of the two sequences would depend
   on loop counts and on random branches; n-grams do not, in linear time and
   bounded memory.

   Threads of a source share their n-grams: the distribution of work over a pool
   is chance.
*/
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "buffer.h"

enum {
    ORDERS = 3,
    KINDS_MAX = 1 << 20, /* of an order; one with more tells nothing */
    LEAST = 5,           /* times that GOOD must have been there */
    OFTEN = 20,          /* for tests of shares */
    BLOCKS = 16
};

struct context { /* the formats before, the last one first */
    size_t kind;
    uint32_t format[ORDERS];
    double count[SIDES];
    size_t kinds[3]; /* successors after one, two, three records in GOOD */
    size_t unseen;   /* successors in BAD only */
    size_t usual;    /* the transition that is the most frequent in GOOD */
};
struct transition {
    size_t context, parent; /* the same, of one format less before */
    uint32_t next;
    double count[SIDES];
    size_t first[SIDES], place; /* event, and of BAD its place */
    double p, (*blocks)[SIDES][BLOCKS];
    bool departs; /* it was found */
};
struct table {
    struct ids context_ids, transition_ids;
    struct context *contexts;
    struct transition *transitions;
    size_t contexts_max, transitions_max;
    bool full;
};

/* ----------------------------------------------------------------- count -- */

static struct transition *transition_of(struct table *t, size_t kind,
                                        const uint32_t f[ORDERS], uint32_t next)
{
    bool is_new;
    size_t context = ids_of(&t->context_ids, kind, (uint64_t)f[0] << 32 | f[1],
                            f[2], &is_new);
    size_t i;
    t->contexts = need(array_room(t->contexts, &t->contexts_max,
                                  t->context_ids.count, sizeof *t->contexts));
    if (is_new) {
        t->contexts[context] = (struct context){.kind = kind};
        memcpy(t->contexts[context].format, f, ORDERS * sizeof *f);
    }
    i = ids_of(&t->transition_ids, context, next, 0, &is_new);
    t->transitions =
        need(array_room(t->transitions, &t->transitions_max,
                        t->transition_ids.count, sizeof *t->transitions));
    if (is_new)
        t->transitions[i] =
            (struct transition){.context = context,
                                .parent = COMPARE_NONE,
                                .next = next,
                                .first = {COMPARE_NONE, COMPARE_NONE},
                                .p = 1};
    t->full = t->transition_ids.count > KINDS_MAX;
    return &t->transitions[i];
}

/* The formats before place `i` of a stream, as far as an order looks. */
static void context_at(const struct history *h, const struct stream *s,
                       size_t i, int order, uint32_t f[ORDERS])
{
    for (int k = 0; k < ORDERS; k++)
        f[k] = k < order ? h->events[s->events[i - 1 - (size_t)k]].format
                         : UINT32_MAX;
}

static void count(struct compare *c, enum compare_side side,
                  const struct stream *s, struct table tables[ORDERS])
{
    const struct history *h = &c->of[side];
    uint32_t f[ORDERS];
    for (size_t i = 1; i < s->count; i++) {
        size_t parent = COMPARE_NONE;
        for (int order = 1; order <= ORDERS && (size_t)order <= i; order++) {
            struct table *table = &tables[order - 1];
            struct transition *t;
            if (table->full)
                break;
            context_at(h, s, i, order, f);
            t = transition_of(table, s->kind, f,
                              h->events[s->events[i]].format);
            t->parent = parent;
            parent = (size_t)(t - table->transitions);
            t->count[side]++;
            table->contexts[t->context].count[side]++;
            if (t->first[side] != COMPARE_NONE)
                continue;
            t->first[side] = s->events[i];
            if (side == BAD)
                t->place = i;
        }
    }
}

/* Sums the successors of each context in GOOD, with their counts. */
static void contexts_sum(struct table *table)
{
    size_t i;
    for (i = 0; i < table->context_ids.count; i++)
        table->contexts[i].usual = COMPARE_NONE;
    for (i = 0; i < table->transition_ids.count; i++) {
        const struct transition *t = &table->transitions[i];
        struct context *context = &table->contexts[t->context];
        if (t->count[GOOD] >= 1 && t->count[GOOD] <= 3)
            context->kinds[(int)t->count[GOOD] - 1]++;
        if (t->count[GOOD] == 0)
            context->unseen++;
        if (t->count[GOOD] > 0 &&
            (context->usual == COMPARE_NONE ||
             t->count[GOOD] > table->transitions[context->usual].count[GOOD]))
            context->usual = i;
    }
}

/* ------------------------------------------------------------------ what -- */

static const char *after(const struct compare *c, const struct context *x)
{
    static char text[1024];
    size_t at = 0;
    for (int k = ORDERS; k-- > 0;)
        if (x->format[k] != UINT32_MAX)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s",
                                   at ? ", " : "",
                                   k ? finding_format(c, x->format[k])
                                     : finding_site(c, x->format[k]));
    return text;
}

/* Returns, for each format, its share of all records of the threads that have
 * it in GOOD. */
static double *shares_of(const struct compare *c)
{
    const struct history *h = &c->of[GOOD];
    double *reach = need(calloc(c->formats_count + 1, sizeof *reach));
    struct ids pairs = {0};
    bool is_new;
    size_t i;
    for (i = 0; i < h->count; i++) {
        ids_of(&pairs, h->events[i].format, h->events[i].thread, 0, &is_new);
        if (is_new)
            reach[h->events[i].format] +=
                (double)h->threads[h->events[i].thread].count;
    }
    for (i = 0; i < c->formats_count; i++)
        reach[i] =
            reach[i] > 0 ? (double)c->formats[i].kept[GOOD] / reach[i] : 0;
    ids_free(&pairs);
    return reach;
}

/* True if GOOD would have shown a transition, were it possible there: judged by
 * how often it follows the context without its first event. */
static bool is_forbidden(const struct table tables[ORDERS], int order,
                         const struct transition *t, const double *shares)
{
    const struct table *table = &tables[order - 1], *low = table - 1;
    double n = table->contexts[t->context].count[GOOD];
    const struct transition *parent;
    if (order == 1)
        return n * shares[t->next] >= 3;
    if (t->parent == COMPARE_NONE)
        return false;
    parent = &low->transitions[t->parent];
    return parent->count[GOOD] > 0 &&
           n * parent->count[GOOD] /
                   low->contexts[parent->context].count[GOOD] >=
               9;
}

/* Finds transitions that came in BAD, and never in GOOD. */
static void unseen_find(struct compare *c, const struct table tables[ORDERS],
                        int order, const double *shares)
{
    const struct table *table = &tables[order - 1];
    for (size_t i = 0; i < table->transition_ids.count; i++) {
        struct transition *t = &table->transitions[i];
        const struct context *x = &table->contexts[t->context];
        struct finding f;
        size_t before = c->before[t->next], usual;
        double p, q;
        if (t->count[GOOD] > 0 || x->count[GOOD] < LEAST ||
            !c->formats[t->next].watched[GOOD] ||
            !is_forbidden(tables, order, t, shares))
            continue;
        p = statistics_poisson(
            (double)x->unseen,
            statistics_unseen(x->kinds, x->count[GOOD], x->count[BAD]));
        q = statistics_none(t->count[BAD], x->count[BAD], x->count[GOOD]);
        if (p > 0.03 && q > 1e-4)
            continue;
        t->departs = true;
        f = finding_of(FINDING_ORDER,
                       32 + 2 * finding_score(q < p ? q : p, 12) - order,
                       t->next);
        f.p = q < p ? q : p;
        f.other = x->format[0];
        f.good = 0;
        f.bad = t->count[BAD];
        f.event[BAD] = t->first[BAD];
        f.event[GOOD] = table->transitions[x->usual].first[GOOD];
        f.place = t->place;
        f.weak = q > 1e-3; /* threads race */
        usual = table->transitions[x->usual].next;
        finding_add(c, f,
                    "after %s comes %s: %.0f of %.0f times in BAD, never in "
                    "%.0f of GOOD, where mostly %s comes (and %s after %s)",
                    after(c, x), finding_site(c, t->next), t->count[BAD],
                    x->count[BAD], x->count[GOOD], finding_format(c, usual),
                    finding_format(c, t->next),
                    before == COMPARE_NONE ? "nothing"
                    : before == usual      ? "that"
                                           : finding_format(c, before));
    }
}

/* ---------------------------------------------------------------- shares -- */

/* How often each candidate came, in BLOCKS parts of its context's time. */
static void blocks_fill(struct compare *c, struct table *table,
                        enum compare_side side)
{
    double *seen = need(calloc(table->context_ids.count + 1, sizeof *seen));
    const struct history *h = &c->of[side];
    uint32_t f[ORDERS];
    for (size_t k = 0; k < c->streams[side].count; k++) {
        const struct stream *s = &c->streams[side].all[k];
        for (size_t i = 1; i < s->count; i++) {
            struct transition *t;
            struct context *x;
            context_at(h, s, i, 1, f);
            t = transition_of(table, s->kind, f,
                              h->events[s->events[i]].format);
            x = &table->contexts[t->context];
            if (t->blocks)
                t->blocks[0][side]
                         [(int)(seen[t->context] * BLOCKS / x->count[side])]++;
            seen[t->context]++;
        }
    }
    free(seen);
}

/* Variance over mean of a share over the blocks, 1 if it is chance alone. */
static double dispersion(const struct transition *t, const struct context *x)
{
    double most = 1;
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        double each = x->count[side] / BLOCKS, sum = 0;
        double share = t->count[side] / x->count[side];
        for (int i = 0; i < BLOCKS && share > 0 && share < 1; i++)
            sum += pow(t->blocks[0][side][i] - each * share, 2) /
                   (each * share * (1 - share));
        sum /= BLOCKS - 1;
        most = sum > most ? sum : most;
    }
    return most;
}

static double odds(double part, double whole)
{
    return (part + 0.5) / (whole - part + 0.5);
}

static bool may_have_another_share(const struct transition *t,
                                   const struct context *x)
{
    double ratio = odds(t->count[BAD], x->count[BAD]) /
                   odds(t->count[GOOD], x->count[GOOD]);
    double by = t->count[BAD] / x->count[BAD] - t->count[GOOD] / x->count[GOOD];
    return x->count[GOOD] >= OFTEN && x->count[BAD] >= OFTEN &&
           t->count[GOOD] > 0 && (ratio >= 2 || ratio <= 0.5) &&
           fabs(by) >= 0.01 &&
           statistics_shares(t->count[GOOD], x->count[GOOD], t->count[BAD],
                             x->count[BAD], 1) < 1e-4;
}

static void share_add(struct compare *c, const struct table *table,
                      const struct transition *t)
{
    const struct context *x = &table->contexts[t->context];
    struct finding f = finding_of(FINDING_SHARE, 0, t->next);
    bool more = t->count[BAD] / x->count[BAD] > t->count[GOOD] / x->count[GOOD];
    f.score = 22 + finding_score(t->p, 20) + (more ? 8 : 0);
    f.p = t->p;
    f.other = x->format[0];
    f.good = t->count[GOOD] / x->count[GOOD];
    f.bad = t->count[BAD] / x->count[BAD];
    f.event[GOOD] = t->first[GOOD];
    f.event[BAD] = t->first[BAD];
    if (f.event[BAD] == COMPARE_NONE)
        f.event[BAD] = c->formats[x->format[0]].first[BAD];
    finding_add(c, f,
                "after %s comes %s %s: %s of %.0f in BAD, %s of %.0f in GOOD "
                "(%s)",
                finding_site(c, x->format[0]), finding_site(c, t->next),
                more ? "more often" : "less often",
                finding_share(t->count[BAD], x->count[BAD]), x->count[BAD],
                finding_share(t->count[GOOD], x->count[GOOD]), x->count[GOOD],
                finding_p(t->p));
}

static void shares_find(struct compare *c, struct table *table)
{
    size_t count = table->transition_ids.count, i, tests = 0;
    double **p = need(malloc((count + 1) * sizeof *p));
    for (i = 0; i < count; i++) {
        struct transition *t = &table->transitions[i];
        const struct context *x = &table->contexts[t->context];
        if (x->count[GOOD] < OFTEN || x->count[BAD] < OFTEN ||
            !c->formats[t->next].watched[GOOD])
            continue;
        p[tests++] = &t->p;
        if (may_have_another_share(t, x))
            t->blocks = need(calloc(1, sizeof *t->blocks));
    }
    blocks_fill(c, table, GOOD);
    blocks_fill(c, table, BAD);
    for (i = 0; i < count; i++) {
        struct transition *t = &table->transitions[i];
        const struct context *x = &table->contexts[t->context];
        if (t->blocks)
            t->p =
                statistics_shares(t->count[GOOD], x->count[GOOD], t->count[BAD],
                                  x->count[BAD], dispersion(t, x));
    }
    statistics_holm(p, tests);
    for (i = 0; i < count; i++) {
        struct transition *t = &table->transitions[i];
        if (t->blocks && t->p < 1e-3 && c->formats[t->next].watched[BAD])
            share_add(c, table, t);
        free(t->blocks);
    }
    free(p);
}

/* ------------------------------------------------------------ departures -- */

/* Notes for each thread of BAD the first record that departs: its format is
 * new, or it was found above. */
static void departures_keep(struct compare *c, struct table tables[ORDERS])
{
    struct history *h = &c->of[BAD];
    uint32_t f[ORDERS];
    for (size_t k = 0; k < c->streams[BAD].count; k++) {
        const struct stream *s = &c->streams[BAD].all[k];
        size_t *departs = &h->threads[s->thread].departs;
        for (size_t i = 0; i < s->count && s->events[i] < *departs; i++) {
            uint32_t next = h->events[s->events[i]].format;
            bool is = !c->formats[next].kept[GOOD];
            for (int o = 1; o <= ORDERS && (size_t)o <= i && !is; o++) {
                if (tables[o - 1].full)
                    break;
                context_at(h, s, i, o, f);
                is = transition_of(&tables[o - 1], s->kind, f, next)->departs;
            }
            if (is)
                *departs = s->events[i];
        }
    }
}

/* ------------------------------------------------------------------- all -- */

/* The format that comes before each most often in GOOD, but itself. */
static void before_keep(struct compare *c, const struct table *table)
{
    double *most = need(calloc(c->formats_count + 1, sizeof *most));
    c->before = need(malloc((c->formats_count + 1) * sizeof *c->before));
    for (size_t i = 0; i < c->formats_count; i++)
        c->before[i] = COMPARE_NONE;
    for (size_t i = 0; i < table->transition_ids.count; i++) {
        const struct transition *t = &table->transitions[i];
        size_t from = table->contexts[t->context].format[0];
        if (from == t->next || t->count[GOOD] <= most[t->next])
            continue;
        most[t->next] = t->count[GOOD];
        c->before[t->next] = from;
    }
    free(most);
}

void sequences_find(struct compare *c)
{
    struct table tables[ORDERS] = {{.full = false}};
    double *shares = shares_of(c);
    for (enum compare_side side = GOOD; side < SIDES; side++)
        for (size_t i = 0; i < c->streams[side].count; i++)
            count(c, side, &c->streams[side].all[i], tables);
    before_keep(c, &tables[0]);
    for (int order = 1; order <= ORDERS; order++)
        contexts_sum(&tables[order - 1]);
    for (int order = 1; order <= ORDERS && !tables[order - 1].full; order++)
        unseen_find(c, tables, order, shares);
    if (!tables[0].full)
        shares_find(c, &tables[0]);
    departures_keep(c, tables);
    for (int order = 0; order < ORDERS; order++) {
        ids_free(&tables[order].context_ids);
        ids_free(&tables[order].transition_ids);
        free(tables[order].contexts);
        free(tables[order].transitions);
    }
    free(shares);
}
