/* Shows one record, by the line that the environment sets. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

RECORDER(shown, 4, "One record");

int main(void)
{
    record(shown, "%d", 7);
    return recorder_dump_fd(1) == 1 ? 0 : 1;
}
