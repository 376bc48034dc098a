/* locks.c - the locks that threads wait for, in words. */
/* SPDX-License-Identifier: MIT */
#include "show.h"

/* ------------------------------------------------------------------ text -- */

/* "bank (0x55d0c8a04060)". */
static void lock_name(struct threads *threads, const struct wait *wait,
                      char to[300])
{
    char name[256];
    show_object(threads, wait, name);
    if (wait->kind == WAIT_FLOCK || wait->kind == WAIT_RECORD)
        snprintf(to, 300, "%s", name);
    else
        snprintf(to, 300, *name == '0' ? "%s" : "%s (0x%llx)", name,
                 (unsigned long long)wait->object);
}

void show_locks(FILE *to, struct threads *threads,
                const struct contentions *locks)
{
    int kind_width = 10, name_width = 6, holder_width = 7;
    char name[300], holder[256];
    show_deadlocks(to, threads);
    for (size_t i = 0; i < locks->count; i++) {
        const struct wait *wait = waited_for(threads, &locks->all[i]);
        kind_width = table_width(show_kind(wait->kind), kind_width);
        lock_name(threads, wait, name);
        name_width = table_width(name, name_width);
        show_holder(threads, wait, holder);
        holder_width = table_width(holder, holder_width);
    }
    if (locks->count)
        fprintf(to, "%-*s %-*s  %-*s  WAITING\n", kind_width, "KIND",
                name_width, "OBJECT", holder_width, "HELD BY");
    for (size_t i = 0; i < locks->count; i++) {
        const struct contention *lock = &locks->all[i];
        const struct wait *wait = waited_for(threads, lock);
        lock_name(threads, wait, name);
        show_holder(threads, wait, holder);
        text_put(to, "%-*s %-*s  %-*s  %zu: ", kind_width,
                 show_kind(wait->kind), name_width, name, holder_width,
                 *holder ? holder : "-", lock->waiting_count);
        show_threads(to, threads, lock->waiting, lock->waiting_count);
        show_site(to, threads, &threads->all[lock->waiting[0]]);
        putc('\n', to);
    }
    if (locks->count)
        putc('\n', to);
    fputs(locks->count
              ? "From outside, only locks with waiting threads are visible.\n"
              : "No thread waits for a lock.\n",
          to);
    show_how(to, threads);
}

/* -------------------------------------------------------------- recorded -- */

/* Writes the end of the text: the meaning of the figures, and their gaps. */
static void recorded_how(FILE *to, const struct threads *threads,
                         enum contention_by by, const struct order *order,
                         size_t ignored, bool waited)
{
    if (order->more)
        fprintf(to, "There are more circles of locks than the first %zu.\n",
                order->count);
    if (ignored)
        fprintf(to, "%zu circle%s of locks %s ignored.\n", ignored,
                ignored == 1 ? "" : "s", ignored == 1 ? "is" : "are");
    if (by == BY_NONE && !order->count && !ignored)
        fputs("No locks were taken in a circle.\n", to);
    else if (by == BY_NONE)
        ; /* there are no figures to explain */
    else if (!waited)
        fputs("No thread has waited for a lock.\n", to);
    else if (by == BY_OBJECT)
        fputs(
            "An unfinished wait counts until now, or until the last record.\n",
            to);
    else
        fputs("Of the waits whose records are kept.\n", to);
    show_how(to, threads);
}

void show_locks_recorded(FILE *to, struct threads *threads,
                         const struct order *order, enum contention_by by,
                         size_t ignored)
{
    struct contentions contentions = {0};
    if (by != BY_NONE)
        contention_find(&contentions, threads, by);
    show_deadlocks(to, threads);
    if (contentions.count) {
        show_contention(to, threads, &contentions, by);
        putc('\n', to);
    }
    for (size_t i = 0; i < order->count; i++) {
        show_circle(to, threads, &order->circles[i]);
        putc('\n', to);
    }
    recorded_how(to, threads, by, order, ignored, contentions.count);
    contention_free(&contentions);
}
