/* ps.c - recorder ps: the processes that have recorders. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "print.h"
#include "proc.h"

enum { OPTION_INTERVAL = OPTION_OWN, OPTION_BRIEF };

/* A process with recorders, open. Its rings are copied only when it is shown,
 * so that the rings of one process are in memory at a time. */
struct found {
    int pid;
    char program[PROGRAM_NAME_MAX];
    struct source source;
    struct reader reader;
    uint64_t order, order_ns; /* at the first look */
};

struct all {
    struct found **at;
    size_t count, max;
    size_t hidden; /* processes that may not be read */
};

/* Opens a process; false: it has no recorders, or may not be read. */
static bool found_open(struct all *all, int pid, struct found *found)
{
    static const struct source_how how;
    char name[16];
    const char *wrong;
    snprintf(name, sizeof name, "%d", pid);
    wrong = source_open(&found->source, name, &how);
    if (wrong) {
        all->hidden += strstr(wrong, "may not be read") != NULL;
        return false;
    }
    if (found->source.registries &&
        !reader_open(&found->reader, found->source.memory,
                     found->source.registry)) {
        if (found->reader.recorders_count && program_name(pid, found->program))
            return true;
        reader_close(&found->reader);
    }
    source_close(&found->source);
    return false;
}

static void all_find(struct all *all)
{
    int *pids;
    size_t count = proc_ids("/proc", &pids);
    for (size_t i = 0; i < count; i++) {
        struct found *found = need(calloc(1, sizeof *found));
        if (pids[i] == getpid() || !found_open(all, pids[i], found)) {
            free(found);
            continue;
        }
        found->pid = pids[i];
        found->order_ns = recorder_clock_ns_(RECORDER_MONOTONIC_);
        reader_order(&found->reader, &found->order);
        *array_add(all->at, all->count, all->max) = found;
    }
    free(pids);
}

/* The columns of a process. */
struct figures {
    uint64_t kept;
    int64_t span_ns;       /* from the oldest to the newest; below 0: unknown */
    double rate;           /* records per second; below 0: unknown */
    bool estimated;        /* it, as some records take several slots */
    const char *recording; /* its path; null: there is none */
    char *unheeded;        /* why not, if it was asked for; or null */
};

/* The rate counts the sequence numbers handed out since the first look, of
 * which a record may take several. */
static void figures_rate(struct figures *f, struct found *found, uint64_t whole,
                         uint64_t begun)
{
    uint64_t now = recorder_clock_ns_(RECORDER_MONOTONIC_), order;
    double seconds = (double)(now - found->order_ns) / 1e9;
    f->rate = -1;
    if (!reader_order(&found->reader, &order) || seconds <= 0)
        return;
    order = (order - found->order) &
            (found->source.memory->word_bytes == 4 ? UINT32_MAX : UINT64_MAX);
    f->rate = (double)order / seconds;
    f->estimated = order && whole != begun;
    if (f->estimated)
        f->rate *= (double)begun / (double)whole;
}

static void figures_get(struct figures *f, struct found *found)
{
    struct reader *reader = &found->reader;
    struct memory *memory = found->source.memory;
    int64_t oldest = INT64_MAX, newest = INT64_MIN;
    uint64_t whole = 0, begun = 0;
    *f = (struct figures){.span_ns = -1};
    if (!reader_take(reader))
        reader_count(reader);
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        const struct module *m = module_at(&found->source, r->rings);
        if (r->wrong)
            continue;
        f->kept += r->figures.kept;
        whole += r->whole;
        begun += r->begun;
        if (r->figures.kept && r->oldest_ns != RECORDER_TIME_UNKNOWN_ &&
            r->oldest_ns < oldest)
            oldest = r->oldest_ns;
        if (r->figures.kept && r->newest_ns > newest)
            newest = r->newest_ns;
        if (m && memory->stays && memory->stays(memory, r->rings, 1))
            f->recording = m->path;
    }
    if (oldest <= newest)
        f->span_ns = (int64_t)((uint64_t)newest - (uint64_t)oldest);
    f->unheeded = program_without_file(found->pid, reader);
    figures_rate(f, found, whole, begun);
}

/* -------------------------------------------------------------- printing -- */

/* Makes "net, disk, and 7 more", in pieces that are escaped. */
static char *names_of(const struct reader *reader)
{
    enum { SHOWN = 8 };
    char *text;
    size_t size, count = reader->recorders_count;
    FILE *to = need(open_memstream(&text, &size));
    for (size_t i = 0; i < count && (i < SHOWN || count == SHOWN + 1); i++)
        text_put(to, i ? ", %s" : "%s", reader->recorders[i]->name);
    if (count > SHOWN + 1)
        fprintf(to, ", and %zu more", count - SHOWN);
    fclose(to);
    return need(text);
}

