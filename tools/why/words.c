/* words.c - parts as text and as JSON. */
/* SPDX-License-Identifier: MIT */
#include "show.h"
#include "why.h"

static void thread_text(FILE *to, const struct why_track *track)
{
    if (track->lane->number)
        fprintf(to, "T%u ", track->lane->number);
    text_put(to, "%s", track->lane->name);
}

/* "waited for mutex table held by T2 flusher, at main why.c:9" */
static void wait_text(FILE *to, const struct why *w, const struct why_row *row)
{
    static const char *const acts[WAIT_CALL + 1] = {
        [WAIT_CONDITION] = ", signalled by ",
        [WAIT_SEMAPHORE] = ", posted by ",
        [WAIT_BARRIER] = ", reached last by ",
        [WAIT_FUTEX] = ", woken by ",
        [WAIT_THREAD] = ", the end of "};
    const struct wait of = {.kind = row->of->kind, .object = row->of->object};
    uint64_t frames[FRAMES_MAX];
    const unsigned count =
        recorded_frames(w->threads, row->of->stack, 0, frames);
    char object[256];
    if (row->of->call) {
        text_put(to, "waited in %s%s", row->of->call,
                 row->several ? " and others like it" : "");
        fprintf(to,
                row->of->end_ns == NS_UNKNOWN ? ", not returned"
                : row->of->asked ? ", returned %" PRId64 " of %" PRIu64
                                 : ", returned %" PRId64,
                row->of->returned, row->of->asked);
        if (row->of->result)
            fprintf(to, ", %s", strerror(row->of->result));
    } else {
        show_object(w->threads, &of, object);
        text_put(to, "waited for %s %s%s", show_kind(of.kind), object,
                 row->several ? " and others like it" : "");
    }
    if (row->other) {
        fputs(acts[of.kind] ? acts[of.kind] : " held by ", to);
        thread_text(to, row->other);
        fputs(row->others ? " and others" : "", to);
    }
    show_frames(to, w->threads, ", at ", frames, count, 2);
}

static void row_text(FILE *to, const struct why *w, const struct why_row *row)
{
    static const char *const reasons[] = {
        [WHY_RAN] = "ran on a CPU",
        [WHY_READY] = "was ready, and waited for a CPU",
        [WHY_THREAD] = "on that CPU, this thread ran: ",
        [WHY_OTHERS] = "on that CPU, another program or the kernel ran",
        [WHY_BLOCKED] = "was blocked by a call, a page fault or a stop",
        [WHY_FAULTS] = "ran on a CPU, with a page fault each ",
        [WHY_DISK] = "waited for a page of a file or a disk",
        [WHY_STOPPED] = "was stopped by a signal or a debugger",
        [WHY_UNKNOWN] = "not known"};
    char time[32];
    if (row->of) {
        wait_text(to, w, row);
        return;
    }
    fputs(reasons[row->kind], to);
    if (row->kind == WHY_FAULTS)
        fputs(table_time(
                  (uint64_t)((double)(row->ns[0] + row->ns[1]) / row->faults),
                  time),
              to);
    if (row->other)
        thread_text(to, row->other);
}

/* The sequence numbers of the records around a row's longest part, the lower one
 * first: a record of a switch has a later number than its neighbours in time. */
static void records_of(const struct why_row *row, uint64_t *from, uint64_t *to)
{
    bool ascend = row->first.order <= row->last.order;
    *from = ascend ? row->first.order : row->last.order;
    *to = ascend ? row->last.order : row->first.order;
}

/* Prints rows; rows of other threads begin with the thread. `all`: the length
 * of the span; or of several, the difference of slow ones and typical ones. */
static void rows_print(const struct why *w, const struct why_row *of,
                       const size_t counts[2], double all, int depth)
{
    for (size_t i = 0; i < of->rows_count; i++) {
        const struct why_row *row = &of->rows[i];
        double share = (double)row->ns[0] / (double)counts[0];
        uint64_t from, to;
        char time[32], records[48];
        if (counts[1])
            share = (double)row->ns[1] / (double)counts[1] - share;
        if ((depth || counts[1]) && share * 100 < all)
            continue;
        printf("%6.1f %% %10s", all > 0 ? 100 * share / all : 0,
               table_time(row->ns[0] / counts[0], time));
        if (counts[1])
            printf(" %10s", table_time(row->ns[1] / counts[1], time));
        records_of(row, &from, &to);
        snprintf(records, sizeof records, "%" PRIu64 "-%" PRIu64, from, to);
        printf("  %-15s %*s", records, 2 * depth, "");
        if (depth && row->kind != WHY_THREAD && row->kind != WHY_OTHERS) {
            thread_text(stdout, row->track);
            fputs(row->tracks ? " and others " : " ", stdout);
        }
        row_text(stdout, w, row);
        putchar('\n');
        rows_print(w, row, counts, all, depth + 1);
    }
}

