/* fleet.h - recorder-fleet: freezes, snapshots and fetches of many hosts. */
/* SPDX-License-Identifier: MIT */
/*
    hub         a connection to a NATS server, by its rights
    nkey        the public key of a seed, as NATS writes both
    json        what JSON says, by SQLite
    note        a recording's notes, and the one that says where it is from
    store       whole recordings, in the layout of NATS' object store
    processes   which processes of this host have recorders
    spool       recordings that wait to be stored, in a folder
    agent       finds, freezes, saves, ships
    verbs       freeze, list, fetch, who, bucket
*/
#ifndef FLEET_H
#define FLEET_H

#include <nats/nats.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --------------------------------------------------------------- options -- */

struct options {
    const char *server, *ca, *cert, *key, *creds, *nkey;
    bool insecure;
    const char *service, *host, *spool, *match, *trigger, *command;
    uint64_t keep_bytes;
    bool no_deaths;
    /* Of triggers and deaths: so many snapshots in that time; of those within
     * join_ns one. How long a save may take. */
    uint64_t automatic, automatic_ns, join_ns, save_ns;
    const char *why, *output, *hosts, *max, *age, *replicas;
    uint64_t wait_ns, largest_bytes;
    bool verbose;
};
extern struct options options;

/* Reads a number with one of the letters of `units` behind it, times what that
 * stands for in `each`; without one, times the last of `each`, unless that is 0.
 * False: something else stands there, or it is above INT64_MAX. */
bool quantity(const char *text, const char *units, const uint64_t *each,
              uint64_t *to);

/* Says `recorder-fleet: what` on stderr; fail() exits with 1. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
void *need(void *);
/* Returns why write() wrote fewer bytes than `size`; null: it wrote all. */
const char *write_wrong(ssize_t done, size_t size);
/* Escaped texts are made in one place, by one thread at a time. */
void texts_lock(void);
void texts_unlock(void);
#define SECOND UINT64_C(1000000000) /* in ns, as all times are */
#define MINUTE (60 * SECOND)
/* Since 1970; monotonic. */
uint64_t real_ns(void);
uint64_t now_ns(void);
/* True for [A-Za-z0-9._-]{1,64} without a dot in front: a name that a file may
 * have. */
bool is_name(const char *);
/* Copies a text, with _ for each character that is_name() refuses. */
void name_of(char to[65], const char *text);

/* ------------------------------------------------------------------- hub -- */

struct hub {
    natsConnection *connection;
    jsCtx *stream;
};
/* Connects. `patient`: it goes on trying, for ever, and returns at once; else
 * it ends the command if there is no server. */
void hub_connect(struct hub *, bool patient);
void hub_close(struct hub *);
/* "recorder.freeze.SERVICE", "recordings-SERVICE" */
const char *hub_subject(void);
const char *hub_bucket(void);

/* ------------------------------------------------------------------ nkey -- */

/* Makes the public key of the seed in a file. Null, or what is wrong. */
enum { NKEY_SIZE = 64 };
const char *nkey_public(char to[NKEY_SIZE], const char *path);

/* ------------------------------------------------------------------ json -- */

/* Returns the value at a path, as text to be freed. Null: there is none, or the
 * text is no JSON. */
char *json_get(const char *json, size_t size, const char *path);
/* Writes a text as a JSON string. */
void json_write(FILE *, const char *text);
uint64_t json_number(const char *json, size_t size, const char *path);

/* ------------------------------------------------------------------ note -- */

/* True if a file is a recording: a core file with a note of ours. */
bool note_is_recording(int fd);
/* Sets the clock of a recording's note. False: it has no such note. */
bool note_clock(int fd, int64_t offset_ns, int64_t error_ns);
/* Sets the snapshot that the note names to another of the same length. */
bool note_snapshot(int fd, const char *snapshot);
/* True if a recording's note names another snapshot. */
bool note_is_other(int fd, const char *snapshot);

/* ----------------------------------------------------------------- store -- */

