/* A library with a recorder, and formats, of its own. */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"

RECORDER_DECLARE_SHARED(shared)
#ifdef OWN /* else it only records into another one */
RECORDER(library, 64, NAME)
#endif

extern void record_some(int n);
void record_some(int n)
{
    for (int i = 0; i < 5; i++) {
#ifdef OWN
        record(library, NAME ": %d of %d, %s", i, n,
               RECORDER_COPY(library, NAME " text"));
#endif
        record(shared, "from " NAME ": %d of %d", i, n);
    }
}
