/* kernel_none.h - recorder_kernel() where there is no Linux. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_KERNEL_NONE_H_
#define RECORDER_KERNEL_NONE_H_

#include "language.h"

RECORDER_C_BEGIN_

#ifdef RECORDER_HOSTED_
#include "output.h"
#define recorder_kernel_refuse_()                                              \
    recorder_complain_("switches: ", "", 0,                                    \
                       "are recorded on Linux only; continues without")
#else
#define recorder_kernel_refuse_() ((void)0)
#endif
RECORDER_CALLED_SELDOM_ int recorder_kernel(unsigned kib, unsigned ms)
{
    recorder_kernel_refuse_();
    (void)kib, (void)ms;
    return 1; /* EPERM */
}
RECORDER_CALLED_SELDOM_ void recorder_kernel_pour(void)
{
}

RECORDER_C_END_
#endif
