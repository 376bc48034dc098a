/* stream.c - a SOURCE flash:, tty:, rtt: or swo:, records that a board sends. */
/* SPDX-License-Identifier: MIT */
/*
   hooks/recorder_stream.h sends frames, and describes them. Here they
   change a copy of the board's memory, over the firmware's ELF file, when the
   reader lets time pass: up to the end of a round of the board. So a take reads
   memory that does not change, and each take sees every record that arrived.
*/
#include "file.h"

#include "array.h"
#include "bytes.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <termios.h>
#include <zlib.h>

enum {
    OPEN_SECONDS = 30, /* until the board has sent all parts of its registry */
    RANGES_MAX = 256,
    RANGES_BYTES = 64 << 20,
    FRAME_MAX = 254,
    CHUNK = 64,         /* of the registry, in a piece */
    SEQUENCES = 0x8000, /* also the mark of a frame soon after a start */
    SWO_PORT = 1
};

struct stream {
    struct file *file;
    int fd;
    struct flash *flash; /* in place of `fd`; or null */
    bool is_swo, ended, restarted;
    bool learns;  /* only parts of the registry count */
    bool fresh;   /* the next take is of the memory as it is */
    bool differs; /* the board sent constants that its ELF file has not */
    unsigned char bytes[65536]; /* received, not yet looked at */
    size_t size, at;
    unsigned char frame[FRAME_MAX + 1];
    size_t frame_size;       /* more than FRAME_MAX: it is none */
    unsigned swo_left;       /* bytes that follow in a packet of SWO */
    bool swo_ours, swo_more; /* they are of our port; others follow */
    int64_t next;    /* the sequence number that is due; below 0: any is */
    bool early;      /* the last frame came soon after a start */
    uint64_t order;  /* the address of the order counter */
    uint64_t chunks; /* of the registry, a bit for each that came */
    uint64_t received, frames, damaged, ranges_bytes;
};

bool source_is_flash(const char *name)
{
    return strncmp(name, "flash:", 6) == 0;
}

bool source_is_stream(const char *name)
{
    return strncmp(name, "tty:", 4) == 0 || strncmp(name, "rtt:", 4) == 0 ||
           strncmp(name, "swo:", 4) == 0 || source_is_flash(name);
}

/* ------------------------------------------------------------------ open -- */

/* Connects to "host:port" or "[::1]:port". Below 0: *error says why not. */
static int stream_connect(const char *name, const char **error)
{
    const struct addrinfo want = {.ai_socktype = SOCK_STREAM};
    const char *port = strrchr(name, ':');
    struct addrinfo *all, *one;
    char host[256];
    int fd = -1, wrong;
    if (!port || port == name || (size_t)(port - name) >= sizeof host) {
        *error = "is neither PATH nor HOST:PORT";
        return -1;
    }
    snprintf(host, sizeof host, "%.*s", (int)(port - name) - 2 * (*name == '['),
             name + (*name == '['));
    wrong = getaddrinfo(host, port + 1, &want, &all);
    if (wrong) {
        *error = gai_strerror(wrong);
        return -1;
    }
    for (one = all; one && fd < 0; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen) != 0) {
            *error = strerror(errno);
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(all);
    return fd;
}

/* Opens "PATH" or "PATH@BAUD": a file, a FIFO, or a terminal, which becomes
 * raw. Below 0: *error says why not. */
static int stream_path(const char *name, const char **error)
{
    char path[PATH_MAX], *baud, *end;
    struct termios is;
    int fd;
    snprintf(path, sizeof path, "%s", name);
    baud = strrchr(path, '@');
    if (baud)
        *baud++ = '\0';
    fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    *error = strerror(errno);
    if (fd < 0 || tcgetattr(fd, &is) != 0)
        return fd;
    cfmakeraw(&is);
    is.c_cflag |= CLOCAL | CREAD;
    errno = EINVAL;
    if (cfsetspeed(&is, baud ? (speed_t)strtoul(baud, &end, 10) : B115200) ==
            0 &&
        (!baud || (end != baud && !*end)) && tcsetattr(fd, TCSANOW, &is) == 0)
        return fd;
    *error = errno == EINVAL ? "its speed is not known" : strerror(errno);
    close(fd);
    return -1;
}

