/* peers.c - other processes that hold the objects of waits. */
/* SPDX-License-Identifier: MIT */
/*
   A mutex in shared memory and the lock of a file may be held by another
   process. Its threads are read, too, and so on along the waits. The lock of a
   file belongs to a process: a wait for it lasts if all threads of that process
   are stuck; only then one of them is reported as its holder.
*/
#include "proc.h"
#include "threads.h"

enum { PEERS_MAX = 64 };

struct peer {
    struct peer *next;
    int32_t pid;
    bool is_open;
    struct source source;
    struct threads threads;
};

static int32_t process_of(struct threads *threads, const struct thread *thread)
{
    return thread_home(threads, thread)->source->pid;
}

/* ------------------------------------------------------------------ open -- */

/* Adds the threads of another process to the table. */
static void threads_import(struct threads *threads, struct threads *from)
{
    size_t base = threads->count;
    for (size_t i = 0; i < from->count; i++) {
        struct thread *thread = threads_add(threads);
        if (!thread) /* there are too many */
            return;
        *thread = from->all[i];
        thread->peer = from;
        thread->wait.holders_count = 0;
        if (thread->wait.holder != THREAD_NONE)
            thread->wait.holder += base;
    }
}

/* Reads the threads of a process, once. */
static void peer_open(struct threads *threads, int32_t pid)
{
    const struct source_how how = {.unprepared = true};
    struct peer *peer = threads->peers;
    const char *wrong;
    char name[16];
    size_t count = 0;
    for (; peer; peer = peer->next, count++)
        if (peer->pid == pid)
            return;
    if (count == PEERS_MAX || pid == threads->source->pid)
        return;
    peer = need(calloc(1, sizeof *peer));
    peer->next = threads->peers;
    threads->peers = peer;
    peer->pid = pid;
    snprintf(name, sizeof name, "%d", (int)pid);
    wrong = source_open(&peer->source, name, &how);
    if (!wrong) {
        peer->is_open = true;
        wrong = threads_begin(&peer->threads, &peer->source);
    }
    if (!wrong)
        wrong = present_read(&peer->threads, false);
    if (wrong)
        threads->unread = pid;
    else
        threads_import(threads, &peer->threads);
}

void peers_close(struct threads *threads)
{
    while (threads->peers) {
        struct peer *peer = threads->peers;
        threads->peers = peer->next;
        if (peer->is_open) {
            present_close(&peer->threads);
            source_close(&peer->source);
        }
        free(peer);
    }
}

/* --------------------------------------------------------------- mutexes -- */

/* A piece of a file, or of shared memory, that a process has mapped. */
struct piece {
    char device[16];
    unsigned long inode;
    uint64_t offset;
};

/* Finds the piece at an address of a process; or, if the address is 0, whether
 * the piece is mapped there. -1: its memory is not readable. */
static int piece_find(int32_t pid, uint64_t address, struct piece *piece)
{
    struct proc_mapping m;
    int found = 0;
    FILE *maps = proc_open(pid, "maps");
    if (!maps)
        return -1;
    while (!found && proc_mapping_next(maps, &m)) {
        bool shared = m.mode[3] == 's';
        if (address && m.start <= address && address < m.end && shared) {
            found = 1;
            *piece = (struct piece){"", m.inode, m.offset + address - m.start};
            strcpy(piece->device, m.device);
        } else if (!address) {
            found = shared && m.inode == piece->inode &&
                    strcmp(m.device, piece->device) == 0 &&
                    m.offset <= piece->offset &&
                    piece->offset - m.offset < m.end - m.start;
        }
    }
    fclose(maps);
    return found;
}

/* The process of a thread's id; 0: none. */
static int32_t process_by_thread(int32_t id)
{
    char text[4096];
    proc_text(id, 0, "status", text, sizeof text);
    return (int32_t)proc_number(text, "\nTgid:");
}

/* The thread of an id in one of the added processes. */
static size_t thread_find(struct threads *threads, int32_t pid, int32_t id)
{
    for (size_t i = 0; i < threads->count; i++)
        if (threads->all[i].id == id &&
            process_of(threads, &threads->all[i]) == pid)
            return i;
    return THREAD_NONE;
}

/* Finds the holder of a mutex in shared memory. A process that does not map the
 * mutex got the holder's id by chance. */
