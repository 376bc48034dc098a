/* Records, dumps and gets SIGUSR1, with the rights of another user or
 * without. */
/* SPDX-License-Identifier: MIT */
#include "recorder_set.h"
#include "recorder_trigger.h"

#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>

RECORDER(secret, 16, "What callers must not see");

int main(void)
{
    bool dumps = recorder_dump_on_signal(SIGHUP);
    recorder_dump_on_common_signals(1u << SIGTERM, 0);
    printf("%s, dumps on signals: %s\n",
           getauxval(AT_SECURE) ? "privileged" : "as its caller",
           dumps ? "yes" : "no");
    fflush(stdout);
    record(secret, "a key");
    recorder_dump();
    raise(SIGUSR1);
    puts("goes on");
    return 0;
}
