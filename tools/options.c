/* options.c - the command line of verbs: options, sources, selections. */
/* SPDX-License-Identifier: MIT */
#include "contexts.h"
#include "filters.h"
#include "labels.h"
#include "offer.h"
#include "print.h"
#include "recording.h"
#include "threads.h"

#include "recorder/regex.h"
#include "recorder/text.h"

#include <getopt.h>
#include <math.h>

/* --------------------------------------------------------------- options -- */

/* Options of all verbs. */
const struct option_row common_rows[] = {
    {'e', "executable", "FILE", "the program of a core file, if it was moved"},
    {OPTION_SYSROOT, "sysroot", "DIR",
     "look below DIR for the program and libraries of a core file or a "
     "recording, even without a build ID"},
    {OPTION_ELF, "elf", "FILE",
     "in place of SOURCE: a firmware's ELF file, with --memory; or the "
     "firmware that sends to tty:, rtt: or swo:, or wrote flash:"},
    {OPTION_MEMORY, "memory", "ADDRESS:FILE",
     "memory copied out of a machine; as often as needed"},
    {OPTION_FORMATS, "formats", "DIR",
     "texts of trace codes, in files that end in .fmt; as often as needed; "
     "the first file with a code counts, then RECORDER_FORMATS, DIR:DIR..., "
     "then /usr/share/recorder/formats"},
    {OPTION_REGISTRY, "registry", "ADDRESS",
     "one of several registries, in a process of libraries that share nothing; "
     "all: list and dump show one after the other"},
    {OPTION_INTERNAL, "internal", NULL,
     "dump, follow, list, view, explain, diff, export, functions: also the "
     "internal recorders of recorder run, and its waits as recorded"},
    {'h', "help", NULL, "this text"},
    {0, NULL, NULL, NULL}};

/* Options of verbs that choose among events. */
const struct option_row selection_rows[] = {
    ROW_NAMES,
    {'l', "last", "N", "only the last N events"},
    {OPTION_SINCE, "since", "WHEN",
     "from then on: a sequence number (4711), a time since the program's "
     "start (1.5s, 2m, 1h), before the last record (-10s, -2m), now or "
     "now-1h, a date or time as in dumps, UTC (2026-11-20 20:25:11.5, "
     "2026-11-20, 20:25), or of another zone with local or +01:00 after it"},
    {OPTION_UNTIL, "until", "WHEN", "up to then, the same"},
    {'t', "thread", "THREAD", "only of a thread: number (2 or T2), kernel id, name or "
     "REGEX for a whole name; as often as needed"},
    {OPTION_SEVERITY, "severity", "LEAST",
     "only from these severities up: 2 is hw2,sw2; hw1,sw3; if one kind is "
     "named, only that kind; info, notice, warning and error are 0 to 3. "
     "Records without a severity are left out; overwritten ones are counted in "
     "any case"},
    ROW_GREP,
    ROW_WHERE,
    {OPTION_REQUEST, "request", "ID",
     "only of a request: the ID, NAME=ID or traceparent that "
     "RECORDER_CONTEXT(NAME, ID) set for the thread"},
    {'L', "line", "LINE", "the format of a line, of " RECORDER_LINE_FIELDS_},
    {0, NULL, NULL, NULL}};

int rows_of(const struct verb *verb, const struct option_row *to[ROWS_MAX])
{
    const struct option_row *tables[] = {
        verb->rows, verb->selects ? selection_rows : NULL, common_rows};
    int count = 0;
    for (size_t i = 0; i < 3; i++)
        for (const struct option_row *row = tables[i]; row && row->name; row++)
            to[count++] = row;
    return count;
}

/* ----------------------------------------------------------------- parse -- */

const char *call_option(const struct call *call, int key)
{
    for (int i = call->options_count; i-- > 0;)
        if (call->options[i].key == key)
            return call->options[i].value;
    return NULL;
}

const char *call_selects(const struct call *call)
{
    for (const struct option_row *row = selection_rows; row->name; row++)
        if (row->key != 'L' && call_option(call, row->key))
            return row->name;
    return NULL;
}

