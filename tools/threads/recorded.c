/* recorded.c - reads records of `recorder run` of threads and locks. */
/* SPDX-License-Identifier: MIT */
#include "recorded.h"
#include "array.h"
#include "bytes.h"
#include "entry.h"

#define NAMES                                                                  \
    "thread_life|thread_self|thread_now|thread_held|thread_calls|lock_wait|"   \
    "lock_total|lock_order|call_stack|slow_call"

/* ---------------------------------------------------------------- pasts -- */

size_t recorded_heir(const struct recorded *recorded, size_t past)
{
    while (recorded->pasts[past].heir)
        past = recorded->pasts[past].heir - 1;
    return past;
}

struct past *recorded_past(const struct recorded *recorded, unsigned number)
{
    size_t at = ids_find(&recorded->numbers, number, 0, 0);
    return at == IDS_NONE ? NULL
                          : &recorded->pasts[recorded_heir(recorded, at)];
}

/* The past of the thread that recorded an event, made if need be. */
static struct past *past_make(struct recorded *recorded,
                              const struct reader_thread *thread)
{
    bool is_new;
    struct past *past =
        array_at_key(recorded->pasts, &recorded->numbers, recorded->pasts_max,
                     thread->number, 0, 0, &is_new);
    if (!is_new)
        return past;
    recorded->pasts_count++;
    *past = (struct past){.number = thread->number,
                          .id = thread->id,
                          .is_named = thread->is_named,
                          .made_ns = NS_UNKNOWN,
                          .ended_ns = NS_UNKNOWN,
                          .ended = thread->known && !thread->alive,
                          .index = THREAD_NONE};
    memcpy(past->name, thread->name, sizeof past->name);
    past->name[sizeof past->name - 1] = '\0';
    return past;
}

/* --------------------------------------------------------------- threads -- */

static void stranger_read(const struct entry *entry)
{
    struct past *past = entry->past;
    past->has_self = true;
    past->handle = entry->word[0];
    past->stack_bytes = entry->word[1];
    past->stack_high = entry->word[2] ? entry->word[2] : entry->word[0];
    memcpy(past->held_stacks, entry->word + 9, sizeof past->held_stacks);
}

/* Returns when pthread_create() was called: the entry's time, which is later,
 * less the ticks in between. `called`: in ticks; 0: unknown. */
static int64_t called_ns(const struct entry *entry, uint64_t called)
{
    const struct reader *reader = &entry->recorded->reader;
    uint64_t ticks = entry->event->event.time;
    ticks -= (ticks - called) & word_max(reader->memory);
    return called ? recorder_clock_time_(&reader->clock, ticks)
                  : entry->event->ns;
}

/* A thread that another one made: it runs, or has ended. */
static void made_read(const struct entry *entry)
{
    struct past *past = entry->past;
    const uint64_t *word = entry->word;
    past->has_self = past->is_made = true;
    past->ended |= entry->is == RUN_EVENT_over;
    past->handle = past->stack_high = word[0];
    past->maker = (unsigned)word[1];
    past->start = word[2];
    past->argument = word[3];
    past->first = word[4];
    past->made_stack = word[5];
    past->stack_bytes = word[7];
    past->after = word[8];
    memcpy(past->held_stacks, word + 9, sizeof past->held_stacks);
    past->made_at = entry->event->event.caller;
    if (entry->is != RUN_EVENT_over) /* its time, the end, may be much later */
        past->made_ns = called_ns(entry, word[6]);
}

/* fork() copied a thread: all earlier records are of the parent's threads. An
 * heir follows its thread in the list, so that chains of heirs end. */
static void fork_read(const struct entry *entry)
{
    struct recorded *recorded = entry->recorded;
    unsigned number = (unsigned)entry->word[0];
    size_t own = (size_t)(entry->past - recorded->pasts);
    size_t was = ids_find(&recorded->numbers, number, 0, 0);
    for (size_t i = 0; i < recorded->pasts_count; i++)
        recorded->pasts[i].is_parents |= i != own;
    entry->past->forked_from = number;
    if (was < own) /* IDS_NONE is larger */
        recorded->pasts[was].heir = own + 1;
}

