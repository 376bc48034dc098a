/* os_linux_kernel.h - Linux: context switches, as perf events have them. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_LINUX_KERNEL_H_
#define RECORDER_OS_LINUX_KERNEL_H_

#include "clock.h"
#include "os_linux_file.h"

RECORDER_C_BEGIN_

/* ---------------------------------------------------------------- events -- */

/* struct perf_event_attr as of Linux 4.1; `flags` are bit fields there.
 * tests/outside/kernel.c compares it with the system's. */
struct recorder_perf_event_ {
    uint32_t type, size;
    uint64_t config, period, sample_type, read_format, flags;
    uint32_t wakeup, breakpoint;
    uint64_t config_1, config_2, branches, registers;
    uint32_t stack;
    int32_t clock;
    uint64_t registers_interrupted;
    uint32_t watermark;
    uint16_t max_stack, reserved;
};
RECORDER_ASSERT_(sizeof(struct recorder_perf_event_) == 112,
                 "os_linux_kernel.h: struct recorder_perf_event_ has holes");
/* A bit field of `flags`, counted from its first. */
#define RECORDER_PERF_FLAG_(n)                                                 \
    ((uint64_t)1 << (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 63 - (n) : (n)))
#define RECORDER_PERF_INHERIT_THREAD_ RECORDER_PERF_FLAG_(35) /* Linux 5.13 */
enum { RECORDER_RAW_ = 4 /* CLOCK_MONOTONIC_RAW: not slewed by anyone */ };

/* Reads ticks and CLOCK_MONOTONIC_RAW, as monotonic_ns, at one moment: of five
 * tries, the shortest counts. */
RECORDER_SELDOM_ struct recorder_moment recorder_raw_now_(void)
{
    struct recorder_moment best = {0, 0, 0};
    uint64_t width = UINT64_MAX;
    unsigned i;
    for (i = 0; i < 5; i++) {
        uint64_t before = recorder_clock_ns_(RECORDER_RAW_);
        uint64_t ticks = recorder_ticks_();
        uint64_t after = recorder_clock_ns_(RECORDER_RAW_);
        if (after - before >= width)
            continue;
        width = after - before;
        best.ticks = ticks;
        best.monotonic_ns = before + width / 2;
    }
    return best;
}

/* PERF_RECORD_SWITCH, and PERF_RECORD_SAMPLE of other events: of one size, as
 * rings are read from their older ends. */
struct recorder_perf_switch_ {
    uint32_t type;
    uint16_t misc, size;
    uint32_t process, thread;
    uint64_t ns; /* CLOCK_MONOTONIC_RAW */
    union {
        uint32_t cpu; /* of a switch */
        uint64_t id;  /* of a sample's event */
    } of;
};
enum {
    RECORDER_PERF_SAMPLE_ = 9,
    RECORDER_PERF_SWITCH_ = 14,
    RECORDER_PERF_OUT_ = 1 << 13,
    RECORDER_PERF_PREEMPTED_ = 1 << 14,
    RECORDER_PERF_HEAD_ = 1024 /* offset of data_head in a ring's first page */
};

RECORDER_SELDOM_ void
recorder_perf_event_set_(struct recorder_perf_event_ *event)
{
    __builtin_memset(event, 0, sizeof *event);
    event->type = 1; /* PERF_TYPE_SOFTWARE */
    event->size = sizeof *event;
    event->config = 9;                             /* PERF_COUNT_SW_DUMMY */
    event->sample_type = 1 << 1 | 1 << 2 | 1 << 7; /* TID, TIME, CPU */
    event->flags = RECORDER_PERF_FLAG_(1) |        /* inherit */
                   RECORDER_PERF_FLAG_(5) |        /* exclude_kernel */
                   RECORDER_PERF_FLAG_(6) |        /* exclude_hv */
                   RECORDER_PERF_FLAG_(18) |       /* sample_id_all */
                   RECORDER_PERF_FLAG_(25) |       /* use_clockid */
                   RECORDER_PERF_FLAG_(26) |       /* context_switch */
                   RECORDER_PERF_FLAG_(27) |       /* write_backward */
                   RECORDER_PERF_INHERIT_THREAD_;
    event->clock = RECORDER_RAW_;
}

/* Returns a descriptor of the event for a thread, 0: the calling one, while it
 * is on a processor; minus errno where that cannot be. */
RECORDER_SELDOM_ long
recorder_perf_open_(const struct recorder_perf_event_ *event, int32_t thread,
                    long cpu)
{
    long fd = recorder_syscall_(SYS_perf_event_open, event, (long)thread, cpu,
                                -1L, 8L /* PERF_FLAG_FD_CLOEXEC */),
         high;
    if (fd < 0)
        return -(long)*recorder_os_errno_();
    /* Above the descriptors that programs use by number. */
    high = recorder_os_fcntl_((int)fd, 1030 /* F_DUPFD_CLOEXEC */, 100);
    if (high < 0 && fd > 2)
        return fd;
    recorder_os_close_((int)fd);
    return high < 0 ? -(long)*recorder_os_errno_() : high;
}

