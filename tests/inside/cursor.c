/* recorder_next(): records as events, live, each one once. */
/* SPDX-License-Identifier: MIT */
#include "harness/capture.h"

#include <pthread.h>

RECORDER(c0, 4, "");
RECORDER(c1, 16, "");
RECORDER(c2, 64, "");
RECORDER(c3, 256, "");
RECORDER(c4, 1024, "");
RECORDER(c5, 4096, "");
RECORDER_LANES(c6, 64, 4, "");
RECORDER(c7, 1, "");

TestSuite(cursor, .timeout = 240);

static struct recorder_cursor cursor; /* 30 KB */
static struct recorder_event event;

/* How many records an event was made of: in tests here, its first argument says
 * so in its two lowest bits. */
static unsigned parts_of(const struct recorder_event *e)
{
    return (unsigned)e->argument[0] & 3;
}

/* --------------------------------------------------------------- at rest -- */

/* Goal: at rest each record is seen once, in order, whole, with all that
 * belongs to it; then there is none, until there is another. */
Test(cursor, everything_once)
{
    uintptr_t order[5];
    unsigned i, k;
    order[0] = record(c1, "%d", 10);
    order[1] = record(c2, "%d %d %d %d %d", 11, 1, 2, 3, 4);
    order[2] = record(c1, "%d %d %d %d %d %d %d %d", 12, 1, 2, 3, 4, 5, 6, 7);
    order[3] = record(c3, "%d %d %d %d %d %d %d %d %d", 13, 1, 2, 3, 4, 5, 6, 7,
                      8);
    order[4] = record(c2, "%d %d %d %d %d %d %d %d %d %d %d %d", 14, 1, 2, 3, 4,
                      5, 6, 7, 8, 9, 10, 11);
    for (i = 0; i < 5; i++) {
        static const unsigned counts[] = {1, 5, 8, 9, 12};
        static const unsigned lost[] = {0xff0, 0xf00, 0xf00, 0, 0};
        const char *names[] = {"c1", "c2", "c1", "c3", "c2"};
        cr_assert(recorder_next(&cursor, &event), "event %u", i);
        cr_assert_eq(event.order, order[i]);
        cr_assert_eq(event.argument[0], 10 + i);
        for (k = 1; k < 12; k++)
            cr_assert_eq(event.argument[k], k < counts[i] ? k : 0);
        cr_assert_eq(event.missing_arguments, lost[i], "%#x",
                     event.missing_arguments);
        cr_assert_str_eq(event.name, names[i]);
        cr_assert_str_eq(event.recorder->name, names[i]);
        cr_assert_eq(event.thread, 1);
        cr_assert_eq(strncmp((const char *)(uintptr_t)event.format, "%d", 2), 0);
    }
    cr_assert(!recorder_next(&cursor, &event));
    cr_assert(!recorder_next(&cursor, &event));
    order[0] = record(c0, "%d", 99);
    cr_assert(recorder_next(&cursor, &event));
    cr_assert(event.order == order[0] && event.argument[0] == 99);
    cr_assert(!recorder_next(&cursor, &event));
    cr_assert_eq(cursor.missed, 0);
}

/* Goal: an empty program has no events. */
Test(cursor, nothing_of_nothing)
{
    cr_assert(!recorder_next(&cursor, &event));
    cr_assert_eq(cursor.missed, 0);
}

/* Goal: more events than a batch holds come as one row, also where a batch ends
 * in the middle of an event. Method: sizes around that of a batch; each event
 * takes 1 to 3 records. */
