/* verbs.c - freeze, list, fetch, who and bucket. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "fleet.h"
#include "shown.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder/regex.h"

void snapshot_new(char to[65])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    unsigned char random[4] = {0};
    time_t now = time(NULL);
    struct tm tm;
    size_t at;
    gmtime_r(&now, &tm);
    at = strftime(to, 65, "%Y%m%d-%H%M%S-", &tm);
    if (getrandom(random, sizeof random, 0) < 0)
        random[0] = (unsigned char)getpid();
    for (size_t i = 0; i < sizeof random; i++)
        to[at++] = digits[random[i] % 36];
    to[at] = '\0';
}

char *snapshot_request(const char *snapshot, const char *by, const char *why,
                       bool automatic)
{
    char *json = NULL;
    size_t size;
    FILE *to = need(open_memstream(&json, &size));
    fprintf(to, "{\"id\":\"%s\",\"automatic\":%d,\"by\":", snapshot, automatic);
    json_write(to, by);
    fputs(",\"why\":", to);
    json_write(to, why);
    putc('}', to);
    if (fclose(to) != 0)
        need(NULL);
    return json;
}

static const char *shown(const char *text)
{
    static char all[4][300];
    static unsigned next;
    size_t size = strlen(text);
    char *to = all[next++ % 4];
    snprintf(to, sizeof *all, "%s", text_shown(text, &size));
    return to;
}

/* "29.1 MB" */
static const char *bytes_text(uint64_t bytes)
{
    static char text[32];
    double value = (double)bytes;
    if (bytes < 1000000)
        snprintf(text, sizeof text, "%.1f kB", value / 1e3);
    else
        snprintf(text, sizeof text, "%.1f MB", value / 1e6);
    return text;
}

/* ----------------------------------------------------------------- hosts -- */

struct host {
    char name[65];
    bool answered;
};
struct hosts {
    struct host *all;
    size_t count, max;
};

static struct host *host_of(struct hosts *in, const char *name)
{
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->all[i].name, name) == 0)
            return &in->all[i];
    in->all =
        need(array_room(in->all, &in->max, in->count + 1, sizeof *in->all));
    in->all[in->count] = (struct host){0};
    snprintf(in->all[in->count].name, sizeof in->all->name, "%s", name);
    return &in->all[in->count++];
}

struct answer {
    natsMsg *message;
    uint64_t asked_ns, took_ns; /* since 1970; until it was here */
};

/* Asks all agents until none answered for half a second, at least for a second,
 * and for 30 s should somebody answer for ever; then calls `each`, which takes
 * its time, with every answer. The hub says at once if there is no agent. */
static void ask(struct hub *hub, const char *request,
                void (*each)(void *, const struct answer *), void *context)
{
    natsInbox *inbox;
    natsSubscription *sub;
    struct answer *all = NULL, one = {0};
    uint64_t begun_ns;
    size_t count = 0, max = 0;
    if (natsInbox_Create(&inbox) != NATS_OK ||
        natsConnection_SubscribeSync(&sub, hub->connection, inbox) != NATS_OK)
        fail("%s: the answers have no inbox", options.server);
    one.asked_ns = real_ns();
    begun_ns = now_ns();
    if (natsConnection_PublishRequestString(hub->connection, hub_subject(),
                                            inbox, request) != NATS_OK)
        fail("%s: the request cannot be sent", options.server);
    while (now_ns() - begun_ns < 30 * SECOND &&
           natsSubscription_NextMsg(&one.message, sub,
                                    !count ? 5000
                                    : now_ns() - begun_ns < SECOND
                                        ? 1000
                                        : 500) == NATS_OK) {
        one.took_ns = now_ns() - begun_ns;
        all = need(array_room(all, &max, count + 1, sizeof *all));
        all[count++] = one;
    }
    for (size_t i = 0; i < count; i++) {
        each(context, &all[i]);
        natsMsg_Destroy(all[i].message);
    }
    free(all);
    natsSubscription_Destroy(sub);
    natsInbox_Destroy(inbox);
}

/* Returns the value at a path of an answer, to be freed; null: there is
 * none. */
static char *answer_text(const struct answer *a, const char *path)
{
    return json_get(natsMsg_GetData(a->message),
                    (size_t)natsMsg_GetDataLength(a->message), path);
}

static uint64_t answer_number(const struct answer *a, const char *path)
{
    return json_number(natsMsg_GetData(a->message),
                       (size_t)natsMsg_GetDataLength(a->message), path);
}

/* ---------------------------------------------------------------- freeze -- */

struct objects {
    struct object *all;
    size_t count, max;
    bool complete;
};

static void object_keep(void *context, const struct object *o)
{
    struct objects *to = context;
    to->all =
        need(array_room(to->all, &to->max, to->count + 1, sizeof *to->all));
    to->all[to->count++] = *o;
}

