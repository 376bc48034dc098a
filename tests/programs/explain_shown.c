/* explain_shown.c - crashes with texts, structs and null pointers near by. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct session {
    const char *user;
    struct {
        char name[8];
        int number;
    } in;
    double share;
    int (*serve)(struct session *);
    short more;
};
struct item {
    int id, left;
};
RECORDER(net, 256, "Sessions");
static char early[4096 + 64] = "text of the start";

static int serve(struct session *s, const char *text, char *changed)
{
    return s->serve(s) + text[0] + changed[0];
}

static int sell(int id, struct item *item)
{
    for (int i = 0; i < 9; i++)
        record(net, "sold item=%d", 0);
    record(net, "none is item=%p", RECORDER_ADDRESS(NULL));
    record(net, "item=%d is off the shelf", id);
    for (int i = 0; i < 9; i++)
        record(net, "sold more, i=%d", 70 + i);
    return item->left--;
}

static void *closes(void *s)
{
    record(net, "closes s=%p", RECORDER_ADDRESS(s));
    memset(s, 'b', sizeof(struct session));
    return s;
}
static int late(struct session *s)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        record(net, "opens s=%p i=%d", RECORDER_ADDRESS(s), i);
    record(net, "uses s=%p", RECORDER_ADDRESS(s));
    pthread_create(&thread, NULL, closes, s);
    pthread_join(thread, NULL);
    return s->serve(s);
}

int main(int argc, char **argv)
{
    struct session *s = calloc(1, sizeof *s);
    recorder_dump_on_common_signals(0, 0);
    if (argc > 1 && strcmp(argv[1], "null") == 0)
        return sell(3, NULL);
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        return late(s);
    strcpy(early, "changed since");
    s->user = "alice\033[1m";
    strcpy(s->in.name, "inner");
    s->in.number = -3;
    memset(&s->serve, 'b', sizeof s->serve);
    return serve(s, "a constant text, of which forty bytes are shown", early);
}
