/* recorder.c - the recorders of this program, and the functions for recorder.rs. */
/* SPDX-License-Identifier: MIT */
#define RECORDER_COMPILE_ONCE /* the functions that record get a name for the linker */
#define RECORDER_COMPILE_HERE
#include "recorder_dump.h"

RECORDER(trips, 256, "Trips of the ferry");
RECORDER(tickets, 64, "Who goes by it");

/* Writes all records to stderr. */
void rust_dump(void);
void rust_dump(void)
{
    recorder_dump();
}
