/* recorder_stream.h - sends a port's records to a host while they are made. */
/* SPDX-License-Identifier: MIT */
/*
 * Include it in one C file, after the port's macros; stream.md has the rest.
 *
 *     static struct recorder_stream stream;        // zeros
 *     for (;;) {                                   // of main, or of idle
 *         while (recorder_stream_send(&stream, recorder_stream_rtt))
 *             ;
 *         wait_for_interrupt();
 *     }
 *
 * The host keeps a copy of the recorders' memory, and reads that copy as it
 * reads a process. A frame is a list of pieces, and each piece the address and
 * the bytes of a change: a record with its commit word, a write index, the
 * order counter, a part of the registry. So the port formats nothing, and a
 * frame that is lost or damaged leaves the copy older, never wrong.
 *
 *     sequence 16 | piece... | CRC-32      in COBS, then a byte 0
 *     piece: address word | size 8 | bytes       size 0: a range of 32 bits
 *
 * A range is the memory that later pieces change; it begins as zeros. All
 * numbers are in the byte order of the port. Bit 15 of a sequence number is set
 * in the first RECORDER_STREAM_EARLY_ frames after a start, and tells the host
 * that the port was reset.
 */
#ifndef RECORDER_STREAM_H
#define RECORDER_STREAM_H

#include "recorder.h"

#if !defined(RECORDER_TIME) || !defined(RECORDER_TIME_HZ)
#error "recorder_stream.h: is for ports, which have RECORDER_TIME"
#endif
/* The most rings: recorders, or their lanes. Further ones are not sent. A frame
 * has room for 12 write indices of 64 bits. */
#ifndef RECORDER_STREAM_RINGS
#define RECORDER_STREAM_RINGS 12
#endif

/* Sends a frame to the host. False: there is no room for all of it now. */
typedef bool recorder_stream_put(const void *frame, size_t size);

struct recorder_stream {
    uintptr_t sent[RECORDER_STREAM_RINGS]; /* positions of each ring */
    uintptr_t until;              /* the position at which this round ends */
    uintptr_t now, before, shown; /* orders: at the start of this round, of the
                                   * one before, and as the host has it */
    uint32_t time;                /* of the last part of the registry */
    uint32_t sequence;
    uint16_t ring, part; /* the next ones */
    uint16_t patience;   /* rounds that waited for a record */
    bool begun;          /* some records of `ring` were sent in this round */
    bool waits;          /* this round waits for a record */
    bool whole;          /* all parts of the registry were sent once */
};

/* ---------------------------------------------------------------- frames -- */

enum {
    RECORDER_STREAM_MAX_ = 252, /* bytes of a frame before COBS */
    /* With less room, no record is begun, whose 4 pieces have 12 words. */
    RECORDER_STREAM_ROOM_ =
        RECORDER_STREAM_MAX_ - 4 - 4 - 16 * (int)sizeof(uintptr_t),
    RECORDER_STREAM_CHUNK_ = 64, /* bytes of the registry in a frame */
    RECORDER_STREAM_EARLY_ = 256,
    RECORDER_STREAM_PATIENCE_ = 64
};
RECORDER_ASSERT_(7 + (RECORDER_STREAM_RINGS + 1) *
                             (2 * sizeof(uintptr_t) + 1) <=
                     RECORDER_STREAM_MAX_,
                 "RECORDER_STREAM_RINGS: a frame has no room for them");
struct recorder_frame_ {
    size_t size; /* of `bytes` that are used; the first is for COBS */
    unsigned char bytes[RECORDER_STREAM_MAX_ + 2];
};

RECORDER_INLINE_ void recorder_frame_add_(struct recorder_frame_ *frame,
                                          const void *bytes, size_t size)
{
    const volatile unsigned char *from = (const unsigned char *)bytes;
    while (size--)
        frame->bytes[frame->size++] = *from++;
}
RECORDER_INLINE_ void recorder_frame_piece_(struct recorder_frame_ *frame,
                                            const void *address,
                                            const void *bytes, size_t size)
{
    unsigned char length = (unsigned char)size;
    recorder_frame_add_(frame, &address, sizeof address);
    recorder_frame_add_(frame, &length, 1);
    recorder_frame_add_(frame, bytes, size);
}
RECORDER_INLINE_ void recorder_frame_range_(struct recorder_frame_ *frame,
                                            const void *address, size_t size)
{
    uint32_t bytes = (uint32_t)size;
    recorder_frame_piece_(frame, address, NULL, 0);
    recorder_frame_add_(frame, &bytes, sizeof bytes);
}

