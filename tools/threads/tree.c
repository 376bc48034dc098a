/* tree.c - recorded threads in words, each below its maker. */
/* SPDX-License-Identifier: MIT */
#include "show.h"

enum { INDENT_MAX = 20, DEPTH_MAX = 1000 };

/* The threads by their makers: lists, by indices + 1. */
struct tree {
    FILE *to;
    struct threads *threads;
    const bool *chosen;
    size_t *child, *next; /* the first that it made; the next of its maker's */
    bool *shown;
    unsigned *first_with; /* of a stack: the number of the thread that showed
                           * it */
    struct ids stacks;
    size_t stacks_max;
};

/* ----------------------------------------------------------------- words -- */

/* Writes the function of a thread. The start function of std::thread is the
 * library's: the callable's type, in the name of its vtable, is more useful. */
static void start_words(struct threads *threads, const struct past *past,
                        char to[300])
{
    static const char table[] = "vtable for std::thread::_State_impl<"
                                "std::thread::_Invoker<std::tuple<";
    const struct place *place = place_of(threads, past->start);
    char type[1024], name[256];
    if (place_variable(threads->unwind.dwfl, past->first, type, sizeof type) &&
        strncmp(type, table, sizeof table - 1) == 0) {
        char *end = strstr(type, "> > >+0x");
        if (end)
            *end = '\0';
        snprintf(to, 300, "std::thread of %.280s", type + sizeof table - 1);
        return;
    }
    if (place)
        show_function(place, name);
    else
        snprintf(name, sizeof name, "0x%llx", (unsigned long long)past->start);
    snprintf(to, 300, "%s(0x%llx)", name, (unsigned long long)past->argument);
}

/* A stack, in full at its first appearance. */
static void stack_show(struct tree *tree, uint64_t number, uint64_t site,
                       unsigned shown_as)
{
    uint64_t frames[FRAMES_MAX];
    unsigned count = recorded_frames(tree->threads, number, site, frames);
    unsigned *shown = NULL;
    bool is_new = true;
    if (recorded_stack(tree->threads->recorded, number))
        shown = array_at_key(tree->first_with, &tree->stacks, tree->stacks_max,
                             number, 0, 0, &is_new);
    if (shown && is_new)
        *shown = shown_as;
    show_frames(tree->to, tree->threads, " at ", frames, count,
                is_new ? FRAMES_MAX : 1);
    if (!is_new && count > 1)
        fprintf(tree->to, " < ... as T%u", *shown);
}

/* "waits for mutex bank of T3 4714 teller", "ended". */
static void does_words(struct threads *threads, const struct thread *thread,
                       char to[1024])
{
    if (thread->past && thread->past->is_parents)
        strcpy(to, "is of the process that forked this one");
    else if (thread->ended)
        strcpy(to, "ended");
    else
        show_wait(threads, thread, to);
}

/* ---------------------------------------------------------------- groups -- */

/* True if two threads have one place of birth and one start function, and hold
 * nothing. */
static bool is_made_alike(const struct past *one, const struct past *other)
{
    return one->start == other->start && one->made_stack == other->made_stack &&
           one->made_at == other->made_at && !one->holds_count &&
           !other->holds_count;
}

/* True if two threads of one maker are shown as one: they made no threads, are
 * alike by all that is known, and do the same at one place. */
static bool is_alike(const struct tree *tree, size_t a, size_t b)
{
    struct threads *threads = tree->threads;
    const struct thread *one = &threads->all[a], *other = &threads->all[b];
    char left[1024], right[1024];
    if (tree->child[a] || tree->child[b] || !one->past != !other->past ||
        (one->past && !is_made_alike(one->past, other->past)) ||
        one->ended != other->ended ||
        one->frames_count != other->frames_count ||
        memcmp(one->frames, other->frames,
               one->frames_count * sizeof *one->frames) != 0)
        return false;
    if (one->ended) /* of many threads, most */
        return true;
    does_words(threads, one, left);
    does_words(threads, other, right);
    return strcmp(left, right) == 0;
}

static void made_show(struct tree *tree, const struct thread *thread,
                      int indent, size_t count)
{
    const struct past *past = thread->past;
    char start[300], time[32];
    start_words(tree->threads, past, start);
    fprintf(tree->to, "%*s", indent, "");
    text_put(tree->to, "%s%s, made by T%u", start,
             count > 1 ? " and the like" : "", past->maker);
    if (past->made_ns >= 0) /* NS_UNKNOWN is below */
        fprintf(tree->to, "%s%s after the start",
                count > 1 ? ", the first " : " ",
                table_time((uint64_t)past->made_ns, time));
    stack_show(tree, past->made_stack, past->made_at, past->number);
    putc('\n', tree->to);
}

