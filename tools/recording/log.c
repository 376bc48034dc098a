/* log.c - follows a program, and writes its records into chunks. */
/* SPDX-License-Identifier: MIT */
/*
    DIR/000001.rec      chunks, each a recording made of events (made.h)
        000002.part     the last; it is renamed when it is closed

   All that is whole is written at each look; a reader sorts by order. A
   position of which the record is not whole is waited for. For each recorder
       positions handed out - given up = written + left out + overwritten before
       the log began + missed + those still waited for
   of which all but `missed` is counted here, each position once.

   A look follows the last at once: rings of 65,536 slots last 65 ms at a
   million records a second. The folder of a chunk that is closed is not
   synchronised with the disk, which would take as long.
*/
#include "recording.h"
#include "array.h"
#include "made.h"
#include "print.h"

#include <dirent.h>
#include <signal.h>

enum {
    LOOK_NS = 1000000, /* between two looks, while records come */
    IDLE_NS = 10000000,
    RING_SLOTS_MIN = 16,
    LAST_LOOKS = 10 /* for records that are being written when a log ends */
};

/* The counts of a recorder in the closed chunks. */
struct counted {
    uint64_t from;  /* positions */
    int64_t before; /* were overwritten before the log began */
    int64_t missed; /* and since then */
    uint64_t heads, lost, used, orphans;
    bool begun;
};

struct closed {
    unsigned number;
    uint64_t bytes, end_ns;
};

struct log {
    struct call *call;
    const char *folder;
    struct log_limits limits;
    struct made made;
    char part[4096];
    unsigned number;
    struct counted *counted; /* by recorder of the reader */
    size_t counted_max;
    struct closed *closed;
    size_t closed_count, closed_max;
    double texts_share; /* of a chunk's bytes, by the last one */
    uint64_t begun_ns, events;
    uint32_t wraps;
};

unsigned long log_chunk(const char *name, bool *is_part)
{
    size_t digits = strspn(name, "0123456789");
    *is_part = strcmp(name + digits, ".part") == 0;
    if (digits < 6 || digits > 9 ||
        (!*is_part && strcmp(name + digits, ".rec") != 0))
        return 0;
    return strtoul(name, NULL, 10);
}

_Noreturn static void log_fail(struct log *log, const char *path,
                               const char *wrong)
{
    fail(log->call, "%s: %s; %zu chunk%s closed before, and whole", path, wrong,
         log->closed_count, log->closed_count == 1 ? " was" : "s were");
}

/* Makes the folder; its files stay, and must be no log. */
static void folder_open(struct log *log)
{
    struct dirent *entry;
    bool is_part;
    DIR *folder;
    if (mkdir(log->folder, 0700) != 0 && errno != EEXIST)
        log_fail(log, log->folder, strerror(errno));
    folder = opendir(log->folder);
    if (!folder)
        log_fail(log, log->folder, strerror(errno));
    while ((entry = readdir(folder)))
        if (log_chunk(entry->d_name, &is_part))
            fail(log->call, "%s: holds a log already, of which %s is a part",
                 log->folder, entry->d_name);
    closedir(folder);
}

/* ----------------------------------------------------------------- count -- */

/* All figures of a recorder until now. */
struct sums {
    int64_t handed, seen, pending;
    uint64_t heads, lost, write;
};
static struct sums sums_of(const struct log *log,
                           const struct reader_recorder *r)
{
    const struct reader_inside *inside = log->call->reader.inside;
    struct sums sums = {0};
    for (size_t i = r->lane ? r->lane - 1 : inside->lanes_count;
         i < inside->lanes_count && inside->lanes[i].recorder == r; i++) {
        const struct lane *lane = &inside->lanes[i];
        sums.handed += lane->handed;
        sums.seen += (int64_t)lane->seen;
        sums.pending += lane->pending_count;
        sums.heads += lane->events;
        sums.lost += lane->lost;
        sums.write += lane->write;
    }
    return sums;
}

/* The place of a recorder's counts; they may move. */
static struct counted *counted_of(struct log *log, size_t recorder)
{
    size_t was = log->counted_max;
    ARRAY_NEED(log->counted, recorder + 1, log->counted_max);
    memset(log->counted + was, 0,
           (log->counted_max - was) * sizeof *log->counted);
    return &log->counted[recorder];
}