static void mutex_follow(struct threads *threads, size_t which)
{
    const struct thread *thread = &threads->all[which];
    struct wait *wait = &threads->all[which].wait;
    int32_t id = wait->holder_id, pid = process_by_thread(id);
    struct piece piece;
    int has =
        pid ? piece_find(process_of(threads, thread), wait->futex, &piece) : 0;
    if (has < 0 || (pid && !has))
        return;
    has = pid ? piece_find(pid, 0, &piece) : 0;
    if (has > 0)
        peer_open(threads, pid);
    wait = &threads->all[which].wait; /* the table may have moved */
    if (has > 0)
        wait->holder = thread_find(threads, pid, id);
    else if (!has)
        wait->lost = thread_waits_still(threads, which);
    wait->id_again = wait->lost && pid;
}

/* ----------------------------------------------------------------- files -- */

static bool is_of_file(const struct wait *wait)
{
    return wait->kind == WAIT_FLOCK || wait->kind == WAIT_RECORD;
}

static bool holds_file(struct threads *threads, const struct wait *wait,
                       const struct thread *thread)
{
    int32_t pid = process_of(threads, thread);
    for (unsigned i = 0; i < wait->processes_count && i < PROCESSES_MAX; i++)
        if (wait->processes[i] == pid)
            return !thread->ended;
    return false;
}

/* True if all threads that could end a wait are stuck, by the present
 * results. */
static bool is_stuck(struct threads *threads, const struct thread *thread)
{
    const struct wait *wait = &thread->wait;
    unsigned processes = 0;
    int32_t last = 0;
    if (!is_of_file(wait))
        return wait->holder != THREAD_NONE &&
               threads->all[wait->holder].is_stuck;
    for (size_t i = 0; i < threads->count; i++) {
        const struct thread *holder = &threads->all[i];
        if (!holds_file(threads, wait, holder))
            continue;
        if (!holder->is_stuck)
            return false;
        processes += process_of(threads, holder) != last;
        last = process_of(threads, holder);
    }
    return processes && processes >= wait->processes_count;
}

static void stuck_find(struct threads *threads)
{
    bool changed = true;
    for (size_t i = 0; i < threads->count; i++) {
        const struct wait *wait = &threads->all[i].wait;
        threads->all[i].is_stuck =
            !wait->timed && !wait->unsure && !wait->id_again && !wait->unread &&
            (wait->holder != THREAD_NONE || wait->processes_count);
    }
    while (changed) {
        changed = false;
        for (size_t i = 0; i < threads->count; i++) {
            struct thread *thread = &threads->all[i];
            if (thread->is_stuck && !is_stuck(threads, thread)) {
                thread->is_stuck = false;
                changed = true;
            }
        }
    }
}

/* Chooses the holder of a file's lock in a stuck process: a thread that waits
 * for another lock of a file, else any other thread, else the waiter. */
static void holder_choose(struct threads *threads, size_t which)
{
    struct wait *wait = &threads->all[which].wait;
    size_t best = which;
    for (size_t i = 0; i < threads->count; i++) {
        const struct wait *its = &threads->all[i].wait;
        if (i == which || !holds_file(threads, wait, &threads->all[i]))
            continue;
        if (best == which || (is_of_file(its) && its->object != wait->object))
            best = i;
    }
    wait->holder = best;
}

/* ------------------------------------------------------------------ find -- */

static void wait_follow(struct threads *threads, size_t which)
{
    const struct thread *thread = &threads->all[which];
    const struct wait *wait = &thread->wait;
    if (is_of_file(wait)) {
        int32_t processes[PROCESSES_MAX];
        unsigned count = wait->processes_count;
        memcpy(processes, wait->processes, sizeof processes);
        for (unsigned i = 0; i < count && i < PROCESSES_MAX; i++)
            peer_open(threads, processes[i]);
        return;
    }
    if (thread->past || thread->id != thread->inside || wait->holder_id <= 0 ||
        wait->holder != THREAD_NONE || wait->is_private || wait->lost ||
        wait->kind == WAIT_THREAD)
        return;
    mutex_follow(threads, which);
}

void peers_find(struct threads *threads)
{
    bool has_files = false;
    if (!threads->source->pid)
        return;
    for (size_t i = 0; i < threads->count; i++) { /* including the threads added
                                                   * here */
        has_files |= is_of_file(&threads->all[i].wait);
        wait_follow(threads, i);
    }
    if (!has_files)
        return;
    stuck_find(threads);
    for (size_t i = 0; i < threads->count; i++)
        if (threads->all[i].is_stuck && is_of_file(&threads->all[i].wait))
            holder_choose(threads, i);
}
