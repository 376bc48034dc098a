/* signal.h - dumps when a signal comes, and gets out of its way. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_SIGNAL_H_
#define RECORDER_SIGNAL_H_

#include "crash.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RECORDER_SIGNALS_ = 65 }; /* as many as the registry has room for */

/* ---------------------------------------------------------------- stacks -- */

/* Stands at the top of an alternate stack, whose lowest page faults. */
struct recorder_stack {
    struct recorder_stack *next;
    int32_t owner, process; /* kernel ids */
};
RECORDER_PROGRAM_ struct recorder_stack *recorder_stacks = 0;
/* A dump takes 8 KB, the kernel's frame 1 to 12 (AVX-512, AMX); a handler of
 * the program runs on this stack, too. */
#define RECORDER_STACK_BYTES ((size_t)128 << 10)
#define RECORDER_STACK_GUARD ((size_t)64 << 10) /* the largest page */

RECORDER_FUNCTION_ struct recorder_stack *recorder_stack_new(void)
{
    char *memory = (char *)recorder_os_memory(RECORDER_STACK_GUARD +
                                              RECORDER_STACK_BYTES);
    struct recorder_stack *stack;
    if (!memory)
        return NULL;
    recorder_os_protect(memory, RECORDER_STACK_GUARD, 0);
    stack = (struct recorder_stack *)(void *)(memory + RECORDER_STACK_GUARD +
                                              RECORDER_STACK_BYTES -
                                              sizeof *stack);
    stack->owner = recorder_os_thread();
    stack->process = (int32_t)recorder_os_process();
    stack->next = __atomic_load_n(&recorder_stacks, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&recorder_stacks, &stack->next, stack,
                                        false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE))
        ;
    return stack;
}

/* Gives the caller the stack of a thread of this process that has ended, or one
 * that it had itself and disabled. Returns null if there is none. */
RECORDER_FUNCTION_ struct recorder_stack *recorder_stack_reuse(void)
{
    struct recorder_stack *stack =
        __atomic_load_n(&recorder_stacks, __ATOMIC_ACQUIRE);
    int32_t self = recorder_os_thread();
    for (; stack; stack = stack->next) {
        int32_t owner = __atomic_load_n(&stack->owner, __ATOMIC_ACQUIRE);
        if (stack->process == (int32_t)recorder_os_process() &&
            (owner == self || recorder_os_thread_ended(owner)) &&
            __atomic_compare_exchange_n(&stack->owner, &owner, self, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return stack;
    }
    return NULL;
}

RECORDER_FUNCTION_ bool recorder_alt_stack(void)
{
    struct recorder_stack_of_signals signals;
    struct recorder_stack *stack;
    int error = *recorder_errno();
    bool done = true;
    if (recorder_os_stack(NULL, &signals) == 0 &&
        !(signals.flags & RECORDER_SS_DISABLE_))
        return true; /* has one */
    stack = recorder_stack_reuse();
    if (!stack)
        stack = recorder_stack_new();
    if (stack) {
        signals.bytes = RECORDER_STACK_BYTES - sizeof *stack;
        signals.base = (char *)(void *)stack - signals.bytes;
        signals.flags = 0;
        done = recorder_os_stack(&signals, NULL) == 0;
    }
    *recorder_errno() = error;
    return stack && done;
}

/* --------------------------------------------------------------- handler -- */

/* The actions that our handler replaced, by signal. The registry's `taken` is
 * set after the action is stored here. */
RECORDER_PROGRAM_ struct recorder_action recorder_before[RECORDER_SIGNALS_];
RECORDER_INLINE_ bool recorder_is_handler(const struct recorder_action *action)
{
    return (uintptr_t)action->handler > 1; /* neither SIG_DFL nor SIG_IGN */
}
/* True if the program goes on after a signal without a handler: the system
 * ignores it, or we only dump. */
RECORDER_INLINE_ bool recorder_goes_on(int sig)
{
    return sig == RECORDER_SIGUSR1_ || sig == RECORDER_SIGUSR2_ ||
           recorder_os_ignores(sig);
}

/* "recorder: SIGSEGV (signal 11) in thread 4711" */
RECORDER_FUNCTION_ void recorder_say_signal(struct recorder_output *out,
                                            int sig, int32_t thread)
{
    static const struct {
        int sig;
        char name[8];
    } names[] = {{RECORDER_SIGQUIT_, "QUIT"}, {RECORDER_SIGILL_, "ILL"},
                 {RECORDER_SIGTRAP_, "TRAP"}, {RECORDER_SIGABRT_, "ABRT"},
                 {RECORDER_SIGBUS_, "BUS"},   {RECORDER_SIGFPE_, "FPE"},
                 {RECORDER_SIGSEGV_, "SEGV"}, {RECORDER_SIGSYS_, "SYS"},
                 {RECORDER_SIGXCPU_, "XCPU"}, {RECORDER_SIGXFSZ_, "XFSZ"},
                 {RECORDER_SIGUSR1_, "USR1"}, {RECORDER_SIGUSR2_, "USR2"},
                 {1, "HUP"},                  {2, "INT"},
                 {RECORDER_SIGPIPE_, "PIPE"}, {14, "ALRM"},
                 {15, "TERM"}};
    struct recorder_string to;
    char text[80];
    unsigned i;
    to = recorder_string_at(text, sizeof text);
    recorder_add_string(&to, "recorder: ");
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].sig == sig) {
            recorder_add_string(&to, "SIG");
            recorder_add_string(&to, names[i].name);
            recorder_add_string(&to, " (signal ");
        }
    if (to.size == 10)
        recorder_add_string(&to, "(signal ");
    recorder_add_number(&to, (uint64_t)sig, 10, 1);
    recorder_add_string(&to, ") in thread ");
    recorder_add_number(&to, (uint64_t)thread, 10, 1);
    recorder_add_string(&to, "\n");
    recorder_output_write(out, text, to.size);
}

