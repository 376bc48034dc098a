/* The rare path of a record: slots given up, taken over, come back. */
/* SPDX-License-Identifier: MIT */
static void rare_step(const char *where);
#define RECORDER_STEP_(label) rare_step(#label)
#define BUILD_SECONDS 300 /* programs of 32 bits on a busy machine */
#define RECORDER_LAPS_WRAP_ 1 /* tests get there, in words of 64 bits, too */
#include "harness/build.h"
#include "harness/ring.h"
#include "harness/wrap.h"
#include <semaphore.h>
#include <ucontext.h>

TestSuite(rare, .init = ring_learn, .timeout = 600);

static void (*at_step)(const char *where); /* null: nothing happens there */
static void rare_step(const char *where)
{
    if (at_step)
        at_step(where);
}

/* --------------------------------------------------------- turn by turn --
 *
 * Goal: a ticket takes a slot exactly when it is its turn: the lap before is
 * complete, or all between have given up. Method: the words of slot 0 are set
 * by hand, in laps of a ring of 8, and one ticket of lap 100 comes.
 */
enum { LAP = 100 };
static const struct turn {
    const char *what;
    uintptr_t lap; /* that the slot holds */
    bool busy;
    uintptr_t gave_up, highest;
    bool taken;
    uintptr_t gave_up_then, highest_then;
} turns[] = {
    {"the lap before is complete", 99, false, 0, 0, true, 0, 0},
    {"the lap before is complete, long ago it was not", 99, false, 0, 7, true,
     0, 7},
    {"the lap before is written", 99, true, 0, 0, false, 1, 100},
    {"a lap is missing", 98, false, 0, 0, false, 1, 100},
    {"a lap is missing, its mark is there", 98, false, 0, 99, false, 1, 100},
    {"a lap is missing, an old one gave up", 98, false, 1, 97, false, 2, 100},
    {"one lap gave up", 98, false, 1, 99, true, 0, 99},
    {"one lap gave up, the one before is written", 98, true, 1, 99, false, 2,
     100},
    {"a later lap gave up, the one between did not", 98, false, 1, 101, false,
     2, 101},
    {"more gave up than there are laps between", 98, false, 2, 101, false, 3,
     101},
    {"more gave up than there are, the mark is right", 98, false, 2, 99, false,
     3, 100},
    {"two laps between, one gave up", 97, false, 1, 98, false, 2, 100},
    {"two laps between, one gave up, the last", 97, false, 1, 99, false, 2,
     100},
    {"two laps between gave up", 97, false, 2, 99, true, 0, 99},
    {"fifty gave up", 49, false, 50, 99, true, 0, 99},
    {"fifty gave up, the first is written", 49, true, 50, 99, false, 51, 100},
    {"my own lap is there", 100, false, 0, 0, false, 1, 100},
    {"a later lap is there", 103, false, 0, 0, false, 1, 100},
    {"a later lap is written", 103, true, 0, 102, false, 1, 102},
};
Test(rare, turn_by_turn)
{
    unsigned i;
    for (i = 0; i < sizeof turns / sizeof *turns; i++) {
        const struct turn *t = &turns[i];
        struct recorder_ring *head;
        uintptr_t slot, order;
        struct recorder_record r;
        ring_use(8);
        ring_writer_enter(0);
        head = ring_head();
        head->write = (LAP - 1) * 8;
        for (slot = 1; slot < 8; slot++)
            *ring_commit(slot) = recorder_commit_lap_((LAP - 1) * 8, 7) | 2;
        *ring_commit(0) = recorder_commit_lap_(t->lap * 8, 7) | 2 | t->busy;
        ring_turn(0)->gave_up = t->gave_up * 8;
        ring_turn(0)->highest = t->highest * 8;
        order = ring_record(0, 0);
        slot = t->taken ? 0 : 1;
        cr_assert(head->write == (LAP - 1) * 8 + 1 + slot, "%s", t->what);
        cr_assert(head->given_up == slot && head->lost == 0, "%s", t->what);
        cr_assert(ring_turn(0)->gave_up == t->gave_up_then * 8, "%s", t->what);
        cr_assert(ring_turn(0)->highest == t->highest_then * 8, "%s", t->what);
        cr_assert(recorder_look_(head, 7, slot, &r) != 0, "%s", t->what);
        cr_assert(r.order == order, "%s", t->what);
    }
}

/* Goal: a record that finds no slot in 64 tickets is counted as lost, and its
 * tickets as given up; all slots come back with their writers. Method: all
 * slots of rings of 1 to 16 are marked as written; 1000 calls of 1 and of 3
 * records. */
