/* incident.c - an incident: a folder with all that is known. */
/* SPDX-License-Identifier: MIT */
/*
    DIR/20261124-140305-NAME-PID/README      its first line is the verdict
        threads-1.txt, -2, -3    threads, locks and stacks, a second apart
        000001.rec               the last records, if the program has any
        resources.txt            figures of /proc
        journal.txt, kernel.txt, signals.txt

   The folder has a temporary name until it is whole. The limits count all
   folders so named in DIR, of which the oldest are deleted first. If less than
   a twentieth of the disk is free, there is a README and no more.
*/
#include "watch.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

enum { FILE_MAX = 64 << 20 };
/* The thread that hangs (0: all, -1: queues) and its mark. */
#define HANG_AT "hang       "
#define HANG_LINE HANG_AT "%d at %llu\n"

/* ------------------------------------------------------------------- run -- */

pid_t watch_spawn(const char *program, const char *const *arguments, int in,
                  const char *path, bool says, unsigned seconds, int *from)
{
    const char *all[80] = {"recorder"};
    int fds[2] = {-1, -1};
    pid_t child = pipe2(fds, O_CLOEXEC) == 0 ? fork() : -1;
    for (int i = 0; i < 78 && arguments[i]; i++)
        all[i + 1] = arguments[i];
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(in < 0 ? null : in, 0);
        dup2(path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : fds[1], 1);
        dup2(says ? fds[1] : null, 2);
        alarm(seconds); /* ends it then */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execvp(program, (char **)(uintptr_t)all);
        _exit(127);
    }
    close(fds[1]);
    *from = fds[0];
    return child;
}

const char *watch_command = "/proc/self/exe";

