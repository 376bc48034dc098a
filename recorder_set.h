/* recorder_set.h - changes settings of recorders while the program runs, by
 * name */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_set.h"               // brings recorder_dump.h

    RECORDER(net, 256, "Network traffic");
    RECORDER_TWEAK_DEFINE(net_retries, 3, "How often to try again");

    int main(void)
    {
        for (intptr_t i = 0; i < RECORDER_TWEAK(net_retries); i++)
            record(net, "try %d", (int)i);
    }

    $ RECORDER_TRACES='net.*:-net_rx:net_retries=5' ./demo

PROMISES (each names the test that keeps it)
    unharmed    recorder_trace_set() takes no memory and no lock: it may be
                called wherever record() may -> tests/outside/safety.c
    tolerant    a wrong item in a specification is skipped; the other items
                are done -> tests/inside/set.c
    free        nothing is added to the path of a record -> tests/outside/cost.c

LIMITS
    * A regular expression and a path end at ':' and ' '.
    * Libraries that are opened later are not seen by RECORDER_TRACES: call
      recorder_trace_set() again.
    * The functions of your conversions run inside of dumps, also of a crash,
      and traces: they must be as careful as a signal handler, and look only at
      the word unless their argument says that it is a trace.

CONTENTS
    settings    recorder_trace_set()
    conversions of the program's own
*/
#ifndef RECORDER_SET_H
#define RECORDER_SET_H

#include "recorder_dump.h"

#ifndef RECORDER_NOTHING_
RECORDER_QUIET_
RECORDER_C_BEGIN_

/* -------------------------------------------------------------- settings -- */

/* Executes each item; items are separated by ':' or ' '. A name is an
 * extended regular expression for whole names, of recorders or else of tweaks,
 * case-insensitive; `all` is `.*`.
 *
 *     name        sets it to 1: record, and print each record
 *     -name       to 0: record only
 *     /name       to -1: off
 *     name=12     to a number: decimal, 0x, octal, negative
 *     name=a,b    to 0, and a warning: recorder 1.x exported arguments under
 *                 these names; now `recorder view --value` shows them from the
 *                 records
 *
 * An item that is no name, or begins with '@', is a command: help or list,
 * traces (lists the traced recorders), dump, output=path, output_append=path.
 * Null is an empty specification. Returns RECORDER_TRACE_OK or the error of the
 * first bad item, which a line on stderr explains.
 *
 * Environment: RECORDER_TRACES is a specification for the program's start. */
RECORDER_CALLED_PROTOTYPE_ int recorder_trace_set(const char *specification);

/* ----------------------------------------------------------- conversions -- */

/* Lets `function` make text of the words that %conversion shows, in dumps and
 * traces; null: as printf. As for snprintf, its arguments are a buffer, its
 * size and the conversion as written. `trace` is the recorder's RECORDER_TRACE
 * in a trace, when an object that the word points at exists; 0 in a dump, when
 * the object may be gone; bit 0 is set for %+. Returns the former function. */
RECORDER_CALLED_PROTOTYPE_ recorder_type *
recorder_configure_type(unsigned char conversion, recorder_type *function);

RECORDER_C_END_

#ifndef RECORDER_DECLARED_
#include "recorder/set.h"
#endif
RECORDER_LOUD_
#endif /* RECORDER_NOTHING_ */

#endif
