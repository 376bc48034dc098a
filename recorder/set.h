/* set.h - changes settings of recorders while the program runs, by name. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_SET_H_
#define RECORDER_SET_H_

#include "define.h"
#include "dump.h"

RECORDER_C_BEGIN_

/* ----------------------------------------------------------- conversions -- */

RECORDER_PROGRAM_ recorder_type *recorder_types_[256] = {0};

RECORDER_CALLED_SELDOM_ recorder_type *
recorder_configure_type(unsigned char conversion, recorder_type *function)
{
    recorder_type *before;
    recorder_start_();
    before = __atomic_exchange_n(&recorder_types_[conversion], function,
                                 __ATOMIC_ACQ_REL);
    recorder_types_[0] = (recorder_type *)~(uintptr_t)&recorder_types_[0];
    __atomic_store_n(&recorder_home_.registry->types, &recorder_types_[0],
                     __ATOMIC_RELEASE);
    return before;
}

/* ------------------------------------------------------------------ text -- */

/* Functions of compat/recorder that replace ours; null: there are none. */
struct recorder_set_hooks_ {
    void (*dump)(void);
    void (*warn)(const char *text); /* instead of stderr */
};
RECORDER_PROGRAM_ struct recorder_set_hooks_ recorder_set_hooks_ = {0, 0};

#define RECORDER_SET_MAX_ 256 /* bytes of a name, and of a value */

/* A parsed item of a specification. */
struct recorder_item_ {
    char name[RECORDER_SET_MAX_], value[RECORDER_SET_MAX_];
    bool has_value, command;
    intptr_t number;
};

RECORDER_SELDOM_ void recorder_set_warn_(const char *name, const char *what)
{
    struct recorder_string_ say;
    char text[RECORDER_SET_MAX_ + 100];
    say = recorder_string_at_(text, sizeof text - 1);
    recorder_add_string_(&say, "recorder: traces: ");
    recorder_add_name_(&say, name, RECORDER_SET_MAX_);
    recorder_add_string_(&say, ": ");
    recorder_add_string_(&say, what);
    if (recorder_set_hooks_.warn) {
        text[say.size < say.max ? say.size : say.max] = '\0';
        recorder_set_hooks_.warn(text);
        return;
    }
    recorder_add_string_(&say, "\n");
    recorder_say_(&say);
}

/* Adds a line of the list: "                 net*: Network traffic". */
RECORDER_SELDOM_ void recorder_set_line_(const char *name,
                                           const char *description,
                                           intptr_t value, bool tweak)
{
    struct recorder_string_ say;
    char text[400];
    size_t length = recorder_length_(name, 20), i;
    say = recorder_string_at_(text, sizeof text);
    for (i = length; i < 20; i++)
        recorder_add_string_(&say, " ");
    recorder_add_name_(&say, name, 100);
    if (tweak || value > 1)
        recorder_add_string_(&say, " : ");
    else
        recorder_add_string_(&say, value > 0 ? "*: " : " : ");
    recorder_add_name_(&say, description, 200);
    if (tweak || value > 1) {
        recorder_add_string_(&say, value < 0 ? " = -" : " = ");
        recorder_add_number_(
            &say, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, 1);
        recorder_add_string_(&say, " (0x");
        recorder_add_number_(&say, (uintptr_t)value, 16, 1);
        recorder_add_string_(&say, ")");
    }
    recorder_add_string_(&say, "\n");
    recorder_say_(&say);
}

/* ------------------------------------------------------------------ find -- */

/* Returns the index-th recorder that the regex chooses, or null. */
RECORDER_SELDOM_ struct recorder *recorder_set_recorder_(const char *regex,
                                                           size_t index)
{
    struct recorder *recorder = recorder_readers_enter_();
    while (recorder && !(recorder_chosen_(recorder, regex) && index-- == 0))
        recorder = recorder_list_next_(recorder);
    recorder_readers_leave_();
    return recorder;
}
RECORDER_SELDOM_ struct recorder_tweak *recorder_set_tweak_(const char *regex,
                                                              size_t index)
{
    struct recorder_tweak *tweak;
    recorder_readers_enter_();
    tweak = __atomic_load_n(&recorder_home_.registry->tweaks, __ATOMIC_ACQUIRE);
    while (tweak && !((!regex || recorder_regex_match_(regex, tweak->name)) &&
                      index-- == 0))
        tweak = __atomic_load_n(&tweak->next, __ATOMIC_ACQUIRE);
    recorder_readers_leave_();
    return tweak;
}

