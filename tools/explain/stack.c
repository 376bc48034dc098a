/* stack.c - the crash that a source holds, and the lines of its stack. */
/* SPDX-License-Identifier: MIT */
#include "explain.h"
#include "watch.h"

enum { STACK_MAX = 8, VARIABLES_SHOWN = 8 };

/* ------------------------------------------------------------------ open -- */

/* Finds the thread of a recording that crashed. Null, or what is wrong. */
static const char *recording_threads(struct call *call, struct threads *threads)
{
    const char *wrong = threads_begin(threads, &call->source);
    if (!wrong)
        wrong = threads->machine
                    ? core_threads(threads)
                    : "is of a processor whose stacks are not known here";
    for (size_t i = 0; i < threads->count; i++)
        threads_walk(threads, &threads->all[i]);
    threads_sort(threads);
    threads_join(threads);
    if (wrong)
        present_close(threads);
    else if (call->source.registry)
        show_numbers(threads, &call->reader);
    return wrong;
}

static bool is_crashed_recording(const struct call *call)
{
    return call->source.memory->stale_order && call->source.crashed;
}

/* Reads the waits of a recording without a crash. Ends the command if it has
 * none, or if the program exited, and not in a deadlock. */
static void waits_open(struct explain *x)
{
    const char *kind = NULL;
    int status;
    char *ended = ended_text(x->call, &kind, &status);
    bool has = threads_open(&x->threads, &x->call->source, &x->call->reader,
                            false) == NULL &&
               x->threads.recorded;
    if (has)
        crash_hung(x);
    if (!has || (kind && strcmp(kind, "exit") == 0 && !x->hung))
        fail(x->call,
             "holds no crash: %s; recorder dump --last 20 shows its last "
             "records",
             ended ? ended : "the end of its program is not in it");
    snprintf(x->verdict + strlen(x->verdict),
             sizeof x->verdict - strlen(x->verdict), "%sno crash: %s",
             *x->verdict ? ", " : "",
             ended ? ended : "the end is not in the recording");
    x->hung = 0;
    free(ended);
}

void explain_open(struct explain *x)
{
    const char *wrong;
    const struct source *source = &x->call->source;
    call_open(x->call, 0);
    text_modules(x->call);
    if (source->memory->stale_order && !source->crashed && !source->half_made) {
        waits_open(x);
        return;
    }
    if (source->pid)
        x->hung = watch_once(x->call, x->verdict);
    if (!is_crashed_recording(x->call))
        show_open(x->call, &x->threads, strstr(x->verdict, "SPIN") != NULL);
    else if ((wrong = recording_threads(x->call, &x->threads)) != NULL)
        fail(x->call, "%s", wrong);
    crash_find(x);
}

void explain_close(struct explain *x)
{
    for (size_t i = 0; i < x->values_count; i++)
        free(x->values[i].text);
    free(x->values);
    threads_close(&x->threads);
}

char *explain_brief(struct call *call, bool stack)
{
    static struct explain x;
    const struct place *site;
    char *ending, *text;
    size_t size;
    FILE *to;
    x = (struct explain){.call = call};
    if (!is_crashed_recording(call) ||
        recording_threads(call, &x.threads) != NULL)
        return NULL;
    crash_find(&x);
    to = need(open_memstream(&text, &size));
    ending = ending_text(&x);
    text_put(to, stack ? "CRASH %s" : "%s", ending);
    free(ending);
    if (x.thread) {
        size_t which = (size_t)(x.thread - x.threads.all);
        fputs("; thread ", to);
        show_threads(to, &x.threads, &which, 1);
    }
    if (stack) {
        putc('\n', to);
        if (x.thread)
            stack_text(to, &x);
    } else if (x.thread && x.site < x.thread->frames_count &&
               (site = place_of(&x.threads, x.thread->frames[x.site]))) {
        fputs(" at ", to);
        show_place(to, site);
    }
    explain_close(&x);
    need_done(fclose(to) == 0);
    return text;
}

