/* kernel.c - switches as the kernel's rings have them, against /proc's counts. */
/* SPDX-License-Identifier: MIT */
/*
    ./kernel CASE       0: all is as it must be; 1, and a line says what is not;
                        7: it ran to its end, whatever was refused
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define RECORDER_KERNEL_SLOTS (__SIZEOF_POINTER__ == 8 ? 131072 : 65536)
#include "recorder_dump.h"
#include "recorder_kernel.h"
#include "recorder_trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

RECORDER(calls, 65536, "What the threads do")

#define MUST(condition, ...)                                                   \
    do {                                                                       \
        if (!(condition)) {                                                    \
            printf("%s:%d: ", __FILE__, __LINE__);                             \
            printf(__VA_ARGS__);                                               \
            printf("\n");                                                      \
            fflush(NULL);                                                      \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

static double scale(void)
{
    const char *text = getenv("RECORDER_TEST_SCALE");
    return text ? atof(text) : 1;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static void sleep_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}
static void spin_us(uint64_t us)
{
    uint64_t until = now_ns() + us * 1000;
    while (now_ns() < until)
        ;
}

/* ---------------------------------------------------------------- counts -- */

/* What the system, or what was recorded, says of a thread. */
struct counts {
    unsigned long blocked, preempted, in; /* in: also slices that it ran */
    uint64_t run_ns;
};

static bool counts_system(int id, struct counts *to)
{
    char path[64], line[256];
    FILE *file;
    unsigned long long run, waited;
    memset(to, 0, sizeof *to);
    snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
    file = fopen(path, "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "voluntary_ctxt_switches: %lu", &to->blocked);
        sscanf(line, "nonvoluntary_ctxt_switches: %lu", &to->preempted);
    }
    fclose(file);
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", id);
    file = fopen(path, "r");
    if (file && fscanf(file, "%llu %llu %lu", &run, &waited, &to->in) == 3)
        to->run_ns = run;
    if (file)
        fclose(file);
    return true;
}

/* One event of `switches`: which way, of which thread. */
struct seen {
    char way; /* i, b, p; 0: no switch */
    int id;
    unsigned cpu, number;
    int64_t ticks;
};
static struct seen seen_of(const struct recorder_event *event)
{
    struct seen seen = {0, 0, 0, 0, 0};
    const char *format = (const char *)(uintptr_t)event->format;
    if (strcmp(event->name, "switches") != 0)
        return seen;
    seen.way = strncmp(format, "\1in k\2", 6) == 0     ? 'i'
               : strncmp(format, "\1out b\2", 7) == 0 ? 'b'
               : strncmp(format, "\1out p\2", 7) == 0 ? 'p'
                                                       : 0;
    MUST(seen.way, "a switch of another heading");
    MUST(event->argument[0] == 0, "a switch with a name");
    seen.id = (int)event->argument[1];
    seen.cpu = event->argument[2] & 0xff;
    seen.number = (unsigned)(event->argument[2] >> 8);
    seen.ticks = (int64_t)event->time;
    MUST(seen.number == event->thread, "number %u, but the word has %u",
         seen.number, event->thread);
    return seen;
}

static uint64_t ns_of_ticks(int64_t ticks)
{
    struct recorder_clock_ clock;
    recorder_clock_open_(&clock);
    return recorder_clock_scale_(&clock, (uint64_t)ticks);
}

/* Counts what was recorded of a thread. */
static struct counts counts_recorded(int id)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    struct counts to = {0, 0, 0, 0};
    int64_t in = 0, run = 0;
    memset(&cursor, 0, sizeof cursor);
    while (recorder_next(&cursor, &event)) {
        struct seen seen = seen_of(&event);
        if (seen.id != id || !seen.way)
            continue;
        to.in += seen.way == 'i';
        to.blocked += seen.way == 'b';
        to.preempted += seen.way == 'p';
        if (seen.way == 'i')
            in = seen.ticks;
        else if (in)
            run += seen.ticks - in;
        if (seen.way != 'i')
            in = 0;
    }
    to.run_ns = ns_of_ticks(run);
    return to;
}

