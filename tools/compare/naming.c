/* naming.c - arguments that are names, or that differ from run to run. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <ctype.h>

/* A word that an argument's name is, or ends with after a `_`. */
static const char *const names[] = {
    "fd",   "sock", "socket", "conn",   "connection", "id",   "pid",
    "tid",  "port", "handle", "thread", "session",    "peer", "client",
    "addr", "ptr",  "worker", "inode",  "seed",       "uid",  "uuid"};
static const char *const chances[] = {
    "ns",   "us",    "ms",      "s",    "sec",  "secs",    "seconds", "nsec",
    "usec", "msec",  "time",    "date", "took", "elapsed", "cycles",  "ticks",
    "now",  "start", "started", "cpu",  "rss",  "load",    "uptime"};

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

/* True if a unit of time follows the conversion of an argument: "%ld ns". */
static bool has_unit(const char *format, unsigned argument)
{
    const char *at = format;
    for (unsigned i = 0; (at = strchr(at, '%'));) {
        at += 1 + strcspn(at + 1, "%diuoxXfFeEgGaAcsp");
        if (!*at)
            return false;
        if (*at++ == '%' || i++ != argument)
            continue;
        at += strspn(at, " ");
        return is_word(at, strspn(at, "abcdefghijklmnopqrstuvwxyz"), chances,
                       8);
    }
    return false;
}

enum naming naming_of(const char *name, const char *format, unsigned argument)
{
    size_t size = name ? strlen(name) : 0;
    if (size && is_word(name, size, names, sizeof names / sizeof *names))
        return NAMING_NAME;
    if ((size &&
         is_word(name, size, chances, sizeof chances / sizeof *chances)) ||
        has_unit(format, argument))
        return NAMING_CHANCE;
    return NAMING_NONE;
}

static bool is_address(const struct compare *c, enum compare_side side,
                       size_t event, uint64_t word)
{
    struct compare_run *run =
        &c->of[side].runs[history_run(&c->of[side], event)];
    return (word >= 0x500000000000u && word <= 0x7fffffffffffu) ||
           (word >= 65536 && module_at(&run->call->source, word));
}

bool value_is_own(const struct compare *c, enum compare_side side, size_t event,
                  uint64_t word)
{
    const struct compare_run *run =
        &c->of[side].runs[history_run(&c->of[side], event)];
    const struct reader *reader = &run->call->reader;
    if (word <= 300 || word > 1 << 22)
        return false;
    if (word == reader->pid)
        return true;
    for (size_t i = 0; i < reader->threads_count && i < 64; i++)
        if ((uint64_t)(uint32_t)reader->threads[i].id == word)
            return true;
    return false;
}

enum naming value_naming(const struct compare *c, enum compare_side side,
                         size_t event, unsigned argument)
{
    const struct history *h = &c->of[side];
    const struct compare_event *e = &h->events[event];
    const struct compare_value *v = &h->values[e->values + argument];
    enum naming naming = c->formats[e->format].naming[argument];
    if (v->kind == READER_STRING || v->kind == READER_LOST ||
        v->kind == READER_REAL)
        return naming == NAMING_CHANCE ? naming : NAMING_NONE;
    if (v->kind == READER_POINTER || is_address(c, side, event, v->word))
        return v->word ? NAMING_NAME : NAMING_NULL;
    return naming;
}
