/* save.c - recorder save: writes a recording of a running program. */
/* SPDX-License-Identifier: MIT */
/*
   A recording is a core file (see recorder/file_core.h). This one holds the
   rings as they were taken, whole records only, and each byte of the program
   that an answer depends on (`needs` of struct memory), but no byte beside it,
   which may be a secret:
       registry, recorders, names, tweaks, thread table, line format
       formats, and the texts that records point to, up to their end
       the head of each module, with its build-id
       of tasks: their described members, contexts, and on their stacks the
       words that are addresses; and the dynamic linker's list of libraries
*/
#include "array.h"
#include "inside.h"
#include "labels.h"
#include "made.h"
#include "print.h"
#include "recording.h"
#include "tasks.h"

enum { TEXTS_MAX = 1 << 30, PAGE_WORDS = PAGE_BYTES / 8 };
enum { OPTION_NO_STACKS = OPTION_OWN, OPTION_FUNCTIONS };

/* Memory that keeps the pages that were read, and notes which bytes of them are
 * for the recording. */
struct kept_page {
    uint64_t address;
    /* A bit for each byte. */
    unsigned char there[PAGE_WORDS], needed[PAGE_WORDS], zeros[PAGE_WORDS];
    unsigned char bytes[PAGE_BYTES];
};
struct keeper {
    struct memory memory; /* first: the reader is given its address */
    struct memory *of;
    struct reader *reader; /* its rings are saved by ring_add(), not as pages */
    struct ids ids;        /* of their addresses */
    struct kept_page **pages; /* by that number */
    size_t max;
    bool fresh; /* memory is read again: the recording must be of one moment */
    bool ended; /* the process ended before all was read */
};

static size_t source_read(struct keeper *keeper, uint64_t address, void *to,
                          size_t size)
{
    size_t got;
    errno = 0;
    got = keeper->of->read(keeper->of, address, to, size);
    keeper->ended |= got < size && errno == ESRCH;
    return got;
}

static bool in_ring(const struct keeper *keeper, uint64_t address)
{
    return recorder_by_address(keeper->reader, address) != NULL;
}

