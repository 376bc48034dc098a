/* waits.c - what a thread waits for, and who holds that. */
/* SPDX-License-Identifier: MIT */
/*
   All waits of a libc are waits on a futex, a word in the program's memory. The
   function that waits, found in the stack, tells what it is a word of, and
   where in that object glibc keeps who holds it. The places below are those of
   glibc 2.25 and later, on 32 and 64 bits; they are part of its interface to
   programs.
*/
#include "bytes.h"
#include "threads.h"

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>

/* Frames of the libc that a wait has at most. */
enum { FRAMES_OF_WAIT = 8 };

/* The functions that wait, by how their names begin. */
static const struct {
    const char *begin;
    enum wait_kind kind;
} functions[] = {{"pthread_mutex_", WAIT_MUTEX},
                 {"mtx_", WAIT_MUTEX},
                 {"pthread_cond_", WAIT_CONDITION},
                 {"cnd_", WAIT_CONDITION},
                 {"pthread_rwlock_rd", WAIT_READ},
                 {"pthread_rwlock_timedrd", WAIT_READ},
                 {"pthread_rwlock_clockrd", WAIT_READ},
                 {"pthread_rwlock_", WAIT_WRITE},
                 {"sem_", WAIT_SEMAPHORE},
                 {"new_sem_", WAIT_SEMAPHORE},
                 {"pthread_barrier_", WAIT_BARRIER},
                 {"pthread_once", WAIT_ONCE},
                 {"call_once", WAIT_ONCE},
                 {"pthread_join", WAIT_THREAD},
                 {"pthread_timedjoin", WAIT_THREAD},
                 {"pthread_clockjoin", WAIT_THREAD},
                 {"thrd_join", WAIT_THREAD}};

/* The calls whose first argument is a file descriptor that they wait on. */
static const char of_files[] =
    " read pread64 readv preadv preadv2 write pwrite64 writev pwritev pwritev2 "
    "recv recvfrom recvmsg recvmmsg send sendto sendmsg sendmmsg accept "
    "accept4 connect epoll_wait epoll_pwait epoll_pwait2 flock fcntl fcntl64 "
    "ioctl fsync fdatasync sync_file_range sendfile splice tee vmsplice "
    "getdents64 ftruncate fallocate io_uring_enter copy_file_range ";

static bool is_of_file(const char *call)
{
    char word[32];
    return snprintf(word, sizeof word, " %s ", call) < (int)sizeof word &&
           strstr(of_files, word);
}

static uint32_t word32(struct threads *threads, uint64_t address)
{
    struct memory *m = threads->source->memory;
    unsigned char bytes[4];
    return bytes_read(m, address, bytes, sizeof bytes)
               ? (uint32_t)bytes_number(m, bytes, sizeof bytes)
               : 0;
}

/* Is it a function of the libc? One that is linked into the program is not told
 * from the program's own. */
static bool is_of_libc(const struct threads *threads, const struct place *place)
{
    return !threads->has_libc ||
           (place->module && place_is_libc(place->module));
}

/* The kind that a function of the libc waits for; WAIT_NONE: for none. */
static enum wait_kind kind_of(const char *function)
{
    const char *name = place_plain(function);
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (strncmp(name, functions[k].begin, strlen(functions[k].begin)) == 0)
            return functions[k].kind;
    return WAIT_NONE;
}

unsigned wait_frames(struct threads *threads, const struct thread *thread)
{
    unsigned count = 0;
    for (unsigned i = 0; i < thread->frames_count && i < FRAMES_OF_WAIT; i++) {
        const struct place *place = place_of(threads, thread->frames[i]);
        bool is_libc = place && is_of_libc(threads, place);
        if (threads->has_libc && !is_libc)
            break;
        if (threads->has_libc || (place && kind_of(place->function)))
            count = i + 1;
    }
    return count;
}

/* The kind by the function that a frame called: it may have gone on, in place
 * of a call, to one that has no name. */
