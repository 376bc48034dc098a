/* A file with the rings survives whatever ends the program. */
/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "programs/recording.h"
#include "harness/build.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"

TestSuite(recording, .init = build_begin, .fini = build_end, .timeout = 400);

#define PROGRAM BUILD_PROGRAMS "/recording.c"
#define LIBRARY BUILD_PROGRAMS "/recording_library.c"
#define COMPILE                                                                \
    "gcc -O2 -g " BUILD_WARNINGS BUILD_INCLUDE "-o r " PROGRAM " -lpthread "   \
    "-ldl"

/* ----------------------------------------------------------------- images --
 *
 * A recording of this machine's kind, mapped: a reader of our own.
 */
struct image {
    char *bytes;
    size_t size;
    const ElfW(Ehdr) * elf;
    const ElfW(Phdr) * headers;
    const struct recorder_registry *registry;
    uintptr_t pid, whole;
};

/* The bytes at an address of the program. */
static const void *image_at(const struct image *image, const void *address,
                            size_t size)
{
    for (unsigned i = 0; i < image->elf->e_phnum; i++) {
        const ElfW(Phdr) *h = &image->headers[i];
        if (h->p_type == PT_LOAD && (uintptr_t)address >= h->p_vaddr &&
            (uintptr_t)address - h->p_vaddr < h->p_filesz) {
            size_t at = (uintptr_t)address - h->p_vaddr;
            cr_assert(h->p_offset + h->p_filesz <= image->size,
                      "a segment lies outside of the file");
            cr_assert_leq(at + size, h->p_filesz);
            return image->bytes + h->p_offset + at;
        }
    }
    cr_assert(false, "nothing stands at %p", address);
    return NULL;
}

static struct image image_open(const char *name)
{
    struct image image;
    char path[200];
    struct stat stat;
    int fd;
    memset(&image, 0, sizeof image);
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    fd = open(path, O_RDONLY);
    cr_assert(fd >= 0 && fstat(fd, &stat) == 0, "%s: no file", name);
    cr_assert_eq(stat.st_mode & 07777, 0600);
    image.size = (size_t)stat.st_size;
    image.bytes = mmap(NULL, image.size, PROT_READ, MAP_SHARED, fd, 0);
    cr_assert(image.bytes != MAP_FAILED);
    close(fd);
    image.elf = (const ElfW(Ehdr) *)image.bytes;
    cr_assert(memcmp(image.elf->e_ident, ELFMAG, SELFMAG) == 0);
    cr_assert_eq(image.elf->e_type, ET_CORE);
    image.headers =
        (const ElfW(Phdr) *)(const void *)(image.bytes + image.elf->e_phoff);
    for (unsigned i = 0; i < image.elf->e_phnum; i++) {
        const char *note = image.bytes + image.headers[i].p_offset;
        const uint32_t *head = (const uint32_t *)(const void *)note;
        if (image.headers[i].p_type == PT_NOTE && head[0] == 9 &&
            head[2] == 1 && strcmp(note + 12, "RECORDER") == 0) {
            const uintptr_t *words =
                (const uintptr_t *)(const void *)(note + 24);
            cr_assert_eq(words[0], RECORDER_LAYOUT);
            image.pid = words[2];
            image.whole = words[3];
            image.registry = image_at(&image, (const void *)words[1],
                                      sizeof *image.registry);
            cr_assert(image.registry->self == (const void *)words[1]);
        }
    }
    cr_assert_not_null(image.registry);
    return image;
}
static void image_close(struct image *image)
{
    munmap(image->bytes, image->size);
}

static const struct recorder *image_recorder(const struct image *image,
                                             const char *name)
{
    const struct recorder *r = image->registry->first;
    for (; r; r = r->next) {
        r = image_at(image, r, sizeof *r);
        if (strcmp(image_at(image, r->name, 1), name) == 0)
            return r;
    }
    return NULL;
}
static const struct recorder_ring *
image_ring(const struct image *image, const struct recorder *r, uintptr_t lane)
{
    return image_at(image, (const char *)r->rings + lane * r->ring_bytes,
                    r->ring_bytes);
}

/* ----------------------------------------------------------------- lives -- */

static struct published *publish(void)
{
    char path[200];
    int fd;
    struct published *published;
    snprintf(path, sizeof path, "%s/published", build_folder);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    cr_assert(fd >= 0 && ftruncate(fd, sizeof *published) == 0);
    published = mmap(NULL, sizeof *published, PROT_READ | PROT_WRITE,
                     MAP_SHARED, fd, 0);
    cr_assert(published != MAP_FAILED);
    close(fd);
    return published;
}

static pid_t spawn(const char *file, const char *const *arguments)
{
    pid_t pid = fork();
    cr_assert(pid >= 0);
    if (pid == 0) {
        if (file)
            setenv("RECORDER_FILE", file, 1);
        if (chdir(build_folder) != 0)
            _exit(99);
        alarm(60);
        execv("./r", (char *const *)(uintptr_t)arguments);
        _exit(98);
    }
    return pid;
}

