/* crash.c - dies in the way that it is asked to, with dumps or without. */
/* SPDX-License-Identifier: MIT */
/*
    ./crash dump WAY    installs the handlers, records, dies
    ./crash bare WAY    does the same without any handler
    ./crash ways        prints the names of the ways

    Valid C and C++. Exit status 77: cannot be done here. As a library, with
    -DCRASH_LIBRARY, it installs the handlers where CRASH_DUMPS is not empty,
    and dies in its constructor or its destructor, whichever CRASH_IN names.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
static void crash_step(const char *where);
#define RECORDER_STEP_(label) crash_step(#label)
#include "recorder_dump.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __cplusplus
#include <stdexcept>
#endif

/* Its dump is longer than a pipe takes. */
RECORDER(crash, 2048, "How it came to this")
RECORDER(tight, 4)
RECORDER(flood, 64)

static bool dumps; /* ./crash dump */
static int *volatile nowhere;
static volatile int zero, one = 1;

static void last_words(void)
{
    int i;
    for (i = 0; i < 2040; i++)
        record(crash, "step %d of %s", i, "the way to the end");
    record(crash, "last words");
}
static void cannot(void) { _exit(77); }

/* ------------------------------------------------------------------ faults */

static __attribute__((noinline)) void die_null(void) { *nowhere = one; }
static void die_kill(void) { kill(getpid(), SIGSEGV); }
static void die_raise(void) { raise(SIGSEGV); }
static void die_quit(void) { raise(SIGQUIT); }
static void die_term(void) { raise(SIGTERM); }
static void die_int(void) { kill(getpid(), SIGINT); }
static void die_real_time(void) { raise(37); }
static void die_trap(void) { raise(SIGTRAP); }
static void die_illegal(void) { __builtin_trap(); }
static void die_abort(void) { abort(); }
static void die_assert(void) { assert(one == 2); }
static void die_fpe(void)
{
#if defined(__x86_64__) || defined(__i386__)
    one = one / zero;
#else
    raise(SIGFPE);
#endif
}
static void die_int3(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("int3");
#else
    raise(SIGTRAP);
#endif
}
static void die_bus(void)
{
    FILE *file = tmpfile();
    int *at;
    if (!file || ftruncate(fileno(file), 4096) != 0)
        cannot();
    at = (int *)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED,
                     fileno(file), 0);
    at[40000 / sizeof *at] = one;
}
static void die_double_free(void)
{
    void *volatile memory = malloc(100);
    free(memory);
    *(volatile char *)memory = 0;
    free(memory);
    memory = malloc(2000); /* too large for the caches of a thread */
    free(malloc(2000));
    free(memory);
    free(memory);
}
/* Above the last piece is how much memory is left. */
static void die_corrupt(void)
{
    size_t *volatile memory = (size_t *)malloc(5000);
    volatile size_t *end = memory + 5000 / sizeof *memory;
    int i;
    for (i = 0; i < 8; i++)
        end[i] = (size_t)-1 / 3;
    memory = (size_t *)malloc(100000);
}
static void die_sys(void)
{
    struct sock_filter code[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                                 {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid},
                                 {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP},
                                 {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    struct sock_fprog program = {4, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        cannot();
    syscall(SYS_getppid);
}
/* RLIMIT_ constants have a type of their own in glibc for C only. */
#define limit(what, value)                                                     \
    do {                                                                       \
        struct rlimit limit_;                                                  \
        getrlimit(what, &limit_);                                              \
        limit_.rlim_cur = (value);                                             \
        if (setrlimit(what, &limit_) != 0)                                     \
            cannot();                                                          \
    } while (0)
static void die_cpu(void)
{
    limit(RLIMIT_CPU, 1);
    while (one)
        ;
}
static void die_cpu_sent(void) { raise(SIGXCPU); }
static void die_file_size(void)
{
    FILE *file = tmpfile();
    limit(RLIMIT_FSIZE, 0);
    if (!file || write(fileno(file), "x", 1) < 0)
        cannot();
}
static __attribute__((noinline)) int overflow(int depth)
{
    volatile char some[1000];
    some[depth & 511] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + one) + some[one];
}
static void die_overflow(void) { one = overflow(1) > 0; }
#ifdef __cplusplus
static void die_terminate(void) { throw std::runtime_error("nobody catches"); }
#endif

/* ----------------------------------------------------------------- threads */

static void *run_alone(void *die)
{
    (*(void (**)(void))die)();
    return NULL;
}
static void in_thread(void (*die)(void))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_alone, (void *)&die) != 0)
        cannot();
    pthread_join(thread, NULL);
}
static void alt_overflow(void)
{
    if (dumps && !recorder_alt_stack())
        cannot();
    die_overflow();
}
static void die_thread(void) { in_thread(die_null); }
static void die_thread_abort(void) { in_thread(die_abort); }
static void die_thread_overflow(void) { in_thread(alt_overflow); }
static void die_thread_bare(void) { in_thread(die_overflow); }

