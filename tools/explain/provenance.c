/* provenance.c - the records that hold values of a crash. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "explain.h"

#include <math.h>

enum {
    NEAR = 1 << 20,       /* no larger block is looked for */
    NUMBER_LEAST = 65536, /* a number from here on may be an address */
    UNNAMED_LEAST = 100,  /* a number that counts without a name */
    HITS_MAX = 1 << 20,
    /* Parts of a score, beside the weights of values: */
    RARE = 6,    /* for each halving of the records that have the format */
    NEWEST = 16, /* records before the crash, and of a format */
    FIRST = 40,  /* that is new there, for each halving */
    NEW_LEAST = 50,
    LAST = 120, /* of the thread's last record; of the one before, a half */
    SAME = 100  /* of one that the crashed function wrote */
};
static const double LATER = 1.5; /* of another thread's record, the later one */

/* A format: the first record of it, and how many there are. */
struct format {
    uint64_t order, place, count;
    const struct reader_recorder *recorder;
};

struct search {
    struct explain *x;
    struct provenance *p;
    struct hit *hits;
    size_t hits_count, hits_max;
    struct ids formats;
    struct format *all;
    size_t all_max;
    struct shown *candidates; /* records that may be shown */
    size_t count, max;
};

/* ----------------------------------------------------------------- match -- */

/* True if a name of the program, "s->peer.id", ends with the word, in either
 * case, without _ and t at its end. */
static bool is_name(const char *name, const char *word)
{
    for (const char *at = name; at && word; at = strpbrk(at + 1, ".>, *")) {
        const char *from = at + strspn(at, ".>, *");
        size_t size = strcspn(from, ".-, ");
        if ((!from[size] || from[size] == ',') && strlen(word) == size &&
            strncasecmp(from, word, size) == 0)
            return true;
    }
    return false;
}

/* "session" of "struct session_t", "doc::session" or "Session". */
static bool is_type(const char *type, const char *word)
{
    size_t size = word ? strlen(word) : 0;
    return size > 2 && *type && strcasestr(type, word) != NULL;
}

static bool is_number_held(const struct reader_argument *a,
                           const struct value *v, struct hit *hit)
{
    if (v->is_null ? a->kind != READER_POINTER && a->kind != READER_STRING
                   : a->kind != READER_SIGNED && a->kind != READER_UNSIGNED)
        return false;
    if (a->word != v->word)
        return false;
    if (a->name && is_name(v->name, a->name))
        return true;
    hit->weak = true;
    return v->is_null ||
           (a->name ? is_type(v->type, a->name) : v->word >= UNNAMED_LEAST);
}

/* True if the text of a record is one of the crash. */
static bool is_text_held(const struct reader_argument *a, const struct value *v)
{
    const char *text = a->text;
    size_t size = a->text_size;
    if (a->kind != READER_STRING || !text)
        return false;
    if (a->cut && size > 6) /* it ends in "..." or "<lost>" */
        size -= text[size - 1] == '.' ? 3 : 6;
    return size && strncmp(v->text, text, size) == 0 &&
           (!v->text[size] || size >= 16);
}

/* True if an argument holds a value. A block's start holds each address in it. */
static bool is_held(struct search *s, const struct reader_argument *a,
                    const struct value *v, struct hit *hit)
{
    struct memory *m = s->x->memory;
    struct block block;
    bool address = a->kind == READER_POINTER || a->kind == READER_UNSIGNED ||
                   a->kind == READER_SIGNED;
    hit->name = a->name;
    hit->exact = hit->before = hit->weak = false;
    if (v->kind == VALUE_TEXT)
        return is_text_held(a, v);
    if (v->kind == VALUE_NUMBER)
        return is_number_held(a, v, hit);
    if (!address || a->word < NUMBER_LEAST)
        return false;
    hit->exact = a->word == v->word;
    if (hit->exact || v->word - a->word >= NEAR)
        return hit->exact;
    if (heap_block(m, a->word, &block) && v->word - a->word < block.size) {
        hit->weak = v->block.size != 0; /* free() merged two blocks */
        return true;
    }
    /* The block before it may have been written past its end. */
    return hit->before =
               block.size && a->word + block.size + m->word_bytes == v->word;
}

