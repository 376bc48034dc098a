/* show.c - threads, stacks and deadlocks in words. */
/* SPDX-License-Identifier: MIT */
#include "show.h"
#include "proc.h"

void show_numbers(struct threads *threads, struct reader *reader)
{
    /* Only threads are wanted: no recorder has this name. */
    reader_select(reader, &(struct reader_selection){.names = "[^ -~]"});
    if (reader_take(reader))
        return;
    for (size_t i = 0; i < reader->threads_count; i++) {
        const struct reader_thread *row = &reader->threads[i];
        size_t at = threads_index(threads, row->id);
        if (at == THREAD_NONE || (row->known && !row->alive))
            continue;
        threads->all[at].number = row->number;
        if (row->is_named || !*threads->all[at].name)
            memcpy(threads->all[at].name, row->name,
                   sizeof threads->all[at].name);
    }
}

/* ----------------------------------------------------------------- waits -- */

const char *show_kind(enum wait_kind kind)
{
    static const char *const names[] = {[WAIT_NONE] = "",
                                        [WAIT_MUTEX] = "mutex",
                                        [WAIT_MUTEX_LIKE] = "mutex?",
                                        [WAIT_SPIN] = "spinlock",
                                        [WAIT_READ] = "rwlock",
                                        [WAIT_WRITE] = "rwlock",
                                        [WAIT_CONDITION] = "condition",
                                        [WAIT_SEMAPHORE] = "semaphore",
                                        [WAIT_BARRIER] = "barrier",
                                        [WAIT_ONCE] = "once",
                                        [WAIT_STREAM] = "stream",
                                        [WAIT_THREAD] = "thread",
                                        [WAIT_GUARD] = "static variable",
                                        [WAIT_MALLOC] = "malloc lock",
                                        [WAIT_FLOCK] = "flock",
                                        [WAIT_RECORD] = "file lock",
                                        [WAIT_FUTEX] = "futex",
                                        [WAIT_CALL] = "call"};
    return names[kind];
}

/* The thread whose stack contains an address; null: none. A pthread_t is at the
 * upper end of the stack of a thread that pthread_create() made. */
static const struct past *stack_owner(const struct threads *threads,
                                      uint64_t address)
{
    const struct recorded *recorded = threads->recorded;
    const struct past *owner = NULL;
    for (size_t i = 0; recorded && i < recorded->pasts_count; i++) {
        const struct past *past = &recorded->pasts[i];
        if (past->stack_bytes && address < past->stack_high &&
            past->stack_high - address < past->stack_bytes &&
            (!owner || past->stack_high < owner->stack_high ||
             (past->stack_high == owner->stack_high && owner->ended)))
            owner = past;
    }
    return owner;
}

void show_object(struct threads *threads, const struct wait *wait, char to[256])
{
    const struct past *owner;
    if (!wait->object) {
        snprintf(to, 256, "(which one is not told)%s",
                 wait->refused
                     ? ", for good: the kernel refused it as a deadlock"
                     : "");
        return;
    }
    if (wait->kind == WAIT_FLOCK || wait->kind == WAIT_RECORD) {
        if (!process_file(threads, wait->fd, to, 256))
            snprintf(to, 256, "%d", wait->fd);
        return;
    }
    if (place_variable(threads->unwind.dwfl, wait->object, to, 256))
        return;
    snprintf(to, 256, "0x%llx", (unsigned long long)wait->object);
    owner = stack_owner(threads, wait->object);
    if (owner)
        snprintf(to + strlen(to), 256 - strlen(to), " on the stack of T%u",
                 owner->number);
}

/* Writes an id that is no thread of the program: it may belong to another
 * process, which shares the lock. Ids of another namespace cannot be looked up
 * here. */
static void stranger(const struct threads *threads, const struct wait *wait,
                     char to[256])
{
    int32_t id = wait->holder_id;
    const struct thread *first = &threads->all[0];
    char name[17];
    if (wait->lost && wait->is_private)
        snprintf(to, 256, "%d, which has ended%s", (int)id,
                 id < threads->source->pid ? ", or forked this process" : "");
    else if (threads->source->memory->stale_order)
        snprintf(to, 256, "%d, which is not in this recording", (int)id);
    else if (!threads->source->pid)
        snprintf(to, 256, "%d, which is not in this core file", (int)id);
    else if (first->id != first->inside)
        snprintf(to, 256, "%d, which is no thread of this program", (int)id);
    else if (proc_name(id, 0, name))
        snprintf(to, 256, "%d %s, of another process", (int)id, name);
    else if (id < threads->source->pid) /* older than this process */
        snprintf(to, 256, "%d, which has ended, or forked this process",
                 (int)id);
    else
        snprintf(to, 256, "%d, which has ended", (int)id);
}

