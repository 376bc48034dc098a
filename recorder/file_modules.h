/* file_modules.h - the program and its libraries in a recording. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FILE_MODULES_H_
#define RECORDER_FILE_MODULES_H_

#include "file_move.h"

RECORDER_C_BEGIN_

/* --------------------------------------------------------------- modules -- */

/* A segment of a module: where it is in memory and in its file. */
struct recorder_module_segment_ {
    uintptr_t start, bytes, offset;
    const char *path;
    uintptr_t saved; /* how many of its bytes are copied into the recording */
};
struct recorder_modules_ {
    struct recorder_module_segment_ *all;
    size_t count, max;
    size_t modules_count;
    char *text; /* their paths */
    size_t text_size, text_max;
    const void *only; /* list the module that holds this; null: all */
    const struct recorder_recording_ *file;
    void *memory;
    size_t memory_bytes;
};

RECORDER_SELDOM_ uintptr_t
recorder_modules_note_bytes_(const struct recorder_modules_ *modules)
{
    uintptr_t bytes = (2 + 3 * modules->count) * sizeof(uintptr_t);
    size_t i;
    for (i = 0; i < modules->count; i++)
        bytes += recorder_length_(modules->all[i].path, RECORDER_PATH_MAX_) + 1;
    return bytes;
}
/* Adds NT_FILE: the number of segments, the size of a page, {start, end, page}
 * of each, their paths. Returns false if there is no room. */
RECORDER_SELDOM_ bool
recorder_modules_add_note_(struct recorder_recording_ *file,
                           const struct recorder_modules_ *modules)
{
    const uintptr_t page = recorder_os_page_bytes_();
    uintptr_t bytes = recorder_modules_note_bytes_(modules), words[3];
    char *start = recorder_core_take_(file, 24 + bytes, false);
    char *at = start, *to;
    size_t i;
    if (!start)
        return false;
    to = recorder_core_note_(&at, "CORE", 5, 0x46494c45, (uint32_t)bytes);
    words[0] = modules->count;
    words[1] = page;
    __builtin_memcpy(to, words, 2 * sizeof *words);
    to += 2 * sizeof *words;
    for (i = 0; i < modules->count; i++, to += sizeof words) {
        const struct recorder_module_segment_ *m = &modules->all[i];
        words[0] = m->start & ~(page - 1);
        words[1] = recorder_round_up_(m->start + m->bytes, page);
        words[2] = m->offset / page;
        __builtin_memcpy(to, words, sizeof words);
    }
    for (i = 0; i < modules->count; i++) {
        const char *path = modules->all[i].path;
        size_t size = recorder_length_(path, RECORDER_PATH_MAX_) + 1;
        __builtin_memcpy(to, path, size);
        to += size;
    }
    return recorder_core_add_header_(file, RECORDER_ELF_NOTE_, 0, start,
                                     (uintptr_t)(at - start), RECORDER_ELF_R_);
}

/* True if a module records: its data contain a recorder_home_ that points to
 * our registry. */
__attribute__((no_sanitize("address", "thread"))) RECORDER_SELDOM_ bool
recorder_module_records_(const struct recorder_dl_info_ *info)
{
    const struct recorder_elf_header_ *h = info->headers;
    unsigned i;
    for (i = 0; i < info->headers_count; i++, h++) {
        const uintptr_t *at = (const uintptr_t *)recorder_round_up_(
            info->bias + h->address, sizeof *at);
        const uintptr_t *end =
            (const uintptr_t *)((info->bias + h->address + h->file_bytes) &
                                ~(uintptr_t)(sizeof *at - 1));
        if (h->type != RECORDER_ELF_LOAD_ || !(h->flags & RECORDER_ELF_W_))
            continue;
        for (; at + 1 < end; at++)
            if (recorder_get_(at) == (uintptr_t)recorder_home_.order &&
                recorder_get_(at + 1) == (uintptr_t)recorder_home_.registry)
                return true;
    }
    return false;
}

/* True if a segment with these flags holds constants: a read-only one, or the
 * code where the module has no read-only segment. */
RECORDER_SELDOM_ bool
recorder_module_constants_(const struct recorder_dl_info_ *info, uint32_t flags)
{
    const uint32_t mask = RECORDER_ELF_W_ | RECORDER_ELF_X_;
    unsigned i;
    if (!(flags & mask))
        return true;
    for (i = 0; i < info->headers_count; i++)
        if (info->headers[i].type == RECORDER_ELF_LOAD_ &&
            !(info->headers[i].flags & mask))
            return false;
    return !(flags & RECORDER_ELF_W_);
}

