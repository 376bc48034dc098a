/* tx_api.h - a stand-in for the names that recorder_threadx.h relies on. */
/* SPDX-License-Identifier: MIT */
#ifndef TX_API_H
#define TX_API_H

#define VOID void
typedef char CHAR;
typedef unsigned int UINT;

#define TX_READY 0
#define TX_COMPLETED 1
#define TX_TERMINATED 2
#define TX_SUSPENDED 3
#define TX_SLEEP 4
#define TX_QUEUE_SUSP 5

typedef struct TX_THREAD_STRUCT {
    CHAR *tx_thread_name;
    UINT tx_thread_state;
    unsigned runs, blocked, preempted;
} TX_THREAD;

#endif
