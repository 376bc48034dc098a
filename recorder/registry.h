/* registry.h - how recorders are found. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_REGISTRY_H_
#define RECORDER_REGISTRY_H_

#include "clock.h"
#include "threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- registry --
 *
 * A recorder enters the registry in a constructor, before any of the program's
 * own, and leaves it in a destructor when its library is closed. The loader
 * runs both one at a time, so that only readers are concurrent here.
 */
#ifdef RECORDER_HOSTED_
/* In the child of fork(): its one thread gets a row of its own at its next
 * record; those of the parent's threads stay, for the records they made. */
RECORDER_FUNCTION_ void recorder_forks(void)
{
    recorder_file_tell(RECORDER_FILE_FORKS, NULL);
}
RECORDER_FUNCTION_ void recorder_forked(void)
{
    struct recorder_registry *registry = recorder_home.registry;
    uintptr_t i;
    recorder_thread = 0;
    if (registry->pid == recorder_os_process())
        return; /* another module's handler was here */
    if (registry->file) /* before this touches the parent's */
        registry->file(RECORDER_FILE_FORKED, NULL);
    for (i = 0; i < registry->threads_max; i++) {
        struct recorder_thread *row = &registry->threads[i];
        if (row->state != RECORDER_ROW_FREE)
            row->state = RECORDER_ROW_DEAD;
    }
    registry->readers = 0;
    registry->dumping = 0; /* who did is not here */
    registry->pid = recorder_os_process();
}

#if defined(RECORDER_IN_LIBRARY_) && defined(RECORDER_LINUX_)
extern unsigned long recorder_auxiliary(unsigned long type)
    RECORDER_LABEL_(getauxval) __attribute__((weak));

/* The registry of the main program, found by its magic in the data of the
 * program's segments; null when it has none, `own` where that lies in the
 * program. A program that does not export its symbols hides it from the
 * libraries that it opens; orders are global only if they find it. The words of
 * an ELF program header used here stand at the same index on 32 and 64 bits:
 * 2 address, 4 bytes in the file, 5 bytes in memory. */
__attribute__((no_sanitize("address"))) RECORDER_FUNCTION_
    struct recorder_registry *
    recorder_of_program(struct recorder_registry *own)
{
    enum { HEADER = __SIZEOF_POINTER__ == 8 ? 7 : 8 };
    const uintptr_t *headers, *h;
    uintptr_t count, bias = 0, at, i;
    if (!recorder_auxiliary)
        return NULL;
    headers = (const uintptr_t *)recorder_auxiliary(3); /* AT_PHDR */
    count = recorder_auxiliary(5);                      /* AT_PHNUM */
    for (h = headers, i = 0; headers && i < count; i++, h += HEADER)
        if (*(const uint32_t *)h == 6) /* PT_PHDR */
            bias = (uintptr_t)headers - h[2];
    for (h = headers, i = 0; headers && i < count; i++, h += HEADER) {
        uint32_t flags = __SIZEOF_POINTER__ == 8 ? ((const uint32_t *)h)[1]
                                                 : (uint32_t)h[6];
        if (*(const uint32_t *)h != 1 || !(flags & 2)) /* PT_LOAD, writable */
            continue;
        if ((uintptr_t)own - (bias + h[2]) < h[5])
            return own;
        at = (bias + h[2] + RECORDER_LINE_BYTES - 1) &
             ~(uintptr_t)(RECORDER_LINE_BYTES - 1);
        for (; at + sizeof *own <= bias + h[2] + h[4];
             at += RECORDER_LINE_BYTES) {
            struct recorder_registry *r = (struct recorder_registry *)at;
            if (r->self == r && r->layout == RECORDER_LAYOUT &&
                __builtin_memcmp(r->magic, own->magic, sizeof r->magic) == 0)
                return r;
        }
    }
    return NULL;
}
#elif defined(RECORDER_IN_LIBRARY_) /* the linker has found it, or nobody */
RECORDER_INLINE_ struct recorder_registry *
recorder_of_program(struct recorder_registry *own)
{
    return own;
}
#endif

/* Once in each module. */
RECORDER_FUNCTION_ void recorder_start(void)
{
    struct recorder_registry *registry;
    if (recorder_home.started)
        return;
    recorder_home.started = true;
#ifdef RECORDER_IN_LIBRARY_
    registry = recorder_of_program(&recorder_registry);
    if (registry) {
        recorder_home.order = registry->order;
        recorder_home.registry = registry;
    }
#endif
    registry = recorder_home.registry;
    if (!registry->start.monotonic_ns)
        registry->start = recorder_now();
    recorder_time(); /* notes the first wrap */
    registry->pid = recorder_os_process();
    if (!registry->thread)
        registry->thread = recorder_thread_here;
    recorder_os_at_fork(recorder_forks, recorder_forked);
    if (registry->file)
        registry->file(RECORDER_FILE_MODULE, &recorder_home);
}
#else
RECORDER_INLINE_ void recorder_start(void)
{
}
#endif

