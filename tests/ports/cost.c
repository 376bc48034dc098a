/* cost.c - what cost.sh takes apart: a function with a record, and without. */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"

RECORDER(cost, 8, "The smallest that is of use");
RECORDER_DECLARE(other);

#define FUNCTION(name, ...)                                                    \
    uintptr_t name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);        \
    __attribute__((noipa)) uintptr_t name(uintptr_t a, uintptr_t b,            \
                                          uintptr_t c, uintptr_t d)            \
    {                                                                          \
        __VA_ARGS__;                                                           \
        return a;                                                              \
    }
#define ONE record(cost, "%zu %zu %zu %zu", a, b, c, d)
FUNCTION(cost_without, )
FUNCTION(cost_with, ONE)
FUNCTION(cost_with_2, ONE; ONE)
FUNCTION(cost_with_3, ONE; ONE; ONE)

int main(void)
{
    unsigned i;
    uintptr_t sum = 0;
    for (i = 0; i < 3; i++) /* all is bound, and the slots are written */
        sum += cost_with_2(i, 2, 3, 4) + cost_with_3(i, 2, 3, 4);
    sum += cost_without(1, 2, 3, 4);
    sum += cost_with(1, 2, 3, 4);
    return sum == 0;
}
