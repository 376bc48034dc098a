/* agent.c - finds processes, freezes on request, trigger or death, and saves. */
/* SPDX-License-Identifier: MIT */
/*
    Three threads: libnats', which answers and queues; this one, which looks for
    processes and runs `recorder save`, a child with a time limit for each, so
    that a hostile or dying process cannot stop the agent; and the spool's, which
    sends. A freeze is a copy: the processes continue to record. Saving begins
    some ms after the answer: many agents on one machine would else keep each
    other from answering.
*/
#include "fleet.h"
#include "print.h"
#include "watch.h"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "recorder/regex.h"

enum {
    AT_ONCE = 2,            /* saves */
    ALONE_BYTES = 64 << 20, /* a process of more memory is saved alone */
    SCAN_MS = 5000,
    TRIGGER_MS = 250,
    KNOWN = 64,
    LATER_MS = 20, /* after an answer: a hundred others need that for theirs */
    LOST_MS = 500, /* until the snapshot that won a claim is known here */
    NICE = 10,     /* of all work */
    LABELS = 7
};
/* The agent names its host in the index at this interval. */
static const uint64_t HOST_NS = 60 * MINUTE;

/* ------------------------------------------------------------- snapshots -- */

static struct {
    pthread_mutex_t lock; /* of all of this */
    char last[65];        /* the newest snapshot, */
    bool automatic;       /* of a trigger or death, */
    uint64_t begun_ns;    /* and when it began here */
    char known[KNOWN][65];
    size_t known_count;
    struct due { /* snapshots for the agent's thread */
        char id[65], why[WHY_MAX + 1], by[65];
        bool automatic;
        uint64_t late_s; /* since its request, which was missed */
    } due[KNOWN];
    size_t due_count;
    size_t processes;
    int timer; /* ends when `due` may be taken */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct watcher watcher; /* of the agent's thread */

static bool is_known(const char *id)
{
    for (size_t i = 0; i < state.known_count && i < KNOWN; i++)
        if (strcmp(state.known[i], id) == 0)
            return true;
    return false;
}

/* Wakes the agent's thread in some ms, to take the snapshots that are due. */
static void take_in(int ms)
{
    struct itimerspec at = {.it_value = {0, ms ? ms * 1000000L : 1}};
    timerfd_settime(state.timer, 0, &at, NULL);
}

/* Begins a snapshot, unless it is known. No trigger joins one that is late;
 * late_s 0: it is not. False: there are too many. */
static bool begin(const char *id, const char *why, const char *by,
                  bool automatic, uint64_t late_s)
{
    struct due *due = &state.due[state.due_count];
    if (is_known(id))
        return true;
    if (state.due_count == KNOWN || (!automatic && !budget_alone(false)))
        return false;
    strcpy(state.known[state.known_count++ % KNOWN], id);
    metric_add(METRIC_SNAPSHOTS, 1);
    if (!late_s) {
        strcpy(state.last, id);
        state.automatic = automatic;
        state.begun_ns = now_ns();
    }
    strcpy(due->id, id);
    snprintf(due->why, sizeof due->why, "%s", why);
    snprintf(due->by, sizeof due->by, "%s", by);
    due->automatic = automatic;
    due->late_s = late_s;
    if (state.due_count++ == 0) /* else the time is set, and stays */
        take_in(LATER_MS);
    return true;
}

/* -------------------------------------------------------------- requests -- */

/* Unlike: the request's --label does not match this agent's; other: its --host
 * does not. */
enum request { REQUEST_TAKEN, REQUEST_REFUSED, REQUEST_UNLIKE, REQUEST_OTHER };

static void answer(natsConnection *connection, natsMsg *message,
                   const char *snapshot, enum request is, uint64_t begun_ns)
{
    char *json;
    size_t size;
    const char *reply = natsMsg_GetReply(message);
    FILE *to;
    /* A client chooses this subject: it must be none that a stream keeps. */
    if (!reply || strncmp(reply, "_INBOX.", 7) != 0)
        return;
    to = text_begin(&json, &size);
    json_put(to, "{'host':%s", options.host);
    fprintf(to,
            ",\"processes\":%zu,\"clock_ns\":%" PRIu64 ",\"spool\":%" PRIu64,
            state.processes, real_ns(), snapshot ? 0 : spool_bytes());
    fprintf(to, ",\"took_ns\":%" PRIu64, now_ns() - begun_ns);
    if (snapshot)
        fprintf(to, ",\"snapshot\":\"%s\",\"refused\":%d,\"unlike\":%d",
                snapshot, is == REQUEST_REFUSED, is == REQUEST_UNLIKE);
    putc('}', to);
    text_end(to);
    natsConnection_Publish(connection, reply, json, (int)size);
    free(json);
}

/* Each reason is logged once a minute: a sender of one cannot hide another. */
enum refusal { REFUSED_SIZE, REFUSED_RELAYED, REFUSED_ID, REFUSED_MANY };
static const char *const refusals[] = {
    [REFUSED_SIZE] = "that is too long",
    [REFUSED_RELAYED] = "that the hub relays",
    [REFUSED_ID] = "whose id is no name",
    [REFUSED_MANY] = "of more snapshots than an hour may have"};
static void refused(enum refusal why, const natsMsg *message)
{
    static uint64_t said_ns[sizeof refusals / sizeof *refusals];
    say_seldom(&said_ns[why],
               "a request %s is refused (%d bytes); others in the next minute "
               "are not logged",
               refusals[why], natsMsg_GetDataLength(message));
    metric_add(METRIC_REFUSED, 1);
}

/* Returns the host of an automatic request by its subject, which the hub checked
 * when the host made its claim; null: a person's request. */
static const char *requester(const char *subject, char host[65])
{
    char automatic[SUBJECT_MAX];
    size_t size;
    hub_subject(automatic, "auto", NULL);
    size = strlen(automatic);
    if (strncmp(subject, automatic, size) != 0)
        return NULL;
    hub_name(host, subject + size + (subject[size] == '.'));
    return host;
}

/* True if a client had the hub send a stored message here. The hub adds a header
 * Nats-Stream to a message that it sends from the budget's stream, and then to a
 * request that it kept: `kept` is 1. */
static bool is_relayed(natsMsg *message, bool automatic, int kept)
{
    char budget[96];
    const char *first = "";
    int streams;
    (void)header_last(message, "Nats-Stream", &streams);
    natsMsgHeader_Get(message, "Nats-Stream", &first);
    return streams != automatic + kept ||
           (automatic && strcmp(first, hub_stream(budget, "budget")) != 0);
}

/* True if a regular expression of a request matches one of the words that a
 * comma parts, or it has none. */
static bool is_for(const char *json, size_t size, const char *path,
                   const char *words)
{
    char regex[256], all[256], *at, *word;
    json_copy(regex, sizeof regex, json, size, path);
    if (!*regex || recorder_regex_check_(regex))
        return !*regex;
    snprintf(all, sizeof all, "%s", words);
    word = strtok_r(all, ",", &at);
    while (word && !recorder_regex_match_(regex, word))
        word = strtok_r(NULL, ",", &at);
    return word;
}

/* Begins the snapshot of a request, unless it is for other agents. The caller has
 * the lock. */
static enum request request_take(const char *id, const char *json, size_t size,
                                 const char *host, uint64_t late_s)
{
    char why[WHY_MAX + 1], by[65];
    if (!is_for(json, size, "$.label", options.label ? options.label : ""))
        return REQUEST_UNLIKE;
    if (!is_for(json, size, "$.hosts", options.host))
        return REQUEST_OTHER;
    json_copy(why, sizeof why, json, size, "$.why");
    json_copy(by, sizeof by, json, size, "$.by");
    return begin(id, why, host ? host : by, host, late_s) ? REQUEST_TAKEN
                                                          : REQUEST_REFUSED;
}

static void requested(natsConnection *connection, natsSubscription *sub,
                      natsMsg *message, void *context)
{
    const char *json = natsMsg_GetData(message), *host;
    size_t size = (size_t)natsMsg_GetDataLength(message);
    uint64_t begun_ns = now_ns();
    char id[66], from[65];
    enum request is = REQUEST_OTHER;
    (void)sub, (void)context;
    host = requester(natsMsg_GetSubject(message), from);
    json_copy(id, sizeof id, json, size > REQUEST_MAX ? 0 : size, "$.id");
    if (size > REQUEST_MAX) {
        refused(REFUSED_SIZE, message);
    } else if (is_relayed(message, host, 0)) {
        refused(REFUSED_RELAYED, message);
    } else if (!host && json_number(json, size, "$.who")) {
        answer(connection, message, NULL, REQUEST_TAKEN, begun_ns);
    } else if (!is_name(id)) {
        refused(REFUSED_ID, message);
    } else {
        pthread_mutex_lock(&state.lock);
        is = request_take(id, json, size, host, 0);
        if (is != REQUEST_OTHER)
            answer(connection, message, id, is, begun_ns);
        pthread_mutex_unlock(&state.lock);
    }
    if (is == REQUEST_REFUSED)
        refused(REFUSED_MANY, message);
    natsMsg_Destroy(message);
}

/* Returns how long ago the hub stored a request, by this host's clock, at least
 * a second. */
static uint64_t late_by(natsMsg *message)
{
    struct tm tm = {0};
    int count;
    const char *stamp = header_last(message, "Nats-Time-Stamp", &count);
    time_t now = time(NULL), then = now;
    if (stamp && strptime(stamp, "%Y-%m-%dT%H:%M:%S", &tm)) /* of UTC */
        then = timegm(&tm);
    return now > then ? (uint64_t)(now - then) : 1;
}

/* Takes a snapshot that was requested before this agent connected. */
static void missed(natsConnection *connection, natsSubscription *sub,
                   natsMsg *message, void *context)
{
    const char *json = natsMsg_GetData(message), *subject;
    size_t size = (size_t)natsMsg_GetDataLength(message);
    char id[66], from[65];
    uint64_t next = requests_next(message, &subject);
    const char *host = next ? requester(subject, from) : NULL;
    (void)sub, (void)context;
    json_copy(id, sizeof id, json, size, "$.id");
    if (next && !is_relayed(message, host, 1) && is_name(id)) {
        uint64_t late_s = late_by(message);
        pthread_mutex_lock(&state.lock);
        if (!is_known(id) &&
            request_take(id, json, size, host, late_s) == REQUEST_TAKEN)
            say_at("info",
                   "snapshot %s was missed, and is taken %" PRIu64 " s late",
                   id, late_s);
        pthread_mutex_unlock(&state.lock);
    }
    if (next)
        requests_ask(connection, next);
    natsMsg_Destroy(message);
}

/* True if a snapshot began here within a time, its id is in `id`; `of_person`:
 * only one of a person, otherwise only an automatic one. */
static bool joins(char id[65], uint64_t within_ns, bool of_person)
{
    bool known;
    pthread_mutex_lock(&state.lock);
    known = *state.last && state.automatic != of_person &&
            now_ns() - state.begun_ns < within_ns;
    strcpy(id, state.last);
    pthread_mutex_unlock(&state.lock);
    return known;
}

/* Waits for the snapshot that another agent began. */
static bool joins_soon(char id[65])
{
    for (int i = 0; i < LOST_MS / 10; i++) {
        if (joins(id, 60 * MINUTE, false))
            return true;
        usleep(10000);
    }
    return false;
}

/* Freezes the service: here, and through the hub wherever its agents are.
 * Returns in `id` the snapshot that it became. False: there were too many. */
static bool freeze_all(struct hub *hub, const char *why, char id[65])
{
    static bool said;
    char *request, own[65];
    enum claim claim;
    if (joins(id, options.join, true))
        return true;
    snapshot_new(own);
    request = snapshot_request(own, options.host, why);
    claim = budget_claim(hub, request);
    free(request);
    if ((claim == CLAIM_LOST && joins_soon(id)) ||
        (claim == CLAIM_ALONE && joins(id, options.join, false)))
        return true;
    if (claim == CLAIM_REFUSED || (claim != CLAIM_WON && !budget_alone(true))) {
        if (!said)
            say("there were as many snapshots as the budget allows: for now, "
                "triggers and deaths make no more");
        said = true;
        return false;
    }
    said = false;
    pthread_mutex_lock(&state.lock);
    begin(own, why, options.host, true, 0);
    take_in(0); /* the records of the trigger are copied at once */
    pthread_mutex_unlock(&state.lock);
    strcpy(id, own);
    return true;
}

/* ------------------------------------------------------------------ save -- */

struct save {
    char snapshot[65], process[65];
    int pid, file;  /* file: its recording, to be closed; or -1 */
    uint64_t bytes; /* of its memory */
};
struct child {
    struct save save;
    pid_t pid;
    int fd, said; /* fd: readable when it ended; said: its stderr */
    uint64_t until_ns;
    bool late;
    char path[4096];
};
static struct {
    struct save *all; /* smallest first */
    size_t count, max;
    struct child children[AT_ONCE];
    size_t children_count;
} saves;

static uint64_t memory_of(int pid)
{
    char text[128];
    unsigned long resident = 0;
    proc_text(pid, 0, "statm", text, sizeof text);
    sscanf(text, "%*u %lu", &resident);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Names a process's file. A process that ended has another name: the snapshot
 * may hold a file of the time when the process ran. */
static void save_name(char to[65], const struct process *p, bool ended)
{
    snprintf(to, 65, "%s.%d%s", p->program, p->pid, ended ? "-ended" : "");
}

/* `ended`: the process is gone, but its recording is not. */
static void save_add(const char *snapshot, const struct process *p, bool ended)
{
    struct save *t;
    size_t i = saves.count;
    t = ADD(&saves);
    *t = (struct save){.pid = p->pid, .file = -1};
    if (ended || p->by_file)
        t->file = fcntl(p->file, F_DUPFD_CLOEXEC, 0);
    t->bytes = ended ? 0 : memory_of(p->pid);
    snprintf(t->snapshot, sizeof t->snapshot, "%s", snapshot);
    save_name(t->process, p, ended);
    for (; i && saves.all[i - 1].bytes > saves.all[i].bytes; i--) {
        struct save other = saves.all[i];
        saves.all[i] = saves.all[i - 1];
        saves.all[i - 1] = other;
    }
}

static void save_fail(const struct save *t, const char *why)
{
    metric_add(METRIC_SAVE_ERRORS, 1);
    spool_error(t->snapshot, t->process, why);
    if (t->file >= 0)
        close(t->file);
}

/* Makes the labels of a recording. CLOCK_BOOTTIME relates its clock to the
 * hub's, even if the time is set before the recording is sent. */
static void labels_make(char labels[LABELS][160], const struct save *t)
{
    snprintf(labels[0], 160, "host=%s", options.host);
    snprintf(labels[1], 160, "service=%s", options.service);
    snprintf(labels[2], 160, "boot=%s", boot_id());
    snprintf(labels[3], 160, "snapshot=%s", t->snapshot);
    snprintf(labels[4], 160, "taken_ns=%" PRIu64, real_ns());
    snprintf(labels[5], 160, "taken_monotonic_ns=%" PRIu64, now_ns());
    snprintf(labels[6], 160, "taken_boottime_ns=%" PRIu64,
             clock_ns(CLOCK_BOOTTIME));
}

/* Starts `recorder save`; a recording is its stdin. */
static void child_start(const struct save *s)
{
    struct child *c = &saves.children[saves.children_count];
    char labels[LABELS][160], source[16];
    const char *arguments[5 + 2 * LABELS] = {"save", source, "-o", c->path};
    *c = (struct child){.save = *s};
    labels_make(labels, s);
    if (s->file < 0)
        snprintf(source, sizeof source, "%d", s->pid);
    else
        strcpy(source, "/dev/stdin");
    for (int i = 0; i < LABELS; i++) {
        arguments[4 + 2 * i] = "--label";
        arguments[5 + 2 * i] = labels[i];
    }
    spool_work(c->path);
    c->pid = watch_spawn(options.recorder, arguments, s->file, "/dev/null",
                         true, 0, &c->said);
    if (c->pid < 0) {
        save_fail(s, strerror(errno));
        close(c->said);
        spool_work_end(c->path);
        return;
    }
    fcntl(c->said, F_SETFL, O_NONBLOCK);
    c->until_ns = now_ns() + options.save_ns;
    c->fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    saves.children_count++;
}

static void children_start(void)
{
    while (saves.count && saves.children_count < AT_ONCE) {
        struct save t = saves.all[0];
        bool alone = t.bytes > ALONE_BYTES;
        for (size_t i = 0; i < saves.children_count; i++)
            alone |= saves.children[i].save.bytes > ALONE_BYTES;
        if (alone && saves.children_count)
            return;
        memmove(saves.all, saves.all + 1, --saves.count * sizeof *saves.all);
        child_start(&t);
    }
}

static void child_end(struct child *c, int status)
{
    char text[512];
    struct save *t = &c->save;
    const char *wrong = text;
    ssize_t size;
    snprintf(text, sizeof text,
             c->late ? "recorder save took more than %d s"
                     : "recorder save failed, status %d",
             c->late ? (int)(options.save_ns / SECOND) : status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        wrong = spool_take(c->path, t->snapshot, t->process);
    else if ((size = read(c->said, text, sizeof text - 1)) > 0)
        text[size] = '\0';
    if (wrong)
        save_fail(t, wrong);
    else if (t->file >= 0)
        close(t->file);
    spool_work_end(c->path);
    close(c->said);
    close(c->fd);
    spool_wake();
}

static void children_wait(void)
{
    for (size_t i = saves.children_count; i-- > 0;) {
        struct child *c = &saves.children[i];
        int status;
        c->late |= now_ns() > c->until_ns;
        if (c->late) /* SIGALRM does not end one that is stopped */
            kill(c->pid, SIGKILL);
        if (waitpid(c->pid, &status, WNOHANG) != c->pid)
            continue;
        child_end(c, status);
        saves.children[i] = saves.children[--saves.children_count];
    }
}

/* ------------------------------------------------------------------ loop -- */

/* Notes all processes before the snapshot begins: a killed agent must not leave
 * a snapshot that lacks some without a word. */
static void due_begin(const struct processes *in, const struct due *d)
{
    char process[65];
    const char *wrong;
    for (size_t k = 0; k < in->count; k++)
        if (in->all[k].recorders && in->all[k].alive) {
            save_name(process, &in->all[k], false);
            spool_expect(d->id, process);
        }
    wrong = spool_begin(d->id, d->why, d->by, d->automatic, d->late_s,
                        state.processes);
    if (wrong)
        say("%s/%s: %s: nothing is saved", options.spool, d->id, wrong);
    for (size_t k = 0; k < in->count && !wrong; k++)
        if (in->all[k].recorders && in->all[k].alive)
            save_add(d->id, &in->all[k], false);
}

/* Takes the snapshots that are due, when the timer ran out or if `all`: adds a
 * target for each process. */
static void due_take(const struct processes *in, bool all)
{
    uint64_t word;
    if (read(state.timer, &word, sizeof word) < 0 && !all)
        return;
    pthread_mutex_lock(&state.lock);
    for (size_t i = 0; i < state.due_count; i++)
        due_begin(in, &state.due[i]);
    if (state.due_count)
        spool_known_write(state.known, state.known_count, KNOWN);
    state.due_count = 0;
    pthread_mutex_unlock(&state.lock);
}

/* Freezes for a verdict of `recorder watch`, whose lines become one. */
static bool freeze_judged(struct hub *hub, const struct process *p, char *words,
                          char id[65])
{
    char why[WHY_MAX + 1];
    for (char *at = words; (at = strchr(at, '\n'));)
        *at = ' ';
    snprintf(why, sizeof why, "%s.%d: %s", p->program, p->pid, words);
    say("%s", why);
    return freeze_all(hub, why, id);
}

/* Handles the end of a process. The snapshots that are due are taken first, as
 * their answers counted it; then one gets its recording, if it did not end as
 * programs are meant to. */
static void process_ended(struct hub *hub, const struct processes *in,
                          struct process *p)
{
    char words[1024], id[65];
    bool died = p->file >= 0 && !options.no_deaths;
    due_take(in, true);
    died = died && death_judge(&watcher, p->watched, words);
    watched_free(p->watched);
    p->watched = NULL;
    p->fd = -1;
    p->alive = p->recorders = false;
    p->retries = 7;
    if (died && freeze_judged(hub, p, words, id))
        save_add(id, p, true);
}

/* Looks for hangs as `recorder watch` does. A look at a process that may hang
 * delays saves by a tenth of a second. */
static void hangs_look(struct hub *hub, const struct processes *in)
{
    char words[1024], id[65];
    death_lines(&watcher);
    for (size_t i = 0; i < in->count; i++) {
        const struct process *p = &in->all[i];
        int64_t now = watch_now();
        if (p->alive && p->watched && look_take(&watcher, p->watched, now) &&
            hang_judge(&watcher, p->watched, now, words) == VERDICT_SURE)
            freeze_judged(hub, p, words, id);
    }
}

static void triggers_look(struct hub *hub, struct processes *in)
{
    char why[128], id[65];
    for (size_t i = 0; i < in->count; i++)
        if (in->all[i].writes.count && in->all[i].alive &&
            process_triggered(&in->all[i])) {
            snprintf(why, sizeof why, "%s of %s.%d", options.trigger,
                     in->all[i].program, in->all[i].pid);
            freeze_all(hub, why, id);
        }
}

/* Sets the number of processes in answers. */
static void processes_set(const struct processes *in)
{
    size_t count = 0;
    for (size_t i = 0; i < in->count; i++)
        count += in->all[i].recorders;
    metric_set(METRIC_PROCESSES, count);
    pthread_mutex_lock(&state.lock);
    state.processes = count;
    pthread_mutex_unlock(&state.lock);
}

static void agent_wait(struct hub *hub, struct processes *in, int timeout_ms)
{
    size_t count = 1 + saves.children_count, i;
    bool ended = false;
    struct pollfd *fds = need(calloc(count + in->count, sizeof *fds));
    fds[0] = (struct pollfd){.fd = state.timer, .events = POLLIN};
    for (i = 0; i < saves.children_count; i++)
        fds[1 + i] =
            (struct pollfd){.fd = saves.children[i].fd, .events = POLLIN};
    for (i = 0; i < in->count; i++)
        fds[count + i] = (struct pollfd){.fd = in->all[i].fd, .events = POLLIN};
    if (poll(fds, count + in->count, timeout_ms) > 0)
        for (i = 0; i < in->count; i++)
            if (fds[count + i].revents && in->all[i].fd >= 0)
                process_ended(hub, in, &in->all[i]), ended = true;
    free(fds);
    if (ended) /* a freeze waits for as many as the answer tells */
        processes_set(in);
}

static void scan(struct processes *in)
{
    processes_scan(in);
    malloc_trim(0);
    processes_set(in);
}

/* Tells the operator's tools that the agent works. systemd restarts an agent
 * that is silent for WatchdogSec of its unit. */
static void life_show(const struct hub *hub)
{
    metric_set(METRIC_CONNECTED, natsConnection_Status(hub->connection) ==
                                     NATS_CONN_STATUS_CONNECTED);
    metric_set(METRIC_SPOOL_BYTES, spool_bytes());
    metric_set(METRIC_SPOOL_LIMIT, options.keep);
    metrics_write();
    service_notify("WATCHDOG=1");
}

/* Subscribes to requests of people, and to requests that the budget accepted. */
static void requests_listen(struct hub *hub)
{
    char people[SUBJECT_MAX], automatic[SUBJECT_MAX];
    natsSubscription *sub;
    hub_subject(people, "freeze", NULL);
    hub_subject(automatic, "auto", "*");
    if (natsConnection_Subscribe(&sub, hub->connection, people, requested,
                                 NULL) != NATS_OK ||
        natsConnection_Subscribe(&sub, hub->connection, automatic, requested,
                                 NULL) != NATS_OK ||
        !requests_hear(hub, missed))
        hub_given_up(hub->connection);
    natsConnection_FlushTimeout(hub->connection, 2000); /* the hub knows it */
}

int fleet_agent(void)
{
    static struct hub hub;
    struct processes in = {0};
    pthread_t shipper;
    uint64_t scan_ns = 0, trigger_ns = 0, host_ns = 0, hang_ns = 0;
    signal(SIGPIPE, SIG_IGN);
    mallopt(M_ARENA_MAX, 1); /* it sleeps most of the time: small, not fast */
    mallopt(M_MMAP_THRESHOLD, 65536);
    descriptors_raise(); /* each process that records needs two */
    spool_open();
    state.known_count = spool_known_read(state.known, KNOWN);
    state.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    watch_command = options.recorder;
    watcher.hang_ns = (int64_t)options.hang_ns;
    death_open(&watcher);
    scan(&in);
    hub_connect(&hub, true);
    requests_listen(&hub);
    /* The threads of libnats have a higher priority than this thread and all
     * threads and processes that it starts from here on. */
    if (setpriority(PRIO_PROCESS, 0, NICE) != 0)
        say("nice: %s", strerror(errno));
    if (pthread_create(&shipper, NULL, spool_ship, &hub) != 0)
        give_up("no thread");
    say_at("info", "agent of %s on %s: %zu processes with recorders",
           options.service, options.host, state.processes);
    service_notify("READY=1");
    for (;;) {
        uint64_t now = now_ns();
        if (now - scan_ns >= SCAN_MS * UINT64_C(1000000)) {
            scan(&in);
            life_show(&hub);
            scan_ns = now;
        }
        if (!host_ns || now - host_ns >= HOST_NS) {
            index_host_put(&hub);
            host_ns = now;
        }
        if (atomic_exchange(&hub.connects, false))
            requests_ask(hub.connection, 1);
        if (options.trigger && now - trigger_ns >= TRIGGER_MS * 1000000) {
            triggers_look(&hub, &in);
            trigger_ns = now;
        }
        if (options.hang_ns && now - hang_ns >= options.hang_ns / 2) {
            hangs_look(&hub, &in);
            hang_ns = now;
        }
        due_take(&in, false);
        children_wait();
        children_start();
        agent_wait(&hub, &in,
                   options.trigger                           ? TRIGGER_MS
                   : saves.children_count || options.hang_ns ? 1000
                                                             : SCAN_MS);
    }
}
