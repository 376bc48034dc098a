/* bare-image.c - records of all kinds, dumped here and saved for the host. */
/* SPDX-License-Identifier: MIT */
/*
 * What `recorder dump` makes of the saved memory, or of a core that gdb makes
 * at image_done, must be the dump that this program writes, byte for byte.
 */
#include "port.h"

#include "recorder_dump.h"

RECORDER(small, 8, "Overwritten");
RECORDER(large, 64, "Not overwritten");
#ifdef PORT_KEPT
RECORDER_AT(kept, 16, PORT_KEPT, "Elsewhere");
#else
RECORDER(kept, 16, "Beside them");
#endif

void image_done(void);
__attribute__((noinline)) void image_done(void)
{
    __asm__ volatile("" : : : "memory");
}

int main(void)
{
    char text[] = "on the stack";
    unsigned i;
#if RECORDER_THREADS > 0
    recorder_thread_name("main");
    recorder_line("{order:4} {seconds} {thread} {name:-6} {message}");
#endif
    for (i = 0; i < 20; i++)
        record(small, "%u of %u", i + 1, 20u);
    record(large, "no argument");
    record(large, "%d %x %o %c %% %5.2f|%-8s|%p", -1, 0xbeefu, 8u, 'x', 3.14159,
           "flash", (void *)&recorder_registry);
    record(large, "%u %u %u %u %u %u %u %u %u %u %u %u", 1u, 2u, 3u, 4u, 5u, 6u,
           7u, 8u, 9u, 10u, 11u, 12u);
    record(kept, "%s and %s", RECORDER_COPY(kept, text),
           RECORDER_COPY(kept, "a text that takes more than one record"));
    record(kept, "a bad one: %s", RECORDER_ADDRESS((const char *)0xe0000004u));
    for (i = 0; i < sizeof text - 1; i++)
        text[i] = '!';
    recorder_dump();
#ifdef PORT_KEPT
    {
        extern const char port_data[], port_bss_end[];
        port_save("ram.bin", port_data, (size_t)(port_bss_end - port_data));
        port_save("kept.bin", (const void *)PORT_KEPT, 4096);
    }
#endif
    image_done();
    return 0;
}
