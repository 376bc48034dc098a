/* own_process.c - limits and environment of this process. */
/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <sys/resource.h>

void descriptors_raise(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

const char *environment_or(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

int unnamed_file(void)
{
    const char *folder = environment_or("TMPDIR", "/var/tmp");
    char path[PATH_MAX];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || snprintf(path, sizeof path, "%s/recorder-XXXXXX", folder) >=
                       (int)sizeof path)
        return fd;
    fd = mkostemp(path, O_CLOEXEC); /* not all file systems have O_TMPFILE */
    if (fd >= 0)
        unlink(path);
    return fd;
}
