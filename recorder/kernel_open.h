/* kernel_open.h - opens the kernel's rings of context switches. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_KERNEL_OPEN_H_
#define RECORDER_KERNEL_OPEN_H_

#include "kernel.h"
#include "os_file.h"
#include "output.h"

RECORDER_C_BEGIN_

enum {
    RECORDER_KERNEL_KIB_MAX_ = 65536,
    RECORDER_KERNEL_MS_MAX_ = 60000,
    RECORDER_KERNEL_CPUS_ = 4096,
    RECORDER_KERNEL_TASKS_ = 16384, /* threads that exist already */
    RECORDER_EPERM_ = 1,
    RECORDER_ENODEV_ = 19,
    RECORDER_EINVAL_ = 22,
    RECORDER_EMFILE_ = 24
};

/* ------------------------------------------------------------------- say -- */

/* Says "recorder: switches: WHAT NUMBER REST"; null: "; continues without". */
RECORDER_SELDOM_ void recorder_kernel_say_(const char *what, uint64_t number,
                                           const char *rest)
{
    struct recorder_string_ say;
    char text[400];
    say = recorder_string_at_(text, sizeof text);
    recorder_add_string_(&say, "recorder: switches: ");
    recorder_add_string_(&say, what);
    if (number) {
        recorder_add_string_(&say, " ");
        recorder_add_number_(&say, number, 10, 1);
    }
    recorder_add_string_(&say, rest ? rest : "; continues without");
    recorder_add_string_(&say, "\n");
    recorder_say_(&say);
}

/* Says why the kernel refuses events, and a cure. */
RECORDER_SELDOM_ void recorder_kernel_refused_(int error)
{
    char text[16] = "";
    size_t size = recorder_os_file_("/proc/sys/kernel/perf_event_paranoid",
                                        text, sizeof text - 1);
    if (error == RECORDER_ENOSYS_)
        recorder_kernel_say_(
            "this kernel has no perf events, or a sandbox hides them", 0, NULL);
    else if (error == RECORDER_EMFILE_)
        recorder_kernel_say_("the process has no descriptor left for each "
                             "processor (ulimit -n)", 0, NULL);
    else if (error == RECORDER_ENODEV_)
        recorder_kernel_say_(
            "the kernel has perf events for none of its processors", 0, NULL);
    else if (error != RECORDER_EPERM_ && error != RECORDER_EACCES_)
        recorder_kernel_say_("the kernel refuses perf_event_open() by error",
                             (uint64_t)error, NULL);
    else if (size && text[0] >= '3' && text[0] <= '9')
        recorder_kernel_say_(
            "kernel.perf_event_paranoid is", (uint64_t)(text[0] - '0'),
            ": sysctl kernel.perf_event_paranoid=2 lets every user see its own "
            "switches, CAP_PERFMON this program; continues without");
    else
        recorder_kernel_say_("a sandbox refuses perf_event_open(): have the "
                             "container's seccomp profile allow it", 0, NULL);
}
RECORDER_SELDOM_ void recorder_kernel_unmapped_(int error, unsigned kib)
{
    if (error == RECORDER_EPERM_)
        recorder_kernel_say_(
            "this user's locked memory is used up, by rings of", kib,
            " KiB a processor: a smaller size, ulimit -l, or sysctl "
            "kernel.perf_event_mlock_kb gives room; continues without");
    else
        recorder_kernel_say_("the kernel maps no ring, by error",
                             (uint64_t)error, NULL);
}

/* ------------------------------------------------------------------ open -- */

/* Closes the descriptors, as far as they are still ours, and the rings. */
RECORDER_SELDOM_ void recorder_kernel_close_(struct recorder_kernel_ *k,
                                             bool mapped)
{
    uint64_t i, count = k->rings_count;
    k->shown.count = k->rings_count = 0;
    k->pid = 0;
    for (i = 0; i < count; i++) {
        const struct recorder_kernel_ring *ring = &k->rings[i].shown;
        if (mapped)
            recorder_os_unmap_((void *)(uintptr_t)ring->address,
                               (size_t)k->shown.bytes);
        if (recorder_perf_is_((int)ring->fd))
            recorder_os_close_((int)ring->fd);
    }
    for (i = 0; i < k->extra_count; i++)
        if (recorder_perf_is_(k->extra[i]))
            recorder_os_close_(k->extra[i]);
    k->extra_count = 0;
}

