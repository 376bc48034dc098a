/* functions.c - recorder functions: the last calls of each thread. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "ids.h"
#include "print.h"

enum { OPTION_COUNTS = OPTION_OWN };

enum row_state {
    ROW_RECORD,   /* of another recorder: no call */
    ROW_RETURNED, /* `length_ns` long */
    ROW_OPEN,     /* at the end */
    ROW_EARLIER, /* began before the first kept call, or while calls were off */
    ROW_LEFT,    /* without a return, by longjmp() or an exception */
    ROW_LATE     /* it was left, and then it returned after all */
};
struct row {
    char *name;                   /* of the function, or "net: message" */
    int64_t ns;                   /* since the program's start */
    uint64_t length_ns, inner_ns; /* and the part of calls inside of it */
    int64_t depth;
    size_t function; /* its number; of a call */
    enum row_state state;
    bool again; /* a call of the same function is open around it */
};
struct tree {
    char title[64]; /* "T1 server (4711)" */
    unsigned number;
    int32_t id;
    struct row *rows, *earlier; /* earlier: innermost first */
    size_t count, max, earlier_count, earlier_max;
    size_t *open; /* rows, outermost first */
    size_t depth, open_max;
};
struct trees {
    struct tree *all;
    size_t max, calls;
    struct ids ids, functions; /* of threads; of functions, by address */
};

/* ----------------------------------------------------------------- rows -- */

static struct tree *tree_of(struct trees *trees, const struct reader_event *e)
{
    const struct reader_thread *thread = e->thread;
    bool is_new;
    struct tree *tree =
        array_at_key(trees->all, &trees->ids, trees->max, e->event.thread,
                     thread ? thread->first : 0, !thread, &is_new);
    if (!is_new)
        return tree;
    tree->number = e->event.thread;
    tree->id = thread ? thread->id : 0;
    snprintf(tree->title, sizeof tree->title, "T%u %s (%" PRId32 ")",
             tree->number, thread ? thread->name : "?", tree->id);
    return tree;
}

static struct row *row_add(struct tree *tree, const struct reader_event *e,
                           char *name, enum row_state state)
{
    struct row *row = array_add(tree->rows, tree->count, tree->max);
    row->name = need(name);
    row->ns = e->ns;
    row->depth = (int64_t)tree->depth - (int64_t)tree->earlier_count;
    row->state = state;
    return row;
}

static void opens(struct trees *trees, struct tree *tree,
                  const struct reader_event *e, const char *name)
{
    bool is_new;
    size_t number = ids_add(&trees->functions, e->event.caller, 0, 0, &is_new);
    struct row *row = row_add(tree, e, strdup(name), ROW_OPEN);
    need(number == IDS_NONE ? NULL : row);
    row->function = number;
    for (size_t i = tree->depth; i && !row->again; i--)
        row->again = tree->rows[tree->open[i - 1]].function == number;
    *(size_t *)array_add(tree->open, tree->depth, tree->open_max) =
        tree->count - 1;
    trees->calls++;
}

/* The reader has made calls nest: a return is of the innermost call. */
static void closes(struct tree *tree, const struct reader_event *e,
                   enum row_state state)
{
    struct row *row = &tree->rows[tree->open[--tree->depth]];
    row->state = state;
    if (e->ns > row->ns && row->ns != RECORDER_TIME_UNKNOWN_)
        row->length_ns = (uint64_t)e->ns - (uint64_t)row->ns;
    if (tree->depth)
        tree->rows[tree->open[tree->depth - 1]].inner_ns += row->length_ns;
}

static void late(struct tree *tree, const char *name)
{
    for (size_t i = tree->count; i; i--)
        if (tree->rows[i - 1].state == ROW_LEFT &&
            strcmp(tree->rows[i - 1].name, name) == 0) {
            tree->rows[i - 1].state = ROW_LATE;
            return;
        }
}

