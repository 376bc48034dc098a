/* fleet.h - recorder-fleet: freezes, snapshots and fetches of many hosts. */
/* SPDX-License-Identifier: MIT */
/*
    hub         a connection to a NATS server; names of subjects and streams
    json        values in JSON, read by SQLite
    note        the notes of a recording: host, snapshot, clock
    store       the bytes of recordings, on the hub
    index       one entry for each snapshot and host, on the hub
    processes   finds the processes of this host that have recorders
    spool       a folder of recordings that wait for the hub
    budget      how many snapshots may be taken
    agent       finds, freezes, saves, ships
    verbs       freeze, list, who, bucket
    fetch       recordings from the hub into files
*/
#ifndef FLEET_H
#define FLEET_H

#include <nats/nats.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* --------------------------------------------------------------- options -- */

struct options {
    const char *server, *ca, *cert, *key, *creds, *nkey;
    bool insecure;
    const char *service, *host, *spool, *match, *trigger, *command;
    uint64_t keep_bytes;
    bool no_deaths;
    /* Triggers and deaths make at most `automatic` snapshots in automatic_ns,
     * and one in join_ns. A save takes at most save_ns. */
    uint64_t automatic, automatic_ns, join_ns, save_ns;
    const char *why, *output, *hosts, *max, *age, *replicas;
    uint64_t wait_ns, largest_bytes;
    bool verbose;
};
extern struct options options;

/* Reads a number and one of the letters of `units`, whose factor in `each` the
 * number is multiplied by; a number without a letter takes the last factor,
 * unless that is 0. False: the text is something else, or above INT64_MAX. */
bool quantity(const char *text, const char *units, const uint64_t *each,
              uint64_t *to);

/* Writes `recorder-fleet: message` on stderr; give_up() then exits with 1. The
 * tools' fail() and need() are other functions: see tools/command.h. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void give_up(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
void *need(void *);
/* Opens a text that grows; text_end() closes the stream of *text. */
FILE *text_begin(char **text, size_t *size);
void text_end(FILE *);
/* Returns why write() wrote fewer bytes than `size`; null: it wrote all. */
const char *write_wrong(ssize_t done, size_t size);
/* One thread at a time may use text_shown(): its result is one buffer. */
void texts_lock(void);
void texts_unlock(void);
#define SECOND UINT64_C(1000000000) /* in ns, as all times are */
#define MINUTE (60 * SECOND)
uint64_t clock_ns(clockid_t);
uint64_t real_ns(void); /* since 1970 */
uint64_t now_ns(void);  /* CLOCK_MONOTONIC */
/* True for [A-Za-z0-9._-]{1,64} that begins with no dot: a file may have that
 * name. */
bool is_name(const char *);
/* Copies a text, with _ for each character that is_name() refuses. */
void name_of(char to[65], const char *text);

/* ------------------------------------------------------------------- hub -- */

struct hub {
    natsConnection *connection;
    jsCtx *stream;
};
/* Connects. An `agent` tries for ever, in the background; another command ends
 * if there is no server. Each user has an inbox prefix that other users have
 * no right to read: _INBOX.SERVICE.agent.HOST, or _INBOX.SERVICE.reader. */
void hub_connect(struct hub *, bool agent);
void hub_close(struct hub *);
/* A name as one token of a subject, or in a stream's name: = for each dot. */
void hub_token(char to[65], const char *name);
void hub_name(char name[65], const char *token);
/* The subjects of a service, and the streams that keep them. A hub gives an
 * agent the right to publish below its own HOST, and nowhere else.
 *   recorder.freeze.SERVICE           requests of people
 *   recorder.claim.SERVICE.HOST       requests of agents. The budget stream
 *   recorder.auto.SERVICE.HOST        republishes here those that it accepts
 *   recorder.store.SERVICE.HOST.data.NUID       chunks of a recording
 *   recorder.store.SERVICE.HOST.index.SNAPSHOT  entries of the index
 *   recorder.store.SERVICE.HOST.host            an agent began here */
enum { SUBJECT_MAX = 320 };
void hub_subject(char to[SUBJECT_MAX], const char *kind, const char *rest);
/* A subject of a host: hub_host_subject(to, "web1", "data", nuid). */
void hub_host_subject(char to[SUBJECT_MAX], const char *host, const char *kind,
                      const char *last);
