/* watcher.c - the loop of `recorder watch`: looks, and waits for deaths. */
/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <poll.h>
#include <sys/wait.h>

enum { STATUS_INCIDENT = 3 };

void watch_say(const struct watched *p, const char *format, ...)
{
    char when[32];
    time_t now = time(NULL);
    struct tm tm;
    va_list list;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &tm));
    printf("%s %s %d: ", when, p->name, p->pid);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    fflush(stdout);
}

/* --------------------------------------------------------------- verdicts -- */

static void verdict_act(struct watcher *w, struct watched *p, enum verdict is,
                        const char *words, bool died)
{
    bool keeps =
        is == VERDICT_SURE || (is == VERDICT_PERHAPS && w->keeps_perhaps);
    char text[1100];
    snprintf(text, sizeof text, "%s%s", is == VERDICT_PERHAPS ? "PERHAPS " : "",
             words);
    watch_say(p, "%s", text);
    if (keeps && w->folder)
        incident_keep(w, p, text, died);
}

static void death_act(struct watcher *w, size_t i)
{
    struct watched *p = w->all[i];
    char words[1024];
    enum verdict is = death_judge(w, p, words);
    bool others = false;
    w->all[i] = w->all[--w->count];
    for (size_t k = 0; k < w->count; k++)
        others |= w->all[k]->target == p->target;
    if (is || !others)
        verdict_act(w, p, is, words, true);
    watched_free(p);
    w->scan_ns = 0; /* another may have taken its place */
}

/* ------------------------------------------------------------- conditions -- */

/* Starts a watch for records, which ends at the first that meets a
 * condition. */
static void conditions_start(struct watcher *w, struct watched *p)
{
    if (!w->conditions[2] || p->conditions >= 0)
        return;
    w->conditions[1] = p->id;
    p->child = watch_spawn(watch_command, w->conditions, -1, NULL, false, 0,
                           &p->conditions);
}

/* The watch for records has ended: with a record's line, or without. */
static void conditions_act(struct watcher *w, struct watched *p)
{
    char line[900], words[1024];
    ssize_t got = read(p->conditions, line, sizeof line - 1);
    close(p->conditions);
    p->conditions = -1;
    if (got <= 0) /* no recorders yet, or it has ended */
        return;
    p->due_ns = 0; /* it has records, so perhaps a file of rings */
    watched_due(p);
    line[got] = '\0';
    line[strcspn(line, "\n")] = '\0';
    snprintf(words, sizeof words, "CONDITION met: %s", line);
    verdict_act(w, p, VERDICT_SURE, words, false);
    conditions_start(w, p);
}

static void figures_act(struct watcher *w, struct watched *p, int64_t now)
{
    for (size_t i = 0; i < w->figures_count; i++) {
        const struct figure *f = &w->figures[i];
        char words[512];
        uint64_t value;
        if (!figure_is(f, p->pid, &value)) {
            p->beyond_ns[i] = 0;
            continue;
        }
        if (!p->beyond_ns[i])
            p->beyond_ns[i] = now;
        if (p->beyond_ns[i] < 0 || now - p->beyond_ns[i] < (int64_t)f->for_ns)
            continue;
        p->beyond_ns[i] = -1;
        snprintf(words, sizeof words, "CONDITION met: %.256s: %s is %llu",
                 f->text, f->name, (unsigned long long)value);
        verdict_act(w, p, VERDICT_SURE, words, false);
    }
}

/* -------------------------------------------------------------------- loop -- */

/* Waits for the next look, or less long if a process ends. */
static void wait_until(struct watcher *w, int64_t due)
{
    for (size_t count = w->count; w->count == count && !command_stopped;) {
        struct pollfd *polled = need(calloc(2 * count + 1, sizeof *polled));
        int64_t left = (due - watch_now()) / 1000000;
        for (size_t i = 0; i < count; i++) {
            polled[2 * i] = (struct pollfd){w->all[i]->pidfd, POLLIN, 0};
            polled[2 * i + 1] =
                (struct pollfd){w->all[i]->conditions, POLLIN, 0};
        }
        if (left <= 0 || poll(polled, 2 * count, (int)left) <= 0) {
            free(polled);
            return;
        }
        for (size_t i = count; i-- > 0;) {
            if (polled[2 * i + 1].revents)
                conditions_act(w, w->all[i]);
            if (polled[2 * i].revents)
                death_act(w, i);
        }
        free(polled);
    }
}

