/* hash.c - a hash table whose entries reuse addresses. */
/* SPDX-License-Identifier: MIT */
/* a: SIGSEGV: (read|write).*(cannot exist|not mapped) */
/* b: double free */
#include "unrelated.h"
RECORDER(hash, 256, "Entries")
typedef struct entry {
    struct entry *next;
    unsigned key;
    char value[20];
} entry;
static entry *table[16];
static NOINLINE void put(unsigned key, int quiet)
{
    entry *e = malloc(sizeof *e);
    e->key = key;
    e->next = table[key % 16];
    memset(e->value, 'A', sizeof e->value);
    table[key % 16] = e;
    if (!quiet)
        record(hash, "put entry=%p key=%u", A(e), key);
}
static NOINLINE void del(unsigned key)
{
    entry **p = &table[key % 16], *e;
    while (*p && (*p)->key != key)
        p = &(*p)->next;
    e = *p;
    if (!e)
        return;
    *p = e->next;
    record(hash, "del entry=%p key=%u", A(e), key);
    free(e);
}
static NOINLINE entry *get(unsigned key)
{
    entry *e = table[key % 16];
    while (e && e->key != key)
        e = e->next;
    return e;
}
static NOINLINE void close_files(void)
{
    char *volatile buffer = malloc(200), *other = malloc(24);
    free(other);
    free(buffer);
    free(buffer);
    if (!other)
        puts("x");
}
int main(int argc, char **argv)
{
    for (unsigned i = 0; i < 100; i++) {
        put(i, 0);
        if (i > 3)
            del(i - 3);
    }
    for (unsigned i = 0; i < 4; i++)
        put(200 + 16 * i, 1);
    if (argv[1][0] == 'a') {
        memset(&table[8]->next, 'B', 8);
        return (int)get(8)->key;
    }
    for (unsigned i = 0; i < 8; i++) {
        entry *e = malloc(24);
        record(hash, "temporary=%p", A(e));
        free(e);
    }
    close_files();
    return 0;
}
