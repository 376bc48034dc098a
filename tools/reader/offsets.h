/* offsets.h - offsets of the structures' members in the program's memory. */
/* SPDX-License-Identifier: MIT */
/*
    const struct offsets *at = offsets_of(memory);
    bytes_word(memory, bytes + at->registry_self)

A program of either word size is read on any machine, so that offsetof() cannot
tell: the table in recorder/layout.h can.
*/
#ifndef OFFSETS_H
#define OFFSETS_H

#include <stdint.h>

#include "recorder/layout.h"

#define OFFSETS_MEMBER(name, structure, member, at_4, at_8)                    \
    uint16_t name##_##member;
#define OFFSETS_SIZE(name, structure, of_4, of_8) uint16_t name##_size;
struct offsets {
    RECORDER_OFFSETS_(OFFSETS_MEMBER)
    RECORDER_SIZES_(OFFSETS_SIZE)
    uint16_t slot_size; /* of a ring: its record, commit word and turn */
};
#undef OFFSETS_MEMBER
#undef OFFSETS_SIZE

/* Tables for words of 4 bytes, and of 8. */
extern const struct offsets offsets[2];

#endif
