/* kernel_none.h - recorder_kernel() where there is no Linux. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_KERNEL_NONE_H_
#define RECORDER_KERNEL_NONE_H_

#include "language.h"

#ifdef RECORDER_HOSTED_
#include "output.h"
#endif

RECORDER_C_BEGIN_

RECORDER_CALLED_SELDOM_ int recorder_kernel(unsigned kib, unsigned ms)
{
#ifdef RECORDER_HOSTED_
    struct recorder_string_ say;
    char text[100];
    say = recorder_string_at_(text, sizeof text);
    recorder_add_string_(&say, "recorder: switches: are recorded on Linux "
                               "only; continues without\n");
    recorder_say_(&say);
#endif
    (void)kib, (void)ms;
    return 1; /* EPERM */
}
RECORDER_CALLED_SELDOM_ void recorder_kernel_pour(void)
{
}

RECORDER_C_END_
#endif
