/* threads.c - the threads of a source, with their stacks and waits. */
/* SPDX-License-Identifier: MIT */
#include "threads.h"
#include "array.h"
#include "recorded.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *threads_wrong(struct threads *threads, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(threads->why, sizeof threads->why, format, arguments);
    va_end(arguments);
    return threads->why;
}

size_t threads_holder(const struct threads *threads, const struct wait *wait,
                      size_t i)
{
    if (i < wait->holders_count)
        return threads->holders[wait->holders_at + i];
    return i == 0 ? wait->holder : THREAD_NONE;
}

struct thread *threads_add(struct threads *threads)
{
    struct thread *all;
    threads->too_many = threads->count == THREADS_SHOWN_MAX;
    all = threads->too_many ? NULL
                            : array_room(threads->all, &threads->max,
                                         threads->count + 1, sizeof *all);
    if (!all)
        return NULL;
    threads->all = all;
    memset(&all[threads->count], 0, sizeof *all);
    return &all[threads->count++];
}

/* ---------------------------------------------------------------- inside -- */

static int inside_compare(const void *a, const void *b)
{
    const struct by_inside *left = a, *right = b;
    return left->inside < right->inside ? -1 : left->inside > right->inside;
}

static bool inside_sort(struct threads *threads)
{
    size_t count = 0;
    free(threads->by_inside);
    threads->by_inside = calloc(threads->count + 1, sizeof *threads->by_inside);
    if (!threads->by_inside)
        return false;
    for (size_t i = 0; i < threads->count; i++)
        if (!threads->all[i].ended)
            threads->by_inside[count++] =
                (struct by_inside){threads->all[i].inside, i};
    qsort(threads->by_inside, count, sizeof *threads->by_inside,
          inside_compare);
    threads->by_inside_count = count;
    return true;
}

size_t threads_index(const struct threads *threads, int32_t inside)
{
    const struct by_inside wanted = {inside, 0};
    const struct by_inside *found =
        bsearch(&wanted, threads->by_inside, threads->by_inside_count,
                sizeof wanted, inside_compare);
    return found ? found->index : THREAD_NONE;
}

/* ---------------------------------------------------------------- stacks -- */

/* How often a stack is read that its thread leaves meanwhile. */
enum { STACK_TRIES = 3 };

void threads_walk(struct threads *threads, struct thread *thread)
{
    struct registers registers = thread->registers;
    const struct module *m;
    uint64_t pc = threads->machine->unwind.pc;
    thread->frames_count = 0;
    if (!thread->has_registers)
        return;
    thread->frames_count = (unsigned)unwind(&threads->unwind, &registers,
                                            thread->frames, &thread->whole);
    m = module_at(threads->source, registers.value[pc]);
    m = m && !thread->whole ? module_first(threads->source, m->path) : NULL;
    if (m && m->state != MODULE_OPENED && m->state != MODULE_UNTRIED) {
        thread->missing = m->path;
        module_unopened(threads->source, m);
    }
}

/* Reads a thread's stack, and what it waits for. The thread may run: then what
 * was read is a mix, and is read again. */
static void stack_read(struct threads *threads, struct thread *thread)
{
    bool may_move = threads->source->pid && !thread->stopped;
    for (int i = 0; i < STACK_TRIES; i++) {
        threads_walk(threads, thread);
        wait_find(threads, thread);
        thread->moved = may_move && thread->has_registers &&
                        !process_stood(threads, thread);
        if (!thread->moved || !process_look(threads, thread))
            return;
    }
}

static int stack_compare(const struct thread *a, const struct thread *b)
{
    if (a->frames_count != b->frames_count)
        return a->frames_count < b->frames_count ? -1 : 1;
    return memcmp(a->frames, b->frames, a->frames_count * sizeof *a->frames);
}

static int stack_compare_at(const void *a, const void *b)
{
    const struct thread *const *left = a, *const *right = b;
    int result = stack_compare(*left, *right);
    return result ? result : *left < *right ? -1 : *left > *right;
}

/* Says of each thread which is the first with the same stack. */
bool threads_join(struct threads *threads)
{
    struct thread **sorted = calloc(threads->count + 1, sizeof *sorted);
    struct thread *first = NULL;
    if (!sorted)
        return false;
    for (size_t i = 0; i < threads->count; i++)
        sorted[i] = &threads->all[i];
    qsort(sorted, threads->count, sizeof *sorted, stack_compare_at);
    for (size_t i = 0; i < threads->count; i++) {
        if (!first || stack_compare(first, sorted[i]) != 0) {
            first = sorted[i];
            threads->stacks_count += first->frames_count != 0;
        }
        sorted[i]->stack = (size_t)(first - threads->all);
    }
    free(sorted);
    return true;
}

