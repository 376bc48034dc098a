/* trace_tree.h - the records of one request, of several sources, as a tree. */
/* SPDX-License-Identifier: MIT */
/*
A node is the time in which a thread works for the request (TRACE_WORK, from
RECORDER_CONTEXT to the thread's next context), a span inside that time
(TRACE_SPAN), or a header that the thread sends (TRACE_SENT,
RECORDER_CONTEXT_SENT). Work belongs below the sent header whose span it names.
*/
#pragma once

#include "command.h"
#include "ids.h"

enum trace_kind { TRACE_WORK, TRACE_SPAN, TRACE_SENT };
#define TRACE_NONE SIZE_MAX

struct trace_node {
    uint64_t start_ns, end_ns; /* since 1970, if the source has a date */
    enum trace_kind kind;
    struct call *of;
    char *name, *thread;
    uint64_t order;        /* of its first record */
    uint64_t span, parent; /* ids; parent 0: none */
    size_t above;          /* the node that it is part of, or TRACE_NONE */
    size_t below, next;    /* its first part, and the next part of `above` */
    size_t first, records; /* events in it, which neither begin nor end nodes */
    bool open;             /* its end is not recorded: end_ns is the last record */
    bool received;         /* of TRACE_SENT: some work names it */
    size_t depth;
    bool listed;           /* in the tree's order */
};
struct trace_event { /* a record inside of a node */
    uint64_t node, at, ns; /* at: as they were read */
    char *text;
};
struct trace_tree {
    struct trace_node *nodes; /* by start_ns */
    size_t count, max;
    size_t *order, ordered; /* the nodes, each before its parts */
    struct trace_event *events; /* by node, then as they were recorded */
    size_t events_count, events_max;
    struct ids sent; /* span ids, */
    size_t *sent_at; /* and their nodes */
    size_t sent_max;
};

/* Reads the chosen records of all sources, after sources_take(). */
void trace_tree_make(struct trace_tree *, struct call *calls, const char *id);
void trace_tree_free(struct trace_tree *);

/* Writes them as OTLP in JSON: a TracesData of opentelemetry-proto. */
void trace_otlp(FILE *, const struct trace_tree *, struct call *calls,
                const char *id);
