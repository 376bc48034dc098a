/* progress.h - shows how far a verb is, on a terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* Shows progress on a terminal, after half a second; done == of: the end. */
void progress(struct call *, uint64_t done, uint64_t of);
