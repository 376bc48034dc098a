/* A program that crashes dumps, and dies as it would have. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

TestSuite(crashes, .init = build_begin, .fini = build_end, .timeout = 400);

/* --------------------------------------------------------------- children --
 *
 * A child writes its stderr to ...
 */
enum to {
    READ,        /* a pipe that is read */
    SLOWLY,      /* ... from 50 ms after the first byte on */
    NONBLOCK,    /* ... and does not block */
    FULL,        /* a full pipe without a reader */
    STALLED,     /* a pipe without a reader */
    NO_READER,   /* a pipe without a reader */
    CLOSED,      /* nothing */
    DEVICE_FULL, /* /dev/full */
    FILE_        /* a file */
};
struct child {
    int status;
    double seconds, unread; /* that it ran; that its pipe had no reader */
    char text[1 << 20];     /* its output */
    size_t size;
    bool hung;
    /* The core file. */
    bool core;
    int sig, code;
    unsigned long pc, sp, address;
};
enum { HANG_SECONDS = 100 }; /* a second of one of many on a processor */

/* Reads the core file's data of the thread that crashed. */
static void read_core(struct child *child)
{
    static char notes[1 << 16];
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    size_t at = 0, size = 0;
    unsigned i;
    bool first = true;
    int fd = open("core", O_RDONLY);
    if (fd < 0)
        return;
    child->core = pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head;
    for (i = 0; child->core && head.e_ident[EI_CLASS] == ELFCLASS64 &&
                i < head.e_phnum;
         i++) {
        pread(fd, &segment, sizeof segment,
              (off_t)(head.e_phoff + i * sizeof segment));
        if (segment.p_type != PT_NOTE)
            continue;
        size = segment.p_filesz < sizeof notes ? segment.p_filesz
                                               : sizeof notes;
        pread(fd, notes, size, (off_t)segment.p_offset);
    }
    close(fd);
    while (at + sizeof(ElfW(Nhdr)) < size) {
        const ElfW(Nhdr) *note = (const void *)(notes + at);
        const char *data = (const char *)(note + 1) +
                           ((note->n_namesz + 3) & ~3u);
        if (note->n_type == NT_PRSTATUS && first) {
            struct elf_prstatus state;
            memcpy(&state, data, sizeof state);
            first = false;
            child->sig = state.pr_cursig;
#ifdef __x86_64__
            child->pc = state.pr_reg[16];
            child->sp = state.pr_reg[19];
#endif
        }
        if (note->n_type == NT_SIGINFO) {
            siginfo_t info;
            memcpy(&info, data, sizeof info);
            child->code = info.si_code;
            if (info.si_code > 0 && info.si_code != SI_KERNEL)
                child->address = (unsigned long)info.si_addr;
        }
        at = (size_t)(data - notes) + ((note->n_descsz + 3) & ~3u);
    }
}

static void become(const char *program, const char *mode, const char *way,
                   enum to to, int fd)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, stack;
    getrlimit(RLIMIT_STACK, &stack);
    stack.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_STACK, &stack);
    setrlimit(RLIMIT_CORE, &all);
    personality(ADDR_NO_RANDOMIZE);
    signal(SIGPIPE, SIG_DFL);
    setenv("RECORDER_DUMP", "last=all", 1); /* longer than a pipe takes */
    if (to == DEVICE_FULL)
        fd = open("/dev/full", O_WRONLY);
    if (to == FILE_)
        fd = open("said", O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 2);
    if (to == CLOSED)
        close(2);
    execl(program, "crash", mode, way, (char *)NULL);
    _exit(126);
}

/* Waits for the child, and reads its output. */
static void attend(struct child *child, pid_t pid, int fd, bool reads,
                   int during)
{
    double start = seconds_now(), last = start, now;
    bool first = true;
    while (waitpid(pid, &child->status, WNOHANG) == 0) {
        struct pollfd ready = {fd, POLLIN, 0};
        now = seconds_now();
        if (now - last > child->unread)
            child->unread = now - last;
        last = now;
        if (now - start > HANG_SECONDS) {
            child->hung = true;
            kill(pid, SIGKILL);
            waitpid(pid, &child->status, 0);
            break;
        }
        if (!reads || poll(&ready, 1, 1) <= 0 || !(ready.revents & POLLIN)) {
            usleep(500);
            continue;
        }
        if (first && during >= 0) {
            usleep(30000); /* it is in the midst of a dump now, and waits */
            if (during)
                kill(pid, during);
            usleep(20000);
        }
        first = false;
        if (child->size < sizeof child->text - 1) {
            ssize_t got = read(fd, child->text + child->size,
                               sizeof child->text - 1 - child->size);
            child->size += got > 0 ? (size_t)got : 0;
        }
    }
    child->seconds = seconds_now() - start;
    if (start + child->seconds - last > child->unread)
        child->unread = start + child->seconds - last;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (reads && child->size < sizeof child->text - 1) {
        ssize_t got = read(fd, child->text + child->size,
                           sizeof child->text - 1 - child->size);
        if (got <= 0)
            break;
        child->size += (size_t)got;
    }
    child->text[child->size] = '\0';
}

