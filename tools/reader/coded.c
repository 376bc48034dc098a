/* coded.c - decodes trace events of compat/qnx, with the texts of codes.c. */
/* SPDX-License-Identifier: MIT */
#include "inside.h"

#include "recorder/decode.h"
#include "recorder/text.h"

#include "compat/qnx/coded.h"

/* True if a format shows argument `i` as a text. */
static bool shows_text(const char *text, unsigned i)
{
    static const uint64_t index[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const struct recorder_arguments_ arguments = {
        .word = index, .count = 12, .word_bytes = 8};
    struct recorder_formatter_ f = {.arguments = &arguments};
    for (f.at = text; !recorder_format_ended_(f.at);) {
        if (*f.at++ != '%')
            continue;
        recorder_format_parse_(&f);
        if (f.how.kind == 's' && !f.missing && f.word == i)
            return true;
    }
    return false;
}

/* Decodes the format in a record's words, from the file that knows its code if
 * there is one. A buffer without a conversion in it is appended, and so are
 * arguments. */
static void coded_read(struct reader *reader, struct format *format,
                       const struct recorder_coded_ *coded, const char *made,
                       const char *location)
{
    const char *text =
        coded->exception ? codes_format(reader->codes, coded->code) : NULL;
    unsigned used = text ? recorder_format_count_(text) : 0;
    char buffer[64];
    struct recorder_string_ conversions =
        recorder_string_at_(buffer, sizeof buffer - 1);
    format->buffer_at = coded->count - 2 * coded->buffer;
    if (text && coded->buffer && !shows_text(text, coded->count - 1)) {
        if (used > format->buffer_at)
            format->buffer_at = used < 10 ? used : 10;
        recorder_coded_buffer_(&conversions, format->buffer_at);
    }
    buffer[conversions.size] = '\0';
    format->severity = -1;
    format->made = true;
    if (!format_room(reader, strlen(location) + 64))
        return;
    if (asprintf(&format->text, "%s%s", text ? text : made, buffer) < 0)
        format->text = NULL;
    format->location = strdup(location);
}

/* Moves the size and the token of a buffer to where its format wants them. */
static void buffer_move(struct recorder_decoded_ *decoded, unsigned from,
                        unsigned to)
{
    const uint64_t words[2] = {decoded->argument[from],
                               decoded->argument[from + 1]};
    uint32_t lost = decoded->missing >> from & 3;
    decoded->missing = (decoded->missing | 3u << from) & ~(3u << to);
    decoded->missing |= lost << to;
    memcpy(decoded->argument + to, words, sizeof words);
}

/* The decoder: equal encodings share a format at a synthetic address. */
static void coded_decode(struct reader *reader, struct recorder_event *event,
                         const struct format *headed)
{
    const char *location = headed->location ? headed->location : "?";
    struct recorder_decoded_ decoded = {.severity = -1};
    struct recorder_coded_ coded;
    struct format *format;
    uint64_t word;
    bool is_new;
    if (!recorder_coded_of_(event, &coded, &decoded))
        return;
    event->severity = decoded.severity;
    event->hardware = decoded.hardware;
    word = coded.exception ? coded.word & ~UINT32_C(0xfffff00) : coded.word;
    format = format_new(reader, event->format, UINT64_C(1) << 32 | word,
                        coded.code, &is_new);
    if (is_new)
        coded_read(reader, format, &coded, decoded.format, location);
    if (coded.buffer && format->buffer_at != coded.count - 2)
        buffer_move(&decoded, coded.count - 2, format->buffer_at);
    event->format = format_made_address(reader, format);
    event->missing_arguments = decoded.missing;
    memcpy(event->argument, decoded.argument, sizeof event->argument);
}

const struct decoder coded_decoders[] = {{"event", coded_decode}, {NULL, NULL}};