/* True if the record of a key is whole, by its own words. */
static bool is_checked(const struct recorder_record *r)
{
    uintptr_t key = r->argument[0];
    return r->argument[1] == key * MIX && r->argument[2] == (key ^ MIX) &&
           r->argument[3] == ~key;
}

/* A life's ring: every record whole and named once; returns the last ones
 * found, a bit for each thread. */
struct found {
    unsigned records, last;
    uintptr_t newest[THREADS]; /* key */
};
static void look_into(const struct image *image, const char *name,
                      const struct published *published, unsigned ring,
                      struct found *found)
{
    const struct recorder *r = image_recorder(image, name);
    uintptr_t lane, slot;
    cr_assert_not_null(r, "%s is not in the file", name);
    for (lane = 0; lane <= r->lanes_mask; lane++) {
        const struct recorder_ring *rings = image_ring(image, r, lane);
        for (slot = 0; slot <= r->mask; slot++) {
            struct recorder_record record;
            uintptr_t key, who;
            if (!recorder_look_(rings, r->mask, slot, &record))
                continue;
            cr_assert(is_checked(&record), "%s: order %zu is torn", name,
                      (size_t)record.order);
            cr_assert_str_eq(image_at(image, (const void *)record.format, 16),
                             "%lu %lx %lx %lx");
            key = record.argument[0];
            who = key & 255;
            cr_assert_lt(who, THREADS);
            found->records++;
            if (key > found->newest[who])
                found->newest[who] = key;
            for (uintptr_t i = 0; i < THREADS; i++) {
                const struct last *last = &published->last[i][ring];
                unsigned at = (unsigned)(last->count - 1) & 1;
                if (last->count == 0)
                    continue;
                if (key == last->key[at] && record.order == last->order[at])
                    found->last |= 1u << i;
            }
        }
    }
}

/* Goal: all completed records are in the file, unless newer records of their
 * ring replaced them. Method: threads publish the last order that they got, and
 * the number of positions handed out before: if the record is missing, a ring
 * more must have been handed out since. In a ring with a single writer, it or a
 * later one must exist. */
static unsigned check_life(const struct published *published, const char *name)
{
    static const char *const names[] = {"tiny", "shared", "own"};
    struct image image = image_open(name);
    unsigned ring, who, records = 0;
    cr_assert_eq(image.whole, 1);
    for (ring = 0; ring < RINGS; ring++) {
        struct found found;
        const struct recorder *r = image_recorder(&image, names[ring]);
        memset(&found, 0, sizeof found);
        look_into(&image, names[ring], published, ring, &found);
        records += found.records;
        for (who = 0; who < THREADS; who++) {
            const struct last *last = &published->last[who][ring];
            unsigned at = (unsigned)(last->count - 1) & 1;
            if (last->count == 0 || found.last >> who & 1)
                continue;
            if (ring == OWN)
                cr_assert(found.newest[who] > last->key[at],
                          "%s: thread %u's last record, order %lu, is missing",
                          names[ring], who, last->order[at]);
            else
                cr_assert(image_ring(&image, r, 0)->write >
                              last->write[at] + r->mask + 1,
                          "%s: thread %u's last record, order %lu, is missing",
                          names[ring], who, last->order[at]);
        }
    }
    image_close(&image);
    return records;
}

/* Goal: SIGKILL at any moment leaves whole records, including the last ones.
 * Method: 200 lives of 5 to 30 ms, each with its own recording. */
Test(recording, survives_sigkill)
{
    static const char *const arguments[] = {"./r", "storm", "published", NULL};
    struct published *published = publish();
    unsigned lives = scaled(200), i, records = 0;
    uint64_t random = seed_of("survives_sigkill");
    build_once(COMPILE);
    for (i = 0; i < lives; i++) {
        struct timespec pause = {0, (long)(random_of(&random) % 25000000)};
        int status;
        pid_t pid;
        memset(published, 0, sizeof *published);
        pid = spawn("life.rec", arguments);
        while (!__atomic_load_n(&published->ready, __ATOMIC_ACQUIRE) &&
               waitpid(pid, &status, WNOHANG) == 0)
            usleep(500);
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        cr_assert(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
                  WTERMSIG(status) == SIGKILL);
        records += check_life(published, "life.rec");
    }
    cr_log_info("%u lives, %u records read, none torn", lives, records);
    cr_assert_gt(records, lives * 64);
}

/* Goal: the same for the other ways to die. Method: abort(), _exit() of one
 * thread while the others record, and memory that is at an end: malloc() fails
 * under RLIMIT_AS, and where there are cgroups, the kernel kills. */
