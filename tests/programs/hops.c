/* One host of a service: receives requests, works, and sends them on. */
/* SPDX-License-Identifier: MIT */
/*
    hops FROM COUNT HOSTS [WAIT]: takes requests 0 to COUNT - 1. Request i goes over three
    hosts: i % HOSTS, then the next two. This is host FROM; each hop takes 2 records
    of work beside its contexts.
*/
#include "recorder_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef CONTEXTS
#define CONTEXTS 1024
#endif
RECORDER(context, CONTEXTS, "Requests")
RECORDER(net, CONTEXTS, "Network")

static void header(char to[56], unsigned request, unsigned hop)
{
    snprintf(to, 56, "00-%016x%016x-%08x%08x-01", 7u, request + 1, request + 1,
             hop + 1);
}

static void serve(unsigned request, unsigned hop)
{
    char text[56];
    header(text, request, hop);
    RECORDER_CONTEXT("trace", text);
    {
        RECORDER_SPAN(net, "serve request=%u", request);
        record(net, "hop %u of request %u", hop, request);
        if (hop < 2) {
            header(text, request, hop + 1);
            RECORDER_CONTEXT_SENT("trace", text);
        }
    }
    RECORDER_CONTEXT("trace", 0);
}

int main(int argc, char **argv)
{
    unsigned host = (unsigned)atoi(argv[argc > 1 ? 1 : 0]);
    unsigned count = (unsigned)atoi(argv[argc > 2 ? 2 : 0]);
    unsigned hosts = (unsigned)atoi(argv[argc > 3 ? 3 : 0]);
    for (unsigned i = 0; i < count; i++)
        for (unsigned hop = 0; hop < 3; hop++)
            if ((i + hop) % hosts == host)
                serve(i, hop);
    record(net, "all were served");
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    if (argc > 4)
        pause();
    return 0;
}
