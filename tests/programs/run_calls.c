/* Says what each function that recorder run interposes answers. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int line;
#define SAY(call)                                                              \
    do {                                                                       \
        int said_;                                                             \
        errno = 77;                                                            \
        said_ = (int)(call);                                                   \
        printf("%d %s: %d, errno %d\n", ++line, #call, said_, errno);          \
    } while (0)

static struct timespec past = {1, 0}, wrong = {1, 2000000000}, early = {1, -1};
static struct timespec soon(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += 20000000;
    if (t.tv_nsec >= 1000000000)
        t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

/* Runs a function in a thread. */
static void *in_thread(void *(*run)(void *), void *of)
{
    pthread_t thread;
    void *value = NULL;
    int made = pthread_create(&thread, NULL, run, of);
    int joined = pthread_join(thread, &value); /* it speaks, too */
    SAY(made);
    SAY(joined);
    return value;
}

/* --------------------------------------------------------------- mutexes -- */

static pthread_mutex_t mutex;
static void *others_mutex(void *of)
{
    struct timespec real = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);
    SAY(pthread_mutex_trylock(&mutex));
    SAY(pthread_mutex_timedlock(&mutex, &past));
    SAY(pthread_mutex_timedlock(&mutex, &real));
    SAY(pthread_mutex_timedlock(&mutex, &wrong));
    SAY(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &mono));
    SAY(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &early));
    SAY(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &mono));
    if (of)
        SAY(pthread_mutex_unlock(&mutex));
    return of;
}
static void *dies(void *of)
{
    SAY(pthread_mutex_lock(&mutex));
    return of;
}
static void mutexes(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                                PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    static const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
    for (int i = 0; i < 8; i++) {
        pthread_mutexattr_t a;
        int type = types[i / 2];
        pthread_mutexattr_init(&a);
        pthread_mutexattr_settype(&a, type);
        pthread_mutexattr_setprotocol(&a, protocols[i % 2]);
        SAY(pthread_mutex_init(&mutex, &a));
        SAY(pthread_mutex_lock(&mutex));
        SAY(pthread_mutex_trylock(&mutex) != 0);
        if (type == PTHREAD_MUTEX_ERRORCHECK) {
            SAY(pthread_mutex_lock(&mutex));
            SAY(pthread_mutex_timedlock(&mutex, &past));
        }
        SAY(pthread_mutex_timedlock(&mutex, &past) == 0);
        if (type == PTHREAD_MUTEX_RECURSIVE) {
            SAY(pthread_mutex_lock(&mutex));
            SAY(pthread_mutex_unlock(&mutex));
            SAY(pthread_mutex_unlock(&mutex));
            SAY(pthread_mutex_unlock(&mutex));
        }
        in_thread(others_mutex,
                  type == PTHREAD_MUTEX_ERRORCHECK ? &mutex : NULL);
        SAY(pthread_mutex_destroy(&mutex));
        SAY(pthread_mutex_unlock(&mutex));
        if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE)
            SAY(pthread_mutex_unlock(&mutex));
        SAY(pthread_mutex_timedlock(&mutex, &wrong));
        SAY(pthread_mutex_unlock(&mutex));
        SAY(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
        SAY(pthread_mutex_destroy(&mutex));
        pthread_mutexattr_destroy(&a);
    }
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    SAY(pthread_mutex_init(&mutex, &robust));
    in_thread(dies, NULL);
    SAY(pthread_mutex_lock(&mutex));
    SAY(pthread_mutex_consistent(&mutex));
    SAY(pthread_mutex_unlock(&mutex));
    in_thread(dies, NULL);
    SAY(pthread_mutex_trylock(&mutex));
    SAY(pthread_mutex_unlock(&mutex)); /* not made consistent */
    SAY(pthread_mutex_lock(&mutex));
    SAY(pthread_mutex_destroy(&mutex));
}

