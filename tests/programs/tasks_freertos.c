/* A small kernel with the structures that FreeRTOS has. */
/* SPDX-License-Identifier: MIT */
/*
    Two tasks take a mutex each and want the other's; others wait for all else
    that there is to wait for; then one runs in spin(). On a Cortex-M the
    scheduler is PendSV, with the registers of the floating-point unit if there
    is one. On RISC-V and MIPS, under Linux, which qemu plays, a task goes to
    trap() with the address where it goes on in a register that no compiler uses,
    as by an exception; the memory from 0x20000000 on is written to stdout when
    all stand. The layout depends on the configuration in FreeRTOS;
    -DOTHER is another one. -DEMBEDDED is RV32E's port: the compiler is told to
    leave alone the registers that RV32E has not.
*/
#include <stddef.h>
#include <stdint.h>

#ifdef OTHER
#define CONTAINER pvContainer
#define CHECK uint32_t check;
#define NAME_MAX 10
typedef uint16_t TickType_t;
#else
#define CONTAINER pxContainer
#define CHECK
#define NAME_MAX 16
typedef uint32_t TickType_t;
#endif

typedef struct xLIST_ITEM {
    CHECK TickType_t xItemValue;
    struct xLIST_ITEM *pxNext, *pxPrevious;
    void *pvOwner;
    struct xLIST *CONTAINER;
} ListItem_t;
typedef struct xMINI_LIST_ITEM {
    CHECK TickType_t xItemValue;
    struct xLIST_ITEM *pxNext, *pxPrevious;
} MiniListItem_t;
typedef struct xLIST {
    CHECK uint32_t uxNumberOfItems;
    ListItem_t *pxIndex;
    MiniListItem_t xListEnd;
} List_t;
typedef struct tskTaskControlBlock {
    void *pxTopOfStack;
    ListItem_t xStateListItem, xEventListItem;
    uint32_t uxPriority;
    uintptr_t *pxStack;
    char pcTaskName[NAME_MAX];
#ifndef OTHER
    uint32_t uxTCBNumber;
    uint8_t ucNotifyState[2];
#endif
} TCB_t;
typedef struct QueueDefinition {
    int8_t *pcHead, *pcWriteTo;
#ifdef OTHER
    TCB_t *pcTail;
#else
    union {
        struct {
            int8_t *pcTail, *pcReadFrom;
        } xQueue;
        struct {
            TCB_t *xMutexHolder;
            uint32_t uxRecursiveCallCount;
        } xSemaphore;
    } u;
#endif
    List_t xTasksWaitingToSend, xTasksWaitingToReceive;
    uint32_t uxMessagesWaiting, uxLength, uxItemSize;
} Queue_t;
typedef struct EventGroupDef_t {
    uint32_t uxEventBits;
    List_t xTasksWaitingForBits;
} EventGroup_t;
typedef struct QUEUE_REGISTRY_ITEM {
    const char *pcQueueName;
    Queue_t *xHandle;
} QueueRegistryItem_t;
#ifdef OTHER
#define HOLDER(mutex) (mutex)->pcTail
#else
#define HOLDER(mutex) (mutex)->u.xSemaphore.xMutexHolder
#endif

enum { TASKS = 11, STACK_WORDS = 256, PRIORITIES = 5 };
TCB_t *pxCurrentTCB;
static List_t pxReadyTasksLists[PRIORITIES], xDelayedTaskList1,
    xDelayedTaskList2, xPendingReadyList, xSuspendedTaskList,
    xTasksWaitingTermination;
Queue_t cash, bank, commands, results, turn;
EventGroup_t buttons;
QueueRegistryItem_t xQueueRegistry[4] = {{"the bank", &bank}};
static TCB_t tasks[TASKS];
static uintptr_t stacks[TASKS][STACK_WORDS] __attribute__((aligned(16)));
static unsigned next;

/* ----------------------------------------------------------------- lists -- */

static void list_init(List_t *list)
{
    list->pxIndex = (ListItem_t *)(void *)&list->xListEnd;
    list->xListEnd.xItemValue = (TickType_t)-1;
    list->xListEnd.pxNext = list->xListEnd.pxPrevious = list->pxIndex;
}
static void list_add(List_t *list, ListItem_t *item)
{
    ListItem_t *end = (ListItem_t *)(void *)&list->xListEnd;
    item->pxNext = end;
    item->pxPrevious = end->pxPrevious;
    end->pxPrevious->pxNext = item;
    end->pxPrevious = item;
    item->CONTAINER = list;
    list->uxNumberOfItems++;
}
static void list_remove(ListItem_t *item)
{
    item->pxNext->pxPrevious = item->pxPrevious;
    item->pxPrevious->pxNext = item->pxNext;
    item->CONTAINER->uxNumberOfItems--;
    item->CONTAINER = NULL;
}

