/* threads.h - the threads of any program: their waits and the holders. */
/* SPDX-License-Identifier: MIT */
/*
PROMISES
    * The program knows nothing of this and is not stopped, except on request:
      /proc and the program's memory suffice.
    * A deadlock of a running process is reported only if none of its threads
      ran between two looks, between which the holders were read.
    * Reading ends in any memory, hostile or changing.

FLOORS (a file calls only files of lower floors)
    threads    opens a source's threads, gives each its wait and its stack
    snapshots  stacks that a program recorded of itself
    graph      cycles of waits, and whether they last
    join       gives threads their recorded waits, and locks their holders
    recorded   reads the records of `recorder run`
    recorded_locks   of locks and joins
    waits      the object of a thread's wait, and its holder
    places     the function, line or variable of an address
    process    threads of a running process: /proc
    stop       the same threads, stopped for their registers: ptrace
    core       threads of a core file: its notes
    machines   the differences between processors
*/
#pragma once

#include "ids.h"
#include "source.h"
#include "unwind.h"

enum { THREADS_SHOWN_MAX = 65536 };

/* The differences between processors: the layout of a core file's notes. */
struct machine {
    unsigned elf;        /* EM_X86_64 */
    unsigned word_bytes; /* of its registers */
    uint32_t calls;      /* the machine as libseccomp numbers its calls */
    struct unwind_machine unwind;
    unsigned status_count;   /* registers in NT_PRSTATUS */
    signed char status[48];  /* which DWARF register each is; -1: none */
    unsigned call, result;   /* which hold the number of a system call, and */
    unsigned arguments[6];   /* its result, and its arguments */
    bool loses_argument;     /* in a note, the first has changed */
    unsigned writer_at;      /* glibc: the writer of a rwlock */
    signed char snapshot[9]; /* the registers of run/snapshot.h; -1: none */
};
/* Null: it is not known here. */
const struct machine *machine_of(const struct memory *);
/* "read", or null: there is no call. */
const char *machine_call(const struct machine *, int64_t number);

enum wait_kind {
    WAIT_NONE, /* it runs, or that is not known */
    WAIT_MUTEX,
    WAIT_MUTEX_LIKE, /* looks like a mutex, but no function confirms it */
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
    bool refused;      /* for good: it would be a deadlock, by the kernel's
                        * check */
    int32_t holder_id; /* as the program's own locks have it; 0: unknown */
    size_t holder;     /* its index among the threads, or THREAD_NONE */
    bool is_private;   /* no other process can hold it */
    bool lost;         /* its holder has ended: no thread can release it */
    bool id_again;     /* the holder's id may have been another thread's */
    uint32_t readers;  /* of a read-write lock */
    bool unsure;       /* the holder may have released it since */
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
    int32_t inside;       /* in its own pid namespace, as in its locks */
    unsigned number;      /* in the program's registry; 0: it has none there */
    char name[17];
    char state;   /* of /proc: R, S, D, T, t, Z, X; '?': of a core file */
    bool in_call; /* it waits in a system call, and these are known: */
    int64_t call;
    uint64_t arguments[6];
    bool argument_lost; /* the first of them */
    uint64_t switches;  /* number of its context switches */
    uint64_t born;    /* grows from thread to thread of a kernel; 0: unknown */
    uint64_t started; /* in clock ticks since boot */
    bool id_again;    /* another thread may have had its id before */
    struct registers registers;
    bool has_registers; /* at least pc and sp */
    bool moved;         /* it ran while its stack was read */
    bool stopped;       /* stop.c: we stopped it; and the signal then */
    int signal;
    bool whole;          /* its stack is known down to the outermost frame */
    const char *missing; /* path of the next frame's file */
    unsigned frames_count;
    uint64_t frames[FRAMES_MAX];
    struct wait wait;
    bool in_deadlock;
    bool is_stuck;     /* all threads that could end its wait are stuck */
    bool is_snapshot;  /* not a thread: its snapshot of itself, */
    uint64_t snapshot; /* its id, */
    uint64_t order;    /* and the record's order */
    bool holds;        /* another thread, or itself, waits for its lock */
    size_t stack;      /* the first thread that has the same */
    struct past *past; /* as `recorder run` recorded it; null: it did not */
    bool ended;        /* only its past is known */
};

