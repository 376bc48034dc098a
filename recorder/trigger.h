/* trigger.h - watches for records, and acts. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_TRIGGER_H_
#define RECORDER_TRIGGER_H_

#include "action.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------------ look -- */

/* True if the calling thread is inside of an action: the action's records are
 * not looked at. */
RECORDER_SELDOM_ bool recorder_trigger_acts_here_(void)
{
    int32_t self = recorder_os_thread_();
    unsigned i;
    for (i = 0; i < RECORDER_TRIGGERS_; i++)
        if (__atomic_load_n(&recorder_triggers_.all[i].acting,
                            __ATOMIC_RELAXED) == self)
            return true;
    return false;
}

RECORDER_INLINE_ bool
recorder_trigger_near_(const struct recorder_trigger_ *trigger, uintptr_t a,
                       uintptr_t b)
{
    uintptr_t apart = (intptr_t)(a - b) < 0 ? b - a : a - b;
    return b && apart <= trigger->within;
}

/* Notes that a record met the condition at `time`. True if COUNT did within
 * TIME. Match k stores its time, then looks at the matches COUNT - 1 before and
 * after it, so that the later of two late threads sees both. There are
 * twice as many times as the largest COUNT: an unfilled entry still holds a
 * time COUNT matches old, so it cannot be mistaken for a recent one. */
RECORDER_FUNCTION_ bool
recorder_trigger_rate_(struct recorder_trigger_ *trigger, uintptr_t time)
{
    uintptr_t k = recorder_add_(&trigger->seen, 1), *times = trigger->times;
    uintptr_t apart = trigger->condition.count - 1;
    time += time == 0;
    RECORDER_STEP_(T1);
    __atomic_store_n(&times[k % RECORDER_TRIGGER_TIMES_], time,
                     __ATOMIC_SEQ_CST);
    return recorder_trigger_near_(
               trigger, time,
               __atomic_load_n(&times[(k - apart) % RECORDER_TRIGGER_TIMES_],
                               __ATOMIC_SEQ_CST)) ||
           recorder_trigger_near_(
               trigger, time,
               __atomic_load_n(&times[(k + apart) % RECORDER_TRIGGER_TIMES_],
                               __ATOMIC_SEQ_CST));
}

/* True if the trigger is for this recorder. */
RECORDER_INLINE_ bool recorder_trigger_names_(struct recorder_trigger_ *trigger,
                                              const struct recorder *recorder)
{
    uintptr_t address = (uintptr_t)recorder, *known, now;
    known =
        &trigger->known[address / sizeof *recorder % RECORDER_TRIGGER_KNOWN_];
    now = recorder_get_(known);
    if (RECORDER_UNLIKELY_((now | 1) != (address | 1))) {
        now = address |
              recorder_regex_match_(trigger->condition.names, recorder->name);
        recorder_put_(known, now);
    }
    return now & 1;
}

/* True if the format of a record has the severity and the text. */
RECORDER_FUNCTION_ bool
recorder_trigger_format_(const struct recorder_condition_ *condition,
                         const char *format)
{
    struct recorder_headed_ heading;
    const char *text = recorder_heading_(format, &heading);
    return (!condition->severities ||
            recorder_severity_chosen_(condition->severities, heading.severity,
                                      heading.hardware)) &&
           recorder_condition_begins_(condition, text);
}

/* Finds the arguments that a trigger compares, 8 bits for each, in a format. It
 * keeps them for the next record: `format` is 0, or 1 while a thread writes. */
