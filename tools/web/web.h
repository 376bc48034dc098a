/* web.h - HTTP/1.1: one small server, and one client, for all of tools. */
/* SPDX-License-Identifier: MIT */
/*
   The server has one thread and poll(). Each connection is one request, GET,
   and one answer: a text, or what a stream adds piece by piece, each when all
   before has been taken. A request has WEB_REQUEST_MAX bytes and ten seconds,
   an answer a minute without a byte taken.
*/
#ifndef WEB_H
#define WEB_H

#include "command.h"

enum {
    WEB_STREAMS = 32,              /* at a time */
    WEB_CLIENTS = 2 * WEB_STREAMS, /* with those who ask for a text */
    WEB_REQUEST_MAX = 8192,        /* bytes of a request, with its headers */
    WEB_PIECE_BYTES = 256 * 1024   /* that the kernel keeps for a client */
};

struct web_client {
    int fd; /* below 0: free */
    bool answered;
    bool known;     /* may be here: it is not closed for others */
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
    bool closed;    /* nobody is let in any more */
    uint64_t begun; /* connections */
    struct web_client clients[WEB_CLIENTS];
    /* Answers a request for a path; behind `headers` are lines of them. */
    void (*handle)(struct web *, struct web_client *, const char *method,
                   const char *path, const char *headers);
    /* Adds to a stream whose client has taken all. Null pointer: none does. */
    void (*more)(struct web *, struct web_client *);
    /* When it is to be asked again. */
    int64_t (*due)(const struct web_client *);
    void (*gone)(struct web_client *); /* frees `own` */
    void *own;
};

int64_t web_now_ms(void);

/* Listens at a numeric address, 0.0.0.0 or [::1], and a port, 0: any that is
 * free. False, with errno. Set the functions before. */
bool web_open(struct web *, const char *address, unsigned port);
/* Waits, then serves each client; true if there is something in `watched`. */
bool web_round(struct web *);
/* How many clients there are. */
unsigned web_count(const struct web *);
void web_close(struct web *);

void web_send(struct web_client *, const char *text, size_t size);
void web_answer(struct web_client *, const char *status, const char *type,
                const char *body, size_t size);
void web_refuse(struct web_client *, const char *status);
/* Lets a stream's client wait until web_stream() begins it, or web_refuse()
 * ends it. */
void web_wait(struct web_client *);
/* Begins a stream; `length` below 0: not known. False: there are too many. */
bool web_stream(struct web *, struct web_client *, const char *type,
                int64_t length);

/* The value of a header, *size bytes, or null. */
const char *web_header(const char *headers, const char *name, size_t *size);
/* Does the Host header name this address, and no name that somebody bound to
 * it? */
bool web_host_is_ours(const struct web *, const char *headers);

#endif