/* Threads that wait for each other in a circle. */
struct cycle {
    size_t *threads; /* each waits for the next */
    size_t count;
    bool perhaps; /* or for an ended thread: see wait.id_again */
};

struct threads {
    struct source *source;
    const struct machine *machine;
    struct unwind unwind;
    struct thread *all;
    size_t count, max;
    bool too_many; /* beyond THREADS_SHOWN_MAX they are not looked at */
    struct ids by_inside; /* by ids in locks, without threads that have ended: */
    size_t *inside, inside_max; /* their indices */
    size_t *holders; /* of waits */
    size_t holders_count, holders_max;
    struct recorded *recorded; /* by `recorder run`; null: nothing was */
    struct cycle *cycles;
    size_t cycles_count, cycles_max;
    size_t stacks_count; /* that differ */
    bool is_musl;        /* its libc is */
    uint64_t stopped_ns; /* with --stop: for how long */
    struct peer *peers;  /* other processes that hold awaited objects */
    int32_t unread;      /* one of them that may not be read; or 0 */
    struct ids ids;      /* of places, by their addresses */
    struct place **places;
    size_t places_max;
    bool has_libc;              /* as a library */
    unsigned condition_signals; /* see waits.c; 0: not known yet */
    char why[256];
};

/* --------------------------------------------------------------- threads -- */

/* Finds the threads of a source, their stacks, waits and deadlocks. Returns
 * null, or the error. `stop`: stops a process while its stacks are read;
 * `reader`: of the source's records, or null. */
const char *threads_open(struct threads *, struct source *, struct reader *,
                         bool stop);
/* Begins to read threads of any kind of source: machine and modules. Returns
 * null, or the error. */
