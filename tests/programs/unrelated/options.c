/* options.c - common words in records and variables, with a freed pointer beside. */
/* SPDX-License-Identifier: MIT */
/* a: null pointer */
/* b: an address was freed */
#include "unrelated.h"
RECORDER(cfg, 256, "Settings")
static const char *words[] = {"none", "name", "value", "true", "main", "none"};
struct option {
    const char *name;
    char *value;
    int line;
};
static struct option options[8];
static NOINLINE void set(struct option *option, const char *name,
                         const char *value, int line)
{
    option->name = name;
    option->line = line;
    option->value = strdup(value);
    record(cfg, "set name=%s value=%s option=%p line=%d", name, value,
           A(option), line);
}
static NOINLINE void clear(struct option *option)
{
    record(cfg, "clear name=%s value=%p", option->name, A(option->value));
    free(option->value);
    option->value = NULL;
}
static NOINLINE int copy(char *to, const char *name)
{
    char *value = strdup(name);
    record(cfg, "copy value=%p", A(value));
    free(value);
    strcpy(to, name);
    return value != NULL;
}
static NOINLINE void drop(struct option *option)
{
    char *value = strdup("none"), *p;
    record(cfg, "value=%p", A(value));
    free(value);
    p = malloc(100);
    if (value == NULL)
        puts("?");
    free(p + 8);
    option->line = 0;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 40; i++) {
        set(&options[i % 8], words[i % 6], words[(i + 1) % 6], i);
        clear(&options[i % 8]);
    }
    if (argv[1][0] == 'a')
        return copy(options[2].value, "none");
    drop(&options[1]);
    return 0;
}
