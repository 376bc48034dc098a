/* view.c - recorder view: a timeline in one HTML file, or a live one. */
/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------ page -- */

/* The parts of the page are files of their own, for editors; paths are from
 * the folder that the tools are built in. */
#define PART(name, file)                                                       \
    __asm__(".section .rodata\n"                                               \
            "part_" #name ": .incbin \"tools/view/page/" file "\"\n"           \
            "part_" #name "_end: .byte 0\n"                                    \
            ".previous\n");                                                    \
    extern const char part_##name[] __asm__("part_" #name);                    \
    extern const char part_##name##_end[] __asm__("part_" #name "_end");
PART(html, "page.html")
PART(css, "page.css")
PART(plot_css, "uplot/uPlot.min.css")
PART(plot_licence, "uplot/LICENSE")
PART(plot, "uplot/uPlot.iife.min.js")
PART(data, "data.js")
PART(lanes, "lanes.js")
PART(draw, "draw.js")
PART(panes, "panes.js")
PART(page, "page.js")
PART(input, "input.js")
#define WRITE_PART(to, name)                                                   \
    fwrite(part_##name, 1, (size_t)(part_##name##_end - part_##name), to)

bool view_random(char to[33])
{
    unsigned char byte[16];
    if (getrandom(byte, sizeof byte, 0) != sizeof byte)
        return false;
    for (size_t i = 0; i < sizeof byte; i++)
        sprintf(to + 2 * i, "%02x", byte[i]);
    return true;
}

static void write_script(struct view_page *page, FILE *to)
{
    fprintf(to, "<script nonce=\"%s\">\n/*\n", page->nonce);
    WRITE_PART(to, plot_licence);
    fputs("*/\n", to);
    WRITE_PART(to, plot);
    fprintf(to, "</script>\n<script nonce=\"%s\">\n", page->nonce);
    WRITE_PART(to, data);
    WRITE_PART(to, lanes);
    WRITE_PART(to, draw);
    WRITE_PART(to, panes);
    WRITE_PART(to, page);
    WRITE_PART(to, input);
    fputs("</script>\n", to);
}

/* What no batch says. */
static void write_about(struct view_page *page, FILE *to)
{
    const struct reader *reader = page->reader;
    fputs("<script type=\"application/json\" id=\"about\">{\"source\":", to);
    json_string(to, page->call->name, strlen(page->call->name), true);
    fprintf(to,
            ",\"live\":%s,\"pid\":\"%" PRIu64 "\",\"start\":\"%" PRIu64
            "\",\"block\":%d}</script>\n",
            page->live ? "true" : "false", reader->pid,
            reader->clock.start.realtime_ns, VIEW_BLOCK);
}

static void write_title(const char *text, FILE *to)
{
    for (; *text; text++)
        if (*text == '<' || *text == '&')
            fputs(*text == '<' ? "&lt;" : "&amp;", to);
        else
            fputc(*text, to);
}

/* Writes page.html from `from` up to DATA or its end; an @WORD@ in it stands
 * for what is known only now. Returns what is behind. */
static const char *write_html(struct view_page *page, FILE *to,
                              const char *from)
{
    while (from < part_html_end) {
        const char *at = memchr(from, '@', (size_t)(part_html_end - from));
        fwrite(from, 1, (size_t)((at ? at : part_html_end) - from), to);
        if (!at)
            return part_html_end;
        from = strchr(at + 1, '@') + 1;
        if (strncmp(at, "@NONCE@", 7) == 0)
            fputs(page->nonce, to);
        else if (strncmp(at, "@CONNECT@", 9) == 0)
            fputs(page->live ? "'self'" : "'none'", to);
        else if (strncmp(at, "@TITLE@", 7) == 0)
            write_title(page->call->name, to);
        else if (strncmp(at, "@STYLE@", 7) == 0) {
            WRITE_PART(to, plot_css);
            WRITE_PART(to, css);
        } else if (strncmp(at, "@SCRIPT@", 8) == 0)
            write_script(page, to);
        else
            return from;
    }
    return from;
}

void view_page_begin(struct view_page *page, FILE *to)
{
    if (!view_random(page->nonce))
        fail(page->call, "getrandom: %s", strerror(errno));
    write_html(page, to, part_html);
    write_about(page, to);
}

void view_page_end(struct view_page *page, FILE *to)
{
    write_html(page, to, strstr(part_html, "@DATA@") + 6);
}

/* ------------------------------------------------------------------ file -- */

bool view_can_open(void)
{
    return isatty(STDOUT_FILENO) &&
           (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"));
}

void view_open(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        /* Some browsers stay: nobody waits for a child's child. */
        int null = open("/dev/null", O_RDWR);
        if (fork() != 0)
            _exit(0);
        setsid();
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* $TMPDIR/recorder-core.123.html */
static char *default_path(const struct call *call)
{
    const char *folder = getenv("TMPDIR"), *name = strrchr(call->name, '/');
    char *path;
    if (!folder || !*folder)
        folder = "/tmp";
    name = name ? name + 1 : call->name;
    if (asprintf(&path, "%s/recorder-%s.html", folder, name) < 0)
        need(NULL);
    return path;
}

/* In a folder that all may write to, a link or pipe may be somebody else's and
 * lead elsewhere. */
static void must_be_ours(const struct call *call, const char *path)
{
    struct stat is;
    if (lstat(path, &is) == 0 &&
        (!S_ISREG(is.st_mode) || is.st_uid != geteuid()))
        fail(call, "%s is there and no file of yours: -o FILE", path);
}

static int write_file(struct call *call, const struct value_option *values,
                      size_t values_count, const char *path, bool open_it)
{
    struct view_page page = {.call = call, .reader = &call->reader};
    struct output output;
    struct view_pack *pack;
    char *own = path ? NULL : default_path(call);
    size_t done = 0, some;
    call_take(call);
    call->reader.missed = 0; /* that is in the figures */
    reader_count(&call->reader);
    if (!path) {
        path = own;
        must_be_ours(call, path);
        umask(077); /* where others might look, as for a core file */
    }
    output_open(&output, call, path);
    pack = view_pack_new(call, &call->reader, values, values_count);
    view_page_begin(&page, output.file);
    do {
        fputs("<script type=\"application/json\" class=\"batch\">",
              output.file);
        some = view_pack_write(pack, output.file, VIEW_BATCH, true);
        fputs("</script>\n", output.file);
        done += some;
        progress(call, done, call->reader.taken);
    } while (some == VIEW_BATCH);
    view_page_end(&page, output.file);
    view_pack_warn(pack);
    view_pack_free(pack);
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
    unsigned long port = 0;
    int status;
    for (int i = 0; i < call->options_count; i++)
        if (call->options[i].key == VALUE)
            value_open(call, call->options[i].value, &values[count++]);
    if (port_text) {
        char *end;
        port = strtoul(port_text, &end, 10);
        if (end == port_text || *end || port > 65535)
            misuse(call, "--port %s: must be a number up to 65535", port_text);
        if (!call_option(call, LIVE))
            misuse(call, "--port goes with --live");
    }
    if (call_option(call, LIVE) && call_option(call, 'o'))
        misuse(call, "--live serves the page; -o does not go with it");
    if (call->arguments_count > 1)
        misuse(call, "one SOURCE");
    call_open(call, 0);
    if (call_option(call, LIVE)) {
        if (!call->source.pid && !call->source.memory->live)
            fail(call, "--live needs the id of a running process");
        status = view_live(call, values, count, (unsigned)port,
                           !call_option(call, NO_OPEN));
    } else
        status = write_file(call, values, count, call_option(call, 'o'),
                            !call_option(call, NO_OPEN));
    while (count > 0)
        value_close(&values[--count]);
    return status;
}

static const struct option_row rows[] = {
    {'o', "output", "FILE", "write the page to FILE; - is stdout"},
    {VALUE, "value", "RECORDER:N=NAME",
     "plot argument N of the recorders that match"},
    {NO_OPEN, "no-open", NULL, "do not open a browser"},
    {LIVE, "live", NULL,
     "serve the page on 127.0.0.1 and show what a running program records"},
    {PORT, "port", "PORT", "serve on this port, not on any that is free"},
    {0, NULL, NULL, NULL}};

const struct verb verb_view = {
    .name = "view",
    .arguments = "SOURCE",
    .summary = "shows a timeline in a browser",
    .help =
        "Writes one HTML file that needs no network and no other file, and\n"
        "prints its path; without -o it is $TMPDIR/recorder-SOURCE.html. It "
        "is\n"
        "opened if there is a display and stdout is a terminal. In the page,\n"
        "press ? for its keys.\n"
        "\n"
        "A format that begins with > opens a span, and one that begins with <\n"
        "closes the last one of its thread and recorder.\n"
        "\n"
        "With --live, SOURCE is the id of a running process: the page is\n"
        "served at the address that is printed, for any number of browsers,\n"
        "until the program ends.",
    .rows = rows,
    .selects = true,
    .run = run};
