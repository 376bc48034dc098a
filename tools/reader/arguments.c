/* arguments.c - an event's arguments, by the conversions of its format. */
/* SPDX-License-Identifier: MIT */
#include "inside.h"

#include "recorder/condition.h"

enum {
    STRING_MAX = 65536,         /* bytes of an argument */
    TEXT_MOST = STRING_MAX - 32 /* of them, without its marks and its end */
};

static int64_t extended(uint64_t word, unsigned bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);
    word &= UINT64_MAX >> (64 - bits);
    return (int64_t)((word ^ sign) - sign);
}

/* Reads a string argument, of known sizes, or up to its NUL if those are
 * SIZE_MAX, and at most `max` bytes and the mark after them. Returns its length,
 * or -1 if it cannot be read. *cut: its memory ends before it does. */
static ptrdiff_t string_read(struct text_context *c, uint64_t address, char *to,
                             struct recorder_sizes_ known, size_t max,
                             bool *cut)
{
    size_t size = 0;
    *cut = false;
    if (known.kept < max)
        max = known.shown;
    while (size < max) {
        ptrdiff_t got = text_bytes(c, address + size, to + size,
                                   max - size < 64 ? max - size : 64);
        size_t length;
        *cut = got <= 0;
        if (*cut)
            return size ? (ptrdiff_t)size : -1;
        length =
            known.shown == SIZE_MAX ? strnlen(to + size, (size_t)got) : (size_t)got;
        size += length;
        if (length < (size_t)got)
            break;
    }
    return (ptrdiff_t)size;
}

/* Reads a text of characters of 4 bytes, as string_read() does; `most` of them.
 */
static ptrdiff_t wide_read(struct text_context *c, uint64_t address, char *to,
                           size_t most, bool *cut)
{
    static const char end[4];
    size_t size = 0;
    *cut = false;
    for (; most-- && size < TEXT_MOST; size += sizeof end) {
        for (size_t have = 0; have < sizeof end;) {
            ptrdiff_t got = text_bytes(c, address + size + have,
                                       to + size + have, sizeof end - have);
            *cut = got <= 0;
            if (*cut)
                return size ? (ptrdiff_t)size : -1;
            have += (size_t)got;
        }
        if (memcmp(to + size, end, sizeof end) == 0)
            break;
    }
    return (ptrdiff_t)size;
}

/* Reads a wide text as UTF-8; a precision counts its bytes. */
static ptrdiff_t wide_text(struct text_context *c, uint64_t address, char *to,
                           size_t most, bool *cut)
{
    ptrdiff_t wide = wide_read(c, address, to, most, cut), i, size = 0;
    for (i = 0; i < wide; i += 4) {
        char utf8[4];
        unsigned length = recorder_format_utf8_(
            utf8, (uint32_t)bytes_number(c->reader->memory, to + i, 4));
        if (length > most - (size_t)size)
            break;
        memcpy(to + size, utf8, length); /* never longer than the original */
        size += length;
    }
    return wide < 0 ? wide : size;
}

/* How many bytes of a text a conversion shows: its precision, else TEXT_MOST.
 * `f` was parsed as below: a `*` left the index of its word there. */
static size_t text_most(const struct recorder_formatter_ *f,
                        const struct recorder_event *event)
{
    const char *dot = memchr(f->start, '.', (size_t)(f->at - f->start));
    int64_t most = f->how.precision;
    if (!dot || most < 0)
        return TEXT_MOST;
    if (dot[1] == '*')
        most = (int32_t)(uint32_t)event->argument[most];
    return most < 0 || most > TEXT_MOST ? TEXT_MOST : (size_t)most;
}

/* Makes the argument of a conversion. `f` was parsed with arguments whose words
 * are their own indices, so f->word tells which one it takes. */
