/* naming.c - arguments that are names, or that differ from run to run. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

/* A word that an argument's name is, or ends with after a `_`; or that comes
 * before its conversion. */
static const char *const names[] = {
    "on",      "fd",   "sock",   "socket", "conn",   "connection",
    "id",      "pid",  "tid",    "port",   "handle", "thread",
    "session", "peer", "client", "addr",   "ptr",    "worker",
    "inode",   "seed", "uid",    "uuid"};
static const char *const chances[] = {
    "ns",   "us",    "ms",      "s",    "sec",  "secs",    "seconds", "nsec",
    "usec", "msec",  "time",    "date", "took", "elapsed", "cycles",  "ticks",
    "now",  "start", "started", "cpu",  "rss",  "load",    "uptime"};
/* The length of a queue, or how many of some are free. */
static const char *const gauges[] = {
    "queue", "queued",  "backlog",  "pending", "depth",  "length", "left",
    "wait",  "waiting", "inflight", "flight",  "active", "busy",   "idle",
    "free",  "use",     "ready",    "mailbox", "tokens", "credit"};

/* A record before a wait. */
static const char *const waits[] = {"wait", "idle",     "sleep",
                                    "park", "block on", "poll"};

static bool is_word(const char *name, size_t size, const char *const *words,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(words[i]);
        if (length <= size &&
            strncasecmp(name + size - length, words[i], length) == 0 &&
            (length == size || name[size - length - 1] == '_'))
            return true;
    }
    return false;
}

/* The words around the conversion of an argument: "session" of "session %#x",
 * "ns" of "%ld ns". */
struct around {
    const char *before, *after;
    size_t before_size, after_size;
};

static struct around around(const char *format, unsigned argument)
{
    struct around a = {.before = "", .after = ""};
    const char *at = format, *end;
    for (unsigned i = 0; (end = at = strchr(at, '%'));) {
        at += 1 + strcspn(at + 1, "%diuoxXfFeEgGaAcsp");
        if (!*at)
            return a;
        if (*at++ == '%' || i++ != argument)
            continue;
        a.after = at + strspn(at, " ");
        a.after_size = strspn(a.after, "abcdefghijklmnopqrstuvwxyz");
        while (end > format && strchr(" #=:", end[-1]))
            end--;
        for (a.before = end; a.before > format && isalpha(a.before[-1]);)
            a.before--;
        if (a.before == format || !strchr("%.0123456789-+l", a.before[-1]))
            a.before_size = (size_t)(end - a.before);
        return a;
    }
    return a;
}

#define IS_WORD(word, size, words)                                             \
    is_word(word, size, words, sizeof(words) / sizeof *(words))

enum naming naming_of(const char *name, const char *format, unsigned argument)
{
    struct around a = around(format, argument);
    if (name) {
        a.before = name;
        a.before_size = strlen(name);
    }
    if (IS_WORD(a.before, a.before_size, names))
        return NAMING_NAME;
    if (IS_WORD(a.before, a.before_size, chances) ||
        is_word(a.after, a.after_size, chances, 8))
        return NAMING_CHANCE;
    return NAMING_NONE;
}

bool naming_is_gauge(const struct compare_format *f, unsigned argument)
{
    struct around a = around(f->text, argument);
    if (strncmp(a.after, "in ", 3) == 0) { /* "%u in flight" */
        a.after += 3;
        a.after_size = strspn(a.after, "abcdefghijklmnopqrstuvwxyz");
    }
    return IS_WORD(a.before, a.before_size, gauges) ||
           IS_WORD(a.after, a.after_size, gauges);
}

bool naming_is_wait(const struct compare_format *f)
{
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (strcasestr(f->text, waits[i]))
            return true;
    return false;
}

static bool is_address(struct call *call, uint64_t word)
{
    return (word >= 0x500000000000u && word <= 0x7fffffffffffu) ||
           (word >= 65536 && module_at(&call->source, word));
}

static bool is_own(const struct reader *reader, uint64_t word)
{
    if (word <= 300 || word > 1 << 22)
        return false;
    for (size_t i = 0; i < reader->threads_count && i < 64; i++)
        if ((uint64_t)(uint32_t)reader->threads[i].id == word)
            return true;
    return word == reader->pid;
}

