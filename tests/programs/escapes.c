/* Records names and texts that a terminal would obey. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include "recorder_set.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* C0, DEL, C1, the separators of lines and paragraphs, and each control of
 * direction, in UTF-8; bytes that are no UTF-8. */
#define OF_A_TERMINAL                                                          \
    "\033[2J\r\a\177\302\233\302\200\330\234\342\200\216\342\200\217"          \
    "\342\200\250\342\200\251\342\200\252\342\200\253\342\200\254\342\200\255\342\200\256"             \
    "\342\201\246\342\201\247\342\201\250\342\201\251\233\377caf\303\251"

RECORDER(named, 64, "Description " OF_A_TERMINAL);
RECORDER_TWEAK_DEFINE(tweak, 1, "Tweak " OF_A_TERMINAL);

#line 7 "dir/name\302\233\342\200\256.c"
__attribute__((noinline)) static void work(void)
{
    static char text[] = OF_A_TERMINAL;
    record(named, "text %s|%.14s|" OF_A_TERMINAL, text, text);
    record(named, ">" OF_A_TERMINAL);
}

int main(int count, char **arguments)
{
    int fd = open(arguments[count - 1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    recorder_for_named.name = "named" OF_A_TERMINAL;
    recorder_thread_name(OF_A_TERMINAL);
    work();
    recorder_dump_fd(fd);
    close(fd);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    return (int)sleep(300);
}