int watch_run(const char *program, const char *const *arguments,
              const char *path, char *to, size_t size, unsigned seconds)
{
    char buffer[4096];
    size_t used = 0;
    ssize_t got;
    int from, status = -1;
    pid_t child =
        watch_spawn(program, arguments, -1, path, false, seconds, &from);
    while (child > 0 && (got = read(from, buffer, sizeof buffer)) > 0) {
        size_t more = (size_t)got < size - used ? (size_t)got : size - used;
        memcpy(to + used, buffer, more);
        used += more;
    }
    close(from);
    if (size)
        to[used < size ? used : size - 1] = '\0';
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

/* ----------------------------------------------------------------- limits -- */

/* True of the name of an incident: "20261124-140305-NAME-PID". */
static int is_incident(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return strspn(name, "0123456789") == 8 && name[8] == '-' &&
           strspn(name + 9, "0123456789") == 6 && name[15] == '-';
}

/* By time; in one second, by the times of the folders, as process ids wrap. */
static int incident_order(const struct dirent **a, const struct dirent **b)
{
    struct stat left, right;
    int order = strncmp((*a)->d_name, (*b)->d_name, 15);
    if (order || stat((*a)->d_name, &left) || stat((*b)->d_name, &right))
        return order;
    order = array_order(left.st_mtim.tv_nsec, right.st_mtim.tv_nsec, 0);
    return array_order(left.st_mtim.tv_sec, right.st_mtim.tv_sec, order);
}

uint64_t folder_bytes(const char *path, bool deletes)
{
    struct dirent *entry;
    uint64_t bytes = 0;
    DIR *folder = opendir(path);
    struct stat is;
    while (folder && (entry = readdir(folder))) {
        if (fstatat(dirfd(folder), entry->d_name, &is, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(is.st_mode))
            continue;
        bytes += (uint64_t)is.st_blocks * 512;
        if (deletes)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder)
        closedir(folder);
    if (deletes)
        remove(path);
    return bytes;
}

void incident_name(char to[64], const char *name, int pid)
{
    time_t now = time(NULL);
    struct tm tm;
    strftime(to, 64, "%Y%m%d-%H%M%S-", localtime_r(&now, &tm));
    snprintf(to + 16, 48, "%s-%d", name, pid);
    for (; *to; to++)
        *to = *to == '/' || *to == ' ' ? '_' : *to;
}

void incidents_forget(unsigned long keep, uint64_t size)
{
    struct dirent **all;
    uint64_t bytes = 0;
    int count = scandir(".", &all, is_incident, incident_order);
    for (int i = 0; i < count; i++)
        bytes += folder_bytes(all[i]->d_name, false);
    for (int i = 0; i + 1 < count; i++)
        if ((unsigned long)(count - i) > keep || bytes > size)
            bytes -= folder_bytes(all[i]->d_name, true);
}

/* ------------------------------------------------- files, in this folder -- */

static void resources_write(const struct watched *p)
{
    static const char *const names[] = {
        "%d/status",    "%d/limits",   "%d/io",
        "%d/stat",      "%d/cgroup",   "loadavg",
        "pressure/cpu", "pressure/io", "pressure/memory"};
    char path[64], text[16384];
    FILE *to = fopen("resources.txt", "we");
    if (!to)
        return;
    fprintf(to, "descriptors: %zu\nqueues:\n", p->descriptors);
    for (size_t i = 0; i < p->queues_count; i++) {
        const struct queue *q = &p->queues[i];
        fprintf(to, "    descriptor %d: %s %" PRIu64 ", %u bytes unread%s%s\n",
                q->fd, q->is_pipe ? "pipe" : "socket", q->inode, q->bytes,
                q->listens ? ", listens" : "", q->full ? ", full" : "");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *at = path + sprintf(path, "/proc/");
        at += *names[i] == '%' ? sprintf(at, "%d", p->pid) : 0;
        strcpy(at, names[i] + (*names[i] == '%' ? 2 : 0));
        if (file_text(path, text, sizeof text))
            fprintf(to, "\n%s:\n%s", path, text);
    }
    fclose(to);
}

/* Copies the beginning of the file of rings that the program left. */
static void recording_copy(const struct watched *p)
{
    off_t at = 0;
    int to = open("000001.rec", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while (at < FILE_MAX &&
           sendfile(to, p->recording, &at, (size_t)(FILE_MAX - at)) > 0)
        ;
    close(to);
}

/* Saves the records of a process, and looks at its threads three times; of one
 * that died, its file of rings, and a look at its core file. */
static void process_write(const struct watched *p, bool died)
{
    char name[] = "threads-1.txt";
    const char *save[] = {"save", p->id, "-o", "000001.rec", NULL};
    const char *threads[] = {"threads", died ? p->core : p->id, NULL};
    if (died && p->recording >= 0)
        recording_copy(p);
    if (died && p->core)
        watch_run(watch_command, threads, name, NULL, 0, 60);
    if (!died)
        watch_run(watch_command, save, "/dev/null", NULL, 0, 60);
    for (; !died && name[8] <= '3'; name[8]++) {
        watch_run(watch_command, threads, name, NULL, 0, 30);
        sleep(1);
    }
}

static void text_write(const char *name, const char *text)
{
    FILE *to = *text ? fopen(name, "we") : NULL;
    if (to) {
        fputs(text, to);
        fclose(to);
    }
}

static void readme_write(const struct watched *p, const char *verdict)
{
    char when[64], host[256] = "", hang[96] = "", text[8192];
    time_t now = time(NULL);
    struct tm tm;
    if (p->hung_ns)
        snprintf(hang, sizeof hang, HANG_LINE, p->hung,
                 (unsigned long long)p->hung_mark);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S %z", localtime_r(&now, &tm));
    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text,
             "%s\n\nprocess    %d %s%s%s, started at tick %" PRIu64 "\n%s"
             "program    %s\n"
             "noticed    %s, on %s, after a watch of %lld s\n\n"
             "threads-N.txt    threads, locks and stacks: three moments, or "
             "the core file\n"
             "000001.rec       the last records, if it had any: recorder dump "
             "or view of this folder\n"
             "resources.txt, journal.txt, kernel.txt, signals.txt: if they "
             "could be read\n",
             verdict, p->pid, p->name, *p->unit ? ", of " : "", p->unit,
             p->started, hang, p->command, when, host,
             (long long)((watch_now() - p->begun_ns) / 1000000000));
    text_write("README", text);
}

/* ---------------------------------------------------------------- incident -- */

/* Makes the incident's folder for now, under a temporary name, and enters it.
 * A second incident of the same second gets a number. */
static bool folder_make(const struct watched *p, char name[64], char part[80])
{
    size_t size;
    incident_name(name, p->name, p->pid);
    size = strlen(name);
    for (int i = 2; i < 100; i++) {
        snprintf(part, 80, ".%s.part", name);
        if (mkdir(part, 0700) == 0) {
            if (access(name, F_OK) != 0)
                return chdir(part) == 0;
            rmdir(part);
        } else if (errno != EEXIST) {
            return false;
        }
        snprintf(name + size, 64 - size, "-%d", i);
    }
    return false;
}

static bool incident_write(struct watcher *w, struct watched *p,
                           const char *verdict, bool died)
{
    const char *journal[] = {"-u", p->unit, "-n", "200", "--no-pager", NULL};
    char name[64], part[80];
    struct statvfs disk;
    struct rlimit limit = {FILE_MAX, FILE_MAX};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    if (chdir(w->folder) != 0 || !folder_make(p, name, part))
        return false;
    readme_write(p, verdict);
    if (statvfs(".", &disk) != 0 || disk.f_bavail > disk.f_blocks / 20) {
        resources_write(p);
        process_write(p, died);
        if (*p->unit)
            watch_run("journalctl", journal, "journal.txt", NULL, 0, 10);
        text_write("kernel.txt", w->kernel_text);
        text_write("signals.txt", w->signals_text);
    }
    if (chdir("..") != 0 || rename(part, name) != 0)
        return false;
    incidents_forget(w->keep, w->size);
    return true;
}

void incident_keep(struct watcher *w, struct watched *p, const char *verdict,
                   bool died)
{
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0 && incident_write(w, p, verdict, died))
        _exit(0);
    if (child <= 0)
        watch_say(p, "no incident could be kept: %s", strerror(errno));
    if (child == 0)
        _exit(1);
    w->incidents += child > 0;
}

void incident_again(const struct watcher *w, struct watched *p)
{
    char path[4096], text[8192], start[64];
    struct dirent **all;
    int count = w->folder ? scandir(w->folder, &all, is_incident, NULL) : 0;
    snprintf(start, sizeof start, "started at tick %" PRIu64 "\n" HANG_AT,
             p->started);
    for (int i = 0; i < count; i++) {
        const char *at;
        int hung;
        unsigned long long mark;
        snprintf(path, sizeof path, "%.3000s/%s/README", w->folder,
                 all[i]->d_name);
        file_text(path, text, sizeof text);
        at = strstr(text, start);
        if (at && sscanf(strstr(at, HANG_AT), HANG_LINE, &hung, &mark) == 2)
            hang_again(p, hung, mark,
                       *text == 'P' ? VERDICT_PERHAPS : VERDICT_SURE);
        free(all[i]);
    }
    if (count > 0)
        free(all);
}

bool incident_show(const char *folder)
{
    static const char *const names[] = {"README", "threads-1.txt"};
    bool found = false;
    for (int i = 0; i < 2; i++) {
        char path[4096], text[65536];
        snprintf(path, sizeof path, "%.4000s/%s", folder, names[i]);
        if (!file_text(path, text, sizeof text))
            continue;
        printf("%s%s", found ? "\n" : "", text);
        found = true;
    }
    return found;
}
