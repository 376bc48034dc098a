/* texts.c - what copied texts promise, checked in all executions. */
/* SPDX-License-Identifier: MIT */
/*
 * texts SLOTS WRITERS TEXTS JUMP KEPT [random COUNT]
 *
 *     SLOTS    of the ring
 *     WRITERS  threads that record
 *     TEXTS    a digit for each record that a thread makes: the slots of the text
 *              before it, whose token is its argument, 0 for no text. A ring
 *              keeps at most half its size of a text
 *     JUMP     orders that others draw before each text. A token has the lowest
 *              6 bits of an order: with about 64, those of two texts are equal
 *     KEPT     1: the reader copies all slots, then assembles texts, as a dump
 *              does; 0: it assembles a text as soon as it has copied its record
 *
 * The writer is recorder_copy_bytes_() and recorder_record_few_(), the reader
 * recorder_text_of_(). Of each record 4 words are modelled: its format, its order,
 * its caller, which is a piece's next token, and its first argument. The others
 * are not stored, and read as 0.
 */
#include "weak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *sizes_of_texts;
static unsigned sizes[5];
#define SLOTS sizes[0]
#define WRITERS sizes[1]
#define JUMP sizes[3]
#define KEPT sizes[4]

/* What is not of the ring is the program's own: it is read as it is. */
static bool counts(const volatile void *p);
static bool is_shared(const volatile void *p);
static uintptr_t draws(const volatile void *p, uintptr_t value);
#undef __atomic_load_n
#undef __atomic_store_n
#undef __atomic_fetch_add
#define __atomic_load_n(p, order)                                              \
    (!is_shared(p) ? *(p) : counts(p) ? WEAK_LOAD_(p, order) : 0)
#define __atomic_store_n(p, value, order)                                      \
    (counts(p) ? (void)WEAK_STORE_(p, value, order) : (void)0)
#define __atomic_fetch_add(p, value, order) draws(p, WEAK_ADD_(p, value, order))
#define RECORDER_TICKETS 1
#define RECORDER_TIME() ((uintptr_t)0)
static __thread unsigned number;
#define RECORDER_THREAD() number
#define RECORDER_READABLE(address) ((size_t)0) /* no text is read by address */
#include "recorder.h"

#include "recorder/scratch.h"
static struct recorder ours;
#define recorder_readers_enter_() (&ours)
#define recorder_readers_leave_() ((void)0)
#define recorder_is_sound_(r) true
#include "recorder/strings.h"

enum { MAX = 4, WORDS = sizeof(struct recorder_record) / sizeof(uintptr_t) };
static struct {
    struct recorder_ring ring;
    uintptr_t slots[MAX * (WORDS + 3)];
} all __attribute__((aligned(64)));

static bool is_shared(const volatile void *p)
{
    return (uintptr_t)p - (uintptr_t)&all < sizeof all ||
           p == recorder_home_.order;
}
static bool counts(const volatile void *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)all.slots;
    uintptr_t word = at / sizeof(uintptr_t) % WORDS;
    return at >= SLOTS * sizeof(struct recorder_record) || word < 2 ||
           word == 3 || word == 4;
}

/* A record is told by its format; the first word of piece i of its text is that
 * and i. */
static uintptr_t format_of(unsigned thread, unsigned record)
{
    return RECORDER_TEXT_END_ + 1 + 0x100 * thread + 0x10 * record;
}
static unsigned pieces_of(unsigned record)
{
    return (unsigned)(sizes_of_texts[record] - '0');
}
static unsigned pieces_needed(uintptr_t format)
{
    return pieces_of((unsigned)(format - RECORDER_TEXT_END_) / 0x10 % 0x10);
}
/* What a writer knows when it has drawn an order or a position: how many records
 * it has made and draws there were for this one, the text's token, and the last
 * order. */
static __thread unsigned record, drawn;
static __thread uintptr_t token, order;
static uintptr_t draws(const volatile void *p, uintptr_t value)
{
    if (!number || (p != recorder_home_.order && p != &all.ring.write))
        return value;
    drawn++;
    weak_past(token, ((uintptr_t)record << 8 | drawn) << 32 |
                         (p == recorder_home_.order ? 0 : order << 16) | value);
    if (p == recorder_home_.order)
        order = value;
    return value;
}
static void *writer(void *thread)
{
    uintptr_t text[MAX * 4] = {0};
    unsigned i;
    number = (unsigned)(uintptr_t)thread;
    for (record = 0; sizes_of_texts[record]; record++) {
        uintptr_t format = format_of(number, record);
        token = drawn = 0;
        if (JUMP && pieces_of(record))
            recorder_orders_(JUMP);
        for (i = 0; i < pieces_of(record); i++)
            text[4 * i] = format + i;
        if (pieces_of(record))
            token = (uintptr_t)recorder_copy_bytes_(
                &ours, (const char *)text,
                pieces_of(record) * RECORDER_TEXT_BYTES_);
        recorder_record_few_(&ours, (const char *)format, token, 0, 0, 0);
    }
    return NULL;
}

/* A batch of all slots that were whole, sorted by order; or of a single slot. */
static __thread struct recorder_kept_ kept[MAX];
static __thread struct recorder_key_ keys[MAX];
static __thread struct recorder_scratch_ scratch;
static __thread char shown[MAX * 4 * sizeof(uintptr_t) + 8];

