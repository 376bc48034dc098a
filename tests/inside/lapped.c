/* Rings that change while they are read show whole records, or nothing. */
/* SPDX-License-Identifier: MIT */
/*
 * The reader of tools/, on a memory that records for so many bytes that it
 * copies: so fast the writer is to the reader, on any machine.
 */
#include <criterion/criterion.h>

#include "recorder_set.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "reader/arguments.c"
#include "reader/calls.c"
#include "reader/events.c"
#include "reader/contexts.c"
#include "reader/filters.c"
#include "reader/coded.c"
#include "reader/codes.c"
#include "reader/count.c"
#include "reader/ids.c"
#include "reader/kernel.c"
#include "reader/lists.c"
#include "reader/lives.c"
#include "reader/message.c"
#include "reader/offer.c"
#include "reader/offsets.c"
#include "reader/registry.c"
#include "reader/rings.c"
#include "reader/take.c"
#pragma GCC diagnostic pop

void *need(void *memory)
{
    cr_assert(memory);
    return memory;
}

enum { SIZE = 16384, SLOT = 72 }; /* bytes: a record and its commit word */
enum { SMALL = 1024 };

RECORDER(net, SIZE);
RECORDER(small, SMALL);
RECORDER_TWEAK_DEFINE(depth, 3, "Of what");
#define QUIET(n) RECORDER(quiet_##n, 16);
QUIET(1) QUIET(2) QUIET(3) QUIET(4) QUIET(5) QUIET(6) QUIET(7) QUIET(8)
QUIET(9) QUIET(10) QUIET(11) QUIET(12) QUIET(13) QUIET(14) QUIET(15) QUIET(16)

static bool into_small, small_gone;
static bool closes;     /* the library of small and depth, when it is read */
static unsigned unread; /* or it is closed just then, and opened, so often */
static uintptr_t count;
static size_t bytes_per_record, bytes; /* 0: nobody records */
static size_t bytes_per_call;          /* what a call takes besides */

static void one(void)
{
    unsigned long n = ++count;
    if (into_small)
        record(small, "%lu %lu %lu", n, n * 3, n ^ 0x5a);
    else
        record(net, "%lu %lu %lu", n, n * 3, n ^ 0x5a);
}

/* Of a text of that library: is it gone? */
static bool text_gone(uint64_t address)
{
    if (address != (uintptr_t)recorder_for_small.name &&
        address != (uintptr_t)recorder_for_depth.description)
        return false;
    if (closes) {
        struct recorder **link = &recorder_registry.first;
        while (*link && *link != &recorder_for_small)
            link = &(*link)->next;
        if (*link)
            *link = recorder_for_small.next;
        recorder_registry.tweaks = NULL; /* it is the only one */
    }
    return closes || (unread && unread--);
}

/* Copies byte by byte, whatever is there, as a system copies while others go
 * on: the writer is due after each word. */
__attribute__((no_sanitize("address"))) static size_t
copies(struct memory *memory, uint64_t address, void *to, size_t size)
{
    uintptr_t rings = (uintptr_t)(into_small ? recorder_for_small.rings
                                             : recorder_for_net.rings);
    bool in_ring = address - rings < (into_small ? SMALL : SIZE) * 88;
    const volatile char *from = (const volatile char *)(uintptr_t)address;
    (void)memory;
    if (small_gone && address - (uintptr_t)&recorder_for_small <
                          sizeof recorder_for_small)
        return 0;
    if (text_gone(address))
        return 0;
    bytes += bytes_per_call;
    for (size_t at = 0; at < size; at++) {
        ((char *)to)[at] = from[at];
        bytes += in_ring;
        for (; at % 8 == 7 && bytes_per_record && bytes >= bytes_per_record;
             bytes -= bytes_per_record)
            one();
    }
    return size;
}

static bool small_stays(struct memory *memory, uint64_t address, size_t size)
{
    (void)memory;
    return address - (uintptr_t)recorder_for_small.rings < SMALL * 72 + size;
}

static struct memory memory_here(void)
{
    struct memory memory = {.read = copies,
                            .size = (uint64_t)1 << 40,
                            .word_bytes = sizeof(void *),
                            .live = true};
    memory.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return memory;
}

/* Checks that the figures of a take make up the records before its end: orders
 * and the first arguments of records count alike. */
static void check_figures(struct reader *reader, uint64_t before_end,
                          uint64_t is)
{
    uint64_t all = 0, missed = 0, size = into_small ? SMALL : SIZE;
    uint64_t held = before_end < size ? before_end : size;
    reader_count(reader);
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct recorder_figures_ *f = &reader->recorders[i]->figures;
        all += f->slots_kept + f->slots_overwritten + f->missed + f->lost;
        missed += f->missed;
        cr_expect_leq(f->slots_kept + f->missed, f->size);
    }
    cr_expect(all >= before_end && all <= count, "%lu of %lu to %lu",
              (unsigned long)all, (unsigned long)before_end,
              (unsigned long)count);
    cr_expect_eq(missed > 0, is < held);
}

/* How many records a dump shows, all of them whole and in order. */
static uint64_t shown(size_t per_record)
{
    struct memory memory = memory_here();
    struct reader reader;
    struct reader_event event;
    uint64_t events = 0, before = 0, first = 0;
    bytes_per_record = per_record;
    cr_assert_null(reader_open(&reader, &memory,
                               (uintptr_t)&recorder_registry));
    cr_assert_null(reader_take(&reader));
    bytes_per_record = 0;
    for (; reader_next(&reader, &event); events++) {
        const uint64_t *a = event.event.argument;
        cr_assert(a[1] == a[0] * 3 && a[2] == (a[0] ^ 0x5a));
        cr_assert(event.event.order > before && event.event.order < reader.end);
        before = event.event.order;
        first = event.event.order - a[0];
    }
    if (events)
        check_figures(&reader, reader.end - first - 1, events);
    reader_close(&reader);
    return events;
}

