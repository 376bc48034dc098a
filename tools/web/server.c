/* server.c - the HTTP server: connections, requests, answers. */
/* SPDX-License-Identifier: MIT */
#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    REQUEST_MS = 10000, /* that a request may take */
    STALL_MS = 60000    /* without a byte taken: the client is gone */
};

int64_t web_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --------------------------------------------------------------- answers -- */

static void client_close(struct web *web, struct web_client *client)
{
    close(client->fd);
    free(client->out);
    if (client->own && web->gone)
        web->gone(client);
    *client = (struct web_client){.fd = -1};
}

/* Appends a text to the bytes to be sent. */
void web_send(struct web_client *client, const char *text, size_t size)
{
    size_t left = client->out_size - client->out_sent;
    char *out = need(malloc(left + size));
    if (!left)
        client->deadline_ms = web_now_ms() + STALL_MS;
    if (left)
        memcpy(out, client->out + client->out_sent, left);
    memcpy(out + left, text, size);
    free(client->out);
    client->out = out;
    client->out_size = left + size;
    client->out_sent = 0;
}

static const char common[] =
    "Cache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Content-Security-Policy: frame-ancestors 'none'\r\n"
    "Connection: close\r\n";

static void answer_begin(struct web_client *client, const char *status,
                         const char *type, int64_t length)
{
    char head[512], size[64] = "";
    int count;
    if (length >= 0)
        snprintf(size, sizeof size, "Content-Length: %lld\r\n",
                 (long long)length);
    count = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Type: %s\r\n%s%s\r\n", status,
                     type, size, common);
    client->answered = true;
    web_send(client, head, (size_t)count);
}

void web_answer(struct web_client *client, const char *status, const char *type,
                const char *body, size_t size)
{
    answer_begin(client, status, type, (int64_t)size);
    web_send(client, body, size);
}
void web_refuse(struct web_client *client, const char *status)
{
    web_answer(client, status, "text/plain; charset=utf-8", status,
               strlen(status));
}

void web_wait(struct web_client *client)
{
    client->answered = client->streams = true;
}

bool web_stream(struct web *web, struct web_client *client, const char *type,
                int64_t length)
{
    unsigned streams = 0;
    for (int i = 0; i < WEB_CLIENTS; i++)
        streams += web->clients[i].streams;
    if (streams >= WEB_STREAMS + (unsigned)client->streams)
        return false;
    client->streams = true;
    answer_begin(client, "200 OK", type, length);
    return true;
}

/* -------------------------------------------------------------- requests -- */

/* Returns the value of a header, *size bytes, or null. */
const char *web_header(const char *headers, const char *name, size_t *size)
{
    size_t length = strlen(name);
    const char *line = strstr(headers, "\r\n");
    for (; line && line[2] != '\r'; line = strstr(line + 2, "\r\n")) {
        const char *at = line + 2;
        if (strncasecmp(at, name, length) != 0 || at[length] != ':')
            continue;
        at += length + 1;
        at += strspn(at, " \t");
        *size = strcspn(at, "\r\n \t");
        return at;
    }
    return NULL;
}

bool web_host_is_ours(const struct web *web, const char *headers)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    size_t size;
    const char *host = web_header(headers, "Host", &size);
    for (size_t i = 0; host && i < 2; i++) {
        char ours[32];
        snprintf(ours, sizeof ours, "%s:%u", names[i], web->port);
        if (size == strlen(ours) && strncasecmp(host, ours, size) == 0)
            return true;
        if (web->port == 80 && size == strlen(names[i]) &&
            strncasecmp(host, names[i], size) == 0)
            return true; /* the port of http is left out */
    }
    return false;
}

static void handle(struct web *web, struct web_client *client)
{
    char *request = client->request;
    char *path, *end = strstr(request, "\r\n");
    *end = '\0';
    if (strlen(request) != (size_t)(end - request)) {
        web_refuse(client, "400 Bad Request");
        return;
    }
    path = strchr(request, ' ');
    end = path ? strchr(path + 1, ' ') : NULL;
    if (!end || strncmp(end + 1, "HTTP/1.", 7) != 0) {
        web_refuse(client, "400 Bad Request");
        return;
    }
    *path++ = *end = '\0';
    /* Headers stand behind the line, which is cut up by now. */
    end += strlen(end + 1) + 1;
    *end = '\r';
    web->handle(web, client, request, path, end);
}

