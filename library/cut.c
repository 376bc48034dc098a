/* cut.c - a mapped file that another process truncates ends no process. */
/* SPDX-License-Identifier: MIT */
/*
   A read of a page that the file lost raises SIGBUS. The handler maps a page of
   zeros there, which a reader takes for empty memory, and notes it: the call
   then returns an error. Other faults go to the earlier handler.
*/
#include "handle.h"

#include <signal.h>
#include <sys/mman.h>

static struct sigaction before;
static size_t readers;
/* The flag of this thread's open read, or null. Initial-exec, because a handler
 * may not allocate memory, as a dynamic model does. */
static __thread bool *watched __attribute__((tls_model("initial-exec")));

static void pass_on(int sig, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(sig, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(sig);
    else
        signal(sig, SIG_DFL); /* the fault comes again, and ends the process */
}

static void on_cut(int sig, siginfo_t *info, void *context)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)info->si_addr & ~(page - 1);
    if (watched && info->si_code == BUS_ADRERR &&
        mmap((void *)at, page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
        *watched = true;
    else
        pass_on(sig, info, context);
}

void cut_begin(void)
{
    struct sigaction action = {.sa_sigaction = on_cut,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (readers++ == 0)
        sigaction(SIGBUS, &action, &before);
}

void cut_end(void)
{
    struct sigaction now;
    if (--readers != 0 || sigaction(SIGBUS, NULL, &now) != 0)
        return;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_cut)
        sigaction(SIGBUS, &before, NULL); /* no other handler replaced it */
}

void cut_watch(bool *cut)
{
    watched = cut;
}
