/* Says what calls that block answer, with and without recorder run. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static int line;
#define SAY(call)                                                              \
    do {                                                                       \
        long said_;                                                            \
        errno = 77;                                                            \
        said_ = (long)(call);                                                  \
        printf("%d %s: %ld, errno %d\n", ++line, #call, said_, errno);         \
    } while (0)

enum { MS = 1000, STACK = 32768 };
static volatile size_t one = 1, few = 8; /* so that _FORTIFY_SOURCE checks */
static char bytes[64];
static struct timespec tenth = {0, 100000}, wrong = {0, -1};
static struct timeval slice = {0, 2 * MS};

/* ------------------------------------------------------------- answers -- */

/* Writes into a pipe after a while. */
static void *writes(void *fd)
{
    usleep(5 * MS);
    return (void *)(intptr_t)write((int)(intptr_t)fd, "late", 4);
}
static void files(void)
{
    struct iovec part = {bytes, 2};
    int fd, directory = open(".", O_RDONLY);
    SAY((fd = open("slow.file", O_RDWR | O_CREAT | O_TRUNC, 0640)) >= 0);
    SAY(write(fd, "0123456789", 10));
    SAY(pwrite(fd, "ab", 2, 4) + pwrite64(fd, "c", 1, 6));
    SAY(pread(fd, bytes, few, 3) + pread64(fd, bytes, one, 3));
    SAY(bytes[0]);
    SAY(pread(fd, bytes, few, -1));
    SAY(lseek(fd, 0, SEEK_SET));
    SAY(read(fd, bytes, few));
    SAY(readv(fd, &part, 1) + writev(fd, &part, 1));
    SAY(fsync(fd) + fdatasync(fd));
    SAY(close(fd));
    SAY(close(fd));
    SAY(fsync(fd));
    SAY(read(fd, bytes, few));
    SAY(write(fd, bytes, few));
    SAY(close(open64("slow.file", O_RDONLY)));
    SAY(close(openat(directory, "slow.file", O_RDONLY)));
    SAY(close(openat64(directory, "new.file", O_RDWR | O_CREAT, 0600)));
    SAY(close(creat("creat.file", 0604)) + close(creat64("creat.file", 0604)));
    SAY(open("slow.file/x", O_RDONLY));
    SAY(open((const char *)1, O_RDONLY));
    SAY(close(directory));
    SAY(system("stat -c %a slow.file new.file creat.file"));
}
static void sockets(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof to;
    struct iovec part = {bytes, 3};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct addrinfo *found = NULL, how = {.ai_flags = AI_NUMERICHOST};
    int listens = socket(AF_INET, SOCK_STREAM, 0), pair[2];
    int connects = socket(AF_INET, SOCK_STREAM, 0);
    SAY(bind(listens, (struct sockaddr *)&to, size) + listen(listens, 1));
    getsockname(listens, (struct sockaddr *)&to, &size);
    SAY(connect(connects, (struct sockaddr *)&to, size));
    SAY(accept(listens, NULL, NULL) >= 0);
    setsockopt(connects, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof slice);
    SAY(recv(connects, bytes, few, 0));
    SAY(accept4(connects, NULL, NULL, SOCK_CLOEXEC));
    SAY(connect(connects, (struct sockaddr *)&to, size));
    SAY(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    SAY(send(pair[0], "abc", 3, 0) + sendto(pair[0], "de", 2, 0, NULL, 0));
    SAY(sendmsg(pair[0], &message, 0));
    SAY(recv(pair[1], bytes, few, 0));
    SAY(recvfrom(pair[1], bytes, few, 0, NULL, NULL));
    SAY(recvmsg(pair[1], &message, 0));
    SAY(recv(pair[1], bytes, few, MSG_DONTWAIT));
    setsockopt(pair[1], SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof slice);
    SAY(recv(pair[1], bytes, few, 0));
    SAY(send(connects, "x", 1, MSG_NOSIGNAL) + close(listens));
    SAY(getaddrinfo("127.0.0.1", "80", &how, &found));
    freeaddrinfo(found);
    SAY(getaddrinfo("no number", "80", &how, &found));
    close(pair[0]), close(pair[1]), close(connects);
}
/* Waits for bytes of a peer, whose address is bound; else does nothing. */
static void peer(void *address, socklen_t size)
{
    int family = *(sa_family_t *)address;
    int listens = socket(family, SOCK_STREAM, 0);
    int connects = socket(family, SOCK_STREAM, 0);
    if (listens >= 0 && connects >= 0 && !bind(listens, address, size) &&
        !listen(listens, 1) && !getsockname(listens, address, &size)) {
        SAY(connect(connects, address, size));
        setsockopt(connects, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof slice);
        SAY(recv(connects, bytes, few, 0));
    }
    close(listens), close(connects);
}
static void peers(void)
{
    struct sockaddr_un path = {AF_UNIX, "slow.socket"}, name = {AF_UNIX, ""};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int size = snprintf(name.sun_path + 1, 20, "slow%d", (int)getpid());
    unlink(path.sun_path);
    peer(&path, sizeof path);
    peer(&name, (socklen_t)(sizeof name.sun_family + 1 + (size_t)size));
    peer(&six, sizeof six);
}
static void waits(void)
{
    pthread_t thread;
    int ends[2], epoll = epoll_create1(0), status = 0;
    struct epoll_event event = {.events = EPOLLIN};
    struct pollfd polls = {.events = POLLIN};
    siginfo_t info = {0};
    fd_set set;
    if (pipe(ends))
        abort();
    unlink("slow.fifo");
    if (mkfifo("slow.fifo", 0600) || (polls.fd = open("slow.fifo", O_RDWR)) < 0)
        abort();
    SAY(poll(&polls, one, 2));
    close(polls.fd);
    polls.fd = ends[0];
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
    SAY(poll(&polls, one, 2) + poll(NULL, one - 1, 1));
    SAY(ppoll(&polls, one, &tenth, NULL) + ppoll(&polls, one, &wrong, NULL));
    SAY(epoll_wait(epoll, &event, 1, 2) + epoll_pwait(epoll, &event, 1, 2, 0));
    SAY(epoll_wait(epoll, &event, 0, 2));
    pthread_create(&thread, NULL, writes, (void *)(intptr_t)ends[1]);
    SAY(read(ends[0], bytes, few));
    pthread_join(thread, NULL);
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    SAY(select(ends[0] + 1, &set, NULL, NULL, &slice));
    SAY(slice.tv_usec);
    FD_SET(ends[1], &set);
    SAY(pselect(ends[1] + 1, NULL, &set, NULL, &tenth, NULL));
    SAY(nanosleep(&tenth, NULL) + usleep(200) + (int)sleep(0));
    SAY(nanosleep(&wrong, NULL));
    SAY(clock_nanosleep(CLOCK_MONOTONIC, 0, &tenth, NULL));
    SAY(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL));
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            usleep(1000);
            _exit(i + 40);
        } else if (i == 0)
            SAY(wait(&status) > 0);
        else if (i == 1)
            SAY(waitpid(-1, &status, 0) > 0);
        else if (i == 2)
            SAY(wait4(-1, &status, 0, NULL) > 0);
        else
            SAY(waitid(P_ALL, 0, &info, WEXITED));
    SAY(WEXITSTATUS(status) + info.si_status);
    SAY(waitpid(-1, &status, WNOHANG));
    close(ends[0]), close(ends[1]), close(epoll);
}

