/* pending_switches.c - adds switches to a recording of all of a program's memory. */
/* SPDX-License-Identifier: MIT */
/*
    The program did not record them, so no memory of it has them. They get a
    ring at addresses that it does not use, and a recorder after its own:

        registry ─► ... ─► switches ─► another of that name ─► ...
                           unchanged   new, from the kernel's rings

    Their sequence numbers follow the program's. Threads that have no row in the
    program are in a copy of its table.
*/
#include "inside.h"
#include "made.h"
#include "recording.h"

struct pending {
    struct reader *reader;
    struct memory *kept;
    void (*put)(struct memory *, uint64_t, const unsigned char *, size_t);
    const struct reader_recorder *recorder; /* the program's */
    uint64_t count, slots;
};

static void word_put(const struct pending *u, uint64_t at, uint64_t value)
{
    unsigned char bytes[8];
    bytes_put_word(u->kept, bytes, value);
    u->put(u->kept, at, bytes, u->kept->word_bytes);
}

/* Counts the switches of the take, and finds their recorder. */
static void switches_count(struct pending *u)
{
    const struct reader_inside *inside = u->reader->inside;
    for (size_t i = 0; i < inside->keys_count; i++) {
        if (!inside->keys[i].number)
            continue;
        u->count++;
        u->recorder = inside->lanes[inside->keys[i].lane].recorder;
    }
    for (u->slots = 4; u->slots < u->count;)
        u->slots *= 2;
}

/* Copies them into a ring that they fill once. */
static void ring_fill(const struct pending *u, unsigned char *ring)
{
    const struct reader *reader = u->reader;
    const struct reader_inside *inside = reader->inside;
    const struct memory *m = u->kept;
    const size_t bytes = offsets_of(m)->record_size;
    unsigned char *records = ring + ring_records_at(reader);
    unsigned char *commits = ring + ring_commits_at(reader, u->slots);
    unsigned char raw[RECORD_MAX_BYTES];
    size_t slot = 0;
    bytes_put_word(m, ring, u->count);
    for (size_t i = 0; i < inside->keys_count; i++) {
        uint64_t commit;
        if (!inside->keys[i].number)
            continue;
        commit = key_record(reader, &inside->keys[i], raw);
        memcpy(records + slot * bytes, raw, bytes);
        bytes_put_word(m, commits + slot * m->word_bytes,
                       u->slots << thread_bits(m) |
                           (uint64_t)commit_thread(m, commit) << 1);
        slot++;
    }
}

/* Puts the new recorder into the program's list, after the program's own. */
static void recorder_link(const struct pending *u, unsigned char *to,
                          uint64_t at, uint64_t ring, uint64_t description)
{
    const struct memory *m = u->kept;
    const struct offsets *o = offsets_of(m);
    uint64_t link = u->recorder->address + o->recorder_next, next = 0;
    bytes_read_word(u->kept, link, &next);
    bytes_put_word(m, to + o->recorder_trace, (uint64_t)u->recorder->trace);
    bytes_put_word(m, to + o->recorder_rings, ring);
    bytes_put_word(m, to + o->recorder_mask, u->slots - 1);
    bytes_put_word(m, to + o->recorder_ring_bytes,
                   ring_end_at(u->reader, u->slots));
    bytes_put_word(m, to + o->recorder_name, u->recorder->name_address);
    bytes_put_word(m, to + o->recorder_description, description);
    bytes_put_word(m, to + o->recorder_next, next);
    word_put(u, link, at);
}

void pending_switches_add(struct call *call,
                          void (*put)(struct memory *, uint64_t address,
                                      const unsigned char *from, size_t size),
                          struct memory *kept, struct pieces *pieces)
{
    static const char description[] =
        "Switches in the kernel's rings that the program had not recorded yet";
    enum { RECORDER_ROOM = 64, HEAD = 256 };
    struct pending u = {.reader = &call->reader, .kept = kept, .put = put};
    const struct offsets *at = offsets_of(kept);
    uint64_t rows = 0, ring_bytes, size, base;
    unsigned char *all;
    _Static_assert(sizeof description <= HEAD - RECORDER_ROOM, "no room");
    switches_count(&u);
    if (!u.count)
        return;
    if (reader_threads_end(u.reader) > u.reader->threads_count)
        rows = reader_threads_end(u.reader);
    ring_bytes = (ring_end_at(u.reader, u.slots) + 63) / 64 * 64;
    size = HEAD + ring_bytes + rows * at->row_size;
    base = made_base(call, pieces, size);
    if (!base || !(u.slots << thread_bits(kept) & word_max(kept))) {
        warn(call,
             "%llu switches that the program did not record yet are left out: "
             "they are too many for the addresses of its program",
             (unsigned long long)u.count);
        return;
    }
    all = need(calloc(1, size));
    memcpy(all + RECORDER_ROOM, description, sizeof description);
    recorder_link(&u, all, base, base + HEAD, base + RECORDER_ROOM);
    ring_fill(&u, all + HEAD);
    word_put(&u, u.reader->order_address, u.reader->end + u.count);
    if (rows) {
        unsigned char *from = made_threads(u.reader, rows);
        uint64_t registry = u.reader->registry;
        memcpy(all + HEAD + ring_bytes, from, rows * at->row_size);
        free(from);
        word_put(&u, registry + at->registry_threads, base + HEAD + ring_bytes);
        word_put(&u, registry + at->registry_threads_max, rows);
        word_put(&u, registry + at->registry_threads_count, rows);
    }
    piece_add(pieces, base, size, all, all);
    pieces_sort(pieces);
}