void show_name(const struct threads *threads, size_t which, char to[64])
{
    const struct thread *thread = &threads->all[which];
    int at = thread->number ? snprintf(to, 64, "T%u ", thread->number) : 0;
    snprintf(to + at, 64 - (size_t)at, "%d%s%s", (int)thread->id,
             *thread->name ? " " : "", thread->name);
}

enum { HOLDERS_MAX = 4 };

/* Several threads, which read. */
static void holders_words(const struct threads *threads,
                          const struct wait *wait, char to[256])
{
    size_t at = 0;
    char name[64];
    for (size_t i = 0; i < wait->holders_count && i < HOLDERS_MAX; i++) {
        show_name(threads, threads_holder(threads, wait, i), name);
        at += (size_t)snprintf(to + at, 256 - at, "%s%s", i ? ", " : "", name);
    }
    if (wait->holders_count > HOLDERS_MAX)
        snprintf(to + at, 256 - at, ", and %zu more",
                 wait->holders_count - HOLDERS_MAX);
}

/* The processes that hold the lock of a file. */
static void processes_words(const struct wait *wait, char to[256])
{
    size_t at = 0;
    char name[17];
    for (unsigned i = 0; i < wait->processes_count && i < HOLDERS_MAX; i++) {
        int32_t pid = wait->processes[i];
        at +=
            (size_t)snprintf(to + at, 256 - at, "%s %d %s", i ? "," : "process",
                             (int)pid, proc_name(pid, 0, name) ? name : "?");
    }
    if (wait->processes_count > HOLDERS_MAX)
        snprintf(to + at, 256 - at, ", and %u more",
                 wait->processes_count - HOLDERS_MAX);
    else if (!wait->processes_count && wait->unread)
        snprintf(to, 256, "a process that this user may not read");
}

void show_holder(struct threads *threads, const struct wait *wait, char to[256])
{
    *to = '\0';
    if (wait->kind == WAIT_FLOCK || wait->kind == WAIT_RECORD) {
        processes_words(wait, to);
    } else if (wait->holders_count > 1 && wait->readers) {
        holders_words(threads, wait, to);
    } else if (wait->holder != THREAD_NONE) {
        const struct thread *holder = &threads->all[wait->holder];
        bool ended = holder->state == 'Z' || holder->state == 'X';
        char name[64], process[32] = "";
        show_name(threads, wait->holder, name);
        if (holder->peer && holder->peer->source->pid != holder->id)
            snprintf(process, sizeof process, ", of process %d",
                     holder->peer->source->pid);
        else if (holder->peer)
            snprintf(process, sizeof process, ", of another process");
        snprintf(to, 256, "%s%s%s", name, process,
                 ended            ? ", which has ended"
                 : wait->id_again ? ", or of an ended thread that had this "
                                    "kernel id before"
                                  : "");
    } else if (wait->holder_id > 0) {
        stranger(threads, wait, to);
    } else if (wait->readers) {
        snprintf(to, 256, "%u reader%s", wait->readers,
                 wait->readers == 1 ? "" : "s");
    }
    if (wait->lost)
        strncat(to, "; no thread can release it", 255 - strlen(to));
}

void show_holder_json(const struct threads *threads, const struct wait *wait)
{
    int32_t id = wait->holder == THREAD_NONE ? wait->holder_id
                                             : threads->all[wait->holder].id;
    json_count("holder", (uint64_t)id, id > 0);
    json_put(stdout, ",'readers':%u,'lost':%hhd", wait->readers, wait->lost);
}

const char *show_symbol(struct threads *threads, uint64_t object, char to[256])
{
    return place_variable(threads->unwind.dwfl, object, to, 256) ? to : NULL;
}

