/* message.c - the texts of events: formats, strings, messages, lines. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "inside.h"

enum {
    TEXT_MAX = RECORDER_COPY_MAX + 7,
    MESSAGE_MAX = RECORDER_TEXT_LINE_MAX_,
    TEXTS_MAX = 16 * MESSAGE_MAX, /* read for one message, which is full then */
    FORMATS_SLACK = 1 << 24 /* bytes of formats that are not in a core file */
};

/* Addresses for the formats that readers make: no processor has memory
 * there. */
static const uint64_t MADE_FORMATS = UINT64_C(1) << 63;

/* Allocates *at when it is first needed, and returns it. */
char *text_room(char **at, size_t size)
{
    if (!*at)
        *at = need(malloc(size));
    return *at;
}

/* ----------------------------------------------------------------- pages -- */

/* Reads bytes through the page cache. Returns their number, 0 if none can be
 * read. */
static size_t page_bytes(struct reader *reader, uint64_t address, void *to,
                         size_t size)
{
    struct reader_inside *inside = reader->inside;
    uint64_t base = address & ~(uint64_t)(PAGE_BYTES - 1), at = address - base;
    struct page *page;
    if (!inside->pages)
        inside->pages = need(calloc(PAGES, sizeof *inside->pages));
    page = &inside->pages[(base / PAGE_BYTES) % PAGES];
    if (page->address != (base | 1)) {
        page->size = (uint32_t)reader->memory->read(reader->memory, base,
                                                    page->bytes, PAGE_BYTES);
        page->address = base | 1;
        lives_renew(reader);
    }
    if (at >= page->size) { /* the page may begin where memory does not */
        size = reader->memory->read(reader->memory, address, to, size);
        lives_renew(reader);
        return size;
    }
    if (size > page->size - at)
        size = page->size - at;
    memcpy(to, page->bytes + at, size);
    return size;
}

/* --------------------------------------------------------------- formats -- */

size_t format_bytes(struct reader *reader, uint64_t address,
                    char bytes[FORMAT_MAX_BYTES + 1])
{
    size_t size = 0, length;
    while (size < FORMAT_MAX_BYTES) {
        size_t got = page_bytes(reader, address + size, bytes + size,
                                FORMAT_MAX_BYTES - size);
        if (got == 0)
            break;
        size += got;
        length = strnlen(bytes, size);
        if (length < size && memchr(bytes + length + 1, 0, size - length - 1))
            break;
    }
    return size;
}

/* Sets the kind of a format, which is the words of its heading, a blank
 * between, without severities and words of decoders; and its decoder. */
static void format_kind(const struct reader *reader, struct format *format,
                        const struct recorder_headed_ *heading)
{
    char kind[RECORDER_HEADING_MAX_];
    size_t size = 0, at = 0, end;
    for (; at < heading->size; at = end + 1) {
        const char *word = heading->words + at;
        for (end = at; !recorder_heading_is_end_(heading, end); end++)
            ;
        const struct decoder *decoder = reader->inside->decoders;
        while (decoder->word &&
               !recorder_heading_is_(heading, at, decoder->word))
            decoder++;
        if (decoder->word)
            format->decode = decoder->decode;
        else if (end > at &&
                 !(end == at + 2 && (*word == 'h' || *word == 's') &&
                   word[1] >= '0' && word[1] <= '3')) {
            if (size)
                kind[size++] = ' ';
            memcpy(kind + size, word, end - at);
            size += end - at;
        }
    }
    format->kind = size ? strndup(kind, size) : NULL;
}

bool format_is_made(const struct reader *reader, uint64_t address)
{
    const struct reader_inside *inside = reader->inside;
    uint64_t size = inside->texts_end - inside->texts;
    if (size && reader->memory->word_bytes == 8)
        size = (uint64_t)1 << 40; /* no program has memory there */
    return address - inside->texts < size;
}

/* Counts a record without its format or text, once. */
static void damaged_count(struct reader *reader,
                          const struct recorder_event *event)
{
    reader->damaged += reader->inside->damaged_key != event->order + 1;
    reader->inside->damaged_key = event->order + 1;
}

bool format_room(struct reader *reader, size_t size)
{
    reader->inside->formats_bytes += size;
    return reader->inside->formats_bytes <=
           reader->memory->size + FORMATS_SLACK;
}

