/* times.c - how long spans and steps take. */
/* SPDX-License-Identifier: MIT */
/*
   A step is from a record to the next of its thread. If nearly all spans and
   steps take as many times longer, everything is slower: that is one finding,
   and the others are judged against it. A processor that goes to others makes
   any step late now and then, in proportion to the time that it takes; how
   often, the other steps tell. A step whose times vary by far waits for others.
*/
#include "compare.h"

#include <math.h>

enum { LEAST = 12 };
static const double clock_ns = 100, least_ns = 1500, vary = 5, may_wait = 0.7,
                    wait_ns = 2e4, delay_ns = 7e5;
static const double lates_ns[] = {2e5, 2e6, 2e7};

/* A span or step, and its times in both sides. */
struct timed {
    struct points ns[SIDES]; /* then log(ns), as level_of() takes them */
    struct level level[SIDES];
    bool known;
    double vary[SIDES]; /* half of log(84th / 16th percentile), of least_ns on */
    double usual;       /* log(95th percentile) of GOOD */
    double cpu[SIDES], cpu_known[SIDES]; /* ns on CPUs, of these passes */
    double longest[SIDES], late[SIDES], late_ns;
    bool waits;
    size_t longest_at[SIDES];
    double size, ratio;
};

struct times {
    struct compare *c;
    struct ids ids;
    struct timed *all;
    size_t max;
    double machine; /* log of the factor by which everything is slower */
};

/* Adds the time from an event to its end; `to` is the format of that, or
 * COMPARE_NONE for a span; `event` may be shown. */
static void time_add(struct times *t, enum compare_side side, size_t begin,
                     size_t end, size_t to, size_t event)
{
    struct compare *c = t->c;
    const struct compare_event *a = &c->of[side].events[begin];
    const struct compare_event *b = &c->of[side].events[end];
    double ns = (double)(b->ns - a->ns);
    bool is_new;
    size_t from = a->format;
    struct timed *timed =
        array_at_key(t->all, &t->ids, t->max, from, to, 0, &is_new);
    ARRAY_NEED(c->times, t->ids.count, c->times_max);
    if (is_new)
        c->times[c->times_count++] =
            (struct compare_time){.from = from, .to = to};
    points_add(&timed->ns[side], ns, event, history_run(&c->of[side], event));
    if (a->cpu_ns != CPU_UNKNOWN && b->cpu_ns != CPU_UNKNOWN) {
        timed->cpu[side] += (double)(b->cpu_ns - a->cpu_ns);
        timed->cpu_known[side]++;
    }
    if (ns < timed->longest[side])
        return;
    timed->longest[side] = ns;
    timed->longest_at[side] = event;
}

static void collect(struct times *t, enum compare_side side)
{
    const struct history *h = &t->c->of[side];
    for (size_t i = 0; i < h->spans_count; i++)
        if (!t->c->formats[h->events[h->spans[i].event].format].idle)
            time_add(t, side, h->spans[i].event, h->spans[i].end, COMPARE_NONE,
                     h->spans[i].event);
    for (size_t i = 0; i < h->count; i++) {
        const struct compare_event *e = &h->events[i];
        uint32_t before = e->before;
        if (e->chain == CHAIN_ALL && before != CHAIN_END &&
            !t->c->formats[e->format].scheduler)
            time_add(t, side, before, i, e->format, i);
    }
}