/* Writes the state of a thread that waits in no known call. */
static const char *state_words(const struct threads *threads,
                               const struct thread *thread)
{
    switch (thread->state) {
    case 'R': return "runs";
    case 'S': return "is blocked, cause not known";
    case 'D': return "waits in the kernel, uninterruptibly";
    case 'T': return "is stopped";
    case 't': return "is stopped by a debugger";
    case 'Z':
    case 'X': return "has ended";
    case '?': /* registers outside of any call, or no information */
        return recorded_is_over(threads->recorded) ? "ended with the program"
               : thread->has_registers
                   ? "ran"
                   : "ran, or was blocked where nothing is recorded";
    default: return "is in an unknown state";
    }
}

/* True for a system call that only a signal ends. pause() is ppoll() of no file
 * and no time on kernels without a call for it. */
static bool is_for_signal(const struct thread *thread, const char *call)
{
    return strcmp(call, "pause") == 0 || strcmp(call, "rt_sigtimedwait") == 0 ||
           strcmp(call, "rt_sigsuspend") == 0 ||
           (strcmp(call, "ppoll") == 0 && !thread->arguments[1] &&
            !thread->arguments[2]);
}

/* Writes the system call of a thread that waits for no lock. */
static void call_words(struct threads *threads, const struct thread *thread,
                       char to[1024])
{
    const struct wait *wait = &thread->wait;
    const char *call = wait->call;
    char number[32], file[256] = "", of[300] = "";
    if (!call) {
        snprintf(number, sizeof number, "system call %lld",
                 (long long)thread->call);
        call = number;
    }
    if (process_file(threads, wait->fd, file, sizeof file))
        snprintf(of, sizeof of, " of %d (%s)", wait->fd, file);
    else if (wait->fd >= 0)
        snprintf(of, sizeof of, " of %d", wait->fd);
    if (strcmp(call, "clock_nanosleep") == 0 || strcmp(call, "nanosleep") == 0)
        snprintf(to, 1024, "sleeps for a time");
    else if (is_for_signal(thread, call))
        snprintf(to, 1024, "waits for a signal");
    else if (strcmp(call, "wait4") == 0 || strcmp(call, "waitid") == 0)
        snprintf(to, 1024, "waits for a child process");
    else
        snprintf(to, 1024, "waits in %s%s", call, of);
}

static void lock_words(struct threads *threads, const struct thread *thread,
                       char to[1024])
{
    const struct wait *wait = &thread->wait;
    const char *how = wait->kind == WAIT_READ    ? " to read"
                      : wait->kind == WAIT_WRITE ? " to write"
                                                 : "";
    char object[256], holder[256];
    const char *end = wait->timed ? ", for a time" : "";
    show_object(thread_home(threads, thread), wait, object);
    show_holder(threads, wait, holder);
    if (wait->kind == WAIT_THREAD)
        snprintf(to, 1024, "waits for the end of thread %s%s",
                 *holder ? holder : object, end);
    else
        snprintf(to, 1024, "waits for %s %s%s%s%s%s", show_kind(wait->kind),
                 object, how, *holder ? " of " : "", holder, end);
}

void show_wait(struct threads *threads, const struct thread *thread,
               char to[1024])
{
    char channel[64];
    switch (thread->wait.kind) {
    case WAIT_NONE:
        if (thread->is_snapshot)
            snprintf(to, 1024, "was here: snapshot 0x%llx, record %llu",
                     (unsigned long long)thread->snapshot,
                     (unsigned long long)thread->order);
        else if (thread->state != 'R' &&
                 process_channel(threads, thread, channel, sizeof channel))
            snprintf(to, 1024, "%s in %s",
                     thread->state == 'S' ? "sleeps"
                                          : state_words(threads, thread),
                     channel);
        else
            snprintf(to, 1024, "%s", state_words(threads, thread));
        break;
    case WAIT_CALL: call_words(threads, thread, to); break;
    default: lock_words(threads, thread, to);
    }
    if (thread->state == 'T' && thread->wait.kind != WAIT_NONE)
        snprintf(to + strlen(to), 1024 - strlen(to), "; is stopped");
}

size_t show_held(struct threads *threads, size_t holder, size_t *to, size_t max)
{
    size_t count = 0, k;
    for (size_t i = 0; i < threads->count && threads->all[holder].holds; i++) {
        const struct wait *wait = &threads->all[i].wait;
        if (wait->holder != holder || wait->kind == WAIT_THREAD ||
            wait->id_again)
            continue;
        for (k = 0; k < count && k < max; k++)
            if (threads->all[to[k]].wait.object == wait->object)
                break;
        if (k == count && k < max)
            to[k] = i;
        count += k == count || k == max;
    }
    return count;
}

