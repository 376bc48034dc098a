/* Threads, forks, stacks and signals of all kinds, for recorder run. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER,
                       two = PTHREAD_MUTEX_INITIALIZER,
                       kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int count;

/* Waits for a lock that another has for a moment. */
__attribute__((noinline)) static void waits(void)
{
    pthread_mutex_lock(&one);
    count++;
    pthread_mutex_unlock(&one);
}

/* ----------------------------------------------------------------- threads */

static void *all_at_once(void *of)
{
    pthread_barrier_wait(&barrier);
    waits();
    return of;
}
/* threads N [BYTES]: so many that live at once, of stacks of so many bytes. */
static int threads(int n, size_t bytes)
{
    pthread_t *ids = calloc((size_t)n, sizeof *ids);
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, bytes);
    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        if (pthread_create(&ids[i], &a, all_at_once, NULL))
            return 1;
    for (int i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    printf("%d\n", count);
    return 0;
}

static void *nothing(void *of)
{
    return of;
}

/* ------------------------------------------------------------------- forks */

/* forks N [EXEC]: children that lock, and make no thread; all of them exec. */
static int forks(int n, bool execs)
{
    if (n < 1)
        return 2;
    pthread_t thread;
    struct timespec from, to;
    int status = 0, sum = 0;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < n; i++) {
        pid_t pid;
        pthread_mutex_lock(&two);
        pid = fork();
        pthread_mutex_unlock(&two);
        if (pid == 0 && execs)
            execlp("true", "true", NULL);
        if (pid == 0) {
            waits();
            _exit(count);
        }
        waitpid(pid, &status, 0);
        sum += WEXITSTATUS(status);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%d\n", sum);
    fprintf(stderr, "%ld us each\n",
            ((to.tv_sec - from.tv_sec) * 1000000 +
             (to.tv_nsec - from.tv_nsec) / 1000) /
                n);
    return 0;
}
/* pages: how many pages of the program's own memory fork() has to copy the
 * entries of, after the first thread; nothing where Linux does not tell. */
static int pages(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    FILE *entries = fopen("/proc/self/pagemap", "rb");
    unsigned long start, end, present = 0;
    char line[512];
    pthread_t thread;
    uint64_t entry;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    if (!maps || !entries)
        return 77;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx rw-p", &start, &end) != 2 ||
            !strstr(line, " rw-p ") ||
            fseek(entries, (long)(start / 4096 * sizeof entry), SEEK_SET) != 0)
            continue;
        for (; start < end && fread(&entry, sizeof entry, 1, entries) == 1;
             start += 4096)
            present += entry >> 63;
    }
    printf("%lu\n", present);
    return 0;
}
static int waiter; /* its kernel id */
static void *waits_long(void *of)
{
    __atomic_store_n(&waiter, (int)gettid(), __ATOMIC_RELEASE);
    pthread_mutex_lock(&two);
    pthread_mutex_unlock(&two);
    return of;
}
/* Waits until that thread is asleep, for the lock. */
static void until_it_waits(void)
{
    char path[64], state = '?';
    while (state != 'S') {
        FILE *stat;
        usleep(20000);
        snprintf(path, sizeof path, "/proc/self/task/%d/stat",
                 __atomic_load_n(&waiter, __ATOMIC_ACQUIRE));
        stat = fopen(path, "r");
        if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        if (stat)
            fclose(stat);
    }
}
/* What a daemon does in front of its first fork(): takes two locks in the order
 * that it will not keep to, and keeps one of them. */
__attribute__((noinline)) static void locks_early(void)
{
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&kept);
    pthread_mutex_unlock(&one);
}
/* And after the last. */
__attribute__((noinline)) static void locks_late(void)
{
    pthread_mutex_lock(&one);
    pthread_mutex_unlock(&one);
}
__attribute__((noinline)) static void *waits_for_kept(void *of)
{
    pthread_mutex_lock(&kept);
    pthread_mutex_unlock(&kept);
    return of;
}
/* daemon: forks twice and leaves session, folder and descriptors, as daemons do,
 * then makes threads that wait for locks, of which one was taken in front of
 * it all; says in the file `ready` who it is. */
