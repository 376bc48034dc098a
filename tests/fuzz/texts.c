/* texts.c - texts that the headers take from a user, or show. */
/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder_set.h"
#include "recorder_trigger.h"

#include "reader/codes.h"
#include "source/source.h"
#include "tests/harness/shown.h"

RECORDER(net, 16, "A name that expressions match");
RECORDER_TWEAK_DEFINE(retries, 3, "And a number");

/* Where a sanitizer writes to; gcc's and clang's have it. */
void __sanitizer_set_report_fd(void *fd);

/* stderr is a file while the headers say something. */
static int before = -1, said = -1;
static void hear(void)
{
    if (before < 0) {
        before = dup(2);
        said = memfd_create("said", MFD_CLOEXEC);
        __sanitizer_set_report_fd((void *)(intptr_t)before);
    }
    if (ftruncate(said, 0) != 0 || lseek(said, 0, SEEK_SET) != 0)
        abort();
    dup2(said, 2);
}
static void heard(void)
{
    char text[65536];
    ssize_t size = pread(said, text, sizeof text, 0);
    dup2(before, 2);
    if (size > 0)
        fuzz_plain(text, (size_t)size);
}

static void sink(void *context, const char *line, size_t size)
{
    (void)context;
    fuzz_plain((char *)(uintptr_t)line, size);
}

/* A format with words that may be anything; its text ends where it says. */
static void formatted(const char *text)
{
    struct recorder_event event = {.order = 1, .name = "net"};
    char to[512];
    size_t size = strlen(text), i;
    event.format = (uintptr_t)text;
    for (i = 0; i < 12; i++)
        event.argument[i] = i % 3 == 0 ? (uintptr_t)text
                            : i % 3 == 1
                                ? (uint64_t)text[i % (size + 1)] << i * 5
                                : UINT64_MAX >> i * 4;
    for (i = 0; i < sizeof to; i = i * 2 + 1) {
        memset(to, 'x', sizeof to);
        size = recorder_event_text(&event, to, i);
        if (i && memchr(to, 0, i) == NULL)
            abort();
        if (size < i && shown_wrong(to, size)) /* else a character is cut */
            abort();
        for (size_t k = i; k < sizeof to; k++)
            if (to[k] != 'x')
                abort();
    }
}

/* A trigger's condition and actions, which nothing meets here. */
static bool triggered(const char *text)
{
    struct recorder_trigger_ trigger;
    const char *at, *wrong;
    memset(&trigger, 0, sizeof trigger);
    wrong =
        recorder_condition_parse_(&trigger.condition, text, strlen(text), false,
                                  &at);
    if (at < text || at > text + strlen(text))
        abort();
    if (!wrong && trigger.condition.actions)
        wrong = recorder_action_parse_(
            &trigger, (char *)(uintptr_t)trigger.condition.actions);
    return !wrong;
}

/* A file of formats for codes, and what its formats make of any words. */
static void tell(void *context, const char *text)
{
    (void)context;
    fuzz_plain_text(text);
}
static bool coded(const char *text)
{
    static char folder[] = "/tmp/fuzz-codes-XXXXXX", path[64];
    struct codes *codes = NULL;
    const char *format;
    FILE *file;
    if (!*path) {
        if (!mkdtemp(folder))
            abort();
        snprintf(path, sizeof path, "%s/one.fmt", folder);
    }
    file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0 ||
        !codes_add(&codes, folder, tell, NULL))
        abort();
    unlink(path);
    format = codes_format(codes, 0x00123401);
    if (format)
        formatted(format);
    codes_free(codes);
    return format;
}

bool fuzz_texts(const char *text)
{
    static char kept[65536];
    static const char *const names[] = {"", "net", "NET_rx", "a.b",
                                        "aaaaaaaaaa"};
    unsigned which = (unsigned char)*text % 7;
    bool right = true;
    if (!*text++ || strlen(text) >= sizeof kept)
        return false;
    hear();
    switch (which) {
    case 0:
        right = !recorder_regex_check_(text);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (recorder_regex_match_(text, names[i]) && !right)
                abort();
        break;
    case 1: /* it may name a file to write */
        right = !strstr(text, "output") && recorder_trace_set(text) == 0;
        RECORDER_TRACE(net) = 0;
        break;
    case 2:
        strcpy(kept, text);
        right = recorder_dump_set(kept);
        recorder_dump_set(NULL);
        break;
    case 3: /* who writes such a line is shown it */
        strcpy(kept, shown_wrong(text, strlen(text)) ? "" : text);
        right = recorder_line(kept);
        record(net, "%s\033", text);
        recorder_dump_to(sink, NULL);
        recorder_line(NULL);
        break;
    case 4: right = triggered(text); break;
    case 5: right = coded(text); break;
    default: formatted(text);
    }
    heard();
    return right;
}

/* Bytes below 128 are letters of such names; the others repeat some of what is
 * there, so that names have parts that others refer to. */
bool fuzz_demangle(const unsigned char *bytes, size_t size)
{
    static const char letters[] = "_ZNSKIJEPRF0123456789abcdfiltTLXDvwCQMUOsVGAhnz"
                                  "$.@ ";
    char symbol[2200], plain[DEMANGLED_MAX];
    size_t at = 2;
    strcpy(symbol, size && bytes[0] & 1 ? "_R" : "_Z");
    for (size_t i = 1; i < size && at < sizeof symbol - 1; i++) {
        size_t most = sizeof symbol - 1 - at, back = bytes[i] & 127;
        if (bytes[i] < 128 || back + 2 > at) {
            symbol[at++] = letters[bytes[i] % (sizeof letters - 1)];
        } else {
            most = most < back ? most : back;
            memmove(symbol + at, symbol + at - back, most);
            at += most;
        }
    }
    symbol[at] = '\0';
    if (!source_demangle(symbol, plain))
        return false;
    if (!*plain || strlen(plain) >= sizeof plain)
        abort();
    return true;
}