enum { HELD_MAX = 8 };

void show_holds(struct threads *threads, size_t holder, char to[1024])
{
    size_t held[HELD_MAX], at = 0;
    size_t count = show_held(threads, holder, held, HELD_MAX);
    char object[256];
    *to = '\0';
    for (size_t i = 0; i < count && i < HELD_MAX && at < 700; i++) {
        const struct wait *wait = &threads->all[held[i]].wait;
        show_object(thread_home(threads, &threads->all[held[i]]), wait, object);
        at += (size_t)snprintf(to + at, 1024 - at, "%s %s %s",
                               i ? "," : "; holds", show_kind(wait->kind),
                               object);
    }
    if (count > HELD_MAX)
        snprintf(to + at, 1024 - at, " and more");
}

/* ---------------------------------------------------------------- places -- */

enum { SITE_FRAMES = 3 };

void show_function(const struct place *place, char to[256])
{
    if (place->function)
        snprintf(to, 256, "%.252s%s", place->function,
                 strlen(place->function) > 252 ? "..." : "");
    else if (place->offset && place->module)
        snprintf(to, 256, "%s+0x%llx", basename(place->module),
                 (unsigned long long)place->offset);
    else
        snprintf(to, 256, "0x%llx", (unsigned long long)place->address);
}

void show_place(FILE *to, const struct place *place)
{
    char name[256];
    show_function(place, name);
    text_put(to, "%s", name);
    if (place->file)
        text_put(to, " %s:%d", basename(place->file), place->line);
}

/* True for a place in a header or a library of the system. Users look for their
 * own code: for example the user of std::lock_guard. */
static bool is_of_system(const struct place *place)
{
    static const char *const names[] = {"std::", "__gnu_cxx::", "boost::"};
    static const char *const modules[] = {"/librecorder-run.so",
                                          "/libstdc++.so", "/libc++"};
    static const char *const rust[] = {"library/std/src/", "library/core/src/",
                                       "library/alloc/src/", "library/panic_"};
    const char *file = place->file;
    if (place->module &&
        (place_is_libc(place->module) || strstr(place->module, modules[0])))
        return true;
    for (size_t i = 0; i < 4 && file; i++)
        if (strstr(file, rust[i]) && strstr(file, ".rs"))
            return true;
    if (file && *file == '/')
        return strncmp(file, "/usr/include/", 13) == 0 ||
               strncmp(file, "/usr/lib/gcc", 12) == 0 ||
               strstr(file, "/include/c++/") || strstr(file, "/boost/");
    for (size_t i = 0; i < 3 && !file; i++)
        if ((place->function &&
             strncmp(place->function, names[i], strlen(names[i])) == 0) ||
            (place->module && strstr(place->module, modules[i])))
            return true;
    return false;
}

bool show_is_system(const struct place *place)
{
    while (place && is_of_system(place))
        place = place->outer;
    return !place;
}

void show_frames(FILE *to, struct threads *threads, const char *before,
                 const uint64_t *frames, unsigned count, int max)
{
    int shown = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct place *place = place_of(threads, frames[i]);
        if (!place || show_is_system(place))
            continue;
        for (; place && shown < max; place = place->outer) {
            if (is_of_system(place))
                continue;
            fputs(shown++ ? " < " : before, to);
            show_place(to, place);
        }
    }
}

void show_frames_json(struct threads *threads, const uint64_t *frames,
                      unsigned first, unsigned count)
{
    const char *between = "";
    char name[256];
    for (unsigned i = first; i < count; i++)
        for (const struct place *p = place_of(threads, frames[i]); p;
             p = p->outer) {
            show_function(p, name);
            fputs(between, stdout);
            between = ",";
            json_put(stdout,
                     "{'address':'0x%llx','function':%s,'file':%s,'line':%d}",
                     (unsigned long long)p->address, name, p->file, p->line);
        }
}

void show_site(FILE *to, struct threads *threads, const struct thread *thread)
{
    unsigned i;
    threads = thread_home(threads, thread);
    i = wait_frames(threads, thread);
    show_frames(to, threads, ", at ", thread->frames + i,
                thread->frames_count - i, SITE_FRAMES);
}

