/* RECORDER_TRACE: records that are printed at once, or not made. */
/* SPDX-License-Identifier: MIT */
#include "harness/capture.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

RECORDER(traced, 1024, "What is traced");
RECORDER(quiet, 1024, "What is not");

/* stderr as a socket that keeps writes apart: one write, one packet. */
static int packets;
static struct caught *caught;
static void begin(void)
{
    int ends[2], bytes = 1 << 20;
    caught = catcher((size_t)4 << 20);
    cr_assert(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    cr_assert(dup2(ends[0], 2) == 2);
    close(ends[0]);
    packets = ends[1];
    cr_assert(recorder_line("{order} {recorder}: {message}"));
    RECORDER_TRACE(traced) = 1;
}
TestSuite(trace, .init = begin, .timeout = 240);

/* The next write, as text; empty where there is none. */
static const char *packet(void)
{
    static char text[70000];
    long size = recv(packets, text, sizeof text - 1, MSG_DONTWAIT);
    text[size > 0 ? size : 0] = '\0';
    return text;
}
#define PACKET_MUST_BE(expected)                                               \
    do {                                                                       \
        const char *is_ = packet(), *must_ = expected;                         \
        cr_assert_str_eq(is_, must_, "\nis: %s\nmust be: %s", is_, must_);     \
    } while (0)

/* Goal: a traced record is printed at once, by one write, as the dump prints it
 * later; it is recorded, too, and returns its order. Method: all kinds of
 * arguments. */
Test(trace, prints_at_once_and_records)
{
    uintptr_t order;
    char buffer[] = "copied text of more than one record, which has 32 bytes";
    char must[400];
    uintptr_t text = (sizeof buffer - 1 + RECORDER_TEXT_BYTES_ - 1) /
                     RECORDER_TEXT_BYTES_; /* records of it */
    record(quiet, "nothing");
    PACKET_MUST_BE("");
    order = record(traced, "none");
    cr_assert_eq(order, 2);
    PACKET_MUST_BE("2 traced: none\n");
    record(traced, "%d %s %g", 1, "two", 3.5);
    PACKET_MUST_BE("3 traced: 1 two 3.5\n");
    record(traced, "%d %d %d %d %d\n", 1, 2, 3, 4, 5);
    PACKET_MUST_BE("4 traced: 1 2 3 4 5\n");
    order = record(traced, "%d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5,
                   6, 7, 8, 9, 10, 11, 12);
    cr_assert_eq(order, 6);
    PACKET_MUST_BE("6 traced: 1 2 3 4 5 6 7 8 9 10 11 12\n");
    record(traced, "<%s>", RECORDER_COPY(traced, buffer));
    sprintf(must, "%zu traced: <%s>\n", (size_t)(9 + text), buffer);
    PACKET_MUST_BE(must);
    record(traced, "a\nb %s", "c\nd");
    sprintf(must, "%zu traced: a\\nb c\\nd\n", (size_t)(10 + text));
    PACKET_MUST_BE(must);
    RECORDER_TRACE(traced) = 0;
    record(traced, "recorded only");
    PACKET_MUST_BE("");
    sprintf(must,
            "1 quiet: nothing\n2 traced: none\n3 traced: 1 two 3.5\n"
            "4 traced: 1 2 3 4 5\n6 traced: 1 2 3 4 5 6 7 8 9 10 11 12\n"
            "%zu traced: <%s>\n%zu traced: a\\nb c\\nd\n"
            "%zu traced: recorded only\n",
            (size_t)(9 + text), buffer, (size_t)(10 + text),
            (size_t)(11 + text));
    DUMP_MUST_BE(must);
}

/* Goal: the default line, too. */
Test(trace, prints_the_default_line)
{
    char must[100];
    int line;
    recorder_line(NULL);
    record(traced, "here"), line = __LINE__;
    sprintf(must, " trace.c:%d T1] traced: here\n", line);
    cr_assert_not_null(strstr(packet(), must));
}

/* Goal: a long message is one line by one write, whole or marked as cut. */
Test(trace, long_messages_are_one_line)
{
    static char text[6000];
    size_t size;
    for (size = 0; size < sizeof text - 1; size += 37) {
        const char *is;
        memset(text, 'x', size);
        text[size] = '\0';
        record(traced, "%s", text);
        is = packet();
        cr_assert_eq(lines_in(is), 1, "%zu", size);
        cr_assert(strlen(is) >= size || strstr(is, "...[cut]\n"), "%zu: %s",
                  size, is);
        cr_assert_leq(strlen(is), RECORDER_TEXT_LINE_MAX_);
        PACKET_MUST_BE("");
    }
}

static int evaluated;
static int evaluate(void)
{
    return ++evaluated;
}
/* Goal: -1 is off: no argument is evaluated, the value is 0, nothing is
 * recorded or printed; back on, it records. */
Test(trace, off_evaluates_nothing)
{
    uintptr_t order;
    RECORDER_TRACE(traced) = -1;
    order = record(traced, "%d", evaluate());
    order |= record(traced, "%d %d %d %d %d", evaluate(), 2, 3, 4, 5);
    order |= record(traced, "%d %s", evaluate(), RECORDER_COPY(traced, "text"));
    cr_assert_eq(order, 0);
    cr_assert_eq(evaluated, 0);
    PACKET_MUST_BE("");
    DUMP_MUST_BE("");
    cr_assert_eq(*recorder_home_.order, 1);
    RECORDER_TRACE(traced) = 0;
    order = record(traced, "%d", evaluate());
    cr_assert_eq(order, 1);
    DUMP_MUST_BE("1 traced: 1\n");
}

/* --------------------------------------------------------------- threads -- */

enum { THREADS = 8 };
static unsigned each;
static void *trace_on(void *of)
{
    unsigned thread = (unsigned)(uintptr_t)of, i;
    for (i = 0; i < each; i++)
        if (i % 2)
            record(traced, "%u.%u %u", thread, i, thread ^ i);
        else
            record(traced, "%u.%u %u %d %d %d %d", thread, i, thread ^ i, 4, 5,
                   6, 7);
    return NULL;
}
/* Goal: from 8 threads no line is mixed and none is missing: one write a line.
 * Method: each packet must be a line that is consistent with itself. */
Test(trace, eight_threads_mix_no_line)
{
    pthread_t threads[THREADS];
    static unsigned next[THREADS];
    unsigned i, n;
    each = scaled(2000);
    for (i = 0; i < THREADS; i++)
        cr_assert(pthread_create(&threads[i], NULL, trace_on,
                                 (void *)(uintptr_t)i) == 0);
    for (n = 0; n < each * THREADS; n++) {
        char line[300];
        unsigned thread, number, both;
        long size = recv(packets, line, sizeof line - 1, 0);
        cr_assert_gt(size, 0);
        line[size] = '\0';
        cr_assert_eq(sscanf(line, "%*u traced: %u.%u %u", &thread, &number,
                            &both), 3, "%s", line);
        cr_assert_eq(lines_in(line), 1, "%s", line);
        cr_assert(thread < THREADS && both == (thread ^ number), "%s", line);
        if (number % 2 == 0)
            cr_assert_not_null(strstr(line, " 4 5 6 7\n"), "%s", line);
        cr_assert_eq(number, next[thread]++, "%s", line);
    }
    PACKET_MUST_BE("");
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ----------------------------------------------------------- the outside -- */

/* Goal: stderr closed, full, or a pipe without a reader harms nothing; errno is
 * kept, and no SIGPIPE is left. */
Test(trace, a_bad_stderr_harms_nothing)
{
    int status;
    IN_CHILD(status, 60, {
        int fds[2];
        sigset_t pending;
        signal(SIGPIPE, SIG_DFL);
        errno = 77;
        record(traced, "into a socket");
        if (errno != 77)
            _exit(1);
        if (pipe(fds) != 0)
            _exit(2);
        close(fds[0]);
        dup2(fds[1], 2);
        errno = 77;
        record(traced, "into a pipe without a reader");
        if (errno != 77)
            _exit(3);
        sigpending(&pending);
        if (sigismember(&pending, SIGPIPE))
            _exit(4);
        dup2(open("/dev/full", O_WRONLY), 2);
        errno = 77;
        record(traced, "into a full disk");
        if (errno != 77)
            _exit(5);
        close(2);
        record(traced, "nowhere");
        if (errno != 77)
            _exit(6);
        if (catch_dump(caught), caught->shown != 4)
            _exit(7);
        _exit(42);
    });
    MUST_EXIT(status, 42);
}

static char *handler_at;
__attribute__((noinline)) static void trace_here(int sig)
{
    char here;
    handler_at = &here;
    record(traced, "signal %d %.30f %s", sig, sizeof(void *) == 8 ? 1e300 : 1e30,
           "in a handler");
}
/* Goal: a traced record may be made in a signal handler, also one that comes in
 * the middle of another's printing, on a small stack. Method: a painted stack;
 * then a storm of signals while others are traced. */
Test(trace, in_a_signal_handler)
{
    static char stack_of[65536];
    stack_t stack = {.ss_sp = stack_of, .ss_size = sizeof stack_of};
    struct sigaction action = {.sa_handler = trace_here,
                               .sa_flags = SA_ONSTACK | SA_RESTART};
    unsigned i, signals = 0, lines = 0, n = scaled(1000);
    size_t unused = 0, frame;
    char must[40];
    record(traced, "%s", "binds what it calls");
    packet();
    memset(stack_of, 0xa5, sizeof stack_of);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    while ((unsigned char)stack_of[unused] == 0xa5)
        unused++;
    frame = (size_t)(stack_of + sizeof stack_of - handler_at);
    sprintf(must, " traced: signal %d 10000000", SIGUSR2);
    cr_assert_not_null(strstr(packet(), must));
    printf("in_a_signal_handler: the kernel takes %zu, a traced record %zu "
           "bytes\n", frame, sizeof stack_of - unused - frame);
    if (!instrumented())
        cr_assert_leq(sizeof stack_of - unused - frame, 6 * 1024);
    for (i = 0; i < n; i++) {
        const char *line;
        record(traced, "%u %u %u %u %u", i, i, i, i, i);
        raise(SIGUSR2);
        while (*(line = packet())) {
            cr_assert_eq(lines_in(line), 1);
            signals += strstr(line, "signal ") != NULL;
            lines++;
        }
    }
    cr_assert_eq(lines, 2 * n);
    cr_assert_eq(signals, n);
}
