/* hub.c - a connection to a NATS server, and what JSON says. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"
#include "shown.h"
#include "text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SERVERS_MAX = 32 };

/* Says what the server refuses. Refusals come asynchronously: the call that is
 * refused only times out, and is tried again. The same text is said once a
 * minute. */
static void hub_error(natsConnection *connection, natsSubscription *sub,
                      natsStatus status, void *context)
{
    static char said[512];
    static uint64_t said_ns;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *text = NULL;
    (void)sub;
    (void)context;
    natsConnection_GetLastError(connection, &text);
    text = text && *text ? text : natsStatus_GetText(status);
    pthread_mutex_lock(&lock);
    if (strncmp(text, said, sizeof said - 1) != 0 ||
        now_ns() - said_ns > MINUTE) {
        say("%s: %s", options.server, text);
        snprintf(said, sizeof said, "%s", text);
        said_ns = now_ns();
    }
    pthread_mutex_unlock(&lock);
}

/* libnats connects in the background only if it has this callback. */
static void hub_connected(natsConnection *connection, void *context)
{
    char url[256] = "";
    (void)context;
    natsConnection_GetConnectedUrl(connection, url, sizeof url);
    say("%s: connected", *url ? url : options.server);
}

static void hub_lost(natsConnection *connection, void *context)
{
    (void)connection;
    (void)context;
    say("%s: the connection is lost; trying on", options.server);
}

/* Ends the agent: libnats gives up a connection that a server refused twice.
 * systemd starts the next agent, which sends what the spool has. */
static void hub_closed(natsConnection *connection, void *context)
{
    const char *text = NULL;
    (void)context;
    natsConnection_GetLastError(connection, &text);
    say("%s: the connection is given up: %s", options.server,
        text && *text ? text : "?");
    _exit(1);
}

/* True if a URL's host is 127.x.x.x, [::1] or localhost, whole: neither
 * 127.0.0.1.example.org nor what stands in front of an @ is one. */
static bool is_loopback(const char *server)
{
    static const char *const names[] = {"localhost", "[::1]"};
    const char *host = strstr(server, "://"), *at;
    size_t size;
    host = host ? host + 3 : server;
    at = strrchr(host, '@');
    host = at ? at + 1 : host;
    for (int i = 0; i < 2; i++) {
        size = strlen(names[i]);
        if (strncmp(host, names[i], size) == 0 && strchr(":/", host[size]))
            return true; /* strchr() finds the end, too */
    }
    size = strspn(host, "0123456789.");
    return strncmp(host, "127.", 4) == 0 && strchr(":/", host[size]);
}

/* Returns what libnats says of its last error, such as which certificate is
 * refused, and why, without the line of its source. "": the status says as
 * much. */
static const char *error_more(natsStatus status)
{
    const char *text = nats_GetLastError(NULL);
    const char *end = text && *text == '(' ? strstr(text, "): ") : NULL;
    text = end ? end + 3 : text ? text : "";
    return strcmp(text, natsStatus_GetText(status)) == 0 ? "" : text;
}

static void check(natsStatus status, const char *what)
{
    const char *more = status == NATS_OK ? "" : error_more(status);
    if (status != NATS_OK)
        fail("%s: %s: %s%s%s", options.server, what, natsStatus_GetText(status),
             *more ? ": " : "", more);
}

/* Sets the servers of --server, which has commas between them. Each must be on
 * this host or speak TLS. */
static void servers_set(natsOptions *o)
{
    char *all = need(strdup(options.server)), *rest = all;
    const char *servers[SERVERS_MAX];
    int count = 0;
    bool tls = false;
    for (char *one; (one = strsep(&rest, ","));) {
        if (count == SERVERS_MAX)
            fail("%s: are more than %d servers", options.server, SERVERS_MAX);
        servers[count++] = one;
        if (strncmp(one, "tls://", 6) == 0)
            tls = true;
        else if (!options.insecure && !is_loopback(one))
            fail("%s: without tls:// everybody on the way reads what is "
                 "recorded; --insecure if you want that",
                 one);
    }
    check(natsOptions_SetServers(o, servers, count), "the address");
    if (tls)
        check(natsOptions_SetSecure(o, true), "tls");
    free(all);
}

static void secure(natsOptions *o)
{
    char key[NKEY_SIZE];
    if (options.ca)
        check(natsOptions_LoadCATrustedCertificates(o, options.ca), options.ca);
    if (options.cert)
        check(natsOptions_LoadCertificatesChain(
                  o, options.cert, options.key ? options.key : options.cert),
              options.cert);
    if (options.creds)
        check(natsOptions_SetUserCredentialsFromFiles(o, options.creds, NULL),
              options.creds);
    if (options.nkey) {
        const char *wrong = nkey_public(key, options.nkey);
        if (wrong)
            fail("%s: %s", options.nkey, wrong);
        check(natsOptions_SetNKeyFromSeed(o, key, options.nkey), options.nkey);
    }
}

