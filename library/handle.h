/* handle.h - the shared parts of librecorder's files. */
/* SPDX-License-Identifier: MIT */
#pragma once

#pragma GCC visibility push(default)
#include "recorder_reader.h"
#pragma GCC visibility pop

#include "command.h"
#include "texts.h"

struct recorder_reader {
    struct call call;
    struct call_host host;
    char
        *strings[2 * 64 + 1]; /* copies of the source and the options' values */
    size_t strings_count;
    char *error, *warnings; /* as the host's streams have them */
    size_t error_size, warnings_size;
    char said[2048]; /* the error that was returned last */
    struct reader_event event;
    struct recorder_reader_argument arguments[12];
    char file[4096];
    struct texts texts;
    bool has_event;
    bool failed; /* there was no memory: it is not read again */
    bool cut; /* by cut.c: the file was cut off while it was read */
};

/* Enter and leave the library: one thread at a time is in it. If there is no
 * memory, the call returns `failing`. library_leave() returns false, and sets
 * the error, if the source was truncated. */
#define LIBRARY_ENTER(r, failing)                                              \
    if (library_enter(r), (r)->failed || setjmp((r)->host.end) != 0)           \
    return library_fail(r), failing
void library_enter(struct recorder_reader *);
void library_fail(struct recorder_reader *);
bool library_leave(struct recorder_reader *);

/* cut.c: minds pages that a file lost while it is read, for as many readers as
 * there are. Call within library_enter(). */
void cut_begin(void);
void cut_end(void);
/* Sets the flag for reads of lost pages by this thread, or null. */
void cut_watch(bool *cut);

/* The next event and its fields, as print/print.h has them. */
bool library_next(struct recorder_reader *, struct reader_argument *fields);
