/* folder.c - a folder of chunks, a log, as one source. */
/* SPDX-License-Identifier: MIT */
/*
   The events of all chunks are written into one recording in memory, which is
   then opened as any other: it takes as much memory as the log is large.

   A tool may still write the log: it renames chunks that end, and deletes the
   oldest. Where a listed one is gone, the folder is listed again. Each chunk is
   read twice, to be counted and to be added: so the one that grows is copied.
*/
#include "folder.h"
#include "array.h"
#include "log.h"
#include "made.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* A recorder of all chunks. */
struct merged {
    char *name, *description;
    int64_t trace;
    uint64_t origin, lost, to;
    uint64_t whole, heads; /* of chunks: slots, records that begin in them */
    uint64_t gone;         /* positions in chunks that were deleted */
    uint64_t kept[KEPT_NUMBERS];
    bool begun;
    struct reader_recorder as; /* what made_ring() takes */
};

struct chunk {
    unsigned long number;
    char path[4096];
    bool is_part, usable;
    int copy; /* of a part; -1: none */
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

/* Copies a part, but for its holes. Where that fails, it has no copy. */
static void part_copy(struct folder *folder, struct chunk *chunk)
{
    int from = open(chunk->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int to = memfd_create("recorder", MFD_CLOEXEC);
    off_t at = 0, end;
    ssize_t got = 1;
    struct stat is;
    bool done = from >= 0 && fstat(from, &is) == 0 && S_ISREG(is.st_mode) &&
                ftruncate(to, is.st_size) == 0;
    while (done && got > 0 && (at = lseek(from, at, SEEK_DATA)) >= 0 &&
           at < is.st_size) {
        end = lseek(from, at, SEEK_HOLE);
        end = end > at && end < is.st_size ? end : is.st_size;
        done = lseek(to, at, SEEK_SET) == at;
        while (done && at < end &&
               (got = sendfile(to, from, &at, (size_t)(end - at))) > 0)
            ;
        done &= got >= 0;
    }
    if (done)
        chunk->copy = to;
    else if (to >= 0)
        close(to);
    if (from >= 0)
        close(from);
    else
        note_if_gone(folder, chunk);
}

static int chunk_compare(const void *a, const void *b)
{
    const struct chunk *left = a, *right = b;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Lists the chunks. One that is renamed meanwhile may be in no list: where one
 * is missing, the folder is listed three times. */
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
        folder->chunks =
            need(array_room(folder->chunks, &folder->chunks_max,
                            folder->chunks_count + 1, sizeof *folder->chunks));
        chunk = &folder->chunks[folder->chunks_count++];
        *chunk =
            (struct chunk){.number = number, .is_part = is_part, .copy = -1};
        snprintf(chunk->path, sizeof chunk->path, "%s/%s", name, entry->d_name);
    }
    closedir(from);
    if (!folder->chunks_count) {
        folder->changed = again;
        return strerror(EISDIR); /* and no log */
    }
    qsort(folder->chunks, folder->chunks_count, sizeof *folder->chunks,
          chunk_compare);
    for (size_t i = 0; i < folder->chunks_count; i++) {
        struct chunk *chunk = &folder->chunks[i];
        if (chunk->is_part)
            part_copy(folder, chunk);
        if (i && chunk->number > chunk[-1].number + 1)
            folder->changed |= again;
    }
    return NULL;
}

static void chunk_close(struct call *part)
{
    reader_close(&part->reader);
    source_close(&part->source);
}

/* Opens a chunk and takes what it holds; null, or what is wrong, as long as
 * `part` is there. */
static const char *chunk_take(struct folder *folder, const struct chunk *chunk,
                              struct call *part)
{
    static const struct reader_selection all;
    char copy[64];
    const char *wrong;
    *part = (struct call){.verb = folder->call->verb, .name = chunk->path};
    snprintf(copy, sizeof copy, "/proc/self/fd/%d", chunk->copy);
    wrong = source_open(&part->source, chunk->copy < 0 ? chunk->path : copy,
                        folder->how);
    if (wrong)
        return wrong;
    wrong =
        reader_open(&part->reader, part->source.memory, part->source.registry);
    if (wrong) {
        source_close(&part->source);
        return wrong;
    }
    part->reader.logs = true;
    reader_select(&part->reader, &all);
    wrong = reader_take(&part->reader);
    if (wrong)
        chunk_close(part);
    else
        reader_count(&part->reader);
    return wrong;
}

/* Likewise; what is wrong stays there. */
static const char *chunk_open(struct folder *folder, const struct chunk *chunk,
                              struct call *part)
{
    struct source *source = &folder->call->source;
    const char *wrong = chunk_take(folder, chunk, part);
    if (!wrong)
        return NULL;
    note_if_gone(folder, chunk);
    snprintf(source->why, sizeof source->why, "%s", wrong);
    return source->why;
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
    folder->recorders = need(
        array_room(folder->recorders, &folder->recorders_max,
                   folder->recorders_count + 1, sizeof *folder->recorders));
    m = &folder->recorders[folder->recorders_count++];
    *m = (struct merged){.name = need(strdup(r->name)),
                         .description = need(strdup(r->description)),
                         .origin = r->origin};
    return m;
}

/* Adds the figures of a recorder in a chunk; what lies between it and the chunk
 * before is in neither. */
static void merged_add(struct merged *m, const struct reader_recorder *r,
                       const uint64_t *kept)
{
    uint64_t from = kept[KEPT_FROM];
    m->trace = r->trace;
    m->whole += r->whole;
    m->heads += r->begun;
    m->lost += r->figures.lost;
    m->kept[KEPT_OVERWRITTEN] += r->figures.overwritten;
    m->kept[KEPT_SLOTS_OVERWRITTEN] += r->figures.slots_overwritten;
    m->kept[KEPT_ESTIMATED] |= r->figures.estimated;
    m->kept[KEPT_MISSED] += kept[KEPT_MISSED];
    m->kept[KEPT_LEFT_OUT] += kept[KEPT_LEFT_OUT];
    if (m->begun && from > m->to)
        m->kept[KEPT_MISSED] += from - m->to;
    if (!m->begun)
        m->gone = from;
    m->to = kept[KEPT_TO];
    m->begun = true;
}

static bool is_same(const struct recorder_moment *a,
                    const struct recorder_moment *b)
{
    return a->ticks == b->ticks && a->monotonic_ns == b->monotonic_ns;
}

/* Counts what a chunk holds; null, or why it is left out. */
static const char *chunk_count(struct folder *folder, const struct chunk *chunk)
{
    struct call part;
    struct reader *reader = &part.reader;
    const char *wrong = chunk_open(folder, chunk, &part);
    size_t i;
    if (wrong)
        return wrong;
    if (*part.source.warning)
        warn(&part, "%s", part.source.warning);
    if (!folder->start.monotonic_ns)
        folder->start = reader->clock.start;
    if (!is_same(&folder->start, &reader->clock.start)) {
        chunk_close(&part);
        return "is of another program than the chunks before";
    }
    for (i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (r->wrong || !r->lane)
            warn(&part, "recorder %s: %s", r->name,
                 r->wrong ? r->wrong : "has no rings");
        else
            merged_add(merged_of(folder, r), r,
                       reader->inside->lanes[r->lane - 1].kept);
    }
    folder->bytes += part.source.memory->size;
    chunk_close(&part);
    return NULL;
}

/* Counts all chunks, and says which are missing; returns how many there are. */
static size_t chunks_count(struct folder *folder)
{
    unsigned long next = 0;
    size_t usable = 0;
    for (size_t i = 0; i < folder->chunks_count; i++) {
        struct chunk *chunk = &folder->chunks[i];
        const char *wrong;
        if (next && chunk->number > next + 1)
            warn(folder->call, "chunks %06lu to %06lu are missing", next,
                 chunk->number - 1);
        else if (next && chunk->number > next)
            warn(folder->call, "chunk %06lu is missing", next);
        next = chunk->number + 1;
        wrong = chunk_count(folder, chunk);
        chunk->usable = !wrong;
        usable += chunk->usable;
        if (wrong && !folder->changed)
            warn(folder->call, "%s is left out: %s",
                 strrchr(chunk->path, '/') + 1, wrong);
    }
    return usable;
}

/* ----------------------------------------------------------------- merge -- */

/* Gives each recorder its ring, with the figures of all chunks. */
static void rings_make(struct folder *folder, struct made *made)
{
    for (size_t i = 0; i < folder->recorders_count; i++) {
        struct merged *m = &folder->recorders[i];
        struct recorder_figures_ gone = {0};
        struct made_ring *ring;
        m->as = (struct reader_recorder){.name = m->name,
                                         .description = m->description,
                                         .trace = m->trace,
                                         .origin = m->origin};
        recorder_figures_overwritten_(&gone, m->gone + m->whole, m->whole,
                                      m->heads);
        m->kept[KEPT_OVERWRITTEN] += gone.overwritten;
        m->kept[KEPT_SLOTS_OVERWRITTEN] += gone.slots_overwritten;
        m->kept[KEPT_ESTIMATED] |= gone.estimated;
        m->kept[KEPT_MARK] = KEPT_MAGIC;
        m->kept[KEPT_ORIGIN] = m->origin;
        m->kept[KEPT_TO] = m->to;
        ring = made_ring(made, &m->as, m->whole);
        memcpy(ring->kept, m->kept, sizeof m->kept);
        ring->lost = m->lost;
    }
}

/* Adds the events of a chunk; false, and errno: they cannot be written. */
static bool chunk_add(struct folder *folder, struct made *made,
                      struct call *part)
{
    struct reader *reader = &part->reader;
    struct reader_event event;
    bool done = true;
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (!reader->recorders[i]->wrong && reader->recorders[i]->lane)
            reader->recorders[i]->kept =
                merged_of(folder, reader->recorders[i])->as.kept;
    made_source(made);
    while (done && reader_next(reader, &event)) {
        done = made_add(made, reader, &event);
        errno = EFBIG; /* it changes while it is read */
        if (done && made->events % 65536 == 0)
            done = made_flush(made);
    }
    return done && made_flush(made);
}

/* Writes all chunks into `fd`; null, or what is wrong. */
static const char *chunks_merge(struct folder *folder, int fd)
{
    struct made made = {0};
    struct call last, part;
    const char *wrong = NULL;
    size_t i = folder->chunks_count;
    while (!folder->chunks[--i].usable)
        ;
    wrong = chunk_open(folder, &folder->chunks[i], &last);
    if (wrong)
        return wrong;
    rings_make(folder, &made);
    wrong = made_begin(&made, &last, fd, folder->bytes + LOG_CHUNK_MIN);
    for (i = 0; i < folder->chunks_count && !wrong; i++) {
        if (!folder->chunks[i].usable)
            continue;
        wrong = chunk_open(folder, &folder->chunks[i], &part);
        if (wrong)
            break;
        if (!chunk_add(folder, &made, &part))
            wrong = strerror(errno);
        chunk_close(&part);
    }
    if (!wrong && !made_end(&made))
        wrong = strerror(errno);
    made_free(&made);
    made_close(&made);
    chunk_close(&last);
    return wrong;
}

/* Reads a folder as it is listed now into `fd`; null, or what is wrong. */
static const char *folder_read(struct folder *folder, const char *name, int fd)
{
    const char *wrong = chunks_find(folder, name);
    if (!wrong && !folder->changed && !chunks_count(folder))
        wrong = "none of its chunks can be read";
    if (!wrong && !folder->changed)
        wrong = chunks_merge(folder, fd);
    return wrong;
}

static void folder_free(struct folder *folder)
{
    size_t i;
    for (i = 0; i < folder->recorders_count; i++) {
        free(folder->recorders[i].name);
        free(folder->recorders[i].description);
    }
    for (i = 0; i < folder->chunks_count; i++)
        if (folder->chunks[i].copy >= 0)
            close(folder->chunks[i].copy);
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
