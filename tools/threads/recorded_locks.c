/* recorded_locks.c - reads records of `recorder run` of locks and joins. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "entry.h"

/* ----------------------------------------------------------------- locks -- */

static uint64_t ticks_ns(const struct recorded *recorded, uint64_t ticks)
{
    return recorder_clock_scale_(&recorded->reader.clock, ticks);
}

void total_read(const struct entry *entry)
{
    struct recorded *recorded = entry->recorded;
    const uint64_t *word = entry->word;
    struct total *total = array_add(recorded->totals, recorded->totals_count,
                                    recorded->totals_max);
    uint64_t high =
        recorded->reader.memory->word_bytes == 4 ? word[6] << 32 : 0;
    *total = (struct total){.object = word[0],
                            .kind = entry->kind == WAIT_READ ? WAIT_WRITE
                                                             : entry->kind,
                            .taken = word[1],
                            .waited = word[2],
                            .ns = ticks_ns(recorded, high | word[3]),
                            .longest_ns = ticks_ns(recorded, word[4]),
                            .longest_at = word[5]};
}

/* The life of a lock: the number of ended locks at its address; `ends`: one
 * more. */
static uint64_t lock_life(struct recorded *recorded, uint64_t object, bool ends)
{
    size_t at = ids_find(&recorded->lives, object, 0, 0);
    uint64_t *life = at == IDS_NONE ? NULL : &recorded->lives_of[at];
    bool is_new;
    if (!life && !ends)
        return 0;
    if (!life)
        life = array_at_key(recorded->lives_of, &recorded->lives,
                            recorded->lives_max, object, 0, 0, &is_new);
    return *life += ends;
}

void order_read(const struct entry *entry)
{
    struct recorded *recorded = entry->recorded;
    const uint64_t *word = entry->word;
    struct chain *chain;
    if (entry->is == RUN_EVENT_gone)
        lock_life(recorded, word[0], true);
    if (!entry->past || entry->is == RUN_EVENT_gone)
        return;
    chain = array_add(recorded->chains, recorded->chains_count,
                      recorded->chains_max);
    *chain = (struct chain){.object = word[0] & ~(uint64_t)1,
                            .reads = word[0] & 1,
                            .site = entry->event->event.caller,
                            .order = entry->event->event.order,
                            .past = (size_t)(entry->past - recorded->pasts)};
    chain->life = lock_life(recorded, chain->object, false);
    if (entry->is == RUN_EVENT_pair) {
        chain->stack = word[3];
        chain->holds[0] = hold_of(word[1], word[2], 0);
        chain->holds_count = word[1] != 0;
    } else {
        chain->stack = word[1];
        for (int i = 3; i < 11 && chain->holds_count < CHAIN_MAX; i += 2)
            if (word[i])
                chain->holds[chain->holds_count++] =
                    hold_of(word[i], word[i + 1],
                            word[11] >> (i - 3) / 2 * 16 & 0xffff);
    }
    for (unsigned i = 0; i < chain->holds_count; i++)
        chain->holds[i].life =
            lock_life(recorded, chain->holds[i].object, false);
    recorded->chains_count -= chain->holds_count == 0;
}

/* ----------------------------------------------------------------- joins -- */

/* The handle may have been another thread's, which was joined before. */
void join_read(const struct entry *entry)
{
    struct recorded *recorded = entry->recorded;
    struct join *joined;
    size_t at = recorded->pasts_count;
    while (at > 0 && !(recorded->pasts[at - 1].is_made &&
                       recorded->pasts[at - 1].handle == entry->word[0]))
        at--;
    if (at == 0 || recorded->pasts[at - 1].joined)
        return; /* its thread was not seen */
    recorded->pasts[at - 1].joined = true;
    joined =
        array_add(recorded->joins, recorded->joins_count, recorded->joins_max);
    *joined = (struct join){at - 1, (size_t)(entry->past - recorded->pasts),
                            entry->event->event.order};
}
