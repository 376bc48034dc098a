/* follow.c - recorder follow: prints records as they are made. */
/* SPDX-License-Identifier: MIT */

#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <sys/vfs.h>

#include "filters.h"
#include "print.h"

enum { OPTION_COLOR = OPTION_OWN, OPTION_INTERVAL };
enum { IDLE_NS = 10000000, BUSY_NS = 1000000 }; /* between two looks */

static void show(struct call *call, bool in_color)
{
    struct reader_event event;
    bool as_json = call_option(call, 'j');
    while (reader_next(&call->reader, &event))
        if (as_json) {
            json_event(stdout, call, &event);
            putchar('\n');
        } else {
            line_write(stdout, call, &event, in_color, false);
        }
    stdout_flush(call);
}

/* Says how many records were overwritten before they were seen. */
static void say_missed(struct call *call, uint64_t *said)
{
    if (call->reader.missed == *said)
        return;
    warn(call, "%s%" PRIu64 " records missed",
         call->reader.missed_estimated ? "~" : "",
         call->reader.missed - *said);
    *said = call->reader.missed;
}

/* Says how many frames of a stream were lost: once a second, and at its end. */
static void say_lost(struct call *call, uint64_t *said, bool ends)
{
    static uint64_t said_ns;
    uint64_t now = recorder_clock_ns_(RECORDER_MONOTONIC_);
    if (call->source.frames_lost == *said ||
        (!ends && now - said_ns < 1000000000))
        return;
    said_ns = now;
    warn(call, "%" PRIu64 " frames lost", call->source.frames_lost - *said);
    *said = call->source.frames_lost;
}

/* Ends a stream: gives up records that are missing, which count then. */
static void stream_settle(struct call *call, bool in_color)
{
    enum { TAKES = 5 }; /* the most that a missing record is waited for */
    for (int i = 0; i < TAKES; i++) {
        reader_take(&call->reader);
        show(call, in_color);
    }
}

/* After the end of a take: a board that started again is read from its first
 * record on. Null, or why it cannot be. */
static const char *board_again(struct call *call)
{
    const char *wrong = source_stream_again(&call->source);
    if (wrong)
        return wrong;
    warn(call, "the board started again");
    reader_close(&call->reader);
    call_reader_open(call);
    call->reader.follows = true;
    return NULL;
}

/* Opens a file to ask for read leases, which tell if it is being written.
 * Returns -1 if its file system has no leases. */
