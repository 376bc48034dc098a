/* vcd.c - waveforms: threads as wires, as an oscilloscope shows them. */
/* SPDX-License-Identifier: MIT */
/*
    threads.T1_main             1: this thread recorded last or, where records
                                are of switches, it runs; x: unknown
    threads.T1_main_ready       1: it may run, and does not
    threads.T1_main_span        1: it is in a span
    threads.T1_main_spans       in which, outermost first
    interrupts.tick             1: it was entered, and did not end
    cpus.0_idle                 1: this processor sleeps
    cpus.0_interrupts_off       1: its interrupts are off
    recorders.net               a pulse for each record
    recorders.net_message       the last one
    recorders.net_bytes         a value
    order                       of the last record

    Of several sources, each has these in a scope of its name.

    --plain keeps the wires only, and takes time coarse enough for sigrok, which
    makes a sample of every unit of it.
*/
#include "array.h"
#include "export.h"
#include "switches.h"

enum { SAMPLES_MAX = 1000000 };

/* A wire changes. */
struct change {
    uint64_t ns;
    size_t sequence;
    const struct switches_slice *slice;
    bool ends;
};

/* The file. */
struct waves {
    struct output out;
    bool plain;
    uint64_t length_ns; /* from the first record of all to the last */
    uint64_t unit_ns;   /* of time in the file */
    uint64_t now;       /* the last unit written */
};

/* The variables of a source: groups, and how many each thing in them has. */
enum { ORDER, LANES, RECORDERS, VALUES, INTERRUPTS, CPUS, GROUPS };
enum { RUNNING, IN_SPAN, SPANS, IS_READY, OF_LANE };
enum { RECORD, MESSAGE, OF_RECORDER };
enum { IDLE, OFF, OF_CPU };
static const unsigned variables[GROUPS] = {1, OF_LANE, OF_RECORDER,
                                           1, 1,       OF_CPU};

/* A source, and its wires. */
struct vcd {
    struct waves *waves;
    struct timeline *timeline;
    struct switches switches;
    struct change *changes; /* by time, then ends first */
    size_t changes_count, changes_max, changed;
    unsigned (*active)[2]; /* of each interrupt; [1]: with unknown end */
    bool *reals,
        *wides; /* of each value: it has floats, integers above INT64_MAX */
    const struct timeline_lane *running;
    struct timeline_event event; /* the next one, unless it is at its end */
    bool ended, closed; /* closed: that is written, or the file's end is */
    char *scope;        /* its name; null: it is the only one */
    uint64_t first[GROUPS + 1]; /* of its variables, by group; their end */
};

/* Makes a variable's id in the file: its number in digits from ! to ~. */
static const char *code(uint64_t number)
{
    static char text[16];
    size_t at = sizeof text - 1;
    do {
        text[--at] = (char)('!' + number % 94);
        number /= 94;
    } while (number);
    return text + at;
}

/* Gives numbers to a source's variables, from `first` on. */
static void codes_begin(struct vcd *v, uint64_t first)
{
    const size_t things[GROUPS] = {1,
                                   v->timeline->lanes_count,
                                   v->timeline->call->reader.recorders_count,
                                   v->timeline->values_count,
                                   v->switches.interrupts_count,
                                   SWITCHES_CPUS};
    v->first[ORDER] = first;
    for (int i = 0; i < GROUPS; i++)
        v->first[i + 1] = v->first[i] + things[i] * variables[i];
}

/* The code of variable `which` of the thing `i` in a group. */
static const char *code_of(const struct vcd *v, int group, size_t i,
                           size_t which)
{
    return code(v->first[group] + i * variables[group] + which);
}

static const char *lane_code(const struct vcd *v,
                             const struct timeline_lane *lane, size_t which)
{
    return code_of(v, LANES, lane->index, which);
}

/* Sets a wire to 0, 1 or x. */
static void put_wire(const struct vcd *v, char level, const char *of_code)
{
    fprintf(v->waves->out.file, "%c%s\n", level, of_code);
}

/* ---------------------------------------------------------- declarations -- */

/* Writes a name without dots and brackets, to which viewers give a meaning. */
static void put_name(FILE *file, const char *name)
{
    for (; *name; name++)
        putc(isalnum((unsigned char)*name) ? *name : '_', file);
}

