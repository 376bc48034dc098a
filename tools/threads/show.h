/* show.h - threads, stacks and deadlocks in words, for the verbs. */
/* SPDX-License-Identifier: MIT */
#ifndef SHOW_H
#define SHOW_H

#include "command.h"
#include "threads.h"

/* Opens the call's source and its threads, with their numbers in the program's
 * registry, if it has one; says what is wrong and exits with 1. */
void show_open(struct call *, struct threads *, bool stop);

/* Prints a text of the program, escaped. */
void show_text(FILE *, const char *text);
/* The name of a file without its folders. */
const char *show_base(const char *path);
/* The kind of an object that is waited for: "mutex". */
const char *show_kind(enum wait_kind);
/* "bank", "queue+0x8", or "0x7f0012345678". */
void show_object(struct threads *, const struct wait *, char to[256]);
/* "4713 teller", and whose it is if not of the program. */
void show_holder(struct threads *, const struct wait *, char to[256]);
/* "waits for mutex bank of 4713 teller", "is in read of 3 (pipe:[12])", "runs";
 * not escaped. */
void show_wait(struct threads *, const struct thread *, char to[1024]);
/* The threads of which each waits for another lock that thread `holder` holds,
 * by their indices; how many, at most `max` are stored. */
size_t show_held(struct threads *, size_t holder, size_t *to, size_t max);
/* "; holds mutex bank, rwlock table", or "" if nobody waits for what it
 * holds. */
void show_holds(struct threads *, size_t holder, char to[1024]);
/* "transfer", or "dead+0x1234" where no symbol tells it. */
void show_function(const struct place *, char to[256]);
/* "transfer dead.c:11 < deposit dead.c:16": the innermost frames of the
 * program's own. */
void show_site(FILE *, struct threads *, const struct thread *);
/* "4713 teller, 4714-4719, 4721 worker", of threads by their indices. */
void show_threads(FILE *, const struct threads *, const size_t *which,
                  size_t count);

/* The deadlocks, in words; and as JSON, an object a line. */
void show_deadlocks(FILE *, struct threads *);
void show_deadlocks_json(FILE *, struct threads *);
/* The end of the output: how it was read, and what was left out. */
void show_how(FILE *, const struct threads *);

#endif
