/* kernel.c - a stand-in for a kernel: it chooses threads, and counts. */
/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "../standin.h"
#include "tx_api.h"
#include "tx_thread.h"

TX_THREAD *_tx_thread_current_ptr;

enum { THREADS = 5 };
static CHAR names[THREADS][24] = {"System Timer Thread", "a", "b", "c", "d"};
static TX_THREAD threads[THREADS];

/* The first that is ready, from one by chance on; none: idle. */
static TX_THREAD *choose(void)
{
    unsigned first = random_below(THREADS), i;
    for (i = 0; i < THREADS; i++)
        if (threads[(first + i) % THREADS].tx_thread_state == TX_READY)
            return &threads[(first + i) % THREADS];
    return NULL;
}

static VOID schedule(VOID)
{
    TX_THREAD *from = _tx_thread_current_ptr, *to = choose();
    if (to == from)
        return;
    _tx_execution_thread_exit(); /* from idle, too */
    if (from) {
        from->preempted += from->tx_thread_state == TX_READY;
        from->blocked += from->tx_thread_state > TX_TERMINATED;
    }
    _tx_thread_current_ptr = to;
    if (to) {
        to->runs++;
        _tx_execution_thread_enter();
    }
}

int main(int argc, char **argv)
{
    static const UINT waits[] = {TX_SUSPENDED, TX_SLEEP, TX_QUEUE_SUSP};
    unsigned i, k, ticks = 0, ended = 0;
    for (i = 0; i < THREADS; i++)
        threads[i].tx_thread_name = names[i];
    _tx_execution_initialize();
    for (i = 0; i < 3000; i++) {
        if (random_below(2) == 0) {
            _tx_execution_isr_enter();
            ticks++;
            for (k = 0; k < THREADS; k++)
                if (threads[k].tx_thread_state > TX_TERMINATED &&
                    random_below(4) == 0)
                    threads[k].tx_thread_state = TX_READY;
            _tx_execution_isr_exit();
            schedule();
        } else if (_tx_thread_current_ptr) {
            UINT state = waits[random_below(3)];
            if (i >= 2000 && ended == 0)
                state = TX_COMPLETED;
            else if (i >= 2500 && ended == 1)
                state = TX_TERMINATED;
            ended += state <= TX_TERMINATED;
            _tx_thread_current_ptr->tx_thread_state = state;
            schedule();
        }
    }
    for (i = 0; i < THREADS; i++)
        printf("%s %u %u %u\n", threads[i].tx_thread_name, threads[i].runs,
               threads[i].blocked, threads[i].preempted);
    printf("tick %u\n", ticks);
    return ask(argc, argv);
}