/* --------------------------------------------------------------- threads -- */

/* A thread that does its work, then stands still until the program ends. */
struct worker {
    void (*work)(void);
    pthread_t thread;
    int id, ready;
};
static pthread_barrier_t still;
static volatile bool stop;
static int pipes[2][2];

static void *worker_run(void *of)
{
    struct worker *worker = (struct worker *)of;
    __atomic_store_n(&worker->id, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    worker->work();
    __atomic_store_n(&worker->ready, 1, __ATOMIC_RELEASE);
    pthread_barrier_wait(&still);
    return NULL;
}
static void worker_start(struct worker *worker, void (*work)(void))
{
    worker->work = work;
    worker->id = worker->ready = 0;
    MUST(pthread_create(&worker->thread, NULL, worker_run, worker) == 0,
         "no thread");
}
/* Waits until it stands still: blocked, and off its processor. */
static void worker_wait(struct worker *worker)
{
    char path[64], state = '?';
    while (!__atomic_load_n(&worker->ready, __ATOMIC_ACQUIRE))
        sleep_us(1000);
    while (state != 'S') {
        char call[32] = "";
        FILE *file;
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", worker->id);
        file = fopen(path, "r");
        MUST(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1, "no state");
        fclose(file);
        sleep_us(1000);
        /* The system waits until it is off its processor to tell its call. */
        snprintf(path, sizeof path, "/proc/self/task/%d/syscall", worker->id);
        file = fopen(path, "r");
        if (file && fgets(call, sizeof call, file) && *call == 'r')
            state = 'R'; /* "running" */
        if (file)
            fclose(file);
    }
}

static void work_spin(void)
{
    spin_us((uint64_t)(400000 * scale()) + 20000);
}
static void work_both(void)
{
    for (int i = 0; i < 400 * scale() + 10; i++) {
        sleep_us(300);
        spin_us(300);
    }
}
static void work_sleep(void)
{
    for (int i = 0; i < 2000 * scale() + 20; i++)
        sleep_us(50);
}
static void work_yield(void)
{
    for (int i = 0; i < 5000 * scale() + 50; i++)
        sched_yield();
}

/* Goal: what is recorded of threads is what /proc counts, to the unit. */
static void compare(const struct worker *worker)
{
    struct counts is, must;
    MUST(counts_system(worker->id, &must), "no thread %d", worker->id);
    is = counts_recorded(worker->id);
    MUST(is.blocked == must.blocked && is.preempted == must.preempted,
         "thread %d: blocked %lu, preempted %lu; the system: %lu, %lu",
         worker->id, is.blocked, is.preempted, must.blocked, must.preempted);
    MUST(!must.in || is.in == must.in,
         "thread %d: ran %lu times; the system: %lu", worker->id, is.in,
         must.in);
    MUST(is.in == is.blocked + is.preempted, "thread %d: in %lu, out %lu",
         worker->id, is.in, is.blocked + is.preempted);
    if (must.in) {
        uint64_t apart = is.run_ns > must.run_ns ? is.run_ns - must.run_ns
                                                 : must.run_ns - is.run_ns;
        MUST(apart <= must.in * 100000 + must.run_ns / 5,
             "thread %d: ran %llu ns; the system: %llu, in %lu slices",
             worker->id, (unsigned long long)is.run_ns,
             (unsigned long long)must.run_ns, must.in);
    }
}
static void five_kinds(void)
{
    void (*const works[5])(void) = {work_spin, work_spin, work_both, work_sleep,
                                    work_yield};
    struct worker workers[5];
    for (int i = 0; i < 5; i++)
        worker_start(&workers[i], works[i]);
    for (int i = 0; i < 5; i++)
        worker_wait(&workers[i]);
    recorder_kernel_pour();
    MUST(recorder_kernel_.shown.overwritten == 0, "rings too small");
    for (int i = 0; i < 5; i++)
        compare(&workers[i]);
}
static int counts(void)
{
    int status;
    pid_t child;
    MUST(recorder_kernel(1024, 0) == 0, "refused");
    five_kinds();
    child = fork();
    if (child == 0) { /* its own rings, and its own counts */
        MUST(recorder_kernel_.shown.poured == 0, "the parent's count");
        five_kinds();
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0,
         "the child: status %#x", (unsigned)status);
    return 0;
}

/* Goal: so it is with threads that were there before. */
static volatile bool go;
static void work_later(void)
{
    while (!go)
        sleep_us(100);
    work_both();
}
static int before(void)
{
    struct worker workers[20];
    struct counts was[20], is, must;
    int i;
    for (i = 0; i < 20; i++)
        worker_start(&workers[i], work_later);
    MUST(recorder_kernel(1024, 0) == 0, "refused");
    for (i = 0; i < 20; i++) {
        while (!__atomic_load_n(&workers[i].id, __ATOMIC_ACQUIRE))
            sleep_us(1000);
        /* From here on, both count. */
        recorder_kernel_pour();
        MUST(counts_system(workers[i].id, &was[i]), "gone");
    }
    go = true;
    for (i = 0; i < 20; i++)
        worker_wait(&workers[i]);
    recorder_kernel_pour();
    for (i = 0; i < 20; i++) {
        counts_system(workers[i].id, &must);
        is = counts_recorded(workers[i].id);
        MUST(is.blocked >= must.blocked - was[i].blocked &&
                 is.blocked <= must.blocked,
             "thread %d: %lu; the system: %lu to %lu", workers[i].id,
             is.blocked, must.blocked - was[i].blocked, must.blocked);
    }
    return 0;
}

/* ------------------------------------------------------------------ time -- */

static void work_write(void)
{
    char byte = 'x';
    for (int i = 0; i < 10000 * scale() + 100; i++)
        if (write(pipes[0][1], &byte, 1) != 1 ||
            read(pipes[1][0], &byte, 1) != 1)
            break;
}

static long long signed_ns(int64_t ticks)
{
    return ticks < 0 ? -(long long)ns_of_ticks(-ticks)
                     : (long long)ns_of_ticks(ticks);
}

/* Goal: a thread that blocks only in read() has no switch in which it blocks
 * outside of the records around it: neither has left before "> read", nor come
 * back after "< read". Exit status 3: by more than 100 ns, of 10. */
static int times(void)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    struct worker worker;
    cpu_set_t one;
    int self = (int)syscall(SYS_gettid), outside = 0, inside = 0;
    int64_t begin = 0, end = 0, behind = INT64_MAX, before = INT64_MAX;
    char byte;
    size_t count = 0, i, k = 0;
    struct span {
        int64_t begin, end;
    } *spans = (struct span *)calloc(20000, sizeof *spans);
    MUST(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0 && spans, "no pipes");
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    /* A write() must not run the thread that it wakes: that thread would write
     * its byte before this one reads, and this one would not block. */
    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
    MUST(recorder_kernel(4096, 0) == 0, "refused");
    worker_start(&worker, work_write);
    for (i = 0; i < (size_t)(10000 * scale()) + 100; i++) {
        record(calls, "> read");
        if (read(pipes[0][0], &byte, 1) != 1)
            break;
        record(calls, "< read");
        if (write(pipes[1][1], &byte, 1) != 1)
            break;
    }
    recorder_kernel_pour();
    while (recorder_next(&cursor, &event)) {
        const char *format = (const char *)(uintptr_t)event.format;
        if (*format == '>')
            begin = (int64_t)event.time;
        if (*format != '<')
            continue;
        spans[count].begin = begin;
        spans[count++].end = (int64_t)event.time;
    }
    memset(&cursor, 0, sizeof cursor);
    begin = end = 0;
    while (recorder_next(&cursor, &event)) {
        struct seen seen = seen_of(&event);
        if (seen.id != self || !seen.way || seen.ticks < spans[0].begin ||
            seen.ticks > spans[count - 1].end)
            continue;
        if (seen.way == 'b') { /* it must lie in a span, and so must its end */
            while (k + 1 < count && spans[k + 1].begin <= seen.ticks)
                k++;
            begin = seen.ticks - spans[k].begin;
            end = spans[k].end;
            if (begin < 0 || seen.ticks > end) {
                outside++;
                end = 0;
            }
        } else if (seen.way == 'i' && end) {
            inside++;
            outside += seen.ticks > end;
            if (begin < behind)
                behind = begin;
            if (end - seen.ticks < before)
                before = end - seen.ticks;
            end = 0;
        }
    }
    printf("%d inside, %d outside, at least %lld ns behind and %lld before\n",
           inside, outside, signed_ns(behind), signed_ns(before));
    MUST(outside || inside > (int)count / 8, "too few switches");
    return outside ? 3 : 0;
}

