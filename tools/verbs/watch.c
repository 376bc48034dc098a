/* watch.c - recorder watch: waits for records of a running program, and
 * acts. */
/* SPDX-License-Identifier: MIT */
#include "watch.h"
#include "absence.h"
#include "bytes.h"
#include "filters.h"
#include "print.h"
#include "settings.h"

#include "recorder/output.h"

#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>

enum {
    OPTION_WHEN = OPTION_OWN,
    OPTION_DO,
    OPTION_TIMES,
    OPTION_HANG,
    OPTION_UNIT,
    OPTION_KEEP,
    OPTION_PERHAPS
};
enum { IDLE_NS = 4000000, BUSY_NS = 1000000 }; /* between two looks */
enum { WHENS_MAX = 16 };

/* A condition, and the events that met it until now. */
struct when {
    struct where *where;
    const struct recorder_condition_ *condition; /* of `where` */
    int64_t *times; /* of the last `count` events that met the rest */
    uint64_t met;
    uint64_t due_ns; /* after=: when to act, by CLOCK_MONOTONIC; 0: not yet */
    char *line;      /* of the event that was seen, then */
    const char *text;
    struct absence absence;
};

struct records {
    struct call *call;
    struct when whens[WHENS_MAX];
    size_t whens_count;
    uint64_t times, acted; /* --times, 0: without end; how often it acted */
    bool exits, failed;    /* by --do exit; an action could not be done */
};

/* ------------------------------------------------------------- condition -- */

static void when_add(struct records *watch, const char *text)
{
    struct when *when = &watch->whens[watch->whens_count];
    char *rest = need(strdup(text));
    const char *wrong;
    if (watch->whens_count++ == WHENS_MAX)
        misuse(watch->call, "--when: more than %d", WHENS_MAX);
    wrong = absence_read(&when->absence, rest,
                         recorder_clock_ns_(RECORDER_MONOTONIC_));
    if (!wrong)
        when->where = where_read(rest, true, &wrong);
    free(rest);
    when->text = text;
    if (wrong)
        misuse(watch->call, "--when %s", wrong);
    when->condition = where_condition(when->where);
    if (when->condition->actions)
        misuse(watch->call, "--when %s: actions are given by --do", text);
}

/* The regular expression of all recorders that are watched: others need not be
 * looked at. */
static char *whens_names(struct records *watch)
{
    char *names = need(calloc(watch->whens_count, RECORDER_CONDITION_MAX_ + 4)),
         *to = names;
    for (size_t i = 0; i < watch->whens_count; i++)
        to += sprintf(to, "%s(%s)", i ? "|" : "",
                      watch->whens[i].condition->names);
    return names;
}

/* Notes that an event met the rest of a condition; true: COUNT events did
 * within TIME; the count then starts again. */
static bool when_rate(struct when *when, const struct reader_event *event)
{
    const struct recorder_condition_ *c = when->condition;
    int64_t since;
    if (c->count == 1)
        return true;
    if (event->ns == RECORDER_TIME_UNKNOWN_)
        return false;
    if (!when->times)
        when->times = need(calloc(c->count, sizeof *when->times));
    when->times[when->met++ % c->count] = event->ns;
    since = event->ns - when->times[when->met % c->count]; /* the oldest */
    if (when->met < c->count || since > (int64_t)c->within_ns)
        return false;
    when->met = 0;
    return true;
}

/* --------------------------------------------------------------- actions -- */

/* A path of its pattern, of the program that is watched. */
static void path_of(const struct call *call, const char *pattern,
                    char path[PATH_MAX])
{
    struct recorder_string_ to = recorder_string_at_(path, PATH_MAX - 1);
    struct utsname machine = {0};
    uname(&machine);
    recorder_add_path_(&to, pattern, (uint64_t)call->source.pid,
                       call_program(call), machine.nodename);
}

/* Runs a program to its end, with `input` as its stdin; false, and says why: it
 * cannot be run, or ended badly. */
static bool run(const struct call *call, const char *what, const char *path,
                char *const arguments[], const char *input)
{
    posix_spawn_file_actions_t files;
    int fds[2], status = 0, error;
    pid_t child;
    if (pipe2(fds, O_CLOEXEC) != 0) {
        warn(call, "%s: %s", what, strerror(errno));
        return false;
    }
    /* A line fits an empty pipe. */
    if (write(fds[1], input, strlen(input)) < 0)
        warn(call, "%s: %s", what, strerror(errno));
    close(fds[1]);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fds[0], 0);
    fflush(NULL);
    error = posix_spawn(&child, path, &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    close(fds[0]);
    if (error) {
        warn(call, "%s: %s", what, strerror(error));
        return false;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status))
        warn(call, "%s: ended with status %d", what, WEXITSTATUS(status));
    else
        warn(call, "%s: ended by signal %d", what, WTERMSIG(status));
    return false;
}