RECORDER_SELDOM_ void
recorder_trigger_find_(struct recorder_trigger_ *trigger,
                       struct recorder_trigger_typed_ *known,
                       const char *format, uintptr_t *types)
{
    const struct recorder_condition_ *c = &trigger->condition;
    struct recorder_headed_ heading;
    struct recorder_formatter_ f;
    const char *text = recorder_heading_(format, &heading);
    uintptr_t unknown = 0;
    unsigned i, each = sizeof *types;
    bool fits = recorder_trigger_format_(c, format);
    for (i = 0; i < RECORDER_TRIGGER_TYPES_; i++)
        types[i] = 0;
    for (i = 0; i < c->tests_count; i++) {
        uintptr_t type = recorder_condition_find_(&c->tests[i], text,
                                                  sizeof(uintptr_t), &f);
        types[i / each] |= type << i % each * 8;
        if (fits && type != RECORDER_TYPE_NONE_)
            recorder_put_(&trigger->had[i], 1);
    }
    if (fits)
        recorder_put_(&trigger->had[RECORDER_CONDITION_TESTS_], 1);
    if (!recorder_swap_(&known->format, &unknown, 1))
        return; /* another format has the place */
    for (i = 0; i < RECORDER_TRIGGER_TYPES_; i++)
        recorder_put_(&known->types[i], types[i]);
    __atomic_store_n(&known->format, (uintptr_t)format, __ATOMIC_RELEASE);
}

/* True if a test holds for the text of an argument, as a dump shows it. */
RECORDER_APART_ bool
recorder_trigger_text_(const struct recorder_condition_test_ *test,
                       const struct recorder *recorder, unsigned thread,
                       const struct recorder_record *records, unsigned count,
                       uint64_t address)
{
    char stack[RECORDER_SCRATCH_STACK_] __attribute__((aligned(16)));
    char text[RECORDER_CONDITION_MAX_ + 64], copy[RECORDER_CONDITION_MAX_ + 64];
    struct recorder_headed_ heading;
    struct recorder_scratch_ s;
    struct recorder_event event;
    struct recorder_text_context_ context = {&s, &event, 0, 0};
    struct recorder_formatter_ f;
    struct recorder_arguments_ arguments;
    const char *dot;
    recorder_scratch_open_(&s, 0, stack);
    s.text = copy;
    s.text_max = sizeof copy;
    recorder_batch_of_one_(&s.batch, recorder, thread, records, count);
    recorder_event_of_(&s.batch, 0, count, &event);
    recorder_condition_find_(
        test, recorder_heading_((const char *)records[0].format, &heading),
        sizeof(uintptr_t), &f);
    recorder_zero_(&arguments, sizeof arguments);
    arguments.text = recorder_text_;
    arguments.context = &context;
    f.arguments = &arguments;
    f.word = address;
    for (dot = f.start; dot < f.at && *dot != '.';)
        dot++;
    if (dot < f.at && dot[1] == '*') /* the precision is the index of a word */
        f.how.precision = (int32_t)event.argument[f.how.precision];
    f.how.flags = 0;
    f.text = recorder_string_at_(text, sizeof text);
    recorder_format_string_(&f);
    recorder_scratch_close_(&s);
    return f.text.size <= sizeof text &&
           recorder_condition_text_is_(test, text, f.text.size);
}

/* True if a test holds for an argument, whose place and kind `type` has. */
RECORDER_INLINE_ bool
recorder_trigger_is_(const struct recorder_condition_test_ *test, unsigned type,
                     const struct recorder *recorder, unsigned thread,
                     const struct recorder_record *records, unsigned count)
{
    unsigned n = type & 15, kind = type >> 4;
    uint64_t word;
    if (n >= 4 * count || n >= 12)
        return false;
    word = records[n / 4].argument[n % 4];
    if (kind == RECORDER_TYPE_ERROR_)
        return recorder_has_error_(word, sizeof(uintptr_t)) &&
               recorder_condition_number_is_(
                   test, 'd', (uint64_t)(int64_t)recorder_error_of_(word));
    if (kind < RECORDER_TYPE_REAL_) {
        unsigned unused = 64 - (8u << kind % 4);
        word <<= unused;
        return kind < 4
                   ? recorder_condition_number_is_(
                         test, 'd', (uint64_t)((int64_t)word >> unused))
                   : recorder_condition_number_is_(test, 'u', word >> unused);
    }
    if (kind == RECORDER_TYPE_REAL_)
        return recorder_condition_number_is_(
            test, sizeof(uintptr_t) == 4 ? 'F' : 'f', word);
    if (kind == RECORDER_TYPE_TEXT_)
        return recorder_trigger_text_(test, recorder, thread, records, count,
                                      word);
    return recorder_condition_character_is_(
        test,
        kind == RECORDER_TYPE_WIDE_ ? (uint32_t)word : (unsigned char)word,
        kind == RECORDER_TYPE_WIDE_);
}

