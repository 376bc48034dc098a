/* order.c - locks that are taken in a circle: deadlocks that did not happen. */
/* SPDX-License-Identifier: MIT */
/*
   An edge goes from a held lock to one that was taken; its guards are the other
   locks that were held then. Threads can block each other along a circle of
   edges only if

     (1) each edge is another thread's: one thread is at one place at a time;
     (2) the locks of one thread, its guards, too, are not another's: a common
         guard lets one thread in at a time (two may read it);
     (3) at each lock, one of the two does not read;
     (4) none of them precedes another, as before the start of a later thread,
         or after the join of an earlier one.

   Circles are inside strongly connected components, which are found first. If a
   program takes thousands of locks at one place, `recorder run` records the
   first CLASS_CHAINS of them: these are a class, and a circle through two locks
   of a class is only a possible one.
*/
#include "recorded.h"
#include "array.h"

enum { CLASS_CHAINS = 16, TAKERS_MAX = 16, STEPS_MAX = 4000000 };

struct edge {
    size_t from, to; /* locks */
    size_t next;     /* 1 + the next of its first lock; 0: none */
    const struct chain *chain;
    unsigned held;
    const struct chain *takers[TAKERS_MAX]; /* the first is `chain` */
    unsigned takers_count;
};

/* One thread made another, or was joined by it: its actions up to that sequence
 * number precede the other's actions, or the other's later ones. */
struct link {
    uint64_t order;
    size_t from, to;
};

struct search {
    const struct recorded *recorded;
    struct order *order;
    struct ids objects; /* to locks */
    size_t *class_of;   /* of a lock: the first of its class; itself */
    size_t locks_max;
    struct edge *edges;
    size_t edges_count, edges_max;
    size_t *first;     /* of a lock: 1 + its first edge */
    size_t *component; /* of a lock: 1 + number */
    bool by_class;
    size_t way[CIRCLE_MAX]; /* edges */
    size_t steps;
    struct ids said;    /* sets of locks, by two hashes */
    struct link *links; /* sorted */
    size_t links_count;
    uint64_t *reach; /* the sequence number from which all actions of each
                      * thread follow `from`; UINT64_MAX: none */
    const struct chain *from;
};

static size_t lock_of(struct search *search, uint64_t object, uint64_t life)
{
    bool is_new;
    size_t *class_of =
        array_at_key(search->class_of, &search->objects, search->locks_max,
                     object, life, 0, &is_new);
    if (is_new)
        *class_of = (size_t)(class_of - search->class_of);
    return (size_t)(class_of - search->class_of);
}

static size_t class_find(const struct search *search, size_t lock)
{
    while (search->class_of[lock] != lock)
        lock = search->class_of[lock];
    return lock;
}

/* ----------------------------------------------------------------- edges -- */

/* The guards of an edge are all locks of its chain but the one held. */
static bool is_same_edge(const struct edge *edge, const struct chain *chain,
                         unsigned held)
{
    const struct chain *other = edge->chain;
    if (other->object != chain->object || other->life != chain->life ||
        other->reads != chain->reads || edge->held != held ||
        other->holds_count != chain->holds_count)
        return false;
    for (unsigned i = 0; i < chain->holds_count; i++)
        if (other->holds[i].object != chain->holds[i].object ||
            other->holds[i].life != chain->holds[i].life ||
            other->holds[i].reads != chain->holds[i].reads)
            return false;
    return true;
}

/* Adds an edge by a key of its locks and guards, or a thread to one. */
static void edge_add(struct search *search, struct ids *known,
                     const struct chain *chain, unsigned held)
{
    uint64_t guards = chain->reads;
    size_t from = lock_of(search, chain->holds[held].object,
                          chain->holds[held].life),
           to = lock_of(search, chain->object, chain->life);
    struct edge *edge;
    bool is_new;
    for (unsigned i = 0; i < chain->holds_count; i++)
        guards = (guards ^ (chain->holds[i].object | chain->holds[i].reads) ^
                  chain->holds[i].life << 48) *
                 0x9e3779b97f4a7c15u;
    edge = array_at_key(search->edges, known, search->edges_max,
                        from << 3 | held, to, guards, &is_new);
    if (is_new) {
        *edge =
            (struct edge){.from = from, .to = to, .chain = chain, .held = held};
        search->edges_count++;
    }
    if ((is_new || is_same_edge(edge, chain, held)) &&
        edge->takers_count < TAKERS_MAX)
        edge->takers[edge->takers_count++] = chain;
}

static void edges_collect(struct search *search)
{
    const struct recorded *recorded = search->recorded;
    struct ids known = {0};
    for (size_t i = 0; i < recorded->chains_count; i++)
        for (unsigned k = 0; k < recorded->chains[i].holds_count; k++)
            if (recorded->chains[i].holds[k].object !=
                recorded->chains[i].object)
                edge_add(search, &known, &recorded->chains[i], k);
    ids_free(&known);
}

