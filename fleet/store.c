/* store.c - whole recordings, in the layout of NATS' object store. */
/* SPDX-License-Identifier: MIT */
/*
    The bytes are chunks on $O.BUCKET.C.NUID; when all are acknowledged, the
    metadata, JSON, go to $O.BUCKET.M.<base64url of the name>; the last of a name
    counts. An object is there only with its metadata. A chunk says when it
    was sent, and when the one before was acknowledged: with the server's stamps
    that tells how the clocks differ.
*/
#include "array.h"
#include "fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

enum {
    CHUNK_MIN = 4096,
    CHUNK_MAX = 128 << 10,
    CHUNKS_WANTED = 8, /* as many measurements of the clock */
    TRIES = 6,
    LIST_MS = 1500,
    LIST_TRIES = 10
};
static const unsigned NOT_AVAILABLE = 10008;

/* ------------------------------------------------------------------ texts -- */

static void base64url(char *to, const unsigned char *from, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < size; i += 3) {
        unsigned bits = (unsigned)from[i] << 16;
        bits |= i + 1 < size ? (unsigned)from[i + 1] << 8 : 0;
        bits |= i + 2 < size ? from[i + 2] : 0;
        for (unsigned k = 0; k < 4; k++)
            *to++ = i + k > size ? '=' : digits[bits >> (18 - 6 * k) & 63];
    }
    *to = '\0';
}

static void digest_text(EVP_MD_CTX *sum, char to[64])
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size;
    EVP_DigestFinal_ex(sum, bytes, &size);
    strcpy(to, "SHA-256=");
    base64url(to + 8, bytes, size);
}

static void meta_subject(char to[512], const char *name)
{
    int at = snprintf(to, 128, "$O.%s.M.", hub_bucket());
    base64url(to + at, (const unsigned char *)name, strlen(name));
}

/* ------------------------------------------------------------------- put -- */

/* Returns what is full, by a code of JetStream. Null: nothing is. */
static const char *full_text(jsErrCode code)
{
    switch ((unsigned)code) {
    case 10077: return "the bucket is full";
    case 10002: return "the hub's limit of our account is reached";
    case 10023: return "the hub is full: its max_file";
    default: return NULL;
    }
}

/* Publishes a message until it is acknowledged. The server drops a second copy
 * of one with the same id. Returns null, or why it failed. */
static const char *publish(struct hub *hub, const char *subject, const char *id,
                           const void *bytes, size_t size,
                           uint64_t *acked_ns, bool *again)
{
    natsStatus status = NATS_TIMEOUT;
    jsErrCode code = 0;
    for (int i = 0; i < TRIES && status != NATS_OK; i++) {
        natsMsg *message;
        char number[32];
        code = 0;
        if (natsMsg_Create(&message, subject, NULL, bytes, (int)size) !=
            NATS_OK)
            return "there is no memory left";
        if (id)
            natsMsgHeader_Set(message, "Nats-Msg-Id", id);
        snprintf(number, sizeof number, "%" PRIu64, real_ns());
        natsMsgHeader_Set(message, "Recorder-Sent", number);
        snprintf(number, sizeof number, "%" PRIu64, *acked_ns);
        if (*acked_ns)
            natsMsgHeader_Set(message, "Recorder-Acked", number);
        status = js_PublishMsg(NULL, hub->stream, message, NULL, &code);
        natsMsg_Destroy(message);
        if (full_text(code))
            return *again = true, full_text(code);
        if (status != NATS_OK && status != NATS_TIMEOUT)
            usleep(200000);
    }
    *acked_ns = real_ns();
    *again = true;
    return status == NATS_OK              ? NULL
           : status == NATS_NO_RESPONDERS ? "there is no such bucket: "
                                            "recorder-fleet bucket SERVICE"
                                          : natsStatus_GetText(status);
}

static void header(FILE *to, const char *name, const char *value)
{
    fprintf(to, ",\"%s\":[", name);
    json_write(to, value);
    putc(']', to);
}

/* Makes an object's metadata, in the JSON of NATS' object store, to be
 * freed. */