/* ------------------------------------------------------------------ open -- */

/* Finds out which libc the program has. One that is linked into it is taken for
 * glibc. */
static void libc_find(struct threads *threads)
{
    const struct source *source = threads->source;
    for (size_t i = 0; i < source->modules_count; i++) {
        const char *path = source->modules[i].path;
        threads->has_libc |= place_is_libc(path);
        threads->is_musl |= strstr(path, "/ld-musl-") || strstr(path, "-musl/");
    }
}

/* Threads and waits as they are; of a recording, there are none. */
static const char *present_read(struct threads *threads, bool stop)
{
    const char *wrong = NULL;
    if (threads->source->memory->stale_order)
        return NULL;
    wrong =
        threads->source->pid ? process_threads(threads) : core_threads(threads);
    if (!wrong && !inside_sort(threads))
        wrong = threads_wrong(threads, "there is no memory for it");
    if (!wrong && stop)
        wrong = stop_all(threads);
    if (wrong)
        return wrong;
    for (size_t i = 0; i < threads->count; i++)
        stack_read(threads, &threads->all[i]);
    if (stop)
        stop_end(threads);
    return NULL;
}

/* Adds what was recorded to what is there. */
static const char *past_read(struct threads *threads, struct reader *reader)
{
    const char *wrong = NULL;
    if (reader)
        threads->recorded = recorded_read(reader, &wrong);
    if (wrong)
        return wrong;
    if (!threads->recorded)
        return threads->source->memory->stale_order
                   ? threads_wrong(
                         threads,
                         "is a recording without threads and locks, which "
                         "recorder run records; recorder list shows who "
                         "recorded")
                   : NULL;
    if (!recorded_opened(threads->recorded, threads->source))
        return threads_wrong(threads, "there is no memory for it");
    wrong = snapshots_extend(threads);
    if (!wrong)
        wrong = recorded_join(threads);
    if (!wrong && !inside_sort(threads))
        wrong = threads_wrong(threads, "there is no memory for it");
    return wrong ? wrong : recorded_waits(threads);
}

static const char *threads_read(struct threads *threads, struct reader *reader,
                                bool stop)
{
    const char *wrong = present_read(threads, stop);
    if (!wrong)
        wrong = past_read(threads, reader);
    if (wrong)
        return wrong;
    if (!leaks_find(threads))
        return threads_wrong(threads, "there is no memory for it");
    for (size_t i = 0; i < threads->count; i++) {
        const struct wait *wait = &threads->all[i].wait;
        if (wait->holder != THREAD_NONE && wait->kind != WAIT_THREAD)
            threads->all[wait->holder].holds = true;
    }
    if (!threads_join(threads))
        return threads_wrong(threads, "there is no memory for it");
    return cycles_find(threads);
}

const char *threads_begin(struct threads *threads, struct source *source)
{
    memset(threads, 0, sizeof *threads);
    threads->source = source;
    threads->machine = machine_of(source->memory);
    if (!threads->machine && !source->memory->stale_order)
        return threads_wrong(threads,
                             "is of a processor whose threads are not known "
                             "here: x86-64, i386, arm, aarch64, riscv64 and "
                             "mips are");
    threads->unwind.memory = source->memory;
    if (threads->machine)
        threads->unwind.machine = &threads->machine->unwind;
    threads->unwind.dwfl = source_dwfl(source);
    if (!threads->unwind.dwfl)
        return threads_wrong(threads, "there is no memory for it");
    libc_find(threads);
    return NULL;
}

const char *threads_open(struct threads *threads, struct source *source,
                         struct reader *reader, bool stop)
{
    const char *wrong = threads_begin(threads, source);
    if (!wrong)
        wrong = threads_read(threads, reader, stop);
    if (wrong)
        threads_close(threads);
    return wrong;
}

void threads_close(struct threads *threads)
{
    for (size_t i = 0; i < threads->ids.count; i++)
        place_free(threads->places[i]);
    for (size_t i = 0; i < threads->cycles_count; i++)
        free(threads->cycles[i].threads);
    recorded_free(threads->recorded);
    free(threads->places);
    free(threads->cycles);
    free(threads->holders);
    free(threads->by_inside);
    free(threads->all);
    ids_free(&threads->ids);
    unwind_close(&threads->unwind);
}