/* ---------------------------------------------------------------- full ---- */

static void work_ping(void)
{
    char byte = 'x';
    while (!stop)
        if (write(pipes[0][1], &byte, 1) != 1 ||
            read(pipes[1][0], &byte, 1) != 1)
            break;
}
static void work_pong(void)
{
    char byte;
    while (read(pipes[0][0], &byte, 1) == 1 &&
           write(pipes[1][1], &byte, 1) == 1)
        if (stop)
            break;
}
/* All switches of the calling thread so far, as of a moment at which no other
 * came in between; and what was poured and overwritten. */
static unsigned long all_here(uint64_t *counted)
{
    struct counts first, last;
    int self = (int)syscall(SYS_gettid);
    do {
        counts_system(self, &first);
        recorder_kernel_pour();
        counts_system(self, &last);
    } while (first.blocked + first.preempted != last.blocked + last.preempted);
    *counted =
        recorder_kernel_.shown.poured + recorder_kernel_.shown.overwritten;
    return last.blocked + last.preempted;
}
static size_t sink_nothing;
static void sink(void *context, const char *text, size_t size)
{
    (void)context, (void)text;
    sink_nothing += size;
}
/* Goal: poured + overwritten is all that there was, whatever the rings lose, and
 * whoever dumps meanwhile. */