static char *metadata(const struct object *o, uint64_t chunk, size_t *size)
{
    char *text = NULL, date[64];
    time_t now = time(NULL);
    struct tm tm;
    FILE *to = need(open_memstream(&text, size));
    gmtime_r(&now, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    fputs("{\"name\":", to);
    json_write(to, o->name);
    fprintf(to, ",\"headers\":{\"when_ns\":[\"%" PRIu64 "\"]", o->when_ns);
    header(to, "host", o->host);
    header(to, "why", o->why);
    header(to, "by", o->by);
    if (*o->error)
        header(to, "error", o->error);
    fprintf(to,
            "},\"options\":{\"max_chunk_size\":%" PRIu64
            "},\"bucket\":\"%s\",\"nuid\":\"%s\",\"size\":%" PRIu64
            ",\"mtime\":\"%s\",\"chunks\":%" PRIu64 ",\"digest\":\"%s\"}",
            chunk, hub_bucket(), o->nuid, o->size, date, o->chunks, o->digest);
    if (fclose(to) != 0)
        need(NULL);
    return text;
}

/* Makes a unique id of 22 characters: that of an inbox of libnats. */
static void nuid_new(char to[64])
{
    natsInbox *inbox;
    if (natsInbox_Create(&inbox) != NATS_OK)
        need(NULL);
    snprintf(to, 64, "%s", strrchr(inbox, '.') + 1);
    natsInbox_Destroy(inbox);
}

const char *store_put(struct hub *hub, struct object *o, int fd, bool *again)
{
    static unsigned char bytes[CHUNK_MAX];
    struct stat is = {0};
    char subject[512], id[96], *json;
    EVP_MD_CTX *sum = need(EVP_MD_CTX_new());
    const char *wrong = NULL;
    uint64_t acked = 0, chunk;
    size_t json_size;
    ssize_t size = 0;
    *again = false;
    nuid_new(o->nuid);
    o->size = o->chunks = 0;
    EVP_DigestInit_ex(sum, EVP_sha256(), NULL);
    if (fd >= 0 && fstat(fd, &is) != 0)
        wrong = strerror(errno);
    chunk = (uint64_t)is.st_size / CHUNKS_WANTED;
    chunk = chunk < CHUNK_MIN   ? CHUNK_MIN
            : chunk > CHUNK_MAX ? CHUNK_MAX
                                : chunk;
    snprintf(subject, sizeof subject, "$O.%s.C.%s", hub_bucket(), o->nuid);
    while (!wrong && fd >= 0 && (size = read(fd, bytes, chunk)) > 0) {
        EVP_DigestUpdate(sum, bytes, (size_t)size);
        snprintf(id, sizeof id, "%s.%" PRIu64, o->nuid, o->chunks);
        wrong =
            publish(hub, subject, id, bytes, (size_t)size, &acked, again);
        o->size += (uint64_t)size;
        o->chunks++;
    }
    if (!wrong && size < 0)
        wrong = strerror(errno);
    digest_text(sum, o->digest);
    EVP_MD_CTX_free(sum);
    if (wrong)
        return wrong;
    meta_subject(subject, o->name);
    json = metadata(o, chunk, &json_size);
    wrong = publish(hub, subject, NULL, json, json_size, &acked, again);
    free(json);
    return wrong;
}

/* ------------------------------------------------------------------ list -- */

static void copy(char *to, size_t max, char *text)
{
    snprintf(to, max, "%s", text ? text : "");
    free(text);
}

/* Splits HOST/PROGRAM.PID/SNAPSHOT.rec.zst: each becomes part of a path. */
#define KIND ".rec.zst"
static bool name_split(struct object *o)
{
    char *process = strchr(o->name, '/');
    char *snapshot = process ? strchr(process + 1, '/') : NULL;
    size_t length = snapshot ? strlen(snapshot + 1) : 0;
    if (length < sizeof KIND - 1 || strchr(snapshot + 1, '/'))
        return false;
    length -= sizeof KIND - 1;
    if (process - o->name > 64 || snapshot - process > 65 || length > 64 ||
        strcmp(snapshot + 1 + length, KIND) != 0)
        return false;
    snprintf(o->host, sizeof o->host, "%.*s", (int)(process - o->name),
             o->name);
    snprintf(o->process, sizeof o->process, "%.*s",
             (int)(snapshot - process - 1), process + 1);
    snprintf(o->snapshot, sizeof o->snapshot, "%.*s", (int)length,
             snapshot + 1);
    return is_name(o->host) && is_name(o->process) && is_name(o->snapshot);
}

static uint64_t header_number(natsMsg *message, const char *name)
{
    const char *text = NULL;
    return natsMsgHeader_Get(message, name, &text) == NATS_OK
               ? strtoull(text, NULL, 10)
               : 0;
}

/* Reads an object of a message; false: it is none of ours. */
static bool object_read(natsMsg *message, struct object *o)
{
    const char *json = natsMsg_GetData(message);
    size_t size = (size_t)natsMsg_GetDataLength(message);
    memset(o, 0, sizeof *o);
    copy(o->name, sizeof o->name, json_get(json, size, "$.name"));
    copy(o->nuid, sizeof o->nuid, json_get(json, size, "$.nuid"));
    copy(o->digest, sizeof o->digest, json_get(json, size, "$.digest"));
    copy(o->why, sizeof o->why, json_get(json, size, "$.headers.why[0]"));
    copy(o->by, sizeof o->by, json_get(json, size, "$.headers.by[0]"));
    copy(o->error, sizeof o->error, json_get(json, size, "$.headers.error[0]"));
    o->when_ns = json_number(json, size, "$.headers.when_ns[0]");
    o->size = json_number(json, size, "$.size");
    o->chunks = json_number(json, size, "$.chunks");
    o->acked_ns = header_number(message, "Recorder-Acked");
    return name_split(o) && is_name(o->nuid);
}

static void bucket_say(natsStatus status, jsErrCode code)
{
    say("bucket %s: %s (%d)%s", hub_bucket(), natsStatus_GetText(status),
        (int)code,
        status == NATS_NOT_FOUND || code == 10059 ? ": there is none" : "");
}

/* True while a cluster that lost a server elects a leader: it does not answer,
 * or says that it is not available. */
static bool is_electing(natsStatus status, jsErrCode code)
{
    if (code == (jsErrCode)NOT_AVAILABLE)
        usleep(LIST_MS * 1000);
    return status == NATS_TIMEOUT || code == (jsErrCode)NOT_AVAILABLE;
}

static void patience(jsOptions *js)
{
    jsOptions_Init(js);
    js->Wait = LIST_MS;
}

/* Subscribes to a subject's messages, in order, from a sequence number of the
 * bucket on. Null: it cannot, and the reason was said. */
static natsSubscription *subscribe(struct hub *hub, const char *subject,
                                   uint64_t from)
{
    natsSubscription *sub = NULL;
    char stream[160];
    jsSubOptions o;
    jsOptions js;
    jsErrCode code = 0;
    natsStatus status = NATS_TIMEOUT;
    snprintf(stream, sizeof stream, "OBJ_%s", hub_bucket());
    jsSubOptions_Init(&o);
    o.Stream = stream;
    o.Ordered = true;
    o.Config.DeliverPolicy = from ? js_DeliverByStartSequence : js_DeliverAll;
    o.Config.OptStartSeq = from;
    patience(&js);
    for (int i = 0; i < LIST_TRIES && is_electing(status, code); i++)
        status = js_SubscribeSync(&sub, hub->stream, subject, &js, &o, &code);
    if (status != NATS_OK) {
        bucket_say(status, code);
        return NULL;
    }
    return sub;
}

/* Asks for the bucket's state and, where `subject` is not null, for how many
 * subjects match it; to be destroyed. Null: it cannot, and the reason was
 * said. */
static jsStreamInfo *bucket_info(struct hub *hub, const char *subject,
                                 int64_t wait_ms)
{
    char stream[160];
    jsStreamInfo *info = NULL;
    jsOptions js;
    jsErrCode code = 0;
    natsStatus status = NATS_TIMEOUT;
    snprintf(stream, sizeof stream, "OBJ_%s", hub_bucket());
    jsOptions_Init(&js);
    js.Wait = wait_ms;
    js.Stream.Info.SubjectsFilter = subject;
    for (int i = 0; i < LIST_TRIES && is_electing(status, code); i++)
        status = js_GetStreamInfo(&info, hub->stream, stream, &js, &code);
    if (status == NATS_OK)
        return info;
    bucket_say(status, code);
    return NULL;
}

/* Asks the leader of a cluster how many objects there are: a reader is served
 * by any server, also by one that was away and lacks some. A single server is
 * not asked for that, as it would send all names. False: it cannot, and the
 * reason was said. */
static bool objects_count(struct hub *hub, const char *subject, size_t *count)
{
    jsStreamInfo *info = bucket_info(hub, NULL, LIST_MS);
    bool known = info,
         several = info && info->Config && info->Config->Replicas > 1;
    *count = 0;
    jsStreamInfo_Destroy(info);
    if (!several)
        return known;
    info = bucket_info(hub, subject, 10 * LIST_MS);
    known = info;
    if (info && info->State.Subjects)
        *count = (size_t)info->State.Subjects->Count;
    jsStreamInfo_Destroy(info);
    return known;
}

struct list {
    struct listed {
        natsMsg *message;
        size_t number; /* as it came */
    } * all;
    size_t count, max;
};

static void list_free(struct list *in)
{
    for (size_t i = 0; i < in->count; i++)
        natsMsg_Destroy(in->all[i].message);
    free(in->all);
    *in = (struct list){0};
}

/* Returns the sequence number behind a message's; 0: it is not known. */
static uint64_t sequence_behind(natsMsg *message)
{
    jsMsgMetaData *data = NULL;
    uint64_t sequence = 0;
    if (natsMsg_GetMetaData(&data, message) == NATS_OK)
        sequence = data->Sequence.Stream + 1;
    jsMsgMetaData_Destroy(data);
    return sequence;
}

/* Reads all messages of metadata from `from` on. False: some did not come;
 * another try may bring them, unless `failed`, whose reason was said. */
static bool list_read(struct hub *hub, const char *subject, uint64_t from,
                      struct list *to, bool *failed)
{
    natsSubscription *sub = subscribe(hub, subject, from);
    jsConsumerInfo *info = NULL;
    jsOptions js;
    jsErrCode code = 0;
    natsStatus status = NATS_TIMEOUT;
    size_t wanted = 0;
    patience(&js);
    for (int i = 0; sub && i < LIST_TRIES && is_electing(status, code); i++)
        status = natsSubscription_GetConsumerInfo(&info, sub, &js, &code);
    if (sub && status != NATS_OK)
        bucket_say(status, code);
    *failed = status != NATS_OK;
    if (info)
        wanted = (size_t)(info->NumPending + info->Delivered.Consumer);
    jsConsumerInfo_Destroy(info);
    while (to->count < wanted) {
        natsMsg *message;
        if (natsSubscription_NextMsg(&message, sub, 10000) != NATS_OK)
            break;
        to->all =
            need(array_room(to->all, &to->max, to->count + 1, sizeof *to->all));
        to->all[to->count] = (struct listed){message, to->count};
        to->count++;
    }
    natsSubscription_Destroy(sub);
    return !*failed && to->count >= wanted;
}

/* By subject, then as they came: the last one of a subject counts. It has
 * several only while one is replaced, or if somebody else put one there. */
static int listed_compare(const void *a, const void *b)
{
    const struct listed *left = a, *right = b;
    int by = strcmp(natsMsg_GetSubject(left->message),
                    natsMsg_GetSubject(right->message));
    return by ? by : left->number < right->number ? -1 : 1;
}

bool store_list(struct hub *hub, uint64_t *from,
                void (*each)(void *, const struct object *), void *context)
{
    char subject[160];
    struct list list = {0};
    size_t wanted = 0;
    bool complete = false, failed = false;
    snprintf(subject, sizeof subject, "$O.%s.M.>", hub_bucket());
    if (!*from && !objects_count(hub, subject, &wanted))
        return false;
    for (int k = 0; k < LIST_TRIES && !complete && !failed; k++) {
        list_free(&list);
        if (k)
            usleep(300000);
        complete = list_read(hub, subject, *from, &list, &failed) &&
                   list.count >= wanted;
    }
    if (list.count) {
        *from = sequence_behind(list.all[list.count - 1].message);
        qsort(list.all, list.count, sizeof *list.all, listed_compare);
    }
    for (size_t i = 0; i < list.count; i++) {
        struct object o;
        bool last = i + 1 == list.count ||
                    strcmp(natsMsg_GetSubject(list.all[i].message),
                           natsMsg_GetSubject(list.all[i + 1].message)) != 0;
        if (last && object_read(list.all[i].message, &o))
            each(context, &o);
    }
    if (!complete && !failed)
        say("bucket %s: of %zu objects or more, %zu are listed: the server "
            "that was asked lacks some, or is too busy",
            hub_bucket(), wanted, list.count);
    list_free(&list);
    return complete;
}

/* ------------------------------------------------------------------- get -- */

struct getter {
    ZSTD_DStream *stream;
    EVP_MD_CTX *sum;
    int fd;
    uint64_t packed, written;
    bool ended; /* the packed data have an end, and it was there */
};

/* Writes what a chunk holds; zeros stay holes. */
static const char *chunk_unpack(struct getter *g, const void *bytes,
                                size_t size)
{
    static unsigned char out[1 << 16];
    ZSTD_inBuffer in = {bytes, size, 0};
    const char *wrong = NULL;
    while (in.pos < in.size) {
        ZSTD_outBuffer to = {out, sizeof out, 0};
        size_t left = ZSTD_decompressStream(g->stream, &to, &in);
        if (ZSTD_isError(left))
            return "it is no zstd data";
        g->ended = left == 0;
        if (g->written + to.pos > options.largest_bytes)
            return "it is larger than --largest allows";
        if (to.pos && (*out || memcmp(out, out + 1, to.pos - 1) != 0))
            wrong = write_wrong(pwrite(g->fd, out, to.pos, (off_t)g->written),
                                to.pos);
        if (wrong)
            return wrong;
        g->written += to.pos;
    }
    return NULL;
}

/* Keeps the narrowest bounds of the clock that a chunk gave. */
static void clock_take(uint64_t sent, uint64_t acked, int64_t stamp,
                       int64_t *offset_ns, int64_t *error_ns)
{
    int64_t half = (int64_t)(acked - sent) / 2;
    if (!sent || acked < sent || (*error_ns && half >= *error_ns))
        return;
    *error_ns = half ? half : 1;
    *offset_ns = stamp - (int64_t)(sent + (acked - sent) / 2);
}

/* Reads when the server stored a message; *stamp stays where that is
 * unknown. */
static void stamp_read(natsMsg *message, int64_t *stamp)
{
    jsMsgMetaData *data = NULL;
    if (natsMsg_GetMetaData(&data, message) == NATS_OK)
        *stamp = data->Timestamp;
    jsMsgMetaData_Destroy(data);
}

static const char *chunks_get(struct hub *hub, const struct object *o,
                              struct getter *g, int64_t *offset_ns,
                              int64_t *error_ns, bool *missing)
{
    static char text[128];
    char subject[160];
    natsSubscription *sub;
    natsMsg *message;
    const char *wrong = NULL;
    uint64_t i, sent = 0;
    int64_t stamp = 0, before = 0;
    snprintf(subject, sizeof subject, "$O.%s.C.%s", hub_bucket(), o->nuid);
    sub = subscribe(hub, subject, 0);
    if (!sub)
        return "it cannot be read";
    for (i = 0; i < o->chunks && !wrong; i++) {
        int size;
        if (natsSubscription_NextMsg(&message, sub, i ? 5000 : 3000) !=
            NATS_OK) {
            snprintf(text, sizeof text,
                     "chunk %" PRIu64 " of %" PRIu64 " is missing", i + 1,
                     o->chunks);
            *missing = true;
            wrong = text;
            break;
        }
        size = natsMsg_GetDataLength(message);
        stamp_read(message, &stamp);
        clock_take(sent, header_number(message, "Recorder-Acked"), before,
                   offset_ns, error_ns);
        sent = header_number(message, "Recorder-Sent");
        before = stamp;
        EVP_DigestUpdate(g->sum, natsMsg_GetData(message), (size_t)size);
        g->packed += (uint64_t)size;
        if (g->packed > o->size)
            wrong = "it is longer than its metadata say";
        else
            wrong = chunk_unpack(g, natsMsg_GetData(message), (size_t)size);
        natsMsg_Destroy(message);
    }
    clock_take(sent, o->acked_ns, before, offset_ns, error_ns);
    natsSubscription_Destroy(sub);
    return wrong;
}

static const char *get_once(struct hub *hub, const struct object *o, int fd,
                            int64_t *offset_ns, int64_t *error_ns,
                            bool *missing)
{
    struct getter g = {.stream = need(ZSTD_createDStream()),
                       .sum = need(EVP_MD_CTX_new()),
                       .fd = fd};
    const char *wrong;
    char digest[64];
    *offset_ns = *error_ns = 0;
    EVP_DigestInit_ex(g.sum, EVP_sha256(), NULL);
    wrong = chunks_get(hub, o, &g, offset_ns, error_ns, missing);
    digest_text(g.sum, digest);
    if (!wrong && g.packed != o->size)
        wrong = "it is shorter than its metadata say";
    if (!wrong && strcmp(digest, o->digest) != 0)
        wrong = "its digest is wrong: it is damaged";
    if (!wrong && !g.ended)
        wrong = "its packed data have no end";
    if (!wrong && ftruncate(fd, (off_t)g.written) != 0)
        wrong = strerror(errno);
    EVP_MD_CTX_free(g.sum);
    ZSTD_freeDStream(g.stream);
    return wrong;
}

/* Tries twice: what one server of a cluster lacks, another may have. */
const char *store_get(struct hub *hub, const struct object *o, int fd,
                      int64_t *offset_ns, int64_t *error_ns)
{
    const char *wrong = NULL;
    bool missing = true;
    for (int i = 0; i < 2 && missing; i++) {
        missing = false;
        if (ftruncate(fd, 0) != 0)
            return strerror(errno);
        wrong = get_once(hub, o, fd, offset_ns, error_ns, &missing);
    }
    return wrong;
}
