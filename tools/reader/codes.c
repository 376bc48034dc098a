/* codes.c - reads .fmt files, which may hold anything. */
/* SPDX-License-Identifier: MIT */
#include "codes.h"
#include "array.h"
#include "ids.h"

#include <dirent.h>

enum {
    FILE_MAX_BYTES = 1 << 24,
    NAME_MAX_CHARACTERS = 64, /* of a major code */
    TEXT_MAX_CHARACTERS = 512,
    WRONG_MAX = 5 /* lines of a file that are spoken of */
};

struct codes {
    struct ids ids; /* of codes */
    struct entry {
        char *text;
        const char *file;
    } * entries;
    size_t entries_max;
    char **files;
    size_t files_count;
};

/* A file being read. */
struct lines {
    struct codes *codes;
    const char *file;
    unsigned number, wrong;
    bool in_major;
    uint32_t major;
    char name[2 * NAME_MAX_CHARACTERS + 1]; /* every % doubled */
    codes_tell *tell;
    void *context;
};

static void tell_of(struct lines *l, const char *what, const char *file)
{
    char text[1024];
    l->wrong++;
    if (l->wrong > WRONG_MAX)
        return;
    snprintf(text, sizeof text, "%.400s:%u: %s%.400s%s", l->file, l->number,
             what, file, l->wrong == WRONG_MAX ? "; and perhaps more" : "");
    l->tell(l->context, text);
}

/* Reads `"text"` at the end of a line, with room for `max` characters and a
 * NUL; what is wrong with it, or null. */
static const char *quoted(const char *at, char *to, size_t max)
{
    size_t size = 0;
    at += strspn(at, " \t");
    if (*at++ != '"')
        return "a text in quotes is missing";
    while (*at && *at != '"') {
        if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
            at++;
        if (size == max)
            return "the text is too long";
        to[size++] = *at++;
    }
    to[size] = '\0';
    if (*at++ != '"')
        return "the text does not end";
    at += strspn(at, " \t\r");
    return *at && *at != '#' ? "more follows the closing quote" : NULL;
}

/* Reads `WORD NUMBER` with a number of at most `max`; returns the rest, or
 * null. */
static const char *numbered(const char *line, const char *word,
                            unsigned long max, uint32_t *number)
{
    size_t size = strlen(word);
    unsigned long value;
    char *end;
    if (strncmp(line, word, size) != 0 || !strchr(" \t", line[size]) ||
        !line[size])
        return NULL;
    line += size + strspn(line + size, " \t");
    if (*line < '0' || *line > '9')
        return NULL;
    value = strtoul(line, &end, 0);
    *number = (uint32_t)value;
    return value <= max && (*end == ' ' || *end == '\t') ? end : NULL;
}

static void add(struct lines *l, uint32_t minor, const char *text)
{
    struct codes *codes = l->codes;
    bool is_new;
    struct entry *entry =
        array_at_key(codes->entries, &codes->ids, codes->entries_max,
                     l->major << 8 | minor, 0, 0, &is_new);
    if (!is_new) {
        tell_of(l, "the code has a text already, by ", entry->file);
        return;
    }
    entry->file = l->file;
    entry->text = need_text("%s: %s", l->name, text);
}

static void codes_line(struct lines *l, const char *line)
{
    char text[TEXT_MAX_CHARACTERS + 1];
    const char *rest, *wrong = NULL;
    uint32_t number;
    line += strspn(line, " \t\r");
    if (!*line || *line == '#')
        return;
    if ((rest = numbered(line, "major", 0xffffff, &number))) {
        wrong = quoted(rest, text, NAME_MAX_CHARACTERS);
        l->in_major = !wrong;
        l->major = number;
        if (!wrong) {
            char *to = l->name;
            for (const char *from = text; *from; from++) {
                *to++ = *from;
                if (*from == '%')
                    *to++ = '%';
            }
            *to = '\0';
        }
    } else if ((rest = numbered(line, "minor", 0xff, &number))) {
        wrong = l->in_major ? quoted(rest, text, TEXT_MAX_CHARACTERS)
                            : "no major precedes it";
        if (!wrong)
            add(l, number, text);
    } else {
        wrong = "is no `major 0x001234 \"name\"` or `minor 0x01 \"text\"`";
        if (strncmp(line, "major", 5) == 0)
            l->in_major = false; /* the next lines belong to no major */
    }
    if (wrong)
        tell_of(l, wrong, "");
}

/* Lines with a NUL are cut there. */
static void codes_text(struct lines *l, char *text, size_t size)
{
    char *end = text + size;
    while (text < end) {
        char *next = memchr(text, '\n', (size_t)(end - text));
        if (!next)
            next = end;
        *next = '\0';
        l->number++;
        codes_line(l, text);
        text = next + 1;
    }
}

/* Reads a regular file that is not too long; null, or what is wrong. */
static const char *file_read(struct lines *l)
{
    int fd = open(l->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *wrong = NULL;
    struct stat is;
    char *text = NULL;
    ssize_t got = 0;
    if (fd < 0 || fstat(fd, &is) != 0)
        wrong = "cannot be opened";
    else if (!S_ISREG(is.st_mode))
        wrong = "is no file";
    else if (is.st_size > FILE_MAX_BYTES)
        wrong = "is longer than 16 MiB";
    else if ((got = read(fd, text = need(malloc((size_t)is.st_size + 1)),
                         (size_t)is.st_size)) < 0)
        wrong = "cannot be read";
    if (!wrong)
        codes_text(l, text, (size_t)got);
    free(text);
    if (fd >= 0)
        close(fd);
    return wrong;
}

static int is_fmt(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name);
    return size > 4 && strcmp(entry->d_name + size - 4, ".fmt") == 0;
}

static void file_add(struct codes *codes, char *path, codes_tell *tell,
                     void *context)
{
    struct lines lines = {
        .codes = codes, .file = path, .tell = tell, .context = context};
    const char *wrong = file_read(&lines);
    codes->files = need(
        realloc(codes->files, (codes->files_count + 1) * sizeof *codes->files));
    codes->files[codes->files_count++] = path;
    if (wrong)
        tell_of(&lines, wrong, "");
}

bool codes_add(struct codes **codes, const char *folder, codes_tell *tell,
               void *context)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_fmt, alphasort);
    if (count < 0)
        return false;
    if (!*codes)
        *codes = need(calloc(1, sizeof **codes));
    for (int i = 0; i < count; i++) {
        char *path = need_text("%s/%s", folder, entries[i]->d_name);
        file_add(*codes, path, tell, context);
        free(entries[i]);
    }
    free(entries);
    return true;
}

const char *codes_format(const struct codes *codes, uint32_t code)
{
    size_t i = codes ? ids_find(&codes->ids, code, 0, 0) : IDS_NONE;
    return i == IDS_NONE ? NULL : codes->entries[i].text;
}

void codes_free(struct codes *codes)
{
    if (!codes)
        return;
    for (size_t i = 0; i < codes->ids.count; i++)
        free(codes->entries[i].text);
    for (size_t i = 0; i < codes->files_count; i++)
        free(codes->files[i]);
    free(codes->entries);
    free(codes->files);
    ids_free(&codes->ids);
    free(codes);
}
