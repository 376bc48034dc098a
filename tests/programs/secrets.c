/* Keeps a secret in each kind of memory, beside what its records point to. */
/* SPDX-License-Identifier: MIT */
/*
   Secrets begin with "SECRET_", but those of wide characters are of UTF-16 and
   UTF-32. Each lies on the page of a text that a record points to; the caller
   puts others into arguments and environment.
*/
#include "recorder_dump.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

RECORDER(texts, 64, "Texts beside secrets")
RECORDER_TWEAK_DEFINE(knob, 7, "A tweak beside secrets")

static char data_text[] = "data text\0SECRET_DATA_0123456789abcdef";
static char bss_text[256];
static __thread char tls_text[256];
static wchar_t wide_text[] = L"wide text\0SECRET_WIDE_0123456789abcdef";
static unsigned short utf16[32];
static char secret[] = "SECRET_"; /* no constant of the program has one */

/* Puts a text into `to`, and a secret right after it. */
static void put(char *to, const char *text, const char *kind)
{
    size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    snprintf(to + size, 64, "%s%s_0123456789abcdef", secret, kind);
}

/* "thread": a thread whose argument is a secret waits for a lock, with another
 * one on its stack. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *waits(void *argument)
{
    char text[256];
    put(text, "stack text", "STACK");
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return text[0] ? argument : NULL;
}
static void thread(void)
{
    char text[2][64];
    pthread_t other;
    put(text[1], "", "MAIN");
    snprintf(text[0], sizeof text[0], "%sARGUMENT", secret);
    pthread_mutex_lock(&lock);
    pthread_create(&other, NULL, waits, text[0]);
    usleep(100000);
    pthread_mutex_unlock(&lock);
    pthread_join(other, NULL);
}

int main(int count, char **arguments)
{
    char *heap = malloc(256), stack_text[256];
    const char *variable = getenv("TOKEN");
    for (size_t i = 0; i < sizeof secret; i++)
        utf16[i] = (unsigned char)secret[i];
    put(heap, "heap text", "HEAP");
    put(stack_text, "stack text", "STACK");
    put(bss_text, "bss text", "BSS");
    put(tls_text, "tls text", "TLS");
    record(texts, "at start %d", count);
    record(texts, "heap %s", RECORDER_ADDRESS(heap));
    record(texts, "stack %s", RECORDER_ADDRESS(stack_text));
    record(texts, "bss %s and tls %s", RECORDER_ADDRESS(bss_text),
           RECORDER_ADDRESS(tls_text));
    record(texts, "data %s", RECORDER_ADDRESS(data_text));
    record(texts, "cut %.4s", RECORDER_ADDRESS(heap));
    record(texts, "wide %ls", wide_text + 0);
    record(texts, "argument %s", RECORDER_ADDRESS(arguments[0]));
    record(texts, "variable %.3s",
           RECORDER_ADDRESS(variable ? variable : "none"));
    record(texts, "copied %s", RECORDER_COPY(texts, "short-lived"));
    recorder_thread_name("keeper");
    if (count > 1 && strcmp(arguments[1], "thread") == 0)
        thread();
    if (count > 1 && strcmp(arguments[1], "crash") == 0) {
        recorder_dump_on_common_signals(0, 0);
        *(volatile int *)8 = variable != NULL;
    }
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    if (count > 1 && strcmp(arguments[1], "log") == 0)
        for (int i = 0; i < 100; i++, usleep(20000))
            record(texts, "later %d %s", i, RECORDER_ADDRESS(heap));
    pause();
    return (int)utf16[0];
}
