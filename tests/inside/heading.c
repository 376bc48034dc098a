/* recorder/heading.h: headings of all shapes, severities, which of them
 * count. */
/* SPDX-License-Identifier: MIT */
#include "harness/capture.h"

#include <sys/mman.h>
#include <unistd.h>

RECORDER(disk, 64, "");

static struct caught *caught;
static void begin(void)
{
    caught = catcher((size_t)1 << 20);
}
TestSuite(heading, .init = begin, .timeout = 240);

/* ------------------------------------------------------------- headings -- */

/* Goal: what is a heading comes off, what is none stays; the words that are
 * known are found among others. */
Test(heading, shapes)
{
    static const struct {
        const char *format, *text;
        int severity;
        bool hardware;
    } shapes[] = {
        {"text", "text", -1, false},
        {"", "", -1, false},
        {RECORDER_HW0 "text", "text", 0, true},
        {RECORDER_HW1 "text", "text", 1, true},
        {RECORDER_HW2 "text", "text", 2, true},
        {RECORDER_HW3 "text", "text", 3, true},
        {RECORDER_SW0 "text", "text", 0, false},
        {RECORDER_SW1 "text", "text", 1, false},
        {RECORDER_SW2 "text", "text", 2, false},
        {RECORDER_SW3 "text", "text", 3, false},
        {RECORDER_SW3, "", 3, false},
        {RECORDER_SW3 "42", "42", 3, false},
        {"\1event\2text", "text", -1, false},
        {"\1event s1\2text", "text", 1, false},
        {"\1in  s1 event\2text", "text", 1, false},
        {"\1 s1 \2text", "text", 1, false},
        {"\1s1 h3\2text", "text", 1, false}, /* the first counts */
        {"\1h3\2\1s1\2text", "text", 3, true},
        {"\1in\2\1s1\2text", "text", 1, false}, /* several are one */
        {"\1s4\2text", "text", -1, false},
        {"\1s11\2text", "text", -1, false},
        {"\1as1\2text", "text", -1, false},
        {"\1S1\2text", "text", -1, false},
        {"\1s\2text", "text", -1, false},
        {"\1\2text", "text", -1, false},
        {"\1s1\2\2text", "\2text", 1, false},
        /* None: */
        {"\1", "\1", -1, false},
        {"\2text", "\2text", -1, false},
        {"\1s1", "\1s1", -1, false},
        {"\1s1 text", "\1s1 text", -1, false},
        {"\1s1\ntext\2", "\1s1\ntext\2", -1, false},
        {"\1\1s1\2text", "\1\1s1\2text", -1, false},
        {"\1s1\177\2text", "\1s1\177\2text", -1, false},
        {"\1s1\303\244\2text", "\1s1\303\244\2text", -1, false},
        {" \1s1\2text", " \1s1\2text", -1, false},
        {"\1s1\2\1s2 text", "\1s2 text", 1, false}, /* the first ends whole */
    };
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct recorder_headed_ h;
        cr_assert_str_eq(recorder_heading_(shapes[i].format, &h),
                         shapes[i].text, "%zu", i);
        cr_assert_eq(h.severity, shapes[i].severity, "%zu", i);
        cr_assert_eq(h.hardware, shapes[i].hardware, "%zu", i);
    }
}

/* Goal: words are found whole, wherever they are. */
Test(heading, words)
{
    struct recorder_headed_ h;
    recorder_heading_("\1s2 event out b\2\1in\2text in vain", &h);
    cr_assert_eq(recorder_heading_word_(&h, "s2"), h.words);
    cr_assert_eq(recorder_heading_word_(&h, "event"), h.words + 3);
    cr_assert_eq(recorder_heading_word_(&h, "b"), h.words + 13);
    cr_assert_eq(recorder_heading_word_(&h, "in"), h.words + 16);
    cr_assert_null(recorder_heading_word_(&h, "even"));
    cr_assert_null(recorder_heading_word_(&h, "events"));
    cr_assert_null(recorder_heading_word_(&h, "vain"));
    cr_assert_null(recorder_heading_word_(&h, "ou"));
    recorder_heading_("event", &h);
    cr_assert_null(recorder_heading_word_(&h, "event"));
}

/* Goal: a heading is as long as RECORDER_HEADING_MAX_ at most, and nothing is
 * read after a format's end. Method: each length, and each cut of it, ends
 * where a page does after which none is mapped. */
