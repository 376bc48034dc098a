/* trace_tree.c - the records of one request, of several sources, as a tree. */
/* SPDX-License-Identifier: MIT */
#include "trace_tree.h"
#include "array.h"
#include "contexts.h"
#include "labels.h"
#include "timeline.h"

/* The nodes that are open in a thread: work, then spans in it. */
struct open {
    size_t *nodes;
    size_t count, max;
    char *name; /* of the context that the work began with; or null */
};
struct making {
    struct trace_tree *tree;
    struct timeline timeline;
    struct open *lanes; /* by timeline_lane.index */
    size_t lanes_max, lanes_count;
    struct context_wanted wanted;
};

/* ----------------------------------------------------------------- nodes -- */

/* Makes an id of 64 bits, never 0, that the same record always has. */
static uint64_t span_id(const struct call *call, uint64_t order)
{
    const char *host = label_of(call, "host");
    uint64_t hash = text_digest(TEXT_DIGEST, host ? host : "",
                                host ? strlen(host) : 0);
    hash ^= call->reader.pid * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= reader_start_realtime(&call->reader);
    hash = (hash ^ order) * UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 31;
    return hash ? hash : 1;
}

static struct open *lane_of(struct making *m, const struct timeline_event *e)
{
    size_t was = m->lanes_max;
    ARRAY_NEED(m->lanes, e->lane->index + 1, m->lanes_max);
    memset(m->lanes + was, 0, (m->lanes_max - was) * sizeof *m->lanes);
    if (m->lanes_count <= e->lane->index)
        m->lanes_count = e->lane->index + 1;
    return &m->lanes[e->lane->index];
}

static size_t innermost(const struct open *lane)
{
    return lane->count ? lane->nodes[lane->count - 1] : TRACE_NONE;
}

static uint64_t date_of(const struct making *m, const struct timeline_event *e)
{
    return m->timeline.realtime_ns + e->ns;
}

static size_t node_add(struct making *m, const struct timeline_event *e,
                       enum trace_kind kind, const char *name,
                       const struct open *lane)
{
    struct trace_tree *tree = m->tree;
    struct trace_node *node = array_add(tree->nodes, tree->count, tree->max);
    *node = (struct trace_node){.kind = kind,
                                .of = m->timeline.call,
                                .name = need(strdup(name)),
                                .thread = need(strdup(e->lane->name)),
                                .start_ns = date_of(m, e),
                                .order = e->read.event.order,
                                .above = innermost(lane),
                                .below = TRACE_NONE,
                                .next = TRACE_NONE,
                                .open = kind != TRACE_SENT};
    node->end_ns = node->start_ns;
    node->span = span_id(node->of, node->order);
    return tree->count - 1;
}

static void open_push(struct open *lane, size_t node)
{
    *array_add(lane->nodes, lane->count, lane->max) = node;
}

/* Ends the work of a thread; spans that are open are not known to end. */
static void work_end(struct making *m, struct open *lane,
                     const struct timeline_event *e)
{
    if (lane->count) {
        m->tree->nodes[lane->nodes[0]].open = false;
        m->tree->nodes[lane->nodes[0]].end_ns = date_of(m, e);
    }
    lane->count = 0;
}

static uint64_t digits_of(const char *digits)
{
    char text[17] = "";
    memcpy(text, digits, 16);
    return strtoull(text, NULL, 16);
}

static void sent_add(struct making *m, const struct timeline_event *e,
                     const struct context *c, const struct open *lane)
{
    struct trace_tree *tree = m->tree;
    size_t node = node_add(m, e, TRACE_SENT, "sent", lane), *at;
    bool is_new;
    if (!c->span)
        return;
    tree->nodes[node].span = digits_of(c->span);
    at = array_at_key(tree->sent_at, &tree->sent, tree->sent_max,
                      tree->nodes[node].span, 0, 0, &is_new);
    *at = is_new ? node : *at;
}

/* ---------------------------------------------------------------- events -- */

static void change_take(struct making *m, const struct timeline_event *e,
                        const struct context *c, struct open *lane)
{
    bool is_ours = contexts_is_wanted(c, m->wanted);
    if (c->is_sent) {
        if (is_ours)
            sent_add(m, e, c, lane);
        return;
    }
    if (!is_ours && lane->name &&
        (strlen(lane->name) != c->name_size ||
         memcmp(lane->name, c->name, c->name_size) != 0))
        return; /* a change of another name does not end the work */
    work_end(m, lane, e);
    if (is_ours) {
        free(lane->name);
        lane->name = need(strndup(c->name, c->name_size));
        open_push(lane, node_add(m, e, TRACE_WORK,
                                 call_program(m->timeline.call), lane));
        if (c->span)
            m->tree->nodes[innermost(lane)].parent = digits_of(c->span);
    }
}

static void span_end(struct making *m, struct open *lane,
                     const struct timeline_event *e)
{
    for (size_t i = lane->count; i-- > 0;) {
        struct trace_node *node = &m->tree->nodes[lane->nodes[i]];
        if (node->kind != TRACE_SPAN || node->order != e->ended->order)
            continue;
        node->open = false;
        node->end_ns = date_of(m, e);
        lane->count = i;
        return;
    }
}