/* Maps the ring of an event. Returns 0, or errno. */
RECORDER_SELDOM_ int recorder_kernel_map_(struct recorder_kernel_ *k, int fd,
                                          unsigned cpu)
{
    struct recorder_kernel_ring_ *ring = &k->rings[k->rings_count];
    void *at = recorder_os_mmap_(NULL, (size_t)k->shown.bytes, 1 /* read */,
                                 1 /* shared */, fd, 0);
    if (at == (void *)-1)
        return *recorder_os_errno_();
    __builtin_memset(ring, 0, sizeof *ring);
    ring->shown.fd = (uint64_t)fd;
    ring->shown.cpu = cpu;
    ring->shown.address = (uintptr_t)at;
    ring->shown.done = recorder_kernel_head_(ring);
    k->rings_count++;
    return 0;
}

/* Opens a ring for each processor. Returns 0, or errno after a message. */
RECORDER_SELDOM_ int recorder_kernel_cpus_(struct recorder_kernel_ *k,
                                           struct recorder_perf_event_ *event)
{
    unsigned cpu;
    for (cpu = 0; cpu < RECORDER_KERNEL_CPUS_; cpu++) {
        long fd = recorder_perf_open_(event, 0, (long)cpu);
        int error;
        if (fd == -RECORDER_EINVAL_ && k->shown.count == 0 &&
            (event->flags & RECORDER_PERF_INHERIT_THREAD_)) {
            event->flags &= ~RECORDER_PERF_INHERIT_THREAD_; /* an older one */
            fd = recorder_perf_open_(event, 0, (long)cpu);
        }
        if (fd == -RECORDER_ENODEV_)
            continue; /* this one is off */
        if (fd == -RECORDER_EINVAL_ && k->shown.count)
            break; /* there are no more */
        if (fd < 0) {
            recorder_kernel_refused_((int)-fd);
            return (int)-fd;
        }
        error = recorder_kernel_map_(k, (int)fd, cpu);
        if (error) {
            recorder_os_close_((int)fd);
            recorder_kernel_unmapped_(error, k->kib);
            return error;
        }
        k->shown.count++;
    }
    if (k->shown.count)
        return 0;
    recorder_kernel_refused_(RECORDER_ENODEV_);
    return RECORDER_ENODEV_;
}

/* Opens the other events of a processor, with a ring for all of them, as far as
 * the kernel lets this user. */
RECORDER_SELDOM_ void
recorder_kernel_others_(struct recorder_kernel_ *k, unsigned cpu,
                        const struct recorder_perf_event_ *switches)
{
    struct recorder_kernel_ring_ *ring = &k->rings[k->rings_count];
    unsigned kind;
    long fd, first = -1;
    for (kind = 0; kind < RECORDER_KERNEL_OTHERS_; kind++) {
        struct recorder_perf_event_ event = *switches;
        if (kind == RECORDER_KERNEL_STOP_ && !recorder_perf_stop_set_(&event))
            continue;
        if (kind == RECORDER_KERNEL_MEMORY_)
            recorder_perf_sample_set_(&event, 1, 5 /* PAGE_FAULTS_MIN */,
                                      RECORDER_KERNEL_FAULTS_);
        if (kind == RECORDER_KERNEL_DISK_)
            recorder_perf_sample_set_(&event, 1, 6 /* PAGE_FAULTS_MAJ */, 1);
        fd = recorder_perf_open_(&event, 0, (long)cpu);
        if (fd < 0)
            continue;
        if (first < 0 ? recorder_kernel_map_(k, (int)fd, cpu) != 0
                      : !recorder_perf_join_((int)fd, (int)first)) {
            recorder_os_close_((int)fd);
            continue;
        }
        if (first < 0)
            first = fd;
        else
            k->extra[k->extra_count++] = (int32_t)fd;
        if (kind != RECORDER_KERNEL_STOP_ ||
            recorder_perf_stop_filter_((int)fd))
            ring->ids[kind] = recorder_perf_id_((int)fd);
    }
}

/* Allocates the data of each processor. */
RECORDER_SELDOM_ bool recorder_kernel_memory_(struct recorder_kernel_ *k)
{
    if (!k->rings)
        k->rings = (struct recorder_kernel_ring_ *)recorder_os_memory_(
            2 * RECORDER_KERNEL_CPUS_ * sizeof *k->rings);
    if (!k->extra)
        k->extra = (int32_t *)recorder_os_memory_(RECORDER_KERNEL_TASKS_ *
                                                  sizeof *k->extra);
    return k->rings && k->extra;
}

/* --------------------------------------------------------------- threads -- */