/* True if all tests hold for the arguments of a record. */
RECORDER_FUNCTION_ bool recorder_trigger_compares_(
    struct recorder_trigger_ *trigger, const struct recorder *recorder,
    unsigned thread, const struct recorder_record *records, unsigned count)
{
    const struct recorder_condition_ *c = &trigger->condition;
    uintptr_t format = records[0].format, types[RECORDER_TRIGGER_TYPES_];
    struct recorder_trigger_typed_ *known =
        &trigger->formats[(format ^ format >> 5) % RECORDER_TRIGGER_KNOWN_];
    unsigned i, each = sizeof *types;
    bool found = __atomic_load_n(&known->format, __ATOMIC_ACQUIRE) == format;
    for (i = 0; i < RECORDER_TRIGGER_TYPES_; i++)
        types[i] = recorder_get_(&known->types[i]);
    recorder_fence_acquire_();
    if (RECORDER_UNLIKELY_(!found || recorder_get_(&known->format) != format))
        recorder_trigger_find_(trigger, known, (const char *)format, types);
    for (i = 0; i < c->tests_count; i++)
        if (!recorder_trigger_is_(&c->tests[i],
                                  types[i / each] >> i % each * 8 & 255,
                                  recorder, thread, records, count))
            return false;
    return true;
}

/* True if a record meets the condition, but for COUNTxTIME. */
RECORDER_INLINE_ bool
recorder_trigger_meets_(struct recorder_trigger_ *trigger,
                        const struct recorder *recorder, unsigned thread,
                        const struct recorder_record *records, unsigned count)
{
    const struct recorder_condition_ *c = &trigger->condition;
    return recorder_trigger_names_(trigger, recorder) &&
           (!c->tests_count ||
            recorder_trigger_compares_(trigger, recorder, thread, records,
                                       count)) &&
           (!(c->severities || c->begins) ||
            recorder_trigger_format_(c, (const char *)records[0].format));
}

/* Takes a trigger on from its state, ARMED_ or DUE_, after a record that counts
 * for it. */
RECORDER_FUNCTION_ void
recorder_trigger_hit_(struct recorder_trigger_ *trigger, uintptr_t state,
                      const struct recorder *recorder, unsigned thread,
                      const struct recorder_record *records, unsigned count)
{
    bool waits = state == RECORDER_TRIGGER_ARMED_ && trigger->after;
    uintptr_t next = waits ? (uintptr_t)RECORDER_TRIGGER_SET_
                           : (uintptr_t)RECORDER_TRIGGER_ACTS_;
    if (__atomic_load_n(&recorder_triggers_.acting, __ATOMIC_RELAXED) &&
        recorder_trigger_acts_here_())
        return;
    if (state == RECORDER_TRIGGER_ARMED_ && trigger->condition.count > 1 &&
        !recorder_trigger_rate_(trigger, records[0].time))
        return;
    RECORDER_STEP_(T2);
    if (!recorder_swap_(&trigger->state, &state, next))
        return; /* another thread was faster */
    if (!waits) {
        recorder_action_do_(trigger, recorder, thread, records, count);
        return;
    }
    recorder_put_(&trigger->due, records[0].time + trigger->after);
    trigger->order = records[0].order;
    __atomic_store_n(&trigger->state, RECORDER_TRIGGER_DUE_, __ATOMIC_RELEASE);
    recorder_action_mark_();
}

