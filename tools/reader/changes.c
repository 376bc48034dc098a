/* changes.c - reads the changes of contexts in a program. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "contexts.h"

static int change_compare(const void *a, const void *b)
{
    const struct change *left = a, *right = b;
    int last = array_order(left->at, right->at, 0);
    return array_order(left->name, right->name,
                       array_order(left->thread, right->thread, last));
}

static void changes_read(struct contexts *to, struct reader *reader)
{
    struct reader_event event;
    struct context c;
    while (reader_next(reader, &event)) {
        struct change *change;
        bool is = context_of(reader, &event, &c);
        to->found |= is && contexts_is_wanted(&c, to->wanted);
        if (!event.thread || !is || c.is_sent)
            continue;
        change = array_add(to->all, to->count, to->max);
        change->name = texts_add(&to->texts, c.name, c.name_size);
        change->id = c.id_size ? texts_add(&to->texts, c.id, c.id_size) : 0;
        change->thread = event.thread->number;
        change->order = event.event.order;
        change->at = to->count;
    }
    array_sort(to->all, to->count, change_compare);
}

/* Notes which changes a program's rings lack. */
static const char *changes_lack(struct contexts *to, struct reader *reader)
{
    reader_count(reader);
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (!r->chosen)
            continue;
        to->cut |= r->figures.overwritten != 0;
        if (r->wrong)
            return r->wrong;
        if (r->figures.lost || r->figures.missed || r->figures.left_out)
            return "it lacks changes in places that are not known";
    }
    return NULL;
}

void contexts_free(struct contexts *contexts)
{
    if (!contexts)
        return;
    texts_free(&contexts->texts);
    free(contexts->all);
    free(contexts);
}

struct contexts *contexts_open(const struct reader *like, const char *id,
                               const char **wrong)
{
    static const struct reader_selection changes = {.names = "context"};
    struct contexts *to = NULL;
    struct reader reader;
    bool any = false;
    *wrong = NULL;
    for (size_t i = 0; i < like->recorders_count; i++)
        any |= strcmp(like->recorders[i]->name, "context") == 0;
    if (!any || (*wrong = reader_open(&reader, like->memory, like->registry)))
        return NULL;
    to = need(calloc(1, sizeof *to));
    to->wanted = contexts_wanted(id);
    *wrong = reader_select(&reader, &changes);
    if (!*wrong)
        *wrong = reader_take(&reader);
    if (!*wrong)
        *wrong = changes_lack(to, &reader);
    if (!*wrong)
        changes_read(to, &reader);
    reader_close(&reader);
    if (*wrong)
        contexts_free(to);
    return *wrong ? NULL : to;
}
