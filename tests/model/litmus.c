/* litmus.c - does the explorer know the memory model? */
/* SPDX-License-Identifier: MIT */
/*
 * Each test is a program of two to four threads and the exact set of outcomes
 * that RC11 allows it: with one too many the explorer would cry wolf, with one
 * too few its proofs would be worth nothing. Each runs as it is, under the
 * reduction, and at random.
 */
#include "weak.h"

#include <stdio.h>
#include <stdlib.h>

enum { RLX = __ATOMIC_RELAXED, ACQ = __ATOMIC_ACQUIRE, REL = __ATOMIC_RELEASE };

static uintptr_t x, y;

#define LOAD(p, order) __atomic_load_n(&p, order)
#define STORE(p, value, order) __atomic_store_n(&p, value, order)
#define ADD(p, value, order) __atomic_fetch_add(&p, value, order)
#define FENCE(order) __atomic_thread_fence(order)

/* A thread, and its result. */
#define THREAD(name, ...)                                                      \
    static void *name(void *unused)                                            \
    {                                                                          \
        uintptr_t a = 0, b = 0;                                                \
        (void)unused;                                                          \
        __VA_ARGS__;                                                           \
        return (void *)(4 * a + b);                                            \
    }
typedef void *thread_function(void *);

/* Runs up to four threads. The outcome: the sum of their results, each times
 * the weight at its place, and of x and y as they are at the end. */
static int outcome(thread_function *const function[4], const unsigned weight[6])
{
    weak_thread thread[4];
    uintptr_t sum = 0;
    unsigned i;
    for (i = 0; i < 4 && function[i]; i++)
        weak_begin(&thread[i], function[i], NULL);
    for (i = 0; i < 4 && function[i]; i++) {
        void *result;
        weak_join(thread[i], &result);
        sum += weight[i] * (uintptr_t)result;
    }
    if (weight[4])
        sum += weight[4] * LOAD(x, RLX);
    if (weight[5])
        sum += weight[5] * LOAD(y, RLX);
    return (int)sum;
}
#define ALL(...)                                                               \
    {                                                                          \
        __VA_ARGS__                                                            \
    }
#define TEST(name, functions, weights)                                         \
    static int name(void)                                                      \
    {                                                                          \
        static thread_function *const function[4] = functions;                 \
        static const unsigned weight[6] = weights;                             \
        return outcome(function, weight);                                      \
    }

/* Message passing: y says that x is there. Outcome: 4 * y + x as read. */
THREAD(mp_relaxed, STORE(x, 1, RLX), STORE(y, 1, RLX))
THREAD(mp_release, STORE(x, 1, RLX), STORE(y, 1, REL))
THREAD(mp_fence, STORE(x, 1, RLX), FENCE(REL), STORE(y, 1, RLX))
THREAD(mp_fence_early, FENCE(REL), STORE(x, 1, RLX), STORE(y, 1, RLX))
THREAD(mp_fence_rmw, STORE(x, 1, RLX), FENCE(REL), ADD(y, 1, RLX))
THREAD(read_relaxed, a = LOAD(y, RLX), b = LOAD(x, RLX))
THREAD(read_acquire, a = LOAD(y, ACQ), b = LOAD(x, RLX))
THREAD(read_fence, a = LOAD(y, RLX), FENCE(ACQ), b = LOAD(x, RLX))
THREAD(read_fence_late, a = LOAD(y, RLX), b = LOAD(x, RLX), FENCE(ACQ))
THREAD(read_rmw, a = ADD(y, 0, ACQ), b = LOAD(x, RLX))
TEST(mp_1, ALL(mp_relaxed, read_relaxed), ALL(0, 1))
TEST(mp_2, ALL(mp_release, read_relaxed), ALL(0, 1))
TEST(mp_3, ALL(mp_relaxed, read_acquire), ALL(0, 1))
TEST(mp_4, ALL(mp_release, read_acquire), ALL(0, 1))
TEST(mp_5, ALL(mp_fence, read_fence), ALL(0, 1))
TEST(mp_6, ALL(mp_fence, read_acquire), ALL(0, 1))
TEST(mp_7, ALL(mp_release, read_fence), ALL(0, 1))
TEST(mp_8, ALL(mp_fence_early, read_fence), ALL(0, 1))
TEST(mp_9, ALL(mp_fence, read_fence_late), ALL(0, 1))
TEST(mp_10, ALL(mp_fence_rmw, read_rmw), ALL(0, 1))

/* A failed compare-and-swap is a load, of its failure order. */
THREAD(cas_acquire, b = 9;
       __atomic_compare_exchange_n(&y, &b, 8, false, RLX, ACQ);
       a = b, b = LOAD(x, RLX))
THREAD(cas_relaxed, b = 9;
       __atomic_compare_exchange_n(&y, &b, 8, false, ACQ, RLX);
       a = b, b = LOAD(x, RLX))
TEST(cas_1, ALL(mp_release, cas_acquire), ALL(0, 1))
TEST(cas_2, ALL(mp_release, cas_relaxed), ALL(0, 1))