void show_taken_at(FILE *to, struct threads *threads, const struct hold *hold)
{
    uint64_t frames[FRAMES_MAX];
    const unsigned count =
        recorded_frames(threads, hold->stack, hold->site, frames);
    const struct place *place = NULL;
    for (unsigned i = 0; i < count && (!place || is_of_system(place)); i++)
        for (place = place_of(threads, frames[i]);
             place && place->outer && is_of_system(place);)
            place = place->outer;
    fprintf(to, "%s, taken at ", hold->reads ? " to read" : "");
    if (place)
        show_place(to, place);
    else
        fprintf(to, "0x%llx", (unsigned long long)hold->site);
}

void show_taken(FILE *to, struct threads *threads, const struct thread *thread)
{
    const struct past *past = thread->past;
    char object[256];
    for (unsigned i = 0; past && i < past->holds_count; i++) {
        const struct wait wait = {.object = past->holds[i].object};
        show_object(threads, &wait, object);
        text_put(to, i ? ", and %s" : "holds %s", object);
        show_taken_at(to, threads, &past->holds[i]);
    }
}

/* True if b has the same name as a, the next number and the next id. */
static bool follows(const struct thread *a, const struct thread *b)
{
    return b->id == a->id + 1 && strcmp(a->name, b->name) == 0 &&
           b->number == (a->number ? a->number + 1 : 0);
}

void show_threads(FILE *to, const struct threads *threads, const size_t *which,
                  size_t count)
{
    for (size_t i = 0, next; i < count; i = next) {
        const struct thread *first = &threads->all[which[i]], *last = first,
                            *after;
        for (next = i + 1;
             next < count && follows(last, &threads->all[which[next]]); next++)
            last = &threads->all[which[next]];
        fputs(i ? ", " : "", to);
        if (first->number) {
            fprintf(to, "T%u", first->number);
            fprintf(to, last != first ? "-T%u " : " ", last->number);
        }
        fprintf(to, "%d", (int)first->id);
        if (last != first)
            fprintf(to, "-%d", (int)last->id);
        after = next < count ? &threads->all[which[next]] : NULL;
        if (*first->name && (!after || strcmp(after->name, first->name) != 0))
            text_put(to, " %s", first->name);
    }
}

/* ------------------------------------------------------------- deadlocks -- */

static void deadlock_head(FILE *to, struct threads *threads,
                          const struct cycle *cycle)
{
    bool sure = true, has_peers = false;
    for (size_t i = 0; i < cycle->count; i++) {
        sure &= threads->all[cycle->threads[i]].wait.kind != WAIT_MUTEX_LIKE;
        has_peers |= threads->all[cycle->threads[i]].peer != NULL;
    }
    if (cycle->perhaps)
        fprintf(to,
                "HANG of %zu threads: each waits for the next, or "
                "for an ended thread",
                cycle->count);
    else if (cycle->count == 1)
        fputs("DEADLOCK of 1 thread: it waits for itself", to);
    else
        fprintf(to, "DEADLOCK of %zu threads%s: each waits for the next%s",
                cycle->count, has_peers ? " of several processes" : "",
                cycle->count > 2 ? ", the last for the first" : "");
    if (!sure)
        fputs(" (if these are mutexes: no function's name confirms it)", to);
    putc('\n', to);
}

void show_deadlocks(FILE *to, struct threads *threads)
{
    char words[1024];
    for (size_t i = 0; i < threads->cycles_count; i++) {
        const struct cycle *cycle = &threads->cycles[i];
        deadlock_head(to, threads, cycle);
        for (size_t k = 0; k < cycle->count; k++) {
            const struct thread *t = &threads->all[cycle->threads[k]];
            fputs("  ", to);
            show_threads(to, threads, &cycle->threads[k], 1);
            putc(' ', to);
            show_taken(to, threads, t);
            if (t->past && t->past->holds_count)
                fputs("; ", to);
            show_wait(threads, t, words);
            text_put(to, "%s", words);
            show_site(to, threads, t);
            putc('\n', to);
        }
        putc('\n', to);
    }
}

