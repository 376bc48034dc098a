/* explain_frame.c - ends by a large frame, a deadlock, a lost signal, or for memory. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RECORDER(images, 256, "Images")
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER,
                       right = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;

static int blur(int width, int height)
{
    unsigned char copy[(size_t)width * height];
    copy[0] = 1;
    for (int i = 1; i < width * height; i++)
        copy[i] = (unsigned char)(copy[i - 1] + i);
    return copy[width];
}
static void image(int width, int height)
{
    record(images, "blur width=%d height=%d", width, height);
    sink += blur(width, height);
}

static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    record(images, "locks first=%p second=%p", RECORDER_ADDRESS(first),
           RECORDER_ADDRESS(second));
    usleep(100000);
    pthread_mutex_lock(second);
}
static void *other(void *first)
{
    both(first, first == &left ? &right : &left);
    return first;
}
static void *late(void *nothing)
{
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    both(&left, &right);
    pthread_cond_wait(&never, &left);
    return nothing;
}

int main(int argc, char **argv)
{
    recorder_dump_on_common_signals(0, 0);
    if (argc > 1 && strcmp(argv[1], "hangs") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, other, &right);
        both(&left, &right);
    }
    if (argc > 1 && strcmp(argv[1], "joins") == 0) {
        pthread_t threads[2];
        pthread_create(&threads[0], NULL, other, &right);
        pthread_create(&threads[1], NULL, other, &left);
        pthread_join(threads[0], NULL);
    }
    if (argc > 1 && strcmp(argv[1], "waits") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, late, NULL);
        pthread_join(thread, NULL);
    }
    while (argc > 1) {
        char *block = malloc(1 << 20);
        memset(block, 1, 1 << 20);
        record(images, "block=%p", RECORDER_ADDRESS(block));
    }
    image(640, 480);
    image(9000, 2000);
    return 0;
}
