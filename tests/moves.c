/* moves.c - texts come along when rings are moved while others record. */
/* SPDX-License-Identifier: MIT */
static void moves_step(const char *where);
#define RECORDER_STEP_(label) moves_step(#label)
#include "capture.h"
#include "recorder_move.h"

#include <pthread.h>
#include <semaphore.h>

/* The promises of recorder_move.h. Each test takes the steps of a move itself,
 * with what others may do in between: no time has to pass for it. */
TestSuite(moves, .timeout = 60);

RECORDER(moved, 64, "Has its rings moved");
RECORDER(other, 8, "Stays where it is");

static struct recorder_moves moves;
static const char text[] = "of more than one record, so that its pieces lead "
                           "from one to the next; and here it ends";

static void move_publish(void)
{
    size_t bytes = recorder_for_moved.ring_bytes;
    void *to = aligned_alloc(RECORDER_RING_ALIGN_, bytes);
    cr_assert(to && recorder_moves_open(&moves, 1, 64, 1));
    memset(to, 0, bytes);
    recorder_moves_add(&moves, &recorder_for_moved, to);
    recorder_moves_publish(&moves);
}
static void move_finish(void)
{
    recorder_moves_finish(&moves);
    recorder_moves_close(&moves);
}
/* Does a dump show the text, with these words before it? */
static void is_shown(const char *words)
{
    char line[200];
    const char *dump = catch_dump(catcher(1 << 16));
    snprintf(line, sizeof line, "moved: %s %s\n", words, text);
    cr_assert(strstr(dump, line), "no \"%s\" in\n%s", line, dump);
}

/* ------------------------------------------------------------------ tests -- */

/* Goal: a token shows its text, whenever between RECORDER_COPY and record() the
 * new ring is published. */
Test(moves, token_across)
{
    const char *token;
    record(moved, "in the old ring: %s", RECORDER_COPY(moved, text));
    token = RECORDER_COPY(moved, text);
    move_publish();
    is_shown("in the old ring:");
    record(moved, "across: %s", token);
    record(moved, "twice: %d %s", 1, token);
    move_finish();
    is_shown("in the old ring:");
    is_shown("across:");
    is_shown("twice: 1");
}

/* Goal: of many texts each is shown as its own, or as lost where it has been
 * overwritten. Method: half of them are of the old ring. Returns how many. */
static unsigned across_many(unsigned count)
{
    static const char *tokens[200];
    const char *dump, *at;
    char name[20];
    unsigned i, shown = 0;
    for (i = 0; i < COUNT(tokens); i++) {
        snprintf(name, sizeof name, "<%u>", i);
        tokens[i] = RECORDER_COPY(moved, name);
        if (i == COUNT(tokens) - count / 2)
            move_publish();
    }
    for (i = COUNT(tokens) - count; i < COUNT(tokens); i++)
        record(moved, "text %u: %s", i, tokens[i]);
    move_finish();
    dump = catch_dump(catcher(1 << 16));
    for (at = dump; (at = strstr(at, ": text ")); at++) {
        unsigned number, own;
        if (sscanf(at, ": text %u: <%u>", &number, &own) != 2)
            continue;
        cr_assert_eq(number, own, "%s", dump);
        shown++;
    }
    return shown;
}
Test(moves, tokens_across)
{
    cr_assert_eq(across_many(20), 20);
}
Test(moves, tokens_overwritten)
{
    cr_assert_lt(across_many(60), 60);
}

/* A thread that is stopped when it has taken an order: in the old ring. */
static __thread bool is_to_stop;
static sem_t has_stopped, may_go_on;
static void moves_step(const char *where)
{
    if (!is_to_stop || strcmp(where, "W1"))
        return;
    is_to_stop = false;
    sem_post(&has_stopped);
    sem_wait(&may_go_on);
}
static void *late_text(void *unused)
{
    const char *token;
    is_to_stop = true;
    token = RECORDER_COPY(moved, text);
    record(moved, "late text: %s", token);
    return unused;
}
static void *late_record(void *unused)
{
    const char *token = RECORDER_COPY(moved, text);
    is_to_stop = true;
    record(moved, "late record: %s", token);
    return unused;
}
/* Goal: what is written into the old ring after it was copied comes along, and
 * tokens lead to where it is now. */
Test(moves, texts_that_come_late)
{
    void *(*const lates[])(void *) = {late_text, late_record};
    pthread_t threads[COUNT(lates)];
    unsigned i;
    sem_init(&has_stopped, 0, 0);
    sem_init(&may_go_on, 0, 0);
    for (i = 0; i < COUNT(lates); i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, lates[i], NULL), 0);
        sem_wait(&has_stopped);
    }
    move_publish();
    for (i = 0; i < 10; i++)
        record(moved, "others go on: %u", i);
    for (i = 0; i < COUNT(lates); i++)
        sem_post(&may_go_on);
    for (i = 0; i < COUNT(lates); i++)
        pthread_join(threads[i], NULL);
    move_finish();
    is_shown("late text:");
    is_shown("late record:");
}

/* A token whose low bits, of the order, lead into the middle of a text record;
 * by now a text with other low bits has overwritten it. */
static const char *token_overwritten(void)
{
    const char *token;
    unsigned i;
    while (recorder_order % 64 != 40)
        record(moved, "to the order that is wanted");
    token = RECORDER_COPY(moved, "the first one");
    record(other, "one order, so that the bits are others");
    for (i = 0; i < 64; i++)
        RECORDER_COPY(moved, "and what is another text's");
    return token;
}
/* Goal: a token of a text that is gone is corrected to say so. */
Test(moves, text_lost)
{
    const char *token = token_overwritten(), *dump;
    move_publish();
    record(moved, "lost: <%s>", token);
    move_finish();
    dump = catch_dump(catcher(1 << 16));
    cr_assert(strstr(dump, "lost: <<lost>>"), "%s", dump);
}
/* Goal: a token that is kept until after the move shows no other text. */
Test(moves, tokens_kept_for_long)
{
    const char *token = token_overwritten(), *dump, *at;
    move_publish();
    move_finish();
    record(moved, "kept: <%s>", token);
    dump = catch_dump(catcher(1 << 16));
    at = strstr(dump, "kept: <");
    cr_assert(at, "%s", dump);
    at += strlen("kept: <");
    cr_assert_eq(at[strspn(at, "?")], '>', "%s", dump);
}
