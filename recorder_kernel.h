/* recorder_kernel.h - running and waiting threads, by the kernel (Linux) */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_dump.h"
    #include "recorder_kernel.h"            // in one file of the program

    RECORDER(net, 256, "Network traffic");

    int main(void)
    {
        recorder_kernel(64, 0);             // rings of 64 KiB a processor
        for (int i = 0; i < 3; i++) {
            record(net, "request %d", i);
            usleep(1000);                   // the thread blocks, and runs again
        }
        recorder_dump();                    // records, and switches among them
    }

    $ RECORDER_SWITCHES=64 ./demo           # the same without a call
    $ recorder dump PID --by-time           # also while it runs

PROMISES (each names the test that keeps it)
    exact       recorded and overwritten switches together are all switches of
                the program's threads, as /proc counts them
                -> tests/outside/kernel.c
    in_time     a switch has the time at which it was, on the clock of the other
                records -> tests/outside/kernel.c
    quiet       the kernel's rings are read on demand only: no thread, no
                wakeup; record() costs as before -> tests/outside/kernel.c
    unharmed    where the kernel refuses, a line on stderr has the reason and
                the remedy, and the program continues -> tests/outside/kernel.c
    survives    a crash has them in its dump, its core file, its recording; with
                a thread that pours and a recording, kill -9 leaves all but the
                last milliseconds -> tests/outside/kernel.c

LIMITS
    * Linux 5.13; from 4.7 on with rings that children of fork() fill, too.
      Elsewhere recorder_kernel() fails with a line on stderr.
    * A switch takes 0.5 to 1 us longer, all of it the kernel's (docs/
      benchmarks.md). Each processor has a descriptor, from 100 up, and locked
      memory: the kernel grants a user 516 KiB a processor, and as
      much more as RLIMIT_MEMLOCK says.
    * RECORDER_SWITCHES=64,why has four descriptors a processor, as far as a
      quarter of RLIMIT_NOFILE lasts, and twice the rings. A new thread takes
      10 us a processor longer. Older threads have switches only, as has a
      reader from outside before they were poured.
    * A switch that was poured has a sequence number of the pour, and the time
      of the switch: dumps show a pour in one piece, `recorder dump --by-time`
      sorts.
    * Of the time before a thread ends, its last switch is missing: the kernel
      takes the event away before. So how long its last run was is not known,
      nor when a blocked thread became ready.
    * Threads that are older than recorder_kernel() take a descriptor more a
      thread and processor, as long as a quarter of RLIMIT_NOFILE lasts; a
      processor that is turned on later is not recorded. RECORDER_SWITCHES comes
      before all threads but the threads of other libraries' constructors.
    * A crash is poured by the handlers of recorder_dump_on_common_signals();
      without them the switches since the last pour are lost, as kernels leave
      these rings out of core files.
    * A child of fork() opens separate rings, 35 us a processor, and starts
      another thread that pours. A program that calls setns() or unshare(),
      which want one thread, does without that thread.
    * A thread that never recorded takes a row of the thread table when its
      first switch is poured.
    * `freeze` of a trigger pours first. Where `recorder set` froze the recorder
      switches, nothing is poured until it is thawed; where it is off, they are
      dropped.
    * The processor is recorded up to 254; 255 are all above.
    * If the machine slept, switches from before that were poured after it have
      times that are late by the sleep.
    * 32-bit machines: a switch that is older than half a wrap of the clock (36
      minutes) when it is poured counts as overwritten.

CONTENTS
    switches    recorder_kernel(), recorder_kernel_pour()
*/
#ifndef RECORDER_KERNEL_H
#define RECORDER_KERNEL_H

#include "recorder.h"

#ifndef RECORDER_NOTHING_
RECORDER_QUIET_
RECORDER_C_BEGIN_

/* ------------------------------------------------------------ switches -- */

/* Opens a ring of `kib` KiB for each processor, in which the kernel keeps the
 * newest context switches of this process, 32 a KiB; 4 to 65536, a power of
 * two. They are recorded ("poured") on demand: by recorder_dump() and its like,
 * by a dump because of a signal, at exit, by recorder_kernel_pour(), and, if
 * `ms` is not 0, by a thread every `ms` milliseconds. Returns 0, or an errno;
 * then a line on stderr has the reason, and nothing is recorded.
 *
 * Where they are open already, as by the environment's RECORDER_SWITCHES=64 or
 * RECORDER_SWITCHES=64,10 (KiB, milliseconds), they stay as they are, and only
 * the thread may be added. RECORDER_SWITCHES=64,why or 64,10,why adds, for
 * `recorder why`, a record for 32 page faults of memory, one for each page of a
 * file or a disk, and, where the kernel's description of events can be read (by
 * root), whether a thread that left was stopped by a signal or a debugger.
 *
 * They are records of a recorder `switches`, which has RECORDER_KERNEL_SLOTS
 * slots, 8192 unless that is defined before this header is included; or of the
 * program's own RECORDER(switches, ...) in another file. */
RECORDER_CALLED_PROTOTYPE_ int recorder_kernel(unsigned kib, unsigned ms);

/* Records all new switches in the rings. Safe in signal handlers. */
RECORDER_CALLED_PROTOTYPE_ void recorder_kernel_pour(void);

RECORDER_C_END_

#if defined(RECORDER_DECLARED_)
/* only the file with RECORDER_COMPILE_HERE has the functions */
#elif defined(RECORDER_LINUX_)
#include "recorder/kernel_open.h"
#else
#include "recorder/kernel_none.h"
#endif
RECORDER_LOUD_
#endif /* RECORDER_NOTHING_ */

#endif
