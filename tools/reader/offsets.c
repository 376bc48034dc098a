/* offsets.c - the table of offsets, compared with the header. */
/* SPDX-License-Identifier: MIT */
#include "offsets.h"

#include <stddef.h>

#define AT_4(structure, member, at_4, at_8) .structure##_##member = at_4,
#define AT_8(structure, member, at_4, at_8) .structure##_##member = at_8,
#define SIZE_4(structure, of_4, of_8) .structure##_size = of_4,
#define SIZE_8(structure, of_4, of_8) .structure##_size = of_8,
const struct offsets offsets[2] = {
    {OFFSETS(AT_4) OFFSETS_SIZES(SIZE_4).slot_size = RECORDER_SLOT_WORDS * 4},
    {OFFSETS(AT_8) OFFSETS_SIZES(SIZE_8).slot_size = RECORDER_SLOT_WORDS * 8}};

/* What the table calls the header's structures. */
typedef struct recorder_registry of_registry;
typedef struct recorder_moment of_moment;
typedef struct recorder_wrap of_wrap;
typedef struct recorder of_recorder;
typedef struct recorder_thread of_row;
typedef struct recorder_tweak of_tweak;
typedef struct recorder_record of_record;
typedef struct recorder_turn of_turn;

#define NATIVE(of_4, of_8) (sizeof(void *) == 8 ? (of_8) : (of_4))
#define CHECK(structure, member, at_4, at_8)                                   \
    _Static_assert(offsetof(of_##structure, member) == NATIVE(at_4, at_8),     \
                   "recorder.h moved " #structure "." #member);
#define CHECK_SIZE(structure, of_4, of_8)                                      \
    _Static_assert(sizeof(of_##structure) == NATIVE(of_4, of_8),               \
                   "recorder.h changed the size of " #structure);
OFFSETS(CHECK)
OFFSETS_SIZES(CHECK_SIZE)
_Static_assert(offsetof(struct recorder_ring, write) == 0 &&
                   2 * offsetof(struct recorder_ring, given_up) ==
                       sizeof(struct recorder_ring) &&
                   offsetof(struct recorder_ring, lost) ==
                       offsetof(struct recorder_ring, given_up) +
                           sizeof(uintptr_t),
               "recorder.h changed the head of a ring");
_Static_assert(sizeof(of_record) + sizeof(uintptr_t) + sizeof(of_turn) ==
                   RECORDER_SLOT_WORDS * sizeof(uintptr_t),
               "recorder.h changed the size of a slot");
