/* recorder_trigger.h: conditions, rates, actions, and what is refused. */
/* SPDX-License-Identifier: MIT */
/* A test may stop threads after a step: T1, before the time of a match is
 * stored; T2, before a thread takes it on itself to act. */
static void (*step_hook)(const char *where);
#define RECORDER_STEP_(label)                                                  \
    ((void)(__builtin_expect(step_hook != 0, 0) ? step_hook(#label) : (void)0))
#include "harness/capture.h"

#include "recorder_set.h"
#include "recorder_trigger.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

RECORDER(disk, 256, "Disk operations");
RECORDER(disk_cache, 256, "Has a name that begins like another");
RECORDER(net, 256, "Network traffic");

static int errors; /* what was written to stderr */
static uint64_t random_seed, random_state;
static void begin(void)
{
    random_seed = random_state = seed_of("trigger");
    errors = redirect(2);
}
static uintptr_t random_word(void)
{
    return (uintptr_t)random_of(&random_state);
}
TestSuite(trigger, .init = begin, .timeout = 240);

/* What was written to stderr, which is emptied. */
static const char *said(void)
{
    static char *text;
    free(text);
    text = written_to(errors);
    cr_assert_eq(ftruncate(errors, 0), 0);
    lseek(errors, 0, SEEK_SET);
    return text;
}

/* Takes all triggers away, which no interface does. */
static void forget(void)
{
    memset(recorder_triggers_.all, 0, sizeof recorder_triggers_.all);
    recorder_triggers_.used = 0;
    recorder_action_mark_();
}

/* A trigger's function: counts, and keeps what it saw last. */
static unsigned seen_count;
static struct recorder_seen seen_last;
static void see(void *context, const struct recorder_seen *seen)
{
    cr_assert_eq(context, &seen_count);
    seen_count++;
    seen_last = *seen;
}
static void watch(const char *text)
{
    forget();
    seen_count = 0;
    cr_assert(recorder_trigger_call(text, see, &seen_count), "%s: %s", text,
              said());
}

/* ------------------------------------------------------------ conditions -- */

/* Words that lie on the edges of comparisons. */
static intptr_t edge(void)
{
    static const intptr_t edges[] = {0,  1,  -1, 2,          50,         51,
                                     49, 64, -2, INTPTR_MAX, INTPTR_MIN, 0x80};
    return edges[random_word() % COUNT(edges)];
}
static uintptr_t record_of(unsigned count, const intptr_t *w)
{
    if (count == 4)
        return record(disk, "%zd %zd %zd %zd", w[0], w[1], w[2], w[3]);
    if (count == 8)
        return record(disk, "%zd %zd %zd %zd %zd %zd %zd %zd", w[0], w[1], w[2],
                      w[3], w[4], w[5], w[6], w[7]);
    return record(disk, "%zd %zd %zd %zd %zd %zd %zd %zd %zd %zd %zd %zd", w[0],
                  w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10],
                  w[11]);
}
static bool compares(intptr_t word, const char *how, intptr_t value)
{
    switch (how[0]) {
    case '>': return word > value;
    case '<': return word < value;
    case '=': return word == value;
    case '!': return word != value;
    default: return (word & value) != 0;
    }
}

/* Goal: each OP on each of the arguments 1 to 12 is true when C says so, two of
 * them when both are; an argument that the record has not is never. */
Test(trigger, each_comparison)
{
    static const char how[][3] = {">", "<", "=", "!=", "!", "&"};
    unsigned i, n = rounds(20000), met = 0;
    for (i = 0; i < n; i++) {
        unsigned a = (unsigned)random_word() % 12,
                 b = (unsigned)random_word() % 12;
        unsigned count = 4 + 4 * ((unsigned)random_word() % 3), k;
        const char *first = how[random_word() % COUNT(how)];
        const char *second = how[random_word() % COUNT(how)];
        intptr_t value = edge(), other = edge(), word[12];
        bool both = random_word() & 1, is;
        char text[200];
        uintptr_t order;
        for (k = 0; k < 12; k++)
            word[k] = edge();
        if (both)
            sprintf(text, "disk: %u%s%" PRIdPTR " %u%s%" PRIdPTR " : again",
                    a + 1, first, value, b + 1, second, other);
        else
            sprintf(text, "disk:%u%s%s0x%" PRIxPTR, a + 1, first,
                    value < 0 ? "-" : "",
                    value < 0 ? 0 - (uintptr_t)value : (uintptr_t)value);
        watch(text);
        order = record_of(count, word);
        is = a < count && compares(word[a], first, value) &&
             (!both || (b < count && compares(word[b], second, other)));
        cr_assert_eq(seen_count, is, "%s: %u words of %u, seed %" PRIu64, text,
                     seen_count, count, random_seed);
        met += is;
        if (!is)
            continue;
        cr_assert_eq(seen_last.order, order);
        cr_assert_eq(seen_last.recorder, &recorder_for_disk);
        cr_assert_eq(seen_last.thread, RECORDER_THREAD());
        cr_assert_eq(seen_last.words_count, count);
        cr_assert_eq(memcmp(seen_last.word, word, count * sizeof *word), 0);
    }
    cr_assert(met > n / 20, "%u of %u", met, n);
}

/* Goal: names match whole, the text is the begin of a format after its
 * heading, severities are at least. */
Test(trigger, names_texts_and_severities)
{
    static const struct {
        const char *condition;
        const char *met; /* which of the records below, by letter */
    } cases[] = {
        {"disk:", "abcd"},
        {"DISK|net:", "abcdf"},
        {"disk.*:", "abcde"},
        {".*: \"latency\"", "bd"},
        {".*: \"latency %d\"", "b"},
        {".*: \"\"", "abcdef"},
        {".*: \"say \\\"x\\\\\"", "f"},
        {"d.*: \"a : and;\"", "a"},
        {".*: sw2", "cd"},
        {".*: SW3", "d"},
        {".*: sw0,hw1", "cdf"},
        {".*: hw2", ""},
        {".*: hw1", "f"},
        {".*: sw0 \"latency\" 1>6", "d"},
        {".*: sw0 \"latency\" 1>7", ""},
    };
    size_t i;
    for (i = 0; i < COUNT(cases); i++) {
        char met[8], text[100];
        unsigned count = 0, before = 0;
        sprintf(text, "%s: again", cases[i].condition);
        watch(text);
#define MAKE(letter, ...)                                                      \
    do {                                                                       \
        record(__VA_ARGS__);                                                   \
        if (seen_count != before)                                              \
            met[count++] = letter;                                             \
        before = seen_count;                                                   \
    } while (0)
        MAKE('a', disk, "a : and; b");
        MAKE('b', disk, "latency %d", 7);
        MAKE('c', disk, RECORDER_SW2 "late");
        MAKE('d', disk, RECORDER_SW3 "latency of %d", 7);
        MAKE('e', disk_cache, "full");
        MAKE('f', net, RECORDER_HW1 "say \"x\\");
        met[count] = '\0';
        cr_assert_str_eq(met, cases[i].met, "%s: %s", text, met);
    }
}

/* ----------------------------------------------------------------- rates -- */

/* Shows the hook a record of that time. */
static void hook_at(uintptr_t time)
{
    struct recorder_record r = {(uintptr_t) "x\0y:1", 1, time, 0, {0, 0, 0, 0}};
    recorder_home_.registry->hook(&recorder_for_disk, 1, &r, 1);
}

/* Goal: COUNTxTIME acts at the first record that is the COUNT-th within TIME,
 * and with `again` counts anew from there on. The oracle looks at all times. */
Test(trigger, rate_is_exact)
{
    static uintptr_t times[4000];
    unsigned round, n = rounds(300), fired = 0;
    for (round = 0; round < n; round++) {
        unsigned count = 2 + (unsigned)random_word() % (round % 2 ? 511 : 6);
        uintptr_t within, now = 1 + random_word() % 1000, step;
        unsigned used = 0, must = 0, i;
        char text[80];
        sprintf(text, "disk: %ux1ms: again", count);
        watch(text);
        within = recorder_triggers_.all[0].within;
        step = 2 * within / count;
        for (i = 0; i < 1500; i++) {
            uintptr_t gap = random_word() % (step + 1);
            now += random_word() % 8 ? gap : gap / 16;
            times[used++] = now;
            if (used >= count && now - times[used - count] <= within) {
                must++;
                used = 0;
            }
            hook_at(now);
            cr_assert_eq(seen_count, must, "%s: %u, seed %" PRIu64, text, i,
                         random_seed);
        }
        fired += must;
    }
    cr_assert(fired > n, "%u", fired);
}

/* Goal: the limits of a rate are exact to the tick, and far more records than
 * are remembered do no harm. */
Test(trigger, rate_to_the_tick)
{
    unsigned i;
    uintptr_t within;
    watch("disk: 3x1ms");
    within = recorder_triggers_.all[0].within;
    for (i = 0; i < 5000; i++)
        hook_at(1000 + i * (within / 2 + 1));
    cr_assert_eq(seen_count, 0);
    hook_at(1000 + 4999 * (within / 2 + 1) + within / 2 - 1);
    cr_assert_eq(seen_count, 1);
    hook_at(1000 + 4999 * (within / 2 + 1) + within / 2);
    cr_assert_eq(seen_count, 1); /* once */
}

enum { THREADS = 16 };
static pthread_barrier_t barrier;
static unsigned each, rounds_done;
static void *record_each(void *unused)
{
    unsigned i, round;
    (void)unused;
    for (round = 0; round < rounds_done; round++) {
        pthread_barrier_wait(&barrier);
        for (i = 0; i < each; i++)
            record(disk, "%u", i);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}
static unsigned atomic_count;
static void count_it(void *context, const struct recorder_seen *seen)
{
    (void)context, (void)seen;
    __atomic_fetch_add(&atomic_count, 1, __ATOMIC_RELAXED);
}
/* Runs the threads; after each round as many times must the trigger have acted
 * as there were rounds. */
static void threads_must_fire_once(unsigned records, unsigned count)
{
    pthread_t threads[THREADS];
    unsigned round, i;
    record(net, "the first record of a program maps the table of threads");
    each = records;
    rounds_done = count;
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, record_each, NULL), 0);
    for (round = 0; round < count; round++) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        cr_assert_eq(atomic_count, round + 1, "round %u: %u", round,
                     atomic_count);
        cr_assert(!recorder_trace_is_watched_(RECORDER_TRACE(disk)));
        recorder_trigger_arm();
        cr_assert(recorder_trace_is_watched_(RECORDER_TRACE(disk)));
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Goal: of 16 threads whose records all meet the condition, one acts, once. */
Test(trigger, once_by_many_threads)
{
    cr_assert(recorder_trigger_call("disk: 1!=-1", count_it, NULL));
    threads_must_fire_once(20, rounds(1000));
}

/* Goal: exactly COUNT records, made by 16 threads at once, are enough. */
Test(trigger, rate_by_many_threads)
{
    cr_assert(recorder_trigger_call("disk: 512x5min", count_it, NULL));
    threads_must_fire_once(512 / THREADS, rounds(1000));
}

static __thread const char *stops;
static unsigned stopped;
static bool may_go;
static void at_step(const char *where)
{
    if (!stops || strcmp(where, stops) != 0)
        return;
    __atomic_fetch_add(&stopped, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&may_go, __ATOMIC_SEQ_CST))
        sleep_ms(1);
}
static void *late(void *step)
{
    stops = step;
    record(disk, "late");
    return NULL;
}
static pthread_t late_thread(const char *step)
{
    pthread_t thread;
    unsigned before = stopped;
    step_hook = at_step;
    cr_assert_eq(pthread_create(&thread, NULL, late, (void *)step), 0);
    while (__atomic_load_n(&stopped, __ATOMIC_SEQ_CST) == before)
        sleep_ms(1);
    return thread;
}
/* Goal: of threads that all have seen that the trigger is armed, one acts. */
Test(trigger, one_of_those_that_hit)
{
    pthread_t threads[4];
    unsigned i;
    cr_assert(recorder_trigger_call("disk: \"late\"", count_it, NULL));
    for (i = 0; i < COUNT(threads); i++)
        threads[i] = late_thread("T2");
    cr_assert_eq(atomic_count, 0);
    __atomic_store_n(&may_go, true, __ATOMIC_SEQ_CST);
    for (i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(atomic_count, 1);
}

/* Goal: a thread that was stopped before it stored its time is counted when it
 * goes on: whichever of the COUNT it was, the trigger then acts. */
Test(trigger, rate_with_a_late_thread)
{
    unsigned before, k;
    for (before = 0; before < 10; before++) {
        pthread_t thread;
        watch("disk: 10x5min");
        may_go = false;
        for (k = 0; k < before; k++)
            record(disk, "%u", k);
        thread = late_thread("T1");
        for (; k < 9; k++)
            record(disk, "%u", k);
        /* Where the first and the last are there, it is not waited for. */
        cr_assert_eq(seen_count, before != 0 && before != 9, "%u", before);
        __atomic_store_n(&may_go, true, __ATOMIC_SEQ_CST);
        pthread_join(thread, NULL);
        cr_assert_eq(seen_count, 1, "%u", before);
    }
    step_hook = NULL;
}

/* ---------------------------------------------------------------- freeze -- */

static bool ends;
static void *hammer(void *number)
{
    uintptr_t i;
    for (i = 0; !__atomic_load_n(&ends, __ATOMIC_RELAXED); i++) {
        record(net, "%zu %zu", (uintptr_t)number, i);
        if ((uintptr_t)number == 0 && i == 2000)
            record(disk, "now");
    }
    return NULL;
}
static uintptr_t frozen_order;
static void note_order(void *context, const struct recorder_seen *seen)
{
    (void)context, (void)seen;
    recorder_put_(&frozen_order, recorder_get_(recorder_home_.order));
    sleep_ms(2);
}
/* The highest order that is kept. */
static uintptr_t newest(void)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    uintptr_t order = 0;
    memset(&cursor, 0, sizeof cursor);
    while (recorder_next(&cursor, &event))
        order = (uintptr_t)event.order;
    return order;
}

/* Goal: after freeze there is at most one record of each other thread: that
 * which it was making. recorder_trigger_thaw() brings back what was there. */
Test(trigger, freeze_keeps_what_led_to_it)
{
    pthread_t threads[4];
    uintptr_t i, n = 4, order, frozen;
    RECORDER_TRACE(disk_cache) = -1;
    cr_assert(recorder_trigger_call("disk: \"now\": freeze", note_order, NULL));
    for (i = 0; i < n; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, hammer, (void *)i), 0);
    while (!recorder_trace_is_frozen_(
        __atomic_load_n(&RECORDER_TRACE(net), __ATOMIC_RELAXED)))
        sleep_ms(1);
    sleep_ms(40); /* they go on, and record nothing */
    __atomic_store_n(&ends, true, __ATOMIC_RELAXED);
    for (i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    frozen = recorder_get_(&frozen_order);
    order = recorder_get_(recorder_home_.order);
    cr_assert(frozen && order <= frozen + n - 1 && newest() < order, "%zu: %zu",
              (size_t)frozen, (size_t)order);
    cr_assert_not_null(strstr(said(),
                              "recorder: trigger disk: \"now\": freeze: "
                              "record "));
    cr_assert(recorder_trace_is_frozen_(RECORDER_TRACE(disk)));
    cr_assert(!recorder_trace_is_frozen_(RECORDER_TRACE(disk_cache)));
    order = record(net, "not recorded");
    cr_assert_eq(order, 0);
    recorder_trigger_thaw();
    cr_assert_eq(RECORDER_TRACE(net), 0);
    cr_assert_eq(RECORDER_TRACE(disk), 0);
    cr_assert_eq(RECORDER_TRACE(disk_cache), -1);
    order = record(net, "recorded");
    cr_assert(order > 0);
}

/* Goal: a dump says which recorders are frozen or watched. */
Test(trigger, dump_says_so)
{
    struct caught *caught = catcher((size_t)1 << 16);
    cr_assert(recorder_trigger("net: 1=1: freeze"));
    cr_assert_not_null(strstr(catch_dump(caught), "DUMPING net SIZE 256, 0 "
                                                  "ENTRIES, 0 OVERWRITTEN, 0 LOST, "
                                                  "WATCHED\n"));
    record(net, "%d", 1);
    catch_dump(caught);
    cr_assert_not_null(strstr(caught->text, "DUMPING net SIZE 256, 1 ENTRIES, "
                                            "0 OVERWRITTEN, 0 LOST, FROZEN\n"));
    cr_assert_not_null(strstr(caught->text, "DUMPING disk SIZE 256, 0 ENTRIES, "
                                            "0 OVERWRITTEN, 0 LOST, FROZEN\n"));
}

/* ----------------------------------------------------------------- after -- */

/* Goal: after= acts at the first record, of any recorder, that is made when the
 * time is over; until then all recorders that are on are watched. */
Test(trigger, after)
{
    uintptr_t after, now;
    struct recorder_record r = {(uintptr_t) "%d\0y:1", 77, 0, 0, {5, 0, 0, 0}};
    watch("disk: 1=5 after=20ms");
    after = recorder_triggers_.all[0].after;
    cr_assert(!recorder_trace_is_watched_(RECORDER_TRACE(net)));
    for (now = 1000; now < 1000 + 20 * after; now += 20 * after + 7) {
        r.time = now;
        recorder_home_.registry->hook(&recorder_for_disk, 1, &r, 1);
        cr_assert(recorder_trace_is_watched_(RECORDER_TRACE(net)));
        r.time = now + after - 1;
        recorder_home_.registry->hook(&recorder_for_net, 1, &r, 1);
        recorder_home_.registry->hook(&recorder_for_disk, 1, &r, 1);
        cr_assert_eq(seen_count, 0);
        r.time = now + after;
        r.order = 88;
        recorder_home_.registry->hook(&recorder_for_net, 1, &r, 1);
        cr_assert_eq(seen_count, 1);
        cr_assert_eq(seen_last.recorder, &recorder_for_net);
        cr_assert_eq(seen_last.order, 88);
    }
    cr_assert(!recorder_trace_is_watched_(RECORDER_TRACE(net)));
    cr_assert(!recorder_trace_is_watched_(RECORDER_TRACE(disk)));
}

/* Goal: with the program's own clock, what followed in that time is kept. */
Test(trigger, after_by_the_clock)
{
    double began = 0, took;
    cr_assert(recorder_trigger("disk: 1=5 after=30ms: freeze"));
    record(net, "before");
    began = seconds_now();
    record(disk, "%d", 5);
    while (record(net, "behind"))
        sleep_ms(1);
    took = seconds_now() - began;
    cr_assert(took > 0.029 && took < 60, "%f s", took);
    cr_assert_not_null(strstr(said(), "after=30ms: freeze: record 2\n"));
}

/* --------------------------------------------------------------- actions -- */

static void on_signal(int number)
{
    record(disk, "signal %d", number);
}
/* Goal: a trigger acts in a signal handler, and its dump is whole. */
Test(trigger, in_a_signal_handler)
{
    uintptr_t order;
    signal(SIGUSR1, on_signal);
    cr_assert(recorder_trigger("disk: \"signal\" 1>0: freeze,dump"));
    record(net, "before");
    raise(SIGUSR1);
    order = record(net, "behind");
    cr_assert_eq(order, 0);
    cr_assert_not_null(strstr(said(), "] disk: signal 10\n"));
}

static void record_again(void *context, const struct recorder_seen *seen)
{
    uintptr_t order = record(disk, "by the action: %d", 5);
    ++*(unsigned *)context;
    cr_assert(order > seen->order);
}
/* Goal: what an action records is recorded, and no cause to act. */
Test(trigger, actions_may_record)
{
    struct caught *caught = catcher((size_t)1 << 16);
    unsigned count = 0;
    cr_assert(recorder_trigger_call("disk: 1=5: again", record_again, &count));
    cr_assert(recorder_trigger_call("disk: 1=5: again", record_again, &count));
    record(disk, "%d", 5);
    cr_assert_eq(count, 2);
    record(disk, "%d", 5);
    cr_assert_eq(count, 4);
    cr_assert_eq(lines_in(records_in(catch_dump(caught))), 6);
}

/* Goal: stop, signal=N and abort do that; dump=PATH makes its file, for its
 * user only; a path that cannot be opened is said, and harms nobody. */
Test(trigger, each_action)
{
    char folder[] = "/tmp/recorder-trigger-XXXXXX", path[100], text[200];
    int status, fd;
    ssize_t size;
    pid_t child;
    IN_CHILD(status, 60, recorder_trigger("disk: : signal=15,abort");
             record(disk, "x"));
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    IN_CHILD(status, 60, recorder_trigger("disk: : abort"); record(disk, "x"));
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    child = fork();
    if (child == 0) {
        recorder_trigger("disk: : stop");
        record(disk, "x");
        _exit(0);
    }
    cr_assert(waitpid(child, &status, WUNTRACED) == child);
    cr_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    kill(child, SIGCONT);
    cr_assert(waitpid(child, &status, 0) == child);
    MUST_EXIT(status, 0);
    cr_assert_not_null(mkdtemp(folder));
    sprintf(text, "disk: 1=3 : again , dump=%s/%%e.%%p.%%%%.txt", folder);
    cr_assert(recorder_trigger(text));
    sprintf(text, "disk: 1=3 : dump=%s/none/x", folder);
    cr_assert(recorder_trigger(text));
    record(disk, "%d", 3);
    cr_assert_not_null(strstr(said(), "/none/x for a dump: "));
    sprintf(path, "%s/%s.%d.%%.txt", folder, recorder_home_.registry->program,
            (int)getpid());
    fd = open(path, O_RDONLY);
    cr_assert(fd >= 0, "%s: %s", path, said());
    size = read(fd, text, sizeof text - 1);
    cr_assert(size > 20 && strncmp(text, "FLIGHT RECORDER DUMP", 20) == 0);
    close(fd);
    unlink(path);
    rmdir(folder);
}

/* -------------------------------------------------------------- settings -- */

/* Goal: the marks change what was set as little as that changes them. */
Test(trigger, marks)
{
    static const int64_t values[] = {0, 1, 5, -1, -3, 0x1fffffff};
    size_t i, k;
    for (i = 0; i < COUNT(values); i++) {
        int64_t v = values[i], w = recorder_trace_watched_(v, true);
        int64_t frozen = recorder_trace_frozen_(w);
        cr_assert(!recorder_trace_is_watched_(v) &&
                  !recorder_trace_is_frozen_(v));
        cr_assert(recorder_trace_is_watched_(w) && (w < 0) == (v < 0));
        cr_assert_eq(w, (int32_t)w);
        cr_assert_eq(recorder_trace_value_(w), v);
        cr_assert_eq(recorder_trace_watched_(w, true), w);
        cr_assert_eq(recorder_trace_watched_(w, false), v);
        cr_assert(frozen < 0 && recorder_trace_is_watched_(frozen));
        cr_assert_eq(recorder_trace_is_frozen_(frozen), v >= 0);
        cr_assert_eq(recorder_trace_value_(frozen), v < 0 ? v : -1);
        cr_assert_eq(recorder_trace_thawed_(frozen), w);
        cr_assert_eq(recorder_trace_thawed_(w), w);
        for (k = 0; k < COUNT(values); k++) {
            cr_assert_eq(recorder_trace_set_(v, values[k]), values[k]);
            cr_assert_eq(
                recorder_trace_value_(recorder_trace_set_(w, values[k])),
                values[k]);
            cr_assert(recorder_trace_is_watched_(
                recorder_trace_set_(frozen, values[k])));
        }
    }
    cr_assert(!recorder_trace_is_frozen_(INT64_MIN) &&
              !recorder_trace_is_watched_(INT64_MAX));
}

/* Goal: RECORDER_TRACES and its like keep the triggers, also over off and on;
 * records that are traced are still printed, those that are only watched
 * not. */
Test(trigger, settings_keep_the_mark)
{
    static const char *const traces[] = {
        "-disk", "disk=0x100", "/disk:-disk", "disk", "disk=-5:disk=2", "-all"};
    size_t i;
    for (i = 0; i < COUNT(traces); i++) {
        char must[32];
        watch("disk: 1=5: again");
        cr_assert_eq(recorder_trace_set(traces[i]), RECORDER_TRACE_OK);
        record(disk, "%d of %d", 5, (int)i);
        cr_assert_eq(seen_count, 1, "%s", traces[i]);
        sprintf(must, "] disk: 5 of %d\n", (int)i);
        cr_assert_eq(strstr(said(), must) != NULL,
                     recorder_trace_value_(RECORDER_TRACE(disk)) > 0, "%s",
                     traces[i]);
        recorder_trace_set("/disk");
        record(disk, "%d", 5);
        cr_assert_eq(seen_count, 1);
        RECORDER_TRACE(disk) = 0; /* takes the mark, too */
        record(disk, "%d", 5);
        cr_assert_eq(seen_count, 1);
        recorder_trigger_arm();
        record(disk, "%d", 5);
        cr_assert_eq(seen_count, 2);
        forget();
        cr_assert_eq(RECORDER_TRACE(disk), 0);
    }
}

static unsigned hooked;
static void a_hook(const struct recorder *recorder, unsigned thread,
                   const struct recorder_record *records, unsigned count)
{
    (void)recorder, (void)thread, (void)records, (void)count;
    hooked++;
}
/* Goal: the hook that was there is called for what is traced, and only that. */
Test(trigger, hook_before_is_called)
{
    recorder_home_.registry->hook = a_hook;
    watch("disk: : again");
    record(disk, "watched");
    cr_assert_eq(hooked, 0);
    recorder_trace_set("disk:net");
    record(disk, "watched and traced");
    record(net, "traced");
    cr_assert_eq(hooked, 2);
    cr_assert_eq(seen_count, 2);
}

/* --------------------------------------------------------------- refused -- */

/* Goal: a text that is wrong is refused in words, from where it is wrong, and
 * does nothing; the others of the text are set. */
Test(trigger, refused)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"disk", "disk: NAMES of recorders and a ':' come first"},
        {": freeze", ": freeze: NAMES of recorders"},
        {"(disk: : freeze", "(disk: : freeze: missing )"},
        {"disk: 1>50", "disk: 1>50: a second ':' and an action are missing"},
        {"disk: 1>50:", "no action: there are freeze, dump, dump=PATH"},
        {"disk: 0>5: freeze",
         "0>5: freeze: arguments have the numbers 1 to 12"},
        {"disk: 13>5: freeze", "13>5: freeze: arguments"},
        {"disk: 1: freeze", "1: freeze: it should be FIELD OP VALUE"},
        {"disk: 1>: freeze", "is compared with no number"},
        {"disk: 1>x: freeze", "is compared with no number"},
        {"disk: 1>18446744073709551616: freeze", "the number is too large"},
        {"disk: 1<1e400: freeze", "the number is too large"},
        {"disk: 1>5sw2: freeze", "is compared with no number"},
        {"disk: 1>5ms: freeze", "unknown unit: a number may have k, M or G"},
        {"disk: 1=5kB: freeze", "unknown unit: a number may have k, M or G"},
        {"disk: 1&1.5: freeze", "& takes an integer"},
        {"disk: a~b: freeze", "~ is for recorder watch and --where"},
        {"disk: \"a\"sw2: freeze", "sw2: freeze: a blank is missing"},
        {"disk: sw4: freeze", "sw4: freeze: it should be FIELD OP VALUE"},
        {"disk: fast: freeze", "fast: freeze: it should be FIELD OP VALUE"},
        {"disk: \"x: freeze", "\"x: freeze: the text has no end"},
        {"disk: \"x\" \"y\": freeze",
         "\"y\": freeze: the text has no end, or is "
         "the second"},
        {"disk: 1x1s: freeze", "COUNT from 2 to 512"},
        {"disk: 513x1s: freeze", "COUNT from 2 to 512"},
        {"disk: 99999999999999999999x1s: freeze", "COUNT from 2 to 512"},
        {"disk: 5x1s 5x1s: freeze", "COUNTxTIME, once"},
        {"disk: 5x1: freeze", "a time like 20ms"},
        {"disk: 5x1sec: freeze", "a time like 20ms"},
        {"disk: 5x99999999999999999999s: freeze", "a time like 20ms"},
        {"disk: 5x9999999999999h: freeze", "a time like 20ms"},
        {"disk: after=1: freeze", "after= has a time"},
        {"disk: after=2562047h: freeze", "longer than this machine's clock"},
        {"disk: 1>1 1>1 1>1 1>1 1>1 1>1 1>1 1>1 1>1: freeze", "at most 8"},
        {"disk: : melt", "melt: no action"},
        {"disk: : again", "it does nothing but wait again"},
        {"disk: : freeze,", "no action"},
        {"disk: : dump=", "no action"},
        {"disk: : signal=0", "a signal has a number from 1 to 64"},
        {"disk: : signal=65,freeze", "a signal has a number from 1 to 64"},
        {"disk: : freeze now", "freeze now: no action"},
    };
    size_t i;
    for (i = 0; i < COUNT(bad); i++) {
        char text[200];
        const char *says;
        forget();
        sprintf(text, "%s; net: 1=7: freeze", bad[i].text);
        cr_assert(!recorder_trigger(bad[i].text), "%s", bad[i].text);
        says = said();
        cr_assert(strncmp(says, "recorder: trigger: ", 19) == 0 &&
                      strstr(says, bad[i].says) && lines_in(says) == 1,
                  "%s: %s", bad[i].text, says);
        cr_assert(!recorder_trace_is_watched_(RECORDER_TRACE(disk)));
        if (strchr(bad[i].text, '"'))
            continue; /* takes the ';' for its own */
        cr_assert(!recorder_trigger(text), "%s", text);
        cr_assert(recorder_trace_is_watched_(RECORDER_TRACE(net)), "%s", text);
        cr_assert(!recorder_trace_is_watched_(RECORDER_TRACE(disk)));
        said();
    }
    forget();
    cr_assert(recorder_trigger(NULL) && recorder_trigger("") &&
              recorder_trigger(" ; ;; "));
    said();
    cr_assert(recorder_trigger("dsk|ne: 1=7: freeze"));
    cr_assert_str_eq(said(), "recorder: trigger: dsk|ne: 1=7: freeze: "
                             "no recorder has this name yet\n");
    cr_assert(recorder_trigger("dsk|n.*: 1=7: freeze"));
    cr_assert_str_eq(said(), "");
    forget();
    for (i = 0; i < 8; i++)
        cr_assert(recorder_trigger("net: 1=7: freeze"));
    cr_assert(!recorder_trigger("net: 1=7: freeze"));
    cr_assert_not_null(strstr(said(), "there are 8 triggers already"));
}

