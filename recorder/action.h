/* action.h - triggers and their actions. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_ACTION_H_
#define RECORDER_ACTION_H_

#include "condition.h"
#ifdef RECORDER_HOSTED_
#include "crash.h"
#else
#include "dump.h"
#endif

RECORDER_C_BEGIN_

/* -------------------------------------------------------------- triggers --
 *
 * A trigger is set once, in a slot that it keeps: a look at it needs no lock.
 * Only its state changes.
 *
 *     free ──► set ──► armed ──► acts ──► done            (again: armed)
 *                        │        ▲         │
 *                        └─► due ─┘         └──► armed    recorder_trigger_arm()
 *                          after=
 */
enum {
    RECORDER_TRIGGER_FREE_,
    RECORDER_TRIGGER_SET_, /* being written */
    RECORDER_TRIGGER_ARMED_,
    RECORDER_TRIGGER_DUE_, /* has seen its record, and waits for `due` */
    RECORDER_TRIGGER_ACTS_,
    RECORDER_TRIGGER_DONE_
};
enum {
    RECORDER_TRIGGERS_ = 8,
    RECORDER_TRIGGER_KNOWN_ = 16, /* a power of two */
    /* Twice the largest COUNT: see recorder_trigger_rate_(). */
    RECORDER_TRIGGER_TIMES_ = 2 * RECORDER_CONDITION_COUNT_MAX_
};
/* The actions of triggers, in their order. */
enum {
    RECORDER_ACTION_FREEZE_ = 1,
    RECORDER_ACTION_CALL_ = 2,
    RECORDER_ACTION_DUMP_ = 4,
    RECORDER_ACTION_STOP_ = 8,
    RECORDER_ACTION_SIGNAL_ = 16,
    RECORDER_ACTION_ABORT_ = 32,
    RECORDER_ACTION_AGAIN_ = 64
};

/* The arguments that a trigger compares of a format (recorder_trigger_find_()).
 */
enum {
    RECORDER_TRIGGER_TYPES_ = RECORDER_CONDITION_TESTS_ / sizeof(uintptr_t)
};
struct recorder_trigger_typed_ {
    uintptr_t format;
    uintptr_t types[RECORDER_TRIGGER_TYPES_];
};

struct recorder_trigger_ {
    uintptr_t state;
    int32_t acting; /* id of the thread that acts, as long as it does */
    unsigned actions;
    int signal;
    const char *path; /* of dump=, in the condition's text; null: stderr */
    recorder_trigger_function *function;
    void *context;
    /* Addresses of recorders, with bit 0 set where the names match. */
    uintptr_t known[RECORDER_TRIGGER_KNOWN_];
    struct recorder_trigger_typed_ formats[RECORDER_TRIGGER_KNOWN_];
    struct recorder_condition_ condition;
    uintptr_t within, after; /* ticks */
    uintptr_t due;           /* ticks; after= */
    uintptr_t order;         /* of the record that was seen */
    uintptr_t seen;          /* records that met the condition */
    uintptr_t times[RECORDER_TRIGGER_TIMES_]; /* of the last; 0: none */
    /* Of each test, 1: a record had its argument; the last: any was seen. */
    uintptr_t had[RECORDER_CONDITION_TESTS_ + 1];
    char said[RECORDER_CONDITION_MAX_];       /* the whole text */
};

typedef void recorder_trigger_hook_of_(const struct recorder *recorder,
                                       unsigned thread,
                                       const struct recorder_record *records,
                                       unsigned count);
/* The triggers of this program. */
struct recorder_triggers_ {
    recorder_trigger_hook_of_ *next; /* the hook that was there before */
    uintptr_t used;                  /* slots from there on were never set */
    uintptr_t acting;                /* how many act just now */
    uintptr_t hooked;
    bool asked;        /* for RECORDER_TRIGGERS */
    uintptr_t changes; /* states in use */
    struct recorder_trigger_ all[RECORDER_TRIGGERS_];
};
RECORDER_PROGRAM_ struct recorder_triggers_ recorder_triggers_;

/* ----------------------------------------------------------------- marks -- */

/* Changes `trace` of all recorders by a function of layout.h. */
RECORDER_APART_ void recorder_action_change_(int64_t (*change)(int64_t trace))
{
    struct recorder *recorder = recorder_readers_enter_();
    for (; recorder; recorder = recorder_list_next_(recorder)) {
        intptr_t trace = __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED);
        while (!recorder_trace_swap_(recorder, &trace, change(trace)))
            ;
    }
    recorder_readers_leave_();
    recorder_file_tell_(RECORDER_FILE_SYNC_, NULL);
}

/* True if a trigger waits for records of this recorder; a due trigger waits for
 * records of any. */
