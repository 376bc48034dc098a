/* bare-stress.c - records that interrupts cut through: none is torn or lost. */
/* SPDX-License-Identifier: MIT */
/*
 * Main and two interrupts, the second of which interrupts the first, record
 * into one small ring. The next timer interrupt comes a random number of
 * instructions after the last, so that in the end it has come nearly everywhere
 * in record(). All words of a record follow from its first; what is
 * read of the ring meanwhile, by main and by the interrupts themselves, must be
 * such a record, and at the end the figures must add up. bare-*.h is the
 * machine: its macros, stress_timer(), stress_inner().
 */
#include BARE_MACHINE

#include "recorder_dump.h"

#ifndef INTERRUPTS
#define INTERRUPTS 1000000
#endif
#ifndef SLOTS
#define SLOTS 8
#endif

RECORDER(ring, SLOTS, "Interrupted");

static volatile uintptr_t made[3], interrupts, inner, inside, accepted;
static unsigned char places[STRESS_RECORD_BYTES]; /* in record(): 1 if it came */
static const char *volatile fault;
static uintptr_t random_state = 1;

static uintptr_t random_below(uintptr_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

/* The third word of each 4: a real number, where interrupts may calculate. */
#ifdef STRESS_REAL
#define THIRD "%f"
static float third(unsigned x)
{
    return (float)(int)(x & 0xffff) + 0.5f;
}
static uintptr_t third_bits(unsigned x)
{
    float real = third(x);
    uintptr_t bits;
    __builtin_memcpy(&bits, &real, sizeof bits);
    return bits;
}
#else
#define THIRD "%x"
static unsigned third(unsigned x)
{
    return x ^ 0x5555;
}
#define third_bits third
#endif

/* A record of 4 or 12 words: who made it, as the how many-th, and what follows
 * from that. */
static void make(unsigned who)
{
    uintptr_t n = made[who];
    unsigned x = (unsigned)n << 2 | who;
    if (n % 8 == 7) {
        record(ring, "%x %x " THIRD " %x %x %x " THIRD " %x %x %x " THIRD " %x",
               x, ~x, third(x), x * 5, x, ~x, third(x), x * 5, x, ~x, third(x),
               x * 5);
        made[who] = n + 3;
    } else {
        record(ring, "%x %x " THIRD " %x", x, ~x, third(x), x * 5);
        made[who] = n + 1;
    }
}

static void look(void)
{
    const struct recorder_ring *ring = recorder_for_ring.rings;
    uintptr_t slot;
    for (slot = 0; slot < SLOTS; slot++) {
        struct recorder_record r;
        uintptr_t commit = recorder_look_(ring, SLOTS - 1, slot, &r);
        unsigned x;
        static const unsigned contexts[] = {STRESS_CONTEXTS};
        if (!commit)
            continue;
        x = (unsigned)r.argument[0];
        if ((x & 3) == 3 || r.argument[1] != ~x || r.argument[3] != x * 5 ||
            r.argument[2] != third_bits(x))
            fault = "arguments of two records";
        else if (recorder_commit_thread_(commit) != contexts[x & 3])
            fault = "the context of another record";
        else if (recorder_is_text_(r.format))
            fault = "not a format";
        accepted++;
    }
}

/* The timer's interrupt; `pc` is where it came. */
static void on_timer(uintptr_t pc)
{
    interrupts++;
    if (pc - STRESS_RECORD < STRESS_RECORD_BYTES) {
        places[pc - STRESS_RECORD] = 1;
        inside++;
    }
    make(1);
    if (interrupts % 4 == 0)
        look();
    if (interrupts % 2 == 0)
        stress_inner(); /* comes at once, and records, too */
    make(1);
    if (interrupts < INTERRUPTS)
        stress_timer(random_below(STRESS_SPREAD));
}
static void on_inner(void)
{
    inner++;
    make(2);
}

static void number(const char *text, uintptr_t n)
{
    char line[80];
    struct recorder_string_ to = recorder_string_at_(line, sizeof line);
    recorder_add_number_(&to, n, 10, 1);
    recorder_add_string_(&to, text);
    RECORDER_WRITE(line, to.size);
}

int main(void)
{
    const struct recorder_ring *ring = recorder_for_ring.rings;
    uintptr_t records, kept = 0, different = 0, slot, i;
    struct recorder_batch_ batch = {0};
    struct recorder_summary_ summary;
    stress_begin();
    stress_timer(1);
    while (interrupts < INTERRUPTS && !fault) {
        make(0);
        if (made[0] % 64 == 0)
            look();
    }
    stress_end();
    look();
    records = made[0] + made[1] + made[2];
    batch.end = *recorder_home_.order;
    recorder_summarize_(&batch, &recorder_for_ring, &summary);
    for (slot = 0; slot < SLOTS; slot++) {
        struct recorder_record r;
        kept += recorder_look_(ring, SLOTS - 1, slot, &r) != 0;
    }
    for (i = 0; i < STRESS_RECORD_BYTES; i++)
        different += places[i];
    number(" interrupts, ", interrupts);
    number(" of them in record(), at ", inside);
    number(" places; ", different);
    number(" came into these; ", inner);
    number(" records, ", records);
    number(" looks at a whole one, ", accepted);
    number(" tickets given up, ", ring->given_up);
    number(" lost", ring->lost);
    if (fault)
        ;
    else if (recorder_registry.order[0] - 1 != records)
        fault = "an order was given twice or never";
    else if (summary.figures.slots_kept + summary.figures.slots_overwritten +
                     summary.figures.lost !=
                 records ||
             ring->write - ring->given_up + ring->lost != records)
        fault = "kept + overwritten + lost is not what was recorded";
    else if (kept != SLOTS)
        fault = "a slot did not come back";
    else if (inside < INTERRUPTS / 20 || interrupts < INTERRUPTS ||
             different < 40)
        fault = "too few interrupts came while it recorded";
    RECORDER_WRITE(": ", 2);
    if (fault)
        RECORDER_WRITE(fault, recorder_length_(fault, 80));
    else
        RECORDER_WRITE("not one torn", 12);
    RECORDER_WRITE("\n", 1);
    return fault != 0;
}

STRESS_HANDLERS
