/* offer.h - different names, in the order of their first use. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"

struct offer {
    char **names;
    size_t count, max;
};
/* Adds a copy of a name, unless the list has it. Returns the list's copy. */
const char *offer_add(struct offer *, const char *name);
/* Returns "; there are: a, b and 2 more"; "; there is Size" if the user wrote
 * this name in letters of another case; "" for an empty list. The text is valid
 * until the next call. */
const char *offer_text(const struct offer *, const char *written);
void offer_free(struct offer *);
/* Returns the text of all, and frees the names first: for a caller that reports
 * an error, and does not return. */
const char *offer_end(struct offer *);