Test(rare, lost_is_counted)
{
    uintptr_t slots, slot, i;
    for (slots = 1; slots <= 16; slots *= 2)
        for (i = 0; i < 2; i++) {
            uintptr_t records = 0, call, kept = 0;
            ring_use(slots);
            ring_writer_enter(0);
            for (slot = 0; slot < 3 * slots; slot++)
                kept = ring_record(0, 0);
            for (slot = 0; slot < slots; slot++)
                *ring_commit(slot) |= 1;
            for (call = 0; call < 1000; call++) {
                uintptr_t order = ring_record(0, i * RING_12);
                cr_assert(order != 0);
                records += i ? 3 : 1;
                cr_assert(ring_head()->lost == records);
                cr_assert(ring_head()->given_up == 64 * records);
                cr_assert(ring_head()->write == 3 * slots + 64 * records);
            }
            for (slot = 0; slot < slots; slot++)
                *ring_commit(slot) ^= 1;
            ring_expect_orders(kept, slots);
            ring_expect_counted(3 * slots + records);
            ring_expect_all_slots(0);
        }
}

/* ------------------------------------------------------------- two late -- */

struct late {
    pthread_t thread;
    uintptr_t who;
    const char *where;
    sem_t there, go_on;
};
static __thread struct late *late;
static void park_late(const char *where)
{
    struct late *me = late;
    if (!me || strcmp(where, me->where) != 0)
        return;
    late = NULL;
    sem_post(&me->there);
    while (sem_wait(&me->go_on) != 0)
        ;
}
static void *record_late(void *argument)
{
    struct late *me = argument;
    ring_writer_enter(me->who);
    late = me;
    ring_record(me->who, 0);
    return NULL;
}
static void late_start(struct late *me, uintptr_t who, const char *where)
{
    me->who = who;
    me->where = where;
    sem_init(&me->there, 0, 0);
    sem_init(&me->go_on, 0, 0);
    me->thread = ring_thread(record_late, me);
    while (sem_wait(&me->there) != 0)
        ;
}
static void late_end(struct late *me)
{
    sem_post(&me->go_on);
    pthread_join(me->thread, NULL);
}

/* Goal: a ticket does not take the count of a later lap for that of the one
 * before it (P2). Method: in a ring of 2, ticket A sees that it is its turn and
 * is stopped; B, of the lap after, is stopped before it looks; lap three gives
 * up. B sees a count of one lap, and one lap between; it must leave the slot to
 * A. Then the same with the order of their going on turned round. */
Test(rare, a_later_lap_gave_up)
{
    int first;
    at_step = park_late;
    for (first = 0; first < 2; first++) {
        struct late a, b;
        uintptr_t given_up;
        ring_use(2);
        ring_writer_enter(0);
        ring_record(0, 0);
        ring_record(0, 0);
        late_start(&a, 1, "W3"); /* slot 0, lap 2 */
        ring_record(0, 0);
        late_start(&b, 2, "W2"); /* slot 0, lap 3 */
        ring_record(0, 0);
        ring_record(0, 0); /* gives slot 0 up, takes slot 1 */
        given_up = ring_head()->given_up;
        cr_assert(given_up == 1);
        if (first == 0) {
            late_end(&b);
            /* Slot 0 with both of its tickets: 6 and 10. */
            cr_assert(ring_head()->given_up == 3);
            late_end(&a);
        } else {
            late_end(&a);
            late_end(&b);
        }
        ring_expect_counted(7);
        ring_expect_all_slots(0);
    }
    at_step = NULL;
}

/* Goal: who gives up raises the mark before it counts (G1 before G2), so that
 * no ticket sees a count without its mark. Method: a ticket stopped between
 * them; the mark must be there, the count not yet. */
Test(rare, the_mark_comes_before_the_count)
{
    struct late a;
    at_step = park_late;
    ring_use(2);
    ring_writer_enter(0);
    ring_record(0, 0);
    ring_record(0, 0);
    *ring_commit(0) |= 1;
    late_start(&a, 1, "G1");
    cr_assert(ring_turn(0)->highest == 4 && ring_turn(0)->gave_up == 0);
    late_end(&a);
    cr_assert(ring_turn(0)->highest == 4 && ring_turn(0)->gave_up == 2);
    *ring_commit(0) ^= 1;
    ring_expect_counted(3);
    ring_record(0, 0);
    ring_expect_all_slots(0);
    at_step = NULL;
}

/* ---------------------------------------------------------- any schedule --
 *
 * Goal: no schedule at all mixes records, loses a slot, or counts wrong.
 * Method: writers are coroutines of one thread that change at steps of
 * record(), as a random number says; a look at all slots at each step. 60,000
 * schedules come where threads never would: this is the logic of the ring, not
 * its memory order, which tests/model checks.
 */
enum { ROUTINES = 4, STACK_BYTES = 65536 };
static struct routine {
    ucontext_t context;
    uintptr_t who, records, calls;
    bool done;
    _Alignas(16) char stack[STACK_BYTES];
} routines[ROUTINES];
static ucontext_t scheduler;
static struct routine *running;
static uint64_t schedule_random;
static unsigned schedule_stay; /* of 256: how likely a routine goes on */
static struct ring_reader schedule_reader;

