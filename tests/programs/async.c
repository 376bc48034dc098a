/* Spans that begin in one thread and end in another, and one that is forgotten.
 *
 *     async FILE          leaves a recording
 *     async - COMMAND     runs a command at the end; PID is its own
 */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

RECORDER(net, 256, "Requests")

static void *serve(void *unused)
{
    recorder_thread_name("server");
    for (unsigned i = 0; i < 4; i++) {
        RECORDER_SPAN(net, "serve %u", i);
        usleep(1000);
        record(net, "=> request %u parsed, bytes=%*d", i, 5, 100);
        usleep(1000);
        if (i != 2)
            record(net, "<< request %u: %d", i, 200);
    }
    record(net, "> forgotten");
    record(net, "last of it");
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t server;
    char pid[16];
    if (argc < 2 || (argc == 2 && !recorder_file(argv[1])))
        return 1;
    prctl(PR_SET_PTRACER, -1L, 0, 0, 0); /* the command is no ancestor */
    recorder_thread_name("client");
    for (unsigned i = 0; i < 4; i++)
        record(net, ">> request %u of %s", i, "a client");
    record(net, "<< request %u was never begun", 77u);
    record(net, ">> named %s", "a");
    if (pthread_create(&server, NULL, serve, NULL) != 0)
        return 1;
    pthread_join(server, NULL);
    record(net, "<< named %s", "a");
    record(net, ">> request %u again", 0u);
    usleep(1000);
    record(net, "<< request %u", 0u);
    record(net, "end");
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    return argc == 2 || setenv("PID", pid, 1) != 0 ? 0 : system(argv[2]) != 0;
}
