/* lines.c - a local pointer to freed memory that the crash did not use. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: failed assertion: */
#include "unrelated.h"
#include <assert.h>
RECORDER(io, 256, "Lines")
struct entry {
    char key[16];
    int value;
    struct entry *next;
};
struct line {
    char *text;
    int length;
};
static struct entry first = {"size", 4, NULL};
static struct entry *find(const char *key)
{
    for (struct entry *e = &first; e; e = e->next)
        if (strcmp(e->key, key) == 0)
            return e;
    return NULL;
}
static NOINLINE int handle(const char *key, int n)
{
    struct line *line = malloc(sizeof *line);
    struct entry *e;
    char *text = strdup(key);
    line->text = text;
    line->length = n;
    record(io, "read line=%p text=%p length=%d", A(line), A(text), n);
    n += (int)strlen(line->text) - line->length;
    record(io, "done line=%p text=%p", A(line), A(text));
    free(text);
    free(line);
    e = find(key);
    if (n < 0)
        printf("%p %p\n", (void *)line, (void *)text);
    assert(n != 5);
    return e->value + n;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 30; i++)
        handle("size", i);
    return handle(argv[1][0] == 'a' ? "none" : "width", 3) + printf("x\n");
}
