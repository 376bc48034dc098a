/* source.h - a SOURCE of the command: a process, a core file, a recording, of
 * this machine or of another one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <libelf.h>

#include "reader.h"

/* The state of a file that a source names. */
enum module_state {
    MODULE_UNTRIED,
    MODULE_OPENED,
    MODULE_MISSING, /* or it is no regular file: `error` */
    MODULE_UNKNOWN, /* not opened: the source has no build-id of it */
    MODULE_DIFFERS  /* another build, or no ELF file */
};

/* A piece of a file that the program had mapped. */
struct module {
    uint64_t start, end, offset; /* addresses; of the file */
    char *path;
    const char *place;       /* the file's path now: --executable; or null */
    bool writable;           /* as far as is known: without that, false */
    unsigned char id[20];    /* its build-id, if that was recorded, and the */
    unsigned id_size;        /* size; 0: the source's memory may have it */
    struct binary *binary;   /* file.c's own: the file, when it was needed */
    enum module_state state; /* of the piece with the file's first byte */
    int error;
};

/* A thread of a core file: its NT_PRSTATUS, of the program's byte order. */
struct source_thread {
    int32_t id;
    const unsigned char *status;
    size_t size;
};

/* The origin that a recording tells; zeros: it tells none. */
struct source_note {
    char *text;        /* "host=web1\nservice=shop\n", whole lines; or null */
    int64_t offset_ns; /* its clock and this make the time of its fleet, */
    int64_t error_ns;  /* give or take this; 0: it was not measured */
};

/* The note of a recording, by its owner and type, and its words. A file written
 * by `recorder save` has the first three: the others are the claim of a process
 * that writes the file, which may remove its older file there. */
#define NOTE_OWNER "RECORDER"
enum {
    NOTE_TYPE = 1,
    NOTE_SOURCE_TYPE,
    NOTE_FUNCTIONS_TYPE,
    NOTE_REQUESTS_TYPE
};
enum note_word {
    NOTE_LAYOUT,
    NOTE_REGISTRY,
    NOTE_PID,
    NOTE_WHOLE,
    NOTE_START,
    NOTE_BOOT,
    NOTE_NAMESPACE,
    NOTE_TELLS,
    NOTE_WORDS
};
/* The second: offset and error, of 64 bits each, then the text. The third: a
 * line "401136 main+0x12" for each return address of a record. The fourth: requests.h. */
enum { NOTE_SOURCE_WORDS = 16, NOTE_SOURCE_MAX = 65536 };

struct source {
    struct memory *memory;
    uint64_t registry; /* address; 0: no recorder in it */
    size_t registries; /* how many there are with recorders */
    char others[128];  /* of them, the addresses of some more: " 0x1000" */
    uint64_t all[16];  /* of them, the addresses of the first */
    int pid;           /* of a running process, else 0 */
    const struct source_thread *threads; /* of a core file, by ascending id */
    size_t threads_count;
    int32_t crashed; /* of a core file: the first thread in it, of a recording:
                      * the thread that crashed; 0: none */
    const unsigned char *signal; /* its NT_SIGINFO, 32 bytes; or null */
    uint64_t owner[NOTE_WORDS];  /* of a recording: its first note; or zeros */
    struct module *modules;
    size_t modules_count, modules_max;
    const char
        *program;   /* of a source without modules, its ELF file; or null */
    bool cut_off;   /* a file that lacks bytes: see `warning` */
    bool half_made; /* a recording that its program has not finished making */
    bool linked;    /* a core file without a list of modules: an emulator's */
    const char *sysroot; /* where its files are, if not null */
    struct Dwfl *dwfl;   /* of source_dwfl(); null: not needed yet */
    /* Frees the memory of opening; each kind of source has its own. */
    void (*close)(struct source *);
    /* The build ID of the mapping at an address, from the source itself; its
     * size, 0: none. */
    size_t (*build_id)(struct source *, uint64_t address, unsigned char to[64]);
    /* Where else the bytes at an address were: in the program, of which a
     * recording has a copy. Null pointer, 0: nowhere. */
    uint64_t (*elsewhere)(struct source *, uint64_t address);
    char why[512];
    char warning[512];       /* news for the user; "": none */
    char unopened[1024];     /* files whose bytes are missing, and why; or "" */
    bool unopened_more;      /* and others */
    char *functions;         /* the note of functions, its text; or null */
    struct symbols *symbols; /* symbols.c's own; null: none was asked for */
    struct source_note note;
    uint64_t frames_lost; /* of a stream */
    uint64_t erased;      /* times that each page of a flash was */
};

/* Options of a source beside its name. */
struct source_how {
    const char *executable;    /* of a core file, if it is not at its place */
    const char *sysroot;       /* folder of the files that a source names */
    const char *const *images; /* "ADDRESS:FILE", to cover `name`'s own */
    size_t images_count;
    const char *registry; /* address: which of several */
    const char *stream;   /* "tty:...", of a firmware's ELF file; or null */
    bool unprepared;      /* it may be without a recorder */
    bool in_library;      /* no handler of SIGBUS is installed: the library in
                           * library/ has its own */
};

/* Opens a source. Returns null, or what is wrong, kept in `why`; then there is
 * nothing to close. */
const char *source_open(struct source *, const char *name,
                        const struct source_how *);
void source_close(struct source *);
/* Says of a recording that is half made that something, a "nothing" or a "no
 * thread", is in it yet. */
const char *source_half_made(struct source *, const char *what);
/* symbols.c: the result of source_dwfl(), and a module added to it. */
void source_dwfl_end(struct source *);
void source_dwfl_add(struct source *, struct module *);

