/* log.c - recorder log: writes on while a program records. */
/* SPDX-License-Identifier: MIT */
#include "recording.h"
#include "labels.h"
#include "watch.h"

enum { OPTION_CHUNK = OPTION_OWN, OPTION_KEEP, OPTION_RESTARTS, OPTION_UNIT };

static int log_one(struct call *call)
{
    const char *folder = call_option(call, 'o');
    const char *chunk = call_option(call, OPTION_CHUNK);
    const char *keep = call_option(call, OPTION_KEEP);
    struct log_limits limits = {.chunk_bytes = (uint64_t)64 << 20};
    int64_t ns;
    if (keep && !(limits.keep_bytes = size_of(keep))) {
        if (!span_of(keep, &ns) || ns <= 0)
            misuse(call, "--keep %s: is no size (2G) and no time (1h)", keep);
        limits.keep_ns = (uint64_t)ns;
    }
    if (chunk)
        limits.chunk_bytes = size_of(chunk);
    else if (limits.keep_bytes && limits.keep_bytes / 8 < limits.chunk_bytes)
        limits.chunk_bytes = limits.keep_bytes / 8;
    if (chunk && limits.chunk_bytes < LOG_CHUNK_MIN)
        misuse(call, "--chunk %s: must be a size (64M) of 4M at least", chunk);
    if (limits.chunk_bytes < LOG_CHUNK_MIN)
        limits.chunk_bytes = LOG_CHUNK_MIN;
    if (call_option(call, 'l'))
        misuse(call, "--last: a log has no last events");
    call_open(call, 0);
    if (!call->source.pid)
        fail(call, "is no running process: nothing is added to it");
    return log_follow(call, folder, &limits);
}

static int log_run(struct call *call)
{
    const char *folder = call_option(call, 'o');
    if (!folder || strcmp(folder, "-") == 0)
        misuse(call, "-o DIR is missing");
    if (!call_option(call, OPTION_RESTARTS) &&
        !call_option(call, OPTION_UNIT) && call->arguments_count < 2)
        return log_one(call);
    return logs_follow(call, OPTION_UNIT, log_one);
}

static const struct option_row rows[] = {
    {'o', "output", "DIR",
     "the folder of the log, which must hold no other log"},
    {OPTION_CHUNK, "chunk", "SIZE", "the greatest size of a file in it: 64M"},
    {OPTION_KEEP, "keep", "SIZE",
     "the size (2G) or time (1h) to keep; the oldest file is "
     "deleted first"},
    {OPTION_RESTARTS, "restarts", NULL,
     "follow NAME over restarts: each process has a log in a folder of DIR, as "
     "it has with several targets and with --unit"},
    {OPTION_UNIT, "unit", "UNIT", "all processes of a systemd unit"},
    ROW_LABEL_SAVED,
    {0, NULL, NULL, NULL}};

const struct verb verb_log = {
    .name = "log",
    .arguments = "PID|NAME...",
    .summary = "writes on while a program records, into a folder of recordings",
    .help =
        "Writes the program's records until Ctrl-C or the end of the program, "
        "into chunks: 000001.rec, 000002.rec ...; the last is named .part "
        "until it is closed. Each chunk is a recording, and DIR is a SOURCE "
        "with the records of all. For each recorder, positions handed out "
        "minus given up = records written + left out + MISSED: slots that were "
        "overwritten before a look, counted exactly. Records from before the "
        "start of the log are in it if they were still kept. A library that "
        "was opened and closed between two looks left no records to count. A "
        "log overwrites no other files. After a kill of recorder log, all "
        "closed chunks are whole, and the .part has the records up to the last "
        "look. A damaged, missing or copied chunk is reported, with its lost "
        "records, which count as MISSED; all others are read, and the status "
        "is 1.",
    .rows = rows,
    .selects = true,
    .run = log_run};
