/* flash.c - a port that keeps its records in flash, and loses power. */
/* SPDX-License-Identifier: MIT */
/*
 * flash IMAGE PAGE-BYTES PAGES CUT SEED: starts with what IMAGE has, records, and
 * loses power at the CUT-th change of the flash, in the middle of it; 0: not at
 * all. Prints "n" of the last record after which all was written, and of the last
 * one that was made.
 */
#include <stddef.h>
#include <stdint.h>

extern uint32_t flash_now;
#define RECORDER_TIME() flash_now
#define RECORDER_TIME_HZ 1000000
#define RECORDER_THREAD() 1u
#include "recorder_flash.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint32_t flash_now;
RECORDER(numbers, 64, "n, its square and its complement");
RECORDER(texts, 32, "Texts that are copied");

static unsigned char *memory;
static struct recorder_flash flash;
static unsigned long cut, changes;
static unsigned made, kept;
static bool failed;
static uint64_t state;
static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void power(void)
{
    if (++changes != cut)
        return;
    printf("%u %u\n", kept, made);
    exit(0);
}
/* A page that is erased while the power goes has any bits. */
static bool page_erase(size_t at)
{
    size_t i;
    for (i = 0; changes + 1 == cut && i < flash.page_bytes; i++)
        if (next_random() % 2)
            memory[at + i] |= (unsigned char)next_random();
    power();
    memset(memory + at, 0xff, flash.page_bytes);
    return true;
}
static bool unit_write(size_t at, const void *unit)
{
    const unsigned char *from = unit;
    size_t i;
    for (i = 0; i < RECORDER_FLASH_UNIT; i++) {
        if (memory[at + i] != 0xff)
            abort();            /* written twice */
        if (changes + 1 == cut) /* some bits of the unit are written */
            memory[at + i] = (unsigned char)(from[i] | next_random());
    }
    power();
    memcpy(memory + at, unit, RECORDER_FLASH_UNIT);
    failed = next_random() % 4096 == 0; /* now and then it does */
    return !failed;
}

int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    char text[16];
    size_t size;
    if (argc < 6)
        return 2;
    flash.page_bytes = (size_t)atoi(argv[2]);
    flash.pages = (size_t)atoi(argv[3]);
    cut = strtoul(argv[4], NULL, 10);
    state = strtoul(argv[5], NULL, 10) * 2654435761u + 1;
    size = flash.page_bytes * flash.pages;
    if (lseek(fd, 0, SEEK_END) == 0 && ftruncate(fd, (off_t)size) != 0)
        return 2;
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    flash.memory = memory;
    flash.erase = page_erase;
    flash.write = unit_write;
    for (made = 1; made <= 3000; made++) {
        record(numbers, "n=%u %u %u", made, made * made, ~made);
        if (made % 10 == 0) {
            sprintf(text, "text %u", made);
            record(texts, "%s of %u", RECORDER_COPY(texts, text), made);
        }
        while (next_random() % 8)
            if (!recorder_flash_send(&flash)) {
                kept = failed ? kept : made;
                failed = false;
            }
        flash_now += 1000;
    }
    made--;
    do
        failed = false;
    while (recorder_flash_send(&flash) || failed);
    kept = made;
    cut = changes + 1;
    power();
    return 1;
}
