/* signal.h - dumps when a signal comes, then lets it act as before. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_SIGNAL_H_
#define RECORDER_SIGNAL_H_

#include "crash.h"
#include "guard.h"

RECORDER_C_BEGIN_

enum { RECORDER_SIGNALS_ = 65 }; /* as many as the registry has room for */

/* ---------------------------------------------------------------- stacks -- */

/* At the top of an alternate stack, whose lowest page faults. */
struct recorder_stack_ {
    struct recorder_stack_ *next;
    int32_t owner, process; /* kernel ids */
};
RECORDER_PROGRAM_ struct recorder_stack_ *recorder_stacks_ = 0;
/* A dump takes 8 KB, the kernel's frame 1 to 12 (AVX-512, AMX); a handler of
 * the program runs on this stack, too. */
#define RECORDER_STACK_BYTES_ ((size_t)128 << 10)
#define RECORDER_STACK_GUARD_ ((size_t)64 << 10) /* the largest page */

RECORDER_SELDOM_ struct recorder_stack_ *recorder_stack_new_(void)
{
    char *memory = (char *)recorder_os_memory_(RECORDER_STACK_GUARD_ +
                                               RECORDER_STACK_BYTES_);
    struct recorder_stack_ *stack;
    if (!memory)
        return NULL;
    recorder_os_protect_(memory, RECORDER_STACK_GUARD_, 0);
    stack = (struct recorder_stack_ *)(void *)(memory + RECORDER_STACK_GUARD_ +
                                               RECORDER_STACK_BYTES_ -
                                               sizeof *stack);
    stack->owner = recorder_os_thread_();
    stack->process = (int32_t)recorder_os_process_();
    stack->next = __atomic_load_n(&recorder_stacks_, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&recorder_stacks_, &stack->next, stack,
                                        false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE))
        ;
    return stack;
}

/* Reuses the stack of a thread of this process that has ended, or one that the
 * caller had itself and disabled. Returns null if there is none. */
RECORDER_SELDOM_ struct recorder_stack_ *recorder_stack_reuse_(void)
{
    struct recorder_stack_ *stack =
        __atomic_load_n(&recorder_stacks_, __ATOMIC_ACQUIRE);
    int32_t self = recorder_os_thread_();
    for (; stack; stack = stack->next) {
        int32_t owner = __atomic_load_n(&stack->owner, __ATOMIC_ACQUIRE);
        if (stack->process == (int32_t)recorder_os_process_() &&
            (owner == self || recorder_thread_ended_((uintptr_t)owner)) &&
            __atomic_compare_exchange_n(&stack->owner, &owner, self, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return stack;
    }
    return NULL;
}

RECORDER_ANY_ bool recorder_alt_stack(void)
{
    struct recorder_stack_of_signals_ signals;
    struct recorder_stack_ *stack;
    int error = *recorder_os_errno_();
    bool done = true;
    if (recorder_os_stack_(NULL, &signals) == 0 &&
        !(signals.flags & RECORDER_SS_DISABLE_))
        return true; /* the thread has one */
    stack = recorder_stack_reuse_();
    if (!stack)
        stack = recorder_stack_new_();
    if (stack) {
        signals.bytes = RECORDER_STACK_BYTES_ - sizeof *stack;
        signals.base = (char *)(void *)stack - signals.bytes;
        signals.flags = 0;
        done = recorder_os_stack_(&signals, NULL) == 0;
    }
    *recorder_os_errno_() = error;
    return stack && done;
}

/* --------------------------------------------------------------- handler -- */

/* The actions that our handler replaced, by signal. The registry's `taken` is
 * set after the action is stored here. */
RECORDER_PROGRAM_ struct recorder_action_ recorder_before_[RECORDER_SIGNALS_];
RECORDER_INLINE_ bool
recorder_is_handler_(const struct recorder_action_ *action)
{
    return (uintptr_t)action->handler > 1; /* neither SIG_DFL nor SIG_IGN */
}
/* True if the program continues after a signal without a handler: the system
 * ignores it, or we only dump. */
RECORDER_INLINE_ bool recorder_goes_on_(int sig)
{
    return sig == RECORDER_SIGUSR1_ || sig == RECORDER_SIGUSR2_ ||
           recorder_os_ignores_(sig);
}

/* Says "recorder: SIGSEGV (signal 11) in thread 4711". */
RECORDER_SELDOM_ void
recorder_say_signal_(struct recorder_output_ *out,
                     const struct recorder_crash_note_ *note)
{
    static const struct {
        int sig;
        char name[8];
    } names[] = {{RECORDER_SIGQUIT_, "QUIT"},
                 {RECORDER_SIGILL_, "ILL"},
                 {RECORDER_SIGTRAP_, "TRAP"},
                 {RECORDER_SIGABRT_, "ABRT"},
                 {RECORDER_SIGBUS_, "BUS"},
                 {RECORDER_SIGFPE_, "FPE"},
                 {RECORDER_SIGSEGV_, "SEGV"},
                 {RECORDER_SIGSYS_, "SYS"},
                 {RECORDER_SIGXCPU_, "XCPU"},
                 {RECORDER_SIGXFSZ_, "XFSZ"},
                 {RECORDER_SIGUSR1_, "USR1"},
                 {RECORDER_SIGUSR2_, "USR2"},
                 {1, "HUP"},
                 {2, "INT"},
                 {RECORDER_SIGPIPE_, "PIPE"},
                 {14, "ALRM"},
                 {15, "TERM"}};
    struct recorder_string_ to;
    char text[80];
    unsigned i;
    to = recorder_string_at_(text, sizeof text);
    recorder_add_string_(&to, "recorder: ");
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].sig == note->sig) {
            recorder_add_string_(&to, "SIG");
            recorder_add_string_(&to, names[i].name);
            recorder_add_string_(&to, " ");
        }
    recorder_add_string_(&to, "(signal ");
    recorder_add_number_(&to, (uint64_t)note->sig, 10, 1);
    recorder_add_string_(&to, ") in thread ");
    recorder_add_number_(&to, (uint64_t)note->thread, 10, 1);
    recorder_add_string_(&to, "\n");
    recorder_output_write_(out, text, to.size);
}

