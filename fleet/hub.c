/* hub.c - a connection to a NATS server, and what JSON says. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"
#include "shown.h"
#include "text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The server's refusals come whenever they come: the call that they are about
 * only times out. */
static void hub_error(natsConnection *connection, natsSubscription *sub,
                      natsStatus status, void *context)
{
    const char *text = NULL;
    (void)sub;
    (void)context;
    natsConnection_GetLastError(connection, &text);
    say("%s: %s", options.server,
        text && *text ? text : natsStatus_GetText(status));
}

/* Without this one, libnats waits until it is connected. */
static void hub_connected(natsConnection *connection, void *context)
{
    (void)connection;
    (void)context;
    say("%s: connected", options.server);
}

static bool is_loopback(const char *server)
{
    const char *host = strstr(server, "://");
    host = host ? host + 3 : server;
    return strncmp(host, "127.", 4) == 0 ||
           strncmp(host, "localhost", 9) == 0 || strncmp(host, "[::1]", 5) == 0;
}

static void check(natsStatus status, const char *what)
{
    if (status != NATS_OK)
        fail("%s: %s: %s", options.server, what, natsStatus_GetText(status));
}

static void secure(natsOptions *o)
{
    bool tls = strncmp(options.server, "tls://", 6) == 0;
    if (!tls && !options.insecure && !is_loopback(options.server))
        fail("%s: without tls:// everybody on the way reads what is recorded; "
             "--insecure if you want that",
             options.server);
    if (tls)
        check(natsOptions_SetSecure(o, true), "tls");
    if (options.ca)
        check(natsOptions_LoadCATrustedCertificates(o, options.ca), options.ca);
    if (options.cert)
        check(natsOptions_LoadCertificatesChain(
                  o, options.cert, options.key ? options.key : options.cert),
              options.cert);
    if (options.creds)
        check(natsOptions_SetUserCredentialsFromFiles(o, options.creds, NULL),
              options.creds);
    if (options.nkey)
        check(natsOptions_SetNKeyFromSeed(o, NULL, options.nkey), options.nkey);
}

void hub_connect(struct hub *hub, bool patient)
{
    natsOptions *o;
    jsOptions js;
    natsStatus status;
    check(natsOptions_Create(&o), "memory");
    check(natsOptions_SetURL(o, options.server), "the address");
    check(natsOptions_SetName(o, "recorder-fleet"), "name");
    check(natsOptions_SetErrorHandler(o, hub_error, NULL), "handler");
    check(natsOptions_SetTimeout(o, 5000), "timeout");
    check(natsOptions_SetSendAsap(o, true), "send");
    secure(o);
    if (patient) {
        check(natsOptions_SetMaxReconnect(o, -1), "reconnect");
        check(natsOptions_SetReconnectWait(o, 200), "reconnect");
        check(natsOptions_SetRetryOnFailedConnect(o, true, hub_connected, NULL),
              "reconnect");
    }
    status = natsConnection_Connect(&hub->connection, o);
    natsOptions_Destroy(o);
    if (status == NATS_NOT_YET_CONNECTED && patient)
        say("%s: is not there yet; trying on", options.server);
    else
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
    uint64_t number = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    return number;
}
