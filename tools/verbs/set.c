/* set.c - recorder set: turns recorders of a running program on and off. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "settings.h"

static int set(struct call *call)
{
    struct settings settings = {0};
    if (call->arguments_count == 0 || strchr(call->arguments[0], '='))
        misuse(call, "PID is missing: the id of a running process");
    if (call->arguments_count < 2)
        misuse(call, "NAME=VALUE is missing, for example net=trace");
    call_open(call, 0);
    if (!call->source.memory->write)
        fail(call, "is no running process: nothing there can be set");
    for (int i = 1; i < call->arguments_count; i++) {
        const char *wrong =
            settings_add(&settings, &call->reader, call->arguments[i]);
        if (wrong && settings.misuse)
            misuse(call, "%s", wrong);
        if (wrong)
            fail(call, "%s", wrong);
    }
    if (!settings_write(&settings, &call->reader))
        fail(call, "cannot be written: %s", strerror(errno));
    return 0;
}

const struct verb verb_set = {
    .name = "set",
    .arguments = "PID NAME=VALUE...|clear",
    .summary = "turns recorders of a running program on or off, or clears them",
    .help = "NAME is an extended regular expression for whole names of "
            "recorders, or else of tweaks. VALUE is on (record), off, trace "
            "(also print each record at once), freeze (off, but remembered), "
            "thaw (as before freeze), or a number. A recorder that a trigger "
            "of the program watches stays watched. All settings are checked "
            "before the first is made.\n\n"
            "clear hides the present records from all readers. Nothing is "
            "erased: one sequence number is written, and records with lower "
            "numbers no longer count. See recorder dump --clear.",
    .run = set};
