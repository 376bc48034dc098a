/* recorder_line(): each field of a record's line. */
/* SPDX-License-Identifier: MIT */
#define RECORDER_THREADS 4 /* so that rows are used again soon */
#include "harness/capture.h"

#include "harness/build.h"
#include "harness/shown.h"
#include <pthread.h>

RECORDER(text, 64, "What is shown");

static struct caught *caught;
static void begin(void)
{
    caught = catcher((size_t)1 << 20);
}
TestSuite(line, .init = begin, .timeout = 240);

/* Sets a line; the dump's must be this. */
#define LINE_MUST_BE(line, expected)                                           \
    do {                                                                       \
        cr_assert(recorder_line(line), "%s", line);                            \
        DUMP_MUST_BE(expected);                                                \
    } while (0)

/* --------------------------------------------------------------- columns -- */

/* Goal: every field can be shown, in columns from the right and from the left,
 * among any other text; braces, too. */
Test(line, fields_and_columns)
{
    char must[200];
    int at;
    record(text, "%s %d", "message", 5), at = __LINE__;
    sprintf(must, "line.c:%d\n", at);
    LINE_MUST_BE("{location}", must);
    LINE_MUST_BE("{order}", "1\n");
    LINE_MUST_BE("{thread}", "1\n");
    LINE_MUST_BE("{recorder}", "text\n");
    LINE_MUST_BE("{message}", "message 5\n");
    LINE_MUST_BE("{order:4}|{order:-4}|{order:1}|{order:0}|{order:}|",
                 "   1|1   |1|1|1|\n");
    LINE_MUST_BE("{message:12}<{message:-12}>{message:3}",
                 "   message 5<message 5   >message 5\n");
    LINE_MUST_BE("{recorder:6}{recorder:-6}{recorder:4}{recorder:3}",
                 "  texttext  texttext\n");
    LINE_MUST_BE("no field at all, 100%", "no field at all, 100%\n");
    LINE_MUST_BE("} }} {{ {{order} {{{order}}", "} }} { {order} {1}\n");
    LINE_MUST_BE("{{\"order\": {order}, \"text\": \"{message}\"}",
                 "{\"order\": 1, \"text\": \"message 5\"}\n");
    sprintf(must, "1 [line.c:%d T1] text: message 5\n", at);
    LINE_MUST_BE("{order} [{location} T{thread}] {recorder}: {message}", must);
    LINE_MUST_BE("{order}-{order}-{order}-{order}-{order}-{order}-{order}-"
                 "{order}-{order}-{order}|{order:2}|{order:-2}|{order}|",
                 "1-1-1-1-1-1-1-1-1-1| 1|1 |1|\n");
    /* The default, but for the time. */
    cr_assert(recorder_line(NULL));
    cr_assert_not_null(strstr(catch_dump(caught), " T1] text: message 5\n"));
}

/* Goal: a column never writes beyond the line; one that does not fit takes what
 * it needs. Method: fields as wide as may be, to the end. */
Test(line, columns_beyond_the_end)
{
    const char *is;
    record(text, "%s", "x");
    cr_assert(recorder_line("{message:4000}{order:90}{order:90}|{order:-90}|"));
    is = records_in(catch_dump(caught));
    cr_assert_str_eq(is + 4000 + 89, "11|1|\n");
    cr_assert(recorder_line("{message:4000}{order:90}{recorder:90}{recorder}"));
    is = records_in(catch_dump(caught));
    cr_assert_eq(strlen(is), RECORDER_TEXT_LINE_MAX_);
    cr_assert_str_eq(is + RECORDER_TEXT_LINE_MAX_ - 9, "...[cut]\n");
    cr_assert(recorder_line("{message:4095}"));
    cr_assert_eq(strlen(records_in(catch_dump(caught))),
                 RECORDER_TEXT_LINE_MAX_);
    cr_assert(recorder_line("{message:4096}"));
    is = records_in(catch_dump(caught));
    cr_assert_eq(lines_in(is), 1);
}

/* Goal: a field that is unknown is refused, with a list of all, and the line
 * stays as it was. */
