/* export.h - the writers of trace formats: one file a format. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "buffer.h"
#include "print.h"
#include "timeline.h"

/* Options of the verb that a writer asks for. */
enum { EXPORT_VALUE = OPTION_OWN, EXPORT_PLAIN, EXPORT_MESSAGES };

/* Write all events of the call to `path`. */
void export_perfetto(struct call *, const char *path);
void export_ctf(struct call *, const char *path);
void export_vcd(struct call *, const char *path);
void export_sqlite(struct call *, const char *path);
