/* recorder.h - a flight recorder: keeps the last events of a program */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_dump.h"              // or "recorder.h", to record only

    RECORDER(net, 256, "Network traffic");  // a ring that keeps 256 records

    record(net, "%d bytes from %s", n, peer);
    recorder_dump();                        // all rings, merged, on stderr

PROMISES (each names the test that keeps it)
    whole       no reader ever accepts a mix of two records
                -> tests/ring/whole.c tests/ring/parked.c tests/ring/lanes.c
                tests/model/ring.c tests/model/lanes.c
    order       a record that happens before another has the smaller order
                -> tests/ring/order.c
    kept        a quiet ring of n slots holds exactly its last n records of up
                to 4 arguments (of more, a record takes 2 or 3 slots, a copied
                text one for each 32 bytes); a flood in one ring evicts nothing
                from another -> tests/ring/kept.c
    counted     slots recorded = kept + overwritten + lost -> tests/ring/kept.c
    unharmed    record() takes no lock, no memory and no system call (a thread's
                first record excepted), never waits, and may be called
                anywhere: signal handlers, constructors, after fork()
                -> tests/outside/cost.c tests/ring/threads.c
    closed      a RECORDER_SPAN is closed however its block is left, by return,
                break, goto, an exception, a cancelled thread
                -> tests/outside/spans.c
    alone       the header needs nothing but the compiler and, on a system that
                is not Linux, the headers that recorder/os_posix.h includes
                -> tests/outside/freestanding.c tests/outside/languages.c

