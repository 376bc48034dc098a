/* otlp.c - the tree of a request as OTLP in JSON, for OpenTelemetry. */
/* SPDX-License-Identifier: MIT */
#include "contexts.h"
#include "labels.h"
#include "print.h"
#include "trace_tree.h"

/* Span kinds of OpenTelemetry, by ours: SERVER, INTERNAL, CLIENT. */
static const int kinds[] = {2, 1, 3};

/* A trace id has 32 digits. Another id becomes two hashes of its bytes. */
static void trace_id(char to[33], const char *id)
{
    struct context_wanted w = contexts_wanted(id);
    if (w.size == 32 && strspn(w.text, "0123456789abcdef") >= 32) {
        snprintf(to, 33, "%.32s", w.text);
        return;
    }
    snprintf(to, 33, "%016" PRIx64 "%016" PRIx64,
             text_digest(TEXT_DIGEST, w.text, w.size),
             text_digest(1, w.text, w.size));
}

/* One attribute; a comma after it. */
static void attribute(FILE *to, const char *key, const char *text)
{
    if (text)
        json_put(to, "{'key':%s,'value':{'stringValue':%s}},", key, text);
}

/* Writes the resource that recorded: a process. */
static void resource(FILE *to, const struct call *c)
{
    fputs("{\"resource\":{\"attributes\":[", to);
    attribute(to, "host.name", label_of(c, "host"));
    attribute(to, "recorder.snapshot", label_of(c, "snapshot"));
    attribute(to, "process.executable.name", call_program(c));
    json_put(to, "{'key':'process.pid','value':{'intValue':'%" PRIu64 "'}},",
             c->reader.pid);
    json_put(to, "{'key':'service.name','value':{'stringValue':%s}}",
             label_of(c, "service") ? label_of(c, "service") : call_program(c));
    fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":\"recorder\"},\"spans\":[", to);
}

static void span(FILE *to, const struct trace_tree *tree,
                 const struct trace_node *node, const char *trace)
{
    json_put(to, "{'traceId':%s,'spanId':'%016" PRIx64 "'", trace, node->span);
    if (node->parent)
        json_put(to, ",'parentSpanId':'%016" PRIx64 "'", node->parent);
    json_put(to,
             ",'name':%s,'kind':%d,'startTimeUnixNano':'%" PRIu64
             "','endTimeUnixNano':'%" PRIu64 "','attributes':[",
             node->name, kinds[node->kind], node->start_ns, node->end_ns);
    if (node->open)
        json_put(to, "{'key':'recorder.open','value':{'boolValue':true}},");
    json_put(to, "{'key':'thread.name','value':{'stringValue':%s}}],'events':[",
             node->thread);
    for (size_t i = 0; i < node->records; i++) {
        const struct trace_event *e = &tree->events[node->first + i];
        json_put(to, i ? ",{'timeUnixNano':'%" PRIu64 "','name':%s}"
                       : "{'timeUnixNano':'%" PRIu64 "','name':%s}",
                 e->ns, e->text);
    }
    fputs("]}", to);
}

void trace_otlp(FILE *to, const struct trace_tree *tree, struct call *calls,
                const char *id)
{
    char trace[33];
    bool any = false;
    trace_id(trace, id);
    fputs("{\"resourceSpans\":[", to);
    for (const struct call *c = calls; c; c = c->next) {
        bool begun = false;
        for (size_t i = 0; i < tree->count; i++) {
            if (tree->nodes[i].of != c)
                continue;
            if (!begun && any)
                putc(',', to);
            if (!begun)
                resource(to, c);
            else
                putc(',', to);
            begun = any = true;
            span(to, tree, &tree->nodes[i], trace);
        }
        if (begun)
            fputs("]}]}", to);
    }
    fputs("]}\n", to);
}
