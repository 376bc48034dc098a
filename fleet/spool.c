/* spool.c - recordings that wait to be stored: SPOOL/SNAPSHOT/PROGRAM.PID.rec */
/* SPDX-License-Identifier: MIT */
/*
    All of it survives the agent: a file gets its name when it is whole and on
    the disk. It is packed, sent, and removed when the index of the hub names it.
    One that was sent in part is sent again under another nuid. The recordings of
    a snapshot are sent together, so that the index has one entry for them.
*/
#include "fleet.h"
#include "print.h"
#include "watch.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/file.h>
#include <zstd.h>

#define BEGUN ".begun"
#define KNOWN ".known" /* of the spool: snapshots that were taken */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all names */
static pthread_cond_t changed; /* by the monotonic clock: the other may jump */
static bool woken;
enum {
    TOGETHER = 200, /* recordings of an index entry */
    ABOUT_MAX = 4096,
    PATH_SIZE = 4096
};
/* A snapshot's recordings wait this long for each other. */
static const uint64_t TOGETHER_NS = SECOND;

void spool_wake(void)
{
    pthread_mutex_lock(&lock);
    woken = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

/* Makes the path of a process's file; `kind`: ".rec", ".rec.zst", ".error".
 * Returns it. */
static const char *spool_path(char to[PATH_SIZE], const char *snapshot,
                              const char *process, const char *kind)
{
    snprintf(to, PATH_SIZE, "%s/%s/%s%s", options.spool, snapshot, process,
             kind);
    return to;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), of = strlen(end);
    return size > of && strcmp(text + size - of, end) == 0;
}

/* The ends of a process's file names. */
static const char *const kinds[] = {".rec", ".rec.zst", ".error"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Returns the end of a file's name, and the name of its process; null: it is no
 * file of a process. */
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
    folder_bytes(folder, true);
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

/* Ends a promise of an agent that ended: writes an error, unless there is a
 * recording or an error of the process. */
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
    if (!known) /* the last kind is .error */
        wrong = file_write(other, why, sizeof why - 1);
    if (wrong)
        say("%s: %s", other, wrong);
    unlink(path);
}

void spool_expect(const char *snapshot, const char *process)
{
    char path[4096];
    int fd;
    /* spool_begin() tells if this fails */
    mkdir(spool_path(path, snapshot, "", ""), 0700);
    fd = open(spool_path(path, snapshot, process, BEGUN),
              O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

static void spool_expected(const char *snapshot, const char *process)
{
    char path[4096];
    unlink(spool_path(path, snapshot, process, BEGUN));
}

/* Removes unfinished files of a killed agent: .save-1, x.rec.zst.part, and a
 * snapshot without `about`, which has no recording yet. */
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
            folder_bytes(file, true);
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
    umask(0077); /* recordings may hold secrets */
    if (mkdir(options.spool, 0700) != 0 && errno != EEXIST)
        give_up("%s: %s", options.spool, strerror(errno));
    fd = open(options.spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || access(options.spool, R_OK | W_OK | X_OK) != 0)
        give_up("%s: %s", options.spool, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) /* until this process ends */
        give_up("%s: is the spool of an agent that runs", options.spool);
    folder_clean(options.spool, true);
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &how);
}

const char *spool_begin(const char *snapshot, const char *why, const char *by,
                        bool automatic, uint64_t late_s, size_t processes)
{
    char path[PATH_SIZE], *json;
    size_t size;
    FILE *to = text_begin(&json, &size);
    const char *wrong;
    json_put(to,
             "{'when_ns':%" PRIu64 ",'automatic':%d,'late_s':%" PRIu64
             ",'processes':%zu,'why':%s,'by':%s}",
             real_ns(), automatic, late_s, processes, why, by);
    text_end(to);
    wrong =
        mkdir(spool_path(path, snapshot, "", ""), 0700) != 0 && errno != EEXIST
            ? strerror(errno)
            : file_write(spool_path(path, snapshot, "about", ""), json, size);
    free(json);
    return wrong;
}

/* Each id is a line of a file. An agent that was killed before it wrote the file
 * takes a snapshot again: the index then has a process twice, and its last
 * recording counts. */
