/* verbs.c - the verbs freeze, list, bucket, who. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"
#include "print.h"

#include <sys/random.h>

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

char *snapshot_request(const char *snapshot, const char *by, const char *why)
{
    char *json;
    size_t size;
    FILE *to = text_begin(&json, &size);
    json_put(to, "{'id':%s,'by':%s,'why':%s", snapshot, by, why);
    if (options.hosts)
        json_put(to, ",'hosts':%s", options.hosts);
    if (options.labels)
        json_put(to, ",'label':%s", options.labels);
    putc('}', to);
    text_end(to);
    return json;
}

const char *shown(const char *text)
{
    static char all[4][300];
    static unsigned next;
    size_t size = strlen(text);
    char *to = all[next++ % 4];
    snprintf(to, sizeof *all, "%s", text_shown(text, &size));
    return to;
}

const char *bytes_text(uint64_t bytes)
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
    uint64_t processes, found; /* it has; the index has */
};
struct hosts {
    struct host *all; /* by name */
    size_t count, max;
};

/* Finds a host, or adds it. */
static struct host *host_of(struct hosts *in, const char *name)
{
    size_t at = array_first(in->count, i, strcmp(in->all[i].name, name) >= 0);
    if (at < in->count && strcmp(in->all[at].name, name) == 0)
        return &in->all[at];
    (void)ADD(in);
    memmove(&in->all[at + 1], &in->all[at],
            (in->count - 1 - at) * sizeof *in->all);
    in->all[at] = (struct host){0};
    snprintf(in->all[at].name, sizeof in->all->name, "%s", name);
    return &in->all[at];
}

struct answer {
    natsMsg *message;
    uint64_t asked_ns, took_ns; /* since 1970; until it was here */
};

/* Asks all agents, and waits until none answered for half a second: at least a
 * second, at most 30 s. Then calls `each`, which may be slow, with each answer.
 * The hub answers at once if there is no agent. */
static void ask(struct hub *hub, const char *request,
                void (*each)(void *, const struct answer *), void *context)
{
    char inbox[SUBJECT_MAX], subject[SUBJECT_MAX], service[65], id[64];
    natsSubscription *sub;
    struct {
        struct answer *all;
        size_t count, max;
    } got = {0};
    struct answer one = {0};
    uint64_t begun_ns;
    nuid_new(id);
    hub_token(service, options.service);
    snprintf(inbox, sizeof inbox, "_INBOX.%s.reader.%s", service, id);
    hub_subject(subject, "freeze", NULL);
    if (natsConnection_SubscribeSync(&sub, hub->connection, inbox) != NATS_OK)
        give_up("%s: the answers have no inbox", options.server);
    natsSubscription_SetPendingLimits(sub, -1, -1);
    one.asked_ns = real_ns();
    begun_ns = now_ns();
    if (natsConnection_PublishRequestString(hub->connection, subject, inbox,
                                            request) != NATS_OK)
        give_up("%s: the request cannot be sent", options.server);
    while (now_ns() - begun_ns < 30 * SECOND &&
           natsSubscription_NextMsg(&one.message, sub,
                                    !got.count ? 5000
                                    : now_ns() - begun_ns < SECOND
                                        ? 1000
                                        : 500) == NATS_OK) {
        one.took_ns = now_ns() - begun_ns;
        *ADD(&got) = one;
    }
    for (size_t i = 0; i < got.count; i++) {
        each(context, &got.all[i]);
        natsMsg_Destroy(got.all[i].message);
    }
    free(got.all);
    natsSubscription_Destroy(sub);
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

struct freezing {
    struct hosts hosts;
    const char *id;
    size_t answered, processes, stored, refused;
    size_t unlike; /* answers of hosts whose labels --label does not match */
    uint64_t told_ns, bytes;
    struct index index; /* of this snapshot */
};

static void freeze_answer(void *context, const struct answer *a)
{
    struct freezing *f = context;
    char *host = answer_text(a, "$.host"), name[65];
    struct host *of;
    if (!host) /* it is no agent's answer */
        return;
    name_of(name, host);
    free(host);
    of = host_of(&f->hosts, name);
    if (of->answered) {
        say("%s: several agents have this name: give each its own --host",
            name);
    } else {
        of->answered = true;
        if (answer_number(a, "$.unlike")) {
            f->unlike++;
            return;
        }
        f->answered++;
        of->processes = answer_number(a, "$.processes");
        f->processes += of->processes;
        if (answer_number(a, "$.refused")) {
            say("%s: refuses: it had too many freezes in this hour", name);
            f->refused++;
        }
    }
    f->told_ns = a->took_ns;
}

static void freeze_host(void *context, const char *host)
{
    if (!options.hosts || recorder_regex_match_(options.hosts, host))
        host_of(context, host);
}

/* True if each host that answered has as many recordings in the index as it has
 * processes. */
static bool freeze_done(struct freezing *f)
{
    if (f->index.count < f->processes)
        return false;
    index_unique(&f->index);
    for (size_t i = 0; i < f->hosts.count; i++)
        f->hosts.all[i].found = 0;
    for (size_t i = 0; i < f->index.count; i++)
        host_of(&f->hosts, f->index.all[i].entry->host)->found++;
    for (size_t i = 0; i < f->hosts.count; i++)
        if (f->hosts.all[i].found < f->hosts.all[i].processes)
            return false;
    return true;
}

/* Waits until the index has all processes of the answers, at most --wait. */
static void freeze_wait(struct hub *hub, struct freezing *f, uint64_t begun_ns)
{
    while (!freeze_done(f) && now_ns() - begun_ns <= options.wait) {
        usleep(50000);
        index_read(hub, f->id, &f->index);
    }
    index_unique(&f->index);
    for (size_t i = 0; i < f->index.count; i++) {
        f->stored += !*f->index.all[i].recording->error;
        f->bytes += f->index.all[i].recording->size;
    }
}

/* Ends the line with the hosts that did not answer; returns their number. */
static size_t unheard_say(const struct freezing *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->hosts.count; i++)
        if (!f->hosts.all[i].answered && !f->hosts.all[i].found)
            printf("%s%s",
                   count++ ? ", " : "; not heard of: ", f->hosts.all[i].name);
    putchar('\n');
    return count;
}