LIMITS
    * A text for `%s` is copied when it is recorded: of a pointer to char, signed
      char or unsigned char, of an array of char, and in C++ of std::string,
      std::string_view and other classes with data() and size() of char. A
      literal is not, nor, on Linux, a constant of the module that records. The
      text must end with a NUL, at most RECORDER_COPY_MAX bytes of it are kept,
      and no more is read than a precision (%.8s, %.*s) or the array's size
      allows: a bad pointer crashes the program, as in printf(). A text of
      wchar_t is not copied, nor is any text where the format numbers its
      arguments (%1$s). RECORDER_ADDRESS(pointer) keeps the address, for text
      that lives as long as its readers.
    * A copy takes a slot for each 32 bytes (32-bit: 16), at most half of the
      ring. If a record, which takes a slot for each 4 arguments, and its texts
      do not fit into the ring together, texts are lost, and shown as <lost>.
      The end of a RECORDER_SPAN shows the copy of its head: <lost>, if the ring
      has gone round.
    * The address of an array of char, for %p, is (void *)array.
    * A library that includes no header of Recorder may give a text to a program
      that keeps its address (RECORDER_ADDRESS). If that library is closed and
      another one is opened at its addresses, readers show the other's words.
    * At most 12 arguments, of one machine word each: on 32-bit machines a
      double is kept as a float and a 64-bit integer is refused.
    * The value of RECORDER_COPY is an argument of one record.
      Kept for a lap of its ring it may show another text of its thread. Kept
      in a variable, it is an argument by RECORDER_ADDRESS(variable).
    * A thread that dies inside record() costs its ring one slot. So does, in
      the child of fork(), each other thread that was inside record() then.
    * A ring with fewer slots than threads that hammer it loses records, which
      are counted: with 8 threads on 2 cores, of 4 slots up to 0.3 %, of 8 slots
      none were lost.
    * RECORDER_LANES: a record ends on the thread of the kernel where it began:
      a signal handler must not move a coroutine out of record() to another. A
      child that runs no handlers of fork() (_Fork(), clone()) must not record
      while its parent has a recording open: both write to one lane of its file.
    * RECORDER_CLOCK_ORDER: sequence numbers are not 1, 2, 3 but leave gaps. A
      cause has a lower number than its effect in another thread, as with the
      counter, as far as the processors' clocks agree, which Linux checks when
      it starts: a file with its answer is read once, before the first recorder
      exists. A machine that moves to another host may set its clock back.
    * RECORDER_FILE, RECORDER_DUMP and the like in the environment are read by
      recorder_dump.h: a program none of whose files includes it records into
      memory only, whatever they say, as recorder list PID tells; recorder save
      PID makes a file of that.
    * x86: record() reads the time-stamp counter. A program that forbids itself
      rdtsc later (seccomp's strict mode, PR_SET_TSC) dies at its next record.
      Compile all of its files with another clock: -include a header of yours
      that defines RECORDER_TIME() as a function that reads
      CLOCK_MONOTONIC_COARSE, in ns, which needs no rdtsc -> tests/outside/clock.c
    * In C++, record(app::net, ...) is refused: write record(net, ...) after
      using app::recorder_for_net. A parameter pack is refused, too, and a
      struct, unless the program defines, in the namespace of its type,
      recorder_argument(value), which makes a number or a string of it.
    * 32-bit machines: sequence numbers and positions count modulo 2^32, laps
      modulo 2^24. The proof ends where a ring hands out 2^24 positions while no
      record is completed in one of its slots (one thread is stopped inside
      record() for that time, or many are, one after the other), or while a
      reader copies one. Times are right, or unknown, unless a thread is
      stopped inside a record for half a wrap of the clock's low word (minutes),
      or half a wrap sees 2^31 records.
    * Shared libraries loaded by dlopen() share the program's recorders through
      the dynamic symbol recorder_registry or, on Linux, where the program does
      not export it, by looking for it in the program's data. Two libraries in a
      program without recorders, both opened with RTLD_LOCAL, do
      not see each other.
    * macOS, BSD and other systems: see recorder/os_posix.h.

CONTENTS
    interface   RECORDER, record, RECORDER_COPY, RECORDER_TRACE, thread names
    port        macros of a machine without an operating system
    text        dumps, and the fields of their lines
    signals     dumps when a signal comes
    recordings  rings that live in a file

The rest is in recorder/, one subject a file. Each file includes only files of
a lower floor; no file includes one of the headers outside:

    1 language              5 registry, record, event
    2 os, layout, regex,    6 define, arguments, resume, span
      heading, word
    3 ring, lane, memory
    4 clock, order, threads
*/
#ifndef RECORDER_H
#define RECORDER_H

#include "recorder/language.h"

/* Version of this header, a semantic version: a program that compiled
 * compiles until MAJOR changes. RECORDER_LAYOUT is the version of the layout
 * in memory; it is, with RECORDER_MAGIC, in recorder/layout.h. */
#define RECORDER_VERSION_MAJOR 2
#define RECORDER_VERSION_MINOR 0
#define RECORDER_VERSION_PATCH 0
#define RECORDER_VERSION /* "2.0.0" */                                         \
    RECORDER_QUOTE_(RECORDER_VERSION_MAJOR)                                    \
    "." RECORDER_QUOTE_(RECORDER_VERSION_MINOR) "." RECORDER_QUOTE_(           \
        RECORDER_VERSION_PATCH)

/* ------------------------------------------------------------- interface --
 *
 * RECORDER(name, size)                    at file scope: a recorder that keeps
 * RECORDER(name, size, "description")     at least `size` records (rounded up
 *                                         to a power of two, at least 4, which
 *                                         is 352 bytes (32-bit: 176) and the
 *                                         ring's head; at most 2^30)
 * RECORDER_LANES(name, size, lanes)       the same with `lanes` rings of `size`
 * RECORDER_LANES(name, size, lanes, "")   (a power of two): one for each of
 *                                         `lanes` - 1 threads at a time, up to
 *                                         1023 (32-bit: 127), and one for all
 *                                         others; for records of many threads.
 *                                         Where a lane's thread has ended, the
 *                                         next thread that begins takes it
 * RECORDER_DECLARE(name)                  for headers: a recorder of this
 *                                         program or library
 * RECORDER_DECLARE_SHARED(name)           the same for all libraries of a
 *                                         program, of which one defines it
 *                                         after this line
 * RECORDER_AT(name, size, address)        without an operating system: in
 * RECORDER_AT(name, size, address, "")    memory that a reset leaves alone and
 *                                         no startup code clears. Its records
 *                                         are kept, the next records follow. It
 *                                         is yours: a size below 4 is an error
 *
 * record(name, "format", ...)             records up to 12 arguments; its value
 *                                         is the record's sequence number, 0 if
 *                                         off; recorder_order is the next.
 *                                         -DRECORDER_NO_RECORD leaves the word
 *                                         record alone: RECORDER_RECORD(name,
 *                                         ...) says it
 * "... %m"                                shows errno, as printf() does: the
 *                                         text of strerror(), where the reader
 *                                         has glibc, else "errno 110". A word
 *                                         after up to 11 arguments; not in
 *                                         RECORDER_SPAN. More is refused, where
 *                                         the compiler optimizes; else it is
 *                                         <lost> or, in a span, <no errno>
 * RECORDER_ADDRESS(pointer)               as an argument for %s: keeps the
 *                                         address, and copies nothing
 * RECORDER_COPY(name, string)             as an argument for %s: copies up to
 *                                         RECORDER_COPY_MAX bytes into the ring,
 *                                         also of a literal
 * RECORDER_COPY_BYTES(name, pointer, size)
 *                                         the same of `size` bytes, NULs, which
 *                                         %s shows as \x00, included
 * RECORDER_SPAN(name, "format", ...)      at the head of a block: records
 *                                         "> format" there and "< format" where
 *                                         the block is left, however that is;
 *                                         up to 11 arguments. One of a recorder
 *                                         in a block
 * RECORDER_SPAN_RESULT(name, value)       in that block: its result, an integer
 *                                         or a pointer, is recorded at the end,
 *                                         as "result=..."
 * RECORDER_CONTEXT("trace", id)           a record of RECORDER(context, size),
 *                                         which the program defines: from now on
 *                                         the thread works for this id, a text, a
 *                                         W3C traceparent or an integer; 0 or ""
 *                                         ends that
 * RECORDER_CONTEXT_SENT("trace", header)  the thread hands its work on to the
 *                                         receiver of this traceparent
 * RECORDER_SW2 and its like               in front of the format: how severe
 *                                         the record is, see below
 * RECORDER_TRACE(name)                    an intptr_t lvalue: 0 record (the
 *                                         default), above 0 record and print at
 *                                         once (if recorder_dump.h is part of
 *                                         the program), -1 off
 * recorder_thread_name("io")              names the calling thread, 15 bytes
 *
 * RECORDER_TICKETS, 64 if not defined: positions that a record may draw, where
 * threads are stopped inside a record, before it counts as lost.
 *
 * -DRECORDER_OFF compiles it all away; formats and arguments are still checked.
 *
 * -DRECORDER_CLOCK_ORDER, for all files of a program and its libraries:
 * sequence numbers come from the clock, so that threads with lanes share no
 * memory at all (recorder/order.h). Linux on x86-64, where processors count
 * alike; else, and where a file is compiled without it, they come from the
 * counter, as `recorder list` says.
 *
 * -DRECORDER_COMPILE_ONCE only declares the functions of all headers: one file
 * defines RECORDER_COMPILE_HERE before it includes them, and contains them.
 */
#define RECORDER(name, ...)                                                    \
    RECORDER_DEFINE_(name, RECORDER_FIRST_(__VA_ARGS__, 0), 1,                 \
                     RECORDER_SECOND_(__VA_ARGS__, "", 0))
#define RECORDER_LANES(name, size, ...)                                        \
    RECORDER_DEFINE_(name, size, RECORDER_FIRST_(__VA_ARGS__, 0),              \
                     RECORDER_SECOND_(__VA_ARGS__, "", 0))
#define RECORDER_AT(name, size, ...)                                           \
    RECORDER_DEFINE_AT_(name, size, RECORDER_FIRST_(__VA_ARGS__, 0),           \
                        RECORDER_SECOND_(__VA_ARGS__, "", 0))
/* Without extern "C": a variable outside of namespaces has its plain name in
 * C++, too, and one in a namespace is another than one of that name outside. */
#define RECORDER_DECLARE(name)                                                 \
    extern struct recorder recorder_for_##name;                                \
    RECORDER_ENDS_
#define RECORDER_DECLARE_SHARED(name)                                          \
    extern RECORDER_SHARED_ struct recorder recorder_for_##name;               \
    RECORDER_ENDS_
#define RECORDER_RECORD(name, ...)                                             \
    RECORDER_PICK_(                                                            \
        __VA_ARGS__, RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_,           \
        RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_,        \
        RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_,        \
        RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_,        \
        RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_, RECORDER_12_,          \
        RECORDER_12_, RECORDER_12_, RECORDER_12_, RECORDER_8_, RECORDER_8_,    \
        RECORDER_8_, RECORDER_8_, RECORDER_4_, RECORDER_4_, RECORDER_4_,       \
        RECORDER_4_, RECORDER_4_, 0)                                           \
    (name, RECORDER_CHECK_((__VA_ARGS__)), __VA_ARGS__, RECORDER_NO_ARGUMENT_, \
     RECORDER_NO_ARGUMENT_, RECORDER_NO_ARGUMENT_, RECORDER_NO_ARGUMENT_, 0)
#ifndef RECORDER_NO_RECORD
#define record RECORDER_RECORD /* yours? -DRECORDER_NO_RECORD */
#endif
/* Begin with __extension__ twice, which says that no other copy is needed. */
#define RECORDER_COPY(name, string)                                            \
    __extension__ __extension__ recorder_copy_(&recorder_for_##name, string)
#define RECORDER_COPY_BYTES(name, pointer, size)                               \
    __extension__ __extension__ recorder_copy_bytes_(&recorder_for_##name, pointer, size)
#define RECORDER_ADDRESS(pointer) __extension__ __extension__(pointer)
#define RECORDER_SPAN(name, ...)                                               \
    RECORDER_PICK_(                                                            \
        __VA_ARGS__, RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_,                 \
        RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_,         \
        RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_,         \
        RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_,         \
        RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_,         \
        RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_,         \
        RECORDER_SPAN_MANY_, RECORDER_SPAN_MANY_, RECORDER_SPAN_11_,           \
        RECORDER_SPAN_11_, RECORDER_SPAN_11_, RECORDER_SPAN_11_,               \
        RECORDER_SPAN_11_, RECORDER_SPAN_11_, RECORDER_SPAN_11_,               \
        RECORDER_SPAN_11_, RECORDER_SPAN_3_, RECORDER_SPAN_3_,                 \
        RECORDER_SPAN_3_, RECORDER_SPAN_3_, 0)                                 \
    (name, RECORDER_CHECK_((__VA_ARGS__)),                                     \
     RECORDER_PICK_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
                    0, 0, 0, 0, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0),      \
     __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0)
#define RECORDER_SPAN_RESULT(name, value)                                      \
    RECORDER_SPAN_SET_(recorder_span_of_##name, value)
#define RECORDER_CONTEXT(name, id) RECORDER_CONTEXT_CALL_(name, id, " from", "")
#define RECORDER_CONTEXT_SENT(name, id)                                        \
    RECORDER_CONTEXT_CALL_(name, id, " to", " sent")
#define RECORDER_TRACE(name)                                                   \
    RECORDER_OFF_OR_((*((void)sizeof recorder_for_##name,                      \
                        &recorder_trace_off_)),                                \
                     (recorder_for_##name.trace))

/* Severities: record(disk, RECORDER_SW2 "block %u unreadable", n). They cost a
 * record nothing. -DRECORDER_SEVERITY_LEAST=n compiles away the records whose
 * format begins with a severity below n; records without a severity stay. */
#define RECORDER_HW3 "\1h3\2" /* hardware failed for good */
#define RECORDER_HW2 "\1h2\2" /* it failed, and the program gets over it */
#define RECORDER_HW1 "\1h1\2" /* an error of hardware that is expected */
#define RECORDER_HW0 "\1h0\2" /* information about hardware */
#define RECORDER_SW3 "\1s3\2" /* software failed for good */
#define RECORDER_SW2 "\1s2\2" /* it failed, and the program gets over it */
#define RECORDER_SW1 "\1s1\2" /* an error of software that is expected */
#define RECORDER_SW0 "\1s0\2" /* information, a test */

/* Tweaks: numbers of the program that recorder_set.h changes by name. */
#define RECORDER_TWEAK_DEFINE(name, value, description)                        \
    /* the text before it may end in __extension__: no pragma may follow */    \
    RECORDER_ASSERT_(sizeof #name > 1, "RECORDER_TWEAK_DEFINE: no name");      \
    RECORDER_AGAIN_(extern struct recorder_tweak recorder_for_##name)          \
    struct recorder_tweak recorder_for_##name =                                \
        RECORDER_TWEAK_INIT_(#name, "" description, value);                    \
    RECORDER_TWEAK_ENTERS_(recorder_enter_##name, recorder_for_##name)         \
    RECORDER_TWEAK_LEAVES_(recorder_leave_##name, recorder_for_##name)         \
    RECORDER_TWEAK_ENDS_
#define RECORDER_TWEAK_DECLARE(name)                                           \
    extern struct recorder_tweak recorder_for_##name;                          \
    RECORDER_ENDS_
#define RECORDER_TWEAK(name) (recorder_for_##name.value)

/* ------------------------------------------------------------------ port --
 *
 * RECORDER_TIME()       ticks of the cheapest monotonic clock, as a word
 * RECORDER_TIME_HIGH()  the upper 32 bits, if RECORDER_TIME() has the lower
 *                       32; without them, times are modulo 2^32 ticks
 * RECORDER_THREAD()     number of the calling thread, from 1 to
 *                       RECORDER_THREAD_SHARED, the number of all others
 *
 * A port may define them before it includes this file. With RECORDER_THREAD()
 * it says that there is no operating system: nothing is called then, nor any
 * header included that a freestanding compiler does not bring, and these count:
 *
 * RECORDER_TIME_HZ      ticks in a second, a constant; else times are unknown,
 *                       or the program puts a rate into recorder_registry
 * RECORDER_ENTER()      for processors without atomic instructions: keeps all
 *                       other writers out, by masking interrupts, and returns
 *                       the state before, a uintptr_t
 * RECORDER_LEAVE(was)   lets them in again, if they were. For the compiler,
 *                       both are barriers: asm volatile(... : "memory")
 * RECORDER_THREADS      how many threads can have a name; default: none
 * RECORDER_CACHE_LINE   of a cache, where processors share memory; without it
 *                       each recorder has one lane
 * RECORDER_CONSTANT(address)  can the byte at this uintptr_t never change, as
 *                       it is in flash? A text there is not copied; default:
 *                       each but a literal is
 * RECORDER_ONE_PROCESSOR  the port's promise: all writers, and all readers
 *                       beside them, run on one processor, as an interrupt
 *                       does. Then barriers hold back the compiler alone; a
 *                       port that does not promise it has the processor's
 *
 * and for recorder_dump.h, but in front of this header, too
 *
 * RECORDER_READABLE(address)  may a byte be loaded from there? A uintptr_t that
 *                       may be anything
 * RECORDER_WRITE(text, size)  puts text where dumps and traces go; a port
 *                       without it has no code for traces
 * RECORDER_HOOKS        has that code without it: recorder_registry.hook is
 *                       called for records of recorders whose trace is above 0
 *
 * The code before main() calls the constructors (.init_array), or main() calls
 * recorder_enter(&recorder_for_NAME) for each recorder.
 */

RECORDER_QUIET_
#include "recorder/arguments.h"
#include "recorder/define.h"
#include "recorder/event.h"
#include "recorder/layout.h"

#ifdef RECORDER_NOTHING_
#include "recorder/off.h"
#else
RECORDER_C_BEGIN_

/* Names the calling thread in dumps from now on: 15 bytes of `name`. */
RECORDER_CALLED_PROTOTYPE_ void recorder_thread_name(const char *name);

/* RECORDER and its like call these, before main() and when a library is closed.
 * Returns true if the recorder was not in the registry before. */
RECORDER_CALLED_PROTOTYPE_ bool recorder_enter(struct recorder *recorder);
RECORDER_CALLED_PROTOTYPE_ bool
recorder_enter_lanes_(struct recorder *recorder);
RECORDER_CALLED_PROTOTYPE_ void
recorder_tweak_enter_(struct recorder_tweak *tweak);
RECORDER_CALLED_PROTOTYPE_ void recorder_leave(struct recorder *recorder);
RECORDER_CALLED_PROTOTYPE_ void
recorder_tweak_leave_(struct recorder_tweak *tweak);
/* RECORDER_AT, of ports: continues the ring, or empties it. The next order
 * follows its last one. */
RECORDER_HOSTED_OR_(, RECORDER_CALLED_PROTOTYPE_ void recorder_resume(
                          const struct recorder *recorder);)

/* record() calls these with up to 4 arguments, with more, and for text. They
 * return an order, or the word for %s. */
#ifndef __cplusplus /* else arguments.h has them */
RECORDER_CALLED_PROTOTYPE_ const char *
recorder_copy_bytes_(const struct recorder *recorder, const char *string,
                     size_t size);
#endif
RECORDER_CALLED_PROTOTYPE_ size_t recorder_size_of_text_(const char *format,
                                                         unsigned index,
                                                         uintptr_t before,
                                                         size_t size);
RECORDER_CALLED_PROTOTYPE_ uintptr_t recorder_word_of_error_(void);
RECORDER_CALLED_PROTOTYPE_ uintptr_t
recorder_word_of_text_(const struct recorder *recorder, uintptr_t text,
                       size_t size, struct recorder_readonly_ *module);
RECORDER_CALLED_PROTOTYPE_ uintptr_t
recorder_record_few_(const struct recorder *recorder, const char *format,
                     uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
RECORDER_CALLED_PROTOTYPE_ uintptr_t recorder_record_more_(
    const struct recorder *recorder, const char *format, unsigned count,
    uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
    uintptr_t f, uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j,
    uintptr_t k, uintptr_t l);
RECORDER_CALLED_PROTOTYPE_ const char *
recorder_copy_(const struct recorder *recorder, const char *string);
RECORDER_CALLED_PROTOTYPE_ uintptr_t recorder_context_(
    const struct recorder *recorder, const char *trace, const char *text,
    const char *number, struct recorder_given_ id);

/* ------------------------------------------------------------------ text --
 *
 * One file of the program includes recorder_dump.h, which contains the
 * functions from here on; any file calls them. On Windows each file that calls
 * them includes recorder_dump.h.
 */
#if !defined(_WIN32) || defined(RECORDER_COMPILE_ONCE) ||                      \
    defined(RECORDER_DUMP_H)

/* Each function shows all rings, merged by sequence number, and returns the
 * number of records shown. Without an operating system, stderr is the port's
 * RECORDER_WRITE, and there are no descriptors, signals and recordings. */
RECORDER_ANY_PROTOTYPE_ size_t recorder_dump(void); /* to stderr */
/* To stderr, the recorders whose whole name matches: an extended regular
 * expression, case-insensitive. */
RECORDER_ANY_PROTOTYPE_ size_t recorder_dump_for(const char *regex);
/* To sink(context, text, size), one line a call, not NUL-terminated. */
RECORDER_ANY_PROTOTYPE_ size_t recorder_dump_to(recorder_sink *sink,
                                                void *context);

/* Sets the line of a record; the text is kept, not copied. Null: the default,
 * "{order} [{seconds} {location} T{thread}] {recorder}: {severity}{message}".
 * Fields:
 *     {order} {seconds} {wall} {location} {caller} {thread} {name} {recorder}
 *     {severity} {message}
 * {name} is the thread's name, {seconds} count from the start, {severity} is
 * "SW2 " by RECORDER_SW2, or nothing. {order:8} takes at least 8 columns,
 * {recorder:-12} fills from the left; {{ is a brace. At most 255 bytes.
 * Environment: RECORDER_LINE. Returns false, with a line on stderr, where a
 * field is unknown; then nothing changes. */
RECORDER_ANY_PROTOTYPE_ bool recorder_line(const char *line);

#ifdef RECORDER_HOSTED_
RECORDER_ANY_PROTOTYPE_ size_t recorder_dump_fd(int fd); /* as recorder_dump() */

/* --------------------------------------------------------------- signals -- */

/* Dumps when `sig` comes, then does the signal's usual work: calls the earlier
 * handler, or takes the default action. But SIGUSR1 and SIGUSR2 without a
 * handler dump, and the program continues. False: `sig` is ignored, stops the
 * process, or cannot be caught, or the program runs with more rights than its
 * caller (setuid); nothing changes. */
RECORDER_ANY_PROTOTYPE_ bool recorder_dump_on_signal(int sig);

/* The same for the signals by which programs crash (QUIT ILL TRAP ABRT BUS FPE
 * SEGV SYS XCPU XFSZ) and, where the program has no handler for them, USR1 and
 * USR2. `add` and `remove` are masks: 1u << SIGTERM. */
RECORDER_ANY_PROTOTYPE_ void recorder_dump_on_common_signals(unsigned add,
                                                             unsigned remove);

/* Sets these dumps' contents: "last=100, to=/var/log/me/%p.dump, names=net".
 *     last    the number of newest records of each recorder, or all; not set:
 *             as many of each as fit 1,000 lines in all, 1 at least
 *     to      a file instead of stderr, which names it then; %p is the process
 *             id, %e the program's name, %t the time in seconds since 1970,
 *             %% a percent. An existing file is appended to if it is a
 *             regular file of this user with one name, and no link to it; else
 *             stderr gets the dump. Keep it out of folders of all users (/tmp)
 *     names   the recorders whose whole name matches a regular expression, as
 *             for recorder_dump_for()
 * A dump ends with the number of records that it left out. If the rings are in
 * a recording and nothing is set, only its path is printed. Null or "": nothing
 * is set. The text is kept, not copied. RECORDER_DUMP sets it before main(),
 * unless the program runs with more rights than its caller (setuid). Returns
 * false, and says why on stderr, where a setting means nothing; then nothing
 * changes.
 * recorder_dump() and its like always show everything. */
RECORDER_ANY_PROTOTYPE_ bool recorder_dump_set(const char *setting);

/* Gives the calling thread an alternate signal stack, if it has none, so that
 * it can dump after its own has overflowed. The functions above do so for the
 * thread that calls them. False: no memory. The stack of a thread that has
 * ended is given to the next that asks. */
RECORDER_ANY_PROTOTYPE_ bool recorder_alt_stack(void);

/* ------------------------------------------------------------ recordings -- */

/* Moves the rings of all recorders, of later recorders, too, into a new file.
 * Only in a process of one thread. In the path, %p is the process id, %e the
 * program's name, %h the host's name, %t the time in seconds since 1970, %% a
 * percent. There is one file for a process. A child of fork() gets its
 * own file if the path has %p, else records into memory. False, and a line on
 * stderr: the rings stay where they are.
 *
 * A recording that is at the path already and whose process is gone becomes
 * PATH.old, in the place of the one before it, or is removed if it was never
 * finished and is empty. One whose process may be alive, in another pid
 * namespace or on another host, too, stays: the new one is PATH.1 to PATH.9.
 *
 * The environment's RECORDER_FILE does that before main(). */
RECORDER_ANY_PROTOTYPE_ bool recorder_file(const char *path);
#endif
#endif /* _WIN32 */

RECORDER_C_END_

#ifndef RECORDER_DECLARED_
#include "recorder/context.h"
#include "recorder/record.h"
#include "recorder/registry.h"
#ifndef RECORDER_HOSTED_
#include "recorder/resume.h"
#endif
#endif
#endif /* RECORDER_NOTHING_ */
#include "recorder/given.h"
#include "recorder/span.h"
RECORDER_LOUD_

#endif
