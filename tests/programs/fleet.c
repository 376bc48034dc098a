/* Talks to a NATS server as any other client would, for tests of the fleet. */
/* SPDX-License-Identifier: MIT */
/*
    fleet request URL SUBJECT TEXT      publishes; prints the answers of 500 ms
    fleet kill URL SUBJECT TEXT PID     the same; the first answer kills PID
    fleet reply URL SUBJECT TEXT REPLY  publishes; answers are to go to REPLY
    fleet told URL SUBJECT TEXT COUNT   publishes; prints after how many
                                        microseconds the last of COUNT answered,
                                        by its clock, and all was here
    fleet bare URL SUBJECT COUNT        so many processes that only answer, for
                                        ever: no agent can be faster
    fleet put URL SUBJECT TEXT [ID]     publishes, and waits until it is stored;
                                        TEXT may be @FILE
    fleet read URL STREAM               prints each message: its subject, size,
                                        headers, and an index entry's text
    fleet try URL USER INBOX FILE       as the user of USER.pem, tries each line
                                        of FILE; prints the line and `refused` or
                                        `allowed`. Lines: "subscribe SUBJECT",
                                        "publish SUBJECT HEADER VALUE TEXT" with
                                        - for no header, and "reply SUBJECT REPLY
                                        TEXT", whose answer goes to REPLY
*/
#include <inttypes.h>
#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void must(natsStatus status, const char *what)
{
    if (status == NATS_OK)
        return;
    printf("%s: %s\n", what, natsStatus_GetText(status));
    exit(1);
}

static void request(natsConnection *nc, const char *subject, const char *text,
                    pid_t pid)
{
    natsSubscription *sub;
    natsInbox *inbox;
    natsMsg *message;
    must(natsInbox_Create(&inbox), "inbox");
    must(natsConnection_SubscribeSync(&sub, nc, inbox), "subscribe");
    must(natsConnection_PublishRequestString(nc, subject, inbox, text), "ask");
    while (natsSubscription_NextMsg(&message, sub, pid ? 60000 : 500) ==
           NATS_OK) {
        if (pid)
            kill(pid, SIGKILL);
        pid = 0;
        printf("%.*s\n", natsMsg_GetDataLength(message),
               natsMsg_GetData(message));
        natsMsg_Destroy(message);
    }
}

static uint64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void told(natsConnection *nc, const char *subject, const char *text,
                 int count)
{
    natsSubscription *sub;
    natsInbox *inbox;
    natsMsg *message;
    uint64_t asked, last = 0;
    must(natsInbox_Create(&inbox), "inbox");
    must(natsConnection_SubscribeSync(&sub, nc, inbox), "subscribe");
    asked = real_ns();
    must(natsConnection_PublishRequestString(nc, subject, inbox, text), "ask");
    while (count--) {
        const char *stamp;
        must(natsSubscription_NextMsg(&message, sub, 60000), "answer");
        stamp = strstr(natsMsg_GetData(message), "\"clock_ns\":");
        if (stamp && strtoull(stamp + 11, NULL, 10) > last)
            last = strtoull(stamp + 11, NULL, 10);
        natsMsg_Destroy(message);
    }
    printf("%" PRIu64 " %" PRIu64 "\n",
           last > asked ? (last - asked) / 1000 : 0,
           (real_ns() - asked) / 1000);
}

static void answer(natsConnection *nc, natsSubscription *sub, natsMsg *message,
                   void *context)
{
    char text[64];
    (void)sub;
    (void)context;
    snprintf(text, sizeof text, "{\"clock_ns\":%" PRIu64 "}", real_ns());
    natsConnection_PublishString(nc, natsMsg_GetReply(message), text);
    natsMsg_Destroy(message);
}

static void bare(const char *url, const char *subject, int count)
{
    natsConnection *nc;
    natsSubscription *sub;
    natsOptions *o;
    while (count--)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            must(natsOptions_Create(&o), "options");
            must(natsOptions_SetURL(o, url), "options");
            must(natsOptions_SetSendAsap(o, true), "options");
            must(natsConnection_Connect(&nc, o), "connect");
            must(natsConnection_Subscribe(&sub, nc, subject, answer, NULL),
                 "subscribe");
            break;
        }
    for (;;)
        pause();
}

/* Waits until the hub has seen all that was sent. Returns `refused` if it
 * reported a violation of rights. */
static const char *outcome(natsConnection *nc)
{
    const char *text = NULL;
    must(natsConnection_FlushTimeout(nc, 60000), "flush");
    natsConnection_GetLastError(nc, &text);
    return text && strstr(text, "Permissions Violation") ? "refused" : NULL;
}

/* Publishes with an inbox for the answer; an error in it is a refusal, too. */
static const char *try_publish(natsConnection *nc, const char *inbox,
                               char *line)
{
    char subject[256], name[64], value[64], reply[300];
    int at = 0;
    static int number;
    natsSubscription *sub;
    natsMsg *message, *got = NULL;
    const char *is;
    if (sscanf(line, "publish %255s %63s %63s %n", subject, name, value, &at) <
        3)
        return "not understood";
    snprintf(reply, sizeof reply, "%s.%d", inbox, number++);
    must(natsConnection_SubscribeSync(&sub, nc, reply), "inbox");
    must(natsMsg_Create(&message, subject, reply, line + at,
                        (int)strlen(line + at)),
         "message");
    if (strcmp(name, "-") != 0)
        must(natsMsgHeader_Set(message, name, value), "header");
    must(natsConnection_PublishMsg(nc, message), "publish");
    is = outcome(nc);
    if (!is && natsSubscription_NextMsg(&got, sub, 2000) == NATS_OK)
        is = natsMsg_GetDataLength(got) &&
                     strstr(natsMsg_GetData(got), "\"error\"")
                 ? "refused"
                 : "allowed";
    natsMsg_Destroy(got);
    natsMsg_Destroy(message);
    natsSubscription_Destroy(sub);
    return is ? is : "allowed";
}

