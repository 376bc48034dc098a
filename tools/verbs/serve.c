/* serve.c - recorder serve: a recording of a source, and its files, by HTTP. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LISTEN = OPTION_OWN, SAVES_MAX = 4, SAVE_MS = 120000, LOOK_MS = 20 };

/* A file on its way to a client, or a save that makes it. */
struct job {
    pid_t child; /* 0: the file is there */
    char *path;  /* of what the child writes; or null */
    int said;    /* what the child says */
    int fd;
    uint64_t left;
    int64_t due_ms, deadline_ms;
};

struct serving {
    struct web web;
    struct call *call;
    bool is_loopback;
};

static void job_free(struct web_client *client)
{
    struct job *job = client->own;
    if (job->child > 0) {
        kill(job->child, SIGKILL);
        waitpid(job->child, NULL, 0);
    }
    if (job->path)
        unlink(job->path);
    if (job->fd >= 0)
        close(job->fd);
    if (job->said >= 0)
        close(job->said);
    free(job->path);
    free(job);
}

static struct job *job_new(struct web_client *client)
{
    struct job *job = need(calloc(1, sizeof *job));
    job->fd = job->said = -1;
    client->own = job;
    return job;
}

/* Begins to send a file. */
static void file_send(struct serving *serving, struct web_client *client,
                      int fd)
{
    struct job *job = client->own;
    struct stat is;
    job->fd = fd;
    if (fstat(fd, &is) != 0 ||
        !web_stream(&serving->web, client, "application/octet-stream",
                    is.st_size)) {
        web_refuse(client, "503 Service Unavailable");
        client->ended = true;
        return;
    }
    job->left = (uint64_t)is.st_size;
    client->ended = job->left == 0;
}

/* ------------------------------------------------------------- recording -- */

/* Saves the source by the verb save, in a child. */
static _Noreturn void save_child(struct serving *serving, const struct job *job)
{
    static struct call save;
    const struct call *call = serving->call;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(job->said, 2);
    for (int i = 0; i < WEB_CLIENTS; i++)
        if (serving->web.clients[i].fd >= 0)
            close(serving->web.clients[i].fd);
    close(serving->web.listener);
    save.verb = &verb_save;
    save.arguments = call->arguments;
    save.arguments_count = call->arguments_count;
    for (int i = 0; i < call->options_count; i++)
        if (call->options[i].key != LISTEN)
            save.options[save.options_count++] = call->options[i];
    save.options[save.options_count++] =
        (struct call_option){.key = 'o', .value = job->path};
    exit(verb_save.run(&save));
}

static void answer_recording(struct serving *serving, struct web_client *client)
{
    struct job *job = job_new(client);
    unsigned saves = 0;
    int fd;
    for (int i = 0; i < WEB_CLIENTS; i++) {
        const struct job *other = serving->web.clients[i].own;
        saves += serving->web.clients[i].fd >= 0 && other && other->child > 0;
    }
    if (asprintf(&job->path, "%s/recorder-serve-XXXXXX",
                 environment_or("TMPDIR", "/tmp")) < 0)
        job->path = NULL;
    fd = job->path && saves < SAVES_MAX ? mkostemp(job->path, O_CLOEXEC) : -1;
    if (fd < 0) {
        free(job->path);
        job->path = NULL;
        web_refuse(client, "503 Service Unavailable");
        return;
    }
    close(fd);
    job->said = memfd_create("said", MFD_CLOEXEC);
    job->deadline_ms = web_now_ms() + SAVE_MS;
    fflush(NULL);
    job->child = fork();
    if (job->child == 0)
        save_child(serving, job);
    if (job->child < 0)
        web_refuse(client, "503 Service Unavailable");
    else
        web_wait(client);
}

