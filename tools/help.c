/* help.c - all verbs, their help, man page and completion. */
/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <string.h>

static const struct verb *const verbs[] = {
    &verb_list,    &verb_dump,    &verb_follow, &verb_stat,  &verb_set,
    &verb_clear,   &verb_save,    &verb_watch,  &verb_diff,  &verb_export,
    &verb_view,    &verb_threads, &verb_locks,  &verb_tasks, &verb_switches,
    &verb_latency, &verb_spans,   &verb_run,    &verb_serve};
enum { VERBS = sizeof verbs / sizeof *verbs };

const struct verb *help_verb(const char *name)
{
    for (int i = 0; i < VERBS; i++)
        if (strcmp(name, verbs[i]->name) == 0)
            return verbs[i];
    return NULL;
}

const char *help_verbs(void)
{
    static char text[256];
    size_t at = 0;
    for (int i = 0; i < VERBS; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s",
                               i ? ", " : "", verbs[i]->name);
    return text;
}

/* Prints text in lines of at most 79 bytes, indented from the second on. An
 * empty line ends a paragraph; other newlines are blanks. */
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
    "file left by RECORDER_FILE, recorder_file() or recorder save), or the "
    "folder of a log (recorder save --follow), of which all chunks are read. A "
    "process "
    "is neither stopped nor asked. Exit status: 0; 1 for trouble; 2 for "
    "misuse. Of diff: 0 for no difference, 1 for some, 2 for trouble; of "
    "latency: 1 "
    "for what is late, 2 for trouble.";

static void command_help(void)
{
    usage(stdout, NULL);
    puts("\nReads flight recorders from outside of the program.\n");
    for (int i = 0; i < VERBS; i++)
        printf("  %-9s %s\n", verbs[i]->name, verbs[i]->summary);
    putchar('\n');
    wrapped(stdout, sources, 0, 0);
    puts("\nA ~ in front of a text: it may have changed since it was recorded."
         "\nrecorder VERB --help tells about a verb; recorder --version.");
}

void help_show(const struct verb *verb)
{
    if (verb)
        verb_help(verb);
    else
        command_help();
}

/* Prints a man page, in man(7) macros. */
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

void help_man_page(void)
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

/* Prints completion for bash: verbs, their options, files and processes. */
void help_completion(void)
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
