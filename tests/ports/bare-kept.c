/* bare-kept.c - a ring that survives resets, half-written and damaged, too. */
/* SPDX-License-Identifier: MIT */
/*
 * The program resets itself again and again, each time leaving the ring in a
 * worse state: whole, with a record that is half written, with random words in
 * it, without its stamp. Each start must find what there is, dump whatever that
 * is without a fault, and bring all slots back.
 */
#include "port.h"

#include "recorder_dump.h"

enum { SLOTS = 16, DAMAGES = 40 };
RECORDER_AT(kept, SLOTS, PORT_KEPT, "Survives");
RECORDER(other, 4, "Does not");

/* After the ring: how often the machine was started, and what was last. */
static volatile uintptr_t *const starts = (uintptr_t *)(PORT_KEPT + 0x8000);
static volatile uintptr_t *const last = (uintptr_t *)(PORT_KEPT + 0x8004);
static volatile uintptr_t *const state = (uintptr_t *)(PORT_KEPT + 0x8008);

static void must(bool is, const char *what)
{
    if (is)
        return;
    port_write("start ", 6);
    port_write(&"0123456789"[*starts / 10 % 10], 1);
    port_write(&"0123456789"[*starts % 10], 1);
    port_write(": ", 2);
    port_write(what, recorder_length_(what, 80));
    port_write("\n", 1);
    port_exit(1);
}
void HardFault_Handler(void)
{
    must(false, "a fault");
}

static uintptr_t whole(void)
{
    uintptr_t slot, count = 0;
    struct recorder_record r;
    for (slot = 0; slot < SLOTS; slot++)
        count +=
            recorder_look_(recorder_for_kept.rings, SLOTS - 1, slot, &r) != 0;
    return count;
}
static void fill(unsigned count)
{
    while (count--)
        *last = record(kept, "start %u: %u to go", (unsigned)*starts, count);
}
static void swallow(void *lines, const char *text, size_t size)
{
    ++*(unsigned *)lines;
    must(size && text[size - 1] == '\n', "a line without an end");
}
static uintptr_t recorded(void)
{
    const struct recorder_ring *ring = recorder_for_kept.rings;
    return ring->write - ring->given_up + ring->lost;
}
static uintptr_t next_random(void)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

int main(void)
{
    struct recorder_ring *ring = recorder_for_kept.rings;
    uintptr_t *commits = recorder_commits_(ring, SLOTS - 1);
    unsigned lines = 0, i;
    uintptr_t order, before;
    if (*starts > 1000)
        *starts = 0;
    switch (++*starts) {
    case 1: /* nothing was there */
        must(ring->write == 0 && whole() == 0, "not empty");
        fill(40);
        must(whole() == SLOTS && recorded() == 40, "40 records");
        break;
    case 2: /* whole */
        must(whole() == SLOTS && recorded() == 40, "something was not kept");
        order = record(other, "the first order now");
        must(order == *last + 1, "orders do not go on");
        must(recorder_dump_to(swallow, &lines) == SLOTS + 1, "not all shown");
        fill(1);
        commits[(ring->write - 1) % SLOTS] |= RECORDER_BUSY_;
        break;
    case 3: /* the youngest is half written */
        must(whole() == SLOTS - 1 && ring->lost == 1, "half a record");
        must(recorded() == 41, "kept + overwritten + lost");
        fill(SLOTS);
        must(whole() == SLOTS && recorded() == 41 + SLOTS, "a slot is lost");
        must(ring->given_up == 1, "a slot was given up");
        *state = 1;
        break;
    default: /* any words may be anything */
        recorder_dump_to(swallow, &lines);
        must(lines >= 3, "no dump");
        before = recorded();
        fill(SLOTS);
        must(whole() == SLOTS, "a slot did not come back");
        must(recorded() - before == SLOTS, "tickets were given up");
        fill(100);
        must(recorded() - before == SLOTS + 100, "records were lost");
        break;
    case 4 + DAMAGES: /* the stamp was damaged: it is an empty ring */
        must(ring->write == 0 && whole() == 0, "not empty");
        port_write("43 resets: what was whole was shown, all slots came back\n",
                   56);
        return 0;
    }
    if (*starts >= 3)
        for (i = 0; i < 1 + *starts; i++) {
            uintptr_t bytes = recorder_for_kept.ring_bytes;
            uintptr_t at = next_random() % (bytes / sizeof(uintptr_t));
            ((uintptr_t *)(void *)ring)[at] ^= next_random();
        }
    if (*starts == 3 + DAMAGES)
        ((uintptr_t *)(void *)ring)[-3] ^= 4;
    port_reset();
}
