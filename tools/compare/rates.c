/* rates.c - formats that are new or gone, or more or less frequent. */
/* SPDX-License-Identifier: MIT */
/*
   Two runs differ in length, so a count means nothing alone. A format is more
   or less frequent only if no plain reason explains its count: the same in each
   run, the same in each second, as many more as formats have in the median, or
   as many more as the format that comes before it. The p-value is the largest
   over these reasons (intersection-union test).
*/
#include "compare.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCKS = 16, REASONS = 4 };

static double seconds_ratio(const struct compare *c, size_t recorder)
{
    const struct compare_recorder *r = &c->recorders[recorder];
    double good = (double)(r->last_ns[GOOD] - r->first_ns[GOOD]);
    double bad = (double)(r->last_ns[BAD] - r->first_ns[BAD]);
    return good > 1 && bad > 1 ? bad / good : 1;
}

/* Returns in how many blocks of its recorder's time a format comes. *dispersion
 * becomes the variance of the counts per block over their mean, at least 1. */
static size_t blocks_of(const struct compare *c, enum compare_side side,
                        size_t format, double *dispersion)
{
    const struct compare_format *f = &c->formats[format];
    const struct compare_recorder *r = &c->recorders[f->recorder];
    double count[BLOCKS] = {0}, mean = (double)f->watched[side] / BLOCKS;
    double sum = 0, length = (double)(r->last_ns[side] - r->first_ns[side]);
    size_t used = 0;
    for (size_t i = c->listed_at[side][format];
         i < c->listed_at[side][format + 1]; i++) {
        uint64_t ns = c->of[side].events[c->listed[side][i]].ns;
        int block =
            (int)((double)(ns - r->first_ns[side]) * BLOCKS / (length + 1));
        count[block < BLOCKS ? block : BLOCKS - 1]++; /* it was rounded */
    }
    for (int i = 0; i < BLOCKS; i++) {
        used += count[i] > 0;
        sum += (count[i] - mean) * (count[i] - mean);
    }
    *dispersion = mean > 0 ? sum / (BLOCKS - 1) / mean : 1;
    if (*dispersion < 1)
        *dispersion = 1;
    return used;
}

/* ---------------------------------------------------------- new and gone -- */

static void new_add(struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    struct finding n = finding_of(FINDING_NEW, 70, format);
    size_t before = COMPARE_NONE;
    n.bad = (double)f->watched[BAD];
    n.score += finding_score(1 / n.bad, 3);
    n.event[BAD] = f->first[BAD];
    for (size_t i = n.event[BAD]; i-- > 0 && before == COMPARE_NONE;) {
        const struct compare_event *e = &c->of[BAD].events[i];
        if (e->thread == c->of[BAD].events[n.event[BAD]].thread)
            before = e->format;
    }
    if (before != COMPARE_NONE && c->formats[before].watched[GOOD])
        n.event[GOOD] = c->formats[before].first[GOOD];
    finding_add(c, n, "%s: %s in BAD, never in GOOD%s", finding_site(c, format),
                finding_times(n.bad),
                c->recorders[f->recorder].cut[GOOD] ? " as far as it was kept"
                                                    : "");
}

/* True if it is not just overwritten in BAD, or BAD ended before it. *p: the
 * probability of none by chance; below 0: no test. */
static bool is_gone(const struct compare *c, size_t format, double *p)
{
    const struct compare_format *f = &c->formats[format];
    double dispersion, expected;
    size_t used = blocks_of(c, GOOD, format, &dispersion);
    *p = -1;
    if (!c->recorders[f->recorder].cut[GOOD] &&
        !c->recorders[f->recorder].cut[BAD])
        return true;
    expected = (double)f->watched[GOOD] / dispersion;
    expected = expected < (double)used ? expected : (double)used;
    *p = exp(-expected * fmin(1, seconds_ratio(c, f->recorder)));
    return *p < 0.001;
}

/* The last event of GOOD whose format BAD has, too. */
static size_t last_common(const struct compare *c)
{
    size_t i = c->of[GOOD].count;
    while (i > 0 && !c->formats[c->of[GOOD].events[i - 1].format].kept[BAD])
        i--;
    return i;
}

/* Adds a finding of a format that only GOOD has. Of several formats after the
 * last common one, which BAD did not reach, only the first is reported. */
static void gone_add(struct compare *c, size_t format, double p, size_t common,
                     size_t ended)
{
    const struct compare_format *f = &c->formats[format];
    bool at_end = f->first[GOOD] >= common;
    struct finding n = finding_of(FINDING_GONE, at_end ? 32 : 46, format);
    char more[64] = "";
    n.p = p;
    n.good = (double)f->watched[GOOD];
    n.event[GOOD] = f->first[GOOD];
    n.score += finding_score(1 / n.good, 3);
    if (at_end && ended > 1)
        snprintf(more, sizeof more, ", nor %zu others that end GOOD",
                 ended - 1);
    finding_add(
        c, n, "%s: never in BAD%s%s, %s in GOOD%s%s", finding_site(c, format),
        c->recorders[f->recorder].cut[BAD] ? " as far as it was kept" : "",
        more, finding_times(n.good), p >= 0 ? ", " : "",
        p >= 0 ? finding_p(p) : "");
}