/* ------------------------------------------------------------------ bytes -- */

/* Takes the bytes of our port out of SWO: a header says how many bytes of which
 * port follow; time stamps, overflows and the processor's own packets are
 * passed over. True: `byte` is of a port. */
static bool swo_byte(struct stream *stream, unsigned char byte)
{
    if (stream->swo_left) {
        stream->swo_left--;
        return stream->swo_ours;
    }
    if (stream->swo_more || (byte & 3) == 0) {
        stream->swo_more = byte & 0x80 && (stream->swo_more || byte != 0x80);
        return false;
    }
    stream->swo_left = (byte & 3) == 3 ? 4 : byte & 3;
    stream->swo_ours = !(byte & 4) && byte >> 3 == SWO_PORT;
    return false;
}

/* Reads the bytes that have come. False: there are none. */
static bool stream_receive(struct stream *stream)
{
    ssize_t got = stream->flash
                      ? (ssize_t)flash_read(stream->flash, stream->bytes,
                                            sizeof stream->bytes)
                      : read(stream->fd, stream->bytes, sizeof stream->bytes);
    stream->ended |= got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    stream->at = 0;
    stream->size = got > 0 ? (size_t)got : 0;
    stream->received += stream->size;
    return got > 0;
}

/* ----------------------------------------------------------------- frames -- */

/* Undoes COBS, in place. False: it is no frame. */
static bool frame_decode(unsigned char *bytes, size_t size)
{
    size_t zero = 0, i;
    for (i = 0; i < size; i++)
        if (i == zero) {
            zero += bytes[i];
            bytes[i] = 0;
        }
    return zero == size;
}

/* Adds a range of memory that frames change. */
static void range_begin(struct stream *stream, uint64_t start, uint64_t size)
{
    struct segments *ranges = &stream->file->images;
    uint64_t most = UINT64_MAX;
    unsigned char *bytes;
    if (segment_at(ranges, start, &most) || ranges->count == RANGES_MAX ||
        size > RANGES_BYTES - stream->ranges_bytes)
        return;
    bytes = need(calloc(1, size + 1));
    segment_add(ranges, start, size, bytes, true);
    stream->ranges_bytes += size;
    stream->file->memory.size += size;
    array_sort(ranges->all, ranges->count, array_compare);
}

/* Applies a piece. False: it shows other bytes than the ELF file. */
static bool piece_apply(struct stream *stream, uint64_t address,
                        const unsigned char *bytes, size_t size)
{
    struct file *file = stream->file;
    uint64_t most = UINT64_MAX;
    const struct segment *range = segment_at(&file->images, address, &most);
    unsigned char constant[FRAME_MAX];
    if (address - file->source->registry < 64 * CHUNK)
        stream->chunks |= (uint64_t)1
                          << (address - file->source->registry) / CHUNK;
    if (range && size <= range->size - (address - range->start))
        memcpy((unsigned char *)(uintptr_t)range->bytes +
                   (address - range->start),
               bytes, size);
    if (range || !range_has(&file->fixed, address))
        return true; /* its range did not come yet */
    return file->memory.read(&file->memory, address, constant, size) == size &&
           memcmp(constant, bytes, size) == 0;
}

/* Applies the pieces of a frame. True: the board ended a round. A part of the
 * registry begins with its range. */
