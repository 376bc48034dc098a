/* values.c - arguments that are not as usual. */
/* SPDX-License-Identifier: MIT */
/*
   An argument with few values is compared value by value: BAD may have a new
   value, lack a value, or have a value at another rate. The size of numbers is
   compared, too, unless the numbers count up in both. Of names (addresses,
   descriptors, ids), only null counts here.

   A number with the name of a time (took, ms) counts if it is larger by a factor,
   as the time of a step does (times.c), or another constant.

   Values come in phases, so that they depend on those before. How often a kind
   was seen is therefore in how many of up to PARTS parts of the time it was
   (incidence: Chao 1987).
*/
#include "compare.h"

#include <math.h>

enum { PARTS = 64, KINDS_MAX = 1 << 16, FEW = 16, LEAST = 12 };

struct kind {
    struct compare_value value;
    double count[SIDES], parts[SIDES];
    size_t last[SIDES], first[SIDES]; /* part, from 1; event */
};

/* An argument of a format, and all its values. */
struct subject {
    struct compare *c;
    size_t format;
    unsigned argument;
    double count[SIDES], parts[SIDES];
    struct ids ids;
    struct kind *kinds;
    size_t kinds_max, known; /* known: kinds of GOOD */
    double densest;          /* records of GOOD that have one kind, at most */
    bool many;               /* more kinds than KINDS_MAX */
    double names[SIDES];
    double rises[SIDES];     /* values that are above the one before */
    double odd[SIDES];       /* NANs and infinities */
    size_t first_odd[SIDES]; /* event */
    double stuck[SIDES];     /* longest row of equal values */
    size_t stuck_at[SIDES];  /* event */
    double row;              /* of equal values, up to the last value */
    size_t row_at;           /* event */
    struct points points[SIDES];
    struct level level[SIDES];
    bool leveled;
    bool time; /* points are logarithms */
};

static void kind_add(struct subject *s, enum compare_side side,
                     struct compare_value v, size_t part, size_t event)
{
    struct kind *kind;
    bool is_new;
    if (s->many)
        return;
    kind = array_at_key(s->kinds, &s->ids, s->kinds_max, v.kind, v.word, 0,
                        &is_new);
    if (is_new)
        *kind =
            (struct kind){.value = v, .first = {COMPARE_NONE, COMPARE_NONE}};
    kind->count[side]++;
    kind->parts[side] += kind->last[side] != part;
    kind->last[side] = part;
    if (kind->first[side] == COMPARE_NONE)
        kind->first[side] = event;
    s->many = s->ids.count > KINDS_MAX;
}

static void number_add(struct subject *s, enum compare_side side, double number,
                       size_t event)
{
    struct points *p = &s->points[side];
    size_t run = history_run(&s->c->of[side], event);
    const struct point *last = p->count ? &p->at[p->count - 1] : NULL;
    double by = last && last->run == run ? number - last->x : NAN;
    if (!isfinite(number)) {
        if (s->odd[side]++ <= 0)
            s->first_odd[side] = event;
        return;
    }
    s->rises[side] += by > 0;
    if (by != 0) { /* or unknown */
        s->row = 0;
        s->row_at = event;
    }
    if (++s->row > s->stuck[side]) {
        s->stuck[side] = s->row;
        s->stuck_at[side] = s->row_at;
    }
    points_add(p, number, event, run);
}

static void value_add(struct subject *s, enum compare_side side, size_t part,
                      size_t event)
{
    const struct history *h = &s->c->of[side];
    struct compare_value v = *history_value(h, event, s->argument);
    double number = compare_number(&v);
    enum naming naming;
    if (v.kind == READER_LOST)
        return;
    naming = value_naming(s->c, side, event, s->argument);
    s->count[side]++;
    if (naming == NAMING_NAME || naming == NAMING_NULL) {
        s->names[side]++;
        v = (struct compare_value){.word = v.word != 0, .kind = READER_POINTER};
    } else if (v.kind != READER_STRING) {
        if (s->time && isfinite(number))
            number = log(fmax(number, v.kind == READER_REAL ? 1e-6 : 1));
        number_add(s, side, number, event);
    }
    kind_add(s, side, v, part, event);
}

