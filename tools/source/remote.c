/* remote.c - a SOURCE http://HOST:PORT/: what `recorder serve` gives. */
/* SPDX-License-Identifier: MIT */
/*
   The recording is fetched anew each time, into a file that is removed as soon
   as it is mapped. Files of the program are fetched when one is needed, and
   kept, by build-id, in $XDG_CACHE_HOME/recorder: one that has another build-id
   than it was asked for is not taken.
*/
#include "fetch.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t bytes_max = (uint64_t)8 << 30;

/* The folder of the cache, or null: there is none. */
static char *cache_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder = NULL;
    int size = -1;
    if (cache && *cache == '/')
        size = asprintf(&folder, "%s/recorder", cache);
    else if (home && *home == '/')
        size = asprintf(&folder, "%s/.cache/recorder", home);
    if (size < 0)
        return NULL;
    for (char *at = folder + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(folder, 0700);
        *at = '/';
    }
    if (mkdir(folder, 0700) == 0 || errno == EEXIST)
        return folder;
    free(folder);
    return NULL;
}

/* A new file in a folder; its descriptor, or below 0. */
static int file_new(const char *folder, char **path)
{
    int fd;
    if (asprintf(path, "%s/new-XXXXXX", folder) < 0) {
        *path = NULL;
        return -1;
    }
    fd = mkostemp(*path, O_CLOEXEC);
    if (fd < 0) {
        free(*path);
        *path = NULL;
    }
    return fd;
}

const char *source_open_server(struct source *source, const char *name,
                               const struct source_how *how)
{
    const char *wrong = NULL;
    static char *path; /* stays, for messages about a file that is mapped */
    char *folder = cache_folder(), why[256];
    bool refused;
    int fd;
    fd = file_new(folder ? folder : environment_or("TMPDIR", "/tmp"), &path);
    free(folder);
    if (fd < 0)
        return source_wrong(source, "no file for its recording: %s",
                            strerror(errno));
    if (!fetch(name, "/recording", fd, bytes_max, &refused, why))
        wrong = source_wrong(source, "%s", why);
    close(fd);
    source->server = name;
    if (!wrong)
        wrong = source_open_file(source, path, how);
    unlink(path);
    return wrong;
}

int module_fetch(struct source *source, struct module *m)
{
    unsigned char id[64];
    size_t size = module_build_id(source, m, id);
    char name[140] = "/module/", *folder = NULL, *path = NULL, *new = NULL;
    char why[256];
    bool refused = false;
    int fd = -1;
    if (size < 2 || source->server_failed)
        return -1;
    for (size_t i = 0; i < size; i++)
        sprintf(name + 8 + 2 * i, "%02x", id[i]);
    folder = cache_folder();
    if (!folder || asprintf(&path, "%s/%s", folder, name + 8) < 0)
        path = NULL;
    if (path)
        fd = module_try(source, m, path);
    if (fd >= 0 || !path || (fd = file_new(folder, &new)) < 0)
        goto done;
    if (fetch(source->server, name, fd, bytes_max, &refused, why)) {
        close(fd);
        fd = module_try(source, m, new); /* is it the build? */
    } else {
        close(fd);
        fd = -1;
        source->server_failed = !refused;
    }
    if (fd < 0 || rename(new, path) != 0)
        unlink(new);
done:
    free(folder);
    free(path);
    free(new);
    return fd;
}
