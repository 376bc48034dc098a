/* stacks.c - the stack at a call: unwound once, then known by comparison. */
/* SPDX-License-Identifier: MIT */
/*
   An unwound stack is kept with the place of each return address, counted from
   the stack pointer at the program's call. At the next call from there, the
   words in these places are compared, upwards: if all are equal up to a frame,
   that frame has the same size as then, so the next place is right. A function
   that calls alloca() has frames of many sizes, which may contain stale return
   addresses. It has a frame pointer, which is compared, too, if FP_REGISTER is
   known; elsewhere a stale word may be mistaken for the return address.

   In code without tables only the call is known. There the stack itself is
   recorded once, with the registers (snapshot.h), and walked by the reader. A
   stack counts as the same if it is as deep and has the same addresses of code.

   The stacks are known while call_stack has room: a record that is evicted
   would leave its id without a meaning.
*/
#include "libc.h"
#include "run.h"

static bool is_code(uintptr_t word);
#define SNAPSHOT_IS_CODE is_code
#include "snapshot.h"

#include <link.h>
#include <unwind.h>

enum {
    FRAMES = 48,        /* of a stack that are kept */
    FRAMES_RECORD = 10, /* in a record of 12 words */
    SITES = 4096,
    STACKS = 2048,
    CALLERS = 512,      /* lists of calls to wrappers of locks */
    CALLERS_DEPTH = 6,
    CALLERS_FIRST = 2 * STACKS,
    POOL = STACKS * 24, /* words for return addresses and their places */
    MODULES = 128,
    VARIANTS = 4,      /* of places, of one and the same stack */
    ROOM = 8192 - 512, /* slots of call_stack; a few records may be under way */
    UNWINDER = 8192,   /* bytes of stack that the unwinder may need */
    SNAPSHOT = 4096,   /* bytes of a stack that are recorded */
    SNAPSHOT_SLOTS = 3 * (2 + SNAPSHOT / (int)sizeof(void *) / 10),
    CODES = 32 /* pieces of code that words of a stack are looked for in */
};

struct stack {
    struct stack *next; /* of the same hash of the site */
    uintptr_t id;
    unsigned count;
    const uintptr_t *pcs;
    const uint32_t *places; /* of each pc, in bytes above the call */
    uintptr_t room, words;  /* of a snapshot: its depth, and a hash; or 0 */
};
static struct stack stacks[STACKS];
static struct stack *sites[SITES];
static uintptr_t pool[POOL];
static uint64_t callers[CALLERS];
static uintptr_t stacks_count, pool_used, slots_used;
/* Can a wait unwind? It must not take the loader's lock: a thread in dlopen()
 * whose constructor waits for our lock would wait for us. */
static bool unwinds;

