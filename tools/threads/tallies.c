/* tallies.c - tables of waits, and circles of locks, in words. */
/* SPDX-License-Identifier: MIT */
#include "show.h"

/* ----------------------------------------------------------------- cells -- */

/* The table's columns, as texts of one row. */
enum { COLUMNS_MAX = 7, PLACE_FRAMES = 3, PLACE_BYTES = 2048 };
struct texts {
    char text[COLUMNS_MAX][256];
};

/* The longest wait; of an unfinished one, its present length. */
static void longest_text(const struct contention *row, char to[256])
{
    char time[32];
    table_time(row->goes_on ? row->goes_on_ns : row->longest_ns, time);
    snprintf(to, 256, "%s%s", row->goes_on ? "still waiting, " : "", time);
}

/* A place by a stack, or by the site alone. */
static void place_show(FILE *to, struct threads *threads, const char *before,
                       uint64_t number, uint64_t site)
{
    uint64_t frames[FRAMES_MAX];
    unsigned count = recorded_frames(threads, number, site, frames);
    show_frames(to, threads, before, frames, count, PLACE_FRAMES);
}

/* Names an object's holder: by a thread that waits for it, else by the recorded
 * locks of threads. */
static struct wait holder_of(const struct threads *threads,
                             const struct contention *row)
{
    struct wait wait = {.kind = row->kind, .holder = THREAD_NONE};
    if (row->waiting_count)
        return threads->all[row->waiting[0]].wait;
    for (size_t i = 0; i < threads->count; i++) {
        const struct past *past = threads->all[i].past;
        for (unsigned k = 0; past && !past->ended && k < past->holds_count; k++)
            if (past->holds[k].object == row->key) {
                wait.readers += past->holds[k].reads;
                if (wait.holder == THREAD_NONE)
                    wait.holder = i;
            }
    }
    return wait;
}

static void holder_text(struct threads *threads, const struct contention *row,
                        char to[256])
{
    const struct wait wait = holder_of(threads, row);
    show_holder(threads, &wait, to);
}

static void object_text(struct threads *threads, uint64_t object, char to[256])
{
    const struct wait wait = {.object = object};
    if (object)
        show_object(threads, &wait, to);
    else
        strcpy(to, "several");
}

/* ---------------------------------------------------------------- tables -- */

/* A column whose name begins with a blank has numbers, aligned to the right. */
static const char *const columns[][COLUMNS_MAX + 2] = {
    [BY_OBJECT] = {"KIND", "OBJECT", " WAITED", " OF", " TOTAL", " LONGEST",
                   "HELD BY"},
    [BY_SITE] = {"KIND", "OBJECT", " WAITED", " TOTAL", " LONGEST"},
    [BY_THREAD] = {"THREAD", " LOCKED", " WAITED", " TOTAL", " LONGEST"}};

/* "T2 4713 teller", or "?" of a thread that is left out. */
static void past_name(const struct threads *threads, const struct past *past,
                      char to[64])
{
    strcpy(to, "?");
    if (past->index != THREAD_NONE)
        show_name(threads, past->index, to);
}

static void row_make(struct threads *threads, const struct contention *from,
                     enum contention_by by, struct texts *to)
{
    const struct past *past =
        by == BY_THREAD ? &threads->recorded->pasts[from->key] : NULL;
    char(*text)[256] = to->text;
    if (past) {
        past_name(threads, past, *text++);
        if (past->has_calls)
            snprintf(*text++, 256, "%llu", (unsigned long long)past->locks);
        else
            strcpy(*text++, "?");
    } else {
        strcpy(*text++, show_kind(from->kind));
        object_text(threads, by == BY_OBJECT ? from->key : from->object,
                    *text++);
    }
    snprintf(*text++, 256, "%llu", (unsigned long long)from->waited);
    if (by == BY_OBJECT)
        snprintf(*text++, 256, from->taken ? "%llu" : "-",
                 (unsigned long long)from->taken);
    table_time(from->ns, *text++);
    longest_text(from, *text++);
    if (by == BY_OBJECT)
        holder_text(threads, from, *text);
}

