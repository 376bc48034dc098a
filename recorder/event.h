/* event.h - a record as it is read: whole, 64 bits wide. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_EVENT_H_
#define RECORDER_EVENT_H_

#include "layout.h"

RECORDER_C_BEGIN_

/* ----------------------------------------------------------------- event -- */

/* A whole record, copied out, its words widened to 64 bits. */
struct recorder_event {
    uint64_t order;
    uint64_t time;   /* ticks: see recorder_clock_time_ */
    uint64_t caller; /* return address of the record call */
    uint64_t format; /* address of "format\0file:line" */
    uint64_t argument[12];
    uint32_t missing_arguments; /* bit i: argument[i] was not found or given */
    uint32_t thread; /* its number; RECORDER_THREAD_SHARED: it had no row */
    int32_t severity; /* 0 to 3, by RECORDER_SW2 and its like; -1: none */
    bool hardware;    /* of a severity: RECORDER_HW2, not RECORDER_SW2 */
    const struct recorder *recorder; /* null: not of this program */
    const char *name; /* of the recorder; may be gone with its library */
};

/* A record as a trigger's function gets it (recorder_trigger.h): its arguments
 * as words, missing ones as 0. */
struct recorder_seen {
    const struct recorder *recorder;
    unsigned thread; /* its number */
    unsigned words_count;
    uintptr_t order;
    const char *format;
    uintptr_t word[12];
};
typedef void recorder_trigger_function(void *context,
                                       const struct recorder_seen *seen);

/* One recorder in figures. A record of 5 to 12 arguments takes 2 or 3 slots, a
 * copied text one for each RECORDER_TEXT_BYTES_. At rest, and where nothing was
 * cleared, slots written = slots_kept + slots_overwritten + lost. */
struct recorder_figures_ {
    uint64_t size, lanes;       /* slots of a ring, rings */
    uint64_t kept, overwritten; /* records */
    uint64_t lost;              /* records that found no slot */
    uint64_t slots_kept, slots_overwritten;
    uint64_t estimated; /* 1: `overwritten` is an estimate, else 0 */
    /* Of a recording made of events: positions that were overwritten before a
     * log saw them, and records that were not chosen. Else 0. */
    uint64_t missed, left_out;
};

/* Sets the overwritten figures: of `written` slots, `whole` are kept, in which
 * `records` begin. If a record may have taken `several`, a ring does not tell how
 * many began in overwritten slots, so the same number a slot is assumed. */
RECORDER_FUNCTION_ void
recorder_figures_overwritten_(struct recorder_figures_ *figures,
                              uint64_t written, uint64_t whole,
                              uint64_t records, bool several)
{
    uint64_t slots = written > whole ? written - whole : 0, estimate;
    figures->slots_overwritten = figures->overwritten = slots;
    figures->estimated = slots && (several || records != whole);
    if (!figures->estimated)
        return;
    estimate = whole ? slots / whole * records + slots % whole * records / whole
                     : slots;
    figures->overwritten = estimate ? estimate : 1;
}

RECORDER_C_END_
#endif
