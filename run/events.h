/* events.h - the events that librecorder-run.so records: for it and readers. */
/* SPDX-License-Identifier: MIT */
/*
   The heading of each format, "\1run1 waits mutex until\2", has the schema, the
   event, the kind of a wait, and whether the wait has a limit of time. Readers
   take an event's words by position: a change of the words changes the schema,
   and readers refuse recordings of another one.
*/
#pragma once

#define RUN_SCHEMA "run1"
#define RUN_LOCATION "recorder run" /* in place of a file and line */
#define RUN_HEADING(words) "\1" RUN_SCHEMA " " words "\2"

/* X(name) for each event, by its recorder. */
/* clang-format off: columns */
#define RUN_EVENTS(X)                                                          \
    /* thread_self */ X(stranger) X(made) X(over)                              \
    /* thread_life */ X(create) X(started) X(named) X(joined) X(detached)      \
    X(cancelled) X(forked) X(unseen) X(sandboxed) X(ended)                     \
    /* thread_held, or thread_life at the thread's end */ X(holds)             \
    /* thread_calls */ X(calls)                                                \
    /* thread_now */ X(waits)                                                  \
    /* lock_wait, slow_call */ X(begins) X(ends)                               \
    /* lock_total; the four from `waits` on have a kind of wait */ X(total)    \
    /* lock_wait, with --all */ X(took) X(gave)                                \
    /* lock_order */ X(pair) X(chain) X(gone)                                  \
    /* call_stack; the last two also of a program itself: snapshot.h */         \
    X(stack) X(module) X(snapshot) X(words)
/* clang-format on */

/* X(name, kind) for each kind of wait, and how readers name it. */
#define RUN_KINDS(X)                                                           \
    X(mutex, WAIT_MUTEX)                                                       \
    X(cond, WAIT_CONDITION)                                                    \
    X(read, WAIT_READ)                                                         \
    X(write, WAIT_WRITE)                                                       \
    X(spin, WAIT_SPIN)                                                         \
    X(sem, WAIT_SEMAPHORE)                                                     \
    X(barrier, WAIT_BARRIER)                                                   \
    X(once, WAIT_ONCE)                                                         \
    X(stream, WAIT_STREAM)                                                     \
    X(futex, WAIT_FUTEX)                                                       \
    X(thread, WAIT_THREAD)                                                     \
    X(call, WAIT_CALL)
