/* threads.c - recorder threads: what each thread waits for, and its stack. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "json.h"
#include "show.h"
#include "tables.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_STOP = OPTION_OWN };

/* Is it the thread that was asked for: by number, kernel id or name? */
static bool is_chosen(const struct thread *thread, const char *wanted)
{
    char id[16], number[16];
    if (!wanted)
        return true;
    snprintf(id, sizeof id, "%d", (int)thread->id);
    snprintf(number, sizeof number, "%u", thread->number);
    return strcmp(id, wanted) == 0 || strcmp(thread->name, wanted) == 0 ||
           (thread->number &&
            (strcmp(number, wanted) == 0 ||
             (*wanted == 'T' && strcmp(number, wanted + 1) == 0)));
}

/* ------------------------------------------------------------------ text -- */

static void place_text(const struct place *place)
{
    char name[256];
    show_function(place, name);
    fputs("    ", stdout);
    table_column(stdout, name, 30);
    fputs("  ", stdout);
    if (place->file || place->module)
        show_text(stdout, show_base(place->file ? place->file : place->module));
    else
        putchar('?');
    if (place->file)
        printf(":%d", place->line);
    putchar('\n');
}

static void stack_text(struct threads *threads, const struct thread *thread)
{
    for (unsigned i = 0; i < thread->frames_count; i++)
        for (const struct place *place = place_of(threads, thread->frames[i]);
             place; place = place->outer)
            place_text(place);
    if (thread->frames_count == FRAMES_MAX)
        printf("    ... (more than %d)\n", FRAMES_MAX);
    else if (thread->missing) {
        fputs("    ... (what called it is in ", stdout);
        show_text(stdout, thread->missing);
        puts(", which is not at hand: --sysroot DIR)");
    } else if (thread->frames_count && !thread->whole)
        puts("    ... (what called it is not known)");
}

/* Threads of one stack that do the same, in a line each. */
struct line {
    char *words;
    size_t *which;
    size_t count, max;
};

/* What a thread does, its number in the program's registry, and what it
 * holds. */
static void words_of(struct threads *threads, size_t which, char to[2200])
{
    const struct thread *thread = &threads->all[which];
    char wait[1024], holds[1024], number[16] = "";
    show_wait(threads, thread, wait);
    show_holds(threads, which, holds);
    if (thread->number)
        snprintf(number, sizeof number, "T%u ", thread->number);
    snprintf(to, 2200, " %s%s%s%s", number, thread->moved ? "~ " : "", wait,
             holds);
}

static void line_add(struct line **lines, size_t *count, size_t *max,
                     const char *words, size_t which)
{
    struct line *line = NULL;
    for (size_t i = *count; i-- > 0 && !line;)
        if (strcmp((*lines)[i].words, words) == 0)
            line = &(*lines)[i];
    if (!line) {
        *lines = need(array_room(*lines, max, *count + 1, sizeof **lines));
        line = &(*lines)[(*count)++];
        *line = (struct line){.words = need(strdup(words))};
    }
    line->which = need(array_room(line->which, &line->max, line->count + 1,
                                  sizeof *line->which));
    line->which[line->count++] = which;
}

/* Prints the threads whose stack is that of thread `first`, and the stack. */
static void group_text(struct threads *threads, const size_t *group,
                       size_t count)
{
    struct line *lines = NULL;
    size_t lines_count = 0, lines_max = 0;
    char words[2200];
    for (size_t i = 0; i < count; i++) {
        words_of(threads, group[i], words);
        line_add(&lines, &lines_count, &lines_max, words, group[i]);
    }
    for (size_t i = 0; i < lines_count; i++) {
        if (lines[i].count > 1)
            printf("%zu threads: ", lines[i].count);
        show_threads(stdout, threads, lines[i].which, lines[i].count);
        show_text(stdout, lines[i].words);
        putchar('\n');
        free(lines[i].words);
        free(lines[i].which);
    }
    free(lines);
    stack_text(threads, &threads->all[group[0]]);
    putchar('\n');
}

/* A stack is printed where the first of its threads comes. */
static void threads_text(struct threads *threads, const char *wanted)
{
    size_t *group = need(calloc(threads->count + 1, sizeof *group));
    size_t *next = need(calloc(threads->count + 1, sizeof *next));
    size_t *last = need(calloc(threads->count + 1, sizeof *last));
    for (size_t i = 0; i < threads->count; i++) { /* lists, by stack */
        size_t stack = threads->all[i].stack;
        if (!is_chosen(&threads->all[i], wanted))
            continue;
        if (last[stack])
            next[last[stack] - 1] = i + 1;
        last[stack] = i + 1;
    }
    for (size_t i = 0; i < threads->count; i++) {
        size_t count = 0, at = i + 1, stack = threads->all[i].stack;
        if (!is_chosen(&threads->all[i], wanted) || !last[stack])
            continue;
        for (; at; at = next[at - 1])
            group[count++] = at - 1;
        last[stack] = 0; /* it is shown */
        group_text(threads, group, count);
    }
    free(group);
    free(next);
    free(last);
}

/* ------------------------------------------------------------------ JSON -- */

static void string_json(const char *text)
{
    if (text)
        json_string(stdout, text, strlen(text), false);
    else
        fputs("null", stdout);
}

