/* Catches the output of a dump, and makes the system refuse calls. */
/* SPDX-License-Identifier: MIT */
/*
 * Each Criterion test is a process of its own: orders begin at 1, rings are
 * empty.
 */
#ifndef CAPTURE_H
#define CAPTURE_H
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "random.h"
#include "recorder_dump.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ----------------------------------------------------------- the harness -- */

UNUSED static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* -------------------------------------------------------------- catching -- */

/* The output of a dump. Its memory is allocated at the start, so that a child
 * without free memory can catch, too. */
struct caught {
    char *text;
    size_t size, max;
    size_t shown; /* the dump's result */
};

UNUSED static void catch_line(void *context, const char *text, size_t size)
{
    struct caught *caught = context;
    if (size > caught->max - caught->size - 1)
        return;
    memcpy(caught->text + caught->size, text, size);
    caught->size += size;
    caught->text[caught->size] = '\0';
}

/* Memory that is shared with children, for a text of up to `max` bytes. */
UNUSED static struct caught *catcher(size_t max)
{
    struct caught *caught =
        mmap(NULL, sizeof *caught + max, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(caught != MAP_FAILED);
    caught->text = (char *)(caught + 1);
    caught->max = max;
    return caught;
}

/* Dumps once more. Returns the text. */
UNUSED static const char *catch_dump(struct caught *caught)
{
    caught->size = 0;
    caught->text[0] = '\0';
    caught->shown = recorder_dump_to(catch_line, caught);
    return caught->text;
}

/* The lines of the records, after the header and the recorders. */
UNUSED static const char *records_in(const char *text)
{
    const char *at = strchr(text, '\n');
    cr_assert(strncmp(text, "FLIGHT RECORDER DUMP AT ", 24) == 0, "%.80s",
              text);
    cr_assert_not_null(at);
    for (at++; strncmp(at, "DUMPING ", 8) == 0; at = strchr(at, '\n') + 1)
        ;
    return at;
}

UNUSED static size_t lines_in(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* Dumps; the lines of the records must be these. */
#define DUMP_MUST_BE(expected)                                                 \
    do {                                                                       \
        const char *is_ = records_in(catch_dump(caught)), *must_ = expected;   \
        cr_assert_str_eq(is_, must_, "\nis:\n%smust be:\n%s", is_, must_);     \
        cr_assert_eq(caught->shown, lines_in(must_));                          \
    } while (0)

/* Redirects a descriptor to a file in memory, from its start. */
UNUSED static int redirect(int fd)
{
    int file = memfd_create("caught", 0);
    cr_assert(file >= 0 && dup2(file, fd) == fd);
    return file;
}
/* The bytes written to a file. */
UNUSED static char *written_to(int file)
{
    off_t size = lseek(file, 0, SEEK_END);
    char *text = malloc((size_t)size + 1);
    cr_assert_not_null(text);
    cr_assert(pread(file, text, (size_t)size, 0) == size);
    text[size] = '\0';
    return text;
}

/* -------------------------------------------------------------- children -- */

/* Runs the code in a child, which ends with _exit(). `status` becomes its wait
 * status; SIGALRM ends a child that hangs for `seconds`. */
#define IN_CHILD(status, seconds, ...)                                         \
    do {                                                                       \
        pid_t child_ = fork();                                                 \
        cr_assert(child_ >= 0);                                                \
        if (child_ == 0) {                                                     \
            alarm(seconds);                                                    \
            __VA_ARGS__;                                                       \
            _exit(0);                                                          \
        }                                                                      \
        cr_assert(waitpid(child_, &status, 0) == child_);                      \
    } while (0)
#define MUST_EXIT(status, code)                                                \
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == (code),              \
              "status %#x", (unsigned)(status))

#if defined(__SANITIZE_THREAD__)
#define NEEDS_MMAP 1 /* at any time, or it ends the process */
#elif defined(__has_feature)
#define NEEDS_MMAP __has_feature(thread_sanitizer)
#else
#define NEEDS_MMAP 0
#endif
#ifdef SYS_mmap2 /* the system call of mmap() on 32-bit machines */
#define CAPTURE_MMAP SYS_mmap2
#else
#define CAPTURE_MMAP SYS_mmap
#endif
/* From here on a system call fails with an errno in this process; mmap() only
 * as a dump calls it, as a sanitizer needs it, too. False: that cannot be. */
UNUSED static bool refuse(long number, int error)
{
    bool any = number != CAPTURE_MMAP;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, any ? 0 : 16 + 3 * 8), /* args[3] */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                 any ? (uint32_t)number : MAP_PRIVATE | MAP_ANONYMOUS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {COUNT(filter), filter};
    return (any || !NEEDS_MMAP) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
enum { NOT_REFUSED = 99 }; /* exit status where the system has no filters */
#define REFUSE(number, error)                                                  \
    do {                                                                       \
        if (!refuse(number, error))                                            \
            _exit(NOT_REFUSED);                                                \
    } while (0)

#endif
