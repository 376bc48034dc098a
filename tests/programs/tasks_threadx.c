/* A small kernel for Cortex-M with the structures that ThreadX has. */
/* SPDX-License-Identifier: MIT */
/*
    Two threads take a mutex each and want the other's; two more do so, of which
    one waits for a time; one waits for a semaphore, one has waited for a mutex
    that it has now; then one runs in spin(). The scheduler is PendSV. Members
    stand in another order than in ThreadX, and debug information tells where;
    but as there, of a semaphore the first thread that waits is where a mutex
    has its owner, and what a thread waited for is never cleared.
*/
#include <stdint.h>

typedef struct TX_TIMER_INTERNAL_STRUCT {
    uint32_t other[5];
    void *tx_timer_internal_list_head;
} TX_TIMER_INTERNAL;
typedef struct TX_THREAD_STRUCT {
    uint32_t tx_thread_id;
    uint32_t other[3];
    const char *tx_thread_name;
    void *tx_thread_stack_ptr;
    uint32_t tx_thread_state;
    TX_TIMER_INTERNAL tx_thread_timer;
    void *tx_thread_suspend_control_block;
    struct TX_THREAD_STRUCT *tx_thread_created_next;
} TX_THREAD;
typedef struct TX_MUTEX_STRUCT {
    uint32_t tx_mutex_id[2];
    TX_THREAD *tx_mutex_owner;
} TX_MUTEX;
typedef struct TX_SEMAPHORE_STRUCT {
    uint32_t tx_semaphore_id[2];
    TX_THREAD *tx_semaphore_suspension_list;
} TX_SEMAPHORE;
enum {
    READY = 0,
    SEMAPHORE_SUSPENDED = 6,
    MUTEX_SUSPENDED = 13,
    THREADS = 7,
    STACK_WORDS = 256
};

TX_THREAD *_tx_thread_created_ptr, *_tx_thread_current_ptr;
TX_MUTEX cash, bank, red, blue, spare;
TX_SEMAPHORE turn;
static TX_THREAD threads[THREADS];
static uint32_t stacks[THREADS][STACK_WORDS];
static unsigned next;

/* The next thread in turn that is ready. */
__attribute__((used)) void *kernel_switch(void *saved)
{
    if (_tx_thread_current_ptr)
        _tx_thread_current_ptr->tx_thread_stack_ptr = saved;
    do
        next = (next + 1) % THREADS;
    while (threads[next].tx_thread_state != READY);
    _tx_thread_current_ptr = &threads[next];
    return threads[next].tx_thread_stack_ptr;
}
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm__ volatile("mrs r0, psp\n"
                     "cbz r0, 1f\n"
                     "stmdb r0!, {r4-r11}\n"
                     "stmdb r0!, {lr}\n"
                     "1: bl kernel_switch\n"
                     "ldmia r0!, {lr}\n"
                     "ldmia r0!, {r4-r11}\n"
                     "msr psp, r0\n"
                     "bx lr\n");
}
static void yield(void)
{
    *(volatile uint32_t *)0xe000ed04 = 1u << 28;
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}
__attribute__((noinline)) void mutex_get(TX_MUTEX *mutex)
{
    TX_THREAD *self = _tx_thread_current_ptr;
    if (mutex->tx_mutex_owner) {
        self->tx_thread_suspend_control_block = mutex;
        self->tx_thread_state = MUTEX_SUSPENDED;
        yield();
    }
    mutex->tx_mutex_owner = self;
    yield();
}
__attribute__((noinline)) void take(TX_MUTEX *one, TX_MUTEX *other, int depth)
{
    if (depth) {
        take(one, other, depth - 1);
    } else {
        mutex_get(one);
        mutex_get(other);
    }
    __asm__ volatile("");
}
static void deposit(void)
{
    take(&cash, &bank, 2);
}
static void withdraw(void)
{
    take(&bank, &cash, 1);
}
static void patient(void)
{
    take(&red, &blue, 1);
}
static void hurried(void)
{
    _tx_thread_current_ptr->tx_thread_timer.tx_timer_internal_list_head =
        &threads[0];
    take(&blue, &red, 1);
}
static void turns(void)
{
    TX_THREAD *self = _tx_thread_current_ptr;
    turn.tx_semaphore_suspension_list = self;
    self->tx_thread_suspend_control_block = &turn;
    self->tx_thread_state = SEMAPHORE_SUSPENDED;
    yield();
}
static void had(void)
{
    _tx_thread_current_ptr->tx_thread_suspend_control_block = &spare;
    spare.tx_mutex_owner = _tx_thread_current_ptr;
    for (;;)
        yield();
}
volatile unsigned spins;
__attribute__((noinline)) void spin(void)
{
    spins++;
}
static void idle(void)
{
    for (;;) {
        spin();
        if (spins < 100)
            yield();
    }
}

static void thread_make(unsigned i, const char *name, void (*function)(void))
{
    uint32_t *frame = &stacks[i][STACK_WORDS - 17 - 4];
    frame[0] = 0xfffffffd; /* to thread mode, on the process's stack */
    frame[15] = (uint32_t)function;
    frame[16] = 1u << 24; /* Thumb */
    threads[i].tx_thread_name = name;
    threads[i].tx_thread_stack_ptr = frame;
    threads[i].tx_thread_created_next = &threads[(i + 1) % THREADS];
}
void reset(void)
{
    thread_make(0, "deposit", deposit);
    thread_make(1, "withdraw", withdraw);
    thread_make(2, "patient", patient);
    thread_make(3, "hurried", hurried);
    thread_make(4, "turns", turns);
    thread_make(5, "had", had);
    thread_make(6, "idle", idle);
    _tx_thread_created_ptr = &threads[0];
    next = THREADS - 1;
    yield();
    for (;;)
        continue;
}
__attribute__((section(".vectors"),
               used)) static const void *const vectors[16] = {
    (void *)0x20010000, (void *)reset, [14] = (void *)PendSV_Handler};