static int by_number(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Sets median, p99 and total of a side, and its level by logarithms. */
static bool measure(struct timed *t, struct compare_time *row,
                    enum compare_side side)
{
    struct points *p = &t->ns[side];
    double *values = need(malloc((p->count + 1) * sizeof *values));
    row->count[side] = (double)p->count;
    row->cpu[side] = t->cpu[side] / t->cpu_known[side];
    for (size_t i = 0; i < p->count; i++) {
        values[i] = p->at[i].x;
        row->total[side] += values[i];
        p->at[i].x = log(fmax(values[i], clock_ns));
    }
    array_sort(values, p->count, by_number);
    row->median[side] = p->count ? values[p->count / 2] : NAN;
    row->high[side] = p->count ? values[(p->count - 1) * 99 / 100] : NAN;
    if (p->count)
        t->vary[side] = log(fmax(values[p->count * 84 / 100], least_ns) /
                            fmax(values[p->count * 16 / 100], least_ns)) /
                        2;
    if (side == GOOD && p->count)
        t->usual = log(fmax(values[p->count * 95 / 100], clock_ns));
    free(values);
    return p->count >= LEAST && level_of(p, &t->level[side]);
}

/* Sets how often a side is late: later than nearly all of GOOD by far. */
static void late_set(struct timed *t, const struct compare_time *row,
                     double machine, double late_ns)
{
    t->late[GOOD] = t->late[BAD] = 0;
    t->late_ns = fmax(fmax(10 * row->median[GOOD], 2 * row->high[GOOD]),
                      row->median[GOOD] + late_ns);
    if (t->waits)
        t->late_ns = fmax(t->late_ns, 2 * t->longest[GOOD]);
    for (enum compare_side side = GOOD; side < SIDES; side++)
        for (size_t i = 0; i < t->ns[side].count; i++)
            t->late[side] +=
                t->ns[side].at[i].x - (side ? machine : 0) > log(t->late_ns);
}

/* Tells whether time on CPUs grew, too, where time grew by a factor; `cpu` has
 * that time of both sides, NAN if it is unknown. */
static const char *cpu_text(const double cpu[SIDES], double factor)
{
    double by = (cpu[BAD] + clock_ns) / (cpu[GOOD] + clock_ns);
    if (isnan(by))
        return "";
    return finding_text("; %s %s x in the mean",
                        log(by) < log(factor) / 2 ? "only wall time: CPU time"
                                                  : "CPU time too:",
                        finding_number(by));
}

/* Finds out whether all spans and steps are slower, by nearly as much: those
 * between the quarters at both ends. */
static void machine_find(struct times *t)
{
    struct compare *c = t->c;
    double *all = need(malloc((t->ids.count + 1) * sizeof *all));
    struct finding f;
    size_t count = 0, i;
    double cpu[SIDES] = {0};
    for (i = 0; i < t->ids.count; i++) {
        const struct compare_time *r = &c->times[i];
        if (!t->all[i].known || r->median[GOOD] < 10 * clock_ns)
            continue;
        all[count++] = t->all[i].ratio;
        for (enum compare_side side = GOOD; side < SIDES; side++)
            cpu[side] += isnan(r->cpu[GOOD]) || isnan(r->cpu[BAD])
                             ? 0
                             : r->cpu[side] * r->count[GOOD];
    }
    array_sort(all, count, by_number);
    if (count >= 3 && all[count / 4] >= rule_rows[RULE_MACHINE].effect &&
        all[count - 1 - count / 4] <= 3 * all[count / 4]) {
        t->machine = all[count / 2];
        f = finding_of(c, RULE_MACHINE,
                       t->machine / rule_rows[RULE_MACHINE].effect,
                       COMPARE_NONE, 1, exp(t->machine));
        finding_add(c, f, finding_number(f.bad), (double)count,
                    (double)t->ids.count,
                    cpu[GOOD] + cpu[BAD] > 0 ? cpu_text(cpu, f.bad)
                                             : "; CPU time is not recorded");
    }
    free(all);
}

/* True if a step may wait for other threads: its first record is a wait, or the
 * times of the step vary. */
static bool may_be_wait(const struct compare *c, const struct timed *of,
                        const struct compare_time *r)
{
    return c->threaded && r->to != COMPARE_NONE &&
           (naming_is_wait(&c->formats[r->from]) ||
            (fmax(of->vary[GOOD],
                  fmin(of->vary[BAD], exp(of->level[BAD].spread))) > may_wait &&
             fmax(r->high[GOOD], r->high[BAD]) > wait_ns));
}

size_t times_waits(const struct compare *c, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t i = 0; i < c->times_count; i++)
        count += c->times[i].waits &&
                 (from == COMPARE_NONE || c->times[i].from == from) &&
                 (to == COMPARE_NONE || c->times[i].to == to);
    return count;
}

const char *time_text(const struct compare *c, const struct compare_time *r)
{
    if (r->to == COMPARE_NONE)
        return finding_text("span %s", finding_site(c, r->from));
    return finding_text("step from %s to %s", finding_site(c, r->from),
                        finding_site(c, r->to));
}