#if defined(__mips__) || defined(__powerpc__)
enum { RECORDER_IO_ = 1, RECORDER_IO_READS_, RECORDER_IO_WRITES_ = 4 };
enum { RECORDER_IO_SHIFT_ = 29 };
#else
enum { RECORDER_IO_, RECORDER_IO_WRITES_, RECORDER_IO_READS_ };
enum { RECORDER_IO_SHIFT_ = 30 };
#endif
/* Returns the number of a request for ioctl() on perf events, PERF_EVENT_IOC_...;
 * `size`: of the type that the kernel's header names. */
RECORDER_INLINE_ long recorder_perf_request_(unsigned way, size_t size,
                                             unsigned number)
{
    return (long)(way << RECORDER_IO_SHIFT_ | (unsigned)size << 16 |
                  (unsigned)'$' << 8 | number);
}

/* Sends the records of one event into the ring of another. */
RECORDER_SELDOM_ bool recorder_perf_join_(int fd, int ring)
{
    return recorder_syscall_(
               SYS_ioctl, (long)fd,
               recorder_perf_request_(RECORDER_IO_, 0, 5 /* SET_OUTPUT */),
               (long)ring) == 0;
}

/* ---------------------------------------------------------------- others -- */

/* Makes an event of samples out of the event of switches: `period` of them a
 * sample. */
RECORDER_SELDOM_ void
recorder_perf_sample_set_(struct recorder_perf_event_ *event, uint32_t type,
                          uint64_t config, uint64_t period)
{
    event->type = type;
    event->config = config;
    event->period = period;
    event->sample_type = 1 << 1 | 1 << 2 | 1 << 6; /* TID, TIME, ID */
    event->flags &= ~RECORDER_PERF_FLAG_(26);
}

/* Makes it the event of threads that stop for a signal or a debugger. False:
 * this user may not see where the kernel describes it. */
RECORDER_SELDOM_ bool
recorder_perf_stop_set_(struct recorder_perf_event_ *event)
{
    char text[16] = "";
    uint64_t number = 0;
    const char *at = text;
    if (!recorder_os_file_("/sys/kernel/tracing/events/sched/sched_switch/id",
                           text, sizeof text - 1) &&
        !recorder_os_file_(
            "/sys/kernel/debug/tracing/events/sched/sched_switch/id", text,
            sizeof text - 1))
        return false;
    for (; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    recorder_perf_sample_set_(event, 2 /* PERF_TYPE_TRACEPOINT */, number, 1);
    event->flags &= ~RECORDER_PERF_FLAG_(5); /* it is the kernel's own */
    return true;
}
RECORDER_SELDOM_ bool recorder_perf_stop_filter_(int fd)
{
    return recorder_syscall_(SYS_ioctl, (long)fd,
                             recorder_perf_request_(RECORDER_IO_WRITES_,
                                                    sizeof(char *),
                                                    6 /* SET_FILTER */),
                             "prev_state & 12" /* stopped, traced */) == 0;
}

/* Returns the id that samples of an event have; 0: it is not known. */
RECORDER_SELDOM_ uint64_t recorder_perf_id_(int fd)
{
    uint64_t id = 0;
    if (recorder_syscall_(SYS_ioctl, (long)fd,
                          recorder_perf_request_(RECORDER_IO_READS_,
                                                 sizeof(char *), 7 /* ID */),
                          &id) != 0)
        return 0;
    return id;
}

/* True if a descriptor still is a perf event: the program may have closed it,
 * and opened another file. */
RECORDER_SELDOM_ bool recorder_perf_is_(int fd)
{
    static const char wanted[] = "anon_inode:[perf_event]";
    struct recorder_string_ path;
    char name[40], link[sizeof wanted];
    path = recorder_string_at_(name, sizeof name - 1);
    recorder_add_string_(&path, "/proc/self/fd/");
    recorder_add_number_(&path, (uint64_t)fd, 10, 1);
    name[path.size] = '\0';
    return recorder_syscall_(SYS_readlinkat, (long)RECORDER_AT_CWD_, name, link,
                             sizeof link) == sizeof wanted - 1 &&
           __builtin_memcmp(link, wanted, sizeof wanted - 1) == 0;
}

/* ---------------------------------------------------------------- system -- */

/* Returns how many descriptors the process may have. */
RECORDER_SELDOM_ uint64_t recorder_kernel_descriptors_(void)
{
#if defined(__mips__)
    const long open_files = 5;
#else
    const long open_files = 7;
#endif
    uint64_t limits[2] = {0, 0}; /* struct rlimit64 */
    recorder_syscall_(SYS_prlimit64, 0L, open_files, (void *)0, limits);
    return limits[0];
}

/* Threads of the C library, where the program has them. */
extern int recorder_pthread_create_(uintptr_t *thread, const void *attributes,
                                    void *(*run)(void *), void *argument)
    RECORDER_LABEL_(pthread_create) __attribute__((weak));
extern int recorder_pthread_join_(uintptr_t thread, void **result)
    RECORDER_LABEL_(pthread_join) __attribute__((weak));

RECORDER_C_END_
#endif
