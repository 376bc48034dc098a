/* snapshots.c - stacks that a program recorded of itself (run/snapshot.h). */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "bytes.h"
#include "entry.h"

enum { PIECE_WORDS = 10, SNAPSHOT_REGISTERS = 9, PIECES_MAX = 1 << 20 };

/* A piece of a stack. They are sorted by snapshot, then by address. */
struct piece {
    uint64_t address;
    size_t snapshot;                      /* index of its thread */
    unsigned char words[PIECE_WORDS * 8]; /* as the program had them */
};

/* The memory of the program at the time of a snapshot: its stack, and constant
 * memory. */
struct snapshot_memory {
    struct memory memory;
    struct memory *under;
    const struct piece *pieces; /* of this snapshot */
    size_t count;
};

struct snapshots {
    struct threads *threads;
    struct piece *pieces;
    size_t count, max;
};

static size_t snapshot_read(struct memory *memory, uint64_t address, void *to,
                            size_t size)
{
    struct snapshot_memory *m = (struct snapshot_memory *)memory;
    size_t done = 0, bytes = PIECE_WORDS * memory->word_bytes;
    while (done < size) {
        size_t left, low = array_count_to(m->pieces, m->count,
                                          sizeof *m->pieces, address + done);
        if (low == 0 || address + done - m->pieces[low - 1].address >= bytes)
            break;
        left = bytes - (size_t)(address + done - m->pieces[low - 1].address);
        if (left > size - done)
            left = size - done;
        memcpy((char *)to + done,
               m->pieces[low - 1].words +
                   (address + done - m->pieces[low - 1].address),
               left);
        done += left;
    }
    return done ? done : m->under->read(m->under, address, to, size);
}

static int piece_compare(const void *a, const void *b)
{
    const struct piece *left = a, *right = b;
    return array_order(left->snapshot, right->snapshot,
                       array_order(left->address, right->address, 0));
}

/* ---------------------------------------------------------------- gather -- */

static void head_add(struct snapshots *s, const struct reader_event *event)
{
    const struct machine *machine = s->threads->machine;
    const uint64_t *argument = event->event.argument;
    struct thread *thread = threads_add(s->threads);
    struct registers *r;
    if (!thread || event->event.missing_arguments & 7)
        return;
    r = &thread->registers;
    thread->is_snapshot = true;
    thread->state = '?';
    thread->snapshot = argument[0];
    thread->order = event->event.order;
    thread->number = event->event.thread;
    if (event->thread) {
        thread->id = thread->inside = event->thread->id;
        memcpy(thread->name, event->thread->name, sizeof thread->name);
    }
    r->value[machine->unwind.pc] = argument[1];
    r->value[machine->unwind.sp] = argument[2];
    r->known[machine->unwind.pc] = r->known[machine->unwind.sp] = true;
    for (unsigned i = 0; i < SNAPSHOT_REGISTERS; i++) {
        int which = machine->snapshot[i];
        if (which < 0 || event->event.missing_arguments >> (3 + i) & 1)
            continue;
        r->value[which] = argument[3 + i];
        r->known[which] = true;
    }
    thread->has_registers = true;
}

/* A piece belongs to the last snapshot of this id that its thread began. */
static void piece_add(struct snapshots *s, const struct reader_event *event)
{
    const struct memory *m = s->threads->source->memory;
    const uint64_t *argument = event->event.argument;
    size_t of = s->threads->count;
    struct piece *to;
    while (of-- > 0)
        if (s->threads->all[of].snapshot == argument[0] &&
            s->threads->all[of].number == event->event.thread)
            break;
    if (of == SIZE_MAX || event->event.missing_arguments & 0xfff ||
        s->count == PIECES_MAX)
        return;
    to = array_add(s->pieces, s->count, s->max);
    *to = (struct piece){.snapshot = of, .address = argument[1]};
    for (unsigned i = 0; i < PIECE_WORDS; i++)
        bytes_put_word(m, to->words + i * m->word_bytes, argument[2 + i]);
}

