/* os_none.h - no operating system: what a port supplies. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_NONE_H_
#define RECORDER_OS_NONE_H_

#include "language.h"

#ifdef __cplusplus
extern "C" {
#endif

RECORDER_INLINE_ intptr_t recorder_os_process_(void)
{
    return 0;
}
RECORDER_INLINE_ void *recorder_os_memory_(size_t bytes)
{
    (void)bytes;
    return NULL;
}
RECORDER_INLINE_ void recorder_munmap_(void *at, size_t bytes)
{
    (void)at, (void)bytes;
}

struct recorder_held_ {
    char none;
};
RECORDER_INLINE_ void recorder_signals_hold_(struct recorder_held_ *held)
{
    (void)held;
}
RECORDER_INLINE_ void recorder_signals_release_(struct recorder_held_ *held)
{
    (void)held;
}

RECORDER_INLINE_ char *recorder_os_environment_(const char *name)
{
    (void)name;
    return NULL;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