static void bits_set(unsigned char bits[PAGE_WORDS], size_t from, size_t size)
{
    for (size_t i = from; i < from + size; i++)
        bits[i / 8] |= 1u << i % 8;
}
static bool bit_at(const unsigned char bits[PAGE_WORDS], size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

/* Of a file there may be pieces of a page. */
static struct kept_page *page_keep(struct keeper *keeper, uint64_t address)
{
    struct kept_page *page;
    bool is_new;
    size_t got = 1, at, i = ids_add(&keeper->ids, address, 0, 0, &is_new);
    if (!is_new)
        return keeper->pages[i];
    page = need(calloc(1, sizeof *page));
    page->address = address;
    for (at = 0; at < PAGE_BYTES && (got || keeper->of->map);
         at += got ? got : 8 - at % 8) {
        got = source_read(keeper, address + at, page->bytes + at,
                          PAGE_BYTES - at);
        bits_set(page->there, at, got);
    }
    ARRAY_NEED(keeper->pages, i + 1, keeper->max);
    return keeper->pages[i] = page;
}

static size_t keeper_read(struct memory *memory, uint64_t address, void *to,
                          size_t size)
{
    struct keeper *keeper = (struct keeper *)memory;
    size_t done = 0;
    if (in_ring(keeper, address))
        return source_read(keeper, address, to, size);
    while (done < size) {
        uint64_t at = (address + done) % PAGE_BYTES;
        struct kept_page *page = page_keep(keeper, address + done - at);
        size_t piece = 0;
        while (piece < size - done && at + piece < PAGE_BYTES &&
               bit_at(page->there, at + piece))
            piece++;
        if (!piece)
            break;
        if (keeper->fresh)
            source_read(keeper, address + done, page->bytes + at, piece);
        memcpy((char *)to + done, page->bytes + at, piece);
        done += piece;
    }
    return done;
}

/* As struct memory's. */
static void keeper_needs(struct memory *memory, uint64_t address, size_t size,
                         bool zeros)
{
    struct keeper *keeper = (struct keeper *)memory;
    while (size && !in_ring(keeper, address)) {
        uint64_t at = address % PAGE_BYTES;
        struct kept_page *page = page_keep(keeper, address - at);
        size_t piece = size < PAGE_BYTES - at ? size : PAGE_BYTES - at;
        bits_set(zeros ? page->zeros : page->needed, at, piece);
        address += piece;
        size -= piece;
    }
}

/* Changes bytes of a kept page. */
static void keeper_put(struct memory *memory, uint64_t address,
                       const unsigned char *from, size_t size)
{
    struct keeper *keeper = (struct keeper *)memory;
    for (size_t i = 0; i < size; i++) {
        uint64_t at = (address + i) % PAGE_BYTES;
        struct kept_page *page = page_keep(keeper, address + i - at);
        page->bytes[at] = from[i];
    }
    keeper_needs(memory, address, size, false);
}

/* Stores in the recording how fast ticks ran. */
static void clock_keep(struct keeper *keeper)
{
    const struct reader *reader = keeper->reader;
    const struct offsets *at = offsets_of(&keeper->memory);
    unsigned char set[4], bytes[3 * 8];
    if (!core_later(reader, bytes, set))
        return;
    keeper_put(&keeper->memory, reader->registry + at->registry_later, bytes,
               sizeof bytes);
    keeper_put(&keeper->memory, reader->registry + at->registry_later_sequence,
               set, sizeof set);
}

static void keeper_open(struct keeper *keeper, struct call *call)
{
    struct memory *of = call->source.memory;
    *keeper = (struct keeper){.memory = *of, .of = of, .reader = &call->reader};
    keeper->memory.base = memory_base(of);
    keeper->memory.read = keeper_read;
    keeper->memory.map = NULL;
    keeper->memory.write = NULL;
    keeper->memory.needs = keeper_needs;
}

static void keeper_close(struct keeper *keeper)
{
    for (size_t i = 0; i < keeper->ids.count; i++)
        free(keeper->pages[i]);
    ids_free(&keeper->ids);
    free(keeper->pages);
}

/* -------------------------------------------------------------- segments -- */

/* True if a record is of this take, and not of a later time: where switches
 * follow, they have its order. */
static bool is_taken(const struct reader *reader, const unsigned char *raw)
{
    const struct memory *m = reader->memory;
    uint64_t order = bytes_word(m, raw + offsets_of(m)->record_order);
    return !reader_kernel_count(reader) ||
           order_key(reader, order) < order_key(reader, reader->end);
}

/* Leaves in a copy of records and commit words only whole records: other slots
 * get a commit word of 0. */
static void slots_clean(const struct reader *reader, const struct lane *lane,
                        unsigned char *records, unsigned char *commits)
{
    size_t word = reader->memory->word_bytes, slot;
    size_t bytes = offsets_of(reader->memory)->record_size;
    unsigned char raw[RECORD_MAX_BYTES];
    for (slot = 0; slot < lane->recorder->figures.size; slot++)
        if (!lane_record(reader, lane, slot, raw) || !is_taken(reader, raw))
            memset(commits + slot * word, 0, word);
        else if (!lane->copy) {
            memcpy(records + slot * bytes, raw, bytes);
            memcpy(commits + slot * word, lane->commits + slot * word, word);
        }
}

/* Adds a ring, with whole records only. A copy that the reader has is written
 * as it is; of a mapped file, which may change, one is made. */
static void ring_add(struct keeper *keeper, struct reader *reader,
                     const struct lane *lane, struct pieces *pieces)
{
    size_t slots = lane->recorder->figures.size;
    size_t all = ring_end_at(reader, slots);
    size_t head = ring_records_at(reader), turns = ring_turns_at(reader, slots);
    size_t commits = ring_commits_at(reader, slots) - head;
    size_t rest = all - turns;
    unsigned char *ring = need(calloc(1, head + rest)), *records = lane->copy;
    source_read(keeper, lane->address, ring, head);
    source_read(keeper, lane->address + turns, ring + head, rest);
    if (!records)
        records = need(calloc(1, turns - head));
    slots_clean(reader, lane, records, records + commits);
    piece_add(pieces, lane->address, head, ring, ring);
    piece_add(pieces, lane->address + head, turns - head, records,
              lane->copy ? NULL : records);
    piece_add(pieces, lane->address + turns, rest, ring + head, NULL);
}

/* Also keeps words that are at most `apart` words from kept ones on both sides.
 * Returns the number of runs of kept words in the page. */
static size_t page_join(struct kept_page *page, size_t apart)
{
    size_t runs = 0, end = 0, at;
    for (at = 0; at < PAGE_WORDS; at++) {
        if (!(page->needed[at] | page->zeros[at]))
            continue;
        if (!end || at - end >= apart)
            runs++;
        else
            memset(page->zeros + end, 0xff, at - end);
        end = at + 1;
    }
    return runs;
}

/* Adds a page's kept words. Bytes in them that nothing depends on become zeros:
 * they may be a secret, but not where they are of a file. */
static void page_add(struct kept_page *page, bool constant,
                     struct pieces *pieces)
{
    size_t start = 0, at;
    for (at = 0; !constant && at < PAGE_BYTES; at++)
        if (!bit_at(page->needed, at))
            page->bytes[at] = 0;
    for (at = 0; at <= PAGE_WORDS; at++) {
        if (at < PAGE_WORDS && page->there[at] &&
            (page->needed[at] | page->zeros[at]))
            continue;
        if (start < at)
            piece_add(pieces, page->address + 8 * start, 8 * (at - start),
                      page->bytes + 8 * start, NULL);
        start = at + 1;
    }
}

/* Adds the bytes that answers depend on. A core file has 65535 segments at
 * most, and a debugger searches them one by one. */
static void pages_add(const struct keeper *keeper, struct pieces *pieces)
{
    enum { RUNS_MAX = 16384 };
    struct memory *of = keeper->of;
    size_t runs = RUNS_MAX + 1, apart, i;
    for (apart = 1; runs > RUNS_MAX && apart <= PAGE_WORDS; apart *= 8)
        for (runs = i = 0; i < keeper->ids.count; i++)
            runs += page_join(keeper->pages[i], apart);
    for (i = 0; i < keeper->ids.count; i++) {
        struct kept_page *page = keeper->pages[i];
        page_add(page, of->constant && of->constant(of, page->address), pieces);
    }
    pieces_sort(pieces);
}

/* Reads everything once, through the keeper: of events, formats and texts. */
static void look_at_all(struct call *call, struct keeper *keeper,
                        struct requests *requests)
{
    struct reader_text texts[12];
    struct reader_event event;
    const char *wrong;
    size_t size;
    reader_close(&call->reader);
    wrong = reader_open(&call->reader, &keeper->memory, call->source.registry);
    if (wrong)
        fail(call, "%s", wrong);
    call->reader.kernel = true;
    keeper->fresh = true; /* the records of the program and of the kernel */
    call_take_all(call);
    keeper->fresh = false;
    reader_head(&call->reader, &size);
    while (reader_next(&call->reader, &event)) {
        reader_texts(&call->reader, &event, texts);
        requests_add(requests, &call->reader, &event);
    }
    if (call_option(call, OPTION_FUNCTIONS))
        functions_keep(call);
}

/* Gives the file its name, or fails if readers would refuse the recording: in a
 * damaged source, a ring may overlap a list, which is then not saved. */
static void recording_close(struct call *call, struct output *output)
{
    const struct source_how how = {0};
    struct source source;
    struct reader reader;
    char path[32];
    const char *wrong;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(output->file));
    wrong = source_open(&source, path, &how);
    if (!wrong)
        wrong = reader_open(&reader, source.memory, source.registry);
    if (wrong)
        fail(call, "it is damaged, and a recording of it would be: %s", wrong);
    reader_close(&reader);
    source_close(&source);
    output_close(output);
}

