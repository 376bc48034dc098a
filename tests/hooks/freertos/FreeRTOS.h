/* FreeRTOS.h - a stand-in for the names that recorder_freertos.h relies on. */
/* SPDX-License-Identifier: MIT */
#ifndef FREERTOS_H
#define FREERTOS_H

#include <stddef.h>

#include "FreeRTOSConfig.h"

typedef unsigned long UBaseType_t;
typedef long BaseType_t;

/* A list here is only what its items say. */
typedef struct {
    int unused;
} List_t;
typedef struct {
    List_t *container;
} ListItem_t;
#define listIS_CONTAINED_WITHIN(list, item)                                    \
    ((item)->container == (list) ? (BaseType_t)1 : (BaseType_t)0)

/* What the configuration does not define is nothing. */
#ifndef traceTASK_SWITCHED_OUT
#define traceTASK_SWITCHED_OUT()
#endif
#ifndef traceTASK_SWITCHED_IN
#define traceTASK_SWITCHED_IN()
#endif
#ifndef traceMOVED_TASK_TO_READY_STATE
#define traceMOVED_TASK_TO_READY_STATE(pxTCB)
#endif
#ifndef traceTASK_DELETE
#define traceTASK_DELETE(pxTCB)
#endif
#ifndef traceISR_ENTER
#define traceISR_ENTER()
#endif
#ifndef traceISR_EXIT
#define traceISR_EXIT()
#endif
#ifndef traceISR_EXIT_TO_SCHEDULER
#define traceISR_EXIT_TO_SCHEDULER()
#endif
#ifndef traceLOW_POWER_IDLE_BEGIN
#define traceLOW_POWER_IDLE_BEGIN()
#endif
#ifndef traceLOW_POWER_IDLE_END
#define traceLOW_POWER_IDLE_END()
#endif

#endif
