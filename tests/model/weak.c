/* weak.c - a small model checker for C11 atomics. */
/* SPDX-License-Identifier: MIT */
/*
 * THE MEMORY MODEL is RC11 without sequentially consistent accesses, in its
 * operational form. A location is a list of messages, in modification order.
 * A view says, for each location, below which message one may not read any
 * more. A message carries a view; a thread has three:
 *
 *     cur   what it has seen
 *     acq   what it will have seen at its next acquire fence: cur, and the
 *           views of all messages that it read relaxed
 *     rel   what it had seen at its last release fence
 *
 *   load    any message not below cur; an acquire joins the message's view
 *   store   anywhere above cur, but not between a message and the
 *           read-modify-write that read it; the message carries cur if it is a
 *           release, else rel
 *   RMW     both, right after the message that it read: no other may have
 *           taken that place; its message carries the view of that one, too
 *           (release sequences as in C++20)
 *
 * Nothing is read before it is written: like RC11, the model has no load
 * buffering (no cycle of program order and reads-from).
 *
 * THREADS are functions without a state of their own: what a thread does next
 * follows from what its atomics answered so far. So it is run from its start,
 * with those answers, until it asks for one more; that question is remembered
 * in a tree, and the search itself never runs a thread. A state is a place in
 * the tree for each thread, three views each, and the messages. A state that
 * was met before (by a hash of 64 bits) is not entered again.
 *
 * THE REDUCTION leaves out schedules whose outcome another one has, too:
 *   - a store may come as early as its thread gets there: nobody must read it,
 *     and its place in the list is chosen freely. Fences are nobody's business.
 *   - a load may come as late as just before its thread's next write: the
 *     message stays, and nobody sees a load.
 * So a thread moves from one load or RMW to its next write, and on through all
 * stores that follow (MOVE); the loads that no write follows come last, thread
 * by thread (CLOSE). What cannot matter any more is forgotten: messages that
 * nobody can read, views that nobody will acquire, and the past of a thread
 * that says what it still knows (weak_past).
 * WEAK_SYMMETRIC: threads of one function begin in the order of their creation.
 * litmus.c and `ring ... compare` check that no outcome is lost by all this.
 */
#include "weak.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACES = 40,
    MESSAGES = 240,
    THREADS = 8,
    STEPS = 1000,
    FUNCTIONS = 128
};

enum kind {
    NOTHING,
    BEGIN,
    LOAD,
    STORE,
    ADD,
    CAS,
    FENCE,
    ALONE,
    PAST,
    CREATE,
    JOIN,
    END,
    FAIL
};
static const char *const kind_names[] = {
    "",      "",     "load",   "store", "add", "cas", "fence",
    "alone", "past", "create", "join",  "end", "fail"};
/* What a thread asks for. */
struct op {
    enum kind kind;
    int order, failure; /* memory orders */
    unsigned place;     /* or the thread to join */
    uintptr_t value, expected;
    void *(*function)(void *);
    const char *text;
};

/* A place in a thread's tree: after these answers, it asks for this. */
struct node {
    struct op op;
    uintptr_t answer;           /* that led here from the parent */
    struct node *parent, *next; /* next: of all nodes, to free them */
};
/* Where an answer leads: all of this is one hash table. */
struct edge {
    const struct node *from;
    uintptr_t answer;
    struct node *to;
};

struct view {
    unsigned char at[PLACES];
};
struct message {
    uintptr_t value, rmw; /* rmw: it stays right behind the one before */
    struct view view;
};
struct thread {
    struct node *node;
    struct function *function;
    bool begun, joins, ended;
    struct view cur, acq, rel;
};
/* The messages of place i are first[i] to first[i + 1] - 1. */
struct state {
    unsigned places, threads;
    unsigned char first[PLACES + 8]; /* a multiple of 8 bytes */
    struct thread thread[THREADS];
    struct message message[MESSAGES];
};

