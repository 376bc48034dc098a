/* off.h - RECORDER_OFF: the functions that programs call, empty. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OFF_H_
#define RECORDER_OFF_H_

#include "arguments.h"
#include "event.h"

RECORDER_C_BEGIN_
RECORDER_STUBS_

struct recorder_cursor {
    uint64_t missed;
};

/* Never called: record() and RECORDER_COPY name them in a branch not taken. */
RECORDER_STUB_(uintptr_t, recorder_record_few_,
               (const struct recorder *recorder, const char *format,
                uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d), return 0;)
static inline uintptr_t recorder_record_more_(const struct recorder *recorder,
                                              const char *format,
                                              unsigned count, ...)
{
    return 0;
}
RECORDER_STUB_(const char *, recorder_copy_,
               (const struct recorder *recorder, const char *string),
               return string;)
RECORDER_STUB_(uintptr_t, recorder_context_,
               (const struct recorder *recorder, const char *trace,
                const char *text, const char *number,
                struct recorder_given_ id), return 0;)

RECORDER_STUB_(size_t, recorder_size_of_text_,
               (const char *format, unsigned index, uintptr_t before,
                size_t size), return size;)
RECORDER_STUB_(uintptr_t, recorder_word_of_text_,
               (const struct recorder *recorder, uintptr_t text, size_t size,
                const struct recorder_readonly_ *module), return text;)

RECORDER_STUB_(uintptr_t, recorder_word_of_error_, (void), return 0;)

RECORDER_STUB_(void, recorder_thread_name, (const char *name), return;)
RECORDER_STUB_(bool, recorder_enter, (struct recorder *recorder), return true;)
RECORDER_STUB_(void, recorder_leave, (struct recorder *recorder), return;)
RECORDER_STUB_(void, recorder_resume, (const struct recorder *recorder),
               return;)

RECORDER_STUB_(size_t, recorder_dump, (void), return 0;)
RECORDER_STUB_(size_t, recorder_dump_fd, (int fd), return 0;)
RECORDER_STUB_(size_t, recorder_dump_for, (const char *regex), return 0;)
RECORDER_STUB_(size_t, recorder_dump_to, (recorder_sink *sink, void *context),
               return 0;)
RECORDER_STUB_(bool, recorder_line, (const char *line), return true;)
RECORDER_STUB_(bool, recorder_next,
               (struct recorder_cursor *cursor, struct recorder_event *event),
               return false;)
RECORDER_INLINE_ size_t recorder_event_text(const struct recorder_event *event,
                                            char *to, size_t size)
{
    if (size)
        *to = '\0';
    return 0;
}
RECORDER_STUB_(bool, recorder_dump_set, (const char *setting), return true;)
RECORDER_STUB_(bool, recorder_dump_on_signal, (int sig), return true;)
RECORDER_STUB_(void, recorder_dump_on_common_signals,
               (unsigned add, unsigned remove), return;)
RECORDER_STUB_(bool, recorder_alt_stack, (void), return true;)
RECORDER_STUB_(bool, recorder_file, (const char *path), return true;)

RECORDER_STUB_(int, recorder_trace_set, (const char *specification),
               return 0; /* RECORDER_TRACE_OK */)
RECORDER_STUB_(recorder_type *, recorder_configure_type,
               (unsigned char conversion, recorder_type *function),
               return NULL;)

RECORDER_STUB_(int, recorder_kernel, (unsigned kib, unsigned ms), return 0;)
RECORDER_STUB_(void, recorder_kernel_pour, (void), return;)

RECORDER_STUB_(bool, recorder_trigger, (const char *text), return true;)
RECORDER_STUB_(bool, recorder_trigger_call,
               (const char *text, recorder_trigger_function *function,
                void *context), return true;)
RECORDER_STUB_(void, recorder_trigger_arm, (void), return;)
RECORDER_STUB_(void, recorder_trigger_thaw, (void), return;)

RECORDER_STUBS_END_
RECORDER_C_END_
#endif
