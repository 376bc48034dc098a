/* Whole dumps, as text, wherever they go and whatever fails. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>

/* A clock that stands still, so that all of a line is known beforehand; and a
 * way into the middle of a record. */
#define RECORDER_TIME() ((uintptr_t)0)
static void (*step_hook)(const char *where);
#define RECORDER_STEP_(label)                                                  \
    ((void)(__builtin_expect(step_hook != 0, 0) ? step_hook(#label) : (void)0))
#include "harness/capture.h"
/* What marks a text that may have changed: other systems cannot tell. */
#ifdef RECORDER_LINUX_
#define MARK "~"
#else
#define MARK ""
#endif

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

RECORDER(text, 64, "What most tests record");
RECORDER(other, 64, "And another, to be merged with it");
RECORDER(one, 1, "One slot");
RECORDER(two, 2, "Two slots");
RECORDER(four, 4, "Four slots");
RECORDER(ring_64, 64, "For texts that take half of it");
RECORDER_LANES(lanes, 4, 2, "Two lanes");
RECORDER(big, 1, "As many slots as a test wants");
enum { RECORDERS = 8 };

#define PLAIN "{order} {recorder}: {message}"

static struct caught *caught;
/* Gives a recorder of one lane another size, and returns the ring's bytes. */
static size_t resize(struct recorder *r, uintptr_t slots)
{
    r->mask = slots - 1;
    return r->ring_bytes = sizeof *r->rings +
                           slots * RECORDER_SLOT_WORDS_ * sizeof(uintptr_t);
}
static void begin(void)
{
    caught = catcher((size_t)4 << 20);
    cr_assert(recorder_line(PLAIN));
    resize(&recorder_for_one, 1); /* no macro makes fewer than 4 slots */
    resize(&recorder_for_two, 2);
}
TestSuite(dump, .init = begin, .timeout = 240);

/* ------------------------------------------------------------ the text -- */

/* Goal: a dump reads as documented, to the last byte. Method: the clock is
 * still; only date and process in the first line are taken as they come. */
Test(dump, reads_as_documented)
{
    const char *program = recorder_registry.program;
    char must[2000], head[200], format[200];
    int year, month, day, hour, minute, second, us, pid, count, end = 0, line;
    const char *is;
    cr_assert(recorder_line(NULL));
    record(text, "%d bytes from %s", 42, "peer"), line = __LINE__;
    record(lanes, "in lane %d", 1);
    record(text, "done\n");
    is = catch_dump(caught);
#ifdef RECORDER_LINUX_
    memset(head, 0, sizeof head);
    cr_assert_gt(readlink("/proc/self/exe", head, sizeof head - 1), 0);
    cr_assert_str_eq(program, strrchr(head, '/') + 1);
#endif
    sprintf(format,
            "FLIGHT RECORDER DUMP AT %%4d-%%2d-%%2d %%2d:%%2d:%%2d.%%6d UTC, "
            "%s%s%sPID %%d, %%d RECORDS%%n",
            program ? "PROGRAM " : "", program ? program : "",
            program ? ", " : "");
    sscanf(is, format, &year, &month, &day, &hour, &minute, &second, &us, &pid,
           &count, &end);
    cr_assert(end > 0 && is[end] == '\n', "%s", is);
    cr_assert(year >= 2024 && pid == getpid() && count == 3, "%s", is);
    memcpy(head, is, (size_t)end);
    head[end] = '\0';
    sprintf(must,
            "%s\n"
            "DUMPING text SIZE 64, 2 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
            "DUMPING other SIZE 64, 0 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
            "DUMPING one SIZE 1, 0 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
            "DUMPING two SIZE 2, 0 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
            "DUMPING four SIZE 4, 0 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
            "DUMPING ring_64 SIZE 64, 0 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
            "DUMPING lanes SIZE 2 x 4, 1 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
            "DUMPING big SIZE 4, 0 ENTRIES, 0 OVERWRITTEN, 0 LOST\n"
            "1 [0.000000000 dump.c:%d T1] text: 42 bytes from peer\n"
            "2 [0.000000000 dump.c:%d T1] lanes: in lane 1\n"
            "3 [0.000000000 dump.c:%d T1] text: done\n",
            head, line, line + 1, line + 2);
    cr_assert_str_eq(is, must, "\nis:\n%smust be:\n%s", is, must);
    cr_assert_eq(caught->shown, 3);
}

/* Goal: a recorder's line says what was overwritten and what was lost. Method:
 * a flood; then a ring whose only slot a stopped writer holds. */
Test(dump, says_what_is_missing)
{
    const char *is;
    int i;
    for (i = 0; i < 10; i++)
        record(four, "%d", i);
    record(one, "kept");
    *recorder_commits_(recorder_for_one.rings, 0) |= RECORDER_BUSY_;
    record(one, "lost");
    record(one, "lost, too");
    is = catch_dump(caught);
    cr_assert_not_null(
        strstr(is,
               "\nDUMPING four SIZE 4, 4 ENTRIES, 6 OVERWRITTEN, 0 LOST\n"),
        "%s", is);
    cr_assert_not_null(strstr(is, "\nDUMPING one SIZE 1, 0 ENTRIES, "), "%s",
                       is);
    cr_assert_not_null(strstr(is, ", 2 LOST\n"), "%s", is);
    DUMP_MUST_BE("7 four: 6\n8 four: 7\n9 four: 8\n10 four: 9\n");
}

/* Goal: a number of overwritten records is marked where some of them may have taken
 * several slots, though none of the kept ones does. */
Test(dump, marks_what_may_have_taken_several)
{
    char copied[] = "abc";
    int i;
    for (i = 0; i < 10; i++)
        record(four, "%s", copied);
    for (i = 0; i < 4; i++)
        record(four, "%d", i);
    catch_dump(caught);
    cr_assert_not_null(strstr(caught->text, "\nDUMPING four SIZE 4, 4 ENTRIES, "
                                            "~20 OVERWRITTEN, 0 LOST\n"),
                       "%s", caught->text);
}

/* Goal: a recorder whose mask was overwritten shows none of its records, as their
 * commit words are elsewhere; those of others are shown. Method: each other mask
 * that a ring may have. */
Test(dump, overwritten_mask)
{
    uintptr_t mask;
    const char *is;
    int i;
    for (i = 0; i < 64; i++)
        record(text, "%d%d", 55, 44);
    record(other, "shown");
    for (mask = 0; mask < 1023; mask = 2 * mask + 1) {
        recorder_for_text.mask = mask;
        is = catch_dump(caught);
        cr_assert((strstr(is, " text: 5544\n") != NULL) == (mask == 63),
                  "mask %d: %s", (int)mask, is);
        cr_assert_not_null(strstr(is, " other: shown\n"), "%s", is);
    }
    recorder_for_text.mask = 63;
}

/* Goal: a recorder's line counts records, not slots, and marks what it can only
 * estimate. Method: records of 3 slots; then texts of 2 and a record with each,
 * some of them overwritten. */
Test(dump, counts_records)
{
    struct recorder_batch_ batch = {0};
    struct recorder_summary_ summary;
    char copied[] = "a text that needs two records, surely";
    const char *is;
    int i;
    for (i = 0; i < 4; i++)
        record(text, "%d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    is = catch_dump(caught);
    cr_assert_not_null(strstr(is, "DUMPING text SIZE 64, 4 ENTRIES IN 12 SLOTS, 0 "
                                  "OVERWRITTEN, 0 LOST\n"),
                       "%s", is);
    cr_assert_not_null(strstr(is, ", 4 RECORDS\n"), "%s", is);
    for (i = 0; i < 40; i++)
        record(other, "%s", RECORDER_COPY(other, copied));
    is = catch_dump(caught);
    cr_assert_not_null(strstr(is, sizeof(void *) == 8
                                      ? "DUMPING other SIZE 64, 22 ENTRIES IN "
                                        "64 SLOTS, ~"
                                      : "DUMPING other SIZE 64, 16 ENTRIES IN "
                                        "64 SLOTS, ~"),
                       "%s", is);
    batch.end = *recorder_home_.order;
    recorder_summarize_(&batch, &recorder_for_other, &summary);
    cr_assert_eq(summary.figures.slots_kept, 64);
    cr_assert_eq(summary.figures.slots_kept + summary.figures.slots_overwritten,
                 sizeof(void *) == 8 ? 120 : 160);
    cr_assert(summary.figures.kept + summary.figures.overwritten >= 38 &&
              summary.figures.kept + summary.figures.overwritten <= 42);
}

/* Goal: every number of arguments, from none to 12, is shown. */
Test(dump, shows_0_to_12_arguments)
{
    record(text, "0");
    record(text, "1 %d", 1);
    record(text, "2 %d %d", 1, 2);
    record(text, "3 %d %d %d", 1, 2, 3);
    record(text, "4 %d %d %d %d", 1, 2, 3, 4);
    record(text, "5 %d %d %d %d %d", 1, 2, 3, 4, 5);
    record(text, "6 %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6);
    record(text, "7 %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7);
    record(text, "8 %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8);
    record(text, "9 %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    record(text, "10 %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9,
           10);
    record(text, "11 %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8,
           9, 10, 11);
    record(text, "12 %d %d %d %d %d %d %d %d %d %d %s %g", 1, 2, 3, 4, 5, 6, 7,
           8, 9, 10, "eleven", 12.5);
    DUMP_MUST_BE("1 text: 0\n"
                 "2 text: 1 1\n"
                 "3 text: 2 1 2\n"
                 "4 text: 3 1 2 3\n"
                 "5 text: 4 1 2 3 4\n"
                 "6 text: 5 1 2 3 4 5\n"
                 "8 text: 6 1 2 3 4 5 6\n"
                 "10 text: 7 1 2 3 4 5 6 7\n"
                 "12 text: 8 1 2 3 4 5 6 7 8\n"
                 "14 text: 9 1 2 3 4 5 6 7 8 9\n"
                 "17 text: 10 1 2 3 4 5 6 7 8 9 10\n"
                 "20 text: 11 1 2 3 4 5 6 7 8 9 10 11\n"
                 "23 text: 12 1 2 3 4 5 6 7 8 9 10 eleven 12.5\n");
}

/* ------------------------------------------------------ what may change -- */

/* Goal: a text that may be another than the one recorded is shown after a ~,
 * one that cannot have changed is not. Method: strings in each kind of memory;
 * then one buffer of which three records were made; with scratch memory, and
 * without. */
Test(dump, marks_what_may_have_changed, .disabled = sizeof MARK == 1)
{
    static char data[8] = "data";
    static const char constant[] = "constant";
    long page = sysconf(_SC_PAGESIZE);
    char stack[8] = "stack", *at = stack, *heap = strdup("heap"), *map;
    const char *names[] = {"alice", "bob", "eve"};
    char must[1000];
    int status;
    size_t i;
    map = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(map != MAP_FAILED && heap);
    strcpy(map, "map");
    cr_assert_eq(mprotect(map, (size_t)page, PROT_READ), 0);
#define AT RECORDER_ADDRESS(at)
    record(text, "%s %s %s", "literal", &constant[0],
           RECORDER_ADDRESS(gnu_get_libc_version()));
    record(text, "%s %s %s %s", RECORDER_ADDRESS(&data[0]), AT,
           RECORDER_ADDRESS(heap), RECORDER_ADDRESS(map));
    record(text, "%6s|%-7s|%.2s|%.0s|%s", AT, AT, AT, AT,
           RECORDER_ADDRESS(at + 5));
    record(text, "%s %s %s", (char *)NULL, RECORDER_ADDRESS((char *)1),
           RECORDER_COPY(text, at));
    for (i = 0; i < COUNT(names); i++)
        record(other, "login %s", RECORDER_ADDRESS(strcpy(at, names[i])));
    strcpy(at, "stack");
    sprintf(must,
            "1 text: literal constant %s\n"
            "2 text: " MARK "data " MARK "stack " MARK "heap " MARK "map\n"
            "3 text: " MARK "stack|" MARK "stack |" MARK "st||" MARK "\n"
            "6 text: (null) 0x1 stack\n"
            "7 other: login " MARK "stack\n"
            "8 other: login " MARK "stack\n"
            "9 other: login " MARK "stack\n",
            gnu_get_libc_version());
    DUMP_MUST_BE(must);
    IN_CHILD(status, 60, {
        REFUSE(CAPTURE_MMAP, ENOMEM);
        catch_dump(caught);
    });
    if (!WIFEXITED(status) || WEXITSTATUS(status) != NOT_REFUSED)
        cr_assert_str_eq(records_in(caught->text), must, "%s", caught->text);
    munmap(map, (size_t)page);
    free(heap);
}

/* ----------------------------------------------------- what is not there -- */

/* Takes the record of an order away, as a writer does that is about to write
 * another in its place. */
static void take_away(const struct recorder *recorder, uintptr_t order)
{
    uintptr_t slot;
    for (slot = 0; slot <= recorder->mask; slot++)
        if (recorder_records_(recorder->rings)[slot].order == order)
            recorder_commits_(recorder->rings, recorder->mask)[slot] |=
                RECORDER_BUSY_;
}

/* Goal: arguments that were overwritten are said to be lost, never guessed, and
 * a continuation without its head is not shown. Method: each part is taken away
 * in turn; then rings of one and two slots, where a head goes first. */
Test(dump, lost_arguments_are_not_guessed)
{
#define TWELVE(recorder)                                                       \
    record(recorder, "%d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6,  \
           7, 8, 9, 10, 11, 12)
    uintptr_t order[4];
    int i;
    for (i = 0; i < 4; i++) {
        order[i] = TWELVE(text);
        record(other, "between");
    }
    take_away(&recorder_for_text, order[0] + 1);
    take_away(&recorder_for_text, order[1] + 2);
    take_away(&recorder_for_text, order[2] + 1);
    take_away(&recorder_for_text, order[2] + 2);
    take_away(&recorder_for_text, order[3]);
    TWELVE(one);
    TWELVE(two);
    DUMP_MUST_BE(
        "1 text: 1 2 3 4 <lost> <lost> <lost> <lost> 9 10 11 12\n"
        "4 other: between\n"
        "5 text: 1 2 3 4 5 6 7 8 <lost> <lost> <lost> <lost>\n"
        "8 other: between\n"
        "9 text: 1 2 3 4 <lost> <lost> <lost> <lost> <lost> <lost> <lost> "
        "<lost>\n"
        "12 other: between\n"
        "16 other: between\n");
}

/* -------------------------------------------------------- RECORDER_COPY -- */

enum { BYTES = RECORDER_TEXT_BYTES_ }; /* that a record holds of a text */
/* `size` bytes of letters, never the same for two sizes. */
static const char *letters(size_t size)
{
    char *s = malloc(size + 1);
    size_t i;
    cr_assert_not_null(s);
    for (i = 0; i < size; i++)
        s[i] = (char)('a' + (i * 7 + size) % 26);
    s[size] = '\0';
    return s;
}

/* Goal: a copied text is shown as it was, up to RECORDER_COPY_MAX bytes, and
 * what is longer is marked. Method: sizes on both sides of each limit; the
 * source is overwritten before the dump. Half of the ring is as much of it as a
 * text gets: on 32-bit machines that is less. */
Test(dump, copies_are_shown_whole)
{
    static const size_t sizes[] = {0,  1,  31,   32,   33,   63,
                                   64, 65, 1023, 1024, 1025, 5000};
    size_t i;
    for (i = 0; i < COUNT(sizes); i++) {
        char buffer[5001], must[2000];
        const char *from = letters(sizes[i]);
        uintptr_t order;
        memcpy(buffer, from, sizes[i] + 1);
        order = record(ring_64, "<%s>", RECORDER_COPY(ring_64, buffer));
        memset(buffer, '!', sizes[i]);
        sprintf(must, "%zu ring_64: <%.*s%s>\n", (size_t)order, 32 * BYTES,
                from, sizes[i] > 32 * BYTES ? "..." : "");
        cr_assert_not_null(strstr(catch_dump(caught), must), "%zu bytes: %s",
                           sizes[i], caught->text);
    }
}

/* Goal: bytes are kept and shown whole, NULs too; a precision cuts them; an
 * array ends at its NUL. Method: each size, NULs at each third place. */
Test(dump, bytes_with_zeros)
{
    static char bytes[RECORDER_COPY_MAX + 2];
    static char must[8 * COUNT(bytes)];
    const size_t room = 32 * BYTES; /* half of the ring, no more than is kept */
    const size_t most = room < RECORDER_COPY_MAX ? room : RECORDER_COPY_MAX;
    cr_assert(recorder_line("{message}"));
    for (size_t size = 0; size < COUNT(bytes); size += 1 + size / 40) {
        char array[8] = "ab\0cd";
        char *to = must;
        const char *is;
        for (size_t i = 0; i < size; i++)
            bytes[i] = i % 3 == 2 ? '\0' : 'x';
        record(text, "[%s] [%.2s] %s %d",
               RECORDER_COPY_BYTES(text, bytes, size),
               RECORDER_COPY_BYTES(text, "\0\0\0", 3), array, 5);
        *to++ = '[';
        for (size_t i = 0; i < size && i < most; i++)
            to = stpcpy(to, i % 3 == 2 ? "\\x00" : "x");
        strcpy(to, size > most ? "...] [\\x00\\x00] ab 5\n"
                               : "] [\\x00\\x00] ab 5\n");
        is = records_in(catch_dump(caught));
        cr_assert(strlen(is) >= strlen(must));
        cr_assert_str_eq(is + strlen(is) - strlen(must), must);
    }
}

/* Goal: an array of char that is no constant is copied; each argument is
 * evaluated once, a recorder that is off copies nothing, and no byte after the
 * array is read. Method: arrays of each kind, overwritten before the dump. */
struct user {
    char tag[4], name[8];
    const char *alias;
    char flexible[];
};
static unsigned asked;
static const struct user *ask(const struct user *user)
{
    asked++;
    return user;
}
Test(dump, arrays_are_copied)
{
#ifdef RECORDER_LINUX_
    const bool copies_no_constants = true;
#else
    const bool copies_no_constants = false;
#endif
    char must[200];
    static const char *const names[] = {"alice", "bob", "eve"};
    static const char constants[2][4] = {"one", "two"};
    struct user *user = calloc(1, sizeof *user + 8);
    char buffer[8], variable[asked + 8], *at = buffer;
    uintptr_t orders;
    size_t i;
    memcpy(user->tag, "four", 4);
    user->alias = "alias";
    strcpy(user->flexible, "end");
    strcpy(variable, "vla");
    for (i = 0; i < COUNT(names); i++) {
        strcpy(buffer, names[i]);
        strcpy(user->name, names[i]);
        record(text, "login %s, %s", buffer, ask(user)->name);
    }
    record(text, "%s %s %.4s", "literal", __func__, user->tag);
    record(text, "%s %s %s %s", at, user->flexible, variable, constants[1]);
    record(text, "%s", RECORDER_COPY_BYTES(text, user->tag, 3));
    record(text, "%s", user->alias);
    orders = recorder_order;
    RECORDER_TRACE(text) = -1;
    record(text, "%s", buffer);
    RECORDER_TRACE(text) = 0;
    cr_assert_eq(recorder_order, orders);
    cr_assert_eq(asked, 3);
    strcpy(buffer, "xxx");
    memset(user, 'x', sizeof *user - sizeof user->alias);
    strcpy(variable, "xxx");
    snprintf(must, sizeof must,
             "3 text: login alice, alice\n6 text: login bob, bob\n"
             "9 text: login eve, eve\n11 text: literal %s four\n%s",
             __func__, /* which the harness chooses */
             copies_no_constants /* of the module, on Linux */
                 ? "15 text: eve end vla two\n17 text: fou\n18 text: alias\n"
                 : "16 text: eve end vla two\n18 text: fou\n20 text: alias\n");
    DUMP_MUST_BE(must);
    free(user);
}

/* Goal: null stays null, and two texts in a record stay apart. */
Test(dump, copies_side_by_side)
{
    const char *null = NULL;
    record(text, "%s", RECORDER_COPY(text, null));
    record(text, "%s, %s", RECORDER_COPY(text, "this"),
           RECORDER_COPY(text, "and that"));
    record(text, "%.5s|%3s|%-4s|%.0s|%s", RECORDER_COPY(text, "shortened"),
           RECORDER_COPY(text, "x"), RECORDER_COPY(text, "y"),
           RECORDER_COPY(text, "gone"), "end");
    DUMP_MUST_BE("1 text: (null)\n4 text: this, and that\n"
                 "9 text: short|  x|y   ||end\n");
}

/* Goal: a text that does not fit beside its record is cut or lost, and says so.
 * Method: rings of 1, 2 and 4 slots. */
Test(dump, copies_in_tiny_rings)
{
    record(one, "%s", RECORDER_COPY(one, "alone"));
    record(two, "%s", RECORDER_COPY(two, "fits"));
    record(four, "%s", RECORDER_COPY(four, letters(2 * BYTES + 1)));
    {
        char must[400];
        sprintf(must, "2 one: <lost>\n4 two: fits\n7 four: %.*s...\n",
                2 * BYTES, letters(2 * BYTES + 1));
        DUMP_MUST_BE(must);
    }
    record(two, "%s", RECORDER_COPY(two, letters(BYTES + 1)));
    {
        char must[400];
        sprintf(must, "2 one: <lost>\n7 four: %.*s...\n9 two: %.*s...\n",
                2 * BYTES, letters(2 * BYTES + 1), BYTES, letters(BYTES + 1));
        DUMP_MUST_BE(must);
    }
}

/* Goal: of a text that was overwritten in part, the begin that is left is
 * shown, and <lost>, whole after a precision; all gone, it is <lost>. Method: its records are taken away
 * one by one, then overwritten by others. */
Test(dump, copies_overwritten)
{
    const char *from = letters(3 * BYTES + 4); /* 4 records, the last first */
    char must[400];
    int i;
    uintptr_t order = record(text, "%s", RECORDER_COPY(text, from));
    take_away(&recorder_for_text, order - 1);
    sprintf(must, "5 text: %.*s<lost>\n", 3 * BYTES, from);
    DUMP_MUST_BE(must);
    take_away(&recorder_for_text, order - 3);
    sprintf(must, "5 text: %.*s<lost>\n", BYTES, from);
    DUMP_MUST_BE(must);
    take_away(&recorder_for_text, order - 4);
    DUMP_MUST_BE("5 text: <lost>\n");
    /* Now by records: the ring of 4 holds a text of 2 and its head. */
    record(four, "%s", RECORDER_COPY(four, letters(2 * BYTES)));
    record(four, "over nothing");
    sprintf(must, "5 text: <lost>\n8 four: %s\n9 four: over nothing\n",
            letters(2 * BYTES));
    DUMP_MUST_BE(must);
    record(four, "over its end");
    sprintf(must,
            "5 text: <lost>\n8 four: %.*s<lost>\n9 four: over nothing\n"
            "10 four: over its end\n",
            BYTES, letters(2 * BYTES));
    DUMP_MUST_BE(must);
    record(four, "over its begin");
    DUMP_MUST_BE("5 text: <lost>\n8 four: <lost>\n9 four: over nothing\n"
                 "10 four: over its end\n11 four: over its begin\n");
    for (i = 0; i < 3; i++)
        record(four, "gone");
    DUMP_MUST_BE("5 text: <lost>\n11 four: over its begin\n12 four: gone\n"
                 "13 four: gone\n14 four: gone\n");
    order = record(text, "%.*s", BYTES + 2, RECORDER_COPY(text, from));
    take_away(&recorder_for_text, order - 3);
    sprintf(must, "%zu text: %.*s<lost>\n", (size_t)order, BYTES, from);
    cr_assert_not_null(strstr(catch_dump(caught), must), "%s", caught->text);
}

static void *flood_with_texts(void *unused)
{
    int i;
    (void)unused;
    for (i = 0; i < 64; i++)
        RECORDER_COPY(ring_64, "theirs");
    return NULL;
}
/* Goal: no text is shown as another's. Method: between a copy and its record,
 * another thread fills the ring with texts; the one that takes the place has
 * the same low bits of its order, all that a token holds. */
Test(dump, copies_are_not_mixed_up)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    const char *mine = RECORDER_COPY(ring_64, "mine");
    pthread_t thread;
    char is[20];
    cr_assert(pthread_create(&thread, NULL, flood_with_texts, NULL) == 0);
    pthread_join(thread, NULL);
    record(ring_64, "%s", mine);
    DUMP_MUST_BE("66 ring_64: <lost>\n");
    /* And where it is looked for in the ring, not in a batch: */
    cr_assert(recorder_next(&cursor, &event));
    recorder_event_text(&event, is, sizeof is);
    cr_assert_str_eq(is, "<lost>");
}

/* ---------------------------------------------------------- bad pointers -- */

/* Two pages; the second is not there. */
static char *last_page(void)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(page != MAP_FAILED);
    mprotect(page + 4096, 4096, PROT_NONE); /* nothing else comes there */
    return page;
}

/* Goal: a bad pointer prints as an address and harms nobody. */
Test(dump, bad_pointers_harm_nobody)
{
    char *page = last_page(), must[1000];
    const char *null = NULL, *low = (const char *)1, *gone = page + 4096;
    const char *kernel = (const char *)(UINTPTR_MAX / 2 + 1);
    const char *top = (const char *)UINTPTR_MAX, *open = page + 4091;
    memset(page, 'x', 4096);
    record(text, "%s %s %s", null, RECORDER_ADDRESS(low),
           RECORDER_ADDRESS(gone));
    record(text, "%s %s", RECORDER_ADDRESS(kernel), RECORDER_ADDRESS(top));
    record(text, "%s %.3s %.5s", RECORDER_ADDRESS(open), RECORDER_ADDRESS(open),
           RECORDER_ADDRESS(open));
    sprintf(must,
            "1 text: (null) 0x1 %p\n2 text: %p %p\n"
            "3 text: " MARK "xxxxx... " MARK "xxx " MARK "xxxxx\n",
            (const void *)gone, (const void *)kernel, (const void *)top);
    DUMP_MUST_BE(must);
}

/* Goal: a format whose library is gone prints as its address, with the words
 * that stand there. */
Test(dump, lost_formats_are_addresses)
{
    char *page = last_page(), must[200];
    recorder_record_few_(&recorder_for_text, page + 4096, 1, 2, 3, 255);
    strcpy(page + 4090, "%d %d");
    recorder_record_few_(&recorder_for_text, page + 4090, 1, 2, 3, 4);
    cr_assert(recorder_line("{order} {location}: {message}"));
    sprintf(must, "1 ?: <format at 0x%zx> 0x1 0x2 0x3 0xff\n2 ?: 1 2\n",
            (size_t)(page + 4096));
    DUMP_MUST_BE(must);
}

/* A format and its place, across the end of a page and as long as wanted. */
static const char *format_across(size_t length)
{
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = pages + 4096 - length / 2;
    cr_assert(pages != MAP_FAILED);
    memset(at, 'f', length);
    memcpy(at + length - 2, "%d\0dir/far.c:99", 16);
    return at;
}
/* Goal: long formats are shown whole, with their place, up to the limit. */
Test(dump, formats_are_shown_whole)
{
    static const size_t lengths[] = {4, 100, 231, 232, 233, 300, 900, 1000};
    size_t i;
    cr_assert(recorder_line("{order} {location}: {message}"));
    for (i = 0; i < COUNT(lengths); i++) {
        char must[2000];
        const char *format = format_across(lengths[i]);
        recorder_record_few_(&recorder_for_one, format, 7, 0, 0, 0);
        sprintf(must, "%zu far.c:99: %.*s7\n", i + 1, (int)lengths[i] - 2,
                format);
        DUMP_MUST_BE(must);
    }
}

/* ----------------------------------------------------- one line a record -- */

/* Goal: nothing that is recorded breaks a line: not a text, not a format, not
 * the name of a thread. */
Test(dump, lines_are_not_broken)
{
    const char *is;
    recorder_thread_name("a\nb\033[1mc");
    record(text, "%s", "two\nlines\r\n");
    record(text, "two\nlines\tand\033[31m red\n\n");
    record(text, "%s", RECORDER_COPY(text, "\033]0;title\007"));
    record(text, "%c%c", '\n', '\033');
    DUMP_MUST_BE("1 text: two\\nlines\\r\\n\n"
                 "2 text: two\\nlines\\tand\\x1b[31m red\\n\n"
                 "4 text: \\x1b]0;title\\x07\n"
                 "5 text: \\n\\x1b\n");
    cr_assert(recorder_line("{order} {name}|"));
    is = records_in(catch_dump(caught));
    cr_assert_eq(lines_in(is), caught->shown, "%s", is);
    cr_assert_null(strchr(is, '\033'), "%s", is);
}

/* Goal: what is longer than RECORDER_TEXT_LINE_MAX_ is one line, and marked as
 * cut; what just fits is not. Method: all lengths around the limit. */
Test(dump, long_lines_are_marked_as_cut)
{
    static char source[RECORDER_TEXT_LINE_MAX_ + 100];
    size_t prefix = strlen("1 one: " MARK), length, last;
    unsigned order = 0;
    for (length = RECORDER_TEXT_LINE_MAX_ - prefix - 12;
         length < RECORDER_TEXT_LINE_MAX_ + 20; length++) {
        const char *is;
        bool cut;
        memset(source, 'x', length);
        source[length] = '\0';
        record(one, "%s", RECORDER_ADDRESS(&source[0]));
        order++;
        cr_assert(recorder_line("1 {recorder}: {message}"));
        is = records_in(catch_dump(caught));
        last = strlen(is) - 1;
        cr_assert(is[last] == '\n' && caught->shown == 1);
        cr_assert_eq(lines_in(is), 1);
        cut = last < prefix + length;
        cr_assert_leq(last + 1, RECORDER_TEXT_LINE_MAX_);
        cr_assert_eq(cut, prefix + length > RECORDER_TEXT_LINE_MAX_ - 1,
                     "%zu bytes of %zu", last, prefix + length);
        cr_assert_eq(strcmp(is + last - 8, "...[cut]\n") == 0, cut, "%zu",
                     length);
    }
    record(one, "%100000d", 1);
    cr_assert_eq(lines_in(records_in(catch_dump(caught))), 1);
    /* A line that does not show the message is not cut with it. */
    cr_assert(recorder_line("{recorder}"));
    DUMP_MUST_BE("one\n");
}

/* -------------------------------------------------------------- repeated -- */

static void record_all_kinds(unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++) {
        record(text, "%u %s", i, "text");
        record(other, "%u %u %u %u %u %u %u %u %u %u %u %g", i, i, i, i, i, i,
               i, i, i, i, i, i / 7.0);
        record(ring_64, "%s and %s", RECORDER_COPY(ring_64, letters(i)),
               RECORDER_COPY(ring_64, "a copy"));
        record(four, "%u %p", i, (void *)caught);
        record(one, "%u", i);
    }
}

/* Goal: nothing is removed by reading. */
Test(dump, removes_nothing)
{
    char *first;
    record_all_kinds(50);
    first = strdup(records_in(catch_dump(caught)));
    cr_assert_gt(lines_in(first), 60);
    cr_assert_str_eq(first, records_in(catch_dump(caught)));
}

static void *dump_again(void *to)
{
    catch_dump(to);
    return NULL;
}
/* Goal: dumps at once are all complete. */
Test(dump, two_at_once_are_complete)
{
    char *alone;
    unsigned i, n = scaled(300);
    struct caught *another = catcher((size_t)1 << 20);
    record_all_kinds(50);
    alone = strdup(records_in(catch_dump(caught)));
    for (i = 0; i < n; i++) {
        pthread_t thread;
        cr_assert(pthread_create(&thread, NULL, dump_again, another) == 0);
        cr_assert_str_eq(records_in(catch_dump(caught)), alone);
        pthread_join(thread, NULL);
        cr_assert_str_eq(records_in(another->text), alone);
        cr_assert_eq(another->shown, lines_in(alone));
    }
}

/* ------------------------------------------------------- while recording -- */

static int stop;
static void *record_on(void *of)
{
    unsigned thread = (unsigned)(uintptr_t)of, i;
    for (i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        char copy[40];
        record(text, "%u.%u 1 %u", thread, i, thread + i);
        record(other, "%u.%u 2 %u %u %u %u %u %u %u", thread, i, i, i, i, i, i,
               i, thread + i);
        sprintf(copy, "%u.%u 3 %u", thread, i, thread + i);
        record(ring_64, "%s", RECORDER_COPY(ring_64, copy));
        record(lanes, "%u.%u 4 %u", thread, i, thread + i);
    }
    return NULL;
}

/* Takes a line of record_on() apart: is it whole? */
static bool line_is_whole(const char *line)
{
    unsigned thread, i, kind, sum, same[6], j;
    const char *colon = strchr(line, ':');
    if (!colon)
        return false;
    if (strcmp(colon, ": <lost>") == 0)
        return true; /* a text that was overwritten meanwhile */
    if (sscanf(colon, ": %u.%u %u %u", &thread, &i, &kind, &sum) != 4)
        return false;
    if (kind != 2)
        return sum == thread + i;
    if (strstr(line, "<lost>"))
        return true;
    if (sscanf(colon, ": %*u.%*u 2 %u %u %u %u %u %u %u", &same[0], &same[1],
               &same[2], &same[3], &same[4], &same[5], &sum) != 7)
        return false;
    for (j = 0; j < 6; j++)
        if (same[j] != i)
            return false;
    return sum == thread + i;
}

/* Goal: a dump of many recorders is strictly ascending, each record whole, none
 * younger than the dump's start, and it ends, while 4 threads record. */
Test(dump, ascends_while_others_record)
{
    pthread_t threads[4];
    size_t i;
    unsigned n, dumps = 0;
    uintptr_t all = 0;
    double until = seconds_now() + 2 * (scaled(100) / 100.0);
    for (i = 0; i < COUNT(threads); i++)
        cr_assert(pthread_create(&threads[i], NULL, record_on, (void *)i) == 0);
    for (; seconds_now() < until || all < 1000; dumps++) {
        uintptr_t order, last = 0, end;
        char *line, *next;
        catch_dump(caught);
        end = __atomic_load_n(recorder_home_.order, __ATOMIC_RELAXED);
        line = caught->text + (records_in(caught->text) - caught->text);
        for (n = 0; *line; line = next, n++) {
            next = strchr(line, '\n');
            cr_assert_not_null(next);
            *next++ = '\0';
            order = strtoull(line, NULL, 10);
            cr_assert(order > last && order < end, "%s, after %zu", line,
                      (size_t)last);
            last = order;
            cr_assert(line_is_whole(line), "%s", line);
        }
        cr_assert_eq(n, caught->shown);
        all += n;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    fprintf(stderr, "ascends_while_others_record: %u dumps, %zu records\n",
            dumps, (size_t)all);
}

/* ------------------------------------------------------- inside a record -- */

static const char *step_at;
static unsigned step_count, step_skip;
static void dump_here(int sig)
{
    void (*hook)(const char *) = step_hook;
    (void)sig;
    step_hook = NULL;
    catch_dump(caught);
    step_hook = hook;
}
static void at_step(const char *where)
{
    if (strcmp(where, step_at) != 0 || step_count++ != step_skip)
        return;
    raise(SIGUSR2);
}

/* Goal: a signal in the middle of a record may dump; all is there but the one
 * slot. Method: a signal at each step of a record, on each slot of a full ring;
 * the handler dumps. */
Test(dump, inside_of_a_record)
{
    static const char *const steps[] = {"W1", "W2", "W3",     "W4",
                                        "W5", "W6", "W6_end", "W7"};
    size_t i;
    unsigned slot;
    signal(SIGUSR2, dump_here);
    for (slot = 0; slot < 4; slot++)
        record(four, "%u", slot);
    for (i = 0; i < COUNT(steps); i++)
        for (slot = 0; slot < 4; slot++) {
            /* The orders before: from - 4 .. from - 1; W7: the new one, too. */
            uintptr_t from = *recorder_home_.order, order, missing = 0;
            const char *is;
            step_at = steps[i];
            step_count = step_skip = 0;
            caught->size = 0;
            step_hook = at_step;
            record(four, "%u", slot);
            step_hook = NULL;
            is = records_in(caught->text);
            for (order = from - 4; order < from; order++) {
                char line[64];
                sprintf(line, "%zu four: ", (size_t)order);
                missing += strstr(is, line) == NULL;
            }
            cr_assert_eq(missing, i < 3 ? 0 : 1, "%s: %s", steps[i], is);
            cr_assert_eq(caught->shown, i < 3 || i == 7 ? 4 : 3, "%s: %s",
                         steps[i], is);
        }
}

/* ----------------------------------------------------------- the handler -- */

static char *handler_at;
static int handler_fd;
__attribute__((noinline)) static void dump_on_stack(int sig)
{
    char here;
    (void)sig;
    handler_at = &here;
    recorder_dump_fd(handler_fd);
}

/* Gives this thread a signal stack above a page that faults, painted. */
static stack_t painted_stack(size_t bytes)
{
    struct sigaction action = {.sa_handler = dump_on_stack,
                               .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_size = bytes};
    char *low = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (low == MAP_FAILED || mprotect(low, 4096, PROT_NONE) != 0)
        _exit(98);
    stack.ss_sp = memset(low + 4096, 0xa5, bytes);
    if (sigaltstack(&stack, NULL) != 0)
        _exit(97);
    sigaction(SIGUSR2, &action, NULL);
    return stack;
}

/* What is deepest on the stack: floats, texts, 12 arguments. */
static void record_deep(void)
{
    record(text, "%.60f %s", sizeof(void *) == 8 ? 1e300 : 1e38, letters(2000));
    record(text, "%s %p %-20d|", RECORDER_COPY(text, letters(700)),
           (void *)caught, 5);
    record(text, "%d %d %d %d %d %d %d %d %d %d %s %a", 1, 2, 3, 4, 5, 6, 7, 8,
           9, 10, "s", 0.1);
}

/* Goal: a dump in a handler fits a signal stack of 8 KiB, and needs what is
 * promised. Method: it runs on a painted stack, large, then of 8 KiB, with and
 * without mmap(). What the loader takes to bind a function at its first call is
 * not the dump's: without mmap(), where it is tight, all are bound before.
 * Sanitizers take stack of their own: there it is measured only. */
Test(dump, fits_a_signal_stack_of_8_KiB)
{
    static const size_t sizes[] = {65536, 8192};
    struct measured {
        size_t used, frame;
    } *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    unsigned i;
    record_deep();
    for (i = 0; i < 4; i++) {
        bool unmapped = i % 2;
        char *dumped;
        int status;
        if (sizes[i / 2] < 65536 &&
            (instrumented() || (unmapped && m->frame > 8192 - 6 * 1024)))
            continue; /* no room for what is promised */
        handler_fd = memfd_create("dumped", 0);
        IN_CHILD(status, 60, {
            stack_t stack = painted_stack(sizes[i / 2]);
            const unsigned char *low = stack.ss_sp;
            size_t unused = 0;
            if (unmapped)
                recorder_dump_fd(-1);
            if (unmapped)
                REFUSE(CAPTURE_MMAP, ENOMEM);
            raise(SIGUSR2);
            while (low[unused] == 0xa5)
                unused++;
            m->used = stack.ss_size - unused;
            m->frame =
                (size_t)((char *)stack.ss_sp + stack.ss_size - handler_at);
        });
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_REFUSED)
            cr_skip_test("nothing can be refused here");
        MUST_EXIT(status, 0);
        fprintf(stderr,
                "fits_a_signal_stack_of_8_KiB: of %zu bytes, %s mmap(): the "
                "kernel takes %zu, the dump %zu\n",
                sizes[i / 2], unmapped ? "without" : "with", m->frame,
                m->used - m->frame);
        dumped = written_to(handler_fd);
        cr_assert_not_null(strstr(dumped, " text: 1000000") ||
                               strstr(dumped, " text: 99999996802"),
                           "%s", dumped);
        cr_assert_eq(lines_in(records_in(dumped)), 3, "%s", dumped);
        if (!instrumented())
            cr_assert_leq(m->used - m->frame, 6 * 1024);
        close(handler_fd);
    }
}

/* ----------------------------------------------- what the system refuses -- */

/* Goal: a dump without mmap() shows exactly the same records, in several
 * passes. Method: mmap() is refused in a child. */
Test(dump, same_records_without_mmap)
{
    char *with;
    int status;
    record_all_kinds(40);
    with = strdup(records_in(catch_dump(caught)));
    cr_assert_gt(lines_in(with), 50);
    IN_CHILD(status, 60, {
        REFUSE(CAPTURE_MMAP, ENOMEM);
        catch_dump(caught);
    });
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_REFUSED)
        cr_skip_test("nothing can be refused here");
    MUST_EXIT(status, 0);
    cr_assert_not_null(strstr(caught->text, ", MORE THAN "), "%.90s",
                       caught->text);
    cr_assert_str_eq(records_in(caught->text), with, "\n%s\n---\n%s",
                     records_in(caught->text), with);
    cr_assert_eq(caught->shown, lines_in(with));
}

/* Goal: where a sandbox refuses process_vm_readv(), a pipe shows the same:
 * strings, formats, places, the line that is set. Method: all stand across the
 * end of a page. */
Test(dump, same_strings_through_a_pipe)
{
    char *with, *line = (char *)(uintptr_t)format_across(60);
    int status, error;
    char *open = last_page() + 4091;
    strcpy(line, "{order} {recorder} {location} {name} {thread}: {message}");
    cr_assert(recorder_line(line));
    memset(open, 'x', 5);
    record_all_kinds(3);
    record(text, "%s %s", RECORDER_ADDRESS(open), RECORDER_ADDRESS(open + 5));
    recorder_record_few_(&recorder_for_text, format_across(20), 1, 0, 0, 0);
    recorder_record_few_(&recorder_for_text, format_across(240), 2, 0, 0, 0);
    recorder_record_few_(&recorder_for_text, format_across(1000), 3, 0, 0, 0);
    record(text, "%s", RECORDER_ADDRESS(format_across(4000)));
    with = strdup(records_in(catch_dump(caught)));
    cr_assert_not_null(strstr(with, " far.c:99 "), "%s", with);
    cr_assert_not_null(strstr(with, "xxxxx... 0x"), "%s", with);
    for (error = EPERM; error; error = error == EPERM ? ENOSYS : 0) {
        IN_CHILD(status, 60, {
            REFUSE(SYS_process_vm_readv, error);
            catch_dump(caught);
        });
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_REFUSED)
            cr_skip_test("nothing can be refused here");
        MUST_EXIT(status, 0);
        cr_assert_str_eq(records_in(caught->text), with, "\n%s---\n%s",
                         records_in(caught->text), with);
    }
}

/* Goal: with no descriptor left nothing hangs; strings are addresses then. */
Test(dump, without_descriptors)
{
    int status;
    record(text, "%d", 5);
    IN_CHILD(status, 60, {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_NOFILE, &none);
        catch_dump(caught);
    });
    MUST_EXIT(status, 0);
    cr_assert_not_null(strstr(caught->text, "\n1 text: 5\n"), "%s",
                       caught->text);
    IN_CHILD(status, 60, {
        struct rlimit none = {0, 0};
        REFUSE(SYS_process_vm_readv, EPERM);
        setrlimit(RLIMIT_NOFILE, &none);
        catch_dump(caught);
    });
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_REFUSED)
        cr_skip_test("nothing can be refused here");
    MUST_EXIT(status, 0);
    cr_assert_not_null(strstr(caught->text, "<format at 0x"), "%s",
                       caught->text);
    cr_assert_not_null(strstr(caught->text, "> 0x5 0x0 0x0 0x0\n"), "%s",
                       caught->text);
    cr_assert_eq(caught->shown, 1);
}

/* Makes `big` a recorder of so many slots, and fills it. */
static void fill_big(uintptr_t slots)
{
    void *ring = mmap(NULL, resize(&recorder_for_big, slots),
                      PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uintptr_t i;
    cr_assert(ring != MAP_FAILED);
    recorder_for_big.rings = ring;
    for (i = 0; i < slots; i++)
        record(big, "%zu", i);
}

/* Goal: the pipe never takes the place of a closed stderr: the dump would go
 * into it. Method: 0, 1 and 2 are closed; more is dumped than a pipe holds,
 * and it would wait for good. */
Test(dump, the_pipe_is_no_standard_stream)
{
    int file = memfd_create("dumped", 0), status, closed;
    char *dumped;
    cr_assert(file > 2);
    fill_big(8192);
    for (closed = 0; closed < 3; closed++) {
        IN_CHILD(status, 60, {
            int i;
            REFUSE(SYS_process_vm_readv, EPERM);
            for (i = closed; i < 3; i++)
                close(i);
            recorder_dump();
            recorder_dump_fd(file);
        });
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_REFUSED)
            cr_skip_test("nothing can be refused here");
        MUST_EXIT(status, 0);
        dumped = written_to(file);
        cr_assert_str_eq(records_in(dumped), records_in(catch_dump(caught)));
        cr_assert(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
    }
}

struct counted {
    uintptr_t lines, last;
    bool wrong;
};
static void count_line(void *context, const char *line, size_t size)
{
    struct counted *c = context;
    uintptr_t order = 0;
    size_t i;
    for (i = 0; i < size && line[i] >= '0' && line[i] <= '9'; i++)
        order = order * 10 + (uintptr_t)(line[i] - '0');
    if (i == 0)
        return; /* the header */
    c->wrong |= order != c->last + 1 || line[size - 1] != '\n';
    c->last = order;
    c->lines++;
}

/* Goal: a dump of a million records is complete, ascending, and quick. */
Test(dump, a_million_records)
{
    uintptr_t slots = 1;
    struct counted c = {0, 0, false};
    size_t shown;
    double start;
    while (slots * 2 <= scaled(1 << 20))
        slots *= 2;
    fill_big(slots);
    start = seconds_now();
    shown = recorder_dump_to(count_line, &c);
    fprintf(stderr, "a_million_records: %zu in %.3f s\n", (size_t)slots,
            seconds_now() - start);
    cr_assert_eq(shown, slots);
    cr_assert(!c.wrong && c.lines == slots && c.last == slots);
}

/* Goal: a dump that gets some of the memory that it asks for makes do with it,
 * in a few passes; it is not a hundred thousand passes on the stack. Method: 16
 * MB are left for a dump of 120. */
Test(dump, a_million_records_in_little_memory)
{
    uintptr_t slots = 1;
    int status;
    while (slots * 2 <= scaled(1 << 20))
        slots *= 2;
    fill_big(slots);
    IN_CHILD(status, 120, {
        struct counted c = {0, 0, false};
        struct rlimit limit;
        unsigned long pages = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        if (!file || fscanf(file, "%lu", &pages) != 1)
            _exit(3);
        fclose(file);
        limit.rlim_cur = limit.rlim_max = pages * 4096 + slots * 16;
        setrlimit(RLIMIT_AS, &limit);
        if (recorder_dump_to(count_line, &c) != slots || c.wrong)
            _exit(1);
    });
    MUST_EXIT(status, 0);
}

/* ---------------------------------------------------------- dump_for, to -- */

/* Goal: a regular expression chooses recorders by their whole names; a wrong
 * one is refused in words, and nothing is shown. */
Test(dump, for_a_regex)
{
    int file, error;
    char *is;
    record(text, "a");
    record(two, "b");
    record(other, "c");
    record(lanes, "d");
    file = redirect(2);
    cr_assert_eq(recorder_dump_for("T.*"), 2);
    is = written_to(file);
    cr_assert_str_eq(records_in(is), "1 text: a\n2 two: b\n", "%s", is);
    cr_assert_not_null(strstr(is, " 2 RECORDS\nDUMPING text "), "%s", is);
    cr_assert_not_null(strstr(is, "\nDUMPING two "), "%s", is);
    cr_assert_null(strstr(is, "DUMPING other"), "%s", is);
    file = redirect(2);
    cr_assert_eq(recorder_dump_for("ex"), 0); /* the whole name */
    is = written_to(file);
    cr_assert_not_null(
        strstr(is, " 0 RECORDS\nrecorder: no recorder is named ex\n"), "%s", is);
    file = redirect(2);
    cr_assert_eq(recorder_dump_for("(lanes|other)"), 2);
    file = redirect(2);
    errno = 77;
    cr_assert_eq(recorder_dump_for("(net"), 0);
    error = errno;
    is = written_to(file);
    cr_assert_str_eq(is, "recorder: (net: missing )\n", "%s", is);
    cr_assert_eq(error, 77);
}

struct whole_lines {
    size_t calls, bad;
};
static void take_line(void *context, const char *line, size_t size)
{
    struct whole_lines *lines = context;
    lines->calls++;
    lines->bad += size == 0 || line[size - 1] != '\n' ||
                  memchr(line, '\n', size - 1) != NULL;
    record(two, "a sink may record");
    errno = 5;
}
/* Goal: a sink gets one whole line a call, may record, and its errno stays with
 * it. */
Test(dump, to_a_sink_of_whole_lines)
{
    struct whole_lines lines = {0, 0};
    size_t shown;
    int error;
    record_all_kinds(20);
    record(text, "%s", letters(9000));
    errno = 77;
    shown = recorder_dump_to(take_line, &lines);
    error = errno;
    cr_assert_eq(error, 77);
    cr_assert_eq(lines.bad, 0);
    cr_assert_gt(lines.calls, shown);
    cr_assert_eq(lines.calls, shown + 1 + RECORDERS);
}

/* ------------------------------------------------------ wherever it goes -- */

static char all_text[1 << 20];
/* What dumps to a descriptor must write: that of a sink but for its date. */
static size_t dump_into_all_text(void)
{
    strcpy(all_text, records_in(catch_dump(caught)));
    return strlen(all_text);
}

struct slow_reader {
    int fd;
    long wait_ms;
    size_t size;
    char text[1 << 20];
};
static void *read_slowly(void *of)
{
    struct slow_reader *reader = of;
    long got;
    sleep_ms(reader->wait_ms);
    while ((got = read(reader->fd, reader->text + reader->size, 1000)) > 0 ||
           (got < 0 && errno == EINTR)) {
        if (got > 0)
            reader->size += (size_t)got;
        if (reader->wait_ms && reader->size % 16 == 0)
            sleep_ms(1);
    }
    return NULL;
}

/* Dumps into a pipe that is read slowly; all must arrive. */
static void dump_into_slow_pipe(bool blocks, long wait_ms)
{
    static struct slow_reader reader;
    pthread_t thread;
    int fds[2], i;
    size_t size = dump_into_all_text();
    memset(&reader, 0, sizeof reader);
    cr_assert(pipe(fds) == 0);
    fcntl(fds[1], F_SETPIPE_SZ, 4096);
    if (!blocks)
        fcntl(fds[1], F_SETFL, O_NONBLOCK);
    reader.fd = fds[0];
    reader.wait_ms = wait_ms;
    cr_assert(pthread_create(&thread, NULL, read_slowly, &reader) == 0);
    for (i = 0; i < 3; i++) {
        errno = 77;
        cr_assert_eq(recorder_dump_fd(fds[1]), caught->shown);
        cr_assert_eq(errno, 77);
    }
    close(fds[1]);
    pthread_join(thread, NULL);
    reader.text[reader.size] = '\0';
    for (i = 0; i < 3; i++) {
        char *at = (char *)(uintptr_t)records_in(
            i ? strstr(reader.text, "FLIGHT RECORDER") : reader.text);
        cr_assert(strncmp(at, all_text, size) == 0, "dump %d", i);
        memmove(reader.text, at + size, strlen(at + size) + 1);
    }
    cr_assert_eq(reader.text[0], '\0', "%.200s", reader.text);
}

/* Goal: a pipe that is full for a while, blocking or not, gets all the text. */
Test(dump, a_full_pipe_gets_all)
{
    record_all_kinds(60);
    dump_into_slow_pipe(true, 100);
    dump_into_slow_pipe(false, 100);
}

static unsigned alarms;
static void on_alarm(int sig)
{
    (void)sig;
    __atomic_fetch_add(&alarms, 1, __ATOMIC_RELAXED);
}
/* Goal: signals that interrupt every call take nothing from a dump. Method: a
 * timer of 50 microseconds, without SA_RESTART, into pipes that are full; again
 * until 100 signals came, as many as a busy machine lets through. */
Test(dump, a_storm_of_signals_takes_nothing)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval storm = {{0, 50}, {0, 50}}, calm = {{0, 0}, {0, 0}};
    double end = seconds_now() + 60;
    record_all_kinds(60);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &storm, NULL);
    do {
        dump_into_slow_pipe(true, 30);
        dump_into_slow_pipe(false, 30);
    } while (__atomic_load_n(&alarms, __ATOMIC_RELAXED) < 100 &&
             seconds_now() < end);
    setitimer(ITIMER_REAL, &calm, NULL);
    cr_assert_geq(alarms, 100);
}

