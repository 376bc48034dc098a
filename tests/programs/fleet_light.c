/* Light agents of a fleet, thousands in one process, for tests of recorder-fleet. */
/* SPDX-License-Identifier: MIT */
/*
    fleet_light PORT HOSTS PROCESSES    each host answers a freeze of shop, and
                                        publishes an index entry of PROCESSES
    Raw NATS, without a check of what the server sends. Prints "ready".
*/
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct light {
    int fd, number;
    size_t size;
    char in[8192];
};
static int processes;

static void must(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

static void send_all(struct light *l, const char *text, size_t size)
{
    while (size) {
        ssize_t sent = write(l->fd, text, size);
        must(sent > 0, "write");
        text += sent;
        size -= (size_t)sent;
    }
}

static void publish(struct light *l, const char *subject, const char *text)
{
    char head[512];
    int size =
        snprintf(head, sizeof head, "PUB %s %zu\r\n", subject, strlen(text));
    send_all(l, head, (size_t)size);
    send_all(l, text, strlen(text));
    send_all(l, "\r\n", 2);
}

/* Answers, then names its processes in the index. */
static void requested(struct light *l, const char *reply, const char *json)
{
    static char entry[1 << 20];
    char id[65], answer[256], subject[256], *at = strstr(json, "\"id\":\"");
    int size;
    if (!at || sscanf(at + 6, "%64[^\"]", id) != 1)
        return;
    snprintf(answer, sizeof answer,
             "{\"host\":\"h%d\",\"processes\":%d,\"snapshot\":\"%s\"}",
             l->number, processes, id);
    publish(l, reply, answer);
    size = sprintf(entry,
                   "{\"host\":\"h%d\",\"snapshot\":\"%s\",\"when_ns\":1,"
                   "\"processes\":%d,\"why\":\"x\",\"recordings\":[",
                   l->number, id, processes);
    for (int i = 0; i < processes; i++)
        size += sprintf(entry + size,
                        "%s{\"process\":\"p.%d\",\"nuid\":\"n%d\",\"size\":100,"
                        "\"bytes\":100,\"chunks\":1}",
                        i ? "," : "", i, i);
    strcpy(entry + size, "]}");
    snprintf(subject, sizeof subject, "recorder.store.shop.h%d.index.%s",
             l->number, id);
    publish(l, subject, entry);
}

/* Takes a line; returns the bytes that follow it and belong to it, or -1 while
 * some have not come. */
static int line_take(struct light *l, char *line, const char *end)
{
    char reply[256] = "";
    int size = 0;
    if (strncmp(line, "PING", 4) == 0)
        send_all(l, "PONG\r\n", 6);
    if (strncmp(line, "MSG ", 4) != 0)
        return 0;
    if (sscanf(line, "MSG %*s %*s %255s %d", reply, &size) != 2)
        return sscanf(line, "MSG %*s %*s %d", &size), size + 2;
    if (l->in + l->size < end + 2 + size + 2)
        return -1;
    requested(l, reply, end + 2);
    return size + 2;
}

static void input(struct light *l)
{
    ssize_t got = read(l->fd, l->in + l->size, sizeof l->in - 1 - l->size);
    char *line = l->in, *end;
    must(got > 0, "the server");
    l->size += (size_t)got;
    l->in[l->size] = '\0';
    while ((end = strstr(line, "\r\n"))) {
        int more = line_take(l, line, end);
        if (more < 0)
            break;
        line = end + 2 + more;
    }
    l->size -= (size_t)(line - l->in);
    memmove(l->in, line, l->size);
}

static void light_start(struct light *l, int port, int loop)
{
    static const char hello[] =
        "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true}\r\n"
        "SUB recorder.freeze.shop 1\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
    char subject[64];
    l->fd = socket(AF_INET, SOCK_STREAM, 0);
    must(connect(l->fd, (struct sockaddr *)&to, sizeof to) == 0, "connect");
    send_all(l, hello, sizeof hello - 1);
    snprintf(subject, sizeof subject, "recorder.store.shop.h%d.host",
             l->number);
    publish(l, subject, "{}");
    send_all(l, "PING\r\n", 6);
    while (!strstr(l->in, "PONG")) { /* the hub knows its subscription */
        ssize_t got = read(l->fd, l->in + l->size, sizeof l->in - 1 - l->size);
        must(got > 0, "the server");
        l->size += (size_t)got;
    }
    memset(l->in, 0, sizeof l->in);
    l->size = 0;
    must(epoll_ctl(loop, EPOLL_CTL_ADD, l->fd, &event) == 0, "epoll");
}

int main(int count, char **values)
{
    struct rlimit most;
    struct epoll_event events[64];
    int hosts, loop = epoll_create1(0);
    struct light *all;
    if (count != 4)
        return 2;
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    hosts = atoi(values[2]);
    processes = atoi(values[3]);
    all = calloc((size_t)hosts, sizeof *all);
    for (int i = 0; i < hosts; i++) {
        all[i].number = i;
        light_start(&all[i], atoi(values[1]), loop);
    }
    puts("ready");
    fflush(stdout);
    for (;;)
        for (int i = epoll_wait(loop, events, 64, -1); i-- > 0;)
            input(events[i].data.ptr);
}