/* Reads from a client. False: it closed the connection. */
static bool client_read(struct web *web, struct web_client *client)
{
    char *request = client->request;
    size_t room = WEB_REQUEST_MAX - 1 - client->request_size;
    char nothing[1024];
    ssize_t got =
        client->answered
            ? recv(client->fd, nothing, sizeof nothing, 0)
            : recv(client->fd, request + client->request_size, room, 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    if (client->answered)
        return true; /* one request a connection */
    client->request_size += (size_t)got;
    request[client->request_size] = '\0';
    if (memmem(request, client->request_size, "\r\n\r\n", 4)) {
        if (strlen(request) == client->request_size)
            handle(web, client);
        else
            web_refuse(client, "400 Bad Request");
    } else if (client->request_size == WEB_REQUEST_MAX - 1)
        web_refuse(client, "431 Request Header Fields Too Large");
    return true;
}

/* Sends as much as the socket takes. False: the connection is broken. */
static bool client_write(struct web_client *client)
{
    ssize_t sent = send(client->fd, client->out + client->out_sent,
                        client->out_size - client->out_sent, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    client->out_sent += (size_t)sent;
    client->deadline_ms = web_now_ms() + STALL_MS;
    if (client->out_sent < client->out_size)
        return true;
    free(client->out);
    client->out = NULL;
    client->out_size = client->out_sent = 0;
    if (client->streams && !client->ended)
        return true;
    /* Lets the other end close first: bytes that it still sends must not cause
     * a reset, which would discard the answer. */
    shutdown(client->fd, SHUT_WR);
    client->deadline_ms = web_now_ms() + 1000;
    return true;
}

/* ---------------------------------------------------------------- server -- */

bool web_open(struct web *web, const char *address, unsigned port)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    struct sockaddr_storage is;
    socklen_t size = sizeof is;
    char text[16];
    int yes = 1;
    bool done;
    web->listener = -1;
    for (int i = 0; i < WEB_CLIENTS; i++)
        web->clients[i].fd = -1;
    snprintf(text, sizeof text, "%u", port);
    if (getaddrinfo(address, text, &hints, &found) != 0 || !found) {
        errno = EADDRNOTAVAIL;
        return false;
    }
    web->listener =
        socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    done = web->listener >= 0 &&
           setsockopt(web->listener, SOL_SOCKET, SO_REUSEADDR, &yes,
                      sizeof yes) == 0 &&
           bind(web->listener, found->ai_addr, found->ai_addrlen) == 0 &&
           listen(web->listener, WEB_CLIENTS) == 0 &&
           getsockname(web->listener, (struct sockaddr *)&is, &size) == 0;
    freeaddrinfo(found);
    if (done)
        web->port = ntohs(is.ss_family == AF_INET6
                              ? ((struct sockaddr_in6 *)&is)->sin6_port
                              : ((struct sockaddr_in *)&is)->sin_port);
    return done;
}

/* Accepts a connection. If all places are taken, the oldest client that is not
 * known to be allowed is closed, be it answered or not. */
static bool accept_one(struct web *web)
{
    struct web_client *to = NULL, *client = web->clients;
    int fd = accept4(web->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int bytes = WEB_PIECE_BYTES;
    if (fd < 0)
        return false;
    for (; client < web->clients + WEB_CLIENTS; client++)
        if (client->fd < 0 || (to && to->fd < 0))
            to = client->fd < 0 ? client : to;
        else if (!client->known && (!to || client->begun < to->begun))
            to = client;
    if (!to) {
        close(fd);
        return true;
    }
    if (to->fd >= 0)
        client_close(web, to);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    to->fd = fd;
    to->begun = ++web->begun;
    to->deadline_ms = web_now_ms() + REQUEST_MS;
    return true;
}

static bool is_pending(const struct web_client *client)
{
    return client->out_sent < client->out_size;
}

/* Serves a client; false: it is to be closed. */
static bool client_serve(struct web *web, struct web_client *client,
                         short events)
{
    int64_t now = web_now_ms();
    bool stays = true;
    if (events & (POLLIN | POLLHUP | POLLERR))
        stays = client_read(web, client);
    if (stays && client->streams && !client->ended && !is_pending(client) &&
        web->due(client) <= now)
        web->more(web, client);
    if (stays && is_pending(client))
        stays = client_write(client);
    else if (stays && (!client->streams || client->ended))
        stays = now < client->deadline_ms;
    return stays && !(is_pending(client) && now >= client->deadline_ms);
}

bool web_round(struct web *web)
{
    struct pollfd fds[WEB_CLIENTS + 2];
    int64_t now = web_now_ms(), next = now + 1000;
    int count = 2, who[WEB_CLIENTS + 2];
    fds[0] = (struct pollfd){.fd = web->closed ? -1 : web->listener,
                             .events = POLLIN};
    fds[1] = (struct pollfd){.fd = web->closed ? -1 : web->watched,
                             .events = POLLIN};
    for (int i = 0; i < WEB_CLIENTS; i++) {
        struct web_client *client = &web->clients[i];
        bool pending = is_pending(client);
        if (client->fd < 0)
            continue;
        who[count] = i;
        fds[count++] = (struct pollfd){
            .fd = client->fd,
            .events = (short)(POLLIN | (pending ? POLLOUT : 0))};
        if (client->streams && !client->ended && !pending &&
            web->due(client) < next)
            next = web->due(client);
        if ((pending || !client->streams || client->ended) &&
            client->deadline_ms < next)
            next = client->deadline_ms;
    }
    if (poll(fds, (nfds_t)count, next > now ? (int)(next - now) : 0) < 0 &&
        errno != EINTR)
        fail(web->call, "poll: %s", strerror(errno));
    for (int k = 2; k < count; k++)
        if (!client_serve(web, &web->clients[who[k]], fds[k].revents))
            client_close(web, &web->clients[who[k]]);
    /* A client that comes among many is closed only after WEB_CLIENTS / 2
     * others, which is after it was answered. */
    for (int i = 0; fds[0].revents && i < WEB_CLIENTS / 2; i++)
        if (!accept_one(web))
            break;
    return fds[1].revents != 0;
}

unsigned web_count(const struct web *web)
{
    unsigned count = 0;
    for (int i = 0; i < WEB_CLIENTS; i++)
        count += web->clients[i].fd >= 0;
    return count;
}

void web_close(struct web *web)
{
    for (int i = 0; i < WEB_CLIENTS; i++)
        if (web->clients[i].fd >= 0)
            client_close(web, &web->clients[i]);
    if (web->listener >= 0)
        close(web->listener);
}