/* The arguments of getopt_long() are made from the rows. */
bool parse(struct call *call, int argc, char **argv)
{
    const struct option_row *rows[ROWS_MAX];
    struct option longs[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 3] = "", *at = letters;
    int count = rows_of(call->verb, rows), key, i;
    memset(longs, 0, sizeof longs);
    if (call->verb->starts)
        *at++ = '+';
    *at++ = ':';
    for (i = 0; i < count; i++) {
        longs[i].name = rows[i]->name;
        longs[i].has_arg = rows[i]->argument != NULL;
        longs[i].val = rows[i]->key;
        if (rows[i]->key < 256) {
            *at++ = (char)rows[i]->key;
            if (rows[i]->argument)
                *at++ = ':';
        }
    }
    *at = '\0';
    while ((key = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (key == 'h')
            return false;
        if (key == ':')
            misuse(call, "%s: an argument is missing", argv[optind - 1]);
        if (key == '?')
            misuse(call, "%s: unknown option", argv[optind - 1]);
        if (call->options_count ==
            sizeof call->options / sizeof(*call->options))
            misuse(call, "too many options");
        call->options[call->options_count].key = key;
        call->options[call->options_count++].value = optarg ? optarg : "";
    }
    call->arguments = argv + optind;
    call->arguments_count = argc - optind;
    if (call->arguments_count > 1 && !strpbrk(call->verb->arguments, " ."))
        misuse(call, "it takes one %s: %s is too much", call->verb->arguments,
               call->arguments[1]);
    return true;
}

uint64_t number_of(const struct call *call, const char *text, const char *what,
                   uint64_t most)
{
    char *end;
    unsigned long long number;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (*end || *text < '0' || *text > '9' || errno)
        misuse(call, "%s: %s is no number", what, text);
    if (number > most)
        misuse(call, "%s: %s is more than %" PRIu64, what, text, most);
    return number;
}

uint64_t size_of(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || !unit || end[1] || value <= 0 || value > 1e9)
        return 0;
    return (uint64_t)(value * (double)((uint64_t)1024 << 10 * (unit - units)));
}

bool span_of(const char *text, int64_t *ns)
{
    char bare[64];
    uint64_t size;
    const char *end;
    bool negative = *text == '-';
    text += negative || *text == '+';
    if (snprintf(bare, sizeof bare, "%ss", text) >= (int)sizeof bare)
        return false;
    end = recorder_number_time_(text, &size);
    if (!end) /* without a unit: seconds */
        end = recorder_number_time_(text = bare, &size);
    if (!end || *end)
        return false;
    *ns = negative ? -(int64_t)size : (int64_t)size;
    return true;
}

int64_t call_newest_ns(struct call *call)
{
    int64_t newest = 0;
    reader_count(&call->reader);
    for (size_t i = 0; i < call->reader.recorders_count; i++)
        if (call->reader.recorders[i]->newest_ns > newest)
            newest = call->reader.recorders[i]->newest_ns;
    return newest;
}

/* Sets the date's seconds since 1970, by the zone after it: UTC or nothing, as
 * in dumps, "local", "+01:00". False: another text follows. */
static bool zoned(const char *zone, struct tm *date, int64_t *seconds)
{
    char sign, colon = ':', more;
    unsigned hours, minutes = 0;
    zone += strspn(zone, " ");
    *seconds = (int64_t)timegm(date);
    if (!*zone || strcmp(zone, "Z") == 0 || strcmp(zone, "UTC") == 0)
        return true;
    if (strcmp(zone, "local") == 0) {
        date->tm_isdst = -1;
        *seconds = (int64_t)mktime(date);
        return true;
    }
    if ((*zone != '+' && *zone != '-') ||
        sscanf(zone, "%c%2u%c%2u%c", &sign, &hours, &colon, &minutes, &more) %
            2 ||
        colon != ':' || hours > 14 || minutes > 59)
        return false;
    *seconds -= (sign == '-' ? -60 : 60) * (int64_t)(60 * hours + minutes);
    return true;
}

/* Reads "2026-11-20 20:25:11.5", its date alone, or its time alone, 20:25, on
 * the last record's day; a zone may follow. */
