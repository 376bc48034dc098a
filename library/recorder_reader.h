/* recorder_reader.h - reads flight recorders, from C and other languages. */
/* SPDX-License-Identifier: MIT */
/*
    struct recorder_reader_event e;
    char why[1024];
    struct recorder_reader *r =
        recorder_reader_open("demo.rec", NULL, why, sizeof why);
    if (!r)
        return fputs(why, stderr), 1;
    while (recorder_reader_next(r, &e, sizeof e) > 0)
        printf("%.9f %s: %s\n", (double)e.ns / 1e9, e.recorder, e.message);
    recorder_reader_close(r);

    cc program.c -lrecorder

PROMISES
    * Reads the sources of the recorder command, by the same code: a process, a
      core file, a recording, a compressed one, the folder of a log, a server.
      -> tests/outside/python.sh
    * Hostile, damaged and truncated sources give an error, in the words of the
      command, even if they are cut off while they are read; nothing exits,
      nothing is printed. -> tests/outside/python.sh
    * A program that was linked to librecorder.so.1 runs with all later ones of
      that name: nothing is removed, structures only grow at their end, and
      their sizes are passed, so that a library writes no more than the caller
      has room for, and zeros to members that it does not know.
      -> tests/outside/python.sh

LIMITS
    * Texts are as they were recorded: control characters are not escaped, and
      they may be no UTF-8. recorder_reader_line() escapes both.
    * Readers may be used by any thread, but one at a time each; calls wait for
      each other.
    * An open reader has a handler of SIGBUS. It passes other faults on to the
      earlier handler.
*/
#ifndef RECORDER_READER_H
#define RECORDER_READER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct recorder_reader;

#define RECORDER_READER_UNKNOWN INT64_MIN /* a time that is not known */

/* The type of an argument, and the member with its value. */
enum {
    RECORDER_READER_SIGNED,    /* %d, %i: integer */
    RECORDER_READER_UNSIGNED,  /* %u, %o, %x: word */
    RECORDER_READER_REAL,      /* %f, %e, %g, %a: real */
    RECORDER_READER_CHARACTER, /* %c: integer */
    RECORDER_READER_STRING,    /* %s: text; "(null)" with word 0: it was null */
    RECORDER_READER_POINTER,   /* %p, and a %s that cannot be read: word */
    RECORDER_READER_LOST       /* was overwritten, or never recorded */
};

struct recorder_reader_argument {
    uint64_t word;
    int64_t integer;
    double real;
    const char *text; /* NUL-terminated; null if it is no text */
    uint64_t text_size;
    uint32_t kind;
    uint32_t may_have_changed; /* 1: the text may be another than at the record:
                                * it is neither copied nor a constant */
    const char *name;          /* that the format gives it; null: none */
};

/* A record. Texts are NUL-terminated, and valid until the next call. */
struct recorder_reader_event {
    uint64_t order;
    int64_t ns;      /* since the start of the program */
    int64_t wall_ns; /* since 1970, UTC */
    uint64_t caller; /* return address of the call; 0: unknown */
    uint32_t thread; /* its number; 0: unknown */
    int32_t tid;     /* its id of the kernel's; 0: unknown */
    uint32_t line;   /* of the file; 0: unknown */
    uint32_t arguments_count;
    uint32_t argument_bytes; /* from one argument to the next */
    uint32_t reserved;
    const struct recorder_reader_argument *arguments;
    const char *recorder;
    const char *severity;    /* "sw2", "hw3"; null: none */
    const char *thread_name; /* null: unknown */
    const char *location;    /* "file.c:12", as dumps show it */
    const char *file;        /* "dir/file.c"; null: unknown */
    const char *format;      /* null: it cannot be read */
    const char *message;
    uint64_t message_size; /* without the NUL; there may be others in it */
};

/* A recorder, as of the last recorder_reader_take(). */
struct recorder_reader_recorder {
    const char *name, *description;
    const char *wrong; /* why it cannot be read; null: it can */
    int64_t trace;     /* below 0: off; 0: records; above: prints, too */
    uint64_t slots, lanes, kept, overwritten, lost;
    int64_t oldest_ns, newest_ns; /* of kept records */
    uint64_t missed; /* slots that were overwritten while they were read */
};