static void event_match(struct search *s, const struct reader_event *e,
                        struct hit hit)
{
    struct reader_argument arguments[12];
    unsigned count = reader_arguments(&s->x->call->reader, e, arguments);
    reader_unmark(arguments, count);
    for (size_t i = 0; count && i < s->x->values_count; i++) {
        struct hit held = {.before = true}; /* which tells the least */
        unsigned holds = 0;
        hit.value = i;
        for (unsigned k = 0; k < count && held.before; k++)
            if (is_held(s, &arguments[k], &s->x->values[i], &hit)) {
                held = hit;
                holds++;
            }
        if (!holds)
            continue;
        s->x->values[i].records++;
        if (s->x->thread && e->thread && e->thread->id == s->x->thread->id)
            s->x->values[i].own = e->event.order;
        if (s->hits_count == HITS_MAX) { /* the newer half is kept */
            memmove(s->hits, s->hits + HITS_MAX / 2,
                    HITS_MAX / 2 * sizeof *s->hits);
            s->hits_count /= 2;
        }
        *array_add(s->hits, s->hits_count, s->hits_max) = held;
    }
}

/* Notes where the format of an event came first. Returns its number. */
static size_t event_first(struct search *s, const struct reader_event *e)
{
    bool is_new;
    size_t i = ids_add(&s->formats, e->event.format, 0, 0, &is_new);
    ARRAY_NEED(s->all, i + 1, s->all_max);
    if (is_new)
        s->all[i] =
            (struct format){e->event.order, s->p->records, 0, e->recorder};
    s->all[i].count++;
    return i;
}

/* Keeps the newest records of the thread, or of all where none is known. */
static void event_last(struct search *s, struct hit hit)
{
    struct provenance *p = s->p;
    if (s->x->thread && (!hit.thread || hit.thread->id != s->x->thread->id))
        return;
    if (p->last_count == LAST_MAX)
        memmove(p->last, p->last + 1, --p->last_count * sizeof *p->last);
    p->last[p->last_count++].hit = hit;
}

/* ---------------------------------------------------------------- choose -- */

/* A value that is in few records tells more than one that is in all. */
static double rarity(const struct search *s, uint64_t count)
{
    return log2((double)(s->p->records + 1) / (double)(count + !count));
}

/* True if the function that wrote a record has a variable of this type, or with a
 * pointer to it, or in a struct. *known: its variables are known. */
static bool site_has_type(struct search *s, const struct hit *hit,
                          const char *type, bool *known)
{
    struct threads *threads = &s->x->threads;
    static struct variable found[VARIABLES_MAX], members[VARIABLES_MAX];
    static const struct registers none;
    uint64_t at = hit->caller - 1;
    size_t count = variables_of(threads, at, &none, 0, found);
    bool has = false;
    count = variables_static(threads, at, found, count);
    *known = count > 0;
    for (size_t i = 0; i < count && !has; i++) {
        size_t inside = variable_members(NULL, &found[i], members);
        has = found[i].type && strcmp(found[i].type, type) == 0;
        for (size_t k = 0; found[i].type && k < inside; k++)
            has |= members[k].type && strcmp(members[k].type, type) == 0;
    }
    return has;
}

/* The first record of a value that is of one life of its address with the last
 * one: where a format comes again after another, the address was used again. */
static uint64_t life_begin(const struct search *s, size_t value)
{
    size_t *seen = need(calloc(s->formats.count, sizeof *seen));
    uint64_t begin = 0;
    size_t last = SIZE_MAX, life = 1;
    for (size_t i = 0; i < s->hits_count; i++) {
        const struct hit *hit = &s->hits[i];
        if (hit->value != value || !hit->exact)
            continue;
        if (seen[hit->format] == life && hit->format != last) {
            begin = hit->order;
            life++;
        }
        seen[hit->format] = life;
        last = hit->format;
    }
    free(seen);
    return begin;
}