void show_thread_json(struct threads *threads, const struct thread *thread)
{
    const struct wait *wait = &thread->wait;
    char words[1024], symbol[256], state[2] = {thread->state, '\0'};
    show_wait(threads, thread, words);
    json_put(stdout, "{'thread':%d", (int)thread->id);
    json_count("number", thread->number, thread->number);
    json_put(stdout,
             ",'name':%s,'state':%s,'in_deadlock':%hhd,'does':%s,'call':%s,"
             "'wait':",
             thread->name, state, thread->in_deadlock, words, wait->call);
    if (wait->kind == WAIT_NONE || wait->kind == WAIT_CALL) {
        fputs("null", stdout);
        return;
    }
    json_put(stdout, "{'kind':%s,'object':'0x%llx','symbol':%s,'timed':%hhd",
             show_kind(wait->kind), (unsigned long long)wait->object,
             show_symbol(threads, wait->object, symbol), wait->timed);
    show_holder_json(threads, wait);
    putchar('}');
}

void show_deadlocks_json(struct threads *threads)
{
    for (size_t i = 0; i < threads->cycles_count; i++) {
        const struct cycle *cycle = &threads->cycles[i];
        json_put(stdout, "{%s:[", cycle->perhaps ? "hang" : "deadlock");
        for (size_t k = 0; k < cycle->count; k++) {
            const struct thread *t = &threads->all[cycle->threads[k]];
            if (k)
                putchar(',');
            json_put(stdout,
                     "{'thread':%d,'process':%d,'kind':%s,'object':'0x%llx'}",
                     (int)t->id, thread_home(threads, t)->source->pid,
                     show_kind(t->wait.kind),
                     (unsigned long long)t->wait.object);
        }
        puts("]}");
    }
}

/* Writes how a source was read without being stopped for it; and that a
 * debugger or a signal has stopped all threads. */
static void source_how(FILE *to, const struct threads *threads, bool debugged,
                       bool stopped)
{
    if (!threads->source->pid && threads->count && threads->all[0].is_snapshot)
        fputs("As its threads recorded them.\n", to);
    else if (!threads->source->pid)
        fputs(threads->source->memory->stale_order
                  ? "As recorder run recorded them.\n"
                  : "As the core file has them.\n",
              to);
    else if (debugged)
        fputs("Read while a debugger had the process stopped.\n", to);
    else if (stopped)
        fprintf(to, "A signal stopped the process before: kill -CONT %d\n",
                (int)threads->source->pid);
    else
        fputs("Read while the process ran; nothing was stopped.\n", to);
}

void show_how(FILE *to, const struct threads *threads)
{
    size_t running = 0, moved = 0, debugged = 0, stopped = 0, own = 0;
    for (size_t i = 0; i < threads->count; i++) {
        if (threads->all[i].peer)
            continue;
        own++;
        debugged += threads->all[i].state == 't';
        stopped += threads->all[i].state == 'T';
        running += !threads->all[i].frames_count && !threads->all[i].ended;
        moved += threads->all[i].moved;
    }
    if (threads->stopped_ns)
        fprintf(to, "The process was stopped for %.1f ms.\n",
                (double)threads->stopped_ns / 1e6);
    else
        source_how(to, threads, own == debugged, own == stopped);
    if (threads->recorded && threads->recorded->seen_most)
        fprintf(to,
                "More than %u threads lived at once: of those beyond nothing "
                "was recorded.\n",
                threads->recorded->seen_most);
    if (threads->recorded && threads->recorded->is_sandboxed)
        fputs("Threads made after the program's seccomp filter are not "
              "recorded.\n",
              to);
    if (running && threads->source->pid && !threads->stopped_ns)
        fputs("A thread that runs has no stack here: --stop reads it.\n", to);
    if (moved)
        fprintf(to,
                "%zu thread%s ran while %s stack was read (marked ~): it may "
                "be a mix.\n",
                moved, moved == 1 ? "" : "s", moved == 1 ? "its" : "their");
    if (threads->is_musl)
        fputs("Its libc is musl: of most locks it does not note who holds "
              "them.\n",
              to);
    if (threads->unread)
        fprintf(to,
                "Process %d may not be read by this user: the waits of its "
                "threads are unknown.\n",
                (int)threads->unread);
    if (threads->too_many)
        fprintf(to, "It has more than %d threads: the others are left out.\n",
                THREADS_SHOWN_MAX);
}
