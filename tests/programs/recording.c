/* What tests/outside/recording.c runs: records, is moved into a file, and
 * dies. */
/* SPDX-License-Identifier: MIT */
/*
    recording VERB [ARGUMENT]: see main(). 8 threads may record at full speed;
    what each has recorded for sure is in a shared file.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder_dump.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording.h"

RECORDER(tiny, 16, "The smallest")
RECORDER_DECLARE_SHARED(shared)
RECORDER(shared, 1024, "All threads")
RECORDER_LANES(own, OWN_SLOTS, THREADS, "A ring for each thread")
RECORDER(text, 32768, "Copied texts")
#ifdef BIG /* 2^24 slots of 88 bytes, and half as many: above 2 GiB */
RECORDER(big_1, 1 << 24, "1.4 GiB")
RECORDER(big_2, 1 << 23, "0.7 GiB")
#endif

static struct published *published;

/* One record that says whether it is whole: key, and three words made of it. */
#define CHECKED(name, key)                                                     \
    record(name, "%lu %lx %lx %lx", key, (key)*MIX, (key) ^ MIX, ~(key))

static void *write_all(void *argument)
{
    unsigned me = (unsigned)(uintptr_t)argument;
    struct last *last = published->last[me];
    unsigned long i;
    __atomic_fetch_add(&published->running, 1, __ATOMIC_RELAXED);
    for (i = 1; !__atomic_load_n(&published->stop, __ATOMIC_RELAXED); i++) {
        unsigned long key = i << 8 | me;
        unsigned ring = i % 4 == 0 ? TINY : i % 4 == 2 ? SHARED : OWN;
        struct last *to = &last[ring];
        unsigned at = (unsigned)to->count & 1;
        const struct recorder_ring *rings =
            ring == TINY ? recorder_for_tiny.rings : recorder_for_shared.rings;
        to->write[at] = recorder_get_(&rings->write);
        to->order[at] = ring == TINY     ? CHECKED(tiny, key)
                        : ring == SHARED ? CHECKED(shared, key)
                                         : CHECKED(own, key);
        to->key[at] = key;
        __atomic_store_n(&to->count, to->count + 1, __ATOMIC_RELEASE);
        if (i % 2048 == 0) {
            char name[64];
            sprintf(name, "a text of thread %u that takes two records", me);
            record(text, "%s|%u", RECORDER_COPY(text, name), me);
        }
    }
    return NULL;
}