/* Goal: stderr may be closed: nothing happens, errno is kept. */
Test(dump, stderr_may_be_closed)
{
    int status;
    record_all_kinds(60);
    IN_CHILD(status, 60, {
        close(2);
        errno = 77;
        recorder_dump();
        recorder_dump_for("t.*");
        recorder_dump_for("(");
        if (errno != 77)
            _exit(1);
    });
    MUST_EXIT(status, 0);
}

/* Goal: a full disk and a limit on file sizes end a dump, not the process. */
Test(dump, a_full_disk_ends_only_the_dump)
{
    int full = open("/dev/full", O_WRONLY), file = memfd_create("limited", 0);
    int status;
    record_all_kinds(60);
    IN_CHILD(status, 60, {
        struct rlimit limit = {2000, 2000};
        errno = 77;
        recorder_dump_fd(full);
        setrlimit(RLIMIT_FSIZE, &limit);
        recorder_dump_fd(file);
        if (errno != 77)
            _exit(1);
    });
    MUST_EXIT(status, 0);
    cr_assert_eq(strlen(written_to(file)), 2000);
}

/* Goal: a pipe that nobody reads does not end the process; a SIGPIPE that was
 * pending stays so, none is added, and the mask is as before. */
Test(dump, a_pipe_without_a_reader)
{
    int fds[2], status;
    record_all_kinds(60);
    cr_assert(pipe(fds) == 0);
    close(fds[0]);
    IN_CHILD(status, 60, {
        signal(SIGPIPE, SIG_DFL);
        errno = 77;
        recorder_dump_fd(fds[1]);
        dup2(fds[1], 2);
        recorder_dump();
        recorder_dump_for("t.*");
        recorder_dump_for("(");
        recorder_line("{nothing}");
        if (errno != 77)
            _exit(1);
        _exit(42);
    });
    MUST_EXIT(status, 42);
    IN_CHILD(status, 60, {
        sigset_t set;
        sigset_t now;
        sigset_t before;
        sigemptyset(&set);
        sigaddset(&set, SIGPIPE);
        sigprocmask(SIG_BLOCK, &set, NULL);
        sigprocmask(SIG_BLOCK, NULL, &before);
        recorder_dump_fd(fds[1]);
        sigpending(&now);
        if (sigismember(&now, SIGPIPE))
            _exit(1); /* blocked, but not ours to leave behind */
        raise(SIGPIPE);
        recorder_dump_fd(fds[1]);
        sigpending(&now);
        if (!sigismember(&now, SIGPIPE))
            _exit(2);
        sigprocmask(SIG_BLOCK, NULL, &now);
        if (memcmp(&now, &before, 8) != 0)
            _exit(3);
    });
    MUST_EXIT(status, 0);
}

/* Goal: a text copied into another recorder's ring is found there. Method: copy
 * into one, refer to it from the other. */
Test(dump, copies_may_stand_in_another_ring)
{
    char buffer[] = "in the other ring, and more than 32 bytes long";
    struct caught *all = catcher(65536);
    const char *dumped;
    record(other, "<%s>", RECORDER_COPY(text, buffer));
    dumped = catch_dump(all);
    cr_assert(strstr(dumped, "other: <in the other ring, and more than 32 "
                             "bytes long>\n"),
              "%s", dumped);
}
