/* reader.h - reads recorders from any memory: the core of every tool. */
/* SPDX-License-Identifier: MIT */
/*
    const char *wrong = reader_open(&reader, memory, registry);
    reader_select(&reader, &(struct reader_selection){.names = "net.*"});
    wrong = reader_take(&reader);
    while (reader_next(&reader, &event))
        puts(reader_line(&reader, &event, NULL, NULL));
    reader_close(&reader);

PROMISES
    * Works on every word size and byte order, on any host.
    * Events come in strictly ascending order, each whole; losses are counted.
    * In any memory, hostile or cut off, reading ends, touches only its own
      memory, and takes no more of it than the size of the rings.
    * Reads a running program without stopping it: all commit words, then the
      records, then all commit words again.

LIMITS
    * The program's private conversions (recorder_configure_type) print as in
      printf: their functions are code of the program, which is never run.

FLOORS (a file calls only files of lower floors; inside.h declares the calls)
    changes     reads which requests threads worked for
    take        opens a reader, and takes the records of its program
    events      makes events of records, chooses among them
    calls       makes events of the calls in a record
    filters     chooses by messages and arguments
    contexts    chooses by the request that a thread worked for
    arguments   the arguments of an event
    coded       trace events of compat/qnx
    message     the message of an event: formats, strings, lines
    count       the figures of recorders
    rings       copies rings, finds whole records
    lists       recorders, threads, tweaks
    kernel      switches in the kernel's rings
    registry    finds the registry; the clock
    bytes, offsets, codes, texts, ids, offer, array

    settings writes into the program, and is separate. Above the reader:
    source opens its memory; recording writes recordings, and reads folders of
    them for options; then print, unwind, threads, export and view, verbs, help,
    main. In each folder but verbs/ the files have an order, too: open.c of
    source calls its kinds, live.c of view calls page.c and pack.c.
*/
#pragma once

#include "codes.h"
#include "recorder/clock.h"
#include "recorder/event.h"
#include "recorder/text.h"

/* ---------------------------------------------------------------- memory -- */

/* The bytes of a program, by the addresses that it used. */
struct memory {
    /* Copies up to `size` bytes at `address`; returns how many, fewer where
     * memory ends, 0 where there is none. */
    size_t (*read)(struct memory *, uint64_t address, void *to, size_t size);
    /* `size` bytes at `address` in one piece that stays as long as the memory,
     * or null. Null pointer: there are never any. */
    const void *(*map)(struct memory *, uint64_t address, size_t size);
    /* Writes all, or nothing and false. Null pointer: it is not for writing. */
    bool (*write)(struct memory *, uint64_t address, const void *from,
                  size_t size);
    /* True if the thread exists; copies its current name, if it has one. Null
     * pointer: unknown. */
    bool (*thread)(struct memory *, int32_t id, char name[16]);
    /* True if these bytes are of a file that stays, even if the program unmaps
     * them or ends. Null pointer: none are. */
    bool (*stays)(struct memory *, uint64_t address, size_t size);
    /* Notes that an answer depends on these bytes, so that a copy of the memory
     * must contain them; `zeros`: zeros do, too. Null pointer: no copy is
     * made. */
    void (*needs)(struct memory *, uint64_t address, size_t size, bool zeros);
    /* Finds out again which bytes of the file each address shows: the program
     * changes that when it opens a library. False: it does so all the time.
     * Null pointer: the memory is no recording. */
    bool (*renew)(struct memory *);
    /* True if the bytes at an address cannot have changed: they are in a
     * read-only segment of the program or a library. Null pointer: unknown. */
    bool (*constant)(struct memory *, uint64_t address);
    /* Maps a perf event of the program, by its descriptor, for reading; null,
     * and errno, EBADF if it is closed. Null pointer: the program is not on
     * this machine. unmap() releases it. */
    const void *(*descriptor)(struct memory *, int fd, size_t size);
    void (*unmap)(struct memory *, const void *at, size_t size);
    /* Sets the busy bits of the `size` bytes of commit words that differ from
     * an earlier copy. Null pointer: no copy. */
    void (*compare)(void *context, uint64_t address, size_t size);
    void *compare_context;
    /* Lets time pass, in memory that does not change between takes. False: the
     * program has ended. Null pointer: time passes by itself. */
    bool (*advance)(struct memory *);
    bool more;     /* of advance(): it may be called again at once */
    uint64_t size;       /* bound of all that can be read, in bytes */
    unsigned word_bytes; /* 4 or 8 */
    unsigned machine;    /* of the ELF header: EM_X86_64 */
    bool big_endian;
    bool live;        /* the program runs: memory may change */
    bool native;      /* its ticks are of this machine's kind: of 32 bits, those
                       * from x86 on x86-64 */
    bool stale_order; /* the order counter is as of some time before */
    bool ticks_here;  /* its ticks are of this machine's clock, now */
    /* Of a copy that reads in another way: the memory to which all but its own
     * functions belong; else null. */
    struct memory *base;
};
static inline struct memory *memory_base(struct memory *m)
{
    return m->base ? m->base : m;
}

