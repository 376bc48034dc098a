/* watch_hangs.c - 25 kinds of hang: "KIND" works for a second, then hangs;
 * "KIND fine" works on. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER,
                       second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER,
                        index_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t tokens;
static pthread_spinlock_t spin;
static int listening, served[2];
static volatile bool hangs;
static bool fine;

static void nap(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static pthread_t go(void *(*does)(void *), void *of)
{
    pthread_t thread;
    pthread_create(&thread, NULL, does, of);
    return thread;
}

/* Clients in a child: bytes come into a socket, and connections. */
static void clients_start(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof to;
    listening = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&to, sizeof to) != 0 ||
        listen(listening, 16) != 0 ||
        getsockname(listening, (struct sockaddr *)&to, &size) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, served) != 0)
        exit(1);
    if (fork() == 0) {
        close(served[0]);
        for (int i = 0; getppid() != 1; i++) {
            int fd =
                i % 4 ? -1 : socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            if (send(served[1], "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
                errno == EPIPE)
                _exit(0);
            if (fd >= 0)
                connect(fd, (struct sockaddr *)&to, sizeof to);
            nap(100);
            send(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
            close(fd);
        }
        _exit(0);
    }
    close(served[1]);
}

/* Serves for some time: poll(), read and accept. */
static void serve(int ms)
{
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        struct pollfd all[2] = {{served[0], POLLIN, 0}, {listening, POLLIN, 0}};
        char bytes[64];
        poll(all, 2, 100);
        if (all[0].revents && read(served[0], bytes, sizeof bytes) == 0)
            exit(0);
        if (all[1].revents)
            close(accept(listening, NULL, NULL));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (ms < 0 || (now.tv_sec - begun.tv_sec) * 1000 +
                               (now.tv_nsec - begun.tv_nsec) / 1000000 <
                           ms);
}

/* ------------------------------------------------------------------ locks -- */

static void *second_first(void *of)
{
    pthread_mutex_lock(&second);
    nap(200);
    pthread_mutex_lock(&first);
    return of;
}
static void mutexes(void)
{
    pthread_mutex_lock(&first);
    go(second_first, NULL);
    nap(100);
    pthread_mutex_lock(&second);
}
static void self(void)
{
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&first);
}
static void *index_table(void *of)
{
    pthread_rwlock_wrlock(&index_lock);
    nap(200);
    pthread_rwlock_wrlock(&table);
    return of;
}
static void rwlocks(void)
{
    pthread_rwlock_wrlock(&table);
    go(index_table, NULL);
    nap(100);
    pthread_rwlock_wrlock(&index_lock);
}
static void *takes_and_ends(void *of)
{
    pthread_mutex_lock(&first);
    return of;
}
static void ended_holder(void)
{
    pthread_join(go(takes_and_ends, NULL), NULL);
    pthread_mutex_lock(&first);
}
static void *takes_first(void *of)
{
    pthread_mutex_lock(&first);
    return of;
}
static void join_lock(void)
{
    pthread_mutex_lock(&first);
    pthread_join(go(takes_first, NULL), NULL);
}
static void *holds_long(void *of)
{
    pthread_mutex_lock(&first);
    nap(1000000);
    return of;
}
static void held(void) /* the holder sleeps: a blocked main loop */
{
    go(holds_long, NULL);
    nap(100);
    pthread_mutex_lock(&first);
}
static void *spins(void *of)
{
    pthread_spin_lock(&spin);
    return of;
}
static void spinlock(void)
{
    pthread_spin_init(&spin, 0);
    pthread_spin_lock(&spin);
    spins(NULL);
}
/* Makes a child for one hang; it ends with its parent. */
static pid_t split(void)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(served[0]); /* for the parent alone */
        close(listening);
    }
    return child;
}
static void flocks(void)
{
    char a[] = "/tmp/watch_hangs.XXXXXX", b[] = "/tmp/watch_hangs.XXXXXX";
    int one = mkstemp(a), two = mkstemp(b);
    flock(one, LOCK_EX);
    if (split() == 0) {
        one = open(a, O_RDWR);
        two = open(b, O_RDWR);
        flock(two, LOCK_EX);
        nap(200);
        flock(one, LOCK_EX);
        _exit(0);
    }
    nap(100);
    flock(two, LOCK_EX);
}

/* -------------------------------------------------------- lost and waiting -- */

static void lost_wakeup(void)
{
    pthread_mutex_lock(&first);
    pthread_cond_wait(&came, &first);
}
static void more(int number)
{
    (void)number;
    sem_post(&tokens);
}
static void semaphore(void) /* SIGUSR1 ends the hang. */
{
    sem_init(&tokens, 0, 0);
    signal(SIGUSR1, more);
    sem_wait(&tokens);
}
static void at_barrier(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_barrier_wait(&barrier);
}
static void *waits(void *of)
{
    lost_wakeup();
    return of;
}
static void pool(void) /* all workers wait, and then the main thread */
{
    for (int i = 0; i < 4; i++)
        go(waits, NULL);
    semaphore();
}
static void fifo(void) /* no writer comes */
{
    char path[] = "/tmp/watch_hangs.fifo.XXXXXX";
    close(mkstemp(path));
    unlink(path);
    mkfifo(path, 0600);
    open(path, O_RDONLY);
}
static void pipe_full(void)
{
    int fds[2];
    static char bytes[4096];
    if (pipe(fds) == 0 && split() == 0) {
        close(fds[1]);
        pause(); /* reads nothing */
    }
    close(fds[0]);
    while (write(fds[1], bytes, sizeof bytes) > 0)
        ;
}
static void pipe_cycle(void) /* each writes, and none reads */
{
    static char bytes[4096];
    int there[2], back[2];
    pid_t child;
    if (pipe(there) != 0 || pipe(back) != 0)
        return;
    child = split();
    close(there[child == 0]);
    close(back[child != 0]);
    while (write(child ? there[1] : back[1], bytes, sizeof bytes) > 0)
        ;
}
static void socket_cycle(void) /* each waits for the other's bytes */
{
    int fds[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 && split() == 0) {
        close(fds[0]);
        if (read(fds[1], &byte, 1) == 1)
            _exit(0);
    }
    close(fds[1]);
    if (read(fds[0], &byte, 1) == 1)
        _exit(0);
}
static void sleeps(void)
{
    nap(1000000);
}

