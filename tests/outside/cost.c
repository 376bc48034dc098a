/* The price of a record, and interruptions anywhere in it. */
/* SPDX-License-Identifier: MIT */
/*
 * The tests look at a program of their own, so that they see the code that a
 * user's compiler makes, whatever this file was compiled with. The program is
 * this file, too, with COST_PROGRAM defined.
 */
#ifdef COST_PROGRAM
#include "recorder.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

RECORDER(cost, 32, "What is looked at");
RECORDER(other, 32, "A second one, so that no code is made for the first only");
RECORDER_LANES(laned, 32, 4, "What is looked at in the lane of one thread");

uintptr_t cost_one(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
uintptr_t cost_two(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
uintptr_t cost_three(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
__attribute__((noinline)) uintptr_t cost_one(uintptr_t a, uintptr_t b,
                                             uintptr_t c, uintptr_t d)
{
    record(cost, "one %zu %zu %zu %zu", a, b, c, d);
    return a;
}
__attribute__((noinline)) uintptr_t cost_two(uintptr_t a, uintptr_t b,
                                             uintptr_t c, uintptr_t d)
{
    record(cost, "one %zu %zu %zu %zu", a, b, c, d);
    record(other, "two %zu %zu %zu %zu", a, b, c, d);
    return a;
}
__attribute__((noinline)) uintptr_t cost_three(uintptr_t a, uintptr_t b,
                                               uintptr_t c, uintptr_t d)
{
    record(cost, "one %zu %zu %zu %zu", a, b, c, d);
    record(other, "two %zu %zu %zu %zu", a, b, c, d);
    record(cost, "three %zu %zu %zu %zu", a, b, c, d);
    return a;
}

/* The records of the steps: the words of one follow from its first. They go to
 * `cost`, or to the lane of this thread. */
static struct recorder_ring *looked_at;
#define RECORD(...)                                                            \
    (looked_at == recorder_for_cost.rings ? record(cost, __VA_ARGS__)          \
                                          : record(laned, __VA_ARGS__))
static volatile uintptr_t made, last_in_handler;
static volatile sig_atomic_t done, stops;
static void on_signal(int number)
{
    uintptr_t n = ++made;
    (void)number;
    last_in_handler = RECORD("in %zu %zu %zu %zu", n, ~n, 3 * n, 5 * n);
    if (stops)
        __asm__ volatile("int3");
}
static void on_end(int number)
{
    (void)number;
    done = 1;
}

static int fail(const char *what)
{
    printf("record %zu: %s\n", (size_t)made, what);
    return 1;
}
/* All slots whole; each order exists once. */
static int check(const uintptr_t *orders, unsigned count)
{
    const struct recorder_ring *ring = looked_at;
    uintptr_t slot, mask = recorder_for_cost.mask, i;
    unsigned found = 0;
    for (slot = 0; slot <= mask; slot++) {
        struct recorder_record r;
        uintptr_t n, commit = recorder_look_(ring, mask, slot, &r);
        if (!commit)
            return fail("a slot is not whole");
        if (recorder_commit_thread_(commit) != RECORDER_THREAD())
            return fail("a commit word names no thread");
        n = r.argument[0];
        if (r.format != 0 && (r.argument[1] != ~n || r.argument[2] != 3 * n ||
                              r.argument[3] != 5 * n))
            return fail("a mixed record");
        if (r.format == 0 && (r.argument[1] != 7 * n))
            return fail("a mixed record behind a long one");
        for (i = 0; i < count; i++)
            found += r.order == orders[i];
    }
    if (found != count)
        return fail("a record is not there");
    if (ring->write - ring->given_up + ring->lost != made || ring->lost)
        return fail("counted wrong");
    return 0;
}

/* Stops before and after each record: the argument is its kind. After the
 * second stop it looks at the ring. */
int main(int count, char **arguments)
{
    const char *kind = count > 1 ? arguments[1] : "";
    uintptr_t mask = recorder_for_cost.mask, i;
    bool laned = strncmp(kind, "lane ", 5) == 0;
    uintptr_t *commits;
    if (!*kind)
        return cost_one(1, 2, 3, 4) + cost_two(1, 2, 3, 4) +
                   cost_three(1, 2, 3, 4) ==
               0;
    kind += laned ? 5 : 0;
    looked_at = recorder_for_cost.rings;
    if (laned)
        looked_at = recorder_ring_of_(&recorder_for_laned,
                                      recorder_writer_(&recorder_for_laned));
    if (looked_at == recorder_for_laned.rings)
        return fail("the thread has no lane");
    commits = recorder_commits_(looked_at, mask);
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_end);
    stops = strcmp(kind, "all") == 0;
    while (!done) {
        uintptr_t n, orders[4], *commit;
        bool rare = strcmp(kind, "gives up") == 0;
        unsigned records = 1;
        /* A lap of records, and one after a slot that says busy. */
        if (strcmp(kind, "takes over") == 0) {
            commit = &commits[looked_at->write & mask];
            *commit |= 1;
            for (i = 0; i < 2 * mask; i++) {
                n = ++made;
                RECORD("lap %zu %zu %zu %zu", n, ~n, 3 * n, 5 * n);
            }
            *commit ^= 1;
        }
        for (i = 0; strcmp(kind, "takes over") != 0 && i <= mask; i++) {
            n = ++made;
            RECORD("lap %zu %zu %zu %zu", n, ~n, 3 * n, 5 * n);
        }
        commit = &commits[looked_at->write & mask];
        if (rare)
            *commit |= 1;
        last_in_handler = 0;
        n = ++made;
        if (strcmp(kind, "long") == 0) {
            made += 2;
            records = 3;
            __asm__ volatile("int3");
            orders[0] =
                RECORD("long %zu%zu%zu%zu%zu%zu%zu%zu%zu%zu%zu%zu", n, ~n,
                       3 * n, 5 * n, n, 7 * n, n, n, n, 7 * n, n, n);
        } else {
            __asm__ volatile("int3");
            orders[0] = RECORD("%zu %zu %zu %zu", n, ~n, 3 * n, 5 * n);
        }
        __asm__ volatile("int3");
        if (rare)
            *commit ^= 1;
        orders[1] = orders[0] + 1;
        orders[2] = orders[0] + 2;
        if (last_in_handler)
            orders[records++] = last_in_handler;
        if (done) /* the signal before this stop made no record */
            return 0;
        if (check(orders, stops ? 1 : records))
            return 1;
    }
    return 0;
}

#else
#include "harness/build.h"
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/user.h>

TestSuite(cost, .init = build_begin, .fini = build_end, .timeout = 600);

#if !defined(__x86_64__)
Test(cost, only_on_x86_64)
{
    cr_skip_test("instructions are looked at on x86-64 only");
}
#else

/* Builds the program; false, with a word, without the compiler. */
static bool build(const char *compiler)
{
    if (!build_has(compiler) || !build_has("objdump") || !build_has("nm"))
        return false;
    build_must("%s -std=gnu11 -O2 -DCOST_PROGRAM " BUILD_INCLUDE TEST_ROOT
               "/tests/outside/cost.c -o cost",
               compiler);
    return true;
}
static const char *const compilers[] = {"gcc", "clang"};

/* ---------------------------------------------------------- instructions -- */

enum { LINES_MAX = 2000 };
static struct line {
    unsigned long at, target;
    char word[16]; /* of the instruction; "lock" where that is before it */
    bool memory;   /* an operand is in memory */
} lines[LINES_MAX];
static unsigned lines_count;

/* Reads the listing of a function; `called` is its first callee. */
static void read_function(const char *name, char *called, size_t size)
{
    char start[100], *line, *next;
    snprintf(start, sizeof start, "<%s>:\n", name);
    line = strstr(build_text, start);
    cr_assert(line != NULL, "no %s in the listing", name);
    lines_count = 0;
    for (line = strchr(line, '\n') + 1; *line && *line != '\n'; line = next) {
        struct line *l = &lines[lines_count];
        char *at = strchr(line, ':');
        int used = 0;
        next = strchr(line, '\n');
        next = next ? next + 1 : line + strlen(line);
        memset(l, 0, sizeof *l);
        if (!at || at > next || sscanf(at + 1, " %15s %n", l->word, &used) != 1)
            continue;
        cr_assert(++lines_count < LINES_MAX);
        l->at = strtoul(line, NULL, 16);
        l->target = strtoul(at + 1 + used, NULL, 16);
        l->memory = memchr(at, '(', (size_t)(next - at)) != NULL;
        if (called && strcmp(l->word, "call") == 0 && !*called) {
            const char *to = memchr(at, '<', (size_t)(next - at));
            size_t length = to ? strcspn(to + 1, ">\n") : 0;
            cr_assert(to && length < size);
            memcpy(called, to + 1, length);
            called[length] = '\0';
        }
    }
}

/* Follows all ways from a line to a return that make no call and do not leave
 * the function. Notes the number of locked instructions on each. */
static bool walked[LINES_MAX][8], returns_after[8];
static void walk(unsigned i, unsigned locked)
{
    for (; i < lines_count && locked < 8; i++) {
        const struct line *l = &lines[i];
        unsigned to;
        if (walked[i][locked])
            return;
        walked[i][locked] = true;
        if (strcmp(l->word, "lock") == 0 || strcmp(l->word, "mfence") == 0 ||
            (strncmp(l->word, "xchg", 4) == 0 && l->memory))
            locked++;
        if (strncmp(l->word, "ret", 3) == 0 && locked < 8)
            returns_after[locked] = true;
        if (strncmp(l->word, "ret", 3) == 0 ||
            strncmp(l->word, "call", 4) == 0 || strcmp(l->word, "ud2") == 0)
            return;
        if (l->word[0] != 'j')
            continue;
        for (to = 0; to < lines_count && lines[to].at != l->target; to++)
            ;
        if (to < lines_count)
            walk(to, locked);
        if (strcmp(l->word, "jmp") == 0)
            return;
    }
    cr_assert(locked < 8, "8 locked instructions or more");
}

/* Goal: a record is at most two locked read-modify-writes, and no call. Method:
 * the listing of a call site's callee; all ways through it without a call.
 * There must be a way with two, and one with one, of a thread in its own
 * lane. */
Test(cost, two_locked_instructions_and_no_call)
{
    unsigned i, j, seen = 0;
    for (i = 0; i < 2; i++) {
        char called[100] = "";
        if (!build(compilers[i]))
            continue;
        build_must("objdump -d --no-show-raw-insn cost | sed -n "
                   "\"/<cost_one>:/,/^$/p;/<recorder_/,/^$/p\"");
        read_function("cost_one", called, sizeof called);
        read_function(called, NULL, 0);
        memset(walked, 0, sizeof walked);
        memset(returns_after, 0, sizeof returns_after);
        walk(0, 0);
        for (j = 0; j < 8; j++)
            cr_assert(returns_after[j] == (j == 2 || j == 1),
                      "%s: %s returns without a call after %u locked "
                      "instructions%s",
                      compilers[i], called, j,
                      j == 2 || j == 1 ? "? No" : "");
        seen++;
    }
    if (!seen)
        build_skip("no compiler and objdump here");
}

static unsigned long size_of(const char *name)
{
    const char *line = strstr(build_text, name);
    unsigned long at, size;
    char kind;
    cr_assert(line != NULL && strlen(name) > 0);
    while (line > build_text && line[-1] != '\n')
        line--;
    cr_assert(sscanf(line, "%lx %lx %c", &at, &size, &kind) == 3);
    return size;
}

/* Goal: a call with 4 arguments takes at most 80 bytes of code at its call
 * site. Method: the growth of a function by one more call. */
Test(cost, at_most_80_bytes_a_call)
{
    unsigned i, seen = 0;
    for (i = 0; i < 2; i++) {
        unsigned long first, second, third;
        if (!build(compilers[i]))
            continue;
        build_must("nm -S cost | grep \" cost_\"");
        first = size_of(" cost_one");
        second = size_of(" cost_two") - first;
        third = size_of(" cost_three") - first - second;
        cr_log_info("%s: a function with one call has %lu bytes, a second call "
                    "takes %lu, a third %lu",
                    compilers[i], first, second, third);
        cr_assert(first <= 80 && second <= 80 && third <= 80,
                  "%s: calls take %lu, %lu and %lu bytes", compilers[i], first,
                  second, third);
        seen++;
    }
    if (!seen)
        build_skip("no compiler and objdump here");
}

/* ---------------------------------------------------------- compile time -- */

static const char compiled[] =
    "#include \"recorder_dump.h\"\n"
    "RECORDER(net, 256)\n"
    "int main(int count, char **arguments)\n"
    "{\n"
    "    record(net, \"%d bytes from %s\", count, arguments[0]);\n"
    "    return recorder_dump() != 1;\n"
    "}\n";

/* The reference for the time of the file above: sorts, counts and numbers, 32
 * times. */
static const char reference[] =
    "#define PART(n) int part##n(unsigned *a, unsigned size, char *to) {\\\n"
    "    unsigned i, j, number, seen[256] = {0};\\\n"
    "    for (i = 1; i < size; i++)\\\n"
    "        for (j = i; j && a[j - 1] > a[j]; j--) {\\\n"
    "            unsigned other = a[j]; a[j] = a[j - 1]; a[j - 1] = other;\\\n"
    "        }\\\n"
    "    for (i = 0; i < size; i++)\\\n"
    "        switch (a[i] % 11) {\\\n"
    "        case 0: seen[a[i] >> 24]++; break;\\\n"
    "        case 1: case 7: seen[a[i] & 255] += i; break;\\\n"
    "        case 2: for (j = 0; j < i; j++) seen[j & 255] ^= a[j]; break;\\\n"
    "        default: if (i && a[i] == a[i - 1]) return -1;\\\n"
    "        }\\\n"
    "    for (i = 0; i < 256; i++) {\\\n"
    "        for (number = seen[i]; number; number /= 10)\\\n"
    "            *to++ = (char)(48 + number % 10);\\\n"
    "        *to++ = i % 16 == 15 ? 10 : 32;\\\n"
    "    }\\\n"
    "    return n; }\n"
    "#define PARTS(n) PART(n##0) PART(n##1) PART(n##2) PART(n##3) \\\n"
    "    PART(n##4) PART(n##5) PART(n##6) PART(n##7)\n"
    "PARTS(1) PARTS(2) PARTS(3) PARTS(4)\n";

static void write_source(const char *name, const char *text)
{
    char path[100];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* The least user time of a file's compilation, here and in the turns before. */
static void compile(const char *name, const char *flags, double *seconds)
{
    struct rusage before, after;
    double time;
    getrusage(RUSAGE_CHILDREN, &before);
    build_must("gcc -std=gnu11 -O2 %s " BUILD_INCLUDE "-c %s -o compiled.o",
               flags, name);
    getrusage(RUSAGE_CHILDREN, &after);
    time = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
           (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
    if (*seconds <= 0 || time < *seconds)
        *seconds = time;
}

/* Goal: a file that dumps compiles soon. Method: gcc's time grows faster than
 * the size of a function, so none is large, nor all of them together. */
Test(cost, no_large_function)
{
    static const struct {
        const char *flags;
        unsigned long most;
    } kinds[] = {{"", 71600}, {"-DRECORDER_NO_FILE", 47100}}; /* all doors */
    unsigned i;
    build_needs("gcc", "nm", "size");
    write_source("compiled.c", compiled);
    for (i = 0; i < 2; i++) {
        double seconds = 0;
        unsigned long largest, text;
        char name[100];
        compile("compiled.c", kinds[i].flags, &seconds);
        build_must("nm -S --size-sort compiled.o | grep -i \" t \" | tail -1");
        cr_assert(sscanf(build_text, "%*x %lx %*c %99s", &largest, name) == 2);
        build_must("size compiled.o | tail -1");
        cr_assert(sscanf(build_text, "%lu", &text) == 1);
        cr_log_info("%s: %lu bytes, largest: %s, %lu", kinds[i].flags, text,
                    name, largest);
        cr_assert(largest > 0 && largest <= 2000, "%s has %lu bytes", name,
                  largest);
        cr_assert(text <= kinds[i].most, "%s: %lu bytes of code, %lu allowed",
                  kinds[i].flags, text, kinds[i].most);
    }
}

/* Goal: the same. Method: the time that gcc takes, over its time for a file of
 * ours: the least of alternating turns, five and, if that is too much, up to
 * 30, as other programs share the caches. */
#define WHOLE_MOST 4.2
#define WITHOUT_MOST 3
Test(cost, compiles_soon, .init = build_long)
{
    double base = 0, whole = 0, without = 0;
    unsigned turn;
    build_needs("gcc");
    write_source("compiled.c", compiled);
    write_source("reference.c", reference);
    for (turn = 0; turn < 5 || (turn < 30 && (whole > WHOLE_MOST * base ||
                                              without > WITHOUT_MOST * base));
         turn++) {
        compile("reference.c", "", &base);
        compile("compiled.c", "", &whole);
        compile("compiled.c", "-DRECORDER_NO_FILE", &without);
    }
    cr_log_info("%.2f s, without recordings %.2f s, reference %.2f s: "
                "%.2f, %.2f",
                whole, without, base, whole / base, without / base);
    cr_assert(whole <= WHOLE_MOST * base, "%.2f of the reference",
              whole / base);
    cr_assert(without <= WITHOUT_MOST * base, "%.2f of the reference",
              without / base);
}

/* ------------------------------------------------------- single steps -- */

/* Continues the program, and waits until it stops for a trap. Returns its exit
 * status; -1 while it lives. */
enum how { STEP, RUN };
static int go_on(pid_t child, enum how how, int signal_number)
{
    void *number = (void *)(intptr_t)signal_number;
    int status;
    cr_assert((how == STEP ? ptrace(PTRACE_SINGLESTEP, child, NULL, number)
                           : ptrace(PTRACE_CONT, child, NULL, number)) == 0);
    cr_assert(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    cr_assert(WIFSTOPPED(status), "killed by signal %d", WTERMSIG(status));
    cr_assert(WSTOPSIG(status) == SIGTRAP, "stopped by signal %d",
              WSTOPSIG(status));
    return -1;
}
static struct user_regs_struct where_is(pid_t child)
{
    struct user_regs_struct registers;
    cr_assert(ptrace(PTRACE_GETREGS, child, NULL, &registers) == 0);
    return registers;
}
static bool at_stop(pid_t child, unsigned long long at)
{
    return (ptrace(PTRACE_PEEKTEXT, child, (void *)(uintptr_t)at, NULL) &
            0xff) == 0xcc; /* int3 */
}

static pid_t program_start(const char *kind)
{
    char path[100];
    int status;
    pid_t child = fork();
    snprintf(path, sizeof path, "%s/cost", build_folder);
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(path, path, kind, (char *)NULL);
        _exit(127);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    if (!WIFSTOPPED(status))
        build_skip("ptrace is not allowed here");
    return child;
}

/* Interrupts one record after `steps` instructions. Returns whether it was over
 * before. */
static bool interrupt_after(pid_t child, const char *kind, unsigned steps)
{
    unsigned i;
    int ended = go_on(child, RUN, 0); /* to the first stop */
    cr_assert(ended == -1,
              "%s: the look after the %u-th instruction found a "
              "fault",
              kind, steps);
    for (i = 0; i < steps; i++) {
        if (at_stop(child, where_is(child).rip))
            return true;
        cr_assert(go_on(child, STEP, 0) == -1);
    }
    cr_assert(go_on(child, RUN, SIGUSR1) == -1);
    return false;
}

static void every_instruction(const char *kind)
{
    unsigned steps = 0;
    pid_t child;
    build_needs("gcc", "objdump", "nm");
    build("gcc");
    child = program_start(kind);
    while (!interrupt_after(child, kind, steps))
        steps++;
    cr_assert(go_on(child, RUN, 0) == -1);
    cr_assert(go_on(child, RUN, SIGUSR2) == 0); /* the end */
    cr_log_info("%s: a signal after each of %u instructions", kind, steps);
    cr_assert(steps > 30);
}

/* How many locked instructions the thread runs from one stop to the next. */
static unsigned locked_in_a_record(const char *kind)
{
    unsigned locked = 0;
    pid_t child;
    build_needs("gcc", "objdump", "nm");
    build("gcc");
    child = program_start(kind);
    cr_assert(go_on(child, RUN, 0) == -1);
    while (!at_stop(child, where_is(child).rip)) {
        locked += (ptrace(PTRACE_PEEKTEXT, child,
                          (void *)(uintptr_t)where_is(child).rip, NULL) &
                   0xff) == 0xf0;
        cr_assert(go_on(child, STEP, 0) == -1);
    }
    cr_assert(go_on(child, RUN, SIGUSR2) == -1);
    cr_assert(go_on(child, RUN, 0) == 0);
    return locked;
}

/* Goal: a record takes two locked instructions, however many arguments it has;
 * in a lane that its thread owns, one. Method: single steps through it. */
Test(cost, locked_instructions_that_are_run, .init = build_long)
{
    cr_assert_eq(locked_in_a_record("4"), 2);
    cr_assert_eq(locked_in_a_record("long"), 2);
    cr_assert_eq(locked_in_a_record("lane 4"), 1);
    cr_assert_eq(locked_in_a_record("lane long"), 1);
}

/* Goal: a signal between any two instructions of a record, whose handler
 * records into the same ring, leaves both records whole. Method: the program
 * records under ptrace; of each record one instruction more is run by single
 * steps, then comes the signal; the program looks at its whole ring. */
Test(cost, signal_at_every_instruction)
{
    every_instruction("4");
}
Test(cost, signal_at_every_instruction_of_12_arguments)
{
    every_instruction("long");
}
Test(cost, signal_at_every_instruction_of_giving_up)
{
    every_instruction("gives up");
}
Test(cost, signal_at_every_instruction_of_taking_over)
{
    every_instruction("takes over");
}

/* Goal: the same in a lane that its thread owns, where the position is drawn
 * without a lock prefix. */
Test(cost, signal_at_every_instruction_in_a_lane)
{
    every_instruction("lane 4");
    every_instruction("lane long");
}
Test(cost, signal_at_every_instruction_in_a_lane_that_gives_up,
     .init = build_long)
{
    every_instruction("lane gives up");
    every_instruction("lane takes over");
}

/* One record that is interrupted at all its instructions: a signal before each
 * step; the handler stops at its end, and is followed by single steps back to
 * where it came. */
static void all_instructions(const char *kind)
{
    unsigned steps = 0;
    pid_t child;
    build_needs("gcc", "objdump", "nm");
    build("gcc");
    child = program_start(kind);
    cr_assert(go_on(child, RUN, 0) == -1);
    for (;; steps++) {
        struct user_regs_struct before = where_is(child), now;
        if (at_stop(child, before.rip))
            break;
        cr_assert(go_on(child, RUN, SIGUSR1) == -1);
        do {
            cr_assert(go_on(child, STEP, 0) == -1);
            now = where_is(child);
        } while (now.rip != before.rip || now.rsp != before.rsp);
        cr_assert(go_on(child, STEP, 0) == -1);
    }
    cr_assert(go_on(child, RUN, 0) == -1); /* the second stop */
    cr_assert(go_on(child, RUN, 0) == -1,  /* the next record */
              "the look found a fault");
    cr_assert(go_on(child, RUN, SIGUSR2) == -1); /* the second stop */
    cr_assert(go_on(child, RUN, 0) == 0);        /* the end */
    cr_log_info("%s: one record, %u signals inside of it", kind, steps);
    cr_assert(steps > 30);
}
/* Goal: one record may be interrupted at all its instructions. */
Test(cost, signals_at_all_instructions_of_one_record)
{
    all_instructions("all");
    all_instructions("lane all");
}
#endif
#endif
