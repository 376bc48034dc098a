/* budget.c - the limits of the number of snapshots. */
/* SPDX-License-Identifier: MIT */
/*
    An automatic snapshot is a message that the budget stream accepts. The stream
    has room for --automatic messages, each for the time of --automatic; requests
    within --join have one id, so the hub drops all but the first. It republishes
    accepted messages to a subject on which agents may not publish.
*/
#include "fleet.h"

enum { CLAIM_MS = 500, PEOPLE_MAX = 60, ALONE_MAX = 12 };
static const unsigned STREAM_FULL = 10077;

enum claim budget_claim(struct hub *hub, const char *request)
{
    char subject[SUBJECT_MAX], host[65];
    jsPubOptions how;
    jsPubAck *ack = NULL;
    jsErrCode code = 0;
    natsStatus status;
    enum claim claim = CLAIM_ALONE;
    if (natsConnection_Status(hub->connection) != NATS_CONN_STATUS_CONNECTED)
        return claim;
    hub_token(host, options.host);
    hub_subject(subject, "claim", NULL);
    snprintf(subject + strlen(subject), 70, ".%s", host);
    jsPubOptions_Init(&how);
    how.MaxWait = CLAIM_MS;
    how.MsgId = "freeze";
    status = js_Publish(&ack, hub->stream, subject, request,
                        (int)strlen(request), &how, &code);
    if (status == NATS_OK)
        claim = ack->Duplicate ? CLAIM_LOST : CLAIM_WON;
    else if ((unsigned)code == STREAM_FULL)
        claim = CLAIM_REFUSED;
    jsPubAck_Destroy(ack);
    return claim;
}

bool budget_alone(bool automatic)
{
    static struct {
        uint64_t times[PEOPLE_MAX], count;
    } kinds[2];
    uint64_t max = automatic ? ALONE_MAX : PEOPLE_MAX, now = now_ns();
    uint64_t *oldest = &kinds[automatic].times[kinds[automatic].count % max];
    if (kinds[automatic].count >= max && now - *oldest < 60 * MINUTE)
        return false;
    *oldest = now;
    kinds[automatic].count++;
    return true;
}

void budget_make(struct hub *hub)
{
    char from[SUBJECT_MAX], to[SUBJECT_MAX];
    const char *subjects[2] = {from};
    jsRePublish again = {from, to, false};
    jsStreamConfig config;
    hub_subject(from, "claim", ">");
    hub_subject(to, "auto", ">");
    jsStreamConfig_Init(&config);
    config.RePublish = &again;
    config.MaxMsgs = (int64_t)options.automatic;
    config.MaxAge = (int64_t)options.automatic_ns;
    config.MaxMsgSize = 4096;
    config.Duplicates =
        (int64_t)(options.join < options.automatic_ns ? options.join
                                                      : options.automatic_ns);
    config.DenyPurge = true;
    stream_make(hub, "budget", subjects, &config);
}

void budget_print(struct hub *hub)
{
    char name[96];
    jsStreamInfo *info = stream_info(hub, hub_stream(name, "budget"), NULL);
    if (info)
        printf("of triggers and deaths: %" PRIu64 " of %" PRId64
               " snapshots in %" PRId64 " s\n",
               info->State.Msgs, info->Config->MaxMsgs,
               info->Config->MaxAge / (int64_t)SECOND);
    jsStreamInfo_Destroy(info);
}
