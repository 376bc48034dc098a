/* inside.h - the structures and functions that the reader's files share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "bytes.h"
#include "ids.h"
#include "reader.h"
#include "recorder/format.h"
#include "recorder/order.h"
#include "recorder/regex.h"
#include "recorder/text.h"

enum {
    RECORDERS_MAX = 16384, /* so that lists that go in circles end */
    THREADS_MAX = 32767,
    PENDING_MAX = 16,      /* positions of a ring that are retried */
    PENDING_MAX_LOG = 256, /* and by a log, which waits without end */
    PATIENCE = 4,          /* takes that a writer may need for its record */
    PAGE_BYTES = 4096,
    PAGES = 256,    /* of the cache that strings are read through */
    CONSTANTS = 64, /* of the cache of addresses that are known as constant */
    NAME_MAX_BYTES = 1024,
    FORMAT_MAX_BYTES = 1023, /* and its location: as in recorder_dump() */
    RECORD_MAX_BYTES = 64    /* of a program with words of 8 bytes */
};

/* One ring. Its records and commit words are a copy of the program's or, where
 * the memory is a file, that file itself. */
struct lane {
    struct reader_recorder *recorder;
    unsigned number; /* of its recorder's rings */
    uint64_t address;
    unsigned char *records, *commits, *copy;
    uint64_t next; /* all positions before were taken, missed or are pending */
    uint64_t write, given_up, lost;
    int64_t owed; /* handed out, not given up: yet neither taken nor missed */
    uint64_t slots, heads; /* that were taken by position, with a record's head:
                             * positions that were missed are as many records */
    uint64_t *pending;     /* positions that were not whole */
    unsigned pending_count;
    bool begun;
    int64_t handed; /* positions handed out and not given up, of all times that
                     * its library was open */
    uint64_t seen,
        events; /* records that reader_next() passed; events of them */
    uint64_t kept[KEPT_NUMBERS]; /* KEPT_MARK 0: it has none */
};

/* A found record: its place in the order, and in memory. */
struct key {
    uint64_t order; /* less `base`, so that it ascends over a wrap */
    uint32_t lane, slot;
    uint32_t held;   /* 1 + its index among those held back; 0: in its lane */
    uint32_t number; /* of a switch of the kernel (kernel.c), else 0: several
                      * may have one order */
    uint32_t call;   /* 1 + its index among the calls; 0: it is none */
};

/* A call, or a return, of a slot of calls (calls.c). */
struct call_event {
    uint64_t order, ticks, function, stack;
    unsigned thread;
    enum {
        CALL_NONE,
        CALL_CALLS,
        CALL_RETURNS,
        CALL_LEFT, /* this frame is gone, without a return */
        CALL_LATE  /* of a frame that was taken for gone */
    } kind;
};

/* A copy of a record that a later take delivers: its slot may change before. */
struct held {
    uint64_t commit;
    unsigned char raw[RECORD_MAX_BYTES];
};

/* Decodes the events of a heading's word: their words encode a format and its
 * arguments. */
struct format;
typedef void format_decode(struct reader *, struct recorder_event *,
                           const struct format *headed);
struct decoder {
    const char *word; /* null ends a table */
    format_decode *decode;
};
extern const struct decoder coded_decoders[]; /* of compat/qnx: coded.c */

/* A format by its address; text is null where it could not be read. */
struct format {
    uint64_t address;
    char *text, *location;       /* text: after the heading */
    struct recorder_plan_ *plan; /* of the text; null: none */
    char *kind;                  /* see reader_event; null: none */
    int severity;                /* as in recorder_headed_; -1: none */
    bool hardware;
    format_decode *decode; /* null: its records are as they are */
    bool made;             /* by the reader: see format_made() */
    unsigned buffer_at; /* of one made of words: which argument is its size */
    bool no_texts;      /* it is known to take none */
    char **names;       /* of its 12 arguments, or null; null: not looked at */
};

struct page {
    uint64_t address; /* | 1: read; 0: none */
    uint32_t size;
    unsigned char bytes[PAGE_BYTES];
};

/* struct recorder_registry, as a program has it. */
struct registry {
    uint64_t self, first, order, cleared, threads, threads_max, threads_count;
    uint64_t pid, line, tweaks, wraps_count, image, program;
    uint64_t tasks, kernel, clocked; /* 0: none, or an older header's */
    uint64_t lives, lives_changes, ended;
    uint64_t first_link, cleared_link, tweaks_link; /* their addresses */
    uint32_t layout, bytes, head_bytes, later_sequence;
    unsigned char file_asked;
    struct recorder_moment start, later;
    struct recorder_wrap wraps[RECORDER_WRAPS_MAX_];
};