static void wait_json(struct threads *threads, const struct thread *thread)
{
    const struct wait *wait = &thread->wait;
    char text[256];
    printf(",\"wait\":{\"kind\":\"%s\",\"object\":\"0x%llx\",\"symbol\":",
           show_kind(wait->kind), (unsigned long long)wait->object);
    string_json(
        place_variable(threads, wait->object, text, sizeof text) ? text : NULL);
    printf(",\"timed\":%s,\"holder\":", wait->timed ? "true" : "false");
    if (wait->holder != THREAD_NONE)
        printf("%d", (int)threads->all[wait->holder].id);
    else if (wait->holder_id > 0)
        printf("%d", (int)wait->holder_id);
    else
        fputs("null", stdout);
    printf(",\"readers\":%u}", wait->readers);
}

static void place_json(const struct place *place)
{
    printf("{\"address\":\"0x%llx\",\"function\":",
           (unsigned long long)place->address);
    string_json(place->function);
    printf(",\"inlined\":%s,\"file\":", place->outer ? "true" : "false");
    string_json(place->file);
    printf(",\"line\":%d,\"module\":", place->line);
    string_json(place->module);
    putchar('}');
}

static void stack_json(struct threads *threads, const struct thread *thread)
{
    printf(",\"moved\":%s,\"whole\":%s,\"stack\":[",
           thread->moved ? "true" : "false", thread->whole ? "true" : "false");
    for (unsigned i = 0; i < thread->frames_count; i++)
        for (const struct place *place = place_of(threads, thread->frames[i]);
             place; place = place->outer) {
            if (i || place != place_of(threads, thread->frames[0]))
                putchar(',');
            place_json(place);
        }
    putchar(']');
}

/* The locks that others wait for, the first few of very many. */
static void holds_json(struct threads *threads, size_t which)
{
    size_t held[256];
    size_t count = show_held(threads, which, held, 256);
    fputs(",\"holds\":[", stdout);
    for (size_t i = 0; i < count && i < 256; i++)
        printf("%s\"0x%llx\"", i ? "," : "",
               (unsigned long long)threads->all[held[i]].wait.object);
    putchar(']');
}

static void thread_json(struct threads *threads, size_t which)
{
    const struct thread *thread = &threads->all[which];
    const struct wait *wait = &thread->wait;
    char words[1024], state[2] = {thread->state, '\0'};
    printf("{\"thread\":%d,\"number\":", (int)thread->id);
    if (thread->number)
        printf("%u", thread->number);
    else
        fputs("null", stdout);
    fputs(",\"name\":", stdout);
    string_json(thread->name);
    fputs(",\"state\":", stdout);
    string_json(state);
    fputs(",\"does\":", stdout);
    show_wait(threads, thread, words);
    string_json(words);
    fputs(",\"call\":", stdout);
    string_json(wait->call);
    if (wait->kind != WAIT_NONE && wait->kind != WAIT_CALL)
        wait_json(threads, thread);
    else
        fputs(",\"wait\":null", stdout);
    holds_json(threads, which);
    printf(",\"in_deadlock\":%s", thread->in_deadlock ? "true" : "false");
    stack_json(threads, thread);
    puts("}");
}

/* ------------------------------------------------------------------ verb -- */

static int threads_run(struct call *call)
{
    static char buffer[1 << 16];
    const char *wanted = call_option(call, 't');
    struct threads threads;
    size_t chosen = 0;
    show_open(call, &threads, call_option(call, OPTION_STOP));
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (size_t i = 0; i < threads.count; i++)
        chosen += is_chosen(&threads.all[i], wanted);
    if (!chosen)
        fail(call, "no thread is %s", wanted);
    if (call_option(call, 'j')) {
        show_deadlocks_json(stdout, &threads);
        for (size_t i = 0; i < threads.count; i++)
            if (is_chosen(&threads.all[i], wanted))
                thread_json(&threads, i);
    } else {
        show_deadlocks(stdout, &threads);
        threads_text(&threads, wanted);
        printf("%zu thread%s, %zu different stack%s. ", threads.count,
               threads.count == 1 ? "" : "s", threads.stacks_count,
               threads.stacks_count == 1 ? "" : "s");
        show_how(stdout, &threads);
    }
    threads_close(&threads);
    return 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line: deadlocks, then threads"},
    {'t', "thread", "THREAD", "only a thread: number, kernel id or name"},
    {OPTION_STOP, "stop", NULL,
     "stop the process while its stacks are read, for those of threads that "
     "run; some system calls then end early with EINTR"},
    {0, NULL, NULL, NULL}};

const struct verb verb_threads = {
    .name = "threads",
    .arguments = "SOURCE",
    .summary = "shows what each thread waits for, who holds it, and its stack",
    .help =
        "Of any process or core file, with or without recorders. Threads that "
        "wait for each other in a circle come first, as a DEADLOCK: of a "
        "running process, only if none of them ran between two looks. Equal "
        "stacks are shown once. Nothing is stopped, so a thread that runs has "
        "no stack, unless --stop is given. Of a recording, the stacks that the "
        "program recorded of itself (run/snapshot.h), of other processors, "
        "too: --executable and --sysroot say where its files are. Names of C++ "
        "are as the linker has "
        "them: | c++filt.",
    .rows = rows,
    .unprepared = true,
    .run = threads_run};