/* ----------------------------------------------------------------- lines -- */

/* False where a recording may lack the memory: the file of the program has the
 * value of its start. */
static bool is_stored(const struct explain *x, uint64_t at)
{
    struct memory *m = x->memory;
    return !m->stale_order || !module_at(x->threads.source, at) ||
           (m->constant && m->constant(m, at));
}

/* Prints the value of a variable, and its text: of its target, or of the bytes of
 * an address that is none. False, and prints nothing: it has neither. */
static bool value_show(FILE *to, const struct explain *x, const char *before,
                       const char *name, const struct variable *v)
{
    enum { SHOWN = 40 };
    char text[VARIABLE_TEXT_MAX];
    bool has =
        (v->is_pointer && v->known && crash_letters(x, v->value, text)) ||
        (is_stored(x, v->is_pointer ? v->value : v->address) &&
         variable_text(x->memory, v, text));
    if (!v->known && !has)
        return false;
    text_put(to, "%s%s", before, name);
    if (v->known)
        fprintf(to,
                v->is_pointer  ? "=0x%llx"
                : v->is_signed ? "=%lld"
                               : "=%llu",
                (unsigned long long)v->value);
    if (!has)
        return true;
    if (strlen(text) > SHOWN)
        strcpy(text + text_cut(text, strlen(text), SHOWN), "...");
    text_put(to, v->known ? " \"%s\"" : "=\"%s\"", text);
    return true;
}

/* True for a member inside of a container: it has the name of the container, or
 * two of them have one name. */
static bool is_inside(const struct variable *v, const struct variable *members,
                      size_t count, size_t i)
{
    bool is = strcmp(members[i].name, v->name) == 0;
    for (size_t k = 0; k < count; k++)
        is |= k != i && strcmp(members[k].name, members[i].name) == 0;
    return is;
}

/* Prints a variable, and the first members of a pointer's target: " s=0x1234
 * {id=7 ...}". */
static void variable_show(FILE *to, const struct explain *x,
                          const struct variable *v)
{
    enum { MEMBERS_SHOWN = 4 };
    static struct variable members[VARIABLES_MAX];
    size_t count = 0, shown = 0, name = strlen(v->name);
    if (strncmp(v->name, "__", 2) == 0 || /* the compiler's own */
        !value_show(to, x, " ", v->name, v))
        return;
    if (v->is_pointer && is_stored(x, v->value))
        count = variable_members(x->memory, v, members);
    for (size_t i = 0; i < count && shown <= MEMBERS_SHOWN; i++) {
        const char *of = members[i].name;
        if (strncmp(of, v->name, name) == 0 && of[name] == '-')
            of += name + 2;
        if (*of == '_' || is_inside(v, members, count, i))
            continue; /* of a library, or the compiler's own */
        if (shown == MEMBERS_SHOWN)
            fputs(" ...", to);
        shown += shown == MEMBERS_SHOWN ||
                 value_show(to, x, shown ? " " : " {", of, &members[i]);
    }
    if (shown)
        putc('}', to);
}

void stack_text(FILE *to, struct explain *x)
{
    unsigned shown = 0;
    unsigned i = x->site > x->first + 1 ? x->site - 1 : x->first;
    for (; i < x->thread->frames_count && shown < STACK_MAX; i++) {
        unsigned inlined = 0;
        for (const struct place *p =
                 place_of(&x->threads, x->thread->frames[i]);
             p; p = p->outer, inlined++) {
            fputs("  ", to);
            show_place(to, p);
            for (size_t k = 0;
                 i == x->site && k < x->statics_at && k < VARIABLES_SHOWN; k++)
                if (x->variables[k].inlined == inlined)
                    variable_show(to, x, &x->variables[k]);
            putc('\n', to);
            shown++;
        }
    }
    if (!x->thread->whole || shown >= STACK_MAX)
        fputs("  ...\n", to);
}