static bool wall_of(struct call *call, const char *text, int64_t *ns)
{
    uint64_t start = reader_start_realtime(&call->reader);
    struct tm date = {0};
    double fraction = 0;
    int64_t seconds;
    const char *end = strptime(text, "%Y-%m-%d", &date), *time = text;
    if (end) {
        time = end + (*end == 'T' || *end == ' ');
    } else {
        time_t last =
            (time_t)((start + (uint64_t)call_newest_ns(call)) / 1000000000u);
        if (strstr(text, "local"))
            localtime_r(&last, &date);
        else
            gmtime_r(&last, &date);
        date.tm_sec = 0;
    }
    if (strptime(time, "%H:%M", &date))
        end = strptime(time, "%H:%M", &date);
    if (strptime(time, "%H:%M:%S", &date))
        end = strptime(time, "%H:%M:%S", &date);
    if (!end)
        return false;
    if (*end == '.') {
        char *after;
        fraction = strtod(end, &after); /* ".9e300" is no fraction */
        if (fraction >= 1)
            return false;
        end = after;
    }
    if (!zoned(end, &date, &seconds))
        return false;
    seconds -= (int64_t)(start / 1000000000u);
    seconds = seconds > 9000000000    ? 9000000000 /* 64 bits hold no more ns */
              : seconds < -9000000000 ? -9000000000
                                      : seconds;
    *ns = seconds * 1000000000 - (int64_t)(start % 1000000000u) +
          llrint(fraction * 1e9);
    return true;
}

/* Reads "now" or "now-2m". */
static bool now_of(const struct call *call, const char *text, int64_t *ns)
{
    uint64_t start = reader_start_realtime(&call->reader);
    int64_t more = 0;
    if (strncmp(text, "now", 3) != 0 ||
        (text[3] && (!strchr("+-", text[3]) || !span_of(text + 3, &more))))
        return false;
    *ns = (int64_t)(reader_realtime(&call->reader) - start);
    return !__builtin_add_overflow(*ns, more, ns);
}

bool call_when(struct call *call, const char *text, uint64_t *order,
               int64_t *ns)
{
    if (strspn(text, "0123456789") == strlen(text) && *text) {
        *order = number_of(call, text, "WHEN", UINT64_MAX);
        return false;
    }
    if (span_of(text, ns)) {
        if (*text == '-')
            *ns += call_newest_ns(call);
        return true;
    }
    if (!now_of(call, text, ns) && !wall_of(call, text, ns))
        misuse(call,
               "%s: is no sequence number (4711), time (1.5s, -2m, now-1h, "
               "20:25) or date (2026-11-20 20:25:11.5, also with UTC, local "
               "or +01:00)",
               text);
    return true;
}

/* True if a text names a thread, or a number by which records are known. */
static bool has_thread(struct call *call, const char *text)
{
    struct reader_selection of_thread = {.thread = text};
    struct reader_event event;
    bool found = false;
    for (size_t i = 0; i < call->reader.threads_count && !found; i++) {
        const struct reader_thread *t = &call->reader.threads[i];
        found = reader_thread_is(text, t->number, t->id, t->name);
    }
    if (found)
        return true;
    reader_select(&call->reader, &of_thread);
    found = reader_next(&call->reader, &event);
    reader_select(&call->reader, &call->selection);
    reader_rewind(&call->reader);
    return found;
}

/* How a missing thing is reported: the command ends, but `follow` only warns, as
 * a library that is opened later may bring the thing. */
typedef void tell(const struct call *, const char *, ...);
static tell *tell_of(const struct call *call)
{
    return call->verb->follows ? warn : fail;
}

void call_names_check(const struct call *calls)
{
    const char *names = calls->selection.names;
    struct offer there = {0};
    bool any = !names;
    for (const struct call *c = calls; c && !any; c = c->next)
        any = reader_has_named(&c->reader, names, &there);
    if (!any)
        tell_of(calls)(calls->title ? NULL : calls, "no recorder is named %s%s",
                       names, offer_end(&there));
    offer_free(&there);
}

static void thread_check(struct call *calls, const char *text)
{
    struct offer there = {0};
    struct call *c;
    for (c = calls; c; c = c->next)
        if (has_thread(c, text))
            return;
    for (c = calls; c; c = c->next)
        for (size_t i = 0; i < c->reader.threads_count; i++) {
            const struct reader_thread *t = &c->reader.threads[i];
            char name[64];
            snprintf(name, sizeof name, "T%u %.40s", t->number, t->name);
            if (!t->is_free)
                offer_add(&there, name);
        }
    tell_of(calls)(calls->title ? NULL : calls, "no thread is %s%s", text,
                   offer_end(&there));
}

void call_selection_check(struct call *calls)
{
    call_names_check(calls);
    for (int i = 0; calls->selection.thread && i < calls->options_count; i++)
        if (calls->options[i].key == 't')
            thread_check(calls, calls->options[i].value);
    if (!calls->reader.follows && !calls->reader.logs &&
        calls->verb != &verb_diff) /* which has two sources */
        call_filters_check(calls);
}

