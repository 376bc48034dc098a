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
static TCB_t *volatile pxCurrentTCB;

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
    pxCurrentTCB = to;
}

static void vTaskSwitchContext(void)
{
    TCB_t *from = pxCurrentTCB;
    traceTASK_SWITCHED_OUT();
    choose();
    traceTASK_SWITCHED_IN();
    if (pxCurrentTCB == from)
        return;
    pxCurrentTCB->runs++;
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
            yields |= tasks[i].uxPriority >= pxCurrentTCB->uxPriority;
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
    if (task == pxCurrentTCB)
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
    pxCurrentTCB->runs++;
    for (i = 0; i < 3000; i++) {
        if (random_below(2) == 0) {
            tick();
        } else if (pxCurrentTCB != &tasks[0]) {
            if (random_below(3)) /* vTaskDelay() */
                pxCurrentTCB->xStateListItem.container = &xDelayedTaskList;
            vTaskSwitchContext(); /* else taskYIELD() */
        } else {
            traceLOW_POWER_IDLE_BEGIN();
            traceLOW_POWER_IDLE_END();
        }
        if (i >= 2000 && !deleted && pxCurrentTCB != &tasks[1]) {
            vTaskDelete(&tasks[1]);
            deleted++;
        }
        if (i >= 2500 && deleted == 1 && pxCurrentTCB != &tasks[0]) {
            deleted++;
            vTaskDelete(pxCurrentTCB);
        }
    }
    for (i = 0; i < TASKS; i++)
        printf("%s %u %u %u\n", tasks[i].pcTaskName, tasks[i].runs,
               tasks[i].blocked, tasks[i].preempted);
    printf("tick %u\n", ticks);
    return ask(argc, argv);
}
