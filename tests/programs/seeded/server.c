/* server.c - sessions of a server, their requests, and a thread that reaps. */
/* SPDX-License-Identifier: MIT */
#include "seeded.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

RECORDER(net, 512, "Sessions and requests")
RECORDER(timer, 128, "Timers")

enum { SESSIONS = 30, FDS = 64 };
enum state { NEW, READY, CLOSING };
struct peer {
    char host[40];
    long bytes, interval;
};
struct session {
    int fd;
    unsigned id;
    enum state state;
    char *in;
    size_t used, size;
    struct peer *peer;
    void (*on_data)(struct session *, const char *, size_t);
    struct session *next;
    long bytes;
};
struct config {
    int limit, verbose;
    char name[32];
};
struct timeout {
    long due;
    char what[100];
};

static struct session *by_fd[FDS];
static struct session *first;
static struct config *config;
static volatile long total;

static void count_data(struct session *s, const char *data, size_t size)
{
    s->bytes += (long)size + data[0];
}

static struct session *session_open(int fd, unsigned id)
{
    struct session *s = calloc(1, sizeof *s);
    s->fd = fd;
    s->id = id;
    s->size = 64;
    s->in = malloc(s->size);
    s->peer = calloc(1, sizeof *s->peer);
    s->peer->interval = 10;
    s->on_data = count_data;
    s->state = READY;
    s->next = first;
    first = s;
    by_fd[fd] = s;
    note(net, "open session=%p fd=%d id=%u", RECORDER_ADDRESS(s), fd, id);
    return s;
}

static void requests(void)
{
    for (int i = 0, n = pick(20, 60); i < n; i++) {
        struct session *s = by_fd[pick(0, SESSIONS - 1)];
        note(net, "request id=%u bytes=%d", s->id, pick(10, 500));
        record(timer, "tick at=%d", 10 * i);
        s->on_data(s, "x", 1);
    }
}

/* ----------------------------------------------------------------- kinds -- */

static void forward(struct session *s, long bytes)
{
    s->peer->bytes += bytes;
}
static void null_member(struct session *s)
{
    cause(net, "detach id=%u", s->id);
    s->peer = NULL;
    total += pick(0, 3);
    forward(s, 100);
}

static void *reap(void *argument)
{
    struct session *s = argument;
    recorder_thread_name("reaper");
    cause(net, "close session=%p id=%u why=%s", RECORDER_ADDRESS(s), s->id,
          "idle");
    memset(s, 0xfd, sizeof *s);
    free(s);
    return NULL;
}
static void in_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, argument);
    pthread_join(thread, NULL);
}
static void deliver(struct session *s, const char *data, size_t size)
{
    record(timer, "tick at=%d", 999);
    s->on_data(s, data, size);
}

static void session_release(struct session *s)
{
    cause(net, "release in=%p size=%zu", RECORDER_ADDRESS(s->in), s->size);
    free(s->in);
}
static void session_destroy(struct session *s)
{
    free(s->in);
    free(s->peer);
    free(s);
}

static void session_append(struct session *s, size_t bytes)
{
    cause(net, "append id=%u bytes=%zu size=%zu", s->id, bytes, s->size);
    memset(s->in, 'a', bytes);
    s->used = bytes;
}

static void parse_request(struct session *s, const char *line)
{
    char verb[16];
    size_t i;
    for (i = 0; line[i] && line[i] != ' '; i++)
        verb[i] = line[i];
    verb[i] = '\0';
    total += (long)strlen(verb) + (long)s->id;
}

static struct session *session_accept(int fd)
{
    struct session *s = malloc(sizeof *s);
    cause(net, "accept session=%p fd=%d", RECORDER_ADDRESS(s), fd);
    s->fd = fd;
    s->bytes = 0;
    return s;
}

static void event(int fd)
{
    struct session *s = by_fd[fd];
    total += s->bytes;
}

static void timer_fire(void *data)
{
    struct session *s = data;
    s->on_data(s, "timeout", 7);
}

static void *reload(void *argument)
{
    (void)argument;
    recorder_thread_name("reload");
    free(config);
    config = NULL;
    cause(net, "reload config=%p", RECORDER_ADDRESS(config));
    return NULL;
}
static int is_over(struct session *s)
{
    return s->bytes > config->limit;
}

