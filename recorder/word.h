/* word.h - words that several threads change. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_WORD_H_
#define RECORDER_WORD_H_

#include "language.h"

RECORDER_C_BEGIN_

#if !defined(RECORDER_HOSTED_) && !defined(RECORDER_ENTER) &&                 \
    __GCC_ATOMIC_POINTER_LOCK_FREE < 2
#error "recorder.h: this processor has no atomic instructions: define " \
    "RECORDER_ENTER() and RECORDER_LEAVE(was)"
#endif
/* Relaxed is quiet: these order nothing. */
RECORDER_INLINE_ uintptr_t recorder_get_(const uintptr_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}
/* gcc for RISC-V makes an amoswap of a relaxed store, until 14; a volatile store
 * is one instruction. */
#if defined(__riscv) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
RECORDER_INLINE_ void recorder_put_(volatile uintptr_t *to, uintptr_t value)
{
    *to = value;
}
#else
RECORDER_INLINE_ void recorder_put_(uintptr_t *to, uintptr_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}
#endif
/* Order is loud: the accesses of the ring that order others. With
 * RECORDER_ONE_PROCESSOR they are relaxed ones beside the fences of that port,
 * which order more than an acquire or a release does. */
#ifndef RECORDER_ONE_PROCESSOR
#define RECORDER_LOAD_(from, order) __atomic_load_n(from, order)
#define RECORDER_STORE_(to, value, order) __atomic_store_n(to, value, order)
#define RECORDER_ADD_BY_(to, value, order) __atomic_fetch_add(to, value, order)
#else
#define RECORDER_LOAD_(from, order) recorder_load_(from, order)
#define RECORDER_STORE_(to, value, order) recorder_store_(to, value, order)
#define RECORDER_ADD_BY_(to, value, order) recorder_add_by_(to, value, order)
RECORDER_INLINE_ void recorder_before_(int order)
{
    if (order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL)
        recorder_fence_release_();
}
RECORDER_INLINE_ void recorder_after_(int order)
{
    if (order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL)
        recorder_fence_acquire_();
}
RECORDER_INLINE_ uintptr_t recorder_load_(const uintptr_t *from, int order)
{
    uintptr_t value = recorder_get_(from);
    recorder_after_(order);
    return value;
}
RECORDER_INLINE_ void recorder_store_(uintptr_t *to, uintptr_t value, int order)
{
    recorder_before_(order);
    recorder_put_(to, value);
}
#ifndef RECORDER_ENTER
RECORDER_INLINE_ uintptr_t recorder_add_by_(uintptr_t *to, uintptr_t value,
                                            int order)
{
    uintptr_t was;
    recorder_before_(order);
    was = __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
    recorder_after_(order);
    return was;
}
#endif
#endif
#ifndef RECORDER_ENTER
RECORDER_INLINE_ uintptr_t recorder_add_(uintptr_t *to, uintptr_t value)
{
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
#define RECORDER_ADD_(to, value, order) RECORDER_ADD_BY_(to, value, order)
#define RECORDER_SWAP_(to, seen, value, order)                                 \
    __atomic_compare_exchange_n(to, seen, value, false, order, order)
/* Compares and swaps, for data outside the ring: settings, triggers. */
RECORDER_INLINE_ bool recorder_swap_(uintptr_t *to, uintptr_t *seen,
                                     uintptr_t value)
{
    return RECORDER_SWAP_(to, seen, value, __ATOMIC_SEQ_CST);
}
#else /* these read, then write */
#define RECORDER_SWAP_(to, seen, value, order) recorder_swap_(to, seen, value)
#define RECORDER_ADD_(to, value, order) recorder_add_(to, value)
RECORDER_INLINE_ bool recorder_swap_(uintptr_t *to, uintptr_t *seen,
                                     uintptr_t value)
{
    uintptr_t masked = RECORDER_ENTER(), was = recorder_get_(to);
    bool same = was == *seen;
    recorder_put_(to, same ? value : was);
    RECORDER_LEAVE(masked);
    *seen = was;
    return same;
}
RECORDER_INLINE_ uintptr_t recorder_add_(uintptr_t *to, uintptr_t value)
{
    uintptr_t masked = RECORDER_ENTER(), was = recorder_get_(to);
    recorder_put_(to, was + value);
    RECORDER_LEAVE(masked);
    return was;
}
#endif

RECORDER_C_END_
#endif