static void dies(const char *verb, const char *more, unsigned lives,
                 const char *group, int expected)
{
    const char *arguments[] = {"./r", verb, "published", more, NULL};
    struct published *published = publish();
    unsigned i, records = 0;
    int status;
    for (i = 0; i < lives; i++) {
        pid_t pid;
        memset(published, 0, sizeof *published);
        if (group) {
            status = build_run("echo $$ >%s/cgroup.procs && "
                               "RECORDER_FILE=death.rec ./r %s published",
                               group, verb);
        } else {
            pid = spawn("death.rec", arguments);
            cr_assert(waitpid(pid, &status, 0) == pid);
        }
        cr_assert_eq(status, expected, "status %#x", (unsigned)status);
        cr_assert_eq(published->running, THREADS);
        records += check_life(published, "death.rec");
    }
    cr_log_info("%s: %u lives, %u records", verb, lives, records);
}
static bool may_group(char group[100], const char *in, const char *limit)
{
    snprintf(group, 100, "%s/recorder-test-%d", in, getpid());
    return build_run("mkdir %s && test -f %s/%s && echo 64M >%s/%s", group,
                     group, limit, group, limit) == 0 ||
           (build_run("rmdir %s", group), false);
}
Test(recording, survives_other_ends, .init = build_long)
{
    char group[100];
    build_once(COMPILE);
    build_must("ulimit -c 0");
    dies("abort", NULL, scaled(10), NULL, SIGABRT);
    dies("exit", NULL, scaled(10), NULL, 3 << 8);
    dies("memory", "limit", scaled(5), NULL, SIGABRT);
    if (may_group(group, "/sys/fs/cgroup", "memory.max") ||
        may_group(group, "/sys/fs/cgroup/memory", "memory.limit_in_bytes"))
        dies("memory", NULL, scaled(3), group, 128 + SIGKILL);
    else
        fprintf(stderr, "left out: no cgroup with a limit of memory here\n");
    build_run("rmdir %s", group);
}

/* Goal: recorder_file() in a process with threads prints advice and harms
 * nothing; when the threads are gone, it makes the file. Method: 8 threads
 * record at full speed; the dumps before and after must agree, except for
 * times, as the rate of the clock may be known better then. */
Test(recording, refuses_threads)
{
    publish();
    build_once(COMPILE);
    build_must("./r refused published late >before 2>said");
    build_must("head -1 said");
    cr_assert_str_eq(build_text,
                     "recorder: late: the process has threads: RECORDER_FILE "
                     "in its environment makes the file before main(), "
                     "recorder save PID makes one at any time; records into "
                     "memory\n");
    build_must("sed -i \"s/ \\[[0-9.]*//\" before said && "
               "test $(wc -l <before) -gt 1000 && tail -n +2 before >1 && "
               "grep -v \"has threads:\" said | tail -n +2 | diff 1 - && "
               "test -e late");
}

/* Goal: if a thread of a library's constructor exists before RECORDER_FILE
 * acts, the program runs as without it, with a message. */
Test(recording, refuses_early_threads, .init = build_long)
{
    build_must(COMPILE
               " && echo \"#include <pthread.h>\n"
               "#include <unistd.h>\n"
               "static void *run(void *x) { sleep(9); return x; }\n"
               "__attribute__((constructor)) static void early(void)\n"
               "{ pthread_t t; pthread_create(&t, NULL, run, NULL); }\" "
               ">early.c && gcc -shared -fPIC -o early.so early.c "
               "-lpthread");
    build_must("LD_PRELOAD=./early.so RECORDER_FILE=early ./r few 2>&1");
    cr_assert_str_eq(build_text,
                     "recorder: early: a library started threads before the "
                     "file could be made: recorder save PID makes one at any "
                     "time; records into memory\nmemory\n");
    build_must("test ! -e early");
}

/* Goal: texts move with their rings, and the tokens in records point to them; a
 * lost text stays lost; a token that the program kept shows no other text. */
static void moves_texts(const char *flags)
{
    static const char *const lines[] = {
        "text: same ring: <of more than one record, so that its pieces lead "
        "from one to the next; and here it ends> 1\n",
        "own: other ring: 2 <of more than one record, so that its pieces lead "
        "from one to the next; and here it ends>\n",
        "text: later: <of more than one record, so that its pieces lead from "
        "one to the next; and here it ends>\n",
        "tiny: 0: <a>\n",
        "tiny: 1: <literal>\n",
        "tiny: 2: <a>\n"};
    if (!build_can("gcc", flags))
        return;
    build_once(COMPILE " %s", flags);
    build_must("rm -f moved");
    build_run("./r tokens moved >inside");
    build_must("cat inside");
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_assert_not_null(strstr(build_text, lines[i]), "%s: %sin\n%s", flags,
                           lines[i], build_text);
    build_must("grep -Eq \"lost: <<lost>>|lost: <~\\?+>\" inside && "
               "grep -Eq \"kept: <~\\?+>\" inside");
    build_must("grep -Ev \"kept:|lost:\" inside | tail -n +2 >1; " TEST_ROOT
               "/build/recorder dump moved >all; grep -Ev "
               "\"kept:|lost:\" all | tail -n +2 | diff 1 - && grep -Eq "
               "\"lost: <(<lost>|0x.*)>\" all && grep -Eq "
               "\"kept: <0x.*>\" all");
}
Test(recording, moves_texts, .init = build_long)
{
    moves_texts("");
    moves_texts("-m32");
}

/* --------------------------------------------------------------- reading -- */

/* Goal: the file has the same records as the program's own dump before it died,
 * for any options of the compiler. Method: it dumps and kills itself; all but
 * the first line, with the time, must be the same. */
