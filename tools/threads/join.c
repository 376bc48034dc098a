/* join.c - gives threads their recorded waits, and locks their holders. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "recorded.h"

/* --------------------------------------------------------------- threads -- */

/* The thread of a past, which is added if it is missing. */
static struct thread *thread_of(struct threads *threads,
                                const struct past *past)
{
    bool is_past = threads->source->memory->stale_order;
    size_t at = is_past ? THREAD_NONE : threads_index(threads, past->id);
    struct thread *thread = at == THREAD_NONE ? NULL : &threads->all[at];
    /* The first thread of a process stays in /proc when it has ended. */
    bool is_zombie = thread && thread->state == 'Z';
    if (!thread || (past->ended && !is_zombie) || thread->past)
        thread = threads_add(threads);
    else if (!is_zombie)
        return thread;
    if (!thread)
        return NULL;
    thread->id = thread->inside = past->id;
    thread->ended = past->ended || !is_past;
    thread->state = thread->ended ? 'X' : '?';
    thread->wait = (struct wait){.holder = THREAD_NONE, .fd = -1};
    return thread;
}

void recorded_join(struct threads *threads)
{
    struct recorded *recorded = threads->recorded;
    for (size_t i = 0; i < recorded->pasts_count; i++) {
        struct past *past = &recorded->pasts[i];
        struct thread *thread;
        past->ended |= past->is_parents;
        if (past->heir)
            continue;
        thread = thread_of(threads, past);
        if (!thread) /* there are too many */
            return;
        past->ended = thread->ended;
        past->index = (size_t)(thread - threads->all);
        thread->past = past;
        thread->number = past->number;
        if (past->is_named || !*thread->name)
            memcpy(thread->name, past->name, sizeof thread->name);
    }
}

/* ----------------------------------------------------------------- holds -- */

/* A thread that holds a lock. An array of them is sorted by locks. */
struct holding {
    uint64_t object;
    size_t thread;
    bool reads;
};
struct holdings {
    struct holding *all;
    size_t count;
    struct ids handles; /* of threads that have not ended, by pthread_t */
    size_t *by_handle, by_handle_max;
};

static int holding_compare(const void *a, const void *b)
{
    const struct holding *left = a, *right = b;
    return array_order(left->object, right->object,
                       array_order(left->thread, right->thread, 0));
}

static void holdings_collect(const struct recorded *recorded,
                             struct holdings *holdings)
{
    holdings->all = need(
        calloc(recorded->pasts_count * HOLDS_MAX + 1, sizeof *holdings->all));
    for (size_t i = 0; i < recorded->pasts_count; i++) {
        const struct past *past = &recorded->pasts[i];
        for (unsigned k = 0; k < past->holds_count; k++)
            if (past->index != THREAD_NONE)
                holdings->all[holdings->count++] = (struct holding){
                    past->holds[k].object, past->index, past->holds[k].reads};
    }
    array_sort(holdings->all, holdings->count, holding_compare);
}

/* A pthread_t may be used again: of several threads with it, the one that has
 * not ended counts, else the last. */
static void handles_collect(const struct recorded *recorded,
                            struct holdings *holdings)
{
    for (size_t i = 0; i < recorded->pasts_count; i++) {
        const struct past *past = &recorded->pasts[i];
        size_t *to;
        bool is_new;
        if (!past->handle || past->index == THREAD_NONE)
            continue;
        to = array_at_key(holdings->by_handle, &holdings->handles,
                          holdings->by_handle_max, past->handle, 0, 0, &is_new);
        if (is_new || !past->ended)
            *to = past->index;
    }
}

/* --------------------------------------------------------------- holders -- */

static void holder_add(struct threads *threads, struct wait *wait,
                       size_t holder)
{
    for (size_t i = 0; i < wait->holders_count; i++)
        if (threads->holders[wait->holders_at + i] == holder)
            return; /* a lock that it reads twice */
    *array_add(threads->holders, threads->holders_count, threads->holders_max) =
        holder;
    if (!wait->holders_count++)
        wait->holder = holder;
}

/* Adds the threads that hold an object against the waiting thread: the ended
 * ones if `ended`, else the others. */
