/* index.c - one entry for each snapshot and host, in a stream of the hub. */
/* SPDX-License-Identifier: MIT */
/*
    A host adds an entry when all recordings that it names are stored; the sum of
    a snapshot's entries is all information on the snapshot. Reading a snapshot
    costs a request for each entry, whatever else the hub stores. The leader of a
    cluster knows the number of entries: another server that was away may lack
    some.
*/
#include "fleet.h"
#include "print.h"

enum { WAIT_MS = 5000, READ_TRIES = 10, ELECTING_MS = 1500 };

/* ------------------------------------------------------------------- put -- */

static void recording_write(FILE *to, const struct recording *r)
{
    if (*r->error)
        json_put(to, "{'process':%s,'error':%s}", r->process, r->error);
    else
        json_put(to,
                 "{'process':%s,'nuid':%s,'size':%" PRIu64 ",'bytes':%" PRIu64
                 ",'chunks':%" PRIu64 ",'at':%" PRIu64 ",'acked_ns':%" PRIu64
                 ",'digest':%s}",
                 r->process, r->nuid, r->size, r->bytes, r->chunks, r->at,
                 r->acked_ns, r->digest);
}

static char *entry_write(const struct entry *e, size_t *size)
{
    char *json;
    FILE *to = text_begin(&json, size);
    json_put(to,
             "{'host':%s,'snapshot':%s,'when_ns':%" PRIu64 ",'late_s':%" PRIu64
             ",'processes':%" PRIu64
             ",'boot':%s,'why':%s,'by':%s,'recordings':[",
             e->host, e->snapshot, e->when_ns, e->late_s, e->processes, e->boot,
             e->why, e->by);
    for (size_t i = 0; i < e->count; i++) {
        if (i)
            putc(',', to);
        recording_write(to, &e->all[i]);
    }
    fputs("]}", to);
    text_end(to);
    return json;
}

/* A second copy of one id is dropped: the acknowledgement may have got lost. */
const char *index_put(struct hub *hub, const struct entry *e)
{
    char subject[SUBJECT_MAX], id[64], *json;
    const char *wrong;
    natsMsg *message;
    size_t size;
    hub_host_subject(subject, e->pinned ? "pin" : "store", e->host, "index",
                     e->snapshot);
    nuid_new(id);
    json = entry_write(e, &size);
    need_done(natsMsg_Create(&message, subject, NULL, json, (int)size) ==
              NATS_OK);
    natsMsgHeader_Set(message, "Nats-Msg-Id", id);
    wrong = store_publish(hub, message, NULL);
    natsMsg_Destroy(message);
    free(json);
    return wrong;
}

void index_host_put(struct hub *hub)
{
    char subject[SUBJECT_MAX];
    natsConnection_PublishString(
        hub->connection,
        hub_host_subject(subject, "store", options.host, "host", NULL), "{}");
}

/* ------------------------------------------------------------------ read -- */

static const char recordings_query[] =
    "select json_extract(value, '$.process'), json_extract(value, '$.nuid'), "
    "json_extract(value, '$.digest'), json_extract(value, '$.error'), "
    "json_extract(value, '$.size'), json_extract(value, '$.bytes'), "
    "json_extract(value, '$.chunks'), json_extract(value, '$.at'), "
    "json_extract(value, '$.acked_ns') from json_each(?, '$.recordings') "
    "where type = 'object'";

static void text_take(char *to, size_t max, sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    snprintf(to, max, "%s", text ? text : "");
}

static uint64_t number_take(sqlite3_stmt *row, int column)
{
    int64_t number = sqlite3_column_int64(row, column);
    return number < 0 ? 0 : (uint64_t)number;
}

/* Takes a recording, if its names are names: they become parts of paths. */
static void recording_take(void *context, sqlite3_stmt *row)
{
    struct entry *e = context;
    struct recording *r = ADD(e);
    text_take(r->process, sizeof r->process, row, 0);
    text_take(r->nuid, sizeof r->nuid, row, 1);
    text_take(r->digest, sizeof r->digest, row, 2);
    text_take(r->error, sizeof r->error, row, 3);
    r->size = number_take(row, 4);
    r->bytes = number_take(row, 5);
    r->chunks = number_take(row, 6);
    r->at = number_take(row, 7);
    r->acked_ns = number_take(row, 8);
    if (!is_name(r->process) || (!*r->error && !is_name(r->nuid)))
        e->count--;
}

