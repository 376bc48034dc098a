/* hang.c - the verdict on a process that runs, from the looks at it. */
/* SPDX-License-Identifier: MIT */
/*
    STOPPED     all threads are stopped by a signal, or their group is frozen
    D STATE     a thread waits in the kernel, and no signal can end the wait
    DEADLOCK    threads wait for each other, at two looks (recorder threads)
    HANG        work waits in a queue, and no thread takes it: none runs; or a
                thread waits longer than ever at this place; or others run
    SPIN        a thread that used to wait runs in one innermost function, and
                neither waits nor calls the kernel, or spins for a lock; in
                several, or while others run: PERHAPS

   A thread that rests where threads of the process rested as long before is
   idle. So is one that waits for any of several files. If only idle threads
   rest, or a socket's peer does not read, the verdict is PERHAPS.
*/
#include "texts.h"
#include "watch.h"

/* A look at a process, summed up. */
struct state {
    struct watcher *w;
    struct watched *p;
    int64_t now, age;  /* how long the odd thread rests */
    int64_t newest_ns; /* the last time that a thread ran */
    char *to;          /* the verdict in words, 1024 bytes */
    uint64_t before;   /* the unconfirmed verdict of the last look */
    struct task *odd;  /* stopped last where that is unusual; null: none */
    struct task *busy; /* runs without a wait for long; null: none */
    bool still;        /* no thread has run for long */
    bool fresh;        /* a thread is odd since this look */
};

static long long seconds(int64_t ns)
{
    return ns / 1000000000;
}

/* True while the hang of the last verdict lasts. */
static bool lasts(const struct watched *p)
{
    if (p->hung <= 0)
        return (p->hung ? p->unmoved_ns : p->stopped_ns) == p->hung_ns;
    for (size_t i = 0; i < p->tasks_count; i++)
        if (p->tasks[i].id == p->hung)
            return p->tasks[i].still_ns == p->hung_ns ||
                   p->tasks[i].busy_ns == p->hung_ns;
    return false;
}

void hang_again(struct watched *p, int hung, uint64_t mark, enum verdict is)
{
    bool same = hung >= 0 && look_waits(p->pid, hung ? hung : p->pid) == mark &&
                (hung || p->stopped_ns);
    if (hung < 0)
        queues_look(p, p->look_ns);
    for (size_t i = 0; hung < 0 && i < p->queues_count; i++)
        same |= p->queues[i].inode == mark && p->queues[i].bytes;
    if (!same)
        return;
    p->hung = hung;
    p->hung_mark = mark;
    p->hung_ns = p->look_ns;
    p->hung_verdict = is;
}

/* Makes a verdict; `hung` and `since` tell when it is over. */
__attribute__((format(printf, 5, 6))) static enum verdict
verdict_is(struct state *s, enum verdict is, int hung, int64_t since,
           const char *format, ...)
{
    va_list list;
    if (s->p->hung_ns && is <= s->p->hung_verdict)
        return VERDICT_NONE; /* its line is out */
    va_start(list, format);
    vsnprintf(s->to, 1024, format, list);
    va_end(list);
    s->p->hung = hung;
    if (hung >= 0)
        s->p->hung_mark = look_waits(s->p->pid, hung ? hung : s->p->pid);
    s->p->hung_ns = since;
    s->p->hung_verdict = is;
    return is;
}

/* True if the last look had the same result; otherwise the next may. */
static bool agrees(struct state *s, const char *key)
{
    s->p->verdict = text_digest(0, key, strlen(key)) | 1;
    return s->before == s->p->verdict;
}

/* The wait of a thread in words, with its holder: "12 worker waits for mutex
 * table of 13 flusher". */
static void wait_words(const struct watched *p, int thread, char to[512])
{
    char id[16], name[17];
    const char *arguments[] = {"threads", p->id, "--thread", id, NULL};
    char text[8192], *line;
    snprintf(id, sizeof id, "%d", thread);
    watch_run(watch_command, arguments, NULL, text, sizeof text, 20);
    for (line = text; line;
         line = (line = strchr(line, '\n')) ? line + 1 : NULL)
        if (atoi(line) == thread || (*line == 'T' && strstr(line, id))) {
            snprintf(to, 512, "%.*s", (int)strcspn(line, "\n"), line);
            return;
        }
    proc_name(p->pid, thread, name);
    snprintf(to, 512, "thread %d %s", thread, name);
}

/* ------------------------------------------------------- states of kernel -- */

