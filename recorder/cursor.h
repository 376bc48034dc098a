/* cursor.h - a place among the events, from which a program reads on. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_CURSOR_H_
#define RECORDER_CURSOR_H_

#include "event.h"

RECORDER_C_BEGIN_

/* A record copied out of its slot, and where it came from. */
struct recorder_kept_ {
    struct recorder_record record;
    const struct recorder *recorder;
    const char *name;
    const struct recorder_ring *ring;
    uint32_t slot, thread;
};
/* Sorts a kept record: its order and its index in the batch. */
struct recorder_key_ {
    uintptr_t order; /* less the batch's end, so that it ascends over a wrap */
    uintptr_t index;
};
/* The records of the smallest orders above `after`, ascending. */
struct recorder_batch_ {
    struct recorder_kept_ *kept; /* `max` of each */
    struct recorder_key_ *keys;  /* a permutation: all below `used` */
    size_t max, used, count, next;
    uintptr_t after; /* the last order that was taken out */
    uintptr_t end;   /* orders from here on are too young */
    bool begun;      /* `after` is set; 0 may be an order, as orders wrap */
    bool more;       /* the batch had no room for all */
    const char *regex;
    size_t last; /* only as many events of each recorder; 0: all */
    /* When the dump of a crash ends, on the processor's clock; 0: no limit. */
    uint64_t until_ns;
    bool late; /* that time has come */
};

/* The severity in a format's heading, by the format's address; 0: no entry. */
struct recorder_severity_cached_ {
    uint64_t format;
    int32_t severity;
    bool hardware, decoded;
};

#define RECORDER_CURSOR_MAX_ 256
#define RECORDER_SEVERITIES_MAX_ 32
struct recorder_cursor {
    /* Overwritten sequence numbers that were passed. Events skip other numbers,
     * too: a record of 5 to 12 arguments has 2 or 3, a copied text several. */
    uint64_t missed;
    struct recorder_batch_ batch;
    /* Emptied for each batch. */
    struct recorder_severity_cached_ cached[RECORDER_SEVERITIES_MAX_];
    struct recorder_key_ keys[RECORDER_CURSOR_MAX_];
    struct recorder_kept_ kept[RECORDER_CURSOR_MAX_];
    /* With numbers from the clock (recorder_next_missed_): records taken out,
     * positions handed out, cleared, and gone until then. */
    uintptr_t taken, handed, cleared, gone;
};

RECORDER_C_END_
#endif
