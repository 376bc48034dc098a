/* locks.c - recorder locks: what is waited for, who holds it, who waits. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "json.h"
#include "show.h"
#include "tables.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_DOT = OPTION_OWN, OPTION_CHECK };
enum { STATUS_DEADLOCK = 3 };

/* What threads wait for: an object, and the threads. */
struct lock {
    const struct wait *wait; /* of the first */
    size_t *waiting;
    size_t count, max;
};
struct locks {
    struct threads threads;
    struct lock *all;
    size_t count, max;
};

static bool is_lock(const struct wait *wait)
{
    return wait->kind != WAIT_NONE && wait->kind != WAIT_CALL && wait->object;
}

static void locks_collect(struct locks *locks)
{
    struct ids ids = {0};
    for (size_t i = 0; i < locks->threads.count; i++) {
        const struct wait *wait = &locks->threads.all[i].wait;
        struct lock *lock;
        bool is_new;
        size_t at;
        if (!is_lock(wait))
            continue;
        at = ids_add(&ids, wait->object, 0, 0, &is_new);
        need(at == IDS_NONE ? NULL : locks);
        locks->all = need(
            array_room(locks->all, &locks->max, ids.count, sizeof *locks->all));
        lock = &locks->all[at];
        if (is_new)
            *lock = (struct lock){.wait = wait};
        lock->waiting = need(array_room(lock->waiting, &lock->max,
                                        lock->count + 1, sizeof(size_t)));
        lock->waiting[lock->count++] = i;
    }
    locks->count = ids.count;
    ids_free(&ids);
}

/* Most threads first. */
static int lock_compare(const void *a, const void *b)
{
    const struct lock *left = a, *right = b;
    return left->count > right->count                 ? -1
           : left->count < right->count               ? 1
           : left->wait->object < right->wait->object ? -1
                                                      : 1;
}

/* ------------------------------------------------------------------ text -- */

/* "bank (0x55d0c8a04060)". */
static void lock_name(struct threads *threads, const struct wait *wait,
                      char to[300])
{
    char name[256];
    show_object(threads, wait, name);
    snprintf(to, 300, *name == '0' ? "%s" : "%s (0x%llx)", name,
             (unsigned long long)wait->object);
}

static void locks_text(struct locks *locks)
{
    int name_width = 6, holder_width = 7;
    char name[300], holder[256];
    for (size_t i = 0; i < locks->count; i++) {
        lock_name(&locks->threads, locks->all[i].wait, name);
        name_width = table_width(name, name_width);
        show_holder(&locks->threads, locks->all[i].wait, holder);
        holder_width = table_width(holder, holder_width);
    }
    if (locks->count)
        printf("%-10s %-*s  %-*s  WAITING\n", "KIND", name_width, "OBJECT",
               holder_width, "HELD BY");
    for (size_t i = 0; i < locks->count; i++) {
        const struct lock *lock = &locks->all[i];
        const struct wait *wait = lock->wait;
        lock_name(&locks->threads, wait, name);
        show_holder(&locks->threads, wait, holder);
        printf("%-10s ", show_kind(wait->kind));
        table_column(stdout, name, name_width);
        fputs("  ", stdout);
        table_column(stdout, *holder ? holder : "-", holder_width);
        printf("  %zu: ", lock->count);
        show_threads(stdout, &locks->threads, lock->waiting, lock->count);
        show_site(stdout, &locks->threads,
                  &locks->threads.all[lock->waiting[0]]);
        putchar('\n');
    }
    if (locks->count)
        putchar('\n');
    puts(locks->count
             ? "From outside only locks are seen that somebody waits for."
             : "No thread waits for a lock.");
    show_how(stdout, &locks->threads);
}

/* ------------------------------------------------------------------ JSON -- */