static void same_dump(const char *compiler, const char *flags)
{
    if (!build_can(compiler, flags))
        return;
    build_must("%s %s -O0 " BUILD_INCLUDE "-o r " PROGRAM " -lpthread -ldl",
               compiler, flags);
    build_run("rm -f f.*; RECORDER_FILE=f.%%e ./r dump >f.inside");
    build_must("tail -n +2 f.inside >f.1; test $(wc -l <f.1) = 84");
    build_must(TEST_ROOT "/build/recorder dump f.r >f.all; "
                         "tail -n +2 f.all | diff f.1 -");
    build_must("readelf -lnW f.r 2>&1 >/dev/null | tee f.said; "
               "test ! -s f.said");
}
Test(recording, shows_what_the_program_showed, .init = build_long)
{
    same_dump("gcc", "-fPIE -pie");
    same_dump("gcc", "-no-pie");
    same_dump("gcc", "-static");
    same_dump("gcc", "-static-pie");
    same_dump("gcc", "-Wl,-z,noseparate-code");
    same_dump("gcc", "-m32");
    same_dump("clang", "-std=gnu11");
    same_dump("clang", "-fuse-ld=lld");
    same_dump("musl-gcc", "-static");
}

/* Goal: it tells all without the program, the libraries, or /tmp of that time.
 * Method: the program is deleted first. */
Test(recording, needs_no_program)
{
    build_once(COMPILE);
    build_run("RECORDER_FILE=f ./r dump >inside; rm r");
    build_must("tail -n +2 inside >1; " TEST_ROOT
               "/build/recorder dump f | tail -n +2 | diff 1 -");
}

/* Goal: a line format that the program sets is its recording's at once. */
Test(recording, has_the_line_format)
{
    build_once(COMPILE);
    build_run("RECORDER_FILE=f ./r line >inside");
    build_must("grep -q \"^Y \" inside");
    build_must("tail -n +2 inside >1; " TEST_ROOT
               "/build/recorder dump f | tail -n +2 | diff 1 -");
}

/* Goal: the head has the time of the recording's end, whichever recorders are
 * chosen. */
Test(recording, has_one_end)
{
    build_once(COMPILE);
    build_run("RECORDER_FILE=f ./r dump");
    build_must("for names in \".*\" tiny shared nothing; do " TEST_ROOT
               "/build/recorder dump --names \"$names\" f | head -n 1 |"
               " sed \"s/, READ.*//\" >>ends; done;"
               " test $(sort -u ends | grep -c \" AT 20\") = 1");
}

/* Goal: debuggers and ELF tools open it. */
Test(recording, is_a_core_file)
{
    build_once(COMPILE);
    build_run("RECORDER_FILE=f ./r dump");
    if (build_has("gdb")) {
        build_must("gdb -batch -ex \"p recorder_for_tiny\" "
                   "-ex \"p *recorder_for_shared.next\" -ex \"info auxv\" "
                   "r -c f 2>&1");
        cr_assert_not_null(strstr(build_text, "\"tiny\", description = "));
        cr_assert_not_null(strstr(build_text, "\"The smallest\""));
        cr_assert_not_null(strstr(build_text, "AT_ENTRY"));
        cr_assert_null(strstr(build_text, "warning"), "%s", build_text);
        build_must("gdb -batch -ex \"info threads\" r -c f 2>&1 |"
                   " tee threads; test $(grep -c \"New LWP\" threads) = 1");
    }
    if (build_has("eu-readelf")) {
        build_must("eu-readelf -n f");
        cr_assert_not_null(strstr(build_text, "psargs: /"));
        cr_assert_not_null(strstr(build_text, "/r\n"));
        build_must("eu-readelf -hln f 2>&1 >/dev/null | tee said; "
                   "test ! -s said");
    }
}

/* -------------------------------------------------------------- the path -- */

/* Goal: an existing file at the path stays, and the program runs as without.
 * Method: each case, with the program's stderr. */
static void refuses(const char *path, const char *wrong)
{
    char expected[300];
    build_must("RECORDER_FILE=%s ./r few 2>said", path);
    cr_assert_str_eq(build_text, "memory\n", "%s: %s", path, build_text);
    build_must("cat said");
    snprintf(expected, sizeof expected,
             "recorder: %s/%s: %s; records into memory\n", build_folder, path,
             wrong);
    cr_assert_str_eq(build_text, expected);
}
Test(recording, overwrites_nothing, .init = build_long)
{
    static const char foreign[] = "exists, and is no recording of ours";
    build_once(COMPILE);
    build_must("echo precious >file; ln -s file link; ln -s nowhere dangling; "
               "mkdir folder; mkfifo fifo; ulimit -c 0");
    refuses("file", foreign);
    refuses("link", foreign);
    refuses("dangling", foreign);
    refuses("folder", foreign);
    refuses("fifo", foreign);
    refuses("none/file", "No such file or directory");
    refuses("file/file", "Not a directory");
    build_must("test \"$(cat file)\" = precious && test ! -e nowhere && "
               "test \"$(ls)\" = \"dangling\nfifo\nfile\nfolder\nlink\nr\n"
               "said\"");
    /* a real core file's head is no recording, nor is a hard link to one */
    build_run("RECORDER_FILE=a ./r few; ln a b");
    refuses("a", foreign);
    build_must("rm b; echo x >a.old");
    build_run("RECORDER_FILE=a ./r few 2>said; cat said");
    cr_assert_not_null(strstr(build_text,
                              "/a.old: exists, and is no recording that was "
                              "left; records into memory\n"));
    build_must("test \"$(cat a.old)\" = x");
}