/* Saves the process in a child, with separate memory and messages. */
static bool do_save(struct call *call, const char *pattern)
{
    const char *registry = call_option(call, OPTION_REGISTRY);
    char path[PATH_MAX] = "", pid[16];
    char *arguments[] = {"recorder", "save", pid, "-o", path, NULL, NULL, NULL};
    path_of(call, pattern, path);
    snprintf(pid, sizeof pid, "%d", call->source.pid);
    if (registry) {
        arguments[5] = "--registry";
        arguments[6] = (char *)(uintptr_t)registry;
    }
    return run(call, "save", "/proc/self/exe", arguments, "");
}

static bool do_run(struct call *call, const char *command, const char *line)
{
    char pid[16];
    char *arguments[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
    snprintf(pid, sizeof pid, "%d", call->source.pid);
    setenv("RECORDER_PID", pid, 1);
    return run(call, command, "/bin/sh", arguments, line);
}

static bool do_freeze(struct call *call)
{
    struct settings settings = {0};
    const char *wrong = settings_add(&settings, &call->reader, ".*=freeze");
    if (!wrong && !settings_write(&settings, &call->reader))
        wrong = strerror(errno);
    if (wrong)
        warn(call, "freeze: %s", wrong);
    return !wrong;
}

/* Returns the text after the '=' of an action NAME=...; null: another
 * action. */
static const char *action_of(const char *text, const char *name)
{
    size_t size = strlen(name);
    return strncmp(text, name, size) == 0 && text[size] == '=' && text[size + 1]
               ? text + size + 1
               : NULL;
}

static void actions_check(const struct call *call)
{
    for (int i = 0; i < call->options_count; i++) {
        const char *text = call->options[i].value;
        if (call->options[i].key == OPTION_DO && strcmp(text, "freeze") != 0 &&
            strcmp(text, "exit") != 0 && !action_of(text, "save") &&
            !action_of(text, "run"))
            misuse(call,
                   "--do %s: there are freeze, save=PATH, run=COMMAND and exit",
                   text);
    }
}

/* Does all actions of one kind: "freeze", "save" ... */
static void act_by(struct records *watch, const char *kind, const char *line)
{
    struct call *call = watch->call;
    for (int i = 0; i < call->options_count; i++) {
        const char *text = call->options[i].value, *of = action_of(text, kind);
        bool good = true;
        if (call->options[i].key != OPTION_DO ||
            (!of && strcmp(text, kind) != 0))
            continue;
        if (strcmp(text, "freeze") == 0)
            good = do_freeze(call);
        else if (strcmp(text, "exit") == 0)
            watch->exits = true;
        else if (*kind == 's')
            good = do_save(call, of);
        else
            good = do_run(call, of, line);
        watch->failed |= !good;
    }
}

static void act(struct records *watch, const char *line)
{
    act_by(watch, "freeze", line); /* before it is overwritten */
    fputs(line, stdout);
    stdout_flush(watch->call);
    act_by(watch, "save", line);
    act_by(watch, "run", line);
    act_by(watch, "exit", line);
    watch->acted++;
}

/* ----------------------------------------------------------------- watch -- */

static bool is_done(const struct records *watch)
{
    return watch->exits || (watch->times && watch->acted >= watch->times);
}

/* Acts for the event that was seen, and waits for another. */
static void when_act(struct records *watch, struct when *when)
{
    act(watch, when->line);
    free(when->line);
    when->line = NULL;
    when->due_ns = 0;
}

static void look(struct records *watch)
{
    struct reader *reader = &watch->call->reader;
    struct reader_event event;
    size_t i;
    while (!is_done(watch) && reader_next(reader, &event))
        for (i = 0; i < watch->whens_count && !is_done(watch); i++) {
            struct when *when = &watch->whens[i];
            bool meets = where_matches(when->where, reader, &event);
            if (when->absence.kind) {
                if (meets ||
                    (*when->condition->names &&
                     reader_is_named(event.recorder, when->condition->names)))
                    absence_note(&when->absence, reader, &event, meets,
                                 recorder_clock_ns_(RECORDER_MONOTONIC_));
                continue;
            }
            if (when->due_ns || !meets || !when_rate(when, &event))
                continue;
            when->line = need(strdup(reader_line(reader, &event, NULL, NULL)));
            when->due_ns = recorder_clock_ns_(RECORDER_MONOTONIC_) +
                           when->condition->after_ns;
            if (!when->condition->after_ns)
                when_act(watch, when);
        }
    for (i = 0; i < watch->whens_count && !is_done(watch); i++) {
        struct when *when = &watch->whens[i];
        uint64_t now = recorder_clock_ns_(RECORDER_MONOTONIC_);
        if (when->absence.kind && !when->line)
            when->line = absence_due(&when->absence, when->text, now);
        if (when->absence.kind && when->line && !when->due_ns)
            when->due_ns = now + when->condition->after_ns;
        if (when->due_ns && now >= when->due_ns)
            when_act(watch, when);
    }
}

/* Warns of conditions that none of the records until now could meet. */
static void whens_check(const struct records *watch)
{
    const struct reader *reader = &watch->call->reader;
    for (size_t i = 0; i < watch->whens_count; i++) {
        const char *wrong = where_wrong(watch->whens[i].where, reader);
        if (wrong && reader->taken)
            warn(watch->call, "--when %s: until now, %s", watch->whens[i].text,
                 wrong);
    }
}

static void options_parse(struct records *watch)
{
    struct call *call = watch->call;
    const char *times = call_option(call, OPTION_TIMES);
    for (int i = 0; i < call->options_count; i++)
        if (call->options[i].key == OPTION_WHEN)
            when_add(watch, call->options[i].value);
    actions_check(call);
    watch->times = times ? number_of(call, times, "--times", UINT64_MAX) : 1;
}

static int records_watch(struct call *call)
{
    static struct records watch;
    struct reader_event event;
    const char *wrong;
    uint64_t wait_ns = BUSY_NS, end;
    char *names;
    watch.call = call;
    options_parse(&watch);
    names = whens_names(&watch);
    call->selection.names = names;
    call_open(call, 0);
    if (!call->source.pid || !call->source.memory->write)
        fail(call, "is no running process: nothing there can be watched");
    call->reader.follows = true;
    call_take(call);
    while (reader_next(&call->reader, &event)) /* was there before */
        for (size_t i = 0; i < watch.whens_count; i++)
            where_matches(watch.whens[i].where, &call->reader, &event);
    whens_check(&watch);
    call->reader.missed = 0;
    do {
        sleep_ns(wait_ns);
        end = call->reader.end;
        wrong = reader_take(&call->reader);
        look(&watch);
        wait_ns = call->reader.end != end ? BUSY_NS
                  : 2 * wait_ns < IDLE_NS ? 2 * wait_ns
                                          : IDLE_NS;
    } while (!wrong && !is_done(&watch));
    if (call->reader.missed)
        warn(call,
             "%llu records were overwritten before they could be looked at",
             (unsigned long long)call->reader.missed);
    if (wrong && !is_done(&watch)) {
        warn(call, "%s", wrong);
        watch.failed = true;
    }
    for (size_t i = 0; i < watch.whens_count; i++) {
        free(watch.whens[i].times);
        free(watch.whens[i].absence.opens);
        free(watch.whens[i].absence.line);
        where_free(watch.whens[i].where);
    }
    free(names);
    return watch.failed;
}

/* --keep 50 or 2G: incidents, or their bytes. */
static void keep_read(struct watcher *w, const char *text)
{
    uint64_t size = size_of(text);
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (size)
        w->size = size;
    else if (*end || *text < '1' || *text > '9' || number > 1000000)
        misuse(w->call, "--keep %s: is no number (50) and no size (2G)", text);
    else
        w->keep = number;
}

/* Watches processes from outside, for hangs and deaths. */
static int processes_watch(struct call *call)
{
    static struct watcher w;
    const char *conditions[2 + 2 * WHENS_MAX + 1] = {"watch"};
    const char *hang = call_option(call, OPTION_HANG);
    char inside[4096];
    size_t count = 2, whens = 0;
    w = (struct watcher){.call = call,
                         .folder = call_option(call, 'o'),
                         .hang_ns = INT64_C(10000000000),
                         .keep = 50,
                         .size = UINT64_C(1) << 30,
                         .keeps_perhaps = call_option(call, OPTION_PERHAPS),
                         .conditions = conditions};
    if (hang && (!span_of(hang, &w.hang_ns) || w.hang_ns < 400000000))
        misuse(call, "--hang %s: is no time of 400ms or more", hang);
    w.every_ns = w.hang_ns / 4;
    for (int i = 0; i < call->options_count; i++) {
        const char *value = call->options[i].value;
        if (call->options[i].key == OPTION_KEEP)
            keep_read(&w, value);
        if (call->options[i].key != OPTION_WHEN)
            continue;
        if (whens++ == WHENS_MAX)
            misuse(call, "--when: more than %d", WHENS_MAX);
        if (figure_read(call, &w.figures[w.figures_count], value)) {
            w.figures_count++;
            continue;
        }
        conditions[count++] = "--when";
        conditions[count++] = value;
    }
    targets_read(&w, OPTION_UNIT);
    if (!w.targets_count)
        misuse(call, "PID, NAME or --unit UNIT is missing");
    snprintf(inside, sizeof inside, "%s/.", w.folder ? w.folder : "");
    if (w.folder && ((mkdir(w.folder, 0700) != 0 && errno != EEXIST) ||
                     access(inside, W_OK) != 0))
        fail(call, "%s: %s", w.folder, strerror(errno));
    return watcher_run(&w);
}

static int watch(struct call *call)
{
    bool of_records =
        call_option(call, OPTION_WHEN) && !call_option(call, OPTION_UNIT) &&
        !call_option(call, OPTION_HANG) && !call_option(call, 'o');
    return of_records ? records_watch(call) : processes_watch(call);
}

static const struct option_row rows[] = {
    {'o', "output", "DIR", "keep incidents, each a folder in it"},
    {OPTION_HANG, "hang", "TIME",
     "how long nothing may move while work waits: 10s"},
    {OPTION_UNIT, "unit", "UNIT",
     "all processes of a systemd unit, over restarts; as often as needed"},
    {OPTION_KEEP, "keep", "LIMIT",
     "at most this number of incidents, 50, and this size of all, 1G; the "
     "oldest are deleted first"},
    {OPTION_PERHAPS, "perhaps", NULL,
     "keep incidents without evidence that work waits, too"},
    {OPTION_WHEN, "when", "CONDITION",
     "NAMES: and a condition for a record of these recorders: \"TEXT\" (the "
     "beginning of its format), sw2 (its least severity), 1>50 (an argument "
     "compared by > < = != or &), 10x1s (the 10th in a second), after=20ms "
     "(act this much later), silent 5s (no such record for 5 s), >10/s or "
     "<10/s (a rate), open>100ms (a span is open longer), for 5s (all records "
     "of one format, or the rate, meet it so long); process: rss>1G for "
     "1min (with -o or NAME; also threads, descriptors); as often as needed"},
    {OPTION_DO, "do", "ACTION",
     "freeze (turns all recorders off; recorder set PID .*=thaw), save=PATH (a "
     "recording; %p is the process id, %e the program's name, %h the "
     "machine's, %t the seconds since 1970), run=COMMAND (the record's line is "
     "its stdin, RECORDER_PID in its environment), exit; as often as needed"},
    {OPTION_TIMES, "times", "N", "act N times: 1; 0 is without end"},
    ROW_GREP,
    ROW_WHERE,
    {0, NULL, NULL, NULL}};

const struct verb verb_watch = {
    .name = "watch",
    .arguments = "PID|NAME...",
    .summary = "notices hangs and deaths of programs; or waits for a record",
    .help =
        "Watches any programs, by PID, NAME or --unit, over restarts, and "
        "prints a line for each deadlock, hang while work waits, spin, D "
        "state, stop, crash, OOM kill, SIGKILL and bad exit status, and, with "
        "-o, an incident: a folder with a README, stacks and locks, records "
        "and figures, for recorder explain. PERHAPS marks a line without "
        "evidence that work waits. Nothing runs in the process. Exit status 3: "
        "an incident happened.\n\n"
        "PID --when CONDITION, without these options, waits for a record that "
        "meets CONDITION, shows the record, and acts. The program needs no "
        "special build and does no additional work: a look every 1 to 4 ms "
        "reads its new records, as follow does. Earlier records do not count. "
        "Status 0 after --times, 1 if the program ends before or an action "
        "fails. For triggers in the program, which act at once, see "
        "recorder_trigger.h.",
    .rows = rows,
    .run = watch,
    .follows = true};
