/* spin.c - the function that a running thread does not leave. */
/* SPDX-License-Identifier: MIT */
#include "watch.h"

enum { LOOKS = 3, FRAMES = 128 };

/* The names of functions in a stack of `recorder threads`, from the outermost
 * on; they stay in `text`. */
static int frames_of(char *text, char *to[FRAMES])
{
    char *lines[FRAMES];
    int count = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, "    ", 4) == 0 && count < FRAMES)
            lines[count++] = line + 4;
    for (int i = 0; i < count; i++)
        to[i] = lines[count - 1 - i];
    return count;
}

static bool same_function(const char *a, const char *b)
{
    size_t size = strcspn(a, " ");
    return size == strcspn(b, " ") && strncmp(a, b, size) == 0;
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
    int common = 0;
    bool leaf = true;
    if (calls(p, t))
        return VERDICT_NONE;
    snprintf(id, sizeof id, "%d", t->id);
    for (int i = 0; i < LOOKS; i++) {
        char *frames[FRAMES];
        int count, k = 0;
        if (watch_run(watch_command, command, NULL, text[i], sizeof text[i],
                      20) != 0 ||
            !memmem(text[i], strcspn(text[i], "\n"), " runs", 5))
            return VERDICT_NONE;
        count = frames_of(text[i], i ? frames : first);
        while (i && k < count && k < common &&
               same_function(first[k], frames[k]))
            k++;
        leaf &= !i || (k == count && k == common);
        common = i ? k : count;
        usleep(100000);
    }
    t->waits = look_waits(p->pid, t->id);
    if (!common) /* it stopped without a wait */
        return VERDICT_NONE;
    proc_name(p->pid, t->id, name);
    snprintf(to, 512, "%d %s runs in", t->id, name);
    for (int i = common - 1; i >= 0 && i >= common - 3; i--) {
        char *at = first[i];
        size_t size = strcspn(at, " ");
        snprintf(to + strlen(to), 512 - strlen(to), "%s %.*s %s",
                 i < common - 1 ? " <" : "", (int)size, at,
                 at + size + strspn(at + size, " "));
    }
    return leaf ? VERDICT_SURE : VERDICT_PERHAPS;
}