static void rows_json(const struct why *w, const struct why_row *of)
{
    static const char *const words[] = {"ran",  "ready",   "thread",  "others",
                                        "wait", "blocked", "unknown", "faults",
                                        "disk", "stopped"};
    printf(",\"parts\":[");
    for (size_t i = 0; i < of->rows_count; i++) {
        const struct why_row *row = &of->rows[i];
        uint64_t first, last;
        char *text = NULL;
        size_t size;
        FILE *to = need(open_memstream(&text, &size));
        row_text(to, w, row);
        need_done(fclose(to) == 0);
        records_of(row, &first, &last);
        fputs(i ? "," : "", stdout);
        json_put(stdout,
                 "{'what':%s,'text':%s,'ns':%" PRIu64 ",'slow_ns':%" PRIu64
                 ",'count':%" PRIu64 ",'from':%" PRIu64 ",'to':%" PRIu64
                 ",'since_ns':%" PRId64 ",'until_ns':%" PRId64 ",'thread':%u",
                 words[row->kind], text, row->ns[0], row->ns[1], row->count,
                 first, last, (int64_t)row->first.ns + w->timeline.start_ns,
                 (int64_t)row->last.ns + w->timeline.start_ns,
                 (row->other ? row->other : row->track)->lane->number);
        free(text);
        rows_json(w, row);
        putchar('}');
    }
    putchar(']');
}

char *why_title(const struct reader_event *e, const char *message)
{
    return need_text("%s: %s", e->recorder->shown, timeline_span_name(message));
}

static char *title_of(struct why *w, const struct why_span *span)
{
    struct reader_event e;
    size_t size;
    timeline_rewind(&w->timeline);
    while (span->recorder && reader_next(&w->call->reader, &e))
        if (e.event.order == span->order)
            return why_title(&e, reader_message(&w->call->reader, &e, &size));
    return need(strdup(span->name));
}

void why_show(struct why *w, const struct why_span *span, bool json)
{
    const struct why_track *track = &w->tracks[span->track];
    struct why_row row = {0};
    char time[32], *title = title_of(w, span);
    why_parts(w, &row, span);
    if (json) {
        json_put(stdout,
                 "{'span':%s,'thread':%u,'from':%" PRIu64 ",'to':%" PRIu64
                 ",'ns':%" PRIu64,
                 title, track->lane->number, span->order, span->end_order,
                 span->ns);
        rows_json(w, &row);
        puts("}");
    } else {
        text_put(stdout, "%s, ", title);
        thread_text(stdout, track);
        printf(": %s, records %" PRIu64 " to %" PRIu64 "\n",
               table_time(span->ns, time), span->order, span->end_order);
        puts("   SHARE       TIME  RECORDS         REASON");
        rows_print(w, &row, (const size_t[2]){1, 0}, (double)span->ns, 0);
    }
    free(title);
    why_free(&row);
}

/* Adds the spans of some ranks by length. Returns the last one's length. */
static uint64_t ranks_add(struct why *w, struct why_row *to,
                          const struct why_span *span, size_t from,
                          size_t until)
{
    const char *name = span->name;
    uint64_t ns = 0;
    for (size_t rank = 0; rank < until; span++)
        if (span->name == name && rank++ >= from) {
            why_parts(w, to, span);
            ns = span->ns;
        }
    return ns;
}

/* Returns how much longer the slowest spans take, by the parts that take longer in
 * these: lives of threads are equally long, and their parts are not. */
static double more_in_all(const struct why_row *of, const size_t counts[2])
{
    double all = 0;
    for (size_t i = 0; i < of->rows_count; i++) {
        double more = (double)of->rows[i].ns[1] / (double)counts[1] -
                      (double)of->rows[i].ns[0] / (double)counts[0];
        all += more > 0 ? more : 0;
    }
    return all;
}

void why_compare(struct why *w, const struct why_span *first, bool json)
{
    const struct why_span *span = w->spans.at, *last = span + w->spans.count;
    size_t count = 0, wide, counts[2];
    uint64_t median, slowest;
    struct why_row row = {0};
    char times[2][32];
    while (span->name != first->name)
        span++;
    if (span != first)
        return;
    for (; span < last; span++)
        count += span->name == first->name;
    if (count < 2)
        return;
    wide = count / 20;
    counts[0] = 2 * wide + 1;
    counts[1] = count < 100 ? 1 : count / 100;
    w->column = 1;
    slowest = ranks_add(w, &row, first, 0, counts[1]);
    w->column = 0;
    median = ranks_add(w, &row, first, count / 2 - wide, count / 2 + wide + 1);
    if (json) {
        json_put(stdout,
                 "{'name':%s,'spans':%zu,'usual_spans':%zu,'slow_spans':%zu"
                 ",'ns':%" PRIu64 ",'slow_ns':%" PRIu64,
                 first->name, count, counts[0], counts[1], row.ns[0],
                 row.ns[1]);
        rows_json(w, &row);
        puts("}");
    } else {
        text_put(stdout, "%s: %zu spans, usually %s, slowest 1 %% from %s on\n",
                 first->name, count, table_time(median, times[0]),
                 table_time(slowest, times[1]));
        puts("    MORE      USUAL    SLOWEST  RECORDS         REASON");
        rows_print(w, &row, counts, more_in_all(&row, counts), 0);
        putchar('\n');
    }
    why_free(&row);
}
