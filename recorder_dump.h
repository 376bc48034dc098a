/* recorder_dump.h - shows the records: on demand, or when the program
 * crashes */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_dump.h"              // brings recorder.h

    RECORDER(net, 256, "Network traffic");

    int main(void)
    {
        recorder_dump_on_common_signals(0, 0); // a crash shows the last records
        record(net, "%d bytes from %s", 42, "example.org");
        recorder_dump();                       // shows them, too
    }

    $ RECORDER_FILE=/var/tmp/%e.%p.rec ./demo  # the rings live in a file
    $ recorder dump /var/tmp/demo.4711.rec     # it survives kill -9

PROMISES (each names the test that keeps it)
    ascending   a dump merges all rings, in strictly ascending order, each
                record whole -> tests/inside/dump.c
    repeatable  reading removes nothing; any number of dumps and cursors read at
                once, while others record, and each of them ends: records made
                after its start are not shown -> tests/inside/dump.c
    safe        async-signal-safe from end to end: write() and a few more plain
                system calls, no heap, no lock, no locale, about 4 KB of stack;
                a bad pointer in a record prints as an address
                -> tests/outside/safety.c
    ends        whatever memory holds, a crash dump takes less than 2 s of the
                processor (last=all: and 20 us a line), and the program dies of
                its own signal, even if a word that the dump reads was
                overwritten -> tests/outside/crashes.c
    short       a crash dump shows the newest records of each recorder, 1,000
                lines in all, and says how many it left out
                -> tests/outside/crashes.c
    true_text   a %s shows the recorded text, or says that it may not: a text
                whose memory may have changed has a ~ in front
                (Linux) -> tests/inside/dump.c tests/outside/command.c
    same_death  a signal that ends the process ends it as it would have: the
                same status, the same core file, from the same place
                -> tests/outside/crashes.c
    handlers    a handler that the program had is called after the dump, with
                the signals blocked that it asked for; an ignored signal stays
                ignored -> tests/inside/signals.c
    survives    whatever ends the program, its recording has every record that
                was complete, and none that is torn: SIGKILL, abort(), no memory
                -> tests/outside/recording.c
    core_file   gdb and readelf open a recording; it needs no program to be read
                -> tests/outside/recording.c
    untouched   no existing file is overwritten, cut off or followed as a link
                -> tests/outside/recording.c
    same_cost   a record costs the same with and without a recording
                -> bench/file.c

