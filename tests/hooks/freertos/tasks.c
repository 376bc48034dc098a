/* tasks.c - a stand-in for a kernel: it chooses tasks, and counts. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "../standin.h"
#include "FreeRTOS.h"

RECORDER(switches, 65536, "Which task ran, which interrupt");

typedef struct tskTaskControlBlock {
    ListItem_t xStateListItem;
    UBaseType_t uxPriority;
    char pcTaskName[configMAX_TASK_NAME_LEN];
    unsigned runs, blocked, preempted;
} tskTCB;
typedef tskTCB TCB_t;

static List_t pxReadyTasksLists[configMAX_PRIORITIES];
static List_t xDelayedTaskList, xTasksWaitingTermination;
#ifdef ESP_PLATFORM /* ESP-IDF */
static TCB_t *volatile pxCurrentTCBs[2];
#define CURRENT pxCurrentTCBs[1]
#else
static TCB_t *volatile pxCurrentTCB;
#define CURRENT pxCurrentTCB
#endif

enum { TASKS = 6 };
static TCB_t tasks[TASKS];
static unsigned ticks;

static void ready(TCB_t *task)
{
    traceMOVED_TASK_TO_READY_STATE(task);
    task->xStateListItem.container = &pxReadyTasksLists[task->uxPriority];
}

static void choose(void)
{
    unsigned first = random_below(TASKS), i;
    int best = -1;
    TCB_t *to = NULL;
    for (i = 0; i < TASKS; i++) {
        TCB_t *task = &tasks[(first + i) % TASKS];
        if ((int)task->uxPriority > best &&
            listIS_CONTAINED_WITHIN(&pxReadyTasksLists[task->uxPriority],
                                    &task->xStateListItem)) {
            best = (int)task->uxPriority;
            to = task;
        }
    }
    CURRENT = to;
}

static void vTaskSwitchContext(void)
{
    TCB_t *from = CURRENT;
    traceTASK_SWITCHED_OUT();
    choose();
    traceTASK_SWITCHED_IN();
    if (CURRENT == from)
        return;
    CURRENT->runs++;
    from->blocked += from->xStateListItem.container == &xDelayedTaskList;
    from->preempted +=
        from->xStateListItem.container == &pxReadyTasksLists[from->uxPriority];
}

static void tick(void)
{
    BaseType_t yields = 0;
    unsigned i;
    traceISR_ENTER();
    ticks++;
    for (i = 0; i < TASKS; i++)
        if (tasks[i].xStateListItem.container == &xDelayedTaskList &&
            random_below(3) == 0) {
            ready(&tasks[i]);
            yields |= tasks[i].uxPriority >= CURRENT->uxPriority;
        }
    if (yields) {
        traceISR_EXIT_TO_SCHEDULER();
        vTaskSwitchContext();
    } else {
        traceISR_EXIT();
    }
}

static void vTaskDelete(TCB_t *task)
{
    traceTASK_DELETE(task);
    task->xStateListItem.container = &xTasksWaitingTermination;
    if (task == CURRENT)
        vTaskSwitchContext();
}

int main(int argc, char **argv)
{
    static const char *const names[TASKS] = {"IDLE", "a", "b", "c", "d", "e"};
    unsigned deleted = 0, i;
    for (i = 0; i < TASKS; i++) {
        strcpy(tasks[i].pcTaskName, names[i]);
        tasks[i].uxPriority = i == 0 ? 0 : 1 + i % 2;
        ready(&tasks[i]);
    }
    choose();
    traceTASK_SWITCHED_IN(); /* as vTaskStartScheduler() does */
    CURRENT->runs++;
    for (i = 0; i < 3000; i++) {
        if (random_below(2) == 0) {
            tick();
        } else if (CURRENT != &tasks[0]) {
            if (random_below(3)) /* vTaskDelay() */
                CURRENT->xStateListItem.container = &xDelayedTaskList;
            vTaskSwitchContext(); /* else taskYIELD() */
        } else {
            traceLOW_POWER_IDLE_BEGIN();
            traceLOW_POWER_IDLE_END();
        }
        if (i >= 2000 && !deleted && CURRENT != &tasks[1]) {
            vTaskDelete(&tasks[1]);
            deleted++;
        }
        if (i >= 2500 && deleted == 1 && CURRENT != &tasks[0]) {
            deleted++;
            vTaskDelete(CURRENT);
        }
    }
    for (i = 0; i < TASKS; i++)
        printf("%s %u %u %u\n", tasks[i].pcTaskName, tasks[i].runs,
               tasks[i].blocked, tasks[i].preempted);
    printf("tick %u\n", ticks);
    return ask(argc, argv);
}
