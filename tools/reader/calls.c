/* calls.c - makes an event of each call in a slot of calls, by time. */
/* SPDX-License-Identifier: MIT */
/*
    Slots of calls (recorder/calls.h) become calls and returns, and the events
    of a take come by time. A frame that was left without a return, by longjmp()
    or an exception, is known by the stack pointer of a later call, and gets
    an event there. So the calls of a thread nest: each return is of the
    innermost call, or of one that was made before the first kept call.
*/
#include "array.h"
#include "inside.h"

#include "recorder/calls.h"

/* Frames of a stack: farther apart, they are on two. */
static const uint64_t STACK_NEAR = 1 << 20;
/* By how much one stack pointer is higher: they have 36 bits, or 32. */
static uint64_t above(uint64_t stack, uint64_t other)
{
    return (stack - other) & ((UINT64_C(1) << 36) - 1);
}

struct frame {
    uint64_t function, stack;
};
/* The open calls of a thread, and calls that were left without a return. */
struct stack {
    struct frame *open, *left;
    size_t depth, open_max, left_count, left_max;
};
struct call_of { /* an entry, before it has its place */
    uint64_t ticks;
    struct key key;
    struct call_event event;
};
struct calls {
    struct call_of *all;
    size_t count, max;
    struct ids thread_ids;
    struct stack *stacks;
    size_t stacks_max;
};

/* ---------------------------------------------------------------- slots -- */

unsigned reader_calls(const struct reader *reader,
                      const struct recorder_event *event,
                      struct reader_call to[4])
{
    const unsigned bytes = reader->memory->word_bytes;
    const bool wide = bytes == 8;
    const unsigned ticks = RECORDER_CALL_TICKS_BITS_(bytes);
    const unsigned bits = RECORDER_CALL_STACK_BITS_(bytes);
    const uint64_t mark = UINT64_C(1) << RECORDER_CALL_MARK_BIT_(bytes);
    const uint64_t *word = event->argument, caller = event->caller & ~mark;
    uint64_t stack = wide ? word[0] >> 32 << 4 : caller;
    unsigned count = 0;
    for (unsigned i = 0; i < 4; i += wide ? 1 : 2) {
        uint64_t info = wide ? word[i] : word[i + 1];
        int64_t lower = (int64_t)(info >> (ticks + 2) & ((1u << bits) - 1)) -
                        (1 << (bits - 1));
        uint64_t function = wide ? caller : word[i];
        if (wide && i && info >> 32 == RECORDER_CALL_FAR_)
            function = i < 3 ? word[++i] : 0;
        else if (wide && i)
            function += (uint64_t)((int64_t)info >> 32);
        if (!(info & 1) || !function)
            break;
        to[count++] = (struct reader_call){
            function,
            stack - (uint64_t)(lower * RECORDER_CALL_STACK_UNIT_(bytes)),
            info >> 2 & ((1u << ticks) - 1), info & RECORDER_CALL_RETURNS_};
    }
    return count;
}

/* Adds a record, or the calls in it. */
static void add_record(struct calls *calls, struct reader *reader,
                       const struct key *key)
{
    const struct memory *m = reader->memory;
    const struct offsets *at = offsets_of(m);
    unsigned char raw[RECORD_MAX_BYTES];
    struct call_of of = {.key = *key};
    struct recorder_event event = {0};
    struct reader_call all[4];
    uint64_t commit = key_record(reader, key, raw), ticks = 0;
    const char *kind = NULL;
    unsigned count, i;
    if (commit) {
        ticks = of.ticks = reader_ticks(reader, raw);
        event.format = bytes_word(m, raw + at->record_format);
        event.order = bytes_word(m, raw + at->record_order);
        if (recorder_is_head_(event.format) &&
            order_key(reader, event.order) == key->order)
            kind = reader_headed(reader, &event);
    }
    if (!kind || strcmp(kind, RECORDER_CALLS_KIND_) != 0) {
        *array_add(calls->all, calls->count, calls->max) = of;
        return;
    }
    event.caller = bytes_word(m, raw + at->record_caller);
    for (i = 0; i < 4; i++)
        event.argument[i] =
            bytes_word(m, raw + at->record_argument + i * m->word_bytes);
    count = reader_calls(reader, &event, all);
    for (i = 0; i < count; i++) {
        of.event = (struct call_event){.order = event.order + i,
                                       .function = all[i].function,
                                       .stack = all[i].stack,
                                       .thread = commit_thread(m, commit),
                                       .kind = all[i].returns ? CALL_RETURNS
                                                              : CALL_CALLS};
        of.event.ticks = of.ticks = ticks + all[i].since;
        *array_add(calls->all, calls->count, calls->max) = of;
    }
}

static int compare(const void *a, const void *b)
{
    const struct call_of *left = a, *right = b;
    int last = array_order(left->event.order, right->event.order, 0);
    return array_order(left->ticks, right->ticks,
                       array_order(left->key.order, right->key.order, last));
}

/* --------------------------------------------------------------- stacks -- */

static struct stack *stack_of(struct calls *calls, struct reader *reader,
                              const struct call_event *event)
{
    const struct reader_thread *thread =
        reader_thread_of(reader, event->thread, event->order);
    bool is_new;
    return array_at_key(calls->stacks, &calls->thread_ids, calls->stacks_max,
                        event->thread, thread ? thread->first : 1, !thread,
                        &is_new);
}

