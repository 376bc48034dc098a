/* file.c - ELF files as a source: core files, recordings, memory images. */
/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODULES_MAX = 65536 }; /* a process of Linux has no more mappings */

/* Bytes of a file that stood at an address. */
struct segment {
    uint64_t start, size;
    const unsigned char *bytes;
    bool writable;
};
struct segments {
    struct segment *all;
    size_t count;
};

/* A file that is mapped. */
struct mapped {
    unsigned char *bytes;
    size_t size;
    struct mapped *next;
};

/* A program or library whose read-only data the core file leaves out. */
struct binary {
    char *path;
    bool opened;
    struct mapped *file; /* null: it cannot be read, or is another build */
    struct binary *next;
};

struct file {
    struct memory memory;
    struct segments images;   /* they lie over the others */
    struct segments segments; /* sorted, of the file itself */
    struct segments program;  /* of --executable, where no notes tell more */
    struct mapped *mapped;
    struct binary *binaries;
    struct source *source;
    struct source_how how;
    int32_t *threads; /* of a core file: those that there were */
    size_t threads_count;
    uint64_t entry;
    bool is_program; /* not a core file: a firmware's ELF file */
    bool half_made;  /* a recording that its program has not finished making */
};

/* ---------------------------------------------------------------- mapped -- */

/* Who maps a file that another cuts off gets SIGBUS. */
static const char *file_at_work;
static void cut_off(int sig)
{
    static const char text[] = ": was cut off while it was read\n";
    (void)sig;
    if (write(2, "recorder: ", 10) < 0 ||
        write(2, file_at_work, strlen(file_at_work)) < 0 ||
        write(2, text, sizeof text - 1) < 0)
        _exit(1);
    _exit(1);
}

/* Maps a whole file; null, and errno: it cannot be. */
static struct mapped *mapped_open(struct file *file, const char *path)
{
    int fd = -1, error;
    struct mapped *mapped = calloc(1, sizeof *mapped);
    struct stat is;
    if (!mapped || stat(path, &is) != 0)
        goto failed;
    if (!S_ISREG(is.st_mode)) { /* to open a device may do something */
        errno = S_ISDIR(is.st_mode) ? EISDIR : EINVAL;
        goto failed;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &is) != 0)
        goto failed;
    mapped->size = (size_t)is.st_size;
    if (mapped->size) {
        mapped->bytes = mmap(NULL, mapped->size, PROT_READ, MAP_SHARED, fd, 0);
        if (mapped->bytes == MAP_FAILED)
            goto failed;
    }
    close(fd);
    mapped->next = file->mapped;
    file->mapped = mapped;
    return mapped;
failed:
    error = errno;
    if (fd >= 0)
        close(fd);
    free(mapped);
    errno = error;
    return NULL;
}

/* -------------------------------------------------------------- segments -- */

static bool segment_add(struct segments *to, uint64_t start, uint64_t size,
                        const unsigned char *bytes, bool writable)
{
    struct segment *all = to->all;
    if ((to->count & (to->count + 1)) == 0) {
        all = realloc(all, (2 * to->count + 1) * sizeof *all);
        if (!all)
            return false;
        to->all = all;
    }
    all[to->count++] = (struct segment){start, size, bytes, writable};
    return true;
}

