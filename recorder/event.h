/* event.h - a record as it is read: whole, 64 bits wide. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_EVENT_H_
#define RECORDER_EVENT_H_

#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- event -- */

/* A whole record, copied out, its words widened to 64 bits. */
struct recorder_event {
    uint64_t order;
    uint64_t time;   /* ticks: see recorder_clock_time_ */
    uint64_t caller; /* return address of the record call */
    uint64_t format; /* address of "format\0file:line" */
    uint64_t argument[12];
    uint32_t lost;   /* bit i: argument[i] was not found, if there was one */
    uint32_t thread; /* its number; RECORDER_THREAD_SHARED: had no row */
    const struct recorder *recorder; /* in this program, else null */
    const char *name; /* of the recorder; may be gone with its library */
};

/* One recorder in figures; at rest, written = kept + overwritten + lost. */
struct recorder_figures_ {
    uint64_t size, lanes; /* slots of a ring, rings */
    uint64_t kept, overwritten, lost;
};

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
