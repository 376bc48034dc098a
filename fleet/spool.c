/* spool.c - recordings that wait to be stored: SPOOL/SNAPSHOT/PROGRAM.PID.rec */
/* SPDX-License-Identifier: MIT */
/*
    What is here survives the agent: a file gets its name when it is whole and
    on the disk. It is packed, sent, and removed when all of it is acknowledged.
    One that was sent in part is sent again under another nuid.
*/
#include "array.h"
#include "fleet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define BEGUN ".begun"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all names */
static pthread_cond_t changed; /* by the monotonic clock: the other may jump */
static bool woken;

void spool_wake(void)
{
    pthread_mutex_lock(&lock);
    woken = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

void spool_path(char to[4096], const char *snapshot, const char *process,
                const char *kind)
{
    snprintf(to, 4096, "%s/%s/%s%s", options.spool, snapshot, process, kind);
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), of = strlen(end);
    return size > of && strcmp(text + size - of, end) == 0;
}

/* A file of a process ends so, until it is stored. */
static const char *const kinds[] = {".rec", ".rec.zst", ".error"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Returns how a file of a process ends, and what that is called; null: the file
 * is another one. */
static const char *kind_of(const char *name, char process[65])
{
    for (int i = 0; i < KINDS; i++)
        if (ends_with(name, kinds[i])) {
            snprintf(process, 65, "%.*s",
                     (int)(strlen(name) - strlen(kinds[i])), name);
            return kinds[i];
        }
    return NULL;
}

/* Removes a file, or a folder and the files in it. */
static void work_remove(const char *path)
{
    struct dirent *entry;
    DIR *folder = opendir(path);
    while (folder && (entry = readdir(folder)))
        unlinkat(dirfd(folder), entry->d_name, 0); /* neither . nor .. */
    if (folder)
        closedir(folder);
    remove(path);
}

void spool_work(char to[4096])
{
    static unsigned number;
    snprintf(to, 4096, "%s/.save-%u", options.spool, number++);
    mkdir(to, 0700); /* `recorder save` tells if that failed */
    strcat(to, "/rec");
}

void spool_work_end(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path),
             path);
    work_remove(folder);
}

/* Writes a file whole, or not at all. Returns null, or why it could not. */
static const char *file_write(const char *path, const char *text, size_t size)
{
    char part[4128];
    const char *wrong = NULL;
    int fd;
    snprintf(part, sizeof part, "%s.part", path);
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return strerror(errno);
    wrong = write_wrong(write(fd, text, size), size);
    if (!wrong && (fsync(fd) != 0 || rename(part, path) != 0))
        wrong = strerror(errno);
    close(fd);
    return wrong;
}

/* Ends a promise of an agent that ended: where neither recording nor error of
 * the process is there, an error says so. */
static void begun_end(const char *path)
{
    static const char why[] = "the agent ended before it was saved";
    const char *wrong = NULL;
    char other[4096];
    int stem = (int)(strlen(path) - strlen(BEGUN));
    bool known = false;
    for (int i = 0; i < KINDS && !known; i++) {
        snprintf(other, sizeof other, "%.*s%s", stem, path, kinds[i]);
        known = access(other, F_OK) == 0;
    }
    if (!known) /* the last kind is an error */
        wrong = file_write(other, why, sizeof why - 1);
    if (wrong)
        say("%s: %s", other, wrong);
    unlink(path);
}

