/* pool.c - jobs in slots, which workers take by their numbers. */
/* SPDX-License-Identifier: MIT */
#include "seeded.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

RECORDER(pool, 512, "Slots")
RECORDER(work, 512, "Jobs of workers")

enum { SLOTS = 16, WORKERS = 4 };
struct job {
    int (*run)(struct job *);
    void *argument;
    unsigned number;
    int slot, tries;
    double weights[12];
};
struct slot {
    struct job *job;
    int state, uses;
};
struct range {
    long from, to, step;
};
struct pool {
    pthread_mutex_t lock;
    struct slot slots[SLOTS];
    int free_count, active;
    struct item *head;
    long done[WORKERS];
    char *journal;
};
struct item {
    struct item *next;
    unsigned number;
    char text[48];
};
static struct pool the = {.lock = PTHREAD_MUTEX_INITIALIZER,
                          .free_count = SLOTS};
static volatile long sum;

static int job_add(struct job *j)
{
    j->tries++;
    sum += j->number;
    return j->tries;
}

static struct job *job_new(unsigned number, int slot)
{
    struct job *j = calloc(1, sizeof *j);
    j->run = job_add;
    j->number = number;
    j->slot = slot;
    the.slots[slot].job = j;
    note(work, "new job=%u slot=%d", number, slot);
    return j;
}

static void *worker(void *argument)
{
    int me = (int)(intptr_t)argument;
    char name[16];
    snprintf(name, sizeof name, "worker%d", me);
    recorder_thread_name(name);
    for (int i = 0; i < 12; i++) {
        struct slot *s = &the.slots[(4 * i + me) % SLOTS];
        pthread_mutex_lock(&the.lock);
        s->uses++;
        s->job->run(s->job);
        the.done[me]++;
        record(work, "beat worker=%d", me);
        note(pool, "ran slot=%d job=%u", s->job->slot, s->job->number);
        pthread_mutex_unlock(&the.lock);
    }
    return NULL;
}

/* ----------------------------------------------------------------- kinds -- */

static void run_slot(int slot)
{
    struct job *job = the.slots[slot].job;
    job->run(job);
}
static void *give(void *argument)
{
    int slot = (int)(intptr_t)argument;
    cause(pool, "give slot=%d", slot);
    the.slots[slot].job = NULL;
    return NULL;
}

static void *finish(void *argument)
{
    struct job *j = argument;
    cause(work, "done job=%u tries=%d", j->number, j->tries);
    free(j);
    return NULL;
}
static int retry(struct job *job, unsigned number)
{
    sum += number;
    return job->run(job);
}

static void job_drop(struct job *j)
{
    record(work, "beat worker=%d", 0);
    free(j);
}

static void spread(double *weights, int count)
{
    for (int i = 0; i < count; i++)
        weights[i] = 0.5;
}

static double median(const double *from, int count)
{
    double sorted[8];
    for (int i = 0; i < count; i++)
        sorted[i] = from[0] + i;
    return sorted[count / 2] + sorted[0];
}

static struct job *job_make(unsigned number)
{
    struct job *j = malloc(sizeof *j);
    j->number = number;
    j->slot = -1;
    cause(work, "make job=%p number=%u", RECORDER_ADDRESS(j), number);
    return j;
}

static void steal(int from, int by)
{
    the.done[by] += the.done[from];
    the.done[from] = 0;
}

static void *step(void *argument)
{
    struct range *r = argument;
    long n = 0;
    for (long i = r->from; i < r->to; i += r->step)
        n += *(int *)r->from;
    return (void *)n;
}

static void *pop(void *argument)
{
    struct item *gone = the.head;
    (void)argument;
    recorder_thread_name("popper");
    the.head = gone->next;
    cause(pool, "pop item=%p number=%u", RECORDER_ADDRESS(gone), gone->number);
    memset(gone, 0x99, sizeof *gone);
    free(gone);
    return NULL;
}
static void rename_item(struct item *item)
{
    for (struct item *i = item; i; i = i->next)
        i->text[0] = 'r';
}

static int split(int from, int to)
{
    int parts[100];
    parts[to & 63] = from;
    return split(from, to) + parts[from & 63];
}
static void *split_all(void *argument)
{
    recorder_thread_name("splitter");
    recorder_alt_stack();
    cause(work, "split from=%d to=%d", 10, 10);
    sum += split(10, 10) + (argument != NULL);
    return NULL;
}

static long average(void)
{
    long all = 0;
    for (int i = 0; i < WORKERS; i++)
        all += the.done[i];
    return all / the.active;
}