/* A line format that was read, and the text that its parts point into. */
struct line_format {
    bool own; /* it is reader->line, as that was read last */
    char *text;
    struct recorder_line_ read;
};

/* The libraries that the registry lists (struct recorder_life). */
struct lives {
    uint64_t at, changes; /* address; 0: there are none */
    size_t count;
    bool unsure; /* they changed whenever they were read */
    struct life {
        uint64_t start, bytes, from, until;
    } all[RECORDER_LIVES_ + 1];
};

struct reader_inside {
    struct lives lives;
    struct reader_selection selection;
    char *names, *thread;
    struct lane *lanes;
    size_t lanes_count, lanes_max;
    struct key *keys;
    size_t keys_count, keys_max, at, deliver;
    struct held *held;
    size_t held_count;
    struct call_event *calls;
    struct kernel *kernel;   /* kernel.c's own; null: none */
    uint64_t kernel_address; /* of the program's; 0: it has none */
    uint64_t threads_max;    /* rows of its table */
    uint64_t base, end_before, end_still;
    uint64_t shown; /* a follower was given all keys below */
    unsigned still; /* takes since `end` moved */
    size_t pending; /* positions of all rings that are waited for */
    bool due;       /* lists are read again: for seldom changes */
    bool taken_before;
    uint64_t settled_ticks; /* of the newest record, when the rate was taken */
    bool another;    /* program took this one's place: its rings are not ours */
    bool no_threads; /* the program has no table, and only numbers */
    struct reader_thread *numbers; /* then: a row for each, made here */
    uint64_t image;               /* of the registry, in a recording; 0: none */
    uint64_t refreshed_ns;        /* when, by CLOCK_MONOTONIC */
    struct recorder_moment later; /* noted by the program, or its start */
    uint32_t head_bytes, wraps_count;
    uint64_t start_ticks; /* of the program */
    struct recorder_wrap wraps[RECORDER_WRAPS_MAX_];
    size_t recorders_max, tweaks_max;
    struct reader_recorder **sorted; /* by address of their rings */
    size_t sorted_count, sorted_max;
    struct ids format_ids;  /* of their addresses */
    struct format *formats; /* by that number */
    size_t formats_count, formats_max;
    uint64_t formats_bytes;
    const struct decoder *decoders;
    uint64_t format_address; /* of the last one that was looked for */
    uint64_t format_from;    /* of life_is() */
    size_t format_last;      /* and its number */
    bool format_last_set;
    uint64_t constants[CONSTANTS]; /* texts that cannot change; 0: none */
    struct page *pages;
    /* of reader_message and its like */
    char *message, *text, *line;
    struct line_format line_format;    /* of `line` */
    struct recorder_sizes_ text_sizes; /* of `text` */
    char *strings;                     /* of reader_arguments */
    uint64_t texts, texts_end;         /* of a recording made of events */
    bool texts_empty;     /* there, a byte before each empty text is not 0 */
    uint64_t text_lost;   /* the address of a missing text; 0: none */
    uint64_t damaged_key; /* 1 + the order of the last record that lacks one */
    uint64_t token;       /* a text that is being read on, and how far */
    size_t token_read;
};

/* ----------------------------------------------------------------- words -- */

static inline unsigned thread_bits(const struct memory *m)
{
    return m->word_bytes == 8 ? 16 : 8;
}

static inline unsigned commit_thread(const struct memory *m, uint64_t commit)
{
    return (unsigned)(commit >> 1) & ((1u << (thread_bits(m) - 1)) - 1);
}

/* The addresses of the parts of a ring of `size` slots. Its head is two cache
 * lines: `write`; `given_up` and `lost`. */
static inline uint64_t ring_given_up_at(const struct reader *reader)
{
    return reader->inside->head_bytes / 2;
}
static inline uint64_t ring_records_at(const struct reader *reader)
{
    return reader->inside->head_bytes;
}
static inline uint64_t ring_commits_at(const struct reader *reader,
                                       uint64_t slots)
{
    return ring_records_at(reader) +
           slots * offsets_of(reader->memory)->record_size;
}
static inline uint64_t ring_turns_at(const struct reader *reader,
                                     uint64_t slots)
{
    return ring_commits_at(reader, slots) + slots * reader->memory->word_bytes;
}
static inline uint64_t ring_end_at(const struct reader *reader, uint64_t slots)
{
    return ring_records_at(reader) +
           slots * offsets_of(reader->memory)->slot_size;
}