Test(cursor, batches_are_one_row)
{
    unsigned i, n;
    for (n = RECORDER_CURSOR_MAX_ - 5; n < RECORDER_CURSOR_MAX_ + 5; n++) {
        uintptr_t next = *recorder_home_.order, passed = 0;
        memset(&cursor, 0, sizeof cursor);
        while (recorder_next(&cursor, &event))
            ;
        passed = cursor.missed;
        for (i = 0; i < n; i++)
            if (i % 3 == 0)
                record(c5, "%u", 1);
            else if (i % 3 == 1)
                record(c5, "%u %u %u %u %u", 2, i, i, i, i);
            else
                record(c5, "%u %u %u %u %u %u %u %u %u", 3, i, i, i, i, i, i, i,
                       i);
        for (i = 0; i < n; i++) {
            cr_assert(recorder_next(&cursor, &event));
            cr_assert_eq(event.order, next, "%zu, not %zu", (size_t)event.order,
                         (size_t)next);
            cr_assert_eq(parts_of(&event), 1 + i % 3);
            cr_assert_eq(event.missing_arguments,
                         0xfffu & 0xfffu << 4 * (1 + i % 3));
            cr_assert_eq(event.argument[4 * (i % 3)], i % 3 ? i : 1);
            next += 1 + i % 3;
        }
        cr_assert(!recorder_next(&cursor, &event));
        cr_assert_eq(cursor.missed, passed);
    }
}

/* ------------------------------------------------------------------ live -- */

static int stop;
static uintptr_t made[4]; /* orders taken by each writer */
struct writer {
    unsigned number, pause_us;
};
/* Records of 1 to 3 parts, in all recorders in turn; the arguments are
 * consistent with each other. */
static void *write_on(void *of)
{
    const struct writer *w = of;
    unsigned i, n = w->number;
    for (i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        uintptr_t parts = 1 + i % 3, a = parts | (uintptr_t)n << 2 |
                                         (uintptr_t)i << 8;
#define PARTS_IN(ring)                                                         \
    (parts == 1 ? record(ring, "%zu %zu", a, ~a)                               \
     : parts == 2                                                              \
         ? record(ring, "%zu %zu %d %d %zu", a, ~a, 0, 0, a + 4)               \
         : record(ring, "%zu %zu %d %d %zu %d %d %d %zu", a, ~a, 0, 0, a + 4,  \
                  0, 0, 0, a + 8))
        switch (i / 3 % 8) {
        case 0: PARTS_IN(c0); break;
        case 1: PARTS_IN(c1); break;
        case 2: PARTS_IN(c2); break;
        case 3: PARTS_IN(c3); break;
        case 4: PARTS_IN(c4); break;
        case 5: PARTS_IN(c5); break;
        case 6: PARTS_IN(c6); break;
        default: PARTS_IN(c7); break;
        }
        made[n] += parts;
        if (w->pause_us && i % 64 == 0) {
            struct timespec time = {0, w->pause_us * 1000};
            nanosleep(&time, NULL);
        }
    }
    return NULL;
}

/* Is an event what a writer recorded? Adds the orders that it accounts for. */
static bool is_whole(const struct recorder_event *e, uint64_t *orders)
{
    uint64_t a = e->argument[0];
    unsigned parts = parts_of(e), i;
    if (e->argument[1] != (uintptr_t)~a || parts == 0)
        return false;
    for (i = 1; i < 3; i++) {
        bool lost = e->missing_arguments >> 4 * i & 1;
        if (i >= parts && !lost)
            return false; /* what goes on there is not its own */
        if (i < parts && !lost && e->argument[4 * i] != a + 4 * i)
            return false;
    }
    for (i = 0; i < 3; i++)
        *orders += !(e->missing_arguments >> 4 * i & 1);
    return true;
}

struct follower {
    pthread_t thread;
    struct recorder_cursor cursor;
    unsigned pause_us;
    uint64_t last, events, orders, wrong;
};
static void *follow(void *of)
{
    struct follower *f = of;
    struct recorder_event e;
    for (;;) {
        bool end = __atomic_load_n(&stop, __ATOMIC_ACQUIRE) == 2;
        while (recorder_next(&f->cursor, &e)) {
            f->wrong += e.order <= f->last || !is_whole(&e, &f->orders);
            f->last = e.order;
            f->events++;
            if (f->pause_us) {
                struct timespec time = {0, f->pause_us * 1000};
                nanosleep(&time, NULL);
            }
        }
        if (end)
            return NULL;
        sleep_ms(1);
    }
}

