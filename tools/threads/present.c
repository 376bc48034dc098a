/* present.c - the threads of a source as they are: stacks and waits. */
/* SPDX-License-Identifier: MIT */
#include "threads.h"

/* ---------------------------------------------------------------- stacks -- */

/* Reads of a stack whose thread runs in between. */
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

/* Reads a thread's stack and its wait. The thread may run: then the result is a
 * mixture, and is read again. */
static void stack_read(struct threads *threads, struct thread *thread)
{
    bool may_move = threads->source->pid && !thread->stopped;
    for (int i = 1;; i++) {
        threads_walk(threads, thread);
        wait_find(threads, thread);
        if (thread->wait.kind == WAIT_CALL)
            file_lock_find(threads, thread);
        thread->moved = may_move && thread->has_registers &&
                        !process_stood(threads, thread);
        if (!thread->moved || i == STACK_TRIES ||
            !process_look(threads, thread))
            return; /* call, stack and wait are of one look */
    }
}

/* ------------------------------------------------------------------ open -- */

/* Finds the libc of the program. A libc that is linked statically is taken for
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
const char *present_read(struct threads *threads, bool stop)
{
    const char *wrong = NULL;
    if (threads->source->memory->stale_order)
        return NULL;
    wrong =
        threads->source->pid ? process_threads(threads) : core_threads(threads);
    if (!wrong)
        threads_sort(threads);
    if (!wrong && stop)
        wrong = stop_all(threads);
    if (wrong)
        return wrong;
    for (size_t i = 0; i < threads->count; i++)
        stack_read(threads, &threads->all[i]);
    if (stop)
        stop_end(threads);
    guards_find(threads);
    return NULL;
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

void present_close(struct threads *threads)
{
    for (size_t i = 0; i < threads->ids.count; i++)
        place_free(threads->places[i]);
    for (size_t i = 0; i < threads->cycles_count; i++)
        free(threads->cycles[i].threads);
    free(threads->places);
    free(threads->cycles);
    free(threads->holders);
    free(threads->inside);
    ids_free(&threads->by_inside);
    free(threads->all);
    ids_free(&threads->ids);
    unwind_close(&threads->unwind);
}