RECORDER_SELDOM_ bool recorder_action_wants_(const struct recorder *recorder)
{
    unsigned i;
    for (i = 0; i < RECORDER_TRIGGERS_; i++) {
        const struct recorder_trigger_ *trigger = &recorder_triggers_.all[i];
        uintptr_t state = __atomic_load_n(&trigger->state, __ATOMIC_ACQUIRE);
        if (state == RECORDER_TRIGGER_DUE_ ||
            ((state == RECORDER_TRIGGER_ARMED_ ||
              (state == RECORDER_TRIGGER_ACTS_ &&
               (trigger->actions & RECORDER_ACTION_AGAIN_))) &&
             recorder_regex_match_(trigger->condition.names, recorder->name)))
            return true;
    }
    return false;
}

/* Marks the recorders that triggers wait for, and no others, after the state of
 * a trigger has changed. A change during the marking is not overlooked: its
 * maker looks again. */
RECORDER_SELDOM_ void recorder_action_mark_(void)
{
    uintptr_t changes =
        RECORDER_ADD_(&recorder_triggers_.changes, 1, __ATOMIC_SEQ_CST) + 1;
    uintptr_t before;
    unsigned i, k;
    for (i = 0; i < RECORDER_TRIGGERS_; i++) /* libraries come and go */
        for (k = 0; k < RECORDER_TRIGGER_KNOWN_; k++) {
            uintptr_t *format = &recorder_triggers_.all[i].formats[k].format;
            uintptr_t was = recorder_get_(format);
            recorder_put_(&recorder_triggers_.all[i].known[k], 0);
            while (was > 1 && !recorder_swap_(format, &was, 0))
                ;
        }
    do {
        struct recorder *recorder = recorder_readers_enter_();
        before = changes;
        for (; recorder; recorder = recorder_list_next_(recorder)) {
            bool wanted = recorder_action_wants_(recorder);
            intptr_t trace =
                __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED);
            while (
                recorder_trace_is_watched_(trace) != wanted &&
                !recorder_trace_swap_(recorder, &trace,
                                      recorder_trace_watched_(trace, wanted)))
                ;
        }
        recorder_readers_leave_();
        changes =
            __atomic_load_n(&recorder_triggers_.changes, __ATOMIC_SEQ_CST);
    } while (changes != before);
    recorder_file_tell_(RECORDER_FILE_SYNC_, NULL);
}