static int full(void)
{
    struct worker workers[4];
    void (*const works[4])(void) = {work_ping, work_pong, work_sleep,
                                    work_yield};
    uint64_t counted, before_counted, began;
    unsigned long before, after, must;
    uintptr_t shown;
    int i;
    MUST(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0, "no pipes");
    MUST(recorder_kernel(8, 0) == 0, "refused");
    before = all_here(&before_counted);
    for (i = 0; i < 4; i++)
        worker_start(&workers[i], works[i]);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    began = now_ns();
    while (now_ns() - began < 2000000000 * scale() + 1e8) {
        sleep_us(rand() % 20000);
        recorder_kernel_pour();
        if (rand() % 8 == 0)
            recorder_dump_to(sink, NULL);
    }
    stop = true;
    if (write(pipes[0][1], "x", 1) != 1 || write(pipes[1][1], "x", 1) != 1)
        return 1;
    for (i = 0; i < 4; i++)
        worker_wait(&workers[i]);
    after = all_here(&counted);
    must = 2 * (after - before);
    for (i = 0; i < 4; i++) {
        struct counts counts;
        counts_system(workers[i].id, &counts);
        must += 2 * (counts.blocked + counts.preempted);
    }
    printf("%llu poured, %llu overwritten, of %lu\n",
           (unsigned long long)recorder_kernel_.shown.poured,
           (unsigned long long)recorder_kernel_.shown.overwritten, must);
    MUST(recorder_kernel_.shown.overwritten > 100, "nothing was overwritten");
    shown = recorder_lane_(&recorder_for_switches, 0)->lost;
    MUST(shown == recorder_kernel_.shown.overwritten, "%lu are shown as lost",
         (unsigned long)shown);
    MUST(counted - before_counted == must, "%llu counted, there were %lu",
         (unsigned long long)(counted - before_counted), must);
    return 0;
}

