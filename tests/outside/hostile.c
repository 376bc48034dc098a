/* Hostile files: damaged, cut off, made to harm a reader. */
/* SPDX-License-Identifier: MIT */
#define BUILD_SECONDS 800 /* the fuzz targets under sanitizers, beside tests */
#include "harness/command.h"
#include "harness/shown.h"

#include <ctype.h>
#include <inttypes.h>

#define FUZZ TEST_ROOT "/tests/fuzz/"

/* Builds tests/fuzz/replay.c, under sanitizers, and `good`, a recording of
 * tests/programs/hostile.c. Skips a test whose flags build nothing here. */
static void begin(const char *flags)
{
    build_needs_flags("gcc", flags);
    build_must("gcc %s -O1 " BUILD_INCLUDE "-o program " BUILD_PROGRAMS
               "/hostile.c -lpthread",
               flags);
    build_must("sh " FUZZ "run.sh --replay");
    build_must("./program >ready & pid=$!; "
               "until grep -q ready ready; do sleep 0.1; done; " RECORDER
               " save $pid -o good; status=$?; kill $pid; exit $status");
}

/* Runs the replay for longer than a command may take, and returns its counts:
 * of cases, and of refused ones. */
static void replay(const char *how, unsigned long *cases,
                   unsigned long *refused)
{
    int tries = 0;
    build_must("rm -f status; (" TEST_ROOT
               "/build/fuzz/replay %s >said 2>&1; echo $? >status) &",
               how);
    while (build_run("for i in $(seq 50); do test -s status && exit 0; "
                     "sleep 1; done; exit 1") != 0)
        cr_assert_lt(++tries, 5, "%s does not end", how);
    build_must("cat said; exit $(cat status)");
    cr_assert_eq(sscanf(build_text, "%lu cases, %lu refused", cases, refused),
                 2, "%s", build_text);
}

TestSuite(hostile, .init = build_begin, .fini = build_end, .timeout = 900);

static void mutations(const char *flags)
{
    unsigned long cases, refused;
    char how[64];
    begin(flags);
    replay("good", &cases, &refused);
    cr_assert(cases == 1 && refused == 0, "a good file is refused");
    snprintf(how, sizeof how, "--ways %u --mutate good", scaled(10000));
    replay(how, &cases, &refused);
    cr_assert_gt(cases, scaled(10000) / 2);
    cr_assert(refused > 0 && refused < cases / 2, "%s", build_text);
}

/* Goal: no words in a file harm its reader, or pass its escapes. Method: words
 * of registry, recorders, rings, commit words and formats are changed, a few at
 * a time, in a recording that this very build made and reads; under the
 * sanitizers; each byte of the output is checked. */
Test(hostile, mutated, .init = build_long)
{
    mutations("");
}
Test(hostile, mutated_32_bits, .init = build_long)
{
    mutations("-m32");
}

/* Goal: the same for all users of the reader: each verb that reads a file, each
 * export, the page, gdb's library, librecorder, a program given by hand.
 * Method: words and headers of a good recording, or of its program, are
 * changed; every byte of the output is checked, and saved files are read. What
 * ends well, of the good recording, with more and more after it that chooses
 * one of the target's command lines, has freed all it allocated. */
Test(hostile, every_target, .init = build_long)
{
    static const char *const targets[] = {"show", "function", "export", "save",
                                          "view", "gdb",      "elf",    "api",
                                          "diff", "latency",  "logs"};
    unsigned long cases, refused;
    char how[200];
    begin("");
    build_must("for i in 1 2 3 4 5 6 7 8; do { cat good; head -c $i good; } "
               ">good$i; done");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const char *file = strcmp(targets[i], "elf") ? "good" : "program";
        snprintf(how, sizeof how, "--target %s %s %s", targets[i], file,
                 strcmp(file, "good") ? "" : "good?");
        setenv("FUZZ_GOOD", "good", 1);
        replay(how, &cases, &refused);
        cr_assert(cases && refused == 0, "%s: %s", targets[i], build_text);
        snprintf(how, sizeof how, "--target %s --ways %u --mutate %s",
                 targets[i], scaled(1500), file);
        replay(how, &cases, &refused);
        cr_assert(cases > scaled(1500) / 2 && refused < cases, "%s",
                  build_text);
    }
}

/* Cases of a target that makes its own input, at random; returns how many were
 * refused. */
