/* thread.c - threads: their lanes, how they are made, begin and end. */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

#include <sys/resource.h>
#include <sys/syscall.h>

enum {
    KEY_ROUNDS = 3,   /* of destructors, of which there are 4: ours is late */
    KEYS_AT_HAND = 32 /* values of keys below need no allocation */
};

/* The function of a new thread, in the lane that its creator took for it. */
struct start {
    void *(*run)(void *);
    int (*run_c11)(void *); /* or this one */
    void *argument;
    uintptr_t first; /* the word that the argument points at */
    uintptr_t parent, stack, site, stack_bytes;
    uintptr_t called; /* ticks, as the creator asked for the thread */
    uintptr_t after;  /* earlier records of the creator have lower orders */
    pthread_t thread; /* set by itself; valid while `number` is not 0 */
    uintptr_t number;
};
static struct start starts[RUN_LANES];
static uint64_t lanes_used[RUN_LANES / 64];
uintptr_t run_lanes_high;
__thread struct run_thread run_self __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static bool ready;
static bool lanes_ran_out;  /* a thread that has none is no stranger */
static size_t usual_stack;  /* bytes of a thread without an attribute */
static bool tells_readable; /* a system call finds readable addresses */

/* ----------------------------------------------------------------- lanes -- */

static void lanes_raise(uintptr_t to)
{
    uintptr_t high = recorder_get_(&run_lanes_high);
    while (high < to &&
           !__atomic_compare_exchange_n(&run_lanes_high, &high, to, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}
/* Takes a free lane. Returns it + 1, or 0 if there is none. */
static unsigned lane_take(void)
{
    for (unsigned i = 0; i < RUN_LANES / 64; i++) {
        uint64_t used = __atomic_load_n(&lanes_used[i], __ATOMIC_RELAXED);
        while (~used) {
            unsigned bit = (unsigned)__builtin_ctzll(~used);
            if (!__atomic_compare_exchange_n(
                    &lanes_used[i], &used, used | (uint64_t)1 << bit, false,
                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                continue;
            lanes_raise(i * 64 + bit + 1);
            return i * 64 + bit + 1;
        }
    }
    return 0;
}
static void lane_give(unsigned lane)
{
    recorder_put_(&starts[lane - 1].number, 0);
    __atomic_fetch_and(&lanes_used[(lane - 1) / 64],
                       ~((uint64_t)1 << ((lane - 1) % 64)), __ATOMIC_RELEASE);
}

uintptr_t run_thread_number(pthread_t thread)
{
    uintptr_t high = recorder_get_(&run_lanes_high);
    for (uintptr_t i = 0; i < high; i++) {
        uintptr_t number = __atomic_load_n(&starts[i].number, __ATOMIC_ACQUIRE);
        if (number && starts[i].thread == thread)
            return number;
    }
    return 0;
}

/* ----------------------------------------------------------------- cells -- */

static const char stranger_format[] = RUN_FORMAT(
    "stranger", "thread not made by pthread_create: %p, stack of %u up to %p");
static const char thread_format[] = RUN_FORMAT(
    "made", "thread %p made by T%u: %p(%p -> %p), stack %u, called at %u, "
            "stack of %u, after %u");
static const char over_format[] = RUN_FORMAT(
    "over", "ended thread %p made by T%u: %p(%p -> %p), stack %u, called at "
            "%u, stack of %u, after %u");

#define HELD                                                                   \
    "%p from %p, %p from %p, %p from %p, %p from %p, %p from %p, %p from %p"

/* Writes who the calling thread is, a stranger or made as `s` says, its held
 * locks, and how many it took. */
static void cells_begin(struct run_thread *t, const struct start *s,
                        const uintptr_t *held, const uintptr_t *calls)
{
    static const char held_format[] = RUN_FORMAT("holds", "holds " HELD);
    static const char calls_format[] =
        RUN_FORMAT("calls", "locks %u, in call %p of %d since %u");
    const bool is_made = s->run || s->run_c11;
    /* run_held_stack() has the words from 9 on. */
    const uintptr_t stranger[12] = {(uintptr_t)s->thread, t->stack_bytes,
                                    t->stack_high};
    const uintptr_t made[12] = {(uintptr_t)s->thread,
                                s->parent,
                                s->run ? (uintptr_t)s->run
                                       : (uintptr_t)s->run_c11,
                                (uintptr_t)s->argument,
                                s->first,
                                s->stack,
                                s->called,
                                s->stack_bytes,
                                s->after};
    const struct run_cell_text texts[] = {
        {&recorder_for_thread_held, held_format, held},
        {&recorder_for_thread_calls, calls_format, calls},
        {&recorder_for_thread_self, is_made ? thread_format : stranger_format,
         is_made ? made : stranger}};
    struct run_cell cells[3];
    run_handed[t->lane - 1] = 0;
    run_cells_write(texts, 3, t->lane - 1, is_made ? s->site : 0, cells);
    for (unsigned i = 0; i < RUN_HELD; i++)
        t->held[i] = cells[0].words[i / 2] + i % 2 * 2 * sizeof *t->held;
    t->calls = cells[1];
    t->self = cells[2];
}
static void cells_read(const struct run_thread *t, uintptr_t held[12],
                       uintptr_t calls[12])
{
    for (unsigned i = 0; i < 12; i++) {
        held[i] = recorder_get_(run_held(t, i / 2) + i % 2);
        calls[i] = recorder_get_(
            run_cell_word(&recorder_for_thread_calls, &t->calls, i));
    }
}

/* The thread has its lane, which holds how it was made. */
static void thread_begin(struct run_thread *t, struct start *s)
{
    static const uintptr_t none[12];
    t->number = RECORDER_THREAD();
    s->thread = pthread_self();
    run_order_part(t);
    __atomic_store_n(&s->number, t->number, __ATOMIC_RELEASE);
    cells_begin(t, s, none, none);
}

struct run_thread *run_thread_enter(void)
{
    struct run_thread *t = &run_self;
    unsigned lane;
    run_bind();
    if (!ready || t->inside || t->ended || lanes_ran_out ||
        recorder_get_(&run_sandboxed))
        return NULL;
    lane = lane_take();
    if (!lane)
        return NULL;
    RUN_INSIDE(t);
    if (recorder_os_thread_() == recorder_os_process_()) {
        extern void *__libc_stack_end;
        struct rlimit limit;
        t->stack_high = (uintptr_t)__libc_stack_end;
        t->stack_bytes = 8u << 20;
        if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < 64u << 20)
            t->stack_bytes = (uintptr_t)limit.rlim_cur;
    }
    t->lane = lane;
    starts[lane - 1] = (struct start){0};
    thread_begin(t, &starts[lane - 1]);
    if (key < KEYS_AT_HAND)
        pthread_setspecific(key, (void *)1);
    return t;
}

/* ------------------------------------------------------------ begin, end -- */

/* The key's destructor. Destructors of the program's keys may lock: this one
 * runs again, a few rounds later, after them. */
static void thread_end(void *round)
{
    static const char format[] = RUN_FORMAT("ended", "ended: locks %u");
    static const char holding[] = RUN_FORMAT("holds", "ended holding " HELD);
    struct run_thread *t = &run_self;
    const struct start *s;
    uintptr_t held[12], calls[12];
    if ((uintptr_t)round < KEY_ROUNDS) {
        pthread_setspecific(key, (void *)((uintptr_t)round + 1));
        return;
    }
    if (!t->lane)
        return;
    s = &starts[t->lane - 1];
    RUN_INSIDE(t);
    t->ended = true;
    cells_read(t, held, calls);
    run_record(&recorder_for_thread_life, format, 0, calls, 3);
    if (t->depth) /* the lane is another thread's next */
        run_record(&recorder_for_thread_life, holding, 0, held, 3);
    if (s->run || s->run_c11)
        run_cell_format(&recorder_for_thread_self, &t->self, over_format);
    lane_give(t->lane);
    t->lane = 0;
}

__attribute__((noinline)) static void *thread_run(void *of)
{
    static const char format[] = RUN_FORMAT(
        "started", "started %p(%p) as %p, made by T%u, stack %u, after %u, "
                   "called at %u");
    static const char format_cpu[] = RUN_FORMAT(
        "started", "started %p(%p) as %p, made by T%u, stack %u, after %u, "
                   "called at %u, on cpu %u");
    struct start *s = of;
    void *(*run)(void *) = s->run;
    int (*run_c11)(void *) = s->run_c11;
    void *argument = s->argument;
    struct run_thread *t = &run_self;
    int cpu = run_cpu();
    t->inside++;
    t->lane = (unsigned)(s - starts) + 1;
    t->stack_high = RUN_CFA;
    t->stack_bytes = s->stack_bytes ? s->stack_bytes : usual_stack;
    thread_begin(t, s);
    run_record(
        &recorder_for_thread_life, cpu < 0 ? format : format_cpu, s->site,
        RUN_WORDS(run ? (uintptr_t)run : (uintptr_t)run_c11,
                  (uintptr_t)argument, (uintptr_t)s->thread, s->parent,
                  s->stack, s->after, s->called, (uintptr_t)(unsigned)cpu),
        2);
    pthread_setspecific(key, (void *)1);
    t->inside--;
    if (run_c11)
        return (void *)(intptr_t)run_c11(argument);
    return run(argument);
}
static int thread_run_c11(void *of)
{
    return (int)(intptr_t)thread_run(of);
}

intptr_t run_cpu_at;

/* glibc tells where the kernel writes it, by restartable sequences. */
static void cpu_find(void)
{
    const unsigned *size = run_libc_find("__rseq_size");
    const ptrdiff_t *offset = run_libc_find("__rseq_offset");
    if (size && offset && *size) /* after the number at a sequence's start */
        run_cpu_at = *offset + (ptrdiff_t)sizeof(uint32_t);
}

/* Returns true below a tool of valgrind: LD_PRELOAD has its library. */
static bool is_under(const char *tool)
{
    const char *libraries = getenv("LD_PRELOAD");
    return libraries && strstr(libraries, tool);
}

bool run_begin(void)
{
    static bool begins;
    pthread_attr_t attribute;
    int error = errno;
    if (ready || begins || !run_bind())
        return ready;
    begins = true;
    /* These tools know no atomic operations, and would report the library's. */
    if (is_under("/vgpreload_helgrind") || is_under("/vgpreload_drd"))
        return false;
    run_cells_begin();
    run_stacks_begin();
    cpu_find();
    if (pthread_attr_init(&attribute) == 0) {
        pthread_attr_getstacksize(&attribute, &usual_stack);
        pthread_attr_destroy(&attribute);
    }
    tells_readable = /* valgrind reports this call */
        !is_under("/vgpreload_") &&
        syscall(SYS_rt_sigprocmask, -1, (void *)8, NULL, 8) == -1 &&
        errno == EFAULT;
    errno = error;
    if (pthread_key_create(&key, thread_end) != 0)
        return false; /* without it, lanes would not come back */
    run_self.inside++;
    run_process_begin();
    run_self.inside--;
    __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
    run_thread_enter();
    return true;
}

/* ---------------------------------------------------------------- create -- */

/* The system call reads a signal mask before it refuses the operation. Each
 * pthread_create() makes the call, so few sandboxes forbid it; under a filter
 * of the program, this function makes none. */
uintptr_t run_word_at(const void *address)
{
    uintptr_t word = 0;
    int error = errno;
    if (tells_readable && !recorder_get_(&run_sandboxed) &&
        (uintptr_t)address >= 65536 && (uintptr_t)address % sizeof word == 0) {
        syscall(SYS_rt_sigprocmask, -1, address, NULL, 8);
        if (errno == EINVAL)
            word = *(const uintptr_t *)address;
    }
    errno = error;
    return word;
}

/* A thread gets no lane: it is not seen, and never to be taken for a stranger.
 * Says so once. */
static RUN_SELDOM void lanes_are_out(struct run_thread *t, bool sandboxed)
{
    static const char many[] =
        RUN_FORMAT("unseen", "unseen: more than %u threads at once");
    static const char filtered[] =
        RUN_FORMAT("sandboxed", "unseen: threads after a seccomp filter");
    const char *format = sandboxed ? filtered : many;
    if (lanes_ran_out)
        return;
    lanes_ran_out = true;
    RUN_INSIDE(t);
    run_record(&recorder_for_thread_life, format, 0, RUN_WORDS(RUN_LANES), 1);
    /* Where the lives of many threads overwrite no record. */
    run_record(&recorder_for_call_stack, format, 0, RUN_WORDS(RUN_LANES), 1);
}

/* Makes a thread that runs `start`. Its pthread_t goes to `to`, which is not
 * read afterwards, as the thread may have freed it. */
static int create(struct start *start, pthread_t *to,
                  const pthread_attr_t *attribute, struct run_call from)
{
    static const char format[] =
        RUN_FORMAT("create", "create %p(%p): %d, stack %u");
    const bool is_c11 = start->run_c11 != NULL;
    const bool sandboxed = recorder_get_(&run_sandboxed) != 0;
    void *argument = start->argument;
    struct run_thread *t = run_begin() ? run_thread() : NULL;
    uintptr_t function =
        is_c11 ? (uintptr_t)start->run_c11 : (uintptr_t)start->run;
    unsigned lane = 0;
    struct start *s;
    uintptr_t stack;
    int result, error = errno;
    if (t) {
        t->inside++;
        if (!sandboxed)
            run_file();
        t->inside--;
        lane = sandboxed ? 0 : lane_take();
        if (!lane)
            lanes_are_out(t, sandboxed);
    }
    if (!lane)
        return is_c11 ? run_real.thrd_create(to, start->run_c11, argument)
                      : run_real.pthread_create(to, attribute, start->run,
                                                argument);
    s = &starts[lane - 1];
    if (attribute) {
        size_t bytes = 0;
        pthread_attr_getstacksize(attribute, &bytes);
        start->stack_bytes = bytes;
    }
    start->parent = t->number;
    start->site = from.site;
    start->stack = stack = run_stack(from, true);
    run_stack_module(function);
    start->first = run_word_at(argument);
    if (!run_in_module(start->first, start->first % sizeof start->first == 0))
        start->first = 0; /* no address of a class, but of the program's data */
    start->after = recorder_orders_(1);
    start->called = (uintptr_t)recorder_ticks_();
    *s = *start;
    errno = error;
    result = is_c11 ? run_real.thrd_create(to, thread_run_c11, s)
                    : run_real.pthread_create(to, attribute, thread_run, s);
    RUN_INSIDE(t);
    if (result)
        lane_give(lane);
    else
        run_order_part(t);
    run_record(&recorder_for_thread_life, format, from.site,
               RUN_WORDS(function, (uintptr_t)argument,
                         (uintptr_t)(unsigned)result, stack),
               1);
    return result;
}

RUN_EXPORT int pthread_create(pthread_t *to, const pthread_attr_t *attribute,
                              void *(*run)(void *), void *argument)
{
    struct start start = {.run = run, .argument = argument};
    return create(&start, to, attribute, RUN_CALL);
}
RUN_EXPORT int thrd_create(thrd_t *to, thrd_start_t run, void *argument)
{
    struct start start = {.run_c11 = run, .argument = argument};
    return create(&start, to, NULL, RUN_CALL);
}

/* ------------------------------------------------------------------ fork -- */

/* The library's handlers run after the program's, which may lock; in the child
 * they run earlier. */
void run_threads_fork(void)
{
    struct run_thread *t = &run_self;
    if (t->lane)
        cells_read(t, t->kept[0], t->kept[1]);
}

/* The child has one thread. Cells of others would speak of the parent's. */
void run_threads_forked(bool rings_are_new)
{
    static const char format[] = RUN_FORMAT("forked", "forked from T%u");
    struct run_thread *t = &run_self;
    uintptr_t high = recorder_get_(&run_lanes_high);
    const unsigned parent = t->number;
    struct start self = {0};
    if (t->lane)
        self = starts[t->lane - 1];
    for (unsigned i = 0; i < high; i++) {
        starts[i].number = 0;
        if (rings_are_new)
            continue;
        run_cell_clear(&recorder_for_thread_self, i);
        run_cell_clear(&recorder_for_thread_now, i);
        run_cell_clear(&recorder_for_thread_held, i);
        run_cell_clear(&recorder_for_thread_calls, i);
    }
    __builtin_memset(lanes_used, 0, sizeof lanes_used);
    lanes_ran_out = false;
    if (recorder_get_(&run_sandboxed))
        t->lane = 0;
    if (!t->lane)
        return;
    RUN_INSIDE(t);
    lanes_used[(t->lane - 1) / 64] |= (uint64_t)1 << ((t->lane - 1) % 64);
    t->number = RECORDER_THREAD();
    run_order_part(t);
    self.number = t->number;
    if (rings_are_new)
        self.stack = 0; /* of the parent's stacks */
    starts[t->lane - 1] = self;
    cells_begin(t, &starts[t->lane - 1], t->kept[0], t->kept[1]);
    if (!rings_are_new) /* they have its records of the parent */
        run_record(&recorder_for_thread_life, format, 0, RUN_WORDS(parent), 1);
}