/* Adds the end of frames, down to `depth`, that were left without a return. */
static void leave(struct calls *calls, struct stack *s, size_t depth,
                  const struct call_of *found)
{
    struct call_of of = *found;
    of.event.kind = CALL_LEFT;
    while (s->depth > depth) {
        of.event.function = s->open[s->depth - 1].function;
        of.event.stack = s->open[s->depth - 1].stack;
        *array_add(calls->all, calls->count, calls->max) = of;
        *array_add(s->left, s->left_count, s->left_max) = s->open[s->depth - 1];
        s->depth--;
    }
}

/* True if the stack pointer of a call is above a frame. */
static bool is_gone(const struct frame *frame, const struct call_event *event)
{
    uint64_t by = above(event->stack, frame->stack);
    return by < STACK_NEAR && (by > 0 || frame->function == event->function);
}

/* Finds the frame, from 1 up, that a return leaves; 0: there is none. A hook at
 * the end of a function may be jumped to, with the caller's stack pointer. */
static size_t frame_of(const struct stack *s, const struct call_event *event)
{
    size_t found = 0;
    for (size_t i = s->depth; i; i--) {
        if (s->open[i - 1].function != event->function)
            continue;
        found = found ? found : i;
        if (i == 1 ||
            above(event->stack, s->open[i - 2].stack + 1) >= STACK_NEAR)
            return i;
    }
    return found;
}

/* True if a return is of a frame that was taken for gone. */
static bool was_left(struct stack *s, const struct call_event *event)
{
    for (size_t i = s->left_count; i; i--)
        if (s->left[i - 1].function == event->function &&
            s->left[i - 1].stack == event->stack) {
            s->left_count = i - 1;
            return true;
        }
    return false;
}

/* Adds a call in its place, after the ends of frames that it shows to be
 * gone. */
static void place(struct calls *calls, struct reader *reader, struct call_of of)
{
    struct stack *s = stack_of(calls, reader, &of.event);
    size_t depth = s->depth;
    if (of.event.kind == CALL_CALLS) {
        while (depth && is_gone(&s->open[depth - 1], &of.event))
            depth--;
        leave(calls, s, depth, &of);
        *array_add(s->open, s->depth, s->open_max) =
            (struct frame){of.event.function, of.event.stack};
    } else if ((depth = frame_of(s, &of.event))) {
        leave(calls, s, depth, &of);
        s->depth = depth - 1;
    } else if (was_left(s, &of.event)) {
        of.event.kind = CALL_LATE;
    }
    *array_add(calls->all, calls->count, calls->max) = of;
}

/* --------------------------------------------------------------- events -- */

static bool has_calls(const struct reader *reader)
{
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->chosen &&
            strcmp(reader->recorders[i]->name, "functions") == 0)
            return true;
    return false;
}

/* Replaces the delivered keys; held keys stay after them. */
static void keys_replace(struct reader_inside *inside, const struct calls *from)
{
    size_t held = inside->keys_count - inside->deliver, i;
    size_t count = from->count + held;
    struct key *keys = need(calloc(count + 1, sizeof *keys));
    struct call_event *events = need(calloc(from->count + 1, sizeof *events));
    for (i = 0; i < from->count; i++) {
        keys[i] = from->all[i].key;
        events[i] = from->all[i].event;
        keys[i].call = events[i].kind ? (uint32_t)i + 1 : 0;
    }
    memcpy(keys + from->count, inside->keys + inside->deliver,
           held * sizeof *keys);
    free(inside->keys);
    free(inside->calls);
    inside->keys = keys;
    inside->calls = events;
    inside->keys_max = count + 1;
    inside->keys_count = count;
    inside->deliver = from->count;
}

void calls_expand(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    struct calls slots = {0}, calls = {0};
    size_t i;
    if (!has_calls(reader))
        return;
    for (i = 0; i < inside->deliver; i++)
        add_record(&slots, reader, &inside->keys[i]);
    array_sort(slots.all, slots.count, compare);
    for (i = 0; i < slots.count; i++)
        if (slots.all[i].event.kind)
            place(&calls, reader, slots.all[i]);
        else
            *array_add(calls.all, calls.count, calls.max) = slots.all[i];
    keys_replace(inside, &calls);
    for (i = 0; i < calls.thread_ids.count; i++) {
        free(calls.stacks[i].open);
        free(calls.stacks[i].left);
    }
    free(calls.stacks);
    ids_free(&calls.thread_ids);
    free(slots.all);
    free(calls.all);
}

void calls_event(struct reader *reader, const struct key *key,
                 struct reader_event *to)
{
    static const char *const kinds[] = {NULL, "call", "return", "left", "late"};
    static const char *const texts[] = {NULL, "> ", "< ", "< ", "= "};
    const struct call_event *call = &reader->inside->calls[key->call - 1];
    struct recorder_event *event = &to->event;
    const char *name =
        reader->function
            ? reader->function(reader->function_context, call->function)
            : NULL;
    char address[24];
    snprintf(address, sizeof address, "0x%" PRIx64, call->function);
    memset(to, 0, sizeof *to);
    event->order = call->order;
    event->time = call->ticks;
    event->caller = call->function;
    event->thread = call->thread;
    event->severity = -1;
    event->missing_arguments = 0xfff;
    to->recorder = reader->inside->lanes[key->lane].recorder;
    event->name = to->recorder->name;
    to->thread = reader_thread_of(reader, call->thread, call->order);
    to->ns = recorder_clock_time_(&reader->clock, event->time);
    if (to->ns != RECORDER_TIME_UNKNOWN_ && reader->clock.start.realtime_ns)
        to->realtime_ns = reader_start_realtime(reader) + (uint64_t)to->ns;
    event->format = format_made(
        reader, call->function, texts[call->kind], name ? name : address,
        call->kind == CALL_LEFT ? ", left without a return" : "");
    to->raw = *event;
    to->kind = kinds[call->kind];
}