/* Reads host and snapshot of "recorder.PLACE.SERVICE.HOST.index.SNAPSHOT",
 * whose HOST the hub has checked. */
static bool subject_read(const char *subject, char host[65], char snapshot[65])
{
    char text[SUBJECT_MAX], *rest = text, *tokens[7] = {0};
    int count = 0;
    snprintf(text, sizeof text, "%s", subject);
    while (rest && count < 7)
        tokens[count++] = strsep(&rest, ".");
    if (count < 5)
        return false;
    hub_name(host, tokens[3]);
    hub_name(snapshot, count == 6 ? tokens[5] : "none");
    return is_name(host) && is_name(snapshot);
}

/* Reads an entry, whose JSON must name the host and the snapshot of its subject.
 * Null: it is something else. */
static struct entry *entry_read(natsMsg *message)
{
    const char *json = natsMsg_GetData(message);
    size_t size = (size_t)natsMsg_GetDataLength(message);
    struct entry *e = need(calloc(1, sizeof *e));
    char host[65], snapshot[65];
    json_copy(e->host, sizeof e->host, json, size, "$.host");
    json_copy(e->snapshot, sizeof e->snapshot, json, size, "$.snapshot");
    if (store_is_forged(message) ||
        !subject_read(natsMsg_GetSubject(message), host, snapshot) ||
        strcmp(host, e->host) != 0 || strcmp(snapshot, e->snapshot) != 0) {
        free(e);
        return NULL;
    }
    json_copy(e->why, sizeof e->why, json, size, "$.why");
    json_copy(e->by, sizeof e->by, json, size, "$.by");
    json_copy(e->boot, sizeof e->boot, json, size, "$.boot");
    e->when_ns = json_number(json, size, "$.when_ns");
    e->late_s = json_number(json, size, "$.late_s");
    e->processes = json_number(json, size, "$.processes");
    json_rows(json, size, recordings_query, recording_take, e);
    return e;
}

/* True while a cluster that lost a server elects a leader: it does not answer,
 * or says that it is not available. */
static bool is_electing(natsStatus status, jsErrCode code)
{
    bool unavailable = (unsigned)code == 10008;
    if (unavailable)
        usleep(ELECTING_MS * 1000);
    return status == NATS_TIMEOUT || unavailable;
}

jsStreamInfo *stream_info(struct hub *hub, const char *stream,
                          const char *subject)
{
    jsStreamInfo *info = NULL;
    jsOptions js;
    jsErrCode code = 0;
    natsStatus status = NATS_TIMEOUT;
    const char *refused = NULL;
    jsOptions_Init(&js);
    js.Wait = subject ? 3 * WAIT_MS : ELECTING_MS;
    js.Stream.Info.SubjectsFilter = subject;
    for (int i = 0; i < READ_TRIES && is_electing(status, code); i++) {
        status = js_GetStreamInfo(&info, hub->stream, stream, &js, &code);
        if (status == NATS_OK)
            return info;
        natsConnection_GetLastError(hub->connection, &refused);
        if (refused && strstr(refused, "Permissions Violation"))
            break; /* the hub answers nothing else */
    }
    say("bucket %s: %s (%d)%s", stream, natsStatus_GetText(status), (int)code,
        status == NATS_NOT_FOUND || code == 10059 ? ": there is none" : "");
    return NULL;
}

/* Asks how many messages match a subject of the index. */
static bool index_count(struct hub *hub, const char *stream,
                        const char *subject, uint64_t *count)
{
    jsStreamInfo *info = stream_info(hub, stream, subject);
    jsStreamStateSubjects *all = info ? info->State.Subjects : NULL;
    *count = 0;
    for (int i = 0; all && i < all->Count; i++)
        *count += all->List[i].Msgs;
    jsStreamInfo_Destroy(info);
    return info;
}

