/* FreeRTOSConfig.h - of the kernel itself, with one line for the recorder. */
/* SPDX-License-Identifier: MIT */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 25000000
#define configTICK_RATE_HZ 1000
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configUSE_16_BIT_TICKS 0
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 1
#define configUSE_TASK_NOTIFICATIONS 1
#define configUSE_MUTEXES 1
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configMAX_PRIORITIES 5
#define configMAX_TASK_NAME_LEN 12
#define configMINIMAL_STACK_SIZE 128
#define configTOTAL_HEAP_SIZE 40000
#define configKERNEL_INTERRUPT_PRIORITY 255
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 32
#define configASSERT(is)                                                       \
    do {                                                                       \
        if (!(is))                                                             \
            port_exit(4);                                                      \
    } while (0)
#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#define INCLUDE_xTaskGetIdleTaskHandle 1

#include "port.h"
#define RECORDER_FREERTOS_INTERRUPT(vector) ((vector) == 15 ? "tick" : "?")
#include "recorder_freertos.h"

#endif
