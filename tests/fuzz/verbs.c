/* verbs.c - runs the recorder command on a hostile file, in this process. */
/* SPDX-License-Identifier: MIT */
/*
   All of tools/ but main.c, where exit() is fuzz_exit(), which comes back here.
   What must hold of any file and any text after an option: no sanitizer speaks,
   the command ends, and what it says, to stdout, stderr or a file of text, moves
   no cursor.
*/
#include "fuzz.h"

#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "filters.h"
#include "gdb/library.h"
#include "settings.h"
#include "tests/harness/shown.h"

/* ------------------------------------------------------------------- run -- */

static jmp_buf *comes_back;
static bool was_cut_short;

bool fuzz_was_cut_short(void)
{
    return was_cut_short;
}

/* -Dexit=fuzz_exit; and the real one. */
_Noreturn void fuzz_exit(int status);
extern _Noreturn void real_exit(int status) __asm__("exit");
_Noreturn void fuzz_exit(int status)
{
    was_cut_short = true;
    if (comes_back)
        longjmp(*comes_back, 1 + (status & 0xff));
    real_exit(status);
}
/* -Disatty=fuzz_isatty: no pager, no colour, no progress. */
int fuzz_isatty(int fd);
int fuzz_isatty(int fd)
{
    (void)fd;
    return 0;
}

/* -Dsetvbuf=fuzz_setvbuf: stdout grows in memory. */
int fuzz_setvbuf(FILE *file, char *buffer, int mode, size_t size);
int fuzz_setvbuf(FILE *file, char *buffer, int mode, size_t size)
{
    (void)file, (void)buffer, (void)mode, (void)size;
    return 0;
}

/* What is written goes there; CTF is a folder, and so is the log. */
static char folder[64], path_out[96], path_ctf[96], path_log[96];
static int path_remove(const char *path, const struct stat *is, int what,
                       struct FTW *where)
{
    (void)is, (void)what, (void)where;
    return remove(path);
}
void fuzz_folder_remove(void)
{
    nftw(folder, path_remove, 8, FTW_DEPTH | FTW_PHYS);
}
static void folder_make(void)
{
    if (folder[0])
        return;
    strcpy(folder, "/dev/shm/recorder-fuzz-XXXXXX");
    if (!mkdtemp(folder) &&
        !mkdtemp(strcpy(folder, "/tmp/recorder-fuzz-XXXXXX")))
        abort();
    atexit(fuzz_folder_remove);
    snprintf(path_out, sizeof path_out, "%s/out", folder);
    snprintf(path_ctf, sizeof path_ctf, "%s/out.ctf", folder);
    snprintf(path_log, sizeof path_log, "%s/log", folder);
}

/* A log of the good file and the hostile one, in either order, the last twice:
 * as a copy, and as a chunk that is written. */
static void log_make(const char *good, const char *path, bool hostile_first)
{
    static const char *const names[] = {"000001.rec", "000002.rec",
                                        "000003.rec", "000004.part"};
    char name[128], at[2][PATH_MAX];
    if (!realpath(good, at[0]))
        abort();
    snprintf(at[1], sizeof at[1], "%s", path); /* of a file without a name */
    mkdir(path_log, 0700);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s/%s", path_log, names[i]);
        unlink(name);
        if (symlink(at[(i != 0) != hostile_first], name) != 0)
            abort();
    }
}

/* The command's main(), with a whole command line; its status. */
static int run(int count, char **line)
{
    static struct call call;
    FILE *out = stdout, *error = stderr;
    char *said[2] = {NULL, NULL};
    size_t sizes[2];
    jmp_buf here;
    int status;
    memset(&call, 0, sizeof call);
    optind = 0; /* getopt_long() begins anew */
    stdout = need(open_memstream(&said[0], &sizes[0]));
    stderr = need(open_memstream(&said[1], &sizes[1]));
    status = setjmp(here);
    if (status-- == 0) {
        comes_back = &here;
        call.verb = help_verb(line[0]);
        trouble_set(call.verb->trouble ? call.verb->trouble : 1);
        if (!parse(&call, count, line))
            fuzz_exit(0);
        selection_parse(&call);
        status = call.verb->run(&call);
        call_close(&call);
        filters_free(call.selection.filters);
    } else {
        reader_close(&call.reader);
        source_close(&call.source);
    }
    comes_back = NULL;
    fclose(stdout);
    fclose(stderr);
    stdout = out;
    stderr = error;
    fuzz_plain(said[0], sizes[0]);
    fuzz_plain(said[1], sizes[1]);
    free(said[0]);
    free(said[1]);
    return status;
}

/* A file that was written: is it plain text, where it is one? */
static void check_file(const char *ending)
{
    char path[128], *text;
    FILE *file;
    struct stat is;
    snprintf(path, sizeof path, "%s%s", path_out, ending);
    file = fopen(path, "r");
    if (!file)
        return;
    fstat(fileno(file), &is);
    text = need(malloc((size_t)is.st_size + 1));
    fuzz_plain(text, fread(text, 1, (size_t)is.st_size, file));
    free(text);
    fclose(file);
}

