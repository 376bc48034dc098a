/* threads.h - the threads of any program: what they wait for, who holds it. */
/* SPDX-License-Identifier: MIT */
/*
PROMISES
    * The program knows nothing of this and is not stopped, unless that is asked
      for: /proc and the program's memory tell all.
    * A deadlock of a running process is said only if none of its threads ran
      between two looks, between which the holders were read.
    * Whatever the memory holds, hostile or changing, reading ends.

FLOORS (a file calls only files of lower floors)
    threads    opens a source's threads, gives each its wait and its stack
    graph      cycles of waits, and whether they last
    join       gives threads what was recorded of them: who holds what
    recorded   reads what `recorder run` recorded; lives: of locks and joins
    waits      what a thread waits for, and who holds that
    places     which function, line or variable an address is
    process    threads of a running process: /proc
    stop       the same threads, stopped for their registers: ptrace
    core       threads of a core file: its notes
    snapshots  stacks that a program recorded of itself
    machines   what differs between processors
*/
#ifndef THREADS_H
#define THREADS_H

#include "ids.h"
#include "source.h"
#include "unwind.h"

enum { THREADS_SHOWN_MAX = 65536 };

/* What differs between processors: the layout of a core file's notes. */
struct machine {
    unsigned elf;        /* EM_X86_64 */
    unsigned word_bytes; /* of its registers */
    uint32_t calls;      /* the machine as libseccomp numbers its calls */
    struct unwind_machine unwind;
    unsigned status_count;   /* registers in NT_PRSTATUS */
    signed char status[48];  /* which DWARF register each is; -1: none */
    unsigned call, result;   /* which hold the number of a system call, and */
    unsigned arguments[6];   /* its result, and its arguments */
    bool loses_argument;     /* in a note, the first is not what it was */
    unsigned writer_at;      /* glibc: of a rwlock, who writes */
    signed char snapshot[9]; /* the registers of run/snapshot.h; -1: none */
};
/* Null: it is not known here. */
const struct machine *machine_of(const struct memory *);
/* "read", or null: it has no such call. */
const char *machine_call(const struct machine *, int64_t number);

enum wait_kind {
    WAIT_NONE, /* it runs, or that is not known */
    WAIT_MUTEX,
    WAIT_MUTEX_LIKE, /* looks like a mutex, but no function says so */
    WAIT_SPIN,
    WAIT_READ, /* of a read-write lock */
    WAIT_WRITE,
    WAIT_CONDITION,
    WAIT_SEMAPHORE,
    WAIT_BARRIER,
    WAIT_ONCE,
    WAIT_THREAD, /* a join */
    WAIT_GUARD,  /* the first use of a static variable of C++ */
    WAIT_MALLOC, /* one of malloc's own locks */
    WAIT_STREAM, /* a FILE: flockfile() */
    WAIT_FLOCK,  /* a file's: flock(), */
    WAIT_RECORD, /* fcntl() or lockf() */
    WAIT_FUTEX,  /* of no known kind */
    WAIT_CALL    /* in another system call */
};
#define THREAD_NONE SIZE_MAX
enum { PROCESSES_MAX = 8 };

struct wait {
    enum wait_kind kind;
    uint64_t object;   /* its address; of WAIT_THREAD, the futex; 0: unknown */
    uint64_t futex;    /* the word in it that the kernel knows */
    bool inherits;     /* a mutex with priority inheritance */
    bool timed;        /* until a time */
    bool refused;      /* for good: it would be a deadlock, says the kernel */
    int32_t holder_id; /* as the program's own locks have it; 0: unknown */
    size_t holder;     /* its index among the threads, or THREAD_NONE */
    bool is_private;   /* no other process can hold it */
    bool lost;         /* its holder has ended: nobody can release it */
    bool id_again;     /* the holder's id may have been another thread's */
    uint32_t readers;  /* who hold a read-write lock */
    bool unsure;       /* the holder may have given it back since */
    size_t holders_at; /* all that are known, the first is `holder` */
    size_t holders_count;
    int32_t processes[PROCESSES_MAX]; /* that hold a file's lock, */
    unsigned processes_count;         /* and perhaps more than are stored */
    bool unread;      /* processes that may not be read may hold it, too */
    const char *call; /* name of the system call, or null */
    int fd;           /* that the call waits on; -1: none */
};

