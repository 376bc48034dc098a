/* record.c - the switches of a program that records none, as a source. */
/* SPDX-License-Identifier: MIT */
/*
    The events are opened on each thread and processor; threads that come later
    inherit them. Readers find a registry in the command's own memory,
    with an empty recorder `switches` and the rings, which reader/kernel.c reads
    as it reads the rings of a program that has recorder_kernel.h.
*/
#include "kernel.h"

#include <elf.h>
#include <sys/mman.h>

#include "proc.h"
#include "recorder/layout.h"
#include "recorder/os_linux_kernel.h"

enum {
    SLOTS = 4,
    CPUS = 1024,
    RING_MOST = 4 << 20, /* bytes, as far as the user may lock them */
    RING_LEAST = 16 << 10,
    LOOK_NS = 20000000 /* between looks at the rings */
};

/* All that the reader reads: its memory begins here. */
struct kernel_source {
    struct memory memory;
    struct recorder_registry registry;
    struct recorder recorder;
    struct {
        struct recorder_ring ring;
        struct recorder_record records[SLOTS];
        uintptr_t commit[SLOTS];
        struct recorder_turn turns[SLOTS];
    } ring;
    struct recorder_kernel_rings kernel;
    struct recorder_kernel_ring rings[CPUS];
    uintptr_t order;
    char name[16], description[64], program[17];
    char formats[3][64];
    /* The command's own. */
    int pid;
    const void *mapped[CPUS];
    int *fds; /* of all events */
    size_t fds_count, fds_max;
    struct kernel_thread_name { /* that was there when it was opened */
        int32_t id;
        char name[17];
    } * threads;
    size_t threads_count, threads_max;
};

/* ---------------------------------------------------------------- memory -- */

static size_t own_read(struct memory *memory, uint64_t address, void *to,
                       size_t size)
{
    const struct kernel_source *own = (const struct kernel_source *)memory;
    uint64_t at = address - (uint64_t)(uintptr_t)own;
    if (at >= sizeof *own)
        return 0;
    if (size > sizeof *own - at)
        size = sizeof *own - at;
    memcpy(to, (const char *)own + at, size);
    return size;
}
static const void *own_descriptor(struct memory *memory, int fd, size_t size)
{
    const struct kernel_source *own = (const struct kernel_source *)memory;
    (void)size;
    return own->mapped[fd];
}
static void own_unmap(struct memory *memory, const void *at, size_t size)
{
    (void)memory, (void)at, (void)size; /* own_close() does */
}
/* A thread that has ended has the name that it had at first, if it was there
 * then. */
static bool own_thread(struct memory *memory, int32_t id, char name[16])
{
    const struct kernel_source *own = (const struct kernel_source *)memory;
    char text[17] = "";
    bool lives = proc_name(own->pid, id, text);
    for (size_t i = 0; i < own->threads_count && !lives; i++)
        if (own->threads[i].id == id)
            strcpy(text, own->threads[i].name);
    if (*text)
        memcpy(name, text, 16);
    return lives;
}

static void rings_close(struct kernel_source *own)
{
    for (size_t i = 0; i < own->kernel.count; i++)
        munmap((void *)(uintptr_t)own->mapped[i], own->kernel.bytes);
    for (size_t i = 0; i < own->fds_count; i++)
        close(own->fds[i]);
    own->kernel.count = own->fds_count = own->threads_count = 0;
}
static void own_close(struct source *source)
{
    struct kernel_source *own = (struct kernel_source *)source->memory;
    rings_close(own);
    free(own->fds);
    free(own->threads);
    free(own);
}

/* ------------------------------------------------------------------ open -- */

static const char *refused(struct source *source, long error)
{
    char paranoid[16] = "";
    const char *why = strerror((int)error);
    recorder_os_file_("/proc/sys/kernel/perf_event_paranoid", paranoid,
                      sizeof paranoid - 1);
    if (error == ESRCH)
        return source_wrong(source, "no such process");
    if (error == EACCES && *paranoid >= '3')
        return source_wrong(source,
                            "its switches cannot be read: "
                            "kernel.perf_event_paranoid is %.1s: sysctl "
                            "kernel.perf_event_paranoid=2 allows it, or root",
                            paranoid);
    if (error == ENOSYS)
        why = "this kernel has no perf events, or a sandbox hides them";
    else if (error == EDQUOT)
        why = "this user's locked memory is used up: ulimit -l, or sysctl "
              "kernel.perf_event_mlock_kb, gives room";
    else if (error == ENODEV)
        why = "the kernel has perf events for none of its processors";
    else if (error == EMFILE)
        why = "it has more threads than this command may have descriptors "
              "(ulimit -n)";
    else if (error == EPERM && *paranoid >= '0' && *paranoid <= '2')
        why = "a sandbox refuses perf_event_open(): have the container's "
              "seccomp profile allow it";
    else if (error == EACCES || error == EPERM)
        return source_wrong(source, "its switches cannot be read by this "
                                    "user: run as its owner, or as root");
    else
        return source_wrong(source,
                            "its switches cannot be read: "
                            "perf_event_open(): %s",
                            why);
    return source_wrong(source, "its switches cannot be read: %s", why);
}

