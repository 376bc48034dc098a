/* command.c - recorder: reads flight recorders from outside of the program. */
/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "recorder/text.h"
#include "recorder.h"
#include "recorder/regex.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct verb *const verbs[] = {
    &verb_list,  &verb_dump, &verb_follow, &verb_stat, &verb_set,
    &verb_clear, &verb_save, &verb_export, &verb_view};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* Of all verbs. */
static const struct option_row common_rows[] = {
    {'e', "executable", "FILE",
     "the program that left a core file, if it is not where it was"},
    {OPTION_ELF, "elf", "FILE",
     "in place of SOURCE: a firmware's ELF file, with --memory"},
    {OPTION_MEMORY, "memory", "ADDRESS:FILE",
     "memory that was copied out of a machine; as often as needed"},
    {OPTION_REGISTRY, "registry", "ADDRESS",
     "which of several, in a process of libraries that share nothing"},
    {'h', "help", NULL, "this text"},
    {0, NULL, NULL, NULL}};

/* Of those that choose among events. */
static const struct option_row selection_rows[] = {
    ROW_NAMES,
    {'l', "last", "N", "only the last N events"},
    {OPTION_SINCE, "since", "WHEN",
     "from then on: an order (4711), seconds from the start (1.5s), before the "
     "last record (-10s), or UTC (2026-11-20 20:25:11.5)"},
    {OPTION_UNTIL, "until", "WHEN", "up to then, the same"},
    {'t', "thread", "THREAD", "only of a thread: number, kernel id or name"},
    {'L', "line", "LINE", "what a line shows, of " RECORDER_LINE_FIELDS},
    {0, NULL, NULL, NULL}};

/* --------------------------------------------------------------- trouble -- */

void *need(void *memory)
{
    if (!memory) {
        fputs("recorder: there is no memory left\n", stderr);
        exit(1);
    }
    return memory;
}

/* One line; what it quotes may be hostile, and moves no cursor. */
static void say(const struct call *call, const char *format, va_list arguments)
{
    char text[1024], *c;
    vsnprintf(text, sizeof text, format, arguments);
    for (c = text; *c; c++)
        if (((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f)
            *c = '?';
    fflush(stdout);
    fprintf(stderr, "recorder: ");
    if (call && call->name)
        fprintf(stderr, "%s: ", call->name);
    fprintf(stderr, "%s\n", text);
}

void fail(const struct call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(call, format, arguments);
    va_end(arguments);
    exit(1);
}

void warn(const struct call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(call, format, arguments);
    va_end(arguments);
}

static void usage(FILE *to, const struct verb *verb)
{
    if (verb)
        fprintf(to, "usage: recorder %s [options] %s\n", verb->name,
                verb->arguments);
    else
        fputs("usage: recorder VERB [options] SOURCE\n", to);
}

void misuse(const struct call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(NULL, format, arguments);
    va_end(arguments);
    usage(stderr, call ? call->verb : NULL);
    fprintf(stderr, "recorder %s%s--help tells more\n",
            call && call->verb ? call->verb->name : "",
            call && call->verb ? " " : "");
    exit(2);
}

/* --------------------------------------------------------------- options -- */

enum { ROWS_MAX = 64 };

/* All rows of a verb, its own first; how many. */
static int rows_of(const struct verb *verb,
                   const struct option_row *to[ROWS_MAX])
{
    const struct option_row *tables[] = {
        verb->rows, verb->selects ? selection_rows : NULL, common_rows};
    int count = 0;
    for (size_t i = 0; i < 3; i++)
        for (const struct option_row *row = tables[i]; row && row->name; row++)
            to[count++] = row;
    return count;
}

/* Text in lines of at most 79 bytes, indented from the second on. An empty line
 * in it ends a paragraph; other ends of lines are blanks. */
static void wrapped(FILE *to, const char *text, int column, int indent)
{
    bool begun = false;
    while (*text) {
        int word = (int)strcspn(text, " \n");
        if (begun && column + 1 + word > 79) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
            begun = false;
        }
        if (begun)
            fputc(' ', to);
        fwrite(text, 1, (size_t)word, to);
        column += word + begun;
        begun = true;
        text += word;
        if (strncmp(text, "\n\n", 2) == 0) {
            fprintf(to, "\n\n%*s", indent, "");
            column = indent;
            begun = false;
            text++;
        }
        text += *text != '\0';
    }
    fputc('\n', to);
}

static void option_name(const struct option_row *row, char to[64])
{
    char letter[8] = "";
    if (row->key < 256)
        snprintf(letter, sizeof letter, "-%c, ", row->key);
    snprintf(to, 64, "%s--%s%s%s", letter, row->name, row->argument ? " " : "",
             row->argument ? row->argument : "");
}

static void verb_help(const struct verb *verb)
{
    const struct option_row *rows[ROWS_MAX];
    int count = rows_of(verb, rows), i;
    usage(stdout, verb);
    putchar('\n');
    wrapped(stdout, verb->summary, 0, 0);
    if (verb->help) {
        putchar('\n');
        wrapped(stdout, verb->help, 0, 0);
    }
    putchar('\n');
    for (i = 0; i < count; i++) {
        char name[64];
        int width;
        option_name(rows[i], name);
        width = printf("  %-26s", name);
        if (width > 28) {
            printf("\n%28s", "");
            width = 28;
        }
        wrapped(stdout, rows[i]->help, width, 28);
    }
}

static const char sources[] =
    "SOURCE is the id of a running process, a core file, or a recording (a "
    "file left by RECORDER_FILE, recorder_file() or recorder save). A process "
    "is neither stopped nor asked. Exit status: 0; 1 for trouble; 2 for "
    "misuse.";

static void help(void)
{
    usage(stdout, NULL);
    puts("\nReads flight recorders from outside of the program.\n");
    for (int i = 0; i < VERBS; i++)
        printf("  %-8s %s\n", verbs[i]->name, verbs[i]->summary);
    putchar('\n');
    wrapped(stdout, sources, 0, 0);
    puts("\nrecorder VERB --help tells about a verb; recorder --version.");
}

/* A man page, in man(7) macros. */
static void troff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '-' || *text == '\\')
            putchar('\\');
        if (strncmp(text, "\n\n", 2) == 0)
            fputs("\n.PP", stdout), text++;
        putchar(*text == '\\' ? 'e' : *text);
    }
    putchar('\n');
}

