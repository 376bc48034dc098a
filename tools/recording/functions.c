/* functions.c - names the functions that recorded, for a recording. */
/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include "recorder/calls.h"

static void keep(struct call *call, FILE *to, struct ids *ids, uint64_t caller)
{
    const char *name;
    bool is_new;
    ids_add(ids, caller, 0, 0, &is_new);
    name = is_new ? source_function(&call->source, caller) : NULL;
    if (name && !strchr(name, '\n'))
        fprintf(to, "%" PRIx64 " %s\n", caller, name);
}

void functions_keep(struct call *call)
{
    struct reader_event event;
    struct reader_call calls[4];
    struct ids ids = {0};
    char *text;
    size_t size;
    FILE *to = need(open_memstream(&text, &size));
    reader_rewind(&call->reader);
    while (reader_next(&call->reader, &event)) {
        unsigned count = 0;
        if (event.kind && strcmp(event.kind, RECORDER_CALLS_KIND_) == 0)
            count = reader_calls(&call->reader, &event.event, calls);
        else
            keep(call, to, &ids, event.event.caller);
        while (count--) /* a call is named by the byte after its first */
            keep(call, to, &ids, calls[count].function + 1);
    }
    reader_rewind(&call->reader);
    ids_free(&ids);
    need_done(fclose(to) == 0);
    free(call->source.functions);
    call->source.functions = text;
}
