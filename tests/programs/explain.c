/* explain.c - programs that crash, each with a record that tells why. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

RECORDER(store, 512, "Items")
RECORDER(noise, 512, "Others")

enum { ITEMS = 40 };
struct item {
    struct item *next;
    void (*serve)(struct item *);
    int id, count;
    int *table;
    char text[72];
};
static struct item *items[ITEMS];
static volatile int sink;

static void serve(struct item *item)
{
    item->count++;
}

static __attribute__((noinline)) void item_drop(struct item *item)
{
    record(store, "drop item=%p id=%d", RECORDER_ADDRESS(item), item->id);
    memset(item, 0xdb, sizeof *item);
    free(item);
}

static void items_make(void)
{
    for (int i = 0; i < ITEMS; i++) {
        struct item *item = calloc(1, sizeof *item);
        item->id = 1000 + i;
        item->serve = serve;
        item->table = calloc(16, sizeof *item->table);
        items[i] = item;
        record(store, "make item=%p id=%d table=%p", RECORDER_ADDRESS(item),
               item->id, RECORDER_ADDRESS(item->table));
        record(noise, "tick %d", i);
    }
    for (int i = 0; i + 1 < ITEMS; i++)
        items[i]->next = items[i + 1];
}

/* ----------------------------------------------------------------- kinds -- */

/* A list that ends earlier than its reader expects. */
static __attribute__((noinline)) void null_member(struct item *item)
{
    record(store, "cut item=%p id=%d", RECORDER_ADDRESS(item), item->id);
    item->next = NULL;
    for (int i = 0; i < 3; i++)
        record(noise, "tick %d", i);
    item->next->count = 7;
}

static __attribute__((noinline)) void use_after_free(struct item *item)
{
    item_drop(item);
    for (int i = 0; i < 3; i++)
        record(noise, "tick %d", i);
    sink = item->table[0];
}

static __attribute__((noinline)) void call_after_free(struct item *item)
{
    item_drop(item);
    item->serve(item);
}

static __attribute__((noinline)) void double_free(struct item *item)
{
    int *table = item->table;
    record(store, "release table=%p id=%d", RECORDER_ADDRESS(table), item->id);
    free(table);
    record(noise, "tick %d", 1);
    free(item->table);
}

static __attribute__((noinline)) void heap_overflow(struct item *item)
{
    int *table = malloc(4096);
    long count = 40000000 + item->id;
    record(store, "fill table=%p count=%ld", RECORDER_ADDRESS(table), count);
    for (long i = 0; i < count; i += 256)
        table[i] = 1;
    free(table);
}

static __attribute__((noinline)) void stack_smash(struct item *item)
{
    char text[16];
    record(store, "copy item=%p size=%d", RECORDER_ADDRESS(item), 64);
    memset(text, 'x', 64 + (size_t)sink);
    sink = text[item->count & 7];
}

static __attribute__((noinline)) void uninitialised(struct item *item)
{
    struct item *other = malloc(sizeof *other); /* of one that was dropped */
    record(store, "reuse item=%p id=%d", RECORDER_ADDRESS(other), item->id);
    sink = other->table[2];
}

static __attribute__((noinline)) void wrong_index(struct item *item)
{
    long slot = 90000000 + item->id;
    record(store, "put table=%p slot=%ld", RECORDER_ADDRESS(item->table), slot);
    item->table[slot] = 1;
}

static __attribute__((noinline)) void bad_cast(struct item *item)
{
    struct item *other = (struct item *)item->text;
    strcpy(item->text, "a text, which is no item, of some sixty characters....");
    record(store, "handle object=%p as item", RECORDER_ADDRESS(other));
    other->serve(other);
}

static void *reaper(void *argument)
{
    struct item **item = argument;
    record(store, "reap item=%p", RECORDER_ADDRESS(*item));
    memset(*item, 0xdb, sizeof **item);
    free(*item);
    return NULL;
}
static __attribute__((noinline)) void race(struct item *item)
{
    pthread_t thread;
    pthread_create(&thread, NULL, reaper, &item);
    pthread_join(thread, NULL);
    sink = item->table[1];
}

static __attribute__((noinline)) int recursion(struct item *item, int depth)
{
    volatile char room[256];
    room[0] = (char)depth;
    if (depth % 100000 == 0)
        record(store, "deeper item=%p depth=%d", RECORDER_ADDRESS(item), depth);
    return recursion(item, depth + 1) + room[0];
}

static __attribute__((noinline)) void division(struct item *item)
{
    int count = item->count;
    record(store, "mean item=%p count=%d", RECORDER_ADDRESS(item), count);
    sink = 1000 / count;
}

static __attribute__((noinline)) void assertion(struct item *item)
{
    record(store, "check item=%p id=%d", RECORDER_ADDRESS(item), item->id);
    assert(item->count == 3);
}

static __attribute__((noinline)) void libc_abort(struct item *item)
{
    record(store, "forget item=%p id=%d", RECORDER_ADDRESS(item), item->id);
    free((char *)item + 8);
}

static __attribute__((noinline)) void illegal(struct item *item)
{
    record(store, "state item=%p id=%d", RECORDER_ADDRESS(item), item->id);
    __builtin_trap();
}

static __attribute__((noinline)) void bus(struct item *item)
{
    char path[] = "bus.XXXXXX";
    int fd = mkstemp(path);
    char *text;
    if (fd < 0 || ftruncate(fd, 8192) != 0)
        abort();
    unlink(path);
    text = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    record(store, "map text=%p id=%d", RECORDER_ADDRESS(text), item->id);
    if (ftruncate(fd, 0) != 0)
        abort();
    sink = text[0];
}

/* Crashes without a cause in the records. */
static int *volatile nothing;
static __attribute__((noinline)) void unrelated(void)
{
    *nothing = 1;
}

/* A fault that a handler of the program repairs. */
static char *volatile page;
static void repair(int sig)
{
    (void)sig;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
static void survives(void)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, repair);
    recorder_dump_on_signal(SIGSEGV);
    *page = 1;
}

static const struct kind {
    const char *name;
    void (*crash)(struct item *);
} kinds[] = {{"null_member", null_member},
             {"use_after_free", use_after_free},
             {"call_after_free", call_after_free},
             {"double_free", double_free},
             {"heap_overflow", heap_overflow},
             {"stack_smash", stack_smash},
             {"uninitialised", uninitialised},
             {"wrong_index", wrong_index},
             {"bad_cast", bad_cast},
             {"race", race},
             {"division", division},
             {"assertion", assertion},
             {"libc_abort", libc_abort},
             {"illegal", illegal},
             {"bus", bus}};

/* ------------------------------------------------------------------ main -- */

static void *run(void *name)
{
    struct item *item;
    recorder_thread_name("worker");
    items_make();
    item_drop(items[7]);
    item = items[12];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0)
            kinds[i].crash(item);
    if (strcmp(name, "recursion") == 0)
        sink = recursion(item, 0);
    if (strcmp(name, "unrelated") == 0)
        unrelated();
    if (strcmp(name, "survives") == 0)
        survives();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 2 && strchr(argv[2], 'h'))
        recorder_dump_on_common_signals(0, 0);
    if (argc > 2 && strchr(argv[2], 't'))
        pthread_create(&thread, NULL, run, argv[1]),
            pthread_join(thread, NULL);
    else if (argc > 1)
        run(argv[1]);
    return 0;
}
