/* vcd.c - waveforms: threads as wires, as an oscilloscope shows them. */
/* SPDX-License-Identifier: MIT */
/*
    threads.T1_main             1: this thread recorded last or, where records
                                say what ran, this thread runs; x: unknown
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

    --plain keeps what is a wire, and takes time coarse enough for sigrok, which
    makes a sample of every unit of it.
*/
#include "array.h"
#include "export.h"
#include "switches.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SAMPLES_MAX = 1000000 };

/* A wire changes. */
struct change {
    uint64_t ns;
    size_t sequence;
    const struct switches_slice *slice;
    bool ends;
};

struct vcd {
    struct timeline timeline;
    struct switches switches;
    struct change *changes; /* by time, then ends first */
    size_t changes_count, changes_max, changed;
    unsigned (*active)[2]; /* of each interrupt; [1]: with unknown end */
    struct output out;
    bool plain;
    uint64_t unit_ns; /* of time in the file */
    uint64_t now;     /* the last unit written */
    const struct timeline_lane *running;
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

enum { RUNNING, IN_SPAN, SPANS, IS_READY, OF_LANE };
static const char *lane_code(const struct timeline_lane *lane, size_t which)
{
    return code(1 + lane->index * OF_LANE + which);
}
enum { RECORD, MESSAGE, OF_RECORDER };
static const char *recorder_code(const struct vcd *v, size_t i, size_t which)
{
    return code(1 + v->timeline.lanes_count * OF_LANE + i * OF_RECORDER +
                which);
}
static const char *value_code(const struct vcd *v, size_t i)
{
    return recorder_code(v, v->timeline.call->reader.recorders_count, i);
}
static const char *interrupt_code(const struct vcd *v, size_t i)
{
    return value_code(v, v->timeline.values_count + i);
}
enum { IDLE, OFF, OF_CPU };
static const char *cpu_code(const struct vcd *v, size_t i, size_t which)
{
    return interrupt_code(v, v->switches.interrupts_count + i * OF_CPU + which);
}
static const char *order_code(void)
{
    return code(0);
}

/* ---------------------------------------------------------- declarations -- */

/* Writes a name without dots and brackets, to which viewers give a meaning. */
static void put_name(FILE *file, const char *name)
{
    for (; *name; name++)
        putc(isalnum((unsigned char)*name) ? *name : '_', file);
}

static void put_variable(struct vcd *v, const char *type, const char *of_code,
                         const char *name, const char *behind)
{
    fprintf(v->out.file, "$var %s %s ", type, of_code);
    put_name(v->out.file, name);
    if (*behind)
        putc('_', v->out.file);
    put_name(v->out.file, behind);
    fputs(" $end\n", v->out.file);
}

static void put_head(struct vcd *v)
{
    static const char *const units[] = {"1 ns",   "10 ns",  "100 ns", "1 us",
                                        "10 us",  "100 us", "1 ms",   "10 ms",
                                        "100 ms", "1 s",    "10 s",   "100 s"};
    const struct timeline *t = &v->timeline;
    const char *program = t->call->reader.program;
    size_t unit = 0;
    v->unit_ns = 1;
    if (v->plain)
        for (; t->length_ns / v->unit_ns > SAMPLES_MAX && unit < 11; unit++)
            v->unit_ns *= 10;
    fputs("$version recorder $end\n", v->out.file);
    if (*program && !strchr(program, '$')) /* "$end" would end it */
        fprintf(v->out.file, "$comment program %s $end\n", program);
    fprintf(v->out.file,
            "$comment 0 is %" PRId64 " ns since the program's start $end\n",
            t->start_ns);
    if (t->realtime_ns)
        fprintf(v->out.file,
                "$comment 0 is %" PRIu64 " ns since 1970, UTC $end\n",
                t->realtime_ns);
    fprintf(v->out.file, "$timescale %s $end\n", units[unit]);
}

static void put_lanes(struct vcd *v)
{
    const struct timeline *t = &v->timeline;
    fputs("$scope module threads $end\n", v->out.file);
    for (size_t i = 0; i < t->lanes_count; i++) {
        const struct timeline_lane *lane = t->lanes[i];
        char name[64];
        if (lane->log)
            continue;
        if (lane->thread)
            snprintf(name, sizeof name, "T%u %s", lane->number, lane->name);
        else
            snprintf(name, sizeof name, "%s", lane->name);
        put_variable(v, "wire 1", lane_code(lane, RUNNING), name, "");
        if (lane->thread_of)
            put_variable(v, "wire 1", lane_code(lane, IS_READY), name, "ready");
        if (lane->silent || lane->log)
            continue;
        put_variable(v, "wire 1", lane_code(lane, IN_SPAN), name, "span");
        if (!v->plain)
            put_variable(v, "string 1", lane_code(lane, SPANS), name, "spans");
    }
    fputs("$upscope $end\n", v->out.file);
}

static void put_machine(struct vcd *v)
{
    const struct switches *s = &v->switches;
    char name[64];
    if (!s->any)
        return;
    fputs("$scope module interrupts $end\n", v->out.file);
    for (size_t i = 0; i < s->interrupts_count; i++)
        put_variable(
            v, "wire 1", interrupt_code(v, i),
            switches_name(s->interrupts[i].name, s->interrupts[i].id, name),
            "");
    fputs("$upscope $end\n$scope module cpus $end\n", v->out.file);
    for (size_t i = 0; i < SWITCHES_CPUS; i++) {
        if (!s->cpus[i])
            continue;
        snprintf(name, sizeof name, "%zu", i);
        if (s->cpus[i]->sleeps)
            put_variable(v, "wire 1", cpu_code(v, i, IDLE), name, "idle");
        if (s->cpus[i]->offs)
            put_variable(v, "wire 1", cpu_code(v, i, OFF), name,
                         "interrupts_off");
    }
    fputs("$upscope $end\n", v->out.file);
}

static void put_recorders(struct vcd *v)
{
    const struct timeline *t = &v->timeline;
    fputs("$scope module recorders $end\n", v->out.file);
    for (size_t i = 0; i < t->call->reader.recorders_count; i++) {
        const struct reader_recorder *recorder = t->call->reader.recorders[i];
        const char *name = recorder->name;
        if (!recorder->chosen)
            continue;
        put_variable(v, "event 1", recorder_code(v, i, RECORD), name, "");
        put_variable(v, "string 1", recorder_code(v, i, MESSAGE), name,
                     "message");
        for (size_t n = 0; n < t->values_count; n++)
            if (t->values[n].recorder == i)
                put_variable(v, "real 64", value_code(v, n), name,
                             t->values[n].name);
    }
    fputs("$upscope $end\n", v->out.file);
    put_variable(v, "integer 64", order_code(), "order", "");
}

static void put_start(struct vcd *v)
{
    const struct timeline *t = &v->timeline;
    fputs("$enddefinitions $end\n#0\n$dumpvars\n", v->out.file);
    for (size_t i = 0; i < t->lanes_count; i++) {
        if (t->lanes[i]->log)
            continue;
        fprintf(v->out.file, "%c%s\n", v->switches.any ? 'x' : '0',
                lane_code(t->lanes[i], RUNNING));
        if (!t->lanes[i]->silent && !t->lanes[i]->log)
            fprintf(v->out.file, "0%s\n", lane_code(t->lanes[i], IN_SPAN));
        if (t->lanes[i]->thread_of)
            fprintf(v->out.file, "x%s\n", lane_code(t->lanes[i], IS_READY));
    }
    for (size_t i = 0; i < v->switches.interrupts_count; i++)
        fprintf(v->out.file, "0%s\n", interrupt_code(v, i));
    for (size_t i = 0; i < SWITCHES_CPUS; i++) {
        const struct switches_cpu *cpu = v->switches.cpus[i];
        if (cpu && cpu->sleeps)
            fprintf(v->out.file, "0%s\n", cpu_code(v, i, IDLE));
        if (cpu && cpu->offs)
            fprintf(v->out.file, "0%s\n", cpu_code(v, i, OFF));
    }
    if (!v->plain) /* readers want a change, even if there is no record */
        fprintf(v->out.file, "b0 %s\n", order_code());
    fputs("$end\n", v->out.file);
}

/* --------------------------------------------------------------- changes -- */

static void put_time(struct vcd *v, uint64_t ns)
{
    if (ns / v->unit_ns == v->now)
        return;
    v->now = ns / v->unit_ns;
    fprintf(v->out.file, "#%" PRIu64 "\n", v->now);
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
    FILE *file = v->out.file;
    fprintf(file, "%d%s\n", depth > 0, lane_code(lane, IN_SPAN));
    if (v->plain)
        return;
    putc('s', file);
    if (!depth)
        put_text(file, "-", 1);
    for (size_t i = 0; i < depth; i++) {
        if (i)
            put_text(file, " > ", 3);
        put_text(file, lane->spans[i].name, strlen(lane->spans[i].name));
    }
    fprintf(file, " %s\n", lane_code(lane, SPANS));
}

static void put_order(struct vcd *v, uint64_t order)
{
    int bit = 63;
    while (bit && !(order >> bit))
        bit--;
    putc('b', v->out.file);
    for (; bit >= 0; bit--)
        putc((int)('0' + (order >> bit & 1)), v->out.file);
    fprintf(v->out.file, " %s\n", order_code());
}

static void put_record(struct vcd *v, const struct timeline_event *e)
{
    const struct timeline *t = &v->timeline;
    FILE *file = v->out.file;
    const char *message;
    size_t size;
    fprintf(file, "1%s\n", recorder_code(v, e->recorder, RECORD));
    message = reader_message(&t->call->reader, &e->read, &size);
    putc('s', file);
    put_text(file, message, size);
    fprintf(file, " %s\n", recorder_code(v, e->recorder, MESSAGE));
    if (!e->read.outside)
        put_order(v, e->read.event.order);
    for (size_t i = 0; i < t->values_count; i++) {
        const struct reader_argument *argument =
            timeline_value(&t->values[i], e);
        if (argument)
            fprintf(file, "r%.16g %s\n", value_number(argument),
                    value_code(v, i));
    }
}

/* -------------------------------------------------------------- switches -- */

static int changes_compare(const void *a, const void *b)
{
    const struct change *left = a, *right = b;
    if (left->ns != right->ns)
        return left->ns < right->ns ? -1 : 1;
    if (left->ends != right->ends)
        return left->ends ? -1 : 1;
    return left->sequence < right->sequence ? -1 : 1;
}

static void change_add(struct vcd *v, const struct switches_slice *slice,
                       uint64_t ns, bool ends)
{
    v->changes = need(array_room(v->changes, &v->changes_max,
                                 v->changes_count + 1, sizeof(*v->changes)));
    v->changes[v->changes_count] =
        (struct change){ns, v->changes_count, slice, ends};
    v->changes_count++;
}

/* What takes no time is no change: it would end before it begins. */
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
    if (v->changes_count)
        qsort(v->changes, v->changes_count, sizeof *v->changes,
              changes_compare);
    v->active = need(calloc(s->interrupts_count + 1, sizeof *v->active));
}