/* A signal's dump. */
struct recorder_crashed_ {
    struct recorder_crash_note_ note;
    const struct recorder_lines_ *lines; /* null: ours */
    struct recorder_output_ out;
    bool shows;   /* the records, not only where the recording is */
    bool guarded; /* a fault jumps back to recorder_crash_steps_() */
    volatile unsigned step;
};
enum {
    RECORDER_CRASH_ASK_,
    RECORDER_CRASH_KEEP_,
    RECORDER_CRASH_BEGIN_,
    RECORDER_CRASH_STACK_OF_,
    RECORDER_CRASH_SHOW_,
    RECORDER_CRASH_CUT_,
    RECORDER_CRASH_DONE_
};
/* Writes the first lines. If there is a recording and no setting, the dump says
 * only the recording's path. */
RECORDER_APART_ void recorder_crash_begin_(struct recorder_crashed_ *crashed)
{
    struct recorder_output_ *out = &crashed->out;
    const char *recording = recorder_crash_recording_();
    int fd = -1;
    crashed->shows = recorder_crash_now_.shows || !recording;
    recorder_say_signal_(out, &crashed->note);
    if (recording)
        recorder_dump_say_(out,
                           recorder_crash_now_.memory ? "see recorder explain "
                                                      : "see recorder dump ",
                           recording, "");
    if (recorder_crash_now_.to)
        fd = recorder_crash_open_(recorder_crash_now_.to, out);
    if (fd < 0)
        return;
    *out = recorder_output_to_(fd);
    out->patience_ns = RECORDER_CRASH_NS_;
    recorder_say_signal_(out, &crashed->note);
}
/* Goes on with the next step. A fault comes back to the mark: `step` already
 * says which step follows one that fails. */