/* ----------------------------------------------------------------- value -- */

RECORDER_INLINE_ bool recorder_set_is_number_(const char *text)
{
    return (*text >= '0' && *text <= '9') || *text == '-';
}

/* Reads a number as strtol() does with base 0. Returns false if it is none or
 * too large. */
RECORDER_SELDOM_ bool recorder_set_number_(const char *text, intptr_t *number)
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

/* Sets `trace` of a recorder. It stays watched by triggers if it was. */
RECORDER_SELDOM_ void recorder_set_trace_(struct recorder *recorder,
                                          intptr_t value)
{
    intptr_t trace = __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED);
    while (!recorder_trace_swap_(recorder, &trace,
                                 recorder_trace_set_(trace, value)))
        ;
}

/* -------------------------------------------------------------- commands -- */

/* Lists all settings; of recorders, only traced ones. */
RECORDER_SELDOM_ void recorder_set_list_(bool traced)
{
    const struct recorder *recorder;
    const struct recorder_tweak *tweak;
    struct recorder_string_ say;
    char text[64];
    size_t i;
    say = recorder_string_at_(text, sizeof text);
    recorder_add_string_(&say, traced ? "Traced recorders:\n"
                                      : "Recorders (*: traced):\n");
    recorder_say_(&say);
    for (i = 0; (recorder = recorder_set_recorder_(NULL, i)) != NULL; i++) {
        intptr_t value = (intptr_t)recorder_trace_value_(recorder->trace);
        if (!traced || value > 0)
            recorder_set_line_(recorder->name, recorder->description, value,
                               false);
    }
    if (traced)
        return;
    say.size = 0;
    recorder_add_string_(&say, "Tweaks:\n");
    recorder_say_(&say);
    for (i = 0; (tweak = recorder_set_tweak_(NULL, i)) != NULL; i++)
        recorder_set_line_(tweak->name, tweak->description, tweak->value, true);
}

RECORDER_PROGRAM_ int recorder_output_opened_ = -1; /* by us */

/* Sends dumps and traces to a file. Returns false if it cannot be opened. */
RECORDER_SELDOM_ bool recorder_set_output_(const char *path, bool append)
{
    int error = *recorder_os_errno_();
    int fd = recorder_os_create_(path, append);
    if (fd >= 0 && recorder_output_opened_ >= 0 &&
        recorder_output_opened_ == recorder_output_fd_) {
        /* In one step: another thread may be writing to it. */
        recorder_os_replace_(recorder_output_fd_, fd);
        recorder_os_close_(fd);
    } else if (fd >= 0) {
        recorder_output_opened_ = fd;
        recorder_output_fd_ = fd;
    }
    *recorder_os_errno_() = error;
    return fd >= 0;
}

RECORDER_INLINE_ bool recorder_set_is_(const char *name, const char *command)
{
    while (*name && *name == *command)
        name++, command++;
    return *name == *command;
}

/* Runs a command. Returns null, or what is wrong with it. */
RECORDER_SELDOM_ const char *
recorder_set_command_(const struct recorder_item_ *item)
{
    const char *name = item->name;
    bool append = recorder_set_is_(name, "output_append");
    if (recorder_set_is_(name, "help") || recorder_set_is_(name, "list"))
        recorder_set_list_(false);
    else if (recorder_set_is_(name, "traces"))
        recorder_set_list_(true);
    else if (recorder_set_is_(name, "dump") && recorder_set_hooks_.dump)
        recorder_set_hooks_.dump();
    else if (recorder_set_is_(name, "dump"))
        recorder_dump();
    else if (append || recorder_set_is_(name, "output"))
        return recorder_set_output_(item->value, append) ? NULL
                                                         : "cannot write there";
    else
        return "no recorder or tweak has this name, nor a command";
    return NULL;
}

/* ------------------------------------------------------------------- set -- */