const char *threads_begin(struct threads *, struct source *);
/* Walks the stack of a thread if its registers are known. */
void threads_walk(struct threads *, struct thread *);
/* Ends it: notes equal stacks. */
void threads_join(struct threads *);
void threads_close(struct threads *);
/* present.c: reads the threads and waits of a source that is no recording. */
const char *present_read(struct threads *, bool stop);
/* Frees the results of threads_begin() and present_read(). */
void present_close(struct threads *);
/* Makes the index by which locks name threads. */
void threads_sort(struct threads *);
/* The index of a thread by its id in locks; THREAD_NONE: no thread has it. */
size_t threads_index(const struct threads *, int32_t inside);
/* Formats into `why`, and returns it. */
const char *threads_wrong(struct threads *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the i-th holder of a wait's object; THREAD_NONE: no more. */
size_t threads_holder(const struct threads *, const struct wait *, size_t i);
/* Another thread, zeroed; null: there are too many. */
struct thread *threads_add(struct threads *);

/* ----------------------------------------------------------------- kinds -- */

/* process.c: lists the threads of a process and looks at each. */
const char *process_threads(struct threads *);
/* Looks at a thread: name, state and call. False: it has ended. */
bool process_look(struct threads *, struct thread *);
/* Looks again; false, too, if the thread ran since the earlier look began. */
bool process_stood(struct threads *, const struct thread *);
/* Writes the file of a descriptor: "/tmp/x", "pipe:[12]". False: unknown. */
bool process_file(const struct threads *, int fd, char *to, size_t size);
/* Writes the kernel's function in which a thread waits. False: unknown. */
bool process_channel(const struct threads *, const struct thread *, char *to,
                     size_t size);
/* Finds out when a thread of a process began. */
void process_age(struct thread *, int32_t process);
/* True if the process has a thread with that id in its locks. */
bool process_has(const struct threads *, int32_t inside);

/* stop.c: stops all threads and fetches their registers; resumes all. */
const char *stop_all(struct threads *);
void stop_end(struct threads *);

/* core.c: the threads of a core file. */
const char *core_threads(struct threads *);
/* Copies the registers of a note; those from ptrace have the same layout. */
void core_registers(const struct threads *, struct thread *,
                    const unsigned char *from, size_t size);

/* snapshots.c: the snapshots in a recording, each as a thread. Takes the
 * reader's records. Returns null, or the error. */
const char *snapshots_open(struct threads *, struct source *, struct reader *);

/* Walks the stacks that `recorder run` recorded of code without tables, and
 * adds their frames to the known ones. Returns null, or the error. */
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
/* The place of an address of code; valid until threads_close(). */
const struct place *place_of(struct threads *, uint64_t address);
/* The same for a return address: the place of its call. */
const struct place *place_of_call(struct threads *, uint64_t returns);
void place_free(struct place *);
/* The unit of debug information for an address of code; null: none. *bias: of
 * its module. */
Dwarf_Die *place_unit(const struct threads *, uint64_t address,
                      Dwarf_Addr *bias);
Dwarf_Die *place_unit_in(Dwfl_Module *, uint64_t address, Dwarf_Addr *bias);
/* The scopes around an address of a unit, without the bias, the innermost first,
 * to be freed; their number. */
int place_scopes(Dwarf_Die *unit, uint64_t address, Dwarf_Die **scopes);
/* A function's name without the prefixes of libraries. */
const char *place_plain(const char *function);
/* True for the library with the functions of threads. */
bool place_is_libc(const char *path);
/* The address of a symbol that begins with `name`, of that library or the program
 * that contains it; 0: there is none. */
uint64_t place_libc_symbol(const struct threads *, const char *name);
/* The variable at an address, "name" or "name+0x8", or the function that begins
 * there, by its name in the source; false: none. */
bool place_variable(Dwfl *, uint64_t address, char *to, size_t size);

/* words.c: a reader's `words`, for events of `recorder run`, of a call: "waits
 * for mutex table, held by T2 flusher". With lost arguments it has none. */
size_t event_words(void *call, const struct reader_event *, char *to,
                   size_t max);
/* A kind of these events, "waits for mutex" or "waited in fsync", in 64 bytes. */
const char *event_title(const char *kind, const char *format, char *to);

/* ----------------------------------------------------------------- waits -- */

/* Finds the object of a thread's wait, by its call and its stack. */
void wait_find(struct threads *, struct thread *);
/* The number of a thread's innermost frames that are in the libc's wait. */
unsigned wait_frames(struct threads *, const struct thread *);
/* True if a thread may wait on a futex. */
bool wait_may_be_futex(const struct threads *, const struct thread *);
/* Reads again who holds it. */
void wait_holder(struct threads *, struct wait *);
/* The holder's id in a mutex; 0: none, or unknown. */
int32_t wait_owner(struct threads *, uint64_t mutex);

/* ------------------------------------------------------------ file locks -- */

/* If a thread waits for the lock of a file: finds the processes that hold
 * it. */
void file_lock_find(struct threads *, struct thread *);

/* ---------------------------------------------------------------- guards -- */

/* Finds the holders of libraries' locks that note none, by all stacks. */
void guards_find(struct threads *);

/* ----------------------------------------------------------------- peers -- */

/* Adds the threads of the processes that hold awaited objects, and, for locks
 * of files, the threads that can release them. */
void peers_find(struct threads *);
void peers_close(struct threads *);
/* The threads beside which a thread runs, with its process's memory and
 * files. */
static inline struct threads *thread_home(struct threads *threads,
                                          const struct thread *thread)
{
    return thread->peer ? thread->peer : threads;
}

/* ----------------------------------------------------------------- leaks -- */

/* Finds locks whose holders have ended. */
void leaks_find(struct threads *);

/* ----------------------------------------------------------------- graph -- */

/* Finds the cycles of waits; of a running process, only lasting ones. */
void cycles_find(struct threads *);
/* True if a thread of a running process is still in the same call and still
 * waits for that holder. Always true for other sources. */
bool thread_waits_still(struct threads *, size_t thread);
