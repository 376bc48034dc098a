/* constant.h - which bytes of the program cannot have changed. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_CONSTANT_H_
#define RECORDER_CONSTANT_H_

#include "os.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- constant --
 *
 * A `%s` that is kept as an address shows what stands there when a reader
 * comes. That is what was recorded if the memory is private, cannot be written
 * and belongs to a file: the read-only segments of the program and of its
 * libraries. Any other text is shown with a mark. The program's own segments
 * are known without a system call; the rest is in /proc/self/maps, which is
 * read once in a dump, and for each text where there is no scratch memory.
 */

/* Addresses of bytes that nobody can change: from `start` to `end`. */
struct recorder_range_ {
    uintptr_t start, end;
};
struct recorder_constants_ {
    const uintptr_t *headers, *headers_end; /* of the program */
    struct recorder_range_ *ranges;         /* of /proc/self/maps */
    size_t count, max;
    bool whole; /* there are no other ranges */
};

#ifdef RECORDER_LINUX_
extern unsigned long recorder_constant_auxiliary_(unsigned long type)
    RECORDER_LABEL_(getauxval);

enum { RECORDER_HEADER_WORDS_ = __SIZEOF_POINTER__ == 8 ? 7 : 8 };

/* Opens with room for `max` ranges. The C library is asked here, as the loader
 * takes more than a kilobyte of stack to find a function at its first call:
 * recorder_is_constant_() is called where little is left, and calls only
 * recorder_syscall_(), which was called before. */
RECORDER_INLINE_ void recorder_constants_open_(struct recorder_constants_ *c,
                                               struct recorder_range_ *ranges,
                                               size_t max)
{
    c->ranges = ranges;
    c->count = 0;
    c->max = max;
    c->whole = false;
    /* AT_PHDR, AT_PHNUM: no program is without */
    c->headers = (const uintptr_t *)recorder_constant_auxiliary_(3);
    c->headers_end =
        c->headers + recorder_constant_auxiliary_(5) * RECORDER_HEADER_WORDS_;
}

/* True if an address lies in a segment of the program that is loaded without
 * the right to write. Words of a program header: 2 address, 4 bytes in the
 * file. */
RECORDER_SELDOM_ bool
recorder_is_program_constant_(const struct recorder_constants_ *c,
                              uintptr_t address)
{
    uintptr_t bias = 0;
    const uintptr_t *h;
    for (h = c->headers; h != c->headers_end; h += RECORDER_HEADER_WORDS_) {
        uint32_t type = *(const uint32_t *)h;
        uint32_t flags =
            __SIZEOF_POINTER__ == 8 ? ((const uint32_t *)h)[1] : (uint32_t)h[6];
        if (type == 6) /* PT_PHDR: in front of what is loaded */
            bias = (uintptr_t)c->headers - h[2];
        if (type == 1 && !(flags & 2) && /* PT_LOAD without PF_W */
            address - (bias + h[2]) < h[4])
            return true;
    }
    return false;
}

/* A line of /proc/self/maps on its way through the parser:
 * "start-end rw-p offset device inode   /path". */
struct recorder_maps_line_ {
    struct recorder_range_ range;
    unsigned field, column; /* field 6: behind the first byte of the path */
    bool constant;          /* as far as it was read */
};

RECORDER_INLINE_ void recorder_maps_byte_(struct recorder_maps_line_ *line,
                                          char c)
{
    if (line->field == 5 && c != ' ') {
        line->constant = line->constant && c == '/';
        line->field = 6;
    } else if (line->field < 5 && c == ' ') {
        line->field++;
        line->column = 0;
        return;
    } else if (line->field == 0 && c == '-') {
        line->range.start = line->range.end;
        line->range.end = 0;
    } else if (line->field == 0) {
        unsigned digit = (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
        line->range.end = line->range.end << 4 | digit;
    } else if (line->field == 1 && line->column == 1) {
        line->constant = c != 'w';
    } else if (line->field == 1 && line->column == 3) {
        line->constant = line->constant && c == 'p';
    }
    line->column++;
}

/* Keeps a range, as one with that before it where they touch. Returns whether
 * there was room. */
RECORDER_SELDOM_ bool recorder_constant_add_(struct recorder_constants_ *c,
                                             const struct recorder_range_ *r)
{
    struct recorder_range_ *next = c->ranges + c->count;
    if (c->count && next[-1].end == r->start) {
        next[-1].end = r->end;
        return true;
    }
    if (c->count == c->max)
        return false;
    *next = *r;
    c->count++;
    return true;
}

/* Reads /proc/self/maps by pieces of `size` bytes at `piece`, and keeps its
 * constant ranges as long as there is room. Returns whether an address is in
 * one of them. */
RECORDER_SELDOM_ bool recorder_maps_read_(struct recorder_constants_ *c,
                                          uintptr_t address, char *piece,
                                          size_t size)
{
    struct recorder_maps_line_ line = {{0, 0}, 0, 0, false};
    bool found = false;
    long count, i;
    int fd =
        (int)recorder_syscall_(SYS_openat, -100L /* AT_FDCWD */,
                               "/proc/self/maps", 02000000L /* O_CLOEXEC */);
    c->count = 0;
    c->whole = true;
    if (fd < 0)
        return false;
    while ((count = recorder_syscall_(SYS_read, (long)fd, piece, size)) > 0)
        for (i = 0; i < count; i++) {
            if (piece[i] != '\n') {
                recorder_maps_byte_(&line, piece[i]);
                continue;
            }
            if (line.field == 6 && line.constant) {
                found = found || address - line.range.start <
                                     line.range.end - line.range.start;
                if (!recorder_constant_add_(c, &line.range))
                    c->whole = false;
            }
            line.range.end = line.field = line.column = 0;
        }
    recorder_syscall_(SYS_close, (long)fd);
    return found;
}

/* True if what stands at an address has been there all the time. `piece` are
 * `size` bytes to work with. */
RECORDER_FUNCTION_ bool recorder_is_constant_(struct recorder_constants_ *c,
                                              uintptr_t address, char *piece,
                                              size_t size)
{
    size_t i;
    if (recorder_is_program_constant_(c, address))
        return true;
    for (i = 0; i < c->count; i++)
        if (address - c->ranges[i].start <
            c->ranges[i].end - c->ranges[i].start)
            return true;
    return !c->whole && recorder_maps_read_(c, address, piece, size);
}
#else
/* No system call tells, and no port is asked: nothing is marked. */
RECORDER_INLINE_ void recorder_constants_open_(struct recorder_constants_ *c,
                                               struct recorder_range_ *ranges,
                                               size_t max)
{
    (void)c;
    (void)ranges;
    (void)max;
}
RECORDER_INLINE_ bool recorder_is_constant_(struct recorder_constants_ *c,
                                            uintptr_t address, char *piece,
                                            size_t size)
{
    (void)c;
    (void)address;
    (void)piece;
    (void)size;
    return true;
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
