/* view.c - recorder view: a timeline in one HTML file, or a live one. */
/* SPDX-License-Identifier: MIT */
#include "view.h"
#include "labels.h"
#include "print.h"
#include "sources.h"

/* ------------------------------------------------------------------ file -- */

/* $TMPDIR/recorder-core.123.html. Ends the command if that exists and is no file
 * of ours: in a folder that all may write to, another user's link or pipe may
 * point elsewhere. */
static char *default_path(const struct call *call)
{
    char *path =
        need_text("%s/recorder-%s.html", environment_or("TMPDIR", "/tmp"),
                  basename(call->name));
    struct stat is;
    if (lstat(path, &is) == 0 &&
        (!S_ISREG(is.st_mode) || is.st_uid != geteuid()))
        fail(call, "%s exists and is not your file: -o FILE", path);
    return path;
}

static int write_file(struct call *call, const struct value_option *values,
                      size_t values_count, const char *path, bool open_it)
{
    struct view_page page = {.call = call, .reader = &call->reader};
    struct output output;
    struct view_pack *pack;
    struct timeline timeline;
    struct switches switches;
    char *own = NULL;
    size_t done = 0, some, all = 0;
    sources_take(call);
    for (struct call *c = call; c; c = c->next) {
        c->reader.missed = 0; /* the figures have them */
        reader_count(&c->reader);
        all += c->reader.taken;
    }
    if (!path)
        path = own = default_path(call);
    output_open(&output, call, path);
    pack = view_pack_new(call, &call->reader, values, values_count);
    if (!call->title) { /* of several machines, processors are not told */
        timeline_open(&timeline, call, TIMELINE_QUIET);
        switches_export(&switches, &timeline);
        view_pack_switches(pack, &switches);
    }
    view_page_begin(&page, output.file);
    do {
        fputs("<script type=\"application/json\" class=\"batch\">",
              output.file);
        some = view_pack_write(pack, output.file, VIEW_BATCH, true);
        fputs("</script>\n", output.file);
        done += some;
        progress(call, done, all);
    } while (some == VIEW_BATCH);
    view_page_end(&page, output.file);
    view_pack_warn(pack);
    view_pack_free(pack);
    if (!call->title) {
        switches_free(&switches);
        timeline_close(&timeline);
    }
    output_close(&output);
    if (strcmp(path, "-") != 0) {
        printf("%s\n", path);
        fflush(stdout);
        if (open_it && view_can_open())
            view_open(path);
    }
    free(own);
    return 0;
}

/* ------------------------------------------------------------------ verb -- */

enum { VALUE = OPTION_OWN, NO_OPEN, LIVE, PORT };

static int run(struct call *call)
{
    struct value_option values[sizeof call->options / sizeof *call->options];
    size_t count = 0;
    const char *port_text = call_option(call, PORT);
    uint64_t port = port_text ? number_of(call, port_text, "--port", 65535) : 0;
    struct call *calls;
    int status;
    for (int i = 0; i < call->options_count; i++)
        if (call->options[i].key == VALUE)
            value_open(call, call->options[i].value, &values[count++]);
    if (port_text && !call_option(call, LIVE))
        misuse(call, "--port goes with --live");
    if (call_option(call, LIVE) && call_option(call, 'o'))
        misuse(call, "--live serves the page; -o does not go with it");
    if (call_option(call, LIVE) && call->arguments_count > 1)
        misuse(call, "--live shows one SOURCE");
    calls = sources_open(call, 0);
    if (call_option(call, LIVE)) {
        if (!call->source.pid && !call->source.memory->live)
            fail(call, "--live needs the id of a running process");
        status = view_live(call, values, count, (unsigned)port,
                           !call_option(call, NO_OPEN));
    } else
        status = write_file(calls, values, count, call_option(call, 'o'),
                            !call_option(call, NO_OPEN));
    while (count > 0)
        value_close(&values[--count]);
    return sources_close(calls) ? 1 : status;
}

static const struct option_row rows[] = {
    {'o', "output", "FILE", "write the page to FILE; - is stdout"},
    {VALUE, "value", "RECORDER:N=NAME",
     "plot argument N of the recorders that match"},
    ROW_LABEL,
    {NO_OPEN, "no-open", NULL, "do not open a browser"},
    {LIVE, "live", NULL,
     "serve the page on 127.0.0.1 and show new records of a running program"},
    {PORT, "port", "PORT", "serve on this port, not on any that is free"},
    {0, NULL, NULL, NULL}};

const struct verb verb_view = {
    .name = "view",
    .arguments = "SOURCE...",
    .summary = "shows a timeline in a browser",
    .help =
        "Writes one HTML file that needs no network and no other file, and "
        "prints its path; without -o it is $TMPDIR/recorder-SOURCE.html. It "
        "is opened if there is a display and stdout is a terminal. In the "
        "page, press ? for its keys.\n\n"
        "A format that begins with > opens a span, and one that begins with < "
        "closes the last one of its thread and recorder.\n\n"
        "With records of switches (recorder_switch.h), each thread has a "
        "strip below: solid while it runs, hatched while it is ready, empty "
        "while it is blocked, nothing while its state is unknown; and each "
        "processor has a lane, with nested interrupts. Not with --live.\n\n"
        "Several SOURCES share one time axis, one below the other, each with "
        "its host, program, threads and recorders; without the strips and "
        "processors.\n\n"
        "With --live, SOURCE is the id of a running process: the page is "
        "served at the printed address, for up to 32 browsers, until the "
        "program ends.",
    .for_people = true,
    .rows = rows,
    .selects = true,
    .calls = true,
    .run = run,
    .kernel = true};
