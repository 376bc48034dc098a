/* ctf.c - a CTF 1.8 trace: a class a format, a stream a recorder. */
/* SPDX-License-Identifier: MIT */
/*
    An event holds its arguments in the types that its format gives them; one of
    which arguments were lost is of a class without them. babeltrace2 ends at a
    time that goes back in a stream, so that streams are sorted by time. Records
    overwritten are events that the first packet of a stream discarded. Several
    sources are a trace each, in separate folders: readers open them all.
*/
#include "export.h"
#include "print.h"

enum { PACKET_BYTES = 65536 }; /* an index of packets makes viewers quick */

struct stream {
    char name[160];       /* of its file */
    struct buffer packet; /* events of the packet that is being filled */
    uint64_t begin, end, discarded;
    bool begun;
};

struct ctf {
    struct timeline timeline;
    struct output *out;
    struct buffer metadata;
    struct ids classes;
    struct stream *streams; /* one a recorder */
    uint64_t offset; /* of the clock: a timeline's start after the program's */
};

/* ------------------------------------------------------------ the stream -- */

/* A NUL ends it: bytes that hold one are shown as messages show them. */
static void put_string(struct buffer *b, const char *text, size_t size)
{
    text = text_repaired(text, &size);
    if (memchr(text, 0, size))
        text = text_shown(text, &size);
    buffer_add(b, text, size);
    buffer_add(b, "", 1);
}

static void packet_write(struct ctf *ctf, struct stream *stream)
{
    enum { HEAD = 4 + 5 * 8 };
    struct buffer head = {0};
    uint64_t bits = 8 * (HEAD + (uint64_t)stream->packet.size);
    buffer_little(&head, 0xc1fc1fc1, 4);
    buffer_little(&head, stream->begin, 8);
    buffer_little(&head, stream->end, 8);
    buffer_little(&head, bits, 8); /* of content */
    buffer_little(&head, bits, 8); /* of the packet */
    buffer_little(&head, stream->discarded, 8);
    buffer_add(&head, stream->packet.at, stream->packet.size);
    output_append(ctf->out, stream->name, head.at, head.size);
    free(head.at);
    stream->packet.size = 0;
    stream->begin = stream->end;
}

/* ---------------------------------------------------------- the metadata -- */

/* Writes a text as a literal on one line, without a final newline; control
 * characters are escaped as in messages, \n or \x1b. */
static void put_literal(struct buffer *b, const char *text)
{
    size_t size = strlen(text);
    if (size && text[size - 1] == '\n')
        size--;
    for (text = text_shown(text, &size); *text; text++)
        buffer_print(b, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
}

/* Lists the recorders whose counts of discarded events are estimates: a packet
 * has no field for that. */
static void put_estimates(struct ctf *ctf)
{
    const struct reader *reader = &ctf->timeline.call->reader;
    struct buffer *b = &ctf->metadata;
    size_t some = 0;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (!r->chosen || r->wrong || !r->figures.estimated)
            continue;
        buffer_print(b, some++ ? " " : "    discarded_estimated = \"");
        put_literal(b, r->shown);
    }
    if (some)
        buffer_print(b, "\";\n");
}

static void put_head(struct ctf *ctf)
{
    const struct timeline *t = &ctf->timeline;
    struct buffer *b = &ctf->metadata;
    uint64_t wall = t->realtime_ns ? t->realtime_ns - ctf->offset : 0, read;
    uint64_t end = reader_end_realtime(&t->call->reader, &read);
    buffer_print(
        b,
        "/* CTF 1.8 */\n"
        "typealias integer { size = 32; align = 8; } := uint32_t;\n"
        "typealias integer { size = 64; align = 8; } := uint64_t;\n"
        "typealias integer { size = 64; align = 8; base = 16; } := pointer_t;\n"
        "typealias integer { size = 32; align = 8; signed = true; } := "
        "int32_t;\n"
        "typealias integer { size = 64; align = 8; signed = true; } := "
        "int64_t;\n"
        "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } "
        ":= double_t;\n"
        "trace {\n    major = 1;\n    minor = 8;\n    byte_order = le;\n"
        "    packet.header := struct { uint32_t magic; };\n};\n"
        "env {\n    tracer_name = \"recorder\";\n    vpid = %" PRIu64 ";\n"
        "    source = \"",
        t->call->reader.pid);
    put_literal(b, t->call->name);
    if (t->call->title) {
        buffer_print(b, "\";\n    hostname = \"");
        put_literal(b, t->call->title);
    }
    buffer_print(b, "\";\n    procname = \"");
    put_literal(b, call_program(t->call));
    buffer_print(b, "\";\n    end_wall_ns = %" PRIu64 ";\n", end);
    if (read)
        buffer_print(b, "    read_wall_ns = %" PRIu64 ";\n", read);
    put_estimates(ctf);
    buffer_print(
        b,
        "};\n"
        "clock {\n    name = program;\n    freq = 1000000000;\n"
        "    offset_s = %" PRIu64 ";\n    offset = %" PRIu64 ";\n"
        "    absolute = %s;\n};\n"
        "typealias integer { size = 64; align = 8; map = clock.program.value; "
        "} := time_t;\n"
        "stream {\n    packet.context := struct {\n"
        "        time_t timestamp_begin;\n        time_t timestamp_end;\n"
        "        uint64_t content_size;\n        uint64_t packet_size;\n"
        "        uint64_t events_discarded;\n    };\n"
        "    event.header := struct { uint32_t id; time_t timestamp; };\n"
        "    event.context := struct {\n        uint64_t order;\n"
        "        pointer_t caller;\n        uint32_t thread;\n"
        "        int32_t tid;\n"
        "        string { encoding = UTF8; } thread_name;\n    };\n};\n",
        wall / 1000000000, wall % 1000000000,
        t->realtime_ns ? "true" : "false");
}

