/* Finds records again, the way a reader must. */
/* SPDX-License-Identifier: MIT */
#ifndef READ_H
#define READ_H

#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with a sentence where a condition does not hold. */
#define MUST(condition)                                                        \
    ((condition) ? (void)0 : read_failed(__FILE__, __LINE__, #condition))
static inline void read_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    fflush(NULL);
    abort();
}

#ifndef RECORDER_OFF
static inline struct recorder_registry *read_begin(void)
{
    __atomic_fetch_add(&recorder_home_.registry->readers, 1, __ATOMIC_SEQ_CST);
    return recorder_home_.registry;
}
static inline void read_end(void)
{
    __atomic_fetch_sub(&recorder_home_.registry->readers, 1, __ATOMIC_SEQ_CST);
}

static inline struct recorder_ring *read_ring(const struct recorder *recorder,
                                              uintptr_t lane)
{
    return (struct recorder_ring *)(void *)((char *)recorder->rings +
                                            lane * recorder->ring_bytes);
}

/* Looks for the record of an order in one recorder. Returns its commit word,
 * or 0. */
static inline uintptr_t read_in(const struct recorder *recorder,
                                uintptr_t order, struct recorder_record *to)
{
    uintptr_t lane, slot, commit;
    for (lane = 0; lane <= recorder->lanes_mask; lane++)
        for (slot = 0; slot <= recorder->mask; slot++) {
            commit = recorder_look_(read_ring(recorder, lane), recorder->mask,
                                    slot, to);
            if (commit && to->order == order)
                return commit;
        }
    return 0;
}

/* The same in all recorders of the registry. */
static inline uintptr_t read_order(uintptr_t order, struct recorder_record *to)
{
    const struct recorder *recorder;
    uintptr_t commit = 0;
    for (recorder = __atomic_load_n(&read_begin()->first, __ATOMIC_SEQ_CST);
         recorder && !commit;
         recorder = __atomic_load_n(&recorder->next, __ATOMIC_SEQ_CST))
        commit = read_in(recorder, order, to);
    read_end();
    return commit;
}

/* How often a recorder of this name is in the list. */
static inline unsigned read_listed(const char *name)
{
    const struct recorder *recorder;
    unsigned count = 0;
    for (recorder = __atomic_load_n(&read_begin()->first, __ATOMIC_SEQ_CST);
         recorder;
         recorder = __atomic_load_n(&recorder->next, __ATOMIC_SEQ_CST))
        count += strcmp(recorder->name, name) == 0;
    read_end();
    return count;
}

/* Must find a record whose words are these, and zeros after them, up to the
 * end of its last record. */
static inline void read_must_be(int line, uintptr_t order,
                                const uintptr_t *words, unsigned count)
{
    unsigned i = 0;
    do {
        struct recorder_record found;
        unsigned j;
        if (!read_order(order + i / 4, &found))
            read_failed(__FILE__, line, "the record is there");
        if ((i == 0) != (found.format != 0))
            read_failed(__FILE__, line, "head and continuation are in place");
        for (j = 0; j < 4; j++)
            if (found.argument[j] != (i + j < count ? words[i + j] : 0)) {
                fprintf(stderr, "argument %u: kept %#lx\n", i + j,
                        (unsigned long)found.argument[j]);
                read_failed(__FILE__, line, "the words are as recorded");
            }
        i += 4;
    } while (i < count);
}
#endif

#endif