/* Store buffering: 2 * what one read + what the other did. */
THREAD(sb_x, STORE(x, 1, REL), b = LOAD(y, ACQ))
THREAD(sb_y, STORE(y, 1, REL), b = LOAD(x, ACQ))
TEST(sb, ALL(sb_x, sb_y), ALL(1, 2))

/* Load buffering. */
THREAD(lb_x, b = LOAD(x, RLX), STORE(y, 1, RLX))
THREAD(lb_y, b = LOAD(y, RLX), STORE(x, 1, RLX))
TEST(lb, ALL(lb_x, lb_y), ALL(1, 2))

/* Coherence: one location, one order. */
THREAD(x_1, STORE(x, 1, RLX))
THREAD(x_2, STORE(x, 2, RLX))
THREAD(y_1, STORE(y, 1, RLX))
THREAD(x_1_2, STORE(x, 1, RLX), STORE(x, 2, RLX))
THREAD(x_x, a = LOAD(x, RLX), b = LOAD(x, RLX))
THREAD(x_x_order, a = LOAD(x, RLX), b = LOAD(x, RLX),
       b = a == 0 || b == 0 || a == b ? 0 : a, a = 0)
THREAD(x_then_1, b = LOAD(x, RLX), STORE(x, 1, RLX))
TEST(co_rr, ALL(x_1_2, x_x), ALL(0, 1))
TEST(co_iriw, ALL(x_1, x_2, x_x_order, x_x_order), ALL(0, 0, 1, 4))
TEST(co_rw, ALL(x_then_1, x_2), ALL(1, 0, 0, 0, 4))

/* Independent reads of independent writes: they may disagree. */
THREAD(x_not_y, a = LOAD(x, ACQ), b = LOAD(y, ACQ), b = a && !b, a = 0)
THREAD(y_not_x, a = LOAD(y, ACQ), b = LOAD(x, ACQ), b = a && !b, a = 0)
TEST(iriw, ALL(x_1, y_1, x_not_y, y_not_x), ALL(0, 0, 1, 2))

/* 2+2W: 4 * y + x at the end. S: 4 * x at the end + y as read. */
THREAD(w_x_y, STORE(x, 1, RLX), STORE(y, 2, REL))
THREAD(w_y_x, STORE(y, 1, RLX), STORE(x, 2, REL))
TEST(w_2_2, ALL(w_x_y, w_y_x), ALL(0, 0, 0, 0, 1, 4))
THREAD(s_release, STORE(x, 2, RLX), STORE(y, 1, REL))
THREAD(s_relaxed, STORE(x, 2, RLX), STORE(y, 1, RLX))
THREAD(s_acquire, b = LOAD(y, ACQ), STORE(x, 1, RLX))
TEST(s_1, ALL(s_release, s_acquire), ALL(0, 1, 0, 0, 4))
TEST(s_2, ALL(s_relaxed, s_acquire), ALL(0, 1, 0, 0, 4))

/* Write to read causality, through a third thread. */
THREAD(wrc_pass, LOAD(x, RLX) ? STORE(y, 1, REL) : (void)0)
TEST(wrc, ALL(x_1, wrc_pass, read_acquire), ALL(0, 0, 1))

/* Release sequences: who reads 2 has seen the RMW, or the store, of another
 * thread, or the same one's, after the release. Outcome: x where y was 2. */
THREAD(rs_rmw, ADD(y, 1, RLX))
THREAD(rs_store, STORE(y, 2, RLX))
THREAD(rs_own, STORE(x, 1, RLX), STORE(y, 1, REL), STORE(y, 2, RLX))
THREAD(rs_read, a = LOAD(y, ACQ), b = LOAD(x, RLX), b = a == 2 ? 2 + b : 0,
       a = 0)
TEST(rs_1, ALL(mp_release, rs_rmw, rs_read), ALL(0, 0, 1))
TEST(rs_2, ALL(mp_release, rs_store, rs_read), ALL(0, 0, 1))
TEST(rs_3, ALL(rs_own, rs_read), ALL(0, 1))

/* A read-modify-write is one step. */
THREAD(add_x, b = ADD(x, 1, RLX))
THREAD(swap_x, b = __atomic_compare_exchange_n(&x, &a, 3, false, RLX, RLX),
       a = 0)
TEST(rmw_1, ALL(add_x, add_x), ALL(1, 2, 0, 0, 4))
TEST(rmw_2, ALL(swap_x, swap_x), ALL(1, 2))
TEST(rmw_3, ALL(add_x, x_2), ALL(1, 0, 0, 0, 4))
TEST(rmw_4, ALL(add_x, add_x, add_x), ALL(0, 0, 0, 0, 1))

/* Threads see what came before their creation; who joins sees what they did. */
THREAD(read_x, b = LOAD(x, RLX))
static int create_join(void)
{
    static thread_function *const function[4] = {read_x, y_1};
    static const unsigned weight[6] = {1, 0, 0, 0, 0, 2};
    STORE(x, 1, RLX);
    return outcome(function, weight);
}

