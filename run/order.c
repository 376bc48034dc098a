/* order.c - the locks that a thread holds, and orders of locks. */
/* SPDX-License-Identifier: MIT */
/*
   A chain is the list of locks that a thread holds, in order, and the lock that
   it takes. Each is recorded once for each part of a thread's life, which the
   making and joining of other threads divide: the first PARTS_ALL of all
   threads, then some. The readers make a graph of the chains, and find circles
   of chains that threads can take at the same time. A lock that is destroyed or
   initialised again is a new one: its chains are recorded again.
*/
#include "run.h"

enum {
    PAIRS = 4096,
    PAIR_MOST = 16, /* chains of one pair of sites that are recorded */
    GUARDS = 4      /* locks in a record of a chain */
};
/* In an entry, below the bits of the chain: the hash of the part of a thread's
 * life that recorded it first, and how many parts did. */
enum { CHAINS = 16384, CHAIN_BITS = 24, PARTS = 0xf, PARTS_ALL = 4 };
static uint64_t chains[CHAINS];
static uint64_t pairs[PAIRS]; /* 48 bits of hash, how many chains */
static uintptr_t chains_count;
uintptr_t run_changes;
bool run_each;
unsigned char run_handed[RUN_LANES];

/* ----------------------------------------------------------------- order -- */

/* Counts a chain of a pair of sites. Returns true if there were many: then they
 * are locks of a class, of which one more says nothing new. */
static bool pair_is_full(uintptr_t held_site, uintptr_t site)
{
    uint64_t key = run_mix(run_mix(1, held_site), site);
    unsigned i = (unsigned)(key >> 52);
    for (unsigned n = 0; n < 8; n++, i = (i + 1) % PAIRS) {
        uint64_t pair = __atomic_load_n(&pairs[i], __ATOMIC_RELAXED);
        if (pair && (pair ^ key) >> 16)
            continue;
        if ((pair & 0xffff) >= PAIR_MOST)
            return true;
        __atomic_store_n(&pairs[i], (key & ~0xffffull) | ((pair & 0xffff) + 1),
                         __ATOMIC_RELAXED);
        return false;
    }
    return true;
}

/* Finds the entry of 40 bits of a hash, or the free one for them. Null: there is
 * no room. */
static uint64_t *entry_of(uint64_t key)
{
    unsigned at = (unsigned)(key >> 50);
    for (unsigned n = 0; n < 64; n++, at = (at + 1) % CHAINS) {
        uint64_t is = __atomic_load_n(&chains[at], __ATOMIC_RELAXED);
        if (is == 0 || (is ^ key) >> CHAIN_BITS == 0)
            return &chains[at];
    }
    return NULL;
}
/* Returns true if a thread need not record a chain: the entry says that this part
 * of the thread's life has recorded it, or that enough other parts have: each of
 * the first does, then one of twice as many. */