/* The CRC-32 of Ethernet and zip. */
RECORDER_INLINE_ uint32_t recorder_frame_check_(const unsigned char *bytes,
                                                size_t size)
{
    uint32_t check = UINT32_MAX;
    unsigned bit;
    while (size--)
        for (check ^= *bytes++, bit = 0; bit < 8; bit++)
            check = (check >> 1) ^ (0xedb88320u & (0u - (check & 1)));
    return ~check;
}

/* Adds the check, and encodes by COBS: in place of each 0, and in front, the
 * distance to the next 0. */
RECORDER_INLINE_ void recorder_frame_end_(struct recorder_frame_ *frame)
{
    uint32_t check = recorder_frame_check_(frame->bytes + 1, frame->size - 1);
    size_t zero, at;
    recorder_frame_add_(frame, &check, sizeof check);
    for (zero = frame->size, at = frame->size; at-- > 0;)
        if (at == 0 || frame->bytes[at] == 0) {
            frame->bytes[at] = (unsigned char)(zero - at);
            zero = at;
        }
    frame->bytes[frame->size++] = 0;
}

/* ---------------------------------------------------------------- pieces -- */

/* Returns ring number n and its recorder; null: there are fewer. */
RECORDER_INLINE_ struct recorder_ring *
recorder_stream_ring_(unsigned n, struct recorder **recorder)
{
    struct recorder *r = recorder_home_.registry->first;
    for (; r; n -= (unsigned)r->lanes_mask + 1, r = r->next)
        if (n <= r->lanes_mask) {
            *recorder = r;
            return (struct recorder_ring *)((uintptr_t)r->rings +
                                            n * r->ring_bytes);
        }
    return NULL;
}

/* Adds the figures of a ring: the host sees a ring as far as it was sent. */
RECORDER_INLINE_ void
recorder_stream_head_(const struct recorder_stream *stream, unsigned n,
                      const struct recorder_ring *ring,
                      struct recorder_frame_ *frame)
{
    uintptr_t figures[2] = {ring->given_up, ring->lost};
    recorder_frame_piece_(frame, &ring->write, &stream->sent[n],
                          sizeof ring->write);
    if (figures[0] | figures[1])
        recorder_frame_piece_(frame, &ring->given_up, figures, sizeof figures);
}

/* Adds chunk n of a table, and its range. False: it has fewer; *n counts on. */
RECORDER_INLINE_ bool recorder_stream_chunk_(struct recorder_frame_ *frame,
                                             const void *table, size_t size,
                                             unsigned *n)
{
    size_t at = *n * (size_t)RECORDER_STREAM_CHUNK_;
    if (at >= size) {
        *n -= (unsigned)((size + RECORDER_STREAM_CHUNK_ - 1) /
                         RECORDER_STREAM_CHUNK_);
        return false;
    }
    recorder_frame_range_(frame, table, size);
    recorder_frame_piece_(
        frame, (const char *)table + at, (const char *)table + at,
        size - at < RECORDER_STREAM_CHUNK_ ? size - at
                                           : RECORDER_STREAM_CHUNK_);
    return true;
}

/* By the linker, for the host to compare with its ELF file: see stream.md. */
extern const char recorder_build_id[] __attribute__((weak));
extern const char recorder_build_id_end[] __attribute__((weak));

/* Adds part n of all that a host must know before it can read records; it begins
 * with a range. False: there are fewer. */
RECORDER_INLINE_ bool
recorder_stream_part_(const struct recorder_stream *stream, unsigned n,
                      struct recorder_frame_ *frame)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    const struct recorder_ring *ring;
    struct recorder *recorder;
    size_t size;
    if (recorder_stream_chunk_(frame, registry, sizeof *registry, &n) ||
        recorder_stream_chunk_(
            frame, registry->threads,
            registry->threads_max * sizeof *registry->threads, &n))
        return true;
    if (n == 0) {
        recorder_frame_range_(frame, recorder_home_.order, sizeof(uintptr_t));
        recorder_frame_piece_(frame, recorder_home_.order, &stream->shown,
                              sizeof stream->shown);
        size = (size_t)((uintptr_t)recorder_build_id_end -
                        (uintptr_t)recorder_build_id);
        if (size && size <= 64)
            recorder_frame_piece_(frame, recorder_build_id, recorder_build_id,
                                  size);
        return true;
    }
    ring = recorder_stream_ring_(--n, &recorder);
    if (!ring)
        return false;
    size = recorder_copy_size_(recorder->name, 31);
    recorder_frame_range_(frame, recorder, sizeof *recorder);
    recorder_frame_piece_(frame, recorder, recorder, sizeof *recorder);
    recorder_frame_piece_(frame, recorder->name, recorder->name, size + 1);
    if (n >= RECORDER_STREAM_RINGS)
        return true;
    size = (size_t)((uintptr_t)recorder_turns_(ring, recorder->mask) -
                    (uintptr_t)ring);
    recorder_frame_range_(frame, ring, size);
    recorder_stream_head_(stream, n, ring, frame);
    return true;
}

