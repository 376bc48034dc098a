/* Records copied texts only, for a while. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <unistd.h>

RECORDER(texts, 16);

int main(void)
{
    for (int i = 0; i < 20; i++, usleep(100))
        record(texts, "%s", RECORDER_COPY(texts, "text"));
}
