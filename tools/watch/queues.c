/* queues.c - work that waits for a process: bytes that it has not read. */
/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static int option_of(int fd, int option)
{
    int value = 0;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

/* Looks at a duplicate of a descriptor. False: it is no queue. */
static bool queue_look(struct queue *q, int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN | POLLOUT};
    int bytes = 0, mode = fcntl(fd, F_GETFL), domain;
    if (q->is_pipe) {
        q->writes = (mode & O_ACCMODE) != O_RDONLY;
    } else {
        domain = option_of(fd, SO_DOMAIN);
        if ((domain != AF_UNIX && domain != AF_INET && domain != AF_INET6) ||
            (domain != AF_UNIX && option_of(fd, SO_TYPE) == SOCK_DGRAM))
            return false;
        q->listens = option_of(fd, SO_ACCEPTCONN) == 1;
    }
    if (poll(&polled, 1, 0) < 0)
        return false;
    if (q->listens)
        bytes = (polled.revents & POLLIN) != 0;
    else if (!q->writes && ioctl(fd, FIONREAD, &bytes) != 0)
        bytes = 0;
    q->bytes = bytes > 0 ? (uint32_t)bytes : 0;
    q->full = !q->listens && (q->writes || !q->is_pipe) &&
              !(polled.revents & (POLLOUT | POLLERR | POLLHUP));
    return true;
}

static const struct queue *queue_of(const struct queue *all, size_t count,
                                    uint64_t inode, bool writes)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].inode == inode && all[i].writes == writes)
            return &all[i];
    return NULL;
}

static struct queue *queues_list(struct watched *p, size_t *count)
{
    char path[64], target[64];
    struct queue *all = NULL;
    size_t max = 0;
    int32_t *files;
    *count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", p->pid);
    p->descriptors = proc_ids(path, &files);
    for (size_t i = 0; i < p->descriptors; i++) {
        struct queue q = {.fd = files[i]};
        ssize_t size;
        int fd;
        snprintf(path, sizeof path, "/proc/%d/fd/%d", p->pid, q.fd);
        size = readlink(path, target, sizeof target - 1);
        target[size > 0 ? size : 0] = '\0';
        q.is_pipe = strncmp(target, "pipe:[", 6) == 0;
        if (!q.is_pipe && strncmp(target, "socket:[", 8) != 0)
            continue;
        q.inode = strtoull(strchr(target, '[') + 1, NULL, 10);
        fd = (int)syscall(SYS_pidfd_getfd, p->pidfd, q.fd, 0);
        if (fd < 0)
            continue;
        if (queue_look(&q, fd))
            *array_add(all, *count, max) = q;
        close(fd);
    }
    free(files);
    return all;
}

/* True if a queue is surely another one's to read: of a pipe, the process
 * itself writes to it. */
static bool is_own(const struct watched *p, const struct queue *q)
{
    return q->is_pipe && queue_of(p->queues, p->queues_count, q->inode, true);
}

int64_t watch_cpu(void)
{
    return (int64_t)recorder_clock_ns_(CLOCK_PROCESS_CPUTIME_ID);
}

const struct queue *queues_look(struct watched *p, int64_t now)
{
    int64_t begun = watch_cpu();
    size_t count, new = 0, waiting = 0;
    struct queue *all = queues_list(p, &count);
    const struct queue *waits = NULL;
    bool first = !p->queues_ns, moved = first;
    for (size_t i = 0; i < count; i++) {
        const struct queue *before =
            queue_of(p->queues, p->queues_count, all[i].inode, all[i].writes);
        new += !before;
        moved |= before && before->bytes > all[i].bytes;
        all[i].arrived = all[i].bytes && !first &&
                         (!before || before->arrived || !before->bytes);
        all[i].since_ns =
            before && before->bytes && before->bytes <= all[i].bytes
                ? before->since_ns
                : now;
        waiting += all[i].arrived && !all[i].is_pipe && !all[i].listens;
    }
    /* To accept connections is no work if their requests are not read. */
    moved |= count - new != p->queues_count || (new && waiting < 2);
    free(p->queues);
    p->queues = all;
    p->queues_count = count;
    if (moved)
        p->unmoved_ns = now;
    p->queues_ns = now;
    p->queues_cost_ns = watch_cpu() - begun;
    for (size_t i = 0; i < count; i++)
        if ((all[i].arrived || (all[i].listens && all[i].bytes)) &&
            !is_own(p, &all[i]) && (!waits || all[i].bytes > waits->bytes))
            waits = &all[i];
    return waits;
}

void queue_words(const struct queue *q, char to[256])
{
    if (q->listens)
        snprintf(to, 256, "a connection waits at socket %llu (descriptor %d)",
                 (unsigned long long)q->inode, q->fd);
    else
        snprintf(to, 256, "%u bytes wait in %s %llu (descriptor %d)", q->bytes,
                 q->is_pipe ? "pipe" : "socket", (unsigned long long)q->inode,
                 q->fd);
}
