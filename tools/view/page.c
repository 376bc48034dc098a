/* page.c - the page of a timeline, and a browser for it. */
/* SPDX-License-Identifier: MIT */
#include "print.h"
#include "sources.h"
#include "view.h"
#include "web.h"

#include <sys/wait.h>

/* Each part of the page is a separate file, so that editors know its language.
 * Paths start at the folder in which the tools are built. */
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
/* The page's own script, in its order. */
#define SCRIPTS(PART)                                                          \
    PART(data, "data.js")                                                      \
    PART(colours, "colours.js")                                                \
    PART(lanes, "lanes.js")                                                    \
    PART(spans, "spans.js")                                                    \
    PART(states, "states.js")                                                  \
    PART(threads, "threads.js")                                                \
    PART(clock, "clock.js")                                                    \
    PART(filter, "filter.js")                                                  \
    PART(draw, "draw.js")                                                      \
    PART(path, "path.js")                                                      \
    PART(plots, "plots.js")                                                    \
    PART(panes, "panes.js")                                                    \
    PART(page, "page.js")                                                      \
    PART(overview, "overview.js")                                              \
    PART(flame, "flame.js")                                                    \
    PART(access, "access.js")                                                  \
    PART(input, "input.js")
SCRIPTS(PART)
#define WRITE_PART(to, name)                                                   \
    fwrite(part_##name, 1, (size_t)(part_##name##_end - part_##name), to)

static void write_script(struct view_page *page, FILE *to)
{
    fprintf(to, "<script nonce=\"%s\">\n/*\n", page->nonce);
    WRITE_PART(to, plot_licence);
    fputs("*/\n", to);
    WRITE_PART(to, plot);
    fprintf(to, "</script>\n<script nonce=\"%s\">\n", page->nonce);
#define WRITE_SCRIPT(name, file) WRITE_PART(to, name);
    SCRIPTS(WRITE_SCRIPT)
    fputs("</script>\n", to);
}

/* Writes the name, program, process and clock of each source. */
static void write_sources(const struct view_page *page, FILE *to)
{
    const char *next = ",\"sources\":[";
    for (const struct call *c = page->call; c && c->title; c = c->next) {
        char clock[64];
        fputs(next, to);
        next = ",";
        put_to(to, PUT_HTML,
               "{'title':%s,'program':%s,'pid':'%" PRIu64 "','clock':%s}",
               c->title, call_program(c), c->reader.pid,
               sources_clock(c, clock) ? clock : "");
    }
    if (page->call->title)
        fputc(']', to);
}

/* Writes the data that are in no batch. */
static void write_about(struct view_page *page, FILE *to)
{
    const struct reader *reader = page->reader;
    fputs("<script type=\"application/json\" id=\"about\">{\"source\":", to);
    if (page->call->title)
        fprintf(to, "\"%zu sources\"", sources_count(page->call));
    else
        put_to(to, PUT_HTML, "%s", page->call->name);
    fputs(",\"program\":", to);
    put_to(to, PUT_HTML, "%s", call_program(page->call));
    json_put(
        to, ",'live':%hhd,'pid':'%" PRIu64 "','start':'%" PRIu64 "','block':%d",
        page->live, reader->pid,
        page->call->title ? sources_start(page->call)
                          : reader_start_realtime(reader),
        VIEW_BLOCK);
    write_sources(page, to);
    fputs("}</script>\n", to);
}

static void write_escaped(const char *text, FILE *to)
{
    for (; *text; text++)
        if (*text == '<' || *text == '&')
            fputs(*text == '<' ? "&lt;" : "&amp;", to);
        else
            fputc(*text, to);
}

/* Writes "server (core.4711) at 2026-11-20 20:25:11 UTC, read at ...": the
 * program, and the time of the last record. */
static void write_title(const struct view_page *page, FILE *to)
{
    enum { SECONDS = sizeof "2026-11-20 20:25:11" - 1 };
    const struct reader *reader = page->reader;
    char text[2][32];
    uint64_t times[2];
    if (page->call->title) {
        fprintf(to, "%zu sources \u2013 recorder", sources_count(page->call));
        return;
    }
    times[0] = reader_end_realtime(reader, &times[1]);
    for (int i = 0; i < 2; i++) {
        struct recorder_string_ wall = recorder_string_at_(text[i], SECONDS);
        recorder_add_wall_(&wall, times[i], 3);
        text[i][SECONDS] = '\0';
    }
    if (*reader->program) {
        write_escaped(reader->program, to);
        fputs(" (", to);
    }
    write_escaped(page->call->name, to);
    if (*reader->program)
        fputc(')', to);
    if (times[0] && !page->live)
        fprintf(to, " at %s UTC", text[0]);
    if (times[1] && !page->live)
        fprintf(to, ", read at %s UTC", text[1]);
    fputs(" \u2013 recorder", to);
}

/* Writes page.html from `from` up to DATA or its end, and replaces each @WORD@.
 * Returns the rest. */
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
            write_title(page, to);
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
    web_random(page->call, page->nonce);
    write_html(page, to, part_html);
    write_about(page, to);
}

void view_page_end(struct view_page *page, FILE *to)
{
    write_html(page, to, strstr(part_html, "@DATA@") + 6);
}

bool view_can_open(void)
{
    return isatty(STDOUT_FILENO) &&
           (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"));
}

void view_open(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        /* Some browsers keep running: a grandchild starts them, so that this
         * process need not wait for them. */
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
