/* pin.c - keeps a snapshot longer than the bucket does. */
/* SPDX-License-Identifier: MIT */
/*
    A stream of NATS has one age for all messages. So pin copies a snapshot into a
    stream without age: of each recording the chunks, then an index entry. A
    command that was cut off continues where it ended when it is repeated. list,
    fetch and find read both streams.
*/
#include "fleet.h"

/* Returns null, or why a recording cannot be read. */
static const char *object_pin(struct hub *hub, const struct object *o)
{
    struct entry e = *o->entry;
    struct recording r = *o->recording;
    const char *wrong = *r.error ? NULL : store_pin(hub, o->entry, &r);
    if (wrong)
        return wrong;
    e.pinned = true;
    e.all = &r;
    e.count = 1;
    wrong = index_put(hub, &e);
    if (wrong)
        give_up("%s/%s: %s", e.host, r.process, wrong);
    return NULL;
}

int fleet_pin(const char *snapshot)
{
    struct hub hub;
    struct index in = {0};
    size_t pinned = 0;
    uint64_t bytes = 0;
    bool complete;
    snapshot_connect(&hub, snapshot);
    complete = index_read_all(&hub, snapshot, &in);
    index_unique(&in);
    if (!in.count && complete)
        snapshot_missing();
    for (size_t i = 0; i < in.count; i++) {
        const struct object *o = &in.all[i];
        const char *wrong = o->entry->pinned ? NULL : object_pin(&hub, o);
        if (wrong) {
            say("%s/%s: is not pinned: %s", o->entry->host,
                o->recording->process, wrong);
            continue;
        }
        pinned++;
        bytes += o->recording->size;
    }
    printf("snapshot %s: %zu of %zu recordings are pinned, %s\n", snapshot,
           pinned, in.count, bytes_text(bytes));
    hub_close(&hub);
    return !complete || pinned < in.count;
}

int fleet_unpin(const char *snapshot)
{
    char stream[96], subject[SUBJECT_MAX];
    struct hub hub;
    jsStreamInfo *info;
    jsOptions js;
    jsErrCode code = 0;
    natsStatus status;
    bool some;
    snapshot_connect(&hub, snapshot);
    info = stream_info(&hub, hub_stream(stream, "pin"),
                       hub_host_subject(subject, "pin", "*", "*", snapshot));
    some = info && info->State.Subjects && info->State.Subjects->Count;
    if (info && !some)
        give_up("%s is not pinned", snapshot);
    if (!info)
        return 1;
    jsStreamInfo_Destroy(info);
    jsOptions_Init(&js);
    js.Wait = 5000;
    js.Stream.Purge.Subject = subject;
    status = js_PurgeStream(hub.stream, stream, &js, &code);
    if (status != NATS_OK)
        give_up("%s: %s (%d)", subject, natsStatus_GetText(status), (int)code);
    printf("snapshot %s: is no longer pinned\n", snapshot);
    hub_close(&hub);
    return 0;
}
