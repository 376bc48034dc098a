/* live.c - serves the page of a running program, and its records. */
/* SPDX-License-Identifier: MIT */
/*
    The server of tools/web answers

        GET /TOKEN/         the page
        GET /TOKEN/events   Server-Sent Events: `batch` (view.h), and `end`

    Each stream has its own reader and pack. A browser that connects later gets
    the records that the rings still hold. A slow or sleeping browser costs the
    others nothing, because its reader waits until the browser took all batches.
*/
#include "print.h"
#include "view.h"
#include "web.h"

#include <signal.h>
#include <sys/syscall.h>

enum {
    END_MS = 3000,   /* for browsers to hear of the program's end */
    TAKE_MS = 50,    /* between two takes, or */
    TAKE_FACTOR = 2, /* times the length of a take */
    COUNT_MS = 500   /* between two looks at the figures */
};

/* The stream of events to one browser. */
struct stream {
    const struct server *server;
    int64_t take_ms, count_ms;
    struct reader reader;
    struct view_pack *pack;
    unsigned takes; /* 0, 1, 2: or more */
    bool more;      /* events of the last reader_take() */
};

struct server {
    struct web web;
    struct call *call;
    const struct value_option *values;
    size_t values_count;
    const char *ended; /* why; null: the program runs */
};

static void stream_free(struct web_client *client)
{
    struct stream *stream = client->own;
    view_pack_free(stream->pack);
    reader_close(&stream->reader);
    free(stream);
}

/* --------------------------------------------------------------- answers -- */

static void answer_page(struct server *server, struct web_client *client)
{
    struct view_page page = {
        .call = server->call, .reader = &server->call->reader, .live = true};
    char *text;
    size_t size;
    FILE *to = need(open_memstream(&text, &size));
    view_page_begin(&page, to);
    view_page_end(&page, to);
    need_done(fclose(to) == 0);
    web_answer(client, "200 OK", "text/html; charset=utf-8", text, size);
    free(text);
}

static void answer_stream(struct server *server, struct web_client *client)
{
    struct call *call = server->call;
    struct stream *stream = need(calloc(1, sizeof *stream));
    if (reader_open(&stream->reader, call->source.memory,
                    call->source.registry)) {
        free(stream);
        web_refuse(client, "503 Service Unavailable", "no reader of its rings");
        return;
    }
    stream->server = server;
    stream->reader.follows = true;
    stream->reader.kernel = call->reader.kernel;
    reader_select(&stream->reader, &call->selection);
    stream->pack = view_pack_new(call, &stream->reader, server->values,
                                 server->values_count);
    view_pack_follow(stream->pack);
    client->own = stream;
    if (!web_stream(&server->web, client, "text/event-stream"))
        web_refuse(client, "503 Service Unavailable",
                   "32 browsers follow the program already");
}

static void handle(struct web *web, struct web_client *client, const char *path)
{
    if (strcmp(path, "") == 0)
        answer_page(web->own, client);
    else if (strcmp(path, "events") == 0)
        answer_stream(web->own, client);
    else
        web_refuse(client, "404 Not Found", "no such page");
}

/* ---------------------------------------------------------------- stream -- */

/* Sends the text of a stream that open_memstream() made. */
static void send_text(struct web_client *client, FILE *to, char **text,
                      size_t *size)
{
    fputs("\n\n", to);
    need_done(fclose(to) == 0);
    web_send(client, *text, *size);
    free(*text);
}

static void send_batch(struct web_client *client)
{
    struct stream *stream = client->own;
    char *text;
    size_t size;
    FILE *to = need(open_memstream(&text, &size));
    fputs("event: batch\ndata: ", to);
    stream->more =
        view_pack_write(stream->pack, to, VIEW_BLOCK, false) == VIEW_BLOCK;
    send_text(client, to, &text, &size);
}

static void send_end(struct web_client *client, const char *why)
{
    char *text;
    size_t size;
    FILE *to = need(open_memstream(&text, &size));
    json_put(to, "event: end\ndata: %s", why);
    send_text(client, to, &text, &size);
    client->ended = true;
}