/* Puts the figures of a recorder into its ring, as of the last look. */
static void figures_put(struct log *log, size_t recorder,
                        struct made_ring *ring, struct counted *now)
{
    struct reader_recorder *r = log->call->reader.recorders[recorder];
    struct counted *c = counted_of(log, recorder);
    struct sums sums = sums_of(log, r);
    struct recorder_figures_ figures = {0};
    int64_t waits = sums.pending + r->unread;
    int64_t gone = sums.handed - sums.seen - waits;
    if (!call_selects(log->call)) /* else they may belong to omitted records */
        gone += (int64_t)(c->orphans + ring->orphans);
    if (!c->begun) { /* the first look: that is no fault of the log */
        c->begun = true;
        c->before = gone > 0 ? gone : 0;
        recorder_figures_overwritten_(
            &figures, (uint64_t)(c->before + sums.seen), (uint64_t)sums.seen,
            sums.heads, r->several);
        ring->kept[KEPT_OVERWRITTEN] = figures.overwritten;
        ring->kept[KEPT_SLOTS_OVERWRITTEN] = figures.slots_overwritten;
        ring->kept[KEPT_ESTIMATED] = figures.estimated;
    }
    *now = *c;
    now->missed = gone - c->before;
    now->from = (uint64_t)(sums.handed - waits);
    now->lost = sums.lost;
    now->used = ring->used;
    now->heads = sums.heads;
    now->orphans = c->orphans + ring->orphans;
    if (now->from == ring->kept[KEPT_TO] && now->lost - c->lost == ring->lost)
        return;
    ring->kept[KEPT_FROM] = c->from;
    ring->kept[KEPT_TO] = now->from;
    ring->kept[KEPT_MISSED] = (uint64_t)(now->missed - c->missed);
    ring->kept[KEPT_LEFT_OUT] = sums.heads - c->heads - ring->heads;
    ring->lost = sums.lost - c->lost;
    ring->changed = true;
}

/* Writes the figures of all recorders; `closes`: the chunk is closed with
 * them. */
static void figures_put_all(struct log *log, bool closes)
{
    struct reader *reader = &log->call->reader;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        struct reader_recorder *r = reader->recorders[i];
        struct counted now;
        if (!r->kept)
            continue;
        figures_put(log, i, &log->made.rings[r->kept - 1], &now);
        if (closes)
            *counted_of(log, i) = now;
    }
}

/* ---------------------------------------------------------------- chunks -- */

/* Gives each recorder a ring: a quarter of the room is shared equally, the rest
 * in proportion to the last chunk, or to the records until now. */
static uint64_t rings_share(struct log *log)
{
    struct reader *reader = &log->call->reader;
    double room = (double)log->limits.chunk_bytes * (1 - log->texts_share);
    double all = 0, slots = room / offsets_of(reader->memory)->slot_size;
    size_t count = 0, i;
    uint64_t bytes = 0;
    for (i = 0; i < reader->recorders_count; i++) {
        struct counted *c = counted_of(log, i);
        struct reader_recorder *r = reader->recorders[i];
        r->kept = 0;
        if (!r->chosen || r->wrong || !r->lane)
            continue;
        c->used += c->begun ? 1 : sums_of(log, r).write + 1;
        all += (double)c->used;
        count++;
    }
    for (i = 0; i < reader->recorders_count; i++) {
        struct reader_recorder *r = reader->recorders[i];
        double share, used = (double)log->counted[i].used;
        uint64_t size = RING_SLOTS_MIN;
        if (!r->chosen || r->wrong || !r->lane)
            continue;
        share = slots * (0.25 / (double)count + 0.75 * used / all);
        while ((double)size * 2 <= share)
            size *= 2;
        made_ring(&log->made, r, size);
        bytes += made_ring_bytes(reader->memory, size);
    }
    return bytes;
}

/* Renames a file, but replaces no other; false, and errno. */
static bool rename_new(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ||
           (errno == EINVAL && access(to, F_OK) != 0 && rename(from, to) == 0);
}

/* Begins a chunk. Its file has a temporary name until a reader would find a
 * recording in it: the tool may be killed at any time. */
