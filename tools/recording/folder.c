/* folder.c - a folder of chunks, a log, as one source. */
/* SPDX-License-Identifier: MIT */
/*
   The events of all chunks are written into one recording in memory, which is
   then opened like any other: it needs as much memory as the size of the log.

   A damaged chunk costs no other one: each has separate room in the result.
   Its unreadable records are reported, counted, and among the missed ones.

   A tool may still write the log: it renames finished chunks, and deletes the
   oldest. If a listed chunk is gone, the folder is listed again. Each chunk is
   read twice, to be counted and to be added, but for the last: it grows, and
   stays open, so that the same records are counted and added.
*/
#include "recording.h"
#include "array.h"
#include "made.h"

#include <dirent.h>
#include <sys/mman.h>

/* A recorder of all chunks. */
struct merged {
    char *name, *description;
    int64_t trace;
    uint64_t origin, lost;
    uint64_t whole, heads; /* of chunks: slots, records that begin in them */
    uint64_t kept[KEPT_NUMBERS];
    struct span {
        uint64_t from, to; /* positions that a chunk accounts for */
    } * spans;
    size_t spans_count, spans_max;
    struct reader_recorder as; /* the arguments of made_ring() */
};

struct chunk {
    unsigned long number;
    char path[4096];
    uint64_t hash;    /* of its figures on its recorders */
    uint64_t damaged; /* records that cannot be read, as far as is known */
    bool usable;
};
enum { LISTINGS = 10 };

struct folder {
    struct call *call;
    const struct source_how *how;
    struct chunk *chunks;
    size_t chunks_count, chunks_max;
    struct merged *recorders;
    size_t recorders_count, recorders_max;
    struct recorder_moment start; /* of the program */
    uint64_t bytes;
    struct call *last; /* of the usable chunks; it stays open */
    unsigned listings; /* that are left */
    bool changed;      /* it has to be listed again */
};

/* A file that cannot be read may be gone since it was listed. */
static void note_if_gone(struct folder *folder, const struct chunk *chunk)
{
    struct stat is;
    if (folder->listings && lstat(chunk->path, &is) != 0 && errno == ENOENT)
        folder->changed = true;
}

static int chunk_compare(const void *a, const void *b)
{
    const struct chunk *left = a, *right = b;
    return array_order(left->number, right->number, 0);
}

/* Lists the chunks. A chunk that is renamed in between may be in no list: if
 * one is missing, the folder is listed up to three times. */
static const char *chunks_find(struct folder *folder, const char *name)
{
    bool again = folder->listings > LISTINGS - 3;
    struct dirent *entry;
    DIR *from = opendir(name);
    if (!from)
        return strerror(errno);
    while ((entry = readdir(from))) {
        struct chunk *chunk;
        bool is_part;
        unsigned long number = log_chunk(entry->d_name, &is_part);
        if (!number)
            continue;
        chunk =
            array_add(folder->chunks, folder->chunks_count, folder->chunks_max);
        *chunk = (struct chunk){.number = number};
        snprintf(chunk->path, sizeof chunk->path, "%s/%s", name, entry->d_name);
    }
    closedir(from);
    if (!folder->chunks_count) {
        folder->changed = again;
        return strerror(EISDIR); /* and no log */
    }
    array_sort(folder->chunks, folder->chunks_count, chunk_compare);
    for (size_t i = 1; i < folder->chunks_count; i++)
        if (folder->chunks[i].number > folder->chunks[i - 1].number + 1)
            folder->changed = again;
    return NULL;
}

static void part_close(struct call *part)
{
    reader_close(&part->reader);
    source_close(&part->source);
}

static void chunk_close(struct call *part)
{
    if (part)
        part_close(part);
    free(part);
}

/* Opens a chunk; null, or the error, valid while `part` exists. */
static const char *chunk_look(struct folder *folder, const struct chunk *chunk,
                              struct call *part)
{
    const char *wrong;
    *part = (struct call){.verb = folder->call->verb, .name = chunk->path};
    wrong = source_open(&part->source, chunk->path, folder->how);
    if (wrong)
        return wrong;
    wrong =
        reader_open(&part->reader, part->source.memory, part->source.registry);
    if (wrong)
        source_close(&part->source);
    return wrong;
}

