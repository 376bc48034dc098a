/* lives.c - which library an address belonged to when a record was made. */
/* SPDX-License-Identifier: MIT */
#include "inside.h"

enum { LIFE_WORDS = 4 };

void lives_read(struct reader *reader)
{
    struct memory *m = reader->memory;
    struct lives *lives = &reader->inside->lives;
    unsigned char bytes[RECORDER_LIVES_ * LIFE_WORDS * 8];
    size_t size = offsets_of(m)->life_size, i;
    lives->count = 0;
    if (!lives->at || !bytes_read(m, lives->at, bytes, RECORDER_LIVES_ * size))
        return;
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
    if (m->moved && lives->at)
        lives_read(reader);
    if (!m->live || !lives->changes || (!lives->count && lives->changes == 1) ||
        !bytes_read_word(
            m, reader->registry + offsets_of(m)->registry_lives_changes,
            &changes) ||
        changes == lives->changes)
        return;
    lives->changes = changes;
    lives_read(reader);
}

enum life_is life_is(struct reader *reader, uint64_t address, uint64_t order,
                     uint64_t *from)
{
    const struct lives *lives = &reader->inside->lives;
    struct memory *m = reader->memory;
    const struct life *last = NULL;
    int64_t since;
    *from = 0;
    if (!lives->at)
        return LIFE_FITS;
    for (size_t i = 0; i < lives->count; i++) {
        const struct life *life = &lives->all[i];
        if (address - life->start < life->bytes &&
            (!last || word_signed(m, life->from - last->from) >= 0))
            last = life;
    }
    if (!last)
        return LIFE_FITS;
    *from = last->from;
    if (m->moved && m->moved(m, address))
        return LIFE_OTHER;
    since = last->from == RECORDER_LIFE_EVER_
                ? 0
                : word_signed(m, order - last->from);
    if (recorder_life_fits_(since, word_signed(m, order - last->until),
                            last->until == 0, lives->changes == 0))
        return LIFE_FITS;
    return since < 0 ? LIFE_OTHER : LIFE_CLOSED;
}