static void run_once(struct child *child, const char *program, const char *mode,
                     const char *way, enum to to, int during)
{
    int fds[2];
    pid_t pid;
    bool slow = to == SLOWLY || to == NONBLOCK;
    memset(child, 0, offsetof(struct child, text));
    memset(&child->size, 0, sizeof *child - offsetof(struct child, size));
    cr_assert_eq(chdir(build_folder), 0);
    unlink("core");
    cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
    if (to == FULL || to == NONBLOCK)
        fcntl(fds[1], F_SETFL, O_NONBLOCK);
    while (to == FULL && write(fds[1], "x", 1) == 1)
        ;
    if (to == FULL)
        fcntl(fds[1], F_SETFL, 0);
    pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        close(fds[0]);
        become(program, mode, way, to, fds[1]);
    }
    close(fds[1]);
    if (to == NO_READER) {
        close(fds[0]);
        fds[0] = open("/dev/null", O_RDONLY);
    }
    attend(child, pid, fds[0], to == READ || slow, slow ? during : -1);
    close(fds[0]);
    read_core(child);
}

/* Runs the program in the test's folder. `signal`: comes in the middle of its
 * dump, if that is read SLOWLY. A dump waits for a second for its reader: once
 * more, if the machine stalled the reader for as long. */
static void run(struct child *child, const char *program, const char *mode,
                const char *way, enum to to, int during)
{
    int tries = 0;
    do
        run_once(child, program, mode, way, to, during);
    while (child->unread > 0.9 && ++tries < 5);
}

/* ------------------------------------------------------------------ dumps */

/* Returns the line after those of recorder/crash_stack.h, which may begin here. */
static const char *past_stack(const char *line)
{
    static const char *const begins[] = {"recorder: crash of ",
                                         "recorder: registers ",
                                         "recorder: stack of ",
                                         "recorder: module "};
    for (unsigned i = 0; i < 4; i++)
        while (strncmp(line, begins[i], strlen(begins[i])) == 0 &&
               strchr(line, '\n'))
            line = strchr(line, '\n') + 1;
    return line;
}

/* Checks one whole dump at `text`: the signal, the header, a line a recorder
 * and a line a record, ascending. Returns its end, or null and the reason. */
static const char *dump_end(const char *text, int sig, bool last,
                            const char **why)
{
    unsigned long count = 0, order, before = 0, i;
    char number[32], *end;
    const char *line = strchr(text, '\n');
    bool words = false, more;
    sprintf(number, "(signal %d) in thread ", sig);
    *why = "the first line names another signal";
    if (!line++ || !memmem(text, (size_t)(line - text), number, strlen(number)))
        return NULL;
    line = past_stack(line);
    *why = "no header";
    if (sscanf(line, "FLIGHT RECORDER DUMP AT %*s %*s UTC, PROGRAM %*[^,], "
                     "PID %*u, MORE THAN %lu RECORDS",
               &count) == 1)
        more = true;
    else if (sscanf(line,
                    "FLIGHT RECORDER DUMP AT %*s %*s UTC, PROGRAM %*[^,], "
                    "PID %*u, %lu RECORDS",
                    &count) == 1)
        more = false;
    else
        return NULL;
    line = strchr(line, '\n') + 1;
    while (strncmp(line, "DUMPING ", 8) == 0 && strchr(line, '\n'))
        line = strchr(line, '\n') + 1;
    for (i = 0; more || i < count; i++, line = end + 1) {
        order = strtoul(line, &end, 10);
        if (more && i > count && (order <= before || strncmp(end, " [", 2)))
            break;
        *why = "a line is missing, no record, or out of order";
        if (order <= before || strncmp(end, " [", 2) != 0)
            return NULL;
        before = order;
        if ((end = strchr(line, '\n')) == NULL)
            return NULL;
        if (last)
            words = false;
        if (memmem(line, (size_t)(end - line), ": last words", 12))
            words = true;
    }
    *why = "without the last words";
    return words ? line : NULL;
}

/* ------------------------------------------------------------------- table */

