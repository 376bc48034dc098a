/* offer.h - the names there are, for a user who wrote another one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"

struct offer {
    char **names;
    size_t count, max;
};
/* Adds a copy of a name that is not there yet. Returns the one that is. */
const char *offer_add(struct offer *, const char *name);
/* Returns "; there are: a, b and 2 more", or "; there is Size" if only the case
 * of letters differs from what was written; "": there is nothing. Valid until
 * the next call. */
const char *offer_text(const struct offer *, const char *written);
void offer_free(struct offer *);
