/* os_windows_signal.h - signals and exceptions of Windows, for os_windows.h. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_WINDOWS_SIGNAL_H_
#define RECORDER_OS_WINDOWS_SIGNAL_H_

#include "os_windows.h"

RECORDER_C_BEGIN_
RECORDER_STUBS_

extern int recorder_win_guarantee_(unsigned *bytes)
    RECORDER_LABEL_(SetThreadStackGuarantee);
struct recorder_exception_;
typedef int recorder_filter_(struct recorder_exception_ *);
extern recorder_filter_ *recorder_win_filter_(recorder_filter_ *filter)
    RECORDER_LABEL_(SetUnhandledExceptionFilter);
extern void *recorder_win_vector_(unsigned first, recorder_filter_ *handler)
    RECORDER_LABEL_(AddVectoredExceptionHandler);
struct recorder_win_pages_ {
    void *at, *first;
    uint32_t was, partition; /* protection at first */
    size_t bytes;
    uint32_t state, protection, type;
};
extern size_t recorder_win_query_(const void *at,
                                  struct recorder_win_pages_ *to, size_t bytes)
    RECORDER_LABEL_(VirtualQuery);
extern int recorder_win_module_at_(unsigned flags, const void *address,
                                   void **module)
    RECORDER_LABEL_(GetModuleHandleExA);

/* The C library's numbers, and for the others numbers that it does not use. */
enum {
    RECORDER_SIGQUIT_ = 3,
    RECORDER_SIGILL_ = 4,
    RECORDER_SIGTRAP_ = 5,
    RECORDER_SIGBUS_ = 7,
    RECORDER_SIGFPE_ = 8,
    RECORDER_SIGKILL_ = 9,
    RECORDER_SIGUSR1_ = 10,
    RECORDER_SIGSEGV_ = 11,
    RECORDER_SIGUSR2_ = 12,
    RECORDER_SIGPIPE_ = 13,
    RECORDER_SIGTERM_ = 15,
    RECORDER_SIGCHLD_ = 17,
    RECORDER_SIGCONT_ = 18,
    RECORDER_SIGSTOP_ = 19,
    RECORDER_SIGTSTP_ = 20,
    RECORDER_SIGBREAK_ = 21,
    RECORDER_SIGABRT_ = 22,
    RECORDER_SIGURG_ = 23,
    RECORDER_SIGXCPU_ = 24,
    RECORDER_SIGXFSZ_ = 25,
    RECORDER_SIGWINCH_ = 28,
    RECORDER_SIGTTIN_ = 29,
    RECORDER_SIGTTOU_ = 30,
    RECORDER_SIGSYS_ = 31,
    RECORDER_SIG_BLOCK_ = 0,
    RECORDER_SIG_SETMASK_ = 2
};
#define RECORDER_SA_SIGINFO_ 4u
#define RECORDER_SA_RESTART_ 0u
#define RECORDER_SA_NODEFER_ 0u
#define RECORDER_SA_RESETHAND_ 0u
#define RECORDER_SA_NOCLDSTOP_ 0u
#define RECORDER_SA_NOCLDWAIT_ 0u
#define RECORDER_SA_ONSTACK_ 0u
enum { RECORDER_SS_DISABLE_ = 2 };

struct recorder_signal_set_ {
    char none;
};
struct recorder_action_ {
    void (*handler)(int sig, void *info, void *context);
    struct recorder_signal_set_ mask;
    unsigned flags;
};
struct recorder_stack_of_signals_ {
    void *base;
    int flags;
    size_t bytes;
};
struct recorder_held_ {
    unsigned last_error;
    int error;
};
extern void (*recorder_win_signal_(int sig, void (*handler)(int)))(int)
    RECORDER_LABEL_(signal);
extern int recorder_win_raise_(int sig) RECORDER_LABEL_(raise);

/* The handlers of exceptions, by their signal. */
RECORDER_PROGRAM_ void (*recorder_win_handlers_[32])(int sig, void *info,
                                                     void *context) = {0};
/* The filter that was the last before ours, and one that took our place. */
RECORDER_PROGRAM_ recorder_filter_ *recorder_win_before_ = 0;
RECORDER_PROGRAM_ recorder_filter_ *recorder_win_later_ = 0;
RECORDER_PROGRAM_ void *recorder_win_vectored_ = 0;

