/* recorders.c - the recorders of this program, once. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

RECORDER(trips, 256, "Trips of the ferry");
RECORDER(tickets, 64, "Who goes by it");
