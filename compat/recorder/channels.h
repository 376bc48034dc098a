/* compat/recorder/channels.h - arguments in shared memory, for a viewer. */
/* SPDX-License-Identifier: MIT */
/*
    The program, after recorder_trace_set("load=cpu,memory"):
        record(load, "%f %u", cpu, bytes);      // is not printed, but exported

    The viewer:
        recorder_chans_p chans = recorder_chans_open("/tmp/recorder_share");
        recorder_chan_p cpu = recorder_chan_find(chans, "cpu", NULL);
        ringidx_t reader = 0;
        recorder_data sample[2];                // microseconds, value
        while (recorder_chan_read(cpu, sample, 1, &reader))
            plot(sample[0].unsigned_value, sample[1].real_value);

    A channel is a ring of samples. A sample of a slot that another writer was
    stopped in is dropped, and counted; a reader never accepts a mix.

CONTENTS
    interface   of the program and of the viewer
    layout      of the file
    share       the file
    channel     one ring in it
    export      arguments of records into channels
*/
#ifndef RECORDER_1X_CHANNELS_H
#define RECORDER_1X_CHANNELS_H

#include "recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- interface -- */

typedef enum recorder_type {
    RECORDER_NONE,
    RECORDER_INVALID,
    RECORDER_SIGNED,
    RECORDER_UNSIGNED,
    RECORDER_REAL
} recorder_type;
typedef union recorder_data {
    intptr_t signed_value;
    uintptr_t unsigned_value;
#if RECORDER_64BIT
    double real_value;
#else
    float real_value;
#endif
} recorder_data;
typedef struct recorder_chans recorder_chans_t, *recorder_chans_p;
typedef struct recorder_chan recorder_chan_t, *recorder_chan_p;

/* The program. Null: there is a file that is none of ours, or no room. */
RECORDER_1X_ recorder_chans_p recorder_chans_new(const char *path);
RECORDER_1X_ void recorder_chans_delete(recorder_chans_p chans);
RECORDER_1X_ recorder_chan_p
recorder_chan_new(recorder_chans_p chans, recorder_type type, size_t size,
                  const char *name, const char *description, const char *unit,
                  recorder_data min, recorder_data max);
RECORDER_1X_ void recorder_chan_delete(recorder_chan_p chan);
RECORDER_1X_ void recorder_chan_write(recorder_chan_p chan, uintptr_t timestamp,
                                      uintptr_t word);
/* Where channels go that a trace specification asks for. */
RECORDER_1X_ const char *recorder_export_file(void);

/* The viewer. recorder_chan_read() fills two recorder_data for each sample and
 * returns how many samples it read; `reader` begins as 0. */
RECORDER_1X_ recorder_chans_p recorder_chans_open(const char *path);
RECORDER_1X_ void recorder_chans_close(recorder_chans_p chans);
RECORDER_1X_ bool recorder_chans_valid(recorder_chans_p chans);
RECORDER_1X_ bool recorder_chans_configure(recorder_chans_p chans,
                                           const char *specification);
RECORDER_1X_ recorder_chan_p recorder_chan_find(recorder_chans_p chans,
                                                const char *regex,
                                                recorder_chan_p after);
RECORDER_1X_ const char *recorder_chan_name(recorder_chan_p chan);
RECORDER_1X_ const char *recorder_chan_description(recorder_chan_p chan);
RECORDER_1X_ const char *recorder_chan_unit(recorder_chan_p chan);
RECORDER_1X_ recorder_data recorder_chan_min(recorder_chan_p chan);
RECORDER_1X_ recorder_data recorder_chan_max(recorder_chan_p chan);
RECORDER_1X_ recorder_type recorder_chan_type(recorder_chan_p chan);
RECORDER_1X_ size_t recorder_chan_size(recorder_chan_p chan);
RECORDER_1X_ size_t recorder_chan_readable(recorder_chan_p chan,
                                           ringidx_t *reader);
RECORDER_1X_ size_t recorder_chan_read(recorder_chan_p chan, recorder_data *to,
                                       size_t count, ringidx_t *reader);

#if !defined(RECORDER_LIBRARY) || defined(RECORDER_LIBRARY_BODY)
/* ---------------------------------------------------------------- layout --
 *
 * The file has a fixed size and is sparse: channels are never moved. Places in
 * it are offsets from its start; 0 is none.
 */
