/* compat_set.c - recorder_set.h alone: the environment, conversions, a tweak.
 */
/* SPDX-License-Identifier: MIT */
#include "recorder_set.h"

RECORDER(net, 8, "Network");
RECORDER(disk, 8, "Disk");
RECORDER_TWEAK_DEFINE(net_retries, 3, "How often to try again");
RECORDER_TWEAK_DECLARE(net_retries);

int main(void)
{
    recorder_line("{recorder}: {message}");
    record(net, "%d", (int)RECORDER_TWEAK(net_retries));
    record(disk, "%d", (int)RECORDER_TWEAK(net_retries));
    return (int)RECORDER_TWEAK(net_retries);
}
