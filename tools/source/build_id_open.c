/* build_id_open.c - opens files that a source names, if they are the build that ran. */
/* SPDX-License-Identifier: MIT */
/*
   The maker of a recording or core file chooses the names in it. So a named
   file is read only if it is an ELF file of the same build as in the source, a
   recording that was mapped at that address, or a file that the user named
   himself.
*/
#include "source.h"

#include <gelf.h>

int regular_open(const char *path)
{
    struct stat before, is;
    int fd;
    if (stat(path, &before) != 0)
        return -1;
    if (!S_ISREG(before.st_mode)) { /* opening a device may have effects */
        errno = S_ISDIR(before.st_mode) ? EISDIR : EINVAL;
        return -1;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode) &&
        is.st_dev == before.st_dev && is.st_ino == before.st_ino)
        return fd;
    close(fd); /* it was replaced in between */
    errno = EINVAL;
    return -1;
}

const char *regular_error(int error)
{
    return error == EINVAL ? "is no regular file" : strerror(error);
}

/* True if it is a recording of ours that was mapped there: a process with a
 * recording leaves its rings in the file, not in its core file. */
static bool is_recording(Elf *elf, const struct module *m)
{
    static const char owner[] = NOTE_OWNER;
    bool noted = false, mapped = false;
    size_t size;
    const char *bytes = elf_rawfile(elf, &size);
    GElf_Ehdr head;
    GElf_Phdr h;
    if (!gelf_getehdr(elf, &head) || head.e_type != ET_CORE)
        return false;
    for (int i = 0; gelf_getphdr(elf, i, &h); i++) {
        mapped |= h.p_type == PT_LOAD && h.p_vaddr < m->end &&
                  h.p_vaddr - m->start == h.p_offset - m->offset;
        /* Our note is the first: its owner's name follows three words. */
        noted |= h.p_type == PT_NOTE && h.p_offset < size &&
                 size - h.p_offset > 12 + sizeof owner &&
                 memcmp(bytes + h.p_offset + 12, owner, sizeof owner) == 0;
    }
    return noted && mapped;
}

/* Tells if it is an ELF file of the build that was mapped as a module. If the
 * source has no build-id there, it returns `unknown`, unless it is a
 * recording. */
static bool is_build(struct source *source, const struct module *m, int fd,
                     bool unknown)
{
    unsigned char is[64], was[64];
    size_t was_size = module_build_id(source, m, was), is_size = 0;
    Elf *elf;
    bool is_elf, recording;
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    is_elf = elf && elf_kind(elf) == ELF_K_ELF;
    if (is_elf)
        is_size = source_build_id(elf, is);
    recording = is_elf && is_recording(elf, m);
    elf_end(elf);
    if (!is_elf || !was_size)
        return is_elf && (unknown || recording);
    return is_size == was_size && memcmp(is, was, is_size) == 0;
}

/* Opens a file, and sets the module's state. */
static int try_open(struct source *source, struct module *m, const char *path,
                    bool unknown)
{
    int fd = regular_open(path);
    m->state = fd < 0 ? MODULE_MISSING : MODULE_OPENED;
    m->error = errno;
    if (fd < 0 || is_build(source, m, fd, unknown))
        return fd;
    m->state = MODULE_DIFFERS;
    close(fd);
    return -1;
}

/* A process may see other mounts; and its program's file may have been removed
 * or replaced by another build. */
static int open_of_process(struct source *source, struct module *m)
{
    char path[PATH_MAX + 32];
    int fd = try_open(source, m, m->path, true);
    if (fd < 0) {
        snprintf(path, sizeof path, "/proc/%d/root%s", source->pid, m->path);
        fd = try_open(source, m, path, true);
    }
    if (fd < 0) {
        snprintf(path, sizeof path, "/proc/%d/exe", source->pid);
        fd = try_open(source, m, path, false);
    }
    return fd;
}

/* Opens a path below --sysroot; links and ".." cannot lead outside. */
static int open_below(struct source *source, struct module *m)
{
    char *name, *real, *root = realpath(source->sysroot, NULL);
    size_t size = root ? strlen(root) : 0;
    int fd = -1;
    if (!root || asprintf(&name, "%s/%s", root, m->path) < 0)
        name = NULL;
    real = name ? realpath(name, NULL) : NULL;
    m->state = MODULE_MISSING;
    m->error = ENOENT;
    if (real &&
        (size == 1 || (strncmp(real, root, size) == 0 && real[size] == '/')))
        fd = try_open(source, m, real, true);
    free(real);
    free(name);
    free(root);
    return fd;
}

int module_open(struct source *source, struct module *m)
{
    unsigned char was[64];
    int fd;
    if (m->place)
        return try_open(source, m, m->place, true);
    if (source->pid)
        return open_of_process(source, m);
    if (source->sysroot)
        return open_below(source, m);
    fd = try_open(source, m, m->path, false);
    if (fd < 0 && !module_build_id(source, m, was))
        m->state = MODULE_UNKNOWN;
    return fd;
}

void module_unopened(struct source *source, const struct module *m)
{
    size_t size = strlen(source->unopened);
    const char *why = m->state == MODULE_UNKNOWN   ? "of no known build-id"
                      : m->state == MODULE_DIFFERS ? "of another build-id"
                                                   : regular_error(m->error);
    if (source->pid || m->state == MODULE_OPENED ||
        (m->state == MODULE_MISSING && m->error == ENOENT && !source->sysroot))
        return;
    if (size > sizeof source->unopened / 2) {
        source->unopened_more = true;
        return;
    }
    snprintf(source->unopened + size, sizeof source->unopened - size,
             "%s%s (%s)", size ? ", " : "", m->path, why);
}
