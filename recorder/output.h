/* output.h - where the text of dumps and traces goes. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OUTPUT_H_
#define RECORDER_OUTPUT_H_

#include "text.h"

RECORDER_C_BEGIN_

/* Where lines go: to a function of the user's, or through a buffer to a
 * descriptor; without an operating system, to RECORDER_WRITE. */
RECORDER_PROGRAM_ int recorder_output_fd_ = 2; /* of dumps and traces */
struct recorder_output_ {
    recorder_sink *sink;
    void *context;
    int fd;
    char *gathered;
    size_t gathered_size, gathered_max;
    bool failed;          /* a write failed: nothing more is written */
    uint64_t patience_ns; /* longest wait for a reader; 0: no limit */
};

/* Adds a path of its pattern: %p is the process id, %e the program's name, %h
 * the host's unless that is null, %t the seconds since 1970, %% a percent. */
RECORDER_SELDOM_ void recorder_add_path_(struct recorder_string_ *to,
                                         const char *pattern, uint64_t process,
                                         const char *program, const char *host)
{
    for (; *pattern; pattern++) {
        char c = pattern[0] == '%' ? pattern[1] : '\0';
        if (c == 'p')
            recorder_add_number_(to, process, 10, 1);
        else if (c == 'e')
            recorder_add_string_(to, program);
        else if (c == 'h' && host)
            recorder_add_string_(to, host);
        else if (c == 't')
            recorder_add_number_(to, recorder_clock_realtime_() / 1000000000u,
                                 10, 1);
        else
            recorder_add_text_(to, pattern, 1);
        pattern +=
            c == 'p' || c == 'e' || (c == 'h' && host) || c == 't' || c == '%';
    }
}

/* Makes an output that writes to a descriptor. */
RECORDER_INLINE_ struct recorder_output_ recorder_output_to_(int fd)
{
    struct recorder_output_ out = {0, 0, fd, 0, 0, 0, false, 0};
    return out;
}

#ifdef RECORDER_HOSTED_
/* Waits until the descriptor takes RECORDER_PIPE_BYTES_ without blocking.
 * Returns false if it never will, or our patience ended. If poll() fails, as it
 * does if RLIMIT_NOFILE is 0, a write may work: returns true, unless one was
 * `refused`. */
RECORDER_SELDOM_ bool recorder_output_wait_(const struct recorder_output_ *out,
                                            bool refused)
{
    struct recorder_pollfd_ poll;
    int wait = out->patience_ns ? (int)(out->patience_ns / 1000000) : -1, ready;
    poll.fd = out->fd;
    poll.events = RECORDER_POLLOUT_;
    poll.revents = 0;
    do
        ready = recorder_os_poll_(&poll, 1, wait);
    while (ready < 0 && *recorder_os_errno_() == RECORDER_EINTR_);
    if (ready < 0 || (poll.revents & RECORDER_POLL_FAILED_))
        return !refused;
    return ready > 0 && (poll.revents & RECORDER_POLLOUT_);
}

/* Writes all of a text, in pieces that a pipe takes whole. Writes nothing after
 * an error. */
RECORDER_SELDOM_ void recorder_output_write_(struct recorder_output_ *out,
                                             const char *text, size_t size)
{
    while (size && !out->failed) {
        size_t piece = size < RECORDER_PIPE_BYTES_ || !out->patience_ns
                           ? size
                           : RECORDER_PIPE_BYTES_;
        long done;
        if (out->patience_ns && !recorder_output_wait_(out, false)) {
            out->failed = true;
            return;
        }
        done = recorder_os_write_(out->fd, text, piece);
        if (done > 0) {
            text += done;
            size -= (size_t)done;
        } else if (done < 0 && *recorder_os_errno_() == RECORDER_EAGAIN_) {
            out->failed = !recorder_output_wait_(out, true);
        } else if (done == 0 || *recorder_os_errno_() != RECORDER_EINTR_) {
            out->failed = true;
        }
    }
}
#elif !defined(RECORDER_WRITE)
#error "recorder_dump.h: define RECORDER_WRITE(text, size)"
#else
RECORDER_SELDOM_ void recorder_output_write_(struct recorder_output_ *out,
                                             const char *text, size_t size)
{
    (void)out;
    if (size)
        RECORDER_WRITE(text, size);
}
#endif

RECORDER_INLINE_ void recorder_output_flush_(struct recorder_output_ *out)
{
    recorder_output_write_(out, out->gathered, out->gathered_size);
    out->gathered_size = 0;
}

RECORDER_FUNCTION_ void recorder_output_line_(struct recorder_output_ *out,
                                              const char *text, size_t size)
{
    if (out->sink) {
        out->sink(out->context, text, size);
        return;
    }
    if (size > out->gathered_max - out->gathered_size)
        recorder_output_flush_(out);
    if (size > out->gathered_max) {
        recorder_output_write_(out, text, size);
        return;
    }
    recorder_bytes_(out->gathered + out->gathered_size, text, size);
    out->gathered_size += size;
}

/* Writes a text to stderr; a cut text ends before a character, by a newline. A
 * failure leaves no signal and no errno. */
RECORDER_SELDOM_ void recorder_say_(const struct recorder_string_ *say)
{
    struct recorder_output_ out = recorder_output_to_(2);
    struct recorder_held_ held;
    size_t size = say->size;
    if (size > say->max) {
        size = say->max - 1;
        while (((unsigned char)say->to[size] & 0xc0) == 0x80)
            size--;
        say->to[size++] = '\n';
    }
    recorder_os_hold_signals_(&held);
    recorder_output_write_(&out, say->to, size);
    recorder_os_release_signals_(&held);
}

/* Says "recorder: ", the subject, at most `most` bytes of a name and ": " unless
 * there are none, and what is wrong. Returns false. */
RECORDER_SELDOM_ bool recorder_complain_(const char *subject, const char *name,
                                         size_t most, const char *wrong)
{
    struct recorder_string_ say;
    char text[700];
    say = recorder_string_at_(text, sizeof text);
    recorder_add_string_(&say, "recorder: ");
    recorder_add_string_(&say, subject);
    recorder_add_name_(&say, name, most);
    recorder_add_string_(&say, most ? ": " : "");
    recorder_add_string_(&say, wrong);
    recorder_add_string_(&say, "\n");
    recorder_say_(&say);
    return false;
}

RECORDER_C_END_
#endif