static void locks_json(struct locks *locks)
{
    struct threads *threads = &locks->threads;
    char symbol[256];
    show_deadlocks_json(stdout, threads);
    for (size_t i = 0; i < locks->count; i++) {
        const struct lock *lock = &locks->all[i];
        const struct wait *wait = lock->wait;
        printf("{\"lock\":\"0x%llx\",\"kind\":\"%s\",\"symbol\":",
               (unsigned long long)wait->object, show_kind(wait->kind));
        if (place_variable(threads, wait->object, symbol, sizeof symbol))
            json_string(stdout, symbol, strlen(symbol), false);
        else
            fputs("null", stdout);
        fputs(",\"holder\":", stdout);
        if (wait->holder_id > 0)
            printf("%d", wait->holder == THREAD_NONE
                             ? (int)wait->holder_id
                             : (int)threads->all[wait->holder].id);
        else
            fputs("null", stdout);
        printf(",\"readers\":%u,\"waiting\":[", wait->readers);
        for (size_t k = 0; k < lock->count; k++)
            printf("%s%d", k ? "," : "",
                   (int)threads->all[lock->waiting[k]].id);
        puts("]}");
    }
}

/* ------------------------------------------------------------------- dot -- */

/* Threads are boxes, locks are ellipses; a deadlock is red. */
static void thread_dot(const struct thread *thread)
{
    char label[64];
    snprintf(label, sizeof label, "%d %s", (int)thread->id, thread->name);
    printf("    t%d [shape=box,label=", (int)thread->id);
    json_string(stdout, label, strlen(label), false);
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
    json_string(stdout, label, strlen(label), false);
    puts("]");
    if (wait->holder != THREAD_NONE)
        printf("    l%llx -> t%d [label=\"%s\"%s]\n",
               (unsigned long long)wait->object,
               (int)threads->all[wait->holder].id,
               wait->kind == WAIT_THREAD ? "is" : "held by",
               is_deadlock && threads->all[wait->holder].in_deadlock
                   ? ",color=red"
                   : "");
}

static void locks_dot(struct locks *locks)
{
    struct threads *threads = &locks->threads;
    bool *shown = need(calloc(threads->count + 1, sizeof *shown));
    puts("digraph locks {");
    for (size_t i = 0; i < locks->count; i++) {
        const struct lock *lock = &locks->all[i];
        for (size_t k = 0; k < lock->count; k++)
            shown[lock->waiting[k]] = true;
        if (lock->wait->holder != THREAD_NONE)
            shown[lock->wait->holder] = true;
    }
    for (size_t i = 0; i < threads->count; i++)
        if (shown[i])
            thread_dot(&threads->all[i]);
    for (size_t i = 0; i < locks->count; i++)
        lock_dot(threads, &locks->all[i]);
    puts("}");
    free(shown);
}

/* ------------------------------------------------------------------ verb -- */

static int locks_run(struct call *call)
{
    bool as_json = call_option(call, 'j'),
         as_dot = call_option(call, OPTION_DOT);
    struct locks locks = {0};
    int status;
    if (as_json && as_dot)
        misuse(call, "--json or --dot");
    show_open(call, &locks.threads, false);
    locks_collect(&locks);
    qsort(locks.all, locks.count, sizeof *locks.all, lock_compare);
    if (as_json)
        locks_json(&locks);
    else if (as_dot)
        locks_dot(&locks);
    else {
        show_deadlocks(stdout, &locks.threads);
        locks_text(&locks);
    }
    status = call_option(call, OPTION_CHECK) && locks.threads.cycles_count
                 ? STATUS_DEADLOCK
                 : 0;
    for (size_t i = 0; i < locks.count; i++)
        free(locks.all[i].waiting);
    free(locks.all);
    threads_close(&locks.threads);
    return status;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line: deadlocks, then locks"},
    {OPTION_DOT, "dot", NULL,
     "the graph of waits for Graphviz, a deadlock in red"},
    {OPTION_CHECK, "check", NULL, "exit with 3 if there is a deadlock"},
    {0, NULL, NULL, NULL}};

const struct verb verb_locks = {
    .name = "locks",
    .arguments = "SOURCE",
    .summary = "shows the locks that threads wait for, and who holds them",
    .help = "Of any process or core file, with or without recorders, and "
            "nothing is stopped. A lock that nobody waits for is not seen. "
            "recorder threads shows the stacks.",
    .rows = rows,
    .unprepared = true,
    .run = locks_run};
