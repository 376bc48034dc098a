/* times.c - how long spans and steps take, how often loops turn. */
/* SPDX-License-Identifier: MIT */
/*
   A step is from a record to the next of its thread. If all steps, or all of
   about the same length, take the same factor longer, the machine is slower, or
   busier: that factor is removed. A loop count is the number of occurrences of
   a format between two of its anchor format.
*/
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "buffer.h"

enum { LEAST = 12 };

/* A span or step: its times in both sources. */
struct timed {
    size_t from, to; /* formats; of a span, `to` is COMPARE_NONE */
    double *ns[SIDES];
    size_t count[SIDES], max[SIDES];
    double all[SIDES];     /* how many, before they were thinned */
    size_t longest[SIDES]; /* event */
    double longest_ns[SIDES];
    struct statistics_comparison by;
    bool compared;
    double p, late, late_p; /* of those beyond all of GOOD */
    double ratio, machine;  /* of medians; by how much that is the machine's */
};

struct times {
    struct compare *c;
    struct ids ids;
    struct timed *all;
    size_t max;
};

static void time_add(struct times *t, enum compare_side side, size_t from,
                     size_t to, double ns, size_t event)
{
    bool is_new;
    size_t i = ids_of(&t->ids, from, to, 0, &is_new);
    struct timed *timed;
    t->all = need(array_room(t->all, &t->max, t->ids.count, sizeof *t->all));
    timed = &t->all[i];
    if (is_new)
        *timed = (struct timed){
            .from = from, .to = to, .p = 1, .late_p = 1, .ratio = 1};
    timed->ns[side] = need(array_room(timed->ns[side], &timed->max[side],
                                      timed->count[side] + 1, sizeof(double)));
    timed->ns[side][timed->count[side]++] = ns;
    timed->all[side]++;
    if (ns >= timed->longest_ns[side]) {
        timed->longest_ns[side] = ns;
        timed->longest[side] = event;
    }
}

static void collect(struct times *t, enum compare_side side)
{
    const struct history *h = &t->c->of[side];
    size_t i, k;
    for (i = 0; i < h->spans_count; i++)
        time_add(t, side, h->events[h->spans[i].event].format, COMPARE_NONE,
                 (double)h->spans[i].ns, h->spans[i].event);
    for (k = 0; k < t->c->streams[side].count; k++) {
        const struct stream *s = &t->c->streams[side].all[k];
        for (i = 1; !s->kind && i < s->count; i++) {
            const struct compare_event *from = &h->events[s->events[i - 1]];
            const struct compare_event *to = &h->events[s->events[i]];
            time_add(t, side, from->format, to->format,
                     (double)(to->ns - from->ns), s->events[i]);
        }
    }
}

/* The number of times more than twice as long as ever in GOOD, and by `more_ns`
 * longer. */
static double late_of(const struct timed *t, double more_ns)
{
    double late = 0;
    for (size_t i = 0; i < t->count[BAD]; i++)
        late += t->ns[BAD][i] > 2 * t->longest_ns[GOOD] + more_ns;
    return late;
}

static void compare_times(struct timed *t)
{
    /* The cost of caches and interrupts for each; and now and then, of another
     * process on the processor. */
    const double cache_ns = 1e5, scheduler_ns = 2e7;
    if (t->count[GOOD] < LEAST || t->count[BAD] < LEAST)
        return;
    for (enum compare_side side = GOOD; side < SIDES; side++)
        t->count[side] = statistics_thin(t->ns[side], t->count[side]);
    t->compared = statistics_compare(
        (struct statistics_sample){t->ns[GOOD], t->count[GOOD]},
        (struct statistics_sample){t->ns[BAD], t->count[BAD]}, &t->by);
    if (t->compared) /* below 100 ns it is the clock */
        t->ratio =
            fmax(t->by.of[BAD].median, 100) / fmax(t->by.of[GOOD].median, 100);
    if (t->compared) {
        t->late = late_of(t, cache_ns);
        if (t->late < (double)t->count[BAD] / 5)
            t->late = late_of(t, scheduler_ns);
    }
}

static int by_number(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* By how long they take in GOOD. */
static int by_median(const void *left, const void *right)
{
    const struct timed *a = *(struct timed *const *)left;
    const struct timed *b = *(struct timed *const *)right;
    return by_number(&a->by.of[GOOD].median, &b->by.of[GOOD].median);
}

static double median_of(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, by_number);
    return count ? numbers[count / 2] : 1;
}

