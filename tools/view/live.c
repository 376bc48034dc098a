/* live.c - serves the page of a running program, and its records. */
/* SPDX-License-Identifier: MIT */
/*
    One HTTP/1.1 server on 127.0.0.1, one thread, poll(). It answers

        GET /TOKEN/         the page
        GET /TOKEN/events   Server-Sent Events: `batch` (view.h), and `end`

    and refuses everything else. The token is 128 random bits, so that no other
    user of the machine, and no page of other sites, can read on; the Host
    header is checked, so that no name can be bound to this address.

    Each stream has a reader and a pack of its own: a browser that comes later
    gets what the rings hold then, and one that is slow or asleep costs the
    others nothing: its reader waits until it has taken what it was sent.
*/
#include "json.h"
#include "output.h"
#include "view.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    STREAMS = 32,            /* browsers at a time, as --help says */
    CLIENTS = 2 * STREAMS,   /* with those who ask for the page */
    REQUEST_MAX = 8192,      /* bytes of a request, with its headers */
    REQUEST_MS = 10000,      /* that it may take */
    STALL_MS = 60000,        /* without a byte taken: the browser is gone */
    END_MS = 3000,           /* for browsers to hear of the program's end */
    TAKE_MS = 50,            /* between two takes, or */
    TAKE_FACTOR = 2,         /* times the length of a take */
    COUNT_MS = 500,          /* between two looks at the figures */
    SEND_BYTES = 256 * 1024, /* that the kernel keeps for a browser */
};

struct client {
    int fd; /* below 0: free */
    bool streams, answered;
    bool known;     /* has shown the token */
    uint64_t begun; /* number of the connection */
    char request[REQUEST_MAX];
    size_t request_size;
    char *out;
    size_t out_size, out_sent;
    int64_t deadline_ms, take_ms, count_ms;
    struct reader reader;
    struct view_pack *pack; /* null: no stream */
    unsigned takes;         /* 0, 1, 2: or more */
    bool more;              /* events of the last reader_take() */
    bool ended;
};

