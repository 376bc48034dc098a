/* recorder_switch.h - the scheduler's actions, as records among the others */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_dump.h"
    #include "recorder_switch.h"

    RECORDER(switches, 512, "Which task ran, and which interrupt");

    int main(void)                          // as a scheduler would call them
    {
        recorder_switch_in(1, "sensor");
        recorder_switch_enter(15, "tick", 0);
        recorder_switch_ready(2, "encoder", 1);
        recorder_switch_exit(15, "tick");
        recorder_switch(2, "encoder", 1, RECORDER_PREEMPTED);
        recorder_dump();                    // from outside: recorder sched
    }

The folder hooks/ has the lines to add to known schedulers.

PROMISES (each names the test that keeps it)
    ordinary    a switch is an ordinary record of the recorder `switches`: all
                that reads records reads it, in one order with the rest
                -> tests/inside/switch.c
    words       its words are in the order of recorder/switch.h, whatever its text
                shows, and readers find each word by the heading
                -> tests/inside/switch.c
    one_shot    with RECORDER_SWITCH_ONCE the first records stay, and none of
                them is overwritten -> tests/inside/switch.c
    counted     of a scheduler with nested interrupts, `recorder sched` shows
                the scheduler's counts, each time and each number
                -> tests/ports/bare-switches.sh tests/outside/hooks.c
    cheap       a switch costs as much as a record, and at most 5 instructions
                where it is turned off -> tests/ports/bare.sh
    nothing     a part that a program does not use costs no byte; with
                RECORDER_OFF no part does -> tests/outside/hooks.c

LIMITS
    * A name is kept as an address: a switch copies no text.
    * A one-shot recorder has one lane; it stops RECORDER_SWITCH_SPARE records
      before its end, or at half of it where it has fewer than twice as many:
      as many nested interrupts may have looked before the first of them
      turned it off. On 32-bit machines its last shot ends at 2^32 records.
    * recorder_switch_off() notes when it was called, for one processor each of
      RECORDER_CPU() 0 to 2 (with 64 bytes of RECORDER_CACHE_LINE to 14, where a
      word has 8 bytes to 6). Beyond, the time is unknown, and recorded as 0.

CONTENTS
    switches    the records of schedulers, interrupts and their masks
    settings    macros that a port may define before it includes this header
*/
#ifndef RECORDER_SWITCH_H
#define RECORDER_SWITCH_H

#include "recorder.h"

/* ------------------------------------------------------------ switches --
 *
 * The program defines RECORDER(switches, size) and, for interrupts off and on,
 * RECORDER(interrupts, size). A task has an id, which is a number or a pointer
 * (its control block), and a name, a string or null. RECORDER_TRACE(switches)
 * is 0: on, -1: off, from the program, a debugger, or `recorder set`.
 *
 * recorder_switch(id, name, from, why)   the task runs from now on, and `from`,
 *                                        the id of another, does not: why is
 *                                        RECORDER_BLOCKED, RECORDER_PREEMPTED
 *                                        or RECORDER_ENDED
 * recorder_switch_in(id, name)           the task runs; other calls name its
 * recorder_switch_in(id, name, how)      predecessor; how is 's' where it
 *                                        had called the scheduler, 'a' where it
 *                                        had been interrupted, 'i' where an
 *                                        interrupt returns to it
 * recorder_switch_out(id, name, why)     the task does not run any more
 * recorder_switch_ready(id, name)        the task may run
 * recorder_switch_ready(id, name, by)    ... and the id of the cause
 * recorder_switch_sleep()                this processor waits for an interrupt
 * recorder_switch_wake()                 this processor continues
 * recorder_switch_enter(vector, name, pc)
 *                                        an interrupt begins, at this address
 *                                        of the interrupted code. They nest
 * recorder_switch_exit(vector, name)     an interrupt ends
 *
 * recorder_switch_off(was)               interrupts have been masked; `was` is
 *                                        true if they had been so before
 * recorder_switch_on(was)                they are about to be as they were
 *
 * recorder_switch_start()                on; a one-shot recorder begins another
 *                                        shot
 */
#define RECORDER_BLOCKED 'b'   /* it waits for something */
#define RECORDER_PREEMPTED 'p' /* it would run, but another does */
#define RECORDER_ENDED 'e'     /* it will never run again */

#define recorder_switch(id, name, from, why)                                   \
    RECORDER_SWITCH_(                                                          \
        recorder_switch_why_(                                                  \
            why,                                                               \
            RECORDER_FORMAT_("\1switch b\2"                                    \
                             "%s (%p) runs on cpu %hhu; %p blocks"),           \
            RECORDER_FORMAT_("\1switch p\2"                                    \
                             "%s (%p) runs on cpu %hhu; %p is preempted"),     \
            RECORDER_FORMAT_("\1switch e\2"                                    \
                             "%s (%p) runs on cpu %hhu; %p has ended")),       \
        id, name, RECORDER_SWITCH_WHERE_(id), from)