void show_contention(FILE *to, struct threads *threads,
                     const struct contentions *from, enum contention_by by)
{
    const char *const *column = columns[by];
    struct texts *rows = need(calloc(from->count + 1, sizeof *rows));
    int width[COLUMNS_MAX] = {0}, count = 0;
    for (; column[count]; count++)
        width[count] = (int)strlen(column[count]) - (*column[count] == ' ');
    for (size_t i = 0; i < from->count; i++) {
        row_make(threads, &from->all[i], by, &rows[i]);
        for (int k = 0; k < count; k++)
            width[k] = table_width(rows[i].text[k], width[k]);
    }
    for (int k = 0; k < count; k++)
        text_put(to, *column[k] == ' ' ? "%*s  " : "%-*s  ", width[k],
                 column[k] + (*column[k] == ' '));
    fputs(by == BY_OBJECT ? "WAITING, LONGEST AT\n" : "AT\n", to);
    for (size_t i = 0; i < from->count; i++) {
        const struct contention *row = &from->all[i];
        for (int k = 0; k < count; k++)
            text_put(to, *column[k] == ' ' ? "%*s  " : "%-*s  ", width[k],
                     rows[i].text[k]);
        if (row->waiting_count && by == BY_THREAD)
            fputs("waits now", to);
        else if (row->waiting_count)
            show_threads(to, threads, row->waiting, row->waiting_count);
        place_show(to, threads, row->waiting_count ? ", at " : "",
                   by == BY_SITE && row->is_stack ? row->key
                                                  : row->longest_stack,
                   row->longest_site);
        putc('\n', to);
    }
    free(rows);
}

/* ------------------------------------------------------------------ JSON -- */

static const char *place_text(struct threads *threads, uint64_t number,
                              uint64_t site, char to[PLACE_BYTES])
{
    FILE *place = need(fmemopen(to, PLACE_BYTES - 1, "w"));
    memset(to, 0, PLACE_BYTES);
    place_show(place, threads, "", number, site);
    fclose(place);
    return to;
}

/* The members of a row that are its subject. */
static void row_json(struct threads *threads, const struct contention *row,
                     enum contention_by by)
{
    char text[PLACE_BYTES];
    if (by == BY_OBJECT) {
        json_put(stdout, "{'lock':'0x%llx','kind':%s,'symbol':%s",
                 (unsigned long long)row->key, show_kind(row->kind),
                 show_symbol(threads, row->key, text));
        json_count("taken", row->taken, row->taken);
    } else if (by == BY_SITE) {
        json_put(stdout, "{'site':%s,'kind':%s,'lock':",
                 place_text(threads, row->is_stack ? row->key : 0,
                            row->longest_site, text),
                 show_kind(row->kind));
        json_put(stdout, row->object ? "'0x%" PRIx64 "'" : "null", row->object);
    } else {
        const struct past *past = &threads->recorded->pasts[row->key];
        json_put(stdout, "{'thread':%d,'number':%u", (int)past->id,
                 past->number);
    }
}

void show_contention_json(struct threads *threads,
                          const struct contentions *from, enum contention_by by)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct contention *row = &from->all[i];
        char text[PLACE_BYTES];
        row_json(threads, row, by);
        json_put(
            stdout,
            ",'waited':%llu,'total_ns':%llu,'longest_ns':%llu,"
            "'goes_on':%hhd,'longest_at':%s",
            (unsigned long long)row->waited, (unsigned long long)row->ns,
            (unsigned long long)row->longest_ns, row->goes_on,
            place_text(threads, row->longest_stack, row->longest_site, text));
        if (by == BY_OBJECT) {
            const struct wait wait = holder_of(threads, row);
            holder_text(threads, row, text);
            show_holder_json(threads, &wait);
            json_put(stdout, ",'held_by':%s", text);
        }
        fputs(",\"waiting\":[", stdout);
        for (size_t k = 0; k < row->waiting_count; k++)
            printf("%s%d", k ? "," : "", (int)threads->all[row->waiting[k]].id);
        puts("]}");
    }
}

/* --------------------------------------------------------------- circles -- */

static const struct hold *held_of(const struct taking *taking)
{
    return &taking->chain->holds[taking->held];
}

