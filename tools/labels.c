/* labels.c - labels of sources: host=web1, service=shop. */
/* SPDX-License-Identifier: MIT */
#include "labels.h"
#include "array.h"
#include "print.h"

enum { NAME_MAX_BYTES_ = 32, VALUE_MAX_BYTES = 1024, LABELS_MAX = 64 };

/* A name becomes a column: it is none that an event has anyway. */
static bool is_name(const char *name, size_t size)
{
    static const char *const taken[] = {
        FIELD_NAMES "source", "pid",       "program",
        "arguments",          "offset_ns", "error_ns"};
    static const char first[] = "abcdefghijklmnopqrstuvwxyz";
    if (!size || size > NAME_MAX_BYTES_ || !memchr(first, *name, 26) ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") < size)
        return false;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strlen(taken[i]) == size && memcmp(taken[i], name, size) == 0)
            return false;
    return strncmp(name, "argument", 8) != 0;
}

static void label_set(struct call *call, const char *name, size_t name_size,
                      const char *value, size_t size)
{
    struct label *label = call->labels;
    size_t i;
    for (i = 0; i < call->labels_count; i++)
        if (strlen(label[i].name) == name_size &&
            memcmp(label[i].name, name, name_size) == 0)
            break;
    if (i == LABELS_MAX)
        return;
    if (i == call->labels_count) {
        call->labels = label =
            need(realloc(call->labels, (i + 1) * sizeof *label));
        call->labels_count++;
        label[i].name = need(strndup(name, name_size));
    } else {
        free(label[i].value);
    }
    label[i].value = need(strndup(value, size));
}

/* offset_ns and error_ns are numbers of the note, not texts of it. */
static bool clock_set(struct call *call, const char *text)
{
    struct source_note *note = &call->source.note;
    bool offset = strncmp(text, "offset_ns=", 10) == 0;
    const char *digits = strchr(text, '=') + 1;
    char *end;
    long long value;
    if (!offset && strncmp(text, "error_ns=", 9) != 0)
        return false;
    errno = 0;
    value = strtoll(digits, &end, 10);
    if (!*digits || *end || errno || (!offset && value < 0))
        misuse(call, "--label %s: is no number of nanoseconds", text);
    *(offset ? &note->offset_ns : &note->error_ns) = value;
    return true;
}

void labels_read(struct call *call)
{
    const char *line = call->source.note.text;
    for (; line && *line; line = strchr(line, '\n') + 1) {
        size_t size = strcspn(line, "\n"), name = strcspn(line, "=\n");
        if (name < size && size - name <= VALUE_MAX_BYTES &&
            is_name(line, name))
            label_set(call, line, name, line + name + 1, size - name - 1);
    }
    for (int i = 0; i < call->options_count; i++) {
        const char *text = call->options[i].value;
        size_t name = strcspn(text, "=");
        if (call->options[i].key != OPTION_LABEL)
            continue;
        if (!text[name] || strlen(text) - name > VALUE_MAX_BYTES ||
            strchr(text, '\n'))
            misuse(call,
                   "--label %s: is not NAME=VALUE, a line of at most "
                   "1024 bytes",
                   text);
        if (clock_set(call, text))
            continue;
        if (!is_name(text, name))
            misuse(call,
                   "--label %s: a name has up to 32 of a-z, 0-9 and _, and "
                   "is none of a column that there is anyway",
                   text);
        label_set(call, text, name, text + name + 1, strlen(text + name + 1));
    }
}

void labels_free(struct call *call)
{
    for (size_t i = 0; i < call->labels_count; i++) {
        free(call->labels[i].name);
        free(call->labels[i].value);
    }
    free(call->labels);
    call->labels = NULL;
    call->labels_count = 0;
}

const char *label_of(const struct call *call, const char *name)
{
    for (size_t i = 0; i < call->labels_count; i++)
        if (strcmp(call->labels[i].name, name) == 0)
            return call->labels[i].value;
    return NULL;
}

/* True if a call of the list in front of `end` has a label of that name. */
static bool is_known(const struct call *calls, const struct call *end,
                     const char *name)
{
    for (; calls != end; calls = calls->next)
        if (label_of(calls, name))
            return true;
    return false;
}

const char *labels_name(const struct call *calls, size_t i)
{
    for (const struct call *call = calls; call; call = call->next)
        for (size_t k = 0; k < call->labels_count; k++)
            if (!is_known(calls, call, call->labels[k].name) && i-- == 0)
                return call->labels[k].name;
    return NULL;
}

size_t labels_text(const struct call *call, char **text)
{
    size_t size = 0, at = 0;
    for (size_t i = 0; i < call->labels_count; i++)
        size +=
            strlen(call->labels[i].name) + strlen(call->labels[i].value) + 2;
    *text = need(malloc(size + 1));
    for (size_t i = 0; i < call->labels_count; i++)
        at += (size_t)sprintf(*text + at, "%s=%s\n", call->labels[i].name,
                              call->labels[i].value);
    return size;
}
