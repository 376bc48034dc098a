/* libraries.h - keeps the dynamic linker's list of libraries in a recording. */
/* SPDX-License-Identifier: MIT */
#ifndef LIBRARIES_H
#define LIBRARIES_H

#include "reader.h"

/* Reads the list that the dynamic linker of a process has for debuggers, and all
 * that leads to it, through a memory that keeps what is read. Without it a
 * debugger knows of no library in a recording, and of no frame behind one. */
void libraries_keep(int pid, struct memory *keeper);

#endif