static void argument_make(struct text_context *c,
                          const struct recorder_formatter_ *f, char **strings,
                          struct reader_argument *to)
{
    const struct recorder_event *event = c->event;
    unsigned word_bytes = c->reader->memory->word_bytes;
    uint64_t word = event->argument[f->word];
    struct recorder_sizes_ sizes = {SIZE_MAX, SIZE_MAX};
    ptrdiff_t size;
    bool cut;
    to->word = word;
    if (event->missing_arguments >> f->word & 1) {
        to->kind = READER_LOST;
    } else if (f->how.kind == 'f') {
        uint32_t bits = (uint32_t)word;
        float single;
        memcpy(&single, &bits, sizeof single);
        memcpy(&to->real, &word, sizeof to->real);
        if (word_bytes == 4)
            to->real = single;
        to->kind = READER_REAL;
    } else if (f->how.kind == 's' && !word) { /* the text of messages */
        to->kind = READER_STRING;
        to->text = text_most(f, event) < 6 ? "" : "(null)";
        to->text_size = strlen(to->text);
    } else if (f->how.kind == 's') {
        /* %.0s shows nothing that could. */
        to->changes = text_most(f, event) && text_changes(c, word, &sizes);
        to->cut = sizes.kept < sizes.shown;
        if ((to->cut && !sizes.kept) || word == c->reader->inside->text_lost) {
            to->kind = READER_LOST;
            return;
        }
        **strings = *RECORDER_FORMAT_CHANGES_;
        size = f->how.wide ? wide_text(c, word, *strings + to->changes,
                                       text_most(f, event), &cut)
                           : string_read(c, word, *strings + to->changes, sizes,
                                         text_most(f, event), &cut);
        to->kind = size < 0 ? READER_POINTER : READER_STRING;
        to->changes = to->changes && size >= 0;
        if (size < 0)
            return;
        to->text = *strings;
        to->text_size = (size_t)size + to->changes;
        *strings += to->text_size + 1;
        (*strings)[-1] = '\0';
    } else if (f->how.conversion == 'p') {
        to->kind = READER_POINTER;
    } else if (f->how.kind == 'u') {
        to->kind = READER_UNSIGNED;
        to->word = word & (UINT64_MAX >> (64 - f->how.bits));
    } else if (f->how.kind == 'c') {
        to->kind = READER_CHARACTER;
        to->word = word & (f->how.wide ? UINT32_MAX : UINT8_MAX);
    } else {
        to->kind = READER_SIGNED;
        to->integer = extended(word, f->how.bits);
    }
}

/* Notes the name by which conditions find a conversion's word: "id", of the
 * second of that name "id_2". */
static void name_note(char **names, const char *format, const char *percent,
                      const struct recorder_formatter_ *f)
{
    unsigned word_bytes = f->arguments->word_bytes;
    size_t size;
    const char *name = recorder_condition_name_(format, percent, &size);
    for (unsigned nth = 1; name && nth <= 12 && !names[f->word]; nth++) {
        char field[80];
        struct recorder_condition_test_ test = {.field = field, .argument = 12};
        struct recorder_formatter_ found;
        snprintf(field, sizeof field, nth > 1 ? "%.*s_%u" : "%.*s", (int)size,
                 name, nth);
        if ((recorder_condition_find_(&test, format, word_bytes, &found) &
             15) == f->word)
            names[f->word] = need(strdup(field));
    }
}

/* Makes an argument of the word of %m; false: it holds no errno. */
static bool error_make(const struct reader *reader,
                       const struct recorder_event *event, unsigned i,
                       struct reader_argument *to)
{
    if (event->missing_arguments >> i & 1 ||
        !recorder_has_error_(event->argument[i], reader->memory->word_bytes))
        return false;
    to->kind = READER_SIGNED;
    to->integer = recorder_error_of_(event->argument[i]);
    return true;
}

/* Gives the word of %m a name that no other argument has. */
static void error_name(char **names, unsigned i)
{
    for (unsigned k = 0; k < 12; k++)
        if (names[k] && strcmp(names[k], "errno") == 0)
            return;
    names[i] = need(strdup("errno"));
}

/* Returns the entry of a format that was not decoded, as the entry keeps its
 * names; null: it was decoded. */
static struct format *format_known(struct reader *reader,
                                   const struct reader_event *event)
{
    return event->event.format == event->raw.format
               ? format_of(reader, &event->event)
               : NULL;
}

void names_free(char **names)
{
    for (size_t i = 0; names && i < 12; i++)
        free(names[i]);
    free(names);
}

