/* stream.c - a port that sends its records, through a link that may spoil. */
/* SPDX-License-Identifier: MIT */
/* stream RECORDS PER-MILLION SEED [swo | hostile]: frames on stdout. */
#include <stddef.h>
#include <stdint.h>

extern uint32_t stream_now;
#define RECORDER_TIME() stream_now
#define RECORDER_TIME_HZ 1000000
#define RECORDER_THREAD() 1u
#include "recorder_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUILD
#define BUILD "build 1"
#endif
uint32_t stream_now;
const char recorder_build_id[8] = BUILD;
__asm__(".globl recorder_build_id_end\n"
        ".set recorder_build_id_end, recorder_build_id + 8");

RECORDER(numbers, 64, "n, its square and its complement");
RECORDER(texts, 32, "Texts that are copied");

static unsigned per_million, is_swo, is_full;
static uint64_t state;
static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void spoil(int c)
{
    if (next_random() % 1000000 < per_million) {
        switch (next_random() % 3) {
        case 0: return;
        case 1: c ^= 1 << next_random() % 8; break;
        default: putchar((int)(next_random() % 256));
        }
    }
    putchar(c);
}
/* One to four bytes of a port, and packets that a processor sends itself. */
static void swo(const unsigned char *bytes, size_t size)
{
    static const unsigned char others[][7] = {
        {6, 0, 0, 0, 0, 0, 0x80},  /* synchronisation */
        {1, 0x70},                 /* overflow */
        {3, 0xc0, 0x81, 0x01},     /* a time stamp */
        {1, 0x20},                 /* a short one */
        {5, 0x17, 1, 2, 0x80, 0},  /* a sample of the program counter */
        {2, 0x01, 'x'},            /* port 0 */
        {5, 0x03, 0, 1, 0, 0x0b}}; /* port 0, a word */
    while (size) {
        size_t i, part = next_random() % 2 && size >= 4   ? 4
                         : next_random() % 2 && size >= 2 ? 2
                                                          : 1;
        const unsigned char *other = others[next_random() % 7];
        if (next_random() % 4 == 0)
            for (i = 1; i <= other[0]; i++)
                spoil(other[i]);
        spoil(1 << 3 | (part == 4 ? 3 : (int)part));
        for (i = 0; i < part; i++)
            spoil(*bytes++);
        size -= part;
    }
}
static bool put(const void *frame, size_t size)
{
    size_t i;
    if (is_full++ % 8 == 7) /* the link has no room */
        return false;
    if (is_swo)
        swo(frame, size);
    else
        for (i = 0; i < size; i++)
            spoil(((const unsigned char *)frame)[i]);
    return true;
}

/* Whole frames of wrong contents: addresses of everything, any sizes. */
static void hostile(unsigned frames)
{
    const uintptr_t near[] = {(uintptr_t)&recorder_registry,
                              (uintptr_t)&recorder_for_numbers,
                              (uintptr_t)recorder_for_numbers.rings,
                              (uintptr_t)recorder_home_.order, 0};
    while (frames--) {
        struct recorder_frame_ frame;
        unsigned char junk[64];
        uint16_t sequence = (uint16_t)next_random();
        frame.size = 1;
        recorder_frame_add_(&frame, &sequence, sizeof sequence);
        while (frame.size < 140) {
            const void *at =
                (const void *)(near[next_random() % 5] + next_random() % 600);
            size_t i;
            for (i = 0; i < sizeof junk; i++)
                junk[i] =
                    (unsigned char)(next_random() % 3 ? 0 : next_random());
            if (next_random() % 4 == 0)
                recorder_frame_range_(&frame, at, (size_t)next_random());
            else
                recorder_frame_piece_(&frame, at, junk, next_random() % 64);
        }
        recorder_frame_end_(&frame);
        fwrite(frame.bytes, 1, frame.size, stdout);
    }
}

int main(int argc, char **argv)
{
    static struct recorder_stream stream;
    unsigned records = (unsigned)atoi(argv[1]), n, i;
    unsigned spoiled = (unsigned)atoi(argv[2]);
    char text[16];
    state = (uint64_t)atoi(argv[3]) * 2654435761u + 1;
    is_swo = argc > 4 && strcmp(argv[4], "swo") == 0;
    for (i = 0; i < 30; i++) /* the host knows all recorders from then on */
        recorder_stream_send(&stream, put);
    for (n = 1; n <= records; n++) {
        per_million = n > 20 ? spoiled : 0; /* it has begun to show them */
        record(numbers, "n=%u %u %u", n, n * n, ~n);
        if (n % 10 == 0) {
            sprintf(text, "text %u", n);
            record(texts, "%s of %u", RECORDER_COPY(texts, text), n);
        }
        if (argc > 4 && strcmp(argv[4], "hostile") == 0)
            hostile(1);
        for (i = 0; i < 4; i++, stream_now += 250)
            recorder_stream_send(&stream, put);
    }
    per_million = 0;
    for (i = 0; i < 3000; i++, stream_now += 1000)
        recorder_stream_send(&stream, put);
    return 0;
}
