/* constant.h - finds bytes of the program that cannot have changed. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_CONSTANT_H_
#define RECORDER_CONSTANT_H_

#include "os.h"

RECORDER_C_BEGIN_

/* -------------------------------------------------------------- constant --
 *
 * A `%s` that is kept as an address shows the text that the memory there holds
 * when a reader reads it. It is the recorded text if the memory is private, cannot be written and
 * belongs to a file: the read-only segments of the program and its libraries.
 * Any other text is marked. The program's own segments are known without a
 * system call; the rest is in /proc/self/maps, which is read once in a dump, or
 * for each text if there is no scratch memory.
 */

/* Constant bytes: addresses from `start` to `end`. */
struct recorder_range_ {
    uintptr_t start, end;
};
struct recorder_constants_ {
    struct recorder_os_headers_ program;
    struct recorder_range_ *ranges; /* of /proc/self/maps */
    size_t count, max;
    bool whole; /* there are no other ranges */
};

/* Opens with room for `max` ranges. Calls the C library here once, because the
 * loader takes more than a kilobyte of stack to find a function at its first
 * call: recorder_is_constant_() runs with little stack left. */
RECORDER_INLINE_ void recorder_constants_open_(struct recorder_constants_ *c,
                                               struct recorder_range_ *ranges,
                                               size_t max)
{
    c->program = recorder_os_headers_open_();
    c->ranges = ranges;
    c->count = 0;
    c->max = max;
    c->whole = false;
}

/* A line of /proc/self/maps on its way through the parser:
 * "start-end rw-p offset device inode   /path". */
struct recorder_maps_line_ {
    struct recorder_range_ range;
    unsigned field, column; /* field 6: after the first byte of the path */
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

/* Keeps a range; joins it with the one before if they touch. Returns false if
 * there is no room. */
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

/* True if an address is in a segment of the program that is loaded without the
 * right to write. Keeps that segment, too. */
RECORDER_SELDOM_ bool
recorder_is_program_constant_(struct recorder_constants_ *c, uintptr_t address)
{
    struct recorder_os_headers_ headers = c->program;
    struct recorder_os_segment_ segment;
    while (recorder_os_next_segment_(&headers, &segment))
        if (!segment.writable && address - segment.at < segment.file_bytes) {
            struct recorder_range_ range = {segment.at,
                                            segment.at + segment.file_bytes};
            recorder_constant_add_(c, &range);
            return true;
        }
    return false;
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
    int fd = -1;
    c->count = 0;
    c->whole = true;
    while ((count = recorder_os_maps_(&fd, piece, size)) > 0)
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
    return found;
}

/* True if the bytes at an address cannot have changed, or no system tells.
 * `piece` has `size` bytes to work with. */
RECORDER_INLINE_ bool recorder_is_constant_(struct recorder_constants_ *c,
                                            uintptr_t address, char *piece,
                                            size_t size)
{
    size_t i;
    for (i = 0; i < c->count; i++)
        if (address - c->ranges[i].start <
            c->ranges[i].end - c->ranges[i].start)
            return true;
    if (!RECORDER_OS_MAPS_ || recorder_is_program_constant_(c, address))
        return true;
    return !c->whole && recorder_maps_read_(c, address, piece, size);
}

RECORDER_C_END_
#endif