static void failures_say(const struct freezing *f)
{
    for (size_t i = 0; i < f->index.count; i++) {
        const struct object *o = &f->index.all[i];
        if (*o->recording->error)
            say("%s: %s is not saved: %s", o->entry->host,
                o->recording->process, shown(o->recording->error));
    }
}

/* Asks all agents; ends the command if none answers. */
static void freeze_ask(struct hub *hub, struct freezing *f)
{
    const char *user = getenv("USER");
    char by[65], *request;
    name_of(by, user ? user : "somebody");
    request = snapshot_request(f->id, by, options.why);
    requests_keep(hub, request);
    ask(hub, request, freeze_answer, f);
    free(request);
    if (!f->answered && f->unlike)
        give_up("no agent of %s has a label that matches", options.service);
    if (!f->answered)
        give_up("no agent of %s answers", options.service);
}

int fleet_freeze(void)
{
    struct freezing f = {0};
    struct hub hub;
    char id[65];
    size_t missing;
    uint64_t begun_ns;
    snapshot_new(id);
    f.id = id;
    hub_connect(&hub, false);
    f.index.next = index_end(&hub);
    begun_ns = now_ns();
    freeze_ask(&hub, &f);
    if (f.index.next && !index_hosts(&hub, freeze_host, &f.hosts))
        f.index.next = 0;
    printf("snapshot %s: %zu of %zu agents within %" PRIu64
           " ms, %zu processes%s",
           id, f.answered, f.hosts.count - f.unlike,
           (f.told_ns + 999999) / 1000000, f.processes,
           f.index.next ? "" : "; the stored recordings are unknown\n");
    fflush(stdout);
    if (!f.index.next)
        return 1;
    freeze_wait(&hub, &f, begun_ns);
    printf("; %zu stored, %s, %.1f s", f.stored, bytes_text(f.bytes),
           (double)(now_ns() - begun_ns) / SECOND);
    missing = unheard_say(&f);
    failures_say(&f);
    hub_close(&hub);
    return missing || f.refused || f.stored < f.processes;
}

/* ------------------------------------------------------------------ list -- */

static void object_print(const struct object *o)
{
    const char *error = o->recording->error;
    printf("    %-30s %-24s %s", o->entry->host, o->recording->process,
           *error ? shown(error) : bytes_text(o->recording->size));
    if (o->entry->late_s)
        printf(", %" PRIu64 " s late", o->entry->late_s);
    putchar('\n');
}

/* Prints the line of a snapshot of `count` recordings. Lacking are processes
 * that their agents counted, and neither stored nor gave up. */
