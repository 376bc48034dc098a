/* show.h - threads, stacks and deadlocks in words, for the verbs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <regex.h>

#include "print.h"
#include "recorded.h"

/* command.c: opens the threads of a call whose source is open, with their numbers
 * in the program's registry, if it has one; on an error, prints it and exits
 * with 1. */
void show_open(struct call *, struct threads *, bool stop);

/* Gives threads the numbers that they have in the program's own records. */
void show_numbers(struct threads *, struct reader *);

/* The kind of an object that is waited for: "mutex". */
const char *show_kind(enum wait_kind);
/* "bank", "queue+0x8", or "0x7f0012345678". */
void show_object(struct threads *, const struct wait *, char to[256]);
/* "4713 teller"; of recorded threads, "T2 4713 teller". */
void show_name(const struct threads *, size_t which, char to[64]);
/* "4713 teller", and the process if it is another one. */
void show_holder(struct threads *, const struct wait *, char to[256]);
/* The same as members of JSON: ,"holder":4713,"readers":0; null: none, or
 * unknown. */
void show_holder_json(const struct threads *, const struct wait *);
/* A thread and its wait: {"thread":4713,... without the closing brace. */
void show_thread_json(struct threads *, const struct thread *);
/* The variable at an address; null: none. */
const char *show_symbol(struct threads *, uint64_t object, char to[256]);
/* "waits for mutex bank of 4713 teller", "is in read of 3 (pipe:[12])", "runs";
 * not escaped. */
void show_wait(struct threads *, const struct thread *, char to[1024]);
/* The threads that wait for locks of thread `holder`, one for each lock, by
 * their indices; returns their number; at most `max` are stored. */
size_t show_held(struct threads *, size_t holder, size_t *to, size_t max);
/* "; holds mutex bank, rwlock table", or "" if no thread waits for its
 * locks. */
void show_holds(struct threads *, size_t holder, char to[1024]);
/* "transfer", or "dead+0x1234" without a symbol. */
void show_function(const struct place *, char to[256]);
/* Prints "transfer dead.c:11". */
void show_place(FILE *, const struct place *);
/* "transfer dead.c:11 < deposit dead.c:16": the innermost frames of the
 * program's own. */
void show_site(FILE *, struct threads *, const struct thread *);
/* Prints return addresses in the same way, up to `count` functions, after a
 * word. */
void show_frames(FILE *, struct threads *, const char *before,
                 const uint64_t *frames, unsigned count, int max);
/* The functions of return addresses from the `first` on, as JSON objects. */
void show_frames_json(struct threads *, const uint64_t *frames, unsigned first,
                      unsigned count);
/* True if a frame, with all functions inlined into it, is of a header or a
 * library of the system. */
bool show_is_system(const struct place *);
/* ", taken at transfer dead.c:11": the innermost call in the program's files. */
void show_taken_at(FILE *, struct threads *, const struct hold *);
/* Prints a thread's recorded locks: "holds bank, taken at transfer
 * dead.c:9". */
void show_taken(FILE *, struct threads *, const struct thread *);
/* "4713 teller, 4714-4719, 4721 worker", of threads by their indices. */
void show_threads(FILE *, const struct threads *, const size_t *which,
                  size_t count);

/* The deadlocks, in words; and as JSON, an object a line. */
void show_deadlocks(FILE *, struct threads *);
void show_deadlocks_json(struct threads *);
/* tree.c: recorded threads, each below its maker; `chosen`: one bool for each
 * thread; null: all. */
void show_tree(FILE *, struct threads *, const bool *chosen);
/* "running at once: 0: 2 %, 1: 61 %". */
void show_activity(FILE *, struct threads *);

/* tallies.c: a table of waits; as JSON, an object a line. */
void show_contention(FILE *, struct threads *, const struct contentions *,
                     enum contention_by);
void show_contention_json(struct threads *, const struct contentions *,
                          enum contention_by);
/* Locks that are taken in a circle, in words, and as JSON. */
void show_circle(FILE *, struct threads *, const struct circle *);
void show_circle_json(struct threads *, const struct circle *);
/* True if a lock, function or file of a circle matches a regular expression. */
bool show_circle_has(struct threads *, const struct circle *, const regex_t *);

/* list.c: true if a thread has the wanted number, kernel id or name. */
bool show_chosen(const struct thread *, const char *wanted);
/* All threads, or the wanted one, with their stacks. */
void show_list(FILE *, struct threads *, const char *wanted);

/* locks.c: the objects that threads wait for now, by contention_find() BY_NONE,
 * with deadlocks. */
void show_locks(FILE *, struct threads *, const struct contentions *);
/* The recorded locks, with deadlocks and circles, of which `ignored` are left
 * out; of BY_NONE, without the waits. */
void show_locks_recorded(FILE *, struct threads *, const struct order *,
                         enum contention_by, size_t ignored);

/* The end of the output: the way of reading, and the omissions. */
void show_how(FILE *, const struct threads *);
