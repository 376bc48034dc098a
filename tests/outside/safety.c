/* Dumps are async-signal-safe, and survive a broken memory. */
/* SPDX-License-Identifier: MIT */
#include "harness/capture.h"

#include "harness/build.h"

RECORDER(small, 1, "4 slots");
RECORDER(middle, 16, "16 slots");
RECORDER(large, 64, "64 slots");
RECORDER_LANES(lanes, 8, 2, "Two lanes");

TestSuite(safety, .timeout = 400);

/* ----------------------------------------------------------------- calls -- */

/* POSIX's async-signal-safe functions (signal-safety(7)), plain system calls,
 * and the compiler's own. */
static const char *const allowed[] = {
    "write", "read", "close", "pipe", "poll", "fcntl", "clock_gettime",
    "sigaction", "sigprocmask", "sigpending",
    "rename", "unlink",                       /* POSIX */
    "mmap", "munmap", "mprotect", "syscall", "sigaltstack", "_exit",
    "sigtimedwait", "getauxval",              /* system calls, or less */
    "_setjmp", "_longjmp",                    /* out of the dump only */
    "memcpy", "memset", "memcmp", "memmove",  /* of the compiler */
    "__errno_location", "__tls_get_addr", "_GLOBAL_OFFSET_TABLE_",
    "__ehdr_start",                           /* of the linker */
    "strerrordesc_np",                        /* AS-Safe, by glibc's manual */
    "__stack_chk_fail", "__dso_handle",
    /* at the program's start, or where recorder_file() is called, only: */
    "getenv", "secure_getenv", "__register_atfork", "dl_iterate_phdr",
    "on_exit"};
/* The calls of the program safe.c itself. */
static const char *const of_the_program[] = {
    "alarm", "pthread_create", "signal", "setitimer", "fopen", "malloc", "free",
    "fprintf", "fflush", "flockfile", "ftrylockfile", "funlockfile", "usleep",
    "pause", "raise", "_exit", "snprintf", "strcmp", "strlen", "stdout",
    "stderr"};