uint64_t index_end(struct hub *hub)
{
    char stream[96];
    jsStreamInfo *info = stream_info(hub, hub_stream(stream, "index"), NULL);
    uint64_t end = info ? info->State.LastSeq + 1 : 0;
    jsStreamInfo_Destroy(info);
    return end;
}

/* Reads the messages of a subject once. Returns their number. */
static uint64_t read_once(struct hub *hub, const char *stream,
                          const char *subject, bool pinned, struct index *to)
{
    uint64_t count = 0;
    natsMsg *message;
    for (; store_next(hub, stream, subject, &to->next, &message); count++) {
        struct entry *e = entry_read(message);
        natsMsg_Destroy(message);
        if (e)
            e->pinned = pinned;
        for (size_t i = 0; e && i < e->count; i++) {
            struct object *o = ADD(to);
            *o = (struct object){e, &e->all[i], to->count};
        }
    }
    return count;
}

/* Another try may ask another server of the cluster. */
static bool place_read(struct hub *hub, bool pinned, const char *snapshot,
                       struct index *to)
{
    char subject[SUBJECT_MAX], stream[96];
    uint64_t wanted = 0, count = 0, first = to->next ? to->next : 1;
    hub_host_subject(subject, pinned ? "pin" : "store", "*", "index",
                     snapshot ? snapshot : "*");
    hub_stream(stream, pinned ? "pin" : "index");
    if (!to->next && !index_count(hub, stream, subject, &wanted))
        return false;
    for (int i = 0; i == 0 || (i < READ_TRIES && count < wanted); i++) {
        if (i)
            usleep(300000);
        to->next = first;
        count = read_once(hub, stream, subject, pinned, to);
        if (count < wanted && !index_count(hub, stream, subject, &wanted))
            return false; /* some may have expired while they were read */
    }
    if (count < wanted)
        say("bucket %s: of %" PRIu64 " entries, %" PRIu64 " can be read: a "
            "server of the hub lacks some, or is too busy",
            options.service, wanted, count);
    return count >= wanted;
}

bool index_read(struct hub *hub, const char *snapshot, struct index *to)
{
    return place_read(hub, false, snapshot, to);
}

void snapshot_connect(struct hub *hub, const char *snapshot)
{
    if (!is_name(snapshot))
        give_up("%.80s: is no snapshot", shown(snapshot));
    hub_connect(hub, false);
}

void snapshot_missing(void)
{
    give_up("%s has no snapshot of that name: recorder-fleet list %s",
            options.service, options.service);
}

bool index_read_all(struct hub *hub, const char *snapshot, struct index *to)
{
    bool complete = index_read(hub, snapshot, to);
    to->next = 0;
    return place_read(hub, true, snapshot, to) && complete;
}

static int object_compare(const void *a, const void *b)
{
    const struct object *left = a, *right = b;
    int by = strcmp(left->entry->snapshot, right->entry->snapshot);
    by = by ? by : strcmp(left->entry->host, right->entry->host);
    return by ? by
              : strcmp(left->recording->process, right->recording->process);
}

static int object_sort(const void *a, const void *b)
{
    const struct object *left = a, *right = b;
    int by = object_compare(a, b);
    return by ? by : array_order(left->number, right->number, 0);
}

void index_unique(struct index *in)
{
    size_t kept = 0;
    array_sort(in->all, in->count, object_sort);
    for (size_t i = 0; i < in->count; i++)
        if (i + 1 == in->count ||
            object_compare(&in->all[i], &in->all[i + 1]) != 0)
            in->all[kept++] = in->all[i];
    in->count = kept;
}

bool index_hosts(struct hub *hub, void (*each)(void *, const char *host),
                 void *context)
{
    char subject[SUBJECT_MAX], stream[96], host[65], none[65];
    jsStreamInfo *info;
    jsStreamStateSubjects *all;
    info = stream_info(hub, hub_stream(stream, "index"),
                       hub_host_subject(subject, "store", "*", "host", NULL));
    all = info ? info->State.Subjects : NULL;
    for (int i = 0; all && i < all->Count; i++)
        if (subject_read(all->List[i].Subject, host, none))
            each(context, host);
    jsStreamInfo_Destroy(info);
    return info;
}