static void event_take(struct making *m, const struct timeline_event *e)
{
    struct reader *reader = &m->timeline.call->reader;
    struct open *lane = lane_of(m, e);
    struct trace_event *event;
    struct context c;
    size_t size;
    if (context_of(reader, &e->read, &c)) {
        change_take(m, e, &c, lane);
        return;
    }
    if (!lane->count) /* the record of the change is not chosen */
        open_push(lane, node_add(m, e, TRACE_WORK,
                                 call_program(m->timeline.call), lane));
    for (size_t i = 0; i < lane->count; i++)
        m->tree->nodes[lane->nodes[i]].end_ns = date_of(m, e);
    if (e->opens) {
        open_push(lane, node_add(m, e, TRACE_SPAN,
                                 timeline_span_name(
                                     reader_message(reader, &e->read, &size)),
                                 lane));
    } else if (e->ended) {
        span_end(m, lane, e);
    } else {
        event = array_add(m->tree->events, m->tree->events_count,
                          m->tree->events_max);
        event->node = innermost(lane);
        event->at = m->tree->events_count;
        event->ns = date_of(m, e);
        event->text = need(strdup(reader_message(reader, &e->read, &size)));
        m->tree->nodes[event->node].records++;
    }
}

/* ------------------------------------------------------------------ tree -- */

/* Work is part of the header that it names, if one of the sources has it. */
static void works_place(struct trace_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct trace_node *node = &tree->nodes[i];
        size_t at = node->kind == TRACE_WORK && node->parent
                        ? ids_find(&tree->sent, node->parent, 0, 0)
                        : IDS_NONE;
        if (at != IDS_NONE && tree->sent_at[at] != i) {
            node->above = tree->sent_at[at];
            tree->nodes[node->above].received = true;
        }
        if (node->above != TRACE_NONE)
            node->parent = tree->nodes[node->above].span;
    }
}

struct place {
    uint64_t start_ns;
    size_t node;
};
static int place_compare(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    return array_order(left->start_ns, right->start_ns,
                       array_order(left->node, right->node, 0));
}

static int event_compare(const void *a, const void *b)
{
    const struct trace_event *left = a, *right = b;
    return array_order(left->node, right->node,
                       array_order(left->at, right->at, 0));
}

/* Sorts the nodes by time, then chains the parts of each. */
static void nodes_sort(struct trace_tree *tree)
{
    struct place *places = need(calloc(tree->count + 1, sizeof *places));
    struct trace_node *sorted = need(calloc(tree->count + 1, sizeof *sorted));
    size_t *now = need(calloc(tree->count + 1, sizeof *now)), i;
    for (i = 0; i < tree->count; i++)
        places[i] = (struct place){tree->nodes[i].start_ns, i};
    array_sort(places, tree->count, place_compare);
    for (i = 0; i < tree->count; i++)
        now[places[i].node] = i;
    for (i = 0; i < tree->count; i++) {
        sorted[i] = tree->nodes[places[i].node];
        if (sorted[i].above != TRACE_NONE)
            sorted[i].above = now[sorted[i].above];
    }
    for (i = 0; i < tree->events_count; i++)
        tree->events[i].node = now[tree->events[i].node];
    array_sort(tree->events, tree->events_count, event_compare);
    for (i = tree->events_count; i-- > 0;)
        sorted[tree->events[i].node].first = i;
    for (i = tree->count; i-- > 0;)
        if (sorted[i].above != TRACE_NONE) {
            sorted[i].next = sorted[sorted[i].above].below;
            sorted[sorted[i].above].below = i;
        }
    free(tree->nodes);
    tree->nodes = sorted;
    free(places);
    free(now);
}

/* Lists the nodes below one, in the order of the tree. */
static void walk(struct trace_tree *tree, size_t root, size_t *stack)
{
    size_t count = 0;
    stack[count++] = root;
    while (count) {
        size_t i = stack[--count];
        struct trace_node *node = &tree->nodes[i];
        if (node->listed)
            continue;
        node->listed = true;
        node->depth = i != root && node->above != TRACE_NONE
                          ? tree->nodes[node->above].depth + 1
                          : 0;
        tree->order[tree->ordered++] = i;
        if (i != root && node->next != TRACE_NONE)
            stack[count++] = node->next;
        if (node->below != TRACE_NONE)
            stack[count++] = node->below;
    }
}

/* Records of a damaged file may name each other in a circle: a record
 * that no root reaches is a root, too. */
static void nodes_order(struct trace_tree *tree)
{
    size_t *stack = need(calloc(2 * tree->count + 1, sizeof *stack));
    tree->order = need(calloc(tree->count + 1, sizeof *tree->order));
    for (size_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].above == TRACE_NONE)
            walk(tree, i, stack);
    for (size_t i = 0; i < tree->count; i++)
        walk(tree, i, stack);
    free(stack);
}

void trace_tree_make(struct trace_tree *tree, struct call *calls,
                     const char *id)
{
    *tree = (struct trace_tree){0};
    for (struct call *c = calls; c; c = c->next) {
        struct making m = {.tree = tree, .wanted = contexts_wanted(id)};
        struct timeline_event e;
        timeline_open(&m.timeline, c, TIMELINE_QUIET);
        while (timeline_next(&m.timeline, &e))
            event_take(&m, &e);
        for (size_t i = 0; i < m.lanes_count; i++)
            free(m.lanes[i].nodes), free(m.lanes[i].name);
        free(m.lanes);
        timeline_close(&m.timeline);
    }
    works_place(tree);
    nodes_sort(tree);
    nodes_order(tree);
}

void trace_tree_free(struct trace_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        free(tree->nodes[i].name);
        free(tree->nodes[i].thread);
    }
    for (size_t i = 0; i < tree->events_count; i++)
        free(tree->events[i].text);
    free(tree->nodes);
    free(tree->events);
    free(tree->order);
    free(tree->sent_at);
    ids_free(&tree->sent);
}