static bool is_in(const char *name, const char *const *list, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

/* Goal: the headers call nothing that is not async-signal-safe. Method: nm -u
 * of a program that uses all of them, against a list; of the headers alone,
 * without the program's own calls. */
Test(safety, calls_are_async_signal_safe, .init = build_begin,
     .fini = build_end)
{
    static const char *const levels[] = {"-O2", "-O0", "-O2 -fPIC", "-Os"};
    size_t i;
    for (i = 0; i < COUNT(levels); i++) {
        char name[100];
        int offset, calls = 0;
        const char *at;
        if (!sampled((unsigned)i))
            continue;
        build_must("gcc %s " BUILD_INCLUDE "-c " BUILD_PROGRAMS
                   "/safe.c -o safe.o && nm -u safe.o", levels[i]);
        for (at = build_text; sscanf(at, "%*s %99s%n", name, &offset) == 1;
             at += offset, calls++)
            cr_assert(is_in(name, allowed, COUNT(allowed)) ||
                          is_in(name, of_the_program, COUNT(of_the_program)),
                      "%s: %s", levels[i], name);
        cr_assert_gt(calls, 30, "%s", build_text);
        /* Without functions of the program's own: */
        build_must("echo \"#include <recorder_dump.h>\" >alone.c && gcc %s "
                   BUILD_INCLUDE "-Wno-unused -fkeep-static-functions -c "
                   "alone.c -o alone.o && nm -u alone.o", levels[i]);
        calls = 0;
        for (at = build_text; sscanf(at, "%*s %99s%n", name, &offset) == 1;
             at += offset, calls++)
            cr_assert(is_in(name, allowed, COUNT(allowed)), "%s: %s", levels[i],
                      name);
        cr_assert_gt(calls, 15, "%s", build_text);
    }
}

/* Goal: no dump calls malloc(), stdio or a locale, at run time, either. Method:
 * a preloaded library in which they abort; that it does is tried, too. */
Test(safety, forbidden_calls_are_not_made, .init = build_begin,
     .fini = build_end)
{
    build_must("gcc -w -fPIC -shared -fno-builtin " BUILD_PROGRAMS
               "/forbid.c -o forbid.so");
    build_must("gcc -O1 -fno-builtin -rdynamic " BUILD_INCLUDE BUILD_PROGRAMS
               "/safe.c -o safe -lpthread");
    cr_assert_eq(build_run("LD_PRELOAD=./forbid.so ./safe malloc"), 134, "%s",
                 build_text);
    cr_assert_not_null(strstr(build_text, "forbidden: malloc\n"), "%s",
                       build_text);
    cr_assert_eq(build_run("LD_PRELOAD=./forbid.so ./safe printf"), 134, "%s",
                 build_text);
    build_must("LD_PRELOAD=./forbid.so ./safe");
    cr_assert_null(strstr(build_text, "forbidden"), "%s", build_text);
    cr_assert_not_null(strstr(build_text, "] one: 1 2.5 traced\n"), "%s",
                       build_text);
    cr_assert_not_null(strstr(build_text, "recorder: SIGUSR1 (signal 10)"),
                       "%s", build_text);
}

/* Goal: a dump waits for no lock of the C library. Method: handlers that come
 * in the middle of malloc(), free() and printf(), and a thread that holds the
 * locks of stdout and stderr for good. */
Test(safety, locks_are_not_waited_for, .init = build_begin, .fini = build_end)
{
    build_must("gcc -O1 " BUILD_INCLUDE BUILD_PROGRAMS
               "/safe.c -o safe -lpthread");
    build_must("./safe locks");
    cr_assert_not_null(strstr(build_text, "FLIGHT RECORDER DUMP AT "));
}

/* Goal: the stack is bounded: no function takes more than 4 KiB, none an amount
 * that depends on data. Method: gcc -fstack-usage. */
Test(safety, functions_take_little_stack, .init = build_begin,
     .fini = build_end)
{
    static const char *const levels[] = {"-O2", "-O0", "-O1", "-O3", "-Os"};
    size_t i;
    for (i = 0; i < COUNT(levels); i++) {
        char *line, name[300], kind[100];
        unsigned long bytes, most = 0;
        int functions = 0;
        if (!sampled((unsigned)i))
            continue;
        build_must("gcc %s -fstack-usage " BUILD_INCLUDE "-c " BUILD_PROGRAMS
                   "/safe.c -o safe.o && cat safe.su", levels[i]);
        for (line = strtok(build_text, "\n"); line;
             line = strtok(NULL, "\n"), functions++) {
            cr_assert_eq(sscanf(line, "%299s %lu %99s", name, &bytes, kind), 3,
                         "%s", line);
            cr_assert(strcmp(kind, "static") == 0 ||
                          strcmp(kind, "dynamic,bounded") == 0,
                      "%s: %s", levels[i], line);
            cr_assert_leq(bytes, 4096, "%s: %s", levels[i], line);
            if (bytes > most)
                most = bytes;
        }
        cr_assert_gt(functions, 30);
        fprintf(stderr, "functions_take_little_stack: %s: %lu bytes at most\n",
                levels[i], most);
    }
}

/* Goal: of a program with more rights than its caller (setuid), the caller sets
 * nothing by the environment, and sees no records by sending it signals.
 * Method: the same program is run by its owner's copy and by a setuid one. */
Test(safety, callers_of_setuid_programs, .init = build_begin, .fini = build_end)
{
    static const char settings[] =
        "env RECORDER_TRACES=secret RECORDER_FILE=file "
        "\"RECORDER_LINE=line: {message}\" "
        "\"RECORDER_TRIGGERS=secret: : dump=acted\"";
    if (geteuid() != 0)
        build_skip("not root");
    build_must("gcc -O2 " BUILD_WARNINGS BUILD_INCLUDE "-o own " BUILD_PROGRAMS
               "/privileged.c && chmod 777 . && cp own setuid && "
               "chmod 4755 setuid");
    build_must("setpriv --reuid 65534 --clear-groups %s ./own 2>&1", settings);
    cr_expect(strncmp(build_text,
                      "as its caller, dumps on signals: yes\n"
                      "line: a key\n",
                      49) == 0 &&
                  strstr(build_text, "SIGUSR1") &&
                  strstr(build_text, "goes on"),
              "%s", build_text);
    build_must("test -e file && rm file && test -s acted && rm acted");
    cr_expect_eq(build_run("setpriv --reuid 65534 --clear-groups %s ./setuid "
                           "2>&1; s=$?; ls; exit $s",
                           settings),
                 128 + SIGUSR1, "%s", build_text);
    if (strncmp(build_text, "as its caller", 13) == 0)
        build_skip("no setuid programs in %s", build_folder);
    cr_expect(strncmp(build_text, "privileged, dumps on signals: no\n", 33) ==
                  0,
              "%s", build_text);
    cr_expect_null(strstr(build_text, "line: "), "%s", build_text);
    cr_expect_null(strstr(build_text, "SIGUSR1"), "%s", build_text);
    cr_expect_null(strstr(build_text, "file\n"), "%s", build_text);
    cr_expect_null(strstr(build_text, "acted\n"), "%s", build_text);
}

/* Goal: whatever call of the system fails, a dump ends, leaves no file open,
 * keeps errno, and writes whole lines. Method: the k-th call fails, for each k,
 * with each of several errors, once or from then on. */
Test(safety, every_call_may_fail, .init = build_begin, .fini = build_end)
{
    build_must("gcc -O1 -rdynamic " BUILD_INCLUDE BUILD_PROGRAMS
               "/faults.c -o faults -ldl");
    build_must("./faults");
    fprintf(stderr, "every_call_may_fail: %s", build_text);
}

/* -------------------------------------------------------------- scribble -- */

static uint64_t state;
/* Words that might do harm: near limits, near valid addresses, or any. */
static uintptr_t bad_word(const uintptr_t *there)
{
    static const char *const formats[] = {
        "%s %s %s %s", "%100000d", "%*.*s", "%n%n", "%", "%ls", "%2$s %1$f",
        "%.2147483647f", "%-2147483648d", "\n\033[2J\n", "%s%s%s%s%s%s%s%s"};
    uint64_t r = random_of(&state);
    switch (r >> 8 & 15) {
    case 0: return 0;
    case 1: return r >> 16 & 2047;           /* a text of this length */
    case 2: return UINTPTR_MAX - (r >> 16 & 63);
    case 3: return *there ^ (uintptr_t)1 << (r >> 16 & 63);
    case 4: return *there + (r >> 16 & 127) - 64;
    case 5: return (uintptr_t)recorder_for_large.rings + (r >> 16 & 8191);
    case 6: return (uintptr_t)recorder_for_lanes.rings + (r >> 16 & 4095);
    case 7: return (uintptr_t)formats[(r >> 16) % COUNT(formats)];
    case 8: return (uintptr_t)formats[0] + (r >> 16 & 65535) - 32768;
    case 9: return (uintptr_t)&state + (r >> 16 & 65535) - 32768;
    case 10: return *recorder_home_.order - (r >> 16 & 63);
    case 11: return (r >> 16 & 0xff) << 16 | 2; /* a commit word */
    case 12: return r & ~(uintptr_t)0xfff;
    case 13: return r >> 16 & 0xffffffffffff;
    default: return r ^ r << 32;
    }
}

static void scribble(const struct recorder *recorder)
{
    uintptr_t lane = random_of(&state) % (recorder->lanes_mask + 1);
    struct recorder_ring *ring = recorder_lane_(recorder, (unsigned)lane);
    uintptr_t *words = (uintptr_t *)(void *)ring;
    size_t count = ((uintptr_t)(recorder_turns_(ring, recorder->mask) +
                                recorder->mask + 1) -
                    (uintptr_t)ring) /
                   sizeof *words;
    unsigned n = 1 + (unsigned)(random_of(&state) % 8);
    while (n-- > 0) {
        size_t i = random_of(&state) % count;
        words[i] = bad_word(&words[i]);
    }
}

struct checked {
    uintptr_t lines, bad, last;
    char example[5000];
};
static void check_line(void *context, const char *line, size_t size)
{
    struct checked *c = context;
    size_t i;
    bool bad =
        size == 0 || size > RECORDER_TEXT_LINE_MAX_ || line[size - 1] != '\n';
    uintptr_t order = strtoull(line, NULL, 10);
    for (i = 0; i + 1 < size; i++)
        bad |= (unsigned char)line[i] < ' ' || line[i] == 0x7f;
    if (line[0] >= '0' && line[0] <= '9') {
        /* Ascending, from half of all words before the end; scribbled orders
         * may be the same. */
        bad |= c->last && order - c->last > UINTPTR_MAX / 2;
        c->last = order;
    }
    c->lines++;
    if (bad && !c->bad++)
        memcpy(c->example, line, size < 4999 ? size : 4999);
}

/* Goal: a broken memory is dumped all the same: no crash, no hang, each line
 * one line, in order. Method: random words all over rings that are recorded in,
 * ten thousand times; dumps, cursors and texts of events after each. */
Test(safety, broken_memory_is_dumped)
{
    static struct recorder_cursor cursor;
    static struct recorder_event event;
    static struct checked c;
    const struct recorder *all[] = {&recorder_for_small, &recorder_for_middle,
                                    &recorder_for_large, &recorder_for_lanes};
    unsigned n = scaled(10000), i;
    uintptr_t lines = 0;
    char text[200], copy[] = "a text that is copied, of more than one record";
    state = seed_of("broken_memory_is_dumped");
    for (i = 0; i < n; i++) {
        const struct recorder *r = all[random_of(&state) % COUNT(all)];
        record(large, "%s %u", RECORDER_COPY(large, copy), i);
        record(middle, "%u %u %u %u %u %u %s %g", i, i, i, i, i, i, "s", 0.5);
        record(lanes, "%s", RECORDER_COPY(lanes, copy));
        record(small, "%.*s", 3, copy);
        scribble(r);
        if (i % 16 == 15) { /* begin with whole rings again */
            unsigned j;
            for (j = 0; j < COUNT(all); j++)
                memset(all[j]->rings, 0,
                       all[j]->ring_bytes * (all[j]->lanes_mask + 1));
        }
        c.last = 0;
        recorder_dump_to(check_line, &c);
        lines += c.lines;
        c.lines = 0;
        cr_assert_eq(c.bad, 0, "dump %u: %s", i, c.example);
        if (i % 8)
            continue;
        memset(&cursor, 0, sizeof cursor);
        while (recorder_next(&cursor, &event)) {
            size_t size = recorder_event_text(&event, text, sizeof text);
            cr_assert_eq(strlen(text),
                         size < sizeof text ? size : sizeof text - 1);
        }
    }
    cr_assert_gt(lines, 20 * (uintptr_t)n);
}