/* A thread's wires are unknown between its slices. */
static void put_thread(struct vcd *v, const struct switches_slice *slice,
                       bool ends)
{
    const struct timeline_lane *lane = v->switches.threads[slice->of]->lane;
    bool unknown = ends || slice->state == SWITCHES_UNKNOWN;
    fprintf(v->out.file, "%c%s\n",
            unknown                            ? 'x'
            : slice->state == SWITCHES_RUNNING ? '1'
                                               : '0',
            lane_code(lane, RUNNING));
    fprintf(v->out.file, "%c%s\n",
            unknown                          ? 'x'
            : slice->state == SWITCHES_READY ? '1'
                                             : '0',
            lane_code(lane, IS_READY));
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
        fprintf(v->out.file, "%c%s\n",
                active[0]   ? '1'
                : active[1] ? 'x'
                            : '0',
                interrupt_code(v, slice->of));
        break;
    default:
        fprintf(
            v->out.file, "%d%s\n", !change->ends,
            cpu_code(v, slice->cpu, slice->what == SWITCHES_IDLE ? IDLE : OFF));
    }
}

/* Writes what changed up to a time. */
static void put_changes(struct vcd *v, uint64_t ns)
{
    for (; v->changed < v->changes_count && v->changes[v->changed].ns <= ns;
         v->changed++) {
        put_time(v, v->changes[v->changed].ns);
        put_change(v, &v->changes[v->changed]);
    }
}