/* "recorder-data-SERVICE"; kind: data, index, budget. */
const char *hub_stream(char to[96], const char *kind);
/* Makes a unique id of 22 characters. */
void nuid_new(char to[64]);
/* Returns the value of a message's header; 0: it has none. */
uint64_t header_number(natsMsg *, const char *name);

/* ------------------------------------------------------------------ json -- */

/* Returns the value at a path, as text to be freed. Null: there is none, or the
 * text is no JSON. */
char *json_get(const char *json, size_t size, const char *path);
/* Writes a text as a JSON string. */
void json_write(FILE *, const char *text);
uint64_t json_number(const char *json, size_t size, const char *path);
/* Copies the text at a path; "": there is none. */
void json_copy(char *to, size_t max, const char *json, size_t size,
               const char *path);
/* Calls `each` with the rows of a query, always the same, whose ? is the text.
 * `each` may use no JSON. */
void json_rows(const char *json, size_t size, const char *sql,
               void (*each)(void *, sqlite3_stmt *row), void *context);

/* ------------------------------------------------------------------ note -- */

/* True if a file is a recording: a core file with a note of ours. */
bool note_is_recording(int fd);
/* Sets the clock of a recording's note. False: it has no note of ours. */
bool note_clock(int fd, int64_t offset_ns, int64_t error_ns);
/* Copies the value of a label in the note. False: the label is missing. */
bool note_label(int fd, const char *label, char *to, size_t max);
uint64_t note_number(int fd, const char *label);

/* ----------------------------------------------------------------- store -- */

/* A recording of an index entry. */
struct recording {
    char process[65], nuid[64], digest[64];
    char error[256];      /* the process could not be saved; or "" */
    uint64_t size, bytes; /* packed, unpacked */
    uint64_t chunks, at;  /* at: the first chunk's sequence number */
    uint64_t acked_ns;    /* the last chunk's */
};
/* Chunks tell when the hub acknowledged the one before. The hub's time is
 * CLOCK_BOOTTIME + offset_ns, give or take error_ns, at the time at_ns of
 * CLOCK_BOOTTIME. error_ns 0: not measured. */
struct measured {
    int64_t offset_ns, error_ns;
    uint64_t at_ns;
};
/* Stores the bytes of a packed recording, and fills in the rest of *r. Returns
 * null, or why it failed; then another try may succeed. */
const char *store_put(struct hub *, struct recording *, int fd);
/* Writes a recording's bytes, unpacked, to fd. Returns null, or what is
 * wrong. */
const char *store_get(struct hub *, const char *host, const struct recording *,
                      int fd, struct measured *);
/* Publishes until the hub acknowledges. Returns null, or why it failed. */
const char *store_publish(struct hub *, natsMsg *, uint64_t *sequence);
/* Gets the next message of a subject whose sequence number is *sequence or
 * above, and sets *sequence to the next one. False: there is none. */
bool store_next(struct hub *, const char *stream, const char *subject,
                uint64_t *sequence, natsMsg **);
/* True if a message of store_next() has headers that only the hub may write: its
 * publisher wrote them, or had the hub copy a message to where the publisher has
 * no right to write. */
bool store_is_forged(natsMsg *);
/* Returns the last value of a header; null: there is none. */
const char *header_last(natsMsg *, const char *name, int *count);

/* ----------------------------------------------------------------- index -- */

enum { WHY_MAX = 255 };
/* The recordings of a snapshot that a host stored. A host that stores some later publishes
 * another entry of the same subject, which adds to the first. */
struct entry {
    char snapshot[65], host[65], why[WHY_MAX + 1], by[65], boot[40];
    uint64_t when_ns, processes; /* processes: as many as the host had */
    struct recording *all;
    size_t count, max;
};
const char *index_put(struct hub *, const struct entry *);
/* Returns the next recording of an entry, empty. */
struct recording *entry_add(struct entry *);
/* A part of the index: entries, and their recordings. */
struct object {
    const struct entry *entry;
    const struct recording *recording;
    size_t number; /* as it was read */
};
struct index {
    struct object *all;
    size_t count, max;
    uint64_t next; /* the sequence number to read from; 0: all, exactly */
};
/* Adds the entries of a snapshot, of all if null. False: some are missing; the
 * reason was logged. */
bool index_read(struct hub *, const char *snapshot, struct index *);
/* Sorts by snapshot, host, process, and keeps the last of each: an agent that
 * was killed sends some again. */