/* Takes the records of a chunk, too. */
static const char *chunk_take(struct folder *folder, const struct chunk *chunk,
                              struct call *part)
{
    static const struct reader_selection all;
    const char *wrong = chunk_look(folder, chunk, part);
    if (wrong)
        return wrong;
    part->reader.logs = true;
    reader_select(&part->reader, &all);
    wrong = reader_take(&part->reader);
    if (wrong)
        part_close(part);
    else
        reader_count(&part->reader);
    return wrong;
}

/* Opens a chunk and takes its records; null: `why` of the folder has the
 * error. */
static struct call *chunk_open(struct folder *folder, const struct chunk *chunk)
{
    struct source *source = &folder->call->source;
    struct call *part = need(malloc(sizeof *part));
    const char *wrong = chunk_take(folder, chunk, part);
    if (!wrong)
        return part;
    snprintf(source->why, sizeof source->why, "%s", wrong);
    free(part);
    note_if_gone(folder, chunk);
    return NULL;
}

/* ----------------------------------------------------------------- count -- */

static struct merged *merged_of(struct folder *folder,
                                const struct reader_recorder *r)
{
    struct merged *m;
    for (size_t i = 0; i < folder->recorders_count; i++) {
        m = &folder->recorders[i];
        if (m->origin == r->origin && strcmp(m->name, r->name) == 0)
            return m;
    }
    m = array_add(folder->recorders, folder->recorders_count,
                  folder->recorders_max);
    *m = (struct merged){.name = need(strdup(r->name)),
                         .description = need(strdup(r->description)),
                         .origin = r->origin};
    return m;
}

/* Adds the figures of a recorder in a chunk. Returns how many of its slots are
 * damaged. */
static uint64_t merged_add(struct merged *m, const struct reader_recorder *r,
                           const uint64_t *kept)
{
    uint64_t damaged = figures_damaged(r);
    m->trace = r->trace;
    m->whole += r->whole;
    m->heads += r->begun;
    m->lost += r->figures.lost;
    m->kept[KEPT_OVERWRITTEN] += r->figures.overwritten;
    m->kept[KEPT_SLOTS_OVERWRITTEN] += r->figures.slots_overwritten;
    m->kept[KEPT_ESTIMATED] |= r->figures.estimated;
    m->kept[KEPT_MISSED] += kept[KEPT_MISSED] + damaged;
    m->kept[KEPT_LEFT_OUT] += kept[KEPT_LEFT_OUT];
    if (kept[KEPT_FROM] > kept[KEPT_TO] ||
        r->whole > kept[KEPT_TO] - kept[KEPT_FROM])
        return damaged; /* they are, too, or nothing was recorded yet */
    *array_add(m->spans, m->spans_count, m->spans_max) =
        (struct span){kept[KEPT_FROM], kept[KEPT_TO]};
    return damaged;
}

/* Positions before the first chunk were overwritten or are in deleted chunks;
 * counts those between chunks as missed. Returns how many there are before. */
static uint64_t spans_sum(struct merged *m)
{
    uint64_t to = 0;
    if (!m->spans_count)
        return 0;
    array_sort(m->spans, m->spans_count, array_compare);
    for (size_t i = 0; i < m->spans_count; i++) {
        if (i && m->spans[i].from > to)
            m->kept[KEPT_MISSED] += m->spans[i].from - to;
        if (m->spans[i].to > to)
            to = m->spans[i].to;
    }
    m->kept[KEPT_TO] = to;
    return m->spans[0].from;
}

static bool is_same(const struct recorder_moment *a,
                    const struct recorder_moment *b)
{
    return a->ticks == b->ticks && a->monotonic_ns == b->monotonic_ns;
}

/* True if a recorder's events are taken from a chunk. */
static bool is_read(const struct reader_recorder *r)
{
    return !r->wrong && r->lane;
}

/* Finds the start of the program that most chunks are of: the words of one may
 * be damaged (Boyer's and Moore's vote). */
static void start_find(struct folder *folder)
{
    struct call *part = need(malloc(sizeof *part));
    size_t votes = 0;
    for (size_t i = 0; i < folder->chunks_count; i++) {
        if (chunk_look(folder, &folder->chunks[i], part))
            continue;
        if (votes == 0)
            folder->start = part->reader.clock.start;
        if (is_same(&folder->start, &part->reader.clock.start))
            votes++;
        else
            votes--;
        part_close(part);
    }
    free(part);
}

