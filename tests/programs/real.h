/* real.h - the function that a function of the same name stands in front of. */
/* SPDX-License-Identifier: MIT */
#ifndef REAL_H
#define REAL_H

#include <dlfcn.h>

/* Declares `real`, and finds it: of this type, name and parameters. */
#define REAL(type, name, ...)                                                  \
    static type (*real)(__VA_ARGS__);                                          \
    if (!real)                                                                 \
        *(void **)(void *)&real = dlsym(RTLD_NEXT, #name)

#endif