static unsigned long at_random(const char *target, unsigned wanted)
{
    unsigned long cases, refused;
    char how[64];
    build_must("sh " FUZZ "run.sh --replay");
    snprintf(how, sizeof how, "--ways %u --target %s --random", wanted, target);
    replay(how, &cases, &refused);
    cr_assert(cases == wanted, "%s", build_text);
    return refused;
}

/* Goal: a walk of any stack, by any code, tables and registers, ends, and reads
 * only its own memory. */
Test(hostile, walks, .init = build_long)
{
    unsigned wanted = scaled(20000);
    cr_assert(at_random("walk", wanted) < wanted, "%s", build_text);
}

/* Goal: no symbol of a file keeps who shows its name busy, or takes more memory
 * than there is. */
Test(hostile, symbols, .init = build_long)
{
    unsigned wanted = scaled(20000);
    cr_assert(at_random("symbols", wanted) < wanted, "%s", build_text);
}

/* Goal: reading ends and harms nothing, for any contents of a program's lists
 * of tasks, its descriptions of them, its kernels and saved contexts; each
 * within the replay's limits of time and memory. */
Test(hostile, lists_of_tasks, .init = build_long)
{
    unsigned wanted = scaled(1000);
    cr_assert(at_random("tasks", wanted) < wanted / 2, "%s", build_text);
}

/* Goal: no file keeps the reader busy, or takes more memory than it is worth.
 * Method: lists without end, ten thousands of recorders, formats, notes and
 * segments; 10 s of a processor and 512 MiB for each, most of which are the
 * sanitizers'. */
Test(hostile, large, .init = build_long)
{
    unsigned long cases, refused;
    build_must("sh " FUZZ "run.sh --replay");
    replay("--large", &cases, &refused);
    cr_assert(cases == 11 && refused == 3, "%s", build_text);
}

static void flips(const char *flags)
{
    unsigned long cases, refused;
    unsigned parts = test_scale() < 1 ? 10 : 1;
    char how[64];
    begin(flags);
    snprintf(how, sizeof how, "--part %u/%u --flip good",
             (unsigned)(time(NULL) / 86400 % parts), parts);
    replay(how, &cases, &refused);
    cr_assert_gt(cases, 1000u);
    cr_assert(refused > 20 && refused < cases / 2, "%s", build_text);
}

/* Goal: whatever a field holds, the reader touches only its own memory, and
 * ends; orders ascend and texts end. Method: each byte of headers, notes,
 * registry, recorders, heads of rings and commit words is inverted, made 0,
 * 0x80 and 0xff; of the other bytes, one in 16. `make test-all` makes a tenth of
 * these changes, each day another. */
Test(hostile, flipped, .init = build_long)
{
    flips("");
}
Test(hostile, flipped_32_bits, .init = build_long)
{
    flips("-m32");
}

static void cuts(const char *flags)
{
    unsigned long cases, refused;
    begin(flags);
    replay("--cut good", &cases, &refused);
    cr_assert_gt(cases, 4000u);
    cr_assert(refused > 0 && refused < cases, "%s", build_text);
}

/* Goal: a file may end anywhere. Method: it does, at each of its first 4096
 * lengths, and at each seventh from there. */
Test(hostile, cut, .init = build_long)
{
    cuts("");
}
Test(hostile, cut_32_bits, .init = build_long)
{
    cuts("-m32");
}

/* --------------------------------------------------------------- command -- */

/* The command's result for ./bad: an exit status of 0 and events with ascending
 * orders, or of 1 and a reason. Returns the status. */
static int command_reads(const char *what)
{
    char *line;
    uint64_t last = 0, order;
    bool first = true; /* a damaged one may be 0 */
    int status = build_run("ulimit -v 500000; timeout 20 " RECORDER
                           " dump --csv bad >out 2>err");
    cr_assert(status == 0 || status == 1, "%s: status %d", what, status);
    if (status == 1) {
        build_must("cat err");
        cr_assert_eq(strncmp(build_text, "recorder: bad: ", 15), 0, "%s: %s",
                     what, build_text);
        return 1;
    }
    build_must("cat out");
    for (line = strtok(build_text, "\n"); line; line = strtok(NULL, "\n")) {
        if (!isdigit((unsigned char)*line))
            continue;
        order = strtoull(line, NULL, 10);
        cr_assert(first || order > last, "%s: %" PRIu64 " behind %" PRIu64,
                  what, order, last);
        last = order;
        first = false;
    }
    return 0;
}