static void follow_writers(double seconds, unsigned writer_pause_us)
{
    static struct follower followers[3];
    struct writer writers[4];
    pthread_t threads[4];
    uintptr_t all, i;
    static const unsigned pauses_us[] = {0, 0, 200};
    for (i = 0; i < COUNT(followers); i++) {
        followers[i].pause_us = pauses_us[i];
        cr_assert(pthread_create(&followers[i].thread, NULL, follow,
                                 &followers[i]) == 0);
    }
    for (i = 0; i < 4; i++) {
        writers[i].number = (unsigned)i;
        writers[i].pause_us = writer_pause_us;
        cr_assert(pthread_create(&threads[i], NULL, write_on, &writers[i]) ==
                  0);
    }
    sleep_ms((long)(seconds * 1000));
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    /* The last orders may be of records that are gone already: what is missed
     * is known when something comes after it. */
    record(c5, "%zu %zu", (uintptr_t)1, ~(uintptr_t)1);
    __atomic_store_n(&stop, 2, __ATOMIC_RELEASE);
    all = made[0] + made[1] + made[2] + made[3] + 1;
    cr_assert_eq(*recorder_home_.order - 1, all);
    for (i = 0; i < COUNT(followers); i++) {
        struct follower *f = &followers[i];
        pthread_join(f->thread, NULL);
        fprintf(stderr, "cursor %zu: %zu events, %zu of %zu orders, missed %zu\n",
                (size_t)i, (size_t)f->events, (size_t)f->orders, (size_t)all,
                (size_t)f->cursor.missed);
        cr_assert_eq(f->wrong, 0);
        cr_assert_eq(f->orders + f->cursor.missed, all, "%zu + %zu, not %zu",
                     (size_t)f->orders, (size_t)f->cursor.missed, (size_t)all);
        cr_assert_gt(f->events, 0);
    }
}
/* Goal: while 4 threads record in 8 recorders, several cursors at once each see
 * whole events, strictly ascending, and at the end what was seen and what was
 * missed is exactly what was recorded. Method: writers at full speed, so that
 * cursors miss most. */
Test(cursor, seen_and_missed_is_all_of_a_flood)
{
    follow_writers(1.5 * scaled(100) / 100, 0);
}
/* The same with writers that rest, so that cursors keep up. */
Test(cursor, seen_and_missed_is_all_of_a_trickle)
{
    follow_writers(1.5 * scaled(100) / 100, 20000);
}

/* Goal: a slow cursor says exactly how many it missed. Method: a flood between
 * two looks, in a ring whose end is known. */
Test(cursor, says_how_many_it_missed)
{
    unsigned i, seen = 0;
    record(c1, "%u", 1);
    cr_assert(recorder_next(&cursor, &event));
    for (i = 0; i < 1000; i++)
        record(c1, "%u", i);
    while (recorder_next(&cursor, &event))
        cr_assert_eq(event.argument[0], 1000 - 16 + seen++);
    cr_assert_eq(seen, 16);
    cr_assert_eq(cursor.missed, 1000 - 16);
    for (i = 0; i < 20; i++)
        record(c1, "%u %u %u %u %u", i, i, i, i, i);
    for (seen = 0; recorder_next(&cursor, &event); seen++)
        ;
    cr_assert_eq(seen, 8);
    cr_assert_eq(cursor.missed, 1000 - 16 + 2 * 12);
}

/* Goal: arguments that were overwritten are lost, never another's; what they
 * took counts as missed, as does what goes on from a head that is gone. Method:
 * records of following orders from one ring, parts of which are taken away. */