struct server {
    struct call *call;
    const struct value_option *values;
    size_t values_count;
    int listener, process; /* process: a pidfd, or below 0 */
    unsigned port;
    uint64_t begun; /* connections */
    char token[33];
    struct client clients[CLIENTS];
    const char *ended; /* why; null: the program runs */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --------------------------------------------------------------- answers -- */

static void client_close(struct client *client)
{
    close(client->fd);
    free(client->out);
    if (client->pack) {
        view_pack_free(client->pack);
        reader_close(&client->reader);
    }
    *client = (struct client){.fd = -1};
}

/* Appends a text to the bytes to be sent. */
static void client_send(struct client *client, const char *text, size_t size)
{
    size_t left = client->out_size - client->out_sent;
    char *out = need(malloc(left + size));
    if (!left)
        client->deadline_ms = now_ms() + STALL_MS;
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

static void answer(struct client *client, const char *status, const char *type,
                   const char *body, size_t size)
{
    char head[512];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\n"
                          "Content-Length: %zu\r\n%s\r\n",
                          status, type, size, common);
    client->answered = true;
    client_send(client, head, (size_t)length);
    client_send(client, body, size);
}
static void refuse(struct client *client, const char *status)
{
    answer(client, status, "text/plain", status, strlen(status));
}

static void answer_page(struct server *server, struct client *client)
{
    struct view_page page = {
        .call = server->call, .reader = &server->call->reader, .live = true};
    char *text;
    size_t size;
    FILE *to = need(open_memstream(&text, &size));
    view_page_begin(&page, to);
    view_page_end(&page, to);
    if (fclose(to) != 0)
        need(NULL);
    answer(client, "200 OK", "text/html", text, size);
    free(text);
}

static void answer_stream(struct server *server, struct client *client)
{
    struct call *call = server->call;
    char head[512];
    int length;
    const char *wrong = NULL;
    unsigned streams = 0;
    for (int i = 0; i < CLIENTS; i++)
        streams += server->clients[i].streams;
    if (streams < STREAMS)
        wrong = reader_open(&client->reader, call->source.memory,
                            call->source.registry);
    if (wrong || streams >= STREAMS) {
        refuse(client, "503 Service Unavailable");
        return;
    }
    client->reader.follows = true;
    client->reader.kernel = call->reader.kernel;
    reader_select(&client->reader, &call->selection);
    client->pack = view_pack_new(call, &client->reader, server->values,
                                 server->values_count);
    length = snprintf(head, sizeof head,
                      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                      "%s\r\n",
                      common);
    client->streams = client->answered = true;
    client_send(client, head, (size_t)length);
}

/* -------------------------------------------------------------- requests -- */

/* Returns the value of a header, *size bytes, or null. */
static const char *header(const char *request, const char *name, size_t *size)
{
    size_t length = strlen(name);
    const char *line = strstr(request, "\r\n");
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

static bool host_is_ours(const struct server *server, const char *request)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    size_t size;
    const char *host = header(request, "Host", &size);
    for (size_t i = 0; host && i < 2; i++) {
        char ours[32];
        snprintf(ours, sizeof ours, "%s:%u", names[i], server->port);
        if (size == strlen(ours) && strncasecmp(host, ours, size) == 0)
            return true;
        if (server->port == 80 && size == strlen(names[i]) &&
            strncasecmp(host, names[i], size) == 0)
            return true; /* the port of http is left out */
    }
    return false;
}

/* Compares in constant time, so that nobody can guess the token byte by
 * byte. */
static bool token_is_ours(const struct server *server, const char *path)
{
    unsigned differs = path[0] != '/';
    for (size_t i = 0; i < 32; i++)
        differs |= (unsigned)(path[1 + i] ^ server->token[i]);
    return !differs && path[33] == '/';
}

static void handle(struct server *server, struct client *client)
{
    char *request = client->request;
    char *path, *end = strstr(request, "\r\n");
    *end = '\0';
    if (strlen(request) != (size_t)(end - request)) {
        refuse(client, "400 Bad Request");
        return;
    }
    path = strchr(request, ' ');
    end = path ? strchr(path + 1, ' ') : NULL;
    if (!end || strncmp(end + 1, "HTTP/1.", 7) != 0) {
        refuse(client, "400 Bad Request");
        return;
    }
    *path++ = *end = '\0';
    /* Headers stand behind the line, which is cut up by now. */
    end += strlen(end + 1) + 1;
    *end = '\r';
    if (!host_is_ours(server, end) || strlen(path) < 34 ||
        !token_is_ours(server, path)) {
        refuse(client, "403 Forbidden");
        return;
    }
    client->known = true;
    if (strcmp(request, "GET") != 0)
        refuse(client, "405 Method Not Allowed");
    else if (strcmp(path + 34, "") == 0)
        answer_page(server, client);
    else if (strcmp(path + 34, "events") == 0)
        answer_stream(server, client);
    else
        refuse(client, "404 Not Found");
}

/* Reads from a client. False: it closed the connection. */
static bool client_read(struct server *server, struct client *client)
{
    char *request = client->request;
    size_t room = REQUEST_MAX - 1 - client->request_size;
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
            handle(server, client);
        else
            refuse(client, "400 Bad Request");
    } else if (client->request_size == REQUEST_MAX - 1)
        refuse(client, "431 Request Header Fields Too Large");
    return true;
}

