/* waits.c - threads that wait, recorded as `recorder run` records them. */
/* SPDX-License-Identifier: MIT */
/*
    ./waits WHAT [N]    says "PID n" when its threads are about to wait
*/
#define _GNU_SOURCE
#include "waits.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

enum { MUTEXES = 512 };
#define MUTEX(name) pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER
MUTEX(cash);
MUTEX(bank);
pthread_mutex_t ring[MUTEXES];
pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t pages = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static pthread_t main_thread, first_thread, second_thread;
static long count = 1;

#define APART __attribute__((noinline)) static
APART void nap(void)
{
    for (;;)
        pause();
}
static pthread_t thread(const char *name, void *(*run)(void *), void *with)
{
    return create(name, run, with);
}

/* ------------------------------------------------------------- deadlocks -- */

APART void transfer(pthread_mutex_t *from, pthread_mutex_t *to)
{
    lock(from);
    pthread_barrier_wait(&both);
    lock(to);
    unlock(to);
    unlock(from);
}
static void *deposit(void *p)
{
    transfer(&cash, &bank);
    return p;
}
static void *withdraw(void *p)
{
    transfer(&bank, &cash);
    return p;
}
static void two(void)
{
    pthread_barrier_init(&both, NULL, 2);
    thread("deposit", deposit, NULL);
    thread("withdraw", withdraw, NULL);
}

static void *around(void *p)
{
    long i = (long)p;
    lock(&ring[i]);
    pthread_barrier_wait(&both);
    lock(&ring[(i + 1) % count]);
    return p;
}
static void circle(void)
{
    pthread_barrier_init(&both, NULL, (unsigned)count);
    for (long i = 0; i < MUTEXES; i++)
        pthread_mutex_init(&ring[i], NULL);
    for (long i = 0; i < count; i++)
        thread("circle", around, (void *)i);
}

static void *again(void *p)
{
    lock(&cash);
    lock(&cash);
    return p;
}
static void self(void)
{
    thread("self", again, NULL);
}

static void *joins_main(void *p)
{
    join(main_thread);
    return p;
}
static void joining(void)
{
    main_thread = pthread_self();
    first_thread = thread("joins_main", joins_main, NULL);
}

static void *wants_cash(void *p)
{
    lock(&cash);
    return p;
}
static void *joins_wanting(void *p)
{
    lock(&cash);
    second_thread = thread("wants", wants_cash, NULL);
    join(second_thread);
    return p;
}
static void join_and_lock(void)
{
    thread("joins", joins_wanting, NULL);
}

static void *reads(void *p)
{
    read_lock(&table);
    pthread_barrier_wait(&both);
    write_lock(&pages);
    return p;
}
static void *writes(void *p)
{
    read_lock(&pages);
    pthread_barrier_wait(&both);
    write_lock(&table);
    return p;
}
static void *looks(void *p)
{
    read_lock(&pages);
    pthread_barrier_wait(&both);
    nap();
    return p;
}
static void rwlocks(void) /* one that reads pages waits for nothing */
{
    pthread_barrier_init(&both, NULL, 3);
    thread("looks", looks, NULL);
    thread("reads", reads, NULL);
    thread("writes", writes, NULL);
}

/* --------------------------------------------------------- no deadlocks -- */

static void *takes(void *p)
{
    lock(&cash);
    return p;
}
static void ended(void)
{
    join(thread("takes", takes, NULL));
    thread("wants_cash", wants_cash, NULL);
}

static void *holds(void *p)
{
    lock(&cash);
    pthread_barrier_wait(&both);
    nap();
    return p;
}
static void forked(void)
{
    pthread_barrier_init(&both, NULL, 2);
    thread("holds", holds, NULL);
    pthread_barrier_wait(&both);
    if (fork() != 0)
        nap();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(&me, 0, sizeof me);
    enter_main();
    thread("wants_cash", wants_cash, NULL);
}