/* -------------------------------------------------------------- registry -- */

/* Returns a string of at most `max` bytes, which the caller frees; null: it
 * cannot be read or does not end. */
char *bytes_string(struct memory *, uint64_t address, size_t max);

void lives_refresh(struct reader *, const struct registry *);
/* Reads the table again if a library was opened or closed since: after records
 * are taken, and after each read of bytes to which life_is() refers. */
void lives_renew(struct reader *);
/* Of a recording, finds out which bytes each address shows, and then reads the
 * table: after records are taken. A library notes its addresses before the file
 * shows its bytes, and shows them before it records. So where the table says
 * that a record's library has an address, the file has shown its bytes. */
void lives_of_file(struct reader *);
/* Finds out whether bytes at an address are the same as at the time of a
 * record. *from distinguishes libraries at the same address; 0: no library is
 * known there. */
enum life_is {
    LIFE_FITS,
    LIFE_CLOSED, /* its library was closed since */
    LIFE_OTHER,  /* another library has the address now */
    LIFE_UNKNOWN
};
enum life_is life_is(struct reader *, uint64_t address, uint64_t order,
                     uint64_t *from);

/* Reads a registry. Returns null, or what is wrong with it. */
const char *registry_read(struct memory *, uint64_t address, struct registry *);
/* Takes the clock from the moments that the program noted. */
void clock_open(struct reader *, const struct registry *);
/* Settles how fast ticks run, by the ticks of the newest record. */
void reader_clock(struct reader *, uint64_t newest_ticks);
/* Returns the full ticks of a record's time word. */
uint64_t ticks_of(const struct reader *, uint64_t order, uint64_t time);
/* Returns by how many bits the program shifts this machine's ticks. */
unsigned ticks_shift(const struct memory *);
/* The ticks of a record, and their nanoseconds since the start. */
uint64_t reader_ticks(const struct reader *,
                      const unsigned char raw[RECORD_MAX_BYTES]);
int64_t reader_time(const struct reader *,
                    const unsigned char raw[RECORD_MAX_BYTES]);

/* ----------------------------------------------------------------- lists -- */

bool list_is_chosen(const struct reader *, const struct reader_recorder *);
/* Read one list or table again. Return null, or the error. */
const char *recorders_refresh(struct reader *, const struct registry *);
const char *threads_refresh(struct reader *, const struct registry *);
const char *tweaks_read(struct reader *, const struct registry *);
/* Sorts the recorders, for recorder_by_address(). */
void recorders_sort(struct reader *);
void recorder_free(struct reader_recorder *);
void tweaks_free(struct reader *);
/* Returns the recorder whose rings contain an address, or null. */
const struct reader_recorder *recorder_by_address(const struct reader *,
                                                  uint64_t address);
/* True if a recorder is still at its address; false: its library was closed. */
bool recorder_is_there(struct reader *, const struct reader_recorder *);
/* Returns the thread that had a number when a record was made; null:
 * unknown. */
struct reader_thread *reader_thread_of(struct reader *, unsigned number,
                                       uint64_t order);

/* ----------------------------------------------------------------- rings -- */

/* Opens the rings of recorders that are new and chosen. */
void lanes_refresh(struct reader *);
/* Adds the keys of all records in the rings. */
void lanes_take(struct reader *);
/* Returns the key of an order. */
static inline uint64_t order_key(const struct reader *reader, uint64_t order)
{
    return (order - reader->inside->base) & word_max(reader->memory);
}
static inline uint64_t lane_size(const struct lane *lane)
{
    return lane->recorder->figures.size;
}
/* The key of a record of a lane; false: it was cleared. */
bool raw_key(const struct reader *, const struct lane *,
             const unsigned char *raw, uint64_t *key);
/* Returns the commit word of a slot. */
uint64_t commit_of(const struct reader *, const struct lane *, uint64_t slot);
/* FOUND: the position's record is in its slot. GONE: a later record overwrote
 * it, or is overwriting it. NOT_YET: it is being written, or will be. */
enum found { FOUND, GONE, NOT_YET };
/* False where the slot's newest record is missing: an older one is in it. */
bool slot_is_newest(const struct reader *, const struct lane *, uint64_t slot,
                    uint64_t commit);
enum found position_look(const struct reader *, const struct lane *,
                         uint64_t position);
/* True if a position that is NOT_YET in its slot was given up, and all others
 * since the slot's record. */