/* ------------------------------------------------------------- scheduler -- */

/* The next task in turn that is ready. */
__attribute__((used)) void *kernel_switch(void *saved)
{
    if (pxCurrentTCB)
        pxCurrentTCB->pxTopOfStack = saved;
    do
        next = next + 1 < TASKS ? next + 1 : 0;
    while (tasks[next].xStateListItem.CONTAINER != &pxReadyTasksLists[1]);
    pxCurrentTCB = &tasks[next];
    return tasks[next].pxTopOfStack;
}
#ifdef __arm__
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm__ volatile(".syntax unified\n"
                     "mrs r0, psp\n"
#if __ARM_ARCH < 7
                     "cmp r0, #0\n"
                     "beq 1f\n"
                     "subs r0, #32\n"
                     "stmia r0!, {r4-r7}\n"
                     "mov r4, r8\n"
                     "mov r5, r9\n"
                     "mov r6, r10\n"
                     "mov r7, r11\n"
                     "stmia r0!, {r4-r7}\n"
                     "subs r0, #32\n"
                     "1: bl kernel_switch\n"
                     "adds r0, #16\n"
                     "ldmia r0!, {r4-r7}\n"
                     "mov r8, r4\n"
                     "mov r9, r5\n"
                     "mov r10, r6\n"
                     "mov r11, r7\n"
                     "msr psp, r0\n"
                     "subs r0, #32\n"
                     "ldmia r0!, {r4-r7}\n"
                     "movs r0, #2\n"
                     "mvns r0, r0\n"
                     "bx r0\n"
#else
                     "cbz r0, 1f\n"
#ifdef __ARM_FP
                     "tst lr, #0x10\n"
                     "it eq\n"
                     "vstmdbeq r0!, {s16-s31}\n"
                     "stmdb r0!, {r4-r11, lr}\n"
                     "1: bl kernel_switch\n"
                     "ldmia r0!, {r4-r11, lr}\n"
                     "tst lr, #0x10\n"
                     "it eq\n"
                     "vldmiaeq r0!, {s16-s31}\n"
                     "msr psp, r0\n"
                     "bx lr\n"
#else
                     "stmdb r0!, {r4-r11}\n"
                     "1: bl kernel_switch\n"
                     "ldmia r0!, {r4-r11}\n"
                     "msr psp, r0\n"
                     "mvn lr, #2\n" /* 0xfffffffd */
                     "bx lr\n"
#endif
#endif
    );
}
__attribute__((noinline)) static void yield(void)
{
    *(volatile uint32_t *)0xe000ed04 = 1u << 28;
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}
#elif defined(__riscv)
#if __riscv_xlen == 64
#define SAVE(i, at) "sd x" #i ", 8 * " #at "(sp)\n"
#define LOAD(i, at) "ld x" #i ", 8 * " #at "(sp)\n"
#define MOVE "addi sp, sp, 8 * "
#else
#define SAVE(i, at) "sw x" #i ", 4 * " #at "(sp)\n"
#define LOAD(i, at) "lw x" #i ", 4 * " #at "(sp)\n"
#define MOVE "addi sp, sp, 4 * "
#endif
#define HALF(of)                                                               \
    of(1, 1) of(6, 3) of(7, 4) of(8, 5) of(9, 6) of(10, 7) of(11, 8) of(12, 9) \
        of(13, 10) of(14, 11) of(15, 12)
#ifdef EMBEDDED
#define ALL(of) HALF(of)
#else
#define ALL(of)                                                                \
    HALF(of)                                                                   \
    of(16, 13) of(17, 14) of(18, 15) of(19, 16) of(20, 17) of(21, 18)          \
        of(22, 19) of(23, 20) of(24, 21) of(25, 22) of(26, 23) of(27, 24)      \
            of(28, 25) of(29, 26) of(30, 27) of(31, 28)
#endif
/* After the registers are how deep it is in critical sections, if that is
 * noted, and mstatus. */