/* A mutex that another thread gives back than took it. */
static void *unlocks(void *p)
{
    pthread_barrier_wait(&both);
    unlock(&cash);
    lock(&cash);
    pthread_barrier_wait(&both);
    nap();
    return p;
}
static void *locks_twice(void *p)
{
    lock(&cash);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    lock(&cash);
    return p;
}
static void foreign(void)
{
    pthread_barrier_init(&both, NULL, 2);
    thread("unlocks", unlocks, NULL);
    thread("locks_twice", locks_twice, NULL);
}

/* Locks in the order of their addresses, as fast as they can. */
static void *works(void *p)
{
    unsigned random = (unsigned)(long)p;
    for (;;) {
        unsigned a, b;
        random = random * 1103515245 + 12345;
        a = random >> 16 & 3;
        b = a + 1 + (random >> 20 & 3);
        lock(&ring[a]);
        lock(&ring[b]);
        unlock(&ring[random >> 24 & 1 ? a : b]);
        unlock(&ring[random >> 24 & 1 ? b : a]);
    }
    return p;
}
static void busy(void)
{
    for (long i = 0; i < MUTEXES; i++)
        pthread_mutex_init(&ring[i], NULL);
    for (long i = 1; i <= count; i++)
        thread("works", works, (void *)i);
}

static void *waits_for_work(void *p)
{
    lock(&cash);
    cond_wait(&ready, &cash);
    unlock(&cash);
    return p;
}
static void pool(void)
{
    for (long i = 0; i < count; i++)
        thread("worker", waits_for_work, NULL);
}

/* ----------------------------------------------------------------- order -- */

MUTEX(real_a);
MUTEX(real_b);
MUTEX(gate);
MUTEX(gated_a);
MUTEX(gated_b);
MUTEX(one_a);
MUTEX(one_b);
MUTEX(left_a);
MUTEX(left_b);
MUTEX(left_c);
MUTEX(try_a);
MUTEX(try_b);
MUTEX(ring_a);
MUTEX(ring_b);
MUTEX(ring_c);
MUTEX(half_gate);
MUTEX(half_a);
MUTEX(half_b);
#define RWLOCK(name) pthread_rwlock_t name = PTHREAD_RWLOCK_INITIALIZER
RWLOCK(rd_a);
RWLOCK(rd_b);
RWLOCK(rw_a);
RWLOCK(rw_b);

/* Takes locks by letters: a mutex to lock (l), try (t), unlock (u); a rwlock to
 * read (r), write (w), give back (g). */