RECORDER_APART_ void recorder_crash_steps_(struct recorder_crashed_ *crashed)
{
    if (crashed->guarded) {
        recorder_guarded_.frame = (uintptr_t)__builtin_frame_address(0);
        (void)!recorder_os_mark_(recorder_guarded_.mark);
        recorder_os_unblock_faults_();
    }
    if (crashed->step == RECORDER_CRASH_ASK_) {
        crashed->step = RECORDER_CRASH_KEEP_;
        recorder_crash_read_(&recorder_crash_now_);
        if (recorder_goes_on_(crashed->note.sig))
            recorder_crash_now_.memory = 0;
        recorder_kernel_ask_(); /* for the recording and the core file, too */
    }
    if (crashed->step == RECORDER_CRASH_KEEP_) {
        crashed->step = RECORDER_CRASH_BEGIN_;
        crashed->note.most = recorder_crash_now_.memory;
        recorder_file_tell_(RECORDER_FILE_CRASHED_, &crashed->note);
    }
    if (crashed->step == RECORDER_CRASH_BEGIN_) {
        crashed->step = RECORDER_CRASH_CUT_;
        recorder_crash_begin_(crashed);
        crashed->step = RECORDER_CRASH_STACK_OF_;
    }
    if (crashed->step == RECORDER_CRASH_STACK_OF_) {
        crashed->step = RECORDER_CRASH_SHOW_;
        if (crashed->shows && recorder_crash_now_.memory)
            recorder_crash_show_(crashed->note.sig, crashed->note.info,
                                 crashed->note.context, crashed->note.thread,
                                 &crashed->out);
    }
    if (crashed->step == RECORDER_CRASH_SHOW_) {
        crashed->step = RECORDER_CRASH_CUT_;
        if (crashed->shows && !crashed->out.failed)
            recorder_dump_choice_(&recorder_crash_now_.choice, &crashed->out,
                                  crashed->lines);
        crashed->step = RECORDER_CRASH_DONE_;
    }
    if (crashed->step == RECORDER_CRASH_CUT_) {
        crashed->step = RECORDER_CRASH_DONE_;
        recorder_output_flush_(&crashed->out);
        crashed->out.gathered_max = 0;
        recorder_dump_say_(&crashed->out, RECORDER_ENDS_EARLY_,
                           "memory that it reads was overwritten", "");
    }
}
RECORDER_SELDOM_ void recorder_crash_dump_(int sig, const void *info,
                                           const void *context, int32_t thread,
                                           const struct recorder_lines_ *lines)
{
    static struct recorder_crashed_ crashed; /* a signal stack is small */
    struct recorder_held_ held;
    recorder_os_hold_signals_(&held);
    crashed.note.sig = sig;
    crashed.note.info = info;
    crashed.note.context = context;
    crashed.note.thread = thread;
    crashed.lines = lines;
    crashed.out = recorder_output_to_(recorder_output_fd_);
    crashed.out.patience_ns = RECORDER_CRASH_NS_;
    crashed.step = RECORDER_CRASH_ASK_;
    crashed.guarded = recorder_guard_begin_();
    recorder_crash_steps_(&crashed);
    if (crashed.out.fd != recorder_output_fd_)
        recorder_os_close_(crashed.out.fd);
    recorder_os_release_signals_(&held); /* all are blocked again */
    if (crashed.guarded)
        recorder_guard_end_(recorder_goes_on_(sig));
}

/* True if the thread that `dumping` names dumps. The word may be overwritten:
 * the guard has that thread, too, soon after. */
RECORDER_SELDOM_ bool recorder_is_dumping_(int32_t other, unsigned tries)
{
    return other > 0 &&
           (tries < 10 || recorder_guard_thread_() == other ||
            !RECORDER_OS_JUMPS_) &&
           !recorder_thread_ended_((uintptr_t)other);
}

/* Dumps. If another thread dumps already, waits for it, 10 s at most, as it is
 * about to end the process. If that thread belongs to another process (copied
 * by fork() in mid-dump, or across vfork()), takes over. */
