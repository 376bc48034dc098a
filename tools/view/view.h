/* view.h - the page and its batches, for timelines in files and live ones. */
/* SPDX-License-Identifier: MIT */
/*
    A page reads batches: JSON objects in the file, or sent to it one by one.
    A batch holds up to VIEW_BATCH events:

    count       how many
    columns     base64 of raw deflate of: sequence numbers, times in ns,
                threads and sites, one column after the other, as varints
                (numbers and times as zigzag differences to the row above,
                modulo 2^64); for each event whose format begins with >>, =>
                or << a number of its span's id, 0: none (spans.h); then for
                each series: its length, rows as differences, and doubles
    texts       for each VIEW_BLOCK events base64 of raw deflate of: the size
                of the rest as varint; their messages, a newline after each;
                their arguments: a count, and the kind and value of each; a
                text that may have changed has the kind after the last one
    formats     [format, location] that no batch had before, in order, with
                "sw2" after them if their records have a severity
    fields      [format, name...] the same: names that it gives arguments
    callers     [address, function] the same
    sites       [recorder, format, caller] the same: a call site of record()
    recorders   [address, name, ...] the same; figures: of all recorders
    names       [name] the same, of all recorders, also of those not chosen
    threads     [row, number, id, name] the same, with 1 after them if it has
                ended, or again with another name or end; the first is row 1,
                as row 0 is the unknown thread
    series      [recorder, argument, name] the same: a value to plot; 0: the
                argument that its format names
    switches    in the first batch of a file, and in any of a running program
                that records switches: rows of threads, names of interrupts,
                count, and base64 of raw deflate of the slices (switches.h):
                8 * kind + state, index of thread or interrupt, processor,
                depth, begin as difference to the one above, length
*/
#pragma once

#include "switches.h"

enum { VIEW_BATCH = 65536, VIEW_BLOCK = 4096 };

/* The state of a page, so that batches need not repeat it. */
struct view_pack;
struct view_pack *view_pack_new(struct call *, struct reader *,
                                const struct value_option *,
                                size_t values_count);
void view_pack_free(struct view_pack *);
/* Says which of the values no event had. */
void view_pack_warn(const struct view_pack *);
/* The next batch has them, too. */
void view_pack_switches(struct view_pack *, const struct switches *);
/* Batches of a running program have the switches since the last one; the batch
 * after view_pack_ends() has the rest. */
void view_pack_follow(struct view_pack *);
void view_pack_ends(struct view_pack *);
/* Writes the next events, at most `max`, as a batch. Returns their number. The
 * figures of recorders are from the last reader_count(). */
size_t view_pack_write(struct view_pack *, FILE *, size_t max, bool in_html);

/* Write a page up to the place of its data, and the rest after it. `live`: the
 * page will fetch batches. */
struct view_page {
    struct call *call;
    struct reader *reader;
    bool live;
    char nonce[33];
};
void view_page_begin(struct view_page *, FILE *);
void view_page_end(struct view_page *, FILE *);

/* True if there is a display and stdout is a terminal: then a file can be
 * opened in the user's browser. */
bool view_can_open(void);
void view_open(const char *path);

/* Serves the page of a running program until it ends. Returns the exit
 * status. */
int view_live(struct call *, const struct value_option *, size_t values_count,
              unsigned port, bool open_it);
