/* wraps.cc - the ring in words of a few bits, through all of its states. */
/* SPDX-License-Identifier: MIT */
/*
 * wraps BITS THREAD_BITS SLOTS WRITERS TICKETS [LIMIT]
 *
 * On 32-bit machines positions and laps wrap while a program runs, and what a
 * slot remembers of its past (`highest`) wraps with them. No test gets through
 * 2^32 records in all schedules. Words of 5 to 8 bits do: here WRITERS threads
 * record for ever, and every state that any schedule can reach is entered once.
 * The functions are those of the header: run.sh cuts them out of its section
 * "ring" into wraps.inc, and `uintptr_t` is a class that counts modulo 2^BITS.
 * THREAD_BITS of a commit word name the thread and the busy bit.
 *
 * A step of a thread is one access to the words that writers share. What is
 * checked, in every state:
 *   - no two threads own one slot;
 *   - no ticket writes over a younger record;
 *   - where no thread is inside record(), each slot takes its next ticket.
 *
 * One thing is excluded, and is the limit that the header states: no ticket is
 * drawn for a slot in which no record was completed for 2^(BITS - THREAD_BITS)
 * positions. Memory is sequentially consistent here; ring.c has the rest.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>

/* ---------------------------------------------------------------- words -- */

static unsigned bits, thread_bits, slots, writers, tickets_max, limit;

struct short_word {
    uint16_t value;
    short_word() = default;
    short_word(unsigned long long x) : value((uint16_t)(x & ((1u << bits) - 1)))
    {
    }
    operator unsigned() const
    {
        return value;
    }
    short_word operator~() const
    {
        return short_word(~(unsigned)value);
    }
    short_word operator-() const
    {
        return short_word(-(unsigned)value);
    }
};
template <class T> struct is_short : std::is_same<T, short_word> {
};
template <class T> struct is_number {
    static const bool value = is_short<T>::value ||
                              std::is_integral<T>::value ||
                              std::is_enum<T>::value;
};
template <class A, class B> /* a word, where one of both is one */
struct result : std::enable_if<(is_short<A>::value || is_short<B>::value) &&
                                   is_number<A>::value && is_number<B>::value,
                               short_word> {
};
#define OPERATOR(op)                                                           \
    template <class A, class B>                                                \
    static typename result<A, B>::type operator op(A a, B b)                   \
    {                                                                          \
        return short_word((unsigned)a op(unsigned) b);                         \
    }
OPERATOR(+)
OPERATOR(-)
OPERATOR(*)
OPERATOR(&)
OPERATOR(|)
OPERATOR(^)
template <class B> static short_word operator<<(short_word a, B b)
{
    return short_word((unsigned)a << (unsigned)b);
}
template <class B> static short_word operator>>(short_word a, B b)
{
    return short_word((unsigned)a >> (unsigned)b);
}

/* ---------------------------------------------------------------- states -- */

struct recorder_record {
    short_word format, order, time, caller, argument[4];
};
struct recorder_turn {
    short_word gave_up, highest;
};
struct recorder_ring {
    short_word write, given_up, lost;
};
enum { SLOTS_MAX = 4, WRITERS_MAX = 4, ANSWERS_MAX = 40 };

/* The words that writers share, and how many tickets each slot has handed out
 * since the record that was completed in it last. */
struct memory {
    short_word write, commit[SLOTS_MAX];
    struct recorder_turn turn[SLOTS_MAX];
    uint16_t since[SLOTS_MAX];
};

/* What a thread will do next. */
enum kind { LOAD, STORE, ADD, CAS, MASK };

/* A thread in the middle of record(). It is run again on the answers of the
 * memory so far to go on. What it will do follows from less: from where in the
 * program it asks for what, from its ticket, and from the commit word that it
 * saw there as long as it has not decided. Threads that agree in these are
 * taken as equal; zeros for one that is between two records. */
struct thread {
    struct place {
        const void *program;
        uint16_t kind, memory, value, expected; /* the step that comes */
        short_word drawn, seen;
        uint16_t tickets, owned; /* owned: slot + 1 that it is to write in */
    } place;
    uint16_t count, answer[ANSWERS_MAX];
};
struct state {
    struct memory memory;
    struct thread thread[WRITERS_MAX];
};

