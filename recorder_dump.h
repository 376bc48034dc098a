/* recorder_dump.h - shows what was recorded as text, on demand or at a crash */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_dump.h"              // brings recorder.h
    recorder_dump_on_common_signals(0, 0);  // a crash shows what led to it
    ...
    recorder_dump();                        // and so does this

PROMISES
    * All rings merged, strictly ascending by order, each record whole.
    * Nothing is removed: dump as often as you like, from any thread, two at
      once; each dump is complete.
    * Async-signal-safe from end to end: write() and a few more plain system
      calls, no heap, no lock, no locale, about 4 KB of stack.
    * It ends while others record: what comes after its start is not shown.
    * A bad pointer in a record prints as an address and harms nobody.

LIMITS
    * Memory for the sorting comes from mmap(), 120 bytes a record, 256 MB at
      most; what does not fit, or any where mmap() fails, costs further passes.
    * A line is cut, and marked, at RECORDER_LINE_MAX bytes; at 256 where it is
      traced, and in a dump for which there is no memory.
    * A dump fits a signal stack of 8 KiB (4 KB, and 3 KB of the kernel's), but
      not where neither mmap() nor the spare memory is to be had.
    * Of a ring that is overwritten while the dump looks at it, what was there
      at its start and is not any more is missing.
    * A sandbox that kills for mmap() or process_vm_readv() kills for a dump;
      one that refuses them does no harm.
    * SIZE and ENTRIES count slots; a record of 5 to 12 arguments takes 2 or 3,
      and a copied text one for 32 bytes.

CONTENTS
    interface   the dump functions
    scratch     where a dump gets its memory
    strings     what formats and %s point at
    time        how fast ticks run
    line        one event as text
    dump        the whole
    trace       records that print at once
*/
#ifndef RECORDER_DUMP_H
#define RECORDER_DUMP_H

#include "recorder_read.h"

#include "recorder_format.h"
#include "recorder_line.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- interface --
 *
 * size_t recorder_dump(void)                  to stderr
 * size_t recorder_dump_fd(int fd)
 * size_t recorder_dump_for(const char *regex) to stderr, the recorders whose
 *                                             whole name matches: extended
 *                                             syntax, case-insensitive
 * size_t recorder_dump_to(sink, context)      to sink(context, text, size), a
 *                                             line a call, not NUL-terminated
 * Each returns the number of records shown. Without an operating system, stderr
 * is RECORDER_WRITE of the port, and there are no descriptors.
 *
 * bool recorder_line(const char *line)        sets the line of a record; kept,
 *                                             not copied. Null: the default.
 *     False, and a word on stderr, where a field is unknown; then nothing
 *     changes. Environment: RECORDER_LINE. Fields:
 *     {order} {seconds} {wall} {location} {caller} {thread} {name} {recorder}
 *     {message}; name is the thread's, seconds count from the start, and
 *     {order:8} takes at least 8 columns, {recorder:-12} from the left; {{ is
 *     a brace. At most 255 bytes.
 *
 * size_t recorder_event_text(event, to, size) the message of an event, as
 *                                             snprintf would write it
 */
typedef void recorder_sink(void *context, const char *text, size_t size);

/* --------------------------------------------------------------- scratch -- */

/* Bytes fetched once in a dump, by their address. */
#define RECORDER_FETCH_MAX 232
struct recorder_fetched {
    uint64_t address; /* 0: none */
    size_t size;
    char bytes[RECORDER_FETCH_MAX];
};

/* What a dump works with, of any size: carved out of one piece of memory. */
struct recorder_scratch {
    struct recorder_memory memory;
    struct recorder_batch batch;
    size_t at;               /* which of the batch is being shown */
    struct recorder_fetched *fetched;
    size_t fetched_mask;
    char *format, *text, *message, *line; /* text: of RECORDER_COPY */
    size_t format_max, text_max, line_max;
    char *out;               /* gathers lines, for recorder_dump_fd */
    size_t out_max;
    void *mapped;
    size_t mapped_bytes;
    bool spare;              /* it is the program's spare piece */
    intptr_t trace;          /* of a record that prints at once; 0: a dump */
    uintptr_t rings, rings_end; /* between these are all; 0: not looked up */
};

enum {
    RECORDER_FETCHED = 64,   /* a program shows few formats at a time */
    RECORDER_OUT_MAX = 16384,
    RECORDER_FORMAT_MAX = 1024,
    RECORDER_TEXT_MAX = RECORDER_COPY_MAX + 4,
    RECORDER_STACK_LINE = 256 /* of each kind, where there is only the stack */
};
#define RECORDER_SCRATCH_STACK 2880 /* no stack frame is above 4 KiB */
#define RECORDER_SCRATCH_MAX ((size_t)256 << 20)
#define RECORDER_KEPT_BYTES                                                    \
    (sizeof(struct recorder_kept) + sizeof(struct recorder_key))

/* Divides `bytes` at `from`, aligned to 16, small where that is little. */
RECORDER_FUNCTION_ void recorder_scratch_divide(struct recorder_scratch *s,
                                                char *from, size_t bytes)
{
    bool small = bytes <= RECORDER_SCRATCH_STACK;
    char *end = from + bytes;
    size_t count = small ? 1 : RECORDER_FETCHED;
    s->fetched_mask = count - 1;
    s->format_max = small ? RECORDER_STACK_LINE : RECORDER_FORMAT_MAX;
    s->text_max = small ? RECORDER_STACK_LINE : RECORDER_TEXT_MAX;
    s->line_max = small ? RECORDER_STACK_LINE : RECORDER_LINE_MAX;
    s->out_max = small ? 0 : RECORDER_OUT_MAX;
    s->fetched = (struct recorder_fetched *)(void *)recorder_carve(
        &from, count * sizeof *s->fetched);
    s->format = recorder_carve(&from, s->format_max);
    s->text = recorder_carve(&from, s->text_max);
    s->message = recorder_carve(&from, s->line_max);
    s->line = recorder_carve(&from, s->line_max);
    s->out = recorder_carve(&from, s->out_max);
    s->batch.max = (size_t)(end - from) / RECORDER_KEPT_BYTES;
    s->batch.kept = (struct recorder_kept *)(void *)from;
    s->batch.keys = (struct recorder_key *)(void *)(s->batch.kept +
                                                    s->batch.max);
    while (count-- > 0)
        s->fetched[count].address = 0;
}

/* Opens scratch memory at `memory`, or where that is null, maps some, enough
 * for `records` records at once. False: none is to be had. */
RECORDER_FUNCTION_ bool recorder_scratch_open(struct recorder_scratch *s,
                                              size_t records, void *memory)
{
    size_t fixed = RECORDER_FETCHED * sizeof(struct recorder_fetched) +
                   RECORDER_FORMAT_MAX + RECORDER_TEXT_MAX +
                   2 * RECORDER_LINE_MAX + RECORDER_OUT_MAX + 256;
    size_t bytes = RECORDER_SCRATCH_MAX;
    if (records < (RECORDER_SCRATCH_MAX - fixed) / RECORDER_KEPT_BYTES)
        bytes = fixed + (records + 16) * RECORDER_KEPT_BYTES;
    recorder_memory_open(&s->memory);
    s->batch.used = s->batch.count = s->batch.next = s->at = 0;
    s->batch.after = s->batch.end = 0;
    s->batch.begun = s->batch.more = false;
    s->batch.regex = NULL;
    s->trace = 0;
    s->rings = s->rings_end = 0;
    s->mapped_bytes = memory ? 0 : bytes;
    s->spare = false;
    if (memory)
        bytes = RECORDER_SCRATCH_STACK;
    else
        memory = recorder_os_memory(bytes);
    if (memory)
        recorder_scratch_divide(s, (char *)memory, bytes);
    s->mapped = memory;
    return memory != NULL;
}

/* The program's piece for where mmap() fails and the stack may be a small one:
 * for one at a time, the others use their stacks. */
RECORDER_PROGRAM_ char recorder_spare[RECORDER_SCRATCH_STACK]
    __attribute__((aligned(16)));
RECORDER_PROGRAM_ uint32_t recorder_spare_taken = 0;

#ifdef RECORDER_ENTER
RECORDER_INLINE_ uint32_t recorder_spare_take(void)
{
    uintptr_t masked = RECORDER_ENTER();
    uint32_t was = recorder_spare_taken;
    recorder_spare_taken = 1;
    RECORDER_LEAVE(masked);
    return was;
}
#else
RECORDER_INLINE_ uint32_t recorder_spare_take(void)
{
    return __atomic_exchange_n(&recorder_spare_taken, 1, __ATOMIC_ACQUIRE);
}
#endif
RECORDER_FUNCTION_ bool recorder_scratch_spare(struct recorder_scratch *s)
{
    if (recorder_spare_take())
        return false;
    recorder_scratch_open(s, 0, recorder_spare);
    s->spare = true;
    return true;
}

/* Scratch for `records` records at once, for fewer where that is refused, else
 * the spare piece. False: the caller is left with its stack. */
RECORDER_FUNCTION_ bool recorder_scratch_map(struct recorder_scratch *s,
                                             size_t records)
{
    for (; records; records /= 4)
        if (recorder_scratch_open(s, records, NULL))
            return true;
    return recorder_scratch_open(s, 0, NULL) || recorder_scratch_spare(s);
}

RECORDER_FUNCTION_ void recorder_scratch_close(struct recorder_scratch *s)
{
    if (s->spare)
        __atomic_store_n(&recorder_spare_taken, 0, __ATOMIC_RELEASE);
    recorder_memory_close(&s->memory);
    if (s->mapped_bytes)
        recorder_munmap(s->mapped, s->mapped_bytes);
}

/* --------------------------------------------------------------- strings -- */

/* The bytes at an address, up to RECORDER_FETCH_MAX of them; read once in a
 * dump. Null where there are none. */
RECORDER_FUNCTION_ const struct recorder_fetched *
recorder_fetch(struct recorder_scratch *s, uint64_t address)
{
    struct recorder_fetched *f =
        &s->fetched[(address ^ address >> 7 ^ address >> 13) & s->fetched_mask];
    ptrdiff_t size;
    if (f->address == address && address)
        return f;
    f->address = 0;
    size = recorder_memory_copy(&s->memory, address, f->bytes, sizeof f->bytes);
    if (size <= 0)
        return NULL;
    f->size = (size_t)size;
    f->address = address;
    return f;
}

/* The format of an event and the place behind it, as `*location`, both in
 * s->format; null where it cannot be read: its library may be gone. */
RECORDER_FUNCTION_ const char *recorder_format_of(struct recorder_scratch *s,
                                                  uint64_t address,
                                                  const char **location)
{
    const struct recorder_fetched *f = recorder_fetch(s, address);
    size_t length, size, i;
    *location = "?";
    if (!f)
        return NULL;
    size = f->size;
    recorder_bytes(s->format, f->bytes, sizeof f->bytes);
    length = recorder_length(s->format, size);
    i = length + 1;
    if (i > size || i + recorder_length(s->format + i, size - i) == size) {
        /* Longer than what is fetched at once. */
        ptrdiff_t copied = recorder_memory_copy(&s->memory, address, s->format,
                                                s->format_max - 1);
        size = copied > 0 ? (size_t)copied : 0;
        length = recorder_length(s->format, size);
    }
    s->format[size] = '\0';
    if (length == size) /* its end is not there, or it is too long */
        recorder_bytes(s->format + (size > 3 ? size - 3 : 0), "...", 4);
    if (length + 1 < size)
        *location = s->format + length + 1;
    return s->format;
}

/* The recorder in whose rings an address lies, between recorder_walk() and
 * recorder_unwalk(); null: in none. */
RECORDER_INLINE_ const struct recorder *
recorder_walk_to(const struct recorder *recorder, uintptr_t address)
{
    while (recorder && address - (uintptr_t)recorder->rings >=
                           recorder->ring_bytes * (recorder->lanes_mask + 1))
        recorder = recorder_walk_on(recorder);
    return recorder;
}
/* Is it? Most addresses are of no token, and lie outside of all rings: where
 * these begin and end is looked up once. */
RECORDER_FUNCTION_ bool recorder_is_token(struct recorder_scratch *s,
                                          uint64_t address)
{
    const struct recorder *first = recorder_walk(), *recorder = first;
    bool is;
    if (!s->rings_end)
        for (s->rings = UINTPTR_MAX; recorder;
             recorder = recorder_walk_on(recorder)) {
            uintptr_t start = (uintptr_t)recorder->rings;
            uintptr_t end =
                start + recorder->ring_bytes * (recorder->lanes_mask + 1);
            s->rings = start < s->rings ? start : s->rings;
            s->rings_end = end > s->rings_end ? end : s->rings_end;
        }
    is = address >= s->rings && address < s->rings_end &&
         recorder_walk_to(first, (uintptr_t)address);
    recorder_unwalk();
    return is;
}

/* Finds the text record in a slot: in the batch, behind the head that is being
 * shown, else in the ring, if its recorder is still there. It must be of the
 * thread that made the event: a slot goes round, and so do the low bits of
 * orders, often in step. */
RECORDER_FUNCTION_ bool recorder_text_piece(const struct recorder_scratch *s,
                                            const struct recorder_event *event,
                                            uint64_t token,
                                            struct recorder_record *piece)
{
    uintptr_t slot = (uintptr_t)token & ~(sizeof *piece - 1);
    uintptr_t low = (uintptr_t)token & (sizeof *piece - 1);
    const struct recorder *recorder;
    uintptr_t commit = 0;
    size_t back;
    for (back = 1; back <= s->at && back <= 4096; back++) {
        const struct recorder_kept *kept =
            recorder_batch_at(&s->batch, s->at - back);
        if ((uintptr_t)(recorder_records(kept->ring) + kept->slot) == slot) {
            *piece = kept->record;
            return (piece->order & (sizeof *piece - 1)) == low &&
                   kept->thread == event->thread;
        }
    }
    recorder = recorder_walk_to(recorder_walk(), slot);
    if (recorder) {
        uintptr_t lane =
            (slot - (uintptr_t)recorder->rings) / recorder->ring_bytes;
        const struct recorder_ring *ring =
            recorder_lane(recorder, (unsigned)lane);
        uintptr_t index =
            (slot - (uintptr_t)recorder_records(ring)) / sizeof *piece;
        if (index <= recorder->mask)
            commit = recorder_look(ring, recorder->mask, index, piece);
    }
    recorder_unwalk();
    return commit && (piece->order & (sizeof *piece - 1)) == low &&
           recorder_commit_thread(commit) == event->thread;
}

/* Puts the text that a token stands for together, as far as it is still there.
 * Only pieces that follow each other by order and by size are one text. */
RECORDER_FUNCTION_ void recorder_text_of(struct recorder_scratch *s,
                                         const struct recorder_event *event,
                                         uint64_t token)
{
    struct recorder_record piece;
    uintptr_t order = 0, left = 0, count;
    size_t size = 0, max = s->text_max - 4; /* for what marks the end */
    const char *mark = "";
    while (token && !*mark) {
        if (!recorder_text_piece(s, event, token, &piece) ||
            piece.format == 0 || piece.format >= RECORDER_TEXT_END ||
            (size == 0 ? (uintptr_t)event->order - piece.order > UINTPTR_MAX / 2
                       : piece.order != order + 1 || piece.format != left + 1))
            break;
        order = piece.order;
        left = piece.format - 1;
        count = left < RECORDER_TEXT_BYTES ? left : RECORDER_TEXT_BYTES;
        if (count > max - size) {
            count = max - size;
            mark = "...";
        }
        recorder_bytes(s->text + size, piece.argument, count);
        size += count;
        left -= count;
        token = piece.caller;
        if (left == 0)
            token = 0;
        else if (token == 0)
            mark = "..."; /* it was longer than what is kept of a text */
        order = piece.order;
    }
    if (token && !*mark) {
        const char *lost = size ? "..." : "<lost>";
        recorder_bytes(s->text + size, lost, size ? 4 : 7);
    } else {
        recorder_bytes(s->text + size, mark, *mark ? 4 : 1);
    }
}

struct recorder_text_context {
    struct recorder_scratch *scratch;
    const struct recorder_event *event;
    uint64_t token; /* the text that is being read, and how far */
    size_t read;
};

/* The bytes of a text: from its start at its token, then as the formatter asks
 * on, as if they stood behind it. */
RECORDER_FUNCTION_ ptrdiff_t recorder_text_bytes(
    struct recorder_text_context *c, uint64_t address, char *to, size_t size)
{
    const char *text = c->scratch->text;
    size_t left;
    if (c->token == 0 || address != c->token + c->read) {
        recorder_text_of(c->scratch, c->event, address);
        c->token = address;
        c->read = 0;
    }
    left = recorder_length(text + c->read, c->scratch->text_max) + 1;
    if (size > left)
        size = left;
    recorder_bytes(to, text + c->read, size);
    c->read += size;
    if (size == left)
        c->token = 0; /* its end was read: the next is another */
    return (ptrdiff_t)size;
}

/* recorder_format's way to strings: what stands at an address, or the text that
 * a token stands for. */
RECORDER_FUNCTION_ ptrdiff_t recorder_text(void *context, uint64_t address,
                                           char *to, size_t size)
{
    struct recorder_text_context *c = (struct recorder_text_context *)context;
    const struct recorder_fetched *f;
    if ((c->token && address == c->token + c->read) ||
        recorder_is_token(c->scratch, address))
        return recorder_text_bytes(c, address, to, size);
    f = recorder_fetch(c->scratch, address);
    if (!f)
        return -1;
    if (size > f->size)
        size = f->size;
    recorder_bytes(to, f->bytes, size);
    return (ptrdiff_t)size;
}

/* ------------------------------------------------------------------ time -- */

#ifdef RECORDER_HOSTED_
/* Where the program is: its start and, if that is far enough from it, a later
 * moment that was noted before; else now, noted for all readers to come. */
RECORDER_FUNCTION_ void recorder_clock_open(struct recorder_clock *clock)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_moment now = recorder_now(), start = registry->start;
    uint32_t set = __atomic_load_n(&registry->later_set, __ATOMIC_ACQUIRE);
    if (!start.monotonic_ns)
        start = now;
    if (set && !(set & 1)) {
        struct recorder_moment later = registry->later;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&registry->later_set, __ATOMIC_RELAXED) == set &&
            !recorder_clock_is_better(&start, &later, &now)) {
            recorder_clock_set(clock, &start, &later);
            return;
        }
    }
    recorder_clock_set(clock, &start, &now);
    if ((set & 1) || !__atomic_compare_exchange_n(
                         &registry->later_set, &set, set + 1, false,
                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return; /* another thread notes its now */
    registry->later = now;
    __atomic_store_n(&registry->later_set, set + 2, __ATOMIC_RELEASE);
    recorder_file_tell(RECORDER_FILE_SYNC, NULL);
}
RECORDER_INLINE_ uint64_t recorder_clock_realtime(void)
{
    return recorder_clock_ns(RECORDER_REALTIME_);
}
#else
RECORDER_INLINE_ void recorder_clock_open(struct recorder_clock *clock)
{
    recorder_clock_set(clock, &recorder_home.registry->start,
                       &recorder_home.registry->later);
}
RECORDER_INLINE_ uint64_t recorder_clock_realtime(void)
{
    return 0;
}
#endif

/* ------------------------------------------------------------------ line -- */

/* The row of the thread that made an event; null where it is another's now. */
RECORDER_INLINE_ const struct recorder_thread *
recorder_event_row(const struct recorder_event *event)
{
    const struct recorder_registry *registry = recorder_home.registry;
    const struct recorder_thread *row =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    if (!row || event->thread == 0 || event->thread > registry->threads_max)
        return NULL;
    row += event->thread - 1;
    return (intptr_t)((uintptr_t)event->order - recorder_get(&row->first)) < 0
               ? NULL
               : row;
}

/* The message of an event, from the batch that the scratch holds. */
RECORDER_FUNCTION_ size_t recorder_message(struct recorder_scratch *s,
                                           const struct recorder_event *event,
                                           char *to, size_t size,
                                           const char **location)
{
    struct recorder_text_context context;
    struct recorder_arguments arguments;
    const char *format = recorder_format_of(s, event->format, location);
    context.scratch = s;
    context.event = event;
    context.token = 0;
    context.read = 0;
    arguments.word = event->argument;
    arguments.count = 12;
    arguments.lost = event->lost;
    arguments.word_bytes = sizeof(uintptr_t);
    arguments.text = recorder_text;
    arguments.context = &context;
    arguments.types = recorder_home.registry->types;
    arguments.trace = s->trace;
    if (format)
        return recorder_format(to, size, format, &arguments);
    /* What is known all the same. */
    {
        struct recorder_string string;
        unsigned i;
        string = recorder_string_at(to, size ? size - 1 : 0);
        recorder_add_string(&string, "<format at 0x");
        recorder_add_number(&string, event->format, 16, 1);
        recorder_add_string(&string, ">");
        for (i = 0; i < 12 && !(event->lost >> i & 1); i++) {
            recorder_add_string(&string, " 0x");
            recorder_add_number(&string, event->argument[i], 16, 1);
        }
        if (size)
            to[string.size < string.max ? string.size : string.max] = '\0';
        return string.size;
    }
}

/* What a line shows of the event that the scratch is at. */
RECORDER_FUNCTION_ void recorder_show(struct recorder_scratch *s,
                                      const struct recorder_clock *clock,
                                      const struct recorder_event *event,
                                      struct recorder_shown *shown)
{
    const struct recorder_thread *row = recorder_event_row(event);
    const struct recorder_fetched *name;
    /* Without a table, a number says all that there is to know. */
    bool numbered = !recorder_home.registry->threads &&
                    event->thread != RECORDER_THREAD_NONE;
    shown->event = event;
    shown->ns = recorder_clock_time(clock, event->time);
    shown->realtime_ns = clock->start.realtime_ns;
    shown->thread = row ? row->name : numbered ? "?" : NULL;
    shown->message = s->message;
    shown->message_max = s->line_max - 1;
    shown->message_size =
        recorder_message(s, event, s->message, s->line_max, &shown->location);
    name = recorder_fetch(s, (uintptr_t)event->name);
    shown->name = name ? name->bytes : NULL;
    shown->name_size = name ? name->size : 0;
}

/* Writes the line of the event that the scratch is at, with its final newline,
 * into scratch->line. Returns its size. */
RECORDER_FUNCTION_ size_t recorder_line_of(struct recorder_scratch *s,
                                           const struct recorder_clock *clock,
                                           const struct recorder_event *event,
                                           const char *line)
{
    struct recorder_shown shown;
    struct recorder_string to;
    recorder_show(s, clock, event, &shown);
    to = recorder_string_at(s->line, s->line_max - 1);
    recorder_add_line(&to, line, &shown);
    recorder_end_line(&to);
    return to.size;
}

/* The line that is set, as far as it can be read, in `to`. */
RECORDER_FUNCTION_ const char *recorder_line_set(struct recorder_scratch *s,
                                                 char *to, size_t max)
{
    const char *line =
        __atomic_load_n(&recorder_home.registry->line, __ATOMIC_ACQUIRE);
    ptrdiff_t size =
        line ? recorder_memory_copy(&s->memory, (uintptr_t)line, to, max - 1)
             : -1;
    if (size <= 0)
        return RECORDER_LINE_DEFAULT;
    to[size] = '\0';
    return to;
}

#ifdef RECORDER_LINUX_
/* The name that the system knows a thread by now, for rows not named by the
 * program: a thread is often named by another, after its first record. */
RECORDER_FUNCTION_ void recorder_threads_refresh(void)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_thread *rows =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    uintptr_t i, count = recorder_get(&registry->threads_count);
    for (i = 0; rows && i < count && i < registry->threads_max; i++) {
        struct recorder_thread *row = &rows[i];
        struct recorder_string path;
        char text[40], name[17];
        long size;
        int fd;
        if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) !=
                RECORDER_ROW_ALIVE ||
            __atomic_load_n(&row->named, __ATOMIC_RELAXED))
            continue;
        path = recorder_string_at(text, sizeof text - 1);
        recorder_add_string(&path, "/proc/self/task/");
        recorder_add_number(&path, (uint64_t)row->id, 10, 1);
        recorder_add_text(&path, "/comm", 6);
        fd = (int)recorder_syscall(SYS_openat, -100L /* AT_FDCWD */, text,
                                   02000000L /* O_CLOEXEC */);
        if (fd < 0)
            continue;
        size = recorder_os_read(fd, name, 16);
        recorder_os_close(fd);
        if (size <= 0 || __atomic_load_n(&row->named, __ATOMIC_RELAXED))
            continue;
        name[size - 1] = '\0'; /* a newline */
        recorder_thread_set_name(row, name);
    }
}
#else
RECORDER_INLINE_ void recorder_threads_refresh(void)
{
}
#endif

