/* open.c - opens a SOURCE by the user's name for it. */
/* SPDX-License-Identifier: MIT */
#include "source.h"

/* Opens a file; where there is none, or it is a program and no source, the
 * process of a program of that name. */
static const char *open_named(struct source *source, const char *name,
                              const struct source_how *how)
{
    const char *wrong = source_open_file(source, name, how), *several;
    char why[sizeof source->why];
    int pid;
    if (!wrong || strchr(name, '/') || how->images_count || how->stream)
        return wrong;
    if (access(name, F_OK) == 0 && access(name, X_OK) != 0)
        return wrong; /* it is neither a folder nor a program */
    snprintf(why, sizeof why, "%s", wrong);
    source_close(source);
    memset(source, 0, sizeof *source);
    several = source_named(source, name, how->unprepared, &pid);
    if (several)
        return several;
    return pid ? source_open_process(source, pid)
               : source_wrong(source, "%s", why);
}

const char *source_open(struct source *source, const char *name,
                        const struct source_how *how)
{
    const char *wrong;
    memset(source, 0, sizeof *source);
    errno = 0;
    if (*name && strspn(name, "0123456789") == strlen(name)) {
        unsigned long pid = strtoul(name, NULL, 10);
        wrong = pid == 0 || pid > INT32_MAX || errno
                    ? source_wrong(source, "no such process")
                    : source_open_process(source, (int)pid);
    } else if (source_is_remote(name)) {
        wrong = source_open_file(source, name, how);
    } else {
        wrong = open_named(source, name, how);
    }
    if (!wrong && how->registry) {
        source->registry = strtoull(how->registry, NULL, 0);
        source->registries = 1;
    }
    if (!wrong && !source->registry && !how->unprepared)
        wrong = source_wrong(source, "no recorder in it");
    if (wrong)
        source_close(source);
    else
        source_several(source);
    return wrong;
}

void source_close(struct source *source)
{
    size_t i;
    source_dwfl_end(source);
    if (source->close)
        source->close(source);
    free(source->note.text);
    free(source->functions);
    source->functions = source->note.text = NULL;
    for (i = 0; i < source->modules_count; i++)
        free(source->modules[i].path);
    free(source->modules);
    source->modules = NULL;
    source->modules_count = source->modules_max = 0;
    source->close = NULL;
    source->memory = NULL;
}