/* ---------------------------------------------------------------- running -- */

static volatile long found;
__attribute__((noinline)) static void find(long key)
{
    while (found != key)
        key |= 1;
}
/* Polls while main() works, as the I/O threads of redis do. */
static void *polling(void *of)
{
    struct timespec at;
    for (int i = 0; i < 40; i++) {
        long end = (clock_gettime(CLOCK_MONOTONIC, &at), at.tv_nsec / 50000000);
        while (clock_gettime(CLOCK_MONOTONIC, &at),
               at.tv_nsec / 50000000 == end)
            ;
        nap(50);
    }
    find(2);
    return of;
}
static void polls(void)
{
    go(polling, NULL);
}
static void spinning(void)
{
    find(3);
}
/* Thirty-two functions: three looks hardly ever find the same one. */
#define STEP(n)                                                                \
    static __attribute__((noinline)) void step_##n(void)                       \
    {                                                                          \
        for (int i = 0; i < 100000; i++)                                       \
            found += n;                                                        \
    }
#define EACH(X, n)                                                             \
    X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define CALL(n) step_##n();
EACH(STEP, 1)
EACH(STEP, 2)
EACH(STEP, 3)
EACH(STEP, 4)
static void computes(void)
{
    for (int i = 0; i < 30; i++)
        nap(100);
    for (;;) {
        EACH(CALL, 1)
        EACH(CALL, 2)
        EACH(CALL, 3)
        EACH(CALL, 4)
    }
}
static void *tries(void *of)
{
    pthread_mutex_t *mine = of ? &first : &second,
                    *other = of ? &second : &first;
    for (;;) {
        pthread_mutex_lock(mine);
        nap(1);
        if (pthread_mutex_trylock(other) == 0 && found)
            break;
        pthread_mutex_unlock(mine);
        sched_yield();
    }
    return of;
}
static void livelock(void)
{
    for (;;) { /* always another turn */
        sched_yield();
        if (pthread_mutex_trylock(&first) == 0)
            pthread_mutex_unlock(&first);
    }
    tries(NULL);
}

/* ------------------------------------------------------------- the kernel -- */

static void vforks(void) /* D state until the child ends */
{
    if (vfork() == 0) {
        nap(60000);
        _exit(0);
    }
}
static void stops(void)
{
    raise(SIGSTOP);
}
static void *ticks(void *of)
{
    for (;;)
        nap(200);
    return of;
}
static void *idles(void *of)
{
    pthread_mutex_lock(&first);
    for (;;)
        pthread_cond_wait(&came, &first);
    return of;
}
/* Waits where it was idle; another thread runs. */
static void idle_pool(void)
{
    go(idles, NULL);
    serve(9000);
    pthread_cond_signal(&came);
    for (;;)
        nap(200);
}
static void accepts(void) /* the main thread takes connections for a worker */
{
    go(waits, NULL);
    for (;;)
        accept(listening, NULL, NULL);
}
static void held_ticking(void) /* another thread still runs */
{
    go(ticks, NULL);
    held();
}

static const struct {
    const char *name;
    void (*does)(void);
} kinds[] = {{"mutexes", mutexes},
             {"self", self},
             {"rwlocks", rwlocks},
             {"ended_holder", ended_holder},
             {"join_lock", join_lock},
             {"held", held},
             {"held_ticking", held_ticking},
             {"idle_pool", idle_pool},
             {"accepts", accepts},
             {"spinlock", spinlock},
             {"flocks", flocks},
             {"lost_wakeup", lost_wakeup},
             {"semaphore", semaphore},
             {"barrier", at_barrier},
             {"pool", pool},
             {"fifo", fifo},
             {"pipe_full", pipe_full},
             {"pipe_cycle", pipe_cycle},
             {"socket_cycle", socket_cycle},
             {"sleeps", sleeps},
             {"polls", polls},
             {"spinning", spinning},
             {"livelock", livelock},
             {"vforks", vforks},
             {"stops", stops}};

int main(int argc, char **argv)
{
    bool is_computing = argc > 1 && strcmp(argv[1], "computes") == 0;
    signal(SIGPIPE, SIG_IGN);
    fine = argc > 2;
    if (!is_computing) /* whose clients would wait in vain */
        clients_start();
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    if (is_computing)
        computes();
    serve(1000);
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (!fine && strcmp(argv[1], kinds[i].name) == 0)
            kinds[i].does();
    serve(-1);
}