/* ------------------------------------------------------------------ dump -- */

/* Where lines go: to a function of the user's, or gathered to a descriptor;
 * without an operating system, to RECORDER_WRITE. */
RECORDER_PROGRAM_ int recorder_output_fd = 2; /* of dumps and traces */
struct recorder_output {
    recorder_sink *sink;
    void *context;
    int fd;
    char *gathered;
    size_t gathered_size, gathered_max;
    bool failed;          /* nothing more is written */
    uint64_t patience_ns; /* for a reader that does not read; 0: for ever */
};

#ifdef RECORDER_LINUX_
struct recorder_pollfd {
    int fd;
    short events, revents;
};
enum { RECORDER_POLLOUT_ = 4, RECORDER_POLL_FAILED_ = 0 };
extern int recorder_os_poll(struct recorder_pollfd *fds, unsigned long count,
                            int milliseconds) RECORDER_LABEL_(poll);
#endif
#ifdef RECORDER_HOSTED_
/* Waits until the descriptor takes RECORDER_PIPE_BYTES_ without blocking.
 * False: it never will, or not within our patience. Where RLIMIT_NOFILE is 0
 * poll() fails; a write may not: it is to be tried, unless it was `refused`
 * already. */
RECORDER_FUNCTION_ bool recorder_output_wait(const struct recorder_output *out,
                                             bool refused)
{
    struct recorder_pollfd poll;
    int wait = out->patience_ns ? (int)(out->patience_ns / 1000000) : -1, ready;
    poll.fd = out->fd;
    poll.events = RECORDER_POLLOUT_;
    poll.revents = 0;
    do
        ready = recorder_os_poll(&poll, 1, wait);
    while (ready < 0 && *recorder_errno() == RECORDER_EINTR_);
    if (ready < 0 || (poll.revents & RECORDER_POLL_FAILED_))
        return !refused;
    return ready > 0 && (poll.revents & RECORDER_POLLOUT_);
}

