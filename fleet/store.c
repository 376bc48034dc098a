/* store.c - the bytes of recordings, in a stream of the hub. */
/* SPDX-License-Identifier: MIT */
/*
    The packed bytes are chunks on recorder.store.SERVICE.HOST.data.NUID. An
    index entry of the same host names the NUID: chunks without an entry are
    never read, and expire. Only that host has the right to publish there. The
    hub itself publishes its answers wherever a client wants them, so a client
    can have the hub write to a subject of another host: an acknowledgement, or a
    copy of a message. A reader leaves out both, by their headers.
    A chunk tells when it was sent, and when the one before was acknowledged, by
    CLOCK_BOOTTIME: with the hub's stamps that tells how the clocks differ.
*/
#include "fleet.h"

#include <openssl/evp.h>
#include <zstd.h>

enum {
    CHUNK_MIN = 4096,
    CHUNK_MAX = 128 << 10,
    CHUNKS_WANTED = 8, /* as many measurements of the clock */
    TRIES = 6
};

static void digest_text(EVP_MD_CTX *sum, char to[64])
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size;
    EVP_DigestFinal_ex(sum, bytes, &size);
    for (unsigned i = 0; i < 24; i++) /* 192 bits of SHA-256 */
        snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

/* ------------------------------------------------------------------- put -- */

/* Returns a text for an error of JetStream that says that something is full.
 * Null: it is another error. */
static const char *full_text(jsErrCode code)
{
    switch ((unsigned)code) {
    case 10077: return "the bucket is full";
    case 10002: return "the hub's limit of our account is reached";
    case 10023: return "the hub is full: its max_file";
    default: return NULL;
    }
}

const char *store_publish(struct hub *hub, natsMsg *message, uint64_t *sequence)
{
    natsStatus status = NATS_TIMEOUT;
    jsPubAck *ack = NULL;
    jsErrCode code = 0;
    for (int i = 0; i < TRIES && status != NATS_OK && !full_text(code); i++) {
        code = 0;
        if (i && status != NATS_TIMEOUT)
            usleep(200000);
        status = js_PublishMsg(&ack, hub->stream, message, NULL, &code);
    }
    if (status == NATS_OK && sequence)
        *sequence = ack->Sequence;
    jsPubAck_Destroy(ack);
    return status == NATS_OK ? NULL
           : full_text(code) ? full_text(code)
           : status == NATS_NO_RESPONDERS
               ? "the bucket does not exist: recorder-fleet bucket SERVICE"
               : natsStatus_GetText(status);
}

static void header_set(natsMsg *message, const char *name, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    natsMsgHeader_Set(message, name, text);
}

/* Publishes chunk r->chunks. The hub drops a second copy of one id. */
static const char *chunk_put(struct hub *hub, struct recording *r,
                             const void *bytes, size_t size)
{
    char subject[SUBJECT_MAX], id[96];
    const char *wrong;
    uint64_t sequence = 0, sent_ns = clock_ns(CLOCK_BOOTTIME);
    natsMsg *message;
    hub_host_subject(subject, "store", options.host, "data", r->nuid);
    need_done(natsMsg_Create(&message, subject, NULL, bytes, (int)size) ==
              NATS_OK);
    snprintf(id, sizeof id, "%s.%" PRIu64, r->nuid, r->chunks);
    natsMsgHeader_Set(message, "Nats-Msg-Id", id);
    header_set(message, "Recorder-Sent", sent_ns);
    if (r->acked_ns)
        header_set(message, "Recorder-Acked", r->acked_ns);
    wrong = store_publish(hub, message, &sequence);
    natsMsg_Destroy(message);
    r->acked_ns = clock_ns(CLOCK_BOOTTIME);
    metric_set(METRIC_ANSWER_NS, r->acked_ns - sent_ns);
    if (r->chunks++ == 0)
        r->at = sequence;
    r->size += size;
    return wrong;
}

/* Waits until `size` more bytes keep to --rate. */
static void pace(uint64_t size)
{
    static uint64_t due_ns;
    const uint64_t now = now_ns(), wait = due_ns > now ? due_ns - now : 0;
    if (!options.rate)
        return;
    sleep_ns(wait);
    due_ns = now + wait + size * SECOND / options.rate;
}

