/* offsets.h - where recorder.h's structures keep their members, in memory. */
/* SPDX-License-Identifier: MIT */
/*
    const struct offsets *at = offsets_of(memory);
    bytes_word(memory, bytes + at->registry_self)

A program of either word size is read on any machine, so that offsetof() cannot
tell: the table can. offsets.c compares it with the header, for the words that
it is compiled for. Members of 64 bits stand at multiples of 8 everywhere.
*/
#ifndef OFFSETS_H
#define OFFSETS_H

#include <stdint.h>

#include "recorder.h"

/* AT(structure, member, offset with words of 4 bytes, with words of 8). */
#define OFFSETS(AT)                                                            \
    AT(registry, self, 16, 16)                                                 \
    AT(registry, layout, 20, 24)                                               \
    AT(registry, bytes, 24, 28)                                                \
    AT(registry, head_bytes, 28, 32)                                           \
    AT(registry, later_set, 32, 36)                                            \
    AT(registry, first, 36, 40)                                                \
    AT(registry, order, 40, 48)                                                \
    AT(registry, cleared, 44, 56)                                              \
    AT(registry, start, 56, 72)                                                \
    AT(registry, later, 80, 96)                                                \
    AT(registry, threads, 104, 120)                                            \
    AT(registry, threads_max, 108, 128)                                        \
    AT(registry, threads_count, 112, 136)                                      \
    AT(registry, pid, 116, 144)                                                \
    AT(registry, line, 120, 152)                                               \
    AT(registry, tweaks, 132, 176)                                             \
    AT(registry, wraps_count, 212, 264)                                        \
    AT(registry, wraps, 216, 272)                                              \
    AT(registry, image, 348, 536)                                              \
    AT(registry, program, 356, 552)                                            \
    AT(moment, ticks, 0, 0)                                                    \
    AT(moment, monotonic_ns, 8, 8)                                             \
    AT(moment, realtime_ns, 16, 16)                                            \
    AT(wrap, order, 0, 0)                                                      \
    AT(wrap, high, 4, 8)                                                       \
    AT(recorder, trace, 0, 0)                                                  \
    AT(recorder, rings, 4, 8)                                                  \
    AT(recorder, mask, 8, 16)                                                  \
    AT(recorder, lanes_mask, 12, 24)                                           \
    AT(recorder, ring_bytes, 16, 32)                                           \
    AT(recorder, name, 20, 40)                                                 \
    AT(recorder, description, 24, 48)                                          \
    AT(recorder, next, 28, 56)                                                 \
    AT(row, first, 0, 0)                                                       \
    AT(row, id, 4, 8)                                                          \
    AT(row, state, 8, 12)                                                      \
    AT(row, named, 10, 14)                                                     \
    AT(row, name, 12, 16)                                                      \
    AT(tweak, trace, 0, 0)                                                     \
    AT(tweak, name, 4, 8)                                                      \
    AT(tweak, description, 8, 16)                                              \
    AT(tweak, next, 12, 24)                                                    \
    AT(record, format, 0, 0)                                                   \
    AT(record, order, 4, 8)                                                    \
    AT(record, time, 8, 16)                                                    \
    AT(record, caller, 12, 24)                                                 \
    AT(record, argument, 16, 32)

/* SIZE(structure, its bytes with words of 4, with words of 8). */
#define OFFSETS_SIZES(SIZE)                                                    \
    SIZE(wrap, 8, 16)                                                          \
    SIZE(row, 28, 32)                                                          \
    SIZE(tweak, 16, 32)                                                        \
    SIZE(record, 32, 64)                                                       \
    SIZE(turn, 8, 16)

#define OFFSETS_MEMBER(structure, member, at_4, at_8)                          \
    uint16_t structure##_##member;
#define OFFSETS_SIZE(structure, of_4, of_8) uint16_t structure##_size;
struct offsets {
    OFFSETS(OFFSETS_MEMBER)
    OFFSETS_SIZES(OFFSETS_SIZE)
    uint16_t slot_size; /* of a ring: its record, commit word and turn */
};
#undef OFFSETS_MEMBER
#undef OFFSETS_SIZE

/* Of words of 4 bytes, and of 8. */
extern const struct offsets offsets[2];

#endif
