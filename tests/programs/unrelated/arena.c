/* arena.c - an arena that is recorded at start; nodes of a tree within. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: SIGFPE: integer division by zero */
#include "unrelated.h"
RECORDER(mem, 256, "Arena")
RECORDER(tree, 256, "Tree")
struct node {
    int key;
    int count;
    struct node *left, *right;
};
struct arena {
    char *base;
    size_t used, size;
    struct node *root;
};
static struct arena *arena_new(size_t n)
{
    struct arena *a = malloc(sizeof *a);
    a->base = malloc(n);
    a->used = 0;
    a->size = n;
    a->root = NULL;
    record(mem, "arena=%p base=%p size=%zu", A(a), A(a->base), n);
    return a;
}
static void *arena_take(struct arena *a, size_t n)
{
    void *p = a->base + a->used;
    a->used += n;
    record(mem, "take at=%p size=%zu used=%zu", A(p), n, a->used);
    return p;
}
static void add(struct arena *a, int key)
{
    struct node **p = &a->root;
    while (*p)
        p = key < (*p)->key ? &(*p)->left : &(*p)->right;
    struct node *n = arena_take(a, sizeof *n);
    n->key = key;
    n->count = 1;
    n->left = n->right = NULL;
    *p = n;
    record(tree, "add node=%p key=%d", A(n), key);
}
static NOINLINE int depth_left(struct node *n)
{
    int d = 0;
    while (n->key >= -1000) {
        d++;
        n = n->left;
    }
    return d;
}
static NOINLINE int mean(struct node *n, int total, int count)
{
    record(tree, "tick %d", n->key & 7);
    return total / count;
}
int main(int argc, char **argv)
{
    struct arena *a = arena_new(1 << 16);
    unsigned seed = 7;
    for (int i = 0; i < 300; i++) {
        seed = seed * 1103515245 + 12345;
        add(a, (int)(seed >> 16) % 1000);
    }
    for (int i = 0; i < 40; i++)
        record(tree, "balance count=%d total=%d", i % 3, i);
    if (argv[1][0] == 'a')
        return depth_left(a->root);
    return mean(a->root, 17, (int)a->used - 300 * (int)sizeof(struct node));
}
