/* contexts.c - the request that a thread worked for at a record. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "contexts.h"
#include "inside.h"

enum { SPAN_DIGITS = 16 };

/* ---------------------------------------------------------------- record -- */

bool context_of(struct reader *reader, const struct reader_event *event,
                struct context *to)
{
    static const char from[] = " from=", is_to[] = " to=", sent[] = " sent";
    const char *format, *location, *text, *equal;
    size_t size;
    if (strcmp(event->recorder->name, "context") != 0)
        return false;
    format = reader_format(reader, &event->event, &location);
    text = reader_message(reader, event, &size);
    equal = memchr(text, '=', size);
    if (!format || !equal || equal == text)
        return false;
    *to = (struct context){.name = text,
                           .name_size = (size_t)(equal - text),
                           .id = equal + 1,
                           .id_size = (size_t)(text + size - equal - 1)};
    if (strstr(format, from) || strstr(format, is_to)) {
        size_t more = strstr(format, from) ? sizeof from : sizeof is_to;
        to->is_sent = more == sizeof is_to;
        if (to->id_size < SPAN_DIGITS + more)
            return false;
        to->span = to->id + to->id_size - SPAN_DIGITS;
        to->id_size -= SPAN_DIGITS + more - 1;
    } else if (strstr(format, sent) && to->id_size >= sizeof sent - 1) {
        to->is_sent = true;
        to->id_size -= sizeof sent - 1;
    }
    return true;
}

/* ---------------------------------------------------------------- lookup -- */

struct context_wanted contexts_wanted(const char *text)
{
    enum { WHOLE = 55, TRACE_AT = 3, TRACE = 32 };
    size_t size = strlen(text);
    if (size >= WHOLE && text[2] == '-' && text[TRACE_AT + TRACE] == '-' &&
        text[52] == '-')
        return (struct context_wanted){text + TRACE_AT, TRACE};
    return (struct context_wanted){text, size};
}

bool contexts_is_wanted(const struct context *c, struct context_wanted w)
{
    const size_t name = c->name_size, size = c->id_size;
    return size && ((size == w.size && memcmp(c->id, w.text, size) == 0) ||
                    (name + 1 + size == w.size &&
                     memcmp(w.text, c->name, name) == 0 &&
                     w.text[name] == '=' &&
                     memcmp(w.text + name + 1, c->id, size) == 0));
}

static bool change_is_wanted(const struct contexts *contexts,
                             const struct change *c)
{
    const struct text *name = &contexts->texts.all[c->name];
    const struct text *id = &contexts->texts.all[c->id];
    const struct context is = {.name = name->at,
                               .name_size = name->size,
                               .id = id->at,
                               .id_size = id->size};
    return c->id && contexts_is_wanted(&is, contexts->wanted);
}

/* Returns the first change from `from` on of a name that is not below, and of a
 * thread that is not. */
static size_t changes_from(const struct contexts *contexts, uint32_t name,
                           unsigned thread)
{
    const struct change *all = contexts->all;
    return array_first(
        contexts->count, i,
        all[i].name > name || (all[i].name == name && all[i].thread >= thread));
}

bool contexts_has(const struct contexts *contexts, struct reader *reader,
                  const struct reader_event *event)
{
    struct context own;
    bool is_change;
    if (!contexts)
        return false;
    is_change = context_of(reader, event, &own);
    if (is_change && contexts_is_wanted(&own, contexts->wanted))
        return true;
    if (!event->thread)
        return false;
    for (size_t i = 0; i < contexts->count;) {
        const struct change *all = contexts->all;
        uint32_t name = all[i].name;
        unsigned thread = event->thread->number;
        size_t first = changes_from(contexts, name, thread);
        size_t end = changes_from(contexts, name, thread + 1);
        size_t k = first + array_first(end - first, n,
                                       word_signed(reader->memory,
                                                   all[first + n].order -
                                                       event->event.order) > 0);
        i = changes_from(contexts, name + 1, 0);
        /* A change ends the context before it, which it belongs to, too. */
        k -= is_change && k > first && all[k - 1].order == event->event.order;
        if (k > first &&
            word_signed(reader->memory,
                        all[k - 1].order - event->thread->first) >= 0 &&
            change_is_wanted(contexts, &all[k - 1]))
            return true;
    }
    return false;
}
