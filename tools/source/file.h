/* file.h - the structures and functions that the readers of ELF files share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "source.h"

/* Bytes of a file that were mapped at an address. */
struct segment {
    uint64_t start, size;
    const unsigned char *bytes;
    bool writable;
};
struct segments {
    struct segment *all;
    size_t count, max;
};

/* A piece of a file that has data; holes are around it. */
struct extent {
    uint64_t start, end;
};

/* A file that is mapped. */
struct mapped {
    unsigned char *bytes;
    size_t size;
    size_t before;          /* bytes of an earlier copy, in front of them */
    struct extent *extents; /* in which not all is zero; ascending */
    size_t extents_count, extents_max;
    uint64_t data, worth; /* bytes of data; bytes that reading may allocate */
    int fd;               /* to read by: see mapped_copy(); -1: none */
    struct mapped *next;
};

/* A program or library whose read-only data the core file leaves out. */
struct binary {
    char *path;
    struct mapped *file; /* null: it cannot be read, or is another build */
    struct binary *next;
};

struct file {
    struct memory memory;
    struct segments images;   /* they cover the others */
    struct stream *stream;    /* of a board: it fills the images; or null */
    struct segments segments; /* sorted, of the file itself */
    struct segments program;  /* of --executable, where no notes tell more */
    struct ranges loads, constants; /* of all segments, of read-only ones */
    struct ranges fixed; /* read-only sections of a program without a system */
    struct mapped *mapped;
    struct mapped *twice; /* of these, the file that holds two copies */
    struct binary *binaries;
    struct source *source;
    const char *path;
    struct file *next; /* of the open files */
    struct source_how how;
    struct source_thread *threads; /* of a core file: those there were */
    size_t threads_count, threads_max;
    uint64_t entry, headers; /* of the program: the latter, its ELF's */
    unsigned char *head; /* of a recording: its headers, as file_renew() read */
    size_t head_size;
    const struct mapped *recording; /* null: it is none */
    uint64_t scanned;
    bool is_program; /* not a core file: a firmware's ELF file */
};

/* binaries.c: the file whose bytes must be read by pread(), or null. A hole in a
 * full tmpfs cannot be read where it is mapped, as that takes a page. */
const struct mapped *mapped_by_fd(const struct mapped *all,
                                  const unsigned char *at);
void mapped_copy(const struct mapped *all, void *to, const unsigned char *from,
                 size_t size);
/* Maps a whole file. Returns null, with errno, if it cannot. */
struct mapped *mapped_open(struct file *, const char *path);
void segment_add(struct segments *, uint64_t start, uint64_t size,
                 const unsigned char *bytes, bool writable);
/* Returns the segment that has an address, or null. They are sorted; if they
 * overlap, the one that starts later counts. Lowers *most to the distance of
 * the next one's start. */
const struct segment *segment_at(const struct segments *, uint64_t address,
                                 uint64_t *most);
/* Adds an ELF file's segments; *cut counts their bytes past the file's end. */
void segments_of(struct segments *, const struct mapped *, Elf *,
                 uint64_t *cut);
/* As struct source's build_id: of the file itself. */
size_t file_build_id(struct source *, uint64_t address, unsigned char to[64]);
/* Returns the bytes of a module's file that were mapped at an address. */
const unsigned char *module_bytes(struct file *, uint64_t address,
                                  uint64_t *size);

/* constants.c: notes which of a file's segments are read-only, those included
 * of which it has no byte. */
void constants_of(struct file *, Elf *);
/* Does the same by sections, for a program without an operating system: its
 * linker script often makes one writable segment of all sections. */
void constants_of_bare(struct file *, Elf *);
/* As struct memory's. */
bool file_constant(struct memory *, uint64_t address);

/* linked.c: finds the modules of a core file without a list of them, by the
 * program of --executable. */
void linked_read(struct file *);

/* two_copies.c: does a file hold two copies of a recording? Then it becomes the
 * second, and slots that changed between them are not read. */
bool copies_find(struct file *, struct mapped *, const char *path);

/* unpack.c: is a file packed by gzip or zstd? Then *fd is of a file that it was
 * unpacked into, and has no name, else below 0. Null, or what is wrong. */
const char *source_unpack(struct source *, const char *path, int *fd);
/* Copies the bytes from read_more(), up to a return value of 0, into a file
 * without a name, *fd. Null, or the error. */
const char *source_receive(struct source *,
                           size_t (*read_more)(void *own, void *to,
                                               size_t size),
                           void *own, int *fd);

/* remote.c: receives the recording of ssh:HOST:SOURCE in a file without a name,
 * *fd. Null, or what is wrong. */
const char *source_remote(struct source *, const char *name, int *fd);

struct flash;
/* flash.c: the pages in an image of a board's flash. Null, or what is wrong. */
const char *flash_open(struct file *, const char *path, struct flash **);
/* Returns the number of bytes of frames that it copied; 0: the end. */
size_t flash_read(struct flash *, void *to, size_t size);
void flash_rewind(struct flash *);
void flash_close(struct flash *);

/* stream.c: opens flash:, tty:, rtt: or swo:, whose bytes change the memory of an ELF
 * file from now on. Null, or what is wrong. */
const char *stream_open(struct file *, const char *name);
void stream_close(struct stream *);

/* notes.c: reads all notes. */
void notes_read(struct file *, const struct mapped *, Elf *);
/* The `thread` of struct memory: the threads in a core file's notes. */
bool file_thread(struct memory *, int32_t id, char name[16]);