static void new_and_gone_find(struct compare *c)
{
    size_t common = last_common(c), ended = 0, first = COMPARE_NONE, i;
    double p;
    for (i = 0; i < c->formats_count; i++) {
        const struct compare_format *f = &c->formats[i];
        if (f->watched[GOOD] && !f->kept[BAD] && f->first[GOOD] >= common) {
            if (!ended++ || f->first[GOOD] < c->formats[first].first[GOOD])
                first = i;
        }
    }
    for (i = 0; i < c->formats_count; i++) {
        const struct compare_format *f = &c->formats[i];
        if (f->watched[BAD] && !f->kept[GOOD])
            new_add(c, i);
        else if (f->watched[GOOD] && !f->kept[BAD] && is_gone(c, i, &p) &&
                 (f->first[GOOD] < common || i == first))
            gone_add(c, i, p, common, ended);
    }
}

/* ----------------------------------------------------------------- rates -- */

static int by_number(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* As many more as formats have in the median: the median of ratios of Anders
 * and Huber, 2010, which few changed formats do not move. */
static double median_ratio(const struct compare *c)
{
    double *ratios = need(malloc((c->formats_count + 1) * sizeof *ratios));
    double median = 1;
    size_t count = 0;
    for (size_t i = 0; i < c->formats_count; i++)
        if (c->formats[i].watched[GOOD] >= 10 &&
            c->formats[i].watched[BAD] >= 10)
            ratios[count++] = (double)c->formats[i].watched[BAD] /
                              (double)c->formats[i].watched[GOOD];
    if (count) {
        qsort(ratios, count, sizeof *ratios, by_number);
        median = ratios[count / 2];
    }
    free(ratios);
    return median;
}

/* The p-value of a format's count, and the reason that comes nearest. */
static double rate_p(const struct compare *c, size_t format, double median,
                     double *nearest)
{
    const struct compare_format *f = &c->formats[format];
    double a = (double)f->watched[GOOD], b = (double)f->watched[BAD];
    double scale[REASONS] = {1, median, 1, 1}, spread[SIDES], p = 0, off = 0;
    size_t before = c->before[format];
    scale[2] = seconds_ratio(c, f->recorder);
    if (before != COMPARE_NONE && c->formats[before].watched[GOOD])
        scale[3] = (double)c->formats[before].watched[BAD] /
                   (double)c->formats[before].watched[GOOD];
    blocks_of(c, GOOD, format, &spread[GOOD]);
    blocks_of(c, BAD, format, &spread[BAD]);
    spread[GOOD] = fmax(spread[GOOD], spread[BAD]);
    for (int i = 0; i < REASONS; i++) {
        double is, far = fabs(log(b / a / scale[i]));
        if (!(scale[i] > 0))
            continue;
        if (far < log(1.5))
            return 1;
        is = statistics_rates(a, b, scale[i], spread[GOOD]);
        p = is > p ? is : p;
        if (off == 0 || far < off) {
            off = far;
            *nearest = scale[i];
        }
    }
    return p;
}

static void rate_add(struct compare *c, size_t format, double p, double scale)
{
    const struct compare_format *f = &c->formats[format];
    double a = (double)f->watched[GOOD], b = (double)f->watched[BAD];
    struct finding n = finding_of(FINDING_RATE, 0, format);
    bool more = b > a * scale;
    n.score = 18 + finding_score(p, 16) + (more ? 6 : 0);
    n.p = p;
    n.good = a;
    n.bad = b;
    n.event[GOOD] = f->first[GOOD];
    n.event[BAD] = f->first[BAD];
    finding_add(c, n,
                "%s: %s frequent: %.0f times in BAD, %.0f in GOOD, where %s "
                "would go with the rest (%s)",
                finding_site(c, format), more ? "more" : "less", b, a,
                finding_number(round(b / scale)), finding_p(p));
}

void rates_find(struct compare *c)
{
    size_t count = 0, i;
    double median = median_ratio(c);
    double *p = need(malloc((c->formats_count + 1) * sizeof *p));
    double *nearest = need(malloc((c->formats_count + 1) * sizeof *nearest));
    double **tests = need(malloc((c->formats_count + 1) * sizeof *tests));
    new_and_gone_find(c);
    for (i = 0; i < c->formats_count; i++) {
        const struct compare_format *f = &c->formats[i];
        p[i] = nearest[i] = 1;
        if (!f->watched[GOOD] || !f->watched[BAD] ||
            f->watched[GOOD] + f->watched[BAD] < 20)
            continue;
        p[i] = rate_p(c, i, median, &nearest[i]);
        tests[count++] = &p[i];
    }
    statistics_holm(tests, count);
    for (i = 0; i < c->formats_count; i++)
        if (p[i] < 1e-3)
            rate_add(c, i, p[i], nearest[i]);
    free(p);
    free(nearest);
    free(tests);
}