enum mode { ONE, MOVE, CLOSE };

/* A state that was entered, and how many executions go on from there. */
struct met {
    uint64_t hash;
    double executions;
};

static struct {
    int flags;
    bool random;
    uint64_t seed;
    unsigned sticky; /* random: how rarely the thread changes */
    unsigned last;   /* the thread that moved last */
    struct weak_result result;
    struct met *met; /* an open hash table */
    size_t met_size;
    struct {
        unsigned thread;
        const struct node *node;
        unsigned message;
        uintptr_t answer;
    } trail[STEPS];
    unsigned depth;
} search;

/* What the threads of a function do, as far as they have been run. */
enum { READS = 1, STORES = 2, ADDS = 4, ACQUIRES = 8 };
struct function {
    void *(*function)(void *);
    bool fences; /* acquire */
    unsigned char uses[PLACES];
};

/* These outlive a search. */
static struct {
    const void *place[PLACES];
    unsigned places;
    struct function function[FUNCTIONS];
    struct node root, ends; /* above all threads' trees; all ends of threads */
    struct node *nodes;
    struct edge *edge;
    size_t edges, edges_size;
    bool learned; /* a function does more than it was known to do */
} known;

static void die(const char *text)
{
    fprintf(stderr, "weak: %s\n", text);
    exit(2);
}

/* ---------------------------------------------------- running a thread -- */

static bool acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL;
}
static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL;
}

static struct {
    jmp_buf out;
    struct node *path[STEPS]; /* whose answers are known */
    unsigned at, length;
    struct op op; /* the first question without an answer */
} run;

static uintptr_t ask(struct op op)
{
    if (run.at < run.length) {
        struct node *next = run.path[run.at++];
        if (next->parent->op.kind != op.kind ||
            next->parent->op.place != op.place ||
            next->parent->op.value != op.value)
            die("a thread does not repeat itself");
        return next->answer;
    }
    run.op = op;
    longjmp(run.out, 1);
}

static unsigned place_of(const void *p)
{
    unsigned i;
    for (i = 0; i < known.places; i++)
        if (known.place[i] == p)
            return i;
    if (i == PLACES)
        die("too many places");
    known.place[known.places++] = p;
    return i;
}

uintptr_t weak_load(const void *p, int order)
{
    return ask((struct op){.kind = LOAD, .place = place_of(p), .order = order});
}
void weak_store(void *p, uintptr_t value, int order)
{
    ask((struct op){
        .kind = STORE, .place = place_of(p), .value = value, .order = order});
}
uintptr_t weak_add(void *p, uintptr_t value, int order)
{
    return ask((struct op){
        .kind = ADD, .place = place_of(p), .value = value, .order = order});
}
bool weak_cas(void *p, void *expected, uintptr_t desired, int success,
              int failure)
{
    uintptr_t *want = expected, had = *want;
    *want = ask((struct op){.kind = CAS,
                            .place = place_of(p),
                            .expected = had,
                            .value = desired,
                            .order = success,
                            .failure = failure});
    return *want == had;
}
void weak_fence(int order) { ask((struct op){.kind = FENCE, .order = order}); }
void weak_alone(void *p)
{
    ask((struct op){.kind = ALONE, .place = place_of(p)});
}
void weak_begin(weak_thread *thread, void *(*function)(void *), void *argument)
{
    *thread = (unsigned)ask((struct op){
        .kind = CREATE, .function = function, .value = (uintptr_t)argument});
}
void weak_join(weak_thread thread, void **result)
{
    *result = (void *)ask((struct op){.kind = JOIN, .place = thread});
}
void weak_past(uintptr_t a, uintptr_t b)
{
    ask((struct op){.kind = PAST, .value = a, .expected = b});
}
void weak_fail(const char *text)
{
    ask((struct op){.kind = FAIL, .text = text});
}

