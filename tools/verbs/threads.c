/* threads.c - recorder threads: waits, stacks, and locks with their holders. */
/* SPDX-License-Identifier: MIT */
#include "recorded.h"
#include "show.h"

enum {
    OPTION_STOP = OPTION_OWN,
    OPTION_LOCKS, /* this one and those below show locks */
    OPTION_ORDER,
    OPTION_DOT,
    OPTION_CHECK,
    OPTION_BY,
    OPTION_IGNORE
};
enum { STATUS_DEADLOCK = 3 };

/* ------------------------------------------------------------------ JSON -- */

/* The places of addresses, with commas between them. */
static void places_json(struct threads *threads, const uint64_t *addresses,
                        unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (const struct place *p = place_of(threads, addresses[i]); p;
             p = p->outer) {
            if (i || p != place_of(threads, addresses[0]))
                putchar(',');
            json_put(stdout,
                     "{'address':'0x%" PRIx64 "','function':%s,'symbol':%s,"
                     "'inlined':%hhd,'file':%s,'line':%d,'module':%s}",
                     p->address, p->function, p->symbol, (bool)p->outer,
                     p->file, p->line, p->module);
        }
}

static void stack_json(struct threads *threads, const struct thread *thread)
{
    json_put(stdout, ",'moved':%hhd,'whole':%hhd,'stack':[", thread->moved,
             thread->whole);
    places_json(threads, thread->frames, thread->frames_count);
    putchar(']');
}

/* The locks that others wait for, the first few of very many. */
static void holds_json(struct threads *threads, size_t which)
{
    size_t held[256];
    size_t count = show_held(threads, which, held, 256);
    fputs(",\"holds\":[", stdout);
    for (size_t i = 0; i < count && i < 256; i++)
        printf("%s\"0x%llx\"", i ? "," : "",
               (unsigned long long)threads->all[held[i]].wait.object);
    putchar(']');
}

static void held_json(struct threads *threads, const struct hold *hold)
{
    char symbol[256];
    uint64_t frames[FRAMES_MAX];
    json_put(stdout, "{'object':'0x%llx','symbol':%s,'reads':%hhd,'taken_at':[",
             (unsigned long long)hold->object,
             show_symbol(threads, hold->object, symbol), hold->reads);
    places_json(threads, frames,
                recorded_frames(threads, hold->stack, hold->site, frames));
    fputs("]}", stdout);
}

/* The past of a recorded thread. */
static void past_json(struct threads *threads, const struct past *past)
{
    const struct place *start = place_of(threads, past->start);
    uint64_t frames[FRAMES_MAX];
    json_put(stdout, ",'ended':%hhd", past->ended);
    json_count("maker", past->maker, past->is_made);
    json_put(stdout, ",'start':%s",
             past->is_made && start ? start->function : NULL);
    if (past->forked_from)
        printf(",\"forked_from\":%u", past->forked_from);
    json_put(stdout, ",'argument':'0x%llx'",
             (unsigned long long)past->argument);
    json_count("made_ns", (uint64_t)past->made_ns, past->made_ns != NS_UNKNOWN);
    fputs(",\"made_at\":[", stdout);
    places_json(
        threads, frames,
        recorded_frames(threads, past->made_stack, past->made_at, frames));
    fputs("],\"held\":[", stdout);
    for (unsigned i = 0; i < past->holds_count; i++) {
        if (i)
            putchar(',');
        held_json(threads, &past->holds[i]);
    }
    putchar(']');
}

static void thread_json(struct threads *threads, size_t which)
{
    const struct thread *thread = &threads->all[which];
    show_thread_json(threads, thread);
    holds_json(threads, which);
    stack_json(threads, thread);
    if (thread->past)
        past_json(threads, thread->past);
    puts("}");
}

/* ----------------------------------------------------------------- locks -- */

static void locks_json(struct threads *threads, const struct contentions *locks)
{
    char symbol[256];
    show_deadlocks_json(threads);
    for (size_t i = 0; i < locks->count; i++) {
        const struct contention *lock = &locks->all[i];
        const struct wait *wait = waited_for(threads, lock);
        json_put(stdout, "{'lock':'0x%llx','kind':%s,'symbol':%s",
                 (unsigned long long)wait->object, show_kind(wait->kind),
                 show_symbol(threads, wait->object, symbol));
        show_holder_json(threads, wait);
        fputs(",\"waiting\":[", stdout);
        for (size_t k = 0; k < lock->waiting_count; k++)
            printf("%s%d", k ? "," : "",
                   (int)threads->all[lock->waiting[k]].id);
        puts("]}");
    }
}

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

