/* recorder_switch.h: each word of each switch, one shots, masked interrupts. */
/* SPDX-License-Identifier: MIT */
#include "harness/capture.h"

/* A port with 300 processors, whose clock is a variable. */
static unsigned cpu, number;
static uintptr_t now;
#define RECORDER_CPU() cpu
#define RECORDER_SWITCH_NUMBER(id) number
#define RECORDER_SWITCH_ONCE
#define RECORDER_SWITCH_OFF_LIMIT limit
static uintptr_t limit;
#undef RECORDER_TIME
#define RECORDER_TIME() now
#include "recorder_switch.h"

RECORDER(switches, 64, "");
RECORDER(interrupts, 64, "");

TestSuite(switch, .timeout = 240);

static struct recorder_cursor cursor;
static struct recorder_event event;

/* The next event has this heading and text, and these words. */
static void expect(const char *words, const char *text, uintptr_t name,
                   uintptr_t id, uintptr_t where, uintptr_t more)
{
    static char said[256];
    struct recorder_headed_ h;
    const char *format;
    cr_assert(recorder_next(&cursor, &event), "no record \"%s\"", words);
    format = (const char *)(uintptr_t)event.format;
    recorder_heading_(format, &h);
    cr_expect(h.size == strlen(words) && memcmp(h.words, words, h.size) == 0,
              "\"%s\": %s", words, format);
    recorder_event_text(&event, said, sizeof said);
    cr_expect_str_eq(said, text);
    cr_expect_eq(event.argument[0], name, "%s", words);
    cr_expect_eq(event.argument[1], id, "%s", words);
    cr_expect_eq(event.argument[2], where, "%s", words);
    cr_expect_eq(event.argument[3], more, "%s", words);
    cr_expect_eq(event.missing_arguments, 0xff0, "%s", words);
    cr_expect(strstr(format + strlen(format) + 1, "inside/switch.c:"),
              "no place behind %s", format);
}

/* Goal: each record has its heading, its text, its words in their places. */
Test(switch, words)
{
    static const char a[] = "sensor", b[] = "encoder", tick[] = "tick";
    static const struct {
        char why;
        const char *words[2], *texts[2];
    } whys[] = {
        {RECORDER_BLOCKED,
         {"switch b", "out b"},
         {"sensor (0x11) runs on cpu 3; 0x22 blocks",
          "sensor (0x11) leaves cpu 3: blocks"}},
        {RECORDER_PREEMPTED,
         {"switch p", "out p"},
         {"sensor (0x11) runs on cpu 3; 0x22 is preempted",
          "sensor (0x11) leaves cpu 3: preempted"}},
        {RECORDER_ENDED,
         {"switch e", "out e"},
         {"sensor (0x11) runs on cpu 3; 0x22 has ended",
          "sensor (0x11) leaves cpu 3: ended"}},
    };
    static const char hows[] = "sai";
    uintptr_t where = 3 | 7 << 8;
    cpu = 3, number = 7;
    for (size_t i = 0; i < COUNT(whys); i++) {
        recorder_switch(0x11, a, 0x22, whys[i].why);
        expect(whys[i].words[0], whys[i].texts[0], (uintptr_t)a, 0x11, where,
               0x22);
        recorder_switch_out(0x11, a, whys[i].why);
        expect(whys[i].words[1], whys[i].texts[1], (uintptr_t)a, 0x11, where,
               0);
    }
    recorder_switch_in((void *)0x22, b);
    expect("in", "encoder (0x22) runs on cpu 3", (uintptr_t)b, 0x22, where, 0);
    for (size_t i = 0; i < 3; i++) {
        char words[] = "in x";
        words[3] = hows[i];
        recorder_switch_in(0x22, b, hows[i]);
        expect(words, "encoder (0x22) runs on cpu 3", (uintptr_t)b, 0x22, where,
               0);
    }
    recorder_switch_ready(0x11, a);
    expect("ready", "sensor (0x11) is ready: on cpu 3, by (nil)", (uintptr_t)a,
           0x11, where, 0);
    recorder_switch_ready(0x11, a, 0x22);
    expect("ready", "sensor (0x11) is ready: on cpu 3, by 0x22", (uintptr_t)a,
           0x11, where, 0x22);
    recorder_switch_sleep();
    expect("sleep", "cpu 3 waits for an interrupt", 0, 0, 3, 0);
    recorder_switch_wake();
    expect("wake", "cpu 3 wakes up", 0, 0, 3, 0);
    recorder_switch_enter(15, tick, 0x1234);
    expect("enter", "> tick", (uintptr_t)tick, 15, 3, 0x1234);
    recorder_switch_exit(15, tick);
    expect("exit", "< tick", (uintptr_t)tick, 15, 3, 0);
    cr_assert(!recorder_next(&cursor, &event));
}

