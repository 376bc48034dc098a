/* hub.c - a connection to a NATS server, its names, and JSON. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"

#include <pthread.h>

enum { SERVERS_MAX = 32, JSON_MAX = 4 << 20 };

/* Reports refusals of the server. They come asynchronously: the call that is
 * refused only times out, and is repeated. One text is reported once a minute. */
static void hub_error(natsConnection *connection, natsSubscription *sub,
                      natsStatus status, void *context)
{
    static char said[512];
    static uint64_t said_ns;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *text = NULL;
    (void)sub, (void)context;
    natsConnection_GetLastError(connection, &text);
    text = text && *text ? text : natsStatus_GetText(status);
    pthread_mutex_lock(&lock);
    if (strncmp(text, said, sizeof said - 1) != 0)
        said_ns = 0;
    snprintf(said, sizeof said, "%s", text);
    say_seldom(&said_ns, "%s: %s", options.server, text);
    pthread_mutex_unlock(&lock);
}

/* libnats connects in the background only if it has this callback. */
static void hub_connected(natsConnection *connection, void *context)
{
    char url[256] = "";
    struct hub *hub = context;
    hub->connects = true;
    natsConnection_GetConnectedUrl(connection, url, sizeof url);
    say_at("info", "%s: connected", *url ? url : options.server);
}

static void hub_lost(natsConnection *connection, void *context)
{
    (void)connection, (void)context;
    say("%s: the connection is lost; trying again", options.server);
}

void hub_given_up(natsConnection *connection)
{
    const char *text = NULL;
    natsConnection_GetLastError(connection, &text);
    say_at("error", "%s: the connection is given up: %s", options.server,
           text && *text ? text : "?");
    _exit(1);
}

static void hub_closed(natsConnection *connection, void *context)
{
    (void)context;
    hub_given_up(connection);
}

/* True if the whole host of a URL is 127.x.x.x, [::1] or localhost. That of
 * nats://127.0.0.1@example.org is the text after the @. */
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

/* Returns libnats' text of its last error, such as why a certificate is refused,
 * without the line of its source. "": the text of the status is the same. */
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
        give_up("%s: %s: %s%s%s", options.server, what,
                natsStatus_GetText(status), *more ? ": " : "", more);
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
            give_up("%s: are more than %d servers", options.server,
                    SERVERS_MAX);
        servers[count++] = one;
        if (strncmp(one, "tls://", 6) == 0)
            tls = true;
        else if (!options.insecure && !is_loopback(one))
            give_up("%s: without tls:// anyone on the way can read "
                    "recorded; --insecure if you want that",
                    one);
    }
    check(natsOptions_SetServers(o, servers, count), "the address");
    if (tls)
        check(natsOptions_SetSecure(o, true), "tls");
    free(all);
}

/* Copies the public key, a line U..., of a file that holds the seed, too. */
static void nkey_public(char to[64])
{
    FILE *from = fopen(options.nkey, "re");
    char line[256] = "";
    while (from && *line != 'U' && fgets(line, sizeof line, from))
        line[strcspn(line, "\r\n \t")] = '\0';
    if (!from)
        give_up("%s: %s", options.nkey, strerror(errno));
    fclose(from);
    if (*line != 'U')
        give_up(
            "%s: has no line that is a public key, U..., after the seed: nk "
            "-gen user -pubout writes both",
            options.nkey);
    snprintf(to, 64, "%.63s", line);
}

static void secure(natsOptions *o)
{
    char key[64];
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
        nkey_public(key);
        check(natsOptions_SetNKeyFromSeed(o, key, options.nkey), options.nkey);
    }
}

const char *hub_inbox(bool agent)
{
    static char to[SUBJECT_MAX];
    char service[65], host[65] = "";
    hub_token(service, options.service);
    if (agent)
        hub_token(host, options.host);
    snprintf(to, sizeof to, "_INBOX.%s.%s%s", service,
             agent ? "agent." : "reader", host);
    return to;
}

void hub_connect(struct hub *hub, bool agent)
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
    check(natsOptions_SetCustomInboxPrefix(o, hub_inbox(agent)), "inbox");
    if (agent) {
        check(natsOptions_SetMaxReconnect(o, -1), "reconnect");
        check(natsOptions_SetReconnectWait(o, 200), "reconnect");
        check(natsOptions_SetDisconnectedCB(o, hub_lost, NULL), "reconnect");
        check(natsOptions_SetReconnectedCB(o, hub_connected, hub), "reconnect");
        check(natsOptions_SetClosedCB(o, hub_closed, NULL), "reconnect");
    }
    status = natsConnection_Connect(&hub->connection, o);
    if (status != NATS_OK && agent) { /* a retry reports no reason */
        say("%s: no connection: %s%s%s; trying again", options.server,
            natsStatus_GetText(status), *error_more(status) ? ": " : "",
            error_more(status));
        check(natsOptions_SetRetryOnFailedConnect(o, true, hub_connected, hub),
              "reconnect");
        status = natsConnection_Connect(&hub->connection, o);
    }
    natsOptions_Destroy(o);
    if (status == NATS_OK)
        hub->connects = true;
    else if (status != NATS_NOT_YET_CONNECTED)
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

