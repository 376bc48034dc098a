/* The C interface of librecorder, as a program uses it: tests/outside/python.sh */
/* SPDX-License-Identifier: MIT */
#include "recorder_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(x)                                                                \
    do                                                                         \
        if (!(x)) {                                                            \
            fprintf(stderr, "line %d: %s\n", __LINE__, #x);                    \
            exit(1);                                                           \
        }                                                                      \
    while (0)

/* Sizes of an older and a newer program than the library. */
static void sizes(struct recorder_reader *r)
{
    struct {
        struct recorder_reader_event event;
        char more[64];
    } to;
    const size_t old = offsetof(struct recorder_reader_event, caller);
    memset(&to, 0x55, sizeof to);
    MUST(recorder_reader_next(r, &to.event, old) == 1);
    MUST(to.event.order != 0 && to.event.caller == 0x5555555555555555);
    MUST(recorder_reader_next(r, &to.event, sizeof to) == 1);
    for (size_t i = 0; i < sizeof to.more; i++)
        MUST(to.more[i] == 0);
    MUST(to.event.arguments_count <= 12);
    MUST(recorder_reader_rewind(r) == 0);
}

/* Columns have the texts of the records; one row at a time, too. */
static void columns(struct recorder_reader *r)
{
    uint64_t order;
    uint32_t message, format;
    struct recorder_reader_columns one = {
        .rows = 1, .order = &order, .message = &message, .format = &format};
    struct recorder_reader_event *e = calloc(1, sizeof *e);
    unsigned count = 0;
    char texts[2][128];
    for (;; count++) {
        size_t size = 0;
        MUST(recorder_reader_rewind(r) == 0);
        for (unsigned i = 0; i < count; i++)
            MUST(recorder_reader_fill(r, &one, sizeof one) == 1);
        if (recorder_reader_fill(r, &one, sizeof one) == 0 || count == 20)
            break;
        snprintf(texts[0], sizeof texts[0], "%s",
                 recorder_reader_text(r, message, &size));
        MUST(strlen(recorder_reader_text(r, message, NULL)) <= size);
        MUST(recorder_reader_rewind(r) == 0);
        for (unsigned i = 0; i <= count; i++)
            MUST(recorder_reader_next(r, e, sizeof *e) == 1);
        snprintf(texts[1], sizeof texts[1], "%s", e->message);
        MUST(e->order == order && strcmp(texts[0], texts[1]) == 0);
    }
    MUST(count > 2);
    MUST(!recorder_reader_text(r, 0, NULL));
    MUST(!recorder_reader_text(r, UINT32_MAX, NULL));
    free(e);
}

int main(int argc, char **argv)
{
    static const char *const options[] = {"names", "main", "last", "9", NULL};
    struct recorder_reader_event e;
    struct recorder_reader_recorder recorder;
    char why[1024], small[8];
    struct recorder_reader *r;
    unsigned count = 0;
    MUST(argc == 2);
    r = recorder_reader_open(argv[1], NULL, why, sizeof why);
    if (!r)
        return fprintf(stderr, "%s\n", why), 1;
    sizes(r);
    columns(r);
    MUST(recorder_reader_get_recorder(r, 0, &recorder, sizeof recorder) == 1);
    MUST(recorder_reader_get_recorder(r, 9999, &recorder, sizeof recorder) == 0);
    recorder_reader_close(r);
    r = recorder_reader_open(argv[1], options, why, sizeof why);
    MUST(r);
    while (recorder_reader_next(r, &e, sizeof e) > 0) {
        MUST(strcmp(e.recorder, "main") == 0);
        fputs(recorder_reader_line(r), stdout);
        count++;
    }
    MUST(count == 9);
    recorder_reader_close(r);
    MUST(!recorder_reader_open("nowhere", NULL, small, sizeof small));
    MUST(strcmp(small, "nowhere") == 0);
    recorder_reader_close(NULL);
    return 0;
}