static void *record_on(void *none)
{
    while (one)
        record(flood, "%d drops of %d", one, zero);
    return none;
}
static void die_among_others(void)
{
    pthread_t threads[3];
    int i;
    for (i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, record_on, NULL);
    usleep(2000);
    in_thread(die_null);
}

static pthread_barrier_t together;
static void *run_together(void *none)
{
    pthread_barrier_wait(&together);
    die_null();
    return none;
}
static void die_four(void)
{
    pthread_t threads[4];
    int i;
    pthread_barrier_init(&together, NULL, 4);
    for (i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run_together, NULL);
    pthread_join(threads[0], NULL);
    pause();
}

/* ------------------------------------------------------------ bad moments */

static void on_alarm(int sig)
{
    (void)sig;
    die_null();
}
static void *rest(void *none)
{
    pause();
    return none;
}
/* With a second thread, so that malloc() takes its locks. */
static void die_in_malloc(void)
{
    struct itimerval soon = {{0, 0}, {0, 3000}};
    pthread_t thread;
    pthread_create(&thread, NULL, rest, NULL);
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (;;) {
        void *volatile a = malloc(3000), *volatile b = malloc(5000);
        free(a);
        free(b);
    }
}
static void die_in_stdio(void)
{
    flockfile(stderr);
    flockfile(stdout);
    die_null();
}
static void die_at_exit(void)
{
    atexit(die_null);
    exit(0);
}

/* Inside of record(), at a step of it; `tight` has 4 slots. */
static const char *step;
static void crash_step(const char *where)
{
    if (step && strcmp(where, step) == 0) {
        step = NULL;
        die_null();
    }
}
static void tight_record(int count)
{
    while (count-- > 0)
        record(tight, "%d", count);
}
static void die_at(const char *where, bool gives_up, bool takes_over)
{
    uintptr_t *commit = recorder_commits_(recorder_for_tight.rings, 3);
    tight_record(4);
    if (gives_up || takes_over)
        *commit |= 1; /* another writer is in the slot */
    if (takes_over) {
        tight_record(6); /* twice round, past it */
        *commit ^= 1;
    }
    step = where;
    record(tight, "not whole");
}
static void die_w1(void) { die_at("W1", false, false); }
static void die_w2(void) { die_at("W2", false, false); }
static void die_w3(void) { die_at("W3", false, false); }
static void die_w4(void) { die_at("W4", false, false); }
static void die_w5(void) { die_at("W5", false, false); }
static void die_w6(void) { die_at("W6", false, false); }
static void die_w6_end(void) { die_at("W6_end", false, false); }
static void die_w7(void) { die_at("W7", false, false); }
static void die_g1(void) { die_at("G1", true, false); }
static void die_g2(void) { die_at("G2", true, false); }
static void die_p1(void) { die_at("P1", false, true); }
static void die_p2(void) { die_at("P2", false, true); }
static void die_p3(void) { die_at("P3", false, true); }

/* Inside of a dump of the program's own. */
static void crashing_sink(void *context, const char *text, size_t size)
{
    (void)context;
    (void)text;
    if (size > 20)
        die_null();
}
static void die_in_sink(void)
{
    if (dumps)
        recorder_dump_to(crashing_sink, NULL);
    else
        crashing_sink(NULL, "", 21);
}
static void on_abort(int sig)
{
    (void)sig;
    die_null();
}

