/* waits.c - the object of a thread's wait, and its holder. */
/* SPDX-License-Identifier: MIT */
/*
   All waits of a libc are waits on a futex, a word in the program's memory. The
   waiting function, found in the stack, tells the type of the object around
   that word, and so the place where glibc keeps its holder. The places below
   are from glibc 2.25 and later, on 32 and 64 bits; they are part of its
   interface to programs.
*/
#include "bytes.h"
#include "threads.h"

#include <linux/futex.h>

#ifndef FUTEX_LOCK_PI2 /* Linux 5.14; its headers may be older */
#define FUTEX_LOCK_PI2 13
#endif

/* The greatest number of the libc's frames in a wait. */
enum { FRAMES_OF_WAIT = 8 };

/* The functions that wait, by the beginnings of their names. Functions that
 * wake a condition's waiters, or destroy it, wait for the condition's own
 * words, and take no mutex. */
static const struct wait_function {
    const char *begin;
    enum wait_kind kind;
    bool wakes;
} functions[] = {{"pthread_mutex_", WAIT_MUTEX, false},
                 {"mtx_", WAIT_MUTEX, false},
                 {"pthread_cond_signal", WAIT_CONDITION, true},
                 {"pthread_cond_broadcast", WAIT_CONDITION, true},
                 {"pthread_cond_destroy", WAIT_CONDITION, true},
                 {"pthread_cond_", WAIT_CONDITION, false},
                 {"cnd_signal", WAIT_CONDITION, true},
                 {"cnd_broadcast", WAIT_CONDITION, true},
                 {"cnd_destroy", WAIT_CONDITION, true},
                 {"cnd_", WAIT_CONDITION, false},
                 {"pthread_rwlock_rd", WAIT_READ, false},
                 {"pthread_rwlock_timedrd", WAIT_READ, false},
                 {"pthread_rwlock_clockrd", WAIT_READ, false},
                 {"pthread_rwlock_", WAIT_WRITE, false},
                 {"sem_", WAIT_SEMAPHORE, false},
                 {"new_sem_", WAIT_SEMAPHORE, false},
                 {"pthread_barrier_", WAIT_BARRIER, false},
                 {"pthread_once", WAIT_ONCE, false},
                 {"call_once", WAIT_ONCE, false},
                 {"pthread_join", WAIT_THREAD, false},
                 {"pthread_timedjoin", WAIT_THREAD, false},
                 {"pthread_clockjoin", WAIT_THREAD, false},
                 {"thrd_join", WAIT_THREAD, false},
                 {"poll", WAIT_CALL, false},
                 {"nanosleep", WAIT_CALL, false},
                 {"clock_nanosleep", WAIT_CALL, false}};

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

/* True for a function of the libc. A libc that is linked into the program
 * cannot be distinguished from it. */
static bool is_of_libc(const struct threads *threads, const struct place *place)
{
    return !threads->has_libc ||
           (place->module && place_is_libc(place->module));
}

/* Finds a function of the libc in the list of waiting ones. Null: none. */
static const struct wait_function *function_of(const struct place *place)
{
    const char *name = place_plain(place->function);
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (strncmp(name, functions[k].begin, strlen(functions[k].begin)) == 0)
            return &functions[k];
    return NULL;
}

unsigned wait_frames(struct threads *threads, const struct thread *thread)
{
    unsigned count = 0;
    for (unsigned i = 0; i < thread->frames_count && i < FRAMES_OF_WAIT; i++) {
        const struct place *place = place_of(threads, thread->frames[i]);
        bool is_libc = place && is_of_libc(threads, place);
        if (threads->has_libc && !is_libc)
            break;
        if (threads->has_libc || (place && function_of(place)))
            count = i + 1;
    }
    return count;
}

/* The function that a frame called: by a tail call it may have reached one that
 * has no name. Null: it does not wait. */
static const struct wait_function *function_called(struct threads *threads,
                                                   uint64_t frame)
{
    uint64_t target[2];
    const struct wait_function *function = NULL;
    call_before(&threads->unwind, frame + 1, target);
    for (int i = 0; i < 2 && !function; i++) {
        const struct place *place =
            target[i] ? place_of(threads, target[i]) : NULL;
        if (place && is_of_libc(threads, place))
            function = function_of(place);
    }
    return function;
}