RUN_INLINE bool is_recorded(const struct run_thread *t, uint64_t key,
                            uint64_t entry)
{
    const unsigned parts = entry & PARTS;
    return (entry ^ key) >> CHAIN_BITS == 0 &&
           (((entry ^ t->part) & 0xfffff0) == 0 || parts == PARTS ||
            (parts >= PARTS_ALL &&
             t->part >> 32 & ((1u << (parts - PARTS_ALL + 1)) - 1)));
}
static bool entry_set(uint64_t *entry, uint64_t was, uint64_t word)
{
    return __atomic_compare_exchange_n(entry, &was, word, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Puts a chain into its entry, which was `is`. Returns true if the chain needs a
 * record. */
static bool chain_add(const struct run_thread *t, uint64_t key, uint64_t *entry,
                      uint64_t is, uintptr_t held_site, uintptr_t site)
{
    const uint64_t high = ~(uint64_t)0 << CHAIN_BITS;
    const uint64_t again = run_mix(key, t->part);
    uint64_t *other = entry_of(again);
    if (!other || recorder_get_(&chains_count) > CHAINS / 2 ||
        (is ? !entry_set(other, 0, (again & high) | 1) ||
                  !entry_set(entry, is, is + 1)
            : pair_is_full(held_site, site) ||
                  !entry_set(entry, 0,
                             (key & high) | (t->part & 0xfffff0) | 1)))
        return false;
    recorder_add_(&chains_count, 1);
    return true;
}

void run_order_part(struct run_thread *t)
{
    t->part = run_mix(run_mix(1, t->number), ++t->parts);
    __builtin_memset(t->last, 0, sizeof t->last);
}

/* ----------------------------------------------------------------- lives -- */

/* The locks of chains, by address, how often each has ended, and
 * whether there are chains since. */
enum { LIVES = 4096, LIVES_PROBES = 16, HAS_CHAINS = 1 };
static struct life {
    uintptr_t address, ends; /* twice, | HAS_CHAINS */
} lives[LIVES];
static uintptr_t lives_count, lives_at[LIVES]; /* their addresses */
/* Bits by the pages of the locks that free() may end: see run_blocks. */
static uint64_t pages[RUN_BITS];
uint64_t run_blocks[RUN_BITS];
/* Locks that a function has begun: a place for each hash, the last lock's. */
static uintptr_t begun[LIVES];
/* Bits by the addresses of locks of chains that have ended: others may begin
 * there. */
static uint64_t ended[RUN_BITS];

static unsigned life_first(uintptr_t address)
{
    return (unsigned)(run_mix(0, address) >> 52);
}

static struct life *life_of(uintptr_t address, bool makes)
{
    unsigned at = life_first(address);
    for (unsigned n = 0; n < LIVES_PROBES; n++, at = (at + 1) % LIVES) {
        uintptr_t is = recorder_get_(&lives[at].address);
        if (is == 0 && makes && recorder_get_(&lives_count) < LIVES / 2 &&
            __atomic_compare_exchange_n(&lives[at].address, &is, address, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            recorder_put_(&lives_at[recorder_add_(&lives_count, 1)], address);
            return &lives[at];
        }
        if (is == address || is == 0)
            return is ? &lives[at] : NULL;
    }
    return NULL;
}

/* Notes that a lock has chains, and where blocks of memory begin that may have
 * the lock: one of a page at most in the lock's page or the one in front of it,
 * a larger one anywhere. No block has a module's variables; and a larger one
 * needs no look if a function has begun the lock, as functions also end the lock
 * or begin the next one there. */
static void life_note(uintptr_t object)
{
    const uintptr_t address = object & ~(uintptr_t)RUN_READ;
    struct life *life = life_of(address, true);
    if (!life)
        return;
    __atomic_fetch_or(&life->ends, HAS_CHAINS, __ATOMIC_RELAXED);
    if (run_in_module(address, false))
        return;
    run_bit_set(pages, address / RUN_PAGE);
    run_bit_set(run_blocks, address / RUN_PAGE);
    run_bit_set(run_blocks, address / RUN_PAGE - 1);
    if (recorder_get_(&begun[life_first(address)]) != address)
        __builtin_memset(run_blocks, -1, sizeof run_blocks);
}

/* Returns a key of the object and of its life. */
static uintptr_t life_key(uintptr_t object)
{
    const struct life *life = life_of(object & ~(uintptr_t)RUN_READ, false);
    uintptr_t ends = life ? recorder_get_(&life->ends) >> 1 : 0;
    return ends ? (uintptr_t)run_mix(run_mix(1, ends), object) : object;
}

RUN_INLINE uint64_t chain_mix(uint64_t chain, uintptr_t object)
{
    return run_mix(chain, RUN_UNLIKELY(run_bit(ended, object / 16))
                              ? life_key(object)
                              : object);
}

void run_order_forget(uintptr_t address, bool begins)
{
    static const char format[] = RUN_FORMAT("gone", "ended %p");
    struct life *life =
        recorder_get_(&lives_count) ? life_of(address, false) : NULL;
    uintptr_t was = life ? recorder_get_(&life->ends) : 0;
    recorder_put_(&begun[life_first(address)], begins ? address : 0);
    if (!(was & HAS_CHAINS) ||
        !__atomic_compare_exchange_n(&life->ends, &was, was + 1, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    run_bit_set(ended, address / 16);
    __atomic_fetch_add(&run_changes, 1, __ATOMIC_RELEASE);
    RUN_INSIDE(&run_self);
    run_record(&recorder_for_lock_order, format, 0, RUN_WORDS(address), 1);
}

void run_order_freed(uintptr_t start, uintptr_t bytes)
{
    const uintptr_t count = recorder_get_(&lives_count);
    if (bytes > RUN_PAGE || run_bit(pages, start / RUN_PAGE) ||
        run_bit(pages, (start + bytes - 1) / RUN_PAGE))
        for (uintptr_t i = 0; i < count; i++)
            if (recorder_get_(&lives_at[i]) - start < bytes)
                run_order_forget(lives_at[i], false);
}

void run_order_forked(void)
{
    if (chains_count == 0)
        return; /* each page that is written is copied */
    __builtin_memset(chains, 0, sizeof chains);
    __builtin_memset(pairs, 0, sizeof pairs);
    __builtin_memset(lives, 0, sizeof lives);
    __builtin_memset(pages, 0, sizeof pages);
    __builtin_memset(run_blocks, 0, sizeof run_blocks);
    __builtin_memset(ended, 0, sizeof ended);
    chains_count = lives_count = 0;
}

/* ------------------------------------------------------------------- new -- */

/* Records a chain that is new, or new in this part of the thread's life. Returns
 * true if the chain needs no record from now on. */
static RUN_SELDOM bool order_new(struct run_thread *t, uintptr_t object,
                                 uint64_t key, struct run_call from)
{
    static const char one[] =
        RUN_FORMAT("pair", "took %p holding %p from %p, stack %u");
    static const char more[] = RUN_FORMAT(
        "chain", "took %p stack %u holding %u: %p from %p, %p from %p, "
                 "%p from %p, %p from %p");
    unsigned known = t->depth < RUN_HELD ? t->depth : RUN_HELD, i;
    uintptr_t words[12] = {object}, stack;
    uint64_t *entry = entry_of(key), is;
    for (i = 0; i < known; i++) /* a recursive lock says nothing of orders */
        if ((recorder_get_(run_held(t, i)) ^ object) <= RUN_READ)
            return true;
    is = entry ? __atomic_load_n(entry, __ATOMIC_RELAXED) : 0;
    if (is_recorded(t, key, is))
        return true;
    if (!entry ||
        !chain_add(t, key, entry, is, recorder_get_(run_held(t, known - 1) + 1),
                   from.site))
        return false;
    RUN_INSIDE(t);
    life_note(object);
    for (i = 0; i < known; i++)
        life_note(recorder_get_(run_held(t, i)));
    if (t->depth == 1 && !*run_held_stack(t, 0)) {
        words[1] = recorder_get_(run_held(t, 0));
        words[2] = recorder_get_(run_held(t, 0) + 1);
        words[3] = run_stack(from, false);
        run_record(&recorder_for_lock_order, one, from.site, words, 1);
    } else {
        words[1] = run_stack(from, false);
        words[2] = t->depth;
        for (i = 0; i < GUARDS && i < known; i++) { /* the last first */
            words[3 + 2 * i] = recorder_get_(run_held(t, known - 1 - i));
            words[4 + 2 * i] = recorder_get_(run_held(t, known - 1 - i) + 1);
            stack = *run_held_stack(t, known - 1 - i);
            if (stack) /* where words have 64 bits */
                words[11] |= stack << 16 * i;
        }
        run_record(&recorder_for_lock_order, more, from.site, words, 3);
    }
    return false;
}

/* ------------------------------------------------------------------ held -- */

static void held_callers_set(struct run_thread *t, unsigned j,
                             struct run_call from)
{
    const uintptr_t stack =
        run_is_in_wrapper(from.cfa) ? run_stack_callers(t, from) : 0;
    if (!stack && !t->has_callers)
        return;
    __builtin_memset(t->last, 0, sizeof t->last);
    t->has_callers = true;
    *run_held_stack(t, j) = (uint16_t)stack;
}

/* How many of the locks that a thread holds are known by name. */
static unsigned held_known(const struct run_thread *t)
{
    unsigned known = 0;
    for (unsigned i = 0; i < RUN_HELD; i++)
        known += recorder_get_(run_held(t, i)) != 0;
    return known;
}

/* Closes gaps in the list of held locks, and hashes the list again. */
static void held_close(struct run_thread *t)
{
    unsigned to = 0, i;
    __builtin_memset(t->last, 0, sizeof t->last);
    for (i = 0; i < RUN_HELD; i++) {
        uintptr_t object = recorder_get_(run_held(t, i));
        uintptr_t site = recorder_get_(run_held(t, i) + 1);
        if (!object)
            continue;
        if (to != i) {
            recorder_put_(run_held(t, to) + 1, site);
            recorder_put_(run_held(t, to), object);
            recorder_put_(run_held(t, i), 0);
            *run_held_stack(t, to) = *run_held_stack(t, i);
        }
        t->chain[to + 1] = chain_mix(t->chain[to], object);
        to++;
    }
}

static void held_fill_gaps(struct run_thread *t)
{
    run_handed[t->lane - 1] = 0;
    if (t->depth <= RUN_HELD)
        t->depth = held_known(t);
    held_close(t);
}

/* A lock that this thread unlocks and another took, as is done with normal
 * mutexes and rwlocks: takes the lock out of the list of the other thread. */
static void held_hand_over(uintptr_t object)
{
    unsigned lanes = (unsigned)recorder_get_(&run_lanes_high);
    for (unsigned lane = 0; lane < lanes; lane++) {
        const struct recorder *r = &recorder_for_thread_held;
        struct recorder_ring *ring =
            (struct recorder_ring *)(void *)((char *)r->rings +
                                             lane * r->ring_bytes);
        struct recorder_record *records = recorder_records_(ring);
        for (unsigned i = 0; i < 16; i += 2) {
            uintptr_t *word = &records[i / 4].argument[i % 4];
            uintptr_t seen = recorder_get_(word);
            if ((seen ^ object) <= RUN_READ &&
                __atomic_compare_exchange_n(word, &seen, 0, false,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                run_handed[lane] = 1;
        }
    }
    __atomic_fetch_add(&run_changes, 1, __ATOMIC_RELEASE);
}

bool run_held_forget(struct run_thread *t, uintptr_t object)
{
    for (unsigned i = RUN_HELD; i-- > 0;)
        if ((recorder_get_(run_held(t, i)) ^ object) <= RUN_READ) {
            recorder_put_(run_held(t, i), 0);
            held_close(t);
            t->depth--;
            return true;
        }
    return false;
}

/* Takes a lock that is unlocked out of the list of held locks. One that is not
 * the last that was taken may be one that is not known by name, or that another
 * thread locked. */
static bool held_remove(struct run_thread *t, uintptr_t object)
{
    if (run_held_forget(t, object))
        return true;
    if (t->depth >
        held_known(t)) { /* one beyond the sixth, or one handed over */
        held_close(t);
        t->depth--;
        return true;
    }
    held_hand_over(object);
    return false;
}

bool run_gave(struct run_thread *t, const volatile void *lock, uintptr_t site)
{
    const uintptr_t object = (uintptr_t)lock;
    const bool held = run_held_last(t, object) || held_remove(t, object);
    if (run_each)
        run_each_gave(object, site);
    if (recorder_get_(&run_waiting))
        run_object_gives(t, object);
    return held;
}
void run_unlocks(const volatile void *lock, uintptr_t site)
{
    struct run_thread *t = run_thread();
    if (t)
        run_gave(t, lock, site);
}

/* ------------------------------------------------------------------ took -- */

void run_took(struct run_thread *t, const volatile void *lock, unsigned how,
              const char *total, struct run_call from)
{
    const uintptr_t object = (uintptr_t)lock | (how & RUN_READ);
    const uintptr_t changes = __atomic_load_n(&run_changes, __ATOMIC_ACQUIRE);
    bool settled = !run_each && !t->has_callers;
    unsigned known;
    uint64_t chain, is;
    if (RUN_UNLIKELY(run_each))
        run_each_took((uintptr_t)lock, total, from.site);
    if (RUN_UNLIKELY(t->changes != changes))
        __builtin_memset(t->last, 0, sizeof t->last);
    t->changes = changes;
    if (t->depth && RUN_UNLIKELY(run_handed[t->lane - 1]))
        held_fill_gaps(t);
    known = t->depth < RUN_HELD ? t->depth : RUN_HELD;
    chain = chain_mix(t->chain[known], object);
    is = __atomic_load_n(&chains[chain >> 50], __ATOMIC_RELAXED);
    if (t->depth)
        settled &= !(how & RUN_TRIED) && (is_recorded(t, chain, is) ||
                                          order_new(t, object, chain, from));
    if (known < RUN_HELD) {
        uintptr_t *held = run_held(t, known);
        recorder_put_(held + 1, from.site);
        recorder_put_(held, object);
        t->chain[known + 1] = chain;
        if (t->last[known] != object)
            t->last[known + 1] = 0;
        t->last[known] = settled ? object : 0;
        if (run_is_in_wrapper(from.cfa) || t->has_callers)
            held_callers_set(t, known, from);
    }
    t->depth++;
}

/* ------------------------------------------------------------------ each -- */

static bool records_all, counts;

void run_each_begin(bool all, bool count)
{
    records_all = all;
    counts = count;
    run_each = all || count;
    run_waiting = run_each; /* threads that unlock look at both */
}

void run_each_took(uintptr_t object, const char *total, uintptr_t site)
{
    static const char format[] = RUN_FORMAT("took", ">holding %p");
    struct run_object *o;
    RUN_INSIDE(&run_self);
    if (records_all)
        run_record(&recorder_for_lock_wait, format, site, RUN_WORDS(object), 1);
    if (counts && (o = run_object_make(object, total, site)))
        recorder_add_(run_object_word(o, 1), 1);
}

void run_each_gave(uintptr_t object, uintptr_t site)
{
    static const char format[] = RUN_FORMAT("gave", "<holding %p");
    if (!records_all)
        return;
    RUN_INSIDE(&run_self);
    run_record(&recorder_for_lock_wait, format, site, RUN_WORDS(object), 1);
}