static void format_read(struct reader *reader, struct format *format)
{
    char bytes[FORMAT_MAX_BYTES + 1];
    struct recorder_headed_ heading;
    size_t size = format_bytes(reader, format->address, bytes), length;
    if (size == 0 || (!*bytes && format_is_made(reader, format->address)))
        return; /* it has no empty one: the file was cut, and grew again */
    if (!format_room(reader, size + sizeof *format->plan))
        return;
    length = recorder_format_end_(bytes, size);
    format->text = strdup(recorder_heading_(bytes, &heading));
    format->severity = heading.severity;
    format->hardware = heading.hardware;
    format_kind(reader, format, &heading);
    format->plan = calloc(1, sizeof *format->plan);
    if (length + 1 < size) {
        format->location = strndup(bytes + length + 1, size - length - 1);
        length += 1 + strnlen(bytes + length + 1, size - length - 1);
    }
    bytes_need(reader->memory, format->address,
               length < size ? length + 1 : size);
}

struct format *format_new(struct reader *reader, uint64_t address,
                          uint64_t word, uint64_t code, bool *is_new)
{
    struct reader_inside *inside = reader->inside;
    struct format *format =
        array_at_key(inside->formats, &inside->format_ids, inside->formats_max,
                     address, word, code, is_new);
    inside->formats_count = inside->format_ids.count;
    if (*is_new)
        *format = (struct format){.address = address, .severity = -1};
    return format;
}

struct format *format_of(struct reader *reader,
                         const struct recorder_event *event)
{
    static struct format unknown = {.severity = -1}; /* constant */
    struct reader_inside *inside = reader->inside;
    uint64_t number = event->format - MADE_FORMATS, from;
    struct format *format;
    enum life_is is;
    bool is_new;
    if (number < inside->formats_count && inside->formats[number].made)
        return &inside->formats[number];
    is = life_is(reader, event->format, event->order, &from);
    if (is == LIFE_OTHER || is == LIFE_UNKNOWN)
        return &unknown;
    if (is == LIFE_FITS && inside->format_last_set &&
        inside->format_address == event->format && inside->format_from == from)
        return &inside->formats[inside->format_last];
    if (is == LIFE_CLOSED &&
        ids_find(&inside->format_ids, event->format, 0, from) == IDS_NONE)
        return &unknown; /* else it was read before that */
    format = format_new(reader, event->format, 0, from, &is_new);
    if (is_new) {
        format_read(reader, format);
        if (life_is(reader, event->format, event->order, &from) != LIFE_FITS) {
            free(format->text); /* its library was closed in between */
            format->text = NULL;
            return format;
        }
    }
    inside->format_last_set = true;
    inside->format_from = from;
    inside->format_address = event->format;
    inside->format_last = (size_t)(format - inside->formats);
    return format;
}

uint64_t format_made_address(struct reader *reader, const struct format *format)
{
    return MADE_FORMATS + (uint64_t)(format - reader->inside->formats);
}

uint64_t format_made(struct reader *reader, uint64_t number, const char *a,
                     const char *b, const char *c)
{
    struct format *format;
    bool is_new;
    format = format_new(reader, MADE_FORMATS, number,
                        (uint64_t)(unsigned char)*a << 8 | (unsigned char)*c,
                        &is_new);
    if (is_new && format_room(reader, strlen(b) + 64)) {
        char *made;
        size_t size;
        FILE *text = need(open_memstream(&made, &size));
        format->made = true;
        fputs(a, text);
        for (; *b; b++) /* a format has each % twice */
            fprintf(text, *b == '%' ? "%%%%" : "%c", *b);
        fputs(c, text);
        format->text = need(fclose(text) == 0 ? made : NULL);
    }
    return format_made_address(reader, format);
}

static const char *format_location(const struct format *format)
{
    return format->location ? format->location : "?";
}

const char *reader_format(struct reader *reader,
                          const struct recorder_event *event,
                          const char **location)
{
    const struct format *format = format_of(reader, event);
    *location = format_location(format);
    return format->text;
}

const char *reader_headed(struct reader *reader, struct recorder_event *event)
{
    const struct format *format = format_of(reader, event);
    const char *kind = format->kind;
    event->severity = format->severity;
    event->hardware = format->hardware;
    if (format->decode)
        format->decode(reader, event, format);
    return kind;
}

