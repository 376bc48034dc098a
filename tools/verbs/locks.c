/* locks.c - recorder locks: locks, their holders, and threads that wait. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "json.h"
#include "show.h"
#include "shown.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_DOT = OPTION_OWN, OPTION_CHECK, OPTION_BY, OPTION_IGNORE };
enum { STATUS_DEADLOCK = 3 };

/* ------------------------------------------------------------------ JSON -- */

static void locks_json(struct locks *locks)
{
    struct threads *threads = locks->threads;
    char symbol[256];
    show_deadlocks_json(stdout, threads);
    for (size_t i = 0; i < locks->count; i++) {
        const struct lock *lock = &locks->all[i];
        const struct wait *wait = lock->wait;
        bool found =
            place_variable(threads, wait->object, symbol, sizeof symbol);
        printf("{\"lock\":\"0x%llx\",\"kind\":\"%s\"",
               (unsigned long long)wait->object, show_kind(wait->kind));
        json_member(stdout, "symbol", found ? symbol : NULL);
        putchar(',');
        show_holder_json(stdout, threads, wait);
        fputs(",\"waiting\":[", stdout);
        for (size_t k = 0; k < lock->count; k++)
            printf("%s%d", k ? "," : "",
                   (int)threads->all[lock->waiting[k]].id);
        puts("]}");
    }
}

/* ------------------------------------------------------------------- dot -- */

/* Prints a text as a string of Graphviz, with Graphviz's escapes and no
 * entities of HTML: the picture has the text of a terminal. */
static void dot_string(const char *text)
{
    size_t size = strlen(text);
    text = text_shown(text, &size);
    putchar('"');
    for (size_t i = 0; i < size; i++)
        if (text[i] == '&')
            fputs("&amp;", stdout);
        else
            printf("%s%c", text[i] == '"' || text[i] == '\\' ? "\\" : "",
                   text[i]);
    putchar('"');
}

/* Threads are boxes, locks are ellipses; a deadlock is red. */
static void thread_dot(const struct thread *thread)
{
    char label[64];
    snprintf(label, sizeof label, "%d %s", (int)thread->id, thread->name);
    printf("    t%d [shape=box,label=", (int)thread->id);
    dot_string(label);
    puts(thread->in_deadlock ? ",color=red]" : "]");
}

static void lock_dot(struct threads *threads, const struct lock *lock)
{
    const struct wait *wait = lock->wait;
    char name[256], label[300];
    bool is_deadlock = false;
    for (size_t k = 0; k < lock->count; k++) {
        const struct thread *t = &threads->all[lock->waiting[k]];
        is_deadlock |= t->in_deadlock;
        printf("    t%d -> l%llx [label=waits%s]\n", (int)t->id,
               (unsigned long long)wait->object,
               t->in_deadlock ? ",color=red" : "");
    }
    show_object(threads, wait, name);
    snprintf(label, sizeof label, "%s %s", show_kind(wait->kind), name);
    printf("    l%llx [shape=ellipse,label=", (unsigned long long)wait->object);
    dot_string(label);
    puts("]");
    for (size_t i = 0, holder;
         (holder = threads_holder(threads, wait, i)) != THREAD_NONE; i++) {
        const struct thread *t = &threads->all[holder];
        printf("    l%llx -> t%d [label=\"%s\"%s]\n",
               (unsigned long long)wait->object, (int)t->id,
               wait->kind == WAIT_THREAD ? "is" : "held by",
               is_deadlock && t->in_deadlock ? ",color=red" : "");
    }
}

static void locks_dot(struct locks *locks)
{
    struct threads *threads = locks->threads;
    bool *shown = need(calloc(threads->count + 1, sizeof *shown));
    puts("digraph locks {");
    for (size_t i = 0; i < locks->count; i++) {
        const struct lock *lock = &locks->all[i];
        for (size_t k = 0; k < lock->count; k++)
            shown[lock->waiting[k]] = true;
        for (size_t k = 0, holder;
             (holder = threads_holder(threads, lock->wait, k)) != THREAD_NONE;
             k++)
            shown[holder] = true;
    }
    for (size_t i = 0; i < threads->count; i++)
        if (shown[i])
            thread_dot(&threads->all[i]);
    for (size_t i = 0; i < locks->count; i++)
        lock_dot(threads, &locks->all[i]);
    puts("}");
    free(shown);
}

/* -------------------------------------------------------------- recorded -- */

