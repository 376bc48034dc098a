/* run.c - recorder run: starts a program, and records its threads and locks. */
/* SPDX-License-Identifier: MIT */
/*
   The verb only looks and prepares: it puts librecorder-run.so in front of
   LD_PRELOAD, and becomes the program, which keeps its process id, signals, job
   control and exit status.
*/
#include "span.h"

#include "recorder/file_open.h"

#include <dirent.h>
#include <gelf.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#define LIBRARY "librecorder-run.so"

enum {
    OPTION_ALL = OPTION_OWN,
    OPTION_COUNT,
    OPTION_CALLS,
    OPTION_ALWAYS,
    OPTION_SPAN
};
/* Exit statuses for a program that does not run, as of env and sh. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127, SCRIPTS = 4, MACHINE_FLAGS = 0x600 };
enum { LOADER_BYTES = 1 << 20 };
enum { RECORDING_BYTES = 7 << 20 }; /* of 64 bits; of 32, half */

/* Members of the ELF header that a library and its program must share. */
struct machine {
    int class, order, machine, flags;
};
/* Facts of the ELF files of a program. */
struct program {
    char path[PATH_MAX]; /* of the interpreter, of a script */
    struct machine machine;
    char loader[PATH_MAX]; /* "": it is linked statically */
    char sanitizer[64];    /* libasan.so.8, or "" */
};

/* --------------------------------------------------------------- program -- */

/* Reads the names of the libraries that a program asks for. */
static void needs_read(struct program *program, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr head;
    while ((section = elf_nextscn(elf, section))) {
        Elf_Data *data;
        GElf_Dyn entry;
        if (!gelf_getshdr(section, &head) || head.sh_type != SHT_DYNAMIC ||
            !(data = elf_getdata(section, NULL)))
            continue;
        for (int i = 0; gelf_getdyn(data, i, &entry); i++) {
            const char *name =
                entry.d_tag == DT_NEEDED
                    ? elf_strptr(elf, head.sh_link, (size_t)entry.d_un.d_val)
                    : NULL;
            if (name && strncmp(name, "libasan.so.", 11) == 0)
                snprintf(program->sanitizer, sizeof program->sanitizer, "%s",
                         name);
        }
    }
}

/* Reads the head of an ELF file. Returns false if it is none. */
static bool elf_read(struct program *program, int fd)
{
    Elf *elf = elf_version(EV_CURRENT) == EV_NONE
                   ? NULL
                   : elf_begin(fd, ELF_C_READ, NULL);
    GElf_Ehdr head;
    GElf_Phdr segment;
    bool is_elf = elf && gelf_getehdr(elf, &head);
    if (is_elf) {
        program->machine = (struct machine){
            head.e_ident[EI_CLASS], head.e_ident[EI_DATA], head.e_machine,
            /* of ARM: whether floating-point numbers travel in registers */
            head.e_machine == EM_ARM ? (int)head.e_flags & MACHINE_FLAGS : 0};
        for (int i = 0; gelf_getphdr(elf, i, &segment); i++) {
            ssize_t size;
            if (segment.p_type != PT_INTERP)
                continue;
            size = pread(fd, program->loader, sizeof program->loader - 1,
                         (off_t)segment.p_offset);
            program->loader[size < 0 ? 0 : size] = '\0';
        }
        needs_read(program, elf);
    }
    elf_end(elf);
    return is_elf;
}

/* Says why a program cannot be started, as a shell does, and ends. */
static _Noreturn void cannot(const char *path, int error)
{
    trouble_set(error == ENOENT || error == ENOTDIR ? NOT_FOUND : CANNOT_RUN);
    fail(NULL, "%s: %s", path, strerror(error));
}

/* Says why its threads cannot be seen, and ends. */
static _Noreturn void unseen(const char *path, const char *why)
{
    fail(NULL,
         "%s %s, so no library can be put in front of it; recorder "
         "threads PID shows its threads and locks without one",
         path, why);
}

static void rights_look(const char *path, int fd)
{
    struct stat stat;
    if (fstat(fd, &stat) != 0)
        cannot(path, errno);
    if (S_ISDIR(stat.st_mode))
        cannot(path, EISDIR);
    if (((stat.st_mode & S_ISUID) && stat.st_uid != getuid()) ||
        ((stat.st_mode & S_ISGID) && stat.st_gid != getgid()))
        unseen(path, "runs with another user's rights");
    if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
        unseen(path, "runs with more rights than its user");
}