/* ------------------------------------------------------ conditions, once -- */

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stage, cleaned;
static void unlocks(void *of)
{
    cleaned++;
    SAY(pthread_mutex_unlock(of));
}
static void *waits(void *of)
{
    pthread_mutex_lock(&guard);
    pthread_cleanup_push(unlocks, &guard);
    stage = 1;
    pthread_cond_signal(&changed);
    while (stage != 3)
        pthread_cond_wait(&changed, &guard);
    stage = 4;
    pthread_cond_broadcast(&changed);
    pthread_cleanup_pop(1);
    return of;
}
static void conditions(void)
{
    pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    struct timespec real = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);
    pthread_t thread;
    void *value;
    SAY(pthread_cond_wait(&changed, &checked)); /* it is not locked */
    SAY(pthread_cond_timedwait(&changed, &checked, &past));
    SAY(pthread_mutex_lock(&checked));
    SAY(pthread_cond_timedwait(&changed, &checked, &real));
    SAY(pthread_cond_timedwait(&changed, &checked, &wrong));
    SAY(pthread_cond_clockwait(&changed, &checked, CLOCK_MONOTONIC, &mono));
    SAY(pthread_cond_clockwait(&changed, &checked, 99, &mono));
    SAY(pthread_mutex_unlock(&checked));
    for (int cancels = 0; cancels < 2; cancels++) {
        pthread_mutex_lock(&guard);
        stage = 0;
        SAY(pthread_create(&thread, NULL, waits, &stage));
        while (stage != 1)
            pthread_cond_wait(&changed, &guard);
        if (cancels)
            SAY(pthread_cancel(thread));
        else
            stage = 3;
        SAY(pthread_cond_signal(&changed));
        while (!cancels && stage != 4)
            pthread_cond_wait(&changed, &guard);
        pthread_mutex_unlock(&guard);
        SAY(pthread_join(thread, &value));
        SAY(value == (cancels ? PTHREAD_CANCELED : &stage));
    }
    SAY(cleaned);
    SAY(pthread_mutex_trylock(&guard));
    SAY(pthread_mutex_unlock(&guard));
    SAY(pthread_cond_destroy(&changed));
    SAY(pthread_cond_init(&changed, NULL));
}

static pthread_once_t first = PTHREAD_ONCE_INIT, second = PTHREAD_ONCE_INIT;
static int onces;
static void inner(void)
{
    onces += 10;
}
static void outer(void)
{
    onces++;
    usleep(20000);
    pthread_once(&second, inner);
}
static void *does_once(void *of)
{
    pthread_once(&first, outer);
    return of;
}
static void *exits_in_once(void *of)
{
    pthread_exit(of);
}
static once_flag flag = ONCE_FLAG_INIT;
static void once(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, does_once, NULL);
    for (int i = 0; i < 3; i++)
        SAY(pthread_join(threads[i], NULL));
    SAY(onces);
    call_once(&flag, inner);
    call_once(&flag, inner);
    SAY(onces);
    SAY(in_thread(exits_in_once, &onces) == &onces);
}

/* ---------------------------------------------- read-write locks, others -- */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static void *others_rwlock(void *of)
{
    struct timespec real = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);
    SAY(pthread_rwlock_tryrdlock(&rwlock) == (of ? 0 : EBUSY));
    SAY(pthread_rwlock_trywrlock(&rwlock));
    SAY(pthread_rwlock_timedwrlock(&rwlock, &real));
    SAY(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &mono));
    SAY(pthread_rwlock_timedwrlock(&rwlock, &wrong));
    SAY(pthread_rwlock_clockrdlock(&rwlock, 99, &mono));
    if (of)
        SAY(pthread_rwlock_unlock(&rwlock));
    else
        SAY(pthread_rwlock_timedrdlock(&rwlock, &past));
    return of;
}
static void rwlocks(void)
{
    SAY(pthread_rwlock_rdlock(&rwlock));
    SAY(pthread_rwlock_rdlock(&rwlock));
    in_thread(others_rwlock, &rwlock);
    SAY(pthread_rwlock_unlock(&rwlock));
    SAY(pthread_rwlock_unlock(&rwlock));
    SAY(pthread_rwlock_wrlock(&rwlock));
    SAY(pthread_rwlock_wrlock(&rwlock));
    SAY(pthread_rwlock_rdlock(&rwlock));
    in_thread(others_rwlock, NULL);
    SAY(pthread_rwlock_unlock(&rwlock));
    SAY(pthread_rwlock_timedrdlock(&rwlock, &wrong)); /* also where free */
    SAY(pthread_rwlock_timedrdlock(&rwlock, &past));
    SAY(pthread_rwlock_unlock(&rwlock));
    SAY(pthread_rwlock_destroy(&rwlock));
    SAY(pthread_rwlock_init(&rwlock, NULL));
}

static sem_t sem;
static void *posts(void *of)
{
    usleep(20000);
    SAY(sem_post(of));
    return NULL;
}
static void *cancelled_in_sem(void *of)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    sem_wait(of); /* it is free: the thread is cancelled all the same */
    return NULL;
}
static void interrupts(int sig)
{
    (void)sig;
}
static volatile int interrupted;
static void *signals(void *of)
{
    while (!interrupted) { /* it may not wait yet */
        usleep(50000);
        pthread_kill(*(pthread_t *)of, SIGUSR1);
    }
    return NULL;
}
static void semaphores(void)
{
    struct timespec real = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);
    struct sigaction action = {.sa_handler = interrupts};
    pthread_t self = pthread_self(), thread;
    int value;
    SAY(sem_init(&sem, 0, 0));
    SAY(sem_trywait(&sem));
    SAY(sem_timedwait(&sem, &real));
    SAY(sem_clockwait(&sem, CLOCK_MONOTONIC, &mono));
    SAY(sem_timedwait(&sem, &wrong));
    pthread_create(&thread, NULL, posts, &sem);
    errno = 77;
    value = sem_wait(&sem);
    pthread_join(thread, NULL);
    SAY(value);
    SAY(sem_post(&sem));
    SAY(sem_timedwait(&sem, &wrong)); /* also where it is free */
    SAY(sem_clockwait(&sem, 99, &mono));
    SAY(in_thread(cancelled_in_sem, &sem) == PTHREAD_CANCELED);
    SAY(sem_getvalue(&sem, &value));
    SAY(value);
    SAY(sem_wait(&sem));
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, signals, &self);
    value = sem_wait(&sem);
    value = value ? errno : 0;
    interrupted = 1;
    pthread_join(thread, NULL);
    SAY(value == EINTR);
    SAY(sem_destroy(&sem));
}

