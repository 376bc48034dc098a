/* recorder_trigger.h - watches for records in the program, and acts at once */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_trigger.h"           // brings recorder_dump.h

    RECORDER(disk, 256, "Disk operations");

    int main(void)
    {
        recorder_trigger("disk: \"latency\" 1>50: freeze"); // keeps the cause
        for (int i = 0; i < 100; i++)
            record(disk, "latency %d ms", i);
        recorder_dump();                    // the newest is: latency 51 ms
    }

    $ RECORDER_TRIGGERS='disk: 1>50 after=20ms: dump=/var/tmp/%e.%p.txt' ./demo

PROMISES (each names the test that keeps it)
    exact       a trigger acts for the records that meet its condition and for
                no others, once (or once each time, with `again`), however many
                threads record; COUNTxTIME is counted by the times of the
                records themselves -> tests/inside/trigger.c
    at_once     it acts in the thread that made the record, before record()
                returns: after freeze come only records that others were making
                just then -> tests/inside/trigger.c
    refused     a text that is wrong is refused in words, and does nothing
                -> tests/inside/trigger.c
    typed       an argument is compared by the type of its conversion: a double,
                an integer of its length and sign, a text
                -> tests/inside/condition.c
    unharmed    looking takes no lock and no memory, and a system call only for
                a text; an action is as safe in signal handlers as a dump is
                -> tests/inside/trigger.c
    cheap       a record of a recorder without a trigger costs as before, of a
                watched recorder 2.2 times as much -> bench/trigger.c

LIMITS
    * 8 triggers in the life of a program, each of at most 255 bytes.
    * An argument is compared by its conversion; a record whose format has no
      such argument is never wanted. A text is read when the record is made, by
      a system call, as a dump reads texts. There is no ~ in the program.
    * A recorder that is off has no records to look at. One that is turned off
      and on again by RECORDER_TRACES, `recorder set` or gdb is still watched;
      `RECORDER_TRACE(name) = 0` in the program ends that until
      recorder_trigger_arm(). RECORDER_TRACE of a watched recorder has bit 30
      set: compare it with numbers below 2^29 only if no trigger watches.
    * Recorders of libraries that are opened later are watched from the next
      recorder_trigger() or recorder_trigger_arm() on; for a name that no
      recorder has yet, stderr gets a line. It gets a line at the exit for an
      argument that no record had: only records tell the formats.
    * after= needs a record to act by: it acts at the first, of any recorder
      that is on, that is made when the time is over.
    * Records that an action makes are kept, and cause no action. While one
      thread acts, that trigger does not see the records of other threads.
    * The program decides about the signals of stop, signal=N and abort: if it
      ignores SIGABRT, it continues.
    * Without an operating system: COUNT is at most 16, and the actions are
      freeze, dump and again.
    * 32-bit machines: times are at most a quarter of an hour; COUNTxTIME takes
      a time of one wrap of the clock (71 minutes) before for now.
    * A library that sets triggers in a program that does not share its symbols
      must be closed before one that was opened later and does the same: that
      one would call code that is gone.

CONTENTS
    triggers    recorder_trigger(), and its conditions
*/
#ifndef RECORDER_TRIGGER_H
#define RECORDER_TRIGGER_H

#include "recorder_dump.h"

#ifndef RECORDER_NOTHING_
RECORDER_QUIET_
RECORDER_C_BEGIN_

/* -------------------------------------------------------------- triggers -- */

/* Sets a trigger: "NAMES: CONDITIONS: ACTIONS", or several with ';' between.
 * NAMES is an extended regular expression for whole names of recorders. It acts
 * for a record that meets all of the conditions; without any, for each:
 *
 *     "TEXT"      its format begins so, after its severity
 *     sw2         its severity is at least that; hw1,sw3 of hardware and
 *                 software
 *     bytes>1.5k  the argument of "bytes=%d" compares so: > < >= <= = != and &
 *                 (has one of these bits) with a number, decimal or 0x..., with
 *                 k, M or G; = and != with a text, too
 *     2>50        the 2nd argument does
 *     10x1s       it is the 10th in one second (at most 512) that meets the
 *                 rest
 *     after=20ms  acts this much later: the records that followed are kept, too
 *
 * ACTIONS, with commas between, are done in this order:
 *
 *     freeze      turns all recorders off, so that the cause stays; see
 *                 recorder_trigger_thaw()
 *     dump        recorder_dump(), and with dump=PATH to the end of a file; %p
 *                 in it is the process id, %e the program's name, %t the time
 *                 in seconds since 1970, %% a percent
 *     stop        SIGSTOP, to attach a debugger
 *     signal=N    the signal of that number, to this thread
 *     abort       SIGABRT
 *     again       not only once
 *
 * A line on stderr reports the actions. Times have a unit: ns, us, ms, s,
 * min (or m), h, d. Null and "" are no trigger. False: a text is wrong, and a
 * line on stderr says why; the others are set.
 *
 * Environment: RECORDER_TRIGGERS, when the program starts, unless it runs with
 * more rights than its caller (setuid). */
RECORDER_CALLED_PROTOTYPE_ bool recorder_trigger(const char *text);

/* The same, and calls function(context, seen) between freeze and dump; "NAMES:
 * CONDITIONS" needs no actions then. It runs in the middle of a record(), and
 * must be fit for where that is called. `seen` is valid until it returns. With
 * after= it is the record that came when the time was over. */
RECORDER_CALLED_PROTOTYPE_ bool
recorder_trigger_call(const char *text, recorder_trigger_function *function,
                      void *context);

/* Lets all triggers that have acted act once more, and looks for recorders that
 * came since. */
RECORDER_CALLED_PROTOTYPE_ void recorder_trigger_arm(void);

/* Restores all recorders that freeze turned off. */
RECORDER_CALLED_PROTOTYPE_ void recorder_trigger_thaw(void);

RECORDER_C_END_

#ifndef RECORDER_DECLARED_
#include "recorder/trigger.h"
#endif
RECORDER_LOUD_
#endif /* RECORDER_NOTHING_ */

#endif