static void held_read(const struct entry *entry)
{
    struct past *past = entry->past;
    past->holds_count = 0;
    for (int i = 0; i < HOLDS_MAX; i++)
        if (entry->word[2 * i])
            past->holds[past->holds_count++] =
                hold_of(entry->word[2 * i], entry->word[2 * i + 1],
                        (uint64_t)i); /* holds_join() */
}

static void started_read(const struct entry *entry)
{
    struct past *past = entry->past;
    const uint64_t *word = entry->word;
    past->is_made = true;
    past->start = word[0];
    past->argument = word[1];
    past->handle = word[2];
    past->maker = (unsigned)word[3];
    past->made_stack = word[4];
    past->after = word[5];
    past->made_at = entry->event->event.caller;
    past->made_ns = called_ns(entry, word[6]);
}

static void unseen_read(const struct entry *entry)
{
    if (entry->is == RUN_EVENT_unseen)
        entry->recorded->seen_most = (unsigned)entry->word[0];
    else
        entry->recorded->is_sandboxed = true;
}

/* Reads the call in which the thread was: the address of the format ">read%s" of a
 * record that was not made yet, a descriptor, a time. */
static void call_now_read(const struct entry *entry)
{
    struct reader *reader = &entry->recorded->reader;
    const struct recorder_event event = {.format = entry->word[1]};
    struct past *past = entry->past;
    const char *location, *name;
    free(past->call);
    past->call = NULL;
    if (!entry->word[3] || !event.format)
        return;
    name = reader_format(reader, &event, &location);
    name = name ? strchr(name, '>') : NULL;
    if (!name)
        return;
    past->call = need_text("%.*s", (int)strcspn(name + 1, "%"), name + 1);
    past->call_fd = (int32_t)entry->word[2];
    past->call_ns = recorder_clock_time_(&reader->clock, entry->word[3]);
}

static void calls_read(const struct entry *entry)
{
    struct past *past = entry->past;
    past->locks = entry->word[0] + entry->word[5]; /* in two words once */
    past->has_calls = true;
    if (entry->is != RUN_EVENT_ended) {
        call_now_read(entry);
        return;
    }
    past->ended = true;
    past->ended_ns = entry->event->ns;
}

/* ----------------------------------------------------------------- waits -- */

/* True if the second word of a wait is the holder's kernel id. */
static bool tells_holder(enum wait_kind kind)
{
    return kind == WAIT_MUTEX || kind == WAIT_READ || kind == WAIT_WRITE;
}

static void now_read(const struct entry *entry)
{
    struct past *past = entry->past;
    const uint64_t *word = entry->word;
    enum wait_kind kind = entry->kind;
    past->waits = word[3] == 0;
    past->wait_order = entry->event->event.order;
    past->wait_stack = word[2];
    past->wait_site = entry->event->event.caller;
    past->wait_ns = entry->event->ns;
    past->wait = (struct wait){.kind = kind,
                               .object = word[0],
                               .timed = entry->timed,
                               .holder = THREAD_NONE,
                               .fd = -1};
    if (tells_holder(kind))
        past->wait.holder_id = (int32_t)word[1];
}

/* Adds to the list of waits, or of calls. */
static struct span *span_make(struct recorded *recorded, size_t past,
                              enum wait_kind kind)
{
    struct span *span = kind == WAIT_CALL
                            ? array_add(recorded->calls, recorded->calls_count,
                                        recorded->calls_max)
                            : array_add(recorded->spans, recorded->spans_count,
                                        recorded->spans_max);
    *span = (struct span){.past = past,
                          .kind = kind,
                          .begin_ns = NS_UNKNOWN,
                          .end_ns = NS_UNKNOWN,
                          .given_ns = NS_UNKNOWN,
                          .first_ns = NS_UNKNOWN};
    return span;
}
/* The same of an event. */
static struct span *span_of(const struct entry *entry)
{
    struct recorded *recorded = entry->recorded;
    struct span *span = span_make(
        recorded, (size_t)(entry->past - recorded->pasts), entry->kind);
    span->object = entry->word[0];
    span->site = entry->event->event.caller;
    return span;
}

