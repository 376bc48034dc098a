/* A program without a recorder, which opens libraries that have some. */
/* SPDX-License-Identifier: MIT */
/* bare LIBRARY PART LIBRARY PART */
#include "part.h"

#include <dlfcn.h>
#include <stdio.h>

static const struct part *open_part(const char *library, const char *part)
{
    char symbol[80];
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    snprintf(symbol, sizeof symbol, "part_%s", part);
    if (!handle)
        fprintf(stderr, "%s\n", dlerror());
    return handle ? (const struct part *)dlsym(handle, symbol) : NULL;
}

int main(int count, char **what)
{
    const struct part *one, *two;
    uintptr_t order;
    if (count != 5 || !(one = open_part(what[1], what[2])) ||
        !(two = open_part(what[3], what[4])))
        return 2;
    order = one->keep(1);
    if (two->keep(2) != order + 1 || one->keep(3) != order + 2 ||
        one->thread() != two->thread() || one->registry() != two->registry() ||
        !one->found(order + 1, 2) || !two->found(order, 1) ||
        one->listed(what[4]) != 1 || two->listed(what[2]) != 1)
        return 1;
    puts("ok");
    return 0;
}