static void subject_open(struct subject *s)
{
    const struct compare *c = s->c;
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        const size_t *at = &c->listed_at[side][s->format];
        size_t count = at[1] - at[0];
        s->parts[side] = count < PARTS ? (double)count : PARTS;
        for (size_t i = 0; i < count; i++) {
            size_t event = c->listed[side][at[0] + i];
            size_t part = count < PARTS ? i : i * PARTS / count;
            if (s->argument < c->of[side].events[event].count)
                value_add(s, side, part + 1, event);
        }
    }
    for (size_t i = 0; i < s->ids.count; i++) {
        s->known += s->kinds[i].count[GOOD] > 0;
        s->densest = fmax(s->densest, s->kinds[i].count[GOOD]);
    }
    s->leveled = level_of(&s->points[GOOD], &s->level[GOOD]) &&
                 level_of(&s->points[BAD], &s->level[BAD]);
}

static void subject_close(struct subject *s)
{
    ids_free(&s->ids);
    free(s->kinds);
    free(s->points[GOOD].at);
    free(s->points[BAD].at);
}

static const char *subject_text(const struct subject *s)
{
    return finding_argument(s->c, s->format, s->argument);
}

static const char *event_value(const struct subject *s, size_t event)
{
    return finding_value(s->c,
                         history_value(&s->c->of[BAD], event, s->argument));
}

/* Lists the first few values that GOOD had: "0, 1, 2". */
static const char *usual_text(const struct subject *s)
{
    const char *text = "";
    size_t shown = 0, i;
    for (i = 0; i < s->ids.count && shown < 4; i++)
        if (s->kinds[i].count[GOOD] > 0)
            text = finding_text("%s%s%s", text, shown++ ? ", " : "",
                                finding_value(s->c, &s->kinds[i].value));
    if (s->known == shown)
        return text;
    return finding_text("%s and %zu others", text, s->known - shown);
}

/* Is a number of threads that race the length of a queue? How long it is, is
 * chance; that it grows all the time is not. */
static bool is_gauge(const struct subject *s)
{
    return s->c->threaded &&
           naming_is_gauge(&s->c->formats[s->format], s->argument);
}

static struct finding subject_finding(const struct subject *s, enum rule rule,
                                      double size, double good, double bad)
{
    struct finding f = finding_of(s->c, rule, size, s->format, good, bad);
    const struct level *in_good = &s->level[GOOD], *in_bad = &s->level[BAD];
    f.weak = is_gauge(s) &&
             (rule != RULE_DRIFT || in_bad->trend < 0.7 ||
              in_bad->drift < 2 * (in_good->most - in_good->least + 1));
    f.argument = (int)s->argument;
    return f;
}

/* The event of the first number of BAD outside of [least, most]. */
static size_t outside(const struct subject *s, double least, double most)
{
    for (size_t i = 0; i < s->points[BAD].count; i++) {
        const struct point *p = &s->points[BAD].at[i];
        if (p->x < least || p->x > most)
            return p->event;
    }
    return s->c->formats[s->format].first[BAD];
}

/* NANs and infinities: any where GOOD has none, or a tenth more. */
static bool odd_find(struct subject *s)
{
    double bad = s->odd[BAD] / s->count[BAD];
    double good = s->odd[GOOD] / s->count[GOOD];
    struct finding f;
    if (s->odd[BAD] <= 0 || (good > 0 && bad < good + 0.1))
        return false;
    f = subject_finding(s, RULE_NAN, 1, good, bad);
    f.event[BAD] = s->first_odd[BAD];
    finding_add(s->c, f, subject_text(s), event_value(s, f.event[BAD]),
                finding_share(bad, 1), s->count[BAD], finding_share(good, 1),
                s->count[GOOD]);
    return true;
}

/* How often GOOD has a number. */
static double count_of(const struct subject *s, double number)
{
    double count = 0;
    for (size_t i = 0; i < s->ids.count; i++)
        if (compare_number(&s->kinds[i].value) == number)
            count += s->kinds[i].count[GOOD];
    return count;
}

/* Is a new number among many of GOOD, or just beyond? Counts whose largest are
 * rare have rarer ones, as a geometric series has. */
