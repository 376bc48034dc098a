/* note.c - the notes of a recording: host, snapshot, clock. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"
#include "requests.h"
#include "source.h"

enum { TEXT_MAX = 4096 };

bool note_clock(int fd, int64_t offset_ns, int64_t error_ns)
{
    const uint64_t words[] = {(uint64_t)offset_ns, (uint64_t)error_ns};
    unsigned char bytes[NOTE_SOURCE_WORDS];
    bool big_endian;
    size_t size;
    uint64_t at = recording_note(fd, NOTE_SOURCE_TYPE, &size, &big_endian);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(words[i / 8] >>
                                   8 * (big_endian ? 7 - i % 8 : i % 8));
    return at && pwrite(fd, bytes, sizeof bytes, (off_t)at) == sizeof bytes;
}

bool note_has_requests(int fd)
{
    bool big_endian;
    size_t size;
    return recording_note(fd, NOTE_REQUESTS_TYPE, &size, &big_endian);
}

bool note_may_have(int fd, const char *id)
{
    bool big_endian, may_have = true;
    size_t size;
    uint64_t at = recording_note(fd, NOTE_REQUESTS_TYPE, &size, &big_endian);
    unsigned char *note =
        at && size <= RECORDING_NOTE_MAX ? need(malloc(size)) : NULL;
    if (note && pread(fd, note, size, (off_t)at) == (ssize_t)size)
        may_have = requests_may_have(note, size, id);
    free(note);
    return may_have;
}

bool note_label(int fd, const char *label, char *to, size_t max)
{
    char text[TEXT_MAX + 1];
    bool big_endian;
    size_t size, length = strlen(label);
    uint64_t at = recording_note(fd, NOTE_SOURCE_TYPE, &size, &big_endian);
    if (!at || size > TEXT_MAX ||
        pread(fd, text, size, (off_t)at) != (ssize_t)size)
        return false;
    text[size] = '\0';
    for (char *rest = text + NOTE_SOURCE_WORDS, *line;
         (line = strsep(&rest, "\n"));)
        if (strncmp(line, label, length) == 0 && line[length] == '=') {
            snprintf(to, max, "%s", line + length + 1);
            return true;
        }
    return false;
}

uint64_t note_number(int fd, const char *label)
{
    char text[32];
    return note_label(fd, label, text, sizeof text) ? strtoull(text, NULL, 10)
                                                    : 0;
}