/* Two chunks are equal in it only if one is a copy of the other. */
static uint64_t chunk_hash(const struct reader *reader)
{
    uint64_t hash = 0, records = 0;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (!is_read(r))
            continue;
        for (int k = KEPT_FROM; k <= KEPT_TO; k++)
            hash = (hash ^ reader->inside->lanes[r->lane - 1].kept[k]) *
                   0x9e3779b97f4a7c15u;
        records += r->recorded;
    }
    return records ? hash : 0;
}

/* Null, or why a chunk is no part of the log. */
static const char *chunk_refused(struct folder *folder, struct chunk *chunk,
                                 const struct reader *reader)
{
    if (!is_same(&folder->start, &reader->clock.start))
        return "is of another program than most chunks";
    chunk->hash = chunk_hash(reader);
    for (const struct chunk *c = folder->chunks; c < chunk; c++)
        if (c->usable && chunk->hash && c->hash == chunk->hash)
            return "is a copy of a chunk before";
    return NULL;
}

/* Counts the records of a chunk, and keeps it open as the last; null, or the
 * reason why it is left out. */
static const char *chunk_count(struct folder *folder, struct chunk *chunk)
{
    struct call *part = chunk_open(folder, chunk);
    struct reader *reader;
    const char *wrong;
    size_t i;
    if (!part)
        return folder->call->source.why;
    reader = &part->reader;
    wrong = chunk_refused(folder, chunk, reader);
    if (wrong) {
        chunk_close(part);
        return wrong;
    }
    if (*part->source.warning)
        damage(part, "%s", part->source.warning);
    for (i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (is_read(r))
            chunk->damaged +=
                merged_add(merged_of(folder, r), r,
                           reader->inside->lanes[r->lane - 1].kept);
        else
            damage(part, "recorder %s: %s", r->name,
                   r->wrong ? r->wrong : "has no rings");
    }
    folder->bytes += part->source.memory->size + LOG_CHUNK_MIN;
    chunk_close(folder->last);
    folder->last = part;
    return NULL;
}

/* Counts all chunks, and says which are missing, until one is gone. */
static void chunks_count(struct folder *folder)
{
    unsigned long next = 0;
    for (size_t i = 0; i < folder->chunks_count && !folder->changed; i++) {
        struct chunk *chunk = &folder->chunks[i];
        const char *wrong;
        if (next && chunk->number > next + 1)
            damage(folder->call, "chunks %06lu to %06lu are missing", next,
                   chunk->number - 1);
        else if (next && chunk->number > next)
            damage(folder->call, "chunk %06lu is missing", next);
        next = chunk->number + 1;
        wrong = chunk_count(folder, chunk);
        chunk->usable = !wrong;
        if (wrong && !folder->changed)
            damage(folder->call, "%s is left out: %s",
                   strrchr(chunk->path, '/') + 1, wrong);
    }
}

/* ----------------------------------------------------------------- merge -- */

/* Gives each recorder its ring, with the figures of all chunks. */
static void rings_make(struct folder *folder, struct made *made)
{
    for (size_t i = 0; i < folder->recorders_count; i++) {
        struct merged *m = &folder->recorders[i];
        struct recorder_figures_ gone = {0};
        uint64_t before = spans_sum(m);
        struct made_ring *ring;
        m->as = (struct reader_recorder){.name = m->name,
                                         .description = m->description,
                                         .trace = m->trace,
                                         .origin = m->origin};
        recorder_figures_overwritten_(&gone, before + m->whole, m->whole,
                                      m->heads, false);
        m->kept[KEPT_OVERWRITTEN] += gone.overwritten;
        m->kept[KEPT_SLOTS_OVERWRITTEN] += gone.slots_overwritten;
        m->kept[KEPT_ESTIMATED] |= gone.estimated;
        m->kept[KEPT_MARK] = KEPT_MAGIC;
        m->kept[KEPT_ORIGIN] = m->origin;
        ring = made_ring(made, &m->as, m->whole);
        memcpy(ring->kept, m->kept, sizeof m->kept);
        ring->lost = m->lost;
    }
}

/* Counts whole slots of a chunk that came to nothing, once its events were
 * added: their words are damaged. A slot beyond the ring's head became whole
 * after the chunk was taken. */