static bool is_within(const struct subject *s, const struct kind *k)
{
    const struct level *l = &s->level[GOOD];
    double number = compare_number(&k->value), range = l->most - l->least;
    double known = (double)s->known;
    bool inside = number >= l->least && number <= l->most;
    double edge = number > l->most ? l->most : l->least, last, next;
    if (k->value.kind == READER_POINTER || k->value.kind == READER_STRING ||
        s->known < 2 || number < l->least - range || number > l->most + range)
        return false;
    if (inside && (s->known > FEW || range + 1 < 1.25 * known))
        return true;
    if (s->known <= FEW && range + 1 > 2 * known)
        return false; /* codes, not counts */
    last = count_of(s, edge);
    next = count_of(s, edge + (edge == l->most ? -1 : 1));
    return k->count[BAD] * s->count[GOOD] <= 2 * last * s->count[BAD] &&
           ((s->known > 2 && last < fmax(5, 0.5 * s->count[GOOD] / known)) ||
            (last < next / 2 && last * last > 0.3 * next));
}

/* True if a kind is far more frequent in BAD than each of many kinds is in GOOD. */
static bool is_dense(const struct subject *s, const struct kind *k)
{
    return s->known > FEW &&
           k->count[BAD] / s->count[BAD] > 2 * s->densest / s->count[GOOD] &&
           (double)s->known * statistics_none(k->parts[BAD], s->parts[BAD],
                                              s->parts[GOOD]) <
               1e-4;
}

/* Values that came in BAD only; true: there are some. */
static bool unseen_find(struct subject *s)
{
    const struct kind *most = NULL;
    size_t i;
    double q, seen = 0, parts = 0;
    struct finding f;
    bool dense, rare = s->parts[GOOD] < 20;
    for (i = 0; i < s->ids.count; i++) {
        const struct kind *k = &s->kinds[i];
        seen += k->parts[GOOD] == 1;
        rare |= k->parts[GOOD] >= 1 && k->parts[GOOD] <= 3;
        if (k->count[GOOD] > 0 || (is_within(s, k) && !is_dense(s, k)) ||
            (k->value.kind == READER_POINTER && k->value.word))
            continue;
        parts += k->parts[BAD];
        if (!most || k->count[BAD] > most->count[BAD])
            most = k;
    }
    if (!most || s->count[GOOD] < LEAST)
        return false;
    q = statistics_none(fmin(parts, s->parts[BAD]), s->parts[BAD],
                        s->parts[GOOD]);
    if (seen > s->parts[GOOD] / 20 && s->known > 1)
        q = 1; /* new ones come all the time */
    dense = is_dense(s, most);
    if (dense)
        q = 0;
    if (rare && q > 5e-3)
        return false;
    f = subject_finding(s, s->known == 1 ? RULE_VARIES : RULE_VALUE,
                        most->count[BAD], 0, most->count[BAD]);
    f.weak =
        f.weak || (rare && q > 1e-4) ||
        (s->known > FEW && s->leveled && !dense) ||
        (q > 1e-2 && (s->count[GOOD] < 100 || (s->c->threaded && q > 0.05)));
    f.event[BAD] = most->first[BAD];
    finding_add(s->c, f, subject_text(s), finding_value(s->c, &most->value),
                f.bad, s->count[BAD], s->count[GOOD], usual_text(s));
    return true;
}

/* Are many values numbers of things, such as slots? One of GOOD has the part that
 * a kind has in BAD, and the reverse: the things have got other numbers. */
static bool is_renamed(const struct subject *s, const struct kind *kind)
{
    bool found[SIDES] = {false, false};
    for (size_t i = 0; i < s->ids.count; i++)
        for (enum compare_side side = GOOD; side < SIDES; side++) {
            double is = kind->count[side] / s->count[side];
            double other = s->kinds[i].count[!side] / s->count[!side];
            found[side] = found[side] || fabs(is - other) < is / 3;
        }
    return s->known > FEW && found[GOOD] && found[BAD];
}

/* True if BAD never has a kind of few that is frequent in GOOD. */
static bool is_gone(const struct subject *s, const struct kind *k)
{
    return !k->count[BAD] && k->count[GOOD] >= LEAST && s->known <= FEW &&
           statistics_none(k->parts[GOOD], s->parts[GOOD], s->parts[BAD]) <
               1e-6;
}