static void man_rows(const struct option_row *rows)
{
    for (; rows && rows->name; rows++) {
        char name[64];
        option_name(rows, name);
        fputs(".TP\n.B ", stdout);
        troff(name);
        troff(rows->help);
    }
}

static void man_page(void)
{
    puts(".TH RECORDER 1\n.SH NAME\nrecorder \\- read flight recorders from "
         "outside of the program\n.SH SYNOPSIS\n.B recorder\n.I verb\n"
         "[options]\n.I source\n.SH DESCRIPTION");
    troff(sources);
    for (int i = 0; i < VERBS; i++) {
        printf(".SS recorder %s [options] ", verbs[i]->name);
        troff(verbs[i]->arguments);
        troff(verbs[i]->summary);
        if (verbs[i]->help) {
            puts(".PP");
            troff(verbs[i]->help);
        }
        if (verbs[i]->selects)
            puts(".PP\nTakes the options that choose events, below.");
        man_rows(verbs[i]->rows);
    }
    puts(".SH OPTIONS THAT CHOOSE EVENTS");
    man_rows(selection_rows);
    puts(".SH OPTIONS OF ALL VERBS");
    man_rows(common_rows);
    puts(".SH SEE ALSO\n.BR gdb (1)");
}

/* Completion for bash: verbs, the options of each, and files or processes. */
static void completion(void)
{
    const struct option_row *rows[ROWS_MAX];
    puts("_recorder() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} options\n"
         "    if [ \"$COMP_CWORD\" = 1 ]; then");
    fputs("        COMPREPLY=($(compgen -W '--help --version", stdout);
    for (int i = 0; i < VERBS; i++)
        printf(" %s", verbs[i]->name);
    puts("' -- \"$word\"))\n        return\n    fi\n"
         "    case ${COMP_WORDS[1]} in");
    for (int i = 0; i < VERBS; i++) {
        int count = rows_of(verbs[i], rows);
        printf("    %s) options='", verbs[i]->name);
        for (int k = 0; k < count; k++)
            printf("%s--%s", k ? " " : "", rows[k]->name);
        puts("' ;;");
    }
    puts("    esac\n"
         "    case $word in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
         "    [0-9]*) COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" "
         "-- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
         "    esac\n"
         "}\n"
         "complete -o filenames -F _recorder recorder");
}