void spool_expect(const char *snapshot, const char *process)
{
    char path[4096];
    int fd;
    spool_path(path, snapshot, "", "");
    mkdir(path, 0700); /* spool_begin() tells if that failed */
    spool_path(path, snapshot, process, BEGUN);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

void spool_expected(const char *snapshot, const char *process)
{
    char path[4096];
    spool_path(path, snapshot, process, BEGUN);
    unlink(path);
}

/* Removes what a killed agent had begun: .save-1, x.rec.zst.part, and a
 * snapshot without `about`, in which nothing was saved yet. */
static void folder_clean(const char *path, bool is_spool)
{
    struct dirent *entry;
    DIR *folder = opendir(path);
    char file[4096];
    bool known;
    snprintf(file, sizeof file, "%.3800s/about", path);
    known = access(file, F_OK) == 0;
    while (folder && (entry = readdir(folder))) {
        const char *name = entry->d_name;
        snprintf(file, sizeof file, "%.3800s/%s", path, name);
        if (is_spool && strncmp(name, ".save-", 6) == 0)
            work_remove(file);
        else if (is_spool && is_name(name))
            folder_clean(file, false);
        else if (ends_with(name, BEGUN) && known)
            begun_end(file);
        else if (ends_with(name, ".part") || ends_with(name, BEGUN))
            unlink(file);
    }
    if (folder)
        closedir(folder);
    if (!is_spool && !known)
        rmdir(path); /* if it is empty */
}

void spool_open(void)
{
    pthread_condattr_t how;
    int fd;
    umask(0077); /* what is in the spool is its owner's alone */
    if (mkdir(options.spool, 0700) != 0 && errno != EEXIST)
        fail("%s: %s", options.spool, strerror(errno));
    fd = open(options.spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || access(options.spool, R_OK | W_OK | X_OK) != 0)
        fail("%s: %s", options.spool, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) /* until this process ends */
        fail("%s: is the spool of an agent that runs", options.spool);
    folder_clean(options.spool, true);
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &how);
}

const char *spool_begin(const char *snapshot, const char *why, const char *by,
                        bool automatic)
{
    char path[4096], *json = NULL;
    size_t size;
    FILE *to = need(open_memstream(&json, &size));
    const char *wrong;
    fprintf(to,
            "{\"ship_ns\":%" PRIu64 ",\"when_ns\":%" PRIu64
            ",\"automatic\":%d,\"why\":",
            real_ns() + (automatic ? SHIP_LATER_NS : 0), real_ns(), automatic);
    json_write(to, why);
    fputs(",\"by\":", to);
    json_write(to, by);
    putc('}', to);
    if (fclose(to) != 0)
        need(NULL);
    spool_path(path, snapshot, "", "");
    wrong = mkdir(path, 0700) != 0 && errno != EEXIST ? strerror(errno) : NULL;
    spool_path(path, snapshot, "about", "");
    if (!wrong)
        wrong = file_write(path, json, size);
    free(json);
    return wrong;
}