static bool frame_apply(struct stream *stream)
{
    const struct memory *m = &stream->file->memory;
    if (stream->learns && stream->frame[3 + m->word_bytes])
        return false;
    const unsigned char *at = stream->frame + 3;
    const unsigned char *end = stream->frame + stream->frame_size - 4;
    bool round = !stream->order; /* unknown yet: each frame may end one */
    while (end - at > (int)m->word_bytes) {
        uint64_t address = bytes_word(m, at);
        size_t size = at[m->word_bytes];
        at += m->word_bytes + 1;
        if ((size ? size : 4) > (size_t)(end - at))
            break;
        if (size == 0)
            range_begin(stream, address, bytes_number(m, at, 4));
        else if (!piece_apply(stream, address, at, size))
            stream->ended = stream->differs = true;
        round |= size && address == stream->order;
        at += size ? size : 4;
    }
    return round;
}

/* Judges a frame that came: counts lost ones before it. False: it is damaged,
 * or the first one that came after a restart, which stream_again() applies. */
static bool frame_judge(struct stream *stream)
{
    struct source *source = stream->file->source;
    const struct memory *m = &stream->file->memory;
    size_t size = stream->frame_size;
    int64_t number, next = stream->next;
    bool early, repeated;
    if (size < 8 || size > FRAME_MAX || !frame_decode(stream->frame, size) ||
        bytes_number(m, stream->frame + size - 4, 4) !=
            crc32(0, stream->frame + 1, (uInt)size - 5)) {
        stream->damaged += size > 0;
        return false;
    }
    number = (int64_t)bytes_number(m, stream->frame + 1, 2);
    early = number >= SEQUENCES;
    number %= SEQUENCES;
    /* A frame whose write failed comes twice. */
    repeated = stream->flash && number + 1 == next;
    stream->restarted =
        early && next >= 0 && !repeated && (!stream->early || number < next);
    if (next >= 0 && !repeated)
        source->frames_lost +=
            (uint64_t)(stream->restarted ? number : number - next) % SEQUENCES;
    stream->next = (number + 1) % SEQUENCES;
    stream->early = early;
    stream->frames++;
    return !stream->restarted;
}

/* As struct memory's: applies frames up to the end of a round. */
static bool stream_advance(struct memory *memory)
{
    struct stream *stream = ((struct file *)memory)->stream;
    bool round = stream->fresh;
    stream->fresh = false;
    while (!round && !stream->ended && !stream->restarted &&
           (stream->at < stream->size || stream_receive(stream))) {
        unsigned char byte = stream->bytes[stream->at++];
        if (stream->is_swo && !swo_byte(stream, byte))
            continue;
        if (byte) {
            if (stream->frame_size <= FRAME_MAX)
                stream->frame[stream->frame_size++] = byte;
            continue;
        }
        round = frame_judge(stream) && frame_apply(stream);
        if (!stream->restarted)
            stream->frame_size = 0;
    }
    memory->more = round;
    return round || (!stream->ended && !stream->restarted);
}

/* True if the copy has the registry, all recorders and the order counter. */
static bool stream_is_whole(struct stream *stream)
{
    struct file *file = stream->file;
    struct memory *m = &file->memory;
    const struct offsets *at = offsets_of(m);
    uint64_t registry = file->source->registry, most = UINT64_MAX, next;
    const struct segment *range = segment_at(&file->images, registry, &most);
    size_t count = range ? (range->size + CHUNK - 1) / CHUNK : 64;
    if (count >= 64 || ~stream->chunks & (((uint64_t)1 << count) - 1) ||
        !bytes_read_word(m, registry + at->registry_order, &stream->order) ||
        !segment_at(&file->images, stream->order, &most) ||
        !bytes_read_word(m, registry + at->registry_first, &next))
        return false;
    for (count = 0; next && count < RANGES_MAX; count++)
        if (!segment_at(&file->images, next, &most) ||
            !bytes_read_word(m, next + at->recorder_next, &next))
            return false;
    return count > 0;
}

static void ranges_end(struct stream *stream)
{
    struct segments *ranges = &stream->file->images;
    for (size_t i = 0; i < ranges->count; i++)
        free((unsigned char *)(uintptr_t)ranges->all[i].bytes);
    stream->file->memory.size -= stream->ranges_bytes;
    stream->ranges_bytes = stream->chunks = 0;
    ranges->count = 0;
}