/* ------------------------------------------------------------- signals -- */

static int handled_fd;
static volatile bool storm;
static void handler(int signal)
{
    struct pollfd none = {.fd = -1};
    int error = errno;
    (void)signal;
    if (write(handled_fd, "h", 1) != 1)
        abort();
    if (!storm) {
        poll(&none, 1, 1);
        nanosleep(&tenth, NULL);
        fsync(handled_fd);
    }
    errno = error;
}
static void alarm_after(long us)
{
    /* Again, for a thread that did not block yet. */
    struct itimerval after = {.it_value.tv_usec = us,
                              .it_interval.tv_usec = us ? 50 * MS : 0};
    setitimer(ITIMER_REAL, &after, NULL);
}
static void signals(bool stack)
{
    static char alternate[STACK];
    stack_t with = {.ss_sp = alternate, .ss_size = 6144};
    struct sigaction action = {.sa_handler = handler,
                               .sa_flags = stack ? SA_ONSTACK : 0};
    struct timespec long_time = {60, 0}, rest = {0};
    struct pollfd none = {.fd = -1};
    int ends[2], count = 0;
    pid_t child;
    if (pipe(ends) ||
        (handled_fd = open("slow.signals", O_WRONLY | O_CREAT, 0600)) < 0)
        abort();
    if (stack)
        sigaltstack(&with, NULL);
    sigaction(SIGALRM, &action, NULL);
    alarm_after(2 * MS);
    SAY(read(ends[0], bytes, few));
    alarm_after(2 * MS);
    SAY(nanosleep(&long_time, &rest));
    SAY(rest.tv_sec > 30);
    alarm_after(2 * MS);
    SAY(poll(&none, 1, 60 * MS));
    if ((child = fork()) == 0)
        for (;;)
            pause();
    alarm_after(2 * MS);
    SAY(waitpid(child, NULL, 0));
    alarm_after(0);
    kill(child, SIGKILL);
    SAY(waitpid(child, &count, 0) == child);
    SAY(count);
    action.sa_flags |= SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    alarm_after(2 * MS);
    if (fork() == 0) {
        usleep(20 * MS);
        _exit(write(ends[1], "abc", 3) != 3);
    }
    SAY(read(ends[0], bytes, few)); /* goes on after the signal */
    SAY(wait(NULL) > 0);
    alarm_after(0);
    storm = true; /* signals at any place */
    setitimer(ITIMER_REAL,
              &(struct itimerval){.it_interval.tv_usec = 300,
                                  .it_value.tv_usec = 300},
              NULL);
    for (int i = 0; i < 300; i++) {
        errno = 55;
        count += write(ends[1], "x", 1) == 1 && errno == 55;
        while (read(ends[0], bytes, 1) != 1)
            ;
        if (nanosleep(&tenth, NULL) == -1 && errno != EINTR)
            abort();
    }
    alarm_after(0);
    storm = false;
    SAY(count);
    close(ends[0]), close(ends[1]), close(handled_fd);
}

