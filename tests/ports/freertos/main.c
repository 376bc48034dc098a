/* main.c - tasks of FreeRTOS itself that count what its scheduler does. */
/* SPDX-License-Identifier: MIT */
/*
    Nothing here is counted by the hooks. Runs: by a function of the linker's
    --wrap around vTaskSwitchContext(). Blocked: by each task, in front of each
    call that blocks for certain. Preempted: how often it left otherwise.
*/
#include "FreeRTOS.h"
#include "queue.h"
#include "task.h"

RECORDER(switches, 8192, "Which task ran, which interrupt");

enum { TASKS = 10, ITEMS = 40, TICKS = 400 };

static struct counted {
    TaskHandle_t task;
    const char *name;
    unsigned runs, left, blocks, ended;
} counted[TASKS];
static unsigned ticks;
static volatile bool done;
static QueueHandle_t items;
static TaskHandle_t asked, woken, victim;

/* ---------------------------------------------------------------- count -- */

static struct counted *counted_of(TaskHandle_t task)
{
    unsigned i = 0;
    while (counted[i].task && counted[i].task != task)
        i++;
    return &counted[i];
}
static void blocks(void)
{
    counted_of(xTaskGetCurrentTaskHandle())->blocks++;
}

void __real_vTaskSwitchContext(void);
void __wrap_vTaskSwitchContext(void);
void __wrap_vTaskSwitchContext(void)
{
    TaskHandle_t from = xTaskGetCurrentTaskHandle(), to;
    __real_vTaskSwitchContext();
    to = xTaskGetCurrentTaskHandle();
    if (to == from)
        return;
    counted_of(from)->left++;
    counted_of(to)->runs++;
}

/* ---------------------------------------------------------------- tasks -- */

static void work(unsigned rounds)
{
    unsigned i;
    for (i = 0; i < rounds; i++)
        __asm__ volatile("");
}
static void stop(void)
{
    blocks();
    vTaskSuspend(NULL);
}

static void sleeper(void *delay)
{
    while (!done) {
        work(3000);
        blocks();
        vTaskDelay((TickType_t)(uintptr_t)delay);
    }
    stop();
}
/* Two of these share the processor by the tick, and give it away. */
static void spinner(void *rounds)
{
    while (!done) {
        work((unsigned)(uintptr_t)rounds);
        taskYIELD();
    }
    stop();
}
/* More urgent than who sends: it waits for each item. */
static void receiver(void *unused)
{
    unsigned item;
    (void)unused;
    for (;;) {
        blocks();
        xQueueReceive(items, &item, portMAX_DELAY);
        work(500);
    }
}
static void notified(void *unused)
{
    (void)unused;
    for (;;) {
        blocks();
        ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        work(200);
    }
}
static void sender(void *unused)
{
    unsigned i;
    (void)unused;
    for (i = 0; i < ITEMS; i++) {
        xQueueSend(items, &i, 0);
        xTaskNotifyGive(asked);
        work(1000);
        blocks();
        vTaskDelay(4);
        if (i == ITEMS / 2) {
            counted_of(victim)->ended++;
            vTaskDelete(victim);
        }
    }
    counted_of(xTaskGetCurrentTaskHandle())->ended++;
    vTaskDelete(NULL);
}

/* ----------------------------------------------------------- interrupts -- */

static uint32_t vectors[64] __attribute__((aligned(256)));
void vPortSVCHandler(void);
void xPortPendSVHandler(void);
void xPortSysTickHandler(void);

/* This kernel's ports tell of no interrupt: a handler of ours does. */
static void tick(void)
{
    traceISR_ENTER();
    xPortSysTickHandler();
    done = ++ticks >= TICKS;
    traceISR_EXIT();
}

void vApplicationTickHook(void);
void vApplicationTickHook(void)
{
    BaseType_t yields = pdFALSE;
    if (xTaskGetTickCountFromISR() % 7 == 0)
        vTaskNotifyGiveFromISR(woken, &yields);
    portYIELD_FROM_ISR(yields);
}

/* ----------------------------------------------------------------- idle -- */

/* A debugger stops here and saves the memory. */
void image_done(void);
__attribute__((noinline)) void image_done(void)
{
    __asm__ volatile("");
}

static void put_number(unsigned number)
{
    char text[12];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    port_write(" ", 1);
    port_write(text + at, sizeof text - at);
}
static void put_text(const char *text)
{
    size_t size = 0;
    while (text[size])
        size++;
    port_write(text, size);
}

void vApplicationIdleHook(void);
void vApplicationIdleHook(void)
{
    unsigned i;
    if (ticks < TICKS + 30) /* by then all others have stopped */
        return;
    __asm__ volatile("cpsid i");
    RECORDER_TRACE(switches) = -1;
    for (i = 0; i < TASKS; i++) {
        const struct counted *t = &counted[i];
        put_text(t->name);
        put_number(t->runs);
        put_number(t->blocks);
        put_number(t->left - t->blocks - (t->ended && t->task != victim));
        put_number(t->ended);
        port_write("\n", 1);
    }
    put_text("tick");
    put_number(ticks);
    port_write("\n", 1);
    image_done();
    port_exit(0);
}

static TaskHandle_t add(const char *name, TaskFunction_t run, void *with,
                        unsigned priority)
{
    struct counted *t = counted_of(NULL);
    t->name = name;
    xTaskCreate(run, name, 256, with, priority, &t->task);
    return t->task;
}

int main(void)
{
    const uint32_t *from = 0; /* the vectors of start.c, at address 0 */
    unsigned i;
    __asm__("" : "+r"(from));
    for (i = 0; i < 17; i++)
        vectors[i] = from[i];
    vectors[11] = (uint32_t)(uintptr_t)vPortSVCHandler;
    vectors[14] = (uint32_t)(uintptr_t)xPortPendSVHandler;
    vectors[15] = (uint32_t)(uintptr_t)tick;
    *(volatile uint32_t *)0xe000ed08 = (uint32_t)(uintptr_t)vectors;
    items = xQueueCreate(4, sizeof(unsigned));
    add("fast", sleeper, (void *)2, 3);
    add("slow", sleeper, (void *)9, 2);
    add("even", spinner, (void *)700, 1);
    add("odd", spinner, (void *)1900, 1);
    add("receiver", receiver, NULL, 4);
    add("sender", sender, NULL, 2);
    asked = add("asked", notified, NULL, 3);
    woken = add("woken", notified, NULL, 4);
    victim = add("victim", sleeper, (void *)3, 2);
    counted[TASKS - 1].name = "IDLE";
    vTaskStartScheduler();
    return 5;
}