const char *store_put(struct hub *hub, struct recording *r, int fd)
{
    static unsigned char bytes[CHUNK_MAX];
    struct stat is;
    EVP_MD_CTX *sum = need(EVP_MD_CTX_new());
    const char *wrong = fstat(fd, &is) != 0 ? strerror(errno) : NULL;
    uint64_t chunk = wrong ? 0 : (uint64_t)is.st_size / CHUNKS_WANTED;
    ssize_t size = 0;
    nuid_new(r->nuid);
    chunk = chunk < CHUNK_MIN   ? CHUNK_MIN
            : chunk > CHUNK_MAX ? CHUNK_MAX
                                : chunk;
    EVP_DigestInit_ex(sum, EVP_sha256(), NULL);
    while (!wrong && (size = read(fd, bytes, chunk)) > 0) {
        if (!r->chunks)
            r->bytes = ZSTD_getFrameContentSize(bytes, (size_t)size);
        EVP_DigestUpdate(sum, bytes, (size_t)size);
        pace((uint64_t)size);
        wrong = chunk_put(hub, r, bytes, (size_t)size);
    }
    if (!wrong && size < 0)
        wrong = strerror(errno);
    digest_text(sum, r->digest);
    EVP_MD_CTX_free(sum);
    return wrong;
}

/* ------------------------------------------------------------------- get -- */

const char *header_last(natsMsg *message, const char *name, int *count)
{
    const char **values = NULL, *last = NULL;
    *count = 0;
    if (natsMsgHeader_Values(message, name, &values, count) != NATS_OK)
        return NULL;
    last = *count ? values[*count - 1] : NULL;
    free(values);
    return last;
}

/* The hub adds its headers after the publisher's: an earlier one is from the
 * publisher, or from an earlier copy, and false. libnats reads the first. */
bool store_is_forged(natsMsg *message)
{
    static const char *const names[] = {"Nats-Stream", "Nats-Subject",
                                        "Nats-Sequence", "Nats-Time-Stamp"};
    int count;
    for (int i = 0; i < 4; i++)
        if (!header_last(message, names[i], &count) || count != 1)
            return true;
    return false;
}

bool store_next(struct hub *hub, const char *stream, const char *subject,
                uint64_t *sequence, natsMsg **message)
{
    jsDirectGetMsgOptions which;
    const char *number;
    uint64_t next;
    int count;
    jsDirectGetMsgOptions_Init(&which);
    which.NextBySubject = subject;
    which.Sequence = *sequence;
    if (js_DirectGetMsg(message, hub->stream, stream, NULL, &which) != NATS_OK)
        return false;
    number = header_last(*message, "Nats-Sequence", &count);
    next = number ? strtoull(number, NULL, 10) + 1 : 0;
    *sequence = next > *sequence ? next : *sequence + 1;
    return true;
}

struct getter {
    struct hub *hub;
    const struct entry *entry;
    const struct recording *recording;
    ZSTD_DStream *stream;
    EVP_MD_CTX *sum;
    int fd;
    uint64_t packed, written;
    bool ended;             /* the packed data have an end, and it was read */
    bool (*enough)(int fd); /* of a head: true if that was unpacked; or null */
    const char *pin;        /* the chunks are copied to this subject; or null */
    uint64_t pinned_at;     /* the first copy's sequence number */
};

/* Writes the bytes of a chunk; zeros stay holes. No chunk unpacks to more than the
 * index entry says, nor all of a fetch to more than --largest. */
