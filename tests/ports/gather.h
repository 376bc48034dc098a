/* gather.h - a sink for recorder_dump_to() that keeps what is dumped. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

static char text[20000];
static size_t text_size;
static void gather(void *context, const char *line, size_t size)
{
    (void)context;
    if (size < sizeof text - text_size) {
        memcpy(text + text_size, line, size);
        text_size += size;
        text[text_size] = '\0';
    }
}
