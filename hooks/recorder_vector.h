/* recorder_vector.h - the number of the interrupt that runs. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_VECTOR_H
#define RECORDER_VECTOR_H

RECORDER_INLINE_ uintptr_t recorder_vector_(void)
{
    uintptr_t exception = 0;
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
    __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
#endif
    return exception;
}

#endif