/* ------------------------------------------------------------ little to use */

static void die_no_files(void)
{
    limit(RLIMIT_NOFILE, 0);
    die_null();
}
static void die_no_memory(void)
{
    limit(RLIMIT_AS, 4096);
    die_null();
}
static void die_no_file_size(void)
{
    limit(RLIMIT_FSIZE, 0);
    die_null();
}
/* 8 KiB, and a page below that faults. */
static void small_stack(void)
{
    static char *memory;
    long least = sysconf(_SC_MINSIGSTKSZ);
    size_t bytes = 8192;
    stack_t stack;
    if (least > 4096)
        bytes += (size_t)least - 4096;
    bytes = (bytes + 4095) & ~(size_t)4095;
    memory = (char *)mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, 4096, PROT_NONE);
    stack.ss_sp = memory + 4096;
    stack.ss_size = bytes;
    stack.ss_flags = 0;
    if (sigaltstack(&stack, NULL) != 0)
        cannot();
}

/* --------------------------------------------------------------- processes */

static void die_as_child_did(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        _exit(3);
    die_null();
}
static void die_vfork(void)
{
    pid_t child = vfork();
    if (child == 0) {
        die_null();
        _exit(0);
    }
    die_as_child_did(child);
}
static void die_fork(void)
{
    pid_t child = fork();
    if (child == 0)
        die_null();
    die_as_child_did(child);
}
/* A child that was forked while another thread dumped, to a pipe that nobody
 * reads: that dump will not end in the child. */
static void *dump_on(void *none)
{
    raise(SIGUSR1);
    return none;
}
static void die_fork_in_dump(void)
{
    int pipe_fds[2], keep = dup(2), status = 0;
    pthread_t thread;
    pid_t child;
    if (dumps) {
        if (pipe2(pipe_fds, O_NONBLOCK) != 0)
            cannot();
        while (write(pipe_fds[1], "", 1) == 1)
            ;
        dup2(pipe_fds[1], 2);
        pthread_create(&thread, NULL, dump_on, NULL);
        usleep(100000);
    }
    child = fork();
    if (child == 0) {
        dup2(keep, 2);
        die_null();
    }
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
        _exit(3);
    signal(SIGSEGV, SIG_DFL);
    die_null();
}

/* --------------------------------------------------------------- libraries */

static void open_library(const char *where, bool installs)
{
    void *library;
    setenv("CRASH_IN", where, 1);
    setenv("CRASH_DUMPS", dumps && installs ? "1" : "", 1);
    library = dlopen("./crash.so", RTLD_NOW);
    if (!library)
        cannot();
    dlclose(library);
}
static void die_constructor(void) { open_library("constructor", true); }
static void die_destructor(void) { open_library("destructor", false); }

#ifdef CRASH_LIBRARY
static void in_library(const char *where)
{
    const char *asked = getenv("CRASH_IN"), *with = getenv("CRASH_DUMPS");
    if (with && *with && strcmp(where, "constructor") == 0)
        recorder_dump_on_common_signals(0, 0);
    if (!asked || strcmp(asked, where) != 0)
        return;
    last_words();
    die_null();
}
__attribute__((constructor)) static void library_enter(void)
{
    in_library("constructor");
}
__attribute__((destructor)) static void library_leave(void)
{
    in_library("destructor");
}
#endif

/* ---------------------------------------------------------- other handlers */

static void on_segv_crash(int sig)
{
    (void)sig;
    die_abort();
}
static volatile int handled;
/* As those of old: once, and not blocked meanwhile. Then it comes again. */
static void on_segv_once(int sig)
{
    (void)sig;
    handled++;
}
static void set_handler(int sig, void (*handler)(int), unsigned flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = (int)flags;
    sigaction(sig, &action, NULL);
}
static void handler_aborts(void) { set_handler(SIGSEGV, on_segv_crash, 0); }
static void handler_faults(void) { set_handler(SIGSEGV, on_alarm, 0); }
static void handler_of_abort(void) { set_handler(SIGABRT, on_abort, 0); }
static void handler_once(void)
{
    set_handler(SIGSEGV, on_segv_once,
                (unsigned)SA_RESETHAND | (unsigned)SA_NODEFER);
}

