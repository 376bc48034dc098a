/* qnx.c - trace events of all kinds, and what a dump must say of them;
 * waits. */
/* SPDX-License-Identifier: MIT */
/*
    Writes into must.txt what the lines of its records must be, dumps into
    in.txt, says "PID n"; with an argument it ends. Else, each time there is a
    file `go`, it records an event of each opcode, of 0x10 to 0x2f none if there is
    a file `mask`, and makes a file `done`.
*/
#include "trace.h"

#include "recorder_dump.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *must;
static unsigned char bytes[4096];

/* The bytes as a reader shows them. */
static void must_bytes(unsigned size)
{
    fprintf(must, " [%u bytes] ", size);
    for (unsigned i = 0; i < size && i < 1024; i++)
        fprintf(must, i ? " %02x" : "%02x", bytes[i]);
    fputs(size > 1024 ? "...\n" : "\n", must);
}

static void exceptions(unsigned size)
{
    static const char *const names[] = {"HW0", "HW1", "HW2", "HW3",
                                        "SW0", "SW1", "SW2", "SW3"};
    unsigned sum = 0;
    for (unsigned s = 0; s < 8; s++) {
        unsigned code = 0xabcd00 + s, n;
        sum += (unsigned)Trace0(code, s);
        sum += (unsigned)Trace1(code, s, 1);
        sum += (unsigned)Trace2(code, s, 1, -2);
        sum += (unsigned)Trace3(code, s, 1, -2, 3);
        sum += (unsigned)Trace4(code, s, 1, -2, 3, -4);
        sum += (unsigned)Trace5(code, s, 1, -2, 3, -4, 5);
        sum += (unsigned)Trace6(code, s, 1, -2, 3, -4, 5, -6);
        for (n = 0; n <= 6; n++)
            fprintf(must, "%s 00abcd:%02x%.*s\n", names[s], s,
                    (int)(n / 2 * 5 + n % 2 * 2), " 1 -2 3 -4 5 -6");
        sum += (unsigned)Trace0b(code, s, size, bytes);
        sum += (unsigned)Trace1b(code, s, 1, size, bytes);
        sum += (unsigned)Trace2b(code, s, 1, -2, size, bytes);
        sum += (unsigned)Trace3b(code, s, 1, -2, 3, size, bytes);
        sum += (unsigned)Trace4b(code, s, 1, -2, 3, -4, size, bytes);
        sum += (unsigned)Trace5b(code, s, 1, -2, 3, -4, 5, size, bytes);
        sum += (unsigned)Trace6b(code, s, 1, -2, 3, -4, 5, -6, size, bytes);
        for (n = 0; n <= 6; n++) {
            fprintf(must, "%s 00abcd:%02x%.*s", names[s], s,
                    (int)(n / 2 * 5 + n % 2 * 2), " 1 -2 3 -4 5 -6");
            must_bytes(size);
        }
    }
    if (sum)
        fputs("they return 0\n", must);
}

static void event(unsigned count, int pointer)
{
    TraceEvent(_TRACE_WORD(count, pointer, 0x12345, 0x70), 1, 2, 3, 4, 5, 6, 7);
    fprintf(must, "opcode 0x70 data 0x12345%.*s\n", (int)(2 * count),
            " 1 2 3 4 5 6 7");
}
static void event_bytes(unsigned count, unsigned size)
{
    int word = _TRACE_WORD(count, 1, 0xfffff, 0);
    const void *data = bytes;
    switch (count) {
    case 0: TraceEvent(word, data, size); break;
    case 1: TraceEvent(word, 1, data, size); break;
    case 2: TraceEvent(word, 1, 2, data, size); break;
    case 3: TraceEvent(word, 1, 2, 3, data, size); break;
    case 4: TraceEvent(word, 1, 2, 3, 4, data, size); break;
    case 5: TraceEvent(word, 1, 2, 3, 4, 5, data, size); break;
    case 6: TraceEvent(word, 1, 2, 3, 4, 5, 6, data, size); break;
    default: TraceEvent(word, 1, 2, 3, 4, 5, 6, 7, data, size);
    }
    fprintf(must, "opcode 0x00 data 0xfffff%.*s", (int)(2 * count),
            " 1 2 3 4 5 6 7");
    must_bytes(size);
}

int main(int argc, char **argv)
{
    int file;
    (void)argv;
    must = fopen("must.txt", "w");
    if (!must)
        return 1;
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i % 3 ? i * 7 : 0);
    exceptions(7);
    for (unsigned n = 0; n <= 7; n++) {
        event(n, 0);
        event_bytes(n, 40 * n);
    }
    for (unsigned size = 0; size <= 1100; size += 1 + size / 16)
        event_bytes(size % 8, size);
    event_bytes(7, 1024);
    event_bytes(7, 1025);
    event_bytes(7, 4096);
    Trace0(0x123401, _TRACE_SW_SEVERITY1);
    fputs("SW1 001234:01\n", must);
    fclose(must);
    recorder_line("{severity}{message}");
    file = open("in.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
    recorder_dump_fd(file);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    while (argc < 2) {
        usleep(5000);
        if (access("go", F_OK) != 0)
            continue;
        if (access("mask", F_OK) == 0)
            trace_mask(0x10, 0x2f, 0);
        else
            trace_mask(0x10, 0x2f, 1);
        for (unsigned opcode = 0; opcode < 256; opcode++)
            TraceEvent(_TRACE_WORD(0, 0, 0xbeef, opcode));
        unlink("go");
        close(open("done", O_WRONLY | O_CREAT, 0600));
    }
    return 0;
}
