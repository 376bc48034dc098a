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

/* Says `recorder-fleet: what` on stderr; fail() exits with 1. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
void *need(void *);
/* Null, or why a write() of so many bytes did less. */
const char *write_wrong(ssize_t done, size_t size);
/* Escaped texts are made in one place, by one thread at a time. */
void texts_lock(void);
void texts_unlock(void);
/* Since 1970; monotonic. */
uint64_t real_ns(void);
uint64_t now_ns(void);
/* True for [A-Za-z0-9._-]{1,64} without a dot in front: it may be a file. */
bool is_name(const char *);
/* Copies a text with _ for all that is_name() refuses. */
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

/* Returns what stands at a path, as text to be freed, or null: there is no such
 * thing, or it is no JSON. */
char *json_get(const char *json, size_t size, const char *path);
/* Writes a text as a JSON string. */
void json_write(FILE *, const char *text);
uint64_t json_number(const char *json, size_t size, const char *path);

/* ------------------------------------------------------------------ note -- */

/* True if a file is a recording: a core file with a note of ours. */
bool note_is_recording(int fd);
/* Sets the clock of a recording's note. False: it has no such note. */
bool note_clock(int fd, int64_t offset_ns, int64_t error_ns);
/* Sets the snapshot of its text to another of the same length. */
bool note_snapshot(int fd, const char *snapshot);
/* True if it says that it is of another snapshot. */
bool note_is_other(int fd, const char *snapshot);

/* ----------------------------------------------------------------- store -- */

enum { WHY_MAX = 255 };
struct object {
    char name[256]; /* HOST/PROGRAM.PID/SNAPSHOT.rec.zst */
    char host[65], process[65], snapshot[65];
    char nuid[64], digest[64], why[WHY_MAX + 1], by[65], error[256];
    uint64_t size, chunks, when_ns, acked_ns;
};
/* Stores a file, or what went wrong with it if there is none. Null, or why it
 * could not: worth another try if `again`. */
const char *store_put(struct hub *, struct object *, int fd, bool *again);
/* Calls `each` with the newest of every name that was stored at `from` or behind
 * it, 0 for all, and sets that to where the next stands. False: it is said that
 * some are missing. */
bool store_list(struct hub *hub, uint64_t *from,
                void (*each)(void *, const struct object *), void *context);
/* Reads an object of a message; false: it is none of ours. */
bool store_object(natsMsg *, struct object *);
/* Writes an object's bytes, unpacked, to fd. Null, or what is wrong. */
const char *store_get(struct hub *, const struct object *, int fd,
                      int64_t *offset_ns, int64_t *error_ns);

/* ------------------------------------------------------------- processes -- */

struct process {
    int pid, fd;             /* fd: it is readable when the process ended */
    uint64_t start;          /* in ticks since boot: with pid, which it is */
    bool recorders, alive;   /* it has some; it was there at the last look */
    bool by_file;            /* it may not be read, but its recording may */
    char *executable;        /* its path */
    char program[33];        /* with id and kind, a short name */
    char *file;              /* its recording, which outlives it; or null */
    uint64_t retry_ns;       /* of one without: when to look again, */
    unsigned retries;        /* and how often that was done */
    uint64_t *writes, *seen; /* write words of triggering rings; their values */
    size_t writes_count;
};
struct processes {
    struct process *all;
    size_t count, max;
};
/* Looks for new ones, and drops those that are gone and were told of. */
void processes_scan(struct processes *);
size_t processes_recording(const struct processes *);
/* True if a triggering ring of it has a new record. */
bool process_triggered(struct process *);

/* ----------------------------------------------------------------- spool -- */

/* SPOOL/SNAPSHOT/PROGRAM.PID.begun, then .rec, .rec.zst when it is packed, or
 * .error; and about, which says why, by whom, and since when it may be sent. */
void spool_open(void);
enum { SHIP_LATER_NS = 2000000000 }; /* until an automatic one has its id */
/* Null, or why a snapshot cannot begin. */
const char *spool_begin(const char *snapshot, const char *why, const char *by,
                        bool automatic);
/* Notes that a process is to be saved, until it is, or why not is there: else
 * the next agent says it. */
void spool_expect(const char *snapshot, const char *process);
void spool_expected(const char *snapshot, const char *process);
/* Takes the id of another snapshot of the same moment. */
void spool_rename(const char *snapshot, const char *to);
/* Makes the path of a process's file; `kind`: ".rec", ".rec.zst", ".error". */
void spool_path(char to[4096], const char *snapshot, const char *process,
                const char *kind);
uint64_t spool_bytes(void);
/* Makes the path of a file in a new folder for one save, and removes that with
 * all that a save that was killed left in it. */
void spool_work(char to[4096]);
void spool_work_end(const char *path);
/* Packs and sends what is there, and goes on for ever: a thread. */
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

#endif