static bool is_of_site(struct search *s, uint64_t caller)
{
    const struct place *of = place_of_call(&s->x->threads, caller);
    return of && of->function &&
           strcmp(of->function, crash_function(s->x, s->x->site)) == 0;
}

/* True if the crashed function wrote a record, before the place of the crash, as
 * one of the thread's last. */
static bool is_of_crash(struct search *s, const struct hit *hit)
{
    const uint64_t pc = s->x->thread->frames[s->x->site];
    const struct shown *last = &s->p->last[s->p->last_count];
    while (last-- > s->p->last)
        if (last->hit.format == hit->format)
            return last->hit.order == hit->order && hit->caller <= pc &&
                   is_of_site(s, hit->caller);
    return false;
}

/* An address may have been another object's before, and a number is a number:
 * the crashed function itself recorded the value that it used; or that is of
 * freed memory, and types agree, or names where types are not known. */
static bool is_sure(struct search *s, const struct hit *hit)
{
    const struct value *v = &s->x->values[hit->value];
    bool known = false;
    if (!v->used || hit->before || hit->weak)
        return false;
    if (!v->block.freed)
        return is_of_crash(s, hit);
    if (hit->order < life_begin(s, hit->value))
        return false;
    if (hit->name && is_type(v->type, hit->name))
        return true;
    if (*v->type && site_has_type(s, hit, v->type, &known))
        return true;
    return !known && hit->name && is_name(v->name, hit->name);
}

/* Adds a record that may be shown, or adds to its score. */
static void candidate_add(struct search *s, const struct shown *shown,
                          double score)
{
    size_t i = 0;
    while (i < s->count && s->candidates[i].hit.order != shown->hit.order)
        i++;
    if (i == s->count)
        *array_add(s->candidates, s->count, s->max) = *shown;
    s->candidates[i].score += score;
}

/* Adds the record of some hits, which are of one record. */
static void hits_add(struct search *s, const struct hit *hits, size_t count)
{
    const struct hit *best = hits;
    double score = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        const struct value *v = &s->x->values[hits[i].value];
        double of = v->weight * (1 + rarity(s, v->records));
        if (hits[i].before && s->x->in_heap)
            of *= 2;
        else if (hits[i].before || hits[i].weak)
            of /= 3;
        if (!hits[i].before &&
            (v->used || (v->block.freed && v->weight >= WEIGHT_CALLER / 2)))
            of += 400;
        if (v->kind == VALUE_ADDRESS && hits[i].order > v->own)
            of *= LATER; /* of another thread, since this one's last */
        if (of > most) {
            most = of;
            best = &hits[i];
        }
        score += of / 2;
    }
    *array_add(s->candidates, s->count, s->max) =
        (struct shown){.hit = *best,
                       .score = score + most / 2 +
                                RARE * rarity(s, s->all[best->format].count)};
}

/* Adds the formats that came for the first time shortly before, and seldom. */
static void first_add(struct search *s)
{
    const struct provenance *p = s->p;
    for (size_t i = 0; i < s->formats.count && p->records >= NEW_LEAST; i++) {
        const struct format *f = &s->all[i];
        struct shown shown = {
            .hit = {.order = f->order, .value = SIZE_MAX, .format = i},
            .first = true};
        /* The recorder may have lost an earlier record of the format. */
        if (p->records - f->place <= NEWEST && f->count <= 2 &&
            !f->recorder->figures.overwritten)
            candidate_add(s, &shown, FIRST * rarity(s, f->count));
    }
}

/* Adds the last records of the thread, which need no value of the crash. */
static void last_add(struct search *s)
{
    const struct provenance *p = s->p;
    for (size_t i = 0; i < p->last_count; i++) {
        const struct hit *hit = &p->last[i].hit;
        bool same = s->x->thread && is_of_site(s, hit->caller);
        candidate_add(s, &p->last[i],
                      (LAST + same * SAME) / (double)(p->last_count - i) +
                          rarity(s, s->all[hit->format].count));
    }
}

/* True if a line has the format and value of a candidate that is not sure: more
 * of these would be chance, too. If the heap is damaged, another thread may have
 * freed the block before. */
