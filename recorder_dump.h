/* recorder_dump.h - shows what was recorded as text, on demand or at a crash */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_dump.h"              // brings recorder.h
    recorder_dump_on_common_signals(0, 0);  // a crash shows what led to it
    ...
    recorder_dump();                        // and so does this

PROMISES
    * All rings merged, strictly ascending by order, each record whole.
    * Nothing is removed: dump as often as you like, from any thread, two at
      once; each dump is complete.
    * Async-signal-safe from end to end: write() and a few more plain system
      calls, no heap, no lock, no locale, about 4 KB of stack.
    * It ends while others record: what comes after its start is not shown.
    * A bad pointer in a record prints as an address and harms nobody.

LIMITS
    * Memory for the sorting comes from mmap(), 120 bytes a record, 256 MB at
      most; what does not fit, or any where mmap() fails, costs further passes.
    * A line is cut, and marked, at RECORDER_LINE_MAX bytes; at 256 where it is
      traced, and in a dump for which there is no memory.
    * A dump fits a signal stack of 8 KiB (4 KB, and 3 KB of the kernel's), but
      not where neither mmap() nor the spare memory is to be had.
    * Of a ring that is overwritten while the dump looks at it, what was there
      at its start and is not any more is missing.
    * A sandbox that kills for mmap() or process_vm_readv() kills for a dump;
      one that refuses them does no harm.
    * SIZE and ENTRIES count slots; a record of 5 to 12 arguments takes 2 or 3,
      and a copied text one for 32 bytes.

CONTENTS
    interface   the dump functions
    scratch     where a dump gets its memory
    strings     what formats and %s point at
    time        how fast ticks run
    line        one event as text
    dump        the whole
    trace       records that print at once
*/
#ifndef RECORDER_DUMP_H
#define RECORDER_DUMP_H

#include "recorder.h"
#if defined(RECORDER_LIBRARY) && !defined(RECORDER_LIBRARY_BODY)
#error "with RECORDER_LIBRARY, only the file with RECORDER_LIBRARY_BODY reads"
#endif

/* ------------------------------------------------------------- interface --
 *
 * size_t recorder_dump(void)                  to stderr
 * size_t recorder_dump_fd(int fd)
 * size_t recorder_dump_for(const char *regex) to stderr, the recorders whose
 *                                             whole name matches: extended
 *                                             syntax, case-insensitive
 * size_t recorder_dump_to(sink, context)      to sink(context, text, size), a
 *                                             line a call, not NUL-terminated
 * Each returns the number of records shown. Without an operating system, stderr
 * is RECORDER_WRITE of the port, and there are no descriptors.
 *
 * bool recorder_line(const char *line)        sets the line of a record; kept,
 *                                             not copied. Null: the default.
 *     False, and a word on stderr, where a field is unknown; then nothing
 *     changes. Environment: RECORDER_LINE. Fields:
 *     {order} {seconds} {wall} {location} {caller} {thread} {name} {recorder}
 *     {message}; name is the thread's, seconds count from the start, and
 *     {order:8} takes at least 8 columns, {recorder:-12} from the left; {{ is
 *     a brace. At most 255 bytes.
 *
 * size_t recorder_event_text(event, to, size) the message of an event, as
 *                                             snprintf would write it
 */

#include "recorder/dump.h"
#ifdef RECORDER_HOSTED_
#include "recorder/signal.h"
#include "recorder/file.h"
#endif

#endif
