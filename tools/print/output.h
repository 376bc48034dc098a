/* output.h - files and folders that appear only when they are whole. */
/* SPDX-License-Identifier: MIT */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "command.h"

/* A file that appears under its name only when it is whole: written beside it
 * under another name, and renamed. "-" is stdout. Fails by fail(). */
struct output {
    struct call *call;
    const char *path;
    char *temporary; /* null: stdout */
    FILE *file;
};
void output_open(struct output *, struct call *, const char *path);
void output_close(struct output *); /* checks for a full disk, and renames */
/* Ends the command if a write failed. Called often, so that a full disk is
 * noticed soon. */
void output_check(struct output *);

/* Begins a folder under a temporary name; it must not exist, or be empty. */
void output_folder(struct output *, struct call *, const char *path);
/* Adds bytes to a file of the folder; creates it first if need be. */
void output_append(struct output *, const char *name, const void *from,
                   size_t size);
/* Gives the folder its final name. */
void output_folder_close(struct output *);

/* Registers a path to be removed if the command ends before the rename. */
void output_temporary(const char *path);

#endif