static void put_variable(struct vcd *v, const char *type, const char *of_code,
                         const char *name, const char *suffix)
{
    fprintf(v->waves->out.file, "$var %s %s ", type, of_code);
    if (v->waves->plain && v->scope) /* sigrok knows no scopes */
        fprintf(v->waves->out.file, "%s_", v->scope);
    put_name(v->waves->out.file, name);
    if (*suffix)
        putc('_', v->waves->out.file);
    put_name(v->waves->out.file, suffix);
    fputs(" $end\n", v->waves->out.file);
}

static void put_about(const struct vcd *v, FILE *file)
{
    const struct timeline *t = v->timeline;
    const char *program = t->call->reader.program;
    const char *scope = v->scope ? v->scope : "";
    if (*program && !strchr(program, '$')) /* "$end" would end it */
        fprintf(file, "$comment %s%sprogram %s $end\n", scope,
                v->scope ? ": " : "", program);
    fprintf(file,
            "$comment %s%s%" PRIu64 " is %" PRId64
            " ns since the program's start $end\n",
            scope, v->scope ? ": " : "", t->later_ns, t->start_ns);
}

static void put_head(struct waves *w, const struct vcd *all, size_t count)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    uint64_t start_ns = 0;
    size_t unit = 0;
    w->unit_ns = 1;
    if (w->plain)
        for (; w->length_ns / w->unit_ns > SAMPLES_MAX && unit < 11; unit++)
            w->unit_ns *= 10;
    fputs("$version recorder $end\n", w->out.file);
    for (size_t i = 0; i < count; i++) {
        const struct timeline *t = all[i].timeline;
        put_about(&all[i], w->out.file);
        if (t->realtime_ns && !start_ns)
            start_ns = t->realtime_ns - t->later_ns;
    }
    if (start_ns)
        fprintf(w->out.file,
                "$comment 0 is %" PRIu64 " ns since 1970, UTC $end\n",
                start_ns);
    fprintf(w->out.file, "$timescale 1%.*s %s $end\n", (int)unit % 3, "00",
            units[unit / 3]);
}

static void put_lanes(struct vcd *v)
{
    const struct timeline *t = v->timeline;
    fputs("$scope module threads $end\n", v->waves->out.file);
    for (size_t i = 0; i < t->lanes_count; i++) {
        const struct timeline_lane *lane = t->lanes[i];
        char name[64];
        if (lane->thread)
            snprintf(name, sizeof name, "T%u %s", lane->number, lane->name);
        else
            snprintf(name, sizeof name, "%s", lane->name);
        put_variable(v, "wire 1", lane_code(v, lane, RUNNING), name, "");
        if (lane->thread_of)
            put_variable(v, "wire 1", lane_code(v, lane, IS_READY), name,
                         "ready");
        if (lane->silent)
            continue;
        put_variable(v, "wire 1", lane_code(v, lane, IN_SPAN), name, "span");
        if (!v->waves->plain)
            put_variable(v, "string 1", lane_code(v, lane, SPANS), name,
                         "spans");
    }
    fputs("$upscope $end\n", v->waves->out.file);
}

static void put_machine(struct vcd *v)
{
    const struct switches *s = &v->switches;
    char name[64];
    if (!s->any)
        return;
    fputs("$scope module interrupts $end\n", v->waves->out.file);
    for (size_t i = 0; i < s->interrupts_count; i++)
        put_variable(
            v, "wire 1", code_of(v, INTERRUPTS, i, 0),
            switches_name(s->interrupts[i].name, s->interrupts[i].id, name),
            "");
    fputs("$upscope $end\n$scope module cpus $end\n", v->waves->out.file);
    for (size_t i = 0; i < SWITCHES_CPUS; i++) {
        if (!s->cpus[i])
            continue;
        snprintf(name, sizeof name, "%zu", i);
        if (s->cpus[i]->sleeps)
            put_variable(v, "wire 1", code_of(v, CPUS, i, IDLE), name, "idle");
        if (s->cpus[i]->offs)
            put_variable(v, "wire 1", code_of(v, CPUS, i, OFF), name,
                         "interrupts_off");
    }
    fputs("$upscope $end\n", v->waves->out.file);
}

