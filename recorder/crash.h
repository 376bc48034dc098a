/* crash.h - settings of a signal's dump: its records and its file. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_CRASH_H_
#define RECORDER_CRASH_H_

#include "dump.h"
#if defined(RECORDER_OS_FILES_) && !defined(RECORDER_NO_FILE)
#include "file_crash.h"
#include "crash_stack.h"
#endif

RECORDER_C_BEGIN_

/* --------------------------------------------------------------- setting -- */

enum {
    RECORDER_CRASH_LINES_ = 1000, /* of a dump, if nothing is set */
    /* The most time of the processor, in ns, for a dump without its lines.
     * Rings of some million slots take less. */
    RECORDER_CRASH_NS_ = 1000000000
};
/* A setting, and its parts. */
struct recorder_crash_ {
    struct recorder_choice_ choice;
    const char *to; /* the pattern of a path; null: stderr */
    size_t memory;  /* bytes that a recording gets of a crash; 0: none of it */
    bool shows;     /* another setting was given */
    char text[RECORDER_CRASH_MAX_];
};

/* The user's setting, or null. */
RECORDER_PROGRAM_ const char *recorder_crash_setting_ = 0;
/* Memory of the thread that dumps: there is only one at a time. */
RECORDER_PROGRAM_ struct recorder_crash_ recorder_crash_now_ = {
    {0, 0, 0, 0}, 0, 0, false, {0}};

/* Ends a value at a comma before another "word=". Returns that
 * word, or the end of the text. */
RECORDER_SELDOM_ char *recorder_crash_cut_(char *value)
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

/* Reads a number. Returns false if it is none. */
RECORDER_SELDOM_ bool recorder_crash_number_(const char *value, size_t *to)
{
    bool is = *value != '\0';
    for (*to = 0; *value >= '0' && *value <= '9' && *to < SIZE_MAX / 20;
         value++)
        *to = *to * 10 + (size_t)(*value - '0');
    return is && !*value;
}

/* Reads "100" or "all". Returns false if it is neither. */
RECORDER_SELDOM_ bool recorder_crash_last_(const char *value,
                                           struct recorder_choice_ *to)
{
    const char *all = recorder_past_(value, "all");
    to->lines_max = to->last = 0;
    if (all && !*all)
        return true;
    return recorder_crash_number_(value, &to->last) && to->last;
}

/* Parses the text, and changes it. Returns null, or the first part that means
 * nothing; `to` then holds the parts before. */
RECORDER_SELDOM_ const char *recorder_crash_parse_(struct recorder_crash_ *to)
{
    char *at = to->text, *next;
    to->choice.regex = to->to = NULL;
    to->choice.last = 0;
    to->memory = SIZE_MAX;
    to->shows = false;
    to->choice.lines_max = RECORDER_CRASH_LINES_;
    to->choice.until_ns =
        recorder_clock_ns_(RECORDER_PROCESSOR_) + RECORDER_CRASH_NS_;
    for (; *at; at = next) {
        const char *value;
        next = recorder_crash_cut_(at);
        if ((value = recorder_past_(at, "crash=")) != NULL) {
            if (!recorder_crash_number_(value, &to->memory))
                return at;
            continue;
        }
        to->shows = true;
        if ((value = recorder_past_(at, "last=")) != NULL) {
            if (!recorder_crash_last_(value, &to->choice))
                return at;
        } else if ((value = recorder_past_(at, "to=")) && *value) {
            to->to = value;
        } else if ((value = recorder_past_(at, "names=")) &&
                   !recorder_regex_check_(value)) {
            to->choice.regex = value;
        } else {
            return at;
        }
    }
    return NULL;
}

RECORDER_ANY_ bool recorder_dump_set(const char *setting)
{
    struct recorder_crash_ crash;
    struct recorder_string_ say;
    size_t size = setting ? recorder_length_(setting, RECORDER_CRASH_MAX_) : 0;
    const char *wrong = setting;
    char text[RECORDER_CRASH_MAX_ + 200];
    if (size < RECORDER_CRASH_MAX_) {
        recorder_bytes_(crash.text, setting ? setting : "", size);
        crash.text[size] = '\0';
        wrong = recorder_crash_parse_(&crash);
    }
    if (!wrong) {
        __atomic_store_n(&recorder_crash_setting_, size ? setting : NULL,
                         __ATOMIC_RELEASE);
        return true;
    }
    say = recorder_string_at_(text, sizeof text);
    recorder_add_string_(&say, "recorder: dump: ");
    recorder_add_name_(&say, wrong, RECORDER_CRASH_MAX_);
    recorder_add_string_(&say, "\nrecorder: dump: there are last=NUMBER, "
                               "last=all, to=PATH, names=REGEX and "
                               "crash=BYTES, with commas between, 255 bytes "
                               "in all\n");
    recorder_say_(&say);
    return false;
}

/* Reads the current setting, as far as it can be read. */
RECORDER_SELDOM_ void recorder_crash_read_(struct recorder_crash_ *to)
{
    const char *setting =
        __atomic_load_n(&recorder_crash_setting_, __ATOMIC_ACQUIRE);
    struct recorder_memory_ memory;
    ptrdiff_t size = -1;
    if (setting) {
        recorder_memory_open_(&memory);
        size = recorder_memory_copy_(&memory, (uintptr_t)setting, to->text,
                                     sizeof to->text - 1);
        recorder_memory_close_(&memory);
    }
    to->text[size > 0 ? size : 0] = '\0';
    recorder_crash_parse_(to);
}

/* ---------------------------------------------------------------- output -- */

/* Makes a path of its pattern. Returns false if it is too long. */
RECORDER_SELDOM_ bool recorder_crash_path_(const char *pattern, char *to)
{
    struct recorder_string_ path =
        recorder_string_at_(to, RECORDER_CRASH_MAX_ - 1);
    const char *program = recorder_home_.registry->program;
    recorder_add_path_(&path, pattern, (uint64_t)recorder_os_process_(),
                       program ? program : "program", NULL);
    to[path.size < path.max ? path.size : path.max] = '\0';
    return path.size <= path.max;
}

/* The path of the recording that this process makes, or null. */
#if defined(RECORDER_OS_FILES_) && !defined(RECORDER_NO_FILE)
RECORDER_INLINE_ const char *recorder_crash_recording_(void)
{
    return recorder_recording_ ? recorder_recording_->path : NULL;
}
#else
#define recorder_crash_recording_() ((const char *)NULL)
#define recorder_crash_show_(sig, info, context, thread, out) ((void)0)
#endif

/* Opens the file for a dump, to append to it, and says where it is. Returns -1,
 * and says why, if it cannot. */
RECORDER_SELDOM_ int recorder_crash_open_(const char *pattern,
                                          struct recorder_output_ *out)
{
    char path[RECORDER_CRASH_MAX_];
    int fd = -1;
    if (recorder_crash_path_(pattern, path))
        fd = recorder_os_append_(path);
    if (fd >= 0)
        recorder_dump_say_(out, "dumps to ", path, "");
    else
        recorder_dump_say_(out, "cannot open ", path,
                           " for a dump: it must be a regular file of this "
                           "user, with one name");
    return fd;
}

RECORDER_C_END_
#endif