/* Says what a signal's dump begins with. Returns the output of the dump;
 * `shows` tells whether it is to show records: all of these are in a recording,
 * if there is one, and are shown only where somebody set what. */
RECORDER_FUNCTION_ struct recorder_output
recorder_crash_begin(int sig, int32_t thread, bool *shows)
{
    struct recorder_output out = recorder_output_to(recorder_output_fd), file;
    const char *recording = recorder_crash_recording();
    struct recorder_held held;
    int fd = -1;
    out.patience_ns = 1000000000u;
    recorder_signals_hold(&held);
    *shows = recorder_crash_read(&recorder_crash_now) || !recording;
    recorder_say_signal(&out, sig, thread);
    if (recording)
        recorder_crash_say(&out, "its records: recorder dump ", recording, "");
    if (recorder_crash_now.to)
        fd = recorder_crash_open(recorder_crash_now.to, &out);
    if (fd >= 0) {
        file = recorder_output_to(fd);
        file.patience_ns = out.patience_ns;
        recorder_say_signal(&file, sig, thread);
        out = file;
    }
    recorder_signals_release(&held);
    return out;
}
RECORDER_FUNCTION_ void recorder_crash_dump(int sig, int32_t thread,
                                            const struct recorder_lines *lines)
{
    bool shows;
    struct recorder_output out = recorder_crash_begin(sig, thread, &shows);
    if (shows && !out.failed)
        recorder_dump_choice(&recorder_crash_now.choice, &out, lines);
    if (out.fd != recorder_output_fd)
        recorder_os_close(out.fd);
}

/* Dumps. If another thread dumps already, waits for it, 10 s at most, as it is
 * about to end the process. If that thread belongs to another process (copied
 * by fork() in mid-dump, or across vfork()), takes over. */
