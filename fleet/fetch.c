/* fetch.c - recordings from the hub into files. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"
#include "source.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "recorder/regex.h"

extern char **environ;

/* A recording that is being fetched: it gets its name when it is whole. */
struct fetched {
    const struct entry *entry;
    const struct recording *recording;
    char *path, *part; /* the part's: until it is whole */
    bool got;
    struct measured clock;
};
struct fetching {
    const char *snapshot;
    struct fetched *all;
    size_t count;
    bool is_search; /* the tree of a request goes to stdout, no paths */
};

/* Makes OUTPUT/HOST-PROGRAM.PID.rec, with a number where another recording has
 * that name: b-shop.1 of host a, and shop.1 of host a-b. */
static char *fetched_name(const struct fetching *in, const struct fetched *f)
{
    char path[4096], number[16] = "";
    for (unsigned n = 2;; n++) {
        const struct fetched *other = in->all;
        snprintf(path, sizeof path, "%.3900s/%s-%s%s.rec", options.output,
                 f->entry->host, f->recording->process, number);
        while (other < f && strcmp(other->path, path) != 0)
            other++;
        if (other == f)
            return need(strdup(path));
        snprintf(number, sizeof number, "-%u", n);
    }
}

static int part_open(const struct fetched *f, int flags)
{
    int fd;
    if (flags)
        unlink(f->part); /* of a fetch that was killed */
    fd = open(f->part, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd < 0)
        give_up("%s: %s", f->part, strerror(errno));
    return fd;
}

/* True if there is a file that is a recording of another snapshot. */
static bool is_taken(const char *path, const char *snapshot)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat is;
    char other[65];
    bool taken = fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) &&
                 note_label(fd, "snapshot", other, sizeof other) &&
                 strcmp(other, snapshot) != 0;
    if (fd >= 0)
        close(fd);
    return taken;
}

/* Returns null if a recording names the host that stored it, which the hub has
 * checked; else what is wrong. */
static const char *owner_wrong(int fd, const struct fetched *f,
                               const char *snapshot)
{
    static char text[256];
    char host[65] = "", of[65] = "";
    if (!note_label(fd, "host", host, sizeof host) ||
        !note_label(fd, "snapshot", of, sizeof of))
        return "it does not tell its host and snapshot";
    if (strcmp(host, f->entry->host) == 0 && strcmp(of, snapshot) == 0)
        return NULL;
    snprintf(text, sizeof text, "it pretends to be of host %s, snapshot %s",
             shown(host), shown(of));
    return text;
}

static void fetch_begin(struct hub *hub, struct fetching *in, struct fetched *f)
{
    const char *wrong, *process = f->recording->process;
    int fd;
    f->path = fetched_name(in, f);
    f->part = need_text("%s.part", f->path);
    if (*f->recording->error) {
        say("%s/%s: was not saved: %s", f->entry->host, process,
            shown(f->recording->error));
        return;
    }
    if (is_taken(f->path, in->snapshot)) {
        say("%s: is of another snapshot: -o names another folder", f->path);
        return;
    }
    fd = part_open(f, O_CREAT | O_EXCL);
    wrong = store_get(hub, f->entry, f->recording, fd, &f->clock);
    if (!wrong)
        wrong = owner_wrong(fd, f, in->snapshot);
    close(fd); /* there may be more of them than may be open */
    f->got = !wrong;
    if (wrong) {
        unlink(f->part);
        say("%s/%s: %s", f->entry->host, process, wrong);
    }
}

/* ----------------------------------------------------------------- clock -- */

/* Reads the wall time of a recording's CLOCK_MONOTONIC 0. The program took it
 * when it began: whatever sets the time later changes nothing in a recording. */
static bool wall_read(const char *path, int64_t *wall_ns)
{
    struct source source;
    struct source_how how = {0};
    struct reader reader;
    bool read;
    memset(&source, 0, sizeof source);
    if (source_open_file(&source, path, &how))
        return false;
    read = source.registry &&
           !reader_open(&reader, source.memory, source.registry);
    if (read) {
        const struct recorder_moment *start = &reader.clock.start;
        *wall_ns = (int64_t)(start->realtime_ns - start->monotonic_ns);
        read = start->realtime_ns;
        reader_close(&reader);
    }
    source_close(&source);
    return read;
}

/* Two clocks of one computer differ by at most 1 in 1000, adjustments included,
 * and a pair of them is read within 20 us. */
static int64_t error_of(const struct measured *m, uint64_t taken_ns)
{
    int64_t apart = (int64_t)(m->at_ns - taken_ns);
    return m->error_ns + 20000 + (apart < 0 ? -apart : apart) / 1000;
}

/* Finds the best measurement of a host since it started, as of a time of its
 * CLOCK_BOOTTIME. Null: there is none. */
static const struct measured *clock_best(const struct fetching *in,
                                         const struct fetched *f,
                                         const char *boot, uint64_t taken_ns)
{
    const struct measured *best = NULL;
    for (size_t i = 0; i < in->count; i++) {
        const struct fetched *other = &in->all[i];
        if (other->got && other->clock.error_ns &&
            strcmp(other->entry->host, f->entry->host) == 0 &&
            strcmp(other->entry->boot, boot) == 0 &&
            (!best ||
             error_of(&other->clock, taken_ns) < error_of(best, taken_ns)))
            best = &other->clock;
    }
    return best;
}