enum {
    LATER = 1,    /* others record on: the last words are not the last line */
    MOVED = 2,    /* it dies elsewhere: in a handler, which has a stack now */
    CODELESS = 4, /* the kernel gives no further reason */
    ONCE = 8,     /* takes long: in one build only */
    DYNAMIC = 16, /* needs a library */
    IN_CPP = 32
};
static const struct way {
    const char *name;
    int sig;
    unsigned dumps, flags;
    int first; /* signal of the first dump, where it is another */
} ways[] = {
    {"null", SIGSEGV, 1, 0, 0},
    {"kill", SIGSEGV, 1, 0, 0},
    {"raise", SIGSEGV, 1, 0, 0},
    {"bus", SIGBUS, 1, 0, 0},
    {"fpe", SIGFPE, 1, 0, 0},
    {"illegal", SIGILL, 1, 0, 0},
    {"trap", SIGTRAP, 1, 0, 0},
    {"int3", SIGTRAP, 1, 0, 0},
    {"abort", SIGABRT, 1, 0, 0},
    {"assert", SIGABRT, 1, 0, 0},
    {"double-free", SIGABRT, 1, 0, 0},
    {"corrupt", SIGABRT, 1, 0, 0},
    {"terminate", SIGABRT, 1, IN_CPP, 0},
    {"quit", SIGQUIT, 1, 0, 0},
    {"sys", SIGSYS, 1, 0, 0},
    {"cpu", SIGXCPU, 1, ONCE | MOVED, 0},
    {"cpu-sent", SIGXCPU, 1, 0, 0},
    {"file-size", SIGXFSZ, 1, 0, 0},
    {"term", SIGTERM, 1, 0, 0},
    {"int", SIGINT, 1, 0, 0},
    {"real-time", 37, 1, 0, 0},
    {"overflow", SIGSEGV, 1, 0, 0},
    {"thread", SIGSEGV, 1, 0, 0},
    {"thread-abort", SIGABRT, 1, 0, 0},
    {"thread-overflow", SIGSEGV, 1, 0, 0},
    {"thread-overflow-bare", SIGSEGV, 0, CODELESS, 0},
    {"among-others", SIGSEGV, 1, LATER, 0},
    {"four", SIGSEGV, 1, 0, 0},
    {"in-malloc", SIGSEGV, 1, MOVED, 0},
    {"in-stdio", SIGSEGV, 1, 0, 0},
    {"in-sink", SIGSEGV, 1, MOVED, 0},
    {"at-exit", SIGSEGV, 1, 0, 0},
    {"W1", SIGSEGV, 1, LATER, 0},
    {"W2", SIGSEGV, 1, LATER, 0},
    {"W3", SIGSEGV, 1, LATER, 0},
    {"W4", SIGSEGV, 1, LATER, 0},
    {"W5", SIGSEGV, 1, LATER, 0},
    {"W6", SIGSEGV, 1, LATER, 0},
    {"W6-end", SIGSEGV, 1, LATER, 0},
    {"W7", SIGSEGV, 1, LATER, 0},
    {"G1", SIGSEGV, 1, LATER, 0},
    {"G2", SIGSEGV, 1, LATER, 0},
    {"P1", SIGSEGV, 1, LATER, 0},
    {"P2", SIGSEGV, 1, LATER, 0},
    {"P3", SIGSEGV, 1, LATER, 0},
    {"no-files", SIGSEGV, 1, 0, 0},
    {"no-memory", SIGSEGV, 1, 0, 0},
    {"small-stack", SIGSEGV, 1, 0, 0},
    {"small-stack-no-memory", SIGSEGV, 1, 0, 0},
    {"vfork", SIGSEGV, 2, 0, 0},
    {"fork", SIGSEGV, 2, 0, 0},
    {"fork-in-dump", SIGSEGV, 1, ONCE, 0},
    {"constructor", SIGSEGV, 1, DYNAMIC, 0},
    {"destructor", SIGSEGV, 1, DYNAMIC, 0},
    {"library-too", SIGSEGV, 1, DYNAMIC, 0},
    {"handler-aborts", SIGABRT, 2, MOVED, SIGSEGV},
    {"handler-faults", SIGSEGV, 1, MOVED, 0},
    {"handler-of-abort", SIGSEGV, 2, MOVED, SIGABRT},
    {"handler-once", SIGSEGV, 2, 0, 0},
};
enum { WAYS = sizeof ways / sizeof *ways };

static struct child bare, dumped;

static bool same_page_offset(unsigned long a, unsigned long b)
{
    return ((a ^ b) & 4095) == 0;
}

