/* severity.c - records of all severities, and headings that are none; waits. */
/* SPDX-License-Identifier: MIT */
/*
    Dumps into in.txt, says "PID n" and waits for a signal; with an argument it
    ends. -DSITE: only functions that record, to be looked at by objdump, with
    the heading SITE in front of their formats.
*/
#ifdef SITE
#include "recorder.h"
RECORDER(disk, 64, "");
void none(void);
void none(void)
{
    record(disk, SITE "site of none");
}
void four(int n, const char *text);
void four(int n, const char *text)
{
    record(disk, SITE "site of four %d %s %p", n, text, (const void *)text);
}
void twelve(int n);
void twelve(int n)
{
    record(disk, SITE "%d %d %d %d %d %d %d %d %d", n, n, n, n, n, n, n, n, n);
}
void copied(const char *text);
void copied(const char *text)
{
    record(disk, SITE "%s", RECORDER_COPY(disk, text));
}
#else
#include "recorder_dump.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

RECORDER(disk, 256, "Disk operations");
RECORDER(net, 256, "Network");

#define ALL(recorder, of)                                                      \
    record(recorder, of "zero");                                               \
    record(recorder, of "two %d %s", i, "words");                              \
    record(recorder, of "nine %d %d %d %d %d %d %d %d %d", i, 2, 3, 4, 5, 6,   \
           7, 8, 9);                                                           \
    record(recorder, of "copied %s", RECORDER_COPY(recorder, copy));           \
    record(recorder, of "42, behind a digit%c", '!')

/* A format as a stranger would make it: bytes that end where memory does. */
static void hostile(const char *format, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = (char *)mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(at + 2 * page, page);
    at += 2 * page - size;
    memcpy(at, format, size);
    recorder_record_few_(&recorder_for_net, at, 1, 2, 3, 4);
}
#define HOSTILE(text) hostile(text, sizeof text - 1)

int main(int count, char **arguments)
{
    static char big[5000];
    char copy[] = "a text that takes more than one record to keep it";
    int i, file;
    (void)arguments;
    for (i = 0; i < 3; i++) {
        ALL(disk, "");
        ALL(disk, RECORDER_HW0);
        ALL(disk, RECORDER_HW1);
        ALL(disk, RECORDER_HW2);
        ALL(disk, RECORDER_HW3);
        ALL(net, RECORDER_SW0);
        ALL(net, RECORDER_SW1);
        ALL(net, RECORDER_SW2);
        ALL(net, RECORDER_SW3);
        ALL(net, "\1other\2");
        ALL(net, "\1in\2" RECORDER_SW1);
    }
    HOSTILE("");
    HOSTILE("\1");
    HOSTILE("\1s2");
    HOSTILE("\1s2\2");
    HOSTILE("\1s2\2cut");
    HOSTILE("\1s2\2whole %d\0");
    HOSTILE("\1s2\2no line\0x");
    HOSTILE("\1s2\2\0");
    HOSTILE("\1s3 without an end\0f.c:1\0");
    HOSTILE("\1\1s3\2twice\0f.c:2\0");
    HOSTILE("\1s3\2\1\2\1\2%d\0f.c:3\0");
    HOSTILE("\1s3\2\1in\0f.c:4\0");
    HOSTILE("\1s3\n\2line\0f.c:5\0");
    HOSTILE("\2s3\1text\0f.c:6\0");
    HOSTILE("\1s3\2\033[31m%d\0f.c:7\0");
    memset(big, 'x', sizeof big);
    big[0] = '\1';
    hostile(big, 4096);
    big[4000] = '\2';
    hostile(big, sizeof big);
    memcpy(big + 100, "\2long %d\0f.c:8", 15);
    hostile(big, 115);
    for (i = 0; i + 1 < (int)sizeof big; i += 2)
        memcpy(big + i, "\1\2", 2);
    hostile(big, sizeof big);
    file = open("in.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
    recorder_dump_fd(file);
    close(file);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    if (count < 2)
        pause();
}
#endif
