/* recorder_freertos.h - records the actions of FreeRTOS's scheduler. */
/* SPDX-License-Identifier: MIT */
/*
 * Include it at the end of FreeRTOSConfig.h; freertos.md has the other lines.
 * It defines trace macros, which the kernel expands in tasks.c, where the
 * control block and the lists are known.
 */
#ifndef RECORDER_FREERTOS_H
#define RECORDER_FREERTOS_H
#ifndef __ASSEMBLER__ /* some ports include their configuration there, too */

#include "recorder_switch.h"
#include "recorder_vector.h"

/* The running task of this processor: a variable of tasks.c, or V11's macro. */
#ifndef RECORDER_FREERTOS_CURRENT
#define RECORDER_FREERTOS_CURRENT pxCurrentTCB
#endif

/* State from before a switch, for each processor. */
#if defined(RECORDER_FREERTOS_CORES)
#elif defined(configNUMBER_OF_CORES)
#define RECORDER_FREERTOS_CORES (configNUMBER_OF_CORES)
#else
#define RECORDER_FREERTOS_CORES 1
#endif
__attribute__((unused)) static struct {
    void *from, *ended;
} recorder_freertos_[RECORDER_FREERTOS_CORES];
#define RECORDER_FREERTOS_HERE_                                                \
    recorder_freertos_[RECORDER_CPU() % RECORDER_FREERTOS_CORES]

/* A task in the list of its priority is ready: it was preempted. */
#define RECORDER_FREERTOS_WHY_(task)                                           \
    ((void *)(task) == RECORDER_FREERTOS_HERE_.ended ? RECORDER_ENDED          \
     : listIS_CONTAINED_WITHIN(&(pxReadyTasksLists[(task)->uxPriority]),       \
                               &((task)->xStateListItem))                      \
         ? RECORDER_PREEMPTED                                                  \
         : RECORDER_BLOCKED)

#define traceTASK_SWITCHED_OUT()                                               \
    (RECORDER_FREERTOS_HERE_.from = (void *)RECORDER_FREERTOS_CURRENT)
/* The kernel expands this at each yield, also where the task stays the same. */
#define traceTASK_SWITCHED_IN()                                                \
    do {                                                                       \
        TCB_t *recorder_from_ = (TCB_t *)RECORDER_FREERTOS_HERE_.from;         \
        TCB_t *recorder_to_ = RECORDER_FREERTOS_CURRENT;                       \
        if (!recorder_from_)                                                   \
            recorder_switch_in(recorder_to_, recorder_to_->pcTaskName);        \
        else if (recorder_to_ != recorder_from_)                               \
            recorder_switch(recorder_to_, recorder_to_->pcTaskName,            \
                            recorder_from_,                                    \
                            RECORDER_FREERTOS_WHY_(recorder_from_));           \
        RECORDER_FREERTOS_HERE_.ended = NULL;                                  \
    } while (0)
#define traceMOVED_TASK_TO_READY_STATE(task)                                   \
    recorder_switch_ready(task, (task)->pcTaskName, RECORDER_FREERTOS_CURRENT)
/* A task that deletes itself runs until the next one does. */
#define traceTASK_DELETE(task)                                                 \
    do {                                                                       \
        if ((void *)(task) == (void *)RECORDER_FREERTOS_CURRENT)               \
            RECORDER_FREERTOS_HERE_.ended = (void *)(task);                    \
        else                                                                   \
            recorder_switch_out(task, (task)->pcTaskName, RECORDER_ENDED);     \
    } while (0)

/* Interrupts: the ports for Cortex-M have this in the tick's handler. Your
 * handlers may have it, too. */
#ifndef RECORDER_FREERTOS_VECTOR
#define RECORDER_FREERTOS_VECTOR() recorder_vector_()
#endif
#ifndef RECORDER_FREERTOS_INTERRUPT /* the name of one */
#define RECORDER_FREERTOS_INTERRUPT(vector) "interrupt"
#endif
#define traceISR_ENTER()                                                       \
    recorder_switch_enter(                                                     \
        RECORDER_FREERTOS_VECTOR(),                                            \
        RECORDER_FREERTOS_INTERRUPT(RECORDER_FREERTOS_VECTOR()), 0)
#define traceISR_EXIT()                                                        \
    recorder_switch_exit(                                                      \
        RECORDER_FREERTOS_VECTOR(),                                            \
        RECORDER_FREERTOS_INTERRUPT(RECORDER_FREERTOS_VECTOR()))
#define traceISR_EXIT_TO_SCHEDULER() traceISR_EXIT()

/* Tickless idle. Without it, see freertos.md. */
#define traceLOW_POWER_IDLE_BEGIN() recorder_switch_sleep()
#define traceLOW_POWER_IDLE_END() recorder_switch_wake()

#endif
#endif