void naming_keep(struct call *call, struct compare_value *v, const char *text)
{
    if (v->kind == READER_STRING && strstr(text, "tmp"))
        v->naming = NAMING_CHANCE; /* of mkstemp() */
    else if (v->kind == READER_POINTER ||
             (v->kind < READER_REAL &&
              (is_address(call, v->word) || is_own(&call->reader, v->word))))
        v->naming = v->word ? NAMING_NAME : NAMING_NULL;
}

enum naming value_naming(const struct compare *c, enum compare_side side,
                         size_t event, unsigned argument)
{
    const struct history *h = &c->of[side];
    const struct compare_event *e = &h->events[event];
    const struct compare_value *v = history_value(h, event, argument);
    enum naming naming = c->formats[e->format].naming[argument];
    if (v->naming)
        return v->naming;
    if (v->kind == READER_STRING || v->kind == READER_LOST ||
        v->kind == READER_REAL)
        return naming == NAMING_CHANCE ? naming : NAMING_NONE;
    return naming;
}

/* --------------------------------------------------------------- handles -- */

struct argument {
    size_t format;
    unsigned which;
};
enum { HANDLES = 4096, SAMPLE = 20000 /* events of GOOD's first run */ };

static enum naming *naming_at(const struct compare *c, struct argument a)
{
    return &c->formats[a.format].naming[a.which];
}

/* Does one argument open numbers that another closes, three or more at a time,
 * 32 or more, each of them four times, or each above the last? `in`: is that
 * argument always an open one? Threads race: one in 100 may be wrong. */
static bool is_handle(const struct compare *c, struct argument open,
                      struct argument close, const struct argument *in)
{
    const struct history *h = &c->of[GOOD];
    bool is_open[HANDLES] = {false}, was[HANDLES] = {false};
    size_t of[2] = {0, 0}, most = 0, kinds = 0, wrong = 0, uses = 0, ups = 0;
    uint64_t last = 0;
    for (size_t i = 0; i < h->runs[0].end && i < SAMPLE; i++) {
        const struct compare_event *e = &h->events[i];
        bool opens = e->format == open.format,
             use = in && e->format == in->format;
        unsigned which = opens ? open.which : use ? in->which : close.which;
        const struct compare_value *v = &h->values[e->values + which];
        if (!opens && !use && e->format != close.format)
            continue;
        uses += use || !in;
        if (which >= e->count || v->word >= HANDLES ||
            (v->kind != READER_SIGNED && v->kind != READER_UNSIGNED))
            return false;
        if (is_open[v->word] == opens && (use || !in) &&
            ++wrong * 100 > 100 + uses)
            return false;
        if (use)
            continue;
        kinds += !was[v->word];
        ups += opens && v->word > last;
        last = opens ? v->word : last;
        was[v->word] = true;
        is_open[v->word] = opens;
        of[opens]++;
        most = of[1] > of[0] + most ? of[1] - of[0] : most;
    }
    return in ? uses > 0
              : of[1] >= 32 && of[0] * 10 >= of[1] * 9 &&
                    (kinds * 4 <= of[1] || ups + 1 >= of[1]) && most >= 3;
}

static bool may_be_handle(const struct compare *c, struct argument a)
{
    const struct compare_format *f = &c->formats[a.format];
    return f->watched[GOOD] >= 32 && !f->scheduler &&
           a.which < c->of[GOOD].events[f->first[GOOD]].count &&
           f->naming[a.which] != NAMING_CHANCE;
}

void naming_find_handles(struct compare *c)
{
    struct argument *all = need(calloc(c->formats_count * 12 + 1, sizeof *all));
    size_t count = 0, i, k, n;
    for (i = 0; i < c->formats_count * 12; i++) {
        all[count] = (struct argument){i / 12, (unsigned)(i % 12)};
        count += may_be_handle(c, all[count]);
    }
    for (i = 0; i < count; i++)
        for (k = 0; k < count; k++) {
            if (all[i].format == all[k].format ||
                *naming_at(c, all[k]) == NAMING_NAME ||
                !is_handle(c, all[i], all[k], NULL))
                continue;
            *naming_at(c, all[i]) = *naming_at(c, all[k]) = NAMING_NAME;
            for (n = 0; n < count; n++)
                if (all[n].format != all[i].format &&
                    all[n].format != all[k].format &&
                    is_handle(c, all[i], all[k], &all[n]))
                    *naming_at(c, all[n]) = NAMING_NAME;
        }
    free(all);
}
