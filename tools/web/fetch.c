/* fetch.c - an HTTP client: one GET, one file. */
/* SPDX-License-Identifier: MIT */
/*
   Of our own, and not libcurl: that makes each start of the command take 18 ms
   in place of 3, for 22 more libraries.
*/
#include "fetch.h"
#include "shown.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    HEAD_MAX = 16384,   /* bytes of an answer's headers */
    CONNECT_MS = 10000, /* that a connection may take */
    ANSWER_MS = 180000, /* until an answer begins: it may be a large save */
    SLOW_MS = 30000,    /* and 10 bytes in each ms, on average, besides */
    BYTES_A_MS = 10
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The parts of "http://HOST:PORT/" or "http://[::1]:80/"; false: it is not
 * one. */
static bool parts_of(const char *server, char host[256], char port[8])
{
    static const char scheme[] = "http://";
    const char *at = server + sizeof scheme - 1, *end, *rest;
    size_t size;
    if (strncmp(server, scheme, sizeof scheme - 1) != 0)
        return false;
    end = *at == '[' ? strchr(at, ']') : at + strcspn(at, ":/");
    if (!end)
        return false;
    at += *at == '[';
    rest = end + (*end == ']');
    size = (size_t)(end - at);
    if (size == 0 || size > 255)
        return false;
    memcpy(host, at, size);
    host[size] = '\0';
    strcpy(port, "80");
    if (*rest == ':') {
        size = strspn(++rest, "0123456789");
        if (size == 0 || size > 5)
            return false;
        memcpy(port, rest, size);
        port[size] = '\0';
        rest += size;
    }
    return strcmp(rest, "") == 0 || strcmp(rest, "/") == 0;
}

bool fetch_is_server(const char *name)
{
    return strncmp(name, "http://", 7) == 0;
}