unsigned reader_location(const char *location, size_t *file_size)
{
    const char *colon = strrchr(location, ':');
    unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;
    *file_size = 0;
    if (!line || line > UINT32_MAX ||
        recorder_location_name_(location)[0] == '?')
        return 0;
    *file_size = (size_t)(colon - location);
    return (unsigned)line;
}

/* ---------------------------------------------------------------- tokens -- */

/* A text record's words. */
struct piece {
    uint64_t left, order, next;
    unsigned char *text; /* in raw */
    unsigned char raw[RECORD_MAX_BYTES];
};

/* Copies a record of a lane: as it was held back with the event, else as it is
 * now. Returns its commit word, or 0. */
static uint64_t taken_record(const struct reader *reader, uint32_t lane,
                             uint64_t slot, unsigned char raw[RECORD_MAX_BYTES])
{
    const struct reader_inside *inside = reader->inside;
    size_t i = inside->held ? inside->at : 0;
    for (; i > 0 && inside->at - i < 4096; i--) {
        const struct key *key = &inside->keys[i - 1];
        if (key->held && key->lane == lane && key->slot == slot)
            return key_record(reader, key, raw);
    }
    return lane_record(reader, &inside->lanes[lane], slot, raw);
}

/* Finds the text record that a token names: of the event's thread, with the low
 * bits of its order in the token. */
static bool token_piece(struct reader *reader,
                        const struct recorder_event *event, uint64_t token,
                        struct piece *piece)
{
    const struct memory *m = reader->memory;
    const struct offsets *at = offsets_of(m);
    uint64_t bytes = at->record_size, low = token & (bytes - 1), lane, slot;
    uint64_t commit, records;
    const struct reader_recorder *r = recorder_by_address(reader, token);
    if (!r)
        return false;
    lane = (token - r->rings) / r->ring_bytes;
    records = r->rings + lane * r->ring_bytes + ring_records_at(reader);
    slot = (token - low - records) / bytes;
    if (token - low < records || slot >= r->figures.size)
        return false;
    commit = r->lane ? taken_record(reader, (uint32_t)(r->lane - 1 + lane),
                                    slot, piece->raw)
                     : slot_record(reader, r, lane, slot, piece->raw);
    if (!commit && r->lane && reader->memory->live) /* since it was taken */
        commit = slot_record(reader, r, lane, slot, piece->raw);
    if (!commit ||
        (m->advance && r->lane &&
         !slot_is_newest(reader, &reader->inside->lanes[r->lane - 1 + lane],
                         slot, commit)))
        return false;
    piece->left = bytes_word(m, piece->raw + at->record_format) - 1;
    piece->order = bytes_word(m, piece->raw + at->record_order);
    piece->next = bytes_word(m, piece->raw + at->record_caller);
    piece->text = piece->raw + at->record_argument;
    return recorder_is_text_(piece->left + 1) &&
           (piece->order & (bytes - 1)) == low &&
           commit_thread(m, commit) == event->thread;
}

/* The order of the next piece of a text. */
static uint64_t order_next(const struct reader *reader, uint64_t order)
{
    return order < reader->clocked ? recorder_order_next_(order)
                                   : ((order + 1) & word_max(reader->memory));
}

/* Assembles the text of a token in inside->text, as far as it is still there,
 * as recorder_text_of_() does in the program. */
static void token_text(struct reader *reader,
                       const struct recorder_event *event, uint64_t token)
{
    char *to = text_room(&reader->inside->text, TEXT_MAX);
    const struct memory *m = reader->memory;
    uint64_t order = 0, left = 0, most = 4 * (uint64_t)m->word_bytes, count;
    size_t size = 0, max = TEXT_MAX - 7;
    const char *mark = "";
    struct piece piece;
    while (token && !*mark) {
        if (!token_piece(reader, event, token, &piece) ||
            (size == 0 ? word_signed(m, event->order - piece.order) < 0
                       : piece.order != order_next(reader, order) ||
                             piece.left != left - 1))
            break;
        order = piece.order;
        left = piece.left;
        count = left < most ? left : most;
        if (count > max - size) {
            count = max - size;
            mark = "...";
        }
        memcpy(to + size, piece.text, count);
        size += count;
        left = left - count + 1;
        token = piece.next;
        if (left == 1)
            token = 0;
        else if (token == 0)
            mark = "..."; /* the rest was not kept */
    }
    if (token && !*mark)
        mark = "<lost>";
    strcpy(to + size, mark);
    reader->inside->text_sizes =
        (struct recorder_sizes_){size, size + strlen(mark)};
}