/* Replaces the path of a script by its interpreter's path. Returns false if the
 * script names none. */
static bool script_read(struct program *program, int fd)
{
    char line[PATH_MAX], *at = line + 2;
    ssize_t size = pread(fd, line, sizeof line - 1, 0);
    line[size < 0 ? 0 : size] = '\0';
    if (strncmp(line, "#!", 2) != 0)
        return false;
    at += strspn(at, " \t");
    at[strcspn(at, " \t\n")] = '\0';
    strcpy(program->path, at);
    return *at != '\0';
}

/* Finds the kind of the program at the path; ends the command where it
 * cannot be started or seen. */
static void program_look(struct program *program)
{
    for (int scripts = 0; scripts <= SCRIPTS; scripts++) {
        int fd = open(program->path, O_RDONLY | O_CLOEXEC);
        bool is_elf;
        if (access(program->path, X_OK) != 0)
            cannot(program->path, errno);
        if (fd < 0) /* it may be executed, and not be read */
            unseen(program->path, "cannot be read");
        rights_look(program->path, fd);
        is_elf = elf_read(program, fd);
        if (!is_elf && !script_read(program, fd)) /* execvp() asks a shell */
            strcpy(program->path, "/bin/sh");
        close(fd);
        if (!is_elf)
            continue;
        if (!*program->loader)
            unseen(program->path, "is linked statically");
        if (strstr(program->loader, "ld-musl"))
            unseen(program->path, "uses musl, of which run knows nothing");
        return;
    }
    cannot(program->path, ELOOP);
}

/* Finds a program as execvp() does; ends the command if there is none. */
static void program_find(struct program *program, const char *name)
{
    const char *at = getenv("PATH");
    int error = ENOENT;
    if (strlen(name) >= sizeof program->path)
        cannot(name, ENAMETOOLONG);
    strcpy(program->path, name);
    if (strchr(name, '/'))
        return;
    for (at = at ? at : "/bin:/usr/bin"; at; at = strchr(at, ':')) {
        struct stat stat_of;
        int size;
        at += *at == ':';
        size = (int)strcspn(at, ":");
        if (snprintf(program->path, sizeof program->path, "%.*s%s%s", size, at,
                     size ? "/" : "", name) >= (int)sizeof program->path ||
            stat(program->path, &stat_of) != 0 || S_ISDIR(stat_of.st_mode))
            continue;
        if (access(program->path, X_OK) == 0)
            return;
        error = EACCES;
    }
    if (error == ENOENT) {
        trouble_set(NOT_FOUND);
        fail(NULL, "%s: command not found", name);
    }
    cannot(name, error);
}

/* --------------------------------------------------------------- library -- */

static bool library_fits(const char *path, const struct machine *machine)
{
    struct program library = {.path = ""};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool fits = fd >= 0 && elf_read(&library, fd) &&
                library.machine.class == machine->class &&
                library.machine.order == machine->order &&
                library.machine.machine == machine->machine &&
                library.machine.flags == machine->flags;
    if (fd >= 0)
        close(fd);
    return fits;
}

/* Looks for the library of a machine: in a folder, and in its subfolders, which
 * have names of machines. */
static bool library_in(char to[PATH_MAX], const char *folder,
                       const struct machine *machine)
{
    const struct dirent *entry;
    bool found;
    DIR *dir;
    if (snprintf(to, PATH_MAX, "%s/" LIBRARY, folder) >= PATH_MAX)
        return false;
    found = library_fits(to, machine);
    dir = found ? NULL : opendir(folder);
    while (dir && !found && (entry = readdir(dir)))
        found = snprintf(to, PATH_MAX, "%s/%s/" LIBRARY, folder,
                         entry->d_name) < PATH_MAX &&
                library_fits(to, machine);
    if (dir)
        closedir(dir);
    return found;
}

/* Finds the library for a program: installed beside this command, or built. */
static void library_find(char to[PATH_MAX], const struct program *program)
{
    char command[PATH_MAX] = "", folder[PATH_MAX + 32], *end;
    ssize_t size = readlink("/proc/self/exe", command, sizeof command - 1);
    command[size < 0 ? 0 : size] = '\0';
    end = strrchr(command, '/');
    if (end)
        *end = '\0';
    snprintf(folder, sizeof folder, "%s/../lib/recorder", command);
    if (library_in(to, folder, &program->machine))
        return;
    snprintf(folder, sizeof folder, "%s/lib", command);
    if (library_in(to, folder, &program->machine))
        return;
    fail(NULL,
         "%s: there is no " LIBRARY " for its machine in %s; recorder "
         "threads PID shows its threads and locks without one",
         program->path, folder);
}