/* Goal: %m is the number errno, and the argument after the others. */
Test(trigger, errno_of_m)
{
    static const int numbers[] = {0, 2, 5, 11, 4095, 4096, 70000, -1, -5};
    for (size_t i = 0; i < COUNT(numbers); i++)
        for (unsigned test = 0; test < 4; test++) {
            static const char *const tests[] = {"errno=5", "2=5", "errno>=5",
                                                "fd=1 errno<5"};
            char text[64];
            int n = numbers[i];
            bool is[] = {n == 5, n == 5, n >= 5, n < 5};
            sprintf(text, "disk: %s: again", tests[test]);
            watch(text);
            errno = n;
            record(disk, "fd=%d: %m", 1);
            record(disk, "fd=%d", 1);
            cr_assert_eq(seen_count, is[test], "%s of %d: %u", text, n,
                         seen_count);
        }
}

/* Goal: an argument that no record had is said at the exit, for the records that
 * a trigger is for; each of those that some had is not. */
Test(trigger, lacks_an_argument)
{
    forget();
    cr_assert(recorder_trigger(
        " disk: \"latency\" byts>50 1>5: freeze; net: byts=1: freeze;"
        "disk: size=2 7<5: freeze; disk: sw2 id=1: freeze; disk: bytes=3: dump"));
    record(disk, "size=%d bytes=%d", 1, 2);
    record(disk, "latency bytes=%d", 1);
    cr_assert_str_eq(said(), "");
    recorder_trigger_end_();
    recorder_trigger_end_();
    cr_assert_str_eq(
        said(), "recorder: trigger: byts>50 1>5: freeze: no record had this "
                "argument\nrecorder: trigger: disk: size=2 7<5: freeze: no "
                "record had this argument\n");
}

/* Goal: no text does harm, of whatever length and bytes: it is set, or refused
 * in one line without control characters. */
Test(trigger, hostile_texts)
{
    static const char bytes[] = "disk:: \"\\ 1>5=!&<x0sw2hm,;after=20ms freeze"
                                "again dump=/ signal=9([a-z]*)|^$e.k~\t\n\1\xff%s";
    unsigned i, n = rounds(200000), good = 0;
    for (i = 0; i < n; i++) {
        char text[400];
        size_t size = random_word() % (i % 50 ? 40 : 399), k;
        size_t known = random_word() % 2 ? 0 : 6;
        memcpy(text, "disk: ", 6);
        for (k = known; k < size; k++)
            text[k] = bytes[random_word() % (sizeof bytes - 1)];
        text[k > size ? k : size] = '\0';
        forget();
        good += recorder_trigger(text);
        if (i % 64 == 0)
            for (const char *at = said(); *at; at++)
                cr_assert(*at == '\n' || (*at >= ' ' && *at != 0x7f),
                          "%s: %02x", text, (unsigned char)*at);
    }
    forget();
    cr_assert(good > n / 1000, "%u of %u", good, n);
}
