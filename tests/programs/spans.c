/* Leaves blocks with a RECORDER_SPAN in all ways there are. In C and C++.
 *
 *     spans       says what was recorded; RECORDER_LINE says how
 */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

RECORDER(net, 256, "Network traffic")
RECORDER(disk, 64, "Disk operations")

static int evaluated; /* so often an argument was */

static int next_id(void)
{
    return ++evaluated;
}

static int returns(int id)
{
    RECORDER_SPAN(net, "returns %d", id);
    if (id > 1) {
        RECORDER_SPAN(net, "early");
        RECORDER_SPAN(disk, "two in a block");
        RECORDER_SPAN_RESULT(disk, -id);
        return id;
    }
    RECORDER_SPAN_RESULT(net, 10 * id);
    return 0;
}

static void jumps(void)
{
    for (int i = 0; i < 4; i++) {
        RECORDER_SPAN(net, "loop %d", i);
        if (i == 0)
            continue;
        if (i == 1)
            goto out;
        break;
    }
out:
    for (;;) {
        RECORDER_SPAN(net, "breaks");
        break;
    }
}

static void arguments(void)
{
    const char *literal = "literal";
    char array[16] = "array";
    enum { ONE = 1 } number = ONE;
    RECORDER_SPAN(net, "%d %s %s", next_id(), literal, array);
    array[0] = 'A';
    RECORDER_SPAN_RESULT(net, number);
    {
        RECORDER_SPAN(net, "eleven %d %d %d %d %d %d %d %d %.1f %d %d", 1, 2, 3,
                      4, 5, 6, 7, 8, 9.5, 10, next_id());
        RECORDER_SPAN_RESULT(net, 12ll == 12 ? -1L : 0);
    }
    {
        RECORDER_SPAN(net, "four %d %d %d %d", 1, 2, 3, 4);
        RECORDER_SPAN_RESULT(net, (void *)0);
    }
}

static void switched(void)
{
    RECORDER_SPAN(disk, "closed while off");
    RECORDER_TRACE(disk) = -1;
    {
        RECORDER_SPAN(disk, "off %d", next_id());
        RECORDER_SPAN_RESULT(disk, next_id());
        RECORDER_TRACE(disk) = 0;
    }
    RECORDER_TRACE(disk) = -1;
}

static void *cancelled(void *unused)
{
    RECORDER_SPAN(net, "cancelled");
    (void)unused;
    for (;;) {
        RECORDER_SPAN(net, "sleeps");
        pause();
    }
    return NULL;
}

#ifdef __cplusplus
static void throws(int depth)
{
    RECORDER_SPAN(net, "throws %d", depth);
    if (depth)
        throws(depth - 1);
    throw depth;
}
static void exceptions(void)
{
    try {
        RECORDER_SPAN(net, "try");
        throws(1);
    } catch (int) {
        RECORDER_SPAN(net, "caught");
    }
}
struct object {
    int member(const char *name)
    {
        RECORDER_SPAN(net, "member %s", name);
        auto lambda = [](int x) {
            RECORDER_SPAN(net, "lambda %d", x);
            return x;
        };
        return lambda(7);
    }
};
template <typename T> static T twice(T x)
{
    RECORDER_SPAN(net, "template");
    RECORDER_SPAN_RESULT(net, x);
    return x + x;
}
#endif

int main(void)
{
    pthread_t thread;
    returns(1);
    returns(2);
    jumps();
    arguments();
    switched();
    if (evaluated != 3) /* off: the argument is not, the result is */
        return 1;
#ifdef __cplusplus
    exceptions();
    object().member("m");
    twice(21);
#endif
    if (pthread_create(&thread, NULL, cancelled, NULL) != 0)
        return 1;
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    recorder_dump();
    return 0;
}