void hub_connect(struct hub *hub, bool patient)
{
    natsOptions *o;
    jsOptions js;
    natsStatus status;
    check(natsOptions_Create(&o), "memory");
    servers_set(o);
    check(natsOptions_SetName(o, "recorder-fleet"), "name");
    check(natsOptions_SetErrorHandler(o, hub_error, NULL), "handler");
    check(natsOptions_SetTimeout(o, 5000), "timeout");
    check(natsOptions_SetSendAsap(o, true), "send");
    secure(o);
    if (patient) {
        check(natsOptions_SetMaxReconnect(o, -1), "reconnect");
        check(natsOptions_SetReconnectWait(o, 200), "reconnect");
        check(natsOptions_SetDisconnectedCB(o, hub_lost, NULL), "reconnect");
        check(natsOptions_SetReconnectedCB(o, hub_connected, NULL),
              "reconnect");
        check(natsOptions_SetClosedCB(o, hub_closed, NULL), "reconnect");
    }
    status = natsConnection_Connect(&hub->connection, o);
    if (status != NATS_OK && patient) { /* who goes on trying says not why */
        say("%s: no connection: %s%s%s; trying on", options.server,
            natsStatus_GetText(status), *error_more(status) ? ": " : "",
            error_more(status));
        check(natsOptions_SetRetryOnFailedConnect(o, true, hub_connected, NULL),
              "reconnect");
        status = natsConnection_Connect(&hub->connection, o);
    }
    natsOptions_Destroy(o);
    if (status != NATS_NOT_YET_CONNECTED)
        check(status, "no connection");
    check(jsOptions_Init(&js), "JetStream");
    js.Wait = 5000;
    check(natsConnection_JetStream(&hub->stream, hub->connection, &js),
          "JetStream");
}

void hub_close(struct hub *hub)
{
    jsCtx_Destroy(hub->stream);
    natsConnection_Destroy(hub->connection);
}

const char *hub_subject(void)
{
    static char text[128];
    snprintf(text, sizeof text, "recorder.freeze.%s", options.service);
    return text;
}

const char *hub_bucket(void)
{
    static char text[128];
    snprintf(text, sizeof text, "recordings-%s", options.service);
    return text;
}

/* ------------------------------------------------------------------ json -- */

/* Asks SQLite, which knows JSON, about a text. One connection serves all
 * threads: a request is answered at once, and an agent is small. */
enum asked { JSON_GET, JSON_QUOTE };
static char *json_text(enum asked what, const char *json, size_t size,
                       const char *path)
{
    static const char *const texts[] = {"select json_extract(?, ?)",
                                        "select json_quote(?)"};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static sqlite3 *db;
    static sqlite3_stmt *statements[2];
    sqlite3_stmt **statement = &statements[what];
    char *text = NULL;
    if (size > 1 << 20)
        return NULL;
    pthread_mutex_lock(&lock);
    if ((!db && sqlite3_open(":memory:", &db) != SQLITE_OK) ||
        (!*statement &&
         sqlite3_prepare_v2(db, texts[what], -1, statement, NULL) != SQLITE_OK))
        fail("SQLite: %s", sqlite3_errmsg(db));
    sqlite3_bind_text(*statement, 1, json, (int)size, SQLITE_STATIC);
    if (path)
        sqlite3_bind_text(*statement, 2, path, -1, SQLITE_STATIC);
    if (sqlite3_step(*statement) == SQLITE_ROW &&
        sqlite3_column_text(*statement, 0))
        text = strdup((const char *)sqlite3_column_text(*statement, 0));
    sqlite3_reset(*statement);
    sqlite3_clear_bindings(*statement);
    pthread_mutex_unlock(&lock);
    return text;
}

char *json_get(const char *json, size_t size, const char *path)
{
    return json_text(JSON_GET, json, size, path);
}

void json_write(FILE *to, const char *text)
{
    size_t size = strlen(text);
    char *quoted;
    texts_lock();
    text = text_repaired(text, &size);
    text = text_shown(text, &size); /* no control characters */
    quoted = json_text(JSON_QUOTE, text, size, NULL);
    texts_unlock();
    fputs(need(quoted), to);
    free(quoted);
}

uint64_t json_number(const char *json, size_t size, const char *path)
{
    char *text = json_get(json, size, path);
    uint64_t number = text && *text != '-' ? strtoull(text, NULL, 10) : 0;
    free(text);
    return number;
}