/* A thread, or a task of a scheduler inside of the program. */
struct recorder_reader_thread {
    const char *name;
    uint32_t number;
    int32_t id;    /* of the kernel; 0: none */
    int32_t alive; /* 1, 0; -1: unknown */
    int32_t is_task;
};

/* The program whose recorders they are. */
struct recorder_reader_program {
    const char *name; /* "": unknown */
    uint64_t pid;
    int64_t start_wall_ns; /* when it began to record, since 1970, UTC */
    int32_t live;          /* 1: a running process */
    int32_t word_bytes;    /* 4 or 8 */
};

/* Arrays to fill, one element a record each; a null pointer: not wanted. Texts
 * are numbers for recorder_reader_text(), 0: none; equal texts have equal
 * numbers. Arguments of a record are adjacent: argument[row * arguments +
 * i]. */
struct recorder_reader_columns {
    uint64_t rows;      /* room in each array */
    uint64_t arguments; /* how many there is room for in each row, up to 12 */
    uint64_t *order;
    int64_t *ns, *wall_ns;
    uint64_t *caller;
    uint32_t *recorder, *severity, *thread, *thread_name;
    int32_t *tid;
    uint32_t *location, *format, *message;
    uint64_t *argument; /* the word, bits of the double, number of the text */
    uint8_t *kind;      /* of each argument; RECORDER_READER_LOST: none */
    uint32_t *argument_name; /* text that the format calls it by; 0: none */
};

/* "1.2.3": the version of the library. */
const char *recorder_reader_version(void);

/* Opens a SOURCE of the command, and takes its records. `options` are options
 * of `recorder dump`, a name and a value each, null after them, or a null
 * pointer: {"names", "net.*", "since", "-1s", NULL}; an option without a value
 * has "". "follow" reads each record once, when it is whole. Returns null on an
 * error, which `why` then has, cut to `why_size` bytes with its NUL. */
struct recorder_reader *recorder_reader_open(const char *source,
                                             const char *const *options,
                                             char *why, size_t why_size);
void recorder_reader_close(struct recorder_reader *);

/* The last error; accumulated warnings, one a line. "" if none. Valid until the
 * next call. */
const char *recorder_reader_error(const struct recorder_reader *);
const char *recorder_reader_warnings(struct recorder_reader *);

/* Gets the next record; `size` is the structure's. Returns 1; 0: no more; -1:
 * an error. */
int recorder_reader_next(struct recorder_reader *,
                         struct recorder_reader_event *, size_t size);
/* The line of the record that recorder_reader_next() gave last, as `recorder
 * dump` prints it; with its newline. "": there is none. */
const char *recorder_reader_line(struct recorder_reader *);
/* Goes back to the first record of the last take. 0; -1: an error. */
int recorder_reader_rewind(struct recorder_reader *);
/* Takes the present records of a running program. Returns 0; -1: an error. */
int recorder_reader_take(struct recorder_reader *);
/* How many records were overwritten before a take saw them. */
uint64_t recorder_reader_missed(const struct recorder_reader *);

/* Fills columns with the next records; how many, fewer than `rows` at the end;
 * -1: an error. */
int64_t recorder_reader_fill(struct recorder_reader *,
                             const struct recorder_reader_columns *,
                             size_t size);
/* The text of a number, NUL-terminated, and its size in *size, unless that is
 * null. Valid until recorder_reader_close(). Null: there is none. */
const char *recorder_reader_text(const struct recorder_reader *, uint32_t,
                                 size_t *size);

/* Get recorder, thread and format i, from 0 up. Return 1; 0: no more. Texts are
 * valid until the next take. */
int recorder_reader_get_recorder(struct recorder_reader *, size_t,
                                 struct recorder_reader_recorder *,
                                 size_t size);
int recorder_reader_get_thread(struct recorder_reader *, size_t,
                               struct recorder_reader_thread *, size_t size);
void recorder_reader_get_program(struct recorder_reader *,
                                 struct recorder_reader_program *, size_t size);

#ifdef __cplusplus
}
#endif
#endif