/* Goal: of a ring that is lapped while it is read, nearly all is shown where
 * the reader is faster, and about what it can copy before they meet where it is
 * slower; never half a record. Method: writers of known speed, from an index
 * that is anywhere in the ring. */
Test(lapped, much_is_shown)
{
    static const struct {
        size_t per_record;
        double at_least;
    } writers[] = {{0, 1}, {4 * SLOT, 0.9}, {2 * SLOT, 0.8}, {SLOT / 2, 0.1}};
    for (int start = 0; start < 8; start++)
        for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
            uint64_t is;
            for (int n = 0; n < SIZE + start * SIZE / 8; n++)
                one();
            is = shown(writers[i].per_record);
            cr_expect((double)is >= writers[i].at_least * SIZE &&
                          is <= SIZE,
                      "%zu bytes a record, start %d: %lu", writers[i].per_record,
                      start, (unsigned long)is);
        }
}

/* Goal: much of a ring is shown that comes round while others, in which nothing
 * happens, are looked at. Method: calls that take the time of 20 records. */
Test(lapped, much_is_shown_beside_others)
{
    uint64_t is;
    into_small = true;
    for (int n = 0; n < 2 * SMALL; n++)
        one();
    bytes_per_call = 20 * 2 * SLOT;
    is = shown(2 * SLOT);
    cr_expect(is >= SMALL * 2 / 5 && is <= SMALL, "%lu", (unsigned long)is);
}

/* Goal: of a library that was closed since the list of recorders was read, what
 * is in the place of its rings is not taken for records, unless they are in
 * a file. Method: there are new records, which look whole, but their recorder
 * is no longer there. */
static void gone(bool stays)
{
    struct memory memory = memory_here();
    struct reader reader;
    struct reader_event event;
    unsigned of_net = 0, of_small = 0;
    if (stays)
        memory.stays = small_stays;
    cr_assert_null(reader_open(&reader, &memory,
                               (uintptr_t)&recorder_registry));
    reader.follows = true;
    into_small = true;
    one();
    cr_assert_null(reader_take(&reader));
    while (reader_next(&reader, &event))
        ;
    small_gone = true;
    for (int take = 0; take < 4; take++) {
        for (int n = 0; n < 2; n++, into_small = !into_small)
            one();
        reader_take(&reader);
        while (reader_next(&reader, &event))
            ++*(strcmp(event.event.name, "net") == 0 ? &of_net : &of_small);
    }
    reader_count(&reader);
    for (size_t i = 0; i < reader.recorders_count; i++)
        if (strcmp(reader.recorders[i]->name, "small") == 0)
            cr_expect_eq(reader.recorders[i]->recorded, stays ? 5 : 1);
    cr_expect_geq(of_net, 2);
    cr_expect(stays ? of_small >= 2 : of_small == 0, "%u", of_small);
    reader_close(&reader);
}
Test(lapped, nothing_is_shown_of_what_is_gone) { gone(false); }
Test(lapped, what_is_in_a_file_is_never_gone) { gone(true); }

/* Goal: a library that is closed while its texts are read is not in the lists;
 * one that is opened anew by then has its texts. */
static void lists(bool open)
{
    struct memory memory = memory_here();
    struct reader reader;
    unsigned of_small = 0, unnamed = 0;
    cr_assert_null(reader_open(&reader, &memory,
                               (uintptr_t)&recorder_registry));
    for (size_t i = 0; i < reader.recorders_count; i++) {
        of_small += strcmp(reader.recorders[i]->name, "small") == 0;
        unnamed += strcmp(reader.recorders[i]->name, "?") == 0;
    }
    cr_expect(of_small == open && unnamed == 0, "%u %u", of_small, unnamed);
    cr_assert_eq(reader.tweaks_count, open);
    cr_expect(!open || strcmp(reader.tweaks[0].description, "Of what") == 0);
    reader_close(&reader);
}
Test(lapped, a_library_is_closed_while_it_is_read)
{
    closes = true;
    lists(false);
}
Test(lapped, a_library_is_opened_anew_while_it_is_read)
{
    unread = 3;
    lists(true);
    unread = 12;
    lists(true);
}

/* Goal: a record's thread has its row, though the row was empty, or not there,
 * when the reader first looked. Method: rows are filled after that look. */
Test(lapped, rows_are_as_new_as_records)
{
    struct memory memory = memory_here();
    struct reader reader;
    unsigned empty, late;
    one();
    empty = recorder_row_claim_(&recorder_registry);
    cr_assert_null(
        reader_open(&reader, &memory, (uintptr_t)&recorder_registry));
    recorder_row_fill_(&recorder_registry, empty, 4711, "empty", 0,
                       RECORDER_ROW_ALIVE_);
    late = recorder_thread_take_row_of_(4712, "late", RECORDER_ROW_ALIVE_);
    cr_assert_null(reader_take(&reader));
    cr_assert_eq(reader.threads_count, late);
    cr_expect_eq(reader.threads[empty - 1].id, 4711);
    cr_expect_eq(reader.threads[late - 1].id, 4712);
    reader_close(&reader);
}