/* True if a record counts for a trigger in this state. */
RECORDER_INLINE_ bool
recorder_trigger_counts_(struct recorder_trigger_ *trigger, uintptr_t state,
                         const struct recorder *recorder, unsigned thread,
                         const struct recorder_record *records, unsigned count)
{
    if (state == RECORDER_TRIGGER_ARMED_)
        return recorder_trigger_meets_(trigger, recorder, thread, records,
                                       count);
    return state == RECORDER_TRIGGER_DUE_ &&
           (intptr_t)(records[0].time - recorder_get_(&trigger->due)) >= 0;
}

/* The registry's hook, in front of the one that was there. */
RECORDER_FUNCTION_ void
recorder_trigger_hook_(const struct recorder *recorder, unsigned thread,
                       const struct recorder_record *records, unsigned count)
{
    intptr_t trace = __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED);
    struct recorder_trigger_ *trigger = recorder_triggers_.all;
    uintptr_t i, used = recorder_get_(&recorder_triggers_.used);
    if (RECORDER_UNLIKELY_(trace != RECORDER_WATCHED_) &&
        recorder_trace_value_(trace) > 0 && recorder_triggers_.next)
        recorder_triggers_.next(recorder, thread, records, count);
    if (!recorder_trace_is_watched_(trace))
        return;
    for (i = 0; i < used; i++, trigger++) {
        uintptr_t state = __atomic_load_n(&trigger->state, __ATOMIC_ACQUIRE);
        if (RECORDER_UNLIKELY_(recorder_trigger_counts_(
                trigger, state, recorder, thread, records, count)))
            recorder_trigger_hit_(trigger, state, recorder, thread, records,
                                  count);
    }
}

/* ------------------------------------------------------------------- set -- */

/* Says "recorder: trigger: TEXT: what is wrong", from where it is. */
RECORDER_SELDOM_ bool recorder_trigger_refuse_(const char *text, size_t size,
                                               const char *wrong)
{
    size_t most = RECORDER_CONDITION_MAX_;
    return recorder_complain_("trigger: ", text, size < most ? size : most,
                              wrong);
}

/* Makes ticks of nanoseconds; 0: a word does not hold twice as many. */
RECORDER_SELDOM_ uintptr_t
recorder_trigger_ticks_(const struct recorder_clock_ *clock, uint64_t ns)
{
    uint64_t rate = clock->ns_per_tick, ticks, rest;
    unsigned i;
    if (!rate)
        return 0;
    ticks = ns / rate;
    rest = ns % rate;
    if (ticks >> 30)
        return 0;
    for (i = 0; i < 32; i++) { /* 32 binary digits of the quotient */
        rest <<= 1;
        ticks = ticks << 1 | (rest >= rate);
        rest -= rest >= rate ? rate : 0;
    }
    return ticks > UINTPTR_MAX / 4 ? 0 : (uintptr_t)(ticks + !ticks);
}

/* Fills in `within` and `after`. The rate of the ticks is known to a part in
 * 10,000 when the program is 3 ms old: until then it waits. */
RECORDER_SELDOM_ const char *
recorder_trigger_times_(struct recorder_trigger_ *trigger)
{
    const struct recorder_condition_ *c = &trigger->condition;
    struct recorder_clock_ clock;
    if (c->count == 1 && !c->after_ns)
        return NULL;
    if (RECORDER_HOSTED_OR_(
            recorder_clock_ns_(RECORDER_MONOTONIC_) -
                    recorder_home_.registry->start.monotonic_ns <
                3000000,
            false)) /* the port says the rate */
        recorder_os_poll_(NULL, 0, 4);
    recorder_clock_open_(&clock);
    trigger->within =
        c->within_ns ? recorder_trigger_ticks_(&clock, c->within_ns) : 0;
    trigger->after =
        c->after_ns ? recorder_trigger_ticks_(&clock, c->after_ns) : 0;
    if ((c->within_ns && !trigger->within) || (c->after_ns && !trigger->after))
        return "a time is longer than this machine's clock can tell";
    return NULL;
}