static enum verdict stopped_judge(struct state *s)
{
    struct watched *p = s->p;
    char who[128], text[4096];
    int tracer;
    if (s->now - p->stopped_ns < s->w->hang_ns)
        return VERDICT_NONE;
    proc_text(p->pid, 0, "status", text, sizeof text);
    tracer = (int)proc_number(text, "\nTracerPid:");
    if (tracer && p->state == 't') {
        proc_name(tracer, 0, who);
        return verdict_is(s, VERDICT_PERHAPS, 0, p->stopped_ns,
                          "STOPPED for %lld s by a debugger, %d %s",
                          seconds(s->now - p->stopped_ns), tracer, who);
    }
    if (!death_sender(s->w, p->pid, SIGSTOP, who))
        snprintf(who, sizeof who, "a sender that is not known");
    return verdict_is(s, VERDICT_SURE, 0, p->stopped_ns,
                      "STOPPED for %lld s by a signal of %s",
                      seconds(s->now - p->stopped_ns), who);
}

static bool is_frozen(int pid)
{
    char text[256];
    return watch_group(pid, "freezer", "freezer.state", "cgroup.events", text,
                       sizeof text) &&
           (strstr(text, "frozen 1") || strncmp(text, "FROZEN", 6) == 0);
}

static enum verdict kernel_judge(struct state *s)
{
    struct watched *p = s->p;
    char channel[128], words[512], text[2048];
    /* A freeze makes threads run for a moment, or gives them this state. */
    bool asks = s->still &&
                (s->newest_ns > p->not_frozen_ns || p->state == 'D');
    if (asks && is_frozen(p->pid))
        return agrees(s, "frozen")
                   ? verdict_is(s, VERDICT_SURE, p->tasks[0].id,
                                p->tasks[0].still_ns,
                                "STOPPED: its control group is frozen, and no "
                                "thread has run for %lld s",
                                seconds(s->now - s->newest_ns))
                   : VERDICT_NONE;
    if (asks)
        p->not_frozen_ns = s->now;
    for (size_t i = 0; i < p->tasks_count; i++) {
        struct task *t = &p->tasks[i];
        if (t->idle || s->now - t->still_ns < s->w->hang_ns ||
            *proc_stat(p->pid, t->id, 3, text) != 'D' || !agrees(s, "D"))
            continue;
        proc_text(p->pid, t->id, "wchan", channel, sizeof channel);
        wait_words(p, t->id, words);
        return verdict_is(s, VERDICT_SURE, t->id, t->still_ns,
                          "D STATE for %lld s: in %s of the kernel, which no "
                          "signal ends: %s",
                          seconds(s->now - t->still_ns), channel, words);
    }
    return VERDICT_NONE;
}

/* --------------------------------------------------------------- deadlock -- */

/* The thread that waits for a lock whose holder has ended, in a table of locks;
 * `id`, if the table is cut before it. */
static int lost_waiter(const char *text, int id)
{
    static const char lost[] = "; no thread can release it";
    const char *at = strstr(text, lost);
    if (at && sscanf(at + sizeof lost - 1, " T%*u %d", &id) < 1)
        sscanf(at + sizeof lost - 1, " %*u: %d", &id);
    return id;
}

/* Looks for a circle of waits, or a lock whose holder has ended; less and less
 * often, while nothing changes. Circles of locks that could become one are left
 * out. */
static enum verdict deadlock_judge(struct state *s)
{
    struct watched *p = s->p;
    char text[16384], key[1024], words[512];
    const char *arguments[] = {"threads",  p->id, "--locks", "--check",
                               "--ignore", ".",   NULL};
    int thread = s->odd->id;
    size_t size;
    bool again = p->deadlock;
    p->deadlock = false;
    if (!s->fresh && !again && s->now < p->threads_ns)
        return VERDICT_NONE;
    p->threads_ns = s->now + (s->age > s->w->hang_ns ? s->age : s->w->hang_ns);
    if (watch_run(watch_command, arguments, NULL, text, sizeof text, 30) != 3)
        return VERDICT_NONE;
    if (*text == 'D') { /* and the first threads */
        size = strcspn(text, "\n");
        for (int i = 0; i < 4 && text[size] == '\n' && text[size + 1] != '\n';
             i++)
            size += 1 + strcspn(text + size + 1, "\n");
        snprintf(key, sizeof key, "%.*s", (int)size, text);
    } else {
        thread = lost_waiter(text, thread);
        wait_words(p, thread, words);
        snprintf(key, sizeof key, "DEADLOCK: %s", words);
    }
    p->deadlock = true;
    if (!agrees(s, key))
        return VERDICT_NONE;
    return verdict_is(s, VERDICT_SURE, thread, s->odd->still_ns, "%s", key);
}

/* ------------------------------------------------------------------ queues -- */

