/* fuzz.h - a recording's words, by their place in the file; and the check. */
/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as a file; aborts where a promise does not hold. 1: the file
 * was refused, 0: it was not. */
int fuzz_check(const unsigned char *bytes, size_t size);

/* What is fuzzed: "read", the reader itself; "show", "function", "export",
 * "save", "view", "latency", "diff", "logs" and "threads", the command's verbs;
 * "gdb", gdb's library; "elf", the program that --executable names, and
 * "options", texts, both with the good recording of FUZZ_GOOD; "headers", texts
 * that the headers take; "walk", stacks; "tasks", lists of tasks; "api",
 * librecorder; "symbols", names of functions. False: there is none. */
bool fuzz_choose(const char *target);
/* The chosen target's check. 1: the bytes were refused, 0: they were not. */
int fuzz_one(const unsigned char *bytes, size_t size);

/* Changes some words that matter of a recording or a program, its headers, or
 * where it ends; returns the size, or 0: nothing, as it is neither or as it is
 * time for a blind change. */
size_t fuzz_mutate(unsigned char *bytes, size_t size, unsigned seed);

/* Aborts unless a terminal may be shown it: lines may end in CRLF. */
void fuzz_plain(char *text, size_t size);
void fuzz_plain_text(const char *text); /* null is none */
/* A good file that was written from a bad one: checks that it is read. */
void fuzz_again(const char *path);

/* verbs.c: a command failed, which ends it: nothing it had allocated is freed. */
bool fuzz_was_cut_short(void);
void fuzz_folder_remove(void); /* what commands have written */
/* One of a target's command lines, by number; it ended with 0. */
unsigned fuzz_verbs(const char *target, const char *path, unsigned which);
unsigned fuzz_executable(const char *good, const char *path);
bool fuzz_gdb(unsigned char *bytes, size_t size);
bool fuzz_options(const char *good, const char *text);
/* walks.c: false: the walk found nobody who called. */
bool fuzz_walk(const unsigned char *bytes, size_t size);
/* tasks.c: false: there are no tasks. */
bool fuzz_tasks(const unsigned char *bytes, size_t size);
/* api.c: one of several ways, by number; false: the file was refused. */
bool fuzz_api(const char *path, unsigned which);
/* texts.c; a symbol: false: it is no name of C++ or Rust. */
bool fuzz_demangle(const unsigned char *bytes, size_t size);
bool fuzz_texts(const char *text);

enum { FUZZ_SEGMENTS = 64 };
struct fuzz_file {
    unsigned char *bytes;
    size_t size, registry; /* where the registry is in it */
    unsigned word, segments;
    bool big;
    struct fuzz_segment {
        uint64_t address, at, size;
    } segment[FUZZ_SEGMENTS];
};

/* False: it is not like a recording. */
bool fuzz_open(struct fuzz_file *, unsigned char *bytes, size_t size);
uint64_t fuzz_number(const struct fuzz_file *, size_t at, unsigned size);
void fuzz_put(struct fuzz_file *, size_t at, uint64_t value, unsigned size);
/* Where `size` bytes of an address stand in the file; 0: they do not. */
size_t fuzz_at(const struct fuzz_file *, uint64_t address, size_t size);
/* Where a recorder is, the one after `skip` others or the last. */
size_t fuzz_recorder(const struct fuzz_file *, unsigned skip);

#endif