/* Reads the ids of this process's threads into `to`; returns how many. */
RECORDER_SELDOM_ unsigned recorder_kernel_tasks_(int32_t *to, unsigned max)
{
    char entries[2048];
    unsigned count = 0;
    long at, size,
        fd = recorder_syscall_(SYS_openat, (long)RECORDER_AT_CWD_,
                               "/proc/self/task", (long)RECORDER_O_CLOEXEC_);
    if (fd < 0)
        return 0;
    while ((size = recorder_syscall_(SYS_getdents64, fd, entries,
                                     sizeof entries)) > 0)
        for (at = 0; at < size;) {
            const char *entry = entries + at, *name = entry + 19;
            uint16_t bytes; /* of struct linux_dirent64, at 16 */
            int32_t id = 0;
            __builtin_memcpy(&bytes, entry + 16, sizeof bytes);
            for (; *name >= '0' && *name <= '9'; name++)
                id = id * 10 + (*name - '0');
            if (id && count < max)
                to[count++] = id;
            at += bytes;
        }
    recorder_os_close_((int)fd);
    return count;
}

/* Has one existing thread write into the rings of all processors. Returns 0, or
 * errno; EMFILE, too, if too few descriptors are free: the program shall have
 * three of four. */
RECORDER_SELDOM_ int
recorder_kernel_task_(struct recorder_kernel_ *k, int32_t id,
                      const struct recorder_perf_event_ *event)
{
    uint64_t i, most = recorder_kernel_descriptors_() / 4;
    if (most > RECORDER_KERNEL_TASKS_)
        most = RECORDER_KERNEL_TASKS_;
    if (k->extra_count + 2 * k->shown.count > most)
        return RECORDER_EMFILE_;
    for (i = 0; i < k->shown.count; i++) {
        const struct recorder_kernel_ring *ring = &k->rings[i].shown;
        long fd = recorder_perf_open_(event, id, (long)ring->cpu);
        if (fd == -RECORDER_ENODEV_)
            continue; /* this event is off now */
        if (fd < 0)
            return fd == -RECORDER_ESRCH_ ? 0 : (int)-fd; /* it has ended */
        if (!recorder_perf_join_((int)fd, (int)ring->fd)) {
            int error = *recorder_os_errno_();
            recorder_os_close_((int)fd);
            return error;
        }
        k->extra[k->extra_count++] = (int32_t)fd;
    }
    return 0;
}

/* Does so with all threads but the calling one. Looks again until no thread is
 * new: one that had no event may have started others. Returns how many have
 * none, and puts why the first one has none into *error. */
RECORDER_SELDOM_ unsigned
recorder_kernel_threads_(struct recorder_kernel_ *k,
                         const struct recorder_perf_event_ *event, int *error)
{
    const size_t bytes = RECORDER_KERNEL_TASKS_ * sizeof(int32_t);
    int32_t *known = (int32_t *)recorder_os_memory_(2 * bytes);
    int32_t *now = known ? known + RECORDER_KERNEL_TASKS_ : NULL;
    unsigned count = 1, without = 0, fresh = 1, looks, i, j;
    int refused;
    *error = 0;
    if (!known) {
        *error = RECORDER_ENOMEM_;
        return 1;
    }
    known[0] = recorder_os_thread_();
    for (looks = 0; fresh && looks < 10; looks++) {
        unsigned all = recorder_kernel_tasks_(now, RECORDER_KERNEL_TASKS_);
        fresh = 0;
        for (i = 0; i < all; i++) {
            for (j = 0; j < count && known[j] != now[i]; j++)
                ;
            if (j < count || count == RECORDER_KERNEL_TASKS_)
                continue;
            known[count++] = now[i];
            refused = recorder_kernel_task_(k, now[i], event);
            without += refused != 0;
            if (!*error)
                *error = refused;
            fresh++;
        }
    }
    recorder_os_unmap_(known, 2 * bytes);
    return without;
}

/* ---------------------------------------------------------------- thread -- */

RECORDER_SELDOM_ void *recorder_kernel_run_(void *of)
{
    struct recorder_kernel_ *k = (struct recorder_kernel_ *)of;
    recorder_syscall_(SYS_prctl, 15L /* PR_SET_NAME */, "recorder", 0L, 0L, 0L);
    while (!__atomic_load_n(&k->closing, __ATOMIC_ACQUIRE)) {
        recorder_os_poll_(NULL, 0, (int)k->ms);
        recorder_kernel_pour_();
    }
    return NULL;
}

