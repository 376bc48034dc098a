/* cache.c - pages of a program's memory, each read once. */
/* SPDX-License-Identifier: MIT */

#include "tasks.h"

enum { CACHE_BYTES = 4096 };
struct cache_page {
    uint64_t address;
    unsigned epoch; /* 0: none was read */
    uint32_t size;
    unsigned char bytes[CACHE_BYTES];
};

static const struct cache_page *page_at(struct cache *cache, uint64_t address)
{
    uint64_t number = address / CACHE_BYTES;
    struct cache_page *page =
        &cache->pages[(number ^ number >> 12) & cache->mask];
    if (page->epoch == cache->epoch && page->address == address)
        return page;
    page->size = (uint32_t)cache->of->read(cache->of, address, page->bytes,
                                           sizeof page->bytes);
    page->address = address;
    page->epoch = cache->epoch;
    return page;
}

static size_t cache_read(struct memory *memory, uint64_t address, void *to,
                         size_t size)
{
    struct cache *cache = (struct cache *)memory;
    size_t done = 0;
    while (done < size && address + done >= address) {
        uint64_t at = (address + done) % CACHE_BYTES;
        const struct cache_page *page = page_at(cache, address + done - at);
        size_t piece = size - done;
        if (page->size <= at) /* a recording has pieces of pages */
            return done + cache->of->read(cache->of, address + done,
                                          (char *)to + done, size - done);
        if (piece > page->size - at)
            piece = (size_t)(page->size - at);
        memcpy((char *)to + done, page->bytes + at, piece);
        done += piece;
    }
    return done;
}

static void cache_needs(struct memory *memory, uint64_t address, size_t size,
                        bool zeros)
{
    struct memory *of = ((struct cache *)memory)->of;
    of->needs(of, address, size, zeros);
}

void cache_open(struct cache *cache, struct memory *of, size_t count)
{
    cache->memory = *of;
    cache->memory.base = memory_base(of);
    cache->memory.read = cache_read;
    cache->memory.map = NULL;
    cache->memory.needs = of->needs ? cache_needs : NULL;
    cache->of = of;
    cache->mask = count - 1;
    cache->epoch = 1;
    cache->pages = need(calloc(count, sizeof *cache->pages));
}

void cache_close(struct cache *cache)
{
    free(cache->pages);
    cache->pages = NULL;
}

void cache_renew(struct cache *cache)
{
    cache->epoch++;
    if (cache->epoch != 0)
        return;
    for (size_t i = 0; i <= cache->mask; i++)
        cache->pages[i].epoch = 0;
    cache->epoch = 1;
}
