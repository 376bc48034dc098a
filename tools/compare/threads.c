/* threads.c - roles of threads, and threads that end before they should. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>

#include "buffer.h"

enum { ROLES_MAX = 512 };

/* The formats of threads with one name, as bits. */
struct role {
    char name[32];
    const uint64_t *formats;
};

/* Returns how many hundredths of the formats of two both have: of the rarer
 * set, or of both. */
static int alike(const struct role *a, const struct role *b, size_t words)
{
    int both = 0, in_a = 0, in_b = 0, of;
    for (size_t i = 0; i < words; i++) {
        both += __builtin_popcountll(a->formats[i] & b->formats[i]);
        in_a += __builtin_popcountll(a->formats[i]);
        in_b += __builtin_popcountll(b->formats[i]);
    }
    of = in_a < in_b ? in_a : in_b;
    if (strcmp(a->name, b->name) != 0)
        of = in_a + in_b - both;
    return of ? 100 * both / of : 0;
}

/* Returns the role whose formats are most like a thread's, half of them at
 * least; or that of the thread itself, as the last, if it has records. */
static size_t role_of(struct role *roles, size_t *count, size_t words,
                      const struct compare_thread *t, const uint64_t *formats)
{
    struct role *own = &roles[*count];
    size_t best = *count, size = 0;
    int most = 49;
    *own = (struct role){.formats = formats};
    for (const char *at = t->name; *at; at++)
        if (*at < '0' || *at > '9') /* the threads of a pool are of one role */
            own->name[size++] = *at;
    for (size_t i = 0; i < *count; i++) {
        int is = alike(&roles[i], own, words);
        if (is > most) {
            most = is;
            best = i;
        }
    }
    *count += best == *count && *count + 1 < ROLES_MAX && t->count;
    return best;
}

void threads_match(struct compare *c)
{
    struct role *roles = need(calloc(ROLES_MAX, sizeof *roles));
    uint64_t *bits[SIDES];
    size_t words = c->formats_count / 64 + 1, i;
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        struct history *h = &c->of[side];
        bits[side] = need(calloc((h->threads_count + 1) * words, 8));
        for (i = 0; i < h->count; i++)
            bits[side]
                [h->events[i].thread * words + h->events[i].format / 64] |=
                (uint64_t)1 << h->events[i].format % 64;
        for (i = 0; i < h->threads_count; i++)
            h->threads[i].role =
                role_of(roles, &c->roles_count, words, &h->threads[i],
                        &bits[side][i * words]);
    }
    free(bits[GOOD]);
    free(bits[BAD]);
    free(roles);
}

/* The records of a role's threads in one side. */
struct part {
    size_t threads, last; /* thread that recorded last */
    double count;
    uint64_t longest_ns;
};

static struct part part_of(const struct history *h, size_t role)
{
    struct part p = {.last = COMPARE_NONE};
    for (size_t i = 0; i < h->threads_count; i++) {
        const struct compare_thread *t = &h->threads[i];
        if (t->role != role || !t->count)
            continue;
        p.threads++;
        p.count += (double)t->count;
        if (t->longest_ns > p.longest_ns)
            p.longest_ns = t->longest_ns;
        if (p.last == COMPARE_NONE ||
            h->events[t->last].ns > h->events[h->threads[p.last].last].ns)
            p.last = i;
    }
    return p;
}

/* A role that only one side has; where the other was cut, only one that was
 * there at the end, too. */
static void alone_add(struct compare *c, enum compare_side side,
                      const struct part *p)
{
    const struct history *h = &c->of[side];
    const struct compare_thread *t = &h->threads[p->last];
    struct finding f = finding_of(c, RULE_THREAD, 1, h->events[t->first].format,
                                  side ? 0 : p->count, side ? p->count : 0);
    if (c->of[!side].cut &&
        (double)h->events[t->last].ns < (double)h->runs[t->run].length_ns * 0.9)
        return;
    f.event[side] = t->first;
    f.event[!side] = COMPARE_NONE;
    finding_add(c, f, finding_name(t->name), t->number, side ? "BAD" : "GOOD",
                p->count, finding_site(c, f.format));
}

/* The part of its time in which a role is silent at the end. */
static double silent(const struct history *h, const struct compare_thread *t)
{
    double from = (double)h->events[t->first].ns;
    double last = (double)h->events[t->last].ns,
           end = (double)h->runs[t->run].length_ns;
    return end > from ? (end - last) / (end - from) : 0;
}

/* True if some thread of the role ends GOOD with that format. */
static bool ends_so(const struct history *good, size_t role, size_t format)
{
    for (size_t i = 0; i < good->threads_count; i++)
        if (good->threads[i].role == role && good->threads[i].count &&
            good->events[good->threads[i].last].format == format)
            return true;
    return false;
}

/* A role that is silent at the end of BAD for longer than it ever was in GOOD,
 * and that has not done its work: it made fewer records, or ends elsewhere. */
static void stops_find(struct compare *c, size_t role, const struct part *good,
                       const struct part *bad)
{
    const struct history *h = &c->of[BAD];
    const struct compare_thread *t = &h->threads[bad->last];
    const struct compare_thread *was = &c->of[GOOD].threads[good->last];
    double is = silent(h, t), before = silent(&c->of[GOOD], was);
    double ns =
        (double)h->runs[t->run].length_ns - (double)h->events[t->last].ns;
    double less = good->count * (double)h->count / (double)c->of[GOOD].count;
    struct finding f =
        finding_of(c, RULE_ENDS, 1, h->events[t->last].format, before, is);
    bool done = ends_so(&c->of[GOOD], role, f.format);
    if (good->count < 12 || is - before < rule_rows[RULE_ENDS].effect ||
        ns < 1e6 || ns < 4 * (double)good->longest_ns ||
        ns < 2 * (double)t->longest_ns || (done && bad->count > 0.6 * less))
        return;
    f.event[BAD] = t->last;
    f.event[GOOD] = was->last;
    finding_add(c, f, finding_name(t->name), t->number, finding_time(ns),
                finding_share(is, 1), finding_site(c, f.format),
                finding_share(before, 1));
}

void threads_find(struct compare *c)
{
    for (size_t role = 0; role < c->roles_count; role++) {
        struct part good = part_of(&c->of[GOOD], role);
        struct part bad = part_of(&c->of[BAD], role);
        if (!good.threads && bad.threads)
            alone_add(c, BAD, &bad);
        else if (good.threads && !bad.threads)
            alone_add(c, GOOD, &good);
        else if (good.threads)
            stops_find(c, role, &good, &bad);
    }
}