/* ------------------------------------------------------- cancellation -- */

static int cancel_ends[2], cleaned;
static sem_t started;
static void cleans(void *of)
{
    cleaned += (int)(intptr_t)of;
}
static void *cancelled(void *how)
{
    struct pollfd none = {.fd = -1};
    int kind = (int)(intptr_t)how;
    pthread_cleanup_push(cleans, (void *)1);
    if (kind == 4)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    sem_post(&started);
    if (kind == 0)
        (void)!read(cancel_ends[0], bytes, few);
    if (kind == 1)
        sleep(60);
    if (kind == 2)
        poll(&none, 1, 60000);
    if (kind == 3) {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        for (;;)
            nanosleep(&tenth, NULL);
    }
    if (kind == 4) { /* later */
        usleep(20 * MS);
        cleaned += (int)write(cancel_ends[1], "y", 1);
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
        close(open("slow.file", O_RDONLY)); /* both may be cancelled */
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}
static void cancels(void)
{
    if (pipe(cancel_ends) || sem_init(&started, 0, 0))
        abort();
    for (intptr_t how = 0; how < 5; how++) {
        pthread_t thread;
        void *value = NULL;
        pthread_create(&thread, NULL, cancelled, (void *)how);
        sem_wait(&started);
        usleep(3 * MS);
        SAY(pthread_cancel(thread));
        SAY(pthread_join(thread, &value));
        SAY(value == PTHREAD_CANCELED);
    }
    SAY(cleaned);
    close(cancel_ends[0]), close(cancel_ends[1]);
}

/* ------------------------------------------------------------ stacks -- */

static ucontext_t back, there;
static void coroutine(void)
{
    SAY(usleep(300));
    SAY(close(open("slow.file", O_RDONLY)));
}
static void *small(void *unused)
{
    SAY(usleep(300));
    SAY(write(-1, "", 1));
    return unused;
}
static void stacks(void)
{
    static char room[8192];
    pthread_attr_t attribute;
    pthread_t thread;
    pid_t child;
    int status;
    getcontext(&there);
    there.uc_stack.ss_sp = room;
    there.uc_stack.ss_size = sizeof room;
    there.uc_link = &back;
    makecontext(&there, coroutine, 0);
    SAY(swapcontext(&back, &there));
    pthread_attr_init(&attribute);
    pthread_attr_setstacksize(&attribute, (size_t)PTHREAD_STACK_MIN);
    SAY(pthread_create(&thread, &attribute, small, NULL));
    SAY(pthread_join(thread, NULL));
    fflush(stdout);
    child = vfork();
    if (child == 0) {
        usleep(300);
        close(0);
        _exit(close(0) == -1 && errno == EBADF ? 9 : 8);
    }
    SAY(waitpid(child, &status, 0) == child);
    SAY(WEXITSTATUS(status));
    SAY(read(0, bytes, 0));
    child = fork();
    if (child == 0) {
        prctl(PR_SET_TSC, 2); /* reading the clock is a crash: PR_TSC_SIGSEGV */
        (void)!write(1, "no clock\n", 9);
        usleep(300);
        close(1);
        _exit(5);
    }
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
    child = fork();
    if (child == 0) { /* only these, and no clock */
        prctl(PR_SET_SECCOMP, 1);
        (void)!read(0, bytes, 0);
        syscall(SYS_exit, write(1, "filtered\n", 9) == 9 ? 6 : 7);
    }
    SAY(waitpid(child, &status, 0) == child);
    SAY(status);
}

static void *nothing(void *of)
{
    return of;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL); /* makes the recording */
    pthread_join(thread, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    files();
    sockets();
    peers();
    waits();
    signals(false);
    signals(true);
    cancels();
    stacks();
    return 42;
}