/* Starts the thread that pours, with all signals blocked. */
RECORDER_SELDOM_ int recorder_kernel_start_(struct recorder_kernel_ *k)
{
    struct recorder_signal_set_ before;
    int error = RECORDER_ENOSYS_;
    if (!k->ms || k->thread)
        return 0;
    recorder_os_block_(&before);
    if (recorder_pthread_create_)
        error =
            recorder_pthread_create_(&k->thread, NULL, recorder_kernel_run_, k);
    recorder_os_mask_(RECORDER_SIG_SETMASK_, &before, NULL);
    if (error) {
        k->thread = 0;
        recorder_kernel_say_("no thread can be started that pours, by error",
                             (uint64_t)error,
                             ": they are poured at dumps, crashes and the end");
    }
    return error;
}

/* ----------------------------------------------------------------- begin -- */

RECORDER_PROTOTYPE_ void recorder_kernel_forked_(void);

/* Opens all rings with `kib` and `ms`. Returns 0, or errno, after a message. */
RECORDER_SELDOM_ int recorder_kernel_begin_all_(struct recorder_kernel_ *k)
{
    struct recorder_perf_event_ event;
    struct recorder_moment now;
    uint64_t i;
    unsigned without;
    int error;
    if (!recorder_kernel_memory_(k)) {
        recorder_kernel_say_("there is no memory", 0, NULL);
        return RECORDER_ENOMEM_;
    }
    recorder_perf_event_set_(&event);
    k->shown.page_bytes = recorder_os_auxiliary_(6 /* AT_PAGESZ */);
    k->shown.bytes = k->shown.page_bytes + ((uint64_t)k->kib << 10);
    now = recorder_raw_now_();
    k->shown.opened_ticks = now.ticks;
    k->shown.opened_ns = now.monotonic_ns;
    k->ticks_per_ns = 0;
    error = recorder_kernel_cpus_(k, &event);
    if (error) {
        recorder_kernel_close_(k, true);
        return error;
    }
    /* The program shall have three of four descriptors. */
    if (k->others && k->shown.count * (1 + RECORDER_KERNEL_OTHERS_) <=
                         recorder_kernel_descriptors_() / 4)
        for (i = 0; i < k->shown.count; i++)
            recorder_kernel_others_(k, (unsigned)k->rings[i].shown.cpu, &event);
    without = recorder_kernel_threads_(k, &event, &error);
    if (without)
        recorder_kernel_say_(
            "set RECORDER_SWITCHES in the environment; without it, switches of",
            without, error == RECORDER_EMFILE_
                ? " threads are not recorded: descriptors are few (ulimit -n)"
            : error == RECORDER_EPERM_ || error == RECORDER_EACCES_
                ? " threads are not recorded: a sandbox refuses "
                  "perf_event_open() for them"
                : " threads are not recorded: the kernel refuses");
    __atomic_store_n(&k->pid, recorder_os_process_(), __ATOMIC_RELEASE);
    return 0;
}

/* Fills in the fields that readers and dumps look for, and publishes them. */
RECORDER_SELDOM_ void recorder_kernel_show_(struct recorder_kernel_ *k)
{
    struct recorder_registry *registry = recorder_home_.registry;
    k->shown.rings = (uintptr_t)k->rings;
    k->shown.ring_bytes = sizeof *k->rings;
    k->shown.recorder = (uintptr_t)&recorder_for_switches;
    /* Readers want these words whatever the text shows: see the vocabulary. By
     * `k` they know that all is recorded of a run but the end of a thread. */
    k->shown.formats[0] =
        (uintptr_t)RECORDER_FORMAT_("\1in k\2%.0sthread %d runs on cpu %hhu");
    k->shown.formats[1] = (uintptr_t)RECORDER_FORMAT_(
        "\1out b\2%.0sthread %d leaves cpu %hhu: blocks");
    k->shown.formats[2] = (uintptr_t)RECORDER_FORMAT_(
        "\1out p\2%.0sthread %d leaves cpu %hhu: preempted");
    k->shown.pour = recorder_kernel_pour_;
    k->shown.claim = recorder_kernel_claim_;
    k->shown.check = RECORDER_KERNEL_CHECK_(&k->shown);
    __atomic_store_n(&registry->kernel, &k->shown, __ATOMIC_SEQ_CST);
    if (!k->forks)
        recorder_os_at_fork_(NULL, NULL, recorder_kernel_forked_);
    k->forks = true;
}

/* Runs in the child of fork(), which has no mapping of the rings: forgets them,
 * and opens others. */
