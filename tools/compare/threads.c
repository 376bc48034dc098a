/* threads.c - roles of threads, and roles that only one side has. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

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

/* Returns the role that has most of a thread's formats, and half of them at
 * least. If there is none, a thread with records gets a new role, the last. */
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
    size_t last; /* thread that recorded last, or COMPARE_NONE */
    double count;
};

static struct part part_of(const struct history *h, size_t role)
{
    struct part p = {.last = COMPARE_NONE};
    for (size_t i = 0; i < h->threads_count; i++) {
        const struct compare_thread *t = &h->threads[i];
        if (t->role != role || !t->count)
            continue;
        p.count += (double)t->count;
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
        (double)h->events[t->last].ns <
            (double)h->runs[t->run].timeline.length_ns * 0.9)
        return;
    f.event[side] = t->first;
    f.event[!side] = COMPARE_NONE;
    finding_add(c, f, finding_name(t->name), t->number, side ? "BAD" : "GOOD",
                p->count, finding_site(c, f.format));
}

void threads_find(struct compare *c)
{
    for (size_t role = 0; role < c->roles_count; role++) {
        struct part of[SIDES] = {part_of(&c->of[GOOD], role),
                                 part_of(&c->of[BAD], role)};
        for (enum compare_side side = GOOD; side < SIDES; side++)
            if (of[side].last != COMPARE_NONE && of[!side].last == COMPARE_NONE)
                alone_add(c, side, &of[side]);
    }
}
