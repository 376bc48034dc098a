/* unpack.c - copies of a SOURCE: of a packed file, or of a stream. */
/* SPDX-License-Identifier: MIT */
/*
   The copy is a file without a name, with holes where there are zeros: rings
   that were never written take no room. Both the zeros, which cost time, and
   the other bytes, which cost room on the disk, have a limit: a small file can
   unpack to a very large one, and a stream can be endless.
*/
#include "file.h"

#include <zlib.h>
#include <zstd.h>

#define GIB ((uint64_t)1 << 30)
enum { BLOCK = 1 << 16, TIMES = 64 }; /* a recording packs to a tenth or so */

struct unpacked {
    struct source *source;
    int fd;
    uint64_t size, data; /* bytes; bytes of blocks that have not only zeros */
    uint64_t size_max, data_max;
    const char *other, *large; /* messages: no ELF file, and %u GiB */
};

static bool is_zero(const unsigned char *bytes, size_t size)
{
    return size == 0 ||
           (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Adds a block, of BLOCK bytes but for the last; null, or what is wrong. */
static const char *block_add(struct unpacked *to, const unsigned char *bytes,
                             size_t size)
{
    if (to->size == 0 && (size < 4 || memcmp(bytes, "\177ELF", 4) != 0))
        return source_wrong(to->source, "%s", to->other);
    if (!is_zero(bytes, size)) {
        to->data += size;
        errno = ENOSPC;
        if (to->data <= to->data_max &&
            pwrite(to->fd, bytes, size, (off_t)to->size) != (ssize_t)size)
            return source_wrong(to->source, "the file for it: %s",
                                strerror(errno));
    }
    to->size += size;
    if (to->size > to->size_max || to->data > to->data_max)
        return source_wrong(
            to->source, to->large,
            (unsigned)((to->data > to->data_max ? to->data_max : to->size_max) /
                       GIB));
    return NULL;
}

/* Ends the file: *fd has it, or it is closed. Null, or what is wrong. */
static const char *received(struct unpacked *to, const char *wrong, int *fd)
{
    if (!wrong && ftruncate(to->fd, (off_t)to->size) != 0)
        wrong =
            source_wrong(to->source, "the file for it: %s", strerror(errno));
    *fd = wrong ? -1 : to->fd;
    if (wrong)
        close(to->fd);
    return wrong;
}

/* A packed file ends early: the recording may be whole all the same. */
static void packed_cut(struct unpacked *to)
{
    strcpy(to->source->warning, "it is cut off: its packed bytes end early");
}

/* Unpacks a file of gzip, which may have several members. Closes `fd`. */
static const char *gzip_unpack(struct unpacked *to, int fd)
{
    static unsigned char block[BLOCK];
    const char *wrong = NULL;
    gzFile from = gzdopen(fd, "rb");
    int got = 0, error = Z_OK;
    if (!from) {
        close(fd);
        return source_wrong(to->source, "there is no memory for it");
    }
    while (!wrong && (got = gzread(from, block, BLOCK)) > 0)
        wrong = block_add(to, block, (size_t)got);
    gzerror(from, &error);
    if (error == Z_BUF_ERROR)
        packed_cut(to);
    else if (!wrong && got < 0)
        wrong = source_wrong(to->source, "cannot be unpacked: gzip: %s",
                             error == Z_DATA_ERROR ? "it is damaged"
                                                   : gzerror(from, &error));
    gzclose(from);
    return wrong;
}

/* Fills `out` from `in`, which it reads on from `fd`. False: the end; *error is
 * not 0 within a frame. */
static bool zstd_fill(ZSTD_DStream *stream, ZSTD_inBuffer *in,
                      ZSTD_outBuffer *out, int fd, size_t *error)
{
    static unsigned char packed[BLOCK];
    while (out->pos < out->size) {
        size_t before = out->pos, left;
        if (in->pos == in->size) {
            ssize_t got = read(fd, packed, sizeof packed);
            *in = (ZSTD_inBuffer){packed, got > 0 ? (size_t)got : 0, 0};
        }
        left = ZSTD_decompressStream(stream, out, in);
        if (in->size == 0 && out->pos == before)
            return false;
        *error = left;
        if (ZSTD_isError(left))
            return false;
    }
    return true;
}

/* Unpacks a file of zstd, which may have several frames; a window takes 128 MiB
 * at most. Closes `fd`. */
static const char *zstd_unpack(struct unpacked *to, int fd)
{
    static unsigned char block[BLOCK];
    const char *wrong = NULL;
    ZSTD_inBuffer in = {block, 0, 0};
    ZSTD_DStream *stream = ZSTD_createDStream();
    size_t error = 0;
    bool more = stream;
    if (!stream)
        wrong = source_wrong(to->source, "there is no memory for it");
    while (more && !wrong) {
        ZSTD_outBuffer out = {block, BLOCK, 0};
        more = zstd_fill(stream, &in, &out, fd, &error);
        if (out.pos)
            wrong = block_add(to, block, out.pos);
        if (!wrong && ZSTD_isError(error))
            wrong = source_wrong(to->source, "cannot be unpacked: zstd: %s",
                                 ZSTD_getErrorName(error));
    }
    if (!wrong && error)
        packed_cut(to);
    ZSTD_freeDStream(stream);
    close(fd);
    return wrong;
}

const char *source_receive(struct source *source,
                           size_t (*read_more)(void *, void *, size_t),
                           void *own, int *fd)
{
    static unsigned char block[BLOCK];
    struct unpacked to = {.source = source,
                          .fd = unnamed_file(),
                          .size_max = 16 * GIB,
                          .data_max = 8 * GIB,
                          .other = "no recording came, but something else",
                          .large =
                              "more than %u GiB came, which is no recording"};
    const char *wrong = NULL;
    size_t got;
    if (to.fd < 0)
        return source_wrong(source, "no file can be made for it: %s",
                            strerror(errno));
    while (!wrong && (got = read_more(own, block, BLOCK)) > 0)
        wrong = block_add(&to, block, got);
    if (!wrong && to.size == 0)
        wrong = source_wrong(source, "nothing came");
    return received(&to, wrong, fd);
}

const char *source_unpack(struct source *source, const char *path, int *fd)
{
    unsigned char magic[4] = {0};
    int packed = regular_open(path);
    struct unpacked to = {
        .source = source,
        .other = "is no core file and no recording, but something else that "
                 "was packed",
        .large = "unpacks to more than %u GiB, which is no recording but made "
                 "to harm; if it is one after all, unpack it yourself, and "
                 "name that"};
    bool gzip, zstd;
    const char *wrong;
    struct stat is;
    *fd = -1;
    if (packed < 0 || pread(packed, magic, 4, 0) != 4 ||
        fstat(packed, &is) != 0) {
        if (packed >= 0)
            close(packed);
        return NULL; /* file_open() says why */
    }
    gzip = magic[0] == 0x1f && magic[1] == 0x8b;
    zstd = memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0;
    if (!gzip && !zstd) {
        close(packed);
        return NULL;
    }
    to.data_max = (uint64_t)is.st_size * TIMES;
    to.size_max = to.data_max > 16 * GIB ? to.data_max : 16 * GIB;
    to.data_max = to.data_max > GIB ? to.data_max : GIB;
    to.fd = unnamed_file();
    if (to.fd < 0) {
        close(packed);
        return source_wrong(source, "no file can be made to unpack it: %s",
                            strerror(errno));
    }
    wrong = gzip ? gzip_unpack(&to, packed) : zstd_unpack(&to, packed);
    if (!wrong && to.size == 0)
        wrong = source_wrong(
            source, "nothing unpacks from it: it is cut off, or empty");
    return received(&to, wrong, fd);
}