Test(cursor, parts_keep_to_their_head)
{
    uintptr_t *commits = recorder_commits_(recorder_for_c2.rings, 63);
    record(c2, "%d", 5);                              /* order 1, slot 0 */
    record(c2, "%d %d %d %d %d", 6, 6, 6, 6, 6);      /* 2 3 */
    record(c2, "%d %d %d %d %d %d %d %d %d", 7, 7, 7, 7, 7, 7, 7, 7, 7);
    record(c2, "%d", 8);                              /* 7 */
    record(c3, "%d %d %d %d %d", 9, 9, 9, 9, 9);      /* 8 9 */
    commits[1] |= RECORDER_BUSY_;
    commits[5] |= RECORDER_BUSY_;
    recorder_commits_(recorder_for_c3.rings, 255)[0] |= RECORDER_BUSY_;
    cr_assert(recorder_next(&cursor, &event));
    cr_assert_eq(event.order, 1);
    cr_assert_eq(event.missing_arguments, 0xff0, "%#x",
                 event.missing_arguments);
    cr_assert(recorder_next(&cursor, &event));
    cr_assert_eq(event.order, 4);
    cr_assert_eq(event.missing_arguments, 0xf00, "%#x",
                 event.missing_arguments);
    cr_assert(recorder_next(&cursor, &event));
    cr_assert_eq(event.order, 7);
    cr_assert_eq(event.missing_arguments, 0xff0, "%#x",
                 event.missing_arguments);
    cr_assert(!recorder_next(&cursor, &event));
    cr_assert_eq(cursor.missed, 5, "%zu", (size_t)cursor.missed); /* 2 3 6 8 9 */
}

/* Goal: texts of RECORDER_COPY are no events and are not missed. */
Test(cursor, texts_are_not_missed)
{
    unsigned i;
    char text[100];
    for (i = 0; i < 5; i++) {
        sprintf(text, "a text of more than %u bytes, 32 are a record", i);
        record(c2, "%s", RECORDER_COPY(c2, text));
    }
    for (i = 0; i < 5; i++) {
        char is[100], must[100];
        sprintf(must, "a text of more than %u bytes, 32 are a record", i);
        cr_assert(recorder_next(&cursor, &event));
        cr_assert_eq(recorder_event_text(&event, is, sizeof is), strlen(must));
        cr_assert_str_eq(is, must);
    }
    cr_assert(!recorder_next(&cursor, &event));
    cr_assert_eq(cursor.missed, 0);
}

/* --------------------------------------------------------------- cleared -- */

/* Goal: what was cleared is neither shown nor missed, by cursors and by dumps;
 * clearing all leaves nothing; what comes after it is there. Method: the
 * registry's limit is set to each order in turn. */
Test(cursor, cleared_is_not_shown)
{
    struct caught *caught = catcher(1 << 16);
    uintptr_t order, seen;
    recorder_line("{order}");
    for (order = 1; order <= 10; order++)
        record(c1, "%zu", order);
    for (order = 2; order <= 11; order++) {
        recorder_registry.cleared = order;
        memset(&cursor, 0, sizeof cursor);
        for (seen = order; recorder_next(&cursor, &event); seen++)
            cr_assert_eq(event.order, seen);
        cr_assert_eq(seen, 11);
        cr_assert_eq(cursor.missed, 0);
        catch_dump(caught);
        cr_assert_eq(caught->shown, 11 - order, "cleared below %zu: %s",
                     (size_t)order, caught->text);
        if (order == 11)
            cr_assert_not_null(strstr(caught->text, "c1 SIZE 16, 0 ENTRIES, "
                                                    "0 OVERWRITTEN, 0 LOST\n"),
                               "%s", caught->text);
    }
    record(c1, "%d", 11);
    cr_assert(recorder_next(&cursor, &event) && event.order == 11);
    catch_dump(caught);
    cr_assert_str_eq(records_in(caught->text), "11\n");
    /* Clearing between two looks: the cursor holds them already. */
    for (order = 12; order <= 16; order++)
        record(c1, "%zu", order);
    cr_assert(recorder_next(&cursor, &event) && event.order == 12);
    recorder_registry.cleared = *recorder_home_.order;
    cr_assert(!recorder_next(&cursor, &event));
    record(c1, "%d", 17);
    cr_assert(recorder_next(&cursor, &event) && event.order == 17);
    cr_assert_eq(cursor.missed, 0);
}

