/* recorder_functions.h - the last calls of each thread, of all functions */
/* SPDX-License-Identifier: MIT */
/*
    // in one file of a program that gcc or clang compiles with
    // -finstrument-functions
    #include "recorder_dump.h"
    #include "recorder_functions.h"

    $ recorder functions 4711               // or a recording, or a core file

PROMISES (each names the test that keeps it)
    whole       no reader sees a part of a call, or a call that was not made,
                whatever signal handlers interrupt, and after SIGKILL
                -> tests/inside/packed.c tests/outside/functions.c
    nested      the calls of a thread nest as they did: longjmp(), exceptions,
                cancelled threads, signal handlers and fork() cross none of them
                -> tests/inside/masked.c tests/outside/functions.c
    unharmed    a call takes no lock, no memory and no system call (a thread's
                first call excepted) and leaves errno alone
                -> tests/inside/packed.c
    cheap       a call and its return take at most 0.35 of uftrace's time
                -> bench/command.sh

LIMITS
    * One file of a program, and none of its libraries, includes this header.
      Libraries that are compiled with the flag call the hooks of the program.
    * A function that the compiler inlined is recorded as a call. A function
      without code, or of a file without the flag, is not.
    * A thread without a lane (see RECORDER_FUNCTIONS_LANES) takes a slot for
      each call: so do ports without RECORDER_FUNCTIONS_ENTER().
    * The hooks order calls of one thread exactly. A record and a call that have
      the same time, on a machine whose clock is slower than a call, are shown
      call first.
    * A frame that longjmp(), an exception under clang, or exit() left is found
      by the stack pointer, at the thread's next call. So is a frame on a signal
      stack that is less than 1 MB above the interrupted frame. Coroutines need
      recorder_task_switch() (recorder_tasks.h), or calls of one are cut where
      another continues.
    * Functions that a port's macros call are left out of the flag, or a hook
      calls itself: -finstrument-functions-exclude-function-list=port_.
    * siglongjmp() out of a handler that interrupted a hook costs one slot.
    * Triggers do not see calls, and RECORDER_TRACE(functions) above 0 prints
      none. -1 turns calls off, as `recorder set PID functions=off` does.
    * recorder_dump() shows a slot as its words; the command has the names.

CONTENTS
    settings    how many calls are kept
    hooks       the functions that the compiler calls
*/
#ifndef RECORDER_FUNCTIONS_H
#define RECORDER_FUNCTIONS_H

#include "recorder.h"

/* ------------------------------------------------------------ settings --
 *
 * RECORDER_FUNCTIONS_SIZE   slots of a lane: each keeps 4 calls or returns, 2
 *                           where a word has 32 bits. Default 4096; ports: 64
 * RECORDER_FUNCTIONS_LANES  lanes: see RECORDER_LANES. Default 32, of which a
 *                           lane that no thread uses takes no memory; ports: 1
 * RECORDER_FUNCTIONS_ENTER(), RECORDER_FUNCTIONS_LEAVE(was)  of ports with
 *                           RECORDER_ONE_PROCESSOR: mask all handlers with hooks.
 *                           Default: RECORDER_ENTER(), if there is one
 */
#ifndef RECORDER_FUNCTIONS_SIZE
#define RECORDER_FUNCTIONS_SIZE RECORDER_HOSTED_OR_(4096, 64)
#endif
#ifndef RECORDER_FUNCTIONS_LANES
#define RECORDER_FUNCTIONS_LANES RECORDER_HOSTED_OR_(32, 1)
#endif
#if defined(RECORDER_ENTER) && !defined(RECORDER_FUNCTIONS_ENTER)
#define RECORDER_FUNCTIONS_ENTER() RECORDER_ENTER()
#define RECORDER_FUNCTIONS_LEAVE(was) RECORDER_LEAVE(was)
#endif

/* --------------------------------------------------------------- hooks -- */

RECORDER_QUIET_
#include "recorder/functions.h"

RECORDER_LANES(functions, RECORDER_FUNCTIONS_SIZE, RECORDER_FUNCTIONS_LANES,
               "Calls of functions")
RECORDER_ASSERT_(RECORDER_FUNCTIONS_SIZE >= 4, "RECORDER_FUNCTIONS_SIZE");

RECORDER_C_BEGIN_
void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);
RECORDER_UNSEEN_ void __cyg_profile_func_enter(void *function, void *from)
{
    (void)from;
    RECORDER_FUNCTIONS_NOTE_(functions, function, 0);
}
RECORDER_UNSEEN_ void __cyg_profile_func_exit(void *function, void *from)
{
    (void)from;
    RECORDER_FUNCTIONS_NOTE_(functions, function, RECORDER_CALL_RETURNS_);
}
RECORDER_C_END_
RECORDER_LOUD_

#endif