/* Its rings lose switches before anything reads them. Dumps on SIGTERM. */
static int lost(void)
{
    int i;
    MUST(recorder_kernel(4, 0) == 0, "refused");
    recorder_dump_on_signal(SIGTERM);
    for (i = 0; i < 1000; i++)
        sleep_us(50);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pause();
    return 0;
}

/* ----------------------------------------------------------------- lives -- */

/* Goal: threads have one row, whether a pour or they themselves make it; and
 * all that come and go are there. */
enum { MANY = 300 };
static struct {
    int id;
    unsigned number;
    struct counts counts;
    bool records;
} lived[MANY];
static void *live(void *of)
{
    size_t i = (size_t)(uintptr_t)of;
    sleep_us(rand() % 2000);
    if (lived[i].records) {
        record(calls, "thread %d lives", (int)syscall(SYS_gettid));
        lived[i].number = RECORDER_THREAD();
    }
    sleep_us(rand() % 200);
    lived[i].id = (int)syscall(SYS_gettid);
    counts_system(lived[i].id, &lived[i].counts);
    return NULL;
}
static void *pour_on(void *of)
{
    while (!stop)
        recorder_kernel_pour();
    return of;
}
static int threads(void)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    pthread_t pourer, many[MANY];
    static unsigned number[1 << 22];
    static struct counts seen_counts[1 << 22];
    size_t i;
    unsigned rows = 0;
    int done = 0, k;
    MUST(recorder_kernel(1024, 0) == 0, "refused");
    pthread_create(&pourer, NULL, pour_on, NULL);
    for (k = 0; k < MANY; k += 50) {
        for (i = (size_t)k; i < (size_t)k + 50; i++) {
            lived[i].records = i % 3 != 0;
            MUST(pthread_create(&many[i], NULL, live, (void *)i) == 0, "none");
        }
        for (i = (size_t)k; i < (size_t)k + 50; i++)
            pthread_join(many[i], NULL);
    }
    stop = true;
    pthread_join(pourer, NULL);
    recorder_kernel_pour();
    while (recorder_next(&cursor, &event)) {
        struct seen seen = seen_of(&event);
        int id = seen.way ? seen.id : (int)event.argument[0];
        MUST(id > 0 && id < 1 << 22, "thread %d", id);
        MUST(!number[id] || number[id] == event.thread,
             "thread %d has the numbers %u and %u", id, number[id],
             event.thread);
        number[id] = event.thread;
        seen_counts[id].blocked += seen.way == 'b';
        seen_counts[id].preempted += seen.way == 'p';
        MUST(recorder_registry.threads[event.thread - 1].id == id,
             "row %u is not that of thread %d", event.thread, id);
    }
    for (i = 0; i < MANY; i++) {
        struct counts is = seen_counts[lived[i].id];
        const struct counts *must = &lived[i].counts;
        /* After it looked, it may still be preempted, and wait for a lock. */
        MUST(is.blocked >= must->blocked && is.blocked <= must->blocked + 5 &&
                 is.preempted >= must->preempted,
             "thread %d: blocked %lu, preempted %lu; it saw %lu, %lu",
             lived[i].id, is.blocked, is.preempted, must->blocked,
             must->preempted);
        MUST(!lived[i].records || lived[i].number == number[lived[i].id],
             "thread %d: number %u, and %u", lived[i].id, lived[i].number,
             number[lived[i].id]);
        done++;
    }
    /* A row without an id was given back: its thread took one at that time. */
    for (i = 0; i < recorder_registry.threads_count; i++)
        rows += recorder_registry.threads[i].id != 0;
    printf("%d threads, %u rows of %llu\n", done, rows,
           (unsigned long long)recorder_registry.threads_count);
    MUST(rows <= MANY + 2, "%u rows", rows);
    MUST(recorder_registry.threads_count <= rows + MANY, "too many rows");
    return 0;
}

