/* crash.h - what a signal's dump shows, and where it goes. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_CRASH_H_
#define RECORDER_CRASH_H_

#include "dump.h"
#if defined(RECORDER_LINUX_) && !defined(RECORDER_NO_FILE)
#include "file_core.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- setting -- */

enum {
    RECORDER_CRASH_MAX = 256,   /* bytes of a setting, and of its path */
    RECORDER_CRASH_LINES = 1000 /* of a dump, where nothing is set */
};
/* A setting, and what it says. */
struct recorder_crash {
    struct recorder_choice choice;
    const char *to; /* the pattern of a path; null: stderr */
    char text[RECORDER_CRASH_MAX];
};

/* The user's setting, or null. */
RECORDER_PROGRAM_ const char *recorder_crash_setting = 0;
/* What the thread that dumps works with: there is only one at a time. */
RECORDER_PROGRAM_ struct recorder_crash recorder_crash_now = {
    {0, 0, 0}, 0, {0}};

/* Ends a value at a comma behind which another "word=" begins. Returns that
 * word, or the end of the text. */
RECORDER_FUNCTION_ char *recorder_crash_cut(char *value)
{
    for (; *value; value++) {
        char *next = value + 1, *end;
        if (*value != ',')
            continue;
        while (*next == ' ')
            next++;
        for (end = next; *end >= 'a' && *end <= 'z'; end++)
            ;
        if (end == next || *end != '=')
            continue;
        *value = '\0';
        return next;
    }
    return value;
}

/* Returns what stands behind `word`, or null if the text begins otherwise. */
RECORDER_INLINE_ const char *recorder_crash_value(const char *text,
                                                  const char *word)
{
    for (; *word; word++, text++)
        if (*text != *word)
            return NULL;
    return text;
}

/* Reads "100" or "all". Returns false where it is neither. */
RECORDER_FUNCTION_ bool recorder_crash_last(const char *value,
                                            struct recorder_choice *to)
{
    const char *all = recorder_crash_value(value, "all");
    to->lines_max = to->last = 0;
    if (all && !*all)
        return true;
    for (; *value >= '0' && *value <= '9' && to->last < SIZE_MAX / 20; value++)
        to->last = to->last * 10 + (size_t)(*value - '0');
    return !*value && to->last;
}

/* Takes the text apart, and changes it. Returns null, or the part of it that
 * means nothing; `to` then holds what stands before that. */
RECORDER_FUNCTION_ const char *recorder_crash_parse(struct recorder_crash *to)
{
    char *at = to->text, *next;
    to->choice.regex = to->to = NULL;
    to->choice.last = 0;
    to->choice.lines_max = RECORDER_CRASH_LINES;
    for (; *at; at = next) {
        const char *value;
        next = recorder_crash_cut(at);
        if ((value = recorder_crash_value(at, "last=")) != NULL) {
            if (!recorder_crash_last(value, &to->choice))
                return at;
        } else if ((value = recorder_crash_value(at, "to=")) && *value) {
            to->to = value;
        } else if ((value = recorder_crash_value(at, "names=")) &&
                   !recorder_regex_check(value)) {
            to->choice.regex = value;
        } else {
            return at;
        }
    }
    return NULL;
}

RECORDER_FUNCTION_ bool recorder_dump_set(const char *setting)
{
    struct recorder_crash crash;
    struct recorder_string say;
    size_t size = setting ? recorder_length(setting, RECORDER_CRASH_MAX) : 0;
    const char *wrong = setting;
    char text[RECORDER_CRASH_MAX + 200];
    if (size < RECORDER_CRASH_MAX) {
        recorder_bytes(crash.text, setting ? setting : "", size);
        crash.text[size] = '\0';
        wrong = recorder_crash_parse(&crash);
    }
    if (!wrong) {
        __atomic_store_n(&recorder_crash_setting, size ? setting : NULL,
                         __ATOMIC_RELEASE);
        return true;
    }
    say = recorder_string_at(text, sizeof text);
    recorder_add_string(&say, "recorder: dump: ");
    recorder_add_name(&say, wrong, RECORDER_CRASH_MAX);
    recorder_add_string(&say, "\nrecorder: dump: there are last=NUMBER, "
                              "last=all, to=PATH and names=REGEX, with commas "
                              "between, 255 bytes in all\n");
    recorder_say(&say);
    return false;
}

/* Reads the setting that counts now, as far as it can be read. Returns true if
 * there is one. */
RECORDER_FUNCTION_ bool recorder_crash_read(struct recorder_crash *to)
{
    const char *setting =
        __atomic_load_n(&recorder_crash_setting, __ATOMIC_ACQUIRE);
    struct recorder_memory memory;
    ptrdiff_t size = -1;
    if (setting) {
        recorder_memory_open(&memory);
        size = recorder_memory_copy(&memory, (uintptr_t)setting, to->text,
                                    sizeof to->text - 1);
        recorder_memory_close(&memory);
    }
    to->text[size > 0 ? size : 0] = '\0';
    recorder_crash_parse(to);
    return size > 0;
}

/* ---------------------------------------------------------------- output -- */

/* Makes a path of its pattern: %p is the process id, %% a percent. Returns
 * false if it is too long. */
RECORDER_FUNCTION_ bool recorder_crash_path(const char *pattern, char *to)
{
    struct recorder_string path =
        recorder_string_at(to, RECORDER_CRASH_MAX - 1);
    for (; *pattern; pattern++) {
        if (*pattern == '%' && pattern[1] == 'p')
            recorder_add_number(&path, (uint64_t)recorder_os_process(), 10, 1);
        else
            recorder_add_text(&path, pattern, 1);
        pattern += *pattern == '%' && (pattern[1] == 'p' || pattern[1] == '%');
    }
    to[path.size < path.max ? path.size : path.max] = '\0';
    return path.size <= path.max;
}

/* Says "recorder: FIRST PATH LAST". */
RECORDER_FUNCTION_ void recorder_crash_say(struct recorder_output *out,
                                           const char *first, const char *path,
                                           const char *last)
{
    struct recorder_string say;
    char text[RECORDER_CRASH_MAX + 100];
    say = recorder_string_at(text, sizeof text);
    recorder_add_string(&say, "recorder: ");
    recorder_add_string(&say, first);
    recorder_add_name(&say, path, RECORDER_CRASH_MAX);
    recorder_add_string(&say, last);
    recorder_add_string(&say, "\n");
    recorder_output_write(out, text, say.size);
}

/* Returns the path of the recording that this process makes, or null. */
RECORDER_INLINE_ const char *recorder_crash_recording(void)
{
#if defined(RECORDER_LINUX_) && !defined(RECORDER_NO_FILE)
    return recorder_recording ? recorder_recording->path : NULL;
#else
    return NULL;
#endif
}

/* Opens the file for a dump, at the end of what it holds, and says where it is.
 * Returns -1 where there is none, and says that, too. */
RECORDER_FUNCTION_ int recorder_crash_open(const char *pattern,
                                           struct recorder_output *out)
{
    char path[RECORDER_CRASH_MAX];
    int fd = -1;
    if (recorder_crash_path(pattern, path))
        fd = recorder_os_append(path);
    if (fd >= 0)
        recorder_crash_say(out, "dumps to ", path, "");
    else
        recorder_crash_say(out, "cannot open ", path, " for a dump");
    return fd;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