/* True if it died as the bare one did. */
static void expect_same_death(const char *build, const char *name,
                              unsigned flags)
{
    cr_expect(!dumped.hung && !bare.hung, "%s, %s: hangs", build, name);
    cr_expect(dumped.status == bare.status, "%s, %s: status %#x, bare %#x",
              build, name, (unsigned)dumped.status, (unsigned)bare.status);
    cr_expect(dumped.core == bare.core, "%s, %s: a core file: %d, bare %d",
              build, name, dumped.core, bare.core);
    cr_expect(dumped.sig == bare.sig &&
                  ((flags & CODELESS) ||
                   (dumped.code == bare.code &&
                    same_page_offset(dumped.address, bare.address))),
              "%s, %s: core: signal %d code %d at %#lx, bare %d %d %#lx", build,
              name, dumped.sig, dumped.code, dumped.address, bare.sig,
              bare.code, bare.address);
}

/* True if its output equals the bare one's, with these dumps put in. */
static void expect_dumps(const char *build, const struct way *way)
{
    static char rest[sizeof dumped.text];
    const char *at = dumped.text, *next, *why = "";
    unsigned count = 0;
    rest[0] = '\0';
    while ((next = strstr(at, "recorder: ")) != NULL) {
        int sig = count == 0 && way->first ? way->first : way->sig;
        strncat(rest, at, (size_t)(next - at));
        count++;
        at = dump_end(next, sig, !(way->flags & LATER), &why);
        if (!at) {
            cr_expect(0, "%s, %s: dump %u: %s; %zu bytes:\n%.500s\n...\n%s",
                      build, way->name, count, why, dumped.size, next,
                      dumped.size > 600 ? dumped.text + dumped.size - 600 : "");
            return;
        }
    }
    strcat(rest, at);
    cr_expect(count == way->dumps, "%s, %s: %u dumps", build, way->name, count);
    cr_expect(strcmp(rest, bare.text) == 0,
              "%s, %s: besides dumps it says\n%.800s\nbut bare\n%.800s", build,
              way->name, rest, bare.text);
}

static void expect_way(const char *build, const struct way *way)
{
    run(&bare, "./crash", "bare", way->name, READ, -1);
    if (WIFEXITED(bare.status) && WEXITSTATUS(bare.status) == 77) {
        fprintf(stderr, "left out: %s cannot be done here\n", way->name);
        return;
    }
    cr_expect(WIFSIGNALED(bare.status) && WTERMSIG(bare.status) == way->sig,
              "%s, %s: the bare program dies with status %#x, not of signal %d",
              build, way->name, (unsigned)bare.status, way->sig);
    run(&dumped, "./crash", "dump", way->name, READ, -1);
    expect_same_death(build, way->name, way->flags);
    cr_expect((way->flags & MOVED) || (same_page_offset(dumped.pc, bare.pc) &&
                                        same_page_offset(dumped.sp, bare.sp)),
              "%s, %s: core: pc %#lx sp %#lx, bare pc %#lx sp %#lx", build,
              way->name, dumped.pc, dumped.sp, bare.pc, bare.sp);
    expect_dumps(build, way);
}

static void build_crash(const char *compiler, const char *flags)
{
    build_once("%s %s -g -w " BUILD_INCLUDE "-o crash " BUILD_PROGRAMS
               "/crash.c -lpthread -ldl",
               compiler, flags);
}

static void expect_ways(const char *compiler, const char *flags, unsigned skip)
{
    char build[64];
    unsigned i;
    sprintf(build, "%s %s", compiler, flags);
    build_needs_flags(compiler, flags);
    build_crash(compiler, flags);
    if (!(skip & DYNAMIC))
        build_must("%s %s -g -w -fPIC -shared -DCRASH_LIBRARY " BUILD_INCLUDE
                   "-o crash.so " BUILD_PROGRAMS "/crash.c -lpthread -ldl",
                   compiler, flags);
    for (i = 0; i < WAYS; i++)
        if (!(ways[i].flags & skip))
            expect_way(build, &ways[i]);
}

/* Goal: a program that crashes, in any way and at any moment, writes one whole
 * dump that ends with its last record, and then dies as without: of the same
 * signal, with the same core file. Method: each way twice, without handlers and
 * with; status, core file (signal, code, address, the thread's position) and
 * the other output must be equal. */
Test(crashes, dump_and_die) { expect_ways("gcc", "-O2", IN_CPP); }
Test(crashes, dump_and_die_unoptimized, .init = build_long)
{
    expect_ways("gcc", "-O0", IN_CPP | ONCE | DYNAMIC);
}
Test(crashes, dump_and_die_static, .init = build_long)
{
    expect_ways("gcc", "-O1 -static", IN_CPP | ONCE | DYNAMIC);
}
Test(crashes, dump_and_die_in_cpp, .init = build_long)
{
    expect_ways("g++", "-x c++ -O1", ONCE | DYNAMIC);
}
Test(crashes, dump_and_die_32_bits, .init = build_long)
{
    expect_ways("gcc", "-m32 -O1", IN_CPP | ONCE | DYNAMIC);
}

