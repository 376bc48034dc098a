/* settings.c - turns NAME=VALUE into words to write into a running program. */
/* SPDX-License-Identifier: MIT */
#include "settings.h"
#include "array.h"
#include "inside.h"

#include "recorder/regex.h"

__attribute__((format(printf, 3, 4))) static const char *
wrong(struct settings *settings, bool misuse, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(settings->why, sizeof settings->why, format, arguments);
    va_end(arguments);
    settings->misuse = misuse;
    return settings->why;
}

/* A VALUE: a number, or a function of the recorder's word. */
struct value {
    int64_t number;
    int64_t (*of)(int64_t trace); /* null: the number */
};

static bool value_of(const char *text, struct value *value)
{
    static const struct {
        const char *word;
        struct value value;
    } words[] = {{"on", {0, NULL}},
                 {"off", {-1, NULL}},
                 {"trace", {1, NULL}},
                 {"freeze", {0, recorder_trace_frozen_}},
                 {"thaw", {0, recorder_trace_thawed_}}};
    char *end;
    value->of = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i].word) == 0) {
            *value = words[i].value;
            return true;
        }
    errno = 0;
    value->number = strtoll(text, &end, 0);
    return *text && !*end && !errno;
}

static void append(struct settings *settings, uint64_t address, int64_t value)
{
    *array_add(settings->all, settings->count, settings->max) =
        (struct setting){.address = address, .value = value};
}

/* Chooses recorders by their names, else tweaks, if the value is a number. A
 * watched recorder stays watched. */
static void find(struct settings *settings, const struct reader *reader,
                 const char *name, const struct value *value)
{
    size_t before = settings->count;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (reader_is_named(r, name))
            append(settings, r->address,
                   value->of ? value->of(r->trace)
                             : recorder_trace_set_(r->trace, value->number));
    }
    if (settings->count > before || value->of)
        return;
    for (size_t i = 0; i < reader->tweaks_count; i++)
        if (reader->tweaks[i].name &&
            recorder_regex_match_(name, reader->tweaks[i].name))
            append(settings, reader->tweaks[i].address, value->number);
}

static const char *item(struct settings *settings, const struct reader *reader,
                        char *name)
{
    char *value = strrchr(name, '=');
    const char *refused;
    size_t before = settings->count;
    struct value number;
    if (strcmp(name, "clear") == 0) {
        settings->clears = true;
        return NULL;
    }
    if (!value || value == name)
        return wrong(settings, true, "%s is not NAME=VALUE", name);
    *value++ = '\0';
    refused = recorder_regex_check_(name);
    if (refused)
        return wrong(settings, true, "%s: %s", name, refused);
    if (!value_of(value, &number))
        return wrong(settings, true,
                     "%s=%s: on, off, trace, freeze, thaw or a number", name,
                     value);
    find(settings, reader, name, &number);
    if (settings->count == before)
        return wrong(settings, false,
                     "no recorder is named %s; nothing was changed", name);
    return NULL;
}

static void settings_free(struct settings *settings)
{
    free(settings->all);
    settings->all = NULL;
    settings->count = settings->max = 0;
}

const char *settings_add(struct settings *settings, const struct reader *reader,
                         const char *items)
{
    char *copy = need(strdup(items)), *rest = copy, *name;
    const char *why = NULL;
    while (!why && (name = strsep(&rest, " ,"))) {
        if (*name && rest && strncmp(rest, "of ", 3) == 0) {
            name[strlen(name)] = ' '; /* "net of liba.so=off" */
            rest += 3;
            strsep(&rest, " ,");
        }
        if (*name)
            why = item(settings, reader, name);
    }
    free(copy);
    if (why)
        settings_free(settings);
    return why;
}

/* Sets one word of a running program. False: it cannot be written. */
static bool word_write(struct reader *reader, uint64_t address, uint64_t value)
{
    struct memory *memory = reader->memory;
    unsigned char bytes[8];
    bytes_put_word(memory, bytes, value);
    return memory->write &&
           memory->write(memory, address, bytes, memory->word_bytes);
}

bool settings_write(struct settings *settings, struct reader *reader)
{
    bool written = !settings->clears ||
                   (!reader_take(reader) && reader_clear(reader, reader->end));
    for (size_t i = 0; i < settings->count && written; i++)
        written = word_write(reader, settings->all[i].address,
                             (uint64_t)settings->all[i].value);
    settings_free(settings);
    return written;
}

bool reader_clear(struct reader *reader, uint64_t order)
{
    uint64_t image = reader->inside->image;
    if (!word_write(reader, reader->cleared_address, order))
        return false;
    if (image) /* its copy in a recording, too */
        word_write(reader, image + reader->cleared_address - reader->registry,
                   order);
    return true;
}
