/* real_functions.c - finds the functions that the library interposes. */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

#include <dlfcn.h>

struct run_real run_real;
#ifdef RUN_TIME64
struct run_wide run_wide;
#endif
bool run_has_tsan;
extern void __tsan_init(void) __attribute__((weak));
bool run_is_bound;
static __thread bool binds __attribute__((tls_model("initial-exec")));

struct run_cond_real run_cond_new, run_cond_old;

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}
/* Of two versions in libc, programs of today were linked with the newer one;
 * glibc before 2.36 would answer with the older. Another library's, such as a
 * sanitizer's, has none. */
static void *next_new(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
#ifdef RUN_COND_NEW
    if (found == dlvsym(RTLD_NEXT, name, RUN_COND_OLD))
        return dlvsym(RTLD_NEXT, name, RUN_COND_NEW);
#endif
    return found;
}
static void *next_old(const char *name)
{
#ifdef RUN_COND_OLD
    return dlvsym(RTLD_NEXT, name, RUN_COND_OLD);
#else
    (void)name;
    return NULL;
#endif
}

/* By its bytes: C has no conversion from data pointers to function pointers. */
void run_put_found(void *to, void *found)
{
    if (found)
        __builtin_memcpy(to, &found, sizeof found);
}
static void bind_conds(struct run_cond_real *to, run_find *find)
{
    RUN_FIND(to->wait, find, "pthread_cond_wait");
    RUN_FIND(to->timedwait, find, "pthread_cond_timedwait");
    RUN_FIND(to->signal, find, "pthread_cond_signal");
    RUN_FIND(to->broadcast, find, "pthread_cond_broadcast");
    RUN_FIND(to->init, find, "pthread_cond_init");
    RUN_FIND(to->destroy, find, "pthread_cond_destroy");
}
static void bind_by(run_find *find, run_find *find_new)
{
#define BIND(name) RUN_FIND(run_real.name, find, #name);
    RUN_REALS(BIND)
#ifdef RUN_TIME64
#define BIND_WIDE(name) RUN_FIND(run_wide.name, find, "__" #name "64");
    RUN_WIDES(BIND_WIDE)
#endif
    bind_conds(&run_cond_new, find_new);
    run_sandbox_bind(find);
    run_calls_bind(find);
}

/* dlsym() may call an allocator of the program's, which locks. */
bool run_bind_all(void)
{
    int error = errno;
    if (binds || run_is_bound)
        return run_is_bound;
    binds = true;
    bind_by(run_libc_missing, run_libc_missing);
    bind_by(run_libc_find, run_libc_find);
    bind_by(next, next_new);
    bind_conds(&run_cond_old, next_old);
    run_guards_bind(next);
    run_has_tsan = __tsan_init != NULL;
    binds = false;
    run_is_bound = true;
    errno = error;
    return true;
}
