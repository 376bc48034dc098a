/* watch.h - notices hangs and deaths of any program, from outside. */
/* SPDX-License-Identifier: MIT */
/*
    watcher     the loop: looks at all processes, and waits for deaths
    targets     processes of a PID, a name or a unit, over restarts
    look        which threads ran since the last look, and their rests
    queues      work that waits: bytes in sockets and pipes, connections
    hang        the verdict on a process
    spin        the function that a running thread does not leave
    death       how a process ended, and whose signal ended it
    incident    the folder that keeps all that is known

   A verdict needs evidence of waiting work, or a proof: a circle of waits, a
   state of the kernel. All else is PERHAPS. Nothing in the process changes:
   a look reads /proc, and a pidfd gives duplicates of its descriptors.
*/
#pragma once

#include "absence.h"
#include "command.h"

#include "proc.h"

#include <signal.h>

enum verdict { VERDICT_NONE, VERDICT_OVER, VERDICT_PERHAPS, VERDICT_SURE };

/* A thread. It rests while its CPU time does not change. */
struct task {
    int id;
    uint64_t run_ns, waits; /* CPU time; voluntary context switches */
    uint64_t wanted_ns;     /* CPU time, and waits for a processor */
    int64_t still_ns;       /* when it was last seen to have run */
    int64_t busy_ns;        /* since when it runs without a wait; 0: no */
    int64_t spun_ns;        /* how long it did when its stack was looked at */
    uint64_t busy_system;   /* its ticks in the kernel, then */
    uint64_t rest;          /* system call and stack of its rest; 0: unknown */
    int call;               /* of enum rest_call */
    int fd;                 /* the first argument of the call */
    bool idle;              /* it usually waits there for work */
    bool looked;            /* this rest was looked at */
    bool slept;             /* it has waited since the watch began */
};
enum rest_call { CALL_UNKNOWN, CALL_IDLE, CALL_WRITE, CALL_OTHER };

/* A place of rests of a process's threads, and the longest of them. */
struct rest {
    uint64_t place;
    int64_t longest_ns;
};
enum { RESTS_MAX = 64, LOOKS_LEARNED = 48 /* 12 times --hang, or more */ };

/* A socket or pipe of a process. */
struct queue {
    uint64_t inode;
    int fd;
    uint32_t bytes; /* that wait to be read; of a listening socket, 1 */
    bool listens, is_pipe, writes;
    bool full;        /* nothing can be written */
    bool arrived;     /* the bytes, after the first look, */
    int64_t since_ns; /* and since when none of them was read */
};

struct watched {
    int pid, pidfd;
    char id[16], name[17], unit[128], command[256], state;
    char *core; /* its folder; later its core file; null: none */
    size_t target;
    bool is_child;    /* of a watched process, whose matter its status is */
    uint64_t started; /* in clock ticks since boot */
    int64_t begun_ns; /* the watch of it */
    int64_t look_ns;  /* the last look */
    uint64_t ran_ns;  /* of all threads, wanted_ns between two looks, */
    bool runs;        /* and more than a tenth of that time */
    struct task *tasks;
    size_t tasks_count, tasks_max;
    struct rest rests[RESTS_MAX];
    size_t rests_count;
    struct queue *queues;
    size_t queues_count, descriptors;
    int64_t queues_ns, queues_cost_ns; /* the last look at queues */
    int64_t unmoved_ns; /* since when no queue was read, opened or closed */
    int64_t stopped_ns; /* since when its state is T */
    int64_t threads_ns; /* the next look for a deadlock */
    int64_t not_frozen_ns; /* the last look at its control group */
    uint64_t verdict;   /* the digest of it; 0: none */
    bool deadlock;      /* it is of a deadlock */
    int hung;           /* the thread of the last verdict; 0: all; -1: queues */
    int64_t hung_ns;    /* that thread's still_ns, then; 0: no verdict */
    uint64_t hung_mark; /* its number of waits, then; of queues, an inode */
    enum verdict hung_verdict;
    unsigned looks; /* at it; after LOOKS_LEARNED its idle places are known */
    int recording; /* the program's file of rings; -1: it has none */
    int conditions; /* the output of a watch for records; -1: none runs */
    pid_t child; /* its watch for records, or its log; 0: it has ended */
    int64_t due_ns;     /* the next look for recorders */
    int64_t program_ns; /* since when it was seen to run its program, */
    uint64_t stack;     /* whose stack starts there */
    int64_t
        beyond_ns[16];  /* the figure's start; 0: none, -1: it was reported */
    uint64_t oom_kills; /* in its control group, before */
};

struct target {
    const char *text; /* a PID, a name or a unit */
    bool is_unit;
    int pid; /* 0: a name or unit */
};

enum { TARGETS_MAX = 64 };
struct watcher {
    struct call *call;
    const char *folder; /* null: nothing is kept */
    int64_t hang_ns, every_ns;
    bool keeps_perhaps;
    unsigned long keep;
    uint64_t size;           /* of all incidents */
    const char **conditions; /* "watch", null, "--when" ...: arguments */
    struct figure figures[16];
    size_t figures_count;
    struct target targets[TARGETS_MAX];
    size_t targets_count;
    struct watched **all;
    size_t count, max, incidents;
    int64_t scan_ns, scan_cost_ns;
    char tracer[64];
    int kernel, signals;     /* /dev/kmsg, trace_pipe; -1: not readable */
    char kernel_text[16384]; /* the newest lines of both */
    char signals_text[8192];
};

