/* death.c - how a process ended, and whose signal ended it. */
/* SPDX-License-Identifier: MIT */
/*
    status   the pidfd (Linux 6.15), once the parent has it; before that, the
             zombie's /proc/PID/stat; neither: "not known"
    OOM      the kernel log names the process, or memory.events counts a kill
    sender   the kernel's tracer, an instance of ours that keeps signals only;
             it needs root and a mounted tracefs
    core     the pattern of core files, tried in the process's folder
*/
#include "watch.h"

#include <dirent.h>
#include <sys/wait.h>

#include "recorder/output.h"

enum { TRIES = 40 }; /* of 50 ms, for a status */

/* ------------------------------------------------------------ the kernel -- */

/* Removes the tracer's instances of watches that were killed. */
static void instances_forget(void)
{
    DIR *folder = opendir("/sys/kernel/tracing/instances");
    struct dirent *entry;
    int pid;
    while (folder && (entry = readdir(folder)))
        if (sscanf(entry->d_name, "recorder-%d", &pid) == 1 &&
            kill(pid, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
    if (folder)
        closedir(folder);
}

/* Opens the kernel log, and an instance of the tracer. */
void death_open(struct watcher *w)
{
    static const char *const files[][2] = {
        {"buffer_size_kb", "16"},
        {"events/signal/signal_generate/filter",
         "sig==6||sig==9||sig==15||sig==19||sig==20"},
        {"events/signal/signal_generate/enable", "1"}};
    int folder;
    bool good = true;
    w->kernel = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (w->kernel >= 0)
        lseek(w->kernel, 0, SEEK_END);
    w->signals = -1;
    instances_forget();
    snprintf(w->tracer, sizeof w->tracer,
             "/sys/kernel/tracing/instances/recorder-%d", (int)getpid());
    if (mkdir(w->tracer, 0700) != 0)
        return;
    folder = open(w->tracer, O_PATH | O_CLOEXEC);
    for (int i = 0; i < 3 && good; i++) {
        int fd = openat(folder, files[i][0], O_WRONLY | O_CLOEXEC);
        good = write(fd, files[i][1], strlen(files[i][1])) > 0;
        close(fd);
    }
    if (good)
        w->signals =
            openat(folder, "trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    else
        rmdir(w->tracer);
    close(folder);
}

void death_close(struct watcher *w)
{
    close(w->kernel);
    close(w->signals);
    rmdir(w->tracer);
}

/* Appends a text to the newest ones of a buffer. */
static void append(char *buffer, size_t max, const char *text, size_t size)
{
    size_t used = strlen(buffer);
    if (size > max / 2)
        size = max / 2;
    if (used + size >= max) {
        size_t cut = used + size - max + 1;
        memmove(buffer, buffer + cut, used - cut + 1);
        used -= cut;
    }
    memcpy(buffer + used, text, size);
    buffer[used + size] = '\0';
}

void death_lines(struct watcher *w)
{
    char text[4096];
    ssize_t got;
    for (int i = 0; i < 4096 && w->kernel >= 0; i++) {
        char *message;
        got = read(w->kernel, text, sizeof text - 1);
        if (got <= 0) {
            if (got < 0 && errno == EPIPE) /* lines were lost */
                continue;
            break;
        }
        text[got] = '\0';
        message = strchr(text, ';');
        text[strcspn(text, "\n")] = '\0';
        if (message) {
            *message = '\n';
            append(w->kernel_text, sizeof w->kernel_text, message,
                   strlen(message));
        }
    }
    while (w->signals >= 0 && (got = read(w->signals, text, sizeof text)) > 0)
        append(w->signals_text, sizeof w->signals_text, text, (size_t)got);
}

/* Copies the last line of the kernel's with a text. False: there is none. */
static bool line_with(const char *text, const char *what, char to[512])
{
    const char *found = NULL, *at = text;
    while ((at = strstr(at, what)))
        found = at++;
    while (found && found > text && found[-1] != '\n')
        found--;
    if (found)
        snprintf(to, 512, "%.*s", (int)strcspn(found, "\n"), found);
    return found != NULL;
}

bool death_sender(struct watcher *w, int pid, int number, char to[128])
{
    char name[64], text[512], *line = text, *dash;
    death_lines(w);
    snprintf(name, sizeof name, " pid=%d grp=", pid);
    if (!line_with(w->signals_text, name, text))
        return false;
    snprintf(name, sizeof name, " sig=%d ", number);
    if (!strstr(line, name))
        return false;
    if (strstr(line, " code=128 ")) { /* SI_KERNEL */
        strcpy(to, "the kernel");
        return true;
    }
    line += strspn(line, " ");
    dash = strstr(line, " [");
    while (dash && dash > line && *dash != '-')
        dash--;
    if (!dash || dash == line)
        return false;
    snprintf(to, 128, "%d %.*s", atoi(dash + 1), (int)(dash - line), line);
    return true;
}

uint64_t death_ooms(int pid)
{
    char text[1024];
    return watch_group(pid, "memory", "memory.oom_control", "memory.events",
                       text, sizeof text)
               ? proc_number(text, "oom_kill ")
               : 0;
}

/* ------------------------------------------------------------------ status -- */

/* Finds the status as wait() has it, while its parent may still read it; false:
 * not known. */
static bool status_find(const struct watched *p, int *status, bool *core)
{
    bool waits = true;
    for (int i = 0; i < TRIES && waits; i++) {
        if (i)
            usleep(50000);
        waits = kill(p->pid, 0) == 0 || errno == EPERM;
        if (proc_status(p->pid, p->pidfd, geteuid() == 0, status, core))
            return true;
    }
    return false;
}

/* Finds the core file: by its pattern, in the process's folder, and new. */
static void core_find(struct watched *p, bool is_there)
{
    char pattern[256], path[4096], *folder = p->core;
    struct recorder_string_ to = recorder_string_at_(path, sizeof path - 32);
    struct stat is;
    file_text("/proc/sys/kernel/core_pattern", pattern, sizeof pattern);
    pattern[strcspn(pattern, "\n")] = '\0';
    if (*pattern != '/' && folder) {
        recorder_add_string_(&to, folder);
        recorder_add_string_(&to, "/");
    }
    recorder_add_path_(&to, pattern, (uint64_t)p->pid, p->name, NULL);
    path[to.size < to.max ? to.size : to.max] = '\0';
    p->core = NULL;
    for (int i = 0; i < 2 && is_there && folder && !p->core; i++) {
        if (stat(path, &is) == 0 && S_ISREG(is.st_mode) && is.st_size &&
            time(NULL) - is.st_mtime < 60)
            p->core = need(strdup(path));
        sprintf(path + strlen(path), ".%d", p->pid); /* of core_uses_pid */
    }
    free(folder);
}

/* The kernel's words for an OOM kill or a crash of a process. */
static bool kernel_words(struct watcher *w, const struct watched *p,
                         const char *before, char to[512])
{
    char what[64];
    snprintf(what, sizeof what, before, p->pid);
    return line_with(w->kernel_text, what, to);
}

bool death_oom(const char *name, int pid, char to[512])
{
    static struct watcher w = {.signals = -1};
    const struct watched p = {.pid = pid};
    char before[64];
    w.kernel = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    death_lines(&w);
    close(w.kernel);
    snprintf(before, sizeof before, "Killed process %%d (%.15s)", name);
    return !strchr(name, '%') && kernel_words(&w, &p, before, to);
}

enum verdict death_judge(struct watcher *w, struct watched *p, char to[1024])
{
    char words[512] = "", who[128];
    int status, number;
    bool by, core, known = status_find(p, &status, &core);
    death_lines(w);
    core_find(p, core || !known);
    if (kernel_words(w, p, "Killed process %d (", words)) {
        snprintf(to, 1024, "OOM KILL: the kernel ended it for memory: %s",
                 words);
        return VERDICT_SURE;
    }
    if (!known) {
        snprintf(to, 1024, "ENDED, and its status is not known%s%s",
                 kernel_words(w, p, "[%d]:", words) ? ": " : "", words);
        return *words || p->core ? VERDICT_SURE : VERDICT_PERHAPS;
    }
    /* Shells and Java exit with 128 and the number of the signal. */
    number = WIFEXITED(status) ? WEXITSTATUS(status) - 128 : WTERMSIG(status);
    if (number == SIGTERM || number == SIGINT || number == SIGHUP) {
        snprintf(to, 1024,
                 WIFEXITED(status) ? "ended by SIG%s, with status %d"
                                   : "ended by SIG%s",
                 sigabbrev_np(number), WEXITSTATUS(status));
        return VERDICT_NONE;
    }
    if (WIFEXITED(status)) {
        number = WEXITSTATUS(status);
        snprintf(to, 1024, "%s with status %d", number ? "EXIT" : "ended",
                 number);
        return number && !p->is_child ? VERDICT_SURE : VERDICT_NONE;
    }
    by = death_sender(w, p->pid, number, who);
    if (p->oom_kills < death_ooms(p->pid))
        snprintf(words, sizeof words, "its control group counts an OOM kill");
    else if (number != SIGKILL)
        kernel_words(w, p, "[%d]", words);
    snprintf(to, 1024, "%s by SIG%s%s%s%s%s%.400s%s%s",
             number == SIGKILL ? "KILLED" : "CRASH",
             sigabbrev_np(number) ? sigabbrev_np(number) : "NAL",
             by                  ? " of "
             : number == SIGKILL ? " of an unknown sender"
                                 : "",
             by ? who : "",
             number == SIGKILL ? ""
             : core            ? ", core dumped"
                               : ", no core file",
             p->core ? " into " : "", p->core ? p->core : "",
             *words ? ": " : "", words);
    return VERDICT_SURE;
}