static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static void *comes(void *of)
{
    int result = pthread_barrier_wait(of);
    return result == PTHREAD_BARRIER_SERIAL_THREAD ? of : NULL;
}
static void spins_and_barriers(void)
{
    pthread_t threads[3];
    int serial = 0;
    SAY(pthread_spin_init(&spin, 0));
    SAY(pthread_spin_lock(&spin));
    SAY(pthread_spin_trylock(&spin));
    SAY(pthread_spin_unlock(&spin));
    SAY(pthread_spin_destroy(&spin));
    SAY(pthread_barrier_init(&barrier, NULL, 3));
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, comes, &barrier);
    for (int i = 0; i < 3; i++) {
        void *value;
        pthread_join(threads[i], &value);
        serial += value != NULL;
    }
    SAY(serial);
    SAY(pthread_barrier_destroy(&barrier));
    SAY(pthread_barrier_init(&barrier, NULL, 0));
}

/* ---------------------------------------------------------- threads, C11 -- */

static volatile int is_told;
static void *sleeps(void *of)
{
    while (!is_told)
        usleep(1000);
    return of;
}
static void *leaves(void *of)
{
    pthread_exit(of);
}
static void threads(void)
{
    struct timespec real, mono;
    pthread_attr_t a;
    pthread_t thread;
    char name[16];
    void *value;
    SAY(pthread_create(&thread, NULL, sleeps, &line));
    real = soon(CLOCK_REALTIME), mono = soon(CLOCK_MONOTONIC);
    SAY(pthread_tryjoin_np(thread, &value));
    SAY(pthread_timedjoin_np(thread, &value, &real));
    SAY(pthread_clockjoin_np(thread, &value, CLOCK_MONOTONIC, &mono));
    SAY(pthread_setname_np(thread, "sleeper"));
    SAY(pthread_setname_np(thread, "a name that is too long"));
    SAY(pthread_getname_np(thread, name, sizeof name));
    SAY(strcmp(name, "sleeper"));
    is_told = 1;
    SAY(pthread_join(thread, &value));
    is_told = 0; /* the detached ones end with the process */
    SAY(value == &line);
    SAY(pthread_join(pthread_self(), NULL));
    SAY(in_thread(leaves, &stage) == &stage);
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    SAY(pthread_create(&thread, &a, sleeps, NULL));
    SAY(pthread_join(thread, NULL));
    SAY(pthread_create(&thread, NULL, sleeps, NULL));
    SAY(pthread_detach(thread));
    SAY(pthread_detach(thread));
    pthread_attr_setstacksize(&a, SIZE_MAX / 2);
    SAY(pthread_create(&thread, &a, sleeps, NULL) != 0);
}

static mtx_t mtx;
static cnd_t cnd;
static int returns_7(void *of)
{
    (void)of;
    SAY(mtx_trylock(&mtx));
    return 7;
}
static int exits_8(void *of)
{
    (void)of;
    thrd_exit(8);
}
static void c11(void)
{
    thrd_t thread;
    int value = 0, made;
    SAY(mtx_init(&mtx, mtx_timed));
    SAY(mtx_lock(&mtx));
    SAY(mtx_trylock(&mtx));
    SAY(mtx_timedlock(&mtx, &past));
    made = thrd_create(&thread, returns_7, NULL);
    SAY(thrd_join(thread, &value));
    SAY(made);
    SAY(value);
    SAY(cnd_init(&cnd));
    SAY(cnd_timedwait(&cnd, &mtx, &past));
    SAY(cnd_signal(&cnd));
    SAY(cnd_broadcast(&cnd));
    SAY(mtx_unlock(&mtx));
    SAY(thrd_create(&thread, exits_8, NULL));
    SAY(thrd_join(thread, &value));
    SAY(value);
    SAY(thrd_create(&thread, exits_8, NULL));
    SAY(thrd_detach(thread));
    usleep(50000);
    mtx_destroy(&mtx);
    cnd_destroy(&cnd);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    mutexes();
    conditions();
    once();
    rwlocks();
    semaphores();
    spins_and_barriers();
    threads();
    c11();
    fflush(stdout);
    if (fork() == 0) { /* locks and threads of a child */
        mutexes();
        threads();
        _exit(9);
    }
    SAY(wait(&line) > 0);
    return 42;
}