/* Goal: a signal that comes while a crash is dumped changes neither the dump
 * nor the death. Method: the dump is longer than its pipe, which is read only
 * after the signal was sent; also where stderr does not block. */
Test(crashes, another_signal_in_a_dump, .init = build_long)
{
    static const int signals[] = {0,       SIGUSR1, SIGUSR2, SIGTERM, SIGINT,
                                  SIGSEGV, SIGABRT, SIGHUP,  SIGPIPE, SIGALRM};
    static const struct way segv = {"null", SIGSEGV, 1, 0, 0};
    static const struct way abort_ = {"abort", SIGABRT, 1, 0, 0};
    unsigned i, j;
    build_crash("gcc", "-O1");
    for (i = 0; i < 2; i++) {
        const struct way *way = i ? &abort_ : &segv;
        run(&bare, "./crash", "bare", way->name, READ, -1);
        for (j = 0; j < sizeof signals / sizeof *signals; j++) {
            char what[40];
            sprintf(what, "signal %d during", signals[j]);
            run(&dumped, "./crash", "dump", way->name,
                j % 2 ? SLOWLY : NONBLOCK, signals[j]);
            expect_same_death(what, way->name, 0);
            expect_dumps(what, way);
        }
    }
}

/* Goal: in a sandbox that refuses sigaction() and kill(), too, a fault ends the
 * program with a dump and with the core file that it would have without us; a
 * signal that was sent ends it with that signal's status. */
Test(crashes, sandbox_that_refuses, .init = build_long)
{
    static const char *const faults[] = {"null", "call"};
    unsigned i;
    build_must("gcc -O2 -w " BUILD_INCLUDE "-o sandbox " BUILD_PROGRAMS
               "/sandbox.c");
    for (i = 0; i < 2; i++) {
        run(&bare, "./sandbox", "bare", faults[i], READ, -1);
        if (WIFEXITED(bare.status) && WEXITSTATUS(bare.status) == 77)
            build_skip("no seccomp");
        run(&dumped, "./sandbox", "dump", faults[i], READ, -1);
        expect_same_death("sandbox", faults[i], 0);
        cr_expect(WIFSIGNALED(dumped.status), "status %#x",
                  (unsigned)dumped.status);
        cr_expect(same_page_offset(dumped.pc, bare.pc) &&
                      same_page_offset(dumped.sp, bare.sp),
                  "core: pc %#lx sp %#lx, bare pc %#lx sp %#lx", dumped.pc,
                  dumped.sp, bare.pc, bare.sp);
        cr_expect_not_null(strstr(dumped.text, "FLIGHT RECORDER DUMP"), "%s",
                           dumped.text);
    }
    run(&dumped, "./sandbox", "dump", "sent", READ, -1);
    cr_expect(WIFEXITED(dumped.status) &&
                  WEXITSTATUS(dumped.status) == 128 + SIGSEGV,
              "status %#x", (unsigned)dumped.status);
    cr_expect_not_null(strstr(dumped.text, "FLIGHT RECORDER DUMP"), "%s",
                       dumped.text);
}

/* Goal: for any stderr, the program dies in time, of its crash. */
Test(crashes, stderr_of_any_kind, .init = build_long)
{
    static const struct {
        enum to to;
        const char *what, *way;
    } kinds[] = {{FULL, "a full pipe", "null"},
                 {STALLED, "a pipe that is not read", "null"},
                 {NO_READER, "a pipe without a reader", "null"},
                 {CLOSED, "closed", "null"},
                 {DEVICE_FULL, "/dev/full", "null"},
                 {FILE_, "a file of no size", "no-file-size"},
                 {FULL, "a full pipe", "abort"},
                 {NO_READER, "a pipe without a reader", "thread"},
                 {NO_READER, "a pipe without a reader", "no-memory"},
                 {STALLED, "a pipe that is not read", "four"}};
    unsigned i;
    build_crash("gcc", "-O1");
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned tries = 0;
        run(&bare, "./crash", "bare", kinds[i].way, kinds[i].to, -1);
        do { /* it waits for a second; a busy machine makes that longer */
            run(&dumped, "./crash", "dump", kinds[i].way, kinds[i].to, -1);
            expect_same_death(kinds[i].what, kinds[i].way, 0);
        } while (dumped.seconds > bare.seconds + 3 && ++tries < 3);
        cr_expect(WIFSIGNALED(bare.status));
        cr_expect(tries < 3, "%s, %s: takes %.1f s", kinds[i].what,
                  kinds[i].way, dumped.seconds);
    }
}

