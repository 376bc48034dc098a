/* tree.h - the calls of each thread as a tree, with its other records. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* Prints the trees of all events that the reader has, or only the counts of
 * functions. False: there is no call among the events. */
bool tree_show(struct call *, bool counts, bool json);
