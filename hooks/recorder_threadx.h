/* recorder_threadx.h - records the actions of ThreadX's scheduler. */
/* SPDX-License-Identifier: MIT */
/*
 * Include it in one C file, after tx_api.h and tx_thread.h; threadx.md has the
 * other lines. It defines the functions that a kernel with
 * TX_EXECUTION_PROFILE_ENABLE calls.
 */
#ifndef RECORDER_THREADX_H
#define RECORDER_THREADX_H

#include "recorder_switch.h"
#include "recorder_vector.h"

#ifndef RECORDER_THREADX_VECTOR /* of the interrupt that runs */
#define RECORDER_THREADX_VECTOR() recorder_vector_()
#endif
#ifndef RECORDER_THREADX_INTERRUPT /* its name */
#define RECORDER_THREADX_INTERRUPT(vector) "interrupt"
#endif

VOID _tx_execution_initialize(VOID);
VOID _tx_execution_thread_enter(VOID);
VOID _tx_execution_thread_exit(VOID);
VOID _tx_execution_isr_enter(VOID);
VOID _tx_execution_isr_exit(VOID);

VOID _tx_execution_initialize(VOID)
{
}

VOID _tx_execution_thread_enter(VOID)
{
    TX_THREAD *thread = _tx_thread_current_ptr;
    if (thread)
        recorder_switch_in(thread, thread->tx_thread_name);
}

/* The current thread is still the one that leaves; null: it was idle. */
VOID _tx_execution_thread_exit(VOID)
{
    TX_THREAD *thread = _tx_thread_current_ptr;
    if (!thread)
        return;
    recorder_switch_out(thread, thread->tx_thread_name,
                        thread->tx_thread_state == TX_READY ? RECORDER_PREEMPTED
                        : thread->tx_thread_state == TX_COMPLETED ||
                                thread->tx_thread_state == TX_TERMINATED
                            ? RECORDER_ENDED
                            : RECORDER_BLOCKED);
}

VOID _tx_execution_isr_enter(VOID)
{
    recorder_switch_enter(RECORDER_THREADX_VECTOR(),
                          RECORDER_THREADX_INTERRUPT(RECORDER_THREADX_VECTOR()),
                          0);
}
VOID _tx_execution_isr_exit(VOID)
{
    recorder_switch_exit(RECORDER_THREADX_VECTOR(),
                         RECORDER_THREADX_INTERRUPT(RECORDER_THREADX_VECTOR()));
}

#endif
