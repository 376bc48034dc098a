/* remote.c - a SOURCE ssh:HOST:SOURCE, a recording that ssh brings. */
/* SPDX-License-Identifier: MIT */
/*
   ssh and its configuration decide who may connect, by which way, and encrypt.
   The far recorder writes a recording to its stdout, with the names of the
   functions that recorded, because this machine may lack the program's files.
   The recording goes into a file without a name, which vanishes with the last
   process that has the file open.
*/
#include "file.h"
#include "source.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

static const char scheme[] = "ssh:";

struct remote {
    pid_t ssh;
    int out, error; /* ends of pipes to read from; below 0: closed */
    bool ended;     /* `out` has no more bytes */
    char said[400]; /* the last bytes of its stderr */
    size_t said_size;
};

bool source_is_remote(const char *name)
{
    return strncmp(name, scheme, sizeof scheme - 1) == 0;
}

/* Splits "ssh:user@host:WHAT" or "ssh:[::1]:WHAT". Returns WHAT; null: the name
 * has no host that ssh may get, as one with a leading "-" or for a shell. */
static const char *what_of(const char *name, char host[256])
{
    const char *at = name + sizeof scheme - 1, *end;
    size_t size;
    bool bracket = *at == '[';
    end = bracket ? strchr(at, ']') : strchr(at, ':');
    at += bracket;
    size = end ? (size_t)(end - at) : 0;
    if (size == 0 || size > 255 || *at == '-')
        return NULL;
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)at[i]) && !strchr("._-@%+", at[i]) &&
            !(bracket && at[i] == ':'))
            return NULL;
    memcpy(host, at, size);
    host[size] = '\0';
    end += bracket;
    return *end == ':' && end[1] ? end + 1 : NULL;
}

/* Returns the line for the far shell, which the caller frees. Quotes `what` for
 * each common shell: csh and fish take ! and \ within quotes for their own. */
static char *line_of(const char *what)
{
    static const char start[] = "recorder save --functions -o - -- '";
    char *line = need(malloc(sizeof start + strlen(what) * 4 + 1)), *to = line;
    to = stpcpy(to, start);
    for (; *what; what++)
        if (strchr("'\\!", *what))
            to += sprintf(to, "'\\%c'", *what);
        else
            *to++ = *what;
    strcpy(to, "'");
    return line;
}

/* Starts ssh. Returns 0, or the number of an error. */
static int remote_start(struct remote *remote, const char *host, char *line)
{
    char *arguments[] = {"ssh", "-T", "--", (char *)host, line, NULL};
    posix_spawn_file_actions_t actions;
    int out[2], error[2], wrong;
    if (pipe2(out, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(error, O_CLOEXEC) != 0) {
        wrong = errno;
        close(out[0]);
        close(out[1]);
        return wrong;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, error[1], 2);
    wrong =
        posix_spawnp(&remote->ssh, "ssh", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(error[1]);
    remote->out = out[0];
    remote->error = error[0];
    if (wrong) {
        close(out[0]);
        close(error[0]);
    }
    return wrong;
}

/* Reads the stderr of ssh, and keeps its last bytes. False: its end. */
static bool said_read(struct remote *remote)
{
    char more[sizeof remote->said / 2];
    size_t room = sizeof remote->said - 1 - remote->said_size;
    ssize_t got = read(remote->error, more, sizeof more);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    if ((size_t)got > room) {
        size_t drop = (size_t)got - room;
        remote->said_size -= drop;
        memmove(remote->said, remote->said + drop, remote->said_size);
    }
    memcpy(remote->said + remote->said_size, more, (size_t)got);
    remote->said_size += (size_t)got;
    return true;
}

/* Reads from the stdout of ssh until `size` bytes came, or the end. */
static size_t remote_read(void *own, void *to, size_t size)
{
    struct remote *remote = own;
    size_t done = 0;
    while (done < size) {
        struct pollfd fds[2] = {{.fd = remote->out, .events = POLLIN},
                                {.fd = remote->error, .events = POLLIN}};
        ssize_t got;
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        if (fds[1].revents && !said_read(remote)) {
            close(remote->error);
            remote->error = -1;
        }
        if (!fds[0].revents)
            continue;
        got = read(remote->out, (char *)to + done, size - done);
        remote->ended = got == 0 || (got < 0 && errno != EINTR);
        if (remote->ended)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

/* Waits for the end of ssh, and causes it where more bytes would come. Returns
 * the exit status; 128: a signal ended it. */
static int remote_end(struct remote *remote)
{
    int status = 0;
    size_t size;
    close(remote->out);
    if (!remote->ended)
        kill(remote->ssh, SIGTERM);
    while (remote->error >= 0 && said_read(remote))
        ;
    if (remote->error >= 0)
        close(remote->error);
    while (waitpid(remote->ssh, &status, 0) < 0 && errno == EINTR)
        ;
    for (size = remote->said_size; size && isspace(remote->said[size - 1]);)
        size--;
    remote->said[size] = '\0';
    for (char *at = remote->said; *at; at++)
        *at = strchr("\r\n", *at) ? ' ' : *at;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Judges how ssh ended. `wrong`: what is wrong with the bytes; or null. */
static const char *remote_judge(struct source *source,
                                const struct remote *remote, int status,
                                const char *wrong)
{
    if (wrong && (!remote->ended || status == 0))
        return wrong;
    if (status == 128)
        return source_wrong(source, "a signal ended ssh");
    if (status == 127)
        return source_wrong(source, "the shell there finds no recorder: %s",
                            remote->said);
    if (status && !*remote->said)
        return source_wrong(source, "ssh ended with status %d, silently",
                            status);
    return status ? source_wrong(source, "%s", remote->said) : NULL;
}

/* Runs ssh, and receives the recording. Null, or what is wrong. */
static const char *remote_run(struct source *source, const char *host,
                              char *line, struct remote *remote, int *fd)
{
    const char *wrong, *far;
    int status = remote_start(remote, host, line);
    if (status)
        return source_wrong(source, "ssh cannot be started: %s",
                            strerror(status));
    wrong = source_receive(source, remote_read, remote, fd);
    status = remote_end(remote);
    wrong = remote_judge(source, remote, status, wrong);
    far = strstr(remote->said, "recorder: ");
    if (wrong && *fd >= 0)
        close(*fd);
    if (wrong)
        *fd = -1;
    else if (far)
        snprintf(source->warning, sizeof source->warning, "%s", far);
    return wrong;
}

const char *source_remote(struct source *source, const char *name, int *fd)
{
    struct remote *remote = need(calloc(1, sizeof *remote));
    char host[256], *line;
    const char *what = what_of(name, host), *wrong;
    *fd = -1;
    line = what ? line_of(what) : NULL;
    if (!what)
        wrong = source_wrong(source,
                             "is not ssh:HOST:SOURCE, with a HOST of letters, "
                             "digits and . _ - @ %% +");
    else
        wrong = remote_run(source, host, line, remote, fd);
    free(line);
    free(remote);
    return wrong;
}