static void event_add(struct trees *trees, struct reader *reader,
                      const struct reader_event *e)
{
    struct tree *tree = tree_of(trees, e);
    size_t size;
    const char *message = reader_message(reader, e, &size);
    const char *kind = e->kind ? e->kind : "";
    char *text;
    if (strcmp(kind, "call") == 0) {
        opens(trees, tree, e, message + 2);
    } else if (strcmp(kind, "return") == 0 && tree->depth) {
        closes(tree, e, ROW_RETURNED);
    } else if (strcmp(kind, "return") == 0) {
        struct row *row =
            array_add(tree->earlier, tree->earlier_count, tree->earlier_max);
        *row = (struct row){.name = need(strdup(message + 2)),
                            .state = ROW_EARLIER};
        trees->calls++;
    } else if (strcmp(kind, "left") == 0) {
        if (tree->depth)
            closes(tree, e, ROW_LEFT);
    } else if (strcmp(kind, "late") == 0) {
        late(tree, message + 2);
    } else if (asprintf(&text, "%s: %s", e->recorder->name, message) > 0) {
        row_add(tree, e, text, ROW_RECORD);
    }
}

/* ---------------------------------------------------------------- print -- */

static void row_print(const struct row *row)
{
    static const char *const marks[] = {
        "",
        "()",
        "(), not returned",
        "(), began earlier",
        "(), left without a return",
        "(), left for other calls, returned later"};
    enum { DEPTH_SHOWN = 1000 };
    char text[32] = "";
    int64_t depth = row->depth < DEPTH_SHOWN ? row->depth : DEPTH_SHOWN;
    if (row->ns == RECORDER_TIME_UNKNOWN_ || row->state == ROW_EARLIER)
        printf("%14s", "-");
    else
        printf("%14.9f", (double)row->ns / 1e9);
    if (row->state == ROW_RETURNED)
        table_time(row->length_ns, text);
    text_put(stdout, " %10s %*s%s%s\n", text, (int)(2 * depth), "", row->name,
             marks[row->state]);
}

static void row_json(const struct tree *tree, const struct row *row)
{
    static const char *const states[] = {"record",  "returned", "open",
                                         "earlier", "left",     "late"};
    printf("{\"thread\":%u,\"id\":%" PRId32 ",\"depth\":%" PRId64
           ",\"state\":\"%s\"",
           tree->number, tree->id, row->depth, states[row->state]);
    if (row->state != ROW_EARLIER && row->ns != RECORDER_TIME_UNKNOWN_)
        printf(",\"ns\":%" PRId64, row->ns);
    if (row->state == ROW_RETURNED)
        printf(",\"length_ns\":%" PRIu64, row->length_ns);
    json_put(stdout, ",%s:%s}\n",
             row->state == ROW_RECORD ? "message" : "function", row->name);
}

/* Prints a tree: calls that began before its first row come first. */
static void tree_print(struct tree *tree, bool json)
{
    size_t earlier = tree->earlier_count;
    for (size_t i = 0; i < earlier + tree->count; i++) {
        struct row *row = i < earlier ? &tree->earlier[earlier - 1 - i]
                                      : &tree->rows[i - earlier];
        row->depth = i < earlier ? (int64_t)i : row->depth + (int64_t)earlier;
        if (json)
            row_json(tree, row);
        else
            row_print(row);
    }
}

/* --------------------------------------------------------------- counts -- */

struct count {
    const char *name;
    uint64_t calls, returned, total, own;
};

static int longer(const void *a, const void *b)
{
    const struct count *left = a, *right = b;
    return array_order(right->own, left->own,
                       array_order(right->calls, left->calls, 0));
}

static void counts_print(struct trees *trees, const struct tree *tree,
                         int width, bool json)
{
    struct count *counts =
        need(calloc(trees->functions.count + 1, sizeof *counts));
    char total[32] = "-", own[32] = "-";
    for (size_t n = 0; n < tree->count; n++) {
        const struct row *row = &tree->rows[n];
        struct count *count = &counts[row->function];
        if (row->state == ROW_RECORD)
            continue;
        count->name = row->name;
        count->calls++;
        if (row->state != ROW_RETURNED)
            continue;
        count->returned++;
        count->total += row->again ? 0 : row->length_ns;
        if (row->length_ns > row->inner_ns)
            count->own += row->length_ns - row->inner_ns;
    }
    array_sort(counts, trees->functions.count, longer);
    for (size_t n = 0; n < trees->functions.count; n++) {
        const struct count *count = &counts[n];
        if (!count->calls)
            continue;
        if (json) {
            json_put(stdout,
                     "{'thread':%u,'id':%" PRId32
                     ",'function':%s,'calls':%" PRIu64 ",'returned':%" PRIu64
                     ",'total_ns':%" PRIu64 ",'own_ns':%" PRIu64 "}\n",
                     tree->number, tree->id, count->name, count->calls,
                     count->returned, count->total, count->own);
            continue;
        }
        text_put(stdout, "%-*s %9" PRIu64 " %10s %10s %s\n", width, tree->title,
                 count->calls,
                 count->returned ? table_time(count->total, total) : "-",
                 count->returned ? table_time(count->own, own) : "-",
                 count->name);
    }
    free(counts);
}