/* Reads the contexts after the records, so that no change before a record is
 * missing, and chooses again. */
static void contexts_take(struct call *call)
{
    const char *wrong;
    contexts_free(call->reader.contexts);
    call->reader.contexts =
        contexts_open(&call->reader, call->selection.context, &wrong);
    if (wrong || (!call->reader.contexts && !call->title))
        fail(call, "no request can be chosen: recorder context: %s",
             wrong ? wrong : "there is none (RECORDER_CONTEXT)");
    if (call->reader.contexts && call->reader.contexts->cut)
        warn(call, "recorder context has overwritten changes: records before "
                   "the first change of a thread are left out, as their "
                   "context is unknown");
    if (call->reader.contexts && !call->reader.contexts->found &&
        !call->title)
        fail(call, "no record belongs to the request %s",
             call->selection.context);
    reader_rewind(&call->reader);
}

void call_take_all(struct call *call)
{
    const char *wrong = reader_take(&call->reader);
    if (wrong)
        fail(call, "%s", wrong);
    if (call->selection.context)
        contexts_take(call);
    if (call->reader.kernel_wrong)
        warn(call,
             "switches that the program did not record yet are left out, as "
             "the kernel's rings cannot be read: %s",
             call->reader.kernel_wrong);
}

void call_take(struct call *call)
{
    const char *since = call_option(call, OPTION_SINCE);
    const char *until = call_option(call, OPTION_UNTIL);
    struct reader_selection *s = &call->selection;
    int64_t newest_ns;
    call_take_all(call);
    if (since && call_when(call, since, &s->since_order, &s->since_ns))
        s->since_set = true;
    if (until && call_when(call, until, &s->until_order, &s->until_ns))
        s->until_set = true;
    if (!call->reader.recorders_count)
        tell_of(call)(call, "has no recorders: nothing in it was compiled with "
                            "recorder.h and without -DRECORDER_OFF");
    if (since || until) {
        reader_select(&call->reader, s);
        reader_rewind(&call->reader);
    }
    call_selection_check(call);
    if ((s->until_set && s->since_set && s->until_ns < s->since_ns) ||
        (s->until_order && s->until_order < s->since_order))
        misuse(call, "--until %s is before --since %s", until, since);
    if (s->since_order >= call->reader.end && call->reader.end && s->since_order)
        warn(call, "--since %s: the numbers of records end at %" PRIu64, since,
             call->reader.end - 1);
    newest_ns = s->since_set ? call_newest_ns(call) : s->since_ns;
    if (s->since_ns > newest_ns)
        warn(call, "--since %s: the last record is at %.9f s", since,
             (double)newest_ns / 1e9);
}

static void filters_parse(struct call *call)
{
    for (int i = 0; i < call->options_count; i++) {
        const struct call_option *option = &call->options[i];
        struct filters **filters = &call->selection.filters;
        const char *wrong = NULL;
        if (option->key == OPTION_GREP)
            wrong = filters_grep(filters, option->value);
        else if (option->key == OPTION_WHERE)
            wrong = filters_where(filters, option->value);
        if (wrong)
            misuse(call, "--%s %s: %s",
                   option->key == OPTION_GREP ? "grep" : "where", option->value,
                   wrong);
    }
}

void call_filters_check(const struct call *calls)
{
    const char *wrong = NULL;
    for (const struct call *c = calls; c; c = c->next) {
        wrong = filters_wrong(c->selection.filters, &c->reader);
        if (!wrong)
            return;
    }
    fail(calls->title ? NULL : calls, "--where: %s", wrong);
}

/* Reads --severity: "hw1,sw3", or a level for both kinds, "error". 0: neither. */
static unsigned severities_of(const char *text)
{
    const char *end = text;
    int level = severity_of_text(text, strlen(text));
    const char digit[] = {(char)('0' + level), '\0'};
    unsigned set = recorder_severities_(level < 0 ? text : digit, &end);
    return *end ? 0 : set;
}

/* Joins the values of an option; null: there is none. */
static const char *options_join(const struct call *call, int key, char between,
                                char *to, size_t max)
{
    size_t at = 0;
    for (int i = 0; i < call->options_count; i++) {
        if (call->options[i].key != key)
            continue;
        if (at)
            to[at++] = between;
        if (strlen(call->options[i].value) >= max - at - 1)
            misuse(call, "%s: is too long", call->options[i].value);
        at += (size_t)sprintf(to + at, "%s", call->options[i].value);
    }
    return call_option(call, key) ? to : NULL;
}