/* ------------------------------------------------------------------ what -- */

struct reader_recorder {
    uint64_t address; /* of struct recorder, and of its trace */
    uint64_t rings, ring_bytes;
    int64_t trace; /* below 0: off; 0: records; above: prints, too */
    uint64_t name_address;
    char *name, *description;
    char *shown; /* `name`; "net of libnet.so" if several have that name */
    bool chosen;       /* by the selection's names */
    bool several;      /* a record may have taken several slots */
    const char *wrong; /* why its rings cannot be read; null: they can */
    size_t lane; /* 1 + where its rings begin among those taken; 0: nowhere */
    size_t kept; /* 1 + its ring in a recording that is written; 0: none */
    uint64_t added; /* slots of a chunk of a log that were added to that ring */
    int64_t unread; /* positions that its log has not come to; of the log */
    uint64_t origin; /* `address`, or that in the program that was logged */
    /* By reader_count(). */
    struct recorder_figures_ figures;
    uint64_t recorded;            /* positions handed out and not given up */
    uint64_t whole, begun;        /* slots; records that begin in these */
    int64_t oldest_ns, newest_ns; /* of kept records; unknown if none */
    uint64_t matched; /* by reader_match(): of how many, and their times */
    int64_t matched_oldest_ns, matched_newest_ns;
    int64_t complete_ns; /* no ring overwrote later records; unknown: none
                          * overwrote any */
};

struct reader_thread {
    unsigned number;
    int32_t id;        /* of the kernel */
    bool known, alive; /* when it was read: `alive` is known to be right */
    bool is_task;      /* of the program's own scheduler (recorder_tasks.h) */
    bool is_free;      /* no thread has this number yet */
    bool is_named;     /* by recorder_thread_name(), not by the system */
    uint64_t first;    /* records of a lower order are an earlier thread's */
    char name[17];
};

struct reader_tweak {
    uint64_t address;
    int64_t value;
    char *name, *description;
};

/* An event, with the reader's data of it. */
struct reader_event {
    struct recorder_event event;
    struct recorder_event raw; /* as recorded, before its words were decoded */
    int64_t ns; /* since the program's start; RECORDER_TIME_UNKNOWN_ */
    uint64_t realtime_ns; /* since 1970, UTC; 0: unknown */
    const char *kind;     /* the words of its heading, "switch b", but no
                           * severity and no `event`; null: none */
    const struct reader_recorder *recorder;
    const struct reader_thread *thread; /* null: unknown */
};

/* An argument by the conversion that takes it. */
enum reader_kind {
    READER_SIGNED,    /* %d %i: in `integer` */
    READER_UNSIGNED,  /* %u %o %x %b: in `word` */
    READER_REAL,      /* %f %e %g %a: in `real` */
    READER_CHARACTER, /* %c: in `integer` */
    READER_STRING,    /* %s: in `text`, not escaped; "(null)" of a null pointer */
    READER_POINTER,   /* %p, and a %s that cannot be read: in `word` */
    READER_LOST       /* was overwritten or never recorded */
};
struct reader_argument {
    enum reader_kind kind;
    union {
        uint64_t word; /* as recorded, cut to the conversion's length */
        int64_t integer;
    };
    double real;
    const char *text; /* until the next event is asked for its arguments */
    size_t text_size; /* without the NUL after it */
    const char *name; /* that the format gives it, "bytes=%d", until
                       * reader_close(); null: none */
    bool cut;         /* `text` ends in "...", or <lost>: it was overwritten */
    bool changes;     /* may be another text than the one recorded: `text`
                       * has RECORDER_FORMAT_CHANGES_ in front of it */
};
/* Removes the mark of these texts, for outputs that show it elsewhere. */
void reader_unmark(struct reader_argument *, unsigned count);