static void chunk_begin(struct log *log)
{
    struct call *call = log->call;
    uint64_t rings, texts = log->limits.chunk_bytes;
    const char *wrong;
    char *temporary;
    int fd;
    snprintf(log->part, sizeof log->part, "%s/%06u.part", log->folder,
             ++log->number);
    temporary = output_beside(log->part);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        log_fail(log, log->part, strerror(errno));
    rings = rings_share(log);
    texts =
        texts > rings + LOG_CHUNK_MIN / 4 ? texts - rings : LOG_CHUNK_MIN / 4;
    wrong = made_begin(&log->made, call, fd, texts);
    if (log->number > 1) /* a reader may find no other chunk of these figures */
        figures_put_all(log, false);
    if (!wrong &&
        (!made_flush(&log->made) || !rename_new(temporary, log->part)))
        wrong = strerror(errno);
    if (wrong) {
        unlink(temporary);
        log_fail(log, log->part, wrong);
    }
    free(temporary);
    log->begun_ns = recorder_clock_ns_(RECORDER_MONOTONIC_);
    log->wraps = call->reader.inside->wraps_count;
}

/* Deletes the oldest chunks, beyond the limit. */
static void chunks_forget(struct log *log)
{
    uint64_t bytes = 0, now = recorder_clock_ns_(RECORDER_MONOTONIC_);
    size_t i, first = 0;
    for (i = 0; i < log->closed_count; i++)
        bytes += log->closed[i].bytes;
    for (; first < log->closed_count; first++) {
        const struct closed *oldest = &log->closed[first];
        bool large = log->limits.keep_bytes && bytes > log->limits.keep_bytes &&
                     first + 1 < log->closed_count;
        bool old =
            log->limits.keep_ns && now - oldest->end_ns > log->limits.keep_ns;
        char path[4096];
        if (!large && !old)
            break;
        snprintf(path, sizeof path, "%s/%06u.rec", log->folder, oldest->number);
        unlink(path);
        bytes -= oldest->bytes;
    }
    if (!first)
        return;
    log->closed_count -= first;
    memmove(log->closed, log->closed + first,
            log->closed_count * sizeof *log->closed);
}

static void chunk_close(struct log *log)
{
    char path[sizeof log->part];
    struct made *made = &log->made;
    double records = 0, texts = (double)made->texts_used;
    struct stat is;
    figures_put_all(log, true);
    if (!made_end(made) || fstat(made->fd, &is) != 0)
        log_fail(log, log->part, strerror(errno));
    snprintf(path, sizeof path, "%s/%06u.rec", log->folder, log->number);
    if (!rename_new(log->part, path))
        log_fail(log, path, strerror(errno));
    close(made->fd);
    for (size_t i = 0; i < made->rings_count; i++)
        records +=
            (double)made->rings[i].used * offsets_of(made->m)->slot_size * 1.5;
    log->texts_share = 1.1 * texts / (texts + records + 1);
    log->texts_share = log->texts_share < 0.125  ? 0.125
                       : log->texts_share > 0.75 ? 0.75
                                                 : log->texts_share;
    *array_add(log->closed, log->closed_count, log->closed_max) =
        (struct closed){log->number, (uint64_t)is.st_blocks * 512,
                        recorder_clock_ns_(RECORDER_MONOTONIC_)};
    log->events += made->events;
    made_free(made);
    chunks_forget(log);
}

/* Is it time for the next chunk, though this one has room? So that the oldest
 * can be forgotten; and so that times of 32 bits are known. */
static bool chunk_is_old(const struct log *log)
{
    uint64_t age = recorder_clock_ns_(RECORDER_MONOTONIC_) - log->begun_ns;
    return log->made.events &&
           ((log->limits.keep_ns && age > log->limits.keep_ns / 8) ||
            log->call->reader.inside->wraps_count - log->wraps > 8);
}

/* ------------------------------------------------------------------ loop -- */

/* An event of a look opens the next chunk: it and all later events count
 * there, so that they are `unread` while this one is closed. */