/* Writes all of a text, in pieces that a pipe takes whole; after an error, none
 * of it and nothing more. */
RECORDER_FUNCTION_ void recorder_output_write(struct recorder_output *out,
                                              const char *text, size_t size)
{
    while (size && !out->failed) {
        size_t piece = size < RECORDER_PIPE_BYTES_ || !out->patience_ns
                           ? size
                           : RECORDER_PIPE_BYTES_;
        long done;
        if (out->patience_ns && !recorder_output_wait(out, false)) {
            out->failed = true;
            return;
        }
        done = recorder_os_write(out->fd, text, piece);
        if (done > 0) {
            text += done;
            size -= (size_t)done;
        } else if (done < 0 && *recorder_errno() == RECORDER_EAGAIN_) {
            out->failed = !recorder_output_wait(out, true);
        } else if (done == 0 || *recorder_errno() != RECORDER_EINTR_) {
            out->failed = true;
        }
    }
}
#elif !defined(RECORDER_WRITE)
#error "recorder_dump.h: define RECORDER_WRITE(text, size)"
#else
RECORDER_FUNCTION_ void recorder_output_write(struct recorder_output *out,
                                              const char *text, size_t size)
{
    (void)out;
    if (size)
        RECORDER_WRITE(text, size);
}
#endif