/* ------------------------------------------------------------------ parts -- */

int64_t watch_now(void);
int64_t watch_cpu(void); /* the CPU time of this process */
/* Reads a file of a process's control group, of version 1 or 2. */
bool watch_group(int pid, const char *controller, const char *file_1,
                 const char *file_2, char *to, size_t size);
/* Runs a program with these arguments, at most `seconds` long; its output goes
 * to `path`, or at most `size` bytes of it to `to`. Its status; -1: it did not
 * end, or not well. */
int watch_run(const char *program, const char *const *arguments,
              const char *path, char *to, size_t size, unsigned seconds);
extern const char *watch_command; /* this one, unless another program sets it */
/* Starts a program, which SIGALRM ends after some seconds, 0: no limit. Its stdin
 * is `in`, -1: empty. Its output is in *from or a file; stderr is in *from if it
 * `says`, and lost otherwise. */
pid_t watch_spawn(const char *program, const char *const *arguments, int in,
                  const char *path, bool says, unsigned seconds, int *from);
/* One line to stdout: the time, the process, and this. */
void watch_say(const struct watched *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* targets.c: adds processes that are new. */
void targets_scan(struct watcher *);
/* Null: it has ended. */
struct watched *watched_new(int pid);
/* True if it is time to look for recorders: at first, after exec(), and each time
 * that the watch of the program has doubled, which may be starting, or open a
 * library later. Reads its name, command and folder again, and looks for its file
 * of rings, too. */
bool watched_due(struct watched *);
void watched_free(struct watched *);
/* Reads the targets of the watcher's call: its arguments, and --unit. */
void targets_read(struct watcher *, int unit_option);

/* look.c: looks at all threads. False: the process has ended. */
bool look_take(struct watcher *, struct watched *, int64_t now);
/* How often a thread waited; 0: unknown. Constant while the thread hangs. */
uint64_t look_waits(int pid, int thread);
/* queues.c: looks at all queues. Returns the one whose bytes wait, or null. */
const struct queue *queues_look(struct watched *, int64_t now);
/* The words for it. */
void queue_words(const struct queue *, char to[256]);

/* hang.c: makes a verdict; `to` gets it in words. OVER: the last one's hang. */
enum verdict hang_judge(struct watcher *, struct watched *, int64_t now,
                        char to[1024]);
/* After the first look: the hang of an earlier watch lasts, if the mark is still
 * the same. */
void hang_again(struct watched *, int hung, uint64_t mark, enum verdict);
/* spin.c: looks three times at a thread that runs: SURE, if its innermost
 * function is the same each time; NONE: it waits, or calls the kernel. */
enum verdict spin_find(struct watched *, struct task *, char to[512]);

/* death.c */
void death_open(struct watcher *);
void death_close(struct watcher *);
void death_lines(struct watcher *); /* reads the kernel's new lines */
/* Finds the sender of a signal to a process; false: not known. */
bool death_sender(struct watcher *, int pid, int number, char to[128]);
/* The kernel log's words for an OOM kill of a process that had this name; false:
 * there are none. */
bool death_oom(const char *name, int pid, char to[512]);
/* The number of OOM kills in a process's control group; 0: not known. */
uint64_t death_ooms(int pid);
/* How a process ended. */
enum verdict death_judge(struct watcher *, struct watched *, char to[1024]);

/* incident.c: keeps an incident, in a child, which reports a failure. */
void incident_keep(struct watcher *, struct watched *, const char *verdict,
                   bool died);
/* Finds an incident of an earlier watch whose hang lasts. */
void incident_again(const struct watcher *, struct watched *);
/* The name of a new folder: "20261124-140305-NAME-PID". */
void incident_name(char to[64], const char *name, int pid);
/* The bytes of a folder's files; `deletes`: removes them and it, or a file. */
uint64_t folder_bytes(const char *path, bool deletes);
/* Deletes the oldest folders so named here, beyond a number and a size. */
void incidents_forget(unsigned long keep, uint64_t size);
/* Prints the README and the stacks of an incident; false: it is none. */
bool incident_show(const char *folder);

/* logs.c: calls one() in a child for each process of the targets, with its id
 * as the argument and a folder in the call's as the output. */
int logs_follow(struct call *, int unit_option, int (*one)(struct call *));
/* service.c: sends "READY=1" or "WATCHDOG=1" to systemd, if it started this process.
 * sd_notify(3) defines the protocol: one datagram. */
void service_notify(const char *state);
/* watcher.c: the loop; the exit status. */
int watcher_run(struct watcher *);
/* True if a target is a name or a unit: it may have processes still. */
bool watch_names(const struct watcher *);
void children_reap(struct watcher *);
/* Frees all, and waits for the children. */
void watcher_end(struct watcher *);
/* Looks at a call's process for some seconds. Returns the thread of a verdict,
 * or 0; `to`: the verdict's first line, or why there is none. */
int watch_once(struct call *, char to[1024]);