/* Replaces the library's path by one with $LIB, for which each loader puts the
 * folder of its machine's libraries: children of other machines find an empty
 * library there, or their own, where the path itself would make their loader
 * print an error. */
static void library_for_all(char path[PATH_MAX], const struct program *program)
{
    static const char *const folders[] = {"lib/x86_64-linux-gnu", "lib64"};
    const int size = (int)(strrchr(path, '/') - path);
    int fd = open(program->loader, O_RDONLY | O_CLOEXEC);
    char at[PATH_MAX + 64], *text = need(malloc(LOADER_BYTES));
    const ssize_t bytes = fd < 0 ? 0 : read(fd, text, LOADER_BYTES);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (bytes <= 0 ||
            !memmem(text, (size_t)bytes, folders[i], strlen(folders[i]) + 1))
            continue;
        snprintf(at, sizeof at, "%.*s/preload/%s/" LIBRARY, size, path,
                 folders[i]);
        if (library_fits(at, &program->machine) &&
            snprintf(at, sizeof at, "%.*s/preload/$LIB/" LIBRARY, size, path) <
                PATH_MAX)
            strcpy(path, at);
        break;
    }
    free(text);
    if (fd >= 0)
        close(fd);
}

/* ------------------------------------------------------------------- run -- */

/* Puts the library first in LD_PRELOAD. ASan ends a program that loads another
 * library first, unless an option forbids the check, also in children of the
 * program. */
static void preload_set(const struct program *program, const char *library)
{
    const char *was = getenv("LD_PRELOAD"), *asan = getenv("ASAN_OPTIONS");
    char *text = need_text("%s%sverify_asan_link_order=0", asan ? asan : "",
                           asan && *asan ? ":" : "");
    need_done(setenv("ASAN_OPTIONS", text, 1) == 0);
    free(text);
    if (strpbrk(library, ": "))
        fail(NULL,
             "%s: no library can be preloaded whose path has a blank or "
             "a colon",
             library);
    text = need_text("%s%s%s%s%s", program->sanitizer,
                     *program->sanitizer ? ":" : "", library,
                     was && *was ? ":" : "", was ? was : "");
    need_done(setenv("LD_PRELOAD", text, 1) == 0);
    free(text);
}

/* Is there room for a recording in a folder, which the program would only find
 * out in silence? Ends the command if not. */
static void room_look(const char *folder)
{
    struct statvfs disk;
    struct rlimit limit;
    unsigned long long room;
    if (statvfs(folder, &disk) == 0 && disk.f_blocks) {
        room = getuid() == 0 ? disk.f_bfree : disk.f_bavail;
        if (room * disk.f_frsize < RECORDING_BYTES)
            fail(NULL, "%s: %s: a recording takes 7 MB", folder,
                 strerror(ENOSPC));
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur < RECORDING_BYTES)
        fail(NULL, "%s: %s: a recording takes 7 MB, and ulimit -f allows less",
             folder, strerror(EFBIG));
}

/* Returns the path of the recording of a program, by a pattern; ends the command
 * if none can be made there. */
static const char *recording_path(const char *pattern,
                                  const struct program *program)
{
    static struct recorder_recording_ file;
    char *end, *real = realpath(program->path, NULL);
    if (!real)
        cannot(program->path, errno);
    snprintf(file.program, sizeof file.program, "%s", strrchr(real, '/') + 1);
    free(real);
    if (strlen(pattern) >= sizeof file.pattern)
        fail(NULL, "%s: %s", pattern, strerror(ENAMETOOLONG));
    strcpy(file.pattern, pattern);
    if (!recorder_open_path_(&file, 0))
        fail(NULL, "%s: %s", pattern, strerror(ENAMETOOLONG));
    end = strrchr(file.path, '/');
    *end = '\0';
    if (access(*file.path ? file.path : "/", W_OK | X_OK) != 0)
        fail(NULL, "%s: %s", file.path, strerror(errno));
    room_look(*file.path ? file.path : "/");
    *end = '/';
    return file.path;
}

/* Sets RECORDER_RUN_SPANS for the library. */
static void spans_set(const struct call *call, const struct program *program)
{
    char *text;
    unsetenv("RECORDER_RUN_SPANS");
    if (!call_option(call, OPTION_SPAN))
        return;
    if (program->machine.machine != EM_X86_64 ||
        program->machine.class != ELFCLASS64)
        fail(NULL, "--span: only for programs of x86-64");
    text = run_spans(call, OPTION_SPAN, program->path, program->loader);
    need_done(setenv("RECORDER_RUN_SPANS", text, 1) == 0);
    free(text);
}