static void put_recorders(struct vcd *v)
{
    const struct timeline *t = v->timeline;
    fputs("$scope module recorders $end\n", v->waves->out.file);
    for (size_t i = 0; i < t->call->reader.recorders_count; i++) {
        const struct reader_recorder *recorder = t->call->reader.recorders[i];
        const char *name = recorder->shown;
        if (!recorder->chosen)
            continue;
        put_variable(v, "event 1", code_of(v, RECORDERS, i, RECORD), name, "");
        put_variable(v, "string 1", code_of(v, RECORDERS, i, MESSAGE), name,
                     "message");
        for (size_t n = 0; n < t->values_count; n++)
            if (t->values[n].recorder == i)
                put_variable(v,
                             v->reals[n]   ? "real 64"
                             : v->wides[n] ? "reg 64"
                                           : "integer 64",
                             code_of(v, VALUES, n, 0), name, t->values[n].name);
    }
    fputs("$upscope $end\n", v->waves->out.file);
    put_variable(v, "integer 64", code_of(v, ORDER, 0, 0), "order", "");
}

static void put_start(struct vcd *v)
{
    const struct timeline *t = v->timeline;
    for (size_t i = 0; i < t->lanes_count; i++) {
        put_wire(v, v->switches.any ? 'x' : '0',
                 lane_code(v, t->lanes[i], RUNNING));
        if (!t->lanes[i]->silent)
            put_wire(v, '0', lane_code(v, t->lanes[i], IN_SPAN));
        if (t->lanes[i]->thread_of)
            put_wire(v, 'x', lane_code(v, t->lanes[i], IS_READY));
    }
    for (size_t i = 0; i < v->switches.interrupts_count; i++)
        put_wire(v, '0', code_of(v, INTERRUPTS, i, 0));
    for (size_t i = 0; i < SWITCHES_CPUS; i++) {
        const struct switches_cpu *cpu = v->switches.cpus[i];
        if (cpu && cpu->sleeps)
            put_wire(v, '0', code_of(v, CPUS, i, IDLE));
        if (cpu && cpu->offs)
            put_wire(v, '0', code_of(v, CPUS, i, OFF));
    }
    if (!v->waves
             ->plain) /* readers want a change, even if there is no record */
        fprintf(v->waves->out.file, "b0 %s\n", code_of(v, ORDER, 0, 0));
}

/* --------------------------------------------------------------- changes -- */

/* `ns`: since the start of the source's timeline. */
static void put_time(struct vcd *v, uint64_t ns)
{
    struct waves *w = v->waves;
    uint64_t unit = (v->timeline->later_ns + ns) / w->unit_ns;
    if (unit == w->now)
        return;
    w->now = unit;
    fprintf(w->out.file, "#%" PRIu64 "\n", unit);
}

/* Writes a string; blanks and unprintable bytes are in octal. */
static void put_text(FILE *file, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] > ' ' && text[i] <= '~' && text[i] != '\\')
            putc(text[i], file);
        else
            fprintf(file, "\\%03o", (unsigned char)text[i]);
}

static void put_spans(struct vcd *v, const struct timeline_lane *lane,
                      size_t depth)
{
    FILE *file = v->waves->out.file;
    put_wire(v, depth > 0 ? '1' : '0', lane_code(v, lane, IN_SPAN));
    if (v->waves->plain)
        return;
    putc('s', file);
    if (!depth)
        put_text(file, "-", 1);
    for (size_t i = 0; i < depth; i++) {
        if (i)
            put_text(file, " > ", 3);
        put_text(file, lane->spans[i].name, strlen(lane->spans[i].name));
    }
    fprintf(file, " %s\n", lane_code(v, lane, SPANS));
}

/* Writes an integer exactly; a negative one has all of its 64 bits. */
static void put_bits(FILE *file, uint64_t word, const char *of_code)
{
    int bit = 63;
    while (bit && !(word >> bit))
        bit--;
    putc('b', file);
    for (; bit >= 0; bit--)
        putc((int)('0' + (word >> bit & 1)), file);
    fprintf(file, " %s\n", of_code);
}

