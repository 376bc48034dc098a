/* clear.c - recorder clear: hides all records made up to now. */
/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <errno.h>
#include <string.h>

static int clear(struct call *call)
{
    call_open(call, 0);
    if (!call->source.memory->write)
        fail(call, "is no running process: nothing there is changed");
    call_take(call);
    if (!reader_clear(&call->reader, call->reader.end))
        fail(call, "cannot be written: %s", strerror(errno));
    return 0;
}

const struct verb verb_clear = {
    .name = "clear",
    .arguments = "PID",
    .summary = "what was recorded up to now is shown no more",
    .help =
        "Nothing is erased: one order number is written, and records of lower "
        "orders do not count any more, for all readers. What is recorded "
        "meanwhile counts. See recorder dump --clear.",
    .run = clear};
