/* set.h - sets what recorders do while the program runs, by name. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_SET_H_
#define RECORDER_SET_H_

#include "define.h"
#include "dump.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------- conversions -- */

RECORDER_PROGRAM_ recorder_type *recorder_types[256] = {0};

RECORDER_FUNCTION_ recorder_type *
recorder_configure_type(unsigned char conversion, recorder_type *function)
{
    recorder_type *before;
    recorder_start();
    before = __atomic_exchange_n(&recorder_types[conversion], function,
                                 __ATOMIC_ACQ_REL);
    __atomic_store_n(&recorder_home.registry->types, &recorder_types[0],
                     __ATOMIC_RELEASE);
    return before;
}

/* ------------------------------------------------------------------ text -- */

/* Functions of compat/recorder that are called in place of ours; null: none. */
struct recorder_set_hooks {
    void (*dump)(void);
    void (*warn)(const char *text); /* instead of stderr */
};
RECORDER_PROGRAM_ struct recorder_set_hooks recorder_set_hooks = {0, 0};

#define RECORDER_SET_MAX 256 /* bytes of a name, and of a value */

/* An item of a specification, taken apart. */
struct recorder_item {
    char name[RECORDER_SET_MAX], value[RECORDER_SET_MAX];
    bool has_value, command;
    intptr_t number;
};

RECORDER_FUNCTION_ void recorder_set_warn(const char *name, const char *what)
{
    struct recorder_string say;
    char text[RECORDER_SET_MAX + 100];
    say = recorder_string_at(text, sizeof text - 1);
    recorder_add_string(&say, "recorder: traces: ");
    recorder_add_name(&say, name, RECORDER_SET_MAX);
    recorder_add_string(&say, ": ");
    recorder_add_string(&say, what);
    if (recorder_set_hooks.warn) {
        text[say.size < say.max ? say.size : say.max] = '\0';
        recorder_set_hooks.warn(text);
        return;
    }
    recorder_add_string(&say, "\n");
    recorder_say(&say);
}

/* Adds a line of the list: "                 net*: Network traffic". */
RECORDER_FUNCTION_ void recorder_set_line(const char *name,
                                          const char *description,
                                          intptr_t value, bool tweak)
{
    struct recorder_string say;
    char text[400];
    size_t length = recorder_length(name, 20), i;
    say = recorder_string_at(text, sizeof text);
    for (i = length; i < 20; i++)
        recorder_add_string(&say, " ");
    recorder_add_name(&say, name, 100);
    if (tweak || value > 1)
        recorder_add_string(&say, " : ");
    else
        recorder_add_string(&say, value > 0 ? "*: " : " : ");
    recorder_add_name(&say, description, 200);
    if (tweak || value > 1) {
        recorder_add_string(&say, value < 0 ? " = -" : " = ");
        recorder_add_number(
            &say, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, 1);
        recorder_add_string(&say, " (0x");
        recorder_add_number(&say, (uintptr_t)value, 16, 1);
        recorder_add_string(&say, ")");
    }
    recorder_add_string(&say, "\n");
    recorder_say(&say);
}

/* ------------------------------------------------------------------ find -- */

/* Returns the index-th recorder that the regex chooses, or null. */
RECORDER_FUNCTION_ struct recorder *recorder_set_recorder(const char *regex,
                                                          size_t index)
{
    struct recorder *recorder = recorder_walk();
    while (recorder && !(recorder_chosen(recorder, regex) && index-- == 0))
        recorder = recorder_walk_on(recorder);
    recorder_unwalk();
    return recorder;
}
RECORDER_FUNCTION_ struct recorder_tweak *recorder_set_tweak(const char *regex,
                                                             size_t index)
{
    struct recorder_tweak *tweak;
    recorder_walk();
    tweak = __atomic_load_n(&recorder_home.registry->tweaks, __ATOMIC_ACQUIRE);
    while (tweak && !((!regex || recorder_regex_match(regex, tweak->name)) &&
                      index-- == 0))
        tweak = __atomic_load_n(&tweak->next, __ATOMIC_ACQUIRE);
    recorder_unwalk();
    return tweak;
}

