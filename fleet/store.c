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

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
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
    hub_host_subject(subject, options.host, "data", r->nuid);
    if (natsMsg_Create(&message, subject, NULL, bytes, (int)size) != NATS_OK)
        need(NULL);
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
    const struct recording *recording;
    ZSTD_DStream *stream;
    EVP_MD_CTX *sum;
    int fd;
    uint64_t packed, written;
    bool ended; /* the packed data have an end, and it was read */
    bool (*enough)(int fd); /* of a head: true if that was unpacked; or null */
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

static bool is_chunk(natsMsg *message, const struct recording *r, uint64_t i)
{
    char id[96];
    const char *has = NULL;
    snprintf(id, sizeof id, "%s.%" PRIu64, r->nuid, i);
    return !store_is_forged(message) &&
           natsMsgHeader_Get(message, "Nats-Msg-Id", &has) == NATS_OK &&
           strcmp(has, id) == 0;
}

static const char *chunk_take(struct getter *g, natsMsg *message)
{
    size_t size = (size_t)natsMsg_GetDataLength(message);
    EVP_DigestUpdate(g->sum, natsMsg_GetData(message), size);
    g->packed += size;
    return g->packed > g->recording->size
               ? "it is longer than its index entry says"
               : chunk_unpack(g, natsMsg_GetData(message), size);
}

static const char *chunks_get(struct hub *hub, const char *host,
                              struct getter *g, struct measured *clock)
{
    static char text[128];
    const struct recording *r = g->recording;
    char subject[SUBJECT_MAX], stream[96];
    const char *wrong = NULL;
    uint64_t sent = 0, at = r->at;
    int64_t before = 0;
    hub_host_subject(subject, host, "data", r->nuid);
    hub_stream(stream, "data");
    for (uint64_t i = 0; i < r->chunks && !wrong;) {
        natsMsg *message;
        if (!store_next(hub, stream, subject, &at, &message)) {
            snprintf(text, sizeof text,
                     "chunk %" PRIu64 " of %" PRIu64 " is missing", i + 1,
                     r->chunks);
            return text;
        }
        if (is_chunk(message, r, i)) {
            measured_take(clock, sent, header_number(message, "Recorder-Acked"),
                          before);
            sent = header_number(message, "Recorder-Sent");
            before = natsMsg_GetTime(message);
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

static const char *get_once(struct hub *hub, const char *host,
                            const struct recording *r, int fd,
                            struct measured *clock)
{
    struct getter g = {.recording = r,
                       .stream = need(ZSTD_createDStream()),
                       .sum = need(EVP_MD_CTX_new()),
                       .fd = fd};
    const char *wrong;
    char digest[64];
    *clock = (struct measured){0};
    EVP_DigestInit_ex(g.sum, EVP_sha256(), NULL);
    wrong = chunks_get(hub, host, &g, clock);
    digest_text(g.sum, digest);
    if (!wrong && g.packed != r->size)
        wrong = "it is shorter than its index entry says";
    if (!wrong && strcmp(digest, r->digest) != 0)
        wrong = "its digest is wrong: it is damaged";
    if (!wrong && !g.ended)
        wrong = "its packed data have no end";
    if (!wrong && ftruncate(fd, (off_t)g.written) != 0)
        wrong = strerror(errno);
    EVP_MD_CTX_free(g.sum);
    ZSTD_freeDStream(g.stream);
    return wrong;
}

const char *store_head(struct hub *hub, const char *host,
                       const struct recording *r, int fd, bool (*enough)(int))
{
    struct getter g = {.recording = r,
                       .stream = need(ZSTD_createDStream()),
                       .sum = need(EVP_MD_CTX_new()),
                       .fd = fd,
                       .enough = enough};
    uint64_t largest = options.largest;
    struct measured clock = {0};
    const char *wrong;
    EVP_DigestInit_ex(g.sum, EVP_sha256(), NULL);
    wrong = chunks_get(hub, host, &g, &clock);
    options.largest = largest;
    EVP_MD_CTX_free(g.sum);
    ZSTD_freeDStream(g.stream);
    return wrong;
}

/* A second try may reach another server of the cluster, which has the chunk. */
const char *store_get(struct hub *hub, const char *host,
                      const struct recording *r, int fd, struct measured *clock)
{
    const char *wrong = "a";
    for (int i = 0; i < 2 && wrong; i++) {
        uint64_t largest = options.largest;
        if (i)
            usleep(300000);
        if (ftruncate(fd, 0) != 0)
            return strerror(errno);
        wrong = get_once(hub, host, r, fd, clock);
        if (wrong)
            options.largest = largest;
        if (wrong && !strstr(wrong, "is missing"))
            break;
    }
    return wrong;
}