LIMITS
    * recorder.h declares recorder_dump() and its like: any file of a program
      calls them. One file includes this header, 66 KB of code; if several do,
      the linker takes the functions of one.
    * A dump takes memory for its sorting from mmap(), 120 bytes a record, 256
      MB at most; if it does not suffice, or mmap() fails, it takes more passes.
    * A line is cut, and marked, at 4096 bytes; at 256 in a dump for which there
      is no memory.
    * A dump fits a signal stack of 8 KiB (4 KB, and 3 KB of the kernel's), but
      not where neither mmap() nor the spare memory is available.
    * Only on Linux do readers know constant texts, from the program's headers
      and /proc/self/maps; elsewhere no text is marked by a ~. Without /proc,
      constants of libraries are marked, too.
    * Records that are overwritten while a dump runs may be missing from it.
    * A sandbox that kills for mmap() or process_vm_readv() kills for a dump;
      one that refuses them does no harm.
    * SIZE counts slots, ENTRIES and OVERWRITTEN records: one of 5 to 12
      arguments takes 2 or 3 slots, a copied text one for each 32 bytes, and
      each slot has a number: "2 ENTRIES IN 3 SLOTS" have gaps. A ring
      does not count overwritten records: ~ marks an estimate.
    * While a dump because of a signal runs, our handler takes SIGSEGV, SIGBUS,
      SIGILL and SIGFPE (not on Windows). A fault of another thread waits for
      the end of the dump, and then acts as the program has set it to.
    * A cursor is 30 KB: keep it off small stacks. Each batch of 256 records
      costs one look at every slot of the program. An event names its recorder
      by address: use it before the library that defines it is closed.
    * A thread that overflows its stack without recorder_alt_stack() dies as it
      would have, without a dump: there is no stack to run on.
    * recorder_dump_set() keeps the text: where it is changed or freed, a dump
      does as the new text says.
    * A handler that the program sets later replaces ours. Handlers run on the
      alternate stack, 128 KB. A handler that returns to the fault without
      mending it is called again for ever, as without us, and dumps each time.
    * In a sandbox that refuses sigaction(), faults (SEGV, BUS, ILL, FPE) end
      the program as without us, on the machines whose context we know; all
      other signals end it by exit status 128 + signal.
    * After a dump by SIGUSR1 or SIGUSR2 the program continues, where these
      signals ended it before: a program that ends its children by them leaves
      them out (`remove`).
    * The sink and the program's conversions run in the handler, and must be
      safe there.
    * A library that installed the handlers removes them when it is closed, also
      if the program has asked for them since.
    * Where the program runs with more rights than its caller (setuid, file
      capabilities), the environment sets nothing and no signal dumps: the
      caller could read the records.
    * Recordings are made on Linux and Windows: elsewhere recorder_file() fails
      with a line on stderr. -DRECORDER_NO_FILE leaves them out.
    * The records survive the program, not the machine: nothing waits for the
      disk. Truncating a file that is in use kills its program (SIGBUS).
    * recorder_file() needs a process of one thread, else it fails, with a line
      on stderr: RECORDER_FILE in the environment makes the file before main(),
      and `recorder save PID` makes one of a process that has threads. Where a
      library's constructor starts a thread first, RECORDER_FILE fails, too, and
      the program continues without a file.
    * A handler that interrupts record() must not call recorder_file(): that
      record would not be in the file.
    * On an overlay (the root of a container) the kernel does not say whether a
      process of another pid namespace is alive: until the next boot, its
      recording counts as in use there.
    * A child of fork() begins with copies of the parent's rings, up to 64 MB in
      all; further rings begin empty. A child made by a bare system call records
      into its parent's file.
    * If the only library that includes this header is closed, children that are
      made by fork() later record into the file of their parent.

CONTENTS
    events      for programs that read by themselves
*/
#ifndef RECORDER_DUMP_H
#define RECORDER_DUMP_H

#include "recorder.h"

#ifndef RECORDER_NOTHING_
RECORDER_QUIET_
RECORDER_C_BEGIN_

/* ---------------------------------------------------------------- events --
 *
 *     struct recorder_cursor cursor = {0};    // from the oldest record kept
 *     struct recorder_event event;
 *     while (recorder_next(&cursor, &event))
 *         printf("%s %d\n", event.recorder->name, (int)event.argument[0]);
 *
 * Called again later, recorder_next() continues where it stopped; cursor.missed
 * counts sequence numbers that were overwritten before the cursor reached them.
 * Skipped numbers mean no loss: a record of 5 to 12 arguments has 2 or 3, a
 * copied text one for each 32 bytes. Both structs are in recorder/event.h and
 * recorder/cursor.h. */
struct recorder_cursor;
struct recorder_event;

/* Takes the next event. False: there is none yet. */
RECORDER_CALLED_PROTOTYPE_ bool recorder_next(struct recorder_cursor *cursor,
                                              struct recorder_event *event);
/* Writes the message of an event as snprintf() would: at most `size` - 1 bytes
 * and a NUL. Returns the length of the whole message. */
RECORDER_CALLED_PROTOTYPE_ size_t
recorder_event_text(const struct recorder_event *event, char *to, size_t size);

RECORDER_C_END_

#include "recorder/cursor.h"
#ifndef RECORDER_DECLARED_
#include "recorder/dump.h"
#ifdef RECORDER_HOSTED_
#include "recorder/signal.h"
#ifndef RECORDER_NO_FILE
#include "recorder/file.h"
#endif
#endif
#endif
RECORDER_LOUD_
#endif /* RECORDER_NOTHING_ */

#endif
