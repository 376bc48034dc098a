/* decode.h - records whose arguments encode a format, as a function of the
 * program decodes them: compat/qnx has one. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_DECODE_H_
#define RECORDER_DECODE_H_

#include "event.h"
#include "heading.h"
#include "layout.h"

RECORDER_C_BEGIN_

/* ---------------------------------------------------------------- decode -- */

/* A decoded record: the format and arguments that are shown. */
struct recorder_decoded_ {
    uint64_t argument[12];
    uint32_t missing; /* bit i: argument i was lost, or never was */
    int severity;     /* as in recorder_headed_; before, the heading's */
    bool hardware;
    char format[96];
};

struct recorder_decoder_ {
    const char *word; /* in the headings of its records */
    /* False: the record cannot be decoded. */
    bool (*decode)(const struct recorder_event *event,
                   struct recorder_decoded_ *to);
    /* The complement of this decoder's address, as a check: the program may have
     * overwritten the registry's word. */
    uintptr_t check;
};

/* Returns the decoder, or null. */
RECORDER_INLINE_ const struct recorder_decoder_ *recorder_decoder_get_(void)
{
    const struct recorder_decoder_ *decoder =
        __atomic_load_n(&recorder_home_.registry->decoder, __ATOMIC_ACQUIRE);
    return decoder && decoder->check == ~(uintptr_t)decoder ? decoder : NULL;
}

/* True if the records of a heading have a decoder. */
RECORDER_INLINE_ bool
recorder_decode_is_(const struct recorder_headed_ *heading)
{
    const struct recorder_decoder_ *decoder = recorder_decoder_get_();
    return decoder && recorder_heading_word_(heading, decoder->word);
}

/* Decodes a record whose heading has the decoder's word. */
RECORDER_SELDOM_ bool recorder_decode_(const struct recorder_event *event,
                                       int severity, bool hardware,
                                       struct recorder_decoded_ *to)
{
    const struct recorder_decoder_ *decoder = recorder_decoder_get_();
    to->severity = severity;
    to->hardware = hardware;
    return decoder && decoder->decode(event, to);
}

RECORDER_C_END_
#endif
