/* order.c - the locks that a thread holds, and orders of locks. */
/* SPDX-License-Identifier: MIT */
/*
   A chain is the list of locks that a thread holds, in order, and the lock that
   it takes. Each is recorded once for each part of a thread's life, which the
   making and joining of other threads divide: the first RUN_PARTS_ALL of all
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
uint64_t run_chains[RUN_CHAINS]; /* see run.h */
static uint64_t pairs[PAIRS];    /* 48 bits of hash, how many chains */
static uintptr_t chains_count;
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
    for (unsigned n = 0; n < 64; n++, at = (at + 1) % RUN_CHAINS) {
        uint64_t is = __atomic_load_n(&run_chains[at], __ATOMIC_RELAXED);
        if (is == 0 || (is ^ key) >> RUN_CHAIN_BITS == 0)
            return &run_chains[at];
    }
    return NULL;
}
static bool entry_set(uint64_t *entry, uint64_t was, uint64_t word)
{
    return __atomic_compare_exchange_n(entry, &was, word, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Returns true if a chain needs a record: a new chain, or a chain without a
 * record of this part of the thread's life. */
static bool chain_add(const struct run_thread *t, uint64_t key,
                      uintptr_t held_site, uintptr_t site)
{
    const uint64_t high = ~(uint64_t)0 << RUN_CHAIN_BITS;
    const uint64_t again = run_mix(key, t->part);
    uint64_t *entry = entry_of(key), *other = entry_of(again), is;
    if (!entry || !other || recorder_get_(&chains_count) > RUN_CHAINS / 2)
        return false;
    is = __atomic_load_n(entry, __ATOMIC_RELAXED);
    if (is == 0) {
        if (pair_is_full(held_site, site) ||
            !entry_set(entry, 0, (key & high) | (t->part & 0xfffff0) | 1))
            return false;
    } else if (((is ^ t->part) & 0xfffff0) == 0 ||
               !run_part_records(t->part, is) ||
               !entry_set(other, 0, (again & high) | 1) ||
               !entry_set(entry, is, is + 1)) {
        return false;
    }
    recorder_add_(&chains_count, 1);
    return true;
}

void run_order_part(struct run_thread *t)
{
    t->part = run_mix(run_mix(1, t->number), ++t->parts);
}

/* ----------------------------------------------------------------- lives -- */

/* The locks of chains, by pieces of memory, how often each has ended, and
 * whether there are chains since. */
enum { LIVES = 4096, LIVES_PROBES = 16, HAS_CHAINS = 1, PIECE = 64 };
static struct life {
    uintptr_t address, ends; /* twice, | HAS_CHAINS */
} lives[LIVES];
uintptr_t run_lives_count;
uint64_t run_ended[RUN_BITS], run_pages[RUN_BITS];

static unsigned life_first(uintptr_t address)
{
    return (unsigned)(run_mix(0, address / PIECE) >> 52);
}

static struct life *life_of(uintptr_t address, bool makes)
{
    unsigned at = life_first(address);
    for (unsigned n = 0; n < LIVES_PROBES; n++, at = (at + 1) % LIVES) {
        uintptr_t is = recorder_get_(&lives[at].address);
        if (is == 0 && makes && recorder_get_(&run_lives_count) < LIVES / 2 &&
            __atomic_compare_exchange_n(&lives[at].address, &is, address, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            run_bit_set(run_pages, address / RUN_PAGE);
            recorder_add_(&run_lives_count, 1);
            return &lives[at];
        }
        if (is == address || is == 0)
            return is ? &lives[at] : NULL;
    }
    return NULL;
}
static void life_note(uintptr_t object)
{
    struct life *life = life_of(object & ~(uintptr_t)RUN_READ, true);
    if (life)
        __atomic_fetch_or(&life->ends, HAS_CHAINS, __ATOMIC_RELAXED);
}

uintptr_t run_order_life(uintptr_t object)
{
    const struct life *life = life_of(object & ~(uintptr_t)RUN_READ, false);
    uintptr_t ends = life ? recorder_get_(&life->ends) >> 1 : 0;
    return ends ? (uintptr_t)run_mix(run_mix(1, ends), object) : object;
}

void run_order_forget(uintptr_t address)
{
    static const char format[] = RUN_FORMAT("gone", "ended %p");
    struct life *life =
        recorder_get_(&run_lives_count) ? life_of(address, false) : NULL;
    uintptr_t was = life ? recorder_get_(&life->ends) : 0;
    int error = errno;
    if (!(was & HAS_CHAINS) ||
        !__atomic_compare_exchange_n(&life->ends, &was, was + 1, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    run_bit_set(run_ended, address / 16);
    run_self.inside++;
    run_record(&recorder_for_lock_order, format, 0, RUN_WORDS(address), 1);
    run_self.inside--;
    errno = error;
}

static void life_freed(uintptr_t at, uintptr_t start, uintptr_t bytes)
{
    if (at - start < bytes)
        run_order_forget(at);
}
static void piece_freed(uintptr_t piece, uintptr_t start, uintptr_t bytes)
{
    unsigned at = life_first(piece);
    for (unsigned n = 0; n < LIVES_PROBES; n++, at = (at + 1) % LIVES) {
        const uintptr_t is = recorder_get_(&lives[at].address);
        if (is == 0)
            break;
        if ((is ^ piece) < PIECE)
            life_freed(is, start, bytes);
    }
}
void run_order_freed(uintptr_t start, uintptr_t bytes)
{
    const uintptr_t end = start + bytes;
    uintptr_t piece = start & ~(uintptr_t)(PIECE - 1);
    if (bytes / RUN_PAGE > LIVES)
        for (unsigned i = 0; i < LIVES; i++)
            life_freed(recorder_get_(&lives[i].address), start, bytes);
    else
        while (piece < end) {
            const uintptr_t next = (piece | (RUN_PAGE - 1)) + 1;
            if (run_bit(run_pages, piece / RUN_PAGE))
                for (; piece < next && piece < end; piece += PIECE)
                    piece_freed(piece, start, bytes);
            piece = next;
        }
}

void run_order_forked(void)
{
    if (chains_count == 0)
        return; /* each page that is written is copied */
    __builtin_memset(run_chains, 0, sizeof run_chains);
    __builtin_memset(pairs, 0, sizeof pairs);
    __builtin_memset(lives, 0, sizeof lives);
    __builtin_memset(run_pages, 0, sizeof run_pages);
    __builtin_memset(run_ended, 0, sizeof run_ended);
    chains_count = run_lives_count = 0;
}

/* ------------------------------------------------------------------- new -- */

void run_order_new(struct run_thread *t, uintptr_t object, uint64_t key,
                   uintptr_t site, uintptr_t cfa)
{
    static const char one[] =
        RUN_FORMAT("pair", "took %p holding %p from %p, stack %u");
    static const char more[] = RUN_FORMAT(
        "chain", "took %p stack %u holding %u: %p from %p, %p from %p, "
                 "%p from %p, %p from %p");
    unsigned known = t->depth < RUN_HELD ? t->depth : RUN_HELD, i;
    uintptr_t words[12] = {object}, stack;
    int error = errno;
    for (i = 0; i < known; i++) /* a recursive lock says nothing of orders */
        if ((recorder_get_(run_held_word(t, 2 * i)) ^ object) <= RUN_READ)
            return;
    if (!chain_add(t, key, recorder_get_(run_held_word(t, 2 * known - 1)),
                   site))
        return;
    t->inside++;
    life_note(object);
    for (i = 0; i < known; i++)
        life_note(recorder_get_(run_held_word(t, 2 * i)));
    if (t->depth == 1 && !*run_held_stack(t, 0)) {
        words[1] = recorder_get_(run_held_word(t, 0));
        words[2] = recorder_get_(run_held_word(t, 1));
        words[3] = run_stack(site, cfa, false);
        run_record(&recorder_for_lock_order, one, site, words, 1);
    } else {
        words[1] = run_stack(site, cfa, false);
        words[2] = t->depth;
        for (i = 0; i < GUARDS && i < known; i++) { /* the last first */
            words[3 + 2 * i] =
                recorder_get_(run_held_word(t, 2 * (known - 1 - i)));
            words[4 + 2 * i] =
                recorder_get_(run_held_word(t, 2 * (known - 1 - i) + 1));
            stack = *run_held_stack(t, known - 1 - i);
            if (stack) /* where words have 64 bits */
                words[11] |= stack << 16 * i;
        }
        run_record(&recorder_for_lock_order, more, site, words, 3);
    }
    t->inside--;
    errno = error;
}

/* ------------------------------------------------------------------ held -- */

void run_held_callers_set(struct run_thread *t, unsigned j, uintptr_t site,
                          uintptr_t cfa)
{
    const uintptr_t stack =
        run_is_in_wrapper(cfa) ? run_stack_callers(t, site, cfa) : 0;
    if (!stack && !t->has_callers)
        return;
    t->has_callers = true;
    *run_held_stack(t, j) = (uint16_t)stack;
}

/* How many of the locks that a thread holds are known by name. */
static unsigned held_known(const struct run_thread *t)
{
    unsigned known = 0;
    for (unsigned i = 0; i < RUN_HELD; i++)
        known += recorder_get_(run_held_word(t, 2 * i)) != 0;
    return known;
}

/* Closes gaps in the list of held locks, and hashes the list again. */
static void held_close(struct run_thread *t)
{
    unsigned to = 0, i;
    for (i = 0; i < RUN_HELD; i++) {
        uintptr_t object = recorder_get_(run_held_word(t, 2 * i));
        uintptr_t site = recorder_get_(run_held_word(t, 2 * i + 1));
        if (!object)
            continue;
        if (to != i) {
            recorder_put_(run_held_word(t, 2 * to + 1), site);
            recorder_put_(run_held_word(t, 2 * to), object);
            recorder_put_(run_held_word(t, 2 * i), 0);
            *run_held_stack(t, to) = *run_held_stack(t, i);
        }
        t->chain[to + 1] = run_order_mix(t->chain[to], object);
        to++;
    }
}

void run_held_fill_gaps(struct run_thread *t)
{
    unsigned known, was = t->depth;
    run_handed[t->lane - 1] = 0;
    known = held_known(t);
    held_close(t);
    if (was <= RUN_HELD)
        t->depth = known;
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
}

bool run_held_forget(struct run_thread *t, uintptr_t object)
{
    for (unsigned i = RUN_HELD; i-- > 0;)
        if ((recorder_get_(run_held_word(t, 2 * i)) ^ object) <= RUN_READ) {
            recorder_put_(run_held_word(t, 2 * i), 0);
            held_close(t);
            t->depth--;
            return true;
        }
    return false;
}

bool run_held_remove(struct run_thread *t, uintptr_t object)
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

/* ------------------------------------------------------------------ each -- */

static bool records_all, counts;

void run_each_begin(bool all, bool count)
{
    records_all = all;
    counts = count;
    run_each = all || count;
}

void run_each_took(uintptr_t object, const char *total, uintptr_t site)
{
    static const char format[] = RUN_FORMAT("took", ">holding %p");
    struct run_object *o;
    int error = errno;
    run_self.inside++;
    if (records_all)
        run_record(&recorder_for_lock_wait, format, site, RUN_WORDS(object), 1);
    if (counts && (o = run_object_make(object, total, site)))
        recorder_add_(run_object_word(o, 1), 1);
    run_self.inside--;
    errno = error;
}

void run_each_gave(uintptr_t object, uintptr_t site)
{
    static const char format[] = RUN_FORMAT("gave", "<holding %p");
    if (!records_all)
        return;
    run_self.inside++;
    run_record(&recorder_for_lock_wait, format, site, RUN_WORDS(object), 1);
    run_self.inside--;
}
