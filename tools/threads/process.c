/* process.c - the threads of a running process, by /proc: none is stopped. */
/* SPDX-License-Identifier: MIT */
#include "proc.h"
#include "threads.h"

#include <sys/syscall.h>

/* Reads the state, the innermost id, and the number of context switches. */
static bool status_read(const struct threads *threads, struct thread *thread)
{
    char text[8192];
    const char *state;
    if (!proc_text(threads->source->pid, thread->id, "status", text,
                   sizeof text))
        return false;
    state = strstr(text, "\nState:\t");
    thread->state = state ? state[strlen("\nState:\t")] : '?';
    thread->inside = proc_inside(text);
    if (!thread->inside)
        thread->inside = thread->id;
    thread->switches = proc_number(text, "\nvoluntary_ctxt_switches:") +
                       proc_number(text, "\nnonvoluntary_ctxt_switches:");
    return true;
}

/* Reads the thread's system call, stack pointer and program counter: "202 0x1
 * 0x2 0x3 0x4 0x5 0x6 0x7 0x8", "-1 0x7 0x8" outside of system calls, or
 * "running". */
static bool call_read(const struct threads *threads, struct thread *thread)
{
    const struct unwind_machine *machine = &threads->machine->unwind;
    char text[256];
    uint64_t sp, pc, *a = thread->arguments;
    thread->in_call = thread->has_registers = false;
    if (!proc_text(threads->source->pid, thread->id, "syscall", text,
                   sizeof text))
        return false;
    thread->in_call =
        sscanf(text,
               "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
               " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
               &thread->call, a, a + 1, a + 2, a + 3, a + 4, a + 5, &sp,
               &pc) == 9 &&
        thread->call >= 0;
    thread->has_registers =
        thread->in_call ||
        sscanf(text, "-1 %" SCNx64 " %" SCNx64, &sp, &pc) == 2;
    memset(&thread->registers, 0, sizeof thread->registers);
    if (!thread->has_registers)
        return true;
    thread->registers.value[machine->sp] = sp;
    thread->registers.value[machine->pc] = pc;
    thread->registers.known[machine->sp] = true;
    thread->registers.known[machine->pc] = true;
    return true;
}

bool process_look(struct threads *threads, struct thread *thread)
{
    if (!proc_name(threads->source->pid, thread->id, thread->name) ||
        !status_read(threads, thread))
        return false;
    call_read(threads, thread); /* a system may be without it */
    return true;
}

/* True if the thread did not run between two reads: same system call, same
 * count of context switches. A thread that began another wait has switched. */
bool process_stood(struct threads *threads, const struct thread *before)
{
    struct thread now = {.id = before->id};
    const struct unwind_machine *machine = &threads->machine->unwind;
    return call_read(threads, &now) && status_read(threads, &now) &&
           now.in_call == before->in_call && now.call == before->call &&
           memcmp(now.arguments, before->arguments, sizeof now.arguments) ==
               0 &&
           now.registers.value[machine->sp] ==
               before->registers.value[machine->sp] &&
           now.registers.value[machine->pc] ==
               before->registers.value[machine->pc] &&
           now.switches == before->switches;
}

/* ----------------------------------------------------------------- ages -- */

#ifndef PIDFD_THREAD /* Linux 6.9 */
#define PIDFD_THREAD O_EXCL
#endif

/* From Linux 6.9 on the inode of a thread's descriptor is a unique number,
 * which grows with each thread; earlier kernels have no thread descriptors. */
void process_age(struct thread *thread, int32_t process)
{
    char text[2048];
    struct stat file;
    int fd = (int)syscall(SYS_pidfd_open, thread->id, PIDFD_THREAD);
    if (fd >= 0 && fstat(fd, &file) == 0)
        thread->born = file.st_ino;
    if (fd >= 0)
        close(fd);
    thread->started =
        strtoull(proc_stat(process, thread->id, 22, text), NULL, 10);
}

/* --------------------------------------------------------------- threads -- */

const char *process_threads(struct threads *threads)
{
    int32_t *ids;
    size_t count = proc_threads(threads->source->pid, &ids), i, kept = 0;
    for (i = 0; i < count; i++) {
        struct thread *thread = threads_add(threads);
        if (!thread)
            break;
        thread->id = ids[i];
    }
    free(ids);
    for (i = 0; i < threads->count; i++)
        if (process_look(threads, &threads->all[i]))
            threads->all[kept++] = threads->all[i];
    threads->count = kept;
    return kept ? NULL : threads_wrong(threads, "has ended meanwhile");
}

bool process_has(const struct threads *threads, int32_t inside)
{
    struct threads now = {.source = threads->source,
                          .machine = threads->machine};
    bool has = false;
    char text[8];
    if (threads->all[0].id == threads->all[0].inside)
        return proc_text(threads->source->pid, inside, "comm", text,
                         sizeof text) != 0;
    process_threads(&now);
    for (size_t i = 0; i < now.count; i++)
        has |= now.all[i].inside == inside;
    free(now.all);
    return has;
}

bool process_file(const struct threads *threads, int fd, char *to, size_t size)
{
    char path[64];
    ssize_t got;
    if (!threads->source->pid || fd < 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", threads->source->pid, fd);
    got = readlink(path, to, size - 1);
    to[got > 0 ? got : 0] = '\0';
    return got > 0;
}

bool process_channel(const struct threads *threads, const struct thread *thread,
                     char *to, size_t size)
{
    return threads->source->pid &&
           proc_text(threads->source->pid, thread->id, "wchan", to, size) &&
           strcmp(to, "0") != 0;
}
