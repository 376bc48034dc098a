/* fleet.h - recorder-fleet: freezes, snapshots and fetches of many hosts. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <nats/nats.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "array.h"

struct options {
    const char *server, *ca, *cert, *key, *creds, *nkey, *service, *host,
        *spool, *match, *trigger, *recorder, *why, *output, *hosts, *max, *age,
        *replicas, *metrics, *otlp, *label, *labels;
    bool insecure, no_deaths, verbose, log_json;
    uint64_t keep, largest, automatic, automatic_ns, join, save_ns, hang_ns,
        wait, rate;
};
extern struct options options;

/* Reads a number and one of the letters of `units`, whose factor is in `each`; a
 * number alone takes the last factor, unless that is 0. False: it is no number,
 * or above INT64_MAX. */
bool quantity(const char *text, const char *units, const uint64_t *each,
              uint64_t *to);
/* Writes a message on stderr, of the level "info", "warning" or "error", which
 * --log-json shows; give_up() then exits with 1. The tools' fail() is another
 * function, which cannot be linked beside a fail() of ours. */
void say_at(const char *level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define say(...) say_at("warning", __VA_ARGS__)
_Noreturn void give_up(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
void say_seldom(uint64_t *said_ns, const char *format, ...) /* once a minute */
    __attribute__((format(printf, 2, 3)));
/* Makes room in a list of all, count and max; its value is the new element. */
#define ADD(list) array_add((list)->all, (list)->count, (list)->max)
FILE *text_begin(char **text, size_t *size); /* a text that grows */
void text_end(FILE *);
/* Returns why write() wrote fewer bytes than `size`; null: it wrote all. */
const char *write_wrong(ssize_t done, size_t size);
const char *bytes_text(uint64_t bytes); /* "29.1 MB" */
const char *
shown(const char *text);            /* for a terminal; valid for 3 more calls */
#define SECOND UINT64_C(1000000000) /* in ns, as all times are */
#define MINUTE (60 * SECOND)
uint64_t clock_ns(clockid_t);
uint64_t real_ns(void); /* since 1970 */
uint64_t now_ns(void);  /* CLOCK_MONOTONIC */
/* True for [A-Za-z0-9._-]{1,64} that begins with no dot: a file name.
 * name_of() makes one, with _ for each other character. */
bool is_name(const char *);
void name_of(char to[65], const char *text);

/* ------------------------------------------------------------------- hub -- */

struct hub {
    natsConnection *connection;
    jsCtx *stream;
    _Atomic bool connects; /* it connected since its agent looked */
};
/* Connects; an `agent` tries for ever, in the background. */
void hub_connect(struct hub *, bool agent);
/* Ends the agent: libnats gives up a connection that a server refused twice.
 * systemd starts the next agent, which sends the spool. */
_Noreturn void hub_given_up(natsConnection *);
void hub_close(struct hub *);
/* Returns the prefix of all inboxes of this user. */
const char *hub_inbox(bool agent);
/* A token has = for each dot of a name. docs/fleet-hub.md lists subjects. */
void hub_token(char to[65], const char *name);
void hub_name(char name[65], const char *token);
enum { SUBJECT_MAX = 320 };
/* "recorder.KIND.SERVICE.REST", "recorder.PLACE.SERVICE.HOST.KIND.LAST" and
 * "recorder-KIND-SERVICE"; rest and last may be null. The place is "store" or
 * "pin", last is a name or *. They return `to`. */
const char *hub_subject(char to[SUBJECT_MAX], const char *kind,
                        const char *rest);
const char *hub_host_subject(char to[SUBJECT_MAX], const char *place,
                             const char *host, const char *kind,
                             const char *last);
const char *hub_stream(char to[96], const char *kind);
void nuid_new(char to[64]);
uint64_t header_number(natsMsg *, const char *name);

/* Returns the value at a path of JSON, to be freed; null: there is none. */
char *json_get(const char *json, size_t size, const char *path);
uint64_t json_number(const char *json, size_t size, const char *path);
void json_copy(char *to, size_t max, const char *json, size_t size,
               const char *path);
/* Calls `each` with the rows of a query, always the same, whose ? is the text.
 * `each` may use no JSON. */
void json_rows(const char *json, size_t size, const char *sql,
               void (*each)(void *, sqlite3_stmt *row), void *context);

/* ------------------------------------------------------------------ note -- */

/* False: the file lacks our note, or the label. */
bool note_clock(int fd, int64_t offset_ns, int64_t error_ns);
bool note_label(int fd, const char *label, char *to, size_t max);
uint64_t note_number(int fd, const char *label);
/* True if the file has the note of its requests; note_may_have(): if the request
 * may be in it, or if that note is missing. */
bool note_has_requests(int fd);
bool note_may_have(int fd, const char *id);

/* ----------------------------------------------------------------- store -- */

struct recording {
    char process[65], nuid[64], digest[64];
    char error[256];      /* the process could not be saved; or "" */
    uint64_t size, bytes; /* packed, unpacked */
    uint64_t chunks, at;  /* at: the first chunk's sequence number */
    uint64_t acked_ns;    /* the last chunk's */
};
/* The hub's time is CLOCK_BOOTTIME + offset_ns, give or take error_ns, at the
 * time at_ns of CLOCK_BOOTTIME. error_ns 0: not measured. */
struct measured {
    int64_t offset_ns, error_ns;
    uint64_t at_ns;
};
struct entry;
/* All return null, or what is wrong. store_put() sets all but the process. */
const char *store_put(struct hub *, struct recording *, int fd);
const char *store_get(struct hub *, const struct entry *,
                      const struct recording *, int fd, struct measured *);
/* Gets the first bytes, until enough(fd) is true; they are not checked. */
const char *store_head(struct hub *, const struct entry *,
                       const struct recording *, int fd,
                       bool (*enough)(int fd));
/* Copies the chunks to where nothing expires, and sets r->at. Gives up if the hub
 * does not take them. */
const char *store_pin(struct hub *, const struct entry *, struct recording *);
const char *store_publish(struct hub *, natsMsg *, uint64_t *sequence);
/* Gets the next message of a subject from *sequence on, and sets *sequence to
 * the one after. False: there is none. */
bool store_next(struct hub *, const char *stream, const char *subject,
                uint64_t *sequence, natsMsg **);
/* True if a message of store_next() has headers that only the hub may write: its
 * publisher wrote them, or had the hub copy a message to where the publisher has
 * no right to write. */
bool store_is_forged(natsMsg *);
const char *header_last(natsMsg *, const char *name, int *count);

/* ----------------------------------------------------------------- index -- */

enum { WHY_MAX = 255 };
/* The recordings of a snapshot that a host stored. A later entry of the same
 * subject adds to the first. */
struct entry {
    char snapshot[65], host[65], why[WHY_MAX + 1], by[65], boot[40];
    uint64_t when_ns, processes; /* processes: as many as the host had */
    uint64_t late_s;             /* since the request, which the host missed */
    bool pinned;                 /* it and its chunks do not expire */
    struct recording *all;
    size_t count, max;
};
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
const char *index_put(struct hub *, const struct entry *);
/* Adds the entries of a snapshot, of all if null. False: some are missing; the
 * reason was logged. */
bool index_read(struct hub *, const char *snapshot, struct index *);
/* The same with the pinned entries, which index_unique() prefers. */
bool index_read_all(struct hub *, const char *snapshot, struct index *);
/* Connects for a snapshot, and gives up if the text is no name of one. */
void snapshot_connect(struct hub *, const char *snapshot);
/* Gives up: the service has no snapshot of that name. */
void snapshot_missing(void);
/* Sorts by snapshot, host, process, and keeps the last of each: an agent that
 * was killed sends some again. */
void index_unique(struct index *);
/* Returns the sequence number of the next entry; 0: unknown. */
uint64_t index_end(struct hub *);
/* Notes that an agent is on this host; lists the hosts of all these notes. */
void index_host_put(struct hub *);
bool index_hosts(struct hub *, void (*each)(void *, const char *host),
                 void *context);
/* Returns a stream's state, of subjects that match if not null, to be destroyed.
 * Null: it cannot; the reason was logged. */
jsStreamInfo *stream_info(struct hub *, const char *stream,
                          const char *subject);

/* ------------------------------------------------------------- processes -- */

struct process {
    struct watched *watched; /* it has recorders: `recorder watch` judges it */
    int pid, fd;             /* fd: it is readable when the process ended */
    uint64_t start;          /* in ticks since boot: with pid, which it is */
    bool recorders, alive;   /* it has some; it was there at the last look */
    bool by_file;            /* only its recording may be read */
    char *executable, program[33];
    int file;          /* its recording, which outlives it; or -1 */
    uint64_t retry_ns; /* of one without: when to look again, */
    unsigned retries;  /* and how often that was done */
    struct writes {
        struct process_write {
            uint64_t address, seen; /* seen: its value; UINT64_MAX: not yet */
        } * all;
        size_t count, max;
    } writes; /* write words of triggering rings */
};
struct processes {
    struct process *all;
    size_t count, max;
};
/* Adds new processes, and drops processes whose end was handled. */
void processes_scan(struct processes *);
bool process_triggered(
    struct process *); /* a trigger's ring has a new record */

/* ----------------------------------------------------------------- spool -- */

/* A snapshot is a folder SPOOL/SNAPSHOT of files PROGRAM.PID.begun, then .rec,
 * then .rec.zst when it is packed, or .error, and `about`. */
void spool_open(void);
/* These two return null, or what is wrong. */
const char *spool_begin(const char *snapshot, const char *why, const char *by,
                        bool automatic, uint64_t late_s, size_t processes);
const char *spool_take(const char *path, const char *snapshot,
                       const char *process);
/* Notes that a process will be saved. spool_take() or spool_error() must follow,
 * else the next agent writes an error. */
void spool_expect(const char *snapshot, const char *process);
void spool_error(const char *snapshot, const char *process, const char *why);
uint64_t spool_bytes(void);
/* Keeps the last `max` of `count` ids of snapshots that were taken, in a ring;
 * reads them, and returns their number. */
void spool_known_write(char (*ids)[65], size_t count, size_t max);
size_t spool_known_read(char (*ids)[65], size_t max);
/* Makes a folder for one save, and the path of a file in it; removes it. */
void spool_work(char to[4096]);
void spool_work_end(const char *path);
void *spool_ship(void *hub); /* a thread that sends the spool, for ever */
void spool_wake(void);
const char *boot_id(void); /* CLOCK_BOOTTIME begins with it */

/* ---------------------------------------------------------------- budget -- */

/* Asks the hub for an automatic snapshot. CLAIM_LOST: another agent's began a
 * moment ago. CLAIM_ALONE: the hub does not answer. */
enum claim { CLAIM_WON, CLAIM_LOST, CLAIM_REFUSED, CLAIM_ALONE };
enum claim budget_claim(struct hub *, const char *request);
/* True if this agent may take one more snapshot: for a person, or for a trigger
 * while the hub is silent. */
bool budget_alone(bool automatic);
void budget_make(struct hub *);
void budget_print(struct hub *);
/* Makes the stream of a kind for one or two subjects, or changes it. It refuses
 * delete and rollup. */
void stream_make(struct hub *, const char *kind, const char *subjects[2],
                 jsStreamConfig *);

/* -------------------------------------------------------------- requests -- */

enum { REQUEST_MAX = 4096 };
void requests_make(struct hub *);
void requests_keep(struct hub *, const char *request); /* of a person */
/* Calls `each` with the answers to requests_ask(), in a thread of libnats. */
bool requests_hear(struct hub *, natsMsgHandler each);
/* Asks for the first request from a sequence number on. */
void requests_ask(natsConnection *, uint64_t sequence);
/* Returns the sequence number after the request of an answer; 0: there are no more
 * requests. The request's subject is valid as long as the message. */
uint64_t requests_next(natsMsg *, const char **subject);

/* --------------------------------------------------------------- metrics -- */

enum metric {
    METRIC_CONNECTED,
    METRIC_PROCESSES,
    METRIC_SNAPSHOTS,
    METRIC_REFUSED,
    METRIC_SAVE_ERRORS,
    METRIC_STORED,
    METRIC_STORED_BYTES,
    METRIC_SHIPPED_NS,
    METRIC_SPOOL_BYTES,
    METRIC_SPOOL_LIMIT,
    METRIC_ANSWER_NS,
    METRICS
};
/* Any thread may call these two. */
void metric_add(enum metric, uint64_t count);
void metric_set(enum metric, uint64_t value);
void metrics_write(void); /* the file of --metrics, if any */

/* ----------------------------------------------------------------- verbs -- */

int fleet_agent(void);
int fleet_freeze(void);
int fleet_list(void);
int fleet_fetch(const char *snapshot, const char *request); /* or null: all */
int fleet_who(void);
int fleet_bucket(void);
int fleet_pin(const char *snapshot);
int fleet_unpin(const char *snapshot);
void snapshot_new(char to[65]); /* "20261122-003617-k3x9" */
/* Makes a request for a snapshot, in JSON, to be freed. */
char *snapshot_request(const char *snapshot, const char *by, const char *why);