struct freezing {
    struct hosts hosts;
    const char *id;
    size_t answered, processes, stored;
    uint64_t told_ns, bytes, from; /* what of the bucket was listed */
    struct objects objects;        /* of this snapshot */
    bool listed;                   /* once: who stored before is known */
};

static void freeze_answer(void *context, const struct answer *a)
{
    struct freezing *f = context;
    char *host = answer_text(a, "$.host"), name[65];
    struct host *of;
    if (!host) /* no agent says that */
        return;
    name_of(name, host);
    free(host);
    of = host_of(&f->hosts, name);
    if (of->answered)
        say("%s: several agents have this name: give each its own --host",
            name);
    f->answered += !of->answered;
    of->answered = true;
    f->processes += answer_number(a, "$.processes");
    f->told_ns = a->took_ns;
}

/* Keeps an object of this snapshot, once: it may have been stored twice. */
static void freeze_object(void *context, const struct object *o)
{
    struct freezing *f = context;
    if (!f->listed)
        host_of(&f->hosts, o->host);
    if (strcmp(o->snapshot, f->id) != 0)
        return;
    for (size_t i = 0; i < f->objects.count; i++)
        if (strcmp(f->objects.all[i].name, o->name) == 0) {
            f->objects.all[i] = *o;
            return;
        }
    object_keep(&f->objects, o);
}

/* Waits until each process that was told of has its object, at most --wait. */
static void freeze_wait(struct hub *hub, struct freezing *f, uint64_t begun_ns)
{
    bool known = true;
    while (f->objects.count < f->processes &&
           now_ns() - begun_ns <= options.wait_ns) {
        usleep(known ? 200000 : 1000000);
        /* What cannot be listed now may be so later: the line gets its end. */
        known = store_list(hub, &f->from, freeze_object, f);
    }
    for (size_t i = 0; i < f->objects.count; i++) {
        f->stored += !*f->objects.all[i].error;
        f->bytes += f->objects.all[i].size;
    }
}

/* Ends the line with the hosts that did not answer; returns their number. */
static size_t unheard_say(const struct freezing *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->hosts.count; i++)
        if (!f->hosts.all[i].answered)
            printf("%s%s",
                   count++ ? ", " : "; not heard of: ", f->hosts.all[i].name);
    putchar('\n');
    return count;
}

static void failures_say(const struct freezing *f)
{
    for (size_t i = 0; i < f->objects.count; i++) {
        const struct object *o = &f->objects.all[i];
        if (*o->error)
            say("%s: %s is not saved: %s", o->host, o->process,
                shown(o->error));
    }
}

int fleet_freeze(void)
{
    struct freezing f = {0};
    struct hub hub;
    char id[65], by[65], *request;
    const char *user = getenv("USER");
    size_t missing;
    uint64_t begun_ns;
    bool known;
    snapshot_new(id);
    f.id = id;
    name_of(by, user ? user : "somebody");
    request = snapshot_request(id, by, options.why, false);
    hub_connect(&hub, false);
    begun_ns = now_ns();
    ask(&hub, request, freeze_answer, &f);
    free(request);
    if (!f.answered)
        fail("no agent of %s answers", options.service);
    known = store_list(&hub, &f.from, freeze_object, &f);
    f.listed = true;
    printf("snapshot %s: %zu of %zu agents within %" PRIu64
           " ms, %zu processes%s",
           id, f.answered, f.hosts.count, (f.told_ns + 999999) / 1000000,
           f.processes, known ? "" : "; what is stored is not known\n");
    fflush(stdout);
    if (!known)
        return 1;
    freeze_wait(&hub, &f, begun_ns);
    printf("; %zu stored, %s, %.1f s", f.stored, bytes_text(f.bytes),
           (double)(now_ns() - begun_ns) / SECOND);
    missing = unheard_say(&f);
    failures_say(&f);
    hub_close(&hub);
    return missing || f.stored < f.processes;
}

/* ------------------------------------------------------------------ list -- */

static int object_compare(const void *a, const void *b)
{
    const struct object *left = a, *right = b;
    int by = strcmp(left->snapshot, right->snapshot);
    return by ? by : strcmp(left->name, right->name);
}

static struct objects objects_read(struct hub *hub)
{
    struct objects all = {0};
    uint64_t from = 0;
    all.complete = store_list(hub, &from, object_keep, &all);
    if (all.count)
        qsort(all.all, all.count, sizeof *all.all, object_compare);
    return all;
}

