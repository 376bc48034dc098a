/* libc.h - finds functions in libc, whatever a program defines. */
/* SPDX-License-Identifier: MIT */
#pragma once

#pragma GCC visibility push(hidden)

/* Returns the symbol of a name in libc, its loader or libgcc_s; null: none of
 * these defines the name. Takes no lock, and calls functions of libc.c only. */
void *run_libc_find(const char *name);
/* The same of any library but this one. */
void *run_find_any(const char *name);
/* The same in the first library that defines the other name; null: it lacks it. */
void *run_find_beside(const char *name, const char *other);
/* Returns a function for all that libc lacks, which returns ENOSYS. */
void *run_libc_missing(const char *name);

#pragma GCC visibility pop