/* Goal: a recorder that is off records nothing and evaluates nothing; the word
 * that turns it on and off is that of any recorder. */
Test(switch, off_and_on)
{
    static const char a[] = "a";
    unsigned evaluated = 0, id = 5, why = 0;
    RECORDER_TRACE(switches) = -1;
    recorder_switch(++evaluated, a, ++id, (int)++why);
    recorder_switch_in(++evaluated, a);
    recorder_switch_enter(++evaluated, a, ++id);
    cr_assert(evaluated == 0 && id == 5 && why == 0);
    cr_assert(!recorder_next(&cursor, &event));
    RECORDER_TRACE(switches) = 0;
    recorder_switch(++evaluated, a, ++id, (int)++why);
    cr_assert(evaluated == 1 && id == 6 && why == 1, "evaluated twice");
    expect("switch b", "a (0x1) runs on cpu 0; 0x6 blocks", (uintptr_t)a, 1, 0,
           6);
}

/* Records `count` switches, and returns how many stand in the ring, which must
 * be those from `first` on. */
static unsigned shot(unsigned begin, unsigned count)
{
    unsigned i, kept = 0;
    for (i = 0; i < count; i++)
        recorder_switch_in(begin + i, "a");
    for (; recorder_next(&cursor, &event); kept++)
        cr_assert_eq(event.argument[1], begin + kept);
    return kept;
}

/* Goal: a one-shot recorder keeps its first records, 8 below its size, and is
 * off then: what follows overwrites none. One that is started again does the
 * same once more; turning it on is not enough. */
Test(switch, one_shot)
{
    cr_assert_eq(shot(1000, 500), 56);
    cr_assert_eq(RECORDER_TRACE(switches), -1);
    cr_assert_eq(shot(2000, 500), 0);
    cr_assert_eq(recorder_for_switches.rings->write, 56);
    RECORDER_TRACE(switches) = 0;
    cr_assert_eq(shot(3000, 500), 0);
    cr_assert_eq(RECORDER_TRACE(switches), -1);
    for (unsigned i = 0; i < 5; i++) {
        recorder_switch_start();
        cr_assert_eq(RECORDER_TRACE(switches), 0);
        cr_assert_eq(shot(4000 + 1000 * i, 30), 30);
        RECORDER_TRACE(switches) = -1; /* to stop is not to end */
        cr_assert_eq(shot(0, 10), 0);
        RECORDER_TRACE(switches) = 0;
        cr_assert_eq(shot(9000 + 1000 * i, 500), 26);
    }
    recorder_switch_start(); /* what triggers watch is watched still */
    RECORDER_TRACE(switches) |= RECORDER_WATCHED_;
    cr_assert_eq(shot(20000, 500), 56);
    cr_assert_eq(recorder_trace_value_(RECORDER_TRACE(switches)), -1);
    cr_assert(recorder_trace_is_watched_(RECORDER_TRACE(switches)));
}

/* Goal: interrupts that are off for longer than the limit are recorded at their
 * end, with how long it was, and only the outermost. */
Test(switch, masked_for_long)
{
    limit = 100;
    for (cpu = 0; cpu < 7; cpu++) {
        now = UINTPTR_MAX - 50; /* the clock wraps inside */
        recorder_switch_off(0);
        now += 20;
        recorder_switch_off(1);
        now += 50;
        recorder_switch_on(1);
        now += 30;
        recorder_switch_on(0);
        cr_assert(!recorder_next(&cursor, &event), "100 ticks");
    }
    for (cpu = 0; cpu < 7; cpu++) {
        char text[64];
        recorder_switch_off(0);
        now += 101;
        recorder_switch_on(0);
        snprintf(text, sizeof text, "cpu %u: interrupts on, off for 101 ticks",
                 cpu);
        expect("on", text, 0, 0, cpu, 101);
    }
    cpu = 200; /* nowhere to note it */
    recorder_switch_off(0);
    now += 500;
    recorder_switch_on(0);
    cr_assert(!recorder_next(&cursor, &event));
}

/* Goal: without a limit each is recorded. */
Test(switch, masked_each)
{
    recorder_switch_off(0);
    expect("off", "cpu 0: interrupts off", 0, 0, 0, 0);
    recorder_switch_off(2); /* any bit of a status word */
    expect("off +", "cpu 0: interrupts off, again", 0, 0, 0, 0);
    now += 3;
    recorder_switch_on(2);
    expect("on +", "cpu 0: interrupts stay off", 0, 0, 0, 0);
    now += 4;
    recorder_switch_on(0);
    expect("on", "cpu 0: interrupts on, off for 7 ticks", 0, 0, 0, 7);
    RECORDER_TRACE(interrupts) = -1;
    recorder_switch_off(0);
    recorder_switch_on(0);
    cr_assert(!recorder_next(&cursor, &event));
}
