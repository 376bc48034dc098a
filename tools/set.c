/* set.c - recorder set: turns recorders of a running program on, off, to trace. */
/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "../recorder_regex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One NAME=VALUE: what it writes where. */
struct change {
    uint64_t address;
    int64_t value;
};
struct changes {
    struct change *all;
    size_t count;
};

static bool value_of(const char *text, int64_t *value)
{
    static const struct {
        const char *word;
        int value;
    } words[] = {{"on", 0}, {"off", -1}, {"trace", 1}};
    char *end;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i].word) == 0) {
            *value = words[i].value;
            return true;
        }
    errno = 0;
    *value = strtoll(text, &end, 0);
    return *text && !*end && !errno;
}

static void change_add(struct changes *changes, uint64_t address, int64_t value)
{
    changes->all = need(
        realloc(changes->all, (changes->count + 1) * sizeof *changes->all));
    changes->all[changes->count++] = (struct change){address, value};
}

/* Finds what a setting means: recorders by their names, else tweaks. */
static void setting(struct call *call, char *text, struct changes *changes)
{
    const struct reader *reader = &call->reader;
    char *value = strrchr(text, '=');
    const char *wrong;
    size_t before = changes->count;
    int64_t number;
    if (!value || value == text)
        misuse(call, "%s is not NAME=VALUE", text);
    *value++ = '\0';
    wrong = recorder_regex_check(text);
    if (wrong)
        misuse(call, "%s: %s", text, wrong);
    if (!value_of(value, &number))
        misuse(call, "%s=%s: on, off, trace or a number", text, value);
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (recorder_regex_match(text, reader->recorders[i]->name))
            change_add(changes, reader->recorders[i]->address, number);
    if (changes->count > before)
        return;
    for (size_t i = 0; i < reader->tweaks_count; i++)
        if (reader->tweaks[i].name &&
            recorder_regex_match(text, reader->tweaks[i].name))
            change_add(changes, reader->tweaks[i].address, number);
    if (changes->count == before)
        fail(call, "no recorder is named %s; nothing was changed", text);
}

static int set(struct call *call)
{
    struct changes changes = {0};
    if (call->arguments_count < 2)
        misuse(call, "PID and SETTINGS");
    call_open(call, 0);
    if (!call->source.memory->write)
        fail(call, "is no running process: nothing there can be set");
    for (int i = 1; i < call->arguments_count; i++) {
        char *text = call->arguments[i], *at;
        while ((at = strsep(&text, " ,")))
            if (*at)
                setting(call, at, &changes);
    }
    for (size_t i = 0; i < changes.count; i++)
        if (!reader_write_word(&call->reader, changes.all[i].address,
                               (uint64_t)changes.all[i].value))
            fail(call, "cannot be written: %s", strerror(errno));
    free(changes.all);
    return 0;
}

const struct verb verb_set = {
    "set",
    "PID NAME=VALUE...",
    "turns recorders of a running program on, off or to trace",
    "NAME is an extended regular expression for whole names of recorders, or "
    "else of tweaks. VALUE is on (record), off, trace (print each record at "
    "once, too) or a number. All of it is looked at before any of it is done.",
    NULL,
    false,
    set};