static long redirect(struct session *s, int hops)
{
    char path[200];
    snprintf(path, sizeof path, "/%u/%d", s->id, hops);
    return redirect(s->next, hops + 1) + path[1];
}

static long rate(struct session *s)
{
    return s->bytes / s->peer->interval;
}

static void flush(struct session *s)
{
    assert(s->state == READY);
    total++;
}

static void dispatch(struct session *s, int type)
{
    switch (type) {
    case 1: total++; break;
    case 2: total += s->bytes; break;
    default: __builtin_trap();
    }
}

static void log_add(char *log, const char *line)
{
    strcpy(log, line);
}

static void crash(struct session *s)
{
    if (is_kind("null_member")) {
        null_member(s);
    } else if (is_kind("use_after_free")) {
        in_thread(reap, s);
        deliver(s, "GET /", 5);
    } else if (is_kind("double_free")) {
        session_release(s);
        record(timer, "tick at=%d", 5);
        session_destroy(s);
    } else if (is_kind("heap_overflow")) {
        session_append(s, 64 + 64 + 24);
        record(timer, "tick at=%d", 6);
        s->on_data(s, "x", 1);
        forward(s, 1);
        session_destroy(s);
    } else if (is_kind("stack_overflow")) {
        char line[200];
        memset(line, 'G', sizeof line);
        strcpy(line + pick(90, 190), " /");
        cause(net, "request id=%u line=%s", s->id, line);
        parse_request(s, line);
    } else if (is_kind("uninitialised")) {
        struct session *old = s;
        memset(old, 0x5a, sizeof *old);
        free(old);
        s = session_accept(7);
        forward(s, 5);
    } else if (is_kind("wrong_index")) {
        int fd = pick(9000000, 90000000);
        cause(net, "event fd=%d", fd);
        event(fd);
    } else if (is_kind("bad_cast")) {
        struct timeout *t = calloc(1, sizeof *t);
        memset(t->what, 'w', sizeof t->what - 1);
        cause(timer, "arm data=%p due=%ld", RECORDER_ADDRESS(t), t->due);
        record(timer, "tick at=%d", 6);
        timer_fire(t);
    } else if (is_kind("race")) {
        in_thread(reload, NULL);
        total += is_over(s);
    } else if (is_kind("stack_exhaustion")) {
        cause(net, "redirect id=%u to=%u", s->id, s->id);
        s->next = s;
        total += redirect(s, 0);
    } else if (is_kind("division")) {
        s->peer->interval = 0;
        cause(net, "set interval=%ld of id=%u", s->peer->interval, s->id);
        total += rate(s);
    } else if (is_kind("assertion")) {
        s->state = CLOSING;
        cause(net, "closing id=%u", s->id);
        record(timer, "tick at=%d", 6);
        flush(s);
    } else if (is_kind("libc_abort")) {
        cause(net, "consume id=%u bytes=%d", s->id, 8);
        s->in += 8;
        session_destroy(s);
    } else if (is_kind("illegal")) {
        int type = pick(3, 99);
        cause(net, "message id=%u type=%d", s->id, type);
        dispatch(s, type);
    } else if (is_kind("bus")) {
        char *log;
        int fd = open("server.log", O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || ftruncate(fd, 8192))
            exit(1);
        log = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        note(net, "map log=%p", RECORDER_ADDRESS(log));
        cause(net, "rotate path=%s", "server.log");
        if (ftruncate(fd, 0))
            exit(1);
        log_add(log, "a line");
    }
}

int main(int argc, char **argv)
{
    seeded_begin(argc, argv);
    recorder_thread_name("server");
    config = calloc(1, sizeof *config);
    for (int i = 0, n = pick(0, 9); i < n; i++) { /* of another part */
        void *one = malloc(sizeof(struct session));
        record(timer, "arm data=%p due=%d", RECORDER_ADDRESS(one), i);
        free(one);
    }
    for (int i = 0; i < SESSIONS; i++)
        session_open(i, 4000 + 7 * (unsigned)i);
    requests();
    crash(by_fd[pick(2, SESSIONS - 3)]);
    requests();
    return 0;
}
