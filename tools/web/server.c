/* server.c - an HTTP server: connections, requests, answers. */
/* SPDX-License-Identifier: MIT */
#include "web.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

enum {
    REQUEST_MS = 10000, /* a slower request is not answered */
    STALL_MS = 60000    /* a client that takes nothing for longer is closed */
};

int64_t web_now_ms(void)
{
    return (int64_t)(recorder_clock_ns_(RECORDER_MONOTONIC_) / 1000000);
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

/* Appends a text to the bytes that client_write() sends. */
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

static void answer_begin(struct web_client *client, const char *status,
                         const char *type, const char *length)
{
    char head[512];
    int count = snprintf(head, sizeof head,
                         "HTTP/1.1 %s\r\n"
                         "Content-Type: %s\r\n"
                         "%s"
                         "Cache-Control: no-store\r\n"
                         "X-Content-Type-Options: nosniff\r\n"
                         "Referrer-Policy: no-referrer\r\n"
                         "Cross-Origin-Resource-Policy: same-origin\r\n"
                         "Content-Security-Policy: frame-ancestors 'none'\r\n"
                         "Connection: close\r\n\r\n",
                         status, type, length);
    client->answered = true;
    web_send(client, head, (size_t)count);
}

void web_answer(struct web_client *client, const char *status, const char *type,
                const char *body, size_t size)
{
    char length[64];
    snprintf(length, sizeof length, "Content-Length: %zu\r\n", size);
    answer_begin(client, status, type, length);
    web_send(client, body, size);
}

void web_refuse(struct web_client *client, const char *status, const char *why)
{
    char text[256];
    int size = snprintf(text, sizeof text, "%s: %s\n", status, why);
    web_answer(client, status, "text/plain; charset=utf-8", text, (size_t)size);
}

bool web_stream(struct web *web, struct web_client *client, const char *type)
{
    unsigned streams = 0;
    for (int i = 0; i < WEB_CLIENTS; i++)
        streams += web->clients[i].streams;
    if (streams >= WEB_STREAMS)
        return false;
    client->streams = true;
    answer_begin(client, "200 OK", type, "");
    return true;
}

/* -------------------------------------------------------------- requests -- */

/* True if the Host header of a request names 127.0.0.1 and our port; a browser
 * leaves port 80 out. */
static bool host_is_ours(const struct web *web, const char *headers)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    const char *host = strcasestr(headers, "\r\nHost:");
    size_t size;
    if (!host || host > strstr(headers, "\r\n\r\n"))
        return false;
    host += sizeof "\r\nHost:" - 1;
    host += strspn(host, " \t");
    size = strcspn(host, "\r\n \t");
    for (size_t i = 0; i < 2; i++) {
        char ours[32];
        size_t name = strlen(names[i]);
        snprintf(ours, sizeof ours, "%s:%u", names[i], web->port);
        if ((size == strlen(ours) || (size == name && web->port == 80)) &&
            strncasecmp(host, ours, size) == 0)
            return true;
    }
    return false;
}

/* True if a path begins with /TOKEN/. Takes the same time for each wrong
 * token: an early end would let a stranger find the token digit by digit. */
static bool token_is_ours(const struct web *web, const char *path)
{
    unsigned differs = path[0] != '/';
    if (strlen(path) < WEB_TOKEN + 2)
        return false;
    for (size_t i = 0; i < WEB_TOKEN; i++)
        differs |= (unsigned)(path[1 + i] ^ web->token[i]);
    return !differs && path[1 + WEB_TOKEN] == '/';
}

/* Splits "GET /TOKEN/path HTTP/1.1", and answers the request. */
static void handle(struct web *web, struct web_client *client)
{
    char *path, *end, *headers = strstr(client->request, "\r\n");
    bool ours = host_is_ours(web, headers);
    *headers = '\0';
    path = strchr(client->request, ' ');
    end = path ? strchr(path + 1, ' ') : NULL;
    if (!end || strncmp(end + 1, "HTTP/1.", 7) != 0) {
        web_refuse(client, "400 Bad Request", "this is no HTTP/1 request");
        return;
    }
    *path++ = *end = '\0';
    if (!ours || !token_is_ours(web, path)) {
        web_refuse(client, "403 Forbidden",
                   "open the whole address that recorder view printed; it has "
                   "a secret token");
        return;
    }
    client->known = true;
    if (strcmp(client->request, "GET") != 0)
        web_refuse(client, "405 Method Not Allowed", "only GET is served");
    else
        web->handle(web, client, path + WEB_TOKEN + 2);
}

/* Reads from a client. False: the client closed the connection. */
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
        return true; /* a connection has one request */
    client->request_size += (size_t)got;
    request[client->request_size] = '\0';
    if (memmem(request, client->request_size, "\r\n\r\n", 4)) {
        if (strlen(request) == client->request_size)
            handle(web, client);
        else
            web_refuse(client, "400 Bad Request", "it has a NUL byte");
    } else if (client->request_size == WEB_REQUEST_MAX - 1)
        web_refuse(client, "431 Request Header Fields Too Large",
                   "a request has at most 8 KiB");
    return true;
}

/* Sends as many bytes as the socket takes. False: the connection broke. */
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
    /* The client closes first: a byte that arrives after our close() would
     * cause a reset, which discards the answer. */
    shutdown(client->fd, SHUT_WR);
    client->deadline_ms = web_now_ms() + 1000;
    return true;
}

/* ---------------------------------------------------------------- server -- */

void web_random(const struct call *call, char to[WEB_TOKEN + 1])
{
    unsigned char bytes[WEB_TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        fail(call, "getrandom: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        sprintf(to + 2 * i, "%02x", bytes[i]);
}

void web_open(struct web *web, unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int yes = 1, fd;
    for (int i = 0; i < WEB_CLIENTS; i++)
        web->clients[i].fd = -1;
    web_random(web->call, web->token);
    fd = web->listener =
        socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, (struct sockaddr *)&address, size) != 0 ||
        listen(fd, WEB_CLIENTS) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        fail(web->call, "127.0.0.1 port %u: %s", port, strerror(errno));
    web->port = ntohs(address.sin_port);
}

/* Accepts a connection. If no place is free, closes the oldest client that did
 * not send the token. */
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

/* Serves a client. False: close the client. */
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
    /* A round accepts at most WEB_CLIENTS / 2: a client among many strangers
     * gets its answer before a stranger takes its place. */
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