/* Runs a thread until it asks what run.path does not answer. */
static void run_thread(const struct op *begin)
{
    void *result;
    if (setjmp(run.out))
        return;
    result = begin->function((void *)begin->value);
    run.op = (struct op){.kind = END, .value = (uintptr_t)result};
}

static struct function *function_of(void *(*function)(void *))
{
    struct function *f = known.function;
    while (f->function && f->function != function)
        if (++f == known.function + FUNCTIONS)
            die("too many functions");
    f->function = function;
    return f;
}

/* Adds what one op does to what is known of its function. */
static void learn(struct function *f, const struct op *op)
{
    unsigned char uses = f->uses[op->place];
    bool fences = f->fences || (op->kind == FENCE && acquires(op->order));
    if (op->kind == LOAD || op->kind == CAS)
        uses |= READS;
    if (op->kind == STORE || op->kind == CAS || op->kind == ALONE)
        uses |= STORES;
    if (op->kind == ADD)
        uses |= ADDS;
    if ((op->kind == LOAD || op->kind == ADD || op->kind == CAS) &&
        (acquires(op->order) || acquires(op->failure)))
        uses |= ACQUIRES;
    known.learned |= fences != f->fences;
    f->fences = fences;
    if (op->kind == JOIN)
        return;
    known.learned |= uses != f->uses[op->place];
    f->uses[op->place] = uses;
}

/* Finds out what the thread that `node` belongs to asks for there. */
static void fill(struct node *node)
{
    struct node *n;
    unsigned i = 0;
    for (n = node; n->parent->op.kind != BEGIN; n = n->parent)
        i++;
    if (i > STEPS)
        die("a thread without an end");
    run.at = 0;
    run.length = i;
    for (n = node; i > 0; n = n->parent)
        run.path[--i] = n;
    run_thread(&n->parent->op);
    node->op = run.op;
    learn(function_of(n->parent->op.function), &node->op);
}

/* The edge from `node` with this answer; its `to` is null if it is new. */
static struct edge *edge(const struct node *node, uintptr_t answer)
{
    struct edge *old = known.edge, *e;
    size_t size = known.edges_size, i;
    if (2 * known.edges >= size) {
        known.edges_size = size ? 2 * size : 1 << 12;
        known.edge = calloc(known.edges_size, sizeof *old);
        known.edges = 0;
        if (!known.edge)
            die("no memory");
        for (i = 0; i < size; i++)
            if (old[i].from)
                edge(old[i].from, old[i].answer)->to = old[i].to;
        free(old);
    }
    i = ((uintptr_t)node ^ answer * 0x9fb21c651e98df25u) * 0xbf58476d1ce4e5b9u;
    for (i ^= i >> 32;; i++) {
        e = &known.edge[i & (known.edges_size - 1)];
        if (e->from == node && e->answer == answer)
            return e;
        if (!e->from)
            break;
    }
    known.edges++;
    e->from = node;
    e->answer = answer;
    return e;
}

/* The node below `node` with this answer, or a new one without a question. */
static struct node *child(struct node *node, uintptr_t answer)
{
    struct edge *e = edge(node, answer);
    if (e->to)
        return e->to;
    e->to = calloc(1, sizeof *e->to);
    if (!e->to)
        die("no memory");
    e->to->answer = answer;
    e->to->parent = node;
    e->to->next = known.nodes;
    known.nodes = e->to;
    return e->to;
}

/* Where a thread gets from `node` with this answer. All pasts of one value
 * lead to the same node, on the path of the first that came there. */
static struct node *next_node(struct node *node, uintptr_t answer)
{
    struct node *n, *top = node;
    struct edge *past;
    if (node->op.kind == PAST && search.flags & WEAK_REDUCED) {
        while (top->op.kind != BEGIN)
            top = top->parent;
        top = child(child(top, 1), node->op.value);
        n = child(node, answer);
        past = edge(top, node->op.expected);
        if (!past->to)
            past->to = n;
        n = past->to;
    } else {
        n = child(node, answer);
    }
    if (n->op.kind == NOTHING)
        fill(n);
    return n;
}