static void put_event(struct vcd *v, const struct timeline_event *e)
{
    put_changes(v, e->ns);
    put_time(v, e->ns);
    if (v->running != e->lane && !v->switches.any && !e->lane->log) {
        if (v->running)
            fprintf(v->out.file, "0%s\n", lane_code(v->running, RUNNING));
        v->running = e->lane;
        fprintf(v->out.file, "1%s\n", lane_code(v->running, RUNNING));
    }
    if (e->ns >= timeline_lane_end(&v->timeline, e->lane) && e->lane->depth &&
        e->ns != v->timeline.length_ns)
        put_spans(v, e->lane, 0); /* its thread ends */
    else if (e->opens || e->closed)
        put_spans(v, e->lane, e->lane->depth);
    if (!v->plain)
        put_record(v, e);
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
static void script_write(struct call *call, const char *path)
{
    size_t size = strlen(path);
    char *name = need(malloc(size + 5));
    struct output out;
    if (size > 4 && strcmp(path + size - 4, ".vcd") == 0)
        size -= 4;
    sprintf(name, "%.*s.tcl", (int)size, path);
    if (!script_may(name)) {
        warn(call,
             "%s is there and not by recorder export: it stays, and "
             "gtkwave -S has no script for %s",
             name, path);
        free(name);
        return;
    }
    output_open(&out, call, name);
    fputs(script_head, out.file);
    fputs("foreach part {threads.* interrupts.* cpus.* recorders.* order*} {\n"
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

void export_vcd(struct call *call, const char *path)
{
    struct vcd v = {.plain = call_option(call, EXPORT_PLAIN)};
    struct timeline_event e;
    bool to_file;
    output_open(&v.out, call, path);
    to_file = v.out.temporary;
    timeline_open(&v.timeline, call, EXPORT_VALUE);
    switches_export(&v.switches, &v.timeline);
    changes_make(&v);
    put_head(&v);
    put_lanes(&v);
    put_machine(&v);
    if (v.plain && !v.timeline.lanes_count)
        warn(call, "there is no record, and so no wire");
    if (!v.plain)
        put_recorders(&v);
    put_start(&v);
    while (timeline_next(&v.timeline, &e)) {
        put_event(&v, &e);
        output_check(&v.out);
    }
    put_changes(&v, UINT64_MAX);
    put_time(&v, v.timeline.length_ns + v.unit_ns);
    free(v.changes);
    free(v.active);
    switches_free(&v.switches);
    timeline_close(&v.timeline);
    output_close(&v.out);
    if (to_file && !v.plain)
        script_write(call, path);
}
