/* names.c - the names that formats give their arguments, of all events. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

#include "buffer.h"

/* True if a column has another meaning in some output. */
static bool is_reserved(const char *column)
{
    static const char *const reserved[] = {
        FIELD_NAMES "ord", "seconds",          "wall",  "source",
        "merged_ns",       "may_have_changed", "rowid", "oid"};
    size_t size = strncasecmp(column, "argument", 8) == 0 ? 8 : 3;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcasecmp(column, reserved[i]) == 0)
            return true;
    return strncasecmp(column, "argument", size) == 0 &&
           strspn(column + size, "0123456789") == strlen(column + size);
}

static bool is_taken(const struct names *names, size_t by, const char *column)
{
    /* Of names that differ in case only, the first stays. */
    for (size_t i = 0; i < names->all.count; i++)
        if (strcasecmp(names->all.names[i], column) == 0 &&
            strcasecmp(names->all.names[by], column) != 0)
            return true;
    for (size_t i = 0; i < by; i++)
        if (strcasecmp(names->columns[i], column) == 0)
            return true;
    return is_reserved(column);
}

static void columns_free(struct names *names)
{
    for (size_t i = 0; i < names->columns_count; i++)
        free(names->columns[i]);
    free(names->columns);
}

static void columns_make(struct names *names)
{
    columns_free(names);
    names->columns = need(calloc(names->all.count + 1, sizeof *names->columns));
    names->columns_count = names->all.count;
    for (size_t i = 0; i < names->all.count; i++) {
        size_t size = strlen(names->all.names[i]);
        char *column = need(calloc(1, size + NAMES_MAX + 64));
        memcpy(column, names->all.names[i], size);
        while (is_taken(names, i, column) && size < NAMES_MAX + 64)
            column[size++] = '_';
        names->columns[i] = column;
    }
}

void names_read(struct names *names, struct call *call)
{
    struct reader_argument arguments[12];
    struct reader_event e;
    struct ids formats = {0};
    unsigned count;
    bool is_new;
    while (reader_next(&call->reader, &e)) {
        ids_add(&formats, e.event.format, 0, 0, &is_new);
        if (!is_new)
            continue;
        count = reader_arguments(&call->reader, &e, arguments);
        for (unsigned i = 0; i < count; i++)
            if (arguments[i].name && names->all.count < NAMES_MAX)
                offer_add(&names->all, arguments[i].name);
    }
    ids_free(&formats);
    reader_rewind(&call->reader);
    columns_make(names);
}

const struct reader_argument *names_find(const char *name,
                                         const struct reader_argument *argument,
                                         unsigned count)
{
    for (; count--; argument++)
        if (argument->name && strcmp(argument->name, name) == 0)
            return argument;
    return NULL;
}

void names_close(struct names *names)
{
    offer_free(&names->all);
    columns_free(names);
    *names = (struct names){0};
}