/* The first question of a thread. */
static struct node *first_node(void *(*function)(void *), uintptr_t argument)
{
    struct node *n = child(child(&known.root, (uintptr_t)function), argument);
    n->op.kind = BEGIN;
    n->op.function = function;
    n->op.value = argument;
    return next_node(n, 0);
}

/* How a thread got to its end does not matter any more: one node for each
 * result. */
static struct node *end_node(uintptr_t result)
{
    struct node *n = child(&known.ends, result);
    n->op.kind = END;
    n->op.value = result;
    return n;
}

/* Random executions seldom meet again: their trees only take memory. */
static void forget_nodes(void)
{
    struct node *n, *next;
    for (n = known.nodes; n; n = next) {
        next = n->next;
        free(n);
    }
    free(known.edge);
    known.nodes = NULL;
    known.edge = NULL;
    known.edges = known.edges_size = 0;
}

/* ------------------------------------------------------ views, messages -- */

static void join(struct view *to, const struct view *with)
{
    unsigned i;
    for (i = 0; i < PLACES; i++)
        if (to->at[i] < with->at[i])
            to->at[i] = with->at[i];
}
static void copy(struct state *to, const struct state *from)
{
    memcpy(to, from,
           offsetof(struct state, message) +
               from->first[from->places] * sizeof(struct message));
}
static unsigned count(const struct state *s, unsigned place)
{
    return s->first[place + 1] - (unsigned)s->first[place];
}
static struct message *message(struct state *s, unsigned place, unsigned i)
{
    return &s->message[s->first[place] + i];
}

/* Adds `by` to what all views say of a place from message i on; a removal
 * (by < 0) leaves 0 where the message itself is gone. */
static void renumber(struct state *s, unsigned place, unsigned i, int by)
{
    struct view *view[3];
    unsigned k, j;
    for (k = 0; k < s->threads + s->first[s->places]; k++) {
        unsigned m = k - s->threads;
        view[0] = k < s->threads ? &s->thread[k].cur : &s->message[m].view;
        view[1] = k < s->threads ? &s->thread[k].acq : NULL;
        view[2] = k < s->threads ? &s->thread[k].rel : NULL;
        for (j = 0; j < 3 && view[j]; j++) {
            int at = view[j]->at[place];
            if (at >= (int)i)
                view[j]->at[place] = (unsigned char)(at + by);
            else if (by < 0)
                view[j]->at[place] = 0;
        }
    }
}

/* A new message, the i-th of its place. */
static struct message *insert(struct state *s, unsigned place, unsigned i)
{
    struct message *m = message(s, place, i);
    unsigned k, end = s->first[s->places];
    if (end == MESSAGES)
        die("too many messages");
    if (i < count(s, place))
        renumber(s, place, i, 1);
    memmove(m + 1, m, (size_t)(&s->message[end] - m) * sizeof *m);
    for (k = place + 1; k <= s->places; k++)
        s->first[k]++;
    return m;
}

/* Gives places that were met since their first message: the value in memory. */
static void add_places(struct state *s)
{
    while (s->places < known.places) {
        struct message *m = &s->message[s->first[s->places]];
        memset(m, 0, sizeof *m);
        memcpy(&m->value, known.place[s->places], sizeof m->value);
        s->places++;
        s->first[s->places] = (unsigned char)(s->first[s->places - 1] + 1);
    }
}

/* Removes what cannot matter any more, so that more states are the same:
 *   - messages that no thread can read or write after. Who only adds to a
 *     place goes to its first message that no addition has taken yet. One that
 *     waits for all others will see the last messages, whatever else.
 *   - the views of messages that no thread will acquire.
 * What a thread will do is known from what its function has ever done. */