Test(line, unknown_fields_are_refused)
{
    static const char *const wrong[] = {
        "{",        "{}",           "{orde}",     "{orders}",    "{order",
        "{order:x}", "{order:8",    "{order:--8}", "{order :8}", "{Order}",
        "{order} {", "{order:99999}", "{message", "a {b} c",     "{{{"};
    static char long_line[400];
    size_t i;
    record(text, "x");
    cr_assert(recorder_line("{order} {message}"));
    for (i = 0; i < COUNT(wrong); i++) {
        int file = redirect(2), error;
        char *said;
        errno = 77;
        cr_assert(!recorder_line(wrong[i]), "%s", wrong[i]);
        error = errno;
        said = written_to(file);
        cr_assert_eq(error, 77);
        cr_assert_not_null(
            strstr(said, "recorder: line: unknown field: {"), "%s", said);
        cr_assert_not_null(
            strstr(said, "\nrecorder: line: there are {order} {seconds} {wall} "
                         "{location} {caller} {thread} {name} {recorder} "
                         "{severity} {message}\n"),
            "%s", said);
        DUMP_MUST_BE("1 x\n");
        close(file);
    }
    for (i = 0; i < 255; i++)
        long_line[i] = 'x';
    cr_assert(recorder_line(long_line));
    cr_assert_eq(strlen(records_in(catch_dump(caught))), 256);
    long_line[255] = 'x';
    redirect(2);
    cr_assert(!recorder_line(long_line), "none is cut in silence");
}

/* What is written to stderr while a text is refused. */
static void quote(const char *how, const char *text)
{
    int file = redirect(2);
    const char *wrong;
    char *said;
    if (strcmp(how, "line") == 0)
        cr_assert(!recorder_line(text));
    else if (strcmp(how, "dump_for") == 0)
        cr_assert_eq(recorder_dump_for(text), 0);
    else
        cr_assert(!recorder_dump_set(text));
    said = written_to(file);
    wrong = shown_wrong(said, strlen(said));
    cr_expect(!wrong && *said && said[strlen(said) - 1] == '\n',
              "%s: %s, from %s", how, said, wrong ? wrong : "its end");
    close(file);
}
/* Goal: a refused text, from a file of settings, say, is quoted as one that a
 * terminal may be shown, in whole characters, and a newline ends the message.
 * Method: characters of 1, 3 and 4 bytes at every place, so that each is where
 * the message has no more room. */
Test(line, refused_texts_are_quoted)
{
    static const char *const fills[] = {"\x14", "\xe2\x82\xac",
                                        "\xf0\x9f\x90\x99", "\xe2"};
    static const char *const hows[] = {"line", "dump_for", "dump_set"};
    char text[300];
    size_t i, j, shift, size;
    for (i = 0; i < COUNT(fills); i++)
        for (j = 0; j < COUNT(hows); j++)
            for (shift = 0; shift < 4; shift++) {
                size = (size_t)sprintf(text, "{(%.*s", (int)shift, "xxxx");
                while (size < 250)
                    size += (size_t)sprintf(text + size, "%s",
                                            fills[(i + (size < 100)) % 4]);
                quote(hows[j], text);
            }
}

/* Goal: RECORDER_LINE in the environment sets the line; a wrong one is refused,
 * and the program runs on with the default. */
Test(line, from_the_environment, .init = build_begin, .fini = build_end)
{
    build_must("gcc " BUILD_INCLUDE "-O1 " BUILD_PROGRAMS "/line.c -o line");
    build_must("./line");
    cr_assert_not_null(strstr(build_text, " line.c:9 T1] shown: 7\n"), "%s",
                       build_text);
    build_must("RECORDER_LINE=\"<{message:3}>\" ./line");
    cr_assert_not_null(strstr(build_text, " LOST\n<  7>\n"), "%s",
                       build_text);
    build_must("RECORDER_LINE=\"{what}\" ./line");
    cr_assert_not_null(
        strstr(build_text, "recorder: line: unknown field: {what}\n"), "%s",
        build_text);
    cr_assert_not_null(strstr(build_text, " line.c:9 T1] shown: 7\n"), "%s",
                       build_text);
    build_must("RECORDER_LINE=\"{what}\" ./line 2>&- | cat");
    cr_assert_not_null(strstr(build_text, " line.c:9 T1] shown: 7\n"), "%s",
                       build_text);
}

/* ------------------------------------------------------------------ time -- */

