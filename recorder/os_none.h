/* os_none.h - no operating system: what a port supplies. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_NONE_H_
#define RECORDER_OS_NONE_H_

#include "language.h"

#ifdef __cplusplus
extern "C" {
#endif

RECORDER_INLINE_ intptr_t recorder_os_process(void)
{
    return 0;
}
RECORDER_INLINE_ void *recorder_os_memory(size_t bytes)
{
    (void)bytes;
    return NULL;
}
RECORDER_INLINE_ void recorder_os_unmap(void *at, size_t bytes)
{
    (void)at, (void)bytes;
}

struct recorder_held {
    char none;
};
RECORDER_INLINE_ void recorder_os_hold_signals(struct recorder_held *held)
{
    (void)held;
}
RECORDER_INLINE_ void recorder_os_release_signals(struct recorder_held *held)
{
    (void)held;
}

RECORDER_INLINE_ char *recorder_os_environment(const char *name)
{
    (void)name;
    return NULL;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
