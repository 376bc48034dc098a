/* FreeRTOSConfig.h - as a user has it, with one line for the recorder. */
/* SPDX-License-Identifier: MIT */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configMAX_PRIORITIES 3
#define configMAX_TASK_NAME_LEN 16

#define RECORDER_FREERTOS_VECTOR() 15
#define RECORDER_FREERTOS_INTERRUPT(vector) ((vector) == 15 ? "tick" : "?")
#include "recorder_freertos.h"

#endif