/* Takes circles out that a regular expression matches; how many. */
static size_t circles_ignore(const struct call *call, struct threads *threads,
                             struct order *order)
{
    size_t kept, ignored = 0;
    for (int k = 0; k < call->options_count; k++) {
        regex_t regex;
        if (call->options[k].key != OPTION_IGNORE)
            continue;
        if (regcomp(&regex, call->options[k].value, REG_EXTENDED | REG_NOSUB))
            misuse(call, "--ignore %s: is no regular expression",
                   call->options[k].value);
        kept = 0;
        for (size_t i = 0; i < order->count; i++)
            if (!show_circle_has(threads, &order->circles[i], &regex))
                order->circles[kept++] = order->circles[i];
        ignored += order->count - kept;
        order->count = kept;
        regfree(&regex);
    }
    return ignored;
}

static void recorded_json(struct threads *threads, const struct order *order,
                          enum contention_by by)
{
    struct contentions contentions;
    need(contention_find(&contentions, threads, by) ? threads : NULL);
    show_deadlocks_json(stdout, threads);
    for (size_t i = 0; i < order->count; i++)
        show_circle_json(stdout, threads, &order->circles[i]);
    show_contention_json(stdout, threads, &contentions, by);
    contention_free(&contentions);
}

static void locks_recorded(const struct call *call, struct threads *threads,
                           const struct order *order, enum contention_by by,
                           size_t ignored)
{
    if (call_option(call, 'j'))
        recorded_json(threads, order, by);
    else
        show_locks_recorded(stdout, threads, order, by, ignored);
}

/* ------------------------------------------------------------------ verb -- */

static enum contention_by by_option(const struct call *call)
{
    const char *by = call_option(call, OPTION_BY);
    if (!by || strcmp(by, "object") == 0)
        return BY_OBJECT;
    if (strcmp(by, "site") == 0)
        return BY_SITE;
    if (strcmp(by, "thread") == 0)
        return BY_THREAD;
    misuse(call, "--by %s: is none of object, site, thread", by);
}

/* Prints the locks of a source that recorded none: only waits of now are
 * seen. */
static void locks_outside(const struct call *call, struct locks *locks)
{
    if (call_option(call, 'j')) {
        locks_json(locks);
    } else {
        show_locks(stdout, locks);
    }
}

static int locks_run(struct call *call)
{
    static char buffer[1 << 16];
    enum contention_by by = by_option(call);
    struct threads threads;
    struct locks locks;
    struct order order = {0};
    size_t sure = 0, ignored;
    if (call_option(call, 'j') && call_option(call, OPTION_DOT))
        misuse(call, "--json or --dot");
    if (call_option(call, OPTION_BY) && call_option(call, OPTION_DOT))
        misuse(call, "--by or --dot");
    show_open(call, &threads, false);
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    locks_find(&locks, &threads);
    if (threads.recorded && !order_find(&order, threads.recorded))
        need(NULL);
    if (!threads.recorded &&
        (call_option(call, OPTION_BY) || call_option(call, OPTION_IGNORE)))
        fail(call, "recorded no locks: --by and --ignore need a recording of "
                   "recorder run");
    ignored = circles_ignore(call, &threads, &order);
    if (call_option(call, OPTION_DOT))
        locks_dot(&locks);
    else if (threads.recorded)
        locks_recorded(call, &threads, &order, by, ignored);
    else
        locks_outside(call, &locks);
    for (size_t i = 0; i < order.count; i++)
        sure += !order.circles[i].of_class;
    for (size_t i = 0; i < threads.count; i++)
        sure += threads.all[i].wait.refused || threads.all[i].wait.lost;
    sure += threads.cycles_count;
    need(threads.no_memory ? NULL : &threads);
    locks_free(&locks);
    order_free(&order);
    threads_close(&threads);
    return call_option(call, OPTION_CHECK) && sure ? STATUS_DEADLOCK : 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line: deadlocks, circles, locks"},
    {OPTION_DOT, "dot", NULL,
     "the graph of waits for Graphviz, a deadlock in red"},
    {OPTION_CHECK, "check", NULL,
     "exit with 3 if there is a deadlock, a lock whose holder has ended, or "
     "locks are taken in a circle"},
    {OPTION_BY, "by", "WHAT",
     "sum up waits by object, site or thread: of recorder run"},
    {OPTION_IGNORE, "ignore", "REGEX",
     "no circles with a lock, function or file that matches"},
    {0, NULL, NULL, NULL}};

const struct verb verb_locks = {
    .name = "locks",
    .arguments = "SOURCE",
    .summary = "shows the locks that threads wait for, and their holders",
    .help = "Works on any process or core file, with or without recorders, "
            "and stops nothing. From outside, only locks with waiting threads "
            "are visible. If recorder run started the program, also in its "
            "recording: the number and length of waits for each lock, and "
            "LOCK ORDER, locks that threads take in a circle, which may "
            "deadlock one day. recorder threads shows the stacks.",
    .rows = rows,
    .unprepared = true,
    .run = locks_run};
