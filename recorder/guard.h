/* guard.h - lets a dump read memory that a crash has overwritten. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_GUARD_H_
#define RECORDER_GUARD_H_

#include "os.h"

RECORDER_C_BEGIN_

/* ----------------------------------------------------------------- guard --
 *
 * A crash may have overwritten the memory that its dump reads. While a dump
 * runs, our handler is set for faults: the handler jumps out of the dump, and
 * the program dies of its first signal. A fault of another thread waits until
 * the dump has ended; the instruction is then executed again, and faults with
 * the action that was set before. Loops are bounded by events.h: no timer is
 * needed, whose signal a program may use itself.
 *
 * One thread dumps at a time. A child of vfork() or clone() may have our action
 * without the dump, so the handler, too, puts the actions back.
 */
enum { RECORDER_FAULTS_ = 4 };
RECORDER_INLINE_ int recorder_guard_signal_(unsigned i)
{
    static const unsigned char faults[RECORDER_FAULTS_] = {
        RECORDER_SIGSEGV_, RECORDER_SIGBUS_, RECORDER_SIGILL_,
        RECORDER_SIGFPE_};
    return faults[i];
}
struct recorder_guarded_ {
    uintptr_t mark[RECORDER_MARK_BYTES_ / sizeof(uintptr_t)]
        __attribute__((aligned(16))); /* a fault jumps here */
    struct recorder_action_ before[RECORDER_FAULTS_];
    uintptr_t frame; /* of the function that set the mark */
    int sent;        /* a fault's signal that kill() sent during the dump; 0:
                      * none */
    int sent_info[32]; /* its siginfo_t */
    int32_t thread;  /* that dumps; 0: none */
};
RECORDER_PROGRAM_ struct recorder_guarded_ recorder_guarded_;

RECORDER_INLINE_ int32_t recorder_guard_thread_(void)
{
    return __atomic_load_n(&recorder_guarded_.thread, __ATOMIC_ACQUIRE);
}
RECORDER_SELDOM_ bool recorder_guard_is_free_(int32_t thread)
{
    return thread == 0 ||
           recorder_os_thread_ended_(recorder_os_process_(), thread);
}

RECORDER_PROTOTYPE_ void recorder_guard_fault_(int sig, void *info,
                                               void *context);

/* Puts the actions back that are still ours. */
RECORDER_SELDOM_ void recorder_guard_restore_(void)
{
    unsigned i;
    for (i = 0; i < RECORDER_FAULTS_; i++) {
        struct recorder_action_ now;
        if (recorder_os_action_(recorder_guard_signal_(i), NULL, &now) == 0 &&
            now.handler == recorder_guard_fault_)
            recorder_os_action_(recorder_guard_signal_(i),
                                &recorder_guarded_.before[i], NULL);
    }
}

/* The handler of faults. A signal sent by kill() waits for the dump's end. If the dump
 * was deeper than its signal stack, the kernel has begun that stack again, over
 * the frame of the mark: then the program dies of this fault. */
RECORDER_SELDOM_ void recorder_guard_fault_(int sig, void *info, void *context)
{
    unsigned tries;
    (void)context;
    if (recorder_guard_thread_() == recorder_os_thread_()) {
        if (((const int *)info)[2] <= 0) { /* si_code */
            recorder_guarded_.sent = sig;
            __builtin_memcpy(recorder_guarded_.sent_info, info,
                             sizeof recorder_guarded_.sent_info);
            return;
        }
        if ((uintptr_t)__builtin_frame_address(0) < recorder_guarded_.frame)
            recorder_os_jump_(recorder_guarded_.mark, 1);
        recorder_guard_restore_();
        return;
    }
    if (((const int *)info)[2] <= 0)
        recorder_os_requeue_signal_(sig, info);
    for (tries = 0; tries < 1000 &&
                    !recorder_guard_is_free_(recorder_guard_thread_());
         tries++)
        recorder_os_poll_(NULL, 0, 10);
    recorder_guard_restore_();
}

/* Sets our handler for the calling thread's dump. Returns false where that
 * cannot be: then a fault ends the program. */
RECORDER_SELDOM_ bool recorder_guard_begin_(void)
{
    struct recorder_guarded_ *g = &recorder_guarded_;
    struct recorder_action_ action, before;
    int32_t other = recorder_guard_thread_();
    unsigned i;
    if (!RECORDER_OS_JUMPS_ || !recorder_guard_is_free_(other) ||
        !__atomic_compare_exchange_n(&g->thread, &other, recorder_os_thread_(),
                                     false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    __builtin_memset(&action, 0, sizeof action);
    action.handler = recorder_guard_fault_;
    action.flags = RECORDER_SA_SIGINFO_ | RECORDER_SA_ONSTACK_;
    for (i = 0; i < RECORDER_FAULTS_; i++)
        if (recorder_os_action_(recorder_guard_signal_(i), &action, &before) ==
                0 &&
            before.handler != recorder_guard_fault_) /* a dead thread's */
            g->before[i] = before;
    return true;
}
/* Ends it. A signal that was sent during the dump counts if the program
 * continues. */
RECORDER_SELDOM_ void recorder_guard_end_(bool goes_on)
{
    int sent = recorder_guarded_.sent;
    recorder_guarded_.sent = 0;
    recorder_guard_restore_();
    if (sent && goes_on)
        recorder_os_requeue_signal_(sent, recorder_guarded_.sent_info);
    __atomic_store_n(&recorder_guarded_.thread, 0, __ATOMIC_RELEASE);
}

RECORDER_C_END_
#endif