/* Joins the held locks, and the taken ones, at a pair of places with the
 * maximum of recorded chains. */
static void classes_join(struct search *search)
{
    const struct recorded *recorded = search->recorded;
    struct pair {
        size_t count, held, taken; /* chains; a lock of each side */
    } *pairs = need(calloc(recorded->chains_count + 1, sizeof *pairs));
    struct ids places = {0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < recorded->chains_count; i++) {
            const struct chain *chain = &recorded->chains[i];
            const size_t held = lock_of(search, chain->holds[0].object,
                                        chain->holds[0].life),
                         taken = lock_of(search, chain->object, chain->life);
            bool is_new;
            struct pair *pair = &pairs[ids_add(&places, chain->holds[0].site,
                                               chain->site, 0, &is_new)];
            if (is_new) {
                pair->held = held;
                pair->taken = taken;
            }
            pair->count += pass == 0;
            if (pass == 0 || pair->count < CLASS_CHAINS)
                continue;
            search->class_of[class_find(search, held)] =
                class_find(search, pair->held);
            search->class_of[class_find(search, taken)] =
                class_find(search, pair->taken);
        }
    ids_free(&places);
    free(pairs);
}

/* ------------------------------------------------------------ components -- */

/* The lock at the other end of an edge; with classes, the first of its
 * class. */
static size_t node(const struct search *search, size_t lock)
{
    return search->by_class ? class_find(search, lock) : lock;
}

static void edges_sort(struct search *search)
{
    free(search->first);
    search->first =
        need(calloc(search->objects.count + 1, sizeof *search->first));
    for (size_t i = 0; i < search->edges_count; i++) {
        size_t from = node(search, search->edges[i].from);
        search->edges[i].next = search->first[from];
        search->first[from] = i + 1;
    }
}

/* Tarjan's strongly connected components, without recursion. */
static void components_find(struct search *search)
{
    size_t count = search->objects.count, found = 0, visited = 0, depth = 0,
           waiting = 0;
    size_t *index = need(calloc(5 * (count + 1), sizeof *index)),
           *low = index + count + 1, *edge = low + count + 1,
           *way = edge + count + 1, *stack = way + count + 1;
    free(search->component);
    search->component = need(calloc(count + 1, sizeof *search->component));
    for (size_t i = 0; i < count; i++) {
        if (index[i])
            continue;
        way[depth++] = i;
        while (depth) {
            size_t at = way[depth - 1], next;
            if (!index[at]) {
                index[at] = low[at] = ++visited;
                stack[waiting++] = at;
                edge[at] = search->first[at];
            }
            if (edge[at]) {
                next = node(search, search->edges[edge[at] - 1].to);
                edge[at] = search->edges[edge[at] - 1].next;
                if (!index[next])
                    way[depth++] = next;
                else if (!search->component[next] && index[next] < low[at])
                    low[at] = index[next];
                continue;
            }
            if (low[at] == index[at]) {
                found++;
                do
                    search->component[stack[--waiting]] = found;
                while (stack[waiting] != at);
            }
            if (--depth && low[at] < low[way[depth - 1]])
                low[way[depth - 1]] = low[at];
        }
    }
    free(index);
}

/* --------------------------------------------------------------- circles -- */

/* True if two threads hold the same lock, which only one can hold. */
static bool exclude(const struct hold *a, const struct hold *b)
{
    return a->object == b->object && a->life == b->life &&
           !(a->reads && b->reads);
}

/* True if the threads of two edges can hold all their locks at once. */
static bool together(const struct edge *a, const struct edge *b)
{
    for (unsigned i = 0; i < a->chain->holds_count; i++)
        for (unsigned k = 0; k < b->chain->holds_count; k++)
            if (exclude(&a->chain->holds[i], &b->chain->holds[k]))
                return false;
    return true;
}

static void links_collect(struct search *search)
{
    const struct recorded *recorded = search->recorded;
    struct link *link = need(calloc(
        recorded->pasts_count + recorded->joins_count + 1, sizeof *link));
    search->links = link;
    search->reach =
        need(calloc(recorded->pasts_count + 1, sizeof *search->reach));
    for (size_t i = 0; i < recorded->pasts_count; i++) {
        const struct past *past = &recorded->pasts[i],
                          *maker = recorded_past(recorded, past->maker);
        if (past->is_made && past->after && maker)
            *link++ = (struct link){past->after,
                                    (size_t)(maker - recorded->pasts), i};
    }
    for (size_t i = 0; i < recorded->joins_count; i++)
        *link++ = (struct link){recorded->joins[i].order,
                                recorded->joins[i].past, recorded->joins[i].by};
    search->links_count = (size_t)(link - search->links);
    array_sort(search->links, search->links_count, array_compare);
}