static enum verdict queues_judge(struct state *s)
{
    struct watched *p = s->p;
    const struct queue *q = queues_look(p, s->now);
    const struct task *t = s->odd ? s->odd : s->busy ? s->busy : p->tasks;
    char words[512], what[256];
    bool full = false, blocked = false, idle;
    for (size_t i = 0; i < p->queues_count; i++) {
        full |= p->queues[i].full && !p->queues[i].is_pipe;
        blocked |= s->odd && s->odd->call == CALL_WRITE &&
                   s->odd->fd == p->queues[i].fd && p->queues[i].full;
    }
    if (s->still && blocked && agrees(s, "write")) {
        wait_words(p, t->id, words);
        return verdict_is(s, VERDICT_SURE, t->id, t->still_ns,
                          "HANG for %lld s: its output waits for a reader: %s",
                          seconds(s->age), words);
    }
    idle = !s->odd && (s->still || !p->runs);
    if (!q || (idle && q->listens)) /* others may accept */
        return VERDICT_NONE;
    queue_words(q, what);
    if (s->still) {
        if (!agrees(s, "waits"))
            return VERDICT_NONE;
        wait_words(p, t->id, words);
        return verdict_is(s, s->odd && !full ? VERDICT_SURE : VERDICT_PERHAPS,
                          t->id, t->still_ns,
                          "HANG: no thread has run for %lld s, but %s: %s",
                          seconds(s->now - t->still_ns), what, words);
    }
    if (s->now - p->unmoved_ns < s->w->hang_ns ||
        s->now - q->since_ns < s->w->hang_ns ||
        (idle && q->since_ns < p->unmoved_ns)) /* other work was taken since */
        return VERDICT_NONE;
    p->hung_mark = q->inode;
    if (s->odd)
        wait_words(p, t->id, words);
    else
        snprintf(words, sizeof words, "%s, but take nothing",
                 idle ? "threads wait as if idle" : "threads run");
    return verdict_is(s, full || idle ? VERDICT_PERHAPS : VERDICT_SURE, -1,
                      p->unmoved_ns, "HANG: for %lld s %s: %s",
                      seconds(s->now - q->since_ns), what, words);
}

/* ----------------------------------------------------------------- verdict -- */

static void state_find(struct state *s)
{
    struct watched *p = s->p;
    s->still = p->tasks_count > 0;
    for (size_t i = 0; i < p->tasks_count; i++) {
        struct task *t = &p->tasks[i];
        int64_t age = s->now - t->still_ns;
        if (t->still_ns > s->newest_ns)
            s->newest_ns = t->still_ns;
        if (t->busy_ns && s->now - t->busy_ns >= s->w->hang_ns &&
            s->now - t->busy_ns >= 2 * t->spun_ns) {
            t->spun_ns = s->now - t->busy_ns; /* less and less often */
            s->busy = t;
        }
        if (age < s->w->hang_ns) {
            s->still = false;
        } else if (!t->idle && t->rest) {
            if (!s->odd || age < s->age) { /* others may have been idle */
                s->odd = t;
                s->age = age;
            }
            s->fresh |= !t->looked;
            t->looked = true;
        }
    }
}

enum verdict hang_judge(struct watcher *w, struct watched *p, int64_t now,
                        char to[1024])
{
    struct state s = {.w = w, .p = p, .now = now, .to = to};
    enum verdict is = VERDICT_NONE, spin;
    int64_t least = w->hang_ns / 2, cost = 2000 * p->queues_cost_ns;
    bool due = now - p->queues_ns > (cost > least ? cost : least);
    char words[512];
    s.before = p->verdict;
    p->verdict = 0;
    if (p->hung_ns && p->hung < 0 && due)
        queues_look(p, now);
    if (p->hung_ns && !lasts(p)) {
        snprintf(to, 1024, "continues after %lld s", seconds(now - p->hung_ns));
        p->hung_ns = 0;
        p->hung_verdict = VERDICT_NONE;
        return VERDICT_OVER;
    }
    if (p->stopped_ns)
        return stopped_judge(&s);
    state_find(&s);
    if (p->hung_verdict == VERDICT_SURE)
        return VERDICT_NONE;
    if (s.still || s.odd)
        is = kernel_judge(&s);
    if (!is && !p->verdict && s.odd)
        is = deadlock_judge(&s);
    if (!is && !p->verdict && (s.fresh || s.before || due))
        is = queues_judge(&s);
    if (!is && s.busy && (spin = spin_find(p, s.busy, words))) {
        bool polls = !s.busy->slept; /* for work of threads that run */
        for (size_t i = 0; i < p->tasks_count; i++)
            polls |= &p->tasks[i] != s.busy && p->tasks[i].still_ns == now;
        is = verdict_is(&s, polls ? VERDICT_PERHAPS : spin, s.busy->id,
                        s.busy->busy_ns,
                        "SPIN for %lld s without a wait or a system call: %s",
                        seconds(now - s.busy->busy_ns), words);
    }
    if (!is && !p->verdict && s.still && s.odd && p->looks >= LOOKS_LEARNED &&
        s.age > 2 * w->hang_ns) {
        wait_words(p, s.odd->id, words);
        s.odd->idle = true;
        is = verdict_is(&s, VERDICT_PERHAPS, s.odd->id, s.odd->still_ns,
                        "HANG: no thread has run for %lld s, the longest wait "
                        "in this place: %s",
                        seconds(s.age), words);
    }
    return is;
}