/* Begins a new copy with the first frame after the board's start. */
static void stream_restart(struct stream *stream)
{
    ranges_end(stream);
    stream->restarted = false;
    frame_apply(stream);
    stream->frame_size = 0;
}

/* Waits until the board has sent all parts of its registry. Null, or what is
 * wrong. */
static const char *stream_wait(struct stream *stream)
{
    struct file *file = stream->file;
    struct pollfd wait = {.fd = stream->fd, .events = POLLIN};
    uint64_t start = recorder_clock_ns_(RECORDER_MONOTONIC_);
    bool whole = false;
    do {
        if (stream->restarted)
            stream_restart(stream);
        stream_advance(&file->memory);
        whole = !stream->restarted && stream_is_whole(stream);
        if (!whole && stream->at == stream->size)
            poll(&wait, 1, 100);
    } while (!whole && !stream->ended &&
             (recorder_clock_ns_(RECORDER_MONOTONIC_) - start) / 1000000000 <
                 OPEN_SECONDS);
    if (stream->differs)
        return source_wrong(file->source,
                            "the board runs another build than %s: constants "
                            "that it sends differ",
                            file->path);
    if (!whole)
        return source_wrong(file->source,
                            "%s: %" PRIu64 " bytes, %" PRIu64
                            " whole frames, %" PRIu64 " damaged",
                            stream->ended ? "it ended before all recorders came"
                                          : "not all recorders came in 30 s",
                            stream->received, stream->frames, stream->damaged);
    stream->fresh = true;
    return NULL;
}

const char *source_stream_again(struct source *source)
{
    struct stream *stream = ((struct file *)source->memory)->stream;
    const char *wrong = NULL;
    if (stream->restarted || stream->differs)
        wrong = stream_wait(stream);
    return stream->ended && !stream->differs ? STREAM_ENDED : wrong;
}

/* Opens a flash, whose oldest pages were erased, and with them the parts of the
 * registry that came first: all frames up to the board's next start are read
 * twice, if they have a whole registry. */
static const char *stream_flash(struct stream *stream, const char *path)
{
    struct file *file = stream->file;
    const char *wrong = flash_open(file, path, &stream->flash);
    if (wrong)
        return wrong;
    stream->learns = true;
    while (!stream->ended && !stream->restarted)
        stream_advance(&file->memory);
    stream->learns = false;
    if (stream_is_whole(stream)) {
        flash_rewind(stream->flash);
        stream->ended = stream->restarted = stream->early = false;
        stream->at = stream->size = stream->frame_size = stream->frames = 0;
        stream->next = -1;
        file->source->frames_lost = 0;
        stream->fresh = stream_advance(&file->memory) || !stream->restarted;
        if (stream->fresh)
            return NULL;
    }
    return stream_wait(stream);
}

void stream_close(struct stream *stream)
{
    if (stream) {
        ranges_end(stream);
        flash_close(stream->flash);
        if (stream->fd >= 0)
            close(stream->fd);
    }
    free(stream);
}

const char *stream_open(struct file *file, const char *name)
{
    struct stream *stream = need(calloc(1, sizeof *stream));
    const char *what = strchr(name, ':') + 1, *error;
    bool is_flash = source_is_flash(name);
    file->stream = stream;
    stream->file = file;
    stream->is_swo = strncmp(name, "swo:", 4) == 0;
    stream->next = -1;
    stream->fd = is_flash            ? -1
                 : strchr(what, '/') ? stream_path(what, &error)
                                     : stream_connect(what, &error);
    if (stream->fd < 0 && !is_flash)
        return source_wrong(file->source, "%s", error);
    file->memory.live = true;
    file->memory.native = false;
    file->memory.map = NULL;
    file->memory.advance = stream_advance;
    if (is_flash)
        return stream_flash(stream, what);
    fcntl(stream->fd, F_SETFL, O_RDONLY | O_NONBLOCK);
    return stream_wait(stream);
}
