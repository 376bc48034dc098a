/* guards.c - holders of locks that note none, found by their stacks. */
/* SPDX-License-Identifier: MIT */
/*
   A thread that holds one of malloc's locks is in a function of malloc; a
   thread that initialises a static variable of C++ is in the function that
   called the initialiser. If all stacks are known and exactly one thread is in
   that function, it is the holder: another thread, or the waiter itself,
   further out in its stack.
*/
#include "threads.h"

enum { INNERMOST = 6 };

static bool is_of_malloc(const struct place *place)
{
    static const char *const names[] = {
        "malloc",        "libc_malloc",   "int_malloc",  "int_free",
        "int_realloc",   "int_memalign",  "libc_free",   "libc_calloc",
        "libc_realloc",  "libc_memalign", "sysmalloc",   "free",
        "calloc",        "cfree",         "realloc",     "memalign",
        "aligned_alloc", "posix_m",       "tcache_init", "arena_get",
        "systrim",       "unlink_chunk"};
    const char *name = place ? place_plain(place->function) : "";
    if (!place || !place->module || !place_is_libc(place->module))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* True if a place is in a function, or in one that was inlined into it. */
static bool is_in(const struct place *place, const struct place *function)
{
    for (; place; place = place->outer)
        if (place->function && strcmp(place->function, function->function) == 0)
            return true;
    return false;
}

/* A wait whose holder is looked for. */
struct search {
    struct threads *threads;
    const struct wait *wait;
    const struct place *function; /* that initialises; null: malloc's */
};

/* True if a thread is in that function, from a frame on. */
static bool is_there(const struct search *s, const struct thread *thread,
                     unsigned from)
{
    for (unsigned i = from; i < thread->frames_count; i++) {
        const struct place *place = place_of(s->threads, thread->frames[i]);
        if (s->function ? is_in(place, s->function) : is_of_malloc(place))
            return true;
    }
    return false;
}

/* The first frame of a thread that counts. The frames of a wait for this lock
 * do not count, nor does the function that called these. */
static unsigned frames_beyond(const struct search *s,
                              const struct thread *thread)
{
    unsigned i = 0;
    if (thread->wait.kind != s->wait->kind ||
        thread->wait.object != s->wait->object)
        return 0;
    for (; i < thread->frames_count; i++) {
        const struct place *place = place_of(s->threads, thread->frames[i]);
        if (s->function
                ? is_in(place, s->function)
                : place && place->module && !place_is_libc(place->module))
            return i + 1;
    }
    return i;
}

/* The only thread in that function. THREAD_NONE: there are several, or a stack
 * is unknown. */
static size_t holder_find(const struct search *s)
{
    size_t found = THREAD_NONE;
    for (size_t i = 0; i < s->threads->count; i++) {
        const struct thread *thread = &s->threads->all[i];
        if (!thread->frames_count && thread->state != 'Z')
            return THREAD_NONE;
        if (!is_there(s, thread, frames_beyond(s, thread)))
            continue;
        if (found != THREAD_NONE)
            return THREAD_NONE;
        found = i;
    }
    return found;
}

/* Finds the kind of a futex without a function of threads. False: unknown. */
static bool kind_find(struct search *s, struct thread *thread)
{
    for (unsigned i = 0; i < thread->frames_count && i < INNERMOST; i++) {
        const struct place *place = place_of(s->threads, thread->frames[i]);
        if (!place || !place->function)
            continue;
        if (strncmp(place_plain(place->function), "cxa_guard_acquire", 17) ==
                0 &&
            i + 1 < thread->frames_count) {
            s->function = place_of(s->threads, thread->frames[i + 1]);
            thread->wait.kind = WAIT_GUARD;
            return s->function && s->function->function;
        }
        if (i && is_of_malloc(place)) {
            thread->wait.kind = WAIT_MALLOC;
            return true;
        }
    }
    return false;
}

void guards_find(struct threads *threads)
{
    for (size_t i = 0; i < threads->count; i++)
        if (threads->all[i].wait.kind == WAIT_FUTEX)
            kind_find(&(struct search){.threads = threads}, &threads->all[i]);
    for (size_t i = 0; i < threads->count; i++) {
        struct thread *thread = &threads->all[i];
        struct search search = {.threads = threads, .wait = &thread->wait};
        if ((thread->wait.kind == WAIT_GUARD ||
             thread->wait.kind == WAIT_MALLOC) &&
            kind_find(&search, thread))
            thread->wait.holder = holder_find(&search);
    }
}