/* Sets the factor by which the machine is slower, for each: the median of all
 * others, or of the PEERS of about the same length, whichever is nearer to
 * 1. */
static void machine_set(struct times *t)
{
    enum { PEERS = 5 };
    struct timed **sorted = need(malloc((t->ids.count + 1) * sizeof *sorted));
    double *ratios = need(malloc((t->ids.count + 1) * sizeof *ratios)), all;
    double peers[PEERS];
    size_t count = 0, i, k, near, from;
    for (i = 0; i < t->ids.count; i++)
        if (t->all[i].compared) {
            ratios[count] = t->all[i].ratio;
            sorted[count++] = &t->all[i];
        }
    qsort(sorted, count, sizeof *sorted, by_median);
    all = count > 2 ? median_of(ratios, count) : 1;
    for (i = 0; i < count; i++) {
        double by_all, by_peers;
        from = i < PEERS / 2 ? 0 : i - PEERS / 2;
        for (near = 0, k = from; k < count && near < PEERS; k++)
            if (k != i)
                peers[near++] = sorted[k]->ratio;
        by_all = sorted[i]->ratio / all;
        by_peers = sorted[i]->ratio / median_of(peers, near);
        sorted[i]->machine = fabs(log(by_all)) < fabs(log(by_peers)) || near < 3
                                 ? all
                                 : sorted[i]->ratio / by_peers;
    }
    free(sorted);
    free(ratios);
}

static const char *timed_text(const struct compare *c, const struct timed *t)
{
    static char text[1024];
    if (t->to == COMPARE_NONE)
        snprintf(text, sizeof text, "span %s", finding_site(c, t->from));
    else
        snprintf(text, sizeof text, "step from %s to %s",
                 finding_site(c, t->from), finding_site(c, t->to));
    return text;
}

static void slow_add(struct compare *c, const struct timed *t)
{
    double machine = t->machine;
    struct finding f = finding_of(FINDING_SLOW, 0, t->from);
    bool slower = t->ratio > machine;
    f.other = t->to;
    f.p = t->p;
    f.score =
        (slower ? 30 : 16) + finding_score(t->p, 12) +
        finding_score(1 / fmax(t->ratio / machine, machine / t->ratio), 2) * 6;
    f.good = t->by.of[GOOD].median;
    f.bad = t->by.of[BAD].median;
    f.event[GOOD] = t->longest[GOOD];
    f.event[BAD] = t->longest[BAD];
    finding_add(c, f,
                "%s takes %s: median %s of %.0f in BAD (95%%: %s), %s of %.0f "
                "in GOOD (95%%: %s; %s)",
                timed_text(c, t), slower ? "longer" : "less time",
                finding_time(t->by.of[BAD].median), t->all[BAD],
                finding_time(t->by.of[BAD].high),
                finding_time(t->by.of[GOOD].median), t->all[GOOD],
                finding_time(t->by.of[GOOD].high), finding_p(t->p));
}

static void late_add(struct compare *c, const struct timed *t)
{
    struct finding f = finding_of(FINDING_SLOW, 0, t->from);
    f.other = t->to;
    f.p = t->late_p;
    f.score = 28 + finding_score(t->late_p, 12) +
              finding_score(t->longest_ns[GOOD] / t->longest_ns[BAD], 2) * 5;
    f.good = t->longest_ns[GOOD];
    f.bad = t->longest_ns[BAD];
    f.event[GOOD] = t->longest[GOOD];
    f.event[BAD] = t->longest[BAD];
    finding_add(c, f,
                "%s takes up to %s in BAD, %s of %.0f times more than twice "
                "the longest of %.0f in GOOD, %s (%s)",
                timed_text(c, t), finding_time(t->longest_ns[BAD]),
                finding_share(t->late, (double)t->count[BAD]), t->all[BAD],
                t->all[GOOD], finding_time(t->longest_ns[GOOD]),
                finding_p(t->late_p));
}

/* True if nearly all times of one are beyond the usual times of the other, by
 * more than a scheduler costs. A wait takes some microseconds at least, and its
 * length depends on other load; a shorter step computes. */
