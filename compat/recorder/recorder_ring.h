/* compat/recorder/recorder_ring.h - rings of plain elements, as in 1.x. */
/* SPDX-License-Identifier: MIT */
/*
    RECORDER_RING_DEFINE(numbers, int, 16)
    ...
    numbers_write(in, 3);           // the oldest make room
    count = numbers_read(out, 3);

    Recorders do not use them. A write that comes round waits for one that was
    stopped in the same place; a reader that was overrun goes on at what is
   left, and what it missed is added to `overflow`.
*/
#ifndef RECORDER_1X_RING_H
#define RECORDER_1X_RING_H

#include "recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recorder_elements { /* and behind it the elements */
    size_t size, item_size;
    ringidx_t reader;   /* next to be read by who has no reader of his own */
    ringidx_t writer;   /* next to be written */
    ringidx_t commit;   /* all below are written */
    ringidx_t overflow; /* overwritten before they were read */
} recorder_ring_t, *recorder_ring_p;

/* Called with where it waits, for as long as it returns true; null: waits. */
typedef bool (*recorder_ring_block_fn)(recorder_ring_p ring, ringidx_t now,
                                       ringidx_t from, ringidx_t to);

#define recorder_ring_fetch_add(value, n)                                      \
    __atomic_fetch_add(&(value), n, __ATOMIC_ACQ_REL)
#define recorder_ring_add_fetch(value, n)                                      \
    __atomic_add_fetch(&(value), n, __ATOMIC_ACQ_REL)
#define recorder_ring_load(value) __atomic_load_n(&(value), __ATOMIC_ACQUIRE)
#define recorder_ring_store(value, n)                                          \
    __atomic_store_n(&(value), n, __ATOMIC_RELEASE)
#define recorder_ring_compare_exchange(value, expected, n)                     \
    __atomic_compare_exchange_n(&(value), &(expected), n, false,               \
                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

RECORDER_1X_ recorder_ring_p recorder_ring_init(recorder_ring_p ring,
                                                size_t size, size_t item_size);
RECORDER_1X_ recorder_ring_p recorder_ring_new(size_t size, size_t item_size);
RECORDER_1X_ void recorder_ring_delete(recorder_ring_p ring);
RECORDER_1X_ ringidx_t recorder_ring_readable(recorder_ring_p ring,
                                              ringidx_t *reader);
RECORDER_1X_ ringidx_t recorder_ring_writable(recorder_ring_p ring);
/* Each returns how many elements it moved. Null `reader`: the ring's own. */
RECORDER_1X_ ringidx_t recorder_ring_read(recorder_ring_p ring, void *to,
                                          ringidx_t count, ringidx_t *reader,
                                          recorder_ring_block_fn block,
                                          recorder_ring_block_fn overflow);
RECORDER_1X_ ringidx_t recorder_ring_write(recorder_ring_p ring,
                                           const void *from, ringidx_t count,
                                           recorder_ring_block_fn block,
                                           recorder_ring_block_fn commit_block,
                                           ringidx_t *writer);
/* The next element of the ring's own reader, or null. */
RECORDER_1X_ const void *recorder_ring_peek(recorder_ring_p ring);

/* RING_new(size), RING_delete, RING_readable, RING_writable, RING_read, _peek
 * and _write of a pointer to such a ring. */
#define RECORDER_RING_TYPE_DECLARE(Ring, Type)                                 \
    typedef struct Ring {                                                      \
        recorder_ring_t ring;                                                  \
    } Ring;                                                                    \
    RECORDER_INLINE_ Ring *Ring##_new(size_t size)                             \
    {                                                                          \
        return (Ring *)(void *)recorder_ring_new(size, sizeof(Type));          \
    }                                                                          \
    RECORDER_INLINE_ void Ring##_delete(Ring *ring)                            \
    {                                                                          \
        recorder_ring_delete(&ring->ring);                                     \
    }                                                                          \
    RECORDER_INLINE_ ringidx_t Ring##_readable(Ring *ring)                     \
    {                                                                          \
        return recorder_ring_readable(&ring->ring, NULL);                      \
    }                                                                          \
    RECORDER_INLINE_ ringidx_t Ring##_writable(Ring *ring)                     \
    {                                                                          \
        return recorder_ring_writable(&ring->ring);                            \
    }                                                                          \
    RECORDER_INLINE_ ringidx_t Ring##_read(Ring *ring, Type *to,               \
                                           ringidx_t count)                    \
    {                                                                          \
        return recorder_ring_read(&ring->ring, to, count, NULL, NULL, NULL);   \
    }                                                                          \
    RECORDER_INLINE_ const Type *Ring##_peek(Ring *ring)                       \
    {                                                                          \
        return (const Type *)recorder_ring_peek(&ring->ring);                  \
    }                                                                          \
    RECORDER_INLINE_ ringidx_t Ring##_write(Ring *ring, const Type *from,      \
                                            ringidx_t count)                   \
    {                                                                          \
        return recorder_ring_write(&ring->ring, from, count, NULL, NULL,       \
                                   NULL);                                      \
    }