#define recorder_switch_in(id, ...)                                            \
    RECORDER_SWITCH_(                                                          \
        recorder_switch_how_(                                                  \
            RECORDER_SECOND_(__VA_ARGS__, 0, 0),                               \
            RECORDER_FORMAT_("\1in\2%s (%p) runs on cpu %hhu"),                \
            RECORDER_FORMAT_("\1in s\2%s (%p) runs on cpu %hhu"),              \
            RECORDER_FORMAT_("\1in a\2%s (%p) runs on cpu %hhu"),              \
            RECORDER_FORMAT_("\1in i\2%s (%p) runs on cpu %hhu")),             \
        id, RECORDER_FIRST_(__VA_ARGS__, 0), RECORDER_SWITCH_WHERE_(id), 0)
#define recorder_switch_out(id, name, why)                                     \
    RECORDER_SWITCH_(                                                          \
        recorder_switch_why_(                                                  \
            why, RECORDER_FORMAT_("\1out b\2%s (%p) leaves cpu %hhu: blocks"), \
            RECORDER_FORMAT_("\1out p\2%s (%p) leaves cpu %hhu: preempted"),   \
            RECORDER_FORMAT_("\1out e\2%s (%p) leaves cpu %hhu: ended")),      \
        id, name, RECORDER_SWITCH_WHERE_(id), 0)
#define recorder_switch_ready(id, ...)                                         \
    RECORDER_SWITCH_(                                                          \
        RECORDER_FORMAT_("\1ready\2%s (%p) is ready: on cpu %hhu, by %p"), id, \
        RECORDER_FIRST_(__VA_ARGS__, 0), RECORDER_SWITCH_WHERE_(id),           \
        RECORDER_SECOND_(__VA_ARGS__, 0, 0))
#define recorder_switch_sleep()                                                \
    RECORDER_SWITCH_(                                                          \
        RECORDER_FORMAT_("\1sleep\2%.0s%.0scpu %hhu waits for an interrupt"),  \
        0, 0, RECORDER_SWITCH_HERE_, 0)
#define recorder_switch_wake()                                                 \
    RECORDER_SWITCH_(RECORDER_FORMAT_("\1wake\2%.0s%.0scpu %hhu wakes up"), 0, \
                     0, RECORDER_SWITCH_HERE_, 0)
#define recorder_switch_enter(vector, name, pc)                                \
    RECORDER_SWITCH_(RECORDER_FORMAT_("\1enter\2> %s"), vector, name,          \
                     RECORDER_SWITCH_HERE_, pc)
#define recorder_switch_exit(vector, name)                                     \
    RECORDER_SWITCH_(RECORDER_FORMAT_("\1exit\2< %s"), vector, name,           \
                     RECORDER_SWITCH_HERE_, 0)
#define recorder_switch_off(was)                                               \
    recorder_switch_off_(                                                      \
        &recorder_for_interrupts, (was) != 0, RECORDER_CPU(),                  \
        RECORDER_FORMAT_("\1off\2%.0s%.0scpu %hhu: interrupts off"),           \
        RECORDER_FORMAT_("\1off +\2%.0s%.0scpu %hhu: interrupts off, again"))
#define recorder_switch_on(was)                                                \
    recorder_switch_on_(                                                       \
        &recorder_for_interrupts, (was) != 0, RECORDER_CPU(),                  \
        RECORDER_FORMAT_(                                                      \
            "\1on\2%.0s%.0scpu %hhu: interrupts on, off for %lu ticks"),       \
        RECORDER_FORMAT_("\1on +\2%.0s%.0scpu %hhu: interrupts stay off"))
#define recorder_switch_start() recorder_switch_start_(&recorder_for_switches)

/* ------------------------------------------------------------ settings --
 *
 * RECORDER_SWITCH_ONCE       if defined, `switches` turns itself off when it is
 *                            full; else the newest records stay
 * RECORDER_SWITCH_SPARE      see LIMITS
 * RECORDER_SWITCH_OFF_LIMIT  in ticks of RECORDER_TIME(): only where interrupts
 *                            were off for longer, recorder_switch_on() records
 *                            it. 0: it and recorder_switch_off() record each.
 *                            Without it 100 us, 0 without RECORDER_TIME_HZ
 * RECORDER_CPU()             number of the processor, 0 (the default) to 255
 * RECORDER_SWITCH_NUMBER(id) RECORDER_THREAD() while that task runs, or
 *                            0: readers take the two for the same
 */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls" /* recorder_kernel.h */
RECORDER_DECLARE(switches);
RECORDER_DECLARE(interrupts);
#pragma GCC diagnostic pop

RECORDER_QUIET_
#include "recorder/switch.h"
RECORDER_LOUD_

#endif