static void holders_add(struct threads *threads, struct wait *wait,
                        const struct holdings *holdings, bool ended)
{
    size_t i = wait->object
                   ? array_count_to(holdings->all, holdings->count,
                                    sizeof *holdings->all, wait->object - 1)
                   : holdings->count;
    for (; i < holdings->count && holdings->all[i].object == wait->object;
         i++) {
        const struct holding *held = &holdings->all[i];
        if ((held->reads && wait->kind != WAIT_WRITE) ||
            threads->all[held->thread].ended != ended)
            continue;
        wait->readers += held->reads;
        holder_add(threads, wait, held->thread);
    }
}

/* True if a thread can hold another one's awaited object. A later thread
 * cannot, nor one whose held objects are all known and do not include it. */
static bool may_hold(const struct thread *thread, const struct past *waiting)
{
    const struct past *past = thread->past;
    if (!past || !waiting || past == waiting)
        return true;
    if (past->made_ns != NS_UNKNOWN && waiting->wait_ns != NS_UNKNOWN &&
        past->made_ns > waiting->wait_ns)
        return false;
    for (unsigned i = 0; i < past->holds_count; i++)
        if (past->holds[i].object == waiting->wait.object)
            return true;
    return past->holds_count == HOLDS_MAX;
}

/* The thread with the id in a lock that another thread waits for; it may have
 * ended, or have had the id before fork(). An id may be used again: a thread
 * that cannot hold the lock does not count. */
static size_t index_of(const struct threads *threads, int32_t id,
                       const struct past *waiting)
{
    const struct recorded *recorded = threads->recorded;
    size_t living = id > 0 ? threads_index(threads, id) : THREAD_NONE;
    size_t at =
        living != THREAD_NONE && may_hold(&threads->all[living], waiting)
            ? living
            : THREAD_NONE;
    for (size_t i = 0; id > 0 && at == THREAD_NONE && i < recorded->pasts_count;
         i++)
        if (recorded->pasts[i].heir && recorded->pasts[i].id == id)
            at = recorded->pasts[recorded_heir(recorded, i)].index;
    for (size_t i = threads->count; id > 0 && at == THREAD_NONE && i-- > 0;)
        if (threads->all[i].ended && threads->all[i].id == id)
            at = i;
    return at == THREAD_NONE ? living : at;
}

/* Prefers the owner in the mutex itself, if its memory is readable. The owner
 * is unsure if records name another thread, or if it is the waiting thread
 * itself, which may have just taken the mutex. */
static void owner_check(struct threads *threads, const struct thread *thread)
{
    struct wait *wait = (struct wait *)&thread->wait;
    int32_t owner = threads->source->memory->stale_order
                        ? 0
                        : wait_owner(threads, wait->object);
    size_t at = index_of(threads, owner, thread->past);
    if (wait->kind != WAIT_MUTEX || !owner || at == wait->holder ||
        (wait->holder != THREAD_NONE &&
         threads->all[wait->holder].inside == owner)) /* the id came again */
        return;
    wait->unsure = wait->holder != THREAD_NONE || at == THREAD_NONE ||
                   &threads->all[at] == thread;
    wait->holder = at;
    wait->holder_id = owner;
    wait->holders_count = 0;
}

/* True if the holder surely ended before the wait began, and no record says
 * that it holds the lock. */
static bool is_lost(const struct threads *threads, const struct thread *thread)
{
    const struct thread *holder = &threads->all[thread->wait.holder];
    const struct past *past = holder->past, *waiting = thread->past;
    return holder->ended &&
           (!thread->wait.unsure || (past && past->ended_ns != NS_UNKNOWN &&
                                     waiting->wait_ns != NS_UNKNOWN &&
                                     past->ended_ns < waiting->wait_ns));
}

