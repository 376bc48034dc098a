/* flash.c - a SOURCE flash:IMAGE, the pages that recorder_flash.h wrote. */
/* SPDX-License-Identifier: MIT */
/*
   The frames of all pages, the oldest first, become a stream. A zero, which ends
   a frame, comes before each page that begins with a new frame.
*/
#include "file.h"

#include "array.h"
#include "bytes.h"

enum { HEAD = 16, PAGE_LEAST = 256, MAGIC = 0x4c464352 };

struct page {
    uint64_t turn; /* array_compare() sorts by it */
    const unsigned char *bytes;
    bool is_first;
};

struct flash {
    struct page *pages;
    size_t count, max, page_bytes;
    size_t next, at; /* the page, and the offset in it, that are copied next */
};

/* Reads the head of a page, if there is one. */
static void page_add(struct flash *flash, const struct memory *m,
                     const struct mapped *image, size_t at)
{
    const unsigned char *head = image->bytes + at;
    uint32_t turn = (uint32_t)bytes_number(m, head + 4, 4);
    size_t size = bytes_number(m, head + 12, 4);
    bool is_first = size & 1;
    size -= is_first;
    if (bytes_number(m, head, 4) != MAGIC ||
        bytes_number(m, head + 8, 4) != (uint32_t)~turn || size < PAGE_LEAST ||
        at % size || size > image->size - at ||
        (flash->page_bytes && size != flash->page_bytes))
        return;
    flash->page_bytes = size;
    *array_add(flash->pages, flash->count, flash->max) =
        (struct page){.turn = turn, .bytes = head, .is_first = is_first};
}

size_t flash_read(struct flash *flash, void *to, size_t size)
{
    const struct page *page = &flash->pages[flash->next];
    if (flash->next == flash->count)
        return 0;
    if (flash->at == 0) {
        flash->at = HEAD;
        if (page->is_first || flash->next == 0 ||
            page->turn != page[-1].turn + 1) {
            *(unsigned char *)to = 0;
            return 1;
        }
    }
    if (size > flash->page_bytes - flash->at)
        size = flash->page_bytes - flash->at;
    memcpy(to, page->bytes + flash->at, size);
    flash->at += size;
    if (flash->at == flash->page_bytes) {
        flash->at = 0;
        flash->next++;
    }
    return size;
}

void flash_rewind(struct flash *flash)
{
    flash->next = flash->at = 0;
}

void flash_close(struct flash *flash)
{
    if (flash)
        free(flash->pages);
    free(flash);
}

const char *flash_open(struct file *file, const char *path, struct flash **to)
{
    const struct mapped *image = mapped_open(file, path);
    struct flash *flash;
    if (!image)
        return source_wrong(file->source, "%s", strerror(errno));
    flash = *to = need(calloc(1, sizeof *flash));
    for (size_t at = 0; at + PAGE_LEAST <= image->size; at += PAGE_LEAST)
        page_add(flash, &file->memory, image, at);
    if (flash->count == 0)
        return source_wrong(file->source,
                            "has no page that recorder_flash.h wrote");
    array_sort(flash->pages, flash->count, array_compare);
    file->source->erased =
        flash->pages[flash->count - 1].turn / (image->size / flash->page_bytes);
    return NULL;
}