/* Goal: a dump to a file equals a dump to a pipe. */
Test(crashes, stderr_a_file, .init = build_long)
{
    static const struct way null = {"null", SIGSEGV, 1, 0, 0};
    int fd;
    build_crash("gcc", "-O1");
    run(&bare, "./crash", "bare", "null", READ, -1);
    run(&dumped, "./crash", "dump", "null", FILE_, -1);
    fd = open("said", O_RDONLY);
    dumped.size = (size_t)read(fd, dumped.text, sizeof dumped.text - 1);
    dumped.text[dumped.size] = '\0';
    close(fd);
    expect_same_death("a file", "null", 0);
    expect_dumps("a file", &null);
}

/* Goal: gdb shows the crash in the core file as it would have without us.
 * Method: its words for both, with the addresses that may differ left out. */
Test(crashes, seen_by_gdb, .init = build_long)
{
    static const char *const asked[] = {"null", "abort", "fpe"};
    unsigned i;
    build_needs("gdb");
    build_crash("gcc", "-O1");
    for (i = 0; i < sizeof asked / sizeof *asked; i++) {
        static char of_bare[1 << 16];
        unsigned dumps;
        for (dumps = 0; dumps < 2; dumps++) {
            run(&dumped, "./crash", dumps ? "dump" : "bare", asked[i], READ,
                -1);
            if (!dumped.core)
                build_skip("core files go elsewhere");
            build_must("gdb -nx -batch -iex \"set debuginfod enabled off\" "
                       "-ex \"set print address off\" -ex \"bt 1\" "
                       "-ex \"set print address on\" "
                       "-ex \"p \\$_siginfo.si_signo\" "
                       "-ex \"p \\$_siginfo.si_code\" "
                       "-ex \"p \\$_siginfo._sifields._sigfault.si_addr\" "
                       "./crash core 2>&1 | grep -E \"^(.[0-9]|Program)\"");
            if (!dumps)
                strncpy(of_bare, build_text, sizeof of_bare - 1);
        }
        if (i == 1) {
            /* The address is the sender's: a process id. */
            *strstr(of_bare, "$3") = '\0';
            *strstr(build_text, "$3") = '\0';
        }
        cr_expect(strstr(of_bare, i == 1 ? "#0" : "die_"),
                  "gdb shows nothing: %s", of_bare);
        cr_expect_str_eq(build_text, of_bare, "%s: gdb shows\n%s\nbare\n%s",
                         asked[i], build_text, of_bare);
    }
}

/* ------------------------------------------------------------- how much */

static void build_last(void)
{
    build_once("gcc -O1 -g -w " BUILD_INCLUDE "-o last " BUILD_PROGRAMS
               "/last.c");
}
#define LAST "ulimit -c 0; unset RECORDER_DUMP; "