/* Sends a batch of the records since the last one to a client that has taken
 * all earlier batches. Clients get theirs in turn; a sleeping client gets
 * none. */
static void stream_more(struct web *web, struct web_client *client)
{
    struct server *server = web->own;
    struct stream *stream = client->own;
    int64_t now = web_now_ms();
    bool count = now >= stream->count_ms;
    if (!stream->more && now >= stream->take_ms && !server->ended) {
        const char *wrong;
        if (stream->takes == 1) { /* --last applies to the first take */
            struct reader_selection all = server->call->selection;
            all.last = 0;
            reader_select(&stream->reader, &all);
        }
        wrong = reader_take(&stream->reader);
        if (wrong)
            server->ended = wrong;
        if (stream->takes == 0)
            stream->reader.missed = 0; /* the figures have them */
        if (stream->takes < 2)
            stream->takes++;
        if (count) {
            reader_count(&stream->reader);
            stream->count_ms = web_now_ms() + COUNT_MS;
        }
        stream->more = stream->reader.taken > 0 || count;
        stream->take_ms = web_now_ms();
        stream->take_ms += TAKE_MS + TAKE_FACTOR * (stream->take_ms - now);
    }
    if (stream->more)
        send_batch(client);
    if (server->ended && !stream->more) {
        view_pack_ends(stream->pack);
        send_batch(client);
    }
    if (server->ended && !stream->more)
        send_end(client, server->ended);
}

static int64_t stream_due(const struct web_client *client)
{
    const struct stream *stream = client->own;
    return stream->more || stream->server->ended ? 0 : stream->take_ms;
}

/* ---------------------------------------------------------------- server -- */

static void server_open(struct server *server, unsigned port)
{
    struct web *web = &server->web;
    web->call = server->call;
    web->own = server;
    web->handle = handle;
    web->more = stream_more;
    web->due = stream_due;
    web->gone = stream_free;
    web_open(web, port);
    web->watched = -1;
#ifdef SYS_pidfd_open
    if (server->call->source.pid)
        web->watched =
            (int)syscall(SYS_pidfd_open, server->call->source.pid, 0);
#endif
}

/* Writes a file that redirects a browser to the address, readable by the user
 * alone: the arguments of xdg-open are public, and the address is a secret. */
static char *door(const struct call *call, const char *address)
{
    const char *folder =
        environment_or("XDG_RUNTIME_DIR", environment_or("TMPDIR", "/tmp"));
    char *path = need_text("%s/recorder-XXXXXX.html", folder);
    int fd = mkostemps(path, 5, O_CLOEXEC);
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
    const int *pid = &call->source.pid;
    int64_t end_ms = 0;
    server->call = call;
    server->values = values;
    server->values_count = values_count;
    if (call_option(call, OPTION_SINCE) || call_option(call, OPTION_UNTIL))
        call_take(call); /* it learns the program's clock */
    server_open(server, port);
    snprintf(address, sizeof address, "http://127.0.0.1:%u/%s/",
             server->web.port, server->web.token);
    printf("%s\n", address);
    fflush(stdout);
    if (open_it && view_can_open()) {
        path = door(call, address);
        output_temporary(path); /* so that Ctrl+C removes it */
        view_open(path);
    }
    do {
        bool ends = web_round(&server->web) || /* a pidfd tells sooner: */
                    (*pid && kill(*pid, 0) != 0 && errno != EPERM);
        if (ends && !server->ended)
            server->ended = "the program has ended";
        if (server->ended && !end_ms) {
            server->web.closed = true;
            end_ms = web_now_ms() + END_MS;
            warn(call, "%s", server->ended);
        }
    } while (!server->ended ||
             (web_count(&server->web) && web_now_ms() < end_ms));
    web_close(&server->web);
    if (path)
        unlink(path);
    free(path);
    if (server->web.watched >= 0)
        close(server->web.watched);
    free(server);
    return 0;
}