/* The kind whose part differs most. */
static void parts_find(struct subject *s)
{
    const struct kind *kind = NULL;
    struct level level[SIDES];
    double most = rule_rows[RULE_PART].effect, size;
    struct finding f;
    for (size_t i = 0; i < s->ids.count; i++) {
        const struct kind *k = &s->kinds[i];
        double by = fabs(k->count[BAD] / s->count[BAD] -
                         k->count[GOOD] / s->count[GOOD]);
        if (k->value.kind == READER_POINTER ||
            (by < most && (kind || !is_gone(s, k))) ||
            (by < 0.25 &&
             fabs(log(compare_odds(k->count[BAD], s->count[BAD]) /
                      compare_odds(k->count[GOOD], s->count[GOOD]))) < log(3)))
            continue;
        most = fmax(most, by);
        kind = k;
    }
    if (!kind || is_renamed(s, kind))
        return;
    size = rule_size_where(s->c, RULE_PART, s->format, (int)s->argument,
                           kind->value.word, level);
    if (is_gone(s, kind))
        size = fmax(size, 1);
    if (size < 1)
        return;
    f = subject_finding(s, RULE_PART, size, level[GOOD].mean, level[BAD].mean);
    for (enum compare_side side = GOOD; side < SIDES; side++)
        if (kind->first[side] != COMPARE_NONE)
            f.event[side] = kind->first[side];
    finding_add(s->c, f, subject_text(s), finding_value(s->c, &kind->value),
                finding_share(f.bad, 1), s->count[BAD],
                finding_share(f.good, 1), s->count[GOOD]);
}

/* A value that stays the same for a tenth of BAD, and never did so in GOOD. */
static bool stuck_find(struct subject *s)
{
    double size = s->stuck[BAD] / (s->stuck[GOOD] + 1);
    struct finding f;
    if (size < rule_rows[RULE_STUCK].effect || s->stuck[BAD] < 16 ||
        s->stuck[BAD] < s->count[BAD] / 10 || s->known < FEW)
        return false;
    f = subject_finding(s, RULE_STUCK, size, s->stuck[GOOD], s->stuck[BAD]);
    f.event[BAD] = s->stuck_at[BAD];
    finding_add(s->c, f, subject_text(s), event_value(s, f.event[BAD]), f.bad,
                f.good);
    return true;
}

/* Numbers far from all of GOOD: by ten times its range, and by as many times
 * its largest as that is the mean's, for some have heavy tails. `few`: only if less
 * than a tenth of BAD is; these few make a mean drift by chance. */
static bool far_find(struct subject *s, bool few)
{
    const struct level *good = &s->level[GOOD], *bad = &s->level[BAD];
    double range = good->most - good->least, far, least, most;
    struct finding f;
    size_t beyond = 0;
    if (range <= 0)
        return false;
    range *= rule_rows[RULE_FAR].effect;
    least = good->least - range;
    most = good->most + range;
    if (good->mean > 0 && good->most > good->mean)
        most = fmax(most, good->most * good->most / good->mean);
    for (size_t i = 0; i < s->points[BAD].count; i++)
        beyond +=
            s->points[BAD].at[i].x < least || s->points[BAD].at[i].x > most;
    if (!beyond || (few && beyond >= s->points[BAD].count / 10))
        return false;
    far = bad->most > most ? bad->most : bad->least;
    f = subject_finding(s, RULE_FAR, 1,
                        bad->most > most ? good->most : good->least, far);
    f.event[BAD] = outside(s, least, most);
    finding_add(s->c, f, subject_text(s), finding_number(far), s->count[GOOD],
                finding_number(good->least), finding_number(good->most));
    return true;
}

/* The figure of a level that a rule compares. */
static double figure_of(enum rule rule, const struct level *l)
{
    return rule == RULE_DRIFT   ? l->drift
           : rule == RULE_LEVEL ? l->mean
                                : exp(l->spread);
}