static void snapshot_print(const struct object *o, size_t count)
{
    char date[32] = "?";
    time_t when = (time_t)(o->when_ns / SECOND);
    size_t hosts = 0, failed = 0;
    uint64_t bytes = 0;
    struct tm tm;
    if (gmtime_r(&when, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    for (size_t i = 0; i < count; i++) {
        hosts += i == 0 || strcmp(o[i].host, o[i - 1].host) != 0;
        failed += *o[i].error != '\0';
        bytes += o[i].size;
    }
    printf("%-22s %-19s %5zu %9zu %8s  %s", o->snapshot, date, hosts, count,
           bytes_text(bytes), shown(o->why));
    if (failed)
        printf(" (%zu not saved)", failed);
    putchar('\n');
    for (size_t i = 0; i < count && options.verbose; i++)
        printf("    %-30s %-24s %s\n", o[i].host, o[i].process,
               *o[i].error ? shown(o[i].error) : bytes_text(o[i].size));
}

int fleet_list(void)
{
    struct hub hub;
    struct objects all;
    hub_connect(&hub, false);
    all = objects_read(&hub);
    if (!all.complete && !all.count)
        return 1;
    printf("%-22s %-19s %5s %9s %8s  WHY\n", "SNAPSHOT", "WHEN", "HOSTS",
           "PROCESSES", "SIZE");
    for (size_t i = 0, k; i < all.count; i = k) {
        for (k = i + 1; k < all.count &&
                        strcmp(all.all[k].snapshot, all.all[i].snapshot) == 0;
             k++)
            ;
        snapshot_print(&all.all[i], k - i);
    }
    free(all.all);
    hub_close(&hub);
    return !all.complete;
}

/* ----------------------------------------------------------------- fetch -- */

/* A recording that is being fetched: it gets its name when it is whole. */
struct fetched {
    const struct object *object; /* null: it cannot be fetched */
    char *path;
    int64_t offset_ns, error_ns;
};

/* OUTPUT/HOST-PROGRAM.PID.rec, with a number where that is another's name: of
 * b-shop.1 on host a, and of shop.1 on host a-b. */
static char *fetched_name(const struct object *o, const struct fetched *all,
                          const struct fetched *end)
{
    char path[4096], number[16] = "";
    for (unsigned n = 2;; n++) {
        const struct fetched *other = all;
        snprintf(path, sizeof path, "%.3900s/%s-%s%s.rec", options.output,
                 o->host, o->process, number);
        while (other < end && strcmp(other->path, path) != 0)
            other++;
        if (other == end)
            return need(strdup(path));
        snprintf(number, sizeof number, "-%u", n);
    }
}

/* Opens a file under the name that it has until it is whole, which is stored in
 * `part`. */
static int part_open(const struct fetched *f, char part[4104], int flags)
{
    int fd;
    snprintf(part, 4104, "%.4096s.part", f->path);
    if (flags)
        unlink(part); /* of a fetch that was killed */
    fd = open(part, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd < 0)
        fail("%s: %s", part, strerror(errno));
    return fd;
}

/* True if a file is there that is of another snapshot. */
static bool is_taken(const char *path, const char *snapshot)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat is;
    bool taken = fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) &&
                 note_is_other(fd, snapshot);
    if (fd >= 0)
        close(fd);
    return taken;
}

static void fetch_begin(struct hub *hub, const struct object *o,
                        struct fetched *f, const struct fetched *all)
{
    char part[4104];
    const char *wrong;
    int fd;
    f->path = fetched_name(o, all, f);
    if (*o->error) {
        say("%s: was not saved: %s", o->name, shown(o->error));
        return;
    }
    if (is_taken(f->path, o->snapshot)) {
        say("%s: is of another snapshot: -o names another folder", f->path);
        return;
    }
    fd = part_open(f, part, O_CREAT | O_EXCL);
    wrong = store_get(hub, o, fd, &f->offset_ns, &f->error_ns);
    close(fd); /* there may be more of them than may be open */
    if (wrong) {
        unlink(part);
        say("%s: %s", o->name, wrong);
    } else {
        f->object = o;
    }
}

/* Sets a recording's clock by the narrowest measurement of its host. */
static bool fetch_end(struct fetched *f, const struct fetched *all,
                      size_t count)
{
    const struct fetched *best = f;
    char part[4104];
    int fd = part_open(f, part, 0);
    bool done;
    for (size_t i = 0; i < count; i++)
        if (all[i].object && all[i].error_ns &&
            strcmp(all[i].object->host, f->object->host) == 0 &&
            (!best->error_ns || all[i].error_ns < best->error_ns))
            best = &all[i];
    if (best->error_ns && !note_clock(fd, best->offset_ns, best->error_ns))
        say("%s: has no note for its clock", f->object->name);
    done = fsync(fd) == 0 && rename(part, f->path) == 0;
    if (!done)
        say("%s: %s", f->path, strerror(errno));
    close(fd);
    if (done)
        puts(f->path);
    return done;
}

