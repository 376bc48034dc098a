/* pending_switches.h - adds switches to a recording of all of a program's memory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core.h"

/* Adds the switches that the last take read from the kernel's rings, as a
 * second recorder, linked after the program's `switches`. `put` changes bytes
 * of the program in the recording, whose pieces are sorted by address. Returns
 * their number. */
size_t pending_switches_add(struct call *,
                            void (*put)(struct memory *, uint64_t address,
                                        const unsigned char *from, size_t size),
                            struct memory *kept, struct pieces *);
