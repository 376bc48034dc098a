/* calls.h - the words of a slot of calls: for hooks, and for readers. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_CALLS_H_
#define RECORDER_CALLS_H_

#include "layout.h"

/* ---------------------------------------------------------------- calls --
 *
 * A record whose kind is `calls` has calls and returns in its arguments, up to
 * the first word that is 0; they have its order and the next ones. `time` is the
 * first call's.
 *
 * Words of 64 bits: `caller` is the first call's function, and its highest bit a
 * mark (functions.h). A word is a call, from the top:
 *     32  of the first: its stack pointer / 16. Of others: the function's
 *         address less the first one's; 2^31: that has more bits, and the
 *         next word is the function's address
 *     15  2^14 and the bytes / 16 by which its stack pointer is lower than the
 *         first one
 *     15  ticks since `time`
 *      1  the function returns
 *      1  1
 * Words of 32 bits: `caller` is the first call's stack pointer, and its lowest
 * bit the mark. Two words are a call: the function's address, then
 *     14  2^13 and the bytes / 4, as above
 *     16  ticks, and 1, and 1, as above
 *
 * A call is stored into words that were 0, its function's address first. A
 * reader that finds one of the two words 0 has come to the end.
 */
#define RECORDER_CALLS_KIND_ "calls"
#define RECORDER_CALL_RETURNS_ 2u
#define RECORDER_CALL_FAR_ 0x80000000u
#define RECORDER_CALL_MARK_BIT_(word_bytes) ((word_bytes) == 8 ? 63 : 0)
#define RECORDER_CALL_TICKS_BITS_(word_bytes) ((word_bytes) == 8 ? 15 : 16)
#define RECORDER_CALL_STACK_BITS_(word_bytes) ((word_bytes) == 8 ? 15 : 14)
#define RECORDER_CALL_STACK_UNIT_(word_bytes) ((word_bytes) == 8 ? 16u : 4u)

#endif
