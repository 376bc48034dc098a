/* stop.c - Ctrl-C ends a wait; then the command shows its results. */
/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <poll.h>
#include <signal.h>

enum { ENDS = 3 };
static const int ends[ENDS] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t stopped; /* the signal that came */
static bool waits;
static sigset_t mask_before;
static struct sigaction before[ENDS];

static void stop(int number)
{
    stopped = number;
}

/* The command ends as the signal would have ended it, so that who started it
 * sees that: a shell leaves its loop. */
static void stop_again(void)
{
    fflush(stdout);
    signal(stopped, SIG_DFL);
    raise(stopped);
}

/* The signals come in waits only. An ignored signal, as of nohup, stays
 * ignored. */
static void stop_begin(void)
{
    struct sigaction action = {.sa_handler = stop};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ENDS; i++)
        sigaddset(&set, ends[i]);
    sigprocmask(SIG_BLOCK, &set, &mask_before);
    for (size_t i = 0; i < ENDS; i++) {
        sigaction(ends[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
    waits = true;
}

bool stop_wait(uint64_t ns)
{
    const struct timespec wait = {(time_t)(ns / 1000000000u),
                                  (long)(ns % 1000000000u)};
    if (!waits)
        stop_begin();
    if (!stopped)
        ppoll(NULL, 0, &wait, &mask_before);
    return stopped;
}

void stop_over(void)
{
    if (!waits)
        return;
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
    for (size_t i = 0; i < ENDS; i++)
        sigaction(ends[i], &before[i], NULL);
    waits = false;
    if (stopped && atexit(stop_again) != 0)
        stop_again();
}
