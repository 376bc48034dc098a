/* trace.c - recorder trace: one request, over all threads, processes, hosts. */
/* SPDX-License-Identifier: MIT */
#include "print.h"
#include "sources.h"
#include "trace_tree.h"

enum { OPTION_OTLP = OPTION_OWN };
enum { INDENT_MAX = 40 };

static void node_print(const struct trace_node *node, uint64_t first_ns)
{
    static const char *const more[] = {"", "> ", ""};
    char start[32], time[32];
    int indent =
        node->depth > INDENT_MAX / 2 ? INDENT_MAX : 2 * (int)node->depth;
    table_time_exact(node->start_ns - first_ns, start);
    table_time_exact(node->end_ns - node->start_ns, time);
    text_put(stdout, "%12s %12s  %*s%s%s", start,
             node->kind == TRACE_SENT ? ""
             : node->open             ? "open"
                                      : time,
             indent, "", more[node->kind], node->name);
    if (node->records)
        printf(" (%zu record%s)", node->records, node->records == 1 ? "" : "s");
    if (node->kind == TRACE_WORK)
        text_put(stdout, "  %s %s", /* "web1/front.4711 worker" */
                 node->of->title ? node->of->title : node->of->name,
                 node->thread);
    if (node->kind == TRACE_WORK && node->parent && node->above == TRACE_NONE)
        printf(", for span %016" PRIx64 ", which no source sent", node->parent);
    if (node->kind == TRACE_SENT)
        printf(" to span %016" PRIx64 "%s", node->span,
               node->received ? "" : ", which no source received");
    putchar('\n');
}

static void tree_print(const struct trace_tree *tree, struct call *calls)
{
    char clock[64];
    printf("%12s %12s  %s\n", "START", "TIME", "SPAN");
    for (size_t i = 0; i < tree->ordered; i++)
        node_print(&tree->nodes[tree->order[i]], tree->nodes[0].start_ns);
    for (const struct call *c = calls; c; c = c->next)
        if (sources_clock(c, clock))
            printf("the clock of %s: %s\n", c->title ? c->title : c->name,
                   clock);
}

static int run(struct call *call)
{
    const char *id = call->arguments_count ? call->arguments[0] : "";
    const char *path = call_option(call, OPTION_OTLP);
    struct trace_tree tree;
    struct output output;
    struct call *calls;
    if (!*id)
        misuse(call, "the ID of a request is missing");
    call->selection.context = id;
    calls = sources_open(call, 1);
    sources_take(calls);
    trace_tree_make(&tree, calls, id);
    if (!tree.count)
        fail(NULL, "%s: no record of these sources belongs to this request",
             id);
    if (path) {
        for (struct call *c = calls; c; c = c->next)
            if (!reader_start_realtime(&c->reader))
                fail(c, "--otlp: it has no date");
        output_open(&output, calls, path);
        trace_otlp(output.file, &tree, calls, id);
        output_close(&output);
    } else {
        tree_print(&tree, calls);
    }
    trace_tree_free(&tree);
    sources_warn(calls);
    return sources_close(calls);
}

static const struct option_row rows[] = {
    {OPTION_OTLP, "otlp", "FILE",
     "writes the tree as OTLP in JSON (OpenTelemetry) in place of printing it; "
     "- is stdout"},
    {0, NULL, NULL, NULL}};

const struct verb verb_trace = {
    .name = "trace",
    .arguments = "ID SOURCE...",
    .summary = "shows one request, over all threads, processes and hosts",
    .help =
        "ID is the id of RECORDER_CONTEXT(\"trace\", id), or a W3C "
        "traceparent. Each line is the work of one thread for the request, a "
        "span in that work, or a header that the thread sent "
        "(RECORDER_CONTEXT_SENT). Work is shown below the header that its "
        "thread received, or has a note that no source sent this header. START "
        "counts from the first line; between hosts, times are as exact as the "
        "clocks. Work or a span without a recorded end is open.",
    .rows = rows,
    .selects = true,
    .run = run};