RECORDER_SELDOM_ bool
recorder_module_holds_(const struct recorder_dl_info_ *info,
                       const void *address)
{
    unsigned i;
    for (i = 0; i < info->headers_count; i++)
        if (info->headers[i].type == RECORDER_ELF_LOAD_ &&
            (uintptr_t)address - info->bias - info->headers[i].address <
                info->headers[i].memory_bytes)
            return true;
    return false;
}

/* Copies the path of a module's file into the text and returns the copy; null
 * if it has no file or the text no room. Without a text, adds up the sizes. */
RECORDER_SELDOM_ const char *
recorder_module_path_(struct recorder_modules_ *to,
                      const struct recorder_dl_info_ *info)
{
    const char *path = info->path;
    struct recorder_string_ string = recorder_string_at_(NULL, 0);
    if (to->modules_count++ == 0 && (!path || !*path))
        path = to->file->program;
    if (!path || recorder_path_basename_(path) == path)
        return NULL; /* the kernel's own */
    if (to->text && to->text_size < to->text_max)
        string = recorder_string_at_(to->text + to->text_size,
                                     to->text_max - to->text_size);
    if (!recorder_os_is_absolute_(path)) {
        recorder_add_string_(&string, to->file->folder);
        recorder_add_string_(&string, "/");
    }
    recorder_add_string_(&string, path);
    recorder_add_text_(&string, "", 1);
    to->text_size += string.size;
    if (!to->text)
        return path;
    return to->text_size <= to->text_max ? string.to : NULL;
}

/* Adds a module's segments; counts them before there is memory for them. */
RECORDER_SELDOM_ int recorder_module_add_(struct recorder_dl_info_ *info,
                                          size_t bytes, void *context)
{
    struct recorder_modules_ *to = (struct recorder_modules_ *)context;
    const char *path;
    bool records;
    unsigned i;
    (void)bytes;
    if (to->only && !recorder_module_holds_(info, to->only)) {
        to->modules_count++;
        return 0;
    }
    path = recorder_module_path_(to, info);
    if (!path)
        return 0;
    records = to->max && recorder_module_records_(info);
    for (i = 0; i < info->headers_count; i++) {
        const struct recorder_elf_header_ *h = &info->headers[i];
        if (h->type != RECORDER_ELF_LOAD_ || h->file_bytes == 0)
            continue;
        if (to->count < to->max) {
            struct recorder_module_segment_ *m = &to->all[to->count];
            m->start = info->bias + h->address;
            m->bytes = h->file_bytes;
            m->offset = h->offset & ~(recorder_os_page_bytes_() - 1);
            m->path = path;
            m->saved = 0;
            if (records && recorder_module_constants_(info, h->flags) &&
                (h->flags & RECORDER_ELF_R_))
                m->saved = m->bytes;
            else if (h->offset == 0) /* readers look for the build-id there */
                m->saved = m->bytes < 4096 ? m->bytes : 4096;
        }
        if (to->count < to->max || !to->max)
            to->count++;
    }
    return 0;
}

/* Lists the segments of all modules, or of the one that holds the address
 * `only`. Returns false if there is no memory. */
RECORDER_SELDOM_ bool
recorder_modules_open_(struct recorder_modules_ *to,
                       const struct recorder_recording_ *file, const void *only)
{
    __builtin_memset(to, 0, sizeof *to);
    to->only = only;
    to->file = file;
    recorder_os_modules_(recorder_module_add_, to);
    to->count += 64; /* a library may be opened before the second look */
    to->text_size += 64 * 64;
    to->memory_bytes = to->count * sizeof *to->all + to->text_size;
    to->memory = recorder_os_memory_(to->memory_bytes);
    if (!to->memory)
        return false;
    to->all = (struct recorder_module_segment_ *)to->memory;
    to->max = to->count;
    to->text = (char *)(to->all + to->max);
    to->text_max = to->text_size;
    to->count = to->text_size = to->modules_count = 0;
    recorder_os_modules_(recorder_module_add_, to);
    return true;
}
RECORDER_SELDOM_ void
recorder_modules_close_(const struct recorder_modules_ *modules)
{
    if (modules->memory)
        recorder_os_unmap_(modules->memory, modules->memory_bytes);
}
/* Returns how many bytes of a part the segments to save take. */
RECORDER_SELDOM_ uintptr_t
recorder_modules_bytes_(const struct recorder_modules_ *modules)
{
    uintptr_t bytes = 0;
    size_t i;
    for (i = 0; i < modules->count; i++)
        if (modules->all[i].saved)
            bytes += modules->all[i].saved + RECORDER_CACHE_LINE;
    return bytes;
}

RECORDER_C_END_
#endif