/* Goal: a restarted server records again, and its old recording is kept. A
 * running one is not disturbed. */
Test(recording, keeps_what_was_left)
{
    struct image image;
    uintptr_t pid;
    build_once(COMPILE);
    build_must("test $(RECORDER_FILE=a ./r few) = file");
    image = image_open("a");
    pid = image.pid;
    image_close(&image);
    build_must("test $(RECORDER_FILE=a ./r few) = file");
    image = image_open("a.old");
    cr_assert_eq(pid, image.pid);
    image_close(&image);
    build_must("set -e; test $(RECORDER_FILE=a ./r few) = file; ls a*");
    cr_assert_str_eq(build_text, "a\na.old\n");
    build_must("mkfifo in; RECORDER_FILE=b ./r stay <in >out & exec 3>in; "
               "while ! grep -q ready out; do sleep 0.05; done; "
               "RECORDER_FILE=b ./r few 2>said; exec 3>&-; wait; cat said");
    cr_assert_not_null(strstr(build_text, "file\n"), "%s", build_text);
    cr_assert_not_null(strstr(build_text, "/b: in use by a process; records "
                                          "into b.1\n"));
    build_must("mkfifo on; RECORDER_FILE=n ./r stay <on >on.out & exec 3>on; "
               "while ! grep -qs ready on.out; do sleep 0.05; done; "
               "for i in 1 2 3 4 5 6 7 8 9; do cp n n.$i; done; "
               "RECORDER_FILE=n ./r few 2>said; exec 3>&-; wait; cat said");
    cr_assert_not_null(strstr(build_text, "memory\n"), "%s", build_text);
    cr_assert_not_null(strstr(build_text,
                              "/n: in use by a process, as .1 to .9 of it are; "
                              "records into memory\n"));
    build_must("test ! -e b.old && test -e b.1 && test $(RECORDER_FILE=b ./r "
               "few) = file && "
               "test -e b.old");
}

/* Goal: processes of several pid namespaces, with the same pid, do not take
 * each other's recordings; of the ended ones, one recording is kept. */
static void shares_a_volume(const char *folder)
{
    build_must("set -e; rm -f in out; mkfifo in; unshare -pf --kill-child env "
               "RECORDER_FILE=%s/%%e.%%p ./r stay <in >out & exec 3>in; "
               "while ! grep -qs ready out; do sleep 0.05; done; "
               "stat -c %%i %s/r.1 >first; for i in 1 2 3; do unshare -pf "
               "--kill-child env RECORDER_FILE=%s/%%e.%%p ./r few 2>said; "
               "done; stat -c %%i %s/r.1 | diff first -; cat said; "
               "exec 3>&-; wait",
               folder, folder, folder, folder);
    cr_assert_not_null(strstr(build_text, "/r.1: in use by a process; records "
                                          "into r.1."),
                       "%s", build_text);
}
Test(recording, shares_a_volume, .init = build_long)
{
    build_once(COMPILE);
    if (build_run("unshare -pf --kill-child true") != 0)
        build_skip("no right to a pid namespace");
    build_must("mkdir volume");
    shares_a_volume("volume");
    /* the second and third took its name in turn, as each had ended */
    build_must("ls volume");
    cr_assert_str_eq(build_text, "r.1\nr.1.1\nr.1.1.old\n");
    build_must("unshare -pf --kill-child env RECORDER_FILE=volume/%%e.%%p "
               "./r few 2>said; test ! -s said && stat -c %%i volume/r.1.old | "
               "diff first -");
}

/* Goal: a program that was killed while it made its recording does not keep the
 * next one from making its own, and no recording that was kept is lost for it.
 * Method: killed at its first system call, at its second, until it lives on. */
Test(recording, begins_again, .init = build_long)
{
    unsigned at, killed = 0;
    int status;
    build_once(COMPILE);
    build_once("gcc -shared -fPIC -w -o killed.so " BUILD_PROGRAMS
               "/killed.c -ldl");
    for (at = 1; at < 200; at++) {
        build_must("rm -f a a.old; RECORDER_FILE=a ./r few; mv a a.old; "
                   "cp a.old kept");
        status = build_run("RECORDER_FILE=a KILL_AT=%u LD_PRELOAD=./killed.so "
                           "./r few",
                           at);
        if (status == 0)
            break;
        killed += build_run("test -e a") == 0;
        build_must("test $(RECORDER_FILE=a ./r few) = file");
        build_must("test -e a && cmp a.old kept || readelf -n a.old");
    }
    cr_assert(status == 0 && killed > 3, "%u, killed %u times", at, killed);
    /* Before the first byte: it may be another's that is being made. */
    build_must("rm a; (umask 077; >a); touch -d \"60 seconds\" a; "
               "RECORDER_FILE=a ./r few 2>said; "
               "cat said; touch -d \"5 seconds ago\" a; "
               "test $(RECORDER_FILE=a ./r few) = file && cmp a.old kept");
    cr_assert_not_null(strstr(build_text, "/a: in use by a process"));
}

