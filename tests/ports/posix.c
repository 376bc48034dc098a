/* posix.c - what recorder/os_posix.h does in its own way, on any POSIX
 * system. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
static void step(const char *where);
#define RECORDER_STEP_(label) step(#label)
#include "recorder_dump.h"
#include "recorder_set.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "gather.h"

RECORDER(posix, 64, "What posix.c did")

#define MUST(condition)                                                        \
    ((condition) ? (void)0                                                     \
                 : (fprintf(stderr, "posix.c:%d: %s\n%s\n", __LINE__,          \
                            #condition, text),                                 \
                    _exit(99)))

/* What a child says on stderr, and how it ends. */
static int in_child(void (*does)(void))
{
    int fds[2], status;
    ssize_t count;
    pid_t child;
    MUST(pipe(fds) == 0);
    child = fork();
    if (child == 0) {
        dup2(fds[1], 2);
        close(fds[0]);
        close(fds[1]);
        alarm(120);
        does();
        _exit(0);
    }
    close(fds[1]);
    for (text_size = 0; (count = read(fds[0], text + text_size,
                                      sizeof text - 1 - text_size)) > 0;)
        text_size += (size_t)count;
    text[text_size] = '\0';
    close(fds[0]);
    MUST(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

/* The signal that ends it; 0: none does. */
static int killed_by(void (*does)(void))
{
    int status = in_child(does); /* some systems' macros take its address */
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Bytes that are not there end a string or make it an address. A text is read
 * in many pieces. */
static void bad_addresses(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *edge = (char *)recorder_os_memory_(2 * page), expected[300];
    const char *bad = (const char *)(uintptr_t)4096, *none = edge + page;
    MUST(edge && recorder_os_protect_(edge + page, page, PROT_NONE) == 0);
    memset(edge, 'x', page);
    memcpy(edge + page - 5, "edges", 5);
    record(posix, "<%s> <%s> <%s>", RECORDER_ADDRESS(bad),
           RECORDER_ADDRESS(none), RECORDER_ADDRESS(edge + page - 5));
    record(posix, "<%.2000s>", RECORDER_ADDRESS(edge + page - 2000));
    recorder_dump_to(gather, NULL);
    snprintf(expected, sizeof expected, "<0x1000> <%p> <edges", (void *)none);
    MUST(strstr(text, expected));
    memset(expected, 'x', 200);
    expected[200] = '\0';
    MUST(strstr(text, expected));
}

static sigset_t pending_now(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigpending(&set);
    return set;
}
static int no_reader(void)
{
    int fds[2];
    MUST(pipe(fds) == 0);
    close(fds[0]);
    return fds[1];
}
/* A dump that nobody reads leaves neither the signal nor errno behind; what was
 * pending before stays. */
static void broken_pipe(void)
{
    int fd = no_reader();
    sigset_t set, before;
    errno = 4711;
    recorder_dump_fd(fd);
    MUST(errno == 4711);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, &before);
    recorder_dump_fd(fd);
    set = pending_now();
    MUST(!sigismember(&set, SIGPIPE));
    raise(SIGPIPE);
    recorder_dump_fd(fd);
    set = pending_now();
    MUST(sigismember(&set, SIGPIPE));
}
static void dies_of_pipe(void)
{
    raise(SIGPIPE);
}

/* Threads that take one signal of the process: none waits for ever. Method: who
 * found it pending rests before it is taken. */
static unsigned begun, ended;
static void step(const char *where)
{
    if (strcmp(where, "taking") == 0)
        poll(NULL, 0, 2);
}
static void *take(void *none)
{
    unsigned i;
    for (i = 1; i <= 50; i++) {
        while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < i)
            sched_yield();
        recorder_os_consume_signal_(SIGPIPE);
        __atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
    }
    return none;
}
static void taken_once(void)
{
    pthread_t threads[2];
    sigset_t set;
    unsigned i;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take, NULL);
    for (i = 1; i <= 50; i++) {
        kill(getpid(), SIGPIPE);
        __atomic_store_n(&begun, i, __ATOMIC_RELEASE);
        while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < 2 * i)
            sched_yield();
        set = pending_now();
        MUST(!sigismember(&set, SIGPIPE));
    }
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    recorder_os_consuming_ = 1; /* of a thread that fork() left behind */
    kill(getpid(), SIGPIPE);
    recorder_os_consume_signal_(SIGPIPE);
    set = pending_now();
    MUST(!sigismember(&set, SIGPIPE));
}