static bool is_repeated(struct search *s, const struct shown *c)
{
    for (size_t i = 0; i < s->p->lines_count; i++) {
        const struct hit *hit = &s->p->lines[i].hit;
        if (hit->value != SIZE_MAX && hit->value == c->hit.value &&
            hit->format == c->hit.format &&
            (!s->x->in_heap || hit->thread == c->hit.thread))
            return !is_sure(s, &c->hit);
    }
    return false;
}

/* Keeps the records of the highest scores. A second record of one format and
 * value tells less than the first. */
static void lines_choose(struct search *s)
{
    struct provenance *p = s->p;
    for (size_t i = 0, n; i < s->hits_count; i += n) {
        for (n = 1;
             i + n < s->hits_count && s->hits[i + n].order == s->hits[i].order;)
            n++;
        hits_add(s, &s->hits[i], n);
    }
    first_add(s);
    last_add(s);
    while (p->lines_count < LINES_MAX) {
        struct shown *best = NULL;
        for (size_t i = 0; i < s->count; i++) {
            struct shown *c = &s->candidates[i];
            if (c->score > 0 &&
                (c->hit.value != SIZE_MAX || c->first || p->lines_count < 3) &&
                (!best || c->score > best->score ||
                 (c->score >= best->score && c->hit.order > best->hit.order)) &&
                !is_repeated(s, c))
                best = c;
        }
        if (!best)
            break;
        best->sure = best->hit.value != SIZE_MAX && is_sure(s, &best->hit);
        p->lines[p->lines_count++] = *best;
        best->score = 0;
    }
}

/* The other threads that recorded values which the crash used, or that the
 * crashed function has. */
static void others_choose(struct search *s)
{
    struct provenance *p = s->p;
    uint64_t counted = UINT64_MAX; /* a record may hold several values */
    for (size_t i = s->hits_count; i-- > 0;) {
        const struct hit *hit = &s->hits[i];
        const struct value *v = &s->x->values[hit->value];
        size_t k = 0;
        if (!hit->thread || !s->x->thread || hit->weak || hit->before ||
            hit->thread->id == s->x->thread->id || v->weight < WEIGHT_SITE ||
            v->kind == VALUE_NUMBER)
            continue;
        while (k < p->others_count && p->others[k].thread != hit->thread)
            k++;
        if (k == OTHERS_MAX)
            continue;
        if (k == p->others_count)
            p->others[p->others_count++] =
                (struct other){hit->thread, hit->order, 0};
        p->others[k].count += hit->order != counted;
        counted = hit->order;
    }
}

/* ------------------------------------------------------------------ text -- */

void provenance_find(struct explain *x, struct provenance *p)
{
    struct search s = {.x = x, .p = p};
    struct reader *reader = &x->call->reader;
    struct reader_event e;
    *p = (struct provenance){.last = &p->lines[LINES_MAX]};
    if (!x->call->source.registry)
        return;
    reader_select(reader, &x->call->selection);
    call_take(x->call);
    reader_count(reader);
    for (; reader_next(reader, &e); p->records++) {
        const struct hit hit = {.order = e.event.order,
                                .caller = e.event.caller,
                                .value = SIZE_MAX,
                                .format = event_first(&s, &e),
                                .thread = e.thread};
        event_match(&s, &e, hit);
        event_last(&s, hit);
    }
    lines_choose(&s);
    others_choose(&s);
    for (reader_rewind(reader); reader_next(reader, &e);)
        for (size_t i = 0, size; i < LINES_MAX + LAST_MAX; i++) {
            struct shown *of = &p->lines[i];
            const char *line;
            if (of->hit.order != e.event.order || of->line)
                continue;
            line = reader_line(reader, &e, NULL, &size);
            of->line =
                need(strndup(line, size - (size && line[size - 1] == '\n')));
        }
    ids_free(&s.formats);
    free(s.all);
    free(s.hits);
    free(s.candidates);
}

void provenance_free(struct provenance *p)
{
    for (size_t i = 0; i < LINES_MAX + LAST_MAX; i++)
        free(p->lines[i].line);
}