static struct recorder_ring ring; /* an address for `write` */
static struct recorder_record records[SLOTS_MAX];
static struct memory now; /* the memory that `me` works on */
static struct thread *me;
static unsigned replayed;  /* answers it has got again */
static bool moved;         /* it has made its step */
static bool alone, closed; /* nobody interrupts it: to its end, for now */
static bool drew_too_late; /* the step is excluded by the limit */
static short_word drawn, seen;   /* its ticket, and the commit word it saw at W3 */
static unsigned tickets;   /* that it has drawn */
static const char *failure;
static jmp_buf stopped;

static bool is_commit(const short_word *p)
{
    return p >= now.commit && p < now.commit + slots;
}
static short_word *shared(const short_word *p)
{
    if (p == &ring.write)
        return &now.write;
    if ((const char *)p >= (const char *)&now &&
        (const char *)p < (const char *)(&now + 1))
        return (short_word *)p;
    return NULL;
}

/* Follows the ghost state: tickets since the last whole record of a slot. */
static void note_ticket(void)
{
    unsigned slot = now.write & (slots - 1);
    if ((now.since[slot] + 1u) * slots > limit)
        drew_too_late = true;
    now.since[slot]++;
}
static void note_commit(unsigned slot, short_word value)
{
    /* Tickets of the slot that are younger than this one. */
    short_word lap = drawn & ~short_word(slots - 1);
    short_word newest = (now.write - 1 - slot) & ~short_word(slots - 1);
    unsigned younger = (newest - lap) / slots;
    if (!(value & 1)) /* W7 */
        now.since[slot] = (uint16_t)younger;
    else if (now.commit[slot] & 1) /* W4 */
        failure = "a record begins in a slot that is written";
    else if (younger >= now.since[slot])
        failure = "a record begins in a slot that holds a younger one";
}

static short_word perform(enum kind kind, short_word *p, short_word value,
                          short_word expected)
{
    short_word was = kind == MASK ? short_word(0) : *p;
    if (p == &now.write && kind == ADD)
        note_ticket();
    if (kind == STORE && is_commit(p))
        note_commit((unsigned)(p - now.commit), value);
    if (kind == STORE)
        *p = value;
    else if (kind == ADD)
        *p = was + value;
    else if (kind == CAS && was == expected)
        *p = value;
    return was;
}

/* Notes where a thread is, in front of a step. */
static void stop(const void *program, enum kind kind, const short_word *p,
                 short_word value, short_word expected)
{
    struct thread::place *at = &me->place;
    bool gives_up = kind == ADD && p != &now.write && value == slots;
    memset(at, 0, sizeof *at);
    at->program = program;
    at->kind = (uint16_t)kind;
    at->memory = kind == MASK ? 0 : (uint16_t)(p - &now.write);
    at->value = value;
    at->expected = expected;
    at->tickets = (uint16_t)tickets;
    at->drawn = gives_up ? drawn & (slots - 1) : drawn;
    at->seen = gives_up || kind == STORE || kind == CAS ? short_word(0) : seen;
    if (kind == STORE && is_commit(p))
        at->owned = (uint16_t)(p - now.commit + 1);
    longjmp(stopped, 1);
}

/* What a thread is told by the memory. It stops in front of its second step. */
static __attribute__((noinline)) short_word
ask(enum kind kind, const short_word *of, short_word value, short_word expected)
{
    short_word *p = shared(of), answer;
    if (!p && kind != MASK)
        return 0;
    if (replayed < me->count)
        answer = me->answer[replayed];
    else if (moved && !closed && !alone)
        stop(__builtin_return_address(0), kind, p, value, expected);
    else {
        moved = true;
        answer = perform(kind, p, value, expected);
        if (me->count == ANSWERS_MAX)
            fprintf(stderr, "wraps: too many answers\n"), exit(2);
        me->answer[me->count++] = answer.value;
    }
    replayed++;
    if (kind == ADD && p == &now.write)
        drawn = answer, tickets++;
    if (kind == LOAD && is_commit(p))
        seen = answer;
    return answer;
}
#define ALWAYS_INLINE static inline __attribute__((always_inline))
ALWAYS_INLINE bool swap_if(short_word *p, short_word *expected,
                           short_word desired)
{
    short_word was = ask(CAS, p, desired, *expected);
    if (was == *expected)
        return true;
    *expected = was;
    return false;
}

/* ---------------------------------------------------- the header's functions */