unsigned reader_arguments(struct reader *reader,
                          const struct reader_event *event,
                          struct reader_argument to[12])
{
    static const uint64_t index[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct recorder_arguments_ arguments = {
        .word = index, .count = 12, .word_bytes = reader->memory->word_bytes};
    struct text_context context = {
        .reader = reader, .event = &event->event, .left = 12 * STRING_MAX};
    struct recorder_formatter_ f = {0};
    const char *location;
    const char *format = reader_format(reader, &event->event, &location);
    char *strings = text_room(&reader->inside->strings, 12 * STRING_MAX);
    struct format *known;
    char **names = NULL;
    const char *percent;
    unsigned i, used;
    bool error = false;
    if (!format)
        return 0;
    known = format_known(reader, event);
    if (known && !known->names)
        known->names = names = need(calloc(12, sizeof *names));
    for (i = 0; i < 12; i++) { /* a word that only a `*` takes is an int */
        to[i] = (struct reader_argument){0};
        to[i].kind = event->event.missing_arguments >> i & 1 ? READER_LOST
                                                             : READER_SIGNED;
        to[i].integer = extended(event->event.argument[i], 32);
    }
    f.arguments = &arguments;
    for (f.at = format; !recorder_format_ended_(f.at);) {
        if (*f.at++ != '%')
            continue;
        percent = f.at - 1;
        recorder_format_parse_(&f);
        error |= f.how.kind == 'm';
        if (names && f.how.kind && f.how.kind != '%' && f.word < 12)
            name_note(names, format, percent, &f);
        if (!f.how.kind || f.how.kind == '%' || f.missing || f.word >= 12 ||
            f.how.conversion == 'm' || to[f.word].kind == READER_STRING)
            continue; /* a second look at the same string needs no room */
        reader->inside->token = 0;
        argument_make(&context, &f, &strings, &to[f.word]);
    }
    used = f.used < 12 ? f.used : 12;
    if (error && names && used < 12)
        error_name(names, used);
    if (error && used < 12 &&
        error_make(reader, &event->event, used, &to[used]))
        used++;
    for (i = 0; known && known->names && i < 12; i++)
        to[i].name = known->names[i];
    return used;
}

/* Reads the text of a conversion; false: there is none, or it cannot be
 * read. */
static bool text_read(struct text_context *c,
                      const struct recorder_formatter_ *f, char *strings,
                      struct reader_text *to)
{
    static const uint32_t dots[4] = {'.', '.', '.', 0};
    uint64_t address = c->event->argument[f->word];
    size_t most = text_most(f, c->event);
    struct recorder_sizes_ sizes = {SIZE_MAX, SIZE_MAX};
    ptrdiff_t size;
    bool cut;
    to->argument = (unsigned)f->word;
    to->text = strings;
    to->wide = f->how.wide;
    if (!address)
        return false;
    c->reader->inside->token = 0;
    to->changes = text_changes(c, address, &sizes);
    size = f->how.wide ? wide_read(c, address, strings, most, &cut)
                       : string_read(c, address, strings, sizes, most, &cut);
    if (size < 0)
        return false;
    to->size = (size_t)size;
    bytes_need(c->reader->memory, address,
               to->size + (cut || to->size >= most ? 0
                           : f->how.wide           ? sizeof *dots
                                                   : 1));
    cut = cut || (most == TEXT_MOST && to->size >= most);
    memset(strings + to->size, 0, 4);
    if (cut && f->how.wide)
        memcpy(strings + to->size, dots, sizeof dots);
    else if (cut)
        strcpy(strings + to->size, "...");
    to->size += cut ? (f->how.wide ? sizeof dots - sizeof *dots : 3) : 0;
    return true;
}

unsigned reader_texts(struct reader *reader, const struct reader_event *event,
                      struct reader_text to[12])
{
    static const uint64_t index[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct reader_inside *inside = reader->inside;
    struct recorder_arguments_ arguments = {
        .word = index,
        .count = 12,
        .missing = event->event.missing_arguments,
        .word_bytes = reader->memory->word_bytes};
    struct text_context context = {
        .reader = reader, .event = &event->event, .left = 12 * STRING_MAX};
    struct recorder_formatter_ f = {.arguments = &arguments};
    const char *location;
    const char *format = reader_format(reader, &event->event, &location);
    char *strings = text_room(&inside->strings, 12 * STRING_MAX);
    struct format *known;
    unsigned count = 0;
    bool seen = false;
    if (!format)
        return 0;
    known = format_known(reader, event);
    if (known && known->no_texts)
        return 0;
    for (f.at = format; !recorder_format_ended_(f.at) && count < 12;) {
        if (*f.at++ != '%')
            continue;
        recorder_format_parse_(&f);
        if (f.how.kind != 's')
            continue;
        seen = true;
        if (!f.missing && f.word < 12)
            count += text_read(&context, &f, strings + count * STRING_MAX,
                               &to[count]);
    }
    if (known)
        known->no_texts = !seen;
    return count;
}

void reader_unmark(struct reader_argument *arguments, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (arguments[i].changes) { /* else there may be no text */
            arguments[i].text++;
            arguments[i].text_size--;
        }
}
