/* gdb_library.c - a shared library that records when it is loaded. */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"

RECORDER(NAME, 16, "Of a library")

__attribute__((constructor)) static void loaded(void)
{
    record(NAME, "loaded, says " __FILE__);
}