#define RECORDER_CHANS_MAGIC (0xC0DABABEu ^ (unsigned)RECORDER_64BIT)
#define RECORDER_CHANS_VERSION RECORDER_VERSION(2, 0, 0)
#define RECORDER_CHANS_BYTES ((uintptr_t)(RECORDER_64BIT ? 64 : 8) << 20)
#define RECORDER_CHANS_COMMAND 512

struct recorder_chans {
    uint32_t magic, version;
    uintptr_t bytes, used;
    uintptr_t first;    /* channel */
    uintptr_t commands; /* how many were given; odd: one is being written */
    char command[RECORDER_CHANS_COMMAND];
    char path[RECORDER_SET_MAX];
    int fd; /* of the program */
};
struct recorder_chan {
    uintptr_t offset, next;
    uint32_t type, deleted;
    uintptr_t size, write, dropped;
    recorder_data min, max;
    char name[96], description[128], unit[32];
};
struct recorder_sample {
    uintptr_t commit; /* 2 * (position + 1); odd: being written */
    uintptr_t timestamp, word;
};

extern int recorder_os_unlink(const char *path) RECORDER_LABEL_(unlink);
extern int recorder_os_truncate(int fd, long size) RECORDER_LABEL_(ftruncate);
extern int recorder_os_fallocate(int fd, long from, long size)
    RECORDER_LABEL_(posix_fallocate);
extern long recorder_os_seek(int fd, long to, int whence)
    RECORDER_LABEL_(lseek);

/* ----------------------------------------------------------------- share -- */

RECORDER_INLINE_ int recorder_1x_open(const char *path, bool create)
{
#if defined(__mips__)
    const long flags = create ? 2 | 0x100 | 0x400 : 2;
#else
    const long flags = create ? 2 | 0100 | 0200 : 2; /* RDWR, CREAT, EXCL */
#endif
    return (int)recorder_syscall(SYS_openat, -100L, path,
                                 flags | 02000000 /* CLOEXEC */, 0600L);
}

/* Maps a file of channels, or null where it is none. */
RECORDER_1X_ recorder_chans_p recorder_chans_open(const char *path)
{
    int fd = recorder_1x_open(path, false);
    long bytes = fd < 0 ? 0 : recorder_os_seek(fd, 0, 2);
    void *memory = (void *)-1;
    recorder_chans_p chans;
    if (bytes >= (long)sizeof *chans)
        memory = recorder_mmap(NULL, (size_t)bytes, 3, 1 /* SHARED */, fd, 0);
    if (fd >= 0)
        recorder_os_close(fd);
    if (memory == (void *)-1)
        return NULL;
    chans = (recorder_chans_p)memory;
    if (chans->magic == RECORDER_CHANS_MAGIC &&
        chans->version == RECORDER_CHANS_VERSION &&
        chans->bytes == (uintptr_t)bytes)
        return chans;
    recorder_munmap(memory, (size_t)bytes);
    return NULL;
}

RECORDER_1X_ void recorder_chans_close(recorder_chans_p chans)
{
    if (chans)
        recorder_munmap(chans, chans->bytes);
}

RECORDER_1X_ bool recorder_chans_valid(recorder_chans_p chans)
{
    return chans && __atomic_load_n(&chans->magic, __ATOMIC_ACQUIRE) ==
                        RECORDER_CHANS_MAGIC;
}

/* A file of an earlier run is replaced, any other is left alone. */
RECORDER_1X_ recorder_chans_p recorder_chans_new(const char *path)
{
    recorder_chans_p chans = recorder_chans_open(path);
    void *memory;
    size_t i;
    int fd;
    if (chans) {
        recorder_os_unlink(path);
        recorder_chans_close(chans);
    }
    fd = recorder_1x_open(path, true);
    if (fd < 0)
        return NULL;
    memory = recorder_os_truncate(fd, (long)RECORDER_CHANS_BYTES) == 0 &&
                     recorder_os_fallocate(fd, 0, sizeof *chans) == 0
                 ? recorder_mmap(NULL, RECORDER_CHANS_BYTES, 3, 1, fd, 0)
                 : (void *)-1;
    if (memory == (void *)-1) {
        recorder_os_close(fd);
        recorder_os_unlink(path);
        return NULL;
    }
    chans = (recorder_chans_p)memory;
    chans->bytes = RECORDER_CHANS_BYTES;
    chans->used = (sizeof *chans + 63) & ~(uintptr_t)63;
    for (i = 0; path[i] && i < sizeof chans->path - 1; i++)
        chans->path[i] = path[i];
    chans->fd = fd;
    chans->version = RECORDER_CHANS_VERSION;
    __atomic_store_n(&chans->magic, RECORDER_CHANS_MAGIC, __ATOMIC_RELEASE);
    return chans;
}