RECORDER_INLINE_ void recorder_output_flush(struct recorder_output *out)
{
    recorder_output_write(out, out->gathered, out->gathered_size);
    out->gathered_size = 0;
}

RECORDER_FUNCTION_ void recorder_output_line(struct recorder_output *out,
                                             const char *text, size_t size)
{
    if (out->sink) {
        out->sink(out->context, text, size);
        return;
    }
    if (size > out->gathered_max - out->gathered_size)
        recorder_output_flush(out);
    if (size > out->gathered_max) {
        recorder_output_write(out, text, size);
        return;
    }
    recorder_bytes(out->gathered + out->gathered_size, text, size);
    out->gathered_size += size;
}

RECORDER_FUNCTION_ void recorder_dump_summary(
    struct recorder_scratch *s, struct recorder_output *out,
    const struct recorder_summary *summary)
{
    const struct recorder_fetched *name =
        recorder_fetch(s, (uintptr_t)summary->name);
    struct recorder_string to;
    to = recorder_string_at(s->line, s->line_max);
    recorder_add_summary(&to, name ? name->bytes : NULL, name ? name->size : 0,
                         &summary->figures);
    recorder_output_line(out, s->line, to.size < to.max ? to.size : to.max);
}

/* How many slots there are to sort: what a dump in one pass has to hold. */
RECORDER_FUNCTION_ size_t recorder_slots(const char *regex)
{
    const struct recorder *recorder = recorder_walk();
    size_t count = 0;
    for (; recorder; recorder = recorder_walk_on(recorder))
        if (recorder_chosen(recorder, regex))
            count += (recorder->mask + 1) * (recorder->lanes_mask + 1);
    recorder_unwalk();
    return count;
}