RECORDER_SELDOM_ void
recorder_dump_for_signal_(int sig, const void *info, const void *context,
                          const struct recorder_lines_ *lines)
{
    int32_t *dumping = &recorder_home_.registry->dumping;
    int32_t self = recorder_os_thread_();
    unsigned i;
    for (i = 0; i < 1000; i++) {
        int32_t other = __atomic_load_n(dumping, __ATOMIC_RELAXED);
        if (other == self)
            return; /* this thread crashed in its own dump */
        if (recorder_is_dumping_(other, i)) {
            recorder_os_poll_(NULL, 0, 10);
            continue;
        }
        if (__atomic_compare_exchange_n(dumping, &other, self, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            recorder_crash_dump_(sig, info, context, self, lines);
            return;
        }
    }
}

/* Sets the default action and sends the signal to this thread again. All
 * signals are blocked until the handler returns, so it acts at the instruction
 * that was interrupted. If a sandbox refuses the action, a fault comes again
 * when the handler returns; for other signals the program exits. */
RECORDER_SELDOM_ void recorder_signal_again_(int sig, void *info, void *context)
{
    struct recorder_action_ action; /* all zero: SIG_DFL */
    __builtin_memset(&action, 0, sizeof action);
    if (recorder_os_action_(sig, &action, NULL) == 0)
        recorder_os_requeue_signal_(sig, info);
    else if (!recorder_os_fault_again_(sig, info, context))
        recorder_os_exit_(128 + sig);
}

/* Handles a signal: dumps, with our lines if `lines` is null, then takes the
 * action that the program had set. */
RECORDER_SELDOM_ void
recorder_signal_handle_(int sig, void *info, void *context,
                        const struct recorder_lines_ *lines)
{
    static const struct recorder_crash_note_ none = {0, 0, NULL, NULL, 1};
    struct recorder_signal_set_ entry;
    struct recorder_action_ before = recorder_before_[sig];
    bool ends = !recorder_is_handler_(&before) && !recorder_goes_on_(sig);
    int error = *recorder_os_errno_();
    int32_t self;
    recorder_os_block_(&entry);
    recorder_dump_for_signal_(sig, info, context, lines);
    if (ends) {
        recorder_signal_again_(sig, info, context);
    } else {
        self = recorder_os_thread_();
        __atomic_compare_exchange_n(&recorder_home_.registry->dumping, &self, 0,
                                    false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
        recorder_os_mask_(RECORDER_SIG_SETMASK_, &entry, NULL);
    }
    *recorder_os_errno_() = error;
    if (!recorder_is_handler_(&before))
        return;
    if (before.flags & RECORDER_SA_RESETHAND_)
        recorder_before_[sig].handler = NULL;
    if (before.flags & RECORDER_SA_SIGINFO_)
        before.handler(sig, info, context);
    else
        ((void (*)(int))(uintptr_t)before.handler)(sig);
    recorder_file_tell_(RECORDER_FILE_CRASHED_, &none);
}
RECORDER_SELDOM_ void recorder_on_signal_(int sig, void *info, void *context)
{
    recorder_signal_handle_(sig, info, context, NULL);
}
/* The handler of this module; compat/recorder sets its own. */
RECORDER_MODULE_ void (*recorder_signal_handler_)(
    int sig, void *info, void *context) = recorder_on_signal_;

RECORDER_PROGRAM_ unsigned char recorder_crash_asked_ = 0;
/* In compat, RECORDER_DUMP of the environment has the meaning of 1.x. */
RECORDER_UNSEEN_ __attribute__((constructor(102))) static void
recorder_crash_enter_(void)
{
    if (recorder_crash_asked_)
        return;
    recorder_crash_asked_ = 1;
    if (recorder_signal_handler_ == recorder_on_signal_)
        recorder_dump_set(recorder_os_environment_("RECORDER_DUMP"));
}

/* gcc does not know this name, so it does not expand the call. */
extern void *recorder_signal_memcpy_(void *to, const void *from, size_t size)
    RECORDER_LABEL_(memcpy);
/* Calls each function of the handler once, without effect: the dynamic linker
 * takes 3 KB of stack to find a function at its first call. */
RECORDER_MODULE_ bool recorder_signal_bound_ = false;
RECORDER_SELDOM_ void recorder_signal_bind_(void)
{
    struct recorder_memory_ memory;
    struct recorder_held_ held;
    volatile size_t one = 1; /* volatile: unknown to the compiler */
    int error = *recorder_os_errno_();
    char bytes[128], byte; /* gcc copies a byte without a call */
    static const char zeros[128] = "";
    if (recorder_signal_bound_)
        return;
    recorder_signal_bound_ = true;
    __builtin_memset(bytes, 0, one);
    recorder_signal_memcpy_(bytes, zeros, one);
    byte = bytes[0];
    __asm__ volatile("" : : "r"(bytes) : "memory");
    recorder_memory_open_(&memory);
    if (recorder_memory_pipe_open_(&memory) &&
        recorder_os_write_(memory.fds[1], &byte, 1) == 1)
        (void)!recorder_os_read_(memory.fds[0], &byte, 1);
    recorder_memory_close_(&memory);
    recorder_clock_ns_(RECORDER_MONOTONIC_);
    recorder_os_hold_signals_(&held);
    recorder_os_release_signals_(&held);
    (void)!recorder_os_trusted_();
    recorder_os_poll_(NULL, 0, 0);
    if (recorder_os_mark_(recorder_guarded_.mark) == 0 && RECORDER_OS_JUMPS_)
        recorder_os_jump_(recorder_guarded_.mark, 1);
    recorder_os_unmap_(recorder_os_memory_(1), 1);
    *recorder_os_errno_() = error;
}

RECORDER_ANY_ bool recorder_dump_on_signal(int sig)
{
    const unsigned kept = RECORDER_SA_NODEFER_ | RECORDER_SA_RESTART_ |
                          RECORDER_SA_NOCLDSTOP_ | RECORDER_SA_NOCLDWAIT_;
    struct recorder_action_ action, before;
    if (!recorder_os_trusted_() || sig < 1 || sig >= RECORDER_SIGNALS_ ||
        sig == RECORDER_SIGKILL_ || sig == RECORDER_SIGSTOP_ ||
        sig == RECORDER_SIGTSTP_ || sig == RECORDER_SIGTTIN_ ||
        sig == RECORDER_SIGTTOU_)
        return false;
    recorder_alt_stack();
    if (recorder_os_action_(sig, NULL, &before) != 0 ||
        (uintptr_t)before.handler == 1 /* SIG_IGN */)
        return false;
    if (recorder_home_.registry->taken[sig] && recorder_is_handler_(&before))
        return true; /* our handler, or a later one that may call it */
    recorder_signal_bind_();
    recorder_before_[sig] = before;
    recorder_home_.registry->taken[sig] = 1;
    action = before;
    action.handler = recorder_signal_handler_;
    action.flags = RECORDER_SA_SIGINFO_ | RECORDER_SA_ONSTACK_ |
                   (before.flags & kept) |
                   (recorder_is_handler_(&before) ? 0 : RECORDER_SA_RESTART_);
    return recorder_os_action_(sig, &action, NULL) == 0;
}

RECORDER_ANY_ void recorder_dump_on_common_signals(unsigned add,
                                                   unsigned remove)
{
    const unsigned crashes = 1u << RECORDER_SIGQUIT_ | 1u << RECORDER_SIGILL_ |
                             1u << RECORDER_SIGTRAP_ | 1u << RECORDER_SIGABRT_ |
                             1u << RECORDER_SIGBUS_ | 1u << RECORDER_SIGFPE_ |
                             1u << RECORDER_SIGSEGV_ | 1u << RECORDER_SIGSYS_ |
                             1u << RECORDER_SIGXCPU_ | 1u << RECORDER_SIGXFSZ_;
    const unsigned asked = 1u << RECORDER_SIGUSR1_ | 1u << RECORDER_SIGUSR2_;
    int sig;
    for (sig = 1; sig < 32; sig++) {
        struct recorder_action_ before;
        unsigned bit = 1u << sig;
        if (remove & bit || !((add | crashes | asked) & bit))
            continue;
        if (!((add | crashes) & bit) &&
            (recorder_os_action_(sig, NULL, &before) != 0 ||
             recorder_is_handler_(&before)))
            continue;
        recorder_dump_on_signal(sig);
    }
}

/* Restores the program's actions: the code of our handler goes with the
 * library. Other modules, and the program, make no system call at their end: a
 * seccomp filter may forbid it. */
RECORDER_AT_CLOSE_(102) recorder_signal_leave_(void)
{
    struct recorder_action_ now;
    int sig;
    if (!recorder_signal_bound_ || recorder_is_in_program_())
        return;
    for (sig = 1; sig < RECORDER_SIGNALS_; sig++)
        if (recorder_home_.registry->taken[sig] &&
            recorder_os_action_(sig, NULL, &now) == 0 &&
            now.handler == recorder_signal_handler_) {
            recorder_os_action_(sig, &recorder_before_[sig], NULL);
            recorder_home_.registry->taken[sig] = 0;
        }
}

RECORDER_C_END_
#endif