/* Writes into a recording how its wall clock differs from the hub's. */
static void clock_set(const struct fetching *in, const struct fetched *f,
                      int fd)
{
    uint64_t monotonic = note_number(fd, "taken_monotonic_ns");
    uint64_t boottime = note_number(fd, "taken_boottime_ns");
    const struct measured *m;
    char boot[40] = "";
    int64_t wall_ns;
    note_label(fd, "boot", boot, sizeof boot);
    m = clock_best(in, f, boot, boottime);
    if (!m)
        say("%s: its clock is not known: its host was started again before "
            "it was sent, or it was sent in one piece",
            f->path);
    else if (!monotonic || !boottime || !wall_read(f->part, &wall_ns) ||
             !note_clock(
                 fd, m->offset_ns + (int64_t)(boottime - monotonic) - wall_ns,
                 error_of(m, boottime)))
        say("%s: its clock is not known: it lacks a note or a start", f->path);
}

static bool fetch_end(const struct fetching *in, const struct fetched *f)
{
    int fd = part_open(f, 0);
    bool done;
    clock_set(in, f, fd);
    done = fsync(fd) == 0 && rename(f->part, f->path) == 0;
    if (!done)
        say("%s: %s", f->path, strerror(errno));
    close(fd);
    if (done) { /* the hub lets a host write for itself alone */
        if (!in->is_search)
            puts(f->path);
        say("%s: stored by %s", f->path, f->entry->host);
    }
    return done;
}

/* Chooses the recordings of hosts that --host matches. */
static void fetching_choose(struct fetching *to, const struct index *from)
{
    to->all = need(calloc(from->count + 1, sizeof *to->all));
    for (size_t i = 0; i < from->count; i++) {
        const struct object *o = &from->all[i];
        if (!options.hosts ||
            recorder_regex_match_(options.hosts, o->entry->host))
            to->all[to->count++] =
                (struct fetched){.entry = o->entry, .recording = o->recording};
    }
}

/* ------------------------------------------------------------------ find -- */

/* Keeps the recordings that may have a request: it reads the heads of all. */
static void request_choose(struct hub *hub, struct fetching *in,
                           const char *request)
{
    size_t kept = 0, all = in->count;
    for (size_t i = 0; i < all; i++) {
        const struct fetched *f = &in->all[i];
        int fd = memfd_create("head", MFD_CLOEXEC);
        const char *wrong = *f->recording->error ? "" : NULL;
        if (fd < 0)
            give_up("memory for a head: %s", strerror(errno));
        if (!wrong)
            wrong =
                store_head(hub, f->entry, f->recording, fd, note_has_requests);
        if (wrong || note_may_have(fd, request)) /* fetching it says why */
            in->all[kept++] = *f;
        close(fd);
    }
    in->count = kept;
    say("%zu of %zu recordings may have %s", kept, all, shown(request));
}

/* Runs `recorder trace` on the files. Returns its status. */
static int request_show(const struct fetching *in, const char *request)
{
    const char **arguments = need(calloc(in->count + 7, sizeof *arguments));
    int count = 0, status = 0;
    pid_t pid;
    arguments[count++] = options.recorder;
    arguments[count++] = "trace";
    if (options.otlp) {
        arguments[count++] = "--otlp";
        arguments[count++] = options.otlp;
    }
    arguments[count++] = "--";
    arguments[count++] = request;
    for (size_t i = 0; i < in->count; i++)
        if (in->all[i].got)
            arguments[count++] = in->all[i].path;
    fflush(stdout);
    if (posix_spawnp(&pid, options.recorder, NULL, NULL,
                     (char **)(uintptr_t)arguments, environ) != 0 ||
        waitpid(pid, &status, 0) != pid)
        give_up("%s: cannot be run", options.recorder);
    free(arguments);
    return !WIFEXITED(status) || WEXITSTATUS(status);
}

int fleet_fetch(const char *snapshot, const char *request)
{
    struct hub hub;
    struct fetching in = {.snapshot = snapshot, .is_search = request};
    struct index index = {0};
    size_t done = 0;
    bool complete;
    snapshot_connect(&hub, snapshot);
    complete = index_read_all(&hub, snapshot, &index);
    index_unique(&index);
    fetching_choose(&in, &index);
    if (!in.count && !complete)
        return 1;
    if (!in.count)
        snapshot_missing();
    if (request)
        request_choose(&hub, &in, request);
    if (!in.count)
        give_up("no recording of %s has %s", snapshot, shown(request));
    if (mkdir(options.output, 0700) != 0 && errno != EEXIST)
        give_up("%s: %s", options.output, strerror(errno));
    for (size_t i = 0; i < in.count; i++)
        fetch_begin(&hub, &in, &in.all[i]);
    for (size_t i = 0; i < in.count; i++)
        done += in.all[i].got && fetch_end(&in, &in.all[i]);
    hub_close(&hub);
    if (request && done && request_show(&in, request))
        complete = false;
    return done < in.count || !complete;
}