/* How many events the batch holds. */
RECORDER_INLINE_ size_t recorder_batch_events(const struct recorder_batch *b)
{
    size_t count = 0, i;
    for (i = 0; i < b->count; i++)
        count += recorder_batch_at(b, i)->record.format >= RECORDER_TEXT_END;
    return count;
}

RECORDER_FUNCTION_ void recorder_dump_head(struct recorder_scratch *s,
                                           struct recorder_output *out)
{
    struct recorder_summary summary;
    struct recorder_string to;
    size_t i;
    to = recorder_string_at(s->line, s->line_max);
    recorder_add_head(&to, recorder_clock_realtime(),
                      (uint64_t)recorder_os_process(), s->batch.more,
                      recorder_batch_events(&s->batch));
    recorder_output_line(out, s->line, to.size);
    for (i = 0; recorder_summary_at(i, s->batch.regex, s->batch.end, &summary);
         i++)
        recorder_dump_summary(s, out, &summary);
}

/* Shows the event that the scratch is at, in place of our own lines; a dump has
 * no head then. Its state stands behind it, in a structure that begins so. */
struct recorder_lines {
    void (*show)(const struct recorder_lines *lines, struct recorder_scratch *s,
                 const struct recorder_clock *clock,
                 const struct recorder_event *event,
                 struct recorder_output *out);
};

