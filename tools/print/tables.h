/* tables.h - recorders, threads and tweaks, as text in columns. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader.h"

/* The recorders that are chosen, with their figures of reader_count(), threads
 * and tweaks; with a column of the slots in use. */
void tables(FILE *, const struct reader *, bool slots);
/* Prints nothing, not even a head, if there are none. */
void table_threads(FILE *, const struct reader *);

/* Prints a text of the program in a column, escaped. */
void table_column(FILE *, const char *text, int width);
/* The width of a column that has room for a text, too. */
int table_width(const char *text, int width);
/* Writes "744", or "~744" where it is an estimate. Returns `to`. */
const char *table_count(uint64_t count, bool estimated, char to[32]);
/* Returns the width of the column with the recorders' names. */
int table_names_width(const struct reader *);

/* Makes "80.0 us", "2.74 ms", "1.059 s", "3.50 h", "4.2 d" of nanoseconds, and
 * "80.028 us", "2.741 ms" where they are compared with each other. */
const char *table_time(uint64_t ns, char to[32]);
const char *table_time_exact(uint64_t ns, char to[32]);
/* The time from the oldest to the newest record that a recorder keeps; false if
 * one of them is unknown, or if they are not in order. */
bool table_span(const struct reader_recorder *, uint64_t *ns);