void spool_rename(const char *snapshot, const char *to)
{
    char from[4096], path[4096];
    spool_path(from, snapshot, "", "");
    spool_path(path, to, "", "");
    pthread_mutex_lock(&lock);
    if (rename(from, path) != 0)
        say("%s: %s", path, strerror(errno));
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ walk -- */

struct entry {
    char snapshot[65], file[256];
    uint64_t bytes, when_ns;
    bool automatic;
};
struct entries {
    struct entry *all;
    size_t count, max;
};

/* Reads a snapshot's `about`, as text to be freed. Null: it has none. */
static char *about_read(const char *snapshot, size_t *size)
{
    char path[4096], *text = need(malloc(4096));
    ssize_t got;
    int fd;
    spool_path(path, snapshot, "about", "");
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? -1 : read(fd, text, 4096);
    if (fd >= 0)
        close(fd);
    if (got > 0) {
        *size = (size_t)got;
        return text;
    }
    free(text);
    return NULL;
}

/* True while spool_expect()'s note of a process is there. */
static bool is_begun(const char *snapshot, const char *process)
{
    char path[4096];
    spool_path(path, snapshot, process, BEGUN);
    return access(path, F_OK) == 0;
}

static void snapshot_read(struct entries *to, const char *snapshot)
{
    char path[4096], process[65], *about;
    size_t size, files = 0;
    struct dirent *entry;
    DIR *folder;
    uint64_t when_ns = 0;
    bool automatic = true;
    about = about_read(snapshot, &size);
    if (about) {
        when_ns = json_number(about, size, "$.when_ns");
        automatic = json_number(about, size, "$.automatic");
    }
    free(about);
    spool_path(path, snapshot, "", "");
    folder = opendir(path);
    while (folder && (entry = readdir(folder))) {
        const char *name = entry->d_name;
        struct stat is;
        if (*name == '.' || !is_name(name))
            continue;
        files += strcmp(name, "about") != 0;
        if (!kind_of(name, process))
            continue;
        if (is_begun(snapshot, process))
            continue; /* the next agent would not know that it was sent */
        spool_path(path, snapshot, name, "");
        if (lstat(path, &is) != 0 || !S_ISREG(is.st_mode))
            continue;
        to->all =
            need(array_room(to->all, &to->max, to->count + 1, sizeof *to->all));
        to->all[to->count] = (struct entry){.bytes = (uint64_t)is.st_size,
                                            .when_ns = when_ns,
                                            .automatic = automatic};
        snprintf(to->all[to->count].snapshot, 65, "%s", snapshot);
        snprintf(to->all[to->count++].file, 256, "%s", name);
    }
    if (folder)
        closedir(folder);
    if (!files && about && (int64_t)(real_ns() - when_ns) > (int64_t)MINUTE) {
        spool_path(path, snapshot, "about", "");
        unlink(path);
        spool_path(path, snapshot, "", "");
        rmdir(path);
    }
}

static int entry_compare(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return left->when_ns != right->when_ns
               ? (left->when_ns < right->when_ns ? -1 : 1)
               : strcmp(left->file, right->file);
}

/* Lists what is there, the oldest first. */
static struct entries spool_read(void)
{
    struct entries to = {0};
    struct dirent *entry;
    DIR *folder = opendir(options.spool);
    while (folder && (entry = readdir(folder)))
        if (is_name(entry->d_name))
            snapshot_read(&to, entry->d_name);
    if (folder)
        closedir(folder);
    if (to.count)
        qsort(to.all, to.count, sizeof *to.all, entry_compare);
    return to;
}

uint64_t spool_bytes(void)
{
    struct entries in = spool_read();
    uint64_t bytes = 0;
    for (size_t i = 0; i < in.count; i++)
        bytes += in.all[i].bytes;
    free(in.all);
    return bytes;
}

/* Removes files until at most --keep bytes are left: the oldest automatic ones
 * first, those that persons asked for last. */
static void spool_keep(struct entries *in)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < in->count; i++)
        bytes += in->all[i].bytes;
    for (int manual = 0; manual < 2; manual++)
        for (size_t i = 0; i < in->count && bytes > options.keep_bytes; i++) {
            struct entry *e = &in->all[i];
            char path[4096];
            if (e->automatic == (bool)manual || !*e->file)
                continue;
            spool_path(path, e->snapshot, e->file, "");
            unlink(path);
            say("%s/%s is thrown away: the spool has more than %" PRIu64
                " bytes",
                e->snapshot, e->file, options.keep_bytes);
            bytes -= e->bytes;
            *e->file = '\0';
        }
}

/* ------------------------------------------------------------------ ship -- */

/* Packs a recording into a file beside it, which gets its name when it is
 * whole. */
static const char *pack(const char *path, const char *snapshot)
{
    static unsigned char in[1 << 16], out[1 << 16];
    char to[4128], part[4160];
    ZSTD_CStream *stream = need(ZSTD_createCStream());
    const char *wrong = NULL;
    int from, fd;
    ssize_t size = 1;
    snprintf(to, sizeof to, "%s.zst", path);
    snprintf(part, sizeof part, "%s.part", to);
    from = open(path, O_RDWR | O_CLOEXEC);
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (from < 0 || fd < 0)
        wrong = strerror(errno);
    else
        note_snapshot(from, snapshot); /* which may have got another id */
    ZSTD_initCStream(stream, 1);
    while (!wrong && size > 0) {
        ZSTD_inBuffer piece = {in, 0, 0};
        size_t left = 1;
        size = read(from, in, sizeof in);
        if (size < 0)
            wrong = strerror(errno);
        piece.size = size > 0 ? (size_t)size : 0;
        while (!wrong && (piece.pos < piece.size || (size == 0 && left))) {
            ZSTD_outBuffer packed = {out, sizeof out, 0};
            left = ZSTD_compressStream2(stream, &packed, &piece,
                                        size ? ZSTD_e_continue : ZSTD_e_end);
            if (ZSTD_isError(left))
                wrong = ZSTD_getErrorName(left);
            else
                wrong = write_wrong(write(fd, out, packed.pos), packed.pos);
        }
    }
    ZSTD_freeCStream(stream);
    if (!wrong && (fsync(fd) != 0 || rename(part, to) != 0))
        wrong = strerror(errno);
    if (from >= 0)
        close(from);
    if (fd >= 0)
        close(fd);
    unlink(wrong ? part : path);
    return wrong;
}

