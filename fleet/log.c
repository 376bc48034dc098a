/* log.c - messages for people, or with --log-json for programs. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"
#include "print.h"

#include <pthread.h>

static void log_json(const char *level, const char *text)
{
    char date[32] = "?";
    time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_put(stderr,
             "{'time':%s,'level':%s,'service':%s,'host':%s,'message':%s}\n",
             date, level, options.service, options.host, text);
    fflush(stderr);
}

/* Escapes the message: parts of it may come from other hosts. One thread at a
 * time does, as the result of text_shown() is one buffer. */
static void say_all(const char *level, const char *format, va_list arguments)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    fflush(stdout);
    pthread_mutex_lock(&lock);
    if (options.log_json)
        log_json(level, text);
    else
        text_put(stderr, "recorder-fleet: %s\n", text);
    pthread_mutex_unlock(&lock);
}

void say_at(const char *level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_all(level, format, arguments);
    va_end(arguments);
}

void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_all("error", format, arguments);
    va_end(arguments);
    exit(1);
}

void say_seldom(uint64_t *said_ns, const char *format, ...)
{
    va_list arguments;
    if (*said_ns && now_ns() - *said_ns < MINUTE)
        return;
    *said_ns = now_ns();
    va_start(arguments, format);
    say_all("warning", format, arguments);
    va_end(arguments);
}
