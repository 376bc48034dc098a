/* switches_inside.h - the state machine of switches.h, for its callers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "switches.h"

/* The words of a record for the state machine. */
struct switches_told {
    const struct reader_event *event;
    uint64_t ns;
    enum kind kind;
    char how;
    uint64_t id, more;
    unsigned cpu, number;
    uint64_t named;
    const char *name; /* null: the event has it */
    uint64_t off_ns;
    uint32_t row;
};

/* Reads the words of an event. False: it is no record of switches. */
bool switches_told(struct switches_told *, const struct reader_event *,
                   uint64_t ns);
/* Copies the name that a record gives, as far as it is text. */
void switches_name_read(struct switches *, const struct switches_told *,
                        char to[SWITCHES_NAME_MAX]);
/* Nanoseconds of the ticks before a record. */
uint64_t switches_ticks_ns(const struct switches *,
                           const struct switches_told *);
/* Applies a record at its time; take_off: of interrupts off and on. */
void switches_take(struct switches *, const struct switches_told *);
void switches_take_off(struct switches *, const struct switches_told *);

/* Ends a thread's state: `was` is its state, or UNKNOWN if a record shows that
 * the state is not known. */
void switches_state_set(struct switches *, struct switches_thread *,
                        enum switches_state was, enum switches_state);
/* Takes the innermost interrupt off; `known`: it ends now. */
void switches_nested_end(struct switches *, struct switches_cpu *,
                         unsigned number, bool known);
void switches_sleep_end(struct switches *, struct switches_cpu *,
                        unsigned number);

/* Names that several threads have get their ids. */
void switches_names(struct switches *);
/* The order of slices, for qsort(). */
int switches_slices_compare(const void *, const void *);
