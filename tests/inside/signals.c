/* Our handlers leave a program's signals as it wants them. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#include "recorder_dump.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

RECORDER(signals, 4, "What signals.c did")

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
#ifdef __SANITIZE_THREAD__
#define DEFERRED 1 /* handlers run later, with a mask and context of its own */
#else
#define DEFERRED 0
#endif

/* ------------------------------------------------------------ what it said */

static int said, stderr_kept;
static void capture(void)
{
    stderr_kept = dup(2);
    said = memfd_create("stderr", 0);
    cr_assert_geq(said, 0);
    dup2(said, 2);
    record(signals, "captured");
}
static void release(void)
{
    dup2(stderr_kept, 2);
    close(stderr_kept);
    close(said);
}
TestSuite(signals, .init = capture, .fini = release, .timeout = 300);

/* Whole dumps since the last call. Async-signal-safe. */
static int dumps(void)
{
    static char text[1 << 20];
    static off_t from;
    const char *at = text;
    int count = 0, ends = 0;
    ssize_t size = pread(said, text, sizeof text - 1, from);
    from += size;
    text[size] = '\0';
    for (; (at = strstr(at, "FLIGHT RECORDER DUMP AT")) != NULL; at++)
        count++;
    for (at = text; (at = strstr(at, ": captured\n")) != NULL; at++)
        ends++;
    return count == ends ? count : -1;
}

/* ----------------------------------------------------------------- handlers */

static struct {
    int calls, sig, code, value, dumps;
    sigset_t mask, interrupted;
} seen;

static void on_plain(int sig)
{
    int error = errno;
    seen.calls++;
    seen.sig = sig;
    seen.dumps = dumps();
    pthread_sigmask(SIG_BLOCK, NULL, &seen.mask);
    errno = error;
}
static void on_info(int sig, siginfo_t *info, void *context)
{
    on_plain(sig);
    seen.code = info->si_code;
    seen.value = info->si_value.sival_int;
    seen.interrupted = ((const ucontext_t *)context)->uc_sigmask;
}
static void handle(int sig, unsigned flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    if (flags & SA_SIGINFO)
        action.sa_sigaction = on_info;
    else
        action.sa_handler = on_plain;
    action.sa_flags = (int)flags;
    sigaddset(&action.sa_mask, SIGHUP);
    sigaddset(&action.sa_mask, SIGUSR2);
    cr_assert_eq(sigaction(sig, &action, NULL), 0);
    memset(&seen, 0, sizeof seen);
}
static struct sigaction action_of(int sig)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigaction(sig, NULL, &action);
    return action;
}
/* In words of 64 bits: what is after them the system does not use. */
static bool same_set(const sigset_t *a, const sigset_t *b)
{
    return memcmp(a, b, 8) == 0;
}
static bool same_action(const struct sigaction *a, const struct sigaction *b)
{
    const int restorer = 0x04000000; /* the C library's own business */
    return a->sa_handler == b->sa_handler &&
           (a->sa_flags & ~restorer) == (b->sa_flags & ~restorer) &&
           (a->sa_handler == SIG_DFL || same_set(&a->sa_mask, &b->sa_mask));
}

/* Goal: what was there is called once, after the dump, as it wanted: with its
 * siginfo, with the interrupted context, with the signals blocked that it
 * named; and mask and errno are after it what they were before. Method: a
 * real-time signal for each combination of flags. */