static void file_write(const unsigned char *bytes, size_t size)
{
    char path[128];
    FILE *file;
    snprintf(path, sizeof path, "%s/bad", build_folder);
    file = fopen(path, "wb");
    cr_assert(file && fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

/* Goal: the command itself says what is wrong, in its own words, and exits with
 * 1; in 500 MB. Method: the same as above, of some bytes and lengths. */
Test(hostile, command, .init = build_long)
{
    static unsigned char bytes[1 << 17];
    char what[128];
    size_t size, at;
    unsigned refused = 0, cases = 0;
    uint64_t seed = seed_of("hostile");
    FILE *file;
    begin("");
    snprintf(what, sizeof what, "%s/good", build_folder);
    file = fopen(what, "rb");
    cr_assert_not_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    cr_assert(size > 4096 && size < sizeof bytes);
    file_write(bytes, size);
    cr_assert_eq(command_reads("good"), 0);
    for (at = 0; at < size;
         at += 1 + at / (test_scale() < 1 ? 1 : 4), cases++) {
        snprintf(what, sizeof what, "cut to %zu", at);
        file_write(bytes, at);
        refused += (unsigned)command_reads(what);
    }
    for (unsigned i = 0; i < 60; i++, cases++) {
        unsigned char was;
        if (test_scale() < 1 && i % 3)
            continue;
        at = random_of(&seed) % (i < 20 ? 64 : i < 40 ? 1024 : size);
        was = bytes[at];
        bytes[at] = (unsigned char)(was ^ (i % 2 ? 0xff : 1 << i % 8));
        snprintf(what, sizeof what, "byte %zu from %d to %d", at, was,
                 bytes[at]);
        file_write(bytes, size);
        refused += (unsigned)command_reads(what);
        bytes[at] = was;
    }
    cr_assert(refused > 0 && refused < cases, "%u of %u", refused, cases);
}

/* ----------------------------------------------------------- other files -- */

#define SECRET "only its owner may read this "

/* The command must not show SECRET, must end soon with `status` and must say
 * `words`. */
static void keeps_secret(const char *line, int status, const char *words)
{
    int was = build_run("timeout 20 " RECORDER " %s", line);
    cr_assert_eq(was, status, "%s: status %d\n%s", line, was, build_text);
    cr_assert_null(strstr(build_text, SECRET), "%s: %.2000s", line, build_text);
    cr_assert_not_null(strstr(build_text, words), "%s: %.2000s", line,
                       build_text);
}

/* Goal: a file cannot show the contents of its reader's other files. Method: a
 * core file and a recording name a private file in the place of the program
 * with their formats and strings, then a pipe; no verb opens either. Without a
 * build ID of the program, a named file is not opened, either, until the user
 * names it. */
Test(hostile, names_a_private_file, .init = build_long)
{
    for (int i = 0; i < 2; i++) {
        const char *other = i ? "no build-id" : "their build-ids differ";
        command_build("program", i ? "gcc -O2 -Wl,--build-id=none" : "gcc -O2");
        command_core("./program", "in.txt");
        build_must("set -e; yes \"" SECRET
                   "\" | head -c 1000000 >private; rm -f pipepip;"
                   " mkfifo pipepip; sed s,/program,/private,g core >lies; "
                   "sed s,/program,/pipepip,g core >waits; "
                   "test $(stat -c %%s core) = $(stat -c %%s lies)");
        keeps_secret("dump lies", !i, other);
        keeps_secret("dump --function lies", !i, other);
        keeps_secret("dump --json lies", !i, other);
        keeps_secret("list lies", !i, other);
        keeps_secret("save lies -o saved", !i, other);
        if (i)
            build_must("! grep -q \"" SECRET "\" saved");
        other = i ? "no build-id" : "is no regular file";
        keeps_secret("dump waits", 0, other);
        keeps_secret("dump --function waits", 0, other);
        build_must("mkdir -p root$(pwd) && cp program root$(pwd)/private && "
                   "for file in $(ldd program | grep -o \" /[^ ]*\"); do "
                   "file=$(realpath $file) && mkdir -p root$(dirname $file) && "
                   "cp $file root$file || exit; done");
        command_must_dump("core --executable program", "by its name");
        build_run("mv private elsewhere");
        build_must("sed -i \"1s/PROGRAM program/PROGRAM private/\" in.txt");
        command_must_dump("lies --sysroot root", "below a folder");
        build_must("rm -rf root");
    }
}

/* ------------------------------------------------------------- terminals -- */

/* The output of a shell command, even an error, must be plain text. */
static void is_plain(const char *line)
{
    const char *at;
    int status = build_run("%s", line);
    size_t size = strlen(build_text);
    cr_assert(status == 0 || status == 1, "%s: %d: %s", line, status,
              build_text);
    cr_assert_gt(size, 20u, "%s: %s", line, build_text);
    at = shown_wrong(build_text, size);
    cr_assert_null(
        at, "%s: \\x%02x in %.200s", line, (unsigned char)(at ? *at : 0),
        at ? at - (at - build_text > 40 ? 40 : at - build_text) : "");
}

/* Goal: nothing that comes from a program or a file moves the cursor, changes
 * the terminal or the direction of text, in any output; and the text of the
 * program's own dump is the command's, byte for byte. Method: names, texts,
 * formats, descriptions, a source's path and a function's name that hold all of
 * it. */
Test(hostile, moves_no_cursor, .init = build_long)
{
    static const char *const verbs[] = {
        "dump --csv",  "dump --json",     "list",
        "list --json", "dump --function", "set --names x.*"};
    static const char *const formats[] = {"csv", "json", "vcd"};
    char line[256];
    pid_t pid;
    build_must("gcc -O2 " BUILD_INCLUDE "-o program " BUILD_PROGRAMS
               "/escapes.c -lpthread");
    pid = command_start("./program in.txt");
    build_must(RECORDER
               " save %d -o saved && objcopy --redefine-sym "
               "work=$(printf \"wo\\302\\233rk\\342\\200\\256\") program "
               "other && mv other program",
               (int)pid);
    command_must_dump("saved", "escapes");
    is_plain("cat in.txt");
    is_plain(RECORDER " dump saved --line \"{location} {thread} {name} "
                      "{recorder} {message}\"");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        snprintf(line, sizeof line, RECORDER " %s saved | tr -d \"\\r\"",
                 verbs[i]);
        is_plain(line);
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        snprintf(line, sizeof line,
                 RECORDER " export %s saved -o - | tr -d \"\\r\"", formats[i]);
        is_plain(line);
    }
    build_must(RECORDER " export ctf saved -o trace");
    is_plain("cat trace/metadata");
    is_plain(RECORDER " dump $(printf \"no\\033[2J\\342\\200\\256such\")");
    is_plain(
        "sed s,/program,/pr$(printf \"\\033\\233\")ram, saved >lies; " RECORDER
        " dump --function lies -e nothing");
    command_stop(pid);
}

/* ---------------------------------------------------------------- sparse -- */

/* Runs the command with 600 MB more address space than the file `bad` has
 * bytes, and 10 s of a processor; 300 MB may be resident. Returns its
 * status. */
static int sparse(const char *line)
{
    return build_run(
        "python3 -c \"\n"
        "import os, resource, subprocess, sys\n"
        "more = os.stat(\\\"bad\\\").st_size + (600 << 20)\n"
        "def limit():\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (more, more))\n"
        "    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))\n"
        "r = subprocess.run(sys.argv[1:], preexec_fn=limit)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "mb = used.ru_maxrss >> 10\n"
        "if mb > 300: sys.exit(f\\\"{mb} MB are resident\\\")\n"
        "sys.exit(r.returncode if r.returncode >= 0 else 99)\n"
        "\" " RECORDER " %s",
        line);
}

/* Writes a word at `at` of the file `bad`. */
static void bad_word(long at, uint64_t word)
{
    char path[128];
    FILE *file;
    snprintf(path, sizeof path, "%s/bad", build_folder);
    file = fopen(path, "r+b");
    cr_assert(file && fseek(file, at, SEEK_SET) == 0 &&
              fwrite(&word, sizeof word, 1, file) == 1 && fclose(file) == 0);
}

/* Goal: the price of reading a file depends on its size on disk, not on its
 * length: 20 GB of holes take neither time nor memory. Method: a hole of 20 GB
 * follows a good recording and a core file; the recording's note with the
 * registry's address is removed, so that it is searched for, and one of the
 * segments, then the notes, are as long as the file. */
Test(hostile, sparse)
{
    static const char *const named[] = {"saved", "core"};
    command_build("program", "gcc -O2");
    command_core("./program", "in.txt");
    pid_t pid = command_start("./program quiet");
    build_must(RECORDER " save %d -o saved", (int)pid);
    command_stop(pid);
    for (int i = 0; i < 2; i++) {
        /* Elf64_Ehdr is 64 bytes, Elf64_Phdr 56; p_filesz is at 32. The first
         * is PT_NOTE. */
        build_must("sed s/RECORDER/RECORDED/ %s >bad && truncate -s 20G bad",
                   named[i]);
        cr_assert_eq(sparse("dump bad >out"), 0, "%s: %s", named[i],
                     build_text);
        bad_word(64 + 56 + 32, (uint64_t)19 << 30);
        cr_assert_leq(sparse("dump bad >out"), 1, "%s: %s", named[i],
                      build_text);
        cr_assert_null(strstr(build_text, "resident"), "%s", build_text);
        bad_word(64 + 32, (uint64_t)19 << 30);
        cr_assert_leq(sparse("dump bad >out"), 1, "%s: %s", named[i],
                      build_text);
        cr_assert_null(strstr(build_text, "resident"), "%s", build_text);
        build_must("rm bad");
    }
}

/* Goal: a symbol of Rust with 62^7 lifetimes, none of them printed, keeps
 * nobody busy, and a crate's hash that looks like it changes no name. */
Test(hostile, lifetimes)
{
    static const char *const symbols[][2] = {
        {"_RNvMIC1aFGzzzzzzz_EuEu1b", "(_RNvMIC1aFG"},
        {"_RNvNtCs4fqG2P2rA04_7mycrate3foo3Gar", "(mycrate::foo::Gar"}};
    for (size_t i = 0; i < 2; i++) {
        build_must(
            "rm -f rec; gcc -DSYMBOL=\\\"%s\\\" " BUILD_INCLUDE BUILD_PROGRAMS
            "/symbol.c -o r -lpthread && "
            "RECORDER_FILE=rec ./r && timeout -v 60 " RECORDER
            " dump --function rec",
            symbols[i][0]);
        cr_expect(strstr(build_text, symbols[i][1]), "%s", build_text);
    }
}

/* Goal: the recording of a program that was killed is saved as it is dumped,
 * whatever size its ELF header gives a program header. */
Test(hostile, size_of_headers)
{
    command_build("program", "gcc -O2");
    pid_t pid = command_start("env RECORDER_FILE=rec ./program quiet");
    command_stop(pid);
    build_must("printf \"\\010\" | dd of=rec bs=1 seek=54 conv=notrunc 2>said "
               "&& " RECORDER " save rec -o saved && " RECORDER
               " dump rec | tail -n +2 >1 && " RECORDER
               " dump saved | tail -n +2 | diff 1 - && test -s 1");
}

/* Goal: what is saved of a program whose rings were overwritten can be read.
 * Method: a recorder's rings lie over the registry, which was saved as a ring
 * with no whole record in it. */
Test(hostile, rings_over_the_registry)
{
    build_must("echo \"RECORDER(net, 16)\nint main(void) { "
               "recorder_for_net.rings = (struct recorder_ring *)"
               "((uintptr_t)&recorder_registry - 256); "
               "return raise(SIGSTOP); }\" >over.c; gcc -include recorder.h "
               "-include signal.h " BUILD_INCLUDE "-o over over.c");
    build_must("./over & pid=$!; until grep -q stopped /proc/$pid/status; "
               "do sleep 0.05; done; " RECORDER " save $pid -o saved; "
               "status=$?; kill -9 $pid; exit $status");
    command_must("list saved | grep \"its rings are damaged\"");
}

/* ------------------------------------------------------------------ live -- */

/* A promise is a function of readers.py, where its steps are. */
static void live(const char *test)
{
    command_build("program", "gcc -O2");
    pid_t pid = command_start("./program flood 1");
    build_must("timeout 180 python3 " TEST_ROOT
               "/tests/view/readers.py %s " RECORDER " %d",
               test, (int)pid);
    command_stop(pid);
}
Test(hostile, live_on_port_80)
{
    if (build_run("python3 -c \"import socket; "
                  "socket.create_server((\\\"127.0.0.1\\\", 80))\"") != 0)
        build_skip("port 80 cannot be had here");
    live("port_80");
}
Test(hostile, live_needs_the_token)
{
    live("tokens");
}
Test(hostile, live_for_another_user)
{
    if (geteuid() != 0)
        build_skip("only root becomes another user");
    live("user");
}
Test(hostile, live_among_strangers, .init = build_long)
{
    live("strangers");
}
Test(hostile, live_among_sleepers, .init = build_long)
{
    live("asleep");
}
Test(hostile, live_in_a_crowd)
{
    live("crowd");
}