/* Stores one file. Returns null, or why it could not. */
static const char *send_one(struct hub *hub, const struct entry *e,
                            const char *about, size_t size, bool *again)
{
    static struct object o;
    char path[4096], process[65], *text;
    const char *wrong;
    const char *kind = kind_of(e->file, process);
    bool failed = strcmp(kind, ".error") == 0;
    int fd;
    memset(&o, 0, sizeof o);
    name_of(o.host, options.host);
    snprintf(o.name, sizeof o.name, "%s/%s/%s.rec.zst", o.host, process,
             e->snapshot);
    o.when_ns = json_number(about, size, "$.when_ns");
    text = json_get(about, size, "$.why");
    snprintf(o.why, sizeof o.why, "%s", text ? text : "");
    free(text);
    text = json_get(about, size, "$.by");
    snprintf(o.by, sizeof o.by, "%s", text ? text : "");
    free(text);
    spool_path(path, e->snapshot, e->file, "");
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL; /* it was thrown away */
    if (failed && read(fd, o.error, sizeof o.error - 1) <= 0)
        strcpy(o.error, "unknown");
    wrong = store_put(hub, &o, failed ? -1 : fd, again);
    close(fd);
    if (!wrong)
        unlink(path);
    return wrong;
}

/* Packs and sends one entry. Returns null, or why it could not. */
static const char *ship_one(struct hub *hub, struct entry *e, bool *again)
{
    char path[4096], *about;
    const char *wrong = NULL;
    size_t size;
    int64_t wait_ns;
    pthread_mutex_lock(&lock); /* nobody gives it another id meanwhile */
    about = about_read(e->snapshot, &size);
    spool_path(path, e->snapshot, e->file, "");
    wait_ns = about
                  ? (int64_t)(json_number(about, size, "$.ship_ns") - real_ns())
                  : INT64_MAX;
    /* More than was ever asked for: the clock went back. */
    if (!about || (wait_ns > 0 && wait_ns <= (int64_t)SHIP_LATER_NS)) {
        pthread_mutex_unlock(&lock);
        free(about);
        return NULL;
    }
    if (ends_with(e->file, ".rec")) {
        wrong = pack(path, e->snapshot);
        strcat(e->file, ".zst");
    }
    pthread_mutex_unlock(&lock);
    if (!wrong)
        wrong = send_one(hub, e, about, size, again);
    free(about);
    return wrong;
}

void *spool_ship(void *context)
{
    struct hub *hub = context;
    uint64_t said_ns = 0;
    for (;;) {
        struct entries in = spool_read();
        const char *wrong = NULL;
        bool again = false;
        struct timespec until;
        spool_keep(&in);
        for (size_t i = 0; i < in.count && !wrong; i++)
            if (*in.all[i].file && strlen(in.all[i].file) < 250)
                wrong = ship_one(hub, &in.all[i], &again);
        if (wrong && (!said_ns || now_ns() - said_ns > MINUTE)) {
            say("recordings stay in %s: %s", options.spool, wrong);
            said_ns = now_ns();
        }
        free(in.all);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += wrong ? 5 : 1;
        pthread_mutex_lock(&lock);
        while (!woken || wrong) {
            if (pthread_cond_timedwait(&changed, &lock, &until) == ETIMEDOUT)
                break;
        }
        woken = false;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