static void record_and_die(void)
{
    record(posix, "in the child");
    recorder_dump_on_common_signals(1u << SIGTERM, 0);
    raise(SIGTERM);
}
static volatile int *volatile nowhere = (volatile int *)8;
static void crash(void)
{
    record(posix, "in the child");
    recorder_dump_on_common_signals(0, 0);
    *nowhere = 1;
}
#ifdef SA_ONSTACK
static unsigned overflow(unsigned depth)
{
    volatile char here[4096];
    here[0] = here[depth % 4096] = 1;
    return depth ? overflow(depth - 1) + (unsigned)here[0] : 0;
}
static void overflows(void)
{
    struct rlimit limit;
    MUST(getrlimit(RLIMIT_STACK, &limit) == 0);
    limit.rlim_cur = 1 << 20; /* for where it is unlimited */
    MUST(setrlimit(RLIMIT_STACK, &limit) == 0);
    record(posix, "in the child");
    recorder_dump_on_common_signals(0, 0);
    overflow(1u << 30);
}
#endif

static volatile int calls, codes;
static void on_signal(int sig, siginfo_t *info, void *context)
{
    calls += context != NULL && info->si_signo == sig;
}
static void on_plain(int sig)
{
    codes += sig;
}
/* What goes on does, what stops is refused, handlers are called as they were
 * set; SIGCHLD is between those that stop on some systems. */
static void goes_on(void)
{
    static const int ignored[] = {SIGCHLD, SIGCONT, SIGURG};
    static const int stop[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGKILL};
    struct sigaction action;
    unsigned i;
    memset(&action, 0, sizeof action);
    for (i = 0; i < 5; i++)
        MUST(!recorder_dump_on_signal(stop[i]));
    for (i = 0; i < 3; i++) {
        MUST(recorder_dump_on_signal(ignored[i]));
        raise(ignored[i]);
    }
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_plain;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGUSR2, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGHUP, &action, NULL);
    MUST(recorder_dump_on_signal(SIGUSR1) && recorder_dump_on_signal(SIGUSR2) &&
         !recorder_dump_on_signal(SIGHUP));
    raise(SIGHUP);
    raise(SIGUSR1);
    raise(SIGUSR2);
    raise(SIGUSR2);
    MUST(calls == 1 && codes == SIGUSR2);
    _exit(7);
}

/* Another thread was dumping when this one forked: a dump of the child does not
 * wait for it. */
static void after_fork(void)
{
    pid_t child;
    int status = 1;
    recorder_dump_on_signal(SIGUSR1);
    recorder_home_.registry->dumping = recorder_os_thread_() + 1;
    child = fork();
    if (child == 0) {
        alarm(60);
        raise(SIGUSR1);
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
}

static void *own_number(void *number)
{
    record(posix, "a thread");
    *(int32_t *)number = recorder_os_thread_();
    return NULL;
}
static void threads(void)
{
    int32_t ids[8];
    unsigned i, j;
    for (i = 0; i < 8; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, own_number, &ids[i]) == 0);
        pthread_join(thread, NULL);
        for (j = 0; j < i; j++)
            MUST(ids[j] != ids[i] ||
                 recorder_os_thread_ended_(recorder_os_process_(), ids[j]));
        MUST(ids[i] != recorder_os_thread_());
    }
    MUST(recorder_os_thread_() == recorder_os_thread_());
    MUST(!recorder_os_thread_ended_(recorder_os_process_(),
                                    recorder_os_thread_()));
}