static void line_show(const struct found *found, const struct figures *f,
                      int width, int names_width)
{
    char rate[32] = "-", span[32] = "-", *names = names_of(&found->reader);
    if (f->rate >= 0)
        snprintf(rate, sizeof rate, "%s%.1f", f->estimated ? "~" : "", f->rate);
    if (f->span_ns >= 0)
        table_time((uint64_t)f->span_ns, span);
    text_put(stdout, "%7d  %-*s %12s %10" PRIu64 " %12s  %-*s  %s", found->pid,
             width, found->program, rate, f->kept, span, names_width, names,
             f->recording ? f->recording : "-");
    free(names);
    if (f->unheeded)
        printf(" (recorder list %d says why)", found->pid);
    putchar('\n');
}

static void json_show(const struct found *found, const struct figures *f)
{
    json_put(stdout, "{'pid':%d,'program':%s,'records_per_second':", found->pid,
             found->program);
    printf(f->rate >= 0 ? "%.1f" : "null", f->rate);
    json_count("kept", f->kept, true);
    json_count("span_ns", (uint64_t)f->span_ns, f->span_ns >= 0);
    json_put(stdout, ",'recording':%s", f->recording);
    if (f->unheeded)
        json_put(stdout, ",'no_recording':%s", f->unheeded);
    fputs(",\"recorders\":[", stdout);
    for (size_t i = 0; i < found->reader.recorders_count; i++)
        json_put(stdout, i ? ",%s" : "%s", found->reader.recorders[i]->name);
    puts("]}");
}

static void brief_show(const struct found *found)
{
    text_put(stdout, "%d %s\n", found->pid, found->program);
}

/* Shows all, and closes each after its line. */
static void all_show(struct call *call, struct all *all)
{
    bool as_json = call_option(call, 'j'),
         brief = call_option(call, OPTION_BRIEF);
    struct figures figures;
    int width = 7, names_width = 9;
    for (size_t i = 0; i < all->count; i++) {
        char *names = names_of(&all->at[i]->reader);
        if ((int)strlen(names) > names_width)
            names_width = (int)strlen(names);
        free(names);
        width = table_width(all->at[i]->program, width);
    }
    if (all->count && !as_json && !brief)
        printf("%7s  %-*s %12s %10s %12s  %-*s  RECORDING\n", "PID", width,
               "PROGRAM", "RECORDS/S", "KEPT", "SPAN", names_width,
               "RECORDERS");
    for (size_t i = 0; i < all->count; i++) {
        struct found *found = all->at[i];
        if (brief) {
            brief_show(found);
        } else {
            figures_get(&figures, found);
            if (as_json)
                json_show(found, &figures);
            else
                line_show(found, &figures, width, names_width);
            free(figures.unheeded);
        }
        reader_close(&found->reader);
        source_close(&found->source);
        free(found);
    }
    free(all->at);
}

static int ps(struct call *call)
{
    const char *interval = call_option(call, OPTION_INTERVAL);
    int64_t ns = 200000000;
    struct all all = {0};
    if (interval && (!span_of(interval, &ns) || ns <= 0))
        misuse(call, "--interval %s: is no time like 1s or 200ms", interval);
    if (call->arguments_count)
        misuse(call, "%s: it takes no SOURCE", call->arguments[0]);
    all_find(&all);
    if (all.count && !call_option(call, OPTION_BRIEF))
        sleep_ns((uint64_t)ns);
    if (!all.count && !call_option(call, OPTION_BRIEF))
        warn(NULL, access("/proc/self", F_OK) == 0
                       ? "no process that may be read has recorders"
                       : "/proc is not mounted here");
    if (all.hidden && !call_option(call, OPTION_BRIEF))
        warn(NULL, "%zu process%s may not be read by this user", all.hidden,
             all.hidden == 1 ? "" : "es");
    all_show(call, &all);
    return all.count ? 0 : 1;
}

static const struct option_row rows[] = {
    {OPTION_INTERVAL, "interval", "TIME",
     "count RECORDS/S of all for this time: 200ms"},
    {OPTION_BRIEF, "brief", NULL, "ids and programs alone, at once"},
    {'j', "json", NULL, "one JSON object a line"},
    {0, NULL, NULL, NULL}};

const struct verb verb_ps = {
    .name = "ps",
    .arguments = "",
    .summary = "lists the processes that have recorders",
    .help = "Shows, of each process, the records per second, the number of "
            "kept records, the time from the oldest to the newest, the "
            "recorders, and the recording, if any. A program's name is a SOURCE, too, if "
            "only one process has it. Exit status 1: no process found.",
    .rows = rows,
    .run = ps};
