/* resume.h - continues rings that survive a reset: RECORDER_AT. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_RESUME_H_
#define RECORDER_RESUME_H_

#include "registry.h"

RECORDER_C_BEGIN_

/* A stamp of eight words in front of the ring names the recorder and its sizes.
 * Memory that was never a ring holds it by chance only: 2^-256 on 32 bits. */
#define RECORDER_STAMP_WORDS_ 8
RECORDER_INLINE_ uintptr_t recorder_stamp_(const struct recorder *recorder,
                                           uintptr_t i)
{
    return ((uintptr_t)recorder + 3 * (uintptr_t)recorder->name +
            5 * recorder->mask + 7 * recorder->ring_bytes + i +
            RECORDER_LAYOUT) *
           2654435761u;
}

/* Empties the ring, then writes the stamp. */
RECORDER_FUNCTION_ void recorder_stamp_new_(const struct recorder *recorder)
{
    volatile uintptr_t *to = (volatile uintptr_t *)recorder->rings;
    uintptr_t i;
    for (i = 0; i < recorder->ring_bytes / sizeof *to; i++)
        to[i] = 0;
    to -= RECORDER_STAMP_WORDS_;
    for (i = 0; i < RECORDER_STAMP_WORDS_; i++)
        to[i] = recorder_stamp_(recorder, i);
}

/* Makes a slot ready for the next lap. No writer survived the reset: all laps
 * that are missing count as given up, and a record that was cut off is lost. */
RECORDER_FUNCTION_ void recorder_resume_slot_(struct recorder_ring *ring,
                                              uintptr_t mask, uintptr_t slot)
{
    uintptr_t *commit = recorder_commits_(ring, mask) + slot;
    struct recorder_turn *turn = recorder_turns_(ring, mask) + slot;
    /* The lap that was handed out last; laps count modulo `wrap` + 1. */
    uintptr_t lap = (ring->write + mask - slot) & ~mask;
    uintptr_t wrap = UINTPTR_MAX >> RECORDER_THREAD_BITS_;
    turn->highest = lap;
    turn->gave_up = (lap - (*commit >> RECORDER_THREAD_BITS_)) & wrap;
    if (!(*commit & RECORDER_BUSY_) && (turn->gave_up & mask) == 0)
        return;
    *commit = 0; /* half a record, or damaged */
    turn->gave_up = lap & wrap;
    ring->given_up++;
    ring->lost++;
}

/* Continues the ring of a RECORDER_AT if its stamp is right, else empties it.
 * Sequence numbers continue after the ring's last one; a damaged one that is
 * 65,536 or more ahead of another is ignored. */
RECORDER_CALLED_ void recorder_resume(const struct recorder *recorder)
{
    struct recorder_ring *ring = recorder->rings;
    const uintptr_t *stamp = (const uintptr_t *)ring - RECORDER_STAMP_WORDS_;
    uintptr_t mask = recorder->mask, last = 0, i;
    struct recorder_record r;
    for (i = 0; i < RECORDER_STAMP_WORDS_; i++)
        if (stamp[i] != recorder_stamp_(recorder, i)) {
            recorder_stamp_new_(recorder);
            return;
        }
    for (i = 0; i <= mask; i++)
        recorder_resume_slot_(ring, mask, i);
    for (i = 1; i <= mask + 1; i++) /* the youngest first */
        if (recorder_look_(ring, mask, (ring->write - i) & mask, &r) &&
            (last == 0 || r.order - last < 65536))
            last = r.order;
    if (last - *recorder_home_.order < UINTPTR_MAX / 2)
        *recorder_home_.order = last + 1;
}

RECORDER_C_END_
#endif