static void chunk_next(struct log *log, const struct reader_event *event)
{
    struct reader *reader = &log->call->reader;
    struct reader_inside *inside = reader->inside;
    struct lane *lane = &inside->lanes[event->recorder->lane - 1];
    uint64_t slots = made_slots(&event->raw), events = event->event.format != 0;
    lane->seen -= slots;
    lane->events -= events;
    lane->recorder->unread = (int64_t)slots;
    for (size_t i = inside->at; i < inside->deliver; i++)
        inside->lanes[inside->keys[i].lane].recorder->unread++;
    chunk_close(log);
    chunk_begin(log);
    lane->seen += slots;
    lane->events += events;
    for (size_t i = 0; i < reader->recorders_count; i++)
        reader->recorders[i]->unread = 0;
}

/* Writes the events of a look. */
static bool events_write(struct log *log)
{
    struct reader *reader = &log->call->reader;
    struct reader_event event;
    bool came = false;
    while (reader_next(reader, &event)) {
        came = true;
        if (!event.recorder->kept || !made_add(&log->made, reader, &event)) {
            chunk_next(log, &event);
            if (!made_add(&log->made, reader, &event))
                fail(log->call, "%s: an event does not fit", log->part);
        }
        log->made.rings[event.recorder->kept - 1].heads +=
            event.event.format != 0;
    }
    figures_put_all(log, false);
    if (!made_flush(&log->made))
        log_fail(log, log->part, strerror(errno));
    if (chunk_is_old(log)) {
        chunk_close(log);
        chunk_begin(log);
    }
    return came;
}

/* The last looks: records that are just being written may still become
 * whole. */
static void log_finish(struct log *log)
{
    struct reader *reader = &log->call->reader;
    struct reader_inside *inside = reader->inside;
    for (int i = 0; i < LAST_LOOKS; i++) {
        inside->still = 0;
        if (reader_take(reader))
            break;
        events_write(log);
        if (!inside->pending)
            break;
        sleep_ns(LOOK_NS);
    }
}

static void log_say(struct log *log, const char *wrong)
{
    const struct reader *reader = &log->call->reader;
    struct memory *m = reader->memory;
    int64_t missed = 0;
    uint64_t lost = 0;
    bool stays = true;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct counted *c = counted_of(log, i);
        missed += c->missed;
        lost += c->lost;
    }
    for (size_t i = 0; i < reader->inside->lanes_count; i++)
        stays &= m->stays && m->stays(m, reader->inside->lanes[i].address, 1);
    if (wrong)
        warn(log->call,
             stays ? "%s"
                   : "%s: its last records, since the last "
                     "look, are not known",
             wrong);
    warn(log->call, "%llu records in %u chunks, %lld missed%s, %llu lost",
         (unsigned long long)log->events, log->number, (long long)missed,
         wrong && !stays ? " until that look" : "", (unsigned long long)lost);
}

int log_follow(struct call *call, const char *folder,
               const struct log_limits *limits)
{
    struct log log = {
        .call = call, .folder = folder, .limits = *limits, .texts_share = 0.25};
    struct reader *reader = &call->reader;
    const char *wrong = NULL;
    bool came;
    signal(SIGXFSZ, SIG_IGN); /* write() says it, too */
    folder_open(&log);
    reader->logs = true;
    call_take(call);
    command_stops();
    chunk_begin(&log);
    came = events_write(&log);
    while (!command_stopped && !wrong) {
        static uint64_t idle_ns = LOOK_NS;
        uint64_t start = recorder_clock_ns_(RECORDER_MONOTONIC_), took;
        idle_ns = came                    ? LOOK_NS
                  : idle_ns * 2 < IDLE_NS ? idle_ns * 2
                                          : IDLE_NS;
        wrong = reader_take(reader);
        came = events_write(&log);
        took = recorder_clock_ns_(RECORDER_MONOTONIC_) - start;
        if (took < idle_ns && !wrong)
            sleep_ns(idle_ns - took);
        if (log.limits.keep_ns)
            chunks_forget(&log);
    }
    if (!wrong)
        log_finish(&log);
    for (size_t i = 0; i < reader->inside->lanes_count; i++)
        reader->inside->lanes[i].pending_count = 0; /* missed */
    chunk_close(&log);
    log_say(&log, wrong);
    free(log.counted);
    free(log.closed);
    made_close(&log.made);
    return wrong && strcmp(wrong, READER_GONE) != 0;
}
