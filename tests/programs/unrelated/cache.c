/* cache.c - a cache in which the object that crashes was never recorded, near others in one block. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: freed heap memory|cannot exist|not mapped */
#include "unrelated.h"
#include <pthread.h>
RECORDER(cache, 256, "Cache")
struct item {
    unsigned id, size;
    struct item *older;
    char *data;
};
struct cache {
    struct item items[64];
    unsigned count;
    struct item *oldest;
};
static NOINLINE struct cache *cache_new(void)
{
    struct cache *cache = calloc(1, sizeof *cache);
    record(cache, "cache=%p items=%u", A(cache), 64u);
    return cache;
}
static NOINLINE void fill(struct cache *c, unsigned id)
{
    struct item *item = &c->items[c->count++ % 32];
    item->id = id;
    item->size = id;
    item->data = malloc(40);
    item->older = c->oldest;
    c->oldest = item;
    record(cache, "fill id=%u size=%u data=%p", id, item->size, A(item->data));
}
static NOINLINE unsigned first_byte(struct cache *c, unsigned n)
{
    struct item *item = &c->items[n];
    return (unsigned)item->data[0];
}
struct blob {
    long a;
    char *text;
    long b[6];
};
static struct blob *hidden;
static void *evict(void *v)
{
    struct item *item = v;
    record(cache, "evict id=%u data=%p", item->id, A(item->data));
    free(item->data);
    item->data = NULL;
    return NULL;
}
static NOINLINE int use_hidden(void)
{
    return hidden->text[2];
}
int main(int argc, char **argv)
{
    struct cache *c = cache_new();
    pthread_t t;
    for (unsigned i = 0; i < 32; i++)
        fill(c, 32 + i);
    for (unsigned i = 0; i < 20; i++) {
        pthread_create(&t, NULL, evict, &c->items[i]);
        pthread_join(t, NULL);
    }
    if (argv[1][0] == 'a')
        return (int)first_byte(c, 40);
    hidden = malloc(sizeof *hidden);
    memset(hidden, 0x5a, sizeof *hidden);
    free(hidden);
    return use_hidden();
}