/* A number that grows, is larger or varies more than in GOOD; or less. */
static bool sized_find(struct subject *s, enum rule rule)
{
    static const char *const words[RULES][2] = {
        [RULE_DRIFT] = {"falls", "grows"},
        [RULE_LEVEL] = {"smaller", "larger"},
        [RULE_SPREAD] = {"less", "more"}};
    const struct level *good = &s->level[GOOD], *bad = &s->level[BAD];
    double unit = fmax(good->deviation, 1e-9 * fabs(good->mean));
    double size = rule_size(rule, good, bad, rule == RULE_SPREAD ? 1 : unit);
    struct finding f = subject_finding(s, rule, size, figure_of(rule, good),
                                       figure_of(rule, bad));
    if (size < 1 || (rule == RULE_DRIFT && fabs(f.bad) < 2 * fabs(f.good)))
        return false;
    f.event[BAD] = outside(s, good->least, good->most);
    finding_add(s->c, f, subject_text(s),
                words[rule][rule == RULE_DRIFT ? f.bad > 0 : f.bad > f.good],
                finding_number(f.bad), finding_number(f.good));
    return true;
}

/* A time is longer than in GOOD by a factor, or ever longer. */
static bool time_find(struct subject *s)
{
    const struct level *good = &s->level[GOOD], *bad = &s->level[BAD];
    double unit = fmax(s->c->threaded ? 2.75 : 1, 5 * good->deviation);
    double drift = rule_size(RULE_SLOWS, good, bad, unit);
    double level = rule_size(RULE_LEVEL, good, bad, unit);
    struct finding f;
    if (drift >= 1 && bad->trend >= 0.6 &&
        bad->drift >= fmax(good->drift, 2 * good->drift)) {
        f = subject_finding(s, RULE_SLOWS, drift, exp(good->drift),
                            exp(bad->drift));
        finding_add(s->c, f, subject_text(s), finding_number(f.bad),
                    finding_number(f.good));
        return true;
    }
    if (level < 1 || bad->mean < good->mean)
        return false;
    f = subject_finding(s, RULE_LEVEL, level, exp(good->mean), exp(bad->mean));
    finding_add(s->c, f, subject_text(s), "larger", finding_number(f.bad),
                finding_number(f.good));
    return true;
}

/* Does a number count up in both sides? Threads that take turns make it fall
 * now and then. */
static bool counts_up(const struct subject *s)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        const struct level *l = &s->level[side];
        if (s->rises[side] < 0.9 * (double)s->points[side].count - 2 &&
            (!s->leveled || l->trend < 0.7 ||
             fabs(l->drift) < 4 * exp(l->spread)))
            return false;
    }
    return s->points[GOOD].count > 2;
}

static void subject_find(struct compare *c, size_t format, unsigned argument)
{
    struct subject s = {.c = c, .format = format, .argument = argument};
    bool found, named, sized;
    s.time = c->formats[format].naming[argument] == NAMING_CHANCE;
    subject_open(&s);
    named = s.names[GOOD] + s.names[BAD] > 0;
    found = s.count[GOOD] <= 0 || s.count[BAD] <= 0 || odd_find(&s) ||
            counts_up(&s);
    if (!found && s.time && s.points[GOOD].count) {
        found = (s.leveled && time_find(&s)) ||
                (s.known == 1 && s.kinds->count[BAD] <= 0 && unseen_find(&s));
    } else if (!found) {
        found = !named && stuck_find(&s);
        sized = s.leveled && !named;
        found = found || (sized && !is_gauge(&s) && far_find(&s, true)) ||
                (sized && s.ids.count > FEW && sized_find(&s, RULE_DRIFT)) ||
                (sized && far_find(&s, false));
        if (!found && sized && s.known > FEW)
            found = sized_find(&s, RULE_LEVEL) || sized_find(&s, RULE_SPREAD);
        found = found || (!s.many && unseen_find(&s));
        if (!found && !named && !s.many)
            parts_find(&s);
    }
    subject_close(&s);
}

void values_find(struct compare *c)
{
    for (size_t i = 0; i < c->formats_count; i++) {
        const struct compare_format *f = &c->formats[i];
        unsigned arguments;
        if (!f->watched[GOOD] || !f->watched[BAD] || f->scheduler)
            continue;
        arguments = c->of[GOOD].events[f->first[GOOD]].count;
        for (unsigned k = 0; k < arguments; k++)
            subject_find(c, i, k);
    }
}
