/* explain.c - recorder explain: why did a program crash. */
/* SPDX-License-Identifier: MIT */
#include "explain.h"
#include "print.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ text -- */

static void record_text(const struct shown *shown)
{
    printf("  %s", shown->line ? shown->line : "");
}

static void lines_text(const char *title, const struct shown *of, size_t count)
{
    if (count)
        printf("\n%s\n", title);
    for (size_t i = 0; i < count; i++) {
        record_text(&of[i]);
        putchar('\n');
    }
}

/* "  <- s (rdi), freed heap memory", "perhaps i". */
static void value_text(const struct explain *x, const struct shown *shown)
{
    const struct value *v;
    if (shown->value == SIZE_MAX) {
        puts(shown->first ? "   <- perhaps: of a kind that never came before"
                          : "   <- perhaps: one of the thread's last records");
        return;
    }
    v = &x->values[shown->value];
    printf("   <- %s%s", shown->sure ? "" : "perhaps ",
           shown->before                              ? "the block before "
           : shown->exact || v->kind != VALUE_ADDRESS ? ""
                                                      : "the block of ");
    show_text(stdout, v->name);
    if (v->kind == VALUE_ADDRESS)
        printf(" = 0x%llx", (unsigned long long)v->word);
    if (v->block.freed)
        printf(", freed");
    putchar('\n');
}

static void provenance_text(const struct explain *x, const struct provenance *p)
{
    bool has = false;
    for (size_t i = 0; i < p->lines_count; i++)
        has |= p->lines[i].value != SIZE_MAX;
    if (!p->records)
        return;
    puts(has ? "\nRecords with values of the crash, the most telling first:"
             : "\nNo record holds a value of the crash: a record of the "
               "pointers in its function would tell more. The last ones:");
    for (size_t i = 0; i < p->lines_count; i++) {
        record_text(&p->lines[i]);
        value_text(x, &p->lines[i]);
    }
    for (size_t i = 0; i < p->others_count; i++) {
        const struct other *o = &p->others[i];
        printf("%s T%u ", i ? "," : "Other threads with them:",
               (unsigned)o->thread->number);
        show_text(stdout, o->thread->name);
        printf(" (%llu, last %llu)", (unsigned long long)o->count,
               (unsigned long long)o->order);
    }
    if (p->others_count)
        putchar('\n');
}

static void all_text(struct explain *x, const struct provenance *p)
{
    char ending[1024], holds[1024];
    ending_text(x, ending);
    show_text(stdout, call_program(x->call));
    printf(": ");
    show_text(stdout, ending);
    putchar('\n');
    if (x->thread) {
        size_t which = (size_t)(x->thread - x->threads.all);
        show_holds(&x->threads, which, holds);
        printf("thread ");
        show_threads(stdout, &x->threads, &which, 1);
        show_text(stdout, holds);
        putchar('\n');
        stack_text(stdout, x);
    }
    provenance_text(x, p);
    lines_text("Last records of the thread:", p->last, p->last_count);
    lines_text("Records of a kind that never came before:", p->new,
               p->new_count);
    if (x->threads.cycles_count)
        putchar('\n');
    show_deadlocks(stdout, &x->threads);
}

/* ------------------------------------------------------------------ JSON -- */

static void shown_json(const char *name, const struct explain *x,
                       const struct shown *of, size_t count)
{
    printf(",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        printf("%s{\"order\":%llu,\"line\":", i ? "," : "",
               (unsigned long long)of[i].order);
        json_text(stdout, of[i].line);
        if (x) {
            const struct value none = {.name = ""}, *v = &none;
            if (of[i].value != SIZE_MAX)
                v = &x->values[of[i].value];
            json_member(stdout, "value", v->name);
            printf(",\"word\":\"0x%llx\",\"sure\":%s,\"exact\":%s,"
                   "\"freed\":%s,\"records\":%llu",
                   (unsigned long long)v->word, json_bool(of[i].sure),
                   json_bool(of[i].exact), json_bool(v->block.freed),
                   (unsigned long long)of[i].count);
        }
        putchar('}');
    }
    putchar(']');
}

static void frames_json(struct explain *x)
{
    const char *between = "";
    char name[256];
    printf(",\"thread\":%d,\"stack\":[", (int)x->thread->id);
    for (unsigned i = x->first; i < x->thread->frames_count; i++)
        for (const struct place *p =
                 place_of(&x->threads, x->thread->frames[i]);
             p; p = p->outer) {
            show_function(p, name);
            printf("%s{\"address\":\"0x%llx\",\"function\":", between,
                   (unsigned long long)p->address);
            json_text(stdout, name);
            json_member(stdout, "file", p->file);
            printf(",\"line\":%d}", p->line);
            between = ",";
        }
    printf("],\"variables\":{");
    for (size_t i = 0; i < x->variables_count; i++) {
        const struct variable *v = &x->variables[i];
        fputs(i ? "," : "", stdout);
        json_text(stdout, v->name);
        if (v->known)
            printf(":\"0x%llx\"", (unsigned long long)v->value);
        else
            printf(":null");
    }
    putchar('}');
}

static void all_json(struct explain *x, const struct provenance *p)
{
    char ending[1024];
    ending_text(x, ending);
    printf("{\"ended\":");
    json_text(stdout, ending);
    printf(",\"signal\":%d,\"code\":%d,\"address\":", x->signal, x->code);
    if (x->has_address)
        printf("\"0x%llx\"", (unsigned long long)x->address);
    else
        printf("null");
    if (x->thread)
        frames_json(x);
    shown_json("provenance", x, p->lines, p->lines_count);
    shown_json("last", NULL, p->last, p->last_count);
    shown_json("new", NULL, p->new, p->new_count);
    puts("}");
}

/* ------------------------------------------------------------------ verb -- */

static int run(struct call *call)
{
    static struct explain x;
    struct provenance p;
    x = (struct explain){.call = call};
    if (!call_option(call, 'j') && call->arguments_count &&
        incident_show(call->arguments[0]))
        return 0;
    explain_open(&x);
    provenance_find(&x, &p);
    if (call_option(call, 'j'))
        all_json(&x, &p);
    else
        all_text(&x, &p);
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
        "are shown.",
    .rows = rows,
    .selects = true,
    .unprepared = true,
    .run = run};