struct step {
    char how;
    void *what;
};
static void *steps(void *p)
{
    for (const struct step *step = p; step->how; step++)
        switch (step->how) {
        case 'l': lock(step->what); break;
        case 't': trylock(step->what); break;
        case 'u': unlock(step->what); break;
        case 'r': read_lock(step->what); break;
        case 'w': write_lock(step->what); break;
        default: unlock_rw(step->what);
        }
    return p;
}
#define DO(name, ...)                                                          \
    static const struct step name[] = {__VA_ARGS__, {0, NULL}};                \
    join(thread(#name, steps, (void *)(uintptr_t)name))
#define L(m)                                                                   \
    {                                                                          \
        'l', &m                                                                \
    }
#define T(m)                                                                   \
    {                                                                          \
        't', &m                                                                \
    }
#define U(m)                                                                   \
    {                                                                          \
        'u', &m                                                                \
    }
#define R(m)                                                                   \
    {                                                                          \
        'r', &m                                                                \
    }
#define W(m)                                                                   \
    {                                                                          \
        'w', &m                                                                \
    }
#define G(m)                                                                   \
    {                                                                          \
        'g', &m                                                                \
    }
static void order(void)
{
    DO(real_1, L(real_a), L(real_b), U(real_b), U(real_a));
    DO(real_2, L(real_b), L(real_a), U(real_a), U(real_b));
    DO(gated_1, L(gate), L(gated_a), L(gated_b), U(gated_b), U(gated_a),
       U(gate));
    DO(gated_2, L(gate), L(gated_b), L(gated_a), U(gated_a), U(gated_b),
       U(gate));
    DO(one, L(one_a), L(one_b), U(one_b), U(one_a), L(one_b), L(one_a),
       U(one_a), U(one_b));
    DO(left_1, L(left_a), L(left_b), U(left_a), L(left_c), U(left_c),
       U(left_b));
    DO(left_2, L(left_c), L(left_a), U(left_a), U(left_c));
    DO(try_1, L(try_a), L(try_b), U(try_b), U(try_a));
    DO(try_2, L(try_b), T(try_a), U(try_a), U(try_b));
    DO(rd_1, R(rd_a), R(rd_b), G(rd_b), G(rd_a));
    DO(rd_2, R(rd_b), R(rd_a), G(rd_a), G(rd_b));
    DO(rw_1, R(rw_a), W(rw_b), G(rw_b), G(rw_a));
    DO(rw_2, R(rw_b), W(rw_a), G(rw_a), G(rw_b));
    DO(ring_1, L(ring_a), L(ring_b), U(ring_b), U(ring_a));
    DO(ring_2, L(ring_b), L(ring_c), U(ring_c), U(ring_b));
    DO(ring_3, L(ring_c), L(ring_a), U(ring_a), U(ring_c));
    DO(half_1, L(half_gate), L(half_a), L(half_b), U(half_b), U(half_a),
       U(half_gate), L(half_a), L(half_b), U(half_b), U(half_a));
    DO(half_2, L(half_gate), L(half_b), L(half_a), U(half_a), U(half_b),
       U(half_gate));
}

/* Many locks of one kind: of a pair of places, the first chains are recorded. */
static void *list_last(void *p)
{
    for (int i = 0; i < 100; i++) {
        lock(&ring[i]);
        lock(&cash);
        unlock(&cash);
        unlock(&ring[i]);
    }
    return p;
}
static void *list_first(void *p)
{
    for (int i = 16; i < 100; i++) {
        lock(&cash);
        lock(&ring[i]);
        unlock(&ring[i]);
        unlock(&cash);
    }
    return p;
}
/* So it is seen that locks of both places are of one kind. */
static void *behind_bank(void *p)
{
    for (int i = 8; i < 100; i++) {
        lock(&bank);
        lock(&ring[i]);
        unlock(&ring[i]);
        unlock(&bank);
    }
    return p;
}
static void *hand_over_hand(void *p)
{
    lock(&ring[0]);
    for (int i = 1; i < 100; i++) {
        lock(&ring[i]);
        unlock(&ring[i - 1]);
    }
    unlock(&ring[99]);
    return p;
}
static void *take_ring_first(void *p)
{
    for (int i = 299; i > 180; i--) {
        lock(&ring[i]);
        lock(&cash);
        unlock(&cash);
        unlock(&ring[i]);
    }
    return p;
}
static void rings_init(void)
{
    class_max = 16; /* as recorder run has it */
    for (long i = 0; i < MUTEXES; i++)
        pthread_mutex_init(&ring[i], NULL);
}
static void classes(void)
{
    rings_init();
    join(thread("list_last", list_last, NULL));
    join(thread("list_first", list_first, NULL));
    join(thread("behind_bank", behind_bank, NULL));
}
static void hands(void)
{
    rings_init();
    join(thread("hand_over_hand", hand_over_hand, NULL));
    join(thread("hand_over_hand", hand_over_hand, NULL));
    join(thread("list_last", list_last, NULL));
    join(thread("take_ring_first", take_ring_first, NULL));
}

/* ------------------------------------------------------------------- main -- */

/* Random words in all records that readers take by position. */
static void *scribbles(void *p)
{
    static const struct {
        struct recorder *of;
        const char *format;
    } kinds[] = {
        {&recorder_for_thread_self,
         RUN_HEADING("made") "thread %p made by T%u: %p(%p -> %p), stack %u, "
                             "called at %u, stack "
                             "of %u"},
        {&recorder_for_thread_now,
         RUN_HEADING("waits mutex") "mutex %p of %d, stack %u, until %u"},
        {&recorder_for_thread_now,
         RUN_HEADING("waits thread") "thread %p%.0d, stack %u, until %u"},
        {&recorder_for_thread_held,
         RUN_HEADING("holds") "holds %p from %p, %p from %p, %p from %p, "
                              "%p from %p, %p from %p, %p from %p"},
        {&recorder_for_thread_calls,
         RUN_HEADING("calls") "lock %u waited %u, trylock %u failed %u, "
                              "unlock %u, rwlock %u waited %u"},
        {&recorder_for_lock_total,
         RUN_HEADING("total mutex") "mutex %p: taken %u, waited %u times, %u "
                                    "ticks, longest %u from %p"},
        {&recorder_for_lock_order,
         RUN_HEADING("chain") "took %p stack %u holding %u: %p from %p, "
                              "%p from %p, %p from %p, %p from %p"},
        {&recorder_for_lock_wait,
         RUN_HEADING("begins mutex") ">mutex %p of %d, stack %u, holding %u"},
        {&recorder_for_lock_wait,
         RUN_HEADING("ends mutex") "<mutex %p: %d, by T%u"},
        {&recorder_for_thread_life,
         RUN_HEADING("started") "started %p(%p) as %p, made by T%u, stack %u"},
        {&recorder_for_thread_life,
         RUN_HEADING("ended") "ended: lock %u waited %u, trylock %u"},
        {&recorder_for_thread_life, RUN_HEADING("named") "named %s"},
        {&recorder_for_call_stack,
         RUN_HEADING(
             "stack") "stack %u from %u: %p %p %p %p %p %p %p %p %p %p"}};
    uintptr_t small[] = {0,
                         1,
                         2,
                         3,
                         4,
                         9,
                         10,
                         20,
                         47,
                         1024,
                         (uintptr_t)-1,
                         (uintptr_t)&cash,
                         (uintptr_t)&bank};
    unsigned seed = (unsigned)(uintptr_t)p;
    for (int i = 0; i < 1000; i++) {
        int k = rand_r(&seed) % (int)(sizeof kinds / sizeof *kinds);
        unsigned records = 1 + (unsigned)rand_r(&seed) % 3;
        uintptr_t words[12];
        for (int w = 0; w < 12; w++)
            words[w] = rand_r(&seed) % 4
                           ? small[rand_r(&seed) % 13]
                           : (uintptr_t)rand_r(&seed) << (rand_r(&seed) % 40);
        if (kinds[k].of->lanes_mask)
            cell(kinds[k].of, 1 + (unsigned)rand_r(&seed) % 16, kinds[k].format,
                 words[0], words, records, NULL);
        else
            recorder_record_words_(kinds[k].of, kinds[k].format, words[0],
                                   words, records);
    }
    return NULL;
}
static void hostile(void)
{
    for (long i = 0; i < 12; i++) {
        pthread_t made;
        pthread_create(&made, NULL, scribbles, (void *)(count * 12 + i));
        if (i % 2)
            pthread_join(made, NULL);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} all[] = {{"two", two},         {"circle", circle},
           {"self", self},       {"joining", joining},
           {"rwlocks", rwlocks}, {"join_and_lock", join_and_lock},
           {"ended", ended},     {"forked", forked},
           {"foreign", foreign}, {"busy", busy},
           {"pool", pool},       {"order", order},
           {"classes", classes}, {"hands", hands},
           {"hostile", hostile}};

int main(int argc, char **argv)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    enter_main();
    count = argc > 2 ? atol(argv[2]) : 1;
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[1], all[i].name) == 0)
            all[i].run();
    usleep(50000);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "joining") == 0)
        join(first_thread);
    nap();
}
