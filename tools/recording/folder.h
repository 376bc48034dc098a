/* folder.h - a folder of chunks, a log, as one source. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* Opens the chunks of a log as call->source. Null, or what is wrong; chunks
 * that are missing or cannot be read are a warning each. */
const char *folder_source(struct call *, const char *name,
                          const struct source_how *);
