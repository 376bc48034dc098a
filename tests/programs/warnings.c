/* Uses each macro that expands in a user's file: no compiler may warn of one. */
/* SPDX-License-Identifier: MIT */
#include <recorder_dump.h>
#include <recorder_set.h>
#include <recorder_trigger.h>
RECORDER(net, 256, "Network traffic")
RECORDER_LANES(lanes, 64, 4)
RECORDER_DECLARE(other);
RECORDER_TWEAK_DEFINE(retries, 3, "How often")

int main(int count, char **arguments)
{
    char buffer[16] = "text";
    const char *text = arguments[0];
    RECORDER_SPAN(net, "span %d %s", count, text);
    record(net, "none");
    record(net, "%d %s %s %p", count, text, buffer, &buffer);
    record(net, "%.*s %f", 3, text, 2.5);
    record(net, RECORDER_SW2 "%s %d %d %d %d %d", RECORDER_ADDRESS(text), 1, 2,
           3, 4, 5);
    record(net, "%s", RECORDER_COPY(net, text));
    record(lanes, "%d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8,
           9, 10, 11, 12);
    RECORDER_TRACE(net) = 0;
    RECORDER_SPAN_RESULT(net, count);
    recorder_dump_on_common_signals(0, 0);
    return RECORDER_TWEAK(retries) == 3 && record(net, "%m") == 0;
}
