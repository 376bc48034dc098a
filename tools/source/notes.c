/* notes.c - reads the notes of a core file or a recording. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "bytes.h"
#include "file.h"

#include <gelf.h>

enum { MODULES_MAX = 65536 }; /* a process of Linux has no more mappings */

/* NT_FILE: how many, the page size, {start, end, page} of each, their paths. */
static void note_files(struct file *file, const unsigned char *d, size_t size)
{
    unsigned word = file->memory.word_bytes;
    uint64_t count, page, i;
    const char *path, *end = (const char *)d + size;
    if (size < 2 * word)
        return;
    count = bytes_word(&file->memory, d);
    page = bytes_word(&file->memory, d + word);
    if (count > (size / word - 2) / 3)
        return;
    path = (const char *)d + (2 + 3 * count) * word;
    for (i = 0; i < count; i++) {
        const unsigned char *row = d + (2 + 3 * i) * word;
        size_t length = strnlen(path, (size_t)(end - path));
        if (path + length >= end || length >= PATH_MAX ||
            file->source->modules_count == MODULES_MAX)
            return;
        source_module(file->source, bytes_word(&file->memory, row),
                      bytes_word(&file->memory, row + word),
                      bytes_word(&file->memory, row + 2 * word) * page, path,
                      length, false);
        path += length + 1;
    }
}

static void note_auxiliary(struct file *file, const unsigned char *d,
                           size_t size)
{
    unsigned word = file->memory.word_bytes;
    for (; size >= 2 * word; d += 2 * word, size -= 2 * word) {
        uint64_t type = bytes_word(&file->memory, d);
        if (type == AT_ENTRY)
            file->entry = bytes_word(&file->memory, d + word);
        else if (type == AT_PHDR)
            file->headers = bytes_word(&file->memory, d + word);
    }
}

/* NT_PRSTATUS, one a thread: its id follows the signal (struct elf_siginfo,
 * pr_cursig) and two words, sets of signals. */
enum { SIGNAL_BYTES = 16, SIGNAL_INFO_BYTES = 32 };
static void note_thread(struct file *file, const unsigned char *d, size_t size)
{
    const unsigned at = SIGNAL_BYTES + 2 * file->memory.word_bytes;
    if (size < at + 4)
        return;
    ARRAY_NEED(file->threads, file->threads_count + 1, file->threads_max);
    /* The note of a recording has no signal until its program crashes. */
    if (!file->threads_count &&
        (!file->memory.stale_order || bytes_number(&file->memory, d + 12, 2)))
        file->source->crashed = (int32_t)bytes_number(&file->memory, d + at, 4);
    file->threads[file->threads_count++] = (struct source_thread){
        (int32_t)bytes_number(&file->memory, d + at, 4), d, size};
}

static int thread_compare(const void *a, const void *b)
{
    const struct source_thread *left = a, *right = b;
    return array_order(left->id, right->id, 0);
}

bool file_thread(struct memory *memory, int32_t id, char name[16])
{
    const struct file *file = (const struct file *)memory_base(memory);
    const struct source_thread wanted = {id, NULL, 0};
    (void)name;
    return bsearch(&wanted, file->threads, file->threads_count, sizeof wanted,
                   thread_compare);
}

/* Returns a word of our note; 0: the note has fewer words. */
static uint64_t recorder_word_(const struct memory *m, const unsigned char *d,
                               size_t size, enum note_word which)
{
    size_t at = (size_t)which * m->word_bytes;
    return at + m->word_bytes <= size ? bytes_word(m, d + at) : 0;
}

static void note_recorder(struct file *file, const unsigned char *d,
                          size_t size)
{
    struct memory *m = &file->memory;
    uint64_t registry = recorder_word_(m, d, size, NOTE_REGISTRY);
    bool claims = size >= (NOTE_WHOLE + 1) * (size_t)m->word_bytes;
    if (size < (NOTE_REGISTRY + 1) * (size_t)m->word_bytes)
        return;
    for (unsigned i = 0; i < NOTE_WORDS; i++)
        file->source->owner[i] = recorder_word_(m, d, size, i);
    file->source->half_made = claims && !recorder_word_(m, d, size, NOTE_WHOLE);
    if (file->source->half_made) { /* its process may have got further */
        source_candidate(file->source, registry);
    } else {
        file->source->registry = registry;
        file->source->registries = 1;
    }
    m->stale_order = true;
    m->live = true; /* perhaps */
}

/* Keeps the whole lines of the note, up to a NUL. */
static void note_source(struct file *file, const unsigned char *d, size_t size)
{
    struct source_note *to = &file->source->note;
    const char *text = (const char *)d + NOTE_SOURCE_WORDS;
    if (to->text || size < NOTE_SOURCE_WORDS ||
        size > NOTE_SOURCE_WORDS + NOTE_SOURCE_MAX)
        return;
    to->offset_ns = (int64_t)bytes_number(&file->memory, d, 8);
    to->error_ns = (int64_t)bytes_number(&file->memory, d + 8, 8);
    size = strnlen(text, size - NOTE_SOURCE_WORDS);
    while (size && text[size - 1] != '\n')
        size--;
    to->text = strndup(text, size);
}

/* Reads the notes of at most 16 segments, and no more bytes than the file has:
 * many segments that share their notes are a forgery. */
void notes_read(struct file *file, const struct mapped *mapped, Elf *elf)
{
    struct source *source = file->source;
    size_t all = 0, notes = 0;
    GElf_Phdr p;
    for (int i = 0; i < 1000000 && notes < 16 && gelf_getphdr(elf, i, &p);
         i++) {
        GElf_Nhdr note;
        Elf_Data *data;
        size_t at = 0, name, value;
        if (p.p_type != PT_NOTE || p.p_filesz > mapped->data - all)
            continue;
        notes++;
        all += p.p_filesz;
        data = elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz,
                                    p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
        while (data &&
               (at = gelf_getnote(data, at, &note, &name, &value)) > 0) {
            const char *owner = (char *)data->d_buf + name;
            const unsigned char *d = (unsigned char *)data->d_buf + value;
            if (note.n_namesz == sizeof NOTE_OWNER &&
                memcmp(owner, NOTE_OWNER, sizeof NOTE_OWNER) == 0) {
                if (note.n_type == NOTE_TYPE)
                    note_recorder(file, d, note.n_descsz);
                else if (note.n_type == NOTE_SOURCE_TYPE)
                    note_source(file, d, note.n_descsz);
                else if (note.n_type == NOTE_FUNCTIONS_TYPE &&
                         !source->functions)
                    source->functions = strndup((const char *)d, note.n_descsz);
            } else if (note.n_type == NT_FILE) {
                note_files(file, d, note.n_descsz);
            } else if (note.n_type == NT_PRSTATUS) {
                note_thread(file, mapped->bytes + p.p_offset + value,
                            note.n_descsz);
            } else if (note.n_type == NT_SIGINFO && !source->signal &&
                       note.n_descsz >= SIGNAL_INFO_BYTES &&
                       bytes_number(&file->memory, d, 4)) {
                source->signal = mapped->bytes + p.p_offset + value;
            } else if (note.n_type == NT_AUXV) {
                note_auxiliary(file, d, note.n_descsz);
            }
        }
    }
    array_sort(file->threads, file->threads_count, thread_compare);
    source->threads = file->threads;
    source->threads_count = file->threads_count;
    array_sort(source->modules, source->modules_count, array_compare);
}
