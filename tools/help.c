/* help.c - all verbs, their help, man page and completion. */
/* SPDX-License-Identifier: MIT */
#include "command.h"

static const struct verb *const verbs[] = {
    &verb_ps,      &verb_list,  &verb_dump,    &verb_follow,    &verb_watch,
    &verb_set,     &verb_save,  &verb_log,     &verb_export,    &verb_view,
    &verb_explain, &verb_run,   &verb_threads, &verb_tasks,     &verb_latency,
    &verb_spans,   &verb_sched, &verb_why,     &verb_trace,     &verb_functions,
    &verb_diff};
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

/* Prints options: names on the left, meanings on the right. */
static void rows_help(const struct option_row *rows)
{
    for (; rows && rows->name; rows++) {
        char name[64];
        int width;
        option_name(rows, name);
        width = printf("  %-26s", name);
        if (width > 28) {
            printf("\n%28s", "");
            width = 28;
        }
        wrapped(stdout, rows->help, width, 28);
    }
}

static void verb_help(const struct verb *verb)
{
    usage(stdout, verb);
    putchar('\n');
    wrapped(stdout, verb->summary, 0, 0);
    if (verb->help) {
        putchar('\n');
        wrapped(stdout, verb->help, 0, 0);
    }
    putchar('\n');
    rows_help(verb->rows);
    printf("%s%s: recorder help options\n", verb->rows ? "\n" : "",
           verb->selects ? "Options that choose events, and common options"
                         : "Common options");
}

/* Prints the options that verbs have in common. */
static void options_help(void)
{
    puts("Options that choose events, of dump, export, view and others:\n");
    rows_help(selection_rows);
    puts("\nOptions of all verbs:\n");
    rows_help(common_rows);
    puts(
        "\nA REGEX has extended syntax. --names and the NAMES of --where match "
        "a whole name,\nin any case; --from and --to of latency a whole "
        "message, --grep and ~ a part of a\nmessage or text: these in any "
        "case unless a letter of the REGEX is a capital.");
}

static const char sources[] =
    "SOURCE is the id of a running process, a core file, or a recording (a "
    "file left by RECORDER_FILE, recorder_file() or recorder save), or the "
    "folder of a log (recorder log), of which all chunks are read. A file may "
    "be packed by gzip or zstd. A program's name is a SOURCE, too, if one "
    "process and no file has that name: recorder ps lists processes with "
    "recorders. ssh:HOST:SOURCE is a SOURCE on another machine, where recorder "
    "must be installed: HOST is user@web1 or a name of ~/.ssh/config, and a "
    "path begins at the home folder there. follow also takes tty:PATH@BAUD, "
    "rtt:HOST:PORT or swo:HOST:PORT: records that a board sends, or "
    "flash:IMAGE: records that it kept "
    "(hooks/stream.md), with --elf FIRMWARE. A process is not stopped, and "
    "need not cooperate. Exit status: 0; 1 for trouble; 2 for misuse. Of diff: "
    "0 for no difference, 1 for some, 125 for trouble; of latency: 1 for late "
    "pairs, 2 for trouble.";