/* The same functions of one ring, which they do not take. */
#define RECORDER_RING_DECLARE(Name, Type, Size)                                \
    struct Name##_ring {                                                       \
        recorder_ring_t ring;                                                  \
        Type data[Size];                                                       \
    };                                                                         \
    RECORDER_EXTERN_ struct Name##_ring Name##_ring;                           \
    RECORDER_INLINE_ ringidx_t Name##_readable(void)                           \
    {                                                                          \
        return recorder_ring_readable(&Name##_ring.ring, NULL);                \
    }                                                                          \
    RECORDER_INLINE_ ringidx_t Name##_writable(void)                           \
    {                                                                          \
        return recorder_ring_writable(&Name##_ring.ring);                      \
    }                                                                          \
    RECORDER_INLINE_ ringidx_t Name##_read(Type *to, ringidx_t count)          \
    {                                                                          \
        return recorder_ring_read(&Name##_ring.ring, to, count, NULL, NULL,    \
                                  NULL);                                       \
    }                                                                          \
    RECORDER_INLINE_ const Type *Name##_peek(void)                             \
    {                                                                          \
        return (const Type *)recorder_ring_peek(&Name##_ring.ring);            \
    }                                                                          \
    RECORDER_INLINE_ ringidx_t Name##_write(const Type *from, ringidx_t count) \
    {                                                                          \
        return recorder_ring_write(&Name##_ring.ring, from, count, NULL, NULL, \
                                   NULL);                                      \
    }
#define RECORDER_RING_DEFINE(Name, Type, Size)                                 \
    RECORDER_RING_DECLARE(Name, Type, Size)                                    \
    struct Name##_ring Name##_ring = {{Size, sizeof(Type), 0, 0, 0, 0},        \
                                      {(Type)0}};

#if !defined(RECORDER_LIBRARY) || defined(RECORDER_LIBRARY_BODY)

RECORDER_1X_ recorder_ring_p recorder_ring_init(recorder_ring_p ring,
                                                size_t size, size_t item_size)
{
    if (ring) {
        ring->size = size;
        ring->item_size = item_size;
        ring->reader = ring->writer = ring->commit = ring->overflow = 0;
    }
    return ring;
}
RECORDER_1X_ recorder_ring_p recorder_ring_new(size_t size, size_t item_size)
{
    size_t most = SIZE_MAX / 2 / (item_size ? item_size : 1);
    if (!size || !item_size || size > most)
        return NULL;
    return recorder_ring_init((recorder_ring_p)recorder_os_memory(
                                  sizeof(recorder_ring_t) + size * item_size),
                              size, item_size);
}
RECORDER_1X_ void recorder_ring_delete(recorder_ring_p ring)
{
    if (ring)
        recorder_munmap(ring, sizeof *ring + ring->size * ring->item_size);
}

RECORDER_1X_ ringidx_t recorder_ring_readable(recorder_ring_p ring,
                                              ringidx_t *reader)
{
    ringidx_t from = recorder_ring_load(*(reader ? reader : &ring->reader));
    ringidx_t count = recorder_ring_load(ring->commit) - from;
    return count < ring->size ? count : ring->size;
}
RECORDER_1X_ ringidx_t recorder_ring_writable(recorder_ring_p ring)
{
    ringidx_t count =
        recorder_ring_load(ring->writer) - recorder_ring_load(ring->reader);
    return count < ring->size ? ring->size - count : 0;
}

/* Copies elements from a position on, or to it. */
RECORDER_INLINE_ char *recorder_ring_element(recorder_ring_p ring,
                                             ringidx_t position)
{
    return (char *)(ring + 1) + position % ring->size * ring->item_size;
}

RECORDER_1X_ ringidx_t recorder_ring_read(recorder_ring_p ring, void *to,
                                          ringidx_t count, ringidx_t *reader,
                                          recorder_ring_block_fn block,
                                          recorder_ring_block_fn overflow)
{
    ringidx_t *next = reader ? reader : &ring->reader, i, lost;
    ringidx_t from = recorder_ring_load(*next), first = from, ready;
    for (;;) {
        ready = recorder_ring_load(ring->commit) - from;
        if (ready >= count || !block ||
            !block(ring, from + ready, from, from + count))
            break;
    }
    if (ready > ring->size) {
        from += ready - ring->size;
        ready = ring->size;
    }
    if (count > ready)
        count = ready;
    for (i = 0; i < count; i++)
        __builtin_memcpy((char *)to + i * ring->item_size,
                         recorder_ring_element(ring, from + i),
                         ring->item_size);
    /* What was overwritten meanwhile may be a mix. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    lost = recorder_ring_load(ring->writer) - from;
    lost = lost > ring->size ? lost - ring->size : 0;
    lost = lost < count ? lost : count;
    if (lost)
        __builtin_memmove(to, (char *)to + lost * ring->item_size,
                          (count - lost) * ring->item_size);
    if (from + lost != first) {
        recorder_ring_fetch_add(ring->overflow, from + lost - first);
        if (overflow)
            overflow(ring, from + lost, first, from + count);
    }
    /* Of several readers, one has it. */
    return recorder_ring_compare_exchange(*next, first, from + count)
               ? count - lost
               : 0;
}

RECORDER_1X_ const void *recorder_ring_peek(recorder_ring_p ring)
{
    ringidx_t from = recorder_ring_load(ring->reader);
    ringidx_t ready = recorder_ring_load(ring->commit) - from;
    if (ready > ring->size)
        from += ready - ring->size;
    return ready ? recorder_ring_element(ring, from) : NULL;
}

RECORDER_1X_ ringidx_t recorder_ring_write(recorder_ring_p ring,
                                           const void *from, ringidx_t count,
                                           recorder_ring_block_fn block,
                                           recorder_ring_block_fn commit_block,
                                           ringidx_t *writer)
{
    ringidx_t at, done, i;
    if (count > ring->size)
        count = ring->size;
    while (block && recorder_ring_writable(ring) < count) {
        at = recorder_ring_load(ring->writer);
        if (!block(ring, recorder_ring_load(ring->reader), at, at + count))
            break;
    }
    at = recorder_ring_fetch_add(ring->writer, count);
    if (writer)
        *writer = at;
    /* Who writes in the same place, a lap before, comes first. */
    while (at + count - recorder_ring_load(ring->commit) > ring->size)
        recorder_os_yield();
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (i = 0; i < count; i++)
        __builtin_memcpy(recorder_ring_element(ring, at + i),
                         (const char *)from + i * ring->item_size,
                         ring->item_size);
    while ((done = recorder_ring_load(ring->commit)) != at)
        if (!commit_block || !commit_block(ring, done, at, at + count))
            recorder_os_yield();
    recorder_ring_store(ring->commit, at + count);
    return count;
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