bool position_gave_up(struct reader *, const struct lane *, uint64_t position);
/* True if a key's record begins an event or a text. False: it continues one, or
 * more must be read to decide. */
bool key_begins(const struct reader *, const struct key *);
/* Copies a key's record. Returns its commit word, or 0 if it is gone. */
uint64_t key_record(const struct reader *, const struct key *,
                    unsigned char raw[RECORD_MAX_BYTES]);
/* Copies a slot's record if it is whole. Returns its commit word, else 0. */
uint64_t lane_record(const struct reader *, const struct lane *, uint64_t slot,
                     unsigned char raw[RECORD_MAX_BYTES]);
/* The same of a recorder that was not chosen, so that it has no lane. */
uint64_t slot_record(struct reader *, const struct reader_recorder *,
                     uint64_t lane, uint64_t slot,
                     unsigned char raw[RECORD_MAX_BYTES]);
void rings_close(struct reader *);
/* count.c: slots of a recorder that are damaged in a recording made of events: all that
 * its ring's head counts were written whole. After reader_count(). */
uint64_t figures_damaged(const struct reader_recorder *);

/* ---------------------------------------------------------------- kernel -- */

/* Looks for the kernel's rings, before a take's end is read; false: none. */
bool kernel_begin(struct reader *);
/* Copies their new records. False: the program recorded them in between, so
 * that the take's end must be read again. */
bool kernel_take(struct reader *);
/* Adds those to the keys. `end` is the key of the take's end, `limit` the last
 * key to deliver; returns the new limit. */
uint64_t kernel_add(struct reader *, uint64_t end, uint64_t limit);
/* True if a record was shown already, by a follower, from the kernel's
 * rings. */
bool kernel_has(const struct reader *, const struct reader_recorder *,
                const unsigned char *raw, uint64_t key);
/* Adds the last take's switches to the figures of their recorder. */
void kernel_count(const struct reader *, struct reader_recorder *);
/* The row that was made for a thread without one; null: none. */
struct reader_thread *kernel_thread(const struct reader *, unsigned number);
/* The highest number of all threads, with these rows. */
size_t reader_threads_end(const struct reader *);
void kernel_close(struct reader *);

/* --------------------------------------------------------------- message -- */

/* Makes a format of three parts, once for a number. Returns its address. */
uint64_t format_made(struct reader *, uint64_t number, const char *a,
                     const char *b, const char *c);
/* The event whose strings are read, and a bound of their bytes. */
struct text_context {
    struct reader *reader;
    const struct recorder_event *event;
    size_t left; /* bytes that may still be read */
};
/* Returns the entry of an event's format, which is read when it is new. */
struct format *format_of(struct reader *, const struct recorder_event *);
/* The entry of a format, and of the words it decodes, or zeros. */
struct format *format_new(struct reader *, uint64_t address, uint64_t word,
                          uint64_t code, bool *is_new);
/* Counts bytes of formats. False: they are more than a program has. */
bool format_room(struct reader *, size_t size);
/* The synthetic address of a format that the reader made. */
uint64_t format_made_address(struct reader *, const struct format *);
/* Sets the severity of an event by the heading of its format, and decodes an
 * event whose heading has a decoder. Returns its kind, or null. */
const char *reader_headed(struct reader *, struct recorder_event *);
/* The formatter's `text`: copies bytes of a string or of a copied text. */
ptrdiff_t text_bytes(void *context, uint64_t address, char *to, size_t size);
/* The formatter's `changes`: true if a text may have changed. */
bool text_changes(void *context, uint64_t address, struct recorder_sizes_ *);
/* True if a recording that was made of events has a text or format at an
 * address, unless it is damaged. */
bool format_is_made(const struct reader *, uint64_t address);
/* Frees the names of a format's arguments; null: there are none. */
void names_free(char **names);
/* Reads the bytes at a format's address, NULs included, that format_read()
 * looks at. Returns their number, 0 if none. */
size_t format_bytes(struct reader *, uint64_t address,
                    char to[FORMAT_MAX_BYTES + 1]);
/* Allocates memory that the reader keeps. */
char *text_room(char **at, size_t size);

/* ---------------------------------------------------------------- events -- */

/* calls.c: makes keys of the calls in delivered slots, and sorts all by
 * time. */
void calls_expand(struct reader *);
/* Makes the event of a key. */
void calls_event(struct reader *, const struct key *, struct reader_event *);
/* Makes the messages of the newest held-back events once, so that their strings
 * are cached when the program ends. */
void events_look(struct reader *);