/* A selection of events; zeros: everything. */
struct reader_selection {
    const char *names; /* extended regular expression for whole names */
    bool for_people;   /* without `names`: none described as "internal: ..." */
    uint64_t last;     /* only that many of the events that the rest chooses */
    uint64_t since_order, until_order; /* both inclusive; 0: open */
    bool since_set, until_set;         /* whether these count: */
    int64_t since_ns, until_ns;        /* from the program's start */
    const char *thread;                /* numbers or names, one a line */
    unsigned severities; /* a set: see recorder_severities_; 0: any, or none */
    const char *context; /* the id that records belong to (contexts.h), which
                          * needs reader.contexts; null: any */
    struct filters *filters; /* of texts and arguments; null: none (filters.h).
                              * The owner frees it after the reader */
};

/* ---------------------------------------------------------------- reader -- */

struct reader {
    struct memory *memory;
    uint64_t registry;
    uint64_t pid, order_address, cleared_address, cleared;
    uint64_t clocked; /* orders below are of the clock, others of the counter */
    uint64_t ended;   /* of a recording: RECORDER_ENDED_NOT_ ...; 0: unknown */
    unsigned char file_asked; /* RECORDER_FILE_LOOKED_ ...; 0: not known */
    bool in_file;             /* its rings are in a recording */
    uint64_t end;             /* orders from here on were not yet given */
    bool follows;             /* set it to follow: an event is held back for
                             * one take, so that none comes too late */
    bool logs;    /* set it for a log: each take delivers all that is whole,
                     * and waits for the rest; and reader_next() delivers the
                     * continuations of events that it delivered before: their
                     * format is 0, and their arguments are the first */
    bool kernel;  /* set it to see switches that are in the kernel's rings
                     * still (recorder_kernel.h) */
    bool by_time; /* set it to have events by (time, order), not by order */
    const char *kernel_wrong; /* why these cannot be read; null: they can, or
                               * there are none */
    char line[256];           /* that the program set, or the default */
    char program[RECORDER_PROGRAM_MAX_]; /* its name; "": unknown */
    struct recorder_clock_ clock;
    int64_t offset_ns; /* set it: its clock and this make all its dates */
    struct contexts *contexts; /* which requests threads worked for; null: not
                                * known */
    const struct codes *codes; /* texts of codes; null: there are none */
    /* Writes the message of an event in other words; 0: in its own. Null
     * pointer: all are in their own. */
    size_t (*words)(void *context, const struct reader_event *, char *to,
                    size_t max);
    void *words_context;
    bool calls; /* set it to have calls one by one, and all events by time */
    /* Returns the name of a function; null: unknown. Null pointer: all are. */
    const char *(*function)(void *context, uint64_t address);
    void *function_context;
    struct reader_recorder **recorders;
    size_t recorders_count;
    struct reader_thread *threads;
    size_t threads_count;
    struct reader_tweak *tweaks;
    size_t tweaks_count;
    uint64_t taken;        /* events of the last reader_take() */
    uint64_t missed;       /* records of chosen recorders that were gone
                             * before a reader_take() could see them */
    bool missed_estimated; /* in their slots, unreadable */
    uint64_t damaged; /* records shown without a format or text that a recording
                       * made of events must have */
    struct reader_inside *inside; /* reader.c's own */
};

/* Opens the registry at an address. Returns null, or what is wrong, in words;
 * then there is nothing to close. */
const char *reader_open(struct reader *, struct memory *, uint64_t registry);
void reader_close(struct reader *);

struct offer;
/* True if a regular expression fits a recorder's name, or "net of liba.so",
 * where several have that name. */
bool reader_is_named(const struct reader_recorder *, const char *names);
/* True if that fits one of the recorders; else adds the names of all. */
bool reader_has_named(const struct reader *, const char *names, struct offer *);
/* True if one of the lines of a text names a thread: by its number, "2" or "T2",
 * kernel id, name, which may be null, or a regular expression for it. */
bool reader_thread_is(const char *text, uint64_t number, int64_t id,
                      const char *name);

/* Chooses the records of the next reader_take(); the selection is copied.
 * Returns null, or the error in the regular expression. */
