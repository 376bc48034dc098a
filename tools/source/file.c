/* file.c - ELF files as a source: core files, recordings, memory images. */
/* SPDX-License-Identifier: MIT */
#include "file.h"
#include "array.h"

#include <gelf.h>
#include <signal.h>
#include <sys/mman.h>

/* ---------------------------------------------------------------- memory -- */

/* Returns the bytes at an address, *size of them in one piece; null: none. */
static const unsigned char *file_bytes(struct file *file, uint64_t address,
                                       uint64_t *size)
{
    const struct segments *in[] = {&file->images, &file->segments,
                                   &file->program};
    const unsigned char *bytes = NULL;
    uint64_t most = UINT64_MAX; /* bytes until an overlaying image begins */
    bool is_image = false;
    for (size_t i = 0; i < 3 && !bytes; i++) {
        const struct segment *s = segment_at(in[i], address, &most);
        if (!s)
            continue;
        is_image = i == 0;
        *size = s->size - (address - s->start);
        bytes = s->bytes + (address - s->start);
    }
    if (file->stream && !is_image && !range_has(&file->fixed, address))
        return NULL; /* the board may have changed it */
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
        mapped_copy(file->mapped, (char *)to + done, bytes, count);
        done += count;
    }
    return done;
}

static const void *file_map(struct memory *memory, uint64_t address,
                            size_t size)
{
    struct file *file = (struct file *)memory;
    uint64_t count = 0;
    const unsigned char *bytes = file_bytes(file, address, &count);
    return bytes && count >= size && !mapped_by_fd(file->mapped, bytes) ? bytes
                                                                        : NULL;
}

/* The `elsewhere` of struct source: another segment begins with the same bytes
 * of the file. */
static uint64_t file_elsewhere(struct source *source, uint64_t address)
{
    struct file *file = (struct file *)source->memory;
    uint64_t size;
    const unsigned char *bytes = file_bytes(file, address, &size);
    for (size_t i = 0; bytes && i < file->segments.count; i++)
        if (file->segments.all[i].bytes == bytes &&
            file->segments.all[i].start != address)
            return file->segments.all[i].start;
    return 0;
}

/* ------------------------------------------------------------------ open -- */

/* SIGBUS comes if another process truncates a file that is mapped here. */
static struct file *files; /* that are open */
static void cut_off(int sig, siginfo_t *info, void *context)
{
    static const char text[] = ": was cut off while it was read\n";
    const struct file *file = files, *known = NULL;
    const char *at = info->si_addr, *path;
    (void)sig, (void)context;
    for (; file && !known; file = file->next)
        for (const struct mapped *m = file->mapped; m && !known; m = m->next)
            if (at >= (char *)m->bytes - m->before &&
                at < (char *)m->bytes + m->size)
                known = file;
    path = known ? known->path : files ? files->path : "?";
    if (write(2, "recorder: ", 10) < 0 || write(2, path, strlen(path)) < 0 ||
        write(2, text, sizeof text - 1) < 0)
        _exit(1);
    _exit(1);
}

static void file_close(struct source *source)
{
    struct file *file = (struct file *)source->memory, **at = &files;
    while (*at && *at != file)
        at = &(*at)->next;
    if (*at)
        *at = file->next;
    while (file->mapped) {
        struct mapped *next = file->mapped->next;
        if (file->mapped->fd >= 0)
            close(file->mapped->fd);
        if (file->mapped->bytes)
            munmap(file->mapped->bytes - file->mapped->before,
                   file->mapped->size + file->mapped->before);
        free(file->mapped->extents);
        free(file->mapped);
        file->mapped = next;
    }
    while (file->binaries) {
        struct binary *next = file->binaries->next;
        free(file->binaries->path);
        free(file->binaries);
        file->binaries = next;
    }
    stream_close(file->stream);
    free(file->loads.all);
    free(file->constants.all);
    free(file->fixed.all);
    free(file->threads);
    free(file->images.all);
    free(file->segments.all);
    free(file->program.all);
    free(file->head);
    free(file);
}

/* Adds "ADDRESS:FILE": a piece of memory that was copied out of a machine. */
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
    segment_add(&file->images, address, mapped->size, mapped->bytes, true);
    file->memory.size += mapped->worth;
    array_sort(file->images.all, file->images.count, array_compare);
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
    constants_of_bare(file, elf);
    elf_end(elf);
    source->program = file->how.executable;
    return NULL;
}

