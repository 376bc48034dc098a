/* lives.c - which library an address belonged to when a record was made. */
/* SPDX-License-Identifier: MIT */
#include "inside.h"

enum { LIFE_WORDS = 4 };

static void lives_read(struct reader *reader)
{
    enum { TRIES = 100 };
    struct memory *m = reader->memory;
    struct lives *lives = &reader->inside->lives;
    unsigned char bytes[RECORDER_LIVES_ * LIFE_WORDS * 8], again[sizeof bytes];
    size_t size = offsets_of(m)->life_size, i, tries = 0;
    lives->count = 0;
    do {
        if (!lives->at ||
            !bytes_read(m, lives->at, bytes, RECORDER_LIVES_ * size) ||
            !bytes_read(m, lives->at, again, RECORDER_LIVES_ * size))
            return;
    } while (memcmp(bytes, again, RECORDER_LIVES_ * size) != 0 &&
             ++tries < TRIES);
    lives->unsure = tries == TRIES;
    for (i = 0; i < RECORDER_LIVES_; i++) {
        const unsigned char *from = bytes + i * size;
        struct life *to = &lives->all[lives->count];
        to->start = bytes_word(m, from + offsets_of(m)->life_start);
        to->bytes = bytes_word(m, from + offsets_of(m)->life_bytes);
        to->from = bytes_word(m, from + offsets_of(m)->life_from);
        to->until = bytes_word(m, from + offsets_of(m)->life_until);
        lives->count += to->bytes != 0;
    }
}

void lives_refresh(struct reader *reader, const struct registry *registry)
{
    struct lives *lives = &reader->inside->lives;
    lives->at = registry->lives;
    lives->changes = registry->lives_changes;
    lives_read(reader);
}

void lives_renew(struct reader *reader)
{
    struct lives *lives = &reader->inside->lives;
    struct memory *m = reader->memory;
    uint64_t changes;
    if (!m->live || !lives->changes || (!lives->count && lives->changes == 1) ||
        !bytes_read_word(
            m, reader->registry + offsets_of(m)->registry_lives_changes,
            &changes) ||
        changes == lives->changes)
        return;
    lives->changes = changes;
    lives_read(reader);
}

void lives_of_file(struct reader *reader)
{
    struct memory *m = reader->memory;
    bool shown = !m->renew || m->renew(m);
    if (!m->renew)
        return;
    lives_read(reader);
    reader->inside->lives.unsure |= !shown;
}

enum life_is life_is(struct reader *reader, uint64_t address, uint64_t order,
                     uint64_t *from)
{
    const struct lives *lives = &reader->inside->lives;
    const struct memory *m = reader->memory;
    const struct life *last = NULL;
    int64_t since;
    *from = 0;
    if (!lives->at)
        return LIFE_FITS;
    if (lives->unsure)
        return LIFE_UNKNOWN;
    for (size_t i = 0; i < lives->count; i++) {
        const struct life *life = &lives->all[i];
        if (address - life->start < life->bytes &&
            (!last || word_signed(m, life->from - last->from) >= 0))
            last = life;
    }
    if (!last)
        return LIFE_FITS;
    *from = last->from;
    since = last->from == RECORDER_LIFE_EVER_
                ? 0
                : word_signed(m, order - last->from);
    if (recorder_life_fits_(since, word_signed(m, order - last->until),
                            last->until == 0, lives->changes == 0))
        return LIFE_FITS;
    return since < 0             ? LIFE_OTHER
           : lives->changes == 0 ? LIFE_UNKNOWN /* after it was closed */
                                 : LIFE_CLOSED;
}