void selection_parse(struct call *call)
{
    static char names[1024], threads[1024];
    struct reader_selection *s = &call->selection;
    const char *last = call_option(call, 'l');
    const char *severity = call_option(call, OPTION_SEVERITY);
    const char *wrong;
    s->names = options_join(call, 'n', '|', names, sizeof names);
    s->for_people =
        call->verb->for_people && !call_option(call, OPTION_INTERNAL);
    s->thread = options_join(call, 't', '\n', threads, sizeof threads);
    s->context = call_option(call, OPTION_REQUEST);
    if (s->context &&
        (!*s->context || call->verb == &verb_follow || call->verb == &verb_log))
        misuse(call, *s->context ? "--request reads a program once"
                                 : "--request: no id is empty");
    call->line = call_option(call, 'L');
    if (last)
        s->last = number_of(call, last, "--last", UINT64_MAX);
    if (last && !s->last && !call->verb->follows)
        misuse(call, "--last 0 is nothing");
    if (severity) {
        s->severities = severities_of(severity);
        if (!s->severities)
            misuse(call,
                   "--severity %s: is none of 0 to 3, hw0 to hw3, sw0 to "
                   "sw3, no list of them (hw1,sw3), and none of info, notice, "
                   "warning, error",
                   severity);
    }
    wrong = call->line ? recorder_line_check_(call->line) : NULL;
    if (wrong)
        misuse(call, "--line: unknown field: {%.*s}\nthere are %s",
               (int)strcspn(wrong, "}"), wrong, RECORDER_LINE_FIELDS_);
    wrong = s->names ? recorder_regex_check_(s->names) : NULL;
    if (wrong)
        misuse(call, "--names %s: %s", s->names, wrong);
    filters_parse(call);
}

static void codes_say(void *context, const char *text)
{
    warn(context, "%s", text);
}

/* Reads the texts of codes: of named folders, then of others. */
static void codes_open(struct call *call)
{
    const char *folders = getenv("RECORDER_FORMATS");
    codes_free(call->codes);
    call->codes = NULL;
    for (int k = 0; k < call->options_count; k++)
        if (call->options[k].key == OPTION_FORMATS &&
            !codes_add(&call->codes, call->options[k].value, codes_say, call))
            fail(call, "--formats %s: %s", call->options[k].value,
                 strerror(errno));
    while (folders && *folders) {
        size_t size = strcspn(folders, ":");
        char *folder = need(strndup(folders, size));
        if (size && !codes_add(&call->codes, folder, codes_say, call))
            warn(call, "RECORDER_FORMATS: %s: %s", folder, strerror(errno));
        free(folder);
        folders += size + (folders[size] == ':');
    }
    codes_add(&call->codes, "/usr/share/recorder/formats", codes_say, call);
}

static const struct module *module_of(struct call *call,
                                      const struct reader_recorder *r)
{
    struct source *source = &call->source;
    const struct module *m = module_at(source, r->name_address);
    return m || !source->elsewhere
               ? m
               : module_at(source, source->elsewhere(source, r->address));
}

/* Two libraries may have a recorder of one name each: then all outputs name the
 * libraries, but for the lines of records. */
static void libraries_name(struct call *call)
{
    struct reader *reader = &call->reader;
    for (size_t i = 0; i < reader->recorders_count; i++)
        for (size_t k = 0; k < reader->recorders_count; k++) {
            struct reader_recorder *r = reader->recorders[i];
            const struct reader_recorder *other = reader->recorders[k];
            const struct module *m;
            if (r->shown != r->name || strcmp(r->name, other->name) != 0)
                continue;
            m = module_of(call, r);
            if (!m || m == module_of(call, other))
                continue;
            r->shown = need_text("%s of %s", r->name, basename(m->path));
        }
}