/* Has the child ended? Then its file is sent, or what it said. */
static void save_look(struct serving *serving, struct web_client *client)
{
    struct job *job = client->own;
    char text[512] = "the recording could not be made\n";
    int status, fd;
    ssize_t got;
    job->due_ms = web_now_ms() + LOOK_MS;
    if (waitpid(job->child, &status, WNOHANG) == 0) {
        if (web_now_ms() < job->deadline_ms)
            return;
        kill(job->child, SIGKILL);
        waitpid(job->child, &status, 0);
    }
    job->child = 0;
    fd = open(job->path, O_RDONLY | O_CLOEXEC);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && fd >= 0) {
        file_send(serving, client, fd);
        return;
    }
    if (fd >= 0)
        close(fd);
    got = pread(job->said, text, sizeof text - 1, 0);
    if (got > 0)
        text[got] = '\0';
    web_answer(client, "500 Internal Server Error", "text/plain; charset=utf-8",
               text, strlen(text));
    client->ended = true;
}

/* ---------------------------------------------------------------- module -- */

/* Opens the file of the build-id; below 0: there is none. */
static int module_of(const struct serving *serving, const char *id)
{
    struct call *call = serving->call;
    struct source_how how = {.executable = call_option(call, 'e'),
                             .sysroot = call_option(call, OPTION_SYSROOT),
                             .unprepared = true};
    struct source source;
    int fd = -1;
    if (source_open(&source, call->name, &how))
        return -1;
    for (size_t i = 0; i < source.modules_count && fd < 0; i++) {
        struct module *m = &source.modules[i];
        unsigned char is[64];
        char text[129];
        size_t size =
            m->offset == 0 ? source.build_id(&source, m->start, is) : 0;
        for (size_t k = 0; k < size; k++)
            sprintf(text + 2 * k, "%02x", is[k]);
        if (size && strcmp(text, id) == 0)
            fd = module_open(&source, m);
    }
    source_close(&source);
    return fd;
}

static void answer_module(struct serving *serving, struct web_client *client,
                          const char *id)
{
    size_t size = strlen(id);
    int fd = -1;
    if (size >= 4 && size <= 128 && strspn(id, "0123456789abcdef") == size)
        fd = module_of(serving, id);
    if (fd < 0) {
        web_refuse(client, "404 Not Found");
        return;
    }
    job_new(client);
    file_send(serving, client, fd);
}

/* ---------------------------------------------------------------- server -- */

/* A page of another site may have bound its name to this address: so a browser
 * that names one is refused. */
static bool host_is_number(const char *headers)
{
    char text[64];
    unsigned char address[16];
    size_t size = 0, host_size;
    const char *host = web_header(headers, "Host", &size);
    if (!host)
        return false;
    if (*host == '[') {
        host++;
        host_size = strcspn(host, "]\r\n");
    } else {
        host_size = strcspn(host, ":\r\n");
    }
    if (host_size == 0 || host_size > size || host_size >= sizeof text)
        return false;
    memcpy(text, host, host_size);
    text[host_size] = '\0';
    return strcmp(text, "localhost") == 0 ||
           inet_pton(AF_INET, text, address) == 1 ||
           inet_pton(AF_INET6, text, address) == 1;
}

/* Is a program of this machine that connects one of ours, or root's? The kernel
 * tells in a table: "sl local remote st queues tr retransmits uid". */
static bool peer_is_ours(const struct web_client *client)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    char line[512];
    bool ours = false;
    FILE *table = fopen("/proc/net/tcp", "re");
    if (!table || getpeername(client->fd, (struct sockaddr *)&peer, &size) != 0)
        size = 0;
    while (size && !ours && fgets(line, sizeof line, table)) {
        unsigned address, port, uid;
        if (sscanf(line, " %*u: %x:%x %*x:%*x %*x %*x:%*x %*x:%*x %*x %u",
                   &address, &port, &uid) == 3 &&
            address == peer.sin_addr.s_addr && port == ntohs(peer.sin_port))
            ours = uid == getuid() || uid == 0;
    }
    if (table)
        fclose(table);
    return ours;
}

static void handle(struct web *web, struct web_client *client,
                   const char *method, const char *path, const char *headers)
{
    static const char module[] = "/module/";
    struct serving *serving = web->own;
    if (!host_is_number(headers) ||
        (serving->is_loopback && !peer_is_ours(client))) {
        web_refuse(client, "403 Forbidden");
        return;
    }
    client->known = serving->is_loopback;
    if (strcmp(method, "GET") != 0)
        web_refuse(client, "405 Method Not Allowed");
    else if (strcmp(path, "/recording") == 0)
        answer_recording(serving, client);
    else if (strncmp(path, module, sizeof module - 1) == 0)
        answer_module(serving, client, path + sizeof module - 1);
    else
        web_refuse(client, "404 Not Found");
}

