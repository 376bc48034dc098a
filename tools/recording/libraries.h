/* libraries.h - keeps the dynamic linker's list of libraries in a recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader.h"

/* Reads the dynamic linker's list for debuggers, and all pointers to it,
 * through a memory that keeps the read bytes. Without the list a debugger knows
 * no library in a recording, and no frame after one. */
void libraries_keep(int pid, struct memory *keeper);
