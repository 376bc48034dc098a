/* Includes the header, records nothing, and opens a library after the other. */
/* SPDX-License-Identifier: MIT */
/*
    bystander LIBRARY ...       each has a part that is called `one`
*/
#include "recorder.h"

#include "part.h"

#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **libraries)
{
    int i;
    for (i = 1; i < count; i++) {
        void *handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        const struct part *part =
            handle ? (const struct part *)dlsym(handle, "part_one") : NULL;
        if (!part || part->keep(i) == 0 || part->thread() == 0 ||
            part->registry() != (void *)&recorder_registry)
            return 1;
        if (dlclose(handle) != 0)
            return 1;
    }
    puts("ok");
    return 0;
}
