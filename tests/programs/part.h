/* What a part of a program, or of a library, shows of itself: see part.c. */
/* SPDX-License-Identifier: MIT */
#ifndef PART_H
#define PART_H

#include <stdint.h>

struct part {
    uintptr_t (*keep)(int value); /* into its recorder; the order */
    uintptr_t (*early)(void);     /* order of its constructor's record */
    unsigned (*thread)(void);     /* number of the calling thread */
    void *(*registry)(void);      /* where it takes the registry for */
    unsigned (*listed)(const char *name); /* recorders of a name, in there */
    int (*found)(uintptr_t order, int value); /* is that record kept? */
};

#endif