/* Adds records of a ring up to position `until`. False: some are left, for
 * there is no room. */
RECORDER_INLINE_ bool recorder_stream_records_(struct recorder_stream *stream,
                                               unsigned n,
                                               struct recorder_frame_ *frame)
{
    struct recorder *recorder = NULL;
    const struct recorder_ring *ring = recorder_stream_ring_(n, &recorder);
    uintptr_t mask = recorder->mask, *sent = &stream->sent[n];
    struct recorder_record r;
    while ((intptr_t)(stream->until - *sent) > 0 &&
           frame->size <= RECORDER_STREAM_ROOM_) {
        uintptr_t waiting = recorder_get_(&ring->write) - *sent, slot, commit;
        if (waiting > mask + 1) { /* overwritten before they were sent */
            *sent += waiting - mask - 1;
            continue;
        }
        slot = *sent & mask;
        commit = recorder_look_(ring, mask, slot, &r);
        if (commit && recorder_commit_turn_(commit) ==
                          recorder_commit_lap_(*sent + mask + 1, mask)) {
            recorder_frame_piece_(frame, recorder_records_(ring) + slot, &r,
                                  sizeof r);
            recorder_frame_piece_(frame, recorder_commits_(ring, mask) + slot,
                                  &commit, sizeof commit);
        } else if (stream->patience < RECORDER_STREAM_PATIENCE_) {
            stream->waits = true; /* it is being written, or was given up */
            stream->until = *sent;
            break;
        }
        ++*sent;
    }
    return (intptr_t)(stream->until - *sent) <= 0;
}

/* Adds the half-wrap of the clock in which the records were made. */
RECORDER_INLINE_ void recorder_stream_wrap_(struct recorder_frame_ *frame)
{
    struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t count = registry->wraps_count;
    const struct recorder_wrap *last =
        &registry->wraps[(count - 1) % RECORDER_WRAPS_MAX_];
    if (!count)
        return;
    recorder_frame_piece_(frame, &registry->wraps_count, &count, sizeof count);
    recorder_frame_piece_(frame, last, last, sizeof *last);
}

/* Ends a round, by a separate frame if the order counter changed. The host sees
 * the counter of the round before, as all records that were unfinished then are
 * sent since. With the counter come all write indices, so that the
 * host knows which records it lacks, and takes no old text for a lost one. */
RECORDER_INLINE_ void recorder_stream_round_(struct recorder_stream *stream,
                                             struct recorder_frame_ *frame)
{
    const struct recorder_ring *ring;
    struct recorder *recorder;
    unsigned n;
    stream->ring = 0;
    if (stream->waits) {
        stream->patience++;
        stream->waits = false;
        return;
    }
    stream->patience = 0;
    for (n = 0; stream->shown != stream->before && n < RECORDER_STREAM_RINGS &&
                (ring = recorder_stream_ring_(n, &recorder)) != NULL;
         n++)
        recorder_frame_piece_(frame, &ring->write, &stream->sent[n],
                              sizeof ring->write);
    if (stream->shown != stream->before)
        recorder_frame_piece_(frame, recorder_home_.order, &stream->before,
                              sizeof stream->before);
    stream->shown = stream->before;
    stream->before = stream->now;
}

/* Adds new records, or the end of a round; a round visits all rings. */
RECORDER_INLINE_ void recorder_stream_new_(struct recorder_stream *stream,
                                           struct recorder_frame_ *frame)
{
    size_t empty = frame->size;
    struct recorder *recorder;
    const struct recorder_ring *ring;
    bool whole = true;
    if (stream->ring == 0 && !stream->begun)
        stream->now = RECORDER_LOAD_(recorder_home_.order, __ATOMIC_ACQUIRE);
    while (whole && stream->ring < RECORDER_STREAM_RINGS &&
           (ring = recorder_stream_ring_(stream->ring, &recorder)) != NULL) {
        if (!stream->begun)
            stream->until = RECORDER_LOAD_(&ring->write, __ATOMIC_ACQUIRE);
        whole = recorder_stream_records_(stream, stream->ring, frame);
        stream->begun = !whole;
        stream->ring = (uint16_t)(stream->ring + whole);
    }
    if (frame->size != empty)
        recorder_stream_wrap_(frame);
    else if (whole)
        recorder_stream_round_(stream, frame);
}

