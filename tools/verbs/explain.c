/* explain.c - recorder explain: why did a program crash. */
/* SPDX-License-Identifier: MIT */
#include "explain.h"
#include "watch.h"

#include <sys/wait.h>

/* ------------------------------------------------------------------ text -- */

/* "  <- s (rdi), freed heap memory", "perhaps i". */
static void value_text(FILE *to, const struct explain *x,
                       const struct shown *shown)
{
    const struct hit *hit = &shown->hit;
    const struct value *v;
    if (hit->value == SIZE_MAX) {
        fprintf(to, "   <- perhaps: %s\n",
                shown->first ? "of a kind that never came before"
                             : "one of the thread's last records");
        return;
    }
    v = &x->values[hit->value];
    text_put(to, "   <- %s%s%s", shown->sure ? "" : "perhaps ",
             hit->before                              ? "the block before "
             : hit->exact || v->kind != VALUE_ADDRESS ? ""
                                                      : "the block of ",
             v->name);
    if (v->kind == VALUE_ADDRESS)
        fprintf(to, " = 0x%" PRIx64, v->word);
    if (v->block.freed)
        fprintf(to, ", freed");
    putc('\n', to);
}

static void provenance_text(FILE *to, const struct explain *x,
                            const struct provenance *p)
{
    bool has = false;
    for (size_t i = 0; i < p->lines_count; i++)
        has |= p->lines[i].hit.value != SIZE_MAX;
    if (!p->records || !x->thread)
        return;
    fprintf(to,
            has ? "\nRecords with values of the %s, the most telling first:\n"
                : "\nNo record holds a value of the %s: a record of the "
                  "pointers in its function would tell more. The last ones:\n",
            x->hung ? "thread" : "crash");
    for (size_t i = 0; i < p->lines_count; i++) {
        fprintf(to, "  %s", p->lines[i].line ? p->lines[i].line : "");
        value_text(to, x, &p->lines[i]);
    }
    for (size_t i = 0; i < p->others_count; i++) {
        const struct other *o = &p->others[i];
        text_put(to, "%s T%u %s (%" PRIu64 ", last %" PRIu64 ")",
                 i ? "," : "Other threads with them:", o->thread->number,
                 o->thread->name, o->count, o->order);
    }
    if (p->others_count)
        putc('\n', to);
}

static void all_text(FILE *to, struct explain *x, const struct provenance *p)
{
    char *ending = ending_text(x), holds[1024];
    text_put(to, "%s: %s\n", call_program(x->call), ending);
    free(ending);
    if (x->thread) {
        size_t which = (size_t)(x->thread - x->threads.all);
        show_holds(&x->threads, which, holds);
        fprintf(to, "thread ");
        show_threads(to, &x->threads, &which, 1);
        text_put(to, "%s\n", holds);
        stack_text(to, x);
    }
    provenance_text(to, x, p);
    for (size_t i = 0; i < p->last_count; i++)
        fprintf(to, "%s  %s\n",
                i           ? ""
                : x->thread ? "\nLast records of the thread:\n"
                            : "\nLast records:\n",
                p->last[i].line ? p->last[i].line : "");
    text_last(to);
    if (x->threads.cycles_count || !x->thread)
        putc('\n', to);
    if (x->thread)
        show_deadlocks(to, &x->threads);
    else
        show_list(to, &x->threads, NULL);
}

/* ------------------------------------------------------------------ JSON -- */

static void shown_json(const char *name, const struct explain *x,
                       const struct shown *of, size_t count)
{
    printf(",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", stdout);
        json_put(stdout, "{'order':%" PRIu64 ",'line':%s", of[i].hit.order,
                 of[i].line);
        if (x) {
            const struct value none = {.name = ""}, *v = &none;
            if (of[i].hit.value != SIZE_MAX)
                v = &x->values[of[i].hit.value];
            json_put(stdout,
                     ",'value':%s,'word':'0x%" PRIx64
                     "','sure':%hhd,'exact':%hhd,"
                     "'freed':%hhd,'records':%" PRIu64,
                     v->name, v->word, of[i].sure, of[i].hit.exact,
                     v->block.freed, v->records);
        }
        putchar('}');
    }
    putchar(']');
}

static void frames_json(struct explain *x)
{
    printf(",\"thread\":%d,\"stack\":[", (int)x->thread->id);
    show_frames_json(&x->threads, x->thread->frames, x->first,
                     x->thread->frames_count);
    printf("],\"variables\":{");
    for (size_t i = 0; i < x->variables_count; i++) {
        const struct variable *v = &x->variables[i];
        fputs(i ? "," : "", stdout);
        json_put(stdout, v->known ? "%s:'0x%" PRIx64 "'" : "%s:null", v->name,
                 v->value);
    }
    putchar('}');
}

