/* web.h - the small HTTP server of `recorder view --live`. */
/* SPDX-License-Identifier: MIT */
/*
   The server listens on 127.0.0.1, has one thread, and waits with poll(). Each
   connection carries one request, GET, and one answer: a text, or a stream. The
   server asks for the next piece of a stream after the client took all pieces
   before. A request has at most WEB_REQUEST_MAX bytes and ten seconds; a client
   that takes no byte of its answer for a minute is closed.

   Only who knows the token reads anything: the server answers 403 to each path
   that does not begin with /TOKEN/, and to each Host header that names another
   host, because other sites may bind their names to 127.0.0.1.
*/
#pragma once

#include "command.h"

enum {
    WEB_STREAMS = 32,              /* at a time */
    WEB_CLIENTS = 2 * WEB_STREAMS, /* with the clients that get a text */
    WEB_REQUEST_MAX = 8192,        /* bytes of a request, with its headers */
    WEB_PIECE_BYTES = 256 * 1024,  /* that the kernel keeps for a client */
    WEB_TOKEN = 32                 /* hexadecimal digits, 4 random bits each */
};

struct web_client {
    int fd; /* below 0: free */
    bool answered;
    bool known;     /* sent the token: is never closed to make room */
    uint64_t begun; /* number of the connection */
    char request[WEB_REQUEST_MAX];
    size_t request_size;
    char *out;
    size_t out_size, out_sent;
    int64_t deadline_ms;
    bool streams, ended; /* by web_stream(); its stream adds no more */
    void *own;           /* of the stream */
};

struct web {
    struct call *call;     /* for fail() */
    int listener, watched; /* another descriptor to wait for, or below 0 */
    unsigned port;
    char token[WEB_TOKEN + 1];
    bool closed;    /* the server accepts no more connections */
    uint64_t begun; /* connections */
    struct web_client clients[WEB_CLIENTS];
    /* Answers a request for /TOKEN/path. */
    void (*handle)(struct web *, struct web_client *, const char *path);
    /* Adds a piece to a stream whose client took all pieces before. */
    void (*more)(struct web *, struct web_client *);
    /* Returns when more() has the next piece. */
    int64_t (*due)(const struct web_client *);
    void (*gone)(struct web_client *); /* frees `own` */
    void *own;
};

int64_t web_now_ms(void);
/* Makes random digits. Ends the command if the system has no random bits. */
void web_random(const struct call *, char to[WEB_TOKEN + 1]);

/* Makes the token and listens on 127.0.0.1 and a port, 0: any free one. Ends
 * the command on failure. Set `call` and the functions first. */
void web_open(struct web *, unsigned port);
/* Waits, then serves each client; true if `watched` can be read. */
bool web_round(struct web *);
/* Returns the number of clients. */
unsigned web_count(const struct web *);
void web_close(struct web *);

void web_send(struct web_client *, const char *text, size_t size);
void web_answer(struct web_client *, const char *status, const char *type,
                const char *body, size_t size);
/* Answers with a status ("404 Not Found"), and with why. */
void web_refuse(struct web_client *, const char *status, const char *why);
/* Begins a stream. False: WEB_STREAMS run already. */
bool web_stream(struct web *, struct web_client *, const char *type);
