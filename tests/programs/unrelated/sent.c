/* sent.c - sent by itself; a trap. */
/* SPDX-License-Identifier: MIT */
/* a: SIGSEGV: it was sent */
/* b: SIGTRAP */
#include "unrelated.h"
#include <signal.h>
RECORDER(boot, 128, "Processes")
struct child {
    int pid, status;
};
static struct child children[16];
static NOINLINE void note_child(struct child *c, int pid)
{
    c->pid = pid;
    record(boot, "child=%p pid=%d status=%d", A(c), pid, 11);
}
static NOINLINE int end_it(struct child *c, int how)
{
    c->status = how;
    if (how == 11)
        kill(getpid(), SIGSEGV);
    else
        __asm__ volatile("int3");
    return c->status + 1;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 16; i++)
        note_child(&children[i], getpid() + i);
    for (int i = 0; i < 40; i++)
        record(boot, "status=%d how=%d", i % 12, 11);
    return end_it(&children[3], argv[1][0] == 'a' ? 11 : 5);
}