static bool is_apart(const struct statistics_summary *fast,
                     const struct statistics_summary *slow)
{
    double scheduler_ns = fast->median < 5e3 ? 1e4 : 1e5;
    return slow->low > 1.5 * fast->median && slow->median > 1.5 * fast->high &&
           slow->median > fast->high + scheduler_ns;
}

static void judge(struct times *t)
{
    double late = 0, all = 0;
    double **p = need(malloc((2 * t->ids.count + 1) * sizeof *p));
    size_t count = 0, i;
    machine_set(t);
    for (i = 0; i < t->ids.count; i++)
        if (t->all[i].compared) {
            late += t->all[i].late;
            all += (double)t->all[i].count[BAD];
        }
    for (i = 0; i < t->ids.count; i++) {
        struct timed *of = &t->all[i];
        double ratio, rest;
        if (!of->compared)
            continue;
        ratio = of->ratio / of->machine;
        if ((fmin(ratio, of->ratio) > 2 &&
             is_apart(&of->by.of[GOOD], &of->by.of[BAD])) ||
            (fmax(ratio, of->ratio) < 0.5 &&
             is_apart(&of->by.of[BAD], &of->by.of[GOOD])))
            of->p = of->by.p;
        /* The other steps say how often the machine itself is late. */
        rest = (late - of->late + 1) /
               (all - (double)of->count[BAD] + (double)of->count[GOOD] + 1);
        if (of->late >= 3)
            of->late_p = statistics_poisson(of->late, (double)of->count[BAD] *
                                                          fmax(rest, 0.002));
        p[count++] = &of->p;
        p[count++] = &of->late_p;
    }
    statistics_holm(p, count);
    for (i = 0; i < t->ids.count; i++) {
        if (t->all[i].p < 1e-3)
            slow_add(t->c, &t->all[i]);
        else if (t->all[i].late_p < 1e-3)
            late_add(t->c, &t->all[i]);
    }
    free(p);
}

static void steps_find(struct compare *c)
{
    struct times t = {.c = c};
    size_t i;
    collect(&t, GOOD);
    collect(&t, BAD);
    for (i = 0; i < t.ids.count; i++)
        compare_times(&t.all[i]);
    judge(&t);
    for (i = 0; i < t.ids.count; i++) {
        free(t.all[i].ns[GOOD]);
        free(t.all[i].ns[BAD]);
    }
    free(t.all);
    ids_free(&t.ids);
}

/* ----------------------------------------------------------------- loops -- */

/* A format that comes several times between two records of its anchor. */
struct loop {
    size_t anchor; /* format; COMPARE_NONE */
    double *turns[SIDES];
    size_t count[SIDES], max[SIDES];
    size_t first[SIDES];
    double p;
    struct statistics_comparison by;
};

/* The anchor of each: the rarest format that precedes it in a fiftieth of its
 * occurrences, or more. */
static void anchors_set(struct compare *c, struct loop *loops)
{
    const struct history *h = &c->of[GOOD];
    struct ids ids = {0};
    double *pairs = NULL;
    size_t max = 0, i, k;
    bool is_new;
    for (k = 0; k < c->streams[GOOD].count; k++) {
        const struct stream *s = &c->streams[GOOD].all[k];
        for (i = 1; !s->kind && i < s->count; i++) {
            size_t pair = ids_of(&ids, h->events[s->events[i - 1]].format,
                                 h->events[s->events[i]].format, 0, &is_new);
            pairs = need(array_room(pairs, &max, ids.count, sizeof *pairs));
            if (is_new)
                pairs[pair] = 0;
            pairs[pair]++;
        }
    }
    for (i = 0; i < ids.max; i++) {
        const struct id *id = &ids.at[i];
        struct loop *l;
        double of, from;
        if (!id->number)
            continue;
        l = &loops[id->key[1]];
        of = (double)c->formats[id->key[1]].watched[GOOD];
        from = (double)c->formats[id->key[0]].watched[GOOD];
        if (from < LEAST || from > 0.8 * of ||
            pairs[id->number - 1] < fmax(5, of / 50))
            continue;
        if (l->anchor == COMPARE_NONE ||
            from < (double)c->formats[l->anchor].watched[GOOD] ||
            (from == (double)c->formats[l->anchor].watched[GOOD] &&
             id->key[0] < l->anchor))
            l->anchor = id->key[0];
    }
    free(pairs);
    ids_free(&ids);
}