static void lock_dot(struct threads *threads, const struct contention *lock)
{
    const struct wait *wait = waited_for(threads, lock);
    char name[256], label[300];
    bool is_deadlock = false;
    for (size_t k = 0; k < lock->waiting_count; k++) {
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

static void locks_dot(struct threads *threads, const struct contentions *locks)
{
    bool *shown = need(calloc(threads->count + 1, sizeof *shown));
    puts("digraph locks {");
    for (size_t i = 0; i < locks->count; i++) {
        const struct contention *lock = &locks->all[i];
        for (size_t k = 0; k < lock->waiting_count; k++)
            shown[lock->waiting[k]] = true;
        for (size_t k = 0, holder;
             (holder = threads_holder(threads, waited_for(threads, lock), k)) !=
             THREAD_NONE;
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
    struct contentions contentions = {0};
    if (by != BY_NONE)
        contention_find(&contentions, threads, by);
    show_deadlocks_json(threads);
    for (size_t i = 0; i < order->count; i++)
        show_circle_json(threads, &order->circles[i]);
    show_contention_json(threads, &contentions, by);
    contention_free(&contentions);
}

static enum contention_by by_option(const struct call *call)
{
    const char *by = call_option(call, OPTION_BY);
    if (by && call_option(call, OPTION_ORDER))
        misuse(call, "--by or --order");
    if (call_option(call, OPTION_ORDER))
        return BY_NONE;
    if (!by || strcmp(by, "object") == 0)
        return BY_OBJECT;
    if (strcmp(by, "site") == 0)
        return BY_SITE;
    if (strcmp(by, "thread") == 0)
        return BY_THREAD;
    misuse(call, "--by %s: is none of object, site, thread", by);
}

/* Prints the locks: present and recorded waits. Returns the number of
 * deadlocks, circles and locks that no thread can release. */
static size_t locks_show(const struct call *call, struct threads *threads)
{
    enum contention_by by = by_option(call);
    struct contentions locks;
    struct order order = {0};
    size_t sure = threads->cycles_count, ignored;
    bool json = call_option(call, 'j');
    contention_find(&locks, threads, BY_NONE);
    if (threads->recorded)
        order_find(&order, threads->recorded);
    ignored = circles_ignore(call, threads, &order);
    if (call_option(call, OPTION_DOT))
        locks_dot(threads, &locks);
    else if (threads->recorded && json)
        recorded_json(threads, &order, by);
    else if (threads->recorded)
        show_locks_recorded(stdout, threads, &order, by, ignored);
    else if (json)
        locks_json(threads, &locks);
    else
        show_locks(stdout, threads, &locks);
    for (size_t i = 0; i < order.count; i++)
        sure += !order.circles[i].of_class;
    for (size_t i = 0; i < threads->count; i++)
        sure += threads->all[i].wait.refused || threads->all[i].wait.lost;
    contention_free(&locks);
    order_free(&order);
    return sure;
}

/* ------------------------------------------------------------------ verb -- */

/* Prints the threads, or the one that is wanted. */
static void threads_show(const struct call *call, struct threads *threads)
{
    const char *wanted = call_option(call, 't');
    size_t chosen = 0;
    for (size_t i = 0; i < threads->count; i++)
        chosen += show_chosen(&threads->all[i], wanted);
    if (!chosen)
        fail(call, "no thread is %s", wanted);
    if (!call_option(call, 'j')) {
        show_list(stdout, threads, wanted);
        return;
    }
    show_deadlocks_json(threads);
    for (size_t i = 0; i < threads->count; i++)
        if (show_chosen(&threads->all[i], wanted))
            thread_json(threads, i);
}

/* Returns true if options choose locks; ends the command if options refuse
 * each other. */
static bool of_locks(const struct call *call)
{
    bool is = false;
    for (int key = OPTION_LOCKS; key <= OPTION_IGNORE; key++)
        is |= call_option(call, key) != NULL;
    if (is && call_option(call, 't'))
        misuse(call, "--thread chooses no locks");
    if (call_option(call, OPTION_DOT) &&
        (call_option(call, 'j') || call_option(call, OPTION_BY) ||
         call_option(call, OPTION_ORDER)))
        misuse(call, "--dot goes without --json, --by and --order");
    return is;
}

static int threads_run(struct call *call)
{
    static char buffer[1 << 16];
    struct threads threads;
    bool locks = of_locks(call);
    size_t sure = 0;
    if (locks)
        by_option(call);
    call_open(call, 0);
    show_open(call, &threads, call_option(call, OPTION_STOP));
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (!threads.recorded &&
        (call_option(call, OPTION_BY) || call_option(call, OPTION_ORDER)))
        fail(call, "recorded no locks: --by and --order need a recording of "
                   "recorder run");
    if (locks)
        sure = locks_show(call, &threads);
    else
        threads_show(call, &threads);
    threads_close(&threads);
    return call_option(call, OPTION_CHECK) && sure ? STATUS_DEADLOCK : 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL,
     "one JSON object a line: deadlocks, then threads or locks"},
    {'t', "thread", "THREAD", "only a thread: number, kernel id or name"},
    {OPTION_STOP, "stop", NULL,
     "stop the process while its stacks are read, also for the stacks of "
     "running threads; some system calls then end early with EINTR"},
    {OPTION_LOCKS, "locks", NULL,
     "the locks for which threads wait, with their holders; the options below "
     "do the same"},
    {OPTION_ORDER, "order", NULL,
     "only deadlocks and LOCK ORDER, locks that threads take in a circle: of "
     "recorder run"},
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

const struct verb verb_threads = {
    .name = "threads",
    .arguments = "SOURCE",
    .summary = "shows the wait of each thread, the holder, and the stack",
    .help =
        "Works on any process or core file, with or without recorders. "
        "Threads that wait for each other in a circle come first, as a "
        "DEADLOCK: in a running process, only if none of them ran between two "
        "looks. Equal stacks are shown once. Nothing is stopped, so a running "
        "thread has no stack without --stop. If recorder run started the "
        "program, each thread is below its maker, with the place of its birth "
        "and the locks that it holds, also in its recording; other recordings "
        "show the program's snapshots of its stacks (run/snapshot.h), of "
        "other processors, too: --executable and --sysroot find its files. "
        "Names of C++ and Rust are demangled.\n\n"
        "--locks: from outside, only locks with waiting threads are visible. "
        "If recorder run started the program: the number and length of waits "
        "for each lock, and LOCK ORDER, locks that threads take in a circle, "
        "which may deadlock one day.",
    .rows = rows,
    .unprepared = true,
    .run = threads_run};