/* Maps the ring of a processor. Returns 0, or errno; EDQUOT: the user may lock
 * no more memory. */
static long ring_map(struct kernel_source *own, int fd, unsigned cpu)
{
    struct recorder_kernel_ring *ring = &own->rings[own->kernel.count];
    void *at = mmap(NULL, own->kernel.bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return errno == EPERM ? EDQUOT : errno;
    *ring = (struct recorder_kernel_ring){
        .fd = own->kernel.count, .cpu = cpu, .address = (uintptr_t)at};
    ring->done = *(const uint64_t *)(const void *)((const char *)at +
                                                   RECORDER_PERF_HEAD_);
    own->mapped[own->kernel.count++] = at;
    return 0;
}

/* Opens a thread's events: the first one's have the rings. Returns 0, or
 * errno. */
static long thread_open(struct kernel_source *own, int32_t thread,
                        const struct recorder_perf_event_ *event)
{
    bool first = own->kernel.count == 0;
    unsigned cpu, i;
    for (cpu = i = 0; first ? cpu < CPUS : i < own->kernel.count; cpu++, i++) {
        long fd = recorder_perf_open_(
            event, thread, first ? (long)cpu : (long)own->rings[i].cpu);
        if (first && fd == -ENODEV)
            continue; /* it is off */
        if (first && fd == -EINVAL && own->kernel.count)
            break; /* there are no more */
        if (!first && fd == -ENODEV)
            continue; /* the processor is off */
        if (fd < 0)
            return -fd;
        *array_add(own->fds, own->fds_count, own->fds_max) = (int)fd;
        if (first) {
            long error = ring_map(own, (int)fd, cpu);
            if (error)
                return error;
        } else if (!recorder_perf_join_((int)fd, own->fds[i])) {
            return errno;
        }
    }
    return own->kernel.count ? 0 : ENODEV;
}

static bool thread_is_new(struct kernel_source *own, int32_t thread)
{
    struct kernel_thread_name *to;
    for (size_t i = 0; i < own->threads_count; i++)
        if (own->threads[i].id == thread)
            return false;
    to = array_add(own->threads, own->threads_count, own->threads_max);
    to->id = thread;
    proc_name(own->pid, thread, to->name);
    return true;
}

/* Opens the events of all threads, also of threads that start during the loop.
 * Returns 0, or errno. */
static long threads_open(struct kernel_source *own)
{
    struct recorder_perf_event_ event;
    bool fresh = true, first;
    long error = 0;
    recorder_perf_event_set_(&event);
    for (unsigned looks = 0; fresh && !error && looks < 10; looks++) {
        int32_t *ids;
        size_t count = proc_threads(own->pid, &ids);
        fresh = false;
        for (size_t i = 0; i < count && !error; i++) {
            if (!thread_is_new(own, ids[i]))
                continue;
            fresh = true;
            first = own->kernel.count == 0;
            error = thread_open(own, ids[i], &event);
            if (error == EINVAL && !own->fds_count &&
                (event.flags & RECORDER_PERF_INHERIT_THREAD_)) {
                event.flags &= ~RECORDER_PERF_INHERIT_THREAD_;
                error = thread_open(own, ids[i], &event);
            }
            if (error == ESRCH && (!first || !own->kernel.count))
                error = 0; /* it has ended */
        }
        free(ids);
    }
    return error ? error : own->kernel.count ? 0 : ESRCH;
}

/* Copies a format and its place in the source. */
static void format_put(char to[64], const char *text)
{
    int size = snprintf(to, 48, "%s", text);
    strcpy(to + size + 1, "kernel:1");
}

/* Makes the registry that the reader looks for, with an empty recorder. */
static void own_fill(struct kernel_source *own)
{
    static const unsigned char magic[16] = RECORDER_MAGIC;
    struct recorder_registry *registry = &own->registry;
    memcpy(registry->magic, magic, sizeof magic);
    registry->self = registry;
    registry->layout = RECORDER_LAYOUT;
    registry->bytes = sizeof *registry;
    registry->head_bytes = sizeof(struct recorder_ring);
    registry->first = &own->recorder;
    registry->order = &own->order;
    recorder_now_(&registry->start);
    registry->pid = own->pid;
    registry->program = own->program;
    registry->kernel = &own->kernel;
    own->order = 1;
    strcpy(own->name, "switches");
    strcpy(own->description, "Switches of threads, by the kernel");
    own->recorder = (struct recorder)RECORDER_INIT_(own->name, own->description,
                                                    &own->ring.ring,
                                                    sizeof own->ring, SLOTS, 1);
    format_put(own->formats[0], "\1in k\2%.0sthread %d runs on cpu %hhu");
    format_put(own->formats[1], "\1out b\2%.0sthread %d left cpu %hhu: blocks");
    format_put(own->formats[2],
               "\1out p\2%.0sthread %d left cpu %hhu: preempted");
    for (unsigned i = 0; i < 3; i++)
        own->kernel.formats[i] = (uintptr_t)own->formats[i];
    own->kernel.rings = (uintptr_t)own->rings;
    own->kernel.ring_bytes = sizeof *own->rings;
    own->kernel.recorder = (uintptr_t)&own->recorder;
}

/* Opens rings of the command for the switches of all threads of a process, as a
 * source with a recorder `switches`: reader.kernel shows the switches. Returns
 * null, or a message with the remedy; then nothing is open. */
static const char *kernel_source_open(struct source *source, int pid)
{
    struct kernel_source *own = need(calloc(1, sizeof *own));
    struct recorder_moment opened;
    long error = 0;
    memset(source, 0, sizeof *source);
    descriptors_raise();
    own->pid = pid;
    own->memory =
        (struct memory){.read = own_read,
                        .descriptor = own_descriptor,
                        .unmap = own_unmap,
                        .thread = own_thread,
                        .size = sizeof *own,
                        .word_bytes = sizeof(void *),
                        .machine = EM_NONE,
                        .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
                        .live = true,
                        .native = true};
    proc_name(pid, 0, own->program);
    own->kernel.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    own_fill(own);
    opened = recorder_raw_now_();
    own->kernel.opened_ticks = opened.ticks;
    own->kernel.opened_ns = opened.monotonic_ns;
    source->memory = &own->memory;
    source->close = own_close;
    source->registry = (uintptr_t)&own->registry;
    source->registries = 1;
    source->pid = pid;
    for (size_t size = RING_MOST; size >= RING_LEAST; size /= 2) {
        own->kernel.bytes = own->kernel.page_bytes + size;
        error = threads_open(own);
        if (error != EDQUOT)
            break;
        rings_close(own);
    }
    if (!error)
        return NULL;
    refused(source, error);
    source->memory = NULL;
    source->close = NULL;
    own_close(&(struct source){.memory = &own->memory});
    return source->why;
}

/* ---------------------------------------------------------------- record -- */

/* False: a process has ended, also if its parent has not asked for it yet: then
 * its first thread alone is left. */
static bool is_running(int pid)
{
    char text[2048];
    const char state = *proc_stat(pid, 0, 3, text);
    return state && (!strchr("ZX", state) ||
                     strtoul(proc_stat(pid, 0, 20, text), NULL, 10) > 1);
}

bool kernel_record(struct call *call, int pid, uint64_t ns)
{
    const char *wrong = kernel_source_open(&call->source, pid);
    uint64_t end = recorder_clock_ns_(RECORDER_MONOTONIC_) + ns, now;
    if (!is_running(pid))
        fail(call, "no such process, or it has ended");
    if (wrong) {
        warn(call, "%s", wrong);
        return false;
    }
    call_reader_open(call);
    call->reader.codes = call->codes;
    call->reader.kernel = true;
    do { /* before the rings are full */
        reader_kernel(&call->reader);
        now = recorder_clock_ns_(RECORDER_MONOTONIC_);
    } while (now < end && is_running(pid) &&
             !stop_wait(end - now < LOOK_NS ? end - now : LOOK_NS));
    call_take(call);
    stop_over();
    return true;
}
