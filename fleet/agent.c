/* agent.c - finds processes, freezes on request, trigger or death, and saves. */
/* SPDX-License-Identifier: MIT */
/*
    Three threads: libnats', which answers and queues; this one, which looks for
    processes and runs `recorder save`, a child with a time limit for each, so
    that a hostile or dying process takes nobody along; and the spool's, which
    ships. Nothing is switched off in a process: a freeze is a copy. What a
    request asks for begins some ms behind its answer: many agents on one machine
    would else keep each other from answering.
*/
#include "array.h"
#include "fleet.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    AT_ONCE = 2,            /* saves */
    ALONE_BYTES = 64 << 20, /* a process of more memory is saved alone */
    SCAN_MS = 5000,
    TRIGGER_MS = 250,
    KNOWN = 64,
    BEHIND_MS = 20, /* the answer: a hundred others need as long for theirs */
    NICE = 10       /* of all work */
};
static const uint64_t MEET = SHIP_LATER_NS;

/* ------------------------------------------------------------- snapshots -- */

static struct {
    pthread_mutex_t lock; /* of all of this */
    char last[65];        /* the newest, */
    bool automatic;       /* of a trigger or death, */
    uint64_t begun_ns;    /* and when */
    char known[KNOWN][65];
    size_t known_count;
    uint64_t *times; /* when the last automatic ones were: --automatic */
    size_t times_count;
    struct due { /* to be saved: queued for the agent's thread */
        char id[65], why[WHY_MAX + 1], by[65];
        bool automatic;
    } due[KNOWN];
    size_t due_count;
    size_t processes;
    int timer; /* of when what is due is taken */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

/* Two triggers at one moment are one snapshot: the smaller id is its name. */
static void take_id(const char *id)
{
    bool queued = false;
    for (size_t i = 0; i < state.due_count; i++)
        if (strcmp(state.due[i].id, state.last) == 0) {
            strcpy(state.due[i].id, id);
            queued = true;
        }
    if (!queued)
        spool_rename(state.last, id);
    strcpy(state.known[state.known_count++ % KNOWN], id);
    strcpy(state.last, id);
}

/* True if --automatic allows one more snapshot, which is counted. The first one
 * that is refused is said. */
static bool automatic_may(uint64_t now)
{
    static bool said;
    uint64_t *oldest =
        state.times +
        (options.automatic ? state.times_count % options.automatic : 0);
    if (!options.automatic || (state.times_count >= options.automatic &&
                               now - *oldest < options.automatic_ns)) {
        if (!said)
            say("there were %" PRIu64 " automatic snapshots in %" PRIu64
                " s: for now, triggers and deaths make no more",
                options.automatic, options.automatic_ns / SECOND);
        said = true;
        return false;
    }
    said = false;
    *oldest = now;
    state.times_count++;
    return true;
}

/* Begins a snapshot, or joins another. Returns its id; null: it is refused. */
static const char *begin(const char *id, const char *why, const char *by,
                         bool automatic)
{
    uint64_t now = now_ns();
    struct due *due = &state.due[state.due_count];
    if (is_known(id))
        return automatic ? state.last : id;
    if (automatic && *state.last && now - state.begun_ns < options.join_ns) {
        if (state.automatic && now - state.begun_ns < MEET &&
            strcmp(id, state.last) < 0)
            take_id(id);
        return state.last;
    }
    if (state.due_count == KNOWN || (automatic && !automatic_may(now)))
        return NULL;
    strcpy(state.known[state.known_count++ % KNOWN], id);
    strcpy(state.last, id);
    state.automatic = automatic;
    state.begun_ns = now;
    strcpy(due->id, id);
    snprintf(due->why, sizeof due->why, "%s", why);
    snprintf(due->by, sizeof due->by, "%s", by);
    due->automatic = automatic;
    if (state.due_count++ == 0) /* else the time is set: nobody puts it off */
        take_in(BEHIND_MS);
    return id;
}

/* -------------------------------------------------------------- requests -- */

static void answer(natsConnection *connection, natsMsg *message,
                   const char *snapshot, uint64_t begun_ns)
{
    char *json = NULL;
    size_t size;
    const char *reply = natsMsg_GetReply(message);
    FILE *to;
    /* Who asks chooses where to: not into a bucket, where only agents write. */
    if (!reply || strncmp(reply, "_INBOX.", 7) != 0)
        return;
    to = need(open_memstream(&json, &size));
    fputs("{\"host\":", to);
    json_write(to, options.host);
    fprintf(to,
            ",\"processes\":%zu,\"clock_ns\":%" PRIu64 ",\"spool\":%" PRIu64,
            state.processes, real_ns(), snapshot ? 0 : spool_bytes());
    fprintf(to, ",\"took_ns\":%" PRIu64, now_ns() - begun_ns);
    if (snapshot)
        fprintf(to, ",\"snapshot\":\"%s\"", snapshot);
    putc('}', to);
    if (fclose(to) == 0)
        natsConnection_Publish(connection, reply, json, (int)size);
    free(json);
}

/* Says at most once a minute that a request is refused: clients cannot fill our
 * log. */
static void refused(const char *why, const natsMsg *message)
{
    static uint64_t said_ns;
    uint64_t now = now_ns();
    if (said_ns && now - said_ns < MINUTE)
        return;
    said_ns = now;
    say("a request %s is refused (%d bytes); others like it are not told of "
        "for a minute",
        why, natsMsg_GetDataLength(message));
}

static void requested(natsConnection *connection, natsSubscription *sub,
                      natsMsg *message, void *context)
{
    const char *json = natsMsg_GetData(message);
    size_t size = (size_t)natsMsg_GetDataLength(message);
    uint64_t begun_ns = now_ns();
    char *id, *why, *by;
    const char *taken;
    (void)sub;
    (void)context;
    if (size > 4096) {
        refused("that is too long", message);
        natsMsg_Destroy(message);
        return;
    }
    id = json_get(json, size, "$.id");
    why = json_get(json, size, "$.why");
    by = json_get(json, size, "$.by");
    if (json_number(json, size, "$.who")) {
        answer(connection, message, NULL, begun_ns);
    } else if (!id || !is_name(id)) {
        refused("whose id is no name", message);
    } else {
        pthread_mutex_lock(&state.lock);
        taken = begin(id, why ? why : "", by ? by : "",
                      json_number(json, size, "$.automatic"));
        if (taken)
            answer(connection, message, taken, begun_ns);
        pthread_mutex_unlock(&state.lock);
    }
    free(id);
    free(why);
    free(by);
    natsMsg_Destroy(message);
}

/* Freezes the service: here at once, wherever else the hub reaches. Returns in
 * `id` the snapshot that it became. False: there were too many. */
static bool freeze_all(struct hub *hub, const char *why, char id[65])
{
    char *request, own[65];
    const char *taken;
    snapshot_new(own);
    request = snapshot_request(own, options.host, why, true);
    pthread_mutex_lock(&state.lock);
    taken = begin(own, why, options.host, true);
    if (taken)
        strcpy(id, taken);
    if (state.due_count) /* what happened here is copied at once */
        take_in(0);
    pthread_mutex_unlock(&state.lock);
    if (taken && strcmp(id, own) == 0)
        natsConnection_PublishString(hub->connection, hub_subject(), request);
    free(request);
    return taken;
}

/* ------------------------------------------------------------------ save -- */

struct target {
    char snapshot[65], process[65], *file;
    int pid;
    uint64_t bytes; /* of its memory */
};
struct child {
    struct target target;
    pid_t pid;
    int fd, said; /* readable when it ended; what it says on stderr */
    uint64_t until_ns;
    bool late;
    char path[4096];
};
static struct {
    struct target *all; /* smallest first */
    size_t count, max;
    struct child children[AT_ONCE];
    size_t children_count;
} saves;

static uint64_t memory_of(int pid)
{
    char path[32];
    unsigned long all, resident = 0;
    FILE *from;
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    from = fopen(path, "re");
    if (from && fscanf(from, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (from)
        fclose(from);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Names a process's file. A process that ended has another name: the same
 * snapshot may hold its file from when it ran. */
static void target_name(char to[65], const struct process *p, bool ended)
{
    snprintf(to, 65, "%s.%d%s", p->program, p->pid, ended ? "-ended" : "");
}

/* `ended`: the process is gone, and its recording is what there is. */
static void target_add(const char *snapshot, const struct process *p,
                       bool ended)
{
    struct target *t;
    size_t i = saves.count;
    saves.all =
        need(array_room(saves.all, &saves.max, i + 1, sizeof *saves.all));
    t = &saves.all[saves.count++];
    *t = (struct target){.pid = p->pid, .bytes = ended ? 0 : memory_of(p->pid)};
    if (ended || p->by_file)
        t->file = need(strdup(p->file));
    snprintf(t->snapshot, sizeof t->snapshot, "%s", snapshot);
    target_name(t->process, p, ended);
    for (; i && saves.all[i - 1].bytes > saves.all[i].bytes; i--) {
        struct target other = saves.all[i];
        saves.all[i] = saves.all[i - 1];
        saves.all[i - 1] = other;
    }
}

/* Returns the snapshot of a target by the id that it has now. */
static const char *snapshot_of(const struct target *t)
{
    char path[4096];
    spool_path(path, t->snapshot, "about", "");
    return access(path, F_OK) == 0 ? t->snapshot : state.last;
}

static void error_write(const struct target *t, const char *text)
{
    char path[4096];
    FILE *to;
    pthread_mutex_lock(&state.lock);
    spool_path(path, snapshot_of(t), t->process, ".error");
    to = fopen(path, "we");
    if (to) {
        fprintf(to, "%.*s", (int)strcspn(text, "\n"), text);
        fclose(to);
    }
    spool_expected(snapshot_of(t), t->process);
    pthread_mutex_unlock(&state.lock);
    say("%s: %s is not saved: %.*s", t->snapshot, t->process,
        (int)strcspn(text, "\n"), text);
}

/* Returns the kernel's id of this boot: monotonic clocks of one boot agree. */
static const char *boot_id(void)
{
    static char text[40];
    FILE *from = *text ? NULL : fopen("/proc/sys/kernel/random/boot_id", "re");
    if (from && fscanf(from, "%36s", text) != 1)
        strcpy(text, "unknown");
    if (from)
        fclose(from);
    return text;
}

static void child_start(const struct target *t)
{
    struct child *c = &saves.children[saves.children_count];
    char labels[5][160], pid[16];
    const char *arguments[16] = {options.command, "save",
                                 t->file ? t->file : pid, "-o", c->path};
    int count = 5, failed, said[2];
    posix_spawn_file_actions_t files;
    *c = (struct child){.target = *t, .fd = -1};
    snprintf(pid, sizeof pid, "%d", t->pid);
    spool_work(c->path);
    snprintf(labels[0], sizeof *labels, "host=%s", options.host);
    snprintf(labels[1], sizeof *labels, "service=%s", options.service);
    snprintf(labels[2], sizeof *labels, "boot=%s", boot_id());
    snprintf(labels[3], sizeof *labels, "snapshot=%s", t->snapshot);
    snprintf(labels[4], sizeof *labels, "taken_ns=%" PRIu64, real_ns());
    for (int i = 0; i < 5; i++) {
        arguments[count++] = "--label";
        arguments[count++] = labels[i];
    }
    arguments[count] = NULL;
    if (pipe2(said, O_CLOEXEC | O_NONBLOCK) != 0) {
        error_write(t, strerror(errno));
        free(t->file);
        return;
    }
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, said[1], 2);
    failed = posix_spawnp(&c->pid, options.command, &files, NULL,
                          (char **)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    close(said[1]);
    if (failed) {
        close(said[0]);
        error_write(t, strerror(failed));
        free(t->file);
        return;
    }
    c->said = said[0];
    c->fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    c->until_ns = now_ns() + options.save_ns;
    saves.children_count++;
}

static void children_start(void)
{
    while (saves.count && saves.children_count < AT_ONCE) {
        struct target t = saves.all[0];
        bool alone = t.bytes > ALONE_BYTES;
        for (size_t i = 0; i < saves.children_count; i++)
            alone |= saves.children[i].target.bytes > ALONE_BYTES;
        if (alone && saves.children_count)
            return;
        memmove(saves.all, saves.all + 1, --saves.count * sizeof *saves.all);
        child_start(&t);
    }
}

static void child_end(struct child *c, int status)
{
    char path[4096], text[512];
    struct target *t = &c->target;
    bool saved = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ssize_t size;
    snprintf(text, sizeof text,
             c->late ? "recorder save took more than %d s"
                     : "recorder save failed, status %d",
             c->late ? (int)(options.save_ns / SECOND) : status);
    if (saved) {
        pthread_mutex_lock(&state.lock);
        spool_path(path, snapshot_of(t), t->process, ".rec");
        saved = rename(c->path, path) == 0;
        if (saved)
            spool_expected(snapshot_of(t), t->process);
        pthread_mutex_unlock(&state.lock);
        if (!saved)
            error_write(t, strerror(errno));
    } else {
        size = read(c->said, text, sizeof text - 1);
        if (size > 0)
            text[size] = '\0';
        error_write(t, text);
    }
    spool_work_end(c->path);
    close(c->said);
    close(c->fd);
    free(t->file);
    spool_wake();
}

static void children_wait(void)
{
    for (size_t i = saves.children_count; i-- > 0;) {
        struct child *c = &saves.children[i];
        int status;
        c->late |= now_ns() > c->until_ns;
        if (c->late)
            kill(c->pid, SIGKILL);
        if (waitpid(c->pid, &status, WNOHANG) != c->pid)
            continue;
        child_end(c, status);
        saves.children[i] = saves.children[--saves.children_count];
    }
}

/* ------------------------------------------------------------------ loop -- */

/* Takes the snapshots that are due, when the timer ran out or if `all`: adds a
 * target for each process. */
static void due_take(const struct processes *in, bool all)
{
    uint64_t word;
    if (read(state.timer, &word, sizeof word) < 0 && !all)
        return;
    pthread_mutex_lock(&state.lock);
    for (size_t i = 0; i < state.due_count; i++) {
        const struct due *d = &state.due[i];
        char process[65];
        const char *wrong;
        for (size_t k = 0; k < in->count; k++)
            if (in->all[k].recorders && in->all[k].alive) {
                target_name(process, &in->all[k], false);
                spool_expect(d->id, process);
            }
        wrong = spool_begin(d->id, d->why, d->by, d->automatic);
        if (wrong)
            say("%s/%s: %s: nothing is saved", options.spool, d->id, wrong);
        else
            for (size_t k = 0; k < in->count; k++)
                if (in->all[k].recorders && in->all[k].alive)
                    target_add(d->id, &in->all[k], false);
    }
    state.due_count = 0;
    pthread_mutex_unlock(&state.lock);
}

/* A process has ended. Snapshots that are due are taken first, as their answers
 * counted it; then one gets its recording. */
static void process_ended(struct hub *hub, const struct processes *in,
                          struct process *p)
{
    char why[128], id[65];
    due_take(in, true);
    snprintf(why, sizeof why, "%s.%d ended", p->program, p->pid);
    close(p->fd);
    p->fd = -1;
    p->alive = p->recorders = false;
    p->retries = 7;
    if (p->file && !options.no_deaths && freeze_all(hub, why, id))
        target_add(id, p, true);
}

static void triggers_look(struct hub *hub, struct processes *in)
{
    char why[128], id[65];
    for (size_t i = 0; i < in->count; i++)
        if (in->all[i].writes_count && in->all[i].alive &&
            process_triggered(&in->all[i])) {
            snprintf(why, sizeof why, "%s of %s.%d", options.trigger,
                     in->all[i].program, in->all[i].pid);
            freeze_all(hub, why, id);
        }
}

/* Sets the number of processes that answers tell. */
static void processes_tell(const struct processes *in)
{
    size_t count = processes_recording(in);
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
    if (ended) /* who freezes waits for no more than there are */
        processes_tell(in);
}

static void scan(struct processes *in)
{
    processes_scan(in);
    malloc_trim(0);
    processes_tell(in);
}

int fleet_agent(void)
{
    static struct hub hub;
    struct processes in = {0};
    natsSubscription *sub;
    pthread_t shipper;
    uint64_t scan_ns = 0, trigger_ns = 0;
    signal(SIGPIPE, SIG_IGN);
    mallopt(M_ARENA_MAX, 1); /* it sleeps most of the time: small, not fast */
    mallopt(M_MMAP_THRESHOLD, 65536);
    descriptors_raise(); /* each process that records needs one */
    spool_open();
    state.times = need(calloc(options.automatic + 1, sizeof *state.times));
    state.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    scan(&in);
    hub_connect(&hub, true);
    if (natsConnection_Subscribe(&sub, hub.connection, hub_subject(), requested,
                                 NULL) != NATS_OK)
        fail("%s: no subscription", hub_subject());
    natsConnection_FlushTimeout(hub.connection, 2000); /* the hub knows of it */
    /* This thread and those it starts, and `recorder save`: libnats' threads
     * are there already, and answer before others work. */
    errno = 0;
    if (nice(NICE) == -1 && errno)
        say("nice: %s", strerror(errno));
    if (pthread_create(&shipper, NULL, spool_ship, &hub) != 0)
        fail("no thread");
    say("agent of %s on %s: %zu processes with recorders", options.service,
        options.host, state.processes);
    for (;;) {
        uint64_t now = now_ns();
        if (now - scan_ns >= SCAN_MS * UINT64_C(1000000)) {
            scan(&in);
            scan_ns = now;
        }
        if (options.trigger && now - trigger_ns >= TRIGGER_MS * 1000000) {
            triggers_look(&hub, &in);
            trigger_ns = now;
        }
        due_take(&in, false);
        children_wait();
        children_start();
        agent_wait(&hub, &in,
                   options.trigger        ? TRIGGER_MS
                   : saves.children_count ? 1000
                                          : SCAN_MS);
    }
}