static void rest_count(struct made *made, struct chunk *chunk,
                       const struct reader *reader)
{
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        uint64_t whole = r->recorded < r->whole ? r->recorded : r->whole;
        if (!r->kept || whole <= r->added)
            continue;
        made->rings[r->kept - 1].kept[KEPT_MISSED] += whole - r->added;
        made->rings[r->kept - 1].changed = true;
        chunk->damaged += whole - r->added;
    }
    chunk->damaged += reader->damaged;
}

/* Adds the events of a chunk, as many as its rings have whole slots and as many
 * texts as its file has room for: a damaged one takes no room of others. False,
 * and errno: they cannot be written. */
static bool chunk_add(struct folder *folder, struct made *made,
                      struct chunk *chunk, struct call *part)
{
    struct reader *reader = &part->reader;
    struct reader_event event;
    bool done = true;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        struct reader_recorder *r = reader->recorders[i];
        r->kept = is_read(r) ? merged_of(folder, r)->as.kept : 0;
        r->added = 0;
    }
    made_source(made);
    made->texts_max =
        made->texts_used + part->source.memory->size + LOG_CHUNK_MIN;
    while (done && reader_next(reader, &event)) {
        struct reader_recorder *r =
            reader->inside->lanes[event.recorder->lane - 1].recorder;
        uint64_t slots = made_slots(&event.raw);
        bool fits = r->kept && r->added + slots <= r->whole;
        if (!event.raw.format && !event.raw.order)
            continue; /* zeros */
        if (fits && made_add(made, reader, &event))
            r->added += slots;
        if (made->events % 65536 == 0)
            done = made_flush(made);
    }
    rest_count(made, chunk, reader);
    if (chunk->damaged)
        damage(part, "%" PRIu64 " record%s damaged or cut off", chunk->damaged,
               chunk->damaged == 1 ? " is" : "s are");
    return done && made_flush(made);
}

/* Writes all chunks into `fd`; null, or what is wrong. */
static const char *chunks_merge(struct folder *folder, int fd)
{
    struct made made = {0};
    size_t i, last = folder->chunks_count;
    const char *wrong;
    while (!folder->chunks[--last].usable)
        ;
    rings_make(folder, &made);
    wrong = made_begin(&made, folder->last, fd, folder->bytes);
    for (i = 0; i <= last && !wrong; i++) {
        struct call *part = folder->last;
        if (!folder->chunks[i].usable)
            continue;
        if (i != last)
            part = chunk_open(folder, &folder->chunks[i]);
        if (!part && !folder->changed)
            damage(folder->call, "%s is left out: %s",
                   strrchr(folder->chunks[i].path, '/') + 1,
                   folder->call->source.why);
        else if (part && !chunk_add(folder, &made, &folder->chunks[i], part))
            wrong = strerror(errno);
        if (i != last)
            chunk_close(part);
    }
    if (!wrong && !made_end(&made))
        wrong = strerror(errno);
    made_free(&made);
    made_close(&made);
    return wrong;
}

/* Reads a folder as it is listed now into `fd`; null, or what is wrong. */
static const char *folder_read(struct folder *folder, const char *name, int fd)
{
    const char *wrong = chunks_find(folder, name);
    if (wrong || folder->changed)
        return wrong;
    start_find(folder);
    chunks_count(folder);
    if (folder->changed)
        return NULL;
    return folder->last ? chunks_merge(folder, fd)
                        : "none of its chunks can be read";
}

static void folder_free(struct folder *folder)
{
    size_t i;
    for (i = 0; i < folder->recorders_count; i++) {
        free(folder->recorders[i].name);
        free(folder->recorders[i].description);
        free(folder->recorders[i].spans);
    }
    chunk_close(folder->last);
    free(folder->recorders);
    free(folder->chunks);
}

const char *folder_source(struct call *call, const char *name,
                          const struct source_how *how)
{
    static char path[64];
    unsigned listings = LISTINGS;
    const char *wrong = NULL;
    bool changed = true;
    int fd = memfd_create("recorder", MFD_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    while (changed) {
        struct folder folder = {
            .call = call, .how = how, .listings = --listings};
        wrong = ftruncate(fd, 0) == 0 ? folder_read(&folder, name, fd)
                                      : strerror(errno);
        changed = folder.changed;
        folder_free(&folder);
    }
    if (!wrong) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        wrong = source_open(&call->source, path, how);
    }
    if (!wrong)
        call->source.memory->live = false; /* chunks that come are not read */
    close(fd);
    return wrong;
}
