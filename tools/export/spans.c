/* spans.c - which records are one span: by name, and across threads by id. */
/* SPDX-License-Identifier: MIT */
#include "spans.h"

#include "array.h"
#include "command.h"

/* ----------------------------------------------------------------- names -- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *spans_name(const char *format, size_t *size)
{
    size_t end;
    format += strspn(format, "<>= ");
    end = *size = strcspn(format, "%,:;=(");
    while (format[*size] == ':' && format[*size + 1] == ':') /* of C++ */
        end = *size += 2 + strcspn(format + *size + 2, "%,:;=(");
    while (format[*size] == '=' && end && is_word(format[end - 1]))
        end--;
    if (end) /* "request id=%d": id is an argument's name */
        *size = end;
    while (*size && isspace((unsigned char)format[*size - 1]))
        --*size;
    return format;
}

int spans_match(const char *open, size_t open_size, const char *close,
                size_t close_size)
{
    size_t less = open_size < close_size ? open_size : close_size;
    if (memcmp(open, close, less) != 0)
        return 0;
    if (open_size == close_size)
        return 2;
    return less == 0 ||
           !is_word(open_size > close_size ? open[less] : close[less]);
}

enum spans_step spans_step(const char *format)
{
    return format[0] == '>' && format[1] == '>'   ? SPANS_OPENS
           : format[0] == '=' && format[1] == '>' ? SPANS_GOES_ON
           : format[0] == '<' && format[1] == '<' ? SPANS_CLOSES
                                                  : SPANS_NONE;
}

/* ---------------------------------------------------------- asynchronous -- */

struct spans_async *spans_async(struct spans_asyncs *s, const char *format,
                                const struct reader_recorder *recorder,
                                const struct reader_argument *id,
                                unsigned count)
{
    size_t name_size, i;
    const char *name = spans_name(format, &name_size);
    struct reader_argument plain;
    uint64_t word, number;
    bool is_new;
    if (!count || id->kind == READER_LOST)
        return NULL;
    plain = *id;
    reader_unmark(&plain, 1);
    word = texts_word(&s->texts, &plain);
    number = (uint64_t)texts_add(&s->texts, name, name_size) * 2;
    i = ids_add(&s->ids, recorder->address,
                number + (id->kind == READER_STRING), word, &is_new);
    ARRAY_NEED(s->at, s->ids.count, s->max);
    if (is_new) {
        s->at[i] = (struct spans_async){.name = name,
                                        .name_size = name_size,
                                        .recorder = recorder,
                                        .number = i};
        s->count = s->ids.count;
    }
    return &s->at[i];
}

void spans_free(struct spans_asyncs *s)
{
    texts_free(&s->texts);
    ids_free(&s->ids);
    free(s->at);
}
