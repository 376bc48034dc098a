/* background.h - a thread that dumps; a part of body.h. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_1X_BACKGROUND_H
#define RECORDER_1X_BACKGROUND_H

extern int recorder_os_thread_new(uintptr_t *thread, const void *attributes,
                                  void *(*run)(void *), void *with)
    RECORDER_LABEL_(pthread_create) __attribute__((weak));
extern int recorder_os_thread_detach(uintptr_t thread)
    RECORDER_LABEL_(pthread_detach) __attribute__((weak));

/* Starts a thread of ours, which takes none of the program's signals. */
RECORDER_FUNCTION_ void recorder_1x_thread(void *(*run)(void *))
{
    struct recorder_signal_set_ all, before = {{0}};
    uintptr_t thread;
    if (!recorder_os_thread_new || !recorder_os_thread_detach)
        return;
    __builtin_memset(&all, 0xff, sizeof all);
    recorder_os_mask_(RECORDER_SIG_SETMASK_, &all, &before);
    if (recorder_os_thread_new(&thread, NULL, run, NULL) == 0)
        recorder_os_thread_detach(thread);
    recorder_os_mask_(RECORDER_SIG_SETMASK_, &before, NULL);
}

/* Shows the records that the cursor has not shown yet; returns their number. */
RECORDER_FUNCTION_ unsigned
recorder_1x_background_pass(struct recorder_cursor *cursor)
{
    char stack[RECORDER_SCRATCH_STACK_] __attribute__((aligned(16)));
    struct recorder_output_ out = recorder_output_to_(-1);
    unsigned shown = 0, level = 0;
    struct recorder_1x_lines how = recorder_1x_configured(&level);
    struct recorder_scratch_ s;
    struct recorder_clock_ clock;
    struct recorder_event event;
    struct recorder_held_ held;
    recorder_os_hold_signals_(&held);
    if (!recorder_scratch_open_(&s, 1, NULL))
        recorder_scratch_open_(&s, 0, stack);
    recorder_clock_open_(&clock);
    out.fd = how.show ? -1 : recorder_1x_fd(how.output);
    out.gathered = s.out;
    out.gathered_max = s.out_max;
    for (; recorder_next(cursor, &event); shown++)
        recorder_1x_show(&how.lines, &s, &clock, &event, &out);
    recorder_output_flush_(&out);
    recorder_scratch_close_(&s);
    recorder_os_release_signals_(&held);
    return shown;
}
RECORDER_FUNCTION_ void *recorder_1x_background_run(void *unused)
{
    static struct recorder_cursor cursor;
    uintptr_t state;
    __builtin_memset(&cursor, 0, sizeof cursor);
    cursor.batch.regex = recorder_1x.background_for;
    do {
        state = __atomic_load_n(&recorder_1x.background, __ATOMIC_ACQUIRE);
        if (recorder_1x_background_pass(&cursor) == 0 && state == 1) {
            intptr_t sleep = RECORDER_1X_VALUE_(recorder_dump_sleep);
            recorder_os_poll_(NULL, 0,
                              sleep > 0 && sleep < 60000 ? (int)sleep : 1);
        }
    } while (state == 1);
    __atomic_store_n(&recorder_1x.background, 0, __ATOMIC_RELEASE);
    return unused;
}

RECORDER_1X_ void recorder_background_dump(const char *regex)
{
    uintptr_t none = 0;
    size_t i;
    const char *what = recorder_set_is_(regex, "all") ? ".*" : regex;
    const char *wrong = recorder_regex_check_(what);
    if (wrong) {
        recorder_set_warn_(regex, wrong);
        return;
    }
    recorder_background_dump_stop();
    if (!__atomic_compare_exchange_n(&recorder_1x.background, &none, 1, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    for (i = 0; what[i] && i < sizeof recorder_1x.background_for - 1; i++)
        recorder_1x.background_for[i] = what[i];
    recorder_1x.background_for[i] = '\0';
    recorder_1x_thread(recorder_1x_background_run);
}

/* Returns when everything recorded before the call is shown, after 2 s at
 * most. */
RECORDER_1X_ void recorder_background_dump_stop(void)
{
    uintptr_t one = 1;
    unsigned i;
    __atomic_compare_exchange_n(&recorder_1x.background, &one, 2, false,
                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    for (i = 0; i < 2000 &&
                __atomic_load_n(&recorder_1x.background, __ATOMIC_ACQUIRE) != 0;
         i++)
        recorder_os_poll_(NULL, 0, 1);
}

#endif