/* Sends a frame. Returns false if there is nothing new, or no room now: then
 * call it again later. One context at a time may call it. */
RECORDER_INLINE_ bool recorder_stream_send(struct recorder_stream *stream,
                                           recorder_stream_put *put)
{
    enum { EMPTY = 3 };
    struct recorder_stream next = *stream;
    struct recorder_frame_ frame;
    uint32_t time = (uint32_t)RECORDER_TIME();
    uint16_t sequence = (uint16_t)(next.sequence & 0x7fffu);
    if (next.sequence < RECORDER_STREAM_EARLY_)
        sequence |= 0x8000u;
    frame.size = 1;
    recorder_frame_add_(&frame, &sequence, sizeof sequence);
    if (!next.whole || time - next.time > RECORDER_TIME_HZ / 10) {
        next.time = time;
        if (recorder_stream_part_(&next, next.part, &frame)) {
            next.part++;
        } else {
            next.part = 0;
            next.whole = true;
        }
    }
    if (frame.size == EMPTY)
        recorder_stream_new_(&next, &frame);
    if (frame.size != EMPTY) {
        recorder_frame_end_(&frame);
        if (!put(frame.bytes, frame.size))
            return false;
        next.sequence += next.sequence < 0x10000u ? 1u : 1u - 0x8000u;
    }
    *stream = next;
    return frame.size != EMPTY;
}

/* --------------------------------------------------------------- outputs -- */

/* RTT: a buffer that a debug probe empties while the processor runs. */
#ifdef RECORDER_STREAM_RTT /* its size in bytes, a kilobyte or more */
static char recorder_rtt_bytes_[RECORDER_STREAM_RTT];
struct recorder_rtt_buffer_ {
    const char *name;
    char *bytes;
    uint32_t size;
    uint32_t write, read; /* offsets; the host changes `read` */
    uint32_t flags;       /* 0: a writer without room does not wait */
};
/* The control block, which probes find by its first bytes. */
struct recorder_rtt_ {
    char id[16];
    int32_t up, down;
    struct recorder_rtt_buffer_ buffers[2];
};
struct recorder_rtt_ _SEGGER_RTT __attribute__((aligned(4)));
struct recorder_rtt_ _SEGGER_RTT = {
    "SEGGER RTT",
    1,
    1,
    {{"recorder", recorder_rtt_bytes_, sizeof recorder_rtt_bytes_, 0, 0, 0},
     {NULL, NULL, 0, 0, 0, 0}}};

RECORDER_INLINE_ bool recorder_stream_rtt(const void *frame, size_t size)
{
    struct recorder_rtt_buffer_ *up = &_SEGGER_RTT.buffers[0];
    uint32_t write = up->write, i, read;
    read = __atomic_load_n(&up->read, __ATOMIC_ACQUIRE);
    if ((read + up->size - write - 1) % up->size < size)
        return false;
    for (i = 0; i < size; i++) {
        up->bytes[write] = ((const char *)frame)[i];
        write = write + 1 < up->size ? write + 1 : 0;
    }
    __atomic_store_n(&up->write, write, __ATOMIC_RELEASE);
    return true;
}
#endif

/* ITM: the trace output of Cortex-M3 and later, which a probe receives as SWO.
 * The debugger turns port 1 on. */
#ifdef RECORDER_STREAM_ITM /* its address, 0xe0000000 */
enum { RECORDER_STREAM_ITM_PORT_ = 1 };
RECORDER_INLINE_ bool recorder_stream_itm(const void *frame, size_t size)
{
    volatile uint32_t *itm = (volatile uint32_t *)RECORDER_STREAM_ITM;
    volatile uint32_t *port = itm + RECORDER_STREAM_ITM_PORT_;
    const unsigned char *from = (const unsigned char *)frame;
    unsigned tries;
    if (!(itm[0xe80 / 4] & 1) ||
        !(itm[0xe00 / 4] >> RECORDER_STREAM_ITM_PORT_ & 1))
        return false;
    for (; size; size--) {
        for (tries = 100000; !(*port & 1); tries--)
            if (tries == 0)
                return false;
        *(volatile unsigned char *)port = *from++;
    }
    return true;
}
#endif

#endif