/* Goal: %p and %e; nothing, and a path too long; recorder_file() as a function,
 * once. */
Test(recording, names_files, .init = build_long)
{
    char name[100], *end;
    build_once(COMPILE);
    build_must("RECORDER_FILE= ./r few && RECORDER_FILE=%%e.%%%%.%%q ./r few");
    cr_assert_str_eq(build_text, "memory\nfile\n");
    build_must("test -e r.%%.%%q");
    build_must("RECORDER_FILE=h.%%h ./r few && test -e h.$(uname -n) && "
               "RECORDER_FILE=t.%%t ./r few && ls t.*");
    cr_assert_lt(labs(atol(strrchr(build_text, '.') + 1) - (long)time(NULL)),
                 60);
    build_must("RECORDER_FILE=x.%%p ./r few && ls x.*");
    end = strchr(build_text, 'x');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(end, "\n"), end);
    {
        struct image image = image_open(name);
        cr_assert_eq(image.pid, (uintptr_t)atoi(name + 2));
        image_close(&image);
    }
    build_run("RECORDER_FILE=%04096d ./r few 2>&1", 1);
    cr_assert_not_null(strstr(build_text, "File name too long; records into "
                                          "memory\n"));
    build_run("./r later y >inside 2>said");
    build_must("set -e; head -1 inside; grep recorder said; test -e y");
    cr_assert_str_eq(build_text, "1000\nrecorder: y: the process has a "
                                 "recording already; records into memory\n");
    build_must("tail -n +3 inside >1; " TEST_ROOT
               "/build/recorder dump y | tail -n +2 | diff 1 -");
}

/* Sets the word of the note in a recording that says whether it is whole. */
static void must_be_half_made(const char *name)
{
    char path[200];
    struct stat stat;
    char *bytes, *note;
    int fd;
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    fd = open(path, O_RDWR);
    cr_assert(fd >= 0 && fstat(fd, &stat) == 0);
    bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                 fd, 0);
    cr_assert_neq(bytes, MAP_FAILED);
    note = memmem(bytes, (size_t)stat.st_size, "\1\0\0\0RECORDER", 13);
    cr_assert_not_null(note);
    /* After the note's type: its name, and three words. */
    ((uintptr_t *)(void *)(note + 16))[3] = 0;
    munmap(bytes, (size_t)stat.st_size);
    close(fd);
}

/* Goal: the command reports the file of a program that was killed while it made
 * it. Method: the first contents of the file; the same with a head that counts
 * no program header yet; a file with all but the last header. */
Test(recording, half_made)
{
    build_once(COMPILE);
    build_must("./r claim >f && truncate -s 1M f");
    cr_assert_eq(build_run(TEST_ROOT "/build/recorder dump f"), 1);
    cr_assert_str_eq(build_text,
                     "recorder: f: nothing is in it yet: its program makes it "
                     "just now, or was killed while it did\n");
    build_must("head -c 2 /dev/zero | dd of=f bs=1 seek=%d conv=notrunc "
               "status=none",
               sizeof(void *) == 8 ? 56 : 44);
    for (size_t i = 0; i < 3; i++) {
        static const char *const verbs[] = {"dump", "threads",
                                            "threads --locks"};
        cr_assert_eq(build_run(TEST_ROOT "/build/recorder %s f", verbs[i]), 1);
        cr_expect(strstr(build_text, " is in it yet: its program makes it just "
                                     "now, or was killed while it did\n"),
                  "%s: %s", verbs[i], build_text);
    }
    build_must("RECORDER_FILE=g ./r few");
    must_be_half_made("g");
    cr_assert_eq(build_run(TEST_ROOT "/build/recorder threads g"), 1);
    cr_expect_str_eq(build_text,
                     "recorder: g: no thread is in it yet: its program makes "
                     "it just now, or was killed while it did\n");
    build_must(TEST_ROOT "/build/recorder dump g");
}