/* -------------------------------------------------------------- the text -- */

/* Goal: recorder_event_text() gives what the dump shows for the message, and
 * cuts as snprintf() does. Method: all kinds of messages. */
Test(cursor, text_is_that_of_the_dump)
{
    struct caught *caught = catcher(1 << 16);
    static char text[3000], part[3000], long_format[2][1000];
    const char *at;
    char source[2001];
    unsigned i;
    recorder_line("{message}");
    memset(source, 'y', 2000);
    source[2000] = '\0';
    record(c4, "plain");
    record(c4, "%d %s\n", 5, "text\twith\nescapes");
    record(c4, "%d %d %d %d %d %g", 1, 2, 3, 4, 5, 6.5);
    record(c4, "%s", RECORDER_ADDRESS(source));
    for (i = 0; i < 6; i++)
        record(c4, "%s!", RECORDER_COPY(c4, source + 2000 - i * 250));
    record(c4, "%s and %s", RECORDER_COPY(c4, source + 1500),
           RECORDER_COPY(c4, "b"));
    for (i = 0; i < 2; i++) {
        memset(long_format[i], 'f', 990);
        strcpy(long_format[i] + (i ? 500 : 250), "%d");
        recorder_record_few_(&recorder_for_c4, long_format[i], i, 0, 0, 0);
    }
    record(c4, "%s", RECORDER_ADDRESS((const char *)1));
    at = records_in(catch_dump(caught));
    for (i = 0; recorder_next(&cursor, &event); i++) {
        size_t length = recorder_event_text(&event, text, sizeof text), size;
        const char *end = strchr(at, '\n');
        cr_assert_not_null(end);
        cr_assert_eq(length, strlen(text));
        cr_assert(length == (size_t)(end - at) && memcmp(text, at, length) == 0,
                  "event %u: %s\nmust be: %.*s", i, text, (int)(end - at), at);
        at = end + 1;
        for (size = 0; size <= length + 2; size += 1 + length / 7) {
            memset(part, '#', sizeof part);
            cr_assert_eq(recorder_event_text(&event, part, size), length);
            if (size == 0) {
                cr_assert_eq(part[0], '#');
                continue;
            }
            cr_assert_eq(strlen(part), size - 1 < length ? size - 1 : length);
            cr_assert_eq(memcmp(part, text, strlen(part)), 0);
            cr_assert_eq(part[size], '#');
        }
    }
    cr_assert_eq(i, 4 + 6 + 1 + 2 + 1);
    cr_assert_eq(*at, '\0');
}

/* -------------------------------------------------------------- the wrap -- */

/* Goal: orders that wrap are in order all the same, in dumps and for a cursor
 * that reads along, one by one or late; nothing comes twice. Method: the
 * counter starts shortly before its end. */
Test(cursor, orders_may_wrap)
{
    struct caught *caught = catcher(1 << 16);
    static struct recorder_cursor late;
    uint64_t missed = 0;
    unsigned i, n;
    *recorder_home_.order = UINTPTR_MAX - 20;
    recorder_line("{message}");
    for (i = 0; i < 50; i++) {
        record(c2, "%u", i);
        cr_assert(recorder_next(&cursor, &event), "%u", i);
        cr_assert_eq(event.argument[0], i);
        cr_assert_eq(event.order, (uintptr_t)(UINTPTR_MAX - 20 + i));
        if (i == 0)
            missed = cursor.missed;
        cr_assert(!recorder_next(&cursor, &event), "%u: %u again", i,
                  (unsigned)event.argument[0]);
    }
    cr_assert_eq(cursor.missed, missed);
    for (n = 0; recorder_next(&late, &event); n++)
        cr_assert_eq(event.argument[0], n);
    cr_assert_eq(n, 50);
    {
        const char *at = records_in(catch_dump(caught));
        for (i = 0; *at; i++, at = strchr(at, '\n') + 1)
            cr_assert_eq(atoi(at), (int)i);
        cr_assert(i == 50 && caught->shown == 50);
    }
}