static enum wait_kind kind_by_call(struct threads *threads, uint64_t frame)
{
    uint64_t target[2];
    enum wait_kind kind = WAIT_NONE;
    call_before(&threads->unwind, frame + 1, target);
    for (int i = 0; i < 2 && kind == WAIT_NONE; i++) {
        const struct place *place =
            target[i] ? place_of(threads, target[i]) : NULL;
        if (place && is_of_libc(threads, place))
            kind = kind_of(place->function);
    }
    return kind;
}

/* The kind by the innermost frames. */
static enum wait_kind kind_by_stack(struct threads *threads,
                                    const struct thread *thread)
{
    enum wait_kind kind = WAIT_NONE;
    for (unsigned i = 0; i < thread->frames_count && i < FRAMES_OF_WAIT; i++) {
        const struct place *place = place_of(threads, thread->frames[i]);
        bool is_libc = place && is_of_libc(threads, place);
        if (is_libc)
            kind = kind_of(place->function);
        if (kind == WAIT_NONE && i > 0 && (!is_libc || !threads->has_libc))
            kind = kind_by_call(threads, thread->frames[i]);
        if (kind != WAIT_NONE)
            return kind;
        if (place && !is_libc)
            break;
    }
    return WAIT_FUTEX;
}

/* Is it a call that wakes those who wait for a condition, or ends it? It waits
 * for the condition's own words, and takes no mutex. */
static bool is_in_waker(struct threads *threads, const struct thread *thread)
{
    static const char *const wakers[] = {
        "pthread_cond_signal", "pthread_cond_broadcast", "pthread_cond_destroy",
        "cnd_signal",          "cnd_broadcast",          "cnd_destroy"};
    for (unsigned i = 0; i < thread->frames_count && i < FRAMES_OF_WAIT; i++) {
        const struct place *place = place_of(threads, thread->frames[i]);
        const char *name = place ? place_plain(place->function) : "";
        for (size_t k = 0; k < sizeof wakers / sizeof *wakers; k++)
            if (strncmp(name, wakers[k], strlen(wakers[k])) == 0)
                return true;
    }
    return false;
}
/* From the futex of such a call to the condition: glibc's word of references of
 * a group, which is odd while one waits, its lock, or the count of waiters. */
static uint64_t waker_object(const struct thread *thread)
{
    uint64_t futex = thread->arguments[0], value = thread->arguments[2];
    if (futex & 4)
        return futex - (value & 1 ? 20 : 36);
    return futex - (value & 1 ? 16 : 32);
}

/* The kind by what stands there, where no function tells it. */
static enum wait_kind kind_by_value(struct threads *threads,
                                    const struct thread *thread)
{
    uint64_t futex = thread->arguments[0];
    uint32_t value = word32(threads, futex);
    bool is_private = thread->arguments[1] & FUTEX_PRIVATE_FLAG;
    if (!is_private && value && value == (uint32_t)thread->arguments[2] &&
        threads_index(threads, (int32_t)value) != THREAD_NONE)
        return WAIT_THREAD;
    if (value == 2 && thread->arguments[2] == 2 && !threads->is_musl &&
        threads_index(threads, (int32_t)word32(threads, futex + 8)) !=
            THREAD_NONE)
        return WAIT_MUTEX_LIKE;
    return WAIT_FUTEX;
}

/* From the futex to the object that it is a part of. */
static uint64_t object_of(const struct threads *threads, enum wait_kind kind,
                          uint64_t futex)
{
    if (threads->is_musl) /* of two kinds, a waiter's stack has the futex */
        return kind == WAIT_MUTEX                               ? futex - 4
               : kind == WAIT_CONDITION || kind == WAIT_BARRIER ? 0
                                                                : futex;
    switch (kind) {
    case WAIT_CONDITION: return futex - (futex & 4 ? 44 : 40);
    case WAIT_READ:
    case WAIT_WRITE: return futex - (futex & 4 ? 12 : 8);
    case WAIT_BARRIER: return futex - 4;
    default: return futex;
    }
}

/* Who holds a mutex, as glibc notes it in each. With priority inheritance, the
 * word itself says so, to the kernel. */
