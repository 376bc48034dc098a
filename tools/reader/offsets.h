/* offsets.h - offsets of the structures' members in the program's memory. */
/* SPDX-License-Identifier: MIT */
/*
    const struct offsets *at = offsets_of(memory);
    bytes_word(memory, bytes + at->registry_self)

A program of either word size is read on any machine, so that offsetof() cannot
tell: the table in recorder/layout.h can.
*/
#pragma once

#include "libc.h"
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

/* A ring in a recording that was made of events (tools/recording): after
 * `lost`, its head has these numbers, of 8 bytes each. In a program that space
 * has zeros, or does not exist. */
enum kept_number {
    KEPT_MARK,        /* KEPT_MAGIC */
    KEPT_ORIGIN,      /* where the program had its struct recorder */
    KEPT_FROM,        /* in a log: positions that earlier chunks account for */
    KEPT_TO,          /* and those up to this chunk's end */
    KEPT_OVERWRITTEN, /* the three figures, of when the records were read */
    KEPT_SLOTS_OVERWRITTEN,
    KEPT_ESTIMATED,
    KEPT_MISSED,   /* positions that were overwritten while a log was written */
    KEPT_LEFT_OUT, /* records that were not chosen */
    KEPT_TEXTS,    /* where texts begin and end: one that may have changed */
    KEPT_TEXTS_END, /* is at an odd address, others at even ones */
    KEPT_EMPTY,     /* 1: before an empty text is a byte that is not 0 */
    KEPT_NUMBERS
};
enum {
    KEPT_HEAD_BYTES = 256, /* of that ring */
    KEPT_SIZED = 2,        /* the address modulo 4 of a text with NULs in it: */
    KEPT_SIZE_BYTES = 4    /* its size is before it, in this many bytes */
};
#define KEPT_MAGIC 0x73746e657665f116u
static inline uint64_t kept_at(uint64_t head_bytes)
{
    return head_bytes / 2 + 2 * sizeof(uint64_t); /* after `lost` */
}

/* Tables for words of 4 bytes, and of 8. */
extern const struct offsets offsets[2];
