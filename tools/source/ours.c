/* ours.c - limits and environment of this process. */
/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdlib.h>
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