static const char *try_line(natsConnection *nc, const char *inbox, char *line)
{
    char subject[256], reply[256];
    natsSubscription *sub;
    const char *is;
    int at = 0;
    if (sscanf(line, "subscribe %255s", subject) == 1) {
        must(natsConnection_SubscribeSync(&sub, nc, subject), "subscribe");
        is = outcome(nc);
        natsSubscription_Destroy(sub);
        return is ? is : "allowed";
    }
    if (sscanf(line, "reply %255s %255s %n", subject, reply, &at) < 2)
        return try_publish(nc, inbox, line);
    must(natsConnection_PublishRequestString(nc, subject, reply, line + at),
         "publish");
    is = outcome(nc);
    return is ? is : "allowed";
}

static natsConnection *user_connect(const char *url, const char *user)
{
    char cert[128], key[128];
    natsConnection *nc;
    natsOptions *o;
    snprintf(cert, sizeof cert, "%s.pem", user);
    snprintf(key, sizeof key, "%s.key", user);
    must(natsOptions_Create(&o), "options");
    must(natsOptions_SetURL(o, url), "options");
    must(natsOptions_SetSecure(o, true), "options");
    must(natsOptions_LoadCATrustedCertificates(o, "ca.pem"), "ca");
    must(natsOptions_LoadCertificatesChain(o, cert, key), "certificate");
    must(natsConnection_Connect(&nc, o), "connect");
    natsOptions_Destroy(o);
    return nc;
}

/* Each line has a connection: the last error is that of the line. */
static void try_all(char **values)
{
    char line[4096];
    FILE *from = fopen(values[5], "r");
    while (from && fgets(line, sizeof line, from)) {
        natsConnection *nc = user_connect(values[2], values[3]);
        line[strcspn(line, "\n")] = '\0';
        printf("%s: %s\n", try_line(nc, values[4], line), line);
        natsConnection_Destroy(nc);
    }
}

static void print(natsMsg *message)
{
    static const char *const names[] = {"Nats-Msg-Id", "Nats-Rollup",
                                        "Recorder-Sent", "Recorder-Acked"};
    const char *data = natsMsg_GetData(message), *value;
    int size = natsMsg_GetDataLength(message);
    printf("%s %d", natsMsg_GetSubject(message), size);
    for (int i = 0; i < 4; i++)
        if (natsMsgHeader_Get(message, names[i], &value) == NATS_OK)
            printf(" %s=%s", names[i], value);
    /* Not of chunks, which may begin with any byte. */
    if (size && *data == '{' && strstr(natsMsg_GetSubject(message), ".index."))
        printf(" %.*s", size, data);
    putchar('\n');
}

static void put(jsCtx *js, const char *subject, const char *text,
                const char *id)
{
    static char bytes[1 << 20];
    size_t size = strlen(text);
    FILE *from = *text == '@' ? fopen(text + 1, "r") : NULL;
    jsPubOptions how;
    jsPubOptions_Init(&how);
    how.MsgId = id;
    if (from) {
        size = fread(bytes, 1, sizeof bytes, from);
        text = bytes;
    }
    must(js_Publish(NULL, js, subject, text, (int)size, &how, NULL), "put");
}

int main(int count, char **values)
{
    natsConnection *nc;
    jsCtx *js;
    if (count < 4)
        return 2;
    if (strcmp(values[1], "bare") == 0)
        bare(values[2], values[3], atoi(values[4]));
    if (strcmp(values[1], "try") == 0 && count > 5)
        return try_all(values), 0;
    must(natsConnection_ConnectTo(&nc, values[2]), "connect");
    must(natsConnection_JetStream(&js, nc, NULL), "JetStream");
    if (strcmp(values[1], "request") == 0) {
        char *text = values[4];
        if (strcmp(text, "long") == 0) { /* more than a command line takes */
            text = calloc(1, 1000000);
            memset(text, 'x', 999999);
            memcpy(text, "{\"id\":\"", 7);
            memcpy(text + 999990, "\"}", 3);
        }
        request(nc, values[3], text, 0);
    } else if (strcmp(values[1], "kill") == 0) {
        request(nc, values[3], values[4], atoi(values[5]));
    } else if (strcmp(values[1], "reply") == 0) {
        must(natsConnection_PublishRequestString(nc, values[3], values[5],
                                                 values[4]),
             "publish");
        must(natsConnection_FlushTimeout(nc, 60000), "flush");
    } else if (strcmp(values[1], "told") == 0) {
        told(nc, values[3], values[4], atoi(values[5]));
    } else if (strcmp(values[1], "put") == 0) {
        put(js, values[3], values[4], count > 5 ? values[5] : NULL);
    } else {
        jsStreamInfo *info;
        must(js_GetStreamInfo(&info, js, values[3], NULL, NULL), "stream");
        for (uint64_t i = info->State.FirstSeq; i <= info->State.LastSeq; i++) {
            natsMsg *message;
            if (js_GetMsg(&message, js, values[3], i, NULL, NULL) != NATS_OK)
                continue;
            print(message);
            natsMsg_Destroy(message);
        }
    }
    return 0;
}