/* The time some ticks before an event's; 0 ticks: it is not known. */
static int64_t ns_before(const struct entry *entry, uint64_t ticks)
{
    uint64_t time = entry->event->event.time;
    if (!ticks || ticks > time)
        return NS_UNKNOWN;
    return recorder_clock_time_(&entry->recorded->reader.clock, time - ticks);
}

/* The record of a call's end has all words of the call. */
static void call_read(const struct entry *entry)
{
    struct recorded *recorded = entry->recorded;
    const uint64_t *word = entry->word;
    char file[512] = "";
    size_t size;
    const char *name = reader_message(&recorded->reader, entry->event, &size);
    struct span *span = span_of(entry);
    span->begin_ns = ns_before(entry, word[4]);
    span->end_ns = entry->event->ns;
    span->stack = word[5];
    span->returned = (int32_t)word[1];
    span->asked = word[2];
    span->result = (int32_t)word[3];
    name += *name == '<';
    reader_word_text(&recorded->reader, entry->event, 0, file, sizeof file);
    span->call = need_text("%.*s%s", (int)strcspn(name, " :"), name, file);
}

/* Waits of a thread follow each other: an end belongs to the last beginning. */
static void wait_read(const struct entry *entry)
{
    struct recorded *recorded = entry->recorded;
    struct past *past = entry->past;
    bool is_begin = entry->is == RUN_EVENT_begins;
    struct span *span;
    if (entry->kind == WAIT_CALL) {
        if (!is_begin)
            call_read(entry);
        return;
    }
    if (recorded->first_ns == NS_UNKNOWN)
        recorded->first_ns = entry->event->ns;
    span = past->span ? &recorded->spans[past->span - 1] : NULL;
    if (is_begin || !span || span->object != entry->word[0])
        span = span_of(entry);
    past->span = 0;
    if (is_begin) {
        past->span = recorded->spans_count;
        span->begin_ns = entry->event->ns;
        span->stack = entry->word[2];
        if (tells_holder(entry->kind))
            span->holder_id = (int32_t)entry->word[1];
    } else {
        span->end_ns = entry->event->ns;
        span->result = (int32_t)entry->word[1];
        span->by = (unsigned)entry->word[2];
        if (span->by) {
            span->given_ns = ns_before(entry, entry->word[4]);
            span->first_ns = ns_before(entry, entry->word[5]);
        }
    }
}

/* ---------------------------------------------------------------- stacks -- */

struct stack *recorded_stack(const struct recorded *recorded, uint64_t number)
{
    size_t at = ids_find(&recorded->stack_ids, number, 0, 0);
    return at == IDS_NONE ? NULL : &recorded->stacks[at];
}

/* A piece of a file: its path, size and words of its build-id. Without a
 * build-id, code at these addresses may be another file's. */
static void module_read(const struct entry *entry)
{
    struct recorded *recorded = entry->recorded;
    const struct memory *memory = recorded->reader.memory;
    const uint64_t *word = entry->word;
    unsigned char id[6 * 8];
    struct code_file *to;
    char path[1024];
    if (word[3] == 0 || word[3] > sizeof to->id ||
        !reader_word_text(&recorded->reader, entry->event, 2, path,
                          sizeof path))
        return;
    to = array_add(recorded->files, recorded->files_count, recorded->files_max);
    *to = (struct code_file){.start = word[0],
                             .end = word[1],
                             .path = need(strdup(path)),
                             .id_size = (unsigned)word[3]};
    for (unsigned i = 0; i < 6; i++)
        bytes_put_word(memory, id + i * memory->word_bytes, word[4 + i]);
    memcpy(to->id, id, sizeof to->id);
}