/* Applies an item, and warns if it cannot. */
RECORDER_SELDOM_ int recorder_set_item_(struct recorder_item_ *item)
{
    const char *regex = recorder_set_is_(item->name, "all") ? ".*" : item->name;
    const char *wrong = recorder_regex_check_(regex);
    bool number = recorder_set_is_number_(item->value);
    bool names = item->value[0] && !number; /* of arguments */
    bool good = number || names || !item->has_value;
    struct recorder *recorder;
    struct recorder_tweak *tweak;
    size_t i = 0, recorders;
    if (wrong) {
        recorder_set_warn_(item->name, wrong);
        return RECORDER_TRACE_INVALID_NAME;
    }
    if (!item->command && number &&
        !recorder_set_number_(item->value, &item->number)) {
        recorder_set_warn_(item->value, "no number");
        return RECORDER_TRACE_INVALID_VALUE;
    }
    for (; !item->command &&
           (recorder = recorder_set_recorder_(regex, i)) != NULL;
         i++)
        if (good)
            recorder_set_trace_(recorder, names ? 0 : item->number);
    recorders = i;
    for (; !item->command && recorders == 0 &&
           (tweak = recorder_set_tweak_(regex, i)) != NULL;
         i++) {
        good &= !names;
        if (good)
            __atomic_store_n(&tweak->value, item->number, __ATOMIC_RELAXED);
    }
    if (i > 0 && !good) {
        recorder_set_warn_(item->value, "no number");
        return RECORDER_TRACE_INVALID_VALUE;
    }
    if (recorders > 0 && names)
        recorder_set_warn_(item->value,
                           "no number; if it names arguments, they are "
                           "recorded: recorder view --value shows them");
    wrong = i == 0 ? recorder_set_command_(item) : NULL;
    if (wrong)
        recorder_set_warn_(item->name, wrong);
    return RECORDER_TRACE_OK;
}

RECORDER_INLINE_ bool recorder_set_ends_(char c)
{
    return c == ':' || c == ' ' || c == '\0';
}

/* Copies text up to the end of an item; a name ends at '=', too. Returns false
 * if it is too long. */
RECORDER_SELDOM_ bool recorder_set_copy_(const char **from, char *to, bool name)
{
    const char *at = *from;
    size_t size = 0;
    for (; !recorder_set_ends_(*at) && !(name && *at == '='); at++)
        if (size < RECORDER_SET_MAX_ - 1)
            to[size++] = *at;
    to[size] = '\0';
    size = (size_t)(at - *from);
    *from = at;
    return size < RECORDER_SET_MAX_;
}

RECORDER_CALLED_SELDOM_ int recorder_trace_set(const char *specification)
{
    const char *at = specification;
    int result = RECORDER_TRACE_OK, one;
    recorder_start_();
    while (at && *at) {
        struct recorder_item_ item;
        bool fits;
        item.number = 1;
        item.command = item.has_value = false;
        item.value[0] = '\0';
        for (; *at == '-' || *at == '/' || *at == '@'; at++)
            if (*at == '@')
                item.command = true;
            else
                item.number = *at == '-' ? 0 : -1;
        fits = recorder_set_copy_(&at, item.name, true);
        if (*at == '=') {
            at++;
            item.has_value = true;
            fits &= recorder_set_copy_(&at, item.value, false);
        }
        at += *at != '\0';
        if (!item.name[0] && !item.has_value)
            continue;
        one = fits && item.name[0] ? recorder_set_item_(&item)
                                   : RECORDER_TRACE_INVALID_NAME;
        if (!fits)
            recorder_set_warn_(item.name, "too long");
        if (result == RECORDER_TRACE_OK)
            result = one;
    }
    return result;
}

RECORDER_PROGRAM_ bool recorder_set_started_ = false;

/* Where recorder_set_started_ is true, compat/recorder reads it on request. */
RECORDER_UNSEEN_ __attribute__((constructor(103))) static void
recorder_set_enter_(void)
{
    if (recorder_set_started_)
        return;
    recorder_set_started_ = true;
    recorder_trace_set(recorder_os_environment_("RECORDER_TRACES"));
}

RECORDER_C_END_
#endif