static const char *wall_of(uint64_t ns)
{
    static char text[64];
    struct recorder_string_ to;
    to.to = text;
    to.max = sizeof text - 1;
    to.size = 0;
    recorder_add_wall_(&to, ns, 9);
    text[to.size] = '\0';
    return text;
}
static void wall_must_be_right(uint64_t ns)
{
    char must[64];
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    size_t size;
    if ((uint64_t)seconds != ns / 1000000000u)
        return; /* this system's time ends in 2038 */
    cr_assert_not_null(gmtime_r(&seconds, &tm));
    size = strftime(must, sizeof must, "%Y-%m-%d %H:%M:%S", &tm);
    sprintf(must + size, ".%09u", (unsigned)(ns % 1000000000u));
    cr_assert_str_eq(wall_of(ns), must, "%s must be %s", wall_of(ns), must);
}
/* Goal: {wall} is the date, to the end of what 64 bits of nanoseconds hold, the
 * year 2554. Method: gmtime() and strftime(), for each day's first and last
 * moment, and at random. */
Test(line, dates_are_right)
{
    uint64_t day, last = UINT64_MAX / 86400000000000u, i;
    uint64_t state = seed_of("dates_are_right"), step = 100 / scaled(100);
    setenv("TZ", "UTC", 1);
    cr_assert_str_eq(wall_of(0), "1970-01-01 00:00:00.000000000");
    cr_assert_str_eq(wall_of(951782400000000000u),
                     "2000-02-29 00:00:00.000000000");
    cr_assert_str_eq(wall_of(4102444800000000999u),
                     "2100-01-01 00:00:00.000000999");
    cr_assert_str_eq(wall_of(UINT64_MAX), "2554-07-21 23:34:33.709551615");
    for (day = 0; day < last; day += step) {
        wall_must_be_right(day * 86400000000000u);
        wall_must_be_right(day * 86400000000000u + 86399999999999u);
    }
    for (i = 0; i < scaled(100000); i++)
        wall_must_be_right(random_of(&state));
}

/* One number of the line, for the record of an order. */
static double shown_for(uintptr_t order)
{
    char key[32];
    const char *at;
    sprintf(key, "\n#%zu ", (size_t)order);
    at = strstr(catch_dump(caught), key);
    cr_assert_not_null(at, "%s in %s", key, caught->text);
    return atof(at + strlen(key));
}

/* Null, or what is wrong with the times of two records, 50 ms apart, between
 * looks at CLOCK_MONOTONIC and CLOCK_REALTIME. */
static const char *times_fault(void)
{
    static char fault[200];
    double start = (double)recorder_registry.start.monotonic_ns / 1e9;
    double before[2], after[2], shown[2];
    struct timespec wall_before, wall_after;
    uintptr_t order[2];
    const double rounding = 20e-6;
    int i;
    fault[0] = '\0';
    cr_assert(recorder_line("#{order} {seconds}"));
    clock_gettime(CLOCK_REALTIME, &wall_before);
    for (i = 0; i < 2; i++) {
        before[i] = seconds_now();
        order[i] = record(text, "%d", i);
        after[i] = seconds_now();
        if (i == 0)
            clock_gettime(CLOCK_REALTIME, &wall_after);
        sleep_ms(50);
    }
    for (i = 0; i < 2; i++) {
        shown[i] = shown_for(order[i]);
        if (shown[i] < before[i] - start - rounding ||
            shown[i] > after[i] - start + rounding)
            sprintf(fault, "record %d at %.6f, not from %.6f to %.6f", i,
                    shown[i], before[i] - start, after[i] - start);
    }
    if (shown[1] - shown[0] < 0.05 - rounding)
        sprintf(fault, "%f s apart", shown[1] - shown[0]);
    cr_assert(recorder_line("{wall}"));
    {
        char low[64], high[64];
        const char *is = strchr(records_in(catch_dump(caught)), '\0') - 1;
        const char *end = is;
        int size; /* 6 digits of a second where the clock has no more */
        while (is[-1] != '\n')
            is--;
        size = (int)(end - is);
        is -= size + 1; /* the line before the last */
        strcpy(low, wall_of((uint64_t)wall_before.tv_sec * 1000000000u +
                            (uint64_t)wall_before.tv_nsec - 20000));
        strcpy(high, wall_of((uint64_t)wall_after.tv_sec * 1000000000u +
                             (uint64_t)wall_after.tv_nsec + 20000));
        if (memcmp(is, low, (size_t)size) < 0 ||
            memcmp(is, high, (size_t)size) > 0)
            sprintf(fault, "%s < %.*s < %s", low, size, is, high);
    }
    return fault[0] ? fault : NULL;
}
/* Goal: {seconds} and {wall} are the record's time. Method: up to 20 tries, for
 * the system may just be setting its clocks right, to 20 microseconds. */
