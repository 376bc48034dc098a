/* real.c - finds the functions that stand behind the library's own. */
/* SPDX-License-Identifier: MIT */
#include "real.h"

#include <dlfcn.h>

struct run_real run_real;
#ifdef RUN_TIME64
struct run_wide run_wide;
#endif
bool run_has_tsan;
extern void __tsan_init(void) __attribute__((weak));
static __thread bool resolves __attribute__((tls_model("initial-exec")));

/* libc's first version on this machine, by which its internal names of the
 * mutex functions can still be had. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define BASE "GLIBC_2.2.5"
#elif defined(__i386__)
#define BASE "GLIBC_2.0"
#elif defined(__arm__)
#define BASE "GLIBC_2.4"
#elif defined(__aarch64__)
#define BASE "GLIBC_2.17"
#elif defined(__riscv)
#define BASE "GLIBC_2.27"
#else
#error "run/real.c: which is the first version of glibc on this machine?"
#endif
__asm__(".symver base_lock, __pthread_mutex_lock@" BASE);
__asm__(".symver base_trylock, __pthread_mutex_trylock@" BASE);
__asm__(".symver base_unlock, __pthread_mutex_unlock@" BASE);
__asm__(".symver base_init, __pthread_mutex_init@" BASE);
extern int base_lock(pthread_mutex_t *);
extern int base_trylock(pthread_mutex_t *);
extern int base_unlock(pthread_mutex_t *);
extern int base_init(pthread_mutex_t *, const pthread_mutexattr_t *);

int run_base_lock(pthread_mutex_t *m)
{
    return base_lock(m);
}
int run_base_trylock(pthread_mutex_t *m)
{
    return base_trylock(m);
}
int run_base_unlock(pthread_mutex_t *m)
{
    return base_unlock(m);
}

int run_base_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
    return base_init(m, a);
}

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

/* By its bytes: C knows no conversion of a pointer to that of a function. */
#define FIND(to, how, name)                                                    \
    __builtin_memcpy(&(to), &(void *){how(name)}, sizeof(void *))
static void find_conds(struct run_cond_real *to, void *(*how)(const char *))
{
    FIND(to->wait, how, "pthread_cond_wait");
    FIND(to->timedwait, how, "pthread_cond_timedwait");
    FIND(to->signal, how, "pthread_cond_signal");
    FIND(to->broadcast, how, "pthread_cond_broadcast");
    FIND(to->init, how, "pthread_cond_init");
    FIND(to->destroy, how, "pthread_cond_destroy");
}

/* An allocator's first call may come here, which holds a lock of its own:
 * dlsym() allocates nothing, as long as it finds what it looks for. */
bool run_resolve(void)
{
    int error = errno;
    if (resolves)
        return false;
    resolves = true;
#define RESOLVE(name)                                                          \
    if (!run_real.name)                                                        \
        FIND(run_real.name, next, #name);
    RUN_REALS(RESOLVE)
#ifdef RUN_TIME64
#define RESOLVE_WIDE(name) FIND(run_wide.name, next, "__" #name "64");
    RUN_WIDES(RESOLVE_WIDE)
#endif
    find_conds(&run_cond_old, next_old);
    find_conds(&run_cond_new, next_new);
    run_sandbox_resolve();
    run_has_tsan = __tsan_init != NULL;
    resolves = false;
    errno = error;
    return true;
}