/* Sends as much as the socket takes. False: the connection is broken. */
static bool client_write(struct client *client)
{
    ssize_t sent = send(client->fd, client->out + client->out_sent,
                        client->out_size - client->out_sent, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    client->out_sent += (size_t)sent;
    client->deadline_ms = now_ms() + STALL_MS;
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
    client->deadline_ms = now_ms() + 1000;
    return true;
}

/* ---------------------------------------------------------------- stream -- */

static void send_batch(struct client *client)
{
    char *text;
    size_t size;
    FILE *to = need(open_memstream(&text, &size));
    fputs("event: batch\ndata: ", to);
    client->more =
        view_pack_write(client->pack, to, VIEW_BLOCK, false) == VIEW_BLOCK;
    fputs("\n\n", to);
    if (fclose(to) != 0)
        need(NULL);
    client_send(client, text, size);
    free(text);
}

static void send_end(struct client *client, const char *why)
{
    char *text;
    size_t size;
    FILE *to = need(open_memstream(&text, &size));
    fputs("event: end\ndata: ", to);
    json_string(to, why, strlen(why), false);
    fputs("\n\n", to);
    if (fclose(to) != 0)
        need(NULL);
    client_send(client, text, size);
    client->ended = true;
    free(text);
}

/* Sends a batch of the records since the last one, to a client that has taken
 * all before: each gets one in turn, and a client that is asleep none. */
static void stream(struct server *server, struct client *client)
{
    int64_t now = now_ms();
    bool count = now >= client->count_ms;
    if (!client->more && now >= client->take_ms && !server->ended) {
        const char *wrong;
        if (client->takes == 1) { /* --last applies to the first take */
            struct reader_selection all = server->call->selection;
            all.last = 0;
            reader_select(&client->reader, &all);
        }
        wrong = reader_take(&client->reader);
        if (wrong)
            server->ended = wrong;
        if (client->takes == 0)
            client->reader.missed = 0; /* the figures have them */
        if (client->takes < 2)
            client->takes++;
        if (count) {
            reader_count(&client->reader);
            client->count_ms = now_ms() + COUNT_MS;
        }
        client->more = client->reader.taken > 0 || count;
        client->take_ms = now_ms();
        client->take_ms += TAKE_MS + TAKE_FACTOR * (client->take_ms - now);
    }
    if (client->more)
        send_batch(client);
    if (server->ended && !client->more)
        send_end(client, server->ended);
}

/* ---------------------------------------------------------------- server -- */

static void server_open(struct server *server, unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof address;
    int yes = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->listener =
        socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0 ||
        setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &yes,
                   sizeof yes) != 0 ||
        bind(server->listener, (struct sockaddr *)&address, size) != 0 ||
        listen(server->listener, CLIENTS) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &size) != 0)
        fail(server->call, "127.0.0.1 port %u: %s", port, strerror(errno));
    server->port = ntohs(address.sin_port);
    if (!view_random(server->token))
        fail(server->call, "getrandom: %s", strerror(errno));
    server->process = -1;
#ifdef SYS_pidfd_open
    if (server->call->source.pid)
        server->process =
            (int)syscall(SYS_pidfd_open, server->call->source.pid, 0);
#endif
    for (int i = 0; i < CLIENTS; i++)
        server->clients[i].fd = -1;
}

/* Accepts a connection. If all places are taken, the oldest client that has not
 * shown the token is closed, be it answered or not. */
static bool accept_one(struct server *server)
{
    struct client *to = NULL, *client = server->clients;
    int fd =
        accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int bytes = SEND_BYTES;
    if (fd < 0)
        return false;
    for (; client < server->clients + CLIENTS; client++)
        if (client->fd < 0 || (to && to->fd < 0))
            to = client->fd < 0 ? client : to;
        else if (!client->known && (!to || client->begun < to->begun))
            to = client;
    if (!to) {
        close(fd);
        return true;
    }
    if (to->fd >= 0)
        client_close(to);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    to->fd = fd;
    to->begun = ++server->begun;
    to->deadline_ms = now_ms() + REQUEST_MS;
    return true;
}

/* True while the program runs. A pidfd, if the kernel has them, tells
 * sooner. */
static bool program_runs(const struct server *server)
{
    int pid = server->call->source.pid;
    return !pid || kill(pid, 0) == 0 || errno == EPERM;
}