/* ----------------------------------------------------------------- value -- */

RECORDER_INLINE_ bool recorder_set_is_number(const char *text)
{
    return (*text >= '0' && *text <= '9') || *text == '-';
}

/* Reads a number as strtol() does with base 0. Returns false if it is none or
 * too large. */
RECORDER_FUNCTION_ bool recorder_set_number(const char *text, intptr_t *number)
{
    bool negative = *text == '-';
    uintptr_t value = 0, base = 10, most = UINTPTR_MAX;
    text += negative;
    if (text[0] == '0' && (text[1] | 0x20) == 'x') {
        base = 16;
        text += 2;
    } else if (text[0] == '0') {
        base = 8;
    }
    if (!*text)
        return false;
    for (; *text; text++) {
        char c = (char)(*text | (*text >= 'A' ? 0x20 : 0));
        uintptr_t digit = (uintptr_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
        if (c < '0' || digit >= base || value > (most - digit) / base)
            return false;
        value = value * base + digit;
    }
    if (base == 10 && value > UINTPTR_MAX / 2 + negative)
        return false; /* 0xffff... is -1, as a mask */
    *number = (intptr_t)(negative ? 0 - value : value);
    return true;
}

/* -------------------------------------------------------------- commands -- */

/* Lists all that can be set; of recorders, only those that are traced. */
RECORDER_FUNCTION_ void recorder_set_list(bool traced)
{
    const struct recorder *recorder;
    const struct recorder_tweak *tweak;
    struct recorder_string say;
    char text[64];
    size_t i;
    say = recorder_string_at(text, sizeof text);
    recorder_add_string(&say, traced ? "Traced recorders:\n"
                                     : "Recorders (*: traced):\n");
    recorder_say(&say);
    for (i = 0; (recorder = recorder_set_recorder(NULL, i)) != NULL; i++)
        if (!traced || recorder->trace > 0)
            recorder_set_line(recorder->name, recorder->description,
                              recorder->trace, false);
    if (traced)
        return;
    say.size = 0;
    recorder_add_string(&say, "Tweaks:\n");
    recorder_say(&say);
    for (i = 0; (tweak = recorder_set_tweak(NULL, i)) != NULL; i++)
        recorder_set_line(tweak->name, tweak->description, tweak->trace, true);
}

RECORDER_PROGRAM_ int recorder_output_opened = -1; /* by us */

/* Sends dumps and traces to a file. Returns false if it cannot be opened. */
RECORDER_FUNCTION_ bool recorder_set_output(const char *path, bool append)
{
    int error = *recorder_errno();
    int fd = recorder_os_create(path, append);
    if (fd >= 0 && recorder_output_opened >= 0 &&
        recorder_output_opened == recorder_output_fd) {
        /* In one step: another thread may be writing to it. */
        recorder_os_replace(recorder_output_fd, fd);
        recorder_os_close(fd);
    } else if (fd >= 0) {
        recorder_output_opened = fd;
        recorder_output_fd = fd;
    }
    *recorder_errno() = error;
    return fd >= 0;
}

RECORDER_INLINE_ bool recorder_set_is(const char *name, const char *command)
{
    while (*name && *name == *command)
        name++, command++;
    return *name == *command;
}

/* Runs a command. Returns null, or what is wrong with it. */
RECORDER_FUNCTION_ const char *
recorder_set_command(const struct recorder_item *item)
{
    const char *name = item->name;
    bool append = recorder_set_is(name, "output_append");
    if (recorder_set_is(name, "help") || recorder_set_is(name, "list"))
        recorder_set_list(false);
    else if (recorder_set_is(name, "traces"))
        recorder_set_list(true);
    else if (recorder_set_is(name, "dump") && recorder_set_hooks.dump)
        recorder_set_hooks.dump();
    else if (recorder_set_is(name, "dump"))
        recorder_dump();
    else if (append || recorder_set_is(name, "output"))
        return recorder_set_output(item->value, append) ? NULL
                                                        : "cannot write there";
    else
        return "no recorder or tweak has this name, nor a command";
    return NULL;
}

/* ------------------------------------------------------------------- set -- */

/* Applies an item, and warns if it cannot. */
RECORDER_FUNCTION_ int recorder_set_item(struct recorder_item *item)
{
    const char *regex = recorder_set_is(item->name, "all") ? ".*" : item->name;
    const char *wrong = recorder_regex_check(regex);
    bool number = recorder_set_is_number(item->value);
    bool names = item->value[0] && !number; /* of arguments */
    bool good = number || names || !item->has_value;
    struct recorder *recorder;
    struct recorder_tweak *tweak;
    size_t i = 0, recorders;
    if (wrong) {
        recorder_set_warn(item->name, wrong);
        return RECORDER_TRACE_INVALID_NAME;
    }
    if (!item->command && number &&
        !recorder_set_number(item->value, &item->number)) {
        recorder_set_warn(item->value, "no number");
        return RECORDER_TRACE_INVALID_VALUE;
    }
    for (; !item->command &&
           (recorder = recorder_set_recorder(regex, i)) != NULL;
         i++)
        if (good)
            __atomic_store_n(&recorder->trace, names ? 0 : item->number,
                             __ATOMIC_RELAXED);
    recorders = i;
    for (; !item->command && recorders == 0 &&
           (tweak = recorder_set_tweak(regex, i)) != NULL;
         i++) {
        good &= !names;
        if (good)
            __atomic_store_n(&tweak->trace, item->number, __ATOMIC_RELAXED);
    }
    if (i > 0 && !good) {
        recorder_set_warn(item->value, "no number");
        return RECORDER_TRACE_INVALID_VALUE;
    }
    if (recorders > 0 && names)
        recorder_set_warn(item->value,
                          "recorded, not exported: recorder view --value");
    wrong = i == 0 ? recorder_set_command(item) : NULL;
    if (wrong)
        recorder_set_warn(item->name, wrong);
    return RECORDER_TRACE_OK;
}

RECORDER_INLINE_ bool recorder_set_ends(char c)
{
    return c == ':' || c == ' ' || c == '\0';
}

/* Copies text up to the end of an item; a name ends at '=', too. Returns false
 * if it is too long. */
RECORDER_FUNCTION_ bool recorder_set_copy(const char **from, char *to,
                                          bool name)
{
    const char *at = *from;
    size_t size = 0;
    for (; !recorder_set_ends(*at) && !(name && *at == '='); at++)
        if (size < RECORDER_SET_MAX - 1)
            to[size++] = *at;
    to[size] = '\0';
    size = (size_t)(at - *from);
    *from = at;
    return size < RECORDER_SET_MAX;
}

RECORDER_FUNCTION_ int recorder_trace_set(const char *specification)
{
    const char *at = specification;
    int result = RECORDER_TRACE_OK, one;
    recorder_start();
    while (at && *at) {
        struct recorder_item item;
        bool fits;
        item.number = 1;
        item.command = item.has_value = false;
        item.value[0] = '\0';
        for (; *at == '-' || *at == '/' || *at == '@'; at++)
            if (*at == '@')
                item.command = true;
            else
                item.number = *at == '-' ? 0 : -1;
        fits = recorder_set_copy(&at, item.name, true);
        if (*at == '=') {
            at++;
            item.has_value = true;
            fits &= recorder_set_copy(&at, item.value, false);
        }
        at += *at != '\0';
        if (!item.name[0] && !item.has_value)
            continue;
        one = fits && item.name[0] ? recorder_set_item(&item)
                                   : RECORDER_TRACE_INVALID_NAME;
        if (!fits)
            recorder_set_warn(item.name, "too long");
        if (result == RECORDER_TRACE_OK)
            result = one;
    }
    return result;
}

RECORDER_PROGRAM_ bool recorder_set_started = false;

#ifndef RECORDER_SET_LATER_ /* compat/recorder reads it when it is asked to */
__attribute__((constructor(103))) static void recorder_set_enter(void)
{
    if (recorder_set_started)
        return;
    recorder_set_started = true;
    recorder_trace_set(recorder_os_environment_safe("RECORDER_TRACES"));
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
