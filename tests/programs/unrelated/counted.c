/* counted.c - counted objects that malloc gives the same address, of the same type. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: SIGABRT: abort */
#include "unrelated.h"
RECORDER(obj, 256, "Objects")
struct object {
    int refs;
    int kind;
    struct object *owner;
    const char *name;
    char room[40];
};
static struct object *obj_new(int kind, int loud)
{
    struct object *o = calloc(1, sizeof *o);
    o->refs = 1;
    o->kind = kind;
    o->name = "object";
    if (loud)
        record(obj, "new object=%p kind=%d", A(o), kind);
    return o;
}
static NOINLINE void unref(struct object *o)
{
    if (--o->refs)
        return;
    record(obj, "free object=%p kind=%d", A(o), o->kind);
    free(o);
}
static NOINLINE int owner_kind(struct object *object)
{
    return object->owner->kind;
}
static NOINLINE void check(struct object *object, struct object *old)
{
    if (object->kind != old->refs + 1000)
        abort();
}
int main(int argc, char **argv)
{
    struct object *o, *keep;
    for (int i = 0; i < 40; i++) {
        o = obj_new(i % 4, 1);
        unref(o);
    }
    keep = obj_new(3, 0);
    if (argv[1][0] == 'a')
        return owner_kind(keep);
    o = obj_new(2, 1);
    unref(o);
    check(keep, o);
    return 0;
}