#define uintptr_t short_word
#undef UINTPTR_MAX
#define UINTPTR_MAX (~short_word(0))
#define __atomic_load_n(p, order) ask(LOAD, p, 0, 0)
#define __atomic_store_n(p, value, order) ((void)ask(STORE, p, value, 0))
#define __atomic_fetch_add(p, value, order) ask(ADD, p, value, 0)
#define recorder_fence_acquire_() ((void)0)
#define recorder_fence_release_() ((void)0)
#define RECORDER_INLINE_ static inline __attribute__((unused))
#define RECORDER_FUNCTION_ static __attribute__((noinline, unused))
#define RECORDER_APART_ RECORDER_FUNCTION_
#define RECORDER_UNLIKELY_(x) (x)
#define RECORDER_STEP_(label) ((void)0)
#define RECORDER_LAPS_WRAP_ 1
#define RECORDER_ADD_(to, value, order) recorder_add_(to, value)
#define RECORDER_LOAD_(from, order) recorder_get_(from)
#define RECORDER_STORE_(to, value, order) recorder_put_(to, value)
#define RECORDER_THREAD_BITS_ thread_bits
#define RECORDER_THREAD_SHARED ((1u << (thread_bits - 1)) - 1)
#define RECORDER_TICKETS tickets_max
#ifdef MASKED /* the form for processors without atomic instructions */
#define RECORDER_ENTER() (ask(MASK, NULL, 0, 0), closed = true, short_word(0))
#define RECORDER_LEAVE(was) ((void)(was), closed = false)
#endif
enum { RECORDER_BUSY_ = 1 };
ALWAYS_INLINE short_word recorder_get_(const short_word *from)
{
    return ask(LOAD, from, 0, 0);
}
ALWAYS_INLINE void recorder_put_(short_word *to, short_word value)
{
    ask(STORE, to, value, 0);
}
ALWAYS_INLINE short_word recorder_add_(short_word *to, short_word value)
{
    return ask(ADD, to, value, 0);
}
#ifdef MASKED
ALWAYS_INLINE bool recorder_swap_(short_word *to, short_word *seen,
                                  short_word value)
{
    short_word masked = RECORDER_ENTER(), was = recorder_get_(to);
    bool same = was == *seen;
    recorder_put_(to, same ? value : was);
    RECORDER_LEAVE(masked);
    *seen = was;
    return same;
}
#define RECORDER_SWAP_(to, seen, value, order) recorder_swap_(to, seen, value)
#else
#define RECORDER_SWAP_(to, seen, value, order) swap_if(to, seen, value)
#endif
static struct recorder_record *recorder_records_(const struct recorder_ring *)
{
    return records;
}
static short_word *recorder_commits_(const struct recorder_ring *, short_word)
{
    return now.commit;
}
static struct recorder_turn *recorder_turns_(const struct recorder_ring *,
                                             short_word)
{
    return now.turn;
}
static unsigned recorder_writer_thread_(unsigned writer) { return writer; }
static unsigned recorder_writer_lane_(unsigned) { return 0; }
#define recorder_add_owned_ recorder_add_
#include "wraps.inc"

/* Lets a thread of the state go on by one step, or, uninterrupted, to the end
 * of its record. Returns whether it recorded: false where it lost its record. */
static bool go_on(struct state *s, unsigned number, bool to_the_end)
{
    recorder_record *place = NULL;
    now = s->memory;
    me = &s->thread[number];
    replayed = tickets = 0;
    moved = drew_too_late = false;
    closed = false;
    alone = to_the_end;
    if (setjmp(stopped))
        place = NULL;
    else {
        recorder_write_(&ring, slots - 1, recorder_positions_(&ring, 1, 1), 1,
                        &records[0], &place);
        memset(me, 0, sizeof *me);
    }
    s->memory = now;
    return place;
}

/* ------------------------------------------------------------ the search -- */