static const char *chunk_unpack(struct getter *g, const void *bytes,
                                size_t size)
{
    static unsigned char out[1 << 16];
    ZSTD_inBuffer in = {bytes, size, 0};
    const char *wrong = NULL;
    while (in.pos < in.size && !wrong) {
        ZSTD_outBuffer to = {out, sizeof out, 0};
        size_t left = ZSTD_decompressStream(g->stream, &to, &in);
        if (ZSTD_isError(left))
            return "it is no zstd data";
        g->ended = left == 0;
        if (g->written + to.pos > g->recording->bytes)
            return "it unpacks to more than its index entry says";
        if (to.pos > options.largest)
            return "it is larger than --largest allows, with all before it";
        options.largest -= to.pos;
        if (to.pos && (*out || memcmp(out, out + 1, to.pos - 1) != 0))
            wrong = write_wrong(pwrite(g->fd, out, to.pos, (off_t)g->written),
                                to.pos);
        g->written += to.pos;
    }
    return wrong;
}

/* Keeps the narrowest measurement of the clocks' difference. */
static void measured_take(struct measured *m, uint64_t sent, uint64_t acked,
                          int64_t stamp)
{
    int64_t half = (int64_t)(acked - sent) / 2;
    if (!sent || acked < sent || (m->error_ns && half >= m->error_ns))
        return;
    m->error_ns = half ? half : 1;
    m->at_ns = sent + (acked - sent) / 2;
    m->offset_ns = stamp - (int64_t)m->at_ns;
}

/* A copy has another header: the hub would drop one that is pinned again. */
static const char *id_header(const struct entry *e)
{
    return e->pinned ? "Recorder-Id" : "Nats-Msg-Id";
}

static bool is_chunk(natsMsg *message, const struct getter *g, uint64_t i)
{
    char id[96];
    const char *has = NULL;
    snprintf(id, sizeof id, "%s.%" PRIu64, g->recording->nuid, i);
    return !store_is_forged(message) &&
           natsMsgHeader_Get(message, id_header(g->entry), &has) == NATS_OK &&
           strcmp(has, id) == 0;
}

/* Returns when the hub got a chunk; a copy has the time of the first. */
static int64_t stamp_of(natsMsg *message, const struct entry *e)
{
    return e->pinned ? (int64_t)header_number(message, "Recorder-Stamp")
                     : natsMsg_GetTime(message);
}

static void chunk_pin(struct getter *g, natsMsg *from)
{
    static const char *const names[] = {"Recorder-Sent", "Recorder-Acked"};
    const char *id = "", *wrong;
    uint64_t sequence = 0;
    natsMsg *to;
    need_done(natsMsg_Create(&to, g->pin, NULL, natsMsg_GetData(from),
                             natsMsg_GetDataLength(from)) == NATS_OK);
    natsMsgHeader_Get(from, id_header(g->entry), &id);
    natsMsgHeader_Set(to, "Recorder-Id", id);
    header_set(to, "Recorder-Stamp", (uint64_t)stamp_of(from, g->entry));
    for (int i = 0; i < 2; i++)
        header_set(to, names[i], header_number(from, names[i]));
    wrong = store_publish(g->hub, to, &sequence);
    natsMsg_Destroy(to);
    if (wrong)
        give_up("%s: %s", g->pin, wrong);
    if (!g->pinned_at)
        g->pinned_at = sequence;
}

static const char *chunk_take(struct getter *g, natsMsg *message)
{
    size_t size = (size_t)natsMsg_GetDataLength(message);
    EVP_DigestUpdate(g->sum, natsMsg_GetData(message), size);
    g->packed += size;
    if (g->packed > g->recording->size)
        return "it is longer than its index entry says";
    if (!g->pin)
        return chunk_unpack(g, natsMsg_GetData(message), size);
    chunk_pin(g, message);
    return NULL;
}

/* Copies are on one subject for each snapshot, which unpin purges. */
static void chunk_place(char subject[SUBJECT_MAX], char stream[96],
                        const struct entry *e, const struct recording *r)
{
    hub_host_subject(subject, e->pinned ? "pin" : "store", e->host, "data",
                     e->pinned ? e->snapshot : r->nuid);
    hub_stream(stream, e->pinned ? "pin" : "data");
}