void index_unique(struct index *);
/* Returns the sequence number of the next entry. 0: unknown; the
 * reason was logged. */
uint64_t index_end(struct hub *);
/* Notes that an agent is on this host; lists the hosts of all these notes. */
void index_host_put(struct hub *);
bool index_hosts(struct hub *, void (*each)(void *, const char *host),
                 void *context);
/* Asks for a stream's state, of subjects that match if not null; to be
 * destroyed. Null: it cannot; the reason was logged. */
jsStreamInfo *stream_info(struct hub *, const char *stream,
                          const char *subject);

/* ------------------------------------------------------------- processes -- */

struct process {
    int pid, fd;           /* fd: it is readable when the process ended */
    uint64_t start;        /* in ticks since boot: with pid, which it is */
    bool recorders, alive; /* it has some; it was there at the last look */
    bool by_file;          /* it may not be read, but its recording may */
    char *executable;      /* its path */
    char program[33];      /* with id and kind, a short name */
    int file;              /* its recording, which outlives it; or -1 */
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
/* Adds new processes, and drops processes whose end was handled. */
void processes_scan(struct processes *);
size_t processes_recording(const struct processes *);
/* True if a triggering ring of it has a new record. */
bool process_triggered(struct process *);
/* True if an ended process ended as programs are meant to: by exit(0), SIGTERM,
 * SIGINT or SIGHUP. False, too, if the kernel does not tell. */
bool process_ended_well(const struct process *);

/* ----------------------------------------------------------------- spool -- */

/* A snapshot is a folder SPOOL/SNAPSHOT of files PROGRAM.PID.begun, then .rec,
 * then .rec.zst when it is packed, or .error; its file `about` tells why the
 * snapshot was taken, by whom, and how many processes there were. */
void spool_open(void);
/* Makes a snapshot's folder and its `about`. Returns null, or why it cannot. */
const char *spool_begin(const char *snapshot, const char *why, const char *by,
                        bool automatic, size_t processes);
/* spool_expect() notes that a process will be saved; spool_expected() removes
 * the note, when there is a recording or an error. For each note that is left,
 * the next agent writes an error. */
void spool_expect(const char *snapshot, const char *process);
void spool_expected(const char *snapshot, const char *process);
void spool_error(const char *snapshot, const char *process, const char *why);
/* Takes a saved file into a snapshot. Returns null, or why it cannot. */
const char *spool_take(const char *path, const char *snapshot,
                       const char *process);
uint64_t spool_bytes(void);
/* spool_work() makes a new folder for one save, and the path of a file in
 * it; spool_work_end() removes the folder with all that a killed save left
 * in it. */
void spool_work(char to[4096]);
void spool_work_end(const char *path);
/* A thread that packs and sends all that is in the spool, for ever. */
void *spool_ship(void *hub);
void spool_wake(void);
/* The kernel's id of this boot: CLOCK_BOOTTIME begins with it. */
const char *boot_id(void);

/* ---------------------------------------------------------------- budget -- */

/* Asks the hub for an automatic snapshot: one budget serves all agents, and the
 * hub joins requests of one moment. CLAIM_LOST: another agent's snapshot began a
 * moment ago. CLAIM_ALONE: the hub does not answer. */
enum claim { CLAIM_WON, CLAIM_LOST, CLAIM_REFUSED, CLAIM_ALONE };
enum claim budget_claim(struct hub *, const char *request);
/* True if this agent may take one more snapshot by its own limits: of people's,
 * or of its own while the hub does not answer. */
bool budget_alone(bool automatic);
/* Makes the stream of claims, and prints its state. */
void budget_make(struct hub *, int64_t replicas);
void budget_print(struct hub *);
/* Makes a stream, or changes it. No user may delete or purge messages, or send
 * a header that does. Ends the command if that fails. */
void stream_make(struct hub *, jsStreamConfig *);

/* ----------------------------------------------------------------- verbs -- */

int fleet_agent(void);
int fleet_freeze(void);
int fleet_list(void);
int fleet_fetch(const char *snapshot);
int fleet_who(void);
int fleet_bucket(void);
/* A text for a terminal, valid for three more calls. */
const char *shown(const char *text);
/* Makes "20261122-003617-k3x9". */
void snapshot_new(char to[65]);
/* Makes a request for a snapshot, in JSON, to be freed. */
char *snapshot_request(const char *snapshot, const char *by, const char *why);

#endif
