/* recorder_flash.h - keeps a port's newest records in flash, over a loss of power. */
/* SPDX-License-Identifier: MIT */
/*
 * Include it in one C file, after the port's macros; stream.md has the rest.
 *
 *     static struct recorder_flash flash = {
 *         .memory = (const unsigned char *)0x08060000, // mapped
 *         .page_bytes = 4096, .pages = 32, .erase = erase, .write = write};
 *     while (recorder_flash_send(&flash))     // of main, or of idle
 *         ;
 *
 * Pages are written in a circle, and the oldest one is erased when the newest
 * is full. A page has a head, then frames of recorder_stream.h, in units that
 * are each written once:
 *
 *     magic | turn | ~turn | page_bytes, and 1 in a first page      32 bits each
 *
 * The turn counts the pages begun since the flash was new, so turn / pages is the
 * number of times that a page was erased. A first page begins with a new frame,
 * since the port started, or a write failed.
 */
#ifndef RECORDER_FLASH_H
#define RECORDER_FLASH_H

#include "recorder_stream.h"

/* Bytes that are written at once, and only once after the page was erased:
 * 1, 2, 4, 8 or 16. */
#ifndef RECORDER_FLASH_UNIT
#define RECORDER_FLASH_UNIT 8
#endif
RECORDER_ASSERT_(RECORDER_FLASH_UNIT > 0 && 16 % RECORDER_FLASH_UNIT == 0,
                 "RECORDER_FLASH_UNIT: is not 1, 2, 4, 8 or 16");

struct recorder_flash {
    const unsigned char *memory;
    size_t page_bytes; /* a multiple of 256 */
    size_t pages;      /* 4 or more */
    /* Make a page all ones; write a unit. `at` is an offset in `memory`. False:
     * it failed, and the next page is used. */
    bool (*erase)(size_t at);
    bool (*write)(size_t at, const void *unit);
    /* The rest begins as zeros. */
    struct recorder_stream stream;
    uint32_t turn, whole; /* newest page; page of the last whole registry */
    size_t at;            /* in the newest page; 0: the next one begins */
    bool opened, continues;
    const struct recorder *first; /* of the last whole registry */
    uintptr_t threads;
};

enum { RECORDER_FLASH_MAGIC_ = 0x4c464352, RECORDER_FLASH_HEAD_ = 16 };

/* Finds the newest page that was begun. */
RECORDER_INLINE_ void recorder_flash_open_(struct recorder_flash *flash)
{
    uint32_t head[RECORDER_FLASH_HEAD_ / 4];
    size_t page;
    for (page = 0; page < flash->pages; page++) {
        __builtin_memcpy(head, flash->memory + page * flash->page_bytes,
                         sizeof head);
        if (head[0] == RECORDER_FLASH_MAGIC_ && head[1] == ~head[2] &&
            head[1] % flash->pages == page && head[1] > flash->turn)
            flash->turn = head[1];
    }
    flash->opened = true;
}

/* Writes a unit at the end of the newest page: bytes, and zeros if they are
 * fewer. False: it failed, and the next page begins. */
RECORDER_INLINE_ bool recorder_flash_add_(struct recorder_flash *flash,
                                          const void *bytes, size_t size)
{
    unsigned char unit[RECORDER_FLASH_UNIT] = {0};
    size_t page = flash->turn % flash->pages * flash->page_bytes;
    __builtin_memcpy(unit, bytes, size < sizeof unit ? size : sizeof unit);
    flash->continues = flash->write(page + flash->at, unit);
    flash->at =
        flash->continues ? (flash->at + sizeof unit) % flash->page_bytes : 0;
    return flash->continues;
}

RECORDER_INLINE_ bool recorder_flash_page_(struct recorder_flash *flash)
{
    uint32_t head[RECORDER_FLASH_HEAD_ / 4];
    size_t at;
    flash->turn++;
    head[0] = RECORDER_FLASH_MAGIC_;
    head[1] = flash->turn;
    head[2] = ~flash->turn;
    head[3] = (uint32_t)flash->page_bytes | !flash->continues;
    flash->continues =
        flash->erase(flash->turn % flash->pages * flash->page_bytes);
    for (at = 0; at < sizeof head && flash->continues;
         at += RECORDER_FLASH_UNIT)
        recorder_flash_add_(flash, (const unsigned char *)head + at,
                            sizeof head - at);
    return flash->continues;
}

static struct recorder_flash *recorder_flash_; /* that sends now */

RECORDER_INLINE_ bool recorder_flash_put_(const void *frame, size_t size)
{
    struct recorder_flash *flash = recorder_flash_;
    const unsigned char *from = (const unsigned char *)frame;
    size_t done;
    for (done = 0; done < size; done += RECORDER_FLASH_UNIT)
        if ((flash->at == 0 && !recorder_flash_page_(flash)) ||
            !recorder_flash_add_(flash, from + done, size - done))
            return false;
    return true;
}

/* Writes a frame. Returns false if all records are written, or the flash failed:
 * then call it again later. One context at a time may call it. The whole registry
 * is written when the port starts, when it changes, and once in a quarter of the
 * pages, as a page that is erased takes its part along. */
RECORDER_INLINE_ bool recorder_flash_send(struct recorder_flash *flash)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_stream *stream = &flash->stream;
    if (!flash->opened)
        recorder_flash_open_(flash);
    if (registry->first != flash->first ||
        registry->threads_count != flash->threads ||
        flash->turn - flash->whole > flash->pages / 4) {
        flash->first = registry->first;
        flash->threads = registry->threads_count;
        flash->whole = flash->turn;
        stream->whole = false;
        stream->part = 0;
    }
    stream->time = (uint32_t)RECORDER_TIME(); /* no part is due */
    recorder_flash_ = flash;
    if (recorder_stream_send(stream, recorder_flash_put_))
        return true;
    /* The host sees a record when the next rounds have ended. */
    return flash->continues && !stream->waits && stream->patience == 0 &&
           stream->shown !=
               RECORDER_LOAD_(recorder_home_.order, __ATOMIC_RELAXED);
}

#endif