/* Does one round: waits, then serves each client. */
static void server_round(struct server *server)
{
    struct pollfd fds[CLIENTS + 2];
    struct client *clients = server->clients;
    int64_t now = now_ms(), next = now + 1000;
    int count = 2, who[CLIENTS + 2];
    fds[0] = (struct pollfd){.fd = server->ended ? -1 : server->listener,
                             .events = POLLIN};
    fds[1] = (struct pollfd){.fd = server->ended ? -1 : server->process,
                             .events = POLLIN};
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = &clients[i];
        bool pending = client->out_sent < client->out_size;
        if (client->fd < 0)
            continue;
        who[count] = i;
        fds[count++] = (struct pollfd){
            .fd = client->fd,
            .events = (short)(POLLIN | (pending ? POLLOUT : 0))};
        if (client->streams && !pending &&
            (client->more || client->take_ms < next))
            next = client->more ? now : client->take_ms;
        if ((pending || !client->streams) && client->deadline_ms < next)
            next = client->deadline_ms;
    }
    if (poll(fds, (nfds_t)count, next > now ? (int)(next - now) : 0) < 0 &&
        errno != EINTR)
        fail(server->call, "poll: %s", strerror(errno));
    now = now_ms();
    if (!server->ended && (fds[1].revents || !program_runs(server)))
        server->ended = "the program has ended";
    for (int k = 2; k < count; k++) {
        struct client *client = &clients[who[k]];
        bool stays = true;
        if (fds[k].revents & (POLLIN | POLLHUP | POLLERR))
            stays = client_read(server, client);
        if (stays && client->streams && !client->ended &&
            client->out_sent == client->out_size)
            stream(server, client);
        if (stays && client->out_sent < client->out_size)
            stays = client_write(client);
        else if (stays && (!client->streams || client->ended))
            stays = now < client->deadline_ms;
        if (client->out_sent < client->out_size && now >= client->deadline_ms)
            stays = false;
        if (!stays)
            client_close(client);
    }
    /* A browser that comes among many is closed only after CLIENTS / 2 others,
     * which is after it was answered. */
    for (int i = 0; fds[0].revents && i < CLIENTS / 2; i++)
        if (!accept_one(server))
            break;
}

/* Writes a file that leads a browser to the address and that only the user can
 * read: everybody can read the arguments of xdg-open. */
static char *door(const struct call *call, const char *address)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    char *path;
    int fd;
    if (!folder || !*folder)
        folder = getenv("TMPDIR");
    if (asprintf(&path, "%s/recorder-XXXXXX.html",
                 folder && *folder ? folder : "/tmp") < 0)
        need(NULL);
    fd = mkostemps(path, 5, O_CLOEXEC);
    if (fd < 0 ||
        dprintf(
            fd,
            "<!doctype html><meta name=\"referrer\" content=\"no-referrer\">"
            "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
            address) < 0)
        warn(call, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return path;
}

int view_live(struct call *call, const struct value_option *values,
              size_t values_count, unsigned port, bool open_it)
{
    struct server *server = need(calloc(1, sizeof *server));
    char address[80], *path = NULL;
    int64_t end_ms = 0;
    int open = 0;
    server->call = call;
    server->values = values;
    server->values_count = values_count;
    if (call_option(call, OPTION_SINCE) || call_option(call, OPTION_UNTIL))
        call_take(call); /* it learns the program's clock */
    server_open(server, port);
    snprintf(address, sizeof address, "http://127.0.0.1:%u/%s/", server->port,
             server->token);
    printf("%s\n", address);
    fflush(stdout);
    if (open_it && view_can_open()) {
        path = door(call, address);
        output_temporary(path); /* so that Ctrl+C removes it */
        view_open(path);
    }
    do {
        server_round(server);
        if (server->ended && !end_ms) {
            end_ms = now_ms() + END_MS;
            warn(call, "%s", server->ended);
        }
        open = 0;
        for (int i = 0; i < CLIENTS; i++)
            open += server->clients[i].fd >= 0;
    } while (!server->ended || (open && now_ms() < end_ms));
    for (int i = 0; i < CLIENTS; i++)
        if (server->clients[i].fd >= 0)
            client_close(&server->clients[i]);
    if (path)
        unlink(path);
    free(path);
    close(server->listener);
    if (server->process >= 0)
        close(server->process);
    free(server);
    return 0;
}