static struct state *stack;
static size_t stack_count, stack_max, states, at_rest;
static uint64_t *met;
static size_t met_size;

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const uint16_t *half = (const uint16_t *)bytes;
    size_t i;
    for (i = 0; i < size / sizeof *half; i++) {
        hash = (hash ^ half[i]) * 0x9fb21c651e98df25u;
        hash ^= hash >> 29;
    }
    return hash;
}
static uint64_t hash_of(const struct state *s)
{
    uint64_t hash = mix(1, &s->memory, sizeof s->memory);
    unsigned i;
    for (i = 0; i < writers; i++)
        hash = mix(hash, &s->thread[i].place, sizeof s->thread[i].place);
    hash *= 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

/* Says whether the state is new. */
static bool meet(uint64_t hash)
{
    size_t i;
    if (2 * states >= met_size) {
        uint64_t *old = met;
        size_t size = met_size;
        met_size = size ? 2 * size : 1 << 16;
        met = (uint64_t *)calloc(met_size, sizeof *met);
        if (!met)
            fprintf(stderr, "wraps: no memory\n"), exit(2);
        states = 0;
        for (i = 0; i < size; i++)
            if (old[i])
                meet(old[i]);
        free(old);
    }
    for (i = hash & (met_size - 1); met[i]; i = (i + 1) & (met_size - 1))
        if (met[i] == hash)
            return false;
    met[i] = hash;
    states++;
    return true;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct thread::place));
}
static void push(struct state *s)
{
    qsort(s->thread, writers, sizeof *s->thread, compare); /* they are alike */
    if (!meet(hash_of(s)))
        return;
    if (stack_count == stack_max) {
        stack_max = stack_max ? 2 * stack_max : 1024;
        stack = (struct state *)realloc(stack, stack_max * sizeof *stack);
        if (!stack)
            fprintf(stderr, "wraps: no memory\n"), exit(2);
    }
    stack[stack_count++] = *s;
}

/* Nobody is inside record(): each slot takes its next ticket at once. */
static void check_at_rest(struct state s)
{
    unsigned i;
    at_rest++;
    for (i = 0; i < slots; i++) {
        short_word write = s.memory.write;
        bool recorded = go_on(&s, 0, true);
        if (drew_too_late)
            return;
        if (!recorded || s.memory.write - write != 1)
            failure = "a slot leaks: at rest its next ticket gives it up";
    }
}

static void visit(struct state *s)
{
    bool rest = true;
    unsigned i, j;
    for (i = 0; i < writers; i++) {
        rest = rest && s->thread[i].count == 0;
        for (j = 0; j < i; j++)
            if (s->thread[i].place.owned &&
                s->thread[i].place.owned == s->thread[j].place.owned)
                failure = "two threads own one slot";
    }
    if (rest)
        check_at_rest(*s);
    for (i = 0; i < writers && !failure; i++) {
        struct state next = *s;
        if (i > 0 && compare(&s->thread[i], &s->thread[i - 1]) == 0)
            continue;
        go_on(&next, i, false);
        if (!drew_too_late)
            push(&next);
    }
}

static void print(const struct state *s)
{
    unsigned i, j;
    printf("write %u", (unsigned)s->memory.write);
    for (i = 0; i < slots; i++)
        printf(", slot %u: commit %#x, gave up %u, highest %u", i,
               (unsigned)s->memory.commit[i],
               (unsigned)s->memory.turn[i].gave_up,
               (unsigned)s->memory.turn[i].highest);
    for (i = 0; i < writers; i++) {
        printf(", thread %u was told", i);
        for (j = 0; j < s->thread[i].count; j++)
            printf(" %u", s->thread[i].answer[j]);
    }
    printf(": ");
}

int main(int argc, char **argv)
{
    struct state s;
    unsigned i, *number[] = {&bits,    &thread_bits, &slots,
                             &writers, &tickets_max, &limit};
    for (i = 0; i < 6 && i + 1 < (unsigned)argc; i++)
        *number[i] = (unsigned)atoi(argv[i + 1]);
    if (i < 5 || bits > 15 || thread_bits < 2 || thread_bits >= bits ||
        slots > SLOTS_MAX || writers > WRITERS_MAX || writers == 0) {
        fprintf(stderr, "usage: wraps bits thread_bits slots writers "
                        "tickets [limit]\n");
        return 2;
    }
    if (limit == 0)
        limit = 1u << (bits - thread_bits);
    memset(&s, 0, sizeof s);
    push(&s);
    while (stack_count > 0 && !failure) {
        s = stack[--stack_count];
        visit(&s);
    }
    printf("%zu states through %zu at rest: ", states, at_rest);
    if (failure)
        print(&s);
    printf("%s\n", failure ? failure : "ok");
    return failure != NULL;
}