struct thread {
    struct threads *peer; /* of another process, with these; or null */
    int32_t id;           /* for us, and in /proc */
    int32_t inside;  /* in its own pid namespace, which is what locks keep */
    unsigned number; /* in the program's registry; 0: it has none there */
    char name[17];
    char state;   /* of /proc: R, S, D, T, t, Z, X; '?': of a core file */
    bool in_call; /* it waits in a system call, and these are known: */
    int64_t call;
    uint64_t arguments[6];
    bool argument_lost; /* the first of them */
    uint64_t switches;  /* how often it began to wait or was preempted */
    uint64_t born;    /* grows from thread to thread of a kernel; 0: unknown */
    uint64_t started; /* in clock ticks since boot */
    bool id_again;    /* another thread may have had its id before */
    struct registers registers;
    bool has_registers; /* at least pc and sp */
    bool moved;         /* it ran while its stack was read */
    bool stopped;       /* stop.c's own: by us; and with which signal */
    int signal;
    bool whole;          /* its stack is known down to the outermost frame */
    const char *missing; /* path of the file that the next frame lies in */
    unsigned frames_count;
    uint64_t frames[FRAMES_MAX];
    struct wait wait;
    bool in_deadlock;
    bool is_stuck;     /* no thread that could end its wait goes on */
    bool is_snapshot;  /* not a thread: what it recorded of itself, */
    uint64_t snapshot; /* its id, */
    uint64_t order;    /* and the record's order */
    bool holds;        /* what another thread, or itself, waits for */
    size_t stack;      /* the first thread that has the same */
    struct past *past; /* as `recorder run` recorded it; null: it did not */
    bool ended;        /* only its past is known */
};

/* Threads that wait for each other in a circle. */
struct cycle {
    size_t *threads; /* each waits for what the next holds */
    size_t count;
    bool perhaps; /* or for what an ended thread left: see wait.id_again */
};

struct threads {
    struct source *source;
    const struct machine *machine;
    struct unwind unwind;
    struct thread *all;
    size_t count, max;
    bool too_many; /* beyond THREADS_SHOWN_MAX they are not looked at */
    struct by_inside {
        int32_t inside;
        size_t index;
    } * by_inside; /* sorted; without threads that have ended */
    size_t by_inside_count;
    size_t *holders; /* of waits */
    size_t holders_count, holders_max;
    struct recorded *recorded; /* by `recorder run`; null: nothing was */
    struct cycle *cycles;
    size_t cycles_count, cycles_max;
    size_t stacks_count; /* that differ */
    bool is_musl;        /* its libc is */
    uint64_t stopped_ns; /* with --stop: for how long */
    struct peer *peers;  /* other processes that hold what is waited for */
    int32_t unread;      /* one of them that may not be read; or 0 */
    struct ids ids;      /* of places, by their addresses */
    struct place **places;
    size_t places_max;
    bool has_libc;              /* as a library */
    unsigned condition_signals; /* see waits.c; 0: not known yet */
    bool no_memory;             /* a text is not whole */
    char why[256];
};

/* --------------------------------------------------------------- threads -- */

/* Finds the threads of a source, their stacks, waits, and deadlocks. Null, or
 * what is wrong; `stop`: stops a process while its stacks are read; `reader`:
 * of what the source recorded, or null. */
const char *threads_open(struct threads *, struct source *, struct reader *,
                         bool stop);
/* Begins to read threads of any kind of source: machine and modules. Returns
 * null, or what is wrong. */
const char *threads_begin(struct threads *, struct source *);
/* Walks the stack of a thread whose registers are known, if they are. */
void threads_walk(struct threads *, struct thread *);
/* Ends it: notes which stacks are equal. False: there is no memory. */
bool threads_join(struct threads *);
void threads_close(struct threads *);
/* present.c: reads the threads and waits of a source that is no recording. */
const char *present_read(struct threads *, bool stop);
/* Frees what threads_begin() and present_read() made. */
void present_close(struct threads *);
/* Sorts the index by which locks name threads. False: there is no memory. */
bool threads_sort(struct threads *);
/* The index of a thread by what locks know it by; THREAD_NONE: there is
 * none. */