/* Returns true if the addresses had another file, too, earlier or later. */
static bool is_ambiguous(const struct recorded *recorded, size_t which)
{
    const struct code_file *all = recorded->files, *own = &all[which];
    for (size_t i = 0; i < recorded->files_count; i++)
        if (all[i].start < own->end && own->start < all[i].end &&
            memcmp(all[i].id, own->id, sizeof own->id) != 0)
            return true;
    return false;
}

void recorded_files(const struct recorded *recorded, struct source *source)
{
    for (size_t i = 0; i < recorded->files_count; i++) {
        const struct code_file *from = &recorded->files[i];
        if (!is_ambiguous(recorded, i))
            source_module_late(source, from->start, from->end, from->path,
                               from->id, from->id_size);
    }
}

/* Ten frames a record, of which the last is filled up with zeros. */
static void stack_read(const struct entry *entry)
{
    struct recorded *recorded = entry->recorded;
    const uint64_t *word = entry->word;
    struct stack *stack;
    bool is_new;
    if (!word[0] || word[1] >= FRAMES_MAX)
        return;
    stack = array_at_key(recorded->stacks, &recorded->stack_ids,
                         recorded->stacks_max, word[0], 0, 0, &is_new);
    if (is_new)
        *stack = (struct stack){
            .number = word[0],
            .frames = need(calloc(FRAMES_MAX, sizeof *stack->frames))};
    if (word[1] != stack->count) /* a piece before it was overwritten */
        return;
    for (int i = 2; i < 12 && word[i] && stack->count < FRAMES_MAX; i++)
        stack->frames[stack->count++] = word[i];
}

/* The number of the first stack that has the same frames. */
static uint64_t stack_same(const struct recorded *recorded, uint64_t number)
{
    size_t at = ids_find(&recorded->stack_ids, number, 0, 0);
    return at == IDS_NONE ? number : recorded->stacks[at].same;
}

/* Two threads that reach one place for the first time together give its stack
 * two numbers: the first counts for both. */
static void stacks_join(struct recorded *recorded)
{
    struct ids known = {0};
    for (size_t i = 0; i < recorded->stack_ids.count; i++) {
        struct stack *stack = &recorded->stacks[i], *first;
        uint64_t sum = 0, product = 1;
        bool is_new;
        size_t at;
        for (unsigned k = 0; k < stack->count; k++) {
            sum = (sum ^ stack->frames[k]) * 0x9e3779b97f4a7c15u;
            product = (product + stack->frames[k]) * 0xbf58476d1ce4e5b9u;
        }
        stack->same = stack->number;
        if (stack->has_snapshot) /* they differ above the call */
            continue;
        at = ids_add(&known, sum, product, stack->count, &is_new);
        recorded->stacks[at].first = is_new ? i : recorded->stacks[at].first;
        first = &recorded->stacks[recorded->stacks[at].first];
        if (memcmp(first->frames, stack->frames,
                   sizeof *stack->frames * stack->count) == 0)
            stack->same = first->number;
    }
    ids_free(&known);
    for (size_t i = 0; i < recorded->pasts_count; i++) {
        struct past *past = &recorded->pasts[i];
        past->made_stack = stack_same(recorded, past->made_stack);
        past->wait_stack = stack_same(recorded, past->wait_stack);
    }
}

/* ------------------------------------------------------------------ read -- */

/* The stack of code without tables: see run/snapshot.h. */
static void snapshot_read(const struct entry *entry)
{
    struct stack *stack = recorded_stack(entry->recorded, entry->word[0]);
    if (stack)
        entry->recorded->has_snapshots = stack->has_snapshot = true;
}

/* Takes a word of an event's heading. */
static bool takes(const char **words, const char *word)
{
    size_t size = strlen(word);
    if (strncmp(*words, word, size) != 0 || (*words)[size] > ' ')
        return false;
    *words += size + ((*words)[size] == ' ');
    return true;
}