/* Lets a trigger wait for records; its earlier counts are forgotten. */
RECORDER_SELDOM_ void recorder_action_arm_(struct recorder_trigger_ *trigger)
{
    if (trigger->condition.count > 1)
        recorder_zero_(trigger->times, sizeof trigger->times);
    __atomic_store_n(&trigger->state, RECORDER_TRIGGER_ARMED_,
                     __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------- act -- */

/* "recorder: trigger disk: 1>50: freeze: record 4711 of disk" */
RECORDER_SELDOM_ void
recorder_action_say_(const struct recorder_trigger_ *trigger,
                     const struct recorder *recorder)
{
    struct recorder_string_ say;
    char text[RECORDER_CONDITION_MAX_ + 200];
    say = recorder_string_at_(text, sizeof text);
    recorder_add_string_(&say, "recorder: trigger ");
    recorder_add_name_(&say, trigger->said, RECORDER_CONDITION_MAX_);
    recorder_add_string_(&say, ": record ");
    recorder_add_number_(&say, trigger->order, 10, 1);
    if (!trigger->after) {
        recorder_add_string_(&say, " of ");
        recorder_add_name_(&say, recorder->name, 80);
    }
    recorder_add_string_(&say, "\n");
    recorder_say_(&say);
}

#ifdef RECORDER_HOSTED_
RECORDER_SELDOM_ void
recorder_action_dump_(const struct recorder_trigger_ *trigger)
{
    struct recorder_output_ out = recorder_output_to_(2);
    struct recorder_held_ held;
    int fd = -1;
    if (!trigger->path) {
        recorder_dump();
        return;
    }
    recorder_os_hold_signals_(&held);
    fd = recorder_crash_open_(trigger->path, &out);
    recorder_os_release_signals_(&held);
    if (fd < 0)
        return;
    recorder_dump_fd(fd);
    recorder_os_close_(fd);
}

RECORDER_SELDOM_ void
recorder_action_signal_(const struct recorder_trigger_ *trigger)
{
    if (trigger->actions & RECORDER_ACTION_STOP_)
        recorder_os_requeue_signal_(RECORDER_SIGSTOP_, NULL);
    if (trigger->actions & RECORDER_ACTION_SIGNAL_)
        recorder_os_requeue_signal_(trigger->signal, NULL);
    if (trigger->actions & RECORDER_ACTION_ABORT_)
        recorder_os_requeue_signal_(RECORDER_SIGABRT_, NULL);
}
#define RECORDER_ACTIONS_                                                      \
    "freeze, dump, dump=PATH, stop, signal=N, abort and again"
#else
RECORDER_SELDOM_ void
recorder_action_dump_(const struct recorder_trigger_ *trigger)
{
    (void)trigger;
    recorder_dump();
}
RECORDER_INLINE_ void
recorder_action_signal_(const struct recorder_trigger_ *trigger)
{
    (void)trigger;
}
#define RECORDER_ACTIONS_ "freeze, dump and again"
#endif

RECORDER_SELDOM_ void
recorder_action_call_(const struct recorder_trigger_ *trigger,
                      const struct recorder *recorder, unsigned thread,
                      const struct recorder_record *records, unsigned count)
{
    struct recorder_seen seen;
    unsigned i;
    seen.recorder = recorder;
    seen.thread = thread;
    seen.order = records[0].order;
    seen.format = (const char *)records[0].format;
    seen.words_count = 4 * count;
    for (i = 0; i < 12; i++)
        seen.word[i] = i < 4 * count ? records[i / 4].argument[i % 4] : 0;
    trigger->function(trigger->context, &seen);
}

/* Acts, after the state became ACTS_. Signals come last, when records are
 * looked at again: a handler may leave by siglongjmp(). */
RECORDER_SELDOM_ void recorder_action_do_(struct recorder_trigger_ *trigger,
                                          const struct recorder *recorder,
                                          unsigned thread,
                                          const struct recorder_record *records,
                                          unsigned count)
{
    unsigned actions = trigger->actions;
    bool again = actions & RECORDER_ACTION_AGAIN_;
    if (actions & RECORDER_ACTION_FREEZE_) {
        recorder_kernel_ask_(); /* including the kernel's records up to the
                                 * trigger */
        recorder_action_change_(recorder_trace_frozen_);
    }
    __atomic_store_n(&trigger->acting, recorder_os_thread_(), __ATOMIC_RELAXED);
    recorder_add_(&recorder_triggers_.acting, 1);
    if (!trigger->after)
        trigger->order = records[0].order;
    if (actions & ~(unsigned)(RECORDER_ACTION_CALL_ | RECORDER_ACTION_AGAIN_))
        recorder_action_say_(trigger, recorder);
    if (actions & RECORDER_ACTION_CALL_)
        recorder_action_call_(trigger, recorder, thread, records, count);
    if (actions & RECORDER_ACTION_DUMP_)
        recorder_action_dump_(trigger);
    __atomic_store_n(&trigger->acting, 0, __ATOMIC_RELAXED);
    recorder_add_(&recorder_triggers_.acting, (uintptr_t)-1);
    if (!again)
        __atomic_store_n(&trigger->state, RECORDER_TRIGGER_DONE_,
                         __ATOMIC_RELEASE);
    if (!again || trigger->after)
        recorder_action_mark_();
    recorder_action_signal_(trigger);
    if (!again)
        return;
    recorder_action_arm_(trigger);
}

/* ----------------------------------------------------------------- parse -- */

/* Reads the actions, and cuts the text at their commas. Returns null, or what
 * is wrong. */
RECORDER_SELDOM_ const char *
recorder_action_parse_(struct recorder_trigger_ *trigger, char *at)
{
    static const struct {
        char name[8];
        unsigned action;
    } words[] = {{"freeze", RECORDER_ACTION_FREEZE_},
                 {"dump", RECORDER_ACTION_DUMP_},
                 RECORDER_IF_HOSTED_({"stop", RECORDER_ACTION_STOP_},
                                     {"abort", RECORDER_ACTION_ABORT_}, )
                 {"again", RECORDER_ACTION_AGAIN_}};
    const char *rest = NULL;
    char *next, *end;
    for (; at; at = next) {
        unsigned i;
        while (recorder_condition_blank_(*at))
            at++;
        for (next = at; *next && *next != ','; next++)
            ;
        for (end = next; end > at && recorder_condition_blank_(end[-1]);)
            end--;
        next = *next ? next + 1 : NULL;
        *end = '\0';
        for (i = 0; i < sizeof words / sizeof *words; i++) {
            rest = recorder_past_(at, words[i].name);
            if (rest && !*rest)
                break;
        }
        if (i < sizeof words / sizeof *words) {
            trigger->actions |= words[i].action;
#ifdef RECORDER_HOSTED_
        } else if ((rest = recorder_past_(at, "dump=")) && *rest) {
            trigger->actions |= RECORDER_ACTION_DUMP_;
            trigger->path = rest;
        } else if ((rest = recorder_past_(at, "signal=")) != NULL) {
            struct recorder_number_ number;
            rest = recorder_number_read_(&number, rest);
            if (!rest || *rest || number.more || number.negative ||
                number.size < 1 || number.size > 64)
                return "a signal has a number from 1 to 64";
            trigger->actions |= RECORDER_ACTION_SIGNAL_;
            trigger->signal = (int)number.size;
#endif
        } else {
            return "no action: there are " RECORDER_ACTIONS_;
        }
    }
    return NULL;
}

RECORDER_C_END_
#endif