int fleet_fetch(const char *snapshot)
{
    struct hub hub;
    struct objects all;
    struct fetched *fetched;
    size_t chosen = 0, done = 0, i;
    if (!is_name(snapshot))
        fail("%.80s: is no snapshot", shown(snapshot));
    hub_connect(&hub, false);
    all = objects_read(&hub);
    if (!all.complete && !all.count)
        return 1;
    fetched = need(calloc(all.count + 1, sizeof *fetched));
    for (i = 0; i < all.count; i++) {
        if (strcmp(all.all[i].snapshot, snapshot) != 0 ||
            (options.hosts &&
             !recorder_regex_match_(options.hosts, all.all[i].host)))
            continue;
        if (!chosen && mkdir(options.output, 0700) != 0 && errno != EEXIST)
            fail("%s: %s", options.output, strerror(errno));
        fetch_begin(&hub, &all.all[i], &fetched[chosen++], fetched);
    }
    for (i = 0; i < chosen; i++)
        done += fetched[i].object && fetch_end(&fetched[i], fetched, chosen);
    free(fetched);
    free(all.all);
    hub_close(&hub);
    if (!chosen)
        fail("%s has no such snapshot: recorder-fleet list %s", hub_bucket(),
             options.service);
    return done < chosen || !all.complete;
}

/* ------------------------------------------------------------------- who -- */

static void who_answer(void *context, const struct answer *a)
{
    char *host = answer_text(a, "$.host");
    uint64_t clock = answer_number(a, "$.clock_ns");
    if (!host)
        return;
    ++*(size_t *)context;
    printf("%-30s %9" PRIu64 " %10s %+9.1f ms +-%.1f\n", shown(host),
           answer_number(a, "$.processes"),
           bytes_text(answer_number(a, "$.spool")),
           (double)(int64_t)(clock - (a->asked_ns + a->took_ns / 2)) / 1e6,
           (double)a->took_ns / 2e6);
    free(host);
}

int fleet_who(void)
{
    struct hub hub;
    size_t count = 0;
    hub_connect(&hub, false);
    printf("%-30s %9s %10s %9s\n", "HOST", "PROCESSES", "SPOOL", "CLOCK");
    ask(&hub, "{\"who\":1}", who_answer, &count);
    hub_close(&hub);
    if (!count)
        fail("no agent of %s answers", options.service);
    return 0;
}

/* ---------------------------------------------------------------- bucket -- */

/* "10G", "7d": a limit of the bucket. */
static int64_t limit_of(const char *text, const char *units,
                        const uint64_t *each)
{
    uint64_t limit;
    if (!quantity(text, units, each, &limit))
        fail("%s: is no number with one of %s behind it", text, units);
    return (int64_t)limit;
}

int fleet_bucket(void)
{
    static const uint64_t bytes[] = {1 << 20, 1 << 30, UINT64_C(1) << 40, 0};
    static const uint64_t ns[] = {MINUTE, 60 * MINUTE, 24 * 60 * MINUTE, 0};
    char name[160], chunks[160], metas[160];
    const char *subjects[] = {chunks, metas};
    struct hub hub;
    jsStreamConfig config;
    jsErrCode code = 0;
    natsStatus status;
    snprintf(name, sizeof name, "OBJ_%s", hub_bucket());
    snprintf(chunks, sizeof chunks, "$O.%s.C.>", hub_bucket());
    snprintf(metas, sizeof metas, "$O.%s.M.>", hub_bucket());
    jsStreamConfig_Init(&config);
    config.Name = name;
    config.Subjects = subjects;
    config.SubjectsLen = 2;
    config.DenyDelete = config.DenyPurge = true; /* nor rollup headers */
    config.Discard = js_DiscardNew;
    config.MaxBytes = limit_of(options.max, "MGT", bytes);
    config.MaxAge = limit_of(options.age, "mhd", ns);
    config.Duplicates = 10 * MINUTE;
    config.Replicas = atoi(options.replicas);
    if (config.Replicas < 1 || config.Replicas > 5)
        fail("--replicas %s: a bucket is on 1 to 5 servers", options.replicas);
    if (config.MaxAge && config.MaxAge < config.Duplicates)
        config.Duplicates = config.MaxAge;
    hub_connect(&hub, false);
    status = js_AddStream(NULL, hub.stream, &config, NULL, &code);
    if (status != NATS_OK && code == 10058) /* there is one: change it */
        status = js_UpdateStream(NULL, hub.stream, &config, NULL, &code);
    if (code == 10047)
        fail("bucket %s: the hub has less room than %s: its max_file, or "
             "another --max",
             hub_bucket(), options.max);
    if (status != NATS_OK)
        fail("bucket %s: %s (%d)", hub_bucket(), natsStatus_GetText(status),
             (int)code);
    printf("bucket %s: at most %s, for %s\n", hub_bucket(),
           config.MaxBytes ? options.max : "what the hub takes",
           config.MaxAge ? options.age : "ever");
    hub_close(&hub);
    return 0;
}