bool watch_names(const struct watcher *w)
{
    bool named = false;
    for (size_t i = 0; i < w->targets_count; i++)
        named |= !w->targets[i].pid;
    return named;
}

/* True if a name or unit has no process. */
static bool is_missing(const struct watcher *w)
{
    uint64_t found = 0;
    for (size_t i = 0; i < w->targets_count; i++)
        found |= (uint64_t)(w->targets[i].pid != 0) << i;
    for (size_t i = 0; i < w->count; i++)
        found |= UINT64_C(1) << w->all[i]->target;
    return found != UINT64_MAX >> (64 - w->targets_count);
}

static void look_at_all(struct watcher *w)
{
    char words[1024];
    for (size_t i = 0; i < w->count; i++) {
        struct watched *p = w->all[i];
        int64_t now = watch_now();
        enum verdict is;
        bool first = p->look_ns == p->begun_ns;
        if (!look_take(w, p, now))
            continue; /* it has ended: its pidfd is readable */
        if (first)
            incident_again(w, p);
        is = hang_judge(w, p, now, words);
        if (is)
            verdict_act(w, p, is, words, false);
        figures_act(w, p, now);
        service_notify("WATCHDOG=1");
    }
}

void children_reap(struct watcher *w)
{
    pid_t child;
    while ((child = waitpid(-1, NULL, WNOHANG)) > 0)
        for (size_t i = 0; i < w->count; i++)
            if (w->all[i]->child == child)
                w->all[i]->child = 0;
}

void watcher_end(struct watcher *w)
{
    while (w->count)
        watched_free(w->all[--w->count]);
    while (waitpid(-1, NULL, 0) > 0)
        ; /* incidents that are being written */
    free(w->all);
}

int watcher_run(struct watcher *w)
{
    int64_t due = 0;
    command_stops();
    death_open(w);
    targets_scan(w);
    if (!w->count && !watch_names(w))
        fail(w->call, "there is no process that this user may watch");
    service_notify("READY=1");
    while (!command_stopped && (w->count || watch_names(w))) {
        int64_t now = watch_now();
        int64_t cost = 2000 * w->scan_cost_ns, least = 2 * w->every_ns;
        if (now - w->scan_ns > (cost > least ? cost : least) || is_missing(w)) {
            w->scan_cost_ns = -watch_cpu();
            targets_scan(w);
            w->scan_cost_ns += watch_cpu();
            w->scan_ns = now;
        }
        for (size_t i = 0; i < w->count; i++)
            if (watched_due(w->all[i]))
                conditions_start(w, w->all[i]);
        if (now >= due) {
            death_lines(w);
            look_at_all(w);
            due = now + w->every_ns;
        }
        wait_until(w, due);
        children_reap(w);
        service_notify("WATCHDOG=1");
    }
    service_notify("STOPPING=1");
    watcher_end(w);
    death_close(w);
    return w->incidents ? STATUS_INCIDENT : 0;
}

int watch_once(struct call *call, char to[1024])
{
    enum { HANG_NS = 1000000000, LOOKS = 40 };
    struct watcher w = {.call = call, .kernel = -1, .signals = -1};
    char words[1024] = "no thread crashed, and in 4 s nothing proved a hang";
    char what[256];
    enum verdict is = VERDICT_NONE;
    int hung;
    w.hang_ns = HANG_NS;
    w.targets[w.targets_count++].pid = call->source.pid;
    targets_scan(&w);
    for (int i = 0; i < LOOKS && w.count && !is; i++) {
        int64_t now = watch_now();
        if (look_take(&w, w.all[0], now))
            is = hang_judge(&w, w.all[0], now, words);
        usleep(100000);
    }
    for (size_t i = 0; w.count && !is && i < w.all[0]->queues_count; i++) {
        const struct queue *q = &w.all[0]->queues[i];
        if (q->bytes && !q->writes && watch_now() - q->since_ns > 2 * HANG_NS) {
            queue_words(q, what); /* since before the first look, perhaps */
            snprintf(words, sizeof words,
                     "in 4 s nothing proved a hang, but %s", what);
            break;
        }
    }
    snprintf(to, 1024, "%s%.*s", is == VERDICT_PERHAPS ? "perhaps " : "",
             (int)strcspn(words, "\n"), words);
    hung = !is ? 0 : w.all[0]->hung > 0 ? w.all[0]->hung : call->source.pid;
    watcher_end(&w);
    return hung;
}