void spool_known_write(char (*ids)[65], size_t count, size_t max)
{
    char path[PATH_SIZE], *text;
    size_t size;
    FILE *to = text_begin(&text, &size);
    const char *wrong;
    for (size_t i = count > max ? count - max : 0; i < count; i++)
        fprintf(to, "%s\n", ids[i % max]);
    text_end(to);
    snprintf(path, sizeof path, "%s/" KNOWN, options.spool);
    wrong = file_write(path, text, size);
    if (wrong)
        say("%s: %s", path, wrong);
    free(text);
}

size_t spool_known_read(char (*ids)[65], size_t max)
{
    char path[PATH_SIZE];
    size_t count = 0;
    FILE *from;
    snprintf(path, sizeof path, "%s/" KNOWN, options.spool);
    from = fopen(path, "re");
    while (from && count < max && fscanf(from, "%64s", ids[count]) == 1)
        count += is_name(ids[count]);
    if (from)
        fclose(from);
    return count;
}

void spool_error(const char *snapshot, const char *process, const char *why)
{
    char path[PATH_SIZE];
    const char *wrong;
    size_t size = strcspn(why, "\n");
    wrong =
        file_write(spool_path(path, snapshot, process, ".error"), why, size);
    if (wrong)
        say("%s: %s", path, wrong);
    spool_expected(snapshot, process);
    say("%s: %s is not saved: %.*s", snapshot, process, (int)size, why);
}

/* ------------------------------------------------------------------ walk -- */

struct file {
    char snapshot[65], name[256];
    uint64_t bytes, when_ns;
    bool automatic, waits; /* waits: others of its snapshot are being saved */
};
struct files {
    struct file *all;
    size_t count, max;
};

/* Reads a snapshot's `about`; returns its size, 0: it has none. */
static size_t about_read(const char *snapshot, char text[ABOUT_MAX])
{
    char path[PATH_SIZE];
    return file_text(spool_path(path, snapshot, "about", ""), text, ABOUT_MAX);
}

static void file_add(struct files *to, const struct file *like,
                     const char *name, bool *any_begun)
{
    char path[PATH_SIZE], process[65];
    struct file *f;
    struct stat is;
    if (ends_with(name, BEGUN))
        *any_begun = true;
    if (!is_name(name) || !kind_of(name, process))
        return;
    if (access(spool_path(path, like->snapshot, process, BEGUN), F_OK) == 0)
        return; /* the next agent would not know that it was sent */
    if (lstat(spool_path(path, like->snapshot, name, ""), &is) != 0 ||
        !S_ISREG(is.st_mode))
        return;
    f = ADD(to);
    *f = *like;
    f->bytes = (uint64_t)is.st_size;
    snprintf(f->name, sizeof f->name, "%s", name);
}

/* Lists the files of a snapshot, and removes an old snapshot without files. */
static void snapshot_read(struct files *to, const char *snapshot)
{
    char path[PATH_SIZE], about[ABOUT_MAX];
    struct file like = {0};
    size_t size, first = to->count, entries = 0;
    struct dirent *entry;
    bool begun = false;
    int64_t age;
    DIR *folder;
    snprintf(like.snapshot, sizeof like.snapshot, "%s", snapshot);
    size = about_read(snapshot, about);
    like.when_ns = json_number(about, size, "$.when_ns");
    like.automatic = !size || json_number(about, size, "$.automatic");
    folder = opendir(spool_path(path, snapshot, "", ""));
    while (folder && (entry = readdir(folder)))
        if (*entry->d_name != '.') {
            entries += strcmp(entry->d_name, "about") != 0;
            file_add(to, &like, entry->d_name, &begun);
        }
    if (folder)
        closedir(folder);
    age = (int64_t)(real_ns() - like.when_ns);
    for (size_t i = first; i < to->count; i++)
        to->all[i].waits =
            !size || (begun && age >= 0 && age < (int64_t)TOGETHER_NS);
    if (!entries && size && age > (int64_t)MINUTE) {
        unlink(spool_path(path, snapshot, "about", ""));
        rmdir(spool_path(path, snapshot, "", ""));
    }
}

static int file_compare(const void *a, const void *b)
{
    const struct file *left = a, *right = b;
    int by = array_order(left->when_ns, right->when_ns,
                         strcmp(left->snapshot, right->snapshot));
    return by ? by : strcmp(left->name, right->name);
}