/* ----------------------------------------------------------------- verbs -- */

static const struct {
    const char *target, *line; /* @: the file, &: a good one, %: a log of both */
    bool text;                 /* what it writes */
} verbs[] = {
    {"show", "list --slots @", true},
    {"show", "list --json @", true},
    {"show", "dump @", true},
    {"show", "dump --json --since -1s @", true},
    {"show", "dump --csv --last 9 @", true},
    {"show", "dump --until 1s --names n.*|l.* --thread 1 @", true},
    {"show", "dump --line {order:8}{wall}{caller}{thread}{location:-9} @",
     true},
    {"show", "list --rates @", true},
    {"show", "sched @", true},
    {"show", "sched --json --since -1s --until 9 @", true},
    {"show", "dump --grep a --where .*:1>0 @", true},
    {"show", "spans --histogram @", true},
    {"show", "spans --json @", true},
    {"show", "why --slowest 99 @", true},
    {"show", "why --json @", true},
    {"latency", "latency --from .* --to .* --by 1 --histogram @", true},
    {"latency", "latency --from ready.* --to in.* --by id --deadline 1ns @",
     true},
    {"latency", "latency --from .* --to .* --by thread --json @", true},
    {"diff", "diff & @", true},
    {"diff", "diff @ &", true},
    {"diff", "diff --exact --times --most 99 @ &", true},
    {"diff", "diff --json --any & @", true},
    {"logs", "dump %", true},
    {"logs", "list %", true},
    {"logs", "save -o # %", false},
    {"threads", "threads @", true},
    {"threads", "threads --json @", true},
    {"threads", "threads --locks @", true},
    {"threads", "threads --order --json @", true},
    {"threads", "threads --dot @", true},
    {"threads", "threads --by object @", true},
    {"threads", "why @", true},
    {"threads", "tasks --all --stacks @", true},
    {"threads", "explain @", true},
    {"function", "dump --function @", true},
    {"function", "dump --json --function --since 2000-01-01 @", true},
    {"export",
     "export perfetto -o # --messages --value .*:1=v --value .*:2=w @", false},
    {"export", "export ctf -o #/ --value .*:1=v @", false},
    {"export", "export vcd -o # --value .*:1=v @", true},
    {"export", "export vcd -o # --plain @", true},
    {"export", "export sqlite -o # --value .*:1=v @", false},
    {"export", "export json -o # @", true},
    {"export", "export csv -o # @", true},
    {"save", "save -o # @", false},
    {"view", "view --no-open -o # --value .*:1=v @", true},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* Runs a line of words with blanks between. */
static int run_line(const char *line, const char *path)
{
    char words[256], *arguments[16], *at, *next = words;
    int count = 0;
    snprintf(words, sizeof words, "%s", line);
    while ((at = strsep(&next, " ")))
        arguments[count++] = strcmp(at, "@") == 0   ? (char *)path
                             : strcmp(at, "&") == 0 ? getenv("FUZZ_GOOD")
                             : strcmp(at, "%") == 0 ? path_log
                             : strcmp(at, "#") == 0 ? path_out
                             : *at == '#'           ? path_ctf
                                                    : at;
    arguments[count] = NULL;
    return run(count, arguments);
}

unsigned fuzz_verbs(const char *target, const char *path, unsigned which)
{
    unsigned count = 0, done = 0;
    folder_make();
    for (unsigned i = 0; i < VERBS; i++)
        count += strcmp(verbs[i].target, target) == 0;
    for (unsigned i = 0, n = 0; i < VERBS; i++) {
        if (strcmp(verbs[i].target, target) != 0 || n++ != which % count)
            continue;
        if (strchr(verbs[i].line, '%'))
            log_make(getenv("FUZZ_GOOD"), path, which / count % 2);
        /* 1, where trouble has another status: they differ, or are late */
        done = run_line(verbs[i].line, path) <=
               (strcmp(target, "diff") == 0 || strcmp(target, "latency") == 0);
        if (verbs[i].text) {
            check_file("");
            check_file(".tcl");
        }
        if (strstr(verbs[i].line, " ctf ")) {
            check_file(".ctf/metadata");
            nftw(path_ctf, path_remove, 8, FTW_DEPTH | FTW_PHYS);
        }
        if (strncmp(verbs[i].line, "save", 4) == 0 && done)
            fuzz_again(path_out);
        unlink(path_out);
    }
    return done;
}

/* The program of a good recording is hostile. In a child: libelf 0.188 reads
 * symbols after the end of a file that is cut off, and the command then ends by
 * SIGBUS' handler, in words. */
unsigned fuzz_executable(const char *good, const char *path)
{
    char *line[] = {"dump",       "--function", "--executable",
                    (char *)path, (char *)good, NULL};
    int status;
    pid_t pid = fork(), ended;
    if (pid == 0)
        _exit(run(5, line) != 0);
    do
        ended = pid < 0 ? -1 : waitpid(pid, &status, 0);
    while (ended < 0 && errno == EINTR); /* libFuzzer's clock, every 6 s */
    if (ended != pid || !WIFEXITED(status))
        abort();
    return WEXITSTATUS(status) == 0;
}

/* ------------------------------------------------------------------- gdb -- */

static struct fuzz_file seen;
static size_t seen_read(struct memory *memory, uint64_t address, void *to,
                        size_t size)
{
    (void)memory;
    for (unsigned i = 0; i < seen.segments; i++) {
        const struct fuzz_segment *s = &seen.segment[i];
        uint64_t at = address - s->address;
        if (at >= s->size)
            continue;
        if (size > s->size - at)
            size = s->size - at;
        memcpy(to, seen.bytes + s->at + at, size);
        return size;
    }
    return 0;
}
static bool seen_write(struct memory *memory, uint64_t address,
                       const void *from, size_t size)
{
    size_t at = fuzz_at(&seen, address, size);
    (void)memory;
    if (at)
        memcpy(seen.bytes + at, from, size);
    return at != 0;
}
static bool seen_thread(struct memory *memory, int32_t id, char name[16])
{
    (void)memory;
    snprintf(name, 16, "\033[%d", (int)id);
    return id % 2;
}
static bool seen_constant(struct memory *memory, uint64_t address)
{
    (void)memory;
    return address % 2;
}

bool fuzz_gdb(unsigned char *bytes, size_t size)
{
    struct recorder_gdb_target target = {.read = seen_read,
                                    .write = seen_write,
                                    .thread = seen_thread,
                                    .constant = seen_constant,
                                    .native = true};
    struct recorder_gdb_event event;
    struct recorder_gdb *library;
    const char *text;
    bool opened = false;
    if (!fuzz_open(&seen, bytes, size))
        return false;
    target.word_bytes = seen.word;
    target.big_endian = seen.big;
    target.size = size; /* gdb's script passes that of the file */
    for (int what = 0; what < 3; what++) { /* each asks another library */
        library = need(recorder_gdb_new(&target));
        for (unsigned i = 0; i < seen.segments; i++)
            recorder_gdb_scan(library, seen.segment[i].address,
                         seen.segment[i].address + seen.segment[i].size);
        if (!recorder_gdb_open(library)) {
            opened = true;
            if (what == 0 && !recorder_gdb_take(library, "n.*|t.*", 20))
                while (*(text = recorder_gdb_dump(library)))
                    fuzz_plain_text(text);
            if (what == 1 && !recorder_gdb_at(library, 9, &event)) {
                fuzz_plain_text(event.line);
                fuzz_plain_text(event.file);
                fuzz_plain_text(event.name);
            }
            fuzz_plain_text(recorder_gdb_list(library));
            fuzz_plain_text(recorder_gdb_threads(library));
            fuzz_plain_text(recorder_gdb_several(library));
            fuzz_plain_text(recorder_gdb_warnings(library));
            for (size_t i = 0; (text = recorder_gdb_name(library, i)); i++)
                if (strlen(text) > 1 << 16)
                    abort();
            if (what == 2)
                fuzz_plain_text(
                    recorder_gdb_set(library, "n.*=2 retries=trace clear"));
        }
        recorder_gdb_free(library);
    }
    return opened;
}

/* ----------------------------------------------------------------- texts -- */

/* `recorder set` on what cannot be written. */
static bool settings_of(const char *good, const char *text)
{
    struct source_how how = {0};
    struct settings settings = {0};
    struct source source = {0};
    struct reader reader = {0};
    const char *wrong = source_open(&source, good, &how);
    if (wrong)
        return false;
    wrong = reader_open(&reader, source.memory, source.registry);
    if (!wrong) {
        wrong = settings_add(&settings, &reader, text);
        if (!wrong)
            settings_write(&settings, &reader);
    }
    reader_close(&reader);
    source_close(&source);
    return !wrong;
}

/* Options that take a text which has a grammar. */
static const char *const options[] = {"--since",  "--until",   "--last",
                                      "--thread", "--names",   "--line",
                                      "--value",  "--registry"};
enum { OPTIONS = sizeof options / sizeof *options };

bool fuzz_options(const char *good, const char *text)
{
    unsigned which = (unsigned char)*text % (OPTIONS + 1);
    char *line[] = {"dump", NULL, (char *)text + 1, (char *)good, NULL};
    char *plot[] = {"view",    "--no-open",      "-o",         path_out,
                    "--value", (char *)text + 1, (char *)good, NULL};
    if (!*text)
        return false;
    folder_make();
    if (which == OPTIONS)
        return settings_of(good, text + 1);
    if (strcmp(options[which], "--value") == 0)
        return run(7, plot) == 0;
    if (strcmp(options[which], "--line") == 0 &&
        shown_wrong(text + 1, strlen(text + 1)))
        return false; /* who writes such a line is shown it */
    line[1] = (char *)options[which];
    return run(4, line) == 0;
}