/* "_name" is no keyword of the language; babeltrace2 drops the line again. */
static void put_field(struct buffer *b, const char *type, const char *name)
{
    buffer_print(b, "        %s _", type);
    for (; *name; name++)
        buffer_print(b, "%c", isalnum((unsigned char)*name) ? *name : '_');
    buffer_print(b, ";\n");
}

/* True if two names would be one field. */
static bool is_same_field(const char *a, const char *b)
{
    while (*a && (*a == *b || (!isalnum((unsigned char)*a) &&
                               !isalnum((unsigned char)*b) && *b)))
        a++, b++;
    return *a == *b;
}

/* Makes the name of argument `i`, unlike those before it. */
static const char *field_name(const struct ctf *ctf,
                              const struct timeline_event *e, unsigned i)
{
    static char own[8];
    const char *name = timeline_name(&ctf->timeline, e, i);
    for (unsigned n = 0; n < i; n++)
        if (is_same_field(timeline_name(&ctf->timeline, e, n), name)) {
            snprintf(own, sizeof own, "arg%u", i + 1);
            return own;
        }
    return name;
}

static void put_class(struct ctf *ctf, const struct timeline_event *e,
                      size_t id)
{
    struct buffer *b = &ctf->metadata;
    static const char *const types[] = {[READER_SIGNED] = "int64_t",
                                        [READER_CHARACTER] = "int64_t",
                                        [READER_UNSIGNED] = "uint64_t",
                                        [READER_REAL] = "double_t",
                                        [READER_POINTER] = "pointer_t",
                                        [READER_STRING] =
                                            "string { encoding = UTF8; }"};
    /* syslog's numbers of event_severity_text(). */
    static const unsigned loglevels[4] = {6, 5, 4, 3};
    buffer_print(b, "event {\n    id = %zu;\n    name = \"", id);
    put_literal(b, e->read.recorder->shown);
    buffer_print(b, ":");
    put_literal(b, e->format);
    buffer_print(b, "\";\n");
    if (e->read.event.severity >= 0)
        buffer_print(b, "    loglevel = %u;\n",
                     loglevels[e->read.event.severity]);
    buffer_print(b, "    fields := struct {\n");
    for (unsigned i = 0; i < e->arguments_count; i++)
        if (e->arguments[i].kind != READER_LOST)
            put_field(b, types[e->arguments[i].kind], field_name(ctf, e, i));
    if (e->read.event.severity >= 0)
        put_field(b, types[READER_STRING], "severity");
    if (e->read.kind)
        put_field(b, types[READER_STRING], "kind");
    put_field(b, types[READER_STRING], "message");
    put_field(b, types[READER_STRING], "location");
    buffer_print(b, "    };\n};\n");
}

static size_t class_of(struct ctf *ctf, const struct timeline_event *e)
{
    uint64_t kinds = 0;
    bool is_new;
    size_t id;
    for (unsigned i = 0; i < e->arguments_count; i++)
        kinds = kinds << 4 | (unsigned)(e->arguments[i].kind + 1);
    kinds |= (uint64_t)(e->read.event.severity + 1) << 48;
    id = ids_add(&ctf->classes, e->read.event.format, e->recorder, kinds,
                 &is_new);
    if (is_new)
        put_class(ctf, e, id);
    return id;
}