/* Waits until a socket can be read, or written; false: it is too late. */
static bool wait_for(int fd, short events, int64_t deadline_ms)
{
    struct pollfd one = {.fd = fd, .events = events};
    for (;;) {
        int64_t left = deadline_ms - now_ms();
        int ready = left > 0 ? poll(&one, 1, (int)left) : 0;
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

/* Connects to the first address that answers. Below 0: none does. */
static int connect_to(const char *host, const char *port, char why[256])
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found, *a;
    int64_t deadline = now_ms() + CONNECT_MS;
    int error = getaddrinfo(host, port, &hints, &found), fd = -1;
    if (error) {
        snprintf(why, 256, "%s", gai_strerror(error));
        return -1;
    }
    for (a = found; a && fd < 0; a = a->ai_next) {
        socklen_t size = sizeof error;
        fd =
            socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        error = connect(fd, a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
        if (error == EINPROGRESS &&
            (!wait_for(fd, POLLOUT, deadline) ||
             getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0))
            error = ETIMEDOUT;
        if (error) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd < 0)
        snprintf(why, 256, "%s", strerror(error));
    return fd;
}

/* Sends the request. The Host header has the address: a server refuses names,
 * which anybody may have bound to it. */
static bool ask(int fd, const char *path)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    char host[64], port[8], text[512];
    int count;
    if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0 ||
        getnameinfo((struct sockaddr *)&peer, size, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    count = snprintf(text, sizeof text,
                     peer.ss_family == AF_INET6
                         ? "GET %s HTTP/1.1\r\nHost: [%s]:%s\r\n\r\n"
                         : "GET %s HTTP/1.1\r\nHost: %s:%s\r\n\r\n",
                     path, host, port);
    return count < (int)sizeof text &&
           send(fd, text, (size_t)count, MSG_NOSIGNAL) == count;
}

/* An answer as it comes in. */
struct answer {
    int fd;
    char head[HEAD_MAX];
    size_t size;      /* bytes of it, and of the body that came with it */
    const char *body; /* in `head` */
    unsigned status;
    uint64_t length;
};

/* Reads until the empty line. Null, or what is wrong. */
static const char *head_read(struct answer *a)
{
    int64_t deadline = now_ms() + ANSWER_MS;
    const char *end = NULL, *line;
    char *after;
    while (!end) {
        ssize_t got;
        if (a->size == HEAD_MAX - 1)
            return "its answer has no end of headers";
        if (!wait_for(a->fd, POLLIN, deadline))
            return "it does not answer";
        got = recv(a->fd, a->head + a->size, HEAD_MAX - 1 - a->size, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0)
            return "it closed the connection";
        a->size += (size_t)got;
        a->head[a->size] = '\0';
        end = strstr(a->head, "\r\n\r\n");
    }
    a->body = end + 4;
    if (strncmp(a->head, "HTTP/1.", 7) != 0 || a->head[8] != ' ')
        return "it speaks no HTTP";
    a->status = (unsigned)strtoul(a->head + 9, NULL, 10);
    for (line = a->head; line < end; line += 2) {
        line = strstr(line, "\r\n");
        if (!line || strncasecmp(line + 2, "Content-Length:", 15) != 0)
            continue;
        line += 17 + strspn(line + 17, " ");
        errno = 0;
        a->length = strtoull(line, &after, 10);
        return *line < '0' || *line > '9' || errno || *after != '\r'
                   ? "its answer has no length"
                   : NULL;
    }
    return "its answer has no length";
}

static bool put(int fd, const char *from, size_t size)
{
    while (size) {
        ssize_t done = write(fd, from, size);
        if (done < 0 && errno != EINTR)
            return false;
        from += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* Writes the body into a file. */
static bool body_read(struct answer *a, int to, char why[256])
{
    static char piece[1 << 17];
    uint64_t done = a->size - (size_t)(a->body - a->head);
    int64_t begun = now_ms();
    if (done > a->length)
        done = a->length;
    if (!put(to, a->body, done)) {
        snprintf(why, 256, "%s", strerror(errno));
        return false;
    }
    while (done < a->length) {
        size_t room = sizeof piece;
        ssize_t got;
        if (a->length - done < room)
            room = a->length - done;
        if (!wait_for(a->fd, POLLIN,
                      begun + SLOW_MS + (int64_t)(done / BYTES_A_MS))) {
            snprintf(why, 256, "it is too slow: %llu of %llu bytes came",
                     (unsigned long long)done, (unsigned long long)a->length);
            return false;
        }
        got = recv(a->fd, piece, room, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0) {
            snprintf(why, 256, "it broke off: %llu of %llu bytes came",
                     (unsigned long long)done, (unsigned long long)a->length);
            return false;
        }
        if (!put(to, piece, (size_t)got)) {
            snprintf(why, 256, "%s", strerror(errno));
            return false;
        }
        done += (uint64_t)got;
    }
    return true;
}

/* Tells what an answer says that is no file, escaped as texts of strangers
 * are. */
static void refusal(struct answer *a, char why[256])
{
    size_t size = a->size - (size_t)(a->body - a->head);
    const char *text = a->body;
    char status[8];
    snprintf(status, sizeof status, "%u", a->status % 1000);
    if (size > a->length)
        size = a->length;
    while (size && (text[size - 1] == '\n' || text[size - 1] == ' '))
        size--;
    if (size > 160)
        size = 160;
    text = text_shown(text, &size);
    snprintf(why, 256, "it answers %s: %.*s", status,
             (int)(size > 200 ? 200 : size), text);
}

bool fetch(const char *server, const char *path, int fd, uint64_t bytes_max,
           bool *refused, char why[256])
{
    struct answer *answer = calloc(1, sizeof *answer);
    char host[256], port[8];
    const char *wrong = NULL;
    bool done = false;
    *refused = false;
    *why = '\0';
    if (!answer)
        return snprintf(why, 256, "there is no memory for it"), false;
    answer->fd = -1;
    if (!parts_of(server, host, port))
        wrong = "is not http://HOST:PORT/";
    else if ((answer->fd = connect_to(host, port, why)) >= 0)
        wrong = ask(answer->fd, path) ? head_read(answer)
                                      : "the request could not be sent";
    if (wrong) {
        snprintf(why, 256, "%s", wrong);
    } else if (answer->fd >= 0 && answer->status != 200) {
        *refused = true;
        refusal(answer, why);
    } else if (answer->fd >= 0 && answer->length > bytes_max) {
        snprintf(why, 256, "it has %llu bytes: more than %llu are not taken",
                 (unsigned long long)answer->length,
                 (unsigned long long)bytes_max);
    } else if (answer->fd >= 0) {
        done = body_read(answer, fd, why);
    }
    if (answer->fd >= 0)
        close(answer->fd);
    free(answer);
    return done;
}