/* --------------------------------------------------------------- strings -- */

/* Reads a copied text as if its bytes were at its token: the formatter reads
 * them in pieces. Returns their number, or -1. */
static ptrdiff_t token_bytes(struct text_context *c, uint64_t address, char *to,
                             size_t size)
{
    struct reader_inside *inside = c->reader->inside;
    size_t left;
    if (inside->token == 0 || address != inside->token + inside->token_read) {
        token_text(c->reader, c->event, address);
        inside->token = address;
        inside->token_read = 0;
    }
    left = inside->text_sizes.shown - inside->token_read;
    if (left < size) {
        size = left + 1;   /* and a NUL */
        inside->token = 0; /* its end was read: the next call begins another */
    }
    memcpy(to, inside->text + inside->token_read, size);
    inside->token_read += size;
    return (ptrdiff_t)size;
}

/* The formatter's `text`: copies bytes of a string or of a copied text. If the
 * library of a text was closed, it copies RECORDER_TEXT_UNKNOWN_. */
ptrdiff_t text_bytes(void *context, uint64_t address, char *to, size_t size)
{
    struct text_context *c = context;
    struct reader_inside *inside = c->reader->inside;
    enum life_is is = LIFE_FITS;
    uint64_t from;
    size_t got;
    if (size > c->left)
        return -1;
    c->left -= size;
    if (address && address == inside->text_lost) {
        static const char lost[] = "<lost>";
        size = size < sizeof lost ? size : sizeof lost;
        memcpy(to, lost, size);
        return (ptrdiff_t)size;
    }
    if ((inside->token && address == inside->token + inside->token_read) ||
        (inside->constants[address % CONSTANTS] != address &&
         recorder_by_address(c->reader, address)))
        return token_bytes(c, address, to, size);
    got = page_bytes(c->reader, address, to, size);
    if (!got && format_is_made(c->reader, address))
        damaged_count(c->reader, c->event);
    if (got && inside->lives.at)
        is = life_is(c->reader, address, c->event->order, &from);
    if ((is == LIFE_CLOSED || is == LIFE_OTHER) &&
        size >= sizeof RECORDER_TEXT_UNKNOWN_) {
        memcpy(to, RECORDER_TEXT_UNKNOWN_, sizeof RECORDER_TEXT_UNKNOWN_);
        return (ptrdiff_t)sizeof RECORDER_TEXT_UNKNOWN_;
    }
    return got && is == LIFE_FITS ? (ptrdiff_t)got : -1;
}

bool text_changes(void *context, uint64_t address,
                  struct recorder_sizes_ *sizes)
{
    const struct text_context *c = context;
    struct reader_inside *inside = c->reader->inside;
    struct memory *memory = c->reader->memory;
    uint64_t from;
    unsigned char bytes[KEPT_SIZE_BYTES];
    if (inside->constants[address % CONSTANTS] == address)
        return false;
    inside->text_lost = 0;
    if (format_is_made(c->reader, address)) {
        bool sized = (address & 3) == KEPT_SIZED, is;
        size_t before = sized ? sizeof bytes : 1;
        char around[sizeof bytes + 1] = "";
        is = bytes_read(memory, address - before, around, before + 1);
        memcpy(bytes, around, sizeof bytes);
        if (sized && is)
            sizes->kept = sizes->shown =
                bytes_number(memory, bytes, sizeof bytes);
        if (!is || (sized ? !sizes->kept
                          : inside->texts_empty && !around[0] && !around[1])) {
            sizes->kept = sizes->shown = SIZE_MAX;
            inside->text_lost = address;
            damaged_count(c->reader, c->event);
        }
        return address & 1;
    }
    if (recorder_by_address(c->reader, address)) {
        token_text(c->reader, c->event, address);
        inside->token = address;
        inside->token_read = 0;
        *sizes = inside->text_sizes;
        return false;
    }
    if (!memory->constant ||
        (inside->lives.at &&
         life_is(c->reader, address, c->event->order, &from) != LIFE_FITS))
        return false;
    if (!memory->constant(memory, address))
        return true;
    inside->constants[address % CONSTANTS] = address;
    return false;
}