/* ---------------------------------------------------------------- events -- */

static void put_argument(struct buffer *b,
                         const struct reader_argument *argument)
{
    switch (argument->kind) {
    case READER_REAL: buffer_real(b, argument->real); break;
    case READER_STRING:
        put_string(b, argument->text, argument->text_size);
        break;
    case READER_LOST: break;
    default: buffer_little(b, argument->word, 8);
    }
}

/* A reader shows discarded events as the difference of two packets: the first
 * of a stream is empty, and ends where its recorder's records begin. */
static void put_gap(struct ctf *ctf, size_t recorder, uint64_t first)
{
    struct stream *stream = &ctf->streams[recorder];
    const struct recorder_figures_ *figures =
        &ctf->timeline.call->reader.recorders[recorder]->figures;
    uint64_t ns;
    if (stream->begun || !timeline_gap(&ctf->timeline, recorder, &ns))
        return;
    stream->begun = true;
    stream->begin = stream->end = ctf->offset;
    packet_write(ctf, stream);
    stream->discarded = figures->overwritten + figures->lost + figures->missed;
    stream->end = first;
    packet_write(ctf, stream);
}

static void put_record(struct ctf *ctf, const struct timeline_event *e)
{
    struct stream *stream = &ctf->streams[e->recorder];
    struct buffer *b = &stream->packet;
    const struct reader_thread *thread = e->read.thread;
    const char *severity = event_severity(&e->read.event);
    const char *message;
    size_t size;
    put_gap(ctf, e->recorder, ctf->offset + e->ns);
    if (b->size == 0)
        stream->begin = ctf->offset + e->ns;
    stream->end = ctf->offset + e->ns;
    buffer_little(b, class_of(ctf, e), 4);
    buffer_little(b, stream->end, 8);
    buffer_little(b, e->read.event.order, 8);
    buffer_little(b, e->read.event.caller, 8);
    buffer_little(b, thread ? thread->number : 0, 4);
    buffer_little(b, thread ? (uint32_t)thread->id : 0, 4);
    put_string(b, thread ? thread->name : "",
               thread ? strlen(thread->name) : 0);
    for (unsigned i = 0; i < e->arguments_count; i++)
        put_argument(b, &e->arguments[i]);
    if (severity)
        put_string(b, severity, strlen(severity));
    if (e->read.kind)
        put_string(b, e->read.kind, strlen(e->read.kind));
    message = reader_message(&ctf->timeline.call->reader, &e->read, &size);
    put_string(b, message, size);
    put_string(b, e->location, strlen(e->location));
    if (b->size >= PACKET_BYTES)
        packet_write(ctf, stream);
}

/* Writes a trace into a folder of the output, "" or "NAME/". */
static void put_trace(struct call *call, struct output *out, const char *folder)
{
    struct ctf ctf = {.out = out};
    struct timeline *t = &ctf.timeline;
    struct timeline_event e;
    size_t i, count = call->reader.recorders_count;
    char name[160];
    timeline_open(t, call, EXPORT_VALUE);
    if (*folder && !t->realtime_ns)
        warn(call,
             "knows no date: babeltrace2 opens its folder %s alone, not with "
             "others",
             folder);
    ctf.offset = t->start_ns > 0 ? (uint64_t)t->start_ns : 0;
    ctf.streams = need(calloc(count + 1, sizeof *ctf.streams));
    put_head(&ctf);
    for (i = 0; i < count; i++)
        snprintf(ctf.streams[i].name, sizeof ctf.streams[i].name,
                 "%sstream-%zu", folder, i);
    while (timeline_next(t, &e))
        put_record(&ctf, &e);
    for (i = 0; i < count; i++) {
        put_gap(&ctf, i, ctf.offset + t->length_ns);
        if (ctf.streams[i].packet.size)
            packet_write(&ctf, &ctf.streams[i]);
        free(ctf.streams[i].packet.at);
    }
    snprintf(name, sizeof name, "%smetadata", folder);
    output_append(out, name, ctf.metadata.at, ctf.metadata.size);
    timeline_close(t);
    free(ctf.streams);
    free(ctf.metadata.at);
    ids_free(&ctf.classes);
}

void export_ctf(struct call *calls, const char *path)
{
    struct output out;
    output_folder(&out, calls, path);
    for (struct call *c = calls; c; c = c->next) {
        char *folder = c->title ? output_subfolder(&out, c->title) : NULL;
        put_trace(c, &out, folder ? folder : "");
        free(folder);
    }
    output_folder_close(&out);
}
