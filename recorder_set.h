/* recorder_set.h - sets what recorders do while the program runs, by name. */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_set.h"               // brings recorder_dump.h

    RECORDER_TWEAK_DEFINE(net_retries, 3, "How often to try again");
    ...
    for (i = 0; i < RECORDER_TWEAK(net_retries); i++)

    RECORDER_TRACES='net.*:-net_rx:net_retries=5' ./program

PROMISES
    * recorder_trace_set() takes no memory and no lock: it may be called
      wherever record() may.
    * A specification that is wrong in one item does what the others say.
    * Nothing is added to the path of a record.

LIMITS
    * A regular expression and a path end at ':' and ' '.
    * Libraries that are opened later are not seen by RECORDER_TRACES: call
      recorder_trace_set() again.
    * The functions of conversions of your own run inside of dumps and traces,
      that of a crash included: they must be as careful as a signal handler, and
      look only at the word unless they are told that it is a trace.

CONTENTS
    interface   recorder_trace_set, tweaks (their macros are in recorder.h)
    conversions of the program's own
    text        what the commands print
    value       numbers
    commands    help, traces, dump, output
    set         the specification
*/
#ifndef RECORDER_SET_H
#define RECORDER_SET_H

#include "recorder_dump.h"

/* ------------------------------------------------------------- interface --
 *
 * int recorder_trace_set(const char *specification)
 *     Does what each item says; items are separated by ':' or ' '. A name is an
 *     extended regular expression for whole names, of recorders or else of
 *     tweaks, case-insensitive; `all` is `.*`.
 *
 *         name        sets it to 1: print what is recorded
 *         -name       to 0: record only
 *         /name       to -1: off
 *         name=12     to a number: decimal, 0x, octal, negative
 *         name=a,b    to 0, and a warning: recorder 1.x exported arguments
 *                     under these names; now `recorder view --value` shows
 *                     them from what is recorded
 *
 *     What is no name, and what follows '@', is a command: help or list, traces
 *     (those that are traced), dump, output=path, output_append=path. Returns
 *     RECORDER_TRACE_OK or how the first bad item was bad, and says so on
 *     stderr. Null is an empty specification.
 *
 *     Environment: RECORDER_TRACES is a specification for the program's start.
 *
 * RECORDER_TWEAK_DEFINE(name, value, "description")     at file scope
 * RECORDER_TWEAK_DECLARE(name)                          for headers
 * RECORDER_TWEAK(name)                                  an intptr_t lvalue
 *
 * recorder_type *recorder_configure_type(unsigned char conversion,
 *                                        recorder_type *function)
 *     Lets `function` make text of the words that %conversion shows, in dumps
 *     and traces; null: as printf. It gets, as of snprintf, where and how much,
 *     and the conversion as written. `trace` is the recorder's RECORDER_TRACE
 *     in a trace, when what the word points at is there; 0 in a dump, when it
 *     may be gone; and has bit 0 set for %+. Returns the function before.
 */

#include "recorder/set.h"

#endif