static void locks_names(FILE *to, struct threads *threads,
                        const struct circle *circle)
{
    for (unsigned i = 0; i < circle->count; i++) {
        char name[256];
        object_text(threads, held_of(&circle->takings[i])->object, name);
        text_put(to, "%s%s",
                 i == 0                   ? ""
                 : i + 1 == circle->count ? " and "
                                          : ", ",
                 name);
    }
}

/* True if a lock of the circle is no variable: its memory may have held another
 * one before. */
static bool may_be_reused(struct threads *threads, const struct circle *circle)
{
    char name[256];
    for (unsigned i = 0; i < circle->count; i++)
        if (!place_variable(threads->unwind.dwfl,
                            held_of(&circle->takings[i])->object, name,
                            sizeof name))
            return true;
    return false;
}

void show_circle(FILE *to, struct threads *threads, const struct circle *circle)
{
    fputs("LOCK ORDER: ", to);
    locks_names(to, threads, circle);
    fprintf(to, " are %staken in a circle: could deadlock%s\n",
            circle->of_class ? "perhaps " : "",
            circle->of_class ? ", if locks of one place are the same" : "");
    for (unsigned i = 0; i < circle->count; i++) {
        const struct taking *taking = &circle->takings[i];
        const struct past *past =
            &threads->recorded->pasts[taking->chain->past];
        const struct hold *held = held_of(taking);
        char thread[64], name[256];
        past_name(threads, past, thread);
        object_text(threads, taking->chain->object, name);
        text_put(to, "  %s took %s%s at ", thread, name,
                 taking->chain->reads ? " to read" : "");
        place_show(to, threads, "", taking->chain->stack, taking->chain->site);
        object_text(threads, held->object, name);
        text_put(to, ", holding %s", name);
        show_taken_at(to, threads, held);
        putc('\n', to);
    }
    if (may_be_reused(threads, circle))
        fputs(
            "  False if memory was used for another lock in between without a "
            "call, such as free()\n  or pthread_mutex_init(): as a stack is, or "
            "memory that the program shares out itself.\n",
            to);
}

void show_circle_json(struct threads *threads, const struct circle *circle)
{
    char symbol[256], at[PLACE_BYTES], taken_at[PLACE_BYTES];
    fputs("{\"circle\":[", stdout);
    for (unsigned i = 0; i < circle->count; i++) {
        const struct taking *taking = &circle->takings[i];
        const struct chain *chain = taking->chain;
        const struct past *past = &threads->recorded->pasts[chain->past];
        const struct hold *held = held_of(taking);
        if (i)
            putchar(',');
        json_put(stdout,
                 "{'thread':%d,'number':%u,'took':'0x%llx','symbol':%s,"
                 "'reads':%hhd,'at':%s,'holding':'0x%llx','taken_at':%s}",
                 (int)past->id, past->number, (unsigned long long)chain->object,
                 show_symbol(threads, chain->object, symbol), chain->reads,
                 place_text(threads, chain->stack, chain->site, at),
                 (unsigned long long)held->object,
                 place_text(threads, held->stack, held->site, taken_at));
    }
    json_put(stdout, "],'perhaps':%hhd}\n", circle->of_class);
}

static bool place_has(const struct place *place, const regex_t *regex)
{
    for (; place; place = place->outer) {
        const char *names[] = {place->function, place->symbol, place->file};
        for (int i = 0; i < 3; i++)
            if (names[i] && regexec(regex, names[i], 0, NULL, 0) == 0)
                return true;
    }
    return false;
}

bool show_circle_has(struct threads *threads, const struct circle *circle,
                     const regex_t *regex)
{
    for (unsigned i = 0; i < circle->count; i++) {
        const struct taking *taking = &circle->takings[i];
        const struct stack *stack =
            recorded_stack(threads->recorded, taking->chain->stack);
        char name[256];
        if ((place_variable(threads->unwind.dwfl, taking->chain->object, name,
                            sizeof name) &&
             regexec(regex, name, 0, NULL, 0) == 0) ||
            place_has(place_of_call(threads, taking->chain->site), regex) ||
            place_has(place_of_call(threads, held_of(taking)->site), regex))
            return true;
        for (unsigned k = 0; stack && k < stack->count; k++)
            if (place_has(place_of_call(threads, stack->frames[k]), regex))
                return true;
    }
    return false;
}