/* Plain stores must be ordered. */
THREAD(alone_release, weak_alone(&x); STORE(y, 1, REL))
THREAD(alone_relaxed, weak_alone(&x); STORE(y, 1, RLX))
THREAD(alone_acquire, if (LOAD(y, ACQ)) weak_alone(&x))
TEST(alone_1, ALL(alone_release, alone_acquire), ALL(0))
TEST(alone_2, ALL(alone_relaxed, alone_acquire), ALL(0))

#define BIT(n) (1ull << (n))
static const struct {
    const char *name;
    int (*program)(void);
    uint64_t allowed; /* 0: it must fail */
} tests[] = {
    {"message passing, relaxed", mp_1, BIT(0) | BIT(1) | BIT(4) | BIT(5)},
    {"message passing, release only", mp_2, BIT(0) | BIT(1) | BIT(4) | BIT(5)},
    {"message passing, acquire only", mp_3, BIT(0) | BIT(1) | BIT(4) | BIT(5)},
    {"message passing, release, acquire", mp_4, BIT(0) | BIT(1) | BIT(5)},
    {"message passing, two fences", mp_5, BIT(0) | BIT(1) | BIT(5)},
    {"message passing, fence, acquire", mp_6, BIT(0) | BIT(1) | BIT(5)},
    {"message passing, release, fence", mp_7, BIT(0) | BIT(1) | BIT(5)},
    {"message passing, release fence too early", mp_8,
     BIT(0) | BIT(1) | BIT(4) | BIT(5)},
    {"message passing, acquire fence too late", mp_9,
     BIT(0) | BIT(1) | BIT(4) | BIT(5)},
    {"message passing, read-modify-writes", mp_10, BIT(0) | BIT(1) | BIT(5)},
    {"failed swap, acquire", cas_1, BIT(0) | BIT(1) | BIT(5)},
    {"failed swap, relaxed", cas_2, BIT(0) | BIT(1) | BIT(4) | BIT(5)},
    {"store buffering", sb, BIT(0) | BIT(1) | BIT(2) | BIT(3)},
    {"load buffering", lb, BIT(0) | BIT(1) | BIT(2)},
    {"coherence, reads", co_rr,
     BIT(0) | BIT(1) | BIT(2) | BIT(5) | BIT(6) | BIT(10)},
    {"coherence, two readers", co_iriw,
     BIT(0) | BIT(1) | BIT(2) | BIT(4) | BIT(5) | BIT(8) | BIT(10)},
    {"coherence, read and write", co_rw, BIT(4) | BIT(6) | BIT(8)},
    {"independent reads", iriw, BIT(0) | BIT(1) | BIT(2) | BIT(3)},
    {"two by two writes", w_2_2, BIT(5) | BIT(6) | BIT(9) | BIT(10)},
    {"store behind an acquire", s_1, BIT(4) | BIT(5) | BIT(8)},
    {"store behind an acquire, no release", s_2,
     BIT(4) | BIT(5) | BIT(8) | BIT(9)},
    {"causality through a third thread", wrc, BIT(0) | BIT(1) | BIT(5)},
    {"release sequence, read-modify-write", rs_1, BIT(0) | BIT(3)},
    {"release sequence, another's store", rs_2, BIT(0) | BIT(2) | BIT(3)},
    {"release sequence, own store", rs_3, BIT(0) | BIT(2) | BIT(3)},
    {"two additions", rmw_1, BIT(9) | BIT(10)},
    {"two swaps", rmw_2, BIT(1) | BIT(2)},
    {"addition and store", rmw_3, BIT(8) | BIT(14)},
    {"three additions", rmw_4, BIT(3)},
    {"creation and join", create_join, BIT(3)},
    {"plain stores in order", alone_1, BIT(0)},
    {"plain stores that race", alone_2, 0},
};

int main(void)
{
    enum { COUNT = sizeof tests / sizeof *tests, RUNS = 10000 };
    unsigned i, failed = 0;
    unsigned long all = 0, reduced = 0;
    for (i = 0; i < COUNT; i++) {
        struct weak_result r[3];
        unsigned k;
        bool good = true;
        r[0] = weak_explore(tests[i].program, 0);
        r[1] = weak_explore(tests[i].program, WEAK_REDUCED);
        r[2] = weak_random(tests[i].program, 0, RUNS, 1);
        for (k = 0; k < 3; k++)
            good = good &&
                   (tests[i].allowed == 0
                        ? r[k].failure != NULL
                        : !r[k].failure && r[k].outcomes == tests[i].allowed);
        all += r[0].states;
        reduced += r[1].states;
        if (good)
            continue;
        failed++;
        printf("litmus: %s: outcomes %#llx expected, %#llx found, %#llx "
               "reduced, %#llx at random\n",
               tests[i].name, (unsigned long long)tests[i].allowed,
               (unsigned long long)r[0].outcomes,
               (unsigned long long)r[1].outcomes,
               (unsigned long long)r[2].outcomes);
    }
    printf("litmus: %u tests of the explorer itself, exact outcomes in all "
           "three modes (%lu states, reduced %lu): %s\n",
           COUNT, all, reduced, failed ? "FAILED" : "ok");
    return failed != 0;
}