static void replace(char to[65], const char *text, char old, char new)
{
    snprintf(to, 65, "%s", text);
    while ((to = strchr(to, old)))
        *to = new;
}
void hub_token(char to[65], const char *name)
{
    replace(to, name, '.', '=');
}
void hub_name(char name[65], const char *token)
{
    replace(name, token, '=', '.');
}

const char *hub_subject(char to[SUBJECT_MAX], const char *kind,
                        const char *rest)
{
    char service[65];
    hub_token(service, options.service);
    snprintf(to, SUBJECT_MAX, "recorder.%s.%s%s%s", kind, service,
             rest ? "." : "", rest ? rest : "");
    return to;
}

const char *hub_host_subject(char to[SUBJECT_MAX], const char *place,
                             const char *host, const char *kind,
                             const char *last)
{
    char token[65], end[65], rest[SUBJECT_MAX / 2 + 64];
    hub_token(token, host);
    hub_token(end, last ? last : "");
    snprintf(rest, sizeof rest, "%s.%s%s%s", token, kind, last ? "." : "", end);
    return hub_subject(to, place, rest);
}

const char *hub_stream(char to[96], const char *kind)
{
    char service[65];
    hub_token(service, options.service);
    snprintf(to, 96, "recorder-%s-%s", kind, service);
    return to;
}

/* Takes the id from an inbox of libnats, which has no other call for that. */
void nuid_new(char to[64])
{
    natsInbox *inbox;
    need_done(natsInbox_Create(&inbox) == NATS_OK);
    snprintf(to, 64, "%s", strrchr(inbox, '.') + 1);
    natsInbox_Destroy(inbox);
}

uint64_t header_number(natsMsg *message, const char *name)
{
    const char *text = NULL;
    return natsMsgHeader_Get(message, name, &text) == NATS_OK
               ? strtoull(text, NULL, 10)
               : 0;
}

/* ------------------------------------------------------------------ json -- */

/* Has SQLite read a text. One connection serves all threads, as an
 * agent must stay small. */
static pthread_mutex_t json_lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_stmt *statement_begin(sqlite3_stmt **s, const char *sql,
                                     const char *json, size_t size,
                                     const char *path)
{
    static sqlite3 *db;
    pthread_mutex_lock(&json_lock);
    if ((!db && sqlite3_open(":memory:", &db) != SQLITE_OK) ||
        (!*s && sqlite3_prepare_v2(db, sql, -1, s, NULL) != SQLITE_OK))
        give_up("SQLite: %s", sqlite3_errmsg(db));
    sqlite3_bind_text(*s, 1, json, (int)size, SQLITE_STATIC);
    if (path)
        sqlite3_bind_text(*s, 2, path, -1, SQLITE_STATIC);
    return *s;
}

static void statement_end(sqlite3_stmt *s)
{
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    pthread_mutex_unlock(&json_lock);
}

char *json_get(const char *json, size_t size, const char *path)
{
    static sqlite3_stmt *s;
    char *text = NULL;
    if (size > JSON_MAX)
        return NULL;
    statement_begin(&s, "select json_extract(?, ?)", json, size, path);
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0))
        text = strdup((const char *)sqlite3_column_text(s, 0));
    statement_end(s);
    return text;
}

void json_rows(const char *json, size_t size, const char *sql,
               void (*each)(void *, sqlite3_stmt *row), void *context)
{
    static sqlite3_stmt *s;
    if (size > JSON_MAX)
        return;
    statement_begin(&s, sql, json, size, NULL);
    while (sqlite3_step(s) == SQLITE_ROW)
        each(context, s);
    statement_end(s);
}

uint64_t json_number(const char *json, size_t size, const char *path)
{
    char *text = json_get(json, size, path);
    uint64_t number = text && *text != '-' ? strtoull(text, NULL, 10) : 0;
    free(text);
    return number;
}

void json_copy(char *to, size_t max, const char *json, size_t size,
               const char *path)
{
    char *text = json_get(json, size, path);
    snprintf(to, max, "%s", text ? text : "");
    free(text);
}
