/* sequences.c - where the sequence of a thread's formats departs. */
/* SPDX-License-Identifier: MIT */
/*
   The formats that followed each format in GOOD, and each two and three of them,
   may come next: the n-grams of Forrest, Hofmeyr and Somayaji, "A sense of self for
   Unix processes", 1996. A sequence departs where BAD does something that GOOD
   never did after the same. An alignment of the two sequences would need one
   where loops turn another number of times and branch by chance; n-grams are
   the same then, in linear time and bounded memory.

   Threads of a source share their n-grams: which thread of a pool gets which
   work is chance. Records of one thread that have the same name (a session, a
   descriptor, an address) are a sequence, too: sessions may be interleaved. And
   what comes after a record may depend on its value: a text or a small number.
*/
#include "compare.h"

#include <math.h>

enum {
    ORDERS = 3,
    STATES = 16,         /* an argument with more values names things */
    KINDS_MAX = 1 << 20, /* of an order; one with more tells nothing */
    LEAST = 5,           /* times that GOOD must have been there */
    OFTEN = 32           /* for shares */
};

/* A context has formats of a chain, or of the records with one name; or it has a
 * format and the value of its argument `kind - KIND_VALUE`. */
enum { KIND_NAME = CHAIN_ALL + 1, KIND_VALUE, VALUES_MAX = 64 };