static int64_t job_due(const struct web_client *client)
{
    const struct job *job = client->own;
    return job->child ? job->due_ms : 0;
}

static void job_more(struct web *web, struct web_client *client)
{
    static char piece[WEB_PIECE_BYTES];
    struct job *job = client->own;
    size_t size = sizeof piece;
    ssize_t got;
    if (job->child) {
        save_look(web->own, client);
        return;
    }
    if (job->left < size)
        size = (size_t)job->left;
    got = read(job->fd, piece, size);
    if (got <= 0) { /* it was cut off: the client sees that bytes are missing */
        client->ended = true;
        shutdown(client->fd, SHUT_WR);
        return;
    }
    job->left -= (uint64_t)got;
    client->ended = job->left == 0;
    web_send(client, piece, (size_t)got);
}

/* Splits "ADDRESS:PORT" or "[::1]:80"; false: it is not that. */
static bool address_split(const char *text, char address[64], unsigned *port)
{
    const char *colon = strrchr(text, ':');
    size_t size = colon ? (size_t)(colon - text) : 0;
    char *end;
    unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 65536;
    if (size >= 2 && *text == '[' && text[size - 1] == ']') {
        text++;
        size -= 2;
    } else if (memchr(text, ':', size)) {
        return false;
    }
    if (size == 0 || size > 63 || number > 65535 || *end || end == colon + 1)
        return false;
    memcpy(address, text, size);
    address[size] = '\0';
    *port = (unsigned)number;
    return true;
}

static bool program_runs(const struct call *call)
{
    int pid = call->source.pid;
    return !pid || kill(pid, 0) == 0 || errno == EPERM;
}

static int serve(struct call *call)
{
    struct serving *serving = need(calloc(1, sizeof *serving));
    struct web *web = &serving->web;
    const char *listens = call_option(call, LISTEN);
    char address[64] = "127.0.0.1";
    unsigned port = 0;
    if (listens && !address_split(listens, address, &port))
        misuse(call, "--listen %s: is not ADDRESS:PORT", listens);
    call_open(call, 0);
    serving->call = web->call = call;
    serving->is_loopback = strcmp(address, "127.0.0.1") == 0;
    web->own = serving;
    web->handle = handle;
    web->more = job_more;
    web->due = job_due;
    web->gone = job_free;
    web->watched = -1;
    if (!web_open(web, address, port))
        fail(call, "%s port %u: %s", address, port, strerror(errno));
#ifdef SYS_pidfd_open
    if (call->source.pid)
        web->watched = (int)syscall(SYS_pidfd_open, call->source.pid, 0);
#endif
    if (!serving->is_loopback)
        warn(call,
             "whoever reaches %s may read what it recorded, and its "
             "program's files",
             address);
    printf(strchr(address, ':') ? "http://[%s]:%u/\n" : "http://%s:%u/\n",
           address, web->port);
    fflush(stdout);
    while (!web_round(web) && program_runs(call))
        ;
    warn(call, "the program has ended");
    web_close(web);
    if (web->watched >= 0)
        close(web->watched);
    free(serving);
    return 0;
}

static const struct option_row rows[] = {
    {LISTEN, "listen", "ADDRESS:PORT",
     "where; else 127.0.0.1 and any port that is free, for programs of this "
     "user and root alone"},
    {0, NULL, NULL, NULL}};

const struct verb verb_serve = {
    .name = "serve",
    .arguments = "SOURCE",
    .summary = "serves a recording of it, and its files, to another machine",
    .help =
        "Prints http://ADDRESS:PORT/, which is a SOURCE for every verb, on "
        "this machine or, with --listen, on others: /recording is what "
        "recorder save writes at that moment, /module/BUILD-ID one of the ELF "
        "files that the program has mapped. Nothing else is served, and "
        "nothing can be changed. Who fetches them keeps the files in "
        "$XDG_CACHE_HOME/recorder. There is no password and no encryption: "
        "through a network that others use, ssh -L is the way.",
    .rows = rows,
    .run = serve};