static int becomes_daemon(void)
{
    pthread_t thread;
    int fd = open("ready.new", O_WRONLY | O_CREAT, 0600), copy;
    char text[32];
    locks_early();
    if (fork() > 0)
        return 0;
    setsid();
    if (fork() > 0)
        _exit(0);
    copy = fcntl(fd, F_DUPFD, 100);
    for (int i = 0; i < 100; i++)
        close(i);
    open("/dev/null", O_RDWR);
    dup(0);
    dup(0);
    locks_late();
    pthread_mutex_lock(&two);
    if (pthread_create(&thread, NULL, waits_long, NULL) ||
        pthread_create(&thread, NULL, waits_for_kept, NULL))
        _exit(1);
    rename("ready.new", "ready");
    if (chdir("/") != 0 || write(copy, text, (size_t)sprintf(text, "%d\n",
                                                           (int)getpid())) < 0)
        _exit(1);
    close(copy);
    pause();
    return 0;
}
/* fork: a child makes threads, and is forked while another thread waits. */
static int fork_with_threads(void)
{
    pthread_t thread, other;
    int status;
    pid_t pid;
    pthread_mutex_lock(&two);
    pthread_create(&thread, NULL, waits_long, NULL);
    until_it_waits();
    pid = fork();
    if (pid == 0) {
        pthread_mutex_unlock(&two);
        pthread_create(&other, NULL, nothing, NULL);
        pthread_join(other, NULL);
        waits();
        _exit(7);
    }
    waitpid(pid, &status, 0);
    pthread_mutex_unlock(&two);
    pthread_join(thread, NULL);
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}

/* -------------------------------------------------------------- coroutines */

static ucontext_t outside, routines[2];
/* A frame of another size each time. */
__attribute__((noinline)) static void waits_deep(size_t size)
{
    char *room = __builtin_alloca(size);
    memset(room, 1, size);
    __asm__ volatile("" : : "r"(room) : "memory");
    waits();
}
static void routine(int i)
{
    for (size_t n = 0; n < 100; n++) {
        waits_deep(16 + n * 500 % 9000);
        swapcontext(&routines[i], &outside);
    }
}
static void *contends(void *of)
{
    for (int i = 0; i < 20000; i++)
        waits();
    return of;
}
/* coroutines: on stacks that end at a page which may not be touched. */
static int coroutines(void)
{
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        char *stack =
            mmap(NULL, 6 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(stack + 4096, 4 * 4096, PROT_READ | PROT_WRITE);
        getcontext(&routines[i]);
        routines[i].uc_stack.ss_sp = stack + 4096;
        routines[i].uc_stack.ss_size = 4 * 4096;
        routines[i].uc_link = &outside;
        makecontext(&routines[i], (void (*)(void))routine, 1, i);
    }
    pthread_create(&thread, NULL, contends, NULL);
    for (int n = 0; n < 100; n++)
        for (int i = 0; i < 2; i++)
            swapcontext(&outside, &routines[i]);
    pthread_join(thread, NULL);
    printf("%d\n", count);
    return 0;
}

/* ----------------------------------------------------------------- signals */

static sem_t posted;
static volatile int posts;
static void handler(int sig)
{
    (void)sig;
    posts++;
    sem_post(&posted);
}
/* signals: a handler posts while the program locks. */
static int signals(void)
{
    struct sigaction action = {.sa_handler = handler};
    struct timespec tick = {0, 100000};
    timer_t timer;
    struct itimerspec every = {tick, tick};
    pthread_t thread;
    sem_init(&posted, 0, 0);
    sigaction(SIGALRM, &action, NULL);
    timer_create(CLOCK_MONOTONIC, NULL, &timer);
    pthread_create(&thread, NULL, contends, NULL);
    timer_settime(timer, 0, &every, NULL);
    while (posts < 200)
        waits();
    timer_delete(timer);
    for (int i = 0; i < 200; i++)
        while (sem_wait(&posted) != 0)
            ;
    pthread_join(thread, NULL);
    puts("posted");
    return 0;
}

