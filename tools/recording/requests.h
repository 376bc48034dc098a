/* requests.h - which requests a recording has records of, in a note. */
/* SPDX-License-Identifier: MIT */
/*
The note is a Bloom filter: an id of the recorder `context` sets 7 of its bits, of
at least 12 for each id. One of 300 ids that the recording lacks seems to be in it.
A search among many recordings reads their notes first.
*/
#pragma once

#include "contexts.h"

struct requests {
    uint64_t *hashes;
    size_t count, max;
};
/* Adds the id of an event that begins or sends it; other events have none. */
void requests_add(struct requests *, struct reader *,
                  const struct reader_event *);
/* Makes the bytes of the note, and frees the ids. */
unsigned char *requests_note(struct requests *, size_t *size);
/* True if a note may have an id that --request takes. */
bool requests_may_have(const unsigned char *note, size_t size, const char *id);