/* ----------------------------------------------------------------- parse -- */

const char *call_option(const struct call *call, int key)
{
    for (int i = call->options_count; i-- > 0;)
        if (call->options[i].key == key)
            return call->options[i].value;
    return NULL;
}

/* Is all on stdout? Status 0, or the end. */
static int written(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        fail(NULL, "stdout: %s", strerror(errno));
    return 0;
}

/* What getopt_long() takes is made of the rows. */
static void parse(struct call *call, int argc, char **argv)
{
    const struct option_row *rows[ROWS_MAX];
    struct option longs[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 2] = "+:", *at = letters + 1;
    int count = rows_of(call->verb, rows), key, i;
    memset(longs, 0, sizeof longs);
    *at++ = ':';
    memmove(letters, letters + 1, sizeof letters - 1);
    at--;
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
        if (key == 'h') {
            verb_help(call->verb);
            exit(written());
        }
        if (key == ':')
            misuse(call, "%s: an argument is missing", argv[optind - 1]);
        if (key == '?')
            misuse(call, "%s: no such option", argv[optind - 1]);
        if (call->options_count ==
            sizeof call->options / sizeof(*call->options))
            misuse(call, "too many options");
        call->options[call->options_count].key = key;
        call->options[call->options_count++].value = optarg ? optarg : "";
    }
    call->arguments = argv + optind;
    call->arguments_count = argc - optind;
}

static uint64_t number_of(const struct call *call, const char *text,
                          const char *what)
{
    char *end;
    unsigned long long number;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (*end || !*text || *text == '-' || errno)
        misuse(call, "%s: %s is no number", what, text);
    return number;
}

/* Nanoseconds of "1.5s", "20ms", "3us", "7ns"; false: it is none. */
static bool seconds_of(const char *text, int64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"", 1e9}};
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value > -9e9 && value < 9e9))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) {
            *ns = (int64_t)(value * units[i].ns);
            return true;
        }
    return false;
}

/* "2026-11-20 20:25:11.5", UTC, or only its time, of the last record's day. */
static bool wall_of(const struct call *call, const char *text, int64_t *ns)
{
    uint64_t start = call->reader.clock.start.realtime_ns;
    struct tm date = {0};
    double fraction = 0;
    int64_t seconds;
    char *end = strptime(text, "%Y-%m-%d%n%H:%M:%S", &date);
    if (!end)
        end = strptime(text, "%Y-%m-%dT%H:%M:%S", &date);
    if (!end) {
        time_t now = (time_t)(start / 1000000000u);
        gmtime_r(&now, &date);
        end = strptime(text, "%H:%M:%S", &date);
    }
    if (!end)
        return false;
    if (*end == '.')
        fraction = strtod(end, &end);
    if (*end == 'Z')
        end++;
    seconds = (int64_t)timegm(&date) - (int64_t)(start / 1000000000u);
    seconds = seconds > 9000000000    ? 9000000000 /* 64 bits hold no more ns */
              : seconds < -9000000000 ? -9000000000
                                      : seconds;
    *ns = seconds * 1000000000 - (int64_t)(start % 1000000000u) +
          (int64_t)(fraction * 1e9);
    return *end == '\0';
}

/* Newest record that is kept, or 0. */
static int64_t newest_ns(struct call *call)
{
    int64_t newest = 0;
    reader_count(&call->reader);
    for (size_t i = 0; i < call->reader.recorders_count; i++)
        if (call->reader.recorders[i]->newest_ns > newest)
            newest = call->reader.recorders[i]->newest_ns;
    return newest;
}

/* --since or --until; true: it is a time, else it is an order. */
static bool when(struct call *call, const char *text, uint64_t *order,
                 int64_t *ns)
{
    if (strspn(text, "0123456789") == strlen(text) && *text) {
        *order = number_of(call, text, "WHEN");
        return false;
    }
    if (seconds_of(text, ns)) {
        if (*text == '-')
            *ns += newest_ns(call);
        return true;
    }
    if (!wall_of(call, text, ns))
        misuse(call, "%s: is no order, no time and no date", text);
    return true;
}