size_t threads_index(const struct threads *, int32_t inside);
/* Formats into `why`, and returns it. */
const char *threads_wrong(struct threads *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the i-th holder of what a thread waits for; THREAD_NONE: no more. */
size_t threads_holder(const struct threads *, const struct wait *, size_t i);
/* Another thread, zeroed; null: there are too many, or no memory. */
struct thread *threads_add(struct threads *);

/* ----------------------------------------------------------------- kinds -- */

/* process.c: lists the threads of a process and looks at each. */
const char *process_threads(struct threads *);
/* Looks at a thread: name, state and call. False: it has ended. */
bool process_look(struct threads *, struct thread *);
/* Looks again; false, too, if the thread ran since the earlier look began. */
bool process_stood(struct threads *, const struct thread *);
/* Tells what a file descriptor of the process is: "/tmp/x", "pipe:[12]". False:
 * it is not known. */
bool process_file(const struct threads *, int fd, char *to, size_t size);
/* Tells the kernel's function in which a thread waits. False: it is not
 * told. */
bool process_channel(const struct threads *, const struct thread *, char *to,
                     size_t size);
/* Finds out when a thread of a process began. */
void process_age(struct thread *, int32_t process);
/* Has the process a thread of that id, as its locks know it? */
bool process_has(const struct threads *, int32_t inside);
/* The name of a thread of any process; false: there is none. */
bool process_name(int32_t id, char to[17]);

/* stop.c: stops all threads and fetches their registers; goes on with all. */
const char *stop_all(struct threads *);
void stop_end(struct threads *);

/* core.c: the threads of a core file. */
const char *core_threads(struct threads *);
/* Takes over the registers as a note has them, by ptrace, too. */
void core_registers(const struct threads *, struct thread *,
                    const unsigned char *from, size_t size);

/* snapshots.c: the snapshots in a recording, each as a thread. Null, or what is
 * wrong. Takes the reader's records. */
const char *snapshots_open(struct threads *, struct source *, struct reader *);

/* Walks the stacks that recorder run recorded of code without tables, and adds
 * their frames to what is known of them. Null, or what is wrong. */
const char *snapshots_extend(struct threads *);

/* Makes the bytes of an NT_PRSTATUS, whose size it returns, at most `max`;
 * registers that are not known are 0. 0: it has more. */
size_t core_status(const struct machine *, const struct memory *, int32_t id,
                   const struct registers *, unsigned char *to, size_t max);

/* ---------------------------------------------------------------- places -- */

struct place {
    uint64_t address;
    char *function;   /* null: no symbol tells */
    char *symbol;     /* of it, if its name in the source is another; or null */
    uint64_t offset;  /* in it */
    const char *file; /* null: no debug information */
    int line;
    const char *module;  /* path; null: it is no code of a file */
    struct place *outer; /* the function that this one was inlined into */
};
/* Where an address of code is; valid until threads_close(). Null: there is no
 * memory. */
const struct place *place_of(struct threads *, uint64_t address);
/* The same, of a return address: the place of its call. */
const struct place *place_of_call(struct threads *, uint64_t returns);
void place_free(struct place *);
/* A function's name without what libraries put in front of it. */
const char *place_plain(const char *function);
/* Is a module the library with the functions of threads? */
bool place_is_libc(const char *path);
/* Does that library, or the program that it was linked into, have a symbol that
 * begins so? */
bool place_libc_has(const struct threads *, const char *name);
/* The variable that an address lies in, "name" or "name+0x8", by its name in
 * the source; false: none. */
bool place_variable(struct threads *, uint64_t address, char *to, size_t size);

/* ----------------------------------------------------------------- waits -- */

/* Finds out what a thread waits for, by its call and its stack. */
void wait_find(struct threads *, struct thread *);
/* How many of a thread's innermost frames are the libc's, in which it waits. */
unsigned wait_frames(struct threads *, const struct thread *);
/* Does a thread that was seen wait on a futex, as far as is known? */
bool wait_may_be_futex(const struct threads *, const struct thread *);
/* Reads again who holds it. */
void wait_holder(struct threads *, struct wait *);
/* The id that a mutex notes as its holder; 0: none, or it is not known. */
int32_t wait_owner(struct threads *, uint64_t mutex);

/* ------------------------------------------------------------ file locks -- */

/* If a thread waits for the lock of a file: finds the processes that hold it. */
void file_lock_find(struct threads *, struct thread *);

/* ---------------------------------------------------------------- guards -- */

/* Finds who holds the locks of libraries that note no holder, by the stacks of
 * all threads. */
void guards_find(struct threads *);

/* ----------------------------------------------------------------- peers -- */

/* Adds the threads of the processes that hold what threads wait for, and, of
 * locks of files, the threads that can release them. False: there is no
 * memory. */
bool peers_find(struct threads *);
void peers_close(struct threads *);
/* The threads that a thread is one of, with its process's memory and files. */
static inline struct threads *thread_home(struct threads *threads,
                                          const struct thread *thread)
{
    return thread->peer ? thread->peer : threads;
}

/* ----------------------------------------------------------------- leaks -- */

/* Finds locks whose holders have ended. False: there is no memory. */
bool leaks_find(struct threads *);

/* ----------------------------------------------------------------- graph -- */

/* Finds the cycles of waits; of a running process, those that last. */
const char *cycles_find(struct threads *);
/* Does a thread of a running process still wait, in the call that it was seen
 * in, for what that thread holds? Of all other sources, it does. */
bool thread_waits_still(struct threads *, size_t thread);

#endif