struct context { /* the formats before, the last one first; or its value */
    size_t kind;
    uint32_t format[ORDERS];
    double count[SIDES];
    bool rare;    /* a format followed up to three times in GOOD */
    size_t usual; /* the transition that is the most frequent in GOOD */
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

/* Counts an event after a context; `parent` is its transition after one format
 * less. Returns its transition. */
static size_t transition_count(struct table *t, enum compare_side side,
                               const struct compare *c, size_t event,
                               size_t kind, const uint32_t f[ORDERS],
                               size_t parent)
{
    uint32_t next = c->of[side].events[event].format;
    bool is_new;
    struct context *context =
        array_at_key(t->contexts, &t->context_ids, t->contexts_max, kind,
                     (uint64_t)f[0] << 32 | f[1], f[2], &is_new);
    size_t i = (size_t)(context - t->contexts);
    struct transition *to =
        array_at_key(t->transitions, &t->transition_ids, t->transitions_max, i,
                     next, 0, &is_new);
    context->kind = kind;
    context->count[side]++;
    memcpy(context->format, f, ORDERS * sizeof *f);
    if (is_new)
        *to = (struct transition){
            .context = i, .next = next, .first = {COMPARE_NONE, COMPARE_NONE}};
    if (to->count[side]++ == 0)
        to->first[side] = event;
    to->parent = parent;
    t->full = t->transition_ids.count > KINDS_MAX;
    return (size_t)(to - t->transitions);
}

/* Counts an event after each value of the record before. */
static void values_count(struct compare *c, enum compare_side side,
                         size_t event, struct table *table, size_t parent)
{
    const struct history *h = &c->of[side];
    const struct compare_event *e = &h->events[event];
    const struct compare_event *before = &h->events[e->before];
    for (unsigned k = 0; k < before->count && !table->full; k++) {
        const struct compare_value *v = history_value(h, e->before, k);
        uint32_t f[ORDERS] = {before->format, (uint32_t)v->word, v->kind};
        if (v->kind != READER_REAL && v->word < VALUES_MAX &&
            value_naming(c, side, e->before, k) == NAMING_NONE)
            transition_count(table, side, c, event, KIND_VALUE + k, f, parent);
    }
}

static void count(struct compare *c, enum compare_side side, size_t event,
                  struct table tables[ORDERS])
{
    const struct compare_event *events = c->of[side].events,
                               *e = &events[event];
    for (int named = 0; named < 2; named++) {
        size_t parent = COMPARE_NONE, kind = named ? KIND_NAME : e->chain;
        uint32_t f[ORDERS], at = (uint32_t)event;
        memset(f, 0xff, sizeof f); /* no format */
        for (int order = 0; order < ORDERS; order++) {
            at = named ? events[at].named : events[at].before;
            if (tables[order].full || at == CHAIN_END)
                break;
            f[order] = events[at].format;
            parent = transition_count(&tables[order], side, c, event, kind, f,
                                      parent);
            if (order == 0 && kind == CHAIN_ALL)
                values_count(c, side, event, &tables[1], parent);
        }
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
        context->rare |= t->count[GOOD] >= 1 && t->count[GOOD] <= 3;
        if (t->count[GOOD] > 0 &&
            (context->usual == COMPARE_NONE ||
             t->count[GOOD] > table->transitions[context->usual].count[GOOD]))
            context->usual = i;
    }
}

static const char *after(const struct compare *c, const struct context *x)
{
    const char *text = "";
    if (x->kind >= KIND_VALUE) {
        struct compare_value v = {.word = x->format[1],
                                  .kind = (unsigned char)x->format[2]};
        const char *name = c->formats[x->format[0]].names[x->kind - KIND_VALUE];
        return finding_text("%s with %s %s", finding_site(c, x->format[0]),
                            name ? finding_name(name) : "the value",
                            finding_value(c, &v));
    }
    for (int k = ORDERS; k-- > 0;)
        if (x->format[k] != UINT32_MAX)
            text = finding_text("%s%s%s", text, *text ? ", " : "",
                                k ? finding_format(c, x->format[k])
                                  : finding_site(c, x->format[k]));
    return x->kind == KIND_NAME ? finding_text("%s, of the same name,", text)
                                : text;
}

/* True if GOOD would have shown a transition, were it possible there: judged by
 * how often it follows the context without its first event. */
static bool is_forbidden(const struct compare *c,
                         const struct table tables[ORDERS], int order,
                         const struct transition *t)
{
    const struct table *table = &tables[order - 1], *low = table - 1;
    double n = table->contexts[t->context].count[GOOD];
    const struct transition *parent;
    size_t of_run = c->of[GOOD].of_run;
    if (order == 1)
        return n * (double)c->formats[t->next].watched[GOOD] >=
               (double)(c->formats[t->next].scheduler
                            ? of_run
                            : c->of[GOOD].count - of_run);
    if (t->parent == COMPARE_NONE)
        return false;
    parent = &low->transitions[t->parent];
    return parent->count[GOOD] > 0 &&
           n * parent->count[GOOD] /
                   low->contexts[parent->context].count[GOOD] >=
               9;
}

/* Is a context a value of an argument that names things, such as slots, or does
 * the same come after three other values in GOOD? One more is chance. */
static bool is_thing(const struct table *table, const struct context *x,
                     uint32_t next)
{
    size_t values = 0, same = 0;
    if (x->kind < KIND_VALUE)
        return false;
    for (uint64_t value = 0; value < VALUES_MAX; value++) {
        size_t other =
            ids_find(&table->context_ids, x->kind,
                     (uint64_t)x->format[0] << 32 | value, x->format[2]);
        size_t to = other == IDS_NONE
                        ? IDS_NONE
                        : ids_find(&table->transition_ids, other, next, 0);
        values += other != IDS_NONE;
        same += to != IDS_NONE && table->transitions[to].count[GOOD] > 0;
    }
    return values > STATES || same >= 3;
}

/* Is an event the last of BAD, which ends otherwise than GOOD does? Then it may
 * be seldom: it is the only one of its kind. */
static bool is_end(const struct compare *c, size_t event)
{
    const struct history *good = &c->of[GOOD], *bad = &c->of[BAD];
    return event + 1 == bad->count &&
           bad->events[event].format != good->events[good->count - 1].format;
}

static void unseen_find(struct compare *c, const struct table tables[ORDERS],
                        int order)
{
    const struct table *table = &tables[order - 1];
    for (size_t i = 0; i < table->transition_ids.count; i++) {
        struct transition *t = &table->transitions[i];
        const struct context *x = &table->contexts[t->context];
        const struct transition *usual;
        struct finding f;
        double q, limit = 1e-3;
        if (t->count[GOOD] > 0 || x->count[GOOD] < LEAST ||
            !c->formats[t->next].watched[GOOD] ||
            !is_forbidden(c, tables, order, t))
            continue;
        q = statistics_none(t->count[BAD], x->count[BAD], x->count[GOOD]);
        if (((x->rare || x->count[GOOD] < 20) && q > 1e-4) ||
            is_thing(table, x, t->next))
            continue;
        f = finding_of(c, RULE_ORDER, pow(t->count[BAD], 2), t->next, 0,
                       t->count[BAD]);
        f.score -= order;
        f.other = x->format[0];
        f.event[BAD] = t->first[BAD];
        usual = &table->transitions[x->usual];
        f.event[GOOD] = usual->first[GOOD];
        /* Threads race, unless the same came each of many times. */
        if (usual->count[GOOD] == x->count[GOOD] && x->count[GOOD] >= OFTEN)
            limit = c->threaded ? 0.02 : 0.07;
        if (is_end(c, t->first[BAD]))
            limit = 1;
        f.weak = q > limit ||
                 (c->threaded && naming_is_wait(&c->formats[usual->next]));
        finding_add(c, f, after(c, x), finding_site(c, t->next), t->count[BAD],
                    x->count[BAD], x->count[GOOD],
                    finding_format(c, usual->next));
    }
}

/* Finds out whether a format has another share of the records after another
 * one. */
static void share_find(struct compare *c, size_t after, uint32_t next,
                       const double good[2], const double bad[2], size_t usual)
{
    struct level level[SIDES];
    struct finding f;
    bool more = bad[0] / bad[1] > good[0] / good[1];
    double ratio =
        compare_odds(bad[0], bad[1]) / compare_odds(good[0], good[1]);
    double size;
    if (good[0] < 1 || good[1] < OFTEN || bad[1] < OFTEN ||
        (ratio < 1.25 && ratio > 0.8) || !c->formats[next].watched[GOOD] ||
        !c->formats[next].watched[BAD] ||
        fabs(bad[0] / bad[1] - good[0] / good[1]) <
            rule_rows[RULE_SHARE].effect)
        return;
    size = rule_size_where(c, RULE_SHARE, after, -1, next, level);
    if (size < (ratio < 2 && ratio > 0.5 ? 3 : 1))
        return;
    f = finding_of(c, RULE_SHARE, size, next, good[0] / good[1],
                   bad[0] / bad[1]);
    f.score += more ? 4 : 0;
    f.other = after;
    f.weak = times_waits(c, after, next) || times_waits(c, after, usual) ||
             times_waits(c, next, COMPARE_NONE) ||
             times_waits(c, usual, COMPARE_NONE); /* others choose */
    finding_add(c, f, finding_site(c, after), finding_site(c, next),
                more ? "more often" : "less often", finding_share(f.bad, 1),
                bad[1], finding_share(f.good, 1), good[1]);
}

static void shares_find(struct compare *c, const struct table *table)
{
    for (size_t i = 0; i < table->transition_ids.count; i++) {
        const struct transition *t = &table->transitions[i];
        const struct context *x = &table->contexts[t->context];
        if (x->kind == CHAIN_ALL && x->usual != i && t->count[GOOD] >= 1)
            share_find(c, x->format[0], t->next,
                       (double[]){t->count[GOOD], x->count[GOOD]},
                       (double[]){t->count[BAD], x->count[BAD]},
                       table->transitions[x->usual].next);
    }
}

void sequences_find(struct compare *c)
{
    struct table tables[ORDERS] = {{.full = false}};
    for (enum compare_side side = GOOD; side < SIDES; side++)
        for (size_t i = 0; i < c->of[side].count; i++)
            if (c->of[side].events[i].chain)
                count(c, side, i, tables);
    for (int order = 1; order <= ORDERS; order++)
        contexts_sum(&tables[order - 1]);
    for (int order = 1; order <= ORDERS && !tables[order - 1].full; order++)
        unseen_find(c, tables, order);
    if (!tables[0].full)
        shares_find(c, &tables[0]);
    for (int order = 0; order < ORDERS; order++) {
        ids_free(&tables[order].context_ids);
        ids_free(&tables[order].transition_ids);
        free(tables[order].contexts);
        free(tables[order].transitions);
    }
}