static int segment_compare(const void *a, const void *b)
{
    const struct segment *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* The segment that has an address; null: none. They are sorted, and where they
 * lie over each other, what starts later counts. `most` becomes at most what is
 * left until the next one starts. */
static const struct segment *segment_at(const struct segments *in,
                                        uint64_t address, uint64_t *most)
{
    size_t low = 0, high = in->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (in->all[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < in->count && in->all[low].start - address < *most)
        *most = in->all[low].start - address;
    if (low == 0 || address - in->all[low - 1].start >= in->all[low - 1].size)
        return NULL;
    return &in->all[low - 1];
}

/* What of an ELF file's segments is there. Of what is cut off, `cut` counts the
 * bytes. Segments that share more of the file than the ends of pages are made
 * up, to be searched forever: they are left out. */
static void segments_of(struct segments *to, const struct mapped *mapped,
                        Elf *elf, uint64_t *cut)
{
    size_t count = 0, i;
    uint64_t all = 0;
    if (elf_getphdrnum(elf, &count) != 0)
        return;
    for (i = 0; i < count && i < 1000000; i++) {
        GElf_Phdr p;
        uint64_t size;
        if (!gelf_getphdr(elf, (int)i, &p))
            break;
        if (p.p_type != PT_LOAD || p.p_filesz == 0)
            continue;
        size = p.p_filesz;
        if (p.p_offset >= mapped->size)
            size = 0;
        else if (size > mapped->size - p.p_offset)
            size = mapped->size - p.p_offset;
        if (p.p_vaddr + size < p.p_vaddr)
            size = 0 - p.p_vaddr;
        *cut += p.p_filesz - size;
        all += size;
        if (all / 2 > mapped->size)
            break;
        if (size && !segment_add(to, p.p_vaddr, size,
                                 mapped->bytes + p.p_offset, p.p_flags & PF_W))
            break;
    }
    if (to->count)
        qsort(to->all, to->count, sizeof *to->all, segment_compare);
}

/* -------------------------------------------------------------- binaries -- */

size_t source_build_id(Elf *elf, unsigned char to[64])
{
    size_t count = 0, i;
    if (elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (i = 0; i < count && i < 256; i++) {
        GElf_Phdr p;
        GElf_Nhdr note;
        Elf_Data *data;
        size_t at = 0, name, value;
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_NOTE ||
            p.p_filesz > 65536)
            continue;
        data = elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz,
                                    p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
        while (data && (at = gelf_getnote(data, at, &note, &name, &value)) > 0)
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                memcmp((char *)data->d_buf + name, "GNU", 4) == 0 &&
                note.n_descsz <= 64) {
                memcpy(to, (char *)data->d_buf + value, note.n_descsz);
                return note.n_descsz;
            }
    }
    return 0;
}

/* The build-id that the core file has of what is mapped at an address. */
static size_t build_id_at(struct file *file, uint64_t address,
                          unsigned char to[64])
{
    uint64_t most = UINT64_MAX;
    const struct segment *s = segment_at(&file->segments, address, &most);
    size_t size;
    Elf *elf;
    if (!s || s->start != address)
        return 0;
    elf = elf_memory((char *)(uintptr_t)s->bytes, s->size);
    if (!elf)
        return 0;
    size = source_build_id(elf, to);
    elf_end(elf);
    return size;
}

/* Is it a file of the very build that was mapped at `address`? Where either has
 * no build-id, it is taken for that. */
static bool binary_is(struct file *file, const struct mapped *mapped,
                      uint64_t address)
{
    unsigned char core[64], here[64];
    size_t size = build_id_at(file, address, core), found;
    Elf *elf = elf_memory((char *)mapped->bytes, mapped->size);
    if (!elf)
        return false;
    found = source_build_id(elf, here);
    elf_end(elf);
    return size == 0 || found == 0 ||
           (size == found && memcmp(core, here, size) == 0);
}

/* Where the first byte of a module's file was mapped. */
static uint64_t module_base(const struct source *source, const char *path)
{
    for (size_t i = 0; i < source->modules_count; i++)
        if (source->modules[i].offset == 0 &&
            strcmp(source->modules[i].path, path) == 0)
            return source->modules[i].start;
    return 0;
}

/* The module that an address lies in; null: none. They are sorted. */
static struct module *module_at(const struct source *source, uint64_t address)
{
    size_t low = 0, high = source->modules_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (source->modules[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < source->modules[low - 1].end
               ? &source->modules[low - 1]
               : NULL;
}

/* The file of a module, opened when it is first needed. */
static struct mapped *binary_file(struct file *file, struct module *module)
{
    struct binary *b = module->binary;
    const char *path = module->path;
    if (b)
        return b->file;
    for (b = file->binaries; b; b = b->next)
        if (strcmp(b->path, path) == 0) {
            module->binary = b;
            return b->file;
        }
    b = calloc(1, sizeof *b);
    if (!b || !(b->path = strdup(path))) {
        free(b);
        return NULL;
    }
    b->next = file->binaries;
    file->binaries = module->binary = b;
    b->file = mapped_open(file, module->place ? module->place : path);
    if (b->file && !binary_is(file, b->file, module_base(file->source, path)))
        b->file = NULL;
    return b->file;
}

/* What a module's file has of an address: the file was mapped there. */
static const unsigned char *module_bytes(struct file *file, uint64_t address,
                                         uint64_t *size)
{
    struct module *m = module_at(file->source, address);
    const struct mapped *binary = m ? binary_file(file, m) : NULL;
    uint64_t offset;
    if (!binary)
        return NULL;
    offset = m->offset + (address - m->start);
    if (offset < m->offset || offset >= binary->size)
        return NULL;
    *size = binary->size - offset;
    if (*size > m->end - address)
        *size = m->end - address;
    return binary->bytes + offset;
}

/* ---------------------------------------------------------------- memory -- */

/* The bytes from an address on, and how many stand there in one piece. */
static const unsigned char *file_bytes(struct file *file, uint64_t address,
                                       uint64_t *size)
{
    const struct segments *in[] = {&file->images, &file->segments,
                                   &file->program};
    const unsigned char *bytes = NULL;
    uint64_t most = UINT64_MAX; /* until something begins that lies over it */
    for (size_t i = 0; i < 3 && !bytes; i++) {
        const struct segment *s = segment_at(in[i], address, &most);
        if (!s)
            continue;
        *size = s->size - (address - s->start);
        bytes = s->bytes + (address - s->start);
    }
    if (!bytes)
        bytes = module_bytes(file, address, size);
    if (*size > most)
        *size = most;
    return bytes;
}

static size_t file_read(struct memory *memory, uint64_t address, void *to,
                        size_t size)
{
    struct file *file = (struct file *)memory;
    size_t done = 0;
    while (done < size) {
        uint64_t count = 0;
        const unsigned char *bytes = file_bytes(file, address + done, &count);
        if (!bytes || count == 0)
            break;
        if (count > size - done)
            count = size - done;
        memcpy((char *)to + done, bytes, count);
        done += count;
    }
    return done;
}

static const void *file_map(struct memory *memory, uint64_t address,
                            size_t size)
{
    uint64_t count = 0;
    const unsigned char *bytes =
        file_bytes((struct file *)memory, address, &count);
    return bytes && count >= size ? bytes : NULL;
}

/* ----------------------------------------------------------------- notes -- */

static uint64_t note_word(const struct file *file, const unsigned char *from)
{
    unsigned word = file->memory.word_bytes, i;
    uint64_t value = 0;
    for (i = 0; i < word; i++)
        value = value << 8 | from[file->memory.big_endian ? i : word - 1 - i];
    return value;
}

/* NT_FILE: how many, the page size, {start, end, page} of each, their paths. */
static void note_files(struct file *file, const unsigned char *d, size_t size)
{
    unsigned word = file->memory.word_bytes;
    uint64_t count, page, i;
    const char *path, *end = (const char *)d + size;
    if (size < 2 * word)
        return;
    count = note_word(file, d);
    page = note_word(file, d + word);
    if (count > (size / word - 2) / 3)
        return;
    path = (const char *)d + (2 + 3 * count) * word;
    for (i = 0; i < count; i++) {
        const unsigned char *row = d + (2 + 3 * i) * word;
        size_t length = strnlen(path, (size_t)(end - path));
        if (path + length >= end || length >= PATH_MAX ||
            file->source->modules_count == MODULES_MAX ||
            !source_module(
                file->source, note_word(file, row), note_word(file, row + word),
                note_word(file, row + 2 * word) * page, path, length, false))
            return;
        path += length + 1;
    }
}

static void note_auxiliary(struct file *file, const unsigned char *d,
                           size_t size)
{
    unsigned word = file->memory.word_bytes;
    for (; size >= 2 * word; d += 2 * word, size -= 2 * word)
        if (note_word(file, d) == AT_ENTRY)
            file->entry = note_word(file, d + word);
}

/* NT_PRSTATUS, one a thread: its id stands behind struct elf_siginfo, the
 * signal at hand and two sets of signals. */
static void note_thread(struct file *file, const unsigned char *d, size_t size)
{
    unsigned word = file->memory.word_bytes, at = 16 + 2 * word, i;
    uint32_t id = 0;
    int32_t *threads = file->threads;
    size_t count = file->threads_count;
    if (size < at + 4)
        return;
    if ((count & (count + 1)) == 0) { /* room for twice as many */
        threads = realloc(threads, (2 * count + 1) * sizeof *threads);
        if (!threads)
            return;
        file->threads = threads;
    }
    for (i = 0; i < 4; i++)
        id = id << 8 | d[at + (file->memory.big_endian ? i : 3 - i)];
    threads[file->threads_count++] = (int32_t)id;
}

static int thread_compare(const void *a, const void *b)
{
    const int32_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

static bool file_thread(struct memory *memory, int32_t id, char name[16])
{
    const struct file *file = (const struct file *)memory;
    (void)name;
    return bsearch(&id, file->threads, file->threads_count, sizeof id,
                   thread_compare);
}

/* Ours, of a recording: its layout, the address of the registry, the process
 * id, and whether it is whole. */
static void note_recorder(struct file *file, const unsigned char *d,
                          size_t size)
{
    unsigned word = file->memory.word_bytes;
    if (size < 2 * word)
        return;
    file->half_made = size >= 4 * word && note_word(file, d + 3 * word) == 0;
    if (file->half_made) { /* is it there already? */
        source_candidate(file->source, note_word(file, d + word));
    } else {
        file->source->registry = note_word(file, d + word);
        file->source->registries = 1;
    }
    file->memory.stale_order = true;
    file->memory.live = true; /* perhaps */
}

static int module_compare(const void *a, const void *b)
{
    const struct module *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* A core file has one such segment; many that share their notes are made up. */
static void notes_read(struct file *file, const struct mapped *mapped, Elf *elf)
{
    struct source *source = file->source;
    size_t count = 0, i, all = 0, notes = 0;
    if (elf_getphdrnum(elf, &count) != 0)
        return;
    for (i = 0; i < count && i < 1000000 && notes < 16; i++) {
        GElf_Phdr p;
        GElf_Nhdr note;
        Elf_Data *data;
        size_t at = 0, name, value;
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_NOTE ||
            p.p_filesz > mapped->size - all)
            continue;
        notes++;
        all += p.p_filesz;
        data = elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz,
                                    p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
        while (data &&
               (at = gelf_getnote(data, at, &note, &name, &value)) > 0) {
            const char *owner = (char *)data->d_buf + name;
            const unsigned char *d = (unsigned char *)data->d_buf + value;
            if (note.n_namesz == 9 && memcmp(owner, "RECORDER", 9) == 0) {
                if (note.n_type == 1)
                    note_recorder(file, d, note.n_descsz);
            } else if (note.n_type == NT_FILE) {
                note_files(file, d, note.n_descsz);
            } else if (note.n_type == NT_PRSTATUS) {
                note_thread(file, d, note.n_descsz);
            } else if (note.n_type == NT_AUXV) {
                note_auxiliary(file, d, note.n_descsz);
            }
        }
    }
    if (file->threads_count)
        qsort(file->threads, file->threads_count, sizeof *file->threads,
              thread_compare);
    if (source->modules_count)
        qsort(source->modules, source->modules_count, sizeof *source->modules,
              module_compare);
}

/* ------------------------------------------------------------------ open -- */

static void file_close(struct source *source)
{
    struct file *file = (struct file *)source->memory;
    while (file->mapped) {
        struct mapped *next = file->mapped->next;
        if (file->mapped->bytes)
            munmap(file->mapped->bytes, file->mapped->size);
        free(file->mapped);
        file->mapped = next;
    }
    while (file->binaries) {
        struct binary *next = file->binaries->next;
        free(file->binaries->path);
        free(file->binaries);
        file->binaries = next;
    }
    free(file->threads);
    free(file->images.all);
    free(file->segments.all);
    free(file->program.all);
    free(file);
}

/* "ADDRESS:FILE": a piece of memory as it was copied out of a machine. */
static const char *image_add(struct file *file, const char *image)
{
    struct source *source = file->source;
    struct mapped *mapped;
    char *end;
    unsigned long long address = strtoull(image, &end, 0);
    if (end == image || *end != ':' || !end[1])
        return source_wrong(source, "%s is not ADDRESS:FILE", image);
    mapped = mapped_open(file, end + 1);
    if (!mapped)
        return source_wrong(source, "%s: %s", end + 1, strerror(errno));
    if (!segment_add(&file->images, address, mapped->size, mapped->bytes, true))
        return source_wrong(source, "there is no memory for it");
    file->memory.size += mapped->size;
    qsort(file->images.all, file->images.count, sizeof *file->images.all,
          segment_compare);
    return NULL;
}

/* --executable, of a core file that has no list of its files: a debugger's. */
static const char *program_add(struct file *file)
{
    struct source *source = file->source;
    struct mapped *mapped = mapped_open(file, file->how.executable);
    uint64_t cut = 0;
    Elf *elf;
    if (!mapped)
        return source_wrong(source, "%s: %s", file->how.executable,
                            strerror(errno));
    elf = elf_memory((char *)mapped->bytes, mapped->size);
    if (!elf || elf_kind(elf) != ELF_K_ELF) {
        elf_end(elf);
        return source_wrong(source, "%s: is no ELF file", file->how.executable);
    }
    segments_of(&file->program, mapped, elf, &cut);
    elf_end(elf);
    return NULL;
}

/* The program must be the one that left the core file. */
static const char *program_check(struct file *file)
{
    struct source *source = file->source;
    const struct module *program = module_at(source, file->entry);
    const char *path, *place;
    struct mapped *mapped;
    if (!program)
        return NULL;
    path = program->path;
    place = file->how.executable ? file->how.executable : path;
    for (size_t i = 0; i < source->modules_count; i++)
        if (strcmp(source->modules[i].path, path) == 0)
            source->modules[i].place = file->how.executable;
    mapped = mapped_open(file, place);
    if (!mapped) {
        if (file->how.executable)
            return source_wrong(source, "%s: %s", place, strerror(errno));
        if (!file->memory.stale_order) /* a recording has all that it needs */
            snprintf(source->warning, sizeof source->warning,
                     "its program %s is not there (%s): name it with "
                     "--executable",
                     path, strerror(errno));
        return NULL;
    }
    if (binary_is(file, mapped, module_base(source, path)))
        return NULL;
    if (!file->memory.stale_order || file->how.executable)
        return source_wrong(source,
                            "%s is not the program that left it: their "
                            "build-ids differ; name the right one with "
                            "--executable",
                            place);
    return NULL;
}

/* Registries are variables: in segments that can be written and belong to a
 * file, else in any. */
static void file_scan(struct source *source, struct file *file)
{
    const struct segments *in[] = {&file->images, &file->segments};
    for (int narrow = 1; narrow >= 0 && !source->registries; narrow--)
        for (size_t k = 0; k < 2; k++)
            for (size_t i = 0; i < in[k]->count; i++) {
                const struct segment *s = &in[k]->all[i];
                bool in_file =
                    source->modules_count == 0 || module_at(source, s->start);
                if ((s->writable && in_file) || !narrow)
                    source_scan(source, s->start, s->start + s->size);
            }
}

static const char *elf_read(struct source *source, struct file *file,
                            const struct mapped *mapped, Elf *elf)
{
    GElf_Ehdr header;
    uint64_t cut = 0;
    const char *wrong = NULL;
    if (!gelf_getehdr(elf, &header))
        return source_wrong(source, "its ELF header is damaged");
    source_kind(&file->memory, header.e_ident, header.e_machine);
    file->is_program = header.e_type != ET_CORE;
    if (header.e_phoff > mapped->size ||
        (uint64_t)header.e_phnum * header.e_phentsize >
            mapped->size - header.e_phoff)
        return source_wrong(source, "it is cut off within its program headers");
    segments_of(&file->segments, mapped, elf, &cut);
    if (!file->is_program)
        notes_read(file, mapped, elf);
    if (file->threads_count && !file->memory.stale_order)
        file->memory.thread = file_thread; /* of a recording, it is only one */
    file->memory.size += cut < mapped->size ? cut : mapped->size;
    if (cut)
        snprintf(source->warning, sizeof source->warning,
                 "it is cut off: %llu bytes are missing",
                 (unsigned long long)cut);
    if (file->is_program && !file->how.images_count)
        return source_wrong(source, "is a program, no core file or recording");
    for (size_t i = 0; i < file->how.images_count && !wrong; i++)
        wrong = image_add(file, file->how.images[i]);
    if (!wrong && file->how.executable && !source->modules_count)
        wrong = program_add(file);
    if (!wrong)
        wrong = program_check(file);
    if (!wrong && !source->registry)
        file_scan(source, file);
    if (!wrong && !source->registry && file->half_made)
        wrong = source_wrong(source,
                             "nothing is in it yet: its program makes it just "
                             "now, or was killed while it did");
    if (!wrong && !source->registry && cut)
        wrong = source_wrong(
            source, "no recorder in it; it is cut off: %llu bytes are missing",
            (unsigned long long)cut);
    return wrong;
}

const char *source_open_file(struct source *source, const char *path,
                             const struct source_how *how)
{
    struct file *file = calloc(1, sizeof *file);
    struct mapped *mapped;
    struct sigaction action = {.sa_handler = cut_off};
    const char *wrong;
    Elf *elf;
    if (!file)
        return source_wrong(source, "there is no memory for it");
    source->memory = &file->memory;
    source->close = file_close;
    file->source = source;
    file->how = *how;
    file->memory.read = file_read;
    file->memory.map = file_map;
    file_at_work = path;
    sigaction(SIGBUS, &action, NULL);
    mapped = mapped_open(file, path);
    if (!mapped)
        return source_wrong(source, "%s",
                            errno == EINVAL ? "is no regular file"
                                            : strerror(errno));
    if (mapped->size == 0)
        return source_wrong(source, "is empty");
    file->memory.size = mapped->size;
    elf_version(EV_CURRENT);
    elf = elf_memory((char *)mapped->bytes, mapped->size);
    if (!elf || elf_kind(elf) != ELF_K_ELF)
        wrong = source_wrong(source, "is no core file and no recording");
    else
        wrong = elf_read(source, file, mapped, elf);
    elf_end(elf);
    return wrong;
}