static const char *chunks_get(struct getter *g, struct measured *clock)
{
    static char text[128];
    const struct recording *r = g->recording;
    char subject[SUBJECT_MAX], stream[96];
    const char *wrong = NULL;
    uint64_t sent = 0, at = r->at;
    int64_t before = 0;
    chunk_place(subject, stream, g->entry, r);
    for (uint64_t i = 0; i < r->chunks && !wrong;) {
        natsMsg *message;
        if (!store_next(g->hub, stream, subject, &at, &message)) {
            snprintf(text, sizeof text,
                     "chunk %" PRIu64 " of %" PRIu64 " is missing", i + 1,
                     r->chunks);
            return text;
        }
        if (is_chunk(message, g, i)) {
            measured_take(clock, sent, header_number(message, "Recorder-Acked"),
                          before);
            sent = header_number(message, "Recorder-Sent");
            before = stamp_of(message, g->entry);
            wrong = chunk_take(g, message);
            i++;
        }
        natsMsg_Destroy(message);
        if (!wrong && g->enough && g->enough(g->fd))
            return NULL;
    }
    measured_take(clock, sent, r->acked_ns, before);
    return wrong;
}

static struct getter getter_make(struct hub *hub, const struct entry *e,
                                 const struct recording *r, int fd)
{
    struct getter g = {.hub = hub,
                       .entry = e,
                       .recording = r,
                       .stream = need(ZSTD_createDStream()),
                       .sum = need(EVP_MD_CTX_new()),
                       .fd = fd};
    EVP_DigestInit_ex(g.sum, EVP_sha256(), NULL);
    return g;
}

static void getter_free(struct getter *g)
{
    EVP_MD_CTX_free(g->sum);
    ZSTD_freeDStream(g->stream);
}

/* Gets all chunks, and compares their digest. */
static const char *whole_get(struct getter *g, struct measured *clock)
{
    char digest[64];
    const char *wrong = chunks_get(g, clock);
    digest_text(g->sum, digest);
    return wrong                             ? wrong
           : g->packed != g->recording->size ? "it is shorter than its index "
                                               "entry says"
           : strcmp(digest, g->recording->digest) != 0
               ? "its digest is wrong: it is damaged"
               : NULL;
}

static const char *get_once(struct hub *hub, const struct entry *e,
                            const struct recording *r, int fd,
                            struct measured *clock)
{
    struct getter g = getter_make(hub, e, r, fd);
    const char *wrong;
    *clock = (struct measured){0};
    wrong = whole_get(&g, clock);
    if (!wrong && !g.ended)
        wrong = "its packed data have no end";
    if (!wrong && ftruncate(fd, (off_t)g.written) != 0)
        wrong = strerror(errno);
    getter_free(&g);
    return wrong;
}

const char *store_head(struct hub *hub, const struct entry *e,
                       const struct recording *r, int fd, bool (*enough)(int))
{
    struct getter g = getter_make(hub, e, r, fd);
    uint64_t largest = options.largest;
    struct measured clock = {0};
    const char *wrong;
    g.enough = enough;
    wrong = chunks_get(&g, &clock);
    options.largest = largest;
    getter_free(&g);
    return wrong;
}

const char *store_pin(struct hub *hub, const struct entry *e,
                      struct recording *r)
{
    char subject[SUBJECT_MAX], stream[96];
    struct getter g = getter_make(hub, e, r, -1);
    struct entry copy = *e;
    struct measured clock = {0};
    const char *wrong;
    copy.pinned = true;
    chunk_place(subject, stream, &copy, r);
    g.pin = subject;
    wrong = whole_get(&g, &clock);
    getter_free(&g);
    r->at = g.pinned_at;
    return wrong;
}

/* A second try may reach another server of the cluster, which has the chunk. */
const char *store_get(struct hub *hub, const struct entry *e,
                      const struct recording *r, int fd, struct measured *clock)
{
    const char *wrong = "a";
    for (int i = 0; i < 2 && wrong; i++) {
        uint64_t largest = options.largest;
        if (i)
            usleep(300000);
        if (ftruncate(fd, 0) != 0)
            return strerror(errno);
        wrong = get_once(hub, e, r, fd, clock);
        if (wrong)
            options.largest = largest;
        if (wrong && !strstr(wrong, "is missing"))
            break;
    }
    return wrong;
}