Test(heading, no_byte_beyond_the_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), length, cut;
    char *end = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
                page;
    cr_assert_eq(munmap(end, page), 0);
    for (length = 2; length<300; length += length> 140 ? 51 : 1)
        for (cut = 0; cut <= length; cut++) {
            char *format = end - cut - 1;
            struct recorder_headed_ h;
            memset(format, 'x', cut);
            if (cut)
                format[0] = '\1';
            if (cut == length)
                format[cut - 1] = '\2';
            format[cut] = '\0';
            cr_assert_eq(recorder_heading_(format, &h),
                         cut == length && length <= RECORDER_HEADING_MAX_
                             ? format + length
                             : format,
                         "length %zu, cut %zu", length, cut);
        }
    for (length = 1; length < 400; length++) { /* many in a row */
        struct recorder_headed_ h;
        char *format = end - length - 1;
        for (cut = 0; cut < length; cut++)
            format[cut] = (char)(1 + cut % 2);
        format[length] = '\0';
        recorder_heading_(format, &h);
        cr_assert_eq(h.severity, -1);
    }
}

/* ------------------------------------------------------------ severities -- */

/* Goal: a choice of severities means what it says, or nothing. */
Test(heading, choices)
{
    static const struct {
        const char *text;
        unsigned set; /* bits 0 to 3: hardware 0 to 3, 4 to 7: software */
    } choices[] = {{"0", 0xff},      {"2", 0xcc},       {"3", 0x88},
                   {"hw0", 0x0f},    {"hw3", 0x08},     {"sw1", 0xe0},
                   {"SW1", 0xe0},    {"Hw2,sW3", 0x8c}, {"hw1,sw3", 0x8e},
                   {"hw1,hw3", 0xe}, {"hw3,2", 0xcc},   {"", 0},
                   {"4", 0},         {"hw", 0},         {"hw4", 0},
                   {"s2", 0},        {"2,", 0},         {",2", 0},
                   {"hw1,x", 0},     {"-1", 0},         {"w2", 0}};
    const char *end;
    for (size_t i = 0; i < COUNT(choices); i++) {
        unsigned set = recorder_severities_(choices[i].text, &end);
        cr_assert_eq(set, choices[i].set, "%s", choices[i].text);
        cr_assert(!set || !*end, "%s", choices[i].text);
        for (int s = 0; s < 8; s++)
            cr_assert_eq(recorder_severity_chosen_(set, s & 3, s < 4),
                         set >> s & 1);
        cr_assert(!recorder_severity_chosen_(set, -1, false));
        cr_assert(!recorder_severity_chosen_(set, -1, true));
    }
    cr_assert_eq(recorder_severities_("sw1 1>50", &end), 0xe0);
    cr_assert_str_eq(end, " 1>50");
}

/* --------------------------------------------------------------- readers -- */

/* Goal: the line says the severity, and the message is as without. */
Test(heading, lines)
{
    cr_assert(recorder_line("{recorder}: {severity}{message}"));
    record(disk, RECORDER_SW2 "block %u unreadable, errno %d", 17u, 5);
    record(disk, RECORDER_HW3 "42 blocks");
    record(disk, "plain %s", "text");
    record(disk, "\1other\2" RECORDER_SW0 "%s: %d %d %d %d", "many", 1, 2, 3,
           4);
    record(disk, "\1s2 cut short");
    DUMP_MUST_BE("disk: SW2 block 17 unreadable, errno 5\n"
                 "disk: HW3 42 blocks\n"
                 "disk: plain text\n"
                 "disk: SW0 many: 1 2 3 4\n"
                 "disk: \\x01s2 cut short\n");
    cr_assert(recorder_line("{severity:6}|{severity:-6}|"));
    DUMP_MUST_BE("  SW2 |SW2   |\n  HW3 |HW3   |\n      |      |\n"
                 "  SW0 |SW0   |\n      |      |\n");
}

/* Goal: an event of a cursor has its severity, and its text is without. */
Test(heading, events)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    char text[64];
    record(disk, RECORDER_HW1 "one %d", 1);
    record(disk, "two");
    record(disk, RECORDER_SW3 "three");
    for (int i = 0; i < 3; i++) {
        static const char *const texts[] = {"one 1", "two", "three"};
        cr_assert(recorder_next(&cursor, &event));
        cr_assert_eq(event.severity, i == 0 ? 1 : i == 1 ? -1 : 3);
        cr_assert_eq(event.hardware, i == 0);
        recorder_event_text(&event, text, sizeof text);
        cr_assert_str_eq(text, texts[i]);
    }
    /* A format that is gone has none. */
    recorder_record_few_(&recorder_for_disk, (const char *)4096, 0, 0, 0, 0);
    cr_assert(recorder_next(&cursor, &event));
    cr_assert_eq(event.severity, -1);
}
