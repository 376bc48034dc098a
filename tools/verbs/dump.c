/* dump.c - recorder dump: all records, merged and in order, as text. */
/* SPDX-License-Identifier: MIT */

#include <signal.h>
#include <sys/wait.h>

#include "explain.h"
#include "labels.h"
#include "sources.h"

enum {
    OPTION_CSV = OPTION_OWN,
    OPTION_CLEAR,
    OPTION_FUNCTION,
    OPTION_BY_TIME,
    OPTION_COLOR,
    OPTION_NO_PAGER
};

/* ----------------------------------------------------------------- pager -- */

static pid_t pager;

/* Puts a pager between us and the terminal: $PAGER, less or more. One that
 * shows less than a screen ends by itself. */
static void pager_open(void)
{
    static const char command[] =
        "if [ -n \"$PAGER\" ]; then exec $PAGER; fi\n"
        "command -v less >/dev/null && exec less -FRX\n"
        "command -v more >/dev/null && exec more\n"
        "exec cat";
    int fds[2];
    if (pipe(fds) != 0)
        return;
    pager = fork();
    if (pager == 0) {
        dup2(fds[0], 0);
        close(fds[0]);
        close(fds[1]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (pager > 0) {
        signal(SIGPIPE, SIG_IGN); /* the user may leave the pager early */
        dup2(fds[1], 1);
    }
    close(fds[0]);
    close(fds[1]);
}

static void pager_close(void)
{
    if (pager <= 0)
        return;
    if (fflush(stdout) != 0)
        clearerr(stdout); /* a pager that was left is no error */
    close(1);
    waitpid(pager, NULL, 0);
    exit(0);
}

/* ------------------------------------------------------------------ dump -- */

/* A write failed: the reader went, or the disk is full. */
static void stdout_check(const struct call *call)
{
    if (!ferror(stdout))
        return;
    if (pager > 0)
        pager_close();
    fail(call, "stdout: %s", strerror(errno));
}

/* Prints the name of one of several sources in front of a line. */
static void title_print(const struct call *call, int width)
{
    if (call->title)
        text_put(stdout, "%-*s ", width, call->title);
}

/* Prints the head above all records, for each source. */
static void dump_head(struct call *calls, int width)
{
    for (struct call *c = calls; c; c = c->next) {
        size_t size;
        const char *text = reader_head(&c->reader, &size), *end = text + size;
        char clock[64];
        while (text < end) {
            const char *newline = memchr(text, '\n', (size_t)(end - text));
            size =
                newline ? (size_t)(newline + 1 - text) : (size_t)(end - text);
            title_print(c, width);
            fwrite(text, 1, size, stdout);
            text += size;
        }
        if (sources_clock(c, clock)) {
            title_print(c, width);
            printf("CLOCK %s, WHICH ITS TIMES HAVE\n", clock);
        }
    }
}

static void dump_text(struct call *calls, bool head, bool in_color,
                      bool functions)
{
    struct reader_event event;
    struct merge merge;
    struct call *of;
    char *crash = NULL;
    int width = sources_width(calls);
    if (head)
        dump_head(calls, width);
    merge_begin(&merge, calls);
    while ((of = merge_next(&merge, &event))) {
        title_print(of, width);
        line_write(stdout, of, &event, in_color, functions);
        stdout_check(of);
    }
    merge_end(&merge);
    if (head && !calls->next && !call_selects(calls))
        crash = explain_brief(calls, true);
    fputs(crash ? crash : "", stdout);
    free(crash);
}

static void dump_events(struct call *calls, bool head, bool as_csv)
{
    struct reader_event event;
    struct merge merge;
    struct call *of;
    if (head)
        csv_head(stdout, calls);
    merge_begin(&merge, calls);
    while ((of = merge_next(&merge, &event))) {
        if (as_csv) {
            csv_event(stdout, calls, of, &event);
        } else {
            json_event(stdout, of, &event);
            putchar('\n');
        }
        stdout_check(of);
    }
    merge_end(&merge);
}

/* ----------------------------------------------------------------- clear -- */

/* A record may have its number and not be written yet, because its thread was
 * preempted. It has this time to finish before the first look, and then twice
 * as long before each look at late records. */
enum { UNFINISHED_NS = 50000000, LATE_LOOKS = 4 };

/* Begins --clear: chooses all sequence numbers handed out until now, and waits
 * until their records are written. */
static void clear_begin(struct call *call, uint64_t *order)
{
    const char *shown = call_selects(call);
    if (call->arguments_count > 1)
        misuse(call, "--clear goes with one SOURCE");
    if (shown)
        misuse(call, "--clear clears all records, --%s shows some of them",
               strcmp(shown, "grep") == 0 || strcmp(shown, "where") == 0
                   ? "grep or --where"
                   : shown);
    call_open(call, 0);
    if (!call->source.memory->write)
        fail(call, "only the records of a running process can be cleared");
    if (!reader_order(&call->reader, order))
        fail(call, READER_GONE);
    sleep_ns(UNFINISHED_NS);
    call->selection.until_order = *order - 1;
    reader_select(&call->reader, &call->selection);
}

/* Prints all taken records; `head`: with the head above them. */
static void dump_all(struct call *call, bool head, bool in_color)
{
    bool as_csv = call_option(call, OPTION_CSV);
    if (call_option(call, 'j') || as_csv)
        dump_events(call, head && as_csv, as_csv);
    else
        dump_text(call, head, in_color, call_option(call, OPTION_FUNCTION));
    if (fflush(stdout) != 0)
        stdout_check(call);
}

/* Shows the late records, and clears all shown ones. */
static void clear_end(struct call *call, uint64_t order, bool in_color)
{
    size_t unfinished = 0;
    for (int look = 0; look < LATE_LOOKS && (look == 0 || unfinished); look++) {
        if (look > 0)
            sleep_ns(UNFINISHED_NS << look);
        if (reader_take(&call->reader) != NULL)
            break;
        dump_all(call, false, in_color);
        unfinished = reader_unfinished(&call->reader);
    }
    if (!reader_clear(&call->reader, order))
        fail(call, "cannot be cleared: %s", strerror(errno));
    if (unfinished)
        warn(call,
             "%zu record%s not whole for 0.7 s; if that changes, they were "
             "cleared unseen",
             unfinished, unfinished == 1 ? " was" : "s were");
}

static int dump(struct call *call)
{
    static char buffer[1 << 16];
    bool as_json = call_option(call, 'j'),
         as_csv = call_option(call, OPTION_CSV);
    bool in_color = line_color(call, call_option(call, OPTION_COLOR));
    bool clears = call_option(call, OPTION_CLEAR);
    uint64_t order = 0;
    struct call *calls = call;
    if (as_json && as_csv)
        misuse(call, "--json or --csv");
    if (clears)
        clear_begin(call, &order);
    else
        calls = sources_open(call, 0);
    for (struct call *c = calls; c; c = c->next) {
        c->reader.kernel &= !clears; /* other records must not be cleared */
        c->reader.by_time = call_option(call, OPTION_BY_TIME);
        if (c->title && !c->line) /* each of several began at another time */
            c->line = "{wall} [{name} {order}] {recorder}: "
                      "{severity}{message}";
    }
    sources_take(calls);
    if (isatty(1) && !call_option(call, OPTION_NO_PAGER) && !as_json && !as_csv)
        pager_open();
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    dump_all(calls, true, in_color);
    sources_warn(calls);
    if (clears)
        clear_end(call, order, in_color);
    pager_close();
    return sources_close(calls);
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line, integers exact"},
    {OPTION_CSV, "csv", NULL, "comma-separated values (RFC 4180)"},
    ROW_LABEL,
    {OPTION_FUNCTION, "function", NULL,
     "after each line, the function that recorded it (of C++: | c++filt)"},
    {OPTION_BY_TIME, "by-time", NULL,
     "sorted by time, not by sequence number: switches that were copied later "
     "appear among the records of their time"},
    {OPTION_CLEAR, "clear", NULL,
     "hide these records, and no others, from later dumps (see recorder set "
     "PID clear); a record may be cleared unseen if its thread has not written "
     "it after 0.7 s, which is reported, or if it has no slot after 50 ms"},
    {OPTION_COLOR, "color", "WHEN",
     "always, never, or auto: on a terminal, unless NO_COLOR is set"},
    {OPTION_NO_PAGER, "no-pager", NULL,
     "no pager, even where the text is longer than the terminal"},
    {0, NULL, NULL, NULL}};

const struct verb verb_dump = {
    .calls = true,
    .name = "dump",
    .arguments = "SOURCE...",
    .summary =
        "prints all records, by sequence number, as recorder_dump() does",
    .help = "A ~ before a text marks a text that may have changed: the record "
            "has only its address (RECORDER_ADDRESS, %ls), and the text is no "
            "constant of the program or of a library. --json and --csv have "
            "may_have_changed, with the numbers of these arguments, from 1.",
    .for_people = true,
    .rows = rows,
    .selects = true,
    .run = dump,
    .kernel = true,
    .registries = true};
