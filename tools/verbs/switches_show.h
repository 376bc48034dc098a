/* switches_show.h - what `recorder switches` prints, of a call that was
 * taken. */
/* SPDX-License-Identifier: MIT */
#ifndef SWITCHES_SHOW_H
#define SWITCHES_SHOW_H

#include "command.h"

/* Prints what ran, by all events that were taken; `thread`: only of that one,
 * or null. Ends the command if no record says it. */
void switches_show(struct call *, const char *thread);

/* Says that a recorder lacks records in places that are not known, if so. */
void missing_warn(const struct call *, const struct reader_recorder *);

#endif