/* ------------------------------------------------------- events or memory -- */

/* Gives each chosen recorder a ring for its chosen events. */
static void rings_make(struct call *call, struct made *made)
{
    struct reader *reader = &call->reader;
    struct reader_event event;
    uint64_t *slots = need(calloc(reader->recorders_count + 1, sizeof *slots));
    size_t i;
    for (i = 0; i < reader->recorders_count; i++)
        reader->recorders[i]->kept = i;
    while (reader_next(reader, &event)) {
        slots[event.recorder->kept] += made_slots(&event.raw);
        requests_add(made->requests, reader, &event);
    }
    for (i = 0; i < reader->recorders_count; i++) {
        struct reader_recorder *r = reader->recorders[i];
        struct made_ring *ring;
        if (!r->chosen || r->wrong)
            continue;
        ring = made_ring(made, r, slots[i]);
        ring->lost = r->figures.lost;
        ring->kept[KEPT_OVERWRITTEN] = r->figures.overwritten;
        ring->kept[KEPT_SLOTS_OVERWRITTEN] = r->figures.slots_overwritten;
        ring->kept[KEPT_ESTIMATED] = r->figures.estimated;
        ring->kept[KEPT_MISSED] = r->figures.missed;
        ring->kept[KEPT_LEFT_OUT] = r->figures.left_out + r->figures.kept;
    }
    free(slots);
    reader_rewind(reader);
}