#ifdef EMBEDDED
#define WORDS 15
#define STATUS SAVE(0, 13) SAVE(5, 14)
#elif defined(OTHER)
#define WORDS 30
#define STATUS SAVE(5, 29)
#else
#define WORDS 31
#define STATUS SAVE(0, 29) SAVE(5, 30)
#endif
#define TEXT_(number) #number
#define TEXT(number) TEXT_(number)
/* x5 has where the task goes on. */
__attribute__((naked)) void trap(void)
{
    __asm__ volatile(MOVE "-" TEXT(WORDS) "\n" SAVE(5, 0) SAVE(5, 2)
                         ALL(SAVE) "li x5, 0x1880\n" STATUS "mv a0, sp\n"
                                   "call kernel_switch\n"
                                   "mv sp, a0\n" LOAD(5, 0) ALL(LOAD)
                                       MOVE TEXT(WORDS) "\n"
                                                        "jr x5\n");
}
__attribute__((noinline)) static void yield(void)
{
    __asm__ volatile("jal x5, trap" : : : "x5", "memory");
}
#else
/* $26 has where the task goes on. */
#define SAVE(i, at) "sw $" #i ", " #at "($sp)\n"
#define LOAD(i, at) "lw $" #i ", " #at "($sp)\n"
#define ALL(of)                                                                \
    of(1, 16) of(16, 20) of(17, 24) of(18, 28) of(19, 32) of(20, 36)           \
        of(21, 40) of(22, 44) of(23, 48) of(2, 52) of(3, 56) of(4, 60)         \
            of(5, 64) of(6, 68) of(7, 72) of(8, 76) of(9, 80) of(10, 84)       \
                of(11, 88) of(12, 92) of(13, 96) of(14, 100) of(15, 104)       \
                    of(24, 108) of(25, 112) of(30, 116) of(31, 120)            \
                        of(26, 124)
__attribute__((naked)) void trap(void)
{
    __asm__ volatile(
        ".set noat\n.set noreorder\n"
        "addiu $sp, $sp, -132\n" ALL(SAVE) "move $a0, $sp\n"
                                           "jal kernel_switch\n"
                                           "nop\n"
                                           "move $sp, $v0\n" ALL(
                                               LOAD) "jr $26\n"
                                                     "addiu $sp, $sp, 132\n");
}
__attribute__((noinline)) static void yield(void)
{
    __asm__ volatile(".set noreorder\n"
                     "lui $27, %%hi(trap)\n"
                     "addiu $27, $27, %%lo(trap)\n"
                     "jalr $26, $27\n"
                     "nop\n"
                     ".set reorder"
                     :
                     :
                     : "memory");
}
#endif
/* Stands in a list by its state, and in one by an event, or in none. */
__attribute__((noinline)) void block(List_t *state, List_t *event)
{
    list_remove(&pxCurrentTCB->xStateListItem);
    list_add(state, &pxCurrentTCB->xStateListItem);
    if (event)
        list_add(event, &pxCurrentTCB->xEventListItem);
    yield();
}

/* ----------------------------------------------------------------- tasks -- */

__attribute__((noinline)) void mutex_take(Queue_t *mutex)
{
    if (HOLDER(mutex))
        block(&xSuspendedTaskList, &mutex->xTasksWaitingToReceive);
    HOLDER(mutex) = pxCurrentTCB;
    yield();
}
__attribute__((noinline)) void take(Queue_t *one, Queue_t *other, int depth)
{
    if (depth) {
        take(one, other, depth - 1);
    } else {
        mutex_take(one);
        mutex_take(other);
    }
    __asm__ volatile("");
}
volatile float amount = 1.5f;
static void deposit(void)
{
#ifdef __ARM_FP
    amount *= 2; /* its context has registers of the floating-point unit */
#endif
    take(&cash, &bank, 2);
}
static void withdraw(void)
{
    take(&bank, &cash, 1);
}
static void reads(void)
{
    block(&xDelayedTaskList1, &commands.xTasksWaitingToReceive);
}
static void sends(void)
{
    block(&xSuspendedTaskList, &results.xTasksWaitingToSend);
}
static void turns(void)
{
    block(&xSuspendedTaskList, &turn.xTasksWaitingToReceive);
}
static void pushed(void)
{
    block(&xDelayedTaskList2, &buttons.xTasksWaitingForBits);
}
static void sleeps(void)
{
    block(&xDelayedTaskList2, NULL);
}
static void told(void)
{
#ifndef OTHER
    pxCurrentTCB->ucNotifyState[1] = 1;
#endif
    block(&xSuspendedTaskList, NULL);
}
static void frozen(void)
{
    block(&xSuspendedTaskList, NULL);
}
static void gone(void)
{
    block(&xTasksWaitingTermination, NULL);
}
volatile unsigned spins;
#ifdef __arm__
__attribute__((noinline)) void spin(void)
{
    spins++;
}
#else
/* Writes the memory, and ends. */
extern char _end[];
static void call(long number, long a, long b, long c)
{
#ifdef __riscv
    register long a0 __asm__("a0") = a, a1 __asm__("a1") = b,
                     a2 __asm__("a2") = c, a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
#else
    register long v0 __asm__("$2") = number, a0 __asm__("$4") = a,
                     a1 __asm__("$5") = b, a2 __asm__("$6") = c;
    __asm__ volatile("syscall"
                     : "+r"(v0)
                     : "r"(a0), "r"(a1), "r"(a2)
                     : "$7", "memory");
#endif
}
__attribute__((noinline)) void spin(void)
{
    if (++spins < 50)
        return;
#ifdef __riscv
    call(64, 1, 0x20000000, (long)_end - 0x20000000);
    call(93, 0, 0, 0);
#else
    call(4004, 1, 0x20000000, (long)_end - 0x20000000);
    call(4001, 0, 0, 0);
#endif
}
#endif
static void idle(void)
{
    for (;;) {
        spin();
        if (spins < 100)
            yield();
    }
}

