/* take.c - opens a reader, and takes the records of its program. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "inside.h"

/* ------------------------------------------------------------------ open -- */

/* Its own text is a source's, too, and escaped like that. */
static void line_read(struct reader *reader, uint64_t address)
{
    char text[4 * sizeof reader->line + 1];
    struct recorder_formatter_ f = {.text = {text, sizeof text - 1, 0}};
    char *line =
        address ? bytes_string(reader->memory, address, sizeof reader->line - 1)
                : NULL;
    if (line)
        recorder_format_escape_(&f, line, strlen(line), true);
    text[f.text.size] = '\0';
    strcpy(reader->line, line && f.text.size < sizeof reader->line
                             ? text
                             : RECORDER_LINE_DEFAULT_);
    reader->inside->line_format.own = false;
    free(line);
}

/* Reads the program's name, without bytes that would break a line. */
static void program_read(struct reader *reader, uint64_t address)
{
    struct recorder_string_ name =
        recorder_string_at_(reader->program, sizeof reader->program - 1);
    char *text =
        address ? bytes_string(reader->memory, address, NAME_MAX_BYTES) : NULL;
    if (text)
        recorder_add_name_(&name, text, name.max);
    free(text);
}

/* True if another program replaced it: by exec, or in a process with the same
 * id. */
static bool is_another(const struct reader *reader,
                       const struct registry *registry)
{
    const struct recorder_moment *was = &reader->clock.start;
    return was->monotonic_ns &&
           (registry->start.monotonic_ns != was->monotonic_ns ||
            registry->start.ticks != was->ticks);
}

static const char *reader_refresh(struct reader *reader, bool first)
{
    struct registry registry;
    unsigned tries = 0;
    const char *wrong;
again:
    wrong = registry_read(reader->memory, reader->registry, &registry);
    if (reader->inside->taken_before && reader->memory->live) {
        reader->inside->another |= !wrong && is_another(reader, &registry);
        if (wrong || reader->inside->another)
            return READER_GONE;
    }
    if (wrong)
        return wrong;
    reader->pid = registry.pid;
    reader->order_address = registry.order;
    reader->cleared = registry.cleared;
    reader->clocked = registry.clocked;
    reader->ended = registry.ended;
    reader->file_asked = registry.file_asked;
    reader->in_file = registry.image != 0;
    reader->inside->start_ticks = registry.start.ticks;
    if (registry.clocked == UINT64_MAX && !reader->memory->ticks_here)
        reader->memory->stale_order = true; /* the counter is not used */
    reader->inside->head_bytes = registry.head_bytes;
    reader->inside->wraps_count = (uint32_t)registry.wraps_count;
    memcpy(reader->inside->wraps, registry.wraps, sizeof registry.wraps);
    reader->inside->no_threads = registry.threads == 0;
    reader->inside->image = registry.image;
    reader->inside->kernel_address = registry.kernel;
    reader->inside->threads_max = registry.threads_max;
    lives_refresh(reader, &registry);
    wrong = recorders_refresh(reader, &registry);
    if (!wrong)
        recorders_sort(reader);
    if (!wrong && first)
        wrong = tweaks_read(reader, &registry);
    if (wrong && reader->memory->live && tries++ < 20) {
        sleep_ns(1000000); /* a library is just being closed */
        goto again;
    }
    if (!wrong && (first || registry.threads_count > reader->threads_count))
        wrong = threads_refresh(reader, &registry);
    return wrong;
}

/* Reads the rows of threads again where records of a take may need it: a row is
 * counted before it is filled, and a full table gives rows to new threads. */
static const char *threads_renew(struct reader *reader, bool all)
{
    struct registry registry;
    bool old = all;
    if (!reader->memory->live ||
        registry_read(reader->memory, reader->registry, &registry))
        return NULL; /* the rows from before are all that is left */
    old |= registry.threads_count != reader->threads_count ||
           registry.threads_count >= registry.threads_max;
    for (size_t i = 0; i < reader->threads_count; i++)
        old |= reader->threads[i].is_free;
    return old ? threads_refresh(reader, &registry) : NULL;
}

const char *reader_open(struct reader *reader, struct memory *memory,
                        uint64_t address)
{
    struct registry registry;
    const char *wrong;
    memset(reader, 0, sizeof *reader);
    reader->memory = memory;
    reader->registry = address;
    wrong = registry_read(memory, address, &registry);
    if (wrong)
        return wrong;
    reader->inside = need(calloc(1, sizeof *reader->inside));
    reader->inside->decoders = coded_decoders;
    reader->cleared_address = registry.cleared_link;
    wrong = reader_refresh(reader, true);
    if (wrong) {
        reader_close(reader);
        return wrong;
    }
    line_read(reader, registry.line);
    program_read(reader, registry.program);
    clock_open(reader, &registry);
    return NULL;
}

