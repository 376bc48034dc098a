/* objects.c - locks and their like that were waited for, and their totals. */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

/* States of a row that hold no address. Totals of an object that is gone stay
 * readable until its row is needed. */
enum { FREE = 0, GONE = 1, BEGINS = 2, PROBES = 32 };

static struct run_object objects[RUN_OBJECTS];
/* Which 16ths of them have ever had an address: a bit each. The pages
 * of the others need not be touched. */
static uintptr_t blocks;
enum { BLOCK = RUN_OBJECTS / 16 };
uintptr_t run_waiting;

static unsigned first_row(uintptr_t address)
{
    return (unsigned)((address * 0x9E3779B97F4A7C15ull) >> 54);
}

/* Returns the next row of an address, from probe *n on, or null. */
static struct run_object *row_next(uintptr_t address, unsigned *n)
{
    while (*n < PROBES) {
        struct run_object *o =
            &objects[(first_row(address) + (*n)++) % RUN_OBJECTS];
        uintptr_t is = __atomic_load_n(&o->address, __ATOMIC_ACQUIRE);
        if (is == address)
            return o;
        if (is == FREE)
            return NULL;
    }
    return NULL;
}

struct run_object *run_object(uintptr_t address)
{
    unsigned n = 0;
    return row_next(address, &n);
}

/* Two threads that make a row for the same object at once may make two: each
 * counts in its own, and readers add up. */
struct run_object *run_object_make(uintptr_t address, const char *format,
                                   uintptr_t site)
{
    struct run_object *found = run_object(address);
    unsigned i = first_row(address), n;
    for (n = 0; n < PROBES && !found; n++, i = (i + 1) % RUN_OBJECTS) {
        struct run_object *o = &objects[i];
        uintptr_t is = recorder_get_(&o->address);
        if ((is != FREE && is != GONE) ||
            (is == GONE && recorder_get_(&o->waiters)) ||
            !__atomic_compare_exchange_n(&o->address, &is, BEGINS, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        o->total = run_cell_write(&recorder_for_lock_total, i, format, site,
                                  RUN_WORDS(address), 3);
        if (!(recorder_get_(&blocks) >> i / BLOCK & 1))
            __atomic_fetch_or(&blocks, (uintptr_t)1 << i / BLOCK,
                              __ATOMIC_RELAXED);
        __atomic_store_n(&o->address, address, __ATOMIC_RELEASE);
        found = o;
    }
    return found;
}

void run_object_forget(const void *address, bool begins)
{
    struct run_object *o = run_object((uintptr_t)address);
    run_bind();
    if (o)
        recorder_put_(&o->address, GONE);
    run_order_forget((uintptr_t)address, begins);
    if (run_self.lane && !run_self.inside && run_self.depth)
        run_held_forget(&run_self, (uintptr_t)address);
}

void run_object_gives(const struct run_thread *t, uintptr_t address)
{
    struct run_object *o;
    for (unsigned n = 0; (o = row_next(address, &n));) {
        const uintptr_t gives = recorder_get_(&o->gives);
        if (!recorder_get_(&o->waiters))
            continue;
        recorder_put_(&o->last[gives % RUN_GIVES].by, t->number);
        recorder_put_(&o->last[gives % RUN_GIVES].time, recorder_time_());
        __atomic_store_n(&o->gives, gives + 1, __ATOMIC_RELEASE);
    }
}

void run_gives(const void *object)
{
    struct run_thread *t = run_thread();
    if (t)
        run_object_gives(t, (uintptr_t)object);
}

/* The child of fork() has no totals, and no thread of it waits. */
void run_objects_forked(bool rings_are_new)
{
    for (unsigned i = 0; i < RUN_OBJECTS; i++) {
        if (!(blocks >> i / BLOCK & 1) || objects[i].address == FREE)
            continue;
        if (!rings_are_new)
            run_cell_clear(&recorder_for_lock_total, i);
        objects[i].address = objects[i].waiters = 0;
    }
    run_waiting = run_each;
    blocks = 0;
}

/* Objects that begin or end at an address: another was there, or will be. */
#define FORGETS(begins, name, parameters, ...)                                 \
    RUN_EXPORT int name parameters                                             \
    {                                                                          \
        run_object_forget((const void *)o, begins);                            \
        return run_real.name(__VA_ARGS__);                                     \
    }
FORGETS(1, pthread_mutex_init,
        (pthread_mutex_t * o, const pthread_mutexattr_t *a), o, a)
FORGETS(1, pthread_rwlock_init,
        (pthread_rwlock_t * o, const pthread_rwlockattr_t *a), o, a)
FORGETS(0, pthread_rwlock_destroy, (pthread_rwlock_t * o), o)
FORGETS(1, pthread_spin_init, (pthread_spinlock_t * o, int shared), o, shared)
FORGETS(0, pthread_spin_destroy, (pthread_spinlock_t * o), o)
FORGETS(1, pthread_barrier_init,
        (pthread_barrier_t * o, const pthread_barrierattr_t *a, unsigned count),
        o, a, count)
FORGETS(0, pthread_barrier_destroy, (pthread_barrier_t * o), o)
FORGETS(1, sem_init, (sem_t * o, int shared, unsigned value), o, shared, value)
FORGETS(0, sem_destroy, (sem_t * o), o)
FORGETS(1, mtx_init, (mtx_t * o, int type), o, type)
FORGETS(1, cnd_init, (cnd_t * o), o)
