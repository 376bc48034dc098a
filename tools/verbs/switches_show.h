/* switches_show.h - what is said of records that switches lack. */
/* SPDX-License-Identifier: MIT */
#ifndef SWITCHES_SHOW_H
#define SWITCHES_SHOW_H

#include "command.h"

/* Says that a recorder lacks records in places that are not known, if so. */
void missing_warn(const struct call *, const struct reader_recorder *);

#endif