void reader_close(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    size_t i;
    if (!inside)
        return;
    kernel_close(reader);
    rings_close(reader);
    for (i = 0; i < reader->recorders_count; i++)
        recorder_free(reader->recorders[i]);
    tweaks_free(reader);
    for (i = 0; i < inside->formats_count; i++) {
        free(inside->formats[i].text);
        free(inside->formats[i].location);
        free(inside->formats[i].plan);
        free(inside->formats[i].kind);
        names_free(inside->formats[i].names);
    }
    free(reader->recorders);
    free(reader->threads);
    free(reader->tweaks);
    free(inside->formats);
    ids_free(&inside->format_ids);
    free(inside->sorted);
    free(inside->pages);
    free(inside->numbers);
    free(inside->message);
    free(inside->text);
    free(inside->line);
    free(inside->line_format.text);
    free(inside->strings);
    free(inside->calls);
    free(inside->names);
    free(inside->thread);
    free(inside);
    memset(reader, 0, sizeof *reader);
}

const char *reader_select(struct reader *reader,
                          const struct reader_selection *selection)
{
    struct reader_inside *inside = reader->inside;
    const char *wrong =
        selection->names ? recorder_regex_check_(selection->names) : NULL;
    size_t i;
    if (wrong)
        return wrong;
    free(inside->names);
    free(inside->thread);
    inside->names = selection->names ? strdup(selection->names) : NULL;
    inside->thread = selection->thread ? strdup(selection->thread) : NULL;
    inside->selection = *selection;
    for (i = 0; i < reader->recorders_count; i++)
        reader->recorders[i]->chosen =
            list_is_chosen(reader, reader->recorders[i]);
    return NULL;
}

/* ------------------------------------------------------------------ sort -- */

static int keys_compare(const void *a, const void *b)
{
    const struct key *left = a, *right = b;
    return array_order(left->order, right->order,
                       array_order(left->number, right->number, 0));
}

/* Sorts the keys; those below `limit` may be delivered. Of several with the
 * same order, which only a damaged ring holds, the first stays. */
static void keys_sort(struct reader_inside *inside, uint64_t limit)
{
    size_t kept = 0;
    for (size_t i = 1; i < inside->keys_count; i++)
        if (keys_compare(&inside->keys[i - 1], &inside->keys[i]) > 0) {
            array_sort(inside->keys, inside->keys_count, keys_compare);
            break;
        }
    for (size_t i = 0; i < inside->keys_count; i++)
        if (kept == 0 || inside->keys[i].number ||
            inside->keys[i].order != inside->keys[kept - 1].order)
            inside->keys[kept++] = inside->keys[i];
    inside->keys_count = kept;
    inside->deliver = array_first(kept, i, inside->keys[i].order >= limit);
}

/* Sorts the delivered keys by (time, sequence number). Continuations have the
 * times of their heads. */
struct timed {
    uint64_t ticks;
    struct key key;
};
static int timed_compare(const void *a, const void *b)
{
    const struct timed *left = a, *right = b;
    return array_order(left->ticks, right->ticks,
                       keys_compare(&left->key, &right->key));
}
static void keys_by_time(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    size_t count = inside->deliver, i;
    struct timed *timed = need(calloc(count + 1, sizeof *timed));
    unsigned char raw[RECORD_MAX_BYTES];
    for (i = 0; i < count; i++) {
        timed[i].key = inside->keys[i];
        if (key_record(reader, &inside->keys[i], raw))
            timed[i].ticks = reader_ticks(reader, raw);
    }
    qsort(timed, count, sizeof *timed, timed_compare);
    for (i = 0; i < count; i++)
        inside->keys[i] = timed[i].key;
    free(timed);
}

/* Reads this take's end, before the rings: the next sequence number. Returns
 * null, or READER_GONE. A recording's counter is from its start
 * (stale_order). */
static const char *end_read(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    struct memory *m = reader->memory;
    uint64_t before = reader->end;
    if ((m->advance && !m->advance(m)) || !reader_order(reader, &reader->end))
        return READER_GONE;
    recorder_fence_acquire_();
    if (inside->taken_before && m->live && !m->stale_order &&
        word_signed(m, reader->end - before) < 0)
        inside->another = true;
    if (inside->another)
        return READER_GONE;
    if (inside->taken_before)
        return NULL;
    if (m->word_bytes == 8)
        inside->base = 0;
    else if (m->stale_order)
        inside->base = reader->end - 0x10000000u;
    else
        inside->base = reader->end - 0x80000000u;
    return NULL;
}

/* Does so, and copies the kernel's records after this end. */
static const char *end_and_kernel(struct reader *reader)
{
    for (unsigned tries = 0;; tries++) {
        bool kernel = kernel_begin(reader);
        const char *gone = end_read(reader);
        if (gone || !kernel || kernel_take(reader) || tries == 5)
            return gone;
        sleep_ns(1000000); /* the program is recording them */
    }
}