/* Goal: where the table is full, a thread keeps the row that it took from an
 * ended thread, even if a pour made that row. */
static int reused(void)
{
    pthread_t thread;
    MUST(recorder_kernel(64, 0) == 0, "refused");
    for (size_t i = 0; i < MANY; i++) {
        lived[i].records = i >= RECORDER_THREADS;
        MUST(pthread_create(&thread, NULL, live, (void *)i) == 0, "none");
        sleep_us(200);
        recorder_kernel_pour();
        pthread_join(thread, NULL);
        MUST(!lived[i].records ||
                 recorder_registry.threads[lived[i].number - 1].id ==
                     lived[i].id,
             "row %u is not that of thread %d", lived[i].number, lived[i].id);
    }
    MUST(recorder_registry.threads_count >= RECORDER_THREADS, "room for all");
    return 0;
}

/* Goal: a program that closes all descriptors harms nobody, and its children
 * close none of its files. */
static int closed(void)
{
    int files[200], status, i;
    pid_t child;
    MUST(recorder_kernel(1024, 0) == 0, "refused");
    for (i = 3; i < 1024; i++)
        close(i);
    for (i = 0; i < 200; i++)
        files[i] = open("/dev/zero", O_RDONLY);
    MUST(recorder_kernel_.shown.count > 0, "no ring");
    five_kinds();
    child = fork();
    if (child == 0) {
        char byte;
        for (i = 0; i < 200; i++)
            MUST(read(files[i], &byte, 1) == 1, "file %d was closed", files[i]);
        five_kinds();
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0,
         "the child: status %#x", (unsigned)status);
    child = fork(); /* and one that turns into another program */
    if (child == 0) {
        execl("/proc/self/exe", "kernel", "switches", (char *)NULL);
        _exit(127);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0,
         "the other program: status %#x", (unsigned)status);
    return 0;
}
/* RECORDER_SWITCHES did it, or recorder_kernel() does now. */
static int switches(void)
{
    MUST(recorder_kernel(64, 0) == 0, "refused");
    for (int i = 0; i < 10; i++)
        sleep_us(1000);
    recorder_kernel_pour();
    MUST(recorder_kernel_.shown.poured >= 20, "%llu switches",
         (unsigned long long)recorder_kernel_.shown.poured);
    return 0;
}

/* Goal: what led to a freeze is there, and nothing after it. Between the clock
 * of the record and the freeze there may be switches. */
static int freeze(void)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    int64_t boom = 0, frozen;
    int count = 0, i;
    MUST(recorder_kernel(64, 0) == 0, "refused");
    recorder_trigger("calls: \"boom\": freeze");
    for (i = 0; i < 5; i++)
        sleep_us(1000);
    record(calls, "boom");
    frozen = (int64_t)recorder_time_();
    for (i = 0; i < 5; i++)
        sleep_us(1000);
    recorder_dump_to(sink, NULL);
    while (recorder_next(&cursor, &event))
        if (event.argument[1] == 0)
            boom = (int64_t)event.time;
    MUST(boom && boom < frozen && ns_of_ticks(frozen - boom) < 60000000000u,
         "boom at %lld, frozen by %lld", (long long)boom, (long long)frozen);
    memset(&cursor, 0, sizeof cursor);
    while (recorder_next(&cursor, &event)) {
        struct seen seen = seen_of(&event);
        MUST(!seen.way || seen.ticks < frozen, "a switch behind the freeze");
        count += seen.way != 0;
    }
    MUST(count >= 10, "%d switches", count);
    recorder_trigger_thaw();
    recorder_kernel_pour();
    MUST(recorder_kernel_.shown.poured >= 20, "%llu switches behind a thaw",
         (unsigned long long)recorder_kernel_.shown.poured);
    return 0;
}