/* The function that waits, by the innermost frames. Null: unknown. */
static const struct wait_function *function_waiting(struct threads *threads,
                                                    const struct thread *thread)
{
    const struct wait_function *function = NULL;
    for (unsigned i = 0; i < thread->frames_count && i < FRAMES_OF_WAIT; i++) {
        const struct place *place = place_of(threads, thread->frames[i]);
        bool is_libc = place && is_of_libc(threads, place);
        if (is_libc)
            function = function_of(place);
        if (!function && i > 0 && (!is_libc || !threads->has_libc))
            function = function_called(threads, thread->frames[i]);
        if (function || (place && !is_libc))
            break;
    }
    return function;
}

/* The offset of the two words that a condition's waiters sleep on. glibc 2.41
 * has no words of references before them. A statically linked program may or
 * may not contain the function that drops references. */
static unsigned condition_signals(struct threads *threads)
{
    if (!threads->condition_signals) {
        bool is_new = threads->has_libc
                          ? place_libc_symbol(threads, "sched_setattr") != 0
                          : !place_libc_symbol(threads, "__condvar_dec_grefs") &&
                                place_libc_symbol(threads, "__condvar_");
        threads->condition_signals = is_new ? 32 : 40;
    }
    return threads->condition_signals;
}

/* Returns the condition of a call that wakes, by its futex: glibc's word of
 * references of a group, which is odd while one waits, the group's lock, or the
 * count of waiters. */
static uint64_t waker_object(struct threads *threads,
                             const struct thread *thread)
{
    uint64_t futex = thread->arguments[0];
    if (thread->arguments[2] & 1)
        return futex - (futex & 4 ? 20 : 16);
    return futex - condition_signals(threads) + (futex & 4 ? 4 : 8);
}

/* Returns the object that contains a futex; 0: unknown. */
static uint64_t object_of(struct threads *threads, enum wait_kind kind,
                          uint64_t futex)
{
    if (threads->is_musl) /* of two kinds, a waiter's stack has the futex */
        return kind == WAIT_MUTEX                               ? futex - 4
               : kind == WAIT_CONDITION || kind == WAIT_BARRIER ? 0
                                                                : futex;
    switch (kind) {
    case WAIT_CONDITION:
        return futex - condition_signals(threads) - (futex & 4);
    case WAIT_READ:
    case WAIT_WRITE: return futex - (futex & 4 ? 12 : 8);
    case WAIT_BARRIER: return futex - 4;
    default: return futex;
    }
}

int32_t wait_owner(struct threads *threads, uint64_t mutex)
{
    /* After its holder's end, a robust mutex has a mark here until it is made
     * consistent, else for ever: 2^31 - 1, 2^31 - 2. Its word then has the id
     * of the next holder. */
    uint32_t owner = threads->is_musl ? 0 : word32(threads, mutex + 8);
    return (int32_t)(owner < INT32_MAX - 1
                         ? owner
                         : word32(threads, mutex) & FUTEX_TID_MASK);
}

/* Returns the holder of a mutex, as noted by the libc. With priority
 * inheritance, the futex word itself is the holder's id, for the kernel. */
static int32_t mutex_holder(struct threads *threads, const struct wait *wait)
{
    uint32_t value = word32(threads, wait->futex);
    if (wait->inherits)
        return (int32_t)(value & FUTEX_TID_MASK);
    if (threads->is_musl) /* one without a check of errors has only a flag */
        return word32(threads, wait->object) & 3
                   ? (int32_t)(value & FUTEX_TID_MASK)
                   : 0;
    return value ? wait_owner(threads, wait->futex) : 0;
}

/* The holder of a FILE's lock. glibc notes its pthread_t: a structure that
 * begins with its own address and has the kernel's id of the thread. 0: the
 * words are no lock. */