/* Reads one trigger into its slot. Returns null, or what is wrong. */
RECORDER_SELDOM_ const char *
recorder_trigger_read_(struct recorder_trigger_ *trigger, const char *text,
                       size_t size, const char **at)
{
    const char *wrong;
    unsigned i;
    trigger->actions = trigger->function ? RECORDER_ACTION_CALL_ : 0;
    trigger->path = NULL;
    wrong =
        recorder_condition_parse_(&trigger->condition, text, size, false, at);
    if (wrong)
        return wrong;
    for (i = 0; i < trigger->condition.tests_count; i++)
        if (trigger->condition.tests[i].how == '~')
            return "~ is for recorder watch and --where: a program compares "
                   "texts by = and !=";
    if (trigger->condition.actions) {
        size_t before =
            (size_t)(trigger->condition.actions - trigger->condition.text);
        *at = text + before;
        while (recorder_condition_blank_(**at))
            ++*at;
        wrong =
            recorder_action_parse_(trigger, trigger->condition.text + before);
    } else if (!trigger->function) {
        *at = text;
        wrong = "a second ':' and an action are missing";
    }
    if (!wrong && !(trigger->actions & ~(unsigned)RECORDER_ACTION_AGAIN_))
        wrong = "it does nothing but wait again";
    recorder_bytes_(trigger->said, text, size);
    trigger->said[size] = '\0';
    return wrong ? wrong : recorder_trigger_times_(trigger);
}

/* Puts our hook before the existing one; dump.h's constructor may run later,
 * and then omits its own. */
RECORDER_SELDOM_ void recorder_trigger_enter_(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t no = 0;
    if (!recorder_swap_(&recorder_triggers_.hooked, &no, 1))
        return;
    recorder_triggers_.next = registry->hook ? registry->hook : recorder_print_;
    __atomic_store_n(&registry->hook, &recorder_trigger_hook_,
                     __ATOMIC_RELEASE);
}

/* True if a trigger's names are of any recorder; a library may bring it later. */
RECORDER_SELDOM_ bool
recorder_trigger_has_(const struct recorder_trigger_ *trigger)
{
    struct recorder *recorder = recorder_readers_enter_();
    while (recorder && !recorder_regex_match_(trigger->condition.names,
                                              recorder->name))
        recorder = recorder_list_next_(recorder);
    recorder_readers_leave_();
    return recorder != NULL;
}

/* Sets one trigger. */
RECORDER_SELDOM_ bool recorder_trigger_one_(const char *text, size_t size,
                                            recorder_trigger_function *function,
                                            void *context)
{
    struct recorder_trigger_ *trigger = recorder_triggers_.all;
    const struct recorder_trigger_ *end = trigger + RECORDER_TRIGGERS_;
    uintptr_t state = RECORDER_TRIGGER_FREE_, used;
    uintptr_t before = recorder_get_(&recorder_triggers_.used);
    const char *wrong, *at;
    while (trigger < end &&
           !recorder_swap_(&trigger->state, &state, RECORDER_TRIGGER_SET_)) {
        state = RECORDER_TRIGGER_FREE_;
        trigger++;
    }
    if (trigger == end)
        return recorder_trigger_refuse_(text, size,
                                        "there are 8 triggers already");
    used = (uintptr_t)(trigger - recorder_triggers_.all) + 1;
    while (before < used &&
           !recorder_swap_(&recorder_triggers_.used, &before, used))
        ;
    trigger->function = function;
    trigger->context = context;
    wrong = recorder_trigger_read_(trigger, text, size, &at);
    __atomic_store_n(&trigger->state,
                     wrong ? (uintptr_t)RECORDER_TRIGGER_FREE_
                           : (uintptr_t)RECORDER_TRIGGER_ARMED_,
                     __ATOMIC_RELEASE);
    if (wrong)
        return recorder_trigger_refuse_(at, size - (size_t)(at - text), wrong);
    recorder_trigger_enter_();
    recorder_action_mark_();
    if (!recorder_trigger_has_(trigger))
        recorder_trigger_refuse_(text, size, "no recorder has this name yet");
    return true;
}