void call_take(struct call *call)
{
    const char *since = call_option(call, OPTION_SINCE);
    const char *until = call_option(call, OPTION_UNTIL);
    struct reader_selection *s = &call->selection;
    const char *wrong = reader_take(&call->reader);
    if (wrong)
        fail(call, "%s", wrong);
    if (since && when(call, since, &s->since_order, &s->since_ns))
        s->since_set = true;
    if (until && when(call, until, &s->until_order, &s->until_ns))
        s->until_set = true;
    if (since || until) {
        reader_select(&call->reader, s);
        reader_rewind(&call->reader);
    }
}

/* The options that say what to select; times need the source, and wait. */
static void selection_parse(struct call *call)
{
    struct reader_selection *s = &call->selection;
    const char *last = call_option(call, 'l');
    const char *wrong;
    s->names = call_option(call, 'n');
    s->thread = call_option(call, 't');
    call->line = call_option(call, 'L');
    if (last)
        s->last = number_of(call, last, "--last");
    if (last && !s->last && call->verb != &verb_follow)
        misuse(call, "--last 0 is nothing");
    wrong = call->line ? recorder_line_check(call->line) : NULL;
    if (wrong)
        misuse(call, "--line: no such field: {%.24s\nthere are %s", wrong,
               RECORDER_LINE_FIELDS);
    wrong = s->names ? recorder_regex_check(s->names) : NULL;
    if (wrong)
        misuse(call, "--names %s: %s", s->names, wrong);
}

void call_open(struct call *call, int i)
{
    struct source_how how = {call_option(call, 'e'), call->images, 0,
                             call_option(call, OPTION_REGISTRY)};
    const char *elf = call_option(call, OPTION_ELF), *wrong;
    char *end;
    if (how.registry && (strtoull(how.registry, &end, 0) == 0 || *end))
        misuse(call, "--registry %s: is no address", how.registry);
    for (int k = 0; k < call->options_count; k++)
        if (call->options[k].key == OPTION_MEMORY) {
            if (how.images_count == 16)
                misuse(call, "--memory: more than 16");
            call->images[how.images_count++] = call->options[k].value;
        }
    if (elf && !how.images_count)
        misuse(call, "--elf needs --memory");
    if (!elf && i >= call->arguments_count)
        misuse(call, "SOURCE is missing");
    call->name = elf ? elf : call->arguments[i];
    wrong = source_open(&call->source, call->name, &how);
    if (wrong)
        fail(call, "%s", wrong);
    if (*call->source.warning)
        warn(call, "%s", call->source.warning);
    wrong =
        reader_open(&call->reader, call->source.memory, call->source.registry);
    if (!wrong)
        wrong = reader_select(&call->reader, &call->selection);
    if (wrong)
        fail(call, "%s", wrong);
}

void call_close(struct call *call)
{
    reader_close(&call->reader);
    source_close(&call->source);
}

int main(int argc, char **argv)
{
    static struct call call;
    const char *name = argc > 1 ? argv[1] : "";
    bool helps;
    int status, fd;
    do /* what is opened must not take the place of a closed stdout */
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= 2);
    close(fd);
    helps = strcmp(name, "help") == 0;
    if (helps && argc > 2)
        name = argv[2];
    else if (helps || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(), written();
    if (strcmp(name, "--version") == 0) {
        printf("recorder %d.%d.%d\n", RECORDER_VERSION_MAJOR,
               RECORDER_VERSION_MINOR, RECORDER_VERSION_PATCH);
        return written();
    }
    if (strcmp(name, "--man-page") == 0)
        return man_page(), written();
    if (strcmp(name, "--bash-completion") == 0)
        return completion(), written();
    for (int i = 0; i < VERBS; i++)
        if (strcmp(name, verbs[i]->name) == 0)
            call.verb = verbs[i];
    if (!call.verb)
        misuse(NULL, *name ? "%s: no such verb" : "%sVERB is missing", name);
    if (helps)
        return verb_help(call.verb), written();
    parse(&call, argc - 1, argv + 1);
    selection_parse(&call);
    status = call.verb->run(&call);
    call_close(&call);
    return status ? fflush(stdout), status : written();
}