enum { WHY_MAX = 255 };
struct object {
    char name[256]; /* HOST/PROGRAM.PID/SNAPSHOT.rec.zst */
    char host[65], process[65], snapshot[65];
    char nuid[64], digest[64], why[WHY_MAX + 1], by[65], error[256];
    uint64_t size, chunks, when_ns, acked_ns;
};
/* Stores a file, or o->error where fd is -1. Returns null, or why it failed;
 * `again`: another try may succeed. */
const char *store_put(struct hub *, struct object *, int fd, bool *again);
/* Calls `each` with the newest object of every name whose sequence number is
 * *from or above, and sets *from to the next one. 0 lists all. False: some are
 * missing, which is said. */
bool store_list(struct hub *hub, uint64_t *from,
                void (*each)(void *, const struct object *), void *context);
/* Writes an object's bytes, unpacked, to fd. Returns null, or what is wrong. */
const char *store_get(struct hub *, const struct object *, int fd,
                      int64_t *offset_ns, int64_t *error_ns);

/* ------------------------------------------------------------- processes -- */

struct process {
    int pid, fd;           /* fd: it is readable when the process ended */
    uint64_t start;        /* in ticks since boot: with pid, which it is */
    bool recorders, alive; /* it has some; it was there at the last look */
    bool by_file;          /* it may not be read, but its recording may */
    char *executable;      /* its path */
    char program[33];      /* with id and kind, a short name */
    char *file;            /* its recording, which outlives it; or null */
    uint64_t retry_ns;     /* of one without: when to look again, */
    unsigned retries;      /* and how often that was done */
    struct process_write {
        uint64_t address, seen; /* seen: its value, or UINT64_MAX: not yet */
    } * writes;                 /* write words of triggering rings */
    size_t writes_count, writes_max;
};
struct processes {
    struct process *all;
    size_t count, max;
};
/* Adds new processes, and drops those that are gone and were told of. */
void processes_scan(struct processes *);
size_t processes_recording(const struct processes *);
/* True if a triggering ring of it has a new record. */
bool process_triggered(struct process *);

/* ----------------------------------------------------------------- spool -- */

/* A snapshot is a folder SPOOL/SNAPSHOT of files PROGRAM.PID.begun, then .rec,
 * then .rec.zst when it is packed, or .error; its file `about` says why the
 * snapshot was taken, by whom, and from when on it may be sent. */
void spool_open(void);
#define SHIP_LATER_NS (2 * SECOND) /* until an automatic one has its id */
/* Makes a snapshot's folder and its `about`. Returns null, or why it cannot. */
const char *spool_begin(const char *snapshot, const char *why, const char *by,
                        bool automatic);
/* spool_expect() notes that a process is to be saved; spool_expected() takes
 * the note away, when its recording or an error is there. For a note that is
 * left, the next agent writes an error. */
void spool_expect(const char *snapshot, const char *process);
void spool_expected(const char *snapshot, const char *process);
/* Gives a snapshot another id: that of another agent's, of the same moment. */
void spool_rename(const char *snapshot, const char *to);
/* Makes the path of a process's file; `kind`: ".rec", ".rec.zst", ".error". */
void spool_path(char to[4096], const char *snapshot, const char *process,
                const char *kind);
uint64_t spool_bytes(void);
/* spool_work() makes a new folder for one save, and the path of a file in
 * it; spool_work_end() removes the folder with all that a killed save left
 * in it. */
void spool_work(char to[4096]);
void spool_work_end(const char *path);
/* A thread that packs and sends what the spool has, for ever. */
void *spool_ship(void *hub);
void spool_wake(void);

/* ----------------------------------------------------------------- verbs -- */

int fleet_agent(void);
int fleet_freeze(void);
int fleet_list(void);
int fleet_fetch(const char *snapshot);
int fleet_who(void);
int fleet_bucket(void);
/* Makes "20261122-003617-k3x9". */
void snapshot_new(char to[65]);
/* Makes a request for such a snapshot, in JSON, to be freed. */
char *snapshot_request(const char *snapshot, const char *by, const char *why,
                       bool automatic);

#endif
