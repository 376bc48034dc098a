/* functions.c - names the functions that recorded, for a recording. */
/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "ids.h"

void functions_keep(struct call *call)
{
    struct reader_event event;
    struct ids ids = {0};
    char *text;
    size_t size;
    FILE *to = need(open_memstream(&text, &size));
    reader_rewind(&call->reader);
    while (reader_next(&call->reader, &event)) {
        uint64_t caller = event.event.caller;
        const char *name;
        bool is_new;
        if (ids_add(&ids, caller, 0, 0, &is_new) == IDS_NONE)
            need(NULL);
        name = is_new ? source_function(&call->source, caller) : NULL;
        if (name && !strchr(name, '\n'))
            fprintf(to, "%" PRIx64 " %s\n", caller, name);
    }
    reader_rewind(&call->reader);
    ids_free(&ids);
    if (fclose(to) != 0)
        need(NULL);
    free(call->source.functions);
    call->source.functions = text;
}