RECORDER_FUNCTION_ void
recorder_dump_for_signal(int sig, const struct recorder_lines *lines)
{
    int32_t *dumping = &recorder_home.registry->dumping;
    int32_t self = recorder_os_thread();
    unsigned i;
    for (i = 0; i < 1000; i++) {
        int32_t other = __atomic_load_n(dumping, __ATOMIC_RELAXED);
        if (other == self)
            return; /* this thread crashed in its own dump */
        if (other && !recorder_os_thread_ended(other)) {
            recorder_os_poll(NULL, 0, 10);
            continue;
        }
        if (__atomic_compare_exchange_n(dumping, &other, self, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            recorder_crash_dump(sig, self, lines);
            return;
        }
    }
}

/* Sets the default action and sends the signal to ourselves once more. It stays
 * blocked until the handler returns, and so it acts where the program was
 * interrupted, as without us. */
RECORDER_FUNCTION_ void recorder_signal_again(int sig, void *info)
{
    struct recorder_action action; /* all zero: SIG_DFL */
    __builtin_memset(&action, 0, sizeof action);
    if (recorder_os_action(sig, &action, NULL) != 0)
        recorder_os_exit(128 + sig); /* else the fault would repeat for ever */
    recorder_os_again(sig, info);
}

/* Handles a signal: dumps, with our lines if `lines` is null, then does what
 * the program had asked for. */
RECORDER_FUNCTION_ void
recorder_signal_handle(int sig, void *info, void *context,
                       const struct recorder_lines *lines)
{
    struct recorder_signal_set entry;
    struct recorder_action before = recorder_before[sig];
    bool ends = !recorder_is_handler(&before) && !recorder_goes_on(sig);
    int error = *recorder_errno();
    int32_t self;
    recorder_os_block(&entry);
    recorder_dump_for_signal(sig, lines);
    if (ends) {
        recorder_signal_again(sig, info);
        *recorder_errno() = error;
        return;
    }
    self = recorder_os_thread();
    __atomic_compare_exchange_n(&recorder_home.registry->dumping, &self, 0,
                                false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    recorder_os_mask(RECORDER_SIG_SETMASK_, &entry, NULL);
    *recorder_errno() = error;
    if (!recorder_is_handler(&before))
        return;
    if (before.flags & RECORDER_SA_RESETHAND_)
        recorder_before[sig].handler = NULL;
    if (before.flags & RECORDER_SA_SIGINFO_)
        before.handler(sig, info, context);
    else
        ((void (*)(int))(uintptr_t)before.handler)(sig);
}
RECORDER_FUNCTION_ void recorder_on_signal(int sig, void *info, void *context)
{
    recorder_signal_handle(sig, info, context, NULL);
}
/* The handler of this module; compat/recorder sets its own. */
RECORDER_MODULE_ void (*recorder_signal_handler)(int sig, void *info,
                                                 void *context) =
    recorder_on_signal;

RECORDER_PROGRAM_ unsigned char recorder_crash_asked = 0;
/* In compat, RECORDER_DUMP of the environment means what it did in 1.x. */
__attribute__((constructor(102))) static void recorder_crash_enter(void)
{
    if (recorder_crash_asked)
        return;
    recorder_crash_asked = 1;
    if (recorder_signal_handler == recorder_on_signal)
        recorder_dump_set(recorder_os_environment_safe("RECORDER_DUMP"));
}

/* Calls, to no effect, the functions that the handler will call: at its first
 * call the dynamic linker looks a function up, which takes 3 KB of stack. */
RECORDER_MODULE_ bool recorder_signal_bound = false;
RECORDER_FUNCTION_ void recorder_signal_bind(void)
{
    struct recorder_memory memory;
    struct recorder_held held;
    volatile size_t one = 1; /* the compiler is not to know it */
    int error = *recorder_errno();
    char byte;
    if (recorder_signal_bound)
        return;
    recorder_signal_bound = true;
    __builtin_memset(&byte, 0, one);
    __builtin_memcpy(&byte, "", one);
    recorder_memory_open(&memory);
    if (recorder_memory_pipe_open(&memory) &&
        recorder_os_write(memory.fds[1], &byte, 1) == 1)
        (void)!recorder_os_read(memory.fds[0], &byte, 1);
    recorder_memory_close(&memory);
    recorder_clock_ns(RECORDER_MONOTONIC_);
    recorder_signals_hold(&held);
    recorder_signals_release(&held);
    recorder_os_poll(NULL, 0, 0);
    recorder_munmap(recorder_os_memory(1), 1);
    *recorder_errno() = error;
}

RECORDER_FUNCTION_ bool recorder_dump_on_signal(int sig)
{
    const unsigned kept = RECORDER_SA_NODEFER_ | RECORDER_SA_RESTART_ |
                          RECORDER_SA_NOCLDSTOP_ | RECORDER_SA_NOCLDWAIT_;
    struct recorder_action action, before;
    if (sig < 1 || sig >= RECORDER_SIGNALS_ || sig == RECORDER_SIGKILL_ ||
        sig == RECORDER_SIGSTOP_ || sig == RECORDER_SIGTSTP_ ||
        sig == RECORDER_SIGTTIN_ || sig == RECORDER_SIGTTOU_)
        return false;
    recorder_alt_stack();
    if (recorder_os_action(sig, NULL, &before) != 0 ||
        (uintptr_t)before.handler == 1 /* SIG_IGN */)
        return false;
    if (recorder_home.registry->taken[sig] && recorder_is_handler(&before))
        return true; /* our handler, or a later one that may call it */
    recorder_signal_bind();
    recorder_before[sig] = before;
    recorder_home.registry->taken[sig] = 1;
    action = before;
    action.handler = recorder_signal_handler;
    action.flags = RECORDER_SA_SIGINFO_ | RECORDER_SA_ONSTACK_ |
                   (before.flags & kept) |
                   (recorder_is_handler(&before) ? 0 : RECORDER_SA_RESTART_);
    return recorder_os_action(sig, &action, NULL) == 0;
}

RECORDER_FUNCTION_ void recorder_dump_on_common_signals(unsigned add,
                                                        unsigned remove)
{
    const unsigned crashes =
        1u << RECORDER_SIGQUIT_ | 1u << RECORDER_SIGILL_ |
        1u << RECORDER_SIGTRAP_ | 1u << RECORDER_SIGABRT_ |
        1u << RECORDER_SIGBUS_ | 1u << RECORDER_SIGFPE_ |
        1u << RECORDER_SIGSEGV_ | 1u << RECORDER_SIGSYS_ |
        1u << RECORDER_SIGXCPU_ | 1u << RECORDER_SIGXFSZ_;
    const unsigned asked = 1u << RECORDER_SIGUSR1_ | 1u << RECORDER_SIGUSR2_;
    int sig;
    for (sig = 1; sig < 32; sig++) {
        struct recorder_action before;
        unsigned bit = 1u << sig;
        if (remove & bit || !((add | crashes | asked) & bit))
            continue;
        if (!((add | crashes) & bit) &&
            (recorder_os_action(sig, NULL, &before) != 0 ||
             recorder_is_handler(&before)))
            continue;
        recorder_dump_on_signal(sig);
    }
}

#ifdef RECORDER_IN_LIBRARY_
/* Restores the program's actions: the code of our handler goes with the
 * library. */
__attribute__((destructor(102))) static void recorder_signal_leave(void)
{
    struct recorder_action now;
    int sig;
    for (sig = 1; sig < RECORDER_SIGNALS_; sig++)
        if (recorder_home.registry->taken[sig] &&
            recorder_os_action(sig, NULL, &now) == 0 &&
            now.handler == recorder_signal_handler) {
            recorder_os_action(sig, &recorder_before[sig], NULL);
            recorder_home.registry->taken[sig] = 0;
        }
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
