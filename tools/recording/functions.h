/* functions.h - names the functions that recorded, for a recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* Makes source.functions of the events of the last take, and rewinds the
 * reader: a reader without the program's files shows these names. */
void functions_keep(struct call *);
