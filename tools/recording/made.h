/* made.h - recordings that are made of events, not of pages. */
/* SPDX-License-Identifier: MIT */
/*
    made_begin(&made, &call, fd, texts_max);     after rings were chosen
    while (reader_next(reader, &event))
        if (!made_add(&made, reader, &event))    full
            ...
    made_flush(&made);
    made_end(&made, reader);

The file is a recording like any other (core.h). It has one segment, in which
file offset x has address `base` + x: the image of the registry, recorders,
tweaks and threads, a ring for each recorder, then formats and texts. Records
are as the program wrote them, except that formats and texts have the addresses
of their copies there.

PROMISES
    * At any time after made_begin() the file is a recording of all flushed
      records.
    * A text that may have changed before it was read is marked in the file,
      too.

LIMITS
    * An argument that one conversion shows as text and another as a number is
      the text's address in the file.
    * Of a program with words of 4 bytes, times go back over seven wraps of its
      clock, as everywhere.
*/
#pragma once

#include "buffer.h"
#include "command.h"
#include "core.h"
#include "inside.h"

/* A ring of the file. */
struct made_ring {
    const char *name, *description; /* of its recorder; kept by the caller */
    struct reader_recorder *recorder;
    int64_t trace;
    uint64_t slots; /* a power of two */
    uint64_t lost, kept[KEPT_NUMBERS];
    uint64_t heads;   /* events; of its caller */
    uint64_t orphans; /* continuations of events that are unknown */
    uint64_t at, used, written, recorder_at; /* offsets; slots */
    struct buffer records, commits;          /* after `written` */
    bool changed;
};

/* An event of which continuations are missing. */
struct made_waiting {
    size_t ring;
    struct reader_event event;
};
enum { MADE_WAITING = 256 };

/* The program's part of the file, read once, as the program may end. */
struct made_program {
    struct registry is;
    unsigned char registry[1024];
    unsigned char lives[RECORDER_LIVES_ * 32]; /* of its libraries */
    char *line, *name;
    struct pieces pages; /* of modules, with their build-ids */
};

struct made {
    struct call *call;      /* its reader tells registry and threads */
    const struct memory *m; /* word size and byte order */
    int fd;
    uint64_t base;
    struct made_ring *rings;
    size_t rings_count, rings_max;
    uint64_t registry_at, order_at, threads_at, threads_max;
    size_t threads_count; /* of the reader, when they were written last */
    uint64_t texts_at, texts_used, texts_written, texts_max;
    struct buffer texts; /* after texts_written */
    struct ids format_ids, text_ids;
    struct made_format {
        uint64_t at;
        unsigned words; /* that it takes */
    } * formats;
    uint64_t *text_at;
    size_t formats_max, text_at_max;
    uint64_t events;
    struct made_waiting *waiting; /* a circle */
    size_t waiting_next;
    struct made_program *program;
    struct requests *requests; /* of its events; null: not known yet */
};

/* Adds the ring of a recorder for `slots` records, rounded up; valid until the
 * next is added. */
struct made_ring *made_ring(struct made *, struct reader_recorder *,
                            uint64_t slots);
/* Writes all but events into an empty file. `texts_max`: bytes for formats and
 * texts, at most. Null, or what is wrong. */
const char *made_begin(struct made *, struct call *, int fd,
                       uint64_t texts_max);
/* How many slots an event takes, or its continuation. */
uint64_t made_slots(const struct recorder_event *);
/* Adds an event, or its continuation, to its recorder's ring. False: the
 * ring or the texts are full, and nothing was added. */
bool made_add(struct made *, struct reader *, const struct reader_event *);
/* Events come from another reader: its addresses are of other formats. */
void made_source(struct made *);
/* Writes all additions; false, and errno: it cannot be written. */
bool made_flush(struct made *);
/* Writes threads and clock as they are now, and ends the file. */
bool made_end(struct made *);
/* Frees all but waiting events and facts about the program, which may continue
 * in the next file. */
void made_free(struct made *);
/* Frees the rest. */
void made_close(struct made *);
/* Finds addresses apart from the program's files, its registry and `pieces` (or
 * null); 0: none. */
uint64_t made_base(const struct call *, const struct pieces *, uint64_t size);
/* The rows of `count` threads, as in a program; the caller frees them. */
unsigned char *made_threads(const struct reader *, uint64_t count);
/* Where the file keeps the size of its segment. */
uint64_t made_segment_size_at(const struct memory *);
/* The size of a file with this number of slots. */
uint64_t made_ring_bytes(const struct memory *, uint64_t slots);