bool heading_read(struct entry *entry, const char *words)
{
    if (!words || !takes(&words, RUN_SCHEMA))
        return false;
#define EVENT(name)                                                            \
    if (takes(&words, #name))                                                  \
        entry->is = RUN_EVENT_##name;                                          \
    else
#define KIND(name, of)                                                         \
    if (takes(&words, #name))                                                  \
        entry->kind = of;                                                      \
    else
    RUN_EVENTS(EVENT) return true;
    RUN_KINDS(KIND)
    if (entry->is >= RUN_EVENT_waits && entry->is <= RUN_EVENT_total)
        entry->is = RUN_EVENT_NONE; /* of a kind that is not known here */
    entry->timed = takes(&words, "until");
    return true;
}

/* The readers of events; null: not needed. */
static void (*const readers[])(const struct entry *) = {
    [RUN_EVENT_stranger] = stranger_read, [RUN_EVENT_made] = made_read,
    [RUN_EVENT_over] = made_read,         [RUN_EVENT_started] = started_read,
    [RUN_EVENT_joined] = join_read,       [RUN_EVENT_forked] = fork_read,
    [RUN_EVENT_unseen] = unseen_read,     [RUN_EVENT_sandboxed] = unseen_read,
    [RUN_EVENT_ended] = calls_read,       [RUN_EVENT_holds] = held_read,
    [RUN_EVENT_calls] = calls_read,       [RUN_EVENT_waits] = now_read,
    [RUN_EVENT_begins] = wait_read,       [RUN_EVENT_ends] = wait_read,
    [RUN_EVENT_total] = total_read,       [RUN_EVENT_pair] = order_read,
    [RUN_EVENT_chain] = order_read,       [RUN_EVENT_gone] = order_read,
    [RUN_EVENT_stack] = stack_read,       [RUN_EVENT_module] = module_read,
    [RUN_EVENT_snapshot] = snapshot_read};

static void event_read(struct recorded *recorded,
                       const struct reader_event *event)
{
    const char *location;
    struct entry entry = {
        .recorded = recorded, .event = event, .word = event->event.argument};
    if (!heading_read(&entry, event->kind)) {
        reader_format(&recorded->reader, &event->event, &location);
        recorded->is_other |= strcmp(location, RUN_LOCATION) == 0;
        return;
    }
    if (event->thread)
        entry.past = past_make(recorded, event->thread);
    if (entry.past && event->ns != NS_UNKNOWN &&
        event->ns > entry.past->last_ns)
        entry.past->last_ns = event->ns;
    if (event->ns != NS_UNKNOWN && event->ns > recorded->last_ns)
        recorded->last_ns = event->ns;
    if (entry.is < sizeof readers / sizeof *readers && readers[entry.is] &&
        (entry.past || entry.is == RUN_EVENT_total ||
         entry.is == RUN_EVENT_gone || entry.is >= RUN_EVENT_stack))
        readers[entry.is](&entry); /* or it is an event of no thread */
}

/* A thread is in the call of its cell unless it has a later record. */
static void calls_now(struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->pasts_count; i++) {
        struct past *past = &recorded->pasts[i];
        struct span *span;
        char fd[16] = "";
        if (past->call && (past->ended || past->call_ns < past->last_ns)) {
            free(past->call);
            past->call = NULL;
        }
        if (!past->call)
            continue;
        if (past->call_fd >= 0)
            snprintf(fd, sizeof fd, " %d", past->call_fd);
        span = span_make(recorded, i, WAIT_CALL);
        span->begin_ns = past->call_ns;
        span->call = need_text("%s%s", past->call, fd);
    }
}

/* Waits have the first of equal stacks; those before fork() are of the heir in
 * the child. */
static void spans_join(const struct recorded *recorded, struct span *spans,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        spans[i].stack = stack_same(recorded, spans[i].stack);
        spans[i].past = recorded_heir(recorded, spans[i].past);
    }
}

/* If a lock is taken while its thread's words are read, its stack is of another
 * call. */
static void hold_join(const struct recorded *recorded, struct hold *hold,
                      uint64_t stack)
{
    const struct stack *is = recorded_stack(recorded, stack & 0xffff);
    hold->stack =
        is && is->count && is->frames[0] == hold->site ? stack & 0xffff : 0;
}
static void holds_join(const struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->pasts_count; i++) {
        struct past *past = &recorded->pasts[i];
        for (unsigned k = 0; k < past->holds_count; k++) {
            const uint64_t at = past->holds[k].stack;
            hold_join(recorded, &past->holds[k],
                      past->held_stacks[at / 4] >> at % 4 * 16);
        }
    }
    for (size_t i = 0; i < recorded->chains_count; i++) {
        struct chain *chain = &recorded->chains[i];
        for (unsigned k = 0; k < chain->holds_count; k++)
            hold_join(recorded, &chain->holds[k], chain->holds[k].stack);
    }
}

static bool has_self(const struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->pasts_count; i++)
        if (recorded->pasts[i].has_self)
            return true;
    return false;
}