Test(signals, handler_is_called_after_the_dump)
{
    int i;
    sigset_t before, after;
    sigemptyset(&before);
    sigaddset(&before, SIGALRM);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (i = 0; i < 8; i++) {
        int sig = SIGRTMIN + i;
        unsigned flags = (i & 1 ? (unsigned)SA_SIGINFO : 0) |
                         (i & 2 ? (unsigned)SA_NODEFER : 0) |
                         (i & 4 ? (unsigned)SA_RESTART : 0);
        union sigval value;
        value.sival_int = 1000 + i;
        handle(sig, flags);
        cr_assert(recorder_dump_on_signal(sig));
        errno = 4711;
        pthread_sigqueue(pthread_self(), sig, value);
        cr_expect_eq(errno, 4711, "flags %#x: errno %d", flags, errno);
        pthread_sigmask(SIG_BLOCK, NULL, &after);
        cr_expect(same_set(&before, &after), "flags %#x: mask differs", flags);
        cr_expect(seen.calls == 1 && seen.sig == sig && seen.dumps == 1,
                  "flags %#x: %d calls, %d dumps before", flags, seen.calls,
                  seen.dumps);
        cr_expect(dumps() == 0, "flags %#x: another dump", flags);
        if (flags & SA_SIGINFO) {
            cr_expect_eq(seen.value, 1000 + i);
            cr_expect_eq(seen.code, SI_QUEUE);
        }
        if (DEFERRED)
            continue;
        cr_expect(sigismember(&seen.mask, SIGHUP) &&
                      sigismember(&seen.mask, SIGUSR2) &&
                      sigismember(&seen.mask, SIGALRM) &&
                      !sigismember(&seen.mask, SIGTERM) &&
                      sigismember(&seen.mask, sig) == !(flags & SA_NODEFER),
                  "flags %#x: the mask in the handler", flags);
        cr_expect(!(flags & SA_SIGINFO) || same_set(&seen.interrupted, &before),
                  "flags %#x: the mask in the context", flags);
    }
}

static void on_context(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGHUP);
}

/* Goal: the context is the real one: what a handler changes in it holds. */
Test(signals, handler_may_change_the_context, .disabled = DEFERRED)
{
    struct sigaction action;
    sigset_t after;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_context;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &action, NULL);
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    raise(SIGUSR1);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    cr_expect(sigismember(&after, SIGHUP));
    cr_expect_eq(dumps(), 1);
}

/* Goal: a handler that wants to be called once is. Method: SIGUSR1 after it is
 * one without a handler: it dumps, and goes on. */
Test(signals, handler_for_once)
{
    handle(SIGUSR1, (unsigned)SA_RESETHAND);
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    raise(SIGUSR1);
    raise(SIGUSR1);
    raise(SIGUSR1);
    cr_expect_eq(seen.calls, 1);
    cr_expect_eq(seen.dumps, 1);
    cr_expect_eq(dumps(), 2);
}

/* Waits for what another thread brings about; a minute is for ever. */
#define UNTIL(condition)                                                       \
    do {                                                                       \
        double begun_ = seconds_now();                                         \
        while (!(condition) && seconds_now() - begun_ < 60)                    \
            usleep(1000);                                                      \
    } while (0)