static void take(int slot)
{
    the.slots[slot].uses++;
    assert(the.free_count > 0);
    the.free_count--;
}

static void check(int slot)
{
    if (the.slots[slot].state > 3)
        abort();
}

static void phase_run(int phase)
{
    if (phase > 4)
        __builtin_trap();
    sum += phase;
}

static void journal_write(int slot, const char *text)
{
    memcpy(the.journal + 64 * slot, text, strlen(text));
}

static void in_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 512 << 10);
    pthread_create(&thread, &small, run, argument);
    pthread_join(thread, NULL);
}

static void *crash(void *unused)
{
    int slot = pick(2, SLOTS - 1);
    struct job *j = the.slots[slot].job;
    (void)unused;
    recorder_thread_name("scheduler");
    if (is_kind("null_member")) {
        in_thread(give, (void *)(intptr_t)slot);
        run_slot(slot);
    } else if (is_kind("use_after_free")) {
        j->run = NULL;
        in_thread(finish, j);
        sum += retry(j, j->number);
    } else if (is_kind("double_free")) {
        cause(work, "cancel job=%p number=%u", RECORDER_ADDRESS(j), j->number);
        free(j);
        job_drop(j);
    } else if (is_kind("heap_overflow")) {
        double *weights = malloc(8 * sizeof *weights);
        struct item *after = calloc(1, sizeof *after);
        struct item *last = calloc(1, sizeof *last);
        int count = pick(9, 14);
        after->next = last;
        cause(work, "spread job=%u weights=%p count=%d", j->number,
              RECORDER_ADDRESS(weights), count);
        spread(weights, count);
        record(work, "beat worker=%d", 1);
        rename_item(after);
        free(last);
        free(after);
    } else if (is_kind("stack_overflow")) {
        int count = pick(40, 90);
        cause(work, "median job=%u count=%d", j->number, count);
        sum += (long)median(j->weights, count);
    } else if (is_kind("uninitialised")) {
        memset(j, 0x3c, sizeof *j);
        free(j);
        j = job_make(7000 + (unsigned)pick(0, 99));
        j->run(j);
    } else if (is_kind("wrong_index")) {
        int from = -pick(5000000, 90000000);
        cause(work, "steal from=%d by=%d", from, 2);
        steal(from, 2);
    } else if (is_kind("bad_cast")) {
        j->argument = malloc(40);
        strcpy(j->argument, "name=of a range, as text");
        cause(work, "post argument=%p job=%u", RECORDER_ADDRESS(j->argument),
              j->number);
        sum += (long)step(j->argument);
    } else if (is_kind("race")) {
        struct item *item = the.head;
        in_thread(pop, NULL);
        rename_item(item);
    } else if (is_kind("stack_exhaustion")) {
        in_thread(split_all, NULL);
    } else if (is_kind("division")) {
        the.active = 0;
        cause(pool, "leave worker=%d active=%d", 3, the.active);
        sum += average();
    } else if (is_kind("assertion")) {
        the.free_count = 0;
        cause(pool, "take slot=%d free_count=%d", slot, the.free_count);
        take(slot);
    } else if (is_kind("libc_abort")) {
        the.slots[slot].state = pick(4, 90);
        cause(pool, "mark slot=%d state=%d", slot, the.slots[slot].state);
        check(slot);
    } else if (is_kind("illegal")) {
        int phase = pick(5, 60);
        cause(work, "enter phase=%d", phase);
        phase_run(phase);
    } else if (is_kind("bus")) {
        int fd = open("journal", O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || ftruncate(fd, 4096))
            exit(1);
        the.journal =
            mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        cause(pool, "shrink journal to bytes=%d", 0);
        if (ftruncate(fd, 0))
            exit(1);
        record(work, "beat worker=%d", 1);
        journal_write(slot, "done");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[WORKERS];
    seeded_begin(argc, argv);
    for (int i = 0; i < 40; i++) {
        struct item *item = calloc(1, sizeof *item);
        item->next = the.head;
        item->number = 300 + (unsigned)i;
        the.head = item;
    }
    for (int i = 0; i < 6; i++) { /* of another part */
        void *one = malloc(sizeof(struct job));
        record(pool, "buffer=%p", RECORDER_ADDRESS(one));
        free(one);
    }
    for (int i = 0; i < SLOTS; i++)
        job_new(100 + 3 * (unsigned)i, i);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    in_thread(crash, NULL);
    return 0;
}