/* Removes the file; who has it open sees that it is no longer valid. The memory
 * stays: somebody may be writing a sample. */
RECORDER_1X_ void recorder_chans_delete(recorder_chans_p chans)
{
    if (!chans)
        return;
    __atomic_store_n(&chans->magic, 0u, __ATOMIC_RELEASE);
    recorder_os_unlink(chans->path);
    recorder_os_close(chans->fd);
}

/* Leaves a trace specification for the program, which looks for one every
 * recorder_configuration_sleep milliseconds. */
RECORDER_1X_ bool recorder_chans_configure(recorder_chans_p chans,
                                           const char *specification)
{
    uintptr_t count = __atomic_load_n(&chans->commands, __ATOMIC_ACQUIRE);
    size_t size = recorder_length(specification, RECORDER_CHANS_COMMAND), i;
    if (size == RECORDER_CHANS_COMMAND || (count & 1) ||
        !__atomic_compare_exchange_n(&chans->commands, &count, count + 1, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    for (i = 0; i <= size; i++)
        __atomic_store_n(&chans->command[i], specification[i],
                         __ATOMIC_RELAXED);
    __atomic_store_n(&chans->commands, count + 2, __ATOMIC_RELEASE);
    return true;
}

/* --------------------------------------------------------------- channel -- */

RECORDER_INLINE_ struct recorder_sample *
recorder_chan_samples(recorder_chan_p chan)
{
    return (struct recorder_sample *)(void *)(chan + 1);
}
RECORDER_INLINE_ void recorder_1x_copy(char *to, size_t max, const char *from)
{
    size_t i;
    for (i = 0; from && from[i] && i < max - 1; i++)
        to[i] = from[i];
    to[i] = '\0';
}

RECORDER_1X_ recorder_chan_p
recorder_chan_new(recorder_chans_p chans, recorder_type type, size_t size,
                  const char *name, const char *description, const char *unit,
                  recorder_data min, recorder_data max)
{
    uintptr_t bytes, offset;
    recorder_chan_p chan;
    if (!chans || !size ||
        size > RECORDER_CHANS_BYTES / sizeof(struct recorder_sample))
        return NULL;
    bytes = (sizeof *chan + size * sizeof(struct recorder_sample) + 63) &
            ~(uintptr_t)63;
    offset = __atomic_load_n(&chans->used, __ATOMIC_RELAXED);
    do
        if (bytes > chans->bytes - offset)
            return NULL;
    while (!__atomic_compare_exchange_n(&chans->used, &offset, offset + bytes,
                                        false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
    if (recorder_os_fallocate(chans->fd, (long)offset, (long)bytes) != 0)
        return NULL; /* the disk is full: a write would be a SIGBUS */
    chan = (recorder_chan_p)(void *)((char *)chans + offset);
    chan->offset = offset;
    chan->type = (uint32_t)type;
    chan->size = size;
    chan->min = min;
    chan->max = max;
    recorder_1x_copy(chan->name, sizeof chan->name, name);
    recorder_1x_copy(chan->description, sizeof chan->description, description);
    recorder_1x_copy(chan->unit, sizeof chan->unit, unit);
    chan->next = __atomic_load_n(&chans->first, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&chans->first, &chan->next, offset,
                                        false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE))
        ;
    return chan;
}
RECORDER_1X_ void recorder_chan_delete(recorder_chan_p chan)
{
    if (chan)
        __atomic_store_n(&chan->deleted, 1u, __ATOMIC_RELEASE);
}

/* The slot is ours by the exchange: a writer of a lap before or after that is
 * still in it makes us drop the sample. */
RECORDER_1X_ void recorder_chan_write(recorder_chan_p chan, uintptr_t timestamp,
                                      uintptr_t word)
{
    uintptr_t position = recorder_add(&chan->write, 1), seen;
    struct recorder_sample *sample =
        recorder_chan_samples(chan) + position % chan->size;
    seen = __atomic_load_n(&sample->commit, __ATOMIC_ACQUIRE);
    if ((seen & 1) || (intptr_t)(seen - 2 * (position + 1)) > 0 ||
        !__atomic_compare_exchange_n(&sample->commit, &seen,
                                     2 * (position + 1) + 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        recorder_add(&chan->dropped, 1);
        return;
    }
    __atomic_thread_fence(__ATOMIC_RELEASE);
    recorder_put(&sample->timestamp, timestamp);
    recorder_put(&sample->word, word);
    __atomic_store_n(&sample->commit, 2 * (position + 1), __ATOMIC_RELEASE);
}

/* Copies the sample at a position. False: it is not there. */
RECORDER_INLINE_ bool recorder_chan_look(recorder_chan_p chan,
                                         uintptr_t position, recorder_data *to)
{
    struct recorder_sample *sample =
        recorder_chan_samples(chan) + position % chan->size;
    if (__atomic_load_n(&sample->commit, __ATOMIC_ACQUIRE) !=
        2 * (position + 1))
        return false;
    to[0].unsigned_value = recorder_get(&sample->timestamp);
    to[1].unsigned_value = recorder_get(&sample->word);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return recorder_get(&sample->commit) == 2 * (position + 1);
}

RECORDER_1X_ size_t recorder_chan_readable(recorder_chan_p chan,
                                           ringidx_t *reader)
{
    uintptr_t written = __atomic_load_n(&chan->write, __ATOMIC_ACQUIRE);
    uintptr_t count = written - (reader ? *reader : 0);
    return count < chan->size ? count : chan->size;
}

/* What was dropped or overwritten is passed over, what is still being written
 * is waited for by the next call. */
RECORDER_1X_ size_t recorder_chan_read(recorder_chan_p chan, recorder_data *to,
                                       size_t count, ringidx_t *reader)
{
    uintptr_t written = __atomic_load_n(&chan->write, __ATOMIC_ACQUIRE);
    uintptr_t from = reader ? *reader : 0, at;
    size_t done = 0;
    if (written - from > chan->size)
        from = written - chan->size;
    for (at = from; at != written && done < count; at++)
        if (recorder_chan_look(chan, at, to + 2 * done)) {
            done++;
            from = at + 1;
        }
    if (reader)
        *reader = from;
    return done;
}

/* The channel at an offset, if it is one. */
RECORDER_INLINE_ recorder_chan_p recorder_chan_at(recorder_chans_p chans,
                                                  uintptr_t offset)
{
    recorder_chan_p chan = (recorder_chan_p)(void *)((char *)chans + offset);
    if (offset < sizeof *chans || offset % 64 ||
        offset > chans->bytes - sizeof *chan || chan->offset != offset ||
        !chan->size ||
        chan->size > (chans->bytes - offset - sizeof *chan) /
                         sizeof(struct recorder_sample))
        return NULL;
    return chan;
}

/* The next channel behind `after`, null: the first, whose name matches. */
RECORDER_1X_ recorder_chan_p recorder_chan_find(recorder_chans_p chans,
                                                const char *regex,
                                                recorder_chan_p after)
{
    uintptr_t offset =
        after ? after->next : __atomic_load_n(&chans->first, __ATOMIC_ACQUIRE);
    recorder_chan_p chan;
    size_t limit = chans->bytes / 64; /* a ring of offsets has no end */
    for (; limit-- && (chan = recorder_chan_at(chans, offset)) != NULL;
         offset = chan->next)
        if (!__atomic_load_n(&chan->deleted, __ATOMIC_ACQUIRE) &&
            (!regex || recorder_regex_match(regex, chan->name)))
            return chan;
    return NULL;
}

RECORDER_1X_ const char *recorder_chan_name(recorder_chan_p chan)
{
    return chan->name;
}
RECORDER_1X_ const char *recorder_chan_description(recorder_chan_p chan)
{
    return chan->description;
}
RECORDER_1X_ const char *recorder_chan_unit(recorder_chan_p chan)
{
    return chan->unit;
}
RECORDER_1X_ recorder_data recorder_chan_min(recorder_chan_p chan)
{
    return chan->min;
}
RECORDER_1X_ recorder_data recorder_chan_max(recorder_chan_p chan)
{
    return chan->max;
}
RECORDER_1X_ recorder_type recorder_chan_type(recorder_chan_p chan)
{
    return (recorder_type)__atomic_load_n(&chan->type, __ATOMIC_ACQUIRE);
}
RECORDER_1X_ size_t recorder_chan_size(recorder_chan_p chan)
{
    return chan->size;
}

/* ---------------------------------------------------------------- export -- */

#define RECORDER_1X_EXPORTS 64
struct recorder_1x_export {
    struct recorder *recorder; /* null: free */
    recorder_chan_p chan[12];
};
RECORDER_PROGRAM_ struct recorder_1x_export
    recorder_1x_exports[RECORDER_1X_EXPORTS] = {{0, {0}}};
RECORDER_PROGRAM_ recorder_chans_p recorder_1x_chans = 0;
RECORDER_PROGRAM_ char recorder_1x_share_path[RECORDER_SET_MAX] = "";
RECORDER_PROGRAM_ uintptr_t recorder_1x_commands = 0; /* that were done */

RECORDER_1X_ const char *recorder_export_file(void)
{
    const char *path = recorder_os_environment_safe("RECORDER_SHARE");
    if (!recorder_1x_share_path[0])
        recorder_1x_copy(recorder_1x_share_path, sizeof recorder_1x_share_path,
                         path && *path ? path : "/tmp/recorder_share");
    return recorder_1x_share_path;
}

/* Does what a viewer has asked for, once. */
RECORDER_FUNCTION_ void recorder_1x_obey(void)
{
    recorder_chans_p chans =
        __atomic_load_n(&recorder_1x_chans, __ATOMIC_ACQUIRE);
    uintptr_t count = chans
                          ? __atomic_load_n(&chans->commands, __ATOMIC_ACQUIRE)
                          : recorder_1x_commands;
    char command[RECORDER_CHANS_COMMAND];
    size_t i;
    if (count == recorder_1x_commands || (count & 1))
        return;
    for (i = 0; i < sizeof command - 1; i++)
        command[i] = __atomic_load_n(&chans->command[i], __ATOMIC_RELAXED);
    command[i] = '\0';
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (recorder_get(&chans->commands) != count)
        return; /* the next comes over it: look again */
    recorder_1x_commands = count;
    recorder_trace_set(command);
}
RECORDER_FUNCTION_ void *recorder_1x_obey_run(void *unused)
{
    for (;;) {
        intptr_t sleep = __atomic_load_n(
            &recorder_for_recorder_configuration_sleep.trace, __ATOMIC_RELAXED);
        recorder_1x_obey();
        recorder_os_poll(NULL, 0, sleep > 0 && sleep < 60000 ? (int)sleep : 1);
    }
    return unused;
}

extern int recorder_os_thread_new(uintptr_t *thread, const void *attributes,
                                  void *(*run)(void *), void *with)
    RECORDER_LABEL_(pthread_create) __attribute__((weak));
extern int recorder_os_thread_detach(uintptr_t thread)
    RECORDER_LABEL_(pthread_detach) __attribute__((weak));

/* A thread of ours takes none of the program's signals. */
RECORDER_FUNCTION_ void recorder_1x_thread(void *(*run)(void *))
{
    struct recorder_signal_set all, before = {{0}};
    uintptr_t thread;
    if (!recorder_os_thread_new || !recorder_os_thread_detach)
        return;
    __builtin_memset(&all, 0xff, sizeof all);
    recorder_os_mask(RECORDER_SIG_SETMASK_, &all, &before);
    if (recorder_os_thread_new(&thread, NULL, run, NULL) == 0)
        recorder_os_thread_detach(thread);
    recorder_os_mask(RECORDER_SIG_SETMASK_, &before, NULL);
}

/* The share of this program, made when it is first asked for. */
RECORDER_FUNCTION_ recorder_chans_p recorder_1x_shared(void)
{
    recorder_chans_p chans =
        __atomic_load_n(&recorder_1x_chans, __ATOMIC_ACQUIRE);
    if (chans)
        return chans;
    chans = recorder_chans_new(recorder_export_file());
    if (!chans)
        return NULL;
    __atomic_store_n(&recorder_1x_chans, chans, __ATOMIC_RELEASE);
    recorder_1x_thread(recorder_1x_obey_run);
    return chans;
}

/* share=path: from now on there, also what has been exported before. */
RECORDER_FUNCTION_ bool recorder_1x_share(const char *path)
{
    if (!path[0] || __atomic_load_n(&recorder_1x_chans, __ATOMIC_ACQUIRE))
        return false; /* a viewer may be looking at it */
    recorder_1x_copy(recorder_1x_share_path, sizeof recorder_1x_share_path,
                     path);
    return recorder_1x_shared() != NULL;
}

RECORDER_FUNCTION_ struct recorder_1x_export *
recorder_1x_exported(const struct recorder *recorder)
{
    size_t i;
    for (i = 0; i < RECORDER_1X_EXPORTS; i++)
        if (__atomic_load_n(&recorder_1x_exports[i].recorder,
                            __ATOMIC_ACQUIRE) == recorder)
            return &recorder_1x_exports[i];
    return NULL;
}

/* Copies a name up to ',' behind "recorder/"; returns what is behind it. */
RECORDER_FUNCTION_ const char *recorder_1x_name(struct recorder_string *to,
                                                const char *names,
                                                const struct recorder *of)
{
    size_t length = 0;
    to->size = 0;
    if (of) {
        recorder_add_string(to, of->name);
        recorder_add_string(to, "/");
    }
    while (names[length] && names[length] != ',')
        length++;
    recorder_add_text(to, names, length);
    to->to[to->size < to->max ? to->size : to->max] = '\0';
    return names + length + (names[length] == ',');
}

/* The hook of recorder_trace_set(): name=a,b,c; names null: no longer. */
RECORDER_FUNCTION_ bool recorder_1x_channels(struct recorder *recorder,
                                             const char *names, bool many)
{
    struct recorder_1x_export *export_of = recorder_1x_exported(recorder);
    recorder_chans_p chans = names ? recorder_1x_shared() : NULL;
    intptr_t size = __atomic_load_n(&recorder_for_recorder_export_size.trace,
                                    __ATOMIC_RELAXED);
    struct recorder_string to;
    recorder_data none;
    char name[96];
    unsigned i;
    none.unsigned_value = 0;
    to.to = name;
    to.max = sizeof name - 1;
    if (export_of) {
        for (i = 0; i < 12; i++)
            recorder_chan_delete(__atomic_exchange_n(
                &export_of->chan[i], (recorder_chan_p)NULL, __ATOMIC_ACQ_REL));
        if (!names)
            __atomic_store_n(&export_of->recorder, (struct recorder *)NULL,
                             __ATOMIC_RELEASE);
    }
    if (!chans)
        return !names;
    if (!export_of)
        export_of = recorder_1x_exported(NULL);
    if (!export_of)
        return false;
    for (i = 0; i < 12 && *names; i++) {
        recorder_chan_p chan = NULL;
        names = recorder_1x_name(&to, names, many ? recorder : NULL);
        if (to.size)
            chan = recorder_chan_new(chans, RECORDER_NONE,
                                     size > 0 ? (size_t)size : 2048, name,
                                     recorder->description, "", none, none);
        __atomic_store_n(&export_of->chan[i], chan, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&export_of->recorder, recorder, __ATOMIC_RELEASE);
    /* Above 0, so that the hook is called; in RECORD_TIMING_END, 100 ms. */
    __atomic_store_n(&recorder->trace, 100, __ATOMIC_RELAXED);
    return true;
}

/* How a format shows an argument. */
RECORDER_FUNCTION_ recorder_type recorder_1x_type_of(const char *format,
                                                     unsigned index)
{
    struct recorder_formatter f;
    f.arguments = NULL;
    f.next = f.used = 0;
    for (f.at = format; !recorder_format_ended(f.at);) {
        if (*f.at++ != '%')
            continue;
        recorder_format_parse(&f);
        if (f.used > index)
            return f.kind == 'd'   ? RECORDER_SIGNED
                   : f.kind == 'f' ? RECORDER_REAL
                                   : RECORDER_UNSIGNED;
    }
    return RECORDER_INVALID;
}

/* Writes what is exported of a record. False: nothing is. */
RECORDER_FUNCTION_ bool
recorder_1x_export_words(const struct recorder *recorder,
                         const struct recorder_record *records, unsigned count,
                         uintptr_t now)
{
    struct recorder_1x_export *export_of = recorder_1x_exported(recorder);
    unsigned i;
    for (i = 0; export_of && i < 4 * count; i++) {
        recorder_chan_p chan =
            __atomic_load_n(&export_of->chan[i], __ATOMIC_ACQUIRE);
        if (!chan)
            continue;
        if (chan->type == RECORDER_NONE)
            __atomic_store_n(&chan->type,
                             (uint32_t)recorder_1x_type_of(
                                 (const char *)records[0].format, i),
                             __ATOMIC_RELEASE);
        recorder_chan_write(chan, now, records[i / 4].argument[i % 4]);
    }
    return export_of != NULL;
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