/* Returns the name of a function that begins at an address. */
static const char *function_at(void *of, uint64_t address)
{
    static const char first[] = "+0x1"; /* it follows the first byte */
    static char text[256];
    const char *name = source_function(of, address + 1);
    size_t size = name ? strlen(name) : 0;
    if (!name)
        return NULL;
    if (size >= sizeof first && strcmp(name + size - 4, first) == 0)
        size -= sizeof first - 1;
    snprintf(text, sizeof text, "%.*s", (int)size, name);
    return text;
}
void call_reader_open(struct call *call)
{
    const char *wrong =
        reader_open(&call->reader, call->source.memory, call->source.registry);
    call->reader.calls = call->verb->calls;
    call->reader.function = function_at;
    call->reader.function_context = &call->source;
    if (!wrong) {
        libraries_name(call);
        wrong = reader_select(&call->reader, &call->selection);
    }
    if (wrong)
        fail(call, "%s", wrong);
}

/* Returns how a call's options say that its source is opened. */
static struct source_how how_of(struct call *call)
{
    struct source_how how = {.executable = call_option(call, 'e'),
                             .sysroot = call_option(call, OPTION_SYSROOT),
                             .images = call->images,
                             .registry = call_option(call, OPTION_REGISTRY),
                             .in_library = call_host,
                             .unprepared = call->verb->unprepared};
    char *end;
    if (how.registry && strcmp(how.registry, "all") == 0)
        misuse(call, "--registry all goes with list and dump; here it "
                     "takes the address of one");
    if (how.registry && (strtoull(how.registry, &end, 0) == 0 || *end))
        misuse(call, "--registry %s: is no address", how.registry);
    for (int k = 0; k < call->options_count; k++)
        if (call->options[k].key == OPTION_MEMORY) {
            if (how.images_count == 16)
                misuse(call, "--memory: more than 16");
            call->images[how.images_count++] = call->options[k].value;
        }
    return how;
}

void call_open(struct call *call, int i)
{
    struct source_how how = how_of(call);
    const char *elf = call_option(call, OPTION_ELF), *wrong;
    struct stat is;
    bool streams = call->verb == &verb_follow && call->arguments_count > i &&
                   source_is_stream(call->arguments[i]);
    if (streams && !elf)
        misuse(call, "%s needs --elf FILE: the firmware that sends",
               call->arguments[i]);
    if (streams)
        how.stream = call->arguments[i];
    else if (elf && !how.images_count)
        misuse(call, "--elf needs --memory");
    if (!elf && i >= call->arguments_count)
        misuse(call,
               strncmp(call->verb->arguments, "PID", 3) == 0
                   ? "PID is missing: the id of a running process"
                   : "SOURCE is missing: the id of a running process, a core "
                     "file or a recording");
    call->name = elf ? elf : call->arguments[i];
    wrong = stat(call->name, &is) == 0 && S_ISDIR(is.st_mode)
                ? folder_source(call, call->name, &how)
                : source_open(&call->source, call->name, &how);
    if (streams)
        call->name = how.stream;
    if (wrong)
        fail(call, "%s", wrong);
    if (*call->source.warning)
        warn(call, "%s", call->source.warning);
    labels_read(call);
    if (!call->source.registry) /* a verb that can do without */
        return;
    call_reader_open(call);
    call->reader.words = call->selection.for_people ? event_words : NULL;
    call->reader.words_context = call;
    call->reader.offset_ns = call->source.note.offset_ns;
    codes_open(call);
    call->reader.codes = call->codes;
    call->reader.kernel = call->verb->kernel;
}

const char *call_program(const struct call *call)
{
    return *call->reader.program ? call->reader.program : call->name;
}

void call_warn_missing(const struct call *call)
{
    const struct source *source = &call->source;
    if (call->reader.damaged)
        damage(call,
               "it is damaged: %llu records lack a format or text that it must "
               "have",
               (unsigned long long)call->reader.damaged);
    if (*source->unopened)
        warn(call,
             "bytes are missing, because files that it names were not opened: "
             "%s%s; --sysroot DIR names the folder of the right files",
             source->unopened, source->unopened_more ? ", and more" : "");
}

void call_warn_lacking(const struct call *call, const struct reader_recorder *r)
{
    if (r->wrong)
        warn(call, "recorder %s: %s", r->name, r->wrong);
    if (r->figures.missed + r->figures.lost)
        warn(call,
             "recorder %s lacks %llu records in places that are not known, so "
             "that figures may be wrong",
             r->name,
             (unsigned long long)(r->figures.missed + r->figures.lost));
}

void call_close(struct call *call)
{
    call_warn_missing(call);
    contexts_free(call->reader.contexts);
    reader_close(&call->reader);
    source_close(&call->source);
    codes_free(call->codes);
    call->codes = NULL;
    labels_free(call);
}
