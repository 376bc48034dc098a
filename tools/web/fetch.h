/* fetch.h - gets a file from an HTTP server. */
/* SPDX-License-Identifier: MIT */
#ifndef FETCH_H
#define FETCH_H

#include <stdbool.h>
#include <stdint.h>

/* Is it "http://HOST:PORT/"? */
bool fetch_is_server(const char *name);

/* Writes what stands at a path of a server into a file. The server may be
 * hostile: it must say how long the file is, which is `bytes_max` at most, and
 * send all of it, 10 KB a second at least. False, and why not; *refused: it
 * answered, with something else. */
bool fetch(const char *server, const char *path, int fd, uint64_t bytes_max,
           bool *refused, char why[256]);

#endif
