/* Says the version of the headers, as a text and of its numbers. */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <stdio.h>

#if RECORDER_VERSION_MAJOR < 2
#error "the version is for the preprocessor, too"
#endif

int main(void)
{
    puts(RECORDER_VERSION);
    printf("%d.%d.%d\n", RECORDER_VERSION_MAJOR, RECORDER_VERSION_MINOR,
           RECORDER_VERSION_PATCH);
    return 0;
}