/* Returns the function at an address, "name+0x12", or null. Valid until the
 * next call. */
const char *source_function(struct source *, uint64_t address);
/* demangle.c: a symbol of C++ or Rust as the name that its source has, without
 * types of arguments, cut with "..." if it is longer; false: it is none. */
enum { DEMANGLED_MAX = 4096 };
bool source_demangle(const char *symbol, char to[DEMANGLED_MAX]);
/* The source's modules, as libdwfl has them; null: there is no memory. */
struct Dwfl *source_dwfl(struct source *);

/* ----------------------------------------------------------------- kinds -- */

const char *source_open_process(struct source *, int pid);
const char *source_open_file(struct source *, const char *path,
                             const struct source_how *);
/* remote.c: true for a name "ssh:...". */
bool source_is_remote(const char *name);

/* stream.c: true for "flash:...", "tty:...", "rtt:..." and "swo:...". */
bool source_is_stream(const char *name);
bool source_is_flash(const char *name);
/* Waits for the registry of a board that has started again. Null, or why there
 * is none. */
#define STREAM_ENDED "the stream ended"
const char *source_stream_again(struct source *);

/* own_process.c: lets this process have as many descriptors as the system allows. */
void descriptors_raise(void);
/* Returns a variable of its environment; `otherwise` if that is not set, or
 * empty. */
const char *environment_or(const char *name, const char *otherwise);
/* Makes a file without a name, which only its owner may read, in $TMPDIR or
 * /var/tmp. Returns its descriptor, or below 0, with errno. */
int unnamed_file(void);

/* programs.c: reads the path of a process's executable, which may have been
 * deleted since. False: it has none, or is not ours to read. */
bool program_path(int pid, char to[PATH_MAX]);
enum { PROGRAM_NAME_MAX = 256 };
/* Reads the name of a process's program. False: it has ended. */
bool program_name(int pid, char to[PROGRAM_NAME_MAX]);
/* True if its program's file, or its own name, is `name`. */
bool program_is(int pid, const char *name);
/* True if it has recorders: until it is loaded, a program has none. */
bool program_records(int pid);
/* recording_of.c: opens the recording that a process maps; -1: it has none. It
 * can be read when the process, or its container, is gone. */
int recording_of(int pid);
/* Opens the file of a shared mapping; -1: it is something else. Its path is of the
 * process's mount namespace, where another file may have it since. */
struct proc_mapping;
int mapping_open(int pid, const struct proc_mapping *);
/* Finds a note of ours; returns its place in the file, and its size. 0: the file
 * has none. */
enum { RECORDING_NOTE_MAX = 16 << 20 };
uint64_t recording_note(int fd, int type, size_t *size, bool *big_endian);
/* A sentence on why RECORDER_FILE in a process's environment made no recording;
 * null: not set, or the process has one. The caller frees. */
struct reader;
char *program_without_file(int pid, const struct reader *);
/* Finds the process whose program or own name this is: *pid, 0: none. Of
 * several, those count that have recorders, unless `unprepared`. Null, or what
 * is wrong: there are several. */
const char *source_named(struct source *, const char *name, bool unprepared,
                         int *pid);

/* linked.c: the address of the dynamic linker's struct r_debug, whose second word
 * is the head of its list, by the program's dynamic section; 0: unknown. */
uint64_t linked_debug(struct memory *, uint64_t dynamic);

/* Keeps a piece of a mapped file. */
void source_module(struct source *, uint64_t start, uint64_t end,
                   uint64_t offset, const char *path, size_t path_size,
                   bool writable);

/* Adds a file that the program opened later, with its build ID of at most 20
 * bytes; nothing if another module covers it. */
void source_module_late(struct source *, uint64_t start, uint64_t end,
                        const char *path, const unsigned char *id,
                        unsigned id_size);
/* The build-id of a module as it was mapped; its size, 0: unknown. */
size_t module_build_id(struct source *, const struct module *,
                       unsigned char to[64]);
/* Returns the module at an address, or null. They are sorted. */
struct module *module_at(const struct source *, uint64_t address);
/* Returns the module that has the first byte of a file, or null. */
struct module *module_first(const struct source *, const char *path);

/* Opens a regular file without waiting. Returns -1, with errno: EINVAL if it is
 * no regular file, for which regular_error() has words. */
int regular_open(const char *path);
const char *regular_error(int error);
/* Opens the file of a module that has its first byte, if it is the build that
 * ran, or the user named it. Returns -1 otherwise: see `state`. */
int module_open(struct source *, struct module *);
/* Notes in `unopened` that bytes of it are missing. */
void module_unopened(struct source *, const struct module *);

/* Copies the build-id of an ELF file or its first page. Returns its size, 0:
 * none. */
size_t source_build_id(Elf *, unsigned char to[64]);

/* Look for registries: at one address, or from `start` to `end`. An empty
 * registry (of a library that uses the program's) counts only if there is no
 * other. */
void source_candidate(struct source *, uint64_t address);
void source_scan(struct source *, uint64_t start, uint64_t end);
/* Warns if several registries have recorders. */
void source_several(struct source *);

/* Sets word size, byte order and machine from an ELF header. */
void source_kind(struct memory *, const unsigned char ident[16],
                 unsigned machine);

/* constants.c: ranges of addresses, sorted, without overlaps. */
struct ranges {
    struct range {
        uint64_t start, end;
    } * all;
    size_t count, max;
};
void range_add(struct ranges *, uint64_t start, uint64_t end);
bool range_has(const struct ranges *, uint64_t address);

/* Formats into `why`, and returns it. */
const char *source_wrong(struct source *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