/* Lines of the output with a word. */
static unsigned lines_with(const char *word)
{
    const char *at = build_text;
    unsigned count = 0;
    for (; at && (at = strstr(at, word)) != NULL; count++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return count;
}

/* Lines of the output, without the shell's own. */
static unsigned lines_of_ours(void)
{
    return lines_with("\n") - lines_with("Segmentation fault") -
           lines_with("recorder: crash of ") -
           lines_with("recorder: registers ") -
           lines_with("recorder: stack of ") - lines_with("recorder: module ");
}

/* The last `count` numbers that a recorder was given, `step` apart, up to
 * 20000: each has a line, and none before. */
static void expect_last(const char *name, unsigned count, int step)
{
    char line[60];
    unsigned i;
    for (i = 0; i <= count; i++) {
        sprintf(line, "] %s: %s %d", name, name, 20000 - (int)i * step);
        cr_expect((strstr(build_text, line) != NULL) == (i < count),
                  "%s%s", line, i < count ? " is missing" : " is too much");
    }
    sprintf(line, "] %s: ", name);
    cr_expect_eq(lines_with(line), count, "%u lines of %s", lines_with(line),
                 name);
}

/* Goal: a crash says at most 1,000 lines, the newest records of each recorder,
 * as many of each, and how many it left out; "last=" chooses. Method: the lines
 * of each recorder, of records of one slot, of three and with a text, and of
 * several rings. */
Test(crashes, last_of_each)
{
    unsigned all, shown;
    const char *left;
    build_last();
    cr_assert_eq(build_run(LAST "./last crash"), 128 + SIGSEGV);
    cr_expect_eq(lines_of_ours(), 1000, "%u lines", lines_of_ours());
    cr_expect_not_null(strstr(build_text, "small: last words\n"));
    cr_expect_not_null(strstr(build_text, "small: first 0\n"));
    expect_last("large", 330, 1);
    expect_last("mixed", 330, 10);
    expect_last("lanes", 330, 20);
    cr_expect_eq(lines_with("that it was a text"), 0);
    cr_expect_eq(lines_with(": 1 2 3 4 a text of its own, longer than a "
                            "record, "), 330, "%s", build_text);
    cr_expect(sscanf(past_stack(strchr(build_text, '\n') + 1),
                     "FLIGHT RECORDER DUMP AT %*s %*s UTC, PROGRAM last, PID "
                     "%*u, %u RECORDS", &shown) == 1 &&
                  shown == 992, "%.300s", build_text);
    left = strstr(build_text, " older records are left out");
    while (left && *left != '\n')
        left--;
    cr_assert(left && sscanf(left, " recorder: %u older records are left out",
                             &all) == 1, "%s", build_text);
    cr_assert_eq(build_run(LAST "RECORDER_DUMP=last=all ./last crash"),
                 128 + SIGSEGV);
    cr_expect_eq(lines_with("] "), all + shown);
    cr_expect_null(strstr(build_text, "left out"));

    build_run(LAST "RECORDER_DUMP=last=5 ./last crash");
    expect_last("large", 5, 1);
    expect_last("mixed", 5, 10);
    expect_last("lanes", 5, 20);
    cr_expect_eq(lines_with("] small: "), 2);
    build_run(LAST "RECORDER_DUMP=last=all ./last crash last=7");
    expect_last("large", 7, 1);
    build_run(LAST "RECORDER_DUMP=last=7 ./last crash \"\"");
    expect_last("large", 330, 1);
    build_run(LAST "RECORDER_DUMP=\"names=l.{1,9}, last=3\" ./last crash");
    expect_last("large", 3, 1);
    expect_last("lanes", 3, 20);
    cr_expect_null(strstr(build_text, "mixed"));
    cr_expect_null(strstr(build_text, "small"));
}

/* Goal: without memory for its sorting a dump shows the same. */
Test(crashes, last_without_memory)
{
    char *with;
    build_last();
    build_run(LAST "export RECORDER_DUMP=last=20; ./last crash 2>rich; "
              "./last poor 2>said");
    build_must("grep T1 rich | sed s/.*T1.//");
    with = strdup(build_text);
    build_must("grep T1 said | sed s/.*T1.//");
    cr_expect_str_eq(build_text, with);
    cr_expect_eq(lines_with("\n"), 62);
    build_must("grep \"MORE THAN\" said");
    free(with);
}

/* Goal: a setting that means nothing is refused, with words. */
Test(crashes, settings_refused, .init = build_long)
{
    static const char *const wrong[] = {
        "last=", "last=0", "last=-1", "last=ten", "last=5x", "to=", "names=(",
        "lines=5", "5", "crash=", "crash=x", "last=5, form=x", "last=99999999999999999999999"};
    char line[300];
    unsigned i;
    build_last();
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        build_must(LAST "./last refused \"%s\"", wrong[i]);
        cr_expect_not_null(strstr(build_text, "recorder: dump: there are "),
                           "%s: %s", wrong[i], build_text);
    }
    memset(line, 'x', sizeof line - 1);
    memcpy(line, "to=", 3);
    line[sizeof line - 1] = '\0';
    build_must(LAST "./last refused %s", line);
    /* of the environment: the program continues without it */
    build_run(LAST "RECORDER_DUMP=form=x ./last crash");
    cr_expect_eq(lines_of_ours(), 1002, "%.200s", build_text);
}

/* Goal: a dump goes to the requested file; its contents stay, a link is not
 * followed, and if no file can be made, stderr gets the dump. */
Test(crashes, dump_to_a_file)
{
    build_last();
    build_must(LAST "RECORDER_DUMP=\"last=5, to=x.%%p.%%%%.dump\" "
               "./last crash 2>said; test $? = 139 && cat said && "
               "test $(grep -c recorder: said) = 2 && "
               "test $(stat -c %%a x.*.%%.dump) = 600 && "
               "test $(grep -c T1 x.*.%%.dump) = 17 && grep SIGSEGV said && "
               "grep SIGSEGV x.*.dump && grep \"dumps to x.*.%%.dump\" said");
    build_must(LAST "echo before >y; RECORDER_DUMP=last=1,to=y ./last asked && "
               "head -1 y | grep before && test $(grep -c FLIGHT y) = 2 && "
               "test $(grep -c T1 y) = 8");
    build_must(LAST "echo theirs >z; ln -s z link; mkfifo fifo; mkdir d; "
               "for to in link fifo d no/x; do "
               "RECORDER_DUMP=last=1,to=$to ./last asked 2>said || exit 1; "
               "grep -q \"cannot open $to for a dump\" said && "
               "test $(grep -c T1 said) = 8 || exit 1; done; "
               "test $(cat z) = theirs");
    /* a file with a second name, a pipe that is read, another user's file */
    build_must(LAST "echo theirs >h; ln h h2; mkfifo read; sleep 20 <>read & "
               "for to in h read; do "
               "RECORDER_DUMP=last=1,to=$to ./last asked 2>said || exit 1; "
               "grep -q \"cannot open $to for a dump: it must be\" said && "
               "test $(grep -c T1 said) = 8 || exit 1; done; "
               "kill $!; test $(cat h) = theirs");
    if (geteuid() == 0) {
        build_must(LAST "echo theirs >u; chown 65534 u; RECORDER_DUMP=last=1,"
                   "to=u ./last asked 2>said; "
                   "grep -q \"cannot open u for a dump\" said && "
                   "test $(grep -c T1 said) = 8 && test $(cat u) = theirs");
        build_must(LAST "cp last s && chmod 755 . && chmod 4755 s && "
                   "chmod 777 d; RECORDER_DUMP=last=1,to=d/x setpriv --reuid "
                   "65534 --clear-groups ./s asked 2>said; ls -A d; "
                   "! grep -q T1 said && test ! -e d/x");
    } else {
        fprintf(stderr, "left out: not root\n");
    }
}