/* ----------------------------------------------------------------- reset -- */

static void task_make(unsigned i, const char *name, void (*function)(void))
{
#ifdef __riscv
    uintptr_t *frame = &stacks[i][STACK_WORDS - WORDS - 6];
    frame[0] = (uintptr_t)function;
    frame[WORDS - 1] = 0x1880;
#elif defined(__mips__)
    uintptr_t *frame = &stacks[i][STACK_WORDS - 33 - 7];
    frame[31] = (uintptr_t)function;
#elif defined(__ARM_FP)
    uintptr_t *frame = &stacks[i][STACK_WORDS - 17 - 4];
    frame[8] = 0xfffffffd; /* to thread mode, on the process's stack */
    frame[15] = (uint32_t)function;
    frame[16] = 1u << 24; /* Thumb */
#else
    uintptr_t *frame = &stacks[i][STACK_WORDS - 16 - 4];
    frame[14] = (uint32_t)function;
    frame[15] = 1u << 24;
#endif
    tasks[i].pxTopOfStack = frame;
    tasks[i].pxStack = stacks[i];
    tasks[i].xStateListItem.pvOwner = tasks[i].xEventListItem.pvOwner =
        &tasks[i];
    for (unsigned k = 0; k < NAME_MAX - 1 && name[k]; k++)
        tasks[i].pcTaskName[k] = name[k];
#ifndef OTHER
    tasks[i].uxTCBNumber = i + 1;
#endif
    list_add(&pxReadyTasksLists[1], &tasks[i].xStateListItem);
}
static void queue_make(Queue_t *queue, uint32_t item_bytes)
{
    list_init(&queue->xTasksWaitingToSend);
    list_init(&queue->xTasksWaitingToReceive);
    queue->uxLength = 1;
    queue->uxItemSize = item_bytes;
    queue->pcHead = queue->pcWriteTo = (int8_t *)queue;
}
void reset(void);
void reset(void)
{
    List_t *const lists[] = {
        &xDelayedTaskList1,        &xDelayedTaskList2,
        &xPendingReadyList,        &xSuspendedTaskList,
        &xTasksWaitingTermination, &buttons.xTasksWaitingForBits};
#ifdef __ARM_FP
    *(volatile uint32_t *)0xe000ed88 |= 15u << 20; /* CPACR */
#endif
    for (unsigned i = 0; i < PRIORITIES; i++)
        list_init(&pxReadyTasksLists[i]);
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
        list_init(lists[i]);
    queue_make(&cash, 0);
    queue_make(&bank, 0);
    cash.pcHead = bank.pcHead = NULL;
    queue_make(&commands, 8);
    queue_make(&results, 8);
    queue_make(&turn, 0);
    task_make(0, "deposit", deposit);
    task_make(1, "withdraw", withdraw);
    task_make(2, "reads", reads);
    task_make(3, "sends", sends);
    task_make(4, "turns", turns);
    task_make(5, "pushed", pushed);
    task_make(6, "sleeps", sleeps);
    task_make(7, "told", told);
    task_make(8, "frozen", frozen);
    task_make(9, "gone", gone);
    task_make(10, "idle", idle);
    next = TASKS - 1;
    yield();
    for (;;)
        continue;
}
#ifdef __arm__
__attribute__((section(".vectors"),
               used)) static const void *const vectors[16] = {
    (void *)0x20010000, (void *)reset, [14] = (void *)PendSV_Handler};
#endif
