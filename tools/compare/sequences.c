/* sequences.c - where the sequence of a thread's formats departs. */
/* SPDX-License-Identifier: MIT */
/*
   What GOOD did after each format, and after each two and three, is what may
   come next: the n-grams of Forrest, Hofmeyr and Somayaji, "A sense of self for
   Unix processes", 1996. A sequence departs where BAD does something that GOOD
   never did after the same. An alignment of the two sequences would need one
   where loops turn another number of times and branch by chance; n-grams are
   the same then, in linear time and bounded memory.

   Threads of a source share their n-grams: which thread of a pool gets which
   work is chance.
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
    OFTEN = 32           /* for shares */
};

struct context { /* the formats before, the last one first */
    size_t kind;
    uint32_t format[ORDERS];
    double count[SIDES];
    size_t
        kinds[3];  /* formats that followed once, twice, three times in GOOD */
    size_t unseen; /* formats that followed in BAD only */
    size_t usual;  /* the transition that is the most frequent in GOOD */
};
struct transition {
    size_t context, parent; /* the same, of one format less before */
    uint32_t next;
    double count[SIDES];
    size_t first[SIDES]; /* event */
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
                                .first = {COMPARE_NONE, COMPARE_NONE}};
    t->full = t->transition_ids.count > KINDS_MAX;
    return &t->transitions[i];
}

/* Collects the formats before an event in its chain, as far as an order looks.
 * False: there are fewer. */
static bool context_at(const struct history *h, const struct compare_event *e,
                       int order, uint32_t f[ORDERS])
{
    uint32_t at = e->before;
    for (int k = 0; k < ORDERS; k++) {
        f[k] = UINT32_MAX;
        if (k >= order)
            continue;
        if (at == CHAIN_END)
            return false;
        f[k] = h->events[at].format;
        at = h->events[at].before;
    }
    return true;
}

static void count(struct compare *c, enum compare_side side, size_t event,
                  struct table tables[ORDERS])
{
    const struct history *h = &c->of[side];
    const struct compare_event *e = &h->events[event];
    size_t parent = COMPARE_NONE;
    uint32_t f[ORDERS];
    for (int order = 1; order <= ORDERS; order++) {
        struct table *table = &tables[order - 1];
        struct transition *t;
        if (table->full || !context_at(h, e, order, f))
            break;
        t = transition_of(table, e->chain, f, e->format);
        t->parent = parent;
        parent = (size_t)(t - table->transitions);
        t->count[side]++;
        table->contexts[t->context].count[side]++;
        if (t->first[side] == COMPARE_NONE)
            t->first[side] = event;
    }
}

/* Sums, for each context, the counts of the formats after it in GOOD. */
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
        size_t usual;
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
        f = finding_of(RULE_ORDER, pow(t->count[BAD], 2), t->next);
        f.score -= order;
        f.other = x->format[0];
        f.bad = t->count[BAD];
        f.event[BAD] = t->first[BAD];
        f.event[GOOD] = table->transitions[x->usual].first[GOOD];
        f.weak = q > 1e-3; /* threads race */
        usual = table->transitions[x->usual].next;
        finding_add(c, f, after(c, x), finding_site(c, t->next), t->count[BAD],
                    x->count[BAD], x->count[GOOD], finding_format(c, usual));
    }
}

/* ---------------------------------------------------------------- shares -- */

/* Does a format follow an event? */
static bool follows(const struct compare_event *e, const struct history *h,
                    const void *format)
{
    (void)h;
    return e->next == *(const uint32_t *)format;
}

static bool may_have_another_share(const struct compare *c,
                                   const struct transition *t,
                                   const struct context *x)
{
    double ratio = compare_odds(t->count[BAD], x->count[BAD]) /
                   compare_odds(t->count[GOOD], x->count[GOOD]);
    double by = t->count[BAD] / x->count[BAD] - t->count[GOOD] / x->count[GOOD];
    return x->count[GOOD] >= OFTEN && x->count[BAD] >= OFTEN &&
           t->count[GOOD] > 0 && (ratio >= 2 || ratio <= 0.5) &&
           fabs(by) >= rule_rows[RULE_SHARE].effect &&
           c->formats[t->next].watched[GOOD] &&
           c->formats[t->next].watched[BAD];
}

static void share_find(struct compare *c, const struct transition *t,
                       const struct context *x)
{
    struct level level[SIDES];
    bool more = t->count[BAD] / x->count[BAD] > t->count[GOOD] / x->count[GOOD];
    double size;
    struct finding f;
    if (!level_where(c, GOOD, x->format[0], follows, &t->next, &level[GOOD]) ||
        !level_where(c, BAD, x->format[0], follows, &t->next, &level[BAD]))
        return;
    size = rule_size(RULE_SHARE, &level[GOOD], &level[BAD], 1);
    if (size < 1)
        return;
    f = finding_of(RULE_SHARE, size, t->next);
    f.score += more ? 4 : 0;
    f.other = x->format[0];
    f.good = t->count[GOOD] / x->count[GOOD];
    f.bad = t->count[BAD] / x->count[BAD];
    f.event[GOOD] = t->first[GOOD];
    f.event[BAD] = t->first[BAD];
    if (f.event[BAD] == COMPARE_NONE)
        f.event[BAD] = c->formats[x->format[0]].first[BAD];
    finding_add(c, f, finding_site(c, x->format[0]), finding_site(c, t->next),
                more ? "more often" : "less often", finding_share(f.bad, 1),
                x->count[BAD], finding_share(f.good, 1), x->count[GOOD]);
}

static void shares_find(struct compare *c, const struct table *table)
{
    for (size_t i = 0; i < table->transition_ids.count; i++) {
        const struct transition *t = &table->transitions[i];
        const struct context *x = &table->contexts[t->context];
        if (x->kind == CHAIN_ALL && may_have_another_share(c, t, x))
            share_find(c, t, x);
    }
}

/* ------------------------------------------------------------------- all -- */

void sequences_find(struct compare *c)
{
    struct table tables[ORDERS] = {{.full = false}};
    double *shares = shares_of(c);
    for (enum compare_side side = GOOD; side < SIDES; side++)
        for (size_t i = 0; i < c->of[side].count; i++)
            if (c->of[side].events[i].chain)
                count(c, side, i, tables);
    for (int order = 1; order <= ORDERS; order++)
        contexts_sum(&tables[order - 1]);
    for (int order = 1; order <= ORDERS && !tables[order - 1].full; order++)
        unseen_find(c, tables, order, shares);
    if (!tables[0].full)
        shares_find(c, &tables[0]);
    for (int order = 0; order < ORDERS; order++) {
        ids_free(&tables[order].context_ids);
        ids_free(&tables[order].transition_ids);
        free(tables[order].contexts);
        free(tables[order].transitions);
    }
    free(shares);
}