static void snapshot_print(const struct object *o, size_t count)
{
    char date[32] = "?";
    size_t hosts = 0, failed = 0, lacking = 0, of_host = 0, pinned = 0;
    const struct object *first = o; /* no late one, if there is another */
    uint64_t bytes = 0;
    time_t when;
    struct tm tm;
    for (size_t i = 0; i < count; i++) {
        if (first->entry->late_s > o[i].entry->late_s)
            first = &o[i];
        failed += *o[i].recording->error != '\0';
        pinned += o[i].entry->pinned;
        bytes += o[i].recording->size;
        of_host++;
        if (i + 1 < count &&
            strcmp(o[i].entry->host, o[i + 1].entry->host) == 0)
            continue;
        if (o[i].entry->processes > of_host)
            lacking += o[i].entry->processes - of_host;
        hosts++;
        of_host = 0;
    }
    when = (time_t)(first->entry->when_ns / SECOND);
    if (gmtime_r(&when, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    printf("%-22s %-19s %5zu %9zu %8s  %s", o->entry->snapshot, date, hosts,
           count, bytes_text(bytes), shown(o->entry->why));
    if (failed)
        printf(" (%zu not saved)", failed);
    if (lacking)
        printf(" (%zu not stored yet)", lacking);
    if (pinned == count)
        printf(" (pinned)");
    else if (pinned)
        printf(" (%zu pinned)", pinned);
    putchar('\n');
    for (size_t i = 0; i < count && options.verbose; i++)
        object_print(&o[i]);
}

int fleet_list(void)
{
    struct hub hub;
    struct index in = {0};
    bool complete;
    hub_connect(&hub, false);
    complete = index_read_all(&hub, NULL, &in);
    if (!complete && !in.count)
        return 1;
    index_unique(&in);
    printf("%-22s %-19s %5s %9s %8s  WHY\n", "SNAPSHOT", "WHEN", "HOSTS",
           "PROCESSES", "SIZE");
    for (size_t i = 0, k; i < in.count; i = k) {
        for (k = i + 1; k < in.count && strcmp(in.all[k].entry->snapshot,
                                               in.all[i].entry->snapshot) == 0;
             k++)
            ;
        snapshot_print(&in.all[i], k - i);
    }
    hub_close(&hub);
    return !complete;
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
    if (count)
        budget_print(&hub);
    hub_close(&hub);
    if (!count)
        give_up("no agent of %s answers", options.service);
    return 0;
}

/* ---------------------------------------------------------------- bucket -- */

/* "10G", "7d": a limit of the bucket. */
static int64_t limit_of(const char *text, const char *units,
                        const uint64_t *each)
{
    uint64_t limit;
    if (!quantity(text, units, each, &limit))
        give_up("%s: is no number and one of %s", text, units);
    return (int64_t)limit;
}

void stream_make(struct hub *hub, const char *kind, const char *subjects[2],
                 jsStreamConfig *config)
{
    char name[96];
    jsErrCode code = 0;
    natsStatus status;
    config->Name = hub_stream(name, kind);
    config->Subjects = subjects;
    config->SubjectsLen = subjects[1] ? 2 : 1;
    config->Replicas = atoi(options.replicas);
    config->Discard = js_DiscardNew;
    config->DenyDelete = true;
    if (config->MaxAge && config->MaxAge < config->Duplicates)
        config->Duplicates = config->MaxAge;
    status = js_AddStream(NULL, hub->stream, config, NULL, &code);
    if (status != NATS_OK && code == 10058) /* there is one: change it */
        status = js_UpdateStream(NULL, hub->stream, config, NULL, &code);
    if (code == 10047)
        give_up("bucket %s: the hub has less room than %s: its max_file, or "
                "another --max",
                config->Name, options.max);
    if (status != NATS_OK)
        give_up("bucket %s: %s (%d)", config->Name, natsStatus_GetText(status),
                (int)code);
}

/* Makes the stream of the chunks, of the index or, without `last`, of pinned
 * snapshots, which the operator may purge. Users read messages one at a
 * time: the right to make a consumer would let them write anywhere. */
static void store_make(struct hub *hub, const char *kind, const char *last,
                       const char *host, int64_t bytes, int64_t age)
{
    char subject[SUBJECT_MAX], other[SUBJECT_MAX];
    const char *subjects[2] = {subject, host ? other : NULL};
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    if (last)
        hub_host_subject(subject, "store", "*", kind, last);
    else
        hub_subject(subject, kind, ">");
    if (host)
        hub_host_subject(other, "store", "*", host, NULL);
    config.AllowDirect = true;
    config.DenyPurge = last;
    config.MaxBytes = bytes;
    config.MaxAge = age;
    config.Duplicates = 10 * MINUTE;
    stream_make(hub, kind, subjects, &config);
}

/* The index outlives the message of an agent that it is on a host. */
int fleet_bucket(void)
{
    static const uint64_t bytes[] = {1 << 20, 1 << 30, UINT64_C(1) << 40, 0};
    static const uint64_t ns[] = {MINUTE, 60 * MINUTE, 24 * 60 * MINUTE, 0};
    static const int64_t index_age = 3 * 60 * MINUTE;
    struct hub hub;
    int64_t max = limit_of(options.max, "MGT", bytes);
    int64_t age = limit_of(options.age, "mhd", ns);
    int replicas = atoi(options.replicas);
    if (replicas < 1 || replicas > 5)
        give_up("--replicas %s: a bucket is on 1 to 5 servers",
                options.replicas);
    if (options.join < SECOND)
        give_up("--join is at least a second");
    hub_connect(&hub, false);
    store_make(&hub, "data", "*", NULL, max, age);
    store_make(&hub, "index", "*", "host", 0,
               age && age < index_age ? index_age : age);
    store_make(&hub, "pin", NULL, NULL, 0, 0);
    budget_make(&hub);
    requests_make(&hub);
    printf("bucket %s: at most %s, for %s\n", options.service,
           max ? options.max : "the hub's limit", age ? options.age : "ever");
    hub_close(&hub);
    return 0;
}
