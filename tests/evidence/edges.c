/* edges.c - inputs that the tests of the ring rarely or never meet. */
/* SPDX-License-Identifier: MIT */
/*
 * For coverage.py, which compiles this file once without and once with
 * RECORDER_CLOCK_ORDER. Exits with 1 if a result is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
static const char *clock_source =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";
#define RECORDER_CLOCK_SOURCE_ clock_source
#include "recorder_dump.h"
#include <string.h>

static int failures;
#define MUST(condition)                                                        \
    ((condition) ? (void)0                                                     \
                 : (void)(failures++, printf("edges.c:%d: %s\n", __LINE__,     \
                                             #condition)))

RECORDER(edge, 4, "Four slots")
RECORDER_LANES(edges, 4, 2, "Two lanes")

static size_t text_size(const char *format, unsigned index, uintptr_t before)
{
    return recorder_size_of_text_(format, index, before, 99);
}

/* The most bytes that a format shows of an argument. */
static void formats(void)
{
    MUST(text_size("%s", 0, 0) == 99);
    MUST(text_size("a%%b %s", 0, 0) == 99);
    MUST(text_size("%m %s", 0, 0) == 99);
    MUST(text_size("%d %s", 1, 0) == 99);
    MUST(text_size("%d %s", 0, 0) == 0);
    MUST(text_size("%s %s", 1, 0) == 99);
    MUST(text_size("%-#08.3s", 0, 0) == 3);
    MUST(text_size("%.s", 0, 0) == 0);
    MUST(text_size("%.7/s", 0, 0) == 0);
    MUST(text_size("%.7:s", 0, 0) == 0);
    MUST(text_size("%.200s", 0, 0) == 99);
    MUST(text_size("%.99999999999999999999999s", 0, 0) == 99);
    MUST(text_size("%.*s", 1, 5) == 5);
    MUST(text_size("%.*s", 1, (uintptr_t)-1) == 99);
    MUST(text_size("%*.*s", 2, 4) == 4);
    MUST(text_size("%*s", 1, 7) == 99);
    MUST(text_size("%ls", 0, 0) == 0);
    MUST(text_size("%ld %hhd %s", 2, 0) == 99);
    MUST(text_size("%1$s", 0, 0) == 0);
    MUST(text_size("no argument", 0, 0) == 0);
    MUST(text_size("%", 0, 0) == 0);
    MUST(text_size("%d %d", 5, 0) == 0);
}

static struct recorder_ring *ring(void)
{
    return (struct recorder_ring *)recorder_for_edge.rings;
}
/* Marks all slots as if a thread were stopped in each, or as before. */
static void park(bool busy)
{
    uintptr_t *commit = recorder_commits_(ring(), 3), i;
    for (i = 0; i < 4; i++)
        commit[i] = busy ? commit[i] | 1 : commit[i] & ~(uintptr_t)1;
}

static void texts(void)
{
    static char long_text[RECORDER_COPY_MAX + 9];
    const char *token;
    uintptr_t lost;
    memset(long_text, 'x', sizeof long_text - 1);
    MUST(!recorder_copy_(&recorder_for_edge, NULL));
    token = recorder_copy_bytes_(&recorder_for_edge, long_text,
                                 sizeof long_text);
    MUST((uintptr_t)token - (uintptr_t)ring() < recorder_for_edge.ring_bytes);
    MUST(!recorder_word_of_text_(&recorder_for_edge, 0, 9,
                                 &recorder_readonly_));
    MUST(recorder_word_of_text_(&recorder_for_edge, (uintptr_t)long_text, 0,
                                &recorder_readonly_) == (uintptr_t)long_text);
    MUST(recorder_word_of_text_(&recorder_for_edge, (uintptr_t)long_text, 9,
                                &recorder_readonly_) -
             (uintptr_t)ring() <
         recorder_for_edge.ring_bytes);
    for (lost = 0; lost < 4; lost++) /* no slot is empty */
        record(edge, "%zu", lost);
    lost = ring()->lost;
    park(true);
    token = recorder_copy_(&recorder_for_edge, "no slot is free");
    MUST(token == (const char *)ring());
    MUST(ring()->lost == lost + 1);
    park(false);
}

