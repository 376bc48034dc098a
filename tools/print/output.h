/* output.h - files and folders that appear only when they are whole. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* A file that appears under its name only when it is whole: the caller writes
 * another file in the same folder, which output_close() renames. Only its owner
 * may read it, as records can be secret; a file that it replaces
 * keeps its mode. "-" is stdout. Fails by fail(). */
struct output {
    struct call *call;
    const char *path;
    char *temporary;     /* null: stdout, a pipe or a device */
    FILE *file, *stream; /* `stream`: gets the bytes of `file` in the end */
};
void output_open(struct output *, struct call *, const char *path);
/* Lets the caller write at any place of `file`, also where that is a pipe: then
 * `file` becomes one without a name, which output_close() copies. */
void output_seekable(struct output *);
void output_close(struct output *); /* checks for a full disk, and renames */
/* Ends the command if a write failed. Called often, so that a full disk is
 * noticed soon. */
void output_check(struct output *);

/* Begins a folder under a temporary name, for its owner only; the folder of that
 * name must not exist, or be empty. */
void output_folder(struct output *, struct call *, const char *path);
/* Adds bytes to a file of the folder; creates it first if need be. */
void output_append(struct output *, const char *name, const void *from,
                   size_t size);
/* Makes a folder in it, of the first of these names that is free: `name`, with
 * _ for all that a file's name is better without, name-2, name-3 ... Returns
 * that, and a slash, to be freed. */
char *output_subfolder(struct output *, const char *name);
/* Gives the folder its final name. */
void output_folder_close(struct output *);

/* Makes a template for mkstemp(), of a temporary name in the folder of `path`; to
 * be freed. */
char *output_beside(const char *path);
/* Registers a path to be removed if the command ends before the rename. */
void output_temporary(const char *path);