static void put_record(struct vcd *v, const struct timeline_event *e)
{
    const struct timeline *t = v->timeline;
    FILE *file = v->waves->out.file;
    const char *message;
    size_t size;
    put_wire(v, '1', code_of(v, RECORDERS, e->recorder, RECORD));
    message = reader_message(&t->call->reader, &e->read, &size);
    putc('s', file);
    put_text(file, message, size);
    fprintf(file, " %s\n", code_of(v, RECORDERS, e->recorder, MESSAGE));
    put_bits(file, e->read.event.order, code_of(v, ORDER, 0, 0));
    for (size_t i = 0; i < t->values_count; i++) {
        const struct reader_argument *argument =
            timeline_value(&t->values[i], e);
        if (argument && v->reals[i])
            fprintf(file, "r%.17g %s\n", value_number(argument),
                    code_of(v, VALUES, i, 0));
        else if (argument)
            put_bits(file, argument->word, code_of(v, VALUES, i, 0));
    }
}

/* -------------------------------------------------------------- switches -- */

static int changes_compare(const void *a, const void *b)
{
    const struct change *left = a, *right = b;
    int last = array_order(left->sequence, right->sequence, 0);
    return array_order(left->ns, right->ns,
                       array_order(right->ends, left->ends, last));
}

static void change_add(struct vcd *v, const struct switches_slice *slice,
                       uint64_t ns, bool ends)
{
    const size_t sequence = v->changes_count;
    *array_add(v->changes, v->changes_count, v->changes_max) =
        (struct change){ns, sequence, slice, ends};
}

/* Lists the begins and ends of all slices, sorted by time. A slice of no time
 * is left out: its end would sort before its begin. */
static void changes_make(struct vcd *v)
{
    const struct switches *s = &v->switches;
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct switches_slice *slice = &s->slices[i];
        if (slice->begin == slice->end)
            continue;
        change_add(v, slice, slice->begin, false);
        change_add(v, slice, slice->end, true);
    }
    array_sort(v->changes, v->changes_count, changes_compare);
    v->active = need(calloc(s->interrupts_count + 1, sizeof *v->active));
}

/* A thread's wires are unknown between its slices. */
static void put_thread(struct vcd *v, const struct switches_slice *slice,
                       bool ends)
{
    const struct timeline_lane *lane = v->switches.threads[slice->of]->lane;
    bool unknown = ends || slice->state == SWITCHES_UNKNOWN;
    put_wire(v,
             unknown                            ? 'x'
             : slice->state == SWITCHES_RUNNING ? '1'
                                                : '0',
             lane_code(v, lane, RUNNING));
    put_wire(v,
             unknown                          ? 'x'
             : slice->state == SWITCHES_READY ? '1'
                                              : '0',
             lane_code(v, lane, IS_READY));
}

static void put_change(struct vcd *v, const struct change *change)
{
    const struct switches_slice *slice = change->slice;
    unsigned *active;
    switch (slice->what) {
    case SWITCHES_THREAD: put_thread(v, slice, change->ends); break;
    case SWITCHES_INTERRUPT:
        active = v->active[slice->of];
        active[slice->state == SWITCHES_UNKNOWN] += change->ends ? -1u : 1u;
        put_wire(v,
                 active[0]   ? '1'
                 : active[1] ? 'x'
                             : '0',
                 code_of(v, INTERRUPTS, slice->of, 0));
        break;
    default:
        put_wire(v, change->ends ? '0' : '1',
                 code_of(v, CPUS, slice->cpu,
                         slice->what == SWITCHES_IDLE ? IDLE : OFF));
    }
}

static void put_event(struct vcd *v, const struct timeline_event *e)
{
    put_time(v, e->ns);
    if (v->running != e->lane && !v->switches.any) {
        if (v->running)
            put_wire(v, '0', lane_code(v, v->running, RUNNING));
        v->running = e->lane;
        put_wire(v, '1', lane_code(v, v->running, RUNNING));
    }
    if (e->ns >= timeline_lane_end(v->timeline, e->lane) && e->lane->depth &&
        e->ns != v->timeline->length_ns)
        put_spans(v, e->lane, 0); /* its thread ends */
    else if (e->opens || e->closed)
        put_spans(v, e->lane, e->lane->depth);
    if (!v->waves->plain)
        put_record(v, e);
}

/* ----------------------------------------------------------------- merge -- */

static void read_next(struct vcd *v)
{
    v->ended = !timeline_next(v->timeline, &v->event);
}

/* After the last record of a source, while other sources have more, no thread
 * runs and no span is open. */
