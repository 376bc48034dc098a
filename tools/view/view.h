/* view.h - the page and its batches, for timelines in files and live ones. */
/* SPDX-License-Identifier: MIT */
/*
    A page reads batches: JSON objects that stand in the file, or are sent to
    it one by one. A batch holds up to VIEW_BATCH events:

    count       how many
    columns     base64 of raw deflate of: their orders, times in ns, threads
                and sites, one column after the other, as varints (orders and
                times as zigzag differences to the row above, modulo 2^64);
                for each event whose format begins with >>, => or << a number
                of its span's id, 0: none (spans.h); then for each series: how many, their rows as differences, and
                as many doubles
    texts       for each VIEW_BLOCK events base64 of raw deflate of: the size
                of what follows as varint; their messages, a newline behind
                each; their arguments: how many, and each as its kind and value;
                a text that may have changed has the kind behind the last one
    formats     [format, location] that no batch had before, in order, with
                "sw2" behind them where their records have a severity
    fields      [format, name...] the same: names that it gives arguments
    callers     [address, function] the same
    sites       [recorder, format, caller] the same: where a record is made
    recorders   [address, name, ...] the same; figures: of all that there are
    names       [name] the same, of all recorders, also of those not chosen
    threads     [row, number, id, name] the same, with 1 behind them if it has
                ended, or again with another name or end; they begin with row 1,
                as row 0 is the thread that is unknown
    series      [recorder, argument, name] the same: a value to plot; 0: the
                argument that its format names
    switches    in the first batch of a file, and in any of a running program,
                if records say what ran: rows of its threads, names of its
                interrupts, count, and base64 of raw
                deflate of so many slices (switches.h): 8 * what + state, index
                of thread or interrupt, processor, depth, begin as difference
                to the one above, length
*/
#ifndef VIEW_H
#define VIEW_H

#include "switches.h"
#include "value.h"

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
/* Batches of a running program have what ran since; view_pack_ends(): the next
 * one has the rest. */
void view_pack_follow(struct view_pack *);
void view_pack_ends(struct view_pack *);
/* Writes the next events, at most `max`, as a batch. Returns how many. The
 * figures of recorders are those of the last reader_count(). */
size_t view_pack_write(struct view_pack *, FILE *, size_t max, bool in_html);

/* Write a page up to the place of its data, and the rest behind. `live`: the
 * page will ask for batches. */
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

#endif