/* Lists the files of all snapshots, the oldest first. */
static struct files spool_read(void)
{
    struct files to = {0};
    struct dirent *entry;
    DIR *folder = opendir(options.spool);
    while (folder && (entry = readdir(folder)))
        if (is_name(entry->d_name))
            snapshot_read(&to, entry->d_name);
    if (folder)
        closedir(folder);
    array_sort(to.all, to.count, file_compare);
    return to;
}

static uint64_t files_bytes(const struct files *in)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < in->count; i++)
        bytes += in->all[i].bytes;
    return bytes;
}

uint64_t spool_bytes(void)
{
    struct files in = spool_read();
    uint64_t bytes = files_bytes(&in);
    free(in.all);
    return bytes;
}

/* Replaces a recording by an error, or removes an error. The caller has the
 * lock. Returns the bytes that this frees. */
static uint64_t file_drop(const struct file *f)
{
    static const char why[] = "the spool had more bytes than --keep";
    char path[PATH_SIZE], process[65];
    bool error = strcmp(kind_of(f->name, process), ".error") == 0;
    unlink(spool_path(path, f->snapshot, f->name, ""));
    if (error)
        return f->bytes;
    spool_path(path, f->snapshot, process, ".error");
    say("%s/%s is thrown away: the spool has more than %" PRIu64 " bytes",
        f->snapshot, f->name, options.keep);
    return file_write(path, why, sizeof why - 1) || f->bytes < sizeof why
               ? f->bytes
               : f->bytes - (sizeof why - 1);
}

/* Packs all that `from` has into `to`; the size is in the packed data. */
static const char *pack_all(ZSTD_CStream *stream, int from, int to)
{
    static unsigned char in[1 << 16], out[1 << 16];
    const char *wrong = NULL;
    ssize_t size = 1;
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
                wrong = write_wrong(write(to, out, packed.pos), packed.pos);
        }
    }
    return wrong;
}

