/* tx_thread.h - a stand-in: the kernel's own, for the current thread. */
/* SPDX-License-Identifier: MIT */
#ifndef TX_THREAD_H
#define TX_THREAD_H

#include "tx_api.h"

extern TX_THREAD *_tx_thread_current_ptr;
VOID _tx_execution_initialize(VOID);
VOID _tx_execution_thread_enter(VOID);
VOID _tx_execution_thread_exit(VOID);
VOID _tx_execution_isr_enter(VOID);
VOID _tx_execution_isr_exit(VOID);

#endif