Test(line, times_are_right)
{
    const char *fault = times_fault();
    int tries;
    for (tries = 1; fault && tries < 20; tries++) {
        fprintf(stderr, "times_are_right: %s\n", fault);
        recorder_now_(&recorder_registry.start);
        recorder_registry.later_sequence = 0;
        fault = times_fault();
    }
    cr_assert_null(fault, "%s", fault);
}

/* Goal: a machine that slept, so that ticks ran on while CLOCK_MONOTONIC stood
 * still, does not spoil how fast ticks run once that was measured. Method: the
 * start and the moment noted later are put back by 10 seconds of ticks. */
Test(line, times_after_a_sleep)
{
    struct recorder_moment *start = &recorder_registry.start;
    struct recorder_moment *later = &recorder_registry.later;
    uint64_t slept;
    double shown;
    cr_assert(recorder_line("#{order} {seconds}"));
    recorder_now_(start);
    recorder_registry.later_sequence = 0;
    sleep_ms(150);
    shown_for(record(text, "notes a moment"));
    slept = (later->ticks - start->ticks) * 10000u /
            ((later->monotonic_ns - start->monotonic_ns) / 1000000u);
    start->ticks -= slept;
    later->ticks -= slept;
    sleep_ms(400);
    shown = shown_for(record(text, "woke up"));
    cr_assert(shown > 10.5 && shown < 15, "%f", shown);
}

