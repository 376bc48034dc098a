/* offsets.c - the table of offsets, by the size of words. */
/* SPDX-License-Identifier: MIT */
#include "offsets.h"

#define AT_4(name, structure, member, at_4, at_8) .name##_##member = at_4,
#define AT_8(name, structure, member, at_4, at_8) .name##_##member = at_8,
#define SIZE_4(name, structure, of_4, of_8) .name##_size = of_4,
#define SIZE_8(name, structure, of_4, of_8) .name##_size = of_8,
const struct offsets offsets[2] = {
    {RECORDER_OFFSETS_(AT_4) RECORDER_SIZES_(SIZE_4).slot_size =
         RECORDER_SLOT_WORDS * 4},
    {RECORDER_OFFSETS_(AT_8) RECORDER_SIZES_(SIZE_8).slot_size =
         RECORDER_SLOT_WORDS * 8}};