static int32_t stream_holder(struct threads *threads, uint64_t futex)
{
    struct memory *m = threads->source->memory;
    unsigned word = m->word_bytes;
    unsigned id_at = threads->machine->elf == EM_X86_64 ? 720 : 104;
    unsigned char bytes[8];
    uint64_t self, owner;
    if (threads->is_musl ||
        (threads->machine->elf != EM_X86_64 &&
         threads->machine->elf != EM_386) ||
        !bytes_read(m, futex + 8, bytes, word))
        return 0;
    owner = bytes_word(m, bytes);
    if (!owner || !bytes_read(m, owner, bytes, word))
        return 0;
    self = bytes_word(m, bytes);
    return self == owner ? (int32_t)word32(threads, owner + id_at) : 0;
}

/* The kind by the value of the futex, if no function is known. */
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
    if (value == 2 && thread->arguments[2] == 2 &&
        stream_holder(threads, futex) > 0)
        return WAIT_STREAM;
    return WAIT_FUTEX;
}

void wait_holder(struct threads *threads, struct wait *wait)
{
    wait->holder_id = 0;
    wait->readers = 0;
    switch (wait->kind) {
    case WAIT_STREAM:
        wait->holder_id = stream_holder(threads, wait->futex);
        break;
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

/* Returns the thread's futex operation, without its flags. */
static unsigned futex_command(const struct thread *thread)
{
    return (unsigned)thread->arguments[1] & 0x7f;
}

/* True if the thread waits on a futex. */
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

bool wait_may_be_futex(const struct threads *threads,
                       const struct thread *thread)
{
    const char *call =
        thread->in_call ? machine_call(threads->machine, thread->call) : NULL;
    return is_futex_wait(thread, call) ||
           (call && strcmp(call, "restart_syscall") == 0) ||
           (!thread->in_call && thread->state != 'R');
}

static void futex_find(struct threads *threads, struct thread *thread,
                       const struct wait_function *function)
{
    enum wait_kind kind = function ? function->kind : WAIT_FUTEX;
    unsigned command = futex_command(thread);
    struct wait *wait = &thread->wait;
    if (thread->argument_lost) {
        wait->kind = kind;
        wait->timed = thread->arguments[3] != 0;
        return;
    }
    wait->futex = thread->arguments[0];
    wait->timed = thread->arguments[3] != 0;
    wait->is_private = thread->arguments[1] & FUTEX_PRIVATE_FLAG;
    wait->inherits = command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
    /* A condition's own wait is another command, or, in glibc 2.31, a wait for
     * the value 0, as in no mutex: the thread takes the mutex again. */
    if (kind == WAIT_CONDITION && !threads->is_musl &&
        (wait->inherits ||
         (command == FUTEX_WAIT && thread->arguments[2] != 0))) {
        if (function->wakes) {
            wait->kind = kind;
            wait->object = waker_object(threads, thread);
            wait_holder(threads, wait);
            return;
        }
        kind = WAIT_MUTEX;
    }
    if (kind == WAIT_FUTEX)
        kind = wait->inherits ? WAIT_MUTEX : kind_by_value(threads, thread);
    wait->kind = kind;
    /* The kernel refuses a deadlock of a mutex with priority inheritance. glibc
     * then waits for ever on its own word, which stays 0. */
    wait->refused = kind == WAIT_MUTEX && !wait->inherits &&
                    !threads->is_musl && thread->arguments[2] == 0;
    if (wait->refused)
        return;
    wait->object = object_of(threads, kind, wait->futex);
    wait_holder(threads, wait);
}

void wait_find(struct threads *threads, struct thread *thread)
{
    struct wait *wait = &thread->wait;
    const struct wait_function *function;
    *wait = (struct wait){.holder = THREAD_NONE, .fd = -1};
    if (!thread->in_call)
        return;
    wait->kind = WAIT_CALL;
    wait->call = machine_call(threads->machine, thread->call);
    if (is_futex_wait(thread, wait->call)) {
        futex_find(threads, thread, function_waiting(threads, thread));
    } else if (wait->call && is_of_file(wait->call)) {
        wait->fd = thread->argument_lost ? -1 : (int)thread->arguments[0];
    } else if (wait->call && strcmp(wait->call, "restart_syscall") == 0) {
        /* After a stop; the arguments belong to the interrupted call. */
        function = function_waiting(threads, thread);
        if (function && function->kind == WAIT_CALL)
            wait->call = function->begin;
        else if (function)
            futex_find(threads, thread, function);
    }
}