/* Goal: a record from before the start has a negative time. As above. */
Test(line, times_before_the_start_are_negative)
{
    double low = 0, high = 0, shown = 1;
    int tries;
    cr_assert(recorder_line("#{order} {seconds}"));
    for (tries = 0; tries < 20 && (shown < low || shown > high); tries++) {
        double before = seconds_now(), after;
        uintptr_t order = record(text, "early");
        after = seconds_now();
        sleep_ms(20);
        high = after - seconds_now() + 20e-6;
        recorder_now_(&recorder_registry.start);
        recorder_registry.later_sequence = 0;
        low = before - seconds_now() - 20e-6;
        sleep_ms(20);
        shown = shown_for(order);
    }
    cr_assert(shown >= low && shown <= high && shown < 0, "%f < %f < %f", low,
              shown, high);
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 uint128;
/* Goal: ticks become nanoseconds without overflow, for years. Method: against
 * 128-bit arithmetic, for clocks from 1 MHz to 5 GHz. */
Test(line, ticks_scale_for_years)
{
    uint64_t state = seed_of("ticks_scale_for_years");
    unsigned i;
    for (i = 0; i < scaled(100000); i++) {
        struct recorder_clock_ clock = {{0, 0, 0}, 0};
        uint64_t hertz = 1000000 + random_of(&state) % 5000000000u;
        uint64_t most = hertz * 3600 * 24 * 365 * 20;
        uint64_t ticks = random_of(&state) % most;
        uint128 ns;
        clock.start.ticks = random_of(&state);
        clock.ns_per_tick = (1000000000ull << 32) / hertz;
        ns = (uint128)ticks * clock.ns_per_tick >> 32;
        cr_assert_eq(recorder_clock_time_(&clock, clock.start.ticks + ticks),
                     (int64_t)ns);
        cr_assert_eq(recorder_clock_time_(&clock, clock.start.ticks - ticks),
                     -(int64_t)ns);
    }
}
#endif

/* --------------------------------------------------------------- threads -- */

static void *named_by_us(void *unused)
{
    (void)unused;
    record(text, "before");
    recorder_thread_name("a name of more than 15 bytes");
    record(text, "after");
    return NULL;
}
static int go_on;
static void *named_by_system(void *unused)
{
    (void)unused;
    record(text, "system");
    while (!__atomic_load_n(&go_on, __ATOMIC_RELAXED))
        sleep_ms(1);
    return NULL;
}
/* Goal: {name} is what the program said, else what the system says at the time
 * of the dump; the last that was known, when the thread has ended. */
Test(line, names_of_threads)
{
    pthread_t thread;
    double end = seconds_now() + 60;
    record(text, "main");
    cr_assert(pthread_setname_np(pthread_self(), "renamed") == 0);
    cr_assert(pthread_create(&thread, NULL, named_by_us, NULL) == 0);
    pthread_join(thread, NULL);
    LINE_MUST_BE("{order} T{thread} {name}", "1 T1 renamed\n"
                                             "2 T2 a name of more \n"
                                             "3 T2 a name of more \n");
    cr_assert(pthread_create(&thread, NULL, named_by_system, NULL) == 0);
    while (recorder_get_(recorder_home_.order) < 5)
        sleep_ms(1);
    cr_assert(pthread_setname_np(thread, "worker") == 0);
    while (!strstr(catch_dump(caught), "\n4 T3 worker\n") &&
           seconds_now() < end)
        sleep_ms(1); /* it is not after its record yet */
    __atomic_store_n(&go_on, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    LINE_MUST_BE("{order} T{thread} {name:-8}|", "1 T1 renamed |\n"
                                                 "2 T2 a name of more |\n"
                                                 "3 T2 a name of more |\n"
                                                 "4 T3 worker  |\n");
}

static void *record_once(void *number)
{
    record(text, "%d", (int)(intptr_t)number);
    return NULL;
}
/* Goal: the records of a thread whose row is another's now say so, and never
 * name the other. Method: more threads than the table has rows. */
Test(line, rows_of_others_are_unknown)
{
    intptr_t i;
    record(text, "%d", 0);
    for (i = 1; i < 6; i++) {
        pthread_t thread;
        cr_assert(pthread_create(&thread, NULL, record_once, (void *)i) == 0);
        pthread_join(thread, NULL);
    }
    /* Rows 2 to 4 were of threads 1 to 3; 4 took row 2 then, and 5 row 3. */
    cr_assert(pthread_setname_np(pthread_self(), "main") == 0);
    recorder_registry.threads[1].named = 1;
    strcpy(recorder_registry.threads[1].name, "second");
    recorder_registry.threads[2].named = 1;
    strcpy(recorder_registry.threads[2].name, "third");
    cr_assert(recorder_line("{message} T{thread} {name}"));
    catch_dump(caught);
    cr_assert_not_null(strstr(caught->text, "\n0 T1 main\n"
                                            "1 T? ?\n"
                                            "2 T? ?\n"
                                            "3 T4 line\n"
                                            "4 T2 second\n"
                                            "5 T3 third\n"),
                       "%s", caught->text);
}

/* ------------------------------------------------------ caller, location -- */

#define ALONE_IN(section_name)                                                 \
    __attribute__((noinline, section(#section_name)))
extern const char __start_last_call[], __stop_last_call[];
extern const char __start_many_calls[], __stop_many_calls[];
ALONE_IN(last_call) static void records_last(int i)
{
    record(text, "last %d", i);
}
ALONE_IN(many_calls) static uintptr_t records_many(int i)
{
    record(text, "first %d", i);
    record(text, "%d %d %d %d %d", i, i, i, i, i);
    return record(text, "%d %d %d %d %d %d %d %d %d", i, i, i, i, i, i, i, i,
                  i);
}
/* Goal: {caller} is inside of the function that called record(), also where the
 * call comes last. Method: each function has a section of its own. */
Test(line, caller_is_inside_of_the_caller)
{
    void (*volatile last)(int) = records_last; /* not a copy of it */
    uintptr_t (*volatile many)(int) = records_many;
    const char *at;
    unsigned i;
    last(1);
    many(2);
    cr_assert(recorder_line("{caller}"));
    at = records_in(catch_dump(caught));
    cr_assert_eq(caught->shown, 4);
    for (i = 0; i < 4; i++, at = strchr(at, '\n') + 1) {
        uintptr_t caller = strtoull(at, NULL, 16);
        const char *start = i ? __start_many_calls : __start_last_call;
        const char *stop = i ? __stop_many_calls : __stop_last_call;
        cr_assert(caller > (uintptr_t)start && caller <= (uintptr_t)stop,
                  "record %u: %.20s", i, at);
    }
}

#line 7 "/some where/else/../a.file"
static void records_elsewhere(void) { record(text, "there"); }
#line 9 "plain"
static void records_plain(void) { record(text, "here"); }
#line 424 "tests/inside/line.c"
/* Goal: {location} leaves the folders away. */
Test(line, location_has_no_folders)
{
    records_elsewhere();
    records_plain();
    LINE_MUST_BE("{location}", "a.file:7\nplain:9\n");
}
