/* trouble.c - how the command, or the call of a library, says what is wrong. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <setjmp.h>

static int trouble = 1;
static jmp_buf *trouble_goes_to; /* call_try(); null: the command ends */

void trouble_set(int status)
{
    trouble = status;
}

_Thread_local struct call_host *call_host;

/* Ends the command, or the call of a library. */
_Noreturn static void end(int status)
{
    if (call_host)
        longjmp(call_host->end, 1);
    exit(status);
}

void *need(void *memory)
{
    if (!memory) {
        if (!call_host || call_host->error)
            fprintf(call_host ? call_host->error : stderr,
                    "%sthere is no memory left\n",
                    call_host ? "" : "recorder: ");
        end(trouble);
    }
    return memory;
}

/* Prints the lines of a format. Quoted texts may come from hostile files, so
 * they are escaped. */
static void say(FILE *to, const struct call *call, const char *format,
                va_list arguments)
{
    char text[1024], *line = text, *next;
    size_t size;
    vsnprintf(text, sizeof text, format, arguments);
    if (!call_host) {
        fflush(stdout);
        fprintf(to, "recorder: ");
    }
    if (call && call->name)
        text_put(to, "%s: ", call->name);
    do {
        next = strchr(format, '\n') ? strchr(line, '\n') : NULL;
        size = next ? (size_t)(next - line) : strlen(line);
        fprintf(to, "%s\n", text_shown(line, &size));
        line = next ? next + 1 : NULL;
    } while (line);
}

void fail(const struct call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(call_host ? call_host->error : stderr, call, format, arguments);
    va_end(arguments);
    if (trouble_goes_to)
        longjmp(*trouble_goes_to, 1);
    end(trouble);
}

int stdout_flush(const struct call *call)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        fail(call, "stdout: %s", strerror(errno));
    return 0;
}

bool call_try(struct call *call, void (*does)(struct call *))
{
    jmp_buf here;
    trouble_goes_to = &here;
    if (setjmp(here) == 0) {
        does(call);
        trouble_goes_to = NULL;
        return true;
    }
    trouble_goes_to = NULL;
    return false;
}

void warn(const struct call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(call_host ? call_host->warnings : stderr, call, format, arguments);
    va_end(arguments);
}

static bool is_damaged;

void damage(const struct call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(call_host ? call_host->warnings : stderr, call, format, arguments);
    va_end(arguments);
    is_damaged = true;
}

int trouble_or(int status)
{
    return status || !is_damaged ? status : trouble;
}

void usage(FILE *to, const struct verb *verb)
{
    if (verb)
        fprintf(to, "usage: recorder %s [options] %s\n", verb->name,
                verb->arguments);
    else
        fputs("usage: recorder VERB [options] SOURCE\n", to);
}

void misuse(const struct call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(call_host ? call_host->error : stderr, NULL, format, arguments);
    va_end(arguments);
    if (call_host)
        end(2);
    usage(stderr, call ? call->verb : NULL);
    fprintf(stderr, "recorder %s%s--help tells more\n",
            call && call->verb ? call->verb->name : "",
            call && call->verb ? " " : "");
    exit(2);
}

/* ------------------------------------------------------------------ stops -- */

volatile sig_atomic_t command_stopped;

static void stop(int number)
{
    (void)number;
    command_stopped = 1;
}

void command_stops(void)
{
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}
