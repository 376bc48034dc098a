/* export.h - what the writers of trace formats share: one file a format. */
/* SPDX-License-Identifier: MIT */
#ifndef EXPORT_H
#define EXPORT_H

#include "output.h"
#include "text.h"
#include "timeline.h"

/* Options of the verb that a writer asks for. */
enum { EXPORT_VALUE = OPTION_OWN, EXPORT_PLAIN, EXPORT_MESSAGES };

/* Each writes all events of the call to `path`. */
void export_perfetto(struct call *, const char *path);
void export_chrome(struct call *, const char *path);
void export_speedscope(struct call *, const char *path);
void export_ctf(struct call *, const char *path);
void export_vcd(struct call *, const char *path);
void export_sqlite(struct call *, const char *path);

/* Bytes that are put together before they are written. */
struct buffer {
    unsigned char *at;
    size_t size, max;
};
void buffer_add(struct buffer *, const void *from, size_t size);
__attribute__((format(printf, 2, 3))) void
buffer_print(struct buffer *, const char *format, ...);

/* Numbers from 0 up for things that a file names once and then refers to. */
struct ids {
    struct id {
        uint64_t key[3];
        size_t number;
    } * at; /* open addressing; a power of two */
    size_t count, max;
};
/* The number of a key; *is_new: it was not asked for before. */
size_t ids_of(struct ids *, uint64_t a, uint64_t b, uint64_t c, bool *is_new);
void ids_free(struct ids *);

/* Of a recorder, "40 records overwritten, 2 lost", or null: there are none.
 * *ns: since the timeline's start, up to when. */
const char *export_gap(const struct timeline *, size_t recorder, uint64_t *ns);

#endif
