/* line.c - lines of events on stdout, with colours on a terminal. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

bool line_color(const struct call *call, const char *when)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (when && strcmp(when, "always") == 0)
        return true;
    if (when && strcmp(when, "never") == 0)
        return false;
    if (when && strcmp(when, "auto") != 0)
        misuse(call, "--color %s: always, never or auto", when);
    return isatty(1) && !(none && *none) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

/* The colour of the fields severity and message: red for 3, yellow for 2, else
 * none. Null: another field. */
static const char *field_severe(const char *field, int severity)
{
    bool tag = strncmp(field, "{severity", 9) == 0;
    if (!tag && strncmp(field, "{message", 8) != 0)
        return NULL;
    if (severity < 2)
        return "";
    return severity == 3 ? tag ? "\033[1;31m" : "\033[31m"
           : tag         ? "\033[1;33m"
                         : "\033[33m";
}

/* The line with its fields in colour: a colour for each recorder, message and
 * severity by field_severe(), text plain, the rest faint. */
static const char *line_colored(const char *line, const char *recorder,
                                int severity)
{
    static char text[2048];
    unsigned hash = 0;
    size_t at = 0;
    for (; *recorder; recorder++)
        hash = hash * 31 + (unsigned char)*recorder;
    while (*line && at < sizeof text - 64) {
        size_t size = strcspn(line + 1, "}") + 2;
        bool field = *line == '{' && line[1] != '{' && size < 40;
        const char *severe = field ? field_severe(line, severity) : "";
        if (severe && !*severe) {
            if (*line == '{' && line[1] == '{')
                text[at++] = *line++;
            text[at++] = *line++;
            continue;
        }
        if (severe)
            at += (size_t)sprintf(text + at, "%s", severe);
        else if (strncmp(line, "{recorder", 9) == 0)
            at += (size_t)sprintf(text + at, "\033[%um", 31 + hash % 6);
        else
            at += (size_t)sprintf(text + at, "\033[2m");
        memcpy(text + at, line, size);
        at += size;
        at += (size_t)sprintf(text + at, "\033[0m");
        line += size;
    }
    text[at] = '\0';
    return text;
}

void line_write(FILE *to, struct call *call, const struct reader_event *event,
                bool in_color, bool functions)
{
    const char *line = call->line ? call->line : call->reader.line, *text;
    const char *function = NULL;
    size_t size;
    if (functions)
        function = source_function(&call->source, event->event.caller);
    if (in_color)
        line = line_colored(line, event->recorder->name, event->event.severity);
    text = reader_line(&call->reader, event, line, &size);
    if (function)
        size--; /* without the newline */
    fwrite_unlocked(text, 1, size, to);
    if (function)
        text_put(to, " (%s)\n", function);
}