static const struct {
    const char *name;
    void (*die)(void), (*before)(void); /* before the handlers are installed */
} ways[] = {
    {"null", die_null, NULL},
    {"kill", die_kill, NULL},
    {"raise", die_raise, NULL},
    {"bus", die_bus, NULL},
    {"fpe", die_fpe, NULL},
    {"illegal", die_illegal, NULL},
    {"trap", die_trap, NULL},
    {"int3", die_int3, NULL},
    {"abort", die_abort, NULL},
    {"assert", die_assert, NULL},
    {"double-free", die_double_free, NULL},
    {"corrupt", die_corrupt, NULL},
#ifdef __cplusplus
    {"terminate", die_terminate, NULL},
#endif
    {"quit", die_quit, NULL},
    {"sys", die_sys, NULL},
    {"cpu", die_cpu, NULL},
    {"cpu-sent", die_cpu_sent, NULL},
    {"file-size", die_file_size, NULL},
    {"term", die_term, NULL},
    {"int", die_int, NULL},
    {"real-time", die_real_time, NULL},
    {"overflow", die_overflow, NULL},
    {"thread", die_thread, NULL},
    {"thread-abort", die_thread_abort, NULL},
    {"thread-overflow", die_thread_overflow, NULL},
    {"thread-overflow-bare", die_thread_bare, NULL},
    {"among-others", die_among_others, NULL},
    {"four", die_four, NULL},
    {"in-malloc", die_in_malloc, NULL},
    {"in-stdio", die_in_stdio, NULL},
    {"in-sink", die_in_sink, NULL},
    {"at-exit", die_at_exit, NULL},
    {"W1", die_w1, NULL},
    {"W2", die_w2, NULL},
    {"W3", die_w3, NULL},
    {"W4", die_w4, NULL},
    {"W5", die_w5, NULL},
    {"W6", die_w6, NULL},
    {"W6-end", die_w6_end, NULL},
    {"W7", die_w7, NULL},
    {"G1", die_g1, NULL},
    {"G2", die_g2, NULL},
    {"P1", die_p1, NULL},
    {"P2", die_p2, NULL},
    {"P3", die_p3, NULL},
    {"no-files", die_no_files, NULL},
    {"no-memory", die_no_memory, NULL},
    {"no-file-size", die_no_file_size, NULL},
    {"small-stack", die_null, small_stack},
    {"small-stack-no-memory", die_no_memory, small_stack},
    {"vfork", die_vfork, NULL},
    {"fork", die_fork, NULL},
    {"fork-in-dump", die_fork_in_dump, NULL},
    {"constructor", die_constructor, NULL},
    {"destructor", die_destructor, NULL},
    {"library-too", die_constructor, NULL},
    {"handler-aborts", die_null, handler_aborts},
    {"handler-faults", die_null, handler_faults},
    {"handler-of-abort", die_abort, handler_of_abort},
    {"handler-once", die_null, handler_once},
};

int main(int count, char **arguments)
{
    size_t i;
    if (count == 2)
        for (i = 0; i < sizeof ways / sizeof *ways; i++)
            printf("%s\n", ways[i].name);
    if (count != 3)
        return count != 2;
    dumps = strcmp(arguments[1], "dump") == 0;
    for (i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, arguments[2]) != 0)
            continue;
        if (ways[i].before)
            ways[i].before();
        if (dumps && ways[i].die != die_constructor) {
            recorder_dump_on_common_signals(1u << SIGTERM | 1u << SIGINT, 0);
            recorder_dump_on_signal(37);
        }
        if (dumps && strcmp(ways[i].name, "library-too") == 0)
            recorder_dump_on_common_signals(0, 0);
        last_words();
        ways[i].die();
    }
    return 78; /* no such way, or it did not die */
}
