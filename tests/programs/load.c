/* Opens a library and calls its selftest(). */
/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **what)
{
    void *handle = count > 1 ? dlopen(what[1], RTLD_NOW) : NULL;
    int (*selftest)(void);
    if (!handle || !(*(void **)&selftest = dlsym(handle, "selftest"))) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return selftest();
}