static void put_end(struct vcd *v)
{
    const struct timeline *t = v->timeline;
    put_time(v, t->length_ns + v->waves->unit_ns);
    if (v->running)
        put_wire(v, '0', lane_code(v, v->running, RUNNING));
    for (size_t i = 0; i < t->lanes_count; i++)
        if (t->lanes[i]->depth)
            put_spans(v, t->lanes[i], 0);
}

/* Returns the kind of the next item of a source; *ns becomes its time on the
 * common axis. At equal times, changes come before events. */
enum next { CHANGE, EVENT, END, NOTHING };
static enum next next_of(const struct vcd *v, uint64_t *ns)
{
    const struct timeline *t = v->timeline;
    const struct change *change =
        v->changed < v->changes_count ? &v->changes[v->changed] : NULL;
    enum next next = NOTHING;
    if (change && (v->ended || change->ns <= v->event.ns)) {
        *ns = change->ns;
        next = CHANGE;
    } else if (!v->ended) {
        *ns = v->event.ns;
        next = EVENT;
    } else if (!v->closed) {
        *ns = t->length_ns + v->waves->unit_ns;
        next = END;
    }
    *ns += t->later_ns;
    return next;
}

static void put_next(struct vcd *v, enum next next)
{
    if (next == CHANGE) {
        put_time(v, v->changes[v->changed].ns);
        put_change(v, &v->changes[v->changed++]);
    } else if (next == EVENT) {
        put_event(v, &v->event);
        read_next(v);
    } else {
        put_end(v);
        v->closed = true;
    }
    output_check(&v->waves->out);
}

/* Writes all changes and events of all sources, by time. */
static void put_all(struct vcd *all, size_t count)
{
    struct vcd *first;
    for (size_t i = 0; i < count; i++)
        read_next(&all[i]);
    do {
        enum next next = NOTHING;
        uint64_t least = 0;
        first = NULL;
        for (size_t i = 0; i < count; i++) {
            uint64_t ns = 0;
            enum next one = next_of(&all[i], &ns);
            if (one != NOTHING && (!first || ns < least)) {
                first = &all[i];
                least = ns;
                next = one;
            }
        }
        if (first)
            put_next(first, next);
    } while (first);
}

/* ---------------------------------------------------------------- script -- */

static const char script_head[] =
    "# gtkwave -S THIS: all signals, all of the time.\n";

/* True if a script may take this name: it is free, or a script of ours. */
static bool script_may(const char *path)
{
    char head[sizeof script_head] = "";
    struct stat is;
    FILE *file;
    if (lstat(path, &is) != 0)
        return true;
    file = S_ISREG(is.st_mode) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    if (!fgets(head, sizeof head, file))
        head[0] = '\0';
    fclose(file);
    return strcmp(head, script_head) == 0;
}

/* FILE.tcl for FILE.vcd: viewers open with no signal shown. */
static void script_write(struct call *call, const char *path,
                         const struct vcd *all, size_t count)
{
    static const char *const parts[] = {"threads.*", "interrupts.*", "cpus.*",
                                        "recorders.*", "order*"};
    size_t size = strlen(path);
    char *name = need(malloc(size + 5));
    struct output out;
    if (size > 4 && strcmp(path + size - 4, ".vcd") == 0)
        size -= 4;
    sprintf(name, "%.*s.tcl", (int)size, path);
    if (!script_may(name)) {
        warn(call,
             "%s exists and is not by recorder export: it stays, and "
             "gtkwave -S has no script for %s",
             name, path);
        free(name);
        return;
    }
    output_open(&out, call, name);
    fputs(script_head, out.file);
    fputs("foreach part {", out.file);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            fprintf(out.file, "%s%s%s%s", i || k ? " " : "",
                    all[i].scope ? all[i].scope : "", all[i].scope ? "." : "",
                    parts[k]);
    fputs("} {\n"
          "    set names {}\n"
          "    for {set i 0} {$i < [gtkwave::getNumFacs]} {incr i} {\n"
          "        set name [gtkwave::getFacName $i]\n"
          "        if {[string match $part $name]} { lappend names $name }\n"
          "    }\n"
          "    gtkwave::addSignalsFromList $names\n"
          "}\n"
          "gtkwave::/Time/Zoom/Zoom_Full\n",
          out.file);
    output_close(&out);
    free(name);
}

