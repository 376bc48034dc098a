/* output.h - more of output_open(): folders that appear only when whole. */
/* SPDX-License-Identifier: MIT */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "command.h"

/* Ends the command if what was just written failed: ask soon, so that a full
 * disk is not written to for long. */
void output_check(struct output *);

/* Begins a folder under a temporary name; it must not exist, or be empty. */
void output_folder(struct output *, struct call *, const char *path);
/* Adds bytes to a file in it, which need not exist. */
void output_append(struct output *, const char *name, const void *from,
                   size_t size);
/* Gives the folder its name. */
void output_folder_close(struct output *);

/* A path that is removed should the command end before the rename. */
void output_temporary(const char *path);

#endif