RECORDER_INLINE_ bool recorder_win_is_exception_(int sig)
{
    return sig == RECORDER_SIGSEGV_ || sig == RECORDER_SIGILL_ ||
           sig == RECORDER_SIGFPE_ || sig == RECORDER_SIGTRAP_;
}
/* The exception's record, its code first, and the registers. */
struct recorder_exception_ {
    const uint32_t *code;
    void *context;
};
RECORDER_SELDOM_ int recorder_win_signal_of_(uint32_t code)
{
    switch (code) {
    case 0xc0000005u: /* access violation */
    case 0xc00000fdu: /* stack overflow */
    case 0xc0000006u: /* a mapped file's page cannot be read */
    case 0x80000001u: /* guard page */
    case 0xc000008cu: /* array bounds */
    case 0x80000002u: return RECORDER_SIGSEGV_; /* misaligned */
    case 0xc000001du:                           /* illegal instruction */
    case 0xc0000096u: return RECORDER_SIGILL_;  /* privileged */
    case 0x80000003u: return RECORDER_SIGTRAP_;
    default: /* divisions and floating point */
        return code >= 0xc000008du && code <= 0xc0000095u ? RECORDER_SIGFPE_
                                                          : 0;
    }
}
/* A stack for the handler of a full one: wine leaves it 8 KiB, regardless of
 * SetThreadStackGuarantee(). One thread takes it. */
enum { RECORDER_WIN_STACK_ = 131072 };
RECORDER_PROGRAM_ char *recorder_win_stack_ = 0;
RECORDER_SELDOM_ void recorder_win_handle_exception_(int sig, const void *info,
                                                     void *context, bool full)
{
    void (*handler)(int, void *, void *) = recorder_win_handlers_[sig];
#ifdef __x86_64__
    if (full) {
        char *stack = __atomic_exchange_n(&recorder_win_stack_, (char *)0,
                                          __ATOMIC_ACQUIRE);
        uint64_t first = (uint64_t)sig;
        const void *second = info;
        register void *third __asm__("r8") = context;
        if (stack)
            __asm__ volatile(
                "movq %%rsp, %%rbx\n\tmovq %[top], %%rsp\n\t"
                "call *%[handler]\n\tmovq %%rbx, %%rsp"
                : "+c"(first), "+d"(second), "+r"(third)
                : [top] "r"(stack + RECORDER_WIN_STACK_ - 64), [handler] "r"(
                                                                   handler)
                : "rax", "rbx", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
                  "xmm3", "xmm4", "xmm5", "memory", "cc");
        return;
    }
#endif
    handler(sig, (void *)(uintptr_t)info, context);
}
/* Passes an exception on to another filter, unless its code was unloaded. */
RECORDER_SELDOM_ int recorder_win_pass_on_(recorder_filter_ *filter,
                                           struct recorder_exception_ *e)
{
    struct recorder_win_pages_ pages;
    bool is_code = recorder_win_query_((const void *)(uintptr_t)filter, &pages,
                                       sizeof pages) &&
                   pages.state == 0x1000 /* MEM_COMMIT */ &&
                   pages.protection & 0xf0;
    return is_code ? filter(e) : 0; /* EXCEPTION_CONTINUE_SEARCH */
}
/* Runs when no handler of the program took an exception. A later filter is
 * called once: it may call us, as the one that was before it. */
RECORDER_SELDOM_ int recorder_win_on_exception_(struct recorder_exception_ *e)
{
    int sig = recorder_win_signal_of_(*e->code), result;
    recorder_filter_ *later;
    if (sig && recorder_win_handlers_[sig])
        recorder_win_handle_exception_(sig, e->code, e->context,
                                       *e->code == 0xc00000fdu);
    later = __atomic_exchange_n(&recorder_win_later_, (recorder_filter_ *)0,
                                __ATOMIC_RELAXED);
    result = recorder_win_pass_on_(later ? later : recorder_win_before_, e);
    if (later)
        __atomic_store_n(&recorder_win_later_, later, __ATOMIC_RELAXED);
    return result;
}
/* Runs at each exception, before the program may handle it, so it dumps nothing
 * but a corrupted heap, of which filters never hear. Makes ours the last filter
 * again if another took its place. */
RECORDER_SELDOM_ int recorder_win_first_(struct recorder_exception_ *e)
{
    int sig = recorder_win_signal_of_(*e->code);
    unsigned error;
    recorder_filter_ *later;
    if (*e->code == 0xc0000374u && recorder_win_handlers_[RECORDER_SIGABRT_])
        recorder_win_handlers_[RECORDER_SIGABRT_](
            RECORDER_SIGABRT_, (void *)(uintptr_t)e->code, e->context);
    if (!sig || !recorder_win_handlers_[sig])
        return 0;
    error = recorder_win_last_error_();
    later = recorder_win_filter_(recorder_win_on_exception_);
    recorder_win_set_error_(error);
    if (later != recorder_win_on_exception_)
        __atomic_store_n(&recorder_win_later_, later, __ATOMIC_RELAXED);
    return 0; /* EXCEPTION_CONTINUE_SEARCH */
}
/* Our code stays: Windows would call it when its DLL was unloaded, too. */
RECORDER_SELDOM_ void recorder_win_filter_set_(void)
{
    void *module;
    recorder_filter_ *before = recorder_win_filter_(recorder_win_on_exception_);
    if (before != recorder_win_on_exception_)
        *(recorder_win_vectored_ ? &recorder_win_later_
                                 : &recorder_win_before_) = before;
    if (!recorder_win_vectored_) {
        recorder_win_module_at_(
            5 /* pin, by address */,
            (const void *)(uintptr_t)recorder_win_on_exception_, &module);
        recorder_win_vectored_ =
            recorder_win_vector_(0 /* after others */, recorder_win_first_);
    }
}
/* Runs when the C library raises a signal, which it has set to SIG_DFL. */
RECORDER_SELDOM_ void recorder_win_on_signal_(int sig)
{
    void (*handler)(int, void *, void *) = recorder_win_handlers_[sig & 31];
    recorder_win_signal_(sig, recorder_win_on_signal_);
    if (handler)
        handler(sig, NULL, NULL);
}