static struct finding time_finding(const struct compare *c,
                                   const struct timed *t,
                                   struct compare_time *r, enum rule rule,
                                   double size, double good, double bad)
{
    struct finding f = finding_of(c, rule, size, r->from, good, bad);
    f.other = r->to;
    f.score += r->to == COMPARE_NONE ? 0 : 1; /* the step says where */
    f.weak = r->to != COMPARE_NONE && (naming_is_wait(&c->formats[r->from]) ||
                                       (rule != RULE_PASSES && r->waits));
    memcpy(f.event, t->longest_at, sizeof f.event);
    return f;
}

/* The unit of the effect. It is larger if times vary, as the times of waits do,
 * and if threads may wait for each other. */
static double unit_of(const struct compare *c, const struct timed *of)
{
    bool alone = !c->threaded;
    double least = fmin(of->vary[GOOD], of->vary[BAD]);
    double mean = sqrt((pow(of->vary[GOOD], 2) + pow(of->vary[BAD], 2)) / 2);
    return fmax(alone ? 1 : 2.75, vary * (alone ? least : mean));
}

/* It takes longer, by more than everything is slower, and by more than it
 * varies; or ever longer. */
static bool slow_find(struct times *t, struct timed *of, struct compare_time *r)
{
    double unit = unit_of(t->c, of), size[2];
    struct level bad = of->level[BAD];
    bool slower = of->ratio > t->machine, ever;
    struct finding f;
    bad.mean -= t->machine;
    size[0] = rule_size(RULE_SLOW, &of->level[GOOD], &bad, unit);
    size[1] = rule_size(RULE_SLOWS, &of->level[GOOD], &bad,
                        fmin(unit, fmax(2.75, vary * of->vary[GOOD])));
    ever = size[0] < 1 && bad.drift > 2 * fmax(0, of->level[GOOD].drift);
    if (ever && bad.trend < 0.6 &&
        (r->waits || bad.drift < 1.4 * unit ||
         fmin(r->count[GOOD], r->count[BAD]) < 64))
        return false; /* another program came */
    if (size[ever] < 1 || (!ever && fabs(exp(of->level[BAD].mean) -
                                         exp(of->level[GOOD].mean)) < least_ns))
        return false;
    if (!ever && slower && r->median[BAD] < r->median[GOOD] * exp(0.2))
        return false; /* a part is */
    if (!ever && !slower) {
        r->verdict = of->ratio < 0 ? "faster" : "-";
        return true;
    }
    r->verdict = ever ? "slows" : "slower";
    f = time_finding(t->c, of, r, ever ? RULE_SLOWS : RULE_SLOW, size[ever],
                     ever ? exp(of->level[GOOD].drift) : r->median[GOOD],
                     ever ? exp(bad.drift) : r->median[BAD]);
    if (ever)
        finding_add(t->c, f, time_text(t->c, r), finding_number(f.bad),
                    finding_number(f.good));
    else
        finding_add(t->c, f, time_text(t->c, r), finding_time(f.bad),
                    r->count[BAD], finding_time(f.good), r->count[GOOD],
                    finding_number(exp(of->ratio)),
                    t->machine > 0 ? ", where everything is slower" : "",
                    cpu_text(r->cpu, exp(of->ratio)));
    return true;
}

/* A part of the passes takes longer than nearly all of GOOD: four times as many if
 * they are as long as other programs delay sleepers. */
static bool part_find(struct times *t, struct timed *of, struct compare_time *r)
{
    double unit = fmax(t->c->threaded ? 2 : 1, vary * of->vary[GOOD]), size;
    double limit = fmax(of->usual + rule_rows[RULE_SLOW].effect,
                        log(r->median[GOOD]) + unit);
    struct points p[SIDES] = {{NULL, 0, 0}, {NULL, 0, 0}};
    double delayed = 0;
    struct level level[SIDES];
    struct finding f;
    for (enum compare_side side = GOOD; side < SIDES; side++)
        for (size_t i = 0; i < of->ns[side].count; i++) {
            const struct point *at = &of->ns[side].at[i];
            double x = at->x - (side ? t->machine : 0);
            points_add(&p[side], x > limit, at->event, at->run);
            delayed += side && exp(x) > r->median[GOOD] + delay_ns;
        }
    size = rule_size_parts(RULE_PASSES, p, level);
    if (delayed > level[BAD].mean * r->count[BAD] / 2 &&
        level[BAD].mean < 4 * rule_rows[RULE_PASSES].effect)
        return false;
    if (size < 1 || level[BAD].mean < level[GOOD].mean ||
        exp(limit) - r->median[GOOD] < least_ns)
        return false;
    r->verdict = "slower";
    f = time_finding(t->c, of, r, RULE_PASSES, size, level[GOOD].mean,
                     level[BAD].mean);
    f.weak |= t->c->threaded && r->to == COMPARE_NONE;
    finding_add(t->c, f, time_text(t->c, r), finding_share(f.bad, 1),
                r->count[BAD], finding_time(exp(limit)),
                finding_share(f.good, 1), r->count[GOOD]);
    return true;
}

