/* threads.c - recorder threads: the wait and the stack of each thread. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "json.h"
#include "recorded.h"
#include "show.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_STOP = OPTION_OWN };

/* ------------------------------------------------------------------ JSON -- */

static void wait_json(struct threads *threads, const struct thread *thread)
{
    const struct wait *wait = &thread->wait;
    char text[256];
    printf(",\"wait\":{\"kind\":\"%s\",\"object\":\"0x%llx\",\"symbol\":",
           show_kind(wait->kind), (unsigned long long)wait->object);
    json_text(stdout, place_variable(threads, wait->object, text, sizeof text)
                          ? text
                          : NULL);
    printf(",\"timed\":%s,", json_bool(wait->timed));
    show_holder_json(stdout, threads, wait);
    putchar('}');
}

static void place_json(const struct place *place)
{
    printf("{\"address\":\"0x%llx\",\"function\":",
           (unsigned long long)place->address);
    json_text(stdout, place->function);
    json_member(stdout, "symbol", place->symbol);
    printf(",\"inlined\":%s,\"file\":", json_bool(place->outer));
    json_text(stdout, place->file);
    printf(",\"line\":%d,\"module\":", place->line);
    json_text(stdout, place->module);
    putchar('}');
}

static void stack_json(struct threads *threads, const struct thread *thread)
{
    printf(",\"moved\":%s,\"whole\":%s,\"stack\":[", json_bool(thread->moved),
           json_bool(thread->whole));
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

static void frames_json(struct threads *threads, const uint64_t *frames,
                        unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (const struct place *place = place_of_call(threads, frames[i]);
             place; place = place->outer) {
            if (i || place != place_of_call(threads, frames[0]))
                putchar(',');
            place_json(place);
        }
}

static void held_json(struct threads *threads, const struct hold *hold)
{
    char text[256];
    printf("{\"object\":\"0x%llx\",\"symbol\":",
           (unsigned long long)hold->object);
    json_text(stdout, place_variable(threads, hold->object, text, sizeof text)
                          ? text
                          : NULL);
    printf(",\"reads\":%s,\"taken_at\":[", json_bool(hold->reads));
    frames_json(threads, &hold->site, 1);
    fputs("]}", stdout);
}

/* The past of a recorded thread. */
static void past_json(struct threads *threads, const struct past *past)
{
    const struct stack *stack =
        recorded_stack(threads->recorded, past->made_stack);
    const struct place *start = place_of(threads, past->start);
    printf(",\"ended\":%s,\"maker\":", json_bool(past->ended));
    if (past->is_made)
        printf("%u,\"start\":", past->maker);
    else
        fputs("null,\"start\":", stdout);
    json_text(stdout, past->is_made && start ? start->function : NULL);
    if (past->forked_from)
        printf(",\"forked_from\":%u", past->forked_from);
    printf(",\"argument\":\"0x%llx\",\"made_ns\":",
           (unsigned long long)past->argument);
    if (past->made_ns != NS_UNKNOWN)
        printf("%lld", (long long)past->made_ns);
    else
        fputs("null", stdout);
    fputs(",\"made_at\":[", stdout);
    if (stack && stack->count)
        frames_json(threads, stack->frames, stack->count);
    else if (past->is_made)
        frames_json(threads, &past->made_at, 1);
    fputs("],\"held\":[", stdout);
    for (unsigned i = 0; i < past->holds_count; i++) {
        if (i)
            putchar(',');
        held_json(threads, &past->holds[i]);
    }
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
    json_member(stdout, "name", thread->name);
    json_member(stdout, "state", state);
    fputs(",\"does\":", stdout);
    show_wait(threads, thread, words);
    json_text(stdout, words);
    json_member(stdout, "call", wait->call);
    if (wait->kind != WAIT_NONE && wait->kind != WAIT_CALL)
        wait_json(threads, thread);
    else
        fputs(",\"wait\":null", stdout);
    holds_json(threads, which);
    printf(",\"in_deadlock\":%s", json_bool(thread->in_deadlock));
    stack_json(threads, thread);
    if (thread->past)
        past_json(threads, thread->past);
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
        chosen += show_chosen(&threads.all[i], wanted);
    if (!chosen)
        fail(call, "no thread is %s", wanted);
    if (call_option(call, 'j')) {
        show_deadlocks_json(stdout, &threads);
        for (size_t i = 0; i < threads.count; i++)
            if (show_chosen(&threads.all[i], wanted))
                thread_json(&threads, i);
    } else {
        show_list(stdout, &threads, wanted);
    }
    need(threads.no_memory ? NULL : &threads);
    threads_close(&threads);
    return 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line: deadlocks, then threads"},
    {'t', "thread", "THREAD", "only a thread: number, kernel id or name"},
    {OPTION_STOP, "stop", NULL,
     "stop the process while its stacks are read, also for the stacks of "
     "running threads; some system calls then end early with EINTR"},
    {0, NULL, NULL, NULL}};

const struct verb verb_threads = {
    .name = "threads",
    .arguments = "SOURCE",
    .summary = "shows the wait of each thread, the holder, and the stack",
    .help =
        "Works on any process or core file, with or without recorders. "
        "Threads that wait for each other in a circle come first, as a "
        "DEADLOCK: in a running process, only if none of them ran between two "
        "looks. Equal stacks are shown once. Nothing is stopped, so a running "
        "thread has no stack without --stop. If recorder run started the "
        "program, each thread is below its maker, with the place of its birth "
        "and the locks that it holds, also in its recording; other recordings "
        "show the program's snapshots of its stacks (run/snapshot.h), of "
        "other processors, too: --executable and --sysroot find its files. "
        "Names of C++ and Rust are demangled.",
    .rows = rows,
    .unprepared = true,
    .run = threads_run};
