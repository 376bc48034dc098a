/* kinds.h - the words of headings of recorder_switch.h. */
/* SPDX-License-Identifier: MIT */
#pragma once

enum kind {
    KIND_OTHER,
    KIND_SWITCH, /* the subject runs; how: the other thread left: b p e */
    KIND_IN,     /* it runs */
    KIND_OUT,    /* it left; how: b blocked, p stays ready, e has ended,
                  * s stopped */
    KIND_READY,
    KIND_SLEEP, /* of a processor, until an interrupt: */
    KIND_WAKE,
    KIND_ENTER, /* of an interrupt: */
    KIND_EXIT,
    KIND_OFF, /* of interrupts; how: + they were off before */
    KIND_ON,
    KIND_FAULTS, /* page faults of a thread; how: m memory, d disk */
    KINDS
};

/* Reads the kind of an event; *how: the letter after it, or 0. Unknown words
 * are skipped. */
enum kind kind_of(const char *words, char *how);
/* "in": the word of a kind. */
const char *kind_word(enum kind);