/* Packs a recording into FILE.zst, which gets its name when it is whole. */
static const char *pack(const char *path)
{
    char to[PATH_SIZE + 32], part[PATH_SIZE + 64];
    ZSTD_CStream *stream = need(ZSTD_createCStream());
    const char *wrong = NULL;
    struct stat is;
    int from, fd;
    snprintf(to, sizeof to, "%s.zst", path);
    snprintf(part, sizeof part, "%s.part", to);
    from = open(path, O_RDONLY | O_CLOEXEC);
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (from < 0 || fd < 0 || fstat(from, &is) != 0)
        wrong = strerror(errno);
    ZSTD_initCStream(stream, 1);
    if (!wrong) {
        ZSTD_CCtx_setPledgedSrcSize(stream, (unsigned long long)is.st_size);
        wrong = pack_all(stream, from, fd);
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

/* Packs a recording that waits. Returns the bytes that this frees. */
static uint64_t file_pack(struct file *f)
{
    char path[PATH_SIZE];
    struct stat is;
    uint64_t before = f->bytes;
    spool_path(path, f->snapshot, f->name, "");
    if (!ends_with(f->name, ".rec") || pack(path) ||
        stat(strcat(path, ".zst"), &is) != 0)
        return 0;
    strcat(f->name, ".zst");
    f->bytes = (uint64_t)is.st_size;
    return before - f->bytes;
}

/* Packs, then drops files until at most --keep bytes are left: first the oldest
 * recordings of triggers and deaths, then recordings of people, then errors. */
static void spool_keep(void)
{
    struct files in = {0};
    uint64_t bytes;
    pthread_mutex_lock(&lock);
    in = spool_read();
    bytes = files_bytes(&in);
    for (int pass = -1; pass < 3; pass++)
        for (size_t i = 0; i < in.count && bytes > options.keep; i++) {
            struct file *f = &in.all[i];
            bool error = ends_with(f->name, ".error");
            if (pass < 0)
                bytes -= file_pack(f);
            else if (pass == (error ? 2 : !f->automatic))
                bytes -= file_drop(f);
        }
    pthread_mutex_unlock(&lock);
    free(in.all);
}

const char *spool_take(const char *path, const char *snapshot,
                       const char *process)
{
    char to[PATH_SIZE];
    if (rename(path, spool_path(to, snapshot, process, ".rec")) != 0)
        return strerror(errno);
    spool_expected(snapshot, process);
    spool_keep(); /* here, as the thread that sends may wait for the hub */
    return NULL;
}

/* ------------------------------------------------------------------ ship -- */

const char *boot_id(void)
{
    static char text[40];
    if (!file_text("/proc/sys/kernel/random/boot_id", text, 37))
        strcpy(text, "unknown");
    return text;
}

/* Packs and stores one file, and adds it to the entry. Returns null, or why it
 * could not. */
static const char *ship_one(struct hub *hub, const struct file *f,
                            struct entry *e)
{
    struct recording r = {0};
    char path[PATH_SIZE];
    const char *wrong = NULL, *kind = kind_of(f->name, r.process);
    int fd;
    spool_path(path, f->snapshot, f->name, "");
    pthread_mutex_lock(&lock); /* spool_keep() may drop it */
    if (strcmp(kind, ".rec") == 0) {
        if (access(path, F_OK) == 0)
            wrong = pack(path);
        strcat(path, ".zst");
    }
    fd = wrong ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    pthread_mutex_unlock(&lock);
    if (fd < 0)
        return wrong; /* null: it was dropped */
    if (strcmp(kind, ".error") != 0)
        wrong = store_put(hub, &r, fd);
    else if (read(fd, r.error, sizeof r.error - 1) <= 0)
        strcpy(r.error, "unknown");
    close(fd);
    if (!wrong) {
        *ADD(e) = r;
        metric_add(METRIC_STORED, 1);
        metric_add(METRIC_STORED_BYTES, r.size);
        metric_set(METRIC_SHIPPED_NS, real_ns());
    }
    return wrong;
}

/* Removes all files of the recordings of an entry. */
static void entry_remove(const struct entry *e)
{
    char path[PATH_SIZE];
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < e->count; i++)
        for (int k = 0; k < KINDS; k++)
            unlink(spool_path(path, e->snapshot, e->all[i].process, kinds[k]));
    pthread_mutex_unlock(&lock);
}

/* Sends some files of one snapshot, and names all that got there in the index.
 * Returns null, or why something could not be sent. */
static const char *ship(struct hub *hub, const struct file *files, size_t count)
{
    struct entry e = {0};
    char about[ABOUT_MAX];
    size_t size = about_read(files->snapshot, about);
    const char *wrong = NULL, *unnamed;
    if (!size)
        return NULL;
    snprintf(e.snapshot, sizeof e.snapshot, "%s", files->snapshot);
    snprintf(e.host, sizeof e.host, "%s", options.host);
    snprintf(e.boot, sizeof e.boot, "%s", boot_id());
    json_copy(e.why, sizeof e.why, about, size, "$.why");
    json_copy(e.by, sizeof e.by, about, size, "$.by");
    e.when_ns = json_number(about, size, "$.when_ns");
    e.late_s = json_number(about, size, "$.late_s");
    e.processes = json_number(about, size, "$.processes");
    for (size_t i = 0; i < count && !wrong; i++)
        wrong = ship_one(hub, &files[i], &e);
    unnamed = e.count ? index_put(hub, &e) : NULL;
    if (!unnamed)
        entry_remove(&e);
    free(e.all);
    return wrong ? wrong : unnamed;
}

static const char *ship_all(struct hub *hub, const struct files *in)
{
    const char *wrong = NULL;
    for (size_t i = 0, k; i < in->count && !wrong; i = k) {
        const struct file *f = &in->all[i];
        for (k = i + 1; k < in->count && k - i < TOGETHER &&
                        strcmp(in->all[k].snapshot, f->snapshot) == 0;
             k++)
            ;
        if (!f->waits)
            wrong = ship(hub, f, k - i);
    }
    return wrong;
}

void *spool_ship(void *context)
{
    uint64_t said_ns = 0;
    for (;;) {
        struct files in;
        const char *wrong;
        struct timespec until;
        spool_keep();
        in = spool_read();
        wrong = ship_all(context, &in);
        free(in.all);
        if (wrong)
            say_seldom(&said_ns, "recordings stay in %s: %s", options.spool,
                       wrong);
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