static void change(const char *where)
{
    struct routine *me = running;
    uintptr_t key = ring_key;
    (void)where;
    if (!me || random_of(&schedule_random) % 256 < schedule_stay)
        return;
    swapcontext(&me->context, &scheduler);
    ring_key = key;
}
static void run_routine(void)
{
    struct routine *me = running;
    uintptr_t i;
    for (i = 0; i < me->calls; i++) {
        uintptr_t site = (uintptr_t)random_of(&schedule_random) % RING_SITES;
        ring_record(me->who, site);
        me->records += ring_parts(site);
    }
    me->done = true;
}
static void routine_start(struct routine *r, uintptr_t who, uintptr_t calls)
{
    r->who = who;
    r->calls = calls;
    r->records = 0;
    r->done = false;
    getcontext(&r->context);
    r->context.uc_stack.ss_sp = r->stack;
    r->context.uc_stack.ss_size = STACK_BYTES;
    r->context.uc_link = &scheduler;
    makecontext(&r->context, run_routine, 0);
}
/* Runs one schedule. Returns how many records were made. */
static uintptr_t schedule(uintptr_t slots, unsigned count, uintptr_t calls)
{
    struct routine *alive[ROUTINES];
    uintptr_t records = 0;
    unsigned i, left = count;
    memset(&schedule_reader, 0, sizeof schedule_reader);
    ring_use(slots);
    for (i = 0; i < count; i++) {
        alive[i] = &routines[i];
        routine_start(alive[i], i + 1, calls);
    }
    while (left > 0) {
        i = (unsigned)random_of(&schedule_random) % left;
        running = alive[i];
        swapcontext(&scheduler, &running->context);
        if (alive[i]->done) {
            records += alive[i]->records;
            alive[i] = alive[--left];
        }
        running = NULL;
        ring_look(&schedule_reader);
    }
    return records;
}
Test(rare, any_schedule)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    cr_skip_test("sanitizers do not know coroutines");
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
    cr_skip_test("sanitizers do not know coroutines");
#endif
#endif
    static const uintptr_t slots[] = {1, 2, 4};
    static const unsigned stays[] = {0, 0, 128, 200, 240};
    uint64_t seed = seed_of("any_schedule");
    uintptr_t n, i, records = 0, given_up = 0, lost = 0;
    for (i = 0; i <= ROUTINES; i++)
        ring_writer_enter(i);
    at_step = change;
    for (n = 0; n < scaled(60000); n++) {
        uintptr_t made;
        schedule_random = seed + n;
        schedule_stay = stays[n % 5];
        made = schedule(slots[n % 3], 2 + (unsigned)(n % 7 % 3), 1 + n % 4);
        cr_assert(schedule_reader.torn == 0, "schedule %zu: %s", (size_t)n,
                  schedule_reader.fault);
        ring_expect_counted(made);
        given_up += ring_head()->given_up;
        lost += ring_head()->lost;
        records += made;
        ring_expect_all_slots(0);
    }
    at_step = NULL;
    cr_log_info("%zu schedules, %zu records, %zu tickets given up, %zu lost",
                (size_t)n, (size_t)records, (size_t)given_up, (size_t)lost);
}

/* ------------------------------------------------------------------ wrap -- */

/* Goal: everything holds where positions, laps and orders wrap. Method: wrap.h,
 * in words of this machine, and in a program of 32 bits, which gets there. */
static void in_32_bits(const char *check)
{
    build_needs_flags("gcc", "-m32");
    build_must("echo \"int main(void) { const char *fault = %s();"
               " if (fault) puts(fault); return fault != NULL; }\" |"
               " gcc -m32 -std=gnu11 -O2 " BUILD_WARNINGS "-Wstrict-prototypes "
               "-Wno-unused-function " BUILD_INCLUDE "-include " TEST_ROOT
               "/tests/harness/wrap.h -x c - -o wrap -lpthread",
               check);
    cr_expect(build_run("./wrap") == 0, "in 32 bits: %s", build_text);
}
Test(rare, wrap)
{
    const char *fault = wrap_run();
    cr_assert(!fault, "%s", fault);
}
Test(rare, wrap_32, .init = build_begin, .fini = build_end)
{
    in_32_bits("wrap_run");
}

/* Goal: a slot whose last mark is of long ago comes back like any other: the
 * mark is not taken for one that lies ahead. Method: slots that never gave up,
 * at 63 places over the range of positions. */
Test(rare, old_marks)
{
    const char *fault = wrap_old_marks();
    cr_assert(!fault, "%s", fault);
}
Test(rare, old_marks_32, .init = build_begin, .fini = build_end)
{
    in_32_bits("wrap_old_marks");
}

/* Goal: no mix of two records where an old mark could be taken for one ahead.
 * Method: four threads whose steps follow each other as they must for that. */
Test(rare, mixed)
{
    const char *fault;
    at_step = wrap_step;
    fault = wrap_mixed();
    at_step = NULL;
    cr_assert(!fault, "%s", fault);
}
Test(rare, mixed_32, .init = build_begin, .fini = build_end)
{
    in_32_bits("wrap_mixed");
}