/* Sets RECORDER_RUN for the library: options, and the path of recordings, which
 * is absolute as programs change their folder. Prints the path. */
static void pattern_set(const struct call *call, const struct program *program)
{
    const char *pattern = call_option(call, 'o'), *path;
    const char *calls = call_option(call, OPTION_CALLS);
    char folder[PATH_MAX] = "", *text = NULL, *end;
    if (!pattern)
        pattern = "%e.%p.rec";
    if (!calls)
        calls = "50";
    if (!*pattern)
        misuse(call, "--output: a path is missing");
    if (*pattern != '/' && !getcwd(folder, sizeof folder))
        fail(NULL, "the current folder: %s", strerror(errno));
    for (end = folder; (end = strchr(end, '%')); end += 2)
        if (strlen(folder) + 1 < sizeof folder)
            memmove(end + 1, end, strlen(end) + 1);
        else
            fail(NULL, "%s: %s", folder, strerror(ENAMETOOLONG));
    if (!*calls || calls[strspn(calls, "0123456789")] || strlen(calls) > 9)
        misuse(call, "--calls: %s: is no number of microseconds", calls);
    text = need_text("%s%sslow=%s,%s:%s%s%s",
                     call_option(call, OPTION_ALL) ? "all," : "",
                     call_option(call, OPTION_COUNT) ? "count," : "", calls,
                     call_option(call, OPTION_ALWAYS) ? "always" : "", folder,
                     *folder ? "/" : "", pattern);
    need_done(setenv("RECORDER_RUN", text, 1) == 0);
    path = recording_path(strchr(text, ':') + 1, program);
    free(text);
    if (!call_option(call, 'q'))
        warn(NULL, "records to %s%s", path,
             call_option(call, OPTION_ALWAYS) || call_option(call, OPTION_SPAN)
                 ? ""
                 : " once it makes a thread; --always: in "
                   "any case");
}

static int run(struct call *call)
{
    struct program program = {.path = ""};
    char library[PATH_MAX];
    if (call->arguments_count == 0)
        misuse(call, "PROGRAM is missing");
    program_find(&program, call->arguments[0]);
    program_look(&program);
    library_find(library, &program);
    library_for_all(library, &program);
    spans_set(call, &program);
    preload_set(&program, library);
    pattern_set(call, &program);
    execvp(call->arguments[0], call->arguments);
    cannot(call->arguments[0], errno);
}

const struct verb verb_run = {
    .name = "run",
    .arguments = "PROGRAM ARGS...",
    .summary = "starts a program, and records its threads and locks",
    .help =
        "Needs no change of the program, which keeps its process id, output "
        "and exit status. A file keeps the maker of each thread, with the "
        "whole stack, its waits and their lengths, the locks that it holds, "
        "the orders in which it takes locks, and calls of libc that took "
        "long: read, write, poll, fsync, sleep and their like. All verbs read "
        "the file while the program runs and after it was killed. A process "
        "gets its file when it makes its first thread; so do the processes "
        "that it starts.\n\n"
        "Works with programs of glibc, not with statically linked ones, nor "
        "with programs that have more rights than their user. The exit status "
        "is the program's; 127 if it is not found, 126 if it cannot be "
        "started, 1 if its threads are invisible.",
    .rows =
        (const struct option_row[]){
            {'o', "output", "PATTERN",
             "where to; %p is the process id, %e the program's name, %h the "
             "host's, %t the time in seconds since 1970; else %e.%p.rec"},
            {OPTION_ALL, "all", NULL,
             "records each lock that is taken, also without a wait"},
            {OPTION_COUNT, "count", NULL,
             "counts for each lock how often it is taken"},
            {OPTION_CALLS, "calls", "US",
             "records calls of libc of US microseconds or longer: 50; 0: none"},
            {OPTION_ALWAYS, "always", NULL,
             "a file for each process, also of one thread; for a child of "
             "fork(), when it waits"},
            {OPTION_SPAN, "span", "FUNCTION",
             "records the calls of a function of the program or its libraries, "
             "of up to 16 functions, for recorder why FILE FUNCTION"},
            {'q', "quiet", NULL, "does not say where records go"},
            {0, NULL, NULL, NULL}},
    .unprepared = true,
    .starts = true,
    .run = run};