/* Records until it is killed; with threads, of which one sleeps. */
__attribute__((noreturn)) static void live_forever(void)
{
    struct worker worker;
    alarm(600);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    worker_start(&worker, work_later);
    for (long i = 0;; i++) {
        record(calls, "> tick %ld", i);
        sleep_us(1000);
        record(calls, "< tick");
    }
}
static int live_on(void)
{
    live_forever();
}

/* Threads that never record have worked, and stand still; the rings hold all of
 * it. With "closed", the program has closed their descriptors. */
static int stand(bool closed_too)
{
    struct worker workers[3];
    void (*const works[3])(void) = {work_spin, work_both, work_yield};
    int i;
    MUST(recorder_kernel(1024, 0) == 0, "refused");
    record(calls, "they begin");
    for (i = 0; i < 3; i++)
        worker_start(&workers[i], works[i]);
    for (i = 0; i < 3; i++)
        worker_wait(&workers[i]);
    if (closed_too)
        for (i = 3; i < 1024; i++)
            close(i);
    for (i = 3; closed_too && i < 200; i++) /* others have these numbers */
        MUST(open("/dev/zero", O_RDONLY) >= 0, "no file");
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    alarm(100); /* setpriv(1) takes off what ends it with the test */
    pause();
    return 0;
}
static int outside(void)
{
    return stand(false);
}
static int outside_closed(void)
{
    return stand(true);
}

/* Records no switches. Its threads stand still, work when somebody makes a file
 * `go`, and stand still again. */
static void work_then(void)
{
    char byte;
    if (read(pipes[0][0], &byte, 1) == 1)
        work_both();
}
static int bare(void)
{
    struct worker workers[3];
    int i;
    MUST(pipe(pipes[0]) == 0, "no pipe");
    alarm(100);
    for (i = 0; i < 3; i++)
        worker_start(&workers[i], work_then);
    sleep_us(100000);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    while (access("go", F_OK) != 0)
        sleep_us(1000);
    MUST(write(pipes[0][1], "xxx", 3) == 3, "no pipe");
    pause();
    return 0;
}

/* What readers find is nonsense, and changes. */
static int hostile(void)
{
    uint64_t *words = (uint64_t *)(void *)&recorder_kernel_.shown;
    struct recorder_kernel_rings right;
    MUST(recorder_kernel(64, 0) == 0, "refused");
    alarm(100);
    right = recorder_kernel_.shown;
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        struct recorder_kernel_ring *ring = &recorder_kernel_.rings[0].shown;
        size_t i = (size_t)rand() % 14;
        uint64_t near = words[i] + (uint64_t)(rand() % 64) - 32;
        words[i] = rand() % 4 ? near : (uint64_t)rand() << rand() % 33;
        ring->fd = rand() % 4 ? 100 : (uint64_t)(rand() % 300);
        ring->done = rand() % 2 ? 0 : (uint64_t)rand() << rand() % 33;
        sleep_us(rand() % 3000);
        if (rand() % 4 == 0)
            memcpy(words, &right, 14 * sizeof *words);
    }
}

/* --------------------------------------------------------------- refused -- */

static int end(void)
{
    printf("goes on: %d\n", recorder_kernel(64, 0));
    record(calls, "at the end");
    recorder_kernel_pour();
    recorder_dump_to(sink, NULL);
    fflush(NULL);
    return 7;
}
/* From here on perf_event_open() fails by that errno: `any`, or only if one of
 * its arguments is, or is not, 0. */
enum fails { ANY, FIRST_PROCESSOR, OTHER_THREADS };
static bool refuse(int error, enum fails which)
{
    const unsigned argument = which == FIRST_PROCESSOR ? 2 : 1;
    const unsigned low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 (uint32_t)offsetof(struct seccomp_data, args[argument]) + low),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, which == OTHER_THREADS,
                 which == FIRST_PROCESSOR),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
