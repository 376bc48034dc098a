/* output.c - files and folders that appear only when they are whole. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <dirent.h>
#include <signal.h>

/* -------------------------------------------------------------- temporaries --
 *
 * Files to remove if the command ends early, by fail() or by Ctrl-C. A signal
 * handler walks the list at any moment, so the list grows by one store.
 */
struct temporary {
    struct temporary *next;
    char path[];
};
static struct temporary *volatile temporaries;

static void temporaries_remove(void)
{
    struct temporary *at;
    for (at = temporaries; at; at = at->next) /* a folder after its files */
        remove(at->path);
    temporaries = NULL;
}

/* The files have their final names now. */
static void temporaries_forget(void)
{
    struct temporary *at = temporaries, *next;
    temporaries = NULL;
    for (; at; at = next) {
        next = at->next;
        free(at);
    }
}

static void temporaries_signal(int number)
{
    temporaries_remove();
    raise(number); /* which ends us once this handler returns */
}

void output_temporary(const char *path)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ};
    static bool prepared;
    struct sigaction action = {0}, old;
    struct temporary *add = need(malloc(sizeof *add + strlen(path) + 1));
    strcpy(add->path, path);
    add->next = temporaries;
    temporaries = add;
    if (prepared)
        return;
    prepared = true;
    atexit(temporaries_remove);
    action.sa_handler = temporaries_signal;
    action.sa_flags = (int)SA_RESETHAND;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ends[i], &action, NULL);
}

/* ---------------------------------------------------------------- output -- */

_Noreturn static void output_fail(struct call *call, const char *path,
                                  int error)
{
    fail(call, "%s: %s", strcmp(path, "-") == 0 ? "standard output" : path,
         error ? strerror(error) : "it cannot be written");
}

char *output_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    char *name = need(malloc((size_t)folder + sizeof ".recorder-XXXXXX"));
    sprintf(name, "%.*s.recorder-XXXXXX", folder, path);
    return name;
}

void output_open(struct output *output, struct call *call, const char *path)
{
    mode_t mode = 0600;
    struct stat is;
    int fd;
    *output = (struct output){.call = call, .path = need(strdup(path))};
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        if (fcntl(1, F_GETFD) < 0)
            output_fail(call, path, errno);
        return;
    }
    if (stat(path, &is) == 0) {
        if (S_ISDIR(is.st_mode))
            output_fail(call, path, EISDIR);
        if (!S_ISREG(is.st_mode)) { /* a device or pipe is not to be replaced */
            output->file = fopen(path, "w");
            if (!output->file)
                output_fail(call, path, errno);
            return;
        }
        if (is.st_uid == geteuid())
            mode = is.st_mode & 0777; /* the user chose who may read it */
        free((char *)output->path);
        output->path = realpath(path, NULL); /* a link's target */
        if (!output->path)
            output_fail(call, path, errno);
    }
    output->temporary = output_beside(output->path);
    fd = mkstemp(output->temporary);
    if (fd < 0)
        output_fail(call, path, errno);
    output_temporary(output->temporary);
    if (fchmod(fd, mode) != 0 || !(output->file = fdopen(fd, "w")))
        output_fail(call, path, errno);
}

void output_seekable(struct output *output)
{
    int fd;
    if (output->temporary)
        return;
    output->stream = output->file;
    fd = unnamed_file();
    output->file = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!output->file)
        fail(output->call, "the file for it: %s", strerror(errno));
}

/* Copies the whole file into the stream. */
static void output_copy(struct output *output)
{
    char block[1 << 16];
    FILE *file = output->file;
    size_t size;
    rewind(file);
    output->file = output->stream;
    while ((size = fread(block, 1, sizeof block, file)) > 0)
        if (fwrite(block, 1, size, output->file) != size)
            output_check(output);
    if (ferror(file))
        output_fail(output->call, output->path, errno);
    fclose(file);
}

void output_check(struct output *output)
{
    int error = errno;
    if (!ferror(output->file))
        return;
    /* A failed write is tried again, as errno may be of another call. */
    if (fflush(output->file) == 0)
        errno = error;
    output_fail(output->call, output->path, errno);
}

/* Gives the file or folder its name, now that it is whole. */
static void output_rename(struct output *output)
{
    if (output->temporary && rename(output->temporary, output->path) != 0)
        output_fail(output->call, output->path, errno);
    temporaries_forget();
    free((char *)output->path);
    free(output->temporary);
    *output = (struct output){.call = output->call};
}

void output_close(struct output *output)
{
    FILE *file;
    if (output->stream)
        output_copy(output);
    file = output->file;
    fflush(file);
    output_check(output);
    /* A name must not survive a power failure that its bytes do not. */
    if (output->temporary && fsync(fileno(file)) != 0 && errno != EINVAL)
        output_fail(output->call, output->path, errno);
    if (file != stdout && fclose(file) != 0)
        output_fail(output->call, output->path, errno);
    output_rename(output);
}

/* True if nothing has that name, or an empty folder, which rename()
 * replaces. */
static bool output_is_free(const char *path)
{
    struct stat is;
    struct dirent *entry;
    DIR *folder;
    size_t count = 0;
    if (lstat(path, &is) != 0)
        return errno == ENOENT;
    folder = S_ISDIR(is.st_mode) ? opendir(path) : NULL;
    if (!folder)
        return false;
    while ((entry = readdir(folder)))
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(folder);
    return count == 0;
}

void output_folder(struct output *output, struct call *call, const char *path)
{
    char *slash, *name = need(strdup(path));
    while ((slash = strrchr(name, '/')) && !slash[1] && slash > name)
        *slash = '\0';
    *output = (struct output){.call = call, .path = name};
    if (!output_is_free(name))
        output_fail(call, path, errno == EACCES ? EACCES : EEXIST);
    output->temporary = output_beside(name);
    if (!mkdtemp(output->temporary))
        output_fail(call, path, errno);
    output_temporary(output->temporary);
}

void output_append(struct output *output, const char *name, const void *from,
                   size_t size)
{
    char *path = need(malloc(strlen(output->temporary) + strlen(name) + 2));
    FILE *file;
    int fd;
    sprintf(path, "%s/%s", output->temporary, name);
    if (access(path, F_OK) != 0)
        output_temporary(path);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    file = fd < 0 ? NULL : fdopen(fd, "a");
    if (!file || fwrite(from, 1, size, file) != size || fclose(file) != 0)
        output_fail(output->call, output->path, errno);
    free(path);
}

char *output_subfolder(struct output *output, const char *name)
{
    size_t size = strlen(name), all = strlen(output->temporary);
    char *path, *at, *plain;
    if (size > 100)
        size = 100;
    path = need(malloc(all + size + 16));
    plain = path + all + 1;
    sprintf(path, "%s/%.*s", output->temporary, (int)size, name);
    for (at = plain; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_.+@", *at))
            *at = '_';
    if (!*plain || *plain == '.')
        *plain = '_';
    for (unsigned i = 2; mkdir(path, 0700) != 0; i++) {
        if (errno != EEXIST || i > 999999)
            output_fail(output->call, output->path, errno);
        sprintf(plain + size, "-%u", i);
    }
    output_temporary(path);
    at = need(malloc(strlen(plain) + 2));
    sprintf(at, "%s/", plain);
    free(path);
    return at;
}

void output_folder_close(struct output *output)
{
    struct temporary *at;
    for (at = temporaries; at; at = at->next) {
        int fd = open(at->path, O_RDONLY);
        if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
            output_fail(output->call, output->path, errno);
        close(fd);
    }
    output_rename(output);
}