/* A module's ELF header, with segments or without. */
static void modules(void)
{
    struct {
        unsigned char magic[32];
        uint64_t offset, other[2];
        uint16_t sizes[4];
        uint64_t segment[2][7];
    } elf = {"\177ELF", 64, {0, 0}, {0, 0, 0, 0}, {{0}}};
    struct recorder_readonly_ nothing = {NULL, 0};
    MUST(recorder_readonly_bytes_(NULL) == 1);
    MUST(recorder_readonly_bytes_("not an ELF header") == 1);
    MUST(recorder_readonly_bytes_((const char *)&elf) == 1); /* no segment */
    elf.segment[0][0] = 1 | (uint64_t)6 << 32;
    memcpy((char *)&elf + 56, &(uint16_t){1}, 2);
    MUST(recorder_readonly_bytes_((const char *)&elf) == 1); /* all writable */
    MUST(!recorder_readonly_has_(&nothing, (uintptr_t)&elf));
}

static unsigned shown;
static void show(const struct recorder *recorder, unsigned thread,
                 const struct recorder_record *records, unsigned count)
{
    (void)recorder, (void)thread, (void)records;
    shown += count;
}
/* Records of a traced recorder, with a hook and without. */
static void hooks(void)
{
    static const uintptr_t words[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    __typeof__(recorder_registry.hook) was = recorder_registry.hook;
    int i;
    RECORDER_TRACE(edge) = RECORDER_TRACE(edges) = 1;
    for (i = 0; i < 2; i++) {
        recorder_registry.hook = i ? show : NULL;
        record(edge, "%d", i);
        record(edges, "%d %d %d %d %d", i, 1, 2, 3, 4);
        record(edges, "%d %d %d %d %d %d %d %d %d", i, 1, 2, 3, 4, 5, 6, 7, 8);
        MUST(shown == (i ? 6 : 0));
    }
    RECORDER_TRACE(edge) = RECORDER_TRACE(edges) = 0;
    recorder_record_words_(&recorder_for_edge, "%d", 0, words, 3);
    MUST(shown == 6); /* turned off between the look and the record */
    recorder_registry.hook = was;
}

/* A record that tells its place. */
static void places(void)
{
    struct recorder_record r = {1, 2, 3, 4, {5, 6, 7, 8}}, *place = NULL;
    uintptr_t previous = recorder_positions_(ring(), 1, 1);
    MUST(recorder_write_(ring(), 3, previous, 1, &r, &place) == 2);
    MUST(place == recorder_records_(ring()) + (previous & 3));
    previous = recorder_positions_(ring(), 1, 1);
    MUST(recorder_write_late_(ring(), 3, previous, 1, &r, &place) == 2);
    MUST(place == recorder_records_(ring()) + (previous & 3));
}

/* A slot of lap 4, in a ring of four slots, while lap 8 has a writer or not. */
static void turns(void)
{
    struct recorder_turn turn = {0, 0};
    uintptr_t lap_4 = recorder_commit_lap_(4, 3);
    uintptr_t lap_8 = recorder_commit_lap_(8, 3);
    MUST(!recorder_is_open_(&turn, lap_4, lap_4));
    MUST(recorder_is_open_(&turn, lap_4 | RECORDER_BUSY_, lap_4));
    MUST(!recorder_is_open_(&turn, lap_8 | RECORDER_BUSY_, lap_4));
    MUST(recorder_is_open_(&turn, lap_4, lap_8));
    turn.gave_up = 4;
    MUST(!recorder_is_open_(&turn, lap_4, lap_8));
}

static int ends; /* how often the next thread says that it has ended */
static uintptr_t *changes; /* the owner that another thread changes meanwhile */
static bool ended(uintptr_t id)
{
    if (changes)
        *changes = id + 1;
    return ends-- > 0;
}
/* A lane whose owner lives, has ended, or has its id given again. */
static void owners(void)
{
    uintptr_t owner = UINTPTR_MAX;
    MUST(!recorder_owner_take_(&owner, 7, ended) && owner == UINTPTR_MAX);
    owner = 0;
    MUST(recorder_owner_take_(&owner, 7, ended) && owner == 7);
    ends = 0;
    MUST(!recorder_owner_take_(&owner, 8, ended) && owner == 7);
    ends = 1; /* ended, and given again before it is taken */
    MUST(!recorder_owner_take_(&owner, 8, ended) && owner == 7);
    ends = 2;
    MUST(recorder_owner_take_(&owner, 8, ended) && owner == 8);
    ends = 2, changes = &owner;
    MUST(!recorder_owner_take_(&owner, 10, ended) && owner == 9);
}

#ifdef RECORDER_CLOCKED_
static bool trusts(const char *text)
{
    static char path[] = "/tmp/recorder-edges-XXXXXX";
    FILE *file;
    bool trusted;
    strcpy(path + sizeof path - 7, "XXXXXX");
    file = fdopen(mkstemp(path), "w");
    fputs(text, file);
    fclose(file);
    clock_source = path;
    trusted = recorder_order_is_trusted_();
    remove(path);
    return trusted;
}
/* Who gives orders, the clock or the counter. */
static void orders(void)
{
    uint32_t bytes = recorder_registry.bytes;
    uintptr_t counter = UINTPTR_MAX, clocked = UINTPTR_MAX, order;
    MUST(!trusts("Tsc\n") && !trusts("tcs\n") && !trusts("tsd\n"));
    MUST(!trusts("tsc-early\n") && !trusts(""));
    clock_source = "/no such file";
    MUST(!recorder_order_is_trusted_());
    MUST(recorder_order_below_(7, 6) == 6);
    MUST(recorder_order_below_(7, 7) == UINTPTR_MAX);
    recorder_order_switch_(&clocked, &counter, 99, recorder_ticks_());
    MUST(clocked == 99 && counter == 99);
    if (recorder_registry.clocked != UINTPTR_MAX) {
        puts("edges.c: this machine has no clock for orders");
        return;
    }
    order = recorder_order_by_clock_(300u << RECORDER_WRITER_LANE_ | 1,
                                     recorder_order_ticks_(), 1);
    MUST(order != UINTPTR_MAX); /* by lane 0: the lane has no bits there */
    MUST(recorder_order_now_() > order && recorder_order_end_() > order);
    MUST(recorder_order_has_gaps_());
    MUST(recorder_order_follows_(order, (uintptr_t)recorder_order_next_(order)));
    recorder_registry.bytes = offsetof(struct recorder_registry, clocked);
    recorder_order_count_(&recorder_registry); /* an older one: no change */
    MUST(recorder_registry.clocked == UINTPTR_MAX);
    MUST(!recorder_order_has_gaps_() && recorder_order_follows_(order, order + 1));
    recorder_registry.bytes = bytes;
    recorder_order_count_(&recorder_registry);
    MUST(recorder_registry.clocked != UINTPTR_MAX);
    counter = recorder_registry.clocked;
    recorder_order_count_(&recorder_registry); /* once is enough */
    MUST(recorder_registry.clocked == counter);
    order = record(edges, "%d", 1);
    MUST(order >= counter && record(edges, "%d", 2) == order + 1);
    MUST(!recorder_order_is_clocked_() && recorder_order_now_() == order + 2);
    MUST(recorder_order_end_() == order + 2);
    MUST(recorder_order_follows_(order, order + 1));
    MUST(recorder_order_piece_(order, 3) == order + 3);
    MUST(recorder_order_text_(1) == order + 2);
    recorder_registry.clocked = 0; /* as in a program that never had it */
    MUST(!recorder_order_has_gaps_());
    MUST(record(edges, "%d", 3) == order + 3);
}
#else
static void orders(void)
{
}
#endif

int main(void)
{
    formats();
    texts();
    modules();
    hooks();
    places();
    turns();
    owners();
    orders();
    printf("edges.c: %d wrong\n", failures);
    return failures != 0;
}