const char recorded_other[] =
    "is of another version of recorder run, and only that version's recorder "
    "reads its threads and locks; recorder dump shows its records";

struct recorded *recorded_read(const struct reader *of, const char **wrong)
{
    struct recorded *recorded = recorded_look(of, NAMES, wrong);
    if (recorded && has_self(recorded))
        return recorded;
    recorded_free(recorded);
    return NULL;
}

struct recorded *recorded_look(const struct reader *of, const char *names,
                               const char **wrong)
{
    struct recorded *recorded = need(calloc(1, sizeof *recorded));
    struct reader *reader = &recorded->reader;
    struct reader_event event;
    *wrong = reader_open(reader, of->memory, of->registry);
    if (*wrong) {
        free(recorded);
        return NULL;
    }
    recorded->first_ns = recorded->last_ns = NS_UNKNOWN;
    reader_select(reader, &(struct reader_selection){.names = names});
    *wrong = reader_take(reader);
    if (of->clock.ns_per_tick) /* times of both readers are compared */
        reader->clock = of->clock;
    while (!*wrong && reader_next(reader, &event))
        event_read(recorded, &event);
    calls_now(recorded);
    stacks_join(recorded);
    spans_join(recorded, recorded->spans, recorded->spans_count);
    spans_join(recorded, recorded->calls, recorded->calls_count);
    holds_join(recorded);
    for (size_t i = 0; i < recorded->chains_count; i++)
        recorded->chains[i].past =
            recorded_heir(recorded, recorded->chains[i].past);
    if (!*wrong && recorded->is_other)
        *wrong = recorded_other;
    if (!*wrong)
        return recorded;
    recorded_free(recorded);
    return NULL;
}

bool recorded_is_over(const struct recorded *recorded)
{
    return recorded && recorded->reader.memory->stale_order &&
           recorded->reader.ended >= RECORDER_ENDED_EXIT_;
}

void recorded_free(struct recorded *recorded)
{
    if (!recorded)
        return;
    for (size_t i = 0; i < recorded->stack_ids.count; i++)
        free(recorded->stacks[i].frames);
    ids_free(&recorded->stack_ids);
    ids_free(&recorded->numbers);
    reader_close(&recorded->reader);
    for (size_t i = 0; i < recorded->files_count; i++)
        free(recorded->files[i].path);
    free(recorded->files);
    for (size_t i = 0; i < recorded->pasts_count; i++)
        free(recorded->pasts[i].call);
    free(recorded->pasts);
    free(recorded->stacks);
    free(recorded->totals);
    for (size_t i = 0; i < recorded->calls_count; i++)
        free(recorded->calls[i].call);
    free(recorded->calls);
    free(recorded->spans);
    free(recorded->chains);
    free(recorded->joins);
    free(recorded->lives_of);
    ids_free(&recorded->lives);
    free(recorded);
}