static pthread_t threads[THREADS];
static void storm(const char *path)
{
    int fd = open(path, O_RDWR);
    published = mmap(NULL, sizeof *published, PROT_READ | PROT_WRITE,
                     MAP_SHARED, fd, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, write_all, (void *)i);
    while (__atomic_load_n(&published->running, __ATOMIC_RELAXED) < THREADS)
        usleep(100);
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void few(void)
{
    static const char *const lives = "lives";
    for (int i = 0; i < 40; i++) {
        char dies[16];
        sprintf(dies, "dies %d", i);
        record(tiny, "%d of %d: %s %s %g", i, 40, lives, "literal", i / 8.0);
        record(text, "%s, %-10s|", RECORDER_COPY(text, dies),
               RECORDER_COPY(text, "and a longer text that takes more records "
                                   "than one"));
        record(own, "%d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, i);
    }
}

/* Opens a library, and calls its function; closes it again. */
static void library(const char *path, int n, bool close)
{
    void *handle = dlopen(path, RTLD_NOW);
    void (*record_some)(int);
    if (!handle)
        fprintf(stderr, "%s\n", dlerror());
    must(handle != NULL, "dlopen");
    *(void **)&record_some = dlsym(handle, "record_some");
    must(record_some != NULL, "dlsym");
    record_some(n);
    if (close)
        dlclose(handle);
}

/* Texts whose records and tokens are in the old rings, when recorder_file()
 * comes: tokens of the same ring and of another, one whose text another has
 * overwritten, one that is recorded later. */
static void tokens(const char *path)
{
    static const char longer[] =
        "of more than one record, so that its pieces lead "
        "from one to the next; and here it ends";
    const char *lost, *kept;
    unsigned i;
    while (recorder_order % 64 != 40)
        record(tiny, "to the order that is wanted");
    lost = RECORDER_COPY(tiny, "the first one");
    record(own, "one order, so that the low bits are others");
    for (i = 0; i < 16; i++)
        RECORDER_COPY(tiny, "another text");
    record(tiny, "lost: <%s>", RECORDER_ADDRESS(lost));
    record(text, "same ring: <%s> %d", RECORDER_COPY(text, longer), 1);
    record(own, "other ring: %d <%s>", 2, RECORDER_COPY(text, longer));
    for (i = 0; i < 4; i++)
        record(tiny, "%d: <%s>", i,
               i % 2 ? "literal" : RECORDER_COPY(tiny, "a"));
    kept = RECORDER_COPY(text, "kept");
    must(recorder_file(path), "recorder_file");
    record(text, "kept: <%s>", RECORDER_ADDRESS(kept));
    record(text, "later: <%s>", RECORDER_COPY(text, longer));
}

static void child(const char *how)
{
    pid_t pid;
    int status;
    record(shared, "before");
    pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 3; i++)
            record(shared, "%s %d", "child", i);
        recorder_thread_name("child");
        if (how)
            recorder_dump_fd(1);
        raise(SIGKILL);
    }
    for (int i = 0; i < 5; i++)
        record(shared, "%s %d", "parent", i);
    must(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "child");
    record(shared, "after");
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "few";
    const char *argument = argc > 2 ? argv[2] : NULL;
    bool is_file = recorder_home_.registry->image != NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(verb, "storm") == 0) { /* until somebody kills us */
        storm(argument);
        published->ready = 1;
        for (;;)
            pause();
    } else if (strcmp(verb, "abort") == 0) {
        storm(argument);
        usleep(10000);
        abort();
    } else if (strcmp(verb, "exit") == 0) {
        storm(argument);
        usleep(10000);
        _exit(3);
    } else if (strcmp(verb, "memory") == 0) { /* until there is none */
        struct rlimit limit = {256 << 20, 256 << 20};
        storm(argument);
        if (argc > 3)
            setrlimit(RLIMIT_AS, &limit);
        for (unsigned mb = 0; mb < 512; mb++) {
            char *more = malloc(1 << 20);
            if (!more)
                abort();
            memset(more, 1, 1 << 20);
        }
        return 4;                              /* nobody has set a limit */
    } else if (strcmp(verb, "refused") == 0) { /* recorder_file() in a storm */
        storm(argument);
        errno = 77;
        must(!recorder_file(argv[3]) && errno == 77, "to be refused");
        must(!recorder_home_.registry->image, "no file");
        published->stop = 1;
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        recorder_dump_fd(1);
        /* the threads have ended, but the task list may not know it yet */
        for (unsigned i = 0; i < 1000 && !recorder_file(argv[3]); i++)
            usleep(1000);
        recorder_dump_fd(2);
    } else if (strcmp(verb, "tokens") == 0) { /* and moves their texts */
        tokens(argument);
        recorder_dump_fd(1);
        raise(SIGKILL);
    } else if (strcmp(verb, "join") == 0) { /* a library, in a storm */
        storm(argument);
        library(argv[3], 1, false);
        published->stop = 1;
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        recorder_dump_fd(1);
        raise(SIGKILL);
    } else if (strcmp(verb, "few") == 0) { /* says whether there is a file */
        few();
        printf("%s\n", is_file ? "file" : "memory");
    } else if (strcmp(verb, "dump") == 0) { /* and dies */
        few();
        usleep(20000); /* the dump has a better rate of the ticks by now */
        recorder_dump_fd(1);
        raise(SIGKILL);
    } else if (strcmp(verb, "line") == 0) { /* of its own, and dies */
        few();
        must(recorder_line("Y {order} {message}"), "recorder_line");
        recorder_dump_fd(1);
        raise(SIGKILL);
    } else if (strcmp(verb, "claim") == 0) { /* the first that a file holds */
        struct recorder_open_claim_ claim;
        recorder_open_claim_make_(&claim);
        must(fwrite(&claim, sizeof claim, 1, stdout) == 1, "claim");
    } else if (strcmp(verb, "stay") == 0) { /* until stdin ends */
        char byte;
        few();
        printf("ready\n");
        (void)!read(0, &byte, 1);
    } else if (strcmp(verb, "later") == 0) { /* recorder_file() as such */
        errno = 77;
        few();
        printf("%d", recorder_file(argument));
        printf("%d", recorder_file(argument));
        printf("%d%d\n", recorder_file(""), recorder_file(NULL));
        must(errno == 77, "errno");
        few();
        recorder_dump_fd(1);
        raise(SIGKILL);
    } else if (strcmp(verb, "fork") == 0) {
        child(argument);
        raise(SIGKILL);
    } else if (strcmp(verb, "exec") == 0) {
        char *const next[] = {(char *)"sh", (char *)"-c",
                              (char *)"ls -l /proc/self/fd", NULL};
        extern char **environ;
        pid_t pid;
        int status;
        few();
        unsetenv("RECORDER_FILE");
        must(posix_spawnp(&pid, "true", NULL, NULL,
                          (char *const[]){(char *)"true", NULL},
                          environ) == 0 &&
                 waitpid(pid, &status, 0) == pid && status == 0,
             "posix_spawn");
        must(system("true") == 0, "system");
        pid = vfork();
        if (pid == 0) {
            record(shared, "child of vfork");
            _exit(0);
        }
        must(waitpid(pid, &status, 0) == pid && status == 0, "vfork");
        record(shared, "before exec");
        execvp("sh", next);
    } else if (strcmp(verb, "dlopen") == 0) { /* one library after the other */
        few();
        for (int i = 2; i < argc; i++)
            library(argv[i], i, true);
        record(shared, "%s", "all closed");
        raise(SIGKILL);
    } else if (strcmp(verb, "open") == 0) { /* a library that stays */
        library(argument, 1, false);
        recorder_dump_fd(1);
        raise(SIGKILL);
    } else if (strcmp(verb, "linked") == 0) { /* a library from the start */
        void (*record_some)(int);
        *(void **)&record_some = dlsym(RTLD_DEFAULT, "record_some");
        must(record_some != NULL, "dlsym");
        record_some(1);
        recorder_dump_fd(1);
        raise(SIGKILL);
    } else if (strcmp(verb, "full") == 0) { /* as many records as it takes */
#ifdef BIG
        for (int i = 0; i < 100000; i++) {
            CHECKED(big_1, (unsigned long)i << 8);
            CHECKED(big_2, (unsigned long)i << 8);
        }
#endif
        printf("%s\n", is_file ? "file" : "memory");
        raise(SIGKILL);
    }
    return 0;
}