static void command_help(void)
{
    static const struct {
        const struct verb *first;
        const char *title, *example;
    } groups[] = {
        {&verb_ps, "LOOK", "recorder dump 4711 --last 20"},
        {&verb_save, "KEEP AND SHOW", "recorder save 4711 -o demo.rec"},
        {&verb_explain, "WHY DID IT CRASH, OR DOES IT HANG",
         "recorder explain core"},
        {&verb_latency, "WHY IS IT SLOW, OR DIFFERENT",
         "recorder diff good.rec bad.rec"}};
    usage(stdout, NULL);
    puts("\nReads flight recorders from outside of the program.");
    for (int i = 0, group = 0; i < VERBS; i++) {
        if (group < 4 && verbs[i] == groups[group].first) {
            printf("\n%s: %s\n", groups[group].title, groups[group].example);
            group++;
        }
        printf("  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    }
    putchar('\n');
    wrapped(stdout, sources, 0, 0);
    puts("\nA ~ before a text: it may have changed since it was recorded."
         "\nrecorder VERB --help describes a verb, recorder help options the "
         "options that\nverbs have in common; recorder --version.");
}

void help_show(const char *of)
{
    if (!of)
        command_help();
    else if (strcmp(of, "options") == 0)
        options_help();
    else
        verb_help(help_verb(of));
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

/* Returns the words that complete an option's value; "/": folders do; null: the
 * names of files do. */
static const char *completes(const struct option_row *row)
{
    static const struct {
        const char *option, *words;
    } known[] = {{"color", "always never auto"},
                 {"severity", "0 1 2 3 hw0 hw1 hw2 hw3 sw0 sw1 sw2 sw3 info "
                              "notice warning error"},
                 {"registry", "all"},
                 {"names", "$(_recorder_names)"},
                 {"thread", "$(_recorder_threads)"},
                 {"value", "$(_recorder_names :)"},
                 {"where", "$(_recorder_names :)"},
                 {"when", "$(_recorder_names :)"},
                 {"formats", "/"},
                 {"sysroot", "/"},
                 {"do", "freeze save= run= exit"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(row->name, known[i].option) == 0)
            return known[i].words;
    return NULL;
}

/* Shell functions: the source among the words, its recorders and threads; and
 * the begin of the one that completes. */
static const char completion_source[] =
    "# compgen expands words as the shell does: words of a source pass\n"
    "# only if no character in them is special.\n"
    "_recorder_plain() { grep -x '[[:alnum:]_.+-]*'; }\n"
    "_recorder_programs() {\n"
    "    recorder ps --brief 2>/dev/null | sed 's/[^ ]* //' | _recorder_plain |"
    "\n"
    "        sort | uniq -u\n"
    "}\n"
    "# The first word that is a source, if one was typed: a file, a process, "
    "or\n"
    "# the name of one that records.\n"
    "_recorder_source() {\n"
    "    local i programs\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        [ -e \"${COMP_WORDS[i]}\" ] || [ -e \"/proc/${COMP_WORDS[i]}\" ] "
    "||\n"
    "            continue\n"
    "        [[ ${COMP_WORDS[i]} = -* ]] || { echo \"${COMP_WORDS[i]}\"; "
    "return; }\n"
    "    done\n"
    "    programs=$'\\n'$(_recorder_programs)$'\\n'\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        [[ $programs = *$'\\n'\"${COMP_WORDS[i]}\"$'\\n'* ]] || continue\n"
    "        echo \"${COMP_WORDS[i]}\"\n"
    "        return\n"
    "    done\n"
    "}\n"
    "# With the : or = that follows each.\n"
    "_recorder_names() {\n"
    "    local source=$(_recorder_source)\n"
    "    [ -z \"$source\" ] || recorder list \"$source\" 2>/dev/null |\n"
    "        sed -n '1d; /^$/q; s/[[:blank:]].*//p' | _recorder_plain |\n"
    "        sed \"s/$/$1/\"\n"
    "}\n"
    "_recorder_threads() {\n"
    "    local source=$(_recorder_source)\n"
    "    [ -z \"$source\" ] || recorder list \"$source\" 2>/dev/null |\n"
    "        sed -n '/^THREAD/,/^$/{/^[0-9]/s/[[:blank:]].*//p}' | "
    "_recorder_plain\n"
    "}\n"
    "_recorder_words() {\n"
    "    COMPREPLY=($(compgen -W \"$1\" -- \"$word\"))\n"
    "    [[ ${COMPREPLY[*]} != *[=:] ]] || compopt -o nospace 2>/dev/null\n"
    "}\n"
    "_recorder_folders() { COMPREPLY=($(compgen -d -- \"$word\")); }\n"
    "_recorder() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} options\n"
    "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    # bash makes three words of --color=auto, and two of --color=\n"
    "    [ \"$word\" != = ] || word=\n"
    "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then\n";
/* The end of the script, after the words that options take. */
static const char completion_end[] =
    "    exportexport) _recorder_words 'perfetto ctf vcd "
    "sqlite json csv'; return ;;\n"
    "    esac\n"
    "    case $word in\n"
    "    -*) ;;\n"
    "    *) if [ \"${COMP_WORDS[1]}\" = set ] && "
    "[ -n \"$(_recorder_source)\" ]; then\n"
    "        if [[ ${COMP_WORDS[*]:COMP_CWORD - 1} = *=* ]]; then\n"
    "            _recorder_words 'on off trace freeze thaw'\n"
    "        else\n"
    "            _recorder_words \"clear $(_recorder_names =)\"\n"
    "        fi\n"
    "        return\n"
    "    fi ;;\n"
    "    esac\n"
    "    case $word in\n"
    "    -*) _recorder_words \"$options\" ;;\n"
    "    [0-9]*) _recorder_words \"$(recorder ps --brief 2>/dev/null | "
    "sed 's/ .*//')\" ;;\n"
    "    *) COMPREPLY=($(compgen -f -- \"$word\"))\n"
    "        COMPREPLY+=($(compgen -W \"$(_recorder_programs)\" "
    "-- \"$word\"))\n"
    "        [ -n \"$word\" ] || COMPREPLY+=($(recorder ps --brief "
    "2>/dev/null | sed 's/ .*//')) ;;\n"
    "    esac\n"
    "}\n"
    "complete -o filenames -F _recorder recorder\n";

/* Prints completion for bash: verbs, their options and the values of these,
 * formats, files, and processes that record, by their ids and names. */
void help_completion(void)
{
    const struct option_row *rows[ROWS_MAX];
    fputs(completion_source, stdout);
    fputs("        _recorder_words '--help --version", stdout);
    for (int i = 0; i < VERBS; i++)
        printf(" %s", verbs[i]->name);
    puts("'\n        return\n    fi\n"
         "    case ${COMP_WORDS[1]} in");
    for (int i = 0; i < VERBS; i++) {
        int count = rows_of(verbs[i], rows);
        printf("    %s) options='", verbs[i]->name);
        for (int k = 0; k < count; k++)
            printf("%s--%s", k ? " " : "", rows[k]->name);
        puts("' ;;");
    }
    puts("    esac\n    case ${COMP_WORDS[1]}$before in");
    for (int i = 0; i < VERBS; i++) {
        int count = rows_of(verbs[i], rows);
        for (int k = 0; k < count; k++)
            if (rows[k]->argument && completes(rows[k])) {
                printf("    %s--%s", verbs[i]->name, rows[k]->name);
                if (rows[k]->key < 256)
                    printf(" | %s-%c", verbs[i]->name, rows[k]->key);
                if (*completes(rows[k]) == '/')
                    puts(") _recorder_folders; return ;;");
                else
                    printf(") _recorder_words \"%s\"; return ;;\n",
                           completes(rows[k]));
            }
    }
    fputs(completion_end, stdout);
}