/* True if one chain precedes the other in each run of the program. */
static bool comes_before(struct search *search, const struct chain *a,
                         const struct chain *b)
{
    uint64_t *reach = search->reach;
    if (search->from != a) {
        search->from = a;
        memset(reach, 0xff, search->recorded->pasts_count * sizeof *reach);
        reach[a->past] = a->order;
        search->steps += search->links_count / 64;
        for (size_t i = 0; i < search->links_count; i++) {
            const struct link *link = &search->links[i];
            if (reach[link->from] < link->order &&
                link->order < reach[link->to])
                reach[link->to] = link->order;
        }
    }
    return reach[b->past] < b->order;
}

/* True if a thread can take its lock while each of the first threads takes its
 * own. */
static bool can_join(struct search *search, const struct circle *circle,
                     unsigned count, const struct chain *taker)
{
    for (unsigned i = 0; i < count; i++) {
        const struct chain *other = circle->takings[i].chain;
        if (other->past == taker->past || comes_before(search, taker, other) ||
            comes_before(search, other, taker))
            return false;
    }
    return true;
}

/* Chooses a thread for each edge of the way, from the i-th on. */
static bool threads_choose(struct search *search, struct circle *circle,
                           unsigned i)
{
    const struct edge *edge;
    if (i == circle->count)
        return true;
    edge = &search->edges[search->way[i]];
    for (unsigned k = 0; k < edge->takers_count; k++) {
        circle->takings[i] = (struct taking){edge->takers[k], edge->held};
        if (++search->steps < STEPS_MAX &&
            can_join(search, circle, i, edge->takers[k]) &&
            threads_choose(search, circle, i + 1))
            return true;
    }
    return false;
}

/* True if the edges of the way can be a deadlock. */
static bool is_circle(struct search *search, unsigned count,
                      struct circle *circle)
{
    *circle = (struct circle){.count = count};
    for (unsigned i = 0; i < count; i++) {
        const struct edge *edge = &search->edges[search->way[i]];
        const struct edge *next = &search->edges[search->way[(i + 1) % count]];
        circle->of_class |= edge->to != next->from;
        if (edge->chain->reads && next->chain->holds[next->held].reads)
            return false;
        for (unsigned k = 0; k < i; k++)
            if (!together(edge, &search->edges[search->way[k]]))
                return false;
    }
    return threads_choose(search, circle, 0);
}

/* Keeps a circle, but one for each set of locks. */
static void circle_keep(struct search *search, unsigned count)
{
    struct order *order = search->order;
    uint64_t sum = 0, product = 1;
    struct circle circle;
    for (unsigned i = 0; i < count; i++) {
        uint64_t lock = node(search, search->edges[search->way[i]].from) + 1;
        lock *= 0x9e3779b97f4a7c15u;
        sum += lock ^ lock >> 29;
        product *= lock | 1;
    }
    if (ids_find(&search->said, sum, product, count) != IDS_NONE ||
        !is_circle(search, count, &circle))
        return;
    ids_add(&search->said, sum, product, count, NULL);
    if (search->by_class && !circle.of_class)
        return; /* it was found before */
    *array_add(order->circles, order->count, order->max) = circle;
}

/* Walks along the edges within a component, to locks after the first, so that
 * each circle is found once. */
static void walk(struct search *search, size_t start, size_t at, unsigned depth)
{
    for (size_t e = search->first[at]; e; e = search->edges[e - 1].next) {
        size_t next = node(search, search->edges[e - 1].to);
        bool is_seen = false;
        if (search->order->count == CIRCLES_MAX ||
            ++search->steps > STEPS_MAX) {
            search->order->more = true;
            return;
        }
        if (next < start || search->component[next] != search->component[at] ||
            next == at)
            continue;
        search->way[depth] = e - 1;
        if (next == start) {
            if (depth)
                circle_keep(search, depth + 1);
            continue;
        }
        for (unsigned i = 0; i <= depth; i++)
            is_seen |= node(search, search->edges[search->way[i]].from) == next;
        if (!is_seen && depth + 1 < CIRCLE_MAX)
            walk(search, start, next, depth + 1);
    }
}

static void circles_find(struct search *search, bool by_class)
{
    search->by_class = by_class;
    search->steps = 0;
    ids_free(&search->said);
    edges_sort(search);
    components_find(search);
    for (size_t i = 0; i < search->objects.count; i++)
        walk(search, i, i, 0);
}

void order_find(struct order *order, const struct recorded *recorded)
{
    struct search search = {.recorded = recorded, .order = order};
    links_collect(&search);
    edges_collect(&search);
    circles_find(&search, false);
    classes_join(&search);
    circles_find(&search, true);
    ids_free(&search.objects);
    ids_free(&search.said);
    free(search.class_of);
    free(search.edges);
    free(search.links);
    free(search.reach);
    free(search.first);
    free(search.component);
}

void order_free(struct order *order)
{
    free(order->circles);
}