static pthread_t reader;
static pid_t reader_id;
static int reader_is; /* 0: on its way to read(), 1: there, 2: back */
static int pipe_fds[2];
/* Has it come back, or does it sleep in read(), however often one looks? */
static bool reader_rests(void)
{
    int is = __atomic_load_n(&reader_is, __ATOMIC_ACQUIRE), looks;
    char path[64], state = 'S';
    sprintf(path, "/proc/self/task/%d/stat", (int)reader_id);
    for (looks = 0; is == 1 && looks < 3 && state == 'S'; looks++) {
        FILE *stat = fopen(path, "r");
        usleep(1000);
        if (!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (stat)
            fclose(stat);
    }
    return is == 2 || (is == 1 && state == 'S');
}
static bool has_said(void)
{
    struct stat file;
    return fstat(said, &file) == 0 && file.st_size > 0;
}
#ifdef __SANITIZE_THREAD__ /* it calls handlers when read() has returned */
enum { HANDLERS_WAIT = 1 };
#else
enum { HANDLERS_WAIT = 0 };
#endif
static void *interrupt(void *goes_on)
{
    UNTIL(reader_rests());
    pthread_kill(reader, SIGUSR1);
    if (!HANDLERS_WAIT || !goes_on) {
        UNTIL(has_said());     /* the dump has begun, */
        UNTIL(reader_rests()); /* and has ended */
    }
    (void)!write(pipe_fds[1], "", 1);
    return goes_on;
}
/* Reads, and is interrupted, after which the read goes on or fails. */
static ssize_t interrupted_read(bool goes_on)
{
    pthread_t thread;
    char byte;
    ssize_t got;
    int error;
    reader = pthread_self();
    reader_id = (pid_t)syscall(SYS_gettid);
    cr_assert_eq(pipe(pipe_fds), 0);
    pthread_create(&thread, NULL, interrupt, goes_on ? &reader : NULL);
    __atomic_store_n(&reader_is, 1, __ATOMIC_RELEASE);
    got = read(pipe_fds[0], &byte, 1);
    error = errno;
    __atomic_store_n(&reader_is, 2, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    errno = error;
    return got;
}

/* Goal: a call that a signal interrupts goes on if the handler's flags say so,
 * and fails if not; without a handler it goes on. */
Test(signals, interrupted_calls_restart)
{
    handle(SIGUSR1, (unsigned)SA_RESTART);
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    cr_expect_eq(interrupted_read(true), 1);
    cr_expect_eq(seen.calls, 1);
}
Test(signals, interrupted_calls_fail)
{
    handle(SIGUSR1, 0);
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    cr_expect_eq(interrupted_read(false), -1);
    cr_expect_eq(errno, EINTR);
    cr_expect_eq(seen.calls, 1);
}
Test(signals, interrupted_calls_of_no_handler)
{
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    cr_expect_eq(interrupted_read(true), 1);
    cr_expect_eq(dumps(), 1);
}

static sigjmp_buf before_fault;
static void on_fault(int sig)
{
    seen.calls++;
    siglongjmp(before_fault, sig);
}

/* Goal: a handler may leave by siglongjmp(), again and again. */
Test(signals, handler_that_jumps_out)
{
    static volatile int i;
    volatile char *page = mmap(NULL, 4096, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, on_fault);
    recorder_dump_on_common_signals(0, 0);
    for (i = 0; i < 100; i++) {
        if (sigsetjmp(before_fault, 1) != 0)
            continue;
        page[i] = 1;
        cr_assert(0, "no fault");
    }
    cr_expect_eq(seen.calls, 100);
    cr_expect_eq(dumps(), 100);
}

/* Goal: SIGUSR1 and SIGUSR2 dump, a thousand times, and the program goes on. */
Test(signals, usr_dumps_and_goes_on)
{
    unsigned i, count = scaled(1000);
    int all = 0, error = errno;
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    recorder_dump_on_common_signals(0, 0);
    for (i = 0; i < count; i++) {
        errno = 4711;
        raise(i % 2 ? SIGUSR2 : SIGUSR1);
        cr_assert_eq(errno, 4711);
        all += dumps();
    }
    errno = error;
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    cr_expect(same_set(&before, &after));
    cr_expect_eq(all, (int)count);
}

/* Goal: errno stays what it was even where nothing can be written. */
Test(signals, errno_without_stderr)
{
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    close(2);
    errno = 4711;
    raise(SIGUSR1);
    cr_expect_eq(errno, 4711);
}

/* Goal: a dump to a pipe without a reader raises nothing in the program, and
 * takes no SIGPIPE from it that was pending before. */
Test(signals, stderr_without_a_reader)
{
    sigset_t set, pending;
    int fds[2], own;
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    cr_assert_eq(pipe(fds), 0);
    dup2(fds[1], 2);
    close(fds[0]);
    raise(SIGUSR1);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (own = 0; own < 2; own++) {
        if (own)
            raise(SIGPIPE);
        raise(SIGUSR1);
        sigpending(&pending);
        cr_expect_eq(sigismember(&pending, SIGPIPE), own);
    }
}

/* Goal: an ignored signal stays ignored. */
Test(signals, ignored_stays_ignored)
{
    static const int sigs[] = {SIGPIPE, SIGUSR1, SIGQUIT, SIGXFSZ, SIGTERM};
    unsigned i;
    for (i = 0; i < sizeof sigs / sizeof *sigs; i++) {
        signal(sigs[i], SIG_IGN);
        cr_expect(!recorder_dump_on_signal(sigs[i]));
    }
    recorder_dump_on_common_signals(1u << SIGPIPE | 1u << SIGTERM, 0);
    for (i = 0; i < sizeof sigs / sizeof *sigs; i++) {
        cr_expect(action_of(sigs[i]).sa_handler == SIG_IGN);
        raise(sigs[i]);
    }
    cr_expect_eq(dumps(), 0);
}

/* Goal: what cannot be caught, stops the process or is no signal is refused,
 * and nothing changes. */
Test(signals, refused)
{
    static const int sigs[] = {-1,      0,       SIGKILL, SIGSTOP,
                               SIGTSTP, SIGTTIN, SIGTTOU, 32,
                               33,      65,      1000};
    unsigned i;
    for (i = 0; i < sizeof sigs / sizeof *sigs; i++) {
        struct sigaction before = action_of(sigs[i]), after;
        cr_expect(!recorder_dump_on_signal(sigs[i]), "signal %d", sigs[i]);
        after = action_of(sigs[i]);
        cr_expect(same_action(&before, &after), "signal %d", sigs[i]);
    }
}

/* Goal: the common signals leave a program's handler for SIGUSR1 alone, unless
 * it is asked for. */
Test(signals, common_signals_leave_usr_handlers)
{
    handle(SIGUSR1, 0);
    recorder_dump_on_common_signals(0, 0);
    raise(SIGUSR1);
    cr_expect(seen.calls == 1 && seen.dumps == 0);
    recorder_dump_on_common_signals(1u << SIGUSR1, 0);
    raise(SIGUSR1);
    cr_expect(seen.calls == 2 && seen.dumps == 1);
    cr_expect_eq(dumps(), 0);
}

#define BIT(sig) (1u << (sig))
/* Goal: the masks add and remove what they say. */
Test(signals, masks)
{
    const unsigned common = BIT(SIGQUIT) | BIT(SIGILL) | BIT(SIGTRAP) |
                            BIT(SIGABRT) | BIT(SIGBUS) | BIT(SIGFPE) |
                            BIT(SIGSEGV) | BIT(SIGSYS) | BIT(SIGXCPU) |
                            BIT(SIGXFSZ) | BIT(SIGUSR1) | BIT(SIGUSR2);
    const struct {
        unsigned add, remove, expect;
    } masks[] = {
        {0, 0, common},
        {BIT(SIGTERM) | BIT(SIGINT), 0, common | BIT(SIGTERM) | BIT(SIGINT)},
        {0, BIT(SIGSEGV) | BIT(SIGUSR1),
         common & ~BIT(SIGSEGV) & ~BIT(SIGUSR1)},
        {BIT(SIGHUP), ~0u, 0},
        {BIT(SIGKILL) | BIT(SIGSTOP) | BIT(SIGTSTP) | 1, 0, common},
    };
    unsigned i;
    for (i = 0; i < sizeof masks / sizeof *masks; i++) {
        unsigned changed = 0;
        int sig, fds[2];
        cr_assert_eq(pipe(fds), 0);
        if (fork() == 0) { /* each starts without handlers */
            for (sig = 1; sig < 32; sig++)
                signal(sig, SIG_DFL);
            recorder_dump_on_common_signals(masks[i].add, masks[i].remove);
            for (sig = 1; sig < 32; sig++)
                if (action_of(sig).sa_handler != SIG_DFL)
                    changed |= BIT(sig);
            (void)!write(fds[1], &changed, sizeof changed);
            _exit(0);
        }
        cr_assert_eq(read(fds[0], &changed, sizeof changed), sizeof changed);
        wait(NULL);
        cr_expect_eq(changed, masks[i].expect, "row %u: %#x", i, changed);
    }
}

/* Goal: to ask twice is as good as once: one dump, one call. */
Test(signals, asked_twice)
{
    handle(SIGUSR1, 0);
    cr_expect(recorder_dump_on_signal(SIGUSR1));
    cr_expect(recorder_dump_on_signal(SIGUSR1));
    recorder_dump_on_common_signals(BIT(SIGUSR1), 0);
    recorder_dump_on_common_signals(BIT(SIGUSR1), 0);
    raise(SIGUSR1);
    cr_expect(seen.calls == 1 && seen.dumps == 1);
    cr_expect_eq(dumps(), 0);
}

/* Goal: a handler that the program sets later is the one that counts; it may
 * call ours; where it is taken away again, asking anew helps. */
Test(signals, later_handler_replaces_ours)
{
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    handle(SIGUSR1, 0);
    raise(SIGUSR1);
    cr_expect(seen.calls == 1 && seen.dumps == 0);
    signal(SIGUSR1, SIG_DFL);
    cr_expect(recorder_dump_on_signal(SIGUSR1));
    raise(SIGUSR1);
    cr_expect_eq(seen.calls, 1);
    cr_expect_eq(dumps(), 1);
    signal(SIGUSR1, SIG_IGN);
    cr_expect(!recorder_dump_on_signal(SIGUSR1));
    raise(SIGUSR1);
    cr_expect_eq(dumps(), 0);
}

static struct sigaction ours;
static void on_chain(int sig, siginfo_t *info, void *context)
{
    if (++seen.calls < 10)
        ours.sa_sigaction(sig, info, context);
}
Test(signals, later_handler_calls_ours)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_chain;
    action.sa_flags = SA_SIGINFO;
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    sigaction(SIGUSR1, &action, &ours);
    cr_assert(recorder_dump_on_signal(SIGUSR1));
    raise(SIGUSR1);
    cr_expect_eq(seen.calls, 1);
    cr_expect_eq(dumps(), 1);
}

/* Goal: children are reaped by themselves where the program wanted that. */
Test(signals, children_still_reaped)
{
    struct sigaction action = action_of(SIGCHLD);
    pid_t child;
    action.sa_handler = SIG_DFL;
    action.sa_flags = SA_NOCLDWAIT;
    sigaction(SIGCHLD, &action, NULL);
    cr_assert(recorder_dump_on_signal(SIGCHLD));
    child = fork();
    if (child == 0)
        _exit(0);
    cr_expect_eq(waitpid(child, NULL, 0), -1);
    cr_expect_eq(errno, ECHILD);
}

/* Goal: a library that installed our handlers takes them along when it is
 * closed, and leaves what was there. */
Test(signals, library_leaves_what_was_there)
{
    struct sigaction before[65], now;
    void *library;
    int sig;
    build_begin();
    build_must("gcc -O2 -w -fPIC -shared -DCRASH_LIBRARY " BUILD_INCLUDE
               "-o crash.so " BUILD_PROGRAMS "/crash.c -lpthread -ldl");
    handle(SIGSEGV, (unsigned)SA_SIGINFO | (unsigned)SA_NODEFER);
    handle(SIGABRT, (unsigned)SA_RESETHAND);
    signal(SIGQUIT, SIG_IGN);
    for (sig = 1; sig < 65; sig++)
        before[sig] = action_of(sig);
    setenv("CRASH_DUMPS", "1", 1);
    cr_assert_eq(chdir(build_folder), 0);
    library = dlopen("./crash.so", RTLD_NOW);
    cr_assert_not_null(library);
    now = action_of(SIGSEGV);
    cr_expect(!same_action(&now, &before[SIGSEGV]));
    raise(SIGUSR1);
    dlclose(library);
    for (sig = 1; sig < 65; sig++) {
        now = action_of(sig);
        cr_expect(same_action(&now, &before[sig]), "signal %d", sig);
    }
    cr_expect_eq(dumps(), 1);
    build_end();
}

/* ------------------------------------------------------------------- stacks */

static unsigned stacks(void)
{
    const struct recorder_stack_ *stack = recorder_stacks_;
    unsigned count = 0;
    for (; stack; stack = stack->next)
        count++;
    return count;
}
static size_t virtual_kb(void)
{
    char line[128];
    size_t size = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmSize: %zu", &size) == 1)
            break;
    if (status)
        fclose(status);
    return size;
}
static long asker;
static void *ask(void *stack)
{
    bool has = recorder_alt_stack();
    asker = syscall(SYS_gettid);
    if (stack)
        sigaltstack(NULL, stack);
    return has ? stack : (void *)1;
}
static void ask_in_thread(stack_t *stack)
{
    pthread_t thread;
    void *answer;
    cr_assert_eq(pthread_create(&thread, NULL, ask, stack), 0);
    pthread_join(thread, &answer);
    cr_assert_eq(answer, stack);
    while (syscall(SYS_tgkill, getpid(), asker, 0) == 0)
        sched_yield(); /* joined is not yet ended */
}

/* Goal: the stacks of threads that have ended serve others. Method: 10,000
 * threads, one after the other, need one. */
Test(signals, stacks_are_used_again)
{
    unsigned i, count = scaled(10000);
    size_t before;
    for (i = 0; i < 10; i++)
        ask_in_thread(NULL);
    before = virtual_kb();
    for (i = 0; i < count; i++)
        ask_in_thread(NULL);
    cr_expect_leq(stacks(), 1, "%u stacks", stacks());
    cr_expect(SANITIZED || virtual_kb() < before + 2048,
              "VmSize was %zu KB, is %zu", before, virtual_kb());
}

/* Goal: nor does a thread that gives its stack away use up memory. */
Test(signals, stack_given_away)
{
    stack_t none;
    unsigned i;
    memset(&none, 0, sizeof none);
    none.ss_flags = SS_DISABLE;
    for (i = 0; i < 100; i++) {
        cr_assert(recorder_alt_stack());
        cr_assert_eq(sigaltstack(&none, NULL), 0);
    }
    cr_expect_eq(stacks(), 1, "%u stacks", stacks());
}

/* Goal: a stack that the program has set up stays. */
Test(signals, stack_of_the_program)
{
    stack_t own, now;
    memset(&own, 0, sizeof own);
    own.ss_size = 65536;
    own.ss_sp = mmap(NULL, own.ss_size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_eq(sigaltstack(&own, NULL), 0);
    cr_assert(recorder_alt_stack());
    recorder_dump_on_common_signals(0, 0);
    sigaltstack(NULL, &now);
    cr_expect_eq(now.ss_sp, own.ss_sp);
    cr_expect_eq(stacks(), 0);
}

/* Goal: two threads never share one; nor does a child give away what its parent
 * used: its own thread may be on it. */
Test(signals, stacks_after_fork)
{
    stack_t mine, other;
    int status;
    pid_t child;
    cr_assert(recorder_alt_stack());
    sigaltstack(NULL, &mine);
    ask_in_thread(&other);
    cr_expect_neq(other.ss_sp, mine.ss_sp);
    child = fork();
    if (child == 0) {
        stack_t kept, fresh;
        sigaltstack(NULL, &kept);
        ask_in_thread(&fresh);
        _exit(kept.ss_sp != mine.ss_sp || fresh.ss_sp == mine.ss_sp ||
              fresh.ss_sp == other.ss_sp || !fresh.ss_sp);
    }
    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
}

/* ------------------------------------------------------------------ layouts */

/* Goal: what we take for the system's structures and numbers is that. */
Test(signals, layouts)
{
    ucontext_t context, expected;
    siginfo_t info;
#define SAME_MEMBER(ours_, member, theirs, their_member)                       \
    cr_expect(offsetof(struct ours_, member) ==                                \
                      offsetof(theirs, their_member) &&                        \
                  sizeof((struct ours_ *)0)->member ==                         \
                      sizeof((theirs *)0)->their_member,                       \
              #ours_ "." #member)
#define SAME_SIZE(ours_, theirs)                                               \
    cr_expect_eq(sizeof(struct ours_), sizeof(theirs), #ours_)
#define SAME(name)                                                             \
    cr_expect_eq((unsigned)RECORDER_##name##_, (unsigned)name, #name)
    SAME_MEMBER(recorder_action_, handler, struct sigaction, sa_handler);
    SAME_MEMBER(recorder_action_, mask, struct sigaction, sa_mask);
    SAME_MEMBER(recorder_action_, flags, struct sigaction, sa_flags);
    /* With room after it, for other libraries. */
    cr_expect_geq(sizeof(struct recorder_action_), sizeof(struct sigaction));
    SAME_MEMBER(recorder_stack_of_signals_, base, stack_t, ss_sp);
    SAME_MEMBER(recorder_stack_of_signals_, flags, stack_t, ss_flags);
    SAME_MEMBER(recorder_stack_of_signals_, bytes, stack_t, ss_size);
    SAME_SIZE(recorder_stack_of_signals_, stack_t);
    SAME_SIZE(recorder_signal_set_, sigset_t);
    /* In a context, only the mask changes. */
    memset(&context, 0, sizeof context);
    memset(&expected, 0, sizeof expected);
    memset(&info, 0, sizeof info);
    cr_expect(!recorder_os_fault_again_(SIGSEGV, &info, &context));
    info.si_code = SEGV_MAPERR;
    if (recorder_os_fault_again_(SIGSEGV, &info, &context))
        sigaddset(&expected.uc_sigmask, SIGSEGV);
    cr_expect_eq(memcmp(&context, &expected, sizeof context), 0);
    SAME_MEMBER(recorder_timespec_, seconds, struct timespec, tv_sec);
    SAME_MEMBER(recorder_timespec_, nanoseconds, struct timespec, tv_nsec);
    SAME_SIZE(recorder_timespec_, struct timespec);
    SAME_MEMBER(recorder_pollfd_, fd, struct pollfd, fd);
    SAME_MEMBER(recorder_pollfd_, events, struct pollfd, events);
    SAME_MEMBER(recorder_pollfd_, revents, struct pollfd, revents);
    SAME_SIZE(recorder_pollfd_, struct pollfd);
    SAME(SIGQUIT);
    SAME(SIGILL);
    SAME(SIGTRAP);
    SAME(SIGABRT);
    SAME(SIGBUS);
    SAME(SIGFPE);
    SAME(SIGKILL);
    SAME(SIGSEGV);
    SAME(SIGSYS);
    SAME(SIGUSR1);
    SAME(SIGUSR2);
    SAME(SIGPIPE);
    SAME(SIGCHLD);
    SAME(SIGCONT);
    SAME(SIGSTOP);
    SAME(SIGTSTP);
    SAME(SIGTTOU);
    SAME(SIGURG);
    SAME(SIGWINCH);
    SAME(SIGXCPU);
    SAME(SIGXFSZ);
    SAME(SA_SIGINFO);
    SAME(SA_ONSTACK);
    SAME(SA_RESTART);
    SAME(SA_RESETHAND);
    SAME(SIG_BLOCK);
    SAME(SIG_SETMASK);
    cr_expect_leq(RECORDER_SIGNALS_, SIGRTMAX + 1); /* MIPS has 127 */
    SAME(SA_NOCLDWAIT);
    cr_expect_eq(RECORDER_MONOTONIC_, CLOCK_MONOTONIC);
    cr_expect_eq(RECORDER_REALTIME_, CLOCK_REALTIME);
}