/* Shows an event by `lines`, or where that is null, by the line `format`. */
RECORDER_FUNCTION_ void recorder_dump_event(const struct recorder_lines *lines,
                                            const char *format,
                                            struct recorder_scratch *s,
                                            const struct recorder_clock *clock,
                                            const struct recorder_event *event,
                                            struct recorder_output *out)
{
    size_t size;
    if (lines) {
        lines->show(lines, s, clock, event, out);
        return;
    }
    size = recorder_line_of(s, clock, event, format);
    recorder_output_line(out, s->line, size);
}

/* Dumps all that `regex` chooses, null: all. A pass takes the smallest orders
 * above those shown, as many as there is memory for: usually all of them. */
RECORDER_FUNCTION_ size_t recorder_dump_passes(
    struct recorder_scratch *s, struct recorder_output *out,
    const struct recorder_lines *lines)
{
    struct recorder_clock clock;
    struct recorder_event event;
    char line[256];
    const char *format = recorder_line_set(s, line, sizeof line);
    size_t shown = 0;
    bool first = true;
    recorder_clock_open(&clock);
    recorder_threads_refresh();
    s->batch.end = __atomic_load_n(recorder_home.order, __ATOMIC_ACQUIRE);
    do {
        recorder_batch_fill(&s->batch);
        if (first && !lines)
            recorder_dump_head(s, out);
        first = false;
        for (; s->at = s->batch.next,
               recorder_batch_take(&s->batch, &event, NULL) && !out->failed;
             shown++) {
            while (recorder_batch_at(&s->batch, s->at)->record.order !=
                   event.order)
                s->at++;
            recorder_dump_event(lines, format, s, &clock, &event, out);
        }
    } while (s->batch.more && !out->failed);
    return shown;
}

#ifdef RECORDER_LINUX_
/* Keeps SIGPIPE and SIGXFSZ, that a write of ours may raise, from the program:
 * both are blocked meanwhile, and what was not pending before is taken off. Its
 * errno stays as it is. */
struct recorder_signal_set {
    unsigned long bits[1024 / (8 * sizeof(long))];
};
extern int recorder_os_mask(int how, const struct recorder_signal_set *set,
                            struct recorder_signal_set *old)
    RECORDER_LABEL_(pthread_sigmask);