/* sigaction() is ours for exceptions, the C library's for signals. */
RECORDER_SELDOM_ int recorder_os_action_(int sig,
                                         const struct recorder_action_ *action,
                                         struct recorder_action_ *old)
{
    bool exception = recorder_win_is_exception_(sig), ours = exception;
    void (*now)(int) = NULL;
    void (*set)(int, void *, void *) = action ? action->handler : NULL;
    if (sig < 1 || sig > 31)
        return -1;
    if (!exception && sig != RECORDER_SIGABRT_ && sig != RECORDER_SIGTERM_ &&
        sig != RECORDER_SIGBREAK_ && sig != 2) {
        *recorder_os_errno_() = 22; /* EINVAL */
        return -1;
    }
    if (!exception) {
        now = recorder_win_signal_(sig, NULL);
        if ((intptr_t)now == -1)
            return -1;
        ours = now == recorder_win_on_signal_;
        if (!action || action->flags & RECORDER_SA_SIGINFO_)
            recorder_win_signal_(sig,
                                 action && set ? recorder_win_on_signal_ : now);
        else
            recorder_win_signal_(sig, (void (*)(int))(uintptr_t)set);
    }
    if (old) {
        __builtin_memset(old, 0, sizeof *old);
        old->handler = ours ? recorder_win_handlers_[sig]
                            : (void (*)(int, void *, void *))(uintptr_t)now;
        old->flags = ours ? RECORDER_SA_SIGINFO_ : 0;
    }
    if (!action)
        return 0;
    recorder_win_handlers_[sig] = set;
    if (set && sig == RECORDER_SIGSEGV_ && !recorder_win_stack_)
        recorder_win_stack_ = (char *)recorder_os_memory_(RECORDER_WIN_STACK_);
    if (set && exception)
        recorder_win_filter_set_();
    return 0;
}

/* There is no other stack; Windows keeps some of it for the handler of a full
 * one. */
RECORDER_SELDOM_ int
recorder_os_stack_(const struct recorder_stack_of_signals_ *stack,
                   struct recorder_stack_of_signals_ *old)
{
    unsigned bytes = 65536;
    if (old)
        old->flags = 0; /* the thread has one */
    return recorder_win_guarantee_(&bytes) ? 0 : -1;
}
RECORDER_STUB_(int, recorder_os_mask_,
               (int how, const struct recorder_signal_set_ *set,
                struct recorder_signal_set_ *old), return 0;)
RECORDER_INLINE_ void recorder_os_block_(struct recorder_signal_set_ *before)
{
    before->none = 0;
}
RECORDER_STUB_(void, recorder_os_unblock_faults_, (void), return;)
enum { RECORDER_OS_JUMPS_ = 0, RECORDER_MARK_BYTES_ = 16 };
RECORDER_STUB_(int, recorder_os_mark_, (const void *at), return 0;)
RECORDER_STUB_(void, recorder_os_jump_, (const void *at, int value), return;)
RECORDER_STUB_(bool, recorder_os_ignores_, (int sig), return false;)
/* A repeated exception ends the process, and so does abort(). */
RECORDER_SELDOM_ void recorder_os_requeue_signal_(int sig, void *info)
{
    if (!recorder_win_is_exception_(sig) && sig != RECORDER_SIGABRT_)
        recorder_win_raise_(sig);
}
RECORDER_INLINE_ bool recorder_os_fault_again_(int sig, const void *info,
                                               void *context)
{
    return recorder_win_is_exception_(sig);
}
RECORDER_INLINE_ void recorder_os_hold_signals_(struct recorder_held_ *held)
{
    held->last_error = recorder_win_last_error_();
    held->error = *recorder_os_errno_();
}
RECORDER_INLINE_ void recorder_os_release_signals_(struct recorder_held_ *held)
{
    *recorder_os_errno_() = held->error;
    recorder_win_set_error_(held->last_error);
}

RECORDER_STUBS_END_
RECORDER_C_END_
#endif