/* Goal: no space, no right: one line, and nothing is left. */
Test(recording, needs_its_space)
{
    build_once(COMPILE);
    build_run("ulimit -f 100; RECORDER_FILE=small ./r few 2>&1; ls small");
    cr_assert_not_null(strstr(build_text, "/small: File too large; records "
                                          "into memory\nmemory\n"),
                       "%s", build_text);
    cr_assert_not_null(strstr(build_text, "No such file"));
    if (build_run("mkdir disk && unshare -m mount -t tmpfs -o size=128k x "
                  "disk") == 0) {
        build_must("unshare -m sh -c \"mount -t tmpfs -o size=128k x disk; "
                   "RECORDER_FILE=disk/a ./r few 2>&1; ls -A disk\"");
        cr_assert_not_null(strstr(build_text, "/disk/a: No space left on device"
                                              "; records into memory\n"),
                           "%s", build_text);
        cr_assert_str_eq(strchr(build_text, '\n'), "\nmemory\n");
    } else {
        fprintf(stderr, "left out: no right to mount\n");
    }
    if (geteuid() == 0) {
        build_must("chmod 755 . && mkdir no && setpriv --reuid 65534 env "
                   "RECORDER_FILE=no/a ./r few 2>&1");
        cr_assert_not_null(strstr(build_text, "/no/a: Permission denied; "
                                              "records into memory\nmemory\n"));
        /* What may not be opened is not called something that it may not be;
         * a recording of another user that may be is not ours. */
        build_must("RECORDER_FILE=theirs ./r few && chmod 777 . && "
                   "setpriv --reuid 65534 env RECORDER_FILE=theirs ./r few "
                   "2>&1");
        cr_assert_not_null(strstr(build_text, "/theirs: Permission denied; "
                                              "records into memory\n"));
        build_must("chmod 666 theirs && "
                   "setpriv --reuid 65534 env RECORDER_FILE=theirs ./r few "
                   "2>&1");
        cr_assert_not_null(strstr(build_text, "/theirs: exists, and is no "
                                              "recording of ours"), "%s",
                           build_text);
        build_must("cp r s && chmod 4755 s && setpriv --reuid 65534 "
                   "--clear-groups env RECORDER_FILE=setuid ./s few && "
                   "test ! -e setuid");
        cr_assert_str_eq(build_text, "memory\n");
    } else {
        fprintf(stderr, "left out: not root\n");
    }
}

/* ------------------------------------------------------- other processes -- */

/* Goal: a child of fork() has its own file, or none, and never writes into its
 * parent's. An executed program inherits nothing. */
Test(recording, leaves_children_alone)
{
    build_once(COMPILE);
    build_run("RECORDER_FILE=one ./r fork dumps >inside");
    build_must("set -e; grep -c \"child 2\" inside; grep -c before inside; ls one*");
    cr_assert_str_eq(build_text, "1\n1\none\n");
    build_run("RECORDER_FILE=two.%%p ./r fork; ls two.* | wc -l");
    cr_assert_str_eq(strrchr(build_text, '\n') - 1, "2\n", "%s", build_text);
    build_must(TEST_ROOT "/build/recorder dump one");
    cr_assert_null(strstr(build_text, "child"), "%s", build_text);
    cr_assert_not_null(strstr(build_text, "before"));
    cr_assert_not_null(strstr(build_text, "parent 4"));
    cr_assert_not_null(strstr(build_text, "after"));
    build_must("for f in two.*; do " TEST_ROOT "/build/recorder dump $f | "
               "tail -n +6 | sed \"s/.*: //\"; echo; done | sort | "
               "uniq -c | tr -s \" \"");
    cr_assert_str_eq(build_text,
                     " 2 \n 1 after\n 2 before\n 1 child 0\n 1 child 1\n"
                     " 1 child 2\n 1 parent 0\n 1 parent 1\n 1 parent 2\n"
                     " 1 parent 3\n 1 parent 4\n");
    build_must("RECORDER_FILE=three ./r exec");
    cr_assert_null(strstr(build_text, "three"), "%s", build_text);
    build_must(TEST_ROOT "/build/recorder dump three | tail -1");
    cr_assert_not_null(strstr(build_text, "before exec"));
}

/* Goal: libraries that are opened later are in the file, and stay there when
 * they are closed; others that take their place hide nothing. */
Test(recording, has_libraries, .init = build_long)
{
    build_once(COMPILE " -Wl,-E");
    build_must("gcc -O2 -fPIC -shared -DOWN " BUILD_INCLUDE
               "-D NAME=\\\"one\\\" -o one.so " LIBRARY);
    build_must("gcc -O2 -fPIC -shared -DOWN " BUILD_INCLUDE
               "-D NAME=\\\"two\\\" -o two.so " LIBRARY);
    build_must("gcc -O2 -fPIC -shared " BUILD_INCLUDE
               "-D NAME=\\\"borrower\\\" -o none.so " LIBRARY);
    build_run("RECORDER_FILE=f ./r open ./one.so >inside");
    build_must("tail -n +2 inside >1; " TEST_ROOT
               "/build/recorder dump f | tail -n +2 | diff 1 -");
    build_run("rm f; RECORDER_FILE=f ./r dlopen ./one.so ./one.so ./two.so "
              "./none.so ./one.so");
    build_must("rm *.so; " TEST_ROOT "/build/recorder dump f | "
               "sed \"s/ \\[.*\\] / /; s/^[0-9]* //\" | grep -v tiny | "
               "grep -v own | grep -v text:");
    for (int i = 2; i <= 6; i++) {
        static const char *const names[] = {"one", "one", "two", "borrower",
                                            "one"};
        for (int j = 0; j < 5; j++) {
            char line[100];
            snprintf(line, sizeof line, "shared: from %s: %d of %d\n",
                     names[i - 2], j, i);
            cr_assert_not_null(strstr(build_text, line), "%s%s", line,
                               build_text);
            if (i == 5)
                continue;
            snprintf(line, sizeof line, "library: %s: %d of %d, %s text\n",
                     names[i - 2], j, i, names[i - 2]);
            cr_assert_not_null(strstr(build_text, line), "%s%s", line,
                               build_text);
        }
    }
    cr_assert_not_null(strstr(build_text, "shared: all closed"));
    /* a library joins a program whose threads record */
    publish();
    build_must("gcc -O2 -fPIC -shared -DOWN " BUILD_INCLUDE
               "-D NAME=\\\"late\\\" -o late.so " LIBRARY);
    build_run("rm f; RECORDER_FILE=f ./r join published ./late.so >inside");
    build_must("set -e; tail -n +2 inside >1; test $(grep -c \"library: late:\" 1) = "
               "5; " TEST_ROOT
               "/build/recorder dump f | tail -n +2 | diff 1 -");
    /* linked at the start, its recorders come before the program's */
    build_must(
        "gcc -O2 -fPIC -shared -DOWN " BUILD_INCLUDE
        "-include recorder_dump.h -D NAME=\\\"early\\\" -o libe.so " LIBRARY);
    build_must(COMPILE " -Wl,--no-as-needed -L. -le -Wl,-rpath,.");
    build_run("rm f; RECORDER_FILE=f ./r dump >inside");
    build_must("set -e; tail -n +2 inside >1; grep -q library 1; " TEST_ROOT
               "/build/recorder dump f | tail -n +2 | diff 1 -");
}