const char *reader_select(struct reader *, const struct reader_selection *);

/* The error of taking and refreshing after the program's end. */
#define READER_GONE "the program is gone"

/* Reads the rings: all that was not taken before, oldest first for
 * reader_next(). Once for a dump, again and again to follow a program; new
 * recorders and threads are found. Null, or what is wrong: `the program is
 * gone` for a process that has ended. */
const char *reader_take(struct reader *);

/* Copies the records in the kernel's rings for the next take, before they are
 * overwritten there. */
void reader_kernel(struct reader *);
/* Returns how many switches these are. */
size_t reader_kernel_count(const struct reader *);

/* Counts the records of the chosen recorders' rings at the last reader_take():
 * the figures of each. */
void reader_count(struct reader *);

/* Takes all events that reader_next() would give, and counts them: `matched` of
 * each recorder. With a selection that is how many records it chooses. */
void reader_match(struct reader *);

/* Returns the date of the program's start, since 1970, UTC; 0: unknown. */
uint64_t reader_start_realtime(const struct reader *);
/* Returns now, since 1970, UTC; 0: the program's machine has no date. */
uint64_t reader_realtime(const struct reader *);
/* Returns the time of the newest record that the last reader_count() counted;
 * 0: unknown. *read_ns is now if the program has ended, 0 while it runs, so
 * that an export of the same records is the same. */
uint64_t reader_end_realtime(const struct reader *, uint64_t *read_ns);

/* Gets the next event. False: there is none until the next reader_take(). */
bool reader_next(struct reader *, struct reader_event *);
/* Goes back to the first event of the last reader_take(). */
void reader_rewind(struct reader *);

/* Returns the event's format and, in *location, its "dir/file.c:12", as in
 * the program and valid until reader_close(); null and "?" if they cannot be
 * read. */
const char *reader_format(struct reader *, const struct recorder_event *,
                          const char **location);
/* Splits "dir/file.c:12": the length of the file's name, and the line; 0 and 0
 * if unknown. */
unsigned reader_location(const char *location, size_t *file_size);
/* Makes the event's message, NUL-terminated, as the program would print it.
 * Valid until the next is made. */
const char *reader_message(struct reader *, const struct reader_event *,
                           size_t *size);
/* Makes the event's line, with its newline and a NUL. `line` is its format;
 * null: the program's setting. Valid until the next is made. */
const char *reader_line(struct reader *, const struct reader_event *,
                        const char *line, size_t *size);
/* Makes the first lines of a dump, likewise. */
const char *reader_head(struct reader *, size_t *size);
/* Reads the arguments that the format takes. Returns how many. Their texts are
 * valid until the next call. */
unsigned reader_arguments(struct reader *, const struct reader_event *,
                          struct reader_argument to[12]);

/* A call, or a return, of a record of the kind `calls`. */
struct reader_call {
    uint64_t function, stack, since; /* in ticks */
    bool returns;
};
/* Reads the calls in the words of this event; returns their number, up to 4. */
unsigned reader_calls(const struct reader *, const struct recorder_event *,
                      struct reader_call to[4]);

/* Copies the text that argument `i` is the address or token of, whatever the
 * format says: up to max - 1 bytes and a NUL. Returns how many, 0: none. */
size_t reader_word_text(struct reader *, const struct reader_event *,
                        unsigned i, char *to, size_t max);

/* A text that an argument is the address or token of. */
struct reader_text {
    unsigned argument;
    const char *text; /* the shown part; ends with "..." if memory ended before
                       * the text; a NUL follows */
    size_t size;
    bool wide;    /* of characters of 4 bytes */
    bool changes; /* may be another than the one recorded */
};
/* The texts of an event that can be read; how many. Valid until the event's
 * arguments or other texts are asked for. */
unsigned reader_texts(struct reader *, const struct reader_event *,
                      struct reader_text to[12]);

/* Returns how many positions had no whole record at the first reader_take(), nor
 * at any since; after five they are no longer looked at. Their threads are
 * inside a record, or gave them up. */
size_t reader_unfinished(const struct reader *);
/* Reads the order that the program gives out next. False: it is gone. */
bool reader_order(struct reader *, uint64_t *order);
/* Clears, for all readers of the running program, the orders below this one.
 * False: it cannot be written. */
bool reader_clear(struct reader *, uint64_t order);