/* The library itself, as the linker knows it. */
extern const char __ehdr_start[] RECORDER_HIDDEN_, etext[] RECORDER_HIDDEN_;
static bool is_own(uintptr_t pc)
{
    return pc - (uintptr_t)__ehdr_start <
           (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

static bool is_full(void)
{
    return recorder_get_(&slots_used) >= ROOM ||
           recorder_get_(&stacks_count) >= STACKS ||
           recorder_get_(&pool_used) + 2 * FRAMES > POOL;
}

static uint32_t site_hash(uintptr_t site)
{
    return (uint32_t)((site * 0x9E3779B97F4A7C15ull) >> 52);
}

/* --------------------------------------------------------------- modules -- */

#if __GLIBC_PREREQ(2, 35)
static __typeof__(&_dl_find_object) find_object;

/* The modules that call_stack has: a recording has by itself only modules that
 * were loaded when it began. */
static uintptr_t modules[MODULES]; /* their hashes; 0: free */

enum { PATH_BYTES = 512 };

/* Copies a module's build-id, as the linker wrote it; its size, 0: none. The
 * head of the file and the notes are in its first piece, if anywhere. */
static unsigned module_id(const struct dl_find_object *module, uintptr_t to[6])
{
    static uintptr_t readable; /* a hash of the last module that could be read;
                                  whether one can is a system call */
    const char *start = module->dlfo_map_start;
    uintptr_t bytes = (uintptr_t)module->dlfo_map_end - (uintptr_t)start;
    const ElfW(Ehdr) *head = (const void *)start;
    const ElfW(Phdr) * all, *note;
    const uintptr_t place = (uintptr_t)start ^ bytes << 20;
    if (bytes < 4096 ||
        (recorder_get_(&readable) != place && !run_word_at(start)))
        return 0;
    recorder_put_(&readable, place);
    if (__builtin_memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_phoff > 4096 - sizeof *all ||
        head->e_phnum > (4096 - head->e_phoff) / sizeof *all)
        return 0;
    all = (const void *)(start + head->e_phoff);
    for (note = all; note < all + head->e_phnum; note++) {
        ElfW(Nhdr) n;
        uintptr_t at = note->p_offset;
        if (note->p_type != PT_NOTE || at > 4096 || note->p_filesz > 4096 - at)
            continue;
        while (at + sizeof n <= note->p_offset + note->p_filesz) {
            __builtin_memcpy(&n, start + at, sizeof n);
            at += sizeof n;
            if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
                n.n_descsz <= 20 && at + 4 + 20 <= 4096) {
                __builtin_memcpy(to, start + at + 4, n.n_descsz);
                return n.n_descsz;
            }
            if (n.n_namesz > 4096 || n.n_descsz > 4096)
                break;
            at += ((n.n_namesz + 3) & ~3u) + ((n.n_descsz + 3) & ~3u);
        }
    }
    return 0;
}

/* The path of a module's file. It may have been opened by one that is relative
 * to the folder in which the program was. */
static const char *module_path(const char *name, char to[PATH_BYTES])
{
    size_t size, at;
    ssize_t got;
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    size = __builtin_strlen(name);
    if (*name == '/' || size > PATH_BYTES / 2)
        return name;
    if (!*name) {
        got = readlink("/proc/self/exe", to, PATH_BYTES - 1);
        to[got < 0 ? 0 : got] = '\0';
        return to;
    }
    if (!getcwd(to, PATH_BYTES / 2 - 2))
        return name;
    at = __builtin_strlen(to);
    to[at] = '/';
    __builtin_memcpy(to + at + 1, name, size + 1);
    return to;
}

/* Another module may get the address of a closed one. */
static void module_record(uintptr_t pc)
{
    static const char format[] = RUN_FORMAT(
        "module", "module %p to %p %s, build-id of %u: %p %p %p %p %p %p");
    struct dl_find_object found;
    char path[PATH_BYTES];
    const char *name;
    uintptr_t id[6] = {0}, key, start;
    unsigned i, bytes;
    if (!find_object || find_object((void *)(pc - 1), &found) != 0)
        return;
    start = (uintptr_t)found.dlfo_map_start;
    bytes = module_id(&found, id);
    key = (start ^ (uintptr_t)found.dlfo_map_end * 31 ^ id[0]) | 1;
    for (i = 0; i < MODULES; i++) {
        uintptr_t seen = 0;
        if (__atomic_compare_exchange_n(&modules[i], &seen, key, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
        if (seen == key)
            return;
    }
    if (i == MODULES)
        return;
    name = found.dlfo_link_map->l_name;
    if (!recorder_get_(&run_sandboxed))
        name = module_path(name, path);
    recorder_add_(&slots_used, 42); /* 1,024 bytes of text, and the record */
    run_record(
        &recorder_for_call_stack, format, pc,
        RUN_WORDS(start, (uintptr_t)found.dlfo_map_end,
                  (uintptr_t)recorder_copy_(&recorder_for_call_stack, name),
                  bytes, id[0], id[1], id[2], id[3], id[4], id[5]),
        3);
}
#else
static void module_record(uintptr_t pc)
{
    (void)pc;
}
#endif

/* Code that was there at the start; the first is the program's, which no other
 * module replaces. */
static struct code {
    uintptr_t start, bytes;
} codes[CODES];
static unsigned codes_count;
static uintptr_t program_known; /* its module is recorded */

void run_stack_module(uintptr_t function)
{
    const bool is_program =
        codes_count && function - codes[0].start < codes[0].bytes;
    if (is_full() || (is_program && recorder_get_(&program_known)))
        return;
    module_record(function + 1);
    if (is_program)
        recorder_put_(&program_known, 1);
}

static int codes_add(struct dl_phdr_info *info, size_t size, void *of)
{
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum && codes_count < CODES; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X)
            codes[codes_count++] =
                (struct code){info->dlpi_addr + p->p_vaddr, p->p_memsz};
    }
    return of != NULL;
}

bool run_in_module(uintptr_t word, bool else_is)
{
#if __GLIBC_PREREQ(2, 35)
    struct dl_find_object found;
    if (find_object)
        return find_object((void *)word, &found) == 0;
#endif
    return else_is;
}
static bool is_code(uintptr_t word)
{
    for (unsigned k = 0; k < codes_count; k++)
        if (word - codes[k].start < codes[k].bytes)
            return true;
    return run_in_module(word, word % sizeof word == 0);
}

/* A hash of the words in a stack that may be return addresses. */
static uintptr_t stack_words(uintptr_t cfa, uintptr_t room)
{
    const uintptr_t *word = (const uintptr_t *)cfa;
    uintptr_t count = (room < SNAPSHOT ? room : SNAPSHOT) / sizeof *word;
    uint64_t hash = 0;
    for (uintptr_t i = 0; i < count; i++)
        for (unsigned k = 0; k < codes_count; k++)
            if (word[i] - codes[k].start < codes[k].bytes)
                hash = run_mix(hash ^ i, word[i]);
    return (uintptr_t)hash | 1;
}

void run_stacks_begin(void)
{
    void *found = run_libc_find("_dl_find_object");
    unwinds = found != NULL;
    dl_iterate_phdr(codes_add, NULL);
#if __GLIBC_PREREQ(2, 35)
    __builtin_memcpy(&find_object, &found, sizeof find_object);
#endif
}

/* The child of fork() begins with empty rings: its stacks get new records. */
void run_stacks_forked(void)
{
    for (uintptr_t i = 0; i < stacks_count && i < STACKS; i++)
        if (stacks[i].count)
            sites[site_hash(stacks[i].pcs[0])] = NULL;
    stacks_count = pool_used = slots_used = program_known = 0;
    __builtin_memset(callers, 0, sizeof callers);
#if __GLIBC_PREREQ(2, 35)
    __builtin_memset(modules, 0, sizeof modules);
#endif
}

/* ---------------------------------------------------------------- unwind -- */

/* DWARF's number of the frame pointer, and where it points, from the return
 * address that its function saved. */
#ifdef __x86_64__
#define FP_REGISTER 6
#define FP_OFFSET -8
#elif defined(__aarch64__)
#define FP_REGISTER 29
#define FP_OFFSET -8
#elif defined(__riscv) && __riscv_xlen == 64
#define FP_REGISTER 8
#define FP_OFFSET 8
#endif

struct walk {
    uintptr_t site, high;  /* high: the end of the thread's stack, or ~0 */
    uintptr_t room, words; /* if a snapshot is needed; or 0 */
    uintptr_t pcs[FRAMES];
    uintptr_t cfas[FRAMES]; /* the stack pointer in that frame */
    uintptr_t fps[FRAMES];  /* its frame pointer, if it has one */
    unsigned count;
    bool whole; /* it reached the end of the thread's stack */
};

/* Returns the stack pointer in a frame. By ARM's tables the unwinder knows no
 * CFA while it only looks. */
static uintptr_t walk_sp(struct _Unwind_Context *context)
{
#ifdef __ARM_EABI_UNWINDER__
    return (uintptr_t)_Unwind_GetGR(context, 13);
#else
    return (uintptr_t)_Unwind_GetCFA(context);
#endif
}

static _Unwind_Reason_Code walk_step(struct _Unwind_Context *context, void *of)
{
    struct walk *walk = of;
    uintptr_t pc = (uintptr_t)_Unwind_GetIP(context);
    uintptr_t cfa = walk_sp(context);
    if (walk->count == 0 && pc != (walk->site & ~(uintptr_t)1) &&
        pc != walk->site)
        return _URC_NO_REASON; /* the library's own frames */
    walk->whole = walk->count == FRAMES || cfa >= walk->high;
    if (walk->whole || pc == 0)
        return _URC_END_OF_STACK;
    if (walk->count && is_own(pc))
        return _URC_NO_REASON; /* between a thread's function and its caller */
    walk->pcs[walk->count] = pc;
#ifdef FP_REGISTER
    walk->fps[walk->count] = (uintptr_t)_Unwind_GetGR(context, FP_REGISTER);
#endif
    walk->cfas[walk->count++] = cfa;
    return _URC_NO_REASON;
}

/* Returns the place of frame i's return address, 0 if it is not found. On
 * x86-64 a call puts it below the caller's stack pointer; elsewhere it is one
 * of the words that the frame below saved, beside its frame pointer or else the
 * highest of that value. */
static uintptr_t walk_place(const struct walk *walk, unsigned i)
{
#ifdef __x86_64__
    return walk->cfas[i] - sizeof(uintptr_t);
#else
    uintptr_t at = walk->cfas[i], low = walk->cfas[i - 1];
#ifdef FP_REGISTER
    uintptr_t by_fp = walk->fps[i - 1] - (uintptr_t)(FP_OFFSET);
    if (by_fp >= low && by_fp < at && by_fp % sizeof by_fp == 0 &&
        *(const uintptr_t *)by_fp == walk->pcs[i])
        return by_fp;
#endif
    while (at > low && at - low >= sizeof at) {
        at -= sizeof at;
        if ((*(const uintptr_t *)at & ~(uintptr_t)1) == walk->pcs[i])
            return at;
    }
    return 0;
#endif
}

/* A frame pointer says where a frame is whose size is not known: the library is
 * built with them, so that the program's is saved below its return address, and
 * each function that has one saves its caller's there. A function without one
 * may use the register for something else: then it is unwound each time. */
enum { HAS_FP = 1 }; /* in a place: the frame below it has one */
static bool is_fp(uintptr_t fp, uintptr_t place)
{
#ifdef FP_REGISTER
    return fp == place + (uintptr_t)(FP_OFFSET);
#else
    (void)fp, (void)place;
    return false;
#endif
}
static uintptr_t fp_below(uintptr_t place)
{
    return *(const uintptr_t *)(place - sizeof place);
}

/* Returns the program's frame pointer at a call, 0 if it is not found. On
 * aarch64 a function saves it anywhere in its frame: their records are a list,
 * which is followed upwards to the function that was called. */
static uintptr_t fp_of_call(struct run_call from)
{
#ifdef __aarch64__
    const uintptr_t *frame = __builtin_frame_address(0), *next;
    for (; (uintptr_t)frame < from.cfa; frame = next) {
        next = (const uintptr_t *)frame[0];
        if (frame[1] == from.site)
            return frame[0];
        if (next <= frame)
            break;
    }
    return 0;
#else
    return fp_below(from.cfa - sizeof from.cfa);
#endif
}

static bool is_word(uintptr_t word, uintptr_t pc)
{
#ifdef __arm__ /* bit 0 says Thumb */
    word &= ~(uintptr_t)1;
#endif
    return word == pc;
}

/* Returns the id of a stack with the same return addresses, in other places; 0:
 * there is none. `variants` is how many there are. */
static uintptr_t stack_same(const struct walk *walk, unsigned count,
                            unsigned *variants)
{
    const struct stack *s =
        __atomic_load_n(&sites[site_hash(walk->site)], __ATOMIC_ACQUIRE);
    uintptr_t id = 0;
    for (*variants = 0; s; s = s->next)
        if (s->count == count && !s->words && !walk->words &&
            __builtin_memcmp(s->pcs, walk->pcs, count * sizeof *s->pcs) == 0) {
            id = s->id;
            ++*variants;
        }
    return id;
}

static const char stack_format[] =
    RUN_FORMAT("stack", "stack %u from %u: %p %p %p %p %p %p %p %p %p %p");

/* Keeps a stack that was unwound, and records it if it is new. Returns its id,
 * or 0. */
static uintptr_t stack_add(const struct walk *walk, uintptr_t cfa)
{
    unsigned count = walk->count, variants, words, i, j;
    struct stack **head = &sites[site_hash(walk->site)], *stack;
    uintptr_t number, at, *pcs, same;
    uint32_t *places;
    if (is_full())
        return 0;
    for (i = 1; i < count; i++)
        if (walk_place(walk, i) - cfa > UINT32_MAX / 2)
            count = i; /* not found, or out of this stack */
    same = stack_same(walk, count, &variants);
    if (variants >= VARIANTS)
        return same;
    words = count + (unsigned)((count * sizeof *places + sizeof *pcs - 1) /
                               sizeof *pcs);
    number = recorder_add_(&stacks_count, 1);
    at = recorder_add_(&pool_used, words);
    if (number >= STACKS || at + words > POOL)
        return 0;
    stack = &stacks[number];
    stack->pcs = pcs = pool + at;
    stack->places = places = (uint32_t *)(void *)(pcs + count);
    stack->count = count;
    stack->room = walk->room;
    stack->words = walk->words;
    stack->id = same ? same : number + 1;
    for (i = 0; i < count; i++) {
        pcs[i] = walk->pcs[i];
        places[i] = i ? (uint32_t)(walk_place(walk, i) - cfa) : 0;
        if (i && is_fp(walk->fps[i - 1], walk_place(walk, i)))
            places[i] |= HAS_FP;
    }
    for (i = 0; i < count && !same; i++)
        module_record(pcs[i]);
    for (i = 0; i < count && !same; i += FRAMES_RECORD) {
        uintptr_t record[12] = {stack->id, i};
        for (j = 0; j < FRAMES_RECORD && i + j < count; j++)
            record[2 + j] = pcs[i + j];
        recorder_add_(&slots_used, 3);
        run_record(&recorder_for_call_stack, stack_format, walk->site, record,
                   3);
    }
    stack->next = __atomic_load_n(head, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(head, &stack->next, stack, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return stack->id;
}

/* Returns the known stack at a call, or null. Of a stack that is not the
 * thread's own only the site was kept. */
static const struct stack *stack_find(struct run_call from, uintptr_t room)
{
    const struct stack *s =
        __atomic_load_n(&sites[site_hash(from.site)], __ATOMIC_ACQUIRE);
    const uintptr_t fp_called = fp_of_call(from);
    for (; s; s = s->next) {
        uintptr_t fp = fp_called;
        unsigned i = 1;
        if (s->pcs[0] != (from.site & ~(uintptr_t)1) && s->pcs[0] != from.site)
            continue;
        if (s->words &&
            (s->room != room || s->words != stack_words(from.cfa, room)))
            continue;
        for (; i < s->count && s->places[i] < room; i++) {
            uintptr_t at = from.cfa + (s->places[i] & ~(uint32_t)HAS_FP);
            if (!is_word(*(const uintptr_t *)at, s->pcs[i]))
                break;
            if (!(s->places[i] & HAS_FP))
                continue;
            if (!is_fp(fp, at))
                break;
            fp = fp_below(at);
        }
        if (i == s->count && (room || s->count == 1))
            return s;
    }
    return NULL;
}

/* ------------------------------------------------------------- wrappers --
 *
 * The callers of a function that only takes a lock, by frame pointers, on
 * x86-64. Each list of calls is a record of a stack, known by its hash; the
 * lowest bit of the hash says that there is one.
 */

/* True if this code was there from the start, with a call before the address. */
static bool is_called(uintptr_t pc)
{
    const unsigned char *at = (const unsigned char *)pc;
    for (unsigned k = 0; k < codes_count; k++)
        if (pc - 6 - codes[k].start < codes[k].bytes - 6)
            return at[-5] == 0xe8 || (at[-6] == 0xff && at[-5] == 0x15);
    return false;
}

static RUN_SELDOM uintptr_t callers_add(unsigned slot, uint64_t hash,
                                        uintptr_t record[12], unsigned count)
{
    uint64_t none = 0;
    unsigned known = 1;
    while (known < count && is_called(record[2 + known]))
        known++;
    for (unsigned i = known; i < count; i++)
        record[2 + i] = 0;
    hash = (hash & ~(uint64_t)1) | (known > 1);
    if (is_full() ||
        !__atomic_compare_exchange_n(&callers[slot], &none, hash, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
        known == 1)
        return 0;
    RUN_INSIDE(&run_self);
    for (unsigned i = 0; i < known; i++)
        module_record(record[2 + i]);
    record[0] = CALLERS_FIRST + slot;
    recorder_add_(&slots_used, 3);
    run_record(&recorder_for_call_stack, stack_format, record[2], record, 3);
    return record[0];
}

uintptr_t run_stack_callers(const struct run_thread *t, struct run_call from)
{
    const uintptr_t high = t->stack_high, *fp = (const uintptr_t *)from.cfa - 2;
    uintptr_t record[12] = {0, 0, from.site}, low = from.cfa, at = *fp;
    uint64_t hash = run_mix(1, from.site);
    unsigned count = 1, slot;
    if (high - from.cfa >= t->stack_bytes)
        return 0; /* it is not the thread's own stack */
    while (count < CALLERS_DEPTH && low < high && at - low < high - low &&
           at % sizeof at == 0) {
        fp = (const uintptr_t *)at;
        record[2 + count] = fp[1];
        hash = run_mix(hash, fp[1]);
        count++;
        low = at + 2 * sizeof at;
        at = *fp;
    }
    slot = (unsigned)(hash >> 55);
    for (unsigned n = 0; n < 4; n++, slot = (slot + 1) % CALLERS) {
        const uint64_t is = __atomic_load_n(&callers[slot], __ATOMIC_RELAXED);
        if (is == 0)
            return callers_add(slot, hash, record, count);
        if ((is ^ hash) >> 1 == 0)
            return is & 1 ? CALLERS_FIRST + slot : 0;
    }
    return 0;
}

/* Returns true if the stack of a call without tables has room: one call may
 * have VARIANTS stacks, and all calls half of the ring. */
static bool has_room(uintptr_t site)
{
    const struct stack *s =
        __atomic_load_n(&sites[site_hash(site)], __ATOMIC_ACQUIRE);
    unsigned count = 0;
    for (; s; s = s->next)
        count += s->words && s->pcs[0] == site;
    return count < VARIANTS &&
           recorder_get_(&slots_used) + SNAPSHOT_SLOTS < ROOM / 2;
}

/* As run_stack(). `snapshot`: set to the depth of the stack for the snapshot.
 * Apart, as this function's frame would be part of the snapshot. */
__attribute__((noinline)) static uintptr_t
stack_of(struct run_call from, bool creates, uintptr_t *snapshot)
{
    struct run_thread *t = &run_self;
    /* The bytes of the thread's own stack above the call; 0: the call came from
     * a coroutine or a signal handler's stack. */
    uintptr_t room = t->stack_high - from.cfa < t->stack_bytes
                         ? t->stack_high - from.cfa - sizeof(uintptr_t)
                         : 0;
    const struct stack *known = stack_find(from, room);
    struct walk walk;
    if (known)
        return known->id;
    walk.site = from.site;
    walk.room = walk.words = 0;
    walk.high = room ? t->stack_high : UINTPTR_MAX;
    walk.count = 0;
    walk.whole = false;
    if (is_full())
        return 0;
    if ((unwinds || creates) && room &&
        t->stack_bytes - room > (uintptr_t)UNWINDER) {
        t->inside++;
        _Unwind_Backtrace(walk_step, &walk);
        t->inside--;
        if (walk.count <= 1 && !walk.whole && has_room(from.site)) {
            walk.room = *snapshot = room;
            walk.words = stack_words(from.cfa, room);
        }
    }
    if (walk.count == 0) {
        walk.pcs[0] = from.site;
        walk.count = 1;
    }
    return stack_add(&walk, from.cfa);
}

uintptr_t run_stack(struct run_call from, bool creates)
{
    uintptr_t room = 0, id = stack_of(from, creates, &room);
    if (id && room) {
        run_self.inside++;
        recorder_add_(&slots_used, SNAPSHOT_SLOTS);
        snapshot_take(id, run_self.stack_high, SNAPSHOT);
        run_self.inside--;
    }
    return id;
}