/* The same in a sandbox, for another program if there is one. */
static int sandbox(int error, char **program_line)
{
    if (!refuse(error, ANY))
        return 77;
    if (*program_line)
        execv(*program_line, program_line);
    return end();
}
/* The first processor is off: a thread on another has its switches. */
static int processor_is_off(void)
{
    cpu_set_t second;
    CPU_ZERO(&second);
    CPU_SET(1, &second);
    if (sched_setaffinity(0, sizeof second, &second) != 0 ||
        !refuse(ENODEV, FIRST_PROCESSOR))
        return 77;
    return switches();
}
/* A thread that is there already is refused. */
static int thread_is_refused(int error)
{
    struct worker worker;
    int status;
    if (!refuse(error, OTHER_THREADS))
        return 77;
    worker_start(&worker, work_later);
    status = end();
    go = true;
    worker_wait(&worker);
    return status;
}
/* This user's locked memory is used up, to the last page. */
static int locked(void)
{
    struct rlimit none = {0, 0};
    struct perf_event_attr attr;
    unsigned size = 1 << 9;
    int fd = -1;
    if (geteuid() == 0)
        return 77; /* nothing is ever used up */
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.exclude_kernel = 1;
    setrlimit(RLIMIT_MEMLOCK, &none);
    while (size) {
        if (fd < 0)
            fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
        if (fd < 0)
            return 77;
        if (mmap(NULL, (size_t)(size + 1) * 4096, PROT_READ, MAP_SHARED, fd,
                 0) == MAP_FAILED)
            size /= 2;
        else
            fd = -1;
    }
    return end();
}
static int no_descriptors(void)
{
    struct rlimit few = {3, 3};
    setrlimit(RLIMIT_NOFILE, &few);
    return end();
}

/* The header's own event is the one that the system's header describes. */
static int same(void)
{
    struct perf_event_attr attr;
    struct recorder_perf_event_ ours;
    recorder_perf_event_set_(&ours);
    memset(&attr, 0, sizeof attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.size = sizeof ours;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    attr.inherit = attr.exclude_kernel = attr.exclude_hv = 1;
    attr.sample_id_all = attr.use_clockid = attr.context_switch = 1;
    attr.write_backward = attr.inherit_thread = 1;
    attr.clockid = CLOCK_MONOTONIC_RAW;
    MUST(memcmp(&attr, &ours, sizeof ours) == 0, "another event");
    MUST((int)RECORDER_PERF_SWITCH_ == (int)PERF_RECORD_SWITCH &&
             RECORDER_PERF_OUT_ == PERF_RECORD_MISC_SWITCH_OUT &&
             RECORDER_PERF_PREEMPTED_ == PERF_RECORD_MISC_SWITCH_OUT_PREEMPT &&
             RECORDER_PERF_HEAD_ ==
                 offsetof(struct perf_event_mmap_page, data_head),
         "another number");
    return 0;
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    static const struct {
        const char *name;
        int (*run)(void);
    } cases[] = {{"counts", counts},     {"before", before},
                 {"times", times},       {"full", full},
                 {"threads", threads},   {"closed", closed},
                 {"switches", switches}, {"live", live_on},
                 {"end", end},           {"locked", locked},
                 {"same", same},         {"descriptors", no_descriptors},
                 {"outside", outside},   {"outside-closed", outside_closed},
                 {"bare", bare},         {"hostile", hostile},
                 {"freeze", freeze},     {"off", processor_is_off},
                 {"reused", reused},     {"lost", lost}};
    pthread_barrier_init(&still, NULL, 1000);
    if (strcmp(what, "sandbox") == 0)
        return sandbox(count > 2 ? atoi(arguments[2]) : EPERM,
                       arguments + (count > 2 ? 3 : count));
    if (strcmp(what, "thread") == 0 && count > 2)
        return thread_is_refused(atoi(arguments[2]));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(what, cases[i].name) == 0)
            return cases[i].run();
    return 2;
}