/* It is late more often than a step of its length is: a preempted thread makes
 * it late, up to 500 times in each second that it takes, and by more ns less
 * often. Under load, that is more, up to 30 times: as often as all others of
 * BAD are late, `others` times in `others_ns`. */
static bool late_find(struct times *t, const struct timed *of,
                      struct compare_time *r, double others, double others_ns)
{
    const double *late = of->late, sure = 12;
    double by = (of->late_ns - r->median[GOOD]) / lates_ns[0];
    double rate = 500 / 1e9 * pow(by, -1.35);
    double ns = fmax(r->median[GOOD], r->median[BAD]) * r->count[BAD];
    double base = late[GOOD] * r->count[BAD] / r->count[GOOD] + 0.2;
    double load = fmin(30 * rate, (others + 3) / others_ns);
    double mean = base + ns * fmax(load, rate);
    struct finding f;
    if (late[BAD] < rule_rows[RULE_LATE].effect ||
        late[BAD] < mean + 4 * sqrt(mean))
        return false;
    r->verdict = "late";
    f = time_finding(t->c, of, r, RULE_LATE, late[BAD] / mean, late[GOOD],
                     late[BAD]);
    f.weak = of->waits || t->c->threaded || /* or some of its passes wait */
             r->high[GOOD] > fmax(10 * r->median[GOOD], 2.5 * wait_ns) ||
             late[BAD] < 5 * (base - 0.2) +
                             sure * (0.5 + ns * fmax(load, rate / 10));
    finding_add(t->c, f, time_text(t->c, r), finding_number(f.bad),
                r->count[BAD], finding_time(of->late_ns),
                finding_time(of->longest[BAD]), finding_number(f.good),
                r->count[GOOD]);
    return true;
}

/* Finds steps that are late by a number of ns. */
static void lates_find(struct times *t, double late_ns)
{
    struct compare_time *rows = t->c->times;
    double late = 0, ns = 1;
    size_t i;
    for (i = 0; i < t->ids.count; i++) {
        struct timed *of = &t->all[i];
        if (!of->known || rows[i].to == COMPARE_NONE)
            continue;
        late_set(of, &rows[i], t->machine, late_ns);
        late += of->late[BAD];
        ns += rows[i].median[BAD] * rows[i].count[BAD];
    }
    for (i = 0; i < t->ids.count; i++) {
        struct timed *of = &t->all[i];
        if (of->known && rows[i].to != COMPARE_NONE)
            of->known =
                !late_find(t, of, &rows[i], late - of->late[BAD],
                           ns - rows[i].median[BAD] * rows[i].count[BAD]);
    }
}

void times_find(struct compare *c)
{
    struct times t = {.c = c};
    size_t i;
    collect(&t, GOOD);
    collect(&t, BAD);
    for (i = 0; i < t.ids.count; i++) {
        struct timed *of = &t.all[i];
        bool good = measure(of, &c->times[i], GOOD);
        of->known = measure(of, &c->times[i], BAD) && good;
        c->times[i].verdict = of->known ? "-" : "too few";
        if (!of->known)
            continue;
        of->ratio = of->level[BAD].mean - of->level[GOOD].mean;
        of->waits = of->vary[GOOD] > may_wait;
        c->times[i].waits = may_be_wait(c, of, &c->times[i]);
    }
    machine_find(&t);
    for (i = 0; i < t.ids.count; i++)
        if (t.all[i].known)
            t.all[i].known = !slow_find(&t, &t.all[i], &c->times[i]) &&
                             !part_find(&t, &t.all[i], &c->times[i]);
    for (i = 0; i < sizeof lates_ns / sizeof *lates_ns; i++)
        lates_find(&t, lates_ns[i]);
    for (i = 0; i < t.ids.count; i++) {
        c->threaded |= t.all[i].waits;
        free(t.all[i].ns[GOOD].at);
        free(t.all[i].ns[BAD].at);
    }
    free(t.all);
    ids_free(&t.ids);
}