static void forget(struct state *s)
{
    unsigned place, t, k;
    const struct thread *first = &s->thread[0];
    if (!first->joins && first->node->op.kind != JOIN)
        return; /* it may begin threads that do more than itself */
    for (place = 0; place < s->places; place++) {
        unsigned end = count(s, place), low = end - 1;
        bool acquired = false;
        for (t = 0; t < s->threads; t++) {
            const struct thread *thread = &s->thread[t];
            unsigned uses = thread->function->uses[place];
            unsigned at = thread->cur.at[place];
            if (thread->ended || thread->node->op.kind == JOIN || uses == 0)
                continue;
            if (uses & ACQUIRES ||
                (uses & (READS | ADDS) && thread->function->fences))
                acquired = true;
            if ((uses & (READS | STORES)) == 0)
                while (at + 1 < end && message(s, place, at + 1)->rmw)
                    at++;
            if (low > at)
                low = at;
        }
        if (low > 0) {
            memmove(message(s, place, 0), message(s, place, low),
                    (s->first[s->places] - s->first[place] - low) *
                        sizeof(struct message));
            for (k = place + 1; k <= s->places; k++)
                s->first[k] = (unsigned char)(s->first[k] - low);
            renumber(s, place, low, -(int)low);
            message(s, place, 0)->rmw = 0;
        }
        for (k = 0; k < end - low && !acquired; k++) {
            struct message *m = message(s, place, k);
            memset(&m->view, 0, sizeof m->view);
            m->view.at[place] = (unsigned char)k;
        }
    }
    for (t = 0; t < s->threads; t++) {
        struct thread *thread = &s->thread[t];
        if (thread->ended || !thread->function->fences)
            memset(&thread->acq, 0, sizeof thread->acq);
        if (thread->ended)
            memset(&thread->cur, 0, sizeof thread->cur);
        if (thread->ended)
            memset(&thread->rel, 0, sizeof thread->rel);
    }
}

/* --------------------------------------------------------- what ops do -- */

static void does_load(struct state *s, struct thread *t, unsigned place,
                      unsigned i, int order)
{
    const struct message *m = message(s, place, i);
    t->cur.at[place] = (unsigned char)i;
    join(&t->acq, &m->view);
    if (acquires(order))
        join(&t->cur, &m->view);
    join(&t->acq, &t->cur);
}
/* `read` is the view of the message that a read-modify-write read, or null. */
static void does_store(struct state *s, struct thread *t, unsigned place,
                       unsigned i, int order, uintptr_t value,
                       const struct view *read)
{
    struct message *m = insert(s, place, i);
    t->cur.at[place] = t->acq.at[place] = (unsigned char)i;
    memset(m, 0, sizeof *m);
    m->value = value;
    m->rmw = read != NULL;
    m->view = releases(order) ? t->cur : t->rel;
    if (read)
        join(&m->view, read);
    m->view.at[place] = (unsigned char)i;
}
/* An RMW on message i: its message becomes i + 1. */
static void does_rmw(struct state *s, struct thread *t, unsigned place,
                     unsigned i, int order, uintptr_t value)
{
    struct view read;
    does_load(s, t, place, i, order);
    read = message(s, place, i)->view;
    does_store(s, t, place, i + 1, order, value, &read);
}

/* forget() drops the views of ended threads; but who has joined all of them has
 * seen the last message everywhere. */
static void does_join(struct state *s, struct thread *t, unsigned other)
{
    unsigned i, running = 0;
    join(&t->cur, &s->thread[other].cur);
    for (i = 0; i < s->threads; i++)
        running += !s->thread[i].ended;
    for (i = 0; i < s->places && running == 1; i++)
        if (search.flags & WEAK_REDUCED)
            t->cur.at[i] = (unsigned char)(count(s, i) - 1);
    join(&t->acq, &t->cur);
    t->joins = true;
}

/* --------------------------------------------------------- the search -- */