/* The program must be the one that left the core file. */
static const char *program_check(struct file *file)
{
    struct source *source = file->source;
    struct module *program = module_at(source, file->entry);
    const char *named = file->how.executable, *path;
    char why[128];
    int fd;
    if (!program && file->headers && !source->modules_count)
        snprintf(source->warning, sizeof source->warning,
                 "it has no list of the files that its program mapped: name "
                 "the program with --executable, and the folder of its "
                 "libraries with --sysroot");
    if (!program)
        return NULL;
    path = program->path;
    program = module_first(source, path);
    if (program) {
        program->place = named;
        fd = module_open(source, program);
        if (fd >= 0)
            return close(fd), NULL;
    }
    if (file->memory.stale_order && !named)
        return NULL; /* a recording needs no executable */
    if (!program || program->state == MODULE_UNKNOWN)
        strcpy(why, "was not opened: no build-id of it is known");
    else if (program->state == MODULE_MISSING && named)
        return source_wrong(source, "%s: %s", named,
                            regular_error(program->error));
    else if (program->state == MODULE_MISSING)
        snprintf(why, sizeof why,
                 program->error == EINVAL ? "%s" : "is not there (%s)",
                 regular_error(program->error));
    else
        return source_wrong(source,
                            "%s is not the program that left it: their "
                            "build-ids differ; name the right one with "
                            "--executable",
                            named ? named : path);
    snprintf(source->warning, sizeof source->warning,
             "its program %s %s: name it with --executable", path, why);
    return NULL;
}

/* Looks for registries in a segment, but not in the file's holes. */
static void segment_scan(struct source *source, struct file *file,
                         const struct segment *s)
{
    const struct mapped *m = file->mapped;
    while (m && (!m->bytes || s->bytes < m->bytes ||
                 (size_t)(s->bytes - m->bytes) >= m->size))
        m = m->next;
    for (size_t i = 0; m && i < m->extents_count; i++) {
        uint64_t first = (uint64_t)(s->bytes - m->bytes);
        uint64_t start = m->extents[i].start, end = m->extents[i].end;
        start = start > first ? start - first : 0;
        end = end > first ? end - first : 0;
        if (end > s->size)
            end = s->size;
        if (start >= end)
            continue;
        file->scanned += end - start; /* segments may share their bytes */
        if (file->scanned / 4 > m->data)
            return;
        source_scan(source, s->start + start, s->start + end);
    }
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
                    segment_scan(source, file, s);
            }
}

const char *source_half_made(struct source *source, const char *what)
{
    return source_wrong(source,
                        "%s is in it yet: its program makes it just now, or "
                        "was killed while it did",
                        what);
}

/* A program that makes a recording writes a note of whose it is, then a head
 * that counts no program header yet, and then the headers. */
static bool claim_is_alone(const struct mapped *mapped, const GElf_Ehdr *header)
{
    enum { CLAIM = 512 }; /* its bytes are fewer */
    return header->e_type == ET_CORE && header->e_phnum == 0 &&
           memmem(mapped->bytes, mapped->size < CLAIM ? mapped->size : CLAIM,
                  NOTE_OWNER, sizeof NOTE_OWNER);
}

/* Copies the ELF header and the program headers of a recording, which its
 * program may be changing, in one state: *size bytes. False: it changes them all
 * the time, or there is no memory. */
static bool head_copy(const struct mapped *mapped, unsigned char **to,
                      size_t *size)
{
    enum { TRIES = 100 };
    for (int tries = 0; tries < TRIES; tries++) {
        Elf *elf = elf_memory((char *)mapped->bytes, mapped->size);
        GElf_Ehdr header = {0};
        unsigned char *head;
        bool is = gelf_getehdr(elf, &header);
        /* libelf takes this size, too, whatever e_phentsize says. */
        *size = header.e_phnum * gelf_fsize(elf, ELF_T_PHDR, 1, EV_CURRENT);
        elf_end(elf);
        if (!is || header.e_phoff > mapped->size ||
            *size > mapped->size - header.e_phoff)
            return false;
        *size += header.e_phoff;
        head = realloc(*to, *size);
        if (!head)
            return false;
        *to = head;
        mapped_copy(mapped, head, mapped->bytes, *size);
        if (memcmp(head, mapped->bytes, *size) == 0)
            return true;
    }
    return false;
}

/* Reads the program headers of a recording again, if its program has changed
 * them. */
static bool file_renew(struct memory *memory)
{
    struct file *file = (struct file *)memory_base(memory);
    struct segments segments = {0};
    unsigned char *head = NULL;
    size_t size;
    uint64_t cut = 0;
    bool is = head_copy(file->recording, &head, &size);
    Elf *elf;
    if (!is ||
        (size == file->head_size && memcmp(head, file->head, size) == 0)) {
        free(head);
        return is;
    }
    elf = elf_memory((char *)head, size);
    segments_of(&segments, file->recording, elf, &cut);
    free(file->segments.all);
    file->segments = segments;
    file->loads.count = file->constants.count = 0;
    constants_of(file, elf);
    elf_end(elf);
    free(file->head);
    file->head = head;
    file->head_size = size;
    return true;
}

/* Reads the contents of an ELF file: segments, and notes or sections; *cut
 * becomes the number of missing bytes at its end. Null, or the error. */