/* Orders from `end` on are too young. */
static void take(unsigned slot, uintptr_t end)
{
    struct recorder_batch_ *batch = &scratch.batch;
    struct recorder_kept_ *to = &kept[batch->count];
    uintptr_t commit =
        recorder_look_(&all.ring, SLOTS - 1, slot, &to->record);
    if (!commit || to->record.order >= end)
        return;
    to->recorder = &ours;
    to->ring = &all.ring;
    to->slot = slot;
    to->thread = recorder_commit_thread_(commit);
    keys[batch->count].index = batch->count;
    keys[batch->count++].order = to->record.order;
}

/* Assembles the texts of the batch. Returns how many are whole. */
static unsigned assemble(void)
{
    unsigned whole = 0, i, piece;
    recorder_sort_keys_(keys, scratch.batch.count);
    for (i = 0; i < scratch.batch.count; i++) {
        const struct recorder_kept_ *head =
            recorder_batch_at_(&scratch.batch, i);
        struct recorder_event event = {0};
        const char *end;
        unsigned needs = pieces_needed(head->record.format);
        if (!recorder_is_head_(head->record.format) || !needs)
            continue;
        event.order = head->record.order;
        event.thread = head->thread;
        scratch.at = i;
        recorder_text_of_(&scratch, &event, head->record.argument[0]);
        end = shown + scratch.text_sizes.kept;
        for (piece = 0; shown + piece * RECORDER_TEXT_BYTES_ < end; piece++) {
            uintptr_t is;
            memcpy(&is, shown + piece * RECORDER_TEXT_BYTES_, sizeof is);
            weak_check(is == head->record.format + piece,
                       "a text is its own record's");
        }
        if (piece == needs)
            whole++;
        weak_check(piece == needs ? *end == '\0'
                                   : strcmp(end, "<lost>") == 0,
                   "a text that is cut off says so");
    }
    scratch.batch.count = 0;
    return whole;
}

static unsigned look(bool reads)
{
    unsigned slot, whole = 0;
    uintptr_t end = recorder_order_end_();
    scratch.batch.kept = kept;
    scratch.batch.keys = keys;
    scratch.recorders = 1;
    scratch.text = shown;
    scratch.text_max = sizeof shown;
    scratch.batch.count = 0;
    for (slot = 0; slot < SLOTS; slot++) {
        take(slot, end);
        if (!KEPT) {
            whole += assemble();
            if (reads)
                weak_past(end << 8 | slot, whole);
        }
    }
    return whole + assemble();
}
static void *reader(void *unused)
{
    (void)unused;
    number = 0;
    return (void *)(uintptr_t)look(true);
}

/* At rest a text whose pieces are all there is whole, and an order is there
 * once. Returns how many are whole. */
static unsigned check_at_rest(void)
{
    struct recorder_record r[MAX];
    unsigned whole = 0, i, j, piece, found, needed;
    for (i = 0; i < SLOTS; i++)
        if (!recorder_look_(&all.ring, SLOTS - 1, i, &r[i]))
            r[i].format = r[i].order = r[i].argument[0] = 0;
    for (i = 0; i < SLOTS; i++) {
        for (j = 0; j < i; j++)
            weak_check(!r[i].format || r[i].order != r[j].order,
                       "an order is given once");
        if (!recorder_is_head_(r[i].format) || !pieces_needed(r[i].format))
            continue;
        for (found = piece = 0; piece < pieces_needed(r[i].format); piece++)
            for (j = 0; j < SLOTS; j++)
                found += recorder_is_text_(r[j].format) &&
                         r[j].argument[0] == r[i].format + piece;
        whole += found == piece;
    }
    for (needed = piece = 0; sizes_of_texts[piece]; piece++)
        needed += pieces_of(piece) + 1;
    weak_check(recorder_get_(&all.ring.write) == WRITERS * needed,
               "each slot has a position of its own");
    found = look(false);
    weak_check(found == whole, "a text that is there is shown");
    return whole;
}

static int texts(void)
{
    weak_thread thread[MAX + 1];
    void *seen;
    unsigned i;
    ours.rings = &all.ring;
    ours.mask = SLOTS - 1;
    ours.ring_bytes = sizeof all.ring + SLOTS * (WORDS + 3) * sizeof(uintptr_t);
    for (i = 0; i < WRITERS; i++)
        weak_begin(&thread[i], writer, (void *)(uintptr_t)(i + 1));
    weak_begin(&thread[i], reader, NULL);
    for (i = 0; i <= WRITERS; i++)
        weak_join(thread[i], &seen);
    number = 0;
    return (int)(8 * check_at_rest() + (uintptr_t)seen);
}

int main(int count, char **arguments)
{
    const char *seed = getenv("SEED");
    int flags = WEAK_REDUCED | WEAK_SYMMETRIC, i;
    struct weak_result r;
    if (getenv("TRACE"))
        flags |= WEAK_TRACE;
    for (i = 0; i < 5 && i + 1 < count; i++)
        sizes[i] = (unsigned)atoi(arguments[i + 1]);
    if ((count != 6 && count != 8) || !SLOTS || SLOTS > MAX || WRITERS > MAX ||
        strspn(arguments[3], "0123") != strlen(arguments[3])) {
        fprintf(stderr, "usage: texts slots writers texts jump kept "
                        "[random count]\n");
        return 2;
    }
    sizes_of_texts = arguments[3];
    r = count == 6 ? weak_explore(texts, flags)
                   : weak_random(texts, flags, strtoul(arguments[7], NULL, 0),
                                 seed ? strtoull(seed, NULL, 0) : 1);
    printf(r.executions < 1e7 ? "%.0f" : "%.1e", r.executions);
    printf(" executions through %lu states: %s\n", r.states,
           r.failure ? r.failure : "ok");
    return r.failure != NULL;
}