/* The key up to which this take delivers. A follower's is the end of the take
 * before, so that late records still come in their place. */
static uint64_t limit_of(struct reader *reader, uint64_t end)
{
    struct reader_inside *inside = reader->inside;
    bool all = reader->memory->stale_order || reader->logs;
    uint64_t limit = all ? UINT64_MAX : end;
    if (reader->follows && inside->taken_before)
        limit = inside->end_before;
    if (reader->follows)
        inside->shown = limit < end ? limit : end;
    inside->end_before = end;
    return limit;
}

/* 1 + the highest key. */
static uint64_t keys_end(const struct reader_inside *inside)
{
    uint64_t end = inside->end_before;
    for (size_t i = 0; i < inside->keys_count; i++)
        if (inside->keys[i].order >= end)
            end = inside->keys[i].order + 1;
    return end;
}

static bool refresh_due(struct reader *reader)
{
    uint64_t now = recorder_clock_ns_(RECORDER_MONOTONIC_);
    if (reader->inside->taken_before &&
        now - reader->inside->refreshed_ns < 50000000)
        return false;
    reader->inside->refreshed_ns = now;
    return true;
}

/* True if the sequence number stayed the same for more than PATIENCE takes:
 * then no ring can have changed. */
static bool is_still(struct reader_inside *inside, uint64_t end)
{
    if (!inside->taken_before || end != inside->end_still)
        inside->still = 0;
    inside->end_still = end;
    return inside->still++ > PATIENCE;
}

/* Measures the clock's rate at the first take, and again when the program
 * has twice the age: for a follower, an error of the rate does not grow with
 * time. */
static void clock_settle(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    unsigned char raw[RECORD_MAX_BYTES];
    uint64_t ticks, start = reader->clock.start.ticks;
    if (!inside->keys_count ||
        !key_record(reader, &inside->keys[inside->keys_count - 1], raw))
        return;
    ticks = reader_ticks(reader, raw);
    if (inside->settled_ticks &&
        (ticks <= start || ticks - start < 2 * (inside->settled_ticks - start)))
        return;
    reader_clock(reader, ticks);
    inside->settled_ticks = ticks > start ? ticks : start + 1;
}

/* Drops delivered keys. The others stay, with copies of their records, as their
 * slots may be overwritten by the next take. */
static void keys_hold(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    size_t left = inside->keys_count - inside->deliver, i;
    struct held *held = left ? need(malloc(left * sizeof *held)) : NULL;
    for (i = 0; i < left; i++) {
        inside->keys[i] = inside->keys[inside->deliver + i];
        held[i].commit = key_record(reader, &inside->keys[i], held[i].raw);
        inside->keys[i].held = (uint32_t)i + 1;
    }
    free(inside->held);
    inside->held = held;
    inside->held_count = left;
    inside->keys_count = left;
}

/* Forgets cached pages of a running program, whose strings may change, and
 * which of them cannot. If it has ended, the caller keeps them: they are all
 * that is left. */
static void pages_forget(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    memset(inside->constants, 0, sizeof inside->constants);
    if (reader->memory->live && inside->pages)
        for (size_t i = 0; i < PAGES; i++)
            inside->pages[i].address = 0;
}

const char *reader_take(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    const char *wrong = NULL, *gone;
    bool due = inside->due = refresh_due(reader), ends;
    bool changes = due || inside->still <= PATIENCE;
    uint64_t end, limit;
    keys_hold(reader);
    if (inside->taken_before && changes)
        wrong = reader_refresh(reader, false);
    if (!wrong)
        lanes_refresh(reader);
    /* From here on, time counts: a record that is overwritten now is missed,
     * and its successor is after this take's end. */
    gone = end_and_kernel(reader);
    ends = wrong || gone;
    if (!inside->another &&
        (gone || !(reader->follows || reader->logs) ||
         reader->memory->stale_order || !is_still(inside, reader->end) ||
         (reader->logs && inside->pending))) {
        lanes_take(reader);
        if (!gone)
            lives_renew(reader);
        lives_of_file(reader);
    }
    if (!ends && !wrong && changes)
        wrong = threads_renew(reader, due && inside->taken_before);
    if (!ends)
        pages_forget(reader);
    wrong = gone ? gone : wrong;
    /* A program that has ended gets all records delivered that were seen. */
    end = reader->memory->stale_order ? keys_end(inside)
                                      : order_key(reader, reader->end);
    reader->end = (end + inside->base) & word_max(reader->memory);
    limit = wrong ? UINT64_MAX : limit_of(reader, end);
    if (!wrong && inside->kernel && reader->kernel)
        limit = kernel_add(reader, end, limit);
    keys_sort(inside, limit);
    clock_settle(reader);
    inside->taken_before = true;
    if (reader->by_time)
        keys_by_time(reader);
    if (reader->calls)
        calls_expand(reader);
    if (reader->follows)
        events_look(reader);
    reader_rewind(reader);
    return wrong;
}