/* ---------------------------------------------------------------- export -- */

static bool scope_is_taken(const struct vcd *all, size_t i, const char *name)
{
    while (i--)
        if (strcmp(all[i].scope, name) == 0)
            return true;
    return false;
}

/* Makes the name of a source's scope: letters and digits, as no other has it. */
static char *scope_make(const struct vcd *all, size_t i)
{
    const char *title = all[i].timeline->call->title;
    char *name = NULL;
    for (unsigned number = 1; !name; number++) {
        name = number == 1 ? need(strdup(title))
                           : need_text("%s_%u", title, number);
        for (char *at = name; *at; at++)
            *at = isalnum((unsigned char)*at) ? *at : '_';
        if (scope_is_taken(all, i, name)) {
            free(name);
            name = NULL;
        }
    }
    return name;
}

/* Learns the kinds of all values, which the head of the file declares: integers
 * are exact, unless a variable has floats, too. */
static void kinds_find(struct vcd *v)
{
    struct timeline *t = v->timeline;
    struct timeline_event e;
    v->reals = need(calloc(t->values_count + 1, 1));
    v->wides = need(calloc(t->values_count + 1, 1));
    if (!t->values_count)
        return;
    while (timeline_next(t, &e))
        for (size_t i = 0; i < t->values_count; i++) {
            const struct reader_argument *a = timeline_value(&t->values[i], &e);
            v->reals[i] |= a && a->kind == READER_REAL;
            v->wides[i] |= a && a->kind == READER_UNSIGNED && a->word >> 63;
        }
    timeline_rewind(t);
}

static void vcd_open(struct vcd *all, size_t i, struct waves *w,
                     struct timeline *timeline)
{
    struct vcd *v = &all[i];
    uint64_t length = timeline->later_ns + timeline->length_ns;
    *v = (struct vcd){.waves = w, .timeline = timeline};
    switches_export(&v->switches, timeline);
    codes_begin(v, i ? v[-1].first[GROUPS] : 0);
    changes_make(v);
    kinds_find(v);
    if (timeline->call->title)
        v->scope = scope_make(all, i);
    w->length_ns = length > w->length_ns ? length : w->length_ns;
}

static void put_variables(struct vcd *v)
{
    FILE *file = v->waves->out.file;
    if (v->scope)
        fprintf(file, "$scope module %s $end\n", v->scope);
    put_lanes(v);
    put_machine(v);
    if (v->waves->plain && !v->timeline->lanes_count)
        warn(v->timeline->call, "there is no record, and so no wire");
    if (!v->waves->plain)
        put_recorders(v);
    if (v->scope)
        fputs("$upscope $end\n", file);
}

void export_vcd(struct call *calls, const char *path)
{
    struct waves w = {.plain = call_option(calls, EXPORT_PLAIN)};
    size_t count, i;
    struct timeline *timelines;
    struct vcd *all;
    bool to_file;
    output_open(&w.out, calls, path);
    to_file = w.out.temporary;
    timelines = timelines_open(calls, EXPORT_VALUE, &count);
    all = need(calloc(count, sizeof *all));
    for (i = 0; i < count; i++)
        vcd_open(all, i, &w, &timelines[i]);
    for (i = 0; i < count; i++)
        all[i].closed =
            timelines[i].later_ns + timelines[i].length_ns == w.length_ns;
    put_head(&w, all, count);
    for (i = 0; i < count; i++)
        put_variables(&all[i]);
    fputs("$enddefinitions $end\n#0\n$dumpvars\n", w.out.file);
    for (i = 0; i < count; i++)
        put_start(&all[i]);
    fputs("$end\n", w.out.file);
    put_all(all, count);
    if (w.now <= w.length_ns / w.unit_ns)
        fprintf(w.out.file, "#%" PRIu64 "\n", w.length_ns / w.unit_ns + 1);
    for (i = 0; i < count; i++)
        switches_free(&all[i].switches);
    timelines_close(timelines, count); /* refuses a value that is missing */
    output_close(&w.out);
    if (to_file && !w.plain)
        script_write(calls, path, all, count);
    for (i = 0; i < count; i++) {
        free(all[i].changes);
        free(all[i].active);
        free(all[i].reals);
        free(all[i].wides);
        free(all[i].scope);
    }
    free(all);
}