/* Goal: a program of many libraries has them all. Method: the last of 40 has
 * the formats of the records. */
Test(recording, has_many_libraries, .init = build_long)
{
    build_must(
        "for i in $(seq 40); do echo \"int lib_$i(void) { return $i; }\" "
        ">l.c && gcc -shared -fPIC -o libl$i.so l.c; done; gcc -O2 "
        "-fPIC -shared -DOWN " BUILD_INCLUDE
        "-D NAME=\\\"last\\\" -o liblast.so " LIBRARY);
    build_must(COMPILE
               " -Wl,-E -Wl,--no-as-needed -L. $(for i in $(seq 40); do "
               "echo -ll$i; done) -llast -Wl,-rpath,.");
    build_run("RECORDER_FILE=f ./r linked >inside");
    build_must("set -e; tail -n +2 inside >1; grep -q \"library: last: 0\" 1; rm "
               "lib*.so; " TEST_ROOT
               "/build/recorder dump f | tail -n +2 | diff 1 -");
}

/* Goal: no undefined behaviour of C with a file. Method: the sanitizers of gcc
 * and clang, over what the tests above do. */
static void is_defined(const char *compiler)
{
    static const char *const verbs[] = {
        "few", "fork", "exec", "dlopen ./one.so ./one.so", "tokens moved"};
    const char *flags = "-fsanitize=undefined -fno-sanitize-recover=all";
    if (!build_can(compiler, flags))
        return;
    build_must("gcc -O2 -fPIC -shared -DOWN " BUILD_INCLUDE
               "-D NAME=\\\"one\\\" -o one.so " LIBRARY);
    build_must("%s %s -O1 " BUILD_INCLUDE "-Wl,-E -o r " PROGRAM
               " -lpthread -ldl",
               compiler, flags);
    for (unsigned i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        build_run("rm -f f.* moved; %s ./r %s 2>&1",
                  i == 4 ? "" : "RECORDER_FILE=f.%p", verbs[i]);
        cr_assert_null(strstr(build_text, "runtime error"), "%s %s: %s",
                       compiler, verbs[i], build_text);
        build_must("ls %s", i == 4 ? "moved" : "f.*");
    }
}
Test(recording, is_defined, .init = build_long)
{
    is_defined("gcc");
    is_defined("clang");
}

/* Goal: rings above 2 GiB are no different. */
Test(recording, may_be_large, .init = build_long)
{
    struct statvfs disk;
    struct stat stat;
    char path[200];
    struct image image;
    const struct recorder *big;
    const struct recorder_ring *ring;
    struct recorder_record r;
    uintptr_t slot, count = 0;
    if (sizeof(void *) < 8 || statvfs(build_folder, &disk) != 0 ||
        disk.f_bavail * disk.f_frsize < 4ull << 30)
        build_skip("no room for 2.2 GiB in /tmp");
    build_once(COMPILE " -DBIG -mcmodel=medium");
    build_run("RECORDER_FILE=big ./r full");
    cr_assert_not_null(strstr(build_text, "file\n"), "%s", build_text);
    snprintf(path, sizeof path, "%s/big", build_folder);
    cr_assert_eq(lstat(path, &stat), 0);
    cr_assert_gt(stat.st_size, 2ll << 30);
    image = image_open("big");
    big = image_recorder(&image, "big_1");
    ring = image_ring(&image, big, 0);
    for (slot = 0; slot < 200000; slot++)
        if (recorder_look_(ring, big->mask, slot, &r)) {
            cr_assert(is_checked(&r));
            count++;
        }
    cr_assert_eq(count, 100000);
    image_close(&image);
    build_must(TEST_ROOT "/build/recorder dump big | tail -1");
    cr_assert_not_null(strstr(build_text, "big_2: "));
}