/* Sets the triggers of a text, which are divided by ';' outside of "TEXT". */
RECORDER_CALLED_SELDOM_ bool
recorder_trigger_call(const char *text, recorder_trigger_function *function,
                      void *context)
{
    bool good = true, quoted = false;
    recorder_start_();
    while (text && *text) {
        size_t size = 0, end;
        while (recorder_condition_blank_(*text))
            text++;
        for (; text[size] && (quoted || text[size] != ';'); size++) {
            if (quoted && text[size] == '\\' && text[size + 1])
                size++;
            else if (text[size] == '"')
                quoted = !quoted;
        }
        for (end = size; end && recorder_condition_blank_(text[end - 1]);)
            end--;
        if (end)
            good &= recorder_trigger_one_(text, end, function, context);
        quoted = false;
        text += size + (text[size] != '\0');
    }
    return good;
}
RECORDER_CALLED_SELDOM_ bool recorder_trigger(const char *text)
{
    return recorder_trigger_call(text, NULL, NULL);
}

RECORDER_CALLED_SELDOM_ void recorder_trigger_arm(void)
{
    unsigned i;
    for (i = 0; i < RECORDER_TRIGGERS_; i++) {
        struct recorder_trigger_ *trigger = &recorder_triggers_.all[i];
        uintptr_t state = RECORDER_TRIGGER_DONE_;
        if (!recorder_swap_(&trigger->state, &state, RECORDER_TRIGGER_SET_))
            continue;
        recorder_action_arm_(trigger);
    }
    recorder_action_mark_();
}

RECORDER_CALLED_SELDOM_ void recorder_trigger_thaw(void)
{
    recorder_action_change_(recorder_trace_thawed_);
}

RECORDER_UNSEEN_ __attribute__((constructor(103))) static void
recorder_trigger_ask_(void)
{
    if (recorder_triggers_.asked)
        return;
    recorder_triggers_.asked = true;
    recorder_trigger(recorder_os_environment_("RECORDER_TRIGGERS"));
}
/* Names the arguments of a trigger's condition that no record had. */
RECORDER_SELDOM_ void recorder_trigger_lacks_(struct recorder_trigger_ *trigger)
{
    const struct recorder_condition_ *c = &trigger->condition;
    unsigned i;
    for (i = 0; i < c->tests_count; i++) {
        const char *field = c->tests[i].field, *at = trigger->said;
        size_t size = 0;
        at += field ? field - c->text : 0;
        while (at[size])
            size++;
        if (trigger->had[RECORDER_CONDITION_TESTS_] && !trigger->had[i])
            recorder_trigger_refuse_(at, size, "no record had this argument");
    }
    trigger->had[RECORDER_CONDITION_TESTS_] = 0; /* each file calls it */
}
RECORDER_UNSEEN_ __attribute__((destructor(104))) static void
recorder_trigger_end_(void)
{
    unsigned i;
    for (i = 0; i < RECORDER_TRIGGERS_; i++)
        if (recorder_home_.registry->hook == recorder_trigger_hook_)
            recorder_trigger_lacks_(&recorder_triggers_.all[i]);
}
/* Removes a closed library's hook, unless another one precedes it. */
RECORDER_AT_CLOSE_(103) recorder_trigger_leave_(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    unsigned i;
    if (registry->hook != recorder_trigger_hook_)
        return;
    registry->hook = recorder_triggers_.next;
    for (i = 0; i < RECORDER_TRIGGERS_; i++)
        __atomic_store_n(&recorder_triggers_.all[i].state,
                         RECORDER_TRIGGER_DONE_, __ATOMIC_RELEASE);
    recorder_triggers_.hooked = 0;
    recorder_action_mark_();
}

RECORDER_C_END_
#endif