/* A file of ours is closed by exec(), also when another takes its place. */
static void outputs(void)
{
    char set[2][100], line[2] = "";
    unsigned i;
    int fd = -1;
    for (i = 0; i < 2; i++) {
        snprintf(set[i], sizeof set[i], "output=/tmp/posix.%ld.%u",
                 (long)getpid(), i);
        MUST(recorder_trace_set(set[i]) == RECORDER_TRACE_OK);
        MUST(fd < 0 || fd == recorder_output_fd_);
        fd = recorder_output_fd_;
        MUST(fd > 2 && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
        recorder_dump();
    }
    fd = open(set[1] + 7, O_RDONLY);
    unlink(set[0] + 7);
    unlink(set[1] + 7);
    MUST(read(fd, line, 1) == 1 && line[0] == 'F');
}

static char *program;
static void in_a_file(void)
{
    MUST(!recorder_file("/no/file"));
    setenv("RECORDER_FILE", "/from/start", 1);
    execl(program, program, "nothing", (char *)NULL);
    _exit(98);
}
/* The head of the dump has the program's name, without folders. */
static void says_its_name(void)
{
    const char *name = strrchr(program, '/'), *said = strstr(text, ", PROGRAM ");
    name = name ? name + 1 : program;
    MUST(said && strncmp(said + 10, name, strlen(name)) == 0 &&
         strncmp(said + 10 + strlen(name), ", PID ", 6) == 0);
}
/* As a program would run that has another's rights: its environment is not
 * trusted. Only root can try. */
static void not_trusted(void)
{
    setenv("RECORDER_POSIX", "x", 1);
    MUST(recorder_os_environment_("RECORDER_POSIX"));
    MUST(getuid() != 0 || setegid(1) != 0 ||
         !recorder_os_environment_("RECORDER_POSIX"));
}

int main(int count, char **arguments)
{
    const char *said;
    int status, dumps, i;
    sigset_t none;
    if (count > 1)
        return 0;
    program = arguments[0];
    /* Who runs this may ignore or block some, which would be inherited. */
    for (i = 1; i < 32; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    record(posix, "begins");
    MUST(in_child(bad_addresses) == 0);
    MUST(in_child(broken_pipe) == 0);
    MUST(killed_by(dies_of_pipe) == SIGPIPE);
    MUST(in_child(taken_once) == 0);
    MUST(killed_by(record_and_die) == SIGTERM);
    said = strstr(text, "recorder: SIGTERM (signal 15) in thread ");
    MUST(said && strstr(said, "] posix: in the child\n"));
    says_its_name();
    status = killed_by(crash);
    MUST(status == SIGSEGV || status == SIGBUS);
    MUST(strstr(text, "] posix: in the child\n"));
#ifdef SA_ONSTACK
    status = killed_by(overflows);
    MUST(status == SIGSEGV || status == SIGBUS);
    MUST(strstr(text, "] posix: in the child\n"));
#endif
    status = in_child(goes_on);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    for (said = text, dumps = 0;
         (said = strstr(said, "FLIGHT RECORDER DUMP AT")) != NULL; said++)
        dumps++;
    MUST(dumps == 6);
    MUST(in_child(after_fork) == 0);
    MUST(strstr(text, "recorder: SIGUSR1 (signal "));
    MUST(in_child(threads) == 0);
    MUST(in_child(outputs) == 0);
    MUST(in_child(in_a_file) == 0);
    MUST(strcmp(text, "recorder: /no/file: this system makes no recordings; "
                      "records into memory\nrecorder: /from/start: this system "
                      "makes no recordings; records into memory\n") == 0);
    MUST(in_child(not_trusted) == 0);
    puts("ok");
    return 0;
}
