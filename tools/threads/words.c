/* words.c - the events of `recorder run` in words, with names. */
/* SPDX-License-Identifier: MIT */
#include "entry.h"
#include "show.h"

/* The last addresses with their names, and waits with their beginnings. A
 * pthread_t is named as its thread. */
struct name_entry {
    char name[96];
    int64_t begun_ns;
};

/* The entry of an address or of a thread's wait, empty if it is new. A full
 * table begins again, so that a follower's memory stays bounded. */
static struct name_entry *name_entry_at(const struct call *call, uint64_t key)
{
    enum { MAX = 65536 };
    static struct ids ids;
    static struct name_entry *all;
    bool is_new;
    if (!all || ids.count == MAX) {
        ids_free(&ids);
        free(all);
        all = need(calloc(MAX, sizeof *all));
    }
    return &all[ids_add(&ids, (uintptr_t)call, key, 0, &is_new)];
}

static const char *name_of(struct call *call, uint64_t address)
{
    struct name_entry *k = name_entry_at(call, address);
    if (!*k->name && !place_variable(source_dwfl(&call->source), address,
                                     k->name, sizeof k->name))
        snprintf(k->name, sizeof k->name, "0x%" PRIx64, address);
    return k->name;
}

/* Writes "T2 flusher" of a thread with a number or, if this is 0, a kernel id,
 * after some words; nothing of neither. */
static void add_thread(const struct call *call, FILE *to, const char *before,
                       uint64_t number, uint64_t id, uint64_t order)
{
    const struct reader_thread *found = NULL, *t = call->reader.threads;
    for (size_t i = 0; i < call->reader.threads_count; i++, t++)
        if (number ? t->number == number
                   : id && t->id == (int32_t)id && t->first <= order)
            found = t;
    if (found)
        fprintf(to, "%sT%u%s%s", before, found->number, *found->name ? " " : "",
                found->name);
    else if (number || id)
        fprintf(to, "%s%s%" PRIu64, before, number ? "T" : "thread ",
                number ? number : id);
}

/* Names a thread by its pthread_t, which event `started` has. */
static void thread_note(struct call *call, const struct reader_event *e)
{
    snprintf(name_entry_at(call, e->event.argument[2])->name, 96, "T%u%s%.16s",
             e->event.thread, e->thread ? " " : "",
             e->thread ? e->thread->name : "");
}

/* Names all threads: the first wait for a thread may precede its start. */
static void threads_note(struct call *call)
{
    static const struct call *noted;
    struct reader all;
    struct reader_event e;
    const struct reader_selection lives = {.names = "thread_life"};
    if (noted == call ||
        reader_open(&all, call->source.memory, call->reader.registry))
        return;
    noted = call;
    if (!reader_select(&all, &lives) && !reader_take(&all))
        while (reader_next(&all, &e))
            if (e.kind && strcmp(e.kind, RUN_SCHEMA " started") == 0)
                thread_note(call, &e);
    reader_close(&all);
}

/* Writes " in read 5 /tmp/file", and the result at the end. */
static void call_words(struct call *call, FILE *to,
                       const struct reader_event *e, bool begins)
{
    const uint64_t *words = e->event.argument;
    char file[512] = "";
    const char *location,
        *format = reader_format(&call->reader, &e->event, &location);
    reader_word_text(&call->reader, e, 0, file, sizeof file);
    if (format && *format)
        fprintf(to, " in %.*s%s", (int)strcspn(format + 1, "%"), format + 1,
                file);
    if (begins)
        return;
    fprintf(to, ", returned %d", (int)words[1]);
    if (words[2])
        fprintf(to, " of %" PRIu64, words[2]);
    if (words[3])
        fprintf(to, ", %s", strerror((int)words[3]));
}

static void wait_words(struct call *call, FILE *to, enum wait_kind is,
                       const struct reader_event *e, bool begins)
{
    const uint64_t *words = e->event.argument;
    struct name_entry *wait =
        name_entry_at(call, words[0] ^ (uint64_t)e->event.thread << 48 ^ 1);
    int64_t ns = e->ns - wait->begun_ns;
    char time[32];
    if (begins)
        wait->begun_ns = e->ns;
    fputs(begins ? "waits" : "waited", to);
    if (!begins)
        fprintf(to, " %s",
                wait->begun_ns > 0 && ns >= 0 ? table_time((uint64_t)ns, time)
                                              : "some time");
    if (is == WAIT_CALL) {
        call_words(call, to, e, begins);
        return;
    }
    if (is == WAIT_THREAD && !*name_entry_at(call, words[0])->name)
        threads_note(call);
    fprintf(to, " for %s %s", show_kind(is), name_of(call, words[0]));
    if (begins && is == WAIT_CONDITION)
        fprintf(to, " with mutex %s", name_of(call, words[1]));
    else if (begins)
        add_thread(call, to, ", held by ", 0, words[1], e->event.order);
    else
        add_thread(call, to, ", ended by ", words[2], 0, 0);
    if (!begins && words[1])
        fprintf(to, ", result %d", (int)words[1]);
}

const char *event_title(const char *kind, const char *format, char *to)
{
    struct entry entry = {.is = RUN_EVENT_NONE};
    size_t size = strcspn(format, "%:");
    const char *verb;
    heading_read(&entry, kind);
    verb = entry.is == RUN_EVENT_begins ? "waits" : "waited";
    if (!size || (entry.is != RUN_EVENT_begins && entry.is != RUN_EVENT_ends))
        snprintf(to, 64, "%.*s",
                 (int)(size - (size && format[size - 1] == ' ')), format);
    else if (entry.kind == WAIT_CALL)
        snprintf(to, 64, "%s in %.*s", verb, (int)size - 1, format + 1);
    else
        snprintf(to, 64, "%s for %s", verb, show_kind(entry.kind));
    return to;
}

size_t event_words(void *context, const struct reader_event *e, char *to,
                   size_t max)
{
    struct call *call = context;
    const uint64_t *words = e->event.argument;
    struct entry entry = {.is = RUN_EVENT_NONE};
    size_t size;
    FILE *file = NULL;
    if (!heading_read(&entry, e->kind) || e->event.missing_arguments & 15 ||
        !(file = fmemopen(to, max, "w")))
        return 0;
    *to = '\0';
    if (entry.is == RUN_EVENT_begins || entry.is == RUN_EVENT_ends) {
        wait_words(call, file, entry.kind, e, entry.is == RUN_EVENT_begins);
    } else if (entry.is == RUN_EVENT_create && !words[2]) {
        fprintf(file, "makes a thread: %s", name_of(call, words[0]));
    } else if (entry.is == RUN_EVENT_started) {
        fprintf(file, "starts %s", name_of(call, words[0]));
        add_thread(call, file, ", made by ", words[3], 0, 0);
        thread_note(call, e);
    } else if (entry.is == RUN_EVENT_named) {
        const char *whose = name_of(call, words[1]);
        char name[96] = "";
        reader_word_text(&call->reader, e, 0, name, sizeof name);
        if (*whose == 'T' && strtoul(whose + 1, NULL, 10) == e->event.thread)
            fprintf(file, "takes the name %s", name);
        else
            fprintf(file, "gives %s the name %s", whose, name);
    } else if (entry.is == RUN_EVENT_ended) {
        fputs("ends", file);
    } else if (entry.is == RUN_EVENT_joined && !words[1]) {
        fprintf(file, "joins %s", name_of(call, words[0]));
    }
    fclose(file);
    size = strlen(to);
    memmove(to, text_shown(to, &size), size);
    to[size] = '\0';
    return size;
}