RECORDER_SELDOM_ void recorder_kernel_forked_(void)
{
    struct recorder_kernel_ *k = &recorder_kernel_;
    int *at = recorder_os_errno_(), error = *at;
    if (!k->pid || k->pid == recorder_os_process_())
        return;
    recorder_kernel_close_(k, false);
    __builtin_memset(k->known, 0, sizeof k->known);
    __builtin_memset(k->made, 0, sizeof k->made);
    k->shown.poured = k->shown.overwritten = 0;
    k->shown.sequence = (k->shown.sequence | 1) + 1;
    k->pouring = 0;
    k->thread = 0;
    if (recorder_kernel_begin_all_(k) == 0)
        recorder_kernel_start_(k);
    *at = error;
}

RECORDER_CALLED_SELDOM_ int recorder_kernel(unsigned kib, unsigned ms)
{
    struct recorder_kernel_ *k = &recorder_kernel_;
    struct recorder_registry *registry = recorder_home_.registry;
    int *at = recorder_os_errno_(), kept = *at, error = 0;
    if (kib > RECORDER_KERNEL_KIB_MAX_ || kib < 4 || (kib & (kib - 1)) ||
        ((uint64_t)kib << 10) < recorder_os_auxiliary_(6) ||
        ms > RECORDER_KERNEL_MS_MAX_) {
        recorder_kernel_say_(
            "a ring has 4 to 65536 KiB, a power of two and at least a page, and "
            "a pour comes each 1 to 60000 ms", 0, NULL);
        return RECORDER_EINVAL_;
    }
    if (registry->kernel && registry->kernel != &k->shown)
        return 0; /* another module has opened them */
    if (!k->pid) {
        k->kib = kib;
        error = recorder_kernel_begin_all_(k);
        if (!error)
            recorder_kernel_show_(k);
    }
    if (!error && ms && !k->thread) {
        k->ms = ms;
        error = recorder_kernel_start_(k);
    }
    *at = kept;
    return error;
}

RECORDER_CALLED_SELDOM_ void recorder_kernel_pour(void)
{
    recorder_kernel_ask_();
}

/* ----------------------------------------------------------- environment -- */

/* Reads a number; false: there is none. */
RECORDER_SELDOM_ bool recorder_kernel_read_(const char **text, unsigned *to)
{
    const char *from = *text;
    *to = recorder_format_number_(text);
    return *text != from;
}

/* Reads "64", "64,10" or "64,10,why", and opens the rings. */
RECORDER_SELDOM_ void recorder_kernel_environment_(const char *text)
{
    const char *at = text;
    unsigned kib = 0, ms = 0;
    bool right = recorder_kernel_read_(&at, &kib), others;
    if (right && *at == ',' && at[1] != 'w') {
        at++;
        right = recorder_kernel_read_(&at, &ms);
    }
    others = at[0] == ',' && at[1] == 'w' && at[2] == 'h' && at[3] == 'y';
    at += others ? 4 : 0;
    if (right && !*at) {
        recorder_kernel_.others = others;
        if (kib || ms)
            recorder_kernel(kib, ms);
        return;
    }
    recorder_complain_("RECORDER_SWITCHES=", text, 80,
                       "is not like 64, 64,10 or 64,10,why; continues without");
}

/* After the constructor that makes a recording, which needs a single thread. */
RECORDER_UNSEEN_ __attribute__((constructor(104))) static void
recorder_kernel_enter_all_(void)
{
    const char *text = recorder_os_environment_("RECORDER_SWITCHES");
    if (recorder_kernel_.asked)
        return;
    recorder_kernel_.asked = true;
    if (text && *text)
        recorder_kernel_environment_(text);
}

/* At the end of the program, the last switches go into its recording. */
RECORDER_UNSEEN_ __attribute__((destructor(104))) static void
recorder_kernel_leave_(void)
{
    struct recorder_kernel_ *k = &recorder_kernel_;
    recorder_kernel_ask_();
    if (!RECORDER_LIBRARY_ || recorder_home_.registry->kernel != &k->shown)
        return;
    __atomic_store_n(&recorder_home_.registry->kernel, NULL, __ATOMIC_SEQ_CST);
    recorder_readers_wait_();
    __atomic_store_n(&k->closing, 1, __ATOMIC_RELEASE);
    if (k->thread && recorder_pthread_join_)
        recorder_pthread_join_(k->thread, NULL);
    recorder_kernel_close_(k, true);
}

RECORDER_C_END_
#endif
