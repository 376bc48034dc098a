/* requests.c - freezes of the last minutes, kept for agents that were away. */
/* SPDX-License-Identifier: MIT */
/*
    A reader stores its request before it sends it to the agents; the hub stores
    the requests that the budget accepts. An agent that connects asks for both, one
    after the other, and takes each snapshot that it does not know. It waits for
    no answer: there is none without a bucket, or without the right.
*/
#include "fleet.h"

enum { KEPT_MAX = 128 };
static const uint64_t KEPT_NS = 10 * MINUTE;

/* The hub copies the id of a claim, "freeze", into the request: two of them must
 * not count as one here. */
void requests_make(struct hub *hub)
{
    char people[SUBJECT_MAX], automatic[SUBJECT_MAX];
    const char *subjects[2] = {people, automatic};
    jsStreamConfig config;
    hub_subject(people, "request", NULL);
    hub_subject(automatic, "auto", ">");
    jsStreamConfig_Init(&config);
    config.AllowDirect = true;
    config.DenyPurge = true;
    config.MaxMsgs = KEPT_MAX;
    config.MaxMsgSize = REQUEST_MAX;
    config.MaxAge = (int64_t)KEPT_NS;
    config.Duplicates = (int64_t)SECOND;
    stream_make(hub, "request", subjects, &config);
}

void requests_keep(struct hub *hub, const char *request)
{
    char subject[SUBJECT_MAX];
    natsConnection_PublishString(
        hub->connection, hub_subject(subject, "request", NULL), request);
}

static void inbox_of(char to[SUBJECT_MAX])
{
    snprintf(to, SUBJECT_MAX, "%s.requests", hub_inbox(true));
}

bool requests_hear(struct hub *hub, natsMsgHandler each)
{
    char inbox[SUBJECT_MAX];
    natsSubscription *sub;
    inbox_of(inbox);
    return natsConnection_Subscribe(&sub, hub->connection, inbox, each, NULL) ==
           NATS_OK;
}

void requests_ask(natsConnection *connection, uint64_t sequence)
{
    char subject[SUBJECT_MAX], inbox[SUBJECT_MAX], stream[96], which[80];
    inbox_of(inbox);
    snprintf(subject, sizeof subject, "$JS.API.DIRECT.GET.%s",
             hub_stream(stream, "request"));
    snprintf(which, sizeof which,
             "{\"seq\":%" PRIu64 ",\"next_by_subj\":\">\"}", sequence);
    natsConnection_PublishRequestString(connection, subject, inbox, which);
}

uint64_t requests_next(natsMsg *message, const char **subject)
{
    char kept[96];
    int count;
    const char *sequence = header_last(message, "Nats-Sequence", &count);
    const char *stream = header_last(message, "Nats-Stream", &count);
    *subject = header_last(message, "Nats-Subject", &count);
    return *subject && sequence && stream &&
                   strcmp(stream, hub_stream(kept, "request")) == 0
               ? strtoull(sequence, NULL, 10) + 1
               : 0;
}
