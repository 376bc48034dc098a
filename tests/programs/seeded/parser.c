/* parser.c - a language of expressions: symbols, nodes and their values. */
/* SPDX-License-Identifier: MIT */
#include "seeded.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

RECORDER(lex, 256, "Tokens")
RECORDER(parse, 256, "Nodes and symbols")

typedef struct Node Node;
typedef struct Symbol Symbol;
enum kind { NUMBER, NAME, BINARY, CALL, KINDS };
struct Node {
    enum kind kind;
    int line;
    union {
        long number;
        struct {
            Node *left, *right;
            char op;
        } pair;
        struct {
            char *text;
            Symbol *symbol;
        } name;
    } u;
};
struct Symbol {
    Symbol *next;
    char name[24];
    long value;
    int uses, type;
};
typedef struct {
    char *text;
    size_t used, size;
} Buffer;
typedef struct {
    const char *source, *at;
    int line, depth;
    Buffer out;
} Parser;

static Symbol *symbols;
static volatile long result;
static const char *const kind_names[] = {"number", "name", "binary", "call"};

static Symbol *lookup(const char *name)
{
    Symbol *s = symbols;
    while (s && strcmp(s->name, name) != 0)
        s = s->next;
    return s;
}

static Symbol *define(const char *name, long value)
{
    Symbol *s = calloc(1, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    s->value = value;
    s->next = symbols;
    symbols = s;
    note(parse, "define %s value=%ld", name, value);
    return s;
}

static Node *node_new(Parser *p, enum kind kind)
{
    Node *n = malloc(sizeof *n);
    n->kind = kind;
    n->line = p->line;
    note(parse, "node=%p kind=%d line=%d", RECORDER_ADDRESS(n), (int)kind,
         p->line);
    return n;
}

static Node *number_new(Parser *p, long number)
{
    Node *n = node_new(p, NUMBER);
    n->u.number = number;
    return n;
}

static Node *binary_new(Parser *p, char op, Node *left, Node *right)
{
    Node *n = node_new(p, BINARY);
    n->u.pair.op = op;
    n->u.pair.left = left;
    n->u.pair.right = right;
    return n;
}

static long eval(const Node *n)
{
    switch (n->kind) {
    case NUMBER: return n->u.number;
    case NAME: return n->u.name.symbol->value;
    case BINARY:
        switch (n->u.pair.op) {
        case '+': return eval(n->u.pair.left) + eval(n->u.pair.right);
        case '*': return eval(n->u.pair.left) * eval(n->u.pair.right);
        default: return eval(n->u.pair.left) / eval(n->u.pair.right);
        }
    default: __builtin_trap();
    }
}

static void tokens(Parser *p)
{
    for (int i = 0, n = pick(30, 80); i < n; i++) {
        record(lex, "token %c at=%d", 'a' + i % 26, i);
        if (i % 9 == 0)
            p->line++;
        if (i % 5 == 0)
            eval(binary_new(p, '+', number_new(p, i), number_new(p, 2)));
    }
}

/* ----------------------------------------------------------------- kinds -- */

static long use_symbol(Parser *p, const char *name)
{
    Symbol *s = lookup(name);
    p->depth++;
    s->uses++;
    return s->value;
}

static void undefine(const char *name)
{
    Symbol **s = &symbols, *gone;
    while (strcmp((*s)->name, name) != 0)
        s = &(*s)->next;
    gone = *s;
    *s = gone->next;
    cause(parse, "undefine %s", name);
    memset(gone, 0xee, sizeof *gone);
    free(gone);
}
static long call_name(const Node *n)
{
    long before = result;
    return n->u.name.symbol->next->value + before;
}

static void node_free(Node *n)
{
    if (n->kind == BINARY) {
        node_free(n->u.pair.left);
        node_free(n->u.pair.right);
    }
    note(parse, "free node=%p", RECORDER_ADDRESS(n));
    free(n);
}

static void emit(Parser *p, const char *text, size_t size)
{
    cause(parse, "emit out=%p size=%zu", RECORDER_ADDRESS(p->out.text), size);
    memcpy(p->out.text + p->out.used, text, size);
    p->out.used += size;
}

static int word(Parser *p, const char *from)
{
    char name[32];
    char *to = name;
    while (isalpha((unsigned char)*from))
        *to++ = *from++;
    *to = '\0';
    return (int)strlen(name) + p->line;
}

static const char *describe(const Node *n)
{
    const char *name = kind_names[n->kind];
    result += name[0];
    return name;
}

static void *reload(void *argument)
{
    Parser *p = argument;
    cause(lex, "reload source=%p", RECORDER_ADDRESS(p->source));
    munmap((void *)(uintptr_t)p->source, 4096);
    return NULL;
}
static int peek(const Parser *p)
{
    return p->at[1];
}

static long nest(Parser *p, int depth)
{
    char saved[120];
    memset(saved, depth, sizeof saved);
    p->depth = depth;
    if (depth % 4000 == 0)
        note(lex, "open depth=%d", depth);
    return nest(p, depth + 1) + saved[3];
}

static void finish(Parser *p)
{
    assert(p->depth == 0 && "unbalanced");
    result++;
}

static void crash(Parser *p)
{
    Node *one = number_new(p, 1), *two = number_new(p, 2), *both;
    char name[24];
    snprintf(name, sizeof name, "var%d", pick(0, 15));
    if (is_kind("null_member")) {
        snprintf(name, sizeof name, "missing%d", pick(1, 99));
        cause(parse, "lookup %s: not found", name);
        result += use_symbol(p, name);
    } else if (is_kind("use_after_free")) {
        both = node_new(p, NAME);
        both->u.name.text = strdup(name);
        both->u.name.symbol = lookup(name);
        undefine(name);
        result += call_name(both);
    } else if (is_kind("double_free")) {
        both = binary_new(p, '+', one, two);
        cause(parse, "fold left=%p", RECORDER_ADDRESS(one));
        free(one);
        node_free(both);
    } else if (is_kind("heap_overflow")) {
        char text[300];
        memset(text, 'e', sizeof text);
        p->out.size = 128;
        p->out.text = malloc(p->out.size);
        two->u.name.text = malloc(60);
        one = number_new(p, 5);
        emit(p, text, (size_t)pick(230, 280));
        tokens(p);
        free(two->u.name.text);
        result += eval(one);
    } else if (is_kind("stack_overflow")) {
        char text[160];
        memset(text, 'k', sizeof text);
        text[pick(80, 159)] = '\0';
        cause(lex, "word %s line=%d", text, p->line);
        result += word(p, text);
    } else if (is_kind("uninitialised")) {
        memset(two, 0x7c, sizeof *two);
        free(two);
        both = node_new(p, BINARY);
        cause(parse, "operator + of node=%p", RECORDER_ADDRESS(both));
        both->u.pair.op = '+';
        both->u.pair.left = one;
        result += eval(both);
    } else if (is_kind("wrong_index")) {
        one->kind = (enum kind)pick(50000000, 90000000);
        cause(parse, "cast node=%p kind=%d", RECORDER_ADDRESS(one),
              (int)one->kind);
        result += *describe(one);
    } else if (is_kind("bad_cast")) {
        one->u.number = 0x1122334455;
        both = binary_new(p, '*', two, one);
        cause(parse, "number node=%p is=%ld", RECORDER_ADDRESS(one),
              one->u.number);
        result += eval(both->u.pair.right->u.pair.left);
    } else if (is_kind("race")) {
        pthread_t thread;
        p->source = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        p->at = p->source + pick(10, 3000);
        pthread_create(&thread, NULL, reload, p);
        pthread_join(thread, NULL);
        result += peek(p);
    } else if (is_kind("stack_exhaustion")) {
        oracle("lex: open depth=");
        result += nest(p, 1);
    } else if (is_kind("division")) {
        cause(parse, "set %s value=%ld", name, 0L);
        both = node_new(p, NAME);
        both->u.name.symbol = lookup(name);
        lookup(name)->value = 0;
        result += eval(binary_new(p, '/', one, both));
    } else if (is_kind("assertion")) {
        p->depth = pick(2, 9);
        cause(lex, "close depth=%d at=%d", p->depth, 77);
        finish(p);
    } else if (is_kind("libc_abort")) {
        p->out.text = malloc(100);
        cause(parse, "trim out=%p by=%d", RECORDER_ADDRESS(p->out.text), 4);
        p->out.text += 4;
        p->out.text = realloc(p->out.text, 400);
    } else if (is_kind("illegal")) {
        one->kind = (enum kind)pick(7, 70);
        cause(parse, "macro node=%p kind=%d", RECORDER_ADDRESS(one),
              (int)one->kind);
        result += eval(binary_new(p, '+', two, one));
    } else if (is_kind("bus")) {
        int fd = open("input.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || ftruncate(fd, 16384))
            exit(1);
        p->at = p->source = mmap(NULL, 16384, PROT_READ, MAP_SHARED, fd, 0);
        p->at += 9000;
        note(lex, "source=%p bytes=%d", RECORDER_ADDRESS(p->source), 16384);
        cause(lex, "truncate source=%p to=%d", RECORDER_ADDRESS(p->source),
              4096);
        if (ftruncate(fd, 4096))
            exit(1);
        result += peek(p);
    }
}

int main(int argc, char **argv)
{
    Parser p = {0};
    seeded_begin(argc, argv);
    for (int i = 0; i < 16; i++) {
        char name[24];
        snprintf(name, sizeof name, "var%d", i);
        record(lex, "scratch=%p", RECORDER_ADDRESS(realloc(NULL, 56)));
        define(name, 10 + i);
    }
    tokens(&p);
    crash(&p);
    tokens(&p);
    return 0;
}