static void group_show(struct tree *tree, const size_t *group, size_t count,
                       int indent)
{
    struct threads *threads = tree->threads;
    const struct thread *thread = &threads->all[group[0]];
    char words[1024];
    indent = 2 * (indent < INDENT_MAX ? indent : INDENT_MAX);
    fprintf(tree->to, "%*s", indent, "");
    if (count > 1)
        fprintf(tree->to, "%zu threads: ", count);
    show_threads(tree->to, threads, group, count);
    does_words(threads, thread, words);
    text_put(tree->to, "  %s\n", words);
    if (thread->frames_count && !thread->ended) {
        unsigned from = wait_frames(threads, thread);
        fprintf(tree->to, "%*s", indent + 3, "");
        if (thread->past && thread->past->waits)
            stack_show(tree, thread->past->wait_stack, thread->past->wait_site,
                       thread->number);
        else
            show_frames(tree->to, threads, " at ", thread->frames + from,
                        thread->frames_count - from, FRAMES_MAX);
        putc('\n', tree->to);
    }
    if (thread->past && thread->past->holds_count) {
        fprintf(tree->to, "%*s%s", indent + 4, "",
                thread->ended ? "still " : "");
        show_taken(tree->to, threads, thread);
        putc('\n', tree->to);
    }
    if (thread->past && thread->past->forked_from)
        fprintf(tree->to, "%*swas T%u of the process that forked this one\n",
                indent + 4, "", thread->past->forked_from);
    if (thread->past && thread->past->is_made)
        made_show(tree, thread, indent + 4, count);
}

/* ------------------------------------------------------------------ tree -- */

/* Shows the threads of a list, and below each the threads that it made. */
static void list_show(struct tree *tree, size_t first, int indent)
{
    size_t *group = NULL, max = 0;
    for (size_t at = first, count; at; first = at) {
        for (count = 0; at && (!count || is_alike(tree, first - 1, at - 1));
             at = tree->next[at - 1]) {
            if (tree->shown[at - 1])
                continue;
            tree->shown[at - 1] = true;
            if (tree->chosen && !tree->chosen[at - 1])
                continue;
            *array_add(group, count, max) = at - 1;
            first = at;
        }
        if (count)
            group_show(tree, group, count, indent);
        if (count == 1 && tree->child[group[0]] && indent < DEPTH_MAX)
            list_show(tree, tree->child[group[0]], indent + 1);
    }
    free(group);
}

/* Returns the index of a thread's maker; THREAD_NONE: unknown. */
static size_t maker_of(const struct threads *threads, size_t thread)
{
    const struct past *past = threads->all[thread].past, *maker;
    if (!past || !past->is_made)
        return THREAD_NONE;
    maker = recorded_past(threads->recorded, past->maker);
    return maker && maker != past ? maker->index : THREAD_NONE;
}

/* Pairs of a thread's number and index, sorted; threads without a number
 * last. */
static uint64_t *by_number(const struct threads *threads)
{
    uint64_t *pairs = need(calloc(threads->count + 1, 2 * sizeof *pairs));
    for (size_t i = 0; i < threads->count; i++) {
        pairs[2 * i] = threads->all[i].number - 1u;
        pairs[2 * i + 1] = i;
    }
    qsort(pairs, threads->count, 2 * sizeof *pairs, array_compare);
    return pairs;
}

void show_tree(FILE *to, struct threads *threads, const bool *chosen)
{
    size_t count = threads->count, roots = 0;
    struct tree tree = {.to = to,
                        .threads = threads,
                        .chosen = chosen,
                        .child = need(calloc(count + 1, sizeof(size_t))),
                        .next = need(calloc(count + 1, sizeof(size_t))),
                        .shown = need(calloc(count + 1, sizeof(bool)))};
    uint64_t *sorted = by_number(threads);
    for (size_t i = count; i-- > 0;) {
        size_t at = sorted[2 * i + 1], maker = maker_of(threads, at);
        size_t *list = maker == THREAD_NONE ? &roots : &tree.child[maker];
        tree.next[at] = *list;
        *list = at + 1;
    }
    free(sorted);
    list_show(&tree, roots, 0);
    /* In a damaged recording, threads may have made each other in a circle. */
    for (size_t i = 0; i < count; i++)
        if (!tree.shown[i]) {
            tree.next[i] = 0;
            list_show(&tree, i + 1, 0);
        }
    free(tree.child);
    free(tree.next);
    free(tree.shown);
    free(tree.first_with);
    ids_free(&tree.stacks);
}

/* -------------------------------------------------------------- activity -- */

enum { LEVELS_SHOWN = 8 };

void show_activity(FILE *to, struct threads *threads)
{
    struct activity activity;
    int64_t all, more = 0;
    bool first = true, lacks;
    char count[32];
    activity_find(&activity, threads);
    lacks = activity.life && activity.life->overwritten;
    all = activity.end_ns - activity.begin_ns;
    fputs("running at once: ", to);
    for (size_t i = 0; i < activity.levels_count; i++) {
        if (i >= LEVELS_SHOWN) {
            more += activity.levels[i];
        } else if (all > 0 && activity.levels[i] * 1000 >= all) {
            fprintf(to, "%s%zu: %.0f %%", first ? "" : ", ", i,
                    100.0 * (double)activity.levels[i] / (double)all);
            first = false;
        }
    }
    if (more)
        fprintf(to, "%smore: %.0f %%", first ? "" : ", ",
                100.0 * (double)more / (double)all);
    fprintf(to,
            "%s (who waits in a system call counts as running)\n"
            "threads: %zu now, %s%zu made, %s%zu at most\n",
            first && !more ? "?" : "", activity.alive, lacks ? "~" : "",
            activity.made, lacks ? "~" : "", activity.most);
    if (lacks)
        fprintf(to,
                "%s records of threads were overwritten: there were perhaps "
                "more threads than these (marked ~).\n",
                table_count(activity.life->overwritten,
                            activity.life->estimated, count));
    free(activity.levels);
}