/* The threads of deadlocks; if none is in question, all threads. */
static void waits_json(struct explain *x)
{
    bool has = false;
    fputs(",\"waits\":[", stdout);
    for (size_t i = 0; i < x->threads.count; i++) {
        const struct thread *t = &x->threads.all[i];
        if (x->thread && !t->in_deadlock)
            continue;
        fputs(has ? "," : "", stdout);
        has = true;
        show_thread_json(&x->threads, t);
        fputs(",\"stack\":[", stdout);
        show_frames_json(&x->threads, t->frames, 0, t->frames_count);
        fputs("]}", stdout);
    }
    putchar(']');
}

static void all_json(struct explain *x, const struct provenance *p)
{
    char *ending = ending_text(x);
    json_put(stdout, "{'ended':%s,'signal':%d,'code':%d,'address':", ending,
             x->signal, x->code);
    free(ending);
    json_put(stdout, x->has_address ? "'0x%" PRIx64 "'" : "null", x->address);
    if (x->exception)
        printf(",\"exception\":\"0x%x\"", x->exception);
    if (x->thread)
        frames_json(x);
    shown_json("provenance", x, p->lines, p->lines_count);
    shown_json("last", NULL, p->last, p->last_count);
    waits_json(x);
    puts("}");
}

/* ------------------------------------------------------------------ verb -- */

static void answer(struct explain *x, const struct provenance *p)
{
    enum { ANSWER_MAX = 30 };
    char *text, *end;
    size_t size;
    unsigned lines = 0;
    FILE *to = need(open_memstream(&text, &size));
    all_text(to, x, p);
    fclose(to);
    for (end = text; *end && lines < ANSWER_MAX - 1; lines++)
        end += strcspn(end, "\n") + 1;
    if (!*end || !end[strcspn(end, "\n") + 1]) /* one line more is the last */
        end = NULL;
    printf("%.*s%s", end ? (int)(end - text) : (int)size, text,
           end ? "...\n" : "");
    free(text);
}

/* Fetches the core file of "coredump:PID" from systemd, into a file without a
 * name, which the source of the call is then. */
static void coredump_take(struct call *call)
{
    static char path[64];
    const char *pid = call->arguments[0] + 9;
    const char *arguments[] = {"--quiet", "dump", pid, NULL};
    FILE *core = need(tmpfile());
    int from, status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fileno(core));
    if (waitpid(
            watch_spawn("coredumpctl", arguments, -1, path, false, 0, &from),
            &status, 0) < 0 ||
        fseek(core, 0, SEEK_END) != 0 || ftell(core) <= 0)
        fail(NULL, "%s: coredumpctl dump %s has no core file",
             call->arguments[0], pid);
    call->arguments[0] = path;
}

static int run(struct call *call)
{
    static struct explain x;
    struct provenance p;
    const char *named = call->arguments_count ? call->arguments[0] : NULL;
    x = (struct explain){.call = call};
    if (named && strncmp(named, "coredump:", 9) == 0)
        coredump_take(call);
    else if (named)
        text_take(call);
    if (!call_option(call, 'j') && call->arguments_count &&
        incident_show(call->arguments[0]))
        return 0;
    explain_open(&x);
    if (named && named != call->arguments[0])
        call->name = named;
    provenance_find(&x, &p);
    if (call_option(call, 'j'))
        all_json(&x, &p);
    else
        answer(&x, &p);
    call_warn_missing(call);
    provenance_free(&p);
    explain_close(&x);
    return 0;
}

static const struct option_row rows[] = {{'j', "json", NULL, "one JSON object"},
                                         {0, NULL, NULL, NULL}};

const struct verb verb_explain = {
    .calls = true,
    .name = "explain",
    .arguments = "CORE",
    .summary = "how a program crashed, and the records that hold the cause",
    .help =
        "Shows the signal in words, the stack of the crashed thread with its "
        "variables, and the records whose arguments hold a value of the crash: "
        "of a register, a variable, or a member of its target. Records of "
        "freed memory or of a value that the faulting instruction used come "
        "first, if the type or the name agrees, too. Others are \"perhaps\": "
        "another object may have had the address before. A record of a block's "
        "start holds each address in the block.\n\n"
        "Of a program without recorders, the signal, the stack and deadlocks "
        "are shown. A PID is looked at for up to 4 s: whether it hangs, with "
        "the thread that does. coredump:PID asks coredumpctl. A log with the "
        "lines of a crash has its stack; --executable names a moved program.",
    .for_people = true,
    .rows = rows,
    .selects = true,
    .unprepared = true,
    .run = run};
