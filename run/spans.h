/* spans.h - how recorder run describes a function to librecorder-run.so. */
/* SPDX-License-Identifier: MIT */
/*
   RECORDER_RUN_SPANS has "ADDRESS:BYTES:HASH:CODE:PLACE+TARGET,...:MODULE;" for
   each function: its address and bytes in the module's file, a hash of its code,
   and its first instructions, translated, with a jump to the rest. At each
   PLACE of CODE is a word for the distance to the TARGET, an address of the
   file. All numbers are hexadecimal, CODE has two digits a byte.
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    RUN_SPANS = 16, /* functions */
    RUN_JUMP = 5    /* bytes of a function that a jump replaces */
};

/* Hashes code: FNV-1a of 64 bits. */
static inline uint64_t run_code_hash(const unsigned char *at, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    while (size--)
        hash = (hash ^ *at++) * 0x100000001b3u;
    return hash;
}