size_t reader_word_text(struct reader *reader, const struct reader_event *event,
                        unsigned i, char *to, size_t max)
{
    struct text_context context = {
        .reader = reader, .event = &event->event, .left = 2 * max};
    uint64_t address = event->event.argument[i];
    size_t size = 0;
    reader->inside->token = 0;
    *to = '\0';
    if (!address || event->event.missing_arguments >> i & 1)
        return 0;
    while (size < max - 1) {
        ptrdiff_t got =
            text_bytes(&context, address + size, to + size, max - 1 - size);
        size_t some = got > 0 ? strnlen(to + size, (size_t)got) : 0;
        size += some;
        if (got <= 0 || some < (size_t)got)
            break;
    }
    to[size] = '\0';
    return size;
}

/* --------------------------------------------------------------- message -- */

/* Writes the message of an event whose format cannot be read: its words. */
static size_t message_without(struct reader *reader,
                              const struct recorder_event *event, char *to)
{
    struct recorder_string_ s = recorder_string_at_(to, MESSAGE_MAX - 1);
    uint64_t from;
    enum life_is is = life_is(reader, event->format, event->order, &from);
    recorder_add_unreadable_(&s, event, is == LIFE_CLOSED || is == LIFE_OTHER);
    to[s.size] = '\0';
    return s.size;
}

/* Writes inside->message, cut to MESSAGE_MAX; returns the length uncut. */
static size_t message_make(struct reader *reader, const struct reader_event *e,
                           const char **location)
{
    struct reader_inside *inside = reader->inside;
    const struct recorder_event *event = &e->event;
    size_t size;
    struct text_context context = {
        .reader = reader, .event = event, .left = TEXTS_MAX};
    const struct format *format = format_of(reader, event);
    struct recorder_arguments_ arguments = {.word = event->argument,
                                            .count = 12,
                                            .missing = event->missing_arguments,
                                            .word_bytes =
                                                reader->memory->word_bytes,
                                            .text = text_bytes,
                                            .context = &context,
                                            .changes = text_changes};
    inside->token = 0;
    *location = format_location(format);
    text_room(&inside->message, MESSAGE_MAX);
    if (reader->words && e->kind &&
        (size = reader->words(reader->words_context, e, inside->message,
                              MESSAGE_MAX)))
        return size;
    if (!format->text && format_is_made(reader, event->format))
        damaged_count(reader, event);
    return format->text ? recorder_format_planned_(inside->message, MESSAGE_MAX,
                                                   format->text, &arguments,
                                                   format->plan)
                        : message_without(reader, event, inside->message);
}

const char *reader_message(struct reader *reader,
                           const struct reader_event *event, size_t *size)
{
    const char *location;
    *size = message_make(reader, event, &location);
    if (*size > MESSAGE_MAX - 1)
        *size = MESSAGE_MAX - 1;
    return reader->inside->message;
}

/* Parses a line format, unless it is the one that was parsed last. */
static const struct recorder_line_ *line_format_read(struct reader *reader,
                                                     const char *line)
{
    struct line_format *to = &reader->inside->line_format;
    if (to->own && line == reader->line)
        return &to->read;
    to->own = line == reader->line;
    if (!to->text || strcmp(to->text, line) != 0) {
        free(to->text);
        to->text = strdup(line);
        recorder_line_read_(&to->read, to->text ? to->text : "");
    }
    return &to->read;
}

const char *reader_line(struct reader *reader, const struct reader_event *event,
                        const char *line, size_t *size)
{
    struct reader_inside *inside = reader->inside;
    struct recorder_shown_ shown;
    struct recorder_string_ to;
    text_room(&inside->line, RECORDER_TEXT_LINE_MAX_ + 1);
    shown.event = &event->event;
    shown.ns = event->ns;
    shown.realtime_ns = reader_start_realtime(reader);
    shown.digits = recorder_clock_digits_(&reader->clock);
    shown.thread = event->thread ? event->thread->name : NULL;
    shown.message_size = message_make(reader, event, &shown.location);
    shown.message = inside->message;
    shown.message_max = MESSAGE_MAX - 1;
    shown.severity = event->event.severity;
    shown.hardware = event->event.hardware;
    shown.name = event->recorder->name;
    shown.name_size = strlen(shown.name);
    to = recorder_string_at_(inside->line, RECORDER_TEXT_LINE_MAX_ - 1);
    line = line ? line : reader->line;
    recorder_add_line_(&to, line_format_read(reader, line), &shown);
    recorder_end_line_(&to);
    inside->line[to.size] = '\0';
    if (size)
        *size = to.size;
    return inside->line;
}
