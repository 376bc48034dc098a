/* Dumps while the k-th call of the system fails, for each k. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "recorder_dump.h"

#include "real.h"
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

RECORDER(one, 64, "One");
RECORDER(two, 64, "Two");

/* ------------------------------------------------------------ the faults -- */

static unsigned calls, fails_at; /* 0: never */
static int with;                 /* which errno */
static bool for_good;            /* that call and all later ones */

static bool fails(void)
{
    if (!fails_at || (++calls != fails_at && !(for_good && calls > fails_at)))
        return false;
    errno = with;
    return true;
}

ssize_t write(int fd, const void *from, size_t size)
{
    REAL(ssize_t, write, int, const void *, size_t);
    return fails() ? -1 : real(fd, from, size);
}
ssize_t read(int fd, void *to, size_t size)
{
    REAL(ssize_t, read, int, void *, size_t);
    return fails() ? -1 : real(fd, to, size);
}
int pipe(int fds[2])
{
    REAL(int, pipe, int *);
    return fails() ? -1 : real(fds);
}
int poll(struct pollfd *fds, nfds_t count, int wait)
{
    REAL(int, poll, struct pollfd *, nfds_t, int);
    return fails() ? -1 : real(fds, count, wait);
}
void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    REAL(void *, mmap, void *, size_t, int, int, int, off_t);
    return fails() ? MAP_FAILED
                   : real(at, size, protection, flags, fd, offset);
}
/* process_vm_readv(), openat(), getpid(): of those, the first two may fail. */
long syscall(long number, ...)
{
    REAL(long, syscall, long, long, long, long, long, long, long);
    va_list list;
    long a[6];
    int i;
    va_start(list, number);
    for (i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if ((number == SYS_process_vm_readv || number == SYS_openat) && fails())
        return -1;
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ------------------------------------------------------------- the dumps -- */

static unsigned open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;
    while (folder && readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static char whole[65536], text[65536];
/* Dumps into a file. Returns the text after the first line. */
static const char *dump(char *to)
{
    int file = memfd_create("dump", 0);
    ssize_t size;
    const char *records;
    errno = 77;
    recorder_dump_fd(file);
    fails_at = 0;
    if (errno != 77)
        printf("errno is %d\n", errno), exit(1);
    size = pread(file, to, 65535, 0);
    to[size > 0 ? size : 0] = '\0';
    close(file);
    records = strchr(to, '\n');
    return records ? records + 1 : "";
}

static const struct {
    int error;
    bool harmless; /* the text must be the same */
} errors[] = {{EINTR, true}, {EAGAIN, true}, {EIO, false}, {ENOMEM, false},
              {EPERM, false}, {EMFILE, false}, {ENOSYS, false}};

int main(void)
{
    static char long_text[300];
    const char *must;
    unsigned i, k, files, tried = 0;
    signal(SIGALRM, SIG_DFL);
    alarm(60);
    recorder_thread_name("main");
    recorder_line("{order} {recorder}: {message}"); /* no time to differ by */
    memset(long_text, 'x', 299);
    for (i = 0; i < 30; i++) {
        record(one, "%u %s", i, RECORDER_ADDRESS(long_text + i * 9));
        record(two, "%s", RECORDER_COPY(two, "a copy"));
    }
    must = dump(whole);
    files = open_files();
    for (i = 0; i < 2 * sizeof errors / sizeof *errors; i++) {
        for_good = i % 2;
        with = errors[i / 2].error;
        if (for_good && errors[i / 2].harmless)
            continue; /* "once more" for ever is no fault, but a wait */
        for (k = 1; k == 1 || calls >= k - 1; k++) {
            const char *is;
            calls = 0;
            fails_at = k;
            is = dump(text);
            tried++;
            if (errors[i / 2].harmless && strcmp(is, must) != 0)
                printf("call %u, error %d: %s\n", k, with, is), exit(1);
            if (*is && is[strlen(is) - 1] != '\n')
                printf("call %u, error %d: half a line\n", k, with), exit(1);
            if (open_files() != files)
                printf("call %u, error %d: a file left open\n", k, with),
                    exit(1);
        }
    }
    printf("%u faults\n", tried);
    return tried > 100 ? 0 : 1;
}