/* Writes the chosen events. */
static void save_events(struct call *call, const char *path)
{
    struct requests requests = {0};
    struct made made = {.requests = &requests};
    struct reader_event event;
    struct output output;
    const char *wrong;
    bool done = true;
    call_take(call);
    reader_count(&call->reader);
    if (call_option(call, OPTION_FUNCTIONS))
        functions_keep(call);
    rings_make(call, &made);
    output_open(&output, call, path);
    output_seekable(&output);
    wrong = made_begin(&made, call, fileno(output.file), TEXTS_MAX);
    if (wrong)
        fail(call, "%s: %s", path, wrong);
    while (done && reader_next(&call->reader, &event)) {
        if (!made_add(&made, &call->reader, &event))
            fail(call, "%s: its texts have more than %d bytes", path,
                 TEXTS_MAX);
        made.rings[event.recorder->kept - 1].kept[KEPT_LEFT_OUT]--;
        if (made.events % 65536 == 0)
            done = made_flush(&made);
    }
    if (!done || !made_end(&made))
        fail(call, "%s: %s", path, strerror(errno));
    made_free(&made);
    made_close(&made);
    recording_close(call, &output);
}

/* Writes the memory of a program, as far as a reader of its events, threads and
 * tasks looked at it. */
static void save_memory(struct call *call, const char *path)
{
    unsigned char head[PAGE_BYTES];
    struct keeper keeper;
    struct pieces pieces = {0};
    struct notes notes = {0};
    struct requests requests = {0};
    struct output output;
    keeper_open(&keeper, call);
    look_at_all(call, &keeper, &requests);
    clock_keep(&keeper);
    if (!call_option(call, OPTION_NO_STACKS))
        tasks_save(call, &keeper.memory, keeper_put, &notes);
    for (size_t i = 0; i < call->reader.inside->lanes_count; i++)
        ring_add(&keeper, &call->reader, &call->reader.inside->lanes[i],
                 &pieces);
    for (size_t i = 0; i < call->source.modules_count; i++) {
        const struct module *module = &call->source.modules[i];
        size_t size = module_head(&keeper.memory, module, head);
        bytes_need(&keeper.memory, module->start, size);
    }
    pages_add(&keeper, &pieces);
    pending_switches_add(call, keeper_put, &keeper.memory, &pieces);
    notes_make(&notes, call, &requests);
    free(notes.statuses);
    if (keeper.ended)
        fail(call, "has ended while it was saved");
    output_open(&output, call, path);
    output_seekable(&output);
    core_write(call, fileno(output.file), &notes, &pieces);
    recording_close(call, &output);
    reader_close(&call->reader); /* its memory is the keeper's */
    for (size_t i = 0; i < pieces.count; i++)
        free(pieces.all[i].owned);
    keeper_close(&keeper);
    free(pieces.all);
    free(notes.bytes);
}

/* ------------------------------------------------------------------ verb -- */

static int save(struct call *call)
{
    const char *path = call_option(call, 'o');
    if (!path)
        misuse(call, "-o FILE is missing");
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        misuse(call, "-o -: standard output is a terminal");
    call_open(call, 0);
    /* A ring that was made of events is made again: its pages are not from a
     * program. */
    if (call_selects(call) ||
        (!call->source.pid &&
         call->reader.inside->head_bytes == KEPT_HEAD_BYTES))
        save_events(call, path);
    else
        save_memory(call, path);
    return 0;
}

static const struct option_row rows[] = {
    {'o', "output", "FILE",
     "the recording; written whole, or not at all; - is stdout"},
    {OPTION_NO_STACKS, "no-stacks", NULL,
     "without the tasks of a scheduler, and their stacks"},
    {OPTION_FUNCTIONS, "functions", NULL,
     "with the names of the functions that recorded, for dump --function "
     "without the program's files"},
    ROW_LABEL_SAVED,
    {0, NULL, NULL, NULL}};

const struct verb verb_save = {
    .name = "save",
    .arguments = "SOURCE",
    .summary = "writes a recording of a program or of a core file",
    .help =
        "The recording is readable without the program and its libraries; gdb "
        "opens it, too: gdb PROGRAM -c FILE. With options that choose events, "
        "the recording has only these events; dump and list report the number "
        "of omitted records. A text that may have changed before it was read "
        "keeps its mark ~. Switches in the kernel's rings are included, in a "
        "separate recorder if no events are chosen.\n\n"
        "If the program has a scheduler (recorder tasks), the recording has "
        "its tasks and their stacks: a debugger shows each as a thread, with "
        "an id of 5000000 and its number in the thread table.",
    .rows = rows,
    .selects = true,
    .kernel = true,
    .run = save};