static void visit(const struct state *s);
static void step(const struct state *s, unsigned t, enum mode mode, bool wrote);

static uint64_t random_number(void) /* splitmix64 */
{
    uint64_t z = search.seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool waits(const struct state *s, unsigned t)
{
    const struct op *op = &s->thread[t].node->op;
    return op->kind == JOIN && !s->thread[op->place].ended;
}

/* Lets the remaining threads end, from `t` on, by loads only. */
static void finish(const struct state *s, unsigned t)
{
    unsigned k;
    for (k = t; k < s->threads; k++)
        if (s->thread[k].node->op.kind == ADD)
            return; /* that one will not */
    while (t < s->threads && (s->thread[t].ended || waits(s, t)))
        t++;
    if (t == s->threads)
        visit(s);
    else
        step(s, t, CLOSE, false);
}

static void fails(const char *text)
{
    unsigned i;
    search.result.executions++;
    search.result.failure = text;
    for (i = 0; (search.flags & WEAK_TRACE) && i < search.depth; i++)
        printf("    %u %-6s place %2u: message %u, %#lx -> %#lx\n",
               search.trail[i].thread,
               kind_names[search.trail[i].node->op.kind],
               search.trail[i].node->op.place, search.trail[i].message,
               (unsigned long)search.trail[i].answer,
               (unsigned long)search.trail[i].node->op.value);
}

/* Goes on from `s`, where thread t has just been answered. */
static void answered(struct state *s, unsigned t, unsigned i, uintptr_t answer,
                     enum mode mode, bool wrote)
{
    struct node *node = s->thread[t].node;
    s->thread[t].begun = true;
    if (search.depth == STEPS)
        die("an execution without an end");
    search.trail[search.depth].thread = t;
    search.trail[search.depth].node = node;
    search.trail[search.depth].message = i;
    search.trail[search.depth].answer = answer;
    search.depth++;
    s->thread[t].node = next_node(node, answer);
    add_places(s);
    if (mode == ONE)
        visit(s);
    else
        step(s, t, mode, wrote);
    search.depth--;
}

/* Thread t reads a message, or puts one after it: each that it may in turn, or
 * one at random. */
static void step_message(const struct state *s, unsigned t, enum mode mode,
                         bool wrote)
{
    const struct op *op = &s->thread[t].node->op;
    unsigned place = op->place, low = s->thread[t].cur.at[place], i, k;
    unsigned end = count(s, place), choices = 0, choice[MESSAGES];
    for (i = low; i < end; i++) {
        const struct message *m = message((struct state *)s, place, i);
        bool taken = i + 1 < end && m[1].rmw;
        bool reads =
            op->kind == LOAD || (op->kind == CAS && m->value != op->expected);
        if ((reads || !taken) && (reads || mode != CLOSE))
            choice[choices++] = i;
    }
    if (op->kind == ALONE && low + 1 != end) {
        fails("two threads write at once where each must be alone");
        return;
    }
    if (search.random) {
        /* The newest message is what a machine reads nearly always. */
        choice[0] = choice[random_number() % 2 ? choices - 1
                                               : random_number() % choices];
        choices = 1;
    }
    for (k = 0; k < choices && !search.result.failure; k++) {
        struct state n;
        struct thread *thread = &n.thread[t];
        uintptr_t had;
        copy(&n, s);
        i = choice[k];
        had = message(&n, place, i)->value;
        if (op->kind == LOAD || (op->kind == CAS && had != op->expected)) {
            does_load(&n, thread, place, i,
                      op->kind == CAS ? op->failure : op->order);
            answered(&n, t, i, had, mode, wrote);
            continue;
        }
        if (op->kind == ADD)
            does_rmw(&n, thread, place, i, op->order, had + op->value);
        else if (op->kind == CAS)
            does_rmw(&n, thread, place, i, op->order, op->value);
        else
            does_store(&n, thread, place, i + 1, op->order, op->value, NULL);
        answered(&n, t, i + 1, op->kind == ADD || op->kind == CAS ? had : 0,
                 mode, true);
    }
}

/* The reduction takes it that a thread joins all others before it goes on. */
static void must_be_last(const struct state *s, unsigned t)
{
    unsigned k;
    for (k = 0; k < s->threads; k++)
        if (k != t && !s->thread[k].ended)
            die("the program must join all threads, and then go on");
}

/* Thread t does what it asks for, and in MOVE and CLOSE goes on from there. */
static void step(const struct state *s, unsigned t, enum mode mode, bool wrote)
{
    const struct op *op = &s->thread[t].node->op;
    struct state n;
    struct thread *thread = &n.thread[t];
    uintptr_t answer = 0;
    if (op->order == __ATOMIC_SEQ_CST || op->order == __ATOMIC_CONSUME)
        die("this memory order is not in the model");
    if (s->thread[t].joins && op->kind != JOIN)
        must_be_last(s, t);
    switch (op->kind) {
    case NOTHING:
    case BEGIN: return;
    case LOAD:
    case ADD:
    case CAS:
        if (mode == MOVE && wrote)
            visit(s);
        else
            step_message(s, t, mode, wrote);
        return;
    case STORE:
    case ALONE:
        if (mode != CLOSE)
            step_message(s, t, mode, wrote);
        return;
    case FAIL: fails(op->text); return;
    case END:
        if (mode == MOVE && !wrote)
            return; /* CLOSE does that, with more to read */
        copy(&n, s);
        thread->ended = true;
        thread->node = end_node(op->value);
        if (mode == CLOSE)
            finish(&n, t);
        else
            visit(&n);
        return;
    case FENCE:
        copy(&n, s);
        if (acquires(op->order))
            thread->cur = thread->acq;
        if (releases(op->order))
            thread->rel = thread->cur;
        break;
    case PAST: copy(&n, s); break;
    case JOIN:
        if (waits(s, t)) {
            if (mode == CLOSE)
                finish(s, t);
            else
                visit(s);
            return;
        }
        copy(&n, s);
        does_join(&n, thread, op->place);
        answer = n.thread[op->place].node->op.value;
        break;
    case CREATE:
        if (mode == CLOSE)
            return;
        copy(&n, s);
        if (n.threads == THREADS)
            die("too many threads");
        memset(&n.thread[n.threads], 0, sizeof *thread);
        n.thread[n.threads].function = function_of(op->function);
        n.thread[n.threads].node = first_node(op->function, op->value);
        n.thread[n.threads].cur = n.thread[n.threads].acq = thread->cur;
        answer = n.threads++;
        wrote = true;
        break;
    }
    answered(&n, t, 0, answer, mode, wrote);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const uint64_t *word = bytes;
    uint64_t two[2] = {hash, ~hash}; /* at once: a multiplication takes time */
    size_t i;
    for (i = 0; i < size / sizeof *word; i++) {
        two[i & 1] = (two[i & 1] ^ word[i]) * 0x9fb21c651e98df25u;
        two[i & 1] ^= two[i & 1] >> 32;
    }
    return two[0] * 0xbf58476d1ce4e5b9u + two[1];
}

/* The entry of a state in the table; one with a hash of 0 is free. */
static struct met *met(uint64_t hash)
{
    struct met *old = search.met;
    size_t size = search.met_size, i;
    if (2 * search.result.states >= size) {
        search.met_size = size ? 2 * size : 1 << 16;
        search.met = calloc(search.met_size, sizeof *old);
        if (!search.met)
            die("no memory");
        for (i = 0; i < size; i++)
            if (old[i].hash)
                *met(old[i].hash) = old[i];
        free(old);
    }
    for (i = hash & (search.met_size - 1);
         search.met[i].hash && search.met[i].hash != hash;
         i = (i + 1) & (search.met_size - 1))
        ;
    return &search.met[i];
}

static uint64_t hash_of(const struct state *s)
{
    uint64_t hash = mix(0, s->thread, s->threads * sizeof *s->thread);
    hash = mix(hash, s->first, sizeof s->first);
    hash = mix(hash, s->message, s->first[s->places] * sizeof *s->message);
    return hash + (hash == 0);
}

/* May thread t be the next to move? */
static bool may_move(const struct state *s, unsigned t)
{
    unsigned k;
    if (s->thread[t].ended || waits(s, t))
        return false;
    if (s->thread[t].begun || !(search.flags & WEAK_SYMMETRIC))
        return true;
    for (k = 1; k < t; k++)
        if (s->thread[k].function == s->thread[t].function &&
            !s->thread[k].begun)
            return false;
    return true;
}

/* Goes on from a state with every thread that may move. */
static void explore(const struct state *s)
{
    bool reduced = search.flags & WEAK_REDUCED;
    unsigned t;
    for (t = 0; t < s->threads && !search.result.failure; t++)
        if (may_move(s, t))
            step(s, t, reduced ? MOVE : ONE, false);
    if (reduced && !search.result.failure)
        finish(s, 0);
}

/* Goes on with one of them: mostly the same as before. */
static void explore_one(const struct state *s)
{
    unsigned t, running = 0, thread[THREADS];
    for (t = 0; t < s->threads; t++)
        if (may_move(s, t))
            thread[running++] = t;
    if (search.depth == 0 || random_number() % search.sticky == 0 ||
        !may_move(s, search.last))
        search.last = thread[random_number() % running];
    step(s, search.last, ONE, false);
}

/* Explores what can follow after this state. */
static void visit(const struct state *s)
{
    double before = search.result.executions;
    struct met *entry;
    struct state n;
    uint64_t hash;
    if (search.result.failure || (known.learned && search.flags & WEAK_REDUCED))
        return;
    if (s->thread[0].ended) {
        must_be_last(s, 0);
        search.result.executions++;
        search.result.outcomes |= (uint64_t)1
                                  << (s->thread[0].node->op.value & 63);
        return;
    }
    if (search.random) {
        explore_one(s);
        return;
    }
    copy(&n, s);
    if (search.flags & WEAK_REDUCED)
        forget(&n);
    hash = hash_of(&n);
    entry = met(hash);
    if (entry->hash) {
        search.result.executions += entry->executions;
        return;
    }
    entry->hash = hash;
    search.result.states++;
    explore(&n);
    met(hash)->executions = search.result.executions - before;
}

static int (*program_now)(void);
static void *program_thread(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)program_now();
}

static void begin(struct state *s, int (*program)(void))
{
    memset(s, 0, sizeof *s);
    program_now = program;
    s->threads = 1;
    s->thread[0].function = function_of(program_thread);
    s->thread[0].node = first_node(program_thread, (uintptr_t)program);
    add_places(s);
}

static void prepare(int flags)
{
    free(search.met);
    memset(&search, 0, sizeof search);
    search.flags = flags;
}

struct weak_result weak_explore(int (*program)(void), int flags)
{
    struct state s;
    do {
        known.learned = false;
        prepare(flags);
        begin(&s, program);
        visit(&s);
    } while (known.learned && flags & WEAK_REDUCED);
    return search.result;
}

struct weak_result weak_random(int (*program)(void), int flags,
                               unsigned long count, uint64_t seed)
{
    struct state s;
    prepare(flags);
    search.random = true;
    search.flags &= ~WEAK_REDUCED;
    search.seed = seed;
    while (search.result.executions < (double)count && !search.result.failure) {
        search.sticky = 1u << random_number() % 6;
        search.depth = 0;
        if (known.edges > 1000000)
            forget_nodes();
        begin(&s, program);
        visit(&s);
    }
    return search.result;
}
