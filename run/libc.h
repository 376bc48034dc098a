/* libc.h - finds functions in libc, whatever a program defines. */
/* SPDX-License-Identifier: MIT */
#ifndef RUN_LIBC_H
#define RUN_LIBC_H

#pragma GCC visibility push(hidden)

/* Returns what libc, its loader or libgcc_s defines by a name; null: none of
 * them defines it. Takes no lock, and calls no function of other files. */
void *run_libc_find(const char *name);
/* The same of any library but this one. */
void *run_find_any(const char *name);
/* Returns a function for all that libc lacks, which returns ENOSYS. */
void *run_libc_missing(const char *name);

#pragma GCC visibility pop

#endif