static int lease_open(const struct call *call)
{
    int fd = call->source.pid
                 ? -1
                 : open(call->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct statfs is;
    if (fd >= 0 && fstatfs(fd, &is) == 0 && is.f_type != OVERLAYFS_SUPER_MAGIC)
        return fd; /* an overlay does not know who maps its files */
    if (fd >= 0)
        close(fd);
    return -1;
}

/* True if the program of a recording has ended: a read lease is granted only if
 * no process has the file open or mapped for writing. Its process id may be of
 * another namespace, or reused; it is checked only where leases do not work. */
static bool is_gone(const struct call *call, int fd)
{
    if (call->source.pid)
        return false;
    if (fd >= 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(fd, F_SETLEASE, F_UNLCK);
        return true;
    }
    if (fd >= 0 && errno == EAGAIN)
        return false;
    return kill((pid_t)call->reader.pid, 0) != 0 && errno == ESRCH;
}

/* Waits the interval, or 10 x the last take: copying costs the program memory
 * bandwidth. Polls stdout, because a quiet program would never make us notice
 * that it is closed. */
static void wait_after(uint64_t interval_ns, uint64_t taking_ns)
{
    uint64_t ns = 10 * taking_ns > interval_ns ? 10 * taking_ns : interval_ns;
    struct timespec wait = {(time_t)(ns / 1000000000u),
                            (long)(ns % 1000000000u)};
    struct pollfd out = {.fd = 1};
    if (ppoll(&out, 1, &wait, NULL) > 0) {
        raise(SIGPIPE);
        exit(1); /* where that is ignored */
    }
}

static int follow(struct call *call)
{
    const char *interval = call_option(call, OPTION_INTERVAL);
    const char *last = call_option(call, 'l'), *wrong;
    bool in_color = line_color(call, call_option(call, OPTION_COLOR)), is_flash;
    uint64_t wait_ns = IDLE_NS, least_ns = BUSY_NS, most_ns = IDLE_NS;
    uint64_t said = 0, said_lost = 0, taking_ns = 0, end = 0;
    int fd;
    if (interval) {
        unsigned ms;
        char more;
        if (sscanf(interval, "%u%c", &ms, &more) != 1 || ms < 1 || ms > 60000)
            misuse(call, "--interval %s: 1 to 60000 milliseconds", interval);
        wait_ns = least_ns = most_ns = (uint64_t)ms * 1000000;
    }
    is_flash = call->arguments_count && source_is_flash(call->arguments[0]);
    if (!last && !is_flash)
        call->selection.last = 10;
    call_open(call, 0);
    if (is_flash)
        warn(call, "each page was erased %" PRIu64 " times",
             call->source.erased);
    if (!call->source.pid && !call->source.memory->live)
        fail(call, "is a core file: nothing is added to it; use recorder dump");
    call->reader.follows = true;
    call_take(call);
    call->reader.missed = 0; /* records that were gone before do not count */
    if (!last || call->selection.last)
        show(call, in_color);
    call->selection.last = 0;
    wrong = filters_wrong(call->selection.filters, &call->reader);
    if (wrong)
        warn(call, "--where: %s", wrong);
    reader_select(&call->reader, &call->selection);
    fd = lease_open(call);
    signal(SIGIO, SIG_IGN); /* comes when another process breaks a lease */
    do {
        bool ended = is_gone(call, fd);
        if (!call->source.memory->more)
            wait_after(wait_ns, taking_ns);
        taking_ns = recorder_clock_ns_(RECORDER_MONOTONIC_);
        wrong = reader_take(&call->reader);
        taking_ns = recorder_clock_ns_(RECORDER_MONOTONIC_) - taking_ns;
        show(call, in_color);
        wait_ns = call->reader.end != end ? least_ns
                  : 2 * wait_ns < most_ns ? 2 * wait_ns
                                          : most_ns;
        end = call->reader.end;
        if (ended && !wrong) { /* delivers the held-back events */
            wrong = READER_GONE;
            reader_take(&call->reader);
            show(call, in_color);
        }
        if (wrong && call->source.memory->advance)
            stream_settle(call, in_color);
        say_missed(call, &said);
        say_lost(call, &said_lost, wrong);
        if (wrong && call->source.memory->advance) {
            wrong = board_again(call);
            said = 0;
        }
    } while (!wrong);
    warn(call, "%s", wrong);
    return strcmp(wrong, READER_GONE) == 0 || strcmp(wrong, STREAM_ENDED) == 0
               ? 0
               : 1;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line"},
    {OPTION_INTERVAL, "interval", "MS",
     "look every MS milliseconds: 10, and 1 while records come"},
    {OPTION_COLOR, "color", "WHEN",
     "always, never, or auto: on a terminal, unless NO_COLOR is set"},
    {0, NULL, NULL, NULL}};

const struct verb verb_follow = {
    .name = "follow",
    .arguments = "SOURCE",
    .summary = "prints the last records, then each new record",
    .help =
        "Any number of followers may follow one program; each has a separate "
        "position, and reports on stderr the number of records that it missed "
        "(~: an estimate, if records take several slots). follow ends with the "
        "program, and shows the last records: all of them if the program has a "
        "recording (RECORDER_FILE), else all before the last interval. --last "
        "is 10 here; 0 shows only new records. flash:IMAGE shows all records.",
    .for_people = true,
    .rows = rows,
    .selects = true,
    .run = follow,
    .kernel = true,
    .follows = true};