static void tree_free(struct tree *tree)
{
    while (tree->count)
        free(tree->rows[--tree->count].name);
    while (tree->earlier_count)
        free(tree->earlier[--tree->earlier_count].name);
    free(tree->rows);
    free(tree->earlier);
    free(tree->open);
}

/* Prints the trees of all events, or only the counts of functions. False, and
 * prints nothing: there is no call among the events. */
static bool tree_show(struct call *call, bool counts, bool json)
{
    struct trees trees = {0};
    struct reader_event e;
    int width = 6;
    while (reader_next(&call->reader, &e))
        event_add(&trees, &call->reader, &e);
    for (size_t i = 0; i < trees.ids.count; i++)
        width = table_width(trees.all[i].title, width);
    if (trees.calls && counts && !json)
        printf("%-*s %9s %10s %10s FUNCTION\n", width, "THREAD", "CALLS",
               "TOTAL", "OWN");
    for (size_t i = 0; i < trees.ids.count && trees.calls; i++) {
        struct tree *tree = &trees.all[i];
        if (!counts && !json) {
            text_put(stdout, i ? "\n%s\n" : "%s\n", tree->title);
            printf("%14s %10s CALL\n", "TIME", "LENGTH");
        }
        if (counts)
            counts_print(&trees, tree, width, json);
        else
            tree_print(tree, json);
    }
    for (size_t i = 0; i < trees.ids.count; i++)
        tree_free(&trees.all[i]);
    free(trees.all);
    ids_free(&trees.ids);
    ids_free(&trees.functions);
    return trees.calls;
}

/* ------------------------------------------------------------------ verb -- */

static int run(struct call *call)
{
    const struct reader *reader = &call->reader;
    uint64_t overwritten = 0;
    bool any;
    call_open(call, 0);
    call_take(call);
    any = tree_show(call, call_option(call, OPTION_COUNTS),
                    call_option(call, 'j'));
    reader_count(&call->reader);
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->chosen &&
            strcmp(reader->recorders[i]->name, "functions") == 0) {
            call_warn_lacking(call, reader->recorders[i]);
            overwritten += reader->recorders[i]->figures.overwritten;
        }
    if (any && overwritten && call_option(call, OPTION_COUNTS))
        warn(call,
             "%" PRIu64 " records were overwritten: their calls are not "
             "counted, or have no time",
             overwritten);
    if (!any)
        warn(call, call_selects(call)
                       ? "no call is chosen"
                       : "no calls: the program includes recorder_functions.h "
                         "in one file and is compiled with "
                         "-finstrument-functions; or see recorder run "
                         "--span");
    return 0;
}

static const struct option_row rows[] = {
    {OPTION_COUNTS, "counts", NULL,
     "calls, total and own time by thread and function"},
    {'j', "json", NULL, "one JSON object a line, times in nanoseconds"},
    {0, NULL, NULL, NULL}};

const struct verb verb_functions = {
    .name = "functions",
    .arguments = "SOURCE",
    .summary = "the last calls of each thread, with its records, as a tree",
    .help =
        "Of a program that is compiled with -finstrument-functions and "
        "includes recorder_functions.h in one file. TIME counts from the "
        "program's start; LENGTH is the time from the call to its return. "
        "Records appear among the calls, by time.\n\n"
        "began earlier: the call itself was overwritten, or not recorded. left "
        "without a return: longjmp() or an exception left the function; only a "
        "later call of the thread shows that, and calls until then appear "
        "inside of the function. not returned: the function ran at the end. "
        "Functions that the compiler merged into others, or compiled without "
        "-finstrument-functions, are not shown.\n\n"
        "--counts: TOTAL is the time in a function and in all that it called, "
        "counted once where it called itself; OWN is TOTAL without the called "
        "functions. Only calls that are kept and that returned have times.",
    .rows = rows,
    .selects = true,
    .for_people = true,
    .calls = true,
    .run = run};