extern int recorder_os_pending(struct recorder_signal_set *set)
    RECORDER_LABEL_(sigpending);
extern int recorder_os_take(const struct recorder_signal_set *set, void *info,
                            const struct recorder_timespec *timeout)
    RECORDER_LABEL_(sigtimedwait);
#if defined(__mips__)
enum { RECORDER_SIG_BLOCK_ = 1, RECORDER_SIG_SETMASK_ = 3,
       RECORDER_SIGPIPE_ = 13, RECORDER_SIGXFSZ_ = 31 };
#else
enum { RECORDER_SIG_BLOCK_ = 0, RECORDER_SIG_SETMASK_ = 2,
       RECORDER_SIGPIPE_ = 13, RECORDER_SIGXFSZ_ = 25 };
#endif
#define RECORDER_OUTPUT_SIGNALS                                                \
    (1ul << (RECORDER_SIGPIPE_ - 1) | 1ul << (RECORDER_SIGXFSZ_ - 1))

struct recorder_held {
    struct recorder_signal_set mask, pending;
    int error;
};

RECORDER_FUNCTION_ void recorder_signals_hold(struct recorder_held *held)
{
    struct recorder_signal_set block = {{0}};
    held->error = *recorder_errno();
    block.bits[0] = RECORDER_OUTPUT_SIGNALS;
    held->mask.bits[0] = held->pending.bits[0] = 0;
    recorder_os_mask(RECORDER_SIG_BLOCK_, &block, &held->mask);
    recorder_os_pending(&held->pending);
}
RECORDER_FUNCTION_ void recorder_signals_release(struct recorder_held *held)
{
    struct recorder_signal_set raised = {{0}};
    struct recorder_timespec now = {0, 0};
    raised.bits[0] = RECORDER_OUTPUT_SIGNALS & ~held->pending.bits[0];
    if (raised.bits[0])
        while (recorder_os_take(&raised, NULL, &now) > 0)
            ;
    recorder_os_mask(RECORDER_SIG_SETMASK_, &held->mask, NULL);
    *recorder_errno() = held->error;
}
#elif !defined(RECORDER_HOSTED_)
struct recorder_held {
    char none;
};
RECORDER_INLINE_ void recorder_signals_hold(struct recorder_held *held)
{
    (void)held;
}
RECORDER_INLINE_ void recorder_signals_release(struct recorder_held *held)
{
    (void)held;
}
#endif

/* Says a few words on stderr, with nothing left behind if that fails. */
RECORDER_FUNCTION_ void recorder_say(const struct recorder_string *say)
{
    struct recorder_output out = {0, 0, 2, 0, 0, 0, false, 0};
    struct recorder_held held;
    recorder_signals_hold(&held);
    recorder_output_write(&out, say->to,
                          say->size < say->max ? say->size : say->max);
    recorder_signals_release(&held);
}

RECORDER_FUNCTION_ bool recorder_line(const char *line)
{
    struct recorder_string say;
    const char *wrong = NULL;
    char text[200];
    say = recorder_string_at(text, sizeof text);
    if (line && !*line)
        line = NULL;
    if (line)
        wrong = recorder_line_check(line);
    if (wrong) {
        recorder_add_string(&say, "recorder: line: no such field: {");
        recorder_add_text(&say, wrong, recorder_length(wrong, 24));
        recorder_add_string(&say, "\nrecorder: line: there are "
                                  RECORDER_LINE_FIELDS "\n");
        recorder_say(&say);
        return false;
    }
    if (line && recorder_length(line, RECORDER_STACK_LINE) >=
                    RECORDER_STACK_LINE) {
        recorder_add_string(&say, "recorder: line: more than 255 bytes\n");
        recorder_say(&say);
        return false;
    }
    __atomic_store_n(&recorder_home.registry->line, line, __ATOMIC_RELEASE);
    return true;
}

RECORDER_FUNCTION_ size_t recorder_dump_with(
    struct recorder_scratch *scratch, const char *regex,
    struct recorder_output *out, const struct recorder_lines *lines)
{
    size_t shown;
    scratch->batch.regex = regex;
    out->gathered = scratch->out;
    out->gathered_max = scratch->out_max;
    out->gathered_size = 0;
    shown = recorder_dump_passes(scratch, out, lines);
    recorder_output_flush(out);
    recorder_scratch_close(scratch);
    return shown;
}
/* A function of its own, so that its memory is on the stack only if needed. */
RECORDER_FUNCTION_ size_t recorder_dump_unmapped(
    struct recorder_scratch *scratch, const char *regex,
    struct recorder_output *out, const struct recorder_lines *lines)
{
    char stack[RECORDER_SCRATCH_STACK] __attribute__((aligned(16)));
    recorder_scratch_open(scratch, 0, stack);
    return recorder_dump_with(scratch, regex, out, lines);
}
RECORDER_FUNCTION_ size_t recorder_dump_out(const char *regex,
                                            struct recorder_output *out,
                                            const struct recorder_lines *lines)
{
    struct recorder_scratch scratch;
    struct recorder_held held;
    size_t shown;
    recorder_signals_hold(&held);
    if (recorder_scratch_map(&scratch, recorder_slots(regex)))
        shown = recorder_dump_with(&scratch, regex, out, lines);
    else
        shown = recorder_dump_unmapped(&scratch, regex, out, lines);
    recorder_signals_release(&held);
    return shown;
}

