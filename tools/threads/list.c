/* list.c - all threads in words: their actions and stacks. */
/* SPDX-License-Identifier: MIT */
#include "show.h"

bool show_chosen(const struct thread *thread, const char *wanted)
{
    char id[16], number[16];
    if (thread->peer)
        return false;
    if (!wanted)
        return true;
    snprintf(id, sizeof id, "%d", (int)thread->id);
    snprintf(number, sizeof number, "%u", thread->number);
    return strcmp(id, wanted) == 0 || strcmp(thread->name, wanted) == 0 ||
           (thread->number &&
            (strcmp(number, wanted) == 0 ||
             (*wanted == 'T' && strcmp(number, wanted + 1) == 0)));
}

static void place_text(FILE *to, const struct place *place)
{
    const char *file = place->file ? place->file : place->module;
    char name[256];
    show_function(place, name);
    text_put(to, "    %-30s  %s", name, file ? basename(file) : "?");
    if (place->file)
        fprintf(to, ":%d", place->line);
    putc('\n', to);
}

static void stack_text(FILE *to, struct threads *threads,
                       const struct thread *thread)
{
    for (unsigned i = 0; i < thread->frames_count; i++)
        for (const struct place *place = place_of(threads, thread->frames[i]);
             place; place = place->outer)
            place_text(to, place);
    if (thread->frames_count == FRAMES_MAX)
        fprintf(to, "    ... (more than %d)\n", FRAMES_MAX);
    else if (thread->missing)
        text_put(to,
                 "    ... (its caller is in %s, a file that was not found: "
                 "--sysroot DIR)\n",
                 thread->missing);
    else if (thread->frames_count && !thread->whole)
        fputs("    ... (its caller is unknown)\n", to);
}

/* Threads of one stack that do the same, in a line each. */
struct line {
    char *words;
    size_t *which;
    size_t count, max;
};

/* Writes a thread's action and its locks. */
static void words_of(struct threads *threads, size_t which, char to[2200])
{
    const struct thread *thread = &threads->all[which];
    char wait[1024], holds[1024];
    show_wait(threads, thread, wait);
    show_holds(threads, which, holds);
    snprintf(to, 2200, " %s%s%s", thread->moved ? "~ " : "", wait, holds);
}

/* Prints the threads with the same stack as thread `first`, and the stack. */
static void group_text(FILE *to, struct threads *threads, const size_t *group,
                       size_t count)
{
    struct line *lines = NULL;
    size_t lines_count = 0, lines_max = 0;
    char words[2200];
    for (size_t i = 0, k; i < count; i++) {
        words_of(threads, group[i], words);
        for (k = 0; k < lines_count && strcmp(lines[k].words, words) != 0;)
            k++;
        if (k == lines_count)
            array_add(lines, lines_count, lines_max)->words =
                need(strdup(words));
        *array_add(lines[k].which, lines[k].count, lines[k].max) = group[i];
    }
    for (size_t i = 0; i < lines_count; i++) {
        if (lines[i].count > 1)
            fprintf(to, "%zu threads: ", lines[i].count);
        show_threads(to, threads, lines[i].which, lines[i].count);
        text_put(to, "%s\n", lines[i].words);
        free(lines[i].words);
        free(lines[i].which);
    }
    free(lines);
    stack_text(to, threads, &threads->all[group[0]]);
    putc('\n', to);
}

/* A stack is printed at the first of its threads. */
static void stacks_text(FILE *to, struct threads *threads, const char *wanted)
{
    size_t *group = need(calloc(threads->count + 1, sizeof *group)), count;
    bool *shown = need(calloc(threads->count + 1, sizeof *shown));
    for (size_t i = 0; i < threads->count; i++) {
        if (shown[i] || !show_chosen(&threads->all[i], wanted))
            continue;
        count = 0;
        for (size_t k = i; k < threads->count; k++)
            if (threads->all[k].stack == threads->all[i].stack &&
                show_chosen(&threads->all[k], wanted)) {
                group[count++] = k;
                shown[k] = true;
            }
        group_text(to, threads, group, count);
    }
    free(group);
    free(shown);
}

static void tree_text(FILE *to, struct threads *threads, const char *wanted)
{
    bool *chosen = need(calloc(threads->count + 1, sizeof *chosen));
    for (size_t i = 0; i < threads->count; i++)
        chosen[i] = show_chosen(&threads->all[i], wanted);
    show_tree(to, threads, chosen);
    putc('\n', to);
    show_activity(to, threads);
    free(chosen);
}

void show_list(FILE *to, struct threads *threads, const char *wanted)
{
    size_t own = 0;
    show_deadlocks(to, threads);
    if (threads->recorded)
        tree_text(to, threads, wanted);
    else
        stacks_text(to, threads, wanted);
    for (size_t i = 0; i < threads->count; i++)
        own += !threads->all[i].peer;
    if (!threads->recorded)
        fprintf(to, "%zu thread%s, %zu different stack%s. ", own,
                own == 1 ? "" : "s", threads->stacks_count,
                threads->stacks_count == 1 ? "" : "s");
    show_how(to, threads);
}