static void holders_find(struct threads *threads, struct thread *thread,
                         const struct holdings *holdings)
{
    struct wait *wait = &thread->wait;
    int32_t noted = wait->holder_id;
    size_t writers, self = (size_t)(thread - threads->all), at;
    wait->holders_at = threads->holders_count;
    switch (wait->kind) {
    case WAIT_THREAD:
        at = ids_find(&holdings->handles, wait->object, 0, 0);
        if (at != IDS_NONE)
            wait->holder = holdings->by_handle[at];
        return;
    case WAIT_MUTEX:
    case WAIT_SPIN:
    case WAIT_ONCE:
    case WAIT_STREAM:
    case WAIT_READ:
    case WAIT_WRITE: break;
    default: return;
    }
    holders_add(threads, wait, holdings, false);
    if (!wait->holders_count)
        holders_add(threads, wait, holdings, true);
    /* one of several readers may have lost it to another that released it */
    writers = wait->holders_count - wait->readers;
    wait->unsure = writers > 1 || (writers && wait->readers);
    if (wait->holder == self && noted && noted != thread->inside)
        wait->unsure = true;
    if (wait->holder == THREAD_NONE && noted > 0) {
        wait->holder = index_of(threads, noted, thread->past);
        wait->unsure = true;
    }
    owner_check(threads, thread);
    if (wait->holder == THREAD_NONE)
        return;
    wait->holder_id = threads->all[wait->holder].inside;
    wait->lost = is_lost(threads, thread);
}

/* ----------------------------------------------------------------- waits -- */

unsigned recorded_frames(struct threads *threads, uint64_t number,
                         uint64_t site, uint64_t frames[FRAMES_MAX])
{
    const struct stack *stack = recorded_stack(threads->recorded, number);
    const uint64_t *from = stack && stack->count ? stack->frames : &site;
    unsigned count = stack && stack->count ? stack->count : site != 0;
    for (unsigned i = 0; i < count; i++)
        frames[i] = unwind_call(&threads->unwind, from[i]);
    return count;
}

static void wait_take(struct threads *threads, struct thread *thread)
{
    const struct past *past = thread->past;
    thread->wait = past->wait;
    thread->moved = false;
    thread->whole = true;
    thread->frames_count = recorded_frames(threads, past->wait_stack,
                                           past->wait_site, thread->frames);
}

void recorded_waits(struct threads *threads)
{
    struct holdings holdings = {0};
    holdings_collect(threads->recorded, &holdings);
    handles_collect(threads->recorded, &holdings);
    for (size_t i = 0; i < threads->count; i++) {
        struct thread *thread = &threads->all[i];
        const struct past *past = thread->past;
        if (past && past->call && thread->state == '?' && !thread->ended) {
            thread->wait.kind = WAIT_CALL;
            thread->wait.call = past->call;
            thread->wait.fd = past->call_fd;
        }
        if (!past || !past->waits || thread->ended)
            continue;
        wait_take(threads, thread);
        holders_find(threads, thread, &holdings);
    }
    ids_free(&holdings.handles);
    free(holdings.by_handle);
    free(holdings.all);
}

/* ----------------------------------------------------------------- again -- */

struct recorded *recorded_again(const struct threads *threads,
                                const char *names)
{
    const char *wrong;
    return threads->recorded
               ? recorded_look(&threads->recorded->reader, names, &wrong)
               : NULL;
}

bool recorded_still(const struct recorded *again, const struct thread *thread)
{
    const struct past *past =
        again ? recorded_past(again, thread->past->number) : NULL;
    return past && past->waits && past->wait_order == thread->past->wait_order;
}

bool recorded_holds(struct threads *threads, const struct recorded *again,
                    const struct thread *waiting, const struct thread *holder)
{
    const struct past *past = again && holder->past
                                  ? recorded_past(again, holder->past->number)
                                  : NULL;
    const struct wait *wait = &waiting->wait;
    if (wait->kind == WAIT_THREAD)
        return true; /* it has not ended, as it waits */
    for (unsigned i = 0; past && i < past->holds_count; i++)
        if (past->holds[i].object == wait->object &&
            (!past->holds[i].reads || wait->kind == WAIT_WRITE))
            return true;
    /* One that holds more than its cell has room for. */
    return past && past->holds_count == HOLDS_MAX && wait->kind == WAIT_MUTEX &&
           holder != waiting &&
           wait_owner(threads, wait->object) == holder->inside;
}