RECORDER_FUNCTION_ size_t recorder_dump_to(recorder_sink *sink, void *context)
{
    struct recorder_output out = {sink, context, -1, 0, 0, 0, false, 0};
    return recorder_dump_out(NULL, &out, NULL);
}
#ifdef RECORDER_HOSTED_
RECORDER_FUNCTION_ size_t recorder_dump_fd(int fd)
{
    struct recorder_output out = {0, 0, fd, 0, 0, 0, false, 0};
    return recorder_dump_out(NULL, &out, NULL);
}
#endif
RECORDER_FUNCTION_ size_t recorder_dump(void)
{
    struct recorder_output out = {0, 0, recorder_output_fd, 0, 0, 0, false, 0};
    return recorder_dump_out(NULL, &out, NULL);
}
RECORDER_FUNCTION_ size_t recorder_dump_for(const char *regex)
{
    struct recorder_output out = {0, 0, recorder_output_fd, 0, 0, 0, false, 0};
    const char *wrong = recorder_regex_check(regex);
    struct recorder_string say;
    char text[200];
    if (!wrong)
        return recorder_dump_out(regex, &out, NULL);
    say = recorder_string_at(text, sizeof text);
    recorder_add_string(&say, "recorder: ");
    recorder_add_text(&say, regex, recorder_length(regex, 80));
    recorder_add_string(&say, ": ");
    recorder_add_string(&say, wrong);
    recorder_add_string(&say, "\n");
    recorder_say(&say);
    return 0;
}

/* ----------------------------------------------------------------- trace -- */

RECORDER_INLINE_ void recorder_batch_of_one(
    struct recorder_batch *batch, const struct recorder *recorder,
    unsigned thread, const struct recorder_record *records, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++) {
        struct recorder_kept *kept = &batch->kept[i];
        kept->record = records[i];
        kept->recorder = recorder;
        kept->name = recorder->name;
        kept->ring = recorder_lane(recorder, thread);
        kept->slot = 0;
        kept->thread = thread;
        batch->keys[i].index = i;
        batch->keys[i].order = records[i].order;
    }
    batch->count = count;
}

RECORDER_FUNCTION_ void recorder_print_with(
    struct recorder_scratch *s, const struct recorder *recorder,
    unsigned thread, const struct recorder_record *records, unsigned count,
    const struct recorder_lines *lines)
{
    struct recorder_output out = {0, 0, recorder_output_fd, 0, 0, 0, false, 0};
    struct recorder_clock clock;
    struct recorder_event event;
    char line[RECORDER_STACK_LINE];
    const char *format;
    s->trace = recorder->trace;
    recorder_batch_of_one(&s->batch, recorder, thread, records, count);
    recorder_event_of(&s->batch, 0, count, &event);
    recorder_clock_open(&clock);
    format = recorder_line_set(s, line, sizeof line);
    recorder_dump_event(lines, format, s, &clock, &event, &out);
    recorder_scratch_close(s);
}
RECORDER_FUNCTION_ void recorder_print_unspared(
    struct recorder_scratch *s, const struct recorder *recorder,
    unsigned thread, const struct recorder_record *records, unsigned count,
    const struct recorder_lines *lines)
{
    char stack[RECORDER_SCRATCH_STACK] __attribute__((aligned(16)));
    recorder_scratch_open(s, 0, stack);
    recorder_print_with(s, recorder, thread, records, count, lines);
}

/* Prints one record at once, with one write. */
RECORDER_FUNCTION_ void recorder_print_lines(
    const struct recorder *recorder, unsigned thread,
    const struct recorder_record *records, unsigned count,
    const struct recorder_lines *lines)
{
    struct recorder_scratch s;
    struct recorder_held held;
    recorder_signals_hold(&held);
    if (recorder_scratch_spare(&s))
        recorder_print_with(&s, recorder, thread, records, count, lines);
    else
        recorder_print_unspared(&s, recorder, thread, records, count, lines);
    recorder_signals_release(&held);
}
/* The registry's hook. */
RECORDER_FUNCTION_ void recorder_print(const struct recorder *recorder,
                                       unsigned thread,
                                       const struct recorder_record *records,
                                       unsigned count)
{
    recorder_print_lines(recorder, thread, records, count, NULL);
}

/* The message of an event, as snprintf would write it: at most size - 1 bytes
 * and a NUL. Returns the length of the whole. */
RECORDER_FUNCTION_ size_t
recorder_event_text(const struct recorder_event *event, char *to, size_t size)
{
    char stack[RECORDER_SCRATCH_STACK] __attribute__((aligned(16)));
    struct recorder_scratch s;
    const char *location;
    size_t length;
    recorder_scratch_open(&s, 0, stack);
    /* No line is made here: its room goes to long formats and texts. */
    s.format = (char *)(s.fetched + 1);
    s.format_max = RECORDER_FORMAT_MAX;
    s.text = s.format + s.format_max;
    s.text_max = RECORDER_TEXT_MAX;
    length = recorder_message(&s, event, to, size, &location);
    recorder_scratch_close(&s);
    return length;
}

#ifdef RECORDER_LINUX_
extern char *recorder_os_environment(const char *name) RECORDER_LABEL_(getenv);
#elif !defined(RECORDER_HOSTED_)
RECORDER_INLINE_ char *recorder_os_environment(const char *name)
{
    (void)name;
    return NULL;
}
#endif

__attribute__((constructor(102))) static void recorder_dump_enter(void)
{
    recorder_start();
    if (recorder_home.registry->hook)
        return;
    recorder_home.registry->hook = recorder_print;
    recorder_line(recorder_os_environment("RECORDER_LINE"));
}
#ifdef RECORDER_IN_LIBRARY_
__attribute__((destructor(102))) static void recorder_dump_leave(void)
{
    if (recorder_home.registry->hook == recorder_print)
        recorder_home.registry->hook = NULL;
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef RECORDER_HOSTED_
#include "recorder_signal.h"

#include "recorder_file.h"
#endif

#endif
