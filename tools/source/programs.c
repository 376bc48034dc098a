/* programs.c - processes by the name of their program. */
/* SPDX-License-Identifier: MIT */
#include "proc.h"
#include "reader.h"
#include "source.h"

bool program_path(int pid, char to[PATH_MAX])
{
    static const char gone[] = " (deleted)";
    char link[64];
    ssize_t size;
    snprintf(link, sizeof link, "/proc/%d/exe", pid);
    size = readlink(link, to, PATH_MAX - 1);
    if (size <= 0)
        return false;
    to[size] = '\0';
    if ((size_t)size > sizeof gone &&
        strcmp(to + size - (sizeof gone - 1), gone) == 0)
        to[(size_t)size - (sizeof gone - 1)] = '\0';
    return true;
}

/* The last part of that path. */
static bool executable_name(int pid, char to[PROGRAM_NAME_MAX])
{
    char path[PATH_MAX];
    if (!program_path(pid, path) || strlen(basename(path)) >= PROGRAM_NAME_MAX)
        return false;
    strcpy(to, basename(path));
    return true;
}

/* Returns a variable of a process's environment, as of its start, to be freed.
 * Null: it had none, or may not be read. */
static char *environment_of(int pid, const char *name)
{
    char *item = NULL, *found = NULL;
    size_t room = 0, size = strlen(name);
    FILE *from = proc_open(pid, "environ");
    while (from && !found && getdelim(&item, &room, '\0', from) > 0)
        if (strncmp(item, name, size) == 0 && item[size] == '=')
            found = need(strdup(item + size + 1));
    free(item);
    if (from)
        fclose(from);
    return found;
}

char *program_without_file(int pid, const struct reader *reader)
{
    char *path, *why = NULL;
    if (reader->file_asked == RECORDER_FILE_FULL_)
        return strdup("the file of RECORDER_FILE had no room for all libraries "
                      "that the program opened: it lacks formats and recorders "
                      "of some");
    if (!pid || reader->in_file || !reader->file_asked)
        return NULL;
    path = environment_of(pid, "RECORDER_FILE");
    if (path && *path && reader->file_asked == RECORDER_FILE_NOBODY_)
        why = need_text("RECORDER_FILE=%s in its environment is not read: no "
                        "file of the program includes recorder_dump.h, or only "
                        "with RECORDER_NO_FILE; recorder save %d makes a file "
                        "of its rings",
                        path, pid);
    else if (path && *path)
        why = need_text(
            "RECORDER_FILE=%s in its environment made no "
            "recording: its stderr says why, unless it %shas more "
            "rights than its caller; recorder save %d makes a file "
            "of its rings",
            path, strstr(path, "%p") ? "" : "is a child of fork() or ", pid);
    free(path);
    return why;
}

bool program_name(int pid, char to[PROGRAM_NAME_MAX])
{
    return executable_name(pid, to) || proc_name(pid, 0, to);
}

bool program_is(int pid, const char *name)
{
    char text[PROGRAM_NAME_MAX];
    return (executable_name(pid, text) && strcmp(text, name) == 0) ||
           (proc_name(pid, 0, text) && strcmp(text, name) == 0);
}

bool program_records(int pid)
{
    static const struct source_how how;
    struct source *source = need(malloc(sizeof *source));
    char name[16];
    bool has = false;
    snprintf(name, sizeof name, "%d", pid);
    if (!source_open(source, name, &how)) {
        has = source->registries > 0;
        source_close(source);
    }
    free(source);
    return has;
}

/* Processes of a name, without our own. */
static size_t named_all(const char *name, int **all)
{
    size_t count = proc_ids("/proc", all), named = 0;
    for (size_t i = 0; i < count; i++) {
        int pid = (*all)[i];
        if (pid != getpid() && program_is(pid, name))
            (*all)[named++] = pid;
    }
    return named;
}

const char *source_named(struct source *source, const char *name,
                         bool unprepared, int *pid)
{
    int *all;
    size_t count = named_all(name, &all), some = 0, at = 0;
    char list[160] = "";
    *pid = 0;
    if (count > 1 && !unprepared) { /* the ones that record, if any */
        for (size_t i = 0; i < count; i++)
            if (program_records(all[i])) {
                int one = all[some];
                all[some++] = all[i];
                all[i] = one;
            }
        count = some ? some : count;
    }
    if (count == 1)
        *pid = all[0];
    for (size_t i = 0; i < count && at < sizeof list - 40; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%d",
                               i ? ", " : "", all[i]);
    free(all);
    return count <= 1
               ? NULL
               : source_wrong(
                     source,
                     "is the name of %zu processes, %s%s: name one by "
                     "its id; recorder ps lists processes with recorders",
                     count, list, at < sizeof list - 40 ? "" : " and more");
}