/* -------------------------------------------------------------------- life */

/* life: says its id, and locks until it is killed. */
static void *lives(void *of)
{
    while (of) {
        pthread_t thread;
        waits();
        pthread_mutex_lock(&two);
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&two);
        if (count % 64 == 0 && !pthread_create(&thread, NULL, nothing, NULL))
            pthread_join(thread, NULL);
    }
    return of;
}
static int life(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, lives, &count);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pthread_mutex_lock(&two);
    while (!pthread_cond_wait(&changed, &two))
        ;
    return 1;
}

/* stack: says its id, and holds a lock on its stack, for which a thread waits. */
static void *waits_there(void *of)
{
    pthread_mutex_lock(of);
    return of;
}
static int on_stack(void)
{
    pthread_mutex_t here = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    pthread_mutex_lock(&here);
    pthread_create(&thread, NULL, waits_there, &here);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pthread_join(thread, NULL);
    return 0;
}

/* crowd N: so many threads wait for a lock. */
static int crowd(int n)
{
    pthread_attr_t a;
    pthread_t thread;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 65536);
    pthread_mutex_lock(&two);
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread, &a, waits_long, NULL))
            return 1;
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pause();
    return 0;
}

/* handed: locked by one thread, unlocked by another, then a wait. */
static void *unlocks(void *of)
{
    pthread_mutex_unlock(of);
    return of;
}
static int handed(void)
{
    pthread_t thread;
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&one);
        pthread_mutex_lock(&two);
        pthread_create(&thread, NULL, unlocks, &one);
        pthread_join(thread, NULL);
        pthread_mutex_unlock(&two);
    }
    pthread_mutex_lock(&two);
    puts("handed");
    fflush(stdout);
    kill(getpid(), SIGKILL);
    return 0;
}

/* While one thread waits for a mutex, another waits for 3,000 others. */
static pthread_mutex_t many[3000];
static void *waits_for_many(void *p)
{
    for (unsigned i = 0; i < sizeof many / sizeof *many; i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        pthread_mutex_timedlock(&many[i], &now);
    }
    return p;
}
static void *waits_for_first(void *p)
{
    pthread_mutex_lock(&many[0]);
    return p;
}
static int among_many(void)
{
    pthread_t first, others;
    for (unsigned i = 0; i < sizeof many / sizeof *many; i++)
        pthread_mutex_lock(&many[i]);
    pthread_create(&first, NULL, waits_for_first, NULL);
    usleep(100000);
    pthread_create(&others, NULL, waits_for_many, NULL);
    pthread_join(others, NULL);
    pthread_mutex_unlock(&many[0]);
    return pthread_join(first, NULL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(mode, "threads") == 0)
        return threads(n, argc > 3 ? (size_t)atoi(argv[3]) : 65536);
    if (strcmp(mode, "many") == 0)
        return among_many();
    if (strcmp(mode, "forks") == 0)
        return forks(n, argc > 3);
    if (strcmp(mode, "pages") == 0)
        return pages();
    if (strcmp(mode, "daemon") == 0)
        return becomes_daemon();
    if (strcmp(mode, "fork") == 0)
        return fork_with_threads();
    if (strcmp(mode, "coroutines") == 0)
        return coroutines();
    if (strcmp(mode, "signals") == 0)
        return signals();
    if (strcmp(mode, "life") == 0)
        return life();
    if (strncmp(mode, "again", 5) == 0) { /* again: and once more */
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
        return mode[5] ? 0 : execl(argv[0], argv[0], "again!", (char *)NULL);
    }
    if (strcmp(mode, "stack") == 0)
        return on_stack();
    if (strcmp(mode, "crowd") == 0)
        return crowd(n);
    if (strcmp(mode, "handed") == 0)
        return handed();
    return 2;
}
