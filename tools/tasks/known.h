/* known.h - the symbols by which libraries with tasks are known. */
/* SPDX-License-Identifier: MIT */
#ifndef KNOWN_H
#define KNOWN_H

/* All names that known.c asks for; ends with null. */
extern const char *const known_names[];

#endif