/* Returns whether it was not in the list before. */
__attribute__((cold)) RECORDER_CALLED_ bool
recorder_enter(struct recorder *recorder)
{
    struct recorder **link;
    recorder_start();
    for (link = &recorder_home.registry->first; *link; link = &(*link)->next)
        if (*link == recorder) /* one recorder, two libraries that define it */
            return false;
    recorder->next = NULL;
    __atomic_store_n(link, recorder, __ATOMIC_RELEASE);
    recorder_file_tell(RECORDER_FILE_ENTERED, recorder);
    return true;
}

#if defined(RECORDER_IN_LIBRARY_) ||                                           \
    (defined(RECORDER_LIBRARY) && defined(RECORDER_HOSTED_))
/* Takes a recorder out before its memory goes away. Readers hold the list only
 * while they copy, never while they write, so that this waits for microseconds;
 * a reader that died on the way is not waited for longer than a second. */
RECORDER_CALLED_ void recorder_leave(struct recorder *recorder)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder **link = &registry->first;
    uint64_t start;
    while (*link && *link != recorder)
        link = &(*link)->next;
    if (!*link)
        return;
    __atomic_store_n(link, recorder->next, __ATOMIC_SEQ_CST);
    start = recorder_clock_ns(RECORDER_MONOTONIC_);
    while (__atomic_load_n(&registry->readers, __ATOMIC_SEQ_CST) != 0 &&
           recorder_clock_ns(RECORDER_MONOTONIC_) - start < 1000000000u)
        recorder_os_yield();
}
#endif

RECORDER_CALLED_ void recorder_tweak_enter(struct recorder_tweak *tweak)
{
    struct recorder_tweak **link;
    recorder_start();
    for (link = &recorder_home.registry->tweaks; *link; link = &(*link)->next)
        if (*link == tweak)
            return;
    tweak->next = NULL;
    __atomic_store_n(link, tweak, __ATOMIC_RELEASE);
}

#if defined(RECORDER_IN_LIBRARY_) ||                                           \
    (defined(RECORDER_LIBRARY) && defined(RECORDER_HOSTED_))
/* As recorder_leave(): readers of the list are counted. */
RECORDER_CALLED_ void recorder_tweak_leave(struct recorder_tweak *tweak)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_tweak **link = &registry->tweaks;
    uint64_t start;
    while (*link && *link != tweak)
        link = &(*link)->next;
    if (!*link)
        return;
    __atomic_store_n(link, tweak->next, __ATOMIC_SEQ_CST);
    start = recorder_clock_ns(RECORDER_MONOTONIC_);
    while (__atomic_load_n(&registry->readers, __ATOMIC_SEQ_CST) != 0 &&
           recorder_clock_ns(RECORDER_MONOTONIC_) - start < 1000000000u)
        recorder_os_yield();
}
#endif

#ifdef RECORDER_IN_LIBRARY_
/* A library that only borrows others' recorders has to look for the program's
 * registry too. */
__attribute__((constructor(101), used)) static void recorder_start_library(void)
{
    recorder_start();
}
#endif

/* From here to recorder_unwalk() the list may be walked and rings be read: no
 * library that holds any of them is unmapped meanwhile. Nothing in between may
 * wait for anything. */
#ifdef RECORDER_HOSTED_
RECORDER_INLINE_ struct recorder *recorder_walk(void)
{
    struct recorder_registry *registry = recorder_home.registry;
    __atomic_fetch_add(&registry->readers, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&registry->first, __ATOMIC_SEQ_CST);
}
RECORDER_INLINE_ void recorder_unwalk(void)
{
    __atomic_fetch_sub(&recorder_home.registry->readers, 1, __ATOMIC_SEQ_CST);
}
#else /* nothing is ever unmapped */
RECORDER_INLINE_ struct recorder *recorder_walk(void)
{
    return __atomic_load_n(&recorder_home.registry->first, __ATOMIC_ACQUIRE);
}
RECORDER_INLINE_ void recorder_unwalk(void)
{
}
#endif
RECORDER_INLINE_ struct recorder *
recorder_walk_on(const struct recorder *recorder)
{
    return __atomic_load_n(&recorder->next, __ATOMIC_ACQUIRE);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