static const char *gather(struct snapshots *s, struct reader *reader,
                          const char *names)
{
    struct reader_event event;
    const char *wrong;
    reader_select(reader, &(struct reader_selection){.names = names});
    wrong = reader_take(reader);
    while (!wrong && reader_next(reader, &event)) {
        if (!event.kind)
            continue;
        if (strcmp(event.kind, RUN_SCHEMA " snapshot") == 0)
            head_add(s, &event);
        else if (strcmp(event.kind, RUN_SCHEMA " words") == 0)
            piece_add(s, &event);
    }
    array_sort(s->pieces, s->count, piece_compare);
    return wrong;
}

/* ------------------------------------------------------------------ open -- */

static void walk_all(struct snapshots *s)
{
    struct threads *threads = s->threads;
    struct snapshot_memory memory = {.memory = *threads->source->memory,
                                     .under = threads->source->memory};
    size_t next = 0;
    memory.memory.base = memory_base(memory.under);
    memory.memory.read = snapshot_read;
    threads->unwind.memory = &memory.memory;
    for (size_t i = 0; i < threads->count; i++) {
        struct thread *thread = &threads->all[i];
        memory.pieces = s->pieces + next;
        for (memory.count = 0; next < s->count && s->pieces[next].snapshot == i;
             next++)
            memory.count++;
        threads_walk(threads, thread);
        thread->wait = (struct wait){.holder = THREAD_NONE, .fd = -1};
    }
    threads->unwind.memory = threads->source->memory;
}

const char *snapshots_open(struct threads *threads, struct source *source,
                           struct reader *reader)
{
    struct snapshots s = {.threads = threads};
    const char *wrong = threads_begin(threads, source);
    if (!wrong && !threads->machine)
        wrong = threads_wrong(threads, "is of a processor whose stacks are not "
                                       "known here");
    if (!wrong)
        wrong = gather(&s, reader, NULL);
    if (!wrong && threads->count == 0)
        wrong =
            threads_wrong(threads, "is a recording: it holds records, but no "
                                   "stacks; recorder list shows its threads");
    if (!wrong) {
        walk_all(&s);
        threads_join(threads);
    }
    free(s.pieces);
    if (wrong)
        present_close(threads);
    return wrong;
}

/* Appends the frames above the program's call, which ended the stack before. */
static void stack_extend(struct stack *stack, const struct thread *from,
                         uint64_t no_address)
{
    uint64_t call = (stack->frames[0] & ~no_address) - 1;
    unsigned i = 0;
    while (i < from->frames_count && from->frames[i] != call)
        i++;
    for (i++; i < from->frames_count && stack->count < FRAMES_MAX; i++)
        stack->frames[stack->count++] = from->frames[i] + 1;
}

const char *snapshots_extend(struct threads *threads)
{
    struct recorded *recorded = threads->recorded;
    struct threads own = {.source = threads->source,
                          .machine = threads->machine,
                          .unwind = threads->unwind};
    struct snapshots s = {.threads = &own};
    struct reader reader;
    const char *wrong;
    if (!recorded->has_snapshots || !threads->machine)
        return NULL;
    wrong = reader_open(&reader, recorded->reader.memory,
                        recorded->reader.registry);
    if (wrong)
        return threads_wrong(threads, "%s", wrong);
    wrong = gather(&s, &reader, "call_stack");
    if (!wrong)
        walk_all(&s);
    for (size_t i = 0; i < own.count && !wrong; i++) {
        struct stack *stack = recorded_stack(recorded, own.all[i].snapshot);
        if (stack && stack->count == 1 && stack->has_snapshot)
            stack_extend(stack, &own.all[i],
                         threads->machine->unwind.no_address);
    }
    reader_close(&reader);
    free(s.pieces);
    free(own.all);
    return wrong ? threads_wrong(threads, "%s", wrong) : NULL;
}
