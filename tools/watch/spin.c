/* spin.c - the function that a running thread does not leave. */
/* SPDX-License-Identifier: MIT */
#include "watch.h"

enum { LOOKS = 3, FRAMES = 128 };

/* The frames in a stack of `recorder threads`, the outermost last; they stay in
 * `text`. A thread of `recorder run`, as "T2 11846 dead", has them in one line. */
static int frames_of(char *text, char *to[FRAMES])
{
    bool in_line = *text == 'T' && strstr(text, "\n    at ");
    const char *between = in_line ? " < " : "\n    ",
               *begin = in_line ? "\n    at " : between;
    char *at = strstr(text, begin), *next, *end;
    size_t skip = strlen(begin);
    int count = 0;
    for (; at && count < FRAMES; at = next, skip = strlen(between)) {
        at += skip;
        end = at + strcspn(at, "\n");
        next = strstr(at, between);
        if (next && next > end)
            next = NULL;
        *(next ? next : end) = '\0';
        to[count++] = at;
    }
    return count;
}

/* The bytes of a frame's text without the number of its line. 0: the code has no
 * name, as a just-in-time compiler makes it: all these frames are one function. */
static size_t name_size(const char *frame)
{
    const char *colon = strrchr(frame, ':');
    if (strncmp(frame, "0x", 2) == 0)
        return 0;
    return colon && colon[1] >= '0' && colon[1] <= '9' ? (size_t)(colon - frame)
                                                       : strlen(frame);
}

static bool same_function(const char *a, const char *b)
{
    size_t size = name_size(a);
    return size == name_size(b) && strncmp(a, b, size) == 0;
}

/* Finds in a thread's heading the words for its use of the processor: " runs", or
 * " waits for spinlock s of T2 11412 dead". Null: the thread rests. */
static const char *runs_in(const char *text, int *size)
{
    size_t line = strcspn(text, "\n");
    const char *spins = memmem(text, line, " waits for spinlock", 19);
    *size = spins ? (int)(text + line - spins) : 5;
    return spins ? spins : memmem(text, line, " runs", 5);
}

/* True if a thread spent its time in the kernel, too: it does call. */
static bool calls(const struct watched *p, const struct task *t)
{
    char text[2048], *end;
    uint64_t user = strtoull(proc_stat(p->pid, t->id, 14, text), &end, 10);
    uint64_t now = strtoull(end, NULL, 10);
    return !user || now - t->busy_system > user / 50 + 2;
}

enum verdict spin_find(struct watched *p, struct task *t, char to[512])
{
    char id[16], name[17], text[LOOKS][16384], *first[FRAMES];
    const char *command[] = {"threads", p->id, "--thread", id, "--stop", NULL};
    int common = 0, all = 0, size;
    const char *does = NULL;
    bool leaf = true;
    if (calls(p, t))
        return VERDICT_NONE;
    snprintf(id, sizeof id, "%d", t->id);
    for (int i = 0; i < LOOKS; i++) {
        char *frames[FRAMES];
        int count, k = 0;
        if (watch_run(watch_command, command, NULL, text[i], sizeof text[i],
                      20) != 0 ||
            !(does = runs_in(text[i], &size)))
            return VERDICT_NONE;
        count = frames_of(text[i], i ? frames : first);
        all = i ? all : count;
        while (i && k < count && k < common &&
               same_function(first[all - 1 - k], frames[count - 1 - k]))
            k++;
        leaf &= !i || (k && k == count && k == common && name_size(*frames));
        common = i ? k : count;
        usleep(100000);
    }
    t->waits = look_waits(p->pid, t->id);
    if (!common) /* it stopped without a wait */
        return VERDICT_NONE;
    proc_name(p->pid, t->id, name);
    snprintf(to, 512, "%d %s%.*s in", t->id, name, size, does);
    for (int i = all - common; i < all && i < all - common + 3; i++) {
        char *at = first[i];
        size_t end = strcspn(at, " "), blanks = strspn(at + end, " ");
        snprintf(to + strlen(to), 512 - strlen(to), "%s %.*s%s",
                 i > all - common ? " <" : "", (int)end, at,
                 at + end + blanks - (blanks > 0));
    }
    return leaf ? VERDICT_SURE : VERDICT_PERHAPS;
}