static const char *elf_read(struct source *source, struct file *file,
                            const struct mapped *mapped, Elf *elf,
                            const char *path, uint64_t *cut)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header))
        return source_wrong(source, "its ELF header is damaged");
    source_kind(&file->memory, header.e_ident, header.e_machine);
    file->is_program = header.e_type != ET_CORE;
    if (file->is_program)
        source->program = path;
    if (header.e_phoff > mapped->size ||
        (uint64_t)header.e_phnum * header.e_phentsize >
            mapped->size - header.e_phoff)
        return source_wrong(source, "it is cut off within its program headers");
    segments_of(&file->segments, mapped, elf, cut);
    constants_of(file, elf);
    if (file->is_program)
        constants_of_bare(file, elf);
    else
        notes_read(file, mapped, elf);
    source->half_made |= claim_is_alone(mapped, &header);
    if (file->memory.stale_order && header.e_phnum != PN_XNUM) {
        file->recording = mapped;
        file->memory.renew = file_renew;
    }
    if (file->threads_count && !file->memory.stale_order)
        file->memory.thread = file_thread; /* of a recording, it is only one */
    file->memory.size += *cut < mapped->worth ? *cut : mapped->worth;
    source->cut_off = *cut > 0;
    if (*cut)
        snprintf(source->warning, sizeof source->warning,
                 "it is cut off: %llu bytes are missing",
                 (unsigned long long)*cut);
    if (file->is_program && !file->how.images_count && !file->how.stream)
        return source_wrong(source, "is a program, no core file or recording");
    return NULL;
}

/* Adds the rest of the program's memory, and finds its registry. Null, or the
 * error. */
static const char *registry_find(struct source *source, struct file *file,
                                 uint64_t cut)
{
    const char *wrong = NULL;
    for (size_t i = 0; i < file->how.images_count && !wrong; i++)
        wrong = image_add(file, file->how.images[i]);
    if (!wrong && file->how.executable && !source->modules_count &&
        file->headers)
        linked_read(file);
    if (!wrong && file->how.executable && !source->modules_count)
        wrong = program_add(file);
    if (!wrong)
        wrong = program_check(file);
    if (!wrong && !source->registry)
        file_scan(source, file);
    if (!wrong && !source->registry && source->half_made)
        wrong = source_half_made(source, "nothing");
    if (!wrong && !source->registry && cut && !file->how.unprepared)
        wrong = source_wrong(
            source, "no recorder in it; it is cut off: %llu bytes are missing",
            (unsigned long long)cut);
    return wrong;
}

/* Reads the file at a path. */
static const char *file_open(struct source *source, struct file *file,
                             const char *path)
{
    struct mapped *mapped = mapped_open(file, path);
    const char *wrong;
    uint64_t cut = 0;
    Elf *elf;
    if (!mapped)
        return source_wrong(source, "%s", regular_error(errno));
    if (mapped->size == 0)
        return source_wrong(source, "is empty");
    elf_version(EV_CURRENT);
    copies_find(file, mapped, path);
    file->memory.size = mapped->worth;
    elf = elf_memory((char *)mapped->bytes, mapped->size);
    if (!elf || elf_kind(elf) != ELF_K_ELF)
        wrong = source_wrong(source, "is no core file and no recording");
    else
        wrong = elf_read(source, file, mapped, elf, path, &cut);
    if (!wrong)
        wrong = registry_find(source, file, cut);
    if (!wrong && file->how.stream && !file->is_program)
        wrong = source_wrong(source, "is no firmware");
    if (!wrong && file->how.stream && source->registry)
        wrong = stream_open(file, file->how.stream);
    elf_end(elf);
    return wrong;
}

const char *source_open_file(struct source *source, const char *path,
                             const struct source_how *how)
{
    struct file *file = need(calloc(1, sizeof *file));
    struct sigaction action = {.sa_sigaction = cut_off, .sa_flags = SA_SIGINFO};
    char name[64];
    const char *wrong;
    bool is_remote = source_is_remote(path);
    int unpacked;
    source->memory = &file->memory;
    source->close = file_close;
    source->build_id = file_build_id;
    source->elsewhere = file_elsewhere;
    source->sysroot = how->sysroot;
    file->source = source;
    file->how = *how;
    file->memory.read = file_read;
    file->memory.map = file_map;
    file->memory.constant = file_constant;
    file->path = path;
    file->next = files;
    files = file;
    if (!how->in_library)
        sigaction(SIGBUS, &action, NULL);
    wrong = is_remote ? source_remote(source, path, &unpacked)
                      : source_unpack(source, path, &unpacked);
    if (wrong)
        return wrong;
    if (unpacked >= 0) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", unpacked);
        path = name;
    }
    wrong = file_open(source, file, path);
    if (!wrong && is_remote && source->cut_off)
        wrong =
            source_wrong(source, "the stream broke off: %s", source->warning);
    if (is_remote) /* its file has all that it will ever have */
        file->memory.live = false;
    if (unpacked >= 0)
        close(unpacked);
    return wrong;
}