static void loop_turn(struct loop *l, enum compare_side side, double turns,
                      size_t event)
{
    l->turns[side] = need(array_room(l->turns[side], &l->max[side],
                                     l->count[side] + 1, sizeof(double)));
    if (!l->count[side])
        l->first[side] = event;
    l->turns[side][l->count[side]++] = turns;
}

/* Counts the turns of each loop: they end where the anchor comes again. */
static void turns_count(struct compare *c, enum compare_side side,
                        struct loop *loops)
{
    const struct history *h = &c->of[side];
    size_t formats = c->formats_count, i, k, f;
    double *anchors = need(calloc(formats + 1, sizeof *anchors));
    double *turns = need(calloc(formats + 1, sizeof *turns));
    double *at = need(calloc(formats + 1, sizeof *at));
    for (k = 0; k < c->streams[side].count; k++) {
        const struct stream *s = &c->streams[side].all[k];
        if (s->kind)
            continue;
        memset(anchors, 0, formats * sizeof *anchors);
        memset(at, 0, formats * sizeof *at);
        for (i = 0; i < s->count; i++) {
            f = h->events[s->events[i]].format;
            anchors[f]++;
            if (loops[f].anchor == COMPARE_NONE ||
                anchors[loops[f].anchor] == 0)
                continue;
            if (at[f] != anchors[loops[f].anchor]) {
                if (at[f] > 0)
                    loop_turn(&loops[f], side, turns[f], s->events[i]);
                at[f] = anchors[loops[f].anchor];
                turns[f] = 0;
            }
            turns[f]++;
        }
    }
    free(anchors);
    free(turns);
    free(at);
}

static void loop_add(struct compare *c, size_t format, const struct loop *l)
{
    struct finding f = finding_of(FINDING_COUNT, 0, format);
    double mean[SIDES] = {0};
    for (enum compare_side side = GOOD; side < SIDES; side++)
        for (size_t i = 0; i < l->count[side]; i++)
            mean[side] += l->turns[side][i] / (double)l->count[side];
    f.p = l->p;
    f.score = 24 + finding_score(l->p, 20);
    f.other = l->anchor;
    f.good = mean[GOOD];
    f.bad = mean[BAD];
    f.event[GOOD] = l->first[GOOD];
    f.event[BAD] = l->first[BAD];
    finding_add(c, f,
                "%s comes %.3g times for each %s in BAD (%s to %s), %.3g times "
                "in GOOD (%s to %s; %s)",
                finding_site(c, format), mean[BAD], finding_site(c, l->anchor),
                finding_number(l->by.of[BAD].low),
                finding_number(l->by.of[BAD].high), mean[GOOD],
                finding_number(l->by.of[GOOD].low),
                finding_number(l->by.of[GOOD].high), finding_p(l->p));
}

static void loops_find(struct compare *c)
{
    struct loop *loops = need(calloc(c->formats_count + 1, sizeof *loops));
    double **p = need(malloc((c->formats_count + 1) * sizeof *p));
    size_t count = 0, i;
    for (i = 0; i < c->formats_count; i++) {
        loops[i].anchor = COMPARE_NONE;
        loops[i].p = 1;
    }
    anchors_set(c, loops);
    turns_count(c, GOOD, loops);
    turns_count(c, BAD, loops);
    for (i = 0; i < c->formats_count; i++) {
        struct loop *l = &loops[i];
        if (l->count[GOOD] < LEAST || l->count[BAD] < LEAST)
            continue;
        for (enum compare_side side = GOOD; side < SIDES; side++)
            l->count[side] = statistics_thin(l->turns[side], l->count[side]);
        p[count++] = &l->p;
        if (statistics_compare(
                (struct statistics_sample){l->turns[GOOD], l->count[GOOD]},
                (struct statistics_sample){l->turns[BAD], l->count[BAD]},
                &l->by) &&
            fabs(l->by.superiority - 0.5) >= 0.2)
            l->p = l->by.p;
    }
    statistics_holm(p, count);
    for (i = 0; i < c->formats_count; i++) {
        if (loops[i].p < 1e-3)
            loop_add(c, i, &loops[i]);
        free(loops[i].turns[GOOD]);
        free(loops[i].turns[BAD]);
    }
    free(loops);
    free(p);
}

void times_find(struct compare *c)
{
    steps_find(c);
    loops_find(c);
}