/* Goal: if the records are in a recording, a dump prints its path and the way
 * to read it, and no more without a request: explain, if it has the crash. */
Test(crashes, dump_with_a_recording)
{
    build_last();
    build_must(LAST "RECORDER_FILE=f ./last crash 2>said; cat said; "
               "test $(grep -c . said) = 3 && "
               "grep \"^recorder: see recorder explain /.*/f$\" said");
    build_must("test -x " TEST_ROOT "/build/recorder || exit 0; "
               "$(sed -n \"s|^recorder: see recorder|" TEST_ROOT
               "/build/recorder|p\" said) | grep \"small: last words\"");
    build_must(LAST "RECORDER_DUMP=last=2 RECORDER_FILE=g ./last crash 2>said; "
               "test $(grep -c T1] said) = 8 && grep \"explain /.*/g$\" said");
    build_must(LAST "RECORDER_FILE=h ./last asked 2>said; cat said; "
               "test $(grep -c . said) = 4 && grep \"see recorder dump\" said");
    build_must(LAST "RECORDER_DUMP=crash=0 RECORDER_FILE=i ./last crash 2>said; "
               "grep \"^recorder: see recorder dump /.*/i$\" said");
}

/* Goal: after a crash has overwritten anything, the dump ends, and the program
 * dies of its own signal. Method: children that overwrite random words of the
 * registry, recorders, rings, tables, triggers and recordings; their signal and
 * time. */
Test(crashes, overwritten_memory)
{
    build_must("gcc -O2 " BUILD_WARNINGS BUILD_INCLUDE BUILD_PROGRAMS
               "/overwritten.c -o overwritten -lpthread");
    build_must("./overwritten %u %u", (unsigned)(seed_of("overwritten") % 1000000),
               scaled(8000));
    build_must("RECORDER_DUMP=last=all ./overwritten 1 %u", scaled(2000));
    build_must("RECORDER_FILE=recording.%%p RECORDER_DUMP=last=100 "
               "./overwritten 1 %u", scaled(2000));
}

/* Goal: a dump for SIGUSR1 that meets a fault ends, and the program continues,
 * and so does a thread that faults at the same time with its own handler. */
Test(crashes, faults_meanwhile)
{
    build_must("gcc -O2 " BUILD_INCLUDE BUILD_PROGRAMS
               "/meanwhile.c -o meanwhile -lpthread");
    build_must("./meanwhile %u 2>said; tail -5 said; "
               "grep -c \"ends early: memory\" said", scaled(300));
}

/* Goal: a program with large rings is done with its dump at once. Method: rings
 * of a million slots; the time from the crash to the end, the least of some. */
Test(crashes, large_rings_die_soon, .init = build_long)
{
    double least = 1e9, none = 1e9;
    build_must("sed s/16384/1048576/ " BUILD_PROGRAMS "/last.c | "
               "sed s/20000/2000000/ >l.c; gcc -O1 -w " BUILD_INCLUDE
               "-o last l.c");
    for (int i = 0; i < 5 && least >= none + 1; i++) {
        double seconds = seconds_now();
        build_must(LAST "RECORDER_DUMP=names=none ./last crash 2>said; "
                   "test $? = 139");
        seconds = seconds_now() - seconds;
        none = seconds < none ? seconds : none;
        build_must("set -e; " LAST "( time -p ./last crash ) 2>said || true; "
                   "test $(grep -c T1 said) = 992; grep real said");
        seconds = atof(build_text + 5);
        least = seconds < least ? seconds : least;
    }
    cr_expect_lt(least, none + 1, "%f s, with none %f s", least, none);
}
