/* command.c - opens the threads of a source that the command has opened. */
/* SPDX-License-Identifier: MIT */
#include "show.h"

void show_open(struct call *call, struct threads *threads, bool stop)
{
    const char *wrong;
    if (stop && !call->source.pid)
        fail(call, "does not run: --stop is for running programs");
    wrong = threads_open(threads, &call->source,
                         call->source.registry ? &call->reader : NULL, stop);
    if (wrong && wrong != recorded_other && call->source.memory->stale_order &&
        call->source.registry)
        wrong = snapshots_open(threads, &call->source, &call->reader);
    if (wrong && call->source.half_made)
        wrong = source_half_made(&call->source, "no thread");
    if (wrong)
        fail(call, "%s", wrong);
    if (call->source.registry && !call->source.memory->stale_order &&
        !threads->recorded)
        show_numbers(threads, &call->reader);
}
