/* Records a little of everything, for files to be made of that lie. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include "recorder_set.h"
#include "recorder_switch.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

RECORDER(net, 16, "All kinds of arguments");
RECORDER_LANES(laned, 8, 4, "In four rings");
RECORDER(one, 1);
RECORDER(texts, 32, "Copies of strings");
RECORDER(switches, 32, "What ran");
RECORDER(interrupts, 8, "Without interrupts");
RECORDER_TWEAK_DEFINE(retries, 3, "How often to try again");

static char data[] = "from the data";

static void *work(void *unused)
{
    for (int i = 0; i < 6; i++)
        record(laned, "lane %d of %s", i, "worker");
    return unused;
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    record(net, "none");
    record(net, "%d %u %x %o %c", -1, 2u, 0xabcu, 8u, 'c');
    record(net, "%f %e %g %a", 1.5, 2e10, -0.1, 3.14);
    record(net, "%*d|%-*d|%.*f", 6, 1, 6, 2, 2, 2.71828);
    record(net, "%d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8,
           9, 10, 11, 12);
    record(net, "100%% %p %s %10.3s", (void *)data, RECORDER_ADDRESS(data),
           RECORDER_ADDRESS(data));
    record(one, "one %ld", 5L);
    record(texts, "%s, and %s", RECORDER_COPY(texts, data),
           RECORDER_COPY(texts, "a text that is longer than what one record "
                                "holds, so that it goes on in others"));
    for (uintptr_t i = 1; i < 4; i++) {
        recorder_switch_in(i, data);
        recorder_switch_enter(15, "tick", 0);
        recorder_switch_ready(i + 1, "next", i);
        recorder_switch_off(0);
        recorder_switch_on(0);
        recorder_switch_exit(15, "tick");
        recorder_switch(i + 1, "next", i, RECORDER_PREEMPTED);
        recorder_switch_sleep();
        recorder_switch_wake();
        recorder_switch_out(i + 1, "next", RECORDER_BLOCKED);
    }
    puts("ready");
    fflush(stdout);
    return (int)sleep(300);
}
