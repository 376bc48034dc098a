/* A program and its plug-in, which it opens by dlopen(): recorder run. */
/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef PLUGIN
/* The plug-in: a thread of it waits for a lock. */
static pthread_mutex_t plugged = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void WAITS(void)
{
    pthread_mutex_lock(&plugged);
    pthread_mutex_unlock(&plugged);
}
static int worker; /* its kernel id */
static void *WORKS(void *of)
{
    __atomic_store_n(&worker, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    WAITS();
    __asm__ volatile(""); /* no tail call */
    return of;
}
/* Waits until it is asleep, for the lock. */
static void until_it_waits(void)
{
    char path[64], state = '?';
    while (state != 'S') {
        FILE *stat;
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        snprintf(path, sizeof path, "/proc/self/task/%d/stat",
                 __atomic_load_n(&worker, __ATOMIC_ACQUIRE));
        stat = fopen(path, "r");
        if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        if (stat)
            fclose(stat);
    }
}
void work(void);
void work(void)
{
    pthread_t id;
    pthread_mutex_lock(&plugged);
    pthread_create(&id, NULL, WORKS, NULL);
    until_it_waits();
    pthread_mutex_unlock(&plugged);
    pthread_join(id, NULL);
}
#else
static void *nothing(void *of)
{
    return of;
}

/* Opens each plug-in that it is given and closes it, the last not. */
int main(int argc, char **argv)
{
    pthread_t id;
    if (pthread_create(&id, NULL, nothing, NULL)) /* the recording begins */
        return 1;
    pthread_join(id, NULL);
    for (int i = 1; i < argc; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW);
        void (*work)(void) = plugin ? (void (*)(void))dlsym(plugin, "work")
                                    : (void (*)(void))0;
        if (!work)
            return 2;
        printf("%s\n", argv[i]);
        work();
        if (i + 1 < argc)
            dlclose(plugin);
    }
    return 0;
}
#endif