static int32_t mutex_holder(struct threads *threads, const struct wait *wait)
{
    uint32_t value = word32(threads, wait->futex);
    if (wait->inherits)
        return (int32_t)(value & FUTEX_TID_MASK);
    if (threads->is_musl) /* one without a check of errors has only a flag */
        return word32(threads, wait->object) & 3
                   ? (int32_t)(value & FUTEX_TID_MASK)
                   : 0;
    return value ? (int32_t)word32(threads, wait->futex + 8) : 0;
}

int32_t wait_owner(struct threads *threads, uint64_t mutex)
{
    return threads->is_musl ? 0 : (int32_t)word32(threads, mutex + 8);
}

void wait_holder(struct threads *threads, struct wait *wait)
{
    wait->holder_id = 0;
    wait->readers = 0;
    switch (wait->kind) {
    case WAIT_MUTEX:
    case WAIT_MUTEX_LIKE: wait->holder_id = mutex_holder(threads, wait); break;
    case WAIT_READ:
    case WAIT_WRITE:
        if (threads->is_musl)
            break;
        wait->holder_id = (int32_t)word32(
            threads, wait->object + threads->machine->writer_at);
        if (!wait->holder_id && wait->kind == WAIT_WRITE)
            wait->readers = word32(threads, wait->object) >> 3;
        break;
    case WAIT_THREAD:
        if (!threads->is_musl)
            wait->holder_id = (int32_t)word32(threads, wait->futex);
        break;
    default: break;
    }
    wait->holder = wait->holder_id > 0 ? threads_index(threads, wait->holder_id)
                                       : THREAD_NONE;
}

/* What the thread asked of the futex, without its flags. */
static unsigned futex_command(const struct thread *thread)
{
    return (unsigned)thread->arguments[1] & 0x7f;
}

/* Does the thread wait on a futex? */
static bool is_futex_wait(const struct thread *thread, const char *call)
{
    if (!call ||
        (strcmp(call, "futex") != 0 && strcmp(call, "futex_time64") != 0))
        return false;
    switch (futex_command(thread)) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI: return true;
    default: return false;
    }
}

static void futex_find(struct threads *threads, struct thread *thread,
                       enum wait_kind kind)
{
    unsigned command = futex_command(thread);
    struct wait *wait = &thread->wait;
    if (thread->argument_lost) {
        wait->kind = kind;
        wait->timed = thread->arguments[3] != 0;
        return;
    }
    wait->futex = thread->arguments[0];
    wait->timed = thread->arguments[3] != 0;
    wait->inherits = command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
    /* A condition's own wait is another command: it takes the mutex again. */
    if (kind == WAIT_CONDITION && (command == FUTEX_WAIT || wait->inherits) &&
        !threads->is_musl) {
        if (is_in_waker(threads, thread)) {
            wait->kind = kind;
            wait->object = waker_object(thread);
            wait_holder(threads, wait);
            return;
        }
        kind = WAIT_MUTEX;
    }
    if (kind == WAIT_FUTEX)
        kind = wait->inherits ? WAIT_MUTEX : kind_by_value(threads, thread);
    wait->kind = kind;
    wait->object = object_of(threads, kind, wait->futex);
    wait_holder(threads, wait);
}

void wait_find(struct threads *threads, struct thread *thread)
{
    struct wait *wait = &thread->wait;
    enum wait_kind kind;
    *wait = (struct wait){.holder = THREAD_NONE, .fd = -1};
    if (!thread->in_call)
        return;
    wait->kind = WAIT_CALL;
    wait->call = machine_call(threads->machine, thread->call);
    if (is_futex_wait(thread, wait->call)) {
        futex_find(threads, thread, kind_by_stack(threads, thread));
    } else if (wait->call && is_of_file(wait->call)) {
        wait->fd = thread->argument_lost ? -1 : (int)thread->arguments[0];
    } else if (wait->call && strcmp(wait->call, "restart_syscall") == 0) {
        /* After a stop; its arguments are those of the call before. */
        kind = kind_by_stack(threads, thread);
        if (kind != WAIT_FUTEX)
            futex_find(threads, thread, kind);
    }
}
